"""Witnesses: two instances that touch one cell, found by running the indices of a small part.

Only indices, conditions and loop bounds are evaluated, with few values of each loop.  What is found is
certain (up to conditions on data); finding nothing proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tirscript.analysis.access import Access, accesses_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Cast,
    Div,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Select,
    Sub,
    Var,
)
from tirscript.ir.stmt import BlockRealize, For

from .refs import StmtSRef

_BUDGET = 6000
_SYMBOL = 5  # what an unknown extent is taken to be

_OPERATORS: dict[type, Callable[[int, int], int]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    FloorDiv: lambda a, b: a // b if b else 0,
    FloorMod: lambda a, b: a % b if b else 0,
    Div: lambda a, b: int(a / b) if b else 0,
    Mod: lambda a, b: a - b * int(a / b) if b else 0,
    Min: min,
    Max: max,
    EQ: lambda a, b: int(a == b),
    NE: lambda a, b: int(a != b),
    LT: lambda a, b: int(a < b),
    LE: lambda a, b: int(a <= b),
    GT: lambda a, b: int(a > b),
    GE: lambda a, b: int(a >= b),
    And: lambda a, b: a and b,
    Or: lambda a, b: a or b,
}


class Event:
    """One access of one instance: the loop values, the buffer, the cell, and the access itself."""

    __slots__ = ("access", "cell", "env")

    def __init__(self, access: Access, cell: tuple[int, ...], env: dict[Var, int]) -> None:
        self.access = access
        self.cell = cell
        self.env = env


def evaluate(e: Any, env: dict[Var, int]) -> int | None:
    """The value of an integer expression; None where it holds data or an unknown variable."""
    t = type(e)
    if t is Var:
        return env.get(e)
    if t is IntImm:
        return e.value  # type: ignore[no-any-return]
    f = _OPERATORS.get(t)
    if f is not None:
        a, b = evaluate(e.a, env), evaluate(e.b, env)
        return None if a is None or b is None else f(a, b)
    if t is Not:
        a = evaluate(e.a, env)
        return None if a is None else int(not a)
    if t is Cast:
        return evaluate(e.value, env)
    if t is Select:
        c = evaluate(e.condition, env)
        return None if c is None else evaluate(e.true_value if c else e.false_value, env)
    return None


def find_conflict(
    place: StmtSRef,
    loops: Sequence[For],
    conflict: Callable[[Event, Event], bool],
    apart: tuple[float, float] | None,
) -> tuple[Event, Event] | None:
    """Two events below the loop at ``place`` on one cell, one a write, for which ``conflict`` holds.

    ``apart`` hints how far the iterations of the first loop may be from each other.
    """
    env = _surroundings(place)
    seen: dict[tuple[Buffer, tuple[int, ...]], list[Event]] = {}
    wanted = loops[0].loop_var
    extra: set[int] = set()
    if apart is not None:
        for d in apart:
            if 0 < abs(d) < 10**9:
                extra.add(int(abs(d)))
        inner = [d for d in apart if abs(d) != float("inf")]
        if len(inner) == 2:
            extra |= {d for d in range(int(min(inner)), int(min(inner)) + 64) if d > 0 and d <= max(inner)}
    # Every access with its own loops; accesses whose buffer is written are the only ones that count.
    found = accesses_of(place.node)
    written = {a.buffer for a in found if a.is_write}
    count = 0
    for a in found:
        if a.buffer not in written or a.indices is None:
            continue
        for here in _instances(a, env, wanted, extra):
            count += 1
            if count > _BUDGET:
                return None
            cell = tuple([evaluate(i, here) for i in a.indices])
            if None in cell:
                break
            event = Event(a, cell, here)  # type: ignore[arg-type]
            others = seen.setdefault((a.buffer, cell), [])  # type: ignore[arg-type]
            for other in others:
                if (a.is_write or other.access.is_write) and conflict(other, event):
                    return other, event
            if len(others) < 12:
                others.append(event)
    return None


def _instances(a: Access, env: dict[Var, int], wanted: Var, extra: set[int]) -> Iterator[dict[Var, int]]:
    deep = len(a.axes)
    most = 64 if deep <= 1 else 12 if deep == 2 else 5 if deep <= 4 else 2

    def below(n: int, here: dict[Var, int]) -> Iterator[dict[Var, int]]:
        if n == deep:
            for c in a.conditions:
                holds = evaluate(c, here)
                if holds is not None and not holds:
                    return
            yield dict(here)
            return
        axis = a.axes[n]
        low, extent = evaluate(axis.min, here), evaluate(axis.extent, here)
        low = 0 if low is None else low
        extent = _SYMBOL if extent is None else extent
        values = set(range(min(extent, most)))
        if axis.var is wanted:
            values |= {x for x in extra if x < extent}
        step = getattr(axis.loop, "step", None)
        by = evaluate(step, here) if step is not None else 1
        for x in sorted(values):
            here[axis.var] = low + x * (by or 1)
            if x * (by or 1) < extent:
                yield from below(n + 1, here)
        here.pop(axis.var, None)

    yield from below(0, dict(env))


def _surroundings(place: StmtSRef) -> dict[Var, int]:
    """A value for every loop and axis around, and for what sizes are made of."""
    env: dict[Var, int] = {}
    for p in place.home.func.params:
        if p.dtype != "handle":
            env[p] = _SYMBOL
    for b in place.home.func.buffer_map.values():
        for e in (*b.shape, *b.strides):
            if type(e) is Var:
                env[e] = _SYMBOL
    chain = []
    p_: StmtSRef | None = place.parent
    while p_ is not None:
        chain.append(p_.node)
        p_ = p_.parent
    for s in reversed(chain):
        if type(s) is For:
            env[s.loop_var] = evaluate(s.min, env) or 0
        elif type(s) is BlockRealize:
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                known = evaluate(value, env)
                env[iv.var] = known if known is not None else evaluate(iv.dom.min, env) or 0
    return env


def describe_conflict(found: tuple[Event, Event], loops: Sequence[For]) -> str:
    """``k=0 and k=1 both write C[0, 0]``"""
    x, y = found
    at = [_values(e, loops) for e in found]
    cell = f"{x.access.buffer.name}[{', '.join([str(c) for c in x.cell])}]"
    if not x.cell:
        cell = f"{x.access.buffer.name}[()]"
    if x.access.is_write and y.access.is_write:
        return f"{at[0]} and {at[1]} both write {cell}"
    first, second = ("writes", "reads") if x.access.is_write else ("reads", "writes")
    return f"{at[0]} {first} {cell}, {at[1]} {second} it"


def _values(e: Event, loops: Sequence[For]) -> str:
    parts = [f"{f.loop_var.name}={e.env[f.loop_var]}" for f in loops if f.loop_var in e.env]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


__all__ = ["Event", "describe_conflict", "evaluate", "find_conflict"]
