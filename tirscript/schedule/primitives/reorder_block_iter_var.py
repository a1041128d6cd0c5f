"""List the axes of a block in another order.

The loops and what the block computes stay as they are.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``new_order`` names each axis once, by its number (``bad-axis-order``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.reorder_block_iter_var("Y", [2, 0, 1])
>>> [a.var.name for a in sch.get(sch.get_block("Y")).iter_vars]
['vk', 'vi', 'vj']

Source: TVM's ``reorder_block_iter_var``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.stmt import BlockRealize

from ..errors import BadArgument, BadValue, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place, integer
from ..state import ScheduleState


class BadOrderType(BadArgument):
    code = "bad-axis-order"
    template = "`new_order` of reorder_block_iter_var must be a list of integers, {given} was given"


class BadOrder(BadValue):
    code = "bad-axis-order"
    template = "{given} is no order of the {count} axes of block {block}: each of 0 to {last} must occur once"


class Plan:
    """The place of the block and the order."""

    __slots__ = ("order", "place")

    def __init__(self, place: StmtSRef, order: list[int]) -> None:
        self.place = place
        self.order = order


def check(state: ScheduleState, block: Any, new_order: Any) -> Plan:
    """The place and the order."""
    place = block_place(state, block, "block", "reorder_block_iter_var")
    if not isinstance(new_order, (list, tuple)):
        raise BadOrderType(place.home, at=[(place, None)], given=a_kind(new_order))
    order: list[int] = []
    for item in new_order:
        number = integer(item)
        if number is None:
            raise BadOrderType(place.home, at=[(place, None)], given=f"{a_kind(item)} in it")
        order.append(number)
    count = len(place.node.block.iter_vars)
    if sorted(order) != list(range(count)):
        raise BadOrder(
            place.home, at=[(place, None)], given=str(order), count=str(count), last=str(count - 1),
            block=place.node,
        )  # fmt: skip
    return Plan(place, order)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """List the axes, and the values that are bound to them, in the order."""
    s: BlockRealize = plan.place.node
    block = s.block.replace(iter_vars=tuple([s.block.iter_vars[n] for n in plan.order]))
    values = tuple([s.iter_values[n] for n in plan.order])
    state.replace(plan.place, BlockRealize(values, s.predicate, block, s.span))


KIND = InstructionKind(
    "ReorderBlockIterVar", "reorder_block_iter_var", ("block", "new_order"), check, rewrite, attrs=1
)
