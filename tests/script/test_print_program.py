"""Statements, functions and modules: the texts of the language's description, and each statement's form."""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import pytest

from tirscript.ir.buffer import BufferRegion, MatchBufferRegion, make_buffer, point
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import (
    TRUE,
    Add,
    Broadcast,
    Call,
    CommReducer,
    FloatImm,
    GlobalVar,
    IntImm,
    IterVar,
    Ramp,
    Range,
    StringImm,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
    seq,
)
from tirscript.ir.visitor import fresh_copy
from tirscript.script.printer import script

HEADER = "# from tirscript.script import tir as T\n\n"
zero, one = const_int(0), const_int(1)


def loop(var, extent, body, kind="serial", low=zero, **fields):
    return For(var, low, const_int(extent) if isinstance(extent, int) else extent, kind, body, **fields)


def axis(name, extent, kind="spatial", low=zero):
    return IterVar(Var(name), Range(low, const_int(extent)), kind)


def realize(name, axes, values, body, reads=(), writes=(), predicate=TRUE, **fields):
    return BlockRealize(
        tuple(values),
        predicate,
        Block(BlockLabel(name), tuple(axes), tuple(reads), tuple(writes), body, **fields),
    )


def root(body, *buffers, **fields):
    return realize("root", (), (), body, alloc_buffers=tuple(buffers), **fields)


def func(buffers, body, name="f", **fields):
    """A function over buffers; handles are named as the parser names them."""
    handles = tuple([Var(f"{b.name}_handle", "handle", False) for b in buffers])
    attrs = {"global_symbol": name} if name is not None else {}
    return PrimFunc(handles, dict(zip(handles, buffers, strict=True)), body, attrs={**attrs, **fields})


def nop(n=0):
    return Evaluate(const_int(n))


def reduction(predicate=None, split=False):
    """The example of the language's description, before and after its schedule."""
    A = make_buffer("A", (const_int(18), const_int(8)))
    C = make_buffer("C", (const_int(18),))
    vi, vk = axis("vi", 18), axis("vk", 8, "reduce")
    update = BufferStore(C, Add(C[vi.var], A[vi.var, vk.var]), (vi.var,))
    init = BufferStore(C, FloatImm(0.0), (vi.var,))
    block = {"reads": [point(A, (vi.var, vk.var))], "writes": [point(C, (vi.var,))], "init": init}
    if split:
        i0, i1, k = Var("i_0"), Var("i_1"), Var("k")
        i = i0 * 4 + i1
        inner = realize("C", (vi, vk), (i, k), update, predicate=i < 18, **block)
        body = loop(i0, 5, loop(k, 8, loop(i1, 4, inner, "vectorized")))
    else:
        i, k = Var("i"), Var("k")
        body = loop(i, 18, loop(k, 8, realize("C", (vi, vk), (i, k), update, **block)))
    return func((A, C), root(body))


def test_scheduled_example_of_the_language():
    assert script(reduction(split=True)) == HEADER + (
        '@T.prim_func\n'
        'def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):\n'
        '    # with T.block("root"):\n'
        '    for i_0, k in T.grid(5, 8):\n'
        '        for i_1 in T.vectorized(4):\n'
        '            with T.block("C"):\n'
        '                vi = T.axis.spatial(18, i_0 * 4 + i_1)\n'
        '                vk = T.axis.reduce(8, k)\n'
        '                T.where(i_0 * 4 + i_1 < 18)\n'
        '                T.reads(A[vi, vk])\n'
        '                T.writes(C[vi])\n'
        '                with T.init():\n'
        '                    C[vi] = T.float32(0)\n'
        '                C[vi] = C[vi] + A[vi, vk]'
    )  # fmt: skip


def test_input_example_of_the_language():
    assert script(reduction()) == HEADER + (
        '@T.prim_func\n'
        'def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):\n'
        '    # with T.block("root"):\n'
        '    for i, k in T.grid(18, 8):\n'
        '        with T.block("C"):\n'
        '            vi, vk = T.axis.remap("SR", [i, k])\n'
        '            T.reads(A[vi, vk])\n'
        '            T.writes(C[vi])\n'
        '            with T.init():\n'
        '                C[vi] = T.float32(0)\n'
        '            C[vi] = C[vi] + A[vi, vk]'
    )  # fmt: skip


def test_without_sugar():
    assert script(reduction(), sugar=False) == HEADER + (
        '@T.prim_func\n'
        'def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):\n'
        '    # with T.block("root"):\n'
        '    for i in range(18):\n'
        '        for k in range(8):\n'
        '            with T.block("C"):\n'
        '                vi = T.axis.spatial(18, i)\n'
        '                vk = T.axis.reduce(8, k)\n'
        '                T.reads(A[vi, vk])\n'
        '                T.writes(C[vi])\n'
        '                with T.init():\n'
        '                    C[vi] = T.float32(0)\n'
        '                C[vi] = C[vi] + A[vi, vk]'
    )  # fmt: skip


# ---- loops

i, j, k, n = Var("i"), Var("j"), Var("k"), Var("n")


@pytest.mark.parametrize(
    ("stmt", "header"),
    [
        (loop(i, 4, nop()), "for i in range(4):"),
        (loop(i, 4, nop(), low=const_int(2)), "for i in range(2, 6):"),
        (loop(i, n, nop()), "for i in range(n):"),
        (loop(i, n, nop(), low=k), "for i in range(k, k + n):"),
        (loop(i, Sub(n, k), nop(), low=k), "for i in range(k, n):"),
        (loop(i, Sub(n, one), nop(), low=one), "for i in range(1, n):"),
        (loop(i, 9, nop(), step=const_int(3)), "for i in range(0, 9, 3):"),
        (loop(i, 9, nop(), low=k, step=n), "for i in range(k, k + 9, n):"),
        (loop(i, 4, nop(), annotations={"b": 1, "a": "x"}), 'for i in T.serial(4, annotations={"a": "x", "b": 1}):'),
        (loop(i, 4, nop(), low=one, annotations={"b": 1}, step=const_int(2)),
         'for i in T.serial(1, 5, annotations={"b": 1}, step=2):'),
        (loop(i, 4, nop(), "parallel"), "for i in T.parallel(4):"),
        (loop(i, 4, nop(), "vectorized"), "for i in T.vectorized(4):"),
        (loop(i, 4, nop(), "unrolled", low=one), "for i in T.unroll(1, 5):"),
        (loop(i, 4, nop(), "parallel", step=const_int(2)), "for i in T.parallel(4, step=2):"),
        (loop(i, 4, nop(), "thread_binding", thread="threadIdx.x"),
         'for i in T.thread_binding(4, thread="threadIdx.x"):'),
        (loop(i, IntImm(8, "int64"), nop()), "for i in range(T.int64(8)):"),
        (loop(i, 4, loop(j, 5, nop())), "for i, j in T.grid(4, 5):"),
        (loop(i, n, loop(j, n, loop(k, 2, nop()))), "for i, j, k in T.grid(n, n, 2):"),
    ],
)  # fmt: skip
def test_loop_headers(stmt, header):
    first, *rest = script(stmt).split("\n")
    assert first == header
    assert rest == ["    T.evaluate(0)"]


def test_what_ends_a_grid():
    text = "for i, j in T.grid(4, 5):\n    for k in {}:\n        T.evaluate(0)"
    assert script(loop(i, 4, loop(j, 5, loop(k, j + 1, nop())))) == text.format("range(j + 1)")
    assert script(loop(i, 4, loop(j, 5, loop(k, 3, nop(), "parallel")))) == text.format("T.parallel(3)")
    assert script(loop(i, 4, loop(j, 5, loop(k, 3, nop(), low=one)))) == text.format("range(1, 4)")
    body = SeqStmt((loop(k, 3, nop()), nop(1)))
    assert script(loop(i, 4, loop(j, 5, body))) == (
        "for i, j in T.grid(4, 5):\n    for k in range(3):\n        T.evaluate(0)\n    T.evaluate(1)"
    )


def test_while_if_assert_break():
    A = make_buffer("A", (const_int(8),), "int32")
    leave = Evaluate(Call("void", "break_loop", ()))
    again = Evaluate(Call("void", "continue_loop", ()))
    chain = IfThenElse(A[0] > 3, leave, IfThenElse(A[0] > 2, again, SeqStmt((nop(), nop(1)))))
    assert script(While(A[0] > 0, chain)) == (
        "while A[0] > 0:\n"
        "    if A[0] > 3:\n"
        "        break\n"
        "    elif A[0] > 2:\n"
        "        continue\n"
        "    else:\n"
        "        T.evaluate(0)\n"
        "        T.evaluate(1)"
    )
    assert script(AssertStmt(A[0] > 0, StringImm("no"))) == 'assert A[0] > 0, "no"'
    assert script(IfThenElse(A[0] > 3, nop())) == "if A[0] > 3:\n    T.evaluate(0)"


def test_evaluate():
    A = make_buffer("A", (const_int(8),), "int32")
    assert (
        script(Evaluate(Call("int32", "call_extern", (StringImm("f"), A.data))))
        == 'T.call_extern("int32", "f", A_data)'
    )
    assert script(Evaluate(A[0])) == "T.evaluate(A[0])"
    assert script(Evaluate(Call("int32", "bitwise_and", (A[0], A[1])))) == "T.evaluate(A[0] & A[1])"
    assert script(Evaluate(Call("void", "ret", (A[0],)))) == "T.ret(A[0])"


# ---- statements with a scope


def scoped():
    p = Var("p", "handle", False, ("float32", "shared"))
    v = make_buffer("V", (const_int(4), const_int(4)), data=p, scope="shared")
    x = Var("x", "int64")
    tx = IterVar(Var("tx"), None, "thread", "threadIdx.x")
    body = nop()
    return [
        (LetStmt(x, IntImm(3, "int64"), body), "x: T.int64 = T.int64(3)", "T.LetStmt(T.int64(3)) as x"),
        (AttrStmt(IntImm(0), "pragma", const_int(1), body), 'T.attr(0, "pragma", 1)', 'T.attr(0, "pragma", 1)'),
        (AttrStmt("default", "async", one, body), 'T.attr("default", "async", 1)', 'T.attr("default", "async", 1)'),
        (AttrStmt(tx, "thread_extent", const_int(32), body),
         'tx = T.launch_thread("threadIdx.x", 32)', 'T.launch_thread("threadIdx.x", 32) as tx'),
        (Allocate(p, "float32", (const_int(16),), TRUE, body),
         'p = T.allocate([16], "float32", "shared")', 'T.allocate([16], "float32", "shared") as p'),
        (Allocate(p, "float32", (const_int(16),), n > 0, body, {"a": 1}),
         'p = T.allocate([16], "float32", "shared", condition=n > 0, annotations={"a": 1})',
         'T.allocate([16], "float32", "shared", condition=n > 0, annotations={"a": 1}) as p'),
        (DeclBuffer(v, body), 'V = T.decl_buffer((4, 4), data=p, scope="shared")',
         'T.decl_buffer((4, 4), data=p, scope="shared") as V'),
    ]  # fmt: skip


@pytest.mark.parametrize(("stmt", "concise", "opening"), scoped())
def test_concise_or_with(stmt, concise, opening):
    assert script(stmt) == f"{concise}\nT.evaluate(0)"
    assert script(SeqStmt((nop(1), stmt))) == f"T.evaluate(1)\n{concise}\nT.evaluate(0)"
    assert script(SeqStmt((stmt, nop(1)))) == f"with {opening}:\n    T.evaluate(0)\nT.evaluate(1)"
    assert script(loop(i, 4, stmt)) == f"for i in range(4):\n    {concise}\n    T.evaluate(0)"


def test_lowered_program():
    """Allocation and view as lowering leaves them, with vectors, pragma and threads."""
    A = make_buffer("A", (const_int(64),))
    pointer = Var("B_data", "handle", False, ("float32", "local"))
    B = make_buffer("B", (const_int(64),), data=pointer, scope="local")
    view = make_buffer("A_1", (const_int(64),), data=A.data)
    ramp = Ramp(i * 4, one, 4)
    body = SeqStmt((
        loop(i, 16, BufferStore(B, view[ramp] * Broadcast(FloatImm(2.0), 4), (ramp,)), "parallel"),
        BufferStore(view, B[zero], (zero,)),
    ))  # fmt: skip
    stmt = DeclBuffer(view, Allocate(pointer, "float32", (const_int(64),), TRUE, DeclBuffer(B, body)))
    assert script(func((A,), stmt)) == HEADER + (
        "@T.prim_func\n"
        'def f(A: T.Buffer((64,), "float32")):\n'
        "    A_1 = T.decl_buffer((64,), data=A.data)\n"
        '    B_data = T.allocate([64], "float32", "local")\n'
        '    B = T.decl_buffer((64,), data=B_data, scope="local")\n'
        "    for i in T.parallel(16):\n"
        "        B[i * 4:i * 4 + 4] = A_1[i * 4:i * 4 + 4] * T.Broadcast(T.float32(2), 4)\n"
        "    A_1[0] = B[0]"
    )


def test_allocate_const_and_realize():
    import numpy as np

    p = Var("p", "handle", False, ("int32", "global"))
    data = np.array([[1, 2], [3, 4]], "int32")
    stmt = AllocateConst(p, "int32", (const_int(2), const_int(2)), data, nop())
    assert script(stmt) == 'p = T.allocate_const([[1, 2], [3, 4]], "int32", [2, 2])\nT.evaluate(0)'
    R = make_buffer("R", (const_int(8),), scope="shared")
    stmt = BufferRealize(R, (Range(zero, const_int(8)),), TRUE, nop())
    assert script(stmt) == (
        'R = T.buffer_decl((8,), scope="shared")\nT.realize(R[0:8], "shared")\nT.evaluate(0)'
    )


def test_reducer_of_threads():
    x, y = Var("x", "float32"), Var("y", "float32")
    reducer = CommReducer((x,), (y,), (x + y,), (FloatImm(0.0),))
    null = Call("handle", "reinterpret", (IntImm(0, "uint64"),))
    stmt = AttrStmt(reducer, "reduce_scope", null, nop())
    assert script(stmt).split("\n")[0] == (
        'T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", T.reinterpret("handle", T.uint64(0)))'
    )


# ---- blocks


def test_block_in_full():
    A = make_buffer("A", (const_int(16), const_int(16)), "float16")
    W = make_buffer("W", (const_int(4),), scope="local")
    s0, s1 = Var("s0"), Var("s1")
    M = make_buffer("M", (const_int(4), const_int(16)), "float16", strides=(s0, s1), offset_factor=4)
    v0, v1 = axis("v0", 6, low=const_int(2)), axis("v1", 4, "scan")
    source = BufferRegion(A, (Range(zero, const_int(4)), Range(zero, const_int(16))))
    stmt = realize(
        'a "b"', (v0, v1), (i + 2, j), nop(), (), (source,), i < 6,
        annotations={"z": 1, "a": A}, alloc_buffers=(W,), match_buffers=(MatchBufferRegion(M, source),),
        init=BufferStore(W, FloatImm(0.0), (zero,)),
    )  # fmt: skip
    assert script(loop(i, 8, loop(j, 4, stmt))) == (
        "for i, j in T.grid(8, 4):\n"
        '    with T.block("a \\"b\\""):\n'
        "        v0 = T.axis.spatial((2, 8), i + 2)\n"
        "        v1 = T.axis.scan(4, j)\n"
        "        T.where(i < 6)\n"
        "        T.reads()\n"
        "        T.writes(A[0:4, 0:16])\n"
        '        T.block_attr({"a": A, "z": 1})\n'
        '        W = T.alloc_buffer((4,), scope="local")\n'
        "        s0 = T.int32()\n"
        "        s1 = T.int32()\n"
        '        M = T.match_buffer(A[0:4, 0:16], (4, 16), "float16", strides=[s0, s1], offset_factor=4)\n'
        "        with T.init():\n"
        "            W[0] = T.float32(0)\n"
        "        T.evaluate(0)"
    )


def test_remap_runs():
    """Runs of two or more plain axes are one line; others stand alone, in their order."""
    axes = (axis("a", 4), axis("b", 5), axis("c", 6), axis("d", 4), axis("e", 6))
    stmt = realize("x", axes, (i, j, k + 0, i, k), nop())
    lines = script(loop(i, 4, loop(j, 5, loop(k, 6, stmt)))).split("\n")
    assert lines[2:5] == [
        '        a, b = T.axis.remap("SS", [i, j])',
        "        c = T.axis.spatial(6, k + 0)",
        '        d, e = T.axis.remap("SS", [i, k])',
    ]
    # Not over the loop's own range, a domain of another dtype, and a lone one.
    axes = (axis("a", 4), axis("b", 7), axis("c", 6))
    lines = script(loop(i, 4, loop(j, 5, loop(k, 6, realize("x", axes, (i, j, k), nop()))))).split("\n")
    assert lines[2:5] == [
        "        a = T.axis.spatial(4, i)",
        "        b = T.axis.spatial(7, j)",
        "        c = T.axis.spatial(6, k)",
    ]


def test_root_block():
    body = realize("x", (), (), nop())
    B = make_buffer("B", (const_int(4),), "int8")
    implicit = script(func((), root(body, B))).split("\n")
    assert implicit[4:7] == [
        '    # with T.block("root"):',
        '    B = T.alloc_buffer((4,), "int8")',
        '    with T.block("x"):',
    ]
    attributed = script(func((), root(body, B, annotations={"mark": 7}))).split("\n")
    assert attributed[4:9] == [
        '    with T.block("root"):',
        "        T.reads()",
        "        T.writes()",
        '        T.block_attr({"mark": 7})',
        '        B = T.alloc_buffer((4,), "int8")',
    ]
    assert "root" not in script(func((), nop()))


def test_block_alone():
    assert script(Block(BlockLabel("x"), (axis("v", 4),), (), (), nop())) == (
        'with T.block("x", no_realize=True):\n    v = T.axis.spatial(4)\n    T.reads()\n    T.writes()\n    T.evaluate(0)'
    )


# ---- functions and buffers


def test_signature():
    m = Var("m")
    A = make_buffer("A", (m, const_int(4)))
    B = make_buffer("B", (m * 2,), "float16")
    C = make_buffer("C", (n,), "int8", scope="shared")
    D = make_buffer("D", ())
    a, b, c, d = (Var(x, "handle", False) for x in "abcd")
    free = Var("p", "handle", False, ("float32", "shared"))
    f = PrimFunc(
        (a, n, c, b, d, free),
        {a: A, b: B, c: C, d: D},
        nop(),
        "int32",
        {"global_symbol": "f", "tir.noalias": True},
    )
    assert script(f) == HEADER + (
        "@T.prim_func\n"
        'def f(a: T.handle, n: T.int32, C: T.Buffer((n,), "int8", scope="shared"), b: T.handle, D: T.Buffer((), "float32"), '
        'p: T.handle("float32", "shared")) -> T.int32:\n'
        '    T.func_attr({"tir.noalias": True})\n'
        "    m = T.int32()\n"
        '    A = T.match_buffer(a, (m, 4), "float32")\n'
        '    B = T.match_buffer(b, (m * 2,), "float16")\n'
        "    T.evaluate(0)"
    )


def test_later_parameter_in_a_shape():
    """``n`` stands after the buffer: it is a parameter, so no line defines it."""
    A = make_buffer("A", (n,))
    a = Var("a", "handle", False)
    assert script(PrimFunc((a, n), {a: A}, nop(), attrs={"global_symbol": "f"})) == HEADER + (
        "@T.prim_func\ndef f(a: T.handle, n: T.int32):\n"
        '    A = T.match_buffer(a, (n,), "float32")\n    T.evaluate(0)'
    )


def test_handle_that_is_used():
    A = make_buffer("A", (const_int(4),))
    a = Var("a", "handle", False)
    body = Evaluate(Call("bool", "isnullptr", (a,)))
    assert script(PrimFunc((a,), {a: A}, body, attrs={"global_symbol": "f"})) == HEADER + (
        '@T.prim_func\ndef f(a: T.handle):\n    A = T.match_buffer(a, (4,), "float32")\n    T.isnullptr(a)'
    )


def test_buffer_fields():
    b = make_buffer(
        "B", (const_int(4), const_int(8)), "int8", strides=(const_int(16), one), elem_offset=const_int(3),
        scope="shared", align=64, offset_factor=8, buffer_type="auto", axis_separators=(1,),
    )  # fmt: skip
    assert script(b) == (
        'T.Buffer((4, 8), "int8", strides=[16, 1], elem_offset=3, scope="shared", align=64, offset_factor=8, '
        'buffer_type="auto", axis_separators=[1])'
    )


def test_names_of_functions():
    body = nop()
    assert "@T.prim_func\ndef f():" in script(func((), body))
    assert "@T.prim_func(private=True)\ndef main():" in script(func((), body, None))
    named = script(func((), body), name="g")
    assert 'def g():\n    T.func_attr({"global_symbol": "f"})' in named
    assert 'def a_b():\n    T.func_attr({"global_symbol": "a.b"})' in script(func((), body, "a.b"))
    assert 'def for_1():\n    T.func_attr({"global_symbol": "for"})' in script(func((), body, "for"))


def test_attributes_are_sorted():
    f = func((), nop(), b=1, a=[1, 2.5, {"y": None, "x": TRUE}], c=const_int(3), d=FloatImm(1.0))
    assert (
        'T.func_attr({"a": [1, 2.5, {"x": T.bool(True), "y": None}], "b": 1, "c": T.int32(3), "d": T.float32(1)})'
        in script(f)
    )


def test_module():
    g = func((), Evaluate(Call("int32", GlobalVar("f"), (const_int(3),))), None)
    m = IRModule({"g": g, "f": func((), nop())}, {"x": 1})
    assert script(m) == (
        "# from tirscript.script import ir as I\n"
        "# from tirscript.script import tir as T\n"
        "\n"
        "@I.ir_module\n"
        "class Module:\n"
        '    I.module_attrs({"x": 1})\n'
        "    @T.prim_func(private=True)\n"
        "    def g():\n"
        "        cls.f(3)\n"
        "\n"
        "    @T.prim_func\n"
        "    def f():\n"
        "        T.evaluate(0)"
    )
    assert script(IRModule()).endswith("class Module:\n    pass")


def test_functions_whose_keys_are_no_names():
    m = IRModule(
        {"a.b": func((), Evaluate(Call("int32", GlobalVar("a_b"), ())), None), "a_b": func((), nop(), None)}
    )
    text = script(m)
    assert "    def a_b():\n        cls.a_b_1()" in text
    assert "    def a_b_1():" in text


# ---- names


def test_clashes_are_renamed():
    A, A2 = make_buffer("A", (const_int(4),)), make_buffer("A", (const_int(4),))
    x, x2 = Var("i"), Var("i")
    body = loop(x, 4, loop(x2, 4, BufferStore(A2, A[x], (x2,))))
    assert script(func((A,), root(body, A2))).split("\n")[3:] == [
        'def f(A: T.Buffer((4,), "float32")):',
        '    # with T.block("root"):',
        "    A_1 = T.alloc_buffer((4,))",
        "    for i, i_1 in T.grid(4, 4):",
        "        A_1[i_1] = A[i]",
    ]


def test_siblings_share_names():
    x, x2 = Var("i"), Var("i")
    A = make_buffer("A", (const_int(4),), "int32")
    stmt = SeqStmt((loop(x, 4, BufferStore(A, x, (x,))), loop(x2, 4, BufferStore(A, x2, (x2,)))))
    assert script(stmt) == "for i in range(4):\n    A[i] = i\nfor i in range(4):\n    A[i] = i"


def test_a_subtree_that_occurs_twice():
    """Lowering may leave the same definitions in two places: each is printed as the other."""
    B = make_buffer("B", (const_int(4),))
    tx = IterVar(Var("tx"), None, "thread", "threadIdx.x")
    block = realize("b", (), (), BufferStore(B, FloatImm(1.0), (zero,)), alloc_buffers=(B,))
    stmt = AttrStmt(tx, "thread_extent", const_int(8), LetStmt(n, i, block))
    once = script(SeqStmt((stmt, nop())))
    assert script(SeqStmt((stmt, stmt, nop()))) == once.replace("T.evaluate(0)", once)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("T", "T_1"), ("I", "I_1"), ("cls", "cls_1"), ("range", "range_1"), ("for", "for_1"), ("None", "None_1"),
     ("print", "print"), ("len", "len"), ("A.local", "A_local"), ("2x", "v2x"), ("", "v"), ("a b", "a_b"),
     ("match", "match"), ("ﬁ", "fi"), ("α", "α")],
)  # fmt: skip
def test_names_that_python_does_not_take(name, shown):
    x = Var(name)
    assert script(loop(x, 4, Evaluate(x))) == f"for {shown} in range(4):\n    T.evaluate({shown})"


def test_free_variables_keep_apart_from_bound_ones():
    """``i`` outside and ``i`` of the loop are two things, wherever the free one is met first."""
    free, bound = Var("i"), Var("i")
    A = make_buffer("A", (const_int(4),), "int32")
    assert script(loop(bound, free, BufferStore(A, free, (bound,)))) == "for i_1 in range(i):\n    A[i_1] = i"
    assert script(loop(bound, 4, BufferStore(A, free, (bound,)))) == "for i in range(4):\n    A[i] = i_1"


def test_shadowed_axis():
    """An axis named as its loop is renamed; its value names the loop."""
    v = axis("i", 4)
    stmt = loop(i, 4, realize("b", (v,), (i,), Evaluate(v.var)))
    assert script(stmt).split("\n")[2] == "        i_1 = T.axis.spatial(4, i)"


# ---- Python's limits


def nested(depth, make):
    body = nop()
    for _ in range(depth):
        body = make(body)
    return body


def deepest(text):
    """How many for, while and with statements are nested."""
    import ast

    def of(node, depth):
        inner = depth + isinstance(node, (ast.For, ast.While, ast.With))
        return max([inner, *[of(child, inner) for child in ast.iter_child_nodes(node)]])

    return of(ast.parse(text), 0)


def test_perfect_nests_stay_within_the_limit():
    stmt = nested(60, lambda body: loop(Var("i"), 2, body))
    text = script(stmt)
    assert deepest(text) == 1
    compile(text, "<script>", "exec")


def test_other_nests_say_so():
    ok = script(nested(20, lambda body: loop(Var("i"), 2, body, "unrolled")))
    assert "#" not in ok
    compile(ok, "<script>", "exec")
    text = script(nested(25, lambda body: loop(Var("i"), 2, body, "unrolled")))
    lines = text.split("\n")
    assert [n for n, x in enumerate(lines) if "#" in x] == [20]
    assert lines[20].strip() == "# over Python's limit of 20 nested blocks: read this text with from_source"
    assert deepest(text) == 25
    with pytest.raises(SyntaxError, match="too many statically nested blocks"):
        compile(text, "<script>", "exec")


def test_too_much_indentation_says_so():
    import ast

    def make(body):
        return IfThenElse(n > 0, body)

    ast.parse(script(nested(99, make)))
    text = script(nested(101, make))
    assert "# over Python's limit of 100 indentation levels: this text cannot be read back" in text
    with pytest.raises(IndentationError):
        ast.parse(text)


def test_long_programs():
    A = make_buffer("A", (const_int(4),), "int32")
    many = seq(*[BufferStore(A, const_int(x % 7), (zero,)) for x in range(10_000)])
    assert script(many).count("\n") == 9_999
    lets = nop()
    for x in range(10_000):
        lets = LetStmt(Var(f"x{x}"), const_int(x), lets)
    assert script(lets).split("\n")[0] == "x9999: T.int32 = 9999"


def test_printing_does_not_change_the_program():
    f = reduction(split=True)
    copy = fresh_copy(f)
    assert script(f) == script(f) == script(copy)
    assert structural_equal(f, copy, names=True)
