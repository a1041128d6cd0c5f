"""Reductions that go on in loops outside of the block that a nest stands in."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import IntImm, IterVar, Var
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, LetStmt, Stmt
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef


def goes_on(
    realize: BlockRealize, top: StmtSRef, *, own: bool = True, unit: bool = False
) -> tuple[For, IterVar] | None:
    """A loop around ``top``, in whatever block, over which a reduction of the block goes on, and its axis.

    The axes of blocks between stand for what is bound to them.  Without ``own`` the loops of the block that
    ``top`` stands in do not count, without ``unit`` those of one iteration.
    """
    p = top.parent
    while p is not None and type(p.node) is not For and not getattr(p.node, "iter_values", ()):
        p = p.parent
    if p is None:
        return None  # nothing around it iterates
    bound: dict[Var, IterVar] = {}
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind == "reduce":
            for v in (value,) if type(value) is Var else free_vars(value):
                bound[v] = iv
    p = top.parent
    while p is not None:
        s: Any = p.node
        if type(s) is For:
            if own and s.loop_var in bound:
                if unit or not (type(s.extent) is IntImm and s.extent.value == 1):
                    return s, bound[s.loop_var]
        elif type(s) is BlockRealize:
            own = True
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                if iv.var in bound:
                    for v in free_vars(value):
                        bound.setdefault(v, bound[iv.var])
        elif type(s) is LetStmt and s.var in bound:
            for v in free_vars(s.value):
                bound.setdefault(v, bound[s.var])
        p = p.parent
    return None


def init_inside(body: Any, variables: set[Var]) -> Block | None:
    """A block with an init in a statement, whose reduction goes over one of the variables."""
    roots = set(variables)
    stack: list[Any] = [body]
    while stack:  # what is around comes first
        s = stack.pop()
        if type(s) is BufferStore:
            continue
        if type(s) is BlockRealize:
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                if (value in roots) if type(value) is Var else not roots.isdisjoint(free_vars(value)):
                    roots.add(iv.var)
                    if iv.kind == "reduce" and s.block.init is not None:
                        return s.block
            s = s.block
            stack += [s.body] if s.init is None else [s.body, s.init]
            continue
        if type(s) is LetStmt and not roots.isdisjoint(free_vars(s.value)):
            roots.add(s.var)
        stack += [c for c in reversed(s.children()) if isinstance(c, Stmt)]
    return None
