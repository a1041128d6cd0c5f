"""Copies of statements with loops, axes and labels of their own, in the usual case in one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.ir.expr import TRUE, CommReducer, Expr, IntImm, IterVar, Let, Range, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import (
    NONE,
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    For,
    IfThenElse,
    SeqStmt,
    Stmt,
)
from tirscript.ir.visitor import free_vars, substituter, walk

from ..names import free_name
from .substitute import put

_SIMPLE = frozenset({BufferStore, SeqStmt, IfThenElse})


def copied(
    root: Any,
    values: dict[Var, Expr],
    part: str,
    blocks: set[str],
    domain: Callable[[IterVar, Expr], Range | None],
) -> Any:
    """A copy over new variables of loops and blocks without definitions inside; None for anything else.
    ``domain`` says the domains of the new axes."""
    t = type(root)
    if t is For and not root.annotations:
        v = root.loop_var
        values[v] = new = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
        body = copied(root.body, values, part, blocks, domain)
        if body is None:
            return None
        step = None if root.step is None else put(root.step, values)
        low, extent = root.min, root.extent
        if type(low) is not IntImm:
            low = put(low, values)
        if type(extent) is not IntImm:
            extent = put(extent, values)
        return For(new, low, extent, root.kind, body, root.thread, NONE, step, root.span)
    if t is SeqStmt:
        parts = [copied(c, values, part, blocks, domain) for c in root.seq]
        return None if any(p is None for p in parts) else SeqStmt(tuple(parts), root.span)
    if t is not BlockRealize:
        return None
    b = root.block
    if b.alloc_buffers or b.match_buffers or b.annotations or not defines_nothing(b):
        return None
    axes: dict[Var, Expr] = {}
    ivs = []
    for iv, e in zip(b.iter_vars, root.iter_values, strict=True):
        dom = domain(iv, e)
        if dom is None or (
            (type(dom.min) is not IntImm or type(dom.extent) is not IntImm)
            and not free_vars(dom).isdisjoint(values)
        ):
            return None
        v = iv.var
        axes[v] = fresh = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
        ivs.append(IterVar(fresh, dom, iv.kind, iv.thread_tag, iv.span))
    if not free_vars(b).isdisjoint(values):
        return None
    put_axes = substituter(axes)
    block = Block(
        BlockLabel(free_name(f"{b.name}_{part}", blocks)), tuple(ivs),
        tuple([put_axes(r) for r in b.reads]), tuple([put_axes(r) for r in b.writes]),
        put_axes(b.body), None if b.init is None else put_axes(b.init), span=b.span,
    )  # fmt: skip
    bound = tuple([values.get(e, e) if type(e) is Var else put(e, values) for e in root.iter_values])
    return BlockRealize(bound, put(root.predicate, values), block, root.span)


def defines_nothing(b: Block) -> bool:
    """Whether a block's init and body define nothing; memoised on the block."""
    memo = memo_of(b)
    found: bool | None = memo.get("defines_nothing")
    if found is None:
        found = memo["defines_nothing"] = _plain(b.body) and (b.init is None or _plain(b.init))
    return found


def _plain(s: Any) -> bool:
    """Whether a statement defines nothing."""
    if type(s) not in _SIMPLE:
        return False
    if type(s) is BufferStore:
        return not any(type(n) is Let or type(n) is CommReducer for n in walk(s))
    if any(type(n) is Let for n in walk(getattr(s, "condition", TRUE))):
        return False
    return all(_plain(c) for c in s.children() if isinstance(c, Stmt))
