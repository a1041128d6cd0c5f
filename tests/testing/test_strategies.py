# ruff: noqa: E501
"""The random programs are well formed, and of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tirscript.ir import expr, stmt
from tirscript.ir.expr import BufferLoad, Call, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BufferStore, For
from tirscript.ir.verify import verify
from tirscript.testing import programs
from tirscript.testing.random_exprs import MATH

STATEMENTS = ("Allocate", "AssertStmt", "AttrStmt", "Block", "BufferStore", "DeclBuffer", "Evaluate", "For", "IfThenElse",
              "LetStmt", "SeqStmt", "While")  # fmt: skip
EXPRESSIONS = ("Add", "And", "Broadcast", "Call", "Cast", "Div", "FloorDiv", "FloorMod", "Let", "LT", "Max", "Min", "Mod", "Mul",
               "Not", "Or", "Ramp", "Select", "Shuffle", "Sub")  # fmt: skip


KINDS: dict[str, Callable[[Any], bool]] = {
    **{f"loop {k}": (lambda n, k=k: isinstance(n, For) and n.kind == k) for k in stmt.LOOP_KINDS},
    **{
        f"axis {k}": (lambda n, k=k: isinstance(n, Block) and any(a.kind == k for a in n.iter_vars))
        for k in ("spatial", "reduce", "scan", "opaque")
    },
    "an init": lambda n: isinstance(n, Block) and n.init is not None,
    "a view of a region": lambda n: isinstance(n, Block) and bool(n.match_buffers),
    "an own buffer of a block": lambda n: (
        isinstance(n, Block) and bool(n.iter_vars) and bool(n.alloc_buffers)
    ),
    "an annotated loop": lambda n: isinstance(n, For) and bool(n.annotations),
    "a step": lambda n: isinstance(n, For) and n.step is not None,
    "strides": lambda n: isinstance(n, BufferStore) and bool(n.buffer.strides),
    "an offset": lambda n: isinstance(n, BufferLoad) and n.buffer.elem_offset is not None,
    "a symbolic extent": lambda n: (
        isinstance(n, BufferLoad) and any(isinstance(e, Var) for e in n.buffer.shape)
    ),
    "a vector load": lambda n: isinstance(n, BufferLoad) and "x" in n.dtype,
    "an external call": lambda n: isinstance(n, Call) and n.op == "call_extern",
    "a break": lambda n: isinstance(n, Call) and n.op == "break_loop",
    "mathematics": lambda n: isinstance(n, Call) and n.op in MATH,
    "a nan": lambda n: isinstance(n, expr.FloatImm) and n.value != n.value,
}


@pytest.fixture(scope="module")
def drawn() -> set[str]:
    """The kinds of node and the features that a sample of programs has."""
    seen: set[str] = set()

    @given(programs())
    @settings(
        max_examples=600, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    def sample(program: PrimFunc) -> None:
        assert verify(program) == []
        for n in walk(program):
            seen.add(type(n).__name__)
            seen.update([k for k, holds in KINDS.items() if k not in seen and holds(n)])

    sample()
    return seen


@pytest.mark.parametrize("name", [*STATEMENTS, *EXPRESSIONS, *KINDS])
def test_drawn(name: str, drawn: set[str]) -> None:
    assert name in drawn


def test_the_names_are_of_nodes() -> None:
    assert all(hasattr(stmt, n) for n in STATEMENTS) and all(hasattr(expr, n) for n in EXPRESSIONS)


@given(programs(executable=True))
@settings(max_examples=100)
def test_executable_programs_are_well_formed(program: PrimFunc) -> None:
    assert verify(program) == []
