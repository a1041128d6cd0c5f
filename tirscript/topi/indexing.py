"""Operators that read where other tensors say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import (
    axis_of,
    broadcast_index,
    broadcast_shapes,
    constant,
    error,
    product,
    same,
    unflat_index,
)
from .tag import BROADCAST
from .transform import injective


def _clamped(value: Expr, size: Expr, mode: str, dtype: str) -> Expr:
    """An index from data, as ``mode`` says what is meant outside of the extent."""
    at = ops.cast(value, dtype) if value.dtype != dtype else value
    if mode == "clip":
        top = simplify(ops.sub(size, const_int(1, size.dtype)))
        return T.min(T.max(at, const_int(0, dtype)), top)
    if mode == "wrap":
        return ops.floormod(at, size)
    if mode == "fast":
        return at
    raise error(f"mode is 'clip', 'wrap' or 'fast', not {mode!r}", "mode")


def take(a: Tensor, indices: Any, axis: Any = None, batch_dims: int = 0, mode: str = "fast") -> Tensor:
    """The elements, or parts along ``axis``, with the given indices.

    ``mode`` says what an index outside of the extent means: ``clip`` is the nearest, ``wrap`` counts round,
    ``fast`` is not checked here.  ``batch_dims`` leading dimensions go together with those of ``indices``.
    """
    wide = a.shape[0].dtype if a.shape else "int32"
    if not isinstance(indices, Tensor):
        at = ops.index(indices)
        if axis is None:
            flat = unflat_index(_clamped(at, product(a.shape), mode, wide), a.shape)
            return injective([], lambda: a(*flat), "T_take")
        n = axis_of(axis, a.ndim)
        only = _clamped(at, a.shape[n], mode, wide)
        return injective([*a.shape[:n], *a.shape[n + 1 :]], lambda *i: a(*i[:n], only, *i[n:]), "T_take")
    if axis is None:
        total = product(a.shape)
        return injective(
            indices.shape, lambda *i: a(*unflat_index(_clamped(indices(*i), total, mode, wide), a.shape)),
            "T_take",
        )  # fmt: skip
    n = axis_of(axis, a.ndim)
    batch = axis_of(batch_dims, indices.ndim + 1, "batch_dims")
    if batch > n:
        raise error(f"batch_dims {batch} is greater than the axis {n}", "axis")
    for d in range(batch):
        if not same(a.shape[d], indices.shape[d]):
            raise error(f"batch dimension {d}: extents {a.shape[d]} and {indices.shape[d]}")
    length = indices.ndim - batch

    def f(*i: Any) -> Any:
        where = indices(*i[:batch], *i[n : n + length])
        return a(*i[:n], _clamped(where, a.shape[n], mode, wide), *i[n + length :])

    shape = [*a.shape[:n], *indices.shape[batch:], *a.shape[n + 1 :]]
    return injective(shape, f, "T_take")


def gather(data: Tensor, axis: int, indices: Tensor) -> Tensor:
    """``out[..., i, ...] = data[..., indices[..., i, ...], ...]`` at ``axis``."""
    at = axis_of(axis, data.ndim)
    if indices.ndim != data.ndim:
        raise error(f"data has {data.ndim} dimensions, indices {indices.ndim}")
    wide = data.shape[at].dtype
    return injective(
        indices.shape,
        lambda *i: data(*i[:at], ops.cast(indices(*i), wide), *i[at + 1 :]), "T_gather",
    )  # fmt: skip


def gather_nd(a: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    """Parts of ``a``: the first dimension of ``indices`` holds an index for each leading dimension."""
    count = constant(indices.shape[0], "the first extent of indices")
    batch = axis_of(batch_dims, indices.ndim, "batch_dims")
    if count + batch > a.ndim:
        raise error(f"an index of {count} numbers for {a.ndim - batch} dimensions")
    wide = a.shape[0].dtype if a.shape else "int32"
    outer = indices.ndim - 1

    def f(*i: Any) -> Any:
        at = [ops.cast(indices(const_int(n, wide), *i[:outer]), wide) for n in range(count)]
        return a(*i[:batch], *at, *i[outer:])

    return injective([*indices.shape[1:], *a.shape[count + batch :]], f, "T_gather_nd")


def where(condition: Any, x: Any, y: Any) -> Tensor:
    """``x`` where the condition holds, else ``y``; all broadcast."""
    tensors = [t for t in (condition, x, y) if isinstance(t, Tensor)]
    if not tensors:
        raise error("where takes a tensor", "not-a-tensor")
    shape: tuple[Expr, ...] = ()
    for t in tensors:
        shape = broadcast_shapes(shape, t.shape)

    def element(t: Any, i: Sequence[Any]) -> Any:
        return t(*broadcast_index(t, i)) if isinstance(t, Tensor) else t

    return injective(
        shape,
        lambda *i: ops.select(element(condition, i), element(x, i), element(y, i)),
        "T_where",
        BROADCAST,
    )


def reverse_sequence(a: Tensor, seq_lengths: Tensor, seq_axis: int = 1, batch_axis: int = 0) -> Tensor:
    """The first ``seq_lengths[b]`` elements along ``seq_axis`` of each batch reversed."""
    at, batch = axis_of(seq_axis, a.ndim), axis_of(batch_axis, a.ndim)

    def f(*i: Any) -> Any:
        length = ops.cast(seq_lengths(i[batch]), a.shape[at].dtype)
        end = ops.select(ops.le(length, 1), 1, length)
        place = ops.if_then_else(ops.lt(i[at], end), ops.sub(ops.sub(end, 1), i[at]), i[at])
        return a(*i[:at], place, *i[at + 1 :])

    return injective(a.shape, f, "T_reverse_sequence")


def one_hot(indices: Tensor, on_value: Any, off_value: Any, depth: int, axis: int, dtype: Any) -> Tensor:
    """``on_value`` where a new axis of extent ``depth`` meets the index, else ``off_value``."""
    kind = read_dtype(dtype)
    at = axis_of(axis, indices.ndim + 1)
    on, off = (ops.cast(ops.as_expr(e), kind) for e in (on_value, off_value))
    size = const_int(constant(depth, "depth"), indices.shape[0].dtype if indices.shape else "int32")

    def f(*i: Any) -> Any:
        return ops.select(ops.eq(indices(*i[:at], *i[at + 1 :]), i[at]), on, off)

    return injective([*indices.shape[:at], size, *indices.shape[at:]], f, "T_one_hot")


def sequence_mask(data: Tensor, valid_length: Tensor, mask_value: float = 0, axis: int = 0) -> Tensor:
    """``mask_value`` from ``valid_length[b]`` on: ``axis`` is that of time, 0 or 1, the other the batch."""
    at = axis_of(axis, data.ndim)
    if at not in (0, 1) or data.ndim < 2:
        raise error("time is axis 0 or 1 of at least two", "axis")
    value = ops.const(mask_value, data.dtype)

    def f(*i: Any) -> Any:
        late = ops.ge(i[at], ops.cast(valid_length(i[1 - at]), data.shape[at].dtype))
        return ops.if_then_else(late, value, data(*i))

    return injective(data.shape, f, "T_sequence_mask")


def unravel_index(indices: Tensor, shape: Any) -> Tensor:
    """The index of each row-major number in ``shape`` (a vector or a sequence), along a new first axis."""
    sizes: list[Any]
    if isinstance(shape, Tensor):
        count = constant(shape.shape[0], "the length of shape")
        sizes = [ops.cast(shape(n), indices.dtype) for n in range(count)]
    else:
        sizes = [ops.cast(ops.as_expr(n), indices.dtype) for n in shape]
        count = len(sizes)

    def f(*i: Any) -> Any:
        rest: Any = indices(*i[1:])
        parts = []
        for n in range(count - 1, 0, -1):
            parts.append(ops.floormod(rest, sizes[n]))
            rest = ops.floordiv(rest, sizes[n])
        parts.append(rest)
        parts.reverse()
        out = parts[-1]
        for n in range(count - 2, -1, -1):
            out = ops.if_then_else(ops.eq(i[0], n), parts[n], out)
        return out

    first = const_int(count, indices.shape[0].dtype if indices.shape else "int32")
    return injective([first, *indices.shape], f, "T_unravel")


def sparse_to_dense(
    sparse_indices: Tensor, output_shape: Any, sparse_values: Tensor, default_value: Any = 0
) -> Tensor:
    """A dense tensor of ``output_shape``: ``sparse_values`` at ``sparse_indices``, else ``default_value``."""
    sizes = te.operation.shape_of(output_shape)
    default = (
        default_value(*[0] * default_value.ndim)
        if isinstance(default_value, Tensor)
        else ops.const(default_value, sparse_values.dtype)
    )
    count = 1 if sparse_indices.ndim == 0 else constant(sparse_indices.shape[0], "the number of values")

    def f(*i: Any) -> Any:
        out: Any = default
        for n in range(count):
            value = sparse_values(n) if sparse_values.ndim else sparse_values()
            at = [
                sparse_indices() if sparse_indices.ndim == 0
                else sparse_indices(n) if sparse_indices.ndim == 1 else sparse_indices(n, d)
                for d in range(len(i))
            ]  # fmt: skip
            here = te.all(*[ops.eq(v, ops.cast(e, v.dtype)) for v, e in zip(i, at, strict=True)])
            out = ops.if_then_else(here, value, out)
        return out

    return injective(sizes, f, "T_sparse_to_dense")


def adv_index(data: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """``data[indices]`` as NumPy: index tensors, which broadcast, for the leading axes."""
    if len(indices) > data.ndim:
        raise error(f"{len(indices)} indices for {data.ndim} dimensions", "arity")
    shape: tuple[Expr, ...] = ()
    for t in indices:
        shape = broadcast_shapes(shape, t.shape)
    count = len(shape)

    def f(*i: Any) -> Any:
        at = [ops.cast(t(*broadcast_index(t, i[:count])), data.shape[n].dtype) for n, t in enumerate(indices)]
        return data(*at, *i[count:])

    return injective([*shape, *data.shape[len(indices) :]], f, "advanced_index")


index_tensor = adv_index


__all__ = [
    "adv_index", "gather", "gather_nd", "index_tensor", "one_hot", "reverse_sequence", "sequence_mask",
    "sparse_to_dense", "take", "unravel_index", "where",
]  # fmt: skip
