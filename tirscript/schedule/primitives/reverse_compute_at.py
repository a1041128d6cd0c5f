"""Compute a block under a loop of its producers: in each iteration what reads the part written there.

Requirements:
  * ``block`` and ``loop`` are references to a block and a loop that are there (``wrong-handle``,
    ``expired-reference``), the block not the root of the function (``root-block``)
  * both stand in the same block (``other-scope``), and the block behind the nest of the loop (``wrong-side``,
    ``loop-around``); only loops, sequences and conditions stand around them (``statement-between``), no
    condition around the loop (``conditional-loop``)
  * ``index`` is -1 (as late as possible), -2 (as early as possible), or a number of a child of the loop
    behind its producers (``bad-index``); there is a producer (``no-producer``)
  * the loops around the block visit its whole domain, and no more (``axis-not-covered``, ``axis-overrun``,
    ``cover-unknown``); it uses none of them but by its axes (``loop-without-axis``), and its conditions can
    be told from its axes (``guarded-block``)
  * in the new place every instance runs too (``instances-missed``), where it runs several times it may
    (``not-recomputable``), and the last time all that it reads is there
  * no dependence is turned round (``reversed-dependence``, ``dependence-unknown``), and parallel loops around
    it stay independent (``loop-carried-dependence``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import loop_lines, mm_relu
>>> sch = Schedule(mm_relu(16), debug_mask="all")
>>> sch.reverse_compute_at("C", sch.get_loops("Y")[0])
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in range(16):
for ax0 in range(16):

Source: TVM's ``reverse_compute_at``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses, accesses_of
from tirscript.arith.linear import ConstantRange
from tirscript.ir.stmt import IfThenElse

from ..errors import Refusal
from ..legality.binding import Binding, binding_of
from ..legality.footprint import touched
from ..legality.motion import (
    Mover,
    NotRecomputable,
    check_apart,
    nature_of,
    parallel_loops,
    refuse,
    safe_to_run_early,
    updates_apart,
)
from ..legality.regions import Prover, Solver, cells_needed
from ..legality.tiling import Tiling, tiling
from ..record.trace import InstructionKind
from ..rewrite.nesting import Nest, around, build
from ..rewrite.placement import Spot, find, pieces, position_of
from ..state import ScheduleState
from .compute_at import Plan, move


class NoProducer(Refusal):
    code = "no-producer"
    template = (
        "block {block} cannot be computed at loop `{loop}`: nothing under the loop writes what it reads"
    )


class ConditionalLoop(Refusal):
    code = "conditional-loop"
    template = (
        "block {block} cannot be computed at loop `{loop}`: the condition {condition} stands around the loop"
    )


class InstancesMissed(Refusal):
    code = "instances-missed"
    template = (
        "block {block} cannot be computed at loop `{loop}`: {what}, so some of its instances would not run "
        "there"
    )


def check(
    state: ScheduleState, block: Any, loop: Any, preserve_unit_loops: bool = False, index: Any = -1
) -> Plan:
    """The new nest and its place, if the block can be computed there."""
    spot = find(state, block, loop, "reverse_compute_at", later=False)
    realize = spot.realize
    home = spot.block.home
    at: list[tuple[Any, str | None]] = [(realize, None), (spot.loop.node, "")]
    position = _position(spot, index)
    for q in spot.path:
        if type(q.node) is IfThenElse:
            raise ConditionalLoop(home, at=at, block=realize, loop=spot.loop.node, condition=q.node.condition)
    if not spot.writes.isdisjoint(spot.header_reads):
        raise NotRecomputable(
            home, at=at, block=realize, what="it writes what a condition or a bound of a loop around it reads"
        )
    keep_unit = bool(preserve_unit_loops)
    prover = Prover(around(spot.loop), spot.block.home.func)
    binding = binding_of(spot.block, spot.old_loops, prover, checked=state.enable_check, word="left")
    solver = Solver(realize.block.iter_vars, prover)
    solver.domains.update(binding.domains)
    mine = [a for a in accesses(realize.block) if not a.is_write]
    made = [
        a
        for c in spot.children[:position]
        for a in accesses_of(c)
        if a.is_write and a.buffer.data in spot.reads
    ]
    try:
        spans: dict[Any, Any] = {}
        buffers = {a.buffer for a in mine}
        if all(a.buffer in buffers for a in made):
            spans = solver.spans(mine, cells_needed(made, 0, lambda buffer: ()))
        nest = build(realize, binding, spans, solver, spot.loop, keep_unit)
    except ConstantRange:
        nest = build(realize, binding, {}, solver, spot.loop, keep_unit)
    if state.enable_check:
        _check_order(spot, binding, nest, position, _check_cover(spot, nest, solver))
    return Plan(spot, position, nest)


def _position(spot: Spot, index: Any) -> int:
    """Behind whatever the block meets."""
    first, last = 0, len(spot.children)
    producer = False
    for n, c in enumerate(spot.children):
        if spot.meets(c):
            first = n + 1
            producer = producer or not spot.reads.isdisjoint(touched(c)[1])
    if not producer:
        raise NoProducer(
            spot.block.home, at=[(spot.realize, None), (spot.loop.node, "")], block=spot.realize,
            loop=spot.loop.node,
        )  # fmt: skip
    return position_of(spot, index, "reverse_compute_at", first, last)


def _check_cover(spot: Spot, nest: Nest, solver: Solver) -> Tiling:
    found = tiling(nest.ranges, spot.path_loops(), solver)
    if found.covers:
        return found
    if found.axis is None:
        what = "the loops around that are not known to reach its whole domain"
    else:
        what = f"the loops around that do not reach the whole domain of axis `{found.axis.iv.var.name}`"
    raise InstancesMissed(
        spot.block.home, at=[(spot.realize, None), (spot.loop.node, "")], block=spot.realize,
        loop=spot.loop.node, what=what,
    )  # fmt: skip


def _check_order(spot: Spot, binding: Binding, nest: Nest, position: int, tiles: Tiling) -> None:
    """Whatever the block meets has come before it, the last time that an instance runs."""
    realize = spot.realize
    at: list[tuple[Any, str | None]] = [(realize, None), (spot.loop.node, "")]
    nature = nature_of(realize.block, binding)
    if binding.rebound or binding.domains:
        raise NotRecomputable(
            spot.block.home, at=at, block=realize, what="the loops that it would leave run only a part of it"
        )
    again = nature.repeatable
    if not again:
        if not updates_apart(realize.block, binding) or not binding.once:
            raise NotRecomputable(spot.block.home, at=at, block=realize, what=nature.why)
        if not tiles.once:
            raise NotRecomputable(
                spot.block.home,
                at=at,
                block=realize,
                what=f"{nature.why}, and some instances would run again",
            )
    loops = parallel_loops(spot)
    early = again and not loops and safe_to_run_early(realize.block, spot.reads)
    mover: Mover | None = None
    for p in pieces(spot, position, everything=False):
        if not spot.meets(p.stmt):
            continue
        alone = early and p.under and p.before is True
        if alone and spot.writes.isdisjoint(frozenset().union(*touched(p.stmt))):
            # Whenever a cell is written the instances that read it run behind it, at last on the last value.
            continue
        if mover is None:
            mover = Mover(spot, nest.body)
        theirs = mover.theirs(p)
        mine = mover.old() if p.side == "mate" else mover.mine
        if alone:
            theirs = [a for a in theirs if a.buffer.data in spot.writes]
            mine = [a for a in mine if a.buffer.data in spot.writes]
        answer = mover.reversed(p, mine, theirs, False)
        if answer is not None:
            raise refuse(spot, p, answer, later=False)
        if loops and p.side == "nest":
            check_apart(mover, loops, mine, p, theirs)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Take the block out, then put its new nest under the loop."""
    move(state, plan.spot, plan.position, plan.nest)


KIND = InstructionKind(
    "ReverseComputeAt", "reverse_compute_at", ("block", "loop", "preserve_unit_loops", "index"), check,
    rewrite, attrs=2,
)  # fmt: skip
