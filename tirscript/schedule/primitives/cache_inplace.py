"""Let a block read and write a copy of a buffer that it changes in place.

Right before the block what it uses is copied into the copy ``A_local``, right behind it is copied back; both
blocks are called ``A_local``.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``read_buffer_index`` names a buffer that the block reads (``bad-buffer-index``, ``no-such-buffer``) and
    writes too (``not-in-place``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * the loops around the block, within its scope, are serial (``parallel-loop``), and no return leaves the
    block (``leaves-block``); it has no init that runs before one of them (``init-before``)
  * the block uses no other buffer that may be the same memory (``aliased-buffer``); the buffer is declared
    outside the scope's statements (``declared-inside``), and has no strides or offset where the block uses a
    view or pointer of it (``used-otherwise``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.decompose_reduction("Y", k)
BlockRV('Y_init')
>>> sch.cache_inplace("Y_update", "Y", "local")
[BlockRV('Y_local'), BlockRV('Y_local')]
>>> [sch.get(b).name for b in sch.get_child_blocks(k)]
['Y_local', 'Y_update', 'Y_local']

Source: TVM's ``cache_inplace``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.stmt import BlockRealize, For, SeqStmt
from tirscript.ir.visitor import free_vars

from ..errors import Refusal
from ..legality.boxes import cell_box
from ..legality.control import escapes
from ..legality.surroundings import aliased_params
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import check_scope, refuse_root, region_of
from ..rewrite.caching import Box, Cache, Spot, check_plain, init_before, scope_of, touched_box
from ..state import ScheduleState, lifted_parts
from .cache_write import InitBefore, LeavesBlock


class NotInPlace(Refusal):
    code = "not-in-place"
    template = "block {block} reads {buffer}, but does not write it"
    hint_template = "cache_read copies a buffer that is only read"


class ParallelLoop(Refusal):
    code = "parallel-loop"
    template = (
        "{buffer} cannot be cached for block {block}: iterations of the {kind} loop `{loop}` would copy the "
        "same cells"
    )


class AliasedBuffer(Refusal):
    code = "aliased-buffer"
    template = "{buffer} cannot be cached for block {block}: {other} may be the same memory"


class Plan:
    """The block, and what is copied where to."""

    __slots__ = ("box", "buffer", "place", "spot", "storage")

    def __init__(self, place: StmtSRef, spot: Spot, buffer: Buffer, box: Box, storage: str) -> None:
        self.place = place
        self.spot = spot
        self.buffer = buffer
        self.box = box
        self.storage = storage


def check(state: ScheduleState, block: Any, read_buffer_index: Any, storage_scope: Any) -> Plan:
    """What is copied and where to."""
    place = block_place(state, block, "block", "cache_inplace")
    refuse_root(place)
    number = region_of(place, read_buffer_index, "read_buffer_index", "cache_inplace", reads=True)
    storage = check_scope(place, storage_scope, "cache_inplace")
    b = place.node.block
    buffer = b.reads[number].buffer
    at: list[tuple[Any, str | None]] = [(place, None)]
    if all(w.buffer is not buffer for w in b.writes):
        raise NotInPlace(place.home, at=at, block=place.node, buffer=buffer)
    scope = scope_of(place)
    check_plain(scope, place, buffer)
    if escapes(b.body):
        raise LeavesBlock(place.home, at=at, buffer=buffer, block=place.node)
    if place.parent is not None and init_before(place.parent, place):
        raise InitBefore(place.home, at=at, buffer=buffer, block=place.node)
    check_serial(scope, place, buffer)
    aliased = aliased_params(place.home)
    if buffer in aliased:
        used = free_vars(b)
        for other in aliased:
            if other is not buffer and other.data in used:
                raise AliasedBuffer(place.home, at=at, buffer=buffer, block=place.node, other=other)
    level = place.parent
    assert level is not None
    while type(level.node) is SeqStmt and level.parent is not None:
        level = level.parent
    box = cell_box(level, place, buffer) or touched_box(level, [place.node], buffer)
    return Plan(place, Spot(scope, level, 0), buffer, box, storage)


def check_serial(scope: StmtSRef, place: StmtSRef, buffer: Buffer, threads: bool = False) -> None:
    """Refuse where loops between the scope and the place run in parallel; ``threads`` may."""
    p = place.parent
    while p is not None and p is not scope:
        f: Any = p.node
        if type(f) is For and f.kind not in ("serial", "unrolled") and not (threads and f.thread):
            raise ParallelLoop(place.home, at=[(f, "")], buffer=buffer, block=place.node, loop=f, kind=f.kind)
        p = p.parent


def rewrite(state: ScheduleState, plan: Plan) -> list[BlockRV]:
    """Put the copies around the block."""
    spot = plan.spot
    home = spot.scope.home
    cache = Cache(spot, plan.buffer, plan.storage, plan.box, compact=False)
    into, first = cache.nest(fill=True)
    back, second = cache.nest(fill=False)
    r: BlockRealize = plan.place.node
    used = BlockRealize(r.iter_values, r.predicate, cache.used_by(plan.place, reads_only=False), r.span)
    s: BlockRealize = spot.scope.node
    body = lifted_parts(spot.scope, plan.place, (into, used, back))
    block = s.block.replace(body=body, alloc_buffers=(*s.block.alloc_buffers, cache.new))
    state.replace(spot.scope, BlockRealize(s.iter_values, s.predicate, block, s.span), ())
    return [BlockRV(first, home.name), BlockRV(second, home.name)]


KIND = InstructionKind(
    "CacheInplace", "cache_inplace", ("block", "read_buffer_index", "storage_scope"), check, rewrite, attrs=2
)
