# ruff: noqa: E501
"""Three ways to one result: the interpreter, the python target, LLVM; on the corpus and random programs.

The interpreter (``tirscript.testing.meaning``) computes with exact numbers, straight from the tree; it shares
nothing with the code generators.  The builds are strict: no contraction, scalar mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
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
from tirscript.testing.spread import assert_within, tolerances

STRICT = "llvm -fp-contract=off -math=scalar"
RUN = [n for n, e in CORPUS.items() if e.executable]


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


def assert_agree(program: PrimFunc | IRModule, inputs: list[Any], targets: list[str]) -> None:
    """All targets give what the interpreter gives, to the bit; functions are as exact as is promised, and
    what is made of them moves no further.  Where a value is left open they may differ."""
    meaning = Meaning(program)
    copies = [copied(a) for a in inputs]
    wanted = [*copies, meaning.run(copies)]
    tolerance = None
    if computes_functions(program):
        tolerance = tolerances(program, inputs, ["python", "scalar"], contract=False)
    for target in targets:
        got = run_program(program, target, inputs)
        try:
            if tolerance is not None:
                assert_within(got, wanted, tolerance, target, program)
            else:
                assert_same_values(got, wanted, target, "the interpreter", program, exact=True)
        except AssertionError:
            if not meaning.loose:
                raise


@pytest.mark.parametrize("name", RUN)
def test_corpus(name: str) -> None:
    """Bit for bit but for functions, on two sets of random inputs and one of extreme ones."""
    entry = CORPUS[name]
    program = entry.program()
    targets = ["python", STRICT]
    large = name in ("gpu_bound_matmul", "kernel_mm_relu", "kernel_tiled_matmul")
    for seed in (0,) if large else (0, 1):
        assert_agree(program, random_inputs(program, seed, **entry.options), targets)
    if not large and "ints" not in entry.options:
        assert_agree(program, extreme_inputs(program, **entry.options), targets)


def is_parallel(program: PrimFunc | IRModule) -> bool:
    return any(isinstance(n, For) and n.kind == "parallel" for n in nodes(program))


PARALLEL = [n for n in RUN if is_parallel(CORPUS[n].program())]


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
    assert_agree(program, inputs, ["python", STRICT])


# ---- what is easily forgotten: the same values everywhere, and none outside a buffer

FOUR = np.arange(4, dtype="float32")
EIGHT = np.arange(8, dtype="int32")
FORGOTTEN: dict[str, tuple[str, list[list[Any]], list[Any]]] = {
    "lanes behind a false guard are not read": (
        """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    B[0:8] = T.if_then_else(T.Ramp(n, 1, 8) < T.Broadcast(4, 8), A[T.Ramp(n, 1, 8)], T.Broadcast(T.float32(7), 8))
""",
        [[FOUR, np.zeros(8, "float32"), 0], [FOUR, np.zeros(8, "float32"), 2]],
        [[0, 1, 2, 3, 7, 7, 7, 7], [2, 3, 7, 7, 7, 7, 7, 7]],
    ),
    "a step that is no positive number": (
        """
@T.prim_func
def f(n: T.int32, A: T.Buffer((8,), "int32")):
    for i in range(7, 0, n):
        A[i] = 9
    for i in range(1, 8, n):
        A[i] = 5
""",
        [[0, EIGHT], [-1, EIGHT], [3, EIGHT]],
        [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 5, 2, 3, 5, 5, 6, 5]],
    ),
    "memory of a negative extent": (
        """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    B = T.alloc_buffer((n,), "int32")
    for i in range(n):
        B[i] = i * 2
    for i in range(n):
        A[i] = B[i]
""",
        [[EIGHT, -4], [EIGHT, 2]],
        [[0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 2, 3, 4, 5, 6, 7]],
    ),
    "a function that ends without a value": (
        """
@T.prim_func
def f(n: T.int32) -> T.int32:
    if n > 5:
        T.ret(n)
""",
        [[7], [3]],
        [7, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("target", ["meaning", "python", STRICT, "llvm", "llvm -O=0"])
@pytest.mark.parametrize("name", list(FORGOTTEN))
def test_what_is_easily_forgotten(name: str, target: str) -> None:
    text, calls, wanted = FORGOTTEN[name]
    program = ts.parse(text)
    for inputs, want in zip(calls, wanted, strict=True):
        got = run_program(program, target, inputs)
        if name.startswith("a function"):
            assert got[-1] == want
        else:
            arrays = [a for a in got if isinstance(a, np.ndarray)]
            assert arrays[-1].tolist() == want


def test_a_buffer_that_is_left_is_said_by_name() -> None:
    """The python target itself does not look at indices; what NumPy refuses is no traceback of ours."""
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((4,), "int32"), n: T.int32):
    A[n] = 1
""")
    f = ts.build(program, "python")["f"]
    f(np.zeros(4, "int32"), 3)
    with pytest.raises(ts.CheckFailed, match="leaves a buffer") as caught:
        f(np.zeros(4, "int32"), 4)
    assert "python -checked" in str(caught.value)
