"""Which instances touch the same cell: dependences between iterations of loops, or instances of a block.

Two accesses conflict where their indices are equal, both happen and one writes.  That is a system of
linear equations and inequalities over the loops of the one and (renamed) of the other, which ``solve``
decides; quotients and remainders by constants are exact in it.  A solution is checked by evaluating what
stands in the program: then it is a ``Witness``.  What is not linear, or too large, is ``Unknown``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    key_of,
    mentions,
    to_linear,
)
from tirscript.arith.rules.div import take_out
from tirscript.diagnostics import deep_recursion
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import (
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
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block, Evaluate, For
from tirscript.ir.visitor import substitute

from .access import Access, accesses, accesses_of
from .reducer import reduced_buffers
from .region import Axis, axis_ends, nonnegative
from .solve import BUDGET, OutOfBudget, System

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
        shown = differ or list(self.first)

        def show(values: Mapping[Var, int]) -> str:
            text = ", ".join([f"{v.name}={values[v]}" for v in shown if v in values])
            return f"({text})" if "," in text else text

        return show(self.first), show(self.second)

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
_NO_RANGES: Mapping[Var, Interval] = {}
_NOWHERE = make_buffer("nowhere", ())
_NO_STMT = Evaluate(const_int(0))


# ---- pairs of accesses


def _distinct(found: Iterable[Access]) -> list[Access]:
    """One access of each index, buffer and surroundings; a write stands for a read of the same."""
    seen: dict[Any, int] = {}
    out: list[Access] = []
    for a in found:
        if a.indices is None:
            place: Any = (
                None if a.region is None else tuple([(key_of(r.min), key_of(r.extent)) for r in a.region])
            )
        else:
            place = tuple([key_of(i) for i in a.indices])
        key = (
            a.buffer,
            place,
            tuple([x.var for x in a.axes]),
            tuple([id(c) for c in a.conditions]),
            a.realizes[0].block.label if a.realizes else None,
            a.init,
        )
        at = seen.get(key)
        if at is None:
            seen[key] = len(out)
            out.append(a)
        elif a.is_write and not out[at].is_write:
            out[at] = a
    return out


def may_alias(a: Buffer, b: Buffer, aliased: frozenset[Buffer]) -> bool:
    """Whether two buffers may share memory."""
    return a is b or a.data is b.data or (a in aliased and b in aliased)


def _pairs(found: list[Access], aliased: frozenset[Buffer]) -> list[tuple[Access, Access]]:
    """Each unordered pair, with itself too, that may touch one cell and of which one writes."""
    writes = [a for a in found if a.is_write]
    if not writes:
        return []
    out = []
    by_pointer: dict[Any, list[Access]] = {}
    if not aliased:
        for a in found:
            by_pointer.setdefault(a.buffer.data, []).append(a)
    done: set[int] = set()
    for w in writes:
        for b in found if aliased else by_pointer[w.buffer.data]:
            if id(b) in done or not may_alias(w.buffer, b.buffer, aliased):
                continue
            out.append((w, b))
        done.add(id(w))
    return out


class _Copy:
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


class _Question:
    """The system for one pair of accesses; ``order`` constraints are added to copies of it."""

    def __init__(self, a: Access, b: Access, ranges: Mapping[Var, Interval], extra: Sequence[Expr]) -> None:
        self.a, self.b = _Copy(a, False), _Copy(b, True)
        self.ranges = ranges
        self.system = System()
        self.quotients: dict[Any, Any] = {}
        self.bounded: set[Any] = set()
        self.dropped: Access | None = None  # an access of which something could not be used
        self.possible = True
        cx: Analyzer | None = None
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
            if size_a is None and size_b is None and type(i) is not Ramp and type(j) is not Ramp:
                x, y = to_linear(i), to_linear(j)
                if x is None or y is None:
                    self._not_linear(i, j)
                    continue
                equations.append(x - y)
                continue
            self._overlap(i, size_a, j, size_b)
        for e in equations:
            if any(isinstance(t, Atom) and t[0] == "*" for t in e.terms):
                if cx is None:
                    cx = self._analyzer()
                for part in _split_symbolic(cx, e):
                    self.equal(part)
            else:
                self.equal(e)

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
        cx = Analyzer()
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
                    low, high = self.ranges.get(atom) or dtype_bounds(atom.dtype)
                    if low is not None:
                        self.system.at_least({atom: 1}, -low)
                    if high is not None:
                        self.system.at_least({atom: -1}, high)
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
        return found

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
        low, high = self._analyzer().atom_interval(atom)
        if low is not None:
            self.system.at_least({atom: 1}, -low)
        if high is not None:
            self.system.at_least({atom: -1}, high)

    def at_least(self, lin: Linear) -> None:
        terms, const = self.lower(lin)
        self.system.at_least(terms, const)

    def equal(self, lin: Linear) -> None:
        terms, const = self.lower(lin)
        self.system.equal(terms, const)

    # ---- the answer

    def answer(
        self, order: Callable[[System, _Copy, _Copy], None], asked: Sequence[Var], reduction: bool
    ) -> Answer:
        """Whether there is a solution in which the instances are in the order."""
        system = self.system.copy()
        order(system, self.a, self.b)
        try:
            found = system.solve(BUDGET)
        except OutOfBudget:
            return Unknown(self.a.access, "too large for the test")
        if found is None:
            return None
        return self._checked(found, asked, reduction)

    def _checked(self, found: Mapping[Any, int], asked: Sequence[Var], reduction: bool) -> Answer:
        if self.dropped is not None:
            return Unknown(self.dropped)
        values: dict[Var, int] = {v: n for v, n in found.items() if isinstance(v, Var)}
        for copy in (self.a, self.b):
            for axis in copy.axes:
                values.setdefault(axis.var, 0)
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

    def _counts(self, v: Var) -> bool:
        """Whether a symbol's value matters to the reader: not where it is one of the loops around."""
        return v.name != "" and v not in self.ranges

    def _cell(self, values: Mapping[Var, int]) -> tuple[int, ...] | None:
        """The cell that both touch; None where a value of the solution does not satisfy the program."""
        assert self.a.ranges is not None and self.b.ranges is not None
        out = []
        for (i, size_a), (j, size_b) in zip(self.a.ranges, self.b.ranges, strict=True):
            ends = [_interval(i, size_a, values), _interval(j, size_b, values)]
            low, high = max(e[0] for e in ends), min(e[1] for e in ends)
            if low > high:
                return None
            out.append(low)
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


def _interval(start: Any, size: Expr | None, values: Mapping[Var, int]) -> tuple[int, int]:
    if type(start) is Ramp:
        base, reach = evaluate(start.base, values), evaluate(start.stride, values) * (start.lanes - 1)
        return base + min(reach, 0), base + max(reach, 0)
    low = evaluate(start, values)
    return low, low if size is None else low + evaluate(size, values) - 1


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


# ---- questions about loops


def _is_reduction(a: Access, b: Access, moved: Iterable[Var]) -> bool:
    """Whether both belong to one update by a commutative reducer, in a block that leaves the order of the
    loops free."""
    if not a.realizes or not b.realizes or a.realizes[0] is not b.realizes[0] or a.buffer is not b.buffer:
        return False
    realize = a.realizes[0]
    if a.buffer not in reduced_buffers(realize.block):
        return False
    loops = set(moved)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind not in ("spatial", "reduce") and mentions(value, loops):
            return False
    return True


def _differs(loop: Var, sign: int) -> Callable[[System, _Copy, _Copy], None]:
    def order(system: System, a: _Copy, b: _Copy) -> None:
        # sign * (second - first) >= 1
        system.at_least({b.var(loop): sign, loop: -sign}, -1)

    return order


def loop_carried(
    loop: For,
    ranges: Mapping[Var, Interval] = _NO_RANGES,
    *,
    aliased: frozenset[Buffer] = frozenset(),
    conditions: Sequence[Expr] = (),
    found: Sequence[Access] | None = None,
) -> Answer:
    """Whether two different iterations of ``loop`` touch one cell, one of them writing; everything around
    the loop is fixed, loops inside are free.

    ``ranges`` bounds the variables around, ``conditions`` hold there, ``aliased`` buffers may be the same
    memory.  None: the iterations are independent.  A reduction is reported (kind ``reduction``) only
    where nothing worse is found.
    """
    with deep_recursion():
        if found is not None:
            seen = _distinct(found)
        else:
            memo = memo_of(loop)
            seen = memo.get("distinct") or memo.setdefault("distinct", _distinct(accesses_of(loop)))
        v = loop.loop_var
        milder: Answer = None
        for a, b in _pairs(seen, aliased):
            if _indexed_by(v, a, b):
                continue
            question = _Question(a, b, ranges, conditions)
            reduction = _is_reduction(a, b, (v,))
            for sign in (1,) if a is b else (1, -1):
                answer = question.answer(_differs(v, sign), (v,), reduction)
                if type(answer) is Witness and answer.kind != "reduction":
                    return answer
                if answer is not None and (milder is None or type(answer) is Witness):
                    milder = answer
        return milder


def _indexed_by(v: Var, a: Access, b: Access) -> bool:
    """The fast case: one dimension of both is the variable itself."""
    if a.buffer is not b.buffer or a.indices is None or b.indices is None:
        return False
    return any(i is v and j is v for i, j in zip(a.indices, b.indices, strict=True))


def reorder_legal(
    chain: Sequence[For],
    new_order: Sequence[For],
    ranges: Mapping[Var, Interval] = _NO_RANGES,
    *,
    aliased: frozenset[Buffer] = frozenset(),
    conditions: Sequence[Expr] = (),
) -> Answer:
    """Whether running the perfect nest ``chain`` (outermost first) in ``new_order`` turns a dependence
    round.  None: it does not.  Updates by one commutative reducer may change places."""
    with deep_recursion():
        old = [f.loop_var for f in chain]
        new = [f.loop_var for f in new_order]
        if old == new:
            return None
        unknown: Answer = None
        for a, b in _pairs(_distinct(accesses_of(chain[0])), aliased):
            if _is_reduction(a, b, old):
                continue
            question = _Question(a, b, ranges, conditions)
            for order in _reversals(old, new):
                answer = question.answer(order, old, False)
                if type(answer) is Witness:
                    return answer
                unknown = unknown or answer
        return unknown


def _reversals(old: list[Var], new: list[Var]) -> list[Callable[[System, _Copy, _Copy], None]]:
    """The ways in which the first instance comes earlier in the old order and later in the new one, and
    the other way round."""
    out = []
    for p in range(len(old)):
        for q in range(len(new)):
            if new[q] is old[p]:
                continue
            equal = {*old[:p], *new[:q]}
            if old[p] in equal or new[q] in equal:
                continue
            out += [_reversal(equal, old[p], new[q], sign) for sign in (1, -1)]
    return out


def _reversal(equal: set[Var], up: Var, down: Var, sign: int) -> Callable[[System, _Copy, _Copy], None]:
    def order(system: System, a: _Copy, b: _Copy) -> None:
        for v in equal:
            system.equal({b.var(v): 1, v: -1}, 0)
        system.at_least({b.var(up): sign, up: -sign}, -1)
        system.at_least({b.var(down): -sign, down: sign}, -1)

    return order


# ---- questions about instances of a block


def instance_conflicts(block: Block, aliased: frozenset[Buffer] = frozenset()) -> Answer:
    """Whether two instances of the block that differ in a spatial axis touch one cell, one writing.

    Everything around the block is fixed.  Certain conflicts in global memory are preferred: memory of
    threads may be another one for each instance.  Memoised on the block.
    """
    memo = memo_of(block)
    key = ("instance_conflicts", aliased)
    if key not in memo:
        with deep_recursion():
            memo[key] = _instance_conflicts(block, aliased)
    found: Answer = memo[key]
    return found


def block_accesses(block: Block) -> list[Access]:
    """The accesses of a block to what it does not allocate itself, its axes in front of its loops."""
    own = set(block.alloc_buffers)
    axes = tuple([Axis(iv.var, iv.dom.min, iv.dom.extent) for iv in block.iter_vars if iv.dom is not None])
    return [
        Access(
            a.buffer, a.indices, a.is_write, (*axes, *a.axes), a.conditions, a.stmt, a.node, a.init, a.region
        )
        for a in accesses(block)
        if a.buffer not in own
    ]


def _instance_conflicts(block: Block, aliased: frozenset[Buffer]) -> Answer:
    spatial = [iv.var for iv in block.iter_vars if iv.kind == "spatial"]
    if not spatial or _indexed_by_all(block, spatial, aliased):
        return None
    order = [iv.var for iv in block.iter_vars]
    unknown: Answer = None
    for a, b in _pairs(_distinct(block_accesses(block)), aliased):
        question: _Question | None = None
        for v in spatial:
            if _indexed_by(v, a, b):
                continue
            question = question or _Question(a, b, _NO_RANGES, ())
            for sign in (1,) if a is b else (1, -1):
                answer = question.answer(_differs(v, sign), order, False)
                if type(answer) is Witness and answer.buffer.scope == "global" and answer.certain:
                    return answer
                if type(answer) is Witness or unknown is None:
                    unknown = answer if type(unknown) is not Witness else unknown
    return unknown


def _indexed_by_all(block: Block, spatial: list[Var], aliased: frozenset[Buffer]) -> bool:
    """The fast case: every access of a written buffer has each spatial axis as an index of its own, the
    same one everywhere."""
    found = accesses(block)
    places: dict[Buffer, dict[Var, int]] = {}
    pointers: dict[Any, Buffer] = {}
    for a in found:
        if a.is_write:
            if a.indices is None or a.buffer in aliased:
                return False
            if pointers.setdefault(a.buffer.data, a.buffer) is not a.buffer:
                return False
            if a.buffer not in places:
                where = {i: n for n, i in enumerate(a.indices) if type(i) is Var}
                if not all(v in where for v in spatial):
                    return False
                places[a.buffer] = where
    for a in found:
        where_written = places.get(a.buffer)
        if where_written is None:
            if a.buffer.data in pointers:
                return False
            continue
        if a.indices is None:
            return False
        for v in spatial:
            if a.indices[where_written[v]] is not v:
                return False
    return True


__all__ = [
    "Answer", "Unknown", "Witness", "block_accesses", "instance_conflicts", "loop_carried", "may_alias",
    "reorder_legal",
]  # fmt: skip


# ---- one access


def feasible(axes: Sequence[Axis], conditions: Sequence[Expr]) -> dict[Var, int] | None:
    """Values of the axes for which all conditions hold, checked by evaluating them; None where none were
    found, or where symbols, data or the budget leave it open."""
    nothing = Access(_NOWHERE, (), False, tuple(axes), tuple(conditions), _NO_STMT, None)
    question = _Question(nothing, nothing, _NO_RANGES, ())
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
