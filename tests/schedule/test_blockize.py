"""blockize: how axes, conditions and inits are divided, what survives, and what is refused."""

# ruff: noqa: B007
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.schedule import BlockRV, LoopRV, Schedule
from tirscript.script import tir as T
from tirscript.script.printer import script

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages
from .test_tvm import CHILD

pytestmark = pytest.mark.filterwarnings("ignore::tirscript.AxisWarning")


def refused(sch: Schedule, code: str, *args: Any, **options: Any) -> str:
    """The text of the refusal; the schedule must be as it was."""
    before, steps = sch.mod["main"] if len(sch.mod.names()) == 1 else None, len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.blockize(*args, **options)
    assert caught.value.code == code, str(caught.value)
    assert len(sch.history) == steps
    assert before is None or sch.mod["main"] is before
    return str(caught.value)


def check_expected(sch: Schedule, after: Any) -> None:
    name = sch.mod.names()[0]
    have = sch.mod[name].without_attr("global_symbol")
    assert ts.structural_equal(have, after.without_attr("global_symbol"), names=True), sch.mod.script()
    roundtrip(sch.mod)


def tiles(sch: Schedule, name: str, *factors: int) -> list[Any]:
    """Split the loops of a block and put the inner halves inside; the inner ones are returned."""
    pairs = [sch.split(x, [None, f]) for x, f in zip(sch.get_loops(name), factors, strict=True)]
    sch.reorder(*[p[0] for p in pairs], *[p[1] for p in pairs])
    return [p[1] for p in pairs]


def matmul_is_right(program: Any) -> None:
    a, b = rng(16, 24), rng(24, 20, seed=1)
    out = np.full((16, 20), 77, "float32")
    np.testing.assert_allclose(run(program, a, b, out), a @ b, rtol=1e-5)


# ---- expected programs


def test_a_tile_of_a_reduction() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i_0, j_0, k_0 in T.grid(4, 5, 3):
            with T.block("C_o"):
                vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                T.reads(
                    A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                    B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                )
                T.writes(C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4])
                with T.init():
                    for i_1, j_1 in T.grid(4, 4):
                        with T.block("C_init"):
                            vi_i_init, vj_i_init = T.axis.remap("SS", [i_1, j_1])
                            T.reads()
                            T.writes(C[vi_o * 4 + vi_i_init, vj_o * 4 + vj_i_init])
                            C[vi_o * 4 + vi_i_init, vj_o * 4 + vj_i_init] = T.float32(0)
                for i_1, j_1, k_1 in T.grid(4, 4, 8):
                    with T.block("C"):
                        vi_i, vj_i, vk_i = T.axis.remap("SSR", [i_1, j_1, k_1])
                        T.reads(
                            C[vi_o * 4 + vi_i, vj_o * 4 + vj_i],
                            A[vi_o * 4 + vi_i, vk_o * 8 + vk_i],
                            B[vk_o * 8 + vk_i, vj_o * 4 + vj_i],
                        )
                        T.writes(C[vi_o * 4 + vi_i, vj_o * 4 + vj_i])
                        C[vi_o * 4 + vi_i, vj_o * 4 + vj_i] = (
                            C[vi_o * 4 + vi_i, vj_o * 4 + vj_i]
                            + A[vi_o * 4 + vi_i, vk_o * 8 + vk_i] * B[vk_o * 8 + vk_i, vj_o * 4 + vj_i]
                        )

    sch = Schedule(matmul)
    block = sch.get_block("C")
    inner = tiles(sch, "C", 4, 4, 8)
    outer = sch.blockize(inner[0])
    check_expected(sch, after)
    matmul_is_right(sch.mod)
    # What survives: the block is the inner one, every loop is where it was.
    assert sch.get(block).name == "C" and sch.get(outer).name == "C_o"
    assert sch.get_loops(block) == inner and [x.name for x in sch.get_loops(outer)] == ["i_0", "j_0", "k_0"]
    assert sch.get_child_blocks(outer) == [block]
    sch.undo()
    assert len(sch.get_loops(block)) == 6


def test_a_condition_that_both_parts_decide_stays_inside() -> None:
    @T.prim_func
    def before(A: T.Buffer((10, 11), "int32"), B: T.Buffer((10, 11), "int32")):
        for i, j in T.grid(10, 11):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2

    @T.prim_func
    def after(A: T.Buffer((10, 11), "int32"), B: T.Buffer((10, 11), "int32")):
        for i_0, j_0 in T.grid(5, 3):
            with T.block("B_o"):
                vi_o, vj_o = T.axis.remap("SS", [i_0, j_0])
                T.reads(A[vi_o * 2 : vi_o * 2 + 2, vj_o * 4 : vj_o * 4 + T.min(4, 11 - vj_o * 4)])
                T.writes(B[vi_o * 2 : vi_o * 2 + 2, vj_o * 4 : vj_o * 4 + T.min(4, 11 - vj_o * 4)])
                for i_1, j_1 in T.grid(2, 4):
                    with T.block("B"):
                        vi_i, vj_i = T.axis.remap("SS", [i_1, j_1])
                        T.where(vj_o * 4 + j_1 < 11)
                        T.reads(A[vi_o * 2 + vi_i, vj_o * 4 + vj_i])
                        T.writes(B[vi_o * 2 + vi_i, vj_o * 4 + vj_i])
                        B[vi_o * 2 + vi_i, vj_o * 4 + vj_i] = A[vi_o * 2 + vi_i, vj_o * 4 + vj_i] * 2

    sch = Schedule(before)
    sch.blockize(tiles(sch, "B", 2, 4)[0])
    check_expected(sch, after)
    a = rng(10, 11, dtype="int32")
    big = np.full(120, -7, "int32")
    np.testing.assert_array_equal(run(sch.mod, a, big[:110].reshape(10, 11)), a * 2)


def test_conditions_on_outer_loops_guard_the_new_block() -> None:
    @T.prim_func
    def before(A: T.Buffer((16, 16), "int32"), B: T.Buffer((16, 16), "int32")):
        for i, j in T.grid(16, 20):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i < 13 and j < 9)
                B[vi, vj] = A[vi, vj] + 1

    @T.prim_func
    def after(A: T.Buffer((16, 16), "int32"), B: T.Buffer((16, 16), "int32")):
        for i in range(16):
            with T.block("B_o"):
                vi_o = T.axis.spatial(16, i)
                vj_o = T.axis.spatial(1, 0)
                T.where(i < 13)
                T.reads(A[vi_o, 0:9])
                T.writes(B[vi_o, 0:9])
                for j in range(20):
                    with T.block("B"):
                        vj_i = T.axis.spatial(20, j)
                        T.where(j < 9)
                        T.reads(A[vi_o, vj_i])
                        T.writes(B[vi_o, vj_i])
                        B[vi_o, vj_i] = A[vi_o, vj_i] + 1

    sch = Schedule(before)
    sch.blockize(sch.get_loops("B")[1])
    check_expected(sch, after)
    a = rng(16, 16, dtype="int32")
    want = np.full((16, 16), -7, "int32")
    want[:13, :9] = a[:13, :9] + 1
    np.testing.assert_array_equal(run(sch.mod, a, np.full((16, 16), -7, "int32")), want)


def test_quotients_and_remainders_of_a_fused_loop() -> None:
    @T.prim_func
    def after(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i_j_fused_0 in range(6):
            with T.block("B_o"):
                vi_o = T.axis.spatial(6, i_j_fused_0)
                vj_o = T.axis.spatial(1, 0)
                T.reads(A[vi_o * 2 : vi_o * 2 + 2, 0:10])
                T.writes(B[vi_o * 2 : vi_o * 2 + 2, 0:10])
                for i_j_fused_1 in range(20):
                    with T.block("B"):
                        vi_i = T.axis.spatial(2, i_j_fused_1 // 10)
                        vj_i = T.axis.spatial(10, i_j_fused_1 % 10)
                        T.reads(A[vi_o * 2 + vi_i, vj_i])
                        T.writes(B[vi_o * 2 + vi_i, vj_i])
                        B[vi_o * 2 + vi_i, vj_i] = A[vi_o * 2 + vi_i, vj_i] * T.float32(2)
        for i_j_fused_0 in range(24):
            with T.block("C_o"):
                vi_o = T.axis.spatial(12, i_j_fused_0 // 2)
                vj_o = T.axis.spatial(2, i_j_fused_0 % 2)
                T.reads(B[vi_o, vj_o * 5 : vj_o * 5 + 5])
                T.writes(C[vi_o, vj_o * 5 : vj_o * 5 + 5])
                for i_j_fused_1 in range(5):
                    with T.block("C"):
                        vj_i = T.axis.spatial(5, i_j_fused_1)
                        T.reads(B[vi_o, vj_o * 5 + vj_i])
                        T.writes(C[vi_o, vj_o * 5 + vj_i])
                        C[vi_o, vj_o * 5 + vj_i] = B[vi_o, vj_o * 5 + vj_i] + T.float32(1)

    sch = Schedule(two_stages)
    for name, factor in (("B", 20), ("C", 5)):
        sch.blockize(sch.split(sch.fuse(*sch.get_loops(name)), [None, factor])[1])
    check_expected(sch, after)
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)


@pytest.mark.parametrize("keep", [True, False])
def test_unit_axes(keep: bool) -> None:
    @T.prim_func
    def before(A: T.Buffer((1, 8, 1), "int32"), B: T.Buffer((1, 8, 1), "int32")):
        for i, j, k in T.grid(1, 8, 1):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] * 2

    @T.prim_func
    def kept(A: T.Buffer((1, 8, 1), "int32"), B: T.Buffer((1, 8, 1), "int32")):
        for i in range(1):
            with T.block("B_o"):
                vi_o = T.axis.spatial(1, i)
                vj_o = T.axis.spatial(1, 0)
                vk_o = T.axis.spatial(1, 0)
                T.reads(A[vi_o, 0:8, vk_o])
                T.writes(B[vi_o, 0:8, vk_o])
                for j, k in T.grid(8, 1):
                    with T.block("B"):
                        vj_i = T.axis.spatial(8, j)
                        T.reads(A[vi_o, vj_i, vk_o])
                        T.writes(B[vi_o, vj_i, vk_o])
                        B[vi_o, vj_i, vk_o] = A[vi_o, vj_i, vk_o] * 2

    @T.prim_func
    def dropped(A: T.Buffer((1, 8, 1), "int32"), B: T.Buffer((1, 8, 1), "int32")):
        for i in range(1):
            with T.block("B_o"):
                vi_o = T.axis.spatial(1, 0)
                vj_o = T.axis.spatial(1, 0)
                vk_o = T.axis.spatial(1, 0)
                T.reads(A[0, 0:8, 0])
                T.writes(B[0, 0:8, 0])
                for j, k in T.grid(8, 1):
                    with T.block("B"):
                        vj_i = T.axis.spatial(8, j)
                        T.reads(A[0, vj_i, 0])
                        T.writes(B[0, vj_i, 0])
                        B[0, vj_i, 0] = A[0, vj_i, 0] * 2

    sch = Schedule(before)
    sch.blockize(sch.get_loops("B")[1], preserve_unit_iters=keep)
    check_expected(sch, kept if keep else dropped)
    a = rng(1, 8, 1, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((1, 8, 1), "int32")), a * 2)


@T.prim_func
def two_tiles(A: T.Buffer((32, 32), "int32"), C: T.Buffer((32, 32), "int32")):
    B = T.alloc_buffer((32, 32), "int32")
    for i0, j0 in T.grid(4, 2):
        for i1, j1 in T.grid(8, 16):
            with T.block("B"):
                vi = T.axis.spatial(32, i0 * 8 + i1)
                vj = T.axis.spatial(32, j0 * 16 + j1)
                B[vi, vj] = A[vi, vj] * 2
        for i1, j1 in T.grid(8, 16):
            with T.block("C"):
                vi = T.axis.spatial(32, i0 * 8 + i1)
                vj = T.axis.spatial(32, j0 * 16 + j1)
                C[vi, vj] = B[vi, vj] + 1


def test_several_blocks_become_one() -> None:
    @T.prim_func
    def after(A: T.Buffer((32, 32), "int32"), C: T.Buffer((32, 32), "int32")):
        B = T.alloc_buffer((32, 32), "int32")
        for i0, j0 in T.grid(4, 2):
            with T.block("outer_B_C_"):
                vi_o, vj_o = T.axis.remap("SS", [i0, j0])
                T.reads(
                    A[vi_o * 8 : vi_o * 8 + 8, vj_o * 16 : vj_o * 16 + 16],
                    B[vi_o * 8 : vi_o * 8 + 8, vj_o * 16 : vj_o * 16 + 16],
                )
                T.writes(
                    B[vi_o * 8 : vi_o * 8 + 8, vj_o * 16 : vj_o * 16 + 16],
                    C[vi_o * 8 : vi_o * 8 + 8, vj_o * 16 : vj_o * 16 + 16],
                )
                for i1, j1 in T.grid(8, 16):
                    with T.block("B"):
                        vi_i, vj_i = T.axis.remap("SS", [i1, j1])
                        T.reads(A[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                        T.writes(B[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                        B[vi_o * 8 + vi_i, vj_o * 16 + vj_i] = A[vi_o * 8 + vi_i, vj_o * 16 + vj_i] * 2
                for i1, j1 in T.grid(8, 16):
                    with T.block("C"):
                        vi_i, vj_i = T.axis.remap("SS", [i1, j1])
                        T.reads(B[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                        T.writes(C[vi_o * 8 + vi_i, vj_o * 16 + vj_i])
                        C[vi_o * 8 + vi_i, vj_o * 16 + vj_i] = B[vi_o * 8 + vi_i, vj_o * 16 + vj_i] + 1

    sch = Schedule(two_tiles)
    b, c = sch.get_block("B"), sch.get_block("C")
    outer = sch.blockize([b, c])
    check_expected(sch, after)
    assert sch.get_child_blocks(outer) == [b, c]
    a = rng(32, 32, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((32, 32), "int32")), a * 2 + 1)
    # Nested: blocks of blocks, given by name, in the other order.
    sch = Schedule(two_tiles)
    sch.blockize(sch.get_loops("B")[2])
    sch.blockize(sch.get_loops("C")[2])
    outer = sch.blockize(["C_o", "B_o"])
    assert [v.var.name for v in sch.get(outer).iter_vars] == ["vi_o_o", "vj_o_o"]
    assert [b.name for b in sch.get_child_blocks(outer)] == ["B_o", "C_o"]
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((32, 32), "int32")), a * 2 + 1)


def test_symbolic_sizes() -> None:
    def split_rows(sch: Schedule) -> None:
        i, j = sch.get_loops("O")
        i0, i1 = sch.split(i, [None, 3])
        sch.reorder(i0, j, i1)
        sch.blockize(j)

    def tile(sch: Schedule) -> None:
        sch.blockize(tiles(sch, "O", 4, 8)[0])

    def inner(sch: Schedule) -> None:
        sch.blockize(sch.get_loops("O")[1])

    for steps in (split_rows, tile, inner):
        sch = Schedule(copy_symbolic)
        steps(sch)
        roundtrip(sch.mod)
        for shape in ((7, 13), (1, 1), (4, 16), (0, 3), (3, 0)):
            a = rng(*shape)
            np.testing.assert_array_equal(run(sch.mod, a, np.zeros(shape, "float32")), a)


# ---- numbers


def _programs() -> dict[str, Any]:
    """Values of one axis that are not simply ``i0 * 16 + i1``."""

    def _shift(offset: int, extent: int) -> Any:
        @T.prim_func
        def f(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
            for i0, i1 in T.grid(8, 16):
                with T.block("B"):
                    vi = T.axis.spatial(extent, i0 * 16 + i1 + offset)
                    B[vi] = A[vi] * 2 + vi

        return f

    @T.prim_func
    def gaps(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
        for i0, i1 in T.grid(4, 16):
            with T.block("B"):
                vi = T.axis.spatial(160, i0 * 32 + i1)
                B[vi] = A[vi] * 2 + vi

    @T.prim_func
    def backwards(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
        for i0, i1 in T.grid(10, 16):
            with T.block("B"):
                vi = T.axis.spatial(160, 159 - i0 * 16 - i1)
                B[vi] = A[vi] * 2 + vi

    @T.prim_func
    def elsewhere(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
        for i0 in range(2, 9):
            for i1 in range(3, 19):
                with T.block("B"):
                    vi = T.axis.spatial(160, i0 * 16 + i1)
                    B[vi] = A[vi] * 2 + vi

    @T.prim_func
    def steps_of_two(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
        for i0 in range(10):
            for i1 in T.serial(0, 16, step=3):
                with T.block("B"):
                    vi = T.axis.spatial(160, i0 * 16 + i1)
                    B[vi] = A[vi] * 2 + vi

    @T.prim_func
    def constant(A: T.Buffer((160,), "int32"), B: T.Buffer((160,), "int32")):
        for i0, i1 in T.grid(2, 3):
            with T.block("B"):
                vi = T.axis.spatial(160, 77)
                B[vi] = A[vi] * 2 + vi

    return {
        "shift5": _shift(5, 133), "shift16": _shift(16, 160), "cut": _shift(16, 140),
        "below": _shift(-7, 160),
        "gaps": gaps, "backwards": backwards, "elsewhere": elsewhere, "steps_of_two": steps_of_two,
        "constant": constant,
    }  # fmt: skip


@pytest.mark.parametrize("depth", range(2))
@pytest.mark.parametrize(
    "name",
    ["shift5", "shift16", "cut", "below", "gaps", "backwards", "elsewhere", "steps_of_two", "constant"],
)
def test_values_with_offsets_gaps_and_signs(name: str, depth: int) -> None:
    f = _programs()[name]
    a = rng(160, dtype="int32")
    want = run(f, a, np.full(160, -7, "int32"))
    sch = Schedule(f)
    outer = sch.blockize(sch.get_loops("B")[1 - depth])
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, np.full(160, -7, "int32")), want)
    assert sch.get(outer).name == "B_o"


@pytest.mark.parametrize("factors", [(4, 5, 8), (4, 3, 7), (1, 1, 1)])
@pytest.mark.parametrize("depth", range(6))
def test_every_cut_of_a_tiled_reduction(factors: tuple[int, ...], depth: int) -> None:
    """Uneven tiles too: the conditions go where they can be decided, the init meets the spatial ones."""
    sch = Schedule(matmul)
    tiles(sch, "C", *factors)
    outer = sch.blockize(sch.get_loops("C")[depth])
    roundtrip(sch.mod)
    matmul_is_right(sch.mod)
    assert sch.get(outer).init is not None and sch.get(sch.get_block("C")).init is None


def test_an_init_with_loops_in_mixed_order() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
        for i, k, j in T.grid(4, 5, 6):
            with T.block("O"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                with T.init():
                    O[vi, vj] = T.if_then_else(vj % 2 == 0, 100, vi)
                O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    a = np.arange(120, dtype="int32").reshape(4, 6, 5)
    i, j = np.ogrid[:4, :6]
    for level in range(3):
        sch = Schedule(f)
        sch.blockize(sch.get_loops("O")[level])
        got = run(sch.mod, a, np.full((4, 6), -9, "int32"))
        np.testing.assert_array_equal(got, a.sum(2) + np.where(j % 2 == 0, 100, i))


def test_an_empty_reduction_leaves_the_init() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 4), "int32"), O: T.Buffer((3,), "int32"), n: T.int32):
        for i, k in T.grid(3, n):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(n, k)
                with T.init():
                    O[vi] = 7
                O[vi] = O[vi] + A[vi, vk]

    a = rng(3, 4, dtype="int32")
    for level in range(2):
        sch = Schedule(f)
        sch.blockize(sch.get_loops("O")[level])
        for target in ("python", "llvm"):
            for n in (0, 3):
                out = np.zeros(3, "int32")
                ts.build(sch.mod, target=target)(a, out, n)
                np.testing.assert_array_equal(out, a[:, :n].sum(1) + 7)


def test_loops_inside_that_depend_on_loops_outside() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "int32"), O: T.Buffer((8, 8), "int32")):
        for i in range(8):
            for j in range(i + 1):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj] + 1

    sch = Schedule(f)
    sch.blockize(sch.get_loops("O")[1])
    assert "A[vi_o, 0:vi_o + 1]" in sch.mod.script() and "for j in range(vi_o + 1)" in sch.mod.script()
    a = rng(8, 8, dtype="int32")
    got = run(sch.mod, a, np.full((8, 8), -7, "int32"))
    np.testing.assert_array_equal(got, np.where(np.tri(8, dtype=bool), a + 1, -7))


def test_nested_blocks_and_what_the_block_carries() -> None:
    @T.prim_func
    def f(A: T.Buffer((16, 16), "int32"), O: T.Buffer((16, 16), "int32")):
        for i, j in T.grid(4, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
                T.writes(O[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
                T.block_attr({"note": vi, "list": [1, "a"]})
                X = T.alloc_buffer((4, 4), "int32")
                M = T.match_buffer(
                    A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4],
                    (4, 4),
                    "int32",
                    strides=["s", 1],
                    offset_factor=1,
                )
                for p, q in T.grid(4, 4):
                    with T.block("X"):
                        a, b = T.axis.remap("SS", [p, q])
                        X[a, b] = M[a, b] * 3
                for p, q in T.grid(4, 4):
                    with T.block("Oi"):
                        a = T.axis.spatial(16, vi * 4 + p)
                        b = T.axis.spatial(16, vj * 4 + q)
                        O[a, b] = X[a - vi * 4, b - vj * 4] + 1

    a = rng(16, 16, dtype="int32")
    for name, level in (("O", 0), ("O", 1), ("X", 0), ("X", 1), ("Oi", 0), ("Oi", 1)):
        sch = Schedule(f)
        sch.annotate(sch.get_loops("O")[1], "mark", 3)
        outer = sch.blockize(sch.get_loops(name)[level])
        roundtrip(sch.mod)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((16, 16), "int32")), a * 3 + 1)
        assert not sch.get(outer).annotations
        assert dict(sch.get(sch.get_block("O")).annotations)["list"] is not None
        assert any(dict(sch.get(x).annotations) == {"mark": 3} for x in _all_loops(sch))


def _all_loops(sch: Schedule) -> list[Any]:
    return [x for name in ("O", "X", "Oi") for x in sch.get_loops(name)] + [
        x for n in ("O_o", "X_o", "Oi_o") if n in sch.mod.script() for x in sch.get_loops(n)
    ]


def test_names_that_are_taken() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "int32"), vi_o: T.Buffer((8, 8), "int32")):
        for vj_i, j in T.grid(8, 8):
            with T.block("B_o"):
                vi, vj = T.axis.remap("SS", [vj_i, j])
                vi_o[vi, vj] = A[vi, vj]
        for i, j in T.grid(8, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                vi_o[vi, vj] = vi_o[vi, vj] + 1

    sch = Schedule(f)
    outer = sch.blockize(sch.get_loops("B")[1])
    other = sch.blockize(sch.get_loops("B_o")[1])
    assert sch.get(outer).name == "B_o_1" and sch.get(other).name == "B_o_o"
    roundtrip(sch.mod)
    a = rng(8, 8, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((8, 8), "int32")), a + 1)


def test_a_block_given_alone() -> None:
    sch = Schedule(matmul)
    outer = sch.blockize([sch.get_block("C")])
    assert [x.name for x in sch.get_loops(outer)] == ["i", "j", "k"] and sch.get_loops("C") == []
    matmul_is_right(sch.mod)
    sch = Schedule(matmul)
    assert isinstance(sch.blockize("C"), BlockRV)
    matmul_is_right(sch.mod)


def test_kinds_of_axes_and_later_steps() -> None:
    """A block of blocks is scheduled on: its loops are reordered, made parallel, its init decomposed."""
    sch = Schedule(matmul)
    inner = tiles(sch, "C", 4, 4, 8)
    outer = sch.blockize(inner[0])
    i, j, k = sch.get_loops(outer)
    sch.decompose_reduction(outer, k)
    sch.vectorize(sch.get_loops("C_init")[1])
    sch.parallel(i)
    sch.reorder(j, i)
    matmul_is_right(sch.mod)


def test_opaque_axes_keep_their_kind() -> None:
    @T.prim_func
    def f(A: T.Buffer((33,), "int32")):
        for i0, i1 in T.grid(4, 8):
            with T.block("A"):
                vi = T.axis.scan(32, i0 * 8 + i1)
                A[vi + 1] = A[vi] + 1

    sch = Schedule(f)
    outer = sch.blockize(sch.get_loops("A")[1])
    assert [v.kind for v in sch.get(outer).iter_vars] == ["scan"]
    np.testing.assert_array_equal(run(sch.mod, np.zeros(33, "int32")), np.arange(33))


def test_conditions_on_sums_and_digits_of_loops_outside() -> None:
    """Loops that share an axis of the new block are read off it again."""

    @T.prim_func
    def f(A: T.Buffer((50, 3), "int32"), O: T.Buffer((50, 3), "int32")):
        for i, j in T.grid(50, 3):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj] + 1

    a = rng(50, 3, dtype="int32")
    sch = Schedule(f)
    i, j = sch.get_loops("O")
    i0, i1, i2 = sch.split(i, [None, 3, 4])
    sch.blockize(i2)
    assert "T.where(vi_o * 4 + i_2 < 50)" in sch.mod.script()
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((50, 3), "int32")), a + 1)
    sch = Schedule(f)
    i, j = sch.get_loops("O")
    f0, f1 = sch.split(sch.fuse(i, j), [None, 4])
    f0, f2 = sch.split(f0, [None, 3])
    sch.blockize(sch.get_loops("O")[0])
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((50, 3), "int32")), a + 1)


@pytest.mark.parametrize("factors", [(5, 4), (4, 4), (3, 5), (16, 16)])
def test_int64_loops_and_uneven_tiles(factors: tuple[int, int]) -> None:
    """Case SCH-43: nothing is written past the end."""

    @T.prim_func
    def f(A: T.Buffer((T.int64(10), T.int64(12)), "int32"), O: T.Buffer((T.int64(10), T.int64(12)), "int32")):
        for i, j in T.grid(T.int64(10), T.int64(12)):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj] + 1

    a = np.arange(120, dtype="int32").reshape(10, 12)
    sch = Schedule(f)
    sch.blockize(tiles(sch, "O", *factors)[0])
    roundtrip(sch.mod)
    big = np.full(200, -7, "int32")
    ts.build(sch.mod)(a, big[:120].reshape(10, 12))
    np.testing.assert_array_equal(big[:120].reshape(10, 12), a + 1)
    assert (big[120:] == -7).all()


def test_digits_of_a_packed_layout() -> None:
    """Quotients and remainders of a divided axis simplify."""

    @T.prim_func
    def f(A: T.Buffer((4, 8, 16), "int32"), O: T.Buffer((128, 4), "int32")):
        for j0, k, j1 in T.grid(8, 4, 16):
            with T.block("O"):
                vj = T.axis.spatial(128, j0 * 16 + j1)
                vk = T.axis.spatial(4, k)
                O[vj, vk] = A[vk, vj // 16, vj % 16]

    sch = Schedule(f)
    sch.blockize(sch.get_loops("O")[1])
    assert "O[vj_o * 16 + vj_i, vk_i] = A[vk_i, vj_o, vj_i]" in sch.mod.script()
    a = rng(4, 8, 16, dtype="int32")
    got = run(sch.mod, a, np.zeros((128, 4), "int32"))
    np.testing.assert_array_equal(got, a.reshape(4, 128).T)


# ---- refusals


def test_what_is_no_target() -> None:
    sch = Schedule(two_tiles)
    refused(sch, "bad-target", 3)
    assert "an empty list" in refused(sch, "bad-target", [])
    refused(sch, "unknown-block", ["Z"])
    refused(sch, "root-block", ["root"])
    refused(sch, "wrong-handle", [sch.get_loops("B")[0]])
    assert "2 blocks stand below it" in refused(sch, "several-blocks", sch.get_loops("B")[1])
    gone = sch.get_loops("B")[3]
    sch.split(gone, [4, 4])
    assert "no longer exists" in refused(sch, "expired-reference", gone)


def test_a_loop_without_a_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        for t in range(1):
            with T.block("A"):
                T.reads()
                T.writes(A[0:8])
                for i in range(8):
                    A[i] = i

    sch = Schedule(f)
    loop = LoopRV(sch.get(sch.get_block("A")).body.loop_var, "f")
    assert "no block stands below it" in refused(sch, "no-block", loop)


def test_statements_between() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "int32")):
        for i in range(8):
            for j in range(8):
                if i < j:
                    with T.block("A"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        A[vi, vj] = 1

    sch = Schedule(f)
    assert "an `if` stands between loop `i`" in refused(sch, "statement-between", sch.get_loops("A")[0])
    sch.blockize(["A"])
    np.testing.assert_array_equal(run(sch.mod, np.zeros((8, 8), "int32")), np.triu(np.ones((8, 8)), 1))


def test_axes_that_cannot_be_divided() -> None:
    sch = Schedule(matmul)
    fused = sch.fuse(*sch.get_loops("C")[:2])
    text = refused(sch, "not-divisible", sch.split(fused, [None, 16])[1])
    assert "the axis `vi`" in text and "// 20" in text

    @T.prim_func
    def overlap(A: T.Buffer((40,), "int32")):
        for i, j in T.grid(8, 10):
            with T.block("A"):
                vi = T.axis.opaque(40, i * 4 + j)
                A[vi] = A[vi] + 1

    sch = Schedule(overlap)
    refused(sch, "not-divisible", sch.get_loops("A")[1])


def test_blocks_that_do_not_stand_together() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 1
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = 2
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                with T.block("D"):
                    C[vi] = 3

    sch = Schedule(f)
    assert 'block "B" stands between them' in refused(sch, "not-together", ["A", "C"])
    assert "one is given twice" in refused(sch, "not-together", ["A", "A"])
    assert "in different blocks" in refused(sch, "not-together", ["A", "D"])
    sch.blockize(["A", "B"])
    sch.blockize(["outer_A_B_", "C"])
    got = [np.zeros(8, "int32") for _ in range(3)]
    ts.build(sch.mod)(*got)
    assert [x.tolist() for x in got] == [[1] * 8, [2] * 8, [3] * 8]


def test_reductions_of_several_blocks() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 6), "int32"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
        for i in range(8):
            for k in range(6):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 0
                    C[vi] = C[vi] + A[vi, vk]
            for k in range(6):
                with T.block("D"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        D[vi] = 1
                    D[vi] = D[vi] * 2 + A[vi, vk]

    sch = Schedule(f)
    outer = sch.blockize(["C", "D"])
    assert sch.get(outer).init is None
    a = rng(8, 6, dtype="int32")
    c, d = np.zeros(8, "int32"), np.zeros(8, "int32")
    want = np.ones(8, "int32")
    for k in range(6):
        want = want * 2 + a[:, k]
    for target in ("python", "llvm"):
        ts.build(sch.mod, target=target)(a, c, d)
        np.testing.assert_array_equal(c, a.sum(1))
        np.testing.assert_array_equal(d, want)

    @T.prim_func
    def g(A: T.Buffer((8, 6), "int32"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
        for i, k in T.grid(8, 6):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
            with T.block("D"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    D[vi] = 0
                D[vi] = D[vi] + A[vi, vk]

    assert "reduction axis `vk`" in refused(Schedule(g), "outer-reduction", ["C", "D"])


def test_inits_that_must_stay() -> None:
    @T.prim_func
    def scan(A: T.Buffer((8, 4), "int32"), O: T.Buffer((9,), "int32")):
        for i, k in T.grid(8, 4):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi + 1] = 0
                O[vi + 1] = O[vi + 1] + A[vi, vk] + O[vi]

    sch = Schedule(scan)
    refused(sch, "init-overtakes", sch.get_loops("O")[0])
    sch.blockize(sch.get_loops("O")[1])

    @T.prim_func
    def again(A: T.Buffer((4,), "int32"), O: T.Buffer((1,), "int32")):
        for r, k in T.grid(3, 4):
            with T.block("O"):
                vi = T.axis.spatial(1, 0)
                vk = T.axis.reduce(4, k)
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vk]

    sch = Schedule(again)
    refused(sch, "repeated-instance", sch.get_loops("O")[0])
    sch.blockize(sch.get_loops("O")[1])

    @T.prim_func
    def guarded(A: T.Buffer((8, 8), "int32"), O: T.Buffer((8,), "int32")):
        for i, k in T.grid(8, 8):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(i + k < 9)
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(guarded)
    assert "`k`" in refused(sch, "guarded-init", sch.get_loops("O")[1])


def test_a_loop_that_no_axis_determines() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        for r in range(3):
            for i in range(r + 1):
                with T.block("A"):
                    vi = T.axis.opaque(8, i)
                    A[vi] = A[vi] + 1

    sch = Schedule(f)
    assert "the loop `r`" in refused(sch, "outer-loop-used", sch.get_loops("A")[1])
    sch.blockize(sch.get_loops("A")[0])
    np.testing.assert_array_equal(run(sch.mod, np.zeros(8, "int32")), [3, 2, 1, 0, 0, 0, 0, 0])


# ---- TVM


def _tile(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 4])
    k0, k1 = sch.split(k, [None, 8])
    sch.reorder(i0, j0, k0, i1, j1, k1)
    sch.vectorize(j1)
    sch.blockize(i1)


def _at(level: int, *options: Any) -> Callable[[Schedule], None]:
    def steps(sch: Schedule) -> None:
        sch.blockize(sch.get_loops(sch.get_block("C"))[level], *options)

    return steps


def _mixed(sch: Schedule) -> None:
    i, j, k = sch.get_loops(sch.get_block("C"))
    sch.annotate(i, "mark", 1)
    sch.reorder(k, i, j)
    sch.blockize(i)


def _unit(keep: bool) -> Callable[[Schedule], None]:
    def steps(sch: Schedule) -> None:
        block = sch.get_block("C")
        i, j, _ = sch.get_loops(block)
        i0, i1 = sch.split(i, [None, 1])
        j0, j1 = sch.split(j, [1, None])
        sch.reorder(i0, j0, i1, j1)
        sch.blockize(i1, preserve_unit_iters=keep)

    return steps


def _fused(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("B"))
    sch.blockize(sch.split(sch.fuse(i, j), [None, 10])[1])


def _twice(sch: Schedule) -> None:
    block = sch.get_block("C")
    _tile(sch)
    sch.blockize(sch.get_loops(sch.get_block("C_o"))[2])
    sch.blockize(sch.get_loops(block)[2])


def _symbolic(level: int) -> Callable[[Schedule], None]:
    def steps(sch: Schedule) -> None:
        sch.blockize(sch.get_loops(sch.get_block("O"))[level])

    return steps


PEER: dict[str, tuple[Any, Callable[[Schedule], None]]] = {
    "tile": (matmul, _tile),
    "level0": (matmul, _at(0)),
    "level1": (matmul, _at(1)),
    "level2": (matmul, _at(2)),
    "level1_units": (matmul, _at(1, False)),
    "mixed": (matmul, _mixed),
    "unit": (matmul, _unit(True)),
    "unit_dropped": (matmul, _unit(False)),
    "twice": (matmul, _twice),
    "fused": (two_stages, _fused),
    "symbolic0": (copy_symbolic, _symbolic(0)),
    "symbolic1": (copy_symbolic, _symbolic(1)),
}


@pytest.mark.peer
@pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it")
def test_equal_to_tvm() -> None:
    lines, ours = [], {}
    for name, (program, steps) in PEER.items():
        sch = Schedule(program)
        steps(sch)
        ours[name] = sch
        lines.append(json.dumps([script(program, dialect="tvm-0.27"), list(sch.trace.as_python())]))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    child = subprocess.run(
        [str(peer()), "-c", CHILD], input="\n".join(lines) + "\n", capture_output=True, text=True,
        env=environment,
    )  # fmt: skip
    answers = [json.loads(x[1:]) for x in child.stdout.splitlines() if x.startswith("\x01")]
    assert len(answers) == len(PEER), child.stderr[-1000:]
    for (name, sch), answer in zip(ours.items(), answers, strict=True):
        assert "text" in answer, (name, answer)
        parsed = normalize(ts.parse(spelled_out(answer["text"])))
        theirs = parsed[parsed.names()[0]] if isinstance(parsed, ts.IRModule) else parsed
        theirs = theirs.without_attr("global_symbol")
        mine = normalize(sch.mod)[sch.mod.names()[0]].without_attr("global_symbol")
        assert ts.structural_equal(theirs, mine, names=True) or (
            name == "twice" and ts.structural_equal(theirs, mine)
        ), f"{name}\n{answer['text']}\n{sch.mod.script()}"
