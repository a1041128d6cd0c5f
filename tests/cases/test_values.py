"""Faults of dtypes and functions that people met elsewhere, each with the right answer."""

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_dty_01_int_bool_int():
    @T.prim_func
    def f(A: T.Buffer((5,), "int64"), F: T.Buffer((5,), "float32"), O: T.Buffer((3, 5), "int32")):
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial(5, i)
                O[0, vi] = T.Cast("int32", T.Cast("bool", A[vi]))
                O[1, vi] = T.Cast("int32", T.Cast("bool", F[vi]))
                O[2, vi] = T.Cast("int32", A[vi] > T.int64(0)) * 7

    a = np.array([-1, 0, 1, 256, 1 << 40], "int64")
    x = np.array([0.25, 0, -0.0, np.nan, -3], "float32")
    eq(run(f, a, x, np.zeros((3, 5), "int32")), np.stack([a.astype(bool), x.astype(bool), (a > 0) * 7]))


def test_dty_03_widening_int8_and_uint8_to_each_of_int32_uint32_int64_float():
    @T.prim_func
    def f(
        A: T.Buffer((6,), "int8"),
        B: T.Buffer((6,), "uint8"),
        P: T.Buffer((2, 6), "int32"),
        Q: T.Buffer((2, 6), "uint32"),
        R: T.Buffer((2, 6), "float32"),
        S: T.Buffer((2, 6), "int64"),
    ):
        for i in range(6):
            with T.block("x"):
                vi = T.axis.spatial(6, i)
                P[0, vi] = T.Cast("int32", A[vi])
                P[1, vi] = T.Cast("int32", B[vi])
                Q[0, vi] = T.Cast("uint32", A[vi])
                Q[1, vi] = T.Cast("uint32", B[vi])
                R[0, vi] = T.Cast("float32", A[vi])
                R[1, vi] = T.Cast("float32", B[vi])
                S[0, vi] = T.Cast("int64", A[vi]) * T.Cast("int64", B[vi])
                S[1, vi] = T.Cast("int64", T.Cast("uint8", A[vi]))

    a = np.array([-128, -1, 0, 1, 100, 127], "int8")
    b = np.array([0, 1, 127, 128, 200, 255], "uint8")
    p, q, r, s_ = (np.zeros((2, 6), d) for d in ("int32", "uint32", "float32", "int64"))
    ts.build(f)(a, b, p, q, r, s_)
    eq(p, [a.astype("int32"), b.astype("int32")])
    eq(q, [a.astype("uint32"), b.astype("uint32")])
    eq(r, [a, b])
    eq(s_, [a.astype("int64") * b, a.astype("uint8")])


def test_dty_07_exp_sqrt_sin_log10_of_an_integer():
    def bad():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("O"):
                    vi = T.axis.spatial(4, i)
                    O[vi] = T.exp(A[vi])

        return run(f, np.arange(4, dtype="int32"), np.zeros(4, "float32"))

    try:
        eq(bad(), np.exp(np.arange(4)), rtol=1e-5)
    except (ts.ParseError, TypeError) as e:
        assert "exp" in str(e) and "int32" in str(e)


def test_dty_09_loop_bounds_and_values_beyond_int32():
    @T.prim_func
    def f(s0: T.int64, O: T.Buffer((3,), "int64"), P: T.Buffer((1,), "int64")):
        for i in T.serial(T.int64(3)):
            with T.block("O"):
                vi = T.axis.spatial(T.int64(3), i)
                O[vi] = (s0 + vi) * T.int64(3)
        for i in T.serial(s0, s0 + T.int64(2)):
            with T.block("P"):
                T.reads()
                T.writes(P[0])
                P[0] = i

    o, p = np.zeros(3, "int64"), np.zeros(1, "int64")
    ts.build(f)(5000000000, o, p)
    eq(o, (5000000000 + np.arange(3)) * 3)
    eq(p, [5000000001])


def test_dty_13_and_on_run_time_int32_of_both_signs_int_min_1():
    @T.prim_func
    def f(A: T.Buffer((512,), "int32"), B: T.Buffer((512,), "int32"), O: T.Buffer((2, 512), "int32")):
        for i in range(512):
            with T.block("O"):
                vi = T.axis.spatial(512, i)
                O[0, vi] = A[vi] // B[vi]
                O[1, vi] = A[vi] % B[vi]

    rng = np.random.default_rng(0)
    a = rng.integers(-1000, 1000, 512).astype("int32")
    b = rng.integers(1, 40, 512).astype("int32") * rng.choice([-1, 1], 512).astype("int32")
    eq(run(f, a, b, np.zeros((2, 512), "int32")), np.stack([a // b, a % b]))
    for n in (2, 5, 64, -3, -16):
        b[:] = n
        eq(run(f, a, b, np.zeros((2, 512), "int32")), np.stack([a // b, a % b]))


def test_dty_15_nested_loops_where_both_start_above_zero_and_the_inner_start_is_the_outer_variable():
    @T.prim_func
    def f(O: T.Buffer((12,), "int32")):
        for i in range(3, 6):
            for j in range(i, i + 2):
                O[j] = O[j] + 1

    eq(run(f, np.zeros(12, "int32")), [0, 0, 0, 1, 2, 2, 1, 0, 0, 0, 0, 0])


def test_dty_17_max_reduction_over_data_with_nan_and_comparisons_with_nan_in_conditions():
    @T.prim_func
    def f(A: T.Buffer((6, 16), "float32"), O: T.Buffer((6,), "float32"), C: T.Buffer((6,), "int32")):
        for i, k in T.grid(6, 16):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = T.float32("-inf")
                O[vi] = T.max(O[vi], A[vi, vk])
        for i, k in T.grid(6, 16):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + T.if_then_else(A[vi, vk] != A[vi, vk], 1, 0)

    a = np.arange(96, dtype="float32").reshape(6, 16)
    for r, pos in enumerate((0, 5, 15)):
        a[r, pos] = np.nan
    o, c = np.zeros(6, "float32"), np.zeros(6, "int32")
    ts.build(f)(a, o, c)
    eq(c, [1, 1, 1, 0, 0, 0])
    eq(o[3:], a[3:].max(1))
    assert len({bool(np.isnan(v)) for v in o[:3]}) == 1


def test_dty_18_int32_sums_and_products_past_the_range_in_loops_llvm_may_optimise():
    @T.prim_func
    def f(
        A: T.Buffer((64,), "int32"),
        O: T.Buffer((3, 64), "int32"),
        M: T.Buffer((64,), "bool"),
        S: T.Buffer((1,), "int32"),
    ):
        for i in range(64):
            with T.block("O"):
                vi = T.axis.spatial(64, i)
                O[0, vi] = A[vi] * 1000003
                O[1, vi] = A[vi] + A[vi]
                O[2, vi] = (A[vi] * 4) // 4
                M[vi] = A[vi] + 1 > A[vi]
        for k in range(64):
            with T.block("S"):
                vk = T.axis.reduce(64, k)
                with T.init():
                    S[0] = 0
                S[0] = S[0] + A[vk]

    a = np.random.default_rng(0).integers(-(2**31), 2**31, 64).astype("int32")
    a[:3] = [2**31 - 1, -(2**31), 0]
    o, m, s_ = np.zeros((3, 64), "int32"), np.zeros(64, bool), np.zeros(1, "int32")
    ts.build(f)(a, o, m, s_)
    with np.errstate(all="ignore"):
        eq(o, np.stack([a * np.int32(1000003), a + a, (a * np.int32(4)) // np.int32(4)]))
        eq(m, a + np.int32(1) > a)
        eq(s_, [a.sum(dtype="int32")])


def test_dty_19_int64_shapes_with_values_computed_from_indices():
    @T.prim_func
    def f(O: T.Buffer((T.int64(3), T.int64(1000)), "int64")):
        for i, j in T.grid(T.int64(3), T.int64(1000)):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = vj * vj * vj * T.int64(10) + vi * T.int64(4000000000)

    i, j = np.ogrid[:3, :1000]
    eq(run(f, np.zeros((3, 1000), "int64")), j.astype("int64") ** 3 * 10 + i * 4000000000)


def test_int_01_sinh_cosh_asinh_atan_near_the_ends_of_float32():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), O: T.Buffer((4, 8), "float32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[0, vi] = T.sinh(A[vi])
                O[1, vi] = T.cosh(A[vi])
                O[2, vi] = T.asinh(A[vi])
                O[3, vi] = T.atan(A[vi])

    a = np.array([89, -89, 3e22, -1e20, 1e-5, 0.5, np.inf, -np.inf], "float32")
    x = a.astype("float64")
    with np.errstate(all="ignore"):
        want = np.stack([np.sinh(x), np.cosh(x), np.arcsinh(x), np.arctan(x)]).astype("float32")
    eq(run(f, a, np.zeros((4, 8), "float32")), want, rtol=2e-6)


def test_int_03_round_nearbyint_floor_ceil_trunc_at_ties_negatives_and_huge_values():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), O: T.Buffer((5, 8), "float32"), C: T.Buffer((2,), "float32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[0, vi] = T.nearbyint(A[vi])
                O[1, vi] = T.floor(A[vi])
                O[2, vi] = T.ceil(A[vi])
                O[3, vi] = T.trunc(A[vi])
                O[4, vi] = T.round(A[vi])
        for i in range(1):
            with T.block("C"):
                vi = T.axis.spatial(1, i)
                C[0] = T.round(T.float32(2.5))
                C[1] = T.nearbyint(T.float32(2.5))

    a = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 8388609, 1e30, -1.25], "float32")
    o, c = np.zeros((5, 8), "float32"), np.zeros(2, "float32")
    ts.build(f)(a, o, c)
    eq(o[:4], np.stack([np.rint(a), np.floor(a), np.ceil(a), np.trunc(a)]))
    assert o[4, 2] == c[0] and o[0, 2] == c[1] == 2
    assert np.array_equal(o[4], np.rint(a)) or np.array_equal(
        o[4], np.copysign(np.floor(abs(a) + np.float32(0.5)), a)
    )


def test_int_05_exp_log_sqrt_rsqrt_sigmoid_tanh_at_inf_nan_0_denormals_large_magnitudes():
    @T.prim_func
    def f(A: T.Buffer((10,), "float32"), O: T.Buffer((6, 10), "float32")):
        for i in range(10):
            with T.block("O"):
                vi = T.axis.spatial(10, i)
                O[0, vi] = T.exp(A[vi])
                O[1, vi] = T.log(A[vi])
                O[2, vi] = T.sqrt(A[vi])
                O[3, vi] = T.tanh(A[vi])
                O[4, vi] = T.sigmoid(A[vi])
                O[5, vi] = T.log2(A[vi]) + T.exp2(A[vi])

    a = np.array([np.inf, -np.inf, np.nan, 0, -0.0, 89, -104, 200, -200, 1e-40], "float32")
    with np.errstate(all="ignore"):
        x = a.astype("float64")
        want = np.stack(
            [np.exp(a), np.log(a), np.sqrt(a), np.tanh(a), 1 / (1 + np.exp(-x)), np.log2(a) + np.exp2(a)]
        ).astype("float32")
    for vec in (False, True):
        s = ts.Schedule(f)
        if vec:
            s.vectorize(s.get_loops(s.get_block("O"))[0])
        o = run(s.mod, a, np.zeros((6, 10), "float32"))
        eq(o[:4], want[:4], rtol=3e-6, atol=1e-37)
        assert not (o[0] < 0).any()
        eq(o[4], want[4], rtol=3e-6, atol=1e-37)
        eq(o[5], want[5], rtol=3e-6)


def test_dty_05_int_and_float_to_bfloat16_rounding():
    import ml_dtypes

    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), F: T.Buffer((8,), "float32"), O: T.Buffer((2, 8), "bfloat16")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[0, vi] = T.Cast("bfloat16", A[vi])
                O[1, vi] = T.Cast("bfloat16", F[vi])

    a = np.array([259, 257, 33000, -259, 1, 0, 16777217, -2147483648], "int32")
    x = np.array([1.00390625, 1.01171875, np.nan, np.inf, 3.4e38, 1e-40, -0.0, 0.1], "float32")
    for target in ("llvm", "llvm -fp-contract=off -math=scalar", "python"):
        o = np.zeros((2, 8), ml_dtypes.bfloat16)
        ts.build(f, target)(a, x, o)
        got = o.astype("float32")
        # Halves to the even neighbour, which truncation misses.
        assert got[0].tolist() == [260, 256, 33024, -260, 1, 0, 16777216, -2147483648]
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got[1], x.astype(ml_dtypes.bfloat16).astype("float32"))
        assert got[1][:2].tolist() == [1.0, 1.015625] and np.signbit(got[1][6])


PROMOTED = [
    ("int32", "float32", "float32"),
    ("int8", "int32", "int32"),
    ("uint8", "int32", "int32"),
    ("int32", "int64", "int64"),
    ("float16", "float32", "float32"),
    ("float32", "float64", "float64"),
]


@pytest.mark.parametrize("a_t, b_t, o_t", PROMOTED)
@pytest.mark.parametrize("target", ["llvm", "python"])
def test_dty_20_mixed_type_arithmetic_before_the_store(a_t, b_t, o_t, target):
    @T.prim_func
    def f(A: T.Buffer((4,), a_t), B: T.Buffer((4,), b_t), O: T.Buffer((3, 4), o_t)):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[0, vi] = A[vi] + B[vi]
                O[1, vi] = B[vi] - A[vi]
                O[2, vi] = A[vi] * B[vi]

    a, b = np.array([1, 2, 100, 3], a_t), np.array([5, 6, 7, 100], b_t)
    o = np.zeros((3, 4), o_t)
    ts.build(f, target)(a, b, o)
    x, y = a.astype(o_t), b.astype(o_t)
    np.testing.assert_array_equal(o, np.stack([x + y, y - x, x * y]))
