"""A buffer read or written through another one whose indices are made of the axes of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import accesses, conjuncts, uses_declared
from tirscript.arith.analyzer import Analyzer
from tirscript.arith.index_map import digits_shape, inverse, map_shape, substituted
from tirscript.arith.iter_map import detect_iter_map
from tirscript.arith.linear import ConstantRange
from tirscript.diagnostics import TirscriptError
from tirscript.ir.buffer import Buffer, make_buffer, point
from tirscript.ir.expr import (
    GE,
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    IntImm,
    IterVar,
    Var,
    const_int,
)
from tirscript.ir.index_map import IndexMap
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, LetStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import BadValue, Refusal, describe
from ..legality.prove import bind_around, same
from ..legality.written import axes_covered, one_cell
from ..names import free_name, names_around, names_inside
from ..refs import StmtSRef
from ..state import ScheduleState
from .caching import CacheStale, Spot, insert, place_for_reads, scope_of
from .index_maps import default_dtype, index_map_of
from .layouts import Relayout, UsedOtherwise


class SeveralIndices(Refusal):
    code = "several-indices"
    template = "block {block} cannot use {buffer} through one index: {what}"


class PartialWrite(Refusal):
    code = "partial-write"
    template = "{buffer} cannot be written back for block {block}: {what}, so old content would be lost"


class NotInjective(Refusal):
    code = "not-injective"
    template = "{buffer} cannot be copied for block {block}: {what}"


class UnmatchedAxis(Refusal):
    code = "unmatched-axis"
    template = "{index_map} uses axis `{axis}`, which is not in the index of {buffer} in block {block}"


class UnknownShape(BadValue):
    code = "unknown-shape"
    template = "{buffer} cannot be laid out as {index_map}: {what}"


class Restage:
    """The one index of a buffer in a block, the axes in it, and the index of the new buffer."""

    def __init__(self, place: StmtSRef, buffer: Buffer, index: tuple[Expr, ...], axes: list[IterVar]) -> None:
        self.place = place
        self.buffer = buffer
        self.index = index
        self.axes = axes
        self.new_index: tuple[Expr, ...] = tuple([iv.var for iv in axes])
        self.shape: tuple[Expr, ...] = tuple([_end(iv) for iv in axes])

    def refuse(self, what: str) -> None:
        raise SeveralIndices(
            self.place.home, at=[(self.place, None)], block=self.place.node, buffer=self.buffer, what=what
        )


def _end(iv: IterVar) -> Expr:
    dom = iv.dom
    assert dom is not None
    if type(dom.min) is IntImm and dom.min.value == 0:
        return dom.extent
    if type(dom.min) is IntImm and type(dom.extent) is IntImm:
        return const_int(dom.min.value + dom.extent.value, dom.extent.dtype)
    return Add(dom.min, dom.extent)


def restage(place: StmtSRef, buffer: Buffer, *, writes: bool) -> Restage:
    """The one index of the buffer in the block; refused where there are several."""
    b: Block = place.node.block
    out = Restage(place, buffer, (), [])
    if uses_declared(b) or b.match_buffers:
        out.refuse("it is opaque or uses views")
    if any(type(n) is BlockRealize for n in walk(b.body)):
        out.refuse("it holds other blocks")
    for entry in b.annotations.get("buffer_dim_align", ()):
        if b.writes[getattr(entry[0], "value", entry[0])].buffer is buffer:
            how = f'with the alignment that block "{b.name}" asks for'
            raise UsedOtherwise(place.home, at=[(place, None)], buffer=buffer, how=how)
    index: tuple[Any, ...] | None = None
    for a in accesses(b):
        if a.buffer.data is not buffer.data or (a.is_write and not writes):
            continue
        if a.buffer is not buffer or a.indices is None:
            out.refuse(f"it uses {buffer.name} through a view or pointer")
            continue
        if a.axes and not free_vars_of(a.indices).isdisjoint({x.var for x in a.axes}):
            out.refuse("the index depends on a loop inside the block")
        if index is None:
            index = a.indices
        elif any(x is not y and not same(x, y) for x, y in zip(index, a.indices, strict=True)):
            out.refuse("it uses several indices")
    if index is None:
        out.refuse("it does not use it")
    assert index is not None
    unit = {
        iv.var: iv.dom.min
        for iv in b.iter_vars
        if iv.dom is not None and type(iv.dom.extent) is IntImm and iv.dom.extent.value == 1
    }
    if any(type(n) is BufferLoad or type(n) is Call for e in index for n in walk(e)):
        out.refuse("the index depends on data")
    cx = Analyzer()
    index = tuple([e if type(e) is Var else cx.simplify(substitute(e, unit) if unit else e) for e in index])
    used = free_vars_of(index)
    around = loops_around(place)
    if not used.isdisjoint(around):
        out.refuse("the index uses a loop without an axis")
    return Restage(place, buffer, index, [iv for iv in b.iter_vars if iv.var in used and iv.dom is not None])


def free_vars_of(exprs: Sequence[Expr]) -> set[Var]:
    out: set[Var] = set()
    for e in exprs:
        out |= free_vars(e)
    return out


def loops_around(place: StmtSRef) -> dict[Var, For]:
    """The loops around a block, within its scope, innermost first."""
    out: dict[Var, For] = {}
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is For:
            out[p.node.loop_var] = p.node
        p = p.parent
    return out


def names_around_block(place: StmtSRef) -> set[Var]:
    """The names of lets around a block, within its scope."""
    out: set[Var] = set()
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is LetStmt:
            out.add(p.node.var)
        p = p.parent
    return out


def with_map(stage: Restage, index_map: Any, primitive: str) -> None:
    """Let the new buffer be indexed as a map of the block's axes says."""
    place = stage.place
    b: Block = place.node.block
    at: list[tuple[Any, str | None]] = [(place, None)]
    m = index_map_of(place, index_map, len(b.iter_vars), default_dtype(place), "index_map", primitive)
    axis_of = dict(zip(m.initial_indices, b.iter_vars, strict=True))
    covered = {iv.var for iv in stage.axes}
    used = free_vars_of(m.final_indices)
    for v, iv in axis_of.items():
        if v in used and iv.var not in covered:
            raise UnmatchedAxis(
                place.home, at=at, axis=iv.var.name, buffer=stage.buffer, index_map=repr(m), block=place.node
            )
    mine = [v for v, iv in axis_of.items() if iv.var in covered]
    own = IndexMap(mine, m.final_indices)
    ranges = {v: dom for v in mine if (dom := axis_of[v].dom) is not None}
    try:
        shape = digits_shape(own, ranges)
        if shape is None:
            if inverse(own, ranges) is None:
                raise NotInjective(
                    place.home, at=at, buffer=stage.buffer, block=place.node,
                    what=f"{own!r} is not seen to keep its axes apart",
                )  # fmt: skip
            shape = map_shape(own, ranges)
    except (TirscriptError, ConstantRange) as error:
        if isinstance(error, Refusal):
            raise
        what = error.message if isinstance(error, TirscriptError) else "its shape is too large for the dtype"
        raise UnknownShape(place.home, at=at, buffer=stage.buffer, index_map=repr(m), what=what) from None
    put: dict[Var, Expr] = {v: iv.var for v, iv in axis_of.items()}
    stage.new_index = tuple(substituted(m, put))
    stage.shape = tuple(shape)


# ---- where the copies go


def spot_for_read(state: ScheduleState, stage: Restage) -> Spot:
    """Where a copy goes from which the block alone reads."""
    place = stage.place
    reading = place_for_reads(state, place, stage.buffer, [place], None)
    if reading.spot.inside_loop:
        raise CacheStale(
            place.home, at=[(place, None)], buffer=stage.buffer, block=place.node,
            other=describe(reading.spot.level.node),
        )  # fmt: skip
    return reading.spot


def check_written(state: ScheduleState, stage: Restage) -> None:
    """The block writes all that is copied back, each cell from one element, and none needs old content."""
    place, buffer = stage.place, stage.buffer
    at: list[tuple[Any, str | None]] = [(place, None)]
    b: Block = place.node.block

    def partial(what: str) -> PartialWrite:
        return PartialWrite(place.home, at=at, buffer=buffer, block=place.node, what=what)

    if any(iv.kind != "spatial" for iv in stage.axes):
        raise partial(f"an index of {buffer.name} is not made of spatial axes")
    if one_cell(b, buffer) is None:
        raise partial(f"it does not surely store a cell of {buffer.name}, or reads it before it writes it")
    if not axes_covered(scope_of(place), place, stage.axes):
        raise partial("it is not known to run for each value of its axes")
    bare = [e for e in stage.index if type(e) is Var]
    if len({id(e) for e in bare}) < len(stage.axes):
        doms = {iv.var: iv.dom for iv in stage.axes if iv.dom is not None}
        moving = [e for e in stage.index if not free_vars(e).isdisjoint(doms)]
        if detect_iter_map(moving, doms) is None:
            raise NotInjective(
                place.home, at=at, buffer=buffer, block=place.node,
                what=f"instances with different axes may write one cell of {buffer.name}",
            )  # fmt: skip


# ---- the copies


class Fixed(Relayout):
    """Puts one index in the place of all."""

    def __init__(self, stage: Restage, new: Buffer) -> None:
        super().__init__(stage.place, stage.buffer, new, IndexMap((), ()))
        self.index = stage.new_index

    def indices(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return self.index


class Copying:
    """The loops, axes and condition of a block that copies."""

    def __init__(self, axes: list[IterVar], loops: list[For], values: list[Expr], predicate: Expr) -> None:
        self.axes = axes
        self.loops = loops
        self.values = values
        self.predicate = predicate


def fresh_loops(stage: Restage, scope: StmtSRef) -> Copying:
    """Loops ``ax0`` ... over the domains of the axes."""
    taken = names_around(StmtSRef(scope.node, scope, 0, scope.home))
    loops: list[For] = []
    axes: list[IterVar] = []
    values: list[Expr] = []
    hollow: Any = None
    for n, iv in enumerate(stage.axes):
        dom = iv.dom
        assert dom is not None
        v = Var(free_name(f"ax{n}", taken), iv.var.dtype)
        axis = Var(free_name(f"v{n}", taken), iv.var.dtype)
        loops.append(For(v, dom.min, dom.extent, "serial", hollow))
        axes.append(IterVar(axis, dom, "spatial"))
        values.append(v)
    return Copying(axes, loops, values, TRUE)


def own_loops(stage: Restage, scope: StmtSRef) -> Copying:
    """Copies of the block's own loops and axes, those that the index needs, under the conditions on them."""
    realize: BlockRealize = stage.place.node
    bound = {iv.var: e for iv, e in zip(realize.block.iter_vars, realize.iter_values, strict=True)}
    around = loops_around(stage.place)
    used = free_vars_of([bound[iv.var] for iv in stage.axes])
    named = names_around_block(stage.place)
    if not used.isdisjoint(named):
        stage.refuse("an axis is bound to a name that a let gives")
    while True:
        more = free_vars_of([e for v in used & around.keys() for e in (around[v].min, around[v].extent)])
        if more <= used:
            break
        used |= more
    taken = names_around(StmtSRef(scope.node, scope, 0, scope.home))
    new: dict[Var, Expr] = {}
    loops: list[For] = []
    for v, f in reversed(around.items()):
        if v in used:
            var = v.replace(name=free_name(v.name, taken))
            low = f.min if type(f.min) is IntImm else substitute(f.min, new)
            extent = f.extent if type(f.extent) is IntImm else substitute(f.extent, new)
            new[v] = var
            loops.append(For(var, low, extent, "serial", f.body, step=f.step))
    axes = [
        IterVar(iv.var.replace(name=free_name(iv.var.name, taken)), iv.dom, "spatial") for iv in stage.axes
    ]
    values = [substitute(bound[iv.var], new) for iv in stage.axes]
    predicate: Expr = TRUE
    for c in conjuncts(realize.predicate) if realize.predicate is not TRUE else ():
        variables = free_vars(c)
        if variables & around.keys() <= used and variables.isdisjoint(named):
            c = substitute(c, new)
            predicate = c if predicate is TRUE else And(predicate, c)
    return Copying(axes, loops, values, predicate)


def copy_nest(stage: Restage, how: Copying, new: Buffer, label: BlockLabel, *, read: bool) -> Stmt:
    """The loops and the block that copy: from the old buffer for a reader, else back to it."""
    put: dict[Var, Expr] = {iv.var: a.var for iv, a in zip(stage.axes, how.axes, strict=True)}
    theirs = tuple([substitute(e, put) for e in stage.index])
    mine = tuple([substitute(e, put) for e in stage.new_index])
    source, target = (stage.buffer, new) if read else (new, stage.buffer)
    from_, to = (theirs, mine) if read else (mine, theirs)
    block = Block(
        label, tuple(how.axes), (point(source, from_),), (point(target, to),),
        BufferStore(target, BufferLoad(source, from_), to),
    )  # fmt: skip
    predicate = _with_bounds(stage, how, theirs) if read else how.predicate
    out: Stmt = BlockRealize(tuple(how.values), predicate, block)
    for f in reversed(how.loops):
        out = f.replace(body=out)
    return out


def _with_bounds(stage: Restage, how: Copying, index: Sequence[Expr]) -> Expr:
    """The condition of the copy, with what keeps its reads inside the buffer: not all of its instances need
    be instances of the block."""
    doms = {a.var: a.dom for a in how.axes}
    cx: Analyzer | None = None
    values: dict[Var, Expr] = {a.var: e for a, e in zip(how.axes, how.values, strict=True)}
    predicate = how.predicate
    for e, size in zip(index, stage.buffer.shape, strict=True):
        dom = doms.get(e) if type(e) is Var else None
        if dom is not None and type(dom.min) is IntImm and dom.min.value == 0:
            if dom.extent is size or same(dom.extent, size):
                continue
        if cx is None:
            cx = Analyzer()
            bind_around(cx, stage.place)
            for a in how.axes:
                if a.dom is not None:
                    cx.bind(a.var, a.dom)
        for c in (GE(e, const_int(0, e.dtype)), LT(e, size)):
            if not cx.can_prove(c):
                c = substitute(c, values)
                predicate = c if predicate is TRUE else And(predicate, c)
    return predicate


def apply(
    state: ScheduleState, stage: Restage, spot: Spot, name: str, block_name: str, storage: str, *,
    read: bool, own: bool,
) -> BlockLabel:  # fmt: skip
    """Let the block use the new buffer, and add the copy."""
    scope = spot.scope
    taken = names_around(scope)
    names_inside(scope.node, taken)
    new = make_buffer(free_name(name, taken), stage.shape, stage.buffer.dtype, scope=storage)
    how = own_loops(stage, scope) if own else fresh_loops(stage, scope)
    change = Fixed(stage, new)
    change.stores = not read
    place = stage.place
    s: BlockRealize = place.node
    state.replace(place, BlockRealize(s.iter_values, s.predicate, change.block(s.block), s.span))
    label = BlockLabel(block_name)
    nest = copy_nest(stage, how, new, label, read=read)
    insert(state, spot, [(spot.at, nest)], new)
    return label


__all__ = [
    "NotInjective",
    "Restage",
    "apply",
    "check_written",
    "restage",
    "spot_for_read",
    "with_map",
]  # fmt: skip
