"""Copies of buffers: where they stand, what they hold, how they are written.

A copy stands in the block around (its *scope*), or, where statements of the same nest write and read the
buffer in turn, further in, in the body of a loop.  What it must hold is decided by dependence: a write that
reaches a reader must come before the copy; one that does not may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import Access, accesses
from tirscript.ir.buffer import Buffer, MatchBufferRegion, make_buffer, point
from tirscript.ir.expr import (
    TRUE,
    Add,
    BufferLoad,
    Expr,
    IntImm,
    IterVar,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.index_map import IndexMap
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    For,
    LetStmt,
    SeqStmt,
    Stmt,
)
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal, describe
from ..legality.apart import loops_apart
from ..legality.boxes import Box, is_whole, read_box, touched_box, whole
from ..legality.byname import DeclaredInside, UsedOtherwise, by_name, check_plain, renamed, shared_memory
from ..legality.flows import Touches, meets, reaches, reduction_loops, written_memory
from ..legality.init_order import used_by_others
from ..legality.outer_reduction import init_inside
from ..legality.surroundings import aliased_params, outside_ranges
from ..names import free_name, names_around, names_inside
from ..refs import StmtSRef, block_token
from ..state import ScheduleState, lifted, with_child
from .buffers import in_scope
from .layouts import Relayout


class CacheStale(Refusal):
    code = "cache-stale"
    template = (
        "a copy of {buffer} for block {block} would be stale: {other} may write it between copy and read"
    )
    hint_template = "if you know that it does not, Schedule(mod, enable_check=False) skips this test"


# ---- places


def scope_of(place: StmtSRef) -> StmtSRef:
    """The block around a block."""
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        p = p.parent
    assert p is not None
    return p


def body_of(level: StmtSRef) -> Stmt:
    """The body of a block or loop."""
    s: Any = level.node
    return s.block.body if type(s) is BlockRealize else s.body


def children_of(level: StmtSRef) -> tuple[Stmt, ...]:
    """The statements that follow one another in the body of a block or loop."""
    body = body_of(level)
    return body.seq if type(body) is SeqStmt else (body,)


def child_number(level: StmtSRef, place: StmtSRef) -> int:
    """The number of the statement in the body of a block or loop that the place stands in; -1 for none."""
    here = place
    while here.parent is not None and here.parent is not level:
        if type(here.parent.node) is SeqStmt and here.parent.parent is level:
            return here.seq_index
        here = here.parent
    return 0 if here.parent is level else -1


class Spot:
    """Where a copy goes: before statement ``at`` in the body of the block or loop at ``level``."""

    __slots__ = ("at", "level", "scope")

    def __init__(self, scope: StmtSRef, level: StmtSRef, at: int) -> None:
        self.scope = scope
        self.level = level
        self.at = at

    @property
    def inside_loop(self) -> bool:
        return self.level is not self.scope


def descended(level: StmtSRef, child: Any) -> StmtSRef | None:
    """The innermost loop below ``child`` whose body is a sequence, if all on the way are serial loops."""
    while type(child) is For and child.kind in ("serial", "unrolled"):
        if type(child.body) is SeqStmt:
            return level.home.index[child.loop_var]
        child = child.body
    return None


class Reading:
    """Who reads the copy of a buffer, and where the copy goes."""

    __slots__ = ("readers", "spot")

    def __init__(self, spot: Spot, readers: list[StmtSRef]) -> None:
        self.spot = spot
        self.readers = readers


def place_for_reads(
    state: ScheduleState,
    place: StmtSRef,
    buffer: Buffer,
    given: list[StmtSRef],
    others: Any,
) -> Reading:
    """Where a copy goes for ``given`` readers, or else for the block and all other readers of the same
    values; ``others(level, at, end)`` lists those between two statements."""
    scope = scope_of(place)
    aliased = aliased_params(scope.home)
    level = scope
    while True:
        items = children_of(level)
        written = _writers(items, buffer, aliased)
        first = min([child_number(level, r) for r in given or [place]])
        before = [n for n in written if n < first]
        at = before[-1] + 1 if before else 0
        if given:
            readers = given
        else:
            end = min([n for n in written if n >= first], default=len(items))
            readers = others(level, at, end)
        stale = None
        if state.enable_check and any(n >= at for n in written):
            stale = stale_between(level, buffer, readers, at)
        if stale is None and level is not scope and any(init_reads(level, r, buffer) for r in readers):
            stale = first
        if stale is None:
            return Reading(Spot(scope, level, at), readers)
        numbers = {child_number(level, r) for r in readers}
        inner = descended(level, items[first]) if numbers == {first} else None
        if inner is None and not given and numbers != {first}:
            inner = descended(level, items[first])
        if inner is None:
            raise CacheStale(
                place.home, at=[(place, None)], buffer=buffer, block=place.node, other=describe(items[stale])
            )
        level = inner


def stale_between(level: StmtSRef, buffer: Buffer, readers: list[StmtSRef], at: int) -> int | None:
    """The number of a statement, from ``at`` on, that may write what the readers read later."""
    items = children_of(level)
    aliased = aliased_params(level.home)
    last = max([child_number(level, r) for r in readers])
    if not _writers(items[at : last + 1], buffer, aliased):
        return None
    return _stale(level, _touches(items, buffer, aliased), readers, at)


def _writers(items: Sequence[Stmt], buffer: Buffer, aliased: frozenset[Any]) -> list[int]:
    """The numbers of the statements that may write the memory of the buffer."""
    memory = {buffer.data, *[b.data for b in aliased]} if buffer in aliased else {buffer.data}
    return [n for n, s in enumerate(items) if not memory.isdisjoint(written_memory(s))]


def _touches(items: Sequence[Stmt], buffer: Buffer, aliased: frozenset[Any]) -> dict[int, Touches]:
    memory = {buffer.data, *[b.data for b in aliased]} if buffer in aliased else {buffer.data}
    out = {}
    for n, s in enumerate(items):
        if memory.isdisjoint(free_vars(s)):
            continue
        t = Touches(s, buffer, aliased)
        if t.found:
            out[n] = t
    return out


def _stale(level: StmtSRef, found: dict[int, Touches], readers: list[StmtSRef], at: int) -> int | None:
    """The number of a statement whose write may come between the copy and a read of what it wrote."""
    outside: Any = None
    realizes = {r.node for r in readers}
    around = around_level(level)
    last = max([child_number(level, r) for r in readers])
    for n, t in found.items():
        if not at <= n <= last or not t.writes:
            continue
        if outside is None:
            outside = {**outside_ranges(level), **_own_range(level)}
        for m, other in found.items():
            if m < n or m > last:
                continue
            reads = [a for a in other.found if not a.is_write and realizes.intersection(a.realizes)]
            for w in t.writes:
                if hoisted(w, around):
                    continue  # an init that has run before
                for r in reads:
                    if hoisted(r, around):
                        bad = True
                    elif m > n:
                        bad = meets(w, r, outside)
                    else:
                        bad = reaches(w, r, t.found.index(w) < t.found.index(r), outside)
                    if bad:
                        return n
    return None


def around_level(level: StmtSRef) -> set[Var]:
    """The loop at the level, the loops and names around it, and the axes of the blocks around it."""
    out: set[Var] = set()
    p: StmtSRef | None = level
    while p is not None:
        if type(p.node) is For:
            out.add(p.node.loop_var)
        elif type(p.node) is BlockRealize:
            out.update([iv.var for iv in p.node.block.iter_vars])
        elif type(p.node) is LetStmt:
            out.add(p.node.var)
        p = p.parent
    return out


def hoisted(a: Access, around: set[Var]) -> bool:
    """Whether an access is in an init that runs before one of the loops around."""
    return not around.isdisjoint(a.over)


def init_before(level: StmtSRef, place: StmtSRef) -> bool:
    """Whether a block has an init, or one inside it has, which runs before the loop at the level or what is
    around it."""
    around = around_level(level)
    return bool(around) and init_inside(place.node, around) is not None


def begins_in(scope: StmtSRef, place: StmtSRef) -> bool:
    """Whether the reduction of a block, which goes on in what is around the scope, begins where the reduction
    loops there are in their first iterations: the other loops have cells of their own in each iteration, and
    no other statement uses the cells meanwhile."""
    realize: BlockRealize = place.node
    if realize.block.init is None:
        return False
    reduced = reduction_loops(realize)
    values = zip(realize.block.iter_vars, realize.iter_values, strict=True)
    spatial = set().union(*[free_vars(e) for iv, e in values if iv.kind != "reduce"])
    loops: list[For] = []
    others: list[Var] = []
    p: StmtSRef | None = place
    while p is not None:
        s = p.node
        if type(s) is For:
            loops.append(s)
            once = type(s.extent) is IntImm and s.extent.value == 1
            if not once and s.loop_var not in reduced:
                others.append(s.loop_var)
        elif type(s) is LetStmt and s.var in reduced:
            return False  # what the name stands for is not looked into
        elif type(s) is BlockRealize and p is not place:
            for iv, e in zip(s.block.iter_vars, s.iter_values, strict=True):
                if iv.var not in reduced:
                    others.append(iv.var)
                elif iv.kind != "reduce":
                    return False  # each of its instances begins the reduction in memory of its own
                elif type(e) is Var:
                    reduced.add(e)
                if type(e) is Var and iv.var in spatial:
                    spatial.add(e)
        p = p.parent
    apart = loops_apart(realize, loops)
    # Loops that blocks around bind to axes are as these.
    p = place.parent
    while p is not None:
        if type(p.node) is BlockRealize:
            block: Block = p.node.block
            values = zip(block.iter_vars, p.node.iter_values, strict=True)
            apart |= {e for iv, e in values if type(e) is Var and iv.var in apart}
        p = p.parent
    if not reduced.isdisjoint(spatial) or not apart.issuperset(others):
        return False
    # The init would pass what other statements do in those loops.
    over = [f for f in loops if f.loop_var in reduced]
    return not over or used_by_others(over[-1], realize) is None


def init_reads(level: StmtSRef, place: StmtSRef, buffer: Buffer) -> bool:
    """Whether a block has an init that reads the buffer, or needs what a name, an axis or a condition around
    it reads, and runs before what stands at the level."""
    return init_before(level, place) and any(
        not a.is_write
        and a.buffer.data is buffer.data
        and (a.init or (a.region is None and type(a.stmt) is not BufferStore))
        for a in accesses(place.node.block)
    )


def _own_range(level: StmtSRef) -> dict[Var, Any]:
    """The range of the loop or the axes at the level itself."""
    return outside_ranges(StmtSRef(level.node, level, 0, level.home))


# ---- the copy


class Cache:
    """A buffer for the box of another one, and how accesses change.

    Inside a loop it has the whole shape, else that of the box, with indices counted from the box's start.
    """

    def __init__(
        self, spot: Spot, buffer: Buffer, storage: str, box: Box, *, compact: bool, new: Buffer | None = None
    ) -> None:
        self.spot = spot
        self.buffer = buffer
        self.box = box
        if new is not None:
            self.compact, self.name, self.new = False, new.name, new
            return
        taken = names_around(spot.scope)
        names_inside(spot.scope.node, taken)
        self.compact = compact and not spot.inside_loop and not is_whole(box, buffer)
        if self.compact:
            axes = {iv.var for iv in spot.scope.node.block.iter_vars}
            self.compact = all(type(e) is IntImm or axes.isdisjoint(free_vars(e)) for _, e in box)
        shape = tuple([e for _, e in box]) if self.compact else buffer.shape
        self.name = in_scope(buffer.name, storage)
        self.new = make_buffer(free_name(self.name, taken), shape, buffer.dtype, scope=storage)

    def used_by(self, place: StmtSRef, *, reads_only: bool) -> Block:
        """The block with its accesses changed."""
        block: Block = place.node.block
        stores = not reads_only or all(r.buffer is not self.buffer for r in block.writes)
        if not self.compact and stores:
            if by_name(block) and not shared_memory(block, self.buffer):
                return renamed(block, self.buffer, self.new)
            pointers: dict[Var, Expr] = {self.buffer.data: self.new.data}
            buffers = {self.buffer: self.new}
            for n in walk(block):
                if type(n) is MatchBufferRegion and n.source.buffer is self.buffer:
                    view = n.buffer
                    data = view.data.replace(pointee=(view.dtype, self.new.scope))
                    pointers[view.data] = data
                    buffers[view] = view.replace(data=data, scope=self.new.scope)
            return substitute(block, pointers, buffers)
        initial = [Var(f"i{n}", low.dtype) for n, (low, _) in enumerate(self.box)]
        final = [
            v if not self.compact or (type(low) is IntImm and low.value == 0) else Sub(v, low)
            for v, (low, _) in zip(initial, self.box, strict=True)
        ]
        change = Relayout(place, self.buffer, self.new, IndexMap(initial, final))
        change.stores = stores
        return change.block(block)

    def apply(
        self,
        state: ScheduleState,
        places: Sequence[StmtSRef],
        parts: Sequence[tuple[int, Stmt]],
        *,
        reads_only: bool = False,
    ) -> None:
        """Let blocks use the cache, and put in the statements that fill it and write it back."""
        spot = self.spot
        home = spot.scope.home
        if len(places) == 1:
            s: BlockRealize = places[0].node
            block = self.used_by(places[0], reads_only=reads_only)
            used = BlockRealize(s.iter_values, s.predicate, block, s.span)
            insert(state, spot, parts, self.new, (places[0], used))
            return
        for token in [block_token(p.node.block.label) for p in places]:
            place = home.index[token]
            s = place.node
            block = self.used_by(place, reads_only=reads_only)
            state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span))
        insert(state, spot, parts, self.new)

    def nest(self, *, fill: bool, name: str = "") -> tuple[Stmt, BlockLabel]:
        """Loops and a block that copy the box into the cache, or back."""
        level = self.spot.level
        taken = names_around(StmtSRef(level.node, level, 0, level.home))
        taken.add(self.new.name)
        box = self.box
        loops = [Var(free_name(f"ax{n}", taken), e.dtype) for n, (_, e) in enumerate(box)]
        axes = [Var(free_name(f"v{n}", taken), e.dtype) for n, (_, e) in enumerate(box)]
        values: list[Expr] = []
        doms: list[Range] = []
        theirs: list[Expr] = []
        for v, axis, (low, extent), size in zip(loops, axes, box, self.buffer.shape, strict=True):
            zero = type(low) is IntImm and low.value == 0
            if self.compact or zero or not self.spot.inside_loop:
                doms.append(Range(const_int(0, extent.dtype), extent))
                values.append(v)
                theirs.append(axis if zero else Add(low, axis))
            else:
                doms.append(Range(const_int(0, size.dtype), size))
                values.append(Add(low, v))
                theirs.append(axis)
        there = tuple(theirs)
        here = tuple(axes) if self.compact else there
        source, target = (self.buffer, self.new) if fill else (self.new, self.buffer)
        from_, to = (there, here) if fill else (here, there)
        label = BlockLabel(name or self.name)
        block = Block(
            label,
            tuple([IterVar(v, dom, "spatial") for v, dom in zip(axes, doms, strict=True)]),
            (point(source, from_),),
            (point(target, to),),
            BufferStore(target, BufferLoad(source, from_), to),
        )

        out: Stmt = BlockRealize(tuple(values), TRUE, block)
        for v, (_, e) in zip(reversed(loops), reversed(box), strict=True):
            out = For(v, const_int(0, v.dtype), e, "serial", out)
        return out, label


def insert(
    state: ScheduleState,
    spot: Spot,
    parts: Sequence[tuple[int, Stmt]],
    allocated: Buffer,
    changed: tuple[StmtSRef, Stmt] | None = None,
) -> None:
    """Put statements into the body at the spot's level (numbers count the old ones), and allocate a buffer in
    its scope; ``changed`` is a place below a scope's body, and what takes its place."""
    home = spot.scope.home
    scope = home.index[block_token(spot.scope.node.block.label)]
    level = home.index[spot.level.node.loop_var] if spot.inside_loop else scope
    body = body_of(level) if changed is None else lifted(level, *changed)
    body = _with_parts(body, parts)
    if spot.inside_loop:
        body = lifted(scope, level, with_child(level.node, 0, body))
    s: BlockRealize = scope.node
    b = s.block
    block = Block(
        b.label, b.iter_vars, b.reads, b.writes, body, b.init, (*b.alloc_buffers, allocated), b.match_buffers,
        b.annotations, b.span,
    )  # fmt: skip
    state.replace(scope, BlockRealize(s.iter_values, s.predicate, block, s.span), ())


def _with_parts(body: Stmt, parts: Sequence[tuple[int, Stmt]]) -> SeqStmt:
    items = list(body.seq) if type(body) is SeqStmt else [body]
    for at, s in parts if len(parts) == 1 else sorted(parts, key=lambda part: -part[0]):
        items.insert(at, s)
    return SeqStmt(tuple(items), body.span if type(body) is SeqStmt else None)


__all__ = [
    "Box",
    "Cache",
    "CacheStale",
    "DeclaredInside",
    "Reading",
    "Spot",
    "UsedOtherwise",
    "begins_in",
    "body_of",
    "check_plain",
    "child_number",
    "children_of",
    "descended",
    "init_before",
    "init_reads",
    "insert",
    "is_whole",
    "place_for_reads",
    "read_box",
    "scope_of",
    "stale_between",
    "touched_box",
    "whole",
]  # fmt: skip
