"""Let a block write a copy of a buffer, in a storage scope, and copy that back behind the block.

The block that copies back is named after buffer and scope: ``C_local``.  Blocks in ``consumer_blocks`` read
the copy; all others read the buffer, as before.

Requirements:
  * ``block`` and ``consumer_blocks`` are references to blocks that are there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * ``write_buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * each of ``consumer_blocks`` stands in the same scope, behind the block, and reads the buffer
    (``not-a-reader``); no other block writes the buffer then (``cache-stale``)
  * the block uses no view and no pointer of the buffer (``used-otherwise``), and it is declared outside the
    scope's statements (``declared-inside``)
  * nothing else in the nest of the block touches the buffer (``shared-nest``)
  * the block writes every cell that is copied back, and reads none before it wrote it: its indices are axes
    of its own, and no condition but the bounds of the axes decides whether it stores (``partial-write``)

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

from tirscript.analysis.access import accesses, conjuncts, uses_declared
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LT, TRUE, Add, IntImm, const_int
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt
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
    scope_of,
    users,
    whole,
    with_statement,
)
from ..control import escapes
from ..cover import check_axes_cover
from ..errors import Refusal, describe
from ..legality import aliased_params
from ..prove import holds, same
from ..refs import BlockRV, StmtSRef, block_token
from ..resolve import block_place
from ..state import ScheduleState
from ..trace import InstructionKind
from .cache_read import NotAReader, consumers


class SharedNest(Refusal):
    code = "shared-nest"
    template = "{buffer} cannot be cached for block {block}: something else in {nest} touches it"


class PartialWrite(Refusal):
    code = "partial-write"
    template = "{buffer} cannot be cached for block {block}: {what}, so old content would be lost"


class Plan:
    """The scope, the writer and its readers, the position of the copy back, and what it holds."""

    __slots__ = ("at", "box", "buffer", "places", "scope", "storage")

    def __init__(
        self, scope: StmtSRef, at: int, places: list[StmtSRef], buffer: Buffer, box: Box, storage: str
    ) -> None:
        self.scope = scope
        self.at = at
        self.places = places
        self.buffer = buffer
        self.box = box
        self.storage = storage


def check(
    state: ScheduleState, block: Any, write_buffer_index: Any, storage_scope: Any, consumer_blocks: Any = None
) -> Plan:
    """Where the copy back goes and what it holds."""
    place = block_place(state, block, "block", "cache_write")
    refuse_root(place)
    number = region_of(place, write_buffer_index, "write_buffer_index", "cache_write", reads=False)
    storage = check_scope(place, storage_scope, "cache_write")
    buffer = place.node.block.writes[number].buffer
    scope = scope_of(place)
    readers = consumers(state, place, scope, buffer, consumer_blocks, "cache_write")
    mine = child_number(scope, place)
    at: list[tuple[Any, str | None]] = [(place, None)]
    for r in [place, *readers]:
        check_plain(scope, r, buffer)
    for r in readers:
        if child_number(scope, r) <= mine:
            raise NotAReader(place.home, at=at, other=r.node, buffer=buffer, block=place.node)
    _check_alone(place, scope, buffer, mine)
    box = _box(place, buffer)
    if readers:
        others = users(scope, buffer, writes=True) - {mine}
        full = all(
            same(a, b) for x, y in zip(box, whole(buffer), strict=True) for a, b in zip(x, y, strict=True)
        )
        if others or not full:
            other = (
                describe(children_of(scope)[min(others)]) if others else "a part that the block leaves out"
            )
            raise CacheStale(place.home, at=at, buffer=buffer, block=readers[0].node, other=other)
    if state.enable_check:
        check_axes_cover(_top(scope, place), place.node, "cached")
    return Plan(scope, mine + 1, [place, *readers], buffer, box, storage)


def _top(scope: StmtSRef, place: StmtSRef) -> StmtSRef:
    """The place of the outermost loop around the block, or the block's own."""
    top = place
    p = place.parent
    while p is not None and p is not scope:
        if type(p.node) is For:
            top = p
        p = p.parent
    return top


def _check_alone(place: StmtSRef, scope: StmtSRef, buffer: Buffer, mine: int) -> None:
    """Nothing else below the statement of the scope that the block stands in touches the buffer."""
    from tirscript.analysis.access import accesses_of

    nest = children_of(scope)[mine]
    aliased = aliased_params(place.home)
    memory = {b.data for b in aliased} if buffer in aliased else set()
    memory.add(buffer.data)
    for a in accesses_of(nest, (buffer,)):
        if a.buffer.data not in memory:
            continue
        own = a.buffer is buffer and bool(a.realizes) and a.realizes[0] is place.node
        if not own:
            raise SharedNest(
                place.home, at=[(place, None)], buffer=buffer, block=place.node, nest=describe(nest)
            )


def _box(place: StmtSRef, buffer: Buffer) -> Box:
    """The cells that the block writes; refused unless it writes each of them before it reads it."""
    realize: BlockRealize = place.node
    b = realize.block
    doms = {iv.var: iv for iv in b.iter_vars}
    what = "it is opaque" if uses_declared(b) else None
    first: tuple[Any, ...] | None = None
    stored = False
    for a in accesses(b):
        if a.buffer is not buffer:
            continue
        if a.indices is None:
            what = what or "it is opaque"
            continue
        if a.init and not a.is_write:
            what = what or f"its init reads {buffer.name}"
        if first is None:
            first = a.indices
            if not a.is_write and b.init is None:
                what = what or f"it reads {buffer.name} before it writes it"
        if any(x is not y and not same(x, y) for x, y in zip(first, a.indices, strict=True)):
            what = what or f"it touches several cells of {buffer.name} at once"
        if a.is_write and not a.conditions and not a.guarded and not a.axes:
            if b.init is None or a.init:
                stored = True
        elif not a.is_write and not stored and b.init is None:
            what = what or f"it reads {buffer.name} before it writes it"
    if b.init is not None and not any(a.init and a.is_write and a.buffer is buffer for a in accesses(b)):
        what = what or f"its init does not write {buffer.name}"
    if not stored:
        what = what or "a condition or loop decides whether it stores"
    box: Box = []
    used = set()
    for i, size in zip(first or (), buffer.shape, strict=True):
        iv = doms.get(i)
        if iv is not None and iv.dom is not None and iv.kind == "spatial" and iv.var not in used:
            used.add(iv.var)
            zero = const_int(0, iv.dom.min.dtype)
            if not (
                (same(iv.dom.min, zero) and same(iv.dom.extent, size))
                or (holds(place, iv.dom.min >= zero) and holds(place, Add(iv.dom.min, iv.dom.extent) <= size))
            ):
                what = what or f"axis `{iv.var.name}` may leave {buffer.name}"
            box.append((iv.dom.min, iv.dom.extent))
        elif type(i) is IntImm:
            box.append((i, const_int(1, i.dtype)))
        else:
            what = what or f"an index of {buffer.name} is not a spatial axis of its own"
    what = what or _guard(place, realize)
    if what is not None:
        raise PartialWrite(place.home, at=[(place, None)], buffer=buffer, block=realize, what=what)
    return box


def _guard(place: StmtSRef, realize: BlockRealize) -> str | None:
    """A condition on the block that is not the end of one of its axes."""
    if escapes(realize.block.body):
        return "a break or return may leave it"
    ends = []
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.dom is not None:
            ends.append((value, Add(iv.dom.min, iv.dom.extent)))
    for c in conjuncts(realize.predicate) if realize.predicate is not TRUE else ():
        if not (type(c) is LT and any(same(c.a, v) and same(c.b, end) for v, end in ends)):
            return "a condition decides whether it runs"
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is IfThenElse:
            return "an `if` decides whether it runs"
        if type(p.node) not in (For, SeqStmt):
            return f"{describe(p.node)} stands around it"
        p = p.parent
    return None


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Let the block write the copy, then add the copy back; its block is returned."""
    home = plan.scope.home
    buffer = plan.buffer
    cache = new_buffer(plan.scope, buffer, plan.storage)
    token = block_token(plan.scope.node.block.label)
    for label in [block_token(p.node.block.label) for p in plan.places]:
        place = home.index[label]
        s: BlockRealize = place.node
        block = substitute(s.block, {buffer.data: cache.data}, {buffer: cache})
        state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span))
    scope = home.index[token]
    nest, label = copy_nest(scope, cache, buffer, plan.box, in_scope(buffer.name, plan.storage))
    state.replace(scope, with_statement(scope, plan.at, nest, cache))
    return BlockRV(label, home.name)


KIND = InstructionKind(
    "CacheWrite", "cache_write", ("block", "write_buffer_index", "storage_scope", "consumer_blocks"), check,
    rewrite, attrs=3,
)  # fmt: skip
