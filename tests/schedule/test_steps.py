"""Named steps, which may be made again, and the tree of loops and blocks."""

from __future__ import annotations

from typing import Any

import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, two_stages


def tile(sch: Schedule, inner: int) -> Any:
    """A cell of a notebook."""
    with sch.step("tile"):
        i, j, k = sch.get_loops("C")
        j0, j1 = sch.split(j, [None, inner])
        sch.reorder(i, j0, k, j1)
    return i, j0, k, j1


def test_a_cell_that_runs_twice() -> None:
    sch = Schedule(matmul)
    once = Schedule(matmul)
    i, _, _, j1 = tile(once, 4)
    once.vectorize(j1)
    once.parallel(i)
    i, _, _, j1 = tile(sch, 4)
    i, _, _, j1 = tile(sch, 4)
    with sch.step("lanes"):
        sch.vectorize(j1)
    sch.parallel(i)
    ts.assert_structural_equal(sch.mod, once.mod)
    tile(sch, 4)  # what came later is done again
    ts.assert_structural_equal(sch.mod, once.mod)
    assert [s.text for s in sch.history] == [
        "split(j, [None, 4])", "reorder(i, j_0, k, j_1)", "vectorize(j_1)", "parallel(i)",
    ]  # fmt: skip
    # Handles from the first time mean the new loops.
    assert sch.get(j1).kind == "vectorized" and sch.get(j1).loop_var is not j1.token
    with sch.step("lanes"):
        sch.unroll(j1)
    assert sch.get(j1).kind == "unrolled"
    assert [s.text for s in sch.history][2:] == ["unroll(j_1)", "parallel(i)"]


def test_another_tile_under_the_same_later_steps() -> None:
    sch = Schedule(matmul)
    i, _, _, j1 = tile(sch, 4)
    sch.vectorize(j1)
    sch.decompose_reduction("C", sch.get_loops("C")[2])
    tile(sch, 8)  # now with a guard
    want = Schedule(matmul)
    i, _, _, j1 = tile(want, 8)
    want.vectorize(j1)
    want.decompose_reduction("C", want.get_loops("C")[2])
    ts.assert_structural_equal(sch.mod, want.mod)
    sch.undo(2)
    sch.goto(4)
    ts.assert_structural_equal(sch.mod, want.mod)


def test_what_cannot_be_done_again_leaves_all_as_it_was() -> None:
    sch = Schedule(matmul)
    _, _, _, j1 = tile(sch, 4)
    sch.unroll(j1)
    before, count = sch.mod["main"], len(sch.trace)
    with pytest.raises(ts.ScheduleError, match="step-not-replayed") as e, sch.step("tile"):
        sch.parallel(sch.get_loops("C")[0])  # there is no j_1 any more
    assert "tile" in str(e.value) and "j_1" in str(e.value)
    assert sch.mod["main"] is before and len(sch.history) == 3 and len(sch.trace) == count
    with pytest.raises(KeyError), sch.step("tile"):
        sch.parallel(sch.get_loops("C")[0])
        raise KeyError("the cell's own")
    assert sch.mod["main"] is before and len(sch.history) == 3
    sch.undo()
    assert sch.get(j1).kind == "serial"


def test_samples_keep_their_decisions() -> None:
    sch = Schedule(matmul, seed=4)
    with sch.step("unroll"):
        sch.unroll(sch.get_loops("C")[2])
    factors = sch.sample_perfect_tile(sch.get_loops("C")[0], 2)
    sch.split(sch.get_loops("C")[0], factors)
    script = sch.mod.script()
    for _ in range(3):
        with sch.step("unroll"):
            sch.unroll(sch.get_loops("C")[2])
        assert sch.mod.script() == script


def test_after_undo() -> None:
    sch = Schedule(matmul)
    tile(sch, 4)
    sch.undo(1)
    i, _, _, j1 = tile(sch, 4)  # the half that was left is replaced
    sch.vectorize(j1)
    assert [s.text for s in sch.history] == [
        "split(j, [None, 4])",
        "reorder(i, j_0, k, j_1)",
        "vectorize(j_1)",
    ]
    sch.goto(0)
    tile(sch, 2)
    assert len(sch.history) == 2


@pytest.mark.parametrize("name", ["", None, 3])
def test_names_of_steps(name: Any) -> None:
    with pytest.raises(TypeError, match="bad-step-name"):
        Schedule(matmul).step(name)


def test_steps_do_not_nest() -> None:
    sch = Schedule(matmul)
    with sch.step("a"):
        with pytest.raises(ts.ScheduleError, match="nested-step"), sch.step("b"):
            pass
        sch.unroll(sch.get_loops("C")[2])
    assert len(sch.history) == 1


def test_the_tree() -> None:
    sch = Schedule(two_stages)
    i, j = sch.get_loops("C")
    sch.split(j, [None, 4])
    sch.bind(i, "threadIdx.x")
    sch.annotate("B", "note", 1)
    text = str(sch.tree())
    assert "for i: " in text and ", threadIdx.x" in text and 'block "B"' in text and "note = 1" in text
    assert "where j_0 * 4 + j_1 < " in text or "j_0" in text
    html = sch.tree().html()
    assert html.count("<details") >= 4 and "threadIdx.x" in html and "<style" not in html
    assert repr(sch.tree()) == text


def test_the_tree_of_a_program_with_all_in_it() -> None:
    @T.prim_func
    def f(a: T.handle, O: T.Buffer((8,), "int32"), k: T.int32):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "int32")
        S = T.alloc_buffer((8,), "int32", scope="shared")
        if k > 0:
            for i in range(2, 8, 2):
                with T.block("S"):
                    vi = T.axis.spatial(8, i)
                    S[vi] = A[0, vi]
        else:
            for i in T.serial(8):
                with T.block("Z"):
                    vi = T.axis.spatial(8, i)
                    T.where(i < k)
                    S[vi] = 0
        for i, j in T.grid(8, n):
            with T.block("O"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    O[vi] = S[vi]
                O[vi] = O[vi] + A[vj, vi]

    text = str(Schedule(f).tree())
    assert text.splitlines()[0] == (
        "f(A: int32[n, 8], O: int32[8], k: int32)  allocates S: int32[8] in shared"
    )
    for part in (
        "if k > 0", "else", "for i: range(2, 8, 2)", 'block "Z"',
        "where i < k", "S[vi] (shared)", "vi:S, vj:R",
        "for j: n", "init",
    ):  # fmt: skip
        assert part in text, part
