"""Structural equality: every kind of difference is seen, renaming is not one."""

import math

import pytest

from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer, point
from tirscript.ir.equal import StructuralMismatch, assert_structural_equal, structural_equal, structural_hash
from tirscript.ir.expr import TRUE, CommReducer, FloatImm, IterVar, Let, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    DeclBuffer,
    For,
    LetStmt,
    SeqStmt,
)
from tirscript.ir.visitor import fresh_copy


def build(
    names="ABi", *, n=8, kind="serial", value=1.0, block="B", axis="spatial", attrs=None, shape_var=False
):
    """for i in range(n): B[vi] = A[vi] + value"""
    extent = Var("n") if shape_var else const_int(n)
    a, b = make_buffer(names[0], (extent,)), make_buffer(names[1], (extent,))
    i, vi = Var(names[2]), Var("v" + names[2])
    store = BufferStore(b, ops.add(ops.load(a, (vi,)), value), (vi,))
    inner = Block(
        BlockLabel(block),
        (IterVar(vi, Range(const_int(0), extent), axis),),
        (point(a, (vi,)),),
        (point(b, (vi,)),),
        store,
    )
    body = For(i, const_int(0), extent, kind, BlockRealize((i,), TRUE, inner))
    root = BlockRealize((), TRUE, Block(BlockLabel("root"), (), (), (), body))
    p, q = Var("p", "handle", False), Var("q", "handle", False)
    return PrimFunc((p, q), {p: a, q: b}, root, attrs=attrs or {"global_symbol": "f"})


def test_renamed_programs_are_equal_and_hash_alike():
    f, g = build(), build("XYk", block="other")
    assert structural_equal(f, g)
    assert structural_hash(f) == structural_hash(g)
    assert not structural_equal(f, g, names=True)
    assert structural_equal(f, build(), names=True)
    assert structural_equal(build(shape_var=True), build("XYk", shape_var=True))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"n": 9}, "buffer_map"),
        ({"kind": "parallel"}, "body"),
        ({"value": 2.0}, "value.b"),
        ({"axis": "opaque"}, "iter_vars"),
        ({"attrs": {"global_symbol": "f", "tir.noalias": True}}, "attrs"),
        ({"attrs": {"global_symbol": "g"}}, "attrs"),
        ({"shape_var": True}, "buffer_map"),
    ],
)
def test_differences(change, where):
    f, g = build(), build(**change)
    assert not structural_equal(f, g)
    assert structural_hash(f) != structural_hash(g)
    with pytest.raises(StructuralMismatch, match="the programs differ at") as caught:
        assert_structural_equal(f, g)
    assert where in caught.value.message
    assert isinstance(caught.value, (AssertionError, ValueError))


def test_a_variable_maps_to_one_variable():
    """x + y against x + x: the map must be one to one, both ways."""
    x, y, u, v = Var("x"), Var("y"), Var("u"), Var("v")

    def both(a, b, e):
        return Let(a, const_int(1), Let(b, const_int(1), e))

    assert structural_equal(both(x, y, x + y), both(u, v, u + v))
    assert not structural_equal(both(x, y, x + y), both(u, v, v + u))
    assert not structural_equal(both(x, y, x + x), both(u, v, u + v))
    assert not structural_equal(both(x, y, x + y), both(u, v, u + u))


def test_free_variables():
    x, y = Var("x"), Var("y")
    assert structural_equal(x + 1, x + 1)
    assert not structural_equal(x + 1, y + 1)
    assert structural_equal(x + 1, y + 1, map_free_vars=True)
    assert not structural_equal(x + y, x + x, map_free_vars=True)
    assert not structural_equal(x + 1, Var("z", "int64") + 1, map_free_vars=True)


def test_constants():
    assert structural_equal(FloatImm(math.nan), FloatImm(math.nan))
    assert not structural_equal(FloatImm(0.0), FloatImm(-0.0))
    assert not structural_equal(const_int(1), const_int(1, "int64"))
    assert not structural_equal(const_int(1), const_int(1, "bool"))
    assert structural_hash(FloatImm(math.nan)) == structural_hash(FloatImm(math.nan))


def test_exact_and_data_lets_differ():
    x, y = Var("x", exact=True), Var("y", exact=False)
    assert not structural_equal(Let(x, const_int(1), x), Let(y, const_int(1), y))


def test_annotations_and_attributes():
    f = build()

    def loop(function, notes):
        block = function.body.block
        return function.replace(
            body=function.body.replace(block=block.replace(body=block.body.replace(annotations=notes)))
        )

    assert structural_equal(loop(f, {"a": [1, 2], "b": "x"}), loop(f, {"b": "x", "a": [1, 2]}))
    for other in ({"a": [1, 3], "b": "x"}, {"a": [1, 2]}, {"a": [1, 2], "b": 1}, {"a": [1, True], "b": "x"}):
        assert not structural_equal(loop(f, {"a": [1, 2], "b": "x"}), loop(f, other))


def test_views_and_allocations():
    def program(shared):
        p = Var("p", "handle", False, ("float32", "global"))
        q = Var("q", "handle", False, ("float32", "global"))
        a = make_buffer("a", (const_int(4),), data=p)
        b = make_buffer("b", (const_int(4),), data=p if shared else q)
        zero = const_int(0)
        store = SeqStmt((BufferStore(a, FloatImm(1.0), (zero,)), BufferStore(b, FloatImm(2.0), (zero,))))
        body = DeclBuffer(a, DeclBuffer(b, store))
        return Allocate(
            p, "float32", (const_int(4),), TRUE, Allocate(q, "float32", (const_int(4),), TRUE, body)
        )

    assert structural_equal(program(True), program(True))
    assert not structural_equal(program(True), program(False))


def test_reducers():
    def reducer(op):
        x, y = Var("x", "float32"), Var("y", "float32")
        return CommReducer((x,), (y,), (op(x, y),), (FloatImm(0.0),))

    assert structural_equal(reducer(ops.add), reducer(ops.add))
    assert not structural_equal(reducer(ops.add), reducer(ops.maximum))
    assert not structural_equal(reducer(ops.sub), reducer(lambda x, y: ops.sub(y, x)))


def test_modules():
    m = IRModule({"f": build(), "g": build(n=4)})
    assert structural_equal(m, IRModule({"g": build(n=4), "f": build()}))
    assert not structural_equal(m, IRModule({"f": build()}))
    assert not structural_equal(m, IRModule({"f": build(), "g": build(n=5)}))
    assert structural_hash(m) == structural_hash(IRModule({"g": build(n=4), "f": build()}))


def test_a_fresh_copy_is_equal_and_shares_no_definition():
    f = build(shape_var=True)
    g = fresh_copy(f)
    assert structural_equal(f, g, names=True)
    assert g.params[0] is not f.params[0]
    assert g.body.block.body.loop_var is not f.body.block.body.loop_var
    assert g.body.block.body.body.block.label is not f.body.block.body.body.block.label
    assert g.buffers[0] is not f.buffers[0]
    assert g.buffers[0].shape[0] is g.buffers[1].shape[0]


def test_deep_programs():
    x, y = Var("x"), Var("y")
    a, b = x, y
    for _ in range(6000):
        a, b = a + x, b + y
    let_a, let_b = LetStmt(x, const_int(1), ev(a)), LetStmt(y, const_int(1), ev(b))
    assert structural_equal(let_a, let_b)
    assert structural_hash(let_a) == structural_hash(let_b)


def ev(e):
    from tirscript.ir.stmt import Evaluate

    return Evaluate(e)
