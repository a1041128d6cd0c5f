"""Expressions over the sizes of a function, from their text: how a trace names what is no number."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from tirscript.diagnostics import ScheduleValueError, TirscriptError, did_you_mean
from tirscript.ir import ops
from tirscript.ir.expr import Expr, Var
from tirscript.ir.visitor import free_vars

from ..state import ScheduleState

_BINARY: dict[type, Callable[[Any, Any], Expr]] = {
    ast.Add: ops.add, ast.Sub: ops.sub, ast.Mult: ops.mul, ast.FloorDiv: ops.floordiv,
    ast.Mod: ops.floormod, ast.Div: ops.div, ast.And: ops.logical_and, ast.Or: ops.logical_or,
}  # fmt: skip
_COMPARE: dict[type, Callable[[Any, Any], Expr]] = {
    ast.Eq: ops.eq, ast.NotEq: ops.ne, ast.Lt: ops.lt, ast.LtE: ops.le, ast.Gt: ops.gt, ast.GtE: ops.ge,
}  # fmt: skip
_CALLS: dict[str, Callable[..., Expr]] = {
    "min": ops.minimum, "max": ops.maximum, "floordiv": ops.floordiv, "floormod": ops.floormod,
    "truncdiv": ops.truncdiv, "truncmod": ops.truncmod, "ceildiv": ops.ceildiv, "Select": ops.select,
    "if_then_else": ops.if_then_else, "abs": ops.absolute, "Not": ops.logical_not,
    "Cast": lambda dtype, value: ops.cast(value, dtype), "cast": ops.cast,
}  # fmt: skip
_DTYPES = {"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


def sizes(state: ScheduleState, function: str | None = None) -> dict[str, Var]:
    """The variables of the parameters of the functions, by name; those of ``function`` come first."""
    found: dict[str, Var] = {}
    for f in sorted(state.functions.values(), key=lambda f: f.name != (function or state.working)):
        for p in f.func.params:
            found.setdefault(p.name, p)
        for b in f.func.buffer_map.values():
            for e in (*b.shape, *(b.strides or ())):
                for v in free_vars(e):
                    found.setdefault(v.name, v)
    return found


def read(text: Any, names: Mapping[str, Var]) -> Expr:
    """The expression that a text means; nothing is run."""
    if not isinstance(text, str):
        raise ScheduleValueError(
            f"an expression is given as its text, not as {type(text).__name__}", code="bad-expression"
        )
    try:
        return ops.as_expr(_value(ast.parse(text.strip(), mode="eval").body, names))
    except (SyntaxError, _NotUnderstood, RecursionError) as e:
        raise ScheduleValueError(f"{text!r} is no expression: {e}", code="bad-expression") from None
    except TirscriptError as e:
        if isinstance(e, ScheduleValueError):
            raise
        raise ScheduleValueError(f"{text!r}: {e.message}", code="bad-expression") from None


class _NotUnderstood(Exception):
    pass


def _value(e: ast.expr, names: Mapping[str, Var]) -> Any:
    if isinstance(e, ast.Constant) and isinstance(e.value, (bool, int, float)):
        return e.value
    if isinstance(e, ast.Name):
        found = names.get(e.id)
        if found is None:
            raise ScheduleValueError(
                f"the function has no size `{e.id}`", code="bad-expression", hint=did_you_mean(e.id, names)
            )
        return found
    if isinstance(e, ast.BinOp) and type(e.op) in _BINARY:
        return _BINARY[type(e.op)](_value(e.left, names), _value(e.right, names))
    if isinstance(e, ast.UnaryOp):
        inner = _value(e.operand, names)
        if isinstance(e.op, ast.USub):
            return ops.neg(inner) if isinstance(inner, Expr) else -inner
        if isinstance(e.op, ast.Not):
            return ops.logical_not(inner)
    if isinstance(e, ast.BoolOp):
        out = _value(e.values[0], names)
        for v in e.values[1:]:
            out = _BINARY[type(e.op)](out, _value(v, names))
        return out
    if isinstance(e, ast.Compare) and len(e.ops) == 1 and type(e.ops[0]) in _COMPARE:
        return _COMPARE[type(e.ops[0])](_value(e.left, names), _value(e.comparators[0], names))
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and not e.keywords:
        owner, name = e.func.value, e.func.attr
        if isinstance(owner, ast.Name) and owner.id == "T":
            args: list[Any] = [
                a.value if isinstance(a, ast.Constant) and isinstance(a.value, str) else _value(a, names)
                for a in e.args
            ]
            if name in _DTYPES and len(args) == 1:
                return ops.cast(args[0], name) if isinstance(args[0], Expr) else ops.const(args[0], name)
            if name in _CALLS:
                try:
                    return _CALLS[name](*args)
                except TypeError:
                    raise _NotUnderstood(f"T.{name} of {len(args)} arguments") from None
    raise _NotUnderstood(f"`{ast.unparse(e)}` is not understood here")


__all__ = ["read", "sizes"]
