"""Integer reasoning: normal forms, bounds, simplification, iterator maps."""

from .analyzer import Analyzer, can_prove, simplify
from .exact import is_exact
from .linear import Linear, to_linear

__all__ = ["Analyzer", "Linear", "can_prove", "is_exact", "simplify", "to_linear"]
