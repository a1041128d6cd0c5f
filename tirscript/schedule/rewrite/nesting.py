"""The loops that a block gets in its new place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.analysis.region import Axis
from tirscript.arith.linear import ConstantRange, Linear
from tirscript.ir.expr import TRUE, Add, And, Expr, IntImm, IterVar, Var, const_int
from tirscript.ir.stmt import BlockRealize, For, Stmt
from tirscript.ir.visitor import substitute

from ..legality.binding import Binding, at_least, mentions
from ..legality.regions import Prover, Solver, Span
from ..names import free_name, names_inside
from ..refs import StmtSRef


def around(place: StmtSRef) -> tuple[Axis, ...]:
    """The loops and axes around what stands under a loop, the loop itself too, outermost first."""
    out: list[Axis] = []
    p: StmtSRef | None = place
    while p is not None:
        s: Any = p.node
        if type(s) is For:
            out.append(Axis(s.loop_var, s.min, s.extent, s))
        elif type(s) is BlockRealize:
            out += [Axis(iv.var, iv.dom.min, iv.dom.extent) for iv in s.block.iter_vars if iv.dom is not None]
        p = p.parent
    out.reverse()
    return tuple(out)


class Range1:
    """The values of one axis: from ``low``, ``extent`` of them; ``guards`` where some leave the domain."""

    __slots__ = ("above", "below", "exact", "extent", "iv", "low", "span")

    def __init__(
        self, iv: IterVar, low: Linear, extent: Linear, span: Span, below: bool, above: bool
    ) -> None:
        self.iv = iv
        self.low = low
        self.extent = extent
        self.span = span
        self.below = below  # a guard for the lower end of the domain is needed
        self.above = above
        self.exact = not (below or above)


def clip(iv: IterVar, span: Span | None, domain: Span, prover: Prover) -> Range1:
    """The part of the range that lies in the domain of the axis."""
    first, last = domain
    size = (last - first).shift(1)
    if span is None:
        return Range1(iv, first, size, domain, False, False)
    low, high = span
    if low is high and first.is_const and last.is_const:
        low_ok, high_ok = prover.proves(low.shift(-first.const)), prover.proves(last - high)
    elif not (low.terms or high.terms or first.terms or last.terms):
        low_ok, high_ok = low.const >= first.const, high.const <= last.const
        if low.const <= first.const and high.const >= last.const:
            return Range1(iv, first, size, domain, False, False)
    else:
        low_ok, high_ok = prover.proves(low - first), prover.proves(last - high)
    if low_ok and high_ok:
        return Range1(iv, low, (high - low).shift(1), span, False, False)
    extent = (high - low).shift(1)
    if extent.is_const and size.is_const and (extent.const >= size.const or extent.const <= 0):
        return Range1(iv, first, size, domain, False, False)
    # An end that certainly lies outside is the domain's.
    if not low_ok and prover.proves(first - low):
        low, low_ok = first, True
    if not high_ok and prover.proves(high - last):
        high, high_ok = last, True
    if low_ok and high_ok and low is first and high is last:
        return Range1(iv, first, size, domain, False, False)
    if not extent.is_const or not ((low is span[0]) and (high is span[1])):
        extent = (high - low).shift(1)
    return Range1(iv, low, extent, (low, high), not low_ok, not high_ok)


class Nest:
    """The new loops, the values of the axes and the predicate."""

    __slots__ = ("body", "ranges")

    def __init__(self, body: Stmt, ranges: list[Range1]) -> None:
        self.body = body
        self.ranges = ranges


def build(
    realize: BlockRealize,
    binding: Binding,
    spans: Mapping[Var, Span],
    solver: Solver,
    loop: StmtSRef,
    keep_unit: bool,
) -> Nest:
    """The block under loops over the ranges of its axes."""
    prover = solver.prover
    ranges: list[Range1] = []
    table: dict[Var, Range1] = {}
    for iv, _ in binding.own:
        domain = solver.domains[iv.var]
        if domain is None:
            raise ConstantRange
        found = clip(iv, None if iv.kind == "reduce" else spans.get(iv.var), domain, prover)
        ranges.append(found)
        table[iv.var] = found
    guarded: set[Var] = set()
    for g in binding.guards:
        guarded.update([iv.var for iv, _ in binding.own if mentions(g, {iv.var})])
    taken: set[str] | None = None
    loops: list[tuple[Var, Expr]] = []
    values: list[Expr] = []
    parts: list[Expr] = []
    chosen: dict[Var, Expr] = {}
    simplify = _Simplifier(prover)
    block = realize.block
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        r = table.get(iv.var)
        if r is None:
            values.append(value)
            chosen[iv.var] = value
            continue
        dtype = iv.var.dtype
        extent = simplify(r.extent, dtype)
        unit = type(extent) is IntImm and extent.value == 1
        if unit and not keep_unit and not (iv.kind == "reduce" and iv.var in guarded):
            form = r.low
            new = simplify(form, dtype)
        else:
            if taken is None:
                taken = _names(loop, block)
            v = Var(free_name(f"ax{len(loops)}", taken), dtype)
            loops.append((v, extent))
            if not r.low.terms and not r.low.const:
                form, new = Linear({v: 1}), v
            else:
                form = r.low + Linear({v: 1})
                new = Add(simplify(r.low, dtype), v)
        values.append(new)
        chosen[iv.var] = new
        if not r.exact:
            domain = solver.domains[iv.var]
            assert domain is not None
            if r.below:
                parts.append(at_least(form - domain[0], dtype))
            if r.above:
                parts.append(at_least(domain[1] - form, dtype))
    predicate: Expr = TRUE
    for c in (*[substitute(g, chosen) for g in binding.guards], *parts):
        predicate = c if predicate is TRUE else And(predicate, c)
    out: Stmt = BlockRealize(tuple(values), predicate, block, realize.span)
    for v, extent in reversed(loops):
        out = For(v, const_int(0, v.dtype), extent, "serial", out, span=realize.span)
    return Nest(out, ranges)


class _Simplifier:
    """Bounds as expressions: sums of variables as they are, quotients and the like simplified."""

    def __init__(self, prover: Prover) -> None:
        self.prover = prover

    def __call__(self, lin: Linear, dtype: str) -> Expr:
        if lin.is_const:
            return const_int(lin.const, dtype)
        e = lin.written(dtype)
        if all(type(a) is Var for a in lin.terms):
            return e
        return self.prover.analyzer.simplify(e)


def _names(loop: StmtSRef, block: Any) -> set[str]:
    """The names that are visible under the loop and inside the block."""
    from ..names import names_around

    taken = names_around(loop)
    taken.add(loop.node.loop_var.name)
    for iv in block.iter_vars:
        taken.add(iv.var.name)
    for b in block.alloc_buffers:
        taken.add(b.name)
    names_inside(block.body, taken)
    return taken


__all__ = ["ConstantRange", "Nest", "Range1", "around", "build", "clip"]
