"""Exponentials and what is made of them, of float32 and float64.

``e^x = 2^n e^r`` with the whole number ``n`` nearest to ``x log2(e)``: a polynomial gives ``e^r - 1``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .routine import Reg, at_least, at_most, fma, magnitude, polynomial, where, with_sign

Coefficients = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """What differs between the kinds of floats."""

    fraction: int  # bits behind the hidden one
    bias: int  # of the exponent
    ln2: tuple[float, float]  # the first part has few enough bits for an exact product with n
    log10_2: tuple[float, float]
    limits: tuple[float, float]  # where e^x leaves the numbers; as powers of 2 and of 10 below
    limits2: tuple[float, float]
    limits10: tuple[float, float]
    one: float  # where tanh is 1
    hyperbolic: float  # where sinh and cosh leave the numbers
    exp: Coefficients  # (e^r - 1 - r) / r^2 for a small error of e^r
    expm1: Coefficients  # and of e^r - 1
    exp2: Coefficients  # (2^r - 1) / r
    exp10: Coefficients  # (10^r - 1) / r
    sinh: Coefficients  # (sinh x - x) / x^3 in x^2 up to 1

    @property
    def rounding(self) -> float:
        """Added to a number it leaves the number's nearest whole one in the low bits."""
        return 1.5 * 2.0**self.fraction

    @property
    def single(self) -> float:
        """The same with the exponent's bias, for a power of two."""
        return self.rounding + self.bias

    @property
    def double(self) -> float:
        """And with twice the bias, for a power that is the product of two."""
        return self.rounding + 2 * self.bias


_LOG2_E = 1.4426950408889634
_LOG2_10 = 3.321928094887362

KINDS = {
    # 2^-28.2, 2^-31.1, 2^-28.3, 2^-28.5, 2^-31.6.
    "f32": Constants(
        23, 127, (0.693145751953125, 1.4286068203094173e-06), (0.301025390625, 4.605038981195214e-06),
        (-104.0, 89.0), (-151.0, 129.0), (-46.0, 39.0), 10.0, 90.0,
        (0.4999999403953552, 0.1666652113199234, 0.04166827350854874, 0.008368685841560364,
         0.0013820137828588486),
        (0.5, 0.1666666567325592, 0.04166649281978607, 0.008333544246852398, 0.001393234240822494,
         0.00019763392629101872),
        (0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.009618503041565418,
         0.0013390997191891074, 0.00015327802975662053),
        (2.3025851249694824, 2.6509487628936768, 2.034656047821045, 1.171295166015625, 0.5418264269828796,
         0.20616649091243744),
        (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06),
    ),
    # 2^-61, 2^-60, 2^-55.5, 2^-54.5, 2^-56.6.
    "f64": Constants(
        52, 1023, (0.6931471805592082, 7.371002565167799e-13), (0.301029995663157, 8.241712586023572e-13),
        (-746.0, 710.0), (-1076.0, 1025.0), (-325.0, 309.0), 22.0, 711.0,
        (0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748,
         0.00019841269874820627, 2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07,
         2.5105217004720745e-08, 2.0914686968086876e-09),
        (0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748,
         0.00019841269874820627, 2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07,
         2.5105217004720745e-08, 2.0914686968086876e-09),
        (0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606871,
         0.0013333558146416927, 0.00015403530441765088, 1.5252733829851596e-05, 1.321544257022465e-06,
         1.0178062436412765e-07, 7.072589488396345e-09, 4.4549624846332125e-10),
        (2.302585092994046, 2.650949055239199, 2.034678592293478, 1.1712551489122673, 0.5393829291946919,
         0.20699584869672183, 0.06808936524192674, 0.019597694654020163, 0.005013914580759152,
         0.0011544974352156036, 0.00024222565527098856, 4.646343169087073e-05),
        (0.16666666666666666, 0.008333333333333299, 0.00019841269841324198, 2.7557319191381816e-06,
         2.5052117695907823e-08, 1.6057679623801638e-10, 7.746178593018827e-13),
    ),
}  # fmt: skip


def _split(x: Reg, factor: float, parts: tuple[float, float], bias: float) -> tuple[Reg, Reg]:
    """``n`` in the low bits of a float, and ``x - n / factor``."""
    t = fma(x, factor, bias)
    n = t - bias
    r = fma(n, -parts[0], x)
    return t, fma(n, -parts[1], r)


def _power(t: Reg) -> Reg:
    """``2^n``, of an ``n`` that the exponent holds."""
    return (t.bits() << KINDS[t.kind].fraction).bits()


def _scaled(y: Reg, t: Reg) -> Reg:
    """``y 2^n`` rounded once, also where the result is below the normal numbers or beyond all."""
    n = t.bits()
    half = n >> 1
    place = KINDS[t.kind].fraction
    return y * (half << place).bits() * ((n - half) << place).bits()


def _clamped(x: Reg, limits: tuple[float, float]) -> Reg:
    return at_least(at_most(x, limits[1]), limits[0])


def exp(x: Reg) -> Reg:
    c = KINDS[x.kind]
    t, r = _split(_clamped(x, c.limits), _LOG2_E, c.ln2, c.double)
    return _scaled(fma(r * r, polynomial(r, c.exp), r) + 1, t)


def exp2(x: Reg) -> Reg:
    c = KINDS[x.kind]
    x = _clamped(x, c.limits2)
    t = x + c.double
    r = x - (t - c.double)
    return _scaled(fma(r, polynomial(r, c.exp2), 1.0), t)


def exp10(x: Reg) -> Reg:
    c = KINDS[x.kind]
    t, r = _split(_clamped(x, c.limits10), _LOG2_10, c.log10_2, c.double)
    return _scaled(fma(r, polynomial(r, c.exp10), 1.0), t)


def sigmoid(x: Reg) -> Reg:
    """``1 / (1 + e^-x)``, with the power that does not overflow."""
    z = exp(-magnitude(x))
    return where(x.lt(0.0), z, 1.0) / (z + 1)


def tanh(x: Reg) -> Reg:
    """``t / (t + 2)`` with ``t = e^2|x| - 1``."""
    c = KINDS[x.kind]
    y = at_most(magnitude(x), c.one)
    t = fma(y, 2 * _LOG2_E, c.single)
    n = t - c.single
    r = fma(n, -c.ln2[1], fma(n, -c.ln2[0], y + y))
    s = _power(t)
    e = fma(fma(r * r, polynomial(r, c.expm1), r), s, s - 1)
    return with_sign(e / (e + 2), x)


def _quarter(y: Reg) -> Reg:
    """``e^y / 4`` for y up to where sinh leaves the numbers."""
    c = KINDS[y.kind]
    t, r = _split(y, _LOG2_E, c.ln2, c.single - 2)
    return (fma(r * r, polynomial(r, c.exp), r) + 1) * _power(t)


def cosh(x: Reg) -> Reg:
    e = _quarter(at_most(magnitude(x), KINDS[x.kind].hyperbolic))
    return fma(e, 2.0, 0.125 / e)


def sinh(x: Reg) -> Reg:
    c = KINDS[x.kind]
    y = at_most(magnitude(x), c.hyperbolic)
    e = _quarter(y)
    large = fma(e, 2.0, -0.125 / e)
    square = x * x
    small = fma(x * square, polynomial(square, c.sinh), x)
    return where(y.gt(1.0), with_sign(large, x), small)


# -ln(1 - erf x) / x - 1 up to 3.95; 2^-27.8 of erf.
_LN_ERFC = (0.12837916612625122, 0.6366195678710938, 0.10277630388736725, -0.019147822633385658,
            -0.00016950417193584144, 0.0016756760887801647, -0.0006373630603775382, 0.0001188611495308578,
            -9.387934369442519e-06)  # fmt: skip


def erf(x: Reg) -> Reg:
    """Of float32, ``1 - e^-q`` with a polynomial q."""
    c = KINDS["f32"]
    y = at_most(magnitude(x), 3.95)
    q = fma(y, polynomial(y, _LN_ERFC), y)
    t = fma(q, -_LOG2_E, c.single)
    n = t - c.single
    r = fma(n, -c.ln2[1], fma(n, -c.ln2[0], -q))
    s = _power(t)
    made = fma(-fma(r * r, polynomial(r, c.expm1), r), s, 1 - s)
    return with_sign(made, x)
