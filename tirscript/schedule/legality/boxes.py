"""Boxes of buffers: what blocks use of one while loops run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import uses_declared
from tirscript.analysis.inferred import infer_regions
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LE, TRUE, Add, Expr, IntImm, Range, Var, const_int
from tirscript.ir.node import memo_of, walk
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, SeqStmt, Stmt, seq
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef
from .prove import holds, runs_within, same

Box = list[tuple[Expr, Expr]]
_ZERO = const_int(0, "int64")


def read_box(level: StmtSRef, readers: list[StmtSRef], buffer: Buffer) -> Box:
    """The hull of what the readers read below the level; whole dimensions where it may leave the buffer."""
    box = None
    if len(readers) == 1 and type(level.node) is not BlockRealize and _innermost(readers[0].node.block):
        box = _loop_box(level, readers[0], buffer)
        return _box(level, readers, buffer, reads=True) if box is None else box
    innermost = all(_innermost(r.node.block) for r in readers)
    if innermost and type(level.node) is BlockRealize and all(_free_inside(level, r) for r in readers):
        box = _domain_box(readers, buffer)
    if box is None and innermost and len(readers) == 1:
        box = _loop_box(level, readers[0], buffer)
    if box is not None:
        return box
    return _box(level, readers, buffer, reads=True)


def _innermost(block: Block) -> bool:
    """Whether a block holds no other, so that its regions say no less than what it does; memoised on it."""
    memo = memo_of(block)
    found: bool | None = memo.get("innermost")
    if found is None:
        found = type(block.body) is BufferStore or all(type(n) is not BlockRealize for n in walk(block.body))
        memo["innermost"] = found
    return found


def truly(s: Any) -> Any:
    """A statement with the regions of what its blocks do, not of what those around others say: copies inside
    may use more."""
    t = type(s)
    if t is BlockRealize:
        b = s.block
        if _innermost(b) or uses_declared(b):
            return s
        body = truly(b.body)
        init = None if b.init is None else truly(b.init)
        reads, writes = infer_regions(b.iter_vars, body, init, b.alloc_buffers, b.match_buffers)
        return s.replace(block=b.replace(body=body, init=init, reads=reads, writes=writes))
    return s.map_children(lambda c: truly(c) if isinstance(c, Stmt) else c)


def _free_inside(level: StmtSRef, place: StmtSRef) -> bool:
    """Whether nothing outside of the block at the level decides about the axes of a block in it."""
    if level.parent is None:
        return True
    loops: set[Var] = set()
    p = place.parent
    while p is not None and p is not level:
        if type(p.node) is For:
            loops.add(p.node.loop_var)
        p = p.parent
    return all(free_vars(e) <= loops for e in place.node.iter_values)


def _loop_box(level: StmtSRef, place: StmtSRef, buffer: Buffer) -> Box | None:
    """The quick answer for one reader of the cell at its axes, each of which is a loop below the level, or
    does not change there."""
    realize: BlockRealize = place.node
    regions = [r for r in realize.block.reads if r.buffer is buffer]
    if len(regions) != 1:
        return None
    loops: dict[Var, For] = {}
    p = place.parent
    while p is not None and p is not level:
        if type(p.node) is For:
            loops[p.node.loop_var] = p.node
        elif type(p.node) is not SeqStmt:
            return None
        p = p.parent
    axes = realize.block.iter_vars
    box: Box = []
    for x, size in zip(regions[0].region, buffer.shape, strict=True):
        if not (type(x.extent) is IntImm and x.extent.value == 1):
            return None
        for iv, value in zip(axes, realize.iter_values, strict=True):  # noqa: B007
            if iv.var is x.min:
                break
        else:
            return None
        if iv.dom is None or not within(iv.dom, size):
            return None
        if type(value) is Var and value in loops:
            f = loops[value]
            if f.step is not None or not within(Range(f.min, f.extent), size):
                return None
            box.append((f.min, f.extent))
        elif (type(value) is Var or loops.keys().isdisjoint(free_vars(value))) and (
            (realize.predicate is TRUE and runs_within(level, value, _ZERO, size))
            or _surely_in(level, value, size)
        ):
            box.append((value, const_int(1, value.dtype)))
        else:
            return None
    return box


def cell_box(level: StmtSRef, place: StmtSRef, buffer: Buffer) -> Box | None:
    """The quick answer to ``touched_box`` for one block that reads and writes the cell at its axes."""
    b: Block = place.node.block
    if not _innermost(b):
        return None
    reads = [r for r in b.reads if r.buffer is buffer]
    writes = [r for r in b.writes if r.buffer is buffer]
    if len(reads) != 1 or len(writes) != 1:
        return None
    for x, y in zip(reads[0].region, writes[0].region, strict=True):
        if x.min is not y.min or not (type(y.extent) is IntImm and y.extent.value == 1):
            return None
    return _loop_box(level, place, buffer)


def _inner(level: StmtSRef) -> StmtSRef:
    """A place below the level."""
    return StmtSRef(level.node, level, 0, level.home)


def _surely(inner: StmtSRef, low: Expr, end: Expr, size: Expr) -> bool:
    """Whether the cells from ``low`` to before ``end`` surely lie in a dimension."""
    return holds(inner, LE(const_int(0, low.dtype), low)) and holds(inner, LE(end, size))


def _surely_in(level: StmtSRef, value: Expr, size: Expr) -> bool:
    """Whether a value at the level is inside a dimension even where the predicate of the block is false."""
    return _surely(_inner(level), value, Add(value, const_int(1, value.dtype)), size)


def within(r: Range, size: Expr) -> bool:
    """Whether a range surely lies in a dimension; constants and the whole dimension are seen."""
    if type(r.min) is not IntImm or r.min.value < 0:
        return False
    if r.extent is size:
        return r.min.value == 0
    return type(r.extent) is IntImm and type(size) is IntImm and r.min.value + r.extent.value <= size.value


def _domain_box(readers: list[StmtSRef], buffer: Buffer) -> Box | None:
    """The quick answer: every reader reads the cell at its axes, which all run over the same domains."""
    box: Box | None = None
    for place in readers:
        b: Block = place.node.block
        doms = {iv.var: iv.dom for iv in b.iter_vars}
        here: Box = []
        for r in b.reads:
            if r.buffer is not buffer:
                continue
            if here:
                return None
            for x, size in zip(r.region, buffer.shape, strict=True):
                dom = doms.get(x.min) if type(x.min) is Var else None
                if dom is None or not (type(x.extent) is IntImm and x.extent.value == 1):
                    return None
                low, extent = dom.min, dom.extent
                if type(low) is not IntImm or low.value < 0:
                    return None
                if extent is not size or low.value:
                    if type(extent) is not IntImm or type(size) is not IntImm:
                        return None
                    if low.value + extent.value > size.value:
                        return None
                here.append((low, extent))
        if box is None:
            box = here
        elif any(a is not c or b is not d for (a, b), (c, d) in zip(box, here, strict=True)):
            return None
    return box


def touched_box(level: StmtSRef, nests: Sequence[Any], buffer: Buffer) -> Box:
    """The hull of what the statements read and write."""
    reads, writes = infer_regions((), seq(*[truly(s) for s in nests]), None, (), (), (buffer,))
    regions = [r for r in (*reads, *writes) if r.buffer is buffer]
    if not regions:
        return whole(buffer)
    boxes = [_inside(level, r.region, buffer) for r in regions]
    box = boxes[0]
    for other in boxes[1:]:
        box = [
            a if same(a[0], b[0]) and same(a[1], b[1]) else (const_int(0, n.dtype), n)
            for a, b, n in zip(box, other, buffer.shape, strict=True)
        ]
    return box


def _box(level: StmtSRef, places: list[StmtSRef], buffer: Buffer, *, reads: bool) -> Box:
    nests: list[Stmt] = []
    for r in places:
        nest: Stmt = truly(r.node)
        p = r.parent
        while p is not None and p is not level:
            s: Any = p.node
            if type(s) is For:
                nest = For(s.loop_var, s.min, s.extent, "serial", nest, "", step=s.step)
            elif type(s) is not IfThenElse and type(s) is not SeqStmt:
                return whole(buffer)
            p = p.parent
        nests.append(nest)
    found = infer_regions((), seq(*nests), None, (), (), (buffer,))[0 if reads else 1]
    region = next((r for r in found if r.buffer is buffer), None)
    return whole(buffer) if region is None else _inside(level, region.region, buffer)


def _inside(level: StmtSRef, region: Sequence[Range], buffer: Buffer) -> Box:
    """The ranges, each widened to the whole dimension unless it surely lies in it."""
    out: Box = []
    top: Any
    x: Any
    inner = _inner(level)
    for x, (zero, top) in zip(region, whole(buffer), strict=True):
        if x.extent is top and type(x.min) is IntImm and x.min.value == 0:
            inside = True
        elif type(x.min) is IntImm and type(x.extent) is IntImm and type(top) is IntImm:
            inside = x.min.value >= 0 and x.min.value + x.extent.value <= top.value
        else:
            inside = _surely(inner, x.min, Add(x.min, x.extent), top)
        out.append((x.min, x.extent) if inside else (zero, top))
    return out


def whole(buffer: Buffer) -> Box:
    """All of a buffer."""
    return [(const_int(0, n.dtype), n) for n in buffer.shape]


def is_whole(box: Box, buffer: Buffer) -> bool:
    for (low, extent), n in zip(box, buffer.shape, strict=True):
        if not (type(low) is IntImm and low.value == 0) or not (extent is n or same(extent, n)):
            return False
    return True


__all__ = ["Box", "cell_box", "is_whole", "read_box", "touched_box", "whole", "within"]
