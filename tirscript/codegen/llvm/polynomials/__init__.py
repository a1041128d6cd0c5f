"""Functions of float32 and float64 as instructions of our own: the same numbers for scalars and for any
vector, on every operating system, and with hardly a call.

A function is an ordinary formula on ``Reg``s; coefficients are minimax fits, and the exponent after them
says how near.  Where a formula would lose too much it goes through float64.  Results below the normal
numbers are right, so are infinities, nans and signed zeros; what errors remain stands in ``..accuracy``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from . import exponential, logarithm, others, trigonometric
from .routine import Reg, Routine

_FORMULAS: dict[str, Callable[..., Reg]] = {
    name: getattr(module, name)
    for module, names in (
        (exponential, "exp exp2 exp10 sigmoid tanh cosh sinh erf"),
        (logarithm, "log log2 log10 log1p asinh acosh atanh pow"),
        (trigonometric, "sin cos tan asin acos atan atan2"),
        (others, "rsqrt hypot fmod floordiv floormod ldexp nextafter"),
    )
    for name in names.split()
}
_KINDS = {"float32": "f32", "float64": "f64"}
# What float64 has no formula for: the C library's functions are better.
_NARROW = frozenset({"pow", "erf", "hypot", "fmod", "ldexp"})
_TWO = ("pow", "atan2", "hypot", "fmod", "floordiv", "floormod", "nextafter")
_PARAMETERS = {
    "ldexp": ("f32", "i32"),
    **dict.fromkeys(_TWO, ("", "")),
}


# Formulas with a branch that calls, which LLVM does not make vectors of by itself.
BRANCHING = frozenset({"sin", "cos", "tan", "fmod", "floordiv", "floormod"})


@dataclass(frozen=True, slots=True)
class Made:
    """A function of the module: its name, its text, and what it needs from outside, by name; names that
    begin with ``@`` are functions of ours, too."""

    name: str
    text: str
    outside: Mapping[str, str]


def available(op: str, base: str) -> bool:
    """Whether there is a formula in place of a library's function."""
    return op in _FORMULAS and (base == "float32" or (base == "float64" and op not in _NARROW))


@cache
def function(op: str, base: str, lanes: int, whole: bool = False) -> Made:
    """The function ``op`` on vectors of so many lanes; ``whole`` keeps it out of its callers."""
    kind = _KINDS[base]
    name = f"@ts.math.{op}.{kind}x{lanes}{'.whole' if whole else ''}"
    kinds = [k or kind for k in _PARAMETERS.get(op, ("",))]
    code = Routine(name, kinds, lanes)
    result = _FORMULAS[op](*code.params)
    return Made(name, code.text(result, "noinline" if whole else "alwaysinline"), dict(code.outside))


__all__ = ["BRANCHING", "Made", "available", "function"]
