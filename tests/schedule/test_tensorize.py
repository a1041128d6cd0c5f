"""tensorize: what matches, what comes in its place, that it computes the same, and what is refused."""

# ruff: noqa: E501
from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.schedule import Schedule
from tirscript.script import tir as T
from tirscript.script.printer import script
from tirscript.tir import TensorIntrin

from .intrinsics import intrinsic
from .programs import matmul, rng, roundtrip, run
from .test_tvm import CHILD


def refused(sch: Schedule, code: str, *args: Any) -> str:
    """The text of the refusal; the schedule must be as it was."""
    before, steps = sch.mod[sch.mod.names()[0]], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.tensorize(*args)
    assert caught.value.code == code, str(caught.value)
    assert len(sch.history) == steps and sch.mod[sch.mod.names()[0]] is before
    return str(caught.value)


@T.prim_func
def mm_desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 8), "float32", offset_factor=1)
    B = T.match_buffer(b, (8, 4), "float32", offset_factor=1)
    C = T.match_buffer(c, (4, 4), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:8], B[0:8, 0:4])
        T.writes(C[0:4, 0:4])
        for p, q, r in T.grid(4, 4, 8):
            with T.block("mm"):
                x, y, z = T.axis.remap("SSR", [p, q, r])
                C[x, y] = C[x, y] + A[x, z] * B[z, y]


@T.prim_func
def mm_impl(a: T.handle, b: T.handle, c: T.handle):
    sa, sb, sc = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (4, 8), "float32", strides=[sa, 1], offset_factor=1)
    B = T.match_buffer(b, (8, 4), "float32", strides=[sb, 1], offset_factor=1)
    C = T.match_buffer(c, (4, 4), "float32", strides=[sc, 1], offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:8], B[0:8, 0:4])
        T.writes(C[0:4, 0:4])
        T.block_attr({"by": "mm"})
        for p, r in T.grid(4, 8):
            for q in T.vectorized(4):
                C[p, q] = C[p, q] + A[p, r] * B[r, q]


@pytest.fixture(autouse=True)
def registered() -> None:
    TensorIntrin.register("t_mm", mm_desc, mm_impl, override=True)


def tiled(
    program: Any = matmul, factors: tuple[int, ...] = (4, 4, 8)
) -> tuple[Schedule, list[Any], list[Any]]:
    sch = Schedule(program)
    pairs = [sch.split(x, [None, f]) for x, f in zip(sch.get_loops("C"), factors, strict=True)]
    sch.reorder(*[p[0] for p in pairs], *[p[1] for p in pairs])
    return sch, [p[0] for p in pairs], [p[1] for p in pairs]


def matmul_is_right(program: Any) -> None:
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(program, a, b, np.full((16, 20), 7, "float32")), a @ b, rtol=1e-5)


# ---- expected programs


def test_an_update_block_becomes_the_intrinsic() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i_0, j_0 in T.grid(4, 5):
            for i_1_init, j_1_init in T.grid(4, 4):
                with T.block("C_init"):
                    vi = T.axis.spatial(16, i_0 * 4 + i_1_init)
                    vj = T.axis.spatial(20, j_0 * 4 + j_1_init)
                    T.reads()
                    T.writes(C[vi, vj])
                    C[vi, vj] = T.float32(0)
            for k_0 in range(3):
                with T.block("C_update_o"):
                    vi_o, vj_o, vk_o = T.axis.remap("SSR", [i_0, j_0, k_0])
                    T.reads(
                        C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4],
                        A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                        B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                    )
                    T.writes(C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4])
                    T.block_attr({"by": "mm"})
                    sa, sb, sc = T.int32(), T.int32(), T.int32()
                    A_1 = T.match_buffer(
                        A[vi_o * 4 : vi_o * 4 + 4, vk_o * 8 : vk_o * 8 + 8],
                        (4, 8),
                        "float32",
                        strides=[sa, 1],
                        offset_factor=1,
                    )
                    B_1 = T.match_buffer(
                        B[vk_o * 8 : vk_o * 8 + 8, vj_o * 4 : vj_o * 4 + 4],
                        (8, 4),
                        "float32",
                        strides=[sb, 1],
                        offset_factor=1,
                    )
                    C_1 = T.match_buffer(
                        C[vi_o * 4 : vi_o * 4 + 4, vj_o * 4 : vj_o * 4 + 4],
                        (4, 4),
                        "float32",
                        strides=[sc, 1],
                        offset_factor=1,
                    )
                    for p, r in T.grid(4, 8):
                        for q in T.vectorized(4):
                            C_1[p, q] = C_1[p, q] + A_1[p, r] * B_1[r, q]

    sch, outer, inner = tiled()
    sch.decompose_reduction("C", outer[2])
    assert sch.tensorize(inner[0], "t_mm") is None
    have = sch.mod["main"].without_attr("global_symbol")
    assert ts.structural_equal(have, after.without_attr("global_symbol"), names=True), sch.mod.script()
    roundtrip(sch.mod)
    matmul_is_right(sch.mod)
    # What survives: the loops outside; what was inside is gone, the new block is found by name.
    assert sch.get_loops("C_update_o") == outer
    with pytest.raises(ts.ScheduleError, match="no longer exists"):
        sch.parallel(inner[0])
    sch.parallel(outer[0])
    matmul_is_right(sch.mod)


def test_a_block_of_blocks_with_and_without_its_init() -> None:
    sch, outer, inner = tiled()
    block = sch.blockize(inner[0])
    sch.tensorize(block, "t_mm")
    assert sch.get(block).init is not None and len(sch.get(block).match_buffers) == 3
    matmul_is_right(sch.mod)
    sch.decompose_reduction(block, outer[2])
    roundtrip(sch.mod)
    matmul_is_right(sch.mod)
    # A loop around a block with init: the init is lifted.
    sch, outer, inner = tiled()
    sch.tensorize(inner[0], "t_mm")
    assert sch.get(sch.get_block("C_o")).init is not None
    matmul_is_right(sch.mod)


def test_a_copy_with_a_unit_dimension() -> None:
    """Case SCH-41: unit loops on either side do not count."""

    @T.prim_func
    def desc(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (1, 4), "float32", offset_factor=1)
        B = T.match_buffer(b, (1, 4), "float32", offset_factor=1)
        with T.block("root"):
            T.reads(A[0:1, 0:4])
            T.writes(B[0:1, 0:4])
            for i, j in T.grid(1, 4):
                with T.block("b"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)

    @T.prim_func
    def impl(a: T.handle, b: T.handle):
        s0, s1, s2, s3 = T.int32(), T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (1, 4), "float32", offset_factor=1, strides=[s0, s1])
        B = T.match_buffer(b, (1, 4), "float32", offset_factor=1, strides=[s2, s3])
        with T.block("root"):
            T.reads(A[0:1, 0:4])
            T.writes(B[0:1, 0:4])
            for j in T.vectorized(4):
                B[0, j] = A[0, j] * T.float32(2)

    @T.prim_func
    def f(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
        for i, j in T.grid(6, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    TensorIntrin.register("dbl_1x4", desc, impl, override=True)
    a = np.arange(48, dtype="float32").reshape(6, 8)
    for keep in (True, False):
        for unit_rows in (True, False):
            s = Schedule(f)
            i, j = s.get_loops("B")
            j0, j1 = s.split(j, factors=[None, 4])
            at = j1
            if unit_rows:
                i0, at = s.split(i, factors=[None, 1])
                s.reorder(i0, j0, at, j1)
            s.tensorize(at, "dbl_1x4", keep)
            np.testing.assert_array_equal(run(s.mod, a, np.zeros((6, 8), "float32")), 2 * a)


def test_more_dimensions_offsets_and_digits() -> None:
    """The last dimensions count, from a place that the loops outside decide; packed layouts simplify."""

    @T.prim_func
    def packed(
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

    sch = Schedule(packed)
    loops = sch.get_loops("C")
    sch.decompose_reduction("C", loops[2])
    sch.tensorize(loops[3], "dot_16x4_vnni")
    roundtrip(sch.mod)
    text = sch.mod.script()
    assert "T.match_buffer(B[vj_o, vk_o, 0:16, 0:4], (16, 4)" in text
    random = np.random.default_rng(0)
    a = random.integers(0, 256, (8, 16)).astype("uint8")
    b = random.integers(-128, 128, (2, 4, 16, 4)).astype("int8")
    want = np.einsum("ikx,jkyx->ijy", a.reshape(8, 4, 4).astype(int), b.astype(int)).reshape(8, 32)
    c = np.zeros((8, 32), "int32")
    ts.build(sch.mod, target="python")(a, b, c)
    np.testing.assert_array_equal(c, want)


def test_symbolic_sizes() -> None:
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        m, n, l = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (m * 4, l * 8), "float32")
        B = T.match_buffer(b, (l * 8, n * 4), "float32")
        C = T.match_buffer(c, (m * 4, n * 4), "float32")
        for i, j, k in T.grid(m * 4, n * 4, l * 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch, _, inner = tiled(f)
    sch.tensorize(inner[0], "t_mm")
    roundtrip(sch.mod)
    for m, n, l in ((1, 1, 1), (2, 3, 2), (3, 1, 0)):
        a, b = rng(m * 4, l * 8), rng(l * 8, n * 4, seed=1)
        got = run(sch.mod, a, b, np.full((m * 4, n * 4), 7, "float32"))
        np.testing.assert_allclose(got, a @ b, rtol=1e-5)


def test_strided_and_offset_arguments() -> None:
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        s = T.int32()
        A = T.match_buffer(a, (8, 8), "float32", strides=[s, 1])
        B = T.match_buffer(b, (8, 8), "float32")
        C = T.match_buffer(c, (8, 8), "float32")
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch, _, inner = tiled(f)
    sch.tensorize(inner[0], "t_mm")
    a, b, c = rng(8, 20)[:, 3:11], rng(8, 8, seed=1), np.zeros((8, 8), "float32")
    ts.build(sch.mod)(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_a_description_with_an_init() -> None:
    @T.prim_func
    def desc(A: T.Buffer((8,), "int32", offset_factor=1), C: T.Buffer((1,), "int32", offset_factor=1)):
        with T.block("root"):
            T.reads(A[0:8])
            T.writes(C[0])
            for k in range(8):
                with T.block("s"):
                    vk = T.axis.reduce(8, k)
                    with T.init():
                        C[0] = 0
                    C[0] = C[0] + A[vk]

    @T.prim_func
    def impl(
        A: T.Buffer((8,), "int32", strides=[1], offset_factor=1), C: T.Buffer((1,), "int32", offset_factor=1)
    ):
        with T.block("root"):
            T.reads(A[0:8])
            T.writes(C[0])
            C[0] = A[0] + A[1] + A[2] + A[3] + A[4] + A[5] + A[6] + A[7]

    @T.prim_func
    def f(A: T.Buffer((5, 16), "int32"), C: T.Buffer((5, 2), "int32")):
        for i, j, k in T.grid(5, 2, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vj * 8 + vk]

    TensorIntrin.register("t_sum8", desc, impl, override=True)
    sch = Schedule(f)
    sch.tensorize(sch.get_loops("C")[2], "t_sum8")
    assert sch.get(sch.get_block("C_o")).init is None
    a = rng(5, 16, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((5, 2), "int32")), a.reshape(5, 2, 8).sum(2))

    @T.prim_func
    def longer(A: T.Buffer((5, 16), "int32"), C: T.Buffer((5,), "int32")):
        for i, ko, k in T.grid(5, 2, 8):
            with T.block("C"):
                vi = T.axis.spatial(5, i)
                vk = T.axis.reduce(16, ko * 8 + k)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]

    sch = Schedule(longer)
    assert "goes on outside" in refused(sch, "intrin-mismatch", sch.get_loops("C")[2], "t_sum8")


# ---- C


C_CODE = """
extern "C" int tmm(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 8; ++k)
        cc[i * stride_c + j] += aa[i * stride_a + k] * bb[k * stride_b + j];
  return 0;
}
"""
# The same by hand, in LLVM's language: one row at a time.
LL_CODE = """
define i32 @tmm(ptr %c, ptr %a, ptr %b, i32 %sa, i32 %sb, i32 %sc) {
entry:
  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %k = and i32 %n, 7
  %i = lshr i32 %n, 3
  %ia = mul i32 %i, %sa
  %pa0 = add i32 %ia, %k
  %pa = getelementptr float, ptr %a, i32 %pa0
  %pb0 = mul i32 %k, %sb
  %pb = getelementptr float, ptr %b, i32 %pb0
  %pc0 = mul i32 %i, %sc
  %pc = getelementptr float, ptr %c, i32 %pc0
  %x = load float, ptr %pa, align 4
  %y = load <4 x float>, ptr %pb, align 4
  %z = load <4 x float>, ptr %pc, align 4
  %x1 = insertelement <4 x float> poison, float %x, i32 0
  %x4 = shufflevector <4 x float> %x1, <4 x float> poison, <4 x i32> zeroinitializer
  %xy = fmul <4 x float> %x4, %y
  %s = fadd <4 x float> %z, %xy
  store <4 x float> %s, ptr %pc, align 4
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, 32
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}
"""


@T.prim_func
def tmm_impl(a: T.handle, b: T.handle, c: T.handle):
    sa = T.int32()
    sb = T.int32()
    sc = T.int32()
    A = T.match_buffer(a, (4, 8), "float32", offset_factor=1, strides=[sa, 1])
    B = T.match_buffer(b, (8, 4), "float32", offset_factor=1, strides=[sb, 1])
    C = T.match_buffer(c, (4, 4), "float32", offset_factor=1, strides=[sc, 1])
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:8], B[0:8, 0:4])
        T.writes(C[0:4, 0:4])
        T.evaluate(
            T.call_extern("int32", "tmm", C.access_ptr("w"), A.access_ptr("r"), B.access_ptr("r"), sa, sb, sc)
        )


def extern_schedule() -> tuple[Schedule, list[Any]]:
    TensorIntrin.register("t_tmm", mm_desc, tmm_impl, override=True)
    sch, outer, inner = tiled()
    block = sch.blockize(inner[0])
    sch.decompose_reduction(block, outer[2])
    sch.tensorize(block, "t_tmm")
    return sch, outer


@pytest.mark.parametrize("language", ["c", "llvm"])
def test_an_intrinsic_that_calls_c(language: str, tmp_path: Any) -> None:
    """The course's way: ``call_extern``, and the function by ``pragma_import_llvm``."""
    from tirscript.contrib import clang

    if language == "c":
        try:
            code = clang.create_llvm(C_CODE)
        except ts.TirscriptError as e:
            if e.code != "no-compiler":
                raise
            pytest.skip("no C compiler")
    else:
        code = LL_CODE
    path = tmp_path / "tmm.ll"
    path.write_text(code)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    for value in (code, str(path)):
        sch, outer = extern_schedule()
        roundtrip(sch.mod)
        sch.annotate(outer[0], "pragma_import_llvm", value)
        c = np.full((16, 20), 5, "float32")
        ts.build(sch.mod, target="llvm")(a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    sch.parallel(outer[0])  # the calls write disjoint regions
    c = np.full((16, 20), 5, "float32")
    ts.build(sch.mod, target="llvm")(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_dependence_goes_by_declared_regions() -> None:
    """Of an opaque body the regions count: the reduction outside carries the updates."""
    sch, outer = extern_schedule()
    with pytest.raises(ts.ScheduleError) as caught:
        sch.parallel(outer[2])
    assert caught.value.code in ("parallel-reduction-axis", "loop-carried-dependence")
    sch.parallel(outer[1])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("define i32 @tmm(", "LLVM refuses the imported module"),
        ("missing.ll", "there is no LLVM module at missing.ll"),
        (
            LL_CODE.replace("i32 %sa", "i64 %sa").replace("mul i32 %i, %sa", "mul i32 %i, 3"),
            "takes (ptr, ptr, ptr, i64, i32, i32)",
        ),
        ("define i32 @other() {\n  ret i32 0\n}\n", "no external function `tmm`"),
    ],
)
def test_modules_that_cannot_be_imported(code: str, words: str) -> None:
    sch, outer = extern_schedule()
    sch.annotate(outer[0], "pragma_import_llvm", code)
    with pytest.raises(ts.CodegenError) as caught:
        ts.build(sch.mod, target="llvm")
    assert words in str(caught.value)


def test_code_that_does_not_compile() -> None:
    from tirscript.contrib import clang

    with pytest.raises(ts.TirscriptError) as caught:
        clang.create_llvm("int f( {")
    assert caught.value.code in ("compile-error", "no-compiler")


# ---- refusals


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("C[vi, vj] + A", "C[vi, vj] - A"),
            "the program computes C[vi, vj] - A[vi, vk] * B[vk, vj], the description",
        ),
        (("B[vk, vj]", "B[vj, vk]"), "dimension 0 of B is indexed by vj, not by z and a fixed offset as B"),
        (("T.grid(8, 8, 8)", "T.grid(8, 4, 8)"), ""),
    ],
)
def test_what_differs(change: tuple[str, str], words: str) -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    for i, j, k in T.grid(8, 8, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
    f = ts.parse(text.replace(*change))
    sch, _, inner = tiled(f)
    if not words:
        sch.tensorize(inner[0], "t_mm")
        return
    shown = refused(sch, "intrin-mismatch", inner[0], "t_mm")
    assert words in shown, shown
    # Carets in both programs.
    assert shown.count("-->") == 2 and "description of 't_mm'" in shown and "^^^" in shown


def test_the_same_buffer_twice() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * A[vk, vj]

    sch, _, inner = tiled(f)
    sch.tensorize(inner[0], "t_mm")
    a = rng(8, 8)
    np.testing.assert_allclose(run(sch.mod, a, np.zeros((8, 8), "float32")), a @ a, rtol=1e-5)

    @T.prim_func
    def g(A: T.Buffer((8, 16), "float32"), C: T.Buffer((8, 16), "float32")):
        for i, j, k in T.grid(8, 4, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * C[vk, vj + 8]

    sch, _, inner = tiled(g)
    assert "both are C" in refused(sch, "intrin-alias", inner[0], "t_mm")


def test_kinds_of_mismatch() -> None:
    def shown(program: Any, factors: tuple[int, ...] = (4, 4, 8), level: int = 0) -> str:
        sch, _, inner = tiled(program, factors)
        return refused(sch, "intrin-mismatch", inner[level], "t_mm")

    assert "runs 2 times, `p` 4 times" in shown(matmul, (2, 4, 8))
    assert "loop" in shown(matmul, (4, 4, 8), 1)

    @T.prim_func
    def doubles(
        A: T.Buffer((8, 8), "float64"), B: T.Buffer((8, 8), "float64"), C: T.Buffer((8, 8), "float64")
    ):
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    assert "float64" in shown(doubles)

    @T.prim_func
    def shared(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        B = T.alloc_buffer((8, 8), "float32", scope="shared")
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    assert "buffer B is in scope 'shared', B in 'global'" in shown(shared)
    # An uneven tile: a condition stays inside.
    sch, _, inner = tiled(matmul, (3, 4, 8))
    assert "a condition decides" in refused(sch, "intrin-mismatch", inner[0], "t_mm")


def test_layouts_that_the_implementation_does_not_take() -> None:
    @T.prim_func
    def f(A: T.Buffer((8, 16), "uint8"), B: T.Buffer((32, 16), "int8"), C: T.Buffer((8, 32), "int32")):
        for i, jo, ko, ji, ki in T.grid(8, 2, 4, 16, 4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(32, jo * 16 + ji)
                vk = T.axis.reduce(16, ko * 4 + ki)
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])

    sch = Schedule(f)
    text = refused(sch, "intrin-strides", sch.get_loops("C")[3], "dot_16x4_vnni")
    assert "stride 4 in dimension 0: B has 16" in text


def test_bad_arguments() -> None:
    sch, _, inner = tiled()
    assert "there is no tensor intrinsic" in refused(sch, "unknown-intrin", inner[0], "t_m")
    refused(sch, "intrin-name", inner[0], 3)
    refused(sch, "wrong-handle", 3, "t_mm")
    refused(sch, "root-block", "root", "t_mm")
    refused(sch, "intrin-mismatch", "C", "t_mm")


# ---- TVM

VNNI = """
@T.prim_func
def main(A: T.Buffer((128, 128), "uint8"), B: T.Buffer((8, 32, 16, 4), "int8"), C: T.Buffer((128, 128), "int32")):
    for i, jo, ko, ji, ki in T.grid(128, 8, 32, 16, 4):
        with T.block("C"):
            vi = T.axis.spatial(128, i)
            vj = T.axis.spatial(128, jo * 16 + ji)
            vk = T.axis.reduce(128, ko * 4 + ki)
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj // 16, vk // 4, vj % 16, vk % 4])
"""


@pytest.mark.peer
@pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it")
def test_the_block_is_tvms_but_for_the_body() -> None:
    """Axes, regions and matched regions are those of TVM; the implementations are each one's own."""
    f = ts.parse(VNNI)
    sch = Schedule(f)
    block = sch.get_block("C")
    loops = sch.get_loops(block)
    sch.decompose_reduction(block, loops[2])
    sch.tensorize(loops[3], "dot_16x4_vnni")
    steps = ["import tvm.s_tir.tensor_intrin.x86", *sch.trace.as_python()]
    line = json.dumps([script(f, dialect="tvm-0.27"), steps])
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    child = subprocess.run(
        [str(peer()), "-c", CHILD], input=line + "\n", capture_output=True, text=True, env=environment
    )
    answer = json.loads(next(x[1:] for x in child.stdout.splitlines() if x.startswith("\x01")))
    assert "text" in answer, answer
    # TVM reads over the end of a row, which a script must not.
    text = answer["text"].replace("B_1[0, T.Ramp(0, 1, 64)]", "T.Broadcast(T.int8(0), 64)")
    theirs = normalize(ts.parse(spelled_out(text)))
    a = Schedule(theirs)
    one, two = a.get(a.get_block("C_update_o")), sch.get(sch.get_block("C_update_o"))
    for x, y in zip((*one.reads, *one.writes), (*two.reads, *two.writes), strict=True):
        assert x.buffer.name == y.buffer.name
        assert [script(r.min) for r in x.region] == [script(r.min) for r in y.region]
    for x, y in zip(one.match_buffers, two.match_buffers, strict=True):
        assert x.source.buffer.name == y.source.buffer.name
        assert [(script(r.min), r.extent.value) for r in x.source.region] == [
            (script(r.min), r.extent.value) for r in y.source.region
        ]


def test_an_init_inside_of_a_block_is_no_part_of_the_description() -> None:
    """The new block of a tensorized loop has the init of the old one; a block whose parts have inits has no
    place for them."""

    @T.prim_func
    def product(X: T.Buffer((4, 5), "int32"), W: T.Buffer((5, 9), "int32"), C: T.Buffer((4, 9), "int32")):
        for i, j, k in T.grid(4, 9, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + X[vi, vk] * W[vk, vj]

    sch = Schedule(product, debug_mask="all")
    sch.loop_partition(sch.get_loops("C")[2], [None, 1])
    block = sch.get_block("C_k0")
    name = intrinsic(sch, sch.get(block), sch.get_loops(block))
    before = sch.mod.script()
    with pytest.raises(ts.ScheduleError, match=r"intrin-mismatch.*has an init, the description has none"):
        sch.tensorize("C_k0_partition", name)
    assert sch.mod.script() == before
    sch.tensorize(sch.get_loops(block)[0], name)
    x, w = np.arange(20, dtype="int32").reshape(4, 5), np.arange(45, dtype="int32").reshape(5, 9) % 7
    for target in ("python", "llvm"):
        c = np.full((4, 9), -1, "int32")
        ts.build(sch.mod, target=target)(x, w, c)
        np.testing.assert_array_equal(c, x @ w)


@pytest.mark.parametrize("keep", [True, False])
def test_loops_of_one_iteration_in_an_axis(keep: bool) -> None:
    """The axis runs wholly inside: where the argument starts does not depend on the loops outside."""
    body = """
@T.prim_func
def d(b: T.Buffer((3,), "float32", offset_factor=1), B: T.Buffer((3,), "float32", offset_factor=1)):
    with T.block("root"):
        T.reads(b[0:3])
        T.writes(B[0:3])
        for k in range(3):
            with T.block("B"):
                v = T.axis.spatial(3, k)
                B[v] = b[v] * T.float32(2)
"""
    plain = body.replace(
        '            with T.block("B"):\n                v = T.axis.spatial(3, k)\n    ', "        "
    )
    plain = plain.replace("B[v] = b[v]", "B[k] = b[k]").replace("                B[k]", "            B[k]")
    ts.tir.TensorIntrin.register("tests.double", ts.parse(body), ts.parse(plain), override=True)
    sch = Schedule(
        ts.parse("""
@T.prim_func
def f(b: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i, j, k in T.grid(1, 1, 3):
        with T.block("B"):
            v0 = T.axis.spatial(3, i * 3 + j * 3 + k)
            B[v0] = b[v0] * T.float32(2)
"""),
        debug_mask="all",
    )
    sch.tensorize(sch.get_loops("B")[2], "tests.double", preserve_unit_iters=keep)
    assert "T.match_buffer(b[0:3], (3,)" in sch.mod.script()
    b, out = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    ts.build(sch.mod)(b, out)
    np.testing.assert_array_equal(out, b * 2)
