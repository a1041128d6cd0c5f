"""tensorize: whole programs as they must be, and strides and offsets that the implementation takes or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule, TensorIntrin
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run
from .test_tensorize import extern_schedule, matmul_is_right, mm_desc, mm_impl, refused, tiled


def is_(sch: Schedule, after: Any) -> None:
    have = sch.mod[sch.mod.names()[0]].without_attr("global_symbol")
    ts.assert_structural_equal(have, after.without_attr("global_symbol"))
    roundtrip(sch.mod)


def test_a_block_of_blocks_keeps_its_init() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i_0, j_0, k_0 in T.grid(4, 5, 3):
            with T.block("C_o"):
                vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                T.reads(
                    A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                    B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                )
                T.writes(C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4])
                T.block_attr({"by": "mm"})
                sa, sb, sc = T.int32(), T.int32(), T.int32()
                A_1 = T.match_buffer(
                    A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                    (4, 8), "float32", strides=[sa, 1], offset_factor=1,
                )  # fmt: skip
                B_1 = T.match_buffer(
                    B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                    (8, 4), "float32", strides=[sb, 1], offset_factor=1,
                )  # fmt: skip
                C_1 = T.match_buffer(
                    C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4],
                    (4, 4), "float32", strides=[sc, 1], offset_factor=1,
                )  # fmt: skip
                with T.init():
                    for i_1, j_1 in T.grid(4, 4):
                        with T.block("C_init"):
                            vi_i, vj_i = T.axis.remap("SS", [i_1, j_1])
                            C[vi_o * 4 + vi_i, vj_o * 4 + vj_i] = T.float32(0)
                for p, r in T.grid(4, 8):
                    for q in T.vectorized(4):
                        C_1[p, q] = C_1[p, q] + A_1[p, r] * B_1[r, q]

    TensorIntrin.register("t_mm", mm_desc, mm_impl, override=True)
    for block_first in (True, False):
        sch, _, inner = tiled(matmul)
        sch.tensorize(sch.blockize(inner[0]) if block_first else inner[0], "t_mm")
        is_(sch, after)
        matmul_is_right(sch.mod)


def test_vnni() -> None:
    """The shipped instruction on a layout of 16 x 4 tiles."""

    @T.prim_func
    def before(
        A: T.Buffer((8, 16), "uint8"), B: T.Buffer((2, 4, 16, 4), "int8"), C: T.Buffer((8, 32), "int32")
    ):
        for i, jo, ko, ji, ki in T.grid(8, 2, 4, 16, 4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(32, jo * 16 + ji)
                vk = T.axis.reduce(16, ko * 4 + ki)
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast(
                    "int32", B[vj // 16, vk // 4, vj % 16, vk % 4]
                )

    @T.prim_func
    def after(
        A: T.Buffer((8, 16), "uint8"), B: T.Buffer((2, 4, 16, 4), "int8"), C: T.Buffer((8, 32), "int32")
    ):
        for i, jo in T.grid(8, 2):
            for ji_init in range(16):
                with T.block("C_init"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(32, jo * 16 + ji_init)
                    C[vi, vj] = 0
            for ko in range(4):
                with T.block("C_update_o"):
                    vi_o, vj_o, vk_o = T.axis.remap("SSR", [i, jo, ko])
                    T.reads(
                        C[vi_o, vj_o * 16 : vj_o * 16 + 16],
                        A[vi_o, vk_o * 4 : vk_o * 4 + 4],
                        B[vj_o, vk_o, 0:16, 0:4],
                    )
                    T.writes(C[vi_o, vj_o * 16 : vj_o * 16 + 16])
                    A_1 = T.match_buffer(
                        A[vi_o, vk_o * 4 : vk_o * 4 + 4], (4,), "uint8", strides=[1], offset_factor=1
                    )
                    start = T.int32()
                    B_1 = T.match_buffer(
                        B[vj_o, vk_o, 0:16, 0:4],
                        (16, 4), "int8", strides=[4, 1], elem_offset=start, offset_factor=1,
                    )  # fmt: skip
                    C_1 = T.match_buffer(
                        C[vi_o, vj_o * 16 : vj_o * 16 + 16], (16,), "int32", strides=[1], offset_factor=1
                    )
                    flat = T.decl_buffer((64,), "int8", data=B_1.data, elem_offset=start)
                    a4: T.uint8x4 = A_1[0:4]
                    b_all: T.int8x64 = flat[0:64]
                    c_all: T.int32x16 = C_1[0:16]
                    word: T.int32 = T.reinterpret("int32", a4)
                    a_all: T.uint8x64 = T.reinterpret("uint8x64", T.Broadcast(word, 16))
                    C_1[0:16] = T.call_llvm_pure_intrin(
                        "int32x16", "llvm.x86.avx512.vpdpbusd.512", c_all, a_all, b_all
                    )

    sch = Schedule(before)
    loops = sch.get_loops("C")
    sch.decompose_reduction("C", loops[2])
    sch.tensorize(loops[3], "dot_16x4_avx512_vnni")
    is_(sch, after)
    a = rng(8, 16, dtype="uint8", seed=3)
    b = rng(2, 4, 16, 4, dtype="int8", seed=4)
    want = np.einsum("ikx,jkyx->ijy", a.reshape(8, 4, 4).astype(int), b.astype(int)).reshape(8, 32)
    c = np.full((8, 32), 9, "int32")
    ts.build(sch.mod, target="python")(a, b, c)
    np.testing.assert_array_equal(c, want)


def test_a_call_of_c() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i_0, j_0 in T.grid(4, 5):
            with T.block("C_o_init"):
                vi_o, vj_o = T.axis.remap("SS", [i_0, j_0])
                T.reads()
                T.writes(C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4])
                for i_1, j_1 in T.grid(4, 4):
                    with T.block("C_init"):
                        vi_i, vj_i = T.axis.remap("SS", [i_1, j_1])
                        C[vi_o * 4 + vi_i, vj_o * 4 + vj_i] = T.float32(0)
            for k_0 in range(3):
                with T.block("C_o_update"):
                    vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                    T.reads(
                        C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4],
                        A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                        B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                    )
                    T.writes(C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4])
                    sa, sb, sc = T.int32(), T.int32(), T.int32()
                    A_1 = T.match_buffer(
                        A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                        (4, 8), "float32", strides=[sa, 1], offset_factor=1,
                    )  # fmt: skip
                    B_1 = T.match_buffer(
                        B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                        (8, 4), "float32", strides=[sb, 1], offset_factor=1,
                    )  # fmt: skip
                    C_1 = T.match_buffer(
                        C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4],
                        (4, 4), "float32", strides=[sc, 1], offset_factor=1,
                    )  # fmt: skip
                    T.evaluate(
                        T.call_extern(
                            "int32", "tmm", C_1.access_ptr("w"), A_1.access_ptr("r"), B_1.access_ptr("r"),
                            sa, sb, sc,
                        )
                    )  # fmt: skip

    sch, _ = extern_schedule()
    is_(sch, after)


def copier(strides: str, more: str, rows: int = 2) -> Any:
    """Rows of 4 numbers, copied; the strides of both, which may share a variable."""
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def copy(a: T.handle, b: T.handle):
    s, t = T.int32(), T.int32()
    A = T.match_buffer(a, ({rows}, 4), "int32", strides=[{strides}], offset_factor=1)
    B = T.match_buffer(b, ({rows}, 4), "int32", strides=[{more}], offset_factor=1)
    with T.block("root"):
        T.reads(A[0:{rows}, 0:4])
        T.writes(B[0:{rows}, 0:4])
        for i, j in T.grid({rows}, 4):
            B[i, j] = A[i, j]
""")


def described(rows: int = 2) -> Any:
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def copy(
    A: T.Buffer(({rows}, 4), "int32", offset_factor=1), B: T.Buffer(({rows}, 4), "int32", offset_factor=1)
):
    with T.block("root"):
        T.reads(A[0:{rows}, 0:4])
        T.writes(B[0:{rows}, 0:4])
        for i, j in T.grid({rows}, 4):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
""")


def copies(of: int, to: int) -> Schedule:
    """Eight rows, of which 4 columns are copied between buffers of so many columns."""
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((8, {of}), "int32"), B: T.Buffer((8, {to}), "int32")):
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj + 1]
""")
    sch = Schedule(f)
    sch.split(sch.get_loops("B")[0], [None, 2])
    return sch


@pytest.mark.parametrize(("strides", "more", "of", "to", "words"), [
    ("s, 1", "t, 1", 5, 9, ""), ("s, 1", "s, 1", 6, 6, ""), ("s, t", "6, t", 9, 6, ""),
    ("s, 1", "s, 1", 5, 9, "takes B with stride 5, which is `s` of A already, in dimension 0: B has 9"),
    ("9, 1", "s, 1", 5, 9, "takes A with stride 9 in dimension 0: A has 5"),
    ("s, t", "t, 1", 5, 9, "takes B with stride 1, which is `t` of A already, in dimension 0: B has 9"),
])  # fmt: skip
def test_strides(strides: str, more: str, of: int, to: int, words: str) -> None:
    TensorIntrin.register("t_copy", described(), copier(strides, more), override=True)
    sch = copies(of, to)
    at = sch.get_loops("B")[1]
    if words:
        assert words in refused(sch, "intrin-strides", at, "t_copy")
        return
    sch.tensorize(at, "t_copy")
    roundtrip(sch.mod)
    a, b = rng(8, of, dtype="int32"), np.zeros((8, to), "int32")
    want = b.copy()
    want[:, :4] = a[:, 1:5]
    np.testing.assert_array_equal(run(sch.mod, a, b), want)


def test_the_stride_of_a_unit_dimension_is_any() -> None:
    """No step is made in it, whatever the implementation says of it."""
    TensorIntrin.register("t_copy_row", described(1), copier("4, 1", "s, t", 1), override=True)
    sch = copies(5, 9)
    sch.tensorize(sch.get_loops("B")[2], "t_copy_row")
    a = rng(8, 5, dtype="int32")
    want = np.zeros((8, 9), "int32")
    want[:, :4] = a[:, 1:5]
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((8, 9), "int32")), want)
