"""Pad the iteration domain of an einsum: each extent grows to a multiple of its padding.

What the block reads is copied into padded buffers ``<buffer>_pad`` in front of its nest; what it writes goes
to one, too, and is copied back behind it.  Buffers that no padded axis indexes are left alone.  The padding
holds a value that the reduction does not notice: zero for a sum of products.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``padding`` is a list of one positive integer for each axis (``bad-padding``)
  * only loops stand around the block in its scope, each around the next one alone (``not-perfect-nest``)
  * each axis is bound to a loop of its own, over its whole domain from 0, and no predicate leaves instances
    out (``not-trivial-binding``); loops that grow are bound to no thread (``bound-loop``)
  * the body is one store, to spatial axes, and every index is an axis or a constant (``not-einsum``); two
    accesses of a padded buffer agree on the axes' extents (``mixed-indices``)
  * where a reduction axis grows, the new iterations change nothing: the block is a sum, product, minimum or
    the like, and some value in the padding makes each of them neutral (``padding-not-neutral``)
  * what is read is not what is written (``aliased-read``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.pad_einsum("Y", [1, 24, 1])
>>> loop_lines(sch)
for i0 in range(16):
for i1 in range(24):
for i in range(16):
for j in range(24):
for k in range(16):
for i0 in range(16):
for i1 in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``pad_einsum``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tirscript.analysis.access import uses_declared
from tirscript.analysis.reducer import identity_of, reductions_of, updates
from tirscript.arith.analyzer import simplify
from tirscript.arith.linear import key_of
from tirscript.ir.buffer import Buffer, BufferRegion, make_buffer, point
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    FloorDiv,
    IntImm,
    IterVar,
    Mul,
    Range,
    Var,
    const_int,
)
from tirscript.ir.node import memo_of
from tirscript.ir.ops import const
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute, walk

from ..errors import BadArgument, BadValue, Refusal, describe
from ..legality.prove import divides, same
from ..legality.surroundings import aliased_params
from ..names import free_name, names_around
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place, integer
from ..rewrite.buffers import refuse_root
from ..rewrite.caching import scope_of
from ..state import ScheduleState, lifted_parts


class BadPadding(BadArgument):
    code = "bad-padding"
    template = "`padding` of pad_einsum must be a list of integers, {given} was given"


class BadPaddingValue(BadValue):
    code = "bad-padding"
    template = (
        "`padding` of pad_einsum must hold {count} positive integers, one for each axis of block {block}: "
        "{given}"
    )


class NotPerfectNest(Refusal):
    code = "not-perfect-nest"
    template = "block {block} cannot be padded: {what} stands around it, not only loops"


class NotTrivialBinding(Refusal):
    code = "not-trivial-binding"
    template = "block {block} cannot be padded: {what}"
    hint_template = "pad before the loops are split, fused or guarded"


class BoundLoop(Refusal):
    code = "bound-loop"
    template = "block {block} cannot be padded: loop `{loop}`, which would grow, is bound to {thread}"


class NotEinsum(Refusal):
    code = "not-einsum"
    template = "block {block} is no einsum: {what}"


class MixedIndices(Refusal):
    code = "mixed-indices"
    template = "{buffer} cannot be padded for block {block}: dimension {dim} is indexed in several ways"


class PaddingNotNeutral(Refusal):
    code = "padding-not-neutral"
    template = "block {block} cannot be padded along reduction axis `{axis}`: {what}"
    hint_template = "pad spatial axes only"


class AliasedRead(Refusal):
    code = "aliased-read"
    template = "block {block} cannot be padded: {buffer}, which it reads, may be the memory of what it writes"


class Padded:
    """A buffer that gets a padded copy: the axis that indexes each dimension, None where a constant does."""

    __slots__ = ("axes", "buffer", "indices")

    def __init__(self, buffer: Buffer, indices: tuple[Expr, ...], axes: list[Var | None]) -> None:
        self.buffer = buffer
        self.indices = indices
        self.axes = axes


class Plan:
    """The nest, the old and new extent of each axis, the buffers to be padded and with what."""

    __slots__ = ("chain", "extents", "filled", "new", "output", "place", "reads", "top")

    def __init__(self, place: StmtSRef, top: StmtSRef, chain: list[For]) -> None:
        self.place = place
        self.top = top
        self.chain = chain  # outermost first
        self.extents: dict[Var, Expr] = {}
        self.new: dict[Var, Expr] = {}  # of the axes that grow
        self.reads: list[Padded] = []
        self.filled: dict[Buffer, Expr] = {}  # what stands in the padding of each
        self.output: Padded | None = None


def check(state: ScheduleState, block: Any, padding: Any) -> Plan:
    """What grows, if the block can be padded so."""
    place = block_place(state, block, "block", "pad_einsum")
    refuse_root(place)
    realize: BlockRealize = place.node
    b = realize.block
    at: list[tuple[Any, str | None]] = [(realize, None)]
    if not isinstance(padding, (list, tuple)):
        raise BadPadding(place.home, at=at, given=repr(padding))
    sizes: list[int] = []
    for p in padding:
        size = integer(p)
        if size is None:
            raise BadPadding(place.home, at=at, given=repr(list(padding)))
        sizes.append(size)
    if len(sizes) != len(b.iter_vars) or (sizes and min(sizes) <= 0):
        raise BadPaddingValue(
            place.home, at=at, block=realize, count=str(len(b.iter_vars)), given=repr(list(padding))
        )
    plan = _nest(place)
    _bind(plan, realize, sizes)
    _check_body(place, realize)
    _collect(plan, realize)
    if state.enable_check:
        _check_memory(place, realize)
    return plan


def _nest(place: StmtSRef) -> Plan:
    chain: list[For] = []
    top = place
    p = place.parent
    while p is not None and type(p.node) is For:
        chain.append(p.node)
        top, p = p, p.parent
    if p is not None and type(p.node) is SeqStmt:
        p = p.parent
    if p is None or type(p.node) is not BlockRealize:
        what = describe(p.node) if p is not None else "nothing"
        raise NotPerfectNest(place.home, at=[(place.node, None)], block=place.node, what=what)
    chain.reverse()
    return Plan(place, top, chain)


def _bind(plan: Plan, realize: BlockRealize, sizes: list[int]) -> None:
    """The extents of the axes, old and new."""
    b = realize.block
    loops = {f.loop_var: f for f in plan.chain}
    seen: set[Var] = set()
    what = None
    if realize.predicate is not TRUE:
        what = "it has a predicate"
    for iv, value, size in zip(b.iter_vars, realize.iter_values, sizes, strict=True):
        f = loops.get(value) if type(value) is Var else None
        if f is None or value in seen:
            what = what or f"axis `{iv.var.name}` is not bound to a loop of its own"
            continue
        seen.add(f.loop_var)
        dom = iv.dom
        assert dom is not None
        if f.step is not None or not (_is_zero(f.min) and _is_zero(dom.min) and same(f.extent, dom.extent)):
            what = what or f"loop `{f.loop_var.name}` does not run over the domain of `{iv.var.name}` from 0"
            continue
        plan.extents[iv.var] = dom.extent
        new = _rounded(dom.extent, size)
        if new is None:
            continue
        plan.new[iv.var] = new
        if f.thread:
            raise BoundLoop(
                plan.place.home, at=[(realize, None), (f, "")], block=realize, loop=f, thread=f.thread
            )
        for g in plan.chain:
            if type(g.min) is IntImm and type(g.extent) is IntImm:
                continue
            if f.loop_var in free_vars(g.min) or f.loop_var in free_vars(g.extent):
                what = what or f"the extent of loop `{g.loop_var.name}` depends on `{f.loop_var.name}`"
    if what is not None:
        raise NotTrivialBinding(plan.place.home, at=[(realize, None)], block=realize, what=what)


def _is_zero(e: Expr) -> bool:
    return e.value == 0 if type(e) is IntImm else same(e, const_int(0, e.dtype))


def _rounded(extent: Expr, size: int) -> Expr | None:
    """The next multiple; None where the extent is one."""
    if type(extent) is IntImm:
        new = -(-extent.value // size) * size
        return None if new == extent.value else const_int(new, extent.dtype)
    if divides(extent, size) is not None:
        return None
    step = const_int(size, extent.dtype)
    return Mul(FloorDiv(Add(extent, const_int(size - 1, extent.dtype)), step), step)


def _check_body(place: StmtSRef, realize: BlockRealize) -> None:
    memo = memo_of(realize.block)
    what: str | None = memo.get("no_einsum", "")
    if what == "":
        what = memo["no_einsum"] = _no_einsum(realize.block)
    if what is not None:
        raise NotEinsum(place.home, at=[(realize, None)], block=realize, what=what)


def _no_einsum(b: Block) -> str | None:
    """Why a block is no einsum; None where it is one."""
    s: Any = b.body
    what = None
    kinds: dict[Any, str] = {iv.var: iv.kind for iv in b.iter_vars}
    if type(s) is not BufferStore or s.predicate is not None:
        what = f"its body is {describe(s)}, not a single store"
    elif uses_declared(b) or b.match_buffers or b.alloc_buffers:
        what = "it is opaque, or allocates or matches buffers"
    elif not _EINSUM.issuperset(kinds.values()):
        what = "it has axes that are neither spatial nor reduction axes"
    elif not _own_cell(s.indices, kinds):
        what = f"its cell of {s.buffer.name} is not told by different spatial axes"
    elif b.init is not None and not (
        type(b.init) is BufferStore and b.init.buffer is s.buffer and _same_cell(b.init.indices, s.indices)
    ):
        what = "its init stores something else"
    else:
        n: Any
        for n in _loads(b):
            plain, vectors = n.predicate is None, False
            for i in n.indices:
                if type(i) is not IntImm and i not in kinds:
                    plain = False
                if "x" in i.dtype:
                    vectors = True
            if not plain:
                what = what or f"an index of {n.buffer.name} is neither an axis nor a constant"
            if n.buffer.data is s.buffer.data and not (
                n.buffer is s.buffer and _same_cell(n.indices, s.indices)
            ):
                what = what or f"it reads {s.buffer.name} elsewhere than at the cell that it writes"
            if vectors:
                what = what or "it reads vectors"
    return what


_EINSUM = frozenset({"spatial", "reduce"})


def _own_cell(indices: tuple[Any, ...], kinds: dict[Any, str]) -> bool:
    """Whether a cell is told by different spatial axes, and by constants."""
    seen: set[Any] = set()
    for i in indices:
        if type(i) is IntImm:
            continue
        if i in seen or kinds.get(i) != "spatial":
            return False
        seen.add(i)
    return True


def _loads(b: Block) -> list[BufferLoad]:
    """The loads of body and init; memoised on the block."""
    memo = memo_of(b)
    found: list[BufferLoad] | None = memo.get("loads")
    if found is None:
        parts = [b.body] if b.init is None else [b.body, b.init]
        found = memo["loads"] = [n for part in parts for n in walk(part) if isinstance(n, BufferLoad)]
    return found


def _same_cell(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
    for i, j in zip(a, b, strict=True):
        if i is j:
            continue
        if key_of(i) != key_of(j):
            return False
    return True


def _collect(plan: Plan, realize: BlockRealize) -> None:
    """The buffers that grow, and what their padding holds."""
    b = realize.block
    store: Any = b.body
    found: dict[Buffer, tuple[Any, ...]] = {}
    loads: list[Any] = _loads(b)
    for n in [*loads, store]:
        have = found.setdefault(n.buffer, n.indices)
        if have is n.indices:
            continue
        for d, (i, j) in enumerate(zip(have, n.indices, strict=True)):
            if i is not j and _way(plan, i) != _way(plan, j) and (i in plan.new or j in plan.new):
                raise MixedIndices(
                    plan.place.home, at=[(realize, None)], block=realize, buffer=n.buffer, dim=str(d)
                )
    grown: dict[Buffer, Padded] = {}
    for x, indices in found.items():
        for i in indices:
            if i in plan.new:
                axes = [i if type(i) is Var else None for i in indices]
                grown[x] = Padded(x, indices, axes)
                break
    order = [r.buffer for r in b.reads]
    order += [x for x in grown if x not in order]
    out = grown.get(store.buffer)
    plan.output = out
    # A cell that is updated without an init holds something before.
    again = b.init is None and any(n.buffer is store.buffer for n in _loads(b))
    plan.reads = [grown[x] for x in order if x in grown and (x is not store.buffer or again)]
    reduced = [iv for iv in b.iter_vars if iv.kind == "reduce" and iv.var in plan.new]
    for p in plan.reads:
        plan.filled[p.buffer] = _zero(p.buffer.dtype)
    if reduced:
        _fill_neutral(plan, realize, reduced)


def _way(plan: Plan, i: Any) -> Any:
    if type(i) is IntImm:
        return i.value
    return key_of(plan.extents[i]), key_of(plan.new.get(i, plan.extents[i]))


@cache
def _zero(dtype: str) -> Expr:
    return const(0, dtype) if dtype != "bool" else IntImm(0, "bool")


def _fill_neutral(plan: Plan, realize: BlockRealize, reduced: list[IterVar]) -> None:
    """Find values for the padding with which the new iterations change nothing."""
    b = realize.block
    # Which value it is, is a fact of the block, given the axes that grow and the buffers that are padded.
    memo = memo_of(b)
    key = ("neutral", *[iv.var for iv in reduced], *[p.buffer for p in plan.reads])
    known: str | None = memo.get(key)
    if known is not None:
        for p in plan.reads:
            plan.filled[p.buffer] = _candidate(known, p.buffer.dtype)
        return
    found = reductions_of(b)
    first = reduced[0]
    kinds = {u.reducer.kind for several in updates(b).values() for u in several}
    if found is None or len(found) != 1 or len(found[0].values) != 1 or len(kinds) != 1:
        raise PaddingNotNeutral(
            plan.place.home, at=[(realize, None), (first, "")], block=realize, axis=first,
            what="the block is no reduction of one buffer by a known operator",
        )  # fmt: skip
    (kind,) = kinds
    (value,) = found[0].values
    combiner = found[0].combiner
    assert combiner.identity is not None
    neutral = [combiner.identity[0]]
    init: Any = b.init
    if init is not None and combiner.repeatable:
        neutral.append(init.value)
    last = first
    for candidate in ("0", "1", kind, "-1"):
        for p in plan.reads:
            plan.filled[p.buffer] = _candidate(candidate, p.buffer.dtype)
        for iv in reduced:
            last = iv
            there = _in_padding(plan, value, iv.var)
            if not any(_is_number(there, n) for n in neutral):
                break
        else:
            memo[key] = candidate
            return
    raise PaddingNotNeutral(
        plan.place.home, at=[(realize, None), (last, "")], block=realize, axis=last,
        what=f"no value in the padding is known to leave the {kind} as it is",
    )  # fmt: skip


@cache
def _candidate(which: str, dtype: str) -> Expr:
    d = info(dtype)
    if which in ("0", "1", "-1"):
        if dtype == "bool" or (which == "-1" and d.code == "uint"):
            return IntImm(which != "0", "bool") if dtype == "bool" else identity_of("bitwise_and", dtype)
        return const(int(which), dtype)
    try:
        return identity_of(which, dtype)
    except (KeyError, ValueError, OverflowError):
        return _zero(dtype)


def _in_padding(plan: Plan, value: Expr, axis: Var) -> Expr:
    """What is combined where the axis is beyond its old extent."""

    def f(n: Any) -> Any:
        t = type(n)
        if t is BufferLoad and n.buffer in plan.filled:
            for i in n.indices:
                if i is axis:
                    return plan.filled[n.buffer]
        elif t is Mul or t is Add:
            a, b = f(n.a), f(n.b)
            return n if a is n.a and b is n.b else t(a, b, n.span)
        return n.map_children(f)

    there = f(value)
    if type(there) is Mul and there.a is there.b and there.a is _candidate("0", there.dtype):
        return there.a
    return simplify(there)


def _is_number(e: Any, wanted: Any) -> bool:
    return (
        type(e) is type(wanted)
        and type(e) in (IntImm, FloatImm)
        and e.dtype == wanted.dtype
        and e.value == wanted.value
    )


def _check_memory(place: StmtSRef, realize: BlockRealize) -> None:
    store: Any = realize.block.body
    aliased = aliased_params(place.home)
    if store.buffer in aliased:
        for n in _loads(realize.block):
            if n.buffer is not store.buffer and n.buffer in aliased:
                raise AliasedRead(place.home, at=[(realize, None)], block=realize, buffer=n.buffer)


# ---- rewriting


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Grow the nest, between the copies into padded buffers and the copy back."""
    if not plan.new:
        return
    realize: BlockRealize = plan.place.node
    home = plan.top.home
    taken = names_around(plan.top)
    blocks = {p.node.block.name for t, p in home.index.items() if type(t) is BlockLabel}
    padded: dict[Buffer, Buffer] = {}
    every = [*plan.reads]
    if plan.output is not None and all(p is not plan.output for p in every):
        every.append(plan.output)
    sizes = {**plan.extents, **plan.new}
    for p in every:
        x = p.buffer
        shape = tuple([n if v is None else sizes[v] for v, n in zip(p.axes, x.shape, strict=True)])
        padded[x] = make_buffer(free_name(f"{x.name}_pad", taken), shape, x.dtype, scope=x.scope)
    before = [_copy_in(plan, p, padded[p.buffer], taken, blocks) for p in plan.reads]
    after = None
    if plan.output is not None:
        after = _copy_back(plan, plan.output, padded[plan.output.buffer], taken, blocks)
    nest = _grown(plan, realize, padded)
    scope = scope_of(plan.top)
    r: BlockRealize = scope.node
    parts = (*before, nest) if after is None else (*before, nest, after)
    rb = r.block
    new = Block(
        rb.label, rb.iter_vars, rb.reads, rb.writes, lifted_parts(scope, plan.top, parts), rb.init,
        (*rb.alloc_buffers, *padded.values()), rb.match_buffers, rb.annotations, rb.span,
    )  # fmt: skip
    state.replace(scope, BlockRealize(r.iter_values, r.predicate, new, r.span), ())


def _grown(plan: Plan, realize: BlockRealize, padded: dict[Buffer, Buffer]) -> Stmt:
    b = realize.block

    def moved(n: Any) -> Any:
        t = type(n)
        if t is BufferLoad:  # its indices are axes and constants
            new = padded.get(n.buffer)
            return n if new is None else BufferLoad(new, n.indices, None, n.span)
        if t is Var or t is IntImm or t is FloatImm:
            return n
        if t is Call:
            return substitute(n, {x.data: y.data for x, y in padded.items()}, padded)
        if t is Mul or t is Add:
            a, b = moved(n.a), moved(n.b)
            return n if a is n.a and b is n.b else t(a, b, n.span)
        return n.map_children(moved)

    def stored(s: Any) -> BufferStore:
        mask = None if s.predicate is None else moved(s.predicate)
        return BufferStore(padded.get(s.buffer, s.buffer), moved(s.value), s.indices, mask, s.span)

    axes = []
    extents: dict[Any, Expr] = {}
    for iv, v in zip(b.iter_vars, realize.iter_values, strict=True):
        n = plan.new.get(iv.var)
        if n is not None:
            extents[v] = n
            iv = IterVar(iv.var, Range(const_int(0, n.dtype), n), iv.kind, iv.thread_tag, iv.span)
        axes.append(iv)

    def regions(given: tuple[BufferRegion, ...]) -> tuple[BufferRegion, ...]:
        return tuple([BufferRegion(padded.get(r.buffer, r.buffer), r.region, r.span) for r in given])

    block = Block(
        b.label, tuple(axes), regions(b.reads), regions(b.writes), stored(b.body),
        None if b.init is None else stored(b.init), (), (), b.annotations, b.span,
    )  # fmt: skip
    out: Stmt = BlockRealize(realize.iter_values, realize.predicate, block, realize.span)
    for f in reversed(plan.chain):
        extent = extents.get(f.loop_var, f.extent)
        out = For(f.loop_var, f.min, extent, f.kind, out, f.thread, f.annotations, f.step, f.span)
    return out


Dims = list[tuple[Expr, Expr]]


def _copy(source: Buffer, target: Buffer, dims: Dims, label: str, taken: set[str], inside: Any) -> Stmt:
    """Loops over the dimensions (least value, extent) around a block that stores to the target."""
    names = set(taken)
    loops: list[tuple[Var, Expr, Expr]] = []
    variables: list[Var] = []
    ivs: list[IterVar] = []
    values: list[Expr] = []
    for d, (low, n) in enumerate(dims):
        i = Var(free_name(f"i{d}", names), n.dtype)
        v = Var(free_name(f"v{d}", names), n.dtype)
        variables.append(v)
        ivs.append(IterVar(v, Range(low, n), "spatial"))
        zero: Expr = low
        if type(low) is not IntImm or low.value or low.dtype != n.dtype:
            zero = const_int(0, n.dtype)
        loops.append((i, zero, n))
        values.append(i if type(low) is IntImm and low.value == 0 else Add(i, low))
    axes = tuple(variables)
    cell = point(target, axes)
    block = Block(
        BlockLabel(label), tuple(ivs), (BufferRegion(source, cell.region),), (cell,),
        BufferStore(target, inside(axes), axes),
    )  # fmt: skip
    out: Stmt = BlockRealize(tuple(values), TRUE, block)
    for i, zero, n in reversed(loops):
        out = For(i, zero, n, "serial", out)
    return out


def _copy_in(plan: Plan, p: Padded, target: Buffer, taken: set[str], blocks: set[str]) -> Stmt:
    """``target[..] = buffer[..]`` inside the old extents, the value of the padding outside.  Where the block
    reads under a condition, an axis may go beyond the buffer, which the copy must not."""

    def inside(axes: tuple[Var, ...]) -> Expr:
        x = p.buffer
        condition: Expr | None = None
        for a, v, size in zip(axes, p.axes, x.shape, strict=True):
            if v is None:
                continue
            extent = plan.extents[v]
            bounds: tuple[Expr, ...] = (extent,) if v in plan.new else ()
            if type(extent) is IntImm and type(size) is IntImm:
                if size.value < extent.value:
                    bounds = (size,)
            elif not same(extent, size):
                bounds = (*bounds, size)
            for bound in bounds:
                if bound.dtype != a.dtype:
                    bound = simplify(Cast(a.dtype, bound))
                c = LT(a, bound)
                condition = c if condition is None else And(condition, c)
        value = BufferLoad(x, axes)
        if condition is None:
            return value
        return Call(x.dtype, "if_then_else", (condition, value, plan.filled[x]))

    dims: Dims = [(const_int(0, n.dtype), n) for n in target.shape]
    return _copy(p.buffer, target, dims, free_name(target.name, blocks), taken, inside)


def _copy_back(plan: Plan, p: Padded, source: Buffer, taken: set[str], blocks: set[str]) -> Stmt:
    """The cells that the block would have written."""
    dims: Dims = []
    for i, v in zip(p.indices, p.axes, strict=True):
        dims.append((i, const_int(1, i.dtype)) if v is None else (const_int(0, v.dtype), plan.extents[v]))
    label = free_name(source.name, blocks)
    return _copy(source, p.buffer, dims, label, taken, lambda axes: BufferLoad(source, axes))


KIND = InstructionKind("PadEinsum", "pad_einsum", ("block", "padding"), check, rewrite, attrs=1)
