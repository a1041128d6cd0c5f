"""Dot products of ARM: SDOT and UDOT, and widening multiplications of plain NEON."""

from __future__ import annotations

from .dot_product_common import (
    DP4A_S8S8S32_INTRIN,
    DP4A_S8U8S32_INTRIN,
    DP4A_U8S8S32_INTRIN,
    DP4A_U8U8U32_INTRIN,
)
from .text import dot_desc, dot_impl, enter

ARM_DOT_4x4_i8_NEON_INTRIN = "dot_4x4_i8i8s32_neon"
ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
ARM_DOT_4x4_u8_UDOT_INTRIN = "dot_4x4_u8u8u32_udot"
ARM_DOT_4x4_u8_HDOT_INTRIN = "dot_4x4_u8u8i32_hdot"


def _dot(byte: str, word: str, op: str) -> tuple[str, str]:
    name = f"llvm.aarch64.neon.{op}.v4i32.v16i8"
    return dot_desc(4, 4, byte, byte, word), dot_impl(
        4, 4, byte, byte, word,
        f'word: T.{word} = T.reinterpret("{word}", a4)',
        f'a_all: T.{byte}x16 = T.reinterpret("{byte}x16", T.Broadcast(word, 4))',
        f'C[T.Ramp(0, 1, 4)] = T.call_llvm_pure_intrin("{word}x4", "{name}", c_all, a_all, b_all)',
    )  # fmt: skip


def _neon() -> tuple[str, str]:
    """Products in 16 bits, added in pairs twice."""
    half = (
        'wide_{0}: T.int16x8 = T.call_llvm_pure_intrin("int16x8", "llvm.aarch64.neon.smull.v8i16", '
        'a_two, T.vector{0}("int8x8", b_all))',
        'sums_{0}: T.int32x4 = T.call_llvm_pure_intrin("int32x4", "llvm.aarch64.neon.saddlp.v4i32.v8i16", '
        "wide_{0})",
    )
    return dot_desc(4, 4, "int8", "int8", "int32"), dot_impl(
        4, 4, "int8", "int8", "int32",
        'word: T.int32 = T.reinterpret("int32", a4)',
        'a_two: T.int8x8 = T.reinterpret("int8x8", T.Broadcast(word, 2))',
        *[line.format(part) for part in ("low", "high") for line in half],
        "C[T.Ramp(0, 1, 4)] = c_all + T.call_llvm_pure_intrin(",
        '    "int32x4", "llvm.aarch64.neon.addp.v4i32", sums_low, sums_high)',
    )  # fmt: skip


def register() -> None:
    """Enter the names."""
    enter(ARM_DOT_4x4_i8_SDOT_INTRIN, *_dot("int8", "int32", "sdot"))
    enter(ARM_DOT_4x4_u8_UDOT_INTRIN, *_dot("uint8", "uint32", "udot"))
    enter(ARM_DOT_4x4_u8_HDOT_INTRIN, *_dot("uint8", "int32", "udot"))
    enter(ARM_DOT_4x4_i8_NEON_INTRIN, *_neon())


__all__ = [
    "DP4A_S8S8S32_INTRIN",
    "DP4A_S8U8S32_INTRIN",
    "DP4A_U8S8S32_INTRIN",
    "DP4A_U8U8U32_INTRIN",
    "ARM_DOT_4x4_i8_NEON_INTRIN",
    "ARM_DOT_4x4_i8_SDOT_INTRIN",
    "ARM_DOT_4x4_u8_HDOT_INTRIN",
    "ARM_DOT_4x4_u8_UDOT_INTRIN",
    "register",
]  # fmt: skip
