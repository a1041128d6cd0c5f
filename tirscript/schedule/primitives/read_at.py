"""Let a block read a copy of a buffer that is filled in each iteration of a loop around it.

The copy has the shape of the buffer; a block ``A_shared``, marked ``auto_copy``, fills what the iteration
reads, before the statement of the loop that holds the block.

Requirements:
  * ``loop`` and ``block`` are references to a loop and a block that are there (``wrong-handle``,
    ``expired-reference``), and the loop stands around the block, in the same scope (``not-around``)
  * ``read_buffer_index`` names a buffer that the block reads (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * nothing that the block reads is written between copy and block (``cache-stale``), and it is not read by an
    init that runs before the loop (``init-before``); the loops from the scope to the loop are serial or bound
    to threads (``parallel-loop``)
  * the buffer is declared outside the scope's statements (``declared-inside``), and is used by name alone
    where the block writes it, or where it has strides or an offset (``used-otherwise``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.read_at(i, "Y", "A", "shared")
BlockRV('A_shared')
>>> print(sch.get(sch.get_block("A_shared")).body)
for ax0, ax1 in T.grid(1, 16):
    A_shared[v0 + ax0, ax1] = A[v0 + ax0, ax1]

Source: TVM's ``read_at``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer

from ..errors import describe
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..rewrite.buffers import check_scope, region_of
from ..rewrite.caching import (
    Box,
    Cache,
    CacheStale,
    Spot,
    UsedOtherwise,
    check_plain,
    child_number,
    children_of,
    init_reads,
    read_box,
    stale_between,
)
from ..rewrite.staging import Staging, loop_and_block
from ..state import ScheduleState
from .cache_inplace import check_serial
from .cache_write import InitBefore


class Plan:
    """The block, where the copy stands, and what it holds."""

    __slots__ = ("box", "buffer", "place", "spot", "storage")

    def __init__(self, place: StmtSRef, spot: Spot, buffer: Buffer, box: Box, storage: str) -> None:
        self.place = place
        self.spot = spot
        self.buffer = buffer
        self.box = box
        self.storage = storage


def check(state: ScheduleState, loop: Any, block: Any, read_buffer_index: Any, storage_scope: Any) -> Plan:
    """Where the copy stands and what it holds."""
    level, place, scope = loop_and_block(state, loop, block, "read_at")
    number = region_of(place, read_buffer_index, "read_buffer_index", "read_at", reads=True)
    storage = check_scope(place, storage_scope, "read_at")
    buffer = place.node.block.reads[number].buffer
    plain = check_plain(scope, place, buffer)
    if not plain and any(w.buffer is buffer for w in place.node.block.writes):
        raise UsedOtherwise(
            place.home, at=[(place, None)], buffer=buffer, block=place.node,
            how="through a view or pointer, and writes it",
        )  # fmt: skip
    at = child_number(level, place)
    if init_reads(level, place, buffer):
        raise InitBefore(place.home, at=[(place, None)], buffer=buffer, block=place.node)
    if state.enable_check:
        check_serial(scope, StmtSRef(place.node, level, 0, place.home), buffer, threads=True)
        stale = stale_between(level, buffer, [place], at)
        if stale is not None:
            raise CacheStale(
                place.home, at=[(place, None)], buffer=buffer, block=place.node,
                other=describe(children_of(level)[stale]),
            )  # fmt: skip
    return Plan(place, Spot(scope, level, at), buffer, read_box(level, [place], buffer), storage)


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block read the copy, and add the block that fills it."""
    spot = plan.spot
    staging = Staging(spot.scope, spot.level, plan.buffer, plan.storage, plan.box)
    cache = Cache(spot, plan.buffer, plan.storage, plan.box, compact=False, new=staging.new)
    nest, label = staging.copy(fill=True)
    cache.apply(state, [plan.place], [(spot.at, nest)], reads_only=True)
    return BlockRV(label, spot.scope.home.name)


KIND = InstructionKind(
    "ReadAt", "read_at", ("loop", "block", "read_buffer_index", "storage_scope"), check, rewrite, attrs=2
)
