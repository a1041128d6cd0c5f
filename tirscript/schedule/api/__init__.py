"""The methods of ``Schedule`` that rewrite programs, by group; each names its primitive."""

from .hardware import Hardware
from .layout import Layout
from .loops import Loops
from .memory import Memory
from .moves import Moves
from .notes import Notes
from .reduction import Reduction
from .sampling import Sampling

__all__ = ["Hardware", "Layout", "Loops", "Memory", "Moves", "Notes", "Reduction", "Sampling"]
