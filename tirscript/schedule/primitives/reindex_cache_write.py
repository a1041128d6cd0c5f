"""Let a block write a copy of a buffer in a storage scope, laid out as an index map of the block's axes says.

The copy ``C_local`` is written back by a block of that name, which stands behind the block and has copies of
those of its loops and axes that occur in the index.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``write_buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * the block holds no other block and uses the buffer at one index, which is made of its axes
    (``several-indices``); it asks for no alignment of the buffer (``used-otherwise``)
  * ``index_map`` is a function of the block's axes (``bad-index-map``); it uses axes of that index alone
    (``unmatched-axis``), keeps them apart (``not-injective``), and its extents are known (``unknown-shape``)
  * the block runs for each value of these axes, stores each time, and needs no old content
    (``partial-write``); nothing else in the statement that holds it touches the buffer (``shared-nest``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.reindex_cache_write("C", 0, "local", lambda i, j: (j, i))
BlockRV('C_local')
>>> print(sch.get(sch.get_block("C_local")).body)
C[vi, vj] = C_local[vj, vi]

Source: TVM's ``reindex_cache_write``.
"""

from __future__ import annotations

from typing import Any

from ..record.trace import InstructionKind
from ..refs import BlockRV
from ..resolve import block_place
from ..rewrite.buffers import check_scope, in_scope, refuse_root, region_of
from ..rewrite.caching import Spot
from ..rewrite.reindexing import Restage, apply, restage, with_map
from ..state import ScheduleState
from .reindex import spot_for_write


class Plan:
    """What is copied, where to, and in which storage scope."""

    __slots__ = ("spot", "stage", "storage")

    def __init__(self, stage: Restage, spot: Spot, storage: str) -> None:
        self.stage = stage
        self.spot = spot
        self.storage = storage


def check(
    state: ScheduleState, block: Any, write_buffer_index: Any, storage_scope: Any, index_map: Any
) -> Plan:
    """What is copied and where to."""
    place = block_place(state, block, "block", "reindex_cache_write")
    refuse_root(place)
    number = region_of(place, write_buffer_index, "write_buffer_index", "reindex_cache_write", reads=False)
    storage = check_scope(place, storage_scope, "reindex_cache_write")
    stage = restage(place, place.node.block.writes[number].buffer, writes=True)
    with_map(stage, index_map, "reindex_cache_write")
    return Plan(stage, spot_for_write(state, stage), storage)


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block use the copy, then add the block that writes it back."""
    name = in_scope(plan.stage.buffer.name, plan.storage)
    label = apply(state, plan.stage, plan.spot, name, name, plan.storage, read=False, own=True)
    return BlockRV(label, plan.spot.scope.home.name)


KIND = InstructionKind(
    "ReindexCacheWrite",
    "reindex_cache_write",
    ("block", "write_buffer_index", "storage_scope", "index_map"),
    check,
    rewrite,
    attrs=3,
)
