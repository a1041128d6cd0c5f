"""Activations and softmax."""

from __future__ import annotations

from typing import Any

from tirscript import te
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.te import Tensor

from ..elemwise import elementwise
from ..shapes import axis_of, error, same
from ..tag import BROADCAST, ELEMWISE


def relu(x: Tensor) -> Tensor:
    """``max(x, 0)``; nan stays nan."""
    return elementwise(x, lambda v: T.max(v, ops.const(0, v.dtype)))


def leaky_relu(x: Tensor, alpha: float) -> Tensor:
    """``x`` where it is positive, else ``alpha * x``."""

    def f(v: Expr) -> Expr:
        return ops.select(
            ops.gt(v, ops.const(0, v.dtype)), v, ops.mul(v, ops.cast(ops.as_expr(alpha), v.dtype))
        )

    return elementwise(x, f)


def prelu(x: Tensor, slope: Tensor, axis: int = 1) -> Tensor:
    """``x`` where it is positive, else ``x`` times the slope of its channel."""
    at = axis_of(axis, x.ndim)
    if slope.ndim != 1 or not same(slope.shape[0], x.shape[at]):
        raise error(f"slopes {list(slope.shape)} for axis {at} of {list(x.shape)}")

    def f(*i: Any) -> Any:
        v = x(*i)
        return ops.select(ops.gt(v, ops.const(0, v.dtype)), v, ops.mul(v, slope(i[at])))

    out: Tensor = te.compute(x.shape, f, tag=BROADCAST)
    return out


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x`` is above the threshold."""

    def f(v: Expr) -> Expr:
        b, limit = ops.const(float(beta), v.dtype), ops.const(float(threshold), v.dtype)
        scaled = ops.mul(v, b)
        near = ops.div(ops.math_call("log1p", ops.math_call("exp", scaled)), b)
        return ops.if_then_else(ops.gt(scaled, limit), v, near)

    return elementwise(x, f)


def gelu(x: Tensor) -> Tensor:
    """``x * (1 + erf(x / sqrt(2))) / 2``."""

    def f(v: Expr) -> Expr:
        half, scale = ops.const(0.5, v.dtype), ops.const(0.7071067811865476, v.dtype)
        return ops.mul(v, ops.add(half, ops.mul(half, ops.math_call("erf", ops.mul(v, scale)))))

    return elementwise(x, f)


def gelu_tanh(x: Tensor) -> Tensor:
    """The approximation of ``gelu`` by tanh."""

    def f(v: Expr) -> Expr:
        half, one = ops.const(0.5, v.dtype), ops.const(1.0, v.dtype)
        cubic = ops.add(v, ops.mul(ops.const(0.044715, v.dtype), ops.mul(v, ops.mul(v, v))))
        t = ops.math_call("tanh", ops.mul(ops.const(0.7978845608028654, v.dtype), cubic))
        return ops.mul(ops.mul(half, v), ops.add(one, t))

    return elementwise(x, f)


def silu(x: Tensor) -> Tensor:
    """``x * sigmoid(x)``."""
    return elementwise(x, lambda v: ops.mul(v, ops.math_call("sigmoid", v)))


def hard_swish(x: Tensor) -> Tensor:
    """``x * clip(x + 3, 0, 6) / 6``."""

    def f(v: Expr) -> Expr:
        zero, three, six = (ops.const(float(n), v.dtype) for n in (0, 3, 6))
        return ops.div(ops.mul(v, T.max(T.min(ops.add(v, three), six), zero)), six)

    return elementwise(x, f)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    def f(v: Expr) -> Expr:
        low = ops.mul(
            ops.const(float(alpha), v.dtype), ops.sub(ops.math_call("exp", v), ops.const(1.0, v.dtype))
        )
        return ops.if_then_else(ops.gt(v, ops.const(0, v.dtype)), v, low)

    return elementwise(x, f)


def _rows(x: Tensor, axis: int) -> tuple[int, tuple[Expr, ...], list[str]]:
    at = axis_of(axis, x.ndim)
    names = [f"i{n}" for n in range(x.ndim)]
    return at, (*x.shape[:at], *x.shape[at + 1 :]), [n for k, n in enumerate(names) if k != at]


def softmax_common(x: Tensor, axis: int, use_fast_exp: bool) -> Tensor:
    """``exp(x - max) / sum`` along an axis."""
    at, shape, _ = _rows(x, axis)
    names = [f"i{n}" for n in range(len(shape))]

    def along(i: tuple[Any, ...], k: Any) -> tuple[Any, ...]:
        return (*i[:at], k, *i[at:])

    k1 = te.reduce_axis((0, x.shape[at]), name="k")
    top = te.compute(
        shape, lambda *i: te.max(x(*along(i, k1.var)), axis=k1), name="T_softmax_maxelem", varargs_names=names
    )

    def rest(i: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*i[:at], *i[at + 1 :])

    powers = te.compute(
        x.shape, lambda *i: ops.math_call("exp", ops.sub(x(*i), top(*rest(i)))),
        name="T_softmax_exp", tag=ELEMWISE,
    )  # fmt: skip
    k2 = te.reduce_axis((0, x.shape[at]), name="k")
    total = te.compute(
        shape, lambda *i: te.sum(powers(*along(i, k2.var)), axis=k2),
        name="T_softmax_expsum", varargs_names=names,
    )  # fmt: skip
    out: Tensor = te.compute(
        x.shape, lambda *i: ops.div(powers(*i), total(*rest(i))), name="T_softmax_norm",
        tag="fast_softmax_output" if use_fast_exp else "softmax_output", attrs={"axis": at},
    )  # fmt: skip
    return out


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """``exp(x) / sum(exp(x))`` along an axis, without overflow.

    >>> from tirscript import te, topi
    >>> topi.nn.softmax(te.placeholder((4, 10))).shape
    (4, 10)
    """
    return softmax_common(x, axis, False)


def fast_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """As ``softmax``."""
    return softmax_common(x, axis, True)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """``x - log(sum(exp(x)))`` along an axis, without overflow."""
    at, shape, _ = _rows(x, axis)

    def along(i: tuple[Any, ...], k: Any) -> tuple[Any, ...]:
        return (*i[:at], k, *i[at:])

    def rest(i: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*i[:at], *i[at + 1 :])

    k1, k2 = (te.reduce_axis((0, x.shape[at]), name="k") for _ in range(2))
    top = te.compute(shape, lambda *i: te.max(x(*along(i, k1.var)), axis=k1))
    total = te.compute(
        shape, lambda *i: te.sum(ops.math_call("exp", ops.sub(x(*along(i, k2.var)), top(*i))), axis=k2)
    )

    def f(*i: Any) -> Any:
        r = rest(i)
        return ops.sub(ops.sub(x(*i), top(*r)), ops.math_call("log", total(*r)))

    out: Tensor = te.compute(x.shape, f, tag="log_softmax_output", attrs={"axis": at})
    return out


__all__ = [
    "elu", "fast_softmax", "gelu", "gelu_tanh", "hard_swish", "leaky_relu", "log_softmax", "prelu", "relu",
    "silu", "softmax", "softmax_common", "softplus",
]  # fmt: skip
