"""Finding blocks and loops: nothing is changed, but the trace remembers what was looked up."""

from __future__ import annotations

from typing import Any

from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt

from ..errors import Refusal
from ..record.trace import InstructionKind
from ..refs import BlockRV, LoopRV, StmtSRef, block_token
from ..resolve import any_place, block_place, named_block
from ..state import WRAPPERS, ScheduleState


class NoScope(Refusal):
    code = "no-scope"
    template = "block {block} has no siblings: no block contains it"


def get_block(state: ScheduleState, name: Any, func_name: str | None = None) -> BlockRV:
    """The only block of that name in the function."""
    place = named_block(state, name, func_name)
    return BlockRV(block_token(place.node.block.label), place.home.name)


def get_loops(state: ScheduleState, block: Any) -> list[LoopRV]:
    """The loops around a block, outermost first, up to the block that contains it."""
    place = block_place(state, block, "block", "get_loops")
    name = place.home.name
    out = []
    p = place.parent
    while p is not None:
        s = p.node
        t = type(s)
        if t is For:
            out.append(LoopRV(s.loop_var, name))
        elif t is BlockRealize:
            break
        p = p.parent
    out.reverse()
    return out


def child_realizes(s: Any) -> list[BlockRealize]:
    """The blocks below a statement that no other block in it contains, in order."""
    out: list[BlockRealize] = []
    stack = [s]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is BlockRealize:
            out.append(n)
        elif t is For or t in WRAPPERS:
            stack.append(n.body)
        elif t is SeqStmt:
            stack.extend(reversed(n.seq))
        elif t is IfThenElse:
            if n.else_case is not None:
                stack.append(n.else_case)
            stack.append(n.then_case)
    return out


def _inside(place: StmtSRef) -> Any:
    s = place.node
    return s.block.body if type(s) is BlockRealize else s.body


def get_child_blocks(state: ScheduleState, block_or_loop: Any) -> list[BlockRV]:
    """The blocks directly inside a block or loop."""
    place = any_place(state, block_or_loop, "block_or_loop", "get_child_blocks")
    name = place.home.name
    return [BlockRV(block_token(r.block.label), name) for r in child_realizes(_inside(place))]


def _siblings(place: StmtSRef) -> tuple[list[BlockRealize], int]:
    """The blocks of the scope that the block stands in, and its number among them."""
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        p = p.parent
    if p is None:
        raise NoScope(place.home, at=[(place, None)], block=place.node)
    found = child_realizes(p.node.block.body)
    return found, next(n for n, r in enumerate(found) if r is place.node)


def _buffers(regions: Any) -> set[Any]:
    return {r.buffer.data for r in regions}


def get_producers(state: ScheduleState, block: Any) -> list[BlockRV]:
    """The blocks before this one in its scope that write what it reads or writes; each once."""
    place = block_place(state, block, "block", "get_producers")
    found, n = _siblings(place)
    b = found[n].block
    wanted = _buffers(b.reads) | _buffers(b.writes)
    name = place.home.name
    return [
        BlockRV(block_token(r.block.label), name)
        for r in found[:n]
        if not wanted.isdisjoint(_buffers(r.block.writes))
    ]


def get_consumers(state: ScheduleState, block: Any) -> list[BlockRV]:
    """The blocks after this one in its scope that read or write what it writes; each once."""
    place = block_place(state, block, "block", "get_consumers")
    found, n = _siblings(place)
    written = _buffers(found[n].block.writes)
    name = place.home.name
    return [
        BlockRV(block_token(r.block.label), name)
        for r in found[n + 1 :]
        if not written.isdisjoint(_buffers(r.block.reads) | _buffers(r.block.writes))
    ]


def get_output_blocks(state: ScheduleState, scope_block: Any) -> list[BlockRV]:
    """The blocks inside ``scope_block``, at any depth, that hold no other block and write a parameter."""
    place = block_place(state, scope_block, "scope_block", "get_output_blocks")
    params = {b.data for b in place.home.func.buffer_map.values()}
    name = place.home.name
    out = []
    stack = list(reversed(child_realizes(_inside(place))))
    while stack:
        r = stack.pop()
        below = child_realizes(r.block.body)
        if below:
            stack.extend(reversed(below))
        elif not params.isdisjoint(_buffers(r.block.writes)):
            out.append(BlockRV(block_token(r.block.label), name))
    return out


def _found(state: ScheduleState, plan: Any) -> Any:
    return plan


def _look(name: str, method: str, params: tuple[str, ...], function: Any, attrs: int = 0) -> InstructionKind:
    return InstructionKind(name, method, params, function, _found, attrs=attrs, step=False)


GET_BLOCK = _look("GetBlock", "get_block", ("name", "func_name"), get_block, 2)
GET_LOOPS = _look("GetLoops", "get_loops", ("block",), get_loops)
GET_CHILD_BLOCKS = _look("GetChildBlocks", "get_child_blocks", ("block_or_loop",), get_child_blocks)
GET_PRODUCERS = _look("GetProducers", "get_producers", ("block",), get_producers)
GET_CONSUMERS = _look("GetConsumers", "get_consumers", ("block",), get_consumers)
GET_OUTPUT_BLOCKS = _look("GetOutputBlocks", "get_output_blocks", ("scope_block",), get_output_blocks)
