"""Compute what a block stores where it is read, and remove the block and its buffer.

The block must be elementwise: it stores one value in every cell of a buffer of its own.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * it has no init (``inline-init``), and its body is one store of a value without side effects
    (``not-a-single-store``)
  * its axes are spatial, and each is one index of the store, over the whole of that dimension, or has one
    iteration or is not used; or the indices tell the axes in another way (``B[7 - i]``, ``B[i * 4 + j]``,
    ``B[i // 4, i % 4]``), and meet every element (``not-every-cell``)
  * no condition but the bounds of its own axes decides whether it runs (``guarded-producer``)
  * a block allocates the buffer (``not-allocated``); no other statement writes it (``other-writer``), and all
    others read single elements of it (``opaque-reader``)
  * its scope holds something else (``only-block``)
  * what the value reads is not written between the block and those that read its buffer
    (``read-overtakes-write``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.compute_inline("B")
>>> print(sch.mod["main"].body.block.body.body.block.body)
C[vi] = A[vi] * T.float32(2) + T.float32(1)

Source: TVM's ``compute_inline``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript.analysis.access import Access, accesses_of, conjuncts, uses_declared
from tirscript.analysis.inferred import infer_regions
from tirscript.arith.linear import to_linear
from tirscript.ir import op
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    LT,
    TRUE,
    Add,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    IntImm,
    IterVar,
    Let,
    Max,
    Mul,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, SeqStmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal, describe
from ..legality.footprint import cells, touched
from ..legality.inlining import Inverse, inverse_of
from ..legality.motion import meeting
from ..legality.moves import paths, surely_before, vanished, with_regions, without
from ..legality.prove import same
from ..legality.surroundings import aliased_params, outside_ranges
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import allocation_of, refuse_root
from ..state import ScheduleState, lifted


class InlineInit(Refusal):
    code = "inline-init"
    template = (
        "block {block} cannot be inlined: it has an init, so its value is not known before its loops end"
    )


class NotASingleStore(Refusal):
    code = "not-a-single-store"
    template = "block {block} cannot be inlined: {what}"


class NotEveryCell(Refusal):
    code = "not-every-cell"
    template = "block {block} cannot be inlined: {what}"
    hint_template = "inline blocks that store each cell once, at its own spatial axes"


class GuardedProducer(Refusal):
    code = "guarded-producer"
    template = "block {block} cannot be inlined: it runs only where {condition}"


class OtherWriter(Refusal):
    code = "other-writer"
    template = "block {block} cannot be inlined: {buffer} is also written by {other}"


class OpaqueReader(Refusal):
    code = "opaque-reader"
    template = (
        "block {block} cannot be inlined: {other} uses {buffer} otherwise than by reading single elements"
    )


class OnlyBlock(Refusal):
    code = "only-block"
    template = "block {block} cannot be inlined: nothing else stands in {scope}"


class ReadOvertakesWrite(Refusal):
    code = "read-overtakes-write"
    template = (
        "block {block} cannot be inlined: it reads {buffer}, which {other} may write after the block ran"
    )
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class Plan:
    """The block, where its buffer is allocated, and what a cell holds as a function of its indices."""

    __slots__ = ("buffer", "home", "inverse", "place", "slots", "value")

    def __init__(
        self,
        place: StmtSRef,
        home: StmtSRef,
        buffer: Buffer,
        value: Expr,
        slots: list[Var | None],
        inverse: Inverse | None,
    ) -> None:
        self.place = place
        self.home = home
        self.buffer = buffer
        self.value = value
        self.slots = slots  # for each dimension the axis that is its index; None for a constant one
        self.inverse = inverse  # or the axes as functions of the indices

    def values(self, indices: Sequence[Expr]) -> dict[Var, Expr]:
        """The axes for an element of the buffer."""
        if self.inverse is not None:
            return self.inverse.at(indices)
        out: dict[Var, Expr] = {}
        for v, i in zip(self.slots, indices, strict=True):
            if v is not None:
                out[v] = i if i.dtype == v.dtype else Cast(v.dtype, i)
        return out


def check(state: ScheduleState, block: Any) -> Plan:
    """The value as a function of the indices, if the block can be inlined."""
    place = block_place(state, block, "block", "compute_inline")
    refuse_root(place)
    realize: BlockRealize = place.node
    b = realize.block
    touched(realize)  # notes on the block whether it is opaque
    at: list[tuple[Any, str | None]] = [(realize, None)]
    if b.init is not None:
        raise InlineInit(place.home, at=at, block=realize)
    store, needed = _store(place, realize)
    buffer = store.buffer
    home = allocation_of(place, buffer)
    if home is place:
        raise NotASingleStore(place.home, at=at, block=realize, what=f"it allocates {buffer.name} itself")
    inverse = None
    try:
        slots, constants = _slots(place, realize, store, needed)
    except NotEveryCell:
        inverse = _whole_inverse(realize, store)
        if inverse is None:
            raise
        slots, constants = [], {}
    _check_guards(place, realize)
    users = _users(home, buffer)
    found: list[Access] | None = None
    if not all(_only_reads(s, store) for s in users):
        found = _uses_of(users, buffer)
        _check_uses(place, users, store, found)
    top, rest = without(place)
    if rest is None:
        raise OnlyBlock(
            place.home, at=at, block=realize, scope=describe(top.parent.node if top.parent else None)
        )
    plan = Plan(place, home, buffer, store.value, slots, inverse)
    if state.enable_check:
        _check_order(plan, store, lambda: _uses_of(users, buffer) if found is None else found)
    value = store.value if store.value.dtype == buffer.dtype else Cast(buffer.dtype, store.value)
    if constants:
        value = substitute(value, constants)
    plan.value = value
    return plan


def _whole_inverse(realize: BlockRealize, store: BufferStore) -> Inverse | None:
    """The inverse of a store at other indices than its axes, if it stores every element of the buffer."""
    if any(iv.kind != "spatial" for iv in realize.block.iter_vars):
        return None
    found = inverse_of(store.indices, realize.block.iter_vars)
    if found is None:
        return None
    for (low, high), n in zip(found.box, store.buffer.shape, strict=True):
        size = to_linear(n)
        if size is None or low.key() != 0 or (size - high).key() != 1:
            return None
    return found


def _store(place: StmtSRef, realize: BlockRealize) -> tuple[BufferStore, frozenset[Var]]:
    """The store of the block, and the variables in it."""
    b = realize.block
    s = b.body
    what = None
    needed: frozenset[Var] = frozenset()
    if type(s) is not BufferStore:
        what = f"its body is {describe(s)}, not a single store"
    elif b.alloc_buffers or b.match_buffers:
        what = "it allocates or matches buffers"
    elif s.predicate is not None or uses_declared(b):
        what = "its store is masked or opaque"
    elif type(s.value) is BufferLoad and _bare(s.value.indices) and _bare(s.indices) and _plain_copy(s, b):
        # A copy at its own axes: nothing else is in it.
        return s, frozenset([i for i in (*s.indices, *s.value.indices) if type(i) is Var])
    else:
        own = {iv.var for iv in b.iter_vars}
        n: Any
        for n in walk(s.value):
            t = type(n)
            if t is Call:
                known = op.OPS.get(n.op)
                if known is None or known.effect != "pure":
                    what = f"its value calls {n.op}, which may have an effect or depend on where it stands"
            elif t is Let:
                what = "its value holds a let"
            elif t is BufferLoad:
                if n.buffer.data is s.buffer.data:
                    what = f"its value reads {s.buffer.name} itself"
                elif n.predicate is not None:
                    what = "its value holds a masked load"
        around = _loops_around(place, s.buffer)
        needed = free_vars(s)
        for v in needed:
            if v in around and v not in own:
                what = f"it uses the loop `{v.name}` without an axis"
    if what is not None:
        raise NotASingleStore(place.home, at=[(realize, None)], block=realize, what=what)
    assert type(s) is BufferStore
    return s, needed


def _plain_copy(s: BufferStore, b: Block) -> bool:
    """Whether a store of one load at variables is of another buffer, and the variables are axes."""
    load: Any = s.value
    if load.predicate is not None or load.buffer.data is s.buffer.data:
        return False
    own = {iv.var for iv in b.iter_vars}
    return all([type(i) is IntImm or i in own for i in (*s.indices, *load.indices)])  # noqa: C419


def _loops_around(place: StmtSRef, buffer: Buffer) -> set[Var]:
    """The variables of the loops, axes and other definitions around a block, below the block that allocates
    the buffer: those further out are the same for all who use it."""
    out: set[Var] = set()
    p = place.parent
    while p is not None:
        s: Any = p.node
        if type(s) is For:
            out.add(s.loop_var)
        elif type(s) is BlockRealize:
            if any(b is buffer for b in s.block.alloc_buffers):
                break
            out.update([iv.var for iv in s.block.iter_vars])
        elif isinstance(getattr(s, "var", None), Var):
            out.add(s.var)
        p = p.parent
    return out


def _slots(
    place: StmtSRef, realize: BlockRealize, store: BufferStore, needed: frozenset[Var]
) -> tuple[list[Var | None], dict[Var, Expr]]:
    b = realize.block
    doms = {iv.var: iv for iv in b.iter_vars}
    slots: list[Var | None] = []
    used: set[Var] = set()
    what = None
    for n, (i, size) in enumerate(zip(store.indices, store.buffer.shape, strict=True)):
        iv = doms.get(i) if type(i) is Var else None
        if iv is not None and iv.dom is not None and iv.var not in used:
            low = iv.dom.min
            from_zero = low.value == 0 if type(low) is IntImm else same(low, const_int(0, low.dtype))
            whole = from_zero and same(iv.dom.extent, size)
            if not whole:
                what = f"axis `{iv.var.name}` does not run over dimension {n} of {store.buffer.name}"
            used.add(iv.var)
            slots.append(iv.var)
        elif type(i) is IntImm and i.value == 0 and type(size) is IntImm and size.value == 1:
            slots.append(None)
        else:
            what = f"index {n} of its store is not an axis of its own"
            break
    constants: dict[Var, Expr] = {}
    for iv in b.iter_vars:
        if iv.kind != "spatial" and not (iv.var in used or iv.var not in needed):
            what = what or f"axis `{iv.var.name}` is not spatial"
        if iv.var not in used and iv.var in needed:
            if iv.dom is not None and type(iv.dom.extent) is IntImm and iv.dom.extent.value == 1:
                constants[iv.var] = iv.dom.min
            else:
                what = what or f"it stores a cell once for each `{iv.var.name}`"
        if iv.kind not in ("spatial", "reduce"):
            what = what or f"axis `{iv.var.name}` is {iv.kind}"
    if what is not None:
        raise NotEveryCell(place.home, at=[(realize, None)], block=realize, what=what)
    return slots, constants


def _check_guards(place: StmtSRef, realize: BlockRealize) -> None:
    """Only the ends of the axes' own domains may be conditions."""
    ends: list[tuple[Expr, Expr]] = []
    given = conjuncts(realize.predicate) if realize.predicate is not TRUE else ()
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True) if given else ():
        if iv.dom is not None:
            ends.append((value, Add(iv.dom.min, iv.dom.extent)))
    for c in given:
        if not (type(c) is LT and any(same(c.a, v) and same(c.b, end) for v, end in ends)):
            raise GuardedProducer(place.home, at=[(realize, None)], block=realize, condition=c)
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is IfThenElse:
            raise GuardedProducer(place.home, at=[(realize, None)], block=realize, condition=p.node.condition)
        p = p.parent


def _name_of(a: Access) -> str:
    return f'block "{a.realizes[-1].block.name}"' if a.realizes else describe(a.stmt)


def _users(home: StmtSRef, buffer: Buffer) -> list[Any]:
    """The statements in the body of the block that touch the buffer, not counting sequences."""
    out: list[Any] = []
    stack: list[Any] = [home.node.block.body]
    if home.node.block.init is not None:
        stack.append(home.node.block.init)
    while stack:
        s = stack.pop()
        if type(s) is SeqStmt:
            stack.extend(reversed(s.seq))
            continue
        reads, writes = touched(s)
        if buffer.data in reads or buffer.data in writes:
            out.append(s)
    return out


def _uses_of(users: list[Any], buffer: Buffer) -> list[Access]:
    return [a for s in users for a in accesses_of(s) if a.buffer.data is buffer.data]


def _only_reads(s: Any, store: BufferStore) -> bool:
    """Whether a statement, but for the store, surely only reads single elements of the buffer."""
    seen = cells(s)
    if seen is None:
        return False
    buffer = store.buffer
    for n in seen:
        if n.buffer.data is buffer.data and n is not store:
            if type(n) is not BufferLoad or n.buffer is not buffer or n.predicate is not None:
                return False
            for i in n.indices:
                if "x" in i.dtype:
                    return False
    return True


def _check_uses(place: StmtSRef, users: list[Any], store: BufferStore, found: list[Access]) -> None:
    realize = place.node
    for a in found:
        if a.stmt is store:
            continue
        opaque = (
            a.buffer is not store.buffer or a.indices is None or type(a.node) not in (BufferLoad, BufferStore)
        )
        if not opaque and not a.is_write:
            opaque = a.node.predicate is not None or any("x" in i.dtype for i in a.node.indices)
        if a.is_write and not opaque:
            raise OtherWriter(
                place.home, at=[(realize, None)], block=realize, buffer=store.buffer, other=_name_of(a)
            )
        if opaque:
            raise OpaqueReader(
                place.home, at=[(realize, None)], block=realize, buffer=store.buffer, other=_name_of(a)
            )
    # What is not an access that was seen: views, pointers, regions that are declared only.
    n: Any
    for n in [n for s in users for n in walk(s)]:
        t = type(n)
        if t is Block and (n.match_buffers or uses_declared(n)):
            regions = (*n.reads, *n.writes, *[m.source for m in n.match_buffers])
            if any(r.buffer.data is store.buffer.data for r in regions) and (
                uses_declared(n) or any(m.source.buffer.data is store.buffer.data for m in n.match_buffers)
            ):
                raise OpaqueReader(
                    place.home, at=[(realize, None)], block=realize, buffer=store.buffer,
                    other=f'block "{n.name}"',
                )  # fmt: skip
        elif n is store.buffer.data or (
            t is Call and n.op == "address_of" and getattr(n.args[0], "buffer", None) is store.buffer
        ):
            raise OpaqueReader(
                place.home, at=[(realize, None)], block=realize, buffer=store.buffer, other="a call"
            )


def _check_order(plan: Plan, store: BufferStore, uses: Callable[[], list[Access]]) -> None:
    """Whoever writes what the value reads does so before the block, or after all that read its buffer; or
    writes none of the elements that are read."""
    place, home = plan.place, plan.home

    def readers() -> list[Access]:
        return [a for a in uses() if a.stmt is not store]

    reads: dict[Var, Buffer] = {n.buffer.data: n.buffer for n in walk(store.value) if type(n) is BufferLoad}
    if not reads:
        return
    aliased = aliased_params(place.home)
    params = set(place.home.func.buffer_map.values())
    inside = set()
    p = place.parent
    while p is not None and p is not home:
        inside.add(id(p))
        p = p.parent
    for buffer in reads.values():
        if buffer in params:
            scope = _root_of(place)
            same = {buffer, *aliased} if buffer in aliased else {buffer}
            _check_writers(place, scope, same, plan, readers)
            continue
        try:
            scope = allocation_of(place, buffer)
        except Refusal:
            scope = place
        if scope is not place and id(scope) in inside and not _all_inside(scope, readers()):
            scope = place
        if scope is place:
            what = f"its value reads {buffer.name}, which exists only inside a block around it"
            raise NotASingleStore(place.home, at=[(place.node, None)], block=place.node, what=what)
        _check_writers(place, scope, {buffer}, plan, readers)


def _all_inside(scope: StmtSRef, readers: list[Access]) -> bool:
    """Whether all readers stand in the block too."""
    return all(any(r is scope.node for r in a.realizes) for a in readers)


def _root_of(place: StmtSRef) -> StmtSRef:
    while place.parent is not None:
        place = place.parent
    return place


def _check_writers(
    place: StmtSRef,
    scope: StmtSRef,
    buffers: set[Buffer],
    plan: Plan,
    uses: Callable[[], list[Access]],
) -> None:
    """Every write to the buffers inside the block ``scope`` leaves the values that are read as they were."""
    memory = {b.data for b in buffers}
    mine = _child_of(scope, place)
    parts = scope.node.block.body
    for n, part in enumerate(parts.seq if type(parts) is SeqStmt else (parts,)):
        if n < mine or memory.isdisjoint(touched(part)[1]):
            continue  # what stands before has run for good
        where: dict[int, Any] | None = None
        readers: list[Access] = []
        for a in accesses_of(part):
            if not a.is_write or a.buffer.data not in memory:
                continue
            if where is None:
                where = paths(scope.node.block.body)
                readers = uses()
            here, theirs = where.get(id(place.node)), where.get(id(a.stmt))
            if here is None or theirs is None:
                fine = False
            else:
                behind = [where.get(id(r.stmt)) for r in readers]
                fine = surely_before(theirs, here) or (
                    bool(behind) and all(r is not None and surely_before(r, theirs) for r in behind)
                )
            if not fine and not _never_meets(plan, a, readers):
                raise ReadOvertakesWrite(
                    place.home, at=[(place.node, None)], block=place.node, buffer=a.buffer, other=_name_of(a)
                )


def _child_of(scope: StmtSRef, place: StmtSRef) -> int:
    """The number of the statement in the body of the block ``scope`` that the place stands in."""
    p = place
    while p.parent is not None and p.parent is not scope:
        if type(p.parent.node) is SeqStmt and p.parent.parent is scope:
            return p.seq_index
        p = p.parent
    return 0


def _never_meets(plan: Plan, write: Access, readers: list[Access]) -> bool:
    """Whether the element that is written is none of those that readers would read themselves."""
    place = plan.place
    loads = [n for n in walk(plan.value) if type(n) is BufferLoad]
    aliased = aliased_params(place.home)
    mine: list[Access] = []
    for r in readers:
        if r.indices is None:
            return False
        values = plan.values(r.indices)
        mine += [
            Access(
                n.buffer, tuple([substitute(i, values) for i in n.indices]), False, r.axes, r.conditions,
                r.stmt, n, False, None, r.realizes, r.guarded, r.owner, r.over,
            )
            for n in loads
        ]  # fmt: skip
    root = _root_of(place)
    return meeting(mine, [write], (None,), [], (aliased, outside_ranges(root), ())) is None


def _constant(iv: IterVar) -> bool:
    dom = iv.dom
    return dom is None or (type(dom.min) is IntImm and type(dom.extent) is IntImm)


def _bare(indices: tuple[Expr, ...]) -> bool:
    return all([type(i) is Var or type(i) is IntImm for i in indices])  # noqa: C419


def _at(value: Any, values: dict[Var, Expr]) -> Expr:
    """The value for other axes; a load at axes alone, as a copy has it, is made directly."""
    if type(value) is BufferLoad and value.predicate is None and _bare(value.indices):
        indices = tuple([values.get(i, i) if type(i) is Var else i for i in value.indices])
        return BufferLoad(value.buffer, indices, None, value.span)
    made: Expr = substitute(value, values)
    return made


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Take the block out, then put the value in the place of each load."""
    top, rest = without(plan.place)
    assert rest is not None
    buffer = plan.buffer

    def inline(n: Any) -> Any:
        t = type(n)
        if t is Var or t is IntImm or t is FloatImm:
            return n
        if t is For or t is BlockRealize:
            if buffer.data not in touched(n)[0]:
                return n
            if t is For and type(n.min) is IntImm and type(n.extent) is IntImm and n.step is None:
                body = inline(n.body)
                return For(n.loop_var, n.min, n.extent, n.kind, body, n.thread, n.annotations, None, n.span)
        if t is BufferLoad and n.buffer is buffer:
            values = plan.values(n.indices if _bare(n.indices) else [inline(i) for i in n.indices])
            return _at(plan.value, values) if values else plan.value
        if (t is BufferLoad or t is BufferStore) and n.predicate is None and _bare(n.indices):
            if t is BufferLoad:
                return n
            value = inline(n.value)
            return n if value is n.value else BufferStore(n.buffer, value, n.indices, None, n.span)
        if t is Block and any(r.buffer is buffer for r in n.reads):
            if n.match_buffers:
                return with_regions(n.map_children(inline))
            axes = tuple([iv if _constant(iv) else inline(iv) for iv in n.iter_vars])
            init, inner = None if n.init is None else inline(n.init), inline(n.body)
            reads, writes = infer_regions(axes, inner, init, n.alloc_buffers)
            return Block(
                n.label, axes, reads, writes, inner, init, n.alloc_buffers, (), n.annotations, n.span
            )
        if t is BlockRealize and n.predicate is TRUE and _bare(n.iter_values):
            return BlockRealize(n.iter_values, TRUE, inline(n.block), n.span)
        if t is Add or t is Mul or t is Max:
            a, b = inline(n.a), inline(n.b)
            return n if a is n.a and b is n.b else t(a, b, n.span)
        return n.map_children(inline)

    s: BlockRealize = plan.home.node
    block = s.block
    body = lifted(plan.home, top, rest)
    block = block.replace(
        body=inline(body), init=None if block.init is None else inline(block.init),
        alloc_buffers=tuple([b for b in block.alloc_buffers if b is not buffer]),
    )  # fmt: skip
    if block.reads and any(r.buffer is buffer for r in block.reads):
        block = with_regions(block)
    gone = vanished(plan.place, top)
    state.replace(plan.home, BlockRealize(s.iter_values, s.predicate, block, s.span), gone)


KIND = InstructionKind("ComputeInline", "compute_inline", ("block",), check, rewrite)
