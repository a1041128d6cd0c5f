"""Special hardware: a tile instruction described, matched and called, with a kernel in C behind it."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import tirscript as tvm
from tirscript.script import tir as T

RNG = np.random.default_rng(8)
needs_cc = pytest.mark.skipif(
    not any(shutil.which(n) for n in ("clang", "cc", "gcc", "c++")), reason="there is no C compiler"
)


@tvm.script.ir_module
class MatmulBlockModule:
    """A product of 64 by 64 matrices, written over tiles of 8 by 8 (B transposed)."""

    @T.prim_func
    def main(
        A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i0, j0, k0 in T.grid(8, 8, 8):
            with T.block("tmm-8x8"):
                vi0, vj0, vk0 = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    for i1, j1 in T.grid(8, 8):
                        with T.block("tmm_init"):
                            vi1, vj1 = T.axis.remap("SS", [i1, j1])
                            C[vi0 * 8 + vi1, vj0 * 8 + vj1] = T.float32(0)
                for i1, j1, k1 in T.grid(8, 8, 8):
                    with T.block("tmm"):
                        vi1, vj1, vk1 = T.axis.remap("SSR", [i1, j1, k1])
                        C[vi0 * 8 + vi1, vj0 * 8 + vj1] += (
                            A[vi0 * 8 + vi1, vk0 * 8 + vk1] * B[vj0 * 8 + vj1, vk0 * 8 + vk1]
                        )


@tvm.script.ir_module
class MatmulModule:
    @T.prim_func
    def main(
        A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(64, 64, 64):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += A[vi, vk] * B[vj, vk]


@T.prim_func
def tmm8_desc(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (8, 8), "float32", offset_factor=8, scope="global.A_reg")
    B = T.match_buffer(b, (8, 8), "float32", offset_factor=8, scope="global.B_reg")
    C = T.match_buffer(c, (8, 8), "float32", offset_factor=8, scope="global.accumulator")
    with T.block("root"):
        T.reads(C[0:8, 0:8], A[0:8, 0:8], B[0:8, 0:8])
        T.writes(C[0:8, 0:8])
        for i, j, k in T.grid(8, 8, 8):
            with T.block(""):
                vii, vjj, vkk = T.axis.remap("SSR", [i, j, k])
                C[vii, vjj] = C[vii, vjj] + A[vii, vkk] * B[vjj, vkk]


@T.prim_func
def tmm8_impl(a: T.handle, b: T.handle, c: T.handle) -> None:
    sa = T.int32()
    sb = T.int32()
    sc = T.int32()
    A = T.match_buffer(a, (8, 8), "float32", offset_factor=8, strides=[sa, 1], scope="global.A_reg")
    B = T.match_buffer(b, (8, 8), "float32", offset_factor=8, strides=[sb, 1], scope="global.B_reg")
    C = T.match_buffer(c, (8, 8), "float32", offset_factor=8, strides=[sc, 1], scope="global.accumulator")
    with T.block("root"):
        T.reads(C[0:8, 0:8], A[0:8, 0:8], B[0:8, 0:8])
        T.writes(C[0:8, 0:8])
        T.evaluate(
            T.call_extern(
                "int32", "tmm8", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"), sa, sb, sc
            )
        )


tvm.tir.TensorIntrin.register("course_tmm8", tmm8_desc, tmm8_impl, override=True)


def tmm_kernel() -> str:
    """A C function for the instruction, as a module in LLVM's language in a file."""
    cc_code = """
      extern "C" int tmm8(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) {
        for (int i = 0; i < 8; ++i) {
          for (int j = 0; j < 8; ++j) {
            for (int k = 0; k < 8; ++k) {
              cc[i * stride_c + j] += aa[i * stride_a + k] * bb[j * stride_b + k];
            }
          }
        }
        return 0;
      }
    """
    from tirscript.contrib import clang, utils

    temp = utils.tempdir()
    ll_path = temp.relpath("temp.ll")
    # Create LLVM ir from c source code
    ll_code = clang.create_llvm(cc_code, output=ll_path)
    if ll_code == ll_path:  # an `output` is written and named
        with open(ll_path, encoding="utf-8") as file:
            ll_code = file.read()
    assert temp.listdir() == ["temp.ll"]
    return ll_code


def check(mod, target="llvm") -> None:
    a_np, b_np = (RNG.random((64, 64), dtype="float32") for _ in range(2))
    a_nd, b_nd = tvm.nd.array(a_np), tvm.nd.array(b_np)
    c_nd = tvm.nd.empty((64, 64), dtype="float32")
    tvm.build(mod, target=target)["main"](a_nd, b_nd, c_nd)
    np.testing.assert_allclose(c_nd.numpy(), a_np @ b_np.T, rtol=1e-5)


def test_a_block_of_blocks_runs_and_is_scheduled_from_outside() -> None:
    check(MatmulBlockModule)
    sch = tvm.tir.Schedule(MatmulBlockModule)
    block_mm = sch.get_block("tmm-8x8")
    i, j, k = sch.get_loops(block_mm)
    i0, i1 = sch.split(i, [None, 2])
    sch.reorder(i0, j, i1, k)
    check(sch.mod)
    check(sch.mod, "python")


def tiled() -> tuple[tvm.tir.Schedule, object]:
    sch = tvm.tir.Schedule(MatmulModule)
    i, j, k = sch.get_loops("matmul")
    i, ii = sch.split(i, factors=[None, 8])
    j, ji = sch.split(j, factors=[None, 8])
    k, ki = sch.split(k, factors=[None, 8])
    sch.reorder(i, j, k, ii, ji, ki)
    return sch, (i, j, k, ii)


def test_blockize_brings_the_loops_into_a_block() -> None:
    sch, (i, j, k, ii) = tiled()
    block_mm = sch.blockize(ii)
    assert sch.get(block_mm).name_hint == "matmul_o"
    assert 'with T.block("matmul_o"):' in sch.mod.script()
    check(sch.mod)


def transformed() -> tuple[tvm.tir.Schedule, object]:
    """Tiles, moved into the accelerator's registers and back, the reset apart, the rest one instruction."""
    sch, (i, j, k, ii) = tiled()
    block_mm = sch.blockize(ii)
    A_reg = sch.cache_read(block_mm, 0, storage_scope="global.A_reg")
    B_reg = sch.cache_read(block_mm, 1, storage_scope="global.B_reg")
    sch.compute_at(A_reg, k)
    sch.compute_at(B_reg, k)
    write_back_block = sch.cache_write(block_mm, 0, storage_scope="global.accumulator")
    sch.reverse_compute_at(write_back_block, j)
    init = sch.decompose_reduction(block_mm, k)
    assert sch.get(init).name_hint == "matmul_o_init"
    sch.tensorize(block_mm, "course_tmm8")
    return sch, i


def test_the_instruction_stands_in_the_program() -> None:
    sch, _ = transformed()
    text = sch.mod.script()
    assert 'T.call_extern("int32", "tmm8"' in text
    for scope in ("global.A_reg", "global.B_reg", "global.accumulator"):
        assert f'scope="{scope}"' in text
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), sch.mod)


@needs_cc
def test_a_kernel_in_c_is_linked_in_and_run() -> None:
    sch, i = transformed()
    sch.annotate(i, "pragma_import_llvm", tmm_kernel())
    check(sch.mod)


def test_a_kernel_that_is_missing_is_named() -> None:
    sch, _ = transformed()
    with pytest.raises(tvm.TVMError, match="tmm8"):
        check(sch.mod)


def test_dma_and_fill_as_instructions() -> None:
    """Moves and resets that are instructions, too: described, registered, and computed by the description."""

    @T.prim_func
    def fill_desc(c: T.handle) -> None:
        C = T.match_buffer(c, (8, 8), "float32", offset_factor=8, scope="global.accumulator")
        with T.block("root"):
            T.reads()
            T.writes(C[0:8, 0:8])
            for i, j in T.grid(8, 8):
                with T.block("init"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = T.float32(0)

    @T.prim_func
    def fill_impl(c: T.handle) -> None:
        sc = T.int32()
        C = T.match_buffer(c, (8, 8), "float32", offset_factor=8, strides=[sc, 1], scope="global.accumulator")
        with T.block("root"):
            T.reads()
            T.writes(C[0:8, 0:8])
            for i in T.serial(8):
                C[i, 0:8] = T.broadcast(T.float32(0), 8)

    tvm.tir.TensorIntrin.register("course_fill8", fill_desc, fill_impl, override=True)
    sch, (i, j, k, ii) = tiled()
    block_mm = sch.blockize(ii)
    write_back = sch.cache_write(block_mm, 0, "global.accumulator")
    sch.reverse_compute_at(write_back, j)
    init = sch.decompose_reduction(block_mm, k)
    sch.tensorize(init, "course_fill8")
    check(sch.mod)


def test_a_description_that_does_not_fit_says_where() -> None:
    sch, (_, _, _, ii) = tiled()
    block_mm = sch.blockize(ii)
    before = sch.mod.script()
    with pytest.raises(tvm.tir.ScheduleError, match=r"scope|init|decompose"):
        sch.tensorize(block_mm, "course_tmm8")
    assert sch.mod.script() == before
