"""Loops that are left early, and kinds that a reorder must not break."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, run


@T.prim_func
def first_negative(A: T.Buffer((4, 9), "int32"), O: T.Buffer((4,), "int32")):
    for i in range(4):
        for j in range(9):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.scan(9, j)
                O[vi] = vj
            if A[i, j] < 0:
                break


def want(a: np.ndarray) -> list[int]:
    return [next((j for j in range(9) if row[j] < 0), 8) for row in a]


def test_a_break_belongs_to_its_loop() -> None:
    a = rng(4, 9, dtype="int32")
    sch = Schedule(first_negative)
    i, j = sch.get_loops("O")
    for call in (
        lambda: sch.split(j, [None, 4]),
        lambda: sch.fuse(i, j),
        lambda: sch.reorder(j, i),
        lambda: sch.vectorize(j),
    ):
        with pytest.raises(ts.ScheduleError, match=r"leaves-loop.*holds a `break`"):
            call()
    sch.split(i, [None, 3])  # not the loop that is left
    sch.parallel(sch.get_loops("O")[0])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32")), want(a))


def test_continue_goes_with_the_innermost_loop() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 9), "int32"), O: T.Buffer((4, 9), "int32")):
        for i in range(4):
            for j in range(9):
                if A[i, j] < 0:
                    continue
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj]

    a = rng(4, 9, dtype="int32")
    sch = Schedule(f)
    i, j = sch.get_loops("O")
    sch.split(j, [None, 4])
    sch.reorder(*reversed(sch.get_loops("O")))
    sch.parallel(i)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 9), "int32")), np.maximum(a, 0))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_parallel_loop_that_would_come_to_hold_a_dependence() -> None:
    @T.prim_func
    def f(A: T.Buffer((9, 9), "int32")):
        for j, i in T.grid(8, 8):
            with T.block("A"):
                vj, vi = T.axis.remap("SS", [j, i])
                T.reads(A[vi, vj])
                T.writes(A[vi + 1, vj + 1])
                A[vi + 1, vj + 1] = A[vi, vj] + 1

    sch = Schedule(f)
    j, i = sch.get_loops("A")
    sch.parallel(i)  # the dependence is carried by j
    with pytest.raises(ts.ScheduleError, match="kind-lost") as caught:
        sch.reorder(i, j)
    assert "loop `i` is parallel and cannot come outside `j`" in str(caught.value)
    assert "which" in str(caught.value)  # the witness
    sch.undo()
    sch.reorder(i, j)
    with pytest.raises(ts.ScheduleError, match="loop-carried-dependence"):
        sch.parallel(i)


def test_a_vectorized_loop_may_come_out_where_it_stays_independent() -> None:
    from .programs import matmul

    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.reorder(k, j)
    sch.vectorize(j)
    sch.reorder(j, k)
    sch.reorder(j, i)
    assert [x.name for x in sch.get_loops("C")] == ["j", "i", "k"]


def test_the_init_may_use_nothing_that_the_block_allocates() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 5):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                t = T.alloc_buffer((1,), "int32")
                with T.init():
                    t[0] = 0
                    O[vi] = t[0]
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="init-uses-local"):
        sch.decompose_reduction("O", sch.get_loops("O")[1])


def test_a_view_in_the_init_is_copied() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4, 1), "int32")):
        for i, k in T.grid(4, 5):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(O[vi, 0])
                o = T.match_buffer(O[vi, 0:1], (1,), "int32", offset_factor=1)
                with T.init():
                    o[0] = 3
                o[0] = o[0] + A[vi, vk]

    a = rng(4, 5, dtype="int32")
    sch = Schedule(f)
    sch.decompose_reduction("O", sch.get_loops("O")[1])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 1), "int32")), a.sum(1, keepdims=True) + 3)
