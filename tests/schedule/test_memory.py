"""set_scope and storage_align; and what only rearranges: add_unit_loop, reorder_block_iter_var."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


def refused(sch: Schedule, code: str, method: str, *args: Any) -> str:
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        getattr(sch, method)(*args)
    assert caught.value.code == code
    assert sch.mod["main"] is before
    with pytest.raises(ts.ScheduleError):
        getattr(sch.check, method)(*args)
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


def doubled_plus_one(sch: Schedule) -> None:
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


@T.prim_func
def on_parameters(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            O[vi] = A[vi]


# ---- set_scope


@pytest.mark.parametrize("scope", ["shared", "local", "shared.dyn", "warp", "wmma.matrix_a", "global.vtcm"])
def test_set_scope(scope: str) -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        X = T.alloc_buffer((12, 10), "float32", scope=scope)
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = X[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    b, loops = sch.get_block("B"), sch.get_loops("B")
    sch.set_scope(b, 0, scope)
    equal(sch, want)
    (buffer,) = sch.get(sch.get_block("root")).alloc_buffers
    assert buffer.name == "B_" + scope.replace(".", "_") and buffer.scope == scope
    assert sch.get_loops(b) == loops
    doubled_plus_one(sch)
    sch.undo()
    assert sch.get(sch.get_block("root")).alloc_buffers[0].name == "B"


def test_set_scope_by_name_and_by_buffer() -> None:
    sch = Schedule(two_stages)
    sch.set_scope("B", "B", "shared")
    (buffer,) = sch.get(sch.get_block("root")).alloc_buffers
    sch.set_scope("B", buffer, "local")
    (buffer,) = sch.get(sch.get_block("root")).alloc_buffers
    assert (buffer.name, buffer.scope) == ("B_shared_local", "local")
    before = sch.mod["main"]
    sch.set_scope("B", 0, "local")  # it is there already
    assert sch.mod["main"] is before


def test_set_scope_of_an_inner_allocation_and_of_taken_names() -> None:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), B_shared: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                B = T.alloc_buffer((1,), "int32")
                with T.block("B"):
                    B[0] = A[vi] * 3
                with T.block("O"):
                    B_shared[vi] = B[0]

    sch = Schedule(f)
    sch.set_scope("B", 0, "shared")
    (buffer,) = sch.get(sch.get_block("outer")).alloc_buffers
    assert buffer.name == "B_shared_1"
    roundtrip(sch.mod)
    a = rng(4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32")), a * 3)


def test_set_scope_of_a_symbolic_buffer() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "float32")
        O = T.match_buffer(o, (n,), "float32")
        B = T.alloc_buffer((n,), "float32")
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + T.float32(1)
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = B[vi]

    sch = Schedule(f)
    sch.set_scope("B", 0, "shared")
    for n in (1, 7):
        a = rng(n)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(n, "float32")), a + 1)


def test_set_scope_refuses() -> None:
    sch = Schedule(two_stages)
    assert "a parameter" in refused(sch, "not-allocated", "set_scope", "C", 0, "shared")
    assert "did you mean" in refused(sch, "bad-scope", "set_scope", "B", 0, "sharde")
    refused(sch, "bad-scope", "set_scope", "B", 0, "global.")
    refused(sch, "bad-scope", "set_scope", "B", 0, None)
    assert "it writes B (0)" in refused(sch, "no-such-buffer", "set_scope", "B", 1, "shared")
    refused(sch, "no-such-buffer", "set_scope", "B", -1, "shared")
    refused(sch, "no-such-buffer", "set_scope", "B", "A", "shared")
    refused(sch, "bad-buffer-index", "set_scope", "B", 0.5, "shared")
    with pytest.raises(TypeError, match="wrong-handle"):
        sch.set_scope(sch.get_loops("B")[0], 0, "shared")  # type: ignore[arg-type]


def test_set_scope_of_a_buffer_with_views() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        B = T.alloc_buffer((4, 4), "int32")
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(B[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(B[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    assert "row is a view of it" in refused(Schedule(f), "buffer-has-views", "set_scope", "B", 0, "shared")


# ---- storage_align


def test_storage_align() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                T.block_attr({"buffer_dim_align": [[0, 0, 64, 4], [0, 1, 2, 0]], "note": 1})
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    sch.annotate("B", "note", 1)
    sch.storage_align("B", 0, axis=0, factor=32, offset=8)
    sch.storage_align("B", "B", axis=-1, factor=2, offset=0)
    sch.storage_align("B", 0, -2, 64, 4)  # replaces the first
    equal(sch, want)
    doubled_plus_one(sch)
    sch.undo(3)
    assert dict(sch.get(sch.get_block("B")).annotations) == {"note": 1}


def test_storage_align_refuses() -> None:
    sch = Schedule(two_stages)
    refused(sch, "not-allocated", "storage_align", "C", 0, 0, 32, 8)
    refused(sch, "no-such-buffer", "storage_align", "B", 3, 0, 32, 8)
    assert "2 dimensions" in refused(sch, "bad-alignment", "storage_align", "B", 0, 2, 32, 8)
    refused(sch, "bad-alignment", "storage_align", "B", 0, -3, 32, 8)
    assert "positive, it is 0" in refused(sch, "bad-alignment", "storage_align", "B", 0, 0, 0, 8)
    refused(sch, "bad-alignment", "storage_align", "B", 0, 0, -2, 8)
    refused(sch, "bad-alignment", "storage_align", "B", 0, 0, 2.5, 8)
    refused(sch, "bad-alignment", "storage_align", "B", 0, 0, 2, "x")


# ---- add_unit_loop


def test_add_unit_loop() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for _u, i, _u1, j, _u2 in T.grid(1, 12, 1, 10, 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    i, j = sch.get_loops("C")
    a = sch.add_unit_loop("C")
    b = sch.add_unit_loop(i)
    c = sch.add_unit_loop(j)
    equal(sch, want)
    assert sch.get_loops("C") == [b, i, c, j, a]
    assert [x.name for x in (a, b, c)] == ["u", "u_1", "u_2"]
    sch.bind(b, "blockIdx.x")
    sch.parallel(c)
    doubled_plus_one(sch)


def test_add_unit_loop_among_siblings_and_around_a_block_without_loops() -> None:
    @T.prim_func
    def f(O: T.Buffer((2,), "int32")):
        with T.block("a"):
            O[0] = 1
        with T.block("b"):
            O[1] = O[0] + 1

    sch = Schedule(f)
    u = sch.add_unit_loop("b")
    assert sch.get_loops("b") == [u] and sch.get_loops("a") == []
    np.testing.assert_array_equal(run(sch.mod, np.zeros(2, "int32")), [1, 2])


def test_add_unit_loop_with_symbolic_loops() -> None:
    sch = Schedule(copy_symbolic)
    i, j = sch.get_loops("O")
    u = sch.add_unit_loop(j)
    sch.fuse(i, u)
    a = rng(3, 5)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((3, 5), "float32")), a)


def test_add_unit_loop_refuses() -> None:
    sch = Schedule(two_stages)
    refused(sch, "root-block", "add_unit_loop", "root")
    refused(sch, "wrong-handle", "add_unit_loop", 3)
    i, _ = sch.get_loops("B")
    sch.split(i, [None, 4])
    refused(sch, "expired-reference", "add_unit_loop", i)


# ---- reorder_block_iter_var


def test_reorder_block_iter_var() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i, j, k in T.grid(16, 20, 24):
            with T.block("C"):
                vk, vi, vj = T.axis.remap("RSS", [k, i, j])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch = Schedule(matmul)
    block, loops = sch.get_block("C"), sch.get_loops("C")
    sch.reorder_block_iter_var(block, [2, 0, 1])
    equal(sch, want)
    assert sch.get_loops(block) == loops
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_reorder_block_iter_var_and_other_steps() -> None:
    sch = Schedule(matmul)
    sch.reorder_block_iter_var("C", (1, 2, 0))
    i, j, k = sch.get_loops("C")
    _, i1 = sch.split(i, [None, 5])
    sch.decompose_reduction("C", k)
    sch.vectorize(j)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch = Schedule(copy_symbolic)
    sch.reorder_block_iter_var("O", [1, 0])
    a = rng(3, 5)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((3, 5), "float32")), a)


def test_reorder_block_iter_var_refuses() -> None:
    sch = Schedule(matmul)
    for order in ([0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], []):
        refused(sch, "bad-axis-order", "reorder_block_iter_var", "C", order)
    refused(sch, "bad-axis-order", "reorder_block_iter_var", "C", 3)
    refused(sch, "bad-axis-order", "reorder_block_iter_var", "C", [0, 1, "k"])
    refused(sch, "unknown-block", "reorder_block_iter_var", "D", [0, 1, 2])


@pytest.mark.parametrize("step", ["unsafe_set_dtype", "set_scope"])
def test_users_of_every_form(step: str) -> None:
    """A plain nest that uses the buffer beside one that is not plain, in either order."""

    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32"), D: T.Buffer((4, 6), "int32")):
        B = T.alloc_buffer((4, 6), "int32")
        for i, j in T.grid(4, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
        for i, j0, j1 in T.grid(4, 2, 4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(6, j0 * 4 + j1)
                T.where(j0 * 4 + j1 < 6)
                C[vi, vj] = B[vi, vj] + 1
        for i, j in T.grid(4, 6):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] - 1

    sch = Schedule(f)
    if step == "set_scope":
        sch.set_scope("B", 0, "local")
        assert sch.mod.script().count("B_local[") == 6 and "B[" not in sch.mod.script()
    else:
        sch.unsafe_set_dtype("B", 0, "int64")
        assert sch.mod.script().count('T.Cast("int32", B[') == 2
    roundtrip(sch.mod)
    a = rng(4, 6, dtype="int32")
    zero = np.zeros((4, 6), "int32")
    np.testing.assert_array_equal(run(sch.mod, a, zero, zero), a * 2 - 1)
