"""Writing the two blocks of a plan of ``blocking``: bodies, init, regions, names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.analysis.inferred import infer_regions
from tirscript.arith.analyzer import Analyzer, simplify
from tirscript.ir.buffer import BufferRegion
from tirscript.ir.expr import (
    LE,
    TRUE,
    Add,
    And,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Min,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, For, SeqStmt, Stmt, seq
from tirscript.ir.visitor import free_vars, fresh_copy, substitute

from ..names import free_name
from ..primitives.decompose_reduction import init_regions, without_init
from .blocking import Axis, Blocking, Member, update_alone
from .substitute import put

Regions = tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]


def build(plan: Blocking, body: Stmt | None = None, regions: Regions | None = None) -> BlockRealize:
    """The new block with everything inside; or with another body, whose regions are given."""
    alone = len(plan.members) == 1
    outside = plan.outside
    parts: list[tuple[Member, dict[Var, Expr], list[IterVar], list[Expr]]] = []
    for m in plan.members:
        values: dict[Var, Expr] = {}
        inner_axes: list[IterVar] = []
        inner_values: list[Expr] = []
        for axis in m.axes:
            iv = axis.iv
            if axis.inner is None:
                assert axis.outer is not None
                constant = type(axis.outer) is IntImm and not plan.keep_unit
                values[iv.var] = axis.outer if constant else axis.outer_var
                continue
            v = Var(axis.inner_name, iv.var.dtype, iv.var.exact, span=iv.var.span)
            inner_axes.append(IterVar(v, _dom(axis, outside), iv.kind, iv.thread_tag, iv.span))
            inner_values.append(axis.inner)
            values[iv.var] = axis_value(axis, axis.outer_var, v)
        parts.append((m, values, inner_axes, inner_values))
    init: Stmt | None = None
    nests: dict[int, Stmt] = {}
    for m, values, inner_axes, inner_values in parts:
        realize: BlockRealize = m.block.node
        b = realize.block
        if b.init is not None and alone:
            init = _init_nest(m, values, outside)
            b = b if body is not None else update_of(b)
        if body is not None:
            continue
        block = inner_block(b, inner_axes, {**outside, **values})
        if _has_digits(b):
            block = _with_digits(block, [*plan.axes, *inner_axes])
        guard = _all([_inside(c, outside) for c in m.guards])
        nests[id(realize)] = BlockRealize(
            tuple([put(e, outside) if outside else e for e in inner_values]), guard, block, realize.span
        )
    if body is None:
        body = _body(plan, nests, outside)
    label = BlockLabel(_block_name(plan))
    reads, writes = regions or _quick_regions(plan, parts[0][1]) or _regions(plan, plan.axes, body, init)
    block = Block(label, tuple(plan.axes), reads, writes, body, init, span=None)
    return BlockRealize(tuple(plan.bindings), _all(plan.guards), block, plan.members[0].block.node.span)


def _has_digits(b: Block) -> bool:
    """Whether the block indexes by quotients or remainders, which may simplify when axes are divided."""
    for r in (*b.reads, *b.writes):
        for x in r.region:
            if type(x.min) not in (Var, IntImm) and any(type(n) in _DIGITS for n in walk(x.min)):
                return True
    return False


_DIGITS = frozenset({FloorDiv, FloorMod})


def _with_digits(block: Block, axes: list[IterVar]) -> Block:
    """Quotients and remainders simplified over the domains of the axes."""
    cx = Analyzer()
    for iv in axes:
        if iv.dom is not None:
            cx.bind(iv.var, iv.dom)

    def f(n: Any) -> Any:
        return cx.simplify(n) if type(n) in _DIGITS else n.map_children(f)

    new: Block = block.map_children(f)
    return new


def _block_name(plan: Blocking) -> str:
    name = plan.name
    taken = {t.name for t in plan.top.home.index if type(t) is BlockLabel}
    if name in taken:
        current = {p.node.block.name for t, p in plan.top.home.index.items() if type(t) is BlockLabel}
        return free_name(name, current)
    return name


def _inside(condition: Expr, outside: Mapping[Var, Expr]) -> Expr:
    """A condition in terms of the new axes."""
    if any(type(e) is not Var for e in outside.values()):
        new = put(condition, outside)
        return new if new is condition else simplify(new)
    return put(condition, outside)  # type: ignore[no-any-return]


def _dom(axis: Axis, outside: Mapping[Var, Expr]) -> Range | None:
    dom = axis.inner_dom
    if dom is None or (type(dom.min) is IntImm and type(dom.extent) is IntImm) or not outside:
        return dom
    return Range(put(dom.min, outside), put(dom.extent, outside))


def axis_value(axis: Axis, outer: Var, inner: Expr) -> Expr:
    """The axis in terms of its parts."""
    value: Expr = inner
    if axis.step is not None:
        base: Expr = outer
        if not (type(axis.step) is IntImm and axis.step.value == 1):
            base = Mul(outer, axis.step)
        value = Add(base, inner)
    return value if axis.offset is None else Add(value, axis.offset)


def inner_block(b: Block, axes: list[IterVar], values: Mapping[Var, Expr]) -> Block:
    """The block with other axes, in terms of which its old ones are given."""
    bare = Block(
        b.label, (), b.reads, b.writes, b.body, b.init, b.alloc_buffers, b.match_buffers, b.annotations,
        b.span,
    )  # fmt: skip
    new = substitute(bare, values)
    return Block(
        b.label, tuple(axes), new.reads, new.writes, new.body, new.init, new.alloc_buffers, new.match_buffers,
        new.annotations, b.span,
    )  # fmt: skip


def update_of(b: Block) -> Block:
    """The block without its init, which now reads what it updates."""
    return without_init(b, b.label)


def _init_nest(m: Member, values: Mapping[Var, Expr], outside: Mapping[Var, Expr]) -> Stmt:
    """Loops and a block that initialize what one instance of the new block updates."""
    realize: BlockRealize = m.block.node
    b = realize.block
    assert b.init is not None
    guards = [c for c in m.guards if not update_alone(m, c)]
    needed: set[Var] = set()
    axes = [a for a in m.axes if a.inner is not None and a.iv.kind != "reduce"]
    for axis in axes:
        needed |= free_vars(axis.inner)  # type: ignore[arg-type]
    for c in guards:
        needed |= free_vars(c)
    for p in m.path:  # from the block outwards: bounds of loops that are kept
        s: Any = p.node
        if s.loop_var in needed:
            needed |= free_vars(s.min) | free_vars(s.extent)
    copies: dict[Var, Expr] = dict(outside)
    for p in m.path:
        v = p.node.loop_var
        if v in needed:
            copies[v] = Var(v.name, v.dtype, v.exact, span=v.span)
    whole: dict[Var, Expr] = dict(outside)
    whole.update(values)
    new_axes: list[IterVar] = []
    bindings: list[Expr] = []
    for axis in axes:
        old = values[axis.iv.var]
        name = f"{axis.inner_name}_init"
        v = Var(name, axis.iv.var.dtype, axis.iv.var.exact, span=axis.iv.var.span)
        new_axes.append(IterVar(v, _dom(axis, outside), axis.iv.kind, axis.iv.thread_tag, axis.iv.span))
        bindings.append(put(axis.inner, copies))
        whole[axis.iv.var] = _with_inner(old, axis, v)
    used_views = free_vars(b.init)
    views = tuple([x for x in b.match_buffers if x.buffer.data in used_views])
    spatial = [iv for iv in b.iter_vars if iv.kind != "reduce"]
    regions = init_regions(b, spatial, views)
    label = BlockLabel(f"{b.name}_init")
    block = Block(label, (), *regions, b.init, None, (), views, {}, b.span)
    block = inner_block(block, new_axes, {**copies, **whole})
    if views:
        block = fresh_copy(block).replace(label=label)
    nest: Stmt = BlockRealize(
        tuple(bindings), _all([_inside(c, copies) for c in guards]), block, realize.span
    )
    for p in m.path:
        s = p.node
        if s.loop_var in needed:
            notes = substitute(s, copies).annotations if s.annotations else s.annotations
            nest = For(
                copies[s.loop_var],  # type: ignore[arg-type]
                put(s.min, copies), put(s.extent, copies), s.kind, nest, s.thread, notes, s.step, s.span,
            )  # fmt: skip
    return nest


def _with_inner(whole: Expr, axis: Axis, inner: Var) -> Expr:
    """What an axis is in the init block, where another variable stands for its inner part."""
    if axis.step is None and axis.offset is None:
        return inner
    e: Any = whole.a if axis.offset is not None else whole  # type: ignore[attr-defined]
    value: Expr = inner if axis.step is None else Add(e.a, inner)
    return value if axis.offset is None else Add(value, axis.offset)


def _body(plan: Blocking, nests: Mapping[int, Stmt], outside: Mapping[Var, Expr]) -> Stmt:
    """What stood there, with the blocks replaced and the loops outside written as axes."""

    def rebuild(s: Any) -> Stmt:
        t = type(s)
        if t is BlockRealize:
            return nests[id(s)]
        if t is SeqStmt:
            return SeqStmt(tuple([rebuild(x) for x in s.seq]), s.span)
        low, extent, notes = put(s.min, outside), put(s.extent, outside), s.annotations
        if notes and outside:
            notes = substitute(s, outside).annotations
        return For(s.loop_var, low, extent, s.kind, rebuild(s.body), s.thread, notes, s.step, s.span)

    node = plan.top.node
    if plan.slots is not None and type(node) is SeqStmt:
        first, last = plan.slots
        return seq(*[rebuild(x) for x in node.seq[first : last + 1]])
    return rebuild(node)


def _quick_regions(
    plan: Blocking, values: Mapping[Var, Expr]
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]] | None:
    """The regions where the block touches points at bare axes: each is the interval of its inner part."""
    if len(plan.members) != 1:
        return None
    m = plan.members[0]
    if m.guards:
        return None
    b: Block = m.block.node.block
    loops = {p.node.loop_var: p.node for p in m.path}
    spans: dict[Any, Range] = {}
    for axis in m.axes:
        iv = axis.iv
        dom: Any = axis.inner_dom
        if axis.inner is None:
            spans[iv.var] = Range(values[iv.var], const_int(1, iv.var.dtype))
        elif axis.step is None and axis.offset is None and axis.outer is None:
            loop = loops.get(axis.inner)
            if loop is None or loop.step is not None:
                return None
            low, size = loop.min, loop.extent
            if not (
                (low is dom.min or (type(low) is type(dom.min) is IntImm and low.value == dom.min.value))
                and (
                    size is dom.extent
                    or (type(size) is type(dom.extent) is IntImm and size.value == dom.extent.value)
                )
            ):
                return None
            spans[iv.var] = _dom(axis, plan.outside)  # type: ignore[assignment]
        else:
            whole: Any = values[iv.var]
            zero = const_int(0, iv.var.dtype)
            if axis.offset is not None:
                low = whole.a.a if axis.step is not None else None
                low = axis.offset if low is None else Add(low, axis.offset)
            else:
                low = whole.a if axis.step is not None else zero
            spans[iv.var] = Range(low, dom.extent)
    found = []
    for regions in (b.reads, b.writes):
        out = []
        seen = set()
        for r in regions:
            if r.buffer in seen:
                return None
            seen.add(r.buffer)
            ranges = []
            for x in r.region:
                low, size = x.min, x.extent
                if type(size) is not IntImm or size.value != 1:
                    return None
                if type(low) is IntImm:
                    ranges.append(x)
                else:
                    have = spans.get(low)
                    if have is None:
                        return None
                    ranges.append(have)
            out.append(BufferRegion(r.buffer, tuple(ranges), r.span))
        found.append(tuple(out))
    return found[0], found[1]


def _regions(
    plan: Blocking, axes: list[IterVar], body: Stmt, init: Stmt | None
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    reads, writes = infer_regions(axes, body, init)
    if any(m.guards for m in plan.members):
        return _clipped(axes, reads), _clipped(axes, writes)
    return reads, writes


def _clipped(axes: list[IterVar], regions: tuple[BufferRegion, ...]) -> tuple[BufferRegion, ...]:
    """Regions that end where their buffers do: a condition that stays inside keeps the rest away."""
    cx = Analyzer()
    for iv in axes:
        if iv.dom is not None:
            cx.bind(iv.var, iv.dom)
    out = []
    for r in regions:
        ranges = []
        for x, size in zip(r.region, r.buffer.shape, strict=True):
            end = Add(x.min, x.extent)
            if type(x.extent) is IntImm and x.extent.value == 1:
                ranges.append(x)
            elif cx.can_prove(LE(end, size)):
                ranges.append(x)
            else:
                rest = cx.simplify(Sub(size, x.min))
                ranges.append(Range(x.min, Min(x.extent, rest)))
        out.append(BufferRegion(r.buffer, tuple(ranges), r.span))
    return tuple(out)


def _all(conditions: list[Expr]) -> Expr:
    out: Expr = TRUE
    for c in conditions:
        out = c if out is TRUE else And(out, c)
    return out


__all__ = ["axis_value", "build", "inner_block", "update_of"]
