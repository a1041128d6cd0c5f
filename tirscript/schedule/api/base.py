"""What the groups of primitives share."""

from __future__ import annotations

from typing import Any

from ..trace import InstructionKind


class Primitives:
    """A group of methods of ``Schedule``."""

    def _apply(self, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Check and apply one primitive, and record it; ``Schedule`` says how."""
        raise NotImplementedError
