"""Steps: the table, undo and goto, the difference, copies, transactions."""

from __future__ import annotations

from typing import Any

import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.schedule.primitives import unroll
from tirscript.schedule.record.trace import InstructionKind

from .programs import matmul


def steps() -> Schedule:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops(sch.get_block("C"))
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.vectorize(j1)
    return sch


def test_the_table() -> None:
    sch = steps()
    sch.undo()
    assert str(sch.history) == (
        "step  call                     result\n"
        "   1  split(j, [None, 4])      j_0, j_1\n"
        "   2  reorder(i, j_0, k, j_1)\n"
        " (3)  vectorize(j_1)"
    )
    assert len(sch.history) == 2 and sch.history[-1].text == "reorder(i, j_0, k, j_1)"
    assert [s.changed for s in sch.history.all] == [
        ["loop `j` → `j_0`, `j_1`"],
        ["order `k`, `j_1`"],
        ["`j_1` vectorized"],
    ]
    assert all(0 < (s.seconds or 0) < 10 for s in sch.history)
    assert str(Schedule(matmul).history) == "no steps yet"
    assert repr(sch) == "Schedule(matmul: 2 steps)"


def test_undo_and_goto() -> None:
    sch = steps()
    programs = [sch.mod["main"]]
    for n in (2, 1, 0):
        sch.undo()
        assert len(sch.history) == n
        programs.append(sch.mod["main"])
    assert programs[-1] is matmul
    for n in (3, 1, 2, 0, 3):
        sch.goto(n)
        assert sch.mod["main"] is programs[3 - n]
    sch.goto(1)
    b = sch.get_block("C")  # looking does not cut off what was undone
    sch.goto(3)
    assert sch.mod["main"] is programs[0]
    sch.goto(1)
    sch.unroll(sch.get_loops(b)[0])  # a new step does
    assert [s.text for s in sch.history] == ["split(j, [None, 4])", "unroll(i)"]
    with pytest.raises(ts.ScheduleError, match="no-such-step"):
        sch.goto(3)


@pytest.mark.parametrize("wrong", [-1, 4, "1", None, 2.0])
def test_steps_that_are_not_there(wrong: Any) -> None:
    sch = steps()
    for call in (sch.goto, sch.undo, sch.diff):
        if wrong is None and call == sch.diff:
            continue  # the last step
        with pytest.raises(ts.ScheduleError, match="no-such-step"):
            call(wrong)
    with pytest.raises(ts.ScheduleError, match="no step was made"):
        Schedule(matmul).diff()


def test_the_difference_of_a_step() -> None:
    sch = steps()
    assert str(sch.diff()) == (
        "step 3: vectorize(j_1)\n"
        "  ...\n"
        "      for i in range(16):\n"
        "          for j_0 in range(5):\n"
        "              for k in range(24):\n"
        "-                 for j_1 in range(4):\n"
        "+                 for j_1 in T.vectorized(4):\n"
        '                      with T.block("C"):\n'
        "                          vi = T.axis.spatial(16, i)\n"
        "                          vj = T.axis.spatial(20, j_0 * 4 + j_1)\n"
        "  ..."
    )
    first = str(sch.diff(1))
    assert "-         for j in range(20):" in first
    assert "vj = T.axis.spatial(20, j)" in first and "vk = T.axis.reduce(24, k)" in first
    marked = [line for line in first.splitlines() if line[0] in "+-"]
    assert len(marked) == 5  # the loop j, the two new ones, the axis before and after


def test_a_refused_step_leaves_no_trace() -> None:
    sch = steps()
    before, count = sch.mod["main"], len(sch.trace)
    k = sch.get_loops("C")[2]
    with pytest.raises(ts.ScheduleError):
        sch.parallel(k)
    assert sch.mod["main"] is before and len(sch.history) == 3 and len(sch.trace) == count + 1


def test_check_alone_changes_nothing() -> None:
    sch = Schedule(matmul)
    i, _, k = sch.get_loops("C")
    sch.check.parallel(i)
    sch.check.split(i, [None, 3])
    sch.check.fuse(*sch.get_loops("C"))
    sch.check.decompose_reduction("C", k)
    with pytest.raises(ts.ScheduleError, match="parallel-reduction-axis"):
        sch.check.parallel(k)
    with pytest.raises(AttributeError):
        sch.check.explode(k)
    assert "split" in dir(sch.check) and "get_block" not in dir(sch.check)
    assert sch.mod["main"] is matmul and len(sch.history) == 0


def test_a_defect_of_a_primitive_is_reported_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    sch = steps()
    before = sch.mod["main"]
    i = sch.get_loops("C")[0]

    def broken(state: Any, plan: Any) -> None:
        unroll.rewrite(state, plan)
        raise KeyError("oops")

    kind = InstructionKind.get("Unroll")
    monkeypatch.setattr(kind, "rewrite", broken)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.unroll(i)
    text = str(caught.value)
    assert caught.value.code == "internal"
    assert "unroll(i) failed inside tirscript: KeyError" in text and "split(j, [None, 4]); reorder" in text
    assert sch.mod["main"] is before and sch.get(i).kind == "serial"
    monkeypatch.undo()
    sch.state.verify()


def test_deep_programs() -> None:
    """Hundreds of nested lets around the loops: no recursion limit of Python's is met."""
    from tirscript.ir import BlockRealize, LetStmt, Var, const_int

    body = matmul.body
    assert isinstance(body, BlockRealize)
    inner = body.block.body
    for n in range(3000):
        inner = LetStmt(Var(f"x{n}"), const_int(n), inner)
    deep = matmul.replace(body=body.replace(block=body.block.replace(body=inner)))
    sch = Schedule(deep, debug_mask="none")
    i, j, k = sch.get_loops("C")
    sch.split(i, [None, 4])
    sch.fuse(j, k)
    sch.undo(2)
    sch.parallel(i)
    assert sch.get(i).kind == "parallel"
