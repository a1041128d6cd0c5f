"""Arithmetic of indices and data under the names that tensor expressions give it."""

from __future__ import annotations

import math
from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T


def div(a: Any, b: Any, span: Any = None) -> Expr:
    """``a / b``; of integers the quotient cut towards zero."""
    x, y = ops.promote(a, b)
    return ops.truncdiv(x, y) if dt.is_int(x.dtype) else ops.div(x, y)


def indexdiv(a: Any, b: Any, span: Any = None) -> Expr:
    """``a // b`` of indices."""
    return ops.floordiv(a, b)


def indexmod(a: Any, b: Any, span: Any = None) -> Expr:
    """``a % b`` of indices."""
    return ops.floormod(a, b)


def power(x: Any, y: Any, span: Any = None) -> Expr:
    """``x`` to the power ``y``."""
    return ops.power(x, y)


def logaddexp(a: Any, b: Any) -> Expr:
    """``log(exp(a) + exp(b))`` without overflow; equal infinities give themselves.

    >>> logaddexp(0.0, 0.0).dtype
    'float32'
    """
    x, y = ops.promote(ops.as_expr(a), ops.as_expr(b))
    top, gap = T.max(x, y), ops.neg(T.abs(x - y))
    far = top + ops.math_call("log1p", ops.math_call("exp", gap))
    return ops.if_then_else(ops.eq(x, y), x + ops.const(math.log(2), x.dtype), far)
