"""Expressions are simplified under what is known where they stand."""

from __future__ import annotations

from typing import Any

from tirscript.arith import Analyzer
from tirscript.ir.expr import Expr, IntImm, Not, Range, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import Node
from tirscript.ir.stmt import (
    AttrStmt,
    BufferRealize,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    Stmt,
    While,
)

from .fold import conjunction, conjuncts, flat, is_false, is_true


def simplify(func: PrimFunc) -> PrimFunc:
    """Indices, bounds, conditions and values are simplified; conditions that always hold disappear.

    The value of every expression stays the same, bit for bit.
    """
    cx = Analyzer()
    for b in func.buffer_map.values():
        for n in b.shape:
            if isinstance(n, Var) and n.exact:
                cx.set_range(n, (0, None))
    return func.replace(body=_Simplify(cx).stmt(func.body))


def final_simplify(func: PrimFunc) -> PrimFunc:
    """The same once more, for what vectors and unrolling have made."""
    return simplify(func)


class _Simplify:
    def __init__(self, cx: Analyzer) -> None:
        self.cx = cx

    def expr(self, e: Expr) -> Expr:
        return self.cx.simplify(e)

    def stmt(self, s: Any) -> Any:
        rule = _RULES.get(type(s))
        if rule is not None:
            return rule(self, s)
        return flat(s.map_children(self.child))

    def child(self, n: Node) -> Any:
        if isinstance(n, Stmt):
            return self.stmt(n)
        if isinstance(n, Expr):
            return self.expr(n)
        return n.map_children(self.child)

    def loop(self, s: For) -> For:
        low, extent = self.expr(s.min), self.expr(s.extent)
        with self.cx.scope():
            self.cx.bind(s.loop_var, Range(low, extent))
            body = self.stmt(s.body)
        if low is s.min and extent is s.extent and body is s.body:
            return s
        return s.replace(min=low, extent=extent, body=body)

    def branch(self, s: IfThenElse) -> Stmt:
        condition = self.condition(s.condition)
        if is_true(condition):
            return self.stmt(s.then_case)  # type: ignore[no-any-return]
        with self.cx.constraint(condition):
            then_case = self.stmt(s.then_case)
        else_case = s.else_case
        if else_case is not None:
            with self.cx.constraint(Not(condition)):
                else_case = self.stmt(else_case)
        if condition is s.condition and then_case is s.then_case and else_case is s.else_case:
            return s
        return s.replace(condition=condition, then_case=then_case, else_case=else_case)

    def condition(self, condition: Expr) -> Expr:
        """The condition without the parts that hold anyway: each part is seen under those before it."""
        parts = conjuncts(condition)
        if len(parts) < 2:
            return self.expr(condition)
        kept: list[Expr] = []
        with self.cx.scope():
            for p in parts:
                new = self.expr(p)
                if is_false(new):
                    return new if not kept else conjunction([*kept, new])
                if not is_true(new):
                    kept.append(new)
                    self.cx.assume(new)
        if len(kept) == len(parts) and all(a is b for a, b in zip(kept, parts, strict=True)):
            return condition
        return conjunction(kept)

    def let(self, s: LetStmt) -> LetStmt:
        value = self.expr(s.value)
        with self.cx.scope():
            low, high = self.cx.const_bounds(value) if s.var.exact else (None, None)
            if low is not None or high is not None:
                self.cx.set_range(s.var, (low, high))
            body = self.stmt(s.body)
        return s if value is s.value and body is s.body else s.replace(value=value, body=body)

    def store(self, s: BufferStore) -> BufferStore:
        value = self.expr(s.value)
        indices = tuple([self.expr(i) for i in s.indices])
        predicate = None if s.predicate is None else self.expr(s.predicate)
        same = all(a is b for a, b in zip(indices, s.indices, strict=True))
        if same and value is s.value and predicate is s.predicate:
            return s
        return s.replace(value=value, indices=indices, predicate=predicate)

    def evaluate(self, s: Evaluate) -> Evaluate:
        if isinstance(s.value, IntImm):
            return s
        value = self.expr(s.value)
        return s if value is s.value else s.replace(value=value)

    def attribute(self, s: AttrStmt) -> AttrStmt:
        # The value may be an extent that others read as it is written.
        body = self.stmt(s.body)
        return s if body is s.body else s.replace(body=body)


def _while(self: _Simplify, s: While) -> While:
    # What holds before the loop need not hold when the condition is evaluated again, but facts are about
    # variables that do not change.
    condition, body = self.expr(s.condition), self.stmt(s.body)
    return s if condition is s.condition and body is s.body else s.replace(condition=condition, body=body)


_RULES: dict[type, Any] = {
    For: _Simplify.loop,
    IfThenElse: _Simplify.branch,
    LetStmt: _Simplify.let,
    BufferStore: _Simplify.store,
    Evaluate: _Simplify.evaluate,
    AttrStmt: _Simplify.attribute,
    While: _while,
    BufferRealize: _Simplify.attribute,
}
