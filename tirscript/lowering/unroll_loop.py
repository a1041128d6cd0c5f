"""Unrolled loops become straight code, within a budget."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import Call, Expr, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import Evaluate, For, Stmt, While, seq
from tirscript.ir.visitor import fresh_copy, substitute

from .fold import add, const_of, flat

BUDGET = 16_384  # nodes of one unrolled loop, nested ones included


def unroll_loop(func: PrimFunc) -> PrimFunc:
    """``unrolled`` loops of constant extent are written out; those over the budget become serial.

    A loop of unknown length, or one that is left early, stays ``unrolled``: a hint for the backend.
    """
    return func.map_children(_visit)


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    n = flat(n.map_children(_visit))
    return _unroll(n) if type(n) is For and n.kind == "unrolled" else n


def _unroll(s: For) -> Stmt:
    count = const_of(s.extent)
    if count is None:
        return s
    if count <= 0:
        return Evaluate(const_int(0), span=s.span)
    for size, _ in enumerate(walk(s.body), 1):
        if size * count > BUDGET:
            return s.replace(kind="serial")
    if leaves(s.body):
        return s
    copies = []
    for i in range(count):
        body = s.body if i == count - 1 else fresh_copy(s.body)
        at: dict[Var, Expr] = {s.loop_var: add(s.min, const_int(i, s.loop_var.dtype))}
        copies.append(substitute(body, at))
    return seq(*copies)


def leaves(body: Stmt) -> bool:
    """Whether the body leaves this loop, or an iteration of it, early."""
    stack: list[Any] = [body]
    while stack:
        n = stack.pop()
        if type(n) is Call and n.op in ("break_loop", "continue_loop"):
            return True
        if type(n) is not For and type(n) is not While:
            stack += n.children()
    return False
