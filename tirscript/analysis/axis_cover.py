"""Loop ranges against the domains of block axes: instances that are missed, values outside."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.arith.linear import Linear, to_linear
from tirscript.diagnostics import AxisWarning
from tirscript.ir.expr import Add, Call, Expr, IntImm, IterVar, Range, Var
from tirscript.ir.stmt import BlockRealize
from tirscript.ir.visitor import walk

from .finding import Finding, constant, constant_range, text_of, values_text
from .region import Axis


def check_axes(s: BlockRealize, axes: tuple[Axis, ...], out: list[Finding]) -> None:
    by_var: dict[Var, Axis] | None = None
    plain: set[Var] = set()
    simple = True
    for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
        dom = iv.dom
        if dom is None:
            simple = False
            continue
        if by_var is None:
            by_var = {a.var: a for a in axes}
        if type(value) is Var:
            a = by_var.get(value)
            if a is not None and a.loop is not None and value not in plain and _same_range(a, dom):
                plain.add(value)
                continue
        simple = False
        if (low := constant(dom.extent)) is not None and low <= 0:
            continue
        found = _axis_finding(s, iv, dom, value, by_var)
        if found is not None:
            out.append(found)
            return
    if not simple and by_var is not None:
        _check_count(s, by_var, out)


def _same_range(a: Axis, dom: Range) -> bool:
    if a.loop is not None and a.loop.step is not None:
        return False
    return _same(a.min, dom.min) and _same(a.extent, dom.extent)


def _same(x: Expr, y: Expr) -> bool:
    if x is y:
        return True
    if type(x) is IntImm and type(y) is IntImm:
        return x.value == y.value
    if type(x) is IntImm or type(y) is IntImm:
        return False
    a, b = to_linear(x), to_linear(y)
    return a is not None and b is not None and a.key() == b.key()


def _axis_finding(
    s: BlockRealize, iv: IterVar, dom: Range, value: Expr, by_var: dict[Var, Axis]
) -> Finding | None:
    lin = to_linear(value)
    low, extent = constant(dom.min), constant(dom.extent)
    if lin is None:
        return None
    if low is None or extent is None:
        return _symbolic_finding(s, iv, dom, value, lin, by_var)
    if not all(isinstance(v, Var) and v in by_var for v in lin.terms):
        return None
    least = most = lin.const
    spread: list[tuple[int, int]] = []
    first: dict[Var, int] = {}
    last: dict[Var, int] = {}
    for v, k in lin.terms.items():
        assert isinstance(v, Var)
        r = constant_range(by_var[v])
        if r is None:
            return None
        start, step, count = r
        if count == 0:
            return None
        end = start + step * (count - 1)
        least += k * (start if k > 0 else end)
        most += k * (end if k > 0 else start)
        first[v], last[v] = (start, end) if k > 0 else (end, start)
        spread.append((abs(k) * step, count))
    if least < low or most >= low + extent:
        at, where = (least, first) if least < low else (most, last)
        if any(by_var[v].loop is None for v in where):
            return None  # the outer axis may not take that value
        return _leaves(s, iv, dom, at, where)
    missing = None
    if least > low:
        missing = low
    elif most < low + extent - 1:
        missing = most + 1
    else:
        reach = 0
        for weight, count in sorted(spread):
            if count > 1 and weight > reach + 1 and least + reach + 1 < low + extent:
                missing = least + reach + 1
                break
            reach += weight * (count - 1)
    return None if missing is None else _misses(s, iv, dom, missing)


def _symbolic_finding(
    s: BlockRealize, iv: IterVar, dom: Range, value: Expr, lin: Linear, by_var: dict[Var, Axis]
) -> Finding | None:
    """A plain loop whose range differs from the domain by a constant."""
    if type(value) is not Var or value not in by_var:
        return None
    a = by_var[value]
    if a.loop is None or a.loop.step is not None:
        return None
    parts = [to_linear(e) for e in (a.min, a.extent, dom.min, dom.extent)]
    if any(p is None for p in parts):
        return None
    first, extent, low, size = (p for p in parts if p is not None)
    before, after = first - low, (first + extent) - (low + size)
    if before.is_const and before.const > 0:
        return _misses(s, iv, dom, text_of(dom.min))
    if after.is_const and after.const < 0:
        return _misses(s, iv, dom, text_of((low + size).shift(-1).to_expr(value.dtype)))
    _ = lin
    return None


def _domain(dom: Range) -> str:
    if type(dom.min) is IntImm and dom.min.value == 0:
        return text_of(dom.extent)
    return f"({text_of(dom.min)}, {text_of(Add(dom.min, dom.extent))})"


def _leaves(s: BlockRealize, iv: IterVar, dom: Range, value: int, at: dict[Var, int]) -> Finding:
    name = iv.var.name
    note = f"`{name}` = {value} at {values_text(at)}" if at else f"`{name}` is always {value}"
    return Finding(
        AxisWarning,
        "axis-overrun",
        f'the loops around block "{s.block.name}" take axis `{name}` out of its domain {_domain(dom)}; '
        "those instances do not run",
        s,
        iv.span or s.block.span or s.span,
        (note,),
        "let the loops end with the domain, or guard the block with T.where if this is meant",
        at,
    )


def _misses(s: BlockRealize, iv: IterVar, dom: Range, value: int | str) -> Finding:
    name = iv.var.name
    return Finding(
        AxisWarning,
        "axis-missed",
        f'the loops around block "{s.block.name}" never run `{name}` = {value} of the domain {_domain(dom)}',
        s,
        iv.span or s.block.span or s.span,
        (),
        "let the loops cover the domain, or make the domain smaller",
    )


def _check_count(s: BlockRealize, by_var: dict[Var, Axis], out: list[Finding]) -> None:
    """Fewer iterations than instances: some are missed for certain."""
    instances = 1
    used: dict[Var, None] = {}
    for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
        extent = constant(iv.dom.extent) if iv.dom is not None else None
        if extent is None:
            return
        instances *= extent
        for n in walk(value):
            if type(n) is Var:
                if n not in by_var:
                    return
                used[n] = None
            elif type(n) is Call:
                return
    iterations = 1
    for v in used:
        r = constant_range(by_var[v])
        if r is None:
            return
        iterations *= r[2]
    if iterations < instances and iterations:
        missing = _missing_tuple(s, [by_var[v] for v in used])
        note = "" if missing is None else f": never ({', '.join(map(str, missing))})"
        axes = ", ".join([iv.var.name for iv in s.block.iter_vars])
        out.append(
            Finding(
                AxisWarning,
                "axis-missed",
                f'the loops around block "{s.block.name}" run {iterations} iterations for {instances} '
                f"instances of ({axes}){note}",
                s,
                s.block.span or s.span,
                (),
                "let the loops cover the domains of all axes, or make the domains smaller",
            )
        )


def _missing_tuple(s: BlockRealize, axes: Sequence[Axis]) -> tuple[int, ...] | None:
    """A tuple of axis values that no iteration takes, of small blocks."""
    ranges = [constant_range(a) for a in axes]
    size = 1
    for r in ranges:
        size *= r[2] if r is not None else 1
    if size > 2000:
        return None
    seen: set[tuple[int, ...]] = set()

    def run(n: int, values: dict[Var, int]) -> None:
        if n == len(axes):
            seen.add(tuple([evaluate(v, values) for v in s.iter_values]))
            return
        r = ranges[n]
        assert r is not None
        for i in range(r[2]):
            values[axes[n].var] = r[0] + i * r[1]
            run(n + 1, values)

    try:
        run(0, {})
    except CannotEvaluate:
        return None
    for t in _tuples([iv.dom for iv in s.block.iter_vars if iv.dom is not None]):
        if t not in seen:
            return t
    return None


def _tuples(domains: Sequence[Range]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*[range(_low(d), _low(d) + (constant(d.extent) or 0)) for d in domains])


def _low(d: Range) -> int:
    return constant(d.min) or 0
