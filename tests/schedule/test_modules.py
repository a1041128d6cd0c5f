"""Schedules of modules: several functions, shared definitions, names."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.schedule.testing import verify_trace_roundtrip
from tirscript.script import ir as I
from tirscript.script import tir as T

from .programs import matmul


@I.ir_module
class Two:
    @T.prim_func
    def scale(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
        for i in range(9):
            with T.block("O"):
                vi = T.axis.spatial(9, i)
                O[vi] = A[vi] * 2

    @T.prim_func
    def shift(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
        for i in range(9):
            with T.block("O"):
                vi = T.axis.spatial(9, i)
                O[vi] = A[vi] + 5


def test_the_second_function() -> None:
    sch = Schedule(Two)
    assert sch.func_working_on is None
    with pytest.raises(ts.ScheduleError, match="no-function"):
        sch.get_block("O")
    with pytest.raises(ts.ScheduleError, match="nope"):
        sch.work_on("nope")
    sch.work_on("shift")
    assert sch.func_working_on is not None and sch.func_working_on.name == "shift"
    sch.split(sch.get_loops(sch.get_block("O"))[0], factors=[None, 4])
    sch.unroll(sch.get_loops(sch.get_block("O", "scale"))[0])
    assert "T.unroll(9)" in sch.mod["scale"].script() and "T.where" in sch.mod["shift"].script()
    assert Two["scale"].script() == Schedule(Two).mod["scale"].script()  # the given module is as it was
    built = ts.build(sch.mod)
    a = np.arange(9, dtype="int32")
    for name, want in (("scale", a * 2), ("shift", a + 5)):
        out = np.zeros(9, "int32")
        built[name](a, out)
        np.testing.assert_array_equal(out, want)


def test_main_is_a_second_name_of_an_only_function() -> None:
    sch = Schedule(matmul)
    assert sch.func_working_on is not None and sch.func_working_on.name == "matmul"
    sch.work_on("main")
    assert sch.get_block("C", "main") == sch.get_block("C", "matmul") == sch.get_block("C")
    assert sch.mod["main"] is sch.mod["matmul"]


def test_functions_that_share_definitions_are_separated() -> None:
    mod = ts.IRModule({"a": matmul, "b": matmul.with_attr("global_symbol", "b")})
    sch = Schedule(mod, debug_mask="all")
    first, second = sch.get_block("C", "a"), sch.get_block("C", "b")
    assert first != second
    sch.unroll(sch.get_loops(first)[0])
    assert [sch.get(x).kind for x in (sch.get_loops(first)[0], sch.get_loops(second)[0])] == [
        "unrolled",
        "serial",
    ]
    assert mod["a"] is matmul


def test_what_is_no_program_or_option() -> None:
    for wrong, error in (
        (lambda: Schedule(3), TypeError),  # type: ignore[arg-type]
        (lambda: Schedule(matmul, debug_mask="most"), ValueError),
        (lambda: Schedule(matmul, error_render_level="loud"), ValueError),
    ):
        with pytest.raises(error) as caught:
            wrong()
        assert isinstance(caught.value, ts.ScheduleError)


def test_a_module_taken_from_a_schedule_is_the_users() -> None:
    sch = Schedule(matmul)
    mod = sch.mod
    mod["extra"] = matmul
    assert "extra" not in sch.mod


def test_block_names_replay_in_the_function_that_was_worked_on() -> None:
    sch = Schedule(Two, debug_mask="all", seed=3)
    sch.work_on("shift")
    (loop,) = sch.get_loops("O")
    sch.split(loop, [None, 3])
    sch.cache_read("O", 0, "local")
    where = sch.sample_compute_location("A_local")
    sch.compute_at("A_local", where)
    sch.work_on("scale")
    sch.annotate("O", "note", "O")
    fresh = Schedule(Two)
    sch.trace.apply_to_schedule(fresh, remove_postproc=False)
    assert ts.structural_equal(fresh.mod, sch.mod)
    verify_trace_roundtrip(sch, Two)
    assert 'get_block(name="O", func_name="scale")' in str(sch.trace)
