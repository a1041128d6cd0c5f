"""Integers of the python target against unbounded integers reduced by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.python import compile_python

INTS = [f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)]


def wrapped(value: int, dtype: str) -> int:
    bits = int(dtype.lstrip("uint"))
    value %= 1 << bits
    return value - (1 << bits) if dtype[0] == "i" and value >= 1 << (bits - 1) else value


def edges(dtype: str) -> list[int]:
    bits = int(dtype.lstrip("uint"))
    if dtype[0] == "u":
        return [0, 1, 2, 3, 7, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1]
    top = 1 << (bits - 1)
    return [-top, 1 - top, -7, -3, -2, -1, 0, 1, 2, 3, 7, top - 1]


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted_right(a: int, n: int, bits: int) -> int:
    return a >> n if 0 <= n < bits else (-1 if a < 0 else 0)


OPERATORS: dict[str, Callable[[int, int, int], int]] = {
    "a + b": lambda a, b, _: a + b,
    "a - b": lambda a, b, _: a - b,
    "a * b": lambda a, b, _: a * b,
    "a // b": lambda a, b, _: a // b if b else 0,
    "a % b": lambda a, b, _: a % b if b else 0,
    "T.truncdiv(a, b)": lambda a, b, _: truncated(a, b) if b else 0,
    "T.truncmod(a, b)": lambda a, b, _: a - truncated(a, b) * b if b else 0,
    "T.min(a, b)": lambda a, b, _: min(a, b),
    "T.max(a, b)": lambda a, b, _: max(a, b),
    "a & b": lambda a, b, _: a & b,
    "a | b": lambda a, b, _: a | b,
    "a ^ b": lambda a, b, _: a ^ b,
    "~a + (b - b)": lambda a, b, _: ~a,
    "a << b": lambda a, b, bits: a << b if 0 <= b < bits else 0,
    "a >> b": shifted_right,
    "T.popcount(a) + (b - b)": lambda a, b, bits: (a % (1 << bits)).bit_count(),
    "T.clz(a) + (b - b)": lambda a, b, bits: bits - (a % (1 << bits)).bit_length(),
    "T.abs(a) + (b - b)": lambda a, b, _: abs(a),
}


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_at_the_edges(operator: str, dtype: str) -> None:
    pairs = list(itertools.product(edges(dtype), repeat=2))
    n = len(pairs)
    text = operator.replace("a", "A[i]").replace("b", "B[i]")
    for word in ("min", "max", "abs", "popcount", "truncdiv", "truncmod"):
        mangled = word.replace("a", "A[i]").replace("b", "B[i]")
        text = text.replace(f"T.{mangled}", f"T.{word}")
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({n},), "{dtype}"), B: T.Buffer(({n},), "{dtype}"), O: T.Buffer(({n},), "{dtype}")):
    for i in range({n}):
        O[i] = {text}
""")
    a = np.array([p[0] for p in pairs], dtype)
    b = np.array([p[1] for p in pairs], dtype)
    out = np.zeros(n, dtype)
    compile_python(program)["f"](a, b, out)
    bits = int(dtype.lstrip("uint"))
    assert out.tolist() == [wrapped(OPERATORS[operator](x, y, bits), dtype) for x, y in pairs]


@pytest.mark.parametrize("source", INTS)
@pytest.mark.parametrize("dtype", INTS)
def test_conversions_wrap(source: str, dtype: str) -> None:
    values = edges(source)
    n = len(values)
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({n},), "{source}"), O: T.Buffer(({n},), "{dtype}")):
    for i in range({n}):
        O[i] = T.cast(A[i], "{dtype}")
""")
    out = np.zeros(n, dtype)
    compile_python(program)["f"](np.array(values, source), out)
    assert out.tolist() == [wrapped(v, dtype) for v in values]


@pytest.mark.parametrize("dtype", INTS)
def test_floats_saturate(dtype: str) -> None:
    values = [0.0, -0.5, 0.99, -1.5, 2.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 127.9, 128.0, -129.0]
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({len(values)},), "float64"), O: T.Buffer(({len(values)},), "{dtype}")):
    for i in range({len(values)}):
        O[i] = T.cast(A[i], "{dtype}")
""")
    out = np.zeros(len(values), dtype)
    compile_python(program)["f"](np.array(values), out)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def expected(v: float) -> int:
        if np.isnan(v):
            return 0
        return high if v > high else low if v < low else int(v)

    assert out.tolist() == [expected(v) for v in values]


def test_exact_integers_do_not_wrap_before_they_are_stored() -> None:
    """Loop variables mean mathematical integers: the quotient is taken of the whole product."""
    program = ts.parse("""
@T.prim_func
def f(O: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int32")):
    for i in range(4):
        O[i] = i * 2000000000 // 1000000000
        P[i] = i * 2000000000
""")
    o, p = np.zeros((2, 4), "int32")
    compile_python(program)["f"](o, p)
    assert o.tolist() == [0, 2, 4, 6]
    assert p.tolist() == [wrapped(i * 2000000000, "int32") for i in range(4)]


def test_exact_beside_data_is_reduced_first() -> None:
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((2,), "int8"), n: T.int32, O: T.Buffer((2,), "int32")):
    for i in range(2):
        O[i] = T.cast(A[i] + T.cast(n * 100, "int8"), "int32")
""")
    o = np.zeros(2, "int32")
    compile_python(program)["f"](np.array([100, -100], "int8"), 3, o)
    part = wrapped(300, "int8")
    assert o.tolist() == [wrapped(100 + part, "int8"), wrapped(-100 + part, "int8")]


def test_data_lets_wrap_and_exact_lets_do_not() -> None:
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((1,), "int32"), n: T.int32, O: T.Buffer((2,), "int64")):
    x = A[0] * 2
    y = n * 2
    O[0] = T.cast(x, "int64")
    O[1] = T.cast(y // 4, "int64")
""")
    o = np.zeros(2, "int64")
    compile_python(program)["f"](np.array([2**31 - 1], "int32"), 2**31 - 1, o)
    assert o.tolist() == [-2, (2**31 - 1) * 2 // 4]


@pytest.mark.parametrize("dtype, low, high", [("int4", -8, 7), ("uint4", 0, 15)])
def test_narrow_integers_wrap(dtype: str, low: int, high: int) -> None:
    import ml_dtypes

    values = list(range(low, high + 1))
    pairs = list(itertools.product(values, repeat=2))
    n = len(pairs)
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({n},), "{dtype}"), B: T.Buffer(({n},), "{dtype}"), O: T.Buffer((4, {n}), "{dtype}")):
    for i in range({n}):
        O[0, i] = A[i] + B[i]
        O[1, i] = A[i] * B[i]
        O[2, i] = A[i] // B[i]
        O[3, i] = T.max(A[i], B[i]) - B[i]
""")
    element = getattr(ml_dtypes, dtype)
    a = np.array([p[0] for p in pairs]).astype(element)
    b = np.array([p[1] for p in pairs]).astype(element)
    out = np.zeros((4, n), element)
    compile_python(program)["f"](a, b, out)
    got = out.astype(int).tolist()
    assert got[0] == [wrapped(x + y, dtype) for x, y in pairs]
    assert got[1] == [wrapped(x * y, dtype) for x, y in pairs]
    assert got[2] == [wrapped(x // y, dtype) if y else 0 for x, y in pairs]
    assert got[3] == [wrapped(max(x, y) - y, dtype) for x, y in pairs]


def test_fixed_point_multiplication() -> None:
    """round(x * y * 2^(s - q)), halves up, as exact fractions say."""
    from fractions import Fraction
    from math import floor

    xs = [0, 1, -1, 5, -7, 1000, -1000, 2**30, -(2**30)]
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((9,), "int32"), O: T.Buffer((2, 9), "int32")):
    for i in range(9):
        O[0, i] = T.q_multiply_shift(A[i], 1395864371, 31, 1)
        O[1, i] = T.q_multiply_shift(A[i], 1073741824, 31, -2)
""")
    out = np.zeros((2, 9), "int32")
    compile_python(program)["f"](np.array(xs, "int32"), out)
    for row, (y, q, s) in enumerate([(1395864371, 31, 1), (1073741824, 31, -2)]):
        want = [
            wrapped(floor(Fraction(x * y) * Fraction(2) ** (s - q) + Fraction(1, 2)), "int32") for x in xs
        ]
        assert out[row].tolist() == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        # 48 is 0 of four bits, 20 is 4, 11 is -5.
        ("A[i] % (T.int4(-6) * T.int4(-8))", [0, 0]),
        ("T.truncdiv(A[i], T.int4(6) + T.int4(5))", [-1, 0]),
        ("T.max(A[i], T.int4(6) + T.int4(5))", [5, -3]),
        ("T.min(A[i], T.int4(5) * T.int4(4))", [4, -3]),
        ("A[i] & (T.int4(6) + T.int4(5))", [1, -7]),
    ],
)
@pytest.mark.parametrize("target", ["python", "llvm", "meaning"])
def test_exact_operands_of_narrow_data_are_reduced_first(text: str, want: list[int], target: str) -> None:
    from tirscript.runtime.ndarray import numpy_dtype
    from tirscript.testing import run_program

    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((2,), "int4")):
    for i in range(2):
        A[i] = {text}
""")
    got = run_program(program, target, [np.array([5, -3]).astype(numpy_dtype("int4"))])[0]
    assert got.astype(int).tolist() == want
