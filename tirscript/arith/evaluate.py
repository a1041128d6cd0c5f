"""The value of an exact expression for given values of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.ir.dtype import info, wrap
from tirscript.ir.expr import (
    Add,
    And,
    Broadcast,
    Call,
    Cast,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Select,
    Sub,
    Var,
)

from .fold import COMPARE, fold_int


class CannotEvaluate(Exception):
    """The expression holds data, a variable without a value, or a division by 0."""


_ARITH = frozenset({Add, Sub, Mul, FloorDiv, FloorMod, Div, Mod, Min, Max})


def evaluate(e: Expr, values: Mapping[Var, int]) -> int:
    """The value of an exact integer or bool expression.  Raises CannotEvaluate.

    >>> i = Var("i")
    >>> evaluate((i * 4 + 3) // 2, {i: 5})
    11
    """
    return _value(e, values)


def _value(e: Any, values: Mapping[Var, int]) -> int:
    t = type(e)
    if t is Var:
        found = values.get(e)
        if found is None or not e.exact:
            raise CannotEvaluate
        return found
    if t is IntImm:
        return e.value  # type: ignore[no-any-return]
    if t in _ARITH:
        if not info(e.dtype).is_int:
            raise CannotEvaluate
        value = fold_int(t, _value(e.a, values), _value(e.b, values))
        if value is None:
            raise CannotEvaluate
        return value
    compare = COMPARE.get(t)
    if compare is not None:
        return int(compare(_value(e.a, values), _value(e.b, values)))
    if t is And:
        return int(bool(_value(e.a, values)) and bool(_value(e.b, values)))
    if t is Or:
        return int(bool(_value(e.a, values)) or bool(_value(e.b, values)))
    if t is Not:
        return int(not _value(e.a, values))
    if t is Select:
        return _value(e.true_value if _value(e.condition, values) else e.false_value, values)
    if t is Call:
        if e.op == "if_then_else":
            return _value(e.args[1] if _value(e.args[0], values) else e.args[2], values)
        if e.op == "likely":
            return _value(e.args[0], values)
    elif t is Cast:
        kind, source = info(e.dtype), info(e.value.dtype)
        if (kind.is_int or kind.code == "bool") and (source.is_int or source.code == "bool"):
            value = _value(e.value, values)
            return wrap(value, e.dtype) if kind.is_int else int(value != 0)
    elif t is Let:
        return _value(e.body, {**values, e.var: _value(e.value, values)})
    elif t is Broadcast:
        return _value(e.value, values)
    raise CannotEvaluate
