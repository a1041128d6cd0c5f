"""Random steps of the primitives for reductions, padding, and loops that follow one another."""

from __future__ import annotations

from tirscript.ir.visitor import free_vars
from tirscript.schedule import BlockRV, Schedule

REDUCTION_STEPS = ("rfactor", "rfactor", "partition", "merge", "padding", "einsum")


def reduction_step(
    sch: Schedule, name: str, block: BlockRV, others: list[BlockRV], a: int, b: int, n: int
) -> None:
    """One step; the numbers choose what it works on."""
    loops = sch.get_loops(block)
    if name == "einsum":
        sch.pad_einsum(block, [(1, n, 4)[(a >> k) % 3] for k in range(len(sch.get(block).iter_vars))])
        return
    if name == "rfactor":
        # Most blocks are no reductions: look for one, and mostly for one of its reduction loops.
        found = [x for x in others if sch.get(x).init is not None]
        block = found[a % len(found)] if found else block
        loops = sch.get_loops(block)
        realize = sch.get_sref(block).node
        bound = [
            v.name
            for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
            if iv.kind == "reduce"
            for v in free_vars(value)
        ]
        loops = [x for x in loops if x.name in bound] if b % 5 else loops
    if not loops:
        return
    at = b % len(loops)
    if name == "rfactor":
        sch.rfactor(loops[at], a % 5 - 2)
    elif name == "partition":
        sch.loop_partition(loops[at], [[n], [None, n], [1, None, n], [n, 1]][a % 4], bool(a % 3))
    elif name == "padding":
        sch.decompose_padding(block, loops[at])
    else:
        other = sch.get_loops(others[(a // 7) % len(others)])
        if other:
            sch.merge(loops[at], other[min(at, len(other) - 1)])
