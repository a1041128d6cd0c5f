"""What an expression is for the python target: exact or data, literal, within which bounds."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.expr import (
    Add,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    CommReducer,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    Let,
    Max,
    Min,
    Mul,
    Ramp,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
)

Interval = tuple[int | None, int | None]
UNKNOWN: Interval = (None, None)
# Calls that only pass on one of their arguments.
_TRANSPARENT = frozenset({"if_then_else", "likely"})
_DATA = frozenset({BufferLoad, FloatImm, StringImm, GlobalVar, CommReducer, Shuffle})
_COUNTED = ("int", "uint", "bool")


class Kinds:
    """Exactness and bounds of the expressions of one function, remembered by node."""

    def __init__(self) -> None:
        self._exact: dict[Expr, bool] = {}
        self.bounds: dict[Var, Interval] = {}

    def exact(self, e: Expr) -> bool:
        """Whether ``e`` means the mathematical integer: all its leaves are exact or literals."""
        known = self._exact.get(e)
        if known is None:
            known = self._exact[e] = self._compute(e)
        return known

    def _compute(self, e: Any) -> bool:
        t = type(e)
        if t is Var:
            return e.exact and dt.info(e.dtype).code in _COUNTED
        if t is IntImm:
            return True
        if t in _DATA or (t is Call and e.op not in _TRANSPARENT):
            return False
        if t is Cast and not (dt.info(e.dtype).code in _COUNTED and dt.info(e.value.dtype).code in _COUNTED):
            return False
        if t is Let:
            return self.exact(e.body)
        return all(self.exact(c) for c in e.children())

    def interval(self, e: Any) -> Interval:
        """Bounds of an exact expression, each None where unknown."""
        t = type(e)
        if t is IntImm:
            return e.value, e.value
        if t is Var:
            return self.bounds.get(e, UNKNOWN)
        if t is Add:
            (a, b), (c, d) = self.interval(e.a), self.interval(e.b)
            return _plus(a, c), _plus(b, d)
        if t is Sub:
            (a, b), (c, d) = self.interval(e.a), self.interval(e.b)
            return _plus(a, None if d is None else -d), _plus(b, None if c is None else -c)
        if t is Mul:
            return self._product(e)
        if t is FloorDiv or t is FloorMod:
            return self._division(e, t is FloorDiv)
        if t is Min or t is Max:
            (a, b), (c, d) = self.interval(e.a), self.interval(e.b)
            pick = min if t is Min else max
            low = None if a is None or c is None else pick(a, c)
            high = None if b is None or d is None else pick(b, d)
            return low, high
        if t is Ramp:
            (a, b), (c, d) = self.interval(e.base), self.interval(e.stride)
            if a is None or b is None or c is None or d is None:
                return UNKNOWN
            last = e.lanes - 1
            return min(a, a + c * last), max(b, b + d * last)
        if t is Broadcast:
            return self.interval(e.value)
        if t is Select:
            return _union(self.interval(e.true_value), self.interval(e.false_value))
        if t is Call and e.op == "if_then_else":
            return _union(self.interval(e.args[1]), self.interval(e.args[2]))
        if t is Cast:
            inner = self.interval(e.value)
            if dt.is_bool(e.value.dtype):
                return 0, 1
            return inner if within(inner, e.dtype) else UNKNOWN
        return (0, 1) if dt.is_bool(e.dtype) else UNKNOWN

    def _product(self, e: Any) -> Interval:
        x, y = self.interval(e.a), self.interval(e.b)
        if None in x or None in y:
            return UNKNOWN
        ends = [p * q for p in x for q in y]  # type: ignore[operator]
        return min(ends), max(ends)

    def _division(self, e: Any, quotient: bool) -> Interval:
        low, high = self.interval(e.b)
        if low is None or low != high or low <= 0:
            return UNKNOWN
        a, b = self.interval(e.a)
        if quotient:
            return (None if a is None else a // low), (None if b is None else b // low)
        if a is not None and b is not None and a // low == b // low:
            return a % low, b % low
        return 0, low - 1

    def fits(self, e: Expr, dtype: str) -> bool:
        """Whether the exact ``e`` certainly has a value of the integer ``dtype``."""
        return within(self.interval(e), dtype)

    def nonzero(self, e: Expr) -> bool:
        low, high = self.interval(e)
        return (low is not None and low > 0) or (high is not None and high < 0)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _union(x: Interval, y: Interval) -> Interval:
    low = None if x[0] is None or y[0] is None else min(x[0], y[0])
    high = None if x[1] is None or y[1] is None else max(x[1], y[1])
    return low, high


def within(x: Interval, dtype: str) -> bool:
    base = dt.info(dtype).base
    if dt.info(base).code not in _COUNTED:
        return True
    low, high = dt.bounds(base)
    return x[0] is not None and x[1] is not None and low <= x[0] and x[1] <= high


def dtype_bounds(dtype: str) -> Interval:
    return dt.bounds(dtype) if dt.info(dtype).code in _COUNTED else UNKNOWN


__all__ = ["UNKNOWN", "Interval", "Kinds", "dtype_bounds", "within"]
