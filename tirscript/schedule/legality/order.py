"""May a loop run in any order, may loops change places: asked of the dependences, answered with a witness.

The usual case, one block whose instances are kept apart by an axis, is answered from facts that the block
remembers; everything else by the engine of ``analysis.dependence``.  What that does not understand is
refused as unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from tirscript.analysis.access import Access, accesses, accesses_of
from tirscript.analysis.dependence import Unknown, Witness, loop_carried, reorder_legal
from tirscript.analysis.reducer import reduced_buffers
from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.ir.expr import TRUE, Expr, IntImm, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import BlockRealize, For, SeqStmt

from ..errors import Note, Refusal
from ..refs import StmtSRef
from ..state import FunctionState
from .apart import loops_apart
from .cells import (
    Cell,
    cells_below,
    distances,
    form_of,
    may_alias,
    own_cells,
    shared_loops,
)
from .init_order import begins_elsewhere
from .private import private_buffers
from .surroundings import aliased_params, outside_ranges, surroundings


class NotIndependent(Refusal):
    code = "loop-carried-dependence"
    template = "loop `{loop}` cannot be {word}: its iterations are not independent"
    hint_template = "make a loop whose iterations are independent {word}, or split the work so that they are"


class OnReductionAxis(Refusal):
    code = "reduction-axis"
    template = "loop `{loop}` cannot be {word}: block {block} binds it to a reduction axis"


class DependenceUnknown(Refusal):
    code = "dependence-unknown"
    template = "cannot tell whether {question}: {what}"
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class ReversedDependence(Refusal):
    code = "reversed-dependence"
    template = "{loops} cannot be reordered: a dependence would be reversed"
    hint_template = "keep the order of the loops that carry it"


def check_iterations_independent(
    place: StmtSRef,
    word: str,
    rule: type[Refusal] = OnReductionAxis,
    combined: frozenset[Any] = frozenset(),
) -> None:
    """Refuse unless no two iterations of the loop touch one cell with a write; ``word`` says why it is
    asked ("parallel", "vectorized").  Accesses to the buffers in ``combined`` do not count."""
    if _surely_independent(place):
        return
    loop: For = place.node
    if not combined:
        meets = _surely_meets(place)
        if meets is None and _linear_independent(place):
            return
        combined = private_buffers(place)
        if meets is not None:
            if not combined:
                realize, axis, access = meets
                _refuse_carried(place, word, rule, realize, axis, partial(_sure_note, place, realize, access))
            if _linear_independent(place):
                return
    answer = _carried(place, combined)
    if answer is None:
        return
    if isinstance(answer, Unknown):
        raise DependenceUnknown(
            place.home,
            at=[(loop, None)],
            question=f"the iterations of loop `{loop.loop_var.name}` are independent",
            what=unknown_text(answer),
        )
    found, axis = _reduction_axis(answer, loop.loop_var)
    _refuse_carried(place, word, rule, found, axis, _witness_text(answer))


def _carried(
    place: StmtSRef, combined: frozenset[Any] = frozenset(), any_kind: bool = False
) -> Witness | Unknown | None:
    found = None
    if combined:
        found = [a for a in accesses_of(place.node) if a.buffer not in combined]
    return loop_carried(place.node, **surroundings(place), found=found, any_kind=any_kind)


def combining_blocks(place: StmtSRef) -> dict[Any, BlockRealize]:
    """The buffers that iterations of the loop only update together, by the one commutative reducer of one
    block that binds the loop to reduction axes; each with that block."""
    if _may_be_aliased(place.home):
        return {}
    v = place.node.loop_var
    groups: dict[Any, list[Any]] = {}
    for a in accesses_of(place.node):
        groups.setdefault(a.buffer.data, []).append(a)
    out: dict[Any, BlockRealize] = {}
    for group in groups.values():
        first = group[0]
        realize = first.realizes[0] if first.realizes else None
        if realize is None or first.buffer not in reduced_buffers(realize.block):
            continue
        if any(a.buffer is not first.buffer or not a.realizes or a.realizes[0] is not realize for a in group):
            continue
        kinds = {
            iv.kind
            for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
            if _mentions(value, v)
        }
        if kinds == {"reduce"}:
            out[first.buffer] = realize
    return out


def _sure_note(place: StmtSRef, realize: BlockRealize, access: Access) -> str | None:
    """The first two iterations that write the cell: the loops around and inside at their first values."""
    loop: For = place.node
    first: dict[Var, int] = {}
    try:
        p: StmtSRef | None = place
        while p is not None and type(p.node) is not BlockRealize:
            if type(p.node) is not For and type(p.node) is not SeqStmt:
                return _carried_note(place)
            if type(p.node) is For:
                first[p.node.loop_var] = evaluate(p.node.min, {})
            p = p.parent
        for f in _single_block(loop.body, [])[1]:
            first[f.loop_var] = evaluate(f.min, {})
        axes = {
            iv.var: evaluate(value, first)
            for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True)
        }
        assert access.indices is not None
        cell = ", ".join([str(evaluate(i, axes)) for i in access.indices])
    except CannotEvaluate:  # extents of axes, symbols: the whole test finds values for them
        return _carried_note(place)
    name, low = loop.loop_var.name, first[loop.loop_var]
    return f"{name}={low} and {name}={low + 1} both write {access.buffer.name}[{cell}]"


def _carried_note(place: StmtSRef) -> str | None:
    answer = _carried(place, any_kind=True)
    return _witness_text(answer) if isinstance(answer, Witness) else None


def _refuse_carried(
    place: StmtSRef, word: str, rule: type[Refusal], realize: BlockRealize | None, axis: Any, note: Note
) -> NoReturn:
    loop: For = place.node
    if realize is not None and axis.kind == "reduce":
        raise rule(
            place.home,
            at=[(loop, None), ((axis, loop.loop_var), "bound here")],
            notes=[note],
            hint=_other_loops(place, realize, word),
            loop=loop,
            block=realize,
            word=word,
        )
    raise NotIndependent(place.home, at=[(loop, None)], notes=[note], loop=loop, word=word)


def unknown_text(answer: Unknown) -> str:
    a = answer.access
    verb = "written" if a.is_write else "read"
    where = f' in block "{a.realizes[-1].block.name}"' if a.realizes else ""
    return f"how {a.buffer.name} is {verb}{where} is {answer.reason}"


def _witness_text(answer: Witness) -> str:
    return answer.text if answer.certain else f"{answer.text}, if the conditions on data hold"


def _reduction_axis(answer: Witness, v: Var) -> tuple[BlockRealize | None, Any]:
    """The block of the witness that binds the loop to a reduction axis, and that axis."""
    for a in answer.accesses:
        for realize in a.realizes[:1]:
            for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
                if iv.kind == "reduce" and _mentions(value, v):
                    return realize, iv
    return None, None


def _mentions(e: Expr, v: Var) -> bool:
    if type(e) is Var:
        return e is v
    return any(n is v for n in walk(e))


def _other_loops(place: StmtSRef, realize: BlockRealize, word: str) -> str:
    """The hint for a reduction loop: rfactor, or the loops that are bound to spatial axes alone."""
    kinds: dict[Var, set[str]] = {}
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        for n in walk(value):
            if type(n) is Var:
                kinds.setdefault(n, set()).add(iv.kind)
    good = [v.name for v, k in kinds.items() if k == {"spatial"}]
    name = place.node.loop_var.name
    if not good:
        return f"rfactor({name}, 0) first"
    return f"rfactor({name}, 0) first, or make a loop bound to spatial axes {word}: {', '.join(good)}"


def _surely_independent(place: StmtSRef) -> bool:
    """The quick answer for one block: an axis that keeps its instances apart takes another value in every
    iteration."""
    loop: For = place.node
    v = loop.loop_var
    realize, inner = _single_block(loop.body, [])
    if realize is None or _may_be_aliased(place.home):
        return False
    return v in loops_apart(realize, [loop, *inner])


def _surely_meets(place: StmtSRef) -> tuple[BlockRealize, Any, Access] | None:
    """The quick refusal: a block writes a cell that does not depend on the loop.  The axis that the loop
    drives is returned with the block, and the write; the witness need not be known."""
    loop: For = place.node
    v = loop.loop_var
    if type(loop.extent) is not IntImm or loop.extent.value < 2 or loop.step is not None:
        return None
    realize, inner = _single_block(loop.body, [])
    if realize is None or realize.predicate is not TRUE:
        return None
    if any(type(f.extent) is not IntImm or f.extent.value < 1 for f in inner):
        return None
    axis = None
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if value is v and axis is None and iv.dom is not None:
            if not (
                type(iv.dom.min) is IntImm and type(iv.dom.extent) is IntImm and type(loop.min) is IntImm
            ):
                return None
            if not iv.dom.min.value <= loop.min.value <= iv.dom.min.value + iv.dom.extent.value - 2:
                return None
            axis = iv
        elif type(value) is not Var or value is v:
            return None
    if axis is None:
        return None
    for a in accesses(realize.block):
        if not a.is_write or a.indices is None or a.conditions or a.axes:
            continue
        forms = [form_of(i) for i in a.indices]
        if all(f is not None and axis.var not in f.terms for f in forms):
            return realize, axis, a
    return None


def _linear_independent(place: StmtSRef) -> bool:
    """Whether linear equations over the loops leave no distance between iterations that meet."""
    loop: For = place.node
    cells = cells_below(loop)
    if cells is None:
        return False
    aliased = aliased_params(place.home)
    v = loop.loop_var
    outside = outside_ranges(place)
    for a, b in _pairs(cells, aliased):
        found = distances(a, b, shared_loops(a, b), outside)
        if found is not None and found.get(v, (1, 1)) != (0, 0):
            return False
    return True


def _pairs(cells: list[Cell], aliased: frozenset[Any]) -> Iterator[tuple[Cell, Cell]]:
    written = [c for c in cells if c.write]
    for n, a in enumerate(written):
        for b in cells:
            if b.buffer is not a.buffer and not may_alias(a.buffer, b.buffer, aliased):
                continue
            if b.write and b is not a and any(b is w for w in written[:n]):
                continue  # the pair was looked at the other way round
            yield a, b


def _linear_in_order(
    place: StmtSRef, chain: Sequence[For], position: Mapping[Var, int], turned: Sequence[tuple[Var, Var]]
) -> bool:
    """Whether linear equations over the loops leave no meeting whose order the new nest turns round."""
    cells = cells_below(chain[0])
    if cells is None:
        return False
    moved = [f.loop_var for f in chain]
    number = {v: n for n, v in enumerate(moved)}
    outside = outside_ranges(place)
    for a, b in _pairs(cells, aliased_params(place.home)):
        found = distances(a, b, shared_loops(a, b), outside)
        if found is None:
            continue
        for x, y in turned:
            (low_x, high_x), (low_y, high_y) = found[x], found[y]
            if (high_x > 0 and low_y < 0) or (low_x < 0 and high_y > 0):
                before = moved[: number[x]]
                after = [u for u in moved if position[u] < position[y]]
                if all(found[u][0] <= 0 <= found[u][1] for u in (*before, *after)):
                    return False
    return True


def _surely_in_order(realize: BlockRealize, fixed: set[Var], turned: Sequence[tuple[Var, Var]]) -> bool:
    """The quick answer for one block: of two loops that change places, one is the same wherever instances
    meet, or all meetings are updates that commute; ``fixed`` are those that are the same."""
    block = realize.block
    loose = [v for pair in turned if pair[0] not in fixed and pair[1] not in fixed for v in pair]
    if not loose:
        return True
    cells = own_cells(block)
    reduced = reduced_buffers(block)
    if any(c.write and c.buffer not in reduced for c in cells):
        return False
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if iv.kind not in ("spatial", "reduce") and any(_mentions(value, v) for v in loose):
            return False
    return True


def _single_block(s: Any, inner: list[For]) -> tuple[BlockRealize | None, list[For]]:
    """The block that is all there is below loops, and those loops."""
    while type(s) is For:
        inner.append(s)
        s = s.body
    return (s if type(s) is BlockRealize else None), inner


def _may_be_aliased(home: FunctionState) -> bool:
    flag = home.func.attrs.get("tir.noalias")
    return flag is not None and not getattr(flag, "value", flag)


# ---- reorder


def check_reorder(place: StmtSRef, chain: Sequence[For], order: Sequence[For]) -> None:
    """Refuse unless every dependence keeps its direction when the perfect nest ``chain`` (outermost
    first, the first at ``place``) runs in ``order``."""
    top = chain[0]
    position = {f.loop_var: n for n, f in enumerate(order)}
    moved = [f.loop_var for f in chain]
    # Pairs of loops that change places: (outer before, outer after).
    turned = [(x, y) for n, x in enumerate(moved) for y in moved[n + 1 :] if position[y] < position[x]]
    if not turned:
        return
    names = ", ".join([f"`{f.loop_var.name}`" for f in order])
    realize, loops = _single_block(chain[-1].body, list(chain))
    told = None if realize is None or _may_be_aliased(place.home) else loops_apart(realize, loops)
    begun = begins_elsewhere(place, chain, [(f.loop_var,) for f in order], told)
    if begun is not None:
        if isinstance(begun.answer, Unknown):
            what = unknown_text(begun.answer)
            raise DependenceUnknown(
                place.home, at=[(top, None)], question=f"{names} may be reordered", what=what
            )
        raise ReversedDependence(
            place.home, at=[(top, None), (begun.realize, None)], notes=[begun.note], loops=names
        )
    if realize is not None and told is not None and _surely_in_order(realize, told, turned):
        return
    if _linear_in_order(place, chain, position, turned):
        return
    answer = reorder_legal(chain, order, **surroundings(place))
    if answer is None:
        return
    if isinstance(answer, Unknown):
        raise DependenceUnknown(
            place.home, at=[(top, None)], question=f"{names} may be reordered", what=unknown_text(answer)
        )
    raise ReversedDependence(
        place.home,
        at=[(top, None)],
        notes=[f"{_witness_text(answer)}; the new order runs them the other way round"],
        loops=names,
    )
