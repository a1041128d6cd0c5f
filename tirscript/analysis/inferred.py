"""The regions that a block reads and writes, as its statements show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tirscript.arith.linear import key_of
from tirscript.diagnostics import deep_recursion
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion, point
from tirscript.ir.expr import (
    Add,
    BufferLoad,
    Cast,
    Div,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Max,
    Min,
    Mul,
    Sub,
    Var,
)
from tirscript.ir.stmt import BufferStore, Stmt

from .access import Access, Collector
from .region import Axis, Box, Hull, evaluate, whole_box


def infer_regions(
    iter_vars: Iterable[IterVar],
    body: Stmt,
    init: Stmt | None = None,
    alloc_buffers: Iterable[Buffer] = (),
    match_buffers: Iterable[MatchBufferRegion] = (),
    visible: Iterable[Buffer] = (),
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    """The regions that a block reads and writes: one hull for each buffer, in order of first evaluation.

    Loops inside the block are widened, conditions are used, an index that depends on data stands for the
    whole extent, and so does a pointer that goes to a call.  A block with init does not list as read the
    cells that it updates.  ``visible`` are buffers whose pointers may occur.
    """
    if not (alloc_buffers or match_buffers or visible) and type(body) is BufferStore:
        quick = _single_cells(body, init)
        if quick is not None:
            return quick
    with deep_recursion():
        c = Collector(visible, False)
        c.local.update(alloc_buffers)
        for m in match_buffers:
            c.views[m.buffer] = (m.source.buffer, m)
            c.by_pointer[m.buffer.data] = m.buffer
        for b in alloc_buffers:
            c.by_pointer[b.data] = b
        if init is not None:
            c.init = True
            c.statement(init)
            c.init = False
        c.statement(body)
        outer = tuple(
            [Axis(iv.var, iv.dom.min, iv.dom.extent, None) for iv in iter_vars if iv.dom is not None]
        )
        updated = updated_cells(c.out) if init is not None else {}
        reads: dict[Buffer, Hull] = {}
        writes: dict[Buffer, Hull] = {}
        for a in c.out:
            if not a.is_write and updated and is_update(a, updated):
                continue
            box = _box(a, outer)
            if box is None:
                continue
            table = writes if a.is_write else reads
            have = table.get(a.buffer)
            if have is None:
                table[a.buffer] = Hull(a.buffer, box, outer)
            else:
                have.join(box)
        return tuple([h.region() for h in reads.values()]), tuple([h.region() for h in writes.values()])


# Operators that evaluate all their operands, and nothing else.
_STRICT = frozenset({Add, Sub, Mul, Div, FloorDiv, FloorMod, Max, Min, Cast})
_CONSTANTS = frozenset({IntImm, FloatImm})


def _single_cells(
    body: BufferStore, init: Stmt | None
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]] | None:
    """The regions of one store, and perhaps an initial one, that use each buffer at one cell, whose indices
    are variables and constants; None where there is more to it."""
    reads: dict[Buffer, tuple[Any, ...]] = {}
    writes: dict[Buffer, tuple[Any, ...]] = {}
    for s in (body,) if init is None else (init, body):
        if type(s) is not BufferStore or s.predicate is not None:
            return None
        stack: list[Any] = [s.value]
        while stack:
            n = stack.pop()
            t = type(n)
            if t is BufferLoad:
                if n.predicate is not None or not _enter_cell(reads, n):
                    return None
            elif t in _STRICT:
                if t is not Cast:
                    stack.append(n.b)
                    stack.append(n.a)
                else:
                    stack.append(n.value)
            elif t not in _CONSTANTS and (t is not Var or n.dtype == "handle"):
                return None
        if not _enter_cell(writes, s):
            return None
    if init is not None:
        have = reads.get(body.buffer)
        if have is not None and _same_cell(have, body.indices):
            del reads[body.buffer]
    return (
        tuple([point(b, indices) for b, indices in reads.items()]),
        tuple([point(b, indices) for b, indices in writes.items()]),
    )


def _enter_cell(table: dict[Buffer, tuple[Any, ...]], n: Any) -> bool:
    """Enter the cell of a load or store; False where it is no plain cell, or the buffer has another one."""
    have = table.get(n.buffer)
    if have is not None:
        return _same_cell(have, n.indices)
    for i in n.indices:
        if type(i) is not Var and type(i) is not IntImm:
            return False
    table[n.buffer] = n.indices
    return True


def _same_cell(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    for x, y in zip(a, b, strict=True):
        if x is not y and not (type(x) is IntImm and type(y) is IntImm and x.value == y.value):
            return False
    return True


def updated_cells(found: Iterable[Access]) -> dict[Buffer, list[tuple[Any, ...]]]:
    out: dict[Buffer, list[tuple[Any, ...]]] = {}
    for a in found:
        if a.is_write and not a.init:
            out.setdefault(a.buffer, []).append(_cell_key(a))
    return out


def _cell_key(a: Access) -> tuple[Any, ...]:
    if a.region is not None:
        return tuple([(key_of(r.min), key_of(r.extent)) for r in a.region])
    if a.indices is None:
        return ("whole",)
    return tuple([(key_of(i), 1) for i in a.indices])


def is_update(a: Access, updated: Mapping[Buffer, list[tuple[Any, ...]]]) -> bool:
    cells = updated.get(a.buffer)
    return cells is not None and _cell_key(a) in cells


def _box(a: Access, outer: tuple[Axis, ...]) -> Box | None:
    """The ranges that the access may touch over its loops; None where it never happens."""
    if a.indices is None and a.region is None:
        return whole_box(a.buffer)
    return evaluate(a.buffer, a.indices, a.region, a.axes, a.conditions, outer)


__all__ = ["infer_regions", "is_update", "updated_cells"]
