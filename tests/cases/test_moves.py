# ruff: noqa: SIM105, SIM300, B905, B904, PERF401
"""Faults that users met where blocks are moved, with the right answers."""

import os
import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, run
from tirscript.script import tir as T

pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_prt_25_after_each_primitive_the_text_parses_back_to_the_same_module():
    @T.prim_func
    def f(
        A: T.Buffer((18, 20), "float32"), B: T.Buffer((20, 22), "float32"), C: T.Buffer((18, 22), "float32")
    ):
        for i, j, k in T.grid(18, 22, 20):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    a = np.random.default_rng(0).random((18, 20), "float32")
    b = np.random.default_rng(1).random((20, 22), "float32")
    s = ts.Schedule(f)

    def step():
        g = ts.parse(s.mod.script())
        ts.assert_structural_equal(g, s.mod)
        eq(run(g, a, b, np.zeros((18, 22), "float32")), a @ b, rtol=1e-4)

    blk = s.get_block("C")
    i, j, k = s.get_loops(blk)
    i0, i1 = s.split(i, factors=[None, 4])
    step()
    j0, j1 = s.split(j, factors=[None, 8])
    step()
    k0, k1 = s.split(k, factors=[None, 6])
    step()
    s.reorder(i0, j0, k0, i1, k1, j1)
    step()
    w = s.cache_write(blk, 0, "local")
    step()
    s.reverse_compute_at(w, j0)
    step()
    r = s.cache_read(blk, 1, "local")
    step()
    s.compute_at(r, k0)
    step()
    s.unroll(k1)
    step()
    s.parallel(i0)
    step()
    s.decompose_reduction(blk, k0)
    step()


def test_sim_31_regions_with_a_negative_coefficient():
    @T.prim_func
    def f(A: T.Buffer((33,), "int32"), O: T.Buffer((12, 4), "int32")):
        for j, i in T.grid(4, 12):
            with T.block("O"):
                vj, vi = T.axis.remap("SS", [j, i])
                O[vi, vj] = A[21 - vj * 5 + vi]

    s = ts.Schedule(f)
    b = s.get_block("O")
    c = s.cache_read(b, 0, "global")
    s.compute_at(c, s.get_loops(b)[0])
    a = np.arange(33, dtype="int32")
    i, j = np.ogrid[:12, :4]
    eq(run(s.mod, a, np.zeros((12, 4), "int32")), a[21 - 5 * j + i])


def test_dty_11_int64_shapes_with_int32_loops_and_the_other_way_through_cache_read_reinde():
    @T.prim_func
    def f(A: T.Buffer((T.int64(8), T.int64(12)), "float32"), O: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((T.int64(8), T.int64(12)), "float32")
        for i, j in T.grid(T.int64(8), T.int64(12)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for i, j in T.grid(8, 12):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[7 - vi, vj] * T.float32(2)

    a = np.arange(96, dtype="float32").reshape(8, 12)
    want = (a[::-1] + 1) * 2
    for steps in range(1, 5):
        s = ts.Schedule(f)
        b, o = s.get_block("B"), s.get_block("O")
        if steps >= 1:
            i, j = s.get_loops(o)
            i0, i1 = s.split(i, factors=[None, 3])
        if steps >= 2:
            c = s.cache_read(o, 0, "global")
        if steps >= 3:
            s.compute_at(c, i0)
        if steps >= 4:
            s.transform_layout(b, ("write", 0), lambda p, q: [q, p])
        eq(run(s.mod, a, np.zeros((8, 12), "float32")), want)


def test_rob_01_a_chain_of_700_elementwise_stages():
    N = 700
    src = ["@T.prim_func", 'def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):']
    for k in range(N):
        src.append(f'    B{k} = T.alloc_buffer((4,), "int32")')
    for k in range(N + 1):
        src_buf = "A" if k == 0 else f"B{k - 1}"
        dst = "O" if k == N else f"B{k}"
        src += [
            "    for i in range(4):",
            f'        with T.block("s{k}"):',
            "            vi = T.axis.spatial(4, i)",
            f"            {dst}[vi] = {src_buf}[vi] + 1",
        ]
    f = ts.parse("\n".join(src))
    eq(run(f, np.arange(4, dtype="int32"), np.zeros(4, "int32")), np.arange(4) + N + 1)
    s = ts.Schedule(f)
    for k in range(50):
        s.compute_inline(s.get_block(f"s{k}"))
    eq(run(s.mod, np.arange(4, dtype="int32"), np.zeros(4, "int32")), np.arange(4) + N + 1)


def test_rob_03_full_unroll_of_a_16x16x16_matmul_12_level_tiling():
    @T.prim_func
    def f(
        A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")
    ):
        for i, j, k in T.grid(16, 16, 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    a = np.random.default_rng(0).random((16, 16)).astype("float32")
    b = np.random.default_rng(1).random((16, 16)).astype("float32")
    t = time.time()
    s = ts.Schedule(f)
    for ls in s.get_loops(s.get_block("C")):
        s.unroll(ls)
    eq(run(s.mod, a, b, np.zeros((16, 16), "float32")), a @ b, rtol=1e-5)
    assert time.time() - t < 60
    t = time.time()
    s = ts.Schedule(f)
    c = s.get_block("C")
    i, j, k = s.get_loops(c)
    li, lj, lk = (s.split(x, factors=[2, 2, 2, 2]) for x in (i, j, k))
    s.reorder(*[x for t3 in zip(li, lj, lk) for x in t3])
    w = s.cache_write(c, 0, "global")
    s.reverse_compute_at(w, s.get_loops(c)[4])
    eq(run(s.mod, a, b, np.zeros((16, 16), "float32")), a @ b, rtol=1e-5)
    assert time.time() - t < 60


def test_rob_05_loops_of_extent_one_everywhere():
    @T.prim_func
    def f(A: T.Buffer((1, 4, 1), "int32"), O: T.Buffer((1, 4), "int32")):
        B = T.alloc_buffer((1, 4), "int32")
        for b, i, k in T.grid(1, 4, 1):
            with T.block("B"):
                vb, vi, vk = T.axis.remap("SSR", [b, i, k])
                with T.init():
                    B[vb, vi] = 10
                B[vb, vi] = B[vb, vi] + A[vb, vi, vk]
        for b, i in T.grid(1, 4):
            with T.block("O"):
                vb, vi = T.axis.remap("SS", [b, i])
                O[vb, vi] = B[vb, vi] * 2

    a = np.arange(4, dtype="int32").reshape(1, 4, 1)
    want = (a[:, :, 0] + 10) * 2
    for step in range(8):
        s = ts.Schedule(f)
        b, o = s.get_block("B"), s.get_block("O")
        ls = s.get_loops(b)
        try:
            if step == 0:
                s.reorder(ls[2], ls[0], ls[1])
            if step == 1:
                s.decompose_reduction(b, ls[0])
            if step == 2:
                s.compute_at(b, s.get_loops(o)[0])
            if step == 3:
                s.reverse_compute_at(o, ls[1])
            if step == 4:
                s.fuse(*ls)
            if step == 5:
                s.rfactor(ls[2], 0)
            if step == 6:
                s.split(ls[0], factors=[1, 1, 1])
            if step == 7:
                s.parallel(ls[0])
                s.unroll(ls[2])
                s.vectorize(s.get_loops(o)[1])
        except ts.ScheduleError:
            pass
        eq(run(s.mod, a, np.zeros((1, 4), "int32")), want)


def test_rob_11_printing_is_deterministic_and_stable(tmp_path: Path):
    code = """
    from tirscript.script import tir as T
    import tirscript as ts
    @T.prim_func
    def f(A: T.Buffer((8, 8), "int32"), O: T.Buffer((8,), "int32")):
        for i, k in T.grid(8, 8):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]
    s = ts.Schedule(f)
    i, k = s.get_loops(s.get_block("O"))
    s.annotate(i, "b", 1); s.annotate(i, "a", {"y": 1, "x": 2})
    s.rfactor(s.split(k, factors=[2, 4])[0], 0)
    print(s.mod.script())
    assert ts.parse(s.mod.script()).script() == s.mod.script()
    """
    (tmp_path / "prog.py").write_text(textwrap.dedent(code))
    outs = {
        subprocess.run(
            [sys.executable, str(tmp_path / "prog.py")],
            env={**os.environ, "PYTHONHASHSEED": str(h), "PYTHONPATH": str(Path(ts.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for h in (0, 1, 2)
    }
    assert len(outs) == 1


def test_rob_13_random_schedules_of_a_two_stage_stencil_with_uneven_sizes():
    @T.prim_func
    def f(A: T.Buffer((11, 13), "int32"), O: T.Buffer((7, 9), "int32")):
        B = T.alloc_buffer((9, 13), "int32")
        C = T.alloc_buffer((9, 11), "int32")
        for i, j, r in T.grid(9, 13, 3):
            with T.block("B"):
                vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    B[vi, vj] = 0
                B[vi, vj] = B[vi, vj] + A[vi + vr, vj]
        for i, j in T.grid(9, 11):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(B[vi, vj], B[vi, vj + 2])
        for i, j in T.grid(7, 9):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = C[vi + 2, vj] - C[vi, vj + 2]

    a = np.random.default_rng(0).integers(-99, 99, (11, 13)).astype("int32")
    b = a[:-2] + a[1:-1] + a[2:]
    c = np.maximum(b[:, :-2], b[:, 2:])
    want = c[2:, :-2] - c[:-2, 2:]
    eq(run(f, a, np.zeros((7, 9), "int32")), want)
    for seed in range(60):
        rnd = random.Random(seed)
        s = ts.Schedule(f)
        for _ in range(7):
            before = s.mod.script()
            op = rnd.choice(
                [
                    "split",
                    "fuse",
                    "reorder",
                    "compute_at",
                    "compute_at",
                    "cache_read",
                    "cache_write",
                    "decompose",
                    "inline",
                    "unroll",
                    "vectorize",
                    "parallel",
                ]
            )
            try:
                blk, tgt = s.get_block(rnd.choice("BCO")), s.get_block(rnd.choice("CO"))
                ls, t = s.get_loops(blk), s.get_loops(tgt)
                if op == "split":
                    s.split(rnd.choice(ls), factors=[None, rnd.choice([2, 3, 4, 8])])
                if op == "fuse":
                    x = rnd.randrange(max(1, len(ls) - 1))
                    s.fuse(*ls[x : x + 2])
                if op == "reorder":
                    s.reorder(*rnd.sample(ls, min(len(ls), 3)))
                if op == "compute_at":
                    s.compute_at(blk, rnd.choice(t))
                if op == "cache_read":
                    s.compute_at(s.cache_read(tgt, 0, "global"), rnd.choice(t))
                if op == "cache_write":
                    s.reverse_compute_at(s.cache_write(blk, 0, "global"), rnd.choice(ls))
                if op == "decompose":
                    s.decompose_reduction(blk, rnd.choice(ls))
                if op == "inline":
                    s.compute_inline(blk)
                if op in ("unroll", "vectorize", "parallel"):
                    getattr(s, op)(rnd.choice(ls))
            except (ts.ScheduleError, ValueError, IndexError):
                assert op in ("cache_read", "cache_write") or s.mod.script() == before, (seed, op)
        try:
            got = run(s.mod, a, np.zeros((7, 9), "int32"))
        except Exception as e:
            raise AssertionError((seed, "build failed", str(e)[:200]))
        assert np.array_equal(got, want), (seed, "wrong result")


def test_sch_11_padded_3x3_pooling_stride_2_producer_computed_at_the_tile():
    @T.prim_func
    def f(X: T.Buffer((15, 15), "float32"), Y: T.Buffer((8, 8), "float32")):
        P = T.alloc_buffer((17, 17), "float32")
        for i, j in T.grid(17, 17):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = T.if_then_else(
                    1 <= vi and vi < 16 and 1 <= vj and vj < 16, X[vi - 1, vj - 1], T.float32(-1000)
                )
        for i, j, r, c in T.grid(8, 8, 3, 3):
            with T.block("Y"):
                vi, vj, vr, vc = T.axis.remap("SSRR", [i, j, r, c])
                with T.init():
                    Y[vi, vj] = T.float32(-1000)
                Y[vi, vj] = T.max(Y[vi, vj], P[vi * 2 + vr, vj * 2 + vc])

    x = np.random.default_rng(0).random((15, 15)).astype("float32")
    p = np.pad(x, 1, constant_values=-1000)
    want = np.array([[p[2 * i : 2 * i + 3, 2 * j : 2 * j + 3].max() for j in range(8)] for i in range(8)])
    for level in range(6):
        s = ts.Schedule(f)
        y = s.get_block("Y")
        i, j = s.get_loops(y)[:2]
        i0, i1 = s.split(i, factors=[None, 3])
        j0, j1 = s.split(j, factors=[None, 4])
        s.reorder(i0, j0, i1, j1)
        s.compute_at(s.get_block("P"), s.get_loops(y)[level])
        eq(run(s.mod, x, np.zeros((8, 8), "float32")), want)


def test_sch_13_consumer_reads_b_i_j_5_strided_region_and_equal_loop_names():
    @T.prim_func
    def f(A: T.Buffer((15,), "float32"), C: T.Buffer((5, 3), "float32")):
        B = T.alloc_buffer((15,), "float32")
        for i in range(15):
            with T.block("B"):
                vi = T.axis.spatial(15, i)
                B[vi] = A[vi] + T.float32(1)
        for i, j in T.grid(5, 3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi + vj * 5] * T.float32(2)

    a = np.arange(15, dtype="float32")
    i, j = np.ogrid[:5, :3]
    for level in (0, 1):
        s = ts.Schedule(f)
        s.compute_at(s.get_block("B"), s.get_loops(s.get_block("C"))[level])
        eq(run(s.mod, a, np.zeros((5, 3), "float32")), (a[i + 5 * j] + 1) * 2)


def test_sch_15_consumer_moved_under_its_producer_s_tiled_loop_symbolic_size():
    @T.prim_func
    def f(a: T.handle, b: T.handle, e: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        E = T.match_buffer(e, (n,), "float32")
        D = T.alloc_buffer((n,), "float32")
        for i in range(n):
            with T.block("D"):
                vi = T.axis.spatial(n, i)
                D[vi] = (A[vi] + B[vi]) * T.float32(2)
        for i in range(n):
            with T.block("E"):
                vi = T.axis.spatial(n, i)
                E[vi] = D[vi] + A[vi]

    s = ts.Schedule(f)
    d = s.get_block("D")
    x, y = s.split(s.get_loops(d)[0], factors=[None, 32])
    try:
        s.reverse_compute_at(s.get_block("E"), x)
    except ts.ScheduleError:
        pass
    fn = ts.build(s.mod)
    for n in (1024, 1000, 31, 1):
        a, b = np.arange(n, dtype="float32"), np.ones(n, "float32")
        o = np.full(n, -1, "float32")
        fn(a, b, o)
        eq(o, (a + b) * 2 + a)


def test_sch_19_transposing_copy_inlined_back_into_a_reduction():
    @T.prim_func
    def f(A: T.Buffer((6, 5), "int32"), B: T.Buffer((5, 4), "int32"), C: T.Buffer((4, 6), "int32")):
        D = T.alloc_buffer((6, 4), "int32")
        for i, j, k in T.grid(6, 4, 5):
            with T.block("D"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    D[vi, vj] = 0
                D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(6, 4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = D[vi, vj]

    a = np.arange(30, dtype="int32").reshape(6, 5)
    b = np.arange(20, dtype="int32").reshape(5, 4)
    s = ts.Schedule(f)
    try:
        s.reverse_compute_inline(s.get_block("C"))
    except ts.ScheduleError:
        pass
    eq(run(s.mod, a, b, np.zeros((4, 6), "int32")), (a @ b).T)


def test_sch_21_caching_an_index_buffer_used_inside_another_access():
    @T.prim_func
    def f(A: T.Buffer((6, 4), "float32"), B: T.Buffer((5,), "int32"), O: T.Buffer((5, 4), "float32")):
        for i, j in T.grid(5, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[B[vi], vj]

    a = np.random.default_rng(0).random((6, 4)).astype("float32")
    b = np.array([5, 0, 3, 3, 1], "int32")
    for which in (0, 1):
        s = ts.Schedule(f)
        o = s.get_block("O")
        c = s.cache_read(o, which, "global")
        eq(run(s.mod, a, b, np.zeros((5, 4), "float32")), a[b])
        ts.assert_structural_equal(ts.parse(s.mod.script()), s.mod)
        s.compute_at(c, s.get_loops(o)[0])
        eq(run(s.mod, a, b, np.zeros((5, 4), "float32")), a[b])


def test_sch_25_cached_accumulator_with_the_reduction_loop_outside_a_spatial_one():
    @T.prim_func
    def f(X: T.Buffer((8, 12, 10), "float32"), Y: T.Buffer((8, 10), "float32")):
        for i, j, k in T.grid(8, 10, 12):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk, vj]

    x = np.random.default_rng(0).random((8, 12, 10)).astype("float32")
    for level in range(6):
        s = ts.Schedule(f)
        b = s.get_block("Y")
        i, j, k = s.get_loops(b)
        i0, i1 = s.split(i, factors=[2, 4])
        j0, j1 = s.split(j, factors=[5, 2])
        k0, k1 = s.split(k, factors=[3, 4])
        s.reorder(i0, k0, j0, i1, k1, j1)
        w = s.cache_write(b, 0, "global")
        try:
            s.reverse_compute_at(w, s.get_loops(b)[level])
        except ts.ScheduleError:
            pass
        eq(run(s.mod, x, np.zeros((8, 10), "float32")), x.sum(1), rtol=1e-5)


def test_sch_35_a_consumer_of_a_finished_reduction_must_not_move_into_it():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
        M = T.alloc_buffer((1,), "float32")
        for k in range(8):
            with T.block("M"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    M[0] = T.float32(0)
                M[0] = T.max(M[0], A[vk])
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = A[vi] / M[0]

    a = np.linspace(0, 3, 8).astype("float32")
    s = ts.Schedule(f)
    try:
        s.reverse_compute_at(s.get_block("O"), s.get_loops(s.get_block("M"))[0])
    except ts.ScheduleError:
        pass
    eq(run(s.mod, a, np.zeros(8, "float32")), a / a.max())
    s = ts.Schedule(f)
    s.compute_at(s.get_block("M"), s.get_loops(s.get_block("O"))[0])
    eq(run(s.mod, a, np.zeros(8, "float32")), a / a.max())


def test_sch_51_two_uneven_splits_one_stage_computed_inside_the_other_s_tile():
    @T.prim_func
    def f(A: T.Buffer((48,), "float32"), D: T.Buffer((48,), "float32")):
        C = T.alloc_buffer((48,), "float32")
        for i in range(48):
            with T.block("C"):
                vi = T.axis.spatial(48, i)
                C[vi] = A[vi]
        for i in range(48):
            with T.block("D"):
                vi = T.axis.spatial(48, i)
                D[vi] = C[vi]

    a = np.arange(48, dtype="float32") + 1
    for hint in (False, True):
        s = ts.Schedule(f)
        c, d = s.get_block("C"), s.get_block("D")
        do, di = s.split(s.get_loops(d)[0], factors=[None, 32])
        s.compute_at(c, do)
        co, ci = s.split(s.get_loops(c)[1], factors=[None, 10])
        if hint:
            s.annotate(do, "pragma_loop_partition_hint", 1)
            s.annotate(co, "pragma_loop_partition_hint", 1)
        big = np.full(128, -7, "float32")
        ts.build(s.mod)(a, big[:48])
        eq(big[:48], a)
        eq(big[48:], -7)


def test_sch_63_nested_parallel_loops_and_intermediates_inside_a_parallel_loop():
    @T.prim_func
    def f(A: T.Buffer((64, 64), "float32"), O: T.Buffer((64, 64), "float32")):
        B = T.alloc_buffer((64, 64), "float32")
        for i, j in T.grid(64, 64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(64, 64):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[vi, 63 - vj]

    a = np.random.default_rng(0).random((64, 64)).astype("float32")
    s = ts.Schedule(f)
    o = s.get_block("O")
    i, j = s.get_loops(o)
    s.compute_at(s.get_block("B"), i)
    s.parallel(i)
    try:
        s.parallel(j)
    except ts.ScheduleError:
        pass
    fn = ts.build(s.mod)
    for _ in range(30):
        out = np.zeros((64, 64), "float32")
        fn(a, out)
        eq(out, 2 * a[:, ::-1])


def test_sch_71_producer_written_in_two_parts_consumer_spanning_both():
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
        B = T.alloc_buffer((16,), "int32")
        for i in range(10):
            with T.block("lo"):
                vi = T.axis.spatial(10, i)
                B[vi] = A[vi] + 1
        for i in range(6):
            with T.block("hi"):
                vi = T.axis.spatial(6, i)
                B[vi + 10] = A[vi + 10] * 2
        for i in range(16):
            with T.block("O"):
                vi = T.axis.spatial(16, i)
                O[vi] = B[15 - vi]

    a = np.arange(16, dtype="int32")
    want = np.concatenate([a[:10] + 1, a[10:] * 2])[::-1]
    for step in ("lo", "hi", "both", "read", "inline"):
        s = ts.Schedule(f)
        o = s.get_block("O")
        for name in ("lo", "hi") if step == "both" else (step,):
            try:
                if step == "read":
                    s.compute_at(s.cache_read(o, 0, "global"), s.get_loops(o)[0])
                elif step == "inline":
                    s.compute_inline(s.get_block("lo"))
                else:
                    s.compute_at(s.get_block(name), s.get_loops(o)[0])
            except ts.ScheduleError:
                pass
        eq(run(s.mod, a, np.zeros(16, "int32")), want)


def test_sch_73_producer_read_at_min_x_y_max_x_y_computed_at_the_row_row_vectorized():
    @T.prim_func
    def f(O: T.Buffer((16, 16), "int32")):
        B = T.alloc_buffer((16, 16), "int32")
        for x, y in T.grid(16, 16):
            with T.block("B"):
                vx, vy = T.axis.remap("SS", [x, y])
                B[vx, vy] = vx * 100 + vy
        for y, x in T.grid(16, 16):
            with T.block("O"):
                vy, vx = T.axis.remap("SS", [y, x])
                O[vx, vy] = B[T.min(vx, vy), T.max(vx, vy)]

    x, y = np.ogrid[:16, :16]
    want = np.minimum(x, y) * 100 + np.maximum(x, y)
    for level in (0, 1):
        s = ts.Schedule(f)
        o = s.get_block("O")
        a, b = s.get_loops(o)
        s.compute_at(s.get_block("B"), (a, b)[level])
        if level == 0:
            s.vectorize(b)
        eq(run(s.mod, np.zeros((16, 16), "int32")), want)


def test_sch_79_double_buffer_annotation_on_a_per_iteration_scratch():
    @T.prim_func
    def f(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
        C = T.alloc_buffer((16, 32), "float32")
        for i, j in T.grid(16, 32):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(16, 32):
            with T.block("B"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + C[vi, vj]

    a = np.random.default_rng(0).random((16, 32)).astype("float32")
    s = ts.Schedule(f)
    c = s.get_block("C")
    s.compute_at(c, s.get_loops(s.get_block("B"))[0])
    s.annotate(c, "double_buffer_scope", 0)
    eq(run(s.mod, a, np.zeros(16, "float32")), 2 * a.sum(1), rtol=1e-5)


def test_sch_86_moving_a_block_across_a_write_to_a_buffer_it_reads_write_after_read_or_ac():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), P: T.Buffer((8,), "int32"), Q: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("first"):
                vi = T.axis.spatial(8, i)
                P[vi] = A[7 - vi] + 1
        for i in range(8):
            with T.block("over"):
                vi = T.axis.spatial(8, i)
                A[vi] = vi * 100
        for i in range(8):
            with T.block("second"):
                vi = T.axis.spatial(8, i)
                Q[vi] = A[vi] + P[vi]

    a0 = np.arange(8, dtype="int32") * 3
    p0 = a0[::-1] + 1
    q0 = np.arange(8) * 100 + p0
    for prim in ("compute_at", "reverse_compute_at"):
        for blk in ("first", "over", "second"):
            for tgt in ("first", "over", "second"):
                if blk == tgt:
                    continue
                s = ts.Schedule(f)
                try:
                    getattr(s, prim)(s.get_block(blk), s.get_loops(s.get_block(tgt))[0])
                except ts.ScheduleError:
                    continue
                a, p, q = a0.copy(), np.zeros(8, "int32"), np.zeros(8, "int32")
                ts.build(s.mod)(a, p, q)
                eq(p, p0)
                eq(q, q0)
                eq(a, np.arange(8) * 100)


def test_sch_96_one_elementwise_block_writing_two_buffers():
    @T.prim_func
    def f(A: T.Buffer((10,), "int32"), P: T.Buffer((10,), "int32"), Q: T.Buffer((10,), "int32")):
        X = T.alloc_buffer((10,), "int32")
        Y = T.alloc_buffer((10,), "int32")
        for i in range(10):
            with T.block("XY"):
                vi = T.axis.spatial(10, i)
                X[vi] = A[vi] + 1
                Y[9 - vi] = A[vi] * 2
        for i in range(10):
            with T.block("P"):
                vi = T.axis.spatial(10, i)
                P[vi] = X[vi] - 3
        for i in range(10):
            with T.block("Q"):
                vi = T.axis.spatial(10, i)
                Q[vi] = Y[vi] + X[0]

    a = np.arange(10, dtype="int32") * 7
    for st in range(6):
        s = ts.Schedule(f)
        xy, p, q = (s.get_block(n) for n in ("XY", "P", "Q"))
        try:
            if st == 0:
                s.compute_inline(xy)
            if st == 1:
                s.compute_at(xy, s.get_loops(p)[0])
            if st == 2:
                s.compute_at(xy, s.get_loops(q)[0])
            if st == 3:
                s.reverse_compute_at(p, s.get_loops(xy)[0])
            if st == 4:
                s.reverse_compute_at(q, s.get_loops(xy)[0])
            if st == 5:
                s.cache_write(xy, 1, "global")
        except ts.ScheduleError:
            pass
        gp, gq = np.zeros(10, "int32"), np.zeros(10, "int32")
        ts.build(s.mod)(a, gp, gq)
        eq(gp, a - 2)
        eq(gq, a[::-1] * 2 + a[0] + 1)


def test_sch_98_reversed_and_shifted_bindings_9_i_i_3_with_domains_not_from_zero():
    @T.prim_func
    def f(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
        for i, j in T.grid(3, 4):
            with T.block("O"):
                v = T.axis.spatial((2, 14), 13 - (i * 4 + j))
                O[v] = A[19 - v] * 2

    a = np.arange(20, dtype="int32")
    want = np.full(20, -1)
    want[2:14] = 2 * a[::-1][2:14]
    for st in range(7):
        s = ts.Schedule(f)
        b = s.get_block("O")
        i, j = s.get_loops(b)
        try:
            if st == 1:
                s.reorder(j, i)
            if st == 2:
                s.vectorize(s.split(s.fuse(i, j), factors=[None, 5])[1])
            if st == 3:
                s.compute_at(s.cache_read(b, 0, "global"), i)
            if st == 4:
                s.reverse_compute_at(s.cache_write(b, 0, "global"), i)
            if st == 5:
                s.parallel(i)
            if st == 6:
                s.cache_read(b, 0, "global")
                s.transform_layout(b, ("read", 0), lambda p: [p // 5, p % 5])
        except ts.ScheduleError:
            pass
        eq(run(s.mod, a, np.full(20, -1, "int32")), want)


def test_sch_101_parallel_outer_loop_reduction_recomputed_per_iteration_into_a_one_row_sc():
    @T.prim_func
    def f(A: T.Buffer((48, 16, 25), "float32"), O: T.Buffer((48, 16), "float32")):
        R = T.alloc_buffer((48, 16), "float32")
        for i, j, k in T.grid(48, 16, 25):
            with T.block("R"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    R[vi, vj] = T.float32(1)
                R[vi, vj] = R[vi, vj] + A[vi, vj, vk]
        for i, j in T.grid(48, 16):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = T.Select(vj == 3, T.float32(255), R[vi, 15 - vj])

    a = np.random.default_rng(0).random((48, 16, 25)).astype("float32")
    want = (a.sum(2) + 1)[:, ::-1].copy()
    want[:, 3] = 255
    s = ts.Schedule(f)
    o = s.get_block("O")
    i, j = s.get_loops(o)
    s.compute_at(s.get_block("R"), i)
    s.vectorize(s.get_loops(o)[-1])
    s.parallel(i)
    fn = ts.build(s.mod)
    for _ in range(40):
        out = np.zeros((48, 16), "float32")
        fn(a, out)
        eq(out, want, rtol=1e-5)
