"""Circular functions and their inverses, of float32."""

from __future__ import annotations

import math

from .routine import Reg, Routine, at_least, fma, magnitude, polynomial, root, where, with_sign

_ROUND = 1.5 * 2.0**52
# Two parts of pi / 2, the first short enough for exact products with whole numbers below 2^20.
_HALF_PI = (1.5707963267341256, 6.077100506506192e-11)
_REACH, _REACH_BITS = 2.0**20, (127 + 20) << 23
# The bits of 2 / pi, 24 at a time.
_TWO_OVER_PI = (0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041)

# In r^2 up to (pi / 4)^2: (sin r - r) / r^3, (cos r - 1 + r^2 / 2) / r^4, (tan r - r) / r^3; 2^-27.9,
# 2^-33 and 2^-29.5.
_SIN = (-0.16666655242443085, 0.008332187309861183, -0.00019517907639965415)
_COS = (0.04166664555668831, -0.0013887309469282627, 2.4432330974377692e-05)
_TAN = (0.33333349227905273, 0.1333267241716385, 0.054059434682130814, 0.021282905712723732,
        0.010837140493094921, 8.483014244120568e-05, 0.004379772115498781)  # fmt: skip
# In x^2: (asin x - x) / x^3 up to 1 / 4, (atan x - x) / x^3 up to tan(pi / 8)^2; 2^-31.7 and 2^-30.4.
_ASIN = (0.16666659712791443, 0.07500521838665009, 0.04451337456703186, 0.03183908388018608,
         0.014314963482320309, 0.037696462124586105)  # fmt: skip
_ATAN = (-0.33333316445350647, 0.19998528063297272, -0.14244391024112701, 0.1059916615486145,
         -0.06090037152171135)  # fmt: skip
_PI = (3.1415927410125732, -8.742277657347586e-08)


def _huge(x: Reg) -> Reg:
    """As ``_reduced``, for numbers of any size: x times 2 / pi, modulo 4, piece by piece.  The whole number
    is in the upper half of an integer, the bits of the rest in the lower.

    Each product is exact, and so is each sum until its last bit is below 2^-50; what comes then is less
    than 1 / 4 and only then can cancel.
    """
    wide = x.to("f64")
    f, n = wide._of(0.0), wide._of(0.0)
    for k, piece in enumerate(_TWO_OVER_PI):
        p = wide * math.ldexp(piece, -24 * (k + 1))
        f = f + fma(x.code.intrinsic("rint", p * 0.25), -4.0, p)
        whole = x.code.intrinsic("rint", f)
        f = f - whole
        n = n + whole
    rest = (f * (math.pi / 2)).to("f32").bits().to("i64") & 0xFFFFFFFF
    return ((n + _ROUND).bits() << 32) | rest


def _reduced(x: Reg) -> tuple[Reg, Reg]:
    """``x - k pi / 2`` for the nearest whole ``k``, and ``k`` modulo 4 in the low bits of an integer."""
    code = x.code
    wide = x.to("f64")
    t = fma(wide, 2 / math.pi, _ROUND)
    n = t - _ROUND
    r = wide
    for part in _HALF_PI:
        r = fma(n, -part, r)
    rest, quarter = r.to("f32"), t.bits().to("i32")

    def huge() -> list[Reg]:
        other = Routine(f"@ts.math.huge.x{code.lanes}", ["f32"], code.lanes)
        other.outside[other.name] = other.text(_huge(other.params[0]))
        both = code.call(other, x, result="i64")
        near = magnitude(x).le(_REACH)
        found = [both.to("i32").bits(), (both >> 32).to("i32")]
        return [where(near, rest, found[0]), where(near, quarter, found[1])]

    # As integers: nans are far, too.
    far = (x.bits() & 0x7FFFFFFF).gt(_REACH_BITS)
    rest, quarter = code.where_any(far, huge, [rest, quarter])
    return rest, quarter


def _sine(r: Reg, square: Reg) -> Reg:
    return fma(r * square, polynomial(square, _SIN), r)


def _cosine(square: Reg) -> Reg:
    return fma(square * square, polynomial(square, _COS), fma(square, -0.5, 1.0))


def _quadrant(r: Reg, quarter: Reg) -> Reg:
    """The sine of ``r + quarter pi / 2``."""
    square = r * r
    made = where((quarter << 31).lt(0), _cosine(square), _sine(r, square))
    return (made.bits() ^ ((quarter & 2) << 30)).bits()


def sin(x: Reg) -> Reg:
    r, quarter = _reduced(x)
    return where(x.eq(0.0), x, _quadrant(r, quarter))


def cos(x: Reg) -> Reg:
    r, quarter = _reduced(x)
    return _quadrant(r, quarter + 1)


def tan(x: Reg) -> Reg:
    r, quarter = _reduced(x)
    square = r * r
    t = fma(r * square, polynomial(square, _TAN), r)
    return where((quarter << 31).lt(0), -1.0 / t, t)


def _arc(y: Reg) -> tuple[Reg, Reg, Reg]:
    """For 0 <= y: whether y is over 1/2, and the arc sine of y or, over 1/2, of sqrt((1 - y) / 2)."""
    over = y.gt(0.5)
    half = fma(y, -0.5, 0.5)
    square = where(over, half, y * y)
    z = where(over, root(half), y)
    return over, z, fma(z * square, polynomial(square, _ASIN), z)


def asin(x: Reg) -> Reg:
    over, _, arc = _arc(magnitude(x))
    large = (_PI[0] / 2 - 2 * arc) + _PI[1] / 2
    return with_sign(where(over, large, arc), x)


def acos(x: Reg) -> Reg:
    over, _, arc = _arc(magnitude(x))
    twice = arc + arc
    left = (_PI[0] - twice) + _PI[1]
    middle = (_PI[0] / 2 - with_sign(arc, x)) + _PI[1] / 2
    return where(over, where(x.lt(0.0), left, twice), middle)


def _turned(y: Reg, x: Reg) -> tuple[Reg, Reg]:
    """For y, x >= 0, as float64: ``t`` and the multiple of pi / 4 to add to its arc tangent."""
    steep, middle = y.gt(x * 2.414213562373095), y.gt(x * 0.4142135623730951)
    top = where(steep, -x, where(middle, y - x, y))
    bottom = where(steep, y, where(middle, y + x, x))
    return top / bottom, where(steep, y._of(2.0), where(middle, y._of(1.0), 0.0))


def _atan(t: Reg, eighths: Reg) -> Reg:
    square = t * t
    arc = fma(t * square, polynomial(square, _ATAN), t)
    low = fma(eighths, _PI[1] / 4, arc)
    return fma(eighths, _PI[0] / 4, low)


def atan(x: Reg) -> Reg:
    y = magnitude(x)
    t, eighths = _turned(y, y._of(1.0))
    return with_sign(_atan(t, eighths), x)


def atan2(y: Reg, x: Reg) -> Reg:
    """The angle of (x, y); quotients in float64, which cannot overflow there."""
    a, b = magnitude(y), magnitude(x)
    both = a.eq(math.inf) & b.eq(math.inf)
    a, b = where(both, 1.0, a), where(both, 1.0, b)
    t, eighths = _turned(a.to("f64"), b.to("f64"))
    t = where(a.eq(0.0), 0.0, t.to("f32"))
    eighths = eighths.to("f32")
    # Behind the origin the angle is pi minus that.
    behind = x.bits().lt(0)
    t = where(behind, -t, t)
    eighths = where(behind, 4 - eighths, eighths)
    made = _atan(t, eighths)
    made = where(x.is_nan() | y.is_nan(), x + y, made)
    return with_sign(made, y)


__all__ = ["acos", "asin", "at_least", "atan", "atan2", "cos", "sin", "tan"]
