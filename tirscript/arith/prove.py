"""Is a linear form at least 0?  By constant bounds, then by adding up what is known of its atoms."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import TYPE_CHECKING, Any

from tirscript.ir.expr import FloorDiv, FloorMod, Max, Min, Select, Var

from .bounds import range_of_linear
from .linear import Atom, AtomKey, Linear, factors, multiply

if TYPE_CHECKING:
    from .facts import Facts

DEPTH = 6
BUDGET = 160


def nonnegative(cx: Facts, lin: Linear) -> bool:
    """Whether ``lin >= 0`` is proved in the context."""
    if not lin.terms:
        return lin.const >= 0
    low, high = range_of_linear(cx, lin)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if not cx.facts and all(type(a) is Var for a in lin.terms):
        # Nothing but constant bounds is known of variables.
        return len(lin.terms) > 1 and _rounds_up(cx, lin)
    return _Search(cx).prove(lin, DEPTH)


def _rounds_up(cx: Facts, lin: Linear) -> bool:
    """``g * x + c >= 0`` iff ``x + floor(c / g) >= 0``."""
    g = gcd(*lin.terms.values())
    if g == 1:
        return False
    low, _ = range_of_linear(cx, Linear({a: k // g for a, k in lin.terms.items()}, lin.const // g))
    return low is not None and low >= 0


class _Search:
    """Depth-first: subtract a fact that is at least 0, so that an atom without a useful bound goes."""

    def __init__(self, cx: Facts) -> None:
        self.cx = cx
        self.left = BUDGET
        self.failed: dict[Any, int] = {}  # with which depth
        self.known: dict[Atom, list[Linear]] = {}  # what the structure of an atom says

    def prove(self, lin: Linear, depth: int) -> bool:
        if lin.terms:
            g = gcd(*lin.terms.values())
            if g > 1:
                lin = Linear({a: k // g for a, k in lin.terms.items()}, lin.const // g)
        low, high = range_of_linear(self.cx, lin)
        if low is not None and low >= 0:
            return True
        if depth == 0 or self.left <= 0 or (high is not None and high < 0):
            return False
        key = lin.key()
        if self.failed.get(key, 0) >= depth:
            return False
        self.failed[key] = depth  # while it is looked into, and if nothing is found
        self.left -= 1 + len(lin.terms) // 4
        if self._search(lin, depth):
            self.failed.pop(key, None)
            return True
        return False

    def _search(self, lin: Linear, depth: int) -> bool:
        for atom, k in lin.terms.items():
            if isinstance(atom, Atom):
                split = self.cases(lin, atom, k)
                if split is not None:
                    return all(self.prove(case, depth - 1) for case in split)
        for atom, k in list(lin.terms.items()):
            for fact in self.facts(atom):
                c = fact.terms.get(atom, 0)
                # lin = rest + times * fact, with times > 0: proved if rest >= 0.
                if c == 0 or (c > 0) != (k > 0):
                    continue
                if k % c == 0:
                    rest = lin.plus(fact, -(k // c))
                else:
                    # Of a multiple of |c| it is enough that it is larger than -|c|.
                    rest = lin.scale(abs(c)).shift(abs(c) - 1).plus(fact, -abs(k))
                if len(rest.terms) > len(lin.terms) + 2:
                    continue
                if self.prove(rest, depth - 1):
                    return True
                if self.left <= 0:
                    return False
        return False

    def cases(self, lin: Linear, atom: Atom, k: int) -> list[Linear] | None:
        """The forms that must all hold where the atom is one of several values."""
        kind = atom[0]
        if (kind is Min and k > 0) or (kind is Max and k < 0):
            values = atom.parts()
        elif kind is Select or kind == "if_then_else":
            values = atom.parts()[1:]
        else:
            return None
        rest = lin.plus(Linear({atom: 1}), -k)
        return [rest.plus(v, k) for v in values if v is not None] if None not in values else None

    def facts(self, atom: AtomKey) -> Iterator[Linear]:
        """Linear forms that are at least 0 and hold the atom."""
        yield from self.cx.facts_about(atom)
        if isinstance(atom, Atom):
            known = self.known.get(atom)
            if known is None:
                known = self.known[atom] = list(self.structural(atom))
            yield from known

    def structural(self, atom: Atom) -> Iterator[Linear]:
        kind = atom[0]
        one = Linear({atom: 1})
        if kind is FloorDiv or kind is FloorMod:
            a, b = atom.parts()
            if a is None or b is None or not self.positive(b):
                return
            if kind is FloorDiv:
                scaled = multiply(one, b)
                yield a - scaled
                yield (scaled + b - a).shift(-1)
            else:
                yield (b - one).shift(-1)
                yield one
                if self.prove(a, 1):
                    yield a - one
        elif kind is Min or kind is Max:
            for p in atom.parts():
                if p is not None:
                    yield p - one if kind is Min else one - p
        elif kind == "*":
            yield from self.products(atom)

    def positive(self, b: Linear) -> bool:
        if b.is_const:
            return b.const > 0
        return self.prove(b.shift(-1), 2)

    def products(self, atom: Atom) -> Iterator[Linear]:
        """``(hi - v) * rest`` and ``(v - lo) * rest`` where ``rest >= 0``, for each factor ``v``."""
        powers = factors(atom)
        for v, power in powers.items():
            rest = Linear({}, 1)
            for other, n in powers.items():
                for _ in range(n - 1 if other == v else n):
                    rest = multiply(rest, Linear({other: 1}))
            about = [f for f in self.cx.facts_about(v) if abs(f.terms.get(v, 0)) == 1]
            if isinstance(v, Atom):
                about += [f for f in self.structural(v) if abs(f.terms.get(v, 0)) == 1]
            low, high = self.cx.atom_interval(v)
            if low is not None:
                about.append(Linear({v: 1}, -low))
            if high is not None:
                about.append(Linear({v: -1}, high))
            if power > 2 or not about or not self.prove(rest, 2):
                continue
            for f in about:
                # Long products cost more than they say.
                self.left -= len(f.terms) // 3
                if self.left <= 0:
                    return
                yield multiply(rest, f)


__all__ = ["nonnegative"]
