"""Images read at places that are data, and grey-scale dilation."""

from __future__ import annotations

from typing import Any

from tirscript import te
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from ..nn.padding import get_pad_tuple_generic, pad
from ..shapes import constants, error, extent
from .interpolation import cubic_weights


def affine_grid(data: Tensor, target_shape: Any, align_corners: bool = True) -> Tensor:
    """The places (x, y) in [-1, 1] that affine maps of (N, 2, 3) give to the pixels of an image."""
    height, width = (ops.index(n) for n in target_shape)

    def along(i: Any, n: Expr) -> Expr:
        at, size = ops.cast(i, data.dtype), ops.cast(n, data.dtype)
        one, two = ops.const(1.0, data.dtype), ops.const(2.0, data.dtype)
        if align_corners:
            return ops.sub(ops.div(ops.mul(at, two), ops.sub(size, one)), one)
        return ops.sub(ops.div(ops.add(ops.mul(at, two), one), size), one)

    def f(n: Any, c: Any, y: Any, x: Any) -> Any:
        left = ops.mul(data(n, c, 0), along(x, width))
        return ops.add(ops.add(left, ops.mul(data(n, c, 1), along(y, height))), data(n, c, 2))

    out: Tensor = te.compute((data.shape[0], 2, height, width), f, name="affine_grid", tag="affine_grid")
    return out


def grid_sample(
    data: Tensor,
    grid: Tensor,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = True,
) -> Tensor:
    """(N, C, H, W) read at the places (x, y) in [-1, 1] that ``grid`` (N, 2, H, W) holds.

    ``method`` is ``bilinear``, ``nearest`` or ``bicubic``; ``padding_mode`` is ``zeros``, ``border`` or
    ``reflection``; all as PyTorch has them.
    """
    if layout != "NCHW" or data.ndim != 4 or grid.ndim != 4:
        raise error(f"layout {layout} of {data.ndim} dimensions", "layout")
    modes = ("zeros", "border", "reflection")
    if method not in ("bilinear", "nearest", "bicubic") or padding_mode not in modes:
        raise error(f"method {method!r}, padding_mode {padding_mode!r}", "mode")
    height, width = data.shape[2], data.shape[3]
    kind = "float64" if data.dtype == "float64" else "float32"
    one, half, two = (ops.const(v, kind) for v in (1.0, 0.5, 2.0))

    def place(v: Expr, n: Expr) -> Expr:
        size = ops.cast(n, kind)
        v = ops.cast(v, kind)
        if align_corners:
            return ops.mul(ops.div(ops.add(v, one), two), ops.sub(size, one))
        return ops.div(ops.sub(ops.mul(ops.add(v, one), size), one), two)

    def folded(v: Expr, n: Expr) -> Expr:
        """A place inside the image, for modes that have none outside."""
        size = ops.cast(n, kind)
        top = ops.sub(size, one)
        zero = ops.const(0.0, kind)
        if padding_mode == "reflection":
            low, span = (zero, top) if align_corners else (ops.neg(half), size)
            gap = T.abs(ops.sub(v, low))
            safe = T.max(span, ops.const(1e-30, kind))
            turns = ops.math_call("floor", ops.div(gap, safe))
            rest = ops.sub(gap, ops.mul(turns, span))
            even = ops.eq(ops.math_call("fmod", turns, two), zero)
            v = ops.select(even, ops.add(rest, low), ops.add(ops.sub(span, rest), low))
        return T.max(T.min(v, top), zero)

    def read(n: Any, c: Any, y: Expr, x: Expr) -> Expr:
        yi, xi = ops.cast(y, height.dtype), ops.cast(x, width.dtype)
        inside = te.all(
            ops.ge(y, 0.0), ops.le(y, ops.sub(ops.cast(height, kind), one)),
            ops.ge(x, 0.0), ops.le(x, ops.sub(ops.cast(width, kind), one)),
        )  # fmt: skip
        return ops.if_then_else(inside, ops.cast(data(n, c, yi, xi), kind), ops.const(0.0, kind))

    def cell(n: Any, c: Any, y: Expr, x: Expr) -> Expr:
        if padding_mode != "zeros":
            y, x = folded(y, height), folded(x, width)
        return read(n, c, y, x)

    def f(n: Any, c: Any, h: Any, w: Any) -> Any:
        x, y = place(grid(n, 0, h, w), width), place(grid(n, 1, h, w), height)
        if method != "bicubic" and padding_mode != "zeros":
            x, y = folded(x, width), folded(y, height)
        if method == "nearest":
            near_y, near_x = ops.math_call("nearbyint", y), ops.math_call("nearbyint", x)
            return ops.cast(cell(n, c, near_y, near_x), data.dtype)
        low_x, low_y = ops.math_call("floor", x), ops.math_call("floor", y)
        tx, ty = ops.sub(x, low_x), ops.sub(y, low_y)
        if method == "bilinear":
            steps: tuple[int, ...] = (0, 1)
            wx, wy = [ops.sub(one, tx), tx], [ops.sub(one, ty), ty]
        else:
            steps = (-1, 0, 1, 2)
            wx = [ops.cast(v, kind) for v in cubic_weights(ops.cast(tx, "float32"), -0.75)]
            wy = [ops.cast(v, kind) for v in cubic_weights(ops.cast(ty, "float32"), -0.75)]
        total: Any = None
        for sy, b in zip(steps, wy, strict=True):
            for sx, a in zip(steps, wx, strict=True):
                at_y = ops.add(low_y, ops.const(float(sy), kind))
                at_x = ops.add(low_x, ops.const(float(sx), kind))
                term = ops.mul(cell(n, c, at_y, at_x), ops.mul(a, b))
                total = term if total is None else ops.add(total, term)
        return ops.cast(total, data.dtype)

    shape = (data.shape[0], data.shape[1], grid.shape[2], grid.shape[3])
    out: Tensor = te.compute(shape, f, tag="grid_sample")
    return out


def crop_and_resize(
    data: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: Any,
    layout: str = "NCHW",
    method: str = "bilinear",
    extrapolation_value: float | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """Boxes (y1, x1, y2, x2 in [0, 1]) of the images that ``box_indices`` names, in one size."""
    if layout not in ("NCHW", "NHWC") or method not in ("bilinear", "nearest_neighbor"):
        raise error(f"layout {layout!r}, method {method!r}", "mode")
    high, wide = constants(crop_size, "crop_size")
    first = layout == "NCHW"
    channels, h, w = (data.shape[1:]) if first else (data.shape[3], data.shape[1], data.shape[2])
    kind = data.dtype if out_dtype in (None, "") else read_dtype(out_dtype)
    beyond = ops.const(float(extrapolation_value or 0.0), "float32")

    def place(low: Expr, top: Expr, i: Any, n: Expr, count: int) -> Expr:
        size = ops.sub(ops.cast(n, "float32"), ops.const(1.0, "float32"))
        if count == 1:
            return ops.mul(ops.mul(ops.const(0.5, "float32"), ops.add(low, top)), size)
        step = ops.div(ops.mul(ops.sub(top, low), size), ops.const(float(count - 1), "float32"))
        return ops.add(ops.mul(low, size), ops.mul(ops.cast(i, "float32"), step))

    def f(*i: Any) -> Any:
        b, c, y, x = (i[0], i[1], i[2], i[3]) if first else (i[0], i[3], i[1], i[2])
        box = [ops.cast(boxes(b, k), "float32") for k in range(4)]
        at_y, at_x = place(box[0], box[2], y, h, high), place(box[1], box[3], x, w, wide)
        image = ops.cast(box_indices(b), data.shape[0].dtype)

        def read(v: Expr, u: Expr) -> Expr:
            yi = T.max(T.min(ops.cast(v, h.dtype), ops.sub(h, 1)), ops.const(0, h.dtype))
            xi = T.max(T.min(ops.cast(u, w.dtype), ops.sub(w, 1)), ops.const(0, w.dtype))
            return ops.cast(data(image, c, yi, xi) if first else data(image, yi, xi, c), "float32")

        zero, one = ops.const(0.0, "float32"), ops.const(1.0, "float32")
        if method == "nearest_neighbor":
            half = ops.const(0.5, "float32")
            near = [ops.math_call("floor", ops.add(v, half)) for v in (at_y, at_x)]
            value = read(near[0], near[1])
        else:
            low_y, low_x = ops.math_call("floor", at_y), ops.math_call("floor", at_x)
            ty, tx = ops.sub(at_y, low_y), ops.sub(at_x, low_x)
            next_y, next_x = ops.add(low_y, one), ops.add(low_x, one)
            rows = [
                ops.add(ops.mul(read(v, low_x), ops.sub(one, tx)), ops.mul(read(v, next_x), tx))
                for v in (low_y, next_y)
            ]
            value = ops.add(ops.mul(rows[0], ops.sub(one, ty)), ops.mul(rows[1], ty))
        out = te.any(
            ops.lt(at_y, zero), ops.gt(at_y, ops.cast(ops.sub(h, 1), "float32")),
            ops.lt(at_x, zero), ops.gt(at_x, ops.cast(ops.sub(w, 1), "float32")),
        )  # fmt: skip
        return ops.cast(ops.if_then_else(out, beyond, value), kind)

    count = boxes.shape[0]
    shape = (count, channels, high, wide) if first else (count, high, wide, channels)
    result: Tensor = te.compute(shape, f, name="crop_and_resize", tag="injective")
    return result


def _dilation(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, dilations: Any, out_dtype: Any, first: bool
) -> Tensor:
    steps, gaps = constants(stride, "stride"), constants(dilations, "dilations")
    steps, gaps = (v * 2 if len(v) == 1 else v for v in (steps, gaps))
    sizes = kernel.shape[1:] if first else kernel.shape[:2]
    reach = [extent(ops.add(ops.mul(ops.sub(k, 1), d), 1)) for k, d in zip(sizes, gaps, strict=True)]
    before, after = get_pad_tuple_generic(padding, reach)
    at = (2, 3) if first else (1, 2)
    low, high = [0] * 4, [0] * 4
    for a, p, q in zip(at, before, after, strict=True):
        low[a], high[a] = p, q
    from tirscript.analysis.reducer import identity_of

    padded = pad(data, low, high, identity_of("max", data.dtype), name="pad_temp")
    shape = list(data.shape)
    for a, k, s in zip(at, reach, steps, strict=True):
        shape[a] = extent(ops.add(ops.floordiv(ops.sub(padded.shape[a], k), s), 1))
    ry, rx = te.reduce_axis((0, sizes[0]), name="ry"), te.reduce_axis((0, sizes[1]), name="rx")
    kind = data.dtype if out_dtype in (None, "") else read_dtype(out_dtype)

    def f(*i: Any) -> Any:
        index = list(i)
        for a, s, d, r in zip(at, steps, gaps, (ry, rx), strict=True):
            index[a] = ops.add(ops.mul(i[a], s), ops.mul(r.var, d))
        weight = kernel(i[1], ry.var, rx.var) if first else kernel(ry.var, rx.var, i[3])
        return te.max(ops.add(ops.cast(padded(*index), kind), ops.cast(weight, kind)), axis=[ry, rx])

    layout = "nchw" if first else "nhwc"
    out: Tensor = te.compute(tuple(shape), f, name=f"dilation2d_{layout}", tag=f"dilation2d_{layout}")
    return out


def dilation2d_nchw(
    input: Tensor, filter: Tensor, stride: Any, padding: Any, dilations: Any, out_dtype: Any = None
) -> Tensor:
    """The greatest of pixel plus filter over windows: (N, C, H, W) with (C, H, W)."""
    return _dilation(input, filter, stride, padding, dilations, out_dtype, True)


def dilation2d_nhwc(
    input: Tensor, filter: Tensor, stride: Any, padding: Any, dilations: Any, out_dtype: Any = None
) -> Tensor:
    """The greatest of pixel plus filter over windows: (N, H, W, C) with (H, W, C)."""
    return _dilation(input, filter, stride, padding, dilations, out_dtype, False)


__all__ = ["affine_grid", "crop_and_resize", "dilation2d_nchw", "dilation2d_nhwc", "grid_sample"]
