"""Rules for the minimum and the maximum of exact integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir.expr import Max, Min

from ..linear import Atom, Linear, make_atom

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def minimum(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    return _extreme(cx, a, b, dtype, Min)


def maximum(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    return _extreme(cx, a, b, dtype, Max)


def _extreme(cx: Analyzer, a: Linear, b: Linear, dtype: str, cls: Any) -> Linear:
    difference = b - a
    if cx.nonnegative(difference):
        return a if cls is Min else b
    if cx.nonnegative(difference.scale(-1)):
        return b if cls is Min else a
    # min(min(x, c1), c2): one constant.
    for whole, other in ((a, b), (b, a)):
        if other.is_const and len(whole.terms) == 1 and not whole.const:
            ((atom, k),) = whole.terms.items()
            if k == 1 and isinstance(atom, Atom) and atom[0] is cls:
                x, c = atom.parts()
                if x is not None and c is not None and c.is_const:
                    bound = min(c.const, other.const) if cls is Min else max(c.const, other.const)
                    return _extreme(cx, x, Linear({}, bound), dtype, cls)
    made = make_atom(cls, (frozenset((a.key(), b.key())),), cls(a.written(dtype), b.written(dtype)), (a, b))
    return Linear({made: 1})
