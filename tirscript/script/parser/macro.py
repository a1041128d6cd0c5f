"""Macros: functions whose bodies are read anew at every call."""

from __future__ import annotations

import ast
import types
from typing import Any

from tirscript.diagnostics import Source, TirscriptError
from tirscript.script import constructs
from tirscript.script.scope import Environment, of_function
from tirscript.script.source import missing_source, text_of_frame

from .call import call_values
from .core import CALLS, STMT, Parser, first_line_span


class Macro:
    """A macro: its definition, and the names that it sees."""

    __slots__ = (
        "__name__", "definition", "env", "hygienic", "late", "scope", "source", "unicode_columns", "where"
    )  # fmt: skip

    def __init__(
        self, definition: ast.FunctionDef, source: Source, unicode_columns: bool, env: Environment, *,
        hygienic: bool, late: bool, scope: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        self.__name__ = definition.name
        self.definition = definition
        self.source = source
        self.unicode_columns = unicode_columns
        self.env = env
        self.hygienic = hygienic
        self.late = late
        # The names of the script around the definition, for a macro defined inside a script.
        self.scope = scope
        # Where a macro with late binding stands in Python.
        self.where: tuple[types.FunctionType, types.FrameType] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TirscriptError(f"the macro `{self.__name__}` is called inside a script", code="outside-script")

    def __repr__(self) -> str:
        return f"<macro {self.__name__}>"


def define(function: Any, frame: types.FrameType, *, hygienic: bool, late: bool = False) -> Any:
    """What ``@T.macro`` gives outside of a script."""
    if not isinstance(function, types.FunctionType):
        raise TirscriptError(
            f"T.macro decorates a function, not a {type(function).__name__}", code="decorator"
        )
    text = text_of_frame(frame)
    found = text.find(ast.FunctionDef, function.__name__, function.__code__.co_firstlineno) if text else None
    if text is None or found is None:
        raise missing_source(function.__name__).with_traceback(None)
    env = of_function(function, frame)
    macro = Macro(found, text.source, not text.ascii_only, env, hygienic=hygienic, late=late, scope=None)
    macro.env = env.extended({function.__name__: macro})
    if late:
        macro.where = function, frame
    return macro


def define_nested(p: Parser, s: ast.FunctionDef) -> None:
    """A macro that is defined in a script, a class or a text."""

    hygienic, late = True, False
    for d in s.decorator_list:
        value = p.expr(d.func if isinstance(d, ast.Call) else d)
        if value is constructs.inline:
            late = True
        elif value is not constructs.macro:
            raise p.error(d, f"`{ast.unparse(d)}` makes no macro", "unsupported")
        for k in d.keywords if isinstance(d, ast.Call) else ():
            if k.arg == "hygienic":
                hygienic = bool(p.expr(k.value))
    if not s.decorator_list:
        p.refuse(
            first_line_span(p, s),
            "a nested function",
            "decorate it with @T.macro or @T.inline, or define it outside",
        )
    scope = p.names if late else dict(p.names)
    macro = Macro(s, p.source, p.unicode_columns, p.env, hygienic=hygienic, late=late, scope=scope)
    p.bind(s.name, macro, "a macro")


_LIMIT = 200


def call(p: Parser, node: ast.Call) -> None:
    """Read the body of a macro here."""
    macro: Macro = p.expr(node.func)
    args, kwargs = call_values(p, node)
    bound = _bind(p, node, macro, args, kwargs)
    if len(p.macros) >= _LIMIT:
        raise p.error(node, f"the macro `{macro.__name__}` calls itself without end", "macro-recursion")
    place = p.span(node)
    saved = p.env, p.names, p.kinds, p.source, p.unicode_columns, p.span, p.undo
    if macro.scope is not None and macro.late:
        # Names are looked up now, in the scopes around the definition: the script's own.
        inner = dict(p.names)
    elif macro.scope is not None:
        inner = dict(macro.scope)
    else:
        inner = {}
    if not macro.hygienic:
        inner = {**inner, **p.names}
    p.names, p.kinds, p.undo = inner, dict(p.kinds) if inner else {}, []
    p.env = macro.env
    if macro.where is not None:
        p.env = of_function(*macro.where).extended({macro.__name__: macro})
    p.set_source(macro.source, not macro.unicode_columns)
    p.macros.append((macro.__name__, place))
    try:
        for name, value in bound.items():
            p.bind(name, value, "a Python value")
        p.statements(macro.definition.body)
    finally:
        p.macros.pop()
        # What the body defined for the rest of the enclosing body keeps its name there.
        taken = [entry for entry in p.undo if not entry[0]]
        p.env, p.names, p.kinds, p.source, p.unicode_columns, p.span, p.undo = saved
        p.undo += taken


def _bind(p: Parser, node: ast.Call, macro: Macro, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the macro with what they get, by Python's rules."""
    a = macro.definition.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)]
    what = f"the macro `{macro.__name__}`"
    out = dict(zip(names, args, strict=False))
    rest = args[len(names) :]
    if a.vararg is not None:
        out[a.vararg.arg] = tuple(rest)
    elif rest:
        raise p.error(node, f"{what} takes {len(names)} arguments, {len(args)} given", "arity")
    extra: dict[str, Any] = {}
    only = [x.arg for x in a.kwonlyargs]
    for k, value in kwargs.items():
        if k in out:
            raise p.error(node, f"{what} gets `{k}` twice", "arity")
        if k in names or k in only:
            out[k] = value
        elif a.kwarg is not None:
            extra[k] = value
        else:
            raise p.error(node, f"{what} has no parameter `{k}`", "unknown-keyword")
    if a.kwarg is not None:
        out[a.kwarg.arg] = extra
    defaults = dict(zip(names[len(names) - len(a.defaults) :], a.defaults, strict=True))
    defaults |= {n: d for n, d in zip(only, a.kw_defaults, strict=True) if d is not None}
    for name in (*names, *only):
        if name not in out:
            if name not in defaults:
                raise p.error(node, f"{what} needs `{name}`", "arity")
            saved = p.env
            p.env = macro.env
            try:
                out[name] = p.expr(defaults[name])
            finally:
                p.env = saved
    return out


def _nested(p: Parser, s: ast.FunctionDef) -> None:
    define_nested(p, s)


CALLS[Macro] = call
STMT[ast.FunctionDef] = _nested
