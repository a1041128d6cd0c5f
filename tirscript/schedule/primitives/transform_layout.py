"""Keep a buffer in another layout: each access and each region of it is mapped by an index map.

The buffer is one that the block reads or writes: ``("read", 0)``, ``("write", 0)``, a name or a Buffer.  The
layout of a parameter is part of the function's signature: callers hand the array over in the new one.

``index_map`` is a function of indices, or an IndexMap.  It must be injective over the buffer, unless
``assume_injective_transform`` says so.  Elements of the new shape that nothing maps to are padding, which
needs a ``pad_value``: a constant, a function of the new indices, an IndexMap, or ``T.undef``.  A block that
writes the whole buffer, one element an iteration, then runs over the new shape; otherwise a block
``buffer_B_padding`` writes the padding, and for a parameter that is only read a block
``buffer_A_assumptions`` states what the caller puts there.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buffer`` names a buffer of the block (``bad-buffer-index``, ``no-such-buffer``), which is a parameter or
    allocated by a block, and dense (``not-allocated``, ``strided-buffer``)
  * ``index_map`` is a function of as many indices as the buffer has (``bad-index-map``), injective
    (``not-injective``), with indices that are known not to be negative (``unknown-shape``)
  * ``pad_value`` is a value of the buffer's dtype, or a function that gives one (``bad-pad-value``), and is
    given where there is padding (``padding-needed``)
  * all uses of the buffer are loads and stores of single elements (``used-otherwise``)
  * the shapes of the parameters still tell the symbolic extents (``shape-undetermined``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.transform_layout("B", ("write", 0), lambda i: (i % 4, i // 4))
>>> print(sch.get(sch.get_block("B")).body)
B[vi % 4, vi // 4] = A[vi] * T.float32(2)

Source: TVM's ``transform_layout``.
"""

from __future__ import annotations

from typing import Any

from tirscript.arith.index_map import digits_shape, image, inverse, map_shape, substituted
from tirscript.arith.linear import ConstantRange
from tirscript.diagnostics import TirscriptError
from tirscript.ir.buffer import Buffer
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    FALSE,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    IntImm,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.index_map import IndexMap
from tirscript.ir.node import walk
from tirscript.ir.ops import const
from tirscript.ir.stmt import BlockRealize, Stmt
from tirscript.ir.visitor import buffer_exprs, free_vars

from ..errors import BadArgument, BadValue, Refusal, a_kind
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import allocation_of, buffer_of
from ..rewrite.index_maps import Mapped, default_dtype, index_map_of
from ..rewrite.layouts import Relayout, shape_ranges
from ..rewrite.padding import Padding, with_padding
from ..state import ScheduleState


class NotInjective(Refusal):
    code = "not-injective"
    template = (
        "the layout of {buffer} cannot be {index_map}: it is not seen to keep different elements of "
        "{shape} apart"
    )
    hint_template = "if you know that it does, pass assume_injective_transform=True"


class UnknownShape(BadValue):
    code = "unknown-shape"
    template = "the layout of {buffer} cannot be {index_map}: {what}"


class StridedBuffer(Refusal):
    code = "strided-buffer"
    template = "the layout of {buffer} cannot change: it has strides of its own"


class PaddingNeeded(Refusal):
    code = "padding-needed"
    template = "the layout {index_map} of {buffer} has padding where {padding}, and no pad_value is given"
    hint_template = "pass pad_value, or a map whose image is the whole shape"


class BadPadValue(BadArgument):
    code = "bad-pad-value"
    template = "`pad_value` of transform_layout: {what}"


class ShapeUndetermined(Refusal):
    code = "shape-undetermined"
    template = "the layout of {buffer} cannot change: no other parameter tells what `{var}` is"
    hint_template = "add a parameter for it"


class Plan:
    """Where the buffer is allocated (the root for a parameter), and the program to be."""

    __slots__ = ("func", "place", "realize")

    def __init__(self, place: StmtSRef, realize: Stmt, func: PrimFunc | None) -> None:
        self.place = place
        self.realize = realize
        self.func = func


def check(
    state: ScheduleState,
    block: Any,
    buffer: Any,
    index_map: Any,
    pad_value: Any = None,
    assume_injective_transform: Any = False,
) -> Plan:
    """The program in the new layout."""
    place = block_place(state, block, "block", "transform_layout")
    old = buffer_of(place, buffer, "buffer", "transform_layout")
    func = place.home.func
    param = next((p for p, b in func.buffer_map.items() if b is old), None)
    home = _root(place) if param is not None else allocation_of(place, old)
    at: list[tuple[Any, str | None]] = [(place, None)]
    if old.strides:
        raise StridedBuffer(place.home, at=at, buffer=old)
    dtype = "int64" if any(n.dtype == "int64" for n in old.shape) else default_dtype(place)
    m = index_map_of(place, index_map, len(old.shape), dtype, "index_map", "transform_layout")
    new, back, digits = _new_buffer(place, old, m, bool(assume_injective_transform))
    padding: Padding | None = None
    if back is not None and back[1] is not FALSE:
        if pad_value is None:
            raise PaddingNeeded(place.home, at=at, buffer=old, index_map=repr(m), padding=back[1])
        value = _pad_value(place, pad_value, old, back[0].initial_indices)
        padding = Padding(old, new, back[0], back[1], value)
    elif pad_value is not None:
        _pad_value(place, pad_value, old, [Var(f"axis{n}") for n in range(len(new.shape))])
    if param is not None:
        _check_shapes(place, old, new)
    change = Relayout(place, old, new, m, digits)
    body: Stmt = change.node(home.node)
    if padding is not None:
        body = with_padding(home, body, change, padding, param is not None)
    if param is None:
        return Plan(home, body, None)
    buffers = {p: new if b is old else b for p, b in func.buffer_map.items()}
    return Plan(home, body, PrimFunc(func.params, buffers, body, func.ret_type, func.attrs, func.span))


def _root(place: StmtSRef) -> StmtSRef:
    while place.parent is not None:
        place = place.parent
    return place


def _new_buffer(
    place: StmtSRef, old: Buffer, m: IndexMap, assumed: bool
) -> tuple[Buffer, tuple[IndexMap, Expr] | None, bool]:
    """The buffer to be, the inverse of the map with where there is padding, and whether the map is known
    to be bijective because it takes indices apart into digits."""
    ranges = shape_ranges(m, old)
    back: tuple[IndexMap, Expr] | None = None
    shape = digits_shape(m, ranges)
    if shape is not None:
        return old.replace(shape=tuple(shape), axis_separators=()), None, True
    try:
        if not assumed:
            back = inverse(m, ranges)
        shape = map_shape(m, ranges)
    except (TirscriptError, ConstantRange) as error:
        what = error.message if isinstance(error, TirscriptError) else "its shape is too large for the dtype"
        raise UnknownShape(place.home, at=[(place, None)], buffer=old, index_map=repr(m), what=what) from None
    if back is None and not assumed and not _tried(m, ranges):
        raise NotInjective(
            place.home, at=[(place, None)], buffer=old, index_map=repr(m), shape=list(old.shape)
        )
    extents = tuple(
        [n.replace(dtype=old.shape[0].dtype) if type(n) is IntImm and old.shape else n for n in shape]
    )
    return old.replace(shape=extents, axis_separators=()), back, False


def _tried(m: IndexMap, ranges: Any) -> bool:
    """Whether a map of a small constant shape is bijective, tried with every index."""
    found = image(m, ranges)
    return found is not None and found.bijective


def _pad_value(place: StmtSRef, given: Any, old: Buffer, axes: Any) -> Expr:
    """The value of the padding over the new indices, in the buffer's dtype."""

    def bad(what: str) -> BadPadValue:
        return BadPadValue(place.home, at=[(place, None)], what=what)

    value: Any
    if isinstance(given, (IntImm, FloatImm)):
        value = given
    elif isinstance(given, (Mapped, IndexMap, Expr, dict)) or callable(given):
        m = index_map_of(place, given, len(axes), axes[0].dtype if axes else "int32", "pad_value",
                         "transform_layout")  # fmt: skip
        if len(m.final_indices) != 1:
            raise bad(f"it gives {len(m.final_indices)} values, one is wanted")
        (value,) = substituted(m, dict(zip(m.initial_indices, axes, strict=True)))
    elif isinstance(given, (bool, int, float)) or hasattr(given, "item"):
        try:
            value = const(given.item() if hasattr(given, "item") else given, old.dtype)
        except TirscriptError as error:
            raise bad(error.message) from None
    else:
        raise bad(f"a value or a function is wanted, {a_kind(given)} was given")
    if any(type(n) is BufferLoad for n in walk(value)):
        raise bad("it reads a buffer")
    if type(value) is Call and value.op == "undef":
        return value.replace(dtype=old.dtype)
    if value.dtype == old.dtype:
        return value  # type: ignore[no-any-return]
    kind = info(value.dtype)
    if type(value) in (IntImm, FloatImm):
        try:
            return const(value.value, old.dtype)
        except TirscriptError as error:
            raise bad(error.message) from None
    if not kind.is_int or info(old.dtype).lanes != 1:
        raise bad(f"it is a {value.dtype}, {old.name} holds {old.dtype}")
    return Cast(old.dtype, value)


def _check_shapes(place: StmtSRef, old: Buffer, new: Buffer) -> None:
    """Each symbolic extent still stands alone in a shape, or is a parameter."""
    func = place.home.func
    lost = {e for e in buffer_exprs(old) if type(e) is Var}
    if not lost:
        return
    told: set[Any] = set(func.params)
    for b in func.buffer_map.values():
        told.update([e for e in buffer_exprs(new if b is old else b) if type(e) is Var])
    used = set(free_vars(func.body))
    for b in func.buffer_map.values():
        for e in buffer_exprs(new if b is old else b):
            used |= free_vars(e)
    for v in lost:
        if v in used and v not in told:
            raise ShapeUndetermined(place.home, at=[(place, None)], buffer=old, var=v.name)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put the program in place."""
    if plan.func is not None:
        state.replace_function(plan.place.home, plan.func)
    else:
        assert isinstance(plan.realize, BlockRealize)
        state.replace(plan.place, plan.realize)


KIND = InstructionKind(
    "TransformLayout",
    "transform_layout",
    ("block", "buffer", "index_map", "pad_value", "assume_injective_transform"),
    check,
    rewrite,
    attrs=4,
)
