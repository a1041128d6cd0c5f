"""Intrinsics written as script text, with what varies filled in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tirscript.ir.function import PrimFunc
from tirscript.schedule.tensor_intrin import TensorIntrin
from tirscript.script import from_source
from tirscript.script import tir as T

Made = tuple[PrimFunc, PrimFunc]


def function(text: str) -> PrimFunc:
    """The function of a text."""
    made = from_source(text, {"T": T})
    assert isinstance(made, PrimFunc)
    return made


def _both(desc: str, impl: str) -> Made:
    return function(desc), function(impl)


def enter(name: str, desc: str, impl: str) -> None:
    """Register an intrinsic whose texts are read when it is first asked for."""
    TensorIntrin.register_lazily(name, partial(_both, desc, impl))


def enter_by(name: str, make: Callable[[], Made]) -> None:
    """Register an intrinsic that a function makes."""
    TensorIntrin.register_lazily(name, make)


def dot_desc(rows: int, width: int, a: str, b: str, c: str) -> str:
    """``C[i] += A[k] * B[i, k]``: the description that dot-product instructions share."""
    return f"""
@T.prim_func
def dot_{rows}x{width}(
    A: T.Buffer(({width},), "{a}", offset_factor=1),
    B: T.Buffer(({rows}, {width}), "{b}", offset_factor=1),
    C: T.Buffer(({rows},), "{c}", offset_factor=1),
):
    with T.block("root"):
        T.reads(C[0:{rows}], A[0:{width}], B[0:{rows}, 0:{width}])
        T.writes(C[0:{rows}])
        for i, k in T.grid({rows}, {width}):
            with T.block("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] = C[vi] + T.Cast("{c}", A[vk]) * T.Cast("{c}", B[vi, vk])
"""


def dot_impl(rows: int, width: int, a: str, b: str, c: str, *lines: str) -> str:
    """The frame of an implementation: ``a4``, ``b_all`` and ``c_all`` are the operands as vectors, and the
    last line stores; rows of ``B`` follow one another without gaps."""
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@T.prim_func
def dot_{rows}x{width}_impl(
    A: T.Buffer(({width},), "{a}", strides=[1], offset_factor=1),
    B: T.Buffer(({rows}, {width}), "{b}", strides=[{width}, 1], offset_factor=1),
    C: T.Buffer(({rows},), "{c}", strides=[1], offset_factor=1),
):
    with T.block("root"):
        T.reads(C[0:{rows}], A[0:{width}], B[0:{rows}, 0:{width}])
        T.writes(C[0:{rows}])
        flat = T.decl_buffer(({rows * width},), "{b}", data=B.data, elem_offset=B.elem_offset)
        a4: T.{a}x{width} = A[T.Ramp(0, 1, {width})]
        b_all: T.{b}x{rows * width} = flat[T.Ramp(0, 1, {rows * width})]
        c_all: T.{c}x{rows} = C[T.Ramp(0, 1, {rows})]
{body}
"""


__all__ = ["dot_desc", "dot_impl", "enter", "enter_by", "function"]
