"""Spans, wrapping, underlines, notes, line numbers, metadata."""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.script.test_print_program import func, loop, nop, reduction, root
from tirscript.diagnostics import TirscriptError
from tirscript.ir.buffer import BufferRegion, make_buffer
from tirscript.ir.expr import TRUE, Add, BufferLoad, Call, Expr, FloatImm, IterVar, StringImm, Var, const_int
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    AllocateConst,
    Block,
    BlockRealize,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
)
from tirscript.script.parser import parse
from tirscript.script.printer import render, script
from tirscript.script.printer.layout import wrap
from tirscript.script.printer.metadata import dump, key_of, load


def excerpt(rendered, node):
    """The characters under the span of a node."""
    span = rendered.spans[node]
    assert span.line == span.end_line
    return rendered.text.split("\n")[span.line - 1][span.column : span.end_column]


# ---- spans


@pytest.mark.parametrize("sugar", [True, False])
def test_spans_are_the_text_of_each_node(sugar):
    f = reduction(split=True)
    r = render(f, sugar=sugar)
    assert r.text == script(f, sugar=sugar)
    for n in walk(f):
        if isinstance(n, (Expr, BufferRegion)) and n is not TRUE:
            printed = script(n)
            # Names of buffers are the function's own there; constants that open a domain are not printed.
            if n in r.spans:
                assert excerpt(r, n) == printed
        if isinstance(n, BufferLoad):
            assert n in r.spans
    stores = [n for n in walk(f) if isinstance(n, BufferStore)]
    update, init = stores
    assert excerpt(r, update) == "C[vi] = C[vi] + A[vi, vk]"
    assert excerpt(r, init) == "C[vi] = T.float32(0)"
    assert excerpt(r, update.value) == "C[vi] + A[vi, vk]"
    assert excerpt(r, update.value.b) == "A[vi, vk]"


def test_spans_of_headers():
    f = reduction(split=True)
    r = render(f, sugar=False)
    loops = [n for n in walk(f) if isinstance(n, For)]
    assert [excerpt(r, x) for x in loops] == [
        "for i_0 in range(5):",
        "for k in range(8):",
        "for i_1 in T.vectorized(4):",
    ]
    assert [excerpt(r, x.loop_var) for x in loops] == ["i_0", "k", "i_1"]
    block = next(n for n in walk(f) if isinstance(n, Block) and n.name == "C")
    inside = next(n for n in walk(f) if isinstance(n, BlockRealize) and n.block is block)
    assert excerpt(r, block) == excerpt(r, inside) == excerpt(r, block.label) == 'with T.block("C"):'
    axes = [n for n in walk(f) if isinstance(n, IterVar)]
    assert [excerpt(r, x) for x in axes] == [
        "vi = T.axis.spatial(18, i_0 * 4 + i_1)",
        "vk = T.axis.reduce(8, k)",
    ]
    assert excerpt(r, axes[0].var) == "vi"
    assert excerpt(r, inside.predicate) == "i_0 * 4 + i_1 < 18"
    assert excerpt(r, block.reads[0]) == "A[vi, vk]"
    assert excerpt(r, f) == 'def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):'
    assert excerpt(r, f.buffers[0]) == 'A: T.Buffer((18, 8), "float32")'
    assert excerpt(r, f.body) == '# with T.block("root"):'


def test_span_of_grid_and_of_other_statements():
    i, j = Var("i"), Var("j")
    A = make_buffer("A", (const_int(8),), "int32")
    B = make_buffer("B", (const_int(8),), "int32")
    x = Var("x")
    store = BufferStore(A, x, (i,))
    let = LetStmt(x, A[j], store)
    branch = IfThenElse(i < j, let, IfThenElse(i > j, nop()))
    inner = loop(j, 8, branch)
    outer = loop(i, 8, inner)
    r = render(func((A,), root(outer, B)))
    assert excerpt(r, outer) == excerpt(r, inner) == "for i, j in T.grid(8, 8):"
    assert excerpt(r, branch) == "if i < j:"
    assert excerpt(r, branch.else_case) == "elif i > j:"
    assert excerpt(r, let) == "x: T.int32 = A[j]"
    assert excerpt(r, let.value) == "A[j]"
    assert excerpt(r, x) == "x"
    assert excerpt(r, B) == 'B = T.alloc_buffer((8,), "int32")'
    assert r.spans[store].source.name == "f"
    other = render(func((A,), root(outer, B)), name="left")
    assert other.text == r.text and other.spans[store].source.name == "left"
    assert r.spans[store].source.line(r.spans[store].line).strip() == "A[i] = x"


def test_span_of_a_node_that_occurs_twice_is_the_first():
    a = Var("a")
    twice = a * 2
    r = render(twice + twice)
    assert (r.spans[twice].column, r.spans[twice].end_column) == (0, 5)


def test_deep_programs_render():
    total = a = Var("a")
    for _ in range(2000):
        total = Add(total, a)
    r = render(total)
    assert r.spans[total].end_column == len(r.text)
    assert len(r.spans) == 2001


@pytest.mark.parametrize("use", ["", '    T.evaluate(T.call_extern("int32", "g", a))\n'])
def test_a_text_up_to_the_last_wanted_line_has_the_spans_of_the_whole(use):
    # A handle that is used somewhere below is a parameter of its own, which moves all lines.
    f = parse(
        "@T.prim_func\n"
        "def f(a: T.handle, B: T.Buffer(8)):\n"
        "    A = T.match_buffer(a, (8,))\n"
        "    for i in range(8):\n"
        '        with T.block("A"):\n'
        "            vi = T.axis.spatial(8, i)\n"
        "            A[vi] = T.float32(1)\n"
        "    for j in range(8):\n"
        '        with T.block("B"):\n'
        "            vj = T.axis.spatial(8, j)\n"
        "            B[vj] = A[vj]\n" + use
    )
    whole = render(f)
    shorter = 0
    for node, span in whole.spans.items():
        part = render(f, only={node}, whole=False)
        found = part.spans[node]
        assert len(part.spans) == 1 and whole.text.startswith(part.text)
        assert str(found).partition(":")[2] == str(span).partition(":")[2]
        assert (found.end_line, found.end_column) == (span.end_line, span.end_column)
        assert render(f, only={node}).text == whole.text
        shorter += part.text != whole.text
    assert (shorter > 0) is (not use)


# ---- wrapping


def test_wrapped_text_means_the_same():
    f = reduction(split=True)
    for width in (20, 40, 60, 80, 100):
        text = script(f, width=width)
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(script(f)))
        code = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
        if width >= 60:
            assert max(map(len, code)) <= width


def test_wrapped_signature():
    assert script(reduction(), width=60).split("\n")[3:7] == [
        "def f(",
        '    A: T.Buffer((18, 8), "float32"),',
        '    C: T.Buffer((18,), "float32")',
        "):",
    ]


def test_wrap_keeps_strings_and_single_tuples():
    line = 'T.call_extern("int32", "a, (b", T.alloc((100000000000,), "x"), 12345678901234567890)'
    text = "\n".join(wrap(line, 30))
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(line))
    assert max(len(x) for x in text.split("\n")) <= 30


# ---- underlines, notes, line numbers


def test_underline():
    i = Var("i")
    A = make_buffer("A", (const_int(8),), "int32")
    store = BufferStore(A, A[i] + 1, (i,))
    stmt = loop(i, 8, store)
    assert script(stmt, underline=[store.value.a, stmt]) == (
        "for i in range(8):\n"
        "#^^^^^^^^^^^^^^^^^\n"
        "    A[i] = A[i] + 1\n"
        "#          ^^^^"
    )  # fmt: skip
    assert ast.dump(ast.parse(script(stmt, underline=[stmt]))) == ast.dump(ast.parse(script(stmt)))


def test_notes_and_numbers():
    i = Var("i")
    stmt = loop(i, 8, Evaluate(i))
    assert script(stmt, annotate={stmt: "the outer\nloop"}, line_numbers=True, underline=[stmt.body]) == (
        "   1 | for i in range(8):  # the outer loop\n   2 |     T.evaluate(i)\n     | #   ^^^^^^^^^^^^^"
    )


# ---- metadata


@pytest.mark.parametrize(
    "dtype", ["float32", "int8", "bool", "uint64", "float16", "bfloat16", "float8_e4m3fn", "int4"]
)
@pytest.mark.parametrize("shape", [(3, 50), (200,), (), (0, 4)])
def test_metadata_round_trip(dtype, shape):
    import ml_dtypes

    kind = (
        np.dtype(getattr(ml_dtypes, dtype))
        if dtype in ("bfloat16", "float8_e4m3fn", "int4")
        else np.dtype(dtype)
    )
    values = (np.arange(int(np.prod(shape))) % 7).reshape(shape).astype(kind)
    back = load("x = 1\n\n" + "\n".join(dump({"k": values})) + "\n")["k"]
    assert back.dtype == values.dtype and back.shape == values.shape
    assert back.tobytes() == values.tobytes()


def test_large_constants_go_into_metadata():
    data = np.arange(100, dtype="int32")
    p = Var("p", "handle", False, ("int32", "global"))
    stmt = AllocateConst(p, "int32", (const_int(100),), data, nop())
    both = SeqStmt((loop(Var("i"), 4, stmt), stmt))
    text = script(func((), both, weights=data.astype("float32")))
    key = key_of(data)
    assert text.count(f'T.allocate_const(T.metadata["{key}"], "int32", [100])') == 2
    assert f'"weights": T.metadata["{key_of(data.astype("float32"))}"]' in text
    assert text.count('# metadata["') == 2
    found = load(text)
    assert (found[key] == data).all() and found[key].dtype == data.dtype
    ast.parse(text)
    short = script(func((), both), show_meta=False)
    assert f'T.metadata["{key}"]' in short and "# metadata" not in short


def test_not_finite_constants_go_into_metadata():
    data = np.array([1.5, np.nan, np.inf], "float32")
    p = Var("p", "handle", False, ("float32", "global"))
    text = script(AllocateConst(p, "float32", (const_int(3),), data, nop()))
    assert np.array_equal(load(text)[key_of(data)], data, equal_nan=True)


def test_damaged_metadata():
    lines = dump({"k": np.arange(64, dtype="int32")})
    with pytest.raises(TirscriptError, match='the metadata "k" is damaged') as caught:
        load("\n".join([lines[0], "#   ####"]))
    assert caught.value.code == "bad-metadata"
    with pytest.raises(TirscriptError, match="damaged"):
        load(lines[0].replace("[64]", "[65]") + "\n" + "\n".join(lines[1:]))


def test_values_of_annotations():
    from tirscript.target import Target

    i = Var("i")
    A = make_buffer("A", (const_int(8),))
    stmt = loop(i, 8, nop(), annotations={
        "text": 'a "q" \\ b\nline2\t\'x\'', "n": np.int64(3), "none": None, "t": (1, "x"), "buffer": A,
        "region": A[0:4], "expr": A[0] + 1.0, "target": Target("llvm -num-cores=2"), "s": StringImm("s"),
        "inf": float("inf"), "call": Call("int32", "vscale", ()), "f": FloatImm(2.0),
    })  # fmt: skip
    line = script(stmt).split("\n")[0]
    assert line == (
        'for i in T.serial(8, annotations={"buffer": A, "call": T.vscale(), "expr": A[0] + T.float32(1), '
        '"f": T.float32(2), "inf": float("inf"), "n": 3, "none": None, "region": A[0:4], "s": "s", "t": [1, "x"], '
        '"target": T.target("llvm -num-cores=2"), "text": "a \\"q\\" \\\\ b\\nline2\\t\'x\'"}):'
    )
    keyword = ast.parse(line + " pass").body[0].iter.keywords[0].value
    values = {k.value: v for k, v in zip(keyword.keys, keyword.values, strict=True)}
    assert values["text"].value == "a \"q\" \\ b\nline2\t'x'"
