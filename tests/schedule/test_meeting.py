"""Programs whose instances meet: what a step must refuse, and what it may do.

Axes that leave iterations together begin a reduction again; cells that several instances write keep the last.
The right values are those of the interpreter on the program as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from tirscript.schedule import Schedule

from .meaning_kept import STRICT, assert_kept, assert_same, means
from .meeting import meeting_program
from .sequences import parsed, values

pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


# ---- three ways to one meaning


@pytest.mark.parametrize("part", range(4))
def test_three_ways(part: int) -> None:
    """The python target, LLVM and the interpreter, which shares nothing with them: 200 programs in CI."""
    for seed in range(part, max(settings.default.max_examples, 100), 4):
        text = meeting_program(random.Random(seed))
        func = parsed(text)
        want = means(func, func)
        for target in ("python", STRICT):
            assert_same(values(func, func, target), want, f"{target}\n{text}")


# ---- one program for each fault that was found

SUMS = """
@T.prim_func
def f(A: T.Buffer((7, 8), "int32"), C: T.Buffer((7,), "int32")):
    for i, j, k in T.grid(4, 4, 8):
        with T.block("b"):
            vi = T.axis.spatial(7, i + j)
            vk = T.axis.reduce(8, k)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
"""
LAST = """
@T.prim_func
def f(X: T.Buffer((25,), "int32"), Y: T.Buffer((2,), "int32")):
    for i, j in T.grid(5, 5):
        with T.block("b"):
            v = T.axis.spatial(25, i * 5 + j)
            with T.init():
                Y[v % 2] = 0
            Y[v % 2] = Y[v % 2] + X[v]
"""
UNIT = """
@T.prim_func
def f(X: T.Buffer((6, 2, 1), "int32"), Y: T.Buffer((6, 2), "int32")):
    for u, i, j, k in T.grid(1, 2, 5, 5):
        with T.block("b"):
            v0 = T.axis.spatial(6, k + i)
            v1 = T.axis.spatial(2, j % 2)
            v2 = T.axis.reduce(1, u)
            with T.init():
                Y[v0, v1] = 0
            Y[v0, v1] = Y[v0, v1] - X[v0, v1, v2]
"""
BETWEEN = """
@T.prim_func
def f(X: T.Buffer((4, 5), "int32"), Y: T.Buffer((4, 5), "int32")):
    for u, i in T.grid(1, 4):
        with T.block("w"):
            v = T.axis.opaque(4, i)
            Y[v, 3] = 7
        for j in range(5):
            with T.block("b"):
                v0, v1, v2 = T.axis.remap("SSR", [i, j, u])
                with T.init():
                    Y[v0, v1] = 0
                Y[v0, v1] = Y[v0, v1] + X[v0, v1]
"""
GUARDED = """
@T.prim_func
def f(X: T.Buffer((5, 3), "int32"), Y: T.Buffer((5,), "int32")):
    for k, i, u in T.grid(3, 5, 2):
        with T.block("b"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where({condition})
            with T.init():
                Y[vi] = 7
            Y[vi] = Y[vi] + X[vi, vk]
"""
ONCE = """
@T.prim_func
def f(X: T.Buffer((1, 2), "int32"), Y: T.Buffer((1,), "int32")):
    for u in range(1):
        for w in range(1, 2):
            for i in range(5):
                with T.block("b"):
                    v0 = T.axis.reduce(1, u)
                    v1 = T.axis.spatial(2, i % 2)
                    v2 = T.axis.reduce(1, 1 - w)
                    with T.init():
                        Y[v1 // 2] = 0
                    Y[v1 // 2] = Y[v1 // 2] - X[v0 + v2, v1]
"""
TOUCHED = """
@T.prim_func
def f(X: T.Buffer((4, 3), "int32"), Y: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 3):
        with T.block("w"):
            u = T.axis.opaque(4, i)
            Y[(u + 1) % 4] = 7
        with T.block("b"):
            v0, v1 = T.axis.remap("SR", [i, k])
            with T.init():
                Y[v0] = 0
            Y[v0] = Y[v0] + X[v0, v1]
"""
PASSED = """
@T.prim_func
def f(X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    for i in range(4):
        for u in range(1, 2):
            with T.block("w"):
                v = T.axis.opaque(4, i)
                Y[v] = Y[v] + 7
            for j in range(1):
                with T.block("b"):
                    v0 = T.axis.reduce(1, u // 2)
                    v1 = T.axis.spatial(4, i + j)
                    with T.init():
                        Y[v1] = 0
                    Y[v1] = Y[v1] + X[v1] + v0
"""
ZERO = """
@T.prim_func
def f(X: T.Buffer((2, 4, 1), "int32"), Y: T.Buffer((2, 4), "int32")):
    for u, i, j, k in T.grid(1, 1, 4, 2):
        with T.block("b"):
            v0 = T.axis.spatial(2, k)
            v1 = T.axis.spatial(4, j)
            v2 = T.axis.reduce(1, (u + i + 2) % 2)
            with T.init():
                Y[v0, v1] = 0
            Y[v0, v1] = Y[v0, v1] + X[v0, v1, v2]
"""
HALVES = """
@T.prim_func
def f(X: T.Buffer((3, 3), "int32"), Y: T.Buffer((3, 2), "int32")):
    for i, j in T.grid(3, 3):
        with T.block("b"):
            v0, v1 = T.axis.remap("SS", [j, i])
            with T.init():
                Y[v0, v1 // 2] = 0
            Y[v0, v1 // 2] = Y[v0, v1 // 2] + X[v0, v1]
"""
TRIANGLE = """
@T.prim_func
def f(X: T.Buffer((5, 5), "int32"), Y: T.Buffer((5,), "int32")):
    for i, j in T.grid(3, 5):
        with T.block("b"):
            v0 = T.axis.reduce(5, i * 2)
            v1 = T.axis.spatial(5, 4 - j)
            T.where(j <= i)
            with T.init():
                Y[v1] = 0
            Y[v1] = Y[v1] - X[v0, v1]
"""
BOTH_KINDS = """
@T.prim_func
def f(X: T.Buffer((4, 4, 5), "int32"), Y: T.Buffer((4, 4), "int32")):
    for i, j, u in T.grid(4, 3, 1):
        with T.block("b"):
            v2 = T.axis.reduce(5, j * 2)
            v0 = T.axis.spatial(4, i)
            v1 = T.axis.spatial(4, j + 1)
            T.where(j + u < 2)
            with T.init():
                Y[v0, v1] = 0
            Y[v0, v1] = Y[v0, v1] ^ X[v0, v1, v2]
"""
PRODUCED = """
@T.prim_func
def f(X: T.Buffer((5, 2, 15), "int32"), Y: T.Buffer((2, 15), "int32")):
    B = T.alloc_buffer((5, 2, 15), "int32")
    for b0, b1, b2 in T.grid(5, 2, 15):
        with T.block("B"):
            u0, u1, u2 = T.axis.remap("SSS", [b0, b1, b2])
            B[u0, u1, u2] = X[u0, u1, u2] * 3
    for k, j, i in T.grid(5, 15, 3):
        with T.block("b"):
            v0 = T.axis.reduce(5, k)
            v1 = T.axis.spatial(2, i // 2)
            v2 = T.axis.spatial(15, j)
            with T.init():
                Y[v1, v2] = 0
            Y[v1, v2] = Y[v1, v2] + B[v0, v1, v2]
"""
GAPS = """
@T.prim_func
def f(X: T.Buffer((7,), "int32"), Y: T.Buffer((7,), "int32")):
    B = T.alloc_buffer((7,), "int32")
    for b0 in range(7):
        with T.block("B"):
            u0 = T.axis.spatial(7, b0)
            B[u0] = X[u0] * 3
    for k, i in T.grid(1, 4):
        with T.block("b"):
            v0 = T.axis.spatial(7, i * 2)
            v1 = T.axis.reduce(1, k)
            T.where(k >= 2)
            with T.init():
                Y[v0] = 9
            Y[v0] = Y[v0] + B[v0] + v1
"""
CONSUMED = """
@T.prim_func
def f(X: T.Buffer((4, 4), "int32"), Z: T.Buffer((4,), "int32")):
    Y = T.alloc_buffer((4,), "int32")
    for i, k, r in T.grid(4, 4, 2):
        with T.block("b"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = 0
            Y[vi] = Y[vi] + X[vi, vk]
    for i in range(4):
        with T.block("Z"):
            vi = T.axis.spatial(4, i)
            Z[vi] = Y[vi] + 1
"""
BIASED = """
@T.prim_func
def f(X: T.Buffer((4, 3), "int32"), b: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    c = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("c"):
            v = T.axis.spatial(4, i)
            c[v] = b[v] * 2
    for i, k in T.grid(4, 3):
        with T.block("b"):
            v0, v1 = T.axis.remap("SR", [i, k])
            with T.init():
                Y[v0] = c[v0]
            Y[v0] = Y[v0] + X[v0, v1]
"""
OVERWRITTEN = """
@T.prim_func
def f(X: T.Buffer((5, 3), "int32"), Y: T.Buffer((5, 2), "int32")):
    B = T.alloc_buffer((5, 3), "int32")
    for b0, b1 in T.grid(5, 3):
        with T.block("B"):
            u0, u1 = T.axis.remap("SS", [b0, b1])
            B[u0, u1] = X[u0, u1] * 3
    for j, i in T.grid(3, 5):
        with T.block("b"):
            v0 = T.axis.spatial(5, 4 - i)
            v1 = T.axis.spatial(3, 2 - j)
            Y[v0, v1 % 2] = B[v0, v1] + v1
"""
STILL = """
@T.prim_func
def f(X: T.Buffer((3, 2), "int32"), Y: T.Buffer((3, 2), "int32")):
    B = T.alloc_buffer((3, 2), "int32")
    for b0, b1 in T.grid(3, 2):
        with T.block("B"):
            u0, u1 = T.axis.remap("SS", [b0, b1])
            B[u0, u1] = X[u0, u1] * 3
    for i in range(3):
        with T.block("b"):
            v0 = T.axis.spatial(3, i)
            v1 = T.axis.spatial(2, 1)
            Y[v0, v1] = B[v0, v1] + v0
"""
EPILOGUE = """
@T.prim_func
def f(X: T.Buffer((4, 3), "int32"), Y: T.Buffer((2,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i, k in T.grid(4, 3):
        with T.block("B"):
            u0, u1 = T.axis.remap("SR", [i, k])
            with T.init():
                B[u0] = 0
            B[u0] = B[u0] + X[u0, u1]
    for i in range(4):
        with T.block("b"):
            v0 = T.axis.spatial(4, 3 - i)
            Y[v0 % 2] = B[v0] + 1
"""
SCOPED = """
@T.prim_func
def f(X: T.Buffer((4, 3), "int32"), Y: T.Buffer((4, 2), "int32")):
    for i, j in T.grid(4, 3):
        with T.block("scope"):
            T.reads(X[i, j])
            T.writes(Y[i, j % 2])
            with T.block("b"):
                v0 = T.axis.reduce(4, i)
                v1 = T.axis.spatial(4, i)
                v2 = T.axis.spatial(3, j)
                with T.init():
                    Y[v1, v2 % 2] = 0
                Y[v1, v2 % 2] = Y[v1, v2 % 2] - X[v1, v2]
"""
NEVER = """
@T.prim_func
def f(X: T.Buffer((2, 3), "int32"), Y: T.Buffer((4, 3), "int32")):
    for i, j in T.grid(3, 2):
        with T.block("b"):
            v0 = T.axis.spatial(2, j)
            v1 = T.axis.spatial(3, i)
            T.where(j >= 2)
            Y[v0 * 2, v1] = Y[v0 * 2, v1] - X[v0, v1]
"""
HIDDEN = """
@T.prim_func
def f(X: T.Buffer((5, 4), "int32"), Y: T.Buffer((5,), "int32")):
    for u, k in T.grid(1, 4):
        if u >= 1:
            for i in range(5):
                with T.block("b"):
                    v0 = T.axis.reduce(4, k + u)
                    v1 = T.axis.spatial(5, i)
                    with T.init():
                        Y[v1] = 0
                    Y[v1] = Y[v1] + X[v1, v0]
"""
DECIDED = """
@T.prim_func
def f(p: T.handle, X: T.Buffer((4, 5), "int32"), Y: T.Buffer((4,), "int32")):
    n = T.int32()
    P = T.match_buffer(p, (n,), "int32")
    for i, k in T.grid(4, 5):
        with T.block("b"):
            v0, v1 = T.axis.remap("SR", [i, k])
            T.where(k >= n)
            with T.init():
                Y[v0] = 9
            Y[v0] = Y[v0] + X[v0, v1]
"""
FURTHER = """
@T.prim_func
def f(X: T.Buffer((3, 4), "int32"), Y: T.Buffer((4,), "int32")):
    for k, i in T.grid(3, 4):
        if i <= k:
            with T.block("b"):
                v0, v1 = T.axis.remap("SR", [i, k])
                T.where(k < 1)
                with T.init():
                    Y[v0] = 9
                Y[v0] = Y[v0] + X[v1, v0]
"""
OUTER = """
@T.prim_func
def f(X: T.Buffer((4, 6), "int32"), Y: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("o"):
            u = T.axis.spatial(4, i)
            T.reads(X[u, 0:6])
            T.writes(Y[u])
            for k in range(6):
                with T.block("b"):
                    v0 = T.axis.spatial(4, u)
                    v1 = T.axis.reduce(6, k)
                    T.where(k + 3 <= u)
                    with T.init():
                        Y[v0] = 9
                    Y[v0] = Y[v0] + X[v0, v1]
"""
EMPTY = """
@T.prim_func
def f(x: T.handle, Y: T.Buffer((5,), "int32")):
    n = T.int32()
    X = T.match_buffer(x, (5, n), "int32")
    for k, i in T.grid(n, 5):
        with T.block("b"):
            v0 = T.axis.reduce(n, k)
            v1 = T.axis.spatial(5, i)
            with T.init():
                Y[v1] = 0
            Y[v1] = Y[v1] + X[v1, v0]
"""
MODULO = """
@T.prim_func
def f(X: T.Buffer((2, 2), "int32"), Y: T.Buffer((2,), "int32")):
    for k, i in T.grid(5, 3):
        with T.block("b"):
            v0 = T.axis.spatial(2, i % 2)
            v1 = T.axis.reduce(2, k % 2)
            with T.init():
                Y[v0] = 0
            Y[v0] = Y[v0] + X[v0, v1]
"""

Step = Callable[[Schedule, list[Any]], Any]


def loops_in(order: str) -> Step:
    return lambda s, loops: s.reorder(*[loops["ijku".index(c)] for c in order])


def fused(*numbers: int) -> Step:
    return lambda s, loops: s.fuse(*[loops[n] for n in numbers])


def declared(s: Schedule, loops: list[Any]) -> None:
    s.annotate_buffer_access("b", 0, "read", lambda i, j: (0, 3, 0, 3))
    s.decompose_reduction("b", loops[0])


CASES: dict[str, tuple[str, Step, str]] = {
    "reorder mixes runs": (SUMS, loops_in("kij"), "reversed-dependence"),
    "reorder mixes some runs": (SUMS, loops_in("ikj"), ""),
    "reorder of runs alone": (SUMS, loops_in("jik"), ""),
    "reorder changes which store is last": (LAST, loops_in("ji"), "reversed-dependence"),
    "fuse of reduction loops with runs": (SUMS, fused(1, 2), ""),
    "fuse of all": (SUMS, fused(0, 1, 2), "reduction-begins-again"),
    "fuse of runs": (SUMS, fused(0, 1), ""),
    "fuse: another statement uses the cells": (TOUCHED, fused(0, 1), "reduction-begins-again"),
    "reorder: another statement uses the cells": (TOUCHED, loops_in("ji"), "reversed-dependence"),
    "fuse of reduction loops of one iteration": (ONCE, fused(0, 1), "reduction-begins-again"),
    "fuse: the init would pass a statement": (PASSED, fused(0, 1), "dependence-unknown"),
    "fuse: a condition of updates alone": (GUARDED.format(condition="k >= 3"), fused(0, 1), "guarded-init"),
    "fuse: a condition of both": (GUARDED.format(condition="i + k < 3"), fused(0, 1), ""),
    "fuse: no longer a condition of both": (GUARDED.format(condition="i < 3"), fused(1, 2), ""),
    "fuse keeps the loop that a reduction begins before": (ZERO, fused(0, 1), ""),
    "decompose_reduction inside a reduction loop of one iteration": (
        UNIT,
        lambda s, loops: s.decompose_reduction("b", loops[3]),
        "repeated-instance",
    ),
    "decompose_reduction past a statement before": (
        BETWEEN,
        lambda s, loops: s.decompose_reduction("b", loops[2]),
        "repeated-instance",
    ),
    "decompose_reduction under a condition of updates": (
        HIDDEN,
        lambda s, loops: s.decompose_reduction("b", loops[2]),
        "reduction-loop-outside",
    ),
    "decompose_reduction under a condition on a loop of one iteration": (
        HIDDEN.replace("T.grid(1, 4)", "T.grid(1, 1)"),
        lambda s, loops: s.decompose_reduction("b", loops[2]),
        "repeated-instance",
    ),
    "decompose_reduction: a symbol does not decide": (
        DECIDED,
        lambda s, loops: s.decompose_reduction("b", loops[1]),
        "",
    ),
    "fuse: a symbol does not decide": (DECIDED, fused(0, 1), "guarded-init"),
    "split: a symbol does not decide": (DECIDED, lambda s, loops: s.split(loops[1], [None, 4]), ""),
    "cache_write: a symbol does not decide": (
        DECIDED,
        lambda s, loops: s.cache_write("b", 0, "local"),
        "",
    ),
    "cache_write: the init goes further than the updates": (
        FURTHER,
        lambda s, loops: s.cache_write("b", 0, "local"),
        "",
    ),
    "an axis of the block around decides": (OUTER, lambda s, loops: s.unroll(loops[0]), ""),
    "decompose_reduction: an axis of the block around decides": (
        OUTER,
        lambda s, loops: s.decompose_reduction("b", loops[0]),
        "",
    ),
    "decompose_reduction at that loop": (UNIT, lambda s, loops: s.decompose_reduction("b", loops[0]), ""),
    "decompose_reduction with given regions": (HALVES, declared, "init-overtakes"),
    "blockize: a condition with a reduction loop outside": (
        TRIANGLE,
        lambda s, loops: s.blockize(loops[1]),
        "guarded-init",
    ),
    "blockize: a loop that is in axes of both kinds": (
        BOTH_KINDS,
        lambda s, loops: s.blockize(loops[2]),
        "",
    ),
    "blockize inside a reduction loop of one iteration": (
        UNIT.replace("k + i", "k"),
        lambda s, loops: s.blockize(loops[3]),
        "",
    ),
    "blockize that drops the reduction loop of one iteration": (
        UNIT.replace("k + i", "k"),
        lambda s, loops: s.blockize(loops[3], preserve_unit_iters=False),
        "repeated-instance",
    ),
    "reverse_compute_at of repeated updates": (
        PRODUCED,
        lambda s, loops: s.reverse_compute_at("b", s.get_loops("B")[2]),
        "not-recomputable",
    ),
    "reverse_compute_at: the init runs where no update does": (
        GAPS,
        lambda s, loops: s.reverse_compute_at("b", s.get_loops("B")[0]),
        "axis-not-covered",
    ),
    "compute_at behind the init that reads the block": (
        BIASED,
        lambda s, loops: s.compute_at("c", loops[1]),
        "init-before",
    ),
    "compute_at before that init": (BIASED, lambda s, loops: s.compute_at("c", loops[0]), ""),
    "compute_at of repeated updates": (
        CONSUMED,
        lambda s, loops: s.compute_at("b", s.get_loops("Z")[0]),
        "not-recomputable",
    ),
    "reverse_compute_inline of stores that meet": (
        OVERWRITTEN,
        lambda s, loops: s.reverse_compute_inline("b"),
        "instances-meet",
    ),
    "reverse_compute_inline with an axis that stands still": (
        STILL,
        lambda s, loops: s.reverse_compute_inline("b"),
        "",
    ),
    "fuse_reduction_epilogue of stores that meet": (
        EPILOGUE,
        lambda s, loops: s.fuse_reduction_epilogue("B", "b"),
        "instances-meet",
    ),
    "cache_write in a scope that the reduction goes through": (
        SCOPED,
        lambda s, loops: s.cache_write("b", 0, "local"),
        "init-before",
    ),
    "cache_write of a block that never runs": (NEVER, lambda s, loops: s.cache_write("b", 0, "local"), ""),
    "write_at where the update may not run": (
        HIDDEN,
        lambda s, loops: s.write_at(loops[2], "b", 0, "local"),
        "init-before",
    ),
    "write_at where the reduction may be empty": (
        EMPTY,
        lambda s, loops: s.write_at(loops[1], "b", 0, "local"),
        "init-before",
    ),
    "loop_partition of instances that meet": (
        MODULO,
        lambda s, loops: s.loop_partition(loops[1], [1, None, 1]),
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    assert_kept(*CASES[name])
