"""cache_read: copies for readers, and when a copy would be stale."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


def refused(program: Any, code: str, *args: Any, **kwargs: Any) -> str:
    sch = Schedule(program)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_read(*args, **kwargs)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


def test_a_parameter() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        A_shared = T.alloc_buffer((16, 24), "float32", scope="shared")
        for ax0, ax1 in T.grid(16, 24):
            with T.block("A_shared"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                A_shared[v0, v1] = A[v0, v1]
        for i, j, k in T.grid(16, 20, 24):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A_shared[vi, vk] * B[vk, vj]

    sch = Schedule(matmul)
    block, loops = sch.get_block("C"), sch.get_loops("C")
    copy = sch.cache_read(block, "A", "shared")
    equal(sch, want)
    assert sch.get_loops(block) == loops and sch.get(copy).name == "A_shared"
    assert len(sch.get_loops(copy)) == 2
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.parallel(sch.get_loops(copy)[0])
    sch.undo(2)
    assert len(sch.get(sch.get_block("root")).alloc_buffers) == 0


def test_a_stage_and_names_taken() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        X = T.alloc_buffer((12, 10), "float32", scope="local")
        Y = T.alloc_buffer((12, 10), "float32", scope="local")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("B_local"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = B[vi, vj]
        for i, j in T.grid(12, 10):
            with T.block("B_local_local"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj]
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    sch.cache_read("C", 0, "local")
    sch.cache_read("C", 0, "local")
    equal(sch, want)
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


@T.prim_func
def parts(A: T.Buffer((20,), "int32"), P: T.Buffer((4,), "int32"), Q: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("P"):
            vi = T.axis.spatial(4, i)
            P[vi] = A[vi * 2 + 3]
    for i in range(4):
        with T.block("Q"):
            vi = T.axis.spatial(4, i)
            Q[vi] = A[vi + 9] + A[vi + 1]


def test_the_union_of_what_is_read() -> None:
    @T.prim_func
    def want(A: T.Buffer((20,), "int32"), P: T.Buffer((4,), "int32"), Q: T.Buffer((4,), "int32")):
        X = T.alloc_buffer((12,), "int32", scope="shared")
        for ax0 in range(12):
            with T.block("A_shared"):
                v0 = T.axis.spatial(12, ax0)
                X[v0] = A[1 + v0]
        for i in range(4):
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                P[vi] = X[vi * 2 + 2]
        for i in range(4):
            with T.block("Q"):
                vi = T.axis.spatial(4, i)
                Q[vi] = X[vi + 8] + X[vi]

    sch = Schedule(parts)
    sch.cache_read("P", 0, "shared")
    equal(sch, want)
    a = rng(20, dtype="int32")
    got = run(sch.mod, a, np.zeros(4, "int32"), np.zeros(4, "int32"))
    np.testing.assert_array_equal(got, a[9:13] + a[1:5])


def test_named_consumers() -> None:
    a = rng(20, dtype="int32")
    for who, low, count in (("P", 3, 7), ("Q", 1, 12)):
        sch = Schedule(parts)
        block = sch.get_block(who)
        copy = sch.cache_read(block, "A", "shared", consumer_blocks=[block])
        loop = sch.get(sch.get_loops(copy)[0])
        assert loop.extent.value == count
        assert str(sch.get(copy).reads[0]) == f"A[{low} + v0]"
        other = sch.get(sch.get_block("Q" if who == "P" else "P"))
        assert other.reads[0].buffer.name == "A"
        got = run(sch.mod, a, np.zeros(4, "int32"), np.zeros(4, "int32"))
        np.testing.assert_array_equal(got, a[9:13] + a[1:5])


@T.prim_func
def overwritten(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X0"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi] + 1
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            P[vi] = X[vi] * 2
    for i in range(8):
        with T.block("X1"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi] + 100
    for i in range(8):
        with T.block("Q"):
            vi = T.axis.spatial(8, i)
            Q[vi] = X[vi] * 2


@pytest.mark.parametrize("who", ["P", "Q"])
@pytest.mark.parametrize("named", [False, True])
def test_reads_before_and_after_another_write(who: str, named: bool) -> None:
    sch = Schedule(overwritten)
    sch.cache_read(who, 0, "global", [who] if named else None)
    a = np.arange(8, dtype="int32")
    for target in ("python", "llvm"):
        p, q = np.zeros(8, "int32"), np.zeros(8, "int32")
        ts.build(sch.mod, target=target)(a, p, q)
        np.testing.assert_array_equal(p, (a + 1) * 2)
        np.testing.assert_array_equal(q, (a + 100) * 2)


def test_a_copy_for_readers_on_both_sides_of_a_write() -> None:
    refused(overwritten, "cache-stale", "P", 0, "global", ["P", "Q"])
    sch = Schedule(overwritten, enable_check=False)
    sch.cache_read("P", 0, "global", ["P", "Q"])


def test_a_writer_in_the_nest_of_the_reader() -> None:
    """The copy stands between them, in the innermost loop around both."""

    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi] + 1
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = X[vi]

    @T.prim_func
    def want(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        Y = T.alloc_buffer((8,), "int32", scope="local")
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi] + 1
            for ax0 in range(1):
                with T.block("X_local"):
                    v0 = T.axis.spatial(8, i + ax0)
                    Y[v0] = X[v0]
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = Y[vi]

    sch = Schedule(f)
    sch.cache_read("O", 0, "local")
    equal(sch, want)
    a = rng(8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), a + 1)
    sch = Schedule(f)
    sch.parallel(sch.get_loops("X")[0])
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_read("O", 0, "local")
    assert caught.value.code == "cache-stale" and "loop `i` may write it" in str(caught.value)


def test_a_block_that_writes_what_it_reads() -> None:
    """Legal where no instance reads what an earlier one wrote; its writes stay where they are."""

    def program(index: str) -> Any:
        return ts.from_source(f"""\
@T.prim_func
def f(A: T.Buffer((9,), "int32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.scan(8, i)
            A[vi] = A[{index}] * 2
""")

    a = rng(9, dtype="int32")
    for index in ("vi", "vi + 1"):
        sch = Schedule(program(index))
        want = run(sch.mod, a)
        sch.cache_read("A", 0, "local")
        assert sch.get(sch.get_block("A")).writes[0].buffer.name == "A"
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a), want)
    for index in ("T.max(vi - 1, 0)", "8 - vi"):
        refused(program(index), "cache-stale", "A", 0, "local")


def test_writes_that_do_not_meet_the_reads() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((4,), "int32"), Q: T.Buffer((4,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi] + 1
        for i in range(4):
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                P[vi] = X[vi * 2]
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                X[vi * 2 + 1] = 100
        for i in range(4):
            with T.block("Q"):
                vi = T.axis.spatial(4, i)
                Q[vi] = X[vi * 2]

    sch = Schedule(f)
    sch.cache_read("P", 0, "local", ["P", "Q"])
    roundtrip(sch.mod)
    a = rng(8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32"), np.zeros(4, "int32")), a[::2] + 1)


def test_an_index_buffer() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 4), "float32"), B: T.Buffer((5,), "int32"), O: T.Buffer((5, 4), "float32")):
        for i, j in T.grid(5, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[B[vi], vj]

    a = rng(6, 4)
    b = np.array([5, 0, 3, 3, 1], "int32")
    for which in (0, 1):
        sch = Schedule(f)
        sch.cache_read("O", which, "global")
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros((5, 4), "float32")), a[b])


def test_symbolic_shapes_and_scalars() -> None:
    sch = Schedule(copy_symbolic)
    sch.cache_read("O", 0, "shared")
    roundtrip(sch.mod)
    for n in (1, 5):
        a = rng(n, 7)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, 7), "float32")), a)

    @T.prim_func
    def f(S: T.Buffer((), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = S[()] + vi

    sch = Schedule(f)
    assert sch.get_loops(sch.cache_read("O", 0, "local")) == []
    got = run(sch.mod, np.array(7, "int32"), np.zeros(4, "int32"))
    np.testing.assert_array_equal(got, np.arange(4) + 7)


def test_inside_a_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), O: T.Buffer((4, 8), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:8])
                T.writes(O[vi, 0:8])
                for j in range(8):
                    with T.block("O"):
                        vj = T.axis.spatial(8, j)
                        O[vi, vj] = A[vi, 7 - vj]

    sch = Schedule(f)
    sch.cache_read("O", 0, "local")
    (cache,) = sch.get(sch.get_block("outer")).alloc_buffers
    assert cache.name == "A_local" and [n.value for n in cache.shape] == [1, 8]
    a = rng(4, 8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 8), "int32")), a[:, ::-1])


def test_guarded_reads_stay_inside() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), O: T.Buffer((12,), "int32")):
        for i in range(12):
            with T.block("O"):
                vi = T.axis.spatial(12, i)
                T.reads(A[0:10])
                T.writes(O[vi])
                O[vi] = T.if_then_else(vi >= 1 and vi < 11, A[vi - 1], 0)

    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], [None, 5])
    sch.cache_read("O", 0, "local")
    a = rng(10, dtype="int32")
    got = run(sch.mod, a, np.zeros(12, "int32"))
    np.testing.assert_array_equal(got, np.concatenate([[0], a, [0]]))


def test_views_and_pointers() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(A[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    sch = Schedule(f)
    sch.cache_read("O", 0, "local")
    roundtrip(sch.mod)
    a = rng(4, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 4), "int32")), a)

    @T.prim_func
    def strided(a: T.handle, O: T.Buffer((4, 4), "int32")):
        s = T.int32()
        A = T.match_buffer(a, (4, 4), "int32", strides=(s, 1))
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(A[vi, 0:4], (4,), "int32", strides=(s,), offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    assert "through the view row" in refused(strided, "used-otherwise", "O", 0, "local")


def test_arguments() -> None:
    refused(two_stages, "root-block", "root", 0, "local")
    refused(two_stages, "no-such-buffer", "C", 1, "local")
    refused(two_stages, "no-such-buffer", "C", "A", "local")
    refused(two_stages, "bad-buffer-index", "C", None, "local")
    refused(two_stages, "bad-scope", "C", 0, "locl")
    refused(two_stages, "wrong-handle", 3, 0, "local")
    refused(two_stages, "wrong-handle", "C", 0, "local", 7)
    refused(two_stages, "not-a-reader", "C", 0, "local", ["B"])
    refused(two_stages, "not-a-reader", "C", 0, "local", ["root"])


def test_a_buffer_that_is_declared_inside() -> None:
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        with T.block("outer"):
            X = T.decl_buffer((4,), "int32")
            for i in range(4):
                with T.block("X"):
                    vi = T.axis.spatial(4, i)
                    X[vi] = vi
            for i in range(4):
                with T.block("O"):
                    vi = T.axis.spatial(4, i)
                    O[vi] = X[vi]

    assert "declared inside" in refused(f, "declared-inside", "O", 0, "local")


def test_a_copy_in_a_block_copies_what_the_block_reads() -> None:
    """An axis that the loops outside of the block decide stands still; the block's regions stay true, so that
    a copy further out holds all that is read."""

    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("outer"):
                T.reads(A[i, 0:6])
                T.writes(C[i, 0:6])
                with T.block("part"):
                    T.reads(A[i, 2:6])
                    T.writes(C[i, 2:6])
                    for j in range(2, 6):
                        with T.block("C"):
                            vi, vj = T.axis.remap("SS", [i, j])
                            C[vi, vj] = A[vi, vj] + 7

    @T.prim_func
    def after(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("outer"):
                T.reads(A[i, 0:6])
                T.writes(C[i, 0:6])
                with T.block("part"):
                    T.reads(A[i, 2:6])
                    T.writes(C[i, 2:6])
                    A_local = T.alloc_buffer((1, 4), "int32", scope="local")
                    for ax0, ax1 in T.grid(1, 4):
                        with T.block("A_local"):
                            v0, v1 = T.axis.remap("SS", [ax0, ax1])
                            T.reads(A[i + v0, 2 + v1])
                            T.writes(A_local[v0, v1])
                            A_local[v0, v1] = A[i + v0, 2 + v1]
                    for j in range(2, 6):
                        with T.block("C"):
                            vi, vj = T.axis.remap("SS", [i, j])
                            T.reads(A_local[vi - i, vj - 2])
                            T.writes(C[vi, vj])
                            C[vi, vj] = A_local[vi - i, vj - 2] + 7

    sch = Schedule(f)
    sch.cache_read("C", 0, "local")
    ts.assert_structural_equal(sch.mod["main"].replace(attrs={}), after.replace(attrs={}))
    sch.cache_read("part", 0, "shared")
    roundtrip(sch.mod)
    a = rng(4, 6, dtype="int32")
    c = run(sch.mod, a, np.zeros((4, 6), "int32"))
    np.testing.assert_array_equal(c, np.where(np.arange(6) < 2, 0, a + 7))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize("outer", ["cache_read", "cache_write", "cache_inplace"])
@pytest.mark.parametrize("inner", ["cache_read", "cache_write", "cache_inplace"])
def test_copies_around_copies(inner: str, outer: str) -> None:
    """A copy inside may use more than the blocks around it say; a copy further out holds that too."""

    @T.prim_func
    def f(X: T.Buffer((4, 8), "int32"), Y: T.Buffer((4, 8), "int32")):
        for i, j in T.grid(3, 8):
            with T.block("Y"):
                vi = T.axis.spatial((1, 4), i + 1)
                vj = T.axis.spatial(8, j)
                Y[vi, vj] = Y[vi - 1, vj] + X[vi, vj]

    x, y = rng(4, 8, dtype="int32"), np.full((4, 8), 5, "int32")
    want = y + np.concatenate([np.zeros((1, 8), "int32"), np.cumsum(x[1:], 0)])
    for last in ("cache_read", "cache_write", "cache_inplace"):
        sch = Schedule(f)
        sch.loop_partition(sch.get_loops("Y")[0], [2, None])
        for step, block in ((inner, "Y_i1"), (outer, "Y_i1_partition"), (last, "Y_i_common")):
            number = 0 if step == "cache_write" else "Y"
            with contextlib.suppress(ts.ScheduleError):  # a copy that would be stale is refused
                getattr(sch, step)(block, number, "local")
        assert len(sch.history) >= 2
        np.testing.assert_array_equal(run(sch.mod, x, y), want)
