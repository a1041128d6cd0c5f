"""Reductions and padding."""

from __future__ import annotations

from ..primitives import decompose_reduction, rfactor
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Reduction(Primitives):
    """Reductions and padding."""

    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Split a reduction block into init and update; see ``primitives.decompose_reduction``."""
        result: BlockRV = self._apply(decompose_reduction.KIND, (block, loop))
        return result

    def rfactor(self, loop: LoopRV, factor_axis: int) -> BlockRV:
        """Compute partial results for each iteration of a loop; see ``primitives.rfactor``."""
        result: BlockRV = self._apply(rfactor.KIND, (loop, factor_axis))
        return result
