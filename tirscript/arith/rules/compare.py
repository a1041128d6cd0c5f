"""Rules for comparisons of exact integers."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from tirscript.ir.expr import EQ, FALSE, GE, GT, LE, LT, NE, TRUE, Expr, Var

from ..bounds import range_of_linear
from ..linear import AtomKey, Linear
from ..modular import modular_of_linear
from . import digits

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def decide(cx: Analyzer, kind: type, d: Linear) -> bool | None:
    """Whether ``0 kind d`` holds; None where it is not known."""
    if kind is EQ or kind is NE:
        equal = _equal(cx, d)
        if equal is None and (again := digits.normal(cx, d)) is not None:
            equal = _equal(cx, again)
        return equal if kind is EQ or equal is None else not equal
    if kind is GT or kind is GE:
        known = decide(cx, LE if kind is GT else LT, d)
        return None if known is None else not known
    known = _ordered(cx, kind, d)
    if known is None and (again := digits.normal(cx, d)) is not None:
        known = _ordered(cx, kind, again)
    return known


def _ordered(cx: Analyzer, kind: type, d: Linear) -> bool | None:
    """Whether ``0 < d``, or ``0 <= d``."""
    # 0 < d: d - 1 >= 0; 0 <= d: d >= 0
    form = d.shift(-1) if kind is LT else d
    low, high = range_of_linear(cx, form)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if not cx.facts and all(type(a) is Var for a in d.terms):
        return None  # nothing but the bounds is known; the rest is done by rounding
    if cx.nonnegative(form):
        return True
    return False if cx.nonnegative(form.scale(-1).shift(-1)) else None


def _equal(cx: Analyzer, d: Linear) -> bool | None:
    if d.is_const:
        return d.const == 0
    g = gcd(*d.terms.values())
    if d.const % g:
        return False
    m, r = modular_of_linear(cx, d)
    if (r % m if m else r) != 0:
        return False
    below = d.scale(-1)
    if cx.nonnegative(d.shift(-1)) or cx.nonnegative(below.shift(-1)):
        return False
    if cx.nonnegative(d) and cx.nonnegative(below):
        return True
    return None


def compare(cx: Analyzer, kind: Any, a: Linear, b: Linear, dtype: str) -> Expr:
    """The comparison, decided or in its normal form: positive terms left, negative right, constants last."""
    d = a - b
    known = decide(cx, kind, d.scale(-1))
    if known is not None:
        return TRUE if known else FALSE
    g = gcd(*d.terms.values())
    if kind is EQ or kind is NE:
        if g > 1:
            d = Linear({x: k // g for x, k in d.terms.items()}, d.const // g)
        return _build(kind, d, dtype)
    # a < b: d + 1 <= 0; a <= b: d <= 0; the others with the sign turned.
    strict = kind is LT or kind is GT
    up = d if kind is LT or kind is LE else d.scale(-1)
    top = -up.const - (1 if strict else 0)  # sum of terms <= top
    terms = up.terms
    if g > 1:
        terms, top = {x: k // g for x, k in terms.items()}, top // g
    reduced = _without_inner(cx, terms, top)
    if reduced is not None:
        terms, top = reduced
    if terms is not up.terms:
        low, high = range_of_linear(cx, Linear(terms))
        if low is not None and low > top:
            return FALSE
        if high is not None and high <= top:
            return TRUE
    sign = 1 if kind is LT or kind is LE else -1
    limit = top + 1 if strict else top
    return _build(kind, Linear({x: k * sign for x, k in terms.items()}, -sign * limit), dtype)


def _without_inner(
    cx: Analyzer, terms: dict[AtomKey, int], top: int
) -> tuple[dict[AtomKey, int], int] | None:
    """``g * x + s <= top`` iff ``x <= (top - s) // g``, where that is the same for all ``s``."""
    sizes = sorted({abs(k) for k in terms.values()}, reverse=True)
    for g in sizes:
        if g == 1:
            break
        s = {x: k for x, k in terms.items() if k % g}
        if not s or len(s) == len(terms):
            continue
        low, high = range_of_linear(cx, Linear(s))
        if low is None or high is None:
            continue
        if (top - low) // g == (top - high) // g:
            return {x: k // g for x, k in terms.items() if k % g == 0}, (top - low) // g
    return None


def _build(kind: Any, d: Linear, dtype: str) -> Expr:
    """``d kind 0`` with the negative terms on the right; the constant right, or left if that is positive
    and the right has terms."""
    left = {x: k for x, k in d.terms.items() if k > 0}
    right = {x: -k for x, k in d.terms.items() if k < 0}
    if not left:
        return _flip(kind)(Linear(right).written(dtype), Linear({}, d.const).written(dtype))  # type: ignore[no-any-return]
    if right and d.const > 0:
        return kind(Linear(left, d.const).written(dtype), Linear(right).written(dtype))  # type: ignore[no-any-return]
    return kind(Linear(left).written(dtype), Linear(right, -d.const).written(dtype))  # type: ignore[no-any-return]


_TURNED: dict[type, type] = {LT: GT, LE: GE, GT: LT, GE: LE, EQ: EQ, NE: NE}


def _flip(kind: Any) -> Any:
    return _TURNED[kind]
