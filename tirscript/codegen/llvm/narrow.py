"""Floats of 16 and 8 bits: kept in registers as float32 with the value of the narrow dtype.

Every operation is computed in float32 and rounded to the dtype, ties to even.  That is one rounding of the
exact result for + - * / and sqrt of float16, and what ml_dtypes does for the others.  Conversions from
what float32 does not hold go through a float32 rounded to odd, so that rounding again is harmless.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

from .builder import Builder
from .values import BITS, MEMORY, NARROW, SIGNED, Value, constant, llvm_type, splat


@dataclass(frozen=True, slots=True)
class Format:
    """``mantissa`` bits, exponent ``bias``, and what the codes at the top are: ``ieee`` has infinities and
    nans, ``fn`` one nan and no infinity, ``fnuz`` a nan in place of -0, ``scale`` powers of two only."""

    bits: int
    mantissa: int
    bias: int
    kind: str

    @property
    def least_exponent(self) -> int:
        return 1 - self.bias

    @property
    def largest(self) -> float:
        """The largest finite value."""
        top = (1 << (self.bits - 1)) - 1  # the code of all ones, without the sign
        if self.kind == "ieee":
            top = ((top >> self.mantissa) << self.mantissa) - 1
        elif self.kind == "fn":
            top -= 1
        exponent, fraction = top >> self.mantissa, top & ((1 << self.mantissa) - 1)
        return math.ldexp(1 + fraction / (1 << self.mantissa), exponent - self.bias)


FORMATS = {
    "float16": Format(16, 10, 15, "ieee"),
    "bfloat16": Format(16, 7, 127, "ieee"),
    "float8_e3m4": Format(8, 4, 3, "ieee"),
    "float8_e4m3": Format(8, 3, 7, "ieee"),
    "float8_e4m3b11fnuz": Format(8, 3, 11, "fnuz"),
    "float8_e4m3fn": Format(8, 3, 7, "fn"),
    "float8_e4m3fnuz": Format(8, 3, 8, "fnuz"),
    "float8_e5m2": Format(8, 2, 15, "ieee"),
    "float8_e5m2fnuz": Format(8, 2, 16, "fnuz"),
    "float8_e8m0fnu": Format(8, 0, 127, "scale"),
}


def nearest(value: float, base: str) -> float:
    """A number rounded once to a narrow float dtype.

    >>> nearest(0.1, "bfloat16"), nearest(1e6, "float16"), nearest(500.0, "float8_e4m3fn")
    (0.10009765625, inf, nan)
    """
    f = FORMATS[base]
    value = float(value)
    if math.isnan(value):
        return math.nan
    if f.kind == "scale":
        return _nearest_scale(value)
    over = math.inf if f.kind == "ieee" else math.nan
    if math.isinf(value):
        return math.copysign(over, value)
    if value == 0:
        return 0.0 if f.kind == "fnuz" else value
    exponent = max(math.frexp(abs(value))[1] - 1, f.least_exponent)
    step = Fraction(2) ** (exponent - f.mantissa)
    made = float(round(Fraction(abs(value)) / step) * step)
    if made > f.largest:
        made = over
    return 0.0 if made == 0 and f.kind == "fnuz" else math.copysign(made, value)


def _nearest_scale(value: float) -> float:
    if not 0 < value < math.inf:
        return math.nan
    fraction, exponent = math.frexp(value)
    exponent = max(exponent - 1 + (fraction >= 0.75), -127)
    return math.nan if exponent > 127 else math.ldexp(1.0, exponent)


# ---- pieces of code


def _words(v: Value) -> str:
    return llvm_type("int32", v.lanes)


def _splat(number: int, v: Value) -> str:
    number &= 0xFFFFFFFF
    return splat(str(number - (1 << 32) if number >> 31 else number), "int32", v.lanes)


def _bits(b: Builder, v: Value) -> str:
    return b.ins(f"bitcast {v.typed} to {_words(v)}")


def _float(b: Builder, ref: str, v: Value, base: str = "float32") -> Value:
    return Value(b.ins(f"bitcast {_words(v)} {ref} to {llvm_type('float32', v.lanes)}"), base, v.lanes)


def _choose(b: Builder, test: str, v: Value, yes: str, no: str) -> str:
    ty = _words(v)
    return b.ins(f"select {llvm_type('bool', v.lanes)} {test}, {ty} {yes}, {ty} {no}")


def wide(v: Value) -> Value:
    """The value of a narrow float as the float32 that it is."""
    return Value(v.ref, "float32", v.lanes)


def rounded(b: Builder, v: Value, base: str, *, double: bool = False) -> Value:
    """A float32 rounded to a narrow dtype; ``double`` says that it was a float64 just now."""
    f = FORMATS[base]
    if base == "float16" and b.half:
        ty = llvm_type("float32", v.lanes)
        half = "half" if v.lanes == 1 else f"<{v.lanes} x half>"
        code = b.ins(f"fptrunc {ty} {v.ref} to {half}")
        return Value(b.ins(f"fpext {half} {code} to {ty}"), base, v.lanes)
    ty = _words(v)
    bits = _bits(b, v)
    if f.kind == "scale":
        return _rounded_scale(b, v, bits, base, double)
    cut = 23 - f.mantissa
    size = b.ins(f"and {ty} {bits}, {_splat(0x7FFFFFFF, v)}")
    sign = b.ins(f"and {ty} {bits}, {_splat(0x80000000, v)}")
    last = b.ins(f"and {ty} {b.ins(f'lshr {ty} {size}, {_splat(cut, v)}')}, {_splat(1, v)}")
    near = b.ins(f"add {ty} {b.ins(f'add {ty} {size}, {last}')}, {_splat((1 << (cut - 1)) - 1, v)}")
    near = b.ins(f"and {ty} {near}, {_splat(-(1 << cut), v)}")
    if base != "bfloat16":
        # Below the normal numbers the steps are equal: let an addition round to them.
        magic = constant(math.ldexp(1.0, f.least_exponent - f.mantissa + 23), "float32", v.lanes)
        x = _float(b, size, v)
        moved = b.ins(f"fsub {x.ty} {b.ins(f'fadd {x.ty} {x.ref}, {magic.ref}')}, {magic.ref}")
        small = b.ins(f"icmp ult {ty} {size}, {_splat(_float32_bits(math.ldexp(1.0, f.least_exponent)), v)}")
        near = _choose(b, small, v, _bits(b, Value(moved, "float32", v.lanes)), near)
    largest = _splat(_float32_bits(f.largest), v)
    over = b.ins(f"icmp ugt {ty} {near}, {largest}")
    near = _choose(b, over, v, _splat(0x7F800000 if f.kind == "ieee" else 0x7FC00000, v), near)
    nan = b.ins(f"icmp ugt {ty} {size}, {_splat(0x7F800000, v)}")
    near = _choose(b, nan, v, _splat(0x7FC00000, v), near)
    if f.kind == "fnuz":
        zero = b.ins(f"icmp eq {ty} {near}, {_splat(0, v)}")
        sign = _choose(b, zero, v, _splat(0, v), sign)
    return _float(b, b.ins(f"or {ty} {near}, {sign}"), v, base)


def _rounded_scale(b: Builder, v: Value, bits: str, base: str, double: bool) -> Value:
    ty = _words(v)
    up = b.ins(f"and {ty} {b.ins(f'add {ty} {bits}, {_splat(0x400000, v)}')}, {_splat(0xFF800000, v)}")
    tiny = b.ins(f"icmp ule {ty} {bits}, {_splat(0x400000 if not double else 0x5FFFFF, v)}")
    low = b.ins(f"icmp ult {ty} {bits}, {_splat(0x800000, v)}")
    made = _choose(b, low, v, _splat(0x800000, v), up)
    made = _choose(b, tiny, v, _splat(0x400000, v), made)
    # Negative numbers, too, are large as unsigned ones; 0 has no code.
    past = b.ins(f"icmp ugt {ty} {bits}, {_splat(0x7F3FFFFF, v)}")
    none = b.ins(f"icmp eq {ty} {bits}, {_splat(0, v)}")
    made = _choose(b, past, v, _splat(0x7FC00000, v), made)
    return _float(b, _choose(b, none, v, _splat(0x7FC00000, v), made), v, base)


def _float32_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


# ---- memory


def encode(b: Builder, v: Value) -> Value:
    """The code of a narrow float, as the unsigned integer that memory holds."""
    f = FORMATS[v.base]
    code = f"uint{f.bits}"
    want = llvm_type(code, v.lanes)
    if v.base == "float16" and b.half:
        half = "half" if v.lanes == 1 else f"<{v.lanes} x half>"
        made = b.ins(f"fptrunc {v.typed} to {half}")
        return Value(b.ins(f"bitcast {half} {made} to {want}"), code, v.lanes)
    ty = _words(v)
    bits = _bits(b, v)
    if f.kind == "scale" or v.base == "bfloat16":
        shifted = b.ins(f"lshr {ty} {bits}, {_splat(23 if f.kind == 'scale' else 16, v)}")
        return Value(b.ins(f"trunc {ty} {shifted} to {want}"), code, v.lanes)
    m, top = f.mantissa, f.bits - 1
    size = b.ins(f"and {ty} {bits}, {_splat(0x7FFFFFFF, v)}")
    made = b.ins(f"lshr {ty} {size}, {_splat(23 - m, v)}")
    made = b.ins(f"sub {ty} {made}, {_splat((127 - f.bias) << m, v)}")
    # A number below the normal ones is its own multiple of the smallest.
    scale = constant(math.ldexp(1.0, m - f.least_exponent), "float32", v.lanes)
    x = _float(b, size, v)
    least = _splat(_float32_bits(math.ldexp(1.0, f.least_exponent)), v)
    small = b.ins(f"icmp ult {ty} {size}, {least}")
    zero = constant(0.0, "float32", v.lanes)
    below = b.ins(f"select {llvm_type('bool', v.lanes)} {small}, {x.typed}, {zero.typed}")
    steps = b.ins(f"fptosi {x.ty} {b.ins(f'fmul {x.ty} {below}, {scale.ref}')} to {ty}")
    made = _choose(b, small, v, steps, made)
    sign = b.ins(f"lshr {ty} {b.ins(f'and {ty} {bits}, {_splat(0x80000000, v)}')}, {_splat(31 - top, v)}")
    nan = b.ins(f"icmp ugt {ty} {size}, {_splat(0x7F800000, v)}")
    ones = (1 << top) - 1
    if f.kind == "ieee":
        infinity = (ones >> m) << m
        full = b.ins(f"icmp eq {ty} {size}, {_splat(0x7F800000, v)}")
        made = _choose(b, full, v, _splat(infinity, v), made)
        made = _choose(b, nan, v, _splat(infinity | 1 << (m - 1), v), made)
    elif f.kind == "fn":
        made = _choose(b, nan, v, _splat(ones, v), made)
    made = b.ins(f"or {ty} {made}, {sign}")
    if f.kind == "fnuz":
        made = _choose(b, nan, v, _splat(1 << top, v), made)
    return Value(b.ins(f"trunc {ty} {made} to {want}"), code, v.lanes)


def decode(b: Builder, raw: str, base: str, lanes: int) -> Value:
    """The narrow float whose code ``raw`` is."""
    f = FORMATS[base]
    have = llvm_type(f"uint{f.bits}", lanes)
    like = Value(raw, base, lanes)
    if base == "float16" and b.half:
        half = "half" if lanes == 1 else f"<{lanes} x half>"
        code = b.ins(f"bitcast {have} {raw} to {half}")
        return Value(b.ins(f"fpext {half} {code} to {llvm_type(base, lanes)}"), base, lanes)
    ty = _words(like)
    bits = b.ins(f"zext {have} {raw} to {ty}")
    if base == "bfloat16":
        return _float(b, b.ins(f"shl {ty} {bits}, {_splat(16, like)}"), like, base)
    if f.kind == "scale":
        made = b.ins(f"shl {ty} {bits}, {_splat(23, like)}")
        least = b.ins(f"icmp eq {ty} {bits}, {_splat(0, like)}")
        made = _choose(b, least, like, _splat(0x400000, like), made)
        nan = b.ins(f"icmp eq {ty} {bits}, {_splat(255, like)}")
        return _float(b, _choose(b, nan, like, _splat(0x7FC00000, like), made), like, base)
    m, top = f.mantissa, f.bits - 1
    ones = (1 << top) - 1
    size = b.ins(f"and {ty} {bits}, {_splat(ones, like)}")
    # With float32's exponent the numbers are small by one factor, the least ones too.
    small = _float(b, b.ins(f"shl {ty} {size}, {_splat(23 - m, like)}"), like)
    factor = constant(math.ldexp(1.0, 127 - f.bias), "float32", lanes)
    made = _bits(b, Value(b.ins(f"fmul {small.ty} {small.ref}, {factor.ref}"), "float32", lanes))
    if f.kind == "ieee":
        infinity = (ones >> m) << m
        special = b.ins(f"icmp uge {ty} {size}, {_splat(infinity, like)}")
        kept = b.ins(f"shl {ty} {size}, {_splat(23 - m, like)}")
        made = _choose(b, special, like, b.ins(f"or {ty} {kept}, {_splat(0x7F800000, like)}"), made)
    elif f.kind == "fn":
        special = b.ins(f"icmp eq {ty} {size}, {_splat(ones, like)}")
        made = _choose(b, special, like, _splat(0x7FC00000, like), made)
    sign = b.ins(f"shl {ty} {b.ins(f'and {ty} {bits}, {_splat(1 << top, like)}')}, {_splat(31 - top, like)}")
    made = b.ins(f"or {ty} {made}, {sign}")
    if f.kind == "fnuz":
        nan = b.ins(f"icmp eq {ty} {bits}, {_splat(1 << top, like)}")
        made = _choose(b, nan, like, _splat(0x7FC00000, like), made)
    return _float(b, made, like, base)


def from_memory(b: Builder, raw: str, base: str, lanes: int) -> Value:
    """What a load gave, as a value in a register."""
    if base in NARROW:
        return decode(b, raw, base, lanes)
    have = MEMORY[base]
    if base == "bool":
        ty = have if lanes == 1 else f"<{lanes} x {have}>"
        none = "0" if lanes == 1 else "zeroinitializer"
        return Value(b.ins(f"icmp ne {ty} {raw}, {none}"), "bool", lanes)
    if base in BITS and BITS[base] < 8:
        ty = llvm_type("uint8", lanes)
        return Value(b.ins(f"trunc {ty} {raw} to {llvm_type(base, lanes)}"), base, lanes)
    return Value(raw, base, lanes)


def to_memory(b: Builder, v: Value) -> Value:
    """A value as memory holds it."""
    if v.base in NARROW:
        return encode(b, v)
    small = v.base == "bool" or (v.base in BITS and BITS[v.base] < 8)
    if not small:
        return v
    opcode = "sext" if v.base in SIGNED else "zext"
    base = "int8" if v.base in SIGNED else "uint8"
    return Value(b.ins(f"{opcode} {v.typed} to {llvm_type(base, v.lanes)}"), base, v.lanes)


# ---- conversions


def odd_float32(b: Builder, v: Value) -> Value:
    """A float64 as a float32 rounded to odd."""
    ty, narrow = v.ty, llvm_type("float32", v.lanes)
    near = Value(b.ins(f"fptrunc {v.typed} to {narrow}"), "float32", v.lanes)
    back = b.ins(f"fpext {near.typed} to {ty}")
    suffix = "f64" if v.lanes == 1 else f"v{v.lanes}f64"
    sizes = [b.ins(f"call {ty} @llvm.fabs.{suffix}({ty} {ref})") for ref in (back, v.ref)]
    above = b.ins(f"fcmp ogt {ty} {sizes[0]}, {sizes[1]}")
    bits = _bits(b, near)
    words = _words(v)
    one = b.ins(f"zext {llvm_type('bool', v.lanes)} {above} to {words}")
    odd = b.ins(f"or {words} {b.ins(f'sub {words} {bits}, {one}')}, {_splat(1, v)}")
    inexact = b.ins(f"fcmp one {ty} {back}, {v.ref}")
    return _float(b, _choose(b, inexact, v, odd, bits), v)


def from_float(b: Builder, v: Value, base: str) -> Value:
    """Any float as a narrow one, rounded once."""
    if v.base == base:
        return v
    double = v.base == "float64"
    return rounded(b, odd_float32(b, v) if double else wide(v), base, double=double)


def from_int(b: Builder, v: Value, base: str) -> Value:
    """An integer or bool as a narrow float, rounded once."""
    number = v.constant
    if number is not None:
        return constant(float_of(number, base), base, v.lanes)
    ty = llvm_type("float32", v.lanes)
    signed = v.base in SIGNED
    opcode = "sitofp" if signed else "uitofp"
    small = v.lo is not None and v.hi is not None and v.lo >= -(1 << 24) and v.hi <= 1 << 24
    if v.base == "bool" or BITS[v.base] <= 16 or small:
        return rounded(b, Value(b.ins(f"{opcode} {v.typed} to {ty}"), "float32", v.lanes), base)
    ref = v.ref
    if BITS[v.base] == 64:
        # More bits than float64 has: those below its last one are only remembered as one bit.
        low = b.ins(f"and {v.ty} {ref}, {splat('2047', 'int64', v.lanes)}")
        up = b.ins(f"add {v.ty} {low}, {splat('2047', 'int64', v.lanes)}")
        sticky = b.ins(f"and {v.ty} {b.ins(f'or {v.ty} {up}, {ref}')}, {splat('-2048', 'int64', v.lanes)}")
        word = llvm_type("int64", v.lanes)
        high = b.ins(f"add {word} {ref}, {splat(str(1 << 53), 'int64', v.lanes)}")
        large = b.ins(f"icmp ugt {word} {high}, {splat(str(1 << 54), 'int64', v.lanes)}")
        ref = b.ins(f"select {llvm_type('bool', v.lanes)} {large}, {word} {sticky}, {word} {ref}")
    double = b.ins(f"{opcode} {v.ty} {ref} to {llvm_type('float64', v.lanes)}")
    return from_float(b, Value(double, "float64", v.lanes), base)


def float_of(number: int, base: str) -> float:
    """An integer rounded once to a narrow float."""
    if abs(number) > 1 << 53:
        # Keep 53 bits and remember in the last whether more were there.
        cut = abs(number).bit_length() - 52
        kept = abs(number) >> cut
        kept |= (kept << cut) != abs(number)
        return nearest(math.copysign(math.ldexp(float(kept), cut), number), base)
    return nearest(float(number), base)


def fused(b: Builder, args: list[Value], base: str) -> Value:
    """``x * y + z`` rounded once: the product is exact in float64, the sum is rounded to odd there."""
    lanes = max(v.lanes for v in args)
    ty, words = llvm_type("float64", lanes), llvm_type("int64", lanes)
    x, y, z = [b.ins(f"fpext {b.broadcast(wide(v), lanes).typed} to {ty}") for v in args]
    p = b.ins(f"fmul {ty} {x}, {y}")
    s = b.ins(f"fadd {ty} {p}, {z}")
    # What the sum lost, exactly (Knuth).
    t = b.ins(f"fsub {ty} {s}, {p}")
    left = b.ins(f"fsub {ty} {p}, {b.ins(f'fsub {ty} {s}, {t}')}")
    lost = b.ins(f"fadd {ty} {left}, {b.ins(f'fsub {ty} {z}, {t}')}")
    zero = constant(0.0, "float64", lanes).ref
    bits = b.ins(f"bitcast {ty} {s} to {words}")
    wrong = b.ins(f"fcmp one {ty} {lost}, {zero}")
    # The sum is too large in size where what it lost has the other sign.
    negative = b.ins(f"fcmp olt {ty} {lost}, {zero}")
    down = b.ins(f"fcmp olt {ty} {s}, {zero}")
    mask = llvm_type("bool", lanes)
    over = b.ins(f"zext {mask} {b.ins(f'xor {mask} {negative}, {down}')} to {words}")
    one = splat("1", "int64", lanes)
    odd = b.ins(f"or {words} {b.ins(f'sub {words} {bits}, {over}')}, {one}")
    chosen = b.ins(f"select {mask} {wrong}, {words} {odd}, {words} {bits}")
    total = Value(b.ins(f"bitcast {words} {chosen} to {ty}"), "float64", lanes)
    return from_float(b, total, base)


def neighbour(b: Builder, x: Value, y: Value) -> Value:
    """The next value of the dtype from x towards y: neighbours in size have codes that differ by 1."""
    f = FORMATS[x.base]
    x, y = b.same_lanes(x, y)
    code, toward = encode(b, x), encode(b, y)
    ty, base = code.ty, code.base
    mask = llvm_type("bool", x.lanes)

    def number(n: int) -> str:
        return constant(n, base, x.lanes).ref

    top = f.bits - 1
    less = b.ins(f"fcmp olt {x.ty} {x.ref}, {y.ref}")
    if f.kind == "scale":
        # Powers of two without a sign: the code grows with the value.
        step = b.ins(f"select {mask} {less}, {ty} {number(1)}, {ty} {number(-1)}")
        made = b.ins(f"add {ty} {code.ref}, {step}")
    else:
        negative = b.ins(f"icmp uge {ty} {code.ref}, {number(1 << top)}")
        grows = b.ins(f"xor {mask} {less}, {negative}")
        step = b.ins(f"select {mask} {grows}, {ty} {number(1)}, {ty} {number(-1)}")
        made = b.ins(f"add {ty} {code.ref}, {step}")
        if f.kind == "fnuz":
            # Where -0 would be there is the nan.
            gone = b.ins(f"icmp eq {ty} {made}, {number(1 << top)}")
            made = b.ins(f"select {mask} {gone}, {ty} {number(0)}, {ty} {made}")
        zero = b.ins(f"fcmp oeq {x.ty} {x.ref}, {constant(0.0, x.base, x.lanes).ref}")
        sign = b.ins(f"and {ty} {toward.ref}, {number(1 << top)}")
        least = b.ins(f"or {ty} {sign}, {number(1)}")
        made = b.ins(f"select {mask} {zero}, {ty} {least}, {ty} {made}")
    same = b.ins(f"fcmp oeq {x.ty} {x.ref}, {y.ref}")
    made = b.ins(f"select {mask} {same}, {ty} {toward.ref}, {ty} {made}")
    stepped = decode(b, made, x.base, x.lanes)
    odd = Value(b.ins(f"fcmp uno {x.ty} {x.ref}, {y.ref}"), "bool", x.lanes)
    return b.select(odd, constant(math.nan, x.base, x.lanes), stepped)


__all__ = [
    "FORMATS", "decode", "encode", "float_of", "from_float", "from_int", "from_memory", "fused", "nearest",
    "neighbour", "rounded", "to_memory", "wide",
]  # fmt: skip
