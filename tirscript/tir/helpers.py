"""Functions of TVM's ``tir`` that are not those of scripts: buffers, conversions, generic arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tirscript.ir as ir
from tirscript.diagnostics import TirscriptError
from tirscript.driver import build
from tirscript.ir import ops
from tirscript.ir.nodeclass import dtype as read_dtype
from tirscript.ir.stmt import Stmt


def decl_buffer(
    shape: Any,
    dtype: Any = None,
    name: str = "buffer",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Any = None,
    span: Any = None,
) -> ir.Buffer:
    """A buffer: ``dtype`` is float32 where it is not said; strides may be names of new variables.

    >>> decl_buffer((4, 4), "float32", "A").shape[0].value
    4
    """
    extents = shape if isinstance(shape, (tuple, list)) else (shape,)
    if data is not None and not isinstance(data, ir.Var):
        raise TirscriptError(f"the pointer of a buffer is a variable, not {data!r}", code="node-argument")
    said = "float32" if dtype is None else read_dtype("decl_buffer", dtype, "decl_buffer(shape, dtype, name)")
    return ir.make_buffer(
        name,
        tuple([ops.index(n) for n in extents]),
        said,
        data=data,
        scope=scope or "global",
        strides=tuple([ir.Var(s) if isinstance(s, str) else ops.index(s) for s in strides or ()]),
        elem_offset=None if elem_offset is None else ops.index(elem_offset),
        align=max(data_alignment, 0),
        offset_factor=offset_factor,
        buffer_type=buffer_type or "default",
        axis_separators=tuple([int(s) for s in axis_separators or ()]),
        span=span,
    )


def convert(value: Any, span: Any = None) -> Any:
    """A Python value as the IR has it: numbers and strings as constants, lists and dicts of them.

    >>> convert([1, True, 0.5])
    [1, T.bool(True), T.float32(0.5)]
    """
    if isinstance(value, (ir.Node, Stmt)) or value is None or callable(value):
        return value
    if isinstance(value, (list, tuple)):
        return [convert(v) for v in value]
    if isinstance(value, Mapping):
        return {k: convert(v) for k, v in value.items()}
    return ops.as_expr(value)


def _divide(lhs: Any, rhs: Any, span: Any = None) -> ir.Expr:
    """``lhs / rhs`` of floats."""
    return ops.div(lhs, rhs)


# TVM's `tir.generic`.
GENERIC: dict[str, Any] = {
    "add": ops.add, "subtract": ops.sub, "multiply": ops.mul, "divide": _divide, "floordiv": ops.floordiv,
    "cast": ops.cast,
}  # fmt: skip

__all__ = ["GENERIC", "build", "convert", "decl_buffer"]
