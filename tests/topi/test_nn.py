"""Operators of neural networks against plain NumPy loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tirscript as ts
from tirscript import te, topi

from .helper import check

RNG = np.random.default_rng(3)


def data(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


def conv_reference(x, w, stride, before, after, dilation, groups=1):
    """x is (N, C, ...), w is (O, C / groups, ...)."""
    x, w = x.astype("float64"), w.astype("float64")
    count = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)])
    out = [(x.shape[2 + a] - (w.shape[2 + a] - 1) * dilation[a] - 1) // stride[a] + 1 for a in range(count)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    each, own = w.shape[0] // groups, w.shape[1]
    for o in range(w.shape[0]):
        first = o // each * own
        for place in itertools.product(*[range(n) for n in w.shape[2:]]):
            at = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, dilation, out, stride, strict=True)
            )
            part = x[(slice(None), slice(first, first + own), *at)]
            y[:, o] += np.einsum("nc...,c->n...", part, w[(o, slice(None), *place)])
    return y


CONVS = [
    # spatial, kernel, channels, filters, stride, padding, dilation, groups
    ((8, 8), (3, 3), 4, 6, 1, 1, 1, 1),
    ((9, 7), (3, 2), 3, 4, 2, 0, 1, 1),
    ((7, 9), (3, 3), 2, 2, (2, 1), (1, 2), (1, 2), 1),
    ((6, 6), (1, 1), 4, 4, 1, 0, 1, 2),
    ((6, 5), (3, 3), 6, 6, 1, (0, 1, 2, 1), 1, 3),
    ((10, 10), (5, 5), 1, 1, 3, 2, 2, 1),
    ((12,), (3,), 3, 5, 1, 1, 1, 1),
    ((11,), (4,), 4, 4, 2, (1, 2), 2, 2),
    ((4, 5, 6), (2, 3, 2), 2, 3, 1, 1, 1, 1),
    ((5, 4, 5), (2, 2, 2), 2, 4, 2, 0, 1, 2),
]


def spread(value, count):
    return [value] * count if isinstance(value, int) else list(value)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions(case, channels_last):
    spatial, kernel, c, o, stride, padding, dilation, groups = case
    count = len(spatial)
    x, w = data(2, c, *spatial), data(o, c // groups, *kernel)
    pads = spread(padding, count)
    before, after = (pads, pads) if len(pads) == count else (pads[:count], pads[count:])
    want = conv_reference(x, w, spread(stride, count), before, after, spread(dilation, count), groups)
    layout = "NC" + "DHW"[3 - count :]
    if channels_last:
        layout = "N" + "DHW"[3 - count :] + "C"
        x, w, want = np.moveaxis(x, 1, -1), np.moveaxis(w, (0, 1), (-1, -2)), np.moveaxis(want, 1, -1)
    check(
        lambda a, b: topi.nn.conv(a, b, stride, padding, dilation, groups, layout),
        want, x, w, tol=1e-4, symbolic=count == 2 and not channels_last,
    )  # fmt: skip


def test_named_convolutions():
    x, w = data(1, 3, 8, 8), data(4, 3, 3, 3)
    want = conv_reference(x, w, [1, 1], [1, 1], [1, 1], [1, 1])
    check(lambda a, b: topi.nn.conv2d(a, b, 1, "SAME", 1), want, x, w, tol=1e-4)
    check(lambda a, b: topi.nn.conv2d_nchw(a, b, 1, 1, 1), want, x, w, tol=1e-4)
    last = np.transpose(x, (0, 2, 3, 1)), np.transpose(w, (2, 3, 1, 0)), np.transpose(want, (0, 2, 3, 1))
    check(lambda a, b: topi.nn.conv2d_nhwc(a, b, 1, 1, 1), last[2], last[0], last[1], tol=1e-4)
    check(lambda a, b: topi.nn.conv2d(a, b, 1, 1, 1, "NHWC"), last[2], last[0], last[1], tol=1e-4)
    hwcn = np.transpose(x, (2, 3, 1, 0)), np.transpose(want, (2, 3, 1, 0))
    check(
        lambda a, b: topi.nn.conv2d_hwcn(a, b, 1, 1, 1), hwcn[1], hwcn[0], last[1], tol=1e-4, symbolic=False
    )
    packed = x.reshape(1, 1, 3, 8, 8).transpose(0, 1, 3, 4, 2)
    filters = w.reshape(2, 2, 1, 3, 3, 3).transpose(0, 2, 4, 5, 3, 1)
    check(
        lambda a, b: topi.nn.unpack_NCHWc_to_nchw(
            topi.nn.conv2d_NCHWc(a, b, 1, 1, 1, "NCHW3c", "NCHW2c"), "float32"
        ),
        want, packed, filters, tol=1e-4, symbolic=False,
    )  # fmt: skip
    func = te.create_prim_func(
        [*(t := [te.placeholder(a.shape) for a in (x, w)]), topi.nn.conv2d(*t, 1, 1, 1)]
    )
    sch = ts.Schedule(func)
    names = [sch.get(loop).loop_var.name for loop in sch.get_loops("conv2d_nchw")]
    assert names == ["nn", "ff", "yy", "xx", "rc", "ry", "rx"] and sch.get_block("pad_temp")


def test_integers_with_a_wider_sum():
    x = RNG.integers(-128, 128, (1, 8, 5, 5)).astype("int8")
    w = RNG.integers(-128, 128, (4, 8, 3, 3)).astype("int8")
    want = conv_reference(x, w, [1, 1], [0, 0], [0, 0], [1, 1])
    check(lambda a, b: topi.nn.conv2d(a, b, 1, 0, 1, out_dtype="int32"), want, x, w)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 1, 1), (2, 0, 1), ((1, 2), (2, 1), (2, 1))])
def test_depthwise(times, stride, padding, dilation):
    x, w = data(2, 4, 9, 8), data(4, times, 3, 3)
    pads = spread(padding, 2)
    want = conv_reference(
        x, w.reshape(4 * times, 1, 3, 3), spread(stride, 2), pads, pads, spread(dilation, 2), 4
    )
    check(lambda a, b: topi.nn.depthwise_conv2d_nchw(a, b, stride, padding, dilation), want, x, w, tol=1e-4)
    check(
        lambda a, b: topi.nn.depthwise_conv2d_nhwc(a, b, stride, padding, dilation),
        np.moveaxis(want, 1, -1), np.moveaxis(x, 1, -1), np.transpose(w, (2, 3, 0, 1)), tol=1e-4,
    )  # fmt: skip


def transposed_reference(x, w, stride, pad, more, groups=1):
    """Scatter: each input element adds its filter; w is (C, O / groups, ...)."""
    x, w = x.astype("float64"), w.astype("float64")
    count = x.ndim - 2
    whole = [(x.shape[2 + a] - 1) * stride[a] + w.shape[2 + a] + more[a] for a in range(count)]
    own_in, own_out = x.shape[1] // groups, w.shape[1]
    y = np.zeros((x.shape[0], own_out * groups, *whole))
    for c in range(x.shape[1]):
        base = c // own_in * own_out
        for place in itertools.product(*[range(n) for n in x.shape[2:]]):
            at = tuple(slice(p * s, p * s + k) for p, s, k in zip(place, stride, w.shape[2:], strict=True))
            y[(slice(None), slice(base, base + own_out), *at)] += np.einsum(
                "n,o...->no...", x[(slice(None), c, *place)], w[c]
            )
    cut = tuple(slice(p, n - p) for p, n in zip(pad, whole, strict=True))
    return y[(slice(None), slice(None), *cut)]


@pytest.mark.parametrize(
    ("spatial", "kernel", "stride", "pad", "more", "groups"),
    [
        ((4, 5), (3, 3), (2, 2), (1, 1), (0, 0), 1),
        ((4, 4), (3, 2), (1, 2), (0, 1), (0, 1), 1),
        ((3, 5), (4, 4), (3, 2), (2, 1), (2, 1), 2),
        ((6,), (3,), (2,), (1,), (1,), 1),
        ((5,), (4,), (1,), (0,), (0,), 2),
        ((3, 2, 3), (2, 3, 2), (2, 1, 2), (0, 1, 0), (1, 0, 1), 1),
    ],
)
def test_transposed(spatial, kernel, stride, pad, more, groups):
    x, w = data(2, 4, *spatial), data(4, 3, *kernel)
    want = transposed_reference(x, w, stride, pad, more, groups)
    name = {1: "conv1d_transpose_ncw", 2: "conv2d_transpose_nchw", 3: "conv3d_transpose_ncdhw"}[len(spatial)]
    if groups == 1:
        check(lambda a, b: getattr(topi.nn, name)(a, b, stride, pad, "float32", more), want, x, w, tol=1e-4)
    grouped = getattr(topi.nn, f"group_{name}")
    check(lambda a, b: grouped(a, b, stride, pad, "float32", more, groups), want, x, w, tol=1e-4)


def pool_reference(x, kernel, stride, dilation, before, after, kind, ceil, include):
    """Over the trailing axes, as PyTorch and ONNX define it."""
    count = len(kernel)
    lead = x.shape[: x.ndim - count]
    out = []
    for a in range(count):
        n = x.shape[len(lead) + a]
        room = n + before[a] + after[a] - (kernel[a] - 1) * dilation[a] - 1
        size = (math.ceil(room / stride[a]) if ceil else room // stride[a]) + 1
        if ceil and (size - 1) * stride[a] >= n + before[a]:
            size -= 1
        out.append(size)
    y = np.zeros((*lead, *out))
    for place in itertools.product(*[range(n) for n in out]):
        values, number = [], 0
        for k in itertools.product(*[range(n) for n in kernel]):
            at = [p * s - b + e * d for p, s, b, e, d in zip(place, stride, before, k, dilation, strict=True)]
            sizes = x.shape[len(lead) :]
            if all(0 <= v < n for v, n in zip(at, sizes, strict=True)):
                values.append(x[(..., *at)].astype("float64"))
                number += 1
            elif include and all(
                -b <= v < n + c for v, n, b, c in zip(at, sizes, before, after, strict=True)
            ):
                number += 1
        y[(..., *place)] = (
            np.max(values, axis=0) if kind == "max" else np.sum(values, axis=0) / max(number, 1)
        )
    return y


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    ("spatial", "kernel", "stride", "dilation", "padding", "ceil", "include"),
    [
        ((8, 8), (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), False, True),
        ((7, 9), (3, 2), (2, 3), (1, 1), (1, 0, 1, 1), False, True),
        ((7, 9), (3, 2), (2, 3), (1, 1), (1, 0, 1, 1), False, False),
        ((7, 8), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), True, True),
        ((7, 8), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), True, False),
        ((9, 9), (3, 3), (1, 2), (2, 3), (2, 1, 1, 2), False, False),
        ((10,), (3,), (2,), (1,), (1, 1), False, True),
        ((11,), (4,), (3,), (2,), (0, 2), True, False),
        ((4, 5, 6), (2, 2, 3), (2, 1, 2), (1, 1, 1), (0, 1, 1, 1, 0, 1), False, False),
        ((5, 5), (5, 5), (1, 1), (1, 1), (0, 0, 0, 0), False, True),
    ],
)
def test_pooling(kind, spatial, kernel, stride, dilation, padding, ceil, include):
    count = len(spatial)
    x = data(2, 3, *spatial)
    want = pool_reference(x, kernel, stride, dilation, padding[:count], padding[count:], kind, ceil, include)
    f = getattr(topi.nn, f"pool{count}d")
    layout = "NC" + "DHW"[3 - count :]
    check(lambda a: f(a, kernel, stride, dilation, padding, kind, ceil, layout, include), want, x)
    last = "N" + "DHW"[3 - count :] + "C"
    check(
        lambda a: f(a, kernel, stride, dilation, padding, kind, ceil, last, include),
        np.moveaxis(want, 1, -1), np.moveaxis(x, 1, -1),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    ("spatial", "size"), [((8, 8), (2, 4)), ((7, 5), (3, 2)), ((3, 4), (5, 4)), ((6, 6), (1, 1))]
)
def test_adaptive_pooling(kind, spatial, size):
    x = data(2, 3, *spatial)
    want = np.zeros((2, 3, *size))
    for place in itertools.product(*[range(n) for n in size]):
        at = tuple(
            slice(p * n // s, -(-(p + 1) * n // s)) for p, n, s in zip(place, spatial, size, strict=True)
        )
        part = x[(slice(None), slice(None), *at)].astype("float64")
        want[(..., *place)] = part.max((2, 3)) if kind == "max" else part.mean((2, 3))
    check(lambda a: topi.nn.adaptive_pool(a, size, kind), want, x)
    check(
        lambda a: topi.nn.adaptive_pool(a, size, kind, "NHWC"),
        np.moveaxis(want, 1, -1),
        np.moveaxis(x, 1, -1),
    )
    if size == (1, 1):
        check(lambda a: topi.nn.global_pool(a, kind), want, x)


def test_adaptive_pooling_of_other_ranks():
    x = data(2, 3, 7)
    want = np.stack([x[..., 0:4].max(-1), x[..., 3:7].max(-1)], -1)
    check(lambda a: topi.nn.adaptive_pool1d(a, 2, "max"), want, x)
    v = data(1, 2, 4, 4, 4)
    check(
        lambda a: topi.nn.adaptive_pool3d(a, (2, 1, 4), "avg"),
        v.reshape(1, 2, 2, 2, 1, 4, 4, 1).mean((3, 5, 7)), v,
    )  # fmt: skip


ACTIVATIONS = {
    "relu": (topi.nn.relu, lambda x: np.maximum(x, 0)),
    "leaky_relu": (lambda x: topi.nn.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "softplus": (topi.nn.softplus, lambda x: np.logaddexp(0, x)),
    "softplus_2": (
        lambda x: topi.nn.softplus(x, 2.0, 5.0),
        lambda x: np.where(2 * x > 5, x, np.logaddexp(0, 2 * x) / 2),
    ),
    "gelu": (topi.nn.gelu, lambda x: x * np.vectorize(lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)(x)),
    "gelu_tanh": (
        topi.nn.gelu_tanh,
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "silu": (topi.nn.silu, lambda x: x / (1 + np.exp(-x))),
    "hard_swish": (topi.nn.hard_swish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "elu": (lambda x: topi.nn.elu(x, 0.5), lambda x: np.where(x > 0, x, 0.5 * (np.exp(x) - 1))),
    "softmax": (topi.nn.softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    "softmax_0": (lambda x: topi.nn.softmax(x, 0), lambda x: np.exp(x) / np.exp(x).sum(0, keepdims=True)),
    "fast_softmax": (
        lambda x: topi.nn.fast_softmax(x, 1),
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    ),
    "log_softmax": (topi.nn.log_softmax, lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
}


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 7), (2, 1), (6,)])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, shape):
    if name == "fast_softmax" and len(shape) < 2:
        shape = (3, *shape)
    f, reference = ACTIVATIONS[name]
    x = data(*shape) * 3
    check(f, reference(x.astype("float64")), x, tol=2e-5)


def test_softmax_of_great_and_of_masked_numbers():
    x = np.array([[1e4, 0, -1e4], [-np.inf, 0, 0], [88, 89, 90]], "float32")
    wide = x.astype("float64")
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    check(topi.nn.softmax, powers / powers.sum(-1, keepdims=True), x)
    finite = x[[0, 2]]
    wide = finite.astype("float64")
    top = wide.max(-1, keepdims=True)
    check(topi.nn.log_softmax, wide - top - np.log(np.exp(wide - top).sum(-1, keepdims=True)), finite)


def test_prelu():
    x, s = data(2, 3, 4), data(3)
    check(lambda a, b: topi.nn.prelu(a, b), np.where(x > 0, x, x * s[None, :, None]), x, s)
    t = data(4)
    check(lambda a, b: topi.nn.prelu(a, b, 2), np.where(x > 0, x, x * t), x, t)


@pytest.mark.parametrize("axes", [(-1,), (1, 2), (0,)])
@pytest.mark.parametrize("offset", [0, 1000])
def test_layer_and_rms_norm(axes, offset):
    x = data(4, 3, 5) + np.float32(offset)
    shape = [x.shape[a] for a in sorted(a % 3 for a in axes)]
    g, b = data(*shape), data(*shape)
    wide = x.astype("float64")
    mean, var = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    at = [slice(None) if n in {a % 3 for a in axes} else None for n in range(3)]
    want = (wide - mean) / np.sqrt(var + 1e-5) * g[tuple(at)] + b[tuple(at)]
    symbolic = 0 not in axes
    tol = 1e-4 if not offset else 2e-3
    check(lambda x, g, b: topi.nn.layer_norm(x, g, b, axes), want, x, g, b, tol=tol, symbolic=symbolic)
    rms = wide / np.sqrt((wide**2).mean(axes, keepdims=True) + 1e-5)
    check(lambda x, g: topi.nn.rms_norm(x, g, axes), rms * g[tuple(at)], x, g, tol=1e-4, symbolic=symbolic)


def test_half_precision_norm():
    x, g, b = data(4, 64, dtype="float16"), data(64, dtype="float16"), data(64, dtype="float16")
    wide = x.astype("float64")
    want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * g + b
    check(lambda x, g, b: topi.nn.layer_norm(x, g, b, 1), want, x, g, b, tol=4e-3)


def test_group_and_instance_norm():
    x, g, b = data(2, 6, 4, 3), data(6), data(6)
    wide = x.astype("float64")

    def normal(x, axes):
        return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)

    scale, shift = g[None, :, None, None], b[None, :, None, None]
    parts = normal(wide.reshape(2, 3, 2, 4, 3), (2, 3, 4)).reshape(x.shape)
    check(lambda x, g, b: topi.nn.group_norm(x, g, b, 3, 1, [2, 3]), parts * scale + shift, x, g, b, tol=1e-4)
    each = normal(wide, (2, 3))
    check(lambda x, g, b: topi.nn.instance_norm(x, g, b, 1, [2, 3]), each * scale + shift, x, g, b, tol=1e-4)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("axis", [1, 3])
def test_batch_norm(training, axis):
    x = data(2, 5, 3, 5)
    g, b, m, v = data(5), data(5), data(5), np.abs(data(5)) + 0.5
    others = tuple(n for n in range(4) if n != axis)
    wide = x.astype("float64")
    mean, var = (wide.mean(others), wide.var(others)) if training else (m, v)
    at = [None] * 4
    at[axis] = slice(None)
    k = tuple(at)
    want = (wide - mean[k]) / np.sqrt(var[k] + 1e-3) * g[k] + b[k]
    moved = [0.9 * m + 0.1 * mean, 0.9 * v + 0.1 * var] if training else [m, v]
    check(
        lambda x, g, b, m, v: topi.nn.batch_norm(x, g, b, m, v, axis, 1e-3, training=training),
        [want, *moved], x, g, b, m, v, tol=1e-4,
    )  # fmt: skip


def test_lrn():
    x = data(2, 7, 3, 3)
    wide = np.pad(x.astype("float64") ** 2, [(0, 0), (2, 2), (0, 0), (0, 0)])
    total = sum(wide[:, n : n + 7] for n in range(5))
    check(lambda a: topi.nn.lrn(a, 5, 1, 0.1, 0.75, 2), x / (2 + 0.1 / 5 * total) ** 0.75, x)


def test_products():
    x, w, b = data(5, 8), data(6, 8), data(6)
    check(lambda x, w, b: topi.nn.dense(x, w, b), x @ w.T + b, x, w, b, tol=1e-4)
    check(lambda x, w: topi.nn.matmul(x, w, transpose_b=True), x @ w.T, x, w, tol=1e-4)
    check(lambda x, w: topi.nn.matmul(x, w, None, None, True, False), x[:4].T @ w[:4], x[:4], w[:4], tol=1e-4)
    a, c = data(3, 4, 5), data(3, 6, 5)
    check(lambda a, c: topi.nn.batch_matmul(a, c), a @ c.transpose(0, 2, 1), a, c, tol=1e-4)
    check(
        lambda a, c: topi.nn.batch_matmul(a, c, transpose_b=False), a @ c.transpose(0, 2, 1), a,
        np.ascontiguousarray(c.transpose(0, 2, 1)), tol=1e-4,
    )  # fmt: skip
    d, e = data(2, 1, 4, 5), data(3, 5, 2)
    check(lambda d, e: topi.nn.matmul(d, e), d @ e, d, e, tol=1e-4)
    i, j = (RNG.integers(-100, 100, s).astype("int8") for s in ((4, 9), (3, 9)))
    check(lambda a, b: topi.nn.dense(a, b, out_dtype="int32"), i.astype("int32") @ j.T.astype("int32"), i, j)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("reflect_pad", "reflect"),
        ("replicate_pad", "edge"),
        ("circular_pad", "wrap"),
        ("mirror_pad", "symmetric"),
    ],
)
def test_borders(name, mode):
    x = data(2, 4, 5)
    want = np.pad(x, [(0, 0), (2, 1), (3, 0)], mode)
    check(lambda a: getattr(topi.nn, name)(a, (0, 2, 3), (0, 1, 0)), want, x)


def test_pad_and_dilate():
    x = data(2, 3, 4)
    check(
        lambda a: topi.nn.pad(a, (0, 1, 2), (0, 0, 3), 7.0),
        np.pad(x, [(0, 0), (1, 0), (2, 3)], constant_values=7),
        x,
    )
    check(lambda a: topi.nn.pad(a, (0, -1, 0), (0, 0, -2)), x[:, 1:, :-2], x)
    want = np.full((2, 5, 10), 9.0)
    want[:, ::2, ::3] = x
    check(lambda a: topi.nn.dilate(a, (1, 2, 3), 9.0), want, x)
    check(topi.nn.flatten, x.reshape(2, 12), x)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_space_and_depth(layout):
    x = data(2, 8, 4, 6)
    n, c, h, w = x.shape
    flat = x.reshape(n, c, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * 4, 2, 3)
    dcr = x.reshape(n, 2, 2, 2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, 2, 8, 12)
    crd = x.reshape(n, 2, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, 2, 8, 12)
    move = (lambda a: a) if layout == "NCHW" else (lambda a: np.ascontiguousarray(np.moveaxis(a, 1, -1)))
    check(lambda a: topi.nn.space_to_depth(a, 2, layout), move(flat), move(x))
    check(lambda a: topi.nn.depth_to_space(a, 2, layout), move(dcr), move(x))
    check(lambda a: topi.nn.depth_to_space(a, 2, layout, "CRD"), move(crd), move(x))


def test_space_and_batch():
    x = data(1, 3, 5, 2)
    padded = np.pad(x, [(0, 0), (1, 0), (0, 1), (0, 0)])
    want = padded.reshape(1, 2, 2, 3, 2, 2).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 3, 2)
    check(lambda a: topi.nn.space_to_batch_nd(a, (2, 2), (1, 0), (0, 1)), want, x, symbolic=False)
    check(
        lambda a: topi.nn.batch_to_space_nd(a, (2, 2), (1, 0), (0, 1)),
        x,
        want.astype("float32"),
        symbolic=False,
    )


def test_losses_and_scales():
    p, t, w = np.log(np.abs(data(6, 4)) + 0.1), np.array([0, 3, 1, 2, 3, 0], "int32"), np.abs(data(4))
    picked = -p[np.arange(6), t] * w[t] * (t != 3)
    for reduction, want in (
        ("none", picked), ("sum", picked.sum()), ("mean", picked.sum() / (w[t] * (t != 3)).sum()),
    ):  # fmt: skip
        check(lambda p, t, w, r=reduction: topi.nn.nll_loss(p, t, w, r, 3), want, p, t, w, symbolic=False)
    x, s, b = data(2, 3, 4, 4), data(3), data(3)
    check(topi.nn.scale_shift_nchw, x * s[:, None, None] + b[:, None, None], x, s, b)
    y = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    check(topi.nn.scale_shift_nhwc, y * s + b, y, s, b)


def test_what_is_refused():
    x, w = te.placeholder((1, 4, 8, 8)), te.placeholder((2, 3, 3, 3))

    def error(code, f):
        with pytest.raises(ts.TirscriptError) as caught:
            f()
        assert caught.value.code == code, str(caught.value)

    error("groups", lambda: topi.nn.conv2d(x, w, 1, 1, 1))
    error("layout", lambda: topi.nn.conv2d(x, w, 1, 1, 1, "NCXY"))
    error("layout", lambda: topi.nn.conv1d(x, w))
    error("padding", lambda: topi.nn.conv2d(x, te.placeholder((2, 4, 3, 3)), 1, "FULL", 1))
    error("padding", lambda: topi.nn.conv2d(x, te.placeholder((2, 4, 3, 3)), 1, (1, 2, 3), 1))
    error("stride", lambda: topi.nn.conv2d(x, te.placeholder((2, 4, 3, 3)), 0, 1, 1))
    error("shape", lambda: topi.nn.conv2d(x, te.placeholder((2, 4, 11, 3)), 1, 0, 1))
    error("mode", lambda: topi.nn.pool2d(x, 2, 2, 1, 0, "min"))
    error("layout", lambda: topi.nn.pool2d(x, 2, 2, 1, 0, "max", layout="NCW"))
    error("padding", lambda: topi.nn.pool2d(x, 2, 2, 1, (0, 1, 2), "max"))
    error("shape", lambda: topi.nn.layer_norm(x, te.placeholder((4,)), None, 3))
    error("dtype", lambda: topi.nn.layer_norm(te.placeholder((4, 4), "int32"), None, None, 1))
    error("groups", lambda: topi.nn.group_norm(x, None, None, 3, 1, [2, 3]))
    error("shape", lambda: topi.nn.dense(te.placeholder((2, 3)), te.placeholder((4, 5))))
    error("axis", lambda: topi.nn.softmax(x, 4))
