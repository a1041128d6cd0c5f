"""From decorators and texts to functions and modules."""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import (
    Mark,
    ParseError,
    Source,
    Span,
    TirscriptError,
    WellFormedError,
    deep_recursion,
    user_stacklevel,
)
from tirscript.ir import verify
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, Call, Expr, GlobalVar, StringImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, Evaluate, Stmt
from tirscript.script import constructs
from tirscript.script import ir as I_module
from tirscript.script import tir as T_module
from tirscript.script.dtypes import DTypeConstructor
from tirscript.script.scope import MISSING, SAFE_BUILTINS, Environment, frame_scopes, of_function
from tirscript.script.source import Text, missing_source, parse_text, register, text_of_frame

from . import blocks, buffers, frames, loops, macro, methods, stmt  # they fill the tables
from .core import CALLS, Options, Parser, first_line_span, fold
from .expr import call_values, member_of, value_expr
from .stmt import quoted, tail_returns


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

# ---- one function


def parse_definition(
    definition: ast.FunctionDef, text: Text, env: Environment, options: Options, module: ModuleRef | None = None
) -> PrimFunc:
    """The PrimFunc of a definition.  Raises one ParseError that holds every mistake."""
    p = Parser(text.source, env, options, ascii_only=text.ascii_only)
    p.module, p.definition = module, definition
    span = _header(p, definition)
    _signature(p, definition)
    if definition.returns is not None:
        p.ret_type = _result(p, definition.returns)
    p.tail_returns = set(tail_returns(definition.body))
    for s in reversed(definition.body):
        if isinstance(s, ast.With):
            p.root_node = s
        break
    p.statements(definition.body)
    if p.errors:
        p.errors.sort(key=_position)
        raise ParseError.collect(p.errors)
    body = _with_root(p, fold(p.items, span), span)
    attrs = dict(p.attrs)
    if not options.private:
        attrs.setdefault("global_symbol", definition.name)
    func = PrimFunc(tuple(p.params), p.buffer_map, body, p.ret_type, attrs, span)
    if options.check_well_formed:
        check(p, func)
    return func


def _position(e: ParseError) -> tuple[int, int]:
    span = e.marks[0].span if e.marks else None
    return (span.line, span.column) if span is not None else (0, 0)


def _header(p: Parser, d: ast.FunctionDef) -> Span:
    whole = p.span(d)
    last = d.returns or (d.args.args[-1] if d.args.args else None)
    if last is None:
        return Span(p.source, whole.line, whole.column, whole.line, len(p.source.line(whole.line).rstrip()))
    end = p.span(last)
    return Span(p.source, whole.line, whole.column, end.end_line, end.end_column)


def _signature(p: Parser, d: ast.FunctionDef) -> None:
    a = d.args
    for extra, what in ((a.vararg, "`*args` of a function"), (a.kwarg, "`**kwargs` of a function")):
        if extra is not None:
            p.report(stmt.unsupported(p, extra, what, "name every parameter"))
    for default in (*a.defaults, *[x for x in a.kw_defaults if x is not None]):
        p.report(stmt.unsupported(p, default, "a default value of a parameter", "pass every argument"))
    for only in a.kwonlyargs:
        p.report(stmt.unsupported(p, only, "a keyword-only parameter"))
    for arg in (*a.posonlyargs, *a.args):
        try:
            _parameter(p, arg)
        except ParseError as e:
            p.report(e)
            _poison_parameter(p, arg)
        except TirscriptError as e:
            p.report(p.located(e, arg))
            _poison_parameter(p, arg)
        except Exception as e:
            if type(e).__name__ != "Poisoned":
                raise
            _poison_parameter(p, arg)


def _poison_parameter(p: Parser, arg: ast.arg) -> None:
    p.poison(ast.Name(arg.arg))


def _parameter(p: Parser, arg: ast.arg) -> None:
    name, said = arg.arg, arg.annotation
    if any(q.name == name for q in p.params):
        raise p.error(arg, f"two parameters are named `{name}`", "duplicate")
    if said is None:
        raise p.error(
            arg,
            f"the parameter `{name}` has no annotation",
            "annotation",
            hint=f'`{name}: T.Buffer((n,), "float32")`, `{name}: T.handle` or `{name}: T.int32`',
        )
    node: ast.AST = said
    if isinstance(said, ast.Constant) and isinstance(said.value, str):
        node = quoted(p, said)
    p.annotating = True
    try:
        if buffers.is_buffer_annotation(p, node):
            buffer = buffers.annotation(p, node, name).replace(span=p.span(arg))
            handle = Var(f"{name}_handle", "handle", False, None, p.span(arg))
            p.params.append(handle)
            p.buffer_map[handle] = buffer
            p.bind(name, buffer, "a buffer")
            return
        value = p.expr(node)
    finally:
        p.annotating = False
    span = p.span(arg)
    if isinstance(value, DTypeConstructor):
        dtype = value.dtype
        var = Var(name, dtype, dtype[0] in "iu", None, span)
    elif isinstance(value, Var):
        var = Var(name, value.dtype, value.dtype[0] in "iu", value.pointee, span)
    elif value in (int, float, bool):
        var = Var(name, {int: "int32", float: "float32", bool: "bool"}[value], value is int, None, span)
    else:
        raise p.error(
            said,
            f"`{ast.unparse(said)}` is no type of a parameter",
            "annotation",
            hint=f'`{name}: T.Buffer((n,), "float32")`, `{name}: T.handle` or `{name}: T.int32`',
        )
    p.params.append(var)
    p.bind(name, var, "a parameter")


def _result(p: Parser, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and node.value is None:
        return "void"
    try:
        at: ast.AST = quoted(p, node) if isinstance(node, ast.Constant) and isinstance(node.value, str) else node
        value = p.expr(at)
        return "void" if value is None else buffers.read_dtype(p, node, value)
    except ParseError as e:
        p.report(e)
        return "void"


def _with_root(p: Parser, body: Stmt, span: Span) -> Stmt:
    """The body under its root block, if it holds a block or a block allocation."""
    root = p.block
    if not p.has_block and not root.allocs:
        return body
    if type(body) is BlockRealize and p.root_node is not None and body.block.label.name == "root":
        if not body.block.iter_vars:
            if not root.allocs:
                return body
            block = body.block.replace(alloc_buffers=(*root.allocs, *body.block.alloc_buffers))
            return body.replace(block=block)
    block = Block(BlockLabel("root"), (), (), (), body, alloc_buffers=tuple(root.allocs), span=span)
    return BlockRealize((), TRUE, block, span)


def check(p: Parser, func: PrimFunc) -> None:
    """Structure, and what the analysis warns of at definition."""
    errors = verify.verify(func)
    if errors:
        raise _better_place(p, errors[0])
    try:
        from tirscript.analysis.verify import check_definition
    except ImportError:
        return
    for w in check_definition(func):
        kind = getattr(w, "category", None) or type(w)
        warnings.warn(str(w), kind, stacklevel=user_stacklevel())


def _better_place(p: Parser, error: WellFormedError) -> WellFormedError:
    """The error with a caret under the use of a loop variable inside a block, which nodes do not tell."""
    if error.code != "loop-var-in-block" or p.definition is None or not error.marks:
        return error
    declared = error.marks[0].span
    name = p.source.line(declared.line)[declared.column : declared.end_column]
    inside: list[ast.AST] = [n for n in ast.walk(p.definition) if isinstance(n, ast.With) and n.lineno > declared.line]
    for block in inside:
        for s in getattr(block, "body", ()):
            if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and "axis." in ast.unparse(s.value.func):
                continue
            for n in ast.walk(s):
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
                    error.marks = [Mark(p.span(n)), Mark(declared, "the loop")]
                    return error
    return error


# ---- decorators


def decorated_function(function: Any, frame: types.FrameType, options: Options) -> Any:
    """What ``@T.prim_func`` gives: a PrimFunc, or the function itself inside a class that is a module."""
    try:
        return _decorated_function(function, frame, options)
    except TirscriptError as e:
        raise e.with_traceback(None) from None


def _decorated_function(function: Any, frame: types.FrameType, options: Options) -> Any:
    if isinstance(function, PrimFunc):
        return function
    if not isinstance(function, types.FunctionType):
        raise TirscriptError(f"T.prim_func decorates a function, not a {type(function).__name__}", code="decorator")
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
    return missing_source(name)


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
    """What ``@I.ir_module`` gives: an IRModule."""
    try:
        if isinstance(cls, IRModule):
            return cls
        if not isinstance(cls, type):
            raise TirscriptError(f"I.ir_module decorates a class, not a {type(cls).__name__}", code="decorator")
        text = text_of_frame(frame)
        definition = text.find(ast.ClassDef, cls.__name__, frame.f_lineno) if text is not None else None
        if text is None or definition is None:
            raise missing_source(cls.__name__)
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
        raise e.with_traceback(None) from None


# ---- modules


def parse_class(
    definition: ast.ClassDef, text: Text, env: Environment, check_well_formed: bool = True, s_tir: bool = False
) -> IRModule:
    """The IRModule of a class."""
    module = ModuleRef(definition.name)
    env = env.extended({definition.name: module, "cls": module})
    return parse_functions(definition.body, text, env, module, check_well_formed, s_tir, what="class")


def parse_functions(
    body: list[ast.stmt], text: Text, env: Environment, module: ModuleRef, check_well_formed: bool, s_tir: bool,
    *, what: str,
) -> IRModule:  # fmt: skip
    """The module of the functions in a class or text."""
    p = Parser(text.source, env, Options(), ascii_only=text.ascii_only)
    p.module = module
    functions: list[tuple[ast.FunctionDef, Options]] = []
    attrs: dict[str, Any] = {}
    for s in body:
        try:
            if isinstance(s, ast.FunctionDef):
                options = _function_options(p, s, check_well_formed, s_tir)
                if options is not None:
                    if s.name in module.functions:
                        raise p.error(_name_span(p, s), f"two functions are named `{s.name}`", "duplicate")
                    functions.append((s, options))
                    module.functions[s.name] = GlobalVar(s.name)
                    module.results[s.name] = _result(p, s.returns) if s.returns is not None else "void"
            else:
                _module_statement(p, s, attrs)
        except ParseError as e:
            p.report(e)
        except TirscriptError as e:
            p.report(p.located(e, s))
    env = env.extended({k: v for k, v in p.names.items()}) if p.names else env
    made = IRModule(attrs=attrs)
    errors = list(p.errors)
    for d, options in functions:
        try:
            made.update_func(module.functions[d.name], parse_definition(d, text, env, options, module))
        except ParseError as e:
            errors += e.diagnostics
    if errors:
        errors.sort(key=_position)
        raise ParseError.collect(errors)
    return made


def _name_span(p: Parser, s: ast.FunctionDef) -> Span:
    span = p.span(s)
    column = span.column + len("def ")
    return Span(p.source, span.line, column, span.line, column + len(s.name))


def _function_options(p: Parser, s: ast.FunctionDef, check_well_formed: bool, s_tir: bool) -> Options | None:
    """The options of a script function; None for a macro, which is bound to its name."""
    from .macro import define_nested

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
        _name_span(p, s),
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


# ---- texts

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
        raise e.with_traceback(None) from None


def _parse_object(
    program: Any, extra_vars: Mapping[str, Any] | None, check_well_formed: bool, s_tir: bool
) -> PrimFunc | IRModule:
    """A Python function or class whose source can be found."""
    import inspect

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
        elif not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
            raise p.error(
                first_line_span(p, s),
                "a text holds definitions only",
                "top-level",
                hint="give Python values by extra_vars: parse(text, {...})",
            )
    if not definitions:
        raise ParseError("there is no definition in the text", code="no-definition", location=text.source.name)
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
        list(functions), text, env.extended({"cls": module}), module, check_well_formed, s_tir, what="text"
    )
    if len(made) == 1:  # the others are macros
        return made[next(iter(made))]
    return made


def _text_options(p: Parser, d: ast.FunctionDef, check_well_formed: bool, s_tir: bool) -> Options:
    if not d.decorator_list:
        return Options(check_well_formed=check_well_formed, s_tir=s_tir)
    options = _function_options(p, d, check_well_formed, s_tir)
    if options is None:
        raise p.error(_name_span(p, d), f"`{d.name}` is a macro, not a function", "not-script")
    return options


class _Lazy(Mapping[str, Any]):
    """The names of a text that are loaded on first use."""

    _NAMES = {"tvm": "tirscript", "tirscript": "tirscript", "R": "tirscript.script.relax"}

    def __getitem__(self, name: str) -> Any:
        import importlib

        try:
            return importlib.import_module(self._NAMES[name])
        except ImportError:
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


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


def _unused() -> tuple[Any, ...]:
    return (Source, StringImm, Evaluate, stmt, loops, frames, blocks, methods, macro)
