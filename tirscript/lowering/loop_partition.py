"""Loops are cut where a condition in them begins or ceases to hold, so that the main part has no branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.arith.linear import Linear, atom_mentions, to_linear
from tirscript.ir.expr import GE, GT, LE, LT, TRUE, Call, Expr, Max, Min, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import For, IfThenElse, LetStmt, Stmt, seq
from tirscript.ir.visitor import fresh_copy

from .fold import add, conjunction, conjuncts, const_of, flat, floordiv, is_exact, is_true, sub
from .footprint import Span, loop_span
from .unroll_loop import leaves

BUDGET = 2_048  # nodes of a loop that may be copied

Bound = int | Expr


def loop_partition(func: PrimFunc, constant: bool = True) -> PrimFunc:
    """A loop whose variable decides a guard becomes up to three: before, main part, after.

    Looked at are comparisons like those of an imperfect split, ``i_0 * 4 + i_1 < n``: the main part is
    where they hold for every ``i_1``.  Conditions that hold for less than half of the loop stay.
    ``constant=False`` leaves loops of constant extent whole.
    """
    return func.replace(body=_visit(func.body, frozenset(), constant))


def _visit(n: Any, outer: frozenset[Var], constant: bool) -> Any:
    if not isinstance(n, Stmt):
        return n
    if type(n) is For:
        body = _visit(n.body, outer | {n.loop_var}, constant)
        n = n if body is n.body else n.replace(body=body)
        wanted = n.kind in ("serial", "parallel", "vectorized") and (constant or const_of(n.extent) is None)
        return _cut(n, outer) if wanted and not leaves(n.body) else n
    return flat(n.map_children(lambda c: _visit(c, outer, constant)))


class _Cut:
    """The bounds that the guards of one loop ask for, and the guards that then hold."""

    def __init__(self, loop: For, outer: frozenset[Var]) -> None:
        self.loop = loop
        self.outer = outer
        self.low: list[Bound] = []
        self.high: list[Bound] = []  # exclusive
        self.held: set[Expr] = set()

    def look(self, n: Any, inner: Mapping[Var, Span | None]) -> None:
        t = type(n)
        if t is For:
            self.look(n.min, inner)
            self.look(n.extent, inner)
            self.look(n.body, {**inner, n.loop_var: loop_span(n)})
            return
        if t is LetStmt:
            inner = {**inner, n.var: None}
        if t is IfThenElse:
            self.guards(n.condition, inner)
        elif t is Call and n.op == "if_then_else":
            self.guards(n.args[0], inner)
        for c in n.children():
            self.look(c, inner)

    def guards(self, condition: Expr, inner: Mapping[Var, Span | None]) -> None:
        for c in conjuncts(condition):
            if type(c) in _SIGNS and is_exact(c):
                self.guard(c, inner)

    def guard(self, c: Any, inner: Mapping[Var, Span | None]) -> None:
        """Take up ``c``, as ``form >= 0``, if this loop decides it."""
        var = self.loop.loop_var
        a, b = to_linear(c.a), to_linear(c.b)
        if a is None or b is None:
            return
        sign, shift = _SIGNS[type(c)]
        form = (a - b).scale(sign).shift(shift)
        k = form.coefficient(var)
        if k == 0:
            return
        rest: dict[Any, int] = {}
        least = reach = 0
        for atom, factor in form.terms.items():
            if atom is var:
                continue
            if atom_mentions(atom, (var,)) or atom_mentions(atom, self.outer):
                return
            if isinstance(atom, Var) and atom in inner:
                span = inner[atom]
                if span is None:
                    return
                ends = (factor * span[0], factor * span[1])
                least += min(ends)
                reach += max(ends) - min(ends)
            elif atom_mentions(atom, inner):
                return
            else:
                rest[atom] = factor
        if reach >= abs(k):
            return
        held = Linear(rest, form.const + least)
        dtype = var.dtype
        if k > 0:
            bound = _quotient(held.scale(-1).shift(k - 1), k, dtype)
        else:
            bound = _add_one(_quotient(held, -k, dtype), dtype)
        if self.worth(bound, k > 0):
            (self.low if k > 0 else self.high).append(bound)
            self.held.add(c)

    def worth(self, bound: Bound, low: bool) -> bool:
        """Whether the guard holds in at least half of the loop, as far as that is known."""
        start, extent = const_of(self.loop.min), const_of(self.loop.extent)
        if start is None or extent is None or not isinstance(bound, int):
            return True
        return ((start + extent - bound) if low else (bound - start)) * 2 >= extent

    def constant(self) -> bool:
        return all(isinstance(b, int) for b in (*self.low, *self.high))


# A comparison ``a ? b`` as ``sign * (a - b) + shift >= 0``.
_SIGNS: dict[type, tuple[int, int]] = {LT: (-1, -1), LE: (-1, 0), GT: (1, -1), GE: (1, 0)}


def _quotient(form: Linear, divisor: int, dtype: str) -> Bound:
    if not form.terms:
        return form.const // divisor
    return floordiv(form.to_expr(dtype), const_int(divisor, dtype))


def _add_one(b: Bound, dtype: str) -> Bound:
    return b + 1 if isinstance(b, int) else add(b, const_int(1, dtype))


def _cut(loop: For, outer: frozenset[Var]) -> Stmt:
    found = _Cut(loop, outer)
    found.look(loop.body, {})
    if not found.held:
        return loop
    for size, _ in enumerate(walk(loop.body)):
        if size > BUDGET:
            return loop
    dtype = loop.loop_var.dtype
    start, extent = const_of(loop.min), const_of(loop.extent)
    numbers = start is not None and extent is not None and found.constant()
    if not numbers:
        if loop.kind == "vectorized":
            return loop  # a vector needs a known length
        end = add(loop.min, loop.extent)
        first = loop.min
        if found.low:
            first = Min(end, _limit(Max, loop.min, found.low, dtype))
        last = Max(first, _limit(Min, end, found.high, dtype)) if found.high else end
        return _parts(loop, found, loop.min, first, last, end)
    assert start is not None and extent is not None
    stop = start + extent
    low = max([start, *[b for b in found.low if isinstance(b, int)]])
    high = min([stop, *[b for b in found.high if isinstance(b, int)]])
    if (high - low) * 2 < extent or high <= low:
        return loop
    at = [const_int(x, dtype) for x in (start, low, high, stop)]
    return _parts(loop, found, at[0], at[1], at[2], at[3])


def _limit(kind: type[Max] | type[Min], outermost: Expr, bounds: list[Bound], dtype: str) -> Expr:
    out = outermost
    for b in bounds:
        out = kind(out, _expr(b, dtype))
    return out


def _expr(b: Bound, dtype: str) -> Expr:
    return const_int(b, dtype) if isinstance(b, int) else b


def _parts(loop: For, found: _Cut, start: Expr, low: Expr, high: Expr, stop: Expr) -> Stmt:
    main = loop.replace(min=low, extent=_length(low, high), body=_without(loop.body, found.held))
    parts: list[Stmt] = []
    if found.low and _length_is_open(start, low):
        parts.append(_rest(loop, start, low))
    parts.append(main)
    if (found.high or found.low) and _length_is_open(high, stop):
        parts.append(_rest(loop, high, stop))
    return seq(*parts)


def _length(a: Expr, b: Expr) -> Expr:
    return sub(b, a)


def _length_is_open(a: Expr, b: Expr) -> bool:
    return const_of(sub(b, a)) != 0


def _rest(loop: For, a: Expr, b: Expr) -> For:
    new = fresh_copy(loop)
    length = _length(a, b)
    # One iteration is not worth waking the other threads.
    kind = "serial" if const_of(length) == 1 else new.kind
    return new.replace(min=a, extent=length, kind=kind)


def _without(n: Any, held: set[Expr]) -> Any:
    """``n`` with the conditions in ``held`` taken as true."""
    new = n.map_children(lambda c: _without(c, held))
    t = type(new)
    if t is IfThenElse:
        condition = _reduced(new.condition, n.condition, held)
        if condition is None:
            return new
        return new.then_case if is_true(condition) else new.replace(condition=condition)
    if t is Call and new.op == "if_then_else":
        condition = _reduced(new.args[0], n.args[0], held)
        if condition is None:
            return new
        return new.args[1] if is_true(condition) else new.replace(args=(condition, *new.args[1:]))
    return flat(new)


def _reduced(new: Expr, old: Expr, held: set[Expr]) -> Expr | None:
    """The condition without the parts that hold; None if there is none of them."""
    parts = conjuncts(old)
    if not any(p in held for p in parts):
        return None
    now = conjuncts(new)
    if len(now) != len(parts):
        return None
    kept = [b for a, b in zip(parts, now, strict=True) if a not in held]
    return conjunction(kept) if kept else TRUE
