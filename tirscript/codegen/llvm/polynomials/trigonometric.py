"""Circular functions and their inverses, of float32 and float64."""

from __future__ import annotations

import math
from collections.abc import Callable

from .routine import Reg, Routine, fma, magnitude, polynomial, root, where, with_sign

_ROUND = 1.5 * 2.0**52
# pi / 2 in parts, all but the last short enough for exact products with the whole numbers that occur; they
# occur up to this reach, for which the exponent's bits stand.
_HALF_PI = {
    "f32": (1.5707963267341256, 6.077100506506192e-11),
    "f64": (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
}
_REACH = {"f32": (127 + 20) << 23, "f64": (1023 + 16) << 52}
# The bits of 2 / pi, 24 at a time.
_TWO_OVER_PI = (0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041)
_PI = {"f32": (3.1415927410125732, -8.742277657347586e-08), "f64": (math.pi, 1.2246467991473532e-16)}

# In r^2 up to (pi / 4)^2: (sin r - r) / r^3, (cos r - 1 + r^2 / 2) / r^4, (tan r - r) / r^3; 2^-27.9, 2^-33
# and 2^-29.5 of float32, 2^-55.4, 2^-59.5 and 2^-55.8 of float64.
_SIN = {
    "f32": (-0.16666655242443085, 0.008332187309861183, -0.00019517907639965415),
    "f64": (-0.16666666666666666, 0.008333333333330936, -0.00019841269836740527, 2.7557316093196066e-06,
            -2.5051129895962807e-08, 1.5917988944318716e-10),
}  # fmt: skip
_COS = {
    "f32": (0.04166664555668831, -0.0013887309469282627, 2.4432330974377692e-05),
    "f64": (0.041666666666666664, -0.0013888888888887389, 2.48015872987544e-05, -2.7557317265876615e-07,
            2.087614504910828e-09, -1.1382544623404291e-11),
}  # fmt: skip
_TAN = {
    "f32": (0.33333349227905273, 0.1333267241716385, 0.054059434682130814, 0.021282905712723732,
            0.010837140493094921, 8.483014244120568e-05, 0.004379772115498781),
    "f64": (0.3333333333333333, 0.13333333333332995, 0.05396825396866166, 0.02186948851679937,
            0.008863236009827717, 0.003592120893293117, 0.0014559035143147494, 0.000589570946217593,
            0.00024124581635344913, 8.992809105585496e-05, 5.570516166941398e-05, -1.1178739990301611e-05,
            3.66678778392268e-05, -1.8397257114776146e-05, 8.503063128445125e-06),
}  # fmt: skip
# In x^2: (asin x - x) / x^3 up to 1 / 4, (atan x - x) / x^3 up to tan(pi / 8)^2; 2^-31.7 and 2^-30.4 of
# float32, 2^-57.4 and 2^-56.9 of float64.
_ASIN = {
    "f32": (0.16666659712791443, 0.07500521838665009, 0.04451337456703186, 0.03183908388018608,
            0.014314963482320309, 0.037696462124586105),
    "f64": (0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247,
            0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
            0.01032281435018578, 0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
            0.028757851367421566),
}  # fmt: skip
_ATAN = {
    "f32": (-0.33333316445350647, 0.19998528063297272, -0.14244391024112701, 0.1059916615486145,
            -0.06090037152171135),
    "f64": (-0.3333333333333333, 0.19999999999995516, -0.14285714284665682, 0.11111111015187018,
            -0.0909090457530649, 0.07692183125376892, -0.06664510525508936, 0.05858140904866328,
            -0.050854078345894844, 0.03923044778479309, -0.019175404711104935),
}  # fmt: skip


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


def _nearest(x: Reg) -> tuple[Reg, Reg]:
    """``x - k pi / 2`` for the nearest whole ``k``, by float64, and the low bits of ``k``."""
    wide = x.to("f64")
    t = fma(wide, 2 / math.pi, _ROUND)
    n = t - _ROUND
    r = wide
    for part in _HALF_PI[x.kind]:
        r = fma(n, -part, r)
    return r.to(x.kind), t.bits().to("i32" if x.kind == "f32" else "i64")


def _far(x: Reg) -> Reg:
    """Where x is beyond the reach of that; as integers, so that nans are far, too."""
    sign = 1 << (31 if x.kind == "f32" else 63)
    return (x.bits() & (sign - 1)).gt(_REACH[x.kind])


def _circular(word: str, x: Reg, formula: Callable[[Reg, Reg], Reg]) -> Reg:
    """The formula of what is left of x and of the quarter turn; far numbers have a branch."""
    code = x.code
    r, quarter = _nearest(x)
    if x.kind == "f64":
        usual = formula(r, quarter)
        return code.where_any(_far(x), lambda: [where(_far(x), code.lanewise(word, x), usual)], [usual])[0]

    def huge() -> list[Reg]:
        other = Routine(f"@ts.math.huge.x{code.lanes}", ["f32"], code.lanes)
        other.outside[other.name] = other.text(_huge(other.params[0]))
        both = code.call(other, x, result="i64")
        far = _far(x)
        return [where(far, both.to("i32").bits(), r), where(far, (both >> 32).to("i32"), quarter)]

    return formula(*code.where_any(_far(x), huge, [r, quarter]))


def _sine(r: Reg, square: Reg) -> Reg:
    return fma(r * square, polynomial(square, _SIN[r.kind]), r)


def _cosine(square: Reg) -> Reg:
    return fma(square * square, polynomial(square, _COS[square.kind]), fma(square, -0.5, 1.0))


def _is_odd(quarter: Reg) -> Reg:
    return (quarter << (31 if quarter.kind == "i32" else 63)).lt(0)


def _quadrant(r: Reg, quarter: Reg) -> Reg:
    """The sine of ``r + quarter pi / 2``."""
    square = r * r
    made = where(_is_odd(quarter), _cosine(square), _sine(r, square))
    return (made.bits() ^ ((quarter & 2) << (30 if r.kind == "f32" else 62))).bits()


def _tangent(r: Reg, quarter: Reg) -> Reg:
    square = r * r
    t = fma(r * square, polynomial(square, _TAN[r.kind]), r)
    return where(_is_odd(quarter), -1.0 / t, t)


def sin(x: Reg) -> Reg:
    return where(x.eq(0.0), x, _circular("sin", x, _quadrant))


def cos(x: Reg) -> Reg:
    return _circular("cos", x, lambda r, quarter: _quadrant(r, quarter + 1))


def tan(x: Reg) -> Reg:
    return _circular("tan", x, _tangent)


def _arc(y: Reg) -> tuple[Reg, Reg]:
    """For 0 <= y: whether y is over 1/2, and the arc sine of y or, over 1/2, of sqrt((1 - y) / 2)."""
    over = y.gt(0.5)
    half = fma(y, -0.5, 0.5)
    square = where(over, half, y * y)
    z = where(over, root(half), y)
    return over, fma(z * square, polynomial(square, _ASIN[y.kind]), z)


def asin(x: Reg) -> Reg:
    over, arc = _arc(magnitude(x))
    high, low = _PI[x.kind]
    large = (high / 2 - 2 * arc) + low / 2
    return with_sign(where(over, large, arc), x)


def acos(x: Reg) -> Reg:
    over, arc = _arc(magnitude(x))
    high, low = _PI[x.kind]
    twice = arc + arc
    left = (high - twice) + low
    middle = (high / 2 - with_sign(arc, x)) + low / 2
    return where(over, where(x.lt(0.0), left, twice), middle)


def _turned(y: Reg, x: Reg) -> tuple[Reg, Reg]:
    """For y, x >= 0: ``t`` and the multiple of pi / 4 to add to its arc tangent."""
    steep, middle = y.gt(x * 2.414213562373095), y.gt(x * 0.4142135623730951)
    top = where(steep, -x, where(middle, y - x, y))
    bottom = where(steep, y, where(middle, y + x, x))
    return top / bottom, where(steep, y._of(2.0), where(middle, y._of(1.0), 0.0))


def _atan(t: Reg, eighths: Reg) -> Reg:
    square = t * t
    high, low = _PI[t.kind]
    arc = fma(t * square, polynomial(square, _ATAN[t.kind]), t)
    return fma(eighths, high / 4, fma(eighths, low / 4, arc))


def atan(x: Reg) -> Reg:
    y = magnitude(x)
    t, eighths = _turned(y, y._of(1.0))
    return with_sign(_atan(t, eighths), x)


def atan2(y: Reg, x: Reg) -> Reg:
    """The angle of (x, y), by a quotient in float64; that of large float64 is of smaller ones."""
    a, b = magnitude(y), magnitude(x)
    both = a.eq(math.inf) & b.eq(math.inf)
    a, b = where(both, 1.0, a), where(both, 1.0, b)
    if x.kind == "f64":
        large = 2.0**1000
        factor = where(a.gt(large), a._of(2.0**-60), where(b.gt(large), a._of(2.0**-60), 1.0))
        t, eighths = _turned(a * factor, b * factor)
    else:
        t, eighths = _turned(a.to("f64"), b.to("f64"))
    t = where(a.eq(0.0), 0.0, t.to(x.kind))
    eighths = eighths.to(x.kind)
    # Behind the origin the angle is pi minus that.
    behind = x.bits().lt(0)
    t = where(behind, -t, t)
    eighths = where(behind, 4 - eighths, eighths)
    made = _atan(t, eighths)
    made = where(x.is_nan() | y.is_nan(), x + y, made)
    return with_sign(made, y)
