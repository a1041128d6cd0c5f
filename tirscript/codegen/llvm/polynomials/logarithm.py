"""Logarithms of float32 and float64 and what is made of them.

``x = 2^e m`` with ``m`` between sqrt(1/2) and sqrt(2): a polynomial gives the logarithm of ``m = 1 + f``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .exponential import KINDS
from .routine import Reg, Routine, fma, magnitude, polynomial, root, where, with_sign

# Bits of sqrt(1/2), and of the exponents of 1 and of infinity.
_SQRT_HALF = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}
_ONE = {"f32": 127 << 23, "f64": 1023 << 52}
_INF = {"f32": 255 << 23, "f64": 2047 << 52}

# Of float32: (ln(1 + f) - f + f^2 / 2) / f^3; 2^-27.3.
_LN = (0.3333333134651184, -0.2500081956386566, 0.2000124156475067, -0.166234090924263, 0.14201579988002777,
       -0.13159610331058502, 0.12762212753295898, -0.07636427879333496)  # fmt: skip
# (ln(1 + f) / f - 1) / f over ln 2 and over ln 10; 2^-27.7.
_LB = (-0.7213473320007324, 0.4808982014656067, -0.3606986701488495, 0.28857141733169556,
       -0.2395673543214798, 0.20448657870292664, -0.19139082729816437, 0.18708819150924683,
       -0.1102558970451355)  # fmt: skip
_LG = (-0.21714718639850616, 0.14476478099822998, -0.10858088731765747, 0.08686871081590652,
       -0.07212329655885696, 0.061558373272418976, -0.05755741521716118, 0.05628890171647072,
       -0.03330931067466736)  # fmt: skip
# Of float64: (ln((1 + s) / (1 - s)) / s - 2) / s^2 in s^2; 2^-57.6.
_LN64 = (0.666666666666667, 0.3999999999989889, 0.28571428626253836, 0.22222211089379496, 0.1818289243253687,
         0.15331611722055008, 0.14617807153417325)  # fmt: skip
# 1 / ln 2 and 1 / ln 10: the nearest number and what it lacks.
_LOG2_E = {
    "f32": (1.4426950216293335, 1.9259629911266175e-08),
    "f64": (1.4426950408889634, 2.0355273740931033e-17),
}
_LOG10_E = {
    "f32": (0.4342944920063019, -1.0103050052231684e-08),
    "f64": (0.4342944819032518, 1.098319650216765e-17),
}


def _split(x: Reg) -> tuple[Reg, Reg, Reg]:
    """``f`` and ``e`` of a positive normal number, and ``e`` as an integer with the exponent's bias."""
    kind = x.kind
    fraction, bias = KINDS[kind].fraction, KINDS[kind].bias
    u = x.bits()
    if kind == "f32":
        i = u - _SQRT_HALF[kind]
        e = i.ashr(fraction)
        return (u - (i & (-1 << fraction))).bits() - 1, e.to("f32"), e + bias
    # Shifts of 64 bits with a sign are slow, and so are conversions: small integers as floats are what the
    # low bits of a large one hold.
    i = u + (_ONE[kind] - _SQRT_HALF[kind])
    m = (u - (i & (-1 << fraction)) + _ONE[kind]).bits()
    i = i >> fraction
    large = 2.0**52
    return m - 1, (i | x._of(large).bits()).bits() - (large + bias), i


def _parts(x: Reg) -> tuple[Reg, Reg]:
    """``f`` and ``e`` of a positive number."""
    c = KINDS[x.kind]
    more = float(c.fraction + 1)
    tiny = x.lt(2.0 ** (1 - c.bias))
    f, e, _ = _split(where(tiny, x * 2.0**more, x))
    return f, e - where(tiny, x._of(more), 0.0)


def _defined(x: Reg, value: Reg, pole: float = 0.0) -> Reg:
    """The value of a logarithm, or what it is outside of its numbers."""
    value = where(x.lt(math.inf), value, x)
    return where(x.gt(pole), value, where(x.eq(pole), -math.inf, where(x.lt(pole), math.nan, x)))


def _low(f: Reg, more: Reg | None = None) -> Reg:
    """``ln(1 + f) - f`` of float64, plus ``more``."""
    s = f / (f + 2)
    square = s * s
    half = f * f * 0.5
    rest = fma(square, polynomial(square, _LN64), half)
    return (s * rest if more is None else fma(s, rest, more)) - half


def _ln(f: Reg, e: Reg) -> Reg:
    """``ln(1 + f) + e ln 2``."""
    high, low = KINDS[f.kind].ln2
    if f.kind == "f64":
        y = _low(f, e * low)
    else:
        square = f * f
        y = fma(f * square, polynomial(f, _LN), e * low)
        y = fma(square, -0.5, y)
    return fma(e, high, f + y)


def _lb(f: Reg, e: Reg) -> Reg:
    high, low = _LOG2_E[f.kind]
    if f.kind == "f64":
        y = fma(_low(f), high, f * low)
    else:
        y = f * fma(f, polynomial(f, _LB), low)
    return fma(f, high, y) + e


def _lg(f: Reg, e: Reg) -> Reg:
    high, low = _LOG10_E[f.kind]
    two = KINDS[f.kind].log10_2
    if f.kind == "f64":
        y = fma(_low(f), high, f * low)
    else:
        y = f * fma(f, polynomial(f, _LG), low)
    return fma(e, two[0], fma(f, high, fma(e, two[1], y)))


def _logarithm(word: str, x: Reg, formula: Callable[[Reg, Reg], Reg]) -> Reg:
    """The formula's value; in vectors numbers that are not normal and positive have a branch of their own,
    in scalars they have none, so that loops over them can be made loops over vectors."""
    kind, lanes = x.kind, x.code.lanes
    if lanes == 1:
        return _defined(x, formula(*_parts(x)))

    def unusual() -> list[Reg]:
        code = Routine(f"@ts.math.{word}.unusual.{kind}x{lanes}", [kind], lanes)
        y = code.params[0]
        code.outside[code.name] = code.text(_defined(y, formula(*_parts(y))))
        return [x.code.call(code, x, result=kind)]

    f, e, _ = _split(x)
    # From the least normal number to the largest, as signed numbers: one comparison finds both ends.
    step = 1 << KINDS[kind].fraction
    strange = (x.bits() + _INF[kind]).gt(-2 * step - 1)
    return x.code.where_any(strange, unusual, [formula(f, e)])[0]


def log(x: Reg) -> Reg:
    return _logarithm("log", x, _ln)


def log2(x: Reg) -> Reg:
    return _logarithm("log2", x, _lb)


def log10(x: Reg) -> Reg:
    return _logarithm("log10", x, _lg)


def log1p(x: Reg) -> Reg:
    """``ln u`` with ``u = 1 + x``; what the sum lost is added to u's fraction."""
    c = KINDS[x.kind]
    u = x + 1
    back = u - 1
    lost = (1 - (u - back)) + (x - back)
    f, e, i = _split(u)
    scale = where(i.lt(c.bias + 64), (2 * c.bias - i) << c.fraction, 0).bits()
    made = _defined(x, _ln(fma(lost, scale, f), e), -1.0)
    return where(x.eq(0.0), x, made)


# ---- through float64


# 2^-37.7: ln((1 + s) / (1 - s)) / s in s^2, over 1 and over ln 2.
_WIDE_LN = (2.0000000000086633, 0.666666652081049, 0.4000039244169344, 0.28534570393199793, 0.236255084249187)
_WIDE_LB = (2.8853900817904257, 0.9617966728826797, 0.5770836781840607, 0.41166682784216757,
            0.3408441022157136)  # fmt: skip
# (2^r - 1) / r; 2^-34.
_WIDE_EXP2 = (0.6931471807056918, 0.24022651068776002, 0.05550410362985204, 0.009618037769380638,
              0.0013333936563176274, 0.00015466882416401907, 1.5196043663248249e-05)  # fmt: skip
_WIDE_ROUND = 1.5 * 2.0**52 + 1023


def _wide_log1p(w: Reg) -> Reg:
    """``ln(1 + w)`` of a float64 w, to float32's precision; w at least -0.999."""
    f, e = _split(w + 1)[:2]
    f = where(e.eq(0.0), w, f)
    s = f / (f + 2)
    return fma(e, math.log(2), s * polynomial(s * s, _WIDE_LN))


def _far_log(w: Reg, y: Reg) -> Reg:
    """Of float64 ``ln(1 + w)``, but ``ln(1 + y) + ln 2`` of large y, before w overflows."""
    far = y.gt(2.0**60)
    high, low = KINDS["f64"].ln2
    made = log1p(where(far, y, w))
    return made + where(far, y._of(low), 0.0) + where(far, y._of(high), 0.0)


def asinh(x: Reg) -> Reg:
    """``ln(1 + w)`` with ``w = y + y^2 / (1 + sqrt(1 + y^2))``."""
    y = magnitude(x).to("f64")
    square = y * y
    w = y + square / (root(square + 1) + 1)
    if x.kind == "f64":
        return with_sign(_far_log(w, y), x)
    made = where(y.lt(math.inf), _wide_log1p(w), y)
    return with_sign(made.to("f32"), x)


def acosh(x: Reg) -> Reg:
    """``ln(1 + w)`` with ``w = t + sqrt(t (t + 2))``, ``t = x - 1``."""
    t = x.to("f64") - 1
    w = t + root(t * (t + 2))
    if x.kind == "f64":
        return where(t.lt(0.0), math.nan, _far_log(w, x))
    made = where(t.lt(math.inf), _wide_log1p(w), t)
    return where(t.lt(0.0), math.nan, made).to("f32")


def atanh(x: Reg) -> Reg:
    """``ln(1 + w) / 2`` with ``w = 2y / (1 - y) = 2y + 2y y / (1 - y)``."""
    size = magnitude(x)
    y = size.to("f64")
    twice = y + y
    if x.kind == "f64":
        small = fma(twice, y / (1 - y), twice)
        made = log1p(where(y.lt(0.5), small, twice / (1 - y))) * 0.5
    else:
        made = (_wide_log1p(twice / (1 - y)) * 0.5).to("f32")
    made = where(size.lt(1.0), made, where(size.eq(1.0), x._of(math.inf), math.nan))
    return with_sign(made, x)


def pow(x: Reg, y: Reg) -> Reg:
    """``2^(y log2 |x|)`` in float64, then C's rules for signs and special values."""
    size = magnitude(x)
    f, e = _split(size.to("f64"))[:2]
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
