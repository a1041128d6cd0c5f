"""Free variables, substitution and copies."""

from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer, point
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import TRUE, FloatImm, IterVar, Let, Range, Var, const_int
from tirscript.ir.stmt import (
    AttrStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    seq,
)
from tirscript.ir.visitor import free_vars, fresh_copy, post_order, substitute


def test_free_variables_of_scopes():
    i, j, n = Var("i"), Var("j"), Var("n")
    a = make_buffer("A", (const_int(8),))
    loop = For(i, const_int(0), n, "serial", BufferStore(a, FloatImm(0.0), (i + j,)))
    assert free_vars(loop) == {j, n, a.data}
    assert free_vars(Let(i, j + 1, i + n)) == {j, n}
    assert free_vars(Let(i, i + 1, i)) == {i}, "the value is outside the scope of the let"


def test_free_variables_of_blocks_and_thread_axes():
    i, vi, t = Var("i"), Var("vi"), Var("t")
    a, local = make_buffer("A", (const_int(8),)), make_buffer("L", (const_int(8),))
    store = BufferStore(local, ops.load(a, (vi,)), (vi,))
    block = Block(
        BlockLabel("b"),
        (IterVar(vi, Range(const_int(0), const_int(8)), "spatial"),),
        (point(a, (vi,)),),
        (),
        store,
        alloc_buffers=(local,),
        annotations={"note": t},
    )
    assert free_vars(block) == {a.data, t}
    assert free_vars(BlockRealize((i,), TRUE, block)) == {a.data, t, i}
    axis = IterVar(t, None, "thread", "threadIdx.x")
    assert free_vars(AttrStmt(axis, "thread_extent", const_int(8), Evaluate(t))) == frozenset()


def test_substitution_keeps_what_it_need_not_touch():
    i, j = Var("i"), Var("j")
    a = make_buffer("A", (const_int(8),))
    first = For(i, const_int(0), const_int(8), "serial", BufferStore(a, FloatImm(0.0), (i,)))
    second = BufferStore(a, FloatImm(0.0), (j,))
    both = seq(first, second)
    new = substitute(both, {j: const_int(3)})
    assert new.seq[0] is first
    assert new.seq[1].indices[0].value == 3
    assert substitute(both, {Var("k"): j}) is both


def test_substitution_reaches_buffers_whose_fields_change():
    i, n = Var("i"), Var("n")
    a = make_buffer("A", (const_int(64),))
    view = make_buffer("V", (n,), data=a.data, elem_offset=i * 8)
    body = DeclBuffer(view, BufferStore(view, ops.load(view, (const_int(0),)), (const_int(1),)))
    new = substitute(body, {n: const_int(4), i: const_int(2)})
    assert new.buffer is not view
    assert new.body.buffer is new.buffer
    assert new.body.value.buffer is new.buffer
    assert new.buffer.shape[0].value == 4
    assert structural_equal(new.buffer.elem_offset, const_int(2) * 8)


def test_substitution_in_annotations_and_attributes():
    i, j = Var("i"), Var("j")
    a = make_buffer("A", (const_int(8),))
    loop = For(j, const_int(0), const_int(8), "serial", Evaluate(j), annotations={"x": [i + 1, {"y": i}]})
    new = substitute(loop, {i: const_int(5)})
    assert new.annotations["x"][1]["y"].value == 5
    attr = substitute(AttrStmt(i + 1, "k", i, Evaluate(i)), {i: const_int(5)})
    assert attr.node.a.value == 5
    assert attr.value.value == 5
    b = make_buffer("B", (const_int(8),))
    assert substitute(AttrStmt(a, "k", i, Evaluate(i)), {}, {a: b}).node is b


def test_fresh_copies_of_statements():
    i, j = Var("i"), Var("j")
    vi = Var("vi")
    a, local = make_buffer("A", (const_int(8),)), make_buffer("L", (const_int(8),))
    store = BufferStore(local, ops.load(a, (vi,)) + FloatImm(1.0), (vi,))
    block = Block(
        BlockLabel("b"),
        (IterVar(vi, Range(const_int(0), const_int(8)), "spatial"),),
        (point(a, (vi,)),),
        (point(local, (vi,)),),
        store,
        alloc_buffers=(local,),
    )
    loop = For(i, const_int(0), j, "serial", BlockRealize((i,), TRUE, block))
    copy = fresh_copy(loop)
    assert structural_equal(copy, loop, names=True)
    assert copy.loop_var is not i
    assert copy.extent is j, "what is defined outside stays"
    inner = copy.body.block
    assert inner.label is not block.label
    assert inner.alloc_buffers[0] is not local
    assert inner.alloc_buffers[0].data is not local.data
    assert inner.body.buffer is inner.alloc_buffers[0]
    assert inner.writes[0].buffer is inner.alloc_buffers[0]
    assert inner.body.value.a.buffer is a


def test_post_order_visits_children_first():
    x, y = Var("x"), Var("y")
    seen = []
    post_order((x + y) * 2, seen.append)
    assert [type(n).__name__ for n in seen] == ["Var", "Var", "Add", "IntImm", "Mul"]
