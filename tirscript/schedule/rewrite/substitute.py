"""Putting values in the place of loop variables below a loop, with a guard where iterations were added."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tirscript.analysis.access import conjuncts
from tirscript.ir.expr import (
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Mul,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute

_ARITHMETIC = frozenset({Add, Sub, Mul, FloorDiv, FloorMod})
Values = Mapping[Var, Expr]


def put(e: Any, values: Values) -> Any:
    """``e`` with the values of variables; the usual index arithmetic is handled here, the rest in ``ir``."""
    t = type(e)
    if t is Var:
        return values.get(e, e)
    if t is IntImm:
        return e
    if t in _ARITHMETIC:
        # Most operands are leaves.
        a, b = e.a, e.b
        x = values.get(a, a) if type(a) is Var else put(a, values)
        y = b if type(b) is IntImm else values.get(b, b) if type(b) is Var else put(b, values)
        return e if x is a and y is b else t(x, y)
    return substitute(e, values)


def spread(e: Any, value: Expr, terms: list[tuple[Var, int]]) -> Expr:
    """``e`` with ``value``, which is the sum of the terms, multiplied out where ``e`` adds or scales it:
    ``(a * 2 + b) * 4 + c`` is ``a * 8 + b * 4 + c``."""
    out: list[Expr] = []
    if not _spread(e, 1, value, terms, out):
        return e  # type: ignore[no-any-return]
    total = out[0]
    for t in out[1:]:
        total = Add(total, t)
    return total


def _spread(e: Any, k: int, value: Expr, terms: list[tuple[Var, int]], out: list[Expr]) -> bool:
    if e is value:
        for v, c in terms:
            out.append(v if c * k == 1 else Mul(v, const_int(c * k, v.dtype)))
        return True
    t = type(e)
    if t is Add:
        left = _spread(e.a, k, value, terms, out)
        count = len(out)
        right = _spread(e.b, k, value, terms, out)
        if not right and type(e.b) is Add:
            out[count:] = [e.b if k == 1 else Mul(e.b, const_int(k, e.dtype))]  # a group of its own stays one
        return left or right
    if t is Mul and type(e.b) is IntImm and (e.a is value or k != 1):
        return _spread(e.a, k * e.b.value, value, terms, out)
    out.append(e if k == 1 else Mul(e, const_int(k, e.dtype)))
    return False


class Rewriter:
    """One pass below a loop.

    ``values`` replace loop variables; every block instance (and every other statement) is guarded by
    ``guard``, unless ``implied(predicate)`` says that the block's predicate implies it.  ``fold`` simplifies
    values of axes that were more than a variable.
    """

    __slots__ = ("fold", "fold_predicates", "guard", "implied", "keys", "values")

    def __init__(
        self,
        values: Values,
        guard: Expr | None = None,
        implied: Callable[[Expr], bool] | None = None,
        fold: Callable[[Expr], Expr] | None = None,
        fold_predicates: bool = True,
    ) -> None:
        self.values = values
        self.keys = values.keys()
        self.guard = guard
        self.implied = implied
        self.fold = fold
        self.fold_predicates = fold_predicates

    def value(self, e: Any) -> Any:
        if type(e) is Var:
            return self.values.get(e, e)
        if type(e) is IntImm:
            return e
        new = put(e, self.values)
        return new if new is e or self.fold is None else self.fold(new)

    def statement(self, s: Any) -> Stmt:
        t = type(s)
        if t is For:
            low, extent, step = s.min, s.extent, s.step
            if type(low) is not IntImm:
                low = self.value(low)
            if type(extent) is not IntImm:
                extent = self.value(extent)
            if step is not None:
                step = self.value(step)
            if self.guard is not None and (_loads(low) or _loads(extent)):
                return self.guarded(s)
            body = self.statement(s.body)
            if body is s.body and low is s.min and extent is s.extent and not s.annotations:
                return s  # type: ignore[no-any-return]
            notes = s.annotations
            if notes:
                notes = substitute(s, self.values).annotations
            return For(s.loop_var, low, extent, s.kind, body, s.thread, notes, step, s.span)
        if t is BlockRealize:
            return self.realize(s)
        if t is SeqStmt:
            seq = tuple([self.statement(c) for c in s.seq])
            for a, b in zip(seq, s.seq, strict=True):
                if a is not b:
                    return SeqStmt(seq, s.span)
            return s  # type: ignore[no-any-return]
        if self.guard is None:
            if t is IfThenElse:
                return self.branches(s)
            return substitute(s, self.values)  # type: ignore[no-any-return]
        if t is IfThenElse and not _loads(s.condition):
            return self.branches(s)
        return self.guarded(s)

    def bound(self, e: Any) -> Any:
        """The value of an axis, simplified; not where it would lose a loop: which loops axes are bound to
        decides where an init stands."""
        if type(e) is IntImm:
            return e
        new = put(e, self.values)
        if new is e or self.fold is None:
            return new
        found = self.fold(new)
        return found if len(free_vars(found)) == len(free_vars(new)) else new

    def folded(self, predicate: Expr) -> Expr:
        """The predicate, simplified; a conjunct that would lose its loops stays: which loops it mentions
        decides whether it guards the init too."""
        assert self.fold is not None
        out: Expr = TRUE
        for c in conjuncts(predicate):
            new = self.fold(c)
            if type(new) is IntImm and new.value:
                continue
            if len(free_vars(new)) != len(free_vars(c)):
                new = c
            out = new if out is TRUE else And(out, new)
        return out

    def branches(self, s: IfThenElse) -> Stmt:
        condition = put(s.condition, self.values)
        yes = self.statement(s.then_case)
        no = None if s.else_case is None else self.statement(s.else_case)
        if condition is s.condition and yes is s.then_case and no is s.else_case:
            return s
        return IfThenElse(condition, yes, no, s.span)

    def guarded(self, s: Stmt) -> Stmt:
        """The statement under an ``if``: it is no block, or something must not even be evaluated."""
        assert self.guard is not None
        return IfThenElse(self.guard, substitute(s, self.values), None, s.span)

    def realize(self, s: BlockRealize) -> Stmt:
        get = self.values.get
        values = tuple([get(e, e) if type(e) is Var else self.bound(e) for e in s.iter_values])
        predicate = s.predicate
        block = s.block
        guard = self.guard
        if predicate is not TRUE:
            if guard is not None and self.implied is not None and self.implied(predicate):
                guard = None
            predicate = put(predicate, self.values)
            if self.fold is not None and self.fold_predicates and predicate is not s.predicate:
                predicate = self.folded(predicate)
        if guard is not None:
            if any(_loads(v) for v in values if type(v) is not Var):
                return self.guarded(s)
            predicate = guard if predicate is TRUE else And(predicate, guard)
        if not self.keys.isdisjoint(free_vars(block)):
            block = substitute(block, self.values)
        if predicate is s.predicate and block is s.block:
            for a, b in zip(values, s.iter_values, strict=True):
                if a is not b:
                    break
            else:
                return s
        return BlockRealize(values, predicate, block, s.span)


def _loads(e: Any) -> bool:
    """Whether an expression reads memory or calls something."""
    t = type(e)
    if t is Var or t is IntImm:
        return False
    if t is BufferLoad or t is Call:
        return True
    return any(_loads(c) for c in e.children())


__all__ = ["Rewriter", "put"]
