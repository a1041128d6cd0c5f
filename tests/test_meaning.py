"""Three ways to one result: the interpreter, the python target, LLVM; on the corpus and random programs.

The interpreter (``tirscript.testing.meaning``) computes with exact numbers, straight from the tree; it shares
nothing with the code generators.  The builds are strict: no contraction, scalar mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tirscript as ts
from tests.corpus import CORPUS
from tests.corpus.references import REFERENCES
from tirscript.ir.expr import Call
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import For
from tirscript.testing import (
    check_against_reference,
    extreme_inputs,
    programs,
    random_inputs,
    run_program,
)
from tirscript.testing.meaning import Meaning
from tirscript.testing.numbers import EXACT, MATHEMATICS
from tirscript.testing.reference import assert_same_values, copied

STRICT = "llvm -fp-contract=off -math=scalar"
PYTHON = [n for n, e in CORPUS.items() if e.executable]
NATIVE = {n for n, e in CORPUS.items() if "run" in e.flags}


def functions(program: PrimFunc | IRModule) -> list[PrimFunc]:
    return [f for _, f in program.items()] if isinstance(program, IRModule) else [program]


def nodes(program: PrimFunc | IRModule) -> Iterator[Any]:
    for f in functions(program):
        yield from walk(f)


def computes_functions(program: PrimFunc | IRModule) -> bool:
    """Whether there is mathematics that implementations round differently."""
    names = set(MATHEMATICS) - EXACT
    return any(
        isinstance(n, Call) and (n.op in names or n.op in ("call_extern", "call_pure_extern"))
        for n in nodes(program)
    )


def assert_agree(program: PrimFunc | IRModule, inputs: list[Any], targets: list[str], *, bits: bool) -> None:
    """All targets give what the interpreter gives; where a value is left open they may differ."""
    meaning = Meaning(program)
    copies = [copied(a) for a in inputs]
    wanted = [*copies, meaning.run(copies)]
    for target in targets:
        got = run_program(program, target, inputs)
        try:
            assert_same_values(got, wanted, target, "the interpreter", program, exact=bits)
        except AssertionError:
            if not meaning.loose:
                raise


@pytest.mark.parametrize("name", PYTHON)
def test_corpus(name: str) -> None:
    """Bit for bit but for functions, on two sets of random inputs and one of extreme ones."""
    entry = CORPUS[name]
    program = entry.program()
    targets = ["python", STRICT] if name in NATIVE else ["python"]
    bits = not computes_functions(program)
    large = name in ("gpu_bound_matmul", "kernel_mm_relu", "kernel_tiled_matmul")
    for seed in (0,) if large else (0, 1):
        assert_agree(program, random_inputs(program, seed, **entry.options), targets, bits=bits)
    if bits and not large and "ints" not in entry.options:
        assert_agree(program, extreme_inputs(program, **entry.options), targets, bits=True)


def is_parallel(program: PrimFunc | IRModule) -> bool:
    return any(isinstance(n, For) and n.kind == "parallel" for n in nodes(program))


PARALLEL = [n for n in PYTHON if n in NATIVE and is_parallel(CORPUS[n].program())]


@pytest.mark.parametrize("name", PARALLEL)
def test_threads(name: str) -> None:
    """One thread and two give the same bits, also of a default build."""
    entry = CORPUS[name]
    program = entry.program()
    inputs = random_inputs(program, **entry.options)
    before = ts.runtime.num_threads()
    try:
        for target in (STRICT, "llvm"):
            results = []
            for count in (1, 2):
                ts.set_num_threads(count)
                results.append(run_program(program, target, inputs))
            assert_same_values(results[1], results[0], "2 threads", "1 thread", program, exact=True)
    finally:
        ts.set_num_threads(before)


@pytest.mark.parametrize("name", list(REFERENCES))
def test_references_agree_with_the_interpreter(name: str) -> None:
    """What a person wrote with NumPy, and what the tree says: two opinions, neither from a code generator."""
    entry = CORPUS[name]
    check_against_reference(entry.program(), REFERENCES[name], targets=["meaning"], **entry.options)


@given(programs(executable=True), st.booleans(), st.integers(0, 3))
@settings(max_examples=min(max(settings.default.max_examples * 3 // 4, 25), 5000))
def test_generated(program: PrimFunc, extreme: bool, seed: int) -> None:
    """150 programs in CI, 5,000 in the nightly profile: the same bits three times."""
    inputs = extreme_inputs(program, seed) if extreme else random_inputs(program, seed)
    assert_agree(program, inputs, ["python", STRICT], bits=True)
