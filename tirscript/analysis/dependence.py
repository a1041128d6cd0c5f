"""Which instances touch the same cell: dependences between iterations of loops, or instances of a block.

Two accesses conflict where their indices are equal, both happen and one writes.  That is a system of
linear equations and inequalities over the loops of the one and (renamed) of the other, which ``solve``
decides; quotients and remainders by constants are exact in it.  A solution is checked by evaluating what
stands in the program: then it is a ``Witness``.  What is not linear, or too large, is ``Unknown``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tirscript.arith.linear import key_of, mentions
from tirscript.diagnostics import deep_recursion
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, FloatImm, IntImm, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block, BlockRealize, For

from .access import Access, accesses, accesses_of
from .question import NO_RANGES, Answer, Copy, Interval, Question, Unknown, Witness
from .reducer import reduced_buffers
from .region import Axis
from .solve import System

# ---- pairs of accesses


def _distinct(found: Iterable[Access]) -> list[Access]:
    """One access of each index, buffer and surroundings; a write stands for a read of the same."""
    seen: dict[Any, int] = {}
    out: list[Access] = []
    for a in found:
        if a.indices is None:
            place: Any = (
                None if a.region is None else tuple([(key_of(r.min), key_of(r.extent)) for r in a.region])
            )
        else:
            place = tuple([key_of(i) for i in a.indices])
        key = (
            a.buffer,
            place,
            tuple([x.var for x in a.axes]),
            tuple([id(c) for c in a.conditions]),
            a.realizes[0].block.label if a.realizes else None,
            a.init,
        )
        at = seen.get(key)
        if at is None:
            seen[key] = len(out)
            out.append(a)
        elif a.is_write and not out[at].is_write:
            out[at] = a
    return out


def may_alias(a: Buffer, b: Buffer, aliased: frozenset[Buffer]) -> bool:
    """Whether two buffers may share memory."""
    return a is b or a.data is b.data or (a in aliased and b in aliased)


def _pairs(found: list[Access], aliased: frozenset[Buffer]) -> list[tuple[Access, Access]]:
    """Each unordered pair, with itself too, that may touch one cell and of which one writes."""
    writes = [a for a in found if a.is_write]
    if not writes:
        return []
    out = []
    by_pointer: dict[Any, list[Access]] = {}
    if not aliased:
        for a in found:
            by_pointer.setdefault(a.buffer.data, []).append(a)
    done: set[int] = set()
    for w in writes:
        for b in found if aliased else by_pointer[w.buffer.data]:
            if id(b) in done or not may_alias(w.buffer, b.buffer, aliased):
                continue
            out.append((w, b))
        done.add(id(w))
    return out


# ---- questions about loops


def _is_reduction(a: Access, b: Access, moved: Iterable[Var]) -> bool:
    """Whether both belong to one update by a commutative reducer, in a block that leaves the order of the
    loops free."""
    if not a.realizes or not b.realizes or a.realizes[0] is not b.realizes[0] or a.buffer is not b.buffer:
        return False
    realize = a.realizes[0]
    if a.buffer not in reduced_buffers(realize.block):
        return False
    loops = set(moved)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind not in ("spatial", "reduce") and mentions(value, loops):
            return False
    return True


def _differs(loop: Var, sign: int) -> Callable[[System, Copy, Copy], None]:
    def order(system: System, a: Copy, b: Copy) -> None:
        # sign * (second - first) >= 1
        system.at_least({b.var(loop): sign, loop: -sign}, -1)

    return order


def loop_carried(
    loop: For,
    ranges: Mapping[Var, Interval] = NO_RANGES,
    *,
    aliased: frozenset[Buffer] = frozenset(),
    conditions: Sequence[Expr] = (),
    found: Sequence[Access] | None = None,
    any_kind: bool = False,
) -> Answer:
    """Whether two different iterations of ``loop`` touch one cell, one of them writing; everything around
    the loop is fixed, loops inside are free.

    ``ranges`` bounds the variables around, ``conditions`` hold there, ``aliased`` buffers may be the same
    memory.  None: the iterations are independent.  A reduction is reported (kind ``reduction``) only
    where nothing worse is found, or with ``any_kind`` as soon as it is.
    """
    with deep_recursion():
        if found is not None:
            seen = _distinct(found)
        else:
            memo = memo_of(loop)
            seen = memo.get("distinct") or memo.setdefault("distinct", _distinct(accesses_of(loop)))
        v = loop.loop_var
        milder: Answer = None
        for a, b in _pairs(seen, aliased):
            if _indexed_by(v, a, b):
                continue
            question = Question(a, b, ranges, conditions)
            reduction = _is_reduction(a, b, (v,))
            for sign in (1,) if a is b else (1, -1):
                answer = question.answer(_differs(v, sign), (v,), reduction)
                if type(answer) is Witness and (any_kind or answer.kind != "reduction"):
                    return answer
                if answer is not None and (milder is None or type(answer) is Witness):
                    milder = answer
        return milder


def _indexed_by(v: Var, a: Access, b: Access) -> bool:
    """The fast case: one dimension of both is the variable itself."""
    if a.buffer is not b.buffer or a.indices is None or b.indices is None:
        return False
    return any(i is v and j is v for i, j in zip(a.indices, b.indices, strict=True))


def reorder_legal(
    chain: Sequence[For],
    new_order: Sequence[For],
    ranges: Mapping[Var, Interval] = NO_RANGES,
    *,
    aliased: frozenset[Buffer] = frozenset(),
    conditions: Sequence[Expr] = (),
) -> Answer:
    """Whether running the perfect nest ``chain`` (outermost first) in ``new_order`` turns a dependence
    round.  None: it does not.  Updates by one commutative reducer may change places."""
    with deep_recursion():
        old = [f.loop_var for f in chain]
        new = [f.loop_var for f in new_order]
        if old == new:
            return None
        unknown: Answer = None
        for a, b in _pairs(_distinct(accesses_of(chain[0])), aliased):
            if _is_reduction(a, b, old):
                continue
            question = Question(a, b, ranges, conditions)
            for order in _reversals(old, new):
                answer = question.answer(order, old, False)
                if type(answer) is Witness:
                    return answer
                unknown = unknown or answer
        return unknown


def _reversals(old: list[Var], new: list[Var]) -> list[Callable[[System, Copy, Copy], None]]:
    """The ways in which the first instance comes earlier in the old order and later in the new one, and
    the other way round."""
    out = []
    for p in range(len(old)):
        for q in range(len(new)):
            if new[q] is old[p]:
                continue
            equal = {*old[:p], *new[:q]}
            if old[p] in equal or new[q] in equal:
                continue
            out += [_reversal(equal, old[p], new[q], sign) for sign in (1, -1)]
    return out


def _reversal(equal: set[Var], up: Var | None, down: Var, sign: int) -> Callable[[System, Copy, Copy], None]:
    def order(system: System, a: Copy, b: Copy) -> None:
        for v in equal:
            system.equal({b.var(v): 1, v: -1}, 0)
        if up is not None:
            system.at_least({b.var(up): sign, up: -sign}, -1)
        system.at_least({b.var(down): -sign, down: sign}, -1)

    return order


def inits_in_order(
    top: For,
    target: BlockRealize,
    old: Sequence[Var],
    new: Sequence[Var],
    ranges: Mapping[Var, Interval] = NO_RANGES,
    *,
    aliased: frozenset[Buffer] = frozenset(),
    conditions: Sequence[Expr] = (),
) -> Answer:
    """Whether the inits of a block keep their order with all that touches the same cells, where each
    iteration of the loops ``old`` begins the reduction, and then each of the loops ``new`` (outermost first).
    None: they do.  Of one iteration, the inits come first.
    """
    with deep_recursion():
        found = _distinct(accesses_of(top))
        inits = [a for a in found if a.owner is target and a.is_write]
        unknown: Answer = None
        for a in inits:
            for b in found:
                if not may_alias(a.buffer, b.buffer, aliased) or (b in inits and _constant(a, b)):
                    continue
                question = Question(a, b, ranges, conditions)
                for order in (*_overtaken(old, new), *_overtaken(new, old)):
                    answer = question.answer(order, [*old, *new], False)
                    if type(answer) is Witness:
                        return answer
                    unknown = unknown or answer
        return unknown


def _constant(a: Access, b: Access) -> bool:
    """Whether both stores are of one constant: their order is nothing."""
    x, y = getattr(a.node, "value", None), getattr(b.node, "value", None)
    constants = (IntImm, FloatImm)
    return type(x) in constants and type(x) is type(y) and x.value == y.value  # type: ignore[union-attr]


def _overtaken(old: Sequence[Var], new: Sequence[Var]) -> list[Callable[[System, Copy, Copy], None]]:
    """The ways in which the first instance comes no later than the second by the loops ``old`` and later by
    the loops ``new``."""
    out = []
    for q, later in enumerate(new):
        for p in range(len(old) + 1):
            equal = {*old[:p], *new[:q]}
            if later in equal or (p < len(old) and old[p] in equal):
                continue
            out.append(_reversal(equal, old[p] if p < len(old) else None, later, 1))
    return out


# ---- questions about instances of a block


def instance_conflicts(block: Block, aliased: frozenset[Buffer] = frozenset()) -> Answer:
    """Whether two instances of the block that differ in a spatial axis touch one cell, one writing.

    Everything around the block is fixed.  Certain conflicts in global memory are preferred: memory of
    threads may be another one for each instance.  Memoised on the block.
    """
    memo = memo_of(block)
    key = ("instance_conflicts", aliased)
    if key not in memo:
        with deep_recursion():
            memo[key] = _instance_conflicts(block, aliased)
    found: Answer = memo[key]
    return found


def block_accesses(block: Block) -> list[Access]:
    """The accesses of a block to what it does not allocate itself, its axes in front of its loops."""
    own = set(block.alloc_buffers)
    axes = tuple([Axis(iv.var, iv.dom.min, iv.dom.extent) for iv in block.iter_vars if iv.dom is not None])
    return [
        Access(
            a.buffer, a.indices, a.is_write, (*axes, *a.axes), a.conditions, a.stmt, a.node, a.init, a.region
        )
        for a in accesses(block)
        if a.buffer not in own
    ]


def _instance_conflicts(block: Block, aliased: frozenset[Buffer]) -> Answer:
    spatial = [iv.var for iv in block.iter_vars if iv.kind == "spatial"]
    if not spatial or _indexed_by_all(block, spatial, aliased):
        return None
    order = [iv.var for iv in block.iter_vars]
    unknown: Answer = None
    for a, b in _pairs(_distinct(block_accesses(block)), aliased):
        question: Question | None = None
        for v in spatial:
            if _indexed_by(v, a, b):
                continue
            question = question or Question(a, b, NO_RANGES, ())
            for sign in (1,) if a is b else (1, -1):
                answer = question.answer(_differs(v, sign), order, False)
                if type(answer) is Witness and answer.buffer.scope == "global" and answer.certain:
                    return answer
                if type(answer) is Witness or unknown is None:
                    unknown = answer if type(unknown) is not Witness else unknown
    return unknown


def _indexed_by_all(block: Block, spatial: list[Var], aliased: frozenset[Buffer]) -> bool:
    """The fast case: every access of a written buffer has each spatial axis as an index of its own, the
    same one everywhere."""
    found = accesses(block)
    places: dict[Buffer, dict[Var, int]] = {}
    pointers: dict[Any, Buffer] = {}
    for a in found:
        if a.is_write:
            if a.indices is None or a.buffer in aliased:
                return False
            if pointers.setdefault(a.buffer.data, a.buffer) is not a.buffer:
                return False
            if a.buffer not in places:
                where = {i: n for n, i in enumerate(a.indices) if type(i) is Var}
                if not all(v in where for v in spatial):
                    return False
                places[a.buffer] = where
    for a in found:
        where_written = places.get(a.buffer)
        if where_written is None:
            if a.buffer.data in pointers:
                return False
            continue
        if a.indices is None:
            return False
        for v in spatial:
            if a.indices[where_written[v]] is not v:
                return False
    return True


__all__ = [
    "Answer", "Unknown", "Witness", "block_accesses", "inits_in_order", "instance_conflicts", "loop_carried",
    "may_alias", "reorder_legal",
]  # fmt: skip
