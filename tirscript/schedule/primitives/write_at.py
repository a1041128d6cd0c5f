"""Let a block write a copy of a buffer that is written back in each iteration of a loop around it.

The copy has the shape of the buffer; a block ``C_local``, marked ``auto_copy``, writes back what the
iteration wrote, behind the statement of the loop that holds the block.  Where the block does not write all of
that, or reads what was there before, another one fills the copy first.

Requirements:
  * ``loop`` and ``block`` are references to a loop and a block that are there (``wrong-handle``,
    ``expired-reference``), and the loop stands around the block, in the same scope (``not-around``)
  * ``write_buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * nothing else in the statement of the loop that holds the block uses the buffer (``shared-nest``), and no
    return leaves it (``leaves-block``); the loops from the scope to the loop are serial or bound to threads
    (``parallel-loop``); where old content must be copied, or others use the buffer, the block has no init
    that runs before the loop (``init-before``)
  * the buffer is declared outside the scope's statements (``declared-inside``), and has no strides or offset
    where the block uses a view or pointer of it (``used-otherwise``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.write_at(j, "Y", "Y", "local")
BlockRV('Y_local')
>>> print(sch.get(sch.get_block("Y_local")).body)
for ax0, ax1 in T.grid(1, 1):
    Y[v0 + ax0, v1 + ax1] = Y_local[v0 + ax0, v1 + ax1]

Source: TVM's ``write_at``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LE, const_int
from tirscript.ir.stmt import For, SeqStmt

from ..errors import describe
from ..legality.control import escapes
from ..legality.flows import reduction_loops
from ..legality.prove import holds
from ..legality.written import written_box
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..rewrite.buffers import check_scope, region_of
from ..rewrite.caching import (
    Box,
    Cache,
    Spot,
    begins_in,
    check_plain,
    child_number,
    children_of,
    init_before,
    touched_box,
)
from ..rewrite.staging import Staging, loop_and_block
from ..state import ScheduleState
from .cache_inplace import check_serial
from .cache_write import InitBefore, LeavesBlock, SharedNest, alone


class Plan:
    """The block, where the copies stand, what they hold, and whether there is one before the block."""

    __slots__ = ("box", "buffer", "fill", "place", "spot", "storage")

    def __init__(
        self, place: StmtSRef, spot: Spot, buffer: Buffer, box: Box, storage: str, fill: bool
    ) -> None:
        self.place = place
        self.spot = spot
        self.buffer = buffer
        self.box = box
        self.storage = storage
        self.fill = fill


def check(state: ScheduleState, loop: Any, block: Any, write_buffer_index: Any, storage_scope: Any) -> Plan:
    """Where the copies stand and what they hold."""
    level, place, scope = loop_and_block(state, loop, block, "write_at")
    number = region_of(place, write_buffer_index, "write_buffer_index", "write_at", reads=False)
    storage = check_scope(place, storage_scope, "write_at")
    buffer = place.node.block.writes[number].buffer
    check_plain(scope, place, buffer)
    at = child_number(level, place)
    nest = children_of(level)[at]
    marked: list[tuple[Any, str | None]] = [(place, None)]
    if not alone(nest, place, buffer, place):
        raise SharedNest(place.home, at=marked, buffer=buffer, block=place.node, nest=describe(nest))
    if "return" in escapes(nest):
        raise LeavesBlock(place.home, at=marked, buffer=buffer, block=place.node)
    if state.enable_check:
        check_serial(scope, StmtSRef(place.node, level, 0, place.home), buffer, threads=True)
    box = written_box(level, place, buffer)
    fill = box is None
    if box is None:
        box = touched_box(level, [nest], buffer)
    if init_before(level, place):
        outer = children_of(scope)[child_number(scope, place)]
        beyond = init_before(scope, place) and not begins_in(scope, place)
        if fill or beyond or not _runs(level, scope, place) or not alone(outer, place, buffer, place):
            raise InitBefore(place.home, at=marked, buffer=buffer, block=place.node)
    return Plan(place, Spot(scope, level, at), buffer, box, storage, fill)


def _runs(level: StmtSRef, scope: StmtSRef, place: StmtSRef) -> bool:
    """Whether each cell that the init stores is written back: reduction loops around the copies surely run,
    and no condition keeps them."""
    reduced = reduction_loops(place.node)
    p: StmtSRef | None = level
    while p is not None and p is not scope:
        s = p.node
        if type(s) is For:
            if s.loop_var in reduced and not holds(p, LE(const_int(1, s.extent.dtype), s.extent)):
                return False
        elif type(s) is not SeqStmt:
            return False
        p = p.parent
    return True


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block write the copy, and add the block that writes it back."""
    spot = plan.spot
    staging = Staging(spot.scope, spot.level, plan.buffer, plan.storage, plan.box)
    cache = Cache(spot, plan.buffer, plan.storage, plan.box, compact=False, new=staging.new)
    nest, label = staging.copy(fill=False)
    parts = [(spot.at + 1, nest)]
    if plan.fill:
        parts.append((spot.at, staging.copy(fill=True)[0]))
    cache.apply(state, [plan.place], parts)
    return BlockRV(label, spot.scope.home.name)


KIND = InstructionKind(
    "WriteAt", "write_at", ("loop", "block", "write_buffer_index", "storage_scope"), check, rewrite, attrs=2
)
