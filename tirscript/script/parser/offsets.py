"""Offsets of parameters and views that say an `offset_factor` and no offset: variables where used."""

from __future__ import annotations

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, Var, const_int
from tirscript.ir.stmt import Stmt
from tirscript.ir.visitor import substitute

from .core import Parser


def offset_of(p: Parser, buffer: Buffer) -> Expr:
    """Where a buffer starts, in elements."""
    if buffer.elem_offset is not None:
        return buffer.elem_offset
    if buffer.offset_factor and (buffer in p.offsets or any(buffer is b for b in p.buffer_map.values())):
        var = p.offsets.get(buffer)
        if var is None:
            name = p.take(f"{buffer.name}_elem_offset")
            var = p.offsets[buffer] = Var(name, "int32", True, None, buffer.span)
        return var
    return const_int(0)


def with_offsets(p: Parser, body: Stmt, buffers: dict[Var, Buffer]) -> tuple[Stmt, dict[Var, Buffer]]:
    """Body and parameters with the variables of offsets where they belong."""
    new = {b: b.replace(elem_offset=v) for b, v in p.offsets.items() if v is not None}
    if not new:
        return body, buffers
    return substitute(body, {}, new), {h: new.get(b, b) for h, b in buffers.items()}
