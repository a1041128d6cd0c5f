"""Run the iterations of a loop in parallel.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * it is not bound to a thread (``bound-loop``)
  * the loops around a block that it drives run over the whole domain of the axes and no further
    (``axis-not-covered``, ``axis-overrun``)
  * its body holds no break and no return (``leaves-loop``)
  * no two iterations touch one cell with a write (``parallel-reduction-axis``,
    ``loop-carried-dependence``; ``dependence-unknown`` where that cannot be told)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.parallel(i)
>>> loop_lines(sch)
for i in T.parallel(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``parallel``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.stmt import For

from ..errors import Refusal
from ..legality.control import check_stays
from ..legality.cover import check_cover
from ..legality.order import OnReductionAxis, check_iterations_independent
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import loop_place
from ..state import ScheduleState

Plan = StmtSRef


class BoundLoop(Refusal):
    code = "bound-loop"
    template = "loop `{loop}` cannot be {word}: it is bound to {thread}"


class ParallelReductionAxis(OnReductionAxis):
    code = "parallel-reduction-axis"


def check(state: ScheduleState, loop: Any) -> Plan:
    """The place of the loop, if its iterations may run in parallel."""
    place = loop_place(state, loop, "loop", "parallel")
    check_kind(state, place, "parallel", ParallelReductionAxis)
    return place


def check_kind(state: ScheduleState, place: StmtSRef, word: str, rule: type[Refusal]) -> None:
    """What loops that lose their order must fulfil."""
    node: For = place.node
    if node.thread:
        raise BoundLoop(place.home, at=[(node, None)], loop=node, word=word, thread=node.thread)
    if state.enable_check:
        check_stays(place, word, "break", "return")
        check_iterations_independent(place, word, rule)
        check_cover(place, word)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Give the loop its kind."""
    set_kind(state, plan, "parallel")


def set_kind(state: ScheduleState, place: StmtSRef, kind: str) -> None:
    s: For = place.node
    state.replace(
        place, For(s.loop_var, s.min, s.extent, kind, s.body, s.thread, s.annotations, s.step, s.span)
    )


KIND = InstructionKind("Parallel", "parallel", ("loop",), check, rewrite)
