"""Reduction loops that decide which instances there are: a guard of theirs would not guard the init."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.analysis.access import conjuncts
from tirscript.ir.expr import TRUE, Expr, IntImm, Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, LetStmt, SeqStmt
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef

Found = tuple[BlockRealize, str]
Bound = Mapping[Var, frozenset[Var]]


def decided(place: StmtSRef) -> Found | None:
    """A block with an init below a loop that only its reduction axes are bound to, and what else about its
    instances depends on the loop: a condition with other loops, or the range of another loop."""
    s: For = place.node
    return _in(s.body, s.loop_var, place, [], {})


def _in(n: Any, v: Var, place: StmtSRef, around: list[Any], bound: Bound) -> Found | None:
    """``around`` is what stands between the loop and the statement and mentions the loop, ``bound`` what the
    axes and names there are made of."""
    while True:
        t = type(n)
        if t is For:
            if type(n.min) is not IntImm or type(n.extent) is not IntImm:
                if v in _roots(n.min, bound) or v in _roots(n.extent, bound):
                    around = [*around, n]
        elif t is IfThenElse:
            inside = [*around, n] if v in _roots(n.condition, bound) else around
            found = _in(n.then_case, v, place, inside, bound)
            if found is not None or n.else_case is None:
                return found
            n, around = n.else_case, inside
            continue
        elif t is LetStmt:
            bound = {**bound, n.var: _roots(n.value, bound)}
            if v in bound[n.var]:
                around = [*around, n]
        elif t is SeqStmt:
            for c in n.seq[:-1]:
                found = _in(c, v, place, around, bound)
                if found is not None:
                    return found
            n = n.seq[-1]
            continue
        elif t is BlockRealize:
            found = _of_block(n, v, place, around, bound)
            if found is not None:
                return found
            if n.predicate is not TRUE and v in _roots(n.predicate, bound):
                around = [*around, n]
            axes = zip(n.block.iter_vars, n.iter_values, strict=True)
            bound = {**bound, **{iv.var: _roots(e, bound) for iv, e in axes}}
            n = n.block.body
            continue
        elif not hasattr(n, "body"):
            return None
        n = n.body


def _of_block(n: BlockRealize, v: Var, place: StmtSRef, around: list[Any], bound: Bound) -> Found | None:
    if n.block.init is None or (n.predicate is TRUE and not around):
        return None
    spatial: set[Var] = set()
    reduce: set[Var] = set()
    for iv, value in zip(n.block.iter_vars, n.iter_values, strict=True):
        (reduce if iv.kind == "reduce" else spatial).update(_roots(value, bound))
    if v not in reduce or v in spatial:
        return None
    conditions = [] if n.predicate is TRUE else conjuncts(n.predicate)
    for a in around:
        if type(a) is For:
            if a.loop_var in spatial:
                return n, f"the range of loop `{a.loop_var.name}`"
        elif type(a) is LetStmt:
            return n, f"the let `{a.var.name}`"
        else:
            conditions += conjuncts(a.condition if type(a) is IfThenElse else a.predicate)
    for c in conditions:
        used = _roots(c, bound)
        if v in used and not (used - (reduce - spatial)).isdisjoint(spatial | _loops_around(place)):
            return n, "a condition with other loops"
    return None


def _roots(e: Expr, bound: Bound) -> frozenset[Var]:
    """The variables that an expression is made of, through axes and names."""
    return frozenset().union(*[bound.get(v, (v,)) for v in free_vars(e)])


def _loops_around(place: StmtSRef) -> set[Var]:
    out: set[Var] = set()
    p = place.parent
    while p is not None:
        if type(p.node) is For:
            out.add(p.node.loop_var)
        p = p.parent
    return out


__all__ = ["decided"]
