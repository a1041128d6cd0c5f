"""Expressions: names, constants, operators, comparisons, attributes."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import (
    NotYetError,
    TirscriptError,
    did_you_mean,
)
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    BufferLoad,
    Call,
    Expr,
    IterVar,
    Let,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import Node, walk
from tirscript.ir.op import effect_of
from tirscript.notyet import NotYetModule
from tirscript.script import ir as I_module
from tirscript.script import tir as T_module
from tirscript.script.scope import MISSING

from .call import BUFFER_METHODS, BoundMethod
from .core import EXPR, POISON, Cell, Parser, Poisoned
from .offsets import offset_of
from .values import operand, python_value


def _constant(p: Parser, node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, (complex, bytes)):
        p.refuse(node, f"a {type(value).__name__} constant")
    return value


def name_value(p: Parser, node: ast.Name) -> Any:
    """What a name stands for: of the script first, then of Python around it."""
    value = p.names.get(node.id, MISSING)
    if value is MISSING:
        value = p.env.lookup(node.id)
        if value is MISSING:
            raise p.undefined(node)
        if value is POISON:
            raise Poisoned
        return value
    if value is POISON:
        raise Poisoned
    if type(value) is Cell:
        return BufferLoad(value.buffer, (), None, p.span(node))
    return value


_BINARY: dict[type, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], str]] = {
    ast.Add: (ops.add, operator.add, "+"),
    ast.Sub: (ops.sub, operator.sub, "-"),
    ast.Mult: (ops.mul, operator.mul, "*"),
    ast.Div: (ops.div, operator.truediv, "/"),
    ast.FloorDiv: (ops.floordiv, operator.floordiv, "//"),
    ast.Mod: (ops.floormod, operator.mod, "%"),
    ast.Pow: (ops.power, operator.pow, "**"),
    ast.LShift: (ops.shift_left, operator.lshift, "<<"),
    ast.RShift: (ops.shift_right, operator.rshift, ">>"),
    ast.BitAnd: (ops.bitwise_and, operator.and_, "&"),
    ast.BitOr: (ops.bitwise_or, operator.or_, "|"),
    ast.BitXor: (ops.bitwise_xor, operator.xor, "^"),
}


def _binary(p: Parser, node: ast.BinOp) -> Any:
    left, right = node.left, node.right
    return apply_binary(p, node, node.op, EXPR[type(left)](p, left), EXPR[type(right)](p, right))


def apply_binary(p: Parser, node: ast.AST, op: ast.operator, a: Any, b: Any) -> Any:
    """``a op b``, of expressions or of Python values."""
    found = _BINARY.get(type(op))
    if found is None:
        p.refuse(node, "`@`", "write the loops of the product")
    ir, python, sign = found
    if isinstance(a, Expr) or isinstance(b, Expr):
        try:
            return ir(a, b)
        except TirscriptError as e:
            raise _operand_error(p, node, sign, a, b, e) from None
    if isinstance(a, Node) or isinstance(b, Node):
        a, b = operand(p, node, a), operand(p, node, b)
        return apply_binary(p, node, op, a, b)
    return python_value(python, p, node, a, b)


def _operand_error(p: Parser, node: Any, sign: str, a: Any, b: Any, error: TirscriptError) -> Exception:
    for side, value in (("left", a), ("right", b)):
        if isinstance(value, (Buffer, BufferRegion)):
            try:
                operand(p, getattr(node, side, node), value)
            except TirscriptError as e:
                return e
        if isinstance(value, (PrimFunc, IRModule, types.FunctionType, list, tuple, dict, type(None))):
            where = getattr(node, side, node)
            what = {"NoneType": "None"}.get(type(value).__name__, f"a Python {type(value).__name__}")
            return p.error(where, f"{what} is no operand of `{sign}`", "not-an-expression")
    return p.located(error, node)


def _unary(p: Parser, node: ast.UnaryOp) -> Any:
    value = operand(p, node.operand, p.expr(node.operand))
    op = type(node.op)
    if isinstance(value, Expr):
        try:
            return _UNARY[op][0](value)
        except TirscriptError as e:
            raise p.located(e, node) from None
    return python_value(_UNARY[op][1], p, node, value)


_UNARY: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    ast.USub: (ops.neg, operator.neg),
    ast.UAdd: (lambda x: x, operator.pos),
    ast.Invert: (ops.bitwise_not, operator.invert),
    ast.Not: (ops.logical_not, operator.not_),
}

_COMPARE: dict[type, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Eq: (ops.eq, operator.eq),
    ast.NotEq: (ops.ne, operator.ne),
    ast.Lt: (ops.lt, operator.lt),
    ast.LtE: (ops.le, operator.le),
    ast.Gt: (ops.gt, operator.gt),
    ast.GtE: (ops.ge, operator.ge),
}

_PYTHON_COMPARE: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Is: (operator.is_, "is"),
    ast.IsNot: (operator.is_not, "is not"),
    ast.In: (lambda a, b: a in b, "in"),
    ast.NotIn: (lambda a, b: a not in b, "not in"),
}


def _compare(p: Parser, node: ast.Compare) -> Any:
    left = p.expr(node.left)
    if len(node.ops) == 1:
        right = p.expr(node.comparators[0])
        return _compare_two(p, node, node.ops[0], left, right)
    values = [left, *[p.expr(c) for c in node.comparators]]
    # An operand in the middle stands in two comparisons and is evaluated once.
    lets: list[tuple[Var, Expr]] = []
    for k in range(1, len(values) - 1):
        value = values[k]
        if isinstance(value, Expr) and not _is_pure(value):
            var = Var(f"cmp{k}", value.dtype, False)
            lets.append((var, value))
            values[k] = var
    result: Any = None
    for k, op in enumerate(node.ops):
        test = _compare_two(p, node, op, values[k], values[k + 1])
        if k == 0:
            result = test
        elif isinstance(result, Expr):
            result = ops.logical_and(result, test)
        elif result:
            result = test
        if not isinstance(result, Expr) and not result:
            return result
    for var, value in reversed(lets):
        result = Let(var, value, ops.as_expr(result))
    return result


def _is_pure(value: Expr) -> bool:
    return all(type(n) is not Call or effect_of(n.op) in ("pure", "hint") for n in walk(value))


def _compare_two(p: Parser, node: ast.Compare, op: ast.cmpop, a: Any, b: Any) -> Any:
    kind = type(op)
    if kind in _PYTHON_COMPARE:
        python, word = _PYTHON_COMPARE[kind]
        if any(isinstance(v, Expr) for v in (a, b)) and kind in (ast.In, ast.NotIn):
            p.refuse(node, f"`{word}` of values that are computed", "compare with each item, joined by `or`")
        if any(isinstance(v, Expr) for v in (a, b)) and None not in (a, b):
            p.refuse(node, f"`{word}` of values that are computed", "`==` compares values")
        return python_value(python, p, node, a, b)
    ir, python = _COMPARE[kind]
    if isinstance(a, Expr) or isinstance(b, Expr):
        try:
            return ir(operand(p, node, a), operand(p, node, b))
        except TirscriptError as e:
            raise _operand_error(p, node, "a comparison", a, b, e) from None
    if isinstance(a, IterVar) or isinstance(b, IterVar):
        return _compare_two(p, node, op, operand(p, node, a), operand(p, node, b))
    return python_value(python, p, node, a, b)


def _boolean(p: Parser, node: ast.BoolOp) -> Any:
    """``and`` and ``or``: Python values on the left are decided now, the rest is an expression."""
    is_and = type(node.op) is ast.And
    join = ops.logical_and if is_and else ops.logical_or
    result: Any = MISSING
    for v in node.values:
        value = operand(p, v, p.expr(v))
        try:
            if isinstance(value, Expr):
                _check_bool(p, v, value, "and" if is_and else "or")
            if isinstance(result, Expr):
                result = join(result, value if isinstance(value, Expr) else bool(value))
            else:
                result = value
                if not isinstance(value, Expr) and bool(value) != is_and:
                    return value
        except TirscriptError as e:
            raise p.located(e, v) from None
    return result


def _check_bool(p: Parser, node: ast.AST, value: Expr, word: str) -> None:
    if not value.dtype.startswith("bool"):
        raise p.error(
            node,
            f"`{word}` takes bools, this is {value.dtype}",
            "dtype-mismatch",
            hint="compare with 0: `x != 0`",
        )


def _conditional(p: Parser, node: ast.IfExp) -> Any:
    test = operand(p, node.test, p.expr(node.test))
    if not isinstance(test, Expr):
        return p.expr(node.body if test else node.orelse)
    a, b = operand(p, node.body, p.expr(node.body)), operand(p, node.orelse, p.expr(node.orelse))
    try:
        return ops.if_then_else(test, a, b)
    except TirscriptError as e:
        raise p.located(e, node) from None


def _attribute(p: Parser, node: ast.Attribute) -> Any:
    value = p.expr(node.value)
    name = node.attr
    if value is T_module or value is I_module:
        found = vars(value).get(name, MISSING)
        if found is not MISSING and (not p.env.text_only or name[0] != "_"):
            return found
        return _unknown_attribute(p, node, value)
    if isinstance(value, Buffer):
        return _buffer_attribute(p, node, value)
    if (
        isinstance(value, Expr)
        and not isinstance(value, Var)
        and name == "buffer"
        and isinstance(value, BufferLoad)
    ):
        return value.buffer
    member = _MODULE_MEMBER.get(type(value))
    if member is not None:
        return member(p, node, value)
    if isinstance(value, NotYetModule):
        raise p.error(node, f"tirscript does not have `{ast.unparse(node)}` yet", "not-yet")
    if p.env.text_only and (name.startswith("_") or isinstance(value, types.ModuleType)):
        if not isinstance(value, types.ModuleType) or not _public_module(value, name):
            p.refuse(node, f"`.{name}` in a text", "give the value itself by extra_vars")
    try:
        return getattr(value, name)
    except AttributeError as e:
        hint = did_you_mean(name, [n for n in dir(value) if not n.startswith("_")])
        # Of what is ours the user knows the spelling, not the class: `T.axis`.
        ours = str(getattr(value, "__module__", "")).startswith("tirscript.")
        message = f"`{ast.unparse(node.value)}` has no `{name}`" if ours else str(e)
        raise p.error(node, message, "unknown-attribute", hint=hint) from None
    except TirscriptError as e:
        raise p.located(e, node) from None
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


# Kinds of values with attributes of their own; `entry` adds the module being read.
_MODULE_MEMBER: dict[type, Callable[[Parser, ast.Attribute, Any], Any]] = {}


def member_of(kind: type, handler: Callable[[Parser, ast.Attribute, Any], Any]) -> None:
    """Let ``handler`` read attributes of values of the type ``kind``."""
    _MODULE_MEMBER[kind] = handler


def _public_module(module: types.ModuleType, name: str) -> bool:
    """Whether a text may read the attribute: the script modules below tirscript, nothing else."""
    if module.__name__ in ("tirscript", "tirscript.script"):
        return name in ("script", "tir", "tirx", "ir", "relax", "IRModule")
    return module is T_module or module is I_module


def _unknown_attribute(p: Parser, node: ast.Attribute, module: types.ModuleType) -> Any:
    letter = "T" if module is T_module else "I"
    try:
        found = getattr(module, node.attr)
        if not node.attr.startswith("_"):
            return found
    except AttributeError:
        pass
    except NotYetError as e:
        raise p.error(node, e.message, e.code, hint=e.hint) from None
    raise p.error(
        node,
        f"`{letter}` has no `{node.attr}`",
        "unknown-name",
        hint=did_you_mean(node.attr, [n for n in dir(module) if not n.startswith("_")]),
    )


_BUFFER_FIELDS = ("data", "shape", "strides", "dtype", "name", "elem_offset", "ndim")


def _buffer_attribute(p: Parser, node: ast.Attribute, buffer: Buffer) -> Any:
    name = node.attr
    if name == "elem_offset":
        return offset_of(p, buffer)
    if name in _BUFFER_FIELDS:
        return getattr(buffer, name)
    method = BUFFER_METHODS.get(name)
    if method is None:
        raise p.error(
            node,
            f"a buffer has no `{name}`",
            "unknown-attribute",
            hint=did_you_mean(name, [*_BUFFER_FIELDS, *BUFFER_METHODS]),
        )
    return BoundMethod(method, buffer)


EXPR.update(
    {
        ast.Constant: _constant,
        ast.Name: name_value,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BoolOp: _boolean,
        ast.IfExp: _conditional,
        ast.Attribute: _attribute,
    }
)
