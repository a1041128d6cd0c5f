"""Conversions: integers wrap, floats saturate, nan gives 0, bool is whether a value is not 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.codegen.lowered import FLOATS, INTS, cast, elementwise, elementwise_all, samples
from tirscript.ir import dtype as dt
from tirscript.ir import ops


def saturated(value: float, dtype: str) -> int:
    low, high = dt.bounds(dtype)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, math.trunc(value)))


@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("dtype", INTS)
def test_floats_saturate(source: str, dtype: str, lanes: int) -> None:
    low, high = dt.bounds(dtype)
    edges = [low - 1, low, low + 1, high - 1, high, high + 1, low * 2, high * 2, low - 0.5, high + 0.5, -0.9]
    near = [
        np.nextafter(np.array(v, source), np.array(s, source)) for v in (low, high) for s in (-np.inf, np.inf)
    ]
    x = np.concatenate([np.array(edges + near, source), samples(source)])
    want = np.array([saturated(float(v), dtype) for v in x], dtype)
    np.testing.assert_array_equal(elementwise(lambda a: cast(a, dtype), [x], dtype, lanes), want)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", [*INTS, "bool"])
def test_integers(source: str, lanes: int) -> None:
    x = samples(source)
    for dtype in INTS:
        got = elementwise(lambda a: cast(a, dtype), [x], dtype, lanes)
        np.testing.assert_array_equal(got, x.astype(dtype), err_msg=dtype)
    for dtype in FLOATS:
        got = elementwise(lambda a: cast(a, dtype), [x], dtype, lanes)
        np.testing.assert_array_equal(got, x.astype(dtype), err_msg=dtype)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", [*INTS, *FLOATS, "bool"])
def test_bool(source: str, lanes: int) -> None:
    """Any value that is not zero is true, nan and 256 included; and back it is 1."""
    x = samples(source)
    if source in ("int64", "int32"):
        x[0] = 256
    got = elementwise(lambda a: cast(a, "bool"), [x], "bool", lanes)
    np.testing.assert_array_equal(got, x.astype(bool))
    back = elementwise(lambda a: cast(cast(a, "bool"), "int32"), [x], "int32", lanes)
    np.testing.assert_array_equal(back, x.astype(bool).astype("int32"))


@pytest.mark.parametrize("lanes", [1, 8])
def test_between_floats(lanes: int) -> None:
    x = samples("float64")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            elementwise(lambda a: cast(a, "float32"), [x], "float32", lanes), x.astype("float32")
        )
    y = samples("float32")
    np.testing.assert_array_equal(
        elementwise(lambda a: cast(a, "float64"), [y], "float64", lanes), y.astype("float64")
    )


def test_stores_convert() -> None:
    """A value of another dtype is converted as a cast does."""
    x = samples("float32")
    want = np.array([saturated(float(v), "int16") for v in x], "int16")
    np.testing.assert_array_equal(elementwise(lambda a: a, [x], "int16"), want)
    y = samples("int32")
    np.testing.assert_array_equal(elementwise(lambda a: a, [y], "uint8"), y.astype("uint8"))
    np.testing.assert_array_equal(elementwise(lambda a: a, [y], "bool"), y != 0)


def test_reinterpret() -> None:
    x = samples("float32")
    got = elementwise(lambda a: ops.call("reinterpret", a, dtype="int32"), [x], "int32")
    np.testing.assert_array_equal(got, x.view("int32"))
    y = samples("uint64")
    got = elementwise(lambda a: ops.call("reinterpret", a, dtype="float64"), [y], "float64")
    np.testing.assert_array_equal(got.view("uint64"), y)


def test_bool_logic() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 40)).astype(bool)
    functions = [
        ops.logical_and,
        ops.logical_or,
        ops.bitwise_xor,
        ops.eq,
        ops.lt,
        lambda x, y: ops.logical_not(x),
    ]
    references = [np.logical_and, np.logical_or, np.logical_xor, np.equal, np.less, lambda x, y: ~x]
    for lanes in (1, 8):
        for got, reference in zip(elementwise_all(functions, [a, b], "bool", lanes), references, strict=True):
            np.testing.assert_array_equal(got, reference(a, b))
