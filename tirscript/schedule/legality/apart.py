"""What keeps the instances of a block apart: axes and loops along which no cell that is written is shared."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from tirscript.arith.linear import to_linear
from tirscript.ir.expr import Expr, IntImm, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block, BlockRealize, For
from tirscript.ir.visitor import free_vars

from .cells import Digit, Form, complete, index_of, own_cells, same_form


def axes_apart(block: Block) -> frozenset[Var]:
    """The axes along which instances never share a cell that is written: for every written buffer, all
    accesses have one dimension that is a multiple of the axis; memoised on the block."""
    memo = memo_of(block)
    found: frozenset[Var] | None = memo.get("apart")
    if found is None:
        found = memo["apart"] = _axes_apart(block)
    return found


def _axes_apart(block: Block) -> frozenset[Var]:
    cells = own_cells(block)
    axes = {iv.var for iv in block.iter_vars}
    out = set(axes)
    for w in cells:
        if not w.write:
            continue
        same = [c for c in cells if c.buffer.data is w.buffer.data]
        if any(c.buffer is not w.buffer or c.indices is None for c in same):
            return frozenset()
        here: set[Var] = set()
        for dims in zip(*[c.indices for c in same if c.indices is not None], strict=True):
            first = dims[0]
            if type(first) is not Form or len(first.terms) != 1 or first.slack != (0, 0):
                continue
            if all(type(d) is Form and d[:2] == first[:2] and d.slack == (0, 0) for d in dims):
                here |= first.terms.keys() & axes
        out &= here
    return frozenset(out)


def loops_apart(realize: BlockRealize, loops: Sequence[For]) -> set[Var]:
    """Those of the loops around a block that have one value for all instances that share a cell that is
    written; the loops in ``loops`` vary, all others are fixed."""
    apart = axes_apart(realize.block)
    out: set[Var] = set()
    digits: list[Digit] = []
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        t = type(value)
        if type(value) is Var:
            if iv.var in apart:
                out.add(value)
        elif t is not IntImm and iv.var in apart:
            index = index_of(value)
            if type(index) is Form:
                out |= _determined(index, loops)
            elif type(index) is Digit:
                digits.append(index)
            else:
                out |= _parts(value, loops, digits)
    while digits:
        # Digits of one number that leave nothing out tell its values apart.
        base = digits[0].base
        group = [d for d in digits if same_form(d.base, base)]
        digits = [d for d in digits if not same_form(d.base, base)]
        if complete(group, _values(base, loops)):
            out |= _determined(base, loops)
    return out


def _parts(value: Expr, loops: Sequence[For], digits: list[Digit]) -> set[Var]:
    """The variables that follow from a sum of loops and digits; digits that do are added to ``digits``."""
    lin = to_linear(value)
    if lin is None:
        return set()
    sizes = {f.loop_var: f.extent for f in loops}
    parts: list[tuple[int, Any, Var | Digit]] = []
    for atom, k in lin.terms.items():
        if isinstance(atom, Var):
            if atom in sizes:
                extent = sizes[atom]
                parts.append((abs(k), extent.value - 1 if type(extent) is IntImm else inf, atom))
            continue
        if sizes.keys().isdisjoint(free_vars(atom.expr)):
            continue
        digit = index_of(atom.expr)
        if type(digit) is not Digit or type(digit.low) is not int:
            return set()
        top = _values(digit.base, loops) if digit.high is inf else digit.high
        last = (top - 1) // digit.low if type(top) is int else inf
        parts.append((abs(k), last, digit))
    found = _told([(k, last) for k, last, _ in parts])
    if not found:
        return set()
    digits += [x for _, _, x in parts if type(x) is Digit]
    return {x for _, _, x in parts if type(x) is Var}


def _told(parts: list[tuple[int, Any]]) -> bool:
    """Whether a sum tells its parts: each weight exceeds what those with a smaller one can make up for.  The
    parts are weights, each with the largest value of what it weighs."""
    reach = 0.0
    for k, last in sorted(parts, key=lambda part: part[0]):
        if k <= reach:
            return False
        reach += k * last
    return True


def _values(form: Form, loops: Sequence[For]) -> Any:
    """Below what number the form's values are, from 0 on; inf where that is not known."""
    ends = {f.loop_var: (f.min, f.extent) for f in loops}
    total: Any = form.const + 1
    for v, k in form.terms.items():
        low, extent = ends.get(v, (None, None))
        if type(low) is not IntImm or type(extent) is not IntImm or k < 0 or low.value < 0:
            return inf
        total += k * (low.value + max(extent.value, 1) - 1)
    return total if form.const >= 0 else inf


def _determined(form: Form, loops: Sequence[For]) -> set[Var]:
    """The variables whose values follow from the form's, the loops in ``loops`` varying and all others fixed:
    each coefficient exceeds what the smaller ones can make up for."""
    sizes: dict[Var, float] = {}
    for f in loops:
        v = f.loop_var
        if v in form.terms:
            sizes[v] = inf
            if type(f.extent) is IntImm and type(f.min) is IntImm:
                sizes[v] = f.extent.value - 1
    return set(sizes) if _told([(abs(form.terms[v]), last) for v, last in sizes.items()]) else set()


__all__ = ["axes_apart", "loops_apart"]
