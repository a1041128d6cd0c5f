"""Operators on images, and their references."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .table import RNG, Call, add, c, floats


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
                cells = {k: w for k, w in cells.items() if 0 <= k < n}
                total = sum(cells.values())
                cells = {k: w / total for k, w in cells.items()}
        for k, w in cells.items():
            row[min(max(k, 0), n - 1)] += w
    return out


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


RESIZES = [  # method, mode, size
    ("linear", "half_pixel", (8, 10)), ("linear", "align_corners", (3, 4)), ("linear", "asymmetric", (4, 5)), ("linear", "pytorch_half_pixel", (1, 7)),
    ("nearest_neighbor", "half_pixel", (8, 10)), ("nearest_neighbor", "align_corners", (3, 4)), ("nearest_neighbor", "asymmetric", (6, 2)),
    ("cubic", "half_pixel", (7, 6)), ("cubic", "align_corners", (4, 5)), ("cubic", "asymmetric", (3, 3)), ("linear", "align_corners", (1, 1)),
    ("cubic", "pytorch_half_pixel", (1, 4)), ("nearest_neighbor", "pytorch_half_pixel", (5, 5)), ("linear", "half_pixel", (2, 2)),
]  # fmt: skip


def resized(
    x: np.ndarray, roi: Any, size: Any, layout: str = "", method: str = "linear", mode: str = "half_pixel", rounding: str = "",
    alpha: float = -0.75, exclude: int = 0,
) -> np.ndarray:  # fmt: skip
    last = layout.endswith("C")
    y = np.moveaxis(x, -1, 1) if last else x
    for n, m in enumerate(size):
        table = matrix(y.shape[2 + n], m, method.removesuffix("_neighbor"), mode, alpha, bool(exclude))
        y = np.moveaxis(np.tensordot(table, y.astype("float64"), (1, 2 + n)), 0, 2 + n)
    return np.moveaxis(y, 1, -1) if last else y


def resizes(rank: int) -> list[Call]:
    out = []
    layouts = ["NC" + "DHW"[3 - rank :], "N" + "DHW"[3 - rank :] + "C"]
    for n, (method, mode, size) in enumerate(RESIZES):
        if rank == 3 and method == "cubic" and n != 8:
            continue
        shape = (1 + n % 2, 2, *(3, 4, 5)[3 - rank :])
        x = floats(*shape) if n % 3 else np.moveaxis(floats(*shape), 1, -1).copy()
        sizes = (3, *size)[3 - rank :]
        more = ("", -0.5, 1) if n == 7 and rank < 3 else ()
        out.append(c(x, None, sizes, layouts[n % 3 == 0], method, mode, *more))
    return out


for rank in (1, 2, 3):
    add(f"image.resize{rank}d", resized, resizes(rank), tol=1e-4)


def upsampled(
    x: np.ndarray,
    h: float,
    w: float,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    corners: bool = False,
) -> np.ndarray:
    last = layout == "NHWC"
    sizes = x.shape[1:3] if last else x.shape[2:]
    how = {"bilinear": "linear", "bicubic": "cubic"}.get(method, method)
    mode = "align_corners" if corners else "asymmetric"
    return resized(x, None, [round(n * s) for n, s in zip(sizes, (h, w), strict=True)], layout, how, mode)


add("nn.upsampling", upsampled, [
    c(floats(*s), h, w, lay, m, k) for s, h, w, lay, m, k in (
        ((1, 2, 5, 5), 2, 2, "NCHW", "nearest_neighbor", False), ((1, 2, 3, 4), 3, 2, "NCHW", "nearest_neighbor", False),
        ((2, 3, 4, 2), 2, 2, "NHWC", "nearest_neighbor", False), ((1, 2, 3, 3), 2, 3, "NCHW", "bilinear", True),
        ((1, 2, 3, 3), 2, 2, "NCHW", "bilinear", False), ((1, 3, 3, 2), 2, 2, "NHWC", "bilinear", True), ((1, 1, 4, 4), 1, 2, "NCHW", "bilinear", True),
        ((1, 1, 3, 4), 2, 2, "NCHW", "bicubic", True), ((1, 1, 3, 4), 2, 1, "NCHW", "bicubic", False), ((1, 1, 2, 2), 1, 1, "NCHW", "nearest_neighbor", False),
        ((2, 1, 1, 3), 4, 2, "NCHW", "nearest_neighbor", False),
    )
], tol=1e-4)  # fmt: skip


def upsampled3(
    x: np.ndarray,
    d: float,
    h: float,
    w: float,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    mode: str = "half_pixel",
) -> np.ndarray:
    sizes = x.shape[1:4] if layout == "NDHWC" else x.shape[2:]
    how = "linear" if method == "trilinear" else method
    mode = "asymmetric" if (how, mode) == ("nearest_neighbor", "half_pixel") else mode
    return resized(x, None, [round(n * s) for n, s in zip(sizes, (d, h, w), strict=True)], layout, how, mode)


add("nn.upsampling3d", upsampled3, [
    c(floats(*s), d, h, w, lay, m, k) for s, d, h, w, lay, m, k in (
        ((1, 2, 2, 3, 2), 2, 2, 2, "NCDHW", "nearest_neighbor", "asymmetric"), ((1, 1, 2, 2, 2), 3, 1, 2, "NCDHW", "nearest_neighbor", "half_pixel"),
        ((2, 2, 2, 2, 1), 2, 2, 2, "NDHWC", "nearest_neighbor", "asymmetric"), ((1, 2, 2, 3, 2), 2, 2, 2, "NCDHW", "trilinear", "half_pixel"),
        ((1, 1, 2, 3, 3), 1, 2, 3, "NCDHW", "trilinear", "align_corners"), ((1, 1, 3, 2, 2), 2, 1, 1, "NCDHW", "trilinear", "asymmetric"),
        ((1, 3, 2, 2, 2), 2, 2, 2, "NDHWC", "trilinear", "half_pixel"), ((1, 1, 1, 1, 1), 2, 3, 4, "NCDHW", "nearest_neighbor", "half_pixel"),
        ((2, 1, 1, 2, 3), 1, 1, 1, "NCDHW", "trilinear", "half_pixel"), ((1, 2, 2, 1, 2), 2, 3, 1, "NCDHW", "nearest_neighbor", "align_corners"),
    )
], tol=1e-4)  # fmt: skip


def sampled(
    image: np.ndarray, grid: np.ndarray, method: str, layout: str, mode: str, corners: bool
) -> np.ndarray:
    count, channels, rows, columns = image.shape
    want = np.zeros((count, channels, *grid.shape[2:]))
    for n, h, w in itertools.product(range(count), *map(range, grid.shape[2:])):

        def place(v: Any, size: int) -> Any:
            return (v + 1) / 2 * (size - 1) if corners else ((v + 1) * size - 1) / 2

        x, y = place(np.float64(grid[n, 0, h, w]), columns), place(np.float64(grid[n, 1, h, w]), rows)
        if method != "bicubic" and mode != "zeros":

            def fold(v: Any, size: int) -> Any:
                if mode == "reflection":
                    low, span = (0, size - 1) if corners else (-0.5, size)
                    turns, rest = divmod(abs(v - low), span)
                    v = rest + low if turns % 2 == 0 else span - rest + low
                return min(max(v, 0), size - 1)

            x, y = fold(x, columns), fold(y, rows)
        if method == "nearest":
            want[n, :, h, w] = read(image[n], np.rint(y), np.rint(x), mode, corners)
            continue
        steps = (0, 1) if method == "bilinear" else (-1, 0, 1, 2)
        ly, lx = np.floor(y), np.floor(x)
        for sy, sx in itertools.product(steps, steps):
            dy, dx = y - ly - sy, x - lx - sx
            share = (
                max(0, 1 - abs(dy)) * max(0, 1 - abs(dx))
                if method == "bilinear"
                else cubic(dy, -0.75) * cubic(dx, -0.75)
            )
            want[n, :, h, w] += share * read(image[n], ly + sy, lx + sx, mode, corners)
    return want


add("image.grid_sample", sampled, [
    c(floats(1, 2, 4, 5), (RNG.random((1, 2, 2, 3)) * 3 - 1.5).astype("float32"), method, "NCHW", mode, corners)
    for method in ("bilinear", "nearest", "bicubic") for mode in ("zeros", "border", "reflection") for corners in (True, False)
], tol=5e-4, symbolic=[0, 3])  # fmt: skip


def affine(maps: np.ndarray, size: Any, corners: bool = True) -> np.ndarray:
    h, w = size
    ends = [
        (np.linspace(-1, 1, n) if n > 1 else np.array([-1.0])) if corners else (2 * np.arange(n) + 1) / n - 1
        for n in (w, h)
    ]
    xs, ys = np.meshgrid(*ends)
    return np.einsum("nck,kyx->ncyx", maps, np.stack([xs, ys, np.ones_like(xs)]))


add("image.affine_grid", affine, [
    c(floats(n, 2, 3), size, k) for n, size in ((2, (4, 5)), (1, (2, 2)), (3, (7, 3)), (1, (5, 2)), (2, (3, 6))) for k in (True, False)
])  # fmt: skip


def cropped(
    image: np.ndarray,
    boxes: np.ndarray,
    which: np.ndarray,
    size: Any,
    layout: str,
    method: str,
    outside: float,
) -> np.ndarray:
    last = layout == "NHWC"
    image = np.moveaxis(image, -1, 1) if last else image
    rows, columns = image.shape[2] - 1, image.shape[3] - 1
    want = np.zeros((len(boxes), image.shape[1], *size))
    for b, (y1, x1, y2, x2) in enumerate(boxes.astype("float64")):
        for i, j in itertools.product(range(size[0]), range(size[1])):
            y = y1 * rows + i * (y2 - y1) * rows / (size[0] - 1) if size[0] > 1 else (y1 + y2) / 2 * rows
            x = (
                x1 * columns + j * (x2 - x1) * columns / (size[1] - 1)
                if size[1] > 1
                else (x1 + x2) / 2 * columns
            )
            if not (0 <= y <= rows and 0 <= x <= columns):
                want[b, :, i, j] = outside
                continue
            part = image[which[b]].astype("float64")
            if method == "nearest_neighbor":
                want[b, :, i, j] = part[:, int(np.floor(y + 0.5)), int(np.floor(x + 0.5))]
                continue
            ly, lx = int(y), int(x)
            ty, tx = y - ly, x - lx
            hy, hx = min(ly + 1, rows), min(lx + 1, columns)
            want[b, :, i, j] = (
                part[:, ly, lx] * (1 - ty) * (1 - tx) + part[:, ly, hx] * (1 - ty) * tx
                + part[:, hy, lx] * ty * (1 - tx) + part[:, hy, hx] * ty * tx
            )  # fmt: skip
    return np.moveaxis(want, 1, -1) if last else want


BOXES = np.array([[0.03, 0.02, 0.97, 0.96], [0.2, 0.1, 0.73, 0.9], [0.8, 0.9, 0.1, -0.2]], "float32")
add("image.crop_and_resize", cropped, [
    c(floats(2, 3, 6, 7) if lay == "NCHW" else floats(2, 6, 7, 3), BOXES, np.array([1, 0, 1], "int32"), size, lay, m, 9.0)
    for size, lay, m in itertools.product(((4, 5), (2, 3), (3, 2)), ("NCHW", "NHWC"), ("bilinear", "nearest_neighbor"))
], tol=1e-3, symbolic=[0])  # fmt: skip


def dilation(x: np.ndarray, k: np.ndarray, stride: Any, padding: Any, dilations: Any) -> np.ndarray:
    stride, dilations = np.broadcast_to(stride, 2), np.broadcast_to(dilations, 2)
    top, left, bottom, right = (padding,) * 4 if isinstance(padding, int) else padding
    wide = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], constant_values=-np.inf)
    sizes = [(wide.shape[2 + a] - (k.shape[1 + a] - 1) * dilations[a] - 1) // stride[a] + 1 for a in range(2)]
    want = np.full((*x.shape[:2], *sizes), -np.inf)
    for i, j in itertools.product(range(k.shape[1]), range(k.shape[2])):
        at = [
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip((i, j), dilations, sizes, stride, strict=True)
        ]
        want = np.maximum(want, wide[(slice(None), slice(None), *at)] + k[:, i, j][None, :, None, None])
    return want


def dilation_last(x: np.ndarray, k: np.ndarray, *more: Any) -> np.ndarray:
    return np.moveaxis(dilation(np.moveaxis(x, -1, 1), np.moveaxis(k, -1, 0), *more), 1, -1)


DILATIONS = [
    ((2, 3, 6, 6), (3, 3, 2), 2, (1, 0, 1, 1), 1), ((1, 1, 5, 5), (1, 3, 3), 1, 1, 1), ((1, 2, 4, 6), (2, 2, 2), 1, 0, 1), ((1, 2, 7, 7), (2, 3, 3), 1, 0, 2),
    ((2, 1, 5, 4), (1, 1, 1), 1, 0, 1), ((1, 3, 6, 5), (3, 2, 3), (2, 1), 0, 1), ((1, 1, 3, 3), (1, 3, 3), 1, 1, 1), ((3, 2, 4, 4), (2, 4, 4), 1, 0, 1),
    ((1, 2, 8, 3), (2, 2, 1), 3, 0, (2, 1)), ((1, 4, 5, 5), (4, 3, 3), 2, 1, 1),
]  # fmt: skip
add("image.dilation2d_nchw", dilation, [c(floats(*s), floats(*k), *more) for s, k, *more in DILATIONS])
add("image.dilation2d_nhwc", dilation_last, [
    c(np.moveaxis(floats(*s), 1, -1).copy(), np.moveaxis(floats(*k), 0, -1).copy(), *more) for s, k, *more in DILATIONS
])  # fmt: skip
