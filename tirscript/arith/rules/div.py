"""Rules for the floor division of exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import FloorDiv, FloorMod

from ..bounds import range_of_linear
from ..linear import Atom, AtomKey, Linear, factors, make_atom, multiply

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def floordiv(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """``a // b``"""
    if b.is_const:
        c = b.const
        if c > 0:
            return by_constant(cx, a, c, dtype)
        if c < 0:
            return by_constant(cx, a.scale(-1), -c, dtype)
        return atom(a, b, dtype)
    return by_symbol(cx, a, b, dtype)


def atom(a: Linear, b: Linear, dtype: str) -> Linear:
    made = make_atom(FloorDiv, (a.key(), b.key()), FloorDiv(a.written(dtype), b.written(dtype)), (a, b))
    return Linear({made: 1})


def by_constant(cx: Analyzer, a: Linear, c: int, dtype: str) -> Linear:
    """``a // c`` for ``c > 0``."""
    if c == 1:
        return a
    # (c * x + r) // c == x + r // c
    whole: dict[AtomKey, int] = {}
    rest: dict[AtomKey, int] = {}
    for x, k in a.terms.items():
        if k % c == 0:
            whole[x] = k // c
        else:
            rest[x] = k
    out = Linear(whole, a.const // c)
    inner = Linear(rest, a.const % c)
    if not rest:
        return out
    quotient = small(cx, inner, c, dtype)
    return out + quotient if out.terms or out.const else quotient


def small(cx: Analyzer, a: Linear, c: int, dtype: str) -> Linear:
    """``a // c`` where no term is a multiple of ``c`` and ``0 <= a.const < c``."""
    low, high = range_of_linear(cx, a)
    if low is not None and high is not None and low // c == high // c:
        return Linear({}, low // c)
    # (g * x + s) // (g * c') == x // c' where 0 <= s < g
    for g in divisors(a, c):
        x, s = split_terms(a, g)
        low, high = range_of_linear(cx, s)
        if low is not None and high is not None and low // g == high // g:
            return by_constant(cx, x.shift(low // g), c // g, dtype)
    if len(a.terms) == 1:
        ((x_atom, k),) = a.terms.items()
        # (x // d + r) // c == (x + r * d) // (d * c)
        if k == 1 and isinstance(x_atom, Atom) and x_atom[0] is FloorDiv:
            inside, d = x_atom.parts()
            most = dtype_bounds(dtype)[1]
            if d is not None and d.is_const and 0 < d.const <= most // c and inside is not None:
                return by_constant(cx, inside.shift(a.const * d.const), d.const * c, dtype)
    # A difference: quotients of a larger one, n * x - 1 and the like, are found by the bounds of the rest.
    return atom(a, Linear({}, c), dtype)


def residue(k: int, c: int) -> int:
    """A small number congruent to ``k`` modulo ``c``: -1, -2 and 3 stay modulo 4, -3 is 1."""
    return k if -c <= 2 * k < 2 * c else k % c


def divisors(a: Linear, c: int) -> list[int]:
    """What ``c`` shares with the coefficients of ``a``, largest first."""
    found = {gcd(k, c) for k in a.terms.values()}
    found |= {gcd(x, y) for x in found for y in found}
    return sorted((g for g in found if 1 < g < c), reverse=True)


def split_terms(a: Linear, g: int) -> tuple[Linear, Linear]:
    """``x`` and ``s`` with ``a == g * x + s``; the constant goes to ``s``."""
    x = {t: k // g for t, k in a.terms.items() if k % g == 0}
    s = {t: k for t, k in a.terms.items() if k % g}
    return Linear(x), Linear(s, a.const)


def take_out(a: Linear, b: Linear) -> tuple[Linear, Linear]:
    """``q`` and ``r`` with ``a == q * b + r``, as far as products show it."""
    if len(b.terms) == 1 and not b.const:
        ((symbol, k),) = b.terms.items()
        wanted = factors(symbol)
        quotient, rest = Linear({}), Linear({}, a.const)
        for x, c in a.terms.items():
            have = factors(x)
            if c % k == 0 and all(have.get(f, 0) >= n for f, n in wanted.items()):
                other = Linear({}, c // k)
                for f, n in have.items():
                    for _ in range(n - wanted.get(f, 0)):
                        other = multiply(other, Linear({f: 1}))
                quotient = quotient + other
            else:
                rest = rest.plus(Linear({x: 1}), c)
        return quotient, rest
    # A sum: take out the multiple that cancels its first term.
    quotient, rest = Linear({}), a
    first, k = next(iter(b.terms.items()))
    for _ in range(4):
        wanted = factors(first)
        for x, c in rest.terms.items():
            have = factors(x)
            if c % k == 0 and all(have.get(f, 0) >= n for f, n in wanted.items()):
                other = Linear({}, c // k)
                for f, n in have.items():
                    for _ in range(n - wanted.get(f, 0)):
                        other = multiply(other, Linear({f: 1}))
                smaller = rest - multiply(other, b)
                if len(smaller.terms) < len(rest.terms):
                    quotient, rest = quotient + other, smaller
                    break
        else:
            break
    return quotient, rest


def by_symbol(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """``a // b`` for a divisor that is no constant: only where it is known not to be 0."""
    if a.is_const and a.const == 0 and cx.nonzero(b):
        return a
    quotient, rest = take_out(a, b)
    positive = cx.nonnegative(b.shift(-1))
    if positive:
        if cx.nonnegative(rest):
            if cx.nonnegative((b - rest).shift(-1)):
                return quotient
        elif cx.nonnegative(rest + b) and cx.nonnegative(rest.scale(-1).shift(-1)):
            return quotient.shift(-1)
    if quotient.terms or quotient.const:
        if positive or cx.nonzero(b):
            if rest.is_const and rest.const == 0:
                return quotient
            return quotient + atom(rest, b, dtype)
    return atom(a, b, dtype)


def join_parts(lin: Linear) -> Linear:
    """``x // c * c + x % c`` is ``x``."""
    for mod, k in lin.terms.items():
        if not isinstance(mod, Atom) or mod[0] is not FloorMod:
            continue
        x, c = mod.parts()
        if x is None or c is None:
            continue
        for div, value in _partners(lin, mod, x):
            scaled = multiply(Linear({div: 1}), c)
            if len(scaled.terms) != 1 or scaled.const:
                continue
            ((product, m),) = scaled.terms.items()
            if lin.terms.get(product, 0) == k * m:
                terms: dict[AtomKey, int] = {}
                const = lin.const + k * value.const
                for x_atom, n in lin.terms.items():
                    # The value stands where the first of the two stood.
                    if x_atom != mod and x_atom != product:
                        terms[x_atom] = terms.get(x_atom, 0) + n
                    else:
                        for y, m in value.terms.items():
                            terms[y] = terms.get(y, 0) + k * m
                        value = Linear({})
                return join_parts(Linear({x_atom: n for x_atom, n in terms.items() if n}, const))
    return lin


def _partners(lin: Linear, mod: Atom, x: Linear) -> Iterator[tuple[Atom, Linear]]:
    """Quotients that make one value with the remainder ``mod``, and that value."""
    e: Any = mod.expr
    yield make_atom(FloorDiv, mod[1:], FloorDiv(e.a, e.b)), x
    c = mod[2]
    if type(c) is not int or c <= 0:
        return
    most = dtype_bounds(e.dtype)[1]
    # (y + d * r) // (d * c) * c + (y // d + r) % c == y // d + r
    for inner_atom, rest in _quotients(x):
        y, d = inner_atom.parts()[0], inner_atom[2]
        if y is not None and d * c <= most:
            yield next(iter(atom(y + rest.scale(d), Linear({}, d * c), e.dtype).terms)), x  # type: ignore[misc]
    for other in lin.terms:
        # (x // c + r) % m * c + x % c == (x + c * r) % (c * m)
        if (
            isinstance(other, Atom)
            and other[0] is FloorMod
            and type(other[2]) is int
            and 0 < other[2] * c <= most
        ):
            upper = other.parts()[0]
            for q, rest in _quotients(upper) if upper is not None else ():
                if q[1] == mod[1] and q[2] == c:
                    yield other, _remainder(x + rest.scale(c), other[2] * c, e.dtype)
    for div in lin.terms:
        # y // c * c + x % c == y where x and y are congruent
        if isinstance(div, Atom) and div[0] is FloorDiv and div[2] == c and div[1] != mod[1]:
            whole = div.parts()[0]
            if whole is not None:
                d = whole - x
                if d.const % c == 0 and not any(k % c for k in d.terms.values()):
                    yield div, whole
    # (x % d) // c * c + x % c == x % d where c divides d
    for div in lin.terms:
        if isinstance(div, Atom) and div[0] is FloorDiv and div[2] == c:
            inner = div[1]
            if isinstance(inner, Atom) and inner[0] is FloorMod and inner[1] == mod[1]:
                if type(inner[2]) is int and inner[2] % c == 0:
                    yield div, Linear({inner: 1})


def _quotients(lin: Linear) -> list[tuple[Atom, Linear]]:
    """The quotients by constants in a sum, each with the rest of the sum."""
    return [
        (q, lin.plus(Linear({q: 1}), -1))
        for q, k in lin.terms.items()
        if k == 1 and isinstance(q, Atom) and q[0] is FloorDiv and type(q[2]) is int and q[2] > 0
    ]


def _remainder(a: Linear, c: int, dtype: str) -> Linear:
    """The atom ``a % c``."""
    by = Linear({}, c)
    made = make_atom(FloorMod, (a.key(), c), FloorMod(a.written(dtype), by.written(dtype)), (a, by))
    return Linear({made: 1})
