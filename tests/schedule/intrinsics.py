"""Tensor intrinsics that random steps put in place: of any length and dtype, made when they are needed.

The implementation computes the same values bit for bit, in other words: the operands change places, the loop
has another name, strides may be any.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import tirscript as ts
from tirscript.ir import Block, PrimFunc
from tirscript.schedule import LoopRV, Schedule, TensorIntrin

DOUBLE = """from tirscript.script import tir as T

@T.prim_func
def double(a: T.handle, b: T.handle):
    s, t = T.int32(), T.int32()
    A = T.match_buffer(a, ({n},), "{dtype}"{strides_a}, offset_factor=1)
    B = T.match_buffer(b, ({n},), "{dtype}"{strides_b}, offset_factor=1)
    with T.block("root"):
        T.reads(A[0:{n}])
        T.writes(B[0:{n}])
        for i in range({n}):
            with T.block("double"):
                vi = T.axis.spatial({n}, i)
                B[vi] = {value}
"""
# One number of a matrix product: a row by a column.
DOT = """from tirscript.script import tir as T

@T.prim_func
def dot(a: T.handle, b: T.handle, c: T.handle):
    s, t, u = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, ({n},), "{dtype}"{strides_a}, offset_factor=1)
    B = T.match_buffer(b, ({n}, 1), "{dtype}"{strides_b}, offset_factor=1)
    C = T.match_buffer(c, (1,), "{dtype}", offset_factor=1)
    with T.block("root"):
        T.reads(C[0], A[0:{n}], B[0:{n}, 0])
        T.writes(C[0])
        for k in range({n}):
            with T.block("dot"):
                vk = T.axis.reduce({n}, k)
                C[0] = C[0] + {value}
"""
KINDS = {
    "double": (DOUBLE, "A[vi] * T.{dtype}(2)", "A[vi] + A[vi]", "s", "t"),
    "dot": (DOT, "A[vk] * B[vk, 0]", "B[vk, 0] * A[vk]", "s", "t, u"),
}
PRODUCT = re.compile(r"\w+\[.*\] = \w+\[.*\] \+ X\w*\[.*\] \* W\w*\[.*\]")
TWICE = re.compile(r"\* (T\.\w+\()?2\b")


def may_match(block: Block) -> bool:
    """Whether one of the intrinsics may be what the block computes."""
    text = str(block.body)
    return TWICE.search(text) is not None or PRODUCT.search(text) is not None


def _parsed(text: str) -> PrimFunc:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        func = ts.from_source(text)
    assert isinstance(func, PrimFunc)
    return func


def intrinsic(sch: Schedule, block: Block, loops: list[Any]) -> str:
    """The name of an intrinsic for as many numbers as the innermost loop has iterations, of the block's
    dtype."""
    n = getattr(sch.get(loops[-1]).extent, "value", 4) if loops and isinstance(loops[-1], LoopRV) else 4
    dtype = block.writes[0].buffer.dtype if block.writes else "int32"
    kind = "dot" if PRODUCT.search(str(block.body)) else "double"
    name = f"tests.{kind}_{n}_{dtype}"
    if TensorIntrin.get(name, allow_missing=True) is None:
        text, says, does, a, b = KINDS[kind]
        desc = text.format(n=n, dtype=dtype, value=says.format(dtype=dtype), strides_a="", strides_b="")
        desc = re.sub(r"    s, t.*\n", "", desc)
        impl = text.format(
            n=n, dtype=dtype, value=does, strides_a=f", strides=[{a}]", strides_b=f", strides=[{b}]"
        )
        TensorIntrin.register(name, _parsed(desc), _parsed(impl))
    return name
