"""Ask for a stride: along ``axis``, neighbours lie ``factor * n + offset`` elements apart for some n.

It is a wish to code generators, noted on the block as ``buffer_dim_align``; a later wish for the same axis
replaces the earlier one.  What the program computes is the same.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``), which a
    block allocates (``not-allocated``)
  * ``axis`` is one of its dimensions, counted from the end if negative; ``factor`` is positive; all three
    are integers (``bad-alignment``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.storage_align("Y", 0, axis=0, factor=32, offset=8)
>>> dict(sch.get(sch.get_block("Y")).annotations)
{'buffer_dim_align': [[0, 0, 32, 8]]}

Source: TVM's ``storage_align``.
"""

from __future__ import annotations

from typing import Any

from ..errors import BadArgument, BadValue, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place, integer
from ..rewrite.buffers import allocation_of, region_of
from ..state import ScheduleState
from .annotate import set_annotations

KEY = "buffer_dim_align"


class BadAlignmentType(BadArgument):
    code = "bad-alignment"
    template = "`{argument}` of storage_align must be an integer, {given} was given"


class BadAlignment(BadValue):
    code = "bad-alignment"
    template = "{problem}"


class Plan:
    """The place of the block, and what is noted on it."""

    __slots__ = ("note", "place")

    def __init__(self, place: StmtSRef, note: list[int]) -> None:
        self.place = place
        self.note = note


def check(state: ScheduleState, block: Any, buffer_index: Any, axis: Any, factor: Any, offset: Any) -> Plan:
    """The place and the note."""
    place = block_place(state, block, "block", "storage_align")
    number = region_of(place, buffer_index, "buffer_index", "storage_align", reads=False)
    values = []
    for argument, value in (("axis", axis), ("factor", factor), ("offset", offset)):
        found = integer(value)
        if found is None:
            raise BadAlignmentType(place.home, at=[(place, None)], argument=argument, given=a_kind(value))
        values.append(found)
    dim, every, plus = values
    buffer = place.node.block.writes[number].buffer
    allocation_of(place, buffer)
    problem = None
    if not -buffer.ndim <= dim < buffer.ndim:
        problem = f"{buffer.name} has {buffer.ndim} dimensions, axis {dim} is none of them"
    elif every <= 0:
        problem = f"the factor of an alignment must be positive, it is {every}"
    if problem is not None:
        raise BadAlignment(place.home, at=[(place, None)], problem=problem)
    return Plan(place, [number, dim % buffer.ndim, every, plus])


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Add the note, or put it in the place of the earlier one."""
    have = plan.place.node.block.annotations
    notes = [list(n) for n in have.get(KEY, ())]
    for n, old in enumerate(notes):
        if old[:2] == plan.note[:2]:
            notes[n] = plan.note
            break
    else:
        notes.append(plan.note)
    set_annotations(state, plan.place, {**have, KEY: notes})


KIND = InstructionKind(
    "StorageAlign", "storage_align", ("block", "buffer_index", "axis", "factor", "offset"), check, rewrite,
    attrs=4,
)  # fmt: skip
