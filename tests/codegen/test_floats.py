"""Floats against NumPy: arithmetic with special values, // and %, nan rules, functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import FLOATS, elementwise, elementwise_all, pairs, samples
from tirscript.codegen.llvm import Options
from tirscript.ir import ops
from tirscript.ir.expr import FloatImm

STRICT = Options(contract=False, vector_math=False)


def same(got: np.ndarray, want: np.ndarray, what: str = "") -> None:
    """Equal bit for bit, signs of zeros included; any nan equals any nan."""
    np.testing.assert_array_equal(got, want, err_msg=what)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]), err_msg=what)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_arithmetic(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    meanings = {
        "add": (ops.add, np.add), "sub": (ops.sub, np.subtract), "mul": (ops.mul, np.multiply),
        "div": (ops.div, np.divide), "floordiv": (ops.floordiv, np.floor_divide),
        "mod": (ops.floormod, np.remainder),
    }  # fmt: skip
    found = elementwise_all([f for f, _ in meanings.values()], [x, y], dtype, lanes)
    for (name, (_, reference)), got in zip(meanings.items(), found, strict=True):
        with np.errstate(all="ignore"):
            same(got, reference(x, y), name)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_minimum_and_maximum_keep_nan(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    got = elementwise_all([ops.minimum, ops.maximum], [x, y], dtype, lanes)
    np.testing.assert_array_equal(got[0], np.minimum(x, y))
    np.testing.assert_array_equal(got[1], np.maximum(x, y))
    x = samples(dtype)
    for number in (0.0, 1.5, -2.0, np.inf, np.nan):
        c = FloatImm(number, dtype)
        found = elementwise_all(
            [
                lambda a: ops.maximum(a, c),
                lambda a: ops.maximum(c, a),
                lambda a: ops.minimum(a, c),
                lambda a: ops.minimum(c, a),
            ],
            [x], dtype, lanes,
        )  # fmt: skip
        for k, got in enumerate(found):
            want = (np.maximum if k < 2 else np.minimum)(x, np.array(number, dtype))
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_comparisons_with_nan(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    names = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
             "ge": np.greater_equal}  # fmt: skip
    found = elementwise_all([getattr(ops, n) for n in names], [x, y], "bool", lanes)
    for (name, reference), got in zip(names.items(), found, strict=True):
        np.testing.assert_array_equal(got, reference(x, y), err_msg=name)
    assert elementwise(lambda a: ops.ne(a, a), [samples(dtype)], "bool", lanes).tolist() == (
        np.isnan(samples(dtype)).tolist()
    )


EXACT = {
    "sqrt": np.sqrt, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "nearbyint": np.rint,
}  # fmt: skip
NEAR: dict[str, Any] = {
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda v: np.power(10.0, v), "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "rsqrt": lambda v: 1 / np.sqrt(v), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
}  # fmt: skip


@pytest.mark.parametrize("lanes", [1, 3, 8, 16])
@pytest.mark.parametrize("dtype", FLOATS)
def test_functions(dtype: str, lanes: int) -> None:
    x = samples(dtype)
    names = [*EXACT, *NEAR]
    found = elementwise_all([lambda a, n=n: ops.math_call(n, a) for n in names], [x], dtype, lanes)
    tolerance = 8 * np.finfo(dtype).eps
    for name, got in zip(names, found, strict=True):
        with np.errstate(all="ignore"):
            if name in EXACT:
                same(got, EXACT[name](x), name)
                continue
            if name in ("sin", "cos", "tan"):
                keep = ~(np.abs(x) > 1e6)
                x_, got = x[keep], got[keep]
            else:
                x_ = x
            want = NEAR[name](x_.astype("float64")).astype(dtype)
            # Denormal results may be flushed by vector code.
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=np.finfo(dtype).tiny, err_msg=name)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_two(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    names = {"atan2": np.arctan2, "pow": np.power, "fmod": np.fmod, "hypot": np.hypot,
             "copysign": np.copysign,              "nextafter": np.nextafter}  # fmt: skip
    found = elementwise_all([lambda a, b, n=n: ops.math_call(n, a, b) for n in names], [x, y], dtype, lanes)
    for (name, reference), got in zip(names.items(), found, strict=True):
        with np.errstate(all="ignore"):
            want = reference(x, y)
        if name in ("copysign", "nextafter", "fmod"):
            np.testing.assert_array_equal(got, want, err_msg=name)
        else:
            tiny = np.finfo(dtype).tiny
            np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype).eps, atol=tiny, err_msg=name)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_classes_and_rounding(dtype: str, lanes: int) -> None:
    x = samples(dtype)
    found = elementwise_all(
        [lambda a, n=n: ops.call(n, a) for n in ("isnan", "isinf", "isfinite")], [x], "bool", lanes
    )
    for got, reference in zip(found, (np.isnan, np.isinf, np.isfinite), strict=True):
        np.testing.assert_array_equal(got, reference(x))
    # Ties go to the even neighbour, as NumPy's do.
    ties = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 8388609, 1e30, -1.25], dtype)
    same(elementwise(lambda a: ops.math_call("round", a), [ties], dtype, lanes), np.round(ties))


@pytest.mark.parametrize("dtype", FLOATS)
def test_ldexp_and_fma(dtype: str) -> None:
    x = samples(dtype)
    for n in (0, 3, -4, 40, 5000, -5000):
        got = elementwise(lambda a: ops.math_call("ldexp", a, n), [x], dtype)
        with np.errstate(all="ignore"):
            same(got, np.ldexp(x, n))
    got = elementwise(
        lambda a: ops.call("fma", a, a, FloatImm(1.0, dtype)), [np.array([1.5, -2.0, 3.0], dtype)], dtype
    )
    np.testing.assert_array_equal(got, [3.25, 5, 10])


def test_contraction_is_an_option() -> None:
    """With fp-contract=off a*b+c rounds twice, as NumPy does; by default it may round once."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=2000).astype("float32") for _ in range(3))
    build = lambda x, y, z: ops.add(ops.mul(x, y), z)  # noqa: E731
    np.testing.assert_array_equal(elementwise(build, [a, b, c], "float32", 1, STRICT), a * b + c)
    np.testing.assert_array_equal(elementwise(build, [a, b, c], "float32", 8, STRICT), a * b + c)
    once = (a.astype("float64") * b + c).astype("float32")
    fused = elementwise(build, [a, b, c], "float32", 8)
    assert np.mean(fused == once) > 0.99
    for f, want in ((lambda x, y, z: x * y - z, a * b - c), (lambda x, y, z: z - x * y, c - a * b)):
        np.testing.assert_array_equal(elementwise(f, [a, b, c], "float32", 8, STRICT), want)
        np.testing.assert_allclose(elementwise(f, [a, b, c], "float32", 8), want, rtol=1e-3, atol=1e-6)
