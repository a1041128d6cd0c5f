# ruff: noqa: E501
"""Expressions: operators and their brackets, comparisons, conditionals, constants, vectors."""

TEXT = """
#: expr_brackets run
@T.prim_func
def brackets(A: T.Buffer((4,), "int32"), O: T.Buffer((8, 4), "int32")):
    for i in range(4):
        O[0, i] = A[i] - (7 - i)
        O[1, i] = A[i] // (5 // (i + 1) + 1)
        O[2, i] = A[i] % (9 % (i + 2) + 1)
        O[3, i] = (A[i] - 3) * (i - 2)
        O[4, i] = A[i] * (i // 2) * 2
        O[5, i] = -(A[i] + i)
        O[6, i] = A[i] + (i + 3)
        O[7, i] = A[i] - 1 - (2 - i)

#: expr_bits run
@T.prim_func
def bits(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((6, 8), "int32")):
    for i in range(8):
        O[0, i] = A[i] & B[i] | 3
        O[1, i] = (A[i] | B[i]) & 12
        O[2, i] = A[i] ^ B[i] ^ -1
        O[3, i] = ~A[i]
        O[4, i] = A[i] << 3 >> 1
        O[5, i] = A[i] >> (B[i] & 3)

#: expr_shift_counts run
@T.prim_func
def shift_counts(A: T.Buffer((8,), "int32"), S: T.Buffer((8,), "int32"), O: T.Buffer((2, 8), "int32")):
    for i in range(8):
        O[0, i] = A[i] << (S[i] * 8)
        O[1, i] = A[i] >> (S[i] * 8)

#: expr_bit_functions run
@T.prim_func
def bit_functions(A: T.Buffer((4,), "uint8"), B: T.Buffer((4,), "uint8"), O: T.Buffer((6, 4), "uint8")):
    for i in range(4):
        O[0, i] = T.bitwise_and(A[i], B[i])
        O[1, i] = T.bitwise_or(A[i], B[i])
        O[2, i] = T.bitwise_xor(A[i], B[i])
        O[3, i] = T.bitwise_not(A[i])
        O[4, i] = T.shift_left(A[i], T.uint8(2))
        O[5, i] = T.shift_right(A[i], T.uint8(1))

#: expr_floor_division run
@T.prim_func
def floor_division(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((4, 8), "int32")):
    for i in range(8):
        O[0, i] = A[i] // B[i]
        O[1, i] = A[i] % B[i]
        O[2, i] = T.floordiv(A[i], 3)
        O[3, i] = T.floormod(A[i], -3)

#: expr_truncating_division run
@T.prim_func
def truncating_division(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((3, 8), "int32")):
    for i in range(8):
        O[0, i] = T.truncdiv(A[i], B[i])
        O[1, i] = T.truncmod(A[i], B[i])
        O[2, i] = T.truncdiv(i - 4, 3)

#: expr_ceildiv run
@T.prim_func
def ceildiv(O: T.Buffer((12,), "int32"), n: T.int32):
    for i in range(12):
        O[i] = T.ceildiv(i, 5) + T.ceildiv(n, 3)

#: expr_float_operators run
@T.prim_func
def float_operators(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64"), O: T.Buffer((4, 8), "float64")):
    for i in range(8):
        O[0, i] = A[i] / B[i]
        O[1, i] = A[i] - B[i] * A[i]
        O[2, i] = T.Div(A[i], T.float64(3))
        O[3, i] = -A[i]

#: expr_float_floor_division run
@T.prim_func
def float_floor(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), O: T.Buffer((2, 8), "float32")):
    for i in range(8):
        O[0, i] = A[i] // B[i]
        O[1, i] = A[i] % B[i]

#: expr_power
@T.prim_func
def powers(A: T.Buffer((8,), "float32"), N: T.Buffer((8,), "int32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = A[i] ** 2 + A[i] ** A[i]
        N[i] = N[i] ** 3

#: expr_comparisons run
@T.prim_func
def comparisons(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), O: T.Buffer((6, 8), "bool")):
    for i in range(8):
        O[0, i] = A[i] < B[i]
        O[1, i] = A[i] <= B[i]
        O[2, i] = A[i] > B[i]
        O[3, i] = A[i] >= B[i]
        O[4, i] = A[i] == B[i]
        O[5, i] = A[i] != B[i]

#: expr_chained_comparison run
@T.prim_func
def chained(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = 0
        if T.float32(-1) < A[i] < T.float32(1):
            O[i] = 1
        if 2 <= i < 5 != A[i] > T.float32(0):
            O[i] = O[i] + 2

#: expr_logic run
@T.prim_func
def logic(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "bool")):
    for i in range(8):
        O[i] = A[i] > 0 and not A[i] % 2 == 0 or i == 3 and (A[i] < 2 or A[i] > 5)

#: expr_logic_functions run
@T.prim_func
def logic_functions(A: T.Buffer((8,), "bool"), B: T.Buffer((8,), "bool"), O: T.Buffer((8,), "bool")):
    for i in range(8):
        O[i] = T.And(A[i], T.Not(B[i])) == T.Or(A[i], T.bool(False))

#: expr_bool_bits run
@T.prim_func
def bool_bits(A: T.Buffer((8,), "bool"), B: T.Buffer((8,), "bool"), O: T.Buffer((3, 8), "bool")):
    for i in range(8):
        O[0, i] = A[i] & B[i]
        O[1, i] = A[i] | B[i]
        O[2, i] = A[i] ^ B[i]

#: expr_bool_arithmetic run
@T.prim_func
def bool_arithmetic(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.cast(A[i] > 0, "int32") + (A[i] < 3) * 2

#: expr_conditional run
@T.prim_func
def conditional(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = A[i] if A[i] > T.float32(0) else A[i] * T.float32(0.1)

#: expr_if_then_else run
@T.prim_func
def padded(A: T.Buffer((8,), "float32"), O: T.Buffer((10,), "float32")):
    for i in range(10):
        O[i] = T.if_then_else(1 <= i and i < 9, A[i - 1], T.float32(0))

#: expr_select run
@T.prim_func
def selected(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.Select(A[i] > 0, A[i], 0 - A[i])

#: expr_nested_conditionals run
@T.prim_func
def nested_conditionals(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = (1 if A[i] > 3 else 2) if A[i] > 0 else (3 if A[i] > -3 else 4)

#: expr_min_max run
@T.prim_func
def min_max(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = T.min(T.max(A[i], T.float32(-1)), T.float32(1))
        B[i] = T.max(T.min(B[i], 5), i - 2)

#: expr_python_min_max run
@T.prim_func
def python_min_max(O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = max(i, 3) + min(i, 5)

#: expr_abs run
@T.prim_func
def absolutes(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = T.abs(A[i])
        B[i] = T.abs(B[i])

#: expr_int_constants run
@T.prim_func
def int_constants(O: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int64"), Q: T.Buffer((3,), "uint8"), R: T.Buffer((2,), "uint64")):
    O[0] = -2147483648
    O[1] = 2147483647
    O[2] = 0x7F
    O[3] = 1_000
    P[0] = T.int64(-9223372036854775808)
    P[1] = T.int64(9223372036854775807)
    P[2] = 5
    P[3] = 4294967296
    Q[0] = T.uint8(255)
    Q[1] = 7
    R[0] = T.uint64(18446744073709551615)
    R[1] = T.uint64(9223372036854775808)

#: expr_float_constants run
@T.prim_func
def float_constants(O: T.Buffer((12,), "float32"), P: T.Buffer((6,), "float64")):
    O[0] = 0.0
    O[1] = -0.0
    O[2] = 1e-05
    O[3] = T.float32(0.1)
    O[4] = T.float32("inf")
    O[5] = T.float32("-inf")
    O[6] = T.float32("nan")
    O[7] = 3.4028234663852886e38
    O[8] = 1e-45
    O[9] = 16777216.0
    O[10] = 1e16
    O[11] = 3
    P[0] = 0.1
    P[1] = T.float64(1e-300)
    P[2] = T.float64(1.7976931348623157e308)
    P[3] = T.float64("inf")
    P[4] = 123456789012345.678
    P[5] = T.float64(5e-324)

#: expr_bool_constants run
@T.prim_func
def bool_constants(A: T.Buffer((3,), "bool"), O: T.Buffer((5,), "bool")):
    O[0] = True
    O[1] = T.bool(False)
    O[2] = A[0] == T.bool(True)
    O[3] = T.bool(False) != A[1]
    O[4] = not A[2]

#: expr_limits run
@T.prim_func
def limits(O: T.Buffer((3,), "float32"), P: T.Buffer((4,), "int32")):
    O[0] = T.min_value("float32")
    O[1] = T.max_value("float32")
    O[2] = T.infinity("float32")
    P[0] = T.min_value("int32")
    P[1] = T.max_value("int32")
    P[2] = T.cast(T.max_value("int8"), "int32")
    P[3] = T.cast(T.min_value("uint8"), "int32")

#: expr_casts run
@T.prim_func
def casts(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32"), O: T.Buffer((8,), "float64"), P: T.Buffer((8,), "int64")):
    for i in range(8):
        O[i] = T.cast(A[i], "float64") + T.Cast("float64", B[i])
        P[i] = T.cast(A[i], "int64") + T.int64(B[i])

#: expr_cast_narrowing run
@T.prim_func
def narrowing(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int8"), P: T.Buffer((8,), "uint16")):
    for i in range(8):
        O[i] = T.cast(A[i] * 100, "int8")
        P[i] = T.cast(A[i] - 5, "uint16")

#: expr_cast_saturating run
@T.prim_func
def saturating(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "int8"), P: T.Buffer((8,), "uint8"), Q: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.cast(A[i] * T.float32(200), "int8")
        P[i] = T.cast(A[i] * T.float32(200), "uint8")
        Q[i] = T.cast(A[i] * T.float32(1e10), "int32")

#: expr_astype run
@T.prim_func
def astype(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = A[i].astype("float32") + T.float32(i)

#: expr_dtype_constructors run
@T.prim_func
def constructors(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int64")):
    for i in range(8):
        O[i] = T.int64(A[i]) * T.int64(3) + T.int64(T.int16(7)) + T.int64(T.uint8(A[i]))

#: expr_reinterpret run
@T.prim_func
def reinterpreted(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.reinterpret("int32", A[i]) & 2147483647
        B[i] = T.reinterpret("float32", O[i])

#: expr_promotions run
@T.prim_func
def promotions(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int8"), C: T.Buffer((4,), "int64"), D: T.Buffer((4,), "uint16"), O: T.Buffer((5, 4), "float32"), P: T.Buffer((3, 4), "int64")):
    for i in range(4):
        O[0, i] = A[i] * B[i]
        O[1, i] = A[i] + 1
        O[2, i] = A[i] + i
        O[3, i] = B[i] * 0.5
        O[4, i] = 2 * A[i] - 1
        P[0, i] = C[i] + B[i]
        P[1, i] = T.cast(B[i] + D[i], "int64")
        P[2, i] = C[i] * 3 + i

#: expr_wraps run
@T.prim_func
def wraps(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int8"), C: T.Buffer((8,), "uint8")):
    for i in range(8):
        A[i] = A[i] * 1000000007 + 2147483647
        B[i] = B[i] * T.int8(37) - T.int8(100)
        C[i] = C[i] * T.uint8(77) + T.uint8(200)

#: expr_exact_indices run
@T.prim_func
def exact_indices(O: T.Buffer((64,), "int32")):
    for i, j in T.grid(8, 8):
        O[(i * 8 + j) * 5 % 64] = (i - 4) // 3 * 10 + (j - 4) % 3

#: expr_let_expression run
@T.prim_func
def let_expression(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    x = T.int32()
    for i in range(8):
        O[i] = T.Let(x * x + x, where={x: A[i] + 1})

#: expr_vector_arithmetic run
@T.prim_func
def vector_arithmetic(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    B[0:8] = A[0:8] * A[8:16] + T.Broadcast(T.float32(1), 8)
    B[8:16] = T.max(A[0:8], A[8:16]) - T.broadcast(A[3], 8)

#: expr_vector_int run
@T.prim_func
def vector_int(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    B[0:8] = A[0:8] * T.Broadcast(3, 8) + T.Ramp(0, 2, 8)

#: expr_vector_select run
@T.prim_func
def vector_select(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:8] = T.Select(A[0:8] > T.Broadcast(T.float32(0), 8), A[0:8], T.Broadcast(T.float32(0), 8))

#: expr_vector_cast run
@T.prim_func
def vector_cast(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    B[0:8] = T.Cast("float32x8", A[0:8])

#: expr_vector_constructor
@T.prim_func
def vector_constructor(A: T.Buffer((8,), "float32")):
    A[0:4] = T.float32x4(1.5)
    A[4:8] = T.float32x4(A[0])

#: expr_shuffle
@T.prim_func
def shuffled(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:4] = T.Shuffle([A[0:4]], [3, 2, 1, 0])
    B[4:8] = T.Shuffle([A[0:4], A[4:8]], [0, 4, 1, 5])
    B[0] = T.Shuffle([A[4:8]], [2])

#: expr_vector_halves
@T.prim_func
def halves(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:4] = T.vectorhigh("float32x4", A[0:8])
    B[4:8] = T.vectorlow("float32x4", A[0:8])
    B[0:8] = T.vectorcombine("float32x8", B[4:8], B[0:4])

#: expr_lane_mask
@T.prim_func
def lane_mask(A: T.Buffer((8,), "bool"), n: T.int32):
    A[0:8] = T.get_active_lane_mask("boolx8", 0, n)

#: expr_likely run
@T.prim_func
def likely(A: T.Buffer((18,), "float32")):
    for i, j in T.grid(5, 4):
        if T.likely(i * 4 + j < 18):
            A[i * 4 + j] = T.float32(1)

#: expr_long_sum run
@T.prim_func
def long_sum(A: T.Buffer((4,), "int32"), O: T.Buffer((1,), "int32")):
    O[0] = A[0] + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + A[1] + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + A[2] - A[3] - 1 - 2 - 3

#: expr_node_classes run
@T.prim_func
def node_classes(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.Add(A[i], T.Mul(A[i], T.Sub(i, 3)))
        if T.LT(A[i], 0):
            O[i] = T.FloorDiv(A[i], 2) + T.FloorMod(A[i], 3) + T.Min(A[i], 1) + T.Max(A[i], 2)
        if T.EQ(A[i], 1):
            O[i] = T.Div(A[i], 2) + T.Mod(A[i], 2)
        if T.NE(A[i], 2):
            O[i] = O[i] + 1
        if T.LE(A[i], 3):
            O[i] = O[i] + 1
        if T.GT(A[i], 4):
            O[i] = O[i] + 1
        if T.GE(A[i], 5):
            O[i] = O[i] + 1

#: expr_immediates run
@T.prim_func
def immediates(O: T.Buffer((2,), "int64"), P: T.Buffer((1,), "float64")):
    O[0] = T.IntImm("int64", 5)
    O[1] = T.Cast("int64", T.IntImm("int32", -7))
    P[0] = T.FloatImm("float64", 0.25)
"""
