"""Conversions: integers wrap, floats saturate to integers (nan gives 0), bool is whether it is not 0."""

from __future__ import annotations

from tirscript.ir import dtype as dt

from . import narrow
from .builder import Builder
from .integers import in_int32, is_large, reduce_exact, to_data, to_exact
from .values import BITS, BYTES, FLOATS, INT64_MAX, INTS, NARROW, SIGNED, Value, constant, llvm_type

# Significant bits of the floats.
_PRECISION = {"float32": 24, "float64": 53}


def cast(b: Builder, v: Value, base: str) -> Value:
    """``v`` converted to the scalar dtype ``base``, lane by lane.

    An exact integer converted to an integer stays exact, with the value that the dtype holds.
    """
    if base in INTS:
        if v.base in FLOATS:
            return _float_to_int(b, v, base)
        if v.base == "bool":
            number = to_data(b, v, base)
            return to_exact(b, number) if v.exact else number
        return reduce_exact(b, v, base) if v.exact else to_data(b, v, base)
    if base == "bool":
        truth = _to_bool(b, v)
        truth.exact = v.exact
        return truth
    if base in FLOATS:
        return _to_float(b, v, base)
    return v


def as_data(b: Builder, v: Value, base: str) -> Value:
    """``v`` as data of ``base``: what is stored, passed or combined with data."""
    if v.base == base and not v.exact:
        return v
    if base in INTS and v.base not in FLOATS and v.base != "handle":
        return to_data(b, v, base)
    return cast(b, v, base)


def as_kind(b: Builder, v: Value, base: str, exact: bool) -> Value:
    """``v`` as an exact integer or as data of ``base``."""
    return to_exact(b, as_data(b, v, base) if not v.exact else v) if exact else as_data(b, v, base)


def _to_bool(b: Builder, v: Value) -> Value:
    if v.base == "bool":
        return v
    if v.base in FLOATS:
        # Unordered: nan is not zero.
        return b.compare("fcmp une", v, constant(0, v.base, v.lanes))
    if v.constant is not None:
        return constant(v.constant != 0, "bool", v.lanes)
    return b.compare("icmp ne", v, b.const_like(0, v))


def _to_float(b: Builder, v: Value, base: str) -> Value:
    ty = llvm_type(base, v.lanes)
    if v.base == base:
        return v
    if is_large(v):
        v = to_data(b, v, "uint64")
    if base in NARROW:
        return narrow.from_float(b, v, base) if v.base in FLOATS else narrow.from_int(b, v, base)
    if v.base in NARROW:
        v = narrow.wide(v)
        if base == "float32":
            return v
    if v.base in FLOATS:
        opcode = "fpext" if BYTES[base] > BYTES[v.base] else "fptrunc"
        return Value(b.ins(f"{opcode} {v.typed} to {ty}"), base, v.lanes)
    if v.base == "bool":
        return Value(b.ins(f"uitofp {v.typed} to {ty}"), base, v.lanes)
    number = v.constant
    if number is not None:
        if abs(number) < 1 << _PRECISION[base]:
            return constant(float(number), base, v.lanes)
        v = constant(number, "int64" if number <= INT64_MAX else "uint64", v.lanes)
    if v.exact and in_int32(v):
        # 32 bits convert in vectors on every machine.
        v = to_data(b, v, "int32")
    opcode = "sitofp" if v.base in SIGNED else "uitofp"
    return Value(b.ins(f"{opcode} {v.typed} to {ty}"), base, v.lanes)


def _float_to_int(b: Builder, v: Value, base: str) -> Value:
    """Clamp, convert, put nan and the top right: a few instructions, in vectors too."""
    if v.base in NARROW:
        v = narrow.wide(v)
    low, high = dt.bounds(base)
    mask = llvm_type("bool", v.lanes)
    precision = _PRECISION[v.base]
    bottom = constant(float(low), v.base, v.lanes)
    # The largest float not above `high`; where that is `high` itself, clamping is all.
    fits = high.bit_length() <= precision
    top_number = high if fits else high + 1 - (1 << (high.bit_length() - precision))
    top = constant(float(top_number), v.base, v.lanes)
    above = b.compare("fcmp ogt", v, bottom)
    x = b.select(above, v, bottom)
    below = b.compare("fcmp olt", x, top)
    x = b.select(below, x, top)
    ty = llvm_type(base, v.lanes)
    if BITS[base] < 32:
        # Narrow integers by way of signed 32 bits, which vectors convert to.
        wide = llvm_type("int32", v.lanes)
        ref = b.ins(f"fptosi {x.typed} to {wide}")
        ref = b.ins(f"trunc {wide} {ref} to {ty}")
    else:
        ref = b.ins(f"{'fptosi' if base in SIGNED else 'fptoui'} {x.typed} to {ty}")
    if not fits:
        over = b.compare("fcmp oge", v, constant(float(high + 1), v.base, v.lanes))
        ref = b.ins(f"select {over.typed}, {constant(high, base, v.lanes).typed}, {ty} {ref}")
    if low < 0:
        # For unsigned dtypes the clamp has turned nan into 0 already.
        nan = b.ins(f"fcmp uno {v.ty} {v.ref}, {v.ref}")
        ref = b.ins(f"select {mask} {nan}, {ty} {'0' if v.lanes == 1 else 'zeroinitializer'}, {ty} {ref}")
    return Value(ref, base, v.lanes)
