"""What is known about variables at one place of a program: intervals, and conditions that hold.

A small interval evaluator answers most questions; what it cannot decide goes to ``tirscript.arith``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tirscript.arith import Analyzer
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Broadcast,
    Cast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mul,
    Or,
    Ramp,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import For

from .fold import add, is_exact, reads_memory, same, sub

Interval = tuple[int | None, int | None]
UNKNOWN: Interval = (None, None)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _add(a: Interval, b: Interval) -> Interval:
    return _plus(a[0], b[0]), _plus(a[1], b[1])


def _negate(a: Interval) -> Interval:
    return (None if a[1] is None else -a[1]), (None if a[0] is None else -a[0])


def _scale(a: Interval, c: int) -> Interval:
    if c == 0:
        return 0, 0
    low, high = (None if a[0] is None else a[0] * c), (None if a[1] is None else a[1] * c)
    return (low, high) if c > 0 else (high, low)


def _multiply(a: Interval, b: Interval) -> Interval:
    for x, y in ((a, b), (b, a)):
        if x[0] is not None and x[0] == x[1]:
            return _scale(y, x[0])
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b]  # type: ignore[operator]
        return min(corners), max(corners)
    if a[0] is not None and b[0] is not None and a[0] >= 0 and b[0] >= 0:
        return a[0] * b[0], None
    return UNKNOWN


def _divide(a: Interval, b: Interval) -> Interval:
    c = b[0]
    if c is not None and c == b[1] and c > 0:
        return (None if a[0] is None else a[0] // c), (None if a[1] is None else a[1] // c)
    if c is not None and c > 0 and a[0] is not None and a[0] >= 0:
        return 0, (None if a[1] is None else a[1] // c)
    return UNKNOWN


def _modulo(a: Interval, b: Interval) -> Interval:
    if b[0] is not None and b[0] > 0:
        if a[0] is not None and a[1] is not None and a[0] >= 0 and a[1] < b[0]:
            return a
        return 0, (None if b[1] is None else b[1] - 1)
    return UNKNOWN


def _minimum(a: Interval, b: Interval) -> Interval:
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    known = [x for x in (a[1], b[1]) if x is not None]
    return low, (min(known) if known else None)


def _maximum(a: Interval, b: Interval) -> Interval:
    low, high = _minimum(_negate(a), _negate(b))
    return _negate((low, high))


_RULES: dict[type, Callable[[Interval, Interval], Interval]] = {
    Add: _add,
    Sub: lambda a, b: _add(a, _negate(b)),
    Mul: _multiply,
    FloorDiv: _divide,
    FloorMod: _modulo,
    Min: _minimum,
    Max: _maximum,
}


class Facts:
    """Intervals of exact variables and conditions that hold, for one place of a program."""

    def __init__(self) -> None:
        self.ranges: dict[Var, Interval] = {}
        self.loops: dict[Var, tuple[Expr, Expr]] = {}  # min and extent, where they are no constants
        self.holds: list[Expr] = []

    @staticmethod
    def of(func: PrimFunc) -> Facts:
        """What holds at the start of a function: extents are not negative."""
        facts = Facts()
        for b in func.buffer_map.values():
            facts.extents(b)
        return facts

    def extents(self, b: Buffer) -> None:
        for e in b.shape:
            if type(e) is Var and e.exact:
                self.ranges.setdefault(e, (0, None))

    def enter(self, loop: For) -> None:
        """The range of a loop's variable (a loop with a step is taken by its hull)."""
        low, extent = self.interval(loop.min), self.interval(loop.extent)
        last = _plus(low[1], extent[1])
        self.ranges[loop.loop_var] = (low[0], None if last is None else last - 1)
        if low[0] is None or extent[0] is None or extent[0] != extent[1]:
            self.loops[loop.loop_var] = (loop.min, loop.extent)

    def leave(self, loop: For) -> None:
        self.ranges.pop(loop.loop_var, None)
        self.loops.pop(loop.loop_var, None)

    def interval(self, e: Expr) -> Interval:
        """Bounds of the mathematical value of ``e``; None is unbounded or unknown."""
        t = type(e)
        if t is IntImm:
            return e.value, e.value  # type: ignore[attr-defined]
        if t is Var:
            return self.ranges.get(e, UNKNOWN) if e.exact else UNKNOWN  # type: ignore[attr-defined, call-overload]
        rule = _RULES.get(t)
        if rule is not None:
            out = rule(self.interval(e.a), self.interval(e.b))  # type: ignore[attr-defined]
            if t in _MAY_WRAP and not _holds_all(e.dtype, out) and not is_exact(e):
                return UNKNOWN
            return out
        if t is Cast:
            assert isinstance(e, Cast)
            inner = self.interval(e.value)
            if e.dtype == "int64" and is_exact(e.value):
                return inner
            return inner if _holds_all(e.dtype, inner) else UNKNOWN
        if t is Ramp:
            assert isinstance(e, Ramp)
            span = _scale(self.interval(e.stride), e.lanes - 1)
            base = self.interval(e.base)
            return _minimum(base, _add(base, span))[0], _maximum(base, _add(base, span))[1]
        if t is Broadcast:
            assert isinstance(e, Broadcast)
            return self.interval(e.value)
        return UNKNOWN

    def proves(self, condition: Expr) -> bool:
        """Whether ``condition`` certainly holds here."""
        t = type(condition)
        if t is IntImm:
            return bool(condition.value)  # type: ignore[attr-defined]
        if t is And:
            assert isinstance(condition, And)
            return self.proves(condition.a) and self.proves(condition.b)
        if t is Or:
            assert isinstance(condition, Or)
            return self.proves(condition.a) or self.proves(condition.b)
        if t in _COMPARE:
            a, b = condition.a, condition.b  # type: ignore[attr-defined]
            if not a.dtype.startswith(("int", "uint")):
                return False
            if _COMPARE[t](self.interval(a), self.interval(b)):
                return True
            if self._by_loop(t, a, b):
                return True
        if any(same(condition, h) for h in self.holds):
            return True
        return t in _COMPARE and self._ask(condition)

    def disproves(self, condition: Expr) -> bool:
        """Whether ``condition`` certainly does not hold here."""
        t = type(condition)
        if t is IntImm:
            return not condition.value  # type: ignore[attr-defined]
        if t is And:
            assert isinstance(condition, And)
            return self.disproves(condition.a) or self.disproves(condition.b)
        opposite = _OPPOSITE.get(t)
        if opposite is None or not condition.a.dtype.startswith(("int", "uint")):  # type: ignore[attr-defined]
            return False
        a, b = condition.a, condition.b  # type: ignore[attr-defined]
        return _COMPARE[opposite](self.interval(a), self.interval(b))

    def _by_loop(self, t: type, a: Expr, b: Expr) -> bool:
        """``i < n`` and the like where n is the written end of the loop of i."""
        if type(a) is not Var or t not in (LT, GE, LE):
            return False
        found = self.loops.get(a)
        if found is None:
            return False
        low, extent = found
        if t is GE:
            return same(low, b)
        if t is LT:
            return same(add(low, extent), b) or same(_end(low, extent), b)
        return same(sub(add(low, extent), const_int(1, a.dtype)), b)

    def _ask(self, condition: Any) -> bool:
        """The full prover, for conditions over exact integers."""
        return is_exact(condition) and _ask(self, condition)

    def within(self, conditions: Iterable[Expr]) -> list[Expr]:
        """Add conditions; the list before, for ``holds`` to be put back.

        What reads memory is left out: it need not hold any more after a store.
        """
        old = self.holds
        self.holds = [*old, *[c for c in conditions if not reads_memory(c)]]
        return old


def _end(low: Expr, extent: Expr) -> Expr:
    """The end of a loop that was written ``range(low, end)``: the extent is ``end - low``."""
    if type(extent) is Sub and same(extent.b, low):
        return extent.a
    return add(low, extent)


def _holds_all(dtype: str, interval: Interval) -> bool:
    if None in interval or not dt.is_int(dtype):
        return False
    low, high = dt.bounds(dtype)
    return low <= interval[0] and interval[1] <= high  # type: ignore[operator]


def _lt(a: Interval, b: Interval) -> bool:
    return a[1] is not None and b[0] is not None and a[1] < b[0]


def _le(a: Interval, b: Interval) -> bool:
    return a[1] is not None and b[0] is not None and a[1] <= b[0]


def _eq(a: Interval, b: Interval) -> bool:
    return a[0] is not None and a[0] == a[1] and a == b


_COMPARE: dict[type, Callable[[Interval, Interval], bool]] = {
    LT: _lt,
    LE: _le,
    GT: lambda a, b: _lt(b, a),
    GE: lambda a, b: _le(b, a),
    EQ: _eq,
    NE: lambda a, b: _lt(a, b) or _lt(b, a),
}
_MAY_WRAP = frozenset({Add, Sub, Mul})
_OPPOSITE: dict[type, type] = {LT: GE, GE: LT, LE: GT, GT: LE, EQ: NE, NE: EQ}


def _ask(facts: Facts, condition: Expr) -> bool:
    """The analyzer's word, for what intervals do not decide."""
    cx = Analyzer()
    for v, interval in facts.ranges.items():
        if v.exact and interval != UNKNOWN:
            cx.set_range(v, interval)
    for v, (low, extent) in facts.loops.items():
        cx.bind(v, Range(low, extent))
    for h in facts.holds:
        cx.assume(h)
    return cx.can_prove(condition)
