"""Statements: loops, branches, scopes, asserts, returns; and what is refused by name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from tirscript.diagnostics import (
    ParseError,
)
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    Call,
    Expr,
    IterVar,
    StringImm,
)
from tirscript.ir.stmt import (
    AssertStmt,
    Evaluate,
    IfThenElse,
    While,
)
from tirscript.script import constructs

from .core import CALLS, LOOPS, STMT, Frame, Parser, Poisoned, StmtHandler, arguments, first_line_span, fold
from .values import assign_python, condition, convert, operand, unpack, value_expr


def _for(p: Parser, s: ast.For) -> None:
    if s.orelse:
        p.report(unsupported(p, s.orelse[0], "`else` of a loop"))
    call = s.iter
    try:
        if isinstance(call, ast.Call):
            function = p.expr(call.func)
            handler = LOOPS.get(function) if _hashable(function) else None
            if handler is not None:
                handler(p, s, call)
                return
        value = p.expr(call)
        _unrolled_for(p, s, value)
    except ParseError as e:
        p.report(e)
        _poisoned_body(p, s.target, s.body)
    except Poisoned:
        _poisoned_body(p, s.target, s.body)


def _hashable(value: Any) -> bool:
    return getattr(type(value), "__hash__", None) is not None


def _unrolled_for(p: Parser, s: ast.For, value: Any) -> None:
    """A loop over a Python sequence: its body is read once for each item."""
    if isinstance(value, constructs.meta_var):
        value = value.value
    if isinstance(value, (Expr, Buffer, BufferRegion, Frame, str)):
        raise p.error(
            s.iter,
            "a loop runs over `range`, `T.serial`, `T.grid`, another loop of `T`, or a Python sequence",
            "loop",
            hint="write `for i in range(n):`",
        )
    try:
        items = list(value)
    except Exception:
        raise p.error(
            s.iter,
            f"`{ast.unparse(s.iter)}` cannot be looped over",
            "loop",
            hint="write `for i in range(n):`",
        ) from None
    for item in items:
        mark = len(p.undo)
        assign_python(p, s.target, item)
        p.loop_kinds.append("python")
        p.statements(s.body)
        p.loop_kinds.pop()
        p.leave(mark)


def _poisoned_body(p: Parser, target: ast.AST | None, body: list[ast.stmt]) -> None:
    """Read a body whose header is wrong, for the mistakes in it."""
    outer, p.items = p.items, []
    mark = len(p.undo)
    if target is not None:
        p.poison(target)
    p.loop_kinds.append("serial")
    p.statements(body)
    p.loop_kinds.pop()
    p.leave(mark)
    p.items = outer


def unsupported(p: Parser, node: Any, what: str, hint: str | None = None) -> ParseError:
    return p.error(node, f"{what} is not part of the script language", "unsupported", hint=hint)


def _while(p: Parser, s: ast.While) -> None:
    if s.orelse:
        p.report(unsupported(p, s.orelse[0], "`else` of a loop"))
    try:
        test = condition(p, s.test, p.expr(s.test))
    except (ParseError, Poisoned) as e:
        if isinstance(e, ParseError):
            p.report(e)
        _poisoned_body(p, None, s.body)
        return
    span = p.header(s, s.test)
    p.loop_kinds.append("while")
    body = p.body(s.body, span)
    p.loop_kinds.pop()
    p.emit(While(test, body, span))


def _if(p: Parser, s: ast.If) -> None:
    try:
        test = operand(p, s.test, p.expr(s.test))
        if not isinstance(test, Expr):
            p.statements(s.body if _truth(p, s.test, test) else s.orelse)
            return
        test = condition(p, s.test, test)
    except (ParseError, Poisoned) as e:
        if isinstance(e, ParseError):
            p.report(e)
        _poisoned_body(p, None, s.body)
        _poisoned_body(p, None, s.orelse)
        return
    span = p.header(s, s.test)
    p.guards += 1
    then = p.body(s.body, span)
    otherwise = p.body(s.orelse, span) if s.orelse else None
    p.guards -= 1
    p.emit(IfThenElse(test, then, otherwise, span))


def _truth(p: Parser, node: ast.AST, value: Any) -> bool:
    try:
        return bool(value)
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


def _break(p: Parser, s: ast.Break | ast.Continue) -> None:
    word = "break" if isinstance(s, ast.Break) else "continue"
    jump(p, s, word)


def jump(p: Parser, node: Any, word: str) -> None:
    """``break`` or ``continue`` of the innermost loop."""
    kind = p.loop_kinds[-1] if p.loop_kinds else None
    if kind is None:
        if p.block.root:
            raise p.error(node, f"`{word}` stands outside of a loop", "jump")
        raise p.error(node, f"`{word}` would leave the block, or stands outside of a loop", "jump")
    if kind == "python":
        raise p.error(node, f"`{word}` in a loop over a Python sequence, which is written out", "jump")
    if kind not in ("serial", "while", "unrolled"):
        raise p.error(
            node,
            f"`{word}` in a {kind} loop: its iterations have no order",
            "jump",
            hint="make the loop serial, or guard the rest by a condition",
        )
    p.emit(Evaluate(Call("void", f"{word}_loop", ()), p.span(node)))


def _assert(p: Parser, s: ast.Assert) -> None:
    value = operand(p, s.test, p.expr(s.test))
    text = _message(p, s.msg) if s.msg is not None else ast.unparse(s.test)
    if not isinstance(value, Expr):
        if not _truth(p, s.test, value):
            raise p.error(s, f"the assertion does not hold: {text}", "assertion")
        return
    p.emit(AssertStmt(condition(p, s.test, value), StringImm(text), p.span(s)))


def _message(p: Parser, node: ast.expr) -> str:
    value = p.expr(node)
    if isinstance(value, StringImm):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], (list, tuple, str)):
        # TVM 0.27: ("ValueError", ["part", "part"])
        return value[1] if isinstance(value[1], str) else "".join(str(v) for v in value[1])
    raise p.error(node, "the message of an assert is a string", "assertion")


def _expression(p: Parser, s: ast.Expr) -> None:
    node = s.value
    if type(node) is ast.Constant:
        return  # docstrings, `...`
    value = p.expr(node)
    if value is None:
        return
    if isinstance(value, Frame):
        p.items.append(value.wrap)
    elif isinstance(value, Expr):
        p.emit(Evaluate(value, p.span(s)))
    elif isinstance(value, (Buffer, BufferRegion)):
        operand(p, node, value)
    elif isinstance(value, IterVar):
        return


def evaluate(p: Parser, node: ast.Call) -> None:
    """``T.evaluate(e)``"""

    value = arguments(p, node, "value", required=1)["value"]
    p.emit(Evaluate(value_expr(p, value, p.expr(value)), p.span(node)))


CALLS[constructs.evaluate] = evaluate

# Called objects in the header of a `with` that read the body themselves: (parser, with, item index, call).
WITH: dict[Any, Callable[[Parser, ast.With, int, ast.Call], None]] = {}


def _with(p: Parser, s: ast.With) -> None:
    with_items(p, s, 0)


def with_items(p: Parser, s: ast.With, k: int) -> None:
    """Read a ``with`` from its k-th item on, into the current body."""
    if k == len(s.items):
        p.statements(s.body)
        return
    item = s.items[k]
    context = item.context_expr
    mark = len(p.undo)
    try:
        if isinstance(context, ast.Call):
            function = p.expr(context.func)
            handler = WITH.get(function) if _hashable(function) else None
            if handler is not None:
                handler(p, s, k, context)
                return
        names = item.optional_vars
        p.naming_node, p.naming = context, names.id if isinstance(names, ast.Name) else names
        frame = p.expr(context)
        if not isinstance(frame, Frame):
            raise p.error(
                context,
                f"`{ast.unparse(context)}` opens no scope",
                "with",
                hint="`with` takes T.block, T.init, T.allocate, T.attr, T.launch_thread, ...",
            )
    except ParseError as e:
        p.report(e)
        _poisoned_body(p, item.optional_vars, s.body)
        return
    except Poisoned:
        _poisoned_body(p, item.optional_vars, s.body)
        return
    span = p.header(s, context)
    outer, p.items = p.items, []
    try:
        if names is not None:
            _bind_as(p, names, frame)
        with_items(p, s, k + 1)
    finally:
        p.leave(mark)
        items, p.items = p.items, outer
    p.emit(frame.wrap(fold(items, span)))


def _bind_as(p: Parser, names: ast.expr, frame: Frame) -> None:
    value = frame.value
    if isinstance(names, ast.Name):
        if value is None:
            raise p.error(names, f"{frame.name} gives nothing to name", "with")
        p.bind(names.id, value, frame.kind)
    elif isinstance(names, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
        for part, item in unpack(p, names, list(value)):
            if not isinstance(part, ast.Name):
                p.refuse(part, "this target of a `with`")
            p.bind(part.id, item, frame.kind)
    else:
        p.refuse(names, "this target of a `with`")


def _return(p: Parser, s: ast.Return) -> None:
    if id(s) not in p.tail_returns:
        raise p.error(
            s,
            "`return` in the middle of a function",
            "return",
            hint="let it be the last statement; an if/else chooses what is done",
        )
    if s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None):
        if p.ret_type not in ("void", ""):
            raise p.error(s, f"the function returns {p.ret_type}, a value is missing", "return")
        return
    value = p.expr(s.value)
    if p.ret_type == "void":
        expr = value_expr(p, s.value, value)
        p.ret_type = expr.dtype
    else:
        expr = convert(p, s.value, operand(p, s.value, value), p.ret_type, "the returned value")
    p.emit(Evaluate(Call("void", "ret", (expr,)), p.span(s)))


def tail_returns(stmts: list[ast.stmt]) -> Iterator[int]:
    """The ids of the ``return`` statements after which nothing of the body runs."""
    while stmts:
        last = stmts[-1]
        if isinstance(last, ast.Return):
            yield id(last)
            return
        if isinstance(last, ast.If):
            yield from tail_returns(last.body)
            stmts = last.orelse
        elif isinstance(last, ast.With):
            stmts = last.body
        else:
            return


def _refused(what: str, hint: str | None = None) -> Callable[[Parser, Any], None]:
    def handler(p: Parser, s: Any) -> NoReturn:
        raise p.error(
            first_line_span(p, s), f"{what} is not part of the script language", "unsupported", hint=hint
        )

    return handler


def _nothing(p: Parser, s: ast.stmt) -> None:
    return


_STATEMENTS: dict[type, StmtHandler] = {
    ast.For: _for,
    ast.While: _while,
    ast.If: _if,
    ast.With: _with,
    ast.Assert: _assert,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Pass: _nothing,
    ast.Nonlocal: _nothing,
    ast.Break: _break,
    ast.Continue: _break,
    ast.Global: _refused("`global`", "Python names of the outer scopes can be read without it"),
    ast.Delete: _refused("`del`"),
    ast.Import: _refused("`import`", "import outside of the function; its names can be used here"),
    ast.ImportFrom: _refused("`import`", "import outside of the function; its names can be used here"),
    ast.Try: _refused("`try`"),
    ast.Raise: _refused("`raise`", 'assert condition, "message" checks at run time'),
    ast.Match: _refused("`match`", "write if/elif/else"),
    ast.ClassDef: _refused("`class`"),
    ast.AsyncFunctionDef: _refused("`async def`"),
    ast.AsyncFor: _refused("`async for`", "T.parallel runs iterations at once"),
    ast.AsyncWith: _refused("`async with`"),
    ast.TryStar: _refused("`try`"),
}
STMT.update(_STATEMENTS)
