"""Methods of buffers for Python code that builds programs: loads, stores, pointers, offsets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import dtype as dt
from . import ops
from .buffer import Buffer, make_buffer
from .expr import BufferLoad, Call, Expr, IntImm, Ramp, const_int

if TYPE_CHECKING:
    from .stmt import BufferStore

_READ, _WRITE = 1, 2


def access_mask(mask: Any) -> int | None:
    """``"r"``, ``"w"``, ``"rw"`` or 1, 2, 3 as a number; None for anything else."""
    if isinstance(mask, str) and mask and set(mask) <= {"r", "w"}:
        return (_READ if "r" in mask else 0) + (_WRITE if "w" in mask else 0)
    return mask if isinstance(mask, int) and 1 <= mask <= 3 else None


def elements(buffer: Buffer) -> Expr:
    """The number of elements from the first to the last."""
    if buffer.strides:
        return ops.mul(buffer.strides[0], buffer.shape[0])
    total: Expr | None = None
    if all(type(n) is IntImm for n in buffer.shape):
        return ops.const(math.prod(n.value for n in buffer.shape))  # type: ignore[attr-defined]
    for n in buffer.shape:
        total = n if total is None else ops.mul(total, n)
    return const_int(1) if total is None else total


def flat_offset(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    """The place of an element in memory, in elements."""
    total: Expr | None = None
    if buffer.strides:
        for i, s in zip(indices, buffer.strides, strict=True):
            term = ops.mul(i, s)
            total = term if total is None else ops.add(total, term)
    else:
        for i, n in zip(indices, buffer.shape, strict=True):
            total = i if total is None else ops.add(ops.mul(total, n), i)
    result = const_int(0) if total is None else total
    return result if buffer.elem_offset is None else ops.add(buffer.elem_offset, result)


def _point(buffer: Buffer, begin: Any) -> tuple[Expr, ...]:
    items = begin if isinstance(begin, (list, tuple)) else (begin,)
    return ops.load(buffer, list(items)).indices


def _widened(buffer: Buffer, indices: tuple[Expr, ...], lanes: int) -> tuple[Expr, ...]:
    """The indices with a ramp at the end, for as many lanes as are asked for."""
    if lanes <= 1 or not indices or dt.lanes(indices[-1].dtype) != 1:
        return indices
    last = indices[-1]
    return (*indices[:-1], Ramp(last, const_int(1, last.dtype), lanes))


def vload(self: Buffer, begin: Any, dtype: Any = None, predicate: Any = None) -> BufferLoad:
    """The load at ``begin``; with a vector ``dtype`` that many elements.

    Source: TVM's ``Buffer.vload``.
    """
    indices = _point(self, begin)
    if dtype is not None:
        said = dt.info(dt.normalize(dtype))
        if said.base != dt.info(self.dtype).base:
            raise ops.error(f"`{self.name}` holds {self.dtype}, not {dtype}")
        indices = _widened(self, indices, said.lanes // dt.lanes(self.dtype))
    return BufferLoad(self, indices, None if predicate is None else ops.condition(predicate))


def vstore(self: Buffer, begin: Any, value: Any, predicate: Any = None) -> BufferStore:
    """The statement that stores ``value`` at ``begin``, a vector at that many elements.

    Source: TVM's ``Buffer.vstore``.
    """
    from .stmt import BufferStore

    stored = ops.const(value, self.dtype) if isinstance(value, (bool, int, float)) else ops.as_expr(value)
    indices = _widened(self, _point(self, begin), dt.lanes(stored.dtype) // dt.lanes(self.dtype))
    wanted = BufferLoad(self, indices).dtype
    if stored.dtype != wanted:
        stored = ops.cast(stored, wanted)
    return BufferStore(self, stored, indices, None if predicate is None else ops.condition(predicate))


def access_ptr(
    self: Buffer, access_mask: Any, ptr_type: str = "handle", content_lanes: int = 1, offset: Any = 0,
    extent: Any = None,
) -> Call:  # fmt: skip
    """A pointer into the buffer for a call: ``"r"``, ``"w"`` or ``"rw"`` says what the call does.

    Source: TVM's ``Buffer.access_ptr``.
    """
    mask = _mask(access_mask)
    start = const_int(0) if self.elem_offset is None else self.elem_offset
    more = ops.index(offset)
    size = elements(self) if extent is None else ops.index(extent)
    if not (isinstance(more, IntImm) and more.value == 0):
        zero = isinstance(start, IntImm) and start.value == 0
        start = more if zero else ops.add(start, more)
        if extent is None:
            size = ops.sub(size, more)
    dtype = self.dtype
    if content_lanes != 1:
        dtype = dt.with_lanes(dtype, content_lanes)
        start, size = ops.floordiv(start, content_lanes), ops.floordiv(size, content_lanes)
    return ops.call("tvm_access_ptr", Call(dtype, "type_annotation", ()), self.data, start, size, mask)


def _mask(given: Any) -> int:
    mask = access_mask(given)
    if mask is None:
        raise ops.error(f"{given!r} is no access", "access-ptr", hint='write "r", "w" or "rw"')
    return mask


def offset_of(self: Buffer, indices: Any) -> list[Expr]:
    """The place of an element in memory, in elements.

    Source: TVM's ``Buffer.offset_of``.
    """
    return [flat_offset(self, _point(self, indices))]


def get_flattened_buffer(self: Buffer) -> Buffer:
    """The same memory as a buffer of one dimension.

    Source: TVM's ``Buffer.get_flattened_buffer``.
    """
    if self.ndim == 1 and not self.strides:
        return self
    return make_buffer(
        self.name, (elements(self),), self.dtype, data=self.data, scope=self.scope,
        elem_offset=self.elem_offset, align=self.align, offset_factor=self.offset_factor,
    )  # fmt: skip


for _method in (vload, vstore, access_ptr, offset_of, get_flattened_buffer):
    _method.__qualname__ = f"Buffer.{_method.__name__}"
    setattr(Buffer, _method.__name__, _method)
