"""Loops, branches, asserts, returns, calls, parallel loops; errors that name the place."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, function, load, loop, ramp, store
from tirscript.codegen.llvm import emit
from tirscript.diagnostics import AssertFailed, CodegenError, NotYetError, Source, Span
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, Broadcast, Call, Expr, GlobalVar, StringImm, Var, const_int
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AssertStmt,
    AttrStmt,
    DeclBuffer,
    Evaluate,
    IfThenElse,
    Stmt,
    While,
    seq,
)
from tirscript.runtime import set_num_threads

BREAK, CONTINUE = (Evaluate(Call("void", op, ())) for op in ("break_loop", "continue_loop"))


def ret(value: Any = None) -> Stmt:
    return Evaluate(Call("void", "ret", () if value is None else (ops.as_expr(value),)))


def span(line: int, text: str = "assert x > 0") -> Span:
    return Span(Source("kernel.py", "\n" * (line - 1) + text), line, 0, line, len(text))


def test_break_and_continue() -> None:
    out, n = buffer("O", 10, dtype="int32"), Var("n")

    def body(i: Var) -> Stmt:
        return seq(
            IfThenElse(ops.eq(i, 2), CONTINUE), IfThenElse(ops.ge(i, n), BREAK), store(out, i + 1, i)
        )  # fmt: skip

    run = build(function([out, n], loop(10, body)))
    for stop in (0, 1, 5, 10, 20):
        o = np.zeros(10, "int32")
        run(o, stop)
        assert o.tolist() == [i + 1 if i < stop and i != 2 else 0 for i in range(10)]


def test_while() -> None:
    """Collatz: the number of steps to 1."""
    a, out = buffer("A", 8, dtype="int32"), buffer("O", 8, dtype="int32")

    def body(i: Var) -> Stmt:
        x = load(a, i)
        half, triple = store(a, ops.floordiv(x, 2), i), store(a, x * 3 + 1, i)
        step = seq(IfThenElse(ops.eq(x % 2, 0), half, triple), store(out, load(out, i) + 1, i))
        return While(ops.gt(load(a, i), 1), step)

    x, o = np.array([1, 2, 3, 6, 7, 9, 27, 97], "int32"), np.zeros(8, "int32")
    build(function([a, out], loop(8, body)))(x, o)
    assert o.tolist() == [0, 1, 7, 8, 16, 19, 111, 118]


def test_while_with_break() -> None:
    out = buffer("O", 1, dtype="int32")
    body = seq(store(out, load(out, 0) + 1, 0), IfThenElse(ops.ge(load(out, 0), 7), BREAK))
    o = np.zeros(1, "int32")
    build(function([out], While(TRUE, body)))(o)
    assert o[0] == 7


@pytest.mark.parametrize(
    "dtype, value",
    [("int32", -5), ("int64", 1 << 40), ("uint8", 200), ("float32", 0.5), ("float64", 0.1), ("bool", True)],
)
def test_return_values(dtype: str, value: Any) -> None:
    out = buffer("O", 4, dtype=dtype)
    f = function(
        [out],
        IfThenElse(TRUE, ret(load(out, 2))),
        store(out, 0 if dtype != "bool" else False, 0),
        returns=dtype,
    )
    got = build(f)(np.array([0, 0, value, 0], dtype))
    assert got == value and type(got) is {"b": bool, "f": float}.get(dtype[0], int)


def test_return_gives_memory_back() -> None:
    """A return inside a scope with heap memory, many times."""
    n = Var("n")
    pointer = Var("T", "handle", False)
    t = Buffer("T", (n,), "float32", pointer)
    out = buffer("O", n)
    body = DeclBuffer(t, seq(store(t, 1.0, 0), IfThenElse(ops.gt(n, 4), ret(7)), store(out, load(t, 0), 0)))
    f = function([out], Allocate(pointer, "float32", (n,), TRUE, body), ret(3), returns="int32")
    run = build(f)
    assert [run(np.zeros(k, "float32")) for k in (1, 4, 5, 1_000_000)] == [3, 3, 7, 7]
    for _ in range(2000):
        run(np.zeros(100_000, "float32"))


def test_assert_names_the_line() -> None:
    a = buffer("A", 4)
    check = AssertStmt(ops.gt(load(a, 1), 0.0), StringImm("the second element must be positive"), span(12))
    run = build(function([a], check, store(a, 1.0, 0)))
    run(np.ones(4, "float32"))
    x = np.zeros(4, "float32")
    with pytest.raises(AssertFailed) as e:
        run(x)
    assert x[0] == 0
    assert "the second element must be positive" in str(e.value) and "kernel.py:12:1" in str(e.value)
    assert isinstance(e.value, AssertionError)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_first_failing_iteration_wins(threads: int) -> None:
    n = Var("n")
    a, out = buffer("A", n, dtype="int32"), buffer("O", n, dtype="int32")

    def body(i: Var) -> Stmt:
        first = AssertStmt(ops.ne(load(a, i), 1), StringImm("one"), span(5))
        second = AssertStmt(ops.ne(load(a, i), 2), StringImm("two"), span(6))
        return seq(first, second, store(out, 1, i))

    run = build(function([a, out], loop(n, body, "parallel")))
    set_num_threads(threads)
    try:
        for where in ([(90, 2), (97, 1)], [(3, 1), (97, 2)], [(60, 1), (59, 2), (99, 1)]):
            x, o = np.zeros(100, "int32"), np.zeros(100, "int32")
            for k, v in where:
                x[k] = v
            want = {1: "one", 2: "two"}[min(where)[1]]
            with pytest.raises(AssertFailed, match=want):
                run(x, o)
            assert o[min(where)[0]] == 0
    finally:
        set_num_threads(2)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_parallel(n: int, threads: int) -> None:
    m, scale = Var("m"), Var("s", "float32", False)
    a, out = buffer("A", m), buffer("O", m)
    body = loop(m, lambda i: store(out, load(a, i) * scale + ops.cast(i, "float32"), i), "parallel")
    run = build(function([a, out, scale], body))
    set_num_threads(threads)
    try:
        x, o = np.random.default_rng(0).normal(size=n).astype("float32"), np.zeros(n, "float32")
        for _ in range(20):
            run(x, o, 3.0)
        np.testing.assert_allclose(o, x * np.float32(3) + np.arange(n), rtol=1e-6)
    finally:
        set_num_threads(2)


def test_parallel_with_start_temporaries_and_nesting() -> None:
    """Each thread has its own temporaries; an inner parallel loop runs in its thread."""
    pointer = Var("T", "handle", False)
    t = Buffer("T", (const_int(5000),), "int32", pointer)
    out = buffer("O", 20, 5000, dtype="int32")

    def body(i: Var) -> Stmt:
        fill = loop(5000, lambda j: store(t, i * 10000 + j, j), "parallel", name="j")
        copy = loop(5000, lambda j: store(out, load(t, 4999 - j), i, j), name="j")
        return Allocate(pointer, "int32", (const_int(5000),), TRUE, DeclBuffer(t, seq(fill, copy)))

    o = np.zeros((20, 5000), "int32")
    build(function([out], loop(17, body, "parallel", low=3)))(o)
    want = np.arange(20)[:, None] * 10000 + np.arange(5000)[::-1]
    want[:3] = 0
    np.testing.assert_array_equal(o, want)


def test_thread_axes_run_one_after_the_other() -> None:
    from tirscript.ir.expr import IterVar

    out = buffer("O", 12, dtype="int32")
    tx = IterVar(Var("tx"), None, "thread", "threadIdx.x")
    launch = AttrStmt(
        tx, "thread_extent", const_int(4), loop(3, lambda i: store(out, tx.var, tx.var * 3 + i))
    )
    o = np.zeros(12, "int32")
    build(function([out], launch))(o)
    assert o.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_unrolled_hint_and_ignored_attributes() -> None:
    a, out = buffer("A", 64), buffer("O", 64)
    body = AttrStmt(
        "", "pragma_auto_unroll", const_int(16), loop(64, lambda i: store(out, load(a, i), i), "unrolled")
    )
    m = build(function([a, out], body))
    x, o = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    m(x, o)
    np.testing.assert_array_equal(o, x)
    assert "llvm.loop.unroll.count" in m.get_source("ll")


def test_hints_have_no_effect() -> None:
    a, out = buffer("A", 8), buffer("O", 8)
    assume = Evaluate(ops.call("assume", ops.gt(load(a, 0), 0.0)))
    likely = loop(8, lambda i: IfThenElse(ops.call("likely", ops.lt(i, 5)), store(out, load(a, i), i)))
    o = np.zeros(8, "float32")
    build(function([a, out], assume, Evaluate(const_int(0)), likely))(np.arange(8, dtype="float32"), o)
    assert o.tolist() == [0, 1, 2, 3, 4, 0, 0, 0]


def test_calls_between_functions() -> None:
    a, out, n = buffer("A", 4), buffer("O", 4), Var("n")
    x, y = buffer("X", 4), buffer("Y", 4)
    fails = AssertStmt(ops.ge(n, 0), StringImm("negative"), span(3))
    callee = function(
        [x, y, n], fails, loop(4, lambda i: store(y, load(x, i) + ops.cast(n, "float32"), i)), name="add"
    )
    k = Var("k")
    double = function([k], ret(k * 2), name="double", returns="int32")
    add, twice = GlobalVar("add"), GlobalVar("double")
    caller = function(
        [a, out, n := Var("n")],
        Evaluate(Call("void", add, (a.data, out.data, Call("int32", twice, (n,))))),
        name="main",
    )
    m = build(callee, double, caller)
    o = np.zeros(4, "float32")
    m(np.arange(4, dtype="float32"), o, 5)
    assert o.tolist() == [10, 11, 12, 13]
    assert m["double"](21) == 42
    with pytest.raises(AssertFailed, match="negative"):
        m(np.arange(4, dtype="float32"), o, -1)


def test_functions_of_c() -> None:
    a, out = buffer("A", 4, dtype="float64"), buffer("O", 4, dtype="float64")
    cbrt = lambda v: Call("float64", "call_pure_extern", (StringImm("cbrt"), v))  # noqa: E731
    length = Call("int64", "call_extern", (StringImm("strlen"), StringImm('four "\n')))
    size = buffer("L", 1, dtype="int64")
    f = function([a, out, size], loop(4, lambda i: store(out, cbrt(load(a, i)), i)), store(size, length, 0))
    x, o, s = np.array([1.0, 8, 27, -64]), np.zeros(4), np.zeros(1, "int64")
    build(f)(x, o, s)
    np.testing.assert_allclose(o, np.cbrt(x))
    assert s[0] == 7


def test_memory_through_pointers() -> None:
    a, out = buffer("A", 8, dtype="int32"), buffer("O", 8, dtype="int32")
    kind = Call("int32", "type_annotation", ())
    source = Call("handle", "tvm_access_ptr", (kind, a.data, const_int(2), const_int(4), const_int(1)))
    target = Call("handle", "address_of", (load(out, 1),))
    copy = Evaluate(
        Call("handle", "call_extern", (StringImm("memcpy"), target, source, ops.const(16, "int64")))
    )
    x, o = np.arange(8, dtype="int32"), np.zeros(8, "int32")
    m = build(function([a, out], copy))
    m(x, o)
    assert o.tolist() == [0, 2, 3, 4, 5, 0, 0, 0]
    x.flags.writeable = False
    m(x, o)  # read through its pointer only


def test_an_unknown_symbol_is_refused_at_build() -> None:
    call = Evaluate(Call("void", "call_extern", (StringImm("no_such_function_here"),)))
    with pytest.raises(CodegenError, match="no_such_function_here"):
        build(function([], call))


def test_symbols_of_loaded_libraries() -> None:
    value = Call("int32", "call_extern", (StringImm("abs"), const_int(-3)))
    assert build(function([], ret(value), returns="int32"))() == 3
    assert ctypes.CDLL(None).abs(-3) == 3


def test_errors_name_function_and_line() -> None:
    out = buffer("O", 4)
    bad = {
        "tvm_struct_get": Evaluate(
            Call("int32", "tvm_struct_get", (Var("h", "handle"), const_int(0), const_int(1)))
        ),
    }
    for word, statement in bad.items():
        f = function([out], loop(4, lambda i: statement.replace(span=span(7, "the line"))), name="g")
        with pytest.raises(NotYetError) as e:
            emit(IRModule({"g": f}))
        text = str(e.value)
        assert word in text and "kernel.py:7" in text and "`g`" in text


def test_what_is_not_lowered_is_refused() -> None:
    out = buffer("O", 4)
    with pytest.raises(CodegenError, match="not lowered"):
        build(function([out], loop(4, lambda i: store(out, 1.0, i), "vectorized")))
    with pytest.raises(CodegenError, match="`x` is not defined"):
        build(function([out], store(out, Var("x", "float32", False), 0)))
    with pytest.raises(CodegenError, match="parallel loop cannot be left"):
        build(function([out], loop(4, lambda i: BREAK, "parallel")))
    with pytest.raises(CodegenError, match="parallel loop cannot be left"):
        build(function([out], loop(4, lambda i: ret(), "parallel")))


def test_names_cannot_clash() -> None:
    """Functions named as C's are, parameters named as our own registers, twins, other alphabets."""
    a, b = buffer("ret", 4), buffer("ret", 4)
    f = function([a, b], loop(4, lambda i: store(b, load(a, i) + 1.0, i)), name="memcpy")
    empty = loop(4, lambda i: Evaluate(const_int(0)), name="entry")
    g = function([buffer("status", 4)], empty, name='größe "x"')
    m = build(f, g)
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    m["memcpy"](x, y)
    m['größe "x"'](x)
    np.testing.assert_array_equal(y, x + 1)


def test_deep_expressions_and_long_programs() -> None:
    a, out = buffer("A", 4, dtype="int32"), buffer("O", 4, dtype="int32")
    total: Expr = load(a, 0)
    for k in range(5000):
        total = ops.add(total, load(a, k % 4))
    o = np.zeros(4, "int32")
    build(function([a, out], store(out, total, 0)), target={"O": 0})(np.array([1, 2, 3, 4], "int32"), o)
    assert o[0] == 1 + 1250 * 10
    many = [store(out, k, k % 4) for k in range(10_000)]
    build(function([out], seq(*many)), target={"O": 0})(o)
    assert o.tolist() == [9996, 9997, 9998, 9999]


def test_debug_lines() -> None:
    n = Var("n")
    a, out = buffer("A", n), buffer("O", n)
    body = loop(n, lambda i: store(out, load(a, i) + 1.0, i, span=span(42)), "parallel").replace(
        span=span(41)
    )
    check = AssertStmt(TRUE, StringImm(""), span(40))
    m = build(function([a, out], check, body).replace(span=span(39)))
    lines = {int(n) for n in re.findall(r"\.loc\s+\d+ (\d+)", m.get_source("asm"))}
    assert {41, 42} <= lines
    assert "!dbg" not in m.get_source("ll")


def test_relu_is_one_instruction() -> None:
    """The maximum with a constant keeps nan without a comparison of its own."""
    a, out = buffer("A", 64), buffer("O", 64)
    zero = Broadcast(ops.const(0.0), 8)
    body = loop(8, lambda i: store(out, ops.maximum(load(a, ramp(i * 8, 8)), zero), ramp(i * 8, 8)))
    text = build(function([a, out], body)).get_source("asm")
    assert "maxps" in text
    assert not re.search(r"\bv?(cmp\w*|blendv?|and|andn|or)ps\b", text)
