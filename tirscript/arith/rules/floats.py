"""Rules for floats: only those that keep every bit, with nan, infinities and the sign of zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tirscript.ir.expr import (
    FALSE,
    TRUE,
    Add,
    Broadcast,
    Div,
    Expr,
    FloatImm,
    Max,
    Min,
    Mul,
    Sub,
    const_int,
)

from ..fold import COMPARE, fold_float, fold_math
from ..linear import same

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def _value(e: Expr) -> float | None:
    if type(e) is FloatImm:
        return e.value
    if type(e) is Broadcast:
        return _value(e.value)
    return None


def binary(cx: Analyzer, e: Any) -> Expr:
    """``x * 1``, ``x / 1``, ``x - 0``, ``x + -0.0``, ``min(x, x)``; constants are folded."""
    t = type(e)
    a, b = cx.simplify(e.a), cx.simplify(e.b)
    new: Expr = e if a is e.a and b is e.b else t(a, b)
    if type(a) is FloatImm and type(b) is FloatImm:
        folded = fold_float(t, a.value, b.value, e.dtype)
        return new if folded is None else FloatImm(folded, e.dtype)
    x, y = _value(a), _value(b)
    if t is Mul:
        if y == 1:
            return a
        if x == 1:
            return b
    elif t is Div:
        if y == 1:
            return a
    elif t is Sub:
        # -0.0 - 0.0 is -0.0, but -0.0 - -0.0 is 0.0.
        if y == 0 and math.copysign(1.0, y) > 0:
            return a
    elif t is Add:
        if y == 0 and math.copysign(1.0, y) < 0:
            return a
        if x == 0 and math.copysign(1.0, x) < 0:
            return b
    elif (t is Min or t is Max) and not cx.has_effect(a) and same(a, b):
        return a
    return new


def comparison(cx: Analyzer, kind: type, a: Expr, b: Expr) -> Expr | None:
    """Constants only: ``x == x`` is false for nan."""
    if type(a) is FloatImm and type(b) is FloatImm:
        return TRUE if COMPARE[kind](a.value, b.value) else FALSE
    return None


def math_call(cx: Analyzer, e: Any) -> Expr:
    """Functions whose value is exact: rounding to integers, sqrt, fabs, the classifications."""
    args = tuple([cx.simplify(a) for a in e.args])
    new = e if all(x is y for x, y in zip(args, e.args, strict=True)) else e.replace(args=args)
    if len(args) == 1 and type(args[0]) is FloatImm:
        value = fold_math(e.op, args[0].value, args[0].dtype)
        if isinstance(value, bool):
            return const_int(int(value), "bool")
        if value is not None:
            return FloatImm(value, e.dtype)
    return new  # type: ignore[no-any-return]
