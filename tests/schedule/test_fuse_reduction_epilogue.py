"""fuse_reduction_epilogue: what is done with the result of a reduction, done in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, roundtrip, run


def program(first: str, step: str, last: str, dtype: str = "int32", out: str = "") -> Any:
    return ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((4, 8), "{dtype}"), D: T.Buffer((4,), "{dtype}"), C: T.Buffer((4,), "{out or dtype}")):
    S = T.alloc_buffer((4,), "{dtype}")
    for i, k in T.grid(4, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = {first}
            S[vi] = {step}
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = {last}
""")


SUM = ("0", "S[vi] + A[vi, vk]")


def fused(f: Any, want: Any, dtype: str = "int32") -> Schedule:
    arrays = rng(4, 8, dtype=dtype), rng(4, seed=5, dtype=dtype), np.zeros(4, dtype)
    sch = Schedule(f)
    before = run(sch.mod, *arrays)
    sch.fuse_reduction_epilogue("S", "C")
    if want is not None:
        have = sch.mod["main"].without_attr("global_symbol")
        ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)
    np.testing.assert_allclose(run(sch.mod, *arrays), before, rtol=1e-6)
    assert [sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))] == ["S"]
    return sch


def refused(f: Any, code: str, *steps: Any, blocks: Any = ("S", "C")) -> str:
    sch = Schedule(f)
    for step in steps:
        step(sch)
    before, count = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.fuse_reduction_epilogue(*blocks)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == count
    return str(caught.value)


def test_a_bias() -> None:
    @T.prim_func
    def want(A: T.Buffer((4, 8), "int32"), D: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 8):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = D[vi]
                C[vi] = C[vi] + A[vi, vk]

    fused(program(*SUM, "S[vi] + D[vi]"), want)
    fused(program(*SUM, "D[vi] + S[vi]"), want)


def test_a_copy() -> None:
    @T.prim_func
    def want(A: T.Buffer((4, 8), "int32"), D: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 8):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 3
                C[vi] = C[vi] + A[vi, vk]

    fused(program("3", SUM[1], "S[vi]"), want)


def test_clipping_a_maximum() -> None:
    f = program("-100", "T.max(S[vi], A[vi, vk])", "T.min(T.max(S[vi], D[vi]), 6)")
    sch = fused(f, None)
    # The bounds of the maximum are the maximum of the bounded values.
    assert "C[vi] = T.max(C[vi], T.min(A[vi, vk], 6))" in sch.mod.script()


@pytest.mark.parametrize(("first", "step", "last"), [
    ("5", "S[vi] + A[vi, vk]", "S[vi] - D[vi] + vi"), ("1", "S[vi] * A[vi, vk]", "S[vi] * D[vi]"),
    ("100", "T.min(S[vi], A[vi, vk])", "T.max(T.min(D[vi], S[vi]), 0 - 4)"),
    ("2", "A[vi, vk] + S[vi]", "7 + S[vi]"),
])  # fmt: skip
def test_other_reducers(first: str, step: str, last: str) -> None:
    fused(program(first, step, last), None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
def test_dtypes(dtype: str) -> None:
    fused(program(f"T.{dtype}(0)", SUM[1], "S[vi] + D[vi]", dtype), None, dtype)


def test_split_loops_and_reversed_axes() -> None:
    f = program(*SUM, "S[vi] + D[vi]")
    text = f.script().replace("C[vi] = S[vi] + D[vi]", "C[3 - vi] = S[vi] + D[vi]")
    text = text.replace("T.reads(S[vi], D[vi])\n                T.writes(C[vi])", "")
    sch = Schedule(ts.parse(text.replace("T.writes(C[vi])", "T.writes(C[3 - vi])")))
    i, k = sch.get_loops("S")
    sch.split(i, [None, 3])
    sch.split(k, [None, 3])
    sch.fuse_reduction_epilogue("S", "C")
    a, d = rng(4, 8, dtype="int32"), rng(4, seed=5, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, d, np.zeros(4, "int32")), (a.sum(1) + d)[::-1])


# ---- refusals


@pytest.mark.parametrize(("first", "step", "last", "words"), [
    (*SUM, "T.max(S[vi], 0)", "max does not go together with a sum"),
    (*SUM, "T.max(S[vi] + D[vi], 0)", "max does not go together"),
    (*SUM, "S[vi] * 2", "mul does not go together"), (*SUM, "2 - S[vi]", "subtracts the result"),
    (*SUM, "S[vi] + S[vi]", "uses the result twice"), (*SUM, "S[vi] // 2", "floordiv of the result"),
    ("0", "T.max(S[vi], A[vi, vk])", "S[vi] + D[vi]", "add does not go together with a maximum"),
])  # fmt: skip
def test_what_does_not_go_together(first: str, step: str, last: str, words: str) -> None:
    assert words in refused(program(first, step, last), "epilogue-does-not-fit")


def test_another_dtype() -> None:
    f = program(*SUM, 'T.Cast("int64", S[vi])', out="int64")
    assert "int64" in refused(f, "epilogue-does-not-fit")


def test_what_is_no_reduction() -> None:
    f = program(*SUM, "S[vi] + D[vi]")
    refused(
        f,
        "not-a-single-producer",
        lambda s: s.decompose_reduction("S", s.get_loops("S")[1]),
        blocks=("S_update", "C"),
    )
    refused(program("0", "A[vi, vk]", "S[vi]"), "not-a-single-producer")
    refused(program("0", "S[vi] + S[vi]", "S[vi]"), "not-a-single-producer")
    refused(f, "wrong-handle", blocks=(3, "C"))
    refused(f, "wrong-handle", blocks=("S", 3))
    refused(f, "root-block", blocks=("S", "root"))
    refused(f, "not-a-single-store", blocks=("C", "S"))

    @T.prim_func
    def g(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        S = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("S"):
                vi = T.axis.spatial(4, i)
                S[vi] = A[vi]
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = S[vi] + 1

    refused(g, "not-a-reduction")


def test_the_epilogue_s_own_operand() -> None:
    text = program(*SUM, "S[vi] + D[vi]").script()
    # The reduction reads what the epilogue writes.
    f = ts.parse(text.replace("+ A[vi, vk]", "+ C[vi]").replace("T.reads(A[vi, vk])", "T.reads(C[vi])"))
    refused(f, "reversed-dependence")
