"""Random programs print to text that gives them back."""

from __future__ import annotations

import pytest
from hypothesis import given

from tirscript.ir.function import PrimFunc
from tirscript.ir.verify import verify
from tirscript.script.parser import parse
from tirscript.testing import assert_round_trip, programs

# A random program may well use its axes in a way that is warned of.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


@given(programs())
def test_round_trip(program: PrimFunc) -> None:
    """Parse gives the printed program back, names included, and the text is a fixpoint."""
    assert not verify(program)
    assert_round_trip(program)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@given(programs(awkward_names=True))
def test_round_trip_of_awkward_names(program: PrimFunc) -> None:
    """Names that the printer has to change: the first text gives an equal program, and stays."""
    assert not verify(program)
    text = assert_round_trip(program, names=False)
    assert_round_trip(parse(text))


def test_names_of_the_script_itself_are_renamed_once() -> None:
    program = parse(
        """
@T.prim_func
def f(I: T.Buffer((4,), "int32"), cls: T.Buffer((4,), "int32")):
    for tir in range(4):
        with T.block("T"):
            I_1 = T.axis.spatial(4, tir)
            cls[I_1] = I[I_1]
"""
    )
    text = assert_round_trip(program, names=False)
    assert "I: T.Buffer" not in text and "cls: T.Buffer" not in text
    assert assert_round_trip(parse(text)) == text


def test_a_parameter_named_like_the_pointer_of_another() -> None:
    assert_round_trip(
        parse(
            '@T.prim_func\ndef f(A: T.Buffer((4,), "float32"), A_handle: T.handle):\n'
            '    T.call_extern("void", "g", A_handle, A.data)\n'
        )
    )
