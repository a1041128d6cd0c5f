"""Operators that cut tensors up and put them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.te import Tensor

from .shapes import (
    axis_of,
    constant,
    constants,
    error,
    extent,
    known,
    same,
)
from .tag import INJECTIVE
from .transform import injective


def concatenate(a_tuple: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors one after another along an axis."""
    tensors = list(a_tuple)
    if not tensors:
        raise error("nothing to concatenate", "arity")
    first = tensors[0]
    at = axis_of(axis, first.ndim)
    for t in tensors[1:]:
        if t.ndim != first.ndim or t.dtype != first.dtype:
            raise error(
                f"{first.name} ({first.ndim} dimensions, {first.dtype}) and {t.name} "
                f"({t.ndim} dimensions, {t.dtype}) do not concatenate"
            )
        for n in range(first.ndim):
            if n != at and not same(t.shape[n], first.shape[n]):
                raise error(f"shapes {list(first.shape)} and {list(t.shape)} differ beside axis {at}")
    starts = [const_int(0, first.shape[at].dtype)]
    for t in tensors:
        starts.append(extent(ops.add(starts[-1], t.shape[at])))  # type: ignore[arg-type]

    def f(*i: Any) -> Any:
        def read(n: int) -> Any:
            index = list(i)
            index[at] = simplify(ops.sub(i[at], starts[n]))
            return tensors[n](*index)

        out = read(0)
        for n in range(1, len(tensors)):
            out = ops.if_then_else(ops.le(starts[n], i[at]), read(n), out)
        return out

    shape = [*first.shape[:at], starts[-1], *first.shape[at + 1 :]]
    return injective(shape, f, "T_concat")


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis."""
    parts = list(tensors)
    if not parts:
        raise error("nothing to stack", "arity")
    at = axis_of(axis, parts[0].ndim + 1)
    for t in parts[1:]:
        if t.ndim != parts[0].ndim or not all(
            same(a, b) for a, b in zip(t.shape, parts[0].shape, strict=True)
        ):
            raise error(f"shapes {list(parts[0].shape)} and {list(t.shape)} differ")
    count = const_int(len(parts), parts[0].shape[0].dtype if parts[0].shape else "int32")

    def f(*i: Any) -> Any:
        index = (*i[:at], *i[at + 1 :])
        out = parts[-1](*index)
        for n in range(len(parts) - 2, -1, -1):
            out = ops.if_then_else(ops.eq(i[at], n), parts[n](*index), out)
        return out

    return injective([*parts[0].shape[:at], count, *parts[0].shape[at:]], f, "T_stack")


def split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Parts along an axis: a number of equal ones, or where to cut.

    >>> from tirscript import te, topi
    >>> [t.shape[0].value for t in topi.split(te.placeholder((7,)), [2, 3])]
    [2, 1, 4]
    """
    at = axis_of(axis, ary.ndim)
    size = ary.shape[at]
    if isinstance(indices_or_sections, (list, tuple)):
        cuts = [ops.index(c) for c in indices_or_sections]
        starts: list[Expr] = [const_int(0, size.dtype), *cuts]
        ends: list[Expr] = [*cuts, size]
        name = "T_split"
    else:
        sections = constant(indices_or_sections, "the number of sections")
        if sections <= 0 or (known(size) is not None and known(size) % sections):  # type: ignore[operator]
            raise error(f"extent {size} does not divide into {sections} parts")
        each = simplify(ops.floordiv(size, sections))
        starts = [extent(ops.mul(each, n)) for n in range(sections)]
        ends = [extent(ops.mul(each, n + 1)) for n in range(sections)]
        name = "T_split_sections"
    out = []
    for start, end in zip(starts, ends, strict=True):
        length = extent(ops.sub(end, start))
        if (known(length) or 0) < 0:
            raise error(f"the cuts {list(map(repr, starts[1:]))} are not in order")

        def f(*i: Any, start: Expr = start) -> Any:
            index = list(i)
            index[at] = simplify(ops.add(i[at], start))
            return ary(*index)

        shape = [*ary.shape[:at], length, *ary.shape[at + 1 :]]
        out.append(injective(shape, lambda *i, f=f: f(*i), name))
    return out


def _slice_bounds(n: Expr, begin: Any, end: Any, step: int) -> tuple[Expr, Expr]:
    """Where a slice of an axis starts, and how many elements it has; as Python slices."""
    if step == 0:
        raise error("the stride of a slice is not 0", "slice")
    size = known(n)
    b, e = (None if x is None else ops.index(x) for x in (begin, end))
    if size is not None and (b is None or known(b) is not None) and (e is None or known(e) is not None):
        first = None if b is None else known(b)
        last = None if e is None else known(e)
        start, stop, _ = slice(first, last, step).indices(size)
        count = max(0, -(-(stop - start) // step))
        return const_int(start, n.dtype), const_int(count, n.dtype)

    def normal(x: Expr | None, default: Expr) -> Expr:
        if x is None:
            return default
        value = known(x)
        x = ops.cast(x, n.dtype) if x.dtype != n.dtype else x
        return extent(ops.add(x, n)) if value is not None and value < 0 else x

    zero = const_int(0, n.dtype)
    if step < 0:
        last_one = extent(ops.sub(n, 1))
        low, high = normal(b, last_one), normal(e, const_int(-1, n.dtype))
        count_of = ops.floordiv(ops.add(ops.sub(low, high), -step - 1), -step)
    else:
        low, high = normal(b, zero), normal(e, n)
        if known(high) is not None and (known(high) or 0) > 2**31 - 2:
            high = n
        count_of = ops.floordiv(ops.add(ops.sub(high, low), step - 1), step)
    length = extent(count_of)
    return low, const_int(0, n.dtype) if (known(length) or 0) < 0 else length


def strided_slice(
    a: Tensor,
    begin: Any,
    end: Any,
    strides: Any = None,
    axes: Any = None,
    slice_mode: str = "end",
    assume_inbound: bool = True,
) -> Tensor:
    """A part of a tensor: ``a[begin:end:stride]`` in each dimension, or in those of ``axes``.

    Negative numbers and bounds beyond the extents mean what they mean in Python.  ``slice_mode="size"``
    takes ``end`` as lengths, -1 up to the end.

    >>> from tirscript import te, topi
    >>> topi.strided_slice(te.placeholder((8, 9)), [6, 1], [0, -1], [-2, 3]).shape
    (3, 3)
    """
    begins, ends = list(begin), list(end)
    where = list(range(len(begins))) if axes is None else [axis_of(n, a.ndim) for n in axes]
    if len(where) != len(begins) or len(ends) != len(begins) or len(begins) > a.ndim:
        raise error(f"{len(begins)} begins, {len(ends)} ends for {a.ndim} dimensions", "slice")
    steps = [1] * len(begins) if strides is None else constants(strides, "strides")
    steps += steps[-1:] * (len(begins) - len(steps)) if len(steps) == 1 else [1] * (len(begins) - len(steps))
    if slice_mode not in ("end", "size"):
        raise error(f"slice_mode is 'end' or 'size', not {slice_mode!r}", "mode")
    offsets: dict[int, tuple[Expr, int]] = {}
    shape = list(a.shape)
    for n, b, e, step in zip(where, begins, ends, steps, strict=True):
        if slice_mode == "size":
            step = 1
            e = None if known(e) == -1 else ops.add(ops.index(0 if b is None else b), ops.index(e))
        start, count = _slice_bounds(a.shape[n], b, e, step)
        offsets[n] = (start, step)
        shape[n] = count

    def f(*i: Any) -> Any:
        return a(
            *[
                simplify(ops.add(ops.mul(v, offsets[n][1]), offsets[n][0])) if n in offsets else v
                for n, v in enumerate(i)
            ]
        )

    return injective(shape, f, "T_strided_slice" if axes is None else "T_strided_slice_with_axes")


def dynamic_strided_slice(a: Tensor, begin: Any, end: Any, strides: Any, output_shape: Any) -> Tensor:
    """``a[begin::stride]`` of a shape that is given: ``begin`` and ``strides`` may be 1-D tensors."""
    shape = te.operation.shape_of(output_shape)

    def entry(t: Any, n: int) -> Any:
        return ops.cast(t(n), a.shape[n].dtype) if isinstance(t, Tensor) else t[n]

    return injective(
        shape,
        lambda *i: a(*[ops.add(ops.mul(v, entry(strides, n)), entry(begin, n)) for n, v in enumerate(i)]),
        "T_strided_slice_dynamic",
    )


def strided_set(a: Tensor, v: Tensor, begin: Any, end: Any, strides: Any = None) -> Tensor:
    """``a`` with the slices ``begin:end:stride`` taken from ``v``."""
    count = a.ndim

    def entry(t: Any, n: int, default: Any) -> Any:
        if t is None:
            return default
        return ops.cast(t(n), a.shape[n].dtype) if isinstance(t, Tensor) else ops.index(t[n])

    def f(*i: Any) -> Any:
        inside: list[Any] = []
        place: list[Any] = []
        for n in range(count):
            size = a.shape[n]
            step = entry(strides, n, const_int(1, size.dtype))
            low, high = entry(begin, n, const_int(0, size.dtype)), entry(end, n, size)
            back = ops.lt(step, 0)

            def normal(x: Any, size: Expr = size) -> Any:
                return ops.select(ops.lt(x, 0), ops.add(x, size), x)

            low, high = normal(low), normal(high)
            inside.append(
                ops.select(
                    back,
                    ops.logical_and(ops.gt(i[n], high), ops.le(i[n], low)),
                    ops.logical_and(ops.ge(i[n], low), ops.lt(i[n], high)),
                )
            )
            inside.append(ops.eq(ops.floormod(ops.sub(i[n], low), step), 0))
            place.append(ops.floordiv(ops.sub(i[n], low), step))
        return ops.if_then_else(te.all(*inside), ops.cast(v(*place), a.dtype), a(*i))

    out: Tensor = te.compute(a.shape, f, name="strided_set", tag=f"{INJECTIVE},strided_set")
    return out


def sliding_window(data: Tensor, axis: int, window_shape: Any, strides: Any) -> Tensor:
    """Windows over the axes from ``axis`` on: their positions, then their elements."""
    at = axis_of(axis, data.ndim)
    window, steps = constants(window_shape, "window_shape"), constants(strides, "strides")
    if len(window) != data.ndim - at or len(steps) != len(window):
        raise error(f"{len(window)} windows and {len(steps)} strides for {data.ndim - at} axes", "arity")
    places = [
        extent(ops.add(ops.floordiv(ops.sub(n, w), s), 1))
        for n, w, s in zip(data.shape[at:], window, steps, strict=True)
    ]
    count = len(window)

    def f(*i: Any) -> Any:
        outer, place, inside = i[:at], i[at : at + count], i[at + count :]
        return data(
            *outer, *[ops.add(ops.mul(p, s), e) for p, s, e in zip(place, steps, inside, strict=True)]
        )

    kind = data.shape[at].dtype
    return injective(
        [*data.shape[:at], *places, *[const_int(w, kind) for w in window]], f, "T_sliding_window", ""
    )


def within_index(b: Any, e: Any, s: Any, i: Any) -> Any:
    """Whether index ``i`` is one of the slice ``b:e:s``."""
    forward = ops.logical_and(ops.ge(i, b), ops.lt(i, e))
    back = ops.logical_and(ops.le(i, b), ops.gt(i, e))
    return ops.logical_and(ops.select(ops.lt(s, 0), back, forward), ops.eq(ops.floormod(ops.sub(i, b), s), 0))


def make_idx(b: Any, e: Any, s: Any, z: Any, i: Any) -> Any:
    """The number in the slice ``b:e:s`` of index ``i`` of an axis of extent ``z``."""
    return ops.floordiv(ops.sub(i, b), s)


__all__ = [
    "concatenate", "dynamic_strided_slice", "make_idx", "sliding_window", "split", "stack",
    "strided_set", "strided_slice", "within_index",
]  # fmt: skip
