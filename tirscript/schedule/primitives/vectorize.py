"""Run the iterations of a loop as lanes of vectors.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * it is not bound to a thread (``bound-loop``)
  * the loops around a block that it drives run over the whole domain of the axes and no further
    (``axis-not-covered``, ``axis-overrun``)
  * its body holds no break and no return (``leaves-loop``)
  * no two iterations touch one cell with a write (``vectorize-reduction-axis``,
    ``loop-carried-dependence``; ``dependence-unknown`` where that cannot be told)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.vectorize(j)
>>> loop_lines(sch)
for i in range(16):
for j in T.vectorized(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``vectorize``.
"""

from __future__ import annotations

from typing import Any

from ..legality.order import OnReductionAxis
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import loop_place
from ..state import ScheduleState
from .parallel import check_kind, set_kind

Plan = StmtSRef


class VectorizeReductionAxis(OnReductionAxis):
    code = "vectorize-reduction-axis"


def check(state: ScheduleState, loop: Any) -> Plan:
    """The place of the loop, if its iterations may run at once."""
    place = loop_place(state, loop, "loop", "vectorize")
    check_kind(state, place, "vectorized", VectorizeReductionAxis)
    return place


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Give the loop its kind."""
    set_kind(state, plan, "vectorized")


KIND = InstructionKind("Vectorize", "vectorize", ("loop",), check, rewrite)
