"""Statements without effect go away."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import Call, Expr, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import (
    Allocate,
    AttrStmt,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    seq,
)

from .fold import const_of, is_false, is_true


def remove_no_op(func: PrimFunc) -> PrimFunc:
    """Empty statements, loops that never run, conditions that are constant."""
    return func.replace(body=_visit(func.body))


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    n = n.map_children(_visit)
    rule = _RULES.get(type(n))
    return n if rule is None else rule(n)


def _empty(s: Stmt | None) -> bool:
    return s is None or (type(s) is Evaluate and not _has_effect(s.value))


def _has_effect(e: Expr) -> bool:
    return any(type(n) is Call and effect_of(n.op) in ("update", "control") for n in walk(e))


def _nothing(s: Stmt) -> Stmt:
    return Evaluate(const_int(0), span=s.span)


def _sequence(s: SeqStmt) -> Stmt:
    kept = [x for x in s.seq if not _empty(x)]
    if len(kept) == len(s.seq) and not any(type(x) is SeqStmt for x in kept):
        return s
    return seq(*kept) if kept else _nothing(s)


def _loop(s: For) -> Stmt:
    extent = const_of(s.extent)
    if extent is not None and extent <= 0:
        return _nothing(s)
    bounds_have_effect = _has_effect(s.min) or _has_effect(s.extent)
    return _nothing(s) if _empty(s.body) and not bounds_have_effect else s


def _branch(s: IfThenElse) -> Stmt:
    if is_true(s.condition):
        return s.then_case
    if is_false(s.condition):
        return s.else_case if s.else_case is not None else _nothing(s)
    if _empty(s.else_case):
        if _empty(s.then_case) and not _has_effect(s.condition):
            return _nothing(s)
        return s if s.else_case is None else s.replace(else_case=None)
    return s


def _let(s: LetStmt) -> Stmt:
    return _nothing(s) if _empty(s.body) and not _has_effect(s.value) else s


def _holder(s: Any) -> Stmt:
    return _nothing(s) if _empty(s.body) else s


_RULES: dict[type, Any] = {
    SeqStmt: _sequence,
    For: _loop,
    IfThenElse: _branch,
    LetStmt: _let,
    Allocate: _holder,
    DeclBuffer: _holder,
    AttrStmt: _holder,
}
