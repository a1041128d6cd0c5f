"""Instances that meet below blocks with axes, names for values, and loops whose extents are symbols.

The right values are those of the interpreter on the program as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule

from .meaning_kept import STRICT, assert_kept, assert_same, means
from .sequences import parsed, values

pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")

NAMED = """
@T.prim_func
def f(X: T.Buffer((5, 4), "int32"), Y: T.Buffer((4,), "int32")):
    for k in range(5):
        back: T.int32 = 4 - k
        for i in range(4):
            with T.block("b"):
                vk = T.axis.reduce(5, back)
                vi = T.axis.spatial(4, i)
                with T.init():
                    Y[vi] = 0
                Y[vi] = Y[vi] - X[vk, vi]
"""
NAMED_SUM = """
@T.prim_func
def f(X: T.Buffer((7, 3), "int32"), Y: T.Buffer((7,), "int32")):
    for i, j in T.grid(4, 4):
        both: T.int32 = i + j
        for k in range(3):
            with T.block("b"):
                v = T.axis.spatial(7, both)
                vk = T.axis.reduce(3, k)
                with T.init():
                    Y[v] = 0
                Y[v] = Y[v] + X[v, vk]
"""
READ_NAME = """
@T.prim_func
def f(X: T.Buffer((5,), "int32"), Y: T.Buffer((5,), "int32")):
    for i in range(4):
        at: T.int32 = T.max(X[i], 0) % 5
        for k in range(2):
            with T.block("b"):
                v = T.axis.opaque(5, at)
                Y[v] = Y[v] * 2 + X[v]
"""
SPATIAL_AROUND = """
@T.prim_func
def f(X: T.Buffer((5, 3), "int32"), Y: T.Buffer((5,), "int32")):
    for k, i in T.grid(3, 5):
        with T.block("o"):
            ok, oi = T.axis.remap("SS", [k, i])
            with T.block("b"):
                vi = T.axis.spatial(5, oi)
                vk = T.axis.reduce(3, ok)
                with T.init():
                    Y[vi] = 0
                Y[vi] = Y[vi] - X[vi, vk]
"""
MAXIMUM = """
@T.prim_func
def f(X: T.Buffer((2, 5), "int32"), Y: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 2):
        with T.block("o"):
            oi = T.axis.opaque(5, i)
            ok = T.axis.spatial(2, k)
            with T.block("b"):
                vk = T.axis.reduce(2, ok)
                vi = T.axis.spatial(5, T.max(oi, ok))
                with T.init():
                    Y[vi] = 0
                Y[vi] = Y[vi] + X[vk, vi]
"""
OTHERS_MEANWHILE = """
@T.prim_func
def f(X: T.Buffer((2,), "int32"), Y: T.Buffer((1,), "int32")):
    for k in range(2):
        with T.block("first"):
            with T.block("c"):
                v = T.axis.reduce(2, k)
                with T.init():
                    Y[0] = 0
                Y[0] = Y[0] - X[v]
        with T.block("second"):
            with T.block("b"):
                v = T.axis.reduce(2, k)
                with T.init():
                    Y[0] = 0
                Y[0] = Y[0] - X[v]
"""
BLOCKS_IN_INIT = """
@T.prim_func
def f(X: T.Buffer((4, 2), "int32"), Y: T.Buffer((4, 3), "int32")):
    for k in range(4):
        for i in range(1, 5):
            with T.block("b"):
                vk = T.axis.reduce(2, k % 2)
                v = T.axis.spatial(4, k)
                vi = T.axis.spatial(3, i // 2)
                with T.init():
                    with T.block("zero"):
                        Y[v, vi] = 0
                for u in range(2):
                    with T.block("c"):
                        w = T.axis.reduce(2, u)
                        Y[v, vi] = Y[v, vi] + X[v, w]
"""
INIT_BY_OUTER = """
@T.prim_func
def f(X: T.Buffer((7,), "int32"), Y: T.Buffer((7,), "int32")):
    for u, k in T.grid(1, 5):
        with T.block("o"):
            ou = T.axis.opaque(1, u)
            ok = T.axis.reduce(5, k)
            for i in range(3):
                with T.block("b"):
                    vu = T.axis.reduce(1, ou)
                    v = T.axis.spatial(7, i + ok)
                    with T.init():
                        Y[v] = 0
                    Y[v] = Y[v] + X[v]
"""
BEYOND = """
@T.prim_func
def f(n_at: T.handle, X: T.Buffer((3,), "int32"), Y: T.Buffer((3,), "int32")):
    n = T.int32()
    N = T.match_buffer(n_at, (n,), "int32")
    for i in range(n):
        for u in range(1):
            with T.block("b"):
                v = T.axis.spatial(3, i // 2)
                Y[v] = X[v] + 1
"""
FAR = """
@T.prim_func
def f(X: T.Buffer((4,), "int32"), Y: T.Buffer((9,), "int32")):
    for i in range(3):
        for j in range(3):
            with T.block("b"):
                v = T.axis.spatial(4, i * 3 + j)
                Y[v] = X[v] + 1
"""
WHILE = """
@T.prim_func
def f(X: T.Buffer((4, 7), "int32"), Y: T.Buffer((4, 2), "int32")):
    for k in range(2, 4):
        with T.block("w"):
            w = T.axis.opaque((2, 4), k)
            while Y[0, w % 2] > 9:
                Y[0, w % 2] = Y[0, w % 2] // 2
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce(7, k * 2)
                vo = T.axis.spatial(4, k)
                with T.init():
                    Y[vi, vo // 2] = 0
                Y[vi, vo // 2] = Y[vi, vo // 2] ^ X[vi, vk]
"""
TURNS = """
@T.prim_func
def f(X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("b"):
            v = T.axis.opaque(4, i)
            while X[v] > Y[v]:
                Y[v] = Y[v] + 1
"""
NAMED_OUTSIDE = """
@T.prim_func
def f(X: T.Buffer((6, 3), "int32"), Y: T.Buffer((3,), "int32")):
    for k in range(1, 6):
        back: T.int32 = 6 - k
        for i in range(3):
            with T.block("o"):
                oi = T.axis.spatial(3, i)
                with T.block("b"):
                    vk = T.axis.reduce(6, back)
                    vi = T.axis.spatial(3, oi)
                    with T.init():
                        Y[vi] = 0
                    Y[vi] = Y[vi] ^ X[vk, vi]
"""
UNIT_AROUND = """
@T.prim_func
def f(X: T.Buffer((1,), "int32"), Y: T.Buffer((1,), "int32")):
    for i in range(2, 7):
        for u, k in T.grid(1, 2):
            with T.block("o"):
                oi = T.axis.opaque((2, 7), i)
                ou, ok = T.axis.remap("SR", [u, k])
                with T.block("b"):
                    vk = T.axis.reduce(1, ou)
                    vi = T.axis.spatial(1, ok // 2)
                    with T.init():
                        Y[vi] = 0
                    Y[vi] = Y[vi] + X[vk]
"""
USED_INSIDE = """
@T.prim_func
def f(X: T.Buffer((2, 5), "int32"), Y: T.Buffer((4,), "int32")):
    for k in range(5):
        name: T.int32 = k
        for i in range(5):
            with T.block("o"):
                ok, oi = T.axis.remap("SS", [k, i])
                with T.block("b"):
                    vi = T.axis.spatial(2, oi % 2)
                    vk = T.axis.reduce(5, name)
                    with T.init():
                        Y[vi * 2] = 0
                    Y[vi * 2] = Y[vi * 2] ^ X[vi, vk]
"""
UNIT_LOOP = """
@T.prim_func
def f(X: T.Buffer((1, 5), "int32"), Y: T.Buffer((1,), "int32")):
    for u in range(1):
        with T.block("o"):
            ou = T.axis.spatial(1, u)
            for i in range(1, 5):
                with T.block("b"):
                    vu = T.axis.reduce(1, ou // 2)
                    vi = T.axis.spatial(5, i)
                    with T.init():
                        Y[0] = -100
                    Y[0] = T.max(Y[0], X[vu, vi])
"""
DECIDED = """
@T.prim_func
def f(X: T.Buffer((3, 2), "int32"), Y: T.Buffer((2,), "int32")):
    for k, i in T.grid(3, 4):
        with T.block("o"):
            ok, oi = T.axis.remap("RS", [k, i])
            with T.block("b"):
                vk = T.axis.reduce(3, ok)
                vi = T.axis.spatial(2, oi // 2)
                T.where(oi + ok < 3)
                with T.init():
                    Y[vi] = -100
                Y[vi] = T.max(Y[vi], X[vk, vi])
"""
READ_BY_INIT = """
@T.prim_func
def f(X: T.Buffer((4, 2), "int32"), Y: T.Buffer((4,), "int32")):
    for k in range(2):
        with T.block("o"):
            ok = T.axis.reduce(2, k)
            for i in range(4):
                at: T.int32 = T.min(T.max(X[i, 0], 0), 3)
                with T.block("b"):
                    vi = T.axis.spatial(4, at)
                    vk = T.axis.reduce(2, ok)
                    with T.init():
                        Y[vi] = 0
                    Y[vi] = Y[vi] + X[vi, vk]
"""
AGAIN = """
@T.prim_func
def f(X: T.Buffer((3, 5), "int32"), Y: T.Buffer((2,), "int32")):
    for k in range(3):
        with T.block("o"):
            ok = T.axis.opaque(3, k)
            for i in range(5):
                with T.block("b"):
                    v = T.axis.opaque(2, i % 2)
                    vi = T.axis.spatial(5, i)
                    Y[v] = Y[v] * 2 + X[ok, vi]
"""

Step = Callable[[Schedule, list[Any]], Any]
CASES: dict[str, tuple[str, Step, str]] = {
    "reindex_cache_read below a name": (
        NAMED, lambda s, loops: s.reindex_cache_read("b", 0, "shared", lambda i, j: (j, i)), ""),
    "loop_partition of a reduction by a name": (
        NAMED, lambda s, loops: s.loop_partition(loops[0], [1, None, 1]), ""),
    "decompose_reduction inside of a reduction by a name": (
        NAMED, lambda s, loops: s.decompose_reduction("b", loops[1]), "reduction-loop-outside"),
    "decompose_reduction at a reduction by a name": (
        NAMED, lambda s, loops: s.decompose_reduction("b", loops[0]), ""),
    "reorder of a reduction by a name": (NAMED, lambda s, loops: s.reorder(loops[1], loops[0]), ""),
    "parallel of a reduction by a name": (
        NAMED, lambda s, loops: s.parallel(loops[0]), "parallel-reduction-axis"),
    "parallel of a sum with a name": (
        NAMED_SUM, lambda s, loops: s.parallel(loops[0]), "loop-carried-dependence"),
    "fuse of a sum with a name": (NAMED_SUM, lambda s, loops: s.fuse(loops[0], loops[1]), ""),
    "parallel below a name for memory": (
        READ_NAME, lambda s, loops: s.parallel(loops[0]), "dependence-unknown"),
    "reverse order below a name for memory": (
        READ_NAME, lambda s, loops: s.reorder(loops[1], loops[0]), "not-perfectly-nested"),
    "reindex_cache_read below a name for memory": (
        READ_NAME,
        lambda s, loops: s.reindex_cache_read("b", 1, "shared", lambda i: (i,)),
        "several-indices",
    ),
    "read_at of updates in a block with given regions": (
        MAXIMUM, lambda s, loops: [
            s.annotate_buffer_access("b", 0, "read", lambda i, j: (0, 2, 0, 5)),
            s.read_at(s.get_loops("o")[0], "o", 0, "local"),
        ], "cache-stale"),
    "cache_write where a block around lets spatial axes drive the reduction": (
        SPATIAL_AROUND, lambda s, loops: s.cache_write("b", 0, "shared"), "init-before"),
    "cache_write between other updates of the cells": (
        OTHERS_MEANWHILE, lambda s, loops: s.cache_write("b", 0, "shared"), "init-before"),
    "reorder where blocks are the init": (
        BLOCKS_IN_INIT, lambda s, loops: s.reorder(loops[1], loops[0]), "reversed-dependence"),
    "blockize where the init uses an axis around": (INIT_BY_OUTER, lambda s, loops: s.blockize(loops[0]), ""),
    "read_at of instances that do not run": (
        BEYOND, lambda s, loops: s.read_at(loops[0], "b", 0, "local"), ""),
    "write_at of instances that do not run": (
        BEYOND, lambda s, loops: s.write_at(loops[0], "b", 0, "local"), ""),
    "cache_read of instances that do not run": (FAR, lambda s, loops: s.cache_read("b", 0, "local"), ""),
    "cache_write of instances that do not run": (FAR, lambda s, loops: s.cache_write("b", 0, "local"), ""),
    "read_at of instances beyond the domain": (
        FAR, lambda s, loops: s.read_at(loops[0], "b", 0, "local"), ""),
    "write_at of instances beyond the domain": (
        FAR, lambda s, loops: s.write_at(loops[0], "b", 0, "local"), ""),
    "blockize where a loop of one iteration begins the reduction of a block inside": (
        UNIT_AROUND, lambda s, loops: s.blockize(s.get_loops("o")[0]), "nested-reduction"),
    "blockize of tiles around a reduction inside": (
        INIT_BY_OUTER, lambda s, loops: s.blockize(s.get_loops("o")[1]), ""),
    "cache_inplace around a reduction that a name outside drives": (
        USED_INSIDE, lambda s, loops: s.cache_inplace("o", 0, "local"), "init-before"),
    "cache_write in a reduction that a name outside drives": (
        USED_INSIDE, lambda s, loops: s.cache_write("b", 0, "local"), "init-before"),
    "transform_block_layout around a reduction over its axes": (
        UNIT_LOOP,
        lambda s, loops: s.transform_block_layout("o", lambda i: (i // 2, i % 2)),
        "nested-reduction",
    ),
    "split that guards a loop which decides about instances further in": (
        DECIDED, lambda s, loops: s.split(s.get_loops("o")[0], [None, 2]), "divided-init"),
    "split without a guard of such a loop": (
        DECIDED, lambda s, loops: s.split(s.get_loops("o")[0], [None, 3]), ""),
    "read_at of what an init before the loop needs": (
        READ_BY_INIT, lambda s, loops: s.read_at(s.get_loops("o")[0], "o", 0, "shared"), "init-before"),
    "cache_read of what an init before the loop needs": (
        READ_BY_INIT, lambda s, loops: s.cache_read("o", 0, "shared"), ""),
    "read_at of what a block with given regions reads again": (
        AGAIN, lambda s, loops: [
            s.annotate_buffer_access("o", 0, "write", lambda k: (0, 2)),
            s.read_at(s.get_loops("o")[0], "o", 0, "shared"),
        ], "cache-stale"),
    "cache_read of what a while reads again": (
        TURNS, lambda s, loops: s.cache_read("b", 1, "local"), "cache-stale"),
    "reindex_cache_read of what a while reads again": (
        TURNS, lambda s, loops: s.reindex_cache_read("b", 1, "local", lambda i: (i,)), "cache-stale"),
    "read_at of what a while reads again": (
        TURNS, lambda s, loops: s.read_at(loops[0], "b", 1, "local"), "cache-stale"),
    "cache_read of what a while only reads": (TURNS, lambda s, loops: s.cache_read("b", 0, "local"), ""),
    "parallel around a while": (TURNS, lambda s, loops: s.parallel(loops[0]), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    assert_kept(*CASES[name])


def test_a_name_around_blocks_is_taken_out() -> None:
    sch = Schedule(parsed("from tirscript.script import tir as T\n" + NAMED))
    text = sch.mod.script()
    assert "back" not in text
    assert "vk = T.axis.reduce(5, 4 - k)" in text


INSIDE = """
@T.prim_func
def f(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        m: T.int32 = i + 1
        with T.block("o"):
            vi = T.axis.spatial(8, i)
            B = T.alloc_buffer((m,), "int32")
            for j in range(m):
                with T.block("c"):
                    vj = T.axis.spatial(m, j)
                    B[vj] = A[vi, vj] * 2
            for j in range(m):
                with T.block("b"):
                    vj = T.axis.reduce(m, j)
                    with T.init():
                        C[vi] = 0
                    C[vi] = C[vi] + B[vj]
"""


def test_a_name_that_a_block_uses_inside_stays() -> None:
    """The block has axes: it may not use the loop itself."""
    func = parsed("from tirscript.script import tir as T\n" + INSIDE)
    assert Schedule(func).mod["f"] is func
    assert_kept(INSIDE, lambda s, loops: s.compute_inline("c"), "")
    a, c = np.arange(64, dtype="int32").reshape(8, 8), np.zeros(8, "int32")
    sch = Schedule(func)
    sch.compute_inline("c")  # uses an axis of the block that allocates B
    ts.build(sch.mod)(a, c)
    np.testing.assert_array_equal(c, [2 * a[i, : i + 1].sum() for i in range(8)])


def test_a_name_for_memory_stays() -> None:
    func = parsed("from tirscript.script import tir as T\n" + READ_NAME)
    assert Schedule(func).mod["f"] is func


@pytest.mark.parametrize(
    "text", [WHILE, INIT_BY_OUTER, SPATIAL_AROUND, OTHERS_MEANWHILE, NAMED_OUTSIDE, UNIT_AROUND, USED_INSIDE]
)
def test_three_ways(text: str) -> None:
    func = parsed("from tirscript.script import tir as T\n" + text)
    want = means(func, func)
    for target in ("python", STRICT):
        assert_same(values(func, func, target), want, target)


def test_a_copy_stays_in_bounds_whatever_the_extent() -> None:
    """n = 9: instances with ``i // 2 >= 3`` do not run, and no copy is made for them."""
    sch = Schedule(parsed("from tirscript.script import tir as T\n" + BEYOND))
    sch.read_at(sch.get_loops("b")[0], "b", 0, "local")
    n, x, y = (np.arange(k, dtype="int32") for k in (9, 3, 3))
    for target in ("python", "llvm"):
        ts.build(sch.mod, target=target)(n, x, y)
        np.testing.assert_array_equal(y, x + 1)
