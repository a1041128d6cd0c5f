"""Integers of every dtype against NumPy and Python: wrap-around, division of all signs, shifts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import INTS, elementwise, elementwise_all, pairs, samples
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, IntImm, Select, Var


def wrapped(values: Any, dtype: str) -> np.ndarray:
    return np.array([dt.wrap(int(v), dtype) for v in values], dtype)


def truncdiv(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shift_left(a: int, b: int, bits: int) -> int:
    return a << b if 0 <= b < bits else 0


def shift_right(a: int, b: int, bits: int) -> int:
    return a >> b if 0 <= b < bits else (-1 if a < 0 else 0)


BINARY: dict[str, tuple[Callable[[Any, Any], Expr], Callable[[int, int, int], int]]] = {
    "add": (ops.add, lambda a, b, n: a + b),
    "sub": (ops.sub, lambda a, b, n: a - b),
    "mul": (ops.mul, lambda a, b, n: a * b),
    "floordiv": (ops.floordiv, lambda a, b, n: a // b if b else 0),
    "floormod": (ops.floormod, lambda a, b, n: a % b if b else 0),
    "truncdiv": (ops.truncdiv, lambda a, b, n: truncdiv(a, b)),
    "truncmod": (ops.truncmod, lambda a, b, n: a - truncdiv(a, b) * b if b else 0),
    "min": (ops.minimum, lambda a, b, n: min(a, b)),
    "max": (ops.maximum, lambda a, b, n: max(a, b)),
    "and": (ops.bitwise_and, lambda a, b, n: a & b),
    "or": (ops.bitwise_or, lambda a, b, n: a | b),
    "xor": (ops.bitwise_xor, lambda a, b, n: a ^ b),
    "shl": (ops.shift_left, shift_left),
    "shr": (ops.shift_right, shift_right),
}


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", INTS)
def test_binary(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    bits = dt.info(dtype).bits
    found = elementwise_all([build for build, _ in BINARY.values()], [x, y], dtype, lanes)
    for (name, (_, meaning)), got in zip(BINARY.items(), found, strict=True):
        want = wrapped([meaning(int(a), int(b), bits) for a, b in zip(x, y, strict=True)], dtype)
        np.testing.assert_array_equal(got, want, err_msg=name)


@pytest.mark.parametrize("lanes", [1, 5])
@pytest.mark.parametrize("dtype", INTS)
def test_division_by_constants(dtype: str, lanes: int) -> None:
    low, high = dt.bounds(dtype)
    x = samples(dtype)
    divisors = [d for d in (0, 1, 2, 3, 7, 64, 100, -1, -2, -5, -64, low, high) if low <= d <= high]
    for name in ("floordiv", "floormod", "truncdiv", "truncmod"):
        build, meaning = BINARY[name]
        # From the node itself: the typed constructor refuses a divisor that is certainly 0.
        node = type(build(Var("x", dtype, False), Var("y", dtype, False)))
        steps = [lambda a, d=d: node(*ops.promote(a, IntImm(d, dtype))) for d in divisors]
        for d, got in zip(divisors, elementwise_all(steps, [x], dtype, lanes), strict=True):
            want = wrapped([meaning(int(a), d, 0) for a in x], dtype)
            np.testing.assert_array_equal(got, want, err_msg=f"{name} by {d}")


@pytest.mark.parametrize("dtype", INTS)
def test_shift_by_a_constant(dtype: str) -> None:
    bits = dt.info(dtype).bits
    x = samples(dtype)
    counts = [n for n in (0, 1, bits - 1, bits, bits + 5, -1) if n >= dt.bounds(dtype)[0]]
    for build, meaning in ((ops.shift_left, shift_left), (ops.shift_right, shift_right)):
        steps = [lambda a, n=n: build(a, IntImm(n, dtype)) for n in counts]
        for n, got in zip(counts, elementwise_all(steps, [x], dtype), strict=True):
            np.testing.assert_array_equal(got, wrapped([meaning(int(a), n, bits) for a in x], dtype))


COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
           "ge": np.greater_equal}  # fmt: skip


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", INTS)
def test_compare(dtype: str, lanes: int) -> None:
    x, y = pairs(dtype)
    found = elementwise_all([getattr(ops, name) for name in COMPARE], [x, y], "bool", lanes)
    for (name, meaning), got in zip(COMPARE.items(), found, strict=True):
        np.testing.assert_array_equal(got, meaning(x, y), err_msg=name)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", INTS)
def test_unary(dtype: str, lanes: int) -> None:
    x = samples(dtype)
    bits = dt.info(dtype).bits
    unary: dict[str, tuple[Callable[[Any], Expr], Callable[[int], int]]] = {
        "not": (ops.bitwise_not, lambda a: ~a),
        "neg": (ops.neg, lambda a: -a),
        "abs": (ops.absolute, abs),
        "popcount": (lambda a: ops.call("popcount", a), lambda a: (a & ((1 << bits) - 1)).bit_count()),
        "clz": (lambda a: ops.call("clz", a), lambda a: bits - (a & ((1 << bits) - 1)).bit_length()),
    }
    found = elementwise_all([build for build, _ in unary.values()], [x], dtype, lanes)
    for (name, (_, meaning)), got in zip(unary.items(), found, strict=True):
        np.testing.assert_array_equal(got, wrapped([meaning(int(a)) for a in x], dtype), err_msg=name)


@pytest.mark.parametrize("dtype", INTS)
def test_power(dtype: str) -> None:
    x, y = pairs(dtype)
    keep = (y >= 0) & (y < 70)
    x, y = x[keep], y[keep]
    want = wrapped([int(a) ** int(b) for a, b in zip(x, y, strict=True)], dtype)
    np.testing.assert_array_equal(elementwise(ops.power, [x, y], dtype), want)


def test_overflow_is_not_assumed_away() -> None:
    """Sums past the range wrap, and comparisons see it: two's complement, not undefined behaviour."""
    a = samples("int32")
    got = elementwise(lambda x: ops.gt(ops.add(x, 1), x), [a], "bool")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, a + np.int32(1) > a)
    got = elementwise(lambda x: ops.floordiv(ops.mul(x, 4), 4), [a], "int32")
    np.testing.assert_array_equal(got, wrapped([dt.wrap(int(v) * 4, "int32") // 4 for v in a], "int32"))


@pytest.mark.parametrize("lanes", [1, 8])
def test_select(lanes: int) -> None:
    x, y = pairs("int16")
    got = elementwise(lambda a, b: Select(ops.lt(a, b), a, b), [x, y], "int16", lanes)
    np.testing.assert_array_equal(got, np.minimum(x, y))
    got = elementwise(lambda a, b: ops.if_then_else(ops.lt(a, b), a, b), [x, y], "int16", lanes)
    np.testing.assert_array_equal(got, np.minimum(x, y))
