"""Copies of buffers, and where buffers are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript.ir.buffer import Buffer

from ..primitives import (
    annotate_buffer_access,
    cache_index,
    cache_inplace,
    cache_read,
    cache_write,
    read_at,
    set_scope,
    storage_align,
    unsafe_hide_buffer_access,
    unsafe_set_dtype,
    write_at,
)
from ..refs import BlockRV, LoopRV
from ..rewrite.index_maps import held
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

    def cache_inplace(
        self, block: BlockRV | str, read_buffer_index: int | str | Buffer, storage_scope: str
    ) -> list[BlockRV]:
        """Let a block change a copy of a buffer; see ``primitives.cache_inplace``."""
        args = (block, read_buffer_index, storage_scope)
        result: list[BlockRV] = self._apply(cache_inplace.KIND, args)
        return result

    def cache_index(self, block: BlockRV | str, storage_scope: str, cse_thresh: int = 0) -> list[BlockRV]:
        """Compute indices of a block beforehand; see ``primitives.cache_index``."""
        result: list[BlockRV] = self._apply(cache_index.KIND, (block, storage_scope, cse_thresh))
        return result

    def read_at(
        self,
        loop: LoopRV,
        block: BlockRV | str,
        read_buffer_index: int | str | Buffer,
        storage_scope: str,
    ) -> BlockRV:
        """Let a block read a copy that is filled at a loop; see ``primitives.read_at``."""
        result: BlockRV = self._apply(read_at.KIND, (loop, block, read_buffer_index, storage_scope))
        return result

    def write_at(
        self,
        loop: LoopRV,
        block: BlockRV | str,
        write_buffer_index: int | str | Buffer,
        storage_scope: str,
    ) -> BlockRV:
        """Let a block write a copy that is written back at a loop; see ``primitives.write_at``."""
        result: BlockRV = self._apply(write_at.KIND, (loop, block, write_buffer_index, storage_scope))
        return result

    def storage_align(
        self, block: BlockRV | str, buffer_index: int | str | Buffer, axis: int, factor: int, offset: int
    ) -> None:
        """Ask for a stride of a buffer that the block writes; see ``primitives.storage_align``."""
        self._apply(storage_align.KIND, (block, buffer_index, axis, factor, offset))

    def set_scope(self, block: BlockRV | str, buffer_index: int | str | Buffer, storage_scope: str) -> None:
        """Say in which memory a buffer is kept that the block writes; see ``primitives.set_scope``."""
        self._apply(set_scope.KIND, (block, buffer_index, storage_scope))

    def unsafe_set_dtype(self, block: BlockRV | str, buffer_index: int | str | Buffer, dtype: str) -> None:
        """Keep a buffer in another dtype; see ``primitives.unsafe_set_dtype``."""
        self._apply(unsafe_set_dtype.KIND, (block, buffer_index, dtype))

    def unsafe_hide_buffer_access(
        self, block: BlockRV | str, buf_type: str, buf_index_array: Sequence[int]
    ) -> None:
        """Take regions off a block's list; see ``primitives.unsafe_hide_buffer_access``."""
        given = tuple(buf_index_array) if isinstance(buf_index_array, list) else buf_index_array
        self._apply(unsafe_hide_buffer_access.KIND, (block, buf_type, given))

    def annotate_buffer_access(
        self,
        block: BlockRV | str,
        buffer_index: int | str | Buffer,
        buf_type: str,
        gen_new_ranges: Callable[..., Any],
    ) -> None:
        """Say which region of a buffer a block uses; see ``primitives.annotate_buffer_access``."""
        args = (block, buffer_index, buf_type, held(gen_new_ranges))
        self._apply(annotate_buffer_access.KIND, args)
