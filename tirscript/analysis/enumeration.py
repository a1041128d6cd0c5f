"""Pairs of instances that touch one cell, found by running through a small box of iterations.

The loops of both accesses are written out as a Python function, so that a box of some thousand points
costs a few milliseconds.  Whatever the arithmetic, the answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tirscript.arith.evaluate import NAMESPACE, CannotEvaluate, python_source
from tirscript.arith.exact import is_exact
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import Expr, Ramp, Var
from tirscript.ir.visitor import walk

from .region import Axis
from .solve import System

if TYPE_CHECKING:
    from .question import Copy, Interval

# Points of both loop nests, and pairs that are compared.
POINTS = 4096

Values = dict[Var, int]


class TooLarge(Exception):
    """The box has more points than are looked at, or it is not known how many."""


class Pairs:
    """All pairs of instances that touch one cell, by the variables that are looked at."""

    def __init__(
        self,
        a: Copy,
        b: Copy,
        ranges: Mapping[Var, Interval],
        intervals: Mapping[Any, Interval],
        extra: Sequence[Expr],
    ) -> None:
        self.a, self.b, self.ranges, self.extra = a, b, ranges, extra
        self.intervals = intervals
        self.needed = self._needed()
        self.few = self._few()
        self.found: dict[frozenset[Var], tuple[list[Var], list[tuple[int, ...]]] | None] = {}

    def first(self, order: Callable[[System, Copy, Copy], None]) -> Values | None:
        """Values for which the instances touch one cell in the order; None where there are none.

        Raises TooLarge, and CannotEvaluate where data decides.
        """
        asked = System()
        order(asked, self.a, self.b)
        moving = {v for terms, _ in (*asked.equalities, *asked.rows) for v in terms}
        variables, pairs = self._pairs(moving)
        names = {v: f"v{n}" for n, v in enumerate(variables)}
        tests = [f"{_sum(t, c, names)} == 0" for t, c in asked.equalities]
        tests += [f"{_sum(t, c, names)} >= 0" for t, c in asked.rows]
        test = " and ".join(tests) or "True"
        unpack = ", ".join(names.values())
        source = f"lambda pairs: next((p for p in pairs for [{unpack}] in (p,) if {test}), None)"
        found = _compiled(source)(pairs)
        return None if found is None else dict(zip(variables, found, strict=True))

    def _few(self) -> bool:
        """Whether the box may be small enough: by what decides alone, without what an order asks for."""
        try:
            return self._points(self.a, self.needed) + self._points(self.b, self.needed) <= POINTS
        except TooLarge:
            return False

    def _needed(self) -> set[Var]:
        """The variables that decide which cell is touched, and whether."""
        out: set[Var] = set()
        for copy in (self.a, self.b):
            exprs: list[Any] = [c for c in copy.conditions if is_exact(c)]
            for start, size in copy.ranges or ():
                exprs += (start,) if size is None else (start, size)
            for axis in copy.axes:
                exprs += (axis.min, axis.extent)
                if axis.loop is not None and axis.loop.step is not None:
                    out.add(axis.var)
            for e in exprs:
                out |= _variables(e)
        return out

    def _pairs(self, moving: Collection[Any]) -> tuple[list[Var], list[tuple[int, ...]]]:
        key = frozenset(moving) - self.needed
        if key not in self.found:
            self.found[key] = None
            self.found[key] = self._run(self.needed | key)
        found = self.found[key]
        if found is None:
            raise TooLarge
        return found

    def _run(self, needed: set[Var]) -> tuple[list[Var], list[tuple[int, ...]]]:
        own = {axis.var for copy in (self.a, self.b) for axis in copy.axes}
        outer = [v for v in needed if v not in own]
        around = self._around(outer, own)
        around_count = 1
        names: dict[Var, str] = {}
        lines = ["def run(limit):", " out = []; left = limit"]
        depth = 1
        for v in outer:
            low, high = self.ranges.get(v) or dtype_bounds(v.dtype)
            if low is None or high is None:
                raise TooLarge
            around_count *= max(high - low + 1, 0)
            names[v] = f"o{len(names)}"
            lines.append(f"{' ' * depth}for {names[v]} in range({low}, {high + 1}):")
            depth += 1
        size = [around_count * self._points(copy, needed) for copy in (self.a, self.b)]
        if sum(size) > POINTS:
            raise TooLarge
        for c in around:
            lines.append(f"{' ' * depth}if {python_source(c, names)}:")
            depth += 1
        lines.append(f"{' ' * depth}table = {{}}")
        outer_names = list(names.values())
        order = list(names)
        start = depth
        kept: list[list[str]] = []
        for which, copy in enumerate((self.a, self.b)):
            inner = dict(names)
            mine: list[str] = []
            depth = start
            for axis in copy.axes:
                name = inner[axis.var] = f"{'ab'[which]}{len(mine)}"
                mine.append(name)
                order.append(axis.var)
                lines.append(f"{' ' * depth}for {name} in {_range(axis, inner, axis.var in needed)}:")
                depth += 1
            for c in copy.conditions:
                if is_exact(c):
                    lines.append(f"{' ' * depth}if {python_source(c, inner)}:")
                    depth += 1
            for dim, (at, _) in enumerate(copy.ranges or ()):
                if type(at) is Ramp:
                    lines.append(f"{' ' * depth}for r{dim} in range({at.lanes}):")
                    depth += 1
            kept.append(mine)
            points, ends = self._cell(copy, inner)
            pad = " " * depth
            lines.append(f"{pad}left -= 1")
            lines.append(f"{pad}if left < 0: return None")
            if which == 0:
                value = "".join(f"{x}, " for x in [*mine, *[e for pair in ends for e in pair]])
                lines.append(f"{pad}table.setdefault(({points}), []).append(({value}))")
            else:
                ends_a = "".join([f", l{n}, h{n}" for n in range(len(ends))])
                lines.append(f"{pad}same = table.get(({points}), ())")
                lines.append(f"{pad}left -= len(same)")
                lines.append(f"{pad}if left < 0: return None")
                unpack = f"[{', '.join(kept[0])}{ends_a}]".replace("[, ", "[")
                meet = " and ".join([f"l{n} <= {hi} and {lo} <= h{n}" for n, (lo, hi) in enumerate(ends)])
                row = "".join(f"{x}, " for x in [*outer_names, *kept[0], *mine])
                lines.append(f"{pad}out += [({row}) for {unpack} in same if {meet or 'True'}]")
        lines.append(" return out")
        run = _compiled("\n".join(lines), "run")
        try:
            found = run(4 * POINTS)
        except ZeroDivisionError:
            raise CannotEvaluate from None
        if found is None:
            raise TooLarge
        return order, found

    def _around(self, outer: list[Var], own: set[Var]) -> list[Expr]:
        """The conditions around that say something of the variables; what else they mention is added."""
        left = [(c, _variables(c)) for c in self.extra if is_exact(c)]
        out = []
        while met := next((x for x in left if x[1].intersection(outer)), None):
            left.remove(met)
            if met[1] & own:
                raise TooLarge
            out.append(met[0])
            outer += [v for v in met[1] if v not in outer]
        return out

    def _points(self, copy: Copy, needed: set[Var]) -> int:
        count = 1
        for axis in copy.axes:
            if axis.var in needed:
                low, high = self.intervals.get(axis.var, (None, None))
                if low is None or high is None:
                    raise TooLarge
                count *= max(high - low + 1, 0)
        for start, _ in copy.ranges or ():
            if type(start) is Ramp:
                count *= start.lanes
        return count

    def _cell(self, copy: Copy, names: Mapping[Var, str]) -> tuple[str, list[tuple[str, str]]]:
        """The indices of a cell, and the ends of the dimensions in which either access is an interval."""
        points, ends = "", []
        assert self.a.ranges is not None and self.b.ranges is not None and copy.ranges is not None
        for n, ((_, size_a), (_, size_b), (start, size)) in enumerate(
            zip(self.a.ranges, self.b.ranges, copy.ranges, strict=True)
        ):
            if type(start) is Ramp:
                low = f"({python_source(start.base, names)} + {python_source(start.stride, names)} * r{n})"
            else:
                low = python_source(start, names)
            if size_a is None and size_b is None:
                points += low + ", "
            else:
                ends.append((low, low if size is None else f"({low} + {python_source(size, names)} - 1)"))
        return points, ends


def _variables(e: Expr) -> set[Var]:
    found: Any = [n for n in walk(e) if type(n) is Var]
    return set(found)


def _range(axis: Axis, names: Mapping[Var, str], needed: bool) -> str:
    low, extent = python_source(axis.min, names), python_source(axis.extent, names)
    step = axis.loop.step if axis.loop is not None else None
    end = f"{low} + {extent}" if needed else f"{low} + min({extent}, 1)"
    return f"range({low}, {end})" if step is None else f"range({low}, {end}, {python_source(step, names)})"


def _sum(terms: Mapping[Any, int], const: int, names: Mapping[Var, str]) -> str:
    return " + ".join([*[f"{k} * {names[v]}" for v, k in terms.items()], str(const)])


def _compiled(source: str, name: str = "") -> Any:
    """What the text defines; CannotEvaluate where it is too deep for Python."""
    space = dict(NAMESPACE)
    try:
        if not name:
            return eval(source, space)
        exec(source, space)
    except (SyntaxError, RecursionError, MemoryError):
        raise CannotEvaluate from None
    return space[name]
