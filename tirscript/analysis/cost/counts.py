"""Counts: whole numbers, or polynomials of sizes that are not known yet, exact or as a bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import comb, lcm
from typing import Any

from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.arith.linear import AtomKey, atom_expr, factors, to_linear
from tirscript.diagnostics import TirscriptError
from tirscript.ir import hooks
from tirscript.ir.expr import Expr, Var
from tirscript.ir.visitor import free_vars

EXACT, AT_MOST, AT_LEAST = 0, 1, 2
_MARKS = {EXACT: "", AT_MOST: "<= ", AT_LEAST: ">= ", AT_MOST | AT_LEAST: "~ "}

Monomial = frozenset[tuple[AtomKey, int]]
_ONE: Monomial = frozenset()


class Count:
    """A number of things: a polynomial of sizes.

    ``bound`` says whether it is exact (``EXACT``), no less than the true number (``AT_MOST``), no more
    (``AT_LEAST``), or neither (both).

    >>> n = Var("n")
    >>> c = Count.of(n) * n * 2 + 3
    >>> c, c.value(n=10), c.is_const
    (2*n**2 + 3, 203, False)
    """

    __slots__ = ("bound", "terms")

    def __init__(self, terms: Mapping[Monomial, Fraction], bound: int = EXACT) -> None:
        self.terms = terms
        self.bound = bound

    @staticmethod
    def of(value: int | Fraction | Expr, bound: int = EXACT) -> Count:
        """The count that a number or an exact integer expression is."""
        if isinstance(value, (int, Fraction)):
            return Count({_ONE: Fraction(value)} if value else {}, bound)
        lin = to_linear(value)
        if lin is None:
            raise ValueError("an expression of data is no count")
        terms = {frozenset(factors(atom).items()): Fraction(k) for atom, k in lin.terms.items()}
        if lin.const:
            terms[_ONE] = Fraction(lin.const)
        return Count(terms, bound)

    # ---- looking

    @property
    def is_const(self) -> bool:
        """Whether no size is left open."""
        return not self.terms or (len(self.terms) == 1 and _ONE in self.terms)

    @property
    def const(self) -> int | None:
        """The number, where it is one."""
        if not self.is_const:
            return None
        return int(self.terms.get(_ONE, 0))

    @property
    def exact(self) -> bool:
        return self.bound == EXACT

    def __int__(self) -> int:
        found = self.const
        if found is None:
            raise TirscriptError(
                f"{self} depends on sizes that are not known",
                code="symbolic-count",
                hint="say them: count.value(" + ", ".join([f"{v.name}=..." for v in self.sizes()]) + ")",
            )
        return found

    def __float__(self) -> float:
        return float(int(self))

    def sizes(self) -> tuple[Var, ...]:
        """The variables that it depends on."""
        found: dict[Var, None] = {}
        for m in self.terms:
            for atom, _ in m:
                for v in sorted(free_vars(atom_expr(atom)), key=lambda v: v.name):
                    found[v] = None
        return tuple(found)

    def value(self, sizes: Mapping[Any, int] | None = None, /, **named: int) -> int:
        """The number for given sizes, by variable or by name."""
        given = {**(sizes or {}), **named}
        values: dict[Var, int] = {}
        for v in self.sizes():
            known = given.get(v, given.get(v.name))
            if known is None:
                raise TirscriptError(f"the size `{v.name}` is not given", code="missing-size")
            values[v] = int(known)
        total = Fraction(0)
        for m, k in self.terms.items():
            for atom, power in m:
                k *= _value(atom, values) ** power
            total += k
        return int(total)

    def mentions(self, v: Var) -> bool:
        return any(
            atom is v or (not isinstance(atom, Var) and v in free_vars(atom_expr(atom)))
            for m in self.terms
            for atom, _ in m
        )

    # ---- arithmetic

    def __add__(self, other: Count | int) -> Count:
        b = _count(other)
        terms = dict(self.terms)
        for m, k in b.terms.items():
            new = terms.get(m, Fraction(0)) + k
            if new:
                terms[m] = new
            else:
                terms.pop(m, None)
        return Count(terms, self.bound | b.bound)

    __radd__ = __add__

    def __neg__(self) -> Count:
        return self._scaled(Fraction(-1))

    def __sub__(self, other: Count | int) -> Count:
        """The difference; only what is exact may be taken away from a bound."""
        return self + (-_count(other))

    def __mul__(self, other: Count | int) -> Count:
        b = _count(other)
        if (known := b.terms.get(_ONE)) is not None and len(b.terms) == 1:
            return Count({m: k * known for m, k in self.terms.items()}, self.bound | b.bound)
        terms: dict[Monomial, Fraction] = {}
        for m, k in self.terms.items():
            powers = dict(m)
            for n, j in b.terms.items():
                both = dict(powers)
                for atom, p in n:
                    both[atom] = both.get(atom, 0) + p
                key = frozenset(both.items())
                new = terms.get(key, Fraction(0)) + k * j
                if new:
                    terms[key] = new
                else:
                    terms.pop(key, None)
        if not self.terms or not b.terms:
            return ZERO  # nothing, however it is bounded
        return Count(terms, self.bound | b.bound)

    __rmul__ = __mul__

    def _scaled(self, k: Fraction) -> Count:
        return Count({m: c * k for m, c in self.terms.items()}, self.bound)

    def bounded(self, how: int) -> Count:
        """The same number, known to be no more than a bound in that way."""
        return self if self.bound | how == self.bound else Count(self.terms, self.bound | how)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.bound == EXACT and self.const == other
        return isinstance(other, Count) and self.bound == other.bound and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.bound))

    # ---- sums

    def total(self, v: Var, low: Count, high: Count) -> Count | None:
        """The sum for ``v`` from ``low`` to ``high - 1``, where it is a polynomial of ``v``.

        >>> i, n = Var("i"), Var("n")
        >>> Count.of(i).total(i, ZERO, Count.of(n))
        (n**2 - n)/2
        """
        by_power: dict[int, Count] = {}
        for m, k in self.terms.items():
            power = 0
            rest: dict[AtomKey, int] = {}
            for atom, p in m:
                if atom is v:
                    power = p
                elif not isinstance(atom, Var) and v in free_vars(atom_expr(atom)):
                    return None
                else:
                    rest[atom] = p
            part = Count({frozenset(rest.items()): k})
            by_power[power] = by_power.get(power, ZERO) + part
        out = ZERO
        for power, part in by_power.items():
            out = out + part * (_faulhaber(power, high) - _faulhaber(power, low))
        return out.bounded(self.bound | low.bound | high.bound)

    # ---- text

    def __str__(self) -> str:
        return _MARKS[self.bound] + self.formula()

    __repr__ = __str__

    def formula(self) -> str:
        """The number or polynomial alone."""
        if self.is_const:
            return str(self.const)
        below = lcm(*[k.denominator for k in self.terms.values()])
        parts = [(_product(m), k * below) for m, k in self.terms.items()]
        parts.sort(key=lambda p: (-_degree(p[0]), "*".join(p[0])))
        text = ""
        for names, k in parts:
            size = abs(int(k))
            body = "*".join(([str(size)] if size != 1 or not names else []) + names)
            text += (" - " if k < 0 else " + ") + body if text else ("-" if k < 0 else "") + body
        if below == 1:
            return text
        return f"({text})/{below}" if len(parts) > 1 else f"{text}/{below}"


ZERO = Count({})
ONE = Count({_ONE: Fraction(1)})


def _count(value: Count | int) -> Count:
    return value if isinstance(value, Count) else Count.of(value)


def _value(atom: AtomKey, values: Mapping[Var, int]) -> int:
    try:
        return evaluate(atom_expr(atom), values)
    except CannotEvaluate:
        raise TirscriptError(f"{_name(atom)} has no value for these sizes", code="no-value") from None


def _product(m: Monomial) -> list[str]:
    return sorted([_name(a) if p == 1 else f"{_name(a)}**{p}" for a, p in m], key=lambda t: (t[0] == "(", t))


def _degree(names: list[str]) -> int:
    return sum([int(n.rpartition("**")[2]) if n[-1:].isdigit() and "**" in n else 1 for n in names])


def _name(atom: AtomKey) -> str:
    e = atom_expr(atom)
    if isinstance(e, Var):
        return e.name
    text = str(hooks.call("script", e)).replace("T.min(", "min(").replace("T.max(", "max(")
    return text if text.endswith(")") and text[:4] in ("min(", "max(") else f"({text})"


@lru_cache(maxsize=32)
def _bernoulli(n: int) -> Fraction:
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


def _faulhaber(p: int, end: Count) -> Count:
    """The sum of ``i**p`` for ``i`` from 0 to ``end - 1``, as a polynomial of ``end``."""
    powers: list[Count] = [ONE]
    for _ in range(p + 1):
        powers.append(powers[-1] * end)
    out = ZERO
    for k in range(p + 1):
        factor = Fraction(comb(p + 1, k)) * _bernoulli(k) / (p + 1)
        out = out + powers[p + 1 - k]._scaled(factor)
    return out


def largest(a: Count, b: Count) -> Count:
    """The larger of two, or their sum as a bound where sizes decide."""
    if a == b:
        return a
    if a.is_const and b.is_const:
        more = a if int(a) >= int(b) else b
        return more.bounded(a.bound | b.bound)
    difference = a - b
    if all(k >= 0 for k in difference.terms.values()):
        return a.bounded(b.bound)  # sizes are not negative
    if all(k <= 0 for k in difference.terms.values()):
        return b.bounded(a.bound)
    return (a + b).bounded(AT_MOST)


__all__ = ["AT_LEAST", "AT_MOST", "EXACT", "ONE", "ZERO", "Count", "largest"]
