# ruff: noqa: B007
"""Faults of parsers that people met elsewhere, each with the right answer."""

import textwrap

import numpy as np
import pytest

import tirscript as ts
from tests.cases.helpers import eq, raises, roundtrip, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_par_01_enclosing_function_variable_must_win_over_a_global_of_the_same_name():
    scale = 1

    def make():
        scale = 2

        @T.prim_func
        def f(O: T.Buffer((4,), "int32")):
            for i in range(4):
                with T.block("O"):
                    vi = T.axis.spatial(4, i)
                    O[vi] = scale

        return f

    eq(run(make(), np.zeros(4, "int32")), [2, 2, 2, 2])


def test_par_05_function_made_by_exec_no_source_file():
    src = textwrap.dedent("""
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi
    """)
    try:
        ns = {"T": T}
        exec(src, ns)
        eq(run(ns["f"], np.zeros(4, "int32")), np.arange(4))
    except ts.ParseError as e:
        assert "source" in str(e) and "f" in str(e)
    eq(run(ts.parse(src), np.zeros(4, "int32")), np.arange(4))


def test_par_07_another_decorator_with_nested_parentheses_or_a_lambda_above_t_prim_func():
    def note(*a, **k):
        return lambda fn: fn

    @note((1, (2, 3)), key=lambda x: (x, (x,)))
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi

    eq(run(f, np.zeros(4, "int32")), np.arange(4))


def test_par_09_chained_comparison():
    @T.prim_func
    def f(A: T.Buffer((5,), "float32"), O: T.Buffer((5,), "int32")):
        for i in range(5):
            with T.block("O"):
                vi = T.axis.spatial(5, i)
                O[vi] = 0
                if T.float32(0) < A[vi] < T.float32(1):
                    O[vi] = 1

    a = np.array([-1, 0, 0.5, 1, 2], "float32")
    eq(run(f, a, np.zeros(5, "int32")), [0, 0, 1, 0, 0])


def test_par_11_not_and_or_mixing_python_constants_and_expressions():
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = 0
                if (True and not (A[vi] > 0)) or False:
                    O[vi] = 1

    eq(run(f, np.array([-1, 0, 1, 2], "int32"), np.zeros(4, "int32")), [1, 1, 0, 0])


def test_par_13_python_s_min_max_on_symbolic_operands():
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = max(vi, 1)

    eq(run(f, np.zeros(4, "int32")), [1, 1, 2, 3])


def test_par_15_undefined_name_message_and_position():
    def bad():
        @T.prim_func
        def f(A: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = A[vi] * scal

    raises(bad, "scal")


def test_par_17_block_iterators_given_the_names_of_the_loops():
    @T.prim_func
    def f(O: T.Buffer((3, 4), "int32")):
        for i, j in T.grid(3, 4):
            with T.block("O"):
                i, j = T.axis.remap("SS", [i, j])
                O[i, j] = i * 10 + j

    eq(run(f, np.zeros((3, 4), "int32")), np.add.outer(np.arange(3) * 10, np.arange(4)))


def test_par_19_wrong_number_of_block_iterators():
    def bad():
        @T.prim_func
        def f(A: T.Buffer((4, 4), "float32")):
            for i, j in T.grid(4, 4):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i])
                    A[vi, vj] = T.float32(0)

    raises(bad)


def test_par_21_a_local_holding_a_buffer_read_must_not_be_re_read_after_the_buffer_is_overwritten():
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), O: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                t: T.float32 = T.max(A[vi], T.float32(1))
                A[vi] = t * T.float32(2)
                O[vi] = t / T.float32(2)

    a = np.array([0, 1, 2, 3], "float32")
    o = np.zeros(4, "float32")
    b = a.copy()
    ts.build(f)(b, o)
    eq(o, np.maximum(a, 1) / 2)
    eq(b, np.maximum(a, 1) * 2)


def test_par_23_break_in_a_vectorized_loop():
    def go():
        @T.prim_func
        def f(O: T.Buffer((8,), "int32")):
            for i in T.vectorized(8):
                if i == 3:
                    break
                O[i] = i + 1

        return run(f, np.zeros(8, "int32"))

    try:
        eq(go(), [1, 2, 3, 0, 0, 0, 0, 0])
    except (ts.ParseError, ts.ScheduleError) as e:
        assert "break" in str(e)


def test_par_25_range_with_a_step():
    @T.prim_func
    def f(O: T.Buffer((10,), "int32")):
        for i in range(0, 10, 3):
            O[i] = 1
        for i in range(3, 0, -1):
            O[i] = O[i] + 10

    try:
        eq(run(f, np.zeros(10, "int32")), [1, 10, 10, 11, 0, 0, 1, 0, 0, 1])
    except ts.ParseError as e:
        assert "step" in str(e)


def test_par_27_the_smallest_int32_written_as_a_literal():
    @T.prim_func
    def f(O: T.Buffer((2,), "int32")):
        for i in range(2):
            with T.block("O"):
                vi = T.axis.spatial(2, i)
                O[vi] = -2147483648

    eq(run(f, np.zeros(2, "int32")), [-2147483648] * 2)
    roundtrip(f)


def test_par_29_augmented_assignment_on_buffer_elements():
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = 10
                O[vi] -= vi
                O[vi] *= 2

    eq(run(f, np.zeros(4, "int32")), [20, 18, 16, 14])


def test_par_31_starred_targets_and_shapes_made_from_lists():
    dims = [2, 3]

    @T.prim_func
    def f(A: T.Buffer((4, *dims), "float32"), O: T.Buffer((4, *dims), "float32")):
        for i, *rest in T.grid(4, *dims):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                vj, vk = T.axis.remap("SS", rest)
                O[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)

    a = np.arange(24, dtype="float32").reshape(4, 2, 3)
    eq(run(f, a, np.zeros_like(a)), 2 * a)


def test_par_33_unsupported_statements_must_be_refused_by_name():
    def t1():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            try:
                A[0] = 1
            except Exception:
                A[0] = 2

    def t2():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            import math  # noqa: F401

            A[0] = 1

    def t3():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            del A

    def t4():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            for i in range(4):
                A[i] = 1
            else:
                A[0] = 2

    for t in (t1, t2, t3, t4):
        raises(t, exc=ts.ParseError)


def test_par_35_an_error_must_not_poison_the_next_parse():
    def bad():
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial(4, i)
                    A[vi] = nothing_here

    raises(bad, "nothing_here")
    raises(bad, "nothing_here")

    @T.prim_func
    def ok(A: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = vi

    eq(run(ok, np.zeros(4, "int32")), [0, 1, 2, 3])


def test_par_37_block_iterator_with_an_explicit_min_max_domain():
    @T.prim_func
    def f(O: T.Buffer((5,), "int32")):
        for i in range(1, 5):
            with T.block("O"):
                vi = T.axis.spatial((1, 5), i)
                O[vi] = vi * vi

    eq(run(f, np.full(5, -1, "int32")), [-1, 1, 4, 9, 16])
    roundtrip(f)


def test_par_40_conditions_known_at_parse_time_empty_branches_conditions_on_block_iterators_with_bl():
    DEBUG = False

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            if DEBUG:
                O[i] = 99
            if i % 2 == 0:
                with T.block("e"):
                    vi = T.axis.spatial(4, i)
                    O[vi] = 5
            else:
                with T.block("o"):
                    vi = T.axis.spatial(4, i)
                    O[vi] = 1
            if i > 7:
                T.evaluate(0)

    eq(run(f, np.zeros(4, "int32")), [5, 1, 5, 1])
    roundtrip(f)
