"""``tir.ir_builder``: what is built is what the script of it parses to, and runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as tvm
from tirscript import te, tir
from tirscript.script import from_source


def built(make: Any) -> Any:
    """The body that ``make(ib, a, n)`` builds, as a function of ``A`` and ``n``, and the function's text."""
    buffer = tir.decl_buffer((16,), "float32", name="A")
    n = tir.Var("n", "int32")
    ib = tir.ir_builder.create()
    make(ib, ib.buffer_ptr(buffer), n)
    return tir.PrimFunc([buffer, n], ib.get(), None, None, {"global_symbol": "f"})


def parsed(body: str) -> Any:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return from_source(f'@T.prim_func\ndef f(A: T.Buffer((16,), "float32"), n: T.int32):\n{lines}\n')


def loops(ib: Any, a: Any, n: Any) -> None:
    with ib.for_range(0, 4, name="i") as i:
        with ib.for_range(1, 4, name="j", kind="vectorize") as j:
            a[i * 4 + j] = a[i * 4 + j] + 1.0
        with ib.for_range(0, 4, kind="unroll") as k, ib.for_range(0, n, kind="parallel") as p:
            ib.emit(tir.call_extern("int32", "g", k + p))


def conditions(ib: Any, a: Any, n: Any) -> None:
    with ib.if_scope(ib.likely(n > 3)):
        a[0] = 1
    with ib.else_scope():
        a[0] = tir.Cast("float32", n)
    with ib.while_loop(a[1] < 3.0):
        a[1] = a[1] + 1.0


def memory(ib: Any, a: Any, n: Any) -> None:
    with ib.new_scope():
        b = ib.allocate("float32", (4,), name="b", scope="local")
        x = ib.let("x", n * 2)
        ib.scope_attr(tir.IntImm("int32", 0), "key", 1)
        b[x] = a[x]
    a[2] = 5.0


CASES = {
    "loops": (
        loops,
        """
for i in range(4):
    for j in T.vectorized(1, 4):
        A[i * 4 + j] = A[i * 4 + j] + T.float32(1)
    for k in T.unroll(4):
        for p in T.parallel(n):
            T.call_extern("int32", "g", k + p)
""",
    ),
    "conditions": (
        conditions,
        """
if T.likely(n > 3):
    A[0] = T.float32(1)
else:
    A[0] = T.Cast("float32", n)
while A[1] < T.float32(3):
    A[1] = A[1] + T.float32(1)
""",
    ),
    "memory": (
        memory,
        """
with T.decl_buffer((4,), "float32", scope="local") as b:
    with T.LetStmt(n * 2) as x:
        with T.attr(0, "key", 1):
            b[x] = A[x]
A[2] = T.float32(5)
""",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_programs(what: str) -> None:
    make, text = CASES[what]
    tvm.ir.assert_structural_equal(built(make), parsed(text))


def test_one_index_counts_the_elements() -> None:
    m = tir.decl_buffer((2, 3, 4), "int32", name="M")
    ib = tir.ir_builder.create()
    p = ib.buffer_ptr(m)
    with ib.for_range(0, 24, name="i") as i:
        p[i] = i * 10
    p[1, 2, 3] = p[1, 2, 3] + 1
    f = tir.PrimFunc([m], ib.get(), None, None, {"global_symbol": "f"})
    out = np.zeros((2, 3, 4), "int32")
    tvm.build(f)(out)
    want = np.arange(24).reshape(2, 3, 4) * 10
    want[1, 2, 3] += 1
    np.testing.assert_array_equal(out, want)


def test_extern_tensors() -> None:
    """A prefix sum, as programs of tensor expressions write it."""
    A = te.placeholder((10,), name="A", dtype="float32")

    def scan(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        b[0] = a[0]
        with ib.for_range(1, 10) as i:
            b[i] = b[i - 1] + a[i]
        return ib.get()

    B = te.extern((10,), [A], scan, dtype="float32", name="B")
    a = np.arange(10, dtype="float32")
    b = np.zeros(10, "float32")
    tvm.build(te.create_prim_func([A, B]))(a, b)
    np.testing.assert_array_equal(b, np.cumsum(a))


def test_pointers() -> None:
    ib = tir.ir_builder.create()
    p = ib.pointer("float32", name="p")
    p[3] = 1.0
    stmt = ib.get()
    assert p.dtype == "float32" and p.asobject().name == "p" and stmt.buffer.data is p.asobject()
    assert isinstance(ib.get(), tir.Evaluate)


def test_mistakes() -> None:
    ib = tir.ir_builder.create()
    with pytest.raises(tvm.TirscriptError, match="right after an if_scope"):
        ib.else_scope()
    with pytest.raises(tvm.TirscriptError, match="no kind of loop"):
        ib.for_range(0, 4, kind="fast")
    with pytest.raises(tvm.TirscriptError, match="a statement is wanted"):
        ib.emit(3)
    scope = ib.for_range(0, 4)
    scope.__enter__()
    with pytest.raises(tvm.TirscriptError, match="still open"):
        ib.get()
    with pytest.raises(ValueError, match="mine"), ib.for_range(0, 4):
        raise ValueError("mine")
    scope.__exit__(None, None, None)
    assert isinstance(ib.get(), tir.For)
    assert tvm.tirx.ir_builder is tir.ir_builder is tvm.s_tir.ir_builder
