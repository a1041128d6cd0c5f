"""Does a block write every cell of a box, and read none before it wrote it?"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses, conjuncts, uses_declared
from tirscript.arith.iter_map import detect_iter_map
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LE, LT, TRUE, Add, And, Expr, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt
from tirscript.ir.visitor import free_vars, substitute

from ..refs import StmtSRef
from .control import escapes
from .prove import holds, runs_within, same


def written_box(level: StmtSRef, place: StmtSRef, buffer: Buffer) -> list[tuple[Expr, Expr]] | None:
    """The cells that the loops below ``level`` let the block write, each before it is read; None where that
    is not known to be a box."""
    realize: BlockRealize = place.node
    b = realize.block
    if uses_declared(b) or b.match_buffers or escapes(b.body) or not _unguarded(level, place):
        return None
    index = one_cell(b, buffer)
    if index is None:
        return None
    loops = _loops(level, place)
    values: dict[Var, Expr] = {}
    doms: dict[Any, Range | None] = {}
    for iv, value in zip(b.iter_vars, realize.iter_values, strict=True):
        values[iv.var] = value
        doms[iv.var] = iv.dom
    cells = [values[i] if type(i) is Var and i in values else substitute(i, values) for i in index]
    box = _reached(place, cells, loops)
    if box is None:
        return None
    for i, (low, extent), size in zip(index, box, buffer.shape, strict=True):
        dom = doms.get(i) if type(i) is Var else None
        if dom is not None and type(dom.min) is IntImm and dom.min.value >= 0:
            if dom.min.value == 0 and dom.extent is size:
                continue
            if type(dom.extent) is IntImm and type(size) is IntImm:
                if dom.min.value + dom.extent.value <= size.value:
                    continue
        if type(low) is IntImm and type(extent) is IntImm and type(size) is IntImm:
            if low.value < 0 or low.value + extent.value > size.value:
                return None
        elif type(low) is IntImm and low.value == 0 and (extent is size or same(extent, size)):
            continue
        elif not holds(place, LE(const_int(0, low.dtype), low)) or not holds(
            place, LE(Add(low, extent), size)
        ):
            return None
    return box


def axes_covered(level: StmtSRef, place: StmtSRef, axes: list[IterVar]) -> bool:
    """Whether the loops below ``level`` let the block run for every tuple of values of the axes."""
    realize: BlockRealize = place.node
    if not _unguarded(level, place) or escapes(realize.block.body):
        return False
    loops = _loops(level, place)
    values = {iv.var: value for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)}
    cells = [values[iv.var] for iv in axes]
    box = _reached(place, cells, loops)
    return box is not None and all(
        iv.dom is not None
        and (low is iv.dom.min or same(low, iv.dom.min))
        and (extent is iv.dom.extent or same(extent, iv.dom.extent))
        for iv, (low, extent) in zip(axes, box, strict=True)
    )


def _reached(place: StmtSRef, cells: list[Expr], loops: dict[Var, For]) -> list[tuple[Expr, Expr]] | None:
    """The box that values of the block fill while the loops run."""
    realize: BlockRealize = place.node
    b, predicate = realize.block, realize.predicate
    init = b.init is not None
    if init and not _init_runs(place):
        return None
    box = _plain(cells, loops, init) if predicate is TRUE else None
    if box is None:
        box = _image(cells, loops, predicate, init)
    if box is not None:
        return box
    # A loop may drive other axes too: together they fill a box of more dimensions.
    others = [
        (iv, value)
        for iv, value in zip(b.iter_vars, realize.iter_values, strict=True)
        if not any(value is c for c in cells) and not loops.keys().isdisjoint(free_vars(value))
    ]
    box = _image([*cells, *[value for _, value in others]], loops, predicate, init) if others else None
    if box is None:
        return None
    for (iv, _), (low, extent) in zip(others, box[len(cells) :], strict=True):
        if type(extent) is not IntImm or extent.value < 1:
            return None
        if iv.kind == "reduce" and (iv.dom is None or not same(low, iv.dom.min)):
            return None  # the init runs at the first value
    return box[: len(cells)]


def _init_runs(place: StmtSRef) -> bool:
    """Whether the first instance of each cell in the scope is one that runs the init: not where a reduction
    goes on that a loop around the scope began."""
    realize: BlockRealize = place.node
    loops: dict[Var, For] = {}
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is For:
            loops[p.node.loop_var] = p.node
        p = p.parent
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind != "reduce":
            continue
        first: Expr = value
        if type(value) is Var:
            first = loops[value].min if value in loops else value
        while type(first) is not IntImm and not loops.keys().isdisjoint(free_vars(first)):
            first = substitute(first, {v: f.min for v, f in loops.items()})
        if iv.dom is None or not same(first, iv.dom.min):
            return False
    return True


def _loops(level: StmtSRef, place: StmtSRef) -> dict[Var, For]:
    out: dict[Var, For] = {}
    p = place.parent
    while p is not None and p is not level:
        if type(p.node) is For:
            out[p.node.loop_var] = p.node
        p = p.parent
    return out


def _plain(cells: list[Expr], loops: dict[Var, For], init: bool) -> list[tuple[Expr, Expr]] | None:
    """The quick answer: each index is a loop of its own, a constant, or fixed."""
    box: list[tuple[Expr, Expr]] = []
    used: set[Var] = set()
    for e in cells:
        if type(e) is Var and e in loops and e not in used:
            f = loops[e]
            used.add(e)
            if f.step is not None:
                return None
            for end in (f.min, f.extent):
                if type(end) is not IntImm and not loops.keys().isdisjoint(free_vars(end)):
                    return None
            box.append((f.min, f.extent))
        elif type(e) is IntImm or (
            e not in loops if type(e) is Var else loops.keys().isdisjoint(free_vars(e))
        ):
            box.append((e, const_int(1, e.dtype)))
        else:
            return None
    return box if init or _all_run(loops, used) else None


def _all_run(loops: dict[Var, For], used: set[Var]) -> bool:
    """Whether the loops that are not used run at least once; a block with init stores even if not."""
    return all(v in used or (type(f.extent) is IntImm and f.extent.value > 0) for v, f in loops.items())


def _image(
    cells: list[Expr], loops: dict[Var, For], predicate: Expr, init: bool
) -> list[tuple[Expr, Expr]] | None:
    """The box that the indices fill while the loops run."""
    moving = [e for e in cells if type(e) is not IntImm and not loops.keys().isdisjoint(free_vars(e))]
    used: set[Var] = set()
    for e in moving:
        used |= free_vars(e) & loops.keys()
    for v in used:
        f = loops[v]
        if f.step is not None or not loops.keys().isdisjoint(free_vars(f.min) | free_vars(f.extent)):
            return None
    if not init and not _all_run(loops, used):
        return None
    kept: Expr = TRUE
    for c in conjuncts(predicate) if predicate is not TRUE else ():
        mine = free_vars(c) & loops.keys()
        if mine <= used:
            kept = c if kept is TRUE else And(kept, c)
        elif not mine.isdisjoint(used):
            return None
        # Else the end of the domain of another axis: the first value lies before it.
    ranges = {v: Range(f.min, f.extent) for v, f in reversed(loops.items()) if v in used}
    found = detect_iter_map(moving, ranges, kept)
    if found is None or not found.bijective:
        return None
    sides = iter(zip(found.mins, found.extents, strict=True))
    box: list[tuple[Expr, Expr]] = []
    for e in cells:
        if not any(e is m for m in moving):
            box.append((e, const_int(1, e.dtype)))
            continue
        low, extent = next(sides)
        if low is None or extent is None:
            return None
        box.append((low.to_expr(e.dtype), extent.to_expr(e.dtype)))
    return box


def one_cell(b: Any, buffer: Buffer) -> tuple[Expr, ...] | None:
    """The indices of the one cell that an instance touches, if it surely stores it before it reads it."""
    first: tuple[Any, ...] | None = None
    stored = False
    inits = False
    for a in accesses(b):
        if a.buffer is not buffer:
            if a.buffer.data is buffer.data:
                return None
            continue
        if a.indices is None or (a.init and not a.is_write):
            return None
        if first is None:
            first = a.indices
        else:
            for x, y in zip(first, a.indices, strict=True):
                if x is not y and not same(x, y):
                    return None
        if not a.is_write and not stored and b.init is None:
            return None
        if a.is_write and a.init:
            inits = True
        if a.is_write and not a.conditions and not a.guarded and not a.axes and (b.init is None or a.init):
            stored = True
    if not stored or (b.init is not None and not inits):
        return None
    return first


def _unguarded(level: StmtSRef, place: StmtSRef) -> bool:
    """Whether no condition but the ends of its axes decides whether the block runs."""
    realize: BlockRealize = place.node
    ended: set[Var] = set()
    if realize.predicate is not TRUE:
        ends = []
        for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
            if iv.dom is not None:
                ends.append((iv.var, value, Add(iv.dom.min, iv.dom.extent)))
        for c in conjuncts(realize.predicate):
            found = [v for v, value, end in ends if type(c) is LT and same(c.a, value) and same(c.b, end)]
            if not found:
                return False
            ended.update(found)
    p = place.parent
    while p is not None and p is not level:
        if type(p.node) is IfThenElse or type(p.node) not in (For, SeqStmt):
            return False
        if escapes(p.node):
            return False
        p = p.parent
    return all(
        iv.dom is None or _stays(place, value, iv.dom, iv.var in ended)
        for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
    )


def _stays(place: StmtSRef, value: Expr, dom: Range, ended: bool) -> bool:
    """Whether an axis never leaves its domain: where it does, the block does not run."""
    if type(value) is Var and place.parent is not None:
        if runs_within(place.parent, value, dom.min, dom.extent):
            return True
    if not holds(place, LE(dom.min, value)):
        return False
    return ended or holds(place, LT(value, Add(dom.min, dom.extent)))


__all__ = ["axes_covered", "one_cell", "written_box"]
