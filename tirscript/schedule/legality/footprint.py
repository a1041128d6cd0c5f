"""The memory that statements touch, as pointers: the first question about any two of them."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses_of
from tirscript.ir.expr import LE, LT, TRUE, Add, BufferLoad, Call, IntImm, Max, Min, Mul, Sub, Var
from tirscript.ir.node import memo_of, walk
from tirscript.ir.op import is_opaque
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, SeqStmt, Stmt

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
                found = touched(s.body)
                if type(s.min) is not IntImm or type(s.extent) is not IntImm:
                    found = _with_loads(found, (s.min, s.extent))
            else:
                seen = _plainly(s.block)
                memo["plain_accesses"] = seen
                if seen is not None:
                    reads: list[Var] = []
                    writes: list[Var] = []
                    for n in seen:
                        (reads if type(n) is BufferLoad else writes).append(n.buffer.data)
                    found = frozenset(reads), frozenset(writes)
                    memo["opaque_body"] = False
                else:
                    done = accesses_of(s.block)
                    found = (
                        frozenset([a.buffer.data for a in done if not a.is_write]),
                        frozenset([a.buffer.data for a in done if a.is_write]),
                    )
            memo["touched"] = found
        if t is BlockRealize:
            for v in s.iter_values:
                if type(v) is not Var and type(v) is not IntImm:
                    break
            else:
                if s.predicate is TRUE:
                    return found
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


_BRANCHES = frozenset({SeqStmt, IfThenElse})
_OPERATORS = frozenset({Add, Sub, Mul, Max, Min, LT, LE})


def _plainly(b: Block) -> tuple[Any, ...] | None:
    """The loads and stores of a block, where it does nothing else; None where it does, or holds blocks, views
    or declarations."""
    if b.match_buffers or b.annotations:
        return None
    out: list[Any] = []
    stack: list[Any] = [b.body]
    if b.init is not None:
        stack.append(b.init)
    n: Any
    while stack:
        n = stack.pop()
        t = type(n)
        if t is Var:
            if n.dtype == "handle":
                return None
        elif t in _OPERATORS:
            stack.append(n.a)
            stack.append(n.b)
        elif t is BufferLoad or t is BufferStore:
            out.append(n)
            if t is BufferStore:
                stack.append(n.value)
            stack += [i for i in n.indices if type(i) is not Var and type(i) is not IntImm]
            if n.predicate is not None:
                stack.append(n.predicate)
        elif t is not IntImm:
            if t is Call:
                if n.op == "address_of" or is_opaque(n.op):
                    return None
            elif t is For:
                if n.annotations:
                    return None
            elif isinstance(n, Stmt) and t not in _BRANCHES:
                return None
            stack += n.children()
    return tuple(out)


def cells(s: Any) -> list[Any] | None:
    """All loads and stores of a statement that is only loops around blocks, each of which does nothing else;
    None for any other."""
    out: list[Any] = []
    stack: list[Any] = [s]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is SeqStmt:
            stack += s.seq
        elif t is For:
            if s.annotations or type(s.min) is not IntImm or type(s.extent) is not IntImm:
                return None
            stack.append(s.body)
        elif t is BlockRealize and s.predicate is TRUE:
            for v in s.iter_values:
                if type(v) is not Var and type(v) is not IntImm:
                    return None
            memo = memo_of(s.block)
            found: tuple[Any, ...] | None = memo.get("plain_accesses", ())
            if found == ():
                found = memo["plain_accesses"] = _plainly(s.block)
            if found is None:
                return None
            out += found
        else:
            return None
    return out


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
