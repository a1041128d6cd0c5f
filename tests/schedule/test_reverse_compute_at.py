"""reverse_compute_at: consumers under the loops of their producers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run, two_stages


def moved(
    program: Any, block: str, loop: tuple[str, int], want: Any, *arrays: Any, **options: Any
) -> Schedule:
    """Compare with the expected program, and the values on both targets."""
    sch = Schedule(program)
    before = run(sch.mod, *arrays)
    handle = sch.get_block(block)
    sch.reverse_compute_at(handle, sch.get_loops(loop[0])[loop[1]], **options)
    assert sch.get(handle).name == block
    if want is not None:
        have = sch.mod["main"].without_attr("global_symbol")
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, *arrays), before)
    return sch


def refused(program: Any, code: str, block: Any, loop: Any, *steps: Any, index: Any = -1) -> str:
    sch = Schedule(program)
    for step in steps:
        step(sch)
    handle = sch.get_loops(loop[0])[loop[1]] if isinstance(loop, tuple) else loop
    before, count = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.reverse_compute_at(block, handle, index=index)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == count
    return str(caught.value)


def test_at_the_outer_loop() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i in range(12):
            for j in range(10):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for ax0 in range(10):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, ax0])
                    C[vi, vj] = B[vi, vj] + T.float32(1)

    moved(two_stages, "C", ("B", 0), want, rng(12, 10), np.zeros((12, 10), "float32"))
    moved(two_stages, "C", ("B", 1), None, rng(12, 10), np.zeros((12, 10), "float32"))


def test_an_uneven_tile() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i_0, j_0 in T.grid(3, 3):
            for i_1, j_1 in T.grid(5, 4):
                with T.block("B"):
                    vi = T.axis.spatial(12, i_0 * 5 + i_1)
                    vj = T.axis.spatial(10, j_0 * 4 + j_1)
                    T.where(i_0 * 5 + i_1 < 12 and j_0 * 4 + j_1 < 10)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for ax0, ax1 in T.grid(5, 4):
                with T.block("C"):
                    vi = T.axis.spatial(12, i_0 * 5 + ax0)
                    vj = T.axis.spatial(10, j_0 * 4 + ax1)
                    T.where(i_0 * 5 + ax0 < 12 and j_0 * 4 + ax1 < 10)
                    C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    (i_0, i_1), (j_0, j_1) = sch.split(i, [None, 5]), sch.split(j, [None, 4])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.reverse_compute_at("C", j_0)
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


@T.prim_func
def row_sums(A: T.Buffer((8, 16), "int32"), O: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i, k in T.grid(8, 16):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 5
            B[vi] = B[vi] + A[vi, vk]
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            O[vi] = B[vi] * 2


def test_behind_a_reduction() -> None:
    @T.prim_func
    def want(A: T.Buffer((8, 16), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            for k in range(16):
                with T.block("B"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        B[vi] = 5
                    B[vi] = B[vi] + A[vi, vk]
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi] * 2

    a = rng(8, 16, dtype="int32")
    moved(row_sums, "O", ("B", 0), want, a, np.zeros(8, "int32"))
    # In the reduction loop it runs on partial sums too; the last time on the whole one.
    moved(row_sums, "O", ("B", 1), None, a, np.zeros(8, "int32"))


def test_a_shifted_window_of_the_producer() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((5,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial(5, i)
                O[vi] = B[vi + 2] * 2

    @T.prim_func
    def want(A: T.Buffer((8,), "int32"), O: T.Buffer((5,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
            with T.block("O"):
                vi = T.axis.spatial(5, i - 2)
                T.where(2 <= i and i < 7)  # noqa: SIM300
                O[vi] = B[vi + 2] * 2

    moved(f, "O", ("B", 0), want, rng(8, dtype="int32"), np.zeros(5, "int32"))


def test_a_stencil_runs_again_until_all_is_there() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("B"):
                vi = T.axis.spatial(10, i)
                B[vi] = A[vi] * 2
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi] - B[vi + 2]

    a = rng(10, dtype="int32")
    moved(f, "O", ("B", 0), None, a, np.zeros(8, "int32"))
    # ... which iterations that run at the same time must not.
    text = refused(f, "reversed-dependence", "O", ("B", 0), lambda s: s.parallel(s.get_loops("B")[0]))
    assert "B[" in text


@pytest.mark.parametrize("level", [0, 1])
def test_symbolic_shapes(level: int) -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        O = T.match_buffer(o, (n,), "int32")
        B = T.alloc_buffer((n,), "int32")
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + 1
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = B[vi] * A[vi]

    sch = Schedule(f)
    sch.split(sch.get_loops("B")[0], [None, 32])
    sch.reverse_compute_at("O", sch.get_loops("B")[level])
    for n in (1, 31, 32, 1000):
        a = rng(n, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, a, np.full(n, -1, "int32")), (a + 1) * a)


def test_digits() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 6), "int32"), O: T.Buffer((48,), "int32")):
        B = T.alloc_buffer((8, 6), "int32")
        for i, j in T.grid(8, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(48):
            with T.block("O"):
                vi = T.axis.spatial(48, i)
                O[vi] = B[vi // 6, vi % 6] * 2

    @T.prim_func
    def want(A: T.Buffer((8, 6), "int32"), O: T.Buffer((48,), "int32")):
        B = T.alloc_buffer((8, 6), "int32")
        for i in range(8):
            for j in range(6):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj]
            for ax0 in range(6):
                with T.block("O"):
                    vi = T.axis.spatial(48, i * 6 + ax0)
                    O[vi] = B[vi // 6, vi % 6] * 2

    moved(f, "O", ("B", 0), want, rng(8, 6, dtype="int32"), np.zeros(48, "int32"))
    sch = Schedule(f)
    sch.fuse(*sch.get_loops("B"))
    sch.split(sch.get_loops("B")[0], [None, 12])
    sch.reverse_compute_at("O", sch.get_loops("B")[1])
    a = rng(8, 6, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(48, "int32")), a.reshape(-1) * 2)


def test_a_guard_moves_with_the_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                T.where(i < 5)
                O[vi] = B[vi] * 2

    @T.prim_func
    def want(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                T.where(i < 5)
                O[vi] = B[vi] * 2

    moved(f, "O", ("B", 0), want, rng(8, dtype="int32"), np.full(8, -3, "int32"))


def test_an_update_in_place() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8, 4), "int32")):
        B = T.alloc_buffer((8, 4), "int32")
        for i, j in T.grid(8, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 3
        for i, j in T.grid(8, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = O[vi, vj] + B[vi, vj]

    moved(f, "O", ("B", 0), None, rng(8, 4, dtype="int32"), rng(8, 4, seed=3, dtype="int32"))
    sch = Schedule(f)
    sch.parallel(sch.get_loops("B")[0])
    sch.reverse_compute_at("O", sch.get_loops("B")[1])


def test_positions() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi] * 2
        for i in range(8):
            with T.block("Q"):
                vi = T.axis.spatial(8, i)
                Q[vi] = B[vi] * 3

    for index, order in ((-1, "BOQ"), (-2, "BQO"), (1, "BQO"), (2, "BOQ")):
        sch = Schedule(f)
        loop = sch.get_loops("B")[0]
        sch.reverse_compute_at("O", loop)
        sch.reverse_compute_at("Q", loop, index=index)
        assert "".join([sch.get(b).name for b in sch.get_child_blocks(loop)]) == order
        a = rng(8, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32"), np.zeros(8, "int32")), a * 3)
    assert "from 1 to 2" in refused(
        f, "bad-index", "Q", ("B", 0), lambda s: s.reverse_compute_at("O", s.get_loops("B")[0]), index=0
    )
    refused(f, "bad-index", "Q", ("B", 0), index=None)


@pytest.mark.parametrize("level", range(6))
def test_a_write_back_at_every_level(level: int) -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 5])
    j_0, j_1 = sch.split(j, [None, 6])
    k_0, k_1 = sch.split(k, [None, 7])
    sch.reorder(i_0, k_0, j_0, i_1, k_1, j_1)
    block = sch.cache_write("C", 0, "global")
    sch.reverse_compute_at(block, sch.get_loops("C")[level])
    a, b = rng(16, 24), rng(24, 20)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


# ---- refusals


def test_wrong_arguments() -> None:
    refused(two_stages, "wrong-handle", 3, ("B", 0))
    refused(two_stages, "wrong-handle", "C", "B")
    refused(two_stages, "root-block", "root", ("B", 0))
    refused(two_stages, "loop-around", "C", ("C", 0))
    assert "before" in refused(two_stages, "wrong-side", "B", ("C", 0))


def test_no_producer() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("P"):
                vi = T.axis.spatial(8, i)
                P[vi] = A[vi]
        for i in range(8):
            with T.block("Q"):
                vi = T.axis.spatial(8, i)
                Q[vi] = A[vi]

    refused(f, "no-producer", "Q", ("P", 0))


def test_instances_that_would_not_run() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((18,), "int32")):
        B = T.alloc_buffer((16,), "int32")
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi]
        for i in range(18):
            with T.block("O"):
                vi = T.axis.spatial(18, i)
                O[vi] = T.if_then_else(vi >= 1 and vi < 17, B[vi - 1], 7)

    # The padding reads nothing of B: under B's loop it would be left out.
    assert "axis `vi`" in refused(f, "instances-missed", "O", ("B", 0))


def test_a_condition_around_the_loop() -> None:
    @T.prim_func
    def f(n: T.int32, A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        if n > 0:
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert "n > 0" in refused(f, "conditional-loop", "O", ("B", 0))


def test_a_writer_between() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("first"):
                vi = T.axis.spatial(8, i)
                P[vi] = A[7 - vi] + 1
        for i in range(8):
            with T.block("over"):
                vi = T.axis.spatial(8, i)
                A[vi] = vi * 100
        for i in range(8):
            with T.block("second"):
                vi = T.axis.spatial(8, i)
                Q[vi] = A[vi] + P[vi]

    text = refused(f, "reversed-dependence", "second", ("first", 0))
    assert 'block "over" touches A too' in text and "note: " in text


def test_a_value_of_the_whole_reduction() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
        M = T.alloc_buffer((1,), "float32")
        for k in range(8):
            with T.block("M"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    M[0] = T.float32(0)
                M[0] = T.max(M[0], A[vk])
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = A[vi] / M[0]

    sch = Schedule(f)
    sch.reverse_compute_at("O", sch.get_loops("M")[0])
    a = np.linspace(1, 3, 8).astype("float32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "float32")), a / a.max())


def test_an_index_that_is_not_there_yet() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), V: T.Buffer((4,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("B"):
                vi = T.axis.spatial(10, i)
                B[vi] = A[vi] % 4
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = V[B[vi + 2]] + B[vi]

    # Run early it would look V up at whatever B holds.
    refused(f, "reversed-dependence", "O", ("B", 0))


def test_what_is_read_by_data() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
            with T.block("P"):
                vi = T.axis.spatial(8, i)
                P[vi] = 7 - vi
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[P[vi]]

    refused(f, "dependence-unknown", "O", ("B", 0))


def test_what_may_not_run_again() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8, 4), "int32")
        for i, j in T.grid(8, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = O[vi] + B[vi, 0]

    refused(f, "not-recomputable", "O", ("B", 1))
    moved(f, "O", ("B", 0), None, rng(8, 4, dtype="int32"), rng(8, seed=2, dtype="int32"))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_loops_that_miss_instances_of_an_output() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(6):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert "`vi` = 6 to 7" in refused(f, "axis-not-covered", "O", ("B", 0))
