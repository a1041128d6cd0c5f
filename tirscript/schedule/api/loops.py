"""Loops: split, fused, reordered, and how their iterations run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..primitives import (
    add_unit_loop,
    bind,
    fuse,
    loop_partition,
    merge,
    parallel,
    reorder,
    reorder_block_iter_var,
    split,
    unroll,
    vectorize,
)
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Loops(Primitives):
    """Loops: split, fused, reordered, and how their iterations run."""

    def split(
        self,
        loop: LoopRV,
        factors: Sequence[Any],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[LoopRV]:
        """Split a loop into a nest of loops with the given extents; see ``primitives.split``."""
        given = tuple(factors) if isinstance(factors, list) else factors
        result: list[LoopRV] = self._apply(
            split.KIND, (loop, given, preserve_unit_iters, disable_predication)
        )
        return result

    def fuse(self, *loops: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Fuse perfectly nested loops into one; see ``primitives.fuse``."""
        result: LoopRV = self._apply(fuse.KIND, (loops, preserve_unit_iters))
        return result

    def merge(self, *loops: LoopRV) -> LoopRV:
        """Merge loops that follow one another into one; see ``primitives.merge``."""
        result: LoopRV = self._apply(merge.KIND, (loops,))
        return result

    def loop_partition(
        self, loop: LoopRV, factors: Sequence[Any], preserve_unit_iters: bool = True
    ) -> list[LoopRV]:
        """Cut a loop into consecutive loops; see ``primitives.loop_partition``."""
        given = tuple(factors) if isinstance(factors, list) else factors
        result: list[LoopRV] = self._apply(loop_partition.KIND, (loop, given, preserve_unit_iters))
        return result

    def reorder(self, *ordered_loops: LoopRV) -> None:
        """Put perfectly nested loops into another order; see ``primitives.reorder``."""
        self._apply(reorder.KIND, (ordered_loops,))

    def reorder_block_iter_var(self, block: BlockRV | str, new_order: Sequence[int]) -> None:
        """List the axes of a block in another order; see ``primitives.reorder_block_iter_var``."""
        given = tuple(new_order) if isinstance(new_order, list) else new_order
        self._apply(reorder_block_iter_var.KIND, (block, given))

    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV | str) -> LoopRV:
        """Put a loop of one iteration around a block or loop; see ``primitives.add_unit_loop``."""
        result: LoopRV = self._apply(add_unit_loop.KIND, (block_or_loop,))
        return result

    def parallel(self, loop: LoopRV) -> None:
        """Run the iterations of a loop in parallel; see ``primitives.parallel``."""
        self._apply(parallel.KIND, (loop,))

    def vectorize(self, loop: LoopRV) -> None:
        """Run the iterations of a loop as lanes of vectors; see ``primitives.vectorize``."""
        self._apply(vectorize.KIND, (loop,))

    def unroll(self, loop: LoopRV) -> None:
        """Write the iterations of a loop one after another; see ``primitives.unroll``."""
        self._apply(unroll.KIND, (loop,))

    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Bind a loop to a thread axis; see ``primitives.bind``."""
        self._apply(bind.KIND, (loop, thread_axis))
