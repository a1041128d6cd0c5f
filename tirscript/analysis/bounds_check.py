"""Accesses that are certainly outside of their buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tirscript.arith.bounds import Interval
from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.arith.linear import to_linear
from tirscript.diagnostics import BoundsWarning
from tirscript.ir.expr import GE, LT, Add, Call, Expr, IntImm, Ramp, Sub, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import Block, For
from tirscript.ir.visitor import walk

from .access import Access, accesses, accesses_of
from .finding import Finding, constant, constant_range, text_of, values_text
from .question import feasible
from .region import Axis


def may_leave(block: Block, axes: tuple[Axis, ...]) -> bool:
    """Whether some access of the block is not plainly inside its buffer (a quick look)."""
    ranges: dict[Var, Interval] = {}
    for iv in block.iter_vars:
        if iv.dom is not None:
            low, extent = constant(iv.dom.min), constant(iv.dom.extent)
            if low is not None and extent is not None:
                ranges[iv.var] = (low, low + extent - 1)
    for outer in axes:
        _bound(ranges, outer)
    for a in accesses(block):
        if a.indices is None or a.guarded:
            continue
        for inner in a.axes:
            _bound(ranges, inner)
        for i, n in zip(a.indices, a.buffer.shape, strict=True):
            if type(n) is IntImm and not _inside(i, n.value, ranges):
                return True
    return False


def _bound(ranges: dict[Var, Interval], a: Axis) -> None:
    r = constant_range(a)
    if r is not None:
        ranges[a.var] = (r[0], r[0] + r[1] * (max(r[2], 1) - 1))


def _inside(i: Expr, size: int, ranges: dict[Var, Interval]) -> bool:
    """Whether an index is inside, or nothing is known of it."""
    if type(i) is Var:
        r = ranges.get(i)
        return r is None or (r[0] is not None and r[0] >= 0 and r[1] is not None and r[1] < size)
    if type(i) is IntImm:
        return 0 <= i.value < size
    reach = 0
    if type(i) is Ramp:
        stride = constant(i.stride)
        if stride is None:
            return True
        reach, i = stride * (i.lanes - 1), i.base
    lin = to_linear(i)
    if lin is None:
        return True
    low = high = lin.const
    for v, k in lin.terms.items():
        r = ranges.get(v) if isinstance(v, Var) else None
        if r is None or r[0] is None or r[1] is None:
            return isinstance(v, Var)  # a symbol: nothing is certain; an atom: look closer
        low += k * (r[0] if k > 0 else r[1])
        high += k * (r[1] if k > 0 else r[0])
    return low + min(reach, 0) >= 0 and high + max(reach, 0) < size


@dataclass(slots=True)
class Outside:
    access: Access
    dimension: int
    index: int
    values: dict[Var, int]


def outside(func: PrimFunc) -> list[Outside]:
    """Accesses certainly out of bounds, each with the values of the loops for which they are."""
    out: list[Outside] = []
    seen: set[Any] = set()
    for a in accesses_of(func.body):
        if a.indices is None or a.guarded or id(a.node) in seen:
            continue
        ranges: dict[Var, Interval] = {}
        for axis in a.axes:
            _bound(ranges, axis)
        for d, (i, n) in enumerate(zip(a.indices, a.buffer.shape, strict=True)):
            if type(n) is not IntImm or _inside(i, n.value, ranges):
                continue
            found = _witness(a, i, n.value)
            if found is not None:
                out.append(Outside(a, d, *found))
                seen.add(id(a.node))
                break
    return out


def _witness(a: Access, index: Expr, size: int) -> tuple[int, dict[Var, int]] | None:
    ends = [index]
    if type(index) is Ramp:
        stride = constant(index.stride)
        if stride is None:
            return None
        last = Add(index.base, const_int(stride * (index.lanes - 1), index.base.dtype))
        ends = [index.base, last]
    if any(_may_stop(axis.loop) for axis in a.axes if axis.loop is not None):
        return None
    for end in ends:
        zero = const_int(0, end.dtype)
        for condition in (GE(Sub(end, const_int(size, end.dtype)), zero), LT(end, zero)):
            values = feasible(a.axes, (*a.conditions, condition))
            if values is not None:
                try:
                    return evaluate(end, values), {x.var: values[x.var] for x in a.axes}
                except CannotEvaluate:
                    return None
    return None


def _may_stop(loop: For) -> bool:
    """Whether a break, continue or return stands in the loop."""
    return any(type(n) is Call and effect_of(n.op) == "control" for n in walk(loop.body))


def bounds_finding(o: Outside) -> Finding:
    a = o.access
    size = a.buffer.shape[o.dimension]
    verb = "written" if a.is_write else "read"
    name = a.buffer.name
    which = f"index {o.index}" if a.buffer.ndim == 1 else f"index {o.index} in dimension {o.dimension}"
    node = a.node
    shown = ", ".join([text_of(i) for i in getattr(node, "indices", a.indices or ())])
    return Finding(
        BoundsWarning,
        "out-of-bounds",
        f"{name}[{shown}] is {verb} outside of its bounds: {which}, but {name} has {text_of(size)} there",
        node,
        getattr(node, "span", None) or a.stmt.span,
        (f"at {values_text(o.values)}",) if o.values else (),
        "make the buffer larger or the loops shorter, or guard the access with a condition",
        o.values,
    )
