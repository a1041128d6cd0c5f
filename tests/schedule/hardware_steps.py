"""Random steps of the primitives that make blocks of blocks."""

from __future__ import annotations

from tirscript.schedule import BlockRV, Schedule

HARDWARE_STEPS = ("blockize", "blockize")


def hardware_step(
    sch: Schedule, name: str, block: BlockRV, others: list[BlockRV], a: int, b: int, n: int
) -> None:
    """One step; the numbers choose what it works on."""
    assert name == "blockize"
    loops = sch.get_loops(block)
    if a % 7 == 0:
        sch.blockize([block, others[b % len(others)]] if b % 3 else [block], bool(n % 2))
    elif loops:
        sch.blockize(loops[b % len(loops)], bool(n % 2))
