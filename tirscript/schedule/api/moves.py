"""Where blocks are computed."""

from __future__ import annotations

from ..primitives import compute_inline
from ..refs import BlockRV
from .base import Primitives


class Moves(Primitives):
    """Where blocks are computed."""

    def compute_inline(self, block: BlockRV | str) -> None:
        """Compute what a block stores where it is read; see ``primitives.compute_inline``."""
        self._apply(compute_inline.KIND, (block,))
