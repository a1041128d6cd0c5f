"""Buffers as arguments of primitives: which buffer of a block is meant, and where it is allocated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import did_you_mean
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import TRUE, IntImm, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import Node, memo_of
from tirscript.ir.stmt import Block, BlockRealize, Evaluate, For, SeqStmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import BadArgument, BadValue, Refusal, a_kind
from ..legality.byname import by_name, renamed
from ..refs import StmtSRef
from ..resolve import integer

if TYPE_CHECKING:
    from ..state import ScheduleState

_PLAIN = ("global", "shared", "warp", "local", "texture")
_SPECIAL = (
    "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator", "m16n8k8.matrixA", "m16n8k8.matrixB",
    "m16n8k8.matrixC", "metal.simdgroup", "amx.tmm",
)  # fmt: skip
_TAGGED = re.compile(rf"(?:{'|'.join(_PLAIN)})(?:\.[A-Za-z][\w\-]*)*\Z")


class BadBufferIndex(BadArgument):
    code = "bad-buffer-index"
    template = "`{argument}` of {primitive} must be a number, a name or a Buffer, {given} was given"


class BadBuffer(BadArgument):
    code = "bad-buffer-index"
    template = (
        '`{argument}` of {primitive} must be ("read", number), ("write", number), a name or a Buffer, '
        "{given} was given"
    )


class NoSuchBuffer(BadValue):
    code = "no-such-buffer"
    template = "block {block} {verb} no buffer {wanted}; it {verb} {known}"


class BadScopeType(BadArgument):
    code = "bad-scope"
    template = "`storage_scope` of {primitive} must be a string, {given} was given"


class BadScope(BadValue):
    code = "bad-scope"
    template = "{given} is no storage scope; there are {known}"


class NotAllocated(Refusal):
    code = "not-allocated"
    template = "{call} needs a buffer that the function allocates: {buffer} is {what}"


class RootBlock(Refusal):
    code = "root-block"
    template = "{call}: block {block} is the root of the function"
    hint_template = "take a block inside it"


def region_of(place: StmtSRef, index: Any, argument: str, primitive: str, *, reads: bool) -> int:
    """The number of the region that is meant by a number, a name or a buffer."""
    block: Block = place.node.block
    regions = block.reads if reads else block.writes
    if isinstance(index, (str, Buffer)):
        name = index if isinstance(index, str) else index.name
        # A Buffer of an earlier program, or of another copy of it, counts by its name.
        found = [n for n, r in enumerate(regions) if r.buffer is index]
        found = found or [n for n, r in enumerate(regions) if r.buffer.name == name]
        if not found:
            hint = did_you_mean(name, [r.buffer.name for r in regions])
            raise _no_such_buffer(place, regions, f"`{name}`", reads, hint)
        return found[0]
    number = integer(index)
    if number is None:
        raise BadBufferIndex(
            place.home, at=[(place, None)], argument=argument, primitive=primitive, given=a_kind(index)
        )
    if not 0 <= number < len(regions):
        raise _no_such_buffer(place, regions, str(number), reads)
    return number


def _no_such_buffer(
    place: StmtSRef, regions: tuple[BufferRegion, ...], wanted: str, reads: bool, hint: str | None = None
) -> NoSuchBuffer:
    known = ", ".join([f"{r.buffer.name} ({n})" for n, r in enumerate(regions)]) or "none"
    return NoSuchBuffer(
        place.home, at=[(place, None)], hint=hint, wanted=wanted, block=place.node,
        verb="reads" if reads else "writes", known=known,
    )  # fmt: skip


def buffer_of(place: StmtSRef, given: Any, argument: str, primitive: str) -> Buffer:
    """The buffer that ``("read", 0)``, ``("write", 0)``, a name or a Buffer means among those of a block."""
    block: Block = place.node.block
    if isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str):
        kind = given[0]
        if kind in ("read", "write"):
            number = region_of(place, given[1], argument, primitive, reads=kind == "read")
            return (block.reads if kind == "read" else block.writes)[number].buffer
    elif isinstance(given, (str, Buffer)):
        reads = any(r.buffer is given or r.buffer.name == _name(given) for r in block.reads)
        writes = any(r.buffer is given or r.buffer.name == _name(given) for r in block.writes)
        number = region_of(place, given, argument, primitive, reads=reads or not writes)
        return (block.reads if reads or not writes else block.writes)[number].buffer
    raise BadBuffer(
        place.home, at=[(place, None)], argument=argument, primitive=primitive, given=a_kind(given)
    )


def _name(given: str | Buffer) -> str:
    return given if isinstance(given, str) else given.name


def check_scope(place: StmtSRef, scope: Any, primitive: str) -> str:
    """A storage scope."""
    if not isinstance(scope, str):
        raise BadScopeType(place.home, at=[(place, None)], primitive=primitive, given=a_kind(scope))
    if scope not in _PLAIN and scope not in _SPECIAL and not _TAGGED.match(scope):
        known = ("global", "shared", "shared.dyn", "local", "warp", "texture", *_SPECIAL)
        raise BadScope(
            place.home, at=[(place, None)], given=repr(scope), known=", ".join(known),
            hint=did_you_mean(scope, known),
        )  # fmt: skip
    return scope


def in_scope(name: str, scope: str) -> str:
    """The name of a buffer that holds ``name`` in another scope: ``A_shared_dyn``."""
    return f"{name}_{scope}" if scope in _PLAIN else f"{name}_{re.sub(r'[^A-Za-z0-9_]', '_', scope)}"


def allocation_of(place: StmtSRef, buffer: Buffer) -> StmtSRef:
    """The place of the block that allocates the buffer."""
    p: StmtSRef | None = place
    what = "allocated by a statement, not by a block"
    while p is not None:
        if type(p.node) is BlockRealize:
            if buffer in p.node.block.alloc_buffers:
                return p
            if any(m.buffer is buffer for m in p.node.block.match_buffers):
                what = "a view of another buffer"
        p = p.parent
    if buffer in place.home.func.buffer_map.values():
        what = "a parameter"
    raise NotAllocated(place.home, at=[(place, None)], buffer=buffer, what=what)


def exchange(
    state: ScheduleState,
    place: StmtSRef,
    home: StmtSRef | None,
    old: Buffer,
    new: Buffer,
    change: Callable[[Any], Any] | None = None,
) -> None:
    """Put ``new`` in the place of ``old``: in the block that allocates it, or, where ``home`` is None, in the
    function whose parameter it is.  ``change`` rewrites the statements, else they are only renamed."""

    def renamed(n: Any) -> Any:
        return substitute(n, {old.data: new.data} if old.data is not new.data else {}, {old: new})

    change = renamed if change is None else change
    if home is None:
        func = place.home.func
        buffers = {p: new if b is old else b for p, b in func.buffer_map.items()}
        body = change(func.body)
        state.replace_function(
            place.home, PrimFunc(func.params, buffers, body, func.ret_type, func.attrs, func.span)
        )
        return
    s: BlockRealize = home.node
    block = change(s.block)
    allocated = tuple([new if b is old else b for b in block.alloc_buffers])
    block = block.replace(alloc_buffers=allocated)
    state.replace(home, BlockRealize(s.iter_values, s.predicate, block, s.span))


def refuse_root(place: StmtSRef) -> None:
    """Refuse the root block of a function."""
    if place.parent is None and type(place.node) is BlockRealize:
        raise RootBlock(place.home, at=[(place, None)], block=place.node)


def other_views(block: Block, buffer: Buffer) -> list[Buffer]:
    """Other buffers over the memory of ``buffer``, and views of its regions, inside a block."""
    named, matched = _named(block)
    if buffer.data not in matched:
        for other in named:
            if other.data is buffer.data and other is not buffer:
                break
        else:
            return []
    out: list[Buffer] = []
    for n in using(block, buffer.data):
        if isinstance(n, Block):
            out += [m.buffer for m in n.match_buffers if m.source.buffer.data is buffer.data]
        b = getattr(n, "buffer", None)
        if isinstance(b, Buffer) and b is not buffer and b.data is buffer.data and b not in out:
            out.append(b)
    return out


def _named(n: Any) -> tuple[frozenset[Buffer], frozenset[Var]]:
    """The buffers that are named below a loop or block, and the pointers that views are made of; memoised."""
    memo = memo_of(n)
    found: tuple[frozenset[Buffer], frozenset[Var]] | None = memo.get("named_buffers")
    if found is None:
        named: set[Buffer] = set()
        matched: set[Var] = set()
        stack: list[Any] = list(n.children())
        if type(n) is Block:
            matched.update([m.source.buffer.data for m in n.match_buffers])
        while stack:
            c = stack.pop()
            t = type(c)
            if t is Var or t is IntImm:
                continue
            if t is For or t is Block:
                buffers, pointers = _named(c)
                named |= buffers
                matched |= pointers
                continue
            b = getattr(c, "buffer", None)
            if isinstance(b, Buffer):
                named.add(b)
            stack += c.children()
        found = memo["named_buffers"] = frozenset(named), frozenset(matched)
    return found


def using(root: Block, data: Var) -> Iterator[Node]:
    """The nodes below a block, without the loops and blocks that do not use a pointer."""
    stack: list[Node] = [root]
    while stack:
        n = stack.pop()
        yield n
        stack += [
            c for c in n.children() if (type(c) is not For and type(c) is not Block) or data in free_vars(c)
        ]


def with_changed(block: Block, buffer: Buffer, change: Callable[[Block], Block]) -> Block | None:
    """The block that allocates a buffer with ``change`` made to each block inside that uses it, where all are
    blocks in plain loops and use buffers by name alone; None where there is more to it."""
    if block.init is not None or block.annotations:
        return None
    body = _changed(block.body, buffer.data, change, None)
    return None if body is None else block.replace(body=body)


def _changed(n: Any, data: Var, change: Callable[[Block], Block], other: Callable[[Any], Any] | None) -> Any:
    """A statement with ``change`` made to the blocks that use a pointer; ``other`` is for what is no block in
    plain loops, else None is the answer."""
    t = type(n)
    if t is SeqStmt:
        parts = [_changed(c, data, change, other) for c in n.seq]
        if any(a is None for a in parts):
            return None
        same = all(a is b for a, b in zip(parts, n.seq, strict=True))
        return n if same else SeqStmt(tuple(parts), n.span)
    if t is For:
        if data not in free_vars(n):
            return n
        if n.step is None and not n.annotations and type(n.min) is IntImm and type(n.extent) is IntImm:
            body = _changed(n.body, data, change, other)
            if body is None:
                return None
            return For(n.loop_var, n.min, n.extent, n.kind, body, n.thread, span=n.span)
    elif t is BlockRealize and n.predicate is TRUE and _bare(n.iter_values):
        if data not in free_vars(n.block):
            return n
        if by_name(n.block):
            return BlockRealize(n.iter_values, TRUE, change(n.block), n.span)
    elif data not in free_vars(n):
        return n
    return None if other is None else other(n)


def _bare(values: tuple[Any, ...]) -> bool:
    """Whether values of axes are variables and constants."""
    return all([type(v) is Var or type(v) is IntImm for v in values])  # noqa: C419


def with_buffer(block: Block, old: Buffer, new: Buffer) -> Block:
    """The block that allocates ``old``, with ``new`` in its place; what does not use it is kept."""

    def change(b: Block) -> Block:
        return renamed(b, old, new)

    def other(n: Any) -> Any:
        return substitute(n, {old.data: new.data}, {old: new})

    out = block.replace(
        body=_changed(block.body, old.data, change, other),
        alloc_buffers=tuple([new if b is old else b for b in block.alloc_buffers]),
    )
    if block.init is not None:
        out = out.replace(init=_changed(block.init, old.data, change, other))
    return _noted(out, old, new) if block.annotations else out


def _noted(block: Block, old: Buffer, new: Buffer) -> Block:
    """The annotations of a block may name buffers too."""
    plain = block.replace(body=Evaluate(const_int(0)), init=None)
    return substitute(plain, {old.data: new.data}, {old: new}).replace(body=block.body, init=block.init)


__all__ = [
    "allocation_of", "buffer_of", "check_scope", "exchange", "in_scope", "other_views", "refuse_root",
    "region_of", "with_buffer", "with_changed",
]  # fmt: skip
