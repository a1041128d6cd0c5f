"""Loops with a step become loops with step one."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import LowerError, Mark
from tirscript.ir.expr import GT, Call, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import For, LetStmt, Stmt
from tirscript.ir.visitor import substitute

from .fold import add, const_of, floordiv, is_exact, mul, sub


def canonicalize_loop(func: PrimFunc) -> PrimFunc:
    """``for i in range(a, b, s)`` becomes a loop from 0 with ``a + i * s`` for ``i``.

    Loops without a step keep their bounds.
    """
    return func.map_children(_visit)


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    n = n.map_children(_visit)
    return _normal(n) if type(n) is For and n.step is not None else n


def _normal(loop: For) -> For:
    assert loop.step is not None
    step = const_of(loop.step)
    if step is not None and step <= 0:
        raise LowerError(
            f"the step of loop `{loop.loop_var.name}` is {step}",
            code="loop-step",
            marks=[Mark(loop.span)] if loop.span is not None else [],
            hint="a step is positive; count down with `n - 1 - i`",
        )
    if step == 1:
        return loop.replace(step=None)
    dtype = loop.loop_var.dtype
    one = const_int(1, dtype)
    extent = floordiv(add(loop.extent, sub(loop.step, one)), loop.step)
    if step is None:
        # A step that turns out to be no positive number: no iteration.
        zero = const_int(0, dtype)
        forward = GT(loop.step, const_int(0, loop.step.dtype))
        extent = Call(dtype, "if_then_else", (forward, extent, zero))
    var = Var(loop.loop_var.name, dtype, span=loop.loop_var.span)
    value = add(loop.min, mul(var, loop.step))
    if is_exact(value):
        body = substitute(loop.body, {loop.loop_var: value})
    else:
        # The bounds are data: read once, before the body may change them.
        body = LetStmt(loop.loop_var, value, loop.body, span=loop.span)
    return loop.replace(loop_var=var, min=const_int(0, dtype), extent=extent, step=None, body=body)
