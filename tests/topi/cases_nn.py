"""Operators of neural networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .references import adaptive_reference, conv_reference, pool_reference, spread, transposed_reference
from .table import Call, add, c, data, floats, index

# ---- activations

SHAPES = [(3, 4, 5), (1, 7), (2, 1), (6,), (2, 2, 2, 2), (0, 3), (5, 5)]
erf = np.vectorize(math.erf, otypes=["float64"])


def wide(f: Any) -> Any:
    return lambda x, *a: f(x.astype("float64"), *a)


def of(f: Any, *attributes: tuple[Any, ...]) -> list[Call]:
    """Calls of an activation over shapes, dtypes, and its attributes."""
    each = itertools.cycle(attributes or [()])
    pairs = [*[(s, "float32") for s in SHAPES], ((3, 4), "float64"), ((7,), "float64"), ((2, 4), "float16")]
    return [c((floats(*s, dtype=k) * 2).astype(k), *next(each)) for s, k in pairs]


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def softplus(x: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def softmax(x: np.ndarray, axis: int = -1, fast: bool = False) -> np.ndarray:
    with np.errstate(all="ignore"):
        powers = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis, keepdims=True)


for name, f, attributes in (
    ("relu", relu, [()]),
    ("leaky_relu", lambda x, a: np.where(x > 0, x, a * x), [(0.1,), (0.5,)]),
    ("softplus", softplus, [(), (2.0, 5.0)]),
    ("gelu", lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, [()]),
    ("gelu_tanh", lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), [()]),
    ("silu", lambda x: x / (1 + np.exp(-x)), [()]),
    ("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6, [()]),
    ("elu", lambda x, a=1.0: np.where(x > 0, x, a * (np.exp(np.minimum(x, 0)) - 1)), [(), (0.5,)]),
):
    add(f"nn.{name}", wide(f), of(f, *attributes), tol=2e-5)

ROWS = [
    ((3, 4, 5), -1),
    ((3, 4, 5), 1),
    ((3, 4, 5), 0),
    ((1, 7), 1),
    ((2, 1), 1),
    ((2, 1), 0),
    ((4, 6), -2),
    ((2, 2, 2, 3), 3),
]
rows = [c(floats(*s) * 3, a) for s, a in ROWS]
rows += [c(floats(4, 3, dtype=k), 1) for k in ("float64", "float16")]
add("nn.softmax nn.fast_softmax", wide(softmax), rows, tol=2e-5)
add("nn.softmax_common", wide(softmax), [c(*r.args, n % 2 == 0) for n, r in enumerate(rows)], tol=2e-5)
add("nn.log_softmax", wide(lambda x, a: np.log(softmax(x, a))), rows, tol=2e-5)


def prelu(x: np.ndarray, slope: np.ndarray, axis: int = 1) -> np.ndarray:
    at = [1] * x.ndim
    at[axis] = -1
    return np.where(x > 0, x, x * slope.reshape(at))


add("nn.prelu", prelu, [c(data(*s), data(s[a]), a) for s, a in (
    ((2, 3, 4), 1), ((2, 3, 4), 2), ((2, 3, 4), 0), ((5, 2), 1), ((5, 2), 0), ((4,), 0), ((1, 3, 2, 2), 1), ((2, 2, 2, 5), 3),
    ((2, 1), 1),
)] + [c(data(2, 3, dtype="float64"), data(3, dtype="float64"))], symbolic=[0, 1])  # fmt: skip

# ---- norms


def moments(x: np.ndarray, axes: Any) -> tuple[np.ndarray, np.ndarray]:
    return x.mean(axes, keepdims=True), x.var(axes, keepdims=True)


def over(x: np.ndarray, axes: tuple[int, ...], w: Any, neutral: float) -> Any:
    if w is None:
        return neutral
    return w.astype("float64").reshape([x.shape[n] if n in axes else 1 for n in range(x.ndim)])


def layer_norm(x: np.ndarray, g: Any, b: Any, axis: Any, eps: float = 1e-5) -> np.ndarray:
    axes = tuple(sorted(a % x.ndim for a in np.atleast_1d(axis)))
    v = x.astype("float64")
    mean, var = moments(v, axes)
    return (v - mean) / np.sqrt(var + eps) * over(x, axes, g, 1) + over(x, axes, b, 0)


def rms_norm(x: np.ndarray, g: Any, axis: Any, eps: float = 1e-5) -> np.ndarray:
    axes = tuple(sorted(a % x.ndim for a in np.atleast_1d(axis)))
    v = x.astype("float64")
    return v / np.sqrt((v**2).mean(axes, keepdims=True) + eps) * over(x, axes, g, 1)


NORMS = [
    ((4, 3, 5), (-1,)),
    ((4, 3, 5), (1, 2)),
    ((4, 3, 5), (0,)),
    ((4, 8), 1),
    ((4, 8), -1),
    ((1, 6), 1),
    ((2, 3, 2, 2), (2, 3)),
]


def norms(weights: int) -> list[Call]:
    out = []
    for s, axes in NORMS:
        shape = [s[n] for n in sorted(a % len(s) for a in np.atleast_1d(axes))]
        out.append(c(floats(*s), *[floats(*shape) for _ in range(weights)], axes))
    out.append(c(floats(4, 6), *[None] * weights, 1))
    out.append(c(floats(3, 6) + 1000, *[floats(6) for _ in range(weights)], 1, 1e-3))
    out += [
        c(floats(4, 8, dtype=k), *[floats(8, dtype=k) for _ in range(weights)], 1)
        for k in ("float64", "float16")
    ]
    return out


add("nn.layer_norm", layer_norm, norms(2), tol=2e-3, symbolic=[0, 1])
add("nn.rms_norm", rms_norm, norms(1), tol=2e-3, symbolic=[0, 1])


def group_norm(
    x: np.ndarray, g: Any, b: Any, groups: int, channel: int, axes: Any, eps: float = 1e-5
) -> np.ndarray:
    v = np.moveaxis(x.astype("float64"), channel, 0)
    parts = v.reshape(groups, -1, *v.shape[1:])
    others = [n for n in range(x.ndim) if n != channel]
    mean, var = moments(parts, (1, *[2 + others.index(a % x.ndim) for a in axes]))
    out = ((parts - mean) / np.sqrt(var + eps)).reshape(v.shape)
    out = np.moveaxis(out, 0, channel)
    return out * over(x, (channel,), g, 1) + over(x, (channel,), b, 0)


GROUPS = [
    ((2, 6, 4, 3), 3, 1, [2, 3]), ((2, 6, 4, 3), 2, 1, [2, 3]), ((2, 6, 4, 3), 1, 1, [2, 3]), ((2, 6, 4, 3), 6, 1, [2, 3]),
    ((2, 4, 5), 2, 1, [2]), ((2, 5, 4), 2, 2, [1]), ((1, 2, 3, 4), 4, 3, [1, 2]), ((3, 4, 2), 4, 1, [2]), ((2, 4, 3, 3), 2, 1, [2, 3]),
]  # fmt: skip
add("nn.group_norm", group_norm, [
    *[c(floats(*s), floats(s[ch]), floats(s[ch]), n, ch, axes) for s, n, ch, axes in GROUPS],
    c(floats(2, 4, 3, 2), None, None, 2, 1, [2, 3]), c(floats(2, 4, 3), floats(4), None, 2, 1, [2], 1e-3),
], tol=1e-4)  # fmt: skip
add("nn.instance_norm", lambda x, g, b, ch, axes, eps=1e-5: group_norm(x, g, b, x.shape[ch], ch, axes, eps), [
    *[c(floats(*s), floats(s[ch]), floats(s[ch]), ch, axes) for s, _, ch, axes in GROUPS[2:]],
    c(floats(2, 4, 3, 2), None, None, 1, [2, 3]), c(floats(2, 4, 3), floats(4), None, 1, [2], 1e-3), c(floats(2, 3, 4), floats(3), floats(3), 1, [2]),
    c(floats(1, 2, 2, 5), floats(2), floats(2), 1, [2, 3]),
], tol=1e-4)  # fmt: skip


def batch_norm(
    x: np.ndarray, g: Any, b: Any, m: Any, v: Any, axis: Any = 1, eps: Any = 1e-5, center: Any = True,
    scale: Any = True, training: Any = False, momentum: Any = 0.1,
) -> list[np.ndarray]:  # fmt: skip
    axis = axis % x.ndim
    others = tuple(n for n in range(x.ndim) if n != axis)
    deep = x.astype("float64")
    mean, var = (deep.mean(others), deep.var(others)) if training else (m, v)
    out = (deep - over(x, (axis,), mean, 0)) / np.sqrt(over(x, (axis,), var, 0) + eps)
    out = out * (over(x, (axis,), g, 1) if scale else 1) + (over(x, (axis,), b, 0) if center else 0)
    rate = momentum
    return [out, (1 - rate) * m + rate * mean, (1 - rate) * v + rate * var] if training else [out, m, v]


def batches() -> list[Call]:
    out = []
    for (s, axis), training in itertools.product(
        (((2, 5, 3, 5), 1), ((2, 5, 3, 4), 3), ((4, 3), 1), ((2, 3, 4), -1)), (False, True)
    ):
        n = s[axis]
        out.append(
            c(
                floats(*s),
                floats(n),
                floats(n),
                floats(n),
                np.abs(floats(n)) + np.float32(0.5),
                axis,
                1e-3,
                training=training,
            )
        )
    more = ({"center": False}, {"scale": False}, {"training": True, "momentum": 0.3})
    weights = [*[floats(3) for _ in range(3)], np.abs(floats(3)) + np.float32(0.5)]
    return out + [c(floats(4, 3), *weights, 1, 1e-3, **m) for m in more]


add("nn.batch_norm", batch_norm, batches(), tol=1e-4)


def lrn(
    x: np.ndarray, size: int, axis: int = 1, alpha: float = 1e-4, beta: float = 0.75, bias: float = 2
) -> np.ndarray:
    deep = np.moveaxis(x.astype("float64") ** 2, axis, 0)
    half = size // 2
    padded = np.pad(deep, [(half, half), *[(0, 0)] * (x.ndim - 1)])
    total = sum(padded[n : n + len(deep)] for n in range(size))
    return x / (bias + alpha / size * np.moveaxis(total, 0, axis)) ** beta


add("nn.lrn", lrn, [c(floats(*s), n, a, *more) for s, n, a, more in (
    ((2, 7, 3, 3), 5, 1, (0.1, 0.75, 2)), ((2, 7, 3, 3), 3, 1, ()), ((1, 4, 2, 2), 1, 1, (0.5, 0.5, 1)), ((2, 3, 3, 7), 5, 3, (0.1,)),
    ((1, 2, 4, 4), 3, 1, (0.2, 1.0, 1)), ((2, 5, 1, 1), 5, 1, (1.0, 0.75, 2)), ((1, 3, 5, 5), 7, 1, (0.1,)), ((3, 4, 2, 2), 3, 1, (2.0, 0.5, 3)),
    ((1, 1, 3, 3), 3, 1, (1.0,)), ((1, 2, 2, 6), 3, 3, ()),
)])  # fmt: skip

# ---- convolutions

CONVS: dict[int, list[Any]] = {
    1: [  # spatial, kernel, channels, filters, stride, padding, dilation, groups
        ((12,), (3,), 3, 5, 1, 1, 1, 1), ((11,), (4,), 4, 4, 2, (1, 2), 2, 2), ((8,), (1,), 2, 3, 1, 0, 1, 1), ((9,), (3,), 4, 4, 1, 0, 1, 4),
        ((10,), (5,), 1, 1, 3, 2, 1, 1), ((7,), (7,), 2, 2, 1, 0, 1, 1), ((6,), (2,), 2, 4, 2, 1, 1, 2), ((9,), (3,), 3, 2, 1, 2, 2, 1),
        ((5,), (2,), 1, 6, 1, 0, 3, 1), ((8,), (3,), 6, 3, 2, (0, 1), 1, 3),
    ],
    2: [
        ((8, 8), (3, 3), 4, 6, 1, 1, 1, 1), ((9, 7), (3, 2), 3, 4, 2, 0, 1, 1), ((7, 9), (3, 3), 2, 2, (2, 1), (1, 2), (1, 2), 1),
        ((6, 6), (1, 1), 4, 4, 1, 0, 1, 2), ((6, 5), (3, 3), 6, 6, 1, (0, 1, 2, 1), 1, 3), ((10, 10), (5, 5), 1, 1, 3, 2, 2, 1),
        ((4, 4), (4, 4), 2, 3, 1, 0, 1, 1), ((5, 6), (2, 3), 4, 4, (1, 2), 1, 1, 4), ((3, 8), (1, 3), 2, 2, 1, (0, 1), (1, 3), 1),
        ((5, 5), (3, 3), 2, 4, 2, 1, 1, 2),
    ],
    3: [
        ((4, 5, 6), (2, 3, 2), 2, 3, 1, 1, 1, 1), ((5, 4, 5), (2, 2, 2), 2, 4, 2, 0, 1, 1), ((3, 3, 3), (1, 1, 1), 3, 2, 1, 0, 1, 1),
        ((4, 4, 4), (3, 3, 3), 1, 1, 1, 1, 1, 1), ((5, 3, 4), (2, 1, 2), 2, 2, (1, 2, 1), 0, (2, 1, 1), 1), ((3, 4, 3), (3, 2, 3), 1, 2, 1, 1, 1, 1),
        ((4, 3, 3), (2, 2, 2), 2, 1, 1, (0, 1, 0), 1, 1), ((2, 2, 2), (2, 2, 2), 2, 2, 1, 0, 1, 1), ((4, 4, 2), (2, 2, 1), 1, 3, 2, 1, 1, 1),
        ((3, 5, 3), (1, 3, 1), 2, 2, 1, 0, (1, 2, 1), 1),
    ],
}  # fmt: skip


def conv_at(to_data: Any, to_filter: Any, back: Any) -> Any:
    """The reference in another layout: transposed to (N, C, ...) and back."""

    def g(
        x: np.ndarray,
        w: np.ndarray,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: Any = 1,
        *more: Any,
        **named: Any,
    ) -> Any:
        groups = named.get("groups", groups)
        groups = groups if isinstance(groups, int) else 1
        count = x.ndim - 2
        pads = spread(padding, count)
        before, after = (pads, pads) if len(pads) == count else (pads[:count], pads[count:])
        xs, ws = x.transpose(to_data(x.ndim)), w.transpose(to_filter(w.ndim))
        return conv_reference(
            xs, ws, spread(stride, count), before, after, spread(dilation, count), groups
        ).transpose(back(x.ndim))

    return g


def plain(n: int) -> Any:
    return tuple(range(n))


def last_to_first(n: int) -> Any:
    return (0, n - 1, *range(1, n - 1))


def first_to_last(n: int) -> Any:
    return (0, *range(2, n), 1)


def filter_from_last(n: int) -> Any:
    return (n - 1, n - 2, *range(n - 2))


FIRST, LAST = conv_at(plain, plain, plain), conv_at(last_to_first, filter_from_last, first_to_last)
HWCN = conv_at(lambda n: (3, 2, 0, 1), filter_from_last, lambda n: (2, 3, 1, 0))


def convs(rank: int, how: str, groups: bool | None, more: Any = lambda g: ()) -> list[Call]:
    """Calls for each case of a rank; ``groups``: whether the operator takes their number (None: there are none)."""
    out = []
    for n, (spatial, kernel, ch, o, stride, padding, dilation, g) in enumerate(CONVS[rank]):
        g = g if groups is not None else 1
        kind = "float64" if n == 8 else "float32"
        x, w = data(2 if n % 2 == 0 else 1, ch, *spatial, dtype=kind), data(o, ch // g, *kernel, dtype=kind)
        if how == "last":
            x, w = np.moveaxis(x, 1, -1), np.moveaxis(w, (0, 1), (-1, -2))
        elif how == "hwcn":
            x, w = x.transpose(2, 3, 1, 0), np.moveaxis(w, (0, 1), (-1, -2))
        out.append(
            c(
                np.ascontiguousarray(x),
                np.ascontiguousarray(w),
                stride,
                padding,
                dilation,
                *([g] if groups else []),
                *more(g),
            )
        )
    return out


for rank, first, last in ((1, "ncw", "nwc"), (2, "nchw", "nhwc")):
    add(f"nn.conv{rank}d_{first}", FIRST, convs(rank, "first", None), tol=1e-4)
    add(f"nn.conv{rank}d_{last}", LAST, convs(rank, "last", None), tol=1e-4)
    add(f"nn.group_conv{rank}d_{first}", FIRST, convs(rank, "first", True), tol=1e-4)
    add(f"nn.group_conv{rank}d_{last}", LAST, convs(rank, "last", True), tol=1e-4)
add("nn.conv2d_hwcn", HWCN, convs(2, "hwcn", None), tol=1e-4, symbolic=[])
add("nn.conv1d", FIRST, convs(1, "first", True), tol=1e-4)
add("nn.conv2d", FIRST, convs(2, "first", None), tol=1e-4)
add("nn.conv3d_ncdhw", FIRST, convs(3, "first", None), tol=1e-4)
add("nn.conv3d_ndhwc", LAST, convs(3, "last", None), tol=1e-4)
add("nn.conv", FIRST, convs(2, "first", True, lambda g: ("NCHW",)), tol=1e-4)


def packed(
    x: np.ndarray, w: np.ndarray, stride: Any, padding: Any, dilation: Any, layout: str, out_layout: str
) -> np.ndarray:
    n, co, h, width, ci = x.shape
    oo, _, kh, kw, _, oi = w.shape
    flat = x.transpose(0, 1, 4, 2, 3).reshape(n, co * ci, h, width)
    filters = w.transpose(0, 5, 1, 4, 2, 3).reshape(oo * oi, co * ci, kh, kw)
    y = FIRST(flat, filters, stride, padding, dilation)
    return y.reshape(n, oo, oi, *y.shape[2:]).transpose(0, 1, 3, 4, 2)


add("nn.conv2d_NCHWc", packed, [
    c(data(n, co, h, w, ci), data(oo, co, *k, ci, oi), s, p, d, f"NCHW{ci}c", f"NCHW{oi}c")
    for n, co, ci, oo, oi, h, w, k, s, p, d in (
        (1, 1, 3, 2, 2, 8, 8, (3, 3), 1, 1, 1), (2, 2, 2, 1, 4, 5, 6, (3, 2), 1, 0, 1), (1, 2, 4, 2, 2, 4, 4, (1, 1), 1, 0, 1),
        (1, 1, 2, 1, 2, 7, 7, (3, 3), 2, 1, 1), (1, 3, 1, 1, 3, 6, 5, (2, 2), 1, 0, 2), (2, 1, 4, 3, 1, 4, 4, (3, 3), 1, 1, 1),
        (1, 1, 1, 1, 1, 5, 5, (5, 5), 1, 2, 1), (1, 2, 2, 2, 2, 6, 6, (3, 3), 3, 0, 1), (1, 1, 8, 1, 8, 3, 3, (3, 3), 1, 1, 1),
        (1, 2, 2, 1, 2, 4, 6, (1, 3), 1, (0, 1), 1),
    )
], tol=1e-4)  # fmt: skip
add("nn.unpack_NCHWc_to_nchw", lambda x, k: x.transpose(0, 1, 4, 2, 3).reshape(x.shape[0], -1, *x.shape[2:4]).astype(k), [
    c(data(*s), k) for s in ((1, 2, 3, 4, 2), (2, 1, 2, 2, 4), (1, 3, 1, 1, 1), (3, 2, 2, 1, 3), (1, 1, 4, 4, 8)) for k in ("float32", "float64")
])  # fmt: skip


def depthwise(how: str) -> list[Call]:
    out = []
    for n, (h, w, ch, times, k, s, p, d) in enumerate((
        (9, 8, 4, 1, (3, 3), 1, 1, 1), (9, 8, 4, 3, (3, 3), 2, 0, 1), (7, 9, 2, 1, (3, 2), (1, 2), (2, 1), (2, 1)), (5, 5, 3, 2, (1, 1), 1, 0, 1),
        (6, 6, 1, 4, (3, 3), 1, 1, 1), (4, 8, 5, 1, (2, 3), 1, (0, 1), 1), (5, 5, 2, 1, (5, 5), 1, 2, 1), (8, 8, 2, 2, (3, 3), 3, 1, 1),
        (7, 7, 3, 1, (3, 3), 1, 2, 2), (3, 4, 2, 3, (3, 3), 1, 1, 1),
    )):  # fmt: skip
        x, f = data(1 + n % 2, ch, h, w), data(ch, times, *k)
        if how == "last":
            x, f = np.moveaxis(x, 1, -1), f.transpose(2, 3, 0, 1)
        out.append(c(np.ascontiguousarray(x), np.ascontiguousarray(f), s, p, d))
    return out


def depth_first(x: np.ndarray, w: np.ndarray, s: Any, p: Any, d: Any) -> np.ndarray:
    return FIRST(x, w.reshape(-1, 1, *w.shape[2:]), s, p, d, x.shape[1])


add("nn.depthwise_conv2d_nchw", depth_first, depthwise("first"), tol=1e-4)
add(
    "nn.depthwise_conv2d_nhwc",
    lambda x, w, s, p, d: np.moveaxis(depth_first(np.moveaxis(x, -1, 1), w.transpose(2, 3, 0, 1), s, p, d), 1, -1),
    depthwise("last"), tol=1e-4,
)  # fmt: skip

TURNED: dict[int, list[Any]] = {  # spatial, kernel, stride, pad, more, groups
    1: [((6,), (3,), (2,), (1,), (1,), 1), ((5,), (4,), (1,), (0,), (0,), 2), ((4,), (2,), (3,), (0,), (2,), 1), ((7,), (3,), (1,), (2,), (0,), 4),
        ((3,), (5,), (2,), (2,), (0,), 2), ((8,), (1,), (1,), (0,), (0,), 1), ((2,), (3,), (4,), (1,), (3,), 1), ((5,), (2,), (2,), (1,), (1,), 1),
        ((1,), (4,), (1,), (1,), (0,), 2), ((6,), (3,), (3,), (0,), (0,), 1)],
    2: [((4, 5), (3, 3), (2, 2), (1, 1), (0, 0), 1), ((4, 4), (3, 2), (1, 2), (0, 1), (0, 1), 1), ((3, 5), (4, 4), (3, 2), (2, 1), (2, 1), 2),
        ((2, 2), (3, 3), (1, 1), (1, 1), (0, 0), 1), ((3, 3), (1, 1), (2, 2), (0, 0), (1, 1), 4), ((5, 3), (2, 3), (2, 1), (0, 1), (1, 0), 2),
        ((1, 4), (2, 2), (2, 2), (0, 0), (0, 0), 1), ((3, 2), (5, 3), (1, 2), (2, 0), (0, 1), 1), ((4, 3), (3, 3), (3, 3), (1, 1), (0, 2), 1),
        ((2, 5), (2, 4), (1, 1), (1, 2), (0, 0), 2)],
    3: [((3, 2, 3), (2, 3, 2), (2, 1, 2), (0, 1, 0), (1, 0, 1), 1), ((2, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0), (0, 0, 0), 2),
        ((2, 3, 2), (1, 1, 1), (2, 2, 2), (0, 0, 0), (0, 1, 0), 1), ((3, 3, 2), (3, 2, 1), (1, 1, 2), (1, 0, 0), (0, 0, 1), 1),
        ((1, 2, 3), (2, 2, 3), (2, 1, 1), (0, 1, 1), (1, 0, 0), 2), ((2, 2, 2), (3, 3, 3), (1, 1, 1), (1, 1, 1), (0, 0, 0), 4),
        ((2, 1, 2), (2, 3, 2), (1, 2, 3), (1, 0, 0), (0, 0, 2), 1), ((3, 2, 2), (2, 1, 2), (1, 1, 1), (0, 0, 1), (0, 0, 0), 1),
        ((2, 2, 3), (1, 2, 2), (1, 2, 2), (0, 0, 0), (0, 1, 1), 2), ((2, 3, 3), (2, 2, 2), (3, 1, 1), (0, 1, 1), (0, 0, 0), 1)],
}  # fmt: skip
for rank, layout in ((1, "ncw"), (2, "nchw"), (3, "ncdhw")):
    for group in (False, True):
        calls = [
            c(
                data(1 + n % 2, 4, *sp),
                data(4, 3 if n % 3 else 1, *k),
                s,
                p,
                "float32",
                m,
                *([g] if group else []),
            )
            for n, (sp, k, s, p, m, g) in enumerate(TURNED[rank])
        ]
        name = f"nn.{'group_' if group else ''}conv{rank}d_transpose_{layout}"
        add(name, lambda x, w, s, p, k, m, g=1: transposed_reference(x, w, s, p, m, g), calls, tol=1e-4)

# ---- pools

POOLS = {  # spatial, kernel, stride, dilation, padding, kind, ceil, include
    1: [((10,), (3,), (2,), (1,), (1, 1)), ((11,), (4,), (3,), (2,), (0, 2)), ((6,), (2,), (2,), (1,), (0, 0)), ((7,), (3,), (1,), (1,), (1, 0)),
        ((5,), (5,), (1,), (1,), (0, 0))],
    2: [((8, 8), (2, 2), (2, 2), (1, 1), (0, 0, 0, 0)), ((7, 9), (3, 2), (2, 3), (1, 1), (1, 0, 1, 1)), ((9, 9), (3, 3), (1, 2), (2, 3), (2, 1, 1, 2)),
        ((7, 8), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)), ((5, 5), (5, 5), (1, 1), (1, 1), (0, 0, 0, 0))],
    3: [((4, 5, 6), (2, 2, 3), (2, 1, 2), (1, 1, 1), (0, 1, 1, 1, 0, 1)), ((4, 4, 4), (2, 2, 2), (2, 2, 2), (1, 1, 1), (0,) * 6),
        ((3, 3, 3), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1,) * 6), ((5, 3, 3), (2, 1, 1), (2, 1, 2), (2, 1, 1), (0, 0, 0, 1, 0, 0)),
        ((2, 4, 5), (1, 2, 2), (1, 2, 1), (1, 1, 1), (0,) * 6)],
}  # fmt: skip


def pooled(
    x: np.ndarray, k: Any, s: Any, d: Any, p: Any, kind: str, ceil: bool, layout: str, include: bool
) -> np.ndarray:
    n = len(k)
    last = layout.endswith("C")
    out = pool_reference(np.moveaxis(x, -1, 1) if last else x, k, s, d, p[:n], p[n:], kind, ceil, include)
    return np.moveaxis(out, 1, -1) if last else out


for rank, listed in POOLS.items():
    layouts = ["NC" + "DHW"[3 - rank :], "N" + "DHW"[3 - rank :] + "C"]
    calls = [
        c(
            floats(2, 3, *sp) if n % 3 else np.moveaxis(floats(2, 3, *sp), 1, -1).copy(),
            k,
            s,
            d,
            p,
            kind,
            n % 4 == 2,
            layouts[n % 3 == 0],
            n % 2 == 1,
        )
        for n, ((sp, k, s, d, p), kind) in enumerate(itertools.product(listed, ("max", "avg")))
    ]
    add(f"nn.pool{rank}d", pooled, calls)

ADAPT = {
    1: [((7,), (2,)), ((8,), (8,)), ((5,), (1,)), ((3,), (5,)), ((9,), (4,))],
    2: [((8, 8), (2, 4)), ((7, 5), (3, 2)), ((3, 4), (5, 4)), ((6, 6), (1, 1)), ((5, 3), (5, 3))],
    3: [
        ((4, 4, 4), (2, 1, 4)),
        ((5, 3, 2), (2, 2, 2)),
        ((3, 3, 3), (1, 1, 1)),
        ((2, 6, 4), (2, 3, 3)),
        ((4, 2, 3), (3, 2, 1)),
    ],
}


def adapted(x: np.ndarray, size: Any, kind: str, layout: str) -> np.ndarray:
    last = layout.endswith("C")
    out = adaptive_reference(np.moveaxis(x, -1, 1) if last else x, size, kind)
    return np.moveaxis(out, 1, -1) if last else out


for rank, name in ((1, "adaptive_pool1d"), (2, "adaptive_pool"), (3, "adaptive_pool3d")):
    layouts = ["NC" + "DHW"[3 - rank :], "N" + "DHW"[3 - rank :] + "C"]
    add(f"nn.{name}", adapted, [
        c(floats(2, 3, *sp) if n % 3 else np.moveaxis(floats(2, 3, *sp), 1, -1).copy(), size, kind, layouts[n % 3 == 0])
        for n, ((sp, size), kind) in enumerate(itertools.product(ADAPT[rank], ("max", "avg")))
    ])  # fmt: skip
add("nn.global_pool", lambda x, kind, layout: adapted(x, (1, 1), kind, layout), [
    c(floats(*s), kind, layout)
    for s in ((2, 3, 4, 5), (1, 1, 6, 6), (2, 4, 1, 3)) for kind in ("max", "avg") for layout in ("NCHW", "NHWC")
])  # fmt: skip

# ---- products


def dense(x: np.ndarray, w: np.ndarray, bias: Any = None, out_dtype: Any = None) -> np.ndarray:
    y = x.astype(out_dtype or x.dtype) @ w.astype(out_dtype or w.dtype).T
    return y if bias is None else y + bias


add("nn.dense", dense, [
    c(data(5, 8), data(6, 8), data(6)), c(data(5, 8), data(6, 8)), c(data(1, 3), data(2, 3)), c(data(4, 1), data(1, 1), data(1)),
    c(data(2, 8, dtype="int8"), data(3, 8, dtype="int8"), None, "int32"), c(data(2, 8, dtype="float64"), data(3, 8, dtype="float64")),
    c(data(2, 8, dtype="float16"), data(3, 8, dtype="float16"), None, "float32"), c(data(0, 3), data(2, 3)), c(data(3, 0), data(2, 0)),
    c(data(2, 4, dtype="uint8"), data(3, 4, dtype="uint8"), None, "int32"),
], tol=1e-4)  # fmt: skip


def matmul(
    a: np.ndarray, b: np.ndarray, bias: Any = None, kind: Any = None, ta: bool = False, tb: bool = False
) -> np.ndarray:
    a, b = (t.swapaxes(-1, -2) if turn else t for t, turn in ((a, ta), (b, tb)))
    y = a.astype(kind or a.dtype) @ b.astype(kind or b.dtype)
    return y if bias is None else y + bias


add("nn.matmul", matmul, [
    c(data(4, 5), data(5, 3)), c(data(4, 5), data(3, 5), None, None, False, True), c(data(5, 4), data(5, 3), None, None, True),
    c(data(5, 4), data(3, 5), None, None, True, True), c(data(4, 5), data(5, 3), data(3)), c(data(2, 1, 4, 5), data(3, 5, 2)),
    c(data(2, 4, 5), data(2, 5, 1)), c(data(4, 5, dtype="int8"), data(5, 3, dtype="int8"), None, "int32"),
    c(data(4, 5, dtype="float16"), data(5, 3, dtype="float16"), None, "float32"), c(data(1, 1), data(1, 1)), c(data(3, 2, 2), data(2, 2)),
], tol=1e-4, symbolic=[0, 1])  # fmt: skip
add("nn.batch_matmul", lambda a, b, shape=None, kind=None, ta=False, tb=True: matmul(a, b, None, kind, ta, tb), [
    c(data(3, 4, 5), data(3, 6, 5)), c(data(3, 4, 5), data(3, 5, 6), None, None, False, False), c(data(3, 5, 4), data(3, 6, 5), None, None, True),
    c(data(3, 5, 4), data(3, 5, 6), None, None, True, False), c(data(1, 4, 5), data(3, 6, 5)), c(data(3, 4, 5), data(1, 6, 5)),
    c(data(2, 1, 3), data(2, 1, 3)), c(data(2, 4, 3, dtype="int8"), data(2, 2, 3, dtype="int8"), None, "int32"),
    c(data(2, 2, 2, dtype="float64"), data(2, 2, 2, dtype="float64")), c(data(0, 2, 3), data(0, 4, 3)),
], tol=1e-4)  # fmt: skip

# ---- borders, blocks, losses

PADS = [
    ((2, 4, 5), (0, 2, 3), (0, 1, 0)), ((2, 4, 5), (0, 0, 1), (0, 0, 1)), ((2, 4, 5), (1, 1, 1), (0, 2, 2)), ((6,), (2,), (3,)), ((6,), (0,), (0,)),
    ((3, 4), (0, 3), (0, 3)), ((3, 4), (2, 0), (2, 0)), ((1, 2, 3, 3), (0, 0, 1, 2), (0, 0, 2, 1)),
]  # fmt: skip


def bordered(mode: str, by: Any = None) -> Any:
    def g(x: np.ndarray, before: Any, after: Any = None, value: Any = 0) -> np.ndarray:
        how = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(value, mode)
        more = {"constant_values": value} if mode == "constant" else {}
        return np.pad(x, list(zip(before, before if after is None else after, strict=True)), how, **more)

    return g


def pads() -> list[Call]:
    return [
        *[c(data(*s), b, a) for s, b, a in PADS],
        c(data(3, 4), (0, 1)),
        c(data(3, 4, dtype="int32"), (0, 1), (0, 2)),
        c(data(4, dtype="float64"), (3,), (1,)),
    ]


for name, mode in (("reflect_pad", "reflect"), ("replicate_pad", "edge"), ("circular_pad", "wrap")):
    add(f"nn.{name}", bordered(mode), pads(), symbolic=[0, 1])
add(
    "nn.mirror_pad",
    bordered("symmetric"),
    [*pads(), c(data(3, 4), (0, 2), (0, 1), "REFLECT")],
    symbolic=[0, 1],
)


def padded(x: np.ndarray, before: Any, after: Any = None, value: Any = 0.0) -> np.ndarray:
    after = before if after is None else after
    x = x[tuple(slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(before, after, x.shape, strict=True))]
    return np.pad(
        x, [(max(b, 0), max(a, 0)) for b, a in zip(before, after, strict=True)], constant_values=value
    )


add(
    "nn.pad",
    padded,
    [
        *pads(),
        c(data(2, 3, 4), (0, -1, 0), (0, 0, -2)),
        c(data(2, 3), (0, 1), (0, 1), 7.0),
        c(data(0, 2), (1, 0), (1, 0)),
    ],
    symbolic=[0, 1, 2],
)


def dilated(x: np.ndarray, strides: Any, value: float = 0.0) -> np.ndarray:
    out = np.full(
        [(n - 1) * s + 1 if n else 0 for n, s in zip(x.shape, strides, strict=True)], value, x.dtype
    )
    out[tuple(slice(None, None, s) for s in strides)] = x
    return out


add("nn.dilate", dilated, [c(data(*s), t, *more) for s, t, more in (
    ((2, 3, 4), (1, 2, 3), (9.0,)), ((2, 3, 4), (1, 1, 1), ()), ((5,), (2,), ()), ((5,), (4,), (1.5,)), ((3, 3), (2, 2), ()), ((1, 4), (3, 2), ()),
    ((2, 2, 2, 2), (1, 1, 2, 2), ()), ((4, 1), (2, 5), ()), ((2, 3), (3, 1), (-1.0,)),
)] + [c(data(3, 2, dtype="int32"), (2, 1), 0)])  # fmt: skip
add("nn.flatten", lambda x: x.reshape(x.shape[0], -1), [
    *[c(data(*s)) for s in ((2, 3, 4), (3, 5), (1, 2, 2, 2), (4, 1), (2, 0, 3), (5, 2, 1), (1, 7), (2, 2, 2, 2, 2))],
    c(data(2, 3, dtype="int8")), c(data(2, 3, dtype="float64")),
])  # fmt: skip


def by_layout(f: Any) -> Any:
    def g(x: np.ndarray, size: int, layout: str = "NCHW", *more: Any) -> np.ndarray:
        out = f(np.moveaxis(x, -1, 1) if layout == "NHWC" else x, size, *more)
        return np.moveaxis(out, 1, -1) if layout == "NHWC" else out

    return g


def to_depth(x: np.ndarray, b: int) -> np.ndarray:
    n, ch, h, w = x.shape
    return (
        x.reshape(n, ch, h // b, b, w // b, b)
        .transpose(0, 3, 5, 1, 2, 4)
        .reshape(n, ch * b * b, h // b, w // b)
    )


def to_space(x: np.ndarray, b: int, mode: str = "DCR") -> np.ndarray:
    n, ch, h, w = x.shape
    if mode == "DCR":
        return (
            x.reshape(n, b, b, ch // b // b, h, w)
            .transpose(0, 3, 4, 1, 5, 2)
            .reshape(n, ch // b // b, h * b, w * b)
        )
    return (
        x.reshape(n, ch // b // b, b, b, h, w)
        .transpose(0, 1, 4, 2, 5, 3)
        .reshape(n, ch // b // b, h * b, w * b)
    )


add("nn.space_to_depth", by_layout(to_depth), [
    c(data(*s), b, lay) for s, b, lay in (
        ((2, 8, 4, 6), 2, "NCHW"), ((1, 1, 4, 4), 2, "NCHW"), ((1, 2, 6, 3), 3, "NCHW"), ((2, 3, 4, 4), 4, "NCHW"), ((2, 3, 2, 2), 1, "NCHW"),
        ((2, 4, 6, 3), 2, "NHWC"), ((1, 4, 4, 1), 2, "NHWC"), ((1, 6, 3, 2), 3, "NHWC"), ((2, 4, 4, 1), 4, "NHWC"), ((3, 2, 2, 5), 1, "NHWC"),
    )
])  # fmt: skip
add("nn.depth_to_space", by_layout(to_space), [
    c(data(*s), b, lay, mode) for s, b, lay, mode in (
        ((2, 8, 4, 6), 2, "NCHW", "DCR"), ((2, 8, 4, 6), 2, "NCHW", "CRD"), ((1, 4, 1, 1), 2, "NCHW", "DCR"), ((1, 9, 2, 1), 3, "NCHW", "CRD"),
        ((1, 16, 1, 2), 4, "NCHW", "DCR"), ((2, 4, 6, 8), 2, "NHWC", "DCR"), ((2, 4, 6, 8), 2, "NHWC", "CRD"), ((1, 1, 2, 9), 3, "NHWC", "DCR"),
        ((2, 2, 2, 3), 1, "NHWC", "DCR"), ((1, 2, 1, 18), 3, "NHWC", "CRD"),
    )
])  # fmt: skip


def to_batch(x: np.ndarray, block: Any, before: Any, after: Any, value: float = 0.0) -> np.ndarray:
    m = len(block)
    x = np.pad(
        x, [(0, 0), *zip(before, after, strict=True), *[(0, 0)] * (x.ndim - 1 - m)], constant_values=value
    )
    shape = [x.shape[0]]
    for n, b in enumerate(block):
        shape += [x.shape[1 + n] // b, b]
    y = x.reshape(*shape, *x.shape[1 + m :])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, y.ndim)]
    y = y.transpose(order)
    return y.reshape(-1, *y.shape[m + 1 :])


def from_batch(x: np.ndarray, block: Any, before: Any, after: Any) -> np.ndarray:
    m = len(block)
    y = x.reshape(*block, -1, *x.shape[1:])
    order = [m]
    for n in range(m):
        order += [m + 1 + n, n]
    y = y.transpose(*order, *range(2 * m + 1, y.ndim))
    y = y.reshape(y.shape[0], *[x.shape[1 + n] * b for n, b in enumerate(block)], *x.shape[1 + m :])
    return y[(slice(None), *[slice(b, n - a) for b, a, n in zip(before, after, y.shape[1:], strict=False)])]


BLOCKS = [
    ((1, 3, 5, 2), (2, 2), (1, 0), (0, 1)), ((2, 4, 4), (2, 2), (0, 0), (0, 0)), ((1, 6), (3,), (0,), (0,)), ((2, 5), (2,), (1,), (0,)),
    ((1, 2, 4, 3), (1, 2), (0, 0), (0, 0)), ((1, 4, 4, 4), (2, 2, 2), (0, 0, 0), (0, 0, 0)), ((3, 4, 2), (4,), (0,), (0,)),
    ((1, 5, 5), (3, 3), (0, 1), (1, 0)), ((2, 2, 2), (1, 1), (0, 0), (0, 0)), ((1, 7, 1), (4,), (0,), (1,)),
]  # fmt: skip
add(
    "nn.space_to_batch_nd",
    to_batch,
    [c(data(*a[0]), *a[1:], *([1.5] if n % 3 == 1 else [])) for n, a in enumerate(BLOCKS)],
    symbolic=[1],
)
add(
    "nn.batch_to_space_nd",
    from_batch,
    [c(to_batch(data(*s), b, p, q).copy(), b, p, q) for s, b, p, q in BLOCKS],
    symbolic=[],
)


def nll(p: np.ndarray, t: np.ndarray, w: np.ndarray, reduction: str, ignore: int) -> Any:
    used = w[t] * (t != ignore)
    loss = -np.take_along_axis(p, t[:, None], 1)[:, 0] * used
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / used.sum()}[reduction]


add("nn.nll_loss", nll, [
    c(floats(n, k), index(k, n), np.abs(floats(k)) + np.float32(0.1), r, ignore)
    for n, k, ignore in ((6, 4, 3), (6, 4, -100), (1, 5, -1), (9, 2, 0)) for r in ("none", "sum", "mean") if not (k == 2 and r == "mean")
], tol=1e-4, symbolic=[0, 1])  # fmt: skip


def scaled(x: np.ndarray, s: np.ndarray, b: np.ndarray) -> np.ndarray:
    return x * s[:, None, None] + b[:, None, None]


def scaled_last(x: np.ndarray, s: np.ndarray, b: np.ndarray) -> np.ndarray:
    return x * s + b


IMAGES = [
    (2, 3, 4, 4),
    (1, 1, 2, 3),
    (3, 2, 1, 1),
    (1, 5, 2, 2),
    (2, 2, 3, 1),
    (1, 4, 1, 6),
    (4, 1, 2, 2),
    (0, 2, 2, 2),
    (1, 3, 7, 2),
]
for name, f, at in (("nchw", scaled, 1), ("nhwc", scaled_last, 3)):
    calls = [c(data(*s), data(s[at]), data(s[at])) for s in IMAGES]
    calls.append(c(data(2, 2, 2, 2, dtype="float64"), data(2, dtype="float64"), data(2, dtype="float64")))
    add(f"nn.scale_shift_{name}", f, calls)
