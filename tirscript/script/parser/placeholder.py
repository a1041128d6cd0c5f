"""Regions as a plain list of points, until the analysis is there."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import BufferRegion, point
from tirscript.ir.expr import BufferLoad
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore, Stmt


def infer_regions(
    axes: Any, body: Stmt, init: Stmt | None, allocs: Any, matches: Any, visible: Any
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    reads: dict[Any, BufferRegion] = {}
    writes: dict[Any, BufferRegion] = {}
    for n in walk(body):
        if isinstance(n, BufferLoad):
            reads.setdefault(n.buffer, point(n.buffer, n.indices))
        elif isinstance(n, BufferStore):
            writes.setdefault(n.buffer, point(n.buffer, n.indices))
    if init is not None:
        for b in writes:
            reads.pop(b, None)
    return tuple(reads.values()), tuple(writes.values())
