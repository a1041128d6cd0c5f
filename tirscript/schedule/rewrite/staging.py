"""Copies at a loop: blocks marked ``auto_copy`` that a later pass may spread over threads."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer, BufferRegion, make_buffer
from tirscript.ir.expr import TRUE, Add, BufferLoad, Expr, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, Stmt
from tirscript.ir.visitor import substitute

from ..errors import Refusal
from ..names import free_name, names_around, names_inside
from ..refs import StmtSRef
from ..resolve import block_place, loop_place
from ..state import ScheduleState
from .buffers import in_scope
from .caching import Box, child_number, scope_of


class NotAround(Refusal):
    code = "not-around"
    template = "loop `{loop}` does not stand around block {block}, within {scope}"
    hint_template = "get_loops({block}) gives the loops around the block"


def loop_and_block(
    state: ScheduleState, loop: Any, block: Any, primitive: str
) -> tuple[StmtSRef, StmtSRef, StmtSRef]:
    """The places of a loop, a block under it, and the block around both."""
    level = loop_place(state, loop, "loop", primitive)
    place = block_place(state, block, "block", primitive)
    if place.parent is None:
        raise NotAround(
            place.home, at=[(level, None)], loop=level.node, block=place.node, scope="the function"
        )
    scope = scope_of(place)
    if child_number(level, place) < 0 or scope_of_loop(level) is not scope:
        raise NotAround(
            place.home, at=[(level, None), (place, "")], loop=level.node, block=place.node, scope=scope.node
        )
    return level, place, scope


def scope_of_loop(level: StmtSRef) -> StmtSRef | None:
    p: StmtSRef | None = level
    while p is not None and type(p.node) is not BlockRealize:
        p = p.parent
    return p


class Staging:
    """A buffer of the whole shape in another scope, and the blocks that copy a box of it at a loop."""

    def __init__(self, scope: StmtSRef, level: StmtSRef, buffer: Buffer, storage: str, box: Box) -> None:
        taken = names_around(scope)
        names_inside(scope.node, taken)
        self.level = level
        self.buffer = buffer
        self.box = box
        self.name = f"{buffer.name}_{storage}"
        self.new = make_buffer(
            free_name(in_scope(buffer.name, storage), taken), buffer.shape, buffer.dtype, scope=storage
        )

    def copy(self, *, fill: bool) -> tuple[Stmt, BlockLabel]:
        """A block that copies the box, from the buffer or back to it."""
        level = self.level
        around = self._loops()
        taken = names_around(StmtSRef(level.node, level, 0, level.home))
        taken.add(self.new.name)
        put: dict[Var, Expr] = {}
        iter_vars: list[IterVar] = []
        for ends in self.box:
            for e in ends:
                if type(e) is IntImm:
                    continue
                for v in (e,) if type(e) is Var else walk(e):
                    if type(v) is Var and v in around and v not in put:
                        put[v] = axis = Var(free_name(f"v{len(put)}", taken), v.dtype)
                        f = around[v]
                        iter_vars.append(IterVar(axis, Range(f.min, f.extent), "spatial"))
        ranges: list[Range] = []
        loops: list[tuple[Var, Expr]] = []
        indices: list[Expr] = []
        for k, (low, extent) in enumerate(self.box):
            low, extent = substitute(low, put), substitute(extent, put)
            i = Var(free_name(f"ax{k}", taken), low.dtype)
            ranges.append(Range(low, extent))
            loops.append((i, extent))
            indices.append(i if type(low) is IntImm and low.value == 0 else Add(low, i))
        cell, region = tuple(indices), tuple(ranges)
        source, target = (self.buffer, self.new) if fill else (self.new, self.buffer)
        body: Stmt = BufferStore(target, BufferLoad(source, cell), cell)
        for i, extent in reversed(loops):
            body = For(i, const_int(0, i.dtype), extent, "serial", body)
        label = BlockLabel(self.name)
        block = Block(
            label, tuple(iter_vars), (BufferRegion(source, region),), (BufferRegion(target, region),), body,
            annotations={"auto_copy": True},
        )  # fmt: skip
        return BlockRealize(tuple(put), TRUE, block), label

    def _loops(self) -> dict[Var, For]:
        out: dict[Var, For] = {}
        p: StmtSRef | None = self.level
        while p is not None and type(p.node) is not BlockRealize:
            if type(p.node) is For:
                out[p.node.loop_var] = p.node
            p = p.parent
        return out


__all__ = ["NotAround", "Staging", "loop_and_block"]
