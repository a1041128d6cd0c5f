"""Combiners of one or several values: which are commutative and associative, and which the user says are.

A combiner whose results only compare values and choose among them (argmin, argmax, with any rule for ties)
does the same to numbers of the same order, so trying all orders of three values decides its laws.  Others
are known where a reducer was registered.  Comparisons of floats are taken to be of numbers, not of nan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from tirscript.diagnostics import ScheduleValueError, TirscriptError
from tirscript.ir import ops
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Call,
    CommReducer,
    Expr,
    FloatImm,
    GlobalVar,
    IntImm,
    Max,
    Min,
    Mul,
    Not,
    Or,
    Select,
    StringImm,
    Var,
)
from tirscript.ir.visitor import free_vars, substitute

_OPERATORS = frozenset({Add, Mul, Min, Max, And, Or})


@dataclass(frozen=True, slots=True)
class Combiner:
    """An associative combination of tuples: ``result`` over the variables ``lhs`` and ``rhs``.

    ``identity`` is its neutral element, None where none is known; ``repeatable`` says that a tuple may be
    combined again later on: ``a, b, a`` gives what ``a, b`` does.
    """

    lhs: tuple[Var, ...]
    rhs: tuple[Var, ...]
    result: tuple[Expr, ...]
    identity: tuple[Expr, ...] | None = None
    commutative: bool = True
    repeatable: bool = False

    def apply(self, a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
        """The results for two tuples of values."""
        if len(a) == 1:
            e: Any = self.result[0]
            if type(e) in _OPERATORS and e.a is self.lhs[0] and e.b is self.rhs[0]:
                return (type(e)(a[0], b[0]),)
        values = dict(zip((*self.lhs, *self.rhs), (*a, *b), strict=True))
        return tuple([substitute(e, values) for e in self.result])


# ---- registered ones


@dataclass(frozen=True, slots=True)
class Registered:
    """What the user says about tuples of ``count`` values; made for each combination of dtypes."""

    count: int
    make: Callable[[tuple[str, ...]], Combiner | None]


_registered: list[Registered] = []
_made: dict[tuple[int, tuple[str, ...]], Combiner | None] = {}


def register_reducer(
    n_buffers: int | CommReducer,
    combiner: Callable[..., Any] | None = None,
    identity: Callable[..., Any] | Sequence[Any] | None = None,
) -> None:
    """Tell that a combiner of ``n_buffers`` values is commutative and associative.

    ``combiner`` gets the values of the left tuple, then those of the right one, and returns the combined
    ones; ``identity`` gives the neutral elements, or is a function that gets the dtypes.  A reducer made
    with ``T.comm_reducer`` may be given alone: it holds for its own dtypes.  Registering the same
    combiner twice is harmless.

    >>> from tirscript.analysis.combiner import register_reducer
    >>> register_reducer(1, lambda x, y: x + y + x * y, [0])

    Source: TVM's ``RegisterReducer``.
    """
    if isinstance(n_buffers, CommReducer):
        given = n_buffers
        known = Combiner(given.lhs, given.rhs, given.result, given.identity)
        dtypes = tuple([v.dtype for v in given.lhs])
        _registered.append(Registered(len(dtypes), lambda asked: known if asked == dtypes else None))
        _made.clear()
        return
    if type(n_buffers) is not int or n_buffers < 1 or not callable(combiner) or identity is None:
        raise ScheduleValueError(
            "register_reducer needs a number of buffers, a combiner of twice as many values and identities",
            code="bad-reducer",
        )
    count, combine, neutral = n_buffers, combiner, identity

    def make(dtypes: tuple[str, ...]) -> Combiner | None:
        lhs = tuple([Var(f"x{n}", d, False) for n, d in enumerate(dtypes)])
        rhs = tuple([Var(f"y{n}", d, False) for n, d in enumerate(dtypes)])
        try:
            result = combine(*lhs, *rhs)
            start = neutral(*dtypes) if callable(neutral) else neutral
        except (TirscriptError, TypeError):
            return None  # not meant for these dtypes
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        starts = tuple(start) if isinstance(start, (tuple, list)) else (start,)
        if len(results) != count or len(starts) != count:
            raise ScheduleValueError(
                f"the reducer of {count} values gives {len(results)} results and {len(starts)} identities",
                code="bad-reducer",
            )
        try:
            exprs = tuple([ops.as_expr(e, d) for e, d in zip(results, dtypes, strict=True)])
            identities = tuple([ops.as_expr(e, d) for e, d in zip(starts, dtypes, strict=True)])
        except (TirscriptError, TypeError):
            return None
        return Combiner(lhs, rhs, exprs, identities)

    _registered.append(Registered(count, make))
    _made.clear()


def any_registered() -> bool:
    """Whether there is a reducer to be looked for."""
    return bool(_registered)


def _candidates(dtypes: tuple[str, ...]) -> Iterator[Combiner]:
    for n, r in reversed(tuple(enumerate(_registered))):
        if r.count != len(dtypes):
            continue
        key = (n, dtypes)
        if key not in _made:
            _made[key] = r.make(dtypes)
        found = _made[key]
        if found is not None:
            yield found


def registered_match(
    olds: Sequence[Var], news: Sequence[Expr]
) -> tuple[tuple[int, ...], Combiner, tuple[Expr, ...]] | None:
    """The registered combiner that gives ``news`` of the old values: which value stands for each of its
    own, the combiner, and what it combines with."""
    for order in permutations(range(len(olds))) if len(olds) <= 4 else (tuple(range(len(olds))),):
        for c in _candidates(tuple([olds[n].dtype for n in order])):
            old = {v: olds[n] for v, n in zip(c.lhs, order, strict=True)}
            wanted = [(p, news[n]) for p, n in zip(c.result, order, strict=True)]
            for bound in _unify_all(wanted, old, frozenset(c.rhs), frozenset(olds), {}):
                if all(v in bound for v in c.rhs):
                    return order, c, tuple([bound[v] for v in c.rhs])
    return None


_COMMUTES = frozenset({Add, Mul, Min, Max, And, Or, EQ, NE})
_FLIPPED: dict[type, type] = {LT: GT, GT: LT, LE: GE, GE: LE}
_BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
Bound = Mapping[Var, Expr]


def _unify_all(
    pairs: list[tuple[Any, Any]],
    old: Mapping[Var, Var],
    free: frozenset[Var],
    taken: frozenset[Var],
    b: Bound,
) -> Iterator[Bound]:
    if not pairs:
        yield b
        return
    (p, e), *rest = pairs
    for found in _unify(p, e, old, free, taken, b):
        yield from _unify_all(rest, old, free, taken, found)


def _unify(
    p: Any, e: Any, old: Mapping[Var, Var], free: frozenset[Var], taken: frozenset[Var], b: Bound
) -> Iterator[Bound]:
    """Ways to read ``e`` as the pattern ``p``: ``old`` values are given, ``free`` ones stand for anything
    that holds no old value."""
    t: Any = type(p)
    if t is Var:
        if p in old:
            if e is old[p]:
                yield b
        elif p in free:
            if p in b:
                if structural_equal(b[p], e):
                    yield b
            elif e.dtype == p.dtype and taken.isdisjoint(free_vars(e)):
                yield {**b, p: e}
        elif e is p:
            yield b
        return
    if t is IntImm or t is FloatImm or t is StringImm or t is GlobalVar:
        if structural_equal(p, e):
            yield b
        return
    if t is Call and p.op == "if_then_else" and type(e) is Select:
        e = Call(e.dtype, "if_then_else", (e.condition, e.true_value, e.false_value))
    elif t is Select and type(e) is Call and e.op == "if_then_else":
        e = Select(e.args[0], e.args[1], e.args[2])
    mine, theirs = p.children(), e.children()
    if type(e) is _FLIPPED.get(t):
        yield from _unify_all(list(zip(mine, theirs[::-1], strict=True)), old, free, taken, b)
        return
    if type(e) is not t or e.dtype != p.dtype or (t is Call and e.op != p.op):
        return
    if len(mine) != len(theirs):
        return
    yield from _unify_all(list(zip(mine, theirs, strict=True)), old, free, taken, b)
    if t in _COMMUTES or (t is Call and p.op in _BITS):
        yield from _unify_all(list(zip(mine, theirs[::-1], strict=True)), old, free, taken, b)


# ---- those that compare and choose

_LIMIT = 60_000
_CODE: dict[type, str] = {
    LT: "<", LE: "<=", GT: ">", GE: ">=", EQ: "==", NE: "!=", And: "and", Or: "or",
}  # fmt: skip
_COMPARES = frozenset({LT, LE, GT, GE, EQ, NE})
_decided: dict[tuple[str, tuple[int, ...]], tuple[bool, bool, tuple[bool, ...] | None] | None] = {}


class _NotOrder(Exception):
    """Something else than comparing and choosing."""


class _Writer:
    """Results as Python expressions over ``x[k]`` and ``y[k]``; which components meet one another."""

    def __init__(self, lhs: Sequence[Var], rhs: Sequence[Var]) -> None:
        self.names = {v: f"x[{n}]" for n, v in enumerate(lhs)} | {v: f"y[{n}]" for n, v in enumerate(rhs)}
        self.number = {v: n for vs in (lhs, rhs) for n, v in enumerate(vs)}
        self.group = list(range(len(lhs)))

    def root(self, n: int) -> int:
        while self.group[n] != n:
            n = self.group[n]
        return n

    def join(self, a: set[int], b: set[int]) -> None:
        first, *others = sorted(a | b)
        for n in others:
            self.group[self.root(n)] = self.root(first)

    def value(self, e: Any) -> tuple[str, set[int]]:
        """The code of a value, and the components that it may be."""
        t = type(e)
        if t is Var:
            if e not in self.names:
                raise _NotOrder
            return self.names[e], {self.number[e]}
        if t is Min or t is Max:
            (a, u), (b, v) = self.value(e.a), self.value(e.b)
            self.join(u, v)
            return f"{'min' if t is Min else 'max'}({a}, {b})", u | v
        if t is Select or (t is Call and e.op == "if_then_else"):
            condition, yes, no = e.children()
            (a, u), (b, v) = self.value(yes), self.value(no)
            return f"({a} if {self.condition(condition)} else {b})", u | v
        raise _NotOrder

    def condition(self, e: Any) -> str:
        t = type(e)
        if t in _COMPARES:
            (a, u), (b, v) = self.value(e.a), self.value(e.b)
            self.join(u, v)
            return f"({a} {_CODE[t]} {b})"
        if t is And or t is Or:
            return f"({self.condition(e.a)} {_CODE[t]} {self.condition(e.b)})"
        if t is Not:
            return f"(not {self.condition(e.a)})"
        if t is IntImm:
            return str(bool(e.value))
        if t is Call and e.op == "likely":
            return self.condition(e.args[0])
        raise _NotOrder


def order_combiner(lhs: tuple[Var, ...], rhs: tuple[Var, ...], result: tuple[Expr, ...]) -> Combiner | None:
    """The combiner, if it only compares and chooses and is associative; else None."""
    if any(v.dtype == "bool" or info(v.dtype).lanes != 1 for v in lhs):
        return None  # there are no three bools
    w = _Writer(lhs, rhs)
    try:
        parts = []
        for n, e in enumerate(result):
            text, leaves = w.value(e)
            w.join({n}, leaves)
            parts.append(text)
    except _NotOrder:
        return None
    roots = [w.root(n) for n in range(len(lhs))]
    sizes = tuple([roots.count(r) for r in roots])
    code = f"lambda x, y: ({', '.join(parts)},)"
    key = (code, sizes)
    if key not in _decided:
        _decided[key] = _decide(eval(code, {"__builtins__": {}, "min": min, "max": max}), sizes)
    laws = _decided[key]
    if laws is None:
        return None
    commutative, repeatable, ends = laws
    identity = None
    if ends is not None:
        identity = tuple([_end(v.dtype, high) for v, high in zip(lhs, ends, strict=True)])
    return Combiner(lhs, rhs, result, identity, commutative, repeatable)


def _decide(
    f: Callable[[Any, Any], tuple[int, ...]], sizes: tuple[int, ...]
) -> tuple[bool, bool, tuple[bool, ...] | None] | None:
    """Whether it commutes, whether it is repeatable, and at which ends its identity stands; None where it
    is not associative (or too large to tell)."""
    total = 1
    for s in sizes:
        total *= 3 * s
    if total**3 > _LIMIT:
        return None
    values = list(product(*[range(3 * s) for s in sizes]))
    commutative = repeatable = True
    for x in values:
        for y in values:
            xy = f(x, y)
            commutative = commutative and xy == f(y, x)
            repeatable = repeatable and f(xy, x) == xy
            if any(f(xy, z) != f(x, f(y, z)) for z in values):
                return None
    wide = list(product(*[range(-1, 3 * s + 1) for s in sizes]))
    for ends in product((False, True), repeat=len(sizes)):
        e = tuple([3 * s if high else -1 for s, high in zip(sizes, ends, strict=True)])
        if all(f(e, y) == y == f(y, e) for y in wide):
            return commutative, repeatable, ends
    return commutative, repeatable, None


def _end(dtype: str, high: bool) -> Expr:
    if info(dtype).is_float:
        return FloatImm(float("inf") if high else float("-inf"), dtype)
    return IntImm(dtype_bounds(dtype)[high], dtype)


__all__ = ["Combiner", "any_registered", "order_combiner", "register_reducer", "registered_match"]
