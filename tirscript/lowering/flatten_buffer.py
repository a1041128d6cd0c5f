"""Buffers become one-dimensional; strides and offsets go into the index."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, BufferLoad, Expr, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Stmt,
)

from .fold import add, cast, const_of, fits, flat, is_exact, mul, product, sub
from .vectors import vadd, vcast, vmul, vsub


def flatten_buffer(func: PrimFunc) -> PrimFunc:
    """Every access has one index into a one-dimensional buffer over the same memory.

    Parameter buffers are declared at the start of the body; a buffer of rank 0 has one element.
    """
    f = _Flatten(func)
    body = f.stmt(func.body)
    for b in reversed([*func.buffers, *f.loose]):
        flat = f.flat.get(b)
        if flat is not None:
            body = DeclBuffer(flat, body, span=b.span)
    return func.replace(body=body)


def dense_strides(b: Buffer) -> tuple[Expr, ...]:
    """The strides of a buffer in elements, row-major where it declares none."""
    if b.strides:
        return b.strides
    return tuple([product(b.shape[d + 1 :], b.shape[d].dtype) for d in range(len(b.shape))])


def flat_size(b: Buffer) -> Expr:
    """The number of elements from the pointer to the last element."""
    if not b.strides:
        size = product(b.shape)
    else:
        terms: Expr = const_int(1, "int64")
        for n, s in zip(b.shape, b.strides, strict=True):
            reach = mul(cast(sub(n, const_int(1, n.dtype)), "int64"), cast(s, "int64"))
            terms = add(terms, reach)
        size = terms
    if b.elem_offset is None or const_of(b.elem_offset) == 0:
        return size
    wide = "int64" if "int64" in (size.dtype, b.elem_offset.dtype) else size.dtype
    return add(cast(size, wide), cast(b.elem_offset, wide))


class _Flatten:
    def __init__(self, func: PrimFunc) -> None:
        self.flat: dict[Buffer, Buffer] = {}
        self.origin: dict[Buffer, tuple[Expr, ...]] = {}  # of realized buffers: the index of their first cell
        self.declared: set[Buffer] = set(func.buffers)
        self.loose: list[Buffer] = []  # used without a declaration
        self.strides: dict[Buffer, tuple[Expr, ...]] = {}
        self.narrow: dict[Buffer, bool] = {}
        self.plain: set[Buffer] = set()  # of one dimension, dense, from 0: the index is what it was

    def buffer(self, b: Buffer) -> Buffer:
        new = self.flat.get(b)
        if new is None:
            name = f"{b.name}_flat" if b in self.declared else b.name
            new = self.flat[b] = Buffer(
                name, (flat_size(b),), b.dtype, b.data, scope=b.scope, align=b.align, span=b.span
            )
            if b not in self.declared:
                self.loose.append(b)
        return new

    def index(self, b: Buffer, indices: tuple[Expr, ...]) -> Expr:
        """The one index for ``indices``; in int64 where an index is data or the buffer is large."""
        strides = self.strides.get(b)
        if strides is None:
            strides = self.strides[b] = dense_strides(b)
            size = const_of(flat_size(b))
            self.narrow[b] = size is None or fits(size, "int32")
            if len(strides) == 1 and self.narrow[b] and _is_flat(b) and b.shape[0].dtype == "int32":
                self.plain.add(b)
        if b in self.plain and dt.info(indices[0].dtype).base == "int32":
            return indices[0]
        origin = self.origin.get(b)
        if origin is not None:
            indices = tuple(
                [vsub(i, cast(o, dt.info(i.dtype).base)) for i, o in zip(indices, origin, strict=True)]
            )
        offset = b.elem_offset if b.elem_offset is not None else const_int(0)
        kinds = {dt.info(e.dtype).base for e in (*indices, *strides)}
        if const_of(offset) != 0:
            kinds.add(offset.dtype)
        wide = kinds - {"int32"} or not self.narrow[b]
        if not wide and len(indices) > 1:
            wide = not all(is_exact(i) for i in indices)
        base = "int64" if wide else "int32"
        out: Expr = cast(offset, base)
        for i, s in zip(indices, strides, strict=True):
            out = vadd(out, vmul(vcast(i, base), cast(s, base)))
        return out

    def visit(self, n: Any) -> Any:
        n = n.map_children(self.visit)
        if type(n) is BufferLoad:
            return BufferLoad(
                self.buffer(n.buffer), (self.index(n.buffer, n.indices),), n.predicate, span=n.span
            )
        return n

    def stmt(self, s: Any) -> Any:
        t = type(s)
        if t is BufferStore:
            indices = tuple([self.visit(i) for i in s.indices])
            predicate = None if s.predicate is None else self.visit(s.predicate)
            return BufferStore(
                self.buffer(s.buffer),
                self.visit(s.value),
                (self.index(s.buffer, indices),),
                predicate,
                span=s.span,
            )
        if t is DeclBuffer:
            return self.declare(s)
        if t is Allocate:
            return self.allocate(s)
        if t is AllocateConst:
            body = self.stmt(s.body)
            return s.replace(extents=(product(s.extents),), body=self.wrap(s.buffer_var, body))
        if t is BufferRealize:
            return self.realize(s)
        if isinstance(s, Stmt):
            return flat(s.map_children(lambda c: self.stmt(c) if isinstance(c, Stmt) else self.visit(c)))
        return self.visit(s)

    def declare(self, s: DeclBuffer) -> Stmt:
        b = s.buffer
        self.declared.add(b)
        if not _is_flat(b):
            self.flat[b] = Buffer(
                b.name, (self.size(b),), b.dtype, b.data, scope=b.scope, align=b.align, span=b.span
            )
        else:
            self.flat[b] = b
        return DeclBuffer(self.flat[b], self.stmt(s.body), span=s.span)

    def size(self, b: Buffer) -> Expr:
        return self.visit(flat_size(b))  # type: ignore[no-any-return]

    def allocate(self, s: Allocate) -> Stmt:
        extents = tuple([self.visit(e) for e in s.extents])
        size = product(extents)
        inner = s.body
        if type(inner) is DeclBuffer and inner.buffer.data is s.buffer_var and inner.buffer.strides:
            size = self.size(inner.buffer)  # strides may reach farther than the extents
        body = self.wrap(s.buffer_var, self.stmt(s.body))
        return s.replace(extents=(size,), condition=self.visit(s.condition), body=body)

    def wrap(self, data: Var, body: Stmt) -> Stmt:
        """Declare what was used without a declaration, where its pointer is made."""
        mine = [b for b in self.loose if b.data is data]
        for b in mine:
            self.loose.remove(b)
            body = DeclBuffer(self.flat[b], body, span=b.span)
        return body

    def realize(self, s: BufferRealize) -> Stmt:
        b = s.buffer
        self.declared.add(b)
        self.origin[b] = tuple([r.min for r in s.bounds])
        shape = tuple([r.extent for r in s.bounds])
        held = b.replace(shape=shape)
        self.strides[b] = dense_strides(held)
        self.narrow[b] = fits(const_of(flat_size(held)) or 0, "int32")
        flat = self.flat[b] = Buffer(b.name, (self.size(held),), b.dtype, b.data, scope=b.scope, span=b.span)
        body = self.stmt(s.body)
        return Allocate(b.data, b.dtype, flat.shape, TRUE, DeclBuffer(flat, body, span=s.span), span=s.span)


def _is_flat(b: Buffer) -> bool:
    if len(b.shape) != 1 or (b.elem_offset is not None and const_of(b.elem_offset) != 0):
        return False
    return not b.strides or const_of(b.strides[0]) == 1
