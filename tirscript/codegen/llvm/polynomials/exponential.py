"""Exponentials and what is made of them, of float32.

``e^x = 2^n e^r`` with the whole number ``n`` nearest to ``x log2(e)``: a polynomial gives ``e^r - 1``.
"""

from __future__ import annotations

from .routine import Reg, at_least, at_most, fma, magnitude, polynomial, where, with_sign

# Added to a number it leaves the number's nearest whole one in the low bits, here with a bias: that of the
# exponent for a single power of two, twice that where the power is the product of two.
_ROUND = 1.5 * 2.0**23
_ONE = _ROUND + 127
_TWO = _ROUND + 254

# ln 2 and log10 2, first parts with few enough bits for an exact product with n.
LN2 = (0.693145751953125, 1.4286068203094173e-06)
LOG10_2 = (0.301025390625, 4.605038981195214e-06)
_LOG2_E = 1.4426950216293335
_LOG2_10 = 3.321928024291992

# (e^r - 1 - r) / r^2: the first for a small error of e^r, the second of e^r - 1; 2^-28.2 and 2^-31.1.
_EXP = (0.4999999403953552, 0.1666652113199234, 0.04166827350854874, 0.008368685841560364,
        0.0013820137828588486)  # fmt: skip
_EXPM1 = (0.5, 0.1666666567325592, 0.04166649281978607, 0.008333544246852398, 0.001393234240822494,
          0.00019763392629101872)  # fmt: skip
# (2^r - 1) / r and (10^r - 1) / r; 2^-28.3 and 2^-28.5.
_EXP2 = (0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.009618503041565418,
         0.0013390997191891074, 0.00015327802975662053)  # fmt: skip
_EXP10 = (2.3025851249694824, 2.6509487628936768, 2.034656047821045, 1.171295166015625,
          0.5418264269828796, 0.20616649091243744)  # fmt: skip
# (sinh x - x) / x^3 in x^2 up to 1; 2^-31.6.
_SINH = (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06)


def _split(x: Reg, factor: float, parts: tuple[float, float], bias: float) -> tuple[Reg, Reg]:
    """``n`` in the low bits of a float, and ``x - n / factor``."""
    t = fma(x, factor, bias)
    n = t - bias
    r = fma(n, -parts[0], x)
    return t, fma(n, -parts[1], r)


def _power(t: Reg) -> Reg:
    """``2^n``, of an ``n`` that float32's exponent holds."""
    return (t.bits() << 23).bits()


def _scaled(y: Reg, t: Reg) -> Reg:
    """``y 2^n`` rounded once, also where the result is below the normal numbers or beyond all."""
    n = t.bits()
    half = n >> 1
    return y * (half << 23).bits() * ((n - half) << 23).bits()


def _exp(x: Reg) -> Reg:
    x = at_least(at_most(x, 89.0), -104.0)
    t, r = _split(x, _LOG2_E, LN2, _TWO)
    return _scaled(fma(r * r, polynomial(r, _EXP), r) + 1, t)


def exp(x: Reg) -> Reg:
    return _exp(x)


def exp2(x: Reg) -> Reg:
    x = at_least(at_most(x, 129.0), -151.0)
    t = x + _TWO
    r = x - (t - _TWO)
    return _scaled(fma(r, polynomial(r, _EXP2), 1.0), t)


def exp10(x: Reg) -> Reg:
    x = at_least(at_most(x, 39.0), -46.0)
    t, r = _split(x, _LOG2_10, LOG10_2, _TWO)
    return _scaled(fma(r, polynomial(r, _EXP10), 1.0), t)


def sigmoid(x: Reg) -> Reg:
    """``1 / (1 + e^-x)``, with the power that does not overflow."""
    z = _exp(-magnitude(x))
    return where(x.lt(0.0), z, 1.0) / (z + 1)


def tanh(x: Reg) -> Reg:
    """``t / (t + 2)`` with ``t = e^2|x| - 1``."""
    y = at_most(magnitude(x), 10.0)
    bias = _ONE
    t = fma(y, 2 * _LOG2_E, bias)
    n = t - bias
    r = fma(n, -LN2[1], fma(n, -LN2[0], y + y))
    s = _power(t)
    e = fma(fma(r * r, polynomial(r, _EXPM1), r), s, s - 1)
    return with_sign(e / (e + 2), x)


def _quarter(y: Reg) -> Reg:
    """``e^y / 4`` for y up to 90."""
    t, r = _split(y, _LOG2_E, LN2, _ROUND + 125)
    return (fma(r * r, polynomial(r, _EXP), r) + 1) * _power(t)


def cosh(x: Reg) -> Reg:
    e = _quarter(at_most(magnitude(x), 90.0))
    return fma(e, 2.0, 0.125 / e)


def sinh(x: Reg) -> Reg:
    y = at_most(magnitude(x), 90.0)
    e = _quarter(y)
    large = fma(e, 2.0, -0.125 / e)
    square = x * x
    small = fma(x * square, polynomial(square, _SINH), x)
    return where(y.gt(1.0), with_sign(large, x), small)


# -ln(1 - erf x) / x - 1 up to 3.95; 2^-27.8 of erf.
_LN_ERFC = (0.12837916612625122, 0.6366195678710938, 0.10277630388736725, -0.019147822633385658,
            -0.00016950417193584144, 0.0016756760887801647, -0.0006373630603775382, 0.0001188611495308578,
            -9.387934369442519e-06)  # fmt: skip


def erf(x: Reg) -> Reg:
    """``1 - e^-q`` with a polynomial q."""
    y = at_most(magnitude(x), 3.95)
    q = fma(y, polynomial(y, _LN_ERFC), y)
    t = fma(q, -_LOG2_E, _ONE)
    n = t - _ONE
    r = fma(n, -LN2[1], fma(n, -LN2[0], -q))
    s = _power(t)
    made = fma(-fma(r * r, polynomial(r, _EXPM1), r), s, 1 - s)
    return with_sign(made, x)
