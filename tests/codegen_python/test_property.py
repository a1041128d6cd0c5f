"""Random programs give the same bits on the python target and through LLVM."""

from __future__ import annotations

from hypothesis import given, settings

from tirscript.ir.function import PrimFunc
from tirscript.testing import check_against_reference, programs

# Without contraction and vector mathematics the two agree bit for bit.
EXACT = "llvm -fp-contract=off -math=scalar"


@given(programs(executable=True))
@settings(max_examples=max(50, settings.default.max_examples // 4))  # each is compiled
def test_llvm_equals_python(program: PrimFunc) -> None:
    check_against_reference(program, targets=["python", EXACT], exact=True)


@given(programs(executable=True))
@settings(max_examples=max(25, settings.default.max_examples // 8))
def test_the_printed_program_computes_the_same(program: PrimFunc) -> None:
    import warnings

    from tirscript.diagnostics import TirscriptWarning
    from tirscript.script.parser import parse
    from tirscript.testing import random_inputs, run_program

    inputs = random_inputs(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TirscriptWarning)
        back = parse(program.script())
    for a, b in zip(run_program(program, "python", inputs), run_program(back, "python", inputs), strict=True):
        assert repr(a) == repr(b)
