"""Division of an axis value by nested loops: the part that outer loops make and the part of inner ones.

``i_0 * 16 + i_1`` over the outer loop ``i_0`` and the inner loop ``i_1`` of 16 iterations is
``outer * 16 + inner`` with ``outer = i_0`` and ``inner = i_1``.  The parts are digits: the step between
two values of ``outer`` is at least the number of values of ``inner``, so that a value has one pair of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from tirscript.ir.expr import Expr, FloorDiv, FloorMod, IntImm, Range, Var

from .analyzer import Analyzer
from .linear import AtomKey, Linear, atom_mentions, factors, multiply, to_linear


@dataclass(slots=True, eq=False)
class Division:
    """``value == outer * step + inner + offset``, with ``0 <= outer < outer_extent`` and
    ``0 <= inner < inner_extent``; where one part is constant (0) the other's extent is not worked out."""

    outer: Linear
    outer_extent: Linear
    step: Linear
    inner: Linear
    inner_extent: Linear
    offset: Linear


Ranges = Mapping[Var, Range]


def divide(value: Expr, outer: Ranges, inner: Ranges, analyzer: Callable[[], Analyzer]) -> Division | None:
    """The division of a value that depends on both kinds of loops; None where none is found.

    ``analyzer`` makes an analyzer that knows the ranges; it is asked for only where constants do not do.

    >>> from tirscript.ir.expr import const_int
    >>> i, j = Var("i"), Var("j")
    >>> box = lambda n: Range(const_int(0), const_int(n))
    >>> d = divide(i * 16 + j + 3, {i: box(8)}, {j: box(16)}, Analyzer)
    >>> d.outer, d.outer_extent, d.step, d.inner, d.inner_extent, d.offset
    (i, 8, 16, j, 16, 3)
    """
    lin = to_linear(value)
    if lin is not None:
        found = _divide(lin, outer, inner, None)
        if found is not None:
            return found
    cx = analyzer()
    lin = cx.linear(value)
    return None if lin is None else _divide(lin, outer, inner, cx)


def _divide(lin: Linear, outer: Ranges, inner: Ranges, cx: Analyzer | None) -> Division | None:
    above: dict[AtomKey, int] = {}
    below: dict[AtomKey, int] = {}
    rest: dict[AtomKey, int] = {}
    for atom, k in lin.terms.items():
        if type(atom) is Var:
            part = above if atom in outer else below if atom in inner else rest
        else:
            in_outer, in_inner = atom_mentions(atom, outer), atom_mentions(atom, inner)
            if in_outer and in_inner:
                return None
            part = above if in_outer else below if in_inner else rest
        part[atom] = k
    upper, lower = Linear(above), Linear(below)
    one, offset = Linear({}, 1), Linear(rest, lin.const)
    if not below:
        return Division(upper, one, one, Linear({}), one, offset)
    if not above:
        return Division(Linear({}), one, one, lower, one, offset)
    ends = _ends(lower, inner, cx)
    if ends is None:
        return None
    low, high = ends
    extent = (high - low).shift(1)
    step = _step(above, extent, cx)
    if step is None:
        return None
    quotient = _quotient(upper, step)
    if quotient is None:
        return None
    first = _ends(quotient, outer, cx)
    if first is None:
        return None
    start, end = first
    offset = offset + low
    if start.terms or start.const:
        offset = offset + multiply(start, step)
        quotient = quotient - start
    return Division(
        quotient, (end - start).shift(1), step, lower if low.is_const and not low.const else lower - low,
        extent, offset,
    )  # fmt: skip


def _step(above: Mapping[AtomKey, int], extent: Linear, cx: Analyzer | None) -> Linear | None:
    """By what the value grows when the outer part grows by one: no less than the inner part has values."""
    whole = 0
    for k in above.values():
        whole = gcd(whole, k)
    if extent.is_const:
        if extent.const > 0 and whole % extent.const == 0 and whole != extent.const:
            # Of several terms the least one decides; a single one leaves gaps.
            return Linear({}, whole)
        if whole >= extent.const:
            return Linear({}, whole)
        if all(type(a) is Var for a in above):
            return None
    if not extent.is_const and all(_over(a, k, extent) is not None for a, k in above.items()):
        return extent
    if cx is None:
        return None
    # A common factor of all terms, such as a symbolic stride.
    common: Linear | None = None
    for atom in above:
        parts = factors(atom)
        if len(parts) < 2 and sum(parts.values()) < 2:
            common = Linear({}, 1)
            break
        for f, power in parts.items():
            if power == 1 and all(f in factors(a) for a in above):
                common = Linear({f: 1})
        break
    if common is None:
        common = Linear({}, 1)
    step = common.scale(whole)
    return step if cx.nonnegative(step - extent) else None


def _over(atom: AtomKey, k: int, divisor: Linear) -> Linear | None:
    """``k * atom / divisor`` where the divisor is a constant or one monomial that divides it."""
    if divisor.is_const:
        d = divisor.const
        return Linear({atom: k // d}) if d and k % d == 0 else None
    if divisor.const or len(divisor.terms) != 1:
        return None
    ((base, d),) = divisor.terms.items()
    if k % d:
        return None
    have, wanted = dict(factors(atom)), factors(base)
    for f, power in wanted.items():
        if have.get(f, 0) < power:
            return None
        have[f] -= power
    out = Linear({}, k // d)
    for f, power in have.items():
        for _ in range(power):
            out = multiply(out, Linear({f: 1}))
    return out


def _quotient(upper: Linear, step: Linear) -> Linear | None:
    if step.is_const and step.const == 1:
        return upper
    out = Linear({})
    for atom, k in upper.terms.items():
        part = _over(atom, k, step)
        if part is None:
            return None
        out = out + part
    return out


def _ends(lin: Linear, ranges: Ranges, cx: Analyzer | None) -> tuple[Linear, Linear] | None:
    """The least and the largest value of a sum when every digit takes all its values."""
    low = high = lin.const
    for atom, k in lin.terms.items():
        r: Any = ranges.get(atom) if type(atom) is Var else None
        if r is None or type(r.min) is not IntImm or type(r.extent) is not IntImm:
            return None if cx is None else _symbolic_ends(lin, ranges, cx)
        first, last = r.min.value, r.min.value + max(r.extent.value, 1) - 1
        if k > 0:
            low += k * first
            high += k * last
        else:
            low += k * last
            high += k * first
    return Linear({}, low), Linear({}, high)


def _symbolic_ends(lin: Linear, ranges: Ranges, cx: Analyzer) -> tuple[Linear, Linear] | None:
    low = high = Linear({}, lin.const)
    for atom, k in lin.terms.items():
        parts = factors(atom)
        moving = [a for a in parts if atom_mentions(a, ranges)]
        if len(moving) != 1 or parts[moving[0]] != 1:
            return None
        ends = _digit(moving[0], ranges, cx)
        if ends is None:
            return None
        weight = Linear({}, k)
        for a, power in parts.items():
            for _ in range(0 if a is moving[0] else power):
                weight = multiply(weight, Linear({a: 1}))
        up = cx.nonnegative(weight)
        if not up and not cx.nonnegative(weight.scale(-1)):
            return None
        low = low + multiply(weight, ends[0] if up else ends[1])
        high = high + multiply(weight, ends[1] if up else ends[0])
    return low, high


def _digit(atom: AtomKey, ranges: Ranges, cx: Analyzer) -> tuple[Linear, Linear] | None:
    """The ends of a loop variable, or of a quotient or remainder of one."""
    if isinstance(atom, Var):
        r = ranges.get(atom)
        if r is None:
            return None
        first, count = cx.linear(r.min), cx.linear(r.extent)
        return None if first is None or count is None else (first, (first + count).shift(-1))
    least, most = cx.atom_interval(atom)
    if least is not None and most is not None and most - least < 1 << 30:
        return Linear({}, int(least)), Linear({}, int(most))
    e: Any = atom.expr
    if atom[0] is FloorMod:
        divisor = to_linear(e.b)
        return None if divisor is None or divisor.mentions(ranges) else (Linear({}), divisor.shift(-1))
    if atom[0] is FloorDiv and type(e.a) is Var and e.a in ranges:
        ends = _digit(e.a, ranges, cx)
        if ends is None or not ends[0].is_const or ends[0].const:
            return None
        top = cx.linear(FloorDiv(ends[1].to_expr(e.dtype), e.b))
        return None if top is None else (Linear({}), top)
    return None


__all__ = ["Division", "divide"]
