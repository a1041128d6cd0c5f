"""How many iterations of a nest of loops satisfy conditions: exact where the loops are affine.

Loops that conditions or bounds tie together are counted together, the others multiply.  What is counted
together is a formula where there is one (a rectangle, a triangle, digits of a number below a bound), or
counted by running through the box of numbers.  Anything else is counted without its conditions, as a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tirscript.arith.analyzer import Analyzer
from tirscript.arith.exact import is_exact
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir import ops
from tirscript.ir.expr import And, Call, Expr, IntImm, Min, Range, Var, const_int
from tirscript.ir.visitor import free_vars

from ..region import nonnegative
from . import grid
from .counts import AT_LEAST, AT_MOST, EXACT, ONE, ZERO, Count

BOX = 1 << 22  # points that are run through


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A variable that takes the values ``min, min + step, ...`` below ``min + extent``."""

    var: Var
    min: Expr
    extent: Expr
    step: int = 1

    def number(self) -> Expr:
        """How often it runs, where that is not negative."""
        if self.step == 1:
            return self.extent
        return (self.extent + (self.step - 1)) // self.step


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Loops, outermost first, and what must hold."""

    loops: tuple[Loop, ...] = ()
    guards: tuple[Expr, ...] = ()
    bound: int = EXACT  # what else decides

    def inside(self, loop: Loop) -> Domain:
        return Domain((*self.loops, loop), self.guards, self.bound)

    def where(self, *guards: Expr) -> Domain:
        return Domain(self.loops, (*self.guards, *guards), self.bound) if guards else self

    def bounded(self, how: int) -> Domain:
        return Domain(self.loops, self.guards, self.bound | how)


def analyzer_of(loops: Sequence[Loop], inside: int | None = None) -> Analyzer:
    """What is known of the variables of loops, or of the first ``inside`` of them; sizes are not negative."""
    cx = Analyzer()
    known = {x.var for x in loops}
    for x in loops:
        if type(x.extent) is IntImm and type(x.min) is IntImm:
            continue
        for size in free_vars(x.extent) | free_vars(x.min):
            if size not in known and size.exact and size.dtype != "handle":
                known.add(size)
                cx.bind(size, Range(const_int(0, size.dtype), const_int(2**31 - 1, size.dtype)))
    for x in loops[:inside]:
        cx.bind(x.var, Range(x.min, x.extent))
    return cx


def conjuncts(e: Expr) -> list[Expr]:
    """The conditions that must all hold."""
    parts: list[Expr] = []
    stack = [e]
    while stack:
        n: Any = stack.pop()
        if type(n) is And:
            stack += [n.b, n.a]
        elif type(n) is Call and n.op == "likely":
            stack.append(n.args[0])
        elif not (type(n) is IntImm and n.value):
            parts.append(n)
    return parts


def count_points(domain: Domain) -> Count:
    """The number of iterations.

    >>> i, j, n = Var("i"), Var("j"), Var("n")
    >>> zero, four = const_int(0), const_int(4)
    >>> nest = (Loop(i, zero, (n + 3) // 4), Loop(j, zero, four))
    >>> count_points(Domain(nest, (i * 4 + j < n,)))
    n
    """
    cx = analyzer_of(domain.loops)
    bound = domain.bound
    guards: list[Expr] = []
    for g in domain.guards:
        for part in conjuncts(g):
            if not is_exact(part):
                bound = AT_MOST  # data decides
                continue
            new = cx.simplify(part)
            if type(new) is IntImm:
                if not new.value:
                    return ZERO
                continue
            guards += conjuncts(new)
    out = ONE
    for loops, tied in _components(domain.loops, guards):
        out = out * _component(loops, tied)
        if not out.terms:
            return ZERO
    return out.bounded(bound)


def _components(loops: Sequence[Loop], guards: Sequence[Expr]) -> list[tuple[list[Loop], list[Expr]]]:
    """Loops that belong together, with their conditions; conditions on sizes alone stand by themselves."""
    mine = {x.var for x in loops}
    groups: list[tuple[set[Var], list[Expr]]] = [({x.var}, []) for x in loops]
    links = [({x.var} | ((free_vars(x.min) | free_vars(x.extent)) & mine), None) for x in loops]
    links += [(set(free_vars(g) & mine), g) for g in guards]  # type: ignore[misc]
    for variables, g in links:
        touched = [p for p in groups if p[0] & variables]
        rest = [p for p in groups if not p[0] & variables]
        joined: tuple[set[Var], list[Expr]] = (set(variables), [] if g is None else [g])
        for names, conditions in touched:
            joined[0].update(names)
            joined[1].extend(conditions)
        groups = [*rest, joined]
    return [([x for x in loops if x.var in names], conditions) for names, conditions in groups]


def _component(loops: list[Loop], guards: list[Expr]) -> Count:
    if not loops:
        return ONE.bounded(AT_MOST)  # a condition on sizes alone
    if len(loops) == 1 and not guards:
        return length(loops[0], analyzer_of(loops, 0))
    if not guards:
        found = _polynomial(loops)
        if found is not None:
            return found
    elif len(guards) == 1:
        # Not under what holds inside the loops: where they are empty, nothing does.
        found = _digits(loops, guards[0], analyzer_of(loops, 0))
        if found is not None:
            return found
    by_hand = grid.count(loops, guards, BOX)
    if by_hand is not None:
        return Count.of(by_hand)
    if guards:
        return _component(loops, []).bounded(AT_MOST)
    return _box(loops, analyzer_of(loops))


def length(x: Loop, cx: Analyzer) -> Count:
    """How often a loop runs, by what is known of the variables outside."""
    number = x.number()
    if type(number) is not IntImm:
        number = cx.simplify(number)
    if type(number) is IntImm:
        return Count.of(max(number.value, 0))
    if cx.can_prove(number >= 0):
        return Count.of(number)
    return Count.of(ops.maximum(number, const_int(0, number.dtype)))


def _polynomial(loops: list[Loop]) -> Count | None:
    """The sum over loops without conditions, innermost first."""
    out = ONE
    for n in range(len(loops) - 1, -1, -1):
        x = loops[n]
        if any(out.mentions(other.var) for other in loops[n + 1 :]):
            return None
        # Only the loops around it say what its length may be: inside, it is not empty.
        size = length(x, analyzer_of(loops, n))
        if not out.mentions(x.var):
            out = out * size
            continue
        if x.step != 1:
            return None
        if any(not isinstance(a, Var) for m in size.terms for a, _ in m):
            return None
        low = to_linear(x.min)
        if low is None:
            return None
        start = Count.of(x.min)
        total = out.total(x.var, start, start + size)
        if total is None:
            return None
        out = total
    return out


def _digits(loops: list[Loop], guard: Expr, cx: Analyzer) -> Count | None:
    """``i_0 * 4 + i_1 < n``: digits of a number, each of them once, below a bound."""
    forms = nonnegative(guard)
    if len(forms) != 1 or any(x.step != 1 for x in loops):
        return None
    form = forms[0]  # at least 0
    variables = {x.var: x for x in loops}
    if any(v not in form.terms for v in variables):
        return None
    # bound - sum(coefficient * digit) >= 0
    digits = sorted([(-form.coefficient(v), x) for v, x in variables.items()], key=lambda d: d[0])
    if digits[0][0] != 1:
        return None
    rest = Linear({a: k for a, k in form.terms.items() if a not in variables}, form.const)
    if rest.mentions(variables):
        return None
    size: Expr = const_int(1)
    for n, (k, x) in enumerate(digits):
        if type(x.min) is not IntImm or x.min.value or free_vars(x.extent) & variables.keys():
            return None
        if n < len(digits) - 1:
            if type(x.extent) is not IntImm or x.extent.value <= 0 or digits[n + 1][0] != k * x.extent.value:
                return None
        else:
            size = x.extent * k
    below = rest.shift(1).to_expr(digits[-1][1].var.dtype)  # the first number that is too large
    if cx.can_prove(below <= size):
        smaller = cx.simplify(below)
    elif cx.can_prove(size <= below):
        smaller = cx.simplify(size)
    else:
        smaller = cx.simplify(ops.minimum(below, size))
    if not cx.can_prove(smaller >= 0):
        smaller = cx.simplify(ops.maximum(smaller, const_int(0, smaller.dtype)))
    return Count.of(smaller)


def _box(loops: list[Loop], cx: Analyzer) -> Count:
    """No more than the product of the greatest lengths."""
    out = ONE
    for n, x in enumerate(loops):
        found = [greatest(p, loops[:n]) for p in _alternatives(x.number())]
        known = [p for p in found if p is not None]
        if known:
            # Of a minimum, each part is a bound; the constant ones say most.
            constants = [p for p in known if type(p) is IntImm]
            best = min(constants, key=lambda p: p.value) if constants else known[0]
            out = out * length(Loop(x.var, x.min, best), analyzer_of(loops, 0))
            continue
        most = cx.const_int_bound(x.number()).max_value
        if most < 2**30:
            out = out * int(most)
        else:
            return out.bounded(AT_MOST | AT_LEAST)
    return out.bounded(AT_MOST)


def _alternatives(e: Expr) -> list[Expr]:
    return [*_alternatives(e.a), *_alternatives(e.b)] if type(e) is Min else [e]


def greatest(e: Expr, outer: Sequence[Loop]) -> Expr | None:
    """A bound of a linear form by what the loops outside reach."""
    lin = to_linear(e)
    if lin is None:
        return None
    for x in reversed(outer):
        k = lin.coefficient(x.var)
        if k == 0:
            if lin.mentions((x.var,)):
                return None
            continue
        end = to_linear(x.min + x.extent - 1 if k > 0 else x.min)
        if end is None:
            return None
        lin = Linear({a: c for a, c in lin.terms.items() if a is not x.var}, lin.const).plus(end, k)
    return Analyzer().simplify(lin.to_expr(e.dtype))


__all__ = ["BOX", "Domain", "Loop", "analyzer_of", "conjuncts", "count_points", "greatest", "length"]
