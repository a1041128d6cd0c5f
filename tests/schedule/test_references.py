"""Handles: good as long as what they name stands in the tree, whatever happened in between."""

from __future__ import annotations

import pytest

import tirscript as ts
from tirscript.schedule import BlockRV, LoopRV, Schedule
from tirscript.script import tir as T

from .programs import matmul, two_stages


def test_loops_keep_or_lose_their_identity() -> None:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.reorder(k, i, j)
    sch.unroll(k)
    sch.annotate(i, "note", 1)
    sch.unannotate(i, "note")
    assert sch.get_loops(block) == [k, i, j]
    j0, j1 = sch.split(j, [None, 4])
    assert sch.get_loops(block) == [k, i, j0, j1]
    fused = sch.fuse(i, j0)
    assert sch.get_loops(block) == [k, fused, j1]
    assert sch.get(fused).loop_var.name == "i_j_0_fused"
    assert [type(x) for x in (block, fused)] == [BlockRV, LoopRV]
    assert repr(block) == "BlockRV('C')" and repr(j1) == "LoopRV(j_1)"


def test_an_expired_handle_says_which_step_replaced_it() -> None:
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    sch.reorder(j, i)
    sch.split(i, [None, 5])
    with pytest.raises(ts.ScheduleError) as caught:
        sch.parallel(i)
    assert caught.value.code == "expired-reference"
    assert caught.value.message == (
        "loop `i` no longer exists: step 2, split(i, [None, 5]), replaced it by `i_0`, `i_1`"
    )
    sch.undo()
    sch.parallel(i)


def test_a_handle_of_an_undone_step() -> None:
    sch = Schedule(matmul)
    i, _, _ = sch.get_loops("C")
    i0, _ = sch.split(i, [None, 4])
    sch.undo()
    with pytest.raises(ts.ScheduleError) as caught:
        sch.unroll(i0)
    assert caught.value.message == (
        "loop `i_0` no longer exists: step 1, split(i, [None, 4]), which made it, was undone"
    )
    sch.goto(1)
    sch.unroll(i0)


def test_handles_are_good_in_a_copy_and_in_another_schedule_of_the_program() -> None:
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    i0, _ = sch.split(i, [None, 4])
    copy = sch.copy()
    copy.parallel(i0)
    copy.vectorize(j)
    assert sch.get(i0).kind == "serial" and copy.get(i0).kind == "parallel"
    assert len(sch.history) == 1 and len(copy.history) == 3
    copy.undo(2)
    ts.assert_structural_equal(copy.mod, sch.mod)
    other = Schedule(matmul)
    other.unroll(j)
    assert other.get(j).kind == "unrolled"


def test_wrong_kinds_of_handles() -> None:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i = sch.get_loops(block)[0]
    for call in (
        lambda: sch.split(block, [None, 4]),  # type: ignore[arg-type]
        lambda: sch.parallel("i"),  # type: ignore[arg-type]
        lambda: sch.reorder(i, 3),  # type: ignore[arg-type]
        lambda: sch.get_loops(i),  # type: ignore[arg-type]
        lambda: sch.annotate(None, "a", 1),  # type: ignore[arg-type]
        lambda: sch.get(3.5),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, ts.ScheduleError) and caught.value.code == "wrong-handle"
    assert len(sch.history) == 0


def test_names_that_are_none() -> None:
    sch = Schedule(matmul)
    for call in (
        lambda: sch.get_block(3),  # type: ignore[arg-type]
        lambda: sch.get_block("C", 3),  # type: ignore[arg-type]
        lambda: sch.work_on([]),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, ts.ScheduleError) and caught.value.code == "bad-name"
    assert sch.get_block("C", sch.func_working_on).name == "C"  # type: ignore[arg-type]


def test_get_and_get_sref() -> None:
    sch = Schedule(two_stages)
    block = sch.get_block("B")
    i, _ = sch.get_loops(block)
    place = sch.get_sref(i)
    assert place.stmt is sch.get(i)
    assert place.parent is not None and place.parent.parent is not None
    assert place.parent.parent.stmt.name == "root"
    assert sch.get(place) is sch.get(i)
    assert sch.get_sref(sch.get(block)).stmt is sch.get(block)
    old = sch.get(i)
    sch.unroll(i)
    with pytest.raises(ts.ScheduleError, match="unknown-reference"):
        sch.get_sref(old)


def test_blocks_of_one_name() -> None:
    @T.prim_func
    def g(O: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("same"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi
        for j in range(4):
            with T.block("same"):
                vi = T.axis.spatial(4, j)
                P[vi] = vi

    sch = Schedule(g)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.get_block("same")
    assert caught.value.code == "ambiguous-block"
    assert caught.value.message == '2 blocks are called "same": one under i; one under j'
    first, second = sch.get_child_blocks(sch.get_block("root"))
    sch.unroll(sch.get_loops(second)[0])
    assert sch.get(sch.get_loops(first)[0]).kind == "serial"


def test_a_misspelt_block_name() -> None:
    sch = Schedule(two_stages)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.get_block("b")
    text = str(caught.value)
    assert 'there is no block "b"; the blocks are "root", "B", "C"' in text
    assert "did you mean `B`?" in text


def test_a_function_without_blocks() -> None:
    @T.prim_func
    def plain(O: T.Buffer((4,), "int32")):
        for i in range(4):
            O[i] = i

    sch = Schedule(plain)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.get_block("O")
    assert "the blocks are none" in str(caught.value) and "T.block" in str(caught.value)


def test_producers_and_consumers() -> None:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        B = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] + 1
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = B[vi] * B[3 - vi]

    sch = Schedule(f)
    b, o = sch.get_block("B"), sch.get_block("O")
    assert sch.get_producers(o) == [b] and sch.get_consumers(b) == [o]
    assert sch.get_producers(b) == [] and sch.get_consumers(o) == []
    root = sch.get_block("root")
    assert sch.get_child_blocks(root) == [b, o]
    assert sch.get_child_blocks(sch.get_loops(b)[0]) == [b]
    assert sch.get_output_blocks(root) == [o]
    with pytest.raises(ts.ScheduleError, match="no-scope"):
        sch.get_producers(root)
