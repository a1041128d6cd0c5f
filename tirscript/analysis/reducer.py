"""Recognizing reductions: updates whose order is free.

``updates`` knows stores that combine one buffer by an operator, wherever they stand in a block;
``reductions_of`` reads a whole block that combines one or several cells (argmin, argmax, registered
reducers), in lets, conditions and one store after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from tirscript.arith.linear import key_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import (
    FALSE,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    IntImm,
    Let,
    Max,
    Min,
    Mul,
    Or,
    Select,
    Sub,
    Var,
)
from tirscript.ir.node import memo_of
from tirscript.ir.ops import const
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, LetStmt, SeqStmt
from tirscript.ir.visitor import free_vars, walk

from .combiner import Combiner, any_registered, order_combiner, registered_match

KINDS: dict[type, str] = {Add: "sum", Mul: "prod", Min: "min", Max: "max", And: "all", Or: "any"}
_BITS = {"bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor"}


@dataclass(frozen=True, slots=True)
class Reducer:
    """A commutative, associative combiner of one buffer.

    ``kind`` is sum, prod, min, max, all, any, bitwise_and, bitwise_or or bitwise_xor; ``identity`` its
    neutral element in ``dtype`` (of floats, sums and products are associative up to rounding).
    ``negated`` marks ``X = X - e``: the sum of the negated values.
    """

    kind: str
    dtype: str
    identity: Expr
    negated: bool = False


def identity_of(kind: str, dtype: str) -> Expr:
    """The neutral element of a kind of reducer.

    >>> identity_of("max", "int8").value
    -128
    """
    d = info(dtype)
    if kind in ("all", "any"):
        return TRUE if kind == "all" else FALSE
    if kind in ("sum", "bitwise_or", "bitwise_xor"):
        return const(0, dtype)
    if kind == "prod":
        return const(1, dtype)
    if kind == "bitwise_and":
        return IntImm(-1 if d.code == "int" else dtype_bounds(dtype)[1], dtype)
    if d.is_float:
        return FloatImm(inf if kind == "min" else -inf, dtype)
    low, high = dtype_bounds(d.base)
    return const(high if kind == "min" else low, dtype)


@dataclass(frozen=True, slots=True)
class Update:
    """A store that combines a cell with ``value``: ``X[i] = X[i] op value``."""

    store: BufferStore
    reducer: Reducer
    value: Expr


def update_of(store: BufferStore) -> Update | None:
    """The update that a store is; None where it is none.

    ``value`` must not read the cell's buffer again: what it reads would depend on the order.
    """
    value: Any = store.value
    t = type(value)
    if t is Call and value.op in _BITS and len(value.args) == 2:
        kind, sides = _BITS[value.op], value.args
    elif t is Sub:
        if not _is_cell(value.a, store) or _reads(value.b, store.buffer):
            return None
        return Update(store, Reducer("sum", value.dtype, identity_of("sum", value.dtype), True), value.b)
    elif t in KINDS:
        kind, sides = KINDS[t], (value.a, value.b)
        if t is Add or t is Mul:
            return _from_chain(store, value, t, kind)
    else:
        return None
    if info(value.dtype).lanes != 1:
        return None
    for cell, rest in (sides, sides[::-1]):
        if _is_cell(cell, store) and not _reads(rest, store.buffer):
            return Update(store, Reducer(kind, value.dtype, identity_of(kind, value.dtype)), rest)
    return None


def _from_chain(store: BufferStore, value: Any, cls: Any, kind: str) -> Update | None:
    """``X + a + b`` is ``X`` plus ``a + b``; the cell may stand anywhere in the chain."""
    if info(value.dtype).lanes != 1:
        return None
    parts: list[Any] = []
    stack = [value]
    while stack:
        n = stack.pop()
        if type(n) is cls:
            stack.append(n.b)
            stack.append(n.a)
        else:
            parts.append(n)
    cells = [p for p in parts if _is_cell(p, store)]
    if len(cells) != 1:
        return None
    rest = [p for p in parts if p is not cells[0]]
    if any(_reads(p, store.buffer) for p in rest):
        return None
    if value.a is cells[0]:
        combined = value.b
    elif value.b is cells[0]:
        combined = value.a
    else:
        combined = rest[0]
        for p in rest[1:]:
            combined = cls(combined, p)
    return Update(store, Reducer(kind, value.dtype, identity_of(kind, value.dtype)), combined)


def _is_cell(e: Any, store: BufferStore) -> bool:
    if type(e) is not BufferLoad or e.buffer is not store.buffer or e.predicate is not None:
        return False
    return all(i is j or key_of(i) == key_of(j) for i, j in zip(e.indices, store.indices, strict=True))


def _reads(e: Any, buffer: Buffer) -> bool:
    return any(type(n) is BufferLoad and n.buffer.data is buffer.data for n in walk(e))


def updates(block: Block) -> dict[Buffer, tuple[Update, ...]]:
    """The buffers that the block's body only updates, all with one reducer; memoised on the block.

    Stores in loops and under conditions count, nested blocks too where they are of this form.
    """
    memo = memo_of(block)
    found: dict[Buffer, tuple[Update, ...]] | None = memo.get("updates")
    if found is None:
        found = memo["updates"] = _updates(block)
    return found


def _updates(block: Block) -> dict[Buffer, tuple[Update, ...]]:
    stores: list[BufferStore] = []
    others: list[Any] = []  # expressions outside of the stores' own update
    stack: list[Any] = [block.body]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is BufferStore:
            stores.append(s)
        elif t is SeqStmt:
            stack += s.seq
        elif t is For:
            others += [s.min, s.extent]
            stack.append(s.body)
        elif t is IfThenElse:
            others.append(s.condition)
            stack.append(s.then_case)
            if s.else_case is not None:
                stack.append(s.else_case)
        elif t is LetStmt:
            others.append(s.value)
            stack.append(s.body)
        elif t is BlockRealize and s.block.init is None:
            others += [*s.iter_values, s.predicate]
            stack.append(s.block.body)
        else:
            return {}
    out: dict[Buffer, list[Update]] = {}
    bad: set[Any] = set()
    for store in stores:
        found = update_of(store)
        others += store.indices
        if found is None or store.predicate is not None:
            bad.add(store.buffer.data)
            others.append(store.value)
            continue
        others.append(found.value)
        have = out.setdefault(store.buffer, [])
        if have and have[0].reducer.kind != found.reducer.kind:
            bad.add(store.buffer.data)
        have.append(found)
    if not out:
        return {}
    pointers: dict[Any, Buffer] = {}
    for buffer in out:
        if pointers.setdefault(buffer.data, buffer) is not buffer:
            bad.add(buffer.data)
    for e in others:
        for n in walk(e):
            if type(n) is BufferLoad:
                bad.add(n.buffer.data)
    return {b: tuple(u) for b, u in out.items() if b.data not in bad}


def reduced_buffers(block: Block) -> frozenset[Buffer]:
    """The buffers that the block only updates, by commutative reducers."""
    memo = memo_of(block)
    found: frozenset[Buffer] | None = memo.get("reduced")
    if found is None:
        found = frozenset(updates(block))
        if not found or len(found) != len(_stored(block)):
            several = reductions_of(block)
            if several is not None:
                found |= {b for r in several if r.combiner.commutative for b in r.buffers}
        memo["reduced"] = found
    return found


def _stored(block: Block) -> set[Buffer]:
    return {n.buffer for n in walk(block.body) if type(n) is BufferStore}


def reducer_of(block: Block) -> Update | None:
    """The one update that the block is: a single store into a buffer that nothing else touches.

    None for several stores and for reducers over several buffers (argmin and the like).
    """
    found = updates(block)
    if len(found) != 1:
        return None
    (several,) = found.values()
    return several[0] if len(several) == 1 else None


# ---- whole blocks


@dataclass(frozen=True, slots=True)
class Reduction:
    """Cells that one combiner updates together, with ``values``: ``cells = combiner(cells, values)``.

    ``values`` is empty where the body combines more than one tuple of them.
    """

    buffers: tuple[Buffer, ...]
    indices: tuple[tuple[Expr, ...], ...]
    combiner: Combiner
    values: tuple[Expr, ...]


_OPERATORS: dict[str, Any] = {"sum": Add, "prod": Mul, "min": Min, "max": Max, "all": And, "any": Or}
_REPEATABLE = frozenset({"min", "max", "all", "any", "bitwise_and", "bitwise_or"})
_combiners: dict[tuple[str, str], Combiner] = {}


def operator_combiner(reducer: Reducer) -> Combiner:
    """The combiner that an operator is."""
    key = (reducer.kind, reducer.dtype)
    found = _combiners.get(key)
    if found is None:
        x, y = Var("x", reducer.dtype, False), Var("y", reducer.dtype, False)
        made = _OPERATORS.get(reducer.kind)
        result = Call(reducer.dtype, reducer.kind, (x, y)) if made is None else made(x, y)
        found = _combiners[key] = Combiner(
            (x,), (y,), (result,), (reducer.identity,), True, reducer.kind in _REPEATABLE
        )
    return found


def reductions_of(block: Block) -> tuple[Reduction, ...] | None:
    """The reductions that the block's body is, all its stores taken together; None where it is something
    else.  Associative ones that do not commute (an argmax that keeps the first of equals) are among them.

    The body may hold stores, lets, sequences and conditions, no loops; every buffer that it stores to is
    read and written at one cell only.  Memoised on the block.
    """
    memo = memo_of(block)
    if "reductions" not in memo:
        memo["reductions"] = _reductions(block)
    found: tuple[Reduction, ...] | None = memo["reductions"]
    return found


class _NotACell(Exception):
    """The body does more than combine a cell of each buffer."""


class _Run:
    """The body run on symbols: what each cell holds afterwards, over what it held before."""

    def __init__(self, block: Block) -> None:
        self.old: dict[Buffer, Var] = {}
        self.indices: dict[Buffer, tuple[Expr, ...]] = {}
        pointers: dict[Any, Buffer] = {}
        for n in walk(block.body):
            t = type(n)
            if t is BufferStore:
                self.enter(n)
                if pointers.setdefault(n.buffer.data, n.buffer) is not n.buffer:  # type: ignore[attr-defined]
                    raise _NotACell
            elif t is BlockRealize or t is For:
                raise _NotACell
        self.pointers = pointers
        self.size = 0
        self.statement(block.body, {}, now := dict(self.old))
        self.new: dict[Buffer, Any] = now

    def enter(self, s: Any) -> None:
        b = s.buffer
        have = self.indices.get(b)
        if s.predicate is not None or info(b.dtype).lanes != 1:
            raise _NotACell
        if have is None:
            self.indices[b] = s.indices
            self.old[b] = Var(b.name, b.dtype, False)
        elif not _same_cell(have, s.indices):
            raise _NotACell

    def statement(self, s: Any, lets: dict[Var, Any], now: dict[Buffer, Any]) -> None:
        t = type(s)
        if t is BufferStore:
            for i in s.indices:
                if self.expr(i, lets, now) is not i:
                    raise _NotACell  # a cell that depends on what is stored, or on a let
            value = self.expr(s.value, lets, now)
            now[s.buffer] = value if value.dtype == s.buffer.dtype else Cast(s.buffer.dtype, value)
        elif t is SeqStmt:
            for c in s.seq:
                self.statement(c, lets, now)
        elif t is LetStmt:
            self.statement(s.body, {**lets, s.var: self.expr(s.value, lets, now)}, now)
        elif t is IfThenElse:
            condition = self.expr(s.condition, lets, now)
            yes, no = dict(now), dict(now)
            self.statement(s.then_case, lets, yes)
            if s.else_case is not None:
                self.statement(s.else_case, lets, no)
            for b in now:
                if yes[b] is not no[b]:
                    now[b] = Select(condition, yes[b], no[b])
        else:
            raise _NotACell

    def expr(self, e: Any, lets: dict[Var, Any], now: dict[Buffer, Any]) -> Any:
        self.size += 1
        if self.size > 1000:
            raise _NotACell
        t = type(e)
        if t is IntImm or t is FloatImm:
            return e
        if t is Var:
            return lets.get(e, e)
        if t is BufferLoad and e.buffer.data in self.pointers:
            b = self.pointers[e.buffer.data]
            if e.buffer is not b or e.predicate is not None or not _same_cell(self.indices[b], e.indices):
                raise _NotACell
            return now[b]
        if t is Let:
            return self.expr(e.body, {**lets, e.var: self.expr(e.value, lets, now)}, now)
        return e.map_children(lambda c: self.expr(c, lets, now))


def _same_cell(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return all(i is j or key_of(i) == key_of(j) for i, j in zip(a, b, strict=True))


def _reductions(block: Block) -> tuple[Reduction, ...] | None:
    body = block.body
    if type(body) is BufferStore:
        found = update_of(body) if body.predicate is None else None
        if found is not None:
            return (_of_update(body.buffer, body.indices, found),)
        if type(body.value) not in (Select, Call, Let) and not any_registered():
            return None
    try:
        run = _Run(block)
    except _NotACell:
        return _of_updates(block)
    if not run.old:
        return None
    olds = {v: b for b, v in run.old.items()}
    uses = {b: [olds[v] for v in free_vars(run.new[b]) if v in olds] for b in run.old}
    out: list[Reduction] = []
    for group in _groups(uses):
        made = _group(run, group)
        if made is None:
            return None
        out.append(made)
    return tuple(out)


def _of_updates(block: Block) -> tuple[Reduction, ...] | None:
    """The same for a body with loops, whose stores are all updates of one cell of each buffer."""
    out = []
    found = updates(block)
    stored = _stored(block)
    inside = {n.loop_var for n in walk(block.body) if type(n) is For}
    inside |= {iv.var for n in walk(block.body) if type(n) is Block for iv in n.iter_vars}
    inside |= {n.var for n in walk(block.body) if type(n) is LetStmt}
    for buffer, several in found.items():
        cell = several[0].store.indices
        if any(not _same_cell(cell, u.store.indices) for u in several):
            return None
        if any(not inside.isdisjoint(free_vars(i)) for i in cell):
            return None
        out.append(Reduction((buffer,), (cell,), operator_combiner(several[0].reducer), ()))
    return tuple(out) if out and stored == set(found) else None


def _of_update(buffer: Buffer, indices: tuple[Expr, ...], update: Update) -> Reduction:
    return Reduction((buffer,), (indices,), operator_combiner(update.reducer), (update.value,))


def _groups(uses: dict[Buffer, list[Buffer]]) -> list[list[Buffer]]:
    """The buffers whose new values depend on one another's old ones, in order of their stores."""
    group = {b: b for b in uses}

    def root(b: Buffer) -> Buffer:
        while group[b] is not b:
            b = group[b]
        return b

    for b, used in uses.items():
        for other in used:
            group[root(other)] = root(b)
    out: dict[Buffer, list[Buffer]] = {}
    for b in uses:
        out.setdefault(root(b), []).append(b)
    return list(out.values())


def _group(run: _Run, buffers: list[Buffer]) -> Reduction | None:
    news = [run.new[b] for b in buffers]
    olds = [run.old[b] for b in buffers]
    indices = tuple([run.indices[b] for b in buffers])
    if len(buffers) == 1:
        b = buffers[0]
        cell = BufferLoad(b, indices[0])
        found = update_of(BufferStore(b, _put(news[0], olds[0], cell), indices[0]))
        if found is not None:
            return _of_update(b, indices[0], found)
    match = registered_match(olds, news)
    if match is not None:
        order, combiner, values = match
        return Reduction(
            tuple([buffers[n] for n in order]), tuple([indices[n] for n in order]), combiner, values
        )
    if len(buffers) == 1 and info(buffers[0].dtype).is_float:
        return None  # T.max and T.min say it: they know what to do with nan
    parts = _choices(olds, news)
    if parts is None:
        return None
    rhs, results, values = parts
    made = order_combiner(tuple(olds), rhs, results)
    return None if made is None else Reduction(tuple(buffers), indices, made, values)


def _put(e: Any, v: Var, value: Expr) -> Any:
    return value if e is v else e.map_children(lambda c: _put(c, v, value))


def _choices(
    olds: list[Var], news: list[Any]
) -> tuple[tuple[Var, ...], tuple[Expr, ...], tuple[Expr, ...]] | None:
    """The new values over the old ones and variables for what each is compared with and replaced by."""
    known = frozenset(olds)
    atoms: list[Expr] = []
    names: list[Var] = []

    def abstract(e: Any) -> Any:
        t = type(e)
        if t is Var and e in known:
            return e
        if (t is IntImm and e.dtype == "bool") or not known.isdisjoint(free_vars(e)):
            return e.map_children(abstract)
        for n, a in enumerate(atoms):
            if a is e or (a.dtype == e.dtype and structural_equal(a, e)):
                return names[n]
        atoms.append(e)
        names.append(Var(f"y{len(names)}", e.dtype, False))
        return names[-1]

    results = tuple([abstract(e) for e in news])
    rhs: list[Var] = []
    for old, e in zip(olds, results, strict=True):
        new = _leaves(e) - known
        if len(new) != 1 or not new.isdisjoint(rhs):
            return None
        (v,) = new
        if v.dtype != old.dtype:
            return None
        rhs.append(v)
    if set(names) != set(rhs):
        return None  # something else decides too
    values = dict(zip(names, atoms, strict=True))
    return tuple(rhs), results, tuple([values[v] for v in rhs])


def _leaves(e: Any) -> set[Var]:
    """The variables that a choice may come out as."""
    t = type(e)
    if t is Var:
        return {e}
    if t is Select or (t is Call and e.op == "if_then_else"):
        _, yes, no = e.children()
        return _leaves(yes) | _leaves(no)
    if t is Min or t is Max:
        return _leaves(e.a) | _leaves(e.b)
    return set()
