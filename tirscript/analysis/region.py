"""Boxes that an access touches while loops run: symbolic bounds by elimination of loop variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tirscript.arith.exact import TRANSPARENT
from tirscript.arith.linear import (
    Atom,
    AtomKey,
    ConstantRange,
    Linear,
    NotLinear,
    atom_mentions,
    default_range,
    factors,
    linear_range,
    make_atom,
    mentions,
    multiply,
    must_linear,
    same,
    to_linear,
)
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Not,
    Ramp,
    Range,
    Select,
    Var,
    const_int,
)
from tirscript.ir.stmt import For


@dataclass(slots=True, eq=False)
class Axis:
    """A variable that takes the values ``min .. min + extent - 1``; ``loop`` is None for a thread axis, a
    block axis, or the turns of a ``while``."""

    var: Var
    min: Expr
    extent: Expr
    loop: For | None = None


class _Unknown(Exception):
    """No bound is known."""


@dataclass(slots=True, eq=False)
class Dim:
    """One dimension of a box: the ends (inclusive) in normal form, or None where they are not known (yet);
    ``written`` is the range as it stands in the program, ``whole`` says that it is the buffer's extent."""

    low: Linear | None
    high: Linear | None
    written: Range | None = None
    whole: bool = False

    def ends(self) -> tuple[Linear | None, Linear | None]:
        """The ends, read from the range as it is written where they were not asked for before."""
        if self.low is None and self.written is not None:
            self.low = low = to_linear(self.written.min)
            size = self.written.extent
            if type(size) is IntImm and size.value == 1:
                self.high = low
                return low, low
            extent = to_linear(size)
            if low is not None and extent is not None:
                self.high = (low + extent).shift(-1)
        return self.low, self.high


Box = tuple[Dim, ...]


def _whole(extent: Expr) -> Dim:
    return Dim(None, None, Range(const_int(0, extent.dtype), extent), True)


def whole_box(buffer: Buffer) -> Box:
    """All of the buffer."""
    return tuple([_whole(n) for n in buffer.shape])


_FLIPPED: dict[type, type] = {LT: GE, GE: LT, GT: LE, LE: GT}


def nonnegative(condition: Expr) -> list[Linear]:
    """Linear forms that are >= 0 where the condition holds (integers; nothing for what is not linear)."""
    t: Any = type(condition)
    if t is Not:
        inner: Any = condition.a  # type: ignore[attr-defined]
        flipped = _FLIPPED.get(type(inner))
        return nonnegative(flipped(inner.a, inner.b)) if flipped is not None else []
    if t not in (LT, LE, GT, GE, EQ):
        return []
    a, b = to_linear(condition.a), to_linear(condition.b)  # type: ignore[attr-defined]
    if a is None or b is None:
        return []
    if t is LT:
        return [(b - a).shift(-1)]
    if t is LE:
        return [b - a]
    if t is GT:
        return [(a - b).shift(-1)]
    if t is GE:
        return [a - b]
    return [a - b, b - a]


class Bounder:
    """Bounds of linear forms over ``axes`` (outermost first) under conditions.

    ``keep`` axes are not eliminated from the bounds, but serve to compare them.  ``positive`` are
    variables that may be taken to be at least 0, because they are extents.
    """

    def __init__(
        self,
        axes: tuple[Axis, ...],
        conditions: tuple[Expr, ...] = (),
        keep: tuple[Axis, ...] = (),
        positive: Any = frozenset(),
    ) -> None:
        self.axes = axes
        self.keep = keep
        self.positive = positive
        self.depth: dict[Var, int] = {a.var: n for n, a in enumerate(axes)}
        self.ends: dict[Var, tuple[Linear | None, Linear | None]] = {}
        for a in axes:
            self.ends[a.var] = axis_ends(a)
        self.forms: list[Linear] = []
        for c in conditions:
            self.forms += nonnegative(c)
        self._tight: dict[Var, tuple[Linear | None, Linear | None]] = {}
        self._atoms: dict[Any, Linear] = {}  # plain bounds of atoms
        self._kept: Bounder | None = None  # over all axes, made on first use

    def bound(self, lin: Linear, high: bool, tight: bool = True) -> Linear:
        """A bound free of the axes' variables; raises _Unknown."""
        plain = self.eliminate(lin, high, tight, 0)
        if not tight or not self.forms:
            return plain
        for form in self.forms:
            if not form.mentions(self.depth):
                continue
            # form >= 0, so lin <= lin + form and lin >= lin - form.
            other = lin.plus(form, 1 if high else -1)
            if len(other.terms) > len(lin.terms):
                continue
            try:
                candidate = self.eliminate(other, high, False, 0)
            except _Unknown:
                continue
            if self.proves(plain - candidate if high else candidate - plain):
                plain = candidate
        return plain

    def eliminate(self, lin: Linear, high: bool, tight: bool, level: int) -> Linear:
        """Replace the variables of the axes from number ``level`` on by their ends."""
        while True:
            deepest = -1
            chosen: AtomKey | None = None
            for atom in lin.terms:
                if type(atom) is Var:
                    d = self.depth.get(atom, -1)
                    if d >= level and d > deepest:
                        deepest, chosen = d, atom
                elif atom_mentions(atom, self.depth) and self.reaches(atom, level):
                    chosen = atom
                    break
            if chosen is None:
                return lin
            k = lin.terms[chosen]
            up = high if k > 0 else not high
            if type(chosen) is Var:
                end = self.end(chosen, up, tight)
            elif tight:
                end = self.atom_bound(chosen, up, tight, level)  # type: ignore[arg-type]
            else:
                key = (chosen, up, level)
                known = self._atoms.get(key)
                if known is None:
                    known = self._atoms[key] = self.atom_bound(chosen, up, tight, level)  # type: ignore[arg-type]
                end = known
            terms = {a: c for a, c in lin.terms.items() if a is not chosen}
            lin = Linear(terms, lin.const).plus(end, k)

    def reaches(self, atom: AtomKey, level: int) -> bool:
        if level == 0:
            return True
        return atom_mentions(atom, [v for v, d in self.depth.items() if d >= level])

    def end(self, var: Var, high: bool, tight: bool) -> Linear:
        low_end, high_end = self.tight_ends(var) if tight else self.ends[var]
        end = high_end if high else low_end
        if end is None:
            raise _Unknown
        return end

    def tight_ends(self, var: Var) -> tuple[Linear | None, Linear | None]:
        found = self._tight.get(var)
        if found is not None:
            return found
        low, high = self.ends[var]
        self._tight[var] = (low, high)  # while it is being computed: the plain ends
        level = self.depth[var]
        for form in self.forms:
            c = form.terms.get(var, 0)
            if c == 0:
                continue
            rest = form.plus(Linear({var: 1}), -c)
            try:
                # c * var + rest >= 0 with the inner axes at their best.
                rest = self.eliminate(rest, True, False, level)
            except _Unknown:
                continue
            if rest.mentions(self.depth) and rest.mentions([v for v, d in self.depth.items() if d >= level]):
                continue
            if c > 0:
                candidate = (
                    rest.scale(-1) if c == 1 else Linear({}, -(rest.const // c)) if rest.is_const else None
                )
                if candidate is not None and (low is None or self.proves(candidate - low)):
                    low = candidate
            else:
                candidate = rest if c == -1 else Linear({}, rest.const // -c) if rest.is_const else None
                if candidate is not None and (high is None or self.proves(high - candidate)):
                    high = candidate
        self._tight[var] = (low, high)
        return low, high

    def atom_bound(self, atom: Atom, high: bool, tight: bool, level: int) -> Linear:
        kind = atom[0]
        e: Any = atom.expr

        def part(x: Expr, up: bool) -> Linear:
            return self.eliminate(must_linear(x), up, tight, level)

        if kind is FloorDiv or kind is FloorMod:
            number, divisor = atom.parts()
            if number is None or divisor is None:
                raise NotLinear
            if divisor.mentions(self.depth) or not self.is_positive(divisor):
                raise _Unknown
            if kind is FloorDiv:
                return floordiv(self.eliminate(number, high, tight, level), divisor, e.dtype)
            if divisor.is_const:
                low_a = self.eliminate(number, False, tight, level)
                high_a = self.eliminate(number, True, tight, level)
                if (
                    low_a.is_const
                    and high_a.is_const
                    and low_a.const // divisor.const == high_a.const // divisor.const
                ):
                    return Linear({}, (high_a if high else low_a).const % divisor.const)
            return divisor.shift(-1) if high else Linear({}, 0)
        if kind is Min or kind is Max:
            return self.extreme(part(e.a, high), part(e.b, high), kind is Max, e.dtype)
        if kind is Select or kind == "if_then_else":
            yes, no = (e.true_value, e.false_value) if kind is Select else (e.args[1], e.args[2])
            return self.extreme(part(yes, high), part(no, high), high, e.dtype)
        if kind == "*":
            # One factor over the axes, the others known to be at least 0.
            moving = [a for a in factors(atom) if atom_mentions(a, self.depth)]
            if len(moving) == 1 and factors(atom)[moving[0]] == 1:
                rest = Linear({}, 1)
                for a, power in factors(atom).items():
                    for _ in range(power if a is not moving[0] else 0):
                        if not self.is_nonnegative(Linear({a: 1})):
                            raise _Unknown
                        rest = multiply(rest, Linear({a: 1}))
                return multiply(self.eliminate(Linear({moving[0]: 1}), high, tight, level), rest)
        if kind is Cast and e.value.dtype == "bool":
            return Linear({}, 1 if high else 0)
        raise _Unknown

    def extreme(self, a: Linear, b: Linear, largest: bool, dtype: str) -> Linear:
        if self.proves(a - b):
            return a if largest else b
        if self.proves(b - a):
            return b if largest else a
        return self.unordered(a, b, largest, dtype)

    def both(self, a: Linear, b: Linear, dtype: str) -> tuple[Linear, Linear]:
        """The smaller and the larger of two forms."""
        if self.proves(a - b):
            return b, a
        if self.proves(b - a):
            return a, b
        return self.unordered(a, b, False, dtype), self.unordered(a, b, True, dtype)

    def unordered(self, a: Linear, b: Linear, largest: bool, dtype: str) -> Linear:
        """The extreme of two forms of which neither is known to be the larger."""
        cls = Max if largest else Min
        made = make_atom(cls, (frozenset((a.key(), b.key())),), cls(a.written(dtype), b.written(dtype)))
        return Linear({made: 1})

    def is_positive(self, lin: Linear) -> bool:
        if lin.is_const:
            return lin.const > 0
        # An extent that something is divided by is not 0.
        return len(lin.terms) == 1 and lin.const == 0 and self.is_nonnegative(lin)

    def is_nonnegative(self, lin: Linear) -> bool:
        if all(k > 0 and self._extent(a) for a, k in lin.terms.items()) and lin.const >= 0:
            return True
        return self.proves(lin)

    def _extent(self, atom: AtomKey) -> bool:
        return all(a in self.positive for a in factors(atom))

    def proves(self, lin: Linear) -> bool:
        """Whether ``lin >= 0`` for all values of the kept axes (and of the axes, where they occur)."""
        if lin.is_const:
            return lin.const >= 0
        keep = self._kept
        if keep is None and (self.keep or self.axes):
            keep = self._kept = Bounder((*self.keep, *self.axes), positive=self.positive)
        if keep is not None:
            try:
                lin = keep.eliminate(lin, False, False, 0)
            except _Unknown:
                return False
        low, _ = linear_range(lin, self._atom_range)
        return low is not None and low >= 0

    def _atom_range(self, atom: AtomKey) -> tuple[int | None, int | None]:
        if self._extent(atom):
            return 0, None
        return default_range(atom.dtype) if isinstance(atom, Var) else (None, None)


def axis_ends(axis: Axis) -> tuple[Linear | None, Linear | None]:
    """The first and the last value of an axis in normal form; None where it has none."""
    if type(axis.min) is IntImm and type(axis.extent) is IntImm:
        first = axis.min.value
        step = axis.loop.step if axis.loop is not None else None
        if step is None:
            return Linear({}, first), Linear({}, first + axis.extent.value - 1)
    low, extent = to_linear(axis.min), to_linear(axis.extent)
    if low is None:
        return None, None
    if extent is None:
        return low, None
    step = axis.loop.step if axis.loop is not None else None
    if type(step) is IntImm and step.value > 1 and extent.is_const:
        return low, low.shift((extent.const - 1) // step.value * step.value)
    return low, (low + extent).shift(-1)


def floordiv(a: Linear, divisor: Linear, dtype: str) -> Linear:
    """``a // divisor`` for a positive divisor, with the multiples taken out."""
    if divisor.is_const:
        c = divisor.const
        if c == 1:
            return a
        out = {x: k // c for x, k in a.terms.items() if k % c == 0}
        rest = {x: k for x, k in a.terms.items() if k % c}
        if not rest:
            return Linear(out, a.const // c)
        inside = Linear(rest, a.const % c)
        made = make_atom(FloorDiv, (inside.key(), c), FloorDiv(inside.written(dtype), const_int(c, dtype)))
        return Linear({**out, made: 1}, a.const // c)
    # n * x + r with 0 <= r < n is not decided here, but n * x - 1 is x - 1.
    (symbol, k), *more = divisor.terms.items()
    if not more and k == 1 and not divisor.const:
        quotient, rest_terms = Linear({}, 0), Linear({}, a.const)
        for x, c in a.terms.items():
            powers = factors(x)
            if symbol in powers:
                others = Linear({}, 1)
                for y, n in powers.items():
                    for _ in range(n - 1 if y == symbol else n):
                        others = multiply(others, Linear({y: 1}))
                quotient = quotient.plus(others, c)
            else:
                rest_terms = rest_terms.plus(Linear({x: 1}), c)
        if rest_terms.is_const and rest_terms.const in (0, -1):
            return quotient.shift(rest_terms.const)
    made = make_atom(FloorDiv, (a.key(), divisor.key()), FloorDiv(a.written(dtype), divisor.written(dtype)))
    return Linear({made: 1})


def depends_on_data(e: Expr) -> bool:
    """Whether a load or a call that is no operator stands in ``e``."""
    stack: list[Any] = [e]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is BufferLoad:
            return True
        if t is Call and n.op not in TRANSPARENT and n.op not in _BITS:
            return True
        stack.extend(n.children())
    return False


_BITS = frozenset(
    {"shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "popcount"}
    | {"clz", "abs"}
)


def _shape_vars(buffer: Buffer) -> frozenset[Var]:
    out: set[Var] = set()
    for n in buffer.shape:
        if type(n) is Var:
            out.add(n)
        elif type(n) is not IntImm:
            lin = to_linear(n)
            if lin is not None:
                for atom in lin.terms:
                    out |= {a for a in factors(atom) if isinstance(a, Var)}
    return frozenset(out)


def evaluate(
    buffer: Buffer,
    indices: tuple[Expr, ...] | None,
    region: tuple[Range, ...] | None,
    axes: tuple[Axis, ...],
    conditions: tuple[Expr, ...],
    keep: tuple[Axis, ...] = (),
) -> Box | None:
    """The box over the axes; None where they have no values."""
    for a in axes:
        if type(a.extent) is IntImm and a.extent.value <= 0:
            return None
    widened = {a.var for a in axes}
    bounder: Bounder | None = None
    out = []
    ranges: list[tuple[Expr, Expr | None]]
    if indices is not None:
        ranges = [(i, None) for i in indices]
    else:
        assert region is not None
        ranges = [(r.min, r.extent) for r in region]
    for (low, extent), size in zip(ranges, buffer.shape, strict=True):
        if extent is None and (type(low) is Var or type(low) is IntImm) and low not in widened:
            out.append(Dim(None, None, Range(low, const_int(1, low.dtype))))
            continue
        still = not (
            widened and (mentions(low, widened) or (extent is not None and mentions(extent, widened)))
        )
        lanes: Linear | None = None
        if type(low) is Broadcast:
            low = low.value
        elif type(low) is Ramp:
            stride = to_linear(low.stride)
            lanes = stride.scale(low.lanes - 1) if stride is not None and stride.is_const else None
            if lanes is None or low.base.dtype != low.stride.dtype:
                out.append(_whole(size))
                continue
            low = low.base
        if depends_on_data(low) or (extent is not None and depends_on_data(extent)):
            out.append(_whole(size))
            continue
        if still and lanes is None:
            out.append(Dim(None, None, Range(low, const_int(1, low.dtype) if extent is None else extent)))
            continue
        try:
            if bounder is None:
                bounder = Bounder(axes, conditions, keep, _shape_vars(buffer))
            first = must_linear(low)
            last = first if extent is None else (first + must_linear(extent)).shift(-1)
            if lanes is not None:
                first, last = (first, last + lanes) if lanes.const >= 0 else (first + lanes, last)
            out.append(Dim(bounder.bound(first, False), bounder.bound(last, True)))
        except (_Unknown, NotLinear, ConstantRange):
            out.append(_whole(size))
    return tuple(out)


class Hull:
    """The smallest box around boxes of one buffer."""

    def __init__(self, buffer: Buffer, box: Box, keep: tuple[Axis, ...] = ()) -> None:
        self.buffer = buffer
        self.box = box
        self.keep = keep
        self._compare: Bounder | None = None

    def join(self, box: Box) -> None:
        self.box = tuple(
            [
                a if a is b else self._join(a, b, n.dtype, n)
                for a, b, n in zip(self.box, box, self.buffer.shape, strict=True)
            ]
        )

    def _join(self, a: Dim, b: Dim, dtype: str, size: Expr) -> Dim:
        if a.whole or b.whole:
            return a if a.whole else b
        x, y = a.written, b.written
        if x is not None and y is not None:
            if same(x.min, y.min) and same(x.extent, y.extent):
                return a
        (low_a, high_a), (low_b, high_b) = a.ends(), b.ends()
        if low_a is None or low_b is None or high_a is None or high_b is None:
            return _whole(size)
        first = x.min.dtype if x is not None else dtype
        compare = self._compare
        if compare is None:
            compare = self._compare = Bounder((), (), self.keep, _shape_vars(self.buffer))
        try:
            if low_a is high_a and low_b is high_b:
                low, high = compare.both(low_a, low_b, first)
            else:
                low = compare.extreme(low_a, low_b, False, first)
                high = compare.extreme(high_a, high_b, True, first)
        except ConstantRange:
            return _whole(size)
        if low is low_a and high is high_a:
            return a
        if low is low_b and high is high_b:
            return b
        return Dim(low, high)

    def region(self) -> BufferRegion:
        return box_region(self.buffer, self.box)


def box_region(buffer: Buffer, box: Box) -> BufferRegion:
    """The box as a region of the program: ranges as they were written where they stand for themselves."""
    ranges = []
    for d, size in zip(box, buffer.shape, strict=True):
        if d.written is not None:
            ranges.append(d.written)
            continue
        assert d.low is not None and d.high is not None
        dtype = _dtype_of(d.low) or _dtype_of(d.high) or size.dtype
        extent = (d.high - d.low).shift(1)
        if extent.is_const and extent.const < 0:
            extent = Linear({}, 0)  # conditions leave nothing
        try:
            ranges.append(Range(d.low.written(dtype), extent.written(dtype)))
        except ConstantRange:
            ranges.append(Range(const_int(0, size.dtype), size))
    return BufferRegion(buffer, tuple(ranges))


def _dtype_of(lin: Linear) -> str | None:
    return next((e.dtype for e, _ in lin.items()), None)
