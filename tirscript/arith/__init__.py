"""Integer reasoning: normal forms, bounds, simplification, iterator maps."""

from .analyzer import Analyzer, can_prove, simplify
from .classic import ConstIntBound, ModularSet
from .exact import is_exact
from .iter_map import IterMap, detect_iter_map
from .linear import Linear, to_linear

__all__ = [
    "Analyzer",
    "ConstIntBound",
    "IterMap",
    "Linear",
    "ModularSet",
    "can_prove",
    "detect_iter_map",
    "is_exact",
    "simplify",
    "to_linear",
]
