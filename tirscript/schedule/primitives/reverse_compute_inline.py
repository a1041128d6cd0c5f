"""Compute a block where its producer stores what it reads, and remove the block and the buffer between.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * it has no init, and its body is one store of a value without side effects (``not-a-single-store``)
  * it reads one buffer that a block allocates, at one cell (``no-single-producer``), which tells its axes: a
    one-to-one map, as of transposed axes, quotients and remainders (``not-invertible``)
  * one statement, the store of a block without init, writes that buffer, once for every cell
    (``not-a-single-producer``); the epilogue of a reduction is refused with ``reduction-producer``
  * nothing else uses the buffer (``other-reader``)
  * the loops around both blocks visit their domains (``axis-not-covered``, ``axis-overrun``,
    ``cover-unknown``, ``guarded-block``, ``loop-without-axis``), and the producer stores every cell that the
    block reads (``cells-missed``)
  * only loops and sequences stand around both (``statement-between``)
  * nothing between touches what the block touches (``reversed-dependence``, ``dependence-unknown``), and
    loops around both fix the same axes (``other-iteration``)
  * no two instances of the block write one cell (``instances-meet``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.reverse_compute_inline("C")
>>> print(sch.mod["main"].body.block.body.body.block.body)
C[vi] = A[vi] * T.float32(2) + T.float32(1)

Source: TVM's ``reverse_compute_inline``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.region import nonnegative
from tirscript.arith import Analyzer
from tirscript.ir.expr import LE, LT, TRUE, And, Cast, Expr, Range, Var
from tirscript.ir.stmt import BlockRealize, BufferStore
from tirscript.ir.visitor import substitute

from ..errors import Refusal
from ..legality.binding import at_least
from ..record.trace import InstructionKind
from ..rewrite.merge_search import find_merge
from ..rewrite.merging import Merge, replace_blocks
from ..state import ScheduleState


class ReductionProducer(Refusal):
    code = "reduction-producer"
    template = (
        "block {block} cannot be computed in block {producer}: that has an init, so its value is not known "
        "before its loops end"
    )
    hint_template = "fuse_reduction_epilogue, or reverse_compute_at to the loop around the reduction"


def check(state: ScheduleState, block: Any) -> Merge:
    """The two blocks and how their axes go together, if the block can be inlined."""
    merge = find_merge(state, block, "reverse_compute_inline")
    if merge.producer.node.block.init is not None:
        raise ReductionProducer(
            merge.place.home, at=[(merge.place, None), (merge.producer, "")], block=merge.place.node,
            producer=merge.producer.node,
        )  # fmt: skip
    merge.check_everything()
    return merge


def rewrite(state: ScheduleState, plan: Merge) -> None:
    """Store the block's value in place of the producer's, and take the block and the buffer out."""
    realize: BlockRealize = plan.producer.node
    axes = plan.inverse.at(plan.made.indices)
    made = plan.made.value
    value = made if made.dtype == plan.buffer.dtype else Cast(plan.buffer.dtype, made)
    new = plan.put(plan.store, value, axes)
    body: Any = (
        new if realize.block.body is plan.made else substitute_store(realize.block.body, plan.made, new)
    )
    predicate = guards_of(plan, axes)
    replace_blocks(state, plan, body, realize.block.init, predicate)


def substitute_store(body: Any, old: BufferStore, new: BufferStore) -> Any:
    """The body with another store."""

    def f(n: Any) -> Any:
        return new if n is old else n.map_children(f)

    return f(body)


def guards_of(plan: Merge, axes: dict[Var, Expr]) -> Expr:
    """The producer's predicate with what the block's own conditions and missing cells add."""
    realize: BlockRealize = plan.producer.node
    if not plan.guards:
        return realize.predicate
    values = dict(zip([iv.var for iv in realize.block.iter_vars], realize.iter_values, strict=True))
    predicate = realize.predicate
    cx: Analyzer | None = None
    for g in plan.guards:
        over: Any = substitute(substitute(g, axes), values)
        if cx is None:
            cx = Analyzer()
            for f in plan.loops:
                cx.bind(f.loop_var, Range(f.min, f.extent))
        forms = nonnegative(over)
        if len(forms) == 1 and (type(over) is LT or type(over) is LE):
            if cx.nonnegative(forms[0]):
                continue
            over = at_least(forms[0], over.a.dtype)
        else:
            over = cx.simplify(over)
        if over is not TRUE:
            predicate = over if predicate is TRUE else And(predicate, over)
    return predicate


KIND = InstructionKind("ReverseComputeInline", "reverse_compute_inline", ("block",), check, rewrite)
