"""What cache_read and cache_write share: where copies stand, what they copy, how they are written."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses_of, infer_regions
from tirscript.ir.buffer import Buffer, make_buffer, point
from tirscript.ir.expr import (
    LE,
    TRUE,
    Add,
    BufferLoad,
    Call,
    Expr,
    IntImm,
    IterVar,
    Range,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    For,
    IfThenElse,
    SeqStmt,
    Stmt,
    seq,
)

from .buffers import in_scope, other_views
from .errors import Refusal
from .legality import aliased_params
from .names import free_name, names_around, names_inside
from .prove import holds
from .refs import StmtSRef

Box = list[tuple[Expr, Expr]]


def scope_of(place: StmtSRef) -> StmtSRef:
    """The block around a block."""
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        p = p.parent
    assert p is not None
    return p


def children_of(scope: StmtSRef) -> tuple[Stmt, ...]:
    """The statements that follow one another in the body of a block."""
    body = scope.node.block.body
    return body.seq if type(body) is SeqStmt else (body,)


def child_number(scope: StmtSRef, place: StmtSRef) -> int:
    """The number of the statement in the body of the scope that the place stands in."""
    here = place
    while here.parent is not None and here.parent is not scope:
        if type(here.parent.node) is SeqStmt and here.parent.parent is scope:
            return here.seq_index
        here = here.parent
    return 0


def users(scope: StmtSRef, buffer: Buffer, *, writes: bool) -> set[int]:
    """The numbers of the statements of the scope that may write (or touch) the buffer."""
    aliased = aliased_params(scope.home)
    same = {b.data for b in aliased} if buffer in aliased else set()
    same.add(buffer.data)
    # The accesses of the whole scope tell also what nested blocks do; statements are told apart below.
    return {
        n
        for n, s in enumerate(children_of(scope))
        if any(a.buffer.data in same and (a.is_write or not writes) for a in accesses_of(s, (buffer,)))
    }


def read_box(scope: StmtSRef, readers: list[StmtSRef], buffer: Buffer) -> Box:
    """The hull of what the readers read; whole dimensions where it is not known to lie in the buffer."""
    nests: list[Stmt] = []
    for r in readers:
        nest: Stmt = r.node
        p = r.parent
        while p is not None and p is not scope:
            s: Any = p.node
            if type(s) is For:
                nest = For(s.loop_var, s.min, s.extent, "serial", nest, "", step=s.step)
            elif type(s) is IfThenElse or type(s) is SeqStmt:
                pass
            else:
                return whole(buffer)
            p = p.parent
        nests.append(nest)
    reads, _ = infer_regions((), seq(*nests), None, (), (), (buffer,))
    found = next((r for r in reads if r.buffer is buffer), None)
    if found is None:
        return whole(buffer)
    out: Box = []
    x: Any
    top: Any
    for x, (zero, size) in zip(found.region, whole(buffer), strict=True):
        top = size
        inside = False
        if type(x.min) is IntImm:
            if type(x.extent) is IntImm and type(top) is IntImm:
                inside = x.min.value >= 0 and x.min.value + x.extent.value <= top.value
            else:
                inside = x.min.value >= 0 and holds(readers[0], LE(Add(x.min, x.extent), top))
        out.append((x.min, x.extent) if inside else (zero, size))
    return out


def whole(buffer: Buffer) -> Box:
    """All of a buffer."""
    return [(const_int(0, n.dtype), n) for n in buffer.shape]


def new_buffer(scope: StmtSRef, buffer: Buffer, storage_scope: str) -> Buffer:
    """A dense buffer of the same shape in another scope."""
    taken = names_around(scope)
    names_inside(scope.node, taken)
    name = free_name(in_scope(buffer.name, storage_scope), taken)
    return make_buffer(name, buffer.shape, buffer.dtype, scope=storage_scope)


def copy_nest(
    scope: StmtSRef, source: Buffer, target: Buffer, box: Box, name: str
) -> tuple[Stmt, BlockLabel]:
    """Loops and a block that copy the box."""
    taken = names_around(scope)
    for iv in scope.node.block.iter_vars:
        taken.add(iv.var.name)
    loops = [Var(free_name(f"ax{n}", taken), e.dtype) for n, (_, e) in enumerate(box)]
    axes = [Var(free_name(f"v{n}", taken), e.dtype) for n, (_, e) in enumerate(box)]
    values: list[Expr] = []
    for v, (low, _) in zip(loops, box, strict=True):
        values.append(v if type(low) is IntImm and low.value == 0 else Add(v, low))
    index = tuple(axes)
    label = BlockLabel(name)
    block = Block(
        label,
        tuple([IterVar(v, Range(low, e), "spatial") for v, (low, e) in zip(axes, box, strict=True)]),
        (point(source, index),),
        (point(target, index),),
        BufferStore(target, BufferLoad(source, index), index),
    )
    out: Stmt = BlockRealize(tuple(values), TRUE, block)
    for v, (_, e) in zip(reversed(loops), reversed(box), strict=True):
        out = For(v, const_int(0, v.dtype), e, "serial", out)
    return out, label


def with_statement(scope: StmtSRef, at: int, new: Stmt, allocated: Buffer) -> BlockRealize:
    """The scope with one more statement and one more buffer."""
    s: BlockRealize = scope.node
    parts = children_of(scope)
    body = SeqStmt(
        (*parts[:at], new, *parts[at:]), s.block.body.span if type(s.block.body) is SeqStmt else None
    )
    block = s.block.replace(body=body, alloc_buffers=(*s.block.alloc_buffers, allocated))
    return BlockRealize(s.iter_values, s.predicate, block, s.span)


def check_plain(scope: StmtSRef, place: StmtSRef, buffer: Buffer) -> None:
    """Refuse a block that uses the buffer otherwise than by name: through views and pointers."""
    block = place.node.block
    views = other_views(block, buffer)
    how = f"through the view {views[0].name}" if views else ""
    n: Any
    for n in walk(block):
        if n is buffer.data or (type(n) is Call and n.op == "address_of"):
            how = how or "through its pointer"
    if how:
        raise UsedOtherwise(place.home, at=[(place, None)], buffer=buffer, block=place.node, how=how)
    p: StmtSRef | None = place.parent
    while p is not None and p is not scope:
        s: Any = p.node
        if getattr(s, "buffer", None) is buffer or getattr(s, "buffer_var", None) is buffer.data:
            raise DeclaredInside(place.home, at=[(place, None)], buffer=buffer, scope=scope.node)
        p = p.parent


class UsedOtherwise(Refusal):
    code = "used-otherwise"
    template = "{buffer} cannot be cached: block {block} also uses it {how}"


class DeclaredInside(Refusal):
    code = "declared-inside"
    template = "{buffer} cannot be cached: it is declared inside block {scope}, in which the copy would stand"


class CacheStale(Refusal):
    code = "cache-stale"
    template = (
        "a copy of {buffer} for block {block} would be stale: {other} may write it between copy and read"
    )
