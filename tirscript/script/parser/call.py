"""Calls: of constructs through the table, of operators and Python functions directly."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import (
    TirscriptError,
)
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion

from .core import CALLS, EXPR, Parser, Poisoned
from .values import operand, starred_items

# Methods of buffers: the handler gets the parser, the call and the buffer.
BUFFER_METHODS: dict[str, Callable[[Parser, ast.Call, Buffer], Any]] = {}


class BoundMethod:
    """``A.access_ptr`` before it is called."""

    __slots__ = ("buffer", "method")

    def __init__(self, method: Callable[[Parser, ast.Call, Buffer], Any], buffer: Buffer) -> None:
        self.method = method
        self.buffer = buffer


def call_values(p: Parser, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The values of the arguments of a call."""
    args: list[Any] = []
    for a in node.args:
        if type(a) is ast.Starred:
            args += starred_items(p, a)
        else:
            args.append(EXPR[type(a)](p, a))
    kwargs: dict[str, Any] = {}
    for k in node.keywords:
        value = p.expr(k.value)
        if k.arg is None:
            if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
                raise p.error(k.value, "`**` takes a dict with strings as keys", "arity")
            kwargs.update(value)
        else:
            kwargs[k.arg] = value
    return args, kwargs


def _call(p: Parser, node: ast.Call) -> Any:
    function = p.expr(node.func)
    try:
        handler = CALLS.get(function)
    except TypeError:  # not hashable
        handler = None
    if handler is not None:
        return handler(p, node)
    handler = CALLS.get(type(function))
    if handler is not None:
        return handler(p, node)
    args, kwargs = call_values(p, node)
    return call_python(p, node, function, args, kwargs)


def call_python(p: Parser, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a Python function or an operator of ``T``."""
    if not callable(function):
        if isinstance(function, Buffer):
            raise p.error(node, f"`{function.name}` is a buffer: index it with brackets", "not-callable")
        raise p.error(node.func, f"`{ast.unparse(node.func)}` cannot be called", "not-callable")
    try:
        return function(*args, **kwargs)
    except Poisoned:
        raise
    except TirscriptError as e:
        raise _argument_error(p, node, args, e) from None
    except Exception as e:
        from .callerrors import python_error

        raise python_error(p, node, function, args, kwargs, e) from None


def _argument_error(p: Parser, node: ast.Call, args: list[Any], e: TirscriptError) -> Exception:
    """``e`` at the argument that is no operand or no dtype, else at the whole call."""
    if e.code == "dtype" and len(args) == len(node.args):
        for a, value in zip(node.args, args, strict=True):
            if isinstance(value, str) and not _is_dtype(value):
                return p.located(e, a)
    if not (e.code == "not-an-expression" and not getattr(e, "marks", ())):
        return p.located(e, node)
    if len(args) == len(node.args):
        for a, value in zip(node.args, args, strict=True):
            if isinstance(value, (Buffer, BufferRegion)):
                try:
                    operand(p, a, value)
                except TirscriptError as better:
                    return better
    return p.located(e, node)


def _is_dtype(text: str) -> bool:
    try:
        dt.info(text)
    except ValueError:
        return False
    return True


def _bound_method(p: Parser, node: ast.Call) -> Any:
    bound = p.expr(node.func)
    return bound.method(p, node, bound.buffer)


CALLS[BoundMethod] = _bound_method
EXPR[ast.Call] = _call
