# ruff: noqa: E501
"""Loops: every kind, ranges, annotations, jumps, shadowed names."""

TEXT = """
#: loop_range_start run
@T.prim_func
def inner_part(A: T.Buffer((12,), "int32")):
    for i in range(2, 10):
        A[i] = A[i] + i

#: loop_range_step run
@T.prim_func
def every_third(A: T.Buffer((20,), "int32")):
    for i in range(1, 20, 3):
        A[i] = i

#: loop_downwards run
@T.prim_func
def downwards(A: T.Buffer((10,), "int32")):
    for i in range(9):
        A[9 - i] = A[8 - i]

#: loop_serial_step_keyword run
@T.prim_func
def step_keyword(A: T.Buffer((16,), "int32")):
    for i in T.serial(0, 16, step=4):
        A[i] = i

#: loop_serial_annotated run
@T.prim_func
def annotated(A: T.Buffer((16,), "float32")):
    for i in T.serial(16, annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": False}):
        A[i] = A[i] * T.float32(2)

#: loop_annotation_values
@T.prim_func
def annotation_values(A: T.Buffer((16,), "float32")):
    for i in T.serial(16, annotations={"a_bool": True, "b_float": 0.5, "c_list": [1, 2, [3]], "d_text": "say \\"so\\"", "e_none": None, "f_map": {"x": 1}}):
        A[i] = T.float32(0)

#: loop_parallel run
@T.prim_func
def parallel_rows(A: T.Buffer((16, 4), "float32")):
    for i in T.parallel(16):
        for j in range(4):
            A[i, j] = A[i, j] + T.float32(1)

#: loop_parallel_start run
@T.prim_func
def parallel_part(A: T.Buffer((16,), "float32")):
    for i in T.parallel(4, 12):
        A[i] = T.float32(0)

#: loop_vectorized run
@T.prim_func
def vector_add(A: T.Buffer((16, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(16):
        for j in T.vectorized(8):
            A[i, j] = A[i, j] + B[j]

#: loop_unroll run
@T.prim_func
def unrolled(A: T.Buffer((4,), "int32")):
    for i in T.unroll(4):
        A[i] = A[i] * (i + 1)

#: loop_unroll_start_annotated
@T.prim_func
def unrolled_part(A: T.Buffer((8,), "int32")):
    for i in T.unroll(2, 6, annotations={"pragma_unroll_explicit": True}):
        A[i] = i

#: loop_thread_binding
@T.prim_func
def one_thread_each(A: T.Buffer((8, 32), "float32")):
    for bx in T.thread_binding(8, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            A[bx, tx] = A[bx, tx] * T.float32(2)

#: loop_thread_binding_positional
@T.prim_func
def positional(A: T.Buffer((8, 32), "float32")):
    for by in T.thread_binding(8, "blockIdx.y"):
        for ty in T.thread_binding(0, 32, "threadIdx.y"):
            A[by, ty] = T.float32(1)

#: loop_thread_binding_annotated
@T.prim_func
def bound_annotated(A: T.Buffer((32,), "float32")):
    for tx in T.thread_binding(32, thread="threadIdx.x", annotations={"pragma_unroll_explicit": 1}):
        A[tx] = T.float32(1)

#: loop_virtual_threads
@T.prim_func
def virtual(A: T.Buffer((4, 2, 32), "float32")):
    for b in T.thread_binding(4, thread="blockIdx.z"):
        for v in T.thread_binding(2, thread="vthread.x"):
            for t in T.thread_binding(32, thread="threadIdx.z"):
                A[b, v, t] = T.float32(1)

#: loop_grid_one run
@T.prim_func
def grid_one(A: T.Buffer((5,), "int32")):
    for i in T.grid(5):
        A[i] = i

#: loop_grid_five run
@T.prim_func
def grid_five(A: T.Buffer((2, 3, 2, 2, 3), "int32")):
    for a, b, c, d, e in T.grid(2, 3, 2, 2, 3):
        A[a, b, c, d, e] = a + b + c + d + e

#: loop_grid_starred run
@T.prim_func
def starred(A: T.Buffer((2, 3, 4), "int32")):
    for i, *rest in T.grid(2, 3, 4):
        A[i, rest[0], rest[1]] = i * 12 + rest[0] * 4 + rest[1]

#: loop_triangular run
@T.prim_func
def lower_triangle(A: T.Buffer((6, 6), "int32")):
    for i in range(6):
        for j in range(i + 1):
            A[i, j] = 1

#: loop_band run
@T.prim_func
def band(A: T.Buffer((8, 8), "int32")):
    for i in range(8):
        for j in range(T.max(i - 1, 0), T.min(i + 2, 8)):
            A[i, j] = 2

#: loop_empty run
@T.prim_func
def empty_loop(A: T.Buffer((4,), "int32")):
    for i in range(0):
        A[i] = 9
    for i in range(3, 3):
        A[i] = 9

#: loop_data_dependent run ints=0:5
@T.prim_func
def row_pointers(P: T.Buffer((9,), "int32"), A: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = 0
        for k in range(P[i]):
            A[i] = A[i] + k

#: loop_int64 run
@T.prim_func
def wide_loop(A: T.Buffer((T.int64(10),), "int64")):
    for i in T.serial(T.int64(2), T.int64(9)):
        A[i] = i * i

#: loop_while run
@T.prim_func
def collatz(A: T.Buffer((1,), "int32"), N: T.Buffer((1,), "int32")):
    A[0] = 27
    N[0] = 0
    while A[0] != 1:
        if A[0] % 2 == 0:
            A[0] = A[0] // 2
        else:
            A[0] = A[0] * 3 + 1
        N[0] = N[0] + 1

#: loop_while_frame run
@T.prim_func
def frame_while(N: T.Buffer((1,), "int32")):
    N[0] = 0
    with T.While(N[0] < 10):
        N[0] = N[0] + 3

#: loop_break run
@T.prim_func
def first_negative(A: T.Buffer((16,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = -1
    for i in range(16):
        if A[i] < 0:
            N[0] = i
            break

#: loop_continue run
@T.prim_func
def skip_odd(A: T.Buffer((16,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    for i in range(16):
        if A[i] % 2 == 1:
            continue
        N[0] = N[0] + A[i]

#: loop_break_call run
@T.prim_func
def break_call(A: T.Buffer((16,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    for i in range(16):
        if A[i] > 5:
            T.break_loop()
        if A[i] < 0:
            T.continue_loop()
        N[0] += A[i]

#: loop_while_break run
@T.prim_func
def while_break(A: T.Buffer((8,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    while N[0] < 100:
        N[0] = N[0] + 1
        if N[0] * N[0] > 50:
            break

#: loop_nested_break run
@T.prim_func
def inner_break(A: T.Buffer((4, 8), "int32"), N: T.Buffer((4,), "int32")):
    for i in range(4):
        N[i] = 0
        for j in range(8):
            if A[i, j] < 0:
                break
            N[i] += 1

#: loop_shadowed_name run
@T.prim_func
def shadowed(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        for j in range(4):
            A[i, j] = i
        for i in range(4):
            B[i] = i

#: loop_siblings run
@T.prim_func
def siblings(A: T.Buffer((4,), "int32"), B: T.Buffer((5,), "int32"), C: T.Buffer((6,), "int32")):
    for i in range(4):
        A[i] = i
    for i in range(5):
        B[i] = i
    for i in range(6):
        C[i] = i

#: loop_imperfect_nest run
@T.prim_func
def imperfect(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3,), "int32")):
    for i in range(3):
        B[i] = 0
        for j in range(4):
            B[i] = B[i] + A[i, j]
        B[i] = B[i] * 2

#: loop_kinds_mixed run
@T.prim_func
def all_kinds(A: T.Buffer((4, 3, 2, 8), "float32")):
    for i in T.parallel(4):
        for j in range(3):
            for k in T.unroll(2):
                for l in T.vectorized(8):
                    A[i, j, k, l] = A[i, j, k, l] + T.float32(1)

#: loop_grid_of_expressions run
@T.prim_func
def computed_extents(A: T.Buffer((12, 8), "int32")):
    for i, j in T.grid(24 // 2, 2 ** 3):
        A[i, j] = i - j

#: loop_deep run
@T.prim_func
def deep_nest(A: T.Buffer((1,), "int32")):
    for a, b, c, d, e, f, g, h in T.grid(2, 2, 2, 2, 2, 2, 2, 2):
        for i, j, k, l, m, n, o, p in T.grid(1, 1, 1, 1, 1, 1, 1, 2):
            for q, r, s, t, u, v, w, x in T.grid(1, 1, 1, 1, 1, 1, 1, 2):
                A[0] = A[0] + a + p + x

#: loop_thirty_imperfect
@T.prim_func
def thirty_levels(A: T.Buffer((1,), "int32")):
    for a, b, c, d, e, f, g, h, i, j in T.grid(1, 1, 1, 1, 1, 1, 1, 1, 1, 2):
        A[0] = A[0] + j
        for k, l, m, n, o, p, q, r, s, t in T.grid(1, 1, 1, 1, 1, 1, 1, 1, 1, 2):
            A[0] = A[0] + t
            for u, v, w, x, y, z, aa, bb, cc, dd in T.grid(1, 1, 1, 1, 1, 1, 1, 1, 1, 2):
                A[0] = A[0] + dd

#: loop_underscore run
@T.prim_func
def repeat(A: T.Buffer((1,), "int32")):
    for _ in range(5):
        A[0] = A[0] * 2

#: loop_software_pipeline
@T.prim_func
def pipelined(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    B = T.alloc_buffer((16, 16), scope="shared")
    for i in T.serial(16, annotations={"software_pipeline_stage": [0, 1], "software_pipeline_order": [0, 1], "software_pipeline_async_stages": [0]}):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi, 0:16])
            T.writes(B[vi, 0:16])
            for j in range(16):
                B[vi, j] = A[vi, j]
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            T.reads(B[vi, 0:16])
            T.writes(C[vi, 0:16])
            for j in range(16):
                C[vi, j] = B[vi, j] + T.float32(1)

#: loop_partition_hint
@T.prim_func
def partition_hint(A: T.Buffer((20,), "float32")):
    for i in T.serial(20, annotations={"pragma_loop_partition_hint": 1}):
        if T.likely(i < 18):
            A[i] = T.float32(1)
"""
