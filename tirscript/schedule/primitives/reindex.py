"""Let a block read, or write, a copy of a buffer that is indexed by the block's axes.

The copy ``B_reindex`` has one dimension for each axis that occurs in the index, in the order of the axes.  A
block ``B_reindex_reindex`` fills it before the block, or a block ``B_reindex`` writes it back behind.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``buffer`` names a buffer of the block: ``("read", 0)``, ``("write", 0)``, a name or a Buffer
    (``bad-buffer-index``, ``no-such-buffer``)
  * the block holds no other block and uses the buffer at one index, which is made of its axes
    (``several-indices``); it asks for no alignment of the buffer (``used-otherwise``)
  * nothing that is read is written between copy and block (``cache-stale``)
  * a block that writes the buffer runs for each value of its axes, stores each time, and needs no old content
    (``partial-write``); different axes give different cells (``not-injective``), and nothing else in the
    statement that holds the block touches the buffer (``shared-nest``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.reindex("Y", ("read", 1))
BlockRV('B_reindex_reindex')
>>> print(sch.get(sch.get_block("B_reindex_reindex")).body)
B_reindex[v0, v1] = B[v1, v0]

Source: TVM's ``reindex``.
"""

from __future__ import annotations

from typing import Any

from ..errors import describe
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import buffer_of, refuse_root
from ..rewrite.caching import Spot, child_number, children_of, scope_of
from ..rewrite.reindexing import Restage, apply, check_written, restage, spot_for_read
from ..state import ScheduleState
from .cache_write import SharedNest, alone


class Plan:
    """What is copied, where to, and which way."""

    __slots__ = ("read", "spot", "stage")

    def __init__(self, stage: Restage, spot: Spot, read: bool) -> None:
        self.stage = stage
        self.spot = spot
        self.read = read


def check(state: ScheduleState, block: Any, buffer: Any) -> Plan:
    """What is copied and where to."""
    place = block_place(state, block, "block", "reindex")
    refuse_root(place)
    found = buffer_of(place, buffer, "buffer", "reindex")
    b = place.node.block
    if isinstance(buffer, (tuple, list)):
        read = buffer[0] == "read"
    else:
        read = any(r.buffer is found for r in b.reads)
    if read:
        stage = restage(place, found, writes=False)
        spot = spot_for_read(state, stage)
        spot.at = child_number(spot.scope, place)
        return Plan(stage, spot, True)
    stage = restage(place, found, writes=True)
    return Plan(stage, spot_for_write(state, stage), False)


def spot_for_write(state: ScheduleState, stage: Restage) -> Spot:
    """Where the copy back goes, if the block may write a copy."""
    place: StmtSRef = stage.place
    scope = scope_of(place)
    mine = child_number(scope, place)
    nest = children_of(scope)[mine]
    if not alone(nest, place, stage.buffer, place):
        raise SharedNest(
            place.home, at=[(place, None)], buffer=stage.buffer, block=place.node, nest=describe(nest)
        )
    if state.enable_check:
        check_written(state, stage)
    return Spot(scope, scope, mine + 1)


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block use the copy, then add the block that fills it or writes it back."""
    buffer = plan.stage.buffer
    name = f"{buffer.name}_reindex"
    label = apply(
        state, plan.stage, plan.spot, name, f"{name}_reindex" if plan.read else name, buffer.scope,
        read=plan.read, own=False,
    )  # fmt: skip
    return BlockRV(label, plan.spot.scope.home.name)


KIND = InstructionKind("ReIndex", "reindex", ("block", "buffer"), check, rewrite, attrs=1)
