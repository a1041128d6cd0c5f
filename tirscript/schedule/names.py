"""Names for new loops: free among those that are visible where they will stand, then kept for good."""

from __future__ import annotations

from typing import Any

from tirscript.ir.node import memo_of
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockRealize,
    DeclBuffer,
    For,
    LetStmt,
    Stmt,
)
from tirscript.ir.visitor import defined_tokens

from .refs import StmtSRef

_DEFINES = frozenset({LetStmt, AttrStmt, Allocate, AllocateConst, DeclBuffer})


def names_around(place: StmtSRef) -> set[str]:
    """The names visible at a place: parameters, buffers, loops, axes, lets."""
    func = place.home.func
    out = {p.name for p in func.params}
    for b in func.buffer_map.values():
        out.add(b.name)
        for e in b.shape:
            name = getattr(e, "name", None)
            if name is not None:
                out.add(name)
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
    """Add the names that are defined below a statement."""
    stack: list[Any] = [s]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is For:
            out.add(n.loop_var.name)
            stack.append(n.body)
        elif t is BlockRealize:
            out |= _block_names(n.block)
        else:
            stack.extend([c for c in n.children() if isinstance(c, Stmt)])
            if t in _DEFINES:
                for token in defined_tokens(n)[:1]:
                    out.add(token.name)


def _block_names(b: Block) -> frozenset[str]:
    memo = memo_of(b)
    found: frozenset[str] | None = memo.get("names")
    if found is None:
        found = memo["names"] = frozenset([t.name for t in defined_tokens(b)])
    return found


def free_name(base: str, taken: set[str]) -> str:
    """``base``, or ``base_1``, ``base_2`` ...; the name is taken from then on."""
    name, n = base, 0
    while name in taken:
        n += 1
        name = f"{base}_{n}"
    taken.add(name)
    return name
