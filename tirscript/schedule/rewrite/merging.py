"""Two blocks made one: a consumer computed where its only producer stores what it reads."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import Access, accesses, accesses_of
from tirscript.analysis.dependence import instance_conflicts
from tirscript.analysis.inferred import infer_regions
from tirscript.analysis.question import Witness
from tirscript.analysis.region import Axis
from tirscript.arith.linear import Linear, key_of, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import EQ, BufferLoad, Expr, IterVar, Var
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal, describe
from ..legality.apart import axes_apart
from ..legality.binding import Binding, at_least, binding_of, plain_binding
from ..legality.footprint import touched
from ..legality.inlining import Inverse, inverse_of
from ..legality.motion import meeting
from ..legality.moves import vanished, without
from ..legality.regions import Prover, domain_of
from ..legality.surroundings import aliased_params, outside_ranges
from ..refs import StmtSRef, block_token
from ..state import ScheduleState, lifted
from .nesting import around


class CellsMissed(Refusal):
    code = "cells-missed"
    template = (
        "block {block} cannot be computed in block {producer}: that is not known to store every cell of "
        "{buffer} that the block reads"
    )


class StatementAround(Refusal):
    code = "statement-between"
    template = "block {block} cannot be computed in its producer: {what} stands around {whom}"


class TurnedRound(Refusal):
    code = "reversed-dependence"
    template = "block {block} cannot be computed in block {producer}: {other}, between them, {what}"


class MergeUnknown(Refusal):
    code = "dependence-unknown"
    template = "cannot tell whether block {block} may be computed in block {producer}: {what}"
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class OtherIteration(Refusal):
    code = "other-iteration"
    template = (
        "block {block} cannot be computed in block {producer}: axis `{axis}` would be that of another "
        "iteration of the loops around both"
    )


class InstancesMeet(Refusal):
    code = "instances-meet"
    template = (
        "block {block} cannot be computed in block {producer}: several of its instances write one cell, and "
        "they would run in another order"
    )


class Merge:
    """A consumer, its producer, the buffer between, and how the axes go together."""

    __slots__ = (
        "buffer", "checked", "guards", "home", "inverse", "load", "loops", "made", "others", "place",
        "producer", "slots", "store", "top",
    )  # fmt: skip

    place: StmtSRef  # of the consumer
    producer: StmtSRef
    home: StmtSRef  # of the block that allocates the buffer
    buffer: Buffer
    store: BufferStore  # of the consumer
    made: BufferStore  # of the producer
    load: BufferLoad
    inverse: Inverse
    guards: list[Expr]  # conditions over the consumer's axes
    loops: list[For]  # around the producer
    top: StmtSRef  # what is around both
    others: list[Any]  # the statements that the consumer passes
    # Where both stand in one sequence, under loops alone: the numbers of the producer and the consumer.
    slots: tuple[int, int] | None
    checked: bool

    def put(self, store: BufferStore, value: Expr, axes: dict[Var, Expr]) -> BufferStore:
        """The consumer's store with the producer's value in place of what it loads, and the axes' values."""

        def f(n: Any) -> Any:
            if type(n) is BufferLoad and n.buffer is self.buffer:
                return value
            if type(n) is Var:
                return axes.get(n, n)
            return n.map_children(f)

        return BufferStore(
            store.buffer,
            value if store.value is self.load else f(store.value),
            tuple([axes.get(i, i) if type(i) is Var else f(i) for i in store.indices]),
            None,
            store.span,
        )

    def check_everything(self) -> None:
        """Refuse unless every instance of the consumer still runs, once its value is there."""
        producer = self.producer
        loops_c, loops_p = _loops(self, self.place), _loops(self, producer)
        prover: Prover | None = None
        binding = plain_binding(self.place, loops_c)
        if binding is None:
            prover = self._prover()
            binding = binding_of(self.place, loops_c, prover, checked=self.checked, word="left")
        theirs = plain_binding(producer, loops_p)
        if theirs is None:
            prover = prover or self._prover()
            theirs = binding_of(producer, loops_p, prover, checked=self.checked, word="left")
        self.guards = [*binding.guards, *self._still(binding)]
        whole = not (binding.domains or theirs.domains or theirs.guards)
        if self.checked and not whole:
            raise self.missed()
        b: Block = producer.node.block
        if theirs.fixed and any(iv.kind == "reduce" and iv.var in theirs.fixed for iv in b.iter_vars):
            raise self.missed()  # its loops run over a part of the reduction
        self._check_cells(prover)
        if self.checked:
            self._check_axes(binding)
            self._check_order()

    def _still(self, binding: Binding) -> list[Expr]:
        """That axes have the value that they stand still at: the producer's loops run through all of them.
        Those that loops around both fix are asked for apart."""
        around = self._around()
        still = [(iv, binding.fixed.get(iv.var)) for iv in self.place.node.block.iter_vars if not single(iv)]
        return [EQ(iv.var, e) for iv, e in still if e is not None and around.isdisjoint(free_vars(e))]

    def _around(self) -> set[Var]:
        """The loops around both."""
        out: set[Var] = set()
        p: StmtSRef | None = self.top
        while p is not None and type(p.node) is not BlockRealize:
            if type(p.node) is For:
                out.add(p.node.loop_var)
            p = p.parent
        return out

    def _prover(self) -> Prover:
        parent = self.producer.parent
        return Prover(() if parent is None else around(parent), self.place.home.func)

    def missed(self) -> Refusal:
        """The error for cells that the producer may not store."""
        return CellsMissed(
            self.place.home, at=[(self.place, None), (self.producer, "")], block=self.place.node,
            producer=self.producer.node, buffer=self.buffer,
        )  # fmt: skip

    def _check_cells(self, prover: Prover | None) -> None:
        """The producer stores the whole box that the consumer reads; guards leave out what it stores more."""
        b: Block = self.producer.node.block
        kept: Any = b.iter_vars if b.init is None else [iv for iv in b.iter_vars if iv.kind != "reduce"]
        mine = inverse_of(self.made.indices, kept)
        if mine is None:
            raise self.missed()
        if mine.ranges is not None and mine.ranges == self.inverse.ranges:
            return
        prover = prover or self._prover()
        axes = self.inverse.axes
        for (low, high), (first, last) in zip(self.inverse.box, mine.box, strict=True):
            if self.checked and not (prover.proves(low - first) and prover.proves(last - high)):
                raise self.missed()
        # Cells that the consumer leaves out.
        block: Block = self.place.node.block
        exact = all(
            prover.proves(first - low) and prover.proves(high - last)
            for (low, high), (first, last) in zip(self.inverse.box, mine.box, strict=True)
        )
        if exact:
            return
        for iv in block.iter_vars:
            if iv.dom is None or iv.var not in axes or not free_vars(axes[iv.var]):
                continue
            ends = domain_of(iv.dom)
            if ends is not None:
                me = Linear({iv.var: 1})
                self.guards.append(at_least(me - ends[0], iv.var.dtype))
                self.guards.append(at_least(ends[1] - me, iv.var.dtype))

    def _check_axes(self, binding: Binding) -> None:
        """Loops around both must fix an axis to what the producer's cell says."""
        variables = self._around()
        if not variables:
            return
        realize: BlockRealize = self.producer.node
        values = dict(zip([iv.var for iv in realize.block.iter_vars], realize.iter_values, strict=True))
        axes = self.inverse.at(self.made.indices)
        consumer: BlockRealize = self.place.node
        for iv, value in zip(consumer.block.iter_vars, consumer.iter_values, strict=True):
            new = substitute(axes[iv.var], values) if iv.var in axes else value
            a, b = to_linear(value), to_linear(new)
            moving = [x for x in (value, new) if not variables.isdisjoint(free_vars(x))]
            if moving and (a is None or b is None or a.key() != b.key()):
                raise OtherIteration(
                    self.place.home, at=[(self.place, None), (self.producer, "")], block=consumer,
                    producer=realize, axis=iv,
                )  # fmt: skip

    def _check_order(self) -> None:
        """Nothing that the consumer passes touches what it touches; the producer does at its own cell."""
        place = self.place
        block: Block = place.node.block
        apart = axes_apart(block)
        if not all(iv.var in apart or single(iv) for iv in block.iter_vars):
            meet = instance_conflicts(block)
            if meet is not None:
                raise InstancesMeet(
                    place.home, at=[(place, None), (self.producer, "")], notes=[str(meet)], block=place.node,
                    producer=self.producer.node,
                )  # fmt: skip
        reads, writes = touched(place.node)
        reads -= {self.buffer.data}
        aliased = frozenset([b.data for b in aliased_params(place.home)])
        if aliased:
            reads = reads | aliased if not aliased.isdisjoint(reads) else reads
            writes = writes | aliased if not aliased.isdisjoint(writes) else writes
        for s in self.others:
            theirs_read, theirs_write = touched(s)
            if (
                writes.isdisjoint(theirs_read)
                and writes.isdisjoint(theirs_write)
                and reads.isdisjoint(theirs_write)
            ):
                continue
            answer, certain = self._meet(s)
            if answer and not certain:
                raise MergeUnknown(
                    place.home, at=[(place, None), (self.producer, ""), (s, "")], block=place.node,
                    producer=self.producer.node, what=f"{describe(s)}, between them, {answer}",
                )  # fmt: skip
            if answer:
                raise TurnedRound(
                    place.home, at=[(place, None), (self.producer, ""), (s, "")], block=place.node,
                    producer=self.producer.node, other=describe(s), what=answer,
                )  # fmt: skip
        # The producer: its instances and those of the consumer alternate now.
        mine = self.producer.node
        theirs_read, theirs_write = touched(mine)
        if (
            writes.isdisjoint(theirs_read)
            and reads.isdisjoint(theirs_write - {self.buffer.data})
            and (writes.isdisjoint(theirs_write))
        ):
            return
        axes = self.inverse.at(self.made.indices)
        key = tuple([key_of(substitute(i, axes)) for i in self.store.indices])
        for a in accesses(mine.block):
            if a.buffer is self.buffer or (
                a.buffer.data not in writes and not (a.is_write and a.buffer.data in reads)
            ):
                continue
            same = a.buffer is self.store.buffer and a.indices is not None and not a.is_write
            if mine.block.init is not None or not same or tuple([key_of(i) for i in a.indices or ()]) != key:
                raise TurnedRound(
                    place.home, at=[(place, None), (self.producer, "")], block=place.node, producer=mine,
                    other=f'block "{mine.block.name}" itself', what=f"uses {a.buffer.name} at other cells",
                )  # fmt: skip

    def _meet(self, s: Any) -> tuple[str, bool]:
        """How a statement meets the consumer, and whether it is certain; nothing where no cell is common."""
        found = accesses_of(self.place.node)
        around_me = _axes(self, self.place)
        mine = [
            Access(
                a.buffer, a.indices, a.is_write, (*around_me, *a.axes), a.conditions, a.stmt, a.node, a.init,
                a.region, a.realizes, a.guarded, a.owner, a.over,
            )
            for a in found
            if a.buffer is not self.buffer
        ]  # fmt: skip
        home = self.place.home
        answer = meeting(
            mine, accesses_of(s), (None,), [], (aliased_params(home), outside_ranges(self.top), ())
        )
        if answer is None:
            return "", True
        if isinstance(answer, Witness):
            return f"touches {answer.buffer.name} too ({answer.text})", True
        return f"may touch {answer.access.buffer.name} too", False


def _axes(merge: Merge, place: StmtSRef) -> tuple[Axis, ...]:
    return tuple([Axis(f.loop_var, f.min, f.extent, f) for f in _loops(merge, place)])


def _loops(merge: Merge, place: StmtSRef) -> list[For]:
    """The loops around a block below what is around both, outermost first."""
    out = []
    p = place.parent
    while p is not None and p is not merge.top:
        if type(p.node) is For:
            out.append(p.node)
        elif type(p.node) is not SeqStmt:
            raise StatementAround(
                place.home, at=[(merge.place, None)], block=merge.place.node, what=describe(p.node),
                whom="it" if place is merge.place else "its producer",
            )  # fmt: skip
        p = p.parent
    out.reverse()
    return out


# ---- finding the two


def single(iv: IterVar) -> bool:
    """Whether an axis has one value."""
    return iv.dom is not None and getattr(iv.dom.extent, "value", 0) == 1


# ---- the new block


def replace_blocks(
    state: ScheduleState, merge: Merge, body: Stmt, init: Stmt | None, predicate: Expr
) -> None:
    """Give the producer another body, init and predicate; take out the consumer, and the buffer between."""
    home = merge.place.home
    owner = merge.home
    producer = merge.producer
    s: BlockRealize = producer.node
    b = s.block
    reads, writes = infer_regions(b.iter_vars, body, init, b.alloc_buffers, b.match_buffers)
    block = Block(
        b.label, b.iter_vars, reads, writes, body, init, b.alloc_buffers, b.match_buffers,
        b.annotations, b.span,
    )  # fmt: skip
    made = BlockRealize(s.iter_values, predicate, block, s.span)
    rest: Any = None
    if merge.slots is not None:
        top = merge.top
        at, last = merge.slots
    else:
        top, rest = without(merge.place)
        at, last = _child_number(top, producer), _child_number(top, merge.place)
    gone = vanished(merge.place, top)
    if at >= 0 and top is not owner:
        # Both stand in one sequence: one change.
        parts = list(top.node.seq)
        parts[at] = lifted(top, producer, made)
        del parts[last]
        new_body = lifted(owner, top, parts[0] if len(parts) == 1 else SeqStmt(tuple(parts), top.node.span))
    else:
        assert rest is not None
        token, own = block_token(b.label), block_token(owner.node.block.label)
        state.replace(top, rest, gone)
        state.replace(home.index[token], made)
        owner, gone = home.index[own], ()
        new_body = owner.node.block.body
    s = owner.node
    b = s.block
    kept = tuple([k for k in b.alloc_buffers if k is not merge.buffer])
    new = Block(
        b.label, b.iter_vars, b.reads, b.writes, new_body, b.init, kept, b.match_buffers,
        b.annotations, b.span,
    )  # fmt: skip
    state.replace(owner, BlockRealize(s.iter_values, s.predicate, new, s.span), gone)


def _child_number(top: StmtSRef, place: StmtSRef) -> int:
    """The number of the part of the sequence ``top`` that a place stands in; -1 where there is none."""
    p: StmtSRef | None = place
    while p is not None and p.parent is not top:
        p = p.parent
    return p.seq_index if p is not None and type(top.node) is SeqStmt else -1


__all__ = ["Merge", "StatementAround", "replace_blocks", "single"]
