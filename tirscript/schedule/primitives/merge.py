"""Merge loops that follow one another into one: their bodies run in turn in each iteration.

The loops may stand further in: the nests between them and the sequence that they have in common are merged
level by level.  The bodies come in the order of the arguments.  The merged nest stands where the last of the
nests stood, or where the first one did if only that is right.  Loops of one kind give a loop of that kind,
others a serial one.

Requirements:
  * ``loops`` are two or more different references to loops that are there (``too-few-loops``,
    ``repeated-loop``, ``wrong-handle``, ``expired-reference``) in one block (``different-scopes``)
  * they stand in different statements of one sequence (``not-siblings``), each in a nest of loops alone
    (``not-perfectly-nested``), all at the same depth of it (``different-depths``)
  * the loops carry no annotations (``annotated-loop``) and are bound to no thread (``bound-loop``), and no
    break, continue or return leaves them (``leaves-loop``)
  * the loops of each level run over the same values (``different-ranges``)
  * no dependence is turned round: what an iteration of one body needs from a later statement's, or the other
    way round, still comes first (``reversed-dependence``, ``dependence-unknown``); statements between the
    nests have nothing to do with what moves past them (``nest-overtakes``); parallel and vectorized
    iterations stay independent (``loop-carried-dependence``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain, loop_lines
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.merge(*[sch.get_loops(name)[0] for name in "BC"])
LoopRV(i_m)
>>> loop_lines(sch)
for i_m in range(16):

Source: TVM's ``merge``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tirscript.analysis.access import Access, accesses_of
from tirscript.analysis.dependence import Unknown, Witness
from tirscript.analysis.question import Copy, Question
from tirscript.analysis.solve import System
from tirscript.ir.expr import Expr, IntImm, Var
from tirscript.ir.stmt import NONE, BlockRealize, For, SeqStmt, Stmt, seq

from ..errors import BadValue, Refusal, describe
from ..legality.cells import Cell, Form, cell_of, compose, distances, may_alias
from ..legality.control import check_stays, escapes
from ..legality.order import DependenceUnknown
from ..legality.prove import same
from ..legality.surroundings import Interval, aliased_params, conditions_around, outside_ranges
from ..names import new_names
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import loop_place
from ..rewrite.substitute import Rewriter, put
from ..state import ScheduleState
from .split import check_plain


class TooFewLoops(BadValue):
    code = "too-few-loops"
    template = "merge needs at least two loops"


class RepeatedLoop(BadValue):
    code = "repeated-loop"
    template = "loop `{loop}` was given twice"


class DifferentScopes(Refusal):
    code = "different-scopes"
    template = "loops `{first}` and `{second}` cannot be merged: they stand in different blocks"


class NotSiblings(Refusal):
    code = "not-siblings"
    template = "loops `{first}` and `{second}` cannot be merged: {what}"


class NotPerfectlyNested(Refusal):
    code = "not-perfectly-nested"
    template = "loop `{loop}` cannot be merged: {what} stands around it below the common sequence"


class DifferentDepths(Refusal):
    code = "different-depths"
    template = (
        "loops `{first}` and `{second}` cannot be merged: {a} and {b} loops stand around them below the "
        "common sequence"
    )


class DifferentRanges(Refusal):
    code = "different-ranges"
    template = "loops `{first}` and `{second}` cannot be merged: their ranges are not known to be the same"


class ReversedDependence(Refusal):
    code = "reversed-dependence"
    template = "loops `{first}` and `{second}` cannot be merged: a dependence would be reversed"


class Overtakes(Refusal):
    code = "nest-overtakes"
    template = "loop `{loop}` cannot be merged: its nest would move past {other}, which touches {buffer} too"


class CarriedDependence(Refusal):
    code = "loop-carried-dependence"
    template = (
        "loops `{first}` and `{second}` cannot be merged as {kind} loops: iterations of the new loop would "
        "depend on one another"
    )
    hint_template = "merge them first, then see which loop can be made {kind}"


class Nest:
    """One of the nests: its loops outermost first, and its number in the sequence."""

    __slots__ = ("at", "chain", "place")

    def __init__(self, place: StmtSRef, chain: list[For], at: int) -> None:
        self.place = place
        self.chain = chain
        self.at = at


class Plan:
    """The nests in the order of the arguments, the sequence, and where the merged nest goes."""

    __slots__ = ("at", "kinds", "nests", "sequence")

    def __init__(self, nests: list[Nest], sequence: StmtSRef, at: int, kinds: list[str]) -> None:
        self.nests = nests
        self.sequence = sequence
        self.at = at
        self.kinds = kinds


def check(state: ScheduleState, loops: tuple[Any, ...]) -> Plan:
    """The nests and where they go, if the loops can be merged."""
    if len(loops) < 2:
        raise TooFewLoops()
    places = [loop_place(state, loop, "loops", "merge") for loop in loops]
    sequence = _near_sequence(places)
    if sequence is None:
        if len({id(p) for p in places}) != len(places):
            p = next(p for n, p in enumerate(places) if any(p is q for q in places[:n]))
            raise RepeatedLoop(p.home, at=[(p.node, None)], loop=p.node)
        sequence = _sequence(places)
    nests = [_nest(p, sequence) for p in places]
    first = nests[0]
    for other in nests[1:]:
        _check_levels(first, other)
    kinds = [f.kind for f in first.chain]
    for other in nests[1:]:
        for d, f in enumerate(other.chain):
            if f.kind != kinds[d]:
                kinds[d] = "serial"
    slots = [n.at for n in nests]
    at = max(slots)
    if state.enable_check:
        asked = _Asked(sequence)
        for n, a in enumerate(nests):
            for b in nests[n + 1 :]:
                if a.at < b.at:
                    asked.order(a, b, False, kinds)
                else:
                    asked.order(b, a, True, kinds)
        if at - min(slots) >= len(set(slots)):
            at = _position(asked, nests)  # other statements stand between
    return Plan(nests, sequence, at, kinds)


def _sequence(places: list[StmtSRef]) -> StmtSRef:
    """The sequence in whose statements all loops stand."""
    ways = []
    for p in places:
        way: list[StmtSRef] = []
        q = p.parent
        while q is not None:
            way.append(q)
            if type(q.node) is BlockRealize:
                break
            q = q.parent
        ways.append(way)
    first = places[0]
    for p, way in zip(places, ways, strict=True):
        if way[-1] is not ways[0][-1]:
            raise DifferentScopes(
                first.home, at=[(first.node, None), (p.node, "")], first=first.node, second=p.node
            )
    others = [{id(x) for x in way} for way in ways[1:]]
    for q in ways[0]:
        if all([id(q) in seen for seen in others]):  # noqa: C419
            if type(q.node) is SeqStmt:
                return q
            what = "one stands inside the other" if type(q.node) is For else f"{describe(q.node)} parts them"
            raise NotSiblings(
                first.home, at=[(first.node, None), (places[1].node, "")], first=first.node,
                second=places[1].node, what=what,
            )  # fmt: skip
    raise AssertionError("the block around is common to all")


def _near_sequence(places: list[StmtSRef]) -> StmtSRef | None:
    """The sequence, where all stand in different statements of it, with nothing but loops around them."""
    found: StmtSRef | None = None
    slots: set[int] = set()
    for p in places:
        up = p.parent
        while up is not None and type(up.node) is For:
            p, up = up, up.parent
        if up is None or type(up.node) is not SeqStmt or p.seq_index in slots:
            return None
        if found is not None and up is not found:
            return None
        found = up
        slots.add(p.seq_index)
    return found


def _nest(place: StmtSRef, sequence: StmtSRef) -> Nest:
    chain: list[For] = []
    p = place
    leaves = bool(escapes(place.node.body))  # what leaves a loop around leaves this one
    while True:
        s = p.node
        if type(s) is not For:
            raise NotPerfectlyNested(place.home, at=[(place.node, None)], loop=place.node, what=describe(s))
        if s.annotations or s.thread:
            check_plain(p, "merged", "merge")
        if leaves:
            check_stays(p, "merged", "break", "continue", "return")
        chain.append(s)
        if p.parent is sequence:
            chain.reverse()
            return Nest(place, chain, p.seq_index)
        assert p.parent is not None
        p = p.parent


def _check_levels(first: Nest, other: Nest) -> None:
    at: list[tuple[Any, str | None]]
    fields: dict[str, Any]
    if first.at == other.at or len(first.chain) != len(other.chain):
        at = [(first.place.node, None), (other.place.node, "")]
        fields = {"first": first.place.node, "second": other.place.node}
    if first.at == other.at:
        what = "they stand in one statement of the sequence"
        raise NotSiblings(first.place.home, at=at, what=what, **fields)
    if len(first.chain) != len(other.chain):
        a, b = str(len(first.chain)), str(len(other.chain))
        raise DifferentDepths(first.place.home, at=at, a=a, b=b, **fields)
    values: dict[Var, Expr] = {}
    for f, g in zip(first.chain, other.chain, strict=True):
        low, extent = f.min, f.extent
        if (
            f.step is None
            and g.step is None
            and f.loop_var.dtype == g.loop_var.dtype
            and type(low) is IntImm
            and type(extent) is IntImm
            and type(g.min) is IntImm
            and type(g.extent) is IntImm
            and low.value == g.min.value
            and extent.value == g.extent.value
        ):
            values[g.loop_var] = f.loop_var
            continue
        steps = (f.step is None) == (g.step is None) and (
            f.step is None or g.step is None or same(f.step, put(g.step, values))
        )
        if not (
            steps
            and f.loop_var.dtype == g.loop_var.dtype
            and _alike(f.min, put(g.min, values))
            and _alike(f.extent, put(g.extent, values))
        ):
            raise DifferentRanges(first.place.home, at=[(f, None), (g, "")], first=f, second=g)
        values[g.loop_var] = f.loop_var


def _alike(a: Expr, b: Expr) -> bool:
    if type(a) is IntImm and type(b) is IntImm:
        return a.value == b.value
    return a is b or same(a, b)


# ---- dependences


class _Asked:
    """Questions about the statements of one sequence."""

    def __init__(self, sequence: StmtSRef) -> None:
        self.sequence = sequence
        self.aliased = aliased_params(sequence.home)

    @cached_property
    def ranges(self) -> dict[Var, Interval]:
        return outside_ranges(self.sequence)

    @cached_property
    def conditions(self) -> list[Expr]:
        return conditions_around(self.sequence)

    def pairs(self, a: Stmt, b: Stmt) -> list[tuple[Access, Access]]:
        """Accesses of the two statements that may be of one cell, one of them writing; each cell once."""
        mine, theirs = accesses_of(a), accesses_of(b)
        if not self.aliased:
            out = []
            for x in mine:
                data, writes = x.buffer.data, x.is_write
                for y in theirs:
                    if y.buffer.data is data and (writes or y.is_write):
                        out.append((x, y))  # noqa: PERF401
            return out
        return [
            (x, y)
            for x in mine
            for y in theirs
            if (x.is_write or y.is_write) and may_alias(x.buffer, y.buffer, self.aliased)
        ]

    def order(self, a: Nest, b: Nest, swapped: bool, kinds: list[str]) -> None:
        """Refuse where an iteration of ``b``, which came second, would run before one of ``a`` that it meets;
        ``swapped`` says that its body comes first in each iteration."""
        loops = [(f.loop_var, g.loop_var) for f, g in zip(a.chain, b.chain, strict=True)]
        free = [n for n, kind in enumerate(kinds) if kind in ("parallel", "vectorized")]
        for x, y in self.pairs(a.chain[0], b.chain[0]):
            if self._surely(x, y, loops, swapped, free):
                continue
            question = Question(x, y, self.ranges, self.conditions)
            for n in range(len(loops) + swapped):
                answer = question.answer(_turned(loops, n), (), False)
                if answer is not None:
                    self._refuse(ReversedDependence, a, b, answer, "")
            for n in free:
                answer = question.answer(_later(loops, n), (), False)
                if answer is not None:
                    self._refuse(CarriedDependence, a, b, answer, kinds[n])

    def _surely(
        self, x: Access, y: Access, loops: list[tuple[Var, Var]], swapped: bool, free: list[int]
    ) -> bool:
        """The quick answer: linear equations over the loops leave no meeting in the wrong order."""
        if not swapped and x.buffer is y.buffer and x.indices is not None and y.indices is not None:
            # Each loop is the same index of both.
            mine, theirs = x.indices, y.indices
            count = len(mine)
            for u, v in loops:
                for d in range(count):
                    if mine[d] is u and theirs[d] is v:
                        break
                else:
                    break
            else:
                return True
        first, second = cell_of(x, None), cell_of(y, None)
        names: dict[Var, Any] = {v: Form(0, {u: 1}) for u, v in loops}
        count = len(loops)
        if len(first.around) < count or len(second.around) < count:
            return False
        shared = first.around[:count]
        moved = Cell(
            second.buffer,
            second.write,
            None if second.indices is None else tuple([compose(i, names) for i in second.indices]),
            (*shared, *second.around[count:]),
            None,
        )
        found = distances(first, moved, shared, self.ranges)
        if found is None:
            return True
        for n, (u, _) in enumerate(loops):
            low, high = found[u]
            if low < 0 or (n in free and high > 0):
                return False
            if low > 0:
                return True
        return not swapped

    def _refuse(self, rule: type[Refusal], a: Nest, b: Nest, answer: Witness | Unknown, kind: str) -> None:
        at: list[tuple[Any, str | None]] = [(a.chain[-1], None), (b.chain[-1], "")]
        fields: dict[str, Any] = {"first": a.chain[-1], "second": b.chain[-1]}
        if isinstance(answer, Unknown):
            names = f"`{a.chain[-1].loop_var.name}` and `{b.chain[-1].loop_var.name}`"
            raise DependenceUnknown(
                a.place.home, at=at, question=f"loops {names} may be merged", what=answer.text
            )
        if kind:
            fields["kind"] = kind
        raise rule(a.place.home, at=at, notes=[answer.text], **fields)

    def meeting(self, a: Stmt, b: Stmt) -> tuple[Access, Witness | Unknown] | None:
        """Whether two statements touch a cell in common."""
        for x, y in self.pairs(a, b):
            answer = Question(x, y, self.ranges, self.conditions).answer(_any, (), False)
            if answer is not None:
                return x, answer
        return None


def _any(system: System, a: Copy, b: Copy) -> None:
    pass


def _turned(loops: list[tuple[Var, Var]], n: int) -> Any:
    """The second instance's first ``n`` loops the same, the next one smaller (if there is one)."""

    def order(system: System, a: Copy, b: Copy) -> None:
        for u, v in loops[:n]:
            system.equal({b.var(v): 1, u: -1}, 0)
        if n < len(loops):
            u, v = loops[n]
            system.at_least({u: 1, b.var(v): -1}, -1)

    return order


def _later(loops: list[tuple[Var, Var]], n: int) -> Any:
    """The same, the next one larger."""

    def order(system: System, a: Copy, b: Copy) -> None:
        for u, v in loops[:n]:
            system.equal({b.var(v): 1, u: -1}, 0)
        u, v = loops[n]
        system.at_least({b.var(v): 1, u: -1}, -1)

    return order


def _position(asked: _Asked, nests: list[Nest]) -> int:
    """Where the merged nest can stand: where the last nest stands, or where the first one does."""
    items = asked.sequence.node.seq
    last, first = max(n.at for n in nests), min(n.at for n in nests)
    members = {n.at for n in nests}
    refusal: Refusal | None = None
    for at in (last, first):
        problem = None
        for nest in nests:
            for k in range(min(nest.at, at) + 1, max(nest.at, at)):
                if k in members or problem is not None:
                    continue
                found = asked.meeting(nest.chain[0], items[k])
                if found is not None:
                    access, answer = found
                    problem = Overtakes(
                        nest.place.home, at=[(nest.place.node, None), (items[k], "")], notes=[answer.text],
                        loop=nest.place.node, other=describe(items[k]), buffer=access.buffer,
                    )  # fmt: skip
        if problem is None:
            return at
        refusal = refusal or problem
    assert refusal is not None
    raise refusal


# ---- rewriting


def rewrite(state: ScheduleState, plan: Plan) -> LoopRV:
    """Put the merged nest in the place of one nest, and take the others out; its innermost loop is
    returned."""
    first = plan.nests[0]
    depth = len(first.chain)
    inside = SeqStmt(tuple([n.chain[-1].body for n in plan.nests]))
    wanted = [f"{f.loop_var.name}_m" for f in first.chain]
    names = new_names(plan.sequence, inside, wanted)
    news = [Var(name, f.loop_var.dtype, f.loop_var.exact) for name, f in zip(names, first.chain, strict=True)]
    bodies = []
    values: dict[Var, Expr] = {}
    for n in reversed(plan.nests):  # those of the first stay
        values = {}
        for f, v in zip(n.chain, news, strict=True):
            values[f.loop_var] = v
        bodies.append(Rewriter(values).statement(n.chain[-1].body))
    bodies.reverse()
    out: Stmt = seq(*bodies)
    for d in range(depth - 1, -1, -1):
        f = first.chain[d]
        low, extent = f.min, f.extent
        if type(low) is not IntImm:
            low = put(low, values)
        if type(extent) is not IntImm:
            extent = put(extent, values)
        step = None if f.step is None else put(f.step, values)
        out = For(news[d], low, extent, plan.kinds[d], out, "", NONE, step, f.span)
    members = [n.at for n in plan.nests]
    kept: list[Stmt] = []
    for k, s in enumerate(plan.sequence.node.seq):
        if k == plan.at:
            kept.append(out)
        elif k not in members:
            kept.append(s)
    gone = tuple([f.loop_var for n in plan.nests for f in n.chain])
    new = kept[0] if len(kept) == 1 else SeqStmt(tuple(kept), plan.sequence.node.span)
    state.replace(plan.sequence, new, gone)
    return LoopRV(news[-1], plan.sequence.home.name)


KIND = InstructionKind("Merge", "merge", ("loops",), check, rewrite, variadic=True)
