"""Whole programs: the parser's result against IR that is built by hand."""

import ast
import time

import pytest

import tirscript as ts
from tirscript.ir import structural_equal
from tirscript.ir.buffer import BufferRegion, make_buffer, point
from tirscript.ir.expr import (
    TRUE,
    Add,
    BufferLoad,
    FloatImm,
    IterVar,
    Max,
    Mul,
    Range,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt
from tirscript.script import ir as I
from tirscript.script import tir as T

TEXT = """
@T.prim_func
def mm_relu(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"),
            C: T.Buffer((128, 128), "float32")):
    Y = T.alloc_buffer((128, 128), "float32")
    for i, j, k in T.grid(128, 128, 128):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(128, 128):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""


def mm_relu_by_hand() -> PrimFunc:
    n = const_int(128)
    shape = (n, n)
    a, b, c, y = (make_buffer(name, shape, "float32") for name in "ABCY")
    zero = FloatImm(0.0)

    def axis(name: str, kind: str) -> IterVar:
        return IterVar(Var(name), Range(const_int(0), n), kind)

    def nest(names: str, body_of) -> For:
        variables = [Var(v) for v in names]
        body = body_of(variables)
        for v in reversed(variables):
            body = For(v, const_int(0), n, "serial", body)
        return body

    def first(loops: list[Var]) -> BlockRealize:
        axes = [axis("vi", "spatial"), axis("vj", "spatial"), axis("vk", "reduce")]
        vi, vj, vk = (x.var for x in axes)
        product = Mul(BufferLoad(a, (vi, vk)), BufferLoad(b, (vk, vj)))
        block = Block(
            BlockLabel("Y"), tuple(axes), (point(a, (vi, vk)), point(b, (vk, vj))), (point(y, (vi, vj)),),
            BufferStore(y, Add(BufferLoad(y, (vi, vj)), product), (vi, vj)),
            init=BufferStore(y, zero, (vi, vj)),
        )  # fmt: skip
        return BlockRealize(tuple(loops), TRUE, block)

    def second(loops: list[Var]) -> BlockRealize:
        axes = [axis("vi", "spatial"), axis("vj", "spatial")]
        vi, vj = (x.var for x in axes)
        block = Block(
            BlockLabel("C"), tuple(axes), (point(y, (vi, vj)),), (point(c, (vi, vj)),),
            BufferStore(c, Max(BufferLoad(y, (vi, vj)), zero), (vi, vj)),
        )  # fmt: skip
        return BlockRealize(tuple(loops), TRUE, block)

    root = Block(
        BlockLabel("root"), (), (), (), SeqStmt((nest("ijk", first), nest("ij", second))), alloc_buffers=(y,)
    )
    params = tuple(Var(f"{x.name}_handle", "handle", False) for x in (a, b, c))
    return PrimFunc(
        params,
        dict(zip(params, (a, b, c), strict=True)),
        BlockRealize((), TRUE, root),
        attrs={"global_symbol": "mm_relu"},
    )


def test_text_means_the_ir_built_by_hand():
    ts.assert_structural_equal(ts.parse(TEXT), mm_relu_by_hand())


def test_decorator_and_text_agree():
    @T.prim_func
    def mm_relu(
        A: T.Buffer((128, 128), "float32"),
        B: T.Buffer((128, 128), "float32"),
        C: T.Buffer((128, 128), "float32"),
    ):
        Y = T.alloc_buffer((128, 128), "float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))

    ts.assert_structural_equal(mm_relu, mm_relu_by_hand())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T.block(", "T.sblock("),
        ("T.alloc_buffer(", "T.sblock_alloc_buffer("),
        ('T.Buffer((128, 128), "float32")', 'T.Buffer[(128, 128), "float32"]'),
        ('T.Buffer((128, 128), "float32")', "T.Buffer([128, 128])"),
        ("T.grid(128, 128, 128)", "T.grid(*[128] * 3)"),
        ('vi, vj = T.axis.remap("SS", [i, j])', "vi = T.axis.S(128, i); vj = T.axis.spatial((0, 128), j)"),
        ("T.float32(0)", "0"),
        ("Y[vi, vj] = Y[vi, vj] + A", "Y[vi, vj] += A"),
        ("T.max(Y[vi, vj], T.float32(0))", "max(Y[vi, vj], 0.0)"),
        ("@T.prim_func\n", ""),
        ("T.", "X."),
    ],
)
def test_both_spellings_mean_the_same(old, new):
    text = TEXT.replace(old, new)
    assert text != TEXT
    if new == "X.":
        text = "from tvm.script import tir as X\n" + text
    ts.assert_structural_equal(ts.parse(text), mm_relu_by_hand())


def test_a_class_is_a_module_and_t_may_have_any_name():
    from tirscript.script import tirx as anything

    @I.ir_module
    class Module:
        @anything.prim_func
        def f(A: anything.Buffer((4,), "int32")):
            for i in range(4):
                A[i] = i

        @anything.prim_func(private=True)
        def g(A: anything.Buffer((4,), "int32")):
            A[0] = 1

    assert Module.names() == ["f", "g"]
    assert Module["f"].attrs["global_symbol"] == "f"
    assert "global_symbol" not in Module["g"].attrs


def test_aliases_are_one_module():
    import tirscript.script
    from tirscript.script import tir, tirx

    assert tir is tirx
    assert tirscript.script.from_source is tirscript.script.parse
    assert tirscript.script.ir_module is I.ir_module


def test_every_statement_load_and_store_has_its_exact_span():
    f = ts.parse(TEXT)
    from tirscript.ir.node import walk

    lines = TEXT.splitlines()
    seen = set()
    for n in walk(f.body):
        if isinstance(n, (BufferStore, BufferLoad, For)):
            assert n.span.line == n.span.end_line
            text = lines[n.span.line - 1][n.span.column : n.span.end_column]
            seen.add(text)
            ast.parse(text + ": pass" if text.startswith("for") else text)
            if isinstance(n, BufferLoad):
                assert text.startswith(n.buffer.name + "[") and text.endswith("]")
    assert "Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]" in seen
    assert "for i, j in T.grid(128, 128)" in seen


def test_regions_that_are_given_are_kept():
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi, 0:8], [B[0:4]])
            T.writes(B)
            B[vi] = A[vi, 0]
""")
    block = f.body.block.body.body.block
    assert [len(r.region) for r in block.reads] == [2, 1]
    assert isinstance(block.writes[0], BufferRegion)
    assert block.writes[0].region[0].extent.value == 16
    assert block.reads[0].region[1].extent.value == 8


def test_parse_is_linear_in_the_number_of_statements():
    def seconds(count: int) -> float:
        lines = "\n".join(f"    A[{i % 8}] = A[{(i + 1) % 8}] + 1" for i in range(count))
        text = f'def f(A: T.Buffer((8,), "int32")):\n{lines}\n'
        start = time.perf_counter()
        ts.parse(text)
        return time.perf_counter() - start

    seconds(100)
    assert seconds(8000) < 40 * min(seconds(800) for _ in range(3))


def test_a_text_that_is_indented_as_a_whole():
    f = ts.parse("""
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 1
    """)
    assert f.body.span.column == 12 and f.body.span.line == 4


def test_several_functions_are_a_module():
    m = ts.parse("""
def f(A: T.Buffer((4,), "int32")):
    A[0] = 1

def g(A: T.Buffer((4,), "int32")):
    cls.f(A.data)
""")
    assert m.names() == ["f", "g"]


def test_a_text_evaluates_nothing_but_what_it_is_given():
    for wrong in (
        "().__class__",
        "__import__('os')",
        "open('x')",
        "T.__builtins__",
        "tirscript.os",
        "eval('1')",
    ):
        with pytest.raises(ts.ParseError):
            ts.parse(f'def f(A: T.Buffer((4,), "int32")):\n    A[0] = {wrong}')
    f = ts.parse('def f(A: T.Buffer((n,), "int32")):\n    A[0] = g(n)', {"n": 4, "g": lambda x: x + 1})
    assert structural_equal(f, ts.parse('def f(A: T.Buffer((4,), "int32")):\n    A[0] = 5'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 3\n", "extra_vars"),
        ("import numpy as np\ndef f(): pass\n", "extra_vars"),
        ("", "no definition"),
        ("def f(:\n", "invalid syntax"),
        ("class A:\n    pass\nclass B:\n    pass\n", "one class"),
    ],
)
def test_what_a_text_may_hold(text, words):
    with pytest.raises(ts.ParseError, match=words):
        ts.parse(text)


def test_parse_takes_a_program_and_a_python_function():
    f = ts.parse(TEXT)
    assert ts.parse(f) is f

    def g(A: T.Buffer((4,), "int32")):
        A[0] = 3

    assert structural_equal(ts.parse(g), ts.parse('def g(A: T.Buffer((4,), "int32")):\n    A[0] = 3'))
