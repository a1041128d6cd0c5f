"""Compute indices of a block beforehand, into buffers of their own.

Each index of a load that is more than an axis or a constant is computed once for each value of the axes in
it, by a block ``index_0`` into the buffer ``index_var_0``, and so on, the largest first.  With a
``cse_thresh`` of 2 or more these are the parts of indices that occur at least that often.  The blocks are
returned; there are none where the block has no such index.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``storage_scope`` is a scope (``bad-scope``)
  * ``cse_thresh`` is an integer (``bad-threshold``), at least 0

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.transform_layout("B", ("write", 0), lambda i: (i % 4, i // 4))
>>> sch.cache_index("C", "global")
[BlockRV('index_0'), BlockRV('index_1')]
>>> print(sch.get(sch.get_block("C")).body)
C[vi] = B[index_var_0[vi], index_var_1[vi]] + T.float32(1)

Source: TVM's ``cache_index``.
"""

from __future__ import annotations

from typing import Any

from tirscript.arith.linear import key_of
from tirscript.ir import op
from tirscript.ir.buffer import make_buffer, point
from tirscript.ir.expr import TRUE, BufferLoad, Call, Expr, FloatImm, IntImm, IterVar, Let, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import BadArgument, BadValue, a_kind
from ..legality.moves import with_regions
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef, block_token
from ..resolve import block_place, integer
from ..rewrite.buffers import check_scope, refuse_root
from ..rewrite.caching import child_number, children_of, scope_of
from ..state import ScheduleState


class BadThresholdType(BadArgument):
    code = "bad-threshold"
    template = "`cse_thresh` of cache_index must be an int, {given} was given"


class BadThreshold(BadValue):
    code = "bad-threshold"
    template = "`cse_thresh` of cache_index cannot be negative, {given} was given"


class Plan:
    """The block, the expressions to compute, each with the axes in it, and where they are kept."""

    __slots__ = ("exprs", "place", "storage")

    def __init__(self, place: StmtSRef, exprs: list[tuple[Expr, list[IterVar]]], storage: str) -> None:
        self.place = place
        self.exprs = exprs
        self.storage = storage


def check(state: ScheduleState, block: Any, storage_scope: Any, cse_thresh: Any = 0) -> Plan:
    """What is to be computed beforehand."""
    place = block_place(state, block, "block", "cache_index")
    refuse_root(place)
    storage = check_scope(place, storage_scope, "cache_index")
    threshold = integer(cse_thresh)
    if threshold is None:
        raise BadThresholdType(place.home, at=[(place, None)], given=a_kind(cse_thresh))
    if threshold < 0:
        raise BadThreshold(place.home, at=[(place, None)], given=str(threshold))
    b: Block = place.node.block
    axes = {iv.var: iv for iv in b.iter_vars if iv.dom is not None}
    known = {iv.var for iv in b.iter_vars} | _known_around(place)
    found: list[Expr] = []
    stack: list[Any] = [b.body] if b.init is None else [b.body, b.init]
    while stack:
        n = stack.pop()
        if type(n) is BlockRealize:
            continue  # its indices are its own affair
        if type(n) is BufferLoad:
            found += n.indices
        stack.extend(reversed(n.children()))
    good = [e for e in found if _cacheable(e, axes.keys(), known)]
    chosen = _distinct(good) if threshold < 2 else _common(good, threshold, axes.keys(), known)
    exprs = []
    for e in chosen:
        used = free_vars(e)
        exprs.append((e, [iv for v, iv in axes.items() if v in used]))
    return Plan(place, exprs, storage)


def _known_around(place: StmtSRef) -> set[Var]:
    """The axes of the blocks around and the function's own variables."""
    func = place.home.func
    out: set[Var] = set(func.params)
    for buffer in func.buffer_map.values():
        for e in buffer.shape:
            out |= free_vars(e)
    p: StmtSRef | None = scope_of(place)
    while p is not None:
        s: Any = p.node
        if type(s) is BlockRealize:
            out.update([iv.var for iv in s.block.iter_vars])
        elif type(s) is For:
            out.add(s.loop_var)
        p = p.parent
    return out


def _cacheable(e: Any, axes: Any, known: set[Var]) -> bool:
    """Whether an expression is worth a buffer, and may be computed before the block."""
    if type(e) in (Var, IntImm, FloatImm) or "x" in e.dtype or e.dtype not in ("int32", "int64"):
        return False
    used = free_vars(e)
    if used.isdisjoint(axes) or not used <= known:
        return False
    n: Any
    for n in walk(e):
        t = type(n)
        if t is BufferLoad or t is Let:
            return False
        if t is Call:
            called = op.OPS.get(n.op)
            if called is None or called.effect != "pure":
                return False
    return True


def _size(e: Expr) -> int:
    return sum(1 for _ in walk(e))


def _distinct(exprs: list[Expr]) -> list[Expr]:
    """Each expression once, the largest first."""
    seen: dict[Any, Expr] = {}
    for e in exprs:
        seen.setdefault(key_of(e), e)
    return sorted(seen.values(), key=lambda e: -_size(e))


def _common(exprs: list[Expr], threshold: int, axes: Any, known: set[Var]) -> list[Expr]:
    """The parts that occur often; what a larger one holds counts once."""
    chosen: list[Expr] = []
    parts = [n for e in exprs for n in walk(e) if isinstance(n, Expr) and _cacheable(n, axes, known)]
    for e in _distinct(parts):
        key = key_of(e)
        keys = {key_of(c) for c in chosen}
        count = sum(_occurrences(x, key, keys) for x in exprs)
        count += sum(_occurrences(x, key, keys - {key_of(x)}) for x in chosen)
        if count >= threshold:
            chosen.append(e)
    return chosen


def _occurrences(e: Any, key: Any, hidden: set[Any]) -> int:
    mine = key_of(e) if isinstance(e, Expr) else None
    if mine == key:
        return 1
    if mine in hidden:
        return 0
    return sum(_occurrences(c, key, hidden) for c in e.children())


def rewrite(state: ScheduleState, plan: Plan) -> list[BlockRV]:
    """Compute the indices before the statement that holds the block, and load them in it."""
    place = plan.place
    if not plan.exprs:
        return []
    home = place.home
    scope = scope_of(place)
    token = block_token(scope.node.block.label)
    at = child_number(scope, place)
    taken = names_around(scope)
    names_inside(scope.node, taken)
    inner = names_around(StmtSRef(scope.node, scope, 0, home))
    loads: dict[Any, BufferLoad] = {}
    nests: list[Stmt] = []
    labels: list[BlockLabel] = []
    buffers = []
    for n, (e, axes) in enumerate(plan.exprs):
        shape = tuple([iv.dom.extent for iv in axes if iv.dom is not None])
        lows = [iv.dom.min for iv in axes if iv.dom is not None]
        buffer = make_buffer(free_name(f"index_var_{n}", taken), shape, e.dtype, scope=plan.storage)
        own = set(inner)
        loops = [Var(free_name(f"ax{k}", own), iv.var.dtype) for k, iv in enumerate(axes)]
        new = [
            iv.replace(var=Var(free_name(f"v{k}", own), iv.var.dtype), kind="spatial")
            for k, iv in enumerate(axes)
        ]
        values = {iv.var: x.var for iv, x in zip(axes, new, strict=True)}
        cells = tuple([_from(x.var, low) for x, low in zip(new, lows, strict=True)])
        loads[key_of(e)] = BufferLoad(
            buffer, tuple([_from(iv.var, low) for iv, low in zip(axes, lows, strict=True)])
        )
        label = BlockLabel(f"index_{n}")
        block = Block(
            label, tuple(new), (), (point(buffer, cells),), BufferStore(buffer, substitute(e, values), cells)
        )
        nest: Stmt = BlockRealize(tuple(loops), TRUE, block)
        for v, iv in zip(reversed(loops), reversed(axes), strict=True):
            assert iv.dom is not None
            nest = For(v, iv.dom.min, iv.dom.extent, "serial", nest)
        nests.append(nest)
        labels.append(label)
        buffers.append(buffer)
    s: BlockRealize = place.node
    b = s.block
    body = _loaded(b.body, loads)
    init = None if b.init is None else _loaded(b.init, loads)
    block = with_regions(b.replace(body=body, init=init))
    state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span))
    outer = home.index[token]
    r: BlockRealize = outer.node
    items = children_of(outer)
    span = r.block.body.span if type(r.block.body) is SeqStmt else None
    new_body = SeqStmt((*items[:at], *nests, *items[at:]), span)
    changed = r.block.replace(body=new_body, alloc_buffers=(*r.block.alloc_buffers, *buffers))
    state.replace(outer, BlockRealize(r.iter_values, r.predicate, changed, r.span))
    return [BlockRV(label, home.name) for label in labels]


def _from(v: Var, low: Expr) -> Expr:
    return v if type(low) is IntImm and low.value == 0 else v - low


def _loaded(root: Any, loads: dict[Any, BufferLoad]) -> Any:
    """A statement with loads in the place of indices, or of parts of them."""

    def part(e: Any) -> Any:
        if type(e) is Var or type(e) is IntImm:
            return e
        found = loads.get(key_of(e)) if isinstance(e, Expr) else None
        if found is not None:
            return found
        return node(e) if type(e) is BufferLoad else e.map_children(part)

    def node(n: Any) -> Any:
        t = type(n)
        if t is BufferLoad:
            return n.replace(indices=tuple([part(i) for i in n.indices]))
        if t is BlockRealize or t is Var or t is IntImm:
            return n
        return n.map_children(node)

    return node(root)


KIND = InstructionKind(
    "CacheIndex", "cache_index", ("block", "storage_scope", "cse_thresh"), check, rewrite, attrs=2
)
