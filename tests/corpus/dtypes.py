# ruff: noqa: E501
"""Dtypes: every scalar dtype and vectors of them, as buffers, constants, parameters and casts."""

TEXT = """
#: dtype_all_signed run
@T.prim_func
def signed(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int16"), C: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int64")):
    for i in range(4):
        B[i] = T.cast(A[i], "int16") * T.int16(300)
        C[i] = T.cast(B[i], "int32") * 70000
        D[i] = T.cast(C[i], "int64") * T.int64(5000000000)

#: dtype_all_unsigned run
@T.prim_func
def unsigned(A: T.Buffer((4,), "uint8"), B: T.Buffer((4,), "uint16"), C: T.Buffer((4,), "uint32"), D: T.Buffer((4,), "uint64")):
    for i in range(4):
        B[i] = T.cast(A[i], "uint16") - T.uint16(300)
        C[i] = T.cast(B[i], "uint32") * T.uint32(70000)
        D[i] = T.cast(C[i], "uint64") // T.uint64(3)

#: dtype_narrow_ints run
@T.prim_func
def narrow_ints(A: T.Buffer((8,), "int4"), B: T.Buffer((8,), "uint4"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.cast(A[i], "int32") * T.cast(B[i], "int32")
        A[i] = T.cast(O[i], "int4")

#: dtype_one_bit
@T.prim_func
def one_bit(A: T.Buffer((8,), "uint1"), B: T.Buffer((8,), "int1"), C: T.Buffer((8,), "uint2"), D: T.Buffer((8,), "int2")):
    for i in range(8):
        A[i] = T.cast(C[i], "uint1")
        B[i] = T.cast(D[i], "int1")

#: dtype_float16 run
@T.prim_func
def half(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float16"), O: T.Buffer((8,), "float16")):
    for i in range(8):
        O[i] = A[i] * B[i] + T.float16(0.1)

#: dtype_bfloat16 run
@T.prim_func
def brain(A: T.Buffer((8,), "bfloat16"), B: T.Buffer((8,), "float32"), O: T.Buffer((8,), "bfloat16")):
    for i in range(8):
        O[i] = A[i] * A[i] + T.cast(B[i], "bfloat16")

#: dtype_float8 run
@T.prim_func
def eighth(A: T.Buffer((8,), "float8_e4m3fn"), B: T.Buffer((8,), "float8_e5m2"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.cast(A[i], "float32") + T.cast(B[i], "float32")

#: dtype_float8_family
@T.prim_func
def eighth_family(A: T.Buffer((4,), "float8_e3m4"), B: T.Buffer((4,), "float8_e4m3"), C: T.Buffer((4,), "float8_e4m3b11fnuz"), D: T.Buffer((4,), "float8_e4m3fnuz"), E: T.Buffer((4,), "float8_e5m2fnuz"), F: T.Buffer((4,), "float8_e8m0fnu")):
    for i in range(4):
        A[i] = T.cast(B[i], "float8_e3m4")
        C[i] = T.cast(D[i], "float8_e4m3b11fnuz")
        E[i] = T.cast(F[i], "float8_e5m2fnuz")

#: dtype_float8_old_names
@T.prim_func
def old_names(A: T.Buffer((4,), "e4m3_float8"), B: T.Buffer((4,), "e5m2_float8")):
    for i in range(4):
        A[i] = T.cast(B[i], "e4m3_float8")

#: dtype_bool run
@T.prim_func
def flags(A: T.Buffer((8,), "bool"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    for i in range(8):
        if A[i]:
            N[0] = N[0] + 1

#: dtype_double run
@T.prim_func
def doubles(A: T.Buffer((8,), "float64"), x: T.float64):
    for i in range(8):
        A[i] = A[i] * x + T.float64(1e-12)

#: dtype_handles
@T.prim_func
def handles(p: T.handle, q: T.handle("int8"), A: T.Buffer((2,), "handle")):
    T.call_extern("int32", "use", p, q, A.data)

#: dtype_vector_names
@T.prim_func
def vector_names(A: T.Buffer((64,), "int8"), O: T.Buffer((64,), "int32")):
    for i in range(4):
        O[i * 16:i * 16 + 16] = T.Cast("int32x16", A[i * 16:i * 16 + 16])

#: dtype_vector_constructors
@T.prim_func
def vector_constants(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "int64"), C: T.Buffer((8,), "uint8")):
    A[0:8] = T.float16x8(0.5)
    B[0:2] = T.int64x2(7)
    C[0:4] = T.uint8x4(3)

#: dtype_string_annotations run
@T.prim_func
def string_annotations(A: "T.Buffer((8,), 'int32')", n: "T.int32"):
    for i in range(8):
        A[i] = n

#: dtype_called_annotations run
@T.prim_func
def called_annotations(n: T.int32(), x: T.float32(), A: T.Buffer((2,), "float32")):
    A[0] = x
    A[1] = T.cast(n, "float32")

#: dtype_mixed_literals run
@T.prim_func
def mixed_literals(A: T.Buffer((4,), "uint8"), B: T.Buffer((4,), "int64"), C: T.Buffer((4,), "float64")):
    for i in range(4):
        A[i] = A[i] + 1
        B[i] = 2 * B[i] - 3
        C[i] = C[i] / 3

#: dtype_int4_vectors
@T.prim_func
def int4_vectors(A: T.Buffer((32,), "int4"), O: T.Buffer((32,), "int8")):
    O[0:8] = T.Cast("int8x8", A[0:8])
    A[8:16] = T.Broadcast(T.cast(3, "int4"), 8)
"""
