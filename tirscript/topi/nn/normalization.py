"""Normalizations.  Means and variances of float16 and bfloat16 are taken in float32, and of differences
from the mean, so that they do not cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.te import Tensor

from ..shapes import axes_of, axis_of, constant, error, extent, known, same
from ..tag import BROADCAST
from ..transform import reshape


def _wide(dtype: str) -> str:
    info = dt.info(dtype)
    if not info.is_float:
        raise error(f"floats are normalized, not {dtype}", "dtype")
    return dtype if info.bits >= 32 else "float32"


def _moments(data: Tensor, axes: Sequence[int], name: str) -> tuple[Tensor, Tensor, list[int]]:
    """The mean and the variance over axes, in the shape of the others."""
    kind = _wide(data.dtype)
    kept = [n for n in range(data.ndim) if n not in axes]
    shape = tuple([data.shape[n] for n in kept])
    count: Expr = const_int(1, data.shape[0].dtype)
    for n in axes:
        count = ops.mul(count, data.shape[n])
    size = ops.cast(extent(count), kind)

    def at(i: Sequence[Any], ks: Sequence[Any]) -> list[Any]:
        outer, inner = list(i), [k.var for k in ks]
        return [outer.pop(0) if n in kept else inner.pop(0) for n in range(data.ndim)]

    def axes_for() -> list[Any]:
        return [te.reduce_axis((0, data.shape[n]), name=f"k{n}") for n in axes]

    k1, k2 = axes_for(), axes_for()
    names = [f"ax{n}" for n in range(len(shape))]
    total = te.compute(
        shape, lambda *i: te.sum(ops.cast(data(*at(i, k1)), kind), axis=k1), name=f"{name}_sum",
        varargs_names=names,
    )  # fmt: skip
    mean = te.compute(shape, lambda *i: ops.div(total(*i), size), name=f"{name}_mean", varargs_names=names)

    def square(*i: Any) -> Any:
        gap = ops.sub(ops.cast(data(*at(i, k2)), kind), mean(*i))
        return te.sum(ops.mul(gap, gap), axis=k2)

    squares = te.compute(shape, square, name=f"{name}_squares", varargs_names=names)
    variance = te.compute(
        shape, lambda *i: ops.div(squares(*i), size), name=f"{name}_var", varargs_names=names
    )
    return mean, variance, kept


def _check_weights(t: Tensor | None, shape: Sequence[Expr], what: str) -> None:
    if t is not None and (
        t.ndim != len(shape) or not all(same(a, b) for a, b in zip(t.shape, shape, strict=True))
    ):
        raise error(f"{what} has shape {list(t.shape)}, {list(shape)} is wanted")


def layer_norm(
    data: Tensor, gamma: Tensor | None, beta: Tensor | None, axis: Any, epsilon: float = 1e-5
) -> Tensor:
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta`` over axes; gamma and beta have their shape.

    >>> from tirscript import te, topi
    >>> g, b = te.placeholder((16,)), te.placeholder((16,))
    >>> topi.nn.layer_norm(te.placeholder((4, 16)), g, b, axis=[1]).shape
    (4, 16)
    """
    axes = axes_of(axis, data.ndim)
    inner = [data.shape[n] for n in axes]
    _check_weights(gamma, inner, "gamma")
    _check_weights(beta, inner, "beta")
    kind = _wide(data.dtype)
    mean, variance, kept = _moments(data, axes, "T_layer_norm")

    def f(*i: Any) -> Any:
        outer, own = [i[n] for n in kept], [i[n] for n in axes]
        scale = ops.math_call("rsqrt", ops.add(variance(*outer), ops.const(float(epsilon), kind)))
        v = ops.mul(ops.sub(ops.cast(data(*i), kind), mean(*outer)), scale)
        if gamma is not None:
            v = ops.mul(v, ops.cast(gamma(*own), kind))
        if beta is not None:
            v = ops.add(v, ops.cast(beta(*own), kind))
        return ops.cast(v, data.dtype)

    return _named(data.shape, f, "T_layer_norm")


def rms_norm(data: Tensor, weight: Tensor | None, axis: Any, epsilon: float = 1e-5) -> Tensor:
    """``x / sqrt(mean(x * x) + epsilon) * weight`` over axes."""
    axes = axes_of(axis, data.ndim)
    _check_weights(weight, [data.shape[n] for n in axes], "weight")
    kind = _wide(data.dtype)
    kept = [n for n in range(data.ndim) if n not in axes]
    ks = [te.reduce_axis((0, data.shape[n]), name=f"k{n}") for n in axes]
    count: Expr = const_int(1, data.shape[0].dtype)
    for n in axes:
        count = ops.mul(count, data.shape[n])
    size = ops.cast(extent(count), kind)

    def square(*i: Any) -> Any:
        outer, inner = list(i), [k.var for k in ks]
        v = ops.cast(data(*[outer.pop(0) if n in kept else inner.pop(0) for n in range(data.ndim)]), kind)
        return te.sum(ops.mul(v, v), axis=ks)

    shape = tuple([data.shape[n] for n in kept])
    total = te.compute(
        shape, square, name="T_rms_norm_squares", varargs_names=[f"ax{n}" for n in range(len(shape))]
    )

    def f(*i: Any) -> Any:
        mean = ops.div(total(*[i[n] for n in kept]), size)
        scale = ops.math_call("rsqrt", ops.add(mean, ops.const(float(epsilon), kind)))
        v = ops.mul(ops.cast(data(*i), kind), scale)
        if weight is not None:
            v = ops.mul(v, ops.cast(weight(*[i[n] for n in axes]), kind))
        return ops.cast(v, data.dtype)

    return _named(data.shape, f, "T_rms_norm")


def instance_norm(
    data: Tensor,
    gamma: Tensor | None,
    beta: Tensor | None,
    channel_axis: int,
    axis: Any,
    epsilon: float = 1e-5,
) -> Tensor:
    """Each channel of each image normalized over ``axis``; gamma and beta hold one number a channel."""
    axes = axes_of(axis, data.ndim)
    channel = axis_of(channel_axis, data.ndim)
    if channel in axes:
        raise error(f"the channels' axis {channel} is normalized over", "axis")
    _check_weights(gamma, [data.shape[channel]], "gamma")
    _check_weights(beta, [data.shape[channel]], "beta")
    kind = _wide(data.dtype)
    mean, variance, kept = _moments(data, axes, "T_instance_norm")

    def f(*i: Any) -> Any:
        outer = [i[n] for n in kept]
        scale = ops.math_call("rsqrt", ops.add(variance(*outer), ops.const(float(epsilon), kind)))
        v = ops.mul(ops.sub(ops.cast(data(*i), kind), mean(*outer)), scale)
        if gamma is not None:
            v = ops.mul(v, ops.cast(gamma(i[channel]), kind))
        if beta is not None:
            v = ops.add(v, ops.cast(beta(i[channel]), kind))
        return ops.cast(v, data.dtype)

    return _named(data.shape, f, "T_instance_norm")


def group_norm(
    data: Tensor,
    gamma: Tensor | None,
    beta: Tensor | None,
    num_groups: int,
    channel_axis: int,
    axes: Any,
    epsilon: float = 1e-5,
) -> Tensor:
    """Groups of channels normalized together, over ``axes`` too; gamma and beta hold one number a channel."""
    channel = axis_of(channel_axis, data.ndim)
    over = axes_of(axes, data.ndim)
    groups = constant(num_groups, "num_groups")
    size = data.shape[channel]
    if groups < 1 or (known(size) or 0) % groups:
        raise error(f"{size} channels do not divide into {groups} groups", "groups")
    if channel in over:
        raise error(f"the channels' axis {channel} is among the axes", "axis")
    each = extent(ops.floordiv(size, groups))
    _check_weights(gamma, [size], "gamma")
    _check_weights(beta, [size], "beta")
    kind = _wide(data.dtype)
    parted = reshape(data, [*data.shape[:channel], groups, each, *data.shape[channel + 1 :]])
    inner = [channel + 1, *[n + (n > channel) for n in over]]
    mean, variance, kept = _moments(parted, sorted(inner), "T_group_norm")

    def f(*i: Any) -> Any:
        parts = [*i[:channel], ops.floordiv(i[channel], each), None, *i[channel + 1 :]]
        outer = [parts[n] for n in kept]
        scale = ops.math_call("rsqrt", ops.add(variance(*outer), ops.const(float(epsilon), kind)))
        v = ops.mul(ops.sub(ops.cast(data(*i), kind), mean(*outer)), scale)
        if gamma is not None:
            v = ops.mul(v, ops.cast(gamma(i[channel]), kind))
        if beta is not None:
            v = ops.add(v, ops.cast(beta(i[channel]), kind))
        return ops.cast(v, data.dtype)

    return _named(data.shape, f, "T_group_norm")


def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: int | None = None,
    epsilon: float | None = None,
    center: bool | None = None,
    scale: bool | None = None,
    training: bool | None = None,
    momentum: float | None = None,
) -> list[Tensor]:
    """The batch normalized by the moving mean and variance, which are returned after it.

    ``training`` takes those of the batch instead, and moves the moving ones by ``momentum`` (default 0.1).
    ``center`` and ``scale`` (default True) say whether beta and gamma are used.
    """
    channel = axis_of(1 if axis is None else axis, data.ndim)
    kind = _wide(data.dtype)
    rate = 0.1 if momentum is None else float(momentum)
    small = ops.const(1e-5 if epsilon is None else float(epsilon), kind)
    for t, what in (
        (gamma, "gamma"),
        (beta, "beta"),
        (moving_mean, "moving_mean"),
        (moving_var, "moving_var"),
    ):
        _check_weights(t, [data.shape[channel]], what)
    mean, variance = moving_mean, moving_var
    if training:
        mean, variance, _ = _moments(data, [n for n in range(data.ndim) if n != channel], "T_batch_norm")

    def f(*i: Any) -> Any:
        c = i[channel]
        root = ops.math_call("sqrt", ops.add(ops.cast(variance(c), kind), small))
        v = ops.div(ops.sub(ops.cast(data(*i), kind), ops.cast(mean(c), kind)), root)
        if scale is None or scale:
            v = ops.mul(v, ops.cast(gamma(c), kind))
        if center is None or center:
            v = ops.add(v, ops.cast(beta(c), kind))
        return ops.cast(v, data.dtype)

    out = _named(data.shape, f, "T_batch_norm", BROADCAST)

    def moved(old: Tensor, new: Tensor, name: str) -> Tensor:
        def g(c: Any) -> Any:
            if not training:
                return old(c)
            keep, step = ops.const(1 - rate, old.dtype), ops.const(rate, old.dtype)
            return ops.add(ops.mul(old(c), keep), ops.mul(ops.cast(new(c), old.dtype), step))

        result: Tensor = te.compute(old.shape, g, name=name, tag=BROADCAST)
        return result

    return [
        out, moved(moving_mean, mean, "T_moving_mean"), moved(moving_var, variance, "T_moving_var"),
    ]  # fmt: skip


def lrn(
    data: Tensor, size: int, axis: int = 1, alpha: float = 0.0001, beta: float = 0.75, bias: float = 2
) -> Tensor:
    """``x / (bias + alpha * sum(x * x) / size) ** beta`` over ``size`` neighbours along an axis."""
    width = constant(size, "size")
    if width < 1 or width % 2 == 0:
        raise error(f"size is odd, not {width}", "size")
    at = axis_of(axis, data.ndim)
    kind = _wide(data.dtype)
    k = te.reduce_axis((0, width), name="rxs")
    half = width // 2

    def near(*i: Any) -> Any:
        place = ops.add(i[at], ops.sub(k.var, half))
        inside = ops.logical_and(ops.ge(place, 0), ops.lt(place, data.shape[at]))
        v = ops.cast(data(*i[:at], place, *i[at + 1 :]), kind)
        return te.sum(ops.mul(v, v), axis=k, where=inside)

    squares = te.compute(data.shape, near, name="T_lrn_squares")

    def f(*i: Any) -> Any:
        base = ops.add(ops.const(float(bias), kind), ops.mul(ops.const(alpha / width, kind), squares(*i)))
        v = ops.div(ops.cast(data(*i), kind), ops.power(base, ops.const(float(beta), kind)))
        return ops.cast(v, data.dtype)

    return _named(data.shape, f, "T_lrn", BROADCAST)


def _scaled(data: Tensor, weight: Tensor, shift: Tensor, at: int) -> Tensor:
    def f(*i: Any) -> Any:
        return ops.add(ops.mul(data(*i), weight(i[at])), shift(i[at]))

    names = ["b", "c", "i", "j"] if at == 1 else ["b", "i", "j", "c"]
    out: Tensor = te.compute(data.shape, f, name="ScaleShift", tag=BROADCAST, varargs_names=names)
    return out


def scale_shift_nchw(Input: Tensor, Scale: Tensor, Shift: Tensor) -> Tensor:
    """``x * scale + shift`` by channel, of (N, C, H, W)."""
    return _scaled(Input, Scale, Shift, 1)


def scale_shift_nhwc(Input: Tensor, Scale: Tensor, Shift: Tensor) -> Tensor:
    """``x * scale + shift`` by channel, of (N, H, W, C)."""
    return _scaled(Input, Scale, Shift, 3)


def nll_loss(
    predictions: Tensor, targets: Tensor, weights: Tensor, reduction: str, ignore_index: int
) -> Tensor:
    """The negative log likelihood: ``-predictions[n, targets[n]] * weights[targets[n]]``.

    ``reduction`` is ``mean`` (by the weights), ``sum`` or ``none``; targets ``ignore_index`` count nothing.
    """
    if reduction not in ("mean", "sum", "none"):
        raise error(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}", "mode")
    zero = ops.const(0, predictions.dtype)

    def used(i: tuple[Any, ...]) -> tuple[Any, Any]:
        target = targets(*i)
        keep = ops.ne(target, ops.const(ignore_index, target.dtype))
        return keep, ops.cast(target, predictions.shape[0].dtype)

    def loss(*i: Any) -> Any:
        keep, c = used(i)
        at = (i[0], c, *i[1:]) if predictions.ndim > 1 else (c,)
        return ops.if_then_else(keep, ops.mul(ops.neg(predictions(*at)), weights(c)), zero)

    def weight(*i: Any) -> Any:
        keep, c = used(i)
        return ops.if_then_else(keep, weights(c), zero)

    names = [f"ax{n}" for n in range(targets.ndim)]
    each: Tensor = te.compute(targets.shape, loss, name="nll_loss", varargs_names=names)
    if reduction == "none":
        return each
    from ..broadcast import divide
    from ..reduction import sum

    if reduction == "sum":
        return sum(each)
    shares: Tensor = te.compute(targets.shape, weight, name="nll_loss_weight", varargs_names=names)
    out: Tensor = divide(sum(each), sum(shares))
    return out


def _named(shape: Sequence[Expr], f: Any, name: str, tag: str = "injective") -> Tensor:
    out: Tensor = te.compute(
        tuple(shape), f, name=name, tag=tag, varargs_names=[f"ax{n}" for n in range(len(shape))]
    )
    return out


__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "lrn", "nll_loss", "rms_norm",
    "scale_shift_nchw", "scale_shift_nhwc",
]  # fmt: skip
