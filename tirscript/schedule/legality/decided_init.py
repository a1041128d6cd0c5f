"""Reduction loops that decide which instances there are: a guard of theirs would not guard the init."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import conjuncts
from tirscript.ir.expr import TRUE, IntImm, Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, LetStmt, SeqStmt
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef

Found = tuple[BlockRealize, str]


def decided(place: StmtSRef) -> Found | None:
    """A block with an init below a loop that only its reduction axes are bound to, and what else about its
    instances depends on the loop: a condition with other loops, or the range of another loop."""
    s: For = place.node
    return _in(s.body, s.loop_var, place, [])


def _in(n: Any, v: Var, place: StmtSRef, around: list[Any]) -> Found | None:
    """``around`` is what stands between the loop and the statement and mentions the loop."""
    while True:
        t = type(n)
        if t is For:
            if type(n.min) is not IntImm or type(n.extent) is not IntImm:
                if v in free_vars(n.min) or v in free_vars(n.extent):
                    around = [*around, n]
        elif t is IfThenElse:
            inside = [*around, n] if v in free_vars(n.condition) else around
            found = _in(n.then_case, v, place, inside)
            if found is not None or n.else_case is None:
                return found
            n, around = n.else_case, inside
            continue
        elif t is LetStmt:
            if v in free_vars(n.value):
                around = [*around, n]
        elif t is SeqStmt:
            for c in n.seq[:-1]:
                found = _in(c, v, place, around)
                if found is not None:
                    return found
            n = n.seq[-1]
            continue
        elif t is BlockRealize:
            if n.iter_values or n.block.init is not None:
                return _of_block(n, v, place, around)
            if v in free_vars(n.predicate):
                around = [*around, n]
            n = n.block.body  # only a scope
            continue
        elif not hasattr(n, "body"):
            return None
        n = n.body


def _of_block(n: BlockRealize, v: Var, place: StmtSRef, around: list[Any]) -> Found | None:
    if n.block.init is None or (n.predicate is TRUE and not around):
        return None
    spatial: set[Var] = set()
    reduce: set[Var] = set()
    for iv, value in zip(n.block.iter_vars, n.iter_values, strict=True):
        (reduce if iv.kind == "reduce" else spatial).update(
            (value,) if type(value) is Var else free_vars(value)
        )
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
        used = free_vars(c)
        if v in used and not (used - (reduce - spatial)).isdisjoint(spatial | _loops_around(place)):
            return n, "a condition with other loops"
    return None


def _loops_around(place: StmtSRef) -> set[Var]:
    out: set[Var] = set()
    p = place.parent
    while p is not None:
        if type(p.node) is For:
            out.add(p.node.loop_var)
        p = p.parent
    return out


__all__ = ["decided"]
