"""Dot products of AVX-512: VNNI, its replacement on older CPUs, and bfloat16."""

from __future__ import annotations

from .text import dot_desc, dot_impl, enter

VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
VNNI_DOT_8x4_INTRIN = "dot_8x4_vnni"
VNNI_DOT_4x4_INTRIN = "dot_4x4"
AVX512_DOT_16x4_INTRIN = "dot_16x4_avx512"
BF16_DOT_16x2_INTRIN = "dot_16x2_avx512_bf16"
# Names in use for the same instruction.
_VNNI_NAMES = (VNNI_DOT_16x4_INTRIN, "dot_16x4_avx512_vnni")


def _vnni(rows: int) -> tuple[str, str]:
    """``vpdpbusd``: unsigned times signed bytes, sums of four added to 32 bits."""
    bits = rows * 32
    return dot_desc(rows, 4, "uint8", "int8", "int32"), dot_impl(
        rows, 4, "uint8", "int8", "int32",
        'word: T.int32 = T.reinterpret("int32", a4)',
        f'a_all: T.uint8x{rows * 4} = T.reinterpret("uint8x{rows * 4}", T.Broadcast(word, {rows}))',
        f"C[T.Ramp(0, 1, {rows})] = T.call_llvm_pure_intrin(",
        f'    "int32x{rows}", "llvm.x86.avx512.vpdpbusd.{bits}", c_all, a_all, b_all)',
    )  # fmt: skip


def register() -> None:
    """Enter the names."""
    for name in _VNNI_NAMES:
        enter(name, *_vnni(16))
    enter(VNNI_DOT_8x4_INTRIN, *_vnni(8))
    enter(VNNI_DOT_4x4_INTRIN, *_vnni(4))
    # Without VNNI: pairs of bytes to 16 bits (which saturate), pairs of those to 32.
    enter(
        AVX512_DOT_16x4_INTRIN,
        dot_desc(16, 4, "uint8", "int8", "int32"),
        dot_impl(
            16, 4, "uint8", "int8", "int32",
            'word: T.int32 = T.reinterpret("int32", a4)',
            'a_all: T.uint8x64 = T.reinterpret("uint8x64", T.Broadcast(word, 16))',
            'pairs: T.int16x32 = T.call_llvm_pure_intrin(',
            '    "int16x32", "llvm.x86.avx512.pmaddubs.w.512", a_all, b_all)',
            "C[T.Ramp(0, 1, 16)] = c_all + T.call_llvm_pure_intrin(",
            '    "int32x16", "llvm.x86.avx512.pmaddw.d.512", pairs, T.Broadcast(T.int16(1), 32))',
        ),
    )  # fmt: skip
    # AVX512-BF16: pairs of bfloat16 added to a float32.
    enter(
        BF16_DOT_16x2_INTRIN,
        dot_desc(16, 2, "bfloat16", "bfloat16", "float32"),
        dot_impl(
            16, 2, "bfloat16", "bfloat16", "float32",
            'word: T.int32 = T.reinterpret("int32", a4)',
            'a_all: T.bfloat16x32 = T.reinterpret("bfloat16x32", T.Broadcast(word, 16))',
            "C[T.Ramp(0, 1, 16)] = T.call_llvm_pure_intrin(",
            '    "float32x16", "llvm.x86.avx512bf16.dpbf16ps.512", c_all, a_all, b_all)',
        ),
    )  # fmt: skip


__all__ = [
    "AVX512_DOT_16x4_INTRIN", "BF16_DOT_16x2_INTRIN", "VNNI_DOT_4x4_INTRIN", "VNNI_DOT_8x4_INTRIN",
    "VNNI_DOT_16x4_INTRIN", "register",
]  # fmt: skip
