"""The names that TVM's classic programs and tests import (beside those of the course): each is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tirscript as tvm
import tirscript.testing
from tirscript import tir
from tirscript.ir.module import IRModule
from tirscript.script import tir as T
from tirscript.script import tirx as TX


def function(body: str) -> Any:
    return tvm.script.from_source(f'@T.prim_func\ndef f(A: T.Buffer((16,), "float32")):\n    {body}\n')


@T.prim_func
def product(
    A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")
):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


# ---- table: two spellings

PAIRS: list[tuple[str, str]] = [
    ("script.tir", "script.tirx"),
    ("script.tir.block", "script.tirx.block"),
    ("tir.Schedule", "s_tir.Schedule"),
    ("tir.TensorIntrin", "s_tir.TensorIntrin"),
    ("tir", "tirx"),
    ("tir", "s_tir"),
    ("tir.transform", "s_tir.transform"),
    ("tir.transform", "tirx.transform"),
    ("tir.analysis", "s_tir.analysis"),
    ("tir.stmt_functor", "tirx.stmt_functor"),
    ("tir.schedule", "s_tir.schedule"),
    ("tir.schedule.BlockRV", "s_tir.schedule.SBlockRV"),
    ("tir.Block", "s_tir.SBlock"),
    ("tir.BlockRealize", "s_tir.SBlockRealize"),
    ("nd.array", "runtime.tensor"),
    ("nd.NDArray", "runtime.Tensor"),
    ("nd.empty", "runtime.empty"),
    ("register_func", "register_global_func"),
    ("build", "compile"),
    ("transform", "ir.transform"),
    ("instrument", "ir.instrument"),
    ("tir.analysis.get_block_access_region", "s_tir.analysis.get_sblock_access_region"),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_two_spellings_are_one(old: str, new: str) -> None:
    def resolve(path: str) -> Any:
        value: Any = tvm
        for part in path.split("."):
            value = getattr(value, part)
        return value

    assert resolve(old) is resolve(new)


def test_spellings_of_scripts_print_as_the_first() -> None:
    new = tvm.script.from_source(
        """
@T.prim_func
def f(A: T.Buffer((16,), "float32")):
    T.func_attr({"tirx.noalias": True})
    B = T.sblock_alloc_buffer((16,), "float32")
    for i in range(16):
        with T.sblock("B"):
            v = T.axis.spatial(16, i)
            T.sblock_attr({"k": 1})
            B[v] = A[v]
"""
    )
    text = new.script()
    for word in ("T.block(", "T.block_attr(", "T.alloc_buffer(", '"tir.noalias"'):
        assert word in text
    assert "sblock" not in text and "tirx" not in text
    assert TX is T


# ---- what classic programs and tests import


IMPORTS = [
    "from tirscript.script import tir as T, ir as I, relax as R, from_source",
    "from tirscript.tir import Schedule, ScheduleError, PrimFunc, IndexMap, Evaluate, Var, const",
    "from tirscript.tir import IntImm, For",
    "from tirscript.tir import Block, LetStmt, BufferStore, decl_buffer, analysis, transform",
    "from tirscript.tir.schedule.testing import verify_trace_roundtrip",
    "from tirscript.tir.schedule.testing import assert_structural_equal_ignore_global_symbol",
    "from tirscript.s_tir.schedule.testing import verify_trace_roundtrip",
    "from tirscript.tir.schedule import BlockRV, LoopRV, Instruction, InstructionKind, Trace",
    "from tirscript.tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN",
    "from tirscript.tir.tensor_intrin.arm_cpu import *",
    "from tirscript.tir.tensor_intrin.cuda import get_wmma_intrin_group",
    "from tirscript import IRModule",
    "from tirscript.ir import assert_structural_equal, structural_equal, structural_hash, IRModule",
    "from tirscript.ir import Range, Op",
    "from tirscript.ir import PointerType, PrimType, TupleType",
    "from tirscript.testing import main, parameter, parameters, fixture, assert_allclose, CompareBeforeAfter",
    "from tirscript.testing import requires_llvm, requires_cuda, requires_gpu, requires_package",
    "from tirscript.target import Target",
    "from tirscript.transform import PassContext, Sequential",
    "from tirscript.ir.transform import PassContext, Sequential, module_pass",
    "from tirscript import build, compile, cpu, cuda, TVMError, register_func",
    "from tirscript.arith import Analyzer",
    "from tirscript import dlight as dl",
    "from tirscript.tir.expr import IntImm, Var, BufferLoad, Call",
    "from tirscript.tir.stmt import For, ForKind, BufferStore, SeqStmt",
    "from tirscript.tir.buffer import Buffer, decl_buffer",
    "from tirscript.tir.function import PrimFunc, IndexMap, TensorIntrin",
    "from tirscript.tir.op import exp, call_extern, if_then_else",
    "from tirscript.tirx.stmt_functor import post_order_visit, ir_transform",
    "from tirscript.script.ir_builder import IRBuilder, ir as I, tir as T",
    "from tirscript.script.ir_builder.tirx import prim_func",
    "from tirscript.error import TVMError, InternalError, DiagnosticError",
    "from tirscript.tir.ir_builder import create",
    "from tirscript.arith import detect_iter_map, IterMapLevel, IntervalSet, detect_linear_equation",
    "from tirscript.sym import Analyzer",
    "from tirscript.s_tir.analysis import get_sblock_access_region",
    "from tirscript.s_tir.transform import LowerInitBlock, ConvertBlocksToOpaque",
    "from tirscript.ir.instrument import PassTimingInstrument, pass_instrument",
    "from tirscript.runtime import convert, const, Module, DataType",
]


@pytest.mark.parametrize("line", IMPORTS)
def test_import_lines_of_classic_programs(line: str) -> None:
    scope: dict[str, Any] = {}
    exec(line, scope)
    assert len(scope) > 1


def _roundtrip() -> None:
    from tirscript.tir.schedule.testing import (
        assert_structural_equal_ignore_global_symbol,
        verify_trace_roundtrip,
    )

    sch = tir.Schedule(product, debug_mask="all")
    sch.split(sch.get_loops("C")[0], [None, 4])
    verify_trace_roundtrip(sch, mod=product)
    assert_structural_equal_ignore_global_symbol(product.with_attr("global_symbol", "g"), product)
    sch_rv = sch.get_block("C")
    assert isinstance(sch_rv, tir.schedule.BlockRV)
    assert isinstance(sch.get_loops(sch_rv)[0], tir.schedule.LoopRV)
    inst = sch.trace.insts[0]
    assert isinstance(sch.trace, tir.schedule.Trace) and isinstance(inst, tir.schedule.Instruction)
    assert isinstance(inst.kind, tir.schedule.InstructionKind)


def _errors() -> None:
    with pytest.raises(tvm.tir.ScheduleError):
        tir.Schedule(product).get_block("nothing")
    assert issubclass(tvm.tir.ScheduleError, tvm.TVMError)
    with pytest.raises(tvm.DiagnosticError):
        function("A[j] = T.float32(1)")


def _structure() -> None:
    x = tir.Var("x", "int32")
    assert tvm.ir.structural_equal(x + 1, x + 1) and not tvm.ir.structural_equal(x + 1, x + 2)
    assert tvm.ir.structural_hash(function("A[0] = 0.0")) == tvm.ir.structural_hash(function("A[0] = 0.0"))
    r = tvm.ir.Range(2, 10)
    assert (int(r.min), int(r.extent)) == (2, 8) and isinstance(r, tvm.ir.Range)
    assert tvm.ir.Op.get("tir.exp") is tvm.ir.Op.get("tirx.exp")
    assert tvm.ir.PointerType(tvm.ir.PrimType("float32"), "shared").storage_scope == "shared"
    assert (
        tir.Var("p", tvm.ir.PointerType(tvm.ir.PrimType("int8"), "local")).type_annotation.storage_scope
        == "local"
    )
    assert tvm.ir.TupleType([tvm.ir.PrimType("int32")]).fields[0].dtype == "int32"


def _index_map() -> None:
    m = tir.IndexMap.from_func(lambda i, j: (j, i), index_dtype="int32")
    assert [int(n) for n in m.map_shape([4, 8])] == [8, 4]
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    assert tir.IndexMap([x, y], [y, x]).is_equivalent_to(m)


def _passes() -> None:
    calls: list[str] = []

    @tvm.transform.module_pass(opt_level=0)
    def seen(mod: Any, ctx: Any) -> Any:
        calls.append(type(ctx).__name__)
        return mod

    seq = tvm.transform.Sequential([seen, tvm.tir.transform.Simplify()])
    with tvm.transform.PassContext(opt_level=3, config={"tir.disable_vectorize": True}):
        out = seq(IRModule({"f": function("A[0 + 1] = T.float32(1)")}))
    assert calls == ["PassContext"] and out["f"].body.indices[0] == 1


def _analyzer() -> None:
    cx = tvm.arith.Analyzer()
    i, n = tir.Var("i", "int32"), tir.Var("n", "int32")
    cx.bind(i, tvm.ir.Range(0, 8))
    assert cx.simplify((i * 4 + 3) // 4) is i
    assert cx.rewrite_simplify(i + n - i) is n and cx.canonical_simplify(i + n - n) is i
    bound = cx.const_int_bound(i * 2 + 1)
    assert (bound.min_value, bound.max_value) == (1, 15)
    m = cx.modular_set(i * 4 + 3)
    assert (m.coeff, m.base) == (4, 3)
    values = cx.int_set(i + n, {i: tvm.arith.IntervalSet(0, 7)})
    assert tvm.ir.structural_equal(values.min_value, n) and tvm.ir.structural_equal(values.max_value, n + 7)
    assert cx.can_prove(i < 8) and cx.can_prove_greater_equal(i, 0) and cx.can_prove_less(i, 8)
    assert cx.can_prove_equal(i + i, i * 2)
    with cx.constraint_scope(n > 4):
        assert cx.can_prove(n > 3)
    assert not cx.can_prove(n > 3)
    cx.update(n, tvm.arith.ConstIntBound(1, 4))
    assert cx.can_prove(n < 5)


def _absent_rooms() -> None:
    from tirscript.script import relax as R

    for use in (
        lambda: R.function,
        lambda: tvm.relax.Function,
        lambda: tvm.meta_schedule.tune_tir,
    ):
        with pytest.raises(tvm.NotYetError):
            use()


SECTION: dict[str, Callable[[], Any]] = {
    "tir.schedule.testing": _roundtrip, "ScheduleError": _errors, "ir": _structure, "IndexMap": _index_map,
    "transform": _passes, "arith.Analyzer": _analyzer, "rooms that are not here": _absent_rooms,
}  # fmt: skip


@pytest.mark.parametrize("what", SECTION)
def test_names_of_classic_programs(what: str) -> None:
    SECTION[what]()


def test_unknown_names_are_answered_with_the_nearest() -> None:
    for module, wrong, right in (
        (tvm, "bild", "build"), (tvm.tir, "Schedul", "Schedule"), (tvm.ir, "IRModul", "IRModule"),
        (tvm.nd, "aray", "array"), (tvm.te, "placeholdr", "placeholder"),
        (tvm.transform, "PasContext", "PassContext"),
        (tvm.tir.transform, "Simplfy", "Simplify"), (tvm.arith, "Analyser", "Analyzer"),
        (tvm.testing, "assert_alclose", "assert_allclose"),
        (tvm.tir.analysis, "verify_wel_formed", "verify_well_formed"),
        (tvm.tir.stmt_functor, "substitut", "substitute"), (tvm.runtime, "tensr", "tensor"),
        (tvm.target, "Targt", "Target"), (tvm.contrib, "clan", "clang"),
        (tvm.tir.schedule, "LopRV", "LoopRV"),
        (tvm.script, "from_sorce", "from_source"), (tvm.tir.op, "call_exter", "call_extern"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=f"did you mean `{right}`"):
            getattr(module, wrong)


def test_methods_of_objects() -> None:
    """What TVM's objects offer beside the names of modules."""
    f = function("A[0] = 1.0")
    lib = tvm.build(f)
    assert lib.type_key == "llvm" and lib.is_runnable and lib.implements_function("f")
    assert not lib.implements_function("g")
    assert hasattr(lib, "f") and not hasattr(lib, "g")
    with pytest.raises(tvm.NotYetError, match=r"Module\.export_library"):
        lib.export_library("f.so")
    with pytest.raises(AttributeError, match="did you mean `get_source`"):
        lib.get_sorce()
    mod = IRModule({"f": f}, {"k": 1})
    assert mod.get_attr("k") == 1 and mod.get_attr("l") is None
    assert mod.with_attrs({"l": 2}).without_attr("k").attrs == {"l": 2} and mod.attrs == {"k": 1}
    copy = mod.clone()
    copy.update(IRModule({"g": f}))
    copy.remove("f")
    assert copy.names() == ["g"] and mod.names() == ["f"] and mod.global_infos == {}
    assert f.with_attrs({"a": 1, "b": 2}).attrs["b"] == 2 and f.same_as(f)
    dev = tvm.cpu(0)
    assert dev.max_threads_per_block is None and not hasattr(dev, "nothing")
    array = tvm.nd.empty((2,))
    assert array.ctx == dev and array.same_as(array)
    target = tvm.target.Target("cuda -arch=sm_80")
    assert target.keys == ["cuda", "gpu"] and target.get_target_device_type() == 2 and target.libs == []
    assert tvm.target.Target.from_device(dev).kind == "llvm" and str(tvm.target.cuda(arch="sm_86")).endswith(
        "sm_86"
    )
    assert tvm.target.list_tags() and "llvm" in tvm.target.list_kinds()
    made, host = tvm.target.Target.canon_target_and_host("cuda", "llvm")
    assert made is not None and str(made.host) == str(host) == "llvm"
    assert tvm.runtime.enabled("llvm") and tvm.runtime.DataType("int8x4").lanes == 4
    assert [int(x) for x in tvm.runtime.convert([1, 2])] == [1, 2] and tvm.DataType("float32") == "float32"
