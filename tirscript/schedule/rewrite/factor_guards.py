"""The conditions of what rfactor writes: which partial results are made, and which are combined."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import conjuncts
from tirscript.analysis.region import nonnegative
from tirscript.arith.analyzer import Analyzer
from tirscript.arith.linear import Linear, key_of
from tirscript.ir.expr import GE, LT, TRUE, Add, Expr, IntImm, Range, Sub, Var, const_int
from tirscript.ir.stmt import For
from tirscript.ir.visitor import free_vars

from ..legality.cells import read_form
from ..legality.prove import bind_around
from ..legality.surroundings import Interval, outside_ranges
from .factoring import Factoring, is_zero
from .substitute import put


def find_guards(plan: Factoring) -> Expr | None:
    """Fill in the conditions of the nests.  A condition is returned that decides, together with spatial
    loops, which instances there are, in a way that does not say it without the loops that go."""
    realize = plan.realize
    given = conjuncts(realize.predicate) if realize.predicate is not TRUE else []
    domains = _domains(plan, given)
    if not given and not domains:
        return None
    every = [*given, *domains]
    gone = {f.loop_var: f for f in plan.dropped}
    own = plan.place.node.loop_var
    spatial = {f.loop_var for f in plan.chain} - gone.keys() - {own}
    shared: list[Expr] = []
    mixed: list[Expr] = []
    for g in every:
        used = free_vars(g)
        if used.isdisjoint(gone):
            shared.append(g)
        elif own in used or not used.isdisjoint(spatial):
            mixed.append(g)
    found = _projected(plan, mixed, gone, spatial) if mixed else []
    plan.guards = (every, shared, found)
    if found is None:
        return next((g for g in mixed if not free_vars(g).isdisjoint(spatial)), None)
    return None


def _projected(
    plan: Factoring, mixed: list[Expr], gone: dict[Var, For], spatial: set[Var]
) -> list[Expr] | None:
    """What holds where some values of the loops that are gone satisfy all conditions; None if the
    conditions do not agree on which values are best."""
    best: dict[Var, bool] = {}
    forms: list[tuple[Expr, list[Linear]]] = []
    for g in mixed:
        found = nonnegative(g)
        if len(found) != 1:
            return None
        (form,) = found
        for atom, k in form.terms.items():
            if type(atom) is Var:
                if atom in gone and best.setdefault(atom, k > 0) != (k > 0):
                    return None
            elif any(v in gone for v in free_vars(atom.expr)):  # type: ignore[union-attr]
                return None
        forms.append((g, found))
    values: dict[Var, Expr] = {}
    cx = _context(plan)
    out: list[Expr] = []
    for v, high in best.items():
        f = gone[v]
        if (free_vars(f.min) | free_vars(f.extent)) & gone.keys():
            return None
        if f.step is not None and high:
            return None
        values[v] = Sub(Add(f.min, f.extent), const_int(1, v.dtype)) if high else f.min
    for g, _ in forms:
        new = cx.simplify(put(g, values))
        if type(new) is IntImm and new.value:
            continue
        # What guarded updates alone must not become a condition on the init too.
        if plan.place.node.loop_var not in free_vars(new) and free_vars(g).isdisjoint(spatial):
            return None
        out.append(new)
    for c in out:
        cx.assume(c)
    for v in best:
        extent: Any = gone[v].extent
        if extent.value <= 0 if type(extent) is IntImm else not cx.can_prove(extent > 0):
            return None
    return out


def _context(plan: Factoring) -> Analyzer:
    cx = Analyzer()
    bind_around(cx, plan.top)
    for f in plan.chain:
        cx.bind(f.loop_var, Range(f.min, f.extent))
    return cx


def _domains(plan: Factoring, guards: list[Expr]) -> list[Expr]:
    """Conditions that the domains of the axes which are replaced stood for."""
    realize = plan.realize
    own = plan.place.node.loop_var
    out: list[Expr] = []
    cx: Analyzer | None = None
    for iv, value, used in zip(realize.block.iter_vars, realize.iter_values, plan.uses, strict=True):
        if iv.kind != "reduce" or iv.dom is None or own not in used:
            continue
        low, extent = iv.dom.min, iv.dom.extent
        if type(value) is Var:
            f = plan.place.node
            if _alike(f.min, low) and _alike(f.extent, extent):
                continue
        reach = _reach(value, plan)
        first, count = getattr(low, "value", None), getattr(extent, "value", None)
        if reach is not None and first is not None and count is not None:
            if first <= reach[0] and reach[1] < first + count:
                continue
        end = extent if is_zero(low) else Add(low, extent)
        below = GE(value, low)
        above = LT(value, end)
        if not (reach is not None and first is not None and reach[0] >= first):
            if cx is None:
                cx = _assuming(plan, guards)
            if not cx.can_prove(below):
                out.append(below)
        inside = reach is not None and first is not None and count is not None and reach[1] < first + count
        if not inside and not any(type(g) is LT and _alike(g.a, value) and _alike(g.b, end) for g in guards):
            if cx is None:
                cx = _assuming(plan, guards)
            if not cx.can_prove(above):
                out.append(above)
    return out


def _assuming(plan: Factoring, guards: list[Expr]) -> Analyzer:
    cx = _context(plan)
    for g in guards:
        cx.assume(g)
    return cx


def _reach(e: Expr, plan: Factoring) -> Interval | None:
    """The least and the largest value of an expression, where the loops and axes say so in constants."""
    terms: dict[Var, int] = {}
    low = read_form(e, 1, terms)
    if low is None:
        return None
    high = low
    around: dict[Var, Interval] | None = None
    for v, k in terms.items():
        for f in plan.chain:
            if f.loop_var is v and type(f.min) is IntImm and type(f.extent) is IntImm:
                first, size = f.min.value, f.extent.value
                last = first + size - 1 if size > 1 else first
                break
        else:
            if around is None:
                around = outside_ranges(plan.top)
            if v not in around:
                return None
            first, last = around[v]
        if k >= 0:
            low += first * k
            high += last * k
        else:
            low += last * k
            high += first * k
    return low, high


def _alike(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is IntImm and type(b) is IntImm:
        return bool(a.value == b.value)
    return bool(key_of(a) == key_of(b))


__all__ = ["find_guards"]
