"""``IRBuilder``: what Python code builds is what the same script parses to."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript import tir
from tirscript.script import from_source
from tirscript.script.ir_builder import IRBuilder, IRBuilderError
from tirscript.script.ir_builder import ir as I
from tirscript.script.ir_builder import tir as T

MATMUL = """
@I.ir_module
class M:
    I.module_attrs({"version": 1})
    @T.prim_func
    def main(a: T.handle, b: T.handle, C: T.Buffer((16, 16), "float32")):
        T.func_attr({"tir.noalias": True})
        A = T.match_buffer(a, (16, 16))
        B = T.match_buffer(b, (16, 16))
        for i, j, k in T.grid(16, 16, 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def matmul() -> tvm.IRModule:
    with IRBuilder() as ib, I.ir_module():
        I.module_attrs({"version": 1})
        with T.prim_func():
            T.func_name("main")
            T.func_attr({"tirx.noalias": True})
            a, b = T.arg("a", T.handle()), T.arg("b", T.handle())
            C = T.arg("C", T.Buffer((16, 16), "float32"))
            A = IRBuilder.name("A", T.match_buffer(a, (16, 16)))
            B = IRBuilder.name("B", T.match_buffer(b, (16, 16), "float32"))
            with T.grid(16, 16, 16) as (i, j, k):
                IRBuilder.name_many(["i", "j", "k"], [i, j, k])
                with T.block("C"):
                    vi, vj, vk = IRBuilder.name_many(["vi", "vj", "vk"], T.axis.remap("SSR", [i, j, k]))
                    with T.init():
                        T.buffer_store(C, 0.0, [vi, vj])
                    T.buffer_store(C, C[vi, vj] + A[vi, vk] * B[vk, vj], [vi, vj])
    return ib.get()


def test_a_module_is_the_parsed_one() -> None:
    built, parsed = matmul(), from_source(MATMUL)
    assert tvm.ir.structural_equal(built, parsed)
    assert built.script() == parsed.script()
    assert built.attrs == {"version": 1}


def test_what_is_built_schedules_and_runs() -> None:
    sch = tir.Schedule(matmul())
    assert [sch.get(x).loop_var.name for x in sch.get_loops("C")] == ["i", "j", "k"]
    rng = np.random.default_rng(0)
    a, b = rng.random((16, 16), "float32"), rng.random((16, 16), "float32")
    c = np.zeros((16, 16), "float32")
    tvm.build(sch.mod)["main"](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


# Every construct beside the script that means the same.
STATEMENTS = {
    "if": (
        lambda A, n: _if(A, n),
        "if n > 3:\n    T.evaluate(1)\nelse:\n    A[0] = T.float32(1)",
    ),
    "while": (
        lambda A, n: _with(T.While(A[0] < T.float32(4)), lambda _: T.buffer_store(A, A[0] + 1.0, [0])),
        "while A[0] < T.float32(4):\n    A[0] = A[0] + T.float32(1)",
    ),
    "let": (
        lambda A, n: _with(T.LetStmt(n * 2), lambda v: T.evaluate(v)),
        "with T.LetStmt(n * 2) as v:\n    T.evaluate(v)",
    ),
    "assert": (
        lambda A, n: _with(T.Assert(n > 0, "positive"), lambda _: T.evaluate(0)),
        'with T.Assert(n > 0, "positive"):\n    T.evaluate(0)',
    ),
    "allocate": (
        lambda A, n: _with(T.allocate([4], "int8", "shared"), lambda p: T.evaluate(0)),
        'with T.allocate([4], "int8", "shared") as p:\n    T.evaluate(0)',
    ),
    "allocate_const": (
        lambda A, n: _with(T.allocate_const([1, 2], "int32", [2]), lambda p: T.evaluate(0)),
        'with T.allocate_const([1, 2], "int32", [2]) as p:\n    T.evaluate(0)',
    ),
    "decl_buffer": (
        lambda A, n: _with(T.decl_buffer((4,), "int32"), lambda D: T.buffer_store(D, 1, [2])),
        'with T.decl_buffer((4,), "int32") as D:\n    D[2] = 1',
    ),
    "view": (
        lambda A, n: _with(T.decl_buffer((4, 4), data=A.data), lambda D: T.buffer_store(D, 1.0, [2, 1])),
        "with T.decl_buffer((4, 4), data=A.data) as D:\n    D[2, 1] = T.float32(1)",
    ),
    "serial": (
        lambda A, n: _with(T.serial(2, n, annotations={"k": 1}), lambda i: T.evaluate(i)),
        'for i in T.serial(2, n, annotations={"k": 1}):\n    T.evaluate(i)',
    ),
    "step": (
        lambda A, n: _with(T.serial(0, 16, step=4), lambda i: T.evaluate(i)),
        "for i in range(0, 16, 4):\n    T.evaluate(i)",
    ),
    "parallel": (
        lambda A, n: _with(T.parallel(16), lambda i: T.buffer_store(A, 1.0, [i])),
        "for i in T.parallel(16):\n    A[i] = T.float32(1)",
    ),
    "vectorized": (
        lambda A, n: _with(T.vectorized(4), lambda i: T.buffer_store(A, 1.0, i)),
        "for i in T.vectorized(4):\n    A[i] = T.float32(1)",
    ),
    "unroll": (
        lambda A, n: _with(T.unroll(4), lambda i: T.evaluate(i)),
        "for i in T.unroll(4):\n    T.evaluate(i)",
    ),
    "thread_binding": (
        lambda A, n: _with(T.thread_binding(4, thread="blockIdx.x"), lambda i: T.evaluate(i)),
        'for i in T.thread_binding(4, thread="blockIdx.x"):\n    T.evaluate(i)',
    ),
    "launch_thread": (
        lambda A, n: _with(T.launch_thread(T.env_thread("threadIdx.x"), 16), lambda t: T.evaluate(t)),
        'with T.launch_thread("threadIdx.x", 16) as t:\n    T.evaluate(t)',
    ),
    "attr": (
        lambda A, n: _with(T.attr(0, "key", 1), lambda _: T.evaluate(0)),
        'with T.attr(0, "key", 1):\n    T.evaluate(0)',
    ),
    "realize": (
        lambda A, n: _with(T.realize(A[0:4], "global"), lambda _: T.evaluate(0)),
        'with T.realize(A[0:4], "global"):\n    T.evaluate(0)',
    ),
    "vector store": (
        lambda A, n: T.buffer_store(A, T.Broadcast(T.float32(1), 4), [T.Ramp(0, 1, 4)]),
        "A[0:4] = T.Broadcast(T.float32(1), 4)",
    ),
    "grid": (
        lambda A, n: _with(T.grid(4, (1, n)), lambda v: T.evaluate(v[0] + v[1])),
        "for i in range(4):\n    for j in range(1, n):\n        T.evaluate(i + j)",
    ),
    "block": (
        lambda A, n: _block(A, n),
        """with T.block("b"):
    v = T.axis.spatial(16, n)
    w = T.axis.reduce((2, 6), 3)
    T.where(n < 3)
    T.reads(A[v])
    T.writes(A[0:2])
    T.block_attr({"a": 1})
    S = T.alloc_buffer((4,), "int32", scope="shared")
    W = T.match_buffer(A[0:4], (4,))
    T.evaluate(0)""",
    ),
}  # fmt: skip


def _with(frame: object, body: object) -> None:
    with frame as value:  # type: ignore[attr-defined]
        body(value)  # type: ignore[operator]


def _if(A: tir.Buffer, n: tir.Var) -> None:
    with T.If(n > 3):
        with T.Then():
            T.evaluate(1)
        with T.Else():
            T.buffer_store(A, 1.0, 0)


def _block(A: tir.Buffer, n: tir.Var) -> None:
    with T.block("b"):
        v = T.axis.spatial(16, n)
        T.axis.reduce((2, 6), 3)
        T.where(n < 3)
        T.reads(A[v])
        T.writes(A[0:2])
        T.block_attr({"a": 1})
        T.alloc_buffer((4,), "int32", scope="shared")
        T.match_buffer(A[0:4])
        T.evaluate(0)


@pytest.mark.parametrize("what", STATEMENTS)
def test_statements(what: str) -> None:
    build, text = STATEMENTS[what]
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((16,), "float32"))
        n = T.arg("n", T.int32())
        build(A, n)
    body = "\n".join("    " + line for line in text.splitlines())
    parsed = from_source(
        f'@T.prim_func(check_well_formed=False)\ndef f(A: T.Buffer((16,), "float32"), n: T.int32):\n{body}\n'
    )
    tvm.ir.assert_structural_equal(ib.get(), parsed)


def test_returns_and_privacy() -> None:
    with IRBuilder() as ib, T.prim_func(is_private=True):
        T.func_name("f")
        T.func_ret(tvm.ir.PrimType("int32"))
        n = T.arg("n", T.int32)
        T.evaluate(T.ret(n))
    f = ib.get()
    assert f.ret_type == "int32" and "global_symbol" not in f.attrs


def test_modules_with_declarations() -> None:
    with IRBuilder() as ib, I.ir_module():
        callee = I.decl_function("callee")
        with T.prim_func():
            T.func_name("main")
            A = T.arg("A", T.Buffer((4,), "int32"))
            T.evaluate(tir.Call("void", callee, [A]))
        with T.prim_func(is_private=True):
            T.func_name("callee")
            B = T.arg("B", T.Buffer((4,), "int32"))
            T.buffer_store(B, 7, [1])
    mod = ib.get()
    assert mod.names() == ["main", "callee"]
    a = np.zeros(4, "int32")
    tvm.build(mod)["main"](a)
    assert a.tolist() == [0, 7, 0, 0]


def test_a_statement_alone() -> None:
    with IRBuilder() as ib, T.serial(8) as i:
        T.evaluate(i)
    assert isinstance(ib.get(), tir.For)
    with IRBuilder() as ib:
        T.evaluate(1)
        T.evaluate(2)
    assert isinstance(ib.get(), tir.SeqStmt)


def test_python_decides_while_building() -> None:
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((3,), "int32"))
        for k in range(3):
            T.buffer_store(A, k * k, [k])
    a = np.zeros(3, "int32")
    tvm.build(ib.get())["f"](a)
    assert a.tolist() == [0, 1, 4]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: T.func_name("f"), "outside of T.prim_func()"),
        (lambda: T.axis.spatial(4, 1), "outside of T.block(...)"),
        (lambda: T.init().__enter__(), "directly inside T.block(...)"),
        (lambda: T.Then().__enter__(), "directly inside T.If(...)"),
        (lambda: T.alloc_buffer((4,)), "outside of a function"),
        (lambda: T.thread_binding(4, thread="thready"), "no thread axis"),
        (lambda: T.buffer_store(1, 2, 3), "no buffer"),
        (lambda: T.evaluate(T.axis), "no expression"),
        (lambda: None, "nothing was made"),
        (lambda: T.arg("x", T.int32()), "outside of T.prim_func()"),
        (lambda: T.axis.remap("SQ", [1, 2]), "no kinds of 2 axes"),
    ],
)
def test_misplaced(use: object, said: str) -> None:
    with pytest.raises(tvm.TirscriptError) as caught:
        with IRBuilder() as ib:
            use()  # type: ignore[operator]
        ib.get()
    assert said in str(caught.value)


def test_faults_of_structure() -> None:
    with pytest.raises(IRBuilderError, match="there is no builder"):
        T.evaluate(0)
    with pytest.raises(IRBuilderError, match="twice"), IRBuilder(), T.block("b"):
        T.reads()
        T.reads()
    with pytest.raises(IRBuilderError, match="needs a name"), IRBuilder(), I.ir_module(), T.prim_func():
        T.evaluate(0)
    with pytest.raises(IRBuilderError, match="declared and not defined"), IRBuilder(), I.ir_module():
        I.decl_function("f")
    with pytest.raises(IRBuilderError, match=r"has no T\.Then"), IRBuilder(), T.If(tir.Var("n", "int32") > 0):
        pass
    # A failed frame leaves nothing open.
    with IRBuilder() as ib:
        with pytest.raises(ValueError, match="mine"), T.serial(4):
            raise ValueError("mine")
        T.evaluate(1)
    assert isinstance(ib.get(), tir.Evaluate)


def test_names() -> None:
    from tirscript.script.ir_builder import tirx

    assert tirx is T
    for name in T.__all__:
        assert getattr(T, name) is not None
    with pytest.raises(AttributeError, match="did you mean `serial`"):
        T.seriel
    assert not IRBuilder.is_in_scope()
    with IRBuilder() as ib:
        assert IRBuilder.current() is ib and IRBuilder.is_in_scope()


def test_names_of_dtypes_do_not_stand_in_for_pythons() -> None:
    """`T.bool` is the dtype; the module's own functions go on with Python's."""
    assert T.bool is tvm.script.tir.bool
    assert matmul().attrs == {"version": 1}
