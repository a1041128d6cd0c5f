"""A step on a program: it keeps what the interpreter says of the program as it was, or it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.testing.meaning import Meaning

from .sequences import inputs, parsed, turned_round, values

STRICT = "llvm -fp-contract=off -math=scalar"


def means(program: Any, func: Any) -> list[Any]:
    arrays = inputs(func)
    Meaning(program).run(arrays)
    return arrays


def assert_same(have: list[Any], want: list[Any], text: str) -> None:
    for a, b in zip(have, want, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=text)


def assert_kept(text: str, step: Callable[[Schedule, list[Any]], Any], code: str) -> None:
    """``step`` gets the loops around block "b"; ``code`` is that of the error, empty where it is right."""
    func = parsed("from tirscript.script import tir as T\n" + text)
    sch = Schedule(func, debug_mask="all")
    before = sch.mod["f"]
    if code:
        with pytest.raises(ts.ScheduleError) as caught:
            step(sch, sch.get_loops("b"))
        assert caught.value.code == code, str(caught.value)
        if not sch.history:
            assert sch.mod["f"] is before
        return
    step(sch, sch.get_loops("b"))
    want = means(func, func)
    assert_same(means(sch.mod["f"], func), want, "the interpreter")
    for program in (sch.mod, turned_round(sch.mod)):
        for target in ("python", STRICT):
            assert_same(values(program, func, target), want, f"{target}\n{program.script()}")
