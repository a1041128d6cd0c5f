"""Pictures of digits that are made, not collected: seven-segment shapes, moved, in varied ink, with noise.

They stand in for the data sets that lessons download: enough to train a small network on, the same
everywhere, and offline.
"""

from __future__ import annotations

import functools

import numpy as np

SIDE = 10
#      0
#    5   1
#      6
#    4   2
#      3
SEGMENTS = ["012345", "12", "01643", "01623", "5612", "05623", "056423", "012", "0123456", "012356"]
STROKES = {
    "0": ((0, 0), (0, 4)), "1": ((0, 4), (3, 4)), "2": ((3, 4), (6, 4)), "3": ((6, 0), (6, 4)),
    "4": ((3, 0), (6, 0)), "5": ((0, 0), (3, 0)), "6": ((3, 0), (3, 4)),
}  # fmt: skip


def picture(digit: int, rng: np.random.Generator) -> np.ndarray:
    """One picture of ``digit``, SIDE by SIDE, between 0 and 1."""
    image = np.zeros((SIDE, SIDE), "float32")
    down, right = rng.integers(0, SIDE - 7), rng.integers(0, SIDE - 5)
    for segment in SEGMENTS[digit]:
        (y0, x0), (y1, x1) = STROKES[segment]
        ink = 0.6 + 0.4 * rng.random(dtype="float32")
        part = image[down + y0 : down + y1 + 1, right + x0 : right + x1 + 1]
        np.maximum(part, ink, out=part)
    image += 0.12 * rng.standard_normal(image.shape, dtype="float32")
    return np.clip(image, 0, 1)


@functools.cache
def pictures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """``count`` pictures, one a row, and the digits that they show."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = np.stack([picture(int(d), rng).ravel() for d in labels])
    return images, labels


@functools.cache
def trained(hidden: int = 48, steps: int = 150) -> dict[str, np.ndarray]:
    """The weights of a network of two layers that reads the pictures, trained in NumPy."""
    images, labels = pictures(1000, seed=0)
    rng = np.random.default_rng(1)
    p = {
        "w0": rng.standard_normal((hidden, SIDE * SIDE)) * 0.1, "b0": np.zeros(hidden),
        "w1": rng.standard_normal((10, hidden)) * 0.1, "b1": np.zeros(10),
    }  # fmt: skip
    speed = {k: np.zeros_like(v) for k, v in p.items()}
    for _ in range(steps):
        at = rng.integers(0, len(images), 128)
        x, d = images[at].astype("float64"), labels[at]
        h = np.maximum(x @ p["w0"].T + p["b0"], 0)
        y = h @ p["w1"].T + p["b1"]
        q = np.exp(y - y.max(1, keepdims=True))
        q /= q.sum(1, keepdims=True)
        q[np.arange(len(d)), d] -= 1
        q /= len(d)
        back = (q @ p["w1"]) * (h > 0)
        slope = {"w1": q.T @ h, "b1": q.sum(0), "w0": back.T @ x, "b0": back.sum(0)}
        for k, v in p.items():
            speed[k] = 0.9 * speed[k] - 0.4 * slope[k]
            v += speed[k]
    return {k: v.astype("float32") for k, v in p.items()}


def reference(images: np.ndarray, p: dict[str, np.ndarray]) -> np.ndarray:
    """The scores of the network, in NumPy."""
    return np.maximum(images @ p["w0"].T + p["b0"], 0) @ p["w1"].T + p["b1"]
