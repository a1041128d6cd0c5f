"""What a statement touches of one buffer: boxes over loop variables, and whether reads are covered.

A box is, for each dimension, a linear form over outer variables and an interval that is added to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tirscript.arith.linear import Linear, atom_mentions, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import GE, GT, LE, LT, And, BufferLoad, Call, Expr, Let, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore, For, IfThenElse, LetStmt, SeqStmt, Stmt, While

from .fold import const_of

Span = tuple[int, int]


class Side(NamedTuple):
    """One dimension: ``base + low`` to ``base + high``, ``base`` without a constant."""

    base: Linear
    low: int
    high: int


Box = tuple[Side, ...]


def loop_span(loop: For) -> Span | None:
    """The first and the last value of a loop that certainly runs, where they are constants."""
    low, extent = const_of(loop.min), const_of(loop.extent)
    if low is None or extent is None or extent < 1:
        return None
    return low, low + extent - 1


def point(indices: Iterable[Expr]) -> Box | None:
    """The box of one cell; None where an index is not linear."""
    sides = []
    for i in indices:
        form = to_linear(i) if "x" not in i.dtype else None
        if form is None:
            return None
        sides.append(Side(Linear(form.terms), form.const, form.const))
    return tuple(sides)


def spread(side: Side, var: Var, span: Span | None) -> Side | None:
    """All that the side covers while ``var`` runs; None where that is unknown."""
    k = side.base.coefficient(var)
    rest = {a: c for a, c in side.base.terms.items() if a is not var}
    if any(atom_mentions(a, (var,)) for a in rest):
        return None
    if k == 0:
        return side
    if span is None:
        return None
    ends = (k * span[0], k * span[1])
    return Side(Linear(rest), side.low + min(ends), side.high + max(ends))


def hull(box: Box, spans: Mapping[Var, Span | None]) -> list[Side | None]:
    """The box while all of the variables run, dimension by dimension."""
    out: list[Side | None] = []
    for side in box:
        found: Side | None = side
        for var, span in spans.items():
            if found is not None:
                found = spread(found, var, span)
        out.append(found)
    return out


class Covered:
    """Whether every read of a buffer in a statement is of cells that the statement wrote before."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.spans: dict[Var, Span | None] = {}  # loops around, inside the statement
        self.guards: list[Linear | None] = []  # forms that are at least 0 here; None for another condition
        self.sure: dict[int, Box] = {}  # boxes whose guards say no more than that the cell exists

    def check(self, s: Stmt) -> bool:
        return self._run(s, []) is not None

    def _run(self, s: Any, written: list[Box]) -> list[Box] | None:
        """The boxes that are surely written after ``s``; None if something was read that was not."""
        t = type(s)
        if t is SeqStmt:
            for x in s.seq:
                after = self._run(x, written)
                if after is None:
                    return None
                written = after
            return written
        if t is For:
            return self._loop(s, written)
        if t is BufferStore:
            if not self._reads(s, written):
                return None
            box = point(s.indices) if s.buffer is self.buffer and s.predicate is None else None
            if box is None:
                return written
            if self._exists(box):
                self.sure[id(box)] = box
            return [*written, box]
        if t is LetStmt:
            if not self._reads(s.value, written):
                return None
            self.spans[s.var] = None
            return self._known_outside(self._run(s.body, written), s.var)
        if t is IfThenElse or t is While:
            if not self._reads(s.condition, written):
                return None
            if t is IfThenElse and s.else_case is None:
                return self._guarded(s, written)
            branches = [s.then_case, s.else_case] if t is IfThenElse else [s.body]
            kept, self.guards = self.guards, [*self.guards, None]
            fine = all(b is None or self._run(b, list(written)) is not None for b in branches)
            self.guards = kept
            return written if fine else None
        below = s.children()
        if not any(isinstance(c, Stmt) for c in below):
            return written if self._reads(s, written) else None
        for c in below:
            if isinstance(c, Stmt):
                after = self._run(c, written)
                if after is None:
                    return None
                written = after
            elif not self._reads(c, written):
                return None
        return written

    def _guarded(self, s: IfThenElse, written: list[Box]) -> list[Box] | None:
        """Behind an ``if`` those boxes stay whose guards say only that the cell exists: a read of a cell
        that does not is no read."""
        kept = self.guards
        self.guards = [*kept, *_forms(s.condition)]
        inside = self._run(s.then_case, list(written))
        self.guards = kept
        if inside is None:
            return None
        known = {id(b) for b in written}
        return [*written, *[b for b in inside if id(b) not in known and id(b) in self.sure]]

    def _exists(self, box: Box) -> bool:
        """Whether the conditions around a store say no more than that its cell lies in the buffer."""
        ends = []
        for side, n in zip(box, self.buffer.shape, strict=True):
            form, size = side.base.shift(side.low), to_linear(n)
            ends.append(form)
            if size is not None:
                ends.append((size - form).shift(-1))
        return all(g is not None and any(_implied(g, e) for e in ends) for g in self.guards)

    def _known_outside(self, boxes: list[Box] | None, var: Var) -> list[Box] | None:
        if boxes is None:
            return None
        return [b for b in boxes if not any(side.base.mentions((var,)) for side in b)]

    def _loop(self, s: For, written: list[Box]) -> list[Box] | None:
        if not (self._reads(s.min, written) and self._reads(s.extent, written)):
            return None
        span = self.spans[s.loop_var] = loop_span(s)
        inside = self._run(s.body, written)
        if inside is None:
            return None
        known = {id(b) for b in written}
        out = list(written)
        if span is not None:
            for box in inside:
                if id(box) not in known:
                    grown = _filled(box, s.loop_var, span)
                    if grown is not None:
                        out.append(grown)
                        if id(box) in self.sure:
                            self.sure[id(grown)] = grown
        return out

    def _reads(self, e: Any, written: list[Box]) -> bool:
        for n in walk(e):
            if type(n) is Let:
                self.spans[n.var] = None
            if type(n) is BufferLoad and n.buffer is self.buffer and not self._covered(n, written):
                return False
        return True

    def _covered(self, load: BufferLoad, written: list[Box]) -> bool:
        at = point(load.indices)
        if at is None:
            return False
        return any(self._within(at, box) for box in written)

    def _within(self, at: Box, box: Box) -> bool:
        for mine, given in zip(at, box, strict=True):
            inner = {v: s for v, s in self.spans.items() if not given.base.mentions((v,))}
            (side,) = hull((mine,), inner)
            if side is None or side.base.key() != given.base.key():
                return False
            if side.low < given.low or side.high > given.high:
                return False
        return True


def _forms(condition: Expr) -> list[Linear | None]:
    """The conjuncts of a condition as forms that are at least 0; None for what is no comparison of sums."""
    t: Any = type(condition)
    if t is And:
        return [*_forms(condition.a), *_forms(condition.b)]  # type: ignore[attr-defined]
    if t is Call and condition.op == "likely":  # type: ignore[attr-defined]
        return _forms(condition.args[0])  # type: ignore[attr-defined]
    if t not in (LT, LE, GT, GE):
        return [None]
    a, b = to_linear(condition.a), to_linear(condition.b)  # type: ignore[attr-defined]
    if a is None or b is None:
        return [None]
    d = b - a if t in (LT, LE) else a - b
    return [d.shift(-1) if t in (LT, GT) else d]


def _implied(guard: Linear, end: Linear) -> bool:
    """Whether ``guard >= 0`` follows from ``end >= 0``: a multiple of it, and no stricter."""
    if (guard - end).is_const:
        return (guard - end).const >= 0
    # 2 <= i with i from 0 in steps is written so: k * guard + c is the end
    for atom, k in guard.terms.items():
        other = end.terms.get(atom, 0)
        if k and other and other % k == 0 and other // k > 1:
            d = guard.scale(other // k) - end
            return d.is_const and d.const >= 0
        return False
    return guard.const >= 0


def _filled(box: Box, var: Var, span: Span) -> Box | None:
    """The box while ``var`` runs, if it then has no gaps; None if that is unknown."""
    moving = [d for d, side in enumerate(box) if side.base.mentions((var,))]
    if not moving:
        return box
    if len(moving) > 1:
        return None
    side = box[moving[0]]
    k = side.base.coefficient(var)
    grown = spread(side, var, span)
    if grown is None or abs(k) > side.high - side.low + 1:
        return None
    return (*box[: moving[0]], grown, *box[moving[0] + 1 :])
