"""Reductions and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Refusal
from ..primitives import decompose_padding, decompose_reduction, pad_einsum, rfactor
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Reduction(Primitives):
    """Reductions and padding."""

    if TYPE_CHECKING:

        @property
        def check(self) -> Any: ...

    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Split a reduction block into init and update; see ``primitives.decompose_reduction``."""
        result: BlockRV = self._apply(decompose_reduction.KIND, (block, loop))
        return result

    def rfactor(self, loop: LoopRV, factor_axis: int) -> BlockRV:
        """Compute partial results for each iteration of a loop; see ``primitives.rfactor``."""
        result: BlockRV = self._apply(rfactor.KIND, (loop, factor_axis))
        return result

    def decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Fill with the pad value first, then store inside; see ``primitives.decompose_padding``."""
        result: BlockRV = self._apply(decompose_padding.KIND, (block, loop))
        return result

    def can_decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> bool:
        """Whether ``decompose_padding`` would accept the block and the loop."""
        try:
            self.check.decompose_padding(block, loop)
        except Refusal as refusal:
            if refusal.code in ("wrong-handle", "expired-reference", "unknown-block", "ambiguous-block"):
                raise
            return False
        return True

    def pad_einsum(self, block: BlockRV | str, padding: Sequence[int]) -> None:
        """Grow the extents of an einsum to multiples of the padding; see ``primitives.pad_einsum``."""
        given = tuple(padding) if isinstance(padding, list) else padding
        self._apply(pad_einsum.KIND, (block, given))
