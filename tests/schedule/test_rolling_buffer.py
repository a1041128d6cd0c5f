"""rolling_buffer: producers that compute only what the last iteration did not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, roundtrip, run

pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")


@T.prim_func
def window(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((10,), "int32")
    for i in range(10):
        with T.block("B"):
            vi = T.axis.spatial(10, i)
            B[vi] = A[vi] * 2 + A[vi + 2]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] - B[vi + 1] + B[vi + 2] * 3


@T.prim_func
def pools(A: T.Buffer((12, 12), "int32"), C: T.Buffer((8, 8), "int32")):
    B = T.alloc_buffer((10, 10), "int32")
    for i, j, k, l in T.grid(10, 10, 3, 3):
        with T.block("B"):
            vi, vj, vk, vl = T.axis.remap("SSRR", [i, j, k, l])
            with T.init():
                B[vi, vj] = -100
            B[vi, vj] = T.max(B[vi, vj], A[vi + vk, vj + vl])
    for i, j, k, l in T.grid(8, 8, 3, 3):
        with T.block("C"):
            vi, vj, vk, vl = T.axis.remap("SSRR", [i, j, k, l])
            with T.init():
                C[vi, vj] = -100
            C[vi, vj] = T.max(C[vi, vj], B[vi + vk, vj + vl])


def rolled(sch: Schedule, want: Any, *arrays: Any) -> Schedule:
    before = run(sch.mod, *arrays)
    sch.rolling_buffer("B", 0)
    if want is not None:
        have = sch.mod["main"].without_attr("global_symbol")
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, *arrays), before)
    return sch


def refused(sch: Schedule, code: str, block: Any = "B", index: Any = 0) -> str:
    before, count = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.rolling_buffer(block, index)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == count
    return str(caught.value)


def at(program: Any, loop: int, *steps: Any) -> Schedule:
    sch = Schedule(program)
    for step in steps:
        step(sch)
    sch.compute_at("B", sch.get_loops("C")[loop])
    return sch


def test_one_dimension() -> None:
    @T.prim_func
    def want(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((3,), "int32")
        for i in range(8):
            for ax0 in range(3):
                with T.block("B"):
                    vi = T.axis.opaque(10, i + ax0)
                    T.where(i < 1 or 2 <= ax0)  # noqa: SIM300
                    T.reads(A[vi : vi + 3])
                    T.writes(B[vi % 3])
                    B[vi % 3] = A[vi] * 2 + A[vi + 2]
            with T.block("C"):
                vi = T.axis.opaque(8, i)
                C[vi] = B[vi % 3] - B[(vi + 1) % 3] + B[(vi + 2) % 3] * 3

    rolled(at(window, 0), want, rng(12, dtype="int32"), np.zeros(8, "int32"))


def test_a_reduction_in_tiles() -> None:
    sch = at(pools, 0, lambda s: s.split(s.get_loops("C")[0], [None, 4]))
    rolled(sch, None, rng(12, 12, dtype="int32"), np.zeros((8, 8), "int32"))
    block = sch.get(sch.get_block("B"))
    assert [n.value for n in block.writes[0].buffer.shape] == [6, 10]
    assert [iv.kind for iv in block.iter_vars] == ["opaque", "spatial", "reduce", "reduce"]
    assert "T.where(i_0 < 1 or 2 <= ax0)" in sch.mod.script()


@pytest.mark.parametrize("outer", ["i", "j"])
def test_two_dimensions(outer: str) -> None:
    def tiles(s: Schedule) -> None:
        i, j = s.get_loops("C")[:2]
        (i_0, i_1), (j_0, j_1) = s.split(i, [None, 4]), s.split(j, [None, 2])
        s.reorder(*((i_0, j_0) if outer == "i" else (j_0, i_0)), i_1, j_1)

    sch = rolled(at(pools, 1, tiles), None, rng(12, 12, dtype="int32"), np.zeros((8, 8), "int32"))
    shape = [n.value for n in sch.get(sch.get_block("B")).writes[0].buffer.shape]
    assert shape == ([6, 10] if outer == "i" else [10, 4])


def test_an_uneven_tile_and_a_repeated_sweep() -> None:
    sch = at(window, 0, lambda s: s.split(s.get_loops("C")[0], [None, 3]))
    rolled(sch, None, rng(12, dtype="int32"), np.zeros(8, "int32"))
    # Under the inner of two loops the window starts anew with each iteration of the outer one.
    sch = at(window, 1, lambda s: s.split(s.get_loops("C")[0], [None, 4]))
    rolled(sch, None, rng(12, dtype="int32"), np.zeros(8, "int32"))


def test_the_order_matters_now() -> None:
    sch = at(window, 0)
    loop = sch.get_loops("C")[0]
    sch.rolling_buffer("B", "B")
    with pytest.raises(ts.ScheduleError):
        sch.parallel(loop)


# ---- refusals


def test_wrong_arguments() -> None:
    refused(at(window, 0), "wrong-handle", 3)
    refused(at(window, 0), "root-block", "root")
    refused(at(window, 0), "no-such-buffer", index=1)
    refused(at(window, 0), "no-such-buffer", index="X")
    refused(at(window, 0), "bad-buffer-index", index=1.5)
    refused(at(window, 0), "not-allocated", "C")


def test_nothing_overlaps() -> None:
    refused(Schedule(window), "no-rolling-loop")

    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), C: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = B[vi * 2] + B[vi * 2 + 1]

    refused(at(f, 0), "no-rolling-loop")


def test_an_index_that_is_no_axis() -> None:
    text = (
        window.script()
        .replace("B[vi] = A[vi] * 2", "B[9 - vi] = A[vi] * 2")
        .replace("T.writes(B[vi])", "T.writes(B[9 - vi])")
    )
    refused(at(ts.parse(text), 0), "index-no-axis")


def test_a_parallel_loop() -> None:
    sch = at(window, 0, lambda s: s.parallel(s.get_loops("C")[0]))
    assert "parallel" in refused(sch, "loop-not-serial")


def test_inputs_that_change() -> None:
    @T.prim_func
    def f(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((10,), "int32")
        for i in range(8):
            for ax0 in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(10, i + ax0)
                    B[vi] = A[vi]
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + B[vi + 2]
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi + 1] = 7

    assert 'block "A"' in refused(Schedule(f), "inputs-change")


def test_updates() -> None:
    @T.prim_func
    def f(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((10,), "int32")
        for i in range(8):
            for ax0 in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(10, i + ax0)
                    B[vi] = B[vi] + A[vi]
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + B[vi + 2]

    refused(Schedule(f), "not-recomputable")


@pytest.mark.parametrize(
    ("where", "code"),
    [("i + ax0 < 9", None), ("i * 2 + ax0 < 9", "guarded-block"), ("ax0 < 2", "guarded-block")],
)
def test_conditions(where: str, code: str | None) -> None:
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((10,), "int32")
    for i in range(8):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(10, i + ax0)
                T.where({where})
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 7, B[vi] + B[vi + 2], 0)
""")
    if code is None:
        rolled(Schedule(f), None, rng(12, dtype="int32"), np.zeros(8, "int32"))
    else:
        refused(Schedule(f), code)


@pytest.mark.parametrize(("read", "code"), [
    ("B[vi + 2]", None), ("B[vi] + B[0]", "outside-window"), ("B[(vi * 3) % 8]", "outside-window"),
])  # fmt: skip
def test_reads_outside_the_window(read: str, code: str | None) -> None:
    f = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((10,), "int32")
    for i in range(8):
        for ax0 in range(3):
            with T.block("B"):
                vi = T.axis.spatial(10, i + ax0)
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = {read}
""")
    if code is None:
        rolled(Schedule(f), None, rng(12, dtype="int32"), np.zeros(8, "int32"))
    else:
        refused(Schedule(f), code)


def test_other_users() -> None:
    @T.prim_func
    def f(A: T.Buffer((12,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("Z"):
                vi = T.axis.spatial(10, i)
                B[vi] = 0
        for i in range(8):
            for ax0 in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(10, i + ax0)
                    B[vi] = A[vi]
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + B[vi + 2]

    assert 'block "Z"' in refused(Schedule(f), "used-otherwise")
