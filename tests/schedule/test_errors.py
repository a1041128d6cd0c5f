"""The whole text of every kind of refusal, to the column."""

from __future__ import annotations

import pathlib
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tirscript as ts
from tirscript.schedule import Schedule

GOLDEN = pathlib.Path(__file__).with_name("refusals.txt")

# Read from text, so that the places of the notes stay the same when this file changes.
# ruff: noqa: E501
MATMUL = """\
@T.prim_func
def matmul(A: T.Buffer((128, 128)), B: T.Buffer((128, 128)), C: T.Buffer((128, 128))):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
MIXED = """\
@T.prim_func
def mixed(A: T.Buffer((33,), "int32"), X: T.Buffer(4, "int32"), Y: T.Buffer((4, 6), "int32"), P: T.Buffer(8, "int32")):
    for i in range(32):
        with T.block("A"):
            vi = T.axis.scan(32, i)
            A[vi + 1] = A[vi] + 1
    for t in range(4):
        with T.block("X"):
            vt = T.axis.spatial(4, t)
            X[vt] = vt
        for j in range(t + 1):
            with T.block("Y"):
                vt, vj = T.axis.remap("SS", [t, j])
                Y[vt, vj] = X[vt] + vj
    for p in range(8):
        with T.block("P"):
            vp = T.axis.opaque(8, p)
            T.reads(P[vp])
            T.writes(A[0:33])
            A[P[vp]] = vp
    for b in T.thread_binding(4, thread="threadIdx.x"):
        with T.block("X2"):
            vb = T.axis.spatial(4, b)
            X[vb] = X[vb] + 1
    for q in range(3):
        with T.block("Q"):
            vq = T.axis.opaque(4, q)
            X[vq] = X[vq] + 1
    for r in range(4, 8):
        with T.block("R"):
            vr = T.axis.opaque(4, r)
            Y[vr, 0] = vr
    for m in range(4):
        for n in range(m + 1):
            with T.block("S"):
                vm = T.axis.spatial(4, m)
                vn = T.axis.reduce(4, n)
                with T.init():
                    X[vm] = 0
                X[vm] = X[vm] + Y[vm, vn]
"""


def tiled() -> tuple[Schedule, dict[str, Any]]:
    sch = Schedule(ts.parse(MATMUL))
    i, j, k = sch.get_loops(sch.get_block("C"))
    i_0, i_1 = sch.split(i, [None, 16])
    sch.reorder(i_0, j, k, i_1)
    return sch, {"i": i, "j": j, "k": k, "i_0": i_0, "i_1": i_1}


def mixed() -> tuple[Schedule, dict[str, Any]]:
    func = ts.parse(MIXED)
    sch = Schedule(func)
    loops = {x.name: x for b in "AYPQRS" for x in sch.get_loops(b)}
    loops["b"] = sch.get_loops("X2")[0]
    return sch, loops


Case = tuple[Callable[[], tuple[Schedule, dict[str, Any]]], Callable[[Schedule, dict[str, Any]], Any]]
CASES: dict[str, Case] = {
    "parallel-reduction-axis": (tiled, lambda s, v: s.parallel(v["k"])),
    "vectorize-reduction-axis": (tiled, lambda s, v: s.vectorize(v["k"])),
    "expired-reference": (tiled, lambda s, v: s.unroll(v["i"])),
    "unknown-block": (tiled, lambda s, v: s.get_block("c")),
    "wrong-handle": (tiled, lambda s, v: s.split("i_0", [None, 4])),
    "bad-factor": (tiled, lambda s, v: s.split(v["j"], [0, 4])),
    "two-unknown-factors": (tiled, lambda s, v: s.split(v["j"], [None, None])),
    "factors-too-small": (tiled, lambda s, v: s.split(v["j"], [4, 4])),
    "bad-factors": (tiled, lambda s, v: s.split(v["j"], 4)),
    "predicate-needed": (tiled, lambda s, v: s.split(v["j"], [None, 3], disable_predication=True)),
    "duplicate-loop": (tiled, lambda s, v: s.reorder(v["j"], v["j"])),
    "not-nested": (tiled, lambda s, v: s.fuse(v["k"], v["j"])),
    "no-loops": (tiled, lambda s, v: s.reorder()),
    "reduction-loop-outside": (tiled, lambda s, v: s.decompose_reduction("C", v["i_1"])),
    "no-annotation": (tiled, lambda s, v: s.unannotate(v["j"], "note")),
    "bad-annotation-value": (tiled, lambda s, v: s.annotate(v["j"], "note", object())),
    "bad-annotation-key": (tiled, lambda s, v: s.annotate(v["j"], 1, 2)),
    "no-such-step": (tiled, lambda s, v: s.goto(7)),
    "unknown-function": (tiled, lambda s, v: s.work_on("matmull")),
    "no-scope": (tiled, lambda s, v: s.get_producers("root")),
    "loop-carried-dependence": (mixed, lambda s, v: s.parallel(v["i"])),
    "dependence-unknown": (mixed, lambda s, v: s.parallel(v["p"])),
    "dependent-extent": (mixed, lambda s, v: s.fuse(v["m"], v["n"])),
    "dependent-bound": (mixed, lambda s, v: s.reorder(v["n"], v["m"])),
    "not-perfectly-nested": (mixed, lambda s, v: s.fuse(v["t"], v["j"])),
    "not-one-nest": (mixed, lambda s, v: s.reorder(v["i"], v["j"])),
    "bound-loop": (mixed, lambda s, v: s.vectorize(v["b"])),
    "split-bound-loop": (mixed, lambda s, v: s.split(v["b"], [None, 2])),
    "axis-not-covered": (mixed, lambda s, v: s.parallel(v["q"])),
    "axis-overrun": (mixed, lambda s, v: s.vectorize(v["r"])),
    "no-init": (mixed, lambda s, v: s.decompose_reduction("Y", v["j"])),
    "loop-not-around": (mixed, lambda s, v: s.decompose_reduction("S", v["i"])),
}


def refusal(name: str) -> ts.ScheduleError:
    make, call = CASES[name]
    sch, loops = make()
    with pytest.raises(ts.ScheduleError) as caught:
        call(sch, loops)
    return caught.value


def text_of(error: ts.ScheduleError) -> str:
    return re.sub(r"<script \d+>", "<script>", str(error))


def golden() -> dict[str, str]:
    parts = GOLDEN.read_text(encoding="utf-8").split("==== ")[1:]
    return {p.partition("\n")[0]: p.partition("\n")[2].rstrip("\n") for p in parts}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_the_whole_text(name: str) -> None:
    assert text_of(refusal(name)) == golden()[name]


def test_every_case_is_pinned() -> None:
    assert list(golden()) == list(CASES)


def test_the_example_of_the_design() -> None:
    text = str(refusal("parallel-reduction-axis"))
    first, where, *_ = text.splitlines()
    assert first == (
        "ScheduleError[parallel-reduction-axis]: loop `k` cannot be parallel: "
        'block "C" binds it to a reduction axis'
    )
    assert where == "  --> matmul, after step 2: reorder(i_0, j, k, i_1)"
    assert "^^^^^^^^^^^^^^^^^^^^ parallel(k)" in text and "^ bound here" in text
    assert "note: k=0 and k=1 both write C[0, 0]" in text
    assert "hint: rfactor(k, 0) first, or make a loop bound to spatial axes parallel: i_0, i_1, j" in text


def test_levels_and_the_full_text() -> None:
    error = refusal("parallel-reduction-axis")
    full = error.render(full=True)
    assert full.startswith(str(error)) and full.count("T.axis.") == 4
    for level, lines in (("fast", False), ("none", False)):
        sch = Schedule(ts.parse(MATMUL), error_render_level=level)
        with pytest.raises(ts.ScheduleError) as caught:
            sch.parallel(sch.get_loops("C")[2])
        assert ("^^^" in str(caught.value)) is lines
        assert "parallel-reduction-axis" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_fields_and_pickling() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = refusal("axis-not-covered")
    assert error.code == "axis-not-covered" and error.fields["missing"] == "3"  # type: ignore[attr-defined]
    copy = pickle.loads(pickle.dumps(error))
    assert copy.render() == copy.render(full=True) == str(error)
    assert str(copy) == str(error) and type(copy) is type(error) and copy.code == error.code
