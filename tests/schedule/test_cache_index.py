"""cache_index: indices computed beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import rng, roundtrip, run, two_stages


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


@T.prim_func
def resize(A: T.Buffer((3, 8, 8), "float32"), R: T.Buffer((3, 10, 14), "float32")):
    for c, i, j in T.grid(3, 10, 14):
        with T.block("R"):
            vc, vi, vj = T.axis.remap("SSS", [c, i, j])
            R[vc, vi, vj] = A[vc, vi // 4 + vj // 4, vj // 2]


SOURCE = rng(3, 8, 8)
I_, J_ = np.ogrid[:10, :14]
RESIZED = SOURCE[:, I_ // 4 + J_ // 4, J_ // 2]


def test_each_index() -> None:
    @T.prim_func
    def want(A: T.Buffer((3, 8, 8), "float32"), R: T.Buffer((3, 10, 14), "float32")):
        X = T.alloc_buffer((10, 14), "int32", scope="shared")
        Y = T.alloc_buffer((14,), "int32", scope="shared")
        for ax0, ax1 in T.grid(10, 14):
            with T.block("index_0"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                X[v0, v1] = v0 // 4 + v1 // 4
        for ax0 in range(14):
            with T.block("index_1"):
                v0 = T.axis.spatial(14, ax0)
                Y[v0] = v0 // 2
        for c, i, j in T.grid(3, 10, 14):
            with T.block("R"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                T.reads(X[vi, vj], Y[vj], A[vc, 0:8, 0:8])
                T.writes(R[vc, vi, vj])
                R[vc, vi, vj] = A[vc, X[vi, vj], Y[vj]]

    for threshold in (0, 1):
        sch = Schedule(resize)
        made = sch.cache_index("R", "shared", threshold)
        assert [b.name for b in made] == ["index_0", "index_1"]
        equal(sch, want)
        np.testing.assert_array_equal(run(sch.mod, SOURCE, np.zeros((3, 10, 14), "float32")), RESIZED)


def test_parts_that_occur_often() -> None:
    @T.prim_func
    def f(A: T.Buffer((50, 50, 50), "int32"), O: T.Buffer((40, 20), "int32")):
        for i, j in T.grid(40, 20):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi // 2 + 1, vi // 2 + 2, vi // 2] + A[(vi + vj) // 4, (vi + vj) // 5, vj // 2]

    a = rng(50, 50, 50, dtype="int32")
    i, j = np.ogrid[:40, :20]
    want = a[i // 2 + 1, i // 2 + 2, i // 2] + a[(i + j) // 4, (i + j) // 5, j // 2]
    for threshold, count in ((0, 6), (1, 6), (2, 2), (3, 1), (4, 0)):
        sch = Schedule(f)
        assert len(sch.cache_index("O", "global", threshold)) == count
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((40, 20), "int32")), want)


def test_splits_reductions_nesting_and_domains() -> None:
    sch = Schedule(resize)
    sch.split(sch.get_loops("R")[1], [None, 3])
    sch.cache_index("R", "global")
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, SOURCE, np.zeros((3, 10, 14), "float32")), RESIZED)

    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), O: T.Buffer((4, 9), "int32")):
        for t in range(4):
            with T.block("outer"):
                vt = T.axis.spatial(4, t)
                for i, k in T.grid(5, 3):
                    with T.block("O"):
                        vi = T.axis.spatial((2, 7), i + 2)
                        vk = T.axis.reduce(3, k)
                        with T.init():
                            O[vt, vi] = A[vt, vi % 3]
                        O[vt, vi] = O[vt, vi] + A[vt, (vi + vk + vt) % 8] * A[vt, vi % 3]

    a = rng(4, 8, dtype="int32")
    want = run(f, a, np.full((4, 9), -7, "int32"))
    sch = Schedule(f)
    assert len(sch.cache_index("O", "local")) == 2
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, np.full((4, 9), -7, "int32")), want)


def test_what_stays() -> None:
    """Axes, constants, and what depends on data or on loops inside the block."""

    @T.prim_func
    def f(A: T.Buffer((9, 8), "int32"), B: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[7 - vi] = A[B[vi], 3] + A[vi, 0]
                for j in range(2):
                    O[7 - vi] = O[7 - vi] + A[vi + j, 1]

    sch = Schedule(f)
    before = sch.mod["main"]
    (made,) = sch.cache_index("O", "global")  # the index of the load of O
    assert str(sch.get(made).body) == "index_var_0[v0] = 7 - v0"
    roundtrip(sch.mod)
    a, b = rng(9, 8, dtype="int32"), np.array([8, 0, 3, 3, 1, 7, 2, 5], "int32")
    want = run(before, a, b, np.zeros(8, "int32"))
    np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros(8, "int32")), want)
    sch = Schedule(two_stages)
    before = sch.mod["main"]
    assert sch.cache_index("C", "global") == [] and sch.mod["main"] is before


def test_symbolic_shapes() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        O = T.match_buffer(o, (n,), "int32")
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = A[n - 1 - vi]

    sch = Schedule(f)
    sch.cache_index("O", "global")
    roundtrip(sch.mod)
    for n in (1, 5):
        x = rng(n, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, x, np.zeros(n, "int32")), x[::-1])


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((3, "global"), "wrong-handle"),
        (("root", "global"), "root-block"),
        (("C", "globl"), "bad-scope"),
        (("C", "global", -1), "bad-threshold"),
        (("C", "global", 1.5), "bad-threshold"),
    ],
)
def test_refusals(args: Any, code: str) -> None:
    sch = Schedule(two_stages)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_index(*args)
    assert caught.value.code == code
    assert sch.mod["main"] is before and len(sch.history) == 0
