"""Layouts of buffers and of blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.index_map import IndexMap

from ..primitives import (
    reindex,
    reindex_cache_read,
    reindex_cache_write,
    set_axis_separator,
    transform_block_layout,
    transform_layout,
)
from ..refs import BlockRV
from ..rewrite.index_maps import held
from .base import Primitives

BufferArgument = tuple[str, int] | str | Buffer
MapArgument = IndexMap | Callable[..., Any]


class Layout(Primitives):
    """Layouts of buffers and of blocks."""

    def transform_layout(
        self,
        block: BlockRV | str,
        buffer: BufferArgument,
        index_map: MapArgument,
        pad_value: Any = None,
        *,
        assume_injective_transform: bool = False,
    ) -> None:
        """Keep a buffer in another layout; see ``primitives.transform_layout``."""
        given = tuple(buffer) if isinstance(buffer, list) else buffer
        args = (block, given, held(index_map), held(pad_value), assume_injective_transform)
        self._apply(transform_layout.KIND, args)

    def transform_block_layout(self, block: BlockRV | str, index_map: MapArgument) -> None:
        """Let a block run over other axes; see ``primitives.transform_block_layout``."""
        self._apply(transform_block_layout.KIND, (block, held(index_map)))

    def set_axis_separator(
        self, block: BlockRV | str, buffer: BufferArgument, axis_separators: Sequence[int]
    ) -> None:
        """Say how the dimensions of a buffer are grouped; see ``primitives.set_axis_separator``."""
        given = tuple(buffer) if isinstance(buffer, list) else buffer
        separators = tuple(axis_separators) if isinstance(axis_separators, list) else axis_separators
        self._apply(set_axis_separator.KIND, (block, given, separators))

    def reindex(self, block: BlockRV | str, buffer: BufferArgument) -> BlockRV:
        """Let a block use a copy that is indexed by its axes; see ``primitives.reindex``."""
        given = tuple(buffer) if isinstance(buffer, list) else buffer
        result: BlockRV = self._apply(reindex.KIND, (block, given))
        return result

    def reindex_cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str | Buffer,
        storage_scope: str,
        index_map: MapArgument,
    ) -> BlockRV:
        """Let a block read a copy in a layout of its own; see ``primitives.reindex_cache_read``."""
        args = (block, read_buffer_index, storage_scope, held(index_map))
        result: BlockRV = self._apply(reindex_cache_read.KIND, args)
        return result

    def reindex_cache_write(
        self,
        block: BlockRV | str,
        write_buffer_index: int | str | Buffer,
        storage_scope: str,
        index_map: MapArgument,
    ) -> BlockRV:
        """Let a block write a copy in a layout of its own; see ``primitives.reindex_cache_write``."""
        args = (block, write_buffer_index, storage_scope, held(index_map))
        result: BlockRV = self._apply(reindex_cache_write.KIND, args)
        return result
