"""Put perfectly nested loops into another order.

The loops that are named change places among themselves; those between them stay.  Updates by a commutative,
associative reducer may be taken in any order, so sums of floats may round otherwise.

Requirements:
  * each of ``ordered_loops`` is a reference to a loop that is there (``wrong-handle``,
    ``expired-reference``), none twice (``duplicate-loop``); at least one (``no-loops``)
  * they stand in one nest (``not-one-nest``) without other statements between
    (``not-perfectly-nested``)
  * no loop comes to stand outside a loop that its bounds use (``dependent-bound``)
  * the innermost body holds no break and no return (``leaves-loop``)
  * a parallel, vectorized or bound loop that comes further out stays independent (``kind-lost``)
  * every dependence keeps its direction (``reversed-dependence``; ``dependence-unknown`` where that cannot
    be told)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.reorder(k, i)
>>> loop_lines(sch)
for k in range(16):
for j in range(16):
for i in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``reorder``.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import IntImm, Var
from tirscript.ir.stmt import For
from tirscript.ir.visitor import free_vars

from ..errors import BadValue, Refusal, describe
from ..legality.control import check_stays, escapes
from ..legality.order import check_iterations_independent, check_reorder
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import loop_place
from ..state import ScheduleState
from .bind import check_threads
from .fuse import NoLoops, NotPerfectlyNested


class DuplicateLoop(BadValue):
    code = "duplicate-loop"
    template = "loop `{loop}` is given twice"


class NotOneNest(Refusal):
    code = "not-one-nest"
    template = "loops `{first}` and `{second}` are not in one nest: neither contains the other"
    hint_template = "only loops around one another can change places"


class DependentBound(Refusal):
    code = "dependent-bound"
    template = "loop `{inner}` cannot come outside `{outer}`: its bounds use `{outer}`"


class KindLost(Refusal):
    code = "kind-lost"
    template = (
        "loop `{loop}` is {word} and cannot come outside {inside}: its iterations would no longer be "
        "independent"
    )
    hint_template = "reorder the loops before one of them gets its kind"


_WORDS = {"parallel": "parallel", "vectorized": "vectorized", "thread_binding": "bound"}


class Plan:
    """The nest from its outermost moved loop, as it is and as it will be."""

    __slots__ = ("chain", "order", "place")

    def __init__(self, place: StmtSRef, chain: list[For], order: list[For]) -> None:
        self.place = place
        self.chain = chain
        self.order = order


def check(state: ScheduleState, ordered_loops: tuple[Any, ...]) -> Plan:
    """The nest and its new order, if the loops may change places."""
    if not ordered_loops:
        raise NoLoops(primitive="reorder")
    places = [loop_place(state, loop, "ordered_loops", "reorder") for loop in ordered_loops]
    wanted: dict[Var, StmtSRef] = {}
    for p in places:
        v = p.node.loop_var
        if v in wanted:
            raise DuplicateLoop(p.home, at=[(p.node, None)], loop=p.node)
        wanted[v] = p
    top = _outermost(places)
    chain: list[For] = []
    s: Any = top.node
    left = len(places)
    kinds = False
    while True:
        if type(s) is not For:
            _broken(top, chain, places, s)
        chain.append(s)
        kinds = kinds or s.kind in _WORDS
        if s.loop_var in wanted:
            left -= 1
            if not left:
                break
        s = s.body
    given = iter(places)
    order: list[For] = [next(given).node if f.loop_var in wanted else f for f in chain]
    _check_bounds(top, chain, order)
    if state.enable_check:
        if escapes(chain[-1].body):
            check_stays(StmtSRef(chain[-1], None, 0, top.home), "reordered", "break", "return")
        check_reorder(top, chain, order)
        if kinds:
            _check_kinds(top, chain, order)
    return Plan(top, chain, order)


def _outermost(places: list[StmtSRef]) -> StmtSRef:
    """The place that none of the others is around."""
    ids = {id(p) for p in places}
    for p in places:
        up = p.parent
        while up is not None and id(up) not in ids:
            up = up.parent
        if up is None:
            return p
    return places[0]


def _broken(top: StmtSRef, chain: list[For], places: list[StmtSRef], s: Any) -> None:
    """Say why a wanted loop was not met on the way inwards."""
    passed = {f.loop_var for f in chain}
    for p in places:
        if p.node.loop_var in passed:
            continue
        up = p.parent
        while up is not None and up is not top:
            up = up.parent
        if up is None:
            raise NotOneNest(
                top.home, at=[(top.node, "one"), (p.node, "the other")], first=top.node, second=p.node
            )
        last = chain[-1]
        raise NotPerfectlyNested(
            top.home, at=[(last, None), (p.node, "inner")], outer=last, inner=p.node, between=describe(s)
        )


def _check_bounds(top: StmtSRef, chain: list[For], order: list[For]) -> None:
    for n, f in enumerate(order):
        if type(f.extent) is IntImm and type(f.min) is IntImm and f.step is None:
            continue
        used = free_vars(f.extent) | free_vars(f.min)
        for later in order[n + 1 :]:
            if later.loop_var in used:
                raise DependentBound(top.home, at=[(f, None)], inner=f, outer=later)


def _check_kinds(top: StmtSRef, chain: list[For], order: list[For]) -> None:
    """A parallel or vectorized loop that comes to stand further out holds more: is it still independent?"""
    body = chain[-1].body
    nest: list[For] = []
    for s in reversed(order):
        body = For(s.loop_var, s.min, s.extent, s.kind, body, s.thread, s.annotations, s.step, s.span)
        nest.append(body)
    around = top.parent
    for n, new in enumerate(reversed(nest)):
        around = StmtSRef(new, around, top.seq_index if n == 0 else 0, top.home)
        word = _WORDS.get(new.kind)
        if word is None:
            continue
        old = chain.index(order[n])
        inside = [f for f in order[n + 1 :] if chain.index(f) < old]
        if not inside:
            continue
        try:
            if new.thread:
                check_threads(around, new.thread)
            else:
                check_iterations_independent(around, word)
        except Refusal as error:
            raise KindLost(
                top.home,
                at=[(order[n], None)],
                notes=error.raw_notes,
                loop=order[n],
                word=f"bound to {new.thread}" if new.thread else word,
                inside=", ".join([f"`{f.loop_var.name}`" for f in inside]),
            ) from None


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Nest the loops in the new order."""
    chain = plan.chain
    for n, s in enumerate(plan.order):
        if s is not chain[n]:
            break
    else:
        return
    body = chain[-1].body
    for s in reversed(plan.order):
        body = For(s.loop_var, s.min, s.extent, s.kind, body, s.thread, s.annotations, s.step, s.span)
    state.replace(plan.place, body, ())


KIND = InstructionKind("Reorder", "reorder", ("ordered_loops",), check, rewrite, variadic=True)
