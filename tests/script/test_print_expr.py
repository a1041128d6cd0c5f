"""Expressions: the least brackets that Python needs, constants, calls."""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import ast
import itertools
import math

import pytest

from tirscript.ir import ops
from tirscript.ir.buffer import BufferRegion, make_buffer
from tirscript.ir.expr import (
    EQ,
    FALSE,
    GE,
    GT,
    LE,
    LT,
    NE,
    TRUE,
    Add,
    And,
    Broadcast,
    Call,
    Cast,
    CommReducer,
    Div,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    IterVar,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Range,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
    const_int,
)
from tirscript.script.printer import script
from tirscript.script.printer.constants import float_text

a, b, c = Var("a"), Var("b"), Var("c")
x, y = Var("x", "float32"), Var("y", "float32")
p, q, r = Var("p", "bool"), Var("q", "bool"), Var("r", "bool")
one, two, minus = const_int(1), const_int(2), const_int(-1)


def call(op, *args, dtype="int32"):
    return Call(dtype, op, args)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Add(Add(a, b), c), "a + b + c"),
        (Add(a, Add(b, c)), "a + (b + c)"),
        (Sub(a, Sub(b, c)), "a - (b - c)"),
        (Sub(Sub(a, b), c), "a - b - c"),
        (Add(a, Mul(b, c)), "a + b * c"),
        (Mul(Add(a, b), c), "(a + b) * c"),
        (Mul(a, FloorDiv(b, c)), "a * (b // c)"),
        (Mul(FloorDiv(a, b), c), "a // b * c"),
        (FloorMod(a, FloorMod(b, c)), "a % (b % c)"),
        (FloorDiv(a, Add(b, one)), "a // (b + 1)"),
        (Div(x, Mul(x, y)), "x / (x * y)"),
        (Div(Mul(x, y), y), "x * y / y"),
        (Div(a, b), "T.truncdiv(a, b)"),
        (Mod(Add(a, b), b), "T.truncmod(a + b, b)"),
        (Mul(a, minus), "a * -1"),
        (Mul(minus, a), "-1 * a"),
        (Sub(a, minus), "a - -1"),
        (FloorDiv(const_int(-5), a), "-5 // a"),
        # Two bare numbers would be Python's to compute.
        (Add(one, two), "T.Add(1, 2)"),
        (Mul(Sub(one, two), a), "T.Sub(1, 2) * a"),
        (Add(Add(Add(Add(one, two), a), b), c), "T.Add(1, 2) + a + b + c"),
        (LT(one, two), "T.LT(1, 2)"),
        (Add(IntImm(1, "int64"), IntImm(2, "int64")), "T.int64(1) + T.int64(2)"),
        # Comparisons do not chain.
        (EQ(LT(a, b), LT(b, c)), "(a < b) == (b < c)"),
        (NE(p, EQ(q, r)), "p != (q == r)"),
        (LE(Add(a, b), c), "a + b <= c"),
        (Not(GT(a, b)), "not a > b"),
        (EQ(Not(p), q), "(not p) == q"),
        (Not(Not(p)), "not not p"),
        (And(And(p, q), r), "p and q and r"),
        (And(p, And(q, r)), "p and (q and r)"),
        (Or(p, And(q, r)), "p or q and r"),
        (And(Or(p, q), r), "(p or q) and r"),
        (And(p, Not(q)), "p and not q"),
        (Not(And(p, q)), "not (p and q)"),
        (And(GE(a, b), NE(b, c)), "a >= b and b != c"),
        (EQ(p, TRUE), "p == T.bool(True)"),
        (call("bitwise_and", a, call("bitwise_or", b, c)), "a & (b | c)"),
        (call("bitwise_or", call("bitwise_and", a, b), call("bitwise_xor", b, c)), "a & b | b ^ c"),
        (call("bitwise_xor", call("bitwise_xor", a, b), c), "a ^ b ^ c"),
        (call("shift_left", Add(a, b), two), "a + b << 2"),
        (Add(a, call("shift_left", b, two)), "a + (b << 2)"),
        (call("shift_right", a, call("shift_right", b, c)), "a >> (b >> c)"),
        (LT(call("bitwise_and", a, b), c), "a & b < c"),
        (call("bitwise_and", one, two), "T.bitwise_and(1, 2)"),
        (call("bitwise_not", Add(a, b)), "~(a + b)"),
        (Mul(call("bitwise_not", a), b), "~a * b"),
        (call("bitwise_not", call("bitwise_not", a)), "~~a"),
        (call("bitwise_not", one), "T.bitwise_not(1)"),
        (Min(a, Add(b, c)), "T.min(a, b + c)"),
        (Max(a, b), "T.max(a, b)"),
        (Select(LT(a, b), a, b), "T.Select(a < b, a, b)"),
        (call("if_then_else", LT(a, b), a, one), "T.if_then_else(a < b, a, 1)"),
        (call("pow", x, y, dtype="float32"), "T.pow(x, y)"),
        (call("exp", x, dtype="float32"), "T.exp(x)"),
        (Cast("int64", Add(a, b)), 'T.Cast("int64", a + b)'),
        (Broadcast(one, 4), "T.Broadcast(1, 4)"),
        (Add(Ramp(a, one, 4), Broadcast(b, 4)), "T.Ramp(a, 1, 4) + T.Broadcast(b, 4)"),
        (Shuffle((Ramp(a, one, 4), Ramp(b, one, 4)), (two, const_int(5))),
         "T.Shuffle([T.Ramp(a, 1, 4), T.Ramp(b, 1, 4)], [2, 5])"),
        (Let(c, Add(a, b), Mul(c, c)), "T.Let(c * c, where={c: a + b})"),
        (call("reinterpret", x), 'T.reinterpret("int32", x)'),
        (call("call_extern", StringImm("f"), a), 'T.call_extern("int32", "f", a)'),
        (call("call_packed", StringImm("f"), a), 'T.call_packed("f", a)'),
        (call("type_annotation", dtype="float16"), 'T.type_annotation("float16")'),
        (call("vectorlow", Broadcast(x, 4), dtype="float32x2"), 'T.vectorlow("float32x2", T.Broadcast(x, 4))'),
        (call("tvm_struct_get", a, b, c, dtype="int64"), 'T.tvm_struct_get(a, b, c, "int64")'),
        (call("my.op", a, dtype="float32"), 'T.call_intrin("float32", "my.op", a)'),
        (Call("int32", GlobalVar("g"), (a, b)), "cls.g(a, b)"),
        (CommReducer((x,), (y,), (Add(x, y),), (FloatImm(0.0),)), "T.comm_reducer(lambda x, y: x + y, [T.float32(0)])"),
        (Range(const_int(0), a), "T.Range(0, a)"),
        (StringImm('say "hi"\n'), '"say \\"hi\\"\\n"'),
    ],
)  # fmt: skip
def test_text(expr, text):
    assert script(expr) == text


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (const_int(7), "7"),
        (const_int(-7), "-7"),
        (IntImm(-(1 << 31)), "-2147483648"),
        (IntImm(3, "int64"), "T.int64(3)"),
        (IntImm(-3, "int8"), "T.int8(-3)"),
        (IntImm((1 << 64) - 1, "uint64"), "T.uint64(18446744073709551615)"),
        (TRUE, "T.bool(True)"),
        (FALSE, "T.bool(False)"),
        (FloatImm(0.0), "T.float32(0)"),
        (FloatImm(-0.0), "T.float32(-0.0)"),
        (FloatImm(ops.round_float(0.1, "float16"), "float16"), "T.float16(0.1)"),
        (FloatImm(ops.round_float(1e-05, "float32")), "T.float32(1e-05)"),
        (FloatImm(ops.round_float(0.1, "bfloat16"), "bfloat16"), "T.bfloat16(0.1)"),
        (FloatImm(ops.round_float(0.3, "float8_e4m3fn"), "float8_e4m3fn"), "T.float8_e4m3fn(0.3)"),
        (FloatImm(0.1, "float64"), "T.float64(0.1)"),
        (FloatImm(1e16, "float64"), "T.float64(1e+16)"),
        (FloatImm(9999999999999998.0, "float64"), "T.float64(9999999999999998)"),
        (FloatImm(65504.0, "float16"), "T.float16(65504)"),
        (FloatImm(float("nan"), "float64"), 'T.float64("nan")'),
        (FloatImm(float("inf")), 'T.float32("inf")'),
        (FloatImm(-float("inf"), "float16"), 'T.float16("-inf")'),
        (FloatImm(2.5), "T.float32(2.5)"),
        (FloatImm(-3.0), "T.float32(-3)"),
    ],
)
def test_constants(expr, text):
    assert script(expr) == text


# Every value of the narrow formats, and a spread of float32 and float64, reads back from its text.
def narrow_values(dtype):
    if dtype in ("float32", "float64"):
        return [m * 10.0**e for m in (1.0, 1.1, 3.14159265, -7.7777777, 9.9999999) for e in range(-30, 30, 3)]
    import ml_dtypes
    import numpy as np

    kind = np.dtype(getattr(np, dtype, None) or getattr(ml_dtypes, dtype))
    bits = np.uint8 if kind.itemsize == 1 else np.uint16
    step = 1 if kind.itemsize == 1 else 7
    with np.errstate(invalid="ignore"):
        values = np.arange(0, 1 << (8 * kind.itemsize), step).astype(bits).view(kind).astype("float64")
    return [float(v) for v in values if math.isfinite(v)]


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
     "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"],
)  # fmt: skip
def test_float_text_reads_back(dtype):
    for raw in narrow_values(dtype):
        value = ops.round_float(raw, dtype)
        text = float_text(value, dtype)
        back = ops.round_float(float(text), dtype)
        assert back == value and math.copysign(1, back) == math.copysign(1, value), (raw, text)


def test_float_text_is_numpys_shortest():
    import numpy as np

    for bits in range(1, 0x7C00, 11):
        value = np.uint16(bits).view(np.float16)
        if float(value).is_integer():
            continue
        assert float_text(float(value), "float16") == repr(float(str(value)))


def test_loads_and_regions():
    A = make_buffer("A", (const_int(16), const_int(16)))
    V = make_buffer("V", (const_int(64),))
    S = make_buffer("S", ())
    four = const_int(4)
    assert script(A[a, b + 1]) == "A[a, b + 1]"
    assert script(S[()]) == "S[()]"
    assert script(V[Ramp(const_int(0), one, 8)]) == "V[0:8]"
    assert script(V[Ramp(const_int(0), two, 4)]) == "V[0:8:2]"
    assert script(V[Ramp(a * 4, one, 4)]) == "V[a * 4:a * 4 + 4]"
    assert script(V[Ramp(a, minus, 4)]) == "V[T.Ramp(a, -1, 4)]"
    assert script(V[Ramp(a, b, 4)]) == "V[T.Ramp(a, b, 4)]"
    assert script(V[Ramp(IntImm(8, "int64"), IntImm(1, "int64"), 4)]) == "V[T.int64(8):T.int64(12)]"
    region = BufferRegion(A, (Range(a, four), Range(const_int(0), const_int(16))))
    assert script(region) == "A[a:a + 4, 0:16]"
    assert script(BufferRegion(A, (Range(a, one), Range(const_int(3), b)))) == "A[a, 3:3 + b]"
    assert script(BufferRegion(S, ())) == "S[()]"
    assert script(BufferRegion(V, (Range(a, Sub(b, a)),))) == "V[a:b]"
    # `b + 4` would read back as another extent.
    assert script(BufferRegion(V, (Range(a, Sub(Add(a, b), a)),))) == "V[a:a + (a + b - a)]"
    assert script(BufferRegion(V, (Range(a, Sub(Add(a, four), a)),))) == "V[a:a + (a + 4 - a)]"


def test_predicated_load():
    V = make_buffer("V", (const_int(64),))
    load = ops.load(V, [Ramp(a, one, 4)]).replace(predicate=Broadcast(p, 4))
    assert script(load) == "V.vload([T.Ramp(a, 1, 4)], predicate=T.Broadcast(p, 4))"


def as_python(text):
    """The tree that Python reads: nested tuples of operator and operands."""

    def of(n):
        if isinstance(n, ast.BinOp):
            return (type(n.op).__name__, of(n.left), of(n.right))
        if isinstance(n, ast.Compare):
            assert len(n.ops) == 1, "a chained comparison"
            return (type(n.ops[0]).__name__, of(n.left), of(n.comparators[0]))
        if isinstance(n, ast.BoolOp):
            tree = of(n.values[0])
            for v in n.values[1:]:
                tree = (type(n.op).__name__, tree, of(v))
            return tree
        if isinstance(n, ast.UnaryOp):
            if isinstance(n.op, ast.USub) and isinstance(n.operand, ast.Constant):
                return -n.operand.value
            return (type(n.op).__name__, of(n.operand))
        if isinstance(n, ast.Constant):
            return n.value
        assert isinstance(n, ast.Name)
        return n.id

    return of(ast.parse(text, mode="eval").body)


OPERATORS = {
    Add: "Add", Sub: "Sub", Mul: "Mult", FloorDiv: "FloorDiv", FloorMod: "Mod", EQ: "Eq", LT: "Lt", And: "And",
    Or: "Or", Not: "Not",
}  # fmt: skip
BITS = {"bitwise_and": "BitAnd", "bitwise_or": "BitOr", "shift_left": "LShift", "bitwise_not": "Invert"}


def as_tree(e):
    if isinstance(e, Var):
        return e.name
    if isinstance(e, IntImm):
        return e.value
    word = BITS[e.op] if isinstance(e, Call) else OPERATORS[type(e)]
    return (word, *[as_tree(k) for k in e.children()])


def test_every_pair_of_operators_reads_back():
    two_places = [Add, Sub, Mul, FloorDiv, FloorMod, EQ, LT, And, Or]
    builders = [
        *two_places,
        *[lambda u, v, n=n: call(n, u, v) for n in ("bitwise_and", "bitwise_or", "shift_left")],
        lambda u, v: Not(u),
        lambda u, v: call("bitwise_not", u),
    ]
    leaves = [a, const_int(-2)]
    for f, g, h in itertools.product(builders, repeat=3):
        for leaf in leaves if g is not builders[-1] else [a]:
            e = f(g(leaf, b), h(b, leaf))
            text = script(e)
            assert as_python(text) == as_tree(e), text


def test_brackets_are_needed():
    """Taking any one pair of brackets away changes what Python reads."""
    builders = [Add, Sub, Mul, FloorDiv, EQ, And, Or, lambda u, v: Not(u)]
    for f, g, h in itertools.product(builders, repeat=3):
        e = f(g(a, b), h(b, c))
        text = script(e)
        opened = []
        for n, ch in enumerate(text):
            if ch == "(":
                opened.append(n)
            elif ch == ")":
                start = opened.pop()
                less = text[:start] + " " + text[start + 1 : n] + " " + text[n + 1 :]
                try:
                    same = as_python(less.strip()) == as_tree(e)
                except (AssertionError, SyntaxError):
                    same = False
                assert not same, (text, less)


def test_long_chain_without_brackets():
    total = a
    for _ in range(5000):
        total = Add(total, b)
    assert script(total) == "a" + " + b" * 5000


def test_long_nest_of_brackets_says_so():
    total = a
    for _ in range(300):
        total = Add(b, total)
    comment, line = script(total).split("\n")
    assert comment == "# over Python's limit of 200 nested brackets: this text cannot be read back"
    assert line == "b + (" * 299 + "b + a" + ")" * 299


def test_what_is_no_expression_prints():
    assert script(IterVar(Var("v"), Range(const_int(0), const_int(4)), "spatial")).startswith("T.iter_var(v")
    assert script(GlobalVar("f")) == "cls.f"
    assert script({"k": [1, 2.5, None, True], "a": [a]}) == '{"a": [a], "k": [1, 2.5, None, True]}'
