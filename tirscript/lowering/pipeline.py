"""The passes from a program with blocks to loops over flat memory, in order."""

from __future__ import annotations

from collections.abc import Callable

from tirscript.ir.function import PrimFunc

from .canonicalize_loop import canonicalize_loop
from .convert_blocks_to_opaque import convert_blocks_to_opaque
from .flatten_buffer import flatten_buffer
from .lower_init_block import lower_init_block
from .lower_opaque_block import lower_opaque_block

Pass = Callable[[PrimFunc], PrimFunc]

PASSES: tuple[Pass, ...] = (
    canonicalize_loop,
    lower_init_block,
    convert_blocks_to_opaque,
    lower_opaque_block,
    flatten_buffer,
)
