"""Arithmetic of vector expressions: ramps stay ramps, scalars are broadcast where they meet vectors."""

from __future__ import annotations

from tirscript.ir import dtype as dt
from tirscript.ir.expr import Add, Broadcast, Cast, Expr, Mul, Ramp, Sub

from .fold import add, cast, mul, sub


def lanes_of(e: Expr) -> int:
    return dt.info(e.dtype).lanes


def widen(e: Expr, lanes: int) -> Expr:
    """``e`` as a vector of ``lanes``."""
    return Broadcast(e, lanes) if lanes != 1 and "x" not in e.dtype else e


def vadd(a: Expr, b: Expr) -> Expr:
    """``a + b`` of integers, either may be a vector."""
    if "x" not in a.dtype and "x" not in b.dtype:
        return add(a, b)
    if type(a) is Ramp:
        if "x" not in b.dtype:
            return Ramp(add(a.base, b), a.stride, a.lanes)
        if type(b) is Ramp:
            return Ramp(add(a.base, b.base), add(a.stride, b.stride), a.lanes)
        if type(b) is Broadcast:
            return Ramp(add(a.base, b.value), a.stride, a.lanes)
    elif type(b) is Ramp:
        if "x" not in a.dtype:
            return Ramp(add(a, b.base), b.stride, b.lanes)
        if type(a) is Broadcast:
            return Ramp(add(a.value, b.base), b.stride, b.lanes)
    elif type(a) is Broadcast and type(b) is Broadcast:
        return Broadcast(add(a.value, b.value), a.lanes)
    lanes = max(lanes_of(a), lanes_of(b))
    return Add(widen(a, lanes), widen(b, lanes))


def vsub(a: Expr, b: Expr) -> Expr:
    """``a - b`` of integers, either may be a vector."""
    if "x" not in a.dtype and "x" not in b.dtype:
        return sub(a, b)
    if type(a) is Ramp:
        if "x" not in b.dtype:
            return Ramp(sub(a.base, b), a.stride, a.lanes)
        if type(b) is Ramp:
            return Ramp(sub(a.base, b.base), sub(a.stride, b.stride), a.lanes)
    elif type(b) is Ramp and "x" not in a.dtype:
        zero = sub(b.stride, b.stride)
        return Ramp(sub(a, b.base), sub(zero, b.stride), b.lanes)
    lanes = max(lanes_of(a), lanes_of(b))
    return Sub(widen(a, lanes), widen(b, lanes))


def vmul(a: Expr, b: Expr) -> Expr:
    """``a * b`` of integers, either may be a vector."""
    if "x" not in a.dtype and "x" not in b.dtype:
        return mul(a, b)
    if type(a) is Broadcast:
        a = a.value
    if type(b) is Broadcast:
        b = b.value
    if type(a) is Ramp and "x" not in b.dtype:
        return Ramp(mul(a.base, b), mul(a.stride, b), a.lanes)
    if type(b) is Ramp and "x" not in a.dtype:
        return Ramp(mul(a, b.base), mul(a, b.stride), b.lanes)
    lanes = max(lanes_of(a), lanes_of(b))
    if lanes == 1:
        return mul(a, b)
    return Mul(widen(a, lanes), widen(b, lanes))


def vcast(e: Expr, base: str) -> Expr:
    """An integer expression, scalar or vector, with another integer dtype."""
    kind = dt.info(e.dtype)
    if kind.base == base:
        return e
    if type(e) is Ramp:
        return Ramp(cast(e.base, base), cast(e.stride, base), e.lanes)
    if type(e) is Broadcast:
        return Broadcast(cast(e.value, base), e.lanes)
    if kind.lanes == 1:
        return cast(e, base)
    return Cast(dt.with_lanes(base, kind.lanes), e)
