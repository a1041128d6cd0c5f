"""Draw where a block is to be computed: a loop that ``compute_at`` takes.

Candidates are the loops around all consumers of the block at which ``compute_at`` is legal, where it stands
now, and its inlining where that is legal, each with the same chance.  The decision is the number of the loop
among those around the first consumer, -1 for the place where it stands, -2 for inlining; for the last two the
result is a mark that ``compute_at`` understands: it does nothing, or inlines.  A decision that is no
candidate, as one of another program, becomes the next loop outwards that is one.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * a decision is an integer of at least -2 (``bad-decision``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.compute_at("B", sch.sample_compute_location("B", decision=0))
>>> sch.trace.as_python()[0]
'l0 = sch.sample_compute_location(block="B", decision=0)'

Source: TVM's ``sample_compute_location``.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

from ..errors import Refusal
from ..record.trace import InstructionKind
from ..refs import INLINE, ROOT, BlockRV, LoopRV
from ..resolve import block_place, integer
from ..state import ScheduleState
from . import compute_at, compute_inline, look
from .sample import BadDecision


class Locations:
    """The loops around the first consumer, and the numbers of those that are candidates."""

    def __init__(self, loops: list[LoopRV], candidates: list[int], function: str) -> None:
        self.loops = loops
        self.candidates = candidates
        self.function = function

    def draw(self, rng: random.Random) -> int:
        return self.candidates[int(rng.random() * len(self.candidates))]

    def fit(self, decision: Any) -> int:
        number = integer(decision)
        if number is None or number < -2:
            raise BadDecision(
                primitive="sample_compute_location", wanted="an integer of at least -2", given=repr(decision)
            )
        if number in self.candidates:
            return number
        return max([c for c in self.candidates if -1 <= c < number], default=-1)

    def results(self, decision: Any) -> LoopRV:
        if decision == -1:
            return LoopRV(ROOT, self.function)
        return LoopRV(INLINE, self.function) if decision == -2 else self.loops[decision]


def check(state: ScheduleState, block: Any) -> Locations:
    """Where the block may be computed."""
    place = block_place(state, block, "block", "sample_compute_location")
    consumers: list[BlockRV] = []
    candidates = [-1]
    with contextlib.suppress(Refusal):  # the root block has no siblings
        consumers = look.get_consumers(state, block)
    loops = look.get_loops(state, consumers[0]) if consumers else []
    common = {x.token for x in loops}
    for c in consumers[1:]:
        common &= {x.token for x in look.get_loops(state, c)}
    for n, loop in enumerate(loops):
        if loop.token in common and _passes(compute_at.check, state, block, loop, True):
            candidates.append(n)
    if consumers and _passes(compute_inline.check, state, block):
        candidates.append(-2)
    return Locations(loops, candidates, place.home.name)


def _passes(check: Any, *args: Any) -> bool:
    try:
        check(*args)
    except Refusal:
        return False
    return True


def _nothing(state: ScheduleState, plan: Any) -> None:
    return None


KIND = InstructionKind(
    "SampleComputeLocation", "sample_compute_location", ("block",), check, _nothing, step=False, decides=True
)
