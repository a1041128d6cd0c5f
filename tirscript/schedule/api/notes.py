"""Annotations."""

from __future__ import annotations

from typing import Any

from ..primitives import annotate, unannotate
from ..refs import BlockRV, LoopRV
from .base import Primitives


class Notes(Primitives):
    """Annotations."""

    def annotate(self, block_or_loop: BlockRV | LoopRV | str, ann_key: str, ann_val: Any) -> None:
        """Note something on a block or loop; see ``primitives.annotate``."""
        self._apply(annotate.KIND, (block_or_loop, ann_key, ann_val))

    def unannotate(self, block_or_loop: BlockRV | LoopRV | str, ann_key: str) -> None:
        """Take an annotation off a block or loop; see ``primitives.unannotate``."""
        self._apply(unannotate.KIND, (block_or_loop, ann_key))
