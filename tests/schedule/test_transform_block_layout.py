"""transform_block_layout: blocks over other axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, last_wins, matmul, rng, roundtrip, run, two_stages


def refused(program: Any, code: str, *args: Any, prepare: Any = None) -> str:
    sch = Schedule(program)
    if prepare is not None:
        prepare(sch)
    before, steps = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.transform_block_layout(*args)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == steps
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


def test_tiles() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for ax0, ax1, ax2, ax3 in T.grid(4, 20, 24, 4):
            with T.block("C"):
                v0, v1, v2, v3 = T.axis.remap("SSRS", [ax0, ax1, ax2, ax3])
                with T.init():
                    C[v0 * 4 + v3, v1] = T.float32(0)
                C[v0 * 4 + v3, v1] = C[v0 * 4 + v3, v1] + A[v0 * 4 + v3, v2] * B[v2, v1]

    sch = Schedule(matmul)
    block = sch.get_block("C")
    sch.annotate(block, "kept", 1)
    sch.transform_block_layout(block, lambda i, j, k: [i // 4, j, k, i % 4])
    assert sch.get(block).annotations == {"kept": 1}
    sch.unannotate(block, "kept")
    equal(sch, want)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.parallel(sch.get_loops(block)[0])
    sch.vectorize(sch.get_loops(block)[3])


def test_fused_axes() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for ax0 in range(120):
            with T.block("B"):
                v0 = T.axis.spatial(120, ax0)
                B[v0 // 10, v0 % 10] = A[v0 // 10, v0 % 10] * T.float32(2)
        for ax0, ax1 in T.grid(10, 12):
            with T.block("C"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                C[v1, v0] = B[v1, v0] + T.float32(1)

    sch = Schedule(two_stages)
    sch.transform_block_layout("B", lambda i, j: i * 10 + j)
    sch.transform_block_layout("C", T.index_map(lambda i, j: (j, i)))
    equal(sch, want)
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_indices_that_cancel() -> None:
    sch = Schedule(two_stages)
    sch.transform_layout("B", "B", lambda i, j: [i // 4, j // 5, i % 4, j % 5])
    sch.transform_block_layout("B", lambda i, j: [i // 4, j // 5, i % 4, j % 5])
    assert str(sch.get(sch.get_block("B")).body) == (
        "B[v0, v1, v2, v3] = A[v0 * 4 + v2, v1 * 5 + v3] * T.float32(2)"
    )
    assert str(sch.get(sch.get_block("B")).writes[0]) == "B[v0, v1, v2, v3]"
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_unit_axes_predicates_and_outer_loops() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 1, 10), "int32"), O: T.Buffer((4, 1, 10), "int32")):
        for t in range(4):
            with T.block("outer"):
                vt = T.axis.spatial(4, t)
                for u, i in T.grid(1, 10):
                    with T.block("O"):
                        vu, vi = T.axis.remap("SS", [u, i])
                        T.where(i < 7)
                        O[vt, vu, vi] = A[vt, vu, vi] + 1

    a = rng(4, 1, 10, dtype="int32")
    want = np.where(np.arange(10) < 7, a + 1, -1)
    for index_map in (
        lambda u, i: [i],
        lambda u, i: [i, u],
        lambda u, i: [i // 5, i % 5],
        lambda u, i: [9 - i],
    ):
        sch = Schedule(f)
        sch.transform_block_layout("O", index_map)
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.full((4, 1, 10), -1, "int32")), want)


def test_symbolic_shapes() -> None:
    for index_map in (lambda i, j: [j, i], lambda i, j: [j // 1, i]):
        sch = Schedule(copy_symbolic)
        sch.transform_block_layout("O", index_map)
        roundtrip(sch.mod)
        a = rng(5, 7)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((5, 7), "float32")), a)


@pytest.mark.filterwarnings("ignore")
def test_order_is_kept_where_it_matters() -> None:
    a = np.random.default_rng(0).integers(0, 100, (6, 40)).astype("int32")
    want = [next((v for v in row[::-1] if v > 50), -1) for row in a]
    for index_map in (
        lambda i, k: [k // 8, i, k % 8],
        lambda i, k: [i // 2, k, i % 2],
        lambda i, k: [5 - i, k],
    ):
        sch = Schedule(last_wins)
        sch.transform_block_layout("O", index_map)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), want)
    for index_map in (lambda i, k: [k % 8, i, k // 8], lambda i, k: [i, 39 - k]):
        refused(last_wins, "order-matters", "O", index_map)
    sch = Schedule(last_wins, enable_check=False)
    sch.transform_block_layout("O", lambda i, k: [i, 39 - k])

    @T.prim_func
    def scan(A: T.Buffer((33,), "int32")):
        for i in range(32):
            with T.block("A"):
                vi = T.axis.scan(32, i)
                A[vi + 1] = A[vi] + 1

    refused(scan, "mixed-axes", "A", lambda i: [31 - i])
    sch = Schedule(scan)
    sch.transform_block_layout("A", lambda i: [i])
    assert sch.get(sch.get_block("A")).iter_vars[0].kind == "scan"

    @T.prim_func
    def shifted(A: T.Buffer((5, 9), "int32")):
        for i, j in T.grid(4, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi + 1, vj + 1] = A[vi, vj] + 1

    assert "A[" in refused(shifted, "order-matters", "A", lambda i, j: [3 - i, j])
    for index_map in (lambda i, j: [i, j // 2, j % 2], lambda i, j: i * 8 + j):
        sch = Schedule(shifted)
        sch.transform_block_layout("A", index_map)
        x = rng(5, 9, dtype="int32")
        y = x.copy()
        for i in range(4):
            for j in range(8):
                y[i + 1, j + 1] = y[i, j] + 1
        np.testing.assert_array_equal(run(sch.mod, x), y)


def test_refusals() -> None:
    refused(matmul, "root-block", "root", list)
    refused(matmul, "bad-index-map", "C", lambda i, j: [i, j])
    refused(matmul, "bad-index-map", "C", 3)
    refused(matmul, "wrong-handle", 3, lambda i: i)
    refused(matmul, "not-bijective", "C", lambda i, j, k: [i, j])
    refused(matmul, "not-bijective", "C", lambda i, j, k: [i // 3, i % 3, j, k])
    refused(matmul, "mixed-axes", "C", lambda i, j, k: [i, j * 24 + k])

    def split(sch: Schedule) -> None:
        sch.split(sch.get_loops("C")[0], [None, 4])

    refused(matmul, "not-a-plain-nest", "C", lambda i, j, k: [j, i, k], prepare=split)
    refused(
        matmul,
        "not-a-plain-nest",
        "C",
        lambda i, j, k: [j, i, k],
        prepare=lambda s: s.parallel(s.get_loops("C")[0]),
    )
    note = lambda s: s.annotate(s.get_loops("C")[1], "x", 1)  # noqa: E731
    refused(matmul, "not-a-plain-nest", "C", lambda i, j, k: [j, i, k], prepare=note)

    @T.prim_func
    def shared(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4, 4), "int32")):
        for i in range(4):
            for j in range(4):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    A[vi, vj] = vi
            for j in range(4):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = vj

    refused(shared, "not-a-plain-nest", "A", lambda i, j: [j, i])

    @T.prim_func
    def reversed_axis(A: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, 3 - i)
                A[vi] = vi

    refused(reversed_axis, "not-a-plain-nest", "A", lambda i: [i // 2, i % 2])
