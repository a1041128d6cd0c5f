"""Every pass keeps the values: each intermediate program, run, gives what NumPy gives."""

import numpy as np
import pytest

import tirscript as ts
from tests.lowering.programs import CASES
from tirscript.codegen.python import compile_python
from tirscript.ir.equal import assert_structural_equal
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore, For, IfThenElse, LetStmt, Stmt
from tirscript.ir.verify import check_well_formed
from tirscript.lowering import PASSES, lower_function, lower_module, pass_names


def check(run, case):
    args, want = case.make(np.random.default_rng(7))
    run(*args)
    for got, expected in zip(args, want, strict=True):
        if expected is not None:
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_pass_keeps_the_values(case):
    mod = IRModule.from_expr(case.func)
    name = case.func.name
    check(compile_python(mod)[name], case)
    for passed in PASSES:
        after = passed(mod[name])
        if after.body is mod[name].body:
            continue
        mod = IRModule({name: after})
        check_well_formed(mod)
        check(compile_python(mod)[name], case)


def test_stop_after_is_the_program_of_that_pass():
    assert pass_names()[:2] == ("collect_imports", "canonicalize_loop")
    case = CASES[0]
    mod = IRModule.from_expr(case.func)
    for name in pass_names():
        check(compile_python(lower_module(mod, stop_after=name))[case.func.name], case)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_machine_code_gives_the_values(case):
    check(ts.build(case.func)[case.func.name], case)


# An axis whose value is read from memory is a let of an exact integer, which script cannot say.
_NOT_SAID = {"axis_read_from_memory"}


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in _NOT_SAID], ids=lambda c: c.name)
@pytest.mark.filterwarnings("ignore")
def test_every_pass_prints_what_parses_back(case):
    func = case.func
    for passed in PASSES:
        after = passed(func)
        if after.body is not func.body:
            assert_structural_equal(ts.parse(after.script()), after)
        func = after


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_statements_keep_the_lines_that_they_come_from(case):
    lines = {n.span.line for n in walk(case.func.body) if isinstance(n, Stmt) and n.span is not None}
    for n in walk(lower_function(case.func).body):
        if isinstance(n, (BufferStore, For, IfThenElse, LetStmt)):
            assert n.span is not None, type(n).__name__
            assert n.span.line in lines
