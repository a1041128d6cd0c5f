"""A reduction that goes on in loops outside of the block around it: its init is not that of one block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule

from .programs import rng, roundtrip, run
from .sequences import turned_round

# The block "o" is a mere scope, or has axes.
SCOPE = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32")):
    for i, k0 in T.grid(4, 2):
        with T.block("o"):
            T.reads(A[i, k0 * 3:k0 * 3 + 3], S[i])
            T.writes(S[i])
            for k1 in range(3):
                with T.block("S"):
                    vi = T.axis.spatial(4, i)
                    vk = T.axis.reduce(6, k0 * 3 + k1)
                    with T.init():
                        S[vi] = 1
                    S[vi] = S[vi] + A[vi, vk]
"""
AXES = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32")):
    for i, k0 in T.grid(4, 2):
        with T.block("o"):
            ui, uk = T.axis.remap("SR", [i, k0])
            T.reads(A[ui, uk * 3:uk * 3 + 3], S[ui])
            T.writes(S[ui])
            for k1 in range(3):
                with T.block("S"):
                    vi = T.axis.spatial(4, ui)
                    vk = T.axis.reduce(6, uk * 3 + k1)
                    with T.init():
                        S[vi] = 1
                    S[vi] = S[vi] + A[vi, vk]
"""

# A step, and what it answers in either program: the code of a refusal, or nothing where it is right.
STEPS: dict[str, tuple[Callable[[Schedule], Any], str, str]] = {
    "decompose_reduction": (
        lambda s: s.decompose_reduction("S", s.get_loops("S")[0]),
        "reduction-loop-outside",
        "reduction-loop-outside",
    ),
    "rfactor": (
        lambda s: s.rfactor(s.get_loops("S")[0], 0),
        "reduction-loop-outside",
        "reduction-loop-outside",
    ),
    "blockize": (lambda s: s.blockize(s.get_loops("S")[0]), "outer-loop-used", "outer-loop-used"),
    "blockize of the block alone": (lambda s: s.blockize("S"), "", ""),
    "loop_partition inside": (lambda s: s.loop_partition(s.get_loops("S")[0], [1, None]), "", ""),
    "loop_partition": (
        lambda s: s.loop_partition(s.get_loops("o")[1], [1, None]),
        "divided-init",
        "divided-init",
    ),
    "loop_partition of a spatial loop": (lambda s: s.loop_partition(s.get_loops("o")[0], [1, None]), "", ""),
    "cache_write": (lambda s: s.cache_write("S", 0, "local"), "", ""),
    "cache_write of the outer block": (lambda s: s.cache_write("o", 0, "local"), "", ""),
    "cache_inplace": (lambda s: s.cache_inplace("o", "S", "local"), "init-before", "init-before"),
    "write_at": (lambda s: s.write_at(s.get_loops("S")[0], "S", 0, "local"), "init-before", "init-before"),
    "reorder": (lambda s: s.reorder(*reversed(s.get_loops("o"))), "", ""),
    "fuse": (lambda s: s.fuse(*s.get_loops("o")), "", ""),
    "bind": (lambda s: s.bind(s.get_loops("S")[0], "threadIdx.x"), "", ""),
    "parallel": (
        lambda s: s.parallel(s.get_loops("o")[1]),
        "loop-carried-dependence",
        "parallel-reduction-axis",
    ),
}


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")  # parts of a domain
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("axes", [False, True])
def test_steps(axes: bool, step: str) -> None:
    a = rng(4, 6, dtype="int32")
    want = 1 + a.sum(1)
    sch = Schedule(ts.parse(AXES if axes else SCOPE))
    np.testing.assert_array_equal(run(sch.mod, a, np.full(4, 7, "int32")), want)
    take, *codes = STEPS[step]
    before = sch.mod["f"]
    if codes[axes]:
        with pytest.raises(ts.ScheduleError) as caught:
            take(sch)
        assert caught.value.code == codes[axes], str(caught.value)
        assert sch.mod["f"] is before and not sch.history
        return
    take(sch)
    roundtrip(sch.mod)
    for program in (sch.mod, turned_round(sch.mod)):
        np.testing.assert_array_equal(run(program, a, np.full(4, 7, "int32")), want)


def test_the_refusal_names_the_loop_outside() -> None:
    sch = Schedule(ts.parse(AXES))
    with pytest.raises(ts.ScheduleError) as caught:
        sch.decompose_reduction("S", sch.get_loops("S")[0])
    assert "loop `k0` outside it is bound to the reduction axis `vk`" in caught.value.message


def test_a_loop_of_one_iteration_outside() -> None:
    sch = Schedule(ts.parse(SCOPE.replace("T.grid(4, 2)", "T.grid(4, 1)").replace("reduce(6", "reduce(3")))
    sch.decompose_reduction("S", sch.get_loops("S")[0])
    a = rng(4, 6, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.full(4, 7, "int32")), 1 + a[:, :3].sum(1))


def test_an_axis_turned_round() -> None:
    """The first iteration need not be the least value of the axis."""
    text = SCOPE.replace("k0 * 3 + k1)", "5 - (k0 * 3 + k1))").replace(
        "k0 * 3:k0 * 3 + 3", "3 - k0 * 3:6 - k0 * 3"
    )
    sch = Schedule(ts.parse(text))
    sch.cache_write("S", 0, "local")
    a = rng(4, 6, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.full(4, 7, "int32")), 1 + a.sum(1))


def test_cache_inplace_of_what_an_init_reads() -> None:
    """The init runs before the loop in which the copy would stand."""
    sch = Schedule(
        ts.parse("""
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(S[vi], A[vi, vk])
            T.writes(S[vi])
            with T.init():
                S[vi] = S[vi] + 1
            S[vi] = S[vi] + A[vi, vk]
""")
    )
    before = sch.mod["f"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.cache_inplace("S", "S", "local")
    assert caught.value.code == "init-before" and sch.mod["f"] is before
