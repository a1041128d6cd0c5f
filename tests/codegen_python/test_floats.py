# ruff: noqa: E501
"""Floats of the python target: one rounding an operation, nan and infinities as NumPy has them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.python import compile_python
from tirscript.ir.ops import round_float
from tirscript.testing import run_program

VALUES = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, -7.25, 1e-3, 250.0, -1e4, math.inf, -math.inf, math.nan]


def element(dtype: str) -> Any:
    return getattr(ml_dtypes, dtype) if hasattr(ml_dtypes, dtype) else np.dtype(dtype).type


def run(expression: str, dtype: str, a: Any, b: Any, result: str | None = None) -> Any:
    n = len(a)
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({n},), "{dtype}"), B: T.Buffer(({n},), "{dtype}"), O: T.Buffer(({n},), "{result or dtype}")):
    for i in range({n}):
        O[i] = {expression}
""")
    out = np.zeros(n, element(result or dtype))
    compile_python(program)["f"](a, b, out)
    return out


def pairs(dtype: str) -> tuple[Any, Any]:
    made = list(itertools.product(VALUES, repeat=2))
    return tuple(np.array([p[i] for p in made], "float32").astype(element(dtype)) for i in (0, 1))  # type: ignore[return-value]


def rounded(exact: Fraction, dtype: str) -> float:
    """The nearest value of the dtype, ties to even: through a float64 that keeps what was cut off."""
    near = float(exact)
    if Fraction(near) != exact:
        toward = math.nextafter(near, 0.0) if abs(Fraction(near)) > abs(exact) else near
        near = float((np.float64(toward).view(np.uint64) | np.uint64(1)).view(np.float64))
    try:
        return round_float(near, dtype)
    except ts.TirscriptError:
        return math.copysign(math.inf, near)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_each_operation_rounds_once(operator: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (
        (rng.standard_normal((2, 300)) * 10.0 ** rng.integers(-3, 3, (2, 300)))
        .astype("float32")
        .astype(element(dtype))
    )
    got = run(f"A[i] {operator} B[i]", dtype, a, b).astype("float64").tolist()
    for x, y, z in zip(a.tolist(), b.tolist(), got, strict=True):
        p, q = Fraction(float(x)), Fraction(float(y))
        exact = {"+": p + q, "-": p - q, "*": p * q, "/": p / q if q else Fraction(0)}[operator]
        assert z == rounded(exact, dtype), (x, operator, y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_min_max_propagate_nan_in_any_order(dtype: str) -> None:
    a, b = pairs(dtype)
    for word, numpy in (("min", np.minimum), ("max", np.maximum)):
        got = run(f"T.{word}(A[i], B[i])", dtype, a, b).astype("float64")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, numpy(a.astype("float64"), b.astype("float64")))


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_with_nan(operator: str) -> None:
    a, b = pairs("float32")
    got = run(f"A[i] {operator} B[i]", "float32", a, b, "bool")
    assert got.tolist() == [eval(f"x {operator} y") for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def test_division_by_zero_follows_ieee() -> None:
    a = np.array([1, -1, 0, math.inf, math.nan], "float32")
    got = run("A[i] / B[i]", "float32", a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(
        got, np.array([math.inf, -math.inf, math.nan, math.inf, math.nan], "float32")
    )


@pytest.mark.parametrize("operator", ["//", "%"])
def test_floor_division_is_numpys(operator: str) -> None:
    a, b = pairs("float32")
    got = run(f"A[i] {operator} B[i]", "float32", a, b)
    with np.errstate(all="ignore"):
        want = a // b if operator == "//" else a % b
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrowing_from_float64_rounds_once(target: str) -> None:
    """Values beside a tie of the narrow dtype, which float32 would move onto the tie."""
    ties = [
        1 + 2.0**-8 + 2.0**-40,
        1 + 2.0**-11 + 2.0**-45,
        1 + 2.0**-24 + 2.0**-50,
        1.0625 + 2.0**-30,
        0.1,
        -1.3,
    ]
    a = np.array(ties)
    got = run(f'T.cast(A[i], "{target}")', "float64", a, a, target).astype("float64").tolist()
    assert got == [rounded(Fraction(v), target) for v in ties]


def test_wide_integers_convert_with_one_rounding() -> None:
    values = [2**24 + 1, 2**53 + 1, 2**62 + 2**38 + 1, -(2**60) - 2**36 - 1, 2**63 - 1]
    n = len(values)
    program = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer(({n},), "int64"), O: T.Buffer(({n},), "float32"), P: T.Buffer(({n},), "float64")):
    for i in range({n}):
        O[i] = T.cast(A[i], "float32")
        P[i] = T.cast(A[i], "float64")
""")
    o, p = np.zeros(n, "float32"), np.zeros(n)
    compile_python(program)["f"](np.array(values), o, p)
    assert o.tolist() == [rounded(Fraction(v), "float32") for v in values]
    assert p.tolist() == [float(v) for v in values]


def test_fma_rounds_once() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 200)).astype("float32")
    got = run("T.fma(A[i], B[i], A[i])", "float32", a, b).tolist()
    assert got == [
        rounded(Fraction(x) * Fraction(y) + Fraction(x), "float32")
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]


FUNCTIONS = {
    "exp": math.exp, "exp2": lambda v: 2.0**v, "exp10": lambda v: 10.0**v, "log": math.log, "log2": math.log2,
    "log10": math.log10, "log1p": math.log1p, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "asinh": math.asinh, "atanh": math.atanh, "sqrt": math.sqrt, "rsqrt": lambda v: 1 / math.sqrt(v),
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)), "erf": math.erf, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc, "nearbyint": round, "round": round, "fabs": abs,
}  # fmt: skip


@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-14), ("float32", 1e-6), ("float16", 2e-3)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_mathematics(name: str, dtype: str, rtol: float) -> None:
    a = np.array([0.0625, 0.25, 0.5, 0.75, 0.9375]).astype(dtype)
    got = run(f"T.{name}(A[i])", dtype, a, a)
    want = [float(FUNCTIONS[name](v)) for v in a.tolist()]
    np.testing.assert_allclose(got.astype("float64"), want, rtol=rtol)


def test_round_takes_ties_to_even() -> None:
    a = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6], "float32")
    assert run("T.round(A[i])", "float32", a, a).tolist() == [0, 2, 2, 0, -2, 2, 3]


def test_float16_products_round_before_the_sum() -> None:
    a = np.array([0.1, 1.001, 3.14], "float16")
    got = run("A[i] * A[i] + A[i]", "float16", a, a)
    want = [np.float16(np.float16(np.float64(v) * np.float64(v)) + v) for v in a]
    assert got.tolist() == [float(v) for v in want]


def test_scalar_parameters_take_the_dtype() -> None:
    program = ts.parse("""
@T.prim_func
def f(x: T.float32, y: T.float16, O: T.Buffer((2,), "float64")):
    O[0] = T.cast(x * x, "float64")
    O[1] = T.cast(y + y, "float64")
""")
    out = run_program(program, "python", [0.1, 0.1, np.zeros(2)])[2]
    assert out.tolist() == [
        float(np.float32(0.1) * np.float32(0.1)),
        float(np.float16(0.1) + np.float16(0.1)),
    ]
