"""``dp4a``: the dot product of four bytes, added to a word, of one GPU thread."""

from __future__ import annotations

from .text import enter

DP4A_S8S8S32_INTRIN = "dp4a_s8s8s32"
DP4A_U8S8S32_INTRIN = "dp4a_u8s8s32"
DP4A_S8U8S32_INTRIN = "dp4a_s8u8s32"
DP4A_U8U8U32_INTRIN = "dp4a_u8u8u32"


def get_dp4a_intrin(dtype_a: str, dtype_b: str, dtype_c: str) -> tuple[str, str]:
    """The texts of description and implementation."""
    head = f"""
    A: T.Buffer((4,), "{dtype_a}", scope="shared", align=4, offset_factor=1),
    B: T.Buffer((4,), "{dtype_b}", scope="shared", align=4, offset_factor=1),
    C: T.Buffer((1,), "{dtype_c}", scope="local", align=4, offset_factor=1),
):
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])"""
    desc = f"""
@T.prim_func
def dp4a_desc({head}
        for i in range(4):
            with T.block("update"):
                vi = T.axis.remap("R", [i])
                C[0] = C[0] + T.Cast("{dtype_c}", A[vi]) * T.Cast("{dtype_c}", B[vi])
"""
    head = head.replace("align=4", "strides=[1], align=4", 2)
    value = "T.dp4a(A[T.Ramp(0, 1, 4)], B[T.Ramp(0, 1, 4)], C[0])"
    if dtype_c != "int32":
        value = f'C[0] + T.reinterpret("{dtype_c}", T.dp4a(A[T.Ramp(0, 1, 4)], B[T.Ramp(0, 1, 4)], 0))'
    impl = f"""
@T.prim_func
def dp4a_impl({head}
        C[0] = {value}
"""
    return desc, impl


def register() -> None:
    """Enter the names."""
    enter(DP4A_S8S8S32_INTRIN, *get_dp4a_intrin("int8", "int8", "int32"))
    enter(DP4A_U8S8S32_INTRIN, *get_dp4a_intrin("uint8", "int8", "int32"))
    enter(DP4A_S8U8S32_INTRIN, *get_dp4a_intrin("int8", "uint8", "int32"))
    enter(DP4A_U8U8U32_INTRIN, *get_dp4a_intrin("uint8", "uint8", "uint32"))


__all__ = [
    "DP4A_S8S8S32_INTRIN", "DP4A_S8U8S32_INTRIN", "DP4A_U8S8S32_INTRIN", "DP4A_U8U8U32_INTRIN",
    "get_dp4a_intrin", "register",
]  # fmt: skip
