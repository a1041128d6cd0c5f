"""Exercises of the kind that the course sets: fill a program in, and reach a given program exactly."""

from __future__ import annotations

import numpy as np

import tirscript as tvm
from tirscript.script import tir as T

RNG = np.random.default_rng(2)


def call(mod, *arrays):
    rt_lib = tvm.build(mod, target="llvm")
    nds = [tvm.nd.array(a) for a in arrays]
    (rt_lib["main"] if "main" in rt_lib.functions else rt_lib)(*nds)
    return nds[-1].numpy()


def test_elementwise_and_broadcasting_sums_of_integers() -> None:
    @tvm.script.ir_module
    class Sum:
        @T.prim_func
        def add(A: T.Buffer((3, 5), "int64"), B: T.Buffer((3, 5), "int64"), C: T.Buffer((3, 5), "int64")):
            T.func_attr({"global_symbol": "add"})
            for i, j in T.grid(3, 5):
                with T.block("C"):
                    vi = T.axis.spatial(3, i)
                    vj = T.axis.spatial(5, j)
                    C[vi, vj] = A[vi, vj] + B[vi, vj]

    @tvm.script.ir_module
    class Spread:
        @T.prim_func
        def add(A: T.Buffer((3, 5), "int64"), B: T.Buffer((5,), "int64"), C: T.Buffer((3, 5), "int64")):
            T.func_attr({"global_symbol": "add", "tir.noalias": True})
            for i, j in T.grid(3, 5):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj] + B[vj]

    a = np.arange(15).reshape(3, 5)
    for mod, b in ((Sum, np.arange(15, 0, -1).reshape(3, 5)), (Spread, np.arange(5, 0, -1))):
        rt_lib = tvm.build(mod, target="llvm")
        a_tvm, b_tvm = tvm.nd.array(a), tvm.nd.array(b)
        c_tvm = tvm.nd.array(np.empty((3, 5), dtype=np.int64))
        rt_lib["add"](a_tvm, b_tvm, c_tvm)
        np.testing.assert_allclose(c_tvm.numpy(), a + b, rtol=1e-5)


def test_a_convolution_of_integers_with_sizes_from_python() -> None:
    n, h, w, ci, co, k = 1, 7, 7, 1, 2, 3
    out_h, out_w = h - k + 1, w - k + 1

    @tvm.script.ir_module
    class Conv:
        @T.prim_func
        def conv(
            data: T.Buffer((n, ci, h, w), "int64"),
            weight: T.Buffer((co, ci, k, k), "int64"),
            out: T.Buffer((n, co, out_h, out_w), "int64"),
        ):
            T.func_attr({"global_symbol": "conv", "tir.noalias": True})
            for b, o, y, x, c, dy, dx in T.grid(n, co, out_h, out_w, ci, k, k):
                with T.block("out"):
                    vb, vo, vy, vx, vc, vdy, vdx = T.axis.remap("SSSSRRR", [b, o, y, x, c, dy, dx])
                    with T.init():
                        out[vb, vo, vy, vx] = T.int64(0)
                    out[vb, vo, vy, vx] += data[vb, vc, vy + vdy, vx + vdx] * weight[vo, vc, vdy, vdx]

    data = np.arange(n * ci * h * w).reshape(n, ci, h, w)
    weight = np.arange(co * ci * k * k).reshape(co, ci, k, k)
    windows = np.lib.stride_tricks.sliding_window_view(data, (k, k), axis=(2, 3))
    want = np.einsum("ncyxij,ocij->noyx", windows, weight)
    rt_lib = tvm.build(Conv, target="llvm")
    out = tvm.nd.array(np.empty((n, co, out_h, out_w), dtype=np.int64))
    rt_lib["conv"](tvm.nd.array(data), tvm.nd.array(weight), out)
    np.testing.assert_array_equal(out.numpy(), want)


@tvm.script.ir_module
class Batch:
    @T.prim_func
    def bmm_relu(
        A: T.Buffer((8, 64, 64), "float32"),
        B: T.Buffer((8, 64, 64), "float32"),
        C: T.Buffer((8, 64, 64), "float32"),
    ):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((8, 64, 64), dtype="float32")
        for n, i, j, k in T.grid(8, 64, 64, 64):
            with T.block("Y"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
                with T.init():
                    Y[vn, vi, vj] = T.float32(0)
                Y[vn, vi, vj] = Y[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
        for n, i, j in T.grid(8, 64, 64):
            with T.block("C"):
                vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                C[vn, vi, vj] = T.max(Y[vn, vi, vj], T.float32(0))


@tvm.script.ir_module
class Target:
    @T.prim_func
    def bmm_relu(
        A: T.Buffer((8, 64, 64), "float32"),
        B: T.Buffer((8, 64, 64), "float32"),
        C: T.Buffer((8, 64, 64), "float32"),
    ) -> None:
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer([8, 64, 64], dtype="float32")
        for n in T.parallel(8):
            for i, j_0 in T.grid(64, 4):
                for j_1_init in T.vectorized(16):
                    with T.block("Y_init"):
                        vn, vi = T.axis.remap("SS", [n, i])
                        vj = T.axis.spatial(64, j_0 * 16 + j_1_init)
                        Y[vn, vi, vj] = T.float32(0)
                for k_0 in T.serial(16):
                    for k_1 in T.unroll(4):
                        for j_1 in T.vectorized(16):
                            with T.block("Y_update"):
                                vn, vi = T.axis.remap("SS", [n, i])
                                vj = T.axis.spatial(64, j_0 * 16 + j_1)
                                vk = T.axis.reduce(64, k_0 * 4 + k_1)
                                Y[vn, vi, vj] = Y[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
                for ax0 in T.vectorized(16):
                    with T.block("C"):
                        vn, vi = T.axis.remap("SS", [n, i])
                        vj = T.axis.spatial(64, j_0 * 16 + ax0)
                        C[vn, vi, vj] = T.max(Y[vn, vi, vj], T.float32(0))


def solution() -> tvm.tir.Schedule:
    sch = tvm.tir.Schedule(Batch)
    # get blocks, then loops
    Y = sch.get_block("Y", func_name="bmm_relu")
    C = sch.get_block("C", func_name="bmm_relu")
    n, i, j, k = sch.get_loops(Y)
    # schedule
    j_0, j_1 = sch.split(j, factors=[None, 16])
    k_0, k_1 = sch.split(k, factors=[None, 4])
    sch.reorder(n, i, j_0, k_0, k_1, j_1)
    sch.reverse_compute_at(C, j_0)
    init = sch.decompose_reduction(Y, k_0)
    # decorate
    sch.parallel(n)
    sch.unroll(k_1)
    sch.vectorize(j_1)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.vectorize(sch.get_loops(C)[-1])
    return sch


def test_the_target_is_reached_exactly() -> None:
    sch = solution()
    tvm.ir.assert_structural_equal(sch.mod, Target)
    assert tvm.ir.structural_equal(sch.mod, Target) and not tvm.ir.structural_equal(Batch, Target)
    # The names are those that a reader of the target sees, too.
    from tirscript.ir import structural_equal

    assert structural_equal(sch.mod, Target, names=True)


def test_before_and_after_give_the_same_and_are_timed() -> None:
    a_np, b_np = (RNG.standard_normal((8, 64, 64), dtype="float32") for _ in range(2))
    want = np.maximum(a_np @ b_np, 0)
    sch = solution()
    before_rt_lib = tvm.build(Batch, target="llvm")
    after_rt_lib = tvm.build(sch.mod, target="llvm")
    a_tvm, b_tvm = tvm.nd.array(a_np), tvm.nd.array(b_np)
    for rt_lib in (before_rt_lib, after_rt_lib):
        c_tvm = tvm.nd.array(np.empty_like(want))
        rt_lib["bmm_relu"](a_tvm, b_tvm, c_tvm)
        np.testing.assert_allclose(c_tvm.numpy(), want, rtol=1e-4, atol=1e-4)
        timer = rt_lib.time_evaluator("bmm_relu", tvm.cpu(), number=1)
        assert timer(a_tvm, b_tvm, c_tvm).mean > 0


def test_a_wrong_attempt_says_what_differs() -> None:
    sch = solution()
    sch.undo()  # the last loop is not vectorized
    try:
        tvm.ir.assert_structural_equal(sch.mod, Target)
    except AssertionError as e:
        text = str(e)
    except ValueError as e:
        text = str(e)
    assert "vectorized" in text and "ax0" in text


def test_the_other_ways_of_writing_it() -> None:
    """Blocks by name, positional factors, parts of `get_loops` by index, annotations."""
    sch = tvm.tir.Schedule(Batch)
    n, i, j, k = sch.get_loops("Y")
    j_0, j_1 = sch.split(j, [4, 16])
    k_0, k_1 = sch.split(k, [16, 4], preserve_unit_iters=True)
    sch.reorder(j_0, k_0, k_1, j_1)
    sch.reverse_compute_at("C", j_0, preserve_unit_loops=False)
    sch.decompose_reduction("Y", k_0)
    sch.parallel(n)
    sch.unroll(k_1)
    for name in ("Y_init", "Y_update", "C"):
        sch.vectorize(sch.get_loops(name)[-1])
    tvm.ir.assert_structural_equal(sch.mod, Target)
    sch.annotate(n, "note", 1)
    assert "note" in sch.mod.script()
    sch.unannotate(n, "note")
    tvm.ir.assert_structural_equal(sch.mod, Target)


def test_fuse_storage_and_layout() -> None:
    """The primitives that a follower of the course meets next."""
    sch = tvm.tir.Schedule(Batch)
    Y = sch.get_block("Y")
    n, i, j, k = sch.get_loops(Y)
    fused = sch.fuse(n, i)
    assert "n_i_fused" in sch.mod.script()
    sch.parallel(fused)
    packed = sch.cache_read(Y, 1, "global")
    sch.transform_layout(Y, ("read", 1), lambda n, i, j: (n, j // 16, i, j % 16))
    sch.storage_align(packed, 0, axis=2, factor=32, offset=8)
    local = sch.cache_write(Y, 0, "global")
    sch.reverse_compute_at(local, j)
    rf = sch.rfactor(sch.split(k, factors=[None, 8])[1], factor_axis=0)
    assert sch.get(rf).name_hint == "Y_rf"
    a_np, b_np = (RNG.standard_normal((8, 64, 64), dtype="float32") for _ in range(2))
    c = np.empty_like(a_np)
    tvm.build(sch.mod, target="llvm")["bmm_relu"](a_np, b_np, c)
    np.testing.assert_allclose(c, np.maximum(a_np @ b_np, 0), rtol=1e-3, atol=1e-3)
    sch = tvm.tir.Schedule(Batch)
    sch.reindex("Y", ("read", 0))
    sch.set_scope("Y", 0, "local")
    assert 'scope="local"' in sch.mod.script()
