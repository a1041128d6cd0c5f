"""Iterator maps: do loops visit each tuple of axis values at most once?

The values are sums of digits of the loops: ``i * 16 + j``, ``f // n % m``.  A sum of which each step is
larger than everything below it (a mixed radix, gaps allowed) gives back its digits, digits give back
what they are digits of, and where all loops come back the map is injective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tirscript.ir.expr import LE, LT, TRUE, And, Expr, FloorDiv, FloorMod, IntImm, Range, Var

from .analyzer import Analyzer
from .linear import Atom, AtomKey, Linear, atom_mentions, factors, multiply, to_linear


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
        if not _Decoder(cx, ranges).decodes(sums):
            return None
    with cx.scope():
        for v, r in ranges.items():
            cx.bind(v, r)
        if predicate is not TRUE:
            # The box is that of the map without the predicate, cut off where the predicate says.
            again = [cx.linear(v) for v in values]
            sums = [f for f in again if f is not None]
        mins, extents = _box(cx, sums, ranges)
        full = all(e is not None for e in extents) and _fills(cx, extents, ranges)
        if full and predicate is not TRUE:
            cut = _cut(cx, sums, mins, extents, predicate)
            full = cut is not None
            extents = cut if cut is not None else [None] * len(extents)
        return IterMap(full, tuple(mins), tuple(extents))


class _Decoder:
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
        return atom_mentions(atom, self.wanted) and atom not in self.known

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


def width_of(cx: Analyzer, atom: AtomKey) -> Linear | None:
    """An upper bound of the largest less the smallest value of an atom, in normal form."""
    low, high = cx.atom_interval(atom)
    best = None if low is None or high is None or high - low > 1 << 30 else Linear({}, high - low)
    if best is not None and isinstance(atom, Atom) and atom[0] is FloorDiv:
        inside = to_linear(atom.expr.a)  # type: ignore[attr-defined]
        least, most = (None, None) if inside is None else cx.bounds_of(inside)
        if least is None or most is None or most - least > 1 << 30:
            best = None  # the range of the dtype: better a symbolic one
    if best is not None:
        return best
    if isinstance(atom, Var):
        bounds = _symbolic_ends(cx, atom)
        if bounds is not None:
            return bounds[1] - bounds[0]
        return None
    e: Any = atom.expr
    if atom[0] is FloorMod:
        divisor = to_linear(e.b)
        return None if divisor is None else divisor.shift(-1)
    if atom[0] is FloorDiv:
        x, divisor = to_linear(e.a), to_linear(e.b)
        if x is None or divisor is None or len(x.terms) != 1 or x.const:
            return None
        ((inner, k),) = x.terms.items()
        bounds = _symbolic_ends(cx, inner) if k == 1 and isinstance(inner, Var) else None
        if bounds is None or not bounds[0].is_const or bounds[0].const != 0:
            return None
        top = cx.linear(FloorDiv(bounds[1].to_expr(e.dtype), e.b))
        return top
    return None


def _symbolic_ends(cx: Analyzer, var: Var) -> tuple[Linear, Linear] | None:
    """The ends of a loop variable from the facts about it: ``v - lo >= 0`` and ``hi - v >= 0``."""
    low: Linear | None = None
    high: Linear | None = None
    least, most = cx.atom_interval(var)
    if least is not None:
        low = Linear({}, least)
    for f in cx.facts_about(var):
        k = f.terms.get(var, 0)
        rest = f.plus(Linear({var: 1}), -k)
        if k == -1 and high is None:
            high = rest
        elif k == 1 and (low is None or low.const < -(1 << 30)):
            low = rest.scale(-1)
    if high is None and most is not None:
        high = Linear({}, most)
    return None if low is None or high is None else (low, high)


def _box(
    cx: Analyzer, values: Sequence[Linear], ranges: Mapping[Var, Range]
) -> tuple[list[Linear | None], list[Linear | None]]:
    """The least value and the number of values of each sum, if every digit takes all its values."""
    mins: list[Linear | None] = []
    extents: list[Linear | None] = []
    for value in values:
        low, high = Linear({}, value.const), Linear({}, value.const)
        known = True
        for atom, k in value.terms.items():
            parts = factors(atom)
            moving = [a for a in parts if atom_mentions(a, ranges)]
            if not moving:
                low, high = low.plus(Linear({atom: 1}), k), high.plus(Linear({atom: 1}), k)
                continue
            if len(moving) > 1 or parts[moving[0]] != 1:
                known = False
                break
            ends = _digit_ends(cx, moving[0])
            if ends is None:
                known = False
                break
            weight = Linear({}, k)
            for a, power in parts.items():
                for _ in range(0 if a == moving[0] else power):
                    weight = multiply(weight, Linear({a: 1}))
            up = cx.nonnegative(weight)
            if not up and not cx.nonnegative(weight.scale(-1)):
                known = False
                break
            low = low + multiply(weight, ends[0] if up else ends[1])
            high = high + multiply(weight, ends[1] if up else ends[0])
        mins.append(low if known else None)
        extents.append((high - low).shift(1) if known else None)
    return mins, extents


def _digit_ends(cx: Analyzer, atom: AtomKey) -> tuple[Linear, Linear] | None:
    if isinstance(atom, Var):
        low, high = cx.atom_interval(atom)
        if low is not None and high is not None and high - low < 1 << 30:
            return Linear({}, low), Linear({}, high)
        return _symbolic_ends(cx, atom)
    width = width_of(cx, atom)
    low, _ = cx.atom_interval(atom)
    if width is None or low is None or abs(low) > 1 << 30:
        return (Linear({}), width) if width is not None and cx.nonnegative(Linear({atom: 1})) else None
    return Linear({}, low), width.shift(low)


def _fills(cx: Analyzer, extents: Sequence[Linear | None], ranges: Mapping[Var, Range]) -> bool:
    """Whether there are as many iterations as cells in the box."""
    cells, iterations = Linear({}, 1), Linear({}, 1)
    for e in extents:
        if e is None:
            return False
        cells = multiply(cells, e)
    for r in ranges.values():
        extent = cx.linear(r.extent)
        if extent is None:
            return False
        iterations = multiply(iterations, extent)
    return bool(cells.key() == iterations.key())


def _cut(
    cx: Analyzer,
    values: Sequence[Linear],
    mins: Sequence[Linear | None],
    extents: Sequence[Linear | None],
    predicate: Expr,
) -> list[Linear | None] | None:
    """The extents where the predicate bounds single values from above; None where it says anything else."""
    out = list(extents)
    stack: list[Any] = [predicate]
    while stack:
        p = stack.pop()
        if type(p) is And:
            stack += [p.a, p.b]
            continue
        if type(p) not in (LT, LE):
            return None
        a, b = cx.linear(p.a), cx.linear(p.b)
        if a is None or b is None:
            return None
        bound = b - a if type(p) is LT else (b - a).shift(1)  # value - rest < 0, with bound = rest - value
        for n, value in enumerate(values):
            limit = bound + value
            low = mins[n]
            if low is not None and not any(t in value.terms for t in limit.terms):
                out[n] = limit - low
                break
        else:
            return None
    return out
