"""Sampling: numbers that are drawn, and stand in the trace as decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..primitives import sample, sample_compute_location
from ..refs import BlockRV, ExprRV, LoopRV
from .base import Primitives


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Sampling(Primitives):
    """Sampling: numbers that are drawn, and stand in the trace as decisions."""

    def sample_categorical(
        self, candidates: Sequence[int], probs: Sequence[float], decision: int | None = None
    ) -> ExprRV:
        """Draw one of some integers by their weights; see ``primitives.sample``."""
        result: ExprRV = self._sample(sample.CATEGORICAL, (_listed(candidates), _listed(probs)), decision)
        return result

    def sample_perfect_tile(
        self, loop: LoopRV, n: int, max_innermost_factor: int = 16, decision: Sequence[int] | None = None
    ) -> list[ExprRV | None]:
        """Draw factors whose product is the extent of a loop; see ``primitives.sample``."""
        result: list[ExprRV | None] = self._sample(
            sample.PERFECT_TILE, (loop, n, max_innermost_factor), decision
        )
        return result

    def sample_partitioned_tile(
        self,
        loop: LoopRV,
        n: int,
        partition_pos: int = 0,
        innerpart_factor: int = 1,
        decision: Sequence[int] | None = None,
    ) -> list[ExprRV | None]:
        """Draw factors, the inner ones a multiple of a number; see ``primitives.sample``."""
        result: list[ExprRV | None] = self._sample(
            sample.PARTITIONED_TILE, (loop, n, partition_pos, innerpart_factor), decision
        )
        return result

    def sample_compute_location(self, block: BlockRV | str, decision: int | None = None) -> LoopRV:
        """Draw a loop for ``compute_at``; see ``primitives.sample_compute_location``."""
        result: LoopRV = self._sample(sample_compute_location.KIND, (block,), decision)
        return result

    def enter_postproc(self) -> None:
        """Mark in the trace that what follows can be left out of a replay (``remove_postproc``)."""
        self._look(sample.ENTER_POSTPROC, ())
