"""Arguments of the builder's functions: numbers, lists, slices become nodes."""

from __future__ import annotations

from typing import Any

from tirscript.ir import nodeclass as n
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion, full_region
from tirscript.ir.expr import BufferLoad, Expr, IntImm, Range, Var
from tirscript.script.parser.blocks import load_region

from .base import IRBuilderError


def index(what: str, value: Any) -> Expr:
    """An integer expression."""
    try:
        return ops.index(n.expr(what, value))
    except n.NodeArgumentError as e:
        raise IRBuilderError(e.message, hint=e.hint) from None


def same_dtype(*values: Expr) -> tuple[Expr, ...]:
    """Integers of the widest dtype among them; constants take it."""
    dtype = values[0].dtype
    for v in values[1:]:
        dtype = ops.promoted(dtype, v.dtype)
    return tuple([ops.const(v.value, dtype) if isinstance(v, IntImm) else ops.cast(v, dtype) for v in values])


def extents(what: str, shape: Any) -> tuple[Expr, ...]:
    """A shape: one extent or several; a string names a new variable."""
    items = shape if isinstance(shape, (list, tuple)) else (shape,)
    return tuple([Var(s) if isinstance(s, str) else index(what, s) for s in items])


def regions(what: str, given: Any) -> tuple[BufferRegion, ...]:
    """The regions that ``T.reads`` and ``T.writes`` list."""
    out: list[BufferRegion] = []
    for item in given:
        if isinstance(item, (list, tuple)):
            out += regions(what, item)
        elif isinstance(item, Buffer):
            out.append(full_region(item))
        elif isinstance(item, BufferLoad):
            out.append(load_region(item))
        elif isinstance(item, BufferRegion):
            out.append(item)
        else:
            raise IRBuilderError(f"{what}: {item!r} is no region of a buffer", hint="A[i, j] or A[0:4, j]")
    return tuple(out)


def domain(what: str, dom: Any) -> Range:
    """A domain: an extent, a pair ``(low, high)`` or a Range."""
    if isinstance(dom, Range):
        return dom
    if isinstance(dom, (list, tuple)):
        if len(dom) != 2:
            raise IRBuilderError(f"{what}: a domain is an extent or a pair (low, high)")
        return n.range_of(*dom)
    return n.range_of(index(what, dom))


def buffer(
    name: str,
    shape: Any,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Any = None,
) -> Buffer:
    """A buffer of these fields."""
    said = n.dtype("T.Buffer", dtype, "T.Buffer(shape, dtype)")
    if isinstance(data, Buffer):
        data = data.data
    if isinstance(data, Var) and data.pointee is not None and scope in ("", "global"):
        scope = data.pointee[1]
    if data is None:
        data = Var(f"{name}_data", "handle", False, (said, scope or "global"))
    elif not isinstance(data, Var):
        raise IRBuilderError("the pointer of a buffer is a variable")
    sides = extents("T.Buffer", strides) if strides else ()
    sizes = extents("T.Buffer", shape)
    if sides and len(sides) != len(sizes):
        raise IRBuilderError(f"{len(sides)} strides for {len(sizes)} dimensions")
    if isinstance(elem_offset, str):
        elem_offset = Var(elem_offset)
    return Buffer(
        name, sizes, said, data, sides, None if elem_offset is None else index("T.Buffer", elem_offset),
        scope or "global", max(align, 0), offset_factor, buffer_type or "default",
        tuple([int(s) for s in axis_separators or ()]),
    )  # fmt: skip
