"""compute_inline: elementwise producers computed where they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, roundtrip, run, two_stages


def refused(program: Any, code: str, block: Any = "B") -> str:
    sch = Schedule(program)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.compute_inline(block)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    return str(caught.value)


def inlined(program: Any, want: Any, *arrays: Any, block: str = "B") -> Schedule:
    sch = Schedule(program)
    before = run(sch.mod, *arrays)
    sch.compute_inline(block)
    have = sch.mod["main"].without_attr("global_symbol")
    if want is not None:
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, *arrays), before)
    sch.undo()
    assert sch.get_block(block)
    sch.goto(1)
    return sch


def test_a_chain() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)

    sch = inlined(two_stages, want, rng(12, 10), np.zeros((12, 10), "float32"))
    with pytest.raises(ts.ScheduleError, match="unknown-block"):
        sch.compute_inline("B")


@T.prim_func
def stencil(A: T.Buffer((12,), "int32"), C: T.Buffer((10,), "int32"), D: T.Buffer((12,), "int32")):
    B = T.alloc_buffer((12,), "int32")
    for i in range(12):
        with T.block("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = A[vi] * 3 + vi
    for i in range(10):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            C[vi] = B[vi] + B[vi + 2]
    for i in range(12):
        with T.block("D"):
            vi = T.axis.spatial(12, i)
            D[vi] = B[11 - vi]


def test_shifted_reads_of_several_consumers() -> None:
    @T.prim_func
    def want(A: T.Buffer((12,), "int32"), C: T.Buffer((10,), "int32"), D: T.Buffer((12,), "int32")):
        for i in range(10):
            with T.block("C"):
                vi = T.axis.spatial(10, i)
                C[vi] = A[vi] * 3 + vi + (A[vi + 2] * 3 + (vi + 2))
        for i in range(12):
            with T.block("D"):
                vi = T.axis.spatial(12, i)
                D[vi] = A[11 - vi] * 3 + (11 - vi)

    a = rng(12, dtype="int32")
    inlined(stencil, want, a, np.zeros(10, "int32"), np.zeros(12, "int32"))


def test_into_a_reduction_and_an_index() -> None:
    @T.prim_func
    def f(P: T.Buffer((6,), "int32"), A: T.Buffer((6, 5), "int32"), O: T.Buffer((6,), "int32")):
        B = T.alloc_buffer((6,), "int32")
        for i in range(6):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                B[vi] = 5 - P[vi]
        for i, k in T.grid(6, 5):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[0:6, vk], B[0:6])
                T.writes(O[vi])
                with T.init():
                    O[vi] = B[vi]
                O[vi] = O[vi] + A[B[B[vi]], vk]

    p = np.array([5, 0, 2, 4, 1, 3], "int32")
    inlined(f, None, p, rng(6, 5, dtype="int32"), np.zeros(6, "int32"))


def test_after_an_uneven_split() -> None:
    sch = Schedule(two_stages)
    for loop, factor in zip(sch.get_loops("B"), (5, 3), strict=True):
        sch.split(loop, [None, factor])
    sch.compute_inline("B")
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


def test_symbolic_shapes() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 1), "float32")
        O = T.match_buffer(o, (n,), "float32")
        B = T.alloc_buffer((n, 1), "float32")
        for i, j in T.grid(n, 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, 0] = A[vi, vj] + T.float32(1)
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = B[vi, 0] * B[vi, 0]

    for n in (1, 7):
        inlined(f, None, rng(n, 1), np.zeros(n, "float32"))


def test_inside_a_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 3), "int32"), O: T.Buffer((4, 3), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                T.reads(A[0, 0:3])
                T.writes(O[vi, 0:3])
                B = T.alloc_buffer((3,), "int32")
                for j in range(3):
                    with T.block("B"):
                        vj = T.axis.spatial(3, j)
                        B[vj] = A[0, vj] + 1
                for j in range(3):
                    with T.block("O"):
                        vj = T.axis.spatial(3, j)
                        O[vi, vj] = B[2 - vj]

    inlined(f, None, rng(4, 3, dtype="int32"), np.zeros((4, 3), "int32"))


def test_an_output_and_the_root() -> None:
    assert "a parameter" in refused(two_stages, "not-allocated", "C")
    refused(two_stages, "root-block", "root")
    refused(two_stages, "wrong-handle", 3)


def test_a_reduction() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), O: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((4,), "int32")
        for i, k in T.grid(4, 8):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = B[vi] + 1

    refused(f, "inline-init")
    sch = Schedule(f)
    sch.decompose_reduction("B", sch.get_loops("B")[0])
    with pytest.raises(ts.ScheduleError, match="not-a-single-store"):
        sch.compute_inline("B_update")


def test_a_write_between() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 0
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert 'reads A, which block "A" may write' in refused(f, "read-overtakes-write")


def test_a_write_before_is_no_hindrance() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = A[vi] * 2
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    inlined(f, None, rng(8, dtype="int32"), np.zeros(8, "int32"))


def test_a_repeated_write() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((4, 8), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for t in range(4):
            for i in range(8):
                with T.block("A"):
                    vt, vi = T.axis.remap("OO", [t, i])
                    A[vi] = A[vi] + vt
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1
            for i in range(8):
                with T.block("O"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    O[vt, vi] = B[vi]

    refused(f, "read-overtakes-write")


def test_two_writers() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for i in range(4):
            with T.block("X"):
                vi = T.axis.spatial(4, i)
                B[vi] = 7
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[vi]

    assert 'also written by block "X"' in refused(f, "other-writer")


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(("size", "index", "code"), [
    (9, "vi + 1", "not-every-cell"), (9, "vi", "not-every-cell"), (8, "vi // 2", "not-every-cell"),
    (8, "0", "not-every-cell"),
])  # fmt: skip
def test_stores_that_miss_cells(size: int, index: str, code: str) -> None:
    f = ts.from_source(f"""\
@T.prim_func
def f(A: T.Buffer((8,), "int32"), O: T.Buffer((4,), "int32")):
    B = T.alloc_buffer(({size},), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[{index}] = A[vi] + 1
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            O[vi] = B[vi]
""")
    refused(f, code)


def test_a_guard() -> None:
    @T.prim_func
    def f(A: T.Buffer((5,), "int32"), O: T.Buffer((5,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                T.where(i < 5)
                B[vi] = A[vi] + 1
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial(5, i)
                O[vi] = B[vi]

    assert "i < 5" in refused(f, "guarded-producer")


def test_readers_that_are_not_single_elements() -> None:
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

    refused(f, "opaque-reader")


def test_nothing_would_be_left() -> None:
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = 1

    refused(f, "only-block")


def test_what_is_no_plain_store() -> None:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                if A[vi] > 0:
                    B[vi] = A[vi]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = B[vi]

    assert "an `if`" in refused(f, "not-a-single-store")


def test_a_value_from_an_inner_scratch() -> None:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((1,), "int32")
        with T.block("outer"):
            T.reads(A[0:4])
            T.writes(B[0])
            s = T.alloc_buffer((1,), "int32")
            s[0] = A[1] + A[2]
            with T.block("B"):
                B[0] = s[0] * 2
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = B[0]

    assert "exists only inside a block" in refused(f, "not-a-single-store")


def test_parameters_that_may_be_the_same_memory() -> None:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        T.func_attr({"tir.noalias": False})
        B = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[3 - vi]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = B[vi]

    refused(f, "read-overtakes-write")
    Schedule(f, enable_check=False).compute_inline("B")


def test_a_loop_without_an_axis() -> None:
    @T.prim_func
    def f(A: T.Buffer((3,), "int32"), O: T.Buffer((3,), "int32")):
        B = T.alloc_buffer((1,), "int32")
        for t in range(3):
            with T.block("B"):
                B[0] = A[t]
            with T.block("O"):
                vt = T.axis.spatial(3, t)
                O[vt] = B[0]

    assert "loop `t` without an axis" in refused(f, "not-a-single-store")


@pytest.mark.parametrize(("b", "axes", "loops", "index"), [
    ("(24,)", 'vi = T.axis.spatial(24, i)', "i in range(24)", "23 - vi"),
    ("(24,)", 'vi, vj = T.axis.remap("SS", [i, j])', "i, j in T.grid(4, 6)", "vi * 6 + vj"),
    ("(24,)", 'vi, vj = T.axis.remap("SS", [i, j])', "i, j in T.grid(4, 6)", "vj * 4 + vi"),
    ("(4, 6)", 'vi = T.axis.spatial(24, i)', "i in range(24)", "vi // 6, vi % 6"),
    ("(24,)", "vi = T.axis.spatial((3, 27), i + 3)", "i in range(24)", "vi - 3"),
])  # fmt: skip
def test_stores_at_other_indices_than_axes(b: str, axes: str, loops: str, index: str) -> None:
    read = "B[vo]" if b == "(24,)" else "B[vo // 6, vo % 6]"
    value = "A[vi] * 2" if "vj" not in axes else "A[vi] * 2 + A[vj]"
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((30,), "int32"), O: T.Buffer((24,), "int32")):
    B = T.alloc_buffer({b}, "int32")
    for {loops}:
        with T.block("B"):
            {axes}
            B[{index}] = {value}
    for o in range(24):
        with T.block("O"):
            vo = T.axis.spatial(24, o)
            O[vo] = {read} + 1
""")
    inlined(f, None, rng(30, dtype="int32"), np.zeros(24, "int32"))


def test_a_write_behind_all_readers() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = B[7 - vi]
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 0

    inlined(f, None, rng(8, dtype="int32"), np.zeros(8, "int32"))


def test_a_write_of_other_elements() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((4, 8), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for t in range(4):
            for i in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi] + 1
            for i in range(8):
                with T.block("A"):
                    vt, vi = T.axis.remap("OS", [t, i])
                    A[vi + 8] = A[vi + 8] * 2
            for i in range(8):
                with T.block("O"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    O[vt, vi] = B[vi]

    inlined(f, None, rng(16, dtype="int32"), np.zeros((4, 8), "int32"))


def test_a_value_from_an_inner_scratch_for_inner_readers() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 3), "int32"), O: T.Buffer((4, 3), "int32")):
        B = T.alloc_buffer((3,), "int32")
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.opaque(4, i)
                s = T.alloc_buffer((3,), "int32")
                for j in range(3):
                    with T.block("s"):
                        vj = T.axis.spatial(3, j)
                        s[vj] = A[vi, vj] * 2
                for j in range(3):
                    with T.block("B"):
                        vj = T.axis.spatial(3, j)
                        B[vj] = s[vj] + 1
                for j in range(3):
                    with T.block("O"):
                        vj = T.axis.spatial(3, j)
                        O[vi, vj] = B[2 - vj]

    inlined(f, None, rng(4, 3, dtype="int32"), np.zeros((4, 3), "int32"))
