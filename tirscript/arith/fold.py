"""Constant folding, bit for bit what the program would compute.

A function answers None where the value is not fixed (exact division by 0, what depends on the target).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir.dtype import bounds, info, wrap
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
    const_int,
)
from tirscript.ir.ops import round_float


def truncdiv(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def truncmod(a: int, b: int) -> int:
    return a - b * truncdiv(a, b)


_INT: dict[type, Callable[[int, int], int]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    Min: min,
    Max: max,
    FloorDiv: lambda a, b: a // b,
    FloorMod: lambda a, b: a % b,
    Div: truncdiv,
    Mod: truncmod,
}
_DIVISIONS = frozenset({FloorDiv, FloorMod, Div, Mod})


def fold_int(kind: type, a: int, b: int) -> int | None:
    """The mathematical result; None for a division by 0."""
    if b == 0 and kind in _DIVISIONS:
        return None
    return _INT[kind](a, b)


def fold_data(kind: type, a: int, b: int, dtype: str) -> int:
    """The result of machine integers: it wraps, and a division by 0 gives 0."""
    if b == 0 and kind in _DIVISIONS:
        return 0
    return wrap(_INT[kind](a, b), dtype)


COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    EQ: lambda a, b: bool(a == b),
    NE: lambda a, b: bool(a != b),
    LT: lambda a, b: bool(a < b),
    LE: lambda a, b: bool(a <= b),
    GT: lambda a, b: bool(a > b),
    GE: lambda a, b: bool(a >= b),
}


def rounded(value: float, dtype: str) -> float | None:
    """``value`` in the float dtype, ties to even; too large a value is inf, None where there is none."""
    try:
        return round_float(value, dtype)
    except TirscriptError:
        if dtype.startswith("float8"):
            return None
        return math.copysign(math.inf, value)


def _float_div(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _float_min(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def _float_max(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


_FLOAT: dict[type, Callable[[float, float], float]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    Div: _float_div,
    Min: _float_min,
    Max: _float_max,
}


def fold_float(kind: type, a: float, b: float, dtype: str) -> float | None:
    """The correctly rounded result; ``//`` and ``%`` of floats are left to run time.

    Rounding the double result once more is exact for + - * / of every narrower float dtype.
    """
    operation = _FLOAT.get(kind)
    if operation is None:
        return None
    try:
        value = operation(a, b)
    except OverflowError:
        return None
    return rounded(value, dtype)


def _half_even(x: float) -> float:
    return math.copysign(float(round(x)), x)


_UNARY: dict[str, Callable[[float], float]] = {
    "floor": lambda x: math.copysign(float(math.floor(x)), x),
    "ceil": lambda x: math.copysign(float(math.ceil(x)), x),
    "trunc": lambda x: math.copysign(float(math.trunc(x)), x),
    "nearbyint": _half_even,
    "fabs": abs,
}


def fold_math(op: str, x: float, dtype: str) -> float | bool | None:
    """The functions that are exact or correctly rounded everywhere."""
    if op == "isnan":
        return math.isnan(x)
    if op == "isinf":
        return math.isinf(x)
    if op == "isfinite":
        return math.isfinite(x)
    if op == "sqrt":
        if x < 0:
            return math.nan
        return rounded(x if math.isinf(x) else math.sqrt(x), dtype)
    function = _UNARY.get(op)
    if function is None:
        return None
    if not math.isfinite(x):
        return abs(x) if op == "fabs" else x
    return rounded(function(x), dtype)


def int_to_float(value: int, dtype: str) -> float | None:
    """``value`` rounded once to the float dtype."""
    if dtype == "float64":
        return float(value)
    size = abs(value)
    extra = size.bit_length() - 53
    if extra > 0:
        # Cut to 53 bits with the last one odd where something was cut: the next rounding is then right.
        size = (size >> extra | (1 if size & ((1 << extra) - 1) else 0)) << extra
    return rounded(math.copysign(float(size), value), dtype)


def float_to_int(value: float, dtype: str) -> int:
    """Truncated and saturated; nan is 0."""
    if math.isnan(value):
        return 0
    low, high = bounds(dtype)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.trunc(value), low), high)


def fold_cast(value: Expr, dtype: str) -> Expr | None:
    """A constant converted to a scalar dtype."""
    kind = info(dtype)
    if type(value) is IntImm:
        if kind.code == "bool":
            return const_int(1 if value.value else 0, "bool")
        if kind.is_int:
            return const_int(wrap(value.value, dtype), dtype)
        if kind.is_float:
            converted = int_to_float(value.value, dtype)
            return None if converted is None else FloatImm(converted, dtype)
    elif type(value) is FloatImm:
        if kind.code == "bool":
            return const_int(1 if value.value != 0 else 0, "bool")
        if kind.is_int:
            return const_int(float_to_int(value.value, dtype), dtype)
        if kind.is_float:
            narrowed = rounded(value.value, dtype)
            return None if narrowed is None else FloatImm(narrowed, dtype)
    return None


def fold_bits(op: str, args: tuple[int, ...], dtype: str) -> int | None:
    """Bitwise operators and shifts on machine integers."""
    bits = info(dtype).bits
    a = args[0]
    if op == "bitwise_not":
        return wrap(~a, dtype)
    if op == "popcount":
        return (a & ((1 << bits) - 1)).bit_count()
    if op == "clz":
        return bits - (a & ((1 << bits) - 1)).bit_length()
    if op == "abs":
        return wrap(abs(a), dtype)
    if len(args) != 2:
        return None
    b = args[1]
    if op == "bitwise_and":
        return wrap(a & b, dtype)
    if op == "bitwise_or":
        return wrap(a | b, dtype)
    if op == "bitwise_xor":
        return wrap(a ^ b, dtype)
    if op == "shift_left":
        return wrap(a << b, dtype) if 0 <= b < bits else 0
    if op == "shift_right":
        return a >> b if 0 <= b < bits else (-1 if a < 0 else 0)
    return None
