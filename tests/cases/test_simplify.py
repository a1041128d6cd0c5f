# ruff: noqa: SIM105, PERF401
"""Faults of simplifiers that people met elsewhere, each with the right answer."""

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, raises, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_sim_01_truncating_division_of_a_sum_with_a_negative_dividend():
    @T.prim_func
    def f(O: T.Buffer((40,), "int32")):
        for i in range(40):
            with T.block("O"):
                vi = T.axis.spatial(40, i)
                O[vi] = T.truncdiv(241 + (vi - 20) * 48, 16)

    x = np.arange(40) - 20
    eq(run(f, np.zeros(40, "int32")), np.trunc((241 + 48 * x) / 16))


def test_sim_03_floormod_of_a_difference():
    @T.prim_func
    def f(O: T.Buffer((8, 50), "int32")):
        for i, j in T.grid(8, 50):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = (vi * 32 - vj) % 64 + 1000 * ((vi * 32 - vj) // 64)

    x = np.subtract.outer(np.arange(8) * 32, np.arange(50))
    eq(run(f, np.zeros((8, 50), "int32")), x % 64 + 1000 * (x // 64))


def test_sim_05_ceildiv_of_a_parameter():
    @T.prim_func
    def f(n: T.int32, O: T.Buffer((3,), "int32")):
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = T.if_then_else(vi == 0, (n + 9) // 10, T.if_then_else(vi == 1, n // 10, n % 10))

    fn = ts.build(f)
    for n in (24, 0, 1, -1, -24, -2147483648, 2147483637):
        o = np.zeros(3, "int32")
        fn(n, o)
        eq(o, [(n + 9) // 10, n // 10, n % 10])


def test_sim_07_min_round_up_x_max_x_4_at_x_0():
    @T.prim_func
    def f(O: T.Buffer((29,), "int32")):
        for i in range(29):
            with T.block("O"):
                vi = T.axis.spatial(29, i)
                O[vi] = T.min((vi - 8 + 3) // 4 * 4, T.max(vi - 8, 4))

    x = np.arange(29) - 8
    eq(run(f, np.zeros(29, "int32")), np.minimum((x + 3) // 4 * 4, np.maximum(x, 4)))


def test_sim_09_dropping_the_inner_part_of_a_tiled_comparison():
    @T.prim_func
    def f(O: T.Buffer((2, 2, 64, 64), "int32")):
        for bx, by, i, j in T.grid(2, 2, 64, 64):
            with T.block("O"):
                vb, vc, vi, vj = T.axis.remap("SSSS", [bx, by, i, j])
                O[vb, vc, vi, vj] = T.if_then_else(vb * 64 + vi < vc * 64 + vj + 64, 1, 0)

    b, c, i, j = np.ogrid[:2, :2, :64, :64]
    eq(run(f, np.zeros((2, 2, 64, 64), "int32")), (b * 64 + i < c * 64 + j + 64))


def test_sim_11_constants_that_add_up_past_int32():
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = (A[vi] + 2000000000) + 2000000000

    a = np.array([0, 1, -2000000000, -5], "int32")
    want = (a.astype("int64") + 4000000000).astype("int32")
    eq(run(f, a, np.zeros(4, "int32")), want)


def test_sim_13_x_0_0_x_x_0_x_on_floats():
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), O: T.Buffer((4, 4), "float32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[0, vi] = A[vi] * T.float32(0)
                O[1, vi] = A[vi] - A[vi]
                O[2, vi] = T.float32(0) / A[vi]
                O[3, vi] = A[vi] / A[vi]

    a = np.array([1, np.inf, np.nan, 0], "float32")
    with np.errstate(all="ignore"):
        want = np.stack([a * np.float32(0), a - a, np.float32(0) / a, a / a])
    eq(run(f, a, np.zeros((4, 4), "float32")), want)


def test_sim_15_ceil_floor_of_a_literal_that_the_type_cannot_hold():
    @T.prim_func
    def f(A: T.Buffer((1,), "float32"), O: T.Buffer((4,), "float32")):
        for i in range(1):
            with T.block("O"):
                vi = T.axis.spatial(1, i)
                O[0] = T.ceil(T.float32(8388608.5))
                O[1] = T.ceil(A[vi])
                O[2] = T.float32(16777217) - T.float32(16777216)
                O[3] = T.floor(T.float32(-8388608.5))

    a = np.array([8388608.5], "float32")
    eq(run(f, a, np.zeros(4, "float32")), [8388608, 8388608, 0, -8388608])


def test_sim_17_floormod_of_a_vectorized_index_that_crosses_the_modulus():
    @T.prim_func
    def f(O: T.Buffer((20, 5), "int32"), P: T.Buffer((20, 4), "int32")):
        for x in range(20):
            for l in T.vectorized(5):
                with T.block("O"):
                    vx, vl = T.axis.remap("SS", [x, l])
                    O[vx, vl] = (vx * 4 + vl) % 64
        for x in range(20):
            for l in T.vectorized(4):
                with T.block("P"):
                    vx, vl = T.axis.remap("SS", [x, l])
                    P[vx, vl] = (vx * 7 + vl * 7) // 64 * 1000 + (vx * 7 + vl * 7) % 20

    o, p = np.zeros((20, 5), "int32"), np.zeros((20, 4), "int32")
    ts.build(f)(o, p)
    x, l = np.ogrid[:20, :5]
    eq(o, (4 * x + l) % 64)
    x, l = np.ogrid[:20, :4]
    eq(p, (7 * x + 7 * l) // 64 * 1000 + (7 * x + 7 * l) % 20)


def test_sim_19_a_comparison_multiplied_or_divided_by_a_number():
    @T.prim_func
    def f(O: T.Buffer((2, 20), "int32")):
        for i in range(20):
            with T.block("O"):
                vi = T.axis.spatial(20, i)
                O[0, vi] = T.Cast("int32", vi < 10) * 2
                O[1, vi] = T.Cast("int32", vi < 10) + T.Cast("int32", vi < 5)

    i = np.arange(20)
    eq(run(f, np.zeros((2, 20), "int32")), np.stack([(i < 10) * 2, (i < 10) * 1 + (i < 5)]))


def test_sim_21_x_255_16_a_split_that_does_not_divide():
    @T.prim_func
    def f(O: T.Buffer((2, 16, 16), "int32")):
        for i in range(510):
            with T.block("O"):
                a = T.axis.spatial(2, i // 255)
                b = T.axis.spatial(16, (i % 255) // 16)
                c = T.axis.spatial(16, (i % 255) % 16)
                O[a, b, c] = a * 1000 + b * 16 + c

    want = np.full((2, 16, 16), -1, "int32")
    for i in range(510):
        a, b, c = i // 255, (i % 255) // 16, (i % 255) % 16
        want[a, b, c] = a * 1000 + b * 16 + c
    eq(run(f, np.full((2, 16, 16), -1, "int32")), want)
    s = ts.Schedule(f)
    (l,) = s.get_loops(s.get_block("O"))
    l0, l1 = s.split(l, factors=[None, 51])
    try:
        s.reorder(l1, l0)
    except ts.ScheduleError:
        pass
    eq(run(s.mod, np.full((2, 16, 16), -1, "int32")), want)


def test_sim_23_two_guards_of_one_form_on_different_buffers():
    @T.prim_func
    def f(P: T.Buffer((1,), "int32"), Q: T.Buffer((1,), "int32"), O: T.Buffer((2, 8), "int32")):
        for i in range(8):
            if P[0] < 2:
                O[0, i] = 1
            if Q[0] < 2:
                O[1, i] = 1

    fn = ts.build(f)
    for p in (0, 5):
        for q in (0, 5):
            o = np.zeros((2, 8), "int32")
            fn(np.array([p], "int32"), np.array([q], "int32"), o)
            eq(o[0], int(p < 2))
            eq(o[1], int(q < 2))


def test_sim_25_constant_division_by_zero():
    def bad():
        @T.prim_func
        def g(A: T.Buffer((4,), "int32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = A[vi] // 0

    raises(bad, "zero")

    @T.prim_func
    def h(O: T.Buffer((2,), "float32")):
        for i in range(1):
            with T.block("O"):
                vi = T.axis.spatial(1, i)
                O[0] = T.float32(1) / T.float32(0)
                O[1] = T.float32(-1) / T.float32(0)

    eq(run(h, np.zeros(2, "float32")), [np.inf, -np.inf])


def test_sim_27_shifts_constant_and_not_of_negative_numbers():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), S: T.Buffer((8,), "int32"), O: T.Buffer((5, 8), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[0, vi] = T.shift_right(A[vi], S[vi])
                O[1, vi] = T.shift_left(A[vi], S[vi])
                O[2, vi] = T.shift_left(1, 10) + T.shift_right(-9, 1)
                O[3, vi] = T.shift_left(1, 31)
                O[4, vi] = T.shift_right(A[vi], 31)

    a = np.array([-9, -1, 0, 1, 9, 2**31 - 1, -(2**31), 12345], "int32")
    sh = np.array([1, 31, 3, 31, 2, 4, 1, 0], "int32")
    want = np.stack(
        [
            a >> sh,
            (a.astype("int64") << sh).astype("int32"),
            np.full(8, 1024 - 5),
            np.full(8, -(2**31)),
            a >> 31,
        ]
    )
    eq(run(f, a, sh, np.zeros((5, 8), "int32")), want)


def test_sim_29_bounds_through_a_diamond_of_lets():
    src = [
        "@T.prim_func",
        'def f(O: T.Buffer((8,), "int32")):',
        "    for i in range(8):",
        "        x0: T.int32 = i",
    ]
    for k in range(24):
        src.append(f"        x{k + 1}: T.int32 = (x{k} + x{k}) % 1000003 + T.min(x{k}, 0)")
    src.append("        O[i] = x24")
    import time

    t = time.time()
    f = ts.parse("\n".join(src))
    o = run(f, np.zeros(8, "int32"))
    assert time.time() - t < 20
    eq(o, [(i << 24) % 1000003 for i in range(8)])


def test_sim_33_equal_reads_on_both_sides_of_a_store():
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((2, 4), "int32")):
        for i in range(4):
            O[0, i] = A[i * 3 % 4] + A[i * 3 % 4]
            A[i * 3 % 4] = 100 + i
            O[1, i] = A[i * 3 % 4] + A[i * 3 % 4]

    a = np.arange(4, dtype="int32")
    want0 = np.array([2 * a[i * 3 % 4] for i in range(4)])
    eq(run(f, a.copy(), np.zeros((2, 4), "int32")), np.stack([want0, 2 * (100 + np.arange(4))]))


def test_sim_36_uint32_loops_and_differences_in_index_position():
    @T.prim_func
    def f(A: T.Buffer((6,), "uint32"), O: T.Buffer((4, 6), "uint32")):
        for i in range(6):
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                O[0, vi] = (A[vi] - T.uint32(3)) // T.uint32(2)
                O[1, vi] = T.max(A[vi] - T.uint32(3), T.uint32(0)) % T.uint32(10)
                O[2, vi] = T.min(A[vi] - T.uint32(3), A[vi])
                O[3, vi] = T.if_then_else(A[vi] - T.uint32(3) >= T.uint32(0), T.uint32(1), T.uint32(0))

    a = np.array([0, 1, 3, 4, 100, 4294967295], "uint32")
    with np.errstate(all="ignore"):
        d = a - np.uint32(3)
    eq(run(f, a, np.zeros((4, 6), "uint32")), np.stack([d // 2, d % 10, np.minimum(d, a), np.ones(6)]))


def test_sim_37_two_ifs_with_one_condition_the_first_body_changes_what_it_tests():
    @T.prim_func
    def f(A: T.Buffer((1,), "int32"), O: T.Buffer((2,), "int32")):
        for i in range(1):
            with T.block("x"):
                vi = T.axis.spatial(1, i)
                O[0] = 0
                O[1] = 0
                if A[vi] == 0:
                    A[vi] = 7
                    O[0] = 1
                if A[vi] == 0:
                    O[1] = 1

    eq(run(f, np.zeros(1, "int32"), np.zeros(2, "int32")), [1, 0])
