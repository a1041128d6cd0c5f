# ruff: noqa: E731
"""Faults of calls that people met elsewhere, each with the right answer."""

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, raises, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_cal_01_too_few_too_many_or_no_arguments():
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), O: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = A[vi] + T.float32(1)

    fn = ts.build(f)
    a, o = np.zeros(4, "float32"), np.zeros(4, "float32")
    for args in ((), (a,), (a, o, o)):
        raises(lambda: fn(*args))
    fn(a, o)
    eq(o, 1)


def test_cal_03_wrong_rank_or_wrong_static_extent():
    @T.prim_func
    def f(A: T.Buffer((8, 16), "float32"), O: T.Buffer((8,), "float32")):
        for i, k in T.grid(8, 16):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + A[vi, vk]

    fn = ts.build(f)
    z = lambda *s: np.zeros(s, "float32")
    for a, o in (
        (z(128), z(8)),
        (z(16, 8), z(8)),
        (z(1, 8, 16), z(8)),
        (z(8, 15), z(8)),
        (z(8, 16), z(7)),
        (z(8, 16), z(8, 1)),
        (z(8, 16), np.float32(0)),
    ):
        raises(lambda: fn(a, o))


def test_cal_05_views_transposed_strided_reversed_offset_broadcast():
    @T.prim_func
    def f(A: T.Buffer((6, 4), "float32"), O: T.Buffer((6, 4), "float32")):
        for i, j in T.grid(6, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj] * T.float32(2)

    fn = ts.build(f)
    base = np.arange(240, dtype="float32")
    views = [
        base[:24].reshape(4, 6).T,
        base[:48].reshape(6, 8)[:, ::2],
        base[:24].reshape(6, 4)[::-1],
        base[1:25].reshape(6, 4),
        np.broadcast_to(base[:4], (6, 4)),
        np.asfortranarray(base[:24].reshape(6, 4)),
    ]
    for v in views:
        o = np.zeros((6, 4), "float32")
        try:
            fn(v, o)
        except Exception as e:
            assert any(w in str(e).lower() for w in ("contiguous", "stride", "compact")), e
            continue
        eq(o, 2 * v)
    big = np.zeros((6, 8), "float32")
    try:
        fn(base[:24].reshape(6, 4), big[:, ::2])
        eq(big[:, ::2], 2 * base[:24].reshape(6, 4))
        eq(big[:, 1::2], 0)
    except Exception as e:
        assert any(w in str(e).lower() for w in ("contiguous", "stride", "compact")), e


def test_cal_07_arrays_with_a_zero_extent_any_strides():
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        k = T.int32()
        A = T.match_buffer(a, (n, k), "float32")
        O = T.match_buffer(o, (n,), "float32")
        for i, j in T.grid(n, k):
            with T.block("O"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + A[vi, vj]

    fn = ts.build(f)
    s = ts.Schedule(f)
    s.decompose_reduction(s.get_block("O"), s.get_loops(s.get_block("O"))[1])
    fn2 = ts.build(s.mod)
    for n, k in ((0, 4), (0, 0), (3, 4), (3, 0)):
        got = []
        for g in (fn, fn2):
            o = np.full(n, -1, "float32")
            g(np.ones((n, k), "float32"), o)
            got.append(o)
        eq(got[0], got[1])
        if k:
            eq(got[0], np.full(n, k))


def test_cal_09_one_array_for_input_and_output():
    @T.prim_func
    def ew(A: T.Buffer((1000,), "float32"), O: T.Buffer((1000,), "float32")):
        for i in range(1000):
            with T.block("O"):
                vi = T.axis.spatial(1000, i)
                O[vi] = A[vi] * T.float32(2)

    x = np.arange(1000, dtype="float32")
    try:
        ts.build(ew)(x, x)
        eq(x, 2 * np.arange(1000))
    except (ValueError, TypeError) as e:
        assert "alias" in str(e) or "overlap" in str(e)


def test_cal_11_scalar_parameters_range_type_numpy_scalars():
    @T.prim_func
    def f(n: T.int32, x: T.float32, O: T.Buffer((2,), "float32")):
        for i in range(1):
            with T.block("O"):
                vi = T.axis.spatial(1, i)
                O[0] = T.Cast("float32", n)
                O[1] = x

    fn = ts.build(f)
    for n, x in ((3, 1.5), (np.int32(3), np.float32(1.5)), (np.int64(3), np.float64(1.5)), (-3, 2)):
        o = np.zeros(2, "float32")
        fn(n, x, o)
        eq(o, [n, x])
    for n, x in ((2**40, 1.0), (1.5, 1.0), ("3", 1.0), (3, "x"), (None, 1.0), (3, 1j)):
        raises(lambda: fn(n, x, np.zeros(2, "float32")))


def test_cal_13_same_source_other_captured_values():
    def make(n, k):
        @T.prim_func
        def f(O: T.Buffer((n,), "int32")):
            for i in range(n):
                with T.block("O"):
                    vi = T.axis.spatial(n, i)
                    O[vi] = vi * k

        return f

    for n, k in ((8, 2), (8, 3), (4, 2), (8, 2)):
        eq(run(make(n, k), np.zeros(n, "int32")), np.arange(n) * k)


def test_cal_15_many_threads_calling_one_function_and_building_at_the_same_time():
    from concurrent.futures import ThreadPoolExecutor

    def make(k):
        @T.prim_func
        def f(A: T.Buffer((256,), "float32"), O: T.Buffer((256,), "float32")):
            B = T.alloc_buffer((256,), "float32")
            for i in range(256):
                with T.block("B"):
                    vi = T.axis.spatial(256, i)
                    B[vi] = A[vi] * T.float32(k)
            for i in range(256):
                with T.block("O"):
                    vi = T.axis.spatial(256, i)
                    O[vi] = B[255 - vi]

        return f

    shared = ts.build(make(3))
    funcs = [make(k) for k in range(8)]

    def work(n):
        a = np.full(256, n, "float32")
        o = np.zeros(256, "float32")
        fn = shared if n % 2 else ts.build(funcs[n % 8])
        fn(a, o)
        return (o == n * (3 if n % 2 else n % 8)).all()

    with ThreadPoolExecutor(8) as ex:
        assert all(ex.map(work, range(64)))


def test_cal_17_two_symbols_one_used_in_three_parameters():
    @T.prim_func
    def f(a: T.handle, b: T.handle, o: T.handle):
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (m,), "float32")
        O = T.match_buffer(o, (n,), "float32")
        for i, k in T.grid(n, m):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + A[vi, vk] * B[vk]

    fn = ts.build(f)
    z = lambda *s: np.ones(s, "float32")
    for n, m in ((3, 4), (1, 1), (0, 3), (5, 2)):
        o = z(n)
        fn(z(n, m), z(m), o)
        eq(o, np.full(n, m))
    for a, b, o in (((3, 4), 5, 3), ((3, 4), 3, 3), ((3, 4), 4, 4), ((3, 4), 4, 2), ((4, 3), 4, 3)):
        raises(lambda: fn(z(*a), z(b), z(o)))


def test_cal_18_arrays_and_functions_released_in_any_order():
    import gc

    @T.prim_func
    def f(A: T.Buffer((1000,), "float32"), O: T.Buffer((1000,), "float32")):
        B = T.alloc_buffer((1000,), "float32")
        for i in range(1000):
            with T.block("B"):
                vi = T.axis.spatial(1000, i)
                B[vi] = A[vi] + T.float32(1)
        for i in range(1000):
            with T.block("O"):
                vi = T.axis.spatial(1000, i)
                O[vi] = B[999 - vi]

    call = ts.build(f).__call__
    gc.collect()
    for n in range(200):
        o = np.empty(1000, "float32")
        call(np.full(1000, n, "float32"), o)
        if n % 50 == 0:
            gc.collect()
        assert o[0] == n + 1


def test_cal_21_int32_array_for_an_int64_parameter_float64_default_arrays():
    @T.prim_func
    def f(A: T.Buffer((4,), "int64"), F: T.Buffer((4,), "float32"), O: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = F[vi] + T.Cast("float32", A[vi])

    fn = ts.build(f)
    o = np.zeros(4, "float32")
    raises(lambda: fn(np.arange(4, dtype="int32"), np.zeros(4, "float32"), o))
    raises(lambda: fn(np.arange(4), np.zeros(4), o))
    raises(lambda: fn(np.arange(4), np.zeros(4, "float32"), np.zeros(4)))
    fn(np.arange(4), np.ones(4, "float32"), o)
    eq(o, np.arange(4) + 1)
