"""Operators on images against NumPy references."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tirscript as ts
from tirscript import te, topi

from .helper import check

RNG = np.random.default_rng(5)


def data(*shape):
    return RNG.standard_normal(shape).astype("float32")


def places(n, m, mode):
    x = np.arange(m, dtype="float64")
    if mode == "half_pixel":
        return (x + 0.5) * n / m - 0.5
    if mode == "pytorch_half_pixel":
        return (x + 0.5) * n / m - 0.5 if m > 1 else x * 0
    if mode == "asymmetric":
        return x * n / m
    return x * (n - 1) / (m - 1) if m > 1 else x * 0


def cubic(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def matrix(n, m, method, mode, alpha=-0.75, exclude=False):
    """The (m, n) matrix that maps an axis."""
    out = np.zeros((m, n))
    for row, x in zip(out, places(n, m, mode), strict=True):
        low = int(np.floor(x))
        if method == "nearest":
            at = {"half_pixel": int(np.ceil(x - 0.5)), "align_corners": int(np.floor(x + 0.5))}.get(mode, low)
            row[min(max(at, 0), n - 1)] = 1
            continue
        cells = {low: 1 - (x - low), low + 1: x - low}
        if method == "cubic":
            cells = {low + k: cubic(x - low - k, alpha) for k in (-1, 0, 1, 2)}
            if exclude:
                cells = {c: w for c, w in cells.items() if 0 <= c < n}
                total = sum(cells.values())
                cells = {c: w / total for c, w in cells.items()}
        for c, w in cells.items():
            row[min(max(c, 0), n - 1)] += w
    return out


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize("size", [(8, 10), (3, 4), (4, 5), (1, 7)])
def test_resize(method, mode, size):
    x = data(2, 3, 4, 5)
    short = method.removesuffix("_neighbor")
    rows, columns = matrix(4, size[0], short, mode), matrix(5, size[1], short, mode)
    want = np.einsum("ay,bx,ncyx->ncab", rows, columns, x)
    f = topi.image.resize2d
    check(lambda a: f(a, None, size, "NCHW", method, mode), want, x, tol=1e-4)
    if mode == "half_pixel":
        last = np.moveaxis(want, 1, -1), np.ascontiguousarray(np.moveaxis(x, 1, -1))
        check(lambda a: f(a, None, size, "NHWC", method, mode), *last, tol=1e-4)


def test_resize_of_other_ranks_and_options():
    row = data(2, 3, 6)
    check(
        lambda a: topi.image.resize1d(a, None, 9),
        np.einsum("ax,ncx->nca", matrix(6, 9, "linear", "half_pixel"), row),
        row, tol=1e-4,
    )  # fmt: skip
    cube = data(1, 2, 3, 4, 2)
    mats = [matrix(n, m, "linear", "align_corners") for n, m in ((3, 5), (4, 3), (2, 4))]
    want = np.einsum("az,by,cx,nkzyx->nkabc", *mats, cube)
    check(
        lambda a: topi.image.resize3d(a, None, (5, 3, 4), coordinate_transformation_mode="align_corners"),
        want, cube, tol=1e-4,
    )  # fmt: skip
    x = data(1, 1, 5, 5)
    mats = [matrix(5, m, "cubic", "half_pixel", -0.5, True) for m in (8, 7)]
    check(
        lambda a: topi.image.resize2d(a, None, (8, 7), method="cubic", bicubic_alpha=-0.5, bicubic_exclude=1),
        np.einsum("ay,bx,ncyx->ncab", *mats, x), x, tol=1e-4,
    )  # fmt: skip
    mats = [matrix(5, m, "nearest", "asymmetric") for m in (10, 10)]
    check(lambda a: topi.nn.upsampling(a, 2, 2), np.einsum("ay,bx,ncyx->ncab", *mats, x), x)
    mats = [matrix(5, m, "linear", "align_corners") for m in (10, 15)]
    check(
        lambda a: topi.nn.upsampling(a, 2, 3, method="bilinear", align_corners=True),
        np.einsum("ay,bx,ncyx->ncab", *mats, x), x, tol=1e-4,
    )  # fmt: skip


def read(image, y, x, mode, corners):
    """One channel-last pixel of an image at whole numbers, as PyTorch pads."""
    h, w = image.shape[1:]

    def fold(v, n):
        if mode == "border":
            return min(max(v, 0), n - 1)
        if mode == "reflection":
            low, span = (0, n - 1) if corners else (-0.5, n)
            if span == 0:
                return 0
            gap = abs(v - low)
            turns, rest = divmod(gap, span)
            v = rest + low if turns % 2 == 0 else span - rest + low
            return min(max(v, 0), n - 1)
        return v

    y, x = fold(y, h), fold(x, w)
    if not (0 <= y <= h - 1 and 0 <= x <= w - 1):
        return np.zeros(image.shape[0])
    return image[:, int(y), int(x)].astype("float64")


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample(method, mode, corners):
    image, grid = data(2, 2, 4, 5), (RNG.random((2, 2, 3, 4)) * 3 - 1.5).astype("float32")
    want = np.zeros((2, 2, 3, 4))
    for n, h, w in itertools.product(range(2), range(3), range(4)):

        def place(v, size):
            return (v + 1) / 2 * (size - 1) if corners else ((v + 1) * size - 1) / 2

        x, y = place(np.float64(grid[n, 0, h, w]), 5), place(np.float64(grid[n, 1, h, w]), 4)
        if method != "bicubic" and mode != "zeros":

            def fold(v, size):
                if mode == "reflection":
                    low, span = (0, size - 1) if corners else (-0.5, size)
                    turns, rest = divmod(abs(v - low), span)
                    v = rest + low if turns % 2 == 0 else span - rest + low
                return min(max(v, 0), size - 1)

            x, y = fold(x, 5), fold(y, 4)
        if method == "nearest":
            want[n, :, h, w] = read(image[n], np.rint(y), np.rint(x), mode, corners)
            continue
        steps = (0, 1) if method == "bilinear" else (-1, 0, 1, 2)
        weight = (lambda d: max(0, 1 - abs(d))) if method == "bilinear" else (lambda d: cubic(d, -0.75))
        ly, lx = np.floor(y), np.floor(x)
        for sy, sx in itertools.product(steps, steps):
            share = weight(y - ly - sy) * weight(x - lx - sx)
            want[n, :, h, w] += share * read(image[n], ly + sy, lx + sx, mode, corners)
    check(
        lambda a, g: topi.image.grid_sample(a, g, method, "NCHW", mode, corners), want, image, grid, tol=2e-4
    )


@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid(corners):
    maps = data(2, 2, 3)
    axis = (lambda n: np.linspace(-1, 1, n)) if corners else (lambda n: (2 * np.arange(n) + 1) / n - 1)
    xs, ys = np.meshgrid(axis(5), axis(4))
    places_of = np.stack([xs, ys, np.ones_like(xs)])
    want = np.einsum("nck,kyx->ncyx", maps, places_of)
    check(lambda m: topi.image.affine_grid(m, (4, 5), corners), want, maps)


@pytest.mark.parametrize("method", ["bilinear", "nearest_neighbor"])
def test_crop_and_resize(method):
    image = data(2, 3, 6, 7)
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.73, 0.9], [0.8, 0.9, 0.1, -0.2]], "float32")
    index = np.array([1, 0, 1], "int32")
    size = (4, 5)
    want = np.zeros((3, 3, *size))
    for b, (y1, x1, y2, x2) in enumerate(boxes.astype("float64")):
        for i, j in itertools.product(range(4), range(5)):
            y = y1 * 5 + i * (y2 - y1) * 5 / 3
            x = x1 * 6 + j * (x2 - x1) * 6 / 4
            if not (0 <= y <= 5 and 0 <= x <= 6):
                want[b, :, i, j] = 9
                continue
            part = image[index[b]].astype("float64")
            if method == "nearest_neighbor":
                want[b, :, i, j] = part[:, int(np.floor(y + 0.5)), int(np.floor(x + 0.5))]
                continue
            ly, lx = int(y), int(x)
            ty, tx = y - ly, x - lx
            hy, hx = min(ly + 1, 5), min(lx + 1, 6)
            want[b, :, i, j] = (
                part[:, ly, lx] * (1 - ty) * (1 - tx) + part[:, ly, hx] * (1 - ty) * tx
                + part[:, hy, lx] * ty * (1 - tx) + part[:, hy, hx] * ty * tx
            )  # fmt: skip
    check(
        lambda a, b, i: topi.image.crop_and_resize(a, b, i, size, "NCHW", method, 9.0),
        want, image, boxes, index, tol=1e-4, symbolic=False,
    )  # fmt: skip


def test_dilation():
    x, k = data(2, 3, 6, 6), data(3, 3, 2)
    wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 1)], constant_values=-np.inf)
    want = np.full((2, 3, 3, 3), -np.inf)
    for i, j in itertools.product(range(3), range(2)):
        want = np.maximum(want, wide[:, :, i : i + 5 : 2, j : j + 5 : 2] + k[:, i, j][None, :, None, None])
    check(lambda a, b: topi.image.dilation2d_nchw(a, b, 2, (1, 0, 1, 1), 1), want, x, k)
    check(
        lambda a, b: topi.image.dilation2d_nhwc(a, b, 2, (1, 0, 1, 1), 1), np.moveaxis(want, 1, -1),
        np.ascontiguousarray(np.moveaxis(x, 1, -1)), np.ascontiguousarray(np.moveaxis(k, 0, -1)),
    )  # fmt: skip


def test_what_is_refused():
    x = te.placeholder((1, 3, 8, 8))
    for f in (
        lambda: topi.image.resize2d(x, None, (4, 4), method="lanczos"),
        lambda: topi.image.resize2d(x, None, (4, 4), coordinate_transformation_mode="middle"),
        lambda: topi.image.resize2d(x, None, (4, 4), method="nearest_neighbor", rounding_method="up"),
        lambda: topi.image.grid_sample(x, te.placeholder((1, 2, 4, 4)), "cubic"),
        lambda: topi.nn.upsampling(x, 2, 2, method="area"),
    ):
        with pytest.raises(ts.TirscriptError, match="mode"):
            f()
    with pytest.raises(ts.TirscriptError, match="layout"):
        topi.image.resize2d(x, None, (4, 4), layout="NCW")
