"""Let a block write a copy of a buffer, in a storage scope, and copy that back behind the block.

The block that copies back is named after buffer and scope: ``C_local``.  It stands in the block around,
behind the statement that holds the block; where other statements of that nest use the buffer too, in the body
of the innermost loop around both.  Blocks in ``consumer_blocks`` read the copy; all others read the buffer,
as before.  Where the block does not write all that is copied back, or reads what was there before, a block
``C_local_in`` copies the old content first.

Requirements:
  * ``block`` and ``consumer_blocks`` are references to blocks that are there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * ``write_buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * each of ``consumer_blocks`` stands in the same scope, behind the block, and reads the buffer
    (``not-a-reader``); nothing that it reads is written in between (``cache-stale``)
  * the buffer is declared outside the scope's statements (``declared-inside``), and has no strides or offset
    where the block uses a view or pointer of it (``used-otherwise``)
  * no other statement uses the buffer within the loops from which the copy cannot be taken out
    (``shared-nest``), and none of them is left by a return (``leaves-block``); the block has no init that
    runs before these loops (``init-before``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.cache_write("C", 0, "local")
BlockRV('C_local')
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):
for ax0 in range(16):
for ax1 in range(16):

Source: TVM's ``cache_write``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.stmt import For
from tirscript.ir.visitor import free_vars

from ..errors import Refusal, describe
from ..legality.control import escapes
from ..legality.surroundings import aliased_params
from ..legality.written import written_box
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import check_scope, refuse_root, region_of
from ..rewrite.caching import (
    Box,
    Cache,
    CacheStale,
    Spot,
    begins_in,
    check_plain,
    child_number,
    children_of,
    descended,
    init_before,
    is_whole,
    scope_of,
    stale_between,
    touched_box,
    whole,
)
from ..state import ScheduleState
from .cache_read import NotAReader, consumers


class SharedNest(Refusal):
    code = "shared-nest"
    template = "{buffer} cannot be cached for block {block}: something else in {nest} touches it"


class LeavesBlock(Refusal):
    code = "leaves-block"
    template = "{buffer} cannot be cached for block {block}: a return may leave it before it is copied back"


class InitBefore(Refusal):
    code = "init-before"
    template = (
        "{buffer} cannot be cached for block {block}: its init runs before the loop in which the copies "
        "would stand, and the updates need what is there"
    )
    hint_template = "decompose_reduction first"


class Plan:
    """Where the copies go, who uses the cache, what it holds, and whether it is filled first."""

    __slots__ = ("box", "buffer", "fill", "mine", "places", "plain", "spot", "storage")

    def __init__(
        self, spot: Spot, mine: int, places: list[StmtSRef], buffer: Buffer, box: Box, storage: str
    ) -> None:
        self.spot = spot
        self.mine = mine
        self.places = places
        self.buffer = buffer
        self.box = box
        self.storage = storage
        self.fill = False
        self.plain = True


def check(
    state: ScheduleState, block: Any, write_buffer_index: Any, storage_scope: Any, consumer_blocks: Any = None
) -> Plan:
    """Where the copy back goes and what it holds."""
    place = block_place(state, block, "block", "cache_write")
    refuse_root(place)
    number = region_of(place, write_buffer_index, "write_buffer_index", "cache_write", reads=False)
    storage = check_scope(place, storage_scope, "cache_write")
    buffer = place.node.block.writes[number].buffer
    return plan_write(state, place, buffer, storage, consumer_blocks, "cache_write")


def plan_write(
    state: ScheduleState, place: StmtSRef, buffer: Buffer, storage: str, consumer_blocks: Any, primitive: str
) -> Plan:
    """The same for a buffer of a block."""
    scope = scope_of(place)
    readers = consumers(state, place, scope, buffer, consumer_blocks, primitive)
    at: list[tuple[Any, str | None]] = [(place, None)]
    plain = True
    for r in [place, *readers]:
        plain = check_plain(scope, r, buffer) and plain
    level = _level(place, scope, buffer)
    items = children_of(level)
    mine = child_number(level, place)
    if "return" in escapes(items[mine]):
        raise LeavesBlock(place.home, at=at, buffer=buffer, block=place.node)
    for r in readers:
        if child_number(level, r) <= mine:
            raise NotAReader(place.home, at=at, other=r.node, buffer=buffer, block=place.node)
    last = max([child_number(level, r) for r in readers], default=mine)
    if readers and state.enable_check:
        stale = stale_between(level, buffer, readers, mine + 1)
        if stale is not None:
            raise CacheStale(
                place.home, at=at, buffer=buffer, block=readers[0].node, other=describe(items[stale])
            )
    places = [place, *readers]
    if last > mine + 1 or readers:
        used = {id(r.node) for r in readers}
        between = [n for n in range(mine + 1, last + 1) if buffer.data in free_vars(items[n])]
        if any(n not in {child_number(level, r) for r in readers} for n in between) or not used:
            last = mine
        elif any(not alone(items[child_number(level, r)], r, buffer, place) for r in readers):
            last = mine
    box = written_box(level, place, buffer)
    fill = box is None
    if box is None:
        box = touched_box(level, [items[mine]], buffer)
    if readers and not is_whole(box, buffer):
        box, fill = whole(buffer), True
    if init_before(level, place) and (level is not scope or not begins_in(scope, place)):
        raise InitBefore(place.home, at=at, buffer=buffer, block=place.node)
    plan = Plan(Spot(scope, level, last + 1), mine, places, buffer, box, storage)
    plan.fill, plan.plain = fill, plain
    return plan


def _level(place: StmtSRef, scope: StmtSRef, buffer: Buffer) -> StmtSRef:
    """The block or loop in whose body the copies stand: nothing else in the statement there that holds the
    block touches the buffer."""
    level = scope
    while True:
        nest = children_of(level)[child_number(level, place)]
        if alone(nest, place, buffer, place):
            return level
        inner = descended(level, nest)
        if inner is None:
            raise SharedNest(
                place.home, at=[(place, None)], buffer=buffer, block=place.node, nest=describe(nest)
            )
        level = inner


def alone(nest: Any, place: StmtSRef, buffer: Buffer, asked: StmtSRef) -> bool:
    """Whether only the block at the place touches the memory of the buffer below a statement."""
    aliased = aliased_params(asked.home)
    if not aliased:
        s = nest
        while type(s) is For:
            s = s.body
        if s is place.node:
            return True
    memory = {b.data for b in aliased} if buffer in aliased else set()
    memory.add(buffer.data)
    return all(
        a.buffer.data not in memory
        or (a.buffer.data is buffer.data and bool(a.realizes) and a.realizes[0] is place.node)
        for a in accesses_of(nest, (buffer,))
    )


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block write the copy, then add the copy back; its block is returned."""
    spot = plan.spot
    cache = Cache(spot, plan.buffer, plan.storage, plan.box, compact=plan.plain)
    nest, label = cache.nest(fill=False)
    parts = [(spot.at, nest)]
    if plan.fill:
        parts.append((plan.mine, cache.nest(fill=True, name=f"{cache.name}_in")[0]))
    cache.apply(state, plan.places, parts)
    return BlockRV(label, spot.scope.home.name)


KIND = InstructionKind(
    "CacheWrite", "cache_write", ("block", "write_buffer_index", "storage_scope", "consumer_blocks"), check,
    rewrite, attrs=3,
)  # fmt: skip
