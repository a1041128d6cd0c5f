"""Split a reduction block into one that initializes and one that updates.

The init block ``X_init`` runs in loops of its own, just before ``loop``: copies (``<loop>_init``, with kind,
annotations and binding) of the loops from ``loop`` inwards that its axes or its predicate use.  Its axes keep
their names.  The given block becomes ``X_update``; references to it stay good.

Requirements:
  * ``block`` and ``loop`` are references to a block and a loop that are there (``wrong-handle``,
    ``expired-reference``)
  * the block has an init (``no-init``)
  * ``loop`` is around the block, in the same scope (``loop-not-around``)
  * no loop outside ``loop`` is bound to a reduction axis (``reduction-loop-outside``)
  * no loop that is bound to a thread is bound to a reduction axis (``shared-reduction``)
  * between ``loop`` and the block stand only loops, sequences and conditions (``statement-between``)
  * the init uses no reduction axis (``init-uses-reduction-axis``) and no buffer that the block allocates
    (``init-uses-local``)
  * every loop from ``loop`` down to the first reduction loop tells spatial instances apart
    (``repeated-instance``)
  * the loops run over the whole domain of the spatial axes and no further (``axis-not-covered``,
    ``axis-overrun``)
  * nothing that runs before the block's own init touches what the init touches (``init-overtakes``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.decompose_reduction("Y", k)
BlockRV('Y_init')
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``decompose_reduction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import OVERRIDES, accesses, conjuncts, uses_declared
from tirscript.analysis.inferred import infer_regions
from tirscript.ir.buffer import BufferRegion, MatchBufferRegion, point
from tirscript.ir.expr import TRUE, And, Expr, IntImm, IterVar, Not, Range, Var
from tirscript.ir.node import memo_of
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
from tirscript.ir.visitor import buffer_exprs, free_vars, fresh_copy, substitute

from ..errors import Refusal, describe
from ..legality.cells import index_of
from ..legality.cover import check_axes_cover
from ..legality.init_motion import InitPlan, check_others, check_own, check_repeats
from ..legality.outer_reduction import goes_on
from ..legality.surroundings import guards_updates, variables_around
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef, block_token
from ..resolve import block_place, loop_place
from ..rewrite.substitute import put
from ..state import ScheduleState, with_child


class NoInit(Refusal):
    code = "no-init"
    template = "block {block} has no init: there is nothing to decompose"
    hint_template = "only a block with `with T.init():` can be decomposed"


class LoopNotAround(Refusal):
    code = "loop-not-around"
    template = "loop `{loop}` is not around block {block}"
    hint_template = "take one of get_loops(block)"


class ReductionLoopOutside(Refusal):
    code = "reduction-loop-outside"
    template = (
        "block {block} cannot be initialized before loop `{loop}`: loop `{outer}` outside it is bound to the "
        "reduction axis `{axis}`, so the init would run again"
    )
    hint_template = "decompose at `{outer}`, or reorder it inside `{loop}` first"


class SharedReduction(Refusal):
    code = "shared-reduction"
    template = (
        "block {block} cannot be decomposed: the threads of loop `{loop}` ({thread}) share in its reduction, "
        "and the update alone has no init"
    )
    hint_template = "decompose before bind, or bind spatial loops only"


class StatementBetween(Refusal):
    code = "statement-between"
    template = "{what} stands between loop `{loop}` and block {block}"


class InitUsesReductionAxis(Refusal):
    code = "init-uses-reduction-axis"
    template = "the init of block {block} uses its reduction axis `{axis}`"


class InitUsesLocal(Refusal):
    code = "init-uses-local"
    template = "the init of block {block} uses {buffer}, which the block allocates itself"


def check(state: ScheduleState, block: Any, loop: Any) -> InitPlan:
    """What the init block is made of, if the block can be decomposed at the loop."""
    bp = block_place(state, block, "block", "decompose_reduction")
    lp = loop_place(state, loop, "loop", "decompose_reduction")
    realize: BlockRealize = bp.node
    b = realize.block
    if b.init is None:
        raise NoInit(bp.home, at=[(realize, None)], block=realize)
    path: list[StmtSRef] = []
    p = bp.parent
    while p is not None and p is not lp and type(p.node) is not BlockRealize:
        path.append(p)
        p = p.parent
    if p is not lp:
        raise LoopNotAround(bp.home, at=[(lp.node, None), (realize, "")], loop=lp.node, block=realize)
    path.append(lp)
    for s in path:
        if type(s.node) not in (For, SeqStmt, IfThenElse):
            raise StatementBetween(
                bp.home,
                at=[(lp.node, None), (s.node, "")],
                what=describe(s.node),
                loop=lp.node,
                block=realize,
            )
    spatial: set[Var] = set()
    reduce: dict[Var, IterVar] = {}
    for iv, value in zip(b.iter_vars, realize.iter_values, strict=True):
        used = (value,) if type(value) is Var else free_vars(value)
        if iv.kind == "reduce":
            for v in used:
                reduce[v] = iv
        else:
            spatial.update(used)
    _check_outside(bp, lp)
    for s in path:
        if type(s.node) is For and s.node.thread and s.node.loop_var in reduce:
            raise SharedReduction(
                bp.home, at=[(realize, None), (s.node, "")], block=realize, loop=s.node, thread=s.node.thread
            )
    init_vars = free_vars(b.init)
    for iv in b.iter_vars:
        if iv.kind == "reduce" and iv.var in init_vars:
            raise InitUsesReductionAxis(bp.home, at=[(iv, "")], block=realize, axis=iv)
    for a in accesses(b) if b.alloc_buffers else ():
        if a.init and a.buffer in b.alloc_buffers:
            raise InitUsesLocal(bp.home, at=[(realize, None)], block=realize, buffer=a.buffer)
    loops, guards = _kept(bp, path, spatial, reduce)
    plan = InitPlan(bp, lp, path, loops, guards)
    if state.enable_check:
        check_repeats(plan, spatial, reduce)
        check_axes_cover(lp, realize, "decomposed")
        check_own(plan)
        check_others(plan)
    return plan


def _check_outside(bp: StmtSRef, lp: StmtSRef) -> None:
    found = goes_on(bp.node, lp)
    if found is not None:
        s, axis = found
        raise ReductionLoopOutside(
            bp.home,
            at=[(s, "outside"), (lp.node, None), ((axis, s.loop_var), "bound here")],
            block=bp.node,
            loop=lp.node,
            outer=s,
            axis=axis,
        )


def _kept(
    bp: StmtSRef, path: list[StmtSRef], spatial: set[Var], reduce: dict[Var, IterVar]
) -> tuple[set[Var], list[Expr]]:
    """The loops and the conjuncts of the predicate that the init keeps."""
    realize: BlockRealize = bp.node
    around = variables_around(bp)
    inner = {p.node.loop_var for p in path if type(p.node) is For}
    needed = spatial & inner
    guards = []
    for c in conjuncts(realize.predicate):
        if guards_updates(c, around, reduce.keys(), spatial):
            continue
        guards.append(c)
        needed |= free_vars(c) & inner
    changed = True
    while changed:
        changed = False
        for p in path:
            s = p.node
            if type(s) is For and s.loop_var in needed:
                more = (free_vars(s.min) | free_vars(s.extent)) & inner
            elif type(s) is IfThenElse:
                if guards_updates(s.condition, around, reduce.keys(), spatial):
                    continue
                more = free_vars(s.condition) & inner
            else:
                continue
            if not more <= needed:
                needed |= more
                changed = True
    return needed, guards


def rewrite(state: ScheduleState, plan: InitPlan) -> BlockRV:
    """Put the init nest and the update nest in the place of the loop; the init block is returned."""
    realize: BlockRealize = plan.block.node
    b = realize.block
    home = plan.block.home
    taken = {p.node.block.name for t, p in home.index.items() if type(t) is BlockLabel}
    init_label = BlockLabel(free_name(f"{b.name}_init", taken))
    update_label = BlockLabel(free_name(f"{b.name}_update", taken), block_token(b.label))
    nest = _init_nest(plan, init_label)
    update: Stmt = BlockRealize(
        realize.iter_values, realize.predicate, without_init(b, update_label), realize.span
    )
    slot = plan.block.seq_index
    for p in plan.path:
        update = with_child(p.node, slot, update)
        slot = p.seq_index
    state.replace(plan.loop, seq(nest, update), ())
    return BlockRV(init_label, home.name)


def _init_nest(plan: InitPlan, label: BlockLabel) -> Stmt:
    realize: BlockRealize = plan.block.node
    b = realize.block
    assert b.init is not None
    axes = [
        (iv, value) for iv, value in zip(b.iter_vars, realize.iter_values, strict=True) if iv.kind != "reduce"
    ]
    taken = names_around(plan.loop)
    if type(b.init) is not BufferStore:
        names_inside(b.init, taken)
    values: dict[Var, Expr] = {}
    for p in reversed(plan.path):
        s: Any = p.node
        if type(s) is For and s.loop_var in plan.loops:
            old = s.loop_var
            values[old] = Var(free_name(f"{old.name}_init", taken), old.dtype, span=old.span)
    predicate: Expr = TRUE
    for c in plan.guards:
        guard = put(c, values)
        predicate = guard if predicate is TRUE else And(predicate, guard)
    block = _init_block(b, label, [iv for iv, _ in axes])
    if not values.keys().isdisjoint(free_vars(b)):
        block = substitute(block, {v: values[v] for v in free_vars(block) if v in values})
    nest: Stmt = BlockRealize(tuple([put(e, values) for _, e in axes]), predicate, block, realize.span)
    slot = plan.block.seq_index
    for p in plan.path:
        s = p.node
        if type(s) is For:
            if s.loop_var in plan.loops:
                notes = substitute(s, values).annotations if s.annotations else s.annotations
                nest = For(
                    values[s.loop_var],  # type: ignore[arg-type]
                    put(s.min, values), put(s.extent, values), s.kind, nest, s.thread, notes,
                    s.step, s.span,
                )  # fmt: skip
        elif type(s) is IfThenElse:
            used = free_vars(s.condition)
            if used <= {*values, *_outer_vars(plan)} or not used:
                condition = substitute(s.condition, values)
                nest = IfThenElse(condition, nest, None, s.span) if slot == 0 else _unless(condition, nest, s)
        slot = p.seq_index
    return nest


def _unless(condition: Expr, nest: Stmt, s: IfThenElse) -> Stmt:
    return IfThenElse(Not(condition), nest, None, s.span)


def _outer_vars(plan: InitPlan) -> set[Var]:
    """Every variable but those of the loops that the init leaves out."""
    dropped = {
        p.node.loop_var for p in plan.path if type(p.node) is For and p.node.loop_var not in plan.loops
    }
    out: set[Var] = set()
    for p in plan.path:
        if type(p.node) is IfThenElse:
            out |= free_vars(p.node.condition) - dropped
    return out


def _init_block(b: Block, label: BlockLabel, axes: list[IterVar]) -> Block:
    assert b.init is not None
    used = free_vars(b.init)
    views = tuple([m for m in b.match_buffers if m.buffer.data in used])
    regions = init_regions(b, axes, views)
    notes = {k: v for k, v in b.annotations.items() if k not in OVERRIDES}
    made = Block(label, tuple(axes), *regions, b.init, None, (), views, notes, b.span)
    if views:
        # Views are defined by the block: each block needs its own.
        copy = fresh_copy(made)
        return copy.replace(label=label)
    fresh: dict[Var, Expr] = {}
    new_axes = []
    for iv in axes:
        v = Var(iv.var.name, iv.var.dtype, iv.var.exact, iv.var.pointee, iv.var.span)
        fresh[iv.var] = v
        new_axes.append(IterVar(v, iv.dom, iv.kind, iv.thread_tag, iv.span))
    init: Any = b.init
    if (
        type(init) is BufferStore
        and init.predicate is None
        and not init.value.children()
        and type(init.value) is not Var
    ):
        indices = tuple([put(i, fresh) for i in init.indices])
        init = BufferStore(init.buffer, init.value, indices, None, init.span)
    else:
        init = substitute(init, fresh)
    return Block(
        label,
        tuple(new_axes),
        tuple([_renamed(r, fresh) for r in regions[0]]),
        tuple([_renamed(r, fresh) for r in regions[1]]),
        init,
        None,
        (),
        (),
        notes,
        b.span,
    )


Regions = tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]


def _renamed(r: BufferRegion, values: dict[Var, Expr]) -> BufferRegion:
    if any(free_vars(e) & values.keys() for e in buffer_exprs(r.buffer)):
        return substitute(r, values)
    return BufferRegion(
        r.buffer, tuple([Range(put(x.min, values), put(x.extent, values)) for x in r.region]), r.span
    )


def points_of(b: Block, init: bool) -> Regions | None:
    """The regions of init or body where each buffer is touched at one point, as is usual; else None.

    Memoised on the block.
    """
    memo = memo_of(b)
    key = ("points", init)
    if key not in memo:
        memo[key] = _points_of(b, init)
    found: Regions | None = memo[key]
    return found


def _points_of(b: Block, init: bool) -> Regions | None:
    seen: dict[tuple[Any, bool], Any] = {}
    local = b.alloc_buffers
    for a in accesses(b):
        if a.init is not init or (local and a.buffer in local):
            continue
        if a.indices is None or a.axes or a.conditions:
            return None
        first = seen.setdefault((a.buffer, a.is_write), a)
        if first is not a:
            for i, j in zip(first.indices, a.indices, strict=True):
                if i is not j:
                    return None
        for i in a.indices:
            t = type(i)
            if t is not Var and t is not IntImm and index_of(i) is None:
                return None
    regions: tuple[list[BufferRegion], list[BufferRegion]] = ([], [])
    for (buffer, is_write), a in seen.items():
        regions[is_write].append(point(buffer, a.indices))
    return tuple(regions[0]), tuple(regions[1])


def _visible(init: Stmt) -> bool:
    """Whether an init shows all it touches."""
    from tirscript.analysis.access import accesses_of

    found = accesses_of(init)
    return bool(found) and all(not a.opaque for a in found)


def init_regions(b: Block, axes: Sequence[IterVar], views: tuple[MatchBufferRegion, ...]) -> Regions:
    """What the init of a block touches, as a block of its own."""
    assert b.init is not None
    if not uses_declared(b):
        return points_of(b, True) or infer_regions(axes, b.init, None, (), views)
    return infer_regions(axes, b.init, None, (), views) if _visible(b.init) else ((), b.writes)


def without_init(b: Block, label: BlockLabel) -> Block:
    """The block without its init, which now reads what it updates."""
    notes = b.annotations
    if uses_declared(b):
        have = {r.buffer for r in b.reads}
        more = [r for r in b.writes if r.buffer not in have]
        reads: tuple[BufferRegion, ...] = (*more, *b.reads)
        writes = b.writes
        numbers = notes.get(OVERRIDES[0])
        if more and numbers is not None:
            # The regions that the user gave have moved.
            notes = {**notes, OVERRIDES[0]: [getattr(n, "value", n) + len(more) for n in numbers]}
    else:
        found = points_of(b, False)
        if found is None:
            found = infer_regions(b.iter_vars, b.body, None, b.alloc_buffers, b.match_buffers)
        reads, writes = found
    return Block(
        label, b.iter_vars, reads, writes, b.body, None, b.alloc_buffers, b.match_buffers, notes, b.span
    )


KIND = InstructionKind("DecomposeReduction", "decompose_reduction", ("block", "loop"), check, rewrite)
