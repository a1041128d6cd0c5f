"""Expressions: operators, promotion, conditionals, builtins, constants; against nodes built by hand."""

import warnings

import pytest

import tirscript as ts
from tirscript.ir import structural_equal
from tirscript.ir.expr import (
    EQ,
    GE,
    LE,
    LT,
    NE,
    TRUE,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Shuffle,
    Sub,
    Var,
)

HEAD = """
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "int32"), H: T.Buffer((8,), "float16"),
      L: T.Buffer((8,), "int64"), U: T.Buffer((8,), "uint8"), P: T.Buffer((8,), "bool"),
      n: T.int32, m: T.int64, x: T.float32, R: T.Buffer((1,), "{dtype}")):
    R[0] = {text}
"""


def value(text: str, dtype: str, extra=None):
    """The expression that ``text`` means, with the variables and buffers of the function by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        func = ts.parse(HEAD.format(text=text, dtype=dtype), extra)
    names = {v.name: v for v in func.params} | {b.name: b for b in func.buffers}
    return func.body.value, names


def check(text: str, dtype: str, build, extra=None):
    got, names = value(text, dtype, extra)
    want = build(names)
    assert structural_equal(got, want, map_free_vars=False), (got, want)


def c(v, dtype="int32"):
    return IntImm(v, dtype)


def load(names, buffer, *indices):
    return BufferLoad(names[buffer], tuple(c(i) for i in indices))


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        ("n + 2", Add), ("n - 2", Sub), ("n * 2", Mul), ("n // 2", FloorDiv), ("n % 2", FloorMod),
        ("T.truncdiv(n, 2)", Div), ("T.truncmod(n, 2)", Mod), ("T.floordiv(n, 2)", FloorDiv),
        ("T.floormod(n, 2)", FloorMod), ("T.min(n, 2)", Min), ("T.max(n, 2)", Max), ("min(n, 2)", Min),
        ("max([n, 2])", Max), ("T.Add(n, 2)", Add), ("T.Div(n, 2)", Div), ("T.Mod(n, 2)", Mod),
        ("T.Min(n, 2)", Min),
    ],
)  # fmt: skip
def test_integer_operators(text, cls):
    check(text, "int32", lambda v: cls(v["n"], c(2)))


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("n << 2", "shift_left"), ("n >> 2", "shift_right"), ("n & 2", "bitwise_and"),
        ("n | 2", "bitwise_or"), ("n ^ 2", "bitwise_xor"), ("n ** 2", "pow"), ("pow(n, 2)", "pow"),
        ("T.shift_left(n, 2)", "shift_left"),
    ],
)  # fmt: skip
def test_operators_that_are_calls(text, op):
    check(text, "int32", lambda v: Call("int32", op, (v["n"], c(2))))


def test_unary_operators():
    check("-n", "int32", lambda v: Mul(v["n"], c(-1)))
    check("-x", "float32", lambda v: Mul(v["x"], FloatImm(-1.0)))
    check("~n", "int32", lambda v: Call("int32", "bitwise_not", (v["n"],)))
    check("+n", "int32", lambda v: v["n"])
    check("not P[0]", "bool", lambda v: Not(load(v, "P", 0)))
    check("-3", "int32", lambda v: c(-3))
    check("-2147483648", "int32", lambda v: c(-2147483648))
    check("-0.0", "float32", lambda v: FloatImm(-0.0))
    check("abs(n)", "int32", lambda v: Call("int32", "abs", (v["n"],)))
    check("abs(x)", "float32", lambda v: Call("float32", "fabs", (v["x"],)))


@pytest.mark.parametrize(
    ("sign", "cls"), [("==", EQ), ("!=", NE), ("<", LT), ("<=", LE), (">", None), (">=", GE)]
)
def test_comparisons(sign, cls):
    from tirscript.ir.expr import GT

    check(f"n {sign} 2", "bool", lambda v: (cls or GT)(v["n"], c(2)))


def test_precedence_is_pythons():
    check(
        "n - (2 - m % 4) * 3 // n",
        "int64",
        lambda v: Sub(
            Cast("int64", v["n"]),
            FloorDiv(
                Mul(Sub(c(2, "int64"), FloorMod(v["m"], c(4, "int64"))), c(3, "int64")), Cast("int64", v["n"])
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "dtype", "build"),
    [
        # A Python literal takes the other side's dtype.
        ("L[0] + 1", "int64", lambda v: Add(load(v, "L", 0), c(1, "int64"))),
        ("H[0] + 1", "float16", lambda v: Add(load(v, "H", 0), FloatImm(1.0, "float16"))),
        ("H[0] + 0.1", "float16", lambda v: Add(load(v, "H", 0), FloatImm(0.0999755859375, "float16"))),
        ("U[0] + 255", "uint8", lambda v: Add(load(v, "U", 0), c(255, "uint8"))),
        ("n + 0.5", "float32", lambda v: Add(Cast("float32", v["n"]), FloatImm(0.5))),
        # int with float: the float's dtype; the wider of two.
        ("n + H[0]", "float16", lambda v: Add(Cast("float16", v["n"]), load(v, "H", 0))),
        ("H[0] + x", "float32", lambda v: Add(Cast("float32", load(v, "H", 0)), v["x"])),
        ("n + m", "int64", lambda v: Add(Cast("int64", v["n"]), v["m"])),
        # Signed with unsigned: signed of the wider width.
        ("U[0] + n", "int32", lambda v: Add(Cast("int32", load(v, "U", 0)), v["n"])),
        # bool counts as 0 or 1.
        ("P[0] + n", "int32", lambda v: Add(Cast("int32", load(v, "P", 0)), v["n"])),
        (
            "P[0] + P[1]",
            "int32",
            lambda v: Add(Cast("int32", load(v, "P", 0)), Cast("int32", load(v, "P", 1))),
        ),
        ("x / 2", "float32", lambda v: Div(v["x"], FloatImm(2.0))),
    ],
)
def test_promotion(text, dtype, build):
    check(text, dtype, build)


def test_nothing_is_folded_but_python_values_are_pythons():
    check("n + 0", "int32", lambda v: Add(v["n"], c(0)))
    check("n * 1", "int32", lambda v: Mul(v["n"], c(1)))
    check("2 * 3 + n", "int32", lambda v: Add(c(6), v["n"]))
    check("n + 2 * 3", "int32", lambda v: Add(v["n"], c(6)))
    check("k * 2", "int32", lambda v: c(10), {"k": 5})
    check("7 // 2 + 7 % 4 - (1 << 3)", "int32", lambda v: c(-2))


def test_and_or_not_with_python_values():
    check("n > 1 and n < 3", "bool", lambda v: And(_gt(v["n"], 1), LT(v["n"], c(3))))
    check(
        "n > 1 or n < 3 or P[0]", "bool", lambda v: Or(Or(_gt(v["n"], 1), LT(v["n"], c(3))), load(v, "P", 0))
    )
    check("True and P[0]", "bool", lambda v: load(v, "P", 0))
    check("False or P[0]", "bool", lambda v: load(v, "P", 0))
    check("False and nothing", "bool", lambda v: IntImm(0, "bool"))
    check("True or nothing", "bool", lambda v: TRUE)
    check("P[0] and True", "bool", lambda v: And(load(v, "P", 0), TRUE))


def _gt(a, b):
    from tirscript.ir.expr import GT

    return GT(a, c(b))


def test_chained_comparisons_mean_what_python_means():
    check("0 < n < 8", "bool", lambda v: And(LT(c(0), v["n"]), LT(v["n"], c(8))))
    check("1 < 2 < n", "bool", lambda v: LT(c(2), v["n"]))
    check("2 < 1 < n", "bool", lambda v: IntImm(0, "bool"))
    got, _ = value('0 < T.call_extern("int32", "next") < 8', "bool")
    assert isinstance(got, Let) and isinstance(got.value, Call)
    assert structural_equal(got.body, And(LT(c(0), got.var), LT(got.var, c(8))), map_free_vars=False)


def test_conditional_expressions():
    check(
        "1 if n > 2 else n",
        "int32",
        lambda v: Call("int32", "if_then_else", (_gt(v["n"], 2), c(1), v["n"])),
    )
    check("1 if debug else nothing", "int32", lambda v: c(1), {"debug": True})
    check("T.Select(n > 2, n, 1)", "int32", lambda v: Select(_gt(v["n"], 2), v["n"], c(1)))
    check(
        "T.if_then_else(n, x, 1)",
        "float32",
        lambda v: Call("float32", "if_then_else", (NE(v["n"], c(0)), v["x"], FloatImm(1.0))),
    )


@pytest.mark.parametrize(
    ("text", "dtype", "want"),
    [
        ("T.float32(0.1)", "float32", FloatImm(0.10000000149011612)),
        ('T.float32("inf")', "float32", FloatImm(float("inf"))),
        ('T.float16("-inf")', "float16", FloatImm(float("-inf"), "float16")),
        ("T.int64(3)", "int64", IntImm(3, "int64")),
        ("T.int8(-128)", "int8", IntImm(-128, "int8")),
        ("T.bool(True)", "bool", TRUE),
        ("T.min_value('int8')", "int8", IntImm(-128, "int8")),
        ("T.max_value('uint4')", "uint4", IntImm(15, "uint4")),
        ("T.max_value('float16')", "float16", FloatImm(65504.0, "float16")),
        ("T.infinity('float64')", "float64", FloatImm(float("inf"), "float64")),
        ("T.IntImm('int16', 5)", "int16", IntImm(5, "int16")),
        ("T.bfloat16(1.00390625)", "bfloat16", FloatImm(1.0, "bfloat16")),
    ],
)
def test_constants(text, dtype, want):
    got, _ = value(text, dtype)
    assert structural_equal(got, want)


def test_vectors():
    func = ts.parse("""
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    A[0, 0:4] = A[0, 4:8] * T.float32x4(2)
    A[n, n:n + 4] = T.Broadcast(T.float32(1), 4)
    A[0, T.ramp(0, 2, 4)] = T.broadcast(0.5, 4)
    A[0, 0:8:2] = T.Shuffle([A[0, 0:4], A[1, 0:4]], [0, 2, 4, 6])
    A[0, 0] = T.Shuffle([A[0, 0:4]], [2])
""")
    first, second, third, fourth, fifth = func.body.seq
    ramp = Ramp(c(0), c(1), 4)
    assert structural_equal(first.indices[1], ramp) and first.value.dtype == "float32x4"
    assert isinstance(first.value, Mul) and isinstance(first.value.b, Broadcast)
    n = func.params[1]
    assert structural_equal(second.indices[1], Ramp(n, c(1), 4), map_free_vars=False)
    assert structural_equal(third.indices[1], Ramp(c(0), c(2), 4))
    assert structural_equal(fourth.indices[1], Ramp(c(0), c(2), 4)) and fourth.value.dtype == "float32x4"
    assert isinstance(fifth.value, Shuffle) and fifth.value.dtype == "float32"


def test_python_constructs_make_python_values():
    check("sum([n, 1, 2])", "int32", lambda v: Add(Add(v["n"], c(1)), c(2)))
    check("[i * i for i in range(4) if i % 2][1]", "int32", lambda v: c(9))
    check("{'a': n}['a']", "int32", lambda v: v["n"])
    check("len([1, 2, 3])", "int32", lambda v: c(3))
    check("g(n)", "int32", lambda v: Add(Mul(v["n"], v["n"]), c(1)), {"g": lambda e: e * e + 1})
    check("(lambda a, b=2: a + b)(n)", "int32", lambda v: Add(v["n"], c(2)))
    check("max(*[1, n])", "int32", lambda v: Max(c(1), v["n"]))


def test_let_expressions_bind_their_names():
    got, names = value("T.Let(q * q + n, where={q: n + 1})", "int32")
    assert isinstance(got, Let) and got.var.name == "q" and got.var.exact
    want = Let(v := Var("q"), Add(names["n"], c(1)), Add(Mul(v, v), names["n"]))
    assert structural_equal(got, want, map_free_vars=False)


def test_mathematics_converts_integers_to_floats():
    check("T.exp(n)", "float32", lambda v: Call("float32", "exp", (Cast("float32", v["n"]),)))
    check("T.exp(m)", "float64", lambda v: Call("float64", "exp", (Cast("float64", v["m"]),)))
    check("T.sqrt(x)", "float32", lambda v: Call("float32", "sqrt", (v["x"],)))
    check("T.atan2(x, 1)", "float32", lambda v: Call("float32", "atan2", (v["x"], FloatImm(1.0))))
    check("T.isnan(x)", "bool", lambda v: Call("bool", "isnan", (v["x"],)))
    check("T.popcount(n)", "int32", lambda v: Call("int32", "popcount", (v["n"],)))


def test_numpy_scalars_and_dtypes_are_values():
    np = pytest.importorskip("numpy")
    check("k + n", "int32", lambda v: Add(c(3), v["n"]), {"k": np.int32(3)})
    check("T.cast(n, d)", "float64", lambda v: Cast("float64", v["n"]), {"d": np.float64})


@pytest.mark.parametrize("layout", ["{}", "[{}, {}]", "({}, {})"])
def test_a_long_sum_is_read(layout):
    if layout == "{}":
        text = " + ".join(["A[0, 0]"] * 5000)
        got, _ = value(text, "float32")
        depth = 0
        while isinstance(got, Add):
            depth, got = depth + 1, got.a
        assert depth == 4999
    else:
        check("max(" + layout.format("n", "2") + ")", "int32", lambda v: Max(v["n"], c(2)))
