"""Does each reduction still begin where it did?

An init stands in front of the outermost loop bound to a reduction axis of its block.  The loops outside of
that begin the reduction again in each of their iterations, so a step that changes which loops these are, or
their order, may mix the updates of several runs.  It does not where iterations that touch one cell agree in
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from tirscript.analysis.access import Access, accesses_of, conjuncts
from tirscript.analysis.dependence import Unknown, Witness, inits_in_order
from tirscript.ir.expr import Expr, IntImm, Not, Var
from tirscript.ir.stmt import BlockRealize, BufferStore, For, IfThenElse, LetStmt, SeqStmt
from tirscript.ir.visitor import free_vars

from ..refs import StmtSRef
from .apart import axes_apart, loops_apart
from .surroundings import aliased_params, guards_updates, surroundings, variables_around

Roots = Mapping[Var, frozenset[Var]]
Condition = tuple[Expr, frozenset[Var]]  # with the loops that it is made of
_NONE: frozenset[Var] = frozenset()


class Begun(NamedTuple):
    """A reduction that would begin elsewhere, and a loop that begins it in each iteration, before or then."""

    realize: BlockRealize
    loop: Var
    answer: Witness | Unknown

    @property
    def note(self) -> str:
        name = self.realize.block.name
        return f'each iteration of `{self.loop.name}` begins the reduction of block "{name}" again'


class _Reduction(NamedTuple):
    realize: BlockRealize
    over: frozenset[Var]  # what its reduction axes are bound to
    kept: frozenset[Var]  # what its other axes are bound to
    conditions: list[Condition]  # what it runs under
    inner: list[For]  # the loops between the nest and the block


def begins_elsewhere(
    place: StmtSRef,
    chain: Sequence[For],
    groups: Sequence[Sequence[Var]],
    told: Set[Var] | None = None,
) -> Begun | None:
    """A reduction below the perfect nest ``chain`` (the first at ``place``) that begins elsewhere where each
    of ``groups`` is one loop in the place of these; ``told`` are loops that tell cells apart, if known."""
    if _surely_kept(place, chain, groups, told):
        return None
    for found in _reductions(chain[-1].body, {}, [], []):
        loops = [*chain, *found.inner]
        old = [(f.loop_var,) for f in loops]
        whole = [*groups, *old[len(chain) :]]
        before, after = _outside(old, found.over), _outside(whole, found.over)
        if before == after or _goes_on(place, found.over.difference([v for (v,) in old])):
            continue
        within = len(before) < len(chain), len(after) < sum(map(len, groups))
        other = None if within[0] == within[1] else used_by_others(chain[0], found.realize)
        if other is not None:  # the init would pass what stands below the nest
            return Begun(found.realize, chain[0].loop_var, Unknown(other))
        begun = _moved(place, found, loops, before, after)
        if begun is not None:
            return begun
    return None


def _surely_kept(
    place: StmtSRef, chain: Sequence[For], groups: Sequence[Sequence[Var]], told: Set[Var] | None
) -> bool:
    """The quick answer for one block: what begins its reduction again are loops that tell its cells apart,
    those in ``told`` where that is known."""
    loops = list(chain)
    s: Any = chain[-1].body
    while type(s) is For:
        loops.append(s)
        s = s.body
    if type(s) is not BlockRealize or type(s.block.body) is not BufferStore:
        return False
    if s.block.init is None:
        return True
    if aliased_params(place.home):
        return False
    over: set[Var] = set()
    for iv, e in zip(s.block.iter_vars, s.iter_values, strict=True):
        if iv.kind == "reduce":
            over.update((e,) if type(e) is Var else free_vars(e))
    old = [(f.loop_var,) for f in loops]
    before, after = _outside(old, over), _outside([*groups, *old[len(chain) :]], over)
    return before == after or {*before, *after} <= (loops_apart(s, loops) if told is None else told)


def begins_further_in(block: StmtSRef, top: StmtSRef, over: Set[Var]) -> Begun | None:
    """The reduction of ``block``, if it begins elsewhere where it begins before the first of the loops around
    ``top`` in ``over``, or at ``top`` itself.  It may be that a loop of one iteration no longer counts."""
    realize: BlockRealize = block.node
    inner: list[For] = []
    p = block.parent
    while p is not None and p is not top.parent:
        if type(p.node) is For:
            inner.append(p.node)
        p = p.parent
    outer: list[StmtSRef] = []
    conditions: list[Expr] = []
    while p is not None and not (type(p.node) is BlockRealize and p.node.iter_values):
        if type(p.node) is For:
            outer.append(p)
        elif type(p.node) is IfThenElse:
            conditions.append(p.node.condition)
        p = p.parent
    if not outer:
        return None
    outer.reverse()
    found = _Reduction(realize, *_driving(realize, {}), [], [])
    around: list[For] = [o.node for o in outer]
    loops = [*around, *reversed(inner)]
    before = _outside([(f.loop_var,) for f in loops], found.over)
    after = _outside([(f.loop_var,) for f in around], over)
    if before[: len(after)] == after:  # each is told apart below, where that matters
        return None
    variables = variables_around(block)
    if any(guards_updates(c, variables, found.over, found.kept) for c in conditions):
        # The init does not stand under the condition, and would.
        return Begun(realize, around[0].loop_var, Unknown(accesses_of(around[0])[0]))
    other = used_by_others(around[0], realize)
    if other is not None:  # what stands before the block would come before its init
        return Begun(realize, after[-1], Unknown(other))
    return _moved(outer[0], found, loops, before, after)


def _moved(
    place: StmtSRef, found: _Reduction, loops: Sequence[For], before: list[Var], after: list[Var]
) -> Begun | None:
    """``found``, unless it is one whether each iteration of ``before`` begins it, or each of ``after``;
    ``loops`` are all that are around the block from ``place`` on."""
    units = {f.loop_var for f in loops if _once(f)}
    before = [v for v in before if v not in units]
    after = [v for v in after if v not in units]
    first = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a is not b), None)
    same = min(len(before), len(after)) if first is None else first
    moved = [*before[same:], *after[same:]]
    if not moved:
        return None
    free = [f for f in loops if f.loop_var not in before[:same]]
    realize = found.realize
    if not aliased_params(place.home) and (
        _is_all(place.node, realize) or used_by_others(place.node, realize) is None
    ):
        if loops_apart(realize, free).issuperset(moved):
            return None
        only_cells = not found.conditions and _says_only_cells(realize, [f.loop_var for f in loops])
        if only_cells and set(before) == set(after):
            return None  # runs that touch one cell do the same
    answer = inits_in_order(place.node, realize, before, after, **surroundings(place))
    return None if answer is None else Begun(realize, _loop_of(answer, moved), answer)


def _is_all(s: Any, realize: BlockRealize) -> bool:
    """Whether there is nothing but loops around the block."""
    while type(s) is For:
        s = s.body
    return s is realize


def used_by_others(top: For, realize: BlockRealize) -> Access | None:
    """An access of another statement below the loop to what the init of the block stores."""
    found = accesses_of(top)
    memory = {a.buffer.data for a in found if a.owner is realize and a.is_write}
    return next((a for a in found if a.buffer.data in memory and realize not in a.realizes), None)


def _outside(groups: Sequence[Sequence[Var]], over: Set[Var]) -> list[Var]:
    """The loops outside of the first one that a reduction axis is bound to."""
    out: list[Var] = []
    for group in groups:
        if not over.isdisjoint(group):
            break
        out += group
    return out


def _once(f: For) -> bool:
    return type(f.extent) is IntImm and f.extent.value <= 1


def _says_only_cells(realize: BlockRealize, loops: Sequence[Var]) -> bool:
    """Whether instances that share a cell differ in reduction axes alone."""
    apart = axes_apart(realize.block)
    return all(iv.kind == "reduce" or iv.var in apart for iv in realize.block.iter_vars) and free_vars(
        realize.block
    ).isdisjoint(loops)


def _goes_on(place: StmtSRef, over: Set[Var]) -> bool:
    """Whether a loop or an axis around the place is among the variables: the reduction begins out there."""
    p = place.parent if over else None
    while p is not None:
        s = p.node
        if type(s) is For and s.loop_var in over:
            return True
        if type(s) is BlockRealize and any(iv.var in over for iv in s.block.iter_vars):
            return True
        if type(s) is LetStmt and s.var in over:
            over = over | free_vars(s.value)
        p = p.parent
    return False


def _loop_of(answer: Witness | Unknown, moved: Sequence[Var]) -> Var:
    """The first of the loops in which the two instances differ."""
    if isinstance(answer, Witness):
        for v in moved:
            if answer.first.get(v) != answer.second.get(v):
                return v
    return moved[0]


def guard_changes(
    place: StmtSRef, chain: Sequence[For], fused: Set[Var], dropped: Set[Var]
) -> tuple[BlockRealize, Expr] | None:
    """A block with an init below the perfect nest ``chain``, the first at ``place``, and a condition that
    would come to guard the init, or no longer would, if the loops ``fused`` were one and ``dropped`` gone."""

    def one(loops: frozenset[Var]) -> frozenset[Var]:
        rest = loops - fused - dropped
        return rest | fused if not loops.isdisjoint(fused) else rest

    outside = variables_around(place)
    for found in _reductions(chain[-1].body, {}, [], []):
        loops = outside.union([f.loop_var for f in (*chain, *found.inner)])
        pure, then = found.over - found.kept, one(found.over) - one(found.kept)
        for c, roots in found.conditions:
            used = roots & loops
            if _of_updates(used, pure) != _of_updates(one(used), then):
                return found.realize, c
    return None


def _of_updates(used: frozenset[Var], pure: frozenset[Var]) -> bool:
    """Whether a condition over these loops guards the updates alone."""
    return bool(used) and used <= pure


def _reductions(s: Any, bound: Roots, inner: list[For], conditions: list[Condition]) -> Iterator[_Reduction]:
    """The blocks with an init below a statement; ``bound`` says which loops the axes of blocks around are
    bound to."""
    while s is not None:
        t = type(s)
        if t is For:
            inner = [*inner, s]
        elif t is BlockRealize:
            driving = _driving(s, bound)
            axes = {iv.var: _roots(e, bound) for iv, e in zip(s.block.iter_vars, s.iter_values, strict=True)}
            bound = {**bound, **axes}
            conditions = [*conditions, *_with_roots(conjuncts(s.predicate), bound)]
            if s.block.init is not None:
                yield _Reduction(s, *driving, conditions, inner)
            s = s.block
        elif t is LetStmt:
            bound = {**bound, s.var: _roots(s.value, bound)}
        elif t is SeqStmt:
            for c in s.seq:
                yield from _reductions(c, bound, inner, conditions)
            return
        elif t is IfThenElse:
            below = [*conditions, *_with_roots(conjuncts(s.condition), bound)]
            yield from _reductions(s.then_case, bound, inner, below)
            conditions = [*conditions, *_with_roots([Not(s.condition)], bound)]
            s = s.else_case
            continue
        s = getattr(s, "body", None)


def _driving(s: BlockRealize, bound: Roots) -> tuple[frozenset[Var], frozenset[Var]]:
    """The loops that reduction axes are bound to, and those that the others are bound to."""
    reduce: list[frozenset[Var]] = []
    others: list[frozenset[Var]] = []
    for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
        (reduce if iv.kind == "reduce" else others).append(_roots(value, bound))
    return _NONE.union(*reduce), _NONE.union(*others)


def _with_roots(conditions: list[Expr], bound: Roots) -> list[Condition]:
    return [(c, _roots(c, bound)) for c in conditions]


def _roots(value: Expr, bound: Roots) -> frozenset[Var]:
    if type(value) is Var:
        return bound.get(value) or frozenset((value,))
    return _NONE.union(*[bound.get(v) or (v,) for v in free_vars(value)])


__all__ = ["Begun", "begins_elsewhere", "begins_further_in", "guard_changes", "used_by_others"]
