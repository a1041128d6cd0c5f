"""May a block run elsewhere: is any dependence turned round, and may instances run again?

The block's accesses in its new place are held against every statement that it passes and every one of the
nest that it enters.  A conflict whose order the move turns round is refused, with the two instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tirscript.analysis.access import Access, accesses, accesses_of, uses_declared
from tirscript.analysis.block_kind import COMPLETE, REDUCTION, block_kind
from tirscript.analysis.dependence import Unknown, Witness, instance_conflicts, may_alias
from tirscript.analysis.question import Copy, Question
from tirscript.analysis.reducer import reduced_buffers
from tirscript.analysis.region import Axis
from tirscript.analysis.solve import System
from tirscript.arith.linear import key_of
from tirscript.diagnostics import deep_recursion
from tirscript.ir import op
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import BufferLoad, Call, Div, Expr, FloorDiv, FloorMod, Mod, Var
from tirscript.ir.node import memo_of, walk
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, Stmt, While

from ..errors import Refusal, describe
from ..rewrite.placement import Piece, Spot
from .apart import axes_apart
from .binding import Binding
from .surroundings import aliased_params, conditions_around, outside_ranges

Order = Callable[[System, Copy, Copy], None]


class TurnedRound(Refusal):
    code = "reversed-dependence"
    template = "block {block} cannot be moved under loop `{loop}`: {what}"


class MoveUnknown(Refusal):
    code = "dependence-unknown"
    template = "cannot tell whether block {block} may be moved under loop `{loop}`: {what}"
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class NotRecomputable(Refusal):
    code = "not-recomputable"
    template = "block {block} cannot be moved: {what}"


class LoopCarried(Refusal):
    code = "loop-carried-dependence"
    template = (
        "block {block} cannot be moved under loop `{loop}`: the iterations of the {kind} loop `{outer}` "
        "would no longer be independent"
    )
    hint_template = "move the block before the loop is made {kind}"


# ---- the block by itself


class Nature(NamedTuple):
    """``repeatable``: an instance (of a reduction: all of a cell's instances) may run again and again;
    ``why`` says why not."""

    repeatable: bool
    why: str = ""


def nature_of(block: Block, binding: Binding) -> Nature:
    """Whether instances may run several times and in any order."""
    memo = memo_of(block)
    fixed = frozenset(binding.fixed)
    key = ("nature", fixed, binding.once)
    found: Nature | None = memo.get(key)
    if found is None:
        found = memo[key] = _nature(block, binding)
    return found


def _nature(block: Block, binding: Binding) -> Nature:
    own = [iv for iv, _ in binding.own]
    reduced = [iv for iv in block.iter_vars if iv.kind == "reduce"]
    effect = _effect(block)
    if effect:
        return Nature(False, effect)
    if reduced and any(iv.var in binding.fixed for iv in reduced):
        return Nature(
            False,
            f"axis `{next(iv.var.name for iv in reduced if iv.var in binding.fixed)}` is reduced outside",
        )
    kind = block_kind(block)
    if block.init is not None and not binding.once:
        return Nature(False, "the loops that it would leave repeat its updates")
    if kind in (COMPLETE, REDUCTION):
        return Nature(True)
    found = accesses(block)
    written = {a.buffer.data for a in found if a.is_write}
    reads = [a for a in found if not a.is_write and a.buffer.data in written]
    if not reads and block.init is None:
        if uses_declared(block):
            if instance_conflicts(block) is None and all(iv.kind == "spatial" for iv in own):
                return Nature(True)
        else:
            apart = axes_apart(block)
            if all(iv.var in apart for iv in own):
                return Nature(True)
        return Nature(False, "its instances may write one cell")
    if block.init is not None and _starts_afresh(block, found, written):
        apart = axes_apart(block)
        if all(iv.var in apart or iv.kind == "reduce" for iv in own):
            return (
                Nature(True)
                if _ascending(binding)
                else Nature(False, "its instances must run in their order")
            )
    what = "it reads what it writes" if reads else "its instances may write one cell"
    return Nature(False, what)


def _effect(block: Block) -> str:
    if uses_declared(block):
        return ""
    for n in walk(block.body) if block.init is None else (*walk(block.body), *walk(block.init)):
        if type(n) is Call:
            known = op.OPS.get(n.op) if isinstance(n.op, str) else None
            if known is None or known.effect not in ("pure", "hint"):
                return f"it calls {n.op if isinstance(n.op, str) else n.op.name}, which has an effect"
    return ""


def _starts_afresh(block: Block, found: Sequence[Access], written: set[Var]) -> bool:
    """Whether the init stores every cell that the body updates: all accesses of what is written go to one
    cell, which depends on no reduction axis."""
    cells: dict[Any, Any] = {}
    inits = set()
    reduce = {iv.var for iv in block.iter_vars if iv.kind == "reduce"}
    for a in found:
        if a.buffer.data not in written:
            continue
        if a.indices is None or a.axes:
            return False
        key = (a.buffer, tuple([key_of(i) for i in a.indices]))
        if cells.setdefault(a.buffer.data, key) != key:
            return False
        if any(type(n) is Var and n in reduce for i in a.indices for n in walk(i)):
            return False
        if a.init and a.is_write and not a.guarded:
            inits.add(a.buffer.data)
        elif a.init and not a.is_write:
            return False
    return inits == written


def _ascending(binding: Binding) -> bool:
    """Whether the loops run the reduction axes one after another, each upwards."""
    return all(type(value) is Var for iv, value in binding.own if iv.kind == "reduce") and (
        sum(1 for iv, _ in binding.own if iv.kind == "reduce") <= 1
    )


def updates_apart(block: Block, binding: Binding) -> bool:
    """Whether the order of the instances is free, as long as each runs once: they touch different cells, or
    update one by a commutative reducer."""
    if block.init is not None or _effect(block):
        return False
    apart = axes_apart(block)
    commutes = reduces(block)
    return all(iv.var in apart or (iv.kind == "reduce" and commutes) for iv, _ in binding.own)


def safe_to_run_early(block: Block, memory: frozenset[Var]) -> bool:
    """Whether it does no harm to run an instance on values of ``memory`` that are not there yet: they are
    neither indices, conditions nor divisors."""
    stack: list[Any] = [block.body] if block.init is None else [block.body, block.init]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is BufferStore:
            if any(_loads(i, memory) for i in n.indices) or n.predicate is not None:
                return False
        elif t is BufferLoad:
            if any(_loads(i, memory) for i in n.indices):
                return False
        elif t is IfThenElse or t is While:
            if _loads(n.condition, memory):
                return False
        elif t is For:
            if _loads(n.min, memory) or _loads(n.extent, memory):
                return False
        elif t in (FloorDiv, FloorMod, Mod) or (t is Div and "int" in n.dtype):
            if _loads(n.b, memory):
                return False
        elif t is Call:
            if n.op == "if_then_else" and _loads(n.args[0], memory):
                return False
            known = op.OPS.get(n.op) if isinstance(n.op, str) else None
            if known is None or known.effect not in ("pure", "hint"):
                return False
        elif t is BlockRealize:
            stack.append(n.block)
            if any(_loads(v, memory) for v in n.iter_values) or _loads(n.predicate, memory):
                return False
            continue
        stack += n.children()
    return True


def _loads(e: Any, memory: frozenset[Var]) -> bool:
    return any(type(n) is BufferLoad and n.buffer.data in memory for n in walk(e))


# ---- the block among others


Surroundings = tuple[frozenset[Buffer], Mapping[Var, tuple[int, int]], Sequence[Expr]]


def meeting(
    mine: Iterable[Access],
    theirs: Iterable[Access],
    orders: Sequence[Order | None],
    asked: Sequence[Var],
    surroundings: Surroundings,
) -> Witness | Unknown | None:
    """Two instances that touch one cell, one writing, in one of the orders (theirs renamed); None where there
    are none.  ``surroundings``: aliased parameters, ranges of what is around, conditions that hold."""
    aliased, ranges, conditions = surroundings
    unknown: Unknown | None = None
    with deep_recursion():
        others = list(theirs)
        for a in mine:
            for b in others:
                if not (a.is_write or b.is_write) or not may_alias(a.buffer, b.buffer, aliased):
                    continue
                question = Question(a, b, ranges, conditions)
                for order in orders:
                    answer = question.answer(order or _any, asked, False)
                    if isinstance(answer, Witness):
                        return answer
                    unknown = unknown or answer
    return unknown


class Mover:
    """The block's accesses in its new place, and questions about them."""

    def __init__(self, spot: Spot, nest: Stmt) -> None:
        self.spot = spot
        self.aliased = aliased_params(spot.block.home)
        loops = spot.path_loops()
        self.path = tuple([Axis(f.loop_var, f.min, f.extent, f) for f in loops])
        with deep_recursion():
            self.mine = [_under(a, self.path) for a in accesses_of(nest)]
        self.ranges = outside_ranges(spot.path[-1])
        self.conditions = conditions_around(spot.path[-1])

    def ask(
        self, mine: Iterable[Access], theirs: Iterable[Access], orders: Sequence[Order | None]
    ) -> Witness | Unknown | None:
        """Two instances that touch one cell, one writing, in one of the orders (theirs renamed); None where
        there are none."""
        asked = [x.var for x in self.path]
        return meeting(mine, theirs, orders, asked, (self.aliased, self.ranges, self.conditions))

    def theirs(self, piece: Piece) -> list[Access]:
        """The accesses of a piece, under the loops of its nest around it."""
        with deep_recursion():
            found = accesses_of(piece.stmt)
        if not piece.loops:
            return list(found)
        path = tuple([Axis(f.loop_var, f.min, f.extent, f) for f in piece.loops])
        return [_under(a, path) for a in found]

    def old(self) -> list[Access]:
        """The accesses of the block in its old place."""
        path = tuple([Axis(f.loop_var, f.min, f.extent, f) for f in self.spot.old_loops])
        with deep_recursion():
            return [_under(a, path) for a in accesses_of(self.spot.realize)]

    def reversed(self, piece: Piece, mine: Iterable[Access], theirs: Iterable[Access], later: bool) -> Any:
        """A conflict that the new place turns round.  A block that came first (``later``: it moves down)
        must still come before the piece in every meeting; one that came last must still come after it."""
        if piece.side == "between":
            return self.ask(mine, theirs, (None,))
        # In the new nest no meeting may be the wrong way round; in the old one, which the block leaves
        # behind (or ahead), none may be the right way round.
        wrong = later if piece.side == "nest" else not later
        common = [f.loop_var for f in piece.loops]
        orders: list[Order | None] = [_order(common[:n], v, -1 if wrong else 1) for n, v in enumerate(common)]
        if piece.before is None or piece.before is wrong:
            orders.append(_order(common, None, 0))
        return self.ask(mine, theirs, orders)


def _under(a: Access, path: tuple[Axis, ...]) -> Access:
    return Access(
        a.buffer, a.indices, a.is_write, (*path, *a.axes), a.conditions, a.stmt, a.node, a.init, a.region,
        a.realizes, a.guarded, a.owner, a.over,
    )  # fmt: skip


def _any(system: System, a: Copy, b: Copy) -> None:
    pass


def _order(equal: Sequence[Var], v: Var | None, sign: int) -> Order:
    """``equal`` loops the same, and the second instance's ``v`` larger (sign 1) or smaller (-1)."""

    def order(system: System, a: Copy, b: Copy) -> None:
        for e in equal:
            system.equal({b.var(e): 1, e: -1}, 0)
        if v is not None:
            system.at_least({b.var(v): sign, v: -sign}, -1)

    return order


def refuse(spot: Spot, piece: Piece, answer: Witness | Unknown, *, later: bool) -> Refusal:
    """The error for a conflict that the move would turn round."""
    fields: dict[str, Any] = {"block": spot.realize, "loop": spot.loop.node}
    at = [(spot.realize, None), (spot.loop.node, ""), (piece.stmt, "")]
    if isinstance(answer, Unknown):
        a = answer.access
        verb = "written" if a.is_write else "read"
        what = f"how {a.buffer.name} is {verb} by {_name(a)} is {answer.reason}"
        return MoveUnknown(spot.block.home, at=at, what=what, **fields)
    a, b = answer.accesses
    other = a if a.realizes and _same_block(b, spot) else b
    if not _same_block(b, spot):
        other = b
    side = "behind" if later else "before"
    what = f"{_name(other)} touches {answer.buffer.name} too, and the block would run {side} it"
    notes = [answer.text if answer.certain else f"{answer.text}, if the conditions on data hold"]
    return TurnedRound(spot.block.home, at=at, notes=notes, what=what, **fields)


def _same_block(a: Access, spot: Spot) -> bool:
    return bool(a.realizes) and a.realizes[0].block is spot.realize.block


def _name(a: Access) -> str:
    return f'block "{a.realizes[-1].block.name}"' if a.realizes else describe(a.stmt)


def parallel_loops(spot: Spot) -> list[For]:
    """The loops of the path whose iterations do not run one after another."""
    return [f for f in spot.path_loops() if f.kind in ("parallel", "vectorized", "thread_binding")]


def check_apart(
    mover: Mover, loops: Sequence[For], mine: Iterable[Access], piece: Piece, theirs: Iterable[Access]
) -> None:
    """Refuse where iterations of a parallel loop would meet: the block of the one, the piece in the other."""
    spot = mover.spot
    mine, theirs = list(mine), list(theirs)
    for f in loops:
        if not any(x is f for x in piece.loops):
            continue
        common = [x.loop_var for x in piece.loops]
        n = next(i for i, v in enumerate(common) if v is f.loop_var)
        outer = [x.loop_var for x in piece.loops[:n] if x.kind == "serial" or x.kind == "unrolled"]
        answer = mover.ask(mine, theirs, (_order(outer, f.loop_var, 1), _order(outer, f.loop_var, -1)))
        if answer is not None:
            kind = "bound" if f.kind == "thread_binding" else f.kind
            note = answer.text
            raise LoopCarried(
                spot.block.home, at=[(spot.realize, None), (f, "")], notes=[note], block=spot.realize,
                loop=spot.loop.node, outer=f, kind=kind,
            )  # fmt: skip


def reduces(block: Block) -> bool:
    """Whether everything that the block writes is only updated, by commutative reducers."""
    written = {a.buffer for a in accesses(block) if a.is_write}
    return written <= reduced_buffers(block)


__all__ = [
    "Mover", "Nature", "NotRecomputable", "check_apart", "meeting", "nature_of", "parallel_loops", "reduces",
    "refuse", "safe_to_run_early", "updates_apart",
]  # fmt: skip
