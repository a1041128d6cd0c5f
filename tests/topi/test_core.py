"""Broadcasting, elementwise functions, reductions and shapes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
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


def test_ties_nan_and_infinities():
    x = np.array([[3, 1, 3, 3], [-np.inf] * 4, [1, np.nan, 5, np.nan], [np.inf, 2, np.inf, 0]], "float32")
    check(lambda a: topi.argmax(a, 1), np.argmax(x, 1), x)
    check(lambda a: topi.argmin(a, 1), np.argmin(x, 1), x)
    last = x[[0, 3]]
    check(lambda a: topi.argmax(a, 1, select_last_index=True), np.array([3, 2]), last)
    check(lambda a: topi.max(a, 1), np.max(x, 1), x)
    low = np.full((2, 3), -128, "int8")
    check(lambda a: topi.argmax(a, 1), np.zeros(2), low)


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


BROADCAST = {f: getattr(np, f) for f in ("subtract", "maximum", "greater_equal", "multiply")}


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_broadcasting_of_any_shapes(choose):
    """Shapes of any ranks with extents of 0 and 1, that broadcast in NumPy; some extents unknown."""
    whole = choose.draw(st.lists(st.integers(0, 4), min_size=0, max_size=4))
    shapes = []
    for _ in range(2):
        cut = choose.draw(st.integers(0, len(whole)))
        shapes.append([n if choose.draw(st.booleans()) else 1 for n in whole[cut:]])
    name = choose.draw(st.sampled_from(sorted(BROADCAST)))
    dtype = choose.draw(st.sampled_from(["float32", "int32", "int8", "float64"]))
    a, b = data(*shapes[0], dtype=dtype), data(*shapes[1], dtype=dtype)
    want = BROADCAST[name](a, b)
    t = placeholders(a, b)
    if shapes[0] == shapes[1] and shapes[0] and choose.draw(st.booleans()):
        n = te.var("n")
        t = [te.placeholder([n, *shapes[0][1:]], dtype, name=x) for x in "ab"]
    out = getattr(topi, name)(*t)
    target = choose.draw(st.sampled_from(["llvm -O=0", "python"]))
    np.testing.assert_allclose(evaluate(t, out, [a, b], [want.shape], target), want, rtol=1e-6)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_shapes_that_do_not_broadcast_are_refused_as_by_numpy(choose):
    shape = st.lists(st.integers(0, 4), max_size=3)
    a, b = choose.draw(shape), choose.draw(shape)
    t = [te.placeholder(s, name=x) for s, x in ((a, "a"), (b, "b"))]
    try:
        want = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        with pytest.raises(ts.TirscriptError, match="do not broadcast"):
            topi.add(*t)
    else:
        assert [int(n) for n in topi.add(*t).shape] == list(want)


BOUND = st.one_of(st.none(), st.integers(-9, 9), st.sampled_from([-1000, 1000]))
STEP = st.sampled_from([1, 2, 3, 7, -1, -2, -5])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_slice(choose):
    """Bounds and steps of both signs, far out of range, of axes of any extent, are what they are in NumPy."""
    shape = choose.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    x = data(*shape)
    axes = choose.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    slices = [slice(choose.draw(BOUND), choose.draw(BOUND), choose.draw(STEP)) for _ in axes]
    where = [slice(None)] * len(shape)
    for n, s in zip(axes, slices, strict=True):
        where[n] = s
    want = x[tuple(where)]
    (t,) = placeholders(x)
    begin, end, step = ([getattr(s, k) for s in slices] for k in ("start", "stop", "step"))
    out = topi.strided_slice(t, begin, end, step, axes=axes)
    assert [int(n) for n in out.shape] == list(want.shape)
    target = choose.draw(st.sampled_from(["llvm -O=0", "python"]))
    np.testing.assert_array_equal(evaluate([t], out, [x], [want.shape], target), want)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_slices_of_an_unknown_extent(choose):
    """Bounds within the extent, in order, and left out ones, of an axis whose extent is a variable."""
    n = choose.draw(st.integers(1, 9))
    start = choose.draw(st.one_of(st.none(), st.integers(0, n - 1), st.integers(-n, -1)))
    stop = choose.draw(st.one_of(st.none(), st.integers(0, n), st.integers(-n, -1)))
    step = choose.draw(st.sampled_from([1, 2, 3, -1, -2]))
    first, last, _ = slice(start, stop, step).indices(n)
    constant = start is not None and stop is not None and (start >= 0) == (stop >= 0)
    assume((last - first) * step >= 0 or constant)
    x = data(n)
    want = x[start:stop:step]
    t = te.placeholder((te.var("n"),), name="x")
    out = topi.strided_slice(t, [start], [stop], [step])
    np.testing.assert_array_equal(evaluate([t], out, [x], [want.shape], "llvm -O=0"), want)


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


@pytest.mark.parametrize("target", ["llvm -O=0", "python"])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_unknown_extents_without_a_tensor_of_that_extent(target, size):
    """The extent is that of the result: a variable which the call binds."""
    n = te.var("n")
    x = te.placeholder((1, 3), name="x")
    row = data(1, 3)
    for made, tensors, arrays, want in (
        (topi.full((n, 2), "float32", 1.5), [], [], np.full((size, 2), 1.5, "float32")),
        (topi.arange(0, n, 1, "int32"), [], [], np.arange(size)),
        (topi.eye(n, 4, 1), [], [], np.eye(size, 4, 1)),
        (topi.broadcast_to(x, (n, 3)), [x], [row], np.broadcast_to(row, (size, 3))),
        (topi.const_vector([3, 1, 2]), [], [], np.array([3, 1, 2])),
    ):
        np.testing.assert_array_equal(evaluate(tensors, made, arrays, [want.shape], target), want)
