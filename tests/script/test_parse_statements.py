"""Statements: loops, lets, branches, scopes, stores, blocks."""

import warnings

import pytest

import tirscript as ts
from tirscript.ir import structural_equal
from tirscript.ir.expr import TRUE, Call, IntImm, Ramp, StringImm, Sub, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
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
)

HEAD = 'def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "int32"), n: T.int32):\n'


def parse(text: str, extra=None, *, head: str = HEAD):
    lines = text.strip("\n").splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ts.parse(head + "\n".join("    " + line for line in lines) + "\n", extra)


def same(a: str, b: str, extra=None):
    ts.assert_structural_equal(parse(a, extra), parse(b, extra))


# ---- loops


def test_loop_kinds_and_annotations():
    f = parse("""
for i in T.serial(1, 5, annotations={"a": 1}):
    for j in T.parallel(4):
        for k in T.vectorized(8):
            for u in T.unroll(2):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    for b in T.thread_binding(0, 4, "blockIdx.y", annotations={"b": "c"}):
                        for v in T.thread_binding(2, "vthread.x"):
                            B[0] = 1
""")
    kinds = [(x.kind, x.thread, dict(x.annotations)) for x in walk(f.body) if isinstance(x, For)]
    assert kinds == [
        ("serial", "", {"a": 1}),
        ("parallel", "", {}),
        ("vectorized", "", {}),
        ("unrolled", "", {}),
        ("thread_binding", "threadIdx.x", {}),
        ("thread_binding", "blockIdx.y", {"b": "c"}),
        ("thread_binding", "vthread.x", {}),
    ]
    assert (f.body.min.value, f.body.extent.value) == (1, 4)


def test_grid_is_a_nest_of_serial_loops():
    same(
        "for i, j in T.grid(4, n):\n    B[i] = j",
        "for i in range(4):\n    for j in T.serial(0, n):\n        B[i] = j",
    )
    same("for i, *r in T.grid(2, 3, 4):\n    B[i] = r[1]", "for i, j, k in T.grid(2, 3, 4):\n    B[i] = k")
    same("for i in T.grid((2, 5)):\n    B[i] = 1", "for i in range(2, 5):\n    B[i] = 1")
    same("for ij in T.grid(2, 3):\n    B[ij[0]] = 1", "for i, j in T.grid(2, 3):\n    B[i] = 1")


def test_symbolic_bounds_keep_the_extent():
    f = parse("for i in range(n, n + 4):\n    for j in range(i, n):\n        B[0] = 1")
    assert structural_equal(f.body.extent, IntImm(4, "int32"))
    inner = f.body.body
    assert structural_equal(inner.extent, Sub(f.params[2], f.body.loop_var), map_free_vars=False)


def test_a_loop_has_the_wider_dtype_of_its_bounds():
    f = parse("for i in range(T.int64(1), 5):\n    L[i] = i", head='def f(L: T.Buffer((8,), "int64")):\n')
    assert f.body.loop_var.dtype == "int64" and f.body.min.dtype == "int64" and f.body.extent.value == 4
    g = parse(
        "for i in range(n, m):\n    B[0] = 1",
        head='def f(B: T.Buffer((8,), "int8"), n: T.int32, m: T.int64):\n',
    )
    assert g.body.loop_var.dtype == "int64" and g.body.min.dtype == "int64"


def test_steps():
    f = parse("for i in range(0, 10, 3):\n    B[0] = 1\nfor j in T.serial(2, 8, step=2):\n    B[1] = 1")
    a, b = f.body.seq
    assert (a.extent.value, a.step.value, b.extent.value, b.step.value) == (10, 3, 6, 2)
    # Counting down: the values are those of Python's range.
    g = parse("for i in range(7, -1, -3):\n    B[i] = 1")
    loop, store = g.body, g.body.body
    index = store.indices[0]
    values = [_at(index, {loop.loop_var: k}) for k in range(loop.extent.value)]
    assert values == list(range(7, -1, -3))


def _at(e, env):
    import operator

    if isinstance(e, Var):
        return env[e]
    if isinstance(e, IntImm):
        return e.value
    op = {"Add": operator.add, "Mul": operator.mul, "Sub": operator.sub}[type(e).__name__]
    return op(_at(e.a, env), _at(e.b, env))


def test_while_break_continue():
    f = parse("""
while B[0] < 3:
    B[0] += 1
    if B[0] == 2:
        continue
    break
""")
    assert isinstance(f.body, While)
    ops = [x.op for x in walk(f.body) if isinstance(x, Call)]
    assert ops == ["continue_loop", "break_loop"]
    same("while n > 3:\n    B[0] = 1", "with T.While(n > 3):\n    B[0] = 1")
    same("while n > 3:\n    break", "while n > 3:\n    T.break_loop()")


def test_loops_over_python_sequences_are_written_out():
    same("for i in [0, 3]:\n    B[i] = i", "B[0] = 0\nB[3] = 3")
    same("for i, x in enumerate(xs):\n    B[i] = x", "B[0] = 7\nB[1] = 9", {"xs": [7, 9]})


# ---- lets


def test_three_spellings_of_a_let():
    same("x: T.float32 = A[0, 0]\nA[1, 1] = x", "x = A[0, 0]\nA[1, 1] = x")
    same("x = T.let(A[0, 0])\nA[1, 1] = x", "x = A[0, 0]\nA[1, 1] = x")
    same("with T.LetStmt(A[0, 0]) as x:\n    A[1, 1] = x", "x = A[0, 0]\nA[1, 1] = x")
    same("with T.Let(A[0, 0]) as x:\n    A[1, 1] = x", "x = A[0, 0]\nA[1, 1] = x")
    same("x = T.float32()\nwith T.let(x, A[0, 0]):\n    A[1, 1] = x", "x = A[0, 0]\nA[1, 1] = x")
    same("x = T.int32()\nwith T.LetStmt(n + 1, var=x):\n    B[0] = x", "x = n + 1\nB[0] = x")


def test_a_let_is_as_exact_as_its_value():
    f = parse("x = n + 1\ny = B[0] + 1\nz = T.if_then_else(n > 0, n, x)\nB[0] = x + y + z")
    lets = [s for s in walk(f.body) if isinstance(s, LetStmt)]
    assert [s.var.exact for s in lets] == [True, False, True]


def test_a_let_reaches_to_the_end_of_its_body():
    f = parse("for i in range(4):\n    x = n + i\n    B[i] = x\nB[5] = 1")
    loop, store = f.body.seq
    assert isinstance(loop.body, LetStmt) and isinstance(loop.body.body, BufferStore)
    assert isinstance(store, BufferStore)
    g = parse("x = n + 1")
    assert isinstance(g.body, LetStmt) and isinstance(g.body.body, Evaluate)


def test_python_values_make_no_statement():
    same("k = T.meta_var(4)\nB[k] = k", "B[4] = 4")
    same("idx = [n, 2]\nA[*idx] = A[tuple(idx)]", "A[n, 2] = A[n, 2]")
    same(
        "s = 'shared'\nX = T.alloc_buffer((4,), scope=s)\nX[0] = 1.0",
        "X = T.alloc_buffer((4,), scope='shared')\nX[0] = 1.0",
    )
    same("g = lambda x: x * x\nB[0] = g(n)", "B[0] = n * n")
    same("a, (b, c) = 1, (2, n)\nB[a] = b + c", "a = 1\nb = 2\nc = n\nB[a] = b + c")


def test_the_smallest_names_of_annotations():
    f = parse("x: T.int64 = n\ny: T.let = n\np: T.handle('float32', 'shared') = A.data\nB[0] = y", head=HEAD)
    lets = [s for s in walk(f.body) if isinstance(s, LetStmt)]
    assert [s.var.dtype for s in lets] == ["int64", "int32", "handle"]
    assert lets[2].var.pointee == ("float32", "shared")


# ---- branches and asserts


def test_branches():
    f = parse("if n > 2:\n    B[0] = 1\nelif n > 1:\n    B[0] = 2\nelse:\n    B[0] = 3")
    assert isinstance(f.body, IfThenElse) and isinstance(f.body.else_case, IfThenElse)
    same("if n:\n    B[0] = 1", "if n != 0:\n    B[0] = 1")
    same("with T.If(n > 2):\n    with T.Then():\n        B[0] = 1\n    with T.Else():\n        B[0] = 2",
         "if n > 2:\n    B[0] = 1\nelse:\n    B[0] = 2")  # fmt: skip
    same("if n > 2:\n    pass\nelse:\n    B[0] = 1", "if n > 2:\n    T.evaluate(0)\nelse:\n    B[0] = 1")


def test_conditions_that_python_knows_are_decided_now():
    same("if debug:\n    B[0] = nothing\nB[1] = 1", "B[1] = 1", {"debug": False})
    same(
        "if debug:\n    k = T.meta_var(3)\nelse:\n    k = T.meta_var(4)\nB[k] = 1",
        "B[3] = 1",
        {"debug": True},
    )


def test_asserts():
    f = parse('assert n > 3, "message"\nB[0] = 1')
    assert isinstance(f.body, SeqStmt)
    first = f.body.seq[0]
    assert isinstance(first, AssertStmt) and structural_equal(first.message, StringImm("message"))
    same('with T.Assert(n > 3, "m"):\n    B[0] = 1', 'assert n > 3, "m"\nB[0] = 1')
    same('T.Assert(n > 3, "m")\nB[0] = 1', 'assert n > 3, "m"\nB[0] = 1')
    same('assert n > 3, ("ValueError", ["a", "b"])\nB[0] = 1', 'assert n > 3, "ab"\nB[0] = 1')
    same("assert n > 3\nB[0] = 1", 'assert n > 3, "n > 3"\nB[0] = 1')
    same("assert k == 4\nB[0] = 1", "B[0] = 1", {"k": 4})
    with pytest.raises(ts.ParseError, match="does not hold"):
        parse('assert k == 4, "no"', {"k": 5})


# ---- stores


def test_augmented_stores():
    for op in ("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**"):
        same(f"B[n] {op}= 2", f"B[n] = B[n] {op} 2")
    same("A[0, n] /= 2", "A[0, n] = A[0, n] / 2")
    same("A[0, 0:4] += T.float32x4(1)", "A[0, 0:4] = A[0, 0:4] + T.float32x4(1)")


def test_scalars_are_converted_to_the_buffer():
    f = parse("A[0, 0] = 1\nA[0, 1] = n\nB[0] = n > 2\nA[0, 0:4] = 1")
    values = [s.value for s in f.body.seq]
    assert [v.dtype for v in values] == ["float32", "float32", "int32", "float32x4"]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int32", "x"), ("int8", "n"), ("float16", "x"), ("int32", "1.5"), ("bfloat16", "T.float16(1) * h")],
)
def test_a_lossy_store_warns_with_its_line(dtype, value):
    head = (
        f'def f(R: T.Buffer((8,), "{dtype}"), n: T.int32, x: T.float32, h: T.float16):\n    R[0] = {value}\n'
    )
    with pytest.warns(ts.PrecisionLossWarning, match=r":2:12: .* is converted to " + dtype):
        ts.parse(head)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.parse(head.replace(f"= {value}", f'= T.cast({value}, "{dtype}")'))


def test_a_store_whose_value_certainly_fits_does_not_warn():
    parse("""
for i in range(100):
    with T.block("b"):
        vi = T.axis.spatial(100, i)
        S[vi] = vi + 27
""", head='def f(S: T.Buffer((100,), "int8")):\n')  # fmt: skip


# ---- memory, attributes, threads


def test_allocations():
    same(
        "with T.allocate([4], 'int32', 'local') as p:\n"
        "    P = T.decl_buffer((4,), 'int32', data=p)\n    P[0] = 1",
        "p = T.allocate([4], 'int32', 'local')\nP = T.buffer_decl((4,), 'int32', data=p)\nP[0] = 1",
    )
    f = parse("p = T.allocate([n, 4], 'int32', 'shared', n > 3, annotations={'k': 1})\nT.evaluate(p)")
    a = f.body
    assert isinstance(a, Allocate) and a.buffer_var.pointee == ("int32", "shared") and len(a.extents) == 2
    assert not structural_equal(a.condition, TRUE) and a.annotations == {"k": 1}
    g = parse("X = T.decl_buffer((4,), 'int32', scope='local')\nX[0] = 1")
    assert isinstance(g.body, Allocate) and isinstance(g.body.body, DeclBuffer)


def test_constants_in_memory():
    np = pytest.importorskip("numpy")
    f = parse(
        "c = T.allocate_const([[1, 2], [3, 4]], 'int8', [2, 2])\n"
        "C = T.decl_buffer((2, 2), 'int8', data=c)\nB[0] = C[1, 1]"
    )
    assert isinstance(f.body, AllocateConst)
    np.testing.assert_array_equal(f.body.data, np.array([[1, 2], [3, 4]], "int8"))
    assert f.body.data.dtype == np.int8
    with pytest.raises(ts.ParseError, match="no constant"):
        parse("c = T.allocate_const([1, 2, 3], 'int8', [2, 2])")


def test_attributes_and_threads():
    f = parse("""
T.attr(A.data, "key", "value")
tx = T.env_thread("threadIdx.x")
bx = T.launch_thread("blockIdx.x", 4)
with T.launch_thread(tx, 8):
    B[tx] = bx
""")
    attr = f.body
    assert isinstance(attr, AttrStmt) and attr.node is f.buffers[0].data and attr.key == "key"
    launch = attr.body
    assert (
        launch.key == "thread_extent"
        and launch.node.thread_tag == "blockIdx.x"
        and launch.node.var.name == "bx"
    )
    same(
        'with T.launch_thread("threadIdx.x", 8) as t:\n    B[t] = 1',
        't = T.launch_thread("threadIdx.x", 8)\nB[t] = 1',
    )
    g = parse('t = T.launch_thread("threadIdx.x", T.int64(8))\nB[t] = 1')
    assert g.body.node.var.dtype == "int64"


def test_realize():
    f = parse('X = T.buffer_decl((8,), "int32")\nwith T.realize(X[0:n], "shared"):\n    X[0] = 1')
    assert isinstance(f.body, BufferRealize) and f.body.buffer.scope == "shared"
    assert f.body.body.buffer is f.body.buffer


def test_returns():
    f = ts.parse('def f(A: T.Buffer((4,), "int32")) -> T.int64:\n    return A[0]')
    assert f.ret_type == "int64" and f.body.value.op == "ret" and f.body.value.args[0].dtype == "int64"
    g = ts.parse(
        'def f(A: T.Buffer((4,), "int32")):\n    if A[0] > 1:\n'
        "        return A[0]\n    else:\n        return A[1]"
    )
    assert g.ret_type == "int32"
    ts.assert_structural_equal(
        ts.parse("def f(n: T.int32) -> T.int32:\n    T.evaluate(T.ret(n))"),
        ts.parse("def f(n: T.int32) -> T.int32:\n    return n"),
    )


# ---- blocks


def test_axes():
    f = parse("""
for i, j, k, l in T.grid(8, 8, 8, 8):
    with T.block("b"):
        vi = T.axis.spatial((2, 8), i)
        vj = T.axis.reduce(8, j + 0)
        vk = T.axis.scan(T.Range(1, 4), k)
        vl = T.axis.opaque(8, l)
        T.where(i > 1)
        T.reads()
        T.writes(B[vi])
        T.block_attr({"x": 1})
        T.block_attr({"y": n})
        B[vi] = vj + vk + vl
""")
    realize = next(s for s in walk(f.body) if isinstance(s, BlockRealize) and s.block.name == "b")
    block = realize.block
    assert [a.kind for a in block.iter_vars] == ["spatial", "reduce", "scan", "opaque"]
    assert [(a.dom.min.value, a.dom.extent.value) for a in block.iter_vars] == [
        (2, 6),
        (0, 8),
        (1, 3),
        (0, 8),
    ]
    assert not structural_equal(realize.predicate, TRUE)
    assert set(block.annotations) == {"x", "y"}
    assert block.reads == () and len(block.writes) == 1


def test_axes_have_the_wider_dtype():
    head = 'def f(L: T.Buffer((8,), "int64"), B: T.Buffer((8,), "int32")):\n'
    f = parse("""
for i in range(8):
    with T.block("b"):
        vi = T.axis.spatial(T.int64(8), i)
        L[vi] = vi
""", head=head)  # fmt: skip
    realize = f.body.block.body.body
    (axis,) = realize.block.iter_vars
    assert axis.var.dtype == "int64" and axis.dom.extent.dtype == "int64"
    assert type(realize.iter_values[0]).__name__ == "Cast" and realize.iter_values[0].dtype == "int64"
    with pytest.raises(ts.ParseError, match="narrows"):
        parse(
            "for i in range(T.int64(8)):\n    with T.block('b'):\n"
            "        vi = T.axis.spatial(8, i, dtype='int32')\n        L[vi] = 1",
            head=head,
        )


def test_root_block():
    assert not isinstance(parse("B[0] = 1").body, BlockRealize)
    implicit = parse("X = T.alloc_buffer((4,), 'int32')\nX[0] = 1")
    root = implicit.body.block
    assert root.name == "root" and [b.name for b in root.alloc_buffers] == ["X"]
    same(
        "with T.block('root'):\n    X = T.alloc_buffer((4,), 'int32')\n    X[0] = 1",
        "X = T.alloc_buffer((4,), 'int32')\nX[0] = 1",
    )
    same(
        "X = T.alloc_buffer((4,), 'int32')\nwith T.block('root'):\n"
        "    T.reads()\n    T.writes()\n    X[0] = 1",
        "X = T.alloc_buffer((4,), 'int32')\nX[0] = 1",
    )
    kept = parse("with T.block('root'):\n    T.block_attr({'a': 1})\n    B[0] = 1").body.block
    assert kept.name == "root" and kept.annotations == {"a": 1} and isinstance(kept.body, BufferStore)


def test_nested_blocks_allocate_in_the_nearest():
    f = parse("""
for i in range(8):
    with T.block("outer"):
        vi = T.axis.spatial(8, i)
        X = T.alloc_buffer((4,), "int32", scope="local")
        for j in range(4):
            with T.block("inner"):
                vj = T.axis.spatial(4, j)
                X[vj] = vi
        B[vi] = X[0]
""")
    blocks = {b.name: b for b in walk(f.body) if isinstance(b, Block)}
    assert [b.name for b in blocks["outer"].alloc_buffers] == ["X"] and not blocks["root"].alloc_buffers


def test_block_names_that_are_not_identifiers_and_no_realize():
    f = parse('with T.block("a b-c"):\n    B[0] = 1')
    assert f.body.block.body.block.name == "a b-c"
    g = parse(
        'with T.block("q", no_realize=True):\n    vi = T.axis.spatial(8)\n'
        "    T.reads()\n    T.writes(B[vi])\n    B[vi] = 1"
    )
    assert isinstance(g.body.block.body, Block)


def test_match_buffer_of_a_region():
    f = parse("""
with T.block("b"):
    s0 = T.int32()
    X = T.match_buffer(A[n:n + 4, 0:4], (4, 4), strides=[s0, "s1"], elem_offset="off", offset_factor=2)
    Y = T.match_buffer(A[0:2, 3])
    X[0, 0] = Y[1, 0]
""")
    block = f.body.block.body.block
    x, y = block.match_buffers
    assert (
        x.buffer.strides[1].name == "s1"
        and x.buffer.elem_offset.name == "off"
        and x.buffer.offset_factor == 2
    )
    assert [r.extent.value for r in y.source.region] == [2, 1] and len(y.buffer.shape) == 2


def test_slices_with_steps_and_predicates():
    f = parse("A.vstore([0, T.Ramp(0, 1, 4)], A.vload([1, 0], 'float32x4'), predicate=T.Broadcast(n > 2, 4))")
    store = f.body
    assert isinstance(store.indices[1], Ramp) and store.predicate is not None
    assert store.value.dtype == "float32x4"
