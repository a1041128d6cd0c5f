"""The memory that statements touch, as pointers: the first question about any two of them."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses_of
from tirscript.ir.expr import BufferLoad, IntImm, Var
from tirscript.ir.node import memo_of, walk
from tirscript.ir.stmt import BlockRealize, For, SeqStmt

Memory = frozenset[Var]
_NOTHING: Memory = frozenset()


def touched(s: Any) -> tuple[Memory, Memory]:
    """The memory that a statement may read and write, as pointers; memoised on loops and blocks."""
    t = type(s)
    if t is For or t is BlockRealize:
        memo = memo_of(s if t is For else s.block)
        found: tuple[Memory, Memory] | None = memo.get("touched")
        if found is None:
            if t is For:
                found = _with_loads(touched(s.body), (s.min, s.extent))
            else:
                done = accesses_of(s.block)
                found = (
                    frozenset([a.buffer.data for a in done if not a.is_write]),
                    frozenset([a.buffer.data for a in done if a.is_write]),
                )
            memo["touched"] = found
        if t is BlockRealize:
            return _with_loads(found, (*s.iter_values, s.predicate))
        return found
    if t is SeqStmt:
        parts = [touched(c) for c in s.seq]
        return _NOTHING.union(*[r for r, _ in parts]), _NOTHING.union(*[w for _, w in parts])
    done = accesses_of(s)
    return (
        frozenset([a.buffer.data for a in done if not a.is_write]),
        frozenset([a.buffer.data for a in done if a.is_write]),
    )


def _with_loads(found: tuple[Memory, Memory], exprs: tuple[Any, ...]) -> tuple[Memory, Memory]:
    """With the memory that expressions read."""
    more: set[Var] = set()
    add_loads(exprs, more)
    return (found[0] | more, found[1]) if more else found


def add_loads(exprs: tuple[Any, ...], out: set[Var]) -> None:
    """Add the memory that expressions read."""
    for e in exprs:
        t = type(e)
        if t is not Var and t is not IntImm:
            out.update([n.buffer.data for n in walk(e) if type(n) is BufferLoad])
