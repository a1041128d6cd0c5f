"""Warnings at definition and errors at build: what is said, for which values, and what is not said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.analysis.verify import Finding, check_bounds, check_definition
from tirscript.diagnostics import AxisWarning, BoundsWarning, LowerError
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.expr import Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    Evaluate,
    For,
    IfThenElse,
    SeqStmt,
    Stmt,
    While,
)

from .programs import block, buffer, loop, nest, run, store
from .test_dependence import conditions, indices
from .test_dependence import i as pi
from .test_dependence import j as pj
from .test_dependence import k as pk

i, j, n, vi, vj = Var("i"), Var("j"), Var("n"), Var("vi"), Var("vj")
A, B = buffer("A", 16), buffer("B", 16, 16)


def function(*body: Stmt, attrs: Any = None) -> PrimFunc:
    whole = body[0] if len(body) == 1 else SeqStmt(tuple(body))
    root = BlockRealize((), E.TRUE, Block(BlockLabel("root"), (), (), (), whole))
    handles = [Var(f"{b.name}_handle", "handle", False) for b in (A, B)]
    return PrimFunc(tuple(handles), dict(zip(handles, (A, B), strict=True)), root, attrs=attrs or {})


def found(*body: Stmt) -> list[tuple[type, str]]:
    return [(f.category, f.code) for f in check_definition(function(*body))]


def one(*body: Stmt) -> Finding:
    findings = check_definition(function(*body))
    assert len(findings) == 1, [str(f) for f in findings]
    return findings[0]


def fill(extent: Any, value: Any, predicate: Any = E.TRUE) -> BlockRealize:
    return block("b", [(vi, extent, "spatial", value)], store(A, [vi], 1.0), predicate)


def test_loops_that_fit() -> None:
    assert found(loop(i, 16, fill(16, i))) == []
    assert found(nest([(i, 4), (j, 4)], fill(16, i * 4 + j))) == []
    assert found(nest([(i, 4), (j, 4)], fill(16, 15 - (i * 4 + j)))) == []
    assert found(loop(i, 16, fill(16, i - 4), 4)) == []


def test_loops_that_leave_the_domain() -> None:
    f = one(loop(i, 20, fill(16, i)))
    assert (f.category, f.code, f.values) == (AxisWarning, "axis-overrun", {i: 19})
    assert "`vi`" in f.message and "vi` = 19 at i=19" in str(f)
    f = one(nest([(i, 5), (j, 4)], fill(16, i * 4 + j)))
    assert f.values == {i: 4, j: 3}
    assert one(loop(i, 16, fill(16, i - 1))).values == {i: 0}


def test_loops_that_miss_instances() -> None:
    f = one(loop(i, 12, fill(16, i)))
    assert (f.category, f.code) == (AxisWarning, "axis-missed")
    assert "`vi` = 12" in f.message
    assert "`vi` = 1 of" in one(loop(i, 8, fill(15, i * 2))).message
    assert "`vi` = 0" in one(loop(i, 12, fill(16, i + 4))).message
    assert "`vi` = 3" in one(nest([(i, 4), (j, 3)], fill(15, i * 4 + j))).message


def test_the_diagonal_misses_instances() -> None:
    body = block("b", [(vi, 16, "spatial", i), (vj, 16, "spatial", i)], store(B, [vi, vj], 1.0))
    f = one(loop(i, 16, body))
    assert f.code == "axis-missed" and "never (0, 1)" in f.message


def test_symbolic_ranges() -> None:
    assert found(loop(i, n, fill(n, i))) == []
    f = one(loop(i, n, fill(n + 1, i)))
    assert f.code == "axis-missed"
    assert found(loop(i, n, fill(16, i))) == []


def test_a_condition_or_predicate_says_that_it_is_meant() -> None:
    assert found(loop(i, 20, fill(16, i, i < 16))) == []
    assert found(loop(i, 20, IfThenElse(i < 16, fill(16, i)))) == []
    assert found(loop(i, 12, fill(16, i, i < 12))) == []


def test_spatial_axes_that_conflict() -> None:
    body = block("b", [(vi, 16, "spatial", i), (vj, 4, "spatial", j)], store(A, [vi], 1.0))
    f = one(nest([(i, 16), (j, 4)], body))
    assert (f.category, f.code) == (AxisWarning, "spatial-conflict")
    assert "`vj`" in f.message and f.notes == ("vj=0 and vj=1 both write A[0]",)
    body = block("b", [(vi, 16, "spatial", i), (vj, 4, "reduce", j)], store(A, [vi], 1.0))
    assert found(nest([(i, 16), (j, 4)], body)) == []


def test_spatial_axes_that_conflict_from_some_extent_on() -> None:
    body = block("b", [(vi, 16, "spatial", i), (vj, n, "spatial", j)], store(A, [vi], 1.0))
    f = one(loop(i, 16, loop(j, n, body)))
    assert f.code == "spatial-conflict" and "with n=2" in f.notes[0]
    # A stride of 0 would be needed here.
    assert found(loop(i, 16, block("b", [(vi, 16, "spatial", i)], store(B, [vi * n, 0], 1.0)))) == []


def test_memory_of_threads_is_not_judged() -> None:
    shared = buffer("S", 16).replace(scope="shared")
    body = block("b", [(vi, 16, "spatial", i), (vj, 4, "spatial", j)], store(shared, [vi], 1.0))
    assert found(nest([(i, 16), (j, 4)], body)) == []


def test_accesses_out_of_bounds() -> None:
    f = one(loop(i, 16, block("b", [(vi, 16, "spatial", i)], store(B, [vi, 0], ops.load(A, [vi + 1])))))
    assert (f.category, f.code, f.values) == (BoundsWarning, "out-of-bounds", {i: 15})
    assert "A[vi + 1] is read" in f.message and "index 16" in f.message
    f = one(loop(i, 17, store(B, [0, i], 1.0)))
    assert "index 16 in dimension 1" in f.message
    assert one(loop(i, 16, store(A, [i - 1], 1.0))).values == {i: 0}
    assert one(loop(i, 16, store(A, [i // 2 * 3], 1.0))).values == {i: 12}


def test_what_is_not_certain_is_not_said() -> None:
    assert found(loop(i, 16, IfThenElse(i > 0, store(A, [i - 1], 1.0)))) == []
    guarded = ops.if_then_else(i > 0, ops.load(A, [i - 1]), 0.0)
    assert found(loop(i, 16, store(A, [i], guarded))) == []
    assert found(loop(i, n, store(A, [i], 1.0))) == []
    assert found(loop(i, 0, store(A, [i + 99], 1.0))) == []
    assert found(While(ops.load(A, [0]) < 1.0, store(A, [99], 1.0))) == []
    stop = IfThenElse(ops.load(A, [i]) < 1.0, Evaluate(ops.call("break_loop")))
    assert found(loop(i, 16, SeqStmt((stop, store(A, [i + 1], 1.0))))) == []
    # The axis does not take the value.
    assert [f.code for f in check_definition(function(loop(i, 16, fill(32, i))))] == ["axis-missed"]


def test_select_evaluates_both_sides() -> None:
    both = ops.select(i > 0, ops.load(A, [i - 1]), 0.0)
    assert one(loop(i, 16, store(B, [i, 0], both))).code == "out-of-bounds"


def test_vectors() -> None:
    ramp = E.Ramp(i * 4, const_int(1), 4)
    assert found(loop(i, 4, store(A, [ramp], E.Broadcast(ops.const(1.0), 4)))) == []
    f = one(loop(i, 5, store(A, [ramp], E.Broadcast(ops.const(1.0), 4))))
    assert f.values == {i: 4} and "index 1" in f.message


def test_build_refuses() -> None:
    good = function(loop(i, 16, fill(16, i)))
    check_bounds(good)
    bad = function(loop(i, 16, store(A, [i + 1], 1.0)))
    with pytest.raises(LowerError) as error:
        check_bounds(bad)
    assert error.value.code == "out-of-bounds"
    assert "A[i + 1]" in error.value.message and error.value.notes == ("at i=15",)


@given(indices, indices, conditions, st.tuples(*[st.integers(1, 4)] * 3))
def test_bounds_as_run(a: Any, b: Any, condition: Any, sizes: tuple[int, int, int]) -> None:
    d = buffer("D", 12)
    body: Any = store(d, [a], ops.load(d, [b]))
    body = body if condition is None else IfThenElse(condition, body)
    top = nest(list(zip((pi, pj, pk), sizes, strict=True)), body)
    assert isinstance(top, For)
    outside = any(not 0 <= cell[0] < 12 for _, _, cell, _ in run(top, {}))
    findings = [f for f in check_definition(PrimFunc((), {}, top)) if f.category is BoundsWarning]
    if condition is not None:
        assert not findings
    else:
        assert bool(findings) == outside
