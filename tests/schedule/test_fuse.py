"""fuse: what the result must be, and that it computes the same."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


def test_fuse_two_loops() -> None:
    @T.prim_func
    def after(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i_j_fused in range(120):
            with T.block("B"):
                vi = T.axis.spatial(12, i_j_fused // 10)
                vj = T.axis.spatial(10, i_j_fused % 10)
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    fused = sch.fuse(*sch.get_loops("B"))
    assert fused.name == "i_j_fused"
    ts.assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "two_stages"))
    sch.parallel(fused)
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_fuse_three_loops() -> None:
    sch = Schedule(matmul)
    sch.fuse(*sch.get_loops("C"))
    text = sch.mod["main"].script()
    assert "T.axis.spatial(16, i_j_k_fused // 480)" in text
    assert "T.axis.spatial(20, i_j_k_fused % 480 // 24)" in text
    assert "T.axis.reduce(24, i_j_k_fused % 24)" in text
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    roundtrip(sch.mod)


def test_fuse_after_split_gives_the_plain_value_back() -> None:
    sch = Schedule(matmul)
    i, _, _ = sch.get_loops("C")
    sch.fuse(*sch.split(i, [None, 4]))
    assert 'T.axis.remap("SSR", [i_0_i_1_fused, j, k])' in sch.mod["main"].script()


def test_symbolic_fuse_then_split_in_parallel() -> None:
    sch = Schedule(copy_symbolic)
    outer, inner = sch.split(sch.fuse(*sch.get_loops("O")), [None, 7])
    sch.parallel(outer)
    sch.vectorize(inner)
    for n, m in ((3, 5), (1, 9), (9, 1), (7, 7), (1, 1), (0, 4), (4, 0)):
        a = rng(n, m)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, m), "float32")), a)


def test_loops_with_other_starts_and_unit_loops() -> None:
    @T.prim_func
    def f(O: T.Buffer((9, 7), "int32")):
        for i, u, j in T.grid(4, 1, 5):
            with T.block("O"):
                vi = T.axis.spatial((2, 6), i + 2)
                vu = T.axis.spatial(1, u)
                vj = T.axis.spatial((1, 6), j + 1)
                O[vi, vj] = vi * 10 + vj

    @T.prim_func
    def g(O: T.Buffer((9, 7), "int32")):
        for i in range(2, 6):
            for j in range(1, 6):
                with T.block("O"):
                    vi = T.axis.spatial((2, 6), i)
                    vj = T.axis.spatial((1, 6), j)
                    O[vi, vj] = vi * 10 + vj

    want = np.zeros((9, 7), "int32")
    want[2:6, 1:6] = np.add.outer(np.arange(2, 6) * 10, np.arange(1, 6))
    for program in (f, g):
        sch = Schedule(program)
        sch.fuse(*sch.get_loops("O"))
        np.testing.assert_array_equal(run(sch.mod, np.zeros((9, 7), "int32")), want)


def test_a_product_that_leaves_int32_is_computed_in_int64() -> None:
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for _i, _j, k in T.grid(65536, 65536, 4):
            with T.block("O"):
                v = T.axis.spatial(4, k)
                O[v] = 1

    sch = Schedule(f)
    fused = sch.fuse(*sch.get_loops("O"))
    loop = sch.get(fused)
    assert loop.loop_var.dtype == "int64" and loop.extent.value == 65536 * 65536 * 4
    assert 'T.axis.spatial(4, T.Cast("int32", _i__j_k_fused % T.int64(4)))' in sch.mod["main"].script()


def test_refusals() -> None:
    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    p, _ = sch.get_loops("C")
    with pytest.raises(ts.ScheduleError, match="not-nested"):
        sch.fuse(j, i)
    with pytest.raises(ts.ScheduleError, match="not-nested"):
        sch.fuse(i, p)
    with pytest.raises(ts.ScheduleError, match="no-loops"):
        sch.fuse()
    sch.vectorize(j)
    with pytest.raises(ts.ScheduleError, match="mixed-kinds"):
        sch.fuse(i, j)

    @T.prim_func
    def triangle(O: T.Buffer((8, 8), "int32")):
        for i in range(8):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = 1

    sch = Schedule(triangle)
    with pytest.raises(ts.ScheduleError, match="dependent-extent"):
        sch.fuse(*sch.get_loops("O"))

    @T.prim_func
    def imperfect(X: T.Buffer((4,), "int32"), Y: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("X"):
                vi = T.axis.spatial(4, i)
                X[vi] = vi
            for j in range(6):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = X[vi] + vj

    sch = Schedule(imperfect)
    with pytest.raises(ts.ScheduleError, match='contains 2 statements \\(block "X", loop `j`\\)'):
        sch.fuse(*sch.get_loops("Y"))


def test_kinds_are_kept() -> None:
    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    sch.unroll(i)
    sch.unroll(j)
    assert sch.get(sch.fuse(i, j)).kind == "unrolled"


def test_a_condition_on_reduction_loops_still_guards_the_update_alone() -> None:
    """It must not become a plain False, which would guard the init too."""

    @T.prim_func
    def f(A: T.Buffer((5, 3, 4), "int32"), O: T.Buffer((5,), "int32")):
        for i, k, l in T.grid(5, 3, 4):
            with T.block("O"):
                vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                T.where(k < 0)
                with T.init():
                    O[vi] = 7
                O[vi] = O[vi] + A[vi, vk, vl]

    sch = Schedule(f)
    _, k, l = sch.get_loops("O")
    sch.fuse(k, l)
    out = run(sch.mod, rng(5, 3, 4, dtype="int32"), np.zeros(5, "int32"))
    np.testing.assert_array_equal(out, np.full(5, 7, "int32"))
