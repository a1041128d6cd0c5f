"""Do the loops around a new nest reach every instance of its block, and each only once?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tirscript.arith.iter_map import detect_iter_map
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir.expr import Expr, FloorDiv, IntImm, Range, Var, const_int
from tirscript.ir.stmt import For

from ..rewrite.nesting import Range1
from .regions import Prover, Solver


class Tiling(NamedTuple):
    """``covers``: every instance of the domain runs in some iteration (None: not known); ``once``: none runs
    in two.  ``axis`` is one that is not covered."""

    covers: bool | None
    once: bool
    axis: Range1 | None = None


class _Run(NamedTuple):
    """An axis takes the values ``start .. start + total - 1`` while the loops in ``used`` run."""

    start: Linear
    total: Linear
    once: bool
    used: frozenset[Var]


def tiling(ranges: Sequence[Range1], loops: Sequence[For], solver: Solver) -> Tiling:
    """What the axes take while the loops (outermost first) run."""
    prover = solver.prover
    table = {f.loop_var: f for f in loops}
    for f in loops:
        if f.step is not None:
            return Tiling(None, False)
    runs = [_run(r, table, prover) for r in ranges]
    used = [v for run in runs if run is not None for v in run.used]
    if any(run is None for run in runs) or len(set(used)) != len(used):
        return _by_map(ranges, loops, solver, prover)
    spare = [f for f in loops if f.loop_var not in used]
    once = all(run.once for run in runs if run is not None) and all(
        type(f.extent) is IntImm and f.extent.value == 1 for f in spare
    )
    for f in spare:
        if not _runs(f, prover):
            return Tiling(None, once)
    for r, run in zip(ranges, runs, strict=True):
        assert run is not None
        domain = solver.domains[r.iv.var]
        assert domain is not None
        if not (
            prover.proves(domain[0] - run.start)
            and prover.proves((run.start + run.total - domain[1]).shift(-1))
        ):
            return Tiling(False, once, r)
    return Tiling(True, once)


def _runs(f: For, prover: Prover) -> bool:
    """Whether a loop surely has an iteration."""
    extent = to_linear(f.extent)
    return extent is not None and prover.proves(extent.shift(-1))


def _run(r: Range1, table: dict[Var, For], prover: Prover) -> _Run | None:
    low, extent = r.low, r.extent
    if not low.mentions(table) and not extent.mentions(table):
        return _Run(low, extent, True, frozenset())
    if extent.mentions(table):
        return None
    if len(low.terms) == 1 and extent.key() == 1:
        ((atom, k),) = low.terms.items()
        if not isinstance(atom, Var) and atom[0] is FloorDiv and k == 1:
            e: Expr = atom.expr
            by = to_linear(e.b)  # type: ignore[attr-defined]
            inner = to_linear(e.a)  # type: ignore[attr-defined]
            if by is None or inner is None or not by.is_const or by.const <= 0:
                return None
            run = _linear(inner, Linear({}, by.const), table, prover)
            if run is None or not run.start.is_const or not run.total.is_const:
                return None
            # The quotients of numbers that follow one another in steps of at most the divisor.
            first = run.start.const // by.const
            last = (run.start.const + run.total.const - by.const) // by.const
            total = Linear({}, last - first + 1)
            return _Run(Linear({}, first + low.const), total, False, run.used)
    return _linear(low, extent, table, prover)


def _linear(low: Linear, extent: Linear, table: dict[Var, For], prover: Prover) -> _Run | None:
    own = [(a, k) for a, k in low.terms.items() if isinstance(a, Var) and a in table]
    rest = Linear({a: k for a, k in low.terms.items() if not (isinstance(a, Var) and a in table)}, low.const)
    if rest.mentions(table):
        return None
    own.sort(key=lambda item: abs(item[1]))
    start, total, once = rest, extent, True
    used = set()
    for v, k in own:
        f = table[v]
        first, count = to_linear(f.min), to_linear(f.extent)
        if first is None or count is None or first.mentions(table) or count.mentions(table):
            return None
        used.add(v)
        size = abs(k)
        if count.is_const and count.const <= 0:
            return None
        if not (count.is_const and count.const == 1):
            gap = (total - Linear({}, size)).key()
            if gap != 0:
                if not prover.proves(total.shift(-size)) or not prover.proves(count.shift(-1)):
                    return None
                once = False
        total = total + count.shift(-1).scale(size)
        start = start + (first if k > 0 else (first + count).shift(-1)).scale(k)
    return _Run(start, total, once, frozenset(used))


def _by_map(ranges: Sequence[Range1], loops: Sequence[For], solver: Solver, prover: Prover) -> Tiling:
    """Quotients and remainders of loops: by the engine of iterator maps."""
    box = {f.loop_var: Range(f.min, f.extent) for f in loops}
    values: list[Expr] = []
    for r in ranges:
        dtype = r.iv.var.dtype
        v = Var("ax", dtype)
        box[v] = Range(const_int(0, dtype), r.extent.to_expr(dtype))
        values.append((r.low + Linear({v: 1})).to_expr(dtype))
    found = detect_iter_map(values, box)
    if found is None:
        return Tiling(None, False)
    if not found.bijective:
        return Tiling(None, True)
    for r, low, extent in zip(ranges, found.mins, found.extents, strict=True):
        domain = solver.domains[r.iv.var]
        assert domain is not None
        if low is None or extent is None:
            return Tiling(None, True)
        if not (prover.proves(domain[0] - low) and prover.proves((low + extent - domain[1]).shift(-1))):
            return Tiling(False, True, r)
    return Tiling(True, True)
