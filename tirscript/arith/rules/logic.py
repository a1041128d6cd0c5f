"""Rules for and, or, not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import info
from tirscript.ir.expr import EQ, FALSE, GE, GT, LE, LT, NE, TRUE, And, Expr, IntImm, Not, Or

from ..exact import is_exact
from ..linear import key_of

if TYPE_CHECKING:
    from ..analyzer import Analyzer

NEGATED: dict[type, Any] = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}


def parts(e: Expr, cls: Any) -> list[Expr]:
    """The operands of a chain of And or Or, left to right."""
    out: list[Expr] = []
    stack: list[Any] = [e]
    while stack:
        n: Any = stack.pop()
        if type(n) is cls:
            stack.append(n.b)
            stack.append(n.a)
        else:
            out.append(n)
    return out


def conjunction(cx: Analyzer, e: Any) -> Expr:
    """``a and b and ...``: each part is simplified where those before it hold."""
    if e.dtype != "bool":
        return e.map_children(cx.simplify)  # type: ignore[no-any-return]
    kept: list[Expr] = []
    old = parts(e, And)
    with cx.scope():
        for part in old:
            new = cx.simplify(part)
            if type(new) is IntImm:
                if new.value:
                    continue
                if all(is_exact(p) or not cx.has_effect(p) for p in kept):
                    return FALSE
            kept.append(new)
            cx.assume(new)
    kept = _without_implied(cx, kept)
    return rebuild(e, old, kept, And, TRUE)


def disjunction(cx: Analyzer, e: Any) -> Expr:
    """``a or b or ...``: each part is simplified where those before it do not hold."""
    if e.dtype != "bool":
        return e.map_children(cx.simplify)  # type: ignore[no-any-return]
    kept: list[Expr] = []
    old = parts(e, Or)
    with cx.scope():
        for part in old:
            new = cx.simplify(part)
            if type(new) is IntImm:
                if not new.value:
                    continue
                if all(is_exact(p) or not cx.has_effect(p) for p in kept):
                    return TRUE
            kept.append(new)
            cx.assume(negation(new))
    unique: dict[Any, Expr] = {}
    for p in kept:
        unique.setdefault(key_of(p), p)
    return rebuild(e, old, list(unique.values()), Or, FALSE)


def rebuild(e: Expr, old: list[Expr], new: list[Expr], cls: Any, empty: Expr) -> Expr:
    if len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True)):
        return e
    if not new:
        return empty
    out = new[0]
    for p in new[1:]:
        out = cls(out, p)
    return out


def _without_implied(cx: Analyzer, kept: list[Expr]) -> list[Expr]:
    """Leave out what a later exact part implies (an earlier one has been used already)."""
    n = 0
    while n < len(kept) and len(kept) <= 16:
        if type(kept[n]) in NEGATED and is_exact(kept[n]) and all(is_exact(p) for p in kept[n + 1 :]):
            with cx.scope():
                for p in kept[n + 1 :]:
                    cx.assume(p)
                implied = bool(kept[n + 1 :]) and cx.decided(kept[n]) is True
            if implied:
                del kept[n]
                continue
        n += 1
    return kept


def negation(e: Expr) -> Expr:
    """``not e``, pushed inside where that is exact: comparisons of floats keep their Not (nan)."""
    t: Any = type(e)
    if t is IntImm:
        return FALSE if e.value else TRUE  # type: ignore[attr-defined]
    if t is Not:
        return e.a  # type: ignore[attr-defined, no-any-return]
    turned = NEGATED.get(t)
    if turned is not None and (t in (EQ, NE) or info(e.a.dtype).code in ("int", "uint", "bool")):  # type: ignore[attr-defined]
        return turned(e.a, e.b)  # type: ignore[no-any-return, attr-defined]
    if t is And and e.dtype == "bool":
        return Or(negation(e.a), negation(e.b))  # type: ignore[attr-defined]
    if t is Or and e.dtype == "bool":
        return And(negation(e.a), negation(e.b))  # type: ignore[attr-defined]
    return Not(e)


def logical_not(cx: Analyzer, e: Any) -> Expr:
    new = cx.simplify(e.a)
    t = type(new)
    if t is IntImm or t is Not or t in NEGATED:
        turned = negation(new)
        if type(turned) is not Not:
            return turned
    return e if new is e.a else Not(new)


__all__ = ["conjunction", "disjunction", "logical_not", "negation", "parts"]
