"""cache_write: a block writes a copy, which is copied back."""

from __future__ import annotations

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


def test_an_update_needs_the_old_content() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = O[vi] + A[vi]

    assert "reads O before it writes it" in refused(f, "partial-write", "O", 0, "local")


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("lines", "words"), [
    (["T.where(i < 5)", "O[vi] = A[vi]"], "a condition decides"),
    (["if A[vi] > 0:", "    O[vi] = A[vi]"], "a condition or loop decides"),
    (["O[vi // 2] = A[vi]"], "is not a spatial axis"),
    (["O[vi] = A[vi]", "O[7 - vi] = A[vi]"], "several cells"),
])  # fmt: skip
def test_writes_that_leave_cells_out(lines: list[str], words: str) -> None:
    body = "\n".join("            " + line for line in lines)
    f = ts.from_source(f"""\
@T.prim_func
def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
{body}
""")
    assert words in refused(f, "partial-write", "O", 0, "local")


def test_others_in_the_nest() -> None:
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

    refused(f, "shared-nest", "X", 0, "local")


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

    refused(f, "used-otherwise", "O", 0, "local")


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
