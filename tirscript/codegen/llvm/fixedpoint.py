"""Integer arithmetic of quantized networks: products of fixed-point numbers, dot products of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.diagnostics import CodegenError
from tirscript.ir.expr import Call

from . import integers
from .casts import as_data
from .floats import lanewise
from .values import BITS, SIGNED, Value, constant, llvm_type, parts

if TYPE_CHECKING:
    from .function import FunctionEmitter

_HELPER = "@ts.helper.qmulshift"


def _helper() -> str:
    """``(x << left) * y``, shifted right by ``total``, rounded with halves up."""
    return f"""\
define internal i32 {_HELPER}(i32 %x, i32 %y, i32 %left, i32 %total) alwaysinline nounwind memory(none) {{
  %wide = sext i32 %x to i128
  %other = sext i32 %y to i128
  %count = zext i32 %left to i128
  %shifted = shl i128 %wide, %count
  %product = mul i128 %shifted, %other
  %below = sub i32 %total, 1
  %none = icmp slt i32 %below, 0
  %safe = select i1 %none, i32 0, i32 %below
  %place = zext i32 %safe to i128
  %bit = shl i128 1, %place
  %half = select i1 %none, i128 0, i128 %bit
  %sum = add i128 %product, %half
  %by = zext i32 %total to i128
  %down = ashr i128 %sum, %by
  %r = trunc i128 %down to i32
  ret i32 %r
}}
"""


def _scaled(f: FunctionEmitter, x: Value, y: Value, left: Value, total: Value) -> Value:
    if left.constant == 0 and total.constant is not None and 0 < total.constant <= 62:
        # The product and the half that is added fit 64 bits: in vectors, too.
        a, b = f.same_lanes(integers.to_data(f, x, "int64"), integers.to_data(f, y, "int64"))
        half = constant(1 << (total.constant - 1), "int64", a.lanes)
        total_bits = constant(total.constant, "int64", a.lanes)
        product = f.ins(f"mul {a.ty} {a.ref}, {b.ref}")
        moved = f.ins(f"ashr {a.ty} {f.ins(f'add {a.ty} {product}, {half.ref}')}, {total_bits.ref}")
        return integers.to_data(f, Value(moved, "int64", a.lanes), "int32")
    f.module.helper(_HELPER, _helper)

    def one(*scalars: Value) -> Value:
        return Value(f.ins(f"call i32 {_HELPER}({', '.join([v.typed for v in scalars])})"), "int32")

    lanes = max(v.lanes for v in (x, y, left, total))
    return lanewise(f, one, *[f.broadcast(v, lanes) for v in (x, y, left, total)])


def _words(f: FunctionEmitter, e: Call) -> list[Value]:
    return [as_data(f, f.expr(a), "int32") for a in e.args]


def q_multiply_shift(f: FunctionEmitter, e: Call) -> Value:
    """``round(x * y * 2**(s - q))``, halves up."""
    x, y, q, s = _words(f, e)
    zero = f.const_like(0, s)
    left = integers.maximum(f, s, zero)
    right = integers.maximum(f, integers.sub(f, zero, s), zero)
    return _scaled(f, x, y, left, integers.add(f, *f.same_lanes(q, right)))


def q_multiply_shift_per_axis(f: FunctionEmitter, e: Call) -> Value:
    """The same with the shifts to the left and to the right given apart."""
    x, y, ls, rs, q, wanted, _ = _words(f, e)
    some = f.compare("icmp ne", wanted, f.const_like(0, wanted))
    left = ls
    if wanted.constant is not None:
        left = ls if wanted.constant else f.const_like(0, ls)
    else:
        left = f.select(some, ls, f.const_like(0, ls))
    return _scaled(f, x, y, left, integers.add(f, *f.same_lanes(q, rs)))


def dp4a(f: FunctionEmitter, e: Call) -> Value:
    """``c`` plus the product of bytes with bytes: vectors of bytes, or integers that hold four."""
    a, b, c = e.args
    result = parts(e.dtype)[0]
    wide = []
    for operand in (a, b):
        base, lanes = parts(operand.dtype)
        if base not in BITS or BITS[base] < 8:
            raise CodegenError(f"dp4a takes bytes, not {operand.dtype}", code="dtype")
        v = f.broadcast(as_data(f, f.expr(operand), base), lanes)
        count = lanes * BITS[base] // 8
        signed = base in SIGNED
        raw = f.ins(f"bitcast {v.typed} to {llvm_type('int8', count)}")
        ty = llvm_type("int32", count)
        wide.append(f.ins(f"{'sext' if signed else 'zext'} {llvm_type('int8', count)} {raw} to {ty}"))
    total = f.ins(
        f"call i32 @llvm.vector.reduce.add.v{count}i32({ty} {f.ins(f'mul {ty} {wide[0]}, {wide[1]}')})"
    )
    accumulator = as_data(f, f.expr(c), "int32")
    return as_data(f, Value(f.ins(f"add i32 {total}, {accumulator.ref}"), "int32"), result)


__all__ = ["dp4a", "q_multiply_shift", "q_multiply_shift_per_axis"]
