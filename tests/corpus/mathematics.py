# ruff: noqa: E501
"""Mathematics: every function, of floats and of bits."""

TEXT = """
#: math_exponentials run
@T.prim_func
def exponentials(A: T.Buffer((8,), "float32"), O: T.Buffer((4, 8), "float32")):
    for i in range(8):
        O[0, i] = T.exp(A[i])
        O[1, i] = T.exp2(A[i])
        O[2, i] = T.sqrt(T.abs(A[i]))
        O[3, i] = T.exp(A[i] - T.float32(1)) * T.float32(2)

#: math_exp10 run
@T.prim_func
def exp10(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.exp10(A[i])

#: math_logarithms run floats=0.1:9
@T.prim_func
def logarithms(A: T.Buffer((8,), "float64"), O: T.Buffer((4, 8), "float64")):
    for i in range(8):
        O[0, i] = T.log(A[i])
        O[1, i] = T.log2(A[i])
        O[2, i] = T.log10(A[i])
        O[3, i] = T.log1p(A[i])

#: math_trigonometry run floats=-1:1
@T.prim_func
def trigonometry(A: T.Buffer((8,), "float64"), O: T.Buffer((7, 8), "float64")):
    for i in range(8):
        O[0, i] = T.sin(A[i])
        O[1, i] = T.cos(A[i])
        O[2, i] = T.tan(A[i])
        O[3, i] = T.asin(A[i])
        O[4, i] = T.acos(A[i])
        O[5, i] = T.atan(A[i])
        O[6, i] = T.atan2(A[i], A[7 - i])

#: math_hyperbolics run floats=0.1:0.9
@T.prim_func
def hyperbolics(A: T.Buffer((8,), "float64"), O: T.Buffer((6, 8), "float64")):
    for i in range(8):
        O[0, i] = T.sinh(A[i])
        O[1, i] = T.cosh(A[i])
        O[2, i] = T.tanh(A[i])
        O[3, i] = T.asinh(A[i])
        O[4, i] = T.acosh(A[i] + T.float64(1))
        O[5, i] = T.atanh(A[i])

#: math_roots_and_gates run floats=0.1:4
@T.prim_func
def gates(A: T.Buffer((8,), "float32"), O: T.Buffer((4, 8), "float32")):
    for i in range(8):
        O[0, i] = T.rsqrt(A[i])
        O[1, i] = T.sigmoid(A[i])
        O[2, i] = T.erf(A[i])
        O[3, i] = T.pow(A[i], T.float32(1.5))

#: math_rounding run
@T.prim_func
def rounding(A: T.Buffer((8,), "float32"), O: T.Buffer((5, 8), "float32")):
    for i in range(8):
        O[0, i] = T.floor(A[i])
        O[1, i] = T.ceil(A[i])
        O[2, i] = T.trunc(A[i])
        O[3, i] = T.nearbyint(A[i])
        O[4, i] = T.fabs(A[i])

#: math_round run
@T.prim_func
def rounds(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.round(A[i] * T.float32(2)) * T.float32(0.5)

#: math_two_arguments run
@T.prim_func
def two_arguments(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64"), O: T.Buffer((5, 8), "float64")):
    for i in range(8):
        O[0, i] = T.fmod(A[i], B[i])
        O[1, i] = T.hypot(A[i], B[i])
        O[2, i] = T.copysign(A[i], B[i])
        O[3, i] = T.nextafter(A[i], B[i])
        O[4, i] = T.ldexp(A[i], i - 2)

#: math_classification run
@T.prim_func
def classification(A: T.Buffer((8,), "float32"), O: T.Buffer((3, 8), "bool")):
    for i in range(8):
        O[0, i] = T.isnan(A[i])
        O[1, i] = T.isinf(A[i])
        O[2, i] = T.isfinite(A[i] / T.float32(0))

#: math_bit_counts run
@T.prim_func
def bit_counts(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "uint8"), O: T.Buffer((2, 8), "int32"), P: T.Buffer((2, 8), "uint8")):
    for i in range(8):
        O[0, i] = T.popcount(A[i])
        O[1, i] = T.clz(A[i])
        P[0, i] = T.popcount(B[i])
        P[1, i] = T.clz(B[i])

#: math_fma run
@T.prim_func
def fused(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.fma(A[i], B[i], T.float32(0.1))

#: math_of_integers run floats=0:4
@T.prim_func
def of_integers(N: T.Buffer((8,), "int32"), M: T.Buffer((8,), "int64"), O: T.Buffer((8,), "float32"), P: T.Buffer((8,), "float64")):
    for i in range(8):
        O[i] = T.exp(N[i])
        P[i] = T.cos(M[i])

#: math_of_vectors
@T.prim_func
def of_vectors(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32")):
    for i in range(2):
        O[i * 8:i * 8 + 8] = T.exp(A[i * 8:i * 8 + 8]) + T.sqrt(T.fabs(A[i * 8:i * 8 + 8]))

#: math_gelu run
@T.prim_func
def gelu(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = T.float32(0.5) * A[vi, vj] * (T.float32(1) + T.erf(A[vi, vj] * T.float32(0.70710678118654757)))

#: math_log_sum_exp run
@T.prim_func
def log_sum_exp(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4,), "float32")):
    M = T.alloc_buffer((4,))
    S = T.alloc_buffer((4,))
    for i, k in T.grid(4, 8):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, k in T.grid(4, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            O[vi] = M[vi] + T.log(S[vi])
"""
