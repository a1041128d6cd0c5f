"""Recognizing reductions: updates whose order is free."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from tirscript.arith.linear import key_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    FALSE,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    FloatImm,
    IntImm,
    Max,
    Min,
    Mul,
    Or,
    Sub,
)
from tirscript.ir.node import memo_of
from tirscript.ir.ops import const
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, LetStmt, SeqStmt
from tirscript.ir.visitor import walk

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
    """The buffers that the block only updates, by one commutative reducer each."""
    return frozenset(updates(block))


def reducer_of(block: Block) -> Update | None:
    """The one update that the block is: a single store into a buffer that nothing else touches.

    None for several stores and for reducers over several buffers (argmin and the like).
    """
    found = updates(block)
    if len(found) != 1:
        return None
    (several,) = found.values()
    return several[0] if len(several) == 1 else None
