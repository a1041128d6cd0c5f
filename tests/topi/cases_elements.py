"""Operators of each element, and with broadcasting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .table import add, c, data, floats

SHAPES = [(3, 5), (2, 3, 4), (1,), (), (0, 3), (7,), (2, 1, 2, 3)]
KINDS = [((3, 5), "float64"), ((4,), "float64"), ((3, 5), "float16"), ((2, 2), "float16")]
erf = np.vectorize(math.erf, otypes=["float64"])


def wide(f: Any) -> Any:
    """A reference that computes in double precision."""

    def g(x: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return f(x.astype("float64"))

    return g


def unary(names: str, reference: Any, change: Any = lambda x: x) -> None:
    pairs = [*[(s, "float32") for s in SHAPES], *KINDS]
    add(names, wide(reference), [c(np.asarray(change(floats(*s, dtype=k) * 2), k)) for s, k in pairs])


def special(x: np.ndarray) -> np.ndarray:
    out = np.array(x)
    if out.size > 2:
        out.ravel()[:3] = np.nan, np.inf, -np.inf
    return out


for name in ["exp", "tanh", "sin", "cos", "tan", "sinh", "cosh", "floor", "ceil", "trunc", "negative"]:
    unary(name, getattr(np, name))
for name, f in (
    ("atan", np.arctan), ("asinh", np.arcsinh), ("round", np.rint), ("identity", lambda x: x),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("erf fast_erf", erf), ("fast_exp", np.exp),
    ("fast_tanh", np.tanh),
):  # fmt: skip
    unary(name, f)
for name in ["isnan", "isfinite", "isinf", "sign", "abs"]:
    unary(name, getattr(np, name), special)
for name in ["log", "log2", "log10", "sqrt"]:
    unary(name, getattr(np, name), lambda x: np.abs(x) + np.float64(0.1))
unary("rsqrt", lambda x: 1 / np.sqrt(x), lambda x: np.abs(x) + np.float64(0.1))
for name, f in (("asin", np.arcsin), ("acos", np.arccos), ("atanh", np.arctanh)):
    unary(name, f, lambda x: np.tanh(x / 2))
unary("acosh", np.arccosh, lambda x: np.abs(x) + np.float64(1.1))

PAIRS = [
    ((3, 4), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((1,), (5,)), ((), (3,)), ((0, 2), (1, 2)),
    ((2, 1, 3), (4, 1)),
]  # fmt: skip


def pairs(kinds: str, first: str = "float32", change: Any = lambda x: x) -> list[Any]:
    out = [c(np.asarray(change(data(*a, dtype=first))), data(*b, dtype=first)) for a, b in PAIRS]
    for k in kinds.split():
        number = True if k == "bool" else 3
        out += [c(change(data(4, 1, dtype=k)), data(3, dtype=k)), c(change(data(2, 5, dtype=k)), number)]
    return out


FLOATS, INTEGERS = "float64 float16", "int32 int8 uint8 int64"
for name, f in {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum,
    "minimum": np.minimum, "greater": np.greater, "less": np.less, "equal": np.equal,
    "not_equal": np.not_equal, "greater_equal": np.greater_equal, "less_equal": np.less_equal,
    "floor_divide floordiv": np.floor_divide, "floor_mod floormod": np.mod, "mod": np.fmod,
}.items():  # fmt: skip
    add(name, lambda a, b, f=f: f(a, np.asarray(b, a.dtype)), pairs(f"{FLOATS} {INTEGERS}"))


def divide(a: np.ndarray, b: Any) -> Any:
    wanted = a.astype("float64") / np.asarray(b, a.dtype)
    return wanted if a.dtype.kind == "f" else np.trunc(wanted).astype(a.dtype)


add("divide div", divide, pairs(f"{FLOATS} {INTEGERS}"))
for name, f in {"atan2": np.arctan2, "log_add_exp": np.logaddexp}.items():
    add(name, lambda a, b, f=f: f(a.astype("float64"), b), pairs(FLOATS))
add(
    "power",
    lambda a, b: np.power(a.astype("float64"), b),
    [*pairs("float64", change=np.abs), c(np.abs(data(4, 2)), 2.0), c(np.abs(data(6)), 0.5)],
    tol=1e-4,
)
for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    f = getattr(np, name)
    add(name, lambda a, b, f=f: f(a, np.asarray(b, a.dtype)), pairs("int8 uint8 int64 bool", "int32"))


def shifts() -> list[Any]:
    out = []
    for k in ["int32", "int8", "uint8", "int64", "uint32"]:
        bits = np.iinfo(k).bits
        out += [c(data(3, 5, dtype=k), np.arange(5).astype(k) % bits), c(data(4, dtype=k), 2)]
    return out


add("left_shift", lambda a, b: np.left_shift(a, np.asarray(b, a.dtype)), shifts())
add("right_shift", lambda a, b: np.right_shift(a, np.asarray(b, a.dtype)), shifts())
for name in ["logical_and", "logical_or", "logical_xor"]:
    calls = [c(data(*a, dtype="bool"), data(*b, dtype="bool")) for a, b in PAIRS]
    calls += [c(data(3, 4, dtype="bool"), True), c(data(3, 4, dtype="bool"), False)]
    add(name, getattr(np, name), [*calls, c(data(2, 2, dtype="bool"), data(1, 2, dtype="bool"))])
add("logical_not", np.logical_not, [c(data(*s, dtype="bool")) for s in [*SHAPES, (4, 4), (1, 1), (2, 0)]])
add(
    "bitwise_not", np.invert,
    [c(data(*s, dtype=k)) for s in [(3, 4), (5,)] for k in ["int32", "int8", "uint8", "int64", "uint32", "int16"]],
)  # fmt: skip

add(
    "cast", lambda x, k: np.trunc(x).astype(k) if np.dtype(k).kind in "iu" else x.astype(k),
    [
        *[c(data(3, 4), k) for k in ["int32", "int8", "int64", "float16", "float64", "bool"]],
        *[c(data(5, dtype=k), "float32") for k in ["int32", "uint8", "bool", "float64", "float16"]],
        c(data(3, dtype="int64"), "int8"),
    ],
)  # fmt: skip
add(
    "reinterpret", lambda x, k: x.view(k),
    [
        c(data(*s, dtype=a), b)
        for a, b in (
            ("float32", "int32"), ("int32", "float32"), ("float16", "uint16"), ("int64", "float64"),
            ("uint8", "int8"),
        )
        for s in ((3, 4), (6,))
    ],
    symbolic=[0, 2],
)  # fmt: skip
add(
    "clip", np.clip,
    [
        *[c(floats(*s), -1, 1) for s in SHAPES], c(floats(4, 3), -0.5, 2.5), c(floats(4, 3), 0, 6),
        c(data(9, dtype="int8"), -2, 3), c(data(9, dtype="int32"), 0, 4), c(data(4, 2, dtype="uint8"), 1, 3),
    ],
)  # fmt: skip
add(
    "full_like",
    np.full_like,
    [c(data(*s), 2.5) for s in SHAPES] + [c(data(3, dtype=k), 1) for k in ("int8", "float64", "bool")],
)
add(
    "full", lambda s, k, v: np.full(s, v, k),
    [c(s, "float32", 1.5) for s in SHAPES] + [c((2, 3), k, 1) for k in ("int8", "float64", "bool", "int64")],
    symbolic=0,
)  # fmt: skip
add(
    "elemwise_sum", lambda xs: sum(xs[1:], xs[0]),
    [c([data(*s) for _ in range(n)]) for s in ((3, 4), (5,), (1, 2, 2)) for n in (1, 2, 4)]
    + [c([data(3, dtype=k)] * 2) for k in ("int32", "float64")],
)  # fmt: skip
add(
    "ceil_log2", lambda x: np.ceil(np.log2(x.astype("float64"))),
    [
        c(np.array(v, k))
        for k in ("int32", "int64")
        for v in ([1, 2, 3], [4, 5, 7, 8, 9], [1023, 1024], [[6, 16]], [2**30 + 1])
    ],
    symbolic=[0, 5],
)  # fmt: skip
add(
    "fixed_point_multiply", lambda x, m, s: np.floor(x.astype("float64") * m * 2.0 ** (s - 31) + 0.5),
    [
        c(np.array([1000, -1000, 7, -7, 0, 1][:n], "int32"), m, s)
        for m, s in ((3 << 28, 1), (1 << 30, 0), (1 << 30, -3), (1717986918, 2), (1073741825, -1))
        for n in (6, 5)
    ],
)  # fmt: skip


def where(test: np.ndarray, x: Any, y: Any) -> np.ndarray:
    return np.where(test, x, y)


add(
    "where", where,
    [
        c(data(3, 4, dtype="bool"), data(3, 4), data(3, 4)),
        c(data(3, 1, dtype="bool"), data(3, 4), data(4)), c(data(3, 4), data(3, 4), data(3, 4)),
        c(data(3, 4, dtype="bool"), data(3, 4), 0.0), c(data(3, 4, dtype="bool"), 1.0, data(3, 4)),
        c(data(4, dtype="bool"), data(2, 3, 1), data(3, 4)),
        *[c(data(5, dtype="bool"), data(5, dtype=k), data(5, dtype=k)) for k in ["int32", "int8", "float64"]],
        c(data(1, dtype="bool"), data(0, 3), data(1, 3)), c(data(dtype="bool"), data(3), data(3)),
    ],
)  # fmt: skip
