"""Small programs over constant loops, and what they touch when they are run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import IterVar, Range, Var, const_int
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, IfThenElse, SeqStmt, Stmt


def number(e: Any, values: dict[Var, int]) -> int:
    """The value of an index, by Python's own arithmetic."""
    if isinstance(e, Var):
        return values[e]
    if isinstance(e, E.IntImm):
        return e.value
    a, b = (number(c, values) for c in e.children())
    return {
        E.Add: lambda: a + b, E.Sub: lambda: a - b, E.Mul: lambda: a * b, E.FloorDiv: lambda: a // b,
        E.FloorMod: lambda: a % b, E.Min: lambda: min(a, b), E.Max: lambda: max(a, b),
        E.LT: lambda: a < b, E.LE: lambda: a <= b, E.GT: lambda: a > b, E.GE: lambda: a >= b,
        E.And: lambda: a and b, E.EQ: lambda: a == b, E.NE: lambda: a != b,
    }[type(e)]()  # fmt: skip


Event = tuple[bool, Buffer, tuple[int, ...], dict[Var, int]]


def run(s: Any, values: dict[Var, int]) -> Iterator[Event]:
    """Every access in order: (writes, buffer, cell, values of the variables)."""
    if isinstance(s, For):
        low, extent = number(s.min, values), number(s.extent, values)
        for n in range(low, low + extent):
            yield from run(s.body, {**values, s.loop_var: n})
    elif isinstance(s, SeqStmt):
        for child in s.seq:
            yield from run(child, values)
    elif isinstance(s, IfThenElse):
        if number(s.condition, values):
            yield from run(s.then_case, values)
    elif isinstance(s, BlockRealize):
        if not number(s.predicate, values):
            return
        inner = dict(values)
        for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
            inner[iv.var] = number(value, values)
            assert iv.dom is not None
            low = number(iv.dom.min, values)
            if not low <= inner[iv.var] < low + number(iv.dom.extent, values):
                return
        yield from run(s.block.body, inner)
    elif isinstance(s, BufferStore):
        yield from loads(s.value, values)
        yield True, s.buffer, tuple(number(i, values) for i in s.indices), values
    else:
        raise NotImplementedError(type(s))


def loads(e: Any, values: dict[Var, int]) -> Iterator[Event]:
    if isinstance(e, E.BufferLoad):
        yield False, e.buffer, tuple(number(i, values) for i in e.indices), values
    else:
        for c in e.children():
            yield from loads(c, values)


def buffer(name: str, *shape: int) -> Buffer:
    return make_buffer(name, tuple(const_int(n) for n in shape))


def loop(v: Var, extent: Any, body: Stmt, low: Any = 0) -> For:
    return For(v, ops.as_expr(low), ops.as_expr(extent), "serial", body)


def nest(loops: list[tuple[Var, int]], body: Stmt) -> For:
    for v, extent in reversed(loops):
        body = loop(v, extent, body)
    assert isinstance(body, For)
    return body


def store(b: Buffer, indices: Any, value: Any) -> BufferStore:
    return BufferStore(b, ops.as_expr(value), tuple(ops.as_expr(i) for i in indices))


def block(
    name: str, axes: list[tuple[Var, Any, str, Any]], body: Stmt, predicate: Any = E.TRUE, **fields: Any
) -> BlockRealize:
    """A block with axes ``(var, extent, kind, value)``."""
    ivs = tuple(IterVar(v, Range(const_int(0), ops.as_expr(n)), kind) for v, n, kind, _ in axes)
    made = Block(BlockLabel(name), ivs, (), (), body, **fields)
    return BlockRealize(tuple(ops.as_expr(value) for *_, value in axes), predicate, made)


def box(sizes: dict[Var, int]) -> Iterator[dict[Var, int]]:
    for p in itertools.product(*[range(n) for n in sizes.values()]):
        yield dict(zip(sizes, p, strict=True))
