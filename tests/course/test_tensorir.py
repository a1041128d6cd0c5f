"""The case study of one program in three forms: NumPy, loops in Python, and TensorIR, scheduled."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript import te
from tirscript.ir.module import IRModule
from tirscript.script import tir as T

N = 64
dtype = "float32"


@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def mm_clip(
        A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
    ):
        T.func_attr({"global_symbol": "mm_clip", "tir.noalias": True})
        Y = T.alloc_buffer((64, 64), dtype="float32")
        for i, j, k in T.grid(64, 64, 64):
            with T.block("Y"):
                vi = T.axis.spatial(64, i)
                vj = T.axis.spatial(64, j)
                vk = T.axis.reduce(64, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(64, 64):
            with T.block("C"):
                vi = T.axis.spatial(64, i)
                vj = T.axis.spatial(64, j)
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


@tvm.script.ir_module
class Concise:
    @T.prim_func
    def mm_clip(A: T.Buffer((64, 64), "float32"),
                B: T.Buffer((64, 64), "float32"),
                C: T.Buffer((64, 64), "float32")):  # fmt: skip
        T.func_attr({"global_symbol": "mm_clip", "tir.noalias": True})
        Y = T.alloc_buffer((64, 64), dtype="float32")
        for i, j, k in T.grid(64, 64, 64):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(64, 64):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


RNG = np.random.default_rng(1)
a_np = RNG.standard_normal((N, N), dtype=dtype)
b_np = RNG.standard_normal((N, N), dtype=dtype)
c_want = np.maximum(a_np @ b_np, 0)


def loops_by_hand(A, B, C):
    Y = np.empty((N, N), dtype="float32")
    for i in range(N):
        for j in range(N):
            for k in range(0, N, 16):
                if k == 0:
                    Y[i, j] = 0
                Y[i, j] += A[i, k : k + 16] @ B[k : k + 16, j]
    for i in range(N):
        for j in range(N):
            C[i, j] = max(Y[i, j], 0)


def run(mod, name="mm_clip", target="llvm"):
    a_nd, b_nd = tvm.nd.array(a_np), tvm.nd.array(b_np)
    c_nd = tvm.nd.empty((N, N), dtype="float32")
    rt_lib = tvm.build(mod, target=target)
    func = rt_lib[name]
    func(a_nd, b_nd, c_nd)
    np.testing.assert_allclose(c_nd.numpy(), c_want, rtol=1e-4, atol=1e-4)
    return rt_lib, (a_nd, b_nd, c_nd)


def test_python_loops_give_the_same() -> None:
    c = np.empty((N, N), dtype=dtype)
    loops_by_hand(a_np, b_np, c)
    np.testing.assert_allclose(c, c_want, rtol=1e-4, atol=1e-4)


def test_axes_one_by_one_or_remapped() -> None:
    tvm.ir.assert_structural_equal(MyModule, Concise)


def test_axes_and_blocks_can_be_asked_about() -> None:
    func = MyModule["mm_clip"]
    assert [func.buffer_map[p].name for p in func.params] == ["A", "B", "C"]
    sch = tvm.tir.Schedule(MyModule)
    block = sch.get(sch.get_block("Y"))
    assert [v.var.name for v in block.iter_vars] == ["vi", "vj", "vk"]
    assert [str(r.buffer.name) for r in block.reads] == ["A", "B"]
    assert [sch.get(x).loop_var.name for x in sch.get_loops("Y")] == ["i", "j", "k"]


@tvm.script.ir_module
class Cut:
    @T.prim_func
    def mm_clip(
        A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
    ):
        T.func_attr({"global_symbol": "mm_clip", "tir.noalias": True})
        Y = T.alloc_buffer((64, 64))
        for i, j_0 in T.grid(64, 16):
            for k, j_1 in T.grid(64, 4):
                with T.block("Y"):
                    vi = T.axis.spatial(64, i)
                    vj = T.axis.spatial(64, j_0 * 4 + j_1)
                    vk = T.axis.reduce(64, k)
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(64, i)
                    vj = T.axis.spatial(64, j_0 * 4 + ax0)
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


@tvm.script.ir_module
class CutAndReset:
    @T.prim_func
    def mm_clip(
        A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
    ):
        T.func_attr({"global_symbol": "mm_clip", "tir.noalias": True})
        Y = T.alloc_buffer((64, 64))
        for i, j_0 in T.grid(64, 16):
            for j_1_init in range(4):
                with T.block("Y_init"):
                    vi = T.axis.spatial(64, i)
                    vj = T.axis.spatial(64, j_0 * 4 + j_1_init)
                    Y[vi, vj] = T.float32(0)
            for k, j_1 in T.grid(64, 4):
                with T.block("Y_update"):
                    vi = T.axis.spatial(64, i)
                    vj = T.axis.spatial(64, j_0 * 4 + j_1)
                    vk = T.axis.reduce(64, k)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(64, i)
                    vj = T.axis.spatial(64, j_0 * 4 + ax0)
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


def test_the_case_study_schedule_gives_these_programs() -> None:
    sch = tvm.tir.Schedule(MyModule)
    block_Y = sch.get_block("Y", func_name="mm_clip")
    i, j, k = sch.get_loops(block_Y)
    j0, j1 = sch.split(j, factors=[None, 4])
    sch.reorder(j0, k, j1)
    block_C = sch.get_block("C", "mm_clip")
    sch.reverse_compute_at(block_C, j0)
    tvm.ir.assert_structural_equal(sch.mod, Cut)
    sch.decompose_reduction(block_Y, k)
    tvm.ir.assert_structural_equal(sch.mod, CutAndReset)
    run(sch.mod)
    run(sch.mod, target="python")


def transform(mod, jfactor):
    sch = tvm.tir.Schedule(mod)
    block_Y = sch.get_block("Y", func_name="mm_clip")
    i, j, k = sch.get_loops(block_Y)
    j0, j1 = sch.split(j, factors=[None, jfactor])
    sch.reorder(j0, k, j1)
    block_C = sch.get_block("C", "mm_clip")
    sch.reverse_compute_at(block_C, j0)
    return sch.mod


@pytest.mark.parametrize("jfactor", [2, 8, 32, 5])
def test_one_parameter_many_programs(jfactor) -> None:
    mod_transformed = transform(MyModule, jfactor)
    rt_lib_transformed, arguments = run(mod_transformed)
    f_timer = rt_lib_transformed.time_evaluator("mm_clip", tvm.cpu(), number=2, repeat=2)
    result = f_timer(*arguments)
    assert 0 < result.mean < 10 and len(result.results) == 2
    assert "%g" % result.mean  # noqa: UP031


def test_timing_with_default_arguments() -> None:
    rt_lib, arguments = run(MyModule)
    assert rt_lib.time_evaluator("mm_clip", tvm.cpu())(*arguments).mean > 0
    assert rt_lib.time_evaluator("mm_clip", tvm.device("llvm", 0), number=1)(*arguments).median > 0
    assert type(arguments[2]) is tvm.nd.NDArray
    assert str(arguments[2].device) == str(tvm.cpu(0)) and arguments[2].dtype == "float32"
    assert arguments[2].shape == (64, 64)


def test_tensor_expressions_of_the_case_study() -> None:
    A = te.placeholder((N, N), "float32", name="A")
    B = te.placeholder((N, N), "float32", name="B")
    k = te.reduce_axis((0, N), "k")
    Y = te.compute((N, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="Y")
    C = te.compute((N, N), lambda i, j: te.max(Y[i, j], 0), name="C")
    te_func = te.create_prim_func([A, B, C]).with_attr({"global_symbol": "mm_clip"})
    MyModuleFromTE = IRModule({"mm_clip": te_func})
    tvm.ir.assert_structural_equal(MyModuleFromTE, MyModule)
    run(MyModuleFromTE)


def test_tensor_expressions_of_any_shape() -> None:
    def te_matmul(A: te.Tensor, B: te.Tensor) -> te.Tensor:
        assert A.shape[1] == B.shape[0]
        n, m = A.shape[0], B.shape[1]
        k = te.reduce_axis((0, A.shape[1]), name="k")
        return te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="matmul")

    def te_relu(A: te.Tensor) -> te.Tensor:
        return te.compute(A.shape, lambda *i: te.max(A(*i), 0), name="relu")

    A = te.placeholder((N, N), name="A", dtype="float32")
    B = te.placeholder((N, N), name="B", dtype="float32")
    C = te_matmul(A, B)
    D = te_relu(C)
    run(IRModule({"mm_clip": te.create_prim_func([A, B, D]).with_attr("global_symbol", "mm_clip")}))
    X = te.placeholder((2, 3, 4), name="X", dtype="float32")
    func = te.create_prim_func([X, te_relu(X)])
    x, y = RNG.standard_normal((2, 3, 4), dtype="float32"), np.empty((2, 3, 4), "float32")
    tvm.build(func)["main"](x, y)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert "T.grid(2, 3, 4)" in func.script()


def test_a_block_may_name_a_loop_that_it_does_not_fill() -> None:
    """A domain that the loop does not match is a warning, not a silent wrong program."""
    with pytest.warns(tvm.AxisWarning, match="127"):

        @T.prim_func
        def short(A: T.Buffer((128,), "float32")):
            for i in range(127):
                with T.block("A"):
                    vi = T.axis.spatial(128, i)
                    A[vi] = T.float32(1)

    a = np.zeros(128, "float32")
    tvm.build(short)["short"](a)
    assert a.sum() == 127


def test_search_by_sampling() -> None:
    def stochastic_schedule(sch: tvm.tir.Schedule):
        block = sch.get_block("Y")
        i, j, k = sch.get_loops(block=block)
        j_factors = sch.sample_perfect_tile(loop=j, n=2)
        j_0, j_1 = sch.split(loop=j, factors=j_factors)
        sch.reorder(i, j_0, k, j_1)
        sch.decompose_reduction(block, k)
        return sch

    sch = stochastic_schedule(tvm.tir.Schedule(MyModule))
    assert "sample_perfect_tile" in str(sch.trace)
    best = None
    for _ in range(3):
        sch = stochastic_schedule(tvm.tir.Schedule(MyModule))
        lib, arguments = run(sch.mod)
        seconds = lib.time_evaluator("mm_clip", tvm.cpu(), number=1)(*arguments).mean
        if best is None or seconds < best[0]:
            best = seconds, sch
    assert best is not None
    replayed = tvm.tir.Schedule(MyModule)
    best[1].trace.apply_to_schedule(replayed, remove_postproc=False)
    tvm.ir.assert_structural_equal(replayed.mod, best[1].mod)
    sch = tvm.tir.Schedule(MyModule, seed=7)
    choice = sch.sample_categorical(candidates=[4, 8, 16], probs=[0.25, 0.5, 0.25])
    assert sch.get(choice) in (4, 8, 16)
    sch.split(sch.get_loops("Y")[1], factors=[None, choice])
    sch.enter_postproc()
    run(sch.mod)
