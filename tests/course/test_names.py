"""Every name that the course's cells use, called in the way that they use it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tirscript as tvm
import tirscript.testing
from tirscript import meta_schedule as ms
from tirscript import relax, te, tir, topi
from tirscript.contrib import clang, utils
from tirscript.ir.module import IRModule
from tirscript.script import ir as I
from tirscript.script import relax as R
from tirscript.script import tir as T

NAMES = {
    "tvm": (
        "IRModule build compile nd runtime cpu cuda device register_func register_global_func "
        "get_global_func target ir tir te topi script testing contrib arith transform lower TVMError"
    ),
    "script": "ir_module from_source parse tir ir relax tirx",
    "T": (
        "prim_func Buffer handle match_buffer alloc_buffer func_attr block_attr var int32 int64 bool float32 "
        "grid serial parallel vectorized unroll thread_binding block init reads writes where axis max min "
        "cast floordiv floormod if_then_else Select exp sqrt tanh erf sigmoid evaluate call_extern "
        "tvm_load_matrix_sync tvm_mma_sync tvm_fill_fragment tvm_store_matrix_sync sblock "
        "sblock_alloc_buffer sblock_attr"
    ),
    "axis": "spatial reduce scan opaque remap S R",
    "schedule": (
        "get_block get_sblock get_loops get_child_blocks get_consumers get_producers split fuse reorder bind "
        "parallel vectorize unroll cache_read cache_write compute_at reverse_compute_at compute_inline "
        "reverse_compute_inline decompose_reduction blockize tensorize annotate unannotate "
        "sample_perfect_tile sample_categorical enter_postproc rfactor storage_align set_scope "
        "transform_layout reindex mod trace get work_on copy"
    ),
    "module": "functions get_global_var get_global_vars update_func show script from_expr",
    "function": "with_attr attrs params buffer_map body show script specialize",
    "array": "numpy asnumpy shape dtype device copyto copyfrom __dlpack__ __dlpack_device__",
    "built": "entry_name mod time_evaluator imported_modules get_source",
    "te": "placeholder compute reduce_axis sum max min Tensor create_prim_func var",
    "topi": "add transpose reshape nn",
    "nn": "dense matmul relu conv2d pool2d flatten softmax",
    "nd": "array empty NDArray",
    "runtime": "tensor Tensor empty Module NDArray",
    "tir": "Schedule TensorIntrin PrimFunc IndexMap analysis transform stmt_functor",
    "ir": "assert_structural_equal structural_equal structural_hash IRModule Range",
}


@T.prim_func
def one(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(1)


PLACES = {
    "tvm": lambda: tvm, "script": lambda: tvm.script, "T": lambda: T, "axis": lambda: T.axis,
    "schedule": lambda: tir.Schedule(one), "module": lambda: IRModule({"one": one}), "function": lambda: one,
    "array": lambda: tvm.nd.empty((2,)), "built": lambda: tvm.build(one), "te": lambda: te,
    "topi": lambda: topi, "nn": lambda: topi.nn, "nd": lambda: tvm.nd, "runtime": lambda: tvm.runtime,
    "tir": lambda: tvm.tir, "ir": lambda: tvm.ir,
}  # fmt: skip


@pytest.mark.parametrize("place", NAMES)
def test_the_names_are_there(place) -> None:
    owner = PLACES[place]()
    for name in NAMES[place].split():
        assert getattr(owner, name) is not None, f"{place}.{name}"


def test_submodules_are_attributes_without_importing_them() -> None:
    code = """
    import tirscript as tvm
    for path in ("script.tir.prim_func script.ir.ir_module tir.Schedule te.compute topi.nn.relu nd.array "
                 "runtime.tensor target.Target testing.assert_allclose contrib.utils.tempdir "
                 "contrib.clang.create_llvm ir.module.IRModule tir.schedule.BlockRV "
                 "ir.assert_structural_equal arith.Analyzer s_tir.Schedule tirx.PrimFunc "
                 "script.tirx.prim_func").split():
        at = tvm
        for part in path.split("."):
            at = getattr(at, part)
        assert at is not None, path
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_what_is_not_there_yet_imports_and_says_so() -> None:
    for use in (
        lambda: ms.tune_tir(mod=IRModule({"one": one}), target="llvm", work_dir="x"),
        lambda: relax.BlockBuilder(),
        lambda: R.function(lambda: None),
    ):
        with pytest.raises(tvm.NotYetError):
            use()


def test_declarations_in_every_spelling() -> None:
    n = 8

    @T.prim_func
    def f(a: T.handle, b: T.handle, C: T.Buffer[8, "float32"], D: T.Buffer[(2, 4), "float32"]) -> None:
        T.func_attr({"global_symbol": "f", "tir.noalias": True})
        m = T.var("int32")
        k = T.int64()
        flag = T.bool(True)
        A = T.match_buffer(a, [n], dtype="float32", align=64, offset_factor=1, scope="global")
        B = T.match_buffer(b, (m, k), "float32", strides=[T.int64(1) * k, 1], elem_offset=0)
        E = T.alloc_buffer([n], "float32")
        F = T.alloc_buffer((2, 4), dtype="float32", scope="global")
        for i in T.serial(n):
            with T.block("E"):
                T.block_attr({"note": "first"})
                vi = T.axis.S(n, i)
                T.reads(A[vi], C[vi])
                T.writes(E[vi])
                E[vi] = T.if_then_else(flag, A[vi], C[vi]) + T.float32(1)
        for i0, i1 in T.grid(2, T.int32(4)):
            with T.block("F"):
                v0 = T.axis.spatial(2, i0)
                v1 = T.axis.opaque(4, i1)
                T.where(i0 * 4 + i1 < 7)
                F[v0, v1] = T.Select(v1 > 0 and v0 != 1, E[v0 * 4 + v1], T.cast(v1, "float32"))
        for i0 in T.unroll(2):
            for i1 in T.vectorized(4):
                with T.block("D"):
                    v0, v1 = T.axis.remap("SS", [i0, i1])
                    D[v0, v1] = T.max(
                        F[v0, v1],
                        T.min(T.float32(v0), T.cast(T.floordiv(v1, 2) + T.floormod(v1, 2), "float32")),
                    )

    text = f.script()
    assert T.Buffer((4,), "float32") is not None and T.Buffer[(4,), "float32"] is not None
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), f)
    a, c = tvm.nd.array(np.arange(8, dtype="float32")), np.zeros(8, "float32")
    b, d = np.zeros((3, 5), "float32"), np.zeros((2, 4), "float32")
    for target in ("llvm", "python"):
        d[:] = 0
        tvm.build(f, target=target)["f"](a, b, c, d)
        np.testing.assert_array_equal(d.ravel()[:7], [0, 2, 3, 4, 0, 1, 2])


def test_mathematics_by_name() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 4), "float32")):
        for j in range(4):
            with T.block("A"):
                v = T.axis.spatial(4, j)
                x: T.float32 = A[5, v]
                A[0, v] = T.exp(x)
                A[1, v] = T.sqrt(x)
                A[2, v] = T.tanh(x)
                A[3, v] = T.erf(x)
                A[4, v] = T.sigmoid(x)

    from math import erf

    x = np.array([0.1, 0.5, 1.0, 2.0])
    a = np.zeros((6, 4), "float32")
    a[5] = x
    tvm.build(f)["f"](a)
    want = [np.exp(x), np.sqrt(x), np.tanh(x), [erf(v) for v in x], 1 / (1 + np.exp(-x)), x]
    np.testing.assert_allclose(a, np.array(want), rtol=1e-6)


def test_python_syntax_of_scripts() -> None:
    """Two-space indents, continuation lines, local names for what is there, string annotations, comments."""

    # fmt: off
    @T.prim_func
    def f(A: "T.Buffer((4, 4), 'float32')", B: "T.Buffer((4, 4), 'float32')") -> None:
      '''A docstring is no statement.'''
      for i, j \
          in T.grid(4, 4):
        with T.block("B"):
          vi, vj = T.axis.remap("SS", [i, j])  # a comment
          B[vi, vj] = (A[vi, vj]
                       + 1.0)
          B[vi, vj] *= 2.0
          B[vi, vj] -= A[vi, vj]
    # fmt: on
    a, b = np.ones((4, 4), "float32"), np.zeros((4, 4), "float32")
    tvm.build(f)["f"](a, b)
    assert (b == 3).all()


def test_modules_and_functions_as_objects() -> None:
    mod = IRModule({"one": one.with_attr("global_symbol", "one")})
    assert mod["one"].attrs["global_symbol"] == "one"
    assert [g.name_hint for g in mod.functions] == ["one"]
    other = one.with_attr({"global_symbol": "one", "tir.noalias": True})
    mod.update_func(mod.get_global_var("one"), other)
    assert mod["one"].attrs["tir.noalias"]
    assert tvm.IRModule.from_expr(other).get_global_vars()[0].name_hint == "one"
    assert isinstance(I.ir_module, object) and callable(T.prim_func(private=True))

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(0)

    assert hidden.attrs is None or "global_symbol" not in hidden.attrs


def test_arrays_devices_and_timing() -> None:
    for dev in (tvm.cpu(), tvm.cpu(0), tvm.device("cpu", 0), tvm.device("llvm", 0)):
        a = tvm.nd.array(np.arange(4, dtype="float32"), dev)
        assert str(a.device) == str(tvm.cpu(0))
    lib = tvm.build(one, target=tvm.target.Target("llvm"))
    timing = lib.time_evaluator("one", tvm.cpu(), number=3, repeat=2)(a)
    assert timing.mean > 0 and len(timing.results) == 2 and timing.median > 0
    lib(a)
    tvm.testing.assert_allclose(a.numpy(), np.ones(4), rtol=1e-7)
    with pytest.raises(AssertionError):
        tirscript.testing.assert_allclose(a.numpy(), np.zeros(4), rtol=1e-7)
    assert tvm.runtime.Tensor is tvm.nd.NDArray and lib.mod is lib
    b = tvm.runtime.tensor(np.ones(3)).copyto(tvm.cpu())
    assert b.dtype == "float64"
    temp = utils.tempdir()
    assert temp.relpath("x.ll").endswith("x.ll") and callable(clang.create_llvm)


def test_lower_prints_what_is_compiled() -> None:
    lowered = tvm.lower(IRModule({"one": one}), simple_mode=True)
    assert "T.block(" not in lowered.script()
    assert "define" in tvm.build(one).get_source("ll")
    assert tvm.build(one).get_source()


def test_the_newest_spellings_give_the_same_program() -> None:
    @T.prim_func(s_tir=True)
    def new(A: T.Buffer((4,), "float32")):
        B = T.sblock_alloc_buffer((4,), "float32")
        for i in range(4):
            with T.sblock("B"):
                T.sblock_attr({"x": 1})
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]

    @T.prim_func
    def old(A: T.Buffer((4,), "float32")):
        B = T.alloc_buffer((4,), "float32")
        for i in range(4):
            with T.block("B"):
                T.block_attr({"x": 1})
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]

    tvm.ir.assert_structural_equal(new, old.with_attr("global_symbol", "new"))
    text = old.script(dialect="tvm-0.27")
    assert "T.sblock(" in text and "s_tir=True" in text
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), old)
