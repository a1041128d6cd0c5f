"""Copy what blocks read of a buffer into another one, in a storage scope, and let them read the copy.

The copy is a block of its own, named after buffer and scope: ``A_shared``.  It stands in the block around,
after the last statement that writes the buffer before the readers; where statements of one nest write and
read it in turn, in the body of the innermost loop around both.  The readers are ``consumer_blocks``, or else
all blocks that read the buffer between the same writes.

Requirements:
  * ``block`` and ``consumer_blocks`` are references to blocks that are there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * ``read_buffer_index`` names a buffer that the block reads (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * each of ``consumer_blocks`` stands in the same scope and reads the buffer (``not-a-reader``)
  * the buffer is declared outside the scope's statements (``declared-inside``), and has no strides or offset
    where a reader uses a view or pointer of it (``used-otherwise``)
  * nothing that a reader reads is written between the copy and the reader (``cache-stale``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.cache_read("Y", "A", "shared")
BlockRV('A_shared')
>>> loop_lines(sch)
for ax0 in range(16):
for ax1 in range(16):
for i in range(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``cache_read``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer

from ..errors import BadArgument, Refusal, a_kind
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef, block_token
from ..resolve import block_place
from ..rewrite.buffers import check_scope, refuse_root, region_of
from ..rewrite.caching import (
    Box,
    Cache,
    Reading,
    UsedOtherwise,
    check_plain,
    child_number,
    place_for_reads,
    read_box,
    scope_of,
)
from ..state import ScheduleState
from .look import child_realizes


class BadConsumers(BadArgument):
    code = "wrong-handle"
    template = "`consumer_blocks` of {primitive} must be a list of blocks, {given} was given"


class NotAReader(Refusal):
    code = "not-a-reader"
    template = "block {other} is no reader of {buffer} beside block {block}"
    hint_template = "consumer_blocks are blocks of the same scope that read the buffer"


class Plan:
    """Who reads the copy and where it stands, what is copied and where to."""

    __slots__ = ("box", "buffer", "plain", "reading", "storage")

    def __init__(self, reading: Reading, buffer: Buffer, box: Box, storage: str, plain: bool) -> None:
        self.reading = reading
        self.buffer = buffer
        self.box = box
        self.storage = storage
        self.plain = plain


def check(
    state: ScheduleState, block: Any, read_buffer_index: Any, storage_scope: Any, consumer_blocks: Any = None
) -> Plan:
    """Where the copy goes and what it holds."""
    place = block_place(state, block, "block", "cache_read")
    refuse_root(place)
    number = region_of(place, read_buffer_index, "read_buffer_index", "cache_read", reads=True)
    storage = check_scope(place, storage_scope, "cache_read")
    buffer = place.node.block.reads[number].buffer
    scope = scope_of(place)
    given = consumers(state, place, scope, buffer, consumer_blocks, "cache_read")
    if not given and place.parent is None:
        given = [place]
    reading = place_for_reads(
        state,
        place,
        buffer,
        given,
        lambda level, at, end: readers_between(place, scope, level, buffer, at, end),
    )
    plain = True
    for r in reading.readers:
        alone = check_plain(scope, r, buffer)
        if not alone and any(w.buffer is buffer for w in r.node.block.writes):
            raise UsedOtherwise(
                place.home, at=[(place, None)], buffer=buffer, block=r.node,
                how="through a view or pointer, and writes it",
            )  # fmt: skip
        plain = plain and alone
    box = read_box(reading.spot.level, reading.readers, buffer)
    return Plan(reading, buffer, box, storage, plain)


def readers_between(
    place: StmtSRef, scope: StmtSRef, level: StmtSRef, buffer: Buffer, at: int, end: int
) -> list[StmtSRef]:
    """The block itself, and the other readers in the statements ``at`` to ``end`` (not included)."""
    out = []
    for r in child_realizes(scope.node.block.body):
        if any(x.buffer is buffer for x in r.block.reads):
            other = place.home.index[block_token(r.block.label)]
            if other is place or at <= child_number(level, other) < end:
                out.append(other)
    return out


def consumers(
    state: ScheduleState, place: StmtSRef, scope: StmtSRef, buffer: Buffer, given: Any, primitive: str
) -> list[StmtSRef]:
    """The places of ``consumer_blocks``; none where it is None or empty."""
    if given is None:
        return []
    if not isinstance(given, (list, tuple)):
        if isinstance(given, (BlockRV, str)):
            given = [given]
        else:
            raise BadConsumers(place.home, at=[(place, None)], primitive=primitive, given=a_kind(given))
    out = []
    for item in given:
        other = block_place(state, item, "consumer_blocks", primitive)
        reads = any(r.buffer is buffer for r in other.node.block.reads)
        if not reads or other.parent is None or scope_of(other) is not scope:
            raise NotAReader(
                place.home, at=[(place, None)], other=other.node, buffer=buffer, block=place.node
            )
        out.append(other)
    return out


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the readers read the copy, then add it; its block is returned."""
    spot = plan.reading.spot
    cache = Cache(spot, plan.buffer, plan.storage, plan.box, compact=plan.plain)
    nest, label = cache.nest(fill=True)
    cache.apply(state, plan.reading.readers, [(spot.at, nest)], reads_only=True)
    return BlockRV(label, spot.scope.home.name)


KIND = InstructionKind(
    "CacheRead", "cache_read", ("block", "read_buffer_index", "storage_scope", "consumer_blocks"), check,
    rewrite, attrs=3,
)  # fmt: skip
