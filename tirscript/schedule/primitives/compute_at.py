"""Compute a block under a loop of its consumers: in each iteration the part that the loop's body needs.

The block's instances are found from what the consumers under the loop read; where the regions of two
iterations overlap, instances are computed again.  The new loops are called ``ax0``, ``ax1`` ...

Requirements:
  * ``block`` and ``loop`` are references to a block and a loop that are there (``wrong-handle``,
    ``expired-reference``), the block not the root of the function (``root-block``)
  * both stand in the same block (``other-scope``), and the block before the nest of the loop (``wrong-side``,
    ``loop-around``); only loops, sequences and conditions stand around them (``statement-between``)
  * ``index`` is -1 (as late as possible), -2 (as early as possible), or a number of a child of the loop
    between its producers and its consumers (``bad-index``)
  * the enclosing block allocates all buffers that the block writes (``output-block``), and all that read
    them stand under the loop (``no-consumer``, ``consumer-outside``)
  * the loops around the block visit its whole domain, and no more (``axis-not-covered``, ``axis-overrun``,
    ``cover-unknown``); it uses none of them but by its axes (``loop-without-axis``), and its conditions can
    be told from its axes (``guarded-block``)
  * it may run again (``not-recomputable``): it is no update of what was there before, unless each instance
    runs once in the new place too
  * no init that runs before the loop, over which its reduction goes, touches what the block writes
    (``init-before``)
  * nothing is written that it reads, or writes, on the way down (``reversed-dependence``,
    ``dependence-unknown``), nor under loops around both nests where instances of other iterations of them are
    needed (``carried-value``), and parallel loops around it stay independent (``loop-carried-dependence``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import loop_lines, mm_relu
>>> sch = Schedule(mm_relu(16), debug_mask="all")
>>> sch.compute_at("Y", sch.get_loops("C")[0])
>>> loop_lines(sch)
for i in range(16):
for ax0 in range(16):
for ax1 in range(16):
for j in range(16):

Source: TVM's ``compute_at``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import Access, accesses, accesses_of
from tirscript.analysis.region import Axis
from tirscript.arith.linear import ConstantRange, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockRealize, For, SeqStmt, Stmt

from ..errors import Refusal, describe
from ..legality.binding import Binding, GuardedBlock, LoopWithoutAxis, binding_of, mentions
from ..legality.flows import begun_before
from ..legality.footprint import touched
from ..legality.motion import (
    LoopCarried,
    Mover,
    NotRecomputable,
    check_apart,
    nature_of,
    parallel_loops,
    refuse,
    updates_apart,
)
from ..legality.moves import without
from ..legality.regions import Prover, Solver, cells_needed
from ..legality.tiling import tiling
from ..record.trace import InstructionKind
from ..refs import INLINE, ROOT, LoopRV
from ..resolve import block_place
from ..rewrite.nesting import Nest, around, build
from ..rewrite.placement import Piece, Spot, find, pieces, position_of
from ..state import ScheduleState
from . import compute_inline


class OutputBlock(Refusal):
    code = "output-block"
    template = (
        "block {block} cannot be computed at loop `{loop}`: it writes {buffer}, which {scope} does not "
        "allocate"
    )
    hint_template = "cache_write({block}, ...) first, and compute that block there"


class NoConsumer(Refusal):
    code = "no-consumer"
    template = (
        "block {block} cannot be computed at loop `{loop}`: nothing under the loop reads what it writes"
    )


class ConsumerOutside(Refusal):
    code = "consumer-outside"
    template = (
        "block {block} cannot be computed at loop `{loop}`: {other}, which is not under the loop behind it, "
        "uses what it writes"
    )


class InitBefore(Refusal):
    code = "init-before"
    template = (
        "block {block} cannot be computed at loop `{loop}`: the init of block {other}, which runs before its "
        "reduction loops, touches {buffer} too"
    )
    hint_template = "compute it at a loop outside of the reduction"


class CarriedValue(Refusal):
    code = "carried-value"
    template = (
        "block {block} cannot be computed at loop `{loop}`: instances of other iterations of the loops "
        "around both would be needed, and {other} changes what they touch"
    )


class Plan:
    """The place, the position under the loop, and the new nest."""

    __slots__ = ("nest", "position", "spot")

    def __init__(self, spot: Spot, position: int, nest: Nest) -> None:
        self.spot = spot
        self.position = position
        self.nest = nest


def check(
    state: ScheduleState, block: Any, loop: Any, preserve_unit_loops: bool = False, index: Any = -1
) -> Any:
    """The new nest and its place, if the block can be computed there."""
    if type(loop) is LoopRV and (loop.token is ROOT or loop.token is INLINE):
        return _marked(state, block, loop)
    spot = find(state, block, loop, "compute_at", later=True)
    realize = spot.realize
    home = spot.block.home
    at: list[tuple[Any, str | None]] = [(realize, None), (spot.loop.node, "")]
    fields: dict[str, Any] = {"block": realize, "loop": spot.loop.node}
    scope: BlockRealize = spot.scope.node
    allocated = {b.data for b in scope.block.alloc_buffers}
    for r in accesses(realize.block):
        if r.is_write and r.buffer.data not in allocated:
            raise OutputBlock(home, at=at, buffer=r.buffer, scope=describe(scope), **fields)
    position = _position(spot, index)
    if not spot.writes.isdisjoint(spot.header_reads):
        raise ConsumerOutside(home, at=at, other="a condition or a bound of a loop", **fields)
    beside = list(pieces(spot, position, everything=True))
    if state.enable_check:
        _check_inits(spot)
    for p in beside:
        if spot.writes.isdisjoint(touched(p.stmt)[0]) or (p.under and p.before is False):
            continue
        raise ConsumerOutside(home, at=[*at, (p.stmt, "")], other=describe(p.stmt), **fields)
    nest, binding, solver = _nest(state, spot, bool(preserve_unit_loops))
    if state.enable_check:
        _check_order(spot, binding, nest, solver, beside)
    return Plan(spot, position, nest)


def _marked(state: ScheduleState, block: Any, loop: LoopRV) -> Any:
    """Where the block stays, or is inlined, as ``sample_compute_location`` may say."""
    if loop.token is INLINE:
        return compute_inline.check(state, block)
    block_place(state, block, "block", "compute_at")
    return None


def _position(spot: Spot, index: Any) -> int:
    """Behind whatever the block reads, before whoever reads what it writes."""
    first, last = 0, len(spot.children)
    for n, c in enumerate(spot.children):
        reads, writes = touched(c)
        if n < last and not spot.writes.isdisjoint(reads):
            last = n
        if not spot.reads.isdisjoint(writes) and n < last:
            first = n + 1
    if last == len(spot.children):
        raise NoConsumer(
            spot.block.home, at=[(spot.realize, None), (spot.loop.node, "")], block=spot.realize,
            loop=spot.loop.node,
        )  # fmt: skip
    return position_of(spot, index, "compute_at", first, last)


def _nest(state: ScheduleState, spot: Spot, keep_unit: bool) -> tuple[Nest, Binding, Solver]:
    """The block under loops over the instances that the loop's body needs."""
    realize = spot.realize
    prover = Prover(around(spot.loop), spot.block.home.func)
    binding = binding_of(spot.block, spot.old_loops, prover, checked=state.enable_check, word="left")
    solver = Solver(realize.block.iter_vars, prover)
    solver.domains.update(binding.domains)
    mine = [a for a in accesses(realize.block) if a.is_write]
    needed = [a for a in accesses_of(spot.loop.node) if not a.is_write and a.buffer.data in spot.writes]
    buffers = {a.buffer for a in mine}
    spans: dict[Any, Any] = {}
    try:
        if all(a.buffer in buffers for a in needed):
            boxes = cells_needed(needed, 1, relaxation(prover.around))
            spans = solver.spans(mine, boxes)
        _unfix(spot, binding, mine, spans)
        return build(realize, binding, spans, solver, spot.loop, keep_unit), binding, solver
    except ConstantRange:
        return build(realize, binding, {}, solver, spot.loop, keep_unit), binding, solver


def _unfix(spot: Spot, binding: Binding, mine: list[Access], spans: dict[Any, Any]) -> None:
    """Under loops around both nests: an axis that they fix is bound anew where other instances are needed
    too, those of other iterations."""
    loops = _loops_around(spot)
    if not loops:
        return
    variables = {f.loop_var for f in loops}
    realize = spot.realize
    for g in binding.guards:
        if mentions(g, variables | binding.fixed.keys()):
            raise GuardedBlock(spot.block.home, at=[(realize, None)], block=realize, condition=g)
    used: set[Any] = set()
    for a in mine:
        for e in (*(a.indices or ()), *[r.min for r in a.region or ()]):
            used.update([n for n in walk(e) if type(n) is Var])
    if not used.isdisjoint(variables):
        v = next(v for v in used if v in variables)
        raise LoopWithoutAxis(spot.block.home, at=[(realize, None)], block=realize, loop=v)
    for iv in realize.block.iter_vars:
        value = binding.fixed.get(iv.var)
        if value is None or iv.var not in used or iv.kind == "reduce":
            continue
        span = spans.get(iv.var)
        lin = to_linear(value)
        if span is None or lin is None or (span[0] - lin).key() != 0 or (span[1] - lin).key() != 0:
            del binding.fixed[iv.var]
            binding.own.append((iv, value))
            binding.rebound = True


def _loops_around(spot: Spot) -> list[For]:
    """The loops around both nests, in the scope."""
    out = []
    p = spot.top.parent
    while p is not None and p is not spot.scope:
        if type(p.node) is For:
            out.append(p.node)
        p = p.parent
    return out


def relaxation(axes: tuple[Axis, ...]) -> Any:
    """For a buffer the loops around that its memory is shared across: threads that fill it together."""
    threads = [a for a in axes if a.loop is not None and a.loop.thread]
    if not threads:
        return lambda buffer: ()

    def relaxed(buffer: Buffer) -> tuple[Axis, ...]:
        scope = buffer.scope.partition(".")[0]
        if scope == "shared":
            return tuple([a for a in threads if not a.loop.thread.startswith("blockIdx")])  # type: ignore[union-attr]
        if scope == "warp":
            return tuple([a for a in threads if a.loop.thread == "threadIdx.x"])  # type: ignore[union-attr]
        return ()

    return relaxed


def _check_inits(spot: Spot) -> None:
    """An init that runs before the loop must not need what the block does."""
    loops = {f.loop_var for f in spot.path_loops()}
    for a in accesses_of(spot.nest) if loops else ():
        memory = spot.writes | spot.reads if a.is_write else spot.writes
        if a.buffer.data in memory and begun_before(a, loops):
            raise InitBefore(
                spot.block.home, at=[(spot.realize, None), (spot.loop.node, ""), (a.realizes[-1], "")],
                block=spot.realize, loop=spot.loop.node, other=a.realizes[-1], buffer=a.buffer,
            )  # fmt: skip


def _check_order(spot: Spot, binding: Binding, nest: Nest, solver: Solver, beside: list[Piece]) -> None:
    """The move turns no dependence round, and what is computed again comes out the same."""
    realize = spot.realize
    nature = nature_of(realize.block, binding)
    again = nature.repeatable
    at: list[tuple[Any, str | None]] = [(realize, None), (spot.loop.node, "")]
    if not again:
        if not updates_apart(realize.block, binding) or not binding.once:
            raise NotRecomputable(spot.block.home, at=at, block=realize, what=nature.why)
        if binding.rebound or not tiling(nest.ranges, spot.path_loops(), solver).once:
            raise NotRecomputable(
                spot.block.home,
                at=at,
                block=realize,
                what=f"{nature.why}, and some instances would run again",
            )
    mover: Mover | None = None
    loops = parallel_loops(spot)
    shared = False
    if not nature_is_plain(realize.block, again):
        # Threads that each compute all of a shared sum would see one another's parts of it.
        relaxed = relaxation(solver.prover.around)
        for a in accesses(realize.block):
            for axis in relaxed(a.buffer) if a.is_write else ():
                if getattr(axis.extent, "value", 2) != 1:
                    raise LoopCarried(
                        spot.block.home, at=[*at, (axis.loop, "")], block=realize, loop=spot.loop.node,
                        outer=axis.loop, kind="bound",
                    )  # fmt: skip
    for p in beside:
        reads, writes = touched(p.stmt)
        crossed = not spot.reads.isdisjoint(writes)
        rewritten = not spot.writes.isdisjoint(writes)
        if p.side == "out":
            # What comes before stays before, what comes behind stays behind, unless an instance of another
            # iteration of the loops around both nests is computed again.
            shared = shared or rewritten
            if binding.rebound and (crossed or rewritten):
                raise CarriedValue(
                    spot.block.home, at=[*at, (p.stmt, "")], block=realize, loop=spot.loop.node,
                    other=describe(p.stmt),
                )  # fmt: skip
            continue
        met = not spot.writes.isdisjoint(reads)
        if not (crossed or rewritten or (met and not again)):
            continue
        shared = shared or rewritten
        if binding.rebound and (crossed or rewritten):
            raise CarriedValue(
                spot.block.home,
                at=[*at, (p.stmt, "")],
                block=realize,
                loop=spot.loop.node,
                other=describe(p.stmt),
            )
        if mover is None:
            mover = Mover(spot, nest.body)
        theirs = mover.theirs(p)
        mine = mover.old() if p.side == "mate" else mover.mine
        if again and not rewritten:
            mine = [a for a in mine if not a.is_write or a.buffer.data not in spot.writes]
            theirs = [a for a in theirs if a.is_write]
        elif again:
            theirs = [a for a in theirs if a.is_write]
        answer = mover.reversed(p, mine, theirs, True)
        if answer is not None:
            raise refuse(spot, p, answer, later=True)
        if loops and p.side == "nest":
            check_apart(mover, loops, mine, p, theirs)
    if loops and shared and not nature_is_plain(realize.block, again):
        f = loops[0]
        kind = "bound" if f.kind == "thread_binding" else f.kind
        raise LoopCarried(
            spot.block.home, at=[*at, (f, "")], block=realize, loop=spot.loop.node, outer=f, kind=kind
        )


def nature_is_plain(block: Block, again: bool) -> bool:
    """Whether instances that run at the same time do no harm: each stores one value, for good."""
    return again and block.init is None


def rewrite(state: ScheduleState, plan: Any) -> None:
    """Take the block out, then put its new nest under the loop."""
    if type(plan) is not Plan:
        if plan is not None:
            compute_inline.rewrite(state, plan)
        return
    move(state, plan.spot, plan.position, plan.nest)


def move(state: ScheduleState, spot: Spot, position: int, nest: Nest) -> None:
    """Put the new nest among the children of the loop, in place of the old one."""
    home = spot.block.home
    loop_var = spot.loop.node.loop_var
    top, rest = without(spot.block)
    assert rest is not None
    state.replace(top, rest)
    place = home.index[loop_var]
    f: For = place.node
    parts = spot.children
    new = nest.body
    items = (*parts[:position], new, *parts[position:])
    flat: list[Stmt] = []
    for s in items:
        flat += s.seq if type(s) is SeqStmt else (s,)
    span = f.body.span if type(f.body) is SeqStmt else None
    body = flat[0] if len(flat) == 1 else SeqStmt(tuple(flat), span)
    state.replace(
        place, For(f.loop_var, f.min, f.extent, f.kind, body, f.thread, f.annotations, f.step, f.span)
    )


KIND = InstructionKind(
    "ComputeAt", "compute_at", ("block", "loop", "preserve_unit_loops", "index"), check, rewrite, attrs=2
)
