"""How the loops around a block bind its axes: which instances they visit, and under which conditions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from tirscript.analysis.access import conjuncts
from tirscript.analysis.region import Axis, axis_ends, nonnegative
from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.arith.iter_map import detect_iter_map
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir.expr import EQ, GE, GT, LE, LT, TRUE, Expr, IntImm, IterVar, Range, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import BlockRealize, For
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal
from ..refs import StmtSRef
from .cover import NotCovered, Overrun
from .footprint import touched
from .regions import Prover
from .surroundings import guards_updates, variables_around

_LIMIT = 4096  # iterations that are tried one by one


class CoverUnknown(Refusal):
    code = "cover-unknown"
    template = (
        "block {block} cannot be moved: it is not understood which instances the loops around it visit "
        "(axis `{axis}` is {value})"
    )


class GuardedBlock(Refusal):
    code = "guarded-block"
    template = "block {block} cannot be moved: its condition {condition} cannot be told from its axes"


class LoopWithoutAxis(Refusal):
    code = "loop-without-axis"
    template = "block {block} cannot be moved: it uses the loop `{loop}` without an axis"
    hint_template = "bind the loop to an axis of the block"


# Conditions over the axes, ends of their domains, and conditions over parts of the loops of an axis.
Conditions = tuple[list[Expr], list[tuple[Var, Linear]], list[Expr]]


class Binding:
    """``fixed`` are the axes bound to what stands outside of the block's own loops, with their values;
    ``own`` the others.  ``guards`` are conditions over the axes, beside their domains, under which instances
    run.  ``once`` says that no instance is visited twice, ``rebound`` that instances of other iterations of
    loops further out may run in the new place.  ``domains`` are those of axes of which not all values run."""

    __slots__ = ("domains", "fixed", "guards", "once", "own", "rebound")

    def __init__(
        self, fixed: dict[Var, Expr], own: list[tuple[IterVar, Expr]], guards: list[Expr], once: bool
    ) -> None:
        self.fixed = fixed
        self.own = own
        self.guards = guards
        self.once = once
        self.rebound = False
        self.domains: dict[Var, tuple[Linear, Linear]] = {}


def binding_of(place: StmtSRef, loops: Sequence[For], prover: Prover, *, checked: bool, word: str) -> Binding:
    """The binding by ``loops``, all loops that the block leaves, outermost first; refused where the loops do
    not run over the whole domain of the axes."""
    plain = plain_binding(place, loops)
    if plain is not None:
        return plain
    realize: BlockRealize = place.node
    block = realize.block
    variables = {f.loop_var for f in loops}
    if variables:
        for v in free_vars(block):
            if v in variables:
                raise LoopWithoutAxis(place.home, at=[(realize, None)], block=realize, loop=v)
    fixed: dict[Var, Expr] = {}
    own: list[tuple[IterVar, Expr]] = []
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if (value in variables) if type(value) is Var else mentions(value, variables):
            own.append((iv, value))
        elif type(value) is IntImm and iv.dom is not None and _is_only(iv, value):
            own.append((iv, value))  # an axis of one iteration: bound anew
        else:
            fixed[iv.var] = value
    parts = [] if realize.predicate is TRUE else conjuncts(realize.predicate)
    guards, ends, inner = _guards(place, own, parts, variables)
    once = True
    if checked:
        visits = _check(place, own, loops, parts, (guards, ends, inner), prover, word)
        binding = Binding(fixed, own, guards, visits.once)
        binding.domains, binding.rebound = visits.parts, visits.rebound
        return binding
    return Binding(fixed, own, guards, once)


def plain_binding(place: StmtSRef, loops: Sequence[For]) -> Binding | None:
    """The usual case: each axis is a loop over its whole domain, or stands still, nothing else runs, and
    there is no condition; None for all else."""
    realize: BlockRealize = place.node
    block = realize.block
    if realize.predicate is not TRUE and conjuncts(realize.predicate):
        return None
    variables = {f.loop_var for f in loops}
    table = {f.loop_var: f for f in loops}
    if variables and not variables.isdisjoint(free_vars(block)):
        return None
    fixed: dict[Var, Expr] = {}
    own: list[tuple[IterVar, Expr]] = []
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        dom = iv.dom
        if type(value) is Var:
            f = table.pop(value, None)
            if f is None:
                if value in variables:
                    return None
                fixed[iv.var] = value
                continue
            if dom is None or f.step is not None:
                return None
            if f.min is not dom.min and not _equal(f.min, dom.min):
                return None
            if f.extent is not dom.extent and not _equal(f.extent, dom.extent):
                return None
            own.append((iv, value))
        elif type(value) is not IntImm:
            if mentions(value, variables):
                return None
            fixed[iv.var] = value
        elif dom is not None and _is_only(iv, value):
            own.append((iv, value))
        else:
            fixed[iv.var] = value
    if any(type(f.extent) is not IntImm or f.extent.value != 1 for f in table.values()):
        return None
    return Binding(fixed, own, [], True)


def mentions(e: Any, variables: set[Var]) -> bool:
    if type(e) is IntImm:
        return False
    return any(type(n) is Var and n in variables for n in walk(e))


def _is_only(iv: IterVar, value: IntImm) -> bool:
    dom = iv.dom
    assert dom is not None
    return (
        type(dom.extent) is IntImm
        and dom.extent.value == 1
        and type(dom.min) is IntImm
        and dom.min.value == value.value
    )


def _equal(a: Any, b: Any) -> bool:
    return type(a) is IntImm and type(b) is IntImm and bool(a.value == b.value)


# ---- conditions


def _guards(
    place: StmtSRef, own: list[tuple[IterVar, Expr]], parts: list[Expr], variables: set[Var]
) -> Conditions:
    """The conditions over the axes; bounds ``axis <= form`` that only say what a domain says; and conditions
    over some of the loops that make up an axis, which keep iterations from repeating instances."""
    inner: list[Expr] = []
    guards: list[Expr] = []
    ends: list[tuple[Var, Linear]] = []
    direct: dict[Var, Expr] = {}
    values: list[tuple[IterVar, Linear]] = []
    if parts:
        for iv, value in own:
            if type(value) is Var:
                direct.setdefault(value, iv.var)
            lin = to_linear(value)
            if lin is not None:
                values.append((iv, lin))
    for c in parts:
        if not mentions(c, variables):
            guards.append(c)
            continue
        over = _over_axes(c, values, variables)
        if over is not None:
            form, text = over
            if len(form.terms) == 1:
                ((v, k),) = form.terms.items()
                iv_ = next((iv for iv, _ in own if iv.var is v), None)
                if iv_ is not None and iv_.dom is not None and k == -1:
                    # const - v >= 0
                    _, last = axis_ends(Axis(iv_.var, iv_.dom.min, iv_.dom.extent))
                    if last is not None and last.is_const and form.const >= last.const:
                        ends.append((iv_.var, Linear({}, form.const)))
                        continue
            elif _is_end(form, own, ends):
                continue
            guards.append(text)
            continue
        over_direct = substitute(c, direct)
        if mentions(over_direct, variables):
            if type(c) is not LT and type(c) is not LE:
                raise GuardedBlock(place.home, at=[(place.node, None)], block=place.node, condition=c)
            inner.append(c)
            continue
        guards.append(over_direct)
    return guards, ends, inner


def _is_end(form: Linear, own: list[tuple[IterVar, Expr]], ends: list[tuple[Var, Linear]]) -> bool:
    """Whether ``form >= 0`` is the symbolic end of a domain: ``last - v >= 0``."""
    for iv, _ in own:
        if iv.dom is not None and form.terms.get(iv.var, 0) == -1:
            _, last = axis_ends(Axis(iv.var, iv.dom.min, iv.dom.extent))
            rest = form.plus(Linear({iv.var: 1}))
            if last is not None and (rest - last).key() == 0:
                ends.append((iv.var, rest))
                return True
    return False


def _over_axes(
    c: Expr, values: list[tuple[IterVar, Linear]], variables: set[Var]
) -> tuple[Linear, Expr] | None:
    """A comparison as ``form >= 0`` over axes, and written so."""
    if type(c) not in (LT, LE, GT, GE, EQ):
        return None
    forms = nonnegative(c)
    if len(forms) != 1:
        return None
    form = forms[0]
    for _ in range(8):
        loop = next((a for a in form.terms if isinstance(a, Var) and a in variables), None)
        if loop is None:
            break
        for iv, lin in values:
            k = lin.terms.get(loop, 0)
            if k and form.terms[loop] % k == 0:
                times = form.terms[loop] // k
                new = form.plus(lin, -times).plus(Linear({iv.var: 1}), times)
                if _count(new, variables) < _count(form, variables):
                    form = new
                    break
        else:
            return None
    if form.mentions(variables):
        return None
    return form, at_least(form, c.a.dtype)  # type: ignore[attr-defined]


def _count(form: Linear, variables: set[Var]) -> int:
    return sum(1 for a in form.terms if isinstance(a, Var) and a in variables)


def at_least(form: Linear, dtype: str) -> Expr:
    """``form >= 0`` as a condition: what is subtracted stands on the other side."""
    less = Linear({a: -k for a, k in form.terms.items() if k < 0}, 0)
    more = Linear({a: k for a, k in form.terms.items() if k > 0}, 0)
    if not more.terms:  # const >= less
        return LT(less.written(dtype), Linear({}, form.const + 1).written(dtype))
    if not less.terms:
        return LE(Linear({}, -form.const).written(dtype), more.written(dtype))
    return LT(less.written(dtype), more.shift(form.const + 1).written(dtype))


# ---- cover


def _check(
    place: StmtSRef,
    own: list[tuple[IterVar, Expr]],
    loops: Sequence[For],
    parts: list[Expr],
    conditions: Conditions,
    prover: Prover,
    word: str,
) -> Visits:
    """Refuse unless the loops visit every instance that the guards allow, and none outside of the domains;
    whether each is visited once is returned."""
    realize: BlockRealize = place.node
    guards, ends, inner = conditions
    if not own:
        return Visits(all(type(f.extent) is IntImm and f.extent.value == 1 for f in loops), {}, False)
    written = touched(realize)[1]
    scratch = not any(b.data in written for b in place.home.func.buffer_map.values())
    parts_of: dict[Var, tuple[Linear, Linear]] = {}
    rebound = False
    digits = _Digits(loops, prover)
    spans: list[tuple[Linear, Linear] | None] = []
    once = True
    if digits.ready:
        forms = [to_linear(value) for _, value in own]
        if all(f is not None for f in forms):
            merged = digits.merge([f for f in forms if f is not None], inner)
            if merged is not None and not digits.shared(merged):
                spans = [digits.span(f) for f in merged]
                once = digits.all_used(merged)
    if not spans or any(s is None for s in spans):
        found = None if inner else _by_map(own, loops)
        if found is None:
            answer = _one_by_one(own, loops, parts, guards)
            if (
                answer is not None
                and answer[0] is None
                and answer[1] is None
                and realize.block.init is not None
            ):
                missed = _uninitialised(place, own, loops, parts, guards)
                if missed is not None:
                    raise _uncovered(place, loops, word, missed, None)
            if answer is None:
                if inner:
                    raise GuardedBlock(place.home, at=[(realize, None)], block=realize, condition=inner[0])
                raise _unknown(place, own)
            missing, extra, once = answer
            if missing is None and extra is None:
                return Visits(bool(once), {}, False)
            raise _uncovered(place, loops, word, missing, extra)
        spans, once = found, True
    for (iv, _), span in zip(own, spans, strict=True):
        assert iv.dom is not None and span is not None
        first, last = axis_ends(Axis(iv.var, iv.dom.min, iv.dom.extent))
        if first is None or last is None:
            raise _unknown(place, own)
        low, high = span
        limit = next((e for v, e in ends if v is iv.var), None)
        top = high if limit is None else limit
        covered = prover.proves(first - low) and prover.proves(high - last)
        if not covered and scratch:
            # What is left out of a scratch is not needed: no more than these instances will run.
            reach = _reach(low, high, prover)
            if reach is not None:
                moving = low.terms or high.terms
                parts_of[iv.var] = (
                    first if not moving and prover.proves(first - reach[0]) else reach[0],
                    last if prover.proves(reach[1] - last) else reach[1],
                )
                rebound = rebound or bool(moving)
                low, high, covered = *reach, True
                if not prover.proves(low - first):
                    parts_of[iv.var] = (first, parts_of[iv.var][1])
                    low = first
                if limit is None and not prover.proves(last - high):
                    raise _unknown(place, own)
                continue
        if not covered or (limit is not None and not prover.proves(limit - last)):
            if low.is_const and high.is_const and first.is_const and last.is_const:
                if low.const > last.const or high.const < first.const:
                    raise _unknown(place, own)
                raise NotCovered(
                    place.home, at=[(realize, None), (iv, "bound here")], loop=loops[0], word=word,
                    block=realize, axis=iv, domain=f"{first.const} to {last.const}",
                    missing=_gaps(first.const, last.const, low.const, high.const),
                )  # fmt: skip
            raise _unknown(place, own)
        if not (prover.proves(low - first) and (prover.proves(last - top) or prover.proves(last - high))):
            if low.is_const and high.is_const and first.is_const and last.is_const:
                extreme = low.const if low.const < first.const else high.const
                raise Overrun(
                    place.home, at=[(realize, None), (iv, "bound here")], loop=loops[0], word=word,
                    block=realize, axis=iv, domain=f"{first.const} to {last.const}", extreme=str(extreme),
                )  # fmt: skip
            raise _unknown(place, own)
    return Visits(once, parts_of, rebound)


def _reach(low: Linear, high: Linear, prover: Prover) -> tuple[Linear, Linear] | None:
    """The first and the last value while the loops around run too, where those are constants."""
    ends = []
    for form, up in ((low, False), (high, True)):
        total = form.const
        for a, k in form.terms.items():
            span = prover.ranges.get(a)
            if span is None:
                return None
            total += k * span[1 if (k > 0) is up else 0]
        ends.append(Linear({}, total))
    return ends[0], ends[1]


class Visits(NamedTuple):
    """``once``: no instance comes twice.  ``parts``: the ranges of axes that the loops do not run over
    wholly; ``rebound``: which part it is depends on loops further out."""

    once: bool
    parts: dict[Var, tuple[Linear, Linear]]
    rebound: bool


def _gaps(first: int, last: int, low: int, high: int) -> str:
    parts = []
    if low > first:
        parts.append(f"{first} to {low - 1}" if low - 1 > first else str(first))
    if high < last:
        parts.append(f"{high + 1} to {last}" if high + 1 < last else str(last))
    return " and ".join(parts)


def _unknown(place: StmtSRef, own: list[tuple[IterVar, Expr]]) -> CoverUnknown:
    iv, value = next(((iv, e) for iv, e in own if type(e) is not Var), own[0])
    return CoverUnknown(
        place.home, at=[(place.node, None), (iv, "bound here")], block=place.node, axis=iv, value=value
    )


def _uncovered(place: StmtSRef, loops: Sequence[For], word: str, missing: Any, extra: Any) -> Refusal:
    realize: BlockRealize = place.node
    point = missing if missing is not None else extra
    axes, values = point
    names = ", ".join([iv.var.name for iv in axes])
    text = ", ".join([str(n) for n in values])
    kind: type[Refusal] = NotCovered if missing is not None else Overrun
    return kind(
        place.home, at=[(realize, None)], loop=loops[0], word=word, block=realize, axis=names,
        domain="its domain", missing=text, extreme=text,
    )  # fmt: skip


class _Digits:
    """Loops as digits ``0 .. extent - 1``; conditions that cut a sum of them make one digit of the sum."""

    def __init__(self, loops: Sequence[For], prover: Prover) -> None:
        self.prover = prover
        self.extents: dict[Any, Linear] = {}
        self.lows: dict[Var, Linear] = {}
        self.ready = True
        variables = {f.loop_var for f in loops}
        for f in loops:
            low, extent = to_linear(f.min), to_linear(f.extent)
            if low is None or extent is None or f.step is not None:
                self.ready = False
            elif low.mentions(variables) or extent.mentions(variables):
                self.ready = False
            else:
                self.extents[f.loop_var] = extent
                self.lows[f.loop_var] = low

    def merge(self, forms: list[Linear], parts: list[Expr]) -> list[Linear] | None:
        """The forms over digits, after all conditions have been used; None where one cannot be."""
        out = [self._shifted(f) for f in forms]
        cuts = []
        for c in parts:
            if type(c) is not LT and type(c) is not LE:
                continue
            cuts += [self._shifted(form) for form in nonnegative(c)]
        cuts.sort(key=lambda f: len(f.terms))
        for n in range(len(cuts)):
            cut = cuts[n]
            # rest - sum >= 0
            own = {a: -k for a, k in cut.terms.items() if a in self.extents}
            rest = cut.plus(Linear(dict(own)), 1)
            if not own or rest.mentions(self.extents):
                return None
            total = self._total(Linear(dict(own)))
            if total is None:
                return None
            size = rest.shift(1)
            digit = Var("digit")
            if not all(self._divides(f, own) for f in (*out, *cuts[n + 1 :])):
                return None
            if self.prover.proves(total - size):
                self.extents[digit] = size
            elif self.prover.proves(size - total):
                self.extents[digit] = total
            else:
                return None
            out = [self._replace(f, own, digit) for f in out]
            cuts[n + 1 :] = [self._replace(f, own, digit) for f in cuts[n + 1 :]]
            for a in own:
                del self.extents[a]
        return out

    def _shifted(self, form: Linear) -> Linear:
        for v, low in self.lows.items():
            k = form.terms.get(v, 0)
            if k and (low.terms or low.const):
                form = form.plus(low, k)
        return form

    def _divides(self, form: Linear, own: dict[Any, int]) -> bool:
        ratios = {(form.terms.get(a, 0) / k) for a, k in own.items()}
        return len(ratios) == 1 and bool(ratios.pop().is_integer())

    def _replace(self, form: Linear, own: dict[Any, int], digit: Var) -> Linear:
        a, k = next(iter(own.items()))
        times = form.terms.get(a, 0) // k
        if not times:
            return form
        return form.plus(Linear(dict(own)), -times).plus(Linear({digit: 1}), times)

    def _total(self, form: Linear) -> Linear | None:
        """The number of values of a sum of digits that takes all of ``0 .. total - 1``; else None."""
        items = sorted(form.terms.items(), key=lambda item: item[1])
        total = Linear({}, 1)
        for n, (a, k) in enumerate(items):
            if k <= 0 or a not in self.extents:
                return None
            if not (total.is_const and total.const == k):
                return None
            extent = self.extents[a]
            if not extent.is_const and n != len(items) - 1:
                return None
            total = extent.scale(k)
        return total

    def span(self, form: Linear) -> tuple[Linear, Linear] | None:
        """The ends of an axis that takes all values between them."""
        own = {a: k for a, k in form.terms.items() if a in self.extents}
        rest = form.plus(Linear(dict(own)), -1)
        if rest.mentions(self.extents):
            return None
        sign = -1 if any(k < 0 for k in own.values()) else 1
        total = self._total(Linear({a: k * sign for a, k in own.items() if not self._unit(a)}))
        if total is None:
            return None
        reach = total.shift(-1)
        return (rest, rest + reach) if sign > 0 else (rest - reach, rest)

    def _unit(self, a: Any) -> bool:
        e = self.extents[a]
        return e.is_const and e.const == 1

    def shared(self, forms: list[Linear]) -> bool:
        """Whether a digit counts in two forms, which then do not take all pairs of values."""
        used = [a for f in forms for a in f.terms if a in self.extents and not self._unit(a)]
        return len(set(used)) != len(used)

    def all_used(self, forms: list[Linear]) -> bool:
        """Whether each digit counts, so that no instance comes twice."""
        used = {a for f in forms for a in f.terms}
        return all(a in used or self._unit(a) for a in self.extents)


def _by_map(
    own: list[tuple[IterVar, Expr]], loops: Sequence[For]
) -> list[tuple[Linear, Linear] | None] | None:
    """The ends of the axes from the engine of iterator maps, for quotients and remainders."""
    ranges = {f.loop_var: Range(f.min, f.extent) for f in loops}
    if any(f.step is not None for f in loops):
        return None
    found = detect_iter_map([value for _, value in own], ranges)
    if found is None or not found.bijective:
        return None
    out: list[tuple[Linear, Linear] | None] = []
    for low, extent in zip(found.mins, found.extents, strict=True):
        if low is None or extent is None:
            return None
        out.append((low, (low + extent).shift(-1)))
    return out


def _one_by_one(
    own: list[tuple[IterVar, Expr]], loops: Sequence[For], parts: list[Expr], guards: list[Expr]
) -> Any:
    """The same for constant loops by trying them: an instance that is missed, one that is too much, and
    whether each comes once; None where it cannot be tried."""
    count = 1
    for f in loops:
        if type(f.extent) is not IntImm or type(f.min) is not IntImm or f.step is not None:
            return None
        count *= max(f.extent.value, 0)
    domains = []
    cells = 1
    for iv, _ in own:
        dom = iv.dom
        if dom is None or type(dom.min) is not IntImm or type(dom.extent) is not IntImm:
            return None
        domains.append(range(dom.min.value, dom.min.value + max(dom.extent.value, 0)))
        cells *= len(domains[-1])
    if count > _LIMIT or cells > _LIMIT:
        return None
    seen: set[tuple[int, ...]] = set()
    once = True
    axes = [iv for iv, _ in own]
    variables = [f.loop_var for f in loops]
    try:
        for point in product(*[range(f.min.value, f.min.value + f.extent.value) for f in loops]):  # type: ignore[attr-defined]
            env = dict(zip(variables, point, strict=True))
            if not all(evaluate(c, env) for c in parts):
                continue
            where = tuple([evaluate(value, env) for _, value in own])
            if any(x not in d for x, d in zip(where, domains, strict=True)):
                return None, (axes, where), True
            once = once and where not in seen
            seen.add(where)
        for where in product(*domains) if len(seen) != cells else ():
            if where not in seen:
                over = dict(zip([iv.var for iv in axes], where, strict=True))
                if all(evaluate(g, over) for g in guards):
                    return (axes, where), None, once
    except CannotEvaluate:
        return None
    return None, None, once


def _uninitialised(
    place: StmtSRef,
    own: list[tuple[IterVar, Expr]],
    loops: Sequence[For],
    parts: list[Expr],
    guards: list[Expr],
) -> Any:
    """A spatial instance that the loops do not visit, though its init would run where all are: conditions on
    reduction loops alone do not keep an init from running."""
    realize: BlockRealize = place.node
    values = list(zip(realize.block.iter_vars, realize.iter_values, strict=True))
    spatial = set().union(*[free_vars(e) for iv, e in values if iv.kind != "reduce"])
    reduce = set().union(*[free_vars(e) for iv, e in values if iv.kind == "reduce"])
    reduced = {iv.var for iv, _ in values if iv.kind == "reduce"}
    around = variables_around(place)
    both = [c for c in parts if not guards_updates(c, around, reduce, spatial)]
    if len(both) == len(parts):
        return None
    kept = [(iv, e) for iv, e in own if iv.kind != "reduce"]
    found = _one_by_one(kept, loops, both, [g for g in guards if reduced.isdisjoint(free_vars(g))])
    return None if found is None else found[0]


__all__ = ["Binding", "at_least", "binding_of", "mentions"]
