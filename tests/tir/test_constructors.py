"""Nodes made as TVM's programs make them: its argument order, lists, Python numbers; mistakes say so."""

from __future__ import annotations

import contextlib
import inspect
import random
from typing import Any

import numpy as np
import pytest

import tirscript as tvm
from tirscript import ir, te, tir
from tirscript.ir.nodeclass import NodeArgumentError, NodeClass
from tirscript.script import from_source

i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
x = tir.Var("x", "float32")
A = tir.decl_buffer((16,), "float32", name="A")
S = tir.Evaluate(0)
CLASSES = [n for n in tir.__all__ if isinstance(getattr(tir, n), NodeClass)]


def test_every_node_has_a_constructor() -> None:
    nodes = {
        name
        for name in ir.__all__
        if inspect.isclass(getattr(ir, name))
        and issubclass(getattr(ir, name), ir.Node)
        and name not in ("Node", "Expr", "Stmt", "BinaryOp", "CmpOp", "Buffer", "BlockLabel")
    }
    assert nodes <= set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_it_is_the_class_to_isinstance_and_comparison(name: str) -> None:
    public: Any = getattr(tir, name)
    raw = public._node
    assert public == raw and raw == public and hash(public) == hash(raw) and public not in (int, None)
    assert issubclass(raw, public) and issubclass(public, public)
    assert {raw: 1}[public] == 1 and repr(public) == repr(raw)
    assert inspect.getdoc(public) and inspect.signature(public)
    assert not isinstance(3, public)


MADE: dict[str, tuple[Any, str]] = {
    "IntImm": (lambda: tir.IntImm("int8", 3), "T.int8(3)"),
    "IntImm bool": (lambda: tir.IntImm("bool", 1), "T.bool(True)"),
    "IntImm of a number of NumPy": (lambda: tir.IntImm("int64", np.int32(5)), "T.int64(5)"),
    "FloatImm": (lambda: tir.FloatImm("float16", 0.1), "T.float16(0.1)"),
    "FloatImm of an int": (lambda: tir.FloatImm("float32", 2), "T.float32(2)"),
    "FloatImm inf": (lambda: tir.FloatImm("float32", float("inf")), 'T.float32("inf")'),
    "StringImm": (lambda: tir.StringImm("a"), '"a"'),
    "Cast": (lambda: tir.Cast("int64", i), 'T.Cast("int64", i)'),
    "Cast to its own dtype": (lambda: tir.Cast("int32", i), 'T.Cast("int32", i)'),
    "Add": (lambda: tir.Add(i, 1), "i + 1"),
    "Sub": (lambda: tir.Sub(1, i), "1 - i"),
    "Mul": (lambda: tir.Mul(x, 2), "x * T.float32(2)"),
    "Div of floats": (lambda: tir.Div(x, 2.0), "x / T.float32(2)"),
    "Div of integers": (lambda: tir.Div(i, 2), "T.truncdiv(i, 2)"),
    "Mod": (lambda: tir.Mod(i, 2), "T.truncmod(i, 2)"),
    "FloorDiv": (lambda: tir.FloorDiv(i, 2), "i // 2"),
    "FloorMod": (lambda: tir.FloorMod(i, j), "i % j"),
    "Min": (lambda: tir.Min(i, j), "T.min(i, j)"),
    "Max": (lambda: tir.Max(i, 4), "T.max(i, 4)"),
    "EQ": (lambda: tir.EQ(i, 4), "i == 4"),
    "NE": (lambda: tir.NE(i, 4), "i != 4"),
    "LT": (lambda: tir.LT(i, 4), "i < 4"),
    "LE": (lambda: tir.LE(i, 4), "i <= 4"),
    "GT": (lambda: tir.GT(i, 4), "i > 4"),
    "GE": (lambda: tir.GE(i, 4), "i >= 4"),
    "And": (lambda: tir.And(tir.LT(i, 4), tir.GT(i, 0)), "i < 4 and i > 0"),
    "Or": (lambda: tir.Or(tir.LT(i, 4), tir.GT(i, 0)), "i < 4 or i > 0"),
    "Not": (lambda: tir.Not(tir.LT(i, 4)), "not i < 4"),
    "Select": (lambda: tir.Select(i < 4, x, 0.0), "T.Select(i < 4, x, T.float32(0))"),
    "BufferLoad": (lambda: tir.BufferLoad(A, [i]), "A[i]"),
    "BufferLoad of a number": (lambda: tir.BufferLoad(A, [3]), "A[3]"),
    "BufferLoad of a vector": (lambda: tir.BufferLoad(A, [tir.Ramp(0, 1, 4)]), "A[0:4]"),
    "Ramp": (lambda: tir.Ramp(i, 1, 4), "T.Ramp(i, 1, 4)"),
    "Broadcast": (lambda: tir.Broadcast(x, 4), "T.Broadcast(x, 4)"),
    "Shuffle": (lambda: tir.Shuffle([tir.Broadcast(x, 2)], [1]), "T.Shuffle([T.Broadcast(x, 2)], [1])"),
    "Call": (lambda: tir.Call("float32", "tir.exp", [x]), "T.exp(x)"),
    "Call of an Op": (lambda: tir.Call("float32", tvm.ir.Op.get("tirx.sqrt"), [x]), "T.sqrt(x)"),
    "Call of a buffer": (
        lambda: tir.Call("int32", "tir.call_extern", [tir.StringImm("f"), A]),
        'T.call_extern("int32", "f", A_data)',
    ),
    "Let": (lambda: tir.Let(i, 3, i + 1), "T.Let(i + 1, where={i: 3})"),
    "Range": (lambda: tir.Range(2, 10), "T.Range(2, 10)"),
    "Range from 0": (lambda: tvm.ir.Range(8), "T.Range(0, 8)"),
    "Range of an extent": (lambda: tvm.ir.Range.from_min_extent(2, 8), "T.Range(2, 10)"),
    "LetStmt": (lambda: tir.LetStmt(i, 3, tir.Evaluate(i)), "i: T.int32 = 3\nT.evaluate(i)"),
    "AssertStmt": (lambda: tir.AssertStmt(i > 0, "m", S), 'assert i > 0, "m"\nT.evaluate(0)'),
    "For": (lambda: tir.For(i, 0, 8, tir.ForKind.SERIAL, S), "for i in range(8):\n    T.evaluate(0)"),
    "For of a number": (lambda: tir.For(i, 2, 8, 1, S), "for i in T.parallel(2, 10):\n    T.evaluate(0)"),
    "For of a thread": (
        lambda: tir.For(i, 0, 8, tir.ForKind.THREAD_BINDING, S, tir.IterVar(None, "t", 1, "threadIdx.x")),
        'for i in T.thread_binding(8, thread="threadIdx.x"):\n    T.evaluate(0)',
    ),
    "For with annotations": (
        lambda: tir.For(i, 0, 8, tir.ForKind.UNROLLED, S, annotations={"k": 1}),
        'for i in T.unroll(8, annotations={"k": 1}):\n    T.evaluate(0)',
    ),
    "While": (lambda: tir.While(i < 4, S), "while i < 4:\n    T.evaluate(0)"),
    "IfThenElse": (
        lambda: tir.IfThenElse(i < 4, S, tir.Evaluate(1)),
        "if i < 4:\n    T.evaluate(0)\nelse:\n    T.evaluate(1)",
    ),
    "SeqStmt": (lambda: tir.SeqStmt([S, tir.Evaluate(1)]), "T.evaluate(0)\nT.evaluate(1)"),
    "SeqStmt of sequences": (
        lambda: tir.SeqStmt([tir.SeqStmt([S, S]), tir.Evaluate(1)]),
        "T.evaluate(0)\nT.evaluate(0)\nT.evaluate(1)",
    ),
    "stmt_seq": (lambda: tir.stmt_seq(S, 1), "T.evaluate(0)\nT.evaluate(1)"),
    "BufferStore": (lambda: tir.BufferStore(A, 1.0, [i]), "A[i] = T.float32(1)"),
    "BufferStore of a vector": (
        lambda: tir.BufferStore(A, x, [tir.Ramp(0, 1, 4)]),
        "A[0:4] = T.Broadcast(x, 4)",
    ),
    "Allocate": (
        lambda: tir.Allocate(tir.Var("p", tvm.ir.PointerType(tvm.ir.PrimType("int8"))), "int8", [4], True, S),
        'p = T.allocate([4], "int8", "global")\nT.evaluate(0)',
    ),
    "AttrStmt": (
        lambda: tir.AttrStmt(tir.IntImm("int32", 0), "key", 1, S),
        'T.attr(0, "key", 1)\nT.evaluate(0)',
    ),
    "BufferRegion": (lambda: tir.BufferRegion(A, [tvm.ir.Range(2, 6)]), "A[2:6]"),
}  # fmt: skip


@pytest.mark.parametrize("what", MADE)
def test_arguments_in_the_order_of_tvm(what: str) -> None:
    make, text = MADE[what]
    node = make()
    assert str(node) == text
    public = getattr(tir, what.split()[0], None)
    if isinstance(public, NodeClass) and what.split()[0] not in ("AssertStmt", "SeqStmt"):
        assert isinstance(node, public) and type(node) == public  # noqa: E721


WRONG: list[tuple[Any, str]] = [
    (lambda: tir.IntImm(3, "int32"), "the order is IntImm(dtype, value)"),
    (lambda: tir.IntImm("int32", 3.5), 'FloatImm("float32", 3.5)'),
    (lambda: tir.IntImm("float32", 3), "float32 is no integer dtype"),
    (lambda: tir.IntImm("int8", 200), "200 does not fit int8"),
    (lambda: tir.FloatImm(0.5, "float32"), "the order is FloatImm(dtype, value)"),
    (lambda: tir.FloatImm("int32", 3), "int32 is no float dtype"),
    (lambda: tir.Var("int32", 3), "the order is Var(name, dtype)"),
    (lambda: tir.Var(3, "int32"), 'the order is Var("i", "int32")'),
    (lambda: tir.Var("i", "int23"), "'int23' is no dtype; did you mean `int2`?"),
    (lambda: tir.Cast(i, "int64"), "the order is Cast(dtype, value)"),
    (lambda: tir.Call("float32", "tir.exq", [x]), "did you mean `exp`?"),
    (lambda: tir.Call("float32", "tir.exp", [x, x]), "exp takes 1 arguments, 2 given"),
    (lambda: tir.Call("tir.exp", "float32", [x]), "the order is Call(dtype, op, args)"),
    (lambda: tir.Call("float32", "tir.exp", x), "the order is Call(dtype, op, args)"),
    (lambda: tir.BufferLoad([i], A), "list is no buffer"),
    (lambda: tir.BufferLoad(A, [i, j]), "A has 1 dimension, 2 given"),
    (lambda: tir.BufferStore(A, [i], 1.0), "an index is an integer, this is float32"),
    (lambda: tir.BufferStore(A, i, [i]), "`A` holds float32 there, the value is int32"),
    (lambda: tir.For(i, 0, 8, S, tir.ForKind.SERIAL), "tir.ForKind.SERIAL, PARALLEL"),
    (lambda: tir.For(i, 0, 8, "serial", i), "Var is no statement"),
    (lambda: tir.For(i, 0, 8, tir.ForKind.SERIAL, S, "threadIdx.x"), "a serial loop has no thread"),
    (lambda: tir.For(i, 0, 8, tir.ForKind.THREAD_BINDING, S), "None is no thread tag"),
    (lambda: tir.For(i, tir.Var("n", "int64"), 8, 0, S), "int32 is wanted, n is int64"),
    (lambda: tir.For(i, 0, 8), "For: missing a required argument: 'kind'"),
    (lambda: tir.LetStmt(3, i, S), "3 is no variable"),
    (lambda: tir.LetStmt(i, 2.5, S), "2.5 is no int32"),
    (lambda: tir.Let(i, x, i), "`i` is int32, the value is float32"),
    (lambda: tir.SeqStmt(S), "Evaluate is no list of statements"),
    (lambda: tir.SeqStmt([]), "no statements"),
    (lambda: tir.Evaluate("f") and tir.Evaluate(S), "Evaluate is no expression"),
    (lambda: tir.AttrStmt("key", i, 1, S), "the order is AttrStmt(node, attr_key, value, body)"),
    (lambda: tir.Block([], [], [], S, "b"), "the order is Block(iter_vars, reads, writes, name, body)"),
    (lambda: tir.BlockRealize([], True, S), "Evaluate is no block"),
    (lambda: tir.BufferRegion(A, [(0, 4), (0, 4)]), "`A` has 1 dimensions, 2 given"),
    (lambda: tir.PrimFunc(S, [A]), "Evaluate"),
    (lambda: tir.PrimFunc([i], S, None, {j: A}), "in buffer_map is no parameter"),
    (lambda: tvm.ir.Range(0.5), "0.5 is no integer"),
    (lambda: tir.IterVar((0, 4), "k", 99), "99 is no kind of axis"),
    (lambda: tvm.ir.Op.get("tir.exq"), "did you mean `exp`?"),
    (lambda: tir.decl_buffer((4,), "float32", "A", data=3), "the pointer of a buffer is a variable"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments_are_errors(number: int) -> None:
    make, said = WRONG[number]
    with pytest.raises((tvm.TirscriptError, TypeError)) as caught:
        make()
    assert said in str(caught.value)


def test_wrong_arguments_are_type_errors_too() -> None:
    with pytest.raises(TypeError):
        tir.IntImm(3, "int32")
    with pytest.raises(NodeArgumentError) as caught:
        tir.For(i, 0)
    assert "For(loop_var, min, extent, kind, body, thread_binding=None" in str(caught.value)


def test_match_statements() -> None:
    match i + 1:
        case tir.Mul():
            raise AssertionError
        case tir.Add(a=left, b=tir.IntImm(value=v)):
            assert left is i and v == 1


def test_a_function_by_hand() -> None:
    """The whole of a blocked matrix product, made of nodes, is the script's."""
    n = 8
    a, b, c = [tir.decl_buffer((n, n), "float32", name=name) for name in "ABC"]
    loops = [tir.Var(name, "int32") for name in "ijk"]
    vi, vj, vk = [tir.Var(name, "int32") for name in ("vi", "vj", "vk")]
    axes = [
        tir.IterVar(tvm.ir.Range(0, n), vi, tir.IterVar.DataPar),
        tir.IterVar((0, n), vj, tir.IterVar.DataPar),
        tir.IterVar((0, n), vk, tir.IterVar.CommReduce),
    ]
    update = tir.BufferStore(c, c[vi, vj] + a[vi, vk] * b[vk, vj], [vi, vj])
    block = tir.Block(
        axes,
        [
            tir.BufferRegion(a, [(vi, vi + 1), tvm.ir.Range.from_min_extent(vk, 1)]),
            tir.BufferRegion(b, [vk, vj]),
        ],
        [tir.BufferRegion(c, [vi, vj])],
        "C",
        update,
        init=tir.BufferStore(c, tir.FloatImm("float32", 0), [vi, vj]),
    )
    body: Any = tir.BlockRealize(loops, True, block)
    for v in reversed(loops):
        body = tir.For(v, 0, n, tir.ForKind.SERIAL, body)
    root = tir.BlockRealize([], True, tir.Block([], [], [], "root", body))
    handles = [tir.Var(name, "handle") for name in "abc"]
    f = tir.PrimFunc(handles, root, None, dict(zip(handles, (a, b, c), strict=True)), {"global_symbol": "f"})
    parsed = from_source("""
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i, j, k in T.grid(8, 8, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")
    tvm.ir.assert_structural_equal(f, parsed)
    rng = np.random.default_rng(0)
    p, q = rng.random((n, n), "float32"), rng.random((n, n), "float32")
    out = np.zeros((n, n), "float32")
    tvm.build(f)(p, q, out)
    np.testing.assert_allclose(out, p @ q, rtol=1e-5)
    assert tir.analysis.verify_well_formed(f)


def test_fields_have_the_names_of_tvm() -> None:
    loop = tir.For(i, 0, 8, tir.ForKind.PARALLEL, S)
    assert loop.kind == tir.ForKind.PARALLEL and loop.thread_binding is None
    bound = tir.For(i, 0, 8, tir.ForKind.THREAD_BINDING, S, "blockIdx.x")
    assert bound.thread_binding.thread_tag == "blockIdx.x"
    axis = tir.IterVar((0, 4), "k", tir.IterVar.CommReduce)
    assert axis.iter_type == tir.IterVar.CommReduce and axis.var.name == "k"
    assert tir.AttrStmt(0, "key", 1, S).attr_key == "key"
    assert tir.GlobalVar("f").name_hint == "f"
    assert tir.Block([], [], [], "b", S).name_hint == "b"
    assert i.same_as(i) and not i.same_as(j) and A.same_as(A) and S.same_as(S)
    assert int(tir.IntImm("int64", 7)) == 7 and float(tir.FloatImm("float32", 0.5)) == 0.5
    assert A.shape[0] == 16 and A.shape[0] != 15 and not A.shape[0] == 15  # noqa: SIM201
    r = tir.CommReducer([i], [j], [i + j], [tir.IntImm("int32", 0)])
    assert int(r.identity_element[0]) == 0
    assert tir.decl_buffer((4,), "int8", "B", scope="shared", data_alignment=64).data_alignment == 64
    assert tir.stmt_list(tir.stmt_seq(S, 1))[0] is S and tir.stmt_list(S) == [S]


def test_reductions_of_tensors() -> None:
    k, a, b = te.reduce_axis((0, 8), name="k"), tir.Var("a", "float32"), tir.Var("b", "float32")
    X = te.placeholder((4, 8), name="X")
    adder = tir.CommReducer([a], [b], [a + b], [tir.FloatImm("float32", 0)])
    made = te.compute((4,), lambda i: tir.Reduce(adder, [X[i, k]], [k], True, 0), name="Y")
    assert isinstance(made.op.body[0], tir.Reduce)
    tvm.ir.assert_structural_equal(
        te.create_prim_func([X, made]),
        te.create_prim_func([X, te.compute((4,), lambda i: te.sum(X[i, k], axis=k), name="Y")]),
    )
    with pytest.raises(tvm.TirscriptError, match="no reducer"):
        tir.Reduce(a, [a], [k], True, 0)


def test_methods_of_buffers() -> None:
    m = tir.decl_buffer((4, 8), "float32", name="M", scope="shared")
    assert m.scope() == m.scope == "shared"
    assert str(m.vload([i, 0], "float32x4")) == "M[i, 0:4]" and str(m.vload((i, j))) == "M[i, j]"
    assert str(m.vstore([i, 0], 1.0)) == "M[i, 0] = T.float32(1)"
    assert str(m.vstore([i, 0], tir.Broadcast(x, 2))) == "M[i, 0:2] = T.Broadcast(x, 2)"
    assert [int(a) for a in m.access_ptr("rw").args[2:]] == [0, 32, 3]
    assert [int(a) for a in m.access_ptr("r", extent=4, offset=8).args[2:]] == [8, 4, 1]
    assert m.access_ptr("w", content_lanes=4).args[0].dtype == "float32x4"
    assert str(m.offset_of([i, 3])[0]) == "i * 8 + 3"
    strided = tir.decl_buffer((4, 8), "float32", strides=[16, 1], elem_offset=2)
    assert tvm.arith.simplify(strided.offset_of([1, 3])[0]).value == 21
    flat = m.get_flattened_buffer()
    assert flat.data is m.data and [int(n) for n in flat.shape] == [32]
    for wrong in (lambda: m.access_ptr("x"), lambda: m.vload([i]), lambda: m.vload([i, 0], "int32")):
        with pytest.raises(tvm.TirscriptError):
            wrong()


@pytest.mark.parametrize(
    "value", [A, te.placeholder((4,)), te.placeholder((4, 4))[0], tvm.script.tir.float32]
)
def test_what_is_indexed_without_end_cannot_be_iterated(value: Any) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(value)
    with pytest.raises((tvm.TirscriptError, TypeError)):
        tir.SeqStmt(value)
    with pytest.raises((tvm.TirscriptError, TypeError)):
        tir.PrimFunc(S, value)


def test_any_arguments_give_a_node_or_an_error_of_ours() -> None:
    block = tir.Block([], [], [], "b", S)
    pool: list[Any] = [
        0, -1, 3.5, True, None, "a", "int32", "handle", "float32x4", [], [i], [x], [S], (0, 4), {}, {"k": 1},
        i, x, A, S, block, tvm.ir.Range(0, 4), tir.IterVar((0, 4), "k", 0), object(), tir.ForKind.SERIAL,
        tir.Ramp(0, 1, 4), slice(0, 4), A[0:4], i < 3, "tir.exp", tir.GlobalVar("f"), [[i]], 2**70,
        float("nan"),        b"x", tir.Var, int,
    ]  # fmt: skip
    rng = random.Random(0)
    for _ in range(3000):
        build = getattr(tir, rng.choice([*CLASSES, "decl_buffer"]))
        taken = [p for p in inspect.signature(build).parameters.values() if p.name != "span"]
        least = sum(p.default is p.empty for p in taken)
        arguments = [rng.choice(pool) for _ in range(rng.randint(least, len(taken)))]
        with contextlib.suppress(tvm.TirscriptError):
            str(build(*arguments))
