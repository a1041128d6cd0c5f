"""Index maps over a box: where the elements go, and where they came from.

The inverse is read off while the map is shown to be injective: a sum in mixed radix gives its digits by
division and remainder, quotients and remainders of one number give the number back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir.expr import (
    EQ,
    FALSE,
    GE,
    LT,
    NE,
    Add,
    Cast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Mul,
    Or,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.index_map import IndexMap, error
from tirscript.ir.visitor import substitute

from .analyzer import Analyzer
from .evaluate import CannotEvaluate, evaluate
from .iter_box import box_of, digit_ends, fills
from .iter_map import Decoder, fuse
from .linear import Atom, AtomKey, Linear, atom_expr, atom_mentions, factors, mentions, multiply


def map_indices(m: IndexMap, values: Mapping[Var, Expr]) -> list[Expr]:
    """The final indices for values of the initial ones, simplified."""
    cx = Analyzer()
    return [cx.simplify(e) for e in substituted(m, values)]


def substituted(m: IndexMap, values: Mapping[Var, Expr]) -> list[Expr]:
    """The final indices for values of the initial ones, in the dtype of the values.

    Where the values have one integer dtype, the constants of the map take it too.
    """
    dtypes = {e.dtype for e in values.values()} or {v.dtype for v in m.initial_indices}
    if all(e.dtype == v.dtype for v, e in values.items()):
        return [substitute(e, values) for e in m.final_indices]
    if len(dtypes) == 1:
        (dtype,) = dtypes
        new = {v: v.replace(dtype=dtype) for v in m.initial_indices}
        out = [retyped(e, dtype, new) for e in m.final_indices]
        if all(e is not None for e in out):
            given: dict[Var, Expr] = {new[v]: e for v, e in values.items()}
            return [substitute(e, given) for e in out if e is not None]
    cast = {v: e if e.dtype == v.dtype else Cast(v.dtype, e) for v, e in values.items()}
    return [substitute(e, cast) for e in m.final_indices]


def retyped(e: Any, dtype: str, variables: Mapping[Var, Var]) -> Expr | None:
    """An integer expression of the variables in another dtype; None where it holds anything else."""
    t = type(e)
    if t is Var:
        return variables.get(e)
    if t is IntImm:
        if dtype == "int32" and not -(1 << 31) <= e.value < 1 << 31:
            return None
        return e if e.dtype == "bool" else const_int(e.value, dtype)
    if t in _PLAIN:
        a, b = retyped(e.a, dtype, variables), retyped(e.b, dtype, variables)
        return None if a is None or b is None else t(a, b)
    return None


_PLAIN = frozenset({Add, Sub, Mul, FloorDiv, FloorMod})


def bound_box(cx: Analyzer, ranges: Mapping[Var, Range]) -> dict[Var, Range]:
    """Tell the analyzer the ranges; those of more than one iteration are returned."""
    moving = {}
    for v, r in ranges.items():
        if type(r.extent) is IntImm and r.extent.value == 1:
            cx.bind(v, r.min)
        else:
            cx.bind(v, r)
            moving[v] = r
    return moving


def assume_elements(cx: Analyzer, ranges: Mapping[Var, Range]) -> None:
    """Tell the analyzer that no range is empty."""
    for r in ranges.values():
        extent = cx.linear(r.extent)
        if extent is not None and not extent.is_const:
            cx.know(extent.shift(-1))


def sides(m: IndexMap, ranges: Mapping[Var, Range]) -> list[tuple[Linear, Linear] | None]:
    """The least and the greatest value of each final index; None where it is not known."""
    cx = Analyzer()
    moving = bound_box(cx, ranges)
    out: list[tuple[Linear, Linear] | None] = []
    for e in m.final_indices:
        form = cx.linear(e)
        low: Linear | None = None
        high: Linear | None = None
        if form is not None:
            mins, extents = box_of(cx, [form], moving)
            if mins[0] is not None and extents[0] is not None:
                low, high = mins[0], (mins[0] + extents[0]).shift(-1)
        if low is None or high is None:
            least, most = cx.const_bounds(e)
            if least is None or most is None or most - least > 1 << 40:
                out.append(None)
                continue
            low, high = Linear({}, least), Linear({}, most)
        out.append((low, high))
    return out


def digits_shape(m: IndexMap, ranges: Mapping[Var, Range]) -> list[Expr] | None:
    """The quick answer for a map whose indices are digits of the initial ones (``i``, ``i // 4``, ``i % 4``,
    ``i // 4 % 8``), counted from 0 over constant extents: its shape where it is bijective, else None."""
    found: dict[Var, list[tuple[int, int, int]]] = {v: [] for v in ranges}
    for n, e in enumerate(m.final_indices):
        digit = _digit(e)
        if digit is None or digit[0] not in found:
            return None
        found[digit[0]].append((digit[1], digit[2], n))
    shape: list[Any] = [None] * len(m.final_indices)
    for v, r in ranges.items():
        low, extent = r.min, r.extent
        if type(low) is not IntImm or low.value != 0:
            return None
        digits = sorted(found[v])
        if len(digits) == 1 and digits[0][:2] == (1, 0):
            shape[digits[0][2]] = extent
            continue
        if type(extent) is not IntImm:
            return None
        size = extent.value
        at = 1
        for start, end, n in digits:
            end = end or size
            if start != at or end % start or size % start or end > size:
                return None
            shape[n] = const_int(end // start, extent.dtype)
            at = end
        if at != size:
            return None
    return shape


def digits_inverse(m: IndexMap) -> IndexMap:
    """The inverse of a map for which ``digits_shape`` gives a shape."""
    outputs = output_vars(m)
    sums: dict[Var, list[tuple[int, Var]]] = {v: [] for v in m.initial_indices}
    for e, y in zip(m.final_indices, outputs, strict=True):
        digit = _digit(e)
        assert digit is not None
        sums[digit[0]].append((digit[1], y))
    final: list[Expr] = []
    for v, parts in sums.items():
        total: Expr | None = None
        for start, y in sorted(parts, key=lambda part: -part[0]):
            term: Expr = y if start == 1 else Mul(y, const_int(start, y.dtype))
            total = term if total is None else Add(total, term)
        final.append(const_int(0, v.dtype) if total is None else total)
    return IndexMap(outputs, final)


def _digit(e: Any) -> tuple[Var, int, int] | None:
    """The variable, and where its digits start and end; 0 for no end."""
    if type(e) is Var:
        return e, 1, 0
    width = 0
    if type(e) is FloorMod:
        if type(e.b) is not IntImm or e.b.value <= 0:
            return None
        width = e.b.value
        e = e.a
    start = 1
    if type(e) is FloorDiv:
        if type(e.b) is not IntImm or e.b.value <= 0:
            return None
        start = e.b.value
        e = e.a
    return (e, start, start * width) if type(e) is Var else None


class Image:
    """Where all elements of a constant box go, found by trying."""

    __slots__ = ("bijective", "extents", "injective", "mins")

    def __init__(self, points: list[tuple[int, ...]], dims: int) -> None:
        self.mins = [min(p[n] for p in points) for n in range(dims)]
        self.extents = [max(p[n] for p in points) + 1 for n in range(dims)]
        self.injective = len(set(points)) == len(points)
        self.bijective = (
            self.injective and math.prod(self.extents) == len(points) and min(self.mins, default=0) >= 0
        )


def image(m: IndexMap, ranges: Mapping[Var, Range]) -> Image | None:
    """All elements tried; None where they are too many, or not constant."""
    count = 1
    for r in ranges.values():
        if type(r.min) is not IntImm or type(r.extent) is not IntImm:
            return None
        count *= r.extent.value
    if not 0 < count <= _TRIED:
        return None
    try:
        points = []
        for at in itertools.product(*[_interval(r) for r in ranges.values()]):
            values = dict(zip(ranges, at, strict=True))
            points.append(tuple([evaluate(e, values) for e in m.final_indices]))
    except CannotEvaluate:
        return None
    return Image(points, len(m.final_indices))


_TRIED = 1 << 14


def _interval(r: Range) -> range:
    low: Any = r.min
    extent: Any = r.extent
    return range(low.value, low.value + extent.value)


def map_shape(m: IndexMap, ranges: Mapping[Var, Range]) -> list[Expr]:
    """The extents of the final indices, counted from 0."""
    try:
        return _shape(m, ranges)
    except TirscriptError:
        tried = image(m, ranges)
        if tried is None or min(tried.mins, default=0) < 0:
            raise
        if any(n > dt.bounds(e.dtype)[1] for n, e in zip(tried.extents, m.final_indices, strict=True)):
            raise
        return [const_int(n, e.dtype) for n, e in zip(tried.extents, m.final_indices, strict=True)]


def _shape(m: IndexMap, ranges: Mapping[Var, Range]) -> list[Expr]:
    out: list[Expr] = []
    cx = Analyzer()
    for e, ends in zip(m.final_indices, sides(m, ranges), strict=True):
        if ends is None:
            raise error(f"how far the index {e} goes is not known")
        low, high = ends
        if low.const < 0 or not cx.nonnegative(low):
            for v, r in ranges.items():
                cx.bind(v, r)
            if not cx.nonnegative(low):
                raise error(f"the index {e} may be negative")
        size = high.shift(1)
        if size.is_const and size.const > dt.bounds(e.dtype)[1]:
            raise error(f"the index {e} goes up to {high.const}, too far for {e.dtype}")
        out.append(cx.simplify(size.to_expr(e.dtype)))
    return out


def inverse(m: IndexMap, ranges: Mapping[Var, Range]) -> tuple[IndexMap, Expr] | None:
    """The inverse over the mapped shape, and the condition that an element of it came from nowhere; None
    where the map is not seen to be injective."""
    outputs = output_vars(m)
    if m.inverse_index_map is not None:
        back = substituted(m.inverse_index_map, _zip(m.inverse_index_map, outputs))
        found: Sequence[Expr] | None = back
    else:
        found = solve(m, ranges, outputs)
    if found is None:
        return None
    cx = Analyzer()
    assume_elements(cx, ranges)
    shape = map_shape(m, ranges)
    for y, n in zip(outputs, shape, strict=True):
        cx.bind(y, Range(const_int(0, y.dtype), n if n.dtype == y.dtype else Cast(y.dtype, n)))
    found = [cx.simplify(x) for x in found]
    whole = m.inverse_index_map is None and fills(cx, [cx.linear(n) for n in shape], ranges)
    return IndexMap(outputs, found), FALSE if whole else padding(cx, m, ranges, outputs, found)


def _zip(m: IndexMap, values: Sequence[Expr]) -> dict[Var, Expr]:
    if len(m.initial_indices) != len(values):
        raise error(f"the inverse takes {len(m.initial_indices)} indices, the map gives {len(values)}")
    return dict(zip(m.initial_indices, values, strict=True))


def output_vars(m: IndexMap) -> list[Var]:
    """Variables for the final indices: ``axis0``, or the name of an initial index that is passed on."""
    own = set(m.initial_indices)
    names = [v.name for v in own]
    taken: set[str] = set()
    out = []
    for n, e in enumerate(m.final_indices):
        name = e.name if type(e) is Var and e in own else f"axis{n}"
        while name in taken or (name in names and not (type(e) is Var and e in own)):
            name += "_"
        taken.add(name)
        out.append(Var(name, e.dtype))
    return out


def padding(
    cx: Analyzer, m: IndexMap, ranges: Mapping[Var, Range], outputs: Sequence[Var], found: Sequence[Expr]
) -> Expr:
    """Where an element came from nowhere: what would be its origin lies outside, or goes elsewhere."""
    parts: list[Expr] = []
    origin = dict(zip(m.initial_indices, found, strict=True))
    for v, r in ranges.items():
        x = origin[v]
        low = _as(r.min, x.dtype)
        end = _as(r.extent, x.dtype)
        if not (type(low) is IntImm and low.value == 0):
            end = Add(low, end)
        if not cx.can_prove(GE(x, low)):
            parts.append(cx.simplify(LT(x, low)))
        if not cx.can_prove(LT(x, end)):
            parts.append(GE(x, cx.simplify(end)))
    for y, e in zip(outputs, substituted(m, origin), strict=True):
        again = cx.simplify(_as(e, y.dtype))
        if again is not y and not cx.can_prove(EQ(again, y)):
            parts.append(NE(again, y))
    out: Expr = FALSE
    for p in parts:
        out = p if out is FALSE else Or(out, p)
    return out


def _as(e: Expr, dtype: str) -> Expr:
    if e.dtype == dtype:
        return e
    return const_int(e.value, dtype) if type(e) is IntImm else Cast(dtype, e)


def solve(m: IndexMap, ranges: Mapping[Var, Range], outputs: Sequence[Expr]) -> list[Expr] | None:
    """The initial indices as expressions of the final ones; None where they are not determined."""
    found = _solved(m.final_indices, ranges, outputs)
    if found is None and (fused := fuse(m.final_indices, ranges)) is not None:
        # The number that several indices make together may be determined where each alone is not seen to be.
        digits, box = fused
        whole = _solved([substitute(e, digits) for e in m.final_indices], box, outputs)
        if whole is not None:
            known = dict(zip(box, whole, strict=True))
            found = [substitute(digits[v], known) if v in digits else known[v] for v in ranges]
    return found


def _solved(
    finals: Sequence[Expr], ranges: Mapping[Var, Range], outputs: Sequence[Expr]
) -> list[Expr] | None:
    cx = Analyzer()
    moving = bound_box(cx, ranges)
    forms = [cx.linear(e) for e in finals]
    sums = [f for f in forms if f is not None]
    if len(sums) != len(forms):
        return None
    solver = _Solver(cx, moving, [f.shift(0) for f in sums], outputs)
    try:
        if not solver.decodes(solver.sums):
            return None
    except _Stuck:
        return None
    out: list[Expr] = []
    for v, r in ranges.items():
        passed = next((y for e, y in zip(finals, outputs, strict=True) if e is v), None)
        x = passed if passed is not None else solver.values.get(v) if v in moving else r.min
        if x is None:
            return None
        out.append(_as(x, v.dtype))
    return out


class _Stuck(Exception):
    """A digit is known, but not how to write it."""


class _Solver(Decoder):
    """What the loops are when the values are ``outputs``."""

    def __init__(
        self, cx: Analyzer, ranges: Mapping[Var, Range], sums: Sequence[Linear], outputs: Sequence[Expr]
    ) -> None:
        super().__init__(cx, ranges)
        self.sums = sums
        self.equals: dict[int, Expr] = {id(s): y for s, y in zip(sums, outputs, strict=True)}
        self.values: dict[AtomKey, Expr] = {}

    def solved(self, value: Linear, terms: Sequence[tuple[AtomKey, Linear]]) -> None:
        rest = self.equals[id(value)]
        dtype = rest.dtype
        ours = {a for a, _ in terms}
        offset = Linear({}, value.const)
        for atom, k in value.terms.items():
            parts = factors(atom)
            if any(a in ours for a in parts):
                continue
            if atom_mentions(atom, self.wanted):
                rest = Sub(rest, Mul(self._value(atom, dtype), const_int(k, dtype)))
            else:
                offset = offset.plus(Linear({atom: 1}), k)
        sizes: list[Linear] = []
        flipped: list[Linear | None] = []
        for atom, weight in terms:
            size = self.size(weight)
            assert size is not None
            down = size is not weight
            sizes.append(size)
            if len(terms) == 1:
                flipped.append(None)
                continue
            ends = digit_ends(self.cx, atom)
            if ends is None:
                raise _Stuck
            start = ends[1] if down else ends[0]
            offset = offset + multiply(weight, start)
            flipped.append(start)
        if offset.terms or offset.const:
            rest = Sub(rest, offset.to_expr(dtype))
        if len(terms) == 1:
            (atom, weight) = terms[0]
            if sizes[0] is not weight:
                rest = Sub(const_int(0, dtype), rest)
            self.values[atom] = _quotient(rest, sizes[0], dtype)
            return
        for n in range(len(terms) - 1, -1, -1):
            atom, weight = terms[n]
            q = _quotient(rest, sizes[n], dtype)
            rest = FloorMod(rest, sizes[n].to_expr(dtype))
            origin = flipped[n]
            assert origin is not None
            if sizes[n] is not weight:
                q = Sub(origin.to_expr(dtype), q)
            elif origin.terms or origin.const:
                q = Add(q, origin.to_expr(dtype))
            self.values[atom] = q

    def _value(self, atom: AtomKey, dtype: str) -> Expr:
        """The value of an atom whose variables are known, or which is known itself."""
        found = self.values.get(atom)
        if found is None:
            parts = factors(atom)
            if len(parts) == 1 and next(iter(parts)) is atom:
                e = atom_expr(atom)
                below = {v for v in self.wanted if mentions(e, (v,))}
                if isinstance(atom, Var) or not all(v in self.values for v in below):
                    raise _Stuck
                return _as(substitute(e, {v: _as(self.values[v], v.dtype) for v in below}), dtype)
            for a, power in parts.items():
                value = self._value(a, dtype) if atom_mentions(a, self.wanted) else _as(atom_expr(a), dtype)
                for _ in range(power):
                    found = value if found is None else Mul(found, value)
        assert found is not None
        return _as(found, dtype)

    def joined(self, whole: AtomKey | Linear, high: AtomKey, low: AtomKey, factor: Expr) -> None:
        try:
            a, b = self._value(high, factor.dtype), self._value(low, factor.dtype)
        except _Stuck:
            return
        value = Add(Mul(a, factor), b)
        if isinstance(whole, Linear):
            self.equals[id(whole)] = value
        else:
            self.values.setdefault(whole, value)

    def narrowed(self, part: Atom, whole: Atom, factor: Expr) -> None:
        self.values.setdefault(part, FloorMod(self._value(whole, factor.dtype), factor))

    def combined(self, made: Linear, value: Linear, factor: int, k: int, low: Linear) -> None:
        total = self.equals.get(id(value))
        if total is None:
            (atom,) = value.terms
            total = self.values[atom]
        dtype = total.dtype
        total = Mul(total, const_int(factor, dtype))
        for atom, n in low.terms.items():
            part = (
                self._value(atom, dtype) if atom_mentions(atom, self.wanted) else _as(atom_expr(atom), dtype)
            )
            total = Add(total, Mul(part, const_int(n * k, dtype)))
        self.equals[id(made)] = Add(total, const_int(low.const * k, dtype)) if low.const else total


def _quotient(e: Expr, by: Linear, dtype: str) -> Expr:
    if by.is_const and by.const == 1:
        return e
    return FloorDiv(e, by.to_expr(dtype))


def equivalent(a: IndexMap, b: IndexMap) -> bool:
    """Whether the final indices are equal for all initial ones."""
    cx = Analyzer()
    values: dict[Var, Expr] = dict(zip(b.initial_indices, a.initial_indices, strict=True))
    return all(
        cx.can_prove(EQ(x, _as(y, x.dtype)))
        for x, y in zip(a.final_indices, substituted(b, values), strict=True)
    )


def map_array(m: IndexMap, array: Any) -> Any:
    """A NumPy array in the new layout."""
    import numpy as np

    source = array if isinstance(array, np.ndarray) else np.asarray(array)
    if source.ndim != len(m.initial_indices):
        raise error(f"the index map takes {len(m.initial_indices)} indices, the array has {source.ndim}")
    ranges = {
        v: Range(const_int(0, v.dtype), const_int(n, v.dtype))
        for v, n in zip(m.initial_indices, source.shape, strict=True)
    }
    shape = map_shape(m, ranges)
    if not all(isinstance(n, IntImm) for n in shape):
        raise error("the map uses variables that have no value")
    out = np.zeros([getattr(n, "value") for n in shape], source.dtype)  # noqa: B009
    try:
        for at in np.ndindex(*source.shape):
            values = dict(zip(m.initial_indices, at, strict=True))
            out[tuple([evaluate(e, values) for e in m.final_indices])] = source[at]
    except CannotEvaluate:
        raise error("an index of the map cannot be computed") from None
    return out
