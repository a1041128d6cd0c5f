"""``tirscript demo``: a matrix product and a relu, scheduled step by step, compiled, checked, timed."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from tirscript import display
from tirscript.diagnostics import TirscriptError
from tirscript.display.objects import _colours, seconds
from tirscript.script import from_source

N = 128
SOURCE = f"""\
@I.ir_module
class Module:
    @T.prim_func
    def mm_relu(
        A: T.Buffer(({N}, {N}), "float32"),
        B: T.Buffer(({N}, {N}), "float32"),
        C: T.Buffer(({N}, {N}), "float32"),
    ):
        Y = T.alloc_buffer(({N}, {N}), "float32")
        for i, j, k in T.grid({N}, {N}, {N}):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid({N}, {N}):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""
FLOPS = 2 * N**3 + N**2


class DemoFailed(TirscriptError):
    """A compiled program of the demo computed something else than NumPy."""

    default_code = "wrong-result"


def execute(arguments: Namespace) -> int:
    from tirscript.schedule import Schedule

    talk = not arguments.brief
    module = from_source(SOURCE)
    if talk:
        _title("The program")
        display.show(module)
    sch = Schedule(module)
    block = sch.get_block("Y")
    i, j, k = sch.get_loops(block)
    j_0, j_1 = sch.split(j, [None, 32])
    _step(sch, talk, "j_0, j_1 = sch.split(j, [None, 32])")
    sch.reorder(i, j_0, k, j_1)
    _step(sch, talk, "sch.reorder(i, j_0, k, j_1)")
    sch.vectorize(j_1)
    _step(sch, talk, "sch.vectorize(j_1)")
    sch.parallel(i)
    _step(sch, talk, "sch.parallel(i)")

    before = _measure("before", module)
    after = _measure("after", sch.mod)
    print(f"  {before / after:.1f} times as fast after four steps")
    return 0


def _title(text: str) -> None:
    print(f"\n== {text}\n")


def _step(sch: Any, talk: bool, call: str) -> None:
    if talk:
        _title(call)
        diff = str(sch.diff())
        print(display.diff_ansi(diff) if _colours() else diff)


def _measure(label: str, module: Any) -> float:
    """Compile, compare with NumPy, print and return the time of one call."""
    from tirscript import driver

    rng = np.random.default_rng(0)
    a = rng.standard_normal((N, N), dtype="float32")
    b = rng.standard_normal((N, N), dtype="float32")
    c = np.full((N, N), np.nan, dtype="float32")
    compiled = driver.build(module)
    compiled["mm_relu"](a, b, c)
    expected = np.maximum(a @ b, 0)
    difference = float(np.max(np.abs(c - expected)))
    if not difference < 1e-3:  # nan too
        raise DemoFailed(f"{label}: the largest difference from NumPy is {difference:.3g}")
    timing = compiled.time_evaluator("mm_relu", number=10, repeat=5)(a, b, c)
    if label == "before":
        _title("Compiled with LLVM, checked against NumPy")
    print(
        f"  {label:<7} {seconds(timing.median):>9}  {FLOPS / timing.median / 1e9:7.2f} GFLOP/s"
        f"   matches NumPy (largest difference {difference:.1e})"
    )
    return float(timing.median)
