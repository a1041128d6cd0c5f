"""The system of constraints for a pair of accesses, and the answer that its solution is.

The loops of the second access are renamed; quotients and remainders by constants get variables of their
own, products with symbols are taken apart where bounds allow.  A solution counts as a ``Witness`` only
after what stands in the program has been evaluated with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tirscript.arith.analyzer import Analyzer
from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.arith.exact import is_exact
from tirscript.arith.linear import (
    Atom,
    AtomKey,
    Linear,
    factors,
    multiply,
    to_linear,
)
from tirscript.arith.rules.div import take_out
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import (
    Broadcast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Ramp,
    Range,
    Var,
    const_int,
)
from tirscript.ir.stmt import Evaluate
from tirscript.ir.visitor import substitute, walk

from .access import Access
from .enumeration import Pairs, TooLarge
from .region import Axis, axis_ends, nonnegative
from .solve import BUDGET, SMALL_BUDGET, OutOfBudget, System

Interval = tuple[int | None, int | None]


@dataclass(slots=True, eq=False)
class Witness:
    """Two instances that touch one cell.

    ``first`` and ``second`` are values of the loops (or axes) asked about, then of those inside, in nesting
    order; ``kind`` is RAW, WAR, WAW, or ``reduction`` where both belong to one update by a commutative
    reducer.  ``parameters`` are values of symbols for which it happens; ``certain`` is False where conditions
    on data decide whether it does.
    """

    buffer: Buffer
    cell: tuple[int, ...] | None
    first: dict[Var, int]
    second: dict[Var, int]
    kind: str
    accesses: tuple[Access, Access]
    parameters: dict[Var, int] = field(default_factory=dict)
    certain: bool = True

    @property
    def text(self) -> str:
        """``k=0 and k=1 both write C[0, 0]``"""
        a, b = self.accesses
        one, two = self._values()
        where = (
            f"{self.buffer.name}[{', '.join(map(str, self.cell))}]"
            if self.cell is not None
            else self.buffer.name
        )
        given = ", ".join([f"{v.name}={n}" for v, n in self.parameters.items()])
        tail = f" (with {given})" if given else ""
        if a.is_write and b.is_write:
            return f"{one} and {two} both write {where}{tail}"
        if a.is_write:
            return f"{one} writes {where}, which {two} reads{tail}"
        return f"{one} reads {where}, which {two} writes{tail}"

    def _values(self) -> tuple[str, str]:
        differ = [v for v in self.first if v in self.second and self.first[v] != self.second[v]]

        def show(values: Mapping[Var, int], access: Access) -> str:
            text = ", ".join([f"{v.name}={values[v]}" for v in differ or values if v in values])
            if not text:
                return f'block "{access.realizes[-1].block.name}"' if access.realizes else "the other"
            return f"({text})" if "," in text else text

        return show(self.first, self.accesses[0]), show(self.second, self.accesses[1])

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True, eq=False)
class Unknown:
    """It cannot be told; ``access`` is the one that is not understood."""

    access: Access
    reason: str = "not understood"

    @property
    def text(self) -> str:
        verb = "written" if self.access.is_write else "read"
        return f"how {self.access.buffer.name} is {verb} is {self.reason}"

    def __str__(self) -> str:
        return self.text


Answer = Witness | Unknown | None
LARGE = "too large for the test"
NO_RANGES: Mapping[Var, Interval] = {}
_NOWHERE = make_buffer("nowhere", ())
_NO_STMT = Evaluate(const_int(0))


class Copy:
    """The second of two accesses with its loops renamed."""

    __slots__ = ("access", "axes", "conditions", "names", "ranges")

    def __init__(self, access: Access, rename: bool) -> None:
        self.access = access
        names: dict[Var, Expr] = {}
        axes = []
        for a in access.axes:
            if rename:
                new = Var(a.var.name, a.var.dtype)
                low = substitute(a.min, names) if type(a.min) is not IntImm else a.min
                extent = substitute(a.extent, names) if type(a.extent) is not IntImm else a.extent
                names[a.var] = new
                axes.append(Axis(new, low, extent, a.loop))
            else:
                axes.append(a)
        self.names = names
        self.axes = axes
        self.conditions = (
            [substitute(c, names) for c in access.conditions] if names else list(access.conditions)
        )
        if access.indices is not None:
            self.ranges: list[tuple[Expr, Expr | None]] | None = [
                (substitute(i, names) if names else i, None) for i in access.indices
            ]
        elif access.region is not None:
            self.ranges = [
                (substitute(r.min, names), substitute(r.extent, names)) if names else (r.min, r.extent)
                for r in access.region
            ]
        else:
            self.ranges = None

    def var(self, v: Var) -> Var:
        new = self.names.get(v, v)
        assert isinstance(new, Var)
        return new


class Question:
    """The system for one pair of accesses; ``order`` constraints are added to copies of it."""

    def __init__(self, a: Access, b: Access, ranges: Mapping[Var, Interval], extra: Sequence[Expr]) -> None:
        self.a, self.b = Copy(a, False), Copy(b, True)
        self.ranges = ranges
        self.system = System()
        self.quotients: dict[Any, Any] = {}
        self.bounded: set[Any] = set()
        self.intervals: dict[Any, Interval] = {}  # of variables of the system, for bounds of quotients
        self.dropped: Access | None = None  # an access of which something could not be used
        self.extra = extra
        self.pairs: Pairs | None = None
        self.cx: Analyzer | None = None
        for copy in (self.a, self.b):
            for axis in copy.axes:
                low, high = axis_ends(axis)
                me = Linear({axis.var: 1})
                if low is not None:
                    self.at_least(me - low)
                if high is not None:
                    self.at_least(high - me)
                step = axis.loop.step if axis.loop is not None else None
                if step is not None and low is not None:
                    self._stepped(me - low, step)
                self.bounded.add(axis.var)
                first = None if low is None else self.interval(*self.lower(low))[0]
                last = None if high is None else self.interval(*self.lower(high))[1]
                self.intervals[axis.var] = (first, last)
            for c in copy.conditions:
                for form in nonnegative(c):
                    self.at_least(form)
        for c in extra:
            for form in nonnegative(c):
                self.at_least(form)
        if a.buffer is not b.buffer or self.a.ranges is None or self.b.ranges is None:
            self.dropped = a if self.a.ranges is None else b
            return
        equations: list[Linear] = []
        for (i, size_a), (j, size_b) in zip(self.a.ranges, self.b.ranges, strict=True):
            if size_a is None and size_b is None:
                x, y = self._index(i), self._index(j)
                if x is None or y is None:
                    self._not_linear(i, j)
                    continue
                equations.append(x - y)
                continue
            self._overlap(i, size_a, j, size_b)
        for e in equations:
            if any(isinstance(t, Atom) and t[0] == "*" for t in e.terms):
                for part in _split_symbolic(self._analyzer(), e):
                    self.equal(part)
            else:
                self.equal(e)

    def _index(self, e: Any) -> Linear | None:
        """An index in normal form; of a vector that of any of its lanes."""
        if type(e) is Broadcast:
            return to_linear(e.value)
        if type(e) is not Ramp:
            return to_linear(e)
        base, stride = to_linear(e.base), to_linear(e.stride)
        if base is None or stride is None:
            return None
        lane = Var("", e.base.dtype)
        self.bounded.add(lane)
        self.bound(lane, (0, e.lanes - 1))
        return base + multiply(Linear({lane: 1}), stride)

    def _not_linear(self, i: Expr, j: Expr) -> None:
        # Equal texts over the same values are equal; nothing else is known.
        self.dropped = self.a.access if to_linear(i) is None else self.b.access

    def _stepped(self, distance: Linear, step: Expr) -> None:
        if type(step) is IntImm:
            q = ("step", object())
            terms, const = self.lower(distance)
            self.system.equal({**terms, q: -step.value}, const)

    def _overlap(self, i: Expr, size_a: Expr | None, j: Expr, size_b: Expr | None) -> None:
        """Two intervals meet: a value in both."""
        low_a, high_a = _ends(i, size_a)
        low_b, high_b = _ends(j, size_b)
        if low_a is None or high_a is None or low_b is None or high_b is None:
            self._not_linear(i, j)
            return
        self.at_least(high_a - low_b)
        self.at_least(high_b - low_a)

    def _analyzer(self) -> Analyzer:
        if self.cx is not None:
            return self.cx
        cx = self.cx = Analyzer()
        for v, (low, high) in self.ranges.items():
            cx.set_range(v, (low, high))
        for copy in (self.a, self.b):
            for axis in copy.axes:
                cx.bind(axis.var, Range(axis.min, axis.extent))
            for c in copy.conditions:
                cx.assume(c)
        return cx

    # ---- from normal forms to the system

    def lower(self, lin: Linear) -> tuple[dict[Any, int], int]:
        """The terms over variables of the system; quotients get variables of their own."""
        terms: dict[Any, int] = {}
        const = lin.const
        for atom, k in lin.terms.items():
            if isinstance(atom, Var):
                if atom not in self.bounded:
                    self.bounded.add(atom)
                    self.bound(atom, self.ranges.get(atom) or dtype_bounds(atom.dtype))
                terms[atom] = terms.get(atom, 0) + k
                continue
            kind = atom[0]
            e: Any = atom.expr
            if kind in (FloorDiv, FloorMod) and type(e.b) is IntImm and e.b.value > 0:
                q, inner, inner_const = self.quotient(atom)
                if kind is FloorDiv:
                    terms[q] = terms.get(q, 0) + k
                else:
                    const += k * inner_const
                    for v, c in inner.items():
                        terms[v] = terms.get(v, 0) + k * c
                    terms[q] = terms.get(q, 0) - k * e.b.value
                continue
            self.other(atom)
            terms[atom] = terms.get(atom, 0) + k
        return terms, const

    def quotient(self, atom: Atom) -> tuple[Any, dict[Any, int], int]:
        e: Any = atom.expr
        c = e.b.value
        key = ("//", atom[1], c)
        found = self.quotients.get(key)
        if found is None:
            inner = to_linear(e.a)
            assert inner is not None
            terms, const = self.lower(inner)
            q = ("q", len(self.quotients))
            self.quotients[key] = found = (q, terms, const)
            self.system.at_least({**terms, q: -c}, const)
            self.system.at_least({**{v: -k for v, k in terms.items()}, q: c}, c - 1 - const)
            low, high = self.interval(terms, const)
            self.bound(q, (None if low is None else low // c, None if high is None else high // c))
        return found

    def bound(self, v: Any, interval: Interval) -> None:
        low, high = self.intervals[v] = interval
        if low is not None:
            self.system.at_least({v: 1}, -low)
        if high is not None:
            self.system.at_least({v: -1}, high)

    def interval(self, terms: Mapping[Any, int], const: int) -> Interval:
        """Bounds of a sum of variables of the system."""
        low: int | None = const
        high: int | None = const
        for v, k in terms.items():
            lo, hi = self.intervals.get(v, (None, None))
            if k < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + k * lo
            high = None if high is None or hi is None else high + k * hi
        return low, high

    def other(self, atom: Atom) -> None:
        """An atom that the system only bounds; a solution will be checked."""
        if atom in self.bounded:
            return
        self.bounded.add(atom)
        kind = atom[0]
        e: Any = atom.expr
        if kind is Min or kind is Max:
            sign = 1 if kind is Min else -1
            for part in (e.a, e.b):
                lin = to_linear(part)
                if lin is not None:
                    self.at_least((lin - Linear({atom: 1})).scale(sign))
        self.bound(atom, self._analyzer().atom_interval(atom))

    def at_least(self, lin: Linear) -> None:
        terms, const = self.lower(lin)
        self.system.at_least(terms, const)

    def equal(self, lin: Linear) -> None:
        terms, const = self.lower(lin)
        self.system.equal(terms, const)

    # ---- the answer

    def answer(
        self, order: Callable[[System, Copy, Copy], None], asked: Sequence[Var], reduction: bool
    ) -> Answer:
        """Whether there is a solution in which the instances are in the order."""
        system = self.system.copy()
        order(system, self.a, self.b)
        if self.dropped is None and self.pairs is None:
            self.pairs = Pairs(self.a, self.b, self.ranges, self.intervals, self.extra)
        if self.pairs is None or not self.pairs.few:
            return self._solved(system, BUDGET, asked, reduction)
        answer = self._solved(system, SMALL_BUDGET, asked, reduction)
        if type(answer) is not Unknown:
            return answer
        # What the system does not decide, or not soon, a small box does.
        try:
            found = self.pairs.first(order)
        except (TooLarge, CannotEvaluate):
            return self._solved(system, BUDGET, asked, reduction) if answer.reason == LARGE else answer
        return None if found is None else self._checked(found, asked, reduction)

    def _solved(self, system: System, budget: int, asked: Sequence[Var], reduction: bool) -> Answer:
        try:
            found = system.solve(budget)
        except OutOfBudget:
            return Unknown(self.a.access, LARGE)
        return None if found is None else self._checked(found, asked, reduction)

    def _checked(self, found: Mapping[Any, int], asked: Sequence[Var], reduction: bool) -> Answer:
        if self.dropped is not None:
            return Unknown(self.dropped)
        values: dict[Var, int] = {v: n for v, n in found.items() if isinstance(v, Var)}
        for copy in (self.a, self.b):
            for axis in copy.axes:
                values.setdefault(axis.var, 0)
        self._fill_in(values)
        cell: tuple[int, ...] | None
        certain = True
        try:
            cell = self._cell(values)
            for copy in (self.a, self.b):
                for axis in copy.axes:
                    low, extent = evaluate(axis.min, values), evaluate(axis.extent, values)
                    if not low <= values[axis.var] < low + extent:
                        return Unknown(copy.access)
                for c in copy.conditions:
                    if not is_exact(c):
                        certain = False
                    elif not evaluate(c, values):
                        return Unknown(copy.access)
        except CannotEvaluate:
            return Unknown(self.a.access)
        if cell is None:
            return Unknown(self.a.access)
        a, b = self.a.access, self.b.access
        first = {x.var: values[x.var] for x in a.axes}
        second = {x.var: values[self.b.var(x.var)] for x in b.axes}
        own = {x.var for c in (self.a, self.b) for x in c.axes}
        parameters = {v: n for v, n in values.items() if v not in own and self._counts(v)}
        if [second.get(v, 0) for v in asked] < [first.get(v, 0) for v in asked]:
            a, b, first, second = b, a, second, first
        kind = "reduction" if reduction else _kind(a, b)
        return Witness(a.buffer, cell, first, second, kind, (a, b), parameters, certain)

    def _fill_in(self, values: dict[Var, int]) -> None:
        """Values for symbols that do not matter: they stand on both sides and have cancelled."""
        for copy in (self.a, self.b):
            exprs: list[Any] = list(copy.conditions)
            for start, size in copy.ranges or ():
                exprs += (start,) if size is None else (start, size)
            for axis in copy.axes:
                exprs += (axis.min, axis.extent)
            for e in exprs:
                for n in walk(e):
                    if type(n) is Var and n not in values and n.exact:
                        low, high = self.ranges.get(n) or dtype_bounds(n.dtype)
                        at = 0 if low is None else max(0, low)
                        values[n] = at if high is None else min(at, high)

    def _counts(self, v: Var) -> bool:
        """Whether a symbol's value matters to the reader: not where it is one of the loops around."""
        return v.name != "" and v not in self.ranges

    def _cell(self, values: Mapping[Var, int]) -> tuple[int, ...] | None:
        """The cell that both touch; None where a value of the solution does not satisfy the program."""
        assert self.a.ranges is not None and self.b.ranges is not None
        out = []
        for (i, size_a), (j, size_b) in zip(self.a.ranges, self.b.ranges, strict=True):
            at = _common(_touched(i, size_a, values), _touched(j, size_b, values))
            if at is None:
                return None
            out.append(at)
        return tuple(out)


def _kind(first: Access, second: Access) -> str:
    if first.is_write:
        return "WAW" if second.is_write else "RAW"
    return "WAR"


def _ends(start: Any, size: Expr | None) -> tuple[Linear | None, Linear | None]:
    if type(start) is Ramp:
        base, stride = to_linear(start.base), to_linear(start.stride)
        if base is None or stride is None or not stride.is_const:
            return None, None
        reach = stride.const * (start.lanes - 1)
        return base.shift(min(reach, 0)), base.shift(max(reach, 0))
    low = to_linear(getattr(start, "value", start) if type(start).__name__ == "Broadcast" else start)
    if size is None:
        return low, low
    length = to_linear(size)
    return low, None if low is None or length is None else (low + length).shift(-1)


def _touched(start: Any, size: Expr | None, values: Mapping[Var, int]) -> range:
    """The indices of a dimension that an access touches."""
    if type(start) is Ramp:
        base, stride = evaluate(start.base, values), evaluate(start.stride, values)
        return range(base, base + stride * start.lanes, stride) if stride else range(base, base + 1)
    low = evaluate(start, values)
    return range(low, low + (1 if size is None else evaluate(size, values)))


def _common(a: range, b: range) -> int | None:
    """The smallest number in both."""
    if a.step == b.step == 1:
        low = max(a.start, b.start)
        return low if low < min(a.stop, b.stop) else None
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    return min((x for x in few if x in many), default=None)


def _split_symbolic(cx: Analyzer, e: Linear) -> list[Linear]:
    """``n * q + r == 0`` is ``q == 0`` and ``r == 0`` where ``|r| < n``."""
    symbols: dict[AtomKey, int] = {}
    for atom in e.terms:
        powers = factors(atom)
        if len(powers) > 1 or next(iter(powers.values())) > 1:
            for x in powers:
                symbols[x] = symbols.get(x, 0) + 1
    for n in sorted(symbols, key=lambda x: -symbols[x]):
        q, r = take_out(e, Linear({n: 1}))
        size = Linear({n: 1}).shift(-1)
        if q.terms and not (r.is_const and r.const == 0 and not cx.nonnegative(size)):
            if cx.nonnegative(size - r) and cx.nonnegative(size + r):
                return [*_split_symbolic(cx, q), *([r] if r.terms or r.const else [])]
    return [e]


# ---- one access


def feasible(axes: Sequence[Axis], conditions: Sequence[Expr]) -> dict[Var, int] | None:
    """Values of the axes for which all conditions hold, checked by evaluating them; None where none were
    found, or where symbols, data or the budget leave it open."""
    nothing = Access(_NOWHERE, (), False, tuple(axes), tuple(conditions), _NO_STMT, None)
    question = Question(nothing, nothing, NO_RANGES, ())
    try:
        found = question.system.solve()
    except OutOfBudget:
        return None
    if found is None:
        return None
    values = {v: n for v, n in found.items() if isinstance(v, Var)}
    try:
        for axis in axes:
            values.setdefault(axis.var, 0)
            low, extent = evaluate(axis.min, values), evaluate(axis.extent, values)
            if not low <= values[axis.var] < low + extent:
                return None
        if not all(evaluate(c, values) for c in conditions):
            return None
    except CannotEvaluate:
        return None
    return values
