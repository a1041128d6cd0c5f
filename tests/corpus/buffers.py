# ruff: noqa: E501
"""Buffers: every way to declare one, views, allocations, scopes, unusual shapes."""

TEXT = """
#: buffer_tuple_shape run
@T.prim_func
def copy(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8, 12), "float32")):
    for i, j in T.grid(8, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]

#: buffer_subscript_annotation run
@T.prim_func
def transpose(A: T.Buffer[(6, 10), "float32"], B: T.Buffer[(10, 6), "float32"]):
    for i, j in T.grid(10, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]

#: buffer_int_shape run
@T.prim_func
def reverse(A: T.Buffer(16, "int32"), B: T.Buffer(16, "int32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[15 - vi]

#: buffer_list_shape run
@T.prim_func
def scale(A: T.Buffer([4, 5, 6], "float64"), B: T.Buffer([4, 5, 6], "float64")):
    for i, j, k in T.grid(4, 5, 6):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj, vk] * T.float64(0.5)

#: buffer_default_dtype run
@T.prim_func
def square(A: T.Buffer((9,)), B: T.Buffer((9,))):
    for i in range(9):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            B[vi] = A[vi] * A[vi]

#: buffer_subscript_shape_only run
@T.prim_func
def negate(A: T.Buffer[18, 8], B: T.Buffer[18, 8]):
    for i, j in T.grid(18, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(0) - A[vi, vj]

#: buffer_constant_strides
@T.prim_func
def padded_rows(A: T.Buffer((4, 6), "float32", strides=[8, 1]), B: T.Buffer((4, 6), "float32")):
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)

#: buffer_symbolic_strides run
@T.prim_func
def any_layout(a: T.handle, b: T.handle):
    s0 = T.int32()
    s1 = T.int32()
    A = T.match_buffer(a, (5, 7), "float32", strides=[s0, s1])
    B = T.match_buffer(b, (5, 7), "float32")
    for i, j in T.grid(5, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]

#: buffer_elem_offset
@T.prim_func
def from_offset(a: T.handle, b: T.handle):
    off = T.int32()
    A = T.match_buffer(a, (16,), "float32", elem_offset=off, offset_factor=4)
    B = T.match_buffer(b, (16,), "float32")
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]

#: buffer_align run
@T.prim_func
def aligned(A: T.Buffer((32,), "float32", align=64), B: T.Buffer((32,), "float32", align=64)):
    for i in T.vectorized(32):
        B[i] = A[i] + T.float32(2)

#: buffer_offset_factor run
@T.prim_func
def factored(A: T.Buffer((16,), "float32", offset_factor=1), B: T.Buffer((16,), "float32", offset_factor=1)):
    for i in T.serial(16):
        B[i] = A[i]

#: buffer_type_auto
@T.prim_func
def broadcasting(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (1, 16), "float32", buffer_type="auto")
    B = T.match_buffer(b, (1, 16), "float32")
    for i in range(16):
        B[0, i] = A[0, i]

#: buffer_axis_separators
@T.prim_func
def separated(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (4, 8, 16), "float32", axis_separators=[2])
    B = T.match_buffer(b, (4, 8, 16), "float32", axis_separators=[1])
    for i, j, k in T.grid(4, 8, 16):
        B[i, j, k] = A[i, j, k]

#: buffer_param_scope
@T.prim_func
def shared_param(A: T.Buffer((64,), "float32", scope="shared"), B: T.Buffer((64,), "float32", scope="local")):
    for i in range(64):
        B[i] = A[i]

#: buffer_match_handle run
@T.prim_func
def matched(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (6, 6), "int64")
    B = T.match_buffer(b, [6, 6], "int64")
    C = T.match_buffer(c, (6, 6), dtype="int64")
    for i, j in T.grid(6, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] - B[vj, vi]

#: buffer_handle_unmatched
@T.prim_func
def opaque_handle(p: T.handle, A: T.Buffer((4,), "int32")):
    T.call_extern("void", "fill", p, A.data)

#: buffer_typed_pointer
@T.prim_func
def pointer(p: T.handle("float32", "global"), n: T.int32):
    P = T.decl_buffer((64,), "float32", data=p)
    for i in range(n):
        P[i] = T.float32(0)

#: buffer_shared_pointer
@T.prim_func
def shared_pointer(p: T.handle("float16", "shared"), q: T.handle("float16", "shared.dyn")):
    P = T.decl_buffer((32,), "float16", data=p, scope="shared")
    Q = T.decl_buffer((32,), "float16", data=q, scope="shared.dyn")
    for i in range(32):
        Q[i] = P[i]

#: buffer_alloc_default run
@T.prim_func
def two_steps(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,))
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi] + T.float32(1)
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            C[vi] = B[vi] * T.float32(3)

#: buffer_alloc_many_scopes
@T.prim_func
def many_scopes(A: T.Buffer((16, 16), "float32")):
    s = T.alloc_buffer((16, 16), "float32", scope="shared")
    d = T.alloc_buffer((16, 16), "float16", scope="shared.dyn")
    l = T.alloc_buffer((16,), "int8", scope="local")
    w = T.alloc_buffer((32,), "int32", scope="warp")
    g = T.alloc_buffer([16, 4, 4], "uint8")
    u = T.alloc_buffer((4,), scope="global.A_reg")
    v = T.alloc_buffer((4,), scope="global.vtcm")
    for i, j in T.grid(16, 16):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(s[vi, vj], l[vi])
            T.writes(A[vi, vj])
            A[vi, vj] = s[vi, vj] + T.cast(l[vi], "float32")

#: buffer_alloc_strided_aligned
@T.prim_func
def strided_alloc(A: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32", strides=[9, 1], align=128, offset_factor=16)
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]

#: buffer_alloc_in_inner_block run
@T.prim_func
def inner_allocation(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(C[vi])
            row = T.alloc_buffer((8,), "float32", scope="local")
            for j in range(8):
                with T.block("load"):
                    vj = T.axis.spatial(8, j)
                    row[vj] = A[vi, vj] * A[vi, vj]
            for j in range(8):
                with T.block("sum"):
                    vj = T.axis.reduce(8, j)
                    with T.init():
                        C[vi] = T.float32(0)
                    C[vi] = C[vi] + row[vj]

#: buffer_decl_view_flat run
@T.prim_func
def flat_view(A: T.Buffer((4, 8), "float32"), B: T.Buffer((32,), "float32")):
    A1 = T.decl_buffer((32,), "float32", data=A.data)
    for i in range(32):
        B[i] = A1[i] * T.float32(2)

#: buffer_decl_view_offset run
@T.prim_func
def second_row(A: T.Buffer((4, 8), "int32"), B: T.Buffer((8,), "int32")):
    row = T.decl_buffer((8,), "int32", data=A.data, elem_offset=8)
    for i in range(8):
        B[i] = row[i]

#: buffer_decl_view_strides run
@T.prim_func
def diagonal(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    d = T.decl_buffer((8,), "float32", data=A.data, strides=[9])
    for i in range(8):
        B[i] = d[i]

#: buffer_decl_in_with run
@T.prim_func
def with_decl(A: T.Buffer((16,), "float32"), B: T.Buffer((4, 4), "float32")):
    with T.decl_buffer((4, 4), "float32", data=A.data) as M:
        for i, j in T.grid(4, 4):
            B[i, j] = M[j, i]

#: buffer_allocate_concise run
@T.prim_func
def flat_allocation(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    p = T.allocate([16], "float32", "global")
    P = T.decl_buffer((16,), "float32", data=p)
    for i in range(16):
        P[i] = A[i] + T.float32(1)
    for i in range(16):
        B[i] = P[15 - i]

#: buffer_allocate_with
@T.prim_func
def with_allocation(A: T.Buffer((16,), "int32")):
    with T.allocate([4, 4], "int32", "local") as p:
        P = T.decl_buffer((4, 4), "int32", data=p, scope="local")
        for i, j in T.grid(4, 4):
            P[i, j] = A[i * 4 + j]
        for i, j in T.grid(4, 4):
            A[i * 4 + j] = P[j, i]

#: buffer_allocate_annotated
@T.prim_func
def annotated_allocation(A: T.Buffer((8,), "float32")):
    p = T.allocate([8], "float32", "shared", annotations={"alignment": 128, "note": "tile"})
    P = T.decl_buffer((8,), "float32", data=p, scope="shared")
    for i in range(8):
        P[i] = A[i]

#: buffer_allocate_condition
@T.prim_func
def conditional_allocation(A: T.Buffer((8,), "float32"), n: T.int32):
    p = T.allocate([8], "float32", "global", condition=n > 3)
    P = T.decl_buffer((8,), "float32", data=p)
    if n > 3:
        P[0] = A[0]

#: buffer_allocate_const run
@T.prim_func
def table_lookup(A: T.Buffer((4,), "int32")):
    p = T.allocate_const([3, 1, 4, 1], "int32", [4])
    P = T.decl_buffer((4,), "int32", data=p)
    for i in range(4):
        A[i] = P[3 - i]

#: buffer_allocate_const_with
@T.prim_func
def table_rank2(A: T.Buffer((2, 3), "float32")):
    with T.allocate_const([[0.5, 1.5, 2.5], [-1.0, 0.0, 1.0]], "float32", [2, 3]) as p:
        P = T.decl_buffer((2, 3), "float32", data=p)
        for i, j in T.grid(2, 3):
            A[i, j] = P[i, j]

#: buffer_buffer_decl run
@T.prim_func
def old_declaration(A: T.Buffer((4, 4), "float32"), B: T.Buffer((16,), "float32")):
    V = T.buffer_decl([16], "float32", data=A.data)
    for i in range(16):
        B[i] = V[i]

#: buffer_region_match run
@T.prim_func
def tiles(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            T.writes(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            A_tile = T.match_buffer(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), offset_factor=1)
            B_tile = T.match_buffer(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), offset_factor=1)
            for x, y in T.grid(4, 4):
                B_tile[x, y] = A_tile[x, y] + T.float32(1)

#: buffer_region_match_strides
@T.prim_func
def tile_strides(A: T.Buffer((32, 32), "float16"), B: T.Buffer((32, 32), "float16")):
    for i, j in T.grid(2, 2):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
            T.writes(B[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
            s0 = T.int32()
            s1 = T.int32()
            t0 = T.int32()
            t1 = T.int32()
            A1 = T.match_buffer(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16), "float16", strides=[s0, s1], offset_factor=16)
            B1 = T.match_buffer(B[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16), "float16", strides=[t0, t1], offset_factor=16)
            T.call_extern("void", "copy_tile", A1.data, A1.elem_offset, s0, s1, B1.data, B1.elem_offset, t0, t1)

#: buffer_region_match_named_strides
@T.prim_func
def named_strides(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i in range(2):
        with T.block("half"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi * 4:vi * 4 + 4, 0:8])
            T.writes(B[vi * 4:vi * 4 + 4, 0:8])
            A1 = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:8], (4, 8), strides=["p", "q"], offset_factor=1)
            B1 = T.match_buffer(B[vi * 4:vi * 4 + 4, 0:8], (4, 8), strides=["r", "s"], offset_factor=1)
            for x, y in T.grid(4, 8):
                B1[x, y] = A1[x, y]

#: buffer_region_match_lower_rank run
@T.prim_func
def row_views(A: T.Buffer((4, 1, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0, 0:8])
            T.writes(B[vi, 0:8])
            a = T.match_buffer(A[vi, 0, 0:8], (8,), offset_factor=1)
            b = T.match_buffer(B[vi, 0:8], (8,), offset_factor=1)
            for j in range(8):
                b[j] = a[7 - j]

#: buffer_region_match_of_view run
@T.prim_func
def nested_views(A: T.Buffer((8, 8), "float32")):
    for i in range(2):
        with T.block("outer"):
            vi = T.axis.spatial(2, i)
            T.reads()
            T.writes(A[vi * 4:vi * 4 + 4, 0:8])
            half = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:8], (4, 8), offset_factor=1)
            for j in range(2):
                with T.block("inner"):
                    vj = T.axis.spatial(2, j)
                    T.reads()
                    T.writes(half[0:4, vj * 4:vj * 4 + 4])
                    quarter = T.match_buffer(half[0:4, vj * 4:vj * 4 + 4], (4, 4), offset_factor=1)
                    for x, y in T.grid(4, 4):
                        quarter[x, y] = T.cast(vi * 2 + vj, "float32")

#: buffer_rank0 run
@T.prim_func
def total(A: T.Buffer((12,), "float32"), S: T.Buffer((), "float32")):
    for k in range(12):
        with T.block("S"):
            vk = T.axis.reduce(12, k)
            with T.init():
                S[()] = T.float32(0)
            S[()] = S[()] + A[vk]

#: buffer_rank0_alloc run
@T.prim_func
def mean(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    s = T.alloc_buffer((), "float32")
    for k in range(8):
        with T.block("s"):
            vk = T.axis.R(8, k)
            with T.init():
                s[()] = T.float32(0)
            s[()] += A[vk]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.S(8, i)
            B[vi] = A[vi] - s[()] / T.float32(8)

#: buffer_zero_extent run
@T.prim_func
def nothing(A: T.Buffer((0, 4), "float32"), B: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 0):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(7)
            B[vi] = B[vi] + A[vk, vi]

#: buffer_unit_extents run
@T.prim_func
def units(A: T.Buffer((1, 8, 1), "float32"), B: T.Buffer((8, 1), "float32")):
    for i, j, k in T.grid(1, 8, 1):
        with T.block("B"):
            v0, v1, v2 = T.axis.remap("SSS", [i, j, k])
            B[v1, v2] = A[v0, v1, v2]

#: buffer_seven_dimensions run
@T.prim_func
def seven(A: T.Buffer((2, 1, 2, 3, 1, 2, 2), "int32"), B: T.Buffer((2, 2, 3, 2, 2), "int32")):
    for a, b, c, d, e, f, g in T.grid(2, 1, 2, 3, 1, 2, 2):
        with T.block("B"):
            va, vb, vc, vd, ve, vf, vg = T.axis.remap("SSSSSSS", [a, b, c, d, e, f, g])
            B[va, vc, vd, vf, vg] = A[va, vb, vc, vd, ve, vf, vg] + 1

#: buffer_int64_extents run
@T.prim_func
def wide_extents(A: T.Buffer((T.int64(4), T.int64(6)), "float32"), B: T.Buffer((T.int64(24),), "float32")):
    for i, j in T.grid(T.int64(4), T.int64(6)):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi * T.int64(6) + vj] = A[vi, vj]

#: buffer_vector_elements
@T.prim_func
def vector_elements(A: T.Buffer((8,), "float32x4"), B: T.Buffer((8,), "float32x4")):
    for i in range(8):
        B[i] = A[i] * T.Broadcast(T.float32(2), 4)

#: buffer_vload_vstore run
@T.prim_func
def vload_vstore(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        B.vstore([i * 4], A.vload([i * 4], "float32x4") + T.Broadcast(T.float32(1), 4))

#: buffer_realize
@T.prim_func
def realized(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    C = T.buffer_decl((16,), "float32")
    with T.realize(C[0:16], "shared"):
        for i in range(16):
            C[i] = A[i]
        for i in range(16):
            B[i] = C[i]

#: buffer_realize_condition
@T.prim_func
def realized_part(A: T.Buffer((16,), "float32"), n: T.int32):
    C = T.buffer_decl((16, 4), "float32")
    T.realize(C[4:12, 0:4], "", n > 2)
    for i in range(8):
        C[i + 4, 0] = A[i]

#: buffer_same_memory_two_views run
@T.prim_func
def two_views(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    T.func_attr({"tir.noalias": True})
    low = T.decl_buffer((8,), "float32", data=A.data)
    high = T.decl_buffer((8,), "float32", data=A.data, elem_offset=8)
    for i in range(8):
        B[i * 2] = low[i]
        B[i * 2 + 1] = high[i]

#: buffer_matched_float_and_int_views
@T.prim_func
def bit_views(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
    bits = T.decl_buffer((8,), "int32", data=A.data)
    for i in range(8):
        B[i] = bits[i] & 2147483647
"""
