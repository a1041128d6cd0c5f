"""Iterator maps: do loops visit each tuple of axis values at most once?

The values are sums of digits of the loops: ``i * 16 + j``, ``f // n % m``.  A sum of which each step is
larger than everything below it (a mixed radix, gaps allowed) gives back its digits, digits give back
what they are digits of, and where all loops come back the map is injective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import (
    TRUE,
    Add,
    And,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Range,
    Var,
    const_int,
)
from tirscript.ir.visitor import substitute, walk

from .analyzer import Analyzer
from .iter_box import box_of, cut, fills, narrowed, width_of
from .linear import Atom, AtomKey, Linear, atom_mentions, factors, multiply, to_linear
from .rules.logic import parts as conjunction_parts


@dataclass(frozen=True, slots=True)
class IterMap:
    """An injective map from loops to axis values.

    ``bijective`` says that the values fill a box: ``mins`` and ``extents`` are its sides, in normal form
    (None where only injectivity is known).
    """

    bijective: bool
    mins: tuple[Linear | None, ...]
    extents: tuple[Linear | None, ...]

    @property
    def injective(self) -> bool:
        return True


def detect_iter_map(
    values: Sequence[Expr],
    ranges: Mapping[Var, Range],
    predicate: Expr = TRUE,
    analyzer: Analyzer | None = None,
) -> IterMap | None:
    """The map from the variables of ``ranges`` to ``values``, where the predicate holds; None where it
    is not seen to be injective.

    >>> from tirscript.ir.expr import const_int
    >>> i, j = Var("i"), Var("j")
    >>> box = {i: Range(const_int(0), const_int(8)), j: Range(const_int(0), const_int(4))}
    >>> detect_iter_map([i * 4 + j], box).bijective, detect_iter_map([i * 3 + j], box)
    (True, None)
    """
    cx = Analyzer() if analyzer is None else analyzer
    with cx.scope():
        for v, r in ranges.items():
            cx.bind(v, r)
        if predicate is not TRUE:
            cx.assume(predicate)
        forms = [cx.linear(v) for v in values]
        sums = [f for f in forms if f is not None]
        if len(sums) != len(forms):
            return None
        if not Decoder(cx, ranges).decodes(sums):
            fused = fuse(values, ranges)
            if fused is None:
                return None
            new_values = [substitute(v, fused[0]) for v in values]
            return detect_iter_map(new_values, fused[1], substitute(predicate, fused[0]), analyzer)
    with cx.scope():
        # The box is that of the map without the predicate, cut off where the predicate says.
        parts: list[Expr] = []
        if predicate is not TRUE:
            with cx.scope():
                for v, r in ranges.items():
                    cx.bind(v, r)
                parts = [p for p in conjunction_parts(predicate, And) if cx.decided(p) is not True]
            ranges, parts = narrowed(cx, ranges, parts)
        for v, r in ranges.items():
            cx.bind(v, r)
        again = [cx.linear(v) for v in values]
        sums = [f for f in again if f is not None]
        mins, extents = box_of(cx, sums, ranges)
        full = all(e is not None for e in extents) and fills(cx, extents, ranges)
        if full and parts:
            full = cut(cx, sums, mins, extents, parts, ranges)
        if not full and (fused := fuse(values, ranges)) is not None:
            # Of one loop the digits may be seen to fill a box where those of several are not.
            new_values = [substitute(v, fused[0]) for v in values]
            found = detect_iter_map(new_values, fused[1], substitute(predicate, fused[0]), analyzer)
            if found is not None and found.bijective:
                return found
        if not full and predicate is not TRUE:
            mins, extents = [None] * len(mins), [None] * len(extents)
        return IterMap(full, tuple(mins), tuple(extents))


def fuse(
    values: Sequence[Expr], ranges: Mapping[Var, Range]
) -> tuple[dict[Var, Expr], dict[Var, Range]] | None:
    """One loop in place of several whose sum in mixed radix is taken apart elsewhere than it was put
    together: of ``(i * 16 + j) // 24``, where ``j < 16``, it is ``f``, with ``i`` as ``f // 16`` and ``j`` as
    ``f % 16``.  What the loops are in terms of the new ones, and the new ranges; None where there is no such
    sum.
    """
    best: list[tuple[Var, int, int, int]] = []
    for value in values:
        for n in walk(value):
            if type(n) is FloorDiv or type(n) is FloorMod:
                inside = to_linear(n.a)
                digits = None if inside is None else _mixed_radix(inside, ranges)
                if digits is not None and len(digits) > max(len(best), 1):
                    best = digits
    if not best:
        return None
    total = best[-1][1] * best[-1][3]
    dtype = best[0][0].dtype
    if any(v.dtype != dtype for v, *_ in best) or total > dtype_bounds(dtype)[1]:
        return None
    fused = Var("_".join([v.name for v, *_ in reversed(best)]), dtype)
    loops: dict[Var, Expr] = {}
    for v, weight, low, extent in best:
        digit: Expr = fused if weight == 1 else FloorDiv(fused, const_int(weight, dtype))
        if weight * extent != total:
            digit = FloorMod(digit, const_int(extent, dtype))
        loops[v] = digit if low == 0 else Add(digit, const_int(low, dtype))
    for v, r in ranges.items():
        if v not in loops and type(r.extent) is IntImm and r.extent.value == 1:
            loops[v] = r.min
    box = {v: r for v, r in ranges.items() if v not in loops}
    return loops, {**box, fused: Range(const_int(0, dtype), const_int(total, dtype))}


def _mixed_radix(lin: Linear, ranges: Mapping[Var, Range]) -> list[tuple[Var, int, int, int]] | None:
    """The loops of a sum, the innermost first, with weights (a common factor taken out), first values and
    extents, where each weight is the product of the extents below."""
    terms: list[tuple[Var, int]] = []
    for atom, k in lin.terms.items():
        if not isinstance(atom, Var) or atom not in ranges:
            if atom_mentions(atom, ranges):
                return None
            continue
        if k <= 0:
            return None
        terms.append((atom, k))
    terms.sort(key=lambda t: t[1])
    out: list[tuple[Var, int, int, int]] = []
    weight, unit = 1, 0
    for v, k in terms:
        low, extent = ranges[v].min, ranges[v].extent
        if type(low) is not IntImm or type(extent) is not IntImm or extent.value < 1:
            return None
        if extent.value == 1:
            continue
        unit = unit or k
        if k != weight * unit:
            return None
        out.append((v, weight, low.value, extent.value))
        weight *= extent.value
    return out


class Decoder:
    """What is known of the loops when the values are known."""

    def __init__(self, cx: Analyzer, ranges: Mapping[Var, Range]) -> None:
        self.cx = cx
        self.wanted = {v for v, r in ranges.items() if not (type(r.extent) is IntImm and r.extent.value == 1)}
        self.known: set[AtomKey] = set()
        self._done: set[Any] = set()

    def decodes(self, values: Sequence[Linear]) -> bool:
        pending = list(values)
        for _ in range(16):
            before = (len(self.known), len(pending))
            pending = [v for v in pending if not self.split(v)]
            pending += self.join()
            pending += self.combine(pending)
            if self.wanted <= self.known:
                return True
            if (len(self.known), len(pending)) == before:
                return False
        return False

    def moving(self, atom: AtomKey) -> bool:
        """Whether it depends on a loop that is not known."""
        return atom not in self.known and atom_mentions(atom, self.wanted - self.known)

    def split(self, value: Linear) -> bool:
        """Take the digits out of a sum; False where it is no mixed radix (yet)."""
        terms: list[tuple[AtomKey, Linear]] = []
        for atom, k in value.terms.items():
            if not atom_mentions(atom, self.wanted):
                continue
            parts = factors(atom)
            moving = [a for a in parts if self.moving(a)]
            if not moving:
                continue
            if len(moving) > 1 or parts[moving[0]] != 1:
                return False
            weight = Linear({}, k)
            for a, power in parts.items():
                if a != moving[0]:
                    if atom_mentions(a, self.wanted):
                        return False  # a known loop, but not a fixed stride
                    for _ in range(power):
                        weight = multiply(weight, Linear({a: 1}))
            terms.append((moving[0], weight))
        if len({a for a, _ in terms}) != len(terms):
            return False
        terms.sort(key=lambda t: (len(t[1].terms), sum(map(len, map(factors, t[1].terms))), abs(t[1].const)))
        reach = Linear({})
        for atom, weight in terms:
            size = self.size(weight)
            if size is None or not self.cx.nonnegative((size - reach).shift(-1)):
                return False
            width = self.width(atom)
            if width is None:
                if atom is not terms[-1][0]:
                    return False
            else:
                reach = reach + multiply(size, width)
        self.known.update(a for a, _ in terms)
        self.solved(value, terms)
        return True

    def solved(self, value: Linear, terms: Sequence[tuple[AtomKey, Linear]]) -> None:
        """The digits of a sum became known; ``terms`` are they and their weights, the smallest first."""

    def joined(self, whole: AtomKey | Linear, high: AtomKey, low: AtomKey, factor: Expr) -> None:
        """``whole`` became known: it is ``high * factor + low``."""

    def combine(self, pending: Sequence[Linear]) -> list[Linear]:
        """From a sum with ``k * (x // c)`` and a known ``x % c``: ``c`` times the sum holds ``k * x``."""
        out: list[Linear] = []
        for atom in tuple(self.known):
            if isinstance(atom, Atom) and atom[0] is FloorDiv:
                found = self._remainder_of(atom)
                whole = to_linear(atom.expr.a) if found is not None else None  # type: ignore[attr-defined]
                if found is not None and whole is not None and whole.key() not in self._done:
                    self._done.add(whole.key())
                    out.append(whole)
                    self.combined(whole, Linear({atom: 1}), found[1], 1, found[0])
        for value in pending:
            for atom, k in value.terms.items():
                if not isinstance(atom, Atom) or atom[0] is not FloorDiv or atom in self.known:
                    continue
                found = self._remainder_of(atom)
                whole = to_linear(atom.expr.a) if found is not None else None  # type: ignore[attr-defined]
                if found is None or whole is None:
                    continue
                low, c = found
                made = value.scale(c).plus(Linear({atom: 1}), -c * k).plus(whole, k)
                if made.key() not in self._done:
                    self._done.add(made.key())
                    out.append(made)
                    self.combined(made, value, c, k, low)
        return out

    def _remainder_of(self, quotient: Atom) -> tuple[Linear, int] | None:
        """What ``x // c`` leaves of ``x``, where that is known, and ``c``."""
        e: Any = quotient.expr
        low = self.cx.linear(FloorMod(e.a, e.b)) if type(e.b) is IntImm else None
        return None if low is None or any(self.moving(a) for a in low.terms) else (low, e.b.value)

    def combined(self, made: Linear, value: Linear, factor: int, k: int, low: Linear) -> None:
        """``made`` became known: it is ``value * factor + k * low``."""

    def size(self, weight: Linear) -> Linear | None:
        if self.cx.nonnegative(weight.shift(-1)):
            return weight
        negative = weight.scale(-1)
        return negative if self.cx.nonnegative(negative.shift(-1)) else None

    def width(self, atom: AtomKey) -> Linear | None:
        """The largest less the smallest value of a digit, or something larger."""
        return width_of(self.cx, atom)

    def join(self) -> list[Linear]:
        """What the known digits determine."""
        out: list[Linear] = []
        quotients: dict[Any, Atom] = {}
        for atom in self.known:
            if isinstance(atom, Atom) and atom[0] is FloorDiv:
                quotients[(atom[1], atom[2])] = atom
        found: list[AtomKey] = []
        for atom in self.known:
            if not isinstance(atom, Atom) or atom[0] is not FloorMod:
                continue
            x, c = atom[1], atom[2]
            e: Any = atom.expr
            if (x, c) in quotients:
                whole = to_linear(e.a)
                if whole is not None and whole.key() not in self._done:
                    self._done.add(whole.key())
                    out.append(whole)
                    self.joined(whole, quotients[(x, c)], atom, e.b)
            # x // d and x % c, where d divides c: x % d is that of x % c
            for key, quotient in quotients.items():
                if key[0] == x and type(key[1]) is int and type(c) is int and key[1] > 1 and key[1] != c:
                    if c % key[1] == 0:
                        out += self._smaller(quotient, atom)
            # x % c and x // c % d: x % (c * d)
            for other in self.known:
                if isinstance(other, Atom) and other[0] is FloorMod and isinstance(other[1], Atom):
                    if other[1][0] is FloorDiv and other[1][1] == x and other[1][2] == c:
                        for whole_atom in self._remainder(e, c, other[2]):
                            found.append(whole_atom)
                            self.joined(whole_atom, other, atom, e.b)
            # (x % d) // c and x % c, where c divides d: x % d
            for key in quotients:
                inner_key = key[0]
                if (
                    key[1] == c
                    and isinstance(inner_key, Atom)
                    and inner_key[0] is FloorMod
                    and inner_key[1] == x
                ):
                    d = inner_key[2]
                    if type(d) is int and type(c) is int and d % c == 0:
                        found.append(inner_key)
                        self.joined(inner_key, quotients[key], atom, e.b)
        for a in found:
            self.known.add(a)
        return out

    def _smaller(self, quotient: Atom, remainder: Atom) -> list[Linear]:
        """``x``, from ``x // d`` and ``x % c``, where ``d`` divides ``c``."""
        e: Any = quotient.expr
        whole = to_linear(e.a)
        if whole is None or whole.key() in self._done:
            return []
        low = self.cx.linear(FloorMod(e.a, e.b))
        if low is None or len(low.terms) != 1 or low.const:
            return []
        ((atom, k),) = low.terms.items()
        if k != 1 or not isinstance(atom, Atom):
            return []
        self._done.add(whole.key())
        if atom not in self.known:
            self.narrowed(atom, remainder, e.b)
        self.joined(whole, quotient, atom, e.b)
        return [whole]

    def narrowed(self, part: Atom, whole: Atom, factor: Expr) -> None:
        """``part`` became known: it is ``whole % factor``."""

    def _remainder(self, e: Any, c: Any, d: Any) -> list[AtomKey]:
        """The remainder of ``e.a`` by ``c * d``."""
        if type(c) is not int or type(d) is not int:
            return []
        x = to_linear(e.a)
        if x is None:
            return []
        made = self.cx.linear(FloorMod(e.a, IntImm(c * d, e.dtype)))
        if made is None or len(made.terms) != 1 or made.const:
            return []
        ((atom, k),) = made.terms.items()
        return [atom] if k == 1 else []
