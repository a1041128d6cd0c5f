"""Loops bound to GPU threads run one after the other on a processor."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import Mark, NotYetError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LT, BufferLoad, Expr, IterVar, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import AttrStmt, BufferStore, For, IfThenElse, Stmt
from tirscript.ir.visitor import substitute

from .fold import cast, const_of, flat
from .serialize_dependent_loops import iterations_apart


def lower_thread_binding(func: PrimFunc) -> PrimFunc:
    """Thread-bound loops and ``T.launch_thread`` become serial loops.

    A loop inside another one of the same thread axis is the same thread again: it takes the value of the
    outer one.  Threads that exchange values through shared memory are refused: one after the other they
    would not see each other.
    """
    return func.replace(body=_visit(func.body, {}))


def _visit(n: Any, around: dict[str, tuple[Expr, Expr]]) -> Any:
    if not isinstance(n, Stmt):
        return n
    if (
        isinstance(n, AttrStmt)
        and n.key in ("thread_extent", "virtual_thread")
        and isinstance(n.node, IterVar)
    ):
        var = n.node.var.replace()
        body = substitute(n.body, {n.node.var: var})
        extent = cast(n.value, var.dtype)
        n = For(var, const_int(0, var.dtype), extent, "thread_binding", body, n.node.thread_tag, span=n.span)
    if type(n) is not For or n.kind != "thread_binding":
        return flat(n.map_children(lambda c: _visit(c, around)))
    known = around.get(n.thread)
    if known is not None:
        return _again(n, *known, around)
    if n.thread.startswith("threadIdx"):
        _check_exchange(n)
    at = {**around, n.thread: (n.loop_var, n.extent)}
    return n.replace(kind="serial", thread="", body=_visit(n.body, at))


def _again(n: For, outer: Expr, count: Expr, around: dict[str, tuple[Expr, Expr]]) -> Stmt:
    """The loop for the one thread that runs already."""
    value = cast(outer, n.loop_var.dtype)
    at: dict[Var, Expr] = {n.loop_var: value if const_of(n.min) == 0 else value + n.min}
    body = _visit(substitute(n.body, at), around)
    mine, all_ = const_of(n.extent), const_of(count)
    if mine is not None and all_ is not None and mine >= all_:
        return body  # type: ignore[no-any-return]
    return IfThenElse(LT(value, cast(n.extent, value.dtype)), body, span=n.span)


def _check_exchange(loop: For) -> None:
    """Refuse shared memory through which one thread reads what another one wrote."""
    stored: set[Buffer] = set()
    loaded: set[Buffer] = set()
    for n in walk(loop.body):
        if type(n) is BufferStore and n.buffer.scope.startswith("shared"):
            stored.add(n.buffer)
        elif type(n) is BufferLoad and n.buffer.scope.startswith("shared"):
            loaded.add(n.buffer)
    for b in stored & loaded:
        if not iterations_apart(loop, b):
            raise NotYetError(
                f"the threads of `{loop.thread}` exchange values through `{b.name}` in {b.scope} memory, "
                "which the CPU cannot run yet",
                code="gpu-exchange",
                marks=[Mark(loop.span)] if loop.span is not None else [],
            )
