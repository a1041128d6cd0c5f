"""Where a block is moved: the two nests that are concerned, what stands around them, the position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tirscript.ir.expr import IntImm, Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt, Stmt

from ..errors import BadArgument, BadValue, Refusal, a_kind, describe
from ..legality.footprint import Memory, add_loads, touched
from ..legality.surroundings import aliased_params
from ..refs import StmtSRef
from ..resolve import block_place, integer, loop_place
from ..state import ScheduleState
from .buffers import refuse_root


class OtherScope(Refusal):
    code = "other-scope"
    template = "block {block} cannot be moved under loop `{loop}`: they do not stand in the same block"


class LoopAround(Refusal):
    code = "loop-around"
    template = "block {block} stands under loop `{loop}` already"
    hint_template = "take a loop of the nest of another block"


class WrongSide(Refusal):
    code = "wrong-side"
    template = "block {block} cannot be moved under loop `{loop}`: it stands {side} that loop"
    hint_template = "{other} moves a block the other way"


class StatementAround(Refusal):
    code = "statement-between"
    template = "block {block} cannot be moved: {what} stands around {whom}"


class BadIndex(BadArgument):
    code = "bad-index"
    template = "`index` of {primitive} must be an integer, {given} was given"


class IndexOutside(BadValue):
    code = "bad-index"
    template = "block {block} cannot stand at {index} under loop `{loop}`: there is room {room}"
    hint_template = "-1 is the last place that is possible, -2 the first"


class Piece(NamedTuple):
    """A statement of the scope beside the two nests.

    ``side`` says where it stands: ``out`` of the reach of the move, ``mate`` in the nest that the block
    leaves, ``between`` the nests, or ``nest`` in the one that it goes to.  ``loops`` are the loops of the
    nest that are around both, ``before`` whether it comes before the block's old or new place in one
    iteration of them (None: another branch of a condition), ``under`` whether it stands under the loop.
    """

    stmt: Stmt
    side: str
    loops: tuple[For, ...] = ()
    before: bool | None = None
    under: bool = False


class Spot:
    """The block, the loop that it goes under, and what is known of both."""

    __slots__ = (
        "ancestors", "block", "children", "header_reads", "loop", "mine", "old_loops", "path", "reads",
        "realize", "scope", "theirs", "top", "writes",
    )  # fmt: skip

    def __init__(self, block: StmtSRef, loop: StmtSRef) -> None:
        self.block = block
        self.loop = loop
        self.realize: BlockRealize = block.node
        body = loop.node.body
        self.children: tuple[Stmt, ...] = body.seq if type(body) is SeqStmt else (body,)
        self.scope: StmtSRef
        self.top: StmtSRef  # the sequence in which both nests stand
        self.path: list[StmtSRef]  # from the loop outwards to the child of ``top``
        self.old_loops: list[For]  # of the block, below ``top``, outermost first
        self.mine: int  # the numbers of the two nests among the children of ``top``
        self.theirs: int
        self.ancestors: set[int]  # ids of the statements around the block or the loop
        self.header_reads: Memory  # what bounds and conditions of those read
        self.reads, self.writes = touched(self.realize)
        aliased = frozenset([b.data for b in aliased_params(block.home)])
        if aliased:
            if not aliased.isdisjoint(self.reads):
                self.reads |= aliased
            if not aliased.isdisjoint(self.writes):
                self.writes |= aliased

    def meets(self, s: Stmt) -> bool:
        """Whether a statement may touch a cell that the block touches, one of them writing."""
        reads, writes = touched(s)
        return not (
            self.writes.isdisjoint(reads) and self.writes.isdisjoint(writes) and self.reads.isdisjoint(writes)
        )

    @property
    def nest(self) -> For:
        """The statement of ``top`` that the loop stands in, or is."""
        found: For = self.path[-1].node
        return found

    def path_loops(self) -> tuple[For, ...]:
        """The loops below ``top`` down to the loop, outermost first."""
        return tuple([p.node for p in reversed(self.path) if type(p.node) is For])


def find(state: ScheduleState, block: Any, loop: Any, primitive: str, *, later: bool) -> Spot:
    """The two nests; ``later`` says that the block comes first and moves down into the loop's nest."""
    bp = block_place(state, block, "block", primitive)
    refuse_root(bp)
    lp = loop_place(state, loop, "loop", primitive)
    fields = {"block": bp.node, "loop": lp.node}
    at: list[tuple[Any, str | None]] = [(bp.node, None), (lp.node, "")]
    around: dict[int, int] = {}  # ids of the places around the block, with the child on the way
    p: StmtSRef | None = bp
    scope: StmtSRef | None = None
    while p is not None:
        up = p.parent
        if up is not None:
            around[id(up)] = p.seq_index
            if scope is None and type(up.node) is BlockRealize:
                scope = up
        p = up
    if id(lp) in around and _scope(lp) is scope:
        raise LoopAround(bp.home, at=at, **fields)
    if lp.home is not bp.home or _scope(lp) is not scope or scope is None:
        raise OtherScope(bp.home, at=at, **fields)
    spot = Spot(bp, lp)
    spot.scope = scope
    path = [lp]
    p = lp
    while id(p.parent) not in around:
        assert p.parent is not None
        p = p.parent
        path.append(p)
    top = p.parent
    assert top is not None
    spot.top, spot.path = top, path
    mine, theirs = around[id(top)], p.seq_index
    if type(top.node) is not SeqStmt or (mine < theirs) is not later:
        side = "behind" if later else "before"
        if type(top.node) is not SeqStmt:
            side = "in another branch than"
        other = "reverse_compute_at" if later else "compute_at"
        raise WrongSide(bp.home, at=at, side=side, other=other, **fields)
    for q in path:
        if type(q.node) not in _PLAIN:
            raise StatementAround(
                bp.home, at=at, block=bp.node, what=describe(q.node), whom=f"loop `{lp.node.loop_var.name}`"
            )
    loops = []
    ids = {id(q.node) for q in path}
    q_: StmtSRef | None = bp.parent
    while q_ is not top:
        assert q_ is not None
        s = q_.node
        if type(s) is For:
            loops.append(s)
        elif type(s) is not SeqStmt:
            raise StatementAround(bp.home, at=at, block=bp.node, what=describe(s), whom="it")
        ids.add(id(s))
        q_ = q_.parent
    loops.reverse()
    spot.old_loops = loops
    while q_ is not scope:
        assert q_ is not None
        ids.add(id(q_.node))
        q_ = q_.parent
    spot.ancestors = ids
    spot.mine, spot.theirs = mine, theirs
    headers: set[Var] = set()
    for s in (*loops, *[q.node for q in path], *_between(top, scope)):
        if type(s) is For:
            if type(s.min) is not IntImm or type(s.extent) is not IntImm:
                add_loads((s.min, s.extent), headers)
        elif type(s) is IfThenElse:
            add_loads((s.condition,), headers)
    spot.header_reads = frozenset(headers)
    return spot


def _between(place: StmtSRef, scope: StmtSRef) -> Iterator[Any]:
    p = place.parent
    while p is not None and p is not scope:
        yield p.node
        p = p.parent


_PLAIN = frozenset({For, SeqStmt, IfThenElse})


def _scope(place: StmtSRef) -> StmtSRef | None:
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        p = p.parent
    return p


# ---- what stands around


def pieces(spot: Spot, position: int, *, everything: bool) -> Iterator[Piece]:
    """The statements of the scope but the block, in order; without ``everything`` those alone that the block
    passes on its way or that stand in the nest which it enters."""
    top = spot.top
    items = top.node.seq
    ids = spot.ancestors
    mine, theirs = spot.mine, spot.theirs
    first, last = min(mine, theirs), max(mine, theirs)
    if everything:
        stack: list[Any] = [spot.scope.node.block.body]
        while stack:
            s = stack.pop()
            if s is top.node:
                for n, c in enumerate(items):
                    if not first <= n <= last:
                        yield Piece(c, "out")
            elif id(s) in ids:
                stack += [c for c in s.children() if isinstance(c, Stmt)]
            else:
                yield Piece(s, "out")
    for n in range(first, last + 1):
        s = items[n]
        if n == mine:
            yield from _mates(s, spot)
        elif n == theirs:
            yield from _inside(spot, position)
        else:
            yield Piece(s, "between")


def _mates(s: Any, spot: Spot) -> Iterator[Piece]:
    loops: tuple[For, ...] = ()
    while s is not spot.realize:
        if type(s) is For:
            loops = (*loops, s)
            s = s.body
            continue
        assert type(s) is SeqStmt
        before = True
        inner: Any = None
        for c in s.seq:
            if c is spot.realize or id(c) in spot.ancestors:
                before, inner = False, c
            else:
                yield Piece(c, "mate", loops, before)
        s = inner


def _inside(spot: Spot, position: int) -> Iterator[Piece]:
    loops: tuple[For, ...] = ()
    for p, inner in zip(reversed(spot.path), [*reversed(spot.path[:-1]), None], strict=True):
        s = p.node
        if type(s) is For:
            loops = (*loops, s)
            if inner is None:
                for n, c in enumerate(spot.children):
                    yield Piece(c, "nest", loops, n < position, True)
        elif type(s) is SeqStmt:
            assert inner is not None
            for n, c in enumerate(s.seq):
                if n != inner.seq_index:
                    yield Piece(c, "nest", loops, n < inner.seq_index)
        elif type(s) is IfThenElse:
            assert inner is not None
            other = s.else_case if inner.seq_index == 0 else s.then_case
            if other is not None:
                yield Piece(other, "nest", loops, None)


# ---- the position


def position_of(spot: Spot, index: Any, primitive: str, first: int, last: int) -> int:
    """The number that the block gets among the children of the loop; ``first`` to ``last`` are possible."""
    number = index if type(index) is int else integer(index)
    if number is None:
        raise BadIndex(spot.block.home, at=[(spot.block, None)], primitive=primitive, given=a_kind(index))
    if number == -1:
        return last
    if number == -2:
        return first
    if not first <= number <= last:
        room = (
            f"from {first} to {last}" if first < last else f"at {first} only" if first == last else "nowhere"
        )
        raise IndexOutside(
            spot.block.home, at=[(spot.block, None), (spot.loop, "")], block=spot.realize, index=str(number),
            loop=spot.loop.node, room=room,
        )  # fmt: skip
    return number
