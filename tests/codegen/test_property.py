"""Generated programs give the same bits on the python and the llvm target."""

from __future__ import annotations

from hypothesis import given, settings

from tirscript.ir.function import PrimFunc
from tirscript.testing import check_against_reference
from tirscript.testing.strategies import programs

STRICT = "llvm -fp-contract=off -math=scalar"


@settings(max_examples=min(settings().max_examples, 100) if settings().max_examples <= 200 else 5000)
@given(programs(executable=True))
def test_llvm_equals_python(program: PrimFunc) -> None:
    check_against_reference(program, targets=["python", STRICT], exact=True)
