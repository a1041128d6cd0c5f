"""Small questions to ``arith``, asked only where constants do not answer them."""

from __future__ import annotations

from typing import Any

from tirscript.arith.linear import Linear, to_linear
from tirscript.ir.expr import EQ, GE, GT, LE, LT, Expr, IntImm, Range
from tirscript.ir.stmt import BlockRealize, For

from ..refs import StmtSRef


def divides(extent: Expr, factor: int) -> Expr | None:
    """``extent / factor`` where every term of the extent is a multiple of the factor; else None."""
    lin = to_linear(extent)
    if lin is None or lin.const % factor or any(k % factor for k in lin.terms.values()):
        return None
    return Linear({a: k // factor for a, k in lin.terms.items()}, lin.const // factor).to_expr(extent.dtype)


def same(a: Expr, b: Expr) -> bool:
    """Whether two integer expressions are always equal."""
    if type(a) is IntImm and type(b) is IntImm:
        return a.value == b.value
    x, y = to_linear(a), to_linear(b)
    if x is not None and y is not None:
        d = x - y
        if d.is_const:
            return d.const == 0
    return prove(EQ(a, b))


def runs_within(place: StmtSRef, value: Expr, low: Expr, extent: Expr) -> bool:
    """The quick answer to whether a value lies in a range: it is a loop or axis at the place, or around it,
    that runs over the same range or over a part of it, both of constants."""
    p: StmtSRef | None = place
    while p is not None:
        s = p.node
        if type(s) is For:
            if s.loop_var is value:
                return s.step is None and _part_of(s.min, s.extent, low, extent)
        elif type(s) is BlockRealize:
            for iv in s.block.iter_vars:
                if iv.var is value:
                    return iv.dom is not None and _part_of(iv.dom.min, iv.dom.extent, low, extent)
        p = p.parent
    return False


def _part_of(first: Expr, count: Expr, low: Expr, extent: Expr) -> bool:
    if type(first) is not IntImm or type(low) is not IntImm:
        return first is low and count is extent
    if count is extent:
        return first.value == low.value
    if type(count) is not IntImm or type(extent) is not IntImm:
        return False
    return low.value <= first.value and first.value + count.value <= low.value + extent.value


def prove(condition: Any, place: StmtSRef | None = None) -> bool:
    """Whether a condition always holds at a place."""
    if place is not None and _by_intervals(condition, place):
        return True
    try:
        from tirscript.arith import Analyzer
    except ImportError:
        return False
    analyzer = Analyzer()
    if place is None:
        return bool(analyzer.can_prove(condition))
    bind_around(analyzer, place)
    return bool(analyzer.can_prove(condition))


def _by_intervals(condition: Any, place: StmtSRef) -> bool:
    """Whether a comparison follows from the constant ranges of the loops and axes around alone."""
    t = type(condition)
    if t is LE or t is LT:
        low, high = to_linear(condition.a), to_linear(condition.b)
    elif t is GE or t is GT:
        low, high = to_linear(condition.b), to_linear(condition.a)
    else:
        return False
    if low is None or high is None or not condition.a.dtype.startswith("int"):
        return False
    d = high - low
    least = d.const - 1 if t is LT or t is GT else d.const
    wanted = dict(d.terms)
    p = place.parent
    while p is not None and wanted:
        s = p.node
        if type(s) is For:
            k = wanted.pop(s.loop_var, 0)
            if k:
                if type(s.min) is not IntImm or type(s.extent) is not IntImm:
                    return False
                least += k * (s.min.value if k > 0 else s.min.value + max(s.extent.value, 1) - 1)
        elif type(s) is BlockRealize:
            for iv in s.block.iter_vars:
                k = wanted.pop(iv.var, 0)
                if k:
                    dom = iv.dom
                    if dom is None or type(dom.min) is not IntImm or type(dom.extent) is not IntImm:
                        return False
                    least += k * (dom.min.value if k > 0 else dom.min.value + max(dom.extent.value, 1) - 1)
        p = p.parent
    return not wanted and least >= 0


def bind_around(analyzer: Any, place: StmtSRef) -> None:
    """Tell the analyzer the ranges of the loops and axes around a place."""
    chain = []
    p = place.parent
    while p is not None:
        chain.append(p.node)
        p = p.parent
    for s in reversed(chain):
        if type(s) is For:
            analyzer.bind(s.loop_var, Range(s.min, s.extent))
        elif type(s) is BlockRealize:
            for iv in s.block.iter_vars:
                if iv.dom is not None:
                    analyzer.bind(iv.var, iv.dom)


def holds(place: StmtSRef, condition: Any) -> bool:
    """Whether a condition always holds at a place, with what the conditions around it say."""
    if type(condition) is IntImm:
        return bool(condition.value)
    return prove(condition, place)
