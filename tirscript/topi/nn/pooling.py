"""Pooling: the greatest or the mean over windows, fixed or adapted to a given shape."""

from __future__ import annotations

from typing import Any

from tirscript import te
from tirscript.analysis.reducer import identity_of
from tirscript.arith import simplify
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.te import Tensor

from ..shapes import constants, error, extent, known
from .padding import pad


def _spatial(layout: str, count: int, ndim: int) -> list[int]:
    """Where the spatial axes stand; layouts may hold inner parts of other axes, like ``NCHW16c``."""
    letters = [c for c in layout if c.isalpha()]
    axes = [n for n, c in enumerate(letters) if c in "DHW"]
    if len(axes) != count or len(letters) != ndim or any(c in "dhw" for c in letters):
        raise error(f"layout {layout} of {ndim} dimensions, for {count} spatial axes", "layout")
    return axes


def _numbers(value: Any, count: int, what: str, least: int = 1) -> list[int]:
    given = constants(value, what)
    given = given * count if len(given) == 1 else given
    if len(given) != count or min(given) < least:
        raise error(f"{what} {given} for {count} axes", what)
    return given


def _mean(total: Any, count: Any, dtype: str) -> Expr:
    if dt.info(dtype).is_float:
        return ops.div(total, ops.cast(ops.as_expr(count), dtype))
    return ops.truncdiv(total, ops.cast(ops.as_expr(count), dtype))


def _pool(
    data: Tensor,
    kernel: Any,
    stride: Any,
    dilation: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool,
    layout: str,
    count_include_pad: bool,
    count: int,
) -> Tensor:
    if pool_type not in ("max", "avg"):
        raise error(f"pool_type is 'max' or 'avg', not {pool_type!r}", "mode")
    axes = _spatial(layout, count, data.ndim)
    window, steps = _numbers(kernel, count, "kernel"), _numbers(stride, count, "stride")
    gaps, pads = _numbers(dilation, count, "dilation"), constants(padding, "padding")
    pads = pads * (2 * count) if len(pads) == 1 else pads * 2 if len(pads) == count else pads
    if len(pads) != 2 * count or min(pads) < 0:
        raise error(f"padding {pads} for {count} axes", "padding")
    before, after = pads[:count], pads[count:]
    shape = list(data.shape)
    low, high = [0] * data.ndim, [0] * data.ndim
    for a, k, s, d, p, q in zip(axes, window, steps, gaps, before, after, strict=True):
        room = ops.sub(ops.add(data.shape[a], p + q), (k - 1) * d + 1)
        size = ops.floordiv(ops.add(room, s - 1) if ceil_mode else room, s)
        shape[a] = extent(ops.add(size, 1))
        n = known(data.shape[a])
        if ceil_mode and n is not None and ((known(shape[a]) or 1) - 1) * s >= n + p:
            shape[a] = extent(ops.sub(shape[a], 1))  # no window starts behind the image
        if (known(shape[a]) or 1) < 0:
            raise error(f"axis {a}: the window reaches over {(k - 1) * d + 1} elements, the image has {n}")
        low[a], high[a] = p, q + (s - 1 if ceil_mode else 0)
    neutral = identity_of("max", data.dtype) if pool_type == "max" else ops.const(0, data.dtype)
    padded = pad(data, low, high, neutral, name="pad_temp") if any(low) or any(high) else data
    inner = [te.reduce_axis((0, k), name=f"rv{n}") for n, k in enumerate(window)]

    def read(*i: Any) -> Any:
        at = list(i)
        for a, r, s, d in zip(axes, inner, steps, gaps, strict=True):
            at[a] = simplify(ops.add(ops.mul(i[a], s), ops.mul(r.var, d)))
        return padded(*at)

    names = [f"ax{n}" for n in range(data.ndim)]
    out: Tensor
    if pool_type == "max":
        out = te.compute(
            tuple(shape), lambda *i: te.max(read(*i), axis=inner), name="pool_max", tag="pool_max",
            varargs_names=names,
        )  # fmt: skip
        return out
    total = te.compute(
        tuple(shape), lambda *i: te.sum(read(*i), axis=inner), name="pool_sum", tag="pool_sum",
        varargs_names=names,
    )  # fmt: skip

    def covered(i: tuple[Any, ...]) -> Any:
        """How many cells of a window count: those of the image, or those of its declared border too."""
        number: Any = 1
        for n, (a, k, s, d) in enumerate(zip(axes, window, steps, gaps, strict=True)):
            if count_include_pad and not ceil_mode:
                number = ops.mul(ops.as_expr(number), k)
                continue
            first: Any = -before[n] if count_include_pad else 0
            last: Any = ops.add(data.shape[a], (after[n] if count_include_pad else 0) - 1)
            start = ops.sub(ops.mul(i[a], s), before[n])
            end = ops.floordiv(T.min(ops.sub(last, start), (k - 1) * d), d)
            begin = ops.floordiv(ops.add(T.max(ops.sub(first, start), 0), d - 1), d)
            number = ops.mul(ops.as_expr(number), ops.add(ops.sub(end, begin), 1))
        return T.max(simplify(ops.as_expr(number)), 1)

    out = te.compute(
        tuple(shape), lambda *i: _mean(total(*i), simplify(covered(i)), data.dtype), name="pool_avg",
        tag="elemwise", varargs_names=names,
    )  # fmt: skip
    return out


def pool1d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCW", count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The greatest (``max``) or the mean (``avg``) over windows along one axis; see ``pool2d``."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad, 1)


def pool2d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCHW", count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The greatest (``max``) or the mean (``avg``) over windows along two axes.

    ``padding`` is a number, one for each axis, or all before and then all after.  ``ceil_mode`` rounds the
    extent up, but no window starts behind the image.  ``count_include_pad`` counts the border in means.

    >>> from tirscript import te, topi
    >>> topi.nn.pool2d(te.placeholder((1, 8, 32, 32)), 2, 2, 1, 0, "max").shape
    (1, 8, 16, 16)
    """
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad, 2)


def pool3d(
    data: Tensor, kernel: Any, stride: Any, dilation: Any, padding: Any, pool_type: str,
    ceil_mode: bool = False, layout: str = "NCDHW", count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The greatest (``max``) or the mean (``avg``) over windows along three axes; see ``pool2d``."""
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad, 3)


def _adaptive(data: Tensor, output_size: Any, pool_type: str, layout: str, count: int) -> Tensor:
    if pool_type not in ("max", "avg"):
        raise error(f"pool_type is 'max' or 'avg', not {pool_type!r}", "mode")
    axes = _spatial(layout, count, data.ndim)
    wanted = _numbers(output_size, count, "output_size")
    shape: list[Any] = list(data.shape)
    longest: list[Any] = []
    for a, w in zip(axes, wanted, strict=True):
        shape[a] = ops.const(w, data.shape[a].dtype)
        n = known(data.shape[a])
        if n is None:
            longest.append(
                extent(ops.add(ops.floordiv(ops.add(data.shape[a], w - 1), w), 0 if w == 1 else 1))
            )
        else:
            longest.append(max(-(-(o + 1) * n // w) - o * n // w for o in range(w)))
    inner = [te.reduce_axis((0, k), name=f"rv{n}") for n, k in enumerate(longest)]

    def span(i: tuple[Any, ...], a: int, w: int) -> tuple[Any, Any]:
        n = data.shape[a]
        start = ops.floordiv(ops.mul(i[a], n), w)
        end = ops.floordiv(ops.add(ops.mul(ops.add(i[a], 1), n), w - 1), w)
        return simplify(start), simplify(end)

    def fold(i: tuple[Any, ...], reducer: Any) -> Any:
        at = list(i)
        inside = []
        for a, w, r, k in zip(axes, wanted, inner, longest, strict=True):
            start, end = span(i, a, w)
            at[a] = ops.add(start, r.var) if w != 1 else r.var
            n = known(data.shape[a])
            if w != 1 and not (n is not None and n % w == 0 and n // w == k):
                inside.append(ops.lt(at[a], end))
        return reducer(data(*at), axis=inner, where=te.all(*inside) if inside else None)

    names = [f"ax{n}" for n in range(data.ndim)]
    out: Tensor
    if pool_type == "max":
        out = te.compute(
            tuple(shape), lambda *i: fold(i, te.max), name="adaptive_pool_max", tag="adaptive_pool_max",
            varargs_names=names,
        )  # fmt: skip
        return out
    total = te.compute(
        tuple(shape), lambda *i: fold(i, te.sum), name="adaptive_pool_sum", tag="adaptive_pool_sum",
        varargs_names=names,
    )  # fmt: skip

    def mean(*i: Any) -> Any:
        number: Any = 1
        for a, w in zip(axes, wanted, strict=True):
            start, end = span(i, a, w)
            number = ops.mul(ops.as_expr(number), ops.sub(end, start))
        return _mean(total(*i), simplify(ops.as_expr(number)), data.dtype)

    out = te.compute(tuple(shape), mean, name="adaptive_pool_avg", tag="elemwise", varargs_names=names)
    return out


def adaptive_pool(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCHW") -> Tensor:
    """The greatest or the mean over two axes, of windows that give an image of ``output_size``."""
    return _adaptive(data, output_size, pool_type, layout, 2)


def adaptive_pool1d(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCW") -> Tensor:
    """The greatest or the mean over one axis, of windows that give ``output_size`` of them."""
    return _adaptive(data, output_size, pool_type, layout, 1)


def adaptive_pool3d(data: Tensor, output_size: Any, pool_type: str, layout: str = "NCDHW") -> Tensor:
    """The greatest or the mean over three axes, of windows that give a volume of ``output_size``."""
    return _adaptive(data, output_size, pool_type, layout, 3)


def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Tensor:
    """The greatest or the mean of each whole image."""
    return _adaptive(data, 1, pool_type, layout, 2)


__all__ = [
    "adaptive_pool", "adaptive_pool1d", "adaptive_pool3d", "global_pool", "pool1d", "pool2d", "pool3d",
]  # fmt: skip
