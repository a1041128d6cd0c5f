"""read_at, write_at: copies at a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages

A_, B_ = rng(16, 24), rng(24, 20, seed=1)


def product(sch: Schedule) -> None:
    roundtrip(sch.mod)
    got = run(sch.mod, A_, B_, np.full((16, 20), -7, "float32"))
    np.testing.assert_allclose(got, A_ @ B_, rtol=1e-5)


def tiled() -> tuple[Schedule, list[Any]]:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    i0, i1 = sch.split(i, [None, 4])
    k0, k1 = sch.split(k, [None, 6])
    sch.reorder(i0, j, k0, i1, k1)
    return sch, [i0, j, k0, i1, k1]


def test_tiles() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        X = T.alloc_buffer((16, 24), "float32", scope="shared")
        Y = T.alloc_buffer((24, 20), "float32", scope="shared.dyn")
        Z = T.alloc_buffer((16, 20), "float32", scope="local")
        for i_0, j in T.grid(4, 20):
            for k_0 in range(4):
                with T.block("A_shared"):
                    v0, v1 = T.axis.remap("SS", [i_0, k_0])
                    T.reads(A[v0 * 4 : v0 * 4 + 4, v1 * 6 : v1 * 6 + 6])
                    T.writes(X[v0 * 4 : v0 * 4 + 4, v1 * 6 : v1 * 6 + 6])
                    T.block_attr({"auto_copy": True})
                    for ax0, ax1 in T.grid(4, 6):
                        X[v0 * 4 + ax0, v1 * 6 + ax1] = A[v0 * 4 + ax0, v1 * 6 + ax1]
                with T.block("B_shared.dyn"):
                    v0, v1 = T.axis.remap("SS", [k_0, j])
                    T.reads(B[v0 * 6 : v0 * 6 + 6, v1])
                    T.writes(Y[v0 * 6 : v0 * 6 + 6, v1])
                    T.block_attr({"auto_copy": True})
                    for ax0, ax1 in T.grid(6, 1):
                        Y[v0 * 6 + ax0, v1 + ax1] = B[v0 * 6 + ax0, v1 + ax1]
                for i_1, k_1 in T.grid(4, 6):
                    with T.block("C"):
                        vi = T.axis.spatial(16, i_0 * 4 + i_1)
                        vj = T.axis.spatial(20, j)
                        vk = T.axis.reduce(24, k_0 * 6 + k_1)
                        with T.init():
                            Z[vi, vj] = T.float32(0)
                        Z[vi, vj] = Z[vi, vj] + X[vi, vk] * Y[vk, vj]
            with T.block("C_local"):
                v0, v1 = T.axis.remap("SS", [i_0, j])
                T.reads(Z[v0 * 4 : v0 * 4 + 4, v1])
                T.writes(C[v0 * 4 : v0 * 4 + 4, v1])
                T.block_attr({"auto_copy": True})
                for ax0, ax1 in T.grid(4, 1):
                    C[v0 * 4 + ax0, v1 + ax1] = Z[v0 * 4 + ax0, v1 + ax1]

    sch, (_, j, k0, _, _) = tiled()
    block = sch.get_block("C")
    sch.read_at(k0, block, 0, "shared")
    sch.read_at(k0, block, "B", "shared.dyn")
    assert sch.get(sch.write_at(j, block, 0, "local")).name == "C_local"
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    product(sch)


@pytest.mark.parametrize("level", range(5))
def test_every_level(level: int) -> None:
    sch, loops = tiled()
    sch.read_at(loops[level], "C", "A", "shared")
    product(sch)
    sch, loops = tiled()
    sch.write_at(loops[level], "C", "C", "local")
    product(sch)


def test_uneven_tiles_and_reversed_reads() -> None:
    @T.prim_func
    def f(A: T.Buffer((30, 8), "int32"), O: T.Buffer((30, 8), "int32")):
        for i, j in T.grid(30, 8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[29 - vi, vj] + 1

    a = rng(30, 8, dtype="int32")
    for level in range(3):
        sch = Schedule(f)
        sch.split(sch.get_loops("O")[0], [None, 8])
        sch.read_at(sch.get_loops("O")[level], "O", 0, "shared")
        sch.write_at(sch.get_loops("O")[level], "O", 0, "local")
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((30, 8), "int32")), a[::-1] + 1)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_last_tile_of_a_guarded_loop_stays_inside(level: int) -> None:
    a = rng(12, 10)
    sch = Schedule(two_stages)
    sch.split(sch.get_loops("B")[0], [None, 5])
    sch.read_at(sch.get_loops("B")[level], "B", 0, "shared")
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_symbolic_shapes_and_old_content() -> None:
    sch = Schedule(copy_symbolic)
    sch.read_at(sch.get_loops("O")[0], "O", 0, "shared")
    sch.write_at(sch.get_loops("O")[0], "O", 0, "local")
    roundtrip(sch.mod)
    for n in (1, 5):
        a = rng(n, 7)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, 7), "float32")), a)

    @T.prim_func
    def f(A: T.Buffer((8, 6), "int32")):
        for i, j in T.grid(8, 6):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i + j < 9)
                A[vi, vj] = A[vi, vj] * 2

    x = rng(8, 6, dtype="int32")
    i, j = np.ogrid[:8, :6]
    for level in range(2):
        sch = Schedule(f)
        sch.write_at(sch.get_loops("A")[level], "A", 0, "local")
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, x), np.where(i + j < 9, x * 2, x))
        sch = Schedule(f)
        sch.read_at(sch.get_loops("A")[level], "A", 0, "local")
        np.testing.assert_array_equal(run(sch.mod, x), np.where(i + j < 9, x * 2, x))


@T.prim_func
def row_sums(A: T.Buffer((8, 9), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SC", [i, j])
            A[vi, vj + 1] = A[vi, vj + 1] + A[vi, vj]


def refused(
    program: Any, code: str, method: str, block: str, level: int, *args: Any, prepare: Any = None
) -> str:
    sch = Schedule(program)
    loop = sch.get_loops(block)[level]
    if prepare is not None:
        prepare(sch, loop)
    before, steps = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        getattr(sch, method)(loop, *args)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == steps
    return str(caught.value)


def test_refusals() -> None:
    for method in ("read_at", "write_at"):
        refused(matmul, "no-such-buffer", method, "C", 0, "C", 3, "local")
        refused(matmul, "bad-buffer-index", method, "C", 0, "C", None, "local")
        refused(matmul, "bad-scope", method, "C", 0, "C", 0, "locl")
        refused(matmul, "wrong-handle", method, "C", 0, 3, 0, "local")
        refused(two_stages, "not-around", method, "B", 0, "C", 0, "local")
        refused(two_stages, "not-around", method, "B", 0, "root", 0, "local")
        parallel = lambda s, loop: s.parallel(loop)  # noqa: E731
        refused(two_stages, "parallel-loop", method, "C", 0, "C", 0, "local", prepare=parallel)
        with pytest.raises(ts.ScheduleError) as caught:
            getattr(Schedule(matmul), method)("C", "C", 0, "local")
        assert caught.value.code == "wrong-handle"
    for level in range(1):
        refused(row_sums, "cache-stale", "read_at", "A", level, "A", 0, "local")
    sch = Schedule(row_sums)
    sch.read_at(sch.get_loops("A")[1], "A", 0, "local")
    x = rng(8, 9, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, x), np.cumsum(x, 1, dtype="int32"))

    @T.prim_func
    def shared(A: T.Buffer((8, 4), "int32"), O: T.Buffer((8, 4), "int32")):
        X = T.alloc_buffer((8, 4), "int32")
        for i in range(8):
            for j in range(4):
                with T.block("X"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi, vj] = A[vi, vj] + 1
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = X[vi, vj]

    refused(shared, "shared-nest", "write_at", "X", 0, "X", 0, "local")
    sch = Schedule(shared)
    sch.write_at(sch.get_loops("X")[1], "X", 0, "local")
    sch.read_at(sch.get_loops("O")[1], "O", 0, "local")
    x = rng(8, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, x, np.zeros((8, 4), "int32")), x + 1)

    @T.prim_func
    def leaves(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.opaque(8, i)
                if A[vi] < 0:
                    T.evaluate(T.ret(0))
                O[vi] = A[vi]

    refused(leaves, "leaves-block", "write_at", "O", 0, "O", 0, "local")


def test_threads_are_let_be() -> None:
    sch, loops = tiled()
    sch.bind(loops[0], "blockIdx.x")
    sch.read_at(loops[2], "C", "A", "shared")
    sch.write_at(loops[1], "C", "C", "local")
    roundtrip(sch.mod)


def test_an_init_that_reads() -> None:
    """It runs before the loops of the reduction, so nothing can be copied for it inside."""

    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 6):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, 0:6])
                T.writes(O[vi])
                with T.init():
                    O[vi] = A[vi, 0]
                O[vi] = O[vi] + A[vi, vk]

    refused(f, "init-before", "read_at", "O", 1, "O", "A", "local")
    sch = Schedule(f)
    sch.read_at(sch.get_loops("O")[0], "O", "A", "local")
    roundtrip(sch.mod)
    a = rng(4, 6, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32")), a.sum(1) + a[:, 0])
