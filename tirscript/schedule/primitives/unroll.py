"""Write the iterations of a loop one after another.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * it is not bound to a thread (``bound-loop``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.unroll(k)
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in T.unroll(16):
for i in range(16):
for j in range(16):

Source: TVM's ``unroll``.
"""

from __future__ import annotations

from typing import Any

from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import loop_place
from ..state import ScheduleState
from .parallel import BoundLoop, set_kind

Plan = StmtSRef


def check(state: ScheduleState, loop: Any) -> Plan:
    """The place of the loop."""
    place = loop_place(state, loop, "loop", "unroll")
    if place.node.thread:
        raise BoundLoop(
            place.home, at=[(place.node, None)], loop=place.node, word="unrolled", thread=place.node.thread
        )
    return place


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Give the loop its kind."""
    set_kind(state, plan, "unrolled")


KIND = InstructionKind("Unroll", "unroll", ("loop",), check, rewrite)
