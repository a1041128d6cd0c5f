"""TVM's public paths lead to the same objects as ours, and what is absent says so."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm


def test_tir_has_the_nodes_and_the_schedule() -> None:
    from tirscript import ir, schedule, tir

    for name in (
        "For",
        "Block",
        "BlockRealize",
        "IntImm",
        "Var",
        "Evaluate",
        "LetStmt",
        "BufferStore",
        "PrimFunc",
    ):
        assert getattr(tir, name) == getattr(ir, name)
    assert tir.Expr is tir.PrimExpr is ir.Expr and tir.Stmt is ir.Stmt
    assert tir.Schedule is schedule.Schedule is tvm.Schedule is tvm.s_tir.Schedule
    assert tir.ScheduleError is tvm.ScheduleError
    for name in ("BlockRV", "LoopRV", "Instruction", "InstructionKind", "Trace"):
        assert getattr(tir.schedule, name) is getattr(schedule, name)
    assert set(dir(tir)) >= {"For", "Schedule", "schedule", "stmt_functor"}


def test_every_name_of_the_facades_is_there() -> None:
    for facade in (tvm.tir, tvm.tir.schedule, tvm.nd):
        for name in facade.__all__:
            assert getattr(facade, name) is getattr(facade, name)


def test_unknown_names_are_attribute_errors_with_a_hint() -> None:
    with pytest.raises(AttributeError, match="did you mean `BufferStore`"):
        tvm.tir.BuferStore
    for facade in (tvm.tir.schedule, tvm.nd):
        with pytest.raises(AttributeError):
            facade.no_such_name


def test_decl_buffer() -> None:
    n = tvm.tir.Var("n", "int32")
    buffer = tvm.tir.decl_buffer((n, 4), "float16", "A", scope="shared", data_alignment=64, strides=[4, 1])
    assert (buffer.name, buffer.dtype, buffer.scope, buffer.align) == ("A", "float16", "shared", 64)
    assert buffer.shape[0] is n and buffer.shape[1].value == 4
    assert [s.value for s in buffer.strides] == [4, 1]
    assert tvm.tir.decl_buffer(8).shape[0].value == 8


def test_stmt_functor() -> None:
    x, y = tvm.tir.Var("x", "int32"), tvm.tir.Var("y", "int32")
    e = x + 1
    assert tvm.ir.structural_equal(tvm.tir.stmt_functor.substitute(e, {x: y}), y + 1, map_free_vars=False)
    seen: list[object] = []
    tvm.tir.stmt_functor.post_order_visit(e, seen.append)
    assert seen[-1] is e and seen[0] is x


def test_verify_well_formed() -> None:
    f = tvm.from_source('@T.prim_func\ndef f(A: T.Buffer((8,), "float32")):\n    A[0] = T.float32(1)\n')
    assert tvm.tir.analysis.verify_well_formed(f)
    stray = f.replace(
        body=tvm.tir.BufferStore(f.buffers[0], tvm.tir.const(1.0, "float32"), (tvm.tir.Var("i", "int32"),))
    )
    assert not tvm.tir.analysis.verify_well_formed(stray, assert_mode=False)
    with pytest.raises(tvm.WellFormedError):
        tvm.tir.analysis.verify_well_formed(stray)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda: tvm.tir.transform.StorageRewrite(), "tirscript.tir.transform.StorageRewrite"),
        (lambda: tvm.tir.analysis.verify_gpu_code(1), "tirscript.tir.analysis.verify_gpu_code"),
        (lambda: tvm.runtime.load_module("a.so"), "tirscript.runtime.load_module"),
        (lambda: tvm.te.create_schedule(1), "tirscript.te.create_schedule"),
        (lambda: tvm.tir.ProducerLoad(1, 2), "tirscript.tir.ProducerLoad"),
        (lambda: tvm.contrib.nvcc.compile_cuda, "tirscript.contrib.nvcc.compile_cuda"),
        (lambda: tvm.relax.Function(), "tirscript.relax.Function"),
    ],
)
def test_absent_names_say_so(use: object, name: str) -> None:
    with pytest.raises(tvm.NotYetError) as caught:
        use()  # type: ignore[operator]
    assert f"`{name}`" in str(caught.value)


def test_nd_arrays() -> None:
    a = tvm.nd.array(np.arange(4, dtype="float32"))
    assert isinstance(a, tvm.nd.NDArray)
    assert a.shape == (4,) and a.dtype == "float32"
    np.testing.assert_array_equal(a.numpy(), [0, 1, 2, 3])
    assert tvm.nd.empty((2, 3), "int64").numpy().shape == (2, 3)


def test_functions_of_expressions() -> None:
    x, i = tvm.tir.Var("x", "float32"), tvm.tir.Var("i")
    assert repr(tvm.tir.if_then_else(tvm.tir.all(i > 0, i < 4), tvm.tir.exp(x), 0.0)) == (
        "T.if_then_else(i > 0 and i < 4, T.exp(x), T.float32(0))"
    )
    assert repr(tvm.tir.max(x, tvm.tir.sqrt(x))) == "T.max(x, T.sqrt(x))"
    assert repr(tvm.tir.div(i, 2)) == "T.truncdiv(i, 2)"
    assert repr(tvm.tir.any(i == 1, i != 2)) == "i == 1 or i != 2"
    assert tvm.tir.SizeVar("n").dtype == "int32"
    assert tvm.tir.min_value("int8").value == -128
    for name in dir(tvm.tir):
        assert getattr(tvm.tir, name) is not None


def test_intrinsics_by_processor() -> None:
    from tirscript.tir.tensor_intrin import x86

    assert tvm.tir.tensor_intrin.x86 is x86
    assert tvm.tir.TensorIntrin.get(x86.VNNI_DOT_16x4_INTRIN) is not None
    with pytest.raises(tvm.NotYetError):
        tvm.tir.tensor_intrin.hexagon
