"""reverse_compute_inline: elementwise consumers computed where their producer stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, roundtrip, run, two_stages


def inlined(program: Any, want: Any, *arrays: Any, block: str = "C") -> Schedule:
    sch = Schedule(program)
    before = run(sch.mod, *arrays)
    sch.reverse_compute_inline(block)
    if want is not None:
        have = sch.mod["main"].without_attr("global_symbol")
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, *arrays), before)
    with pytest.raises(ts.ScheduleError):
        sch.get_block(block)
    return sch


def refused(program: Any, code: str, block: Any = "C", *steps: Any) -> str:
    sch = Schedule(program)
    for step in steps:
        step(sch)
    before, count = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.reverse_compute_inline(block)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == count
    return str(caught.value)


def source(producer: str, consumer: str, b: str, c: str, extra: str = "") -> Any:
    """A function with a producer B and a consumer C, each given as loops, axes and a store."""
    return ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((8, 6), "int32"), C: T.Buffer({c}, "int32")):
    B = T.alloc_buffer({b}, "int32")
{producer}
{extra}
{consumer}
""")


ROWS = """\
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 3 + vi
"""


def test_a_chain() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)

    sch = inlined(two_stages, want, rng(12, 10), np.zeros((12, 10), "float32"))
    assert sch.get_loops("B")


def test_transposed_axes() -> None:
    @T.prim_func
    def want(A: T.Buffer((8, 6), "int32"), C: T.Buffer((6, 8), "int32")):
        for i, j in T.grid(8, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = A[vi, vj] * 3 + vi - vj

    consumer = """\
    for i, j in T.grid(6, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vj, vi] - vi
"""
    f = source(ROWS, consumer, "(8, 6)", "(6, 8)")
    inlined(f, want, rng(8, 6, dtype="int32"), np.zeros((6, 8), "int32"))


@pytest.mark.parametrize(("c", "loops", "axes", "store"), [
    ("(48,)", "i in range(48)", 'vi = T.axis.spatial(48, i)', "C[vi] = B[vi // 6, vi % 6] * vi"),
    ("(8, 2, 3)", "i, j, k in T.grid(8, 2, 3)", 'vi, vj, vk = T.axis.remap("SSS", [i, j, k])',
     "C[vi, vj, vk] = B[vi, vj * 3 + vk] - vk"),
    ("(8, 6)", "i, j in T.grid(8, 6)", 'vi, vj = T.axis.remap("SS", [i, j])',
     "C[7 - vi, vj] = B[7 - vi, vj]"),
    ("(8, 6)", "i, j in T.grid(8, 6)", 'vi, vj = T.axis.remap("SS", [i, j])',
     "C[vi, 5 - vj] = B[7 - vi, vj] + vi"),
    ("(8, 1, 6)", "i, j, k in T.grid(8, 1, 6)", 'vi, vj, vk = T.axis.remap("SSS", [i, j, k])',
     "C[vi, vj, vk] = B[vi, vk] + vj"),
    ("(24, 2)", "i, j in T.grid(24, 2)", 'vi, vj = T.axis.remap("SS", [i, j])',
     "C[vi, vj] = B[(vi * 2 + vj) // 6, (vi * 2 + vj) % 6]"),
])  # fmt: skip
def test_other_maps(c: str, loops: str, axes: str, store: str) -> None:
    consumer = f"""\
    for {loops}:
        with T.block("C"):
            {axes}
            {store}
"""
    shape = eval(c)
    inlined(source(ROWS, consumer, "(8, 6)", c), None, rng(8, 6, dtype="int32"), np.zeros(shape, "int32"))


def test_a_part_of_the_producer() -> None:
    @T.prim_func
    def want(A: T.Buffer((8, 6), "int32"), C: T.Buffer((5, 6), "int32")):
        for i, j in T.grid(8, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(2 <= i and i < 7)  # noqa: SIM300
                C[vi - 2, vj] = A[vi, vj] * 3 + vi

    consumer = """\
    for i, j in T.grid(5, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi + 2, vj]
"""
    inlined(
        source(ROWS, consumer, "(8, 6)", "(5, 6)"), want, rng(8, 6, dtype="int32"), np.zeros((5, 6), "int32")
    )  # fmt: skip


def test_a_guard_of_the_consumer() -> None:
    consumer = """\
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i + j < 9)
            C[vi, vj] = B[vi, vj] + 1
"""
    f = source(ROWS, consumer, "(8, 6)", "(8, 6)")
    sch = inlined(f, None, rng(8, 6, dtype="int32"), np.full((8, 6), -5, "int32"))
    assert "T.where(i + j < 9)" in sch.mod.script()


def test_split_loops_and_symbolic_shapes() -> None:
    @T.prim_func
    def f(a: T.handle, c: T.handle):
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "int32")
        C = T.match_buffer(c, (m, n), "int32")
        B = T.alloc_buffer((n, m), "int32")
        for i, j in T.grid(n, m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for i, j in T.grid(m, n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj, vi] * 2

    sch = Schedule(f)
    for block in "BC":
        sch.split(sch.get_loops(block)[0], [None, 4])
    sch.reverse_compute_inline("C")
    for n, m in ((1, 1), (7, 3), (8, 5)):
        a = rng(n, m, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((m, n), "int32")), ((a + 1) * 2).T)


def test_a_producer_of_several_buffers() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                P[vi] = A[vi] + 1
                B[vi] = A[vi] * 2
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + A[vi]

    inlined(f, None, rng(8, dtype="int32"), np.zeros(8, "int32"), np.zeros(8, "int32"))


def test_in_place() -> None:
    @T.prim_func
    def f(C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = C[vi] * 2
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + 1

    inlined(f, None, rng(8, dtype="int32"))
    other = ts.parse(
        f.script().replace("C[vi] * 2", "C[7 - vi] * 2").replace("T.reads(C[vi])", "T.reads(C[7 - vi])")
    )
    assert "other cells" in refused(other, "reversed-dependence")


# ---- refusals


def test_wrong_arguments() -> None:
    refused(two_stages, "wrong-handle", 3)
    refused(two_stages, "root-block", "root")
    refused(two_stages, "no-single-producer", "B")


@pytest.mark.parametrize(("store", "code"), [
    ("C[vi, vj] = B[vi, vj] + B[vi, 0]", "no-single-producer"),
    ("C[vi, vj] = B[vi, 0]", "not-invertible"),
    ("C[vi, vj] = B[vi, vj * vj]", "not-invertible"),
    ("C[vi, vj] = C[vi, vj] + B[vi, vj]", "not-a-single-store"),
])  # fmt: skip
def test_what_does_not_tell_the_axes(store: str, code: str) -> None:
    consumer = f"""\
    for i, j in T.grid(8, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            {store}
"""
    refused(source(ROWS, consumer, "(8, 6)", "(8, 6)"), code)


SAME = """\
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
"""


def test_a_reduction() -> None:
    producer = """\
    for i, j, k in T.grid(8, 6, 3):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = 0
            B[vi, vj] = B[vi, vj] + A[vi, vj] * vk
"""
    f = source(producer, SAME, "(8, 6)", "(8, 6)")
    assert "fuse_reduction_epilogue" in refused(f, "reduction-producer")
    refused(f, "not-a-single-producer", "C", lambda s: s.decompose_reduction("B", s.get_loops("B")[2]))


def test_other_users() -> None:
    extra = """\
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            A[vi, 0] = B[vi, 0]
"""
    refused(source(ROWS, SAME, "(8, 6)", "(8, 6)", extra), "other-reader")
    extra = extra.replace("A[vi, 0] = B[vi, 0]", "B[vi, 0] = 7")
    assert 'block "X"' in refused(source(ROWS, SAME, "(8, 6)", "(8, 6)", extra), "not-a-single-producer")


def test_statements_between() -> None:
    consumer = SAME.replace("+ 1", "+ A[vi, vj]")
    extra = """\
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            A[{}, 0] = 7
"""
    refused(source(ROWS, consumer, "(8, 6)", "(8, 6)", extra.format("vi")), "reversed-dependence")
    refused(source(ROWS, consumer, "(8, 6)", "(8, 6)", extra.format("A[vi, 1]")), "dependence-unknown")


def test_conditions_around() -> None:
    producer = (
        ROWS.replace('        with T.block("B")', '        if i < 8:\n          with T.block("B")')
        .replace("            v", "              v")
        .replace("            B[", "              B[")
    )
    refused(source(producer, SAME, "(8, 6)", "(8, 6)"), "statement-between")


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_cells_and_instances_that_are_missed() -> None:
    pad = """\
    for i, j in T.grid(10, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vi >= 1 and vi < 9, B[vi - 1, vj], 0)
"""
    refused(source(ROWS, pad, "(8, 6)", "(10, 6)"), "cells-missed")
    part = SAME.replace("T.grid(8, 6)", "T.grid(7, 6)").replace(
        'T.axis.remap("SS", [i, j])', "T.axis.spatial(8, i), T.axis.spatial(6, j)"
    )
    refused(source(ROWS, part, "(8, 6)", "(8, 6)"), "axis-not-covered")
    over = part.replace("T.grid(7, 6)", "T.grid(9, 6)")
    refused(source(ROWS, over, "(8, 6)", "(8, 6)"), "axis-overrun")
    odd = part.replace("T.grid(7, 6)", "T.grid(8, 6)").replace("(8, i)", "(8, T.max(i, A[0, 0]))")
    refused(source(ROWS, odd, "(8, 6)", "(8, 6)"), "cover-unknown")
    guard = (
        SAME.replace("T.grid(8, 6)", "T.grid(8, 6, 5000)")
        .replace("for i, j", "for i, j, k")
        .replace("            C[", "            T.where(i + k * j < 7)\n            C[")
    )
    refused(source(ROWS, guard, "(8, 6)", "(8, 6)"), "guarded-block")


def test_a_loop_without_an_axis() -> None:
    consumer = """\
    for i, j in T.grid(8, 6):
        with T.block("C"):
            C[i, j] = B[i, j] + 1
"""
    refused(source(ROWS, consumer, "(8, 6)", "(8, 6)"), "loop-without-axis")


def test_loops_around_both() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 8), "int32"), C: T.Buffer((3, 8), "int32")):
        B = T.alloc_buffer((3, 8), "int32")
        for t in range(3):
            for i in range(8):
                with T.block("B"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    B[vt, vi] = A[vt, vi] * 2
            for i in range(8):
                with T.block("C"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    C[vt, vi] = B[vt, vi] + 1

    inlined(f, None, rng(3, 8, dtype="int32"), np.zeros((3, 8), "int32"))
    other = ts.parse(
        f.script()
        .replace("B[vt, vi] + 1", "B[2 - vt, vi] + 1")
        .replace("T.reads(B[vt, vi])", "T.reads(B[2 - vt, vi])")
    )
    refused(other, "other-iteration")


def test_a_reader_that_sees_the_buffer_under_another_name() -> None:
    """A view of the producer's buffer is another reader, wherever its blocks are."""

    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32"), D: T.Buffer((4, 6), "int32")):
        B = T.alloc_buffer((4, 6), "int32")
        for i, j in T.grid(4, 6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                T.reads(B[vi, 0:6])
                T.writes(C[vi, 0:6])
                row = T.match_buffer(B[vi, 0:6], (6,), "int32", offset_factor=1)
                for j in range(6):
                    with T.block("inner"):
                        vj = T.axis.spatial(6, j)
                        C[vi, vj] = row[vj] * 2
        for i, j in T.grid(4, 6):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] - vj

    sch = Schedule(f)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.reverse_compute_inline("D")
    assert caught.value.code == "other-reader" and '"C"' in caught.value.message
    assert sch.mod["main"] is before and not sch.history
