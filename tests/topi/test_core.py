"""Broadcasting, elementwise functions, reductions and shapes against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tirscript as ts
from tirscript import te, topi

from .helper import check, evaluate, placeholders

RNG = np.random.default_rng(11)


def data(*shape, dtype="float32"):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return RNG.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        signs = RNG.choice([-1, 1], shape) if kind.kind == "i" else np.ones(shape, int)
        return (RNG.integers(1, 9, shape) * signs).astype(dtype)
    return (RNG.standard_normal(shape) + 0.1).astype(dtype)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum,
    "minimum": np.minimum, "greater": np.greater, "less": np.less, "equal": np.equal,
    "not_equal": np.not_equal, "greater_equal": np.greater_equal, "less_equal": np.less_equal,
    "floor_divide": np.floor_divide, "floor_mod": np.mod, "mod": np.fmod,
}  # fmt: skip
FLOATS = {"divide": np.divide, "atan2": np.arctan2, "log_add_exp": np.logaddexp}
INTEGERS = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "divide": lambda a, b: np.trunc(a.astype("float64") / b).astype(a.dtype),
}  # fmt: skip
SHAPES = [((3, 4), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (4,)), ((1,), (5,)), ((), (3,)), ((0, 2), (1, 2))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", [*BINARY, *FLOATS])
def test_binary_of_floats(name, shapes):
    a, b = data(*shapes[0]), data(*shapes[1])
    if shapes[0] == shapes[1]:
        b[0] = a[0]  # some equal ones
    check(getattr(topi, name), (BINARY | FLOATS)[name](a, b), a, b, symbolic=shapes[0] == shapes[1])


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "int64"])
@pytest.mark.parametrize("name", [*BINARY, *INTEGERS])
def test_binary_of_integers(name, dtype):
    a, b = data(4, 1, dtype=dtype), data(3, dtype=dtype)
    want = (BINARY | INTEGERS)[name](a, b)
    check(getattr(topi, name), want, a, b, symbolic=False)


def test_other_operators():
    a, b = data(3, 4, dtype="bool"), data(4, dtype="bool")
    for name, f in (
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
    ):
        check(getattr(topi, name), f(a, b), a, b, symbolic=False)
    i, s = data(5, dtype="int32"), np.array([0, 1, 2, 3, 30], "int32")
    check(topi.left_shift, np.left_shift(i, s), i, s)
    check(topi.right_shift, np.right_shift(i, s), i, s)
    x, p = np.abs(data(3, 4)), data(4)
    check(topi.power, np.power(x.astype("float64"), p), x, p, symbolic=False)
    y = data(2, 3)
    for f, want in (
        (lambda t: t + 1, y + 1), (lambda t: 2.0 - t, 2 - y), (lambda t: t * t, y * y),
        (lambda t: 1 / t, 1 / y), (lambda t: -t, -y), (lambda t: t < 0.5, y < 0.5),
        (lambda t: t >= 0.0, y >= 0), (lambda t: t // 0.5, y // 0.5),
        (lambda t: t % 0.7, np.mod(y, np.float32(0.7))), (lambda t: t.astype("int32"), y.astype("int32")),
        (lambda t: t.equal(t), y == y),
    ):  # fmt: skip
        check(f, want, y)
    assert repr(topi.add(1, 2)) == "T.Add(1, 2)"
    with pytest.raises(ts.TirscriptError, match="do not broadcast"):
        topi.add(te.placeholder((3,)), te.placeholder((4,)))
    with pytest.raises(ts.TirscriptError, match="not known to be equal"):
        topi.add(te.placeholder((te.var("n"),)), te.placeholder((te.var("m"),)))
    n = te.var("n")
    assert topi.add(te.placeholder((n + 1,)), te.placeholder((1 + n,))).ndim == 1


UNARY = {
    "exp": np.exp, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "abs": np.abs, "negative": np.negative, "identity": lambda x: x,
    "sign": np.sign, "isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": np.vectorize(math.erf, otypes=["float64"]),
    "fast_exp": np.exp, "fast_tanh": np.tanh, "fast_erf": np.vectorize(math.erf, otypes=["float64"]),
}  # fmt: skip
POSITIVE = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
BOUNDED = {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE, *BOUNDED, "acosh"])
def test_unary(name, dtype):
    x = (RNG.standard_normal((3, 5)) * 2).astype(dtype)
    if name in POSITIVE:
        x = np.abs(x) + np.array(0.1, dtype)
    elif name in BOUNDED:
        x = np.tanh(x)
    elif name == "acosh":
        x = np.abs(x) + np.array(1.1, dtype)
    elif name in ("isnan", "isfinite", "isinf", "sign", "abs"):
        x[0, :3] = np.nan, np.inf, -np.inf
    reference = (UNARY | POSITIVE | BOUNDED | {"acosh": np.arccosh})[name]
    with np.errstate(invalid="ignore"):
        want = reference(x.astype("float64"))
    check(getattr(topi, name), want, x, tol={"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}[dtype])


def test_casts_and_constants():
    x = data(3, 4) * 5
    check(lambda a: topi.cast(a, "int32"), x.astype("int32"), x)
    check(lambda a: topi.cast(a, "float16"), x.astype("float16"), x, tol=0)
    check(lambda a: topi.reinterpret(a, "int32"), x.view("int32"), x)
    check(lambda a: topi.clip(a, -1, 2.5), np.clip(x, -1, 2.5), x)
    i = data(6, dtype="int8")
    check(lambda a: topi.clip(a, -2, 3), np.clip(i, -2, 3), i)
    check(topi.bitwise_not, ~i, i)
    b = data(3, dtype="bool")
    check(topi.logical_not, ~b, b)
    check(lambda a: topi.full_like(a, 2), np.full_like(x, 2), x)
    check(lambda a: topi.elemwise_sum([a, a, a]), 3 * x, x)
    out = topi.full((2, 3), "bfloat16", 1.5)
    assert evaluate([], out, []).astype("float32").tolist() == [[1.5] * 3] * 2
    p = np.array([1, 2, 3, 4, 5, 8, 9, 1023, 1024, 1025], "int32")
    check(topi.ceil_log2, np.ceil(np.log2(p)).astype("int32"), p)
    q = np.array([1000, -1000, 7, -7], "int32")
    want = np.floor(q.astype("float64") * (3 << 28) * 2.0 ** (1 - 31) + 0.5)
    check(lambda a: topi.fixed_point_multiply(a, 3 << 28, 1), want, q)


REDUCE = {
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "argmax": np.argmax,
    "argmin": np.argmin,
}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("name", REDUCE)
def test_reductions(name, axis, keepdims):
    x = data(3, 4, 5)
    if name.startswith("arg") and isinstance(axis, tuple):
        if len(axis) == 3:
            want = REDUCE[name](x, None, keepdims=keepdims)
        else:
            rest = [n for n in range(3) if n not in axis]
            flat = np.moveaxis(x, rest[0], 0).reshape(x.shape[rest[0]], -1)
            want = REDUCE[name](flat, 1)
            want = want.reshape([x.shape[n] if n in rest else 1 for n in range(3)]) if keepdims else want
    else:
        want = REDUCE[name](x.astype("float64"), axis, keepdims=keepdims)
    check(lambda a: getattr(topi, name)(a, axis, keepdims), want, x, tol=1e-4, symbolic=axis != 0)


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "float64", "float16"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "sum"])
def test_reductions_of_dtypes(name, dtype):
    x = data(4, 7, dtype=dtype)
    want = REDUCE[name](x, 1).astype(x.dtype if not name.startswith("arg") else "int32")
    check(lambda a: getattr(topi, name)(a, 1), want, x, tol=1e-2 if dtype == "float16" else 1e-6)


def test_ties_nan_and_infinities():
    x = np.array([[3, 1, 3, 3], [-np.inf] * 4, [1, np.nan, 5, np.nan], [np.inf, 2, np.inf, 0]], "float32")
    check(lambda a: topi.argmax(a, 1), np.argmax(x, 1), x)
    check(lambda a: topi.argmin(a, 1), np.argmin(x, 1), x)
    last = x[[0, 3]]
    check(lambda a: topi.argmax(a, 1, select_last_index=True), np.array([3, 2]), last)
    check(lambda a: topi.max(a, 1), np.max(x, 1), x)
    low = np.full((2, 3), -128, "int8")
    check(lambda a: topi.argmax(a, 1), np.zeros(2), low)


def test_all_any_and_collapse():
    x = data(4, 5, dtype="bool")
    x[0], x[1] = True, False
    check(lambda a: topi.all(a, 1), x.all(1), x)
    check(lambda a: topi.any(a, 0, True), x.any(0, keepdims=True), x, symbolic=False)
    y = data(2, 3, 4)
    check(lambda a: topi.collapse_sum(a, (3, 1)), y.sum((0, 2))[:, None], y, symbolic=False)
    check(lambda a: topi.collapse_sum(a, (2, 3, 4)), y, y, symbolic=False)


def test_an_argmax_can_be_scheduled():
    A = te.placeholder((8, 16), name="A")
    func = te.create_prim_func([A, topi.argmax(A, 1)])
    sch = ts.Schedule(func)
    block = sch.get_block("A_red_temp")
    i, _ = sch.get_loops(block)
    sch.parallel(i)
    x, out = data(8, 16), np.zeros(8, "int32")
    ts.build(sch.mod)["main"](x, out)
    assert (out == x.argmax(1)).all()


X = data(2, 3, 4)
I2 = np.array([[0, 1], [1, 0], [1, 1]], "int32")
MOVES = {
    "transpose": (lambda a: topi.transpose(a), X.transpose()),
    "transpose_axes": (lambda a: topi.transpose(a, (-1, 0, 1)), X.transpose(2, 0, 1)),
    "expand_dims": (lambda a: topi.expand_dims(a, 1, 2), X[:, None, None]),
    "expand_last": (lambda a: topi.expand_dims(a, -1), X[..., None]),
    "reshape": (lambda a: topi.reshape(a, (4, 6)), X.reshape(4, 6)),
    "reshape_rank": (lambda a: topi.reshape(a, (2, 2, 3, 2)), X.reshape(2, 2, 3, 2)),
    "reshape_free": (lambda a: topi.reshape(a, (-1, 8)), X.reshape(-1, 8)),
    "concatenate": (lambda a: topi.concatenate([a, a, a], 1), np.concatenate([X, X, X], 1)),
    "stack": (lambda a: topi.stack([a, a], -1), np.stack([X, X], -1)),
    "stack_first": (lambda a: topi.stack([a, a], 0), np.stack([X, X])),
    "split": (lambda a: topi.split(a, 2, 2), np.split(X, 2, 2)),
    "split_cuts": (lambda a: topi.split(a, [1, 1, 3], 2), np.split(X, [1, 1, 3], 2)),
    "repeat": (lambda a: topi.repeat(a, 3, 1), np.repeat(X, 3, 1)),
    "tile": (lambda a: topi.tile(a, (2, 1, 3)), np.tile(X, (2, 1, 3))),
    "tile_more": (lambda a: topi.tile(a, (2, 1, 1, 2)), np.tile(X, (2, 1, 1, 2))),
    "tile_fewer": (lambda a: topi.tile(a, (2,)), np.tile(X, (2,))),
    "flip": (lambda a: topi.flip(a, 1), np.flip(X, 1)),
    "slice": (lambda a: topi.strided_slice(a, [0, 1], [2, 3]), X[0:2, 1:3]),
    "slice_back": (
        lambda a: topi.strided_slice(a, [1, 2, -1], [0, 0, -4], [-1, -1, -2]), X[1:0:-1, 2:0:-1, -1:-4:-2]
    ),
    "slice_beyond": (lambda a: topi.strided_slice(a, [0, -9, 1], [9, 9, 99]), X[0:9, -9:9, 1:99]),
    "slice_axes": (lambda a: topi.strided_slice(a, [1], [4], [2], axes=[-1]), X[:, :, 1:4:2]),
    "slice_size": (
        lambda a: topi.strided_slice(a, [0, 1, 2], [2, 1, -1], slice_mode="size"), X[0:2, 1:2, 2:]
    ),
    "slice_empty": (lambda a: topi.strided_slice(a, [0, 2, 0], [2, 1, 4]), X[:, 2:1]),
    "broadcast_to": (lambda a: topi.broadcast_to(a, (3, 2, 3, 4)), np.broadcast_to(X, (3, 2, 3, 4))),
    "where": (lambda a: topi.where(a > 0.0, a, 0.0), np.where(X > 0, X, 0)),
    "trilu": (lambda a: topi.trilu(a, 1, True), np.triu(X, 1)),
    "tril": (lambda a: topi.trilu(a, -1, False), np.tril(X, -1)),
    "cumsum": (lambda a: topi.cumsum(a, 1), X.cumsum(1)),
    "cumsum_all": (lambda a: topi.cumsum(a), X.ravel().cumsum()),
    "cumprod": (lambda a: topi.cumprod(a, 2), X.cumprod(2)),
    "cumsum_exclusive": (lambda a: topi.cumsum(a, 2, exclusive=True), X.cumsum(2) - X),
    "sort": (lambda a: topi.sort(a, 1), np.sort(X, 1)),
    "sort_down": (lambda a: topi.sort(a, -1, 0), -np.sort(-X, -1)),
    "argsort": (lambda a: topi.argsort(a, axis=0, dtype="int32"), np.argsort(X, 0)),
    "windows": (
        lambda a: topi.sliding_window(a, 1, (2, 3), (1, 1)),
        np.lib.stride_tricks.sliding_window_view(X, (2, 3), (1, 2)),
    ),
    "layout": (
        lambda a: topi.layout_transform(a, "NHW", "NWH3h"),
        X.reshape(2, 1, 3, 4).transpose(0, 3, 1, 2),
    ),
    "layout_padded": (
        lambda a: topi.layout_transform(a, "NHW", "NHW3w"),
        np.pad(X, [(0, 0), (0, 0), (0, 2)]).reshape(2, 3, 2, 3),
    ),
    "shape": (lambda a: topi.shape(a), np.array(X.shape)),
    "size": (lambda a: topi.tensor_size(a), np.array(X.size)),
}  # fmt: skip
FIXED = {
    "reshape",
    "reshape_rank",
    "reshape_free",
    "broadcast_to",
    "slice_beyond",
    "slice_back",
    "slice_size",
}


@pytest.mark.parametrize("name", MOVES)
def test_moves(name):
    f, want = MOVES[name]
    check(f, want, X, symbolic=name not in FIXED)


def test_moves_of_several_tensors():
    i = np.array([2, 0, 2, 1], "int32")
    check(lambda a, i: topi.take(a, i, 1), X.take(i, 1), X, i, symbolic=False)
    check(lambda a, i: topi.take(a, i), X.take(i), X, i, symbolic=False)
    far = np.array([-5, 1, 77], "int32")
    check(lambda a, i: topi.take(a, i, 2, mode="clip"), X.take(far, 2, mode="clip"), X, far, symbolic=False)
    check(lambda a, i: topi.take(a, i, 2, mode="wrap"), X.take(far, 2, mode="wrap"), X, far, symbolic=False)
    check(lambda a: topi.take(a, 2, 1), X[:, 2], X)
    both = np.array([[1, 0], [2, 2]], "int32")
    check(
        lambda a, i: topi.take(a, i, 1, 1),
        np.stack([X[n][both[n]] for n in range(2)]),
        X,
        both,
        symbolic=False,
    )
    g = RNG.integers(0, 3, (2, 2, 4)).astype("int64")
    check(lambda a, i: topi.gather(a, 1, i), np.take_along_axis(X, g, 1), X, g)
    nd = np.array([[0, 1, 1], [2, 0, 1]], "int32")
    check(lambda a, i: topi.gather_nd(a, i), X[nd[0], nd[1]], X, nd, symbolic=False)
    check(lambda a, i: topi.adv_index(a, [i, i]), X[I2 % 2, I2], X, I2, symbolic=False)
    check(
        lambda a, b: topi.meshgrid([a, b], "ij"), np.meshgrid(i, far, indexing="ij"), i, far, symbolic=False
    )
    check(lambda a, b: topi.meshgrid([a, b], "xy"), np.meshgrid(i, far), i, far, symbolic=False)
    check(lambda i: topi.one_hot(i, te.const(2.0), te.const(-1.0), 3, -1, "float32"), np.eye(3)[i] * 3 - 1, i)
    check(lambda i: topi.unravel_index(i, (3, 4, 5)), np.stack(np.unravel_index(i * 7, (3, 4, 5))), i * 7)
    lengths = np.array([2, 3, 1, 0], "int32")
    mask = np.arange(2)[:, None, None] < lengths[:3][None, :, None]
    check(lambda a, n: topi.sequence_mask(a, n, -1), np.where(mask, X, -1), X, lengths[:3], symbolic=False)
    mask = np.arange(3)[None, :, None] < lengths[:2][:, None, None]
    check(lambda a, n: topi.sequence_mask(a, n, 9, 1), np.where(mask, X, 9), X, lengths[:2], symbolic=False)
    want = X.copy()
    for b, n in enumerate(lengths[:2]):
        want[b, :n] = X[b, :n][::-1]
    check(lambda a, n: topi.reverse_sequence(a, n), want, X, lengths[:2], symbolic=False)
    m, d = data(2, 3, 3), data(2, 3)
    want = m.copy()
    want[:, range(3), range(3)] = d
    check(lambda a, b: topi.matrix_set_diag(a, b), want, m, d, symbolic=False)
    s, v = np.array([3, 0], "int32"), data(2)
    want = np.full(5, 7, "float32")
    want[s] = v
    check(lambda s, v: topi.sparse_to_dense(s, (5,), v, 7.0), want, s, v, symbolic=False)
    mask = (np.arange(2)[:, None, None] == 0) & np.isin(np.arange(4), [1, 3])[None, None]
    five = topi.full((1, 3, 2), "float32", 5.0)
    check(
        lambda a: topi.strided_set(a, five, [0, 0, 1], [1, 3, 4], [1, 1, 2]), np.where(mask, 5, X), X,
        symbolic=False,
    )  # fmt: skip


def test_made_from_nothing():
    def made(t):
        return evaluate([], t, [])

    assert made(topi.arange(5, dtype="int32")).tolist() == [0, 1, 2, 3, 4]
    assert made(topi.arange(9, 2, -3, "int64")).tolist() == [9, 6, 3]
    np.testing.assert_allclose(made(topi.arange(0.5, 2.0, 0.25)), np.arange(0.5, 2, 0.25))
    np.testing.assert_array_equal(made(topi.eye(3, 5, 1)), np.eye(3, 5, 1))
    np.testing.assert_array_equal(made(topi.const_vector([3, 1, 2])), [3, 1, 2])
    n = te.var("n")
    assert topi.arange(0, n, 2, "int32").ndim == 1


def test_scattering():
    x, i, u = data(3, 4), np.array([[0, 2], [-1, 1]], "int32"), data(2, 2)
    for mode, f in (
        ("update", None),
        ("add", np.add),
        ("mul", np.multiply),
        ("min", np.minimum),
        ("max", np.maximum),
    ):
        want = x.copy()
        for a in range(2):
            for b in range(2):
                at = (a, i[a, b] % 4)
                want[at] = u[a, b] if f is None else f(want[at], u[a, b])
        check(lambda x, i, u, m=mode: topi.scatter_elements(x, i, u, 1, m), want, x, i, u, symbolic=False)
    nd, w = np.array([[2, 0, 2]], "int64"), data(3, 4)
    want = x.copy()
    np.add.at(want, nd[0], w)
    check(lambda x, i, u: topi.scatter_nd(x, i, u, "add"), want, x, nd, w, symbolic=False)
    p = np.array([1, 1], "int32")
    want = x.copy()
    np.add.at(want, p, w[:2])
    check(lambda x, i, u: topi.index_put(x, [i], u, True), want, x, p, w[:2], symbolic=False)


def test_orders():
    x = np.array([[3, 1, 3, np.nan, 2], [0, 0, -1, 5, 5]], "float32")
    order = np.argsort(-x[1:], 1, kind="stable")
    check(lambda a: topi.topk(a, 3, 1, "indices"), order[:, :3], x[1:])
    check(lambda a: topi.topk(a, 2, 1, "values", is_ascend=True), np.sort(x, 1)[:, :2], x)
    check(lambda a: topi.argsort(a, is_ascend=0, dtype="int32"), order, x[1:])
    n = np.array([2, 4], "int32")
    want = np.array([[1, 0, 2, 3, 4], [2, 0, 1, 3, 4]])
    check(lambda a, n: topi.argsort(a, n, dtype="int32"), want, x, n, symbolic=False)
    s, v = np.array([1, 3, 3, 5], "float32"), np.array([[0, 3], [4, 9]], "float32")
    check(lambda s, v: topi.searchsorted(s, v), np.searchsorted(s, v), s, v, symbolic=False)
    check(lambda s, v: topi.searchsorted(s, v, True), np.searchsorted(s, v, "right"), s, v, symbolic=False)


def test_products():
    a, b = data(3, 4), data(4, 5)
    check(topi.matmul, a @ b, a, b, symbolic=False)
    c = b[:, :3].copy()
    check(lambda a, b: topi.matmul(a, b, True, True), a.T @ c.T, a, c, symbolic=False)
    x, y = data(2, 3, 4), data(3, 4, 5)
    check(lambda a, b: topi.tensordot(a, b, 2), np.tensordot(x, y, 2), x, y, tol=1e-4, symbolic=False)
    check(
        lambda a, b: topi.tensordot(a, b, ((1,), (0,))),
        np.tensordot(x, y, ((1,), (0,))),
        x,
        y,
        tol=1e-4,
        symbolic=False,
    )
    for text, arrays in (
        ("ij,jk->ik", (a, b)), ("ij->ji", (a,)), ("ii->i", (data(4, 4),)), ("ij,kj", (a, data(2, 4))),
        ("bij,bjk->bik", (data(2, 3, 4), data(2, 4, 2))),
        ("...ij,...jk->...ik", (data(2, 3, 4), data(2, 4, 2))),
        ("i,j->ij", (data(3), data(2))), ("ij,ij->", (a, a)), ("abc,cd,bd->a", (x, data(4, 2), data(3, 2))),
    ):  # fmt: skip
        check(
            lambda *t, text=text: topi.einsum(text, *t),
            np.einsum(text, *arrays),
            *arrays,
            tol=1e-4,
            symbolic=False,
        )


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_broadcasting_of_any_shapes(choose):
    whole = choose.draw(st.lists(st.integers(0, 4), min_size=0, max_size=4))
    shapes = []
    for _ in range(2):
        cut = choose.draw(st.integers(0, len(whole)))
        shapes.append([n if choose.draw(st.booleans()) else 1 for n in whole[cut:]])
    a, b = data(*shapes[0]), data(*shapes[1])
    want = a - b
    out = topi.subtract(*(t := placeholders(a, b)))
    np.testing.assert_allclose(evaluate(t, out, [a, b], [want.shape]), want, rtol=1e-6)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_slice(choose):
    shape = choose.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    x = data(*shape)
    slices = []
    for _ in shape:
        step = choose.draw(st.sampled_from([1, 2, 3, -1, -2]))
        bound = st.one_of(st.none(), st.integers(-8, 8))
        slices.append(slice(choose.draw(bound), choose.draw(bound), step))
    want = x[tuple(slices)]
    (t,) = placeholders(x)
    out = topi.strided_slice(t, [s.start for s in slices], [s.stop for s in slices], [s.step for s in slices])
    np.testing.assert_array_equal(evaluate([t], out, [x], [want.shape]), want)


def test_what_is_refused():
    x = te.placeholder((2, 3), name="x")

    def error(code, f):
        with pytest.raises(ts.TirscriptError) as caught:
            f()
        assert caught.value.code == code, str(caught.value)

    error("axis", lambda: topi.sum(x, 2))
    error("axis", lambda: topi.sum(x, (0, -2)))
    error("axis", lambda: topi.transpose(x, (0, 0)))
    error("shape", lambda: topi.reshape(x, (4, 2)))
    error("shape", lambda: topi.reshape(x, (-1, -1)))
    error("shape", lambda: topi.reshape(x, (-1, 4)))
    error("axis", lambda: topi.squeeze(x, 0))
    error("shape", lambda: topi.concatenate([x, te.placeholder((3, 2))], 1))
    error("arity", lambda: topi.concatenate([]))
    error("shape", lambda: topi.split(x, 2, 1))
    error("shape", lambda: topi.broadcast_to(x, (3, 3)))
    error("mode", lambda: topi.take(x, te.placeholder((1,), "int32"), 0, mode="round"))
    error("mode", lambda: topi.topk(x, 1, ret_type="all"))
    error("shape", lambda: topi.topk(x, 4))
    error("subscripts", lambda: topi.einsum("ijk->i", x))
    error("slice", lambda: topi.strided_slice(x, [0], [1], [0]))
    error("layout", lambda: topi.layout_transform(x, "NC", "NH"))
    error("not-a-tensor", lambda: topi.exp(3.0))
    error("dtype-mismatch", lambda: topi.bitwise_and(x, x))
    error("not-constant", lambda: topi.arange(0.0, te.var("n", "float32"), 1.0))
