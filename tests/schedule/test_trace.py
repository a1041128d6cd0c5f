"""The trace: Python that runs, JSON that survives a new process, replay on a fresh copy."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import tirscript as ts
from tirscript.schedule import Instruction, InstructionKind, Schedule, Trace
from tirscript.schedule.testing import verify_trace_roundtrip

from .programs import copy_symbolic, matmul, two_stages


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


def sized() -> ts.PrimFunc:
    f = ts.parse("""
@T.prim_func
def sized(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    C = T.match_buffer(c, (n, 64))
    for i, j in T.grid(n, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
""")
    assert isinstance(f, ts.PrimFunc)
    return f


def test_sizes_of_the_function_as_arguments() -> None:
    f = sized()
    n = f.buffer_map[f.params[0]].shape[0]
    sch = Schedule(f)
    i, j = sch.get_loops("C")
    sch.annotate("C", "expr", n * 2 + 1)
    sch.annotate(i, "nested", [n // 3, {"low": n % 2}])
    sch.unannotate(i, "nested")
    sch.split(j, [None, n])  # inside of i, n is positive
    assert "sch.expr(" in str(sch.trace.as_python())
    verify_trace_roundtrip(sch, f)
    text = json.dumps(sch.trace.as_json())
    new = Schedule(sized())  # another object with variables of its own
    Trace.apply_json_to_schedule(text, new)
    ts.assert_structural_equal(new.mod, sch.mod)


@pytest.mark.parametrize(
    "text, want",
    [
        ("n", "n"), ("n * 4 + 1", "n * 4 + 1"), ("n // 4 % 3", "n // 4 % 3"), ("-n", "n * -1"),
        ("T.min(n, 7)", "T.min(n, 7)"), ("T.int32(7) - n", "7 - n"), ("(n + 1) * 2", "(n + 1) * 2"),
        ("T.max(T.Cast('int64', n), T.int64(3))", 'T.max(T.Cast("int64", n), T.int64(3))'), ("12", "12"),
        ("n < 3 and not n == 1", "n < 3 and not n == 1"),
    ],
)  # fmt: skip
def test_expressions(text: str, want: str) -> None:
    from tirscript.schedule.errors import expr_text

    made = Schedule(sized()).expr(text)
    assert expr_text(made) == want
    assert expr_text(Schedule(sized()).expr(want)) == want


@pytest.mark.parametrize(
    "text", ["m", "n +", "n.x", "n[0]", "f(n)", "T.exec('x')", "__import__('os')", "lambda: 0", "", "n // 0",
             "T.min(n)", "'x'", "[n]", 3, None],
)  # fmt: skip
def test_what_is_no_expression(text: object) -> None:
    with pytest.raises(ValueError, match="bad-expression"):
        Schedule(sized()).expr(text)  # type: ignore[arg-type]


def test_json_in_another_process() -> None:
    """Every kind of argument: nothing but the text goes over."""
    sch = Schedule(matmul, seed=3)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    factors = sch.sample_perfect_tile(j, 2)
    j0, j1 = sch.split(j, factors)
    sch.split(k, [None, factors[1] * 2])  # type: ignore[operator]
    sch.reorder(j0, i)
    sch.annotate(block, "all", [1, 2.5, float("inf"), True, "text", "None", 'a "quoted" one', None, [], {}])
    sch.annotate(j1, "dict", {"a": [1, {"b": "None"}], "expr": "x", "op": 1})
    sch.annotate(i, "int", 2**70)
    cache = sch.cache_read(block, "A", "local", [block])
    sch.transform_layout(block, ("write", 0), lambda p, q: [q // 4, p, q % 4])
    sch.storage_align(cache, 0, -2, 32, 8)
    sch.enter_postproc()
    sch.unroll(j1)
    program = f"""
import json, sys
import tirscript as ts
from tirscript.schedule import Schedule, Trace
sch = Schedule(ts.parse({matmul.script()!r}))
Trace.apply_json_to_schedule(sys.stdin.read(), sch)
print(sch.mod["main"].script())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(sch.trace.as_json()), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == sch.mod["main"].script().strip()


@pytest.mark.parametrize(
    "wrong, words",
    [
        ("", "no trace as JSON"), ("[]", "no trace as JSON"), ("3", "no trace"), ("[[1]]", "no trace"),
        ([[["Nothing", [], [], []]], []], "no instruction is called 'Nothing'"),
        ([[["GetBlock", [], ['"C"'], ["b0"]]], []], "takes name, func_name"),
        ([[["GetLoops", ["b0"], [], ["l1"]]], []], "'b0' before it is made"),
        ([[["GetBlock", [], ['"C"', '"main"'], ["b0", "b1"]]], []], "gave 1 results"),
    ],
)  # fmt: skip
def test_what_is_no_trace(wrong: object, words: str) -> None:
    sch = Schedule(matmul)
    with pytest.raises(ValueError, match=words):
        Trace.apply_json_to_schedule(wrong, sch)
    assert sch.mod["main"] is matmul


def test_unannotated_results_are_named_once() -> None:
    sch = Schedule(two_stages)
    b = sch.get_block("B")
    for x in sch.get_consumers(b):
        sch.annotate(x, "consumer", 1)
    (child,) = sch.get_child_blocks(sch.get_loops(b)[0])
    sch.annotate(child, "child", 1)
    verify_trace_roundtrip(sch, two_stages)


def test_maps_over_the_sizes_of_the_function_replay() -> None:
    def tiles(sch: Schedule) -> Any:
        n, m = sch.get(sch.get_block("O")).iter_vars[0].dom.extent, sch.expr("m")
        return lambda i, j: [(0, n), (0, m)]

    sch = Schedule(copy_symbolic)
    sch.annotate_buffer_access("O", 0, "read", tiles(sch))
    assert 'sch.expr("n")' in str(sch.trace) and "A[0:n, 0:m]" in sch.mod.script()
    verify_trace_roundtrip(sch, copy_symbolic)


def test_a_function_that_raises_is_no_fault_of_the_schedule() -> None:
    sch = Schedule(copy_symbolic)
    with pytest.raises(ts.ScheduleError, match="NameError") as caught:
        sch.annotate_buffer_access("O", 0, "read", lambda i, j: [(0, nothing), (0, 4)])
    assert caught.value.code == "bad-index-map" and len(sch.history) == 0
