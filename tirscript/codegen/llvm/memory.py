"""Loads and stores: scalars, contiguous and strided vectors, gathers and scatters, predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.diagnostics import CodegenError, NotYetError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Add, Broadcast, BufferLoad, Expr, IntImm, Mul, Ramp, Sub, const_int
from tirscript.ir.stmt import BufferStore

from . import checks, integers, narrow
from .builder import memory_suffix, vector_type_suffix
from .casts import as_data
from .values import BYTES, MEMORY, Value, exact_constant, llvm_type, memory_type, parts

if TYPE_CHECKING:
    from .function import FunctionEmitter


def ramp_of(e: Expr) -> tuple[Expr, int] | None:
    """``e`` as base and constant stride, where it is a vector of that form."""
    t = type(e)
    if t is Ramp:
        assert isinstance(e, Ramp)
        return (e.base, e.stride.value) if isinstance(e.stride, IntImm) else None
    if t is Broadcast:
        assert isinstance(e, Broadcast)
        return e.value, 0
    if t is not Add and t is not Sub and t is not Mul:
        return None
    assert isinstance(e, (Add, Sub, Mul))
    x, y = ramp_of(e.a), ramp_of(e.b)
    if x is None or y is None:
        return None
    if t is Add:
        return Add(x[0], y[0]), x[1] + y[1]
    if t is Sub:
        return Sub(x[0], y[0]), x[1] - y[1]
    for (base, stride), (factor, other) in ((x, y), (y, x)):
        if other == 0 and isinstance(factor, IntImm):
            return Mul(base, factor), stride * factor.value
    return None


class Access:
    """Where a load or store goes: an element index, with a stride for ramps, or a vector of indices."""

    __slots__ = ("index", "lanes", "stride")

    def __init__(self, index: Value, lanes: int, stride: int | None) -> None:
        self.index = index
        self.lanes = lanes
        self.stride = stride


def access(
    f: FunctionEmitter, buffer: Buffer, indices: tuple[Expr, ...], predicate: Value | None = None
) -> Access:
    """The element that ``indices`` name, counted from the buffer's pointer."""
    if f.module.options.checked:
        return _checked_access(f, buffer, indices, predicate)
    steps = [] if len(indices) == 1 and not buffer.strides else strides(buffer)
    offset: Value | None = None if buffer.elem_offset is None else f.exact(buffer.elem_offset)
    for k, i in enumerate(indices[:-1]):
        part = f.exact(i)
        if part.lanes != 1:
            raise CodegenError(f"only the last index of {buffer.name} may be a vector", code="vector-index")
        part = integers.mul(f, part, f.exact(steps[k]))
        offset = part if offset is None else integers.add(f, offset, part)
    if not indices:
        return Access(exact_constant(0) if offset is None else offset, 1, None)
    last = indices[-1]
    step = f.exact(steps[-1]) if steps else exact_constant(1)
    lanes = parts(last.dtype)[1]
    if lanes > 1:
        ramp = ramp_of(last) if f.kinds.exact(last) else None
        if ramp is not None and step.constant is not None:
            return Access(_plus(f, f.exact(ramp[0]), step, offset), lanes, ramp[1] * step.constant)
        vector = f.exact(last)
        if step.constant != 1:
            vector = integers.mul(f, *f.same_lanes(vector, step))
        if offset is not None:
            vector = integers.add(f, *f.same_lanes(vector, offset))
        return Access(vector, lanes, None)
    return Access(_plus(f, f.exact(last), step, offset), 1, None)


def _checked_access(
    f: FunctionEmitter, buffer: Buffer, indices: tuple[Expr, ...], predicate: Value | None
) -> Access:
    """The same, once the indices are known to be inside."""
    values = [f.exact(i) for i in indices]
    checks.inside(f, buffer, values, predicate)
    at = exact_constant(0) if buffer.elem_offset is None else f.exact(buffer.elem_offset)
    for v, e in zip(values, strides(buffer), strict=True):
        step = f.exact(e)
        part = v if step.constant == 1 else integers.mul(f, *f.same_lanes(v, step))
        at = integers.add(f, *f.same_lanes(at, part))
    return Access(at, at.lanes, None)


def _plus(f: FunctionEmitter, index: Value, step: Value, offset: Value | None) -> Value:
    scaled = integers.mul(f, index, step)
    return scaled if offset is None else integers.add(f, offset, scaled)


def strides(buffer: Buffer) -> list[Expr]:
    """Elements between neighbours along each dimension."""
    if buffer.strides:
        return list(buffer.strides)
    out: list[Expr] = []
    step: Expr = const_int(1, "int64")
    for extent in reversed(buffer.shape):
        out.append(step)
        if isinstance(step, IntImm) and isinstance(extent, IntImm):
            step = const_int(step.value * extent.value, "int64")
        else:
            step = Mul(step, extent)
    return out[::-1]


def element_pointer(f: FunctionEmitter, buffer: Buffer, index: Value, *, inside: bool = True) -> str:
    """The address of an element (or the addresses, of a vector of indices); ``inside`` says that it is
    one of the buffer's, which an address whose access is masked need not be."""
    base, width = parts(buffer.dtype)
    if width != 1:
        index = integers.mul(f, index, f.const_like(width, index))
    pointer = f.pointer(buffer)
    if index.constant == 0 and index.lanes == 1:
        return pointer
    flags = " inbounds" if inside else ""
    return f.ins(f"getelementptr{flags} {MEMORY[base]}, ptr {pointer}, {index.typed}")


def load(f: FunctionEmitter, e: BufferLoad) -> Value:
    buffer = e.buffer
    base, width = parts(buffer.dtype)
    predicate = None if e.predicate is None else f.expr(e.predicate)
    where = access(f, buffer, e.indices, predicate)
    if width != 1:
        if where.lanes != 1:
            raise NotYetError(
                f"vector indices into {buffer.name}, whose elements are vectors, are not supported yet"
            )
        return _whole(f, buffer, where.index, base, width)
    if where.lanes == 1:
        return _scalar_load(f, buffer, where.index, base, predicate)
    mask = _combined(f, predicate, where.lanes)
    lanes, stride = where.lanes, where.stride
    if stride == 1:
        pointer = element_pointer(f, buffer, where.index, inside=mask is None)
        if mask is None:
            return _whole_at(f, pointer, base, lanes)
        return _masked(f, "load", base, lanes, f"ptr align {BYTES[base]} {pointer}", "p0", mask)
    if mask is None and stride == 0:
        return f.broadcast(_scalar_load(f, buffer, where.index, base, None), lanes)
    if mask is None and stride == -1:
        first = integers.add(f, where.index, exact_constant(1 - lanes))
        v = _whole_at(f, element_pointer(f, buffer, first), base, lanes)
        picks = ", ".join(f"i32 {i}" for i in reversed(range(lanes)))
        return Value(f.ins(f"shufflevector {v.typed}, {v.ty} poison, <{lanes} x i32> <{picks}>"), base, lanes)
    if mask is None and stride is not None:
        items = [integers.add(f, where.index, exact_constant(stride * i)) for i in range(lanes)]
        return f.from_lanes([_scalar_load(f, buffer, i, base, None) for i in items])
    pointers = element_pointer(f, buffer, _indices(f, where), inside=mask is None)
    address = f"<{lanes} x ptr> align {BYTES[base]} {pointers}"
    if mask is None:
        mask = Value("splat (i1 true)", "bool", lanes)
    return _masked(f, "gather", base, lanes, address, f"v{lanes}p0", mask)


def _indices(f: FunctionEmitter, where: Access) -> Value:
    """The vector of all element indices."""
    if where.stride is None:
        return where.index
    steps = ", ".join(f"i64 {where.stride * i}" for i in range(where.lanes))
    v = f.broadcast(where.index, where.lanes)
    return Value(f.ins(f"add {v.typed}, <{steps}>"), "int64", where.lanes, True)


def _combined(f: FunctionEmitter, predicate: Value | None, lanes: int) -> Value | None:
    """The predicate of an access together with that of the expressions around it."""
    if f.mask is None or f.mask.lanes != lanes:
        return None if predicate is None else f.broadcast(predicate, lanes)
    if predicate is None:
        return f.mask
    predicate = f.broadcast(predicate, lanes)
    return Value(f.op("and", predicate, f.mask.ref), "bool", lanes)


def _whole(f: FunctionEmitter, buffer: Buffer, index: Value, base: str, width: int) -> Value:
    return _whole_at(f, element_pointer(f, buffer, index), base, width)


def _whole_at(f: FunctionEmitter, pointer: str, base: str, lanes: int) -> Value:
    raw = f.ins(f"load {memory_type(base, lanes)}, ptr {pointer}, align {BYTES[base]}")
    return narrow.from_memory(f, raw, base, lanes)


def _masked(
    f: FunctionEmitter, word: str, base: str, lanes: int, address: str, suffix: str, mask: Value
) -> Value:
    ty = memory_type(base, lanes)
    name = f"@llvm.masked.{word}.{memory_suffix(base, lanes)}.{suffix}"
    raw = f.ins(f"call {ty} {name}({address}, {mask.typed}, {ty} zeroinitializer)")
    return narrow.from_memory(f, raw, base, lanes)


def _scalar_load(
    f: FunctionEmitter, buffer: Buffer, index: Value, base: str, predicate: Value | None
) -> Value:
    guard = predicate
    if f.mask is not None:
        # Inside a branch of a vector condition: read only if some lane takes it.
        some = f.ins(f"call i1 @llvm.vector.reduce.or.v{f.mask.lanes}i1({f.mask.typed})")
        guard = Value(some if guard is None else f.ins(f"and i1 {some}, {guard.ref}"), "bool")
    if guard is None:
        return _plain_load(f, buffer, index, base)
    then, join, before = f.name("load"), f.name("loaded"), f.block
    f.cond_br(guard.ref, then, join)
    f.start(then)
    v = _plain_load(f, buffer, index, base)
    after = f.block
    f.start(join)
    return f.phi(v, [(f.const_like(0, v).ref, before), (v.ref, after)])


def _plain_load(f: FunctionEmitter, buffer: Buffer, index: Value, base: str) -> Value:
    if base == "handle":
        return Value(f.ins(f"load ptr, ptr {element_pointer(f, buffer, index)}, align 8"), base)
    return _whole_at(f, element_pointer(f, buffer, index), base, 1)


def store(f: FunctionEmitter, s: BufferStore) -> None:
    buffer = s.buffer
    base, width = parts(buffer.dtype)
    value = as_data(f, f.expr(s.value), base)
    predicate = None if s.predicate is None else f.expr(s.predicate)
    where = access(f, buffer, s.indices, predicate)
    if width != 1:
        if where.lanes != 1:
            raise NotYetError(
                f"vector indices into {buffer.name}, whose elements are vectors, are not supported yet"
            )
        _store_at(f, element_pointer(f, buffer, where.index), f.broadcast(value, width), base)
        return
    lanes, stride = where.lanes, where.stride
    if lanes == 1:
        if value.lanes != 1:
            raise CodegenError(f"a vector of {value.lanes} lanes is stored into one element of {buffer.name}")
        _scalar_store(f, buffer, where.index, value, base, predicate)
        return
    value = f.broadcast(value, lanes)
    mask = None if predicate is None else f.broadcast(predicate, lanes)
    if stride == 1:
        pointer = element_pointer(f, buffer, where.index, inside=mask is None)
        if mask is None:
            _store_at(f, pointer, value, base)
        else:
            _masked_store(f, "store", value, base, f"ptr align {BYTES[base]} {pointer}", "p0", mask)
    elif mask is None and stride == -1:
        picks = ", ".join(f"i32 {i}" for i in reversed(range(lanes)))
        turned = f.ins(f"shufflevector {value.typed}, {value.ty} poison, <{lanes} x i32> <{picks}>")
        first = integers.add(f, where.index, exact_constant(1 - lanes))
        _store_at(f, element_pointer(f, buffer, first), Value(turned, base, lanes), base)
    elif mask is None and stride is not None:
        # In order, so that the last lane stays where all go to one element.
        for i in range(lanes):
            index = integers.add(f, where.index, exact_constant(stride * i))
            _store_at(f, element_pointer(f, buffer, index), f.lane(value, i), base)
    else:
        pointers = element_pointer(f, buffer, _indices(f, where), inside=mask is None)
        address = f"<{lanes} x ptr> align {BYTES[base]} {pointers}"
        if mask is None:
            mask = Value("splat (i1 true)", "bool", lanes)
        _masked_store(f, "scatter", value, base, address, f"v{lanes}p0", mask)


def _store_at(f: FunctionEmitter, pointer: str, value: Value, base: str) -> None:
    raw = narrow.to_memory(f, value)
    f.do(f"store {raw.typed}, ptr {pointer}, align {BYTES[base]}")


def _masked_store(
    f: FunctionEmitter, word: str, value: Value, base: str, address: str, suffix: str, mask: Value
) -> None:
    raw = narrow.to_memory(f, value)
    name = f"@llvm.masked.{word}.{vector_type_suffix(raw.base, raw.lanes)}.{suffix}"
    f.do(f"call void {name}({raw.typed}, {address}, {mask.typed})")


def _scalar_store(
    f: FunctionEmitter, buffer: Buffer, index: Value, value: Value, base: str, predicate: Value | None
) -> None:
    if predicate is None:
        _store_at(f, element_pointer(f, buffer, index), value, base)
        return
    then, join = f.name("store"), f.name("stored")
    f.cond_br(predicate.ref, then, join)
    f.start(then)
    _store_at(f, element_pointer(f, buffer, index), value, base)
    f.start(join)


def address_of(f: FunctionEmitter, e: BufferLoad) -> Value:
    """The address of the (first) element of a load."""
    where = access(f, e.buffer, e.indices)
    index = where.index if where.index.lanes == 1 else f.lane(where.index, 0)
    return Value(element_pointer(f, e.buffer, index, inside=False), "handle")


__all__ = ["access", "address_of", "element_pointer", "llvm_type", "load", "ramp_of", "store", "strides"]
