"""Remainders, lengths, neighbours and powers of two: functions whose results are exact or nearly so."""

from __future__ import annotations

import math

from .routine import Reg, fma, magnitude, root, where, with_sign

_ROUND = 1.5 * 2.0**52


def rsqrt(x: Reg) -> Reg:
    return 1 / root(x)


def hypot(x: Reg, y: Reg) -> Reg:
    """In float64, where the squares do not overflow; with an infinite side the other does not matter."""
    a, b = x.to("f64"), y.to("f64")
    made = root(fma(a, a, b * b)).to("f32")
    either = magnitude(x).eq(math.inf) | magnitude(y).eq(math.inf)
    return where(either, math.inf, made)


def fmod(x: Reg, y: Reg) -> Reg:
    """Of float32, ``x - n y`` in float64, exact for quotients below 2^29; the rest by the C library."""
    if x.kind == "f64":
        return x.code.lanewise("fmod", x, y)
    a, b = magnitude(x).to("f64"), magnitude(y).to("f64")
    q = a / b
    r = fma((q + _ROUND) - _ROUND, -b, a)
    r = where(r.lt(0.0), r + b, r)
    r = where(b.eq(math.inf), a, r)
    # Not a number: x infinite, y zero.
    r = where(a.lt(math.inf) & b.gt(0.0), r, math.nan)
    usual = with_sign(r.to("f32"), x)
    far = q.ge(2.0**29) & a.lt(math.inf) & b.gt(0.0)
    return x.code.where_any(far, lambda: [x.code.lanewise("fmodf", x, y)], [usual])[0]


def _divided(x: Reg, y: Reg) -> tuple[Reg, Reg]:
    """NumPy's remainder, with y's sign, and the whole quotient before its last rounding; y not 0."""
    rest = fmod(x, y)
    quotient = (x - rest) / y
    # As signed integers: floats of different signs.
    mixed = (rest.bits() ^ y.bits()).lt(0)
    moved = where(mixed, rest + y, rest)
    less = where(mixed, quotient - 1, quotient)
    whole = rest.eq(0.0)
    return where(whole, with_sign(rest._of(0.0), y), moved), where(whole, quotient, less)


def floormod(x: Reg, y: Reg) -> Reg:
    return where(y.eq(0.0), math.nan, _divided(x, y)[0])


def floordiv(x: Reg, y: Reg) -> Reg:
    quotient = _divided(x, y)[1]
    down = x.code.intrinsic("floor", quotient)
    near = where((quotient - down).gt(0.5), down + 1, down)
    plain = x / y
    near = where(quotient.eq(0.0), with_sign(near._of(0.0), plain), near)
    return where(y.eq(0.0), plain, near)


def ldexp(x: Reg, n: Reg) -> Reg:
    """One product in float64, whose exponents go far enough, rounded once."""
    n = where(n.gt(400), 400, where(n.lt(-400), -400, n)).to("i64")
    return (x.to("f64") * ((n + 1023) << 52).bits()).to("f32")


def nextafter(x: Reg, y: Reg) -> Reg:
    """Neighbours in size differ by 1 as integers."""
    sign = 1 << 31 if x.kind == "f32" else 1 << 63
    code = x.bits()
    grows = x.lt(y) ^ code.lt(0)
    step = where(grows, code._of(1), -1)
    least = (y.bits() & sign) | 1
    made = where(x.eq(0.0), least, code + step).bits()
    made = where(x.eq(y), y, made)
    return where(x.is_nan() | y.is_nan(), x + y, made)
