"""May the init of a reduction move before a loop: does it meet anything on the way?"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from tirscript.analysis.access import accesses
from tirscript.arith.linear import key_of
from tirscript.ir.expr import Expr, IntImm, IterVar, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block, BlockRealize, For

from ..errors import Refusal, describe
from ..refs import StmtSRef
from .cells import (
    Cell,
    all_cells,
    cell_of,
    cells_below,
    compose,
    distances,
    index_of,
    may_alias,
    shared_loops,
)
from .init_order import begins_further_in
from .surroundings import aliased_params, outside_ranges


class RepeatedInstance(Refusal):
    code = "repeated-instance"
    template = (
        "block {block} cannot be initialized before loop `{loop}`: iterations of `{outer}` repeat the same "
        "spatial instance"
    )


class InitOvertakes(Refusal):
    code = "init-overtakes"
    template = (
        "the init of block {block} cannot move before loop `{loop}`: it would overtake {other}, which may "
        "touch {buffer}"
    )
    hint_template = "decompose at a loop further in"


class InitPlan:
    """What the init block is made of."""

    __slots__ = ("block", "guards", "loop", "loops", "path")

    def __init__(
        self, block: StmtSRef, loop: StmtSRef, path: list[StmtSRef], loops: set[Var], guards: list[Expr]
    ) -> None:
        self.block = block
        self.loop = loop
        self.path = path  # from the block outwards to the loop
        self.loops = loops  # variables of the loops that the init keeps
        self.guards = guards  # the conjuncts of the predicate that guard the init too


def check_repeats(
    plan: InitPlan, spatial: set[Var], reduce: dict[Var, IterVar], over: Set[Var] = frozenset()
) -> None:
    """Loops outside the first reduction loop must tell spatial instances apart.  ``over`` are loops further
    out that the reduction goes over then."""
    outer: list[For] = []
    for p in reversed(plan.path):
        s = p.node
        if type(s) is not For:
            continue
        if s.loop_var in reduce:
            break
        if not (type(s.extent) is IntImm and s.extent.value <= 1):
            outer.append(s)
    realize: BlockRealize = plan.block.node
    inner = [p.node for p in plan.path if type(p.node) is For and not any(f is p.node for f in outer)]
    f = repeating_loop(plan.loop, realize, outer, inner)
    if f is not None:
        raise RepeatedInstance(
            plan.block.home,
            at=[(plan.loop.node, None), (f, "")],
            block=realize,
            loop=plan.loop.node,
            outer=f,
        )
    begun = begins_further_in(plan.block, plan.loop, over)
    if begun is not None:
        raise RepeatedInstance(
            plan.block.home,
            at=[(plan.loop.node, None)],
            block=realize,
            loop=plan.loop.node,
            outer=begun.loop,
        )


def repeating_loop(place: StmtSRef, realize: BlockRealize, outer: list[For], inner: list[For]) -> For | None:
    """One of the loops ``outer`` whose iterations may bind the spatial axes to the same values again, the
    loops ``inner`` being free and those around the place fixed."""
    values = [
        e for iv, e in zip(realize.block.iter_vars, realize.iter_values, strict=True) if iv.kind != "reduce"
    ]
    bare = {e for e in values if type(e) is Var}
    if all(f.loop_var in bare for f in outer):
        return None
    around = tuple([(f.loop_var, *_range(f)) for f in outer])
    free = tuple([(f.loop_var, *_range(f)) for f in inner])
    indices = tuple([index_of(e) for e in values])
    buffer: Any = realize.block.label
    cell = Cell(buffer, True, indices, (*around, *free), realize)
    found = distances(cell, cell, around, outside_ranges(place))
    if found is None:
        return None
    return next((f for f in outer if found[f.loop_var] != (0, 0)), None)


def _range(f: For) -> tuple[float, float]:
    if type(f.min) is IntImm and type(f.extent) is IntImm:
        return f.min.value, f.min.value + max(f.extent.value, 1) - 1
    return float("-inf"), float("inf")


def _init_cells(b: Block) -> list[Cell]:
    return [cell_of(a, None) for a in accesses(b) if a.init]


def check_own(plan: InitPlan, fixed: frozenset[Var] = frozenset()) -> None:
    """The init of one spatial instance must touch nothing that another instance touches.

    Axes in ``fixed`` are the same for all instances that the init moves past.
    """
    realize: BlockRealize = plan.block.node
    b = realize.block
    if _simple(b):
        return
    axes: list[tuple[Var, float, float]] = []
    for iv in b.iter_vars:
        if iv.kind != "reduce" and iv.dom is not None and iv.var not in fixed:
            low, high = float("-inf"), float("inf")
            if type(iv.dom.min) is IntImm and type(iv.dom.extent) is IntImm:
                low = iv.dom.min.value
                high = low + max(iv.dom.extent.value, 1) - 1
            axes.append((iv.var, low, high))
    reduced = tuple([(iv.var, float("-inf"), float("inf")) for iv in b.iter_vars if iv.kind == "reduce"])
    aliased = aliased_params(plan.block.home)
    every = [c._replace(around=(*axes, *reduced, *c.around)) for c in [cell_of(a, None) for a in accesses(b)]]
    first = [c._replace(around=(*axes, *reduced, *c.around)) for c in _init_cells(b)]
    for a in first:
        for c in every:
            if not (a.write or c.write) or not may_alias(a.buffer, c.buffer, aliased):
                continue
            found = distances(a, c, axes, {})
            if found is not None and any(d != (0, 0) for d in found.values()):
                raise InitOvertakes(
                    plan.block.home,
                    at=[(plan.loop.node, None), (realize, "")],
                    block=realize,
                    loop=plan.loop.node,
                    other="updates of other instances",
                    buffer=a.buffer,
                )


def _simple(b: Block) -> bool:
    """Whether init and update touch one buffer at one tuple of all spatial axes: the usual reduction.

    Memoised on the block.
    """
    memo = memo_of(b)
    found: bool | None = memo.get("simple_init")
    if found is None:
        found = memo["simple_init"] = _is_simple(b)
    return found


def _is_simple(b: Block) -> bool:
    written = None
    cell: Any = None
    for a in accesses(b):
        if a.is_write or a.init:
            if a.indices is None or (written is not None and a.buffer is not written):
                return False
            written = a.buffer
    for a in accesses(b):
        if a.buffer is written or a.buffer.data is written.data:  # type: ignore[union-attr]
            if a.buffer is not written or a.indices is None or a.axes:
                return False
            key = tuple([key_of(i) for i in a.indices])
            if cell is None:
                cell = key
            elif key != cell:
                return False
    return all(iv.var in cell for iv in b.iter_vars if iv.kind != "reduce") if cell is not None else False


def check_others(plan: InitPlan) -> None:
    """Nothing else below the loop may touch what the init touches, before or in another iteration."""
    for p in plan.path:
        s = p.node
        if type(s) is not For or type(s.min) is not IntImm or type(s.extent) is not IntImm:
            break
    else:
        return  # loops of constant extents alone
    realize: BlockRealize = plan.block.node
    top: For = plan.loop.node
    cells = cells_below(top)
    if cells is None:
        cells = all_cells(top)
    mine = [n for n, c in enumerate(cells) if c.realize is realize]
    env: dict[Var, Any] = {
        iv.var: index_of(value)
        for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
    }
    around = tuple([(p.node.loop_var, *_range(p.node)) for p in reversed(plan.path) if type(p.node) is For])
    first = [
        c._replace(
            indices=None if c.indices is None else tuple([compose(i, env) for i in c.indices]),
            around=(*around, *c.around),
        )
        for c in _init_cells(realize.block)
    ]
    aliased = aliased_params(plan.block.home)
    for n, other in enumerate(cells):
        if other.realize is realize:
            continue
        for a in first:
            if not (a.write or other.write) or not may_alias(a.buffer, other.buffer, aliased):
                continue
            found = distances(a, other, shared_loops(a, other), outside_ranges(plan.loop))
            if found is None:
                continue
            before = not mine or n < mine[0]
            if before or any(d != (0, 0) for d in found.values()):
                what = describe(other.realize) if other.realize is not None else "a statement"
                raise InitOvertakes(
                    plan.block.home,
                    at=[(top, None), (other.realize if other.realize is not None else realize, "")],
                    block=realize,
                    loop=top,
                    other=what,
                    buffer=a.buffer,
                )
