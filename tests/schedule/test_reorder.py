"""reorder: legal by dependence, and the witness where it is not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import last_wins, matmul, rng, run


def names(sch: Schedule, block: str) -> list[str]:
    return [x.name for x in sch.get_loops(block)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order_of_a_matmul(order: tuple[int, ...]) -> None:
    sch = Schedule(matmul)
    loops = sch.get_loops("C")
    sch.reorder(*[loops[n] for n in order])
    assert names(sch, "C") == ["ijk"[n] for n in order]
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_loops_between_stay() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i)
    assert names(sch, "C") == ["k", "j", "i"]
    assert sch.get_loops("C") == [k, j, i]  # the loops are the same ones


def test_two_parts_of_a_reduction_may_change_places() -> None:
    sch = Schedule(matmul)
    k0, k1 = sch.split(sch.get_loops("C")[2], [4, 6])
    sch.reorder(k1, k0)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_an_update_that_only_assigns_keeps_its_order() -> None:
    sch = Schedule(last_wins)
    i, k = sch.get_loops("O")
    k0, k1 = sch.split(k, [5, 8])
    with pytest.raises(ts.ScheduleError, match="reversed-dependence") as caught:
        sch.reorder(k1, k0)
    assert "both write O[0]" in str(caught.value)
    sch.reorder(k0, k1, i)
    a = np.random.default_rng(0).integers(0, 100, (6, 40)).astype("int32")
    a[5] = 0
    want = [next((v for v in row[::-1] if v > 50), -1) for row in a]
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), want)


def stencil(di: int, dj: int):
    @T.prim_func
    def f(A: T.Buffer((10, 10), "int32")):
        for i, j in T.grid(6, 6):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi + 2 - di, vj + 2 - dj])
                T.writes(A[vi + 2, vj + 2])
                A[vi + 2, vj + 2] = A[vi + 2 - di, vj + 2 - dj] + 1

    return f


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize("di", [-1, 0, 1, 2])
@pytest.mark.parametrize("dj", [-1, 0, 1, 2])
def test_shifted_reads_allow_only_what_keeps_their_direction(di: int, dj: int) -> None:
    sch = Schedule(stencil(di, dj))
    i, j = sch.get_loops("A")
    legal = di * dj >= 0  # (1, -1) and (-1, 1) are turned round by the interchange
    start = rng(10, 10, dtype="int32")
    want = start.copy()
    for x, y in itertools.product(range(6), range(6)):
        want[x + 2, y + 2] = want[x + 2 - di, y + 2 - dj] + 1
    if legal:
        sch.reorder(j, i)
    else:
        with pytest.raises(ts.ScheduleError, match="reversed-dependence") as caught:
            sch.reorder(j, i)
        assert "A[" in str(caught.value) and "the new order runs them the other way round" in str(
            caught.value
        )
    np.testing.assert_array_equal(run(sch.mod, start), want)


def test_loops_with_constant_starts_and_reversed_bindings() -> None:
    @T.prim_func
    def f(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
        for i, j in T.grid(3, 4):
            with T.block("O"):
                v = T.axis.spatial((2, 14), 13 - (i * 4 + j))
                O[v] = A[19 - v] * 2

    @T.prim_func
    def g(O: T.Buffer((9, 7), "int32")):
        for i in range(2, 6):
            for j in range(1, 6):
                with T.block("O"):
                    vi = T.axis.spatial((2, 6), i)
                    vj = T.axis.spatial((1, 6), j)
                    O[vi, vj] = vi * 10 + vj

    sch = Schedule(f)
    i, j = sch.get_loops("O")
    sch.reorder(j, i)
    a = np.arange(20, dtype="int32")
    want = np.full(20, -1)
    want[2:14] = 2 * a[::-1][2:14]
    np.testing.assert_array_equal(run(sch.mod, a, np.full(20, -1, "int32")), want)
    sch = Schedule(g)
    sch.reorder(*reversed(sch.get_loops("O")))
    want2 = np.zeros((9, 7), "int32")
    want2[2:6, 1:6] = np.add.outer(np.arange(2, 6) * 10, np.arange(1, 6))
    np.testing.assert_array_equal(run(sch.mod, np.zeros((9, 7), "int32")), want2)


def test_several_blocks_below() -> None:
    @T.prim_func
    def f(X: T.Buffer((4, 6), "int32"), Z: T.Buffer((4, 6), "int32")):
        for i, j in T.grid(4, 6):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = vi * 7 + vj
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = X[vi, vj] * 2

    sch = Schedule(f)
    i, j = sch.get_loops("Z")
    sch.reorder(j, i)
    sch.parallel(j)
    want = 2 * np.add.outer(np.arange(4) * 7, np.arange(6))
    np.testing.assert_array_equal(run(sch.mod, np.zeros((4, 6), "int32"), np.zeros((4, 6), "int32")), want)


def test_refusals() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    with pytest.raises(ts.ScheduleError, match="duplicate-loop"):
        sch.reorder(i, i)
    with pytest.raises(ts.ScheduleError, match="no-loops"):
        sch.reorder()

    @T.prim_func
    def triangle(O: T.Buffer((8, 8), "int32")):
        for i in range(8):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = vi * 10 + vj

    sch = Schedule(triangle)
    i, j = sch.get_loops("O")
    with pytest.raises(ts.ScheduleError, match="dependent-bound"):
        sch.reorder(j, i)
    _, i1 = sch.split(i, [None, 4])
    with pytest.raises(ts.ScheduleError, match="dependent-bound"):
        sch.reorder(j, i1)
    want = np.tril(np.add.outer(np.arange(8) * 10, np.arange(8)))
    np.testing.assert_array_equal(run(sch.mod, np.zeros((8, 8), "int32")), want)
    other = Schedule(matmul)
    two = Schedule(triangle)
    with pytest.raises(ts.ScheduleError, match="expired-reference"):
        two.reorder(i, other.get_loops("C")[0])


def test_loops_of_two_nests() -> None:
    from .programs import two_stages

    sch = Schedule(two_stages)
    with pytest.raises(ts.ScheduleError, match="not-one-nest"):
        sch.reorder(sch.get_loops("B")[0], sch.get_loops("C")[1])


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize("row", ["b0 // 2", "3"])
def test_a_reduction_that_a_loop_begins_again(row: str) -> None:
    """Each iteration of ``b0`` computes its rows anew; with a reduction loop outside, runs would be mixed."""
    f = ts.from_source(f"""
@T.prim_func
def f(B: T.Buffer((8, 8), "int32"), Y: T.Buffer((4, 8), "int32")):
    for b0, b1, a in T.grid(8, 8, 2):
        with T.block("Y"):
            v0 = T.axis.spatial(4, {row})
            v1, v2 = T.axis.remap("SR", [b1, a])
            with T.init():
                Y[v0, v1] = T.int32(0)
            Y[v0, v1] = Y[v0, v1] ^ B[v0 * 2 + v2, v1]
""")
    b = np.arange(64, dtype="int32").reshape(8, 8) * 7 % 23
    want = b[0::2] ^ b[1::2]
    for order, kept in ((("b0", "a", "b1"), True), (("b1", "b0", "a"), True), (("a", "b1", "b0"), False)):
        sch = ts.Schedule(f, debug_mask="all")
        loops = {sch.get(x).loop_var.name: x for x in sch.get_loops("Y")}
        if not kept:
            with pytest.raises(ts.ScheduleError, match="begins the reduction of block") as e:
                sch.reorder(*[loops[n] for n in order])
            assert e.value.code == "reversed-dependence"
            continue
        sch.reorder(*[loops[n] for n in order])
        for target in ("python", "llvm"):
            y = np.zeros((4, 8), "int32")
            ts.build(sch.mod, target=target)(b, y)
            rows = slice(3, 4) if row == "3" else slice(None)
            np.testing.assert_array_equal(y[rows], want[rows])


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize(("column", "kept"), [("f % n", True), ("0", False)])
def test_symbolic_digits_tell_iterations_apart(column: str, kept: bool) -> None:
    sch = ts.Schedule(
        ts.from_source(f"""
@T.prim_func
def rows(b: T.handle, y: T.handle, n: T.int32):
    B = T.match_buffer(b, (n * n, 8), "int32")
    Y = T.match_buffer(y, (n, n), "int32")
    for f, a in T.grid(n * n, 8):
        with T.block("Y"):
            v0 = T.axis.spatial(n, f // n)
            v1 = T.axis.spatial(n, {column})
            v2 = T.axis.reduce(8, a)
            with T.init():
                Y[v0, v1] = T.int32(0)
            Y[v0, v1] = Y[v0, v1] ^ B[v0 * n + v1, v2]
""")
    )
    f, a = sch.get_loops("Y")
    if not kept:
        with pytest.raises(ts.ScheduleError, match="dependence-unknown"):
            sch.reorder(a, f)
        return
    sch.reorder(a, f)
    b = np.arange(72, dtype="int32").reshape(9, 8) * 5 % 17
    for target in ("python", "llvm"):
        y = np.zeros((3, 3), "int32")
        ts.build(sch.mod, target=target)(b, y, 3)
        np.testing.assert_array_equal(y, np.bitwise_xor.reduce(b, axis=1).reshape(3, 3))
