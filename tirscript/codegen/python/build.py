"""Small constructors of Python AST nodes, and the text of the finished module."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Sequence


def name(text: str) -> ast.expr:
    return ast.Name(text, ast.Load())


def target(text: str) -> ast.expr:
    return ast.Name(text, ast.Store())


def number(value: int | float | bool) -> ast.expr:
    """A constant; a negative one is a minus before it, as Python's own parser has it."""
    if not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def string(text: str) -> ast.expr:
    return ast.Constant(text)


def attribute(value: ast.expr, *names: str) -> ast.expr:
    for n in names:
        value = ast.Attribute(value, n, ast.Load())
    return value


def call(function: str | ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    if isinstance(function, str):
        first, *rest = function.split(".")
        function = attribute(name(first), *rest)
    return ast.Call(function, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def binary(op: ast.operator, a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.BinOp(a, op, b)


def compare(op: ast.cmpop, a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.Compare(a, [op], [b])


def conjunction(parts: Sequence[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), list(parts))


def tuple_of(items: Sequence[ast.expr]) -> ast.expr:
    return ast.Tuple(list(items), ast.Load())


def subscript(value: ast.expr, indices: Sequence[ast.expr], *, store: bool = False) -> ast.expr:
    """``value[i, j]``; ``value[()]`` where there are no indices."""
    key = indices[0] if len(indices) == 1 else tuple_of(indices)
    return ast.Subscript(value, key, ast.Store() if store else ast.Load())


def assign(variable: str | ast.expr, value: ast.expr) -> ast.stmt:
    left = target(variable) if isinstance(variable, str) else variable
    return ast.Assign([left], value)


def loop(variable: ast.expr, iterable: ast.expr, body: list[ast.stmt]) -> ast.stmt:
    return ast.For(variable, iterable, body or [ast.Pass()], [])


def condition(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt] | None = None) -> ast.stmt:
    return ast.If(test, body or [ast.Pass()], orelse or [])


def function(name_: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.stmt:
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    definition = ast.FunctionDef(name_, arguments, body or [ast.Pass()], [], None)
    if sys.version_info >= (3, 12):
        definition.type_params = []
    return definition


def render(body: list[ast.stmt]) -> str:
    """The text of a module: by astor, by ``ast.unparse`` where astor cannot run (Python 3.14)."""
    module = ast.fix_missing_locations(ast.Module(body, []))
    if sys.version_info >= (3, 14):
        return ast.unparse(module) + "\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import astor  # on use: most programs never ask for this text

        text: str = astor.to_source(module, pretty_source="".join)
    return text
