# ruff: noqa: E501
"""Blocks: axes of every kind, domains, predicates, regions, init, attributes, nesting."""

TEXT = """
#: block_axes_spelled_out run
@T.prim_func
def spelled_out(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, k)
            T.reads(A[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]

#: block_axes_short run
@T.prim_func
def short_names(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8,), "int32")):
    for i, k in T.grid(8, 8):
        with T.block("B"):
            vi = T.axis.S(8, i)
            vk = T.axis.R(8, k)
            with T.init():
                B[vi] = -100
            B[vi] = T.max(B[vi], A[vi, vk])

#: block_scan_axis run
@T.prim_func
def prefix_sum(A: T.Buffer((16,), "int32"), B: T.Buffer((17,), "int32")):
    B[0] = 0
    for i in range(16):
        with T.block("B"):
            vi = T.axis.scan(16, i)
            T.reads(A[vi], B[vi])
            T.writes(B[vi + 1])
            B[vi + 1] = B[vi] + A[vi]

#: block_opaque_axis run
@T.prim_func
def opaque_axis(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.opaque(8, i)
            T.reads(A[0:8])
            T.writes(A[0:8])
            A[vi] = A[7 - vi]

#: block_remap_all_kinds
@T.prim_func
def remap_kinds(A: T.Buffer((4, 4, 4), "float32"), B: T.Buffer((4,), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SRO", [i, j, k])
            T.reads(A[vi, vj, vk], B[vi])
            T.writes(B[vi])
            B[vi] = B[vi] + A[vi, vj, vk]

#: block_remap_some_loops run
@T.prim_func
def remap_some(A: T.Buffer((4, 8), "float32"), B: T.Buffer((32,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            v = T.axis.spatial(32, i * 8 + j)
            B[v] = A[v // 8, v % 8]

#: block_remap_and_value run
@T.prim_func
def remap_and_value(A: T.Buffer((4, 12), "float32"), B: T.Buffer((4, 12), "float32")):
    for i, j0, j1 in T.grid(4, 3, 4):
        with T.block("B"):
            vi = T.axis.remap("S", [i])
            vj = T.axis.spatial(12, j0 * 4 + j1)
            B[vi, vj] = A[vi, vj]

#: block_domain_pair run
@T.prim_func
def domain_pair(A: T.Buffer((10,), "int32")):
    for i in range(2, 8):
        with T.block("A"):
            vi = T.axis.spatial((2, 8), i)
            A[vi] = vi

#: block_domain_pair_offset run
@T.prim_func
def domain_offset(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i, k in T.grid(8, 3):
        with T.block("B"):
            vi = T.axis.spatial((1, 9), i + 1)
            vk = T.axis.reduce((-1, 2), k - 1)
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi + vk]

#: block_where run
@T.prim_func
def imperfect_split(A: T.Buffer((18,), "float32"), B: T.Buffer((18,), "float32")):
    for i_0, i_1 in T.grid(5, 4):
        with T.block("B"):
            vi = T.axis.spatial(18, i_0 * 4 + i_1)
            T.where(i_0 * 4 + i_1 < 18)
            B[vi] = A[vi]

#: block_where_conjunction run
@T.prim_func
def two_guards(A: T.Buffer((5, 7), "int32"), B: T.Buffer((5,), "int32")):
    for i_0, i_1, k_0, k_1 in T.grid(3, 2, 4, 2):
        with T.block("B"):
            vi = T.axis.spatial(5, i_0 * 2 + i_1)
            vk = T.axis.reduce(7, k_0 * 2 + k_1)
            T.where(i_0 * 2 + i_1 < 5 and k_0 * 2 + k_1 < 7)
            T.reads(A[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]

#: block_where_on_values run axis
@T.prim_func
def half_only(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            T.where(i % 2 == 0)
            A[vi] = 1

#: block_reversed_reduction run
@T.prim_func
def reversed_axis(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(8, 7 - k)
            with T.init():
                B[vi] = T.float32(1)
            B[vi] = B[vi] * T.float32(0.5) + A[vi, vk]

#: block_reduction_outside_spatial run
@T.prim_func
def reduction_first(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5,), "int32")):
    for k, i in T.grid(6, 5):
        with T.block("B"):
            vk, vi = T.axis.remap("RS", [k, i])
            with T.init():
                B[vi] = 10
            B[vi] = B[vi] - A[vk, vi]

#: block_empty_reduction run
@T.prim_func
def empty_reduction(B: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 0):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 3
            B[vi] = B[vi] + vk

#: block_two_reductions run
@T.prim_func
def double_reduction(A: T.Buffer((4, 3, 5), "float32"), B: T.Buffer((4,), "float32")):
    for i, k, l in T.grid(4, 3, 5):
        with T.block("B"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                B[vi] = T.float32(-10)
            B[vi] = T.max(B[vi], A[vi, vk, vl])

#: block_no_axes run
@T.prim_func
def no_axes(A: T.Buffer((4,), "int32")):
    with T.block("once"):
        T.reads()
        T.writes(A[0:4])
        for i in range(4):
            A[i] = i

#: block_inside_loop_no_axes run
@T.prim_func
def loop_around(A: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("plain"):
            T.reads()
            T.writes(A[i])
            A[i] = i + 1

#: block_nested run
@T.prim_func
def blockized(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for io, jo in T.grid(4, 2):
        with T.block("outer"):
            vio, vjo = T.axis.remap("SS", [io, jo])
            T.reads(A[vio * 4:vio * 4 + 4, vjo * 8:vjo * 8 + 8])
            T.writes(B[vio * 4:vio * 4 + 4, vjo * 8:vjo * 8 + 8])
            for ii, ji in T.grid(4, 8):
                with T.block("inner"):
                    vii, vji = T.axis.remap("SS", [ii, ji])
                    B[vio * 4 + vii, vjo * 8 + vji] = A[vio * 4 + vii, vjo * 8 + vji] * T.float32(2)

#: block_nested_reduction run
@T.prim_func
def blockized_matmul(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for io, jo, ko in T.grid(2, 2, 2):
        with T.block("C_o"):
            vio, vjo, vko = T.axis.remap("SSR", [io, jo, ko])
            T.reads(A[vio * 4:vio * 4 + 4, vko * 4:vko * 4 + 4], B[vko * 4:vko * 4 + 4, vjo * 4:vjo * 4 + 4])
            T.writes(C[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4])
            with T.init():
                for i, j in T.grid(4, 4):
                    with T.block("C_init"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vio * 4 + vi, vjo * 4 + vj] = T.float32(0)
            for i, j, k in T.grid(4, 4, 4):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vio * 4 + vi, vjo * 4 + vj] = C[vio * 4 + vi, vjo * 4 + vj] + A[vio * 4 + vi, vko * 4 + vk] * B[vko * 4 + vk, vjo * 4 + vj]

#: block_three_levels run
@T.prim_func
def three_levels(A: T.Buffer((8,), "int32")):
    for i in range(2):
        with T.block("l1"):
            v1 = T.axis.spatial(2, i)
            T.reads()
            T.writes(A[v1 * 4:v1 * 4 + 4])
            for j in range(2):
                with T.block("l2"):
                    v2 = T.axis.spatial(2, j)
                    T.reads()
                    T.writes(A[v1 * 4 + v2 * 2:v1 * 4 + v2 * 2 + 2])
                    for k in range(2):
                        with T.block("l3"):
                            v3 = T.axis.spatial(2, k)
                            A[v1 * 4 + v2 * 2 + v3] = v1 * 100 + v2 * 10 + v3

#: block_regions_slices run
@T.prim_func
def row_regions(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(B[vi, :])
            for j in range(8):
                B[vi, j] = A[vi, 7 - j]

#: block_regions_list run
@T.prim_func
def region_lists(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads([A[vi], B[vi]])
            T.writes([C[vi]])
            C[vi] = A[vi] + B[vi]

#: block_regions_empty run
@T.prim_func
def empty_regions(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes(A[vi])
            A[vi] = T.float32(1)

#: block_regions_inferred_window run
@T.prim_func
def window(A: T.Buffer((12,), "float32"), B: T.Buffer((10,), "float32")):
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = T.float32(0)
            for k in range(3):
                B[vi] = B[vi] + A[vi + k]

#: block_regions_data_dependent run ints=0:8
@T.prim_func
def gather(A: T.Buffer((8,), "float32"), J: T.Buffer((5,), "int32"), B: T.Buffer((5,), "float32")):
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            T.reads(A[0:8], J[vi])
            T.writes(B[vi])
            B[vi] = A[J[vi]]

#: block_init_statements run
@T.prim_func
def two_results(A: T.Buffer((4, 8), "float32"), S: T.Buffer((4,), "float32"), M: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("SM"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(S[vi], M[vi])
            with T.init():
                S[vi] = T.float32(0)
                if vi > 1:
                    M[vi] = T.float32(-1)
                else:
                    M[vi] = T.float32(-2)
            S[vi] = S[vi] + A[vi, vk]
            M[vi] = T.max(M[vi], A[vi, vk])

#: block_init_loop run
@T.prim_func
def init_loop(A: T.Buffer((4, 3, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, k in T.grid(4, 3):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk, 0:8])
            T.writes(B[vi, 0:8])
            with T.init():
                for j in T.vectorized(8):
                    B[vi, j] = T.float32(0)
            for j in T.vectorized(8):
                B[vi, j] = B[vi, j] + A[vi, vk, j]

#: block_attributes run
@T.prim_func
def block_attributes(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            T.block_attr({"a": 1, "b": "text", "c": [1, 2], "script_note": {"deep": [True, 0.25]}})
            A[vi] = T.float32(1)

#: block_attributes_merged
@T.prim_func
def merged_attributes(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            T.block_attr({"first": 1})
            T.block_attr({"second": 2})
            A[vi] = T.float32(1)

#: block_buffer_dim_align
@T.prim_func
def dim_align(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    B = T.alloc_buffer((4, 4))
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]

#: block_root_attributes
@T.prim_func
def root_attributes(A: T.Buffer((4,), "float32")):
    with T.block("root"):
        T.reads()
        T.writes()
        T.block_attr({"mark": 7})
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.float32(1)

#: block_root_allocations run
@T.prim_func
def root_allocations(A: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32")):
    with T.block("root"):
        B = T.alloc_buffer((4,))
        C = T.alloc_buffer((4,), "float64")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = T.cast(B[vi], "float64")
        for i in range(4):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                D[vi] = T.cast(C[vi], "float32")

#: block_names_not_identifiers run
@T.prim_func
def odd_names(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("a block, with spaces"):
            vi = T.axis.spatial(4, i)
            A[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("for"):
            vi = T.axis.spatial(4, i)
            A[vi] = A[vi] + T.float32(1)
    for i in range(4):
        with T.block("A.shared/0"):
            vi = T.axis.spatial(4, i)
            A[vi] = A[vi] + T.float32(1)

#: block_same_names run
@T.prim_func
def same_names(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(1)
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = A[vi] * T.float32(2)

#: block_axis_named_as_loop run
@T.prim_func
def reused_names(A: T.Buffer((3, 4), "int32")):
    for i, j in T.grid(3, 4):
        with T.block("A"):
            i, j = T.axis.remap("SS", [i, j])
            A[i, j] = i * 10 + j

#: block_axis_int64 run
@T.prim_func
def wide_axes(A: T.Buffer((T.int64(8),), "int64")):
    for i in range(T.int64(8)):
        with T.block("A"):
            vi = T.axis.spatial(T.int64(8), i)
            A[vi] = vi

#: block_axis_mixed_widths
@T.prim_func
def mixed_widths(A: T.Buffer((T.int64(8),), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(T.int64(8), T.cast(i, "int64"))
            A[vi] = T.float32(1)

#: block_constant_binding run
@T.prim_func
def constant_binding(A: T.Buffer((1, 4), "int32"), B: T.Buffer((1, 4), "int32")):
    for j in range(4):
        with T.block("B"):
            vi = T.axis.spatial(1, 0)
            vj = T.axis.spatial(4, j)
            B[vi, vj] = A[vi, vj]

#: block_under_condition run
@T.prim_func
def under_condition(A: T.Buffer((8,), "int32")):
    for i in range(8):
        if i < 5:
            with T.block("low"):
                vi = T.axis.spatial(8, i)
                A[vi] = 1
        else:
            with T.block("high"):
                vi = T.axis.spatial(8, i)
                A[vi] = 2

#: block_under_let run
@T.prim_func
def under_let(A: T.Buffer((16,), "int32")):
    for i in range(4):
        base: T.int32 = i * 4
        for j in range(4):
            with T.block("A"):
                v = T.axis.spatial(16, base + j)
                A[v] = v

#: block_siblings_in_loop run
@T.prim_func
def fused_stages(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), scope="local")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * B[vi]

#: block_mixed_with_statements run
@T.prim_func
def mixed_statements(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        B[i] = 5
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = vi
        B[i] = B[i] + 1

#: block_vectorized_axis run
@T.prim_func
def vectorized_axis(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in T.parallel(4):
        for j_0 in range(2):
            for j_1 in T.vectorized(8):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    vj = T.axis.spatial(16, j_0 * 8 + j_1)
                    B[vi, vj] = A[vi, vj] + T.float32(1)

#: block_init_in_vectorized run
@T.prim_func
def vectorized_reduction(A: T.Buffer((6, 8), "float32"), B: T.Buffer((8,), "float32")):
    for k in range(6):
        for i in T.vectorized(8):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk, vi]

#: block_overlapping_windows run
@T.prim_func
def outside_domain(A: T.Buffer((6,), "int32")):
    for i, j in T.grid(3, 3):
        with T.block("A"):
            v = T.axis.spatial(6, i * 3 + j)
            T.where(i * 3 + j < 6)
            A[v] = v

#: block_rfactor_shape run
@T.prim_func
def partial_sums(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4,), "float32")):
    P = T.alloc_buffer((4, 8))
    for i, k1, k0 in T.grid(4, 8, 4):
        with T.block("P"):
            vi, vk1, vk0 = T.axis.remap("SSR", [i, k1, k0])
            with T.init():
                P[vi, vk1] = T.float32(0)
            P[vi, vk1] = P[vi, vk1] + A[vi, vk0 * 8 + vk1]
    for i, k1 in T.grid(4, 8):
        with T.block("B"):
            vi, vk1 = T.axis.remap("SR", [i, k1])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + P[vi, vk1]

#: block_where_without_reduction_guard run
@T.prim_func
def guarded_update(A: T.Buffer((3, 10), "int32"), B: T.Buffer((3,), "int32")):
    for i, k_0, k_1 in T.grid(3, 3, 4):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(10, k_0 * 4 + k_1)
            T.where(k_0 * 4 + k_1 < 10)
            with T.init():
                B[vi] = 5
            B[vi] = B[vi] + A[vi, vk]
"""
