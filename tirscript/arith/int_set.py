"""Sets of integers as intervals, and questions to conditions: TVM's ``IntervalSet`` and its like.

A side of an interval is an expression, or ``pos_inf`` / ``neg_inf`` where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tirscript.ir import ops
from tirscript.ir.expr import GE, GT, LE, LT, And, Expr, IntImm, Range, Var, const_int

from .analyzer import Analyzer
from .bounds import expr_range
from .linear import Linear, linear_expr, to_linear
from .rules.logic import parts

POS_INF, NEG_INF = Var("pos_inf", "handle", False), Var("neg_inf", "handle", False)


class IntSet:
    """A set of integers.

    >>> IntSet.single_point(4), IntSet.vector(Range(const_int(0), const_int(8)))
    (IntervalSet[4, 4], IntervalSet[0, 7])
    """

    @staticmethod
    def single_point(point: Any) -> IntervalSet:
        """The set of one value."""
        at = ops.index(point)
        return IntervalSet(at, at)

    @staticmethod
    def vector(vec: Any) -> IntervalSet:
        """The values of a range."""
        return interval_of(vec)

    def is_nothing(self) -> bool:
        """Whether no value is in it."""
        raise NotImplementedError

    def is_everything(self) -> bool:
        """Whether nothing is known of it."""
        raise NotImplementedError


class IntervalSet(IntSet):
    """The integers from ``min_value`` to ``max_value``, both included.

    Source: TVM's ``arith.IntervalSet``.
    """

    __slots__ = ("max_value", "min_value")

    def __init__(self, min_value: Any, max_value: Any) -> None:
        self.min_value = _side(min_value, NEG_INF)
        self.max_value = _side(max_value, POS_INF)

    def is_nothing(self) -> bool:
        low, high = self.min_value, self.max_value
        if low is POS_INF or high is NEG_INF:
            return True
        if low is NEG_INF or high is POS_INF:
            return False
        return Analyzer().can_prove(GT(low, high))

    def is_everything(self) -> bool:
        return self.min_value is NEG_INF and self.max_value is POS_INF

    def __repr__(self) -> str:
        return f"IntervalSet[{self.min_value!r}, {self.max_value!r}]"


def _side(value: Any, default: Var) -> Expr:
    if value is None:
        return default
    return value if value is POS_INF or value is NEG_INF else ops.index(value)


def interval_of(domain: Any) -> IntervalSet:
    """A range, a value or an interval as an interval."""
    if isinstance(domain, IntervalSet):
        return domain
    if isinstance(domain, Range):
        high = Analyzer().simplify(ops.sub(ops.add(domain.min, domain.extent), 1))
        return IntervalSet(domain.min, high)
    return IntSet.single_point(domain)


def interval(expr: Expr, domains: Mapping[Var, Any], cx: Analyzer | None = None) -> IntervalSet:
    """The values of an integer where variables lie in ``domains``.

    >>> i, n = Var("i"), Var("n")
    >>> interval(i * 4 + n, {i: Range(const_int(0), const_int(8))})
    IntervalSet[n, n + 28]
    """
    cx = Analyzer() if cx is None else cx
    known = {v: interval_of(d) for v, d in domains.items()}
    lin = cx.linear(expr)
    if lin is not None:
        ends = [_end(lin, known, high) for high in (False, True)]
        if None not in ends:
            low, high = [None if isinstance(e, str) else cx.simplify(_written(e, expr.dtype)) for e in ends]
            return IntervalSet(low, high)
    with cx.scope():
        for v, d in known.items():
            for end, kind in ((d.min_value, GE), (d.max_value, LE)):
                if end is not POS_INF and end is not NEG_INF:
                    cx.assume(kind(v, end))
        least, most = cx.const_bounds(expr) if lin is not None else expr_range(cx, expr)
    return IntervalSet(
        None if least is None else const_int(least, expr.dtype),
        None if most is None else const_int(most, expr.dtype),
    )


def _written(e: Any, dtype: str) -> Expr:
    return linear_expr(e, dtype)


def _end(lin: Linear, known: Mapping[Var, IntervalSet], high: bool) -> Linear | str | None:
    """The end as a form without the variables; ``inf`` where it has none, None where they hide in an atom."""
    out = Linear({}, lin.const)
    for atom, k in lin.terms.items():
        if type(atom) is Var:
            domain = known.get(atom)
            if domain is None:
                out = out.plus(Linear({atom: 1}), k)
                continue
            side = domain.max_value if (k > 0) == high else domain.min_value
            if side is POS_INF or side is NEG_INF:
                return "inf"
            form = to_linear(side)
            if form is None:
                return None
            out = out.plus(form, k)
        elif Linear({atom: 1}).mentions(known):
            return None
        else:
            out = out.plus(Linear({atom: 1}), k)
    return out


# ---- linear equations


def detect_linear_equation(expr: Expr, var_list: Sequence[Var]) -> list[Expr]:
    """``[c0, ..., base]`` with ``expr == c0 * v0 + ... + base``; empty where it is not linear in them.

    >>> i, j, n = Var("i"), Var("j"), Var("n")
    >>> detect_linear_equation(i * 4 + j + n, [i, j])
    [4, 1, n]

    Source: TVM's ``arith.detect_linear_equation``.
    """
    lin = to_linear(expr)
    if lin is None:
        return []
    rest = dict(lin.terms)
    out: list[Expr] = [const_int(rest.pop(v, 0), expr.dtype) for v in var_list]
    base = Linear(rest, lin.const)
    return [] if base.mentions(set(var_list)) else [*out, linear_expr(base, expr.dtype)]


def detect_clip_bound(expr: Expr, var_list: Sequence[Var]) -> list[Expr | None]:
    """``[low0, high0, low1, ...]``: the bounds that a conjunction of comparisons puts on each variable.

    >>> i = Var("i")
    >>> detect_clip_bound((i < 16) & (i >= 2), [i])
    [2, 15]

    Source: TVM's ``arith.detect_clip_bound``.
    """
    out: list[Expr | None] = []
    for v in var_list:
        low: Expr | None = None
        high: Expr | None = None
        for condition in parts(_logical(expr), And):
            for is_high, bound in _bounds_on(v, condition):
                if is_high:
                    high = bound if high is None else Analyzer().simplify(ops.minimum(high, bound))
                else:
                    low = bound if low is None else Analyzer().simplify(ops.maximum(low, bound))
        out += [low, high]
    return out


def _logical(e: Any) -> Any:
    """``a & b`` of bools as ``a and b``."""
    if getattr(e, "op", None) == "bitwise_and" and e.dtype == "bool":
        return ops.logical_and(*[_logical(a) for a in e.args])
    return e


_SIGNS: dict[type, tuple[int, int]] = {LT: (-1, -1), LE: (-1, 0), GT: (1, -1), GE: (1, 0)}


def _bounds_on(v: Var, condition: Any) -> Iterable[tuple[bool, Expr]]:
    """What a comparison says of a variable that it is linear in: (is upper bound, bound)."""
    sign = _SIGNS.get(type(condition))
    if sign is None:
        return
    a, b = to_linear(condition.a), to_linear(condition.b)
    if a is None or b is None:
        return
    form = (a - b).scale(sign[0]).shift(sign[1])  # form >= 0
    k = form.coefficient(v)
    rest = form.plus(Linear({v: 1}), -k)
    if k == 0 or rest.mentions({v}):
        return
    written = linear_expr(rest if k < 0 else rest.scale(-1), v.dtype)
    if k < 0:  # -k * v <= rest
        bound = written if k == -1 else ops.floordiv(written, -k)
        yield True, Analyzer().simplify(bound)
    else:  # k * v >= -rest
        bound = written if k == 1 else ops.ceildiv(written, k)
        yield False, Analyzer().simplify(bound)


def deduce_bound(
    var: Var, cond: Expr, hint_map: Mapping[Var, Any], relax_map: Mapping[Var, Any]
) -> IntervalSet:
    """The values of ``var`` for which ``cond`` holds whatever the variables of ``relax_map`` are.

    ``hint_map`` gives what is known of variables that may stay in the result.

    >>> i, j = Var("i"), Var("j")
    >>> deduce_bound(i, i * 4 + j < 16, {}, {j: Range(const_int(0), const_int(4))})
    IntervalSet[neg_inf, 3]

    Source: TVM's ``arith.deduce_bound``.
    """
    cx = Analyzer()
    for v, d in hint_map.items():
        known = interval_of(d)
        for end, kind in ((known.min_value, GE), (known.max_value, LE)):
            if end is not POS_INF and end is not NEG_INF:
                cx.assume(kind(v, end))
    low: Expr | None = None
    high: Expr | None = None
    for condition in parts(_logical(cond), And):
        found = list(_relaxed(var, condition, relax_map))
        if not found:
            return IntervalSet(POS_INF, NEG_INF)
        for is_high, bound in found:
            if is_high:
                high = bound if high is None else cx.simplify(ops.minimum(high, bound))
            else:
                low = bound if low is None else cx.simplify(ops.maximum(low, bound))
    return IntervalSet(low, high)


def _relaxed(v: Var, condition: Any, relax: Mapping[Var, Any]) -> Iterable[tuple[bool, Expr]]:
    """The bound under which the condition holds for every value of the relaxed variables."""
    sign = _SIGNS.get(type(condition))
    if sign is None:
        return []
    a, b = to_linear(condition.a), to_linear(condition.b)
    if a is None or b is None:
        return []
    form = (a - b).scale(sign[0]).shift(sign[1])
    k = form.coefficient(v)
    rest = form.plus(Linear({v: 1}), -k)
    least = _end(rest, {u: interval_of(d) for u, d in relax.items()}, False)
    if k == 0 or not isinstance(least, Linear) or least.mentions({v}):
        return []
    worst = linear_expr(least.plus(Linear({v: 1}), k), v.dtype)
    return _bounds_on(v, GE(worst, const_int(0, v.dtype)))


# ---- regions


def estimate_region_lower_bound(
    region: Sequence[Range], var_dom: Mapping[Var, Range], predicate: Any = True
) -> list[IntervalSet] | None:
    """The box that the region certainly covers over the domain; None where that is not known.

    >>> i = Var("i")
    >>> estimate_region_lower_bound([Range(i * 4, const_int(4))], {i: Range(const_int(0), const_int(8))})
    [IntervalSet[0, 31]]

    Source: TVM's ``arith.estimate_region_lower_bound``.
    """
    from .iter_map import detect_iter_map

    condition = ops.as_expr(predicate)
    if isinstance(condition, IntImm) and condition.value:
        inner = {
            Var(f"w{k}", r.extent.dtype): Range(const_int(0, r.extent.dtype), r.extent)
            for k, r in enumerate(region)
        }
        values = [
            ops.add(r.min, w) if not _is_one(r.extent) else r.min for r, w in zip(region, inner, strict=True)
        ]
        used = {w: d for w, d in inner.items() if not _is_one(d.extent)}
        # Unit domains and those that no side mentions say nothing of the image.
        mentioned = {v: d for v, d in var_dom.items() if any(_mentions(r.min, v) for r in region)}
        m = detect_iter_map(values, {**mentioned, **used})
        if m is None or not m.bijective:
            return None
    else:
        return None
    return estimate_region_upper_bound(region, var_dom, predicate)


estimate_region_strict_bound = estimate_region_lower_bound


def _is_one(e: Expr) -> bool:
    return isinstance(e, IntImm) and e.value == 1


def _mentions(e: Expr, v: Var) -> bool:
    from tirscript.ir.visitor import free_vars

    return v in free_vars(e)


def estimate_region_upper_bound(
    region: Sequence[Range], var_dom: Mapping[Var, Range], predicate: Any = True
) -> list[IntervalSet]:
    """A box that the region stays in over the domain.

    Source: TVM's ``arith.estimate_region_upper_bound``.
    """
    cx = Analyzer()
    condition = ops.as_expr(predicate)
    if not (isinstance(condition, IntImm) and condition.value):
        cx.assume(condition)
    out = []
    for r in region:
        low = interval(r.min, var_dom, cx).min_value
        high = interval(cx.simplify(ops.sub(ops.add(r.min, r.extent), 1)), var_dom, cx).max_value
        out.append(IntervalSet(low, high))
    return out


__all__ = [
    "IntSet", "IntervalSet", "deduce_bound", "detect_clip_bound", "detect_linear_equation",
    "estimate_region_lower_bound", "estimate_region_strict_bound", "estimate_region_upper_bound", "interval",
]  # fmt: skip
