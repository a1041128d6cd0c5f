"""One form for digits: ``x // c % m`` is ``x % (c * m) // c``.

Only for proofs: what is printed keeps the form in which it was written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import FloorDiv, FloorMod

from ..linear import Atom, AtomKey, Linear
from . import div, mod

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def normal(cx: Analyzer, lin: Linear) -> Linear | None:
    """``lin`` with the remainder taken before the quotient in its digits; None where there are none."""
    out: Linear | None = None
    for atom, k in lin.terms.items():
        made = _digit(cx, atom)
        if made is not None:
            out = (lin if out is None else out).plus(Linear({atom: 1}), -k).plus(made, k)
    return out


def _digit(cx: Analyzer, atom: AtomKey) -> Linear | None:
    """``(x // c + y) % m`` is ``(x + c * y) % (c * m) // c``."""
    if not isinstance(atom, Atom) or atom[0] is not FloorMod or type(atom[2]) is not int or atom[2] <= 0:
        return None
    inside, m = atom.parts()[0], atom[2]
    if inside is None:
        return None
    for x, k in inside.terms.items():
        if k == 1 and isinstance(x, Atom) and x[0] is FloorDiv and type(x[2]) is int and x[2] > 1:
            c = x[2]
            below = x.parts()[0]
            dtype = atom.expr.dtype
            if below is None or c * m > dtype_bounds(dtype)[1]:
                return None
            whole = inside.plus(Linear({x: 1}), -1).scale(c) + below
            rest = mod.by_constant(cx, whole, c * m, dtype)
            return div.by_constant(cx, rest, c, dtype)
    return None
