"""Take regions off the list of what a block reads or writes.

From then on the lists count, not what the body shows: the hidden accesses do not stand in the way of other
steps.  It is unsafe because nothing checks that they may be overlooked.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buf_type`` is ``"read"`` or ``"write"`` (``bad-access-kind``)
  * ``buf_index_array`` is a list of numbers of such regions (``bad-buffer-index``, ``no-such-buffer``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.unsafe_hide_buffer_access("Y", "read", [0])
>>> [r.buffer.name for r in sch.get(sch.get_block("Y")).reads]
['B']

Source: TVM's ``unsafe_hide_buffer_access``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.stmt import BlockRealize

from ..errors import BadArgument, BadValue, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import region_of
from ..state import ScheduleState

NOTE = "tirscript.hidden_access"


class BadAccessKind(BadValue):
    code = "bad-access-kind"
    template = '`buf_type` of {primitive} must be "read" or "write", {given} was given'


class BadIndices(BadArgument):
    code = "bad-buffer-index"
    template = "`buf_index_array` of unsafe_hide_buffer_access must be a list of integers, {given} was given"


class Plan:
    """The block, the kind of access, and the numbers of the regions."""

    __slots__ = ("kind", "numbers", "place")

    def __init__(self, place: StmtSRef, kind: str, numbers: list[int]) -> None:
        self.place = place
        self.kind = kind
        self.numbers = numbers


def access_kind(place: StmtSRef, given: Any, primitive: str) -> str:
    """``"read"`` or ``"write"``."""
    if not isinstance(given, str) or given not in ("read", "write"):
        raise BadAccessKind(place.home, at=[(place, None)], primitive=primitive, given=repr(given))
    return given


def check(state: ScheduleState, block: Any, buf_type: Any, buf_index_array: Any) -> Plan:
    """The regions to hide."""
    place = block_place(state, block, "block", "unsafe_hide_buffer_access")
    kind = access_kind(place, buf_type, "unsafe_hide_buffer_access")
    if not isinstance(buf_index_array, (list, tuple)):
        raise BadIndices(place.home, at=[(place, None)], given=a_kind(buf_index_array))
    numbers = [
        region_of(place, n, "buf_index_array", "unsafe_hide_buffer_access", reads=kind == "read")
        for n in buf_index_array
    ]
    return Plan(place, kind, numbers)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Take the regions off the list."""
    if not plan.numbers:
        return
    s: BlockRealize = plan.place.node
    b = s.block
    hidden = set(plan.numbers)
    regions = b.reads if plan.kind == "read" else b.writes
    kept = tuple([r for n, r in enumerate(regions) if n not in hidden])
    names = [f"{plan.kind} {r.buffer.name}" for n, r in enumerate(regions) if n in hidden]
    notes = {**b.annotations, NOTE: [*b.annotations.get(NOTE, ()), *names]}
    key = f"explicit_{plan.kind}_region"
    if key in notes:
        moved = [n - sum(1 for h in hidden if h < n) for n in notes[key] if n not in hidden]
        notes[key] = moved
        if not moved:
            del notes[key]
    block = b.replace(annotations=notes, **{f"{plan.kind}s": kept})
    state.replace(plan.place, BlockRealize(s.iter_values, s.predicate, block, s.span))


KIND = InstructionKind(
    "UnsafeHideBufferAccess",
    "unsafe_hide_buffer_access",
    ("block", "buf_type", "buf_index_array"),
    check,
    rewrite,
    attrs=2,
)
