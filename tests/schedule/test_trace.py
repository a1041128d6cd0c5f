"""The trace: Python that runs, JSON that survives a new process, replay on a fresh copy."""

from __future__ import annotations

import json

import pytest

import tirscript as ts
from tirscript.schedule import Instruction, InstructionKind, Schedule, Trace
from tirscript.schedule.testing import verify_trace_roundtrip

from .programs import matmul, two_stages


def test_as_python() -> None:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.annotate(k, "note", "x")
    fused = sch.fuse(i, j0)
    sch.decompose_reduction(block, k)
    sch.unroll(fused)
    want = [
        'b0 = sch.get_block(name="C", func_name="main")',
        "l1, l2, l3 = sch.get_loops(block=b0)",
        "l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True, disable_predication=False)",
        "sch.reorder(l1, l4, l3, l5)",
        'sch.annotate(block_or_loop=l3, ann_key="note", ann_val="x")',
    ]
    lines = sch.trace.as_python()
    assert lines[:5] == want
    assert str(lines) == "\n".join(lines)


def test_annotated_loops_are_not_fused() -> None:
    sch = Schedule(matmul)
    i, j, _ = sch.get_loops("C")
    sch.annotate(i, "note", 1)
    with pytest.raises(ts.ScheduleError, match="annotated-loop"):
        sch.fuse(i, j)


def test_json_is_text_and_back() -> None:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.annotate(j0, "note", ["a", 1, {"b": 2.5}])
    sch.annotate("C", "mark", "None")
    init = sch.decompose_reduction(block, k)
    sch.vectorize(sch.get_loops(init)[-1])
    text = json.dumps(sch.trace.as_json())
    new = Schedule(matmul)
    Trace.apply_json_to_schedule(json.loads(text), new)
    assert ts.structural_equal(new.mod, sch.mod, names=True)
    first = json.loads(text)[0]
    assert first[0] == ["GetBlock", [], ['"C"', '"main"'], ["b0"]]
    assert first[2] == ["Split", ["l2", "None", 4], [True, False], ["l4", "l5"]]


def test_replay_after_undo_and_with_handles_from_elsewhere() -> None:
    other = Schedule(two_stages)
    i, j = other.get_loops(other.get_block("C"))
    sch = Schedule(two_stages)
    sch.parallel(i)  # never looked up in this schedule
    sch.vectorize(j)
    sch.undo()
    sch.split(j, [None, 5])
    verify_trace_roundtrip(sch, two_stages)
    lines = sch.trace.as_python()
    assert lines[0] == 'b0 = sch.get_block(name="C", func_name="main")'
    assert lines[1] == "l1, l2 = sch.get_loops(block=b0)"
    assert [line.partition("(")[0] for line in lines[2:]] == ["sch.parallel", "l3, l4 = sch.split"]


def test_simplified_drops_unused_looks() -> None:
    sch = Schedule(two_stages)
    sch.get_block("B")
    c = sch.get_block("C")
    sch.get_loops("B")
    sch.unroll(sch.get_loops(c)[0])
    short = sch.trace.simplified()
    assert [i.kind.name for i in short.insts] == ["GetBlock", "GetLoops", "Unroll"]
    new = Schedule(two_stages)
    short.apply_to_schedule(new)
    ts.assert_structural_equal(new.mod, sch.mod)


def test_trace_objects() -> None:
    sch = Schedule(matmul)
    sch.unroll(sch.get_loops("C")[0])
    trace = sch.trace
    assert len(trace) == 2 and str(trace).startswith("# from tirscript import tir\ndef apply_trace(sch")
    last = trace.pop()
    assert isinstance(last, Instruction) and last.kind is InstructionKind.get("Unroll")
    assert last.inputs == [sch.get_loops("C")[0]] and last.outputs == [] and last.attrs == []
    assert InstructionKind.get("GetSBlock").name == "GetBlock"
    with pytest.raises(ValueError, match="unknown-instruction"):
        InstructionKind.get("Frobnicate")
    trace.append(last)
    assert repr(trace.insts[-1]) == "unroll(i)"
