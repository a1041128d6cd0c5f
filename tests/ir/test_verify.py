"""The verifier: one program for each fault."""

import pytest

from tirscript.diagnostics import WellFormedError
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer, point
from tirscript.ir.expr import TRUE, Call, FloatImm, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AssertStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)
from tirscript.ir.verify import check_well_formed, verify

ZERO, EIGHT = const_int(0), const_int(8)
A = make_buffer("A", (EIGHT,))
STORE = BufferStore(A, FloatImm(0.0), (ZERO,))
NOTHING = Evaluate(ZERO)


def function(body, extra=()):
    p = Var("p", "handle", False)
    return PrimFunc((p, *extra), {p: A}, body)


def codes(body, extra=()):
    return [e.code for e in verify(function(body, extra))]


def loop(body, var=None, **fields):
    return For(Var("i") if var is None else var, ZERO, EIGHT, fields.pop("kind", "serial"), body, **fields)


def block(body, axes=(), values=(), **fields):
    return BlockRealize(values, TRUE, Block(BlockLabel("b"), axes, (), (), body, **fields))


def axis(name="vi"):
    return IterVar(Var(name), Range(ZERO, EIGHT), "spatial")


def test_good_programs_pass():
    i, vi = Var("i"), axis()
    check_well_formed(function(loop(block(BufferStore(A, FloatImm(0.0), (vi.var,)), (vi,), (i,)), i)))
    n = Var("n")
    check_well_formed(function(loop(BufferStore(A, ops.cast(n, "float32"), (n,))), (n,)))


i, j, x = Var("i"), Var("j"), Var("x")
CASES = {
    "undefined": BufferStore(A, FloatImm(0.0), (j,)),
    "out-of-scope": SeqStmt((loop(STORE, i), BufferStore(A, FloatImm(0.0), (i,)))),
    "defined-twice": SeqStmt((loop(STORE, i), loop(STORE, i))),
    "buffer-scope": BufferStore(make_buffer("B", (EIGHT,)), FloatImm(0.0), (ZERO,)),
    "index-count": BufferStore(A, FloatImm(0.0), (ZERO, ZERO)),
    "index-dtype": BufferStore(A, FloatImm(0.0), (FloatImm(0.0),)),
    "store-dtype": BufferStore(A, ZERO, (ZERO,)),
    "let-dtype": LetStmt(x, FloatImm(1.0), NOTHING),
    "loop-kind": loop(STORE, kind="fast"),
    "thread-tag": loop(STORE, kind="thread_binding", thread="threadIdx.w"),
    "condition-dtype": IfThenElse(ZERO, STORE),
    "loop-var-in-block": loop(block(BufferStore(A, FloatImm(0.0), (i,)), (axis(),), (ZERO,)), i),
    "binding-count": loop(block(STORE, (axis(),), ())),
    "break-outside-loop": Evaluate(Call("void", "break_loop", ())),
    "sequence": SeqStmt((STORE,)),
    "loop-dtype": For(Var("k"), FloatImm(0.0), EIGHT, "serial", STORE),
}


@pytest.mark.parametrize("code", CASES)
def test_faults(code):
    assert code in codes(CASES[code])
    with pytest.raises(WellFormedError) as caught:
        check_well_formed(function(CASES[code]))
    assert code in str(caught.value)


def test_a_thread_loop_needs_a_tag():
    assert codes(loop(STORE, kind="thread_binding")) == ["thread-tag"]
    assert codes(loop(STORE, thread="threadIdx.x")) == ["thread-tag"]
    assert codes(loop(STORE, kind="thread_binding", thread="threadIdx.x")) == []


def test_a_block_without_axes_may_use_loop_variables():
    k = Var("k")
    assert codes(loop(block(BufferStore(A, FloatImm(0.0), (k,))), k)) == []


def test_an_inner_block_may_use_the_axes_of_the_outer_one_but_not_the_loops_outside():
    k, outer, m = Var("k"), axis("vo"), Var("m")
    inner = loop(block(BufferStore(A, FloatImm(0.0), (outer.var,)), (axis(),), (m,)), m)
    assert codes(loop(block(inner, (outer,), (k,)), k)) == []
    k, outer, m = Var("k"), axis("vo"), Var("m")
    inner = loop(block(BufferStore(A, FloatImm(0.0), (k,)), (axis(),), (m,)), m)
    assert codes(loop(block(inner, (outer,), (k,)), k)) == ["loop-var-in-block"]


def test_break_does_not_leave_a_block():
    stop = Evaluate(Call("void", "break_loop", ()))
    assert codes(loop(stop)) == []
    assert codes(While(TRUE, stop)) == []
    assert codes(loop(block(stop))) == ["break-outside-loop"]


def test_allocations_and_views():
    p = Var("p", "handle", False, ("float32", "global"))
    view = make_buffer("V", (EIGHT,), data=p)
    body = DeclBuffer(view, BufferStore(view, FloatImm(0.0), (ZERO,)))
    assert codes(Allocate(p, "float32", (EIGHT,), TRUE, body)) == []
    other = make_buffer("V", (EIGHT,))
    assert codes(DeclBuffer(other, NOTHING)) == ["out-of-scope"]


def test_functions_of_a_module_share_no_definition():
    f = function(loop(STORE))
    assert {e.code for e in verify(IRModule({"f": f, "g": f}))} == {"defined-twice"}


def test_asserts_and_strides():
    assert codes(AssertStmt(TRUE, ops.as_expr("m"))) == []
    b = make_buffer("B", (EIGHT, EIGHT), strides=(IntImm(1),))
    q = Var("q", "handle", False)
    assert [e.code for e in verify(PrimFunc((q,), {q: b}, NOTHING))] == ["stride-count"]


def test_regions_count_dimensions():
    bad = Block(BlockLabel("b"), (), (point(A, (ZERO, ZERO)),), (), STORE)
    assert codes(BlockRealize((), TRUE, bad)) == ["index-count"]
