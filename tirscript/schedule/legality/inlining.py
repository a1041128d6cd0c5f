"""Index maps of blocks turned round: for a cell of a buffer, the values of the axes that store or read it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from tirscript.analysis.region import Axis, axis_ends
from tirscript.arith import Analyzer
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir.expr import Add, Cast, Expr, FloorDiv, FloorMod, IntImm, IterVar, Mul, Sub, Var, const_int
from tirscript.ir.visitor import substitute

from .cells import Digit, Form, index_of, same_form

Span = tuple[Linear, Linear]


class Inverse:
    """``axes`` are the values of the block's axes for the cell at ``cells`` (variables); ``box`` the cells
    that are met: all of them, each for one tuple of axes.  Where each cell is an axis, ``order`` are these
    axes, ``ranges`` their first and last values, and ``rest`` the other axes with their values."""

    __slots__ = ("_axes", "_box", "_cells", "order", "ranges", "rest")

    def __init__(
        self,
        cells: tuple[Var, ...],
        axes: dict[Var, Expr],
        box: list[Span],
        order: tuple[Var, ...] | None = None,
        ranges: tuple[tuple[int, int], ...] | None = None,
    ) -> None:
        self._cells = cells
        self._axes = axes
        self._box = box
        self.order = order
        self.ranges = ranges
        self.rest = axes

    @property
    def cells(self) -> tuple[Var, ...]:
        """A variable for each index."""
        order = self.order
        if order is not None and len(self._cells) != len(order):
            self._cells = tuple([Var(f"c{n}", v.dtype) for n, v in enumerate(order)])
        return self._cells

    @property
    def axes(self) -> dict[Var, Expr]:
        """The values of the axes for the cell at ``cells``."""
        order = self.order
        if order is not None and self._axes is self.rest:
            self._axes = {**dict(zip(order, self.cells, strict=True)), **self.rest}
        return self._axes

    @property
    def box(self) -> list[Span]:
        """The first and the last value of each index."""
        ranges = self.ranges
        if ranges is not None and len(self._box) != len(ranges):
            self._box = [(Linear({}, low), Linear({}, high)) for low, high in ranges]
        return self._box

    def at(self, indices: Sequence[Expr]) -> dict[Var, Expr]:
        """The axes for the cell at the given indices."""
        order = self.order
        if order is not None and (not self.rest or _still(self.rest)):
            out: dict[Var, Expr] = {}
            for v, i in zip(order, indices, strict=True):
                out[v] = i if i.dtype == v.dtype else Cast(v.dtype, i)
            for v, e in self.rest.items():
                out[v] = _cast(e, v.dtype)
            return out
        axes = self.axes
        env = {c: _cast(i, c.dtype) for c, i in zip(self.cells, indices, strict=True)}
        if _still(axes):
            return {v: _cast(substitute(e, env), v.dtype) for v, e in axes.items()}
        cx = Analyzer()
        return {v: _cast(cx.simplify(substitute(e, env)), v.dtype) for v, e in axes.items()}


def _still(axes: dict[Var, Expr]) -> bool:
    return all(type(e) is Var or type(e) is IntImm for e in axes.values())


def _cast(e: Expr, dtype: str) -> Expr:
    return e if e.dtype == dtype else Cast(dtype, e)


def inverse_of(indices: Sequence[Expr], iter_vars: Sequence[IterVar]) -> Inverse | None:
    """The inverse of an index map: sums of axes in mixed radix, and quotients and remainders of such sums;
    None where it is not seen to be one-to-one onto a box."""
    return _direct(indices, iter_vars) or _Solver(iter_vars).run(indices)


def _direct(indices: Sequence[Expr], iter_vars: Sequence[IterVar]) -> Inverse | None:
    """The quick answer: each index is an axis of its own, of constant range, and all others stand still."""
    doms = {iv.var: iv.dom for iv in iter_vars}
    ranges: list[tuple[int, int]] = []
    for v in indices:
        dom = doms.pop(v, None) if type(v) is Var else None
        if dom is None or type(dom.min) is not IntImm or type(dom.extent) is not IntImm:
            return None
        low = dom.min.value
        ranges.append((low, low + dom.extent.value - 1))
    rest: dict[Var, Expr] = {}
    for v, dom in doms.items():
        if dom is None or type(dom.extent) is not IntImm or dom.extent.value != 1:
            return None
        rest[v] = dom.min
    return Inverse((), rest, [], tuple(indices), tuple(ranges))  # type: ignore[arg-type]


class _Solver:
    def __init__(self, iter_vars: Sequence[IterVar]) -> None:
        self.spans: dict[Var, Span] = {}
        self.dtypes: dict[Var, str] = {}
        for iv in iter_vars:
            if iv.dom is None:
                continue
            low, high = axis_ends(Axis(iv.var, iv.dom.min, iv.dom.extent))
            if low is not None and high is not None:
                self.spans[iv.var] = (low, high)
                self.dtypes[iv.var] = iv.var.dtype
        self.axes: dict[Var, Expr] = {}
        self.doms = {iv.var: iv.dom for iv in iter_vars}

    def run(self, indices: Sequence[Expr]) -> Inverse | None:
        cells = tuple([Var(f"c{n}", i.dtype) for n, i in enumerate(indices)])
        box: list[Span | None] = [None] * len(cells)
        digits: list[tuple[int, Digit]] = []
        for n, (cell, e) in enumerate(zip(cells, indices, strict=True)):
            if "x" in e.dtype:
                return None
            found = index_of(e) if type(e) is FloorDiv or type(e) is FloorMod else None
            if isinstance(found, Digit):
                digits.append((n, found))
                continue
            lin = to_linear(e)
            if lin is None:
                return None
            box[n] = self.radix(lin, cell)
            if box[n] is None:
                return None
        while digits:
            base = digits[0][1].base
            group = [(n, d) for n, d in digits if same_form(d.base, base)]
            digits = [(n, d) for n, d in digits if not same_form(d.base, base)]
            if not self.joined(base, group, cells, box):
                return None
        for v, (low, high) in self.spans.items():
            if v not in self.axes:
                if (high - low).key() != 0:
                    return None
                dom = self.doms[v]
                assert dom is not None
                self.axes[v] = dom.min
        return Inverse(cells, self.axes, [b for b in box if b is not None])

    def radix(self, lin: Linear, cell: Expr) -> Span | None:
        """Take the axes of a sum from its value; the values of the sum are returned."""
        own = [(a, k) for a, k in lin.terms.items() if isinstance(a, Var) and a in self.spans]
        rest = Linear({a: k for a, k in lin.terms.items() if (a, k) not in own}, lin.const)
        if rest.mentions(self.spans) or any(v in self.axes for v, _ in own):
            return None
        own = [(a, k) for a, k in own if (self.spans[a][1] - self.spans[a][0]).key() != 0] or own[:1]
        for a, k in lin.terms.items():
            if isinstance(a, Var) and a in self.spans and (a, k) not in own:
                rest = rest.plus(self.spans[a][0], k)
        own.sort(key=lambda item: abs(item[1]))
        dtype = cell.dtype
        if not own:
            return rest, rest
        if len(own) == 1:
            v, k = own[0]
            low, high = self.spans[v]
            if abs(k) != 1:
                if (high - low).key() == 0:
                    self.axes[v] = self._low(v)
                    value = rest.plus(low, k)
                    return value, value
                return None
            there = _less(cell, rest, dtype) if k == 1 else _from(rest, cell, dtype)
            self.axes[v] = _cast(there, v.dtype)
            return (rest + low, rest + high) if k == 1 else (rest - high, rest - low)
        size = Linear({}, 1)
        offset = rest
        for n, (v, k) in enumerate(own):
            low, high = self.spans[v]
            if not size.is_const or size.const != k:
                return None
            extent = (high - low).shift(1)
            if not extent.is_const and n != len(own) - 1:
                return None
            offset = offset.plus(low, k)
            size = extent.scale(k)
        number = _less(cell, offset, dtype)
        for n, (v, k) in enumerate(own):
            low, high = self.spans[v]
            part: Expr = number if k == 1 else FloorDiv(number, const_int(k, dtype))
            if n != len(own) - 1:
                part = FloorMod(part, const_int((high - low).const + 1, dtype))
            if low.key() != 0:
                part = Add(part, low.written(dtype))
            self.axes[v] = _cast(part, v.dtype)
        return offset, (offset + size).shift(-1)

    def _low(self, v: Var) -> Expr:
        dom = self.doms[v]
        assert dom is not None
        return dom.min

    def joined(
        self, base: Form, group: list[tuple[int, Digit]], cells: tuple[Var, ...], box: list[Span | None]
    ) -> bool:
        """Quotients and remainders that together give back the number that they are taken of."""
        if any(type(d.low) is not int or not isinstance(d.high, int | float) for _, d in group):
            return False
        group.sort(key=lambda item: -item[1].low)
        number: Expr | None = None
        at: Any = group[0][1].high
        for n, d in group:
            if d.high != at:
                return False
            at = d.low
            part: Expr = cells[n] if d.low == 1 else Mul(cells[n], const_int(d.low, cells[n].dtype))
            number = part if number is None else Add(number, _cast(part, number.dtype))
        if at != 1 or number is None:
            return False
        span = self.radix(Linear({**base.terms}, base.const), number)  # type: ignore[dict-item]
        if span is None or not (span[0].is_const and span[1].is_const) or span[0].const != 0:
            return False
        count = span[1].const + 1
        total = 1
        for i, (n, d) in enumerate(group):
            if d.high == inf or i == 0:
                size = -(-count // d.low) if d.high == inf else min(d.high, count) // d.low
            else:
                size = d.high // d.low
            box[n] = (Linear({}), Linear({}, size - 1))
            total *= size
        return total == count


def _less(e: Expr, lin: Linear, dtype: str) -> Expr:
    """``e - lin``"""
    if lin.key() == 0:
        return e
    if lin.is_const and lin.const < 0:
        return Add(e, const_int(-lin.const, dtype))
    return Sub(e, lin.written(dtype))


def _from(lin: Linear, e: Expr, dtype: str) -> Expr:
    """``lin - e``"""
    return Sub(lin.written(dtype), e)


__all__ = ["Inverse", "inverse_of"]
