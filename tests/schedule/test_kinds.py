"""parallel, vectorize, unroll: what may lose its order and what may not."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import last_wins, matmul, rng, run, shifted, two_stages

KINDS = [("parallel", "parallel"), ("vectorize", "vectorized"), ("unroll", "unrolled")]


@pytest.mark.parametrize(("primitive", "kind"), KINDS)
def test_spatial_loops_take_every_kind(primitive: str, kind: str) -> None:
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    getattr(sch, primitive)(j)
    assert sch.get(j).kind == kind and sch.get(i).kind == "serial"
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_the_update_block_can_be_vectorized() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.decompose_reduction("C", k)
    sch.vectorize(j1)
    sch.vectorize(sch.get_loops("C_init")[-1])
    sch.parallel(i)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


@pytest.mark.parametrize("primitive", ["parallel", "vectorize"])
def test_a_reduction_loop_is_refused_with_a_witness(primitive: str) -> None:
    sch = Schedule(matmul)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        getattr(sch, primitive)(sch.get_loops("C")[2])
    error = caught.value
    assert error.code == f"{primitive}-reduction-axis"
    assert "k=0 and k=1 both write C[0, 0]" in str(error)
    assert "rfactor(k, 0) first" in str(error)
    assert sch.mod["main"] is before and len(sch.history) == 0


@pytest.mark.parametrize("primitive", ["parallel", "vectorize"])
def test_a_shifted_read_carries_a_dependence(primitive: str) -> None:
    sch = Schedule(shifted)
    i = sch.get_loops("A")[0]
    with pytest.raises(ts.ScheduleError, match="loop-carried-dependence") as caught:
        getattr(sch, primitive)(i)
    assert "i=0 writes A[1], which i=1 reads" in str(caught.value)
    outer, inner = sch.split(i, [None, 4])
    for loop in (outer, inner):
        with pytest.raises(ts.ScheduleError, match="loop-carried-dependence"):
            getattr(sch, primitive)(loop)
    np.testing.assert_array_equal(run(sch.mod, np.zeros(33, "int32")), np.arange(33))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_distance_beyond_the_inner_loop_is_no_dependence() -> None:
    @T.prim_func
    def f(A: T.Buffer((40,), "int32")):
        for i in range(32):
            with T.block("A"):
                vi = T.axis.spatial(32, i)
                T.reads(A[vi])
                T.writes(A[vi + 8])
                A[vi + 8] = A[vi] + 1

    sch = Schedule(f)
    outer, inner = sch.split(sch.get_loops("A")[0], [None, 8])
    sch.vectorize(inner)  # lanes are less than 8 apart
    with pytest.raises(ts.ScheduleError, match="loop-carried-dependence") as caught:
        sch.parallel(outer)
    assert "writes A[8], which" in str(caught.value)
    want = np.zeros(40, "int32")
    for n in range(32):
        want[n + 8] = want[n] + 1
    np.testing.assert_array_equal(run(sch.mod, np.zeros(40, "int32")), want)


def test_an_update_that_only_assigns_is_refused() -> None:
    for primitive in ("parallel", "vectorize"):
        sch = Schedule(last_wins)
        k0, k1 = sch.split(sch.get_loops("O")[1], [5, 8])
        for loop in (k0, k1):
            with pytest.raises(ts.ScheduleError, match="reduction-axis"):
                getattr(sch, primitive)(loop)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_an_axis_called_spatial_is_not_believed() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi // 2] = A[vi]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="loop-carried-dependence") as caught:
        sch.parallel(sch.get_loops("O")[0])
    assert "i=0 and i=1 both write O[0]" in str(caught.value)


def test_an_opaque_axis_with_disjoint_stores_is_allowed() -> None:
    @T.prim_func
    def f(O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.opaque(8, i)
                O[vi] = vi * 3

    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    np.testing.assert_array_equal(run(sch.mod, np.zeros(8, "int32")), np.arange(8) * 3)


def test_a_scatter_is_unknown_and_can_be_forced() -> None:
    @T.prim_func
    def f(P: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                T.reads(P[vi])
                T.writes(O[0:8])
                O[P[vi]] = vi

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="dependence-unknown") as caught:
        sch.parallel(sch.get_loops("O")[0])
    assert 'how O is written in block "O"' in str(caught.value)
    assert "enable_check=False" in str(caught.value)
    sch = Schedule(f, enable_check=False)
    sch.parallel(sch.get_loops("O")[0])
    assert "enable_check=False" in str(sch.trace)
    p = np.array([3, 1, 0, 2, 7, 6, 5, 4], "int32")
    np.testing.assert_array_equal(run(sch.mod, p, np.zeros(8, "int32")), np.argsort(p))


def test_csr_rows_are_independent() -> None:
    @T.prim_func
    def f(P: T.Buffer((7,), "int32"), V: T.Buffer((20,), "float32"), O: T.Buffer((6,), "float32")):
        for i in range(6):
            with T.block("row"):
                vi = T.axis.spatial(6, i)
                T.reads(P[vi : vi + 2], V[0:20])
                T.writes(O[vi])
                O[vi] = T.float32(0)
                for k in range(P[vi + 1] - P[vi]):
                    O[vi] = O[vi] + V[P[vi] + k]

    p = np.array([0, 3, 3, 8, 9, 20, 20], "int32")
    v = np.arange(20, dtype="float32")
    sch = Schedule(f)
    sch.parallel(sch.get_loops("row")[0])
    want = [v[p[n] : p[n + 1]].sum() for n in range(6)]
    np.testing.assert_allclose(run(sch.mod, p, v, np.zeros(6, "float32")), want)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("lo", "hi", "code", "words"), [
    (0, 127, "axis-not-covered", "never run `vi` = 127"),
    (3, 128, "axis-not-covered", "never run `vi` = 0 to 2"),
    (0, 130, "axis-overrun", "to 129, outside its domain 0 to 127"),
])  # fmt: skip
def test_loops_that_miss_or_leave_the_domain(lo: int, hi: int, code: str, words: str) -> None:
    @T.prim_func
    def f(A: T.Buffer((140,), "int32"), O: T.Buffer((140,), "int32")):
        for i in range(lo, hi):
            with T.block("O"):
                vi = T.axis.spatial(128, i)
                O[vi] = A[vi]

    for primitive in ("parallel", "vectorize"):
        sch = Schedule(f)
        with pytest.raises(ts.ScheduleError) as caught:
            getattr(sch, primitive)(sch.get_loops("O")[0])
        assert caught.value.code == code and words in str(caught.value)
    sch = Schedule(f)
    sch.unroll(sch.get_loops("O")[0])


def test_a_guarded_overrun_is_no_overrun() -> None:
    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    i0, _ = sch.split(i, [None, 5])
    sch.parallel(i0)
    _, j1 = sch.split(j, [None, 4])
    sch.vectorize(j1)
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_parameters_that_may_be_the_same_memory() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        T.func_attr({"tir.noalias": False})
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = A[vi]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="dependence"):
        sch.parallel(sch.get_loops("O")[0])


def test_a_scratch_of_each_iteration_is_no_dependence() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                t = T.alloc_buffer((4,), "int32")
                for j in range(4):
                    t[j] = A[vi, j] * 2
                O[vi] = t[0] + t[3]

    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    a = rng(8, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), a[:, 0] * 2 + a[:, 3] * 2)


def test_a_scratch_that_each_iteration_fills() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        t = T.alloc_buffer((1,), "int32")
        for i in range(8):
            with T.block("t"):
                vi = T.axis.opaque(8, i)
                T.reads(A[vi])
                T.writes(t[0])
                t[0] = A[vi] * 2
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = t[0] + 1

    # It is written before it is read, so each worker may have one of its own.
    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    a = rng(8, dtype="int32")
    for _ in range(10):
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), a * 2 + 1)


def test_a_scratch_that_carries_a_value_is_shared() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        t = T.alloc_buffer((1,), "int32")
        for i in range(8):
            with T.block("t"):
                vi = T.axis.opaque(8, i)
                T.where(i % 2 == 0)
                T.reads(A[vi])
                T.writes(t[0])
                t[0] = A[vi] * 2
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = t[0] + 1

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="loop-carried-dependence") as caught:
        sch.parallel(sch.get_loops("O")[0])
    assert "t[0]" in str(caught.value)
    a = rng(8, dtype="int32")
    want = np.repeat(a[::2], 2) * 2 + 1
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), want)


def test_a_bound_loop_is_refused() -> None:
    @T.prim_func
    def f(O: T.Buffer((8,), "int32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = vi

    for primitive, _ in KINDS:
        sch = Schedule(f)
        with pytest.raises(ts.ScheduleError, match="bound-loop"):
            getattr(sch, primitive)(sch.get_loops("O")[0])


def test_imperfect_nests() -> None:
    @T.prim_func
    def f(X: T.Buffer((4, 6), "int32"), Y: T.Buffer((4,), "int32"), Z: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = vi * 7
            for j in range(6):
                with T.block("X"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi, vj] = Y[vi] + vj
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Z[vi, vj] = X[vi, vj] * 2

    sch = Schedule(f)
    i, j = sch.get_loops("X")
    with pytest.raises(ts.ScheduleError, match="not-perfectly-nested"):
        sch.fuse(i, j)
    with pytest.raises(ts.ScheduleError, match="not-perfectly-nested"):
        sch.reorder(j, i)
    sch.split(j, [None, 4])
    sch.parallel(i)
    sch.unroll(sch.get_loops("Z")[-1])
    x = np.add.outer(np.arange(4) * 7, np.arange(6))
    zeros = np.zeros((4, 6), "int32")
    np.testing.assert_array_equal(run(sch.mod, zeros, np.zeros(4, "int32"), zeros), x * 2)
