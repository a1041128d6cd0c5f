"""The value of an exact expression for given values of its variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from tirscript.ir.dtype import info, wrap
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
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

from .fold import COMPARE, fold_int, truncdiv, truncmod


class CannotEvaluate(Exception):
    """The expression holds data, a variable without a value, or a division by 0."""


_BITS: dict[Any, Callable[[int, int], int]] = {
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
}  # fmt: skip
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
        bits = _BITS.get(e.op)
        if bits is not None and info(e.dtype).is_int:
            return bits(_value(e.args[0], values), _value(e.args[1], values))
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


# ---- the same as Python source, for values in bulk

_INFIX: dict[type, str] = {
    Add: "+", Sub: "-", Mul: "*", FloorDiv: "//", FloorMod: "%", LT: "<", LE: "<=", GT: ">", GE: ">=",
    EQ: "==", NE: "!=", And: "and", Or: "or",
}  # fmt: skip
_FUNCTION: dict[type, str] = {Min: "min", Max: "max", Div: "truncdiv", Mod: "truncmod"}
NAMESPACE: dict[str, Any] = {"min": min, "max": max, "truncdiv": truncdiv, "truncmod": truncmod, "wrap": wrap}


def python_source(e: Any, names: Mapping[Var, str]) -> str:
    """Python source of an exact expression, to be run with ``NAMESPACE``: what ``evaluate`` answers, but a
    division by 0 raises ZeroDivisionError.  Raises CannotEvaluate.

    >>> i = Var("i")
    >>> python_source((i + 3) // 2, {i: "x"})
    '((x + 3) // 2)'
    """
    t = type(e)
    if t is Var:
        name = names.get(e)
        if name is None or not e.exact:
            raise CannotEvaluate
        return name
    if t is IntImm:
        return str(e.value) if e.value >= 0 else f"({e.value})"
    infix = _INFIX.get(t)
    if infix is not None:
        if t in _ARITH and not info(e.dtype).is_int:
            raise CannotEvaluate
        return f"({python_source(e.a, names)} {infix} {python_source(e.b, names)})"
    function = _FUNCTION.get(t)
    if function is not None:
        if not info(e.dtype).is_int:
            raise CannotEvaluate
        return f"{function}({python_source(e.a, names)}, {python_source(e.b, names)})"
    if t is Not:
        return f"(not {python_source(e.a, names)})"
    if t is Select or (t is Call and e.op == "if_then_else"):
        test, yes, no = (python_source(c, names) for c in e.children())
        return f"({yes} if {test} else {no})"
    if t is Call and e.op == "likely":
        return python_source(e.args[0], names)
    if t is Cast:
        kind, source = info(e.dtype), info(e.value.dtype)
        if kind.lanes == 1 and (source.is_int or source.code == "bool"):
            value = python_source(e.value, names)
            if kind.is_int:
                return f"wrap(int({value}), {e.dtype!r})"
            if kind.code == "bool":
                return f"({value} != 0)"
    elif t is Let:
        name = f"let_{len(names)}"
        body = python_source(e.body, {**names, e.var: name})
        return f"(lambda {name}: {body})({python_source(e.value, names)})"
    elif t is Broadcast:
        return python_source(e.value, names)
    raise CannotEvaluate
