"""Faults that users met with layouts and copies of buffers, with the right values."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import run


@T.prim_func
def reversed_stage(A: T.Buffer((14,), "int32"), O: T.Buffer((14,), "int32")):
    B = T.alloc_buffer((14,), "int32")
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi] * 3
    for i in range(14):
        with T.block("O"):
            vi = T.axis.spatial(14, i)
            O[vi] = B[13 - vi] + 1


def test_an_uneven_layout_then_a_sum() -> None:
    a = np.arange(14, dtype="int32")
    want = (a * 3)[::-1] + 1
    for pad in (None, 77):
        sch = Schedule(reversed_stage)
        try:
            sch.transform_layout("B", ("write", 0), lambda i: [i // 4, i % 4], pad_value=pad)
        except ts.ScheduleError:
            assert pad is None
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(14, "int32")), want)
    sch = Schedule(reversed_stage)
    sch.transform_layout("O", ("read", 0), lambda i: [i % 7, i // 7])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(14, "int32")), want)


@pytest.mark.parametrize("which", [("read", 0), ("read", 1), ("write", 0), "map"])
def test_reindex_of_a_block_with_init(which: Any) -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 4), "int32"), C: T.Buffer((4, 6), "int32")):
        for i, j, k in T.grid(6, 4, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vj, vi] = 0
                C[vj, vi] = C[vj, vi] + A[vi, vk] * B[vk, vj]

    a = np.arange(30, dtype="int32").reshape(6, 5)
    b = np.arange(20, dtype="int32").reshape(5, 4)
    sch = Schedule(f)
    if which == "map":
        sch.reindex_cache_write("C", 0, "global", lambda i, j, k: (j, i))
    else:
        sch.reindex("C", which)
    np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros((4, 6), "int32")), (a @ b).T)


def test_an_output_that_is_written_in_part() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
        for i in range(16):
            with T.block("O"):
                vi = T.axis.spatial(16, i)
                T.where(i % 4 != 1)
                O[vi] = A[vi] * 2

    a = np.arange(16, dtype="int32")
    want = np.where(np.arange(16) % 4 != 1, a * 2, -7)
    sch = Schedule(f)
    sch.cache_write("O", 0, "global")
    np.testing.assert_array_equal(run(sch.mod, a, np.full(16, -7, "int32")), want)


def test_a_block_with_two_outputs() -> None:
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), P: T.Buffer((10,), "int32"), Q: T.Buffer((10,), "int32")):
        X = T.alloc_buffer((10,), "int32")
        Y = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("XY"):
                vi = T.axis.spatial(10, i)
                X[vi] = A[vi] + 1
                Y[9 - vi] = A[vi] * 2
        for i in range(10):
            with T.block("P"):
                vi = T.axis.spatial(10, i)
                P[vi] = X[vi] - 3
        for i in range(10):
            with T.block("Q"):
                vi = T.axis.spatial(10, i)
                Q[vi] = Y[vi] + X[0]

    a = np.arange(10, dtype="int32") * 7
    for step in range(4):
        sch = Schedule(f)
        if step < 2:
            sch.cache_write("XY", step, "global")
        elif step == 2:
            sch.reindex("XY", ("write", 1))
        else:
            sch.transform_layout("XY", "Y", lambda i: (i % 5, i // 5))
        for target in ("python", "llvm"):
            p, q = np.zeros(10, "int32"), np.zeros(10, "int32")
            ts.build(sch.mod, target=target)(a, p, q)
            np.testing.assert_array_equal(p, a - 2)
            np.testing.assert_array_equal(q, a[::-1] * 2 + a[0] + 1)


@pytest.mark.parametrize("step", range(3))
def test_reversed_bindings(step: int) -> None:
    @T.prim_func
    def f(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
        for i, j in T.grid(3, 4):
            with T.block("O"):
                v = T.axis.spatial((2, 14), 13 - (i * 4 + j))
                O[v] = A[19 - v] * 2

    a = np.arange(20, dtype="int32")
    want = np.full(20, -1)
    want[2:14] = 2 * a[::-1][2:14]
    sch = Schedule(f)
    if step == 0:
        sch.cache_read("O", 0, "global")
        sch.transform_layout("O", ("read", 0), lambda p: [p // 5, p % 5], pad_value=0)
    elif step == 1:
        sch.cache_write("O", 0, "global")
    else:
        sch.reindex("O", ("read", 0))
        sch.reindex("O", ("write", 0))
    np.testing.assert_array_equal(run(sch.mod, a, np.full(20, -1, "int32")), want)


def test_a_reversed_strided_window() -> None:
    @T.prim_func
    def f(A: T.Buffer((33,), "int32"), O: T.Buffer((12, 4), "int32")):
        for j, i in T.grid(4, 12):
            with T.block("O"):
                vj, vi = T.axis.remap("SS", [j, i])
                O[vi, vj] = A[21 - vj * 5 + vi]

    a = np.arange(33, dtype="int32")
    i, j = np.ogrid[:12, :4]
    for level in range(-1, 2):
        sch = Schedule(f)
        if level < 0:
            sch.cache_read("O", 0, "global")
        else:
            sch.read_at(sch.get_loops("O")[level], "O", 0, "global")
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 4), "int32")), a[21 - 5 * j + i])


def test_a_trace_with_an_index_map() -> None:
    @T.prim_func
    def f(A: T.Buffer((12, 16), "float32"), O: T.Buffer((12, 16), "float32")):
        for i, j in T.grid(12, 16):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj] * T.float32(2)

    sch = Schedule(f)
    block = sch.get_block("O")
    i, _ = sch.get_loops(block)
    i0, _ = sch.split(i, factors=[None, 4])
    sch.cache_read(block, 0, "global")
    sch.transform_layout(block, ("read", 0), lambda p, q: [q, p])
    sch.annotate(i0, "w", 2.0)
    sch.annotate(i0, "l", [1, 2, 3])
    again = Schedule(f)
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    ts.assert_structural_equal(again.mod, sch.mod)
    read = Schedule(f)
    ts.Trace.apply_json_to_schedule(sch.trace.as_json(), read)
    ts.assert_structural_equal(read.mod, sch.mod)


@pytest.mark.parametrize("unit", range(6))
def test_unit_extents_everywhere(unit: int) -> None:
    @T.prim_func
    def f(A: T.Buffer((1, 4, 1), "int32"), O: T.Buffer((1, 4), "int32")):
        B = T.alloc_buffer((1, 4), "int32")
        for b, i, k in T.grid(1, 4, 1):
            with T.block("B"):
                vb, vi, vk = T.axis.remap("SSR", [b, i, k])
                with T.init():
                    B[vb, vi] = 0
                B[vb, vi] = B[vb, vi] + A[vb, vi, vk]
        for b, i in T.grid(1, 4):
            with T.block("O"):
                vb, vi = T.axis.remap("SS", [b, i])
                O[vb, vi] = B[vb, vi] + 1

    sch = Schedule(f)
    steps: list[Any] = [
        lambda: sch.cache_read("B", 0, "local"),
        lambda: sch.cache_write("B", 0, "local"),
        lambda: sch.reindex("B", ("read", 0)),
        lambda: sch.reindex("B", ("write", 0)),
        lambda: sch.transform_block_layout("B", lambda b, i, k: [i, k, b]),
        lambda: sch.transform_layout("B", "B", lambda b, i: [i, b]),
    ]
    steps[unit]()
    for step in steps:
        with contextlib.suppress(ts.ScheduleError):
            step()
    a = np.arange(4, dtype="int32").reshape(1, 4, 1)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((1, 4), "int32")), a[:, :, 0] + 1)


@pytest.mark.parametrize("extents", [(0, 4), (4, 0), (0, 0)])
def test_empty_extents(extents: tuple[int, int]) -> None:
    n, m = extents

    @T.prim_func
    def f(A: T.Buffer((n, m), "int32"), O: T.Buffer((n, m), "int32")):
        B = T.alloc_buffer((n, m), "int32")
        for i, j in T.grid(n, m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for i, j in T.grid(n, m):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[vi, vj] + 1

    sch = Schedule(f)
    steps: list[Any] = [
        lambda: sch.transform_layout("B", "B", lambda i, j: [j, i]),
        lambda: sch.transform_layout("B", "B", lambda i, j: [i // 2, j, i % 2], pad_value=0),
        lambda: sch.cache_read("O", 0, "local"),
        lambda: sch.cache_write("B", 0, "local"),
        lambda: sch.reindex("O", ("read", 0)),
        lambda: sch.reindex("B", ("write", 0)),
        lambda: sch.cache_index("O", "local"),
        lambda: sch.transform_block_layout("O", lambda i, j: [j, i]),
    ]
    for step in steps:
        with contextlib.suppress(ts.ScheduleError):
            step()
    ts.build(sch.mod)(np.zeros(extents, "int32"), np.zeros(extents, "int32"))
