"""Padding, dilation, and blocks of space moved to channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.te import Tensor

from ..shapes import constant, constants, error, extent, known
from ..transform import reshape, transpose


def get_const_tuple(in_tuple: Sequence[Any]) -> tuple[Any, ...]:
    """The extents as ints, where they are constants."""
    return tuple([known(e) if known(e) is not None else e for e in in_tuple])


def get_const_int(expr: Any) -> int:
    """The value of a constant."""
    return constant(expr, "the value")


def equal_const_int(expr: Any, value: int) -> bool:
    """Whether an expression is this constant."""
    return known(expr) == value


def get_pad_tuple_generic(padding: Any, kernel: Sequence[Any]) -> tuple[list[int], list[int]]:
    """The padding before and after each axis: a number, one for each axis, or two for each; ``"SAME"`` keeps
    the extent of stride 1 and ``"VALID"`` adds nothing.

    >>> get_pad_tuple_generic("SAME", (3, 4)), get_pad_tuple_generic((1, 2), (3, 3))
    (([1, 1], [1, 2]), ([1, 2], [1, 2]))
    """
    count = len(kernel)
    if isinstance(padding, str):
        if padding == "VALID":
            return [0] * count, [0] * count
        if padding == "SAME":
            total = [constant(k, "the kernel's extent") - 1 for k in kernel]
            return [n // 2 for n in total], [n - n // 2 for n in total]
        raise error(f"padding is numbers, 'SAME' or 'VALID', not {padding!r}", "padding")
    given = constants(padding, "padding")
    if len(given) == 1:
        return given * count, given * count
    if len(given) == count:
        return given, given
    if len(given) == 2 * count:
        return given[:count], given[count:]
    raise error(f"{len(given)} paddings for {count} axes", "padding")


def get_pad_tuple(padding: Any, kernel: Sequence[Any]) -> tuple[int, int, int, int]:
    """The padding at top, left, bottom and right."""
    before, after = get_pad_tuple_generic(padding, kernel)
    return before[0], before[1], after[0], after[1]


def get_pad_tuple1d(padding: Any, kernel: Sequence[Any]) -> tuple[int, int]:
    """The padding at left and right."""
    before, after = get_pad_tuple_generic(padding, kernel)
    return before[0], after[0]


def get_pad_tuple3d(padding: Any, kernel: Sequence[Any]) -> tuple[int, ...]:
    """The padding at front, top, left, back, bottom and right."""
    before, after = get_pad_tuple_generic(padding, kernel)
    return (*before, *after)


def _widths(data: Tensor, before: Any, after: Any) -> tuple[list[Any], list[Any]]:
    low = list(before)
    high = low if after is None else list(after)
    if len(low) != data.ndim or len(high) != data.ndim:
        raise error(f"{len(low)} and {len(high)} paddings for {data.ndim} axes", "padding")
    return low, high


def get_padded_shape(data: Tensor, pad_before: Any, pad_after: Any = None) -> tuple[Expr, ...]:
    """The shape with the padding."""
    low, high = _widths(data, pad_before, pad_after)
    return tuple([extent(ops.add(ops.add(n, a), b)) for n, a, b in zip(data.shape, low, high, strict=True)])


def pad(
    data: Tensor,
    pad_before: Any,
    pad_after: Any = None,
    pad_value: Any = 0.0,
    name: str = "PadInput",
    attrs: Any = None,
) -> Tensor:
    """The tensor with a border of ``pad_value`` (negative widths cut away).

    >>> from tirscript import te, topi
    >>> topi.nn.pad(te.placeholder((1, 4)), (0, 1), (0, 2)).shape
    (1, 7)
    """
    low, high = _widths(data, pad_before, pad_after)
    shape = get_padded_shape(data, low, high)
    value = ops.cast(ops.as_expr(pad_value), data.dtype)

    def f(*i: Any) -> Any:
        at, inside = [], []
        for v, n, a, b in zip(i, data.shape, low, high, strict=True):
            if known(a) == 0 and known(b) == 0:
                at.append(v)
                continue
            at.append(v if known(a) == 0 else simplify(ops.sub(v, a)))
            if known(a) is None or (known(a) or 0) > 0:
                inside.append(ops.le(*ops.promote(a, v)))
            if known(b) is None or (known(b) or 0) > 0:
                inside.append(ops.lt(v, extent(ops.add(n, a))))
        return ops.if_then_else(te.all(*inside), data(*at), value) if inside else data(*at)

    out: Tensor = te.compute(shape, f, name=name, tag="injective,pad", attrs=attrs)
    return out


def _mirrored(data: Tensor, before: Any, after: Any, name: str, place: Any) -> Tensor:
    low, high = _widths(data, before, after)
    shape = get_padded_shape(data, low, high)

    def f(*i: Any) -> Any:
        return data(
            *[
                v if known(a) == 0 and known(b) == 0 else simplify(place(ops.sub(v, a), n))
                for v, n, a, b in zip(i, data.shape, low, high, strict=True)
            ]
        )

    out: Tensor = te.compute(shape, f, name=name, tag="injective,pad")
    return out


def mirror_pad(
    data: Tensor,
    pad_before: Any,
    pad_after: Any = None,
    mode: str = "SYMMETRIC",
    name: str = "MirrorPadInput",
) -> Tensor:
    """The tensor with its own image as border: ``SYMMETRIC`` repeats the edge, ``REFLECT`` does not."""
    if mode not in ("SYMMETRIC", "REFLECT"):
        raise error(f"mode is 'SYMMETRIC' or 'REFLECT', not {mode!r}", "mode")
    edge = 1 if mode == "SYMMETRIC" else 0

    def place(x: Expr, n: Expr) -> Expr:
        back = ops.sub(ops.sub(ops.mul(n, 2), x), 1 + (1 - edge))
        front = ops.sub(ops.neg(x), edge)
        return ops.select(ops.lt(x, 0), front, ops.select(ops.ge(x, n), back, x))

    return _mirrored(data, pad_before, pad_after, name, place)


def reflect_pad(
    data: Tensor, pad_before: Any, pad_after: Any = None, name: str = "ReflectPadInput"
) -> Tensor:
    """The tensor with its image, without the edge, as border."""
    return mirror_pad(data, pad_before, pad_after, "REFLECT", name)


def replicate_pad(
    data: Tensor, pad_before: Any, pad_after: Any = None, name: str = "ReplicatePadInput"
) -> Tensor:
    """The tensor with its edge repeated as border."""
    return _mirrored(
        data, pad_before, pad_after, name, lambda x, n: T.max(T.min(x, ops.sub(n, 1)), ops.const(0, x.dtype))
    )


def circular_pad(
    data: Tensor, pad_before: Any, pad_after: Any = None, name: str = "CircularPadInput"
) -> Tensor:
    """The tensor with its other end as border."""
    return _mirrored(data, pad_before, pad_after, name, ops.floormod)


def dilate(
    data: Tensor,
    strides: Any,
    dilation_value: Any = 0.0,
    name: str = "DilatedInput",
) -> Tensor:
    """The elements ``strides`` apart, with ``dilation_value`` between them."""
    steps = constants(strides, "strides")
    if len(steps) != data.ndim or min(steps) < 1:
        raise error(f"strides {steps} for {data.ndim} axes", "strides")
    shape = [
        extent(ops.add(ops.mul(ops.sub(n, 1), s), 1)) if known(n) != 0 else n
        for n, s in zip(data.shape, steps, strict=True)
    ]
    value = ops.cast(ops.as_expr(dilation_value), data.dtype)

    def f(*i: Any) -> Any:
        inside = [ops.eq(ops.floormod(v, s), 0) for v, s in zip(i, steps, strict=True) if s != 1]
        at = [v if s == 1 else ops.floordiv(v, s) for v, s in zip(i, steps, strict=True)]
        return ops.if_then_else(te.all(*inside), data(*at), value) if inside else data(*at)

    out: Tensor = te.compute(tuple(shape), f, name=name, tag="injective,dilate")
    return out


def flatten(data: Tensor) -> Tensor:
    """All axes but the first as one."""
    if data.ndim < 1:
        raise error("flatten takes at least one axis", "axis")
    from ..shapes import product, unflat_index

    rest = product(data.shape[1:]) if data.ndim > 1 else ops.const(1, data.shape[0].dtype)

    def f(i: Any, j: Any) -> Any:
        return data(i, *(unflat_index(j, data.shape[1:]) if data.ndim > 1 else ()))

    out: Tensor = te.compute((data.shape[0], rest), f, tag="injective")
    return out


def space_to_depth(data: Tensor, block_size: int, layout: str = "NCHW") -> Tensor:
    """Squares of ``block_size`` moved to channels."""
    b = constant(block_size, "block_size")
    n, c, h, w = _nchw(data, layout)
    shape = [n, extent(ops.mul(c, b * b)), extent(ops.floordiv(h, b)), extent(ops.floordiv(w, b))]

    def f(i0: Any, i1: Any, i2: Any, i3: Any) -> Any:
        y, x, ch = (i2, i3, i1) if layout == "NCHW" else (i1, i2, i3)
        block = ops.floordiv(ch, c)
        at_y = ops.add(ops.mul(y, b), ops.floordiv(block, b))
        at_x = ops.add(ops.mul(x, b), ops.floormod(block, b))
        return _read(data, layout, i0, ops.floormod(ch, c), at_y, at_x)

    out: Tensor = te.compute(_ordered(shape, layout), f, name="space_to_depth", tag="injective")
    return out


def depth_to_space(data: Tensor, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> Tensor:
    """Channels moved to squares of ``block_size``; ``mode`` is ``DCR`` or ``CRD``, as ONNX has it."""
    b = constant(block_size, "block_size")
    if mode not in ("DCR", "CRD"):
        raise error(f"mode is 'DCR' or 'CRD', not {mode!r}", "mode")
    n, c, h, w = _nchw(data, layout)
    channels = extent(ops.floordiv(c, b * b))
    shape = [n, channels, extent(ops.mul(h, b)), extent(ops.mul(w, b))]

    def f(i0: Any, i1: Any, i2: Any, i3: Any) -> Any:
        y, x, ch = (i2, i3, i1) if layout == "NCHW" else (i1, i2, i3)
        block = ops.add(ops.mul(ops.floormod(y, b), b), ops.floormod(x, b))
        deep = ops.add(ops.mul(block, channels), ch) if mode == "DCR" else ops.add(ops.mul(ch, b * b), block)
        return _read(data, layout, i0, deep, ops.floordiv(y, b), ops.floordiv(x, b))

    out: Tensor = te.compute(_ordered(shape, layout), f, name="depth_to_space", tag="injective")
    return out


def _nchw(data: Tensor, layout: str) -> tuple[Expr, Expr, Expr, Expr]:
    if layout not in ("NCHW", "NHWC") or data.ndim != 4:
        raise error(f"layout {layout} of {data.ndim} dimensions", "layout")
    a, b, c, d = data.shape
    return (a, b, c, d) if layout == "NCHW" else (a, d, b, c)


def _ordered(shape: Sequence[Expr], layout: str) -> tuple[Expr, ...]:
    n, c, h, w = shape
    return (n, c, h, w) if layout == "NCHW" else (n, h, w, c)


def _read(data: Tensor, layout: str, n: Any, c: Any, h: Any, w: Any) -> Expr:
    return data(n, c, h, w) if layout == "NCHW" else data(n, h, w, c)


def space_to_batch_nd(
    data: Tensor, block_shape: Any, pad_before: Any, pad_after: Any, pad_value: Any = 0.0
) -> Tensor:
    """The axes after the first padded, and cut into blocks whose elements go to the batch axis."""
    blocks = constants(block_shape, "block_shape")
    rest = data.ndim - 1 - len(blocks)
    padded = pad(
        data, [0, *constants(pad_before, "pad_before"), *[0] * rest],
        [0, *constants(pad_after, "pad_after"), *[0] * rest], pad_value,
    )  # fmt: skip
    shape: list[Any] = [padded.shape[0]]
    for n, b in zip(padded.shape[1:], blocks, strict=False):
        shape += [extent(ops.floordiv(n, b)), b]
    shape += padded.shape[1 + len(blocks) :]
    inner = [2 * n + 2 for n in range(len(blocks))]
    outer = [2 * n + 1 for n in range(len(blocks))]
    moved = transpose(reshape(padded, shape), [*inner, 0, *outer, *range(1 + 2 * len(blocks), len(shape))])
    batch: Any = extent(ops.mul(padded.shape[0], math.prod(blocks)))
    return reshape(moved, [batch, *[shape[n] for n in outer], *padded.shape[1 + len(blocks) :]])


def batch_to_space_nd(data: Tensor, block_shape: Any, crop_begin_list: Any, crop_end_list: Any) -> Tensor:
    """The inverse of ``space_to_batch_nd``: blocks back from the batch axis, then cropped."""
    from ..slicing import strided_slice

    blocks = constants(block_shape, "block_shape")
    total = math.prod(blocks)
    batch = extent(ops.floordiv(data.shape[0], total))
    count = len(blocks)
    parts = reshape(data, [*blocks, batch, *data.shape[1:]])
    order = [count]
    for n in range(count):
        order += [count + 1 + n, n]
    order += list(range(2 * count + 1, parts.ndim))
    whole = [extent(ops.mul(n, b)) for n, b in zip(data.shape[1:], blocks, strict=False)]
    joined = reshape(transpose(parts, order), [batch, *whole, *data.shape[1 + count :]])
    begins = [0, *constants(crop_begin_list, "crop_begin_list")]
    ends: list[Any] = [batch]
    for size, cut in zip(whole, constants(crop_end_list, "crop_end_list"), strict=True):
        ends.append(extent(ops.sub(size, cut)))
    return strided_slice(joined, begins, ends)


__all__ = [
    "batch_to_space_nd", "circular_pad", "depth_to_space", "dilate", "equal_const_int", "flatten",
    "get_const_int", "get_const_tuple", "get_pad_tuple", "get_pad_tuple1d", "get_pad_tuple3d",
    "get_pad_tuple_generic", "get_padded_shape", "mirror_pad", "pad", "reflect_pad", "replicate_pad",
    "space_to_batch_nd", "space_to_depth",
]  # fmt: skip
