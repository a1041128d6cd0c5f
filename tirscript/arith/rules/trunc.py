"""Rules for the truncating division and its remainder, of exact integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.ir.expr import Div, Mod

from ..fold import fold_int
from ..linear import Linear, make_atom
from .div import floordiv
from .mod import floormod

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def _signs(cx: Analyzer, a: Linear, b: Linear) -> tuple[int, int] | None:
    """1 where at least 0, -1 where at most 0; the divisor strictly.  None where not known."""
    if cx.nonnegative(b.shift(-1)):
        of_b = 1
    elif cx.nonnegative(b.scale(-1).shift(-1)):
        of_b = -1
    else:
        return None
    if cx.nonnegative(a):
        return 1, of_b
    if cx.nonnegative(a.scale(-1)):
        return -1, of_b
    return None


def truncdiv(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """``a / b``, rounded toward 0: the floor division of the sizes, with the sign."""
    if a.is_const and b.is_const:
        value = fold_int(Div, a.const, b.const)
        if value is not None:
            return Linear({}, value)
    if b.is_const and abs(b.const) == 1:
        return a.scale(b.const)
    signs = _signs(cx, a, b)
    if signs is not None:
        return floordiv(cx, a.scale(signs[0]), b.scale(signs[1]), dtype).scale(signs[0] * signs[1])
    made = make_atom(Div, (a.key(), b.key()), Div(a.written(dtype), b.written(dtype)), (a, b))
    return Linear({made: 1})


def truncmod(cx: Analyzer, a: Linear, b: Linear, dtype: str) -> Linear:
    """The remainder of ``truncdiv``: it has the sign of ``a``."""
    if a.is_const and b.is_const:
        value = fold_int(Mod, a.const, b.const)
        if value is not None:
            return Linear({}, value)
    if b.is_const and abs(b.const) == 1:
        return Linear({})
    signs = _signs(cx, a, b)
    if signs is not None:
        return floormod(cx, a.scale(signs[0]), b.scale(signs[1]), dtype).scale(signs[0])
    made = make_atom(Mod, (a.key(), b.key()), Mod(a.written(dtype), b.written(dtype)), (a, b))
    return Linear({made: 1})
