"""Which two blocks can be made one, and what lies between them."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses, uses_declared
from tirscript.arith.linear import key_of
from tirscript.ir import op
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Add, BufferLoad, Call, Expr, IntImm, Let, Max, Min, Mul, Sub, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import BlockRealize, BufferStore, For, IfThenElse, SeqStmt

from ..errors import Refusal, describe
from ..legality.footprint import add_loads, touched
from ..legality.inlining import inverse_of
from ..refs import StmtSRef, block_token
from ..resolve import block_place
from ..state import ScheduleState
from .buffers import refuse_root
from .merging import Merge, StatementAround, single


class NotASingleStore(Refusal):
    code = "not-a-single-store"
    template = "block {block} cannot be computed in its producer: {what}"


class NoSingleProducer(Refusal):
    code = "no-single-producer"
    template = "block {block} cannot be computed in its producer: {what}"


class NotInvertible(Refusal):
    code = "not-invertible"
    template = "block {block} cannot be computed in its producer: the cell {index} does not tell its axes"


class NotASingleProducer(Refusal):
    code = "not-a-single-producer"
    template = "block {block} cannot be computed in the producer of {buffer}: {what}"


class OtherReader(Refusal):
    code = "other-reader"
    template = "block {block} cannot be computed in its producer: {other} uses {buffer} too"


def find_merge(state: ScheduleState, block: Any, primitive: str, producer: Any = None) -> Merge:
    """The consumer and its producer, with the cell between them."""
    place = block_place(state, block, "block" if producer is None else "epilogue_block", primitive)
    refuse_root(place)
    realize: BlockRealize = place.node
    at: list[tuple[Any, str | None]] = [(realize, None)]
    merge = Merge()
    merge.place = place
    merge.checked = state.enable_check
    merge.store, loads = _store(place, realize)
    merge.guards = []
    homes: dict[Buffer, StmtSRef] = {}
    users: dict[Buffer, list[tuple[Any, bool]]] = {}
    for n in loads:
        if n.buffer in users:
            continue
        home = _home(place, n.buffer)
        if home is not None:
            users[n.buffer] = found = _users(home, n.buffer.data)
            if any(writes for s, writes in found if s is not realize):
                homes[n.buffer] = home
    given = None if producer is None else block_place(state, producer, "reduction_block", primitive)
    if given is not None:
        written = {r.buffer for r in given.node.block.writes}
        homes = {b: h for b, h in homes.items() if b in written}
    if len(homes) != 1:
        what = "it reads no buffer that another block of the function fills"
        if homes:
            what = f"it reads several buffers of other blocks: {', '.join([b.name for b in homes])}"
        raise NoSingleProducer(place.home, at=at, block=realize, what=what)
    ((merge.buffer, merge.home),) = homes.items()
    merge.load = next(n for n in loads if n.buffer is merge.buffer)
    key = None if len(loads) == 1 else tuple([key_of(i) for i in merge.load.indices])
    for n in loads if key is not None else ():
        if n.buffer is merge.buffer and tuple([key_of(i) for i in n.indices]) != key:
            raise NoSingleProducer(
                place.home, at=at, block=realize, what=f"it reads {merge.buffer.name} at several cells"
            )
        if n.buffer is not merge.buffer and n.buffer.data is merge.buffer.data:
            raise NoSingleProducer(
                place.home, at=at, block=realize, what=f"it reads a view of {merge.buffer.name}"
            )
    _find_producer(merge, given, users[merge.buffer])
    inverse = inverse_of(merge.load.indices, realize.block.iter_vars)
    if inverse is None:
        raise NotInvertible(place.home, at=at, block=realize, index=merge.load)
    merge.inverse = inverse
    _find_top(merge)
    return merge


def _store(place: StmtSRef, realize: BlockRealize) -> tuple[BufferStore, list[BufferLoad]]:
    """The store of the consumer, and the loads in its value."""
    b = realize.block
    s: Any = b.body
    what = None
    loads: list[BufferLoad] = []
    if b.init is not None:
        what = "it has an init"
    elif type(s) is not BufferStore:
        what = f"its body is {describe(s)}, not a single store"
    elif b.alloc_buffers or b.match_buffers or s.predicate is not None or _is_opaque(realize):
        what = "it allocates or matches buffers, or is masked or opaque"
    else:
        what = impure(s.value)
        for iv in b.iter_vars:
            if iv.kind != "spatial" and not single(iv):
                what = what or f"axis `{iv.var.name}` is {iv.kind}"
        loads = _loads_of(s.value)
        for n in loads:
            if n.buffer.data is s.buffer.data:
                what = what or f"its value reads {s.buffer.name} itself"
    if what is not None:
        raise NotASingleStore(place.home, at=[(realize, None)], block=realize, what=what)
    assert type(s) is BufferStore
    return s, loads


def _loads_of(value: Expr) -> list[BufferLoad]:
    """The loads in an expression, in pre-order."""
    out: list[BufferLoad] = []
    stack: list[Any] = [value]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is BufferLoad:
            out.append(n)
            if n.predicate is None:
                stack += [i for i in reversed(n.indices) if type(i) is not Var and type(i) is not IntImm]
                continue
        elif t in _ARITHMETIC:
            stack += (n.b, n.a)
            continue
        stack += reversed(n.children())
    return out


def _is_opaque(realize: BlockRealize) -> bool:
    touched(realize)  # asked next anyhow, and it tells this too of most blocks
    return uses_declared(realize.block)


_ARITHMETIC = frozenset({Add, Mul, Max, Min, Sub})


def impure(value: Expr) -> str | None:
    """Why an expression may not be evaluated elsewhere, or several times."""
    stack: list[Any] = [value]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is BufferLoad and n.predicate is None:
            stack += [i for i in reversed(n.indices) if type(i) is not Var and type(i) is not IntImm]
            continue
        if t in _ARITHMETIC:
            stack += (n.b, n.a)
            continue
        if t is Call:
            known = op.OPS.get(n.op) if isinstance(n.op, str) else None
            if known is None or known.effect not in ("pure", "hint"):
                return "its value calls what may have an effect"
        elif t is Let:
            return "its value holds a let"
        elif t is BufferLoad and n.predicate is not None:
            return "its value holds a masked load"
        stack += reversed(n.children())
    return None


def _home(place: StmtSRef, buffer: Buffer) -> StmtSRef | None:
    """The place of the block around that allocates the buffer."""
    p = place.parent
    while p is not None:
        if type(p.node) is BlockRealize:
            for b in p.node.block.alloc_buffers:
                if b is buffer:
                    return p
        p = p.parent
    return None


def _users(home: StmtSRef, data: Var) -> list[tuple[Any, bool]]:
    """The innermost blocks, or bare statements, inside a block that use memory, and whether they write it."""
    out: list[tuple[Any, bool]] = []
    stack: list[Any] = [home.node.block.body]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is SeqStmt:
            stack += s.seq
            continue
        reads, writes = touched(s)
        if data not in reads and data not in writes:
            continue
        if t is For:
            s = s.body
            while type(s) is For:
                s = s.body
            stack.append(s)
        elif t is IfThenElse:
            found: set[Var] = set()
            add_loads((s.condition,), found)
            if data in found:
                out.append((s, data in writes))
            stack += [c for c in (s.then_case, s.else_case) if c is not None]
        elif (
            t is BlockRealize
            and type(s.block.body) is not BufferStore
            and _has_block(s.block.body)
            and all(m.source.buffer.data is not data for m in s.block.match_buffers)  # another name of it
        ):
            stack.append(s.block.body)
        else:
            out.append((s, data in writes))
    return out


def _has_block(s: Any) -> bool:
    while type(s) is For:
        s = s.body
    return type(s) is BlockRealize or (type(s) is SeqStmt and any(_has_block(c) for c in s.seq))


def _find_producer(merge: Merge, given: StmtSRef | None, users: list[tuple[Any, bool]]) -> None:
    place, buffer = merge.place, merge.buffer
    realize: BlockRealize = place.node
    at: list[tuple[Any, str | None]] = [(realize, None)]
    writers = []
    for s, writes in users:
        if s is realize:
            continue
        if writes:
            writers.append(s)
        else:
            raise OtherReader(place.home, at=[*at, (s, "")], block=realize, other=describe(s), buffer=buffer)
    fields: dict[str, Any] = {"block": realize, "buffer": buffer}
    if len(writers) != 1 or type(writers[0]) is not BlockRealize:
        names = ", ".join([describe(s) for s in writers])
        what = f"it is written by {names}" if len(writers) > 1 else f"{names} writes it"
        raise NotASingleProducer(place.home, at=at, what=what, **fields)
    found: BlockRealize = writers[0]
    if given is not None and found is not given.node:
        raise NotASingleProducer(place.home, at=at, what=f"that is {describe(found)}", **fields)
    merge.producer = place.home.index[block_token(found.block.label)]
    b = found.block
    stores = [s for s in _top_stores(b.body) if s.buffer.data is buffer.data]
    if type(b.body) is BufferStore:
        count = len(stores)
    else:
        count = sum(1 for n in walk(b.body) if type(n) is BufferStore and n.buffer.data is buffer.data)
    what = ""
    if uses_declared(b) or b.match_buffers:
        what = f"{describe(found)} is opaque"
    elif len(stores) != 1 or count != 1 or stores[0].buffer is not buffer or stores[0].predicate is not None:
        what = f"{describe(found)} does not store it once, for sure"
    elif (
        b.init is None
        and buffer.data in touched(found)[0]
        and any(not a.is_write and a.buffer.data is buffer.data for a in accesses(b))
    ):
        what = f"{describe(found)} reads it too"
    elif b.init is None and impure(stores[0].value) is not None:
        what = f"{describe(found)} calls what may have an effect"
    if what:
        raise NotASingleProducer(place.home, at=[*at, (found, "")], what=what, **fields)
    merge.made = stores[0]


def _top_stores(body: Any) -> list[BufferStore]:
    parts = body.seq if type(body) is SeqStmt else (body,)
    return [s for s in parts if type(s) is BufferStore]


def _find_top(merge: Merge) -> None:
    """What is around both blocks, and the statements between them."""
    loops: list[For] = []
    merge.slots = None
    theirs, own = merge.producer, merge.place
    while (up := theirs.parent) is not None and type(up.node) is For:
        loops.append(up.node)
        theirs = up
    while (other := own.parent) is not None and type(other.node) is For:
        own = other
    first, last = theirs.seq_index, own.seq_index
    if up is not None and up is other and type(up.node) is SeqStmt and first < last:
        # The usual case: under loops alone, in one sequence.
        merge.top = up
        merge.slots = (first, last)
        merge.others = list(up.node.seq[first + 1 : last])
        merge.loops = _with_outer(loops, up)
        return
    mine: dict[int, int] = {}
    p: StmtSRef | None = merge.place
    while p is not None and p.parent is not None:
        mine[id(p.parent)] = p.seq_index
        p = p.parent
    loops = []
    others: list[Any] = []
    p = merge.producer
    while id(p.parent) not in mine:
        up = p.parent
        assert up is not None
        if type(up.node) is SeqStmt:
            others += [c for n, c in enumerate(up.node.seq) if n != p.seq_index]
        if type(up.node) is For:
            loops.append(up.node)
        elif type(up.node) is not SeqStmt:
            raise StatementAround(
                merge.place.home, at=[(merge.place, None)], block=merge.place.node, what=describe(up.node),
                whom="its producer",
            )  # fmt: skip
        p = up
    top = p.parent
    assert top is not None
    merge.top = top
    first, last = p.seq_index, mine[id(top)]
    if type(top.node) is not SeqStmt or first >= last:
        raise NotASingleProducer(
            merge.place.home, at=[(merge.place, None), (merge.producer, "")], block=merge.place.node,
            buffer=merge.buffer, what=f"{describe(merge.producer.node)} does not come before it",
        )  # fmt: skip
    others += top.node.seq[first + 1 : last]
    p = merge.place
    while p.parent is not top:
        up = p.parent
        assert up is not None
        if type(up.node) is SeqStmt:
            others += up.node.seq[: p.seq_index]
            if any(type(q.node) is For for q in _up_to(up, top)):
                others += up.node.seq[p.seq_index + 1 :]
        p = up
    merge.loops = _with_outer(loops, top)
    merge.others = others


def _with_outer(loops: list[For], top: StmtSRef) -> list[For]:
    """Loops, innermost first, and those around ``top``; outermost first."""
    q: StmtSRef | None = top
    while q is not None:
        if type(q.node) is For:
            loops.append(q.node)
        q = q.parent
    loops.reverse()
    return loops


def _up_to(place: StmtSRef, top: StmtSRef) -> list[StmtSRef]:
    out = []
    p = place.parent
    while p is not None and p is not top:
        out.append(p)
        p = p.parent
    return out


__all__ = ["NotASingleProducer", "find_merge"]
