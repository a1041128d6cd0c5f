"""annotate_buffer_access, unsafe_hide_buffer_access, unsafe_set_dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run, two_stages


def refused(program: Any, code: str, method: str, *args: Any) -> str:
    sch = Schedule(program)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        getattr(sch, method)(*args)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    return str(caught.value)


@T.prim_func
def summed(A: T.Buffer((6, 8), "int32"), B: T.Buffer((6, 8), "int32"), C: T.Buffer((6, 8), "int32")):
    for i, j in T.grid(6, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[5 - vi, vj] + B[vi, vj]


A_, B_ = rng(6, 8, dtype="int32"), rng(6, 8, seed=1, dtype="int32")


def right(sch: Schedule) -> None:
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, A_, B_, np.zeros((6, 8), "int32")), A_[::-1] + B_)


def test_regions() -> None:
    sch = Schedule(summed)
    block = sch.get_block("C")
    sch.annotate_buffer_access(block, 0, "read", lambda vi, vj: ((0, 6), (vj, vj + 1)))
    sch.annotate_buffer_access(block, "B", "read", lambda vi, vj: ((vi, vi + 2), vj))
    sch.annotate_buffer_access(block, 0, "write", lambda *v: [(v[0], v[0] + 1), (v[1], v[1] + 1)])
    b = sch.get(block)
    assert [str(r) for r in (*b.reads, *b.writes)] == ["A[0:6, vj]", "B[vi:vi + 2, vj]", "C[vi, vj]"]
    assert b.annotations == {"explicit_read_region": [0, 1], "explicit_write_region": [0]}
    right(sch)
    sch.annotate_buffer_access(block, 0, "read", lambda i, j: (5 - i, j))
    assert str(sch.get(block).reads[0]) == "A[5 - vi, vj]"
    assert sch.get(block).annotations["explicit_read_region"] == [0, 1]
    sch.cache_read(block, 0, "local")
    right(sch)


def test_a_region_rules_what_is_copied() -> None:
    sch = Schedule(summed)
    sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: ((0, 6), (0, 8)))
    loop = sch.get_loops("C")[0]
    sch.read_at(loop, "C", 0, "shared")
    assert str(sch.get(sch.get_block("A_shared")).reads[0]) == "A[0:6, 0:8]"
    right(sch)


def test_hidden_accesses() -> None:
    sch = Schedule(summed)
    sch.unsafe_hide_buffer_access("C", "read", [1])
    b = sch.get(sch.get_block("C"))
    assert [r.buffer.name for r in b.reads] == ["A"] and "tirscript.hidden_access" in b.annotations
    right(sch)
    sch.unsafe_hide_buffer_access("C", "write", [0])
    sch.unsafe_hide_buffer_access("C", "read", ["A"])
    b = sch.get(sch.get_block("C"))
    assert not b.reads and not b.writes
    right(sch)
    sch.unsafe_hide_buffer_access("C", "read", [])

    @T.prim_func
    def scatter(P: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[P[vi]] = vi

    sch = Schedule(scatter)
    loop = sch.get_loops("O")[0]
    with pytest.raises(ts.ScheduleError):
        sch.parallel(loop)
    sch.unsafe_hide_buffer_access("O", "write", [0])
    sch.parallel(loop)
    p = np.random.default_rng(0).permutation(8).astype("int32")
    np.testing.assert_array_equal(run(sch.mod, p, np.zeros(8, "int32"))[p], np.arange(8))


def test_both_together() -> None:
    sch = Schedule(summed)
    sch.annotate_buffer_access("C", 1, "read", lambda vi, vj: ((vi, vi + 1), (0, 8)))
    sch.unsafe_hide_buffer_access("C", "read", [0])
    b = sch.get(sch.get_block("C"))
    assert b.annotations["explicit_read_region"] == [0] and str(b.reads[0]) == "B[vi, 0:8]"
    sch.unsafe_hide_buffer_access("C", "read", [0])
    assert "explicit_read_region" not in sch.get(sch.get_block("C")).annotations
    right(sch)


def test_refusals_of_regions() -> None:
    pairs = lambda i, j: ((i, i + 1), (j, j + 1))  # noqa: E731
    refused(summed, "bad-access-kind", "annotate_buffer_access", "C", 0, "copy", pairs)
    refused(summed, "no-such-buffer", "annotate_buffer_access", "C", 2, "read", pairs)
    refused(summed, "bad-buffer-index", "annotate_buffer_access", "C", None, "read", pairs)
    refused(summed, "wrong-handle", "annotate_buffer_access", 3, 0, "read", pairs)
    for bad in (3, lambda i: i, lambda i, j: "x", lambda i, j: [1.5, j], lambda i, j: i / 0):
        refused(summed, "bad-index-map", "annotate_buffer_access", "C", 0, "read", bad)
    for bad in (lambda i, j: (i,), lambda i, j: ((i, i, i), j), lambda i, j: (i, j, i)):
        refused(summed, "bad-ranges", "annotate_buffer_access", "C", 0, "read", bad)
    refused(summed, "bad-ranges", "annotate_buffer_access", "C", 0, "read", lambda i, j: (i < 3, j))
    refused(summed, "bad-access-kind", "unsafe_hide_buffer_access", "C", "copy", [0])
    refused(summed, "no-such-buffer", "unsafe_hide_buffer_access", "C", "read", [2])
    refused(summed, "bad-buffer-index", "unsafe_hide_buffer_access", "C", "read", 0)
    refused(summed, "bad-buffer-index", "unsafe_hide_buffer_access", "C", "read", [1.5])
    refused(summed, "wrong-handle", "unsafe_hide_buffer_access", 3, "read", [0])


# ---- unsafe_set_dtype


def test_a_stage_in_another_dtype() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float16")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("float16", A[vi, vj] * T.float32(2))
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("float32", B[vi, vj]) + T.float32(1)

    a = rng(12, 10)
    for block, which, dtype in (("B", 0, "float16"), ("B", "B", "float16")):
        sch = Schedule(two_stages)
        sch.unsafe_set_dtype(block, which, dtype)
        ts.assert_structural_equal(
            sch.mod["main"].without_attr("global_symbol"), want.without_attr("global_symbol")
        )
        roundtrip(sch.mod)
        got = run(sch.mod, a, np.zeros((12, 10), "float32"))
        np.testing.assert_array_equal(got, (a * 2).astype("float16").astype("float32") + 1)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int8", "int64", "uint16", "bool"])
def test_other_dtypes(dtype: str) -> None:
    sch = Schedule(two_stages)
    sch.unsafe_set_dtype("B", 0, dtype)
    roundtrip(sch.mod)
    a = rng(12, 10)
    got = run(sch.mod, a, np.zeros((12, 10), "float32"))
    stage = a * 2
    if dtype == "bool":
        stage = (stage != 0).astype("float32")
    elif dtype == "uint16":
        stage = np.maximum(stage, 0)
    np.testing.assert_array_equal(got, stage + 1)


def test_updates_vectors_and_nothing() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6), "float32"), O: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((4,), "float32")
        for i, k in T.grid(4, 6):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = S[vi]

    a = rng(4, 6)
    sch = Schedule(f)
    sch.unsafe_set_dtype("S", 0, "float64")
    roundtrip(sch.mod)
    np.testing.assert_allclose(run(sch.mod, a, np.zeros(4, "float32")), a.sum(1), rtol=1e-6)
    sch = Schedule(f)
    before = sch.mod["main"]
    sch.unsafe_set_dtype("S", 0, "float32")
    assert sch.mod["main"] is before


def test_refusals_of_dtypes() -> None:
    refused(matmul, "not-allocated", "unsafe_set_dtype", "C", 0, "float16")
    refused(two_stages, "no-such-buffer", "unsafe_set_dtype", "B", 1, "float16")
    refused(two_stages, "no-such-buffer", "unsafe_set_dtype", "B", "A", "float16")
    refused(two_stages, "bad-buffer-index", "unsafe_set_dtype", "B", None, "float16")
    refused(two_stages, "wrong-handle", "unsafe_set_dtype", 3, 0, "float16")
    refused(two_stages, "bad-dtype", "unsafe_set_dtype", "B", 0, 16)
    for bad in ("float17", "float32x4", "handle", ""):
        refused(two_stages, "bad-dtype", "unsafe_set_dtype", "B", 0, bad)

    @T.prim_func
    def view(A: T.Buffer((4, 4), "float32"), O: T.Buffer((4, 4), "float32")):
        X = T.alloc_buffer((4, 4), "float32")
        for i, j in T.grid(4, 4):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = A[vi, vj]
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(X[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(X[vi, 0:4], (4,), "float32", offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    refused(view, "used-otherwise", "unsafe_set_dtype", "X", 0, "float16")
