"""One function: its signature, its body, its root block, its checks."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from tirscript.analysis.verify import check_definition
from tirscript.diagnostics import (
    Mark,
    ParseError,
    Span,
    TirscriptError,
    WellFormedError,
    user_stacklevel,
)
from tirscript.ir import verify
from tirscript.ir.expr import (
    TRUE,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    Stmt,
)
from tirscript.script.dtypes import DTypeConstructor
from tirscript.script.scope import Environment
from tirscript.script.source import Text

from . import buffers, stmt
from .core import Options, Parser, fold
from .offsets import with_offsets
from .stmt import tail_returns
from .values import quoted, read_dtype


def parse_definition(
    definition: ast.FunctionDef,
    text: Text,
    env: Environment,
    options: Options,
    module: Any = None,
) -> PrimFunc:
    """The PrimFunc of a definition.  Raises one ParseError that holds every mistake."""
    p = Parser(text.source, env, options, ascii_only=text.ascii_only)
    p.module, p.definition = module, definition
    span = _header(p, definition)
    p.declared = buffers.declared_dtypes(definition.body)
    _signature(p, definition)
    if definition.returns is not None:
        p.ret_type = result_dtype(p, definition.returns)
    p.tail_returns = set(tail_returns(definition.body))
    for s in reversed(definition.body):
        if isinstance(s, ast.With):
            p.root_node = s
        break
    p.statements(definition.body)
    if p.errors:
        p.errors.sort(key=position)
        raise ParseError.collect(p.errors)
    body = _with_root(p, fold(p.items, span), span)
    attrs = dict(p.attrs)
    if not options.private:
        attrs.setdefault("global_symbol", definition.name)
    body, params = with_offsets(p, body, p.buffer_map)
    func = PrimFunc(tuple(p.params), params, body, p.ret_type, attrs, span)
    if options.check_well_formed:
        check(p, func)
    return func


def position(e: ParseError) -> tuple[int, int]:
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
    # The pointer behind `A: T.Buffer(...)` has a name that nobody wrote.
    if any((p.buffer_map[q].name if q in p.buffer_map else q.name) == name for q in p.params):
        raise p.error(arg, f"two parameters are named `{name}`", "duplicate")
    if said is None:
        raise p.error(
            arg,
            f"the parameter `{name}` has no annotation",
            "annotation",
            hint=f'`{name}: T.Buffer((n,), "float32")`, `{name}: T.handle` or `{name}: T.int32`',
        )
    p.take(name)
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


def result_dtype(p: Parser, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and node.value is None:
        return "void"
    try:
        at: ast.AST = (
            quoted(p, node) if isinstance(node, ast.Constant) and isinstance(node.value, str) else node
        )
        value = p.expr(at)
        return "void" if value is None else read_dtype(p, node, value)
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
    for w in check_definition(func):
        warnings.warn(str(w), w.category, stacklevel=user_stacklevel())


def _better_place(p: Parser, error: WellFormedError) -> WellFormedError:
    """The error with a caret under the use of a loop variable inside a block, which nodes do not tell."""
    if error.code != "loop-var-in-block" or p.definition is None or not error.marks:
        return error
    declared = error.marks[0].span
    name = p.source.line(declared.line)[declared.column : declared.end_column]
    inside: list[ast.AST] = [
        n for n in ast.walk(p.definition) if isinstance(n, ast.With) and n.lineno > declared.line
    ]
    for block in inside:
        for s in getattr(block, "body", ()):
            if (
                isinstance(s, ast.Assign)
                and isinstance(s.value, ast.Call)
                and "axis." in ast.unparse(s.value.func)
            ):
                continue
            for n in ast.walk(s):
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
                    error.marks = [Mark(p.span(n)), Mark(declared, "the loop")]
                    return error
    return error
