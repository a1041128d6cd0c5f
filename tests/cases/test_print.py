"""Faults of printers that people met elsewhere, each with the right answer."""

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, roundtrip, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_prt_01_comparison_with_a_boolean_constant():
    @T.prim_func
    def f(A: T.Buffer((3,), "bool"), O: T.Buffer((3,), "bool")):
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = A[vi] == T.bool(True)

    g = roundtrip(f)
    a = np.array([True, False, True])
    eq(run(g, a, np.zeros(3, bool)), a)


def test_prt_03_inf_inf_and_nan_constants():
    @T.prim_func
    def f(O: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = T.if_then_else(
                    vi == 0, T.float32("inf"), T.if_then_else(vi == 1, T.float32("-inf"), T.float32("nan"))
                )

    g = roundtrip(f)
    eq(run(g, np.zeros(3, "float32")), np.array([np.inf, -np.inf, np.nan], "float32"))


def test_prt_05_int64_loops_with_and_without_a_start():
    @T.prim_func
    def f(O: T.Buffer((T.int64(6),), "int64")):
        for i in T.serial(T.int64(1), T.int64(5)):
            with T.block("O"):
                vi = T.axis.spatial(T.int64(6), i)
                O[vi] = vi
        for i in range(T.int64(1)):
            with T.block("O0"):
                vi = T.axis.spatial(T.int64(6), i)
                O[vi] = T.int64(0)

    g = roundtrip(f)
    eq(run(g, np.full(6, 0, "int64")), [0, 1, 2, 3, 4, 0])


def test_prt_07_brackets_where_the_right_operand_is_the_looser_one():
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((6, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[0, vi] = A[vi] - (7 - vi)
                O[1, vi] = A[vi] // (5 // (vi + 1) + 1)
                O[2, vi] = A[vi] % (9 % (vi + 2) + 1)
                O[3, vi] = (A[vi] - 3) * (vi - 2)
                O[4, vi] = A[vi] * (vi // 2) * 2
                O[5, vi] = -(A[vi] + vi)

    g = roundtrip(f)
    a = np.array([-9, -1, 4, 17], "int32")
    i = np.arange(4)
    want = np.stack(
        [
            a - (7 - i),
            a // (5 // (i + 1) + 1),
            a % (9 % (i + 2) + 1),
            (a - 3) * (i - 2),
            a * (i // 2) * 2,
            -(a + i),
        ]
    )
    eq(run(g, a, np.zeros((6, 4), "int32")), want)


def test_prt_11_consecutive_and_nested_lets():
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                x: T.int32 = vi + 1
                y: T.int32 = x * x
                z: T.int32 = y + 1
                O[vi] = z

    g = roundtrip(f)
    eq(run(g, np.zeros(4, "int32")), (np.arange(4) + 1) ** 2 + 1)


def test_prt_13_access_to_a_rank_0_buffer():
    @T.prim_func
    def f(A: T.Buffer((3,), "int32"), O: T.Buffer((), "int32")):
        for k in range(3):
            with T.block("O"):
                vk = T.axis.reduce(3, k)
                with T.init():
                    O[()] = 0
                O[()] = O[()] + A[vk]

    g = roundtrip(f)
    o = np.array(0, "int32")
    ts.build(g)(np.array([1, 2, 3], "int32"), o)
    assert int(o) == 6


def test_prt_15_strings_with_quotes_newlines_and_backslashes_in_annotations():
    text = "a \"q\" \\ b\nline2\t'x'"

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in T.serial(4, annotations={"note": text}):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.block_attr({"why": text})
                O[vi] = vi

    roundtrip(f)


def test_prt_17_an_explicit_root_block_with_and_without_attributes():
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi

    s = ts.Schedule(f)
    s.annotate(s.get_block("root"), "mark", 7)
    g = s.mod
    back = ts.parse(g.script())
    ts.assert_structural_equal(back, g)
    assert "mark" in back.script()


def test_prt_19_a_loop_whose_bound_is_the_outer_loop_s_variable():
    @T.prim_func
    def f(O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = 1

    g = roundtrip(f)
    eq(run(g, np.zeros((4, 4), "int32")), np.tril(np.ones((4, 4))))


def test_prt_21_block_predicates_after_splitting_read_back():
    @T.prim_func
    def f(A: T.Buffer((3, 10), "int32"), O: T.Buffer((3,), "int32")):
        for i, k in T.grid(3, 10):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 5
                O[vi] = O[vi] + A[vi, vk]

    s = ts.Schedule(f)
    i, k = s.get_loops(s.get_block("O"))
    s.split(k, factors=[None, 4])
    s.split(i, factors=[None, 2])
    g = ts.parse(s.mod.script())
    ts.assert_structural_equal(g, s.mod)
    a = np.arange(30, dtype="int32").reshape(3, 10)
    eq(run(g, a, np.zeros(3, "int32")), a.sum(1) + 5)


def test_prt_23_thread_bound_loops_several_of_them_int64_extents():
    @T.prim_func
    def f(
        A: T.Buffer((T.int64(8), T.int64(32)), "float32"), O: T.Buffer((T.int64(8), T.int64(32)), "float32")
    ):
        for i in T.thread_binding(T.int64(8), thread="blockIdx.x"):
            for j in T.thread_binding(T.int64(32), thread="threadIdx.x"):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj] * T.float32(2)

    roundtrip(f)


def test_prt_09_two_buffers_two_blocks_two_loops_with_one_name():
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        X = T.alloc_buffer((4,), "int32")
        for i in range(4):
            with T.block("X"):
                vi = T.axis.spatial(4, i)
                X[vi] = A[vi] + 1
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = X[vi] + 2

    s = ts.Schedule(f)
    s.cache_read(s.get_block("O"), 0, "global")
    s.cache_read(s.get_block("X"), 0, "global")
    s.cache_write(s.get_block("X"), 0, "global")
    g = s.mod
    ts.assert_structural_equal(ts.parse(g.script()), g)
    a = np.arange(4, dtype="int32")
    eq(run(ts.parse(g.script()), a, np.zeros(4, "int32")), a + 3)
