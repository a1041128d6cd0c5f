"""Blocks of blocks, and the instructions of the hardware."""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives import blockize, tensorize
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Hardware(Primitives):
    """Blocks of blocks, and the instructions of the hardware."""

    def blockize(self, target: LoopRV | Sequence[BlockRV | str], preserve_unit_iters: bool = True) -> BlockRV:
        """Make a block of what stands below a loop, or of several blocks; see ``primitives.blockize``."""
        given = tuple(target) if isinstance(target, list) else target
        result: BlockRV = self._apply(blockize.KIND, (given, preserve_unit_iters))
        return result

    def tensorize(
        self, block_or_loop: BlockRV | LoopRV | str, tensor_intrin: str, preserve_unit_iters: bool = True
    ) -> None:
        """Put a tensor intrinsic in the place of a block or loop; see ``primitives.tensorize``."""
        self._apply(tensorize.KIND, (block_or_loop, tensor_intrin, preserve_unit_iters))
