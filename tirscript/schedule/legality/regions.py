"""Which instances of a block are needed for a part of its buffers: ranges of its axes.

What is asked for is a box of cells; what is answered may be larger, never smaller.  Bounds are kept in
normal form over the loops around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from tirscript.analysis.access import Access
from tirscript.analysis.region import Axis, Bounder, Box, Dim, Hull, evaluate, floordiv, whole_box
from tirscript.arith import Analyzer
from tirscript.arith.linear import AtomKey, ConstantRange, Linear, atom_mentions, make_atom, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, FloorDiv, FloorMod, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk

from .cells import Digit, Form, index_of, same_form

Span = tuple[Linear, Linear]  # the first and the last value


# ---- the cells


def cells_needed(
    found: Iterable[Access], depth: int, relaxed: Callable[[Buffer], tuple[Axis, ...]]
) -> dict[Buffer, Box]:
    """One box for each buffer: the hull of what the accesses touch while their loops from number ``depth`` on
    run, and those of ``relaxed``, all others standing still."""
    out: dict[Buffer, Hull] = {}
    for a in found:
        if a.indices is None and a.region is None:
            box: Box | None = whole_box(a.buffer)
        else:
            axes = (*relaxed(a.buffer), *a.axes[depth:])
            if a.indices is not None:
                plain = _plain_box(a.indices, axes)
                if plain is not None:
                    _add(out, a.buffer, plain)
                    continue
            # A condition that says no more than the domain of an axis makes no range smaller.
            conditions = a.conditions if a.guarded else ()
            box = evaluate(a.buffer, a.indices, a.region, axes, conditions)
        if box is not None:
            _add(out, a.buffer, box)
    return {b: h.box for b, h in out.items()}


def _add(out: dict[Buffer, Hull], buffer: Buffer, box: Box) -> None:
    have = out.get(buffer)
    if have is None:
        out[buffer] = Hull(buffer, box)
    else:
        have.join(box)


def _plain_box(indices: tuple[Expr, ...], axes: tuple[Axis, ...]) -> Box | None:
    """The box where each index is a variable or a constant, and the loops that run have constant ranges."""
    dims = []
    for e in indices:
        t = type(e)
        if t is IntImm:
            lin = Linear({}, e.value)  # type: ignore[attr-defined]
            dims.append(Dim(lin, lin))
            continue
        if t is not Var:
            return None
        axis = None
        for a in axes:
            if a.var is e:
                axis = a
        if axis is None:
            lin = Linear({e: 1})  # type: ignore[dict-item]
            dims.append(Dim(lin, lin))
            continue
        low, extent = axis.min, axis.extent
        if type(low) is not IntImm or type(extent) is not IntImm or extent.value < 1:
            return None
        if axis.loop is not None and axis.loop.step is not None:
            return None
        dims.append(Dim(Linear({}, low.value), Linear({}, low.value + extent.value - 1)))
    return tuple(dims)


class Prover:
    """Whether linear forms over the loops and axes around are at least 0; shapes of parameters are.  What has
    constant ranges is decided by intervals, the rest by the analyzer too."""

    __slots__ = ("_analyzer", "_bounder", "around", "func", "ranges")

    def __init__(self, around: tuple[Axis, ...], func: PrimFunc) -> None:
        self.around = around
        self.func = func
        self.ranges: dict[AtomKey, tuple[int, int]] = {}
        for a in around:
            low, extent = a.min, a.extent
            if type(low) is IntImm and type(extent) is IntImm:
                self.ranges[a.var] = (low.value, low.value + max(extent.value, 1) - 1)
        self._bounder: Bounder | None = None
        self._analyzer: Analyzer | None = None

    @property
    def bounder(self) -> Bounder:
        """Symbolic intervals of the ranges around."""
        found = self._bounder
        if found is None:
            found = self._bounder = Bounder((), (), self.around, shape_variables(self.func))
        return found

    def proves(self, lin: Linear) -> bool:
        """Whether ``lin >= 0`` always."""
        least = lin.const
        ranges = self.ranges
        for atom, k in lin.terms.items():
            span = ranges.get(atom)
            if span is None:
                return self.bounder.proves(lin) or self.analyzer.nonnegative(lin)
            least += k * (span[0] if k > 0 else span[1])
        return least >= 0

    @property
    def analyzer(self) -> Analyzer:
        """An analyzer that knows the ranges around."""
        found = self._analyzer
        if found is None:
            found = self._analyzer = Analyzer()
            for v in shape_variables(self.func):
                found.know(Linear({v: 1}))
            for a in self.around:
                found.bind(a.var, Range(a.min, a.extent))
        return found


def domain_of(dom: Range) -> Span | None:
    """The first and the last value of a domain."""
    low, extent = dom.min, dom.extent
    if type(low) is IntImm and type(extent) is IntImm:
        return Linear({}, low.value), Linear({}, low.value + extent.value - 1)
    first, size = to_linear(low), to_linear(extent)
    return None if first is None or size is None else (first, (first + size).shift(-1))


def shape_variables(func: PrimFunc) -> frozenset[Var]:
    """The variables in the shapes of a function's parameters."""
    out: set[Var] = set()
    for b in func.buffer_map.values():
        for e in b.shape:
            if type(e) is not IntImm:
                out.update([n for n in walk(e) if type(n) is Var])
    return frozenset(out)


# ---- the instances


class Solver:
    """From boxes of cells to ranges of axes."""

    def __init__(self, axes: Iterable[IterVar], prover: Prover) -> None:
        self.prover = prover
        self.axes = [iv for iv in axes if iv.dom is not None]
        self.domains: dict[Var, Span | None] = {}
        for iv in self.axes:
            assert iv.dom is not None
            self.domains[iv.var] = domain_of(iv.dom)

    def spans(self, found: Iterable[Access], boxes: Mapping[Buffer, Box]) -> dict[Var, Span]:
        """For each axis the values for which one of the accesses touches the boxes; axes that are left out
        may have any value."""
        out: dict[Var, Span] | None = None
        done: set[Any] = set()
        for a in found:
            box = boxes.get(a.buffer)
            if box is None:
                continue
            if a.indices is not None and not a.axes:
                key = (a.buffer, a.indices)
                if key in done:
                    continue
                done.add(key)
            one = self._of_access(a, box)
            if out is None:
                out = one
                continue
            for v in [v for v in out if v not in one]:
                del out[v]
            for v, (low, high) in out.items():
                other = one[v]
                out[v] = (self.extreme(low, other[0], False, v), self.extreme(high, other[1], True, v))
        return out or {}

    def extreme(self, a: Linear, b: Linear, largest: bool, v: Var) -> Linear:
        """The larger or smaller of two bounds."""
        d = a - b
        if d.is_const:
            return a if (d.const >= 0) is largest else b
        return self.prover.bounder.extreme(a, b, largest, v.dtype)

    def _of_access(self, a: Access, box: Box) -> dict[Var, Span]:
        if a.indices is None and a.region is None:
            return {}
        wanted: list[tuple[Linear, Linear, Linear, Linear]] = []  # index from, to; cells from, to
        digits: list[tuple[Digit, Linear, Linear]] = []
        mine = None
        inner = {x.var: x for x in a.axes}  # loops inside the block: what holds for one iteration says little
        if a.indices is None or inner:
            mine = evaluate(a.buffer, a.indices, a.region, a.axes, a.conditions if a.guarded else ())
            if mine is None:
                return {}
        for n, d in enumerate(box):
            if d.whole:
                continue
            low, high = d.ends()
            if low is None or high is None:
                continue
            if a.indices is not None:
                e = a.indices[n]
                t = type(e)
                if t is FloorDiv or t is FloorMod:
                    digit = index_of(e)
                    if isinstance(digit, Digit) and not (
                        inner and any(type(x) is Var and x in inner for x in walk(e))
                    ):
                        digits.append((digit, low, high))
                        continue
                if mine is None:
                    lin = Linear({e: 1}) if t is Var else to_linear(e)  # type: ignore[dict-item]
                    if lin is not None:
                        wanted.append((lin, lin, low, high))
                    continue
            assert mine is not None
            first, last = mine[n].ends()
            if first is not None and last is not None and not mine[n].whole:
                wanted.append((first, last, low, high))
        if digits:
            wanted += self._joined(digits)
        return self._solve(wanted)

    def _joined(
        self, digits: list[tuple[Digit, Linear, Linear]]
    ) -> list[tuple[Linear, Linear, Linear, Linear]]:
        """What quotients and remainders of one number say of that number."""
        out = []
        rest = list(digits)
        while rest:
            base: Form = rest[0][0].base
            group = [x for x in rest if same_form(x[0].base, base)]
            rest = [x for x in rest if not same_form(x[0].base, base)]
            if any(type(x[0].low) is not int or not isinstance(x[0].high, int | float) for x in group):
                continue
            group.sort(key=lambda x: -x[0].low)
            top = group[0][0]
            lin = Linear(_terms(base), base.const)
            if top.high != inf and not self._below(lin, top.high):
                continue
            known = Linear({})
            first = last = None
            at: Any = top.high
            for d, low, high in group:
                if d.high != at:
                    break
                first = known + low.scale(d.low)
                last = (known + high.scale(d.low)).shift(d.low - 1)
                if (high - low).key() != 0:
                    break
                known, at = first, d.low
            if first is not None and last is not None:
                out.append((lin, lin, first, last))
        return out

    def _below(self, lin: Linear, limit: int) -> bool:
        """Whether a sum of axes lies in ``0 .. limit - 1``."""
        ends = self._ends(lin, {})
        return ends is not None and all(e.is_const and 0 <= e.const < limit for e in ends)

    def _ends(self, lin: Linear, known: Mapping[Var, Span]) -> Span | None:
        """Bounds of a sum over axes, other variables standing for themselves."""
        low = high = Linear({}, lin.const)
        for atom, k in lin.terms.items():
            span = known.get(atom) or self.domains.get(atom) if isinstance(atom, Var) else None
            if span is None:
                if self._moves(atom):
                    return None
                span = (Linear({atom: 1}), Linear({atom: 1}))
            x, y = span if k > 0 else (span[1], span[0])
            low, high = low.plus(x, k), high.plus(y, k)
        return low, high

    def _moves(self, atom: AtomKey) -> bool:
        return atom_mentions(atom, self.domains)

    def _solve(self, wanted: list[tuple[Linear, Linear, Linear, Linear]]) -> dict[Var, Span]:
        known: dict[Var, Span] = {}

        def movers(lin: Linear) -> list[Var]:
            return [x for x in lin.terms if isinstance(x, Var) and x in self.domains]

        if len(wanted) > 1:
            wanted.sort(key=lambda w: len(movers(w[0])))
        for first, last, low, high in wanted:
            order = movers(first)
            if len(order) > 1:
                order.sort(key=lambda x: -abs(first.terms[x]))
            for v in order:
                k = first.terms[v]
                if last.terms.get(v, 0) != k:
                    continue
                # k * v + a is the first cell, k * v + b the last one.
                if len(first.terms) == 1 and first is last:
                    a = b = Linear({}, first.const)
                    rest = None
                    if k == 1 and not first.const and v not in known:
                        known[v] = (low, high)
                        continue
                else:
                    me = Linear({v: 1})
                    rest = first.plus(me, -k), last.plus(me, -k)
                    low_a, high_b = self._ends(rest[0], known), self._ends(rest[1], known)
                    if low_a is None or high_b is None:
                        continue
                    a, b = low_a[0], high_b[1]
                span = _quotient(low - b, high - a, k, v.dtype)
                if span is None:
                    continue
                have = known.get(v)
                known[v] = span if have is None else self._tighter(have, span)
                if rest is not None and len(order) > 1 and k > 1 and self._is_digit(rest[0], k):
                    number = low.shift(-rest[0].const)
                    if (low - high).key() == 0 and rest[0].key() == rest[1].key():
                        # The axes of smaller weight make up the remainder.
                        point = floordiv(number, Linear({}, k), v.dtype)
                        if have is None:
                            known[v] = (point, point)
                        first = last = rest[0].shift(-rest[0].const)
                        low = high = remainder(number, k, v.dtype)
        return known

    def _is_digit(self, rest: Linear, k: int) -> bool:
        """Whether what is left of a sum, its constant aside, lies in ``0 .. k - 1``."""
        return self._below(rest.shift(-rest.const), k)

    def _tighter(self, a: Span, b: Span) -> Span:
        """The part that two ranges share, as far as they can be compared."""
        proves = self.prover.proves
        low = b[0] if proves(b[0] - a[0]) else a[0]
        high = b[1] if proves(a[1] - b[1]) else a[1]
        return low, high


def _quotient(low: Linear, high: Linear, k: int, dtype: str) -> Span | None:
    """The integers ``v`` with ``low <= k * v <= high``, or a few more."""
    if k < 0:
        low, high, k = high.scale(-1), low.scale(-1), -k
    if k == 1:
        return low, high
    by = Linear({}, k)
    try:
        d = high - low
        if d.is_const and d.const == 0:
            point = floordiv(low, by, dtype)
            return point, point
        first = floordiv(low.shift(k - 1), by, dtype)
        last = floordiv(high, by, dtype)
        if d.is_const and not (last - first).is_const:
            last = first.shift(d.const // k)
        return first, last
    except ConstantRange:
        return None


def _terms(base: Form) -> dict[AtomKey, int]:
    return {**base.terms}  # type: ignore[dict-item]


def remainder(a: Linear, k: int, dtype: str) -> Linear:
    """``a % k``, multiples left out."""
    terms = {x: c % k for x, c in a.terms.items() if c % k}
    inside = Linear(terms, a.const % k)
    if not terms:
        return inside
    made = make_atom(FloorMod, (inside.key(), k), FloorMod(inside.written(dtype), const_int(k, dtype)))
    return Linear({made: 1})


__all__ = ["Prover", "Solver", "Span", "cells_needed"]
