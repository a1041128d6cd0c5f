"""A printed program computes what the program computes.  (``tests/test_meaning.py`` compares the targets.)"""

from __future__ import annotations

from hypothesis import given, settings

from tirscript.ir.function import PrimFunc
from tirscript.testing import programs


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
