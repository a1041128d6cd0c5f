"""Buffers (multi-dimensional views of memory) and regions of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .expr import BufferLoad, Expr, Range, Var, const_int
from .node import Node, node

if TYPE_CHECKING:
    from tirscript.diagnostics import Span


class Scope(str):
    """The name of a storage scope.  ``buffer.scope`` is one; TVM's ``buffer.scope()`` is the same."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


class _Scopes(dict[str, Scope]):
    """Each scope once."""

    def __missing__(self, name: str) -> Scope:
        made = self[str(name)] = Scope(name)
        return made


SCOPES = _Scopes()


@node
class Buffer(Node):
    """A view of memory with a shape and a dtype; the object is its identity.

    ``data`` is the pointer: two buffers with one ``data`` are views of the same memory.  ``strides`` are
    in elements, one for each dimension, empty for a dense row-major buffer; ``elem_offset`` is in
    elements, None for 0.  ``align`` is in bytes, 0 for the element's own alignment.
    """

    _stored_: ClassVar[dict[str, str]] = {"scope": "SCOPES[scope]"}
    name: str
    shape: tuple[Expr, ...]
    dtype: str
    data: Var
    strides: tuple[Expr, ...] = ()
    elem_offset: Expr | None = None
    scope: str = "global"
    align: int = 0
    offset_factor: int = 0
    buffer_type: str = "default"
    axis_separators: tuple[int, ...] = ()
    span: Span | None = None

    def same_as(self, other: object) -> bool:
        """Whether it is this very object: nodes are compared so."""
        return self is other

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def data_alignment(self) -> int:
        """``align``, as TVM calls it."""
        return self.align

    if TYPE_CHECKING:
        # Filled in by `ops`: a point gives a load, slices give a region.
        def __getitem__(self, indices: Any) -> BufferLoad | BufferRegion: ...

        # Filled in by `buffer_methods`.
        def vload(self, begin: Any, dtype: Any = None, predicate: Any = None) -> BufferLoad: ...
        def vstore(self, begin: Any, value: Any, predicate: Any = None) -> Any: ...
        def access_ptr(
            self,
            access_mask: Any,
            ptr_type: str = "handle",
            content_lanes: int = 1,
            offset: Any = 0,
            extent: Any = None,
        ) -> Expr: ...
        def offset_of(self, indices: Any) -> list[Expr]: ...
        def get_flattened_buffer(self) -> Buffer: ...


def make_buffer(
    name: str,
    shape: tuple[Expr, ...],
    dtype: str = "float32",
    *,
    data: Var | None = None,
    scope: str = "global",
    **fields: Any,
) -> Buffer:
    """A buffer, with a new pointer unless ``data`` is given."""
    if data is None:
        data = Var(f"{name}_data", "handle", False, (dtype, scope))
    if fields:
        return Buffer(name, shape, dtype, data, scope=scope, **fields)
    return Buffer(name, shape, dtype, data, scope=scope)


@node
class BufferRegion(Node):
    """A box of a buffer: one range for each dimension."""

    _children_: ClassVar[tuple[str, ...]] = ("region",)
    buffer: Buffer
    region: tuple[Range, ...]
    span: Span | None = None


@node
class MatchBufferRegion(Node):
    """``buffer`` is a view of the region ``source`` of another buffer, inside one block."""

    _child_: ClassVar[tuple[str, ...]] = ("source",)
    buffer: Buffer
    source: BufferRegion
    span: Span | None = None


_ONE = const_int(1)


def point(buffer: Buffer, indices: tuple[Expr, ...]) -> BufferRegion:
    """The region of the single element at ``indices``."""
    ranges = [Range(i, _ONE if i.dtype == "int32" else const_int(1, i.dtype)) for i in indices]
    return BufferRegion(buffer, tuple(ranges))


def full_region(buffer: Buffer) -> BufferRegion:
    """The region that is the whole buffer."""
    return BufferRegion(buffer, tuple([Range(const_int(0, n.dtype), n) for n in buffer.shape]))
