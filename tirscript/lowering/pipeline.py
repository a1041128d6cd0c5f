"""The passes from a program with blocks to loops over flat memory, in order."""

from __future__ import annotations

from collections.abc import Callable

from tirscript.ir.function import PrimFunc

from .canonicalize_loop import canonicalize_loop
from .collect_imports import collect_imports
from .convert_blocks_to_opaque import convert_blocks_to_opaque
from .flatten_buffer import flatten_buffer
from .loop_partition import loop_partition
from .lower_init_block import lower_init_block
from .lower_match_buffer import lower_match_buffer
from .lower_opaque_block import lower_opaque_block
from .lower_thread_binding import lower_thread_binding
from .plain_loops import plain_loops
from .plan_buffer_allocation import plan_buffer_allocation
from .remove_no_op import remove_no_op
from .serialize_dependent_loops import serialize_dependent_loops
from .simplify import final_simplify, simplify
from .unroll_loop import unroll_loop
from .vectorize_loop import vectorize_loop

Pass = Callable[[PrimFunc], PrimFunc]

# Checked builds keep the indices as they are written, and the program in its order.
CHECKED_PASSES: tuple[Pass, ...] = (
    collect_imports,
    canonicalize_loop,
    lower_init_block,
    convert_blocks_to_opaque,
    lower_match_buffer,
    lower_opaque_block,
    lower_thread_binding,
    plan_buffer_allocation,
    plain_loops,
)

PASSES: tuple[Pass, ...] = (
    collect_imports,
    canonicalize_loop,
    lower_init_block,
    convert_blocks_to_opaque,
    lower_match_buffer,
    lower_opaque_block,
    lower_thread_binding,
    loop_partition,
    simplify,
    plan_buffer_allocation,
    serialize_dependent_loops,
    flatten_buffer,
    vectorize_loop,
    unroll_loop,
    final_simplify,
    remove_no_op,
)
