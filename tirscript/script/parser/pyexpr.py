"""Python expressions that make Python values: containers, lambdas, comprehensions, f-strings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from tirscript.diagnostics import (
    TirscriptError,
)
from tirscript.ir.expr import (
    Expr,
    Var,
)
from tirscript.ir.node import Node

from .core import EXPR, Parser
from .values import assign_python, python_value, starred_items


def _tuple(p: Parser, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(_elements(p, node.elts))


def _list(p: Parser, node: ast.List) -> list[Any]:
    return _elements(p, node.elts)


def _elements(p: Parser, nodes: list[ast.expr]) -> list[Any]:
    out: list[Any] = []
    for e in nodes:
        if type(e) is ast.Starred:
            out += starred_items(p, e)
        else:
            out.append(EXPR[type(e)](p, e))
    return out


def _set(p: Parser, node: ast.Set) -> set[Any]:
    made: set[Any] = python_value(set, p, node, _elements(p, node.elts))
    return made


def _dict(p: Parser, node: ast.Dict) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for k, v in zip(node.keys, node.values, strict=True):
        if k is None:
            out.update(p.expr(v))
        else:
            out[python_value(lambda x: (hash(x), x)[1], p, k, p.expr(k))] = p.expr(v)
    return out


_CONVERSIONS: dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}


def _joined(p: Parser, node: ast.JoinedStr) -> str:
    out = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = p.expr(part.value)
            if part.conversion != -1:
                value = _CONVERSIONS[part.conversion](value)
            spec = p.expr(part.format_spec) if part.format_spec is not None else ""
            if isinstance(value, Var):
                value = value.name
            out.append(python_value(format, p, part.value, value, spec))
        else:
            out.append(p.expr(part))
    return "".join(out)


class ScriptLambda:
    """A lambda: its body is read anew at every call, so that it may hold expressions of the script."""

    __slots__ = ("__name__", "node", "parser", "scope")

    def __init__(self, p: Parser, node: ast.Lambda) -> None:
        self.parser = p
        self.node = node
        self.scope = dict(p.names)
        self.__name__ = "<lambda>"

    @property
    def parameters(self) -> list[str]:
        a = self.node.args
        return [x.arg for x in (*a.posonlyargs, *a.args)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        p, spec = self.parser, self.node.args
        names = self.parameters
        bound: dict[str, Any] = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            if spec.vararg is None:
                raise TirscriptError(
                    f"the lambda takes {len(names)} arguments, {len(args)} given", code="arity"
                )
        if spec.vararg is not None:
            bound[spec.vararg.arg] = tuple(args[len(names) :])
        bound.update(kwargs)
        for name, default in zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True):
            if name not in bound:
                bound[name] = p.expr(default)
        missing = [n for n in names if n not in bound]
        if missing:
            raise TirscriptError(f"the lambda needs `{missing[0]}`", code="arity")
        saved = p.names
        p.names = {**self.scope, **bound}
        try:
            return p.expr(self.node.body)
        finally:
            p.names = saved


def _lambda(p: Parser, node: ast.Lambda) -> ScriptLambda:
    return ScriptLambda(p, node)


def _generators(p: Parser, generators: list[ast.comprehension]) -> Iterator[None]:
    """Bind the targets of a comprehension, once for each element."""
    first, rest = generators[0], generators[1:]
    if first.is_async:
        p.refuse(first.iter, "an async comprehension")
    value = p.expr(first.iter)
    if isinstance(value, Node):
        raise p.error(first.iter, "a comprehension runs over a Python sequence", "comprehension")
    for item in python_value(iter, p, first.iter, value):
        assign_python(p, first.target, item)
        keep = True
        for condition in first.ifs:
            test = p.expr(condition)
            if isinstance(test, Expr):
                raise p.error(
                    condition, "the condition of a comprehension is a Python value", "comprehension"
                )
            keep = keep and bool(test)
        if keep:
            if rest:
                yield from _generators(p, rest)
            else:
                yield None


def _comprehension(make: Callable[[Any], Any]) -> Callable[[Parser, Any], Any]:
    def handler(p: Parser, node: Any) -> Any:
        mark = len(p.undo)
        try:
            return make(p.expr(node.elt) for _ in _generators(p, node.generators))
        finally:
            p.leave(mark)

    return handler


def _dict_comprehension(p: Parser, node: ast.DictComp) -> dict[Any, Any]:
    mark = len(p.undo)
    try:
        return {p.expr(node.key): p.expr(node.value) for _ in _generators(p, node.generators)}
    finally:
        p.leave(mark)


def _refused(what: str, hint: str | None = None) -> Callable[[Parser, Any], Any]:
    def handler(p: Parser, node: Any) -> Any:
        p.refuse(node, what, hint)

    return handler


EXPR.update(
    {
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.JoinedStr: _joined,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension(list),
        ast.SetComp: _comprehension(set),
        ast.GeneratorExp: _comprehension(list),
        ast.DictComp: _dict_comprehension,
        ast.NamedExpr: _refused("`:=`", "write the assignment as a statement of its own"),
        ast.Await: _refused("`await`"),
        ast.Yield: _refused("`yield`", "a script writes its results into buffers"),
        ast.YieldFrom: _refused("`yield from`", "a script writes its results into buffers"),
        ast.Starred: _refused("a starred expression here"),
    }
)
