"""Reductions, shapes, slices, indices, orders, products, and tensors made of nothing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tirscript.ir import ops

from .table import RNG, add, c, cross, data, floats, index

# ---- reductions


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))))


def picked(f: Any) -> Any:
    """argmax and argmin, over several axes as over one flat one."""

    def g(x: np.ndarray, axis: Any = None, keepdims: bool = False, last: bool = False) -> np.ndarray:
        axes = axes_of(axis, x.ndim)
        rest = [n for n in range(x.ndim) if n not in axes]
        flat = x.transpose(*rest, *axes).reshape([*[x.shape[n] for n in rest], -1])
        out = flat.shape[-1] - 1 - f(flat[..., ::-1], -1) if last else f(flat, -1)
        return out.reshape([1 if n in axes else x.shape[n] for n in range(x.ndim)]) if keepdims else out

    return g


AXES = [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2)]


def reduced(kinds: str, n: int = 3) -> list[Any]:
    calls = [
        c(floats(n, 4, 5), a, k) for a, k in cross([1, -1, (1, 2), None, 0, (0, 2), (0, 1, 2)], (False, True))
    ]
    return calls + [c(data(4, 7, dtype=k), 1) for k in kinds.split()]


add(
    "sum",
    lambda x, a=None, k=False: x.sum(a, keepdims=k, dtype="float64"),
    reduced("int32 float64 float16"),
    tol=1e-4,
)
add(
    "prod", lambda x, a=None, k=False: x.prod(a, keepdims=k, dtype="float64"), reduced("float64", 2), tol=1e-4
)
for name in ("max", "min"):
    f = getattr(np, name)
    add(
        name, lambda x, a=None, k=False, f=f: f(x, a, keepdims=k), reduced("int32 int8 uint8 float64 float16")
    )
for name in ("argmax", "argmin"):
    calls = reduced("int32 int8 uint8 float64 float16")
    add(
        name, picked(getattr(np, name)), [*calls, c(data(5, 9), 1, False, True), c(data(9), None, True, True)]
    )
for name in ("all", "any"):
    f = getattr(np, name)
    calls = [
        c(RNG.random((3, 4, 2)) < (0.8 if name == "all" else 0.2), a, k)
        for a, k in cross([1, -1, (1, 2), None, 0, (0, 2)], (False, True))
    ]
    add(name, lambda x, a=None, k=False, f=f: f(x, a, keepdims=k), calls)


def collapse(x: np.ndarray, shape: Any) -> np.ndarray:
    lead = x.ndim - len(shape)
    x = x.sum(tuple(range(lead)))
    axes = tuple(n for n, e in enumerate(shape) if e == 1 and x.shape[n] != 1)
    return x.sum(axes, keepdims=True)


add(
    "collapse_sum", collapse,
    [
        c(data(*s), t)
        for s, t in (
            ((2, 3, 4), (3, 1)), ((2, 3, 4), (4,)), ((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (1, 3, 4)),
            ((2, 3, 4), (1, 1)), ((5,), (1,)), ((2, 1, 4), (1, 4)), ((3, 2), (3, 1)), ((3, 2), (1, 2)),
            ((2, 2, 2, 3), (2, 3)), ((1, 4), (4,)),
        )
    ],
    symbolic=[0, 1],
)  # fmt: skip

# ---- shapes

add(
    "transpose", lambda x, axes=None: x.transpose(axes),
    [
        c(data(2, 3, 4)), c(data(2, 3, 4), (-1, 0, 1)), c(data(2, 3, 4), (1, 0, 2)), c(data(3, 5)), c(data(4)),
        c(data(0, 3)), c(data(2, 3, dtype="int8")), c(data(2, 1, 3, 2), (3, 1, 0, 2)), c(data(1, 1)),
        c(data(3, 2, dtype="float64"), [1, 0]),
    ],
)  # fmt: skip
add(
    "expand_dims",
    lambda x, a, n=1: np.expand_dims(x, tuple(range(a % (x.ndim + 1), a % (x.ndim + 1) + n))),
    [c(data(*s), a, n) for s in ((3, 4), (5,)) for a, n in ((1, 1), (0, 1), (-1, 1), (0, 2), (1, 3))],
)
add(
    "squeeze", lambda x, axis=None: np.squeeze(x, None if axis is None else tuple(np.atleast_1d(axis))),
    [
        c(data(3, 1, 4)), c(data(3, 1, 4), 1), c(data(3, 1, 4), -2), c(data(3, 1, 1, 2), (1, 2)),
        c(data(3, 1, 1, 2), 2), c(data(1, 1)), c(data(1)), c(data(2, 3)), c(data(1, 4, 1)),
        c(data(3, 1, dtype="int32"), (-1,)), c(data(0, 1)),
    ],
)  # fmt: skip
add(
    "reshape", lambda x, shape: x.reshape(shape),
    [
        c(data(2, 3, 4), s)
        for s in ((4, 6), (2, 2, 3, 2), (-1, 8), (24,), (-1,), (1, 24, 1), (2, 12), (2, -1), (3, 2, 4))
    ] + [c(data(6, dtype="int8"), (2, 3)), c(data(0, 3), (3, 0)), c(data(1), ())],
    symbolic=[7],
)  # fmt: skip
add(
    "concatenate", lambda xs, axis=0: np.concatenate(xs, axis),
    [
        c([data(*s) for s in shapes], axis)
        for shapes, axis in (
            ([(2, 3)] * 3, 1), ([(2, 3), (2, 1), (2, 4)], 1), ([(2, 3), (1, 3)], 0), ([(4,), (2,)], 0),
            ([(2, 3, 2)] * 2, -1), ([(2, 3, 2)] * 2, 2), ([(2, 3)], 0), ([(0, 3), (2, 3)], 0), ([(2, 0), (2, 2)], 1),
        )
    ] + [c([data(2, 2, dtype=k)] * 2, 1) for k in ("int32", "float64")],
)  # fmt: skip
add(
    "stack", lambda xs, axis=0: np.stack(xs, axis),
    [c([data(*s) for _ in range(n)], a) for s, n, a in (
        ((2, 3), 2, 1), ((2, 3), 3, -1), ((2, 3), 2, 0), ((4,), 2, 0), ((4,), 2, 1), ((2, 3), 1, 2), ((), 3, 0),
        ((1, 1), 2, 1), ((2, 2, 2), 2, 2),
    )] + [c([data(3, dtype=k)] * 2, 0) for k in ("int8", "float64")],
)  # fmt: skip
add(
    "split", lambda x, cuts, axis=0: np.split(x, cuts, axis),
    [
        c(data(2, 3, 4), 2, 2), c(data(2, 3, 4), [1, 3], 2), c(data(2, 3, 4), [1], 1), c(data(2, 3, 4), 3, 1),
        c(data(6), 3), c(data(6), [2, 2, 5]), c(data(6), 1), c(data(4, 2), 2, 0), c(data(2, 6), [0, 6], -1),
        c(data(2, 4, dtype="int32"), 4, -1), c(data(2, 4, dtype="float64"), [3], 1),
    ],
)  # fmt: skip
add(
    "repeat", lambda x, n, axis: np.repeat(x, n, axis),
    [c(data(*s), n, a) for s, n, a in (
        ((2, 3, 4), 3, 1), ((2, 3, 4), 2, -1), ((2, 3, 4), 2, 0), ((5,), 1, 0), ((5,), 4, 0), ((2, 2), 3, 1),
        ((1, 3), 2, 0), ((0, 2), 2, 1), ((3, 1), 5, 1),
    )] + [c(data(2, 2, dtype="int8"), 2, 0)],
)  # fmt: skip
add(
    "tile", np.tile,
    [c(data(*s), r) for s, r in (
        ((2, 3), (1, 2)), ((2, 3), (2, 2)), ((2, 3), (2,)), ((2, 3), (2, 1, 3)), ((4,), (3,)), ((4,), (2, 2)),
        ((2, 3, 2), (1, 1, 2)), ((1,), (5,)), ((2, 3), (1, 1)), ((0, 2), (2, 2)),
    )] + [c(data(2, dtype="int32"), (2,))],
)  # fmt: skip
add(
    "flip", lambda x, axis=0: np.flip(x, axis),
    [c(data(*s), a) for s, a in (
        ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), 0), ((5,), 0), ((1, 4), 1), ((4, 1), 1), ((0, 3), 1), ((3, 3), -2),
    )] + [c(data(4, dtype=k), 0) for k in ("int8", "float64")],
)  # fmt: skip
add(
    "broadcast_to", np.broadcast_to,
    [c(data(*s), t) for s, t in (
        ((2, 3), (2, 3)), ((2, 1), (2, 3)), ((3,), (2, 3)), ((1,), (4,)), ((), (2, 2)), ((2, 3, 4), (3, 2, 3, 4)),
        ((1, 3), (0, 3)), ((1, 1, 2), (2, 3, 2)), ((4, 1), (2, 4, 5)),
    )] + [c(data(1, 3, dtype="int32"), (2, 3))],
    symbolic=[],
)  # fmt: skip


def expand_like(x: np.ndarray, like: np.ndarray, axis: Any) -> np.ndarray:
    axes = axes_of(axis, like.ndim)
    if x.ndim + len(axes) != like.ndim:
        return np.broadcast_to(x[0], like.shape)
    return np.broadcast_to(np.expand_dims(x, axes), like.shape)


add(
    "expand_like", expand_like,
    [c(data(*s), data(*t), a) for s, t, a in (
        ((3, 4), (3, 4, 2), 2), ((3,), (3, 4), 1), ((4,), (3, 4), 0), ((3, 4), (2, 3, 4), (0,)),
        ((3,), (2, 3, 4), (0, 2)), ((4,), (2, 3, 4), (0, 1)), ((2, 4), (2, 3, 4), -2), ((1,), (2, 3), (0, 1)),
        ((2, 3), (2, 3, 1), -1), ((2,), (2, 5, 3), (1, 2)),
    )],
    symbolic=[8],
)  # fmt: skip
add("shape", lambda x, k="int32": np.array(x.shape, k), [
    c(data(*s), k) for s in ((2, 3), (4,), (2, 3, 1), (0, 2), (1, 1, 1, 5)) for k in ("int32", "int64")
])  # fmt: skip
add("tensor_size ndarray_size", lambda x, k="int32": np.array(x.size, k), [
    c(data(*s), k) for s in ((2, 3), (4,), (2, 3, 1), (0, 2), (1, 1, 1, 5)) for k in ("int32", "float32")
])  # fmt: skip


def layout(x: np.ndarray, source: str, target: str) -> np.ndarray:
    """Axis by axis: to plain axes, padded, split, in the order of the target."""
    import re

    def parts(text: str) -> list[tuple[str, int]]:
        return [(a, int(n or 0)) for n, a in re.findall(r"(\d*)([A-Za-z])", text)]

    src, dst = parts(source), parts(target)
    plain = [a for a, _ in src if a.isupper()]
    order = []
    for a in plain:
        order += [n for n, (b, _) in enumerate(src) if b == a] + [
            n for n, (b, _) in enumerate(src) if b == a.lower()
        ]
    x = x.transpose(order)
    sizes = []
    at = 0
    for a in plain:
        count = sum(b.upper() == a for b, _ in src)
        sizes.append(int(np.prod(x.shape[at : at + count])))
        at += count
    x = x.reshape(sizes)
    shape: list[int] = []
    names: list[str] = []
    for n, a in enumerate(plain):
        inner = next((size for b, size in dst if b == a.lower()), 1)
        whole = -(-x.shape[n] // inner) * inner
        x = np.pad(x, [(0, whole - x.shape[n] if m == n else 0) for m in range(x.ndim)])
        names += [a, a.lower()]
        shape += [whole // inner, inner]
    x = x.reshape(shape)
    wanted = [names.index(b) for b, _ in dst]
    gone = tuple(n for n in range(len(names)) if n not in wanted)
    return x.transpose(*wanted, *gone).reshape([x.shape[n] for n in wanted])


add(
    "layout_transform", layout,
    [c(data(*s), a, b) for s, a, b in (
        ((2, 6, 4), "NCW", "NWC"), ((2, 6, 4), "NCW", "NCW2c"), ((2, 3, 4), "NHW", "NWH3h"), ((2, 3, 4), "NHW", "NHW3w"),
        ((2, 3, 4, 2), "NCHW4c"[0:4], "NHWC"), ((2, 3, 4, 2), "NCW2c", "NCW"), ((2, 3, 4, 2), "NCW2c", "NWC"),
        ((4, 6), "NC", "CN"), ((4, 6), "NC", "NC4c"), ((4, 6), "NC", "CN2n"), ((1, 5, 2), "NHW", "NH2hW"),
    )],
)  # fmt: skip

# ---- slices


def sliced(
    x: np.ndarray, begin: Any, end: Any, strides: Any = None, axes: Any = None, slice_mode: str = "end"
) -> Any:
    at = list(range(len(begin))) if axes is None else [a % x.ndim for a in axes]
    steps = list(strides) if strides is not None else [1] * len(at)
    where = [slice(None)] * x.ndim
    for n, b, e, s in zip(at, begin, end, steps, strict=True):
        if slice_mode == "size":
            s, e = 1, None if e == -1 else (b or 0) + e
        where[n] = slice(b, e, s)
    return x[tuple(where)]


add(
    "strided_slice", sliced,
    [
        c(data(3, 4, 5), [0, 1], [3, 3]), c(data(3, 4, 5), [0, 1, -3], [3, 4, -1], [1, 2, 1]),
        c(data(3, 4, 5), [2, 2, -1], [0, 0, -4], [-1, -1, -2]), c(data(3, 4, 5), [0, -9, 1], [9, 9, 99]),
        c(data(3, 4, 5), [1], [4], [2], axes=[-1]), c(data(3, 4, 5), [3, 0], [1, 9], [-1, 3], axes=[1, 2]),
        c(data(3, 4, 5), [0, 1, 2], [2, 1, -1], slice_mode="size"), c(data(3, 4, 5), [0, 2, 0], [2, 1, 4]),
        c(data(6), [None], [None], [-1]), c(data(6), [-2], [None]), c(data(6), [9], [0], [-4]),
        c(data(2, 4, dtype="int8"), [0, 1], [2, 4]), c(data(0, 4), [0, 1], [5, 3]),
    ],
    symbolic=[4, 5],
)  # fmt: skip


def slice_by_tensors(x: np.ndarray, begin: Any, end: Any, strides: Any, shape: Any) -> np.ndarray:
    return x[np.ix_(*[b + s * np.arange(n) for b, s, n in zip(begin, strides, shape, strict=True)])]


add(
    "dynamic_strided_slice", slice_by_tensors,
    [
        c(data(5, 6), np.array(b, k), np.array([0, 0], k), np.array(s, k), t)
        for k in ("int32", "int64")
        for b, s, t in (
            ((0, 0), (1, 1), (2, 3)), ((4, 1), (-1, 2), (3, 2)), ((1, 5), (2, -2), (2, 3)), ((2, 2), (1, 1), (3, 4)),
            ((0, 0), (1, 1), (0, 2)),
        )
    ] + [c(data(7), [1], [7], [3], (2,)), c(data(2, 3), [0, 0], [2, 3], [1, 1], (2, 3))],
    symbolic=[10],
)  # fmt: skip


def set_slice(x: np.ndarray, v: np.ndarray, begin: Any, end: Any, strides: Any = None) -> np.ndarray:
    out = x.copy()
    steps = strides if strides is not None else [1] * len(begin)
    out[tuple(slice(b, e, s) for b, e, s in zip(begin, end, steps, strict=True))] = v
    return out


add(
    "strided_set", set_slice,
    [
        c(data(3, 4), data(2, 2), [0, 1], [2, 3]), c(data(3, 4), data(2, 2), [1, 0], [3, 4], [1, 2]),
        c(data(3, 4), data(1, 4), [2, 0], [3, 4]), c(data(3, 4), data(2, 2), [2, 3], [0, 1], [-1, -1]),
        c(data(3, 4), data(2, 1), [0, -1], [3, 4], [2, 1]), c(data(6), data(3), [0], [6], [2]),
        c(data(6), data(2), [-3], [-1]), c(data(6), data(2), [5], [1], [-2]), c(data(6), data(6), [0], [6]),
        c(data(2, 2, 2), data(1, 2, 1), [1, 0, 0], [2, 2, 1]), c(data(4, dtype="int32"), data(1, dtype="int32"), [1], [2]),
    ],
    symbolic=[5],
)  # fmt: skip


def windows(x: np.ndarray, axis: int, shape: Any, strides: Any) -> np.ndarray:
    axes = tuple(range(axis % x.ndim, x.ndim))
    out = np.lib.stride_tricks.sliding_window_view(x, shape, axes)
    return out[tuple([slice(None)] * axes[0] + [slice(None, None, s) for s in strides])]


add(
    "sliding_window", windows,
    [c(data(*s), a, w, t) for s, a, w, t in (
        ((2, 3, 4), 1, (2, 3), (1, 1)), ((2, 5, 6), 1, (2, 2), (2, 3)), ((3, 7), 1, (3,), (2,)), ((3, 7), -1, (7,), (1,)),
        ((6,), 0, (2,), (1,)), ((6,), 0, (1,), (4,)), ((4, 4), 0, (2, 2), (1, 2)), ((2, 3, 4, 5), 2, (2, 2), (1, 2)),
        ((2, 2, 6), 2, (4,), (1,)), ((1, 5), 1, (5,), (3,)),
    )],
)  # fmt: skip

# ---- indices


def take(x: np.ndarray, i: Any, axis: Any = None, batch_dims: int = 0, mode: str = "fast") -> np.ndarray:
    how = "raise" if mode == "fast" else mode
    if batch_dims == 0:
        return x.take(i, axis, mode=how)
    return np.stack([take(a, b, axis - 1, batch_dims - 1, mode) for a, b in zip(x, i, strict=True)])


far = np.array([-5, 1, 77, -1], "int32")
add(
    "take", take,
    [
        c(data(2, 3, 4), index(3, 4), 1), c(data(2, 3, 4), index(4, 2, 2), 2), c(data(2, 3, 4), index(24, 4)),
        c(data(2, 3, 4), far, 2, mode="clip"), c(data(2, 3, 4), far, 2, mode="wrap"), c(data(2, 3, 4), 2, 1),
        c(data(2, 3, 4), 5), c(data(2, 3, 4), index(3, 2, 2), 1, 1), c(data(2, 3, 4), index(4, 2, 3), 2, 2),
        c(data(5), index(5, 3, dtype="int64"), 0), c(data(5, dtype="int8"), index(5, 2), 0), c(data(3, 2), index(2), -1),
        c(data(3, 2), far, mode="clip"), c(data(3, 0), index(3, 2), 0),
    ],
    symbolic=[0, 1],
)  # fmt: skip
add(
    "gather", lambda x, axis, i: np.take_along_axis(x, i, axis),
    [c(data(*s, dtype=k), a, index(s[a], *t, dtype=m)) for s, a, t, k, m in (
        ((2, 3, 4), 1, (2, 2, 4), "float32", "int64"), ((2, 3, 4), 2, (2, 3, 5), "float32", "int32"),
        ((2, 3, 4), 0, (4, 3, 4), "float32", "int32"), ((2, 3, 4), -1, (2, 3, 1), "float32", "int32"),
        ((5,), 0, (7,), "float32", "int32"), ((5,), 0, (1,), "int8", "int32"), ((3, 3), 1, (3, 3), "int32", "int64"),
        ((3, 3), 0, (1, 3), "float64", "int32"), ((1, 4), 1, (1, 2), "float16", "int32"), ((2, 2), -2, (3, 2), "bool", "int32"),
    )],
)  # fmt: skip


def gather_nd(x: np.ndarray, i: np.ndarray, batch_dims: int = 0) -> np.ndarray:
    if batch_dims == 0:
        return x[tuple(i)]
    return np.stack([gather_nd(a, i[:, n], batch_dims - 1) for n, a in enumerate(x)])


add(
    "gather_nd", gather_nd,
    [c(data(*s), np.stack([index(s[b + n], *t, dtype=k) for n in range(m)]), b) for s, m, t, b, k in (
        ((2, 3, 4), 2, (3,), 0, "int32"), ((2, 3, 4), 3, (3,), 0, "int32"), ((2, 3, 4), 1, (2, 2), 0, "int64"),
        ((2, 3, 4), 2, (2, 2), 0, "int64"), ((2, 3, 4), 2, (2,), 1, "int32"), ((2, 3, 4), 1, (2, 5), 1, "int32"),
        ((2, 3, 4), 1, (2, 3), 2, "int32"), ((6,), 1, (4,), 0, "int32"), ((3, 3), 2, (1,), 0, "int32"),
        ((3, 3), 2, (2, 2, 2), 0, "int32"),
    )],
    symbolic=[0],
)  # fmt: skip
add(
    "adv_index index_tensor", lambda x, i: x[tuple(i)],
    [c(data(*s), [index(s[n], *t, dtype=k) for n, t in enumerate(shapes)]) for s, shapes, k in (
        ((2, 3, 4), [(3, 2), (3, 2)], "int32"), ((2, 3, 4), [(3, 1), (2,)], "int32"), ((2, 3, 4), [(2,)], "int64"),
        ((2, 3, 4), [(2, 2), (2,), (1,)], "int32"), ((5,), [(3,)], "int32"), ((5,), [(2, 2)], "int64"),
        ((3, 4), [(1,), (4,)], "int32"), ((3, 4), [(4,), (4,)], "int32"), ((3, 4), [()], "int32"),
        ((2, 2, 2, 2), [(2,), (2,)], "int32"),
    )],
    symbolic=[2],
)  # fmt: skip


def one_hot(i: np.ndarray, on: Any, off: Any, depth: int, axis: int, kind: str) -> np.ndarray:
    out = np.where(i[..., None] == np.arange(depth), on.value, off.value)
    return np.moveaxis(out, -1, axis).astype(kind)


def number(v: float, kind: str) -> Any:
    return ops.const(v, kind)


add(
    "one_hot", one_hot,
    [c(index(4, *s, dtype=k), number(a, t), number(b, t), d, x, t) for s, k, a, b, d, x, t in (
        ((3,), "int32", 2, -1, 4, -1, "float32"), ((3,), "int64", 1, 0, 4, 0, "float32"),
        ((2, 3), "int32", 1, 0, 4, 1, "int32"), ((2, 3), "int32", 1, 0, 4, -1, "int8"), ((2, 3), "int32", 5, 2, 4, 0, "float64"),
        ((5,), "int32", 1, 0, 2, -1, "float32"), ((1,), "int32", 1, 0, 6, -1, "float32"), ((2, 1, 2), "int32", 1, 0, 3, 2, "int32"),
        ((4,), "int8", 1, 0, 4, -1, "float16"), ((0,), "int32", 1, 0, 4, -1, "float32"),
    )],
)  # fmt: skip
add(
    "unravel_index", lambda i, shape: np.stack(np.unravel_index(i, tuple(shape))),
    [c(index(int(np.prod(s)), *t, dtype=k), np.array(s, k) if as_tensor else s) for s, t, k, as_tensor in (
        ((3, 4, 5), (6,), "int32", False), ((3, 4), (2, 3), "int32", False), ((7,), (4,), "int32", False),
        ((3, 4, 5), (6,), "int64", False), ((2, 2, 2, 2), (5,), "int32", False), ((1, 6), (3,), "int32", False),
        ((3, 4, 5), (6,), "int32", True), ((3, 4), (2, 2), "int64", True), ((7,), (1,), "int32", True), ((4, 1, 3), (9,), "int32", True),
    )],
)  # fmt: skip


def mask(x: np.ndarray, lengths: np.ndarray, value: float = 0, axis: int = 0) -> np.ndarray:
    out = np.moveaxis(x.copy(), axis, 0)
    for b, n in enumerate(lengths):
        out[n:, b] = value
    return np.moveaxis(out, 0, axis)


def backwards(x: np.ndarray, lengths: np.ndarray, seq_axis: int = 1, batch_axis: int = 0) -> np.ndarray:
    out = np.moveaxis(x, (batch_axis, seq_axis), (0, 1)).copy()
    for b, n in enumerate(lengths):
        out[b, :n] = out[b, :n][::-1].copy()
    return np.moveaxis(out, (0, 1), (batch_axis, seq_axis))


SIZES = [(4, 3), (3, 4, 2), (5, 1), (1, 4), (2, 3, 1, 2)]
add("sequence_mask", mask, [
    c(data(*s), index(s[a] + 1, s[1 - a], dtype=k), v, a)
    for s in SIZES for a, v, k in ((0, -1, "int32"), (1, 9, "int64"))
], symbolic=[0, 1])  # fmt: skip
add("reverse_sequence", backwards, [
    c(data(*s), index(s[q] + 1, s[b], dtype=k), q, b)
    for s in SIZES for q, b, k in ((1, 0, "int32"), (0, 1, "int64"))
], symbolic=[0])  # fmt: skip


def dense_of(i: np.ndarray, shape: Any, v: np.ndarray, default: Any = 0) -> np.ndarray:
    out = np.full(shape, default, v.dtype)
    for n in range(1 if i.ndim == 0 else len(i)):
        out[tuple(np.atleast_1d(i if i.ndim == 0 else i[n]))] = v if v.ndim == 0 else v[n]
    return out


add(
    "sparse_to_dense", dense_of,
    [
        c(np.array(i, k), s, data(*v), d)
        for i, s, v, d, k in (
            ([3, 0], (5,), (2,), 7.0, "int32"), ([3, 0], (5,), (2,), 0, "int64"), (2, (5,), (), 1.0, "int32"),
            ([[0, 1], [2, 2]], (3, 3), (2,), 0.0, "int32"), ([[0, 1], [2, 2]], (3, 3), (), 0.5, "int64"),
            ([1], (2,), (1,), 0, "int32"), ([0, 1, 2], (3,), (3,), 0, "int32"), ([[1, 0, 1]], (2, 1, 2), (1,), 0.0, "int32"),
            ([4, 4], (5,), (2,), 2.0, "int32"), ([0], (1,), (), 3.0, "int32"),
        )
    ],
    symbolic=[2],
)  # fmt: skip


def triangle(x: np.ndarray, k: int, upper: bool) -> np.ndarray:
    return np.triu(x, k) if upper else np.tril(x, k)


add("trilu", triangle, [
    c(data(*s, dtype=t), k, u) for s, t in (((3, 4), "float32"), ((2, 3, 3), "int32")) for k, u in cross((0, 1, -1), (True, False))
])  # fmt: skip


def set_diagonal(x: np.ndarray, d: np.ndarray, k: Any = 0, align: str = "RIGHT_LEFT") -> np.ndarray:
    out = x.copy()
    low, high = (k, k) if isinstance(k, int) else k
    rows, columns = x.shape[-2:]
    for n in range(low, high + 1):
        length = min(rows + min(n, 0), columns - max(n, 0))
        row = d if d.ndim == x.ndim - 1 else d[..., high - n, :]
        side = align.split("_")[0 if n >= 0 else 1]
        part = (
            row[..., :length]
            if side == "LEFT" or d.ndim == x.ndim - 1
            else row[..., row.shape[-1] - length :]
        )
        for e in range(length):
            out[..., e - min(n, 0), e + max(n, 0)] = part[..., e]
    return out


add(
    "matrix_set_diag", set_diagonal,
    [
        c(data(2, 3, 3), data(2, 3)), c(data(3, 4), data(3)), c(data(4, 3), data(3)), c(data(3, 4), data(3), 1),
        c(data(3, 4), data(2), -1), c(data(3, 4), data(1), 3), c(data(3, 4), data(2, 3), (0, 1)),
        c(data(3, 4), data(3, 3), (-1, 1)), c(data(3, 4), data(3, 3), (-1, 1), "LEFT_LEFT"),
        c(data(3, 4), data(3, 3), (-1, 1), "RIGHT_RIGHT"), c(data(2, 3, 3), data(2, 3, 3), (-1, 1), "LEFT_RIGHT"),
        c(data(3, 3, dtype="int32"), data(3, dtype="int32")),
    ],
    symbolic=[0],
)  # fmt: skip

# ---- made of nothing

add(
    "arange", lambda a, b=None, s=1, k="float32": (np.arange(a, b, s) if b is not None else np.arange(a)).astype(k),
    [
        c(5), c(5, dtype="int32") if False else c(5, None, 1, "int32"), c(2, 9), c(2, 9, 3), c(9, 2, -3, "int64"), c(0.5, 2.0, 0.25),
        c(1.0, 0.0, -0.3), c(0), c(3, 3), c(5, 2), c(0, 10, 20, "int8"), c(7, None, 1, "float64"),
    ],
    symbolic=0,
)  # fmt: skip
add("eye", lambda n, m=None, k=0, t="float32": np.eye(n, m, k, t), [
    c(3), c(3, 5), c(3, 5, 1), c(3, 5, -1), c(4, 2, -2), c(1), c(2, None, 0, "int32"), c(2, 3, 4), c(3, 3, 0, "bool"), c(3, 4, 2, "float64"),
], symbolic=0)  # fmt: skip
add("const_vector", lambda v: np.asarray(v), [
    c([3, 1, 2]), c([1.5, -2.0]), c([7]), c([True, False]), c((0, 0, 0, 0)), c(range(9)), c([1e30, 1e-30]), c([-1]),
    c([2**40, 5]), c([np.int8(3), np.int8(-4)]), c(list(range(40))),
], symbolic=0)  # fmt: skip
add("meshgrid", lambda xs, indexing="ij": np.meshgrid(*xs, indexing=indexing), [
    c([data(*s) for s in shapes], how)
    for shapes in ([(3,), (4,)], [(3,)], [(2,), (3,), (2,)], [(1,), (5,)], [(), (3,)]) for how in ("ij", "xy")
], symbolic=[2])  # fmt: skip

# ---- orders


def ordered(x: np.ndarray, axis: int, up: Any) -> np.ndarray:
    return np.argsort(x, axis, kind="stable") if up else np.argsort(-x.astype("float64"), axis, kind="stable")


ORDERS = [
    ((3, 4), -1, 1),
    ((3, 4), 1, 0),
    ((2, 3, 4), 1, 1),
    ((2, 3, 4), 0, 0),
    ((6,), 0, 1),
    ((6,), 0, 0),
    ((1, 3), 1, 1),
    ((4, 1), 1, 0),
]
add("sort", lambda x, a=-1, up=1: np.take_along_axis(x, ordered(x, a, up), a), [
    *[c(data(*s), a, up) for s, a, up in ORDERS], c(data(3, 5, dtype="int32"), 1, 0), c(data(3, 5, dtype="float64"), 1, 1),
], symbolic=2)  # fmt: skip


def argsort(
    x: np.ndarray, valid: Any = None, axis: int = -1, is_ascend: int = 1, dtype: str = "float32"
) -> np.ndarray:
    if valid is None:
        return ordered(x, axis, is_ascend).astype(dtype)
    out = np.broadcast_to(np.arange(x.shape[-1]), x.shape).copy()
    for place in np.ndindex(x.shape[:-1]):
        n = valid[place[: valid.ndim]]
        out[place][:n] = ordered(x[place][:n], 0, is_ascend)
    return out.astype(dtype)


add("argsort", argsort, [
    *[c(data(*s), None, a, up, "int32") for s, a, up in ORDERS], c(data(3, 5, dtype="int8"), None, 1, 0, "int64"),
    c(data(3, 5)), c(data(3, 5), index(6, 3)), c(data(2, 2, 5), index(6, 2, 2), -1, 0, "int32"),
], symbolic=2)  # fmt: skip


def topk(
    x: np.ndarray,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: str = "int64",
) -> Any:
    at = np.take(ordered(x, axis, is_ascend), range(k if k > 0 else x.shape[axis]), axis)
    both = [np.take_along_axis(x, at, axis), at.astype(dtype)]
    return {"both": both, "values": both[0], "indices": both[1]}[ret_type]


add("topk", topk, [
    c(data(3, 5), 2), c(data(3, 5), 1, 1, "values"), c(data(3, 5), 3, -1, "indices", True), c(data(3, 5), 2, 0, "both", False, "int32"),
    c(data(3, 5), 0), c(data(6), 4), c(data(6), 6, 0, "indices"), c(data(2, 3, 4), 2, 1), c(data(2, 3, 4), 1, 2, "values", True),
    c(data(4, 4, dtype="int32"), 2, 1), c(data(1, 1)),
], symbolic=2)  # fmt: skip


def search(rows: np.ndarray, v: np.ndarray, right: bool = False, out_dtype: str = "int64") -> np.ndarray:
    side: Any = "right" if right else "left"
    if rows.ndim == 1:
        return np.searchsorted(rows, v, side).astype(out_dtype)
    out = np.empty(v.shape, out_dtype)
    for place in np.ndindex(rows.shape[:-1]):
        out[place] = np.searchsorted(rows[place], v[place], side)
    return out


add("searchsorted", search, [
    c(np.sort(data(*s, dtype=k)), data(*t, dtype=k), r, o)
    for s, t, k, o in (
        ((5,), (2, 2), "float32", "int64"), ((6,), (3,), "int32", "int32"), ((2, 5), (2, 3), "float32", "int32"),
        ((1,), (4,), "float64", "int64"), ((2, 2, 4), (2, 2, 1), "float32", "int64"),
    ) for r in (False, True)
], symbolic=[4])  # fmt: skip


def running(f: Any, start: int) -> Any:
    def g(x: np.ndarray, axis: Any = None, dtype: Any = None, exclusive: Any = None) -> np.ndarray:
        flat = x.reshape(-1) if axis is None else x
        at = 0 if axis is None else axis
        out = f.accumulate(flat.astype(dtype or x.dtype), axis=at)
        if exclusive:
            out = np.roll(out, 1, at)
            np.moveaxis(out, at, 0)[:1] = start
        return out.astype(dtype or x.dtype)

    return g


def scans() -> list[Any]:
    return [
        c(data(2, 3, 4), 1), c(data(2, 3, 4), 2), c(data(2, 3, 4), 0), c(data(2, 3, 4), -1), c(data(2, 3)),
        c(data(2, 3, 4), 2, exclusive=True), c(data(2, 3), exclusive=True), c(data(5), 0), c(data(5, dtype="int8"), 0, "int32"),
        c(data(2, 4, dtype="int32"), 1, "float64", True), c(data(1, 1), 1),
    ]  # fmt: skip


add("cumsum", running(np.add, 0), scans())
add("cumprod", running(np.multiply, 1), scans())


def greater_of(a: Any, b: Any) -> Any:
    return ops.select(ops.gt(a, b), a, b)


add(
    "scanop", lambda x, f, start, name, axis=None, dtype=None, exclusive=None: running(np.maximum, start)(x, axis, dtype, exclusive),
    [c(call.args[0], greater_of, -100, "running_max", *call.args[1:], **call.kwargs) for call in scans()],
)  # fmt: skip


def scatter(
    x: np.ndarray, i: np.ndarray, u: np.ndarray, axis: int = 0, reduction: str = "update"
) -> np.ndarray:
    f = {"update": lambda a, b: b, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[
        reduction
    ]
    out = x.copy()
    for place in np.ndindex(i.shape):
        at = list(place)
        at[axis] = i[place]
        out[tuple(at)] = f(out[tuple(at)], u[place])
    return out


HOW = ("update", "add", "mul", "min", "max")
add("scatter_elements", scatter, [
    c(data(*s), index(s[a] * 2, *t) - s[a], data(*t), a, h)
    for (s, t, a), h in zip([((3, 4), (2, 2), 1), ((3, 4), (3, 3), 0), ((5,), (3,), 0), ((2, 3, 2), (2, 2, 2), 1)] * 3, HOW * 3, strict=False)
] + [c(data(4, dtype="int32"), index(4, 6, dtype="int64"), data(6, dtype="int32"), 0, "add")], symbolic=[2])  # fmt: skip


def scatter_nd(x: np.ndarray, i: np.ndarray, u: np.ndarray, mode: str = "update") -> np.ndarray:
    f = {"update": lambda a, b: b, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[
        mode
    ]
    out = x.copy()
    for place in np.ndindex(i.shape[1:]):
        at = tuple(i[(slice(None), *place)])
        out[at] = f(out[at], u[place])
    return out


add("scatter_nd", scatter_nd, [
    c(data(*s), np.stack([index(s[n], *t, dtype=k) for n in range(m)]), data(*t, *s[m:]), h)
    for (s, m, t, k), h in itertools.chain(
        zip([((3, 4), 1, (3,), "int64"), ((3, 4), 2, (4,), "int32"), ((5,), 1, (2, 2), "int32")] * 5, HOW * 3, strict=True)
    )
][:12], symbolic=[5])  # fmt: skip


def put_at(x: np.ndarray, i: Any, v: np.ndarray, accumulate: bool = False) -> np.ndarray:
    out = x.copy()
    for n in range(len(v)):
        at = tuple(t[n] for t in (i if isinstance(i, (list, tuple)) else [i]))
        out[at] = out[at] + v[n] if accumulate else v[n]
    return out


add("index_put", put_at, [
    c(data(*s), [index(s[n] * 2, k, dtype=t) - s[n] for n in range(m)], data(k, *s[m:]), acc)
    for s, m, k, t in (((3, 4), 1, 2, "int32"), ((3, 4), 2, 5, "int64"), ((6,), 1, 4, "int32"), ((2, 3, 2), 2, 3, "int32"), ((2, 2), 1, 1, "int32"))
    for acc in (False, True)
], symbolic=[4])  # fmt: skip

# ---- products


def product(a: np.ndarray, b: np.ndarray, ta: bool = False, tb: bool = False) -> np.ndarray:
    return (a.T if ta else a) @ (b.T if tb else b)


add("matmul", product, [
    c(data(*((k, n) if ta else (n, k)), dtype=t), data(*((m, k) if tb else (k, m)), dtype=t), ta, tb)
    for n, k, m, t in ((3, 4, 5, "float32"), (1, 6, 2, "float64"), (2, 3, 2, "int32")) for ta, tb in cross((False, True), (False, True))
], tol=1e-4, symbolic=[0, 1])  # fmt: skip
add("tensordot", np.tensordot, [
    c(data(*a), data(*b), x) for a, b, x in (
        ((2, 3, 4), (3, 4, 5), 2), ((2, 3), (3, 2), 1), ((2, 3), (4,), 0), ((2, 3, 4), (3, 5), ((1,), (0,))),
        ((2, 3, 4), (4, 3), ((1, 2), (1, 0))), ((2, 3), (2, 3), ((0, 1), (0, 1))), ((4,), (4,), 1), ((2, 3), (3, 5), (1, 0)),
        ((3, 2), (3, 4), ((-2,), (0,))), ((1, 2, 2), (2, 2, 1), 2),
    )
], tol=1e-4, symbolic=[0])  # fmt: skip
add("einsum", np.einsum, [
    c(text, *[data(*s) for s in shapes]) for text, shapes in (
        ("ij,jk->ik", [(3, 4), (4, 5)]), ("ij->ji", [(3, 4)]), ("ii->i", [(4, 4)]), ("ij,kj", [(3, 4), (2, 4)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 2)]), ("i,j->ij", [(3,), (2,)]),
        ("ij,ij->", [(3, 4), (3, 4)]), ("abc,cd,bd->a", [(2, 3, 4), (4, 2), (3, 2)]), ("ij->", [(3, 4)]), ("ii->", [(3, 3)]),
        ("ijk->kij", [(2, 3, 4)]), ("i...,i...->...", [(3, 2), (3, 2)]),
    )
], tol=1e-4, symbolic=[0, 1])  # fmt: skip
