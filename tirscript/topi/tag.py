"""The tags of operations: what kind of computation a scheduler meets."""

from __future__ import annotations

ELEMWISE = "elemwise"
BROADCAST = "broadcast"
INJECTIVE = "injective"
COMM_REDUCE = "comm_reduce"
COMM_REDUCE_IDX = "comm_reduce_idx"
MATMUL = "matmul"


def is_broadcast(tag: str) -> bool:
    """Whether each element depends on one element of each operand, in order."""
    return tag in (ELEMWISE, BROADCAST) or tag.startswith((ELEMWISE, BROADCAST))


def is_injective(tag: str) -> bool:
    """Whether each element depends on one element of each operand."""
    return is_broadcast(tag) or tag.startswith(INJECTIVE)
