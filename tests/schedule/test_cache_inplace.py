"""cache_inplace: copies around a block that changes a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run


def refused(program: Any, code: str, *args: Any, prepare: Any = None) -> str:
    sch = Schedule(program)
    if prepare is not None:
        prepare(sch)
    before, steps = sch.mod["main"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_inplace(*args)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == steps
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


@T.prim_func
def doubled(A: T.Buffer((6, 8), "int32")):
    for i, j in T.grid(4, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] * 2 + 1


def want_doubled(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    want = a.copy()
    want[:4] = a[:4] * 2 + 1
    return want


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_element_by_element() -> None:
    @T.prim_func
    def want(A: T.Buffer((6, 8), "int32")):
        X = T.alloc_buffer((6, 8), "int32", scope="local")
        for i, j in T.grid(4, 8):
            for ax0, ax1 in T.grid(1, 1):
                with T.block("A_local"):
                    v0 = T.axis.spatial(6, i + ax0)
                    v1 = T.axis.spatial(8, j + ax1)
                    X[v0, v1] = A[v0, v1]
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = X[vi, vj] * 2 + 1
            for ax0, ax1 in T.grid(1, 1):
                with T.block("A_local"):
                    v0 = T.axis.spatial(6, i + ax0)
                    v1 = T.axis.spatial(8, j + ax1)
                    A[v0, v1] = X[v0, v1]

    sch = Schedule(doubled)
    block = sch.get_block("A")
    into, back = sch.cache_inplace(block, 0, "local")
    assert sch.get(into).reads[0].buffer.name == "A" and sch.get(back).writes[0].buffer.name == "A"
    assert [x.name for x in sch.get_loops(block)] == ["i", "j"]
    equal(sch, want)
    a = rng(6, 8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a), want_doubled(a))


def test_a_tile_and_a_whole() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 8), "int32")):
        for i in range(3):
            with T.block("A"):
                vi = T.axis.spatial(3, i)
                T.reads(A[vi * 2 : vi * 2 + 2, 0:8])
                T.writes(A[vi * 2 : vi * 2 + 2, 0:8])
                for k, j in T.grid(2, 7):
                    A[vi * 2 + k, j + 1] = A[vi * 2 + k, j + 1] + A[vi * 2 + k, j]

    a = rng(6, 8, dtype="int32")
    sch = Schedule(f)
    into, _ = sch.cache_inplace("A", "A", "shared")
    assert [sch.get(x).extent.value for x in sch.get_loops(into)] == [3, 2, 8]
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a), np.cumsum(a, 1, dtype="int32"))

    @T.prim_func
    def whole(A: T.Buffer((), "int32")):
        with T.block("A"):
            T.reads(A[()])
            T.writes(A[()])
            A[()] = A[()] + 5

    sch = Schedule(whole)
    sch.cache_inplace("A", 0, "local")
    roundtrip(sch.mod)
    assert run(sch.mod, np.array(3, "int32")) == 8


def test_an_update_and_a_condition() -> None:
    a, b = rng(16, 24), rng(24, 20, seed=1)
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, _, k = sch.get_loops(block)
    sch.split(i, [None, 5])
    sch.decompose_reduction(block, k)
    sch.cache_inplace(block, "C", "local")
    roundtrip(sch.mod)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)

    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        for i in range(8):
            if i % 3 == 1:
                with T.block("A"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = A[vi] * 2

    sch = Schedule(f)
    sch.cache_inplace("A", 0, "local")
    roundtrip(sch.mod)
    x = rng(8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, x), np.where(np.arange(8) % 3 == 1, x * 2, x))


def test_a_pointer() -> None:
    @T.prim_func
    def f(A: T.Buffer((64,), "int32")):
        with T.block("call"):
            T.reads(A[0:64])
            T.writes(A[0:64])
            T.evaluate(T.call_extern("int32", "change", A.data))

    sch = Schedule(f)
    sch.cache_inplace("call", 0, "local")
    assert "A_local.data" in sch.mod.script()
    roundtrip(sch.mod)


def test_symbolic_shapes() -> None:
    @T.prim_func
    def f(a: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        for i in range(n):
            with T.block("A"):
                vi = T.axis.spatial(n, i)
                A[vi] = A[vi] + 1

    sch = Schedule(f)
    sch.cache_inplace("A", 0, "local")
    roundtrip(sch.mod)
    for n in (1, 5):
        x = rng(n, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, x), x + 1)


def test_refusals() -> None:
    assert "does not write" in refused(matmul, "not-in-place", "C", "A", "local")
    refused(doubled, "root-block", "root", 0, "local")
    refused(doubled, "wrong-handle", 3, 0, "local")
    refused(doubled, "no-such-buffer", "A", 1, "local")
    refused(doubled, "bad-buffer-index", "A", None, "local")
    refused(doubled, "bad-scope", "A", 0, "locl")
    parallel = lambda s: s.parallel(s.get_loops("A")[0])  # noqa: E731
    assert "parallel loop `i`" in refused(doubled, "parallel-loop", "A", 0, "local", prepare=parallel)

    @T.prim_func
    def aliased(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        T.func_attr({"tir.noalias": False})
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = A[vi] + B[7 - vi]

    refused(aliased, "aliased-buffer", "A", "A", "local")

    @T.prim_func
    def leaves(A: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.opaque(8, i)
                if A[vi] < 0:
                    T.evaluate(T.ret(0))
                A[vi] = A[vi] + 1

    refused(leaves, "leaves-block", "A", 0, "local")
