"""The dialect of TVM 0.27: its spellings, and what it lacks is refused by name.  (Read by TVM in test_tvm_cross.)"""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import pytest

from tests.script.test_print_roundtrip import HEADER, TEXTS, quiet_parse
from tirscript.diagnostics import NotYetError, TirscriptError
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import IntImm, Var, const_int
from tirscript.ir.ops import load
from tirscript.ir.stmt import BufferStore
from tirscript.script.printer import render, script

DIALECT = "tvm-0.27"


def printed(text):
    return script(quiet_parse(text), dialect=DIALECT)


def body(text, signature='O: T.Buffer((16,), "float32")'):
    """The lines of the body, without their indentation of four."""
    lines = printed(f"{HEADER}def f({signature}):\n" + "\n".join("    " + x for x in text.split("\n"))).split(
        "\n"
    )
    return [x[4:] for x in lines[4:]]


def test_blocks():
    text = """\
@T.prim_func
def f(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    T.func_attr({"tir.noalias": True, "x": 1})
    B = T.alloc_buffer((16,))
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.block_attr({"k": 1})
            B[vi] = A[vi]
"""
    assert (
        printed(text)
        == """\
# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    T.func_attr({"tirx.noalias": True, "x": 1})
    # with T.sblock("root"):
    B = T.sblock_alloc_buffer((16,))
    for i in range(16):
        with T.sblock("B"):
            vi = T.axis.spatial(16, i)
            T.reads(A[vi])
            T.writes(B[vi])
            T.sblock_attr({"k": 1})
            B[vi] = A[vi]"""
    )


def test_module():
    assert (
        script(quiet_parse(TEXTS["module"]), dialect=DIALECT)
        == """\
# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    I.module_attrs({"a": 1})
    @T.prim_func(private=True, s_tir=True)
    def g(A: T.Buffer((8,), "float32"), n: T.int32):
        A[n] = T.float32(1)

    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "exported"})
        Module.g(A.data, 3)"""
    )


def test_lets_are_flat():
    assert body(
        "with T.LetStmt(O[1]) as y:\n    O[1] = y\nfor i in range(4):\n    x: T.int32 = i * 2\n    O[x] = O[i]"
    ) == [
        "y: T.let[T.float32] = O[1]",
        "O[1] = y",
        "for i in range(4):",
        "    x: T.let[T.int32] = i * 2",
        "    O[x] = O[i]",
    ]
    # The name stays taken in what follows, for the scope is not closed.
    assert body("with T.LetStmt(O[1]) as y:\n    O[1] = y\nwith T.LetStmt(O[2]) as y:\n    O[1] = y") == [
        "y: T.let[T.float32] = O[1]",
        "O[1] = y",
        "y_1: T.let[T.float32] = O[2]",
        "O[1] = y_1",
    ]


def test_let_expressions_are_declared():
    assert body("O[0] = T.Let(x * x, where={x: O[1]})") == [
        "x = T.float32()",
        "O[0] = T.Let(x * x, where={x: O[1]})",
    ]


def test_allocations_are_buffers():
    assert body(
        'p = T.allocate([16], "float32", "shared")\nP = T.decl_buffer((4, 4), data=p, scope="shared")\nP[0, 0] = O[0]'
    ) == [
        'P = T.alloc_buffer((4, 4), scope="shared")',
        "P[0, 0] = O[0]",
    ]


def test_vectors():
    assert body("O[0:8] = O[8:16] + T.Broadcast(T.float32(1), 8)") == [
        "O[T.Ramp(0, 1, 8)] = O[T.Ramp(8, 1, 8)] + T.Broadcast(T.float32(1), 8)"
    ]


def test_return_and_target():
    assert body("T.ret(n + 1)", "n: T.int32")[0] == "return n + 1"
    text = printed(
        HEADER
        + 'def f(n: T.int32):\n    T.func_attr({"target": T.target("llvm -num-cores=2")})\n    T.evaluate(n)'
    )
    assert '    T.func_attr({"target": T.target({"kind": "llvm", "num-cores": 2})})' in text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('p = T.allocate([16], "float32", "shared")\nT.evaluate(p)', "T.allocate"),
        ('p = T.allocate_const([1, 2], "int32", [2])\nT.evaluate(p)', "T.allocate_const"),
        ('R = T.buffer_decl((8,), scope="shared")\nT.realize(R[0:8], "shared")\nR[0] = O[0]', "T.realize"),
        ("O.vstore([T.Ramp(0, 1, 4)], O[0:4], predicate=T.Broadcast(T.bool(True), 4))", "predicated stores"),
        ("O[0:4] = O.vload([T.Ramp(0, 1, 4)], predicate=T.Broadcast(T.bool(True), 4))", "predicated loads"),
        ("T.atomic_add(O.data, 3)", "T.atomic_add"),
        ("T.evaluate(T.pow(2, 3))", "T.pow of integers"),
        ("T.ptx_wait_group(0)", "T.ptx_wait_group"),
        ("T.evaluate(T.uint64(18446744073709551615))", "constants above the largest int64"),
    ],
)  # fmt: skip
def test_what_it_lacks_is_named(text, what):
    with pytest.raises(NotYetError) as caught:
        body(text)
    assert caught.value.code == "tvm-lacks"
    assert caught.value.message == f"TVM 0.27 has no {what}"


def test_lacking_fields_and_dtypes():
    b = make_buffer("b", (const_int(4), const_int(4)), axis_separators=(1,))
    with pytest.raises(NotYetError, match="axis_separators of buffers"):
        script(b, dialect=DIALECT)
    with pytest.raises(NotYetError, match="constants of dtype int4"):
        script(IntImm(3, "int4"), dialect=DIALECT)
    with pytest.raises(NotYetError, match="arrays"):
        import numpy as np

        script({"a": np.zeros(3)}, dialect=DIALECT)


def test_unknown_dialect():
    with pytest.raises(TirscriptError, match=r"did you mean `tvm-0\.27`") as caught:
        script(const_int(1), dialect="tvm-0.26")
    assert caught.value.code == "unknown-dialect"


def test_render_has_spans_in_the_dialect():
    i = Var("i")
    A = make_buffer("A", (const_int(8),), "int32")
    store = BufferStore(A, load(A, (i,)), (i,))
    r = render(store, dialect=DIALECT)
    span = r.spans[store.value]
    assert r.text[span.column : span.end_column] == "A[i]"


def test_names_do_not_hide_the_module():
    v = Var("Module")
    text = script(quiet_parse(HEADER + "def f(Module: T.int32):\n    T.evaluate(Module)"), dialect=DIALECT)
    assert "def f(Module_1: T.int32):" in text
    assert script(v) == "Module"
