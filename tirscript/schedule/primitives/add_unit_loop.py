"""Put a loop of one iteration around a block or loop.

Requirements:
  * ``block_or_loop`` is a reference to a block or loop that is there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.add_unit_loop(j)
LoopRV(u)
>>> loop_lines(sch)
for i in range(16):
for u in range(1):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``add_unit_loop``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import Var, const_int
from tirscript.ir.stmt import For

from ..names import new_names
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import any_place
from ..rewrite.buffers import refuse_root
from ..state import ScheduleState

Plan = StmtSRef


def check(state: ScheduleState, block_or_loop: Any) -> Plan:
    """The place of the block or loop."""
    place = any_place(state, block_or_loop, "block_or_loop", "add_unit_loop")
    refuse_root(place)
    return place


def rewrite(state: ScheduleState, plan: Plan) -> LoopRV:
    """Put the loop around it and return it."""
    s: Any = plan.node
    (name,) = new_names(plan, s, ["u"])
    var = Var(name, "int32")
    home = plan.home.name
    state.replace(plan, For(var, const_int(0), const_int(1), "serial", s, span=s.span))
    return LoopRV(var, home)


KIND = InstructionKind("AddUnitLoop", "add_unit_loop", ("block_or_loop",), check, rewrite)
