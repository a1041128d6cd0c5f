"""Operators of neural networks against plain NumPy loops."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript import te, topi

from .helper import check
from .references import conv_reference

RNG = np.random.default_rng(3)


def data(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


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


def test_softmax_of_great_and_of_masked_numbers():
    x = np.array([[1e4, 0, -1e4], [-np.inf, 0, 0], [88, 89, 90]], "float32")
    wide = x.astype("float64")
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    check(topi.nn.softmax, powers / powers.sum(-1, keepdims=True), x)
    finite = x[[0, 2]]
    wide = finite.astype("float64")
    top = wide.max(-1, keepdims=True)
    check(topi.nn.log_softmax, wide - top - np.log(np.exp(wide - top).sum(-1, keepdims=True)), finite)


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
