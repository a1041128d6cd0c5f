"""From decorators and texts to functions and modules."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping
from typing import Any, ClassVar

from tirscript.diagnostics import (
    ParseError,
    TirscriptError,
    deep_recursion,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.script import ir as I_module
from tirscript.script import tir as T_module
from tirscript.script.scope import MISSING, SAFE_BUILTINS, Environment, frame_scopes, of_function
from tirscript.script.source import Text, missing_source, parse_text, register, text_of_frame

from . import assign, blocks, buffers, call, expr, frames, index, loops, macro, methods, pyexpr, stmt
from .core import Options, Parser, first_line_span
from .function import parse_definition
from .module import ModuleRef, function_options, name_span, parse_class, parse_functions

# Importing these fills the tables that the parser looks nodes and calls up in.
TABLES = (assign, blocks, buffers, call, expr, frames, index, loops, macro, methods, pyexpr, stmt)


def decorated_function(function: Any, frame: types.FrameType, options: Options) -> Any:
    """What ``@T.prim_func`` gives: a PrimFunc, the function itself inside a class that is a module, or the
    error, which the decorator raises: its traceback then holds one frame of ours."""
    try:
        return _decorated_function(function, frame, options)
    except TirscriptError as e:
        return e.with_traceback(None)


def _decorated_function(function: Any, frame: types.FrameType, options: Options) -> Any:
    if isinstance(function, PrimFunc):
        return function
    if not isinstance(function, types.FunctionType):
        raise TirscriptError(
            f"T.prim_func decorates a function, not a {type(function).__name__}", code="decorator"
        )
    code = function.__code__
    text = text_of_frame(frame)
    line = code.co_firstlineno
    definition = text.find(ast.FunctionDef, function.__name__, line) if text is not None else None
    if _in_module_class(frame, text, line):
        return function
    if text is None or definition is None:
        raise _no_definition(function, text)
    with deep_recursion():
        return parse_definition(definition, text, of_function(function, frame), options)


def _no_definition(function: types.FunctionType, text: Text | None) -> TirscriptError:
    """Why there is no definition: an ``async def``, a lambda, or no source at all."""
    name, line = function.__name__, function.__code__.co_firstlineno
    if text is not None:
        p = Parser(text.source, Environment(()), Options(), ascii_only=text.ascii_only)
        found = text.find(ast.AsyncFunctionDef, name, line)
        if found is not None:
            return stmt.unsupported(p, first_line_span(p, found), "`async def`")
    if name == "<lambda>":
        return ParseError("a lambda is no script", code="no-source", hint="write a `def`")
    return missing_source(name, function.__code__.co_filename)


def _in_module_class(frame: types.FrameType, text: Text | None, line: int) -> bool:
    """Whether the frame is the body of a class that @I.ir_module will read as a whole."""
    local = frame.f_locals
    if "__module__" not in local or "__qualname__" not in local or local is frame.f_globals:
        return False
    if text is None:
        return True
    cls = text.find(ast.ClassDef, frame.f_code.co_name, line)
    if cls is None or frame.f_back is None:
        return True
    env = Environment(frame_scopes(frame.f_back))
    return any(_is_ir_module(d, env) for d in cls.decorator_list)


def _is_ir_module(node: ast.expr, env: Environment) -> bool:
    return static_value(node.func if isinstance(node, ast.Call) else node, env) is I_module.ir_module


def static_value(node: ast.AST, env: Environment) -> Any:
    """The value of a dotted name, MISSING for anything else."""
    if isinstance(node, ast.Name):
        return env.lookup(node.id)
    if isinstance(node, ast.Attribute):
        value = static_value(node.value, env)
        return getattr(value, node.attr, MISSING) if value is not MISSING else MISSING
    return MISSING


def decorated_class(cls: Any, frame: types.FrameType, check_well_formed: bool, s_tir: bool) -> Any:
    """What ``@I.ir_module`` gives: an IRModule, or the error."""
    try:
        if isinstance(cls, IRModule):
            return cls
        if not isinstance(cls, type):
            raise TirscriptError(
                f"I.ir_module decorates a class, not a {type(cls).__name__}", code="decorator"
            )
        text = text_of_frame(frame)
        definition = text.find(ast.ClassDef, cls.__name__, frame.f_lineno) if text is not None else None
        if text is None or definition is None:
            raise missing_source(cls.__name__, frame.f_code.co_filename)
        cells: dict[str, Any] = {}
        for value in vars(cls).values():
            if isinstance(value, types.FunctionType):
                for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                    try:
                        cells.setdefault(name, cell.cell_contents)
                    except ValueError:
                        continue
        env = Environment((cells, *frame_scopes(frame)))
        with deep_recursion():
            return parse_class(definition, text, env, check_well_formed, s_tir)
    except TirscriptError as e:
        return e.with_traceback(None)


_KNOWN_MODULES = ("tirscript", "tvm")

_counter = [0]


def parse(
    program: Any, extra_vars: Mapping[str, Any] | None = None, *, check_well_formed: bool = True,
    s_tir: bool = False, filename: str | None = None,
) -> PrimFunc | IRModule:  # fmt: skip
    """The function or module of a text: one ``def`` gives a PrimFunc, a ``class`` or several an IRModule.

    Nothing is evaluated but names in ``extra_vars``; ``T``, ``I``, ``R``, ``tvm`` and ``tirscript`` are
    known.

    >>> from tirscript.script import parse
    >>> f = parse('''
    ... @T.prim_func
    ... def f(A: T.Buffer((4,), "int32")):
    ...     for i in range(4):
    ...         A[i] = i
    ... ''')
    >>> f.name
    'f'
    """
    if isinstance(program, (PrimFunc, IRModule)):
        return program
    if isinstance(program, (types.FunctionType, type)):
        return _parse_object(program, extra_vars, check_well_formed, s_tir)
    if not isinstance(program, str):
        raise TirscriptError(f"parse takes a text, not a {type(program).__name__}", code="not-a-text")
    try:
        if filename is None:
            _counter[0] += 1
            filename = f"<script {_counter[0]}>"
            register(filename, program)
        text = parse_text(program, filename)
        with deep_recursion():
            return _parse_tree(text, dict(extra_vars or {}), check_well_formed, s_tir)
    except TirscriptError as e:
        error = e.with_traceback(None)
    raise error


def _parse_object(
    program: Any, extra_vars: Mapping[str, Any] | None, check_well_formed: bool, s_tir: bool
) -> PrimFunc | IRModule:
    """A Python function or class whose source can be found."""

    try:
        source = inspect.getsource(program)
    except (OSError, TypeError):
        raise missing_source(program.__name__) from None
    given = dict(vars(inspect.getmodule(program) or types.SimpleNamespace()))
    if isinstance(program, types.FunctionType):
        given = dict(program.__globals__)
        for name, cell in zip(program.__code__.co_freevars, program.__closure__ or (), strict=True):
            given[name] = cell.cell_contents
    text = parse_text(source, getattr(getattr(program, "__code__", None), "co_filename", "<script>"))
    with deep_recursion():
        return _parse_tree(text, {**given, **(extra_vars or {})}, check_well_formed, s_tir, trusted=True)


def _parse_tree(
    text: Text, given: dict[str, Any], check_well_formed: bool, s_tir: bool, *, trusted: bool = False
) -> PrimFunc | IRModule:
    import builtins

    known: dict[str, Any] = {"T": T_module, "I": I_module}
    lazily = _Lazy()
    env = Environment(
        (given, known, lazily, vars(builtins) if trusted else SAFE_BUILTINS), text_only=not trusted
    )
    p = Parser(text.source, env, Options(), ascii_only=text.ascii_only)
    definitions: list[ast.FunctionDef | ast.ClassDef] = []
    for s in text.tree.body:
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            definitions.append(s)
        elif isinstance(s, (ast.Import, ast.ImportFrom)):
            _import(p, s, known)
        elif (name := _type_variable(s)) is not None:
            known[name] = buffers.TypeVariable(name)
        elif not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
            raise p.error(
                first_line_span(p, s),
                "a text holds definitions only",
                "top-level",
                hint="give Python values by extra_vars: parse(text, {...})",
            )
    if not definitions:
        raise ParseError(
            "there is no definition in the text", code="no-definition", location=text.source.name
        )
    if len(definitions) == 1:
        d = definitions[0]
        if isinstance(d, ast.ClassDef):
            return parse_class(d, text, env, check_well_formed, s_tir)
        options = _text_options(p, d, check_well_formed, s_tir)
        return parse_definition(d, text, env, options)
    if any(isinstance(d, ast.ClassDef) for d in definitions):
        classes = [d for d in definitions if isinstance(d, ast.ClassDef)]
        others = [d for d in definitions if isinstance(d, ast.FunctionDef)]
        if len(classes) > 1:
            raise p.error(first_line_span(p, classes[1]), "a text holds one class", "top-level")
        from .macro import define_nested

        for d in others:
            define_nested(p, d)
        return parse_class(classes[0], text, env.extended(p.names), check_well_formed, s_tir)
    module = ModuleRef("module")
    functions = [d for d in definitions if isinstance(d, ast.FunctionDef)]
    made = parse_functions(
        list(functions), text, env.extended({"cls": module}), module, check_well_formed, s_tir, bare=True
    )
    if len(made) == 1:  # the others are macros
        return made[next(iter(made))]
    return made


def _text_options(p: Parser, d: ast.FunctionDef, check_well_formed: bool, s_tir: bool) -> Options:
    if not d.decorator_list:
        return Options(check_well_formed=check_well_formed, s_tir=s_tir)
    options = function_options(p, d, check_well_formed, s_tir)
    if options is None:
        raise p.error(name_span(p, d), f"`{d.name}` is a macro, not a function", "not-script")
    return options


class _Lazy(Mapping[str, Any]):
    """The names of a text that are loaded on first use."""

    NAMES: ClassVar[dict[str, str]] = {
        "tvm": "tirscript",
        "tirscript": "tirscript",
        "R": "tirscript.script.relax",
    }

    def __getitem__(self, name: str) -> Any:
        import importlib

        try:
            return importlib.import_module(self.NAMES[name])
        except ImportError:
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(self.NAMES)

    def __len__(self) -> int:
        return len(self.NAMES)


def _type_variable(s: ast.stmt) -> str | None:
    """The name that ``n = TypeVar("n")`` declares."""
    if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and isinstance(s.value, ast.Call):
        call = s.value
        if isinstance(call.func, ast.Name) and call.func.id == "TypeVar" and len(call.args) == 1:
            if isinstance(call.args[0], ast.Constant) and call.args[0].value == s.targets[0].id:
                return s.targets[0].id
    return None


def _import(p: Parser, s: ast.Import | ast.ImportFrom, known: dict[str, Any]) -> None:
    """An import line of a known module names T and I; nothing is loaded for others."""
    module = s.module or "" if isinstance(s, ast.ImportFrom) else s.names[0].name
    if module == "__future__":
        return
    if module.split(".")[0] not in _KNOWN_MODULES:
        raise p.error(
            s,
            f"a text imports nothing: `{module}` is not known here",
            "top-level",
            hint="give the values that are used by extra_vars: parse(text, {...})",
        )
    import importlib

    names = {"tir": T_module, "tirx": T_module, "ir": I_module}
    for alias in s.names:
        if isinstance(s, ast.ImportFrom):
            if module.endswith("script"):
                if alias.name in names:
                    known[alias.asname or alias.name] = names[alias.name]
                elif alias.name == "ir_module":
                    known[alias.asname or alias.name] = I_module.ir_module
        else:
            bound = alias.asname or alias.name.split(".")[0]
            known[bound] = importlib.import_module("tirscript")
