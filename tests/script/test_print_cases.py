"""Programs that other printers of this language got wrong: each prints, reads back equal, and computes the same."""

# ruff: noqa: E501 - the functions are script, and its lines are as long as they are

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tirscript.codegen.python import compile_python
from tirscript.diagnostics import AxisWarning
from tirscript.ir.equal import assert_structural_equal, structural_equal
from tirscript.ir.expr import IntImm
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import For
from tirscript.script import tir as T
from tirscript.script.parser import parse
from tirscript.script.printer import script


def read(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AxisWarning)
        return parse(text)


def roundtrip(f, **options):
    """What the text of ``f`` reads back to: an equal program with equal names and the same text."""
    text = script(f, **options)
    g = read(text)
    assert_structural_equal(g, f)
    assert structural_equal(g, f, names=True)
    assert script(g, **options) == text
    again = read(script(f, sugar=False))
    assert_structural_equal(again, f)
    return g


def run(f, *arrays):
    """The last argument after the call."""
    compile_python(f)[f.name](*arrays)
    return arrays[-1]


def test_comparison_with_a_boolean_constant():
    """PRT-01 (apache/tvm #14328): printed as ``x == True``, which could not be read back."""

    @T.prim_func
    def f(A: T.Buffer((3,), "bool"), O: T.Buffer((3,), "bool")):
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = A[vi] == T.bool(True)

    g = roundtrip(f)
    assert "O[vi] = A[vi] == T.bool(True)" in script(f)
    a = np.array([True, False, True])
    np.testing.assert_array_equal(run(g, a, np.zeros(3, bool)), a)


def test_inf_and_nan():
    """PRT-03 (apache/tvm #12618): special values were printed as bare ``inf`` and ``nan``."""

    @T.prim_func
    def f(O: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = T.if_then_else(
                    vi == 0, T.float32("inf"), T.if_then_else(vi == 1, T.float32("-inf"), T.float32("nan"))
                )

    g = roundtrip(f)
    assert (
        'O[vi] = T.if_then_else(vi == 0, T.float32("inf"), '
        'T.if_then_else(vi == 1, T.float32("-inf"), T.float32("nan")))'
    ) in script(f)
    np.testing.assert_array_equal(
        run(g, np.zeros(3, "float32")), np.array([np.inf, -np.inf, np.nan], "float32")
    )


def test_int64_loops():
    """PRT-05 (apache/tvm #13068): int64 extents lost their type."""

    with pytest.warns(AxisWarning):

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
    assert "for i in range(T.int64(1), T.int64(5)):" in script(f)
    assert "for i in range(T.int64(1)):" in script(f)
    np.testing.assert_array_equal(run(g, np.full(6, 0, "int64")), [0, 1, 2, 3, 4, 0])


def test_brackets_where_the_right_operand_is_the_looser_one():
    """PRT-07 (apache/tvm #14200): ``a - (b - c)`` came back as ``a - b - c``."""

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
    text = script(f)
    for line in (
        "O[0, vi] = A[vi] - (7 - vi)",
        "O[1, vi] = A[vi] // (5 // (vi + 1) + 1)",
        "O[2, vi] = A[vi] % (9 % (vi + 2) + 1)",
        "O[3, vi] = (A[vi] - 3) * (vi - 2)",
        "O[4, vi] = A[vi] * (vi // 2) * 2",
        "O[5, vi] = (A[vi] + vi) * -1",
    ):
        assert line in text
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
    np.testing.assert_array_equal(run(g, a, np.zeros((6, 4), "int32")), want)


def test_brackets_of_shifts():
    """PRT-07 for shifts: the right operand of a shift, a shift in a sum."""

    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), O: T.Buffer((3, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[0, vi] = A[vi] << (vi >> 1)
                O[1, vi] = (A[vi] << vi) + 1
                O[2, vi] = A[vi] >> vi + 1 & 3

    g = roundtrip(f)
    assert "O[0, vi] = A[vi] << (vi >> 1)" in script(f)
    assert "O[1, vi] = (A[vi] << vi) + 1" in script(f)
    assert "O[2, vi] = A[vi] >> vi + 1 & 3" in script(f)
    a, i = np.array([-9, -1, 4, 17], "int32"), np.arange(4)
    np.testing.assert_array_equal(
        run(g, a, np.zeros((3, 4), "int32")), np.stack([a << (i >> 1), (a << i) + 1, (a >> (i + 1)) & 3])
    )


def test_lets():
    """PRT-11 (apache/tvm #13900, #14319): a binding was reordered or dropped."""

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
    assert script(f).split("\n")[-4:] == [
        "            x: T.int32 = vi + 1",
        "            y: T.int32 = x * x",
        "            z: T.int32 = y + 1",
        "            O[vi] = z",
    ]
    np.testing.assert_array_equal(run(g, np.zeros(4, "int32")), (np.arange(4) + 1) ** 2 + 1)


def test_rank_0():
    """PRT-13 (apache/tvm #8215, #8128): ``B[()]`` was printed as ``B[]``."""

    @T.prim_func
    def f(A: T.Buffer((3,), "int32"), O: T.Buffer((), "int32")):
        for k in range(3):
            with T.block("O"):
                vk = T.axis.reduce(3, k)
                with T.init():
                    O[()] = 0
                O[()] = O[()] + A[vk]

    g = roundtrip(f)
    assert "T.writes(O[()])" in script(f)
    assert "O[()] = O[()] + A[vk]" in script(f)
    assert int(run(g, np.array([1, 2, 3], "int32"), np.array(0, "int32"))) == 6


def test_strings():
    """PRT-15 (apache/tvm #13965): multi-line strings printed raw broke the text."""
    text = "a \"q\" \\ b\nline2\t'x'"

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in T.serial(4, annotations={"note": text}):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.block_attr({"why": text})
                O[vi] = vi

    g = roundtrip(f)
    loop = next(n for n in walk(g) if isinstance(n, For))
    assert loop.annotations == {"note": text}
    assert loop.body.block.annotations == {"why": text}


@pytest.mark.parametrize(
    "text", ["", "'", '"', "\\", "\\'", '\\"', "\\\\'\"", "é\u2028\x00\U0001f600", "a\r\nb", "{x}"]
)
def test_odd_strings(text):
    """PRT-15 for every kind of character that a literal must escape."""

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in T.serial(4, annotations={"note": text}):
            O[i] = i

    g = roundtrip(f)
    assert g.body.annotations["note"] == text


def test_root_block_with_attributes():
    """PRT-17 (apache/tvm #12673): the root block was printed or dropped inconsistently."""

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi

    assert '    # with T.block("root"):\n    for i in range(4):' in script(f)
    roundtrip(f)
    root = f.body
    marked = f.replace(body=root.replace(block=root.block.replace(annotations={"mark": 7})))
    back = roundtrip(marked)
    assert back.body.block.annotations == {"mark": 7}
    assert (
        '    with T.block("root"):\n        T.reads()\n        T.writes()\n        T.block_attr({"mark": 7})'
        in script(marked)
    )


def test_inner_bound_of_the_outer_variable():
    """PRT-19 (apache/tvm #9506): such loops were folded into one ``T.grid``."""

    @T.prim_func
    def f(O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = 1

    g = roundtrip(f)
    assert "for i in range(4):\n        for j in range(i + 1):" in script(f)
    np.testing.assert_array_equal(run(g, np.zeros((4, 4), "int32")), np.tril(np.ones((4, 4))))


def test_predicate():
    """PRT-21 (apache/tvm #13481): predicates were printed in a form that the reader dropped."""

    @T.prim_func
    def f(A: T.Buffer((3, 10), "int32"), O: T.Buffer((3,), "int32")):
        for i_0, i_1, k_0, k_1 in T.grid(2, 2, 3, 4):
            with T.block("O"):
                vi = T.axis.spatial(3, i_0 * 2 + i_1)
                vk = T.axis.reduce(10, k_0 * 4 + k_1)
                T.where(i_0 * 2 + i_1 < 3 and k_0 * 4 + k_1 < 10)
                with T.init():
                    O[vi] = 5
                O[vi] = O[vi] + A[vi, vk]

    g = roundtrip(f)
    assert (
        "            T.where(i_0 * 2 + i_1 < 3 and k_0 * 4 + k_1 < 10)\n            T.reads(A[vi, vk])"
        in script(f)
    )
    a = np.arange(30, dtype="int32").reshape(3, 10)
    np.testing.assert_array_equal(run(g, a, np.zeros(3, "int32")), a.sum(1) + 5)


def test_thread_bindings():
    """PRT-23 (apache/tvm #13622, #16041): several bindings with int64 extents could not be read back."""

    @T.prim_func
    def f(
        A: T.Buffer((T.int64(8), T.int64(32)), "float32"), O: T.Buffer((T.int64(8), T.int64(32)), "float32")
    ):
        for i in T.thread_binding(T.int64(8), thread="blockIdx.x"):
            for j in T.thread_binding(T.int64(32), thread="threadIdx.x"):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj] * T.float32(2)

    g = roundtrip(f)
    assert isinstance(g, PrimFunc)
    loops = [n for n in walk(g) if isinstance(n, For)]
    assert [(x.thread, x.loop_var.dtype) for x in loops] == [
        ("blockIdx.x", "int64"),
        ("threadIdx.x", "int64"),
    ]
    assert all(isinstance(x.extent, IntImm) and x.extent.dtype == "int64" for x in loops)
    a = np.arange(256, dtype="float32").reshape(8, 32)
    np.testing.assert_array_equal(run(g, a, np.zeros((8, 32), "float32")), a * 2)


def test_let_in_a_value():
    """PRT-11 for lets inside of values."""

    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = T.Let(x * T.Let(y + x, where={y: x + 1}), where={x: vi + 1})

    g = roundtrip(f)
    x = np.arange(4) + 1
    np.testing.assert_array_equal(run(g, np.zeros(4, "int32")), x * (x + 1 + x))
