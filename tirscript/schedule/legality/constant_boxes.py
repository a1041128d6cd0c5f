"""Regions of statements in the usual case: blocks whose axes run over constant ranges."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import BufferRegion
from tirscript.ir.expr import TRUE, Expr, IntImm, Range, Var, const_int
from tirscript.ir.stmt import BlockRealize, For, SeqStmt, Stmt

Regions = tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]
# The boxes of each buffer, a list of dimensions each: (first, count, dtype) or an expression.
Table = dict[Any, list[list[Any]]]
_ONE = frozenset({Var, IntImm})


def boxes_of(root: Stmt) -> Regions | None:
    """The regions of blocks in loops of constant ranges, where each index is an axis or a constant; None
    where there is more to it."""
    tables = _scan(root, None)
    if tables is None:
        return None
    return _regions(tables[0], 0, 0), _regions(tables[1], 0, 0)


def boxes_of_parts(root: For, parts: list[tuple[int, int]]) -> list[Regions] | None:
    """The regions of a loop, and what they are where it runs over parts of its range (first, extent) and the
    axes that it drives over these parts of their domains; None as above."""
    tables = _scan(root, root.loop_var)
    if tables is None:
        return None
    low: Any = root.min
    extent: Any = root.extent
    for table in tables:
        for boxes in table.values():
            if len(boxes) == 1:  # what the loop does not decide is the same for all parts
                boxes[0] = [_written(d) if type(d) is not tuple or d[0] is not None else d for d in boxes[0]]
    return [
        (_regions(tables[0], first, count), _regions(tables[1], first, count))
        for first, count in ((low.value, extent.value), *parts)
    ]


def _scan(root: Stmt, moving: Var | None) -> tuple[Table, Table] | None:
    """The boxes that the blocks read and write; in dimensions that the loop over ``moving`` decides without
    a first index, and with what is added to the loop's extent."""
    loops: dict[Var, tuple[int, int]] = {}
    tables: tuple[Table, Table] = ({}, {})
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
                    box = []
                    for x in r.region:
                        d = _range_of(x, values, loops, moving)
                        if d is None:
                            return None
                        box.append(d)
                    have = table.get(r.buffer)
                    if have is None:
                        table[r.buffer] = [box]
                    elif not _may_join(have[0], box):
                        return None
                    else:
                        have.append(box)
    return tables


def _regions(table: Table, first: int, extent: int) -> tuple[BufferRegion, ...]:
    """The regions where the loop in question runs over that part of its range."""
    out = []
    for x, boxes in table.items():
        if len(boxes) == 1:
            joined = boxes[0]
        else:
            joined = _placed(boxes[0], first, extent)
            for box in boxes[1:]:
                _join(joined, _placed(box, first, extent))
        ranges = []
        for d in joined:
            if type(d) is tuple:
                if d[0] is None:
                    d = first, extent + d[1], d[2]
                d = Range(const_int(d[0], d[2]), const_int(d[1], d[2]))
            elif type(d) is not Range:
                d = Range(d, const_int(1, d.dtype))
            ranges.append(d)
        out.append(BufferRegion(x, tuple(ranges)))
    return tuple(out)


def _placed(box: list[Any], first: int, extent: int) -> list[Any]:
    return [(first, extent + d[1], d[2]) if type(d) is tuple and d[0] is None else d for d in box]


def _runs(dom: Range, loop: tuple[int, int]) -> bool:
    return (
        type(dom.min) is IntImm and type(dom.extent) is IntImm and (dom.min.value, dom.extent.value) == loop
    )


def _range_of(
    x: Range, values: dict[Var, Expr], loops: dict[Var, tuple[int, int]], moving: Var | None
) -> Any:
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
    if moving is not None and low is moving:
        return None, count - 1, low.dtype
    first, extent = loops[low]
    return first, extent + count - 1, low.dtype


def _may_join(a: list[Any], b: list[Any]) -> bool:
    """Whether the hull of two boxes is known: an expression is only joined with itself."""
    for x, y in zip(a, b, strict=True):
        if x is not y and (type(x) is not tuple or type(y) is not tuple):
            return False
    return True


def _join(have: list[Any], box: list[Any]) -> None:
    for n, (a, b) in enumerate(zip(have, box, strict=True)):
        if a is not b:
            first = min(a[0], b[0])
            have[n] = (first, max(a[0] + a[1], b[0] + b[1]) - first, a[2])


def _written(d: Any) -> Range:
    if type(d) is tuple:
        return Range(const_int(d[0], d[2]), const_int(d[1], d[2]))
    return Range(d, const_int(1, d.dtype))
