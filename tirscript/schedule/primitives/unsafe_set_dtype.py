"""Keep a buffer in another dtype: values are cast where they are stored and where they are loaded.

It is unsafe because the other dtype may hold less: nothing checks what that changes.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buffer_index`` names a buffer that the block writes (``bad-buffer-index``, ``no-such-buffer``), which a
    block allocates (``not-allocated``)
  * ``dtype`` is a scalar dtype (``bad-dtype``)
  * all uses of the buffer are loads and stores (``used-otherwise``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.unsafe_set_dtype("B", 0, "float16")
>>> print(sch.get(sch.get_block("B")).body)
B[vi] = T.Cast("float16", A[vi] * T.float32(2))
>>> print(sch.get(sch.get_block("C")).body)
C[vi] = T.Cast("float32", B[vi]) + T.float32(1)

Source: TVM's ``unsafe_set_dtype``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import BufferLoad, Cast, Expr, FloatImm, IntImm, IterVar, Var
from tirscript.ir.index_map import IndexMap
from tirscript.ir.stmt import Block, BlockRealize, BufferStore
from tirscript.ir.visitor import free_vars

from ..errors import BadArgument, BadValue, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import allocation_of, other_views, region_of, with_changed
from ..rewrite.layouts import Relayout
from ..state import ScheduleState


class BadDtypeType(BadArgument):
    code = "bad-dtype"
    template = "`dtype` of unsafe_set_dtype must be a string, {given} was given"


class BadDtype(BadValue):
    code = "bad-dtype"
    template = "{given} is no dtype of a buffer's elements"


class Plan:
    """Where the buffer is allocated, and the block there as it is to be."""

    __slots__ = ("new", "place")

    def __init__(self, place: StmtSRef, new: BlockRealize) -> None:
        self.place = place
        self.new = new


class _Recast(Relayout):
    """Puts casts around loads and stored values."""

    def indices(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return indices

    def node(self, n: Any) -> Any:
        made = super().node(n)
        if made is n:
            return n
        if type(made) is BufferLoad and made.buffer is self.new:
            lanes = dt.info(made.dtype).lanes
            return Cast(dt.with_lanes(self.old.dtype, lanes), made)
        if type(made) is BufferStore and made.buffer is self.new:
            lanes = dt.info(made.value.dtype).lanes
            return made.replace(value=Cast(dt.with_lanes(self.new.dtype, lanes), made.value))
        return made


def _recast(block: Block, old: Buffer, new: Buffer) -> Block:
    """A block that uses buffers by name alone, with casts around loads and stored values."""

    def regions(given: tuple[BufferRegion, ...]) -> tuple[BufferRegion, ...]:
        out = []
        for r in given:
            for x in r.region:
                if type(x.min) is not Var and type(x.min) is not IntImm:
                    r = r.map_children(f)
                    break
            out.append(BufferRegion(new, r.region, r.span) if r.buffer is old else r)
        return tuple(out)

    def f(n: Any) -> Any:
        t = type(n)
        if t is Var or t is IntImm or t is FloatImm or t is IterVar:
            return n
        if t is BufferLoad:
            made = n.map_children(f)
            if n.buffer is not old:
                return made
            made = BufferLoad(new, made.indices, made.predicate, n.span)
            return Cast(dt.with_lanes(old.dtype, dt.info(made.dtype).lanes), made)
        if t is BufferStore:
            made = n.map_children(f)
            if n.buffer is not old:
                return made
            value = made.value
            value = Cast(dt.with_lanes(new.dtype, dt.info(value.dtype).lanes), value)
            return BufferStore(new, value, made.indices, made.predicate, n.span)
        if t is Block:
            return one(n) if old.data in free_vars(n) else n
        return n.map_children(f)

    def one(b: Block) -> Block:
        init = None if b.init is None else f(b.init)
        return Block(
            b.label, b.iter_vars, regions(b.reads), regions(b.writes), f(b.body), init, b.alloc_buffers,
            b.match_buffers, b.annotations, b.span,
        )  # fmt: skip

    return one(block)


def check(state: ScheduleState, block: Any, buffer_index: Any, dtype: Any) -> Plan:
    """The program with the casts."""
    place = block_place(state, block, "block", "unsafe_set_dtype")
    number = region_of(place, buffer_index, "buffer_index", "unsafe_set_dtype", reads=False)
    old: Buffer = place.node.block.writes[number].buffer
    if not isinstance(dtype, str):
        raise BadDtypeType(place.home, at=[(place, None)], given=a_kind(dtype))
    try:
        wanted = dt.normalize(dtype)
        kind = dt.info(wanted)
    except (ValueError, TypeError):
        raise BadDtype(place.home, at=[(place, None)], given=repr(dtype)) from None
    if kind.lanes != 1 or not (kind.is_int or kind.is_float or kind.code == "bool"):
        raise BadDtype(place.home, at=[(place, None)], given=repr(dtype))
    home = allocation_of(place, old)
    s: BlockRealize = home.node
    if wanted == old.dtype:
        return Plan(home, s)
    data = old.data.replace(pointee=(wanted, old.scope))
    new = old.replace(dtype=wanted, data=data)
    made = None
    if not other_views(s.block, old):
        made = with_changed(s.block, old, lambda b: _recast(b, old, new))
    if made is None:
        made = _Recast(place, old, new, IndexMap((), ())).block(s.block)
    else:
        made = made.replace(alloc_buffers=tuple([new if b is old else b for b in made.alloc_buffers]))
    return Plan(home, BlockRealize(s.iter_values, s.predicate, made, s.span))


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put the program in place."""
    state.replace(plan.place, plan.new, ())


KIND = InstructionKind(
    "UnsafeSetDType", "unsafe_set_dtype", ("block", "buffer_index", "dtype"), check, rewrite, attrs=2
)
