"""Fuse what is done with the result of a reduction into the reduction block, and remove the block behind it.

What is done must go together with the reducer, so that the result is the same: a bias that is added to (or
subtracted from) a sum, a factor of a product, a bound of a minimum or maximum, a clipping (minimum and
maximum with what does not depend on the reduction) of a minimum or maximum, or nothing at all (a copy).  It
moves into the init: ``C[i] = sum + bias[i]`` starts the sum at ``bias[i]``.  (Sums of floats are then added
in another order, as by other primitives that reorder reductions.)

What does not go together is refused: the positive part of a sum is not the sum of positive parts.  TVM's
primitive clips after every step instead, which gives another result.

Requirements:
  * ``reduction_block`` and ``epilogue_block`` are references to blocks that are there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * the epilogue has no init, and its body is one store of a value without side effects
    (``not-a-single-store``), which reads the result of the reduction at one cell (``no-single-producer``)
    that tells its axes (``not-invertible``)
  * the reduction block has an init (``not-a-reduction``), stores the result in one statement that updates it
    by one commutative reducer (``not-a-single-producer``), and every cell that the epilogue reads
    (``cells-missed``); nothing else uses the result (``other-reader``)
  * the epilogue goes together with the reducer (``epilogue-does-not-fit``), without casting
  * the loops around both blocks visit their domains (``axis-not-covered``, ``axis-overrun``,
    ``cover-unknown``, ``guarded-block``, ``loop-without-axis``); only loops and sequences stand around both
    (``statement-between``)
  * nothing between touches what the epilogue touches (``reversed-dependence``, ``dependence-unknown``), and
    loops around both fix the same axes (``other-iteration``)
  * no two instances of the block write one cell (``instances-meet``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.script import tir as T
>>> @T.prim_func
... def f(A: T.Buffer((4, 8), "int32"), D: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
...     S = T.alloc_buffer((4,), "int32")
...     for i, k in T.grid(4, 8):
...         with T.block("S"):
...             vi, vk = T.axis.remap("SR", [i, k])
...             with T.init():
...                 S[vi] = 0
...             S[vi] = S[vi] + A[vi, vk]
...     for i in range(4):
...         with T.block("C"):
...             vi = T.axis.spatial(4, i)
...             C[vi] = S[vi] + D[vi]
>>> sch = Schedule(f, debug_mask="all")
>>> sch.fuse_reduction_epilogue("S", "C")
>>> block = sch.get(sch.get_block("S"))
>>> print(block.init)
C[vi] = D[vi]
>>> print(block.body)
C[vi] = C[vi] + A[vi, vk]

Source: TVM's ``fuse_reduction_epilogue``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.reducer import KINDS, update_of
from tirscript.arith import Analyzer
from tirscript.ir.expr import (
    Add,
    BufferLoad,
    Expr,
    FloatImm,
    IntImm,
    Max,
    Min,
    Sub,
    Var,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal
from ..record.trace import InstructionKind
from ..resolve import block_place
from ..rewrite.merge_search import NotASingleProducer, find_merge
from ..rewrite.merging import Merge, replace_blocks
from ..state import ScheduleState
from .reverse_compute_inline import guards_of, substitute_store


class NotAReduction(Refusal):
    code = "not-a-reduction"
    template = "block {block} cannot be fused into block {producer}: that has no init"
    hint_template = "reverse_compute_inline is for producers that are no reductions"


class EpilogueDoesNotFit(Refusal):
    code = "epilogue-does-not-fit"
    template = (
        "block {block} cannot be fused into block {producer}: {what}, so the result would be another one"
    )
    hint_template = "reverse_compute_at to the loop around the reduction keeps the values together"


class Plan:
    """The two blocks, and the new init and update as functions of the producer's axes."""

    __slots__ = ("axes", "init", "merge", "update")

    def __init__(self, merge: Merge, axes: dict[Var, Expr], init: Expr, update: Expr) -> None:
        self.merge = merge
        self.axes = axes
        self.init = init
        self.update = update


def check(state: ScheduleState, reduction_block: Any, epilogue_block: Any) -> Plan:
    """The new init and update, if the epilogue goes together with the reduction."""
    if reduction_block is None:  # which would mean any
        block_place(state, reduction_block, "reduction_block", "fuse_reduction_epilogue")
    merge = find_merge(state, epilogue_block, "fuse_reduction_epilogue", reduction_block)
    place, producer = merge.place, merge.producer
    b = producer.node.block
    fields: dict[str, Any] = {"block": place.node, "producer": producer.node}
    at: list[tuple[Any, str | None]] = [(place, None), (producer, "")]
    if b.init is None:
        raise NotAReduction(place.home, at=at, **fields)
    update = update_of(merge.made)
    what = None
    if b.body is not merge.made or update is None:
        what = "its body is no update by a reducer"
    elif type(b.init) is not BufferStore or b.init.buffer is not merge.buffer:
        what = "its init is not one store of the result"
    elif any(not _same_cell(b.init, merge.made, i) for i in range(len(merge.made.indices))):
        what = "its init stores another cell"
    elif update.reducer.negated or update.reducer.kind not in _NODES:
        what = f"its reducer is {update.reducer.kind}"
    if what is not None:
        raise NotASingleProducer(place.home, at=at, block=place.node, buffer=merge.buffer, what=what)
    assert update is not None and type(b.init) is BufferStore
    merge.check_everything()
    axes = merge.inverse.at(merge.made.indices)
    reduce = {iv.var for iv in b.iter_vars if iv.kind == "reduce"}
    result = _fused(merge, axes, update.reducer.kind, update.value, b.init.value, reduce)
    if isinstance(result, str):
        raise EpilogueDoesNotFit(place.home, at=at, what=result, **fields)
    return Plan(merge, axes, *result)


def _same_cell(init: BufferStore, made: BufferStore, n: int) -> bool:
    from tirscript.arith.linear import key_of

    return bool(key_of(init.indices[n]) == key_of(made.indices[n]))


def _fused(
    merge: Merge, axes: dict[Var, Expr], kind: str, step: Expr, first: Expr, reduce: set[Var]
) -> tuple[Expr, Expr] | str:
    """The new value of the init, and what each update combines; or why there are none."""
    store = merge.store
    if store.buffer.dtype != merge.buffer.dtype or store.value.dtype != merge.buffer.dtype:
        return f"{store.buffer.name} is {store.buffer.dtype}, the result {merge.buffer.dtype}"
    node = _NODES[kind]
    chain: list[tuple[Any, Expr]] = []  # operations from the outermost to the result
    e: Any = store.value
    while not _is_result(e, merge):
        t = type(e)
        if t not in (Add, Sub, Min, Max, *_NODES.values()):
            return f"it computes {t.__name__.lower()} of the result"
        left, right = _mentions(e.a, merge), _mentions(e.b, merge)
        if (left and right) or (t is Sub and right):
            return "it uses the result twice" if left else "it subtracts the result"
        chain.append((t, e.b if left else e.a))
        e = e.a if left else e.b
    init, update = first, step
    for t, other in reversed(chain):
        c = substitute(other, axes)
        if not reduce.isdisjoint(free_vars(c)):
            return "it depends on the reduction axis"
        if t is node or (t is Sub and node is Add):
            init = _made(t, init, c)
        elif node in (Min, Max) and t in (Min, Max):
            # Monotone: the bound of the extreme is the extreme of the bounded values.
            init, update = t(init, c), t(update, c)
        else:
            return f"{t.__name__.lower()} does not go together with {_WORDS[kind]}"
    return init, update


def _made(t: Any, init: Any, c: Expr) -> Expr:
    """``init t c``, with neutral constants left out."""
    if t is Add and type(init) in (IntImm, FloatImm) and init.value == 0:
        return c
    return Analyzer().simplify(t(init, c)) if type(c) in (IntImm, FloatImm) else t(init, c)


def _is_result(e: Any, merge: Merge) -> bool:
    return type(e) is BufferLoad and e.buffer is merge.buffer


def _mentions(e: Any, merge: Merge) -> bool:
    return any(_is_result(n, merge) for n in walk(e))


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Let the reduction block start from the epilogue's part and store the epilogue's result."""
    merge = plan.merge
    realize = merge.producer.node
    b = realize.block
    target = merge.store.buffer
    indices = tuple([substitute(i, plan.axes) for i in merge.store.indices])
    init = BufferStore(target, plan.init, indices, None, b.init.span)
    made = merge.made
    cell = BufferLoad(target, indices)
    found = update_of(made)
    assert found is not None
    value = _rebuilt(made.value, merge, cell, found.value, plan.update)
    body = substitute_store(b.body, made, BufferStore(target, value, indices, None, made.span))
    predicate = guards_of(merge, plan.axes)
    replace_blocks(state, merge, body, init, predicate)


def _rebuilt(e: Any, merge: Merge, cell: Expr, old: Expr, new: Expr) -> Any:
    """The update over another cell, with another value combined."""
    if e is old:
        return new
    if _is_result(e, merge):
        return cell
    return e.map_children(lambda n: _rebuilt(n, merge, cell, old, new))


_NODES: dict[str, Any] = {kind: node for node, kind in KINDS.items()}
_WORDS = {
    "sum": "a sum",
    "prod": "a product",
    "min": "a minimum",
    "max": "a maximum",
    "all": "all",
    "any": "any",
}

KIND = InstructionKind(
    "FuseReductionEpilogue", "fuse_reduction_epilogue", ("reduction_block", "epilogue_block"), check, rewrite
)
