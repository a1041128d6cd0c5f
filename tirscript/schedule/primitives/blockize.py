"""Make a block of what stands below a loop: an outer block whose axes are the outer parts of the axes below.

Each axis ``v`` of the block below is divided into an axis ``v_o`` of the new block, which the loops outside
drive, and an axis ``v_i`` of the old one, driven by the loops inside: ``v = v_o * 16 + v_i``.  The old block
keeps its name; the new one is called ``<name>_o``.  An init moves to the new block, as a nest of its own.
A condition on loops outside alone guards the new block, any other the old one.
With ``preserve_unit_iters=False`` axes and loops of one iteration are written as the constant that they are.

A list of blocks makes one block of the statements that hold them, ``outer_<names>_``; what the loops around
all of them drive becomes its axes, shared where two blocks bind the same value.

Requirements:
  * ``target`` is a reference to a loop, or a list of references to blocks, which are there
    (``wrong-handle``, ``bad-target``, ``expired-reference``), not the root of the function (``root-block``)
  * below a loop stands one block (``no-block``, ``several-blocks``), and between only loops
    (``statement-between``)
  * blocks of a list stand in one scope, none inside another, and nothing else stands between them
    (``not-together``)
  * each axis value can be divided: the loops inside change it by less than one step of the loops outside
    (``not-divisible``)
  * what stands inside uses no loop outside that the new axes do not determine (``outer-loop-used``)
  * a reduction axis of one of several blocks is driven by loops inside (``outer-reduction``)
  * an init moves only past what it does not meet: loops inside and outside the first reduction loop tell
    spatial instances apart (``repeated-instance``), it touches no cell of another instance
    (``init-overtakes``), and no condition on reduction loops inside decides about it (``guarded-init``)
  * the reduction of a block further in goes over no axis that other loops drive then (``nested-reduction``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.blockize(j)
BlockRV('Y_o')
>>> [v.var.name for v in sch.get(sch.get_block("Y_o")).iter_vars]
['vi_o', 'vj_o', 'vk_o']
>>> [v.var.name for v in sch.get(sch.get_block("Y")).iter_vars]
['vj_i', 'vk_i']

Source: TVM's ``blockize``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.ir.expr import Var
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars

from ..errors import BadArgument, Refusal, a_kind, describe
from ..legality.init_motion import InitPlan, check_own, check_repeats
from ..legality.outer_reduction import init_inside
from ..record.trace import InstructionKind
from ..refs import BlockRV, LoopRV, StmtSRef
from ..resolve import block_place, loop_place
from ..rewrite.blocking import Blocking, Member, divided
from ..rewrite.blocking_build import build
from ..rewrite.buffers import refuse_root
from ..state import ScheduleState


class BadTarget(BadArgument):
    code = "bad-target"
    template = "`target` of {primitive} must be a loop or a list of blocks, {given} was given"
    hint_template = "get_loops(block) gives loops, get_block(name) a block"


class NoBlock(Refusal):
    code = "no-block"
    template = "loop `{loop}` cannot become a block: no block stands below it"


class SeveralBlocks(Refusal):
    code = "several-blocks"
    template = "loop `{loop}` cannot become a block: {count} blocks stand below it ({names})"
    hint_template = "give the blocks as a list, or distribute the loop over them first"


class StatementBetween(Refusal):
    code = "statement-between"
    template = "{what} stands between loop `{loop}` and block {block}"


class NotTogether(Refusal):
    code = "not-together"
    template = "the blocks {blocks} cannot become one block: {what}"


class OuterReduction(Refusal):
    code = "outer-reduction"
    template = (
        "the blocks cannot become one block: loops outside drive the reduction axis `{axis}` of block {block}"
    )
    hint_template = "blockize the block alone"


class NestedReduction(Refusal):
    code = "nested-reduction"
    template = (
        "block {block} cannot become two blocks: the reduction of block {inner} inside it goes over axes "
        "that other loops would drive, so it would begin elsewhere"
    )
    hint_template = "decompose_reduction of block {inner} first"


def check(state: ScheduleState, target: Any, preserve_unit_iters: bool = True) -> Blocking:
    """How the axes are divided, and what goes into the new block."""
    if type(target) is LoopRV:
        return below_loop(state, target, preserve_unit_iters, "blockize")
    if isinstance(target, (list, tuple)) and target:
        places = [block_place(state, b, "target", "blockize") for b in target]
        return _of_blocks(state, places, preserve_unit_iters)
    if type(target) is BlockRV or isinstance(target, str):
        return _of_blocks(state, [block_place(state, target, "target", "blockize")], preserve_unit_iters)
    given = "an empty list" if isinstance(target, (list, tuple)) else a_kind(target)
    raise BadTarget(primitive="blockize", given=given)


def below_loop(state: ScheduleState, loop: Any, keep_unit: bool, primitive: str) -> Blocking:
    """The plan for the statement of a loop."""
    top = loop_place(state, loop, "target", primitive)
    block = only_block(top)
    path: list[StmtSRef] = []
    p = block.parent
    while p is not top:
        assert p is not None
        path.append(p)
        p = p.parent
    path.append(top)
    for p in path:
        if type(p.node) is not For:
            what = next((describe(p.node) for p in path if type(p.node) is not For), "")
            raise StatementBetween(
                top.home, at=[(top, None), (p.node, "")], what=what, loop=top.node, block=block.node
            )
    member = Member(block, path)
    plan = divided(top, (member,), f"{block.node.block.name}_o", keep_unit)
    if state.enable_check:
        if block.node.block.init is not None:
            _check_init(member)
        _check_inside(plan)
    return plan


def only_block(top: StmtSRef) -> StmtSRef:
    """The place of the one block below a loop, not counting those inside it."""
    found: list[StmtSRef] = []
    index = top.home.index
    for token, place in index.items():
        if type(token) is BlockLabel:
            p = place.parent
            while p is not None and p is not top and type(p.node) is not BlockRealize:
                p = p.parent
            if p is top:
                found.append(place)
    if not found:
        raise NoBlock(top.home, at=[(top, None)], loop=top.node)
    if len(found) > 1:
        names = ", ".join([f'"{p.node.block.name}"' for p in found])
        raise SeveralBlocks(
            top.home, at=[(top, None), *[(p, "") for p in found]], loop=top.node, count=str(len(found)),
            names=names,
        )  # fmt: skip
    return found[0]


def _check_init(member: Member) -> None:
    if not member.path:
        return
    motion = InitPlan(member.block, member.path[-1], list(member.path), set(), [])
    reduced = [a.outer for a in member.axes if a.iv.kind == "reduce" and a.outer is not None]
    check_repeats(motion, member.spatial, member.reduce, frozenset().union(*[free_vars(e) for e in reduced]))
    check_own(motion, frozenset([a.iv.var for a in member.axes if a.inner is None]))


def _check_inside(plan: Blocking) -> None:
    """The inits of blocks inside stand before the loops that drive their reductions: these must stay."""
    for m in plan.members:
        realize: BlockRealize = m.block.node
        if type(realize.block.body) is BufferStore:
            continue
        moved: set[Var] = set()
        for axis, value in zip(m.axes, realize.iter_values, strict=True):
            parts = [free_vars(e) for e in (axis.outer, axis.inner) if e is not None]
            if free_vars(value) != frozenset().union(*parts):
                moved.add(axis.iv.var)
        inner = init_inside(realize.block.body, moved) if moved else None
        if inner is not None:
            raise NestedReduction(m.block.home, at=[(m.block, None), (inner, "")], block=realize, inner=inner)


# ---- several blocks


def _of_blocks(state: ScheduleState, places: list[StmtSRef], keep_unit: bool) -> Blocking:
    home = places[0].home
    names = ", ".join([f'"{p.node.block.name}"' for p in places])
    at = [(p, None) for p in places]
    for p in places:
        refuse_root(p)
    if len({id(p) for p in places}) != len(places):
        raise NotTogether(home, at=at, blocks=names, what="one is given twice")
    chains = [_chain(p) for p in places]
    if any(c[0] is not chains[0][0] for c in chains):
        raise NotTogether(home, at=at, blocks=names, what="they stand in different blocks")
    depth = 1
    shortest = min(map(len, chains))
    while depth < shortest and all(c[depth] is chains[0][depth] for c in chains):
        depth += 1
    around = chains[0][depth - 1]  # the innermost place around all of them, or the block itself
    first, last = 0, 0
    if len(places) == 1:
        around = places[0]
    elif type(around.node) is not SeqStmt:
        raise NotTogether(home, at=at, blocks=names, what=f"{describe(around.node)} parts them")
    else:
        slots = [c[depth].seq_index if depth < len(c) else -1 for c in chains]
        first, last = min(slots), max(slots)
    members = []
    for place, chain in zip(places, chains, strict=True):
        path = list(reversed(chain[depth:-1])) if len(places) > 1 else []
        for p in path:
            if type(p.node) not in (For, SeqStmt):
                raise NotTogether(home, at=at, blocks=names, what=f"{describe(p.node)} stands around one")
        members.append(Member(place, path))
    if len(places) > 1:
        _check_alone(home, places, around.node.seq[first : last + 1], names, at)
    order = sorted(range(len(places)), key=lambda n: [p.seq_index for p in chains[n]])
    name = "outer_" + "".join([f"{places[n].node.block.name}_" for n in range(len(places))])
    if len(places) == 1:
        name = f"{places[0].node.block.name}_o"
    plan = divided(around, tuple([members[n] for n in order]), name, keep_unit, (first, last))
    if state.enable_check:
        _check_inside(plan)
    if len(places) > 1:
        for m in plan.members:
            for axis in m.axes:
                if axis.iv.kind == "reduce" and axis.outer is not None:
                    raise OuterReduction(
                        home, at=[(m.block, None), (axis.iv, "")], axis=axis.iv, block=m.block.node
                    )
    return plan


def _chain(place: StmtSRef) -> list[StmtSRef]:
    """The places from the block around it inwards to the place."""
    out = [place]
    p = place.parent
    while p is not None:
        out.append(p)
        if type(p.node) is BlockRealize:
            break
        p = p.parent
    out.reverse()
    return out


def _check_alone(
    home: Any, places: Sequence[StmtSRef], statements: Sequence[Stmt], names: str, at: Any
) -> None:
    """Below the statements stand these blocks and nothing else."""
    mine = {id(p.node) for p in places}
    stack: list[Any] = list(statements)
    while stack:
        s = stack.pop()
        if type(s) is For:
            stack.append(s.body)
        elif type(s) is SeqStmt:
            stack.extend(s.seq)
        elif id(s) not in mine:
            raise NotTogether(home, at=at, blocks=names, what=f"{describe(s)} stands between them")


def rewrite(state: ScheduleState, plan: Blocking) -> BlockRV:
    """Put the new block in place; it is returned."""
    realize = build(plan)
    top = plan.top
    new: Stmt = realize
    if type(top.node) is SeqStmt and plan.slots is not None:
        first, last = plan.slots
        items = top.node.seq
        rest = (*items[:first], realize, *items[last + 1 :])
        new = rest[0] if len(rest) == 1 else SeqStmt(rest, top.node.span)
    state.replace(top, new)
    block: Block = realize.block
    return BlockRV(block.label, top.home.name)


KIND = InstructionKind("Blockize", "blockize", ("target", "preserve_unit_iters"), check, rewrite, attrs=1)

__all__ = ["KIND", "below_loop", "check", "only_block", "rewrite"]
