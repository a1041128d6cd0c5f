"""What is known at a place from what stands around it: ranges, conditions, buffers that may be one."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from tirscript.analysis.access import conjuncts, negated
from tirscript.ir.expr import Expr, Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, LetStmt
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef
from ..state import FunctionState

Interval = tuple[int, int]


def aliased_params(home: FunctionState) -> frozenset[Any]:
    """The parameter buffers that may share memory."""
    flag = home.func.attrs.get("tir.noalias", True)
    value = getattr(flag, "value", flag)
    return frozenset() if value else frozenset(home.func.buffer_map.values())


def outside_ranges(place: StmtSRef) -> dict[Var, Interval]:
    """The ranges of the loops and axes around a place, where they are constant."""
    out: dict[Var, Interval] = {}
    p = place.parent
    while p is not None:
        s = p.node
        if type(s) is For:
            low, extent = getattr(s.min, "value", None), getattr(s.extent, "value", None)
            if low is not None and extent is not None:
                out[s.loop_var] = (low, low + max(extent, 1) - 1)
        elif type(s) is BlockRealize:
            for iv in s.block.iter_vars:
                if iv.dom is None:
                    continue
                low, extent = getattr(iv.dom.min, "value", None), getattr(iv.dom.extent, "value", None)
                if low is not None and extent is not None:
                    out[iv.var] = (low, low + max(extent, 1) - 1)
        p = p.parent
    return out


def variables_around(place: StmtSRef) -> set[Var]:
    """The loops around a place, and the axes and names around that are made of them."""
    out: set[Var] = set()
    around = []
    p = place.parent
    while p is not None:
        around.append(p.node)
        p = p.parent
    for s in reversed(around):
        if type(s) is For:
            out.add(s.loop_var)
        elif type(s) is BlockRealize:
            values = zip(s.block.iter_vars, s.iter_values, strict=True)
            out.update([iv.var for iv, e in values if not out.isdisjoint(free_vars(e))])
        elif type(s) is LetStmt and not out.isdisjoint(free_vars(s.value)):
            out.add(s.var)
    return out


def guards_updates(c: Expr, around: Set[Var], reduced: Set[Var], others: Set[Var]) -> bool:
    """Whether a condition guards the updates of a block alone, not its init: it is about loops that only
    reduction axes are bound to.  ``around`` are the variables around the block, ``reduced`` those that its
    reduction axes are bound to, ``others`` those that its other axes are bound to."""
    used = free_vars(c) & around
    return bool(used) and used.isdisjoint(others) and used <= reduced


def conditions_around(place: StmtSRef) -> list[Expr]:
    """What holds at a place: the conditions of the statements around it, within its block."""
    out: list[Expr] = []
    child, p = place, place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is IfThenElse:
            out += conjuncts(p.node.condition) if child.seq_index == 0 else negated(p.node.condition)
        child, p = p, p.parent
    return out


def surroundings(place: StmtSRef) -> dict[str, Any]:
    """What the dependence test is told of what stands around a place."""
    return {
        "ranges": outside_ranges(place),
        "aliased": aliased_params(place.home),
        "conditions": conditions_around(place),
    }
