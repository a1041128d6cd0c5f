"""Programs for a GPU: scheduled and printed, with their numbers by the python target.

Where CUDA C is generated, its text is looked at, too, and what needs a device runs on one.
"""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript.script import tir as T

RNG = np.random.default_rng(3)


@tvm.script.ir_module
class VecAdd:
    @T.prim_func
    def main(
        A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32"), C: T.Buffer((1024,), "float32")
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in T.grid(1024):
            with T.block("C"):
                vi = T.axis.remap("S", [i])
                C[vi] = A[vi] + B[vi]


@tvm.script.ir_module
class WindowSum:
    @T.prim_func
    def main(A: T.Buffer[(1026,), "float32"], B: T.Buffer[(1024,), "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in T.grid(1024):
            with T.block("B"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] + A[vi + 1] + A[vi + 2]


@tvm.script.ir_module
class MatmulModule:
    @T.prim_func
    def main(
        A: T.Buffer((64, 64), "float32"),
        B: T.Buffer((64, 64), "float32"),
        C: T.Buffer((64, 64), "float32"),
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(64, 64, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]


def threads_by_python(mod, *arrays, name="main"):
    """What the kernel computes: its threads one after the other."""
    out = arrays[-1].copy()
    tvm.build(mod, target="python")[name](*arrays[:-1], out)
    return out


def source(mod) -> str:
    """The CUDA C of the kernel, or what it will be made of."""
    try:
        rt_mod = tvm.build(mod, target="cuda")
    except tvm.NotYetError:
        return ""
    text = rt_mod.imported_modules[0].get_source()
    assert "__global__" in text
    return text


def test_vector_sum_bound_to_threads() -> None:
    sch = tvm.tir.Schedule(VecAdd)
    block_C = sch.get_block("C")
    (i,) = sch.get_loops(block=block_C)
    i0, i1 = sch.split(i, [None, 128])
    sch.bind(i0, "blockIdx.x")
    sch.bind(i1, "threadIdx.x")
    shown = sch.mod.script()
    assert 'T.thread_binding(8, thread="blockIdx.x")' in shown
    assert 'T.thread_binding(128, thread="threadIdx.x")' in shown
    text = source(sch.mod)
    assert not text or ("blockIdx.x" in text and "threadIdx.x" in text)
    a, b = (RNG.random(1024, dtype="float32") for _ in range(2))
    np.testing.assert_allclose(threads_by_python(sch.mod, a, b, np.zeros_like(a)), a + b, rtol=1e-6)


def test_an_unbound_function_is_refused() -> None:
    with pytest.raises((tvm.BindError, tvm.NotYetError)):
        tvm.build(VecAdd, target="cuda")


def test_window_sum_through_shared_memory() -> None:
    sch = tvm.tir.Schedule(WindowSum)
    nthread = 128
    block_C = sch.get_block("B")
    (i,) = sch.get_loops(block=block_C)
    i0, i1 = sch.split(i, [None, nthread])
    sch.bind(i0, "blockIdx.x")
    sch.bind(i1, "threadIdx.x")
    A_shared = sch.cache_read(block_C, read_buffer_index=0, storage_scope="shared")
    sch.compute_at(A_shared, i1)
    a = RNG.random(1026, dtype="float32")
    want = a[:-2] + a[1:-1] + a[2:]
    out = np.zeros(1024, "float32")
    # Every thread loads the window of its whole block ...
    np.testing.assert_allclose(threads_by_python(sch.mod, a, out), want, rtol=1e-5)
    # ... and now the threads share the loads out among themselves.
    ax = sch.get_loops(A_shared)[-1]
    at0, at1 = sch.split(ax, [None, nthread])
    sch.bind(at1, "threadIdx.x")
    shown = sch.mod.script()
    assert 'A_shared = T.alloc_buffer((1026,), scope="shared")' in shown
    assert shown.count('T.thread_binding(128, thread="threadIdx.x")') == 2
    np.testing.assert_allclose(threads_by_python(sch.mod, a, out), want, rtol=1e-5)
    text = source(sch.mod)
    assert not text or ("__shared__" in text and "__syncthreads" in text)


def blocking(sch, tile_local_y, tile_local_x, tile_block_y, tile_block_x, tile_k):
    block_C = sch.get_block("C")
    C_local = sch.cache_write(block_C, 0, "local")
    i, j, k = sch.get_loops(block=block_C)
    i0, i1, i2 = sch.split(loop=i, factors=[None, tile_block_y, tile_local_y])
    j0, j1, j2 = sch.split(loop=j, factors=[None, tile_block_x, tile_local_x])
    k0, k1 = sch.split(loop=k, factors=[None, tile_k])
    sch.unroll(k1)
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(C_local, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.bind(i1, "threadIdx.y")
    sch.bind(j1, "threadIdx.x")
    sch.decompose_reduction(block_C, k0)
    return sch


def cache_read_and_coop_fetch(sch, block, nthread, read_idx, read_loc):
    read_cache = sch.cache_read(block=block, read_buffer_index=read_idx, storage_scope="shared")
    sch.compute_at(block=read_cache, loop=read_loc)
    # vectorized cooperative fetch
    inner0, inner1 = sch.get_loops(block=read_cache)[-2:]
    inner = sch.fuse(inner0, inner1)
    _, tx, vec = sch.split(loop=inner, factors=[None, nthread, 4])
    sch.vectorize(vec)
    sch.bind(tx, "threadIdx.x")


def blocking_with_shared(sch, tile_local_y, tile_local_x, tile_block_y, tile_block_x, tile_k):
    block_C = sch.get_block("C")
    C_local = sch.cache_write(block_C, 0, "local")
    i, j, k = sch.get_loops(block=block_C)
    i0, i1, i2 = sch.split(loop=i, factors=[None, tile_block_y, tile_local_y])
    j0, j1, j2 = sch.split(loop=j, factors=[None, tile_block_x, tile_local_x])
    k0, k1 = sch.split(loop=k, factors=[None, tile_k])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(C_local, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    tx = sch.fuse(i1, j1)
    sch.bind(tx, "threadIdx.x")
    nthread = tile_block_y * tile_block_x
    cache_read_and_coop_fetch(sch, block_C, nthread, 0, k0)
    cache_read_and_coop_fetch(sch, block_C, nthread, 1, k0)
    sch.decompose_reduction(block_C, k0)
    return sch


@pytest.mark.parametrize("how", [blocking, blocking_with_shared], ids=["local", "shared"])
def test_matrix_product_blocked(how) -> None:
    sch = how(tvm.tir.Schedule(MatmulModule), 8, 8, 4, 4, 8)
    assert 'scope="local"' in sch.mod.script()
    assert ('scope="shared"' in sch.mod.script()) == (how is blocking_with_shared)
    text = source(sch.mod)
    assert not text or ("__syncthreads" in text) == (how is blocking_with_shared)
    a, b = (RNG.random((64, 64), dtype="float32") for _ in range(2))
    c = threads_by_python(sch.mod, a, b, np.zeros_like(a))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("how", [blocking, blocking_with_shared], ids=["local", "shared"])
def test_matrix_product_on_a_device(how) -> None:
    if not tvm.cuda(0).exist:
        pytest.skip("there is no CUDA device")
    sch = how(tvm.tir.Schedule(MatmulModule), 8, 8, 4, 4, 8)
    rt_mod = tvm.build(sch.mod, target="cuda")
    dev = tvm.cuda(0)
    A_np, B_np = (RNG.random((64, 64), dtype="float32") for _ in range(2))
    A_nd, B_nd = tvm.nd.array(A_np, dev), tvm.nd.array(B_np, dev)
    C_nd = tvm.nd.array(np.zeros((64, 64), dtype="float32"), dev)
    rt_mod["main"](A_nd, B_nd, C_nd)
    np.testing.assert_allclose(C_nd.numpy(), A_np @ B_np, rtol=1e-3)
    assert rt_mod.time_evaluator("main", dev, number=2)(A_nd, B_nd, C_nd).mean > 0


def test_tensor_core_calls_are_scheduled_and_printed() -> None:
    """The calls of a warp-level product, by the registered intrinsics and written out."""
    assert tvm.tir.TensorIntrin.get("wmma_sync_16x16x16_f16f16f32") is not None

    @T.prim_func
    def tile(
        A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16"), C: T.Buffer((16, 16), "float32")
    ):
        with T.block("root"):
            T.reads(A[0:16, 0:16], B[0:16, 0:16])
            T.writes(C[0:16, 0:16])
            a = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
            b = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_b")
            c = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
            for _bx in T.thread_binding(1, thread="blockIdx.x"):
                for _tx in T.thread_binding(32, thread="threadIdx.x"):
                    T.evaluate(T.tvm_fill_fragment(c.data, 16, 16, 16, 0, T.float32(0)))
                    T.evaluate(
                        T.tvm_load_matrix_sync(a.data, 16, 16, 16, 0, A.access_ptr("r"), 16, "row_major")
                    )
                    T.evaluate(
                        T.tvm_load_matrix_sync(b.data, 16, 16, 16, 0, B.access_ptr("r"), 16, "row_major")
                    )
                    T.evaluate(T.tvm_mma_sync(c.data, 0, a.data, 0, b.data, 0, c.data, 0))
                    T.evaluate(
                        T.tvm_store_matrix_sync(c.data, 16, 16, 16, 0, C.access_ptr("w"), 16, "row_major")
                    )

    text = tile.script()
    for name in ("tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_store_matrix_sync"):
        assert f"T.{name}(" in text
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), tile)
