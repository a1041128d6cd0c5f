"""Copy what blocks read of a buffer into another one, in a storage scope, and let them read the copy.

The copy is a block of its own, named after buffer and scope: ``A_shared``.  It stands in the block around,
after the last statement that writes the buffer before the readers.  The readers are ``consumer_blocks``, or
else all blocks of the same scope that read the buffer between the same writes.

Requirements:
  * ``block`` and ``consumer_blocks`` are references to blocks that are there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * ``read_buffer_index`` names a buffer that the block reads (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * each of ``consumer_blocks`` stands in the same scope and reads the buffer (``not-a-reader``)
  * the readers use no view and no pointer of the buffer (``used-otherwise``), and it is declared outside the
    scope's statements (``declared-inside``)
  * no statement of the scope that holds a reader, or stands between copy and readers, writes the buffer
    (``cache-stale``)

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
from tirscript.ir.stmt import BlockRealize
from tirscript.ir.visitor import substitute

from ..buffers import check_scope, in_scope, refuse_root, region_of
from ..caching import (
    Box,
    CacheStale,
    check_plain,
    child_number,
    children_of,
    copy_nest,
    new_buffer,
    read_box,
    scope_of,
    users,
    with_statement,
)
from ..errors import BadArgument, Refusal, a_kind, describe
from ..refs import BlockRV, StmtSRef, block_token
from ..resolve import block_place
from ..state import ScheduleState
from ..trace import InstructionKind
from .look import child_realizes


class BadConsumers(BadArgument):
    code = "wrong-handle"
    template = "`consumer_blocks` of {primitive} must be a list of blocks, {given} was given"


class NotAReader(Refusal):
    code = "not-a-reader"
    template = "block {other} is no reader of {buffer} beside block {block}"
    hint_template = "consumer_blocks are blocks of the same scope that read the buffer"


class Plan:
    """The scope, the position of the copy in it, the readers, what is copied and where to."""

    __slots__ = ("at", "box", "buffer", "readers", "scope", "storage")

    def __init__(
        self, scope: StmtSRef, at: int, readers: list[StmtSRef], buffer: Buffer, box: Box, storage: str
    ) -> None:
        self.scope = scope
        self.at = at
        self.readers = readers
        self.buffer = buffer
        self.box = box
        self.storage = storage


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
    written = sorted(users(scope, buffer, writes=True))
    mine = child_number(scope, place)
    first = min([child_number(scope, r) for r in given]) if given else mine
    before = [n for n in written if n < first]
    at = before[-1] + 1 if before else 0
    if given:
        readers = given
    else:
        end = next((n for n in written if n >= mine), len(children_of(scope)))
        readers = [
            state_place
            for r in child_realizes(scope.node.block.body)
            if any(x.buffer is buffer for x in r.block.reads)
            for state_place in (place.home.index[block_token(r.block.label)],)
            if at <= child_number(scope, state_place) < end or state_place is place
        ]
    for r in readers:
        check_plain(scope, r, buffer)
    last = max([child_number(scope, r) for r in readers])
    for n in written if state.enable_check else ():
        if at <= n <= last:
            raise CacheStale(
                place.home, at=[(place, None)], buffer=buffer, block=place.node,
                other=describe(children_of(scope)[n]),
            )  # fmt: skip
    return Plan(scope, at, readers, buffer, read_box(scope, readers, buffer), storage)


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
    home = plan.scope.home
    buffer = plan.buffer
    cache = new_buffer(plan.scope, buffer, plan.storage)
    token = block_token(plan.scope.node.block.label)
    for label in [block_token(r.node.block.label) for r in plan.readers]:
        place = home.index[label]
        s: BlockRealize = place.node
        block = substitute(s.block, {buffer.data: cache.data}, {buffer: cache})
        state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span))
    scope = home.index[token]
    nest, label = copy_nest(scope, buffer, cache, plan.box, in_scope(buffer.name, plan.storage))
    state.replace(scope, with_statement(scope, plan.at, nest, cache))
    return BlockRV(label, home.name)


KIND = InstructionKind(
    "CacheRead", "cache_read", ("block", "read_buffer_index", "storage_scope", "consumer_blocks"), check,
    rewrite, attrs=3,
)  # fmt: skip
