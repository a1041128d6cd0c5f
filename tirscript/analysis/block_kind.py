"""Kinds of blocks: facts that follow from the form of a block alone, as fast paths."""

from __future__ import annotations

from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block

from .access import accesses, uses_declared
from .dependence import instance_conflicts
from .reducer import reduced_buffers

COMPLETE, REDUCTION, OTHER = "complete", "reduction", "other"


def block_kind(block: Block) -> str:
    """``complete``: only spatial axes, no cell written is read, instances write different cells.
    ``reduction``: spatial and reduce axes, an init, and the buffers written are only updated by a
    commutative reducer, each spatial instance its own cells.  ``other`` is everything else.

    Memoised on the block.
    """
    memo = memo_of(block)
    found: str | None = memo.get("kind")
    if found is None:
        found = memo["kind"] = _kind(block)
    return found


def _kind(block: Block) -> str:
    kinds = {iv.kind for iv in block.iter_vars}
    if uses_declared(block):
        return OTHER
    found = accesses(block)
    written = {a.buffer.data for a in found if a.is_write}
    if not written:
        return OTHER
    if kinds <= {"spatial"} and block.init is None:
        if any(a.buffer.data in written for a in found if not a.is_write):
            return OTHER
        return COMPLETE if instance_conflicts(block) is None else OTHER
    if kinds <= {"spatial", "reduce"} and block.init is not None:
        if {b.data for b in reduced_buffers(block)} != written:
            return OTHER
        return REDUCTION if instance_conflicts(block) is None else OTHER
    return OTHER
