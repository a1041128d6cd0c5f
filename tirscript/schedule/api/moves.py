"""Where blocks are computed."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer

from ..primitives import (
    compute_at,
    compute_inline,
    fuse_reduction_epilogue,
    reverse_compute_at,
    reverse_compute_inline,
    rolling_buffer,
)
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Moves(Primitives):
    """Where blocks are computed."""

    def compute_inline(self, block: BlockRV | str) -> None:
        """Compute what a block stores where it is read; see ``primitives.compute_inline``."""
        self._apply(compute_inline.KIND, (block,))

    def compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: Any = -1
    ) -> None:
        """Compute a block under a loop of its consumers; see ``primitives.compute_at``."""
        self._apply(compute_at.KIND, (block, loop, preserve_unit_loops, index))

    def reverse_compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: Any = -1
    ) -> None:
        """Compute a block under a loop of its producers; see ``primitives.reverse_compute_at``."""
        self._apply(reverse_compute_at.KIND, (block, loop, preserve_unit_loops, index))

    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Compute a block where its producer stores; see ``primitives.reverse_compute_inline``."""
        self._apply(reverse_compute_inline.KIND, (block,))

    def fuse_reduction_epilogue(self, reduction_block: BlockRV | str, epilogue_block: BlockRV | str) -> None:
        """Fuse what is done with a reduction's result into it; see ``primitives.fuse_reduction_epilogue``."""
        self._apply(fuse_reduction_epilogue.KIND, (reduction_block, epilogue_block))

    def rolling_buffer(self, block: BlockRV | str, write_buffer_index: int | str | Buffer) -> None:
        """Let a block compute only what the last iteration did not; see ``primitives.rolling_buffer``."""
        self._apply(rolling_buffer.KIND, (block, write_buffer_index))
