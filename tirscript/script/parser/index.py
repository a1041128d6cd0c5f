"""Subscripts: loads, regions, and the checks of their indices."""

from __future__ import annotations

import ast
import operator
from typing import Any

from tirscript.diagnostics import (
    TirscriptError,
    did_you_mean,
)
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    BufferLoad,
    Expr,
    IntImm,
    Ramp,
    Var,
)
from tirscript.script import constructs

from .core import EXPR, Parser
from .values import operand, python_value, starred_items


def index_items(p: Parser, node: ast.expr) -> list[Any]:
    """The items between the brackets: values, and Python slices of values."""
    if isinstance(node, ast.Tuple):
        out: list[Any] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                out += starred_items(p, e)
            else:
                out.append(p.expr(e))
        return out
    value = p.expr(node)
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _slice(p: Parser, node: ast.Slice) -> slice:
    parts = [None if part is None else p.expr(part) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _subscript(p: Parser, node: ast.Subscript) -> Any:
    value = EXPR[type(node.value)](p, node.value)
    if type(value) is Buffer:
        return access(p, node, value, index_items(p, node.slice))
    if isinstance(value, BufferRegion):
        raise p.error(node, "a region cannot be indexed", "index", hint="index the buffer itself")
    if isinstance(value, Expr):
        raise p.error(node, f"an expression of dtype {value.dtype} cannot be indexed", "index")
    if value is constructs.metadata:
        return _metadata(p, node)
    item = p.expr(node.slice)
    return python_value(operator.getitem, p, node, value, item)


def _metadata(p: Parser, node: ast.Subscript) -> Any:
    """``T.metadata["key"]``: a constant in the metadata section of the text."""
    from tirscript.script.printer.metadata import load

    key = p.expr(node.slice)
    try:
        found = load("\n".join(p.source.lines))
    except TirscriptError as e:
        raise p.located(e, node) from None
    if key not in found:
        raise p.error(
            node, f"the text has no metadata {key!r}", "metadata", hint=did_you_mean(str(key), found)
        )
    return found[key]


def access(p: Parser, node: ast.AST, buffer: Buffer, items: list[Any]) -> Any:
    """``buffer[items]``: a load, or a region where slices are no vector."""
    slices = [k for k, i in enumerate(items) if isinstance(i, slice)]
    if not slices:
        return BufferLoad(buffer, point_indices(p, node, buffer, items), None, p.span(node))
    if len(items) == buffer.ndim and slices == [len(items) - 1]:
        try:
            items = [*items[:-1], ops.ramp_of(_plain_slice(p, node, buffer, items[-1]))]
            return BufferLoad(buffer, point_indices(p, node, buffer, items), None, p.span(node))
        except TirscriptError as e:
            if e.code == "out-of-bounds":
                raise
    return region(p, node, buffer, items)


def _plain_slice(p: Parser, node: ast.AST, buffer: Buffer, part: slice) -> slice:
    start = 0 if part.start is None else operand(p, node, part.start)
    stop = buffer.shape[-1] if part.stop is None else operand(p, node, part.stop)
    return slice(start, stop, part.step)


def region(p: Parser, node: Any, buffer: Buffer, items: list[Any]) -> BufferRegion:
    """The region of points and slices."""
    if len(items) > buffer.ndim:
        raise _index_count(p, node, buffer, len(items))
    try:
        made = ops.region(buffer, items).replace(span=p.span(node))
    except TirscriptError as e:
        raise p.located(e, node) from None
    for k, (r, n) in enumerate(zip(made.region, buffer.shape, strict=True)):
        low, extent = r.min, r.extent
        if type(low) is IntImm and type(extent) is IntImm and type(n) is IntImm:
            if (low.value < 0 or low.value + extent.value > n.value) and not p.env.text_only:
                raise p.error(
                    _index_node(node, k),
                    f"the region {low.value}:{low.value + extent.value} leaves dimension {k} of "
                    f"`{buffer.name}`, which has extent {n.value}",
                    "out-of-bounds",
                    also=((buffer.span, "declared here"),),
                )
    return made


def _index_count(p: Parser, node: Any, buffer: Buffer, count: int) -> Exception:
    plural = "s" if buffer.ndim != 1 else ""
    return p.error(
        node,
        f"`{buffer.name}` has {buffer.ndim} dimension{plural}, {count} given",
        "index-count",
        hint=f"write `{buffer.name}[()]`" if buffer.ndim == 0 else None,
        also=((buffer.span, "declared here"),),
    )


def point_indices(p: Parser, node: Any, buffer: Buffer, items: list[Any]) -> tuple[Expr, ...]:
    """The indices of a load or store, checked: count, dtype, constants within the shape."""
    shape = buffer.shape
    if len(items) != len(shape):
        raise _index_count(p, node, buffer, len(items))
    out = []
    for k, item in enumerate(items):
        if type(item) is not Var or item.dtype not in ("int32", "int64"):
            item = _index(p, node, buffer, k, item)
        out.append(item)
    return tuple(out)


def _index(p: Parser, node: Any, buffer: Buffer, k: int, item: Any) -> Expr:
    try:
        if isinstance(item, slice):
            item = ops.ramp_of(_plain_slice(p, node, buffer, item))
        index = ops.index(operand(p, node, item))
    except TirscriptError as e:
        raise p.located(e, _index_node(node, k)) from None
    if "x" in index.dtype and buffer.dtype == "handle":
        raise p.error(_index_node(node, k), "there are no vectors of pointers", "index-dtype")
    extent = buffer.shape[k]
    if type(extent) is IntImm:
        if type(index) is IntImm:
            low = high = index.value
        elif type(index) is Ramp and type(index.base) is IntImm and type(index.stride) is IntImm:
            last = index.base.value + index.stride.value * (index.lanes - 1)
            low, high = min(index.base.value, last), max(index.base.value, last)
        else:
            return index
        if (low < 0 or high >= extent.value) and not _may_be_dead(p):
            wrong = low if low < 0 else high
            size = extent.value
            raise p.error(
                _index_node(node, k),
                f"index {wrong} is outside dimension {k} of `{buffer.name}`, which has extent {size}",
                "out-of-bounds",
                hint="a negative index does not count from the end" if wrong < 0 else None,
                also=((buffer.span, "declared here"),),
            )
    return index


def _may_be_dead(p: Parser) -> bool:
    """Whether what stands here may never run: a schedule prints indices outside of a buffer under a condition
    that does not hold.  In a program that somebody wrote they are mistakes."""
    return p.env.text_only and (p.guards > 0 or p.block.guarded)


def _index_node(node: Any, k: int) -> Any:
    """The node of the k-th index, where it can be told."""
    part = getattr(node, "slice", None)
    if isinstance(part, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in part.elts):
        return part.elts[k] if k < len(part.elts) else node
    return part if k == 0 and part is not None and not isinstance(part, ast.Tuple) else node


EXPR.update({ast.Subscript: _subscript, ast.Slice: _slice})
