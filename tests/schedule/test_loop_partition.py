"""loop_partition: the parts and their names, reductions that are cut, symbolic extents, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


@T.prim_func
def double(A: T.Buffer((16, 20), "float32"), B: T.Buffer((16, 20), "float32")):
    for i, j in T.grid(16, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)


def test_three_parts() -> None:
    @T.prim_func
    def after(A: T.Buffer((16, 20), "float32"), B: T.Buffer((16, 20), "float32")):
        with T.block("root"), T.block("B_i_common"):
            T.reads(A[0:16, 0:20])
            T.writes(B[0:16, 0:20])
            with T.block("B_i0_partition"):
                T.reads(A[0:2, 0:20])
                T.writes(B[0:2, 0:20])
                for i0, j in T.grid(2, 20):
                    with T.block("B_i0"):
                        vi, vj = T.axis.remap("SS", [i0, j])
                        B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("B_i1_partition"):
                T.reads(A[2:10, 0:20])
                T.writes(B[2:10, 0:20])
                for i1 in range(2, 10):
                    for j in range(20):
                        with T.block("B_i1"):
                            vi, vj = T.axis.remap("SS", [i1, j])
                            B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("B_i2_partition"):
                T.reads(A[10:16, 0:20])
                T.writes(B[10:16, 0:20])
                for i2 in range(10, 16):
                    for j in range(20):
                        with T.block("B_i2"):
                            vi, vj = T.axis.remap("SS", [i2, j])
                            B[vi, vj] = A[vi, vj] * T.float32(2)

    sch = Schedule(double)
    block = sch.get_block("B")
    i, j = sch.get_loops(block)
    parts = sch.loop_partition(i, [2, 8])
    assert [x.name for x in parts] == ["i0", "i1", "i2"]
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "double"), names=True)
    assert [b.name for b in sch.get_child_blocks(sch.get_block("root"))] == ["B_i_common"]
    assert [b.name for b in sch.get_child_blocks(sch.get_block("B_i_common"))] == [
        "B_i0_partition", "B_i1_partition", "B_i2_partition",
    ]  # fmt: skip
    assert sch.get_loops("B_i1")[0] == parts[1]
    for gone in (i, j):
        with pytest.raises(ts.ScheduleError, match="expired-reference"):
            sch.unroll(gone)
    with pytest.raises(ts.ScheduleError, match="expired-reference"):
        sch.get_loops(block)
    a = rng(16, 20)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((16, 20), "float32")), a * 2)
    roundtrip(sch.mod)
    # The parts can be scheduled each in its own way.
    sch.parallel(parts[1])
    sch.vectorize(sch.split(sch.get_loops("B_i0")[1], [None, 5])[1])
    sch.unroll(parts[0])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((16, 20), "float32")), a * 2)


@pytest.mark.parametrize(
    ("factors", "ranges"),
    [
        ([None, 3], [(0, 17), (17, 20)]),
        ([4, None, 3], [(0, 4), (4, 17), (17, 20)]),
        ([1, 1], [(0, 1), (1, 2), (2, 20)]),
        ([4, 16], [(0, 4), (4, 20)]),
        ([19], [(0, 19), (19, 20)]),
        ([20], [(0, 20)]),
        ([None], [(0, 20)]),
    ],
)
def test_factors(factors: list[Any], ranges: list[tuple[int, int]]) -> None:
    for keep in (True, False):
        sch = Schedule(double)
        parts = [sch.get(x) for x in sch.loop_partition(sch.get_loops("B")[1], factors, keep)]
        assert [(f.min.value, f.min.value + f.extent.value) for f in parts] == ranges
        for n, (low, high) in enumerate(ranges):
            dom = sch.get(sch.get_block(f"B_j{n}")).iter_vars[1].dom
            assert (dom.min.value, dom.extent.value) == (low, high - low)
        a = rng(16, 20)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((16, 20), "float32")), a * 2)


def test_a_part_of_one_iteration() -> None:
    sch = Schedule(double)
    sch.loop_partition(sch.get_loops("B")[1], [1, None], False)
    assert "vj = T.axis.spatial(1, 0)" in sch.mod.script()
    a = rng(16, 20)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((16, 20), "float32")), a * 2)


@pytest.mark.parametrize("loop", range(3))
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_reductions(loop: int, order: tuple[int, ...]) -> None:
    """The init stays in the first part."""
    sch = Schedule(matmul)
    loops = sch.get_loops("C")
    sch.reorder(*[loops[n] for n in order])
    name = "ijk"[loop]
    sch.loop_partition(loops[loop], [5, None, 3])
    inits = [sch.get(sch.get_block(f"C_{name}{n}")).init is not None for n in range(3)]
    assert inits == ([True, False, False] if loop == 2 else [True] * 3)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.ones((16, 20), "float32")), a @ b, rtol=1e-5)
    roundtrip(sch.mod)


@pytest.mark.parametrize("which", range(4))
def test_split_loops(which: int) -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.split(i, [None, 5])
    sch.split(k, [None, 7])
    loops = sch.get_loops("C")
    loop = [loops[0], loops[1], loops[3], loops[4]][which]
    sch.loop_partition(loop, [1, None])
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.ones((16, 20), "float32")), a @ b, rtol=1e-5)
    if which == 0:
        assert sch.get(sch.get_block("C_i_01")).iter_vars[0].dom.min.value == 5


def test_symbolic_extents() -> None:
    for factors in ([4], [None, 3], [4, None, 3], [1, 2]):
        sch = Schedule(copy_symbolic)
        i, j = sch.get_loops("O")
        sch.loop_partition(j, factors)
        for n, m in ((2, 0), (1, 1), (2, 5), (3, 20), (0, 4)):
            a = rng(n, m)
            np.testing.assert_array_equal(run(sch.mod, a, np.full((n, m), -1, "float32")), a)
        roundtrip(sch.mod)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_starts_and_steps() -> None:
    @T.prim_func
    def f(A: T.Buffer((30,), "int32"), B: T.Buffer((30,), "int32")):
        for i in range(3, 28, 4):
            with T.block("B"):
                vi = T.axis.opaque(30, i)
                B[vi] = A[vi] + 1

    a, b = rng(30, dtype="int32"), rng(30, seed=1, dtype="int32")
    want = run(f, a, b)
    for factors in ([2, 3], [None, 1], [1, None, 1]):
        sch = Schedule(f)
        sch.loop_partition(sch.get_loops("B")[0], factors)
        np.testing.assert_array_equal(run(sch.mod, a, b), want)


def test_several_blocks_and_conditions() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32"), C: T.Buffer((16,), "int32")):
        for i in range(15):
            with T.block("B"):
                vi = T.axis.opaque(15, i)
                B[vi + 1] = B[vi] + A[vi]
            if A[i] > 0:
                with T.block("C"):
                    vi = T.axis.opaque(15, i)
                    C[vi] = B[vi] * 2

    a, b, c = (rng(16, seed=n, dtype="int32") for n in range(3))
    want = run(f, a, b, c)
    sch = Schedule(f)
    sch.loop_partition(sch.get_loops("B")[0], [3, None, 4])
    assert sch.get_block("C_i2") and sch.get_block("B_i_common")
    np.testing.assert_array_equal(run(sch.mod, a, b, c), want)


def test_the_init_of_a_block_inside() -> None:
    @T.prim_func
    def f(A: T.Buffer((12, 6), "int32"), O: T.Buffer((6,), "int32")):
        for i, k_0 in T.grid(6, 4):
            with T.block("outer"):
                vi, vo = T.axis.remap("SR", [i, k_0])
                for k_1 in range(3):
                    with T.block("inner"):
                        vk = T.axis.reduce(12, vo * 3 + k_1)
                        with T.init():
                            O[vi] = 2
                        O[vi] = O[vi] + A[vk, vi]

    a = rng(12, 6, dtype="int32")
    np.testing.assert_array_equal(run(f, a, np.zeros(6, "int32")), a.sum(0) + 2)
    sch = Schedule(f)
    e = refused(sch, "divided-init", sch.get_loops("outer")[1], [1, 2])
    assert 'the init of block "inner" inside it depends on it too' in str(e)
    sch.loop_partition(sch.get_loops("outer")[0], [1, 2])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), a.sum(0) + 2)


def test_allocations_and_names_are_the_copies_own() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 4), "int32"), B: T.Buffer((8, 4), "int32")):
        for i in range(8):
            with T.block("outer"):
                vi = T.axis.spatial(8, i)
                X = T.alloc_buffer((4,), "int32")
                for j in range(4):
                    with T.block("X"):
                        vj = T.axis.spatial(4, j)
                        X[vj] = A[vi, vj] + 1
                for j in range(4):
                    with T.block("B"):
                        vj = T.axis.spatial(4, j)
                        B[vi, vj] = X[3 - vj]

    sch = Schedule(f)
    sch.loop_partition(sch.get_loops("outer")[0], [3])
    buffers = {sch.get(sch.get_block(f"X_i{n}")).writes[0].buffer for n in range(2)}
    assert len(buffers) == 2
    a = rng(8, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((8, 4), "int32")), a[:, ::-1] + 1)
    roundtrip(sch.mod)


def test_kinds_stay() -> None:
    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    sch.parallel(i)
    sch.vectorize(j)
    assert {sch.get(x).kind for x in sch.loop_partition(j, [8])} == {"vectorized"}
    assert [sch.get(x).kind for x in sch.loop_partition(i, [8])] == ["parallel", "parallel"]
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def refused(sch: Schedule, code: str, loop: Any, factors: Any) -> Any:
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match=rf"\[{code}\]") as caught:
        sch.loop_partition(loop, factors)
    assert caught.value.code == code
    str(caught.value)
    assert all(sch.mod[n] is before[n] for n in before.names())
    return caught.value


def test_refusals() -> None:
    sch = Schedule(double)
    i, j = sch.get_loops("B")
    for bad in ([], 4, "4", [1.5], [True]):
        refused(sch, "bad-factors", i, bad)
    for bad in ([0, 4], [-1], [4, None, 0]):
        refused(sch, "bad-factor", i, bad)
    refused(sch, "two-unknown-factors", i, [None, 4, None])
    e = refused(sch, "factors-too-large", j, [4, 30])
    assert "the factors 4, 30 of loop `j` make 34 iterations, its extent is 20" in str(e)
    refused(sch, "factors-too-large", j, [20, None])
    refused(sch, "wrong-handle", "i", [4])
    sch.annotate(i, "x", 1)
    refused(sch, "annotated-loop", i, [4])
    sch.bind(j, "threadIdx.x")
    refused(sch, "bound-loop", j, [4])
    sch = Schedule(matmul)
    fused = sch.fuse(*sch.get_loops("C"))
    e = refused(sch, "divided-init", fused, [100])
    assert "a spatial axis depends on it too" in str(e)
    sch.decompose_reduction("C", fused)
    sch.loop_partition(fused, [100, None])
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.ones((16, 20), "float32")), a @ b, rtol=1e-5)

    @T.prim_func
    def triangle(A: T.Buffer((6, 6), "int32"), O: T.Buffer((6,), "int32"), P: T.Buffer((6,), "int32")):
        for k in range(6):
            for i in range(k + 1):
                with T.block("O"):
                    vi = T.axis.spatial(6, i)
                    vk = T.axis.reduce(6, k)
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]
        for i, k in T.grid(6, 6):
            with T.block("P"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(k <= i)
                with T.init():
                    P[vi] = 0
                P[vi] = P[vi] + A[vi, vk]
        for k in range(6):
            with T.block("left"):
                vk = T.axis.opaque(6, k)
                P[vk] = 0
            if A[k, 0] > 100:
                break

    sch = Schedule(triangle)
    e = refused(sch, "divided-init", sch.get_loops("O")[0], [2])
    assert "the range of loop `i` depends on it too" in str(e)
    refused(sch, "divided-init", sch.get_loops("P")[1], [2])
    refused(sch, "leaves-loop", sch.get_loops("left")[0], [2])
    sch.loop_partition(sch.get_loops("P")[0], [2])
