"""Where the init of each block runs: the plan that the statement emitter follows.

Init runs once for every spatial instance, before its first update, also if there is none.  Three forms:

* ``first``: beside the update, ``if k == 0``, where the reduction loops certainly run;
* ``hoisted``: a nest of the spatial loops before the outermost reduction loop;
* ``seen``: a set of the spatial instances met so far, made before the outermost reduction loop.

The reduction loops may stand around blocks that the block is nested in.  What keeps instances of these from
running guards the init too, unless reduction loops alone decide about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    GE,
    LT,
    Add,
    And,
    BufferLoad,
    Call,
    Cast,
    Expr,
    IntImm,
    IterVar,
    Mul,
    Not,
    Sub,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.op import is_opaque
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, LetStmt, SeqStmt, While
from tirscript.ir.visitor import free_vars, substitute

from .kinds import Kinds


@dataclass(eq=False)
class InitPlan:
    """How one block's init runs.  ``anchor`` is the outermost reduction loop, None where there is none.

    ``hoist`` is the block as the nest runs its init: over loops, not over axes of the blocks around it.
    """

    realize: BlockRealize
    form: str
    anchor: For | None = None
    reduction: list[For] = field(default_factory=list)
    nest: list[For] = field(default_factory=list)
    conjuncts: list[Expr] = field(default_factory=list)
    keys: list[Var] = field(default_factory=list)
    hoist: BlockRealize | None = None


class Guards:
    """The conjuncts of a block's predicate: those that guard the update alone, and the others."""

    def __init__(
        self, predicate: Expr, reduction: frozenset[Var], spatial: frozenset[Var], roots: Any
    ) -> None:
        self.both: list[Expr] = []
        self.update: list[Expr] = []
        self.mixed: list[Expr] = []
        for part in conjuncts(predicate):
            loops = roots(part)
            only = bool(loops) and loops <= reduction and not loops & spatial
            (self.update if only else self.both).append(part)
            if not only and loops & reduction:
                self.mixed.append(part)


def conjuncts(predicate: Expr) -> list[Expr]:
    """``a and b and c`` in parts; none for True."""
    parts: list[Expr] = []
    stack = [predicate]
    while stack:
        e = stack.pop()
        if type(e) is And:
            stack += [e.b, e.a]
        elif not (type(e) is IntImm and e.value):
            parts.append(e)
    return parts


class Planner:
    """Plans for all blocks with an init of one function."""

    def __init__(self, function: PrimFunc) -> None:
        self.plans: dict[Block, InitPlan] = {}
        self.guards: dict[Block, Guards] = {}
        self.at_loop: dict[For, list[InitPlan]] = {}
        self.roots: dict[Var, frozenset[Var]] = {}
        self.kinds = Kinds()
        self._visit(function.body)

    def _visit(self, body: Any) -> None:
        path: list[Any] = []
        stack: list[tuple[Any, bool]] = [(body, False)]
        while stack:
            n, leave = stack.pop()
            if leave:
                path.pop()
                continue
            t = type(n)
            if t is For:
                self.roots[n.loop_var] = frozenset([n.loop_var])
                if type(n.min) is IntImm and _runs(n):
                    self.kinds.bounds[n.loop_var] = (n.min.value, n.min.value + n.extent.value - 1)
            elif t is LetStmt:
                self.roots[n.var] = self.roots_of(n.value)
            elif t is BlockRealize:
                for axis, value in zip(n.block.iter_vars, n.iter_values, strict=True):
                    self.roots[axis.var] = self.roots_of(value)
                    if self.kinds.exact(value):
                        self.kinds.bounds[axis.var] = self.kinds.interval(value)
                self._plan(n, path)
            path.append(n)
            stack.append((n, True))
            below = [n.block] if t is BlockRealize else n.children()
            if t is Block:
                below = [n.init, n.body] if n.init is not None else [n.body]
            stack += [(c, False) for c in reversed(below) if not isinstance(c, Expr)]

    def roots_of(self, e: Any) -> frozenset[Var]:
        """The loop variables that a value, or a statement, depends on, through axes and lets."""
        out: set[Var] = set()
        for v in free_vars(e):
            out |= self.roots.get(v, frozenset())
        return frozenset(out)

    def _plan(self, realize: BlockRealize, path: list[Any]) -> None:
        block = realize.block
        reduction: frozenset[Var] = frozenset()
        spatial: frozenset[Var] = frozenset()
        for axis in block.iter_vars:
            if axis.kind == "reduce":
                reduction |= self.roots[axis.var]
            else:
                spatial |= self.roots[axis.var]
        if block.init is None:
            self.guards[block] = guards = Guards(realize.predicate, frozenset(), spatial, self.roots_of)
            return
        guards = self.guards[block] = Guards(realize.predicate, reduction, spatial, self.roots_of)
        loops = [n for n in path if type(n) is For and n.loop_var in reduction]
        if not loops:
            self.plans[block] = InitPlan(realize, "always")
            return
        anchor = loops[0]
        inner = path[path.index(anchor) :]
        plan = InitPlan(realize, "seen", anchor, loops, conjuncts=guards.both)
        plan.keys = [a.var for n in (*inner, realize) if type(n) is BlockRealize
                     for a in n.block.iter_vars if a.kind != "reduce"]  # fmt: skip
        known = {*plan.keys, *[a.var for a in block.iter_vars]}
        outer = [v for v in free_vars(block.init) if v not in known and self.roots.get(v)]
        plan.keys += sorted(outer, key=lambda v: v.name)
        self.plans[block] = plan
        if not self._reached(inner):
            self.at_loop.setdefault(anchor, []).append(plan)
            return
        bound, conditions, sure = self._around([*inner, realize], reduction)
        beside = sure and not guards.mixed and all(_runs(loop) for loop in loops)
        beside = beside and self.roots_of(block.init).isdisjoint(reduction)
        beside = beside and not _shared(_touched(block.init), [*inner, realize])
        if beside and self._box(inner, loops, reduction, spatial):
            if self._apart(realize, bound, inner, reduction):
                plan.form = "first"
                return
        if not _touched(block.init).isdisjoint(_declared(inner)):
            self.at_loop.setdefault(anchor, []).append(plan)
            return
        plan.form = "hoisted"
        plan.hoist = substitute(realize, bound) if bound else realize
        plan.conjuncts = [substitute(part, bound) for part in guards.both]
        for part in conditions:
            decided = self.roots_of(part)
            if not (decided and decided <= reduction and not decided & spatial):
                plan.conjuncts.append(part)
        needed = spatial.union(*[self.roots_of(part) for part in plan.conjuncts], self.roots_of(block.init))
        for n in reversed(inner):
            if type(n) is For and n.loop_var in needed:
                low, extent = substitute(n.min, bound), substitute(n.extent, bound)
                needed |= self.roots_of(low) | self.roots_of(extent)
                plan.nest.insert(0, n.replace(min=low, extent=extent) if bound else n)
        self.at_loop.setdefault(anchor, []).append(plan)

    def _around(
        self, inner: list[Any], reduction: frozenset[Var]
    ) -> tuple[dict[Var, Expr], list[Expr], bool]:
        """Of what stands on the way: what its axes and lets are, the conditions under which the last is
        reached, and whether no reduction loop has a part in these."""
        bound: dict[Var, Expr] = {}
        conditions: list[Expr] = []
        sure = True
        loops = {n.loop_var: n for n in inner if type(n) is For}
        for r, below in pairwise(inner):
            found: list[Expr] = []
            if type(r) is LetStmt:
                bound[r.var] = substitute(r.value, bound)
            elif type(r) is IfThenElse:
                test = substitute(r.condition, bound)
                found = conjuncts(test) if below is r.then_case else [Not(test)]
            elif type(r) is BlockRealize:
                values = [substitute(v, bound) for v in r.iter_values]
                for axis, own, value in zip(r.block.iter_vars, r.iter_values, values, strict=True):
                    if not self._within(axis, own, loops):
                        found += _domain(axis, value, bound)
                bound |= {a.var: v for a, v in zip(r.block.iter_vars, values, strict=True)}
                found += [substitute(part, bound) for part in conjuncts(r.predicate)]
            sure = sure and not any(self.roots_of(part) & reduction for part in found)
            conditions += found
        return bound, conditions, sure

    def _within(self, axis: IterVar, value: Expr, loops: dict[Var, For]) -> bool:
        """Whether an axis certainly stays in its domain."""
        if axis.dom is None:
            return True
        low, extent = axis.dom.min, axis.dom.extent
        loop = loops.get(value) if type(value) is Var else None
        if loop is not None and loop.step is None and _equal(loop.min, low) and _equal(loop.extent, extent):
            return True
        if type(low) is not IntImm or type(extent) is not IntImm or not self.kinds.exact(value):
            return False
        least, most = self.kinds.interval(value)
        return (
            least is not None and most is not None and low.value <= least and most < low.value + extent.value
        )

    def _apart(
        self, realize: BlockRealize, bound: dict[Var, Expr], inner: list[Any], reduction: frozenset[Var]
    ) -> bool:
        """Whether it is one whether the instances are initialised all at first, or each beside its update.

        That is so if no other loop stands inside a reduction loop, else if each iteration of such loops has
        cells of its own, and what it does to the buffer it does to these.
        """
        block = realize.block
        between = {n.loop_var: n.extent for n in inner if type(n) is For and n.loop_var not in reduction}
        if all(type(n) is IntImm and n.value == 1 for n in between.values()):
            return True
        moving = {
            a.var: substitute(v, bound)
            for a, v in zip(block.iter_vars, realize.iter_values, strict=True)
            if self.roots[a.var] & between.keys()
        }
        told = frozenset().union(*[_told_apart(v, between) for v in moving.values()])
        if not told >= between.keys():
            return False
        cells: dict[Any, tuple[Expr, ...]] = {}
        for n in walk(block.init):  # type: ignore[arg-type]
            if type(n) is BufferStore:
                if not all(any(v is i for i in n.indices) for v in moving):
                    return False
                cells.setdefault(n.buffer, n.indices)
        for n in [*walk(block.init), *walk(block.body)]:  # type: ignore[arg-type]
            if isinstance(n, (BufferStore, BufferLoad)) and n.buffer in cells:
                if not _alike(n.indices, cells[n.buffer]):
                    return False
        return not any(type(n) is Call and is_opaque(n.op) for n in walk(block))

    def _box(
        self, inner: list[Any], loops: list[For], reduction: frozenset[Var], spatial: frozenset[Var]
    ) -> bool:
        """Whether the loops make a box, every iteration of which reaches the block, and a reduction loop is
        nothing else."""
        if reduction & spatial:
            return False
        for n in inner:
            if type(n) is For:
                if n not in loops and (self.roots_of(n.min) | self.roots_of(n.extent)) & reduction:
                    return False
            elif type(n) is LetStmt or type(n) is IfThenElse:
                return False
        return True

    def _reached(self, inner: list[Any]) -> bool:
        """Whether loops, lets and conditions decide whether the block is reached, and it is no part of an
        init."""
        previous: Any = None
        for n in inner:
            if type(n) not in (For, BlockRealize, SeqStmt, Block, LetStmt, IfThenElse):
                return False
            if type(n) is Block and previous is not None and n.init is previous:
                return False
            previous = n
        return not jumps(inner[0])


def _told_apart(value: Expr, loops: dict[Var, Expr]) -> frozenset[Var]:
    """The loops whose iterations a value tells apart: a sum of which each weight exceeds what those with a
    smaller one can make up for."""
    weights: dict[Var, int] = {}
    if not _add_weights(value, 1, weights):
        return frozenset()
    out: set[Var] = set()
    reach = 0.0
    for v, k in sorted(weights.items(), key=lambda item: abs(item[1])):
        if v not in loops:
            continue
        if abs(k) <= reach:
            return frozenset()
        extent = loops[v]
        reach += abs(k) * (extent.value - 1 if type(extent) is IntImm else inf)
        out.add(v)
    return frozenset(out)


def _add_weights(e: Expr, k: int, weights: dict[Var, int]) -> bool:
    """Add the weights of the variables in a sum, times ``k``; False where it is no such sum."""
    if type(e) is Var:
        weights[e] = weights.get(e, 0) + k
        return True
    if type(e) is Add or type(e) is Sub:
        sign = 1 if type(e) is Add else -1
        return _add_weights(e.a, k, weights) and _add_weights(e.b, sign * k, weights)
    if type(e) is Mul and type(e.b) is IntImm:
        return _add_weights(e.a, k * e.b.value, weights)
    if type(e) is Mul and type(e.a) is IntImm:
        return _add_weights(e.b, k * e.a.value, weights)
    return type(e) is IntImm


def _alike(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two index tuples are the same variables and constants."""
    return all(
        x is y or (type(x) is IntImm and type(y) is IntImm and x.value == y.value)
        for x, y in zip(a, b, strict=True)
    )


def _equal(a: Expr, b: Expr) -> bool:
    return a is b or (type(a) is IntImm and type(b) is IntImm and a.value == b.value)


def _domain(axis: IterVar, value: Expr, bound: dict[Var, Expr]) -> list[Expr]:
    """That a value lies in the domain of an axis."""
    assert axis.dom is not None
    low, extent = [substitute(e, bound) for e in (axis.dom.min, axis.dom.extent)]
    low, extent = [e if e.dtype == value.dtype else Cast(value.dtype, e) for e in (low, extent)]
    return [GE(value, low), LT(value, low + extent)]


def _touched(s: Any) -> set[Buffer]:
    return {n.buffer for n in walk(s) if isinstance(n, (BufferLoad, BufferStore))}


def _shared(buffers: set[Buffer], inner: list[Any]) -> bool:
    """Whether other statements on the way use the buffers."""
    memory = {b.data for b in buffers}
    return any(
        child is not below and not memory.isdisjoint(free_vars(child))
        for s, below in pairwise(inner)
        if type(s) is SeqStmt
        for child in s.seq
    )


def _declared(inner: list[Any]) -> set[Buffer]:
    """The memory and the views of the blocks on the way."""
    blocks = [n for n in inner if type(n) is Block]
    return {b for n in blocks for b in (*n.alloc_buffers, *[m.buffer for m in n.match_buffers])}


def _runs(loop: For) -> bool:
    extent = loop.extent
    return type(extent) is IntImm and extent.value > 0 and loop.step is None


def jumps(loop: For) -> bool:
    """Whether an iteration of the nest may be left early.  A break in a ``while`` leaves that alone."""
    stack: list[tuple[Any, bool]] = [(loop, False)]
    while stack:
        n, within = stack.pop()
        if type(n) is Call and (n.op == "ret" or (not within and n.op in ("break_loop", "continue_loop"))):
            return True
        inside = type(n) is While or (within and type(n) is not For)
        stack += [(c, inside) for c in n.children()]
    return False
