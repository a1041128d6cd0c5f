"""Split a loop into a nest of loops with the given extents.

One factor may be None: it becomes what is left, rounded up.  Where the factors do not divide the extent,
every block below is guarded, unless it can be proved that the guard always holds or the block's predicate
implies it.  The new loops run from 0; a loop from elsewhere keeps its offset in what is bound to it.
A parallel loop leaves its kind to the outermost new loop, a vectorized one to the innermost, an unrolled
one to all.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * it carries no annotations (``annotated-loop``) and is bound to no thread (``bound-loop``)
  * its body holds no break, which would then leave the inner loop only (``leaves-loop``)
  * ``factors`` is a list of positive integers with at most one None (``bad-factors``, ``bad-factor``,
    ``two-unknown-factors``)
  * without None the product of the factors is known to reach the extent (``factors-too-small``)
  * with ``disable_predication`` the factors divide the extent (``predicate-needed``)
  * where a guard is needed, the loop does not decide, with others, which instances a block with an init has
    while only its reduction axes are bound to it (``divided-init``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.split(j, [None, 4])
[LoopRV(j_0), LoopRV(j_1)]
>>> loop_lines(sch)
for i in range(16):
for j_0 in range(4):
for j_1 in range(4):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``split``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import LT, Add, Cast, Expr, FloorDiv, IntImm, Mul, Var, const_int
from tirscript.ir.ops import ceildiv
from tirscript.ir.stmt import NONE, For

from ..errors import BadArgument, BadValue, Refusal
from ..legality.cells import form_of
from ..legality.control import check_stays
from ..legality.decided_init import decided
from ..legality.prove import divides, holds, same
from ..names import new_names
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import integer, loop_place
from ..rewrite.substitute import Rewriter, spread
from ..state import ScheduleState


class AnnotatedLoop(Refusal):
    code = "annotated-loop"
    template = "loop `{loop}` cannot be {word}: it carries the annotation{s} {keys}"
    hint_template = "unannotate it first, and annotate the new loop that should carry it"


class SplitBoundLoop(Refusal):
    code = "bound-loop"
    template = "loop `{loop}` cannot be {word}: it is bound to {thread}"
    hint_template = "{verb} the loop before it is bound"


class BadFactors(BadArgument):
    code = "bad-factors"
    template = "`factors` of split must be a list of integers and at most one None, {given} was given"


class BadFactor(BadValue):
    code = "bad-factor"
    template = "`factors` of split must be positive integers or None, factor {number} is {value}"


class TwoUnknownFactors(BadValue):
    code = "two-unknown-factors"
    template = "`factors` of split holds {count} times None: only one can be worked out"


class FactorsTooSmall(BadValue):
    code = "factors-too-small"
    template = "the factors {factors} of loop `{loop}` make {product} iterations, its extent is {extent}"
    hint_template = "let one factor be None, so that it takes what is left"


class PredicateNeeded(Refusal):
    code = "predicate-needed"
    template = (
        "loop `{loop}` needs a guard, which disable_predication forbids: its extent {extent} is not known to "
        "be a multiple of {product}"
    )
    hint_template = "choose factors that divide the extent"


class DividedInit(Refusal):
    code = "divided-init"
    template = (
        "loop `{loop}` cannot be split with a guard: block {block} binds it to a reduction axis, and {what} "
        "depends on it too, so that the init would reach other instances"
    )
    hint_template = "choose factors that divide the extent, or decompose_reduction first"


class Plan:
    """The extents of the new loops, whether a guard is needed, and where."""

    __slots__ = ("count", "extents", "guard", "keep_unit", "place")

    def __init__(
        self, place: StmtSRef, count: Expr, extents: list[Expr], guard: bool, keep_unit: bool
    ) -> None:
        self.place = place
        self.count = count
        self.extents = extents
        self.guard = guard
        self.keep_unit = keep_unit


def check_plain(place: StmtSRef, word: str, verb: str) -> None:
    """Refuse a loop with annotations or a thread: they belong to this loop and no other."""
    s: For = place.node
    if s.annotations:
        keys = ", ".join([repr(k) for k in s.annotations])
        plural = "s" if len(s.annotations) > 1 else ""
        raise AnnotatedLoop(place.home, at=[(s, None)], loop=s, word=word, keys=keys, s=plural)
    if s.thread:
        raise SplitBoundLoop(place.home, at=[(s, None)], loop=s, word=word, verb=verb, thread=s.thread)


def check(
    state: ScheduleState,
    loop: Any,
    factors: Any,
    preserve_unit_iters: bool = True,
    disable_predication: bool = False,
) -> Plan:
    """The extents of the new loops, if the loop can be split so."""
    place = loop_place(state, loop, "loop", "split")
    s: For = place.node
    if s.annotations or s.thread:
        check_plain(place, "split", "split")
    check_stays(place, "split", "break")
    if not isinstance(factors, (list, tuple)) or not factors:
        raise BadFactors(place.home, at=[(s, None)], given=repr(factors))
    dtype = s.loop_var.dtype
    sizes: list[int | None] = []
    unknown = -1
    product = 1
    symbolic: list[Expr | None] | None = None
    for n, f in enumerate(factors):
        if f is None:
            if unknown >= 0:
                count = sum(1 for x in factors if x is None)
                raise TwoUnknownFactors(place.home, at=[(s, None)], count=str(count))
            unknown = n
            sizes.append(None)
            continue
        size = f if type(f) is int else integer(f)
        if size is None:
            if isinstance(f, Expr) and not isinstance(f, IntImm) and form_of(f) is not None:
                symbolic = symbolic or [None] * len(factors)
                symbolic[n] = f
                sizes.append(None)
                continue
            raise BadFactors(place.home, at=[(s, None)], given=repr(f))
        if size <= 0:
            raise BadFactor(place.home, at=[(s, None)], number=str(n + 1), value=str(size))
        sizes.append(size)
        product *= size
    known = product
    count_: Any = s.extent if s.step is None else ceildiv(s.extent, s.step)
    if type(count_) is FloorDiv and type(s.extent) is IntImm and type(s.step) is IntImm:
        count_ = const_int(-(-s.extent.value // s.step.value), dtype)
    if symbolic is not None:
        return _symbolic(
            state, place, count_, factors, sizes, symbolic, unknown, preserve_unit_iters,
            disable_predication,
        )  # fmt: skip
    if type(count_) is IntImm:
        extent = count_.value
        if unknown >= 0:
            rest = -(-extent // product)
            sizes[unknown] = rest
            product *= rest
        guard = product != extent
        if product < extent:
            raise FactorsTooSmall(
                place.home, at=[(s, None)], factors=[str(x) for x in sizes], loop=s,
                product=str(product), extent=str(extent),
            )  # fmt: skip
        extents: list[Any] = [const_int(x, dtype) for x in sizes]  # type: ignore[arg-type]
    else:
        extents = [None if x is None else const_int(x, dtype) for x in sizes]
        step = const_int(product, dtype)
        if unknown >= 0:
            quotient = divides(count_, product)
            guard = quotient is None
            extents[unknown] = ceildiv(count_, step) if quotient is None else quotient
        else:
            guard = not same(count_, step)
            if guard and not holds(place, count_ <= step):
                raise FactorsTooSmall(
                    place.home, at=[(s, None)], factors=[str(x) for x in sizes], loop=s,
                    product=str(product), extent=count_,
                )  # fmt: skip
    if guard and disable_predication:
        raise PredicateNeeded(place.home, at=[(s, None)], loop=s, extent=count_, product=str(known))
    if guard and state.enable_check:
        _check_inits(place)
    return Plan(place, count_, extents, guard, preserve_unit_iters)


def _check_inits(place: StmtSRef) -> None:
    """A guard of a reduction loop guards updates alone."""
    found = decided(place)
    if found is not None:
        raise DividedInit(
            place.home, at=[(place.node, None), (found[0], "")], loop=place.node, block=found[0],
            what=found[1],
        )  # fmt: skip


def _symbolic(
    state: ScheduleState,
    place: StmtSRef,
    count: Expr,
    factors: Any,
    sizes: list[int | None],
    symbolic: list[Expr | None],
    unknown: int,
    keep_unit: bool,
    no_guard: bool,
) -> Plan:
    """Factors that are expressions of the function's own sizes."""
    s: For = place.node
    dtype = s.loop_var.dtype
    extents: list[Any] = [
        e if e is not None else None if x is None else const_int(x, dtype)
        for e, x in zip(symbolic, sizes, strict=True)
    ]
    product: Any = None
    for e in extents:
        if e is not None:
            product = e if product is None else Mul(product, e)
            if type(e) is not IntImm and not holds(place, e > 0):
                raise BadFactor(
                    place.home, at=[(s, None)], number=str([x is e for x in extents].index(True) + 1),
                    value=f"{getattr(e, 'name', 'an expression')}, which is not known to be positive",
                )  # fmt: skip
    if unknown >= 0:
        exact = same(Mul(FloorDiv(count, product), product), count)
        extents[unknown] = FloorDiv(count, product) if exact else ceildiv(count, product)
        guard = not exact
    else:
        guard = not same(product, count)
        if guard and not holds(place, count <= product):
            raise FactorsTooSmall(
                place.home, at=[(s, None)], factors=list(factors), loop=s, product=product, extent=count
            )
    if guard and no_guard:
        raise PredicateNeeded(place.home, at=[(s, None)], loop=s, extent=count, product=product)
    if guard and state.enable_check:
        _check_inits(place)
    return Plan(place, count, extents, guard, keep_unit)


def rewrite(state: ScheduleState, plan: Plan) -> list[LoopRV]:
    """Put the nest in the place of the loop; the new loops are returned, outermost first."""
    place = plan.place
    s: For = place.node
    var = s.loop_var
    dtype = var.dtype
    extents = plan.extents
    total = 1
    for e in extents:
        if type(e) is not IntImm:
            total = 0
            break
        total *= e.value
    if total > 1 << 31 and dtype != "int64":
        # A rounded-up product may leave the dtype; the indices are then computed wider.
        if total - 1 > dtype_bounds(dtype)[1]:
            return _wide(state, plan)
    base = var.name
    names = new_names(place, s.body, [f"{base}_{n}" for n in range(len(extents))])
    news = [Var(name, dtype) for name in names]
    fold = None
    if total and plan.keep_unit:
        terms = _terms(news, extents)
        index = _sum(terms, dtype)
        value, guard = _value_and_guard(s, index, plan)
        if guard is None and value is index:
            # An exact split is multiplied out in what was more than the variable.
            def fold(e: Expr) -> Expr:
                return spread(e, index, terms)

    else:
        index = _index(news, extents, plan.keep_unit, dtype)
        value, guard = _value_and_guard(s, index, plan)
    _finish(state, plan, news, {var: value}, guard, fold)
    name = place.home.name
    return [LoopRV(v, name) for v in news]


def _wide(state: ScheduleState, plan: Plan) -> list[LoopRV]:
    place = plan.place
    s: For = place.node
    extents: list[Any] = [const_int(e.value, "int64") for e in plan.extents]  # type: ignore[attr-defined]
    plan = Plan(place, const_int(plan.count.value, "int64"), extents, plan.guard, plan.keep_unit)  # type: ignore[attr-defined]
    names = new_names(place, s.body, [f"{s.loop_var.name}_{n}" for n in range(len(extents))])
    news = [Var(name, "int64") for name in names]
    index = _index(news, extents, plan.keep_unit, "int64")
    guard = LT(index, plan.count) if plan.guard else None
    narrow: Expr = Cast(s.loop_var.dtype, index)
    value, _ = _value_and_guard(s, narrow, Plan(place, s.extent, [], False, True))
    _finish(state, plan, news, {s.loop_var: value}, guard, None)
    return [LoopRV(v, place.home.name) for v in news]


def _terms(news: list[Var], extents: list[Any]) -> list[tuple[Var, int]]:
    """The new variables with their weights, outermost first."""
    weight = 1
    terms: list[tuple[Var, int]] = []
    for n in range(len(news) - 1, -1, -1):
        terms.append((news[n], weight))
        weight *= extents[n].value
    terms.reverse()
    return terms


def _sum(terms: list[tuple[Var, int]], dtype: str) -> Expr:
    """``i_0 * 12 + i_1 * 4 + i_2``"""
    out: Expr | None = None
    for v, k in terms:
        term = v if k == 1 else Mul(v, const_int(k, dtype))
        out = term if out is None else Add(out, term)
    assert out is not None
    return out


def _index(news: list[Var], extents: list[Any], keep_unit: bool, dtype: str) -> Expr:
    """The same for any extents; unit ones are left out if they need not be kept."""
    weight: Any = None
    terms: list[Expr] = []
    for v, e in zip(reversed(news), reversed(extents), strict=True):
        if keep_unit or not (type(e) is IntImm and e.value == 1):
            terms.append(v if weight is None else Mul(v, weight))
        if not (type(e) is IntImm and e.value == 1):
            if weight is None:
                weight = e
            elif type(weight) is IntImm and type(e) is IntImm:
                weight = const_int(weight.value * e.value, dtype)
            else:
                weight = Mul(e, weight)
    if not terms:
        return const_int(0, dtype)
    out = terms.pop()
    while terms:
        out = Add(out, terms.pop())
    return out


def _value_and_guard(s: For, index: Expr, plan: Plan) -> tuple[Expr, Expr | None]:
    guard = LT(index, plan.count) if plan.guard else None
    value = index
    if s.step is not None and not (type(s.step) is IntImm and s.step.value == 1):
        value = Mul(index, s.step)
    if not (type(s.min) is IntImm and s.min.value == 0):
        value = Add(value, s.min) if type(value) is not IntImm or value.value else s.min
    return value, guard


def _finish(
    state: ScheduleState,
    plan: Plan,
    news: list[Var],
    values: dict[Var, Expr],
    guard: Expr | None,
    fold: Callable[[Expr], Expr] | None,
) -> None:
    place = plan.place
    s: For = place.node
    implied = None
    if guard is not None:
        plain = type(s.min) is IntImm and s.min.value == 0 and s.step is None

        def implied(p: Expr) -> bool:
            return plain and type(plan.count) is IntImm and bounded(p, s.loop_var, plan.count.value, place)

    body = Rewriter(values, guard, implied, fold, False).statement(s.body)
    last = len(news) - 1
    kind = s.kind
    zero = const_int(0, news[0].dtype)
    for n in range(last, -1, -1):
        here = "serial"
        if kind != "serial" and (
            kind == "unrolled" or (kind == "parallel" and n == 0) or (kind == "vectorized" and n == last)
        ):
            here = kind
        body = For(news[n], zero, plan.extents[n], here, body, "", NONE, None, s.span)
    state.replace(place, body, (s.loop_var,))


def bounded(predicate: Any, var: Var, extent: int, place: StmtSRef) -> bool:
    """Whether a conjunct ``k * var + rest < n`` of a predicate already keeps ``var`` below ``extent``."""
    from tirscript.analysis.access import conjuncts

    ranges: dict[Var, tuple[float, float]] | None = None
    for c in conjuncts(predicate):
        if type(c) is not LT:
            continue
        left, right = form_of(c.a), form_of(c.b)
        if left is None or right is None:
            continue
        k = left.terms.get(var, 0) - right.terms.get(var, 0)
        if k <= 0:
            continue
        if ranges is None:
            ranges = _ranges(place)
        limit: float = right.const - left.const - 1
        for terms, sign in ((left.terms, 1), (right.terms, -1)):
            for v, c_ in terms.items():
                if v is not var:
                    low, high = ranges.get(v, (float("-inf"), float("inf")))
                    limit -= min(low * c_ * sign, high * c_ * sign)
        if limit // k < extent:
            return True
    return False


def _ranges(place: StmtSRef) -> dict[Var, tuple[float, float]]:
    """Ranges of all loops around the place and below it."""
    from ..legality.surroundings import outside_ranges

    out: dict[Var, tuple[float, float]] = {**outside_ranges(place)}
    stack: list[Any] = [place.node]
    while stack:
        s = stack.pop()
        if type(s) is For:
            if type(s.min) is IntImm and type(s.extent) is IntImm:
                out[s.loop_var] = (s.min.value, s.min.value + max(s.extent.value, 1) - 1)
            stack.append(s.body)
        elif hasattr(s, "seq"):
            stack.extend(s.seq)
        elif hasattr(s, "then_case"):
            stack.append(s.then_case)
    return out


KIND = InstructionKind(
    "Split",
    "split",
    ("loop", "factors", "preserve_unit_iters", "disable_predication"),
    check,
    rewrite,
    attrs=2,
)
