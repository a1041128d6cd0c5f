# ruff: noqa: SIM105
"""Faults of schedules that people met elsewhere, each with the right answer."""

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, raises, roundtrip, run
from tirscript.script import ir as I
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_sch_03_zero_negative_or_two_unknown_factors():
    @T.prim_func
    def f(O: T.Buffer((16,), "int32")):
        for i in range(16):
            with T.block("O"):
                vi = T.axis.spatial(16, i)
                O[vi] = vi

    s = ts.Schedule(f)
    (i,) = s.get_loops(s.get_block("O"))
    before = s.mod.script()
    for bad in ([0, 16], [-1, 16], [None, None], [None, 0], [-4, -4]):
        raises(lambda: s.split(i, factors=bad))
    assert s.mod.script() == before
    s.split(i, factors=[None, 4])
    eq(run(s.mod, np.zeros(16, "int32")), np.arange(16))


def test_sch_05_symbolic_extent_split_twice_inner_part_vectorized():
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "float32")
        O = T.match_buffer(o, (n,), "float32")
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = A[vi] * T.float32(2)

    s = ts.Schedule(f)
    (i,) = s.get_loops(s.get_block("O"))
    x, y, z = s.split(i, factors=[None, 3, 8])
    s.vectorize(z)
    s.parallel(x)
    fn = ts.build(s.mod)
    for n in range(41):
        a = np.arange(n, dtype="float32")
        big = np.full(n + 64, -7, "float32")
        fn(a, big[:n])
        eq(big[:n], 2 * a)
        eq(big[n:], -7)


def test_sch_07_fuse_with_symbolic_extents_then_split():
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "int32")
        O = T.match_buffer(o, (m, n), "int32")
        for i, j in T.grid(n, m):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vj, vi] = A[vi, vj]

    s = ts.Schedule(f)
    l = s.fuse(*s.get_loops(s.get_block("O")))
    x, y = s.split(l, factors=[None, 7])
    s.parallel(x)
    fn = ts.build(s.mod)
    for n, m in ((3, 5), (1, 9), (9, 1), (7, 7), (1, 1), (0, 4), (4, 0)):
        a = np.arange(n * m, dtype="int32").reshape(n, m)
        o = np.zeros((m, n), "int32")
        fn(a, o)
        eq(o, a.T)


def test_sch_09_reordering_a_loop_inside_the_loop_its_bound_uses():
    @T.prim_func
    def f(O: T.Buffer((8, 8), "int32")):
        for i in range(8):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = vi * 10 + vj

    s = ts.Schedule(f)
    i, j = s.get_loops(s.get_block("O"))
    raises(lambda: s.reorder(j, i), exc=ts.ScheduleError)
    i0, i1 = s.split(i, factors=[None, 4])
    raises(lambda: s.reorder(j, i1), exc=ts.ScheduleError)
    want = np.tril(np.add.outer(np.arange(8) * 10, np.arange(8)))
    eq(run(s.mod, np.zeros((8, 8), "int32")), want)


def test_sch_33_reduction_loop_outermost_two_reduction_loops_reduction_domain_not_from_zero():
    @T.prim_func
    def f(A: T.Buffer((3, 10, 6), "int32"), O: T.Buffer((3,), "int32")):
        for i, j, k in T.grid(3, 4, 6):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                vj = T.axis.reduce((2, 6), j + 2)
                vk = T.axis.reduce(6, k)
                with T.init():
                    O[vi] = 1
                O[vi] = O[vi] + A[vi, vj, vk]

    a = np.arange(180, dtype="int32").reshape(3, 10, 6)
    want = a[:, 2:6].sum((1, 2)) + 1
    import itertools

    for p in itertools.permutations(range(3)):
        s = ts.Schedule(f)
        l = s.get_loops(s.get_block("O"))
        s.reorder(*[l[x] for x in p])
        eq(run(s.mod, a, np.full(3, -9, "int32")), want)


def test_sch_53_vectorizing_a_reduction_loop():
    @T.prim_func
    def f(V: T.Buffer((128,), "float32"), O: T.Buffer((1,), "float32")):
        for k in range(128):
            with T.block("O"):
                vk = T.axis.reduce(128, k)
                with T.init():
                    O[0] = T.float32(0)
                O[0] = O[0] + V[vk]

    s = ts.Schedule(f)
    try:
        s.vectorize(s.get_loops(s.get_block("O"))[0])
    except ts.ScheduleError:
        pass
    eq(run(s.mod, np.ones(128, "float32"), np.zeros(1, "float32")), [128])


def test_sch_55_a_condition_that_depends_on_the_vectorized_variable():
    @T.prim_func
    def f(A: T.Buffer((10, 8), "int32"), O: T.Buffer((10, 8), "int32")):
        for i in range(10):
            for j in T.vectorized(8):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj]
                    if vj % 3 != 0:
                        O[vi, vj] = A[vi, vj] * 2
                    if vi > 4:
                        O[vi, vj] = O[vi, vj] + 1000

    a = np.arange(80, dtype="int32").reshape(10, 8)
    want = np.where(np.arange(8) % 3 != 0, a * 2, a) + np.where(np.arange(10) > 4, 1000, 0)[:, None]
    eq(run(f, a, np.zeros((10, 8), "int32")), want)


def test_sch_57_if_then_else_guarding_a_read_that_would_be_far_out_of_bounds():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), O: T.Buffer((32,), "float32")):
        for i in range(4):
            for j in T.vectorized(8):
                with T.block("O"):
                    vi = T.axis.spatial(32, i * 8 + j)
                    O[vi] = T.if_then_else(vi < 8, A[vi * (1 + vi // 8 * 268435456)], T.float32(0))

    a = np.arange(8, dtype="float32") + 1
    eq(run(f, a, np.full(32, -1, "float32")), np.concatenate([a, np.zeros(24)]))


def test_sch_67_a_block_whose_reduction_length_depends_on_the_row():
    @T.prim_func
    def f(P: T.Buffer((7,), "int32"), V: T.Buffer((20,), "float32"), O: T.Buffer((6,), "float32")):
        for i in range(6):
            with T.block("row"):
                vi = T.axis.spatial(6, i)
                T.reads(P[vi : vi + 2], V[0:20])
                T.writes(O[vi])
                O[vi] = T.float32(0)
                for k in range(P[vi + 1] - P[vi]):
                    O[vi] = O[vi] + V[P[vi] + k]

    p = np.array([0, 3, 3, 8, 9, 20, 20], "int32")
    v = np.arange(20, dtype="float32")
    want = [v[p[i] : p[i + 1]].sum() for i in range(6)]
    eq(run(f, p, v, np.zeros(6, "float32")), want)
    s = ts.Schedule(f)
    try:
        s.parallel(s.get_loops(s.get_block("row"))[0])
    except ts.ScheduleError:
        pass
    eq(run(s.mod, p, v, np.zeros(6, "float32")), want)


def test_sch_69_match_buffer_of_a_strided_sub_region():
    @T.prim_func
    def f(A: T.Buffer((8, 10), "int32"), O: T.Buffer((8, 10), "int32")):
        for i, j in T.grid(8, 10):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj]
        with T.block("sub"):
            T.reads(O[2:6, 3:7])
            T.writes(O[2:6, 3:7])
            S = T.match_buffer(O[2:6, 3:7], (4, 4), "int32", strides=[10, 1], offset_factor=1)
            for i, j in T.grid(4, 4):
                with T.block("x"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    S[vi, vj] = S[vi, vj] * 2

    a = np.arange(80, dtype="int32").reshape(8, 10)
    want = a.copy()
    want[2:6, 3:7] *= 2
    eq(run(f, a, np.zeros((8, 10), "int32")), want)


def test_sch_75_a_chain_of_splits_by_4_2_1_and_8():
    def make(n):
        @T.prim_func
        def f(A: T.Buffer((n + 2,), "int32"), O: T.Buffer((n,), "int32")):
            for i in range(n):
                with T.block("O"):
                    vi = T.axis.spatial(n, i)
                    O[vi] = (A[vi] + A[vi + 1] + A[vi + 2]) // 3

        return f

    for n in range(1, 21):
        s = ts.Schedule(make(n))
        (l,) = s.get_loops(s.get_block("O"))
        xo, xi = s.split(l, factors=[None, 4])
        xio, xii = s.split(xi, factors=[None, 2])
        p, q = s.split(xii, factors=[None, 1])
        u, v = s.split(q, factors=[None, 8])
        s.vectorize(v)
        a = (np.arange(n + 2) ** 2).astype("int32")
        big = np.full(n + 40, -7, "int32")
        ts.build(s.mod)(a, big[:n])
        eq(big[:n], (a[:-2] + a[1:-1] + a[2:]) // 3)
        eq(big[n:], -7)


def test_sch_77_blocks_sharing_a_name_a_consumer_that_reads_one_producer_twice():
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

    s = ts.Schedule(f)
    assert len(s.get_producers(s.get_block("O"))) == 1
    assert len(s.get_consumers(s.get_block("B"))) == 1
    assert len(s.get_producers(s.get_block("B"))) == 0
    raises(lambda: s.get_block("X"), "X", exc=ts.ScheduleError)

    @T.prim_func
    def g(O: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("same"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi
        for i in range(4):
            with T.block("same"):
                vi = T.axis.spatial(4, i)
                P[vi] = vi

    def amb():
        t = ts.Schedule(g)
        t.get_block("same")

    raises(amb, "same")


def test_sch_81_while_loops_loop_bounds_read_from_buffers():
    @T.prim_func
    def f(
        S: T.Buffer((10,), "int32"),
        V: T.Buffer((6,), "int32"),
        O: T.Buffer((6,), "int32"),
        P: T.Buffer((4,), "int32"),
        D: T.Buffer((9,), "int32"),
        R: T.Buffer((3,), "int32"),
    ):
        for i in range(6):
            with T.block("search"):
                vi = T.axis.spatial(6, i)
                T.reads(S[0:10], V[vi])
                T.writes(O[vi])
                O[vi] = 0
                while O[vi] < 10 and S[T.min(O[vi], 9)] < V[vi]:
                    O[vi] = O[vi] + 1
        for i in range(3):
            with T.block("csr"):
                vi = T.axis.spatial(3, i)
                T.reads(P[vi : vi + 2], D[0:9])
                T.writes(R[vi])
                R[vi] = 0
                for k in range(P[vi], P[vi + 1]):
                    R[vi] = R[vi] + D[k]

    srt = np.array([1, 3, 3, 5, 8, 9, 11, 12, 20, 30], "int32")
    v = np.array([0, 3, 4, 12, 31, 30], "int32")
    p = np.array([0, 4, 4, 9], "int32")
    d = np.arange(9, dtype="int32")
    o, r = np.zeros(6, "int32"), np.zeros(3, "int32")
    ts.build(f)(srt, v, o, p, d, r)
    eq(o, np.searchsorted(srt, v))
    eq(r, [d[p[i] : p[i + 1]].sum() for i in range(3)])
    roundtrip(f)


def test_sch_87_decompose_at_each_loop_loops_in_mixed_order_init_with_a_condition_in_it():
    @T.prim_func
    def f(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
        for i, k, j in T.grid(4, 5, 6):
            with T.block("O"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                with T.init():
                    O[vi, vj] = T.if_then_else(vj % 2 == 0, 100, vi)
                O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    a = np.arange(120, dtype="int32").reshape(4, 6, 5)
    i, j = np.ogrid[:4, :6]
    want = a.sum(2) + np.where(j % 2 == 0, 100, i)
    for level in range(3):
        s = ts.Schedule(f)
        b = s.get_block("O")
        try:
            s.decompose_reduction(b, s.get_loops(b)[level])
        except ts.ScheduleError:
            assert level == 2
        eq(run(s.mod, a, np.full((4, 6), -9, "int32")), want)


def test_sch_97_three_blocks_under_two_shared_loops_primitives_on_the_wrong_loops():
    @T.prim_func
    def f(X: T.Buffer((4, 6), "int32"), Y: T.Buffer((4,), "int32"), Z: T.Buffer((4, 6), "int32")):
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                Y[vi] = vi * 7
            for j in range(6):
                with T.block("X"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi, vj] = Y[vi] + vj
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Z[vi, vj] = X[vi, vj] * 2

    x = np.add.outer(np.arange(4) * 7, np.arange(6))

    def check(m):
        gx, gy, gz = np.zeros((4, 6), "int32"), np.zeros(4, "int32"), np.zeros((4, 6), "int32")
        ts.build(m)(gx, gy, gz)
        eq(gx, x)
        eq(gy, np.arange(4) * 7)
        eq(gz, 2 * x)

    s = ts.Schedule(f)
    i, j = s.get_loops(s.get_block("X"))
    raises(lambda: s.fuse(i, j), exc=ts.ScheduleError)
    raises(lambda: s.reorder(j, i), exc=ts.ScheduleError)
    s.split(j, factors=[None, 4])
    check(s.mod)
    s.parallel(i)
    check(s.mod)
    s.unroll(s.get_loops(s.get_block("Z"))[-1])
    check(s.mod)


def test_sch_99_two_functions_in_one_module_the_same_buffer_and_block_names_schedule_the_second():
    @I.ir_module
    class M:
        @T.prim_func
        def scale(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
            for i in range(9):
                with T.block("O"):
                    vi = T.axis.spatial(9, i)
                    O[vi] = A[vi] * 2

        @T.prim_func
        def shift(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
            for i in range(9):
                with T.block("O"):
                    vi = T.axis.spatial(9, i)
                    O[vi] = A[vi] + 5

    s = ts.Schedule(M)
    raises(lambda: s.work_on("nope"), "nope")
    s.work_on("shift")
    s.split(s.get_loops(s.get_block("O"))[0], factors=[None, 4])
    assert s.mod["scale"].script() == M["scale"].script()
    fn = ts.build(s.mod)
    a = np.arange(9, dtype="int32")
    for n, want in (("scale", a * 2), ("shift", a + 5)):
        o = np.zeros(9, "int32")
        fn[n](a, o)
        eq(o, want)
