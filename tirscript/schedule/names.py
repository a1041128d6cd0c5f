"""Names for new loops: free among those that are visible where they will stand, then kept for good."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import FloatImm, IntImm, Var, const_int
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockRealize,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
)
from tirscript.ir.visitor import defined_tokens

from .refs import StmtSRef

_DEFINES = frozenset({LetStmt, AttrStmt, Allocate, AllocateConst, DeclBuffer})
_LEAVES = frozenset({Var, IntImm, FloatImm})

_NOTHING = Evaluate(const_int(0))


def names_around(place: StmtSRef) -> set[str]:
    """The names visible at a place: parameters, buffers, loops, axes, lets."""
    out = set(place.home.outer_names)
    p = place.parent
    while p is not None:
        s: Any = p.node
        t = type(s)
        if t is For:
            out.add(s.loop_var.name)
        elif t is BlockRealize:
            b = s.block
            for iv in b.iter_vars:
                out.add(iv.var.name)
            for a in b.alloc_buffers:
                out.add(a.name)
            for m in b.match_buffers:
                out.add(m.buffer.name)
        elif t in _DEFINES:
            for field in ("var", "buffer_var", "buffer"):
                named = getattr(s, field, None)
                if named is not None:
                    out.add(named.name)
        p = p.parent
    return out


def names_inside(s: Stmt, out: set[str]) -> None:
    """Add the names that are defined below a statement; memoised on loops and blocks."""
    stack: list[Any] = [s]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is For:
            out |= _loop_names(n)
        elif t is BlockRealize:
            out |= _block_names(n.block)
        else:
            for c in n.children():
                if isinstance(c, Stmt):
                    stack.append(c)
                elif type(c) not in _LEAVES:
                    out.update([token.name for token in defined_tokens(c)])
            if t in _DEFINES:
                for token in defined_tokens(n)[:1]:
                    out.add(token.name)


def _loop_names(s: For) -> frozenset[str]:
    memo = memo_of(s)
    found: frozenset[str] | None = memo.get("names")
    if found is None:
        inner = {s.loop_var.name}
        names_inside(s.body, inner)
        found = memo["names"] = frozenset(inner)
    return found


def _block_names(b: Block) -> frozenset[str]:
    memo = memo_of(b)
    found: frozenset[str] | None = memo.get("names")
    if found is None:
        if b.match_buffers:
            inner = {t.name for t in defined_tokens(b.replace(body=_NOTHING, init=None))}
        else:
            inner = {b.name, *[iv.var.name for iv in b.iter_vars]}
            for a in b.alloc_buffers:
                inner.update((a.name, a.data.name))
        names_inside(b.body, inner)
        if b.init is not None:
            names_inside(b.init, inner)
        found = memo["names"] = frozenset(inner)
    return found


def new_names(place: StmtSRef, inside: Stmt, wanted: list[str]) -> list[str]:
    """The wanted names, each made free among the names visible at the place and inside the statement."""
    different = frozenset(wanted)
    if len(different) == len(wanted) and not _taken(place, inside, different):
        return wanted
    taken = names_around(place)
    names_inside(inside, taken)
    return [free_name(name, taken) for name in wanted]


def _taken(place: StmtSRef, inside: Any, wanted: frozenset[str]) -> bool:
    """Whether one of the names may be visible; a quick look that says yes where it is not sure."""
    if not wanted.isdisjoint(place.home.outer_names):
        return True
    for b in place.home.func.buffer_map.values():
        for e in b.shape:
            if type(e) is not IntImm:
                return True
    up = place.parent
    while up is not None:
        s: Any = up.node
        t = type(s)
        if t is For:
            if s.loop_var.name in wanted:
                return True
        elif t is BlockRealize:
            block = s.block
            if block.match_buffers:
                return True
            for iv in block.iter_vars:
                if iv.var.name in wanted:
                    return True
            for b in block.alloc_buffers:
                if b.name in wanted:
                    return True
        elif t is not SeqStmt and t is not IfThenElse:
            return True
        up = up.parent
    stack: list[Any] = [inside]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is For:
            if s.loop_var.name in wanted:
                return True
            stack.append(s.body)
        elif t is SeqStmt:
            stack += s.seq
        elif t is not BlockRealize or not wanted.isdisjoint(_block_names(s.block)):
            return True
    return False


def free_name(base: str, taken: set[str]) -> str:
    """``base``, or ``base_1``, ``base_2`` ...; the name is taken from then on."""
    name, n = base, 0
    while name in taken:
        n += 1
        name = f"{base}_{n}"
    taken.add(name)
    return name
