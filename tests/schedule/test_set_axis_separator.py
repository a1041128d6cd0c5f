"""set_axis_separator: groups of dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run, two_stages


def test_a_stage() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32", axis_separators=[1])
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    a = rng(12, 10)
    for block, which in (("B", ("write", 0)), ("C", ("read", 0)), ("C", "B")):
        sch = Schedule(two_stages)
        sch.set_axis_separator(block, which, [1])
        ts.assert_structural_equal(
            sch.mod["main"].without_attr("global_symbol"), want.without_attr("global_symbol")
        )
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_parameters() -> None:
    sch = Schedule(matmul)
    loops = sch.get_loops("C")
    sch.set_axis_separator("C", "A", [0, 1])
    sch.set_axis_separator("C", "C", [2])
    sch.set_axis_separator("C", "C", [])
    assert [b.axis_separators for b in sch.mod["main"].buffers] == [(0, 1), (), ()]
    assert sch.get_loops("C") == loops
    roundtrip(sch.mod)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_a_layout_drops_them() -> None:
    sch = Schedule(two_stages)
    sch.set_axis_separator("B", "B", [1])
    sch.transform_layout("B", "B", lambda i, j: [j, i])
    assert sch.get(sch.get_block("root")).alloc_buffers[0].axis_separators == ()


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((3, "A", [1]), "wrong-handle"),
        (("B", "X", [1]), "no-such-buffer"),
        (("B", 0, [1]), "bad-buffer-index"),
        (("B", "A", 1), "bad-separators"),
        (("B", "A", ["1"]), "bad-separators"),
        (("B", "A", [3]), "bad-separators"),
        (("B", "A", [-1]), "bad-separators"),
        (("B", "A", [1, 1]), "bad-separators"),
    ],
)
def test_refusals(args: Any, code: str) -> None:
    sch = Schedule(two_stages)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.set_axis_separator(*args)
    assert caught.value.code == code
    assert sch.mod["main"] is before and len(sch.history) == 0


def test_views_keep_theirs() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(A[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    with T.block("O"):
                        vj = T.axis.spatial(4, j)
                        O[vi, vj] = row[vj]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.set_axis_separator("O", ("read", 0), [0])
    assert caught.value.code == "not-allocated"
    sch.set_axis_separator("outer", "A", [1])
    roundtrip(sch.mod)
    a = rng(4, 4, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 4), "int32")), a)
