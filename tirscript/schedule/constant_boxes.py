"""Regions of statements in the usual case: blocks whose axes run over constant ranges."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import BufferRegion
from tirscript.ir.expr import TRUE, Expr, IntImm, Range, Var, const_int
from tirscript.ir.stmt import BlockRealize, For, SeqStmt, Stmt

Regions = tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]
_ONE = frozenset({Var, IntImm})


def boxes_of(root: Stmt) -> Regions | None:
    """The regions of blocks in loops of constant ranges, where each index is an axis or a constant; None
    where there is more to it."""
    loops: dict[Var, tuple[int, int]] = {}
    tables: tuple[dict[Any, list[Any]], dict[Any, list[Any]]] = ({}, {})
    stack: list[Any] = [root]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is For:
            if type(s.min) is not IntImm or type(s.extent) is not IntImm or s.step is not None:
                return None
            if s.extent.value < 1:
                return None
            loops[s.loop_var] = (s.min.value, s.extent.value)
            stack.append(s.body)
        elif t is SeqStmt:
            stack += reversed(s.seq)
        elif t is not BlockRealize or s.predicate is not TRUE:
            return None
        else:
            b = s.block
            values: dict[Var, Expr] = {}
            for iv, e in zip(b.iter_vars, s.iter_values, strict=True):
                values[iv.var] = e
                # An axis runs over its whole domain: then the box is what the loop gives.
                if type(e) not in _ONE or (e in loops and (iv.dom is None or not _runs(iv.dom, loops[e]))):
                    return None
            for regions, table in zip((b.reads, b.writes), tables, strict=True):
                for r in regions:
                    box = [_range_of(x, values, loops) for x in r.region]
                    for d in box:
                        if d is None:
                            return None
                    have = table.get(r.buffer)
                    if have is None:
                        table[r.buffer] = box
                    elif not _join(have, box):
                        return None
    reads, writes = [
        tuple([BufferRegion(x, tuple([_written(d) for d in box])) for x, box in table.items()])
        for table in tables
    ]
    return reads, writes


def _runs(dom: Range, loop: tuple[int, int]) -> bool:
    return (
        type(dom.min) is IntImm and type(dom.extent) is IntImm and (dom.min.value, dom.extent.value) == loop
    )


def _range_of(x: Range, values: dict[Var, Expr], loops: dict[Var, tuple[int, int]]) -> Any:
    """``(first, count, dtype)``, or an expression that stays as it is; None where it is neither."""
    low: Any = x.min
    if type(low) is Var:
        low = values.get(low, low)
    if type(low) not in _ONE or type(x.extent) is not IntImm:
        return None
    count = x.extent.value
    if type(low) is IntImm:
        return low.value, count, low.dtype
    if low not in loops:
        return low if count == 1 else None
    first, extent = loops[low]
    return first, extent + count - 1, low.dtype


def _join(have: list[Any], box: list[Any]) -> bool:
    for n, (a, b) in enumerate(zip(have, box, strict=True)):
        if a is b:
            continue
        if type(a) is not tuple or type(b) is not tuple:
            return False
        first = min(a[0], b[0])
        have[n] = (first, max(a[0] + a[1], b[0] + b[1]) - first, a[2])
    return True


def _written(d: Any) -> Range:
    if type(d) is tuple:
        return Range(const_int(d[0], d[2]), const_int(d[1], d[2]))
    return Range(d, const_int(1, d.dtype))
