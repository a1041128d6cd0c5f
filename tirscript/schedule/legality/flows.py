"""Does what one statement writes reach what another one reads?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from tirscript.analysis.access import Access, accesses_of, uses_declared
from tirscript.analysis.dependence import may_alias
from tirscript.analysis.question import Copy, Question
from tirscript.analysis.solve import System
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import BlockRealize, BufferStore, For, IfThenElse, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars

from .cells import Interval, cell_of, distances

Around = Sequence[tuple[Var, float, float]]
Order = Callable[[System, Copy, Copy], None]


_NONE: frozenset[Var] = frozenset()


def written_memory(s: Any) -> frozenset[Var]:
    """The pointers of the buffers that a statement may write; memoised on loops and blocks.

    Where pointers go to calls outside of blocks, all of them.
    """
    t = type(s)
    if t is BufferStore:
        return frozenset([s.buffer.data])
    if t is BlockRealize:
        b = s.block
        memo = memo_of(b)
        found: frozenset[Var] | None = memo.get("written_memory")
        if found is None:
            if uses_declared(b):
                found = frozenset([r.buffer.data for r in b.writes])
            else:
                found = written_memory(b.body) | (_NONE if b.init is None else written_memory(b.init))
            behind = [m.source.buffer.data for m in b.match_buffers if m.buffer.data in found]
            memo["written_memory"] = found = found.union(behind) if behind else found
        return found
    if t is For:
        memo = memo_of(s)
        found = memo.get("written_memory")
        if found is None:
            found = memo["written_memory"] = written_memory(s.body)
        return found
    if t is SeqStmt or t is IfThenElse:
        return _NONE.union(*[written_memory(c) for c in s.children() if isinstance(c, Stmt)])
    return frozenset([v for v in free_vars(s) if v.dtype == "handle"])


class Touches:
    """The accesses of one statement to the memory of a buffer, in order of evaluation."""

    __slots__ = ("found",)

    def __init__(self, s: Stmt, buffer: Buffer, aliased: frozenset[Any]) -> None:
        self.found = [a for a in accesses_of(s, (buffer,)) if may_alias(a.buffer, buffer, aliased)]

    @property
    def writes(self) -> list[Access]:
        return [a for a in self.found if a.is_write]


def meets(a: Access, b: Access, outside: Mapping[Var, Interval]) -> bool:
    """Whether two accesses of different statements may touch one cell."""
    first, second = cell_of(a, None), cell_of(b, None)
    if distances(first, second, (), outside) is None:
        return False
    if a.buffer is not b.buffer:
        return True
    return _exact(a, b, outside, [lambda system, x, y: None])


def reduction_loops(realize: BlockRealize) -> set[Var]:
    """The variables that the values of the reduction axes are made of."""
    out: set[Var] = set()
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind == "reduce":
            if type(value) is Var:
                out.add(value)
            else:
                out |= free_vars(value)
    return out


def begun_before(a: Access, loops: Set[Var]) -> bool:
    """Whether an access is in an init that runs before one of the loops, over which its reduction goes."""
    return not a.over.isdisjoint(loops)


def init_depth(a: Access) -> int:
    """How many of the loops around an access are around it when it runs: an init stands before the outermost
    loop that is bound to a reduction axis of its block."""
    if a.owner is not None:
        reduced = reduction_loops(a.owner)
        for n, axis in enumerate(a.axes):
            if axis.var in reduced:
                return n
        if a.realizes[0] is not a.owner and reduced:
            return 0  # bound to axes of blocks around: not looked into
    return len(a.axes)


def reaches(a: Access, b: Access, textual: bool, outside: Mapping[Var, Interval]) -> bool:
    """Whether ``a`` may touch a cell before ``b`` does, both in one statement; ``textual`` says that ``a``
    stands before ``b`` where all loops around both are the same iteration."""
    depth_a, depth_b = init_depth(a), init_depth(b)
    shared = []
    for x, y in zip(a.axes, b.axes, strict=False):
        if x.var is not y.var:
            break
        shared.append(x)
    if min(depth_a, depth_b) < len(shared):
        # An init stands before a loop that is around both; two of them as they are written.
        if depth_a != depth_b:
            textual = depth_a < depth_b
        del shared[min(depth_a, depth_b) :]
    first, second = cell_of(a, None), cell_of(b, None)
    around = first.around[: len(shared)]
    found = distances(first, second, around, outside)
    if found is None:
        return False
    may = textual
    for v, _, _ in around:
        low, high = found[v]
        if high > 0:
            may = True
            break
        if high < 0:
            return False
        if low < 0:
            continue
    if not may:
        return False
    if a.buffer is not b.buffer:
        return True
    return _exact(a, b, outside, _earlier([x.var for x in shared], textual))


def _earlier(loops: Sequence[Var], textual: bool) -> list[Order]:
    """The ways in which the first instance comes before the second."""

    def at(n: int) -> Order:
        def order(system: System, a: Copy, b: Copy) -> None:
            for v in loops[:n]:
                system.equal({b.var(v): 1, v: -1}, 0)
            if n < len(loops):
                v = loops[n]
                system.at_least({b.var(v): 1, v: -1}, -1)

        return order

    return [at(n) for n in range(len(loops) + textual)]


def _exact(a: Access, b: Access, outside: Mapping[Var, Interval], orders: Sequence[Order]) -> bool:
    ranges: Any = {v: (int(low), int(high)) for v, (low, high) in outside.items()}
    question = Question(a, b, ranges, ())
    return any(question.answer(order, (), False) is not None for order in orders)
