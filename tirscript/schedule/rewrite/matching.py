"""Is a statement what a description says, with other names, at other places of other buffers?

Both are walked side by side.  Axes stand for what is bound to them and loops of one iteration for their
value, so that only loops, stores and expressions are compared.  A buffer of the description is a part of
one of the program: the last dimensions, from a place that the loops inside do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tirscript.arith.analyzer import Analyzer
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    LE,
    LT,
    TRUE,
    Add,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    IntImm,
    Let,
    Range,
    StringImm,
    Var,
    const_int,
)
from tirscript.ir.stmt import (
    Block,
    BlockRealize,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)

from ..errors import describe
from .substitute import put


class Differs(Exception):
    """What differs, and the nodes of program and description where it does."""

    def __init__(self, what: str, here: Any, there: Any) -> None:
        super().__init__(what)
        self.what = what
        self.here = here
        self.there = there


class Place:
    """Which buffer a buffer of the description is, and where in it: one start for each dimension."""

    __slots__ = ("buffer", "dtypes", "starts", "written")

    def __init__(self, buffer: Buffer, starts: list[Linear], dtypes: list[str]) -> None:
        self.buffer = buffer
        self.starts = starts
        self.dtypes = dtypes
        self.written = False


class Matcher:
    """The comparison.  ``values`` are what axes of the program stand for; ``analyzer`` knows the ranges of
    what stands around."""

    def __init__(
        self, values: Mapping[Var, Expr], analyzer: Callable[[], Analyzer], keeps: Block | None = None
    ) -> None:
        self.keeps = keeps  # the block whose init stays where the description has none
        self.values: dict[Var, Expr] = dict(values)
        self.theirs: dict[Var, Expr] = {}  # variables of the description in terms of the program's
        self.places: dict[Buffer, Place] = {}
        self.local: dict[Buffer, Buffer] = {}
        self.inner: set[Var] = set()
        self.ranges: list[tuple[Var, Range]] = []
        self._make = analyzer
        self._cx: Analyzer | None = None
        self._known = 0
        self.init: tuple[Any, Any] | None = None  # an init of both

    @property
    def cx(self) -> Analyzer:
        if self._cx is None:
            self._cx = self._make()
        for v, r in self.ranges[self._known :]:
            self._cx.bind(v, r)
        self._known = len(self.ranges)
        return self._cx

    # ---- statements

    def statement(self, a: Any, b: Any) -> None:
        a, mine = self._enter(a, self.values, b)
        b, theirs = self._enter(b, self.theirs, None)
        self._blocks(mine, theirs, a, b)
        t = type(a)
        if t is not type(b):
            _differ(f"the program has {describe(a)} where the description has {describe(b)}", a, b)
        visit = _STATEMENTS.get(t)
        if visit is None:
            _differ(f"{describe(a)} cannot be compared", a, b)
        visit(self, a, b)

    def _enter(self, s: Any, values: dict[Var, Expr], other: Any) -> tuple[Any, list[BlockRealize]]:
        """The statement below loops of one iteration and blocks, which are left out."""
        blocks: list[BlockRealize] = []
        while True:
            t = type(s)
            if t is For and type(s.extent) is IntImm and s.extent.value == 1 and not s.thread:
                values[s.loop_var] = put(s.min, values)
                s = s.body
            elif t is BlockRealize:
                if s.predicate is not TRUE:
                    what = "a condition decides whether block {} runs"
                    _differ(what.format(f'"{s.block.name}"'), s, other if other is not None else s)
                for iv, e in zip(s.block.iter_vars, s.iter_values, strict=True):
                    if iv.var not in values:
                        values[iv.var] = put(e, values)
                        if other is not None and iv.dom is not None:
                            self._within(values[iv.var], iv, s, other)
                blocks.append(s)
                s = s.block.body
            else:
                return s, blocks

    def _within(self, value: Any, iv: Any, here: Any, there: Any) -> None:
        """Instances outside the domain of an axis do not run: there must be none."""
        low, extent = iv.dom.min, iv.dom.extent
        if type(value) is Var and type(low) is IntImm and type(extent) is IntImm:
            for v, r in self.ranges:
                if v is value:
                    x, n = r.min, r.extent
                    if type(x) is IntImm and type(n) is IntImm:
                        if low.value <= x.value and x.value + n.value <= low.value + extent.value:
                            return
                    break
        cx = self.cx
        if not (cx.can_prove(LE(low, value)) and cx.can_prove(LT(value, Add(low, extent)))):
            _differ(f"the axis `{iv.var.name}` of block {_name(here)} may leave its domain", iv, there)

    def _blocks(self, mine: list[BlockRealize], theirs: list[BlockRealize], a: Any, b: Any) -> None:
        """What blocks have besides axes: buffers of their own, inits."""
        one = [x for s in mine for x in s.block.alloc_buffers]
        two = [x for s in theirs for x in s.block.alloc_buffers]
        if len(one) != len(two):
            _differ("the blocks allocate another number of buffers", a, b)
        for x, y in zip(one, two, strict=True):
            same = x.dtype == y.dtype and x.scope == y.scope and len(x.shape) == len(y.shape)
            if not same or any(not self._equal(p, q) for p, q in zip(x.shape, y.shape, strict=True)):
                _differ(f"the buffers {x.name} and {y.name} of the blocks are of different kinds", a, b)
            self.local[y] = x
        if any(s.block.match_buffers for s in (*mine, *theirs)):
            _differ("views of regions are not compared", a, b)
        first = [s.block for s in mine if s.block.init is not None]
        second = [s.block for s in theirs if s.block.init is not None]
        if len(first) == len(second) == 1:
            self.init = (first[0].init, second[0].init)
            self.statement(first[0].init, second[0].init)
        elif not first and second:
            _differ("the description has an init, the program has none", a, second[0].init)
        elif second or any(x is not self.keeps for x in first):
            what = f'block "{first[-1].name}" has an init, the description has '
            _differ(what + ("several" if second else "none"), first[-1].init, b)

    def _loop(self, a: For, b: For) -> None:
        if not self._equal(a.extent, b.extent):
            x, y = self._shown(a.extent), self._shown(b.extent)
            _differ(f"loop `{a.loop_var.name}` runs {x} times, `{b.loop_var.name}` {y} times", a, b)
        if (a.thread or b.thread) and a.thread != b.thread:
            _differ(f"loop `{a.loop_var.name}` is bound to {a.thread or 'no thread'}", a, b)
        if a.step is not None or b.step is not None:
            _differ("loops with a step are not compared", a, b)
        self.inner.add(a.loop_var)
        low = put(a.min, self.values)
        self.ranges.append((a.loop_var, Range(low, put(a.extent, self.values))))
        value: Expr = a.loop_var
        if not (type(low) is type(b.min) is IntImm and low.value == b.min.value):
            value = Add(value, self.cx.simplify(put(b.min, self.theirs) - low))
        self.theirs[b.loop_var] = value
        self.statement(a.body, b.body)

    def _sequence(self, a: SeqStmt, b: SeqStmt) -> None:
        if len(a.seq) != len(b.seq):
            what = f"the program has {len(a.seq)} statements, the description {len(b.seq)}"
            _differ(what, a, b)
        for x, y in zip(a.seq, b.seq, strict=True):
            self.statement(x, y)

    def _store(self, a: BufferStore, b: BufferStore) -> None:
        self.expr(a.value, b.value, a, b)
        self._access(a, b, True, a, b)

    def _branch(self, a: IfThenElse, b: IfThenElse) -> None:
        self.expr(a.condition, b.condition, a, b)
        if (a.else_case is None) != (b.else_case is None):
            _differ("one of the conditions has an `else`, the other none", a, b)
        self.statement(a.then_case, b.then_case)
        if a.else_case is not None:
            self.statement(a.else_case, b.else_case)

    def _let(self, a: LetStmt, b: LetStmt) -> None:
        self.expr(a.value, b.value, a, b)
        self.theirs[b.var] = a.var
        self.inner.add(a.var)
        self.statement(a.body, b.body)

    def _evaluate(self, a: Evaluate, b: Evaluate) -> None:
        self.expr(a.value, b.value, a, b)

    def _while(self, a: While, b: While) -> None:
        self.expr(a.condition, b.condition, a, b)
        self.statement(a.body, b.body)

    # ---- expressions

    def expr(self, a: Any, b: Any, here: Any, there: Any) -> None:
        """Refuse unless the two are the same; ``here`` and ``there`` are the statements around them."""
        t = type(a)
        if a.dtype != b.dtype:
            _differ(
                f"{self._shown(a)} is {a.dtype}, {self._shown(b)} is {b.dtype}", _at(a, here), _at(b, there)
            )
        if t is Var or type(b) is Var:
            if not self._equal(a, b):
                _differ(f"{self._shown(a)} is not {self._shown(b)}", _at(a, here), _at(b, there))
            return
        if t is not type(b):
            if self._equal(a, b):
                return
            _differ(
                f"the program computes {self._shown(a)}, the description {self._shown(b)}",
                _at(a, here), _at(b, there),
            )  # fmt: skip
        if t is IntImm or t is StringImm or t is FloatImm:
            if a.value != b.value and not (a.value != a.value and b.value != b.value):
                _differ(
                    f"the constant is {self._shown(a)}, not {self._shown(b)}", _at(a, here), _at(b, there)
                )
            return
        if t is BufferLoad:
            self._access(a, b, False, here, there)
            return
        if t is Call and a.op != b.op:
            _differ(f"the program calls {a.op}, the description {b.op}", _at(a, here), _at(b, there))
        if t is Let:
            self.expr(a.value, b.value, here, there)
            self.theirs[b.var] = a.var
            self.inner.add(a.var)
            self.expr(a.body, b.body, here, there)
            return
        x, y = a.children(), b.children()
        if len(x) != len(y) or t not in _COMPARABLE:
            if not _PLAIN(t) or len(x) != len(y):
                _differ(f"{self._shown(a)} cannot be compared", _at(a, here), _at(b, there))
        for p, q in zip(x, y, strict=True):
            self.expr(p, q, _at(a, here), _at(b, there))

    def _equal(self, a: Expr, b: Expr) -> bool:
        """Whether two integers are always equal."""
        if type(a) is IntImm and type(b) is IntImm:
            return a.value == b.value
        x, y = put(a, self.values), put(b, self.theirs)
        if x is y:
            return True
        if not dt.info(x.dtype).is_int:
            return False
        p, q = to_linear(x), to_linear(y)
        if p is not None and q is not None:
            d = p - q
            if d.is_const:
                return d.const == 0
        p, q = self.cx.linear(x), self.cx.linear(y)
        return p is not None and q is not None and (p - q).is_const and (p - q).const == 0

    def _access(self, a: Any, b: Any, writes: bool, here: Any, there: Any) -> None:
        x: Buffer = a.buffer
        y: Buffer = b.buffer
        if a.predicate is not None or b.predicate is not None:
            _differ("masked accesses are not compared", _at(a, here), _at(b, there))
        own = self.local.get(y)
        if own is not None or x in self.local.values():
            if own is not x or not all(self._equal(i, j) for i, j in zip(a.indices, b.indices, strict=True)):
                _differ(f"{self._shown(a)} is not {self._shown(b)}", _at(a, here), _at(b, there))
            return
        if x.dtype != y.dtype:
            _differ(f"buffer {x.name} is {x.dtype}, {y.name} is {y.dtype}", _at(a, here), _at(b, there))
        if x.scope != y.scope:
            _differ(
                f"buffer {x.name} is in scope {x.scope!r}, {y.name} in {y.scope!r}",
                _at(a, here),
                _at(b, there),
            )
        lead = len(a.indices) - len(b.indices)
        if lead < 0:
            _differ(
                f"buffer {x.name} has {len(a.indices)} dimensions, {y.name} {len(b.indices)}",
                _at(a, here), _at(b, there),
            )  # fmt: skip
        have = self.places.get(y)
        if have is not None and have.buffer is not x:
            what = f"{y.name} of the description is {have.buffer.name} in one place and {x.name} in another"
            _differ(what, _at(a, here), _at(b, there))
        starts: list[Linear] = []
        for n, i in enumerate(a.indices):
            j: Any = b.indices[n - lead] if n >= lead else None
            start = self._start(i, j, None if have is None else have.starts[n])
            if start is None:
                shown = f"dimension {n} of {x.name} is indexed by {self._shown(i)}"
                what = (
                    f"{shown}, which moves with the loops inside, and {y.name} has no such dimension"
                    if j is None
                    else f"{shown}, not by {self._shown(j)} and a fixed offset as {y.name}"
                )
                _differ(what, _at(a, here), _at(b, there))
            starts.append(start)
        if have is None:
            have = self.places[y] = Place(x, starts, [i.dtype for i in a.indices])
        have.written |= writes

    def _start(self, i: Any, j: Any, known: Linear | None) -> Linear | None:
        """By how much an index is more than that of the description: nothing that moves with loops."""
        x = put(i, self.values)
        y = const_int(0) if j is None else put(j, self.theirs)
        p, q = to_linear(x), to_linear(y)
        for again in (False, True):
            if again:
                p, q = self.cx.linear(x), self.cx.linear(y)
            if p is not None and q is not None:
                d = p - q
                if not d.mentions(self.inner) and (known is None or (d - known).key() == 0):
                    return d
        return None

    def _shown(self, e: Any) -> str:
        from ..errors import expr_text

        return expr_text(e)


def _name(s: Any) -> str:
    return f'"{s.block.name}"' if type(s) is BlockRealize else f'"{s.name}"' if type(s) is Block else "?"


def _differ(what: str, here: Any, there: Any) -> NoReturn:
    raise Differs(what, here, there)


def _at(e: Any, around: Any) -> Any:
    """The node to mark: shared constants and variables stand for what is around them."""
    return around if type(e) in (IntImm, Var, FloatImm, StringImm) else e


_COMPARABLE = frozenset({Cast, Call})


def _PLAIN(t: type) -> bool:
    """Whether nodes of the class are told apart by their children alone."""
    from tirscript.ir import expr

    return t in {
        expr.Add, expr.Sub, expr.Mul, expr.Div, expr.Mod, expr.FloorDiv, expr.FloorMod, expr.Min, expr.Max,
        expr.EQ, expr.NE, expr.LT, expr.LE, expr.GT, expr.GE, expr.And, expr.Or, expr.Not, expr.Select,
        expr.Broadcast, expr.Ramp, expr.Shuffle,
    }  # fmt: skip


_STATEMENTS: dict[type, Any] = {
    For: Matcher._loop,
    SeqStmt: Matcher._sequence,
    BufferStore: Matcher._store,
    IfThenElse: Matcher._branch,
    LetStmt: Matcher._let,
    Evaluate: Matcher._evaluate,
    While: Matcher._while,
}

__all__ = ["Differs", "Matcher", "Place"]
