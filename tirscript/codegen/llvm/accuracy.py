"""How exact mathematics is on each path to the CPU: the largest error of each function, as a promise.

Errors are in ulp, units in the last place: distances to the exact value, in steps of the dtype at that
value.  A correctly rounded result has at most 0.5.  The same numbers stand in ``ACCURACY.md``, beside those
that were measured; ``python -m tirscript.testing.accuracy`` measures them on the machine at hand.
"""

from __future__ import annotations

DTYPES = ("float16", "bfloat16", "float32", "float64")
EXACT = ("floor", "ceil", "round", "nearbyint", "trunc", "fabs", "copysign", "nextafter", "fmod")

# Formulas of our own, which give the same numbers for scalars and for vectors of any length: of float32, in
# which narrower floats are computed and rounded, an error just over one half, and of float64.
_NARROW = 0.502
_OWN = {
    "exp": 1.1, "exp2": 1.5, "exp10": 1.5, "log": 1.0, "log2": 2.0, "log10": 2.0, "log1p": 1.75, "sin": 2.0,
    "cos": 2.0, "tan": 3.0, "asin": 2.0, "acos": 1.5, "atan": 2.5, "sinh": 2.0, "cosh": 2.0, "tanh": 2.75,
    "asinh": 0.51, "acosh": 0.51, "atanh": 0.51, "rsqrt": 1.5, "sigmoid": 2.75, "erf": 2.0, "pow": 0.51,
    "atan2": 1.75, "hypot": 0.51,
}  # fmt: skip
_OWN64 = {
    "exp": 1.1, "exp2": 1.5, "exp10": 1.75, "log": 1.0, "log2": 2.0, "log10": 1.5, "log1p": 1.75, "sin": 2.0,
    "cos": 2.0, "tan": 3.0, "asin": 2.5, "acos": 1.5, "atan": 2.5, "sinh": 2.0, "cosh": 2.0, "tanh": 2.75,
    "asinh": 2.25, "acosh": 2.5, "atanh": 2.25, "rsqrt": 1.5, "sigmoid": 2.75, "atan2": 2.75,
}  # fmt: skip
# erf, pow and hypot of float64: the C library's, and its vector library's (libmvec) where it has one.
_VECTOR_LIBRARY = 4.0

# The C library, glibc, for both widths: what is known of its largest errors, rounded up ("Accuracy of
# Mathematical Functions", Gladman, Innocente, Mather, Zimmermann), and two formulas on top of it.
_LIBRARY = {
    "exp": 1.0, "exp2": 1.0, "exp10": 2.25, "log": 1.0, "log2": 1.0, "log10": 2.25, "log1p": 1.5, "sin": 1.0,
    "cos": 1.0, "tan": 1.5, "asin": 1.0, "acos": 1.0, "atan": 1.0, "sinh": 2.0, "cosh": 2.0, "tanh": 2.25,
    "asinh": 2.0, "acosh": 2.5, "atanh": 2.0, "rsqrt": 1.5, "sigmoid": 2.75, "erf": 1.5, "pow": 1.0,
    "atan2": 1.75, "hypot": 1.0,
}  # fmt: skip
# NumPy in float64: functions of its own or the C library's; the others are, on processors with AVX-512, of
# Intel's SVML, with 4 ulp.  What is narrower is computed so and rounded once.
_NUMPY = {n: _LIBRARY[n] for n in ("exp", "log", "exp10", "rsqrt", "sigmoid", "erf", "hypot")}
_SVML = 4.0
_ONCE = 0.501

# The ways to compute, as targets.
PATHS = {"llvm": "llvm", "scalar": "llvm -fp-contract=off -math=scalar", "python": "python"}


def bound(op: str, dtype: str, path: str = "llvm") -> float:
    """The largest error in ulp that a function may have, on a scalar as on a vector.

    >>> bound("exp", "float32"), bound("exp", "float16"), bound("sqrt", "float32"), bound("floor", "float64")
    (1.1, 0.502, 0.5, 0.0)
    >>> bound("exp", "float32", "scalar"), bound("exp", "float32", "python")
    (1.0, 0.501)
    """
    if op in EXACT:
        return 0.0
    if op not in _OWN:
        return 0.5  # sqrt, fma, ldexp and the operators
    if path == "python":
        return _NUMPY.get(op, _SVML) if dtype == "float64" else _ONCE
    if dtype in ("float16", "bfloat16"):
        return _NARROW
    if path == "scalar":
        return _LIBRARY[op]
    return _OWN64.get(op, _VECTOR_LIBRARY) if dtype == "float64" else _OWN[op]
