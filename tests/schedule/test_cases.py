"""Faults that users of such systems met: chains of splits, mixed programs, names, with the right values."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import last_wins, run


def window(n: int):
    @T.prim_func
    def f(A: T.Buffer((n + 2,), "int32"), O: T.Buffer((n,), "int32")):
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = (A[vi] + A[vi + 1] + A[vi + 2]) // 3

    return f


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 20])
def test_a_chain_of_splits(n: int) -> None:
    sch = Schedule(window(n))
    _, inner = sch.split(sch.get_loops("O")[0], factors=[None, 4])
    _, inner = sch.split(inner, factors=[None, 2])
    _, inner = sch.split(inner, factors=[None, 1])
    _, inner = sch.split(inner, factors=[None, 8])
    sch.vectorize(inner)
    a = (np.arange(n + 2) ** 2).astype("int32")
    for target in ("python", "llvm"):
        big = np.full(n + 40, -7, "int32")
        ts.build(sch.mod, target=target)(a, big[:n])
        np.testing.assert_array_equal(big[:n], (a[:-2] + a[1:-1] + a[2:]) // 3)
        np.testing.assert_array_equal(big[n:], -7)


@pytest.mark.parametrize("step", ["parallel", "vectorize", "order"])
def test_an_update_that_only_assigns(step: str) -> None:
    a = np.random.default_rng(0).integers(0, 100, (6, 40)).astype("int32")
    a[5] = 0
    want = [next((v for v in row[::-1] if v > 50), -1) for row in a]
    sch = Schedule(last_wins)
    i, k = sch.get_loops("O")
    k0, k1 = sch.split(k, factors=[5, 8])
    if step == "order":
        sch.reorder(k0, k1, i)
    else:
        with pytest.raises(ts.ScheduleError):
            getattr(sch, step)(k0 if step == "parallel" else k1)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), want)


def test_predicates_read_back() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 10), "int32"), O: T.Buffer((3,), "int32")):
        for i, k in T.grid(3, 10):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 5
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    i, k = sch.get_loops("O")
    sch.split(k, factors=[None, 4])
    sch.split(i, factors=[None, 2])
    back = ts.parse(sch.mod.script())
    ts.assert_structural_equal(back, sch.mod)
    a = np.arange(30, dtype="int32").reshape(3, 10)
    np.testing.assert_array_equal(run(back, a, np.zeros(3, "int32")), a.sum(1) + 5)


@pytest.mark.parametrize("step", range(4))
def test_reversed_bindings(step: int) -> None:
    @T.prim_func
    def f(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
        for i, j in T.grid(3, 4):
            with T.block("O"):
                v = T.axis.spatial((2, 14), 13 - (i * 4 + j))
                O[v] = A[19 - v] * 2

    a = np.arange(20, dtype="int32")
    want = np.full(20, -1)
    want[2:14] = 2 * a[::-1][2:14]
    sch = Schedule(f)
    i, j = sch.get_loops("O")
    if step == 1:
        sch.reorder(j, i)
    if step == 2:
        sch.vectorize(sch.split(sch.fuse(i, j), factors=[None, 5])[1])
    if step == 3:
        sch.parallel(i)
        sch.vectorize(j)
    np.testing.assert_array_equal(run(sch.mod, a, np.full(20, -1, "int32")), want)


def test_thirty_loops_by_splits() -> None:
    @T.prim_func
    def f(O: T.Buffer((1 << 10,), "int32")):
        for i in range(1 << 10):
            with T.block("O"):
                vi = T.axis.spatial(1 << 10, i)
                O[vi] = vi

    sch = Schedule(f, debug_mask="none")
    loop = sch.get_loops("O")[0]
    for _ in range(29):
        loop = sch.split(loop, [1, None])[1]
    assert len(sch.get_loops("O")) == 30
    sch.vectorize(loop)
    back = ts.parse(sch.mod.script())
    ts.assert_structural_equal(back, sch.mod)
    ts.build(sch.mod)(out := np.zeros(1 << 10, "int32"))
    np.testing.assert_array_equal(out, np.arange(1 << 10))


def test_the_example_of_the_language() -> None:
    func = ts.parse("""
@T.prim_func
def f(A: T.Buffer[(18, 8), "float32"], C: T.Buffer((18,), "float32")):
    for i, k in T.grid(18, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init(): C[vi] = 0.0
            C[vi] += A[vi, vk]
""")
    sch = Schedule(func)
    i, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    sch.reorder(i_0, k, i_1)
    sch.vectorize(i_1)
    assert (
        sch.mod["f"].script()
        == """\
# from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):
    # with T.block("root"):
    for i_0, k in T.grid(5, 8):
        for i_1 in T.vectorized(4):
            with T.block("C"):
                vi = T.axis.spatial(18, i_0 * 4 + i_1)
                vk = T.axis.reduce(8, k)
                T.where(i_0 * 4 + i_1 < 18)
                T.reads(A[vi, vk])
                T.writes(C[vi])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]"""
    )
