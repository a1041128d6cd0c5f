"""merge: nests that become one, in which order, where they stand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run, two_stages


def test_a_producer_and_its_consumer() -> None:
    @T.prim_func
    def after(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i_m in range(12):
            for j in range(10):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i_m, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(10):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i_m, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    first, second = (sch.get_loops(b) for b in "BC")
    merged = sch.merge(first[0], second[0])
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "two_stages"), names=True)
    assert sch.get_loops("B") == [merged, first[1]] and sch.get_loops("C") == [merged, second[1]]
    with pytest.raises(ts.ScheduleError, match="expired-reference"):
        sch.unroll(first[0])
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
    roundtrip(sch.mod)
    sch.parallel(merged)


def test_whole_nests() -> None:
    @T.prim_func
    def after(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i_m, j_m in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i_m, j_m])
                B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i_m, j_m])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    merged = sch.merge(*[sch.get_loops(b)[1] for b in "BC"])
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "two_stages"), names=True)
    assert sch.get_loops("B")[1] == sch.get_loops("C")[1] == merged


@T.prim_func
def three(A: T.Buffer((8, 6), "int32"), B: T.Buffer((8, 6), "int32"), C: T.Buffer((8, 6), "int32")):
    for i in range(8):
        for j in range(6):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2
        for k in range(6):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, k])
                A[vi, vj] = A[vi, vj] + 1
        for l in range(6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, l])
                C[vi, vj] = B[vi, vj] + 3


def test_several_loops_and_what_stands_between() -> None:
    a = rng(8, 6, dtype="int32")
    zero = np.zeros((8, 6), "int32")
    want = run(three, a, zero, zero)
    sch = Schedule(three)
    i, j = sch.get_loops("B")
    merged = sch.merge(j, sch.get_loops("D")[1], sch.get_loops("C")[1])
    assert [sch.get(b).name for b in sch.get_child_blocks(merged)] == ["B", "D", "C"]
    assert sch.get_loops("C") == [i, merged]
    np.testing.assert_array_equal(run(sch.mod, a, zero, zero), want)
    # B may not move past D, which writes what it reads; C may move up past D.
    sch = Schedule(three)
    merged = sch.merge(sch.get_loops("B")[1], sch.get_loops("C")[1])
    items = sch.get(sch.get_loops("B")[0]).body.seq
    assert items[0] is sch.get(merged)
    np.testing.assert_array_equal(run(sch.mod, a, zero, zero), want)


def test_the_order_of_the_arguments() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1
        for k in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, k)
                C[vi] = A[vi] + 2

    sch = Schedule(f)
    merged = sch.merge(sch.get_loops("C")[0], sch.get_loops("B")[0])
    assert merged.name == "k_m"
    assert [sch.get(b).name for b in sch.get_child_blocks(merged)] == ["C", "B"]
    sch = Schedule(two_stages)
    e = refused(sch, "reversed-dependence", *[sch.get_loops(b)[0] for b in "CB"])
    assert "writes B[0, 0], which" in str(e)


def pair(first: str, second: str, n: int = 8) -> Any:
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((20,), "int32"), B: T.Buffer((20,), "int32"), C: T.Buffer((20,), "int32")):
    for i in range({n}):
        with T.block("first"):
            v = T.axis.opaque({n}, i)
            {first}
    for k in range({n}):
        with T.block("second"):
            v = T.axis.opaque({n}, k)
            {second}
""")


@pytest.mark.parametrize(
    ("first", "second", "legal"),
    [
        ("B[v] = A[v]", "C[v] = B[v]", True),
        ("B[v + 2] = A[v]", "C[v] = B[v + 1]", True),
        ("B[v + 2] = A[v]", "C[v] = B[v + 3]", False),
        ("B[v] = A[v]", "C[v] = B[7 - v]", False),
        ("B[v] = A[v]", "C[v] = B[v // 2]", True),
        ("B[v // 2] = A[v]", "C[v] = B[v]", False),
        ("B[v * 2] = A[v]", "C[v] = B[v * 2 + 1]", True),
        ("B[0] = B[0] + A[v]", "C[v] = B[0]", False),
        ("C[v] = B[v + 4]", "B[v] = A[v]", True),
        ("C[v] = B[v]", "B[v + 4] = A[v]", False),
        ("B[v] = A[v]", "B[v] = A[v + 1]", True),
        ("B[v + 1] = A[v]", "B[v] = A[v + 1]", True),
        ("B[v] = A[v]", "B[v + 1] = A[v + 1]", False),
    ],
)
def test_dependences(first: str, second: str, legal: bool) -> None:
    f = pair(first, second)
    arrays = [rng(20, seed=n, dtype="int32") for n in range(3)]
    want_b, want = run(f, *arrays[::-1]), run(f, *arrays)
    sch = Schedule(f)
    loops = [sch.get_loops(b)[0] for b in ("first", "second")]
    if not legal:
        e = refused(sch, "reversed-dependence", *loops)
        assert e.notes
        return
    sch.merge(*loops)
    np.testing.assert_array_equal(run(sch.mod, *arrays), want)
    np.testing.assert_array_equal(run(sch.mod, *arrays[::-1]), want_b)


def test_kinds() -> None:
    sch = Schedule(two_stages)
    loops = [sch.get_loops(b) for b in "BC"]
    for outer, inner in loops:
        sch.parallel(outer)
        sch.vectorize(inner)
    merged = sch.merge(loops[0][1], loops[1][1])
    assert [sch.get(x).kind for x in sch.get_loops("B")] == ["parallel", "vectorized"]
    assert sch.get(merged).kind == "vectorized"
    sch = Schedule(two_stages)
    loops = [sch.get_loops(b) for b in "BC"]
    sch.parallel(loops[0][0])
    assert sch.get(sch.merge(loops[0][0], loops[1][0])).kind == "serial"
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
    sch = Schedule(
        ts.parse(pair("B[v] = A[v]", "C[v + 1] = B[v // 2]").script().replace("opaque", "spatial"))
    )
    i, k = sch.get_loops("first")[0], sch.get_loops("second")[0]
    sch.parallel(i)
    sch.parallel(k)
    e = refused(sch, "loop-carried-dependence", i, k)
    assert "merged as parallel loops" in str(e)


def test_symbolic_ranges_starts_and_steps() -> None:
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        B = T.match_buffer(b, (n,), "int32")
        C = T.match_buffer(c, (n,), "int32")
        for i in range(1, n - 1):
            with T.block("B"):
                vi = T.axis.opaque((1, n - 1), i)
                B[vi] = A[vi] * 2
        for k in range(1, n - 1):
            with T.block("C"):
                vi = T.axis.opaque((1, n - 1), k)
                C[vi] = B[vi - 1] + A[vi]

    sch = Schedule(f)
    loops = [sch.get_loops(b)[0] for b in "BC"]
    sch.merge(*loops)
    for n in (2, 3, 9):
        a, b, c = (rng(n, seed=s, dtype="int32") for s in range(3))
        np.testing.assert_array_equal(run(sch.mod, a, b, c), run(f, a, b, c))
    roundtrip(sch.mod)


def test_reductions_with_their_own_init() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 8), "int32"), S: T.Buffer((6,), "int32"), M: T.Buffer((6,), "int32")):
        for i, k in T.grid(6, 8):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = 0
                S[vi] = S[vi] + A[vi, vk]
        for i, k in T.grid(6, 8):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = S[vi]
                M[vi] = T.max(M[vi], A[vi, vk])

    a = rng(6, 8, dtype="int32")
    zero = np.zeros(6, "int32")
    want = run(f, a, zero, zero)
    sch = Schedule(f)
    sch.merge(sch.get_loops("S")[0], sch.get_loops("M")[0])
    np.testing.assert_array_equal(run(sch.mod, a, zero, zero), want)
    sch = Schedule(f)
    refused(sch, "reversed-dependence", sch.get_loops("S")[1], sch.get_loops("M")[1])


def refused(sch: Schedule, code: str, *loops: Any) -> Any:
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match=rf"\[{code}\]") as caught:
        sch.merge(*loops)
    assert caught.value.code == code
    str(caught.value)
    assert all(sch.mod[n] is before[n] for n in before.names())
    return caught.value


def test_refusals() -> None:
    sch = Schedule(two_stages)
    (i, j), (k, l) = (sch.get_loops(b) for b in "BC")
    refused(sch, "too-few-loops", i)
    refused(sch, "too-few-loops")
    refused(sch, "repeated-loop", i, k, i)
    refused(sch, "wrong-handle", i, "k")
    refused(sch, "different-depths", i, l)
    refused(sch, "not-siblings", i, j)
    sch.annotate(i, "x", 1)
    refused(sch, "annotated-loop", i, k)
    sch = Schedule(two_stages)
    (i, j), (k, l) = (sch.get_loops(b) for b in "BC")
    sch.bind(i, "threadIdx.x")
    refused(sch, "bound-loop", i, k)
    sch = Schedule(two_stages)
    (i, j), (k, l) = (sch.get_loops(b) for b in "BC")
    sch.split(j, [None, 5])
    refused(sch, "different-ranges", sch.get_loops("B")[1], l)
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.decompose_reduction("C", j)
    refused(sch, "not-siblings", i, sch.get_loops("C_init")[1])

    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), I: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        if A[0] > 0:
            for i in range(8):
                with T.block("guarded"):
                    vi = T.axis.spatial(8, i)
                    I[vi] = 0
        for i in range(8):
            with T.block("scattered"):
                vi = T.axis.spatial(8, i)
                B[I[vi]] = A[vi]
        for i in range(8):
            if A[i] > 3:
                break
            I[i] = 1
        with T.block("inner"):
            for i in range(8):
                with T.block("D"):
                    vi = T.axis.spatial(8, i)
                    I[vi] = 2

    sch = Schedule(f)
    b, g, s, d = (sch.get_loops(x)[0] for x in ("B", "guarded", "scattered", "D"))
    refused(sch, "not-perfectly-nested", b, g)
    e = refused(sch, "dependence-unknown", b, s)
    assert "loops `i` and `i` may be merged" in str(e)
    refused(sch, "different-scopes", b, d)


def test_a_loop_that_is_left_early() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.opaque(8, i)
                B[vi] = A[vi]
            if A[i] > 3:
                break
        for k in range(8):
            with T.block("C"):
                vi = T.axis.opaque(8, k)
                A[vi] = 0

    sch = Schedule(f)
    refused(sch, "leaves-loop", sch.get_loops("B")[0], sch.get_loops("C")[0])


def test_something_in_between() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi]
        for i in range(8):
            with T.block("M"):
                vi = T.axis.spatial(8, i)
                A[vi] = B[7 - vi]
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi]

    sch = Schedule(f)
    e = refused(sch, "nest-overtakes", sch.get_loops("B")[0], sch.get_loops("C")[0])
    assert "would move past loop `i`, which touches" in str(e)
