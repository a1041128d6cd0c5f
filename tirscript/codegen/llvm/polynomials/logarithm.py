"""Logarithms and what is made of them, of float32.

``x = 2^e m`` with ``m`` between sqrt(1/2) and sqrt(2): a polynomial gives the logarithm of ``m = 1 + f``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .exponential import LN2, LOG10_2
from .routine import Reg, Routine, fma, magnitude, polynomial, root, where, with_sign

_LEAST_NORMAL = 2.0**-126
_SQRT_HALF = 0x3F3504F3  # bits of sqrt(1/2)

# (ln(1 + f) - f + f^2 / 2) / f^3; 2^-27.3.
_LN = (0.3333333134651184, -0.2500081956386566, 0.2000124156475067, -0.166234090924263, 0.14201579988002777,
       -0.13159610331058502, 0.12762212753295898, -0.07636427879333496)  # fmt: skip
# (ln(1 + f) / f - 1) / f over ln 2 and over ln 10; 2^-27.7.
_LB = (-0.7213473320007324, 0.4808982014656067, -0.3606986701488495, 0.28857141733169556,
       -0.2395673543214798, 0.20448657870292664, -0.19139082729816437, 0.18708819150924683,
       -0.1102558970451355)  # fmt: skip
_LG = (-0.21714718639850616, 0.14476478099822998, -0.10858088731765747, 0.08686871081590652,
       -0.07212329655885696, 0.061558373272418976, -0.05755741521716118, 0.05628890171647072,
       -0.03330931067466736)  # fmt: skip
# 1 / ln 2 and 1 / ln 10: the nearest float32 and what it lacks.
_LOG2_E = (1.4426950216293335, 1.9259629911266175e-08)
_LOG10_E = (0.4342944920063019, -1.0103050052231684e-08)


def _parts(x: Reg) -> tuple[Reg, Reg]:
    """``f`` and ``e`` of a positive number."""
    tiny = x.lt(_LEAST_NORMAL)
    u = where(tiny, x * 2.0**24, x).bits()
    e = (u - _SQRT_HALF).ashr(23)
    m = (u - (e << 23)).bits()
    return m - 1, e.to("f32") - where(tiny, x._of(24.0), 0.0)


def _defined(x: Reg, value: Reg, pole: float = 0.0) -> Reg:
    """The value of a logarithm, or what it is outside of its numbers."""
    value = where(x.lt(math.inf), value, x)
    return where(x.gt(pole), value, where(x.eq(pole), -math.inf, where(x.lt(pole), math.nan, x)))


def _ln(f: Reg, e: Reg) -> Reg:
    """``ln(1 + f) + e ln 2``."""
    square = f * f
    y = fma(f * square, polynomial(f, _LN), e * LN2[1])
    y = fma(square, -0.5, y)
    return fma(e, LN2[0], f + y)


def _lb(f: Reg, e: Reg) -> Reg:
    low = f * fma(f, polynomial(f, _LB), _LOG2_E[1])
    return fma(f, _LOG2_E[0], low) + e


def _lg(f: Reg, e: Reg) -> Reg:
    low = f * fma(f, polynomial(f, _LG), _LOG10_E[1])
    low = fma(f, _LOG10_E[0], fma(e, LOG10_2[1], low))
    return fma(e, LOG10_2[0], low)


def _logarithm(word: str, x: Reg, formula: Callable[[Reg, Reg], Reg]) -> Reg:
    """The formula's value; in vectors numbers that are not normal and positive have a branch of their own,
    in scalars they have none, so that loops over them can be made loops over vectors."""
    if x.code.lanes == 1:
        return _defined(x, formula(*_parts(x)))

    def unusual() -> list[Reg]:
        code = Routine(f"@ts.math.{word}.unusual.x{x.code.lanes}", ["f32"], x.code.lanes)
        y = code.params[0]
        code.outside[code.name] = code.text(_defined(y, formula(*_parts(y))))
        return [x.code.call(code, x, result="f32")]

    u = x.bits()
    e = (u - _SQRT_HALF).ashr(23)
    usual = formula((u - (e << 23)).bits() - 1, e.to("f32"))
    # As signed numbers, so that one comparison finds both ends.
    return x.code.where_any((u + 0x7F800000).gt(-0x01000001), unusual, [usual])[0]


def log(x: Reg) -> Reg:
    return _logarithm("log", x, _ln)


def log2(x: Reg) -> Reg:
    return _logarithm("log2", x, _lb)


def log10(x: Reg) -> Reg:
    return _logarithm("log10", x, _lg)


def log1p(x: Reg) -> Reg:
    """``ln u`` with ``u = 1 + x``; what the sum lost is added to u's fraction."""
    u = x + 1
    back = u - 1
    lost = (1 - (u - back)) + (x - back)
    bits = u.bits()
    i = (bits - _SQRT_HALF).ashr(23)
    m = (bits - (i << 23)).bits()
    scale = where(i.lt(64), (127 - i) << 23, 0).bits()
    f = fma(lost, scale, m - 1)
    made = _defined(x, _ln(f, i.to("f32")), -1.0)
    return where(x.eq(0.0), x, made)


# ---- through float64


# 2^-37.7: ln((1 + s) / (1 - s)) / s in s^2, over 1 and over ln 2.
_WIDE_LN = (2.0000000000086633, 0.666666652081049, 0.4000039244169344, 0.28534570393199793, 0.236255084249187)
_WIDE_LB = (2.8853900817904257, 0.9617966728826797, 0.5770836781840607, 0.41166682784216757,
            0.3408441022157136)  # fmt: skip
# (2^r - 1) / r; 2^-34.
_WIDE_EXP2 = (0.6931471807056918, 0.24022651068776002, 0.05550410362985204, 0.009618037769380638,
              0.0013333936563176274, 0.00015466882416401907, 1.5196043663248249e-05)  # fmt: skip
_WIDE_SQRT_HALF = 0x3FE6A09E667F3BCD
_WIDE_ONE = 1023 << 52
_WIDE_ROUND = 1.5 * 2.0**52 + 1023


def _wide_parts(x: Reg) -> tuple[Reg, Reg]:
    """``f`` and ``e`` of a positive normal float64."""
    u = x.bits()
    i = u - _WIDE_SQRT_HALF + _WIDE_ONE
    m = (u - (i & (-1 << 52)) + _WIDE_ONE).bits()
    # i is small: as a float it is what the low bits of a large one hold.
    e = ((i >> 52) | _bits(2.0**52)).bits() - (2.0**52 + 1023)
    return m - 1, e


def _bits(x: float) -> int:
    import struct

    made: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return made


def _wide_log1p(w: Reg) -> Reg:
    """``ln(1 + w)`` of a float64 w, to float32's precision; w at least -0.999."""
    f, e = _wide_parts(w + 1)
    f = where(e.eq(0.0), w, f)
    s = f / (f + 2)
    return fma(e, math.log(2), s * polynomial(s * s, _WIDE_LN))


def asinh(x: Reg) -> Reg:
    """``ln(1 + w)`` with ``w = y + y^2 / (1 + sqrt(1 + y^2))``."""
    y = magnitude(x).to("f64")
    square = y * y
    w = y + square / (root(square + 1) + 1)
    made = where(y.lt(math.inf), _wide_log1p(w), y)
    return with_sign(made.to("f32"), x)


def acosh(x: Reg) -> Reg:
    """``ln(1 + w)`` with ``w = t + sqrt(t (t + 2))``, ``t = x - 1``."""
    t = x.to("f64") - 1
    made = _wide_log1p(t + root(t * (t + 2)))
    made = where(t.lt(math.inf), made, t)
    return where(t.lt(0.0), math.nan, made).to("f32")


def atanh(x: Reg) -> Reg:
    """``ln(1 + w) / 2`` with ``w = 2y / (1 - y)``."""
    size = magnitude(x)
    y = size.to("f64")
    made = (_wide_log1p((y + y) / (1 - y)) * 0.5).to("f32")
    made = where(size.lt(1.0), made, where(size.eq(1.0), x._of(math.inf), math.nan))
    return with_sign(made, x)


def pow(x: Reg, y: Reg) -> Reg:
    """``2^(y log2 |x|)`` in float64, then C's rules for signs and special values."""
    size = magnitude(x)
    f, e = _wide_parts(size.to("f64"))
    s = f / (f + 2)
    log = fma(s, polynomial(s * s, _WIDE_LB), e)
    log = where(size.eq(0.0), -math.inf, where(size.lt(math.inf), log, size.to("f64")))
    z = y.to("f64") * log
    # 1 and -1 to any power, infinite ones too.
    z = where(size.eq(1.0) & y.eq(y), 0.0, z)
    low, high = z._of(-151.0), z._of(129.0)
    z = where(low.gt(z), low, z)
    z = where(high.lt(z), high, z)
    t = z + _WIDE_ROUND
    r = z - (t - _WIDE_ROUND)
    made = (fma(r, polynomial(r, _WIDE_EXP2), 1.0) * (t.bits() << 52).bits()).to("f32")
    # Numbers of 2^24 and more are even; the nearest whole number of one below is found by an addition.
    reach = magnitude(y)
    fraction = reach.lt(2.0**23)
    whole = with_sign(reach + 2.0**23 - 2.0**23, y).eq(y) | ~fraction
    half = reach * 0.5
    odd = whole & reach.lt(2.0**24) & (half + 2.0**23 - 2.0**23).ne(half)
    negative = x.bits().lt(0)
    made = where(negative & odd, -made, made)
    made = where(x.lt(0.0) & size.lt(math.inf) & ~whole, math.nan, made)
    return where(x.eq(1.0) | y.eq(0.0), 1.0, made)
