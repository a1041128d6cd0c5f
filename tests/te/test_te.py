"""Tensor expressions: the programs that they become, and what those compute."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript import te
from tirscript.script import tir as T

SEED = 7


def data(*shape, dtype="float32"):
    rng = np.random.default_rng(SEED)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 50, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def run(tensors, *arrays, **kwargs):
    """The outputs: what both targets fill."""
    func = te.create_prim_func(tensors, **kwargs)
    ts.assert_structural_equal(ts.from_source(func.script()), func)  # it prints and parses
    for target in ("llvm", "python"):
        given = [a.copy() for a in arrays]
        ts.build(func, target=target)["main"](*given)
        yield given


def check(tensors, arrays, want, **kwargs):
    """``want`` holds an array for each argument, None for those that are not looked at."""
    for got in run(tensors, *arrays, **kwargs):
        for have, expected in zip(got, want, strict=True):
            if expected is not None:
                np.testing.assert_allclose(have, expected, rtol=1e-5, atol=1e-6)


def same(func, want):
    ts.assert_structural_equal(func.without_attr("global_symbol"), want.without_attr("global_symbol"))


def test_two_stages():
    @T.prim_func
    def want(A: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32")):
        T.func_attr({"tir.noalias": True})
        B = T.alloc_buffer((8, 6))
        for x, y in T.grid(8, 6):
            with T.block("B"):
                v_x, v_y = T.axis.remap("SS", [x, y])
                B[v_x, v_y] = A[v_x, v_y] * T.float32(2)
        for i, j in T.grid(8, 6):
            with T.block("C"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                C[v_i, v_j] = B[v_i, v_j] + T.float32(1)

    A = te.placeholder((8, 6), name="A")
    B = te.compute((8, 6), lambda x, y: A[x, y] * 2.0, name="B")
    C = te.compute((8, 6), lambda i, j: B[i, j] + 1.0, name="C")
    func = te.create_prim_func([A, C])
    same(func, want)
    assert func.attrs["global_symbol"] == "main"
    a = data(8, 6)
    check([A, C], [a, np.zeros_like(a)], [a, a * 2 + 1])
    # An intermediate that is an argument is written there.
    check([A, B, C], [a, np.zeros_like(a), np.zeros_like(a)], [a, a * 2, a * 2 + 1])


def test_a_reduction_with_symbolic_extents():
    @T.prim_func
    def want(a: T.handle, b: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i, k in T.grid(n, m):
            with T.block("B"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                with T.init():
                    B[v_i] = T.float32(0)
                B[v_i] = B[v_i] + A[v_i, v_k]

    n, m = te.var("n"), te.size_var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    same(te.create_prim_func([A, B]), want)
    for shape in ((5, 7), (1, 1), (3, 0), (0, 4)):
        a = data(*shape)
        check([A, B], [a, np.full(shape[0], 9, "float32")], [a, a.sum(1)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8", "uint8", "float16"])
@pytest.mark.parametrize(
    ("reducer", "reference"), [(te.max, np.max), (te.min, np.min), (te.sum, np.sum), (te.prod, np.prod)]
)
def test_reducers(dtype, reducer, reference):
    A = te.placeholder((3, 4, 2), dtype, name="A")
    k, r = te.reduce_axis((0, 4), name="k"), te.reduce_axis((0, 2), name="r")
    B = te.compute((3,), lambda i: reducer(A[i, k, r], axis=[k, r]), name="B")
    a = (data(3, 4, 2) * 2).astype(dtype) if dtype != "uint8" else data(3, 4, 2, dtype="uint8") % 3
    want = reference(a.astype("float64" if np.dtype(dtype).kind == "f" else "int64"), axis=(1, 2)).astype(
        dtype
    )
    for got in run([A, B], a, np.zeros(3, dtype)):
        np.testing.assert_allclose(got[1], want, rtol=5e-3 if dtype == "float16" else 1e-5)


def test_all_and_any():
    A = te.placeholder((5, 4), "bool", name="A")
    k = te.reduce_axis((0, 4), name="k")
    B = te.compute((5,), lambda i: te.all(A[i, k], axis=k), name="B")
    C = te.compute((5,), lambda i: te.any(A[i, k], axis=k), name="C")
    a = data(5, 4, dtype="bool")
    a[0], a[1] = True, False
    check([A, B, C], [a, np.zeros(5, bool), np.zeros(5, bool)], [a, a.all(1), a.any(1)])
    D = te.compute((5,), lambda i: te.if_then_else(te.all(i > 1, te.any(i == 2, i == 4)), 1, 0), name="D")
    check([D], [np.zeros(5, "int32")], [np.array([0, 0, 1, 0, 1])])


def test_max_of_infinities_and_of_nothing():
    A = te.placeholder((2, 3), name="A")
    k = te.reduce_axis((0, 3), name="k")
    B = te.compute((2,), lambda i: te.max(A[i, k], axis=k), name="B")
    a = np.full((2, 3), -np.inf, "float32")
    check([A, B], [a, np.zeros(2, "float32")], [a, a.max(1)])


def test_where_counts_only_what_it_selects():
    A = te.placeholder((6, 6), name="A")
    k = te.reduce_axis((1, 6), name="k")
    B = te.compute((6,), lambda i: te.sum(A[i, k - 1], axis=k, where=k > i), name="B")
    a = data(6, 6)
    want = [sum(a[i, k - 1] for k in range(1, 6) if k > i) for i in range(6)]
    check([A, B], [a, np.zeros(6, "float32")], [a, want])


def test_init_replaces_the_identity():
    A = te.placeholder((4, 8), name="A")
    k = te.reduce_axis((0, 8), name="k")
    S = te.placeholder((4,), name="S")
    B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k, init=S[i]), name="B")
    a, s = data(4, 8), np.arange(4, dtype="float32")
    check([A, S, B], [a, s, np.zeros(4, "float32")], [a, s, a.sum(1) + s])


def argmax(a, b):
    return T.Select(a[1] >= b[1], a[0], b[0]), T.Select(a[1] >= b[1], a[1], b[1])


def test_a_reducer_of_two_values():
    @T.prim_func
    def want(A: T.Buffer((4, 9), "float32"), T_v0: T.Buffer((4,), "int32"), T_v1: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, k in T.grid(4, 9):
            with T.block("T"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                with T.init():
                    T_v0[v_i] = -1
                    T_v1[v_i] = T.min_value("float32")
                v_T_v0: T.int32 = T.Select(T_v1[v_i] >= A[v_i, v_k], T_v0[v_i], v_k)
                v_T_v1: T.float32 = T.Select(T_v1[v_i] >= A[v_i, v_k], T_v1[v_i], A[v_i, v_k])
                T_v0[v_i] = v_T_v0
                T_v1[v_i] = v_T_v1

    reducer = te.comm_reducer(argmax, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
    A = te.placeholder((4, 9), name="A")
    k = te.reduce_axis((0, 9), name="k")
    at, value = te.compute((4,), lambda i: reducer((k.var, A[i, k]), axis=k), name="T")
    same(te.create_prim_func([A, at, value]), want)
    a = data(4, 9)
    check(
        [A, at, value],
        [a, np.zeros(4, "int32"), np.zeros(4, "float32")],
        [a, a.argmax(1).astype("int32"), a.max(1)],
    )


def test_several_results():
    A = te.placeholder((3, 5), name="A")
    B, C = te.compute((3, 5), lambda i, j: (A[i, j] + 1.0, te.exp(A[i, j])), name="T")
    assert (B.name, C.name, B.op is C.op, C.value_index) == ("T_v0", "T_v1", True, 1)
    a = data(3, 5)
    check([A, B, C], [a, np.zeros_like(a), np.zeros_like(a)], [a, a + 1, np.exp(a)])
    check([A, C], [a, np.zeros_like(a)], [a, np.exp(a)])


def test_rank_zero_unit_and_empty():
    A = te.placeholder((), name="A")
    B = te.compute((), lambda: A() * 3.0, name="B")
    a = np.array(2.0, "float32")
    check([A, B], [a, np.zeros((), "float32")], [a, a * 3])
    P = te.placeholder((4,), name="P")
    k = te.reduce_axis((0, 4), name="k")
    S = te.compute((), lambda: te.sum(P[k], axis=k), name="S")
    p = data(4)
    check([P, S], [p, np.zeros((), "float32")], [p, p.sum()])
    E = te.placeholder((0, 3), name="E")
    F = te.compute((0, 3), lambda i, j: E[i, j] + 1.0, name="F")
    check([E, F], [np.zeros((0, 3), "float32"), np.zeros((0, 3), "float32")], [None, None])


def test_names_of_axes():
    A = te.placeholder((2, 3, 4), name="A")
    B = te.compute((2, 3, 4), lambda *i: A(*i), name="B")
    assert [a.var.name for a in B.op.axis] == ["i0", "i1", "i2"]
    C = te.compute((2, 3, 4), lambda *i: A(*i), varargs_names=["x", "y", "z"])
    assert [a.var.name for a in C.op.axis] == ["x", "y", "z"]
    D = te.compute((2, 3, 4), lambda n, *rest: A(n, *rest))
    assert [a.var.name for a in D.op.axis] == ["n", "i1", "i2"]
    with pytest.raises(ts.TirscriptError, match="2 dimensions, but its function takes 1 index"):
        te.compute((2, 3), lambda i: 0.0)
    with pytest.raises(ts.TirscriptError, match="arity"):
        te.compute((2, 3), lambda *i: 0.0, varargs_names=["a"])


def test_equal_names_are_told_apart():
    A = te.placeholder((4,))
    B = te.placeholder((4,))
    C = te.compute((4,), lambda i: A[i] + B[i])
    D = te.compute((4,), lambda i: C[i] * 2.0)
    func = te.create_prim_func([A, B, D])
    assert [b.name for b in func.buffers] == ["placeholder", "placeholder_1", "compute"]
    a, b = data(4), data(4)
    check([A, B, D], [a, b, np.zeros(4, "float32")], [a, b, (a + b) * 2])
    sch = ts.Schedule(func)
    assert sch.get_block("compute") and sch.get_block("compute_1")


def test_equations_in_a_lambda_are_conditions():
    A = te.placeholder((4, 4), name="A")
    eye = te.compute((4, 4), lambda i, j: te.if_then_else(i == j, 1.0, 0.0), name="eye")
    off = te.compute(
        (4, 4), lambda i, j: T.Select(te.all(i != j, A[i, j] == A[i, j]), A[i, j], 0.0), name="o"
    )
    mask = te.compute((4, 4), lambda i, j: i == j, name="mask")
    assert mask.dtype == "bool"
    a = data(4, 4)
    z = np.zeros((4, 4), "float32")
    check(
        [A, eye, off, mask],
        [a, z, z, z.astype(bool)],
        [a, np.eye(4), a * (1 - np.eye(4)), np.eye(4, dtype=bool)],
    )


def test_rows():
    A = te.placeholder((3, 4, 5), name="A")
    row = A[1]
    assert repr(row) == "A[1]" and isinstance(row, te.TensorSlice)
    B = te.compute((4, 5), lambda i, j: A[2][i][j] + row[i, j], name="B")
    a = data(3, 4, 5)
    check([A, B], [a, np.zeros((4, 5), "float32")], [a, a[2] + a[1]])


def test_scalar_arguments():
    n = te.var("n")
    s = te.var("s", "float32")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * s + i.astype("float32"), name="B")
    a = data(6)
    for target in ("llvm", "python"):
        out = np.zeros(6, "float32")
        ts.build(te.create_prim_func([A, s, B]), target=target)["main"](a, 2.5, out)
        np.testing.assert_allclose(out, a * 2.5 + np.arange(6), rtol=1e-6)


def test_index_dtype_override():
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    I = te.placeholder((n,), "int32", name="I")
    B = te.compute(
        (n, 8), lambda i, j: A[n - 1 - i, (j + 3) % 8] + A[I[i], 0] + i.astype("float32"), name="B"
    )
    func = te.create_prim_func([A, I, B], index_dtype_override="int64")
    assert {e.dtype for b in func.buffers for e in b.shape} == {"int64"}
    text = func.script()
    assert "T.int64(8)" in text and "T.int32()" not in text
    a, at = data(5, 8), np.array([4, 3, 2, 1, 0], "int32")
    want = a[::-1][:, (np.arange(8) + 3) % 8] + a[at, 0][:, None] + np.arange(5)[:, None]
    check([A, I, B], [a, at, np.zeros((5, 8), "float32")], [a, at, want], index_dtype_override="int64")


def test_attributes_and_tags():
    A = te.placeholder((4, 4), name="A")
    W = te.placeholder((4, 4), name="W")
    with te.tag_scope("injective"):
        B = te.compute(
            (4, 4), lambda i, j: A[i, j] + W[i, j], name="B",
            attrs={"layout_free_placeholders": [W], "schedule_rule": "mine"},
        )  # fmt: skip
        C = te.compute((4, 4), lambda i, j: B[i, j], name="C", tag="own")
    assert (B.op.tag, C.op.tag) == ("injective", "own")
    func = te.create_prim_func([A, W, C])
    assert func.attrs["layout_free_buffers"] == [1]
    sch = ts.Schedule(func)
    assert sch.get(sch.get_block("B")).annotations == {"schedule_rule": "mine"}


def test_extern():
    @ts.register_func("te_test.negate", override=True)
    def negate(a, out):
        out.copyfrom(-a.numpy())

    A = te.placeholder((3, 4), name="A")
    B = te.extern((3, 4), [A], lambda ins, outs: T.call_packed("te_test.negate", ins[0], outs[0]), name="B")
    C = te.compute((3, 4), lambda i, j: B[i, j] + 1.0, name="C")
    a = data(3, 4)
    check([A, C], [a, np.zeros_like(a)], [a, 1 - a])
    first, second = te.extern(
        [(2,), (3,)], [A], lambda ins, outs: T.call_packed("te_test.negate", ins[0], outs[0]),
        dtype=["float32", "int32"],
    )  # fmt: skip
    assert (first.dtype, second.dtype, second.shape[0].value) == ("float32", "int32", 3)


def test_extern_primfunc():
    @T.prim_func
    def twice(a: T.handle, b: T.handle):
        n = T.int32()
        X = T.match_buffer(a, (n,), "float32")
        Y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)

    A = te.placeholder((12,), name="A")
    one = te.compute((12,), lambda i: A[i] + 1.0, name="one")

    @T.prim_func
    def fixed(X: T.Buffer((12,), "float32"), Y: T.Buffer((12,), "float32")):
        for i in range(12):
            with T.block("Y"):
                vi = T.axis.spatial(12, i)
                Y[vi] = X[vi] * T.float32(2)

    B = te.extern_primfunc([one], fixed)
    C = te.compute((12,), lambda i: B[i] - A[i], name="C")
    a = data(12)
    check([A, C], [a, np.zeros(12, "float32")], [a, (a + 1) * 2 - a])
    with pytest.raises(ts.TirscriptError, match="leave no output"):
        te.extern_primfunc([A, one], fixed)
    with pytest.raises(ts.TirscriptError, match="does not fit"):
        te.extern_primfunc([te.placeholder((12,), "int32")], fixed)


def test_scan():
    n, m = 10, 4
    X = te.placeholder((n, m), name="X")
    state = te.placeholder((n, m), name="state")
    first = te.compute((1, m), lambda _, i: X[0, i], name="first")
    step = te.compute((n, m), lambda t, i: state[t - 1, i] + X[t, i], name="step")
    S = te.scan(first, step, state, inputs=[X], name="S")
    x = data(n, m)
    check([X, S], [x, np.zeros_like(x)], [x, np.cumsum(x, axis=0)])
    after = te.compute((n, m), lambda t, i: S[t, i] * 2.0, name="after")
    check([X, after], [x, np.zeros_like(x)], [x, np.cumsum(x, axis=0) * 2])


def test_what_is_refused():
    A = te.placeholder((4, 4), name="A")
    k = te.reduce_axis((0, 4), name="k")

    def error(code, f):
        with pytest.raises(ts.TirscriptError) as caught:
            f()
        assert caught.value.code == code, str(caught.value)

    error("nested-reduction", lambda: te.compute((4,), lambda i: te.sum(A[i, k], axis=k) + 1.0))
    error("index-count", lambda: A(1))
    error("index-count", lambda: A[1, 2, 3])
    error("slice", lambda: A[0:2, 1])
    error("not-an-expression", lambda: te.compute((4,), lambda i: A))
    error("not-an-expression", lambda: te.compute((4,), lambda i: None))
    error("reduce-axis", lambda: te.sum(A[0, 0]))
    error("reduce-axis", lambda: te.sum(A[0, 0], axis=te.compute((4,), lambda i: 0).op.axis[0]))
    error("negative-extent", lambda: te.placeholder((-1,)))
    error("not-callable", lambda: te.compute((4,), 3))
    error("missing-argument", lambda: te.create_prim_func([te.compute((4,), lambda i: A[i, i])]))
    error("duplicate-argument", lambda: te.create_prim_func([A, A]))
    error("not-a-tensor", lambda: te.create_prim_func([A, 3]))
    error("dtype", lambda: te.create_prim_func([A], index_dtype_override="int16"))
    error("range", lambda: te.reduce_axis(4))
    error("mixed-reduction", lambda: te.compute((4,), lambda i: (te.sum(A[i, k], axis=k), 1.0)))
    error("not-a-statement", lambda: te.extern((4,), [A], lambda i, o: 3, name="x"))
    error("not-a-tensor", lambda: te.extern((4,), [3], lambda i, o: 3, name="x"))


def test_a_long_chain():
    t = A = te.placeholder((4,), name="A")
    for n in range(3000):
        t = te.compute((4,), lambda i, t=t: t[i] + 1.0, name=f"s{n}")
    func = te.create_prim_func([A, t])
    assert len(func.body.block.alloc_buffers) == 2999
