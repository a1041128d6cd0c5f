"""What a program costs: operations, bytes moved, memory touched, counted without running it."""

from __future__ import annotations

from .counts import AT_LEAST, AT_MOST, EXACT, Count
from .function import Cost, FunctionCost, Work, cost_of

__all__ = ["AT_LEAST", "AT_MOST", "EXACT", "Cost", "Count", "FunctionCost", "Work", "cost_of"]
