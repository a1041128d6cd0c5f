"""Statements that leave the normal order: what stands after them may not be done."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import Call, Expr
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    BlockRealize,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)
from tirscript.ir.visitor import walk

_LEAVES = frozenset({"break_loop", "continue_loop", "ret", "thread_return"})


def leaves_loop(s: Any) -> bool:
    """Whether a break, continue or return may leave the body of a loop."""
    stack = [(s, False)]
    while stack:
        n, nested = stack.pop()
        if type(n) is Evaluate and type(n.value) is Call and n.value.op in _LEAVES:
            if not nested or n.value.op in ("ret", "thread_return"):
                return True
        deeper = nested or type(n) in (For, While)
        stack.extend([(c, deeper) for c in n.children() if not isinstance(c, Expr)])
    return False


def returns_early(body: Any) -> bool:
    """Whether something may stand after a return that is taken."""
    last = body
    while True:
        t = type(last)
        if t is SeqStmt:
            if any(_returns(c) for c in last.seq[:-1]):
                return True
            last = last.seq[-1]
        elif t is BlockRealize:
            last = last.block.body
        elif t in (LetStmt, AttrStmt, Allocate, AllocateConst, DeclBuffer):
            last = last.body
        else:
            return t is not Evaluate and t is not IfThenElse and _returns(last)


def _returns(s: Any) -> bool:
    return any(type(n) is Call and n.op in ("ret", "thread_return") for n in walk(s))


__all__ = ["leaves_loop", "returns_early"]
