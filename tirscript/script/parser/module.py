"""Modules: classes of functions that call each other."""

from __future__ import annotations

import ast
from typing import Any

from tirscript.diagnostics import (
    ParseError,
    Span,
    TirscriptError,
)
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    Call,
    Expr,
    GlobalVar,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.script import constructs
from tirscript.script import ir as I_module
from tirscript.script.scope import Environment
from tirscript.script.source import Text

from .call import call_values
from .core import CALLS, Options, Parser, first_line_span
from .expr import member_of
from .function import parse_definition, position, result_dtype
from .macro import define_nested
from .values import value_expr


class ModuleRef:
    """The class that is being read, under its own name and ``cls``: its attributes are functions."""

    __slots__ = ("functions", "name", "results")

    def __init__(self, name: str) -> None:
        self.name = name
        self.functions: dict[str, GlobalVar] = {}
        self.results: dict[str, str] = {}


def _member(p: Parser, node: ast.Attribute, module: ModuleRef) -> GlobalVar:
    found = module.functions.get(node.attr)
    if found is None:
        from tirscript.diagnostics import did_you_mean

        raise p.error(
            node,
            f"the module `{module.name}` has no function `{node.attr}`",
            "unknown-function",
            hint=did_you_mean(node.attr, module.functions),
        )
    return found


member_of(ModuleRef, _member)


def _call_function(p: Parser, node: ast.Call) -> Expr:
    """``cls.f(A, n)``: a call of a function of the module."""
    function = p.expr(node.func)
    args, kwargs = call_values(p, node)
    if kwargs:
        raise p.error(node.keywords[0], "functions of a module take no keywords", "unknown-keyword")
    exprs = []
    for k, a in enumerate(args):
        where = node.args[k] if len(args) == len(node.args) else node
        exprs.append(a.data if isinstance(a, Buffer) else value_expr(p, where, a))
    result = p.module.results.get(function.name, "void") if p.module is not None else "void"
    return Call(result, function, tuple(exprs), p.span(node))


CALLS[GlobalVar] = _call_function


def _call_primfunc(p: Parser, node: ast.Call) -> Any:
    raise p.error(
        node,
        f"`{ast.unparse(node.func)}` is a function of its own, outside of a module",
        "call",
        hint="put both functions into one @I.ir_module class, or make it a @T.macro",
    )


CALLS[PrimFunc] = _call_primfunc


def parse_class(
    definition: ast.ClassDef,
    text: Text,
    env: Environment,
    check_well_formed: bool = True,
    s_tir: bool = False,
) -> IRModule:
    """The IRModule of a class."""
    module = ModuleRef(definition.name)
    env = env.extended({definition.name: module, "cls": module})
    return parse_functions(definition.body, text, env, module, check_well_formed, s_tir)


def parse_functions(
    body: list[ast.stmt],
    text: Text,
    env: Environment,
    module: ModuleRef,
    check_well_formed: bool,
    s_tir: bool,
    *,
    bare: bool = False,
) -> IRModule:
    """The module of the functions in a class or text; ``bare`` ones have no decorator."""
    p = Parser(text.source, env, Options(), ascii_only=text.ascii_only)
    p.module = module
    functions: list[tuple[ast.FunctionDef, Options]] = []
    attrs: dict[str, Any] = {}
    for s in body:
        try:
            if isinstance(s, ast.FunctionDef):
                options: Options | None
                if bare and not s.decorator_list:
                    options = Options(check_well_formed=check_well_formed, s_tir=s_tir)
                else:
                    options = function_options(p, s, check_well_formed, s_tir)
                if options is not None:
                    if s.name in module.functions:
                        raise p.error(name_span(p, s), f"two functions are named `{s.name}`", "duplicate")
                    functions.append((s, options))
                    module.functions[s.name] = GlobalVar(s.name)
                    module.results[s.name] = result_dtype(p, s.returns) if s.returns is not None else "void"
            else:
                _module_statement(p, s, attrs)
        except ParseError as e:
            p.report(e)
            p.poison_statement(s)
        except TirscriptError as e:
            p.report(p.located(e, s))
            p.poison_statement(s)
    env = env.extended(dict(p.names)) if p.names else env
    made = IRModule(attrs=attrs)
    errors = list(p.errors)
    for d, options in functions:
        try:
            made.update_func(module.functions[d.name], parse_definition(d, text, env, options, module))
        except ParseError as e:
            errors += e.diagnostics
    if errors:
        errors.sort(key=position)
        raise ParseError.collect(errors)
    return made


def name_span(p: Parser, s: ast.FunctionDef) -> Span:
    span = p.span(s)
    column = span.column + len("def ")
    return Span(p.source, span.line, column, span.line, column + len(s.name))


def function_options(p: Parser, s: ast.FunctionDef, check_well_formed: bool, s_tir: bool) -> Options | None:
    """The options of a script function; None for a macro, which is bound to its name."""

    for d in s.decorator_list:
        value = p.expr(d.func if isinstance(d, ast.Call) else d)
        if value is constructs.prim_func:
            options = Options(check_well_formed=check_well_formed, s_tir=s_tir)
            for k in d.keywords if isinstance(d, ast.Call) else ():
                if k.arg in ("private", "check_well_formed", "s_tir"):
                    setattr(options, k.arg, bool(p.expr(k.value)))
                elif k.arg != "persistent":
                    raise p.error(k, f"T.prim_func has no parameter `{k.arg}`", "unknown-keyword")
            return options
        if value is constructs.macro or value is constructs.inline:
            define_nested(p, s)
            return None
    raise p.error(
        name_span(p, s),
        f"`{s.name}` is no script function",
        "not-script",
        hint="decorate it with @T.prim_func, or define it outside of the module",
    )


def _module_statement(p: Parser, s: ast.stmt, attrs: dict[str, Any]) -> None:
    if isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
        return
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
        function = p.expr(s.value.func)
        if function is I_module.module_attrs or function is I_module.module_global_infos:
            (args, _) = call_values(p, s.value)
            if len(args) != 1 or not isinstance(args[0], dict):
                raise p.error(s, f"{ast.unparse(s.value.func)} takes a dict", "arity")
            if function is I_module.module_attrs:
                attrs.update(args[0])
            else:
                attrs["global_infos"] = args[0]
            return
    if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
        p.bind(s.targets[0].id, p.expr(s.value), "a Python value")
        return
    raise p.error(
        first_line_span(p, s),
        "a module holds functions",
        "unsupported",
        hint="functions with @T.prim_func, I.module_attrs({...}), and Python values",
    )
