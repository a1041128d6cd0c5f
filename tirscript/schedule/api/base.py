"""What the groups of primitives share."""

from __future__ import annotations

from typing import Any

from ..record.trace import InstructionKind


class Primitives:
    """A group of methods of ``Schedule``."""

    def _apply(self, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Check and apply one primitive, and record it; ``Schedule`` says how."""
        raise NotImplementedError

    def _look(self, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Run a query, and record it."""
        raise NotImplementedError

    def _sample(self, kind: InstructionKind, args: tuple[Any, ...], decision: Any) -> Any:
        """Draw what a kind draws, or take the decision, and record it."""
        raise NotImplementedError
