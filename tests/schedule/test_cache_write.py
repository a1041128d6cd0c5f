"""cache_write: a block writes a copy, which is copied back."""

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
        sch.cache_write(*args, **kwargs)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


def test_an_accumulator() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        X = T.alloc_buffer((16, 20), "float32", scope="local")
        for i, j, k in T.grid(16, 20, 24):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    X[vi, vj] = T.float32(0)
                X[vi, vj] = X[vi, vj] + A[vi, vk] * B[vk, vj]
        for ax0, ax1 in T.grid(16, 20):
            with T.block("C_local"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                C[v0, v1] = X[v0, v1]

    sch = Schedule(matmul)
    block, loops = sch.get_block("C"), sch.get_loops("C")
    copy = sch.cache_write(block, 0, "local")
    equal(sch, want)
    assert sch.get_loops(block) == loops and sch.get(copy).name == "C_local"
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.parallel(loops[0])
    sch.decompose_reduction(block, loops[1])
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.undo(3)
    assert len(sch.get(sch.get_block("root")).alloc_buffers) == 0


def test_after_uneven_splits_nothing_else_is_written() -> None:
    @T.prim_func
    def f(X: T.Buffer((28,), "int32")):
        for i in range(28):
            with T.block("X"):
                vi = T.axis.spatial(28, i)
                X[vi] = vi + 1

    sch = Schedule(f)
    sch.split(sch.get_loops("X")[0], [None, 16])
    sch.cache_write("X", 0, "global")
    for target in ("python", "llvm"):
        big = np.full(64, -7, "int32")
        ts.build(sch.mod, target=target)(big[:28])
        np.testing.assert_array_equal(big[:28], np.arange(28) + 1)
        np.testing.assert_array_equal(big[28:], -7)


def test_a_part_of_a_buffer() -> None:
    @T.prim_func
    def f(A: T.Buffer((5,), "int32"), O: T.Buffer((9, 3), "int32")):
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial((2, 7), i + 2)
                O[vi, 1] = A[vi - 2]

    sch = Schedule(f)
    sch.cache_write("O", 0, "local")
    roundtrip(sch.mod)
    a = rng(5, dtype="int32")
    want = np.full((9, 3), 4, "int32")
    want[2:7, 1] = a
    np.testing.assert_array_equal(run(sch.mod, a, np.full((9, 3), 4, "int32")), want)


def test_a_stage_and_its_readers() -> None:
    sch = Schedule(two_stages)
    sch.cache_write("B", "B", "shared")
    assert sch.get(sch.get_block("C")).reads[0].buffer.name == "B"
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
    sch = Schedule(two_stages)
    sch.cache_write("B", 0, "shared", consumer_blocks=["C"])
    assert sch.get(sch.get_block("C")).reads[0].buffer.name == "B_shared"
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_symbolic_shapes_and_scalars() -> None:
    sch = Schedule(copy_symbolic)
    sch.cache_write("O", 0, "shared")
    roundtrip(sch.mod)
    for n in (1, 5):
        a = rng(n, 7)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, 7), "float32")), a)

    @T.prim_func
    def f(A: T.Buffer((6,), "int32"), S: T.Buffer((), "int32")):
        for k in range(6):
            with T.block("S"):
                vk = T.axis.reduce(6, k)
                with T.init():
                    S[()] = 0
                S[()] = S[()] + A[vk]

    sch = Schedule(f)
    assert sch.get_loops(sch.cache_write("S", 0, "local")) == []
    a = rng(6, dtype="int32")
    assert run(sch.mod, a, np.array(3, "int32")) == a.sum()


def filled(sch: Schedule, block: str) -> bool:
    """Whether a block copies the old content first."""
    return any(b.name == block + "_in" for b in map(sch.get, sch.get_child_blocks(sch.get_block("root"))))


def test_an_update_needs_the_old_content() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = O[vi] + A[vi]

    @T.prim_func
    def want(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32", scope="local")
        for ax0 in range(8):
            with T.block("O_local_in"):
                v0 = T.axis.spatial(8, ax0)
                X[v0] = O[v0]
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                X[vi] = X[vi] + A[vi]
        for ax0 in range(8):
            with T.block("O_local"):
                v0 = T.axis.spatial(8, ax0)
                O[v0] = X[v0]

    sch = Schedule(f)
    assert sch.get(sch.cache_write("O", 0, "local")).name == "O_local"
    equal(sch, want)
    a, o = rng(8, dtype="int32"), rng(8, seed=1, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, o), a + o)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("lines", "whole"), [
    (["T.where(i < 5)", "O[vi] = A[vi]"], False),
    (["T.where(i % 4 != 1)", "O[vi] = A[vi]"], False),
    (["if A[vi] > 0:", "    O[vi] = A[vi]"], False),
    (["O[vi // 2] = A[vi]"], False),
    (["O[vi] = A[vi]", "O[7 - vi] = A[vi]"], False),
    (["O[7 - vi] = A[vi]"], True),
    (["O[vi] = A[vi]"], True),
    (["O[vi] = A[vi]", "O[vi] = O[vi] * 2"], True),
])  # fmt: skip
def test_writes_that_leave_cells_out(lines: list[str], whole: bool) -> None:
    body = "\n".join("            " + line for line in lines)
    f = ts.from_source(f"""\
@T.prim_func
def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
{body}
""")
    a = rng(8, dtype="int32")
    want = run(f, a, np.full(8, -7, "int32"))
    sch = Schedule(f)
    sch.cache_write("O", 0, "local")
    assert filled(sch, "O_local") != whole
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, np.full(8, -7, "int32")), want)


def test_what_is_written_in_steps_and_parts() -> None:
    """The copy has the shape of what is written; cells between stay."""

    @T.prim_func
    def f(A: T.Buffer((5,), "int32"), O: T.Buffer((20, 3), "int32")):
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial(5, i)
                O[vi * 2 + 4, 1] = A[vi]

    sch = Schedule(f)
    sch.cache_write("O", 0, "local")
    (cache,) = sch.get(sch.get_block("root")).alloc_buffers
    assert [n.value for n in cache.shape] == [9, 1] and filled(sch, "O_local")
    a = rng(5, dtype="int32")
    want = np.full((20, 3), -7)
    want[4:14:2, 1] = a
    np.testing.assert_array_equal(run(sch.mod, a, np.full((20, 3), -7, "int32")), want)


def test_splits_and_fusions_are_seen_through() -> None:
    for factors in ([None, 16], [4, 7], [None, 5]):

        @T.prim_func
        def f(X: T.Buffer((28,), "int32")):
            for i in range(28):
                with T.block("X"):
                    vi = T.axis.spatial(28, i)
                    X[vi] = vi + 1

        sch = Schedule(f)
        sch.split(sch.get_loops("X")[0], factors)
        sch.cache_write("X", 0, "global")
        assert not filled(sch, "X_global")
        for target in ("python", "llvm"):
            big = np.full(64, -7, "int32")
            ts.build(sch.mod, target=target)(big[:28])
            np.testing.assert_array_equal(big[:28], np.arange(28) + 1)
            np.testing.assert_array_equal(big[28:], -7)


def test_others_in_the_nest() -> None:
    """The copies stand in the innermost loop around both."""

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
                Y[vi] = A[vi] + 1
            for ax0 in range(1):
                with T.block("X_local"):
                    v0 = T.axis.spatial(8, i + ax0)
                    X[v0] = Y[v0]
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = X[vi]

    sch = Schedule(f)
    sch.cache_write("X", 0, "local")
    equal(sch, want)
    a = rng(8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), a + 1)
    sch = Schedule(f)
    sch.parallel(sch.get_loops("X")[0])
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_write("X", 0, "local")
    assert caught.value.code == "shared-nest"


def test_the_update_after_decomposing() -> None:
    a, b = rng(16, 24), rng(24, 20, seed=1)
    for level in range(3):
        sch = Schedule(matmul)
        block = sch.get_block("C")
        sch.decompose_reduction(block, sch.get_loops(block)[level])
        sch.cache_write(block, 0, "local")
        roundtrip(sch.mod)
        np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_a_return_may_leave_it() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.opaque(8, i)
                if A[vi] < 0:
                    T.evaluate(T.ret(0))
                O[vi] = A[vi]

    refused(f, "leaves-block", "O", 0, "local")


def test_parameters_that_may_be_the_same_memory() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        T.func_attr({"tir.noalias": False})
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = A[7 - vi]

    refused(f, "shared-nest", "O", 0, "local")


def test_consumers_of_several_writers() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi] + 1
        for i in range(3):
            with T.block("Y"):
                vi = T.axis.spatial(3, i)
                X[vi] = 5
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = X[vi]

    refused(f, "cache-stale", "X", 0, "local", ["O"])
    sch = Schedule(f)
    sch.cache_write("X", 0, "local")
    sch.cache_write("Y", 0, "shared")
    a = rng(8, dtype="int32")
    want = a + 1
    want[:3] = 5
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(8, "int32")), want)


def test_views() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(O[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    row[j] = A[vi, j]

    sch = Schedule(f)
    sch.cache_write("O", 0, "local")
    roundtrip(sch.mod)
    a = rng(4, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 4), "int32")), a)

    @T.prim_func
    def strided(o: T.handle, A: T.Buffer((4, 4), "int32")):
        s = T.int32()
        O = T.match_buffer(o, (4, 4), "int32", strides=(s, 1))
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(O[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    row[j] = A[vi, j]

    refused(strided, "used-otherwise", "O", 0, "local")


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

    refused(f, "declared-inside", "X", 0, "local")


def test_arguments() -> None:
    refused(two_stages, "root-block", "root", 0, "local")
    refused(two_stages, "no-such-buffer", "C", 1, "local")
    refused(two_stages, "no-such-buffer", "C", "B", "local")
    refused(two_stages, "bad-buffer-index", "C", None, "local")
    refused(two_stages, "bad-scope", "C", 0, "locl")
    refused(two_stages, "wrong-handle", 3, 0, "local")
    refused(two_stages, "not-a-reader", "B", 0, "local", ["B"])
    refused(two_stages, "not-a-reader", "C", 0, "local", ["B"])


def test_a_reduction_that_may_be_empty() -> None:
    """The init stores also where the reduction has no iteration; what has no init stores nothing then."""

    @T.prim_func
    def f(a: T.handle, O: T.Buffer((3,), "int32")):
        n = T.int32()
        A = T.match_buffer(a, (3, n), "int32")
        for i, k in T.grid(3, n):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    @T.prim_func
    def g(a: T.handle, O: T.Buffer((3,), "int32")):
        n = T.int32()
        A = T.match_buffer(a, (3, n), "int32")
        for i, k in T.grid(3, n):
            with T.block("O"):
                vi, vk = T.axis.remap("SO", [i, k])
                O[vi] = A[vi, vk]

    for program in (f, g):
        sch = Schedule(program)
        sch.cache_write("O", 0, "local")
        assert filled(sch, "O_local") == (program is g)
        for n in (0, 4):
            a = rng(3, n, dtype="int32")
            want = run(program, a, np.full(3, -7, "int32"))
            np.testing.assert_array_equal(run(sch.mod, a, np.full(3, -7, "int32")), want)


def test_an_init_runs_before_the_loops_of_the_reduction() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4, 6), "int32"), P: T.Buffer((6,), "int32")):
        for k in range(4):
            with T.block("O"):
                vk = T.axis.reduce(4, k)
                T.where(k < 3)
                with T.init():
                    O[0, 0] = 1
                O[0, 0] = O[0, 0] + A[vk, 0]
            with T.block("P"):
                vk = T.axis.opaque(4, k)
                P[vk] = O[0, 0] + O[1, 1]

    a, o = rng(4, 6, dtype="int32"), rng(4, 6, seed=1, dtype="int32")
    want = run(f, a, o, np.zeros(6, "int32"))
    sch = Schedule(f)
    with contextlib.suppress(ts.ScheduleError):
        sch.cache_write("O", 0, "local")
    np.testing.assert_array_equal(run(sch.mod, a, o, np.zeros(6, "int32")), want)
    sch = Schedule(f)
    loop = sch.get_loops("O")[0]
    with contextlib.suppress(ts.ScheduleError):
        sch.write_at(loop, "O", 0, "local")
    np.testing.assert_array_equal(run(sch.mod, a, o, np.zeros(6, "int32")), want)


def test_a_reduction_that_a_loop_around_the_scope_began() -> None:
    @T.prim_func
    def f(X: T.Buffer((6, 8), "int32"), S: T.Buffer((6,), "int32")):
        for k in range(8):
            with T.block("part"):
                vk = T.axis.reduce(8, k)
                T.reads(X[0:6, vk], S[0:6])
                T.writes(S[0:6])
                for i in range(6):
                    with T.block("S"):
                        vi = T.axis.spatial(6, i)
                        vj = T.axis.reduce(8, vk)
                        with T.init():
                            S[vi] = 0
                        S[vi] = S[vi] + X[vi, vj]

    x = rng(6, 8, dtype="int32")
    for step in ("cache_write", "reindex"):
        sch = Schedule(f, debug_mask="all")
        try:
            sch.cache_write("S", 0, "local") if step == "cache_write" else sch.reindex("S", ("write", 0))
        except ts.ScheduleError as error:
            assert error.code in ("partial-write", "init-before")
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, x, np.zeros(6, "int32")), x.sum(1))
