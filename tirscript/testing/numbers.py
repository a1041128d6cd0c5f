"""The numbers of the language, computed from their definitions: exact, then rounded or wrapped once.

Nothing here is shared with a code generator.  Integers are Python ints, floats are Python floats that hold
a value of their dtype, vectors are lists of lanes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tirscript.ir import dtype as dt


class Format(NamedTuple):
    """A binary float: bits of the significand, least and greatest exponent, what is beyond, the top."""

    precision: int
    least: int
    greatest: int
    beyond: float
    top: float


def _format(precision: int, exponent_bits: int) -> Format:
    greatest = (1 << (exponent_bits - 1)) - 1
    top = math.ldexp(2 - 2.0 ** (1 - precision), greatest)
    return Format(precision, 1 - greatest, greatest, math.inf, top)


FORMATS = {
    "float16": _format(11, 5),
    "bfloat16": _format(8, 8),
    "float32": _format(24, 8),
    "float64": _format(53, 11),
    "float8_e5m2": _format(3, 5),
    "float8_e4m3fn": Format(4, -6, 8, math.nan, 448.0),
}


# ---- floats


def nearest(value: Fraction | int | float, dtype: str) -> float:
    """``value`` rounded once to a float dtype, ties to even."""
    if isinstance(value, float):
        if dtype == "float64" or math.isnan(value):
            return value
        if math.isinf(value):
            return FORMATS[dtype].beyond if value > 0 else -FORMATS[dtype].beyond
        if value == 0:
            return value
    f = FORMATS[dtype]
    exact = Fraction(value)
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, f.least) - f.precision + 1)
    rounded = round(size / unit) * unit  # Python rounds fractions to even
    made = f.beyond if rounded > f.top else float(rounded)
    return -made if exact < 0 else made


def round32(value: float) -> float:
    """As ``nearest(value, "float32")``, sooner."""
    return float(np.float32(value))


def rounder(dtype: str) -> Callable[[float], float]:
    """The function that rounds the exact (or correctly rounded float64) result of an operator."""
    if dtype == "float64":
        return float
    if dtype == "float32":
        return round32
    return lambda v: nearest(v, dtype)


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    if math.isinf(a) or b == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.fmod(a, b)


def _floor_division(a: float, b: float, step: Callable[[float], float]) -> tuple[float, float]:
    """Quotient and remainder as NumPy's ``divmod`` of floats gives them, each step rounded."""
    rest = _remainder(a, b)
    if b == 0:
        return _divide(a, b), rest
    if math.isnan(rest):
        return rest, rest
    quotient = step(_divide(step(a - rest), b))
    if rest:
        if (b < 0) != (rest < 0):
            rest = step(rest + b)
            quotient = step(quotient - 1.0)
    else:
        rest = math.copysign(0.0, b)
    if quotient == 0 or math.isinf(quotient) or math.isnan(quotient):
        return (math.copysign(0.0, _divide(a, b)) if quotient == 0 else quotient), rest
    whole = float(math.floor(quotient))
    if quotient - whole > 0.5:
        whole += 1.0
    return step(whole), rest


@lru_cache(maxsize=256)
def float_operator(name: str, dtype: str) -> Callable[[float, float], float]:
    """``Add``, ``Sub`` ... of floats."""
    step = rounder(dtype)
    if name in ("Min", "Max"):
        less = name == "Min"

        def extreme(a: float, b: float) -> float:
            if math.isnan(a) or math.isnan(b):
                return math.nan
            return min(a, b) if less else max(a, b)

        return extreme
    table: dict[str, Callable[[float, float], float]] = {
        "Add": lambda a, b: step(a + b),
        "Sub": lambda a, b: step(a - b),
        "Mul": lambda a, b: step(a * b),
        "Div": lambda a, b: step(_divide(a, b)),
        "Mod": lambda a, b: step(_remainder(a, b)),
        "FloorDiv": lambda a, b: _floor_division(a, b, step)[0],
        "FloorMod": lambda a, b: _floor_division(a, b, step)[1],
    }
    return table[name]


def _through(function: Callable[..., Any]) -> Callable[..., float]:
    return lambda *args: float(function(*[np.float64(a) for a in args]))


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    z = math.exp(x)  # does not overflow; a nan stays
    return z / (1.0 + z)


def _power(x: float, y: float) -> float:
    if y == 0.5:  # NumPy takes a root, but that of -0 is -0 and of -infinity none
        return math.inf if x == -math.inf else math.nan if x < 0 else math.sqrt(x + 0.0)
    return float(np.power(np.float64(x), np.float64(y)))


def _rsqrt(x: float) -> float:
    return math.nan if x < 0 or math.isnan(x) else _divide(1.0, math.sqrt(x))


MATHEMATICS: dict[str, Callable[..., float]] = {
    **{n: _through(getattr(np, n)) for n in (
        "exp", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt",
        "floor", "ceil", "trunc", "fabs", "copysign", "hypot", "fmod")},
    **{n: _through(getattr(np, f"arc{n[1:]}")) for n in (
        "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    "exp10": lambda x: float(np.float64(10.0) ** np.float64(x)),
    "pow": _power,
    "round": _through(np.rint),
    "nearbyint": _through(np.rint),
    "abs": abs,
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "rsqrt": _rsqrt,
    "ldexp": lambda x, n: float(np.ldexp(np.float64(x), int(n))),
}  # fmt: skip
# Those of which the result is one that every implementation gives.
EXACT = frozenset({
    "sqrt", "floor", "ceil", "trunc", "fabs", "copysign", "fmod", "round", "nearbyint", "abs", "ldexp", "fma",
    "nextafter",
})  # fmt: skip


def fused(a: float, b: float, c: float, dtype: str) -> float:
    """``a * b + c`` rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return nearest(a * b + c, dtype)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return nearest(exact, dtype) if exact else a * b + c


def next_after(a: float, b: float, dtype: str) -> float:
    """The neighbour of ``a`` in the direction of ``b``."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b
    f = FORMATS[dtype]
    least = math.ldexp(1.0, f.least - f.precision + 1)
    if a == 0:
        return math.copysign(least, b)
    up = (b > a) == (a > 0)
    if math.isinf(a):
        return math.copysign(f.top, a)
    exponent = max(math.frexp(a)[1] - 1, f.least)
    unit = math.ldexp(1.0, exponent - f.precision + 1)
    size = abs(a)
    if not up and size == math.ldexp(1.0, exponent) and exponent > f.least:
        unit /= 2
    moved = size + unit if up else size - unit
    return math.copysign(math.inf if moved > f.top else moved, a)


# ---- integers


def quotient_down(a: int, b: int) -> int:
    return a // b if b else 0


def remainder_down(a: int, b: int) -> int:
    return a % b if b else 0


def quotient(a: int, b: int) -> int:
    """Rounded toward zero."""
    if b == 0:
        return 0
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b if b else 0


INTEGER: dict[str, Callable[[int, int], int]] = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "FloorDiv": quotient_down, "FloorMod": remainder_down, "Div": quotient, "Mod": remainder,
    "Min": min, "Max": max,
}  # fmt: skip


def shifted(name: str, a: int, count: int, bits: int) -> int:
    """A shift; one that is negative or not below the width moves every bit out."""
    if 0 <= count < bits:
        return a << count if name == "shift_left" else a >> count
    return -1 if name == "shift_right" and a < 0 else 0


def bit_operator(name: str, a: int, b: int, bits: int) -> int:
    if name in ("shift_left", "shift_right"):
        return shifted(name, a, b, bits)
    return a & b if name == "bitwise_and" else a | b if name == "bitwise_or" else a ^ b


def integer_power(a: int, n: int) -> int:
    """``a ** n``; of a negative power the quotient 1 / a**-n, toward zero."""
    if n >= 0:
        return pow(a, n)  # type: ignore[no-any-return]
    return 1 if a == 1 else (1 if n % 2 == 0 else -1) if a == -1 else 0


# ---- conversions


def convert(value: Any, have: str, want: str) -> Any:
    """``T.cast`` of one lane between two scalar dtypes."""
    source, target = dt.info(have), dt.info(want)
    if target.code == "bool":
        return value != 0
    if target.is_int:
        if source.is_float:
            low, high = dt.bounds(want)
            if math.isnan(value):
                return 0
            if math.isinf(value):
                return high if value > 0 else low
            return min(max(math.trunc(value), low), high)
        return dt.wrap(int(value), want)
    if target.is_float:
        return nearest(value if source.is_float else int(value), want)
    return value


# ---- memory

_CODES = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "bool": "?",
}  # fmt: skip
_SIZES = {8: "B", 16: "H"}


def size_of(dtype: str) -> int:
    """Bytes of one lane in memory."""
    return max(dt.info(dtype).bits // 8, 1)


def store(memory: bytearray, at: int, value: Any, dtype: str) -> None:
    """Write one lane."""
    code = _CODES.get(dtype)
    if code is None:
        d = dt.info(dtype)
        if d.is_int:  # narrow ones take a byte each
            memory[at] = value & 0xFF if d.code == "int" else value
            return
        code, value = _SIZES[d.bits], to_bits(value, dtype)
    elif code in "ef" and math.isfinite(value) and abs(value) > FORMATS[dtype].top:
        value = math.copysign(math.inf, value)
    struct.pack_into(f"<{code}", memory, at, value)


def load(memory: bytearray, at: int, dtype: str) -> Any:
    """Read one lane."""
    code = _CODES.get(dtype)
    if code is not None:
        return struct.unpack_from(f"<{code}", memory, at)[0]
    d = dt.info(dtype)
    if d.is_int:
        return dt.wrap(memory[at], dtype)
    return from_bits(struct.unpack_from(f"<{_SIZES[d.bits]}", memory, at)[0], dtype)


def to_bits(value: float, dtype: str) -> int:
    """The bits of a float of 8 or 16 bits."""
    f = FORMATS[dtype]
    bits = dt.info(dtype).bits
    sign = 1 if math.copysign(1.0, value) < 0 else 0
    fraction_bits = f.precision - 1
    top = (1 << (bits - 1 - fraction_bits)) - 1
    if math.isnan(value):
        body = (
            (1 << (bits - 1)) - 1 if math.isnan(f.beyond) else top << fraction_bits | 1 << (fraction_bits - 1)
        )
    elif math.isinf(value):
        body = top << fraction_bits
    elif value == 0:
        body = 0
    else:
        exponent = max(math.frexp(abs(value))[1] - 1, f.least)
        whole = int(math.ldexp(abs(value), fraction_bits - exponent))
        body = whole if whole < 1 << fraction_bits else (exponent - f.least << fraction_bits) + whole
    return sign << (bits - 1) | body


def from_bits(pattern: int, dtype: str) -> float:
    """The float of 8 or 16 bits that has these bits."""
    f = FORMATS[dtype]
    bits = dt.info(dtype).bits
    fraction_bits = f.precision - 1
    sign = -1.0 if pattern >> (bits - 1) else 1.0
    body = pattern & (1 << (bits - 1)) - 1
    exponent, fraction = body >> fraction_bits, body & (1 << fraction_bits) - 1
    top = (1 << (bits - 1 - fraction_bits)) - 1
    if math.isnan(f.beyond):
        if body == (1 << (bits - 1)) - 1:
            return math.nan
    elif exponent == top:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(fraction, f.least - fraction_bits)
    return sign * math.ldexp(fraction + (1 << fraction_bits), f.least + exponent - 1 - fraction_bits)


def reinterpreted(lanes: list[Any], have: str, want: str) -> list[Any]:
    """The same bits as lanes of another dtype."""
    memory = bytearray(len(lanes) * size_of(have))
    for k, v in enumerate(lanes):
        store(memory, k * size_of(have), v, have)
    return [load(memory, at, want) for at in range(0, len(memory), size_of(want))]
