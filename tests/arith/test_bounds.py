"""Bounds of expressions where nothing runs."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.arith import Analyzer
from tirscript.ir import ops
from tirscript.ir.expr import (
    LT,
    Add,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mod,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)

EMPTY = [(0, 0), (1, -4), (-3, -4), (0, -1), (5, 0), (1, 0), (1, -1), (2**31 - 1, -3)]


@pytest.mark.parametrize("low, extent", EMPTY)
def test_variables_of_loops_that_do_not_run(low: int, extent: int) -> None:
    """Anything is true of them; nothing fails, and nothing goes on for ever."""
    i = Var("i", "int32")
    operands = [i, i * 3, i + 2, i * -1, i - 5]
    made: list[Expr] = []
    for a in operands:
        made += [kind(c, a) for kind in (Add, Sub, Mul, FloorDiv, FloorMod, Div, Mod, Min, Max)
                 for c in (i, const_int(7))]  # fmt: skip
        made += [ops.call(op, c, a) for op in ("shift_right", "shift_left", "bitwise_and", "bitwise_or")
                 for c in (i, const_int(7))]  # fmt: skip
        made += [ops.call("abs", a), ops.call("popcount", a)]
    for e in made:
        for whole in (e, Max(e, const_int(3)), LT(e, const_int(3)), Mod(e, const_int(5)), e // e):
            cx = Analyzer()
            cx.bind(i, Range(const_int(low), const_int(extent)))
            cx.simplify(whole)
            cx.const_bounds(whole)
            cx.modular(whole)


def test_a_shift_in_a_loop_that_does_not_run() -> None:
    """Between other statements, as a random program had it."""
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    x: T.int32 = A[0] + 1
    for i in T.parallel(0):
        A[i] = T.max(i, i >> i)
    B[0] = x
""")
    a, b = np.arange(4, dtype="int32"), np.zeros(4, "int32")
    ts.build(f, "llvm")["f"](a, b)
    assert a.tolist() == [0, 1, 2, 3] and b[0] == 1
