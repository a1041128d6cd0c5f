"""Random programs under random schedules: the values stay, a refusal changes nothing, the index is right."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tirscript as ts
from tirscript.ir import For, IRModule, PrimFunc, const_int
from tirscript.ir.stmt import Block, BlockLabel
from tirscript.ir.visitor import substitute
from tirscript.schedule import BlockRV, Schedule
from tirscript.schedule.testing import verify_trace_roundtrip

from .hardware_steps import HARDWARE_STEPS, hardware_step
from .memory_steps import MEMORY_STEPS, memory_step
from .reduction_steps import REDUCTION_STEPS, reduction_step
from .strategies import programs, steps

NO_REPLAY = True  # the tests replay what they make themselves


def values(program: Any, target: str) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-9, 10, (24, 24)).astype("int32") for _ in range(3)]
    ts.build(program, target=target)(*arrays)
    return arrays


def turned_round(mod: IRModule) -> IRModule:
    """The program with every parallel and vectorized loop as a serial one that runs backwards; those bound to
    threads too, but for `threadIdx`, which may share in a reduction."""

    def f(n: Any) -> Any:
        n = n.map_children(f)
        if isinstance(n, For) and (
            n.kind in ("parallel", "vectorized") or n.thread.startswith(("blockIdx", "vthread"))
        ):
            last = n.min + n.extent - const_int(1, n.extent.dtype)
            body = substitute(n.body, {n.loop_var: n.min + last - n.loop_var})
            return n.replace(kind="serial", body=body, thread="")
        return n

    return IRModule({name: func.replace(body=f(func.body)) for name, func in mod.items()})


def blocks_of(sch: Schedule) -> list[BlockRV]:
    f = next(iter(sch.state.functions.values()))
    return [
        BlockRV(t, f.name)
        for t, p in f.index.items()
        if isinstance(t, BlockLabel) and p.node.block.name != "root"
    ]


def attempt(sch: Schedule, step: tuple[str, int, int, int]) -> None:
    """One random step; what it works on is drawn from what is there."""
    name, a, b, n = step
    block = blocks_of(sch)[a % len(blocks_of(sch))]
    if name == "inline":
        sch.compute_inline("W" if a % 3 else block)
        return
    if name in ("cache_read", "cache_write"):
        regions = sch.get(block).reads if name == "cache_read" else sch.get(block).writes
        getattr(sch, name)(block, b % max(len(regions), 1), ["local", "shared"][n % 2])
        return
    if name in MEMORY_STEPS:
        memory_step(sch, name, block, a, b, n)
        return
    if name in REDUCTION_STEPS:
        reduction_step(sch, name, block, blocks_of(sch), a, b, n)
        return
    if name in HARDWARE_STEPS:
        hardware_step(sch, name, block, blocks_of(sch), a, b, n)
        return
    if name == "axes":
        order = list(range(len(sch.get(block).iter_vars)))
        sch.reorder_block_iter_var(block, order[n % 2 :] + order[: n % 2])
        return
    if name == "scope":
        sch.set_scope("W", 0, "shared")
        return
    if name == "align":
        sch.storage_align(block, 0, a % 2, 8, n)
        return
    loops = sch.get_loops(block)
    if not loops:
        return
    at = b % len(loops)
    if name == "split":
        sch.split(loops[at], [[None, n], [n, None], [None, n, 2], [6, n]][a % 4])
    elif name == "fuse":
        sch.fuse(*loops[at : at + 1 + n % 3])
    elif name == "reorder":
        orders = list(itertools.permutations(loops[at : at + 3]))
        sch.reorder(*orders[a % len(orders)])
    elif name == "decompose":
        sch.decompose_reduction(block, loops[at])
    elif name == "bind":
        sch.bind(loops[at], ["threadIdx.x", "blockIdx.x", "vthread.y"][a % 3])
    elif name == "unit":
        sch.add_unit_loop(block if a % 2 else loops[at])
    elif name == "undo":
        sch.undo(min(n % 2, len(sch.history)))
    else:
        getattr(sch, name)(loops[at])


def parsed(source: str) -> PrimFunc:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        func = ts.parse(source)
    assert isinstance(func, PrimFunc)
    return func


def scheduled(func: PrimFunc, plan: list[tuple[str, int, int, int]]) -> Schedule:
    sch = Schedule(func, debug_mask="all")
    for step in plan:
        before, count = sch.mod["f"], len(sch.history)
        try:
            attempt(sch, step)
        except ts.ScheduleError as error:
            assert error.code != "internal", error
            assert str(error)
            assert sch.mod["f"] is before and len(sch.history) == count
        sch.state.verify()
    return sch


@given(programs(), steps)
def test_values_stay(source: str, plan: list[tuple[str, int, int, int]]) -> None:
    func = parsed(source)
    sch = scheduled(func, plan)
    want = values(func, "python")
    for program in (sch.mod, turned_round(sch.mod)):
        for a, b in zip(values(program, "python"), want, strict=True):
            np.testing.assert_array_equal(a, b)
    verify_trace_roundtrip(sch, func)


@given(programs(), steps, st.data())
def test_handles_work_at_every_point_of_the_history(
    source: str, plan: list[tuple[str, int, int, int]], data: Any
) -> None:
    sch = scheduled(parsed(source), plan)
    programs_seen = {len(sch.history): sch.mod["f"]}
    for n in data.draw(st.lists(st.integers(0, len(sch.history)), max_size=4)):
        sch.goto(n)
        assert programs_seen.setdefault(n, sch.mod["f"]) is sch.mod["f"]
        sch.state.verify()
        for block in blocks_of(sch):
            assert isinstance(sch.get(block), Block)
            for loop in sch.get_loops(block):
                assert sch.get(loop).loop_var is loop.token
