"""Every program of the corpus under schedules: no error but refusals, and the same values."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.corpus import CORPUS
from tirscript.schedule import Schedule
from tirscript.testing.reference import random_inputs

from .test_properties import blocks_of, turned_round


def tile(sch: Schedule) -> None:
    """Split every loop, turn the nests inside out, run what may in parallel."""
    for block in blocks_of(sch):
        for loop in sch.get_loops(block):
            with contextlib.suppress(ts.ScheduleError):
                sch.split(loop, [None, 3])
        loops = sch.get_loops(block)
        with contextlib.suppress(ts.ScheduleError):
            sch.reorder(*reversed(loops))
        free(sch, block)


def flatten(sch: Schedule) -> None:
    """Take the reductions apart, fuse what is left, run what may in parallel."""
    for block in blocks_of(sch):
        for loop in sch.get_loops(block):
            with contextlib.suppress(ts.ScheduleError):
                sch.decompose_reduction(block, loop)
        for a, b in zip(sch.get_loops(block), sch.get_loops(block)[1:], strict=False):
            with contextlib.suppress(ts.ScheduleError):
                fused = sch.fuse(a, b)
                sch.split(fused, [2, None])
        free(sch, block)


def free(sch: Schedule, block: Any) -> None:
    loops = sch.get_loops(block)
    for loop in loops:
        with contextlib.suppress(ts.ScheduleError):
            (sch.vectorize if loop is loops[-1] else sch.parallel)(loop)


def entry_name(program: Any) -> str:
    if isinstance(program, ts.IRModule):
        return "main" if "main" in program.names() else program.names()[0]
    return "main"


@pytest.mark.parametrize("name", [n for n, e in CORPUS.items() if e.executable and "tvm27" not in e.flags])
@pytest.mark.parametrize("schedule", [tile, flatten])
def test_the_same_values(name: str, schedule: Any) -> None:
    entry = CORPUS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = entry.program()
        sch = Schedule(program, debug_mask="all")
        schedule(sch)
        if not sch.history:
            return
        options = {k: v for k, v in entry.options.items() if k in ("ints", "floats", "size")}
        if "ints" in options:
            options["ints"] = tuple(int(x) for x in options["ints"])
        outputs = []
        for mod in (program, turned_round(sch.mod)):
            arrays = random_inputs(program, **options)
            ts.build(mod, target="python")[entry_name(program)](*arrays)
            outputs.append(arrays)
    for a, b in zip(*outputs, strict=True):
        np.testing.assert_allclose(
            np.asarray(a, "float64"), np.asarray(b, "float64"), rtol=1e-3, atol=1e-5, equal_nan=True
        )
