"""Programs of unusual size or shape, each with the right answer."""

import pytest

import tirscript as ts
from tests.cases.helpers import raises
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_rob_07_accesses_that_are_out_of_bounds_for_certain():
    def t1():
        @T.prim_func
        def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
            for i in range(8):
                with T.block("O"):
                    vi = T.axis.spatial(8, i)
                    O[vi] = A[vi + 1]

        ts.build(f)

    def t2():
        @T.prim_func
        def f(A: T.Buffer((8,), "int32")):
            for i in range(12):
                with T.block("A"):
                    vi = T.axis.spatial(12, i)
                    A[vi] = 1

        ts.build(f)

    def t3():
        @T.prim_func
        def f(A: T.Buffer((8,), "int32")):
            with T.block("A"):
                T.reads()
                T.writes(A[6:12])
                A[6] = 1

        ts.build(f)

    for t in (t1, t2, t3):
        raises(t, "A")


def test_rob_15_nonsense_in_types_shapes_and_axes():
    def t1():
        @T.prim_func
        def f(A: T.Buffer((4,), "float33")):
            A[0] = 1

    def t2():
        @T.prim_func
        def f(A: T.Buffer((4.5,), "float32")):
            A[0] = T.float32(1)

    def t3():
        @T.prim_func
        def f(A: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.remap("X", [i])
                    A[vi] = T.float32(1)

    def t4():
        @T.prim_func
        def f(A: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("A"):
                    vi = T.axis.spatial("four", i)
                    A[vi] = T.float32(1)

    def t5():
        @T.prim_func
        def f(A: T.Buffer((4,), "float32")):
            for i in T.grid():
                A[i] = T.float32(1)

    for t in (t1, t2, t3, t4, t5):
        raises(t)
