"""Rules for Select, if_then_else and Let."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import info
from tirscript.ir.expr import Expr, IntImm, Let, Select, Var
from tirscript.ir.visitor import substitute

from ..bounds import expr_range
from ..exact import is_exact
from ..linear import same
from .data import safe
from .logic import negation

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def branches(cx: Analyzer, condition: Expr, yes: Expr, no: Expr) -> tuple[Expr, Expr, Expr]:
    """The three parts simplified, each branch where its condition holds."""
    test = cx.simplify(condition)
    if test.dtype != "bool":
        return test, cx.simplify(yes), cx.simplify(no)
    with cx.constraint(test):
        yes = cx.simplify(yes)
    with cx.constraint(negation(test)):
        no = cx.simplify(no)
    return test, yes, no


def _keeps_value(cx: Analyzer, whole: Expr, chosen: Expr) -> bool:
    if not info(whole.dtype).is_int or is_exact(whole):
        return True
    return not is_exact(chosen) or safe(cx, chosen, whole.dtype)


def select(cx: Analyzer, e: Any) -> Expr:
    test, yes, no = branches(cx, e.condition, e.true_value, e.false_value)
    chosen = _chosen(cx, test, yes, no, both=True)
    if chosen is not None and _keeps_value(cx, e, chosen):
        return chosen
    if test is e.condition and yes is e.true_value and no is e.false_value:
        return e  # type: ignore[no-any-return]
    return Select(test, yes, no)


def if_then_else(cx: Analyzer, e: Any) -> Expr:
    test, yes, no = branches(cx, *e.args)
    chosen = _chosen(cx, test, yes, no, both=False)
    if chosen is not None and _keeps_value(cx, e, chosen):
        return chosen
    if all(x is y for x, y in zip((test, yes, no), e.args, strict=True)):
        return e  # type: ignore[no-any-return]
    return e.replace(args=(test, yes, no))  # type: ignore[no-any-return]


def _chosen(cx: Analyzer, test: Expr, yes: Expr, no: Expr, both: bool) -> Expr | None:
    if type(test) is IntImm:
        dropped = no if test.value else yes
        if both and cx.has_effect(dropped):
            return None
        return yes if test.value else no
    if cx.has_effect(test) or cx.has_effect(yes):
        return None
    return yes if same(yes, no) else None


def let(cx: Analyzer, e: Any) -> Expr:
    """A let of a constant or a variable is replaced; else the bounds of the value hold in the body."""
    value = cx.simplify(e.value)
    plain = type(value) is IntImm or (type(value) is Var and value.dtype != "handle")
    # A variable of data stays: what is computed from it wraps.
    if plain and (e.var.exact or not info(e.var.dtype).is_int or (type(value) is Var and not value.exact)):
        return cx.simplify(substitute(e.body, {e.var: value}))
    if info(e.var.dtype).is_int and "x" not in e.var.dtype:
        with cx.scope():
            cx.set_range(e.var, expr_range(cx, value))
            body = cx.simplify(e.body)
    else:
        body = cx.simplify(e.body)
    if type(body) in (IntImm,) and not cx.has_effect(value):
        return body
    if value is e.value and body is e.body:
        return e  # type: ignore[no-any-return]
    return Let(e.var, value, body)
