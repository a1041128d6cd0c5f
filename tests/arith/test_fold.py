"""Constant folding, held against NumPy and ml_dtypes bit for bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.arith import simplify
from tirscript.arith.fold import int_to_float
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.expr import FloatImm, IntImm

FLOATS: dict[str, Any] = {
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64,
}  # fmt: skip
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
values = st.one_of(
    st.floats(),
    st.sampled_from(
        [0.0, -0.0, 1.0, 0.1, 3.5, 65504.0, 1e-8, 3e38, float("inf"), float("-inf"), float("nan")]
    ),
)


def same_bits(a: Any, b: Any, sign: bool = True) -> bool:
    if np.isnan(a) or np.isnan(b):
        return bool(np.isnan(a) and np.isnan(b))
    return bool(a == b) and (not sign or bool(np.signbit(a) == np.signbit(b)))


@pytest.mark.parametrize("dtype", FLOATS)
@given(st.data())
def test_float_arithmetic(dtype: str, data: Any) -> None:
    kind = FLOATS[dtype]
    with np.errstate(all="ignore"):
        a, b = (kind(data.draw(values)) for _ in range(2))
        x, y = FloatImm(float(a), dtype), FloatImm(float(b), dtype)
        for node, want in (
            (E.Add(x, y), a + b), (E.Sub(x, y), a - b), (E.Mul(x, y), a * b), (E.Div(x, y), np.divide(a, b)),
        ):  # fmt: skip
            got = simplify(node)
            assert isinstance(got, FloatImm) and got.dtype == dtype
            assert same_bits(kind(got.value), want), (node, want)
        for node, want in ((E.Min(x, y), np.minimum(a, b)), (E.Max(x, y), np.maximum(a, b))):
            got = simplify(node)
            assert isinstance(got, FloatImm) and same_bits(got.value, want, sign=False)
        for cls, want in ((E.LT, a < b), (E.EQ, a == b), (E.NE, a != b), (E.GE, a >= b)):
            got = simplify(cls(x, y))
            assert isinstance(got, IntImm) and bool(got.value) == bool(want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(values)
def test_functions_that_are_exact(dtype: str, value: float) -> None:
    kind = FLOATS[dtype]
    with np.errstate(all="ignore"):
        a = kind(value)
        x = FloatImm(float(a), dtype)
        for op, f in (
            ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("nearbyint", np.rint),
            ("fabs", np.abs), ("sqrt", np.sqrt),
        ):  # fmt: skip
            got = simplify(ops.call(op, x))
            assert isinstance(got, FloatImm) and same_bits(kind(got.value), f(a)), op
        for op, g in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
            test = simplify(ops.call(op, x))
            assert isinstance(test, IntImm) and bool(test.value) == bool(g(a))


def test_rounding_is_that_of_the_dtype() -> None:
    # 8388608.5 is no float32: what is rounded up is 8388608.
    assert simplify(ops.call("ceil", ops.const(8388608.5, "float32"))).value == 8388608  # type: ignore[attr-defined]
    assert simplify(ops.const(16777217.0, "float32") - ops.const(16777216.0, "float32")).value == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", FLOATS)
@given(st.integers(-(2**63), 2**64 - 1))
def test_integers_to_floats_round_once(dtype: str, value: int) -> None:
    got = int_to_float(value, dtype)
    assert got is not None
    # The neighbours of the result are not nearer.
    kind = FLOATS[dtype]
    if np.isinf(got):
        assert dtype == "float16" and abs(value) >= 65520
        return
    low, high = (float(np.nextafter(kind(got), kind(s * np.inf))) for s in (-1, 1))
    exact = int(got)
    for other in (low, high):
        if np.isfinite(other):
            assert abs(value - exact) <= abs(value - int(other))
            if abs(value - exact) == abs(value - int(other)) and value != exact:
                # A tie: the even one.
                assert int(np.array(kind(got)).view(f"u{np.dtype(kind).itemsize}")) % 2 == 0


@pytest.mark.parametrize("dtype", INTS)
@given(values)
def test_floats_to_integers_saturate(dtype: str, value: float) -> None:
    got = simplify(E.Cast(dtype, FloatImm(value, "float64")))
    assert isinstance(got, IntImm)
    info = np.iinfo(dtype)
    if np.isnan(value):
        assert got.value == 0
    elif value <= info.min:
        assert got.value == info.min
    elif value >= info.max:
        assert got.value == info.max
    else:
        assert got.value == int(value)


@pytest.mark.parametrize("dtype", INTS)
@given(st.data())
def test_casts_between_integers_wrap(dtype: str, data: Any) -> None:
    source = data.draw(st.sampled_from(INTS))
    info = np.iinfo(source)
    value = data.draw(st.integers(int(info.min), int(info.max)))
    got = simplify(E.Cast(dtype, IntImm(value, source)))
    assert isinstance(got, IntImm) and got.value == int(np.array(value, source).astype(dtype))


@pytest.mark.parametrize("dtype", INTS)
@given(st.data())
def test_bits_and_shifts(dtype: str, data: Any) -> None:
    info = np.iinfo(dtype)
    a, b = (data.draw(st.integers(int(info.min), int(info.max))) for _ in range(2))
    x, y = np.array(a, dtype), np.array(b, dtype)

    def value(e: E.Expr) -> int:
        got = simplify(e)
        assert isinstance(got, IntImm)
        return got.value

    i, j = IntImm(a, dtype), IntImm(b, dtype)
    assert value(ops.bitwise_and(i, j)) == int(x & y)
    assert value(ops.bitwise_or(i, j)) == int(x | y)
    assert value(ops.bitwise_xor(i, j)) == int(x ^ y)
    assert value(ops.bitwise_not(i)) == int(~x)
    count = data.draw(st.integers(0, 70))
    shift = IntImm(count, dtype)
    inside = count < info.bits
    assert value(ops.shift_left(i, shift)) == (int(np.left_shift(x, np.array(count, dtype))) if inside else 0)
    assert value(ops.shift_right(i, shift)) == (a >> count if inside else (-1 if a < 0 else 0))
    assert value(ops.call("popcount", i)) == bin(a & (2**info.bits - 1)).count("1")
    assert value(ops.call("clz", i)) == info.bits - len(bin(a & (2**info.bits - 1))[2:].lstrip("0"))
    assert value(ops.call("clz", IntImm(0, dtype))) == info.bits


def test_an_exact_division_by_zero_stays() -> None:
    e = E.FloorDiv(ops.const(7), ops.const(0))
    assert isinstance(simplify(e), E.FloorDiv)
    assert isinstance(simplify(E.FloorMod(E.Var("x"), ops.const(0))), E.FloorMod)
