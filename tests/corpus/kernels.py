# ruff: noqa: E501
"""Kernels as people write them: linear algebra, convolution, normalisation, attention, stencils."""

TEXT = """
#: kernel_mm_relu run
@T.prim_func
def mm_relu(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
    Y = T.alloc_buffer((16, 16), dtype="float32")
    for i, j, k in T.grid(16, 16, 16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            vj = T.axis.spatial(16, j)
            vk = T.axis.reduce(16, k)
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            vj = T.axis.spatial(16, j)
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))

#: kernel_batch_matmul run
@T.prim_func
def batch_matmul(A: T.Buffer((2, 8, 6), "float32"), B: T.Buffer((2, 6, 4), "float32"), C: T.Buffer((2, 8, 4), "float32")):
    for n, i, j, k in T.grid(2, 8, 4, 6):
        with T.block("C"):
            vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
            with T.init():
                C[vn, vi, vj] = T.float32(0)
            C[vn, vi, vj] = C[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]

#: kernel_tiled_matmul run
@T.prim_func
def tiled_matmul(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i_0, j_0 in T.grid(4, 2):
        for i_1, j_1 in T.grid(4, 8):
            with T.block("C_init"):
                vi = T.axis.spatial(16, i_0 * 4 + i_1)
                vj = T.axis.spatial(16, j_0 * 8 + j_1)
                C[vi, vj] = T.float32(0)
        for k_0, i_1, k_1, j_1 in T.grid(4, 4, 4, 8):
            with T.block("C_update"):
                vi = T.axis.spatial(16, i_0 * 4 + i_1)
                vj = T.axis.spatial(16, j_0 * 8 + j_1)
                vk = T.axis.reduce(16, k_0 * 4 + k_1)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

#: kernel_packed_matmul run
@T.prim_func
def packed_matmul(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    P = T.alloc_buffer((2, 8, 4))
    for jo, k, ji in T.grid(2, 8, 4):
        with T.block("P"):
            vo, vk, vi = T.axis.remap("SSS", [jo, k, ji])
            P[vo, vk, vi] = B[vk, vo * 4 + vi]
    for i, j, k in T.grid(8, 8, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * P[vj // 4, vk, vj % 4]

#: kernel_int8_matmul run
@T.prim_func
def int8_matmul(A: T.Buffer((4, 16), "int8"), B: T.Buffer((8, 16), "int8"), C: T.Buffer((4, 8), "int32")):
    for i, j, k in T.grid(4, 8, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vj, vk], "int32")

#: kernel_half_matmul_float_accumulator run
@T.prim_func
def half_matmul(A: T.Buffer((4, 8), "float16"), B: T.Buffer((8, 4), "float16"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])

#: kernel_conv2d run
@T.prim_func
def conv2d(A: T.Buffer((1, 2, 8, 8), "float32"), W: T.Buffer((3, 2, 3, 3), "float32"), C: T.Buffer((1, 3, 6, 6), "float32")):
    for n, f, y, x, c, r, s in T.grid(1, 3, 6, 6, 2, 3, 3):
        with T.block("C"):
            vn, vf, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, f, y, x, c, r, s])
            with T.init():
                C[vn, vf, vy, vx] = T.float32(0)
            C[vn, vf, vy, vx] = C[vn, vf, vy, vx] + A[vn, vc, vy + vr, vx + vs] * W[vf, vc, vr, vs]

#: kernel_conv2d_padded_strided run
@T.prim_func
def conv2d_padded(A: T.Buffer((1, 2, 7, 7), "float32"), W: T.Buffer((2, 2, 3, 3), "float32"), C: T.Buffer((1, 2, 4, 4), "float32")):
    P = T.alloc_buffer((1, 2, 9, 9))
    for n, c, y, x in T.grid(1, 2, 9, 9):
        with T.block("P"):
            vn, vc, vy, vx = T.axis.remap("SSSS", [n, c, y, x])
            P[vn, vc, vy, vx] = T.if_then_else(1 <= vy and vy < 8 and 1 <= vx and vx < 8, A[vn, vc, vy - 1, vx - 1], T.float32(0))
    for n, f, y, x, c, r, s in T.grid(1, 2, 4, 4, 2, 3, 3):
        with T.block("C"):
            vn, vf, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, f, y, x, c, r, s])
            with T.init():
                C[vn, vf, vy, vx] = T.float32(0)
            C[vn, vf, vy, vx] = C[vn, vf, vy, vx] + P[vn, vc, vy * 2 + vr, vx * 2 + vs] * W[vf, vc, vr, vs]

#: kernel_depthwise run
@T.prim_func
def depthwise(A: T.Buffer((4, 6, 6), "float32"), W: T.Buffer((4, 3, 3), "float32"), C: T.Buffer((4, 4, 4), "float32")):
    for c, y, x, r, s in T.grid(4, 4, 4, 3, 3):
        with T.block("C"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                C[vc, vy, vx] = T.float32(0)
            C[vc, vy, vx] = C[vc, vy, vx] + A[vc, vy + vr, vx + vs] * W[vc, vr, vs]

#: kernel_conv_transposed run
@T.prim_func
def conv_transposed(A: T.Buffer((5,), "float32"), W: T.Buffer((3,), "float32"), C: T.Buffer((11,), "float32")):
    for x, r in T.grid(11, 3):
        with T.block("C"):
            vx, vr = T.axis.remap("SR", [x, r])
            with T.init():
                C[vx] = T.float32(0)
            C[vx] = C[vx] + T.if_then_else((vx - vr) % 2 == 0 and 0 <= vx - vr and vx - vr < 10, A[(vx - vr) // 2], T.float32(0)) * W[vr]

#: kernel_max_pool run
@T.prim_func
def max_pool(A: T.Buffer((2, 8, 8), "float32"), C: T.Buffer((2, 4, 4), "float32")):
    for c, y, x, r, s in T.grid(2, 4, 4, 2, 2):
        with T.block("C"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                C[vc, vy, vx] = T.min_value("float32")
            C[vc, vy, vx] = T.max(C[vc, vy, vx], A[vc, vy * 2 + vr, vx * 2 + vs])

#: kernel_average_pool run
@T.prim_func
def average_pool(A: T.Buffer((2, 6, 6), "float32"), C: T.Buffer((2, 2, 2), "float32")):
    S = T.alloc_buffer((2, 2, 2))
    for c, y, x, r, s in T.grid(2, 2, 2, 3, 3):
        with T.block("S"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                S[vc, vy, vx] = T.float32(0)
            S[vc, vy, vx] = S[vc, vy, vx] + A[vc, vy * 3 + vr, vx * 3 + vs]
    for c, y, x in T.grid(2, 2, 2):
        with T.block("C"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            C[vc, vy, vx] = S[vc, vy, vx] / T.float32(9)

#: kernel_softmax run
@T.prim_func
def softmax(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    M = T.alloc_buffer((4,))
    E = T.alloc_buffer((4, 16))
    S = T.alloc_buffer((4,))
    for i, k in T.grid(4, 16):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32("-inf")
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, j in T.grid(4, 16):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.exp(A[vi, vj] - M[vi])
    for i, k in T.grid(4, 16):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, j in T.grid(4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = E[vi, vj] / S[vi]

#: kernel_layer_norm run
@T.prim_func
def layer_norm(A: T.Buffer((4, 8), "float32"), G: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((4, 8), "float32")):
    S = T.alloc_buffer((4,))
    Q = T.alloc_buffer((4,))
    for i, k in T.grid(4, 8):
        with T.block("SQ"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(S[vi], Q[vi])
            with T.init():
                S[vi] = T.float32(0)
                Q[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
            Q[vi] = Q[vi] + A[vi, vk] * A[vi, vk]
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = (A[vi, vj] - S[vi] * T.float32(0.125)) * T.rsqrt(Q[vi] * T.float32(0.125) - S[vi] * T.float32(0.125) * (S[vi] * T.float32(0.125)) + T.float32(1e-05)) * G[vj] + B[vj]

#: kernel_attention run
@T.prim_func
def attention(Q: T.Buffer((4, 8), "float32"), K: T.Buffer((6, 8), "float32"), V: T.Buffer((6, 8), "float32"), O: T.Buffer((4, 8), "float32")):
    L = T.alloc_buffer((4, 6))
    M = T.alloc_buffer((4,))
    P = T.alloc_buffer((4, 6))
    S = T.alloc_buffer((4,))
    for i, j, k in T.grid(4, 6, 8):
        with T.block("L"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                L[vi, vj] = T.float32(0)
            L[vi, vj] = L[vi, vj] + Q[vi, vk] * K[vj, vk] * T.float32(0.35355338)
    for i, j in T.grid(4, 6):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.float32("-inf")
            M[vi] = T.max(M[vi], T.if_then_else(vj <= vi + 2, L[vi, vj], T.float32("-inf")))
    for i, j in T.grid(4, 6):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(vj <= vi + 2, T.exp(L[vi, vj] - M[vi]), T.float32(0))
    for i, j in T.grid(4, 6):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + P[vi, vj]
    for i, j, k in T.grid(4, 8, 6):
        with T.block("O"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                O[vi, vj] = T.float32(0)
            O[vi, vj] = O[vi, vj] + P[vi, vk] * V[vk, vj] / S[vi]

#: kernel_stencil_5_point run
@T.prim_func
def stencil(A: T.Buffer((10, 10), "float64"), B: T.Buffer((10, 10), "float64")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi = T.axis.spatial((1, 9), i + 1)
            vj = T.axis.spatial((1, 9), j + 1)
            B[vi, vj] = T.float64(0.2) * (A[vi, vj] + A[vi - 1, vj] + A[vi + 1, vj] + A[vi, vj - 1] + A[vi, vj + 1])

#: kernel_stencil_time_steps run
@T.prim_func
def heat(A: T.Buffer((2, 12), "float32")):
    for t in range(5):
        for i in range(1, 11):
            A[(t + 1) % 2, i] = A[t % 2, i] * T.float32(0.5) + (A[t % 2, i - 1] + A[t % 2, i + 1]) * T.float32(0.25)

#: kernel_blur_inlined run
@T.prim_func
def blur(A: T.Buffer((10, 10), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((10, 8))
    for i, j in T.grid(10, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj + 1] + A[vi, vj + 2]
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = (B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]) / T.float32(9)

#: kernel_blur_computed_at run
@T.prim_func
def blur_at(A: T.Buffer((10, 10), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((10, 8))
    for i in range(8):
        for ax0, ax1 in T.grid(3, 8):
            with T.block("B"):
                vi = T.axis.spatial(10, i + ax0)
                vj = T.axis.spatial(8, ax1)
                B[vi, vj] = A[vi, vj] + A[vi, vj + 1] + A[vi, vj + 2]
        for j in range(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]

#: kernel_embedding run ints=0:10
@T.prim_func
def embedding(J: T.Buffer((4, 3), "int64"), W: T.Buffer((10, 8), "float32"), O: T.Buffer((4, 3, 8), "float32")):
    for i, j, k in T.grid(4, 3, 8):
        with T.block("O"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            O[vi, vj, vk] = W[J[vi, vj], vk]

#: kernel_rotary run
@T.prim_func
def rotary(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.cos(T.cast(vi, "float32") * T.float32(0.1)) * A[vi, vj] + T.sin(T.cast(vi, "float32") * T.float32(0.1)) * T.if_then_else(vj < 4, A[vi, vj + 4] * T.float32(-1), A[vi, vj - 4])

#: kernel_concatenate run
@T.prim_func
def concatenate(A: T.Buffer((4, 3), "int32"), B: T.Buffer((4, 5), "int32"), C: T.Buffer((4, 8), "int32")):
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vj < 3, A[vi, vj], B[vi, vj - 3])

#: kernel_layout_transform run
@T.prim_func
def nchw_to_nchw4c(A: T.Buffer((1, 8, 3, 3), "float32"), B: T.Buffer((1, 2, 3, 3, 4), "float32")):
    for n, co, h, w, ci in T.grid(1, 2, 3, 3, 4):
        with T.block("B"):
            vn, vco, vh, vw, vci = T.axis.remap("SSSSS", [n, co, h, w, ci])
            B[vn, vco, vh, vw, vci] = A[vn, vco * 4 + vci, vh, vw]

#: kernel_dequantize_int4 run
@T.prim_func
def dequantize(W: T.Buffer((4, 2), "uint32"), S: T.Buffer((4, 1), "float32"), O: T.Buffer((4, 16), "float32")):
    for i, j in T.grid(4, 16):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = (T.cast(T.bitwise_and(T.shift_right(W[vi, vj // 8], T.cast(vj % 8 * 4, "uint32")), T.uint32(15)), "float32") - T.float32(8)) * S[vi, vj // 16]

#: kernel_winograd_tile run
@T.prim_func
def winograd_tile(D: T.Buffer((4, 4), "float32"), O: T.Buffer((4, 4), "float32")):
    B = T.alloc_buffer((4, 4))
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"schedule_rule": "None"})
            B[vi, vj] = T.Select(vi % 4 == 3 and vj % 4 == 3, T.float32(1), T.Select(vi % 4 == 3 and vj % 4 == 2, T.float32(0), T.Select(vi % 4 == vj % 4, T.float32(1), T.Select(vi % 4 == 2 and vj % 4 == 0, T.float32(-1), T.float32(0)))))
    for i, j, a, b in T.grid(4, 4, 4, 4):
        with T.block("O"):
            vi, vj, va, vb = T.axis.remap("SSRR", [i, j, a, b])
            with T.init():
                O[vi, vj] = T.float32(0)
            O[vi, vj] = O[vi, vj] + D[va, vb] * B[va, vi] * B[vb, vj]

#: kernel_axpy_scalar run
@T.prim_func
def axpy(alpha: T.float32, X: T.Buffer((32,), "float32"), Y: T.Buffer((32,), "float32")):
    for i in T.vectorized(32):
        with T.block("Y"):
            vi = T.axis.spatial(32, i)
            Y[vi] = alpha * X[vi] + Y[vi]

#: kernel_dot_product_vector_accumulators run
@T.prim_func
def dot_product(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), S: T.Buffer((1,), "float32")):
    acc = T.alloc_buffer((8,), scope="local")
    for l in T.vectorized(8):
        with T.block("zero"):
            vl = T.axis.spatial(8, l)
            acc[vl] = T.float32(0)
    for k in range(8):
        for l in T.vectorized(8):
            with T.block("acc"):
                vl = T.axis.spatial(8, l)
                vk = T.axis.reduce(8, k)
                acc[vl] = acc[vl] + A[vk * 8 + vl] * B[vk * 8 + vl]
    for l in range(8):
        with T.block("S"):
            vo = T.axis.spatial(1, 0)
            vl = T.axis.reduce(8, l)
            with T.init():
                S[vo] = T.float32(0)
            S[vo] = S[vo] + acc[vl]
"""
