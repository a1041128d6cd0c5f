"""Accesses of blocks that are certainly outside of the regions which the blocks declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tirscript.arith.linear import AtomKey, linear_range, to_linear
from tirscript.diagnostics import BoundsWarning, deep_recursion
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import GE, LT, Add, Expr, IntImm, Ramp, Range, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockRealize

from .access import Access, accesses_of, uses_declared
from .finding import Finding, constant_range, text_of, values_text
from .inferred import is_update, updated_cells
from .question import feasible
from .region import Axis

_Ranges = dict[AtomKey, tuple[int, int]]


def undeclared(func: PrimFunc) -> list[Finding]:
    """For each block that reads or writes outside of what it declares, the first access that does.

    Reported is what is certain, with values of the axes for which it happens.  Where the declared regions
    count instead of the accesses (pointers that go to calls, regions that a schedule was told), nothing is;
    nor where a block reads the cells that it updates, which those of reductions do not list.
    """
    with deep_recursion():
        blocks = [n.block for n in walk(func.body) if type(n) is BlockRealize]
        found = [undeclared_access(b) for b in blocks]
    return [f for f in found if f is not None]


def undeclared_access(block: Block) -> Finding | None:
    """The first access outside of the regions of the block."""
    # A block that declares nothing at all says nothing: roots, and blocks that were made by hand.
    if not (block.reads or block.writes) or uses_declared(block):
        return None
    own: set[Buffer] = set(block.alloc_buffers)
    axes = tuple([Axis(iv.var, iv.dom.min, iv.dom.extent) for iv in block.iter_vars if iv.dom is not None])
    accesses = accesses_of(block)
    written = updated_cells(accesses)
    for a in accesses:
        if a.buffer in own or a.guarded or a.indices is None:
            continue
        regions = [r for r in (block.writes if a.is_write else block.reads) if r.buffer is a.buffer]
        if not regions and any(
            r.buffer.data is a.buffer.data for r in (block.writes if a.is_write else block.reads)
        ):
            continue  # a view of what is declared
        if _surely_inside(a.indices, regions, (*axes, *a.axes)) or (not a.is_write and is_update(a, written)):
            continue
        values = _outside(a, regions, axes)
        if values is not None:
            return _finding(block, a, values)
    return None


def _surely_inside(indices: Sequence[Expr], regions: Iterable[BufferRegion], axes: Sequence[Axis]) -> bool:
    """The quick answer: the index is where the region begins, or near enough for all values of the axes."""
    ranges: _Ranges | None = None
    for r in regions:
        for i, part in zip(indices, r.region, strict=True):
            if _is(i, part.min):
                continue
            if ranges is None:
                ranges = _ranges(axes)
            if not _reaches(i, part, ranges):
                break
        else:
            return True
    return False


def _is(a: Expr, b: Expr) -> bool:
    return a is b or (type(a) is IntImm and type(b) is IntImm and a.value == b.value)


def _ranges(axes: Iterable[Axis]) -> _Ranges:
    out: _Ranges = {}
    for a in axes:
        r = constant_range(a)
        if r is not None:
            low, step, count = r
            out[a.var] = (low, low + step * (max(count, 1) - 1))
    return out


def _reaches(i: Expr, part: Range, ranges: _Ranges) -> bool:
    index, low, extent = to_linear(i), to_linear(part.min), to_linear(part.extent)
    if index is None or low is None or extent is None or not extent.is_const:
        return False
    least, most = linear_range(index - low, lambda atom: ranges.get(atom, (None, None)))
    return least is not None and most is not None and least >= 0 and most < extent.const


def _outside(a: Access, regions: Sequence[BufferRegion], axes: tuple[Axis, ...]) -> dict[Var, int] | None:
    """Values for which the access is in none of the regions; None where that is not certain."""
    assert a.indices is not None
    if getattr(a.node, "predicate", None) is not None or any(type(i) is Ramp for i in a.indices):
        return None
    if len(regions) > 1:
        return None
    within = (*axes, *a.axes)
    if not regions:
        return _values(within, a.conditions)
    for i, r in zip(a.indices, regions[0].region, strict=True):
        # Hulls with minima and maxima are inferred ones, and a long question.
        if _is(i, r.min) or not all(_is_plain(e) for e in (i, r.min, r.extent)):
            continue
        for side in (LT(i, r.min), GE(i, Add(r.min, r.extent))):
            values = _values(within, (*a.conditions, side))
            if values is not None:
                return values
    return None


def _values(axes: Sequence[Axis], conditions: Sequence[Expr]) -> dict[Var, int] | None:
    found = feasible(axes, conditions)
    return None if found is None else {x.var: found[x.var] for x in axes}


def _is_plain(e: Expr) -> bool:
    lin = to_linear(e)
    return lin is not None and lin.vars_only()


def _finding(block: Block, a: Access, values: dict[Var, int]) -> Finding:
    verb, kind = ("writes", "T.writes") if a.is_write else ("reads", "T.reads")
    shown = ", ".join([text_of(i) for i in getattr(a.node, "indices", a.indices or ())])
    return Finding(
        BoundsWarning,
        "undeclared-access",
        f'block "{block.name}" {verb} {a.buffer.name}[{shown}], which its {kind} leaves out',
        a.node,
        getattr(a.node, "span", None) or a.stmt.span or block.span,
        (f"at {values_text(values)}",) if values else (),
        f"leave {kind} out (what a block touches is then inferred), or list the whole region",
        values,
    )
