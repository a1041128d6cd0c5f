"""Copies of buffers, and where buffers are kept."""

from __future__ import annotations

from collections.abc import Sequence

from tirscript.ir.buffer import Buffer

from ..primitives import cache_read, cache_write, set_scope, storage_align
from ..refs import BlockRV
from .base import Primitives


class Memory(Primitives):
    """Copies of buffers, and where buffers are kept."""

    def cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str | Buffer,
        storage_scope: str,
        consumer_blocks: Sequence[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Let blocks read a copy of a buffer; see ``primitives.cache_read``."""
        given = tuple(consumer_blocks) if isinstance(consumer_blocks, list) else consumer_blocks
        result: BlockRV = self._apply(cache_read.KIND, (block, read_buffer_index, storage_scope, given))
        return result

    def cache_write(
        self,
        block: BlockRV | str,
        write_buffer_index: int | str | Buffer,
        storage_scope: str,
        consumer_blocks: Sequence[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Let a block write a copy of a buffer; see ``primitives.cache_write``."""
        given = tuple(consumer_blocks) if isinstance(consumer_blocks, list) else consumer_blocks
        result: BlockRV = self._apply(cache_write.KIND, (block, write_buffer_index, storage_scope, given))
        return result

    def storage_align(
        self, block: BlockRV | str, buffer_index: int | str | Buffer, axis: int, factor: int, offset: int
    ) -> None:
        """Ask for a stride of a buffer that the block writes; see ``primitives.storage_align``."""
        self._apply(storage_align.KIND, (block, buffer_index, axis, factor, offset))

    def set_scope(self, block: BlockRV | str, buffer_index: int | str | Buffer, storage_scope: str) -> None:
        """Say in which memory a buffer is kept that the block writes; see ``primitives.set_scope``."""
        self._apply(set_scope.KIND, (block, buffer_index, storage_scope))
