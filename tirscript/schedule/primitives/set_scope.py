"""Say in which memory a buffer is kept that a block writes.

The buffer is renamed after the scope: ``B`` becomes ``B_shared``.  The buffer is one of those that the block
writes, by number, name or as a Buffer.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * a block allocates the buffer (``not-allocated``), and nothing else is a view of it (``buffer-has-views``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.set_scope("Y", 0, "shared")
>>> [(b.name, b.scope) for b in sch.get(sch.get_block("root")).alloc_buffers]
[('Y_shared', 'shared')]

Source: TVM's ``set_scope``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Var
from tirscript.ir.stmt import BlockRealize

from ..errors import Refusal
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import allocation_of, check_scope, in_scope, other_views, region_of, with_buffer
from ..state import ScheduleState


class BufferHasViews(Refusal):
    code = "buffer-has-views"
    template = "{buffer} cannot move to another scope: {view} is a view of it"


class Plan:
    """Where the buffer is allocated, the buffer, and its scope to be."""

    __slots__ = ("buffer", "place", "scope")

    def __init__(self, place: StmtSRef, buffer: Buffer, scope: str) -> None:
        self.place = place
        self.buffer = buffer
        self.scope = scope


def check(state: ScheduleState, block: Any, buffer_index: Any, storage_scope: Any) -> Plan:
    """The buffer, if it can be kept elsewhere."""
    place = block_place(state, block, "block", "set_scope")
    number = region_of(place, buffer_index, "buffer_index", "set_scope", reads=False)
    scope = check_scope(place, storage_scope, "set_scope")
    buffer = place.node.block.writes[number].buffer
    home = allocation_of(place, buffer)
    views = other_views(home.node.block, buffer)
    if views:
        raise BufferHasViews(place.home, at=[(place, None)], buffer=buffer, view=views[0])
    return Plan(home, buffer, scope)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put a buffer of that scope in its place."""
    old, scope, place = plan.buffer, plan.scope, plan.place
    if old.scope == scope:
        return
    s: BlockRealize = place.node
    taken = names_around(place)
    names_inside(s, taken)
    name = free_name(in_scope(old.name, scope), taken)
    data = Var(f"{name}_data", "handle", False, (old.dtype, scope))
    new = old.replace(name=name, data=data, scope=scope)
    block = with_buffer(s.block, old, new)
    state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span), ())


KIND = InstructionKind(
    "SetScope", "set_scope", ("block", "buffer_index", "storage_scope"), check, rewrite, attrs=2
)
