"""The box that the values of an iterator map fill: from the digits of the loops, cut by a predicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tirscript.ir.expr import GE, GT, LE, LT, Expr, FloorDiv, FloorMod, Range, Var, const_int

from .analyzer import Analyzer
from .linear import Atom, AtomKey, Linear, atom_mentions, factors, multiply, to_linear

_Limit = tuple[Linear, Linear, bool]  # a sum, its largest (True) or smallest value


def _limit(cx: Analyzer, part: Expr, ranges: Mapping[Var, Range]) -> _Limit | None:
    """A comparison as a sum over the loops and its largest value (True) or its smallest (False)."""
    t: Any = type(part)
    if t not in (LT, LE, GT, GE):
        return None
    a, b = cx.linear(part.a), cx.linear(part.b)  # type: ignore[attr-defined]
    if a is None or b is None:
        return None
    d = a - b  # d < 0, d <= 0, d > 0, d >= 0
    above = t in (GT, GE)
    moving = Linear({x: k for x, k in d.terms.items() if atom_mentions(x, ranges)})
    if not moving.terms:
        return None
    rest = (moving - d).shift({LT: -1, LE: 0, GT: 1, GE: 0}[t])
    if next(iter(moving.terms.values())) < 0:
        return moving.scale(-1), rest.scale(-1), above
    return moving, rest, not above


def narrowed(
    cx: Analyzer, ranges: Mapping[Var, Range], parts: Sequence[Expr]
) -> tuple[Mapping[Var, Range], list[Expr]]:
    """The ranges of the loops that the predicate bounds by themselves, and what it says besides."""
    out = dict(ranges)
    left: list[Expr] = []
    for part in parts:
        found = _limit(cx, part, ranges)
        if found is not None and len(found[0].terms) == 1:
            value, limit, above = found
            ((v, k),) = value.terms.items()
            if isinstance(v, Var) and k == 1 and v in out:
                low, extent = cx.linear(out[v].min), cx.linear(out[v].extent)
                if low is not None and extent is not None:
                    high = (low + extent).shift(-1)
                    changed = (low, limit) if above else (limit, high)
                    if cx.nonnegative(high - limit) and cx.nonnegative(limit - low):
                        size = (changed[1] - changed[0]).shift(1)
                        out[v] = Range(changed[0].to_expr(v.dtype), size.to_expr(v.dtype))
                        continue
        left.append(part)
    return out, left


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


def box_of(
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
            ends = digit_ends(cx, moving[0])
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


def digit_ends(cx: Analyzer, atom: AtomKey) -> tuple[Linear, Linear] | None:
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


def fills(cx: Analyzer, extents: Sequence[Linear | None], ranges: Mapping[Var, Range]) -> bool:
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


def cut(
    cx: Analyzer,
    values: Sequence[Linear],
    mins: list[Linear | None],
    extents: list[Linear | None],
    parts: Sequence[Expr],
    ranges: Mapping[Var, Range],
) -> bool:
    """Cut the box off where the predicate bounds single values; False where it says anything else, or may
    leave nothing."""
    for part in parts:
        raw = _limit(cx, part, ranges)
        if raw is None:
            return False
        forms = [raw]
        # Also without the digits that do not matter, and of a quotient where the limit is a multiple.
        shorter = _limit(cx, cx.simplify(part), ranges)
        if shorter is not None:
            forms.append(shorter)
        for c in {_divisor(a) for v in values for a in v.terms}:
            forms += _quotient_limit(cx, raw, c, ranges)
        if not any(_cut_one(cx, values, mins, extents, f, ranges) for f in forms):
            return False
    return True


def _divisor(atom: AtomKey) -> int:
    """What a quotient is divided by; 0 for anything else."""
    if isinstance(atom, Atom) and atom[0] is FloorDiv and type(atom[2]) is int:
        return atom[2]
    return 0


def _quotient_limit(cx: Analyzer, limit: _Limit, c: int, ranges: Mapping[Var, Range]) -> list[_Limit]:
    """``x < c * n`` is ``x // c < n``."""
    bounded, edge, above = limit
    edge = edge.shift(1) if above else edge
    if c <= 0 or not edge.is_const or edge.const % c:
        return []
    dtype = next(bounded.items())[0].dtype
    q = cx.linear(FloorDiv(bounded.to_expr(dtype), const_int(c, dtype)))
    if q is None:
        return []
    moving = Linear({x: k for x, k in q.terms.items() if atom_mentions(x, ranges)})
    if not moving.terms:
        return []
    return [(moving, Linear({}, edge.const // c - (1 if above else 0)) - (q - moving), above)]


def _cut_one(
    cx: Analyzer,
    values: Sequence[Linear],
    mins: list[Linear | None],
    extents: list[Linear | None],
    limited: _Limit,
    ranges: Mapping[Var, Range],
) -> bool:
    bounded, limit, above = limited
    for n, value in enumerate(values):
        moving = {x: k for x, k in value.terms.items() if atom_mentions(x, ranges)}
        sign = 1 if bounded.terms == moving else -1
        if sign < 0 and bounded.scale(-1).terms != moving:
            continue
        low, extent = mins[n], extents[n]
        assert low is not None and extent is not None
        high = (low + extent).shift(-1)
        # What else the value holds stands still.
        edge = limit.scale(sign) + value - Linear(moving)
        if above is (sign > 0):
            if cx.nonnegative(edge - high):
                return True
            if not (cx.nonnegative(high - edge) and _reaches(cx, edge, low)):
                return False
            high = edge
        else:
            if cx.nonnegative(low - edge):
                return True
            if not (cx.nonnegative(edge - low) and _reaches(cx, high, edge)):
                return False
            low = edge
        mins[n], extents[n] = low, (high - low).shift(1)
        return True
    return False


def _reaches(cx: Analyzer, high: Linear, low: Linear) -> bool:
    """Whether the range is not known to be empty (of a symbolic one the extent 0 says so itself)."""
    d = high - low
    return cx.nonnegative(d) if d.is_const else True
