"""Blocks that use buffers by name alone, and those that use views and pointers."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import Add, BufferLoad, Call, FloatImm, IntImm, IterVar, Mul, Var
from tirscript.ir.node import map_tuple, memo_of, walk
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    For,
)
from tirscript.ir.visitor import free_vars

from ..errors import Refusal
from ..refs import StmtSRef


class UsedOtherwise(Refusal):
    code = "used-otherwise"
    template = "{buffer} cannot be cached: block {block} also uses it {how}"


class DeclaredInside(Refusal):
    code = "declared-inside"
    template = "{buffer} cannot be cached: it is declared inside block {scope}, in which the copy would stand"


def by_name(block: Block) -> bool:
    """Whether a block holds no view, no pointer and no annotation that could be a buffer; memoised on it."""
    memo = memo_of(block)
    found: bool | None = memo.get("by_name")
    if found is None:
        found = memo["by_name"] = all(map(_by_name, walk(block)))
    return found


def shared_memory(block: Block, buffer: Buffer) -> bool:
    """Whether the block uses another buffer over the same pointer."""
    data = buffer.data
    for regions in (block.reads, block.writes):
        for r in regions:
            if r.buffer.data is data and r.buffer is not buffer:
                return True
    return False


_PLAIN = (int, float, str, bool)


def _by_name(n: Any) -> bool:
    t = type(n)
    if t is Var:
        return bool(n.dtype != "handle")
    if t is Call:
        return bool(n.op != "address_of")
    if t in (MatchBufferRegion, DeclBuffer, Allocate, AllocateConst, AttrStmt, BufferRealize):
        return False
    if t is Block or t is For:
        return all(isinstance(v, _PLAIN) for v in n.annotations.values())
    return True


def renamed(block: Block, old: Buffer, new: Buffer) -> Block:
    """A block that uses buffers by name alone, with another one of the same shape."""

    def f(n: Any) -> Any:
        t = type(n)
        if t is Var or t is IntImm:
            return n
        if t is BufferLoad and n.predicate is None:
            for i in n.indices:
                if type(i) is not Var and type(i) is not IntImm:
                    break
            else:
                return BufferLoad(new, n.indices, None, n.span) if n.buffer is old else n
        if t is BufferStore and n.predicate is None:
            value = f(n.value)
            indices = n.indices
            for i in indices:
                if type(i) is not Var and type(i) is not IntImm:
                    indices = map_tuple(f, indices)
                    break
            if n.buffer is old:
                return BufferStore(new, value, indices, None, n.span)
            if value is n.value and indices is n.indices:
                return n
            return BufferStore(n.buffer, value, indices, None, n.span)
        if t is BufferLoad or t is BufferStore:
            made = n.map_children(f)
            return made.replace(buffer=new) if n.buffer is old else made
        if t is Block:
            return one(n) if old.data in free_vars(n) else n
        if t is BufferRegion:
            return region(n)
        if t is IterVar or t is FloatImm:
            return n
        if t is Add or t is Mul:
            a, b = f(n.a), f(n.b)
            return n if a is n.a and b is n.b else t(a, b, n.span)
        return n.map_children(f)

    def region(n: BufferRegion) -> BufferRegion:
        for r in n.region:
            if type(r.min) is not Var and type(r.min) is not IntImm:
                n = n.map_children(f)
                break
        return BufferRegion(new, n.region, n.span) if n.buffer is old else n

    def one(b: Block) -> Block:
        reads = tuple([region(r) for r in b.reads])
        writes = tuple([region(r) for r in b.writes])
        init = None if b.init is None else f(b.init)
        return Block(
            b.label, b.iter_vars, reads, writes, f(b.body), init, b.alloc_buffers, b.match_buffers,
            b.annotations, b.span,
        )  # fmt: skip

    return one(block)


def check_plain(scope: StmtSRef, place: StmtSRef, buffer: Buffer) -> bool:
    """Whether a block uses the buffer by name alone.  Views and pointers need a buffer that lies dense and
    as a whole; refused where that cannot be."""
    block = place.node.block
    how = ""
    n: Any
    for n in () if by_name(block) and not shared_memory(block, buffer) else walk(block):
        t = type(n)
        if t is Var:
            if n is buffer.data:
                how = how or "through its pointer"
        elif t is Call:
            if n.op == "address_of":
                how = how or "through its pointer"
        elif t is MatchBufferRegion:
            if n.source.buffer.data is buffer.data:
                how = f"through the view {n.buffer.name}"
        elif t is BufferLoad or t is BufferStore:
            if n.buffer is not buffer and n.buffer.data is buffer.data:
                how = f"through the view {n.buffer.name}"
    if how and (buffer.strides or buffer.elem_offset is not None):
        raise UsedOtherwise(place.home, at=[(place, None)], buffer=buffer, block=place.node, how=how)
    p: StmtSRef | None = place.parent
    while p is not None and p is not scope:
        s: Any = p.node
        if type(s) is For:
            pass
        elif getattr(s, "buffer", None) is buffer or getattr(s, "buffer_var", None) is buffer.data:
            raise DeclaredInside(place.home, at=[(place, None)], buffer=buffer, scope=scope.node)
        p = p.parent
    return not how


__all__ = ["DeclaredInside", "UsedOtherwise", "by_name", "check_plain", "renamed", "shared_memory"]
