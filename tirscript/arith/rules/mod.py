"""Rules for the remainder of the floor division of exact integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.ir.expr import FloorMod

from ..bounds import range_of_linear
from ..linear import Atom, AtomKey, Linear, make_atom
from ..modular import modular_of_linear
from .div import divisors, residue, split_terms, take_out

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def floormod(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """``a % b``"""
    if b.is_const:
        c = b.const
        if c > 0:
            return by_constant(cx, a, c, dtype)
        if c < 0:
            # a % -c == -(-a % c)
            return by_constant(cx, a.scale(-1), -c, dtype).scale(-1)
        return atom(a, b, dtype)
    return by_symbol(cx, a, b, dtype)


def atom(a: Linear, b: Linear, dtype: str) -> Linear:
    made = make_atom(FloorMod, (a.key(), b.key()), FloorMod(a.written(dtype), b.written(dtype)), (a, b))
    return Linear({made: 1})


def by_constant(cx: Analyzer, a: Linear, c: int, dtype: str) -> Linear:
    """``a % c`` for ``c > 0``."""
    if c == 1:
        return Linear({})
    rest = Linear({}, a.const)
    for x, k in a.terms.items():
        rest = rest + reduced(x, k, c)
    terms = {x: k if abs(k) < c else k % c for x, k in rest.terms.items() if k % c}
    rest = Linear(terms, rest.const % c)
    if not terms:
        return rest
    low, high = range_of_linear(cx, rest)
    if low is not None and high is not None and low // c == high // c:
        return rest.shift(-(low // c) * c)
    small = {x: residue(k, c) for x, k in terms.items()}
    if small != terms:
        rest = Linear(small, rest.const)
        low, high = range_of_linear(cx, rest)
        if low is not None and high is not None and low // c == high // c:
            return rest.shift(-(low // c) * c)
    if cx.moduli:
        m, r = modular_of_linear(cx, rest)
        if m % c == 0:
            return Linear({}, r % c)
    # (g * x + s) % (g * c') == g * (x % c') + s where 0 <= s < g
    for g in divisors(rest, c):
        x_part, s = split_terms(rest, g)
        low, high = range_of_linear(cx, s)
        if low is not None and high is not None and low // g == high // g:
            q = low // g
            inner = by_constant(cx, x_part.shift(q), c // g, dtype)
            return inner.scale(g) + s.shift(-q * g)
    return atom(rest, Linear({}, c), dtype)


def reduced(x: AtomKey, k: int, c: int) -> Linear:
    """``k * x`` up to multiples of ``c``: ``(y % d) * k`` is ``y * k`` where ``c`` divides ``k * d``."""
    if isinstance(x, Atom) and x[0] is FloorMod:
        inner, d = x.parts()
        if d is not None and inner is not None and d.is_const and d.const != 0 and (k * d.const) % c == 0:
            return inner.scale(k)
    return Linear({x: k})


def by_symbol(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """``a % b`` for a divisor that is no constant: only where it is known not to be 0."""
    if a.is_const and a.const == 0 and cx.nonzero(b):
        return a
    quotient, rest = take_out(a, b)
    positive = cx.nonnegative(b.shift(-1))
    if positive:
        if cx.nonnegative(rest):
            if cx.nonnegative((b - rest).shift(-1)):
                return rest
        elif cx.nonnegative(rest + b) and cx.nonnegative(rest.scale(-1).shift(-1)):
            return rest + b
    if (quotient.terms or quotient.const) and (positive or cx.nonzero(b)):
        return atom(rest, b, dtype) if rest.terms or rest.const else Linear({})
    return atom(a, b, dtype)
