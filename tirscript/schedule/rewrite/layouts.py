"""A buffer in another layout: its accesses and regions with their indices mapped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.analysis.access import uses_declared
from tirscript.analysis.inferred import infer_regions
from tirscript.arith.analyzer import Analyzer
from tirscript.arith.index_map import substituted
from tirscript.ir.buffer import Buffer, BufferRegion, full_region, point
from tirscript.ir.expr import BufferLoad, Expr, FloatImm, IntImm, Range, Var, const_int
from tirscript.ir.index_map import IndexMap
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockRealize,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    For,
)
from tirscript.ir.visitor import free_vars

from ..errors import Refusal
from ..refs import StmtSRef

_HOLDERS = frozenset({DeclBuffer, BufferRealize, Allocate, AllocateConst})


class UsedOtherwise(Refusal):
    code = "used-otherwise"
    template = "the layout of {buffer} cannot change: it is used {how}"


class Relayout:
    """Rewrites statements so that they use ``new`` where they used ``old``, with mapped indices."""

    def __init__(
        self, place: StmtSRef, old: Buffer, new: Buffer, index_map: IndexMap, digits: bool = False
    ) -> None:
        """``digits``: the map takes whole indices apart into digits, which leaves nothing to simplify."""
        self.place = place
        self.old = old
        self.new = new
        self.map = index_map
        self.plain = all(type(e) is Var or type(e) is IntImm for e in index_map.final_indices)
        self.digits = digits
        self.stores = True  # whether stores change too
        self.cx = Analyzer()
        self.ranges: dict[Var, Range] = {}
        self.told: set[Var] = set()
        self.known: dict[tuple[int, ...], tuple[Expr, ...]] = {}
        self.kept: list[Any] = []  # keeps the keys of `known` alive
        self.blocks: list[tuple[Block, Block]] = []  # the blocks that changed, before and after

    def indices(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The mapped indices, simplified."""
        key = tuple([id(i) for i in indices])
        found = self.known.get(key)
        if found is None:
            for i in indices:
                if "x" in i.dtype:
                    self.refuse("by vectors of indices")
            m = self.map
            out = substituted(m, dict(zip(m.initial_indices, indices, strict=True)))
            if not self.plain and not (self.digits and self.whole(indices)):
                out = self.simplified(out)
            found = self.known[key] = tuple(out)
            self.kept.append(indices)
        return found

    def whole(self, indices: tuple[Expr, ...]) -> bool:
        """Whether each index is a variable that runs over the whole dimension."""
        for i, n in zip(indices, self.old.shape, strict=True):
            r = self.ranges.get(i) if type(i) is Var else None
            if r is None or type(r.min) is not IntImm or r.min.value != 0:
                return False
            extent = r.extent
            if extent is not n and not (
                type(extent) is IntImm and type(n) is IntImm and extent.value == n.value
            ):
                return False
        return True

    def simplified(self, exprs: list[Expr]) -> list[Expr]:
        for v, r in self.ranges.items():
            if v not in self.told:
                self.told.add(v)
                self.cx.bind(v, r)
        return [self.cx.simplify(e) for e in exprs]

    def refuse(self, how: str) -> None:
        raise UsedOtherwise(self.place.home, at=[(self.place, None)], buffer=self.old, how=how)

    def node(self, n: Any) -> Any:
        t = type(n)
        if t is Var:
            if n is self.old.data:
                self.refuse("through its pointer")
            return n
        if t is IntImm or t is FloatImm:
            return n
        if t is BufferLoad or t is BufferStore:
            b = n.buffer
            if b is self.old and t is BufferStore and not self.stores:
                return n.map_children(self.node)
            if b is self.old:
                made = n.map_children(self.node)
                return made.replace(buffer=self.new, indices=self.indices(made.indices))
            if b.data is self.old.data:
                self.refuse(f"through the view {b.name}")
            return n.map_children(self.node)
        if t is For:
            if self.old.data not in free_vars(n):
                return n
            self.ranges[n.loop_var] = Range(n.min, n.extent)
            return n.map_children(self.node)
        if t is BlockRealize:
            values = tuple([self.node(v) for v in n.iter_values])
            block = self.block(n.block)
            if block is n.block and all(a is b for a, b in zip(values, n.iter_values, strict=True)):
                return n if not _holds(n.predicate, self.old) else n.replace(predicate=self.node(n.predicate))
            return BlockRealize(values, self.node(n.predicate), block, n.span)
        if t in _HOLDERS:
            held = n.buffer.data if hasattr(n, "buffer") else n.buffer_var
            if held is self.old.data:
                self.refuse("in a declaration")
        elif t is AttrStmt and n.node is self.old:
            self.refuse("by an attribute")
        elif getattr(n, "op", None) == "address_of" and getattr(n.args[0], "buffer", None) is self.old:
            self.refuse("through its pointer")
        return n.map_children(self.node)

    def block(self, b: Block) -> Block:
        old = self.old
        allocates = any(a is old for a in b.alloc_buffers)
        if not allocates and old.data not in free_vars(b):
            return b
        for m in b.match_buffers:
            if m.source.buffer.data is old.data:
                self.refuse(f"through the view {m.buffer.name}")
        notes = b.annotations.get("buffer_dim_align", ())
        for entry in notes:
            number = getattr(entry[0], "value", entry[0])
            if b.writes[number].buffer is old:
                self.refuse(f'with the alignment that block "{b.name}" asks for')
        for iv in b.iter_vars:
            if iv.dom is not None:
                self.ranges[iv.var] = iv.dom
        body = self.node(b.body)
        init = None if b.init is None else self.node(b.init)
        reads, writes = self.regions(b, body, init)
        allocated = tuple([self.new if a is old else a for a in b.alloc_buffers])
        made = Block(
            b.label, b.iter_vars, reads, writes, body, init, allocated, b.match_buffers, b.annotations, b.span
        )
        self.blocks.append((b, made))
        return made

    def regions(
        self, b: Block, body: Any, init: Any
    ) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
        inferred: dict[bool, BufferRegion] | None = None
        out: list[tuple[BufferRegion, ...]] = []
        for regions, is_write in ((b.reads, False), (b.writes, True)):
            made: list[BufferRegion] = []
            for r in regions:
                if r.buffer is not self.old or (is_write and not self.stores):
                    made.append(r.map_children(self.node) if _holds(r, self.old) else r)
                    continue
                region = self.region(r)
                if region is None:
                    if inferred is None:
                        inferred = _inferred(b, body, init, self.new)
                    region = inferred.get(is_write) or full_region(self.new)
                made.append(region)
            out.append(tuple(made))
        return out[0], out[1]

    def region(self, r: BufferRegion) -> BufferRegion | None:
        """The region where single elements, or all, were meant; None for anything else."""
        if all(type(x.extent) is IntImm and x.extent.value == 1 for x in r.region):
            return point(self.new, self.indices(tuple([self.node(x.min) for x in r.region])))
        for x, n in zip(r.region, self.old.shape, strict=True):
            if not (type(x.min) is IntImm and x.min.value == 0):
                return None
            if x.extent is not n and not (
                type(x.extent) is IntImm and type(n) is IntImm and x.extent.value == n.value
            ):
                return None
        return full_region(self.new)


def simplify_accesses(root: Any, cx: Analyzer) -> Any:
    """A statement or expression with the indices of its loads and stores, and its regions, simplified."""

    def f(n: Any) -> Any:
        t = type(n)
        if t is IntImm or t is Var:
            return n
        n = n.map_children(f)
        if t is BufferLoad or t is BufferStore:
            return n.replace(indices=tuple([cx.simplify(i) for i in n.indices]))
        if t is BufferRegion:
            return n.replace(
                region=tuple([Range(cx.simplify(r.min), cx.simplify(r.extent)) for r in n.region])
            )
        return n

    return f(root)


def bare_accesses(b: Block) -> bool:
    """Whether all indices and regions of a block are variables and constants."""
    stack: list[Any] = [b]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is Var or t is IntImm:
            continue
        if t is BufferRegion:
            for r in n.region:
                for e in (r.min, r.extent):
                    if type(e) is not Var and type(e) is not IntImm:
                        return False
            continue
        if t is BufferLoad or t is BufferStore:
            for e in n.indices:
                if type(e) is not Var and type(e) is not IntImm:
                    return False
        stack += n.children()
    return True


def _holds(n: Any, buffer: Buffer) -> bool:
    """Whether a node mentions the buffer inside: as data in an index."""
    if type(n) is BufferRegion:
        return any(
            type(e) is not Var and type(e) is not IntImm and buffer.data in free_vars(e)
            for r in n.region
            for e in (r.min, r.extent)
        )
    return type(n) is not IntImm and buffer.data in free_vars(n)


def _inferred(b: Block, body: Any, init: Any, buffer: Buffer) -> dict[bool, BufferRegion]:
    if uses_declared(b):
        return {}
    reads, writes = infer_regions(b.iter_vars, body, init, b.alloc_buffers, b.match_buffers)
    out: dict[bool, BufferRegion] = {}
    for regions, is_write in ((reads, False), (writes, True)):
        for r in regions:
            if r.buffer is buffer:
                out[is_write] = r
    return out


def shape_ranges(index_map: IndexMap, buffer: Buffer) -> Mapping[Var, Range]:
    """The range of each initial index over the buffer."""
    return {
        v: Range(const_int(0, n.dtype), n)
        for v, n in zip(index_map.initial_indices, buffer.shape, strict=True)
    }
