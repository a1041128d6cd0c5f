"""Blocks disappear: predicates become conditions, allocations become statements."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import LowerError, Mark
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, Expr
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import Allocate, BlockRealize, DeclBuffer, IfThenElse, Stmt

from .flatten_buffer import flat_size
from .fold import flat, is_true


def lower_opaque_block(func: PrimFunc) -> PrimFunc:
    """No block is left after this pass."""
    return func.map_children(_visit)


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    n = flat(n.map_children(_visit))
    return _open(n) if type(n) is BlockRealize else n


def _open(s: BlockRealize) -> Stmt:
    block = s.block
    if block.iter_vars or block.init is not None or block.match_buffers:
        raise LowerError(
            f"block `{block.name}` still has axes, an init or matched buffers",
            code="pass-order",
            marks=[Mark(block.span)] if block.span is not None else [],
        )
    body = block.body
    for b in reversed(block.alloc_buffers):
        body = allocate(b, body)
    return body if is_true(s.predicate) else IfThenElse(s.predicate, body, span=s.span)


def allocate(b: Buffer, body: Stmt) -> Stmt:
    """Memory for ``b`` around ``body``."""
    return Allocate(b.data, b.dtype, extents(b), TRUE, DeclBuffer(b, body, span=b.span), span=b.span)


def extents(b: Buffer) -> tuple[Expr, ...]:
    """The extents that are allocated for a buffer: strides may reach farther than its shape."""
    return (flat_size(b),) if b.strides or b.elem_offset is not None else b.shape
