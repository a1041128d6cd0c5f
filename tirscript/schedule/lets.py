"""Names for values around blocks, taken out when a schedule begins: what the axes of the blocks are bound to
is to be seen."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import deep_recursion
from tirscript.ir.expr import BufferLoad, Call
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import BlockRealize, BufferStore, For, IfThenElse, LetStmt, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute


def without_lets(func: PrimFunc) -> PrimFunc:
    """The function with the values of lets around blocks in place of their names.

    Where a value reads memory or has an effect, where a block with axes uses the name inside (which may not
    use loops itself), and where no block stands below, the ``let`` stays.
    """
    if not _has_let(func.body):
        return func
    with deep_recursion():
        body = _put(func.body)
    return func if body is func.body else func.replace(body=body)


def _has_let(body: Any) -> bool:
    """Whether there is any outside of single stores; quick, for most functions have none."""
    stack = [body]
    while stack:
        s = stack.pop()
        while True:
            t = type(s)
            if t is BlockRealize:
                s = s.block.body
            elif t is For:
                s = s.body
            else:
                break
        if t is LetStmt:
            return True
        if t is SeqStmt:
            stack += s.seq
        elif t is IfThenElse:
            stack += [c for c in (s.then_case, s.else_case) if c is not None]
        elif t is not BufferStore:
            body = getattr(s, "body", None)
            if body is not None:
                stack.append(body)
    return False


def _put(s: Any) -> Any:
    while type(s) is LetStmt and _goes(s):
        s = substitute(s.body, {s.var: s.value})
    if type(s) is BlockRealize:
        body = _put(s.block.body)
        return s if body is s.block.body else s.replace(block=s.block.replace(body=body))
    return s.map_children(lambda c: _put(c) if isinstance(c, Stmt) else c)


def _goes(s: LetStmt) -> bool:
    for n in walk(s.value):
        if type(n) is BufferLoad or (type(n) is Call and effect_of(n.op) != "pure"):
            return False
    blocks = [n.block for n in walk(s.body) if type(n) is BlockRealize]
    return bool(blocks) and not any(b.iter_vars and s.var in free_vars(b) for b in blocks)


__all__ = ["without_lets"]
