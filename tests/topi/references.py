"""What operators of neural networks give, in plain NumPy loops."""

from __future__ import annotations

import itertools
import math

import numpy as np


def spread(value, count):
    return [value] * count if isinstance(value, int) else list(value)


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


def adaptive_reference(x, size, kind):
    """Over the trailing axes: parts that cover the input, from floor to ceil."""
    spatial = x.shape[x.ndim - len(size) :]
    y = np.zeros((*x.shape[: x.ndim - len(size)], *size))
    for place in itertools.product(*[range(n) for n in size]):
        at = tuple(
            slice(p * n // s, -(-(p + 1) * n // s)) for p, n, s in zip(place, spatial, size, strict=True)
        )
        part = x[(..., *at)].astype("float64")
        axes = tuple(range(-len(size), 0))
        y[(..., *place)] = part.max(axes) if kind == "max" else part.mean(axes)
    return y
