"""Where the init of each block runs: the plan that the statement emitter follows.

Init runs once for every spatial instance, before its first update, also if there is none.  Three forms:

* ``first``: beside the update, ``if k == 0``, where the reduction loops certainly run;
* ``hoisted``: a nest of the spatial loops before the outermost reduction loop;
* ``seen``: a set of the spatial instances met so far, made before the outermost reduction loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tirscript.ir.expr import And, BufferLoad, Call, Expr, IntImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.op import is_opaque
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, LetStmt, SeqStmt, While
from tirscript.ir.visitor import free_vars


@dataclass(eq=False)
class InitPlan:
    """How one block's init runs.  ``anchor`` is the outermost reduction loop, None where there is none."""

    realize: BlockRealize
    form: str
    anchor: For | None = None
    reduction: list[For] = field(default_factory=list)
    nest: list[For] = field(default_factory=list)
    conjuncts: list[Expr] = field(default_factory=list)
    keys: list[Var] = field(default_factory=list)


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
            elif t is LetStmt:
                self.roots[n.var] = self.roots_of(n.value)
            elif t is BlockRealize:
                for axis, value in zip(n.block.iter_vars, n.iter_values, strict=True):
                    self.roots[axis.var] = self.roots_of(value)
                self._plan(n, path)
            path.append(n)
            stack.append((n, True))
            below = [n.block] if t is BlockRealize else n.children()
            if t is Block:
                below = [n.init, n.body] if n.init is not None else [n.body]
            stack += [(c, False) for c in reversed(below) if not isinstance(c, Expr)]

    def roots_of(self, e: Expr) -> frozenset[Var]:
        """The loop variables that a value depends on, through axes and lets."""
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
        self.plans[block] = plan
        plain = self._plain(inner, loops, reduction, spatial)
        beside = plain and not guards.mixed and all(_runs(loop) for loop in loops)
        if beside and self._apart(block, inner, reduction):
            plan.form = "first"
            return
        if not plain or any(type(n) is BlockRealize for n in inner):
            self.at_loop.setdefault(anchor, []).append(plan)
            return
        needed = spatial.union(*[self.roots_of(part) for part in guards.both])
        plan.form = "hoisted"
        plan.nest = [n for n in inner if type(n) is For and n.loop_var in needed]
        self.at_loop.setdefault(anchor, []).append(plan)

    def _apart(self, block: Block, inner: list[Any], reduction: frozenset[Var]) -> bool:
        """Whether it is one whether the instances are initialised all at first, or each beside its update.

        That is so if no spatial loop stands inside a reduction loop, else if every instance has cells of
        its own, and what it does to the buffer it does to these.
        """
        between = {n.loop_var for n in inner if type(n) is For} - reduction
        moving = [a.var for a in block.iter_vars if self.roots[a.var] & between]
        if not moving:
            return True
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

    def _plain(
        self, inner: list[Any], loops: list[For], reduction: frozenset[Var], spatial: frozenset[Var]
    ) -> bool:
        """Whether the block is reached by every iteration of the loops, in a box of them."""
        if reduction & spatial:
            return False
        previous: Any = None
        for n in inner:
            t = type(n)
            if t is For:
                if n not in loops and (self.roots_of(n.min) | self.roots_of(n.extent)) & reduction:
                    return False
            elif t is BlockRealize:
                if conjuncts(n.predicate):
                    return False
            elif t is not SeqStmt and t is not Block:
                return False
            if t is Block and previous is not None and n.init is previous:
                return False
            previous = n
        return not jumps(inner[0])


def _alike(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two index tuples are the same variables and constants."""
    return all(
        x is y or (type(x) is IntImm and type(y) is IntImm and x.value == y.value)
        for x, y in zip(a, b, strict=True)
    )


def _runs(loop: For) -> bool:
    extent = loop.extent
    return type(extent) is IntImm and extent.value > 0 and loop.step is None


def jumps(loop: For) -> bool:
    """Whether an iteration of the nest may be left early."""
    return any(
        type(n) is While or (type(n) is Call and n.op in ("break_loop", "continue_loop", "ret"))
        for n in walk(loop)
    )
