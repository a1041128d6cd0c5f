"""Helpers for round trips and differences say what is wrong."""

from __future__ import annotations

import pytest

import tirscript as ts
from tirscript.ir.expr import Var, const_int
from tirscript.testing import assert_allclose, assert_round_trip, structural_diff

TEXT = """# from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((4,), "int32")):
    for i in range(4):
        A[i] = i"""


def test_a_program_that_comes_back_gives_its_text() -> None:
    assert assert_round_trip(ts.parse(TEXT)) == TEXT


def test_a_name_that_the_printer_changes_is_reported() -> None:
    program = ts.parse(TEXT)
    loop = program.body.replace(loop_var=Var("class"), body=program.body.body)
    renamed = program.replace(body=loop.replace(body=ts.parse(TEXT).body.body))
    with pytest.raises(AssertionError):
        assert_round_trip(renamed)


def test_difference_of_names_alone() -> None:
    other = ts.parse(TEXT.replace("i]", "k]").replace("= i", "= k").replace("for i", "for k"))
    program = ts.parse(TEXT)
    assert structural_diff(program, other) is None
    difference = structural_diff(program, other, names=True)
    assert difference is not None and "names alone" in difference
    assert "-    for i in range(4):" in difference and "+    for k in range(4):" in difference


def test_difference_of_programs() -> None:
    difference = structural_diff(ts.parse(TEXT), ts.parse(TEXT.replace("range(4)", "range(3)")))
    assert difference is not None and "extent" in difference


def test_difference_of_expressions() -> None:
    x = Var("x")
    assert structural_diff(x + 1, x + const_int(1)) is None
    assert structural_diff(x + 1, x - 1) is not None


def test_assert_allclose_takes_arrays_of_both_kinds() -> None:
    class Ours:
        def numpy(self) -> list[float]:
            return [1.0, 2.0]

    assert_allclose(Ours(), [1.0, 2.0])
    with pytest.raises(AssertionError):
        assert_allclose(Ours(), [1.0, 2.1])
    with pytest.raises(AssertionError):
        assert_allclose([[1.0], [2.0]], [1.0, 2.0])
