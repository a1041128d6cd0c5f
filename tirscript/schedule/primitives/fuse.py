"""Fuse perfectly nested loops into one.

The loop variables become quotients and remainders of the new one: `i` is `f // m`, `j` is `f % m`.  Loops
that do not run from 0 keep their offset in what is bound to them.  Loops of one kind give a loop of that
kind.

Requirements:
  * each of ``loops`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``);
    at least one (``no-loops``)
  * they carry no annotations (``annotated-loop``) and are bound to no thread (``bound-loop``)
  * each is all that the one before contains (``not-perfectly-nested``), from outside inwards
    (``not-nested``)
  * no extent depends on a loop that is fused (``dependent-extent``)
  * the innermost body holds no break, which would then leave all of them (``leaves-loop``)
  * they have one kind (``mixed-kinds``)
  * no condition comes to guard an init, or no longer does: one over reduction loops alone guards the updates
    only (``guarded-init``)
  * each reduction begins where it did: no loop whose iterations begin it again is fused with one that it goes
    over (``reduction-begins-again``; ``dependence-unknown`` where that cannot be told)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.fuse(i, j)
LoopRV(i_j_fused)
>>> loop_lines(sch)
for i_j_fused in range(256):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``fuse``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.analysis.dependence import Unknown
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import Add, Cast, Expr, FloorDiv, FloorMod, IntImm, Mul, Range, Var, const_int
from tirscript.ir.ops import ceildiv
from tirscript.ir.stmt import NONE, For
from tirscript.ir.visitor import free_vars

from ..errors import BadValue, Refusal, describe
from ..legality.control import check_stays
from ..legality.init_order import begins_elsewhere, guard_changes
from ..legality.order import DependenceUnknown, unknown_text
from ..names import new_names
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import loop_place
from ..rewrite.substitute import Rewriter, put
from ..state import ScheduleState
from .split import check_plain


class NoLoops(BadValue):
    code = "no-loops"
    template = "{primitive} needs at least one loop"


class NotPerfectlyNested(Refusal):
    code = "not-perfectly-nested"
    template = "loops `{outer}` and `{inner}` are not perfectly nested: `{outer}` contains {between}"


class NotNested(Refusal):
    code = "not-nested"
    template = "loop `{inner}` is not inside loop `{outer}`"
    hint_template = "give the loops from outside inwards, as get_loops does"


class DependentExtent(Refusal):
    code = "dependent-extent"
    template = "loops {loops} cannot be fused: the extent of `{inner}` depends on `{outer}`"


class MixedKinds(Refusal):
    code = "mixed-kinds"
    template = "loops of different kinds cannot be fused: {kinds}"
    hint_template = "fuse first, then give the new loop its kind"


class BeginsAgain(Refusal):
    code = "reduction-begins-again"
    template = (
        "loops {loops} cannot be fused: the reduction of block {block} would not begin where it does now"
    )
    hint_template = "fuse spatial loops with spatial ones, and reduction loops with reduction loops"


class GuardedInit(Refusal):
    code = "guarded-init"
    template = (
        "loops {loops} cannot be fused: the condition {condition} guards the updates of block {block} alone "
        "where it is about reduction loops only, and that would change"
    )
    hint_template = "decompose_reduction first"


class Plan:
    """The places of the loops, outermost first."""

    __slots__ = ("keep_unit", "places")

    def __init__(self, places: list[StmtSRef], keep_unit: bool) -> None:
        self.places = places
        self.keep_unit = keep_unit


def check(state: ScheduleState, loops: tuple[Any, ...], preserve_unit_iters: bool = True) -> Plan:
    """The places of the loops, if they can be fused."""
    if not loops:
        raise NoLoops(primitive="fuse")
    places = [loop_place(state, loop, "loops", "fuse") for loop in loops]
    kind = places[0].node.kind
    mixed = False
    outer: StmtSRef | None = None
    fused: list[Var] = []
    for p in places:
        s: For = p.node
        if s.annotations or s.thread:
            check_plain(p, "fused", "fuse")
        if outer is not None:
            if outer.node.body is not s:
                _not_nested(outer, p)
            if type(s.extent) is not IntImm or s.step is not None:
                used = free_vars(s.extent) | (free_vars(s.step) if s.step is not None else frozenset())
                for v in fused:
                    if v in used:
                        raise DependentExtent(
                            p.home, at=[(s, None)], loops=[q.node for q in places], inner=s, outer=v
                        )
        if s.kind != kind:
            mixed = True
        fused.append(s.loop_var)
        outer = p
    if len(places) > 1:
        check_stays(places[-1], "fused", "break")
    if mixed:
        kinds = ", ".join([f"`{p.node.loop_var.name}` is {p.node.kind}" for p in places])
        raise MixedKinds(places[0].home, at=[(p.node, "") for p in places], kinds=kinds)
    if state.enable_check and len(places) > 1:
        _check_reductions(places)
    return Plan(places, preserve_unit_iters)


def _check_reductions(places: list[StmtSRef]) -> None:
    chain: list[For] = [p.node for p in places]
    top = places[0]
    # Loops of one iteration may leave no trace in the new one.
    var, _, values = _constant(chain, "fused") or _general(chain, "fused")
    one = [v for v, e in values.items() if e is var or var in free_vars(e)]
    begun = begins_elsewhere(top, chain, [one])
    if begun is None:
        found = guard_changes(top, chain, set(one), {f.loop_var for f in chain if f.loop_var not in one})
        if found is not None:
            realize, condition = found
            raise GuardedInit(
                top.home,
                at=[(chain[0], None), (realize, None)],
                loops=chain,
                condition=condition,
                block=realize,
            )
        return
    if isinstance(begun.answer, Unknown):
        names = ", ".join([f"`{f.loop_var.name}`" for f in chain])
        what = unknown_text(begun.answer)
        raise DependenceUnknown(top.home, at=[(chain[0], None)], question=f"{names} may be fused", what=what)
    raise BeginsAgain(
        top.home,
        at=[(chain[0], None), (begun.realize, None)],
        notes=[begun.note],
        loops=chain,
        block=begun.realize,
    )


def _not_nested(outer: StmtSRef, inner: StmtSRef) -> None:
    p = inner.parent
    while p is not None and p is not outer:
        p = p.parent
    if p is None:
        raise NotNested(
            outer.home, at=[(outer.node, "outer"), (inner.node, "inner")], outer=outer.node, inner=inner.node
        )
    body = outer.node.body
    raise NotPerfectlyNested(
        outer.home,
        at=[(outer.node, None), (inner.node, "inner")],
        outer=outer.node,
        inner=inner.node,
        between=describe(body),
    )


def rewrite(state: ScheduleState, plan: Plan) -> LoopRV:
    """Put one loop in the place of the nest."""
    places = plan.places
    top = places[0]
    loops: list[For] = [p.node for p in places]
    inner = loops[-1].body
    (name,) = new_names(top, inner, ["_".join([f.loop_var.name for f in loops]) + "_fused"])
    made = _constant(loops, name)
    var, total, values = _general(loops, name) if made is None else made
    body = Rewriter(values, fold=folder(var, total)).statement(inner)
    new = For(var, const_int(0, var.dtype), total, loops[0].kind, body, "", NONE, None, loops[0].span)
    state.replace(top, new, tuple([f.loop_var for f in loops]))
    return LoopRV(var, top.home.name)


Fused = tuple[Var, Any, dict[Var, Expr]]


def _constant(loops: list[For], name: str) -> Fused | None:
    """The new variable, its extent and the values of the old ones, for loops from 0 of constant extent."""
    dtype = loops[0].loop_var.dtype
    total = 1
    for f in loops:
        low, extent = f.min, f.extent
        if type(extent) is not IntImm or type(low) is not IntImm or f.step is not None:
            return None
        if low.value != 0 or extent.value < 1 or f.loop_var.dtype != dtype:
            return None
        total *= extent.value
    if total > 1 << 31:
        return None
    var = Var(name, dtype)
    values: dict[Var, Expr] = {}
    weight = 1  # the product of the extents further in
    for f in reversed(loops):
        extent = f.extent.value  # type: ignore[attr-defined]
        if extent == 1:
            values[f.loop_var] = const_int(0, dtype) if total > 1 else var
            continue
        part: Expr = var
        whole = weight * extent
        if whole != total:
            part = FloorMod(part, const_int(whole, dtype))
        if weight != 1:
            part = FloorDiv(part, const_int(weight, dtype))
        values[f.loop_var] = part
        weight = whole
    return var, const_int(total, dtype), values


def _general(loops: list[For], name: str) -> Fused:
    """The same for any loops."""
    dtype = _dtype(loops)
    var = Var(name, dtype)
    counts = [_count(f, dtype) for f in loops]
    values: dict[Var, Expr] = {}
    weight: Any = None  # the product of the extents further in
    parts: list[Expr] = []
    for n in range(len(loops) - 1, -1, -1):
        count = counts[n]
        unit = type(count) is IntImm and count.value == 1
        part: Expr = var
        if unit and len(loops) > 1:
            part = const_int(0, dtype)
        elif weight is None:
            if n and not _rest_unit(counts, n):
                part = FloorMod(var, count)
        else:
            whole = _times(count, weight, dtype)
            part = FloorDiv(FloorMod(var, whole) if n and not _rest_unit(counts, n) else var, weight)
        parts.append(part)
        if not unit:
            weight = count if weight is None else _times(count, weight, dtype)
    parts.reverse()
    for f, part in zip(loops, parts, strict=True):
        if dtype != f.loop_var.dtype:
            part = Cast(f.loop_var.dtype, part)
        if f.step is not None:
            part = Mul(part, f.step)
        if not (type(f.min) is IntImm and f.min.value == 0):
            part = Add(part, put(f.min, values))
        values[f.loop_var] = part
    return var, weight if weight is not None else const_int(1, dtype), values


def _rest_unit(counts: list[Any], n: int) -> bool:
    """Whether the loops outside the n-th run once."""
    return all(type(c) is IntImm and c.value == 1 for c in counts[:n])


def _dtype(loops: list[For]) -> str:
    dtype = "int64" if any(f.loop_var.dtype == "int64" for f in loops) else loops[0].loop_var.dtype
    total = 1
    for f in loops:
        if type(f.extent) is IntImm:
            total *= max(f.extent.value, 1)
    return "int64" if total - 1 > dtype_bounds(dtype)[1] else dtype


def _count(f: For, dtype: str) -> Any:
    count: Any = f.extent if f.step is None else ceildiv(f.extent, f.step)
    if f.step is not None and type(f.extent) is IntImm and type(f.step) is IntImm:
        return const_int(-(-f.extent.value // f.step.value), dtype)
    if count.dtype == dtype:
        return count
    return const_int(count.value, dtype) if type(count) is IntImm else Cast(dtype, count)


def _times(a: Any, b: Any, dtype: str) -> Any:
    if type(a) is IntImm and type(b) is IntImm:
        return const_int(a.value * b.value, dtype)
    return Mul(a, b)


def folder(var: Var, extent: Expr) -> Callable[[Expr], Expr]:
    """A function that simplifies values over the new loop variable."""
    made: list[Any] = []

    def fold(e: Expr) -> Expr:
        if not made:
            try:
                from tirscript.arith import Analyzer
            except ImportError:
                return e
            analyzer = Analyzer()
            analyzer.bind(var, Range(const_int(0, var.dtype), extent))
            made.append(analyzer)
        simple: Expr = made[0].simplify(e)
        return simple

    return fold


KIND = InstructionKind(
    "Fuse", "fuse", ("loops", "preserve_unit_iters"), check, rewrite, attrs=1, variadic=True
)
