"""Vectorized loops whose iterations depend on each other, or cannot be vectors, become serial."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

from tirscript.arith.linear import Linear, atom_mentions, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import BufferLoad, Call, Expr, Let, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.op import effect_of, is_opaque
from tirscript.ir.stmt import Allocate, AllocateConst, BufferStore, Evaluate, For, LetStmt, Stmt, While
from tirscript.ir.visitor import free_vars, substitute

from .fold import const_of, is_exact

_LIMIT = 4096  # lanes for which the dependence test looks at every distance


def serialize_dependent_loops(func: PrimFunc) -> PrimFunc:
    """Only loops of constant extent with independent iterations stay ``vectorized``.

    ``T.vectorized`` says how a loop may run, not that it may be wrong: where iterations store to one cell,
    where one reads what another stores, or where the loop is left early, the loop runs in order.
    """
    shared = func.attrs.get("tir.noalias") is False
    parameters = frozenset(b.data for b in func.buffers) if shared else frozenset()

    def visit(n: Any) -> Any:
        if not isinstance(n, Stmt):
            return n
        n = n.map_children(visit)
        if type(n) is For and n.kind == "vectorized" and not _independent(n, parameters):
            return n.replace(kind="serial")
        return n

    return func.map_children(visit)


@dataclass
class _Access:
    buffer: Buffer
    indices: tuple[Expr, ...]
    store: bool


@dataclass
class _Body:
    """What the body of a vectorized loop does, as far as the dependence test needs it."""

    var: Var
    accesses: list[_Access] = field(default_factory=list)
    private: set[Var] = field(default_factory=set)  # pointers allocated in the body
    ranges: dict[Var, tuple[int, int] | None] = field(default_factory=dict)  # loops in the body
    lets: dict[Var, Expr] = field(default_factory=dict)
    opaque: bool = False

    def visit(self, n: Any, loops: int = 0) -> None:
        t = type(n)
        if t is BufferLoad:
            self.accesses.append(_Access(n.buffer, self._plain(n.indices), False))
        elif t is BufferStore:
            self.accesses.append(_Access(n.buffer, self._plain(n.indices), True))
        elif t is For:
            low, extent = const_of(n.min), const_of(n.extent)
            if low is None or extent is None:
                self.ranges[n.loop_var] = None
            else:
                self.ranges[n.loop_var] = (low, low + max(extent, 1) - 1)
            loops += 1
        elif t is While:
            loops += 1
        elif t is LetStmt or t is Let:
            if is_exact(n.value):
                self.lets[n.var] = substitute(n.value, self.lets)
            else:
                self.ranges[n.var] = None
        elif t is Allocate or t is AllocateConst:
            self.private.add(n.buffer_var)
        elif t is Call:
            effect = effect_of(n.op)
            inner_exit = loops > 0 and n.op in ("break_loop", "continue_loop")
            if is_opaque(n.op) or (effect in ("update", "control", "read") and not inner_exit):
                self.opaque = True
                return
        elif t is Evaluate and type(n.value) is Call:
            self.visit(n.value, loops)
            return
        for child in n.children():
            self.visit(child, loops)

    def _plain(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        if not self.lets:
            return indices
        return tuple([substitute(i, self.lets) for i in indices])


def _independent(loop: For, parameters: frozenset[Var]) -> bool:
    count = const_of(loop.extent)
    if count is None:
        return False
    if count <= 1:
        return True
    body = _Body(loop.loop_var)
    body.visit(loop.body)
    if body.opaque:
        return False
    stored = {a.buffer.data for a in body.accesses if a.store} - body.private
    if stored & parameters and len({a.buffer.data for a in body.accesses} & parameters) > 1:
        return False
    for data in stored:
        same = [a for a in body.accesses if a.buffer.data is data]
        for i, a in enumerate(same):
            for b in same[i:]:
                if (a.store or b.store) and not _apart(a, b, count, body):
                    return False
    return True


def iterations_apart(loop: For, buffer: Buffer) -> bool:
    """Whether no iteration of the loop reads a cell of ``buffer`` that another one stores."""
    body = _Body(loop.loop_var)
    body.visit(loop.body)
    count = const_of(loop.extent)
    mine = [a for a in body.accesses if a.buffer.data is buffer.data]
    lanes = _LIMIT + 1 if count is None else count
    return all(_apart(a, b, lanes, body) for a in mine if a.store for b in mine if not b.store)


def _apart(a: _Access, b: _Access, count: int, body: _Body) -> bool:
    """Whether two different iterations never touch one cell with ``a`` and ``b``."""
    if a.buffer is not b.buffer:
        return False
    return any(_differs(x, y, count, body) for x, y in zip(a.indices, b.indices, strict=True))


def _differs(x: Expr, y: Expr, count: int, body: _Body) -> bool:
    """Whether ``x`` in one iteration and ``y`` in another are different numbers for certain."""
    p, q = to_linear(x), to_linear(y)
    if p is None or q is None:
        return False
    step = p.coefficient(body.var)
    if step == 0 or step != q.coefficient(body.var):
        return False
    terms = _terms(p, q, body)
    return terms is not None and _no_meeting(step, count, p.const - q.const, terms)


def _terms(p: Linear, q: Linear, body: _Body) -> list[tuple[int, tuple[int, int] | None]] | None:
    """The terms of ``p - q`` beside the loop variable, each with its range where that is known.

    Variables of loops in the body are independent in the two iterations, so their terms do not cancel.
    """
    out: list[tuple[int, tuple[int, int] | None]] = []
    inner = body.ranges.keys()
    for side, sign in ((p, 1), (q, -1)):
        for atom, k in side.terms.items():
            if atom is body.var:
                continue
            if atom_mentions(atom, (body.var,)):
                return None
            if isinstance(atom, Var) and atom in inner:
                out.append((sign * k, body.ranges[atom]))
            elif atom_mentions(atom, inner):
                out.append((sign * k, None))
            elif sign == 1:
                rest = k - q.terms.get(atom, 0)
                if rest:
                    out.append((rest, None))
            elif atom not in p.terms:
                out.append((-k, None))
    return out


def _no_meeting(step: int, count: int, const: int, terms: list[tuple[int, tuple[int, int] | None]]) -> bool:
    """Whether ``step * d + const + terms`` is never 0 for a distance ``0 < |d| < count``.

    Small terms are bounded by their ranges; large ones are multiples of their common divisor.
    """
    if count > _LIMIT:
        return not terms and const == 0
    ordered = sorted(terms, key=lambda t: abs(t[0]))
    low = high = const
    for cut in range(len(ordered) + 1):
        if cut:
            k, span = ordered[cut - 1]
            if span is None:
                return False
            low += min(k * span[0], k * span[1])
            high += max(k * span[0], k * span[1])
        divisor = 0
        for k, _ in ordered[cut:]:
            divisor = gcd(divisor, k)
        if all(not _has_multiple(low + step * d, high + step * d, divisor) for d in _distances(count)):
            return True
    return False


def _distances(count: int) -> list[int]:
    return [d for n in range(1, count) for d in (n, -n)]


def _has_multiple(low: int, high: int, divisor: int) -> bool:
    if divisor == 0:
        return low <= 0 <= high
    return high // divisor * divisor >= low


def depends(e: Any, tainted: set[Var]) -> bool:
    """Whether ``e`` mentions one of the variables."""
    return not tainted.isdisjoint(free_vars(e))
