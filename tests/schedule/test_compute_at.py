"""compute_at: producers under the loops of their consumers."""

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
    before = run(sch.mod, *arrays) if arrays else None
    handle = sch.get_block(block)
    sch.compute_at(handle, sch.get_loops(loop[0])[loop[1]], **options)
    assert sch.get(handle).name == block  # the reference to the moved block is good
    if want is not None:
        have = sch.mod["main"].without_attr("global_symbol")
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    if arrays:
        np.testing.assert_array_equal(run(sch.mod, *arrays), before)
    return sch


def refused(program: Any, code: str, block: Any, loop: Any, *steps: Any, index: Any = -1) -> str:
    sch = Schedule(program)
    for step in steps:
        step(sch)
    handle = sch.get_loops(loop[0])[loop[1]] if isinstance(loop, tuple) else loop
    before, count = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.compute_at(block, handle, index=index)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == count
    return str(caught.value)


def test_at_the_outer_loop() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i in range(12):
            for ax0 in range(10):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, ax0])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(10):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = moved(two_stages, "B", ("C", 0), want, rng(12, 10), np.zeros((12, 10), "float32"))
    assert [x.name for x in sch.get_loops("B")] == ["i", "ax0"]


@pytest.mark.parametrize("keep", [False, True])
def test_at_the_inner_loop(keep: bool) -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    @T.prim_func
    def units(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i, j in T.grid(12, 10):
            for ax0, ax1 in T.grid(1, 1):
                with T.block("B"):
                    vi = T.axis.spatial(12, i + ax0)
                    vj = T.axis.spatial(10, j + ax1)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    moved(
        two_stages, "B", ("C", 1), units if keep else want, rng(12, 10), np.zeros((12, 10), "float32"),
        preserve_unit_loops=keep,
    )  # fmt: skip


@T.prim_func
def stencil(A: T.Buffer((18, 8), "int32"), C: T.Buffer((16, 6), "int32")):
    B = T.alloc_buffer((18, 8), "int32")
    for i, j in T.grid(18, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(16, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 1, vj + 2] - B[vi + 2, vj]


def test_a_halo_is_computed_again() -> None:
    @T.prim_func
    def want(A: T.Buffer((18, 8), "int32"), C: T.Buffer((16, 6), "int32")):
        B = T.alloc_buffer((18, 8), "int32")
        for i in range(16):
            for ax0, ax1 in T.grid(3, 8):
                with T.block("B"):
                    vi = T.axis.spatial(18, i + ax0)
                    vj = T.axis.spatial(8, ax1)
                    B[vi, vj] = A[vi, vj] * 2
            for j in range(6):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + B[vi + 1, vj + 2] - B[vi + 2, vj]

    moved(stencil, "B", ("C", 0), want, rng(18, 8, dtype="int32"), np.zeros((16, 6), "int32"))


def test_an_uneven_tile() -> None:
    @T.prim_func
    def want(A: T.Buffer((18, 8), "int32"), C: T.Buffer((16, 6), "int32")):
        B = T.alloc_buffer((18, 8), "int32")
        for i_0 in range(4):
            for ax0, ax1 in T.grid(7, 8):
                with T.block("B"):
                    vi = T.axis.spatial(18, i_0 * 5 + ax0)
                    vj = T.axis.spatial(8, ax1)
                    T.where(i_0 * 5 + ax0 < 18)
                    B[vi, vj] = A[vi, vj] * 2
            for i_1, j in T.grid(5, 6):
                with T.block("C"):
                    vi = T.axis.spatial(16, i_0 * 5 + i_1)
                    vj = T.axis.spatial(6, j)
                    T.where(i_0 * 5 + i_1 < 16)
                    C[vi, vj] = B[vi, vj] + B[vi + 1, vj + 2] - B[vi + 2, vj]

    sch = Schedule(stencil)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 5])
    sch.compute_at("B", i_0)
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    a = rng(18, 8, dtype="int32")
    b = a * 2
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros((16, 6), "int32")), b[:-2, :6] + b[1:-1, 2:] - b[2:, :6]
    )


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_padding_and_reversed_strides() -> None:
    @T.prim_func
    def f(A: T.Buffer((33,), "int32"), C: T.Buffer((9, 4), "int32")):
        B = T.alloc_buffer((33,), "int32")
        for i in range(33):
            with T.block("B"):
                vi = T.axis.spatial(33, i)
                B[vi] = A[vi] + 1
        for j, i in T.grid(4, 9):
            with T.block("C"):
                vj, vi = T.axis.remap("SS", [j, i])
                C[vi, vj] = T.if_then_else(vi < 1, 0, B[20 - vj * 5 + vi - 1])

    moved(f, "B", ("C", 0), None, rng(33, dtype="int32"), np.zeros((9, 4), "int32"))
    sch = Schedule(f)
    sch.compute_at("B", sch.get_loops("C")[0])
    # The condition leaves out i = 0: eight cells are enough.
    assert sch.get(sch.get_loops("B")[1]).extent.value == 8


def test_a_reduction_moves_with_its_loops() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 16), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i, k in T.grid(8, 16):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 5
                B[vi] = B[vi] + A[vi, vk]
        for i in range(6):
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                O[vi] = B[vi] + B[vi + 2]

    @T.prim_func
    def want(A: T.Buffer((8, 16), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(6):
            for ax0, ax1 in T.grid(3, 16):
                with T.block("B"):
                    vi = T.axis.spatial(8, i + ax0)
                    vk = T.axis.reduce(16, ax1)
                    with T.init():
                        B[vi] = 5
                    B[vi] = B[vi] + A[vi, vk]
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                O[vi] = B[vi] + B[vi + 2]

    moved(f, "B", ("O", 0), want, rng(8, 16, dtype="int32"), np.zeros(8, "int32"))


@pytest.mark.parametrize("level", [0, 1])
def test_symbolic_shapes(level: int) -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "int32")
        O = T.match_buffer(o, (n, m), "int32")
        B = T.alloc_buffer((n + 2, m), "int32")
        for i, j in T.grid(n + 2, m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.if_then_else(vi >= 1 and vi < n + 1, A[vi - 1, vj], 0)
        for i, j in T.grid(n, m):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[vi, vj] + B[vi + 2, vj]

    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], [None, 4])
    sch.compute_at("B", sch.get_loops("O")[level])
    for n, m in ((1, 1), (7, 3), (12, 5)):
        a = rng(n, m, dtype="int32")
        p = np.pad(a, ((1, 1), (0, 0)))
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, m), "int32")), p[:-2] + p[2:])


def test_several_outputs_and_consumers() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), O: T.Buffer((10,), "int32")):
        X = T.alloc_buffer((10,), "int32")
        Y = T.alloc_buffer((10,), "int32")
        Z = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("XY"):
                vi = T.axis.spatial(10, i)
                X[vi] = A[vi] + 1
                Y[9 - vi] = A[vi] * 2
        for i in range(10):
            with T.block("Z"):
                vi = T.axis.spatial(10, i)
                Z[vi] = X[vi] - 3
            with T.block("O"):
                vi = T.axis.spatial(10, i)
                O[vi] = Y[vi] + Z[vi]

    moved(f, "XY", ("O", 0), None, rng(10, dtype="int32"), np.zeros(10, "int32"))


def test_two_producers_of_one_buffer() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
        B = T.alloc_buffer((16,), "int32")
        for i in range(10):
            with T.block("lo"):
                vi = T.axis.spatial(10, i)
                B[vi] = A[vi] + 1
        for i in range(6):
            with T.block("hi"):
                vi = T.axis.spatial(6, i)
                B[vi + 10] = A[vi + 10] * 2
        for i in range(16):
            with T.block("O"):
                vi = T.axis.spatial(16, i)
                O[vi] = B[15 - vi]

    a = rng(16, dtype="int32")
    sch = moved(f, "lo", ("O", 0), None, a, np.zeros(16, "int32"))
    sch.compute_at("hi", sch.get_loops("O")[0])
    want = np.concatenate([a[:10] + 1, a[10:] * 2])[::-1]
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(16, "int32")), want)


def test_a_guard_moves_with_the_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((5,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("Z"):
                vi = T.axis.spatial(8, i)
                B[vi] = 7
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.where(i < 5)
                B[vi] = A[vi] + 1
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[7 - vi]

    sch = moved(f, "B", ("O", 0), None, rng(5, dtype="int32"), np.zeros(8, "int32"))
    assert "T.where(7 - i < 5)" in sch.mod.script()


def test_moved_further_in() -> None:
    sch = Schedule(stencil)
    sch.split(sch.get_loops("C")[1], [None, 4])
    sch.compute_at("B", sch.get_loops("C")[0])
    sch.compute_at("B", sch.get_loops("C")[1])
    sch.vectorize(sch.get_loops("B")[-1])
    a = rng(18, 8, dtype="int32")
    b = a * 2
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros((16, 6), "int32")), b[:-2, :6] + b[1:-1, 2:] - b[2:, :6]
    )


def test_tiles_of_doubly_split_loops() -> None:
    sch = Schedule(two_stages)
    for block in "BC":
        i, j = sch.get_loops(block)
        sch.split(sch.split(i, [None, 5])[1], [None, 2])
        sch.split(j, [None, 4])
    for n in range(3):
        sch.compute_at("B", sch.get_loops("C")[n])
        a = rng(12, 10)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
        sch.undo()


def test_digits() -> None:
    @T.prim_func
    def f(A: T.Buffer((48,), "int32"), O: T.Buffer((48,), "int32")):
        B = T.alloc_buffer((8, 6), "int32")
        for i in range(48):
            with T.block("B"):
                vi = T.axis.spatial(48, i)
                B[vi // 6, vi % 6] = A[vi] + 1
        for i in range(48):
            with T.block("O"):
                vi = T.axis.spatial(48, i)
                O[vi] = B[vi // 6, vi % 6]

    @T.prim_func
    def want(A: T.Buffer((48,), "int32"), O: T.Buffer((48,), "int32")):
        B = T.alloc_buffer((8, 6), "int32")
        for i in range(48):
            with T.block("B"):
                vi = T.axis.spatial(48, i)
                B[vi // 6, vi % 6] = A[vi] + 1
            with T.block("O"):
                vi = T.axis.spatial(48, i)
                O[vi] = B[vi // 6, vi % 6]

    moved(f, "B", ("O", 0), want, rng(48, dtype="int32"), np.zeros(48, "int32"))


@pytest.mark.parametrize(("index", "order"), [(-1, "XYBO"), (-2, "XBYO"), (1, "XBYO"), (2, "XYBO")])
def test_the_position_among_siblings(index: int, order: str) -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        Y = T.alloc_buffer((8,), "int32")
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("X0"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi]
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = X[vi] * 2
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = Y[vi] + 1
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi] + Y[vi]

    if index != -2:
        sch = moved(
            f, "B", ("O", 0), None, rng(8, dtype="int32"), np.zeros(8, "int32"), index=index
        )  # fmt: skip
        names = [sch.get(b).name for b in sch.get_child_blocks(sch.get_loops("O")[0])]
        assert "".join(names) == order
    else:
        sch = moved(f, "B", ("O", 0), None, index=-2)
        assert sch.get(sch.get_child_blocks(sch.get_loops("O")[0])[0]).name == "B"


def test_under_a_parallel_loop() -> None:
    @T.prim_func
    def f(A: T.Buffer((32, 16), "int32"), O: T.Buffer((32, 16), "int32")):
        B = T.alloc_buffer((32, 16), "int32")
        for i, j in T.grid(32, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
        for i, j in T.grid(32, 16):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[vi, 15 - vj]

    a = rng(32, 16, dtype="int32")
    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    sch.vectorize(sch.get_loops("O")[1])
    sch.compute_at("B", sch.get_loops("O")[0])
    for _ in range(10):
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((32, 16), "int32")), a[:, ::-1] * 2)


def test_shared_memory_is_filled_for_all_threads() -> None:
    @T.prim_func
    def f(A: T.Buffer((64,), "int32"), O: T.Buffer((64,), "int32")):
        B = T.alloc_buffer((64,), "int32", scope="shared")
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi]
        for i in range(64):
            with T.block("O"):
                vi = T.axis.spatial(64, i)
                O[vi] = B[vi] * 2

    for scope, extent in (("shared", 16), ("local", 0)):
        sch = Schedule(f)
        sch.set_scope("B", 0, scope)
        i_0, i_1 = sch.split(sch.get_loops("O")[0], [None, 16])
        sch.bind(i_0, "blockIdx.x")
        sch.bind(i_1, "threadIdx.x")
        sch.compute_at("B", i_1)
        own = sch.get_loops("B")[2:]
        extents = [sch.get(x).extent.value for x in own]
        assert extents == ([extent] if extent else [])


def test_inside_a_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                B = T.alloc_buffer((6,), "int32")
                for j in range(6):
                    with T.block("B"):
                        vj = T.axis.spatial(6, j)
                        B[vj] = A[vi, vj] + 1
                for j in range(6):
                    with T.block("O"):
                        vj = T.axis.spatial(6, j)
                        O[vi, vj] = B[5 - vj]

    moved(f, "B", ("O", 0), None, rng(4, 6, dtype="int32"), np.zeros((4, 6), "int32"))
    refused(f, "other-scope", "B", ("outer", 0))


def test_under_loops_around_both() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 8), "int32"), O: T.Buffer((3, 8), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for t in range(3):
            for i in range(8):
                with T.block("B"):
                    vt, vi = T.axis.remap("OS", [t, i])
                    B[vi] = A[vt, vi] + vt
            for i in range(8):
                with T.block("O"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    O[vt, vi] = B[7 - vi]

    moved(f, "B", ("O", 1), None, rng(3, 8, dtype="int32"), np.zeros((3, 8), "int32"))


def test_an_update_that_runs_once() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("Z"):
                vi = T.axis.spatial(8, i)
                B[vi] = 1
        for i, k in T.grid(8, 4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                B[vi] = B[vi] + A[vi, vk]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[7 - vi]

    moved(f, "B", ("O", 0), None, rng(8, 4, dtype="int32"), np.zeros(8, "int32"))


# ---- refusals


def test_wrong_arguments() -> None:
    refused(two_stages, "wrong-handle", 3, ("C", 0))
    refused(two_stages, "wrong-handle", "B", "C")
    refused(two_stages, "root-block", "root", ("C", 0))
    refused(two_stages, "loop-around", "B", ("B", 0))
    assert "behind" in refused(two_stages, "wrong-side", "C", ("B", 0))
    refused(two_stages, "bad-index", "B", ("C", 0), index="x")
    assert "at 0 only" in refused(two_stages, "bad-index", "B", ("C", 0), index=1)


def test_an_output() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert "writes B" in refused(f, "output-block", "B", ("O", 0))


@T.prim_func
def two_readers(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    C = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            P[vi] = B[vi]
    for i in range(8):
        with T.block("Q"):
            vi = T.axis.spatial(8, i)
            Q[vi] = B[vi] + C[vi]


def test_readers_elsewhere() -> None:
    refused(two_readers, "consumer-outside", "B", ("P", 0))
    refused(two_readers, "consumer-outside", "B", ("Q", 0))
    refused(two_readers, "no-consumer", "C", ("P", 0))


def test_a_write_on_the_way() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[7 - vi]
        for i in range(8):
            with T.block("over"):
                vi = T.axis.spatial(8, i)
                A[vi] = vi
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    text = refused(f, "reversed-dependence", "B", ("O", 0))
    assert 'block "over" touches A too' in text and "A[" in text


@pytest.mark.parametrize(("index", "code"), [("vi", None), ("7 - vi", "reversed-dependence")])
def test_in_place(index: str, code: str | None) -> None:
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[{index}] * 3
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = B[vi] + 1
""")
    if code is None:
        moved(f, "B", ("A", 0), None, rng(8, dtype="int32"))
    else:
        refused(f, code, "B", ("A", 0))


def test_what_data_decides() -> None:
    @T.prim_func
    def f(P: T.Buffer((8,), "int32"), A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[P[vi]]
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[P[vi]] = 0
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    text = refused(f, "dependence-unknown", "B", ("O", 0))
    assert "enable_check=False" in text
    sch = Schedule(f, enable_check=False)
    sch.compute_at("B", sch.get_loops("O")[0])


def test_a_scan() -> None:
    @T.prim_func
    def f(A: T.Buffer((9,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((9,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.scan(8, i)
                B[vi + 1] = B[vi] + A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi + 1]

    refused(f, "not-recomputable", "B", ("O", 0))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("extent", "value", "code"), [
    (9, "i", "axis-overrun"), (4, "i * 2", "axis-not-covered"),
    (8, "(i * 3) % 8", None), (8, "T.max(i, 3)", "axis-not-covered"),
])  # fmt: skip
def test_loops_that_miss_instances(extent: int, value: str, code: str | None) -> None:
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((16,), "int32"), O: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((16,), "int32")
    for i in range({extent}):
        with T.block("B"):
            vi = T.axis.spatial(8, {value})
            B[vi] = A[vi]
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            O[vi] = B[vi]
""")
    if code is None:
        moved(f, "B", ("O", 0), None, rng(16, dtype="int32"), np.zeros(8, "int32"))
    else:
        refused(f, code, "B", ("O", 0))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_scratch_that_is_filled_in_part() -> None:
    @T.prim_func
    def f(A: T.Buffer((6,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("Z"):
                vi = T.axis.spatial(8, i)
                B[vi] = 0
        for i in range(6):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    # The instances that did not run before do not run now: they would read behind the end of A.
    sch = moved(f, "B", ("O", 0), None, rng(6, dtype="int32"), np.zeros(8, "int32"))
    assert "T.where(i < 6)" in sch.mod.script()


@pytest.mark.parametrize(("extra", "value", "where", "code"), [
    ("j", "i", "T.where(i + j < 7)", "guarded-block"), (None, "(i * n) % 8", "", "cover-unknown"),
])  # fmt: skip
def test_what_cannot_be_told_from_the_axes(extra: str | None, value: str, where: str, code: str) -> None:
    loops = "i, j in T.grid(8, n)" if extra else "i in range(8)"
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(n: T.int32, A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for {loops}:
        with T.block("B"):
            vi = T.axis.spatial(8, {value})
            {where}
            B[vi] = A[vi]
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            O[vi] = B[vi]
""")
    refused(f, code, "B", ("O", 0))


def test_statements_around() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            if i < 8:
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert "an `if`" in refused(f, "statement-between", "B", ("O", 0))


def test_a_loop_without_an_axis() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                B[i] = A[i]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    refused(f, "loop-without-axis", "B", ("O", 0))


def test_values_of_other_iterations() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 8), "int32"), O: T.Buffer((3, 8), "int32")):
        B = T.alloc_buffer((3, 8), "int32")
        for t in range(3):
            for i in range(8):
                with T.block("B"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    B[vt, vi] = A[vt, vi]
            for i in range(8):
                with T.block("O"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    O[vt, vi] = B[vt, vi] + B[0, vi]
            for i in range(8):
                with T.block("over"):
                    vt, vi = T.axis.remap("OS", [t, i])
                    A[0, vi] = A[0, vi] + 1

    refused(f, "carried-value", "B", ("O", 1))


def test_a_reduction_that_threads_would_share() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("Z"):
                vi = T.axis.spatial(8, i)
                B[vi] = 1
        for i, k in T.grid(8, 4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for i in T.parallel(7):
            with T.block("O"):
                vi = T.axis.spatial(7, i)
                O[vi] = B[vi] + B[vi + 1]

    assert "parallel loop `i`" in refused(f, "loop-carried-dependence", "B", ("O", 0))


def test_a_sum_in_shared_memory() -> None:
    @T.prim_func
    def f(A: T.Buffer((64, 4), "int32"), O: T.Buffer((64,), "int32")):
        B = T.alloc_buffer((64,), "int32", scope="shared")
        for i, k in T.grid(64, 4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for i in range(64):
            with T.block("O"):
                vi = T.axis.spatial(64, i)
                O[vi] = B[vi] * 2

    def threads(s: Schedule) -> None:
        i_0, i_1 = s.split(s.get_loops("O")[0], [None, 16])
        s.bind(i_0, "blockIdx.x")
        s.bind(i_1, "threadIdx.x")

    assert "bound loop `i_1`" in refused(f, "loop-carried-dependence", "B", ("O", 1), threads)
    sch = Schedule(f)
    threads(sch)
    sch.compute_at("B", sch.get_loops("O")[0])


def test_cached_operands_of_a_matmul() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 4])
    k_0, k_1 = sch.split(k, [None, 5])
    sch.reorder(i_0, k_0, i_1, j, k_1)
    for n in (0, 1):
        sch.compute_at(sch.cache_read("C", n, "local"), k_0)
    a, b = rng(16, 24), rng(24, 20)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_digits_of_a_loop_inside_the_block_say_nothing_of_its_axes() -> None:
    @T.prim_func
    def f(X: T.Buffer((6, 3), "int32"), Y: T.Buffer((18,), "int32")):
        B = T.alloc_buffer((2, 3, 3), "int32")
        for i, j, k in T.grid(3, 3, 2):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[(vj * 2 + vk) // 3, vi, (vj * 2 + vk) % 3] = X[vj * 2 + vk, vi]
        for i in range(18):
            with T.block("Y"):
                vi = T.axis.spatial(18, i)
                Y[vi] = B[vi % 6 // 3, vi // 6, vi % 3] + vi

    sch = Schedule(f, debug_mask="all")
    outer = sch.blockize(sch.get_loops("B")[2])
    sch.compute_at(outer, sch.get_loops("Y")[0])
    roundtrip(sch.mod)
    x = rng(6, 3, dtype="int32")
    want = x.T.reshape(18) + np.arange(18)
    np.testing.assert_array_equal(run(sch.mod, x, np.zeros(18, "int32")), want)
