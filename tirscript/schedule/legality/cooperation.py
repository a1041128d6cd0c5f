"""Whether the threads around a loop may share its iterations out among themselves.

A loop bound to a thread axis that a loop around it has already is the same thread again: each thread runs one
of its iterations, where every thread would have run all of them.  That is how the threads of a block fill
shared memory together.  It comes to the same if no iteration depends on the thread that runs it, if all
threads see what is stored, and if all of them get there.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses_of
from tirscript.ir.expr import Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, LetStmt, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars

from .prove import same


def why_not_together(outer: For, inner: For, thread: str) -> str | None:
    """What speaks against sharing ``inner`` out among the threads of ``outer``; None if nothing does.

    ``thread`` is the axis of both.
    """
    if not thread.startswith("threadIdx"):
        return "only the threads of one block share memory"
    if not (same(outer.extent, inner.extent) and same(outer.min, inner.min)):
        return "the two loops have different ranges"
    own: set[Var] = {outer.loop_var}
    for s in way_to(outer, inner):
        t = type(s)
        if t is For:
            parts: tuple[Any, ...] = (s.min, s.extent)
            if s.thread == thread:
                own.add(s.loop_var)
        elif t is BlockRealize:
            parts = (s.predicate,)
            if s.block.init is not None:
                return "the reduction between them begins with an init of each thread's own"
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                if not own.isdisjoint(free_vars(value)):
                    own.add(iv.var)
        elif t is IfThenElse:
            parts = (s.condition,)
        elif t is LetStmt:
            parts = ()
            if not own.isdisjoint(free_vars(s.value)):
                own.add(s.var)
        elif t is SeqStmt:
            parts = ()
        else:
            return "what stands between them may be left by single threads"
        if any(not own.isdisjoint(free_vars(e)) for e in parts):
            return "not every thread gets there, or not equally often"
    if not own.isdisjoint(free_vars(inner)):
        return "its iterations depend on the thread that runs them"
    done = accesses_of(inner)
    read = {a.buffer.data for a in done if not a.is_write}
    for a in done:
        if not a.is_write:
            continue
        if a.buffer.scope.partition(".")[0] not in ("shared", "global"):
            return f"the threads do not see each other's {a.buffer.name} in {a.buffer.scope} memory"
        if a.buffer.data in read or a.init:
            return f"it updates {a.buffer.name}, and each thread would"
    return None


def way_to(outer: For, inner: For) -> list[Any]:
    """The statements from ``outer`` down to ``inner``, both left out."""
    stack: list[tuple[Stmt, tuple[Stmt, ...]]] = [(outer.body, ())]
    while stack:
        s, above = stack.pop()
        if s is inner:
            return list(above)
        below: tuple[Any, ...] = (s.block.body,) if type(s) is BlockRealize else s.children()
        stack.extend([(c, (*above, s)) for c in below if isinstance(c, Stmt)])
    return []


__all__ = ["way_to", "why_not_together"]
