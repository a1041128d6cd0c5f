"""Operators that move elements: shapes, slices, joins, gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, FloatImm, IntImm, const_int
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import (
    axis_of,
    broadcast_index,
    broadcast_shapes,
    constant,
    constants,
    error,
    extent,
    flat_index,
    known,
    product,
    same,
    unflat_index,
)
from .tag import BROADCAST, INJECTIVE


def injective(shape: Sequence[Expr], f: Callable[..., Any], name: str, tag: str = INJECTIVE) -> Tensor:
    """A tensor whose axes are called ``ax0``, ``ax1`` and so on."""
    out: Tensor = te.compute(
        tuple(shape), f, name=name, tag=tag, varargs_names=[f"ax{n}" for n in range(len(shape))]
    )
    return out


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """The axes in another order; by default reversed.

    >>> from tirscript import te, topi
    >>> topi.transpose(te.placeholder((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3)
    """
    order = list(range(a.ndim))[::-1] if axes is None or (axes == [] and a.ndim) else [
        axis_of(n, a.ndim) for n in axes
    ]  # fmt: skip
    if sorted(order) != list(range(a.ndim)):
        raise error(f"{list(axes)} is no order of {a.ndim} axes", "axis")

    def f(*i: Any) -> Any:
        at: list[Any] = [None] * a.ndim
        for place, n in enumerate(order):
            at[n] = i[place]
        return a(*at)

    return injective([a.shape[n] for n in order], f, "T_transpose")


def expand_dims(a: Tensor, axis: Any, num_newaxis: int = 1) -> Tensor:
    """New axes of extent 1 before ``axis``."""
    at = axis_of(axis, a.ndim + 1)
    one = const_int(1, a.shape[0].dtype if a.shape else "int32")
    shape = [*a.shape[:at], *[one] * num_newaxis, *a.shape[at:]]
    return injective(shape, lambda *i: a(*i[:at], *i[at + num_newaxis :]), "T_expand_dims", BROADCAST)


def expand_like(a: Tensor, shape_like: Tensor, axis: Any) -> Tensor:
    """``a`` repeated along new axes, to the shape of another tensor."""
    axes = sorted([axis_of(n, shape_like.ndim) for n in constants(axis, "axis")])
    if a.ndim + len(axes) != shape_like.ndim and not (a.ndim == 1 and len(axes) == shape_like.ndim):
        raise error(f"{a.ndim} dimensions and {len(axes)} axes do not make {shape_like.ndim}", "axis")
    out: Tensor = te.compute(
        shape_like.shape, lambda *i: a(*[v for n, v in enumerate(i) if n not in axes][: a.ndim] or [0])
    )
    return out


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    """The tensor without axes of extent 1: all of them, or those that are given."""
    if axis is None:
        gone = [n for n, e in enumerate(a.shape) if known(e) == 1]
    else:
        gone = [axis_of(n, a.ndim) for n in constants(axis, "axis")]
        for n in gone:
            if known(a.shape[n]) not in (1, None):
                raise error(f"axis {n} has extent {a.shape[n]}, only 1 can be squeezed", "axis")
    kept = [n for n in range(a.ndim) if n not in gone]

    def f(*i: Any) -> Any:
        at: list[Any] = [const_int(0, e.dtype) for e in a.shape]
        for v, n in zip(i, kept, strict=True):
            at[n] = v
        return a(*at)

    return injective([a.shape[n] for n in kept], f, "T_squeeze")


def reshape(a: Tensor, newshape: Any) -> Tensor:
    """The elements in row-major order in another shape; one extent may be -1.

    >>> from tirscript import te, topi
    >>> topi.reshape(te.placeholder((4, 6)), (3, -1)).shape
    (3, 8)
    """
    wanted = [ops.index(n) for n in (newshape if isinstance(newshape, (tuple, list)) else [newshape])]
    total = product(a.shape)
    free = [n for n, e in enumerate(wanted) if known(e) == -1]
    if len(free) > 1:
        raise error("only one extent may be -1")
    if free:
        rest = product([e for e in wanted if known(e) != -1])
        if known(rest) == 0 or (
            known(total) is not None and known(rest) is not None and (known(total) or 0) % (known(rest) or 1)
        ):
            raise error(f"{total} elements do not divide into {rest}")
        wanted[free[0]] = simplify(ops.floordiv(total, rest))
    elif known(simplify(ops.sub(*ops.promote(product(wanted), total)))) not in (0, None):
        raise error(f"shape {list(a.shape)} has {total} elements, {wanted} has {product(wanted)}")
    shape = te.operation.shape_of(wanted)
    if known(total) == 0:
        return injective(shape, lambda *i: ops.const(0, a.dtype), "T_reshape")

    def f(*i: Any) -> Any:
        return a(*_simple(unflat_index(flat_index(i, shape), a.shape), i, shape))

    return injective(shape, f, "T_reshape")


def _simple(index: list[Expr], axes: Sequence[Any], shape: Sequence[Expr]) -> list[Expr]:
    """Indices simplified where the axes run over their extents."""
    from tirscript.arith import Analyzer
    from tirscript.ir.expr import Range, Var

    analyzer = Analyzer()
    for v, n in zip(axes, shape, strict=True):
        if isinstance(v, Var):
            analyzer.bind(v, Range(const_int(0, n.dtype), n))
    return [analyzer.simplify(e) for e in index]


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


def repeat(a: Tensor, repeats: int, axis: int) -> Tensor:
    """Each part along an axis several times."""
    at = axis_of(axis, a.ndim)
    count = constant(repeats, "repeats")
    shape = [*a.shape[:at], extent(ops.mul(a.shape[at], count)), *a.shape[at + 1 :]]
    return injective(
        shape, lambda *i: a(*i[:at], ops.floordiv(i[at], count), *i[at + 1 :]), "T_repeat", BROADCAST
    )


def tile(a: Tensor, reps: Any) -> Tensor:
    """The whole tensor several times along each axis, as ``numpy.tile``."""
    counts = [ops.index(r) for r in (reps if isinstance(reps, (list, tuple)) else [reps])]
    lead = max(0, len(counts) - a.ndim)
    counts = [const_int(1)] * (a.ndim - len(counts)) + counts
    own = [const_int(1)] * lead + list(a.shape)
    shape = [extent(ops.mul(*ops.promote(n, r))) for n, r in zip(own, counts, strict=True)]
    return injective(
        shape,
        lambda *i: a(
            *[
                v if known(r) == 1 else ops.floormod(v, n)
                for v, n, r in zip(i[lead:], a.shape, counts[lead:], strict=True)
            ]
        ),
        "T_tile", BROADCAST,
    )  # fmt: skip


def flip(a: Tensor, axis: int = 0) -> Tensor:
    """The order along an axis reversed."""
    at = axis_of(axis, a.ndim)
    top = extent(ops.sub(a.shape[at], 1))
    return injective(a.shape, lambda *i: a(*i[:at], ops.sub(top, i[at]), *i[at + 1 :]), "T_reverse_sequence")


def reverse_sequence(a: Tensor, seq_lengths: Tensor, seq_axis: int = 1, batch_axis: int = 0) -> Tensor:
    """The first ``seq_lengths[b]`` elements along ``seq_axis`` of each batch reversed."""
    at, batch = axis_of(seq_axis, a.ndim), axis_of(batch_axis, a.ndim)

    def f(*i: Any) -> Any:
        length = ops.cast(seq_lengths(i[batch]), a.shape[at].dtype)
        end = ops.select(ops.le(length, 1), 1, length)
        place = ops.if_then_else(ops.lt(i[at], end), ops.sub(ops.sub(end, 1), i[at]), i[at])
        return a(*i[:at], place, *i[at + 1 :])

    return injective(a.shape, f, "T_reverse_sequence")


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
    return low, extent(count_of)


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


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "float32") -> Tensor:
    """Numbers from ``start`` up to ``stop`` (not included) by ``step``; with one number from 0.

    >>> from tirscript import topi
    >>> topi.arange(2, 9, 3, "int32").shape
    (3,)
    """
    kind = read_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    first, last, by = (ops.as_expr(e) for e in (start, stop, step))
    values: list[Any] = [e.value for e in (first, last, by) if isinstance(e, (IntImm, FloatImm))]
    if len(values) == 3:
        if values[2] == 0:
            raise error("the step of arange is not 0", "slice")
        count: Expr = const_int(max(0, -int(-(values[1] - values[0]) // values[2])))
    else:
        sign = known(by)
        if sign is None or any(not dt.is_int(e.dtype) for e in (first, last)):
            raise error("the extent of arange must follow from integers and a constant step", "not-constant")
        gap = ops.sub(last, first) if sign > 0 else ops.sub(first, last)
        magnitude = sign if sign > 0 else -sign
        count = extent(ops.floordiv(ops.add(gap, magnitude - 1), magnitude))
    return injective(
        [count],
        lambda i: ops.cast(
            ops.add(ops.cast(first, kind), ops.mul(ops.cast(by, kind), ops.cast(i, kind))), kind
        ),
        "T_arange",
    )


def meshgrid(a_tuple: Sequence[Tensor], indexing: str = "ij") -> list[Tensor]:
    """A grid for each of several vectors; ``indexing`` is ``ij`` or ``xy`` (the first two exchanged)."""
    vectors = list(a_tuple)
    if indexing not in ("ij", "xy"):
        raise error(f"indexing is 'ij' or 'xy', not {indexing!r}", "mode")
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    one = const_int(1)
    shape = [vectors[n].shape[0] if vectors[n].ndim else one for n in order]
    return [
        injective(shape, lambda *i, t=t, at=at: t(i[at]) if t.ndim else t(), "T_meshgrid")
        for t, at in zip(vectors, sorted(range(len(order)), key=order.__getitem__), strict=True)
    ]


def shape(array: Tensor, dtype: Any = "int32") -> Tensor:
    """The shape as a vector."""
    kind = read_dtype(dtype)

    def f(i: Any) -> Any:
        out: Expr = ops.const(0, kind)
        for n in range(array.ndim - 1, -1, -1):
            out = ops.if_then_else(ops.eq(i, n), ops.cast(array.shape[n], kind), out)
        return out

    return injective([const_int(array.ndim)], lambda *i: f(i[0]), "T_shape")


def tensor_size(array: Tensor, dtype: Any = "int32") -> Tensor:
    """The number of elements."""
    kind = read_dtype(dtype)
    out: Tensor = te.compute(
        (), lambda: ops.cast(product(array.shape), kind), name="tensor_size", tag=INJECTIVE
    )
    return out


ndarray_size = tensor_size


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


def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = "float32") -> Tensor:
    """Ones on the diagonal number ``k``, zeros elsewhere."""
    kind = read_dtype(dtype)
    columns = n if m is None else m
    one, zero = ops.const(1, kind), ops.const(0, kind)
    out: Tensor = te.compute(
        (n, columns), lambda i, j: ops.select(ops.eq(ops.sub(j, i), k), one, zero), name="eye"
    )
    return out


def trilu(data: Tensor, k: Any, upper: bool) -> Tensor:
    """The upper (or lower) triangle of the last two axes, from diagonal ``k``; zeros elsewhere."""
    if data.ndim < 2:
        raise error("a triangle has at least two axes", "axis")
    zero = ops.const(0, data.dtype)

    def f(*i: Any) -> Any:
        gap = ops.sub(i[-1], i[-2])
        keep = ops.ge(gap, k) if upper else ops.le(gap, k)
        return ops.select(keep, data(*i), zero)

    out: Tensor = te.compute(data.shape, f, name="trilu", tag="elemwise")
    return out


def matrix_set_diag(data: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """The matrices of the last two axes with diagonals replaced.

    ``k`` is one diagonal, or the lowest and the highest of a band, whose rows ``diagonal`` holds from the
    highest to the lowest; ``align`` says where shorter ones stand: superdiagonals first, then subdiagonals.
    """
    ks = constants(k, "k")
    low, high = ks[0], ks[-1]
    if low > high or align not in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise error(f"no band of diagonals from {low} to {high}, aligned {align}", "mode")
    upper_right, lower_right = align.startswith("RIGHT"), align.endswith("RIGHT")
    one_row = low == high and diagonal.ndim == data.ndim - 1
    rows, columns = data.shape[-2], data.shape[-1]
    longest = diagonal.shape[-1]

    def f(*i: Any) -> Any:
        *batch, r, c = i
        gap = ops.sub(c, r)
        along = ops.select(ops.ge(gap, 0), r, c)
        if one_row:
            place = [*batch, along]
        else:
            below = T.min(ops.add(rows, T.min(gap, 0)), ops.sub(columns, T.max(gap, 0)))
            shift = ops.sub(longest, below)
            right = ops.select(ops.ge(gap, 0), upper_right, lower_right)
            place = [*batch, ops.sub(high, gap), ops.add(along, ops.select(right, shift, 0))]
        inside = ops.logical_and(ops.ge(gap, low), ops.le(gap, high))
        return ops.if_then_else(inside, diagonal(*place), data(*i))

    return injective(data.shape, f, "T_matrix_set_diag")


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


def layout_transform(array: Tensor, src_layout: str, dst_layout: str, schedule_rule: str = "None") -> Tensor:
    """The elements in another layout, like ``NCHW`` to ``NCHW4c``: capital letters are axes, small ones the
    inner parts of them with their extents; what an extent does not fill is zero."""
    if src_layout == dst_layout:
        return array
    source, target = _layout(src_layout), _layout(dst_layout)
    if {a for a, _ in source if a.isupper()} != {a for a, _ in target if a.isupper()}:
        raise error(f"layouts {src_layout} and {dst_layout} differ in their axes", "layout")
    if len(source) != array.ndim:
        raise error(f"layout {src_layout} is not one of {array.ndim} dimensions", "layout")
    kind = array.shape[0].dtype if array.shape else "int32"
    sizes: dict[str, Expr] = {}  # of whole axes
    for (a, _), n in zip(source, array.shape, strict=True):
        if a.isupper():
            part = next((f for b, f in source if b == a.lower()), 1)
            sizes[a] = extent(ops.mul(n, part))
    shape: list[Expr] = []
    for a, size in target:
        if a.islower():
            shape.append(const_int(size, kind))
        else:
            part = next((g for b, g in target if b == a.lower()), 1)
            shape.append(extent(ops.floordiv(ops.add(sizes[a], part - 1), part)))
    exact = all(known(ops.floormod(sizes[a.upper()], part)) == 0 for a, part in target if a.islower())

    def f(*i: Any) -> Any:
        whole: dict[str, Any] = {}
        for (a, _), v in zip(target, i, strict=True):
            if a.isupper():
                part = next((g for b, g in target if b == a.lower()), 1)
                whole[a] = ops.add(whole.get(a, const_int(0, kind)), ops.mul(v, part))
            else:
                whole[a.upper()] = ops.add(whole.get(a.upper(), const_int(0, kind)), v)
        at = []
        for a, n in source:
            part = next((g for b, g in source if b == a.lower()), 1)
            at.append(ops.floordiv(whole[a], part) if a.isupper() else ops.floormod(whole[a.upper()], n))
        at = _simple([simplify(e) for e in at], i, shape)
        if exact:
            return array(*at)
        inside = te.all(*[ops.lt(whole[a], sizes[a]) for a in sizes])
        return ops.if_then_else(inside, array(*at), ops.const(0, array.dtype))

    out: Tensor = te.compute(
        tuple(shape), f, name="T_layout_trans", tag=INJECTIVE,
        attrs={
            "schedule_rule": schedule_rule, "src_layout": src_layout, "dst_layout": dst_layout,
            "input_shape": [known(n) if known(n) is not None else repr(n) for n in array.shape],
        },
        varargs_names=[f"ax{n}" for n in range(len(shape))],
    )  # fmt: skip
    return out


def _layout(text: str) -> list[tuple[str, int]]:
    """The axes of a layout: letters, with the extents of the small ones."""
    out: list[tuple[str, int]] = []
    digits = ""
    for c in text:
        if c.isdigit():
            digits += c
        elif c.isalpha():
            if c.islower() != bool(digits):
                raise error(
                    f"layout {text}: a small letter, and only that, has an extent before it", "layout"
                )
            out.append((c, int(digits) if digits else 0))
            digits = ""
        else:
            raise error(f"layout {text}: {c!r} is no axis", "layout")
    letters = [a for a, _ in out]
    if digits or len(set(letters)) != len(letters):
        raise error(f"layout {text} names an axis twice, or none", "layout")
    if any(a.islower() and a.upper() not in letters for a in letters):
        raise error(f"layout {text} splits an axis that it does not hold", "layout")
    return out


def const_vector(vector: Any, name: str = "const_vector") -> Tensor:
    """A vector of known numbers."""
    import numpy as np

    values = np.asarray(vector)
    if values.ndim != 1:
        raise error(f"a vector is wanted, this has {values.ndim} dimensions")
    kind = str(values.dtype)

    def f(i: Any) -> Any:
        out: Expr = ops.const(values[-1].item(), kind) if len(values) else ops.const(0, kind)
        for n in range(len(values) - 2, -1, -1):
            out = ops.select(ops.eq(i, n), ops.const(values[n].item(), kind), out)
        return out

    result: Tensor = te.compute((len(values),), f, name=name)
    return result


def within_index(b: Any, e: Any, s: Any, i: Any) -> Any:
    """Whether index ``i`` is one of the slice ``b:e:s``."""
    forward = ops.logical_and(ops.ge(i, b), ops.lt(i, e))
    back = ops.logical_and(ops.le(i, b), ops.gt(i, e))
    return ops.logical_and(ops.select(ops.lt(s, 0), back, forward), ops.eq(ops.floormod(ops.sub(i, b), s), 0))


def make_idx(b: Any, e: Any, s: Any, z: Any, i: Any) -> Any:
    """The number in the slice ``b:e:s`` of index ``i`` of an axis of extent ``z``."""
    return ops.floordiv(ops.sub(i, b), s)


__all__ = [
    "adv_index", "arange", "concatenate", "const_vector", "dynamic_strided_slice", "expand_dims",
    "expand_like", "eye", "flip", "gather", "gather_nd", "index_tensor", "layout_transform", "make_idx",
    "matrix_set_diag", "meshgrid", "ndarray_size", "one_hot", "repeat", "reshape", "reverse_sequence",
    "sequence_mask", "shape", "sliding_window", "sparse_to_dense", "split", "squeeze", "stack",
    "strided_set", "strided_slice", "take", "tensor_size", "tile", "transpose", "trilu",
    "unravel_index", "where", "within_index",
]  # fmt: skip
