"""The corpus: every program parses, prints, comes back equal, and computes the same everywhere."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest

from tests.corpus import CORPUS
from tests.corpus.constructs import CONSTRUCTS, OPERATORS_NOT_WRITTEN
from tests.corpus.references import REFERENCES
from tirscript.diagnostics import TirscriptWarning
from tirscript.driver import lower
from tirscript.ir import expr, stmt
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.op import OPS
from tirscript.script.parser import parse
from tirscript.testing import (
    assert_round_trip,
    check_against_reference,
    random_inputs,
    run_program,
    structural_diff,
)
from tirscript.testing.spread import assert_within, tolerances

NAMES = list(CORPUS)
RUN = [n for n, e in CORPUS.items() if e.executable]


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str) -> None:
    """Parse, print, parse: equal, names included; print again: the same text."""
    assert_round_trip(CORPUS[name].program())


@pytest.mark.parametrize("name", [n for n in NAMES if CORPUS[n].text])
def test_parsing_twice_gives_equal_programs(name: str) -> None:
    assert structural_diff(CORPUS[name].program(), CORPUS[name].program(), names=True) is None


@pytest.mark.parametrize("name", NAMES)
def test_text_without_sugar_is_the_same_program(name: str) -> None:
    """One loop and one axis a line, as errors and differences print it."""
    program = CORPUS[name].program()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TirscriptWarning)
        back = parse(program.script(sugar=False))
    assert structural_diff(program, back, names=True) is None


# First spellings, and the second ones that mean the same.
SPELLINGS = {
    "T.block(": "T.sblock(",
    "T.alloc_buffer(": "T.sblock_alloc_buffer(",
    "T.block_attr(": "T.sblock_attr(",
    '"tir.noalias"': '"tirx.noalias"',
    "T.axis.spatial(": "T.axis.S(",
    "T.axis.reduce(": "T.axis.R(",
}
# Assignments that the dialect of 0.27 reads as buffers of rank 0.
ASSIGNMENT = re.compile(
    r"^\s+\w+(: [\w.]+)? = (?!T\.(axis|sblock_alloc|match|allocate|decl|buffer_decl|int32\(\)|int64\(\)))",
    re.MULTILINE,
)


def respelled(name: str) -> str:
    text = CORPUS[name].text or ""
    for first, second in SPELLINGS.items():
        text = text.replace(first, second)
    return text


SPELLED_TWICE = [
    n for n in NAMES if CORPUS[n].dialect == "tirscript" and respelled(n) != (CORPUS[n].text or "")
]


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize("name", SPELLED_TWICE)
def test_second_spelling_is_the_same_program(name: str) -> None:
    """`T.sblock` for `T.block` and so on, also in a function marked as of the dialect of 0.27."""
    program, text = CORPUS[name].program(), respelled(name)
    assert structural_diff(program, parse(text), names=True) is None
    if not ASSIGNMENT.search(text):
        marked = text.replace("@T.prim_func\n", "@T.prim_func(s_tir=True)\n")
        assert structural_diff(program, parse(marked), names=True) is None


@pytest.mark.parametrize("name", RUN)
def test_both_targets_and_the_reference(name: str) -> None:
    entry = CORPUS[name]
    check_against_reference(
        entry.program(), REFERENCES.get(name), targets=["python", "llvm"], **entry.options
    )


LARGE = ("gpu_bound_matmul", "kernel_tiled_matmul", "kernel_mm_relu")


@pytest.mark.parametrize("name", [n for n in RUN if n not in LARGE])
def test_default_builds_within_what_is_promised(name: str) -> None:
    """As near to the interpreter as functions within their bounds, and contraction, allow."""
    entry = CORPUS[name]
    program = entry.program()
    inputs = random_inputs(program, **entry.options)
    wanted = run_program(program, "meaning", inputs)
    tolerance = tolerances(program, inputs)
    for target in ("python", "llvm"):
        assert_within(run_program(program, target, inputs), wanted, tolerance, target, program)


@pytest.mark.parametrize("name", [n for n in RUN if CORPUS[n].theme != "modules"])
def test_lowered_program_computes_the_same(name: str) -> None:
    """Blocks, init and views resolved to loops over flat memory: the python target runs both."""
    entry = CORPUS[name]
    program = entry.program()
    inputs = random_inputs(program, **entry.options)
    before = run_program(program, "python", inputs)
    after = run_program(lower(program), "python", inputs)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_equal(b, a)


def test_references_are_of_programs() -> None:
    assert set(REFERENCES) <= set(RUN)


# ---- how large, how different


class _Plain(ast.NodeTransformer):
    """Names, numbers and strings go: what is left is the kind of a program."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Name(self, n: ast.Name) -> Any:
        if n.id in ("T", "I", "range"):
            return n
        return ast.copy_location(ast.Name(self.names.setdefault(n.id, f"x{len(self.names)}"), n.ctx), n)

    def visit_Constant(self, n: ast.Constant) -> Any:
        return ast.copy_location(ast.Constant(0 if isinstance(n.value, (int, float)) else ""), n)

    def visit_arg(self, n: ast.arg) -> Any:
        self.generic_visit(n)
        n.arg = self.names.setdefault(n.arg, f"x{len(self.names)}")
        return n

    def visit_FunctionDef(self, n: ast.FunctionDef) -> Any:
        self.generic_visit(n)
        n.name = "f"
        return n

    def visit_Attribute(self, n: ast.Attribute) -> Any:
        self.generic_visit(n)
        if re.fullmatch(r"(u?int|float|bfloat)\d+(_\w+)?(x\d+)?", n.attr):
            n.attr = "number"
        return n

    def visit_UnaryOp(self, n: ast.UnaryOp) -> Any:
        self.generic_visit(n)
        return n.operand if isinstance(n.op, ast.USub) and isinstance(n.operand, ast.Constant) else n


def kind_of(program: Any) -> str:
    return ast.dump(_Plain().visit(ast.parse(program.script())))


def test_at_least_250_kinds() -> None:
    kinds: dict[str, str] = {}
    for name, entry in CORPUS.items():
        kinds.setdefault(kind_of(entry.program()), name)
    assert len(kinds) >= 250


# ---- every construct of the language


def source_of(name: str) -> str:
    source = CORPUS[name].source
    return source if isinstance(source, str) else inspect.getsource(source)


SOURCES = {n: source_of(n) for n in NAMES}


@pytest.mark.parametrize("construct", list(CONSTRUCTS))
def test_construct_is_used(construct: str) -> None:
    """Each construct of the language stands in a program, in each of its spellings."""
    for spelling in CONSTRUCTS[construct]:
        users = [n for n, text in SOURCES.items() if re.search(spelling, text, re.MULTILINE)]
        assert users, f"no program of the corpus uses {spelling}"


def functions(program: Any) -> list[PrimFunc]:
    return [f for _, f in program.items()] if isinstance(program, IRModule) else [program]


def test_every_node_and_operator_is_used() -> None:
    kinds: set[type] = set()
    operators: set[str] = set()
    for entry in CORPUS.values():
        for function in functions(entry.program()):
            for n in walk(function):
                kinds.add(type(n))
                if isinstance(n, expr.Call):
                    operators.add(n.op if isinstance(n.op, str) else "function")
    abstract = {"Expr", "Stmt", "BinaryOp", "CmpOp", "GlobalVar", "CommReducer", "StringImm", "BlockLabel"}
    for module in (expr, stmt):
        for name, cls in vars(module).items():
            if isinstance(cls, type) and cls.__module__ == module.__name__ and hasattr(cls, "map_children"):
                assert cls in kinds or name in abstract, f"no program of the corpus has a {name}"
    assert "function" in operators
    assert set(OPS) - operators <= OPERATORS_NOT_WRITTEN


def test_no_program_warns_unless_it_says_so() -> None:
    for entry in CORPUS.values():
        if not entry.flags & {"lossy", "axis", "bounds"}:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                entry.program()
