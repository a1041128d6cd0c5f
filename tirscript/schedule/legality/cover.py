"""Do the loops around a block run over the whole domain of its axes, and no further?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.ir.expr import TRUE, IntImm, Var
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt

from ..errors import Refusal
from ..refs import StmtSRef, block_token
from .cells import Form, form_of
from .footprint import touched
from .surroundings import Interval, outside_ranges


class NotCovered(Refusal):
    code = "axis-not-covered"
    template = "loop `{loop}` cannot be {word}: the loops around block {block} never run `{axis}` = {missing}"
    hint_template = "let the loops run over the whole domain of the axis, {domain}"


class Overrun(Refusal):
    code = "axis-overrun"
    template = (
        "loop `{loop}` cannot be {word}: the loops around block {block} take `{axis}` to {extreme}, "
        "outside its domain {domain}"
    )
    hint_template = "let the loops run over the domain of the axis only, or guard the block with T.where"


def check_cover(place: StmtSRef, word: str) -> None:
    """Refuse where the axes that the loop drives certainly miss instances, or leave their domain."""
    loop: For = place.node
    v = loop.loop_var
    ranges: dict[Var, Interval] | None = None
    stack: list[Any] = [loop]
    loops: list[For] = []
    while stack:
        s = stack.pop()
        t = type(s)
        if t is For:
            loops.append(s)
            stack.append(s.body)
        elif t is SeqStmt:
            stack.extend(s.seq)
        elif t is BlockRealize and s.predicate is TRUE:
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                if value is v:
                    low, extent, dom = loop.min, loop.extent, iv.dom
                    if type(low) is not IntImm or type(extent) is not IntImm or loop.step is not None:
                        continue
                    if type(dom.min) is IntImm and type(dom.extent) is IntImm:
                        if low.value == dom.min.value and extent.value == dom.extent.value:
                            continue
                    form = Form(0, {v: 1})
                elif type(value) is Var or type(value) is IntImm:
                    continue
                else:
                    found = form_of(value)
                    if found is None or v not in found.terms:
                        continue
                    form = found
                if ranges is None:
                    if _guarded(place):
                        return
                    ranges = outside_ranges(place)
                _check_axis(place, s, iv, form, _with_loops(ranges, loops), word)


def check_axes_cover(place: StmtSRef, realize: BlockRealize, word: str) -> None:
    """The same for the spatial axes of one block below the place."""
    if realize.predicate is not TRUE or _guarded(place):
        return
    around = []
    p = place.home.index[block_token(realize.block.label)].parent
    while p is not None and p is not place.parent:
        if type(p.node) is For:
            around.append(p.node)
        elif type(p.node) is IfThenElse:
            return
        p = p.parent
    known = _with_loops(outside_ranges(place), around)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind != "reduce":
            form = form_of(value)
            if form is not None:
                _check_axis(place, realize, iv, form, known, word)


def _with_loops(ranges: dict[Var, Interval], loops: Sequence[For]) -> dict[Var, Interval]:
    known = dict(ranges)
    for f in loops:
        low, extent = getattr(f.min, "value", None), getattr(f.extent, "value", None)
        if low is not None and extent is not None and extent > 0 and f.step is None:
            known[f.loop_var] = (low, low + extent - 1)
    return known


def _guarded(place: StmtSRef) -> bool:
    """Whether a condition stands around the place, within its block."""
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is IfThenElse:
            return True
        p = p.parent
    return False


def _check_axis(
    place: StmtSRef, realize: BlockRealize, iv: Any, form: Any, known: dict[Var, Interval], word: str
) -> None:
    low = high = form.const
    for u, k in form.terms.items():
        if u not in known:
            return
        a, b = known[u]
        low += min(a * k, b * k)
        high += max(a * k, b * k)
    first, extent = getattr(iv.dom.min, "value", None), getattr(iv.dom.extent, "value", None)
    if first is None or extent is None or extent <= 0:
        return
    last = first + extent - 1
    if low == first and high == last:
        return
    if first <= low and high <= last and _only_scratch(place, realize):
        return  # what is left out of a scratch is not needed
    fields: dict[str, Any] = {
        "loop": place.node, "word": word, "block": realize, "axis": iv,
        "domain": f"{first} to {last}",
    }  # fmt: skip
    at = [(place.node, None), (iv, "bound here")]
    if low < first or high > last:
        raise Overrun(place.home, at=at, extreme=str(int(low if low < first else high)), **fields)
    missing = [_span(first, int(low) - 1)] if low > first else []
    missing += [_span(int(high) + 1, last)] if high < last else []
    raise NotCovered(place.home, at=at, missing=" and ".join(missing), **fields)


def _only_scratch(place: StmtSRef, realize: BlockRealize) -> bool:
    """Whether the block writes buffers alone that the function allocates."""
    written = touched(realize)[1]
    return bool(written) and not any(b.data in written for b in place.home.func.buffer_map.values())


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
