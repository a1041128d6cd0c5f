"""reindex, reindex_cache_read, reindex_cache_write: copies that are indexed by the axes of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


def refused(program: Any, code: str, method: str, *args: Any) -> str:
    sch = Schedule(program)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        getattr(sch, method)(*args)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


@T.prim_func
def transposed(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 4), "int32"), C: T.Buffer((4, 6), "int32")):
    for i, j, k in T.grid(6, 4, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vj, vi] = 0
            C[vj, vi] = C[vj, vi] + A[vi, vk] * B[vk, vj]


A_, B_ = rng(6, 5, dtype="int32"), rng(5, 4, seed=1, dtype="int32")


def product(sch: Schedule) -> None:
    got = run(sch.mod, A_, B_, np.full((4, 6), -7, "int32"))
    np.testing.assert_array_equal(got, (A_ @ B_).T)


def test_reads_and_writes() -> None:
    @T.prim_func
    def want(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 4), "int32"), C: T.Buffer((4, 6), "int32")):
        X = T.alloc_buffer((4, 5), "int32")
        Y = T.alloc_buffer((6, 4), "int32")
        for ax0, ax1 in T.grid(4, 5):
            with T.block("B_reindex_reindex"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                X[v0, v1] = B[v1, v0]
        for i, j, k in T.grid(6, 4, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = 0
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * X[vj, vk]
        for ax0, ax1 in T.grid(6, 4):
            with T.block("C_reindex"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                C[v1, v0] = Y[v0, v1]

    sch = Schedule(transposed)
    block, loops = sch.get_block("C"), sch.get_loops("C")
    assert sch.get(sch.reindex(block, ("read", 1))).name == "B_reindex_reindex"
    assert sch.get(sch.reindex(block, ("write", 0))).name == "C_reindex"
    equal(sch, want)
    assert sch.get_loops(block) == loops
    product(sch)
    for which in ("A", "B", "C", ["read", 0], sch.get(sch.get_block("C_reindex")).writes[0].buffer):
        sch = Schedule(transposed)
        sch.reindex("C", which)
        roundtrip(sch.mod)
        product(sch)


def test_layouts_of_copies() -> None:
    @T.prim_func
    def want(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 4), "int32"), C: T.Buffer((4, 6), "int32")):
        X = T.alloc_buffer((5, 6), "int32", scope="shared")
        Y = T.alloc_buffer((3, 4, 2), "int32", scope="local")
        for i, k in T.grid(6, 5):
            with T.block("A_shared"):
                vi, vk = T.axis.remap("SS", [i, k])
                X[vk, vi] = A[vi, vk]
        for i, j, k in T.grid(6, 4, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi // 2, vj, vi % 2] = 0
                Y[vi // 2, vj, vi % 2] = Y[vi // 2, vj, vi % 2] + X[vk, vi] * B[vk, vj]
        for i, j in T.grid(6, 4):
            with T.block("C_local"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = Y[vi // 2, vj, vi % 2]

    sch = Schedule(transposed)
    sch.reindex_cache_read("C", 0, "shared", lambda i, j, k: (k, i))
    sch.reindex_cache_write("C", "C", "local", T.index_map(lambda i, j, k: (i // 2, j, i % 2)))
    equal(sch, want)
    product(sch)
    sch = Schedule(transposed)
    sch.reindex_cache_read("C", 1, "shared", lambda i, j, k: k * 4 + j)
    sch.reindex_cache_read("C", 0, "shared", lambda a, b, c: (a // 4, c, a % 4))
    sch.reindex_cache_write("C", 0, "local", lambda i, j, k: (5 - i, j + 1))
    roundtrip(sch.mod)
    product(sch)


@pytest.mark.parametrize("own", [False, True])
def test_split_loops_and_predicates(own: bool) -> None:
    sch = Schedule(transposed)
    i, _, k = sch.get_loops("C")
    sch.split(i, [None, 4])
    sch.split(k, [None, 2])
    if own:
        copy = sch.reindex_cache_read("C", 0, "shared", lambda i, j, k: (k, i))
        sch.reindex_cache_write("C", 0, "local", lambda i, j, k: (j, i))
        assert [sch.get(x).loop_var.name for x in sch.get_loops(copy)] == ["i_0", "i_1", "k_0", "k_1"]
    else:
        sch.reindex("C", "A")
        sch.reindex("C", ("write", 0))
    roundtrip(sch.mod)
    product(sch)


def test_windows_and_guards() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), O: T.Buffer((12, 3), "int32")):
        for i, k in T.grid(12, 3):
            with T.block("O"):
                vi, vk = T.axis.remap("SS", [i, k])
                O[vi, vk] = T.if_then_else(vi + vk >= 1 and vi + vk < 11, A[vi + vk - 1], 0)

    a = rng(10, dtype="int32")
    pad = np.concatenate([[0], a, [0, 0, 0]])
    want = np.lib.stride_tricks.sliding_window_view(pad, 3)[:12]
    for own in (False, True):
        sch = Schedule(f)
        if own:
            copy = sch.reindex_cache_read("O", 0, "local", lambda i, k: (k, i))
        else:
            copy = sch.reindex("O", ("read", 0))
        assert [n.value for n in sch.get(copy).writes[0].buffer.shape] == ([3, 12] if own else [12, 3])
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 3), "int32")), want)


def test_symbolic_shapes_domains_and_nesting() -> None:
    sch = Schedule(copy_symbolic)
    sch.reindex("O", "A")
    sch.reindex_cache_write("O", 0, "shared", lambda i, j: (j, i))
    roundtrip(sch.mod)
    for n in (1, 5):
        a = rng(n, 7)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, 7), "float32")), a)

    @T.prim_func
    def f(A: T.Buffer((4, 20), "int32"), O: T.Buffer((4, 20), "int32")):
        for t in range(4):
            with T.block("outer"):
                vt = T.axis.spatial(4, t)
                for i in range(8):
                    with T.block("O"):
                        vi = T.axis.spatial((2, 10), i + 2)
                        O[vt, vi] = A[vt, 19 - vi] + 1

    a = rng(4, 20, dtype="int32")
    want = np.full((4, 20), -7)
    want[:, 2:10] = a[:, ::-1][:, 2:10] + 1
    sch = Schedule(f)
    copy = sch.reindex("O", ("read", 0))
    sch.reindex("O", ("write", 0))
    assert str(sch.get(copy).reads[0]) == "A[vt, 19 - v0]"
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, np.full((4, 20), -7, "int32")), want)


def test_copies_between_writers() -> None:
    sch = Schedule(two_stages)
    sch.reindex("C", ("read", 0))
    sch.reindex("B", ("write", 0))
    names = [b.name for b in map(sch.get, sch.get_child_blocks(sch.get_block("root")))]
    assert names == ["B", "B_reindex", "B_reindex_reindex", "C"]
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def block_of(lines: list[str]) -> Any:
    body = "\n".join("            " + line for line in lines)
    return ts.from_source(f"""\
@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
{body}
""")


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("lines", "which", "code"), [
    (["O[vi] = A[vi] + A[7 - vi]"], ("read", 0), "several-indices"),
    (["O[vi] = A[B[vi]]"], "A", "several-indices"),
    (["for j in range(2):", "    O[vi] = A[T.min(vi + j, 7)]"], "A", "several-indices"),
    (["O[vi] = O[vi] + A[vi]"], ("write", 0), "partial-write"),
    (["T.where(i < 5)", "O[vi] = A[vi]"], ("write", 0), "partial-write"),
    (["if A[vi] > 0:", "    O[vi] = A[vi]"], ("write", 0), "partial-write"),
    (["O[vi // 2] = A[vi]"], ("write", 0), "not-injective"),
    (["O[vi] = O[T.max(vi - 1, 0)]"], ("read", 0), "cache-stale"),
])  # fmt: skip
def test_refusals(lines: list[str], which: Any, code: str) -> None:
    refused(block_of(lines), code, "reindex", "O", which)


def test_refusals_of_arguments() -> None:
    refused(matmul, "root-block", "reindex", "root", "A")
    refused(matmul, "wrong-handle", "reindex", 3, "A")
    refused(matmul, "no-such-buffer", "reindex", "C", "X")
    refused(matmul, "bad-buffer-index", "reindex", "C", 0)
    swap = lambda i, j, k: (k, i)  # noqa: E731
    refused(matmul, "root-block", "reindex_cache_read", "root", 0, "local", swap)
    refused(matmul, "no-such-buffer", "reindex_cache_read", "C", 2, "local", swap)
    refused(matmul, "bad-scope", "reindex_cache_read", "C", 0, "locl", swap)
    refused(matmul, "bad-index-map", "reindex_cache_read", "C", 0, "local", lambda i: i)
    refused(matmul, "unmatched-axis", "reindex_cache_read", "C", 0, "local", lambda i, j, k: (i, j))
    refused(matmul, "not-injective", "reindex_cache_read", "C", 0, "local", lambda i, j, k: (i // 2, k))
    refused(matmul, "not-injective", "reindex_cache_read", "C", 0, "local", lambda i, j, k: (i,))
    refused(matmul, "unknown-shape", "reindex_cache_read", "C", 0, "local", lambda i, j, k: (i - 1, k))
    refused(matmul, "unmatched-axis", "reindex_cache_write", "C", 0, "local", lambda i, j, k: (i, k))

    @T.prim_func
    def shared(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        X = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("X"):
                vi = T.axis.spatial(8, i)
                X[vi] = A[vi] + 1
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = X[vi]

    refused(shared, "shared-nest", "reindex", "X", ("write", 0))
    refused(shared, "cache-stale", "reindex", "O", ("read", 0))
    refused(shared, "shared-nest", "reindex_cache_write", "X", 0, "local", lambda i: i)


def test_blocks_that_hold_others_or_views() -> None:
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
                        O[vi, vj] = A[vi, vj]

    refused(f, "several-indices", "reindex", "outer", "A")

    @T.prim_func
    def view(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(A[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    refused(view, "several-indices", "reindex", "O", "A")


def test_a_fused_reduction_loop_reaches_every_cell() -> None:
    sch = Schedule(matmul, debug_mask="all")
    _, j, k = sch.get_loops("C")
    sch.fuse(j, k)
    sch.reindex("C", ("write", 0))
    roundtrip(sch.mod)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
