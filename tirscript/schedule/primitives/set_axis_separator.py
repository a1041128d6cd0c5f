"""Say into which groups the dimensions of a buffer are flattened.

``axis_separators`` are the numbers of the dimensions at which a new group starts: ``[2]`` makes two groups of
a buffer with three dimensions, the first two and the last.  A target with one-dimensional memory, as a CPU,
flattens all of them into one.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buffer`` names a buffer of the block (``bad-buffer-index``, ``no-such-buffer``), which is a parameter or
    allocated by a block (``not-allocated``)
  * ``axis_separators`` are integers (``bad-separators``), increasing, from 0 to the number of dimensions

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.set_axis_separator("Y", ("write", 0), [1])
>>> sch.get(sch.get_block("root")).alloc_buffers[0].axis_separators
(1,)

Source: TVM's ``set_axis_separator``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tirscript.ir.buffer import Buffer

from ..errors import BadArgument, BadValue, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place, integer
from ..rewrite.buffers import allocation_of, buffer_of, exchange
from ..state import ScheduleState


class BadSeparatorsType(BadArgument):
    code = "bad-separators"
    template = "`axis_separators` of set_axis_separator must be a list of integers, {given} was given"


class BadSeparators(BadValue):
    code = "bad-separators"
    template = "{given} are no separators of {buffer}: they must increase, from 0 to its {count} dimensions"


class Plan:
    """Where the buffer is allocated, None for a parameter; the buffer, and its separators to be."""

    __slots__ = ("buffer", "home", "place", "separators")

    def __init__(
        self, place: StmtSRef, home: StmtSRef | None, buffer: Buffer, separators: tuple[int, ...]
    ) -> None:
        self.place = place
        self.home = home
        self.buffer = buffer
        self.separators = separators


def check(state: ScheduleState, block: Any, buffer: Any, axis_separators: Any) -> Plan:
    """The buffer and the separators."""
    place = block_place(state, block, "block", "set_axis_separator")
    old = buffer_of(place, buffer, "buffer", "set_axis_separator")
    if not isinstance(axis_separators, (list, tuple)):
        raise BadSeparatorsType(place.home, at=[(place, None)], given=a_kind(axis_separators))
    numbers = []
    for item in axis_separators:
        number = integer(item)
        if number is None:
            raise BadSeparatorsType(place.home, at=[(place, None)], given=f"{a_kind(item)} in it")
        numbers.append(number)
    count = len(old.shape)
    if any(not 0 <= n <= count for n in numbers) or any(a >= b for a, b in pairwise(numbers)):
        raise BadSeparators(place.home, at=[(place, None)], given=str(numbers), buffer=old, count=str(count))
    param = any(b is old for b in place.home.func.buffer_map.values())
    return Plan(place, None if param else allocation_of(place, old), old, tuple(numbers))


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put a buffer with the separators in its place."""
    old = plan.buffer
    if old.axis_separators != plan.separators:
        exchange(state, plan.place, plan.home, old, old.replace(axis_separators=plan.separators))


KIND = InstructionKind(
    "SetAxisSeparator", "set_axis_separator", ("block", "buffer", "axis_separators"), check, rewrite, attrs=2
)
