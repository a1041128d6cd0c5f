"""Small systems of linear constraints over integers: a solution, none, or out of budget.

Equalities are eliminated by unimodular steps (Euclid on the coefficients), inequalities by
Fourier-Motzkin with integer tightening; where that is not exact, a bounded search decides.
"""

from __future__ import annotations

from math import gcd
from typing import Any

Terms = dict[Any, int]

# Steps (combinations of two constraints, rounds of the search) before the answer is "not known": about 5 ms.
BUDGET = 500
# What is spent before a small box of iterations is looked through instead.
SMALL_BUDGET = 200


class OutOfBudget(Exception):
    """The system is too large for the budget."""


class Row:
    """``sum(terms) + const >= 0``"""

    __slots__ = ("const", "terms")

    def __init__(self, terms: Terms, const: int) -> None:
        self.terms = terms
        self.const = const


class Infeasible(Exception):
    """There is no solution."""


def tightened(terms: Terms, const: int) -> Row | None:
    """The row with coprime coefficients and the constant rounded; None where it holds always."""
    terms = {v: k for v, k in terms.items() if k}
    if not terms:
        if const < 0:
            raise Infeasible
        return None
    g = gcd(*terms.values())
    if g > 1:
        return Row({v: k // g for v, k in terms.items()}, const // g)
    return Row(terms, const)


def _substitute(terms: Terms, const: int, var: Any, value: Terms, offset: int) -> tuple[Terms, int]:
    k = terms.get(var, 0)
    if not k:
        return terms, const
    out = dict(terms)
    del out[var]
    for v, c in value.items():
        new = out.get(v, 0) + k * c
        if new:
            out[v] = new
        else:
            out.pop(v, None)
    return out, const + k * offset


class System:
    """Equalities and inequalities over any hashable variables.

    >>> s = System()
    >>> s.equal({"x": 1, "y": -1}, 0); s.at_least({"x": 1}, -3); s.at_least({"y": -1}, 2)
    >>> s.solve() is None
    True
    """

    def __init__(self) -> None:
        self.equalities: list[tuple[Terms, int]] = []
        self.rows: list[tuple[Terms, int]] = []
        self.steps = 0

    def copy(self) -> System:
        new = System()
        new.equalities, new.rows = list(self.equalities), list(self.rows)
        return new

    def equal(self, terms: Terms, const: int) -> None:
        """Add ``sum(terms) + const == 0``."""
        self.equalities.append((terms, const))

    def at_least(self, terms: Terms, const: int) -> None:
        """Add ``sum(terms) + const >= 0``."""
        self.rows.append((terms, const))

    def solve(self, budget: int = BUDGET) -> dict[Any, int] | None:
        """Values of all variables, small ones first; None where there are none.

        Raises OutOfBudget.
        """
        self.steps = budget
        try:
            return self._solve()
        except Infeasible:
            return None

    def _solve(self) -> dict[Any, int]:
        defined: list[tuple[Any, Terms, int]] = []
        pending = list(self.equalities)
        rows = list(self.rows)
        fresh = 0
        while pending:
            terms, const = pending.pop()
            terms = {v: k for v, k in terms.items() if k}
            if not terms:
                if const:
                    raise Infeasible
                continue
            g = gcd(*terms.values())
            if const % g:
                raise Infeasible
            if g > 1:
                terms, const = {v: k // g for v, k in terms.items()}, const // g
            var = min(terms, key=lambda v: abs(terms[v]))
            k = terms[var]
            if abs(k) == 1:
                value = {v: -c * k for v, c in terms.items() if v != var}
                offset = -const * k
            else:
                # var = t - sum(q * x), so that the other coefficients become smaller than k.
                fresh += 1
                t = ("t", fresh)
                value = {v: -(c // k) for v, c in terms.items() if v != var and c // k}
                value[t] = 1
                offset = 0
                pending.append((terms, const))
            defined.append((var, value, offset))
            pending = [_substitute(p, c, var, value, offset) for p, c in pending]
            rows = [_substitute(p, c, var, value, offset) for p, c in rows]
            self._spend(1 + len(rows) // 8)
        values = self._eliminate([r for p, c in rows if (r := tightened(p, c)) is not None])
        for var, value, offset in reversed(defined):
            for v in value:
                values.setdefault(v, 0)
            values[var] = offset + sum([values[v] * c for v, c in value.items()])
        return values

    def _spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget

    # ---- inequalities

    def _eliminate(self, given: list[Row]) -> dict[Any, int]:
        rows = _Rows()
        for r in given:
            rows.add(r.terms, r.const)
        removed: list[tuple[Any, list[Row], list[Row]]] = []
        start = list(rows.best.values())
        while rows.best:
            var = rows.cheapest()
            lower: list[Row] = []
            upper: list[Row] = []
            rest: dict[Any, Row] = {}
            for key, r in rows.best.items():
                k = r.terms.get(var)
                if k is None:
                    rest[key] = r
                else:
                    (lower if k > 0 else upper).append(r)
            self._spend(len(lower) * len(upper) + 1)
            rows.best = rest
            for a in lower:
                x = a.terms[var]
                for b in upper:
                    y = -b.terms[var]
                    terms = dict(a.terms) if y == 1 else {v: k * y for v, k in a.terms.items()}
                    for v, k in b.terms.items():
                        new = terms.get(v, 0) + k * x
                        if new:
                            terms[v] = new
                        else:
                            del terms[v]
                    rows.add(terms, a.const * y + b.const * x)
            removed.append((var, lower, upper))
        values: dict[Any, int] = {}
        for var, lower, upper in reversed(removed):
            low = high = None
            for r in lower:
                bound = -(_rest(r, var, values) // r.terms[var])
                low = bound if low is None else max(low, bound)
            for r in upper:
                bound = _rest(r, var, values) // -r.terms[var]
                high = bound if high is None else min(high, bound)
            if low is not None and high is not None and low > high:
                return self._search(start)
            values[var] = _smallest(low, high)
        return values

    def _search(self, rows: list[Row]) -> dict[Any, int]:
        """Depth-first over the bounds, narrowed by each row."""
        bounds: dict[Any, list[int | None]] = {}
        for r in rows:
            for v in r.terms:
                bounds.setdefault(v, [None, None])
        found = self._descend(rows, bounds)
        if found is None:
            raise Infeasible
        return found

    def _descend(self, rows: list[Row], bounds: dict[Any, list[int | None]]) -> dict[Any, int] | None:
        if not self._narrow(rows, bounds):
            return None
        var, size = None, None
        for v, (low, high) in bounds.items():
            if low is None or high is None:
                if var is None:
                    var, size = v, None
            elif low != high and (size is None or high - low < size):
                var, size = v, high - low
        if var is None:
            return {v: low for v, (low, _) in bounds.items() if low is not None}
        low, high = bounds[var]
        if size is None:
            raise OutOfBudget
        assert low is not None and high is not None
        middle = low if size < 8 else (low + high) // 2
        for part in ((low, middle), (middle + 1, high)):
            if part[0] > part[1]:
                continue
            inner: dict[Any, list[int | None]] = {v: list(b) for v, b in bounds.items()}
            inner[var] = [*part]
            found = self._descend(rows, inner)
            if found is not None:
                return found
        return None

    def _narrow(self, rows: list[Row], bounds: dict[Any, list[int | None]]) -> bool:
        for _ in range(64):
            changed = False
            self._spend(max(1, len(rows) // 4))
            for r in rows:
                # The largest value of the row, and which variables have no limit in that direction.
                total: int = r.const
                open_vars = 0
                for v, k in r.terms.items():
                    end = bounds[v][k > 0]
                    if end is None:
                        open_vars += 1
                    else:
                        total += k * end
                if open_vars == 0 and total < 0:
                    return False
                if open_vars > 1:
                    continue
                for v, k in r.terms.items():
                    end = bounds[v][k > 0]
                    if open_vars and end is not None:
                        continue
                    rest = total - (k * end if end is not None else 0)
                    # k * v + rest >= 0
                    if k > 0:
                        least = -(rest // k)
                        have = bounds[v][0]
                        if have is None or least > have:
                            bounds[v][0], changed = least, True
                    else:
                        most = rest // -k
                        have = bounds[v][1]
                        if have is None or most < have:
                            bounds[v][1], changed = most, True
                    low, high = bounds[v]
                    if low is not None and high is not None and low > high:
                        return False
            if not changed:
                break
        return True


def _rest(r: Row, var: Any, values: dict[Any, int]) -> int:
    return r.const + sum([k * values.setdefault(v, 0) for v, k in r.terms.items() if v != var])


def _smallest(low: int | None, high: int | None) -> int:
    """The value in the interval that is nearest to 0."""
    if low is not None and low > 0:
        return low
    if high is not None and high < 0:
        return high
    return 0


class _Rows:
    """The inequalities, one for each set of terms, the strongest; what the bounds of single variables imply
    is left out."""

    __slots__ = ("best", "bounds")

    def __init__(self) -> None:
        self.best: dict[Any, Row] = {}
        self.bounds: dict[Any, list[int | None]] = {}

    def add(self, terms: Terms, const: int) -> None:
        """``terms`` without zeros, no longer used by the caller.  Raises Infeasible."""
        if not terms:
            if const < 0:
                raise Infeasible
            return
        bounds = self.bounds
        if len(terms) == 1:
            ((var, k),) = terms.items()
            if k > 0:
                k, const = 1, const // k
            else:
                k, const = -1, const // -k
            terms = {var: k}
            ends = bounds.setdefault(var, [None, None])
            have = ends[k < 0]
            if have is not None and (have >= -const if k > 0 else have <= const):
                return
            ends[k < 0] = -const if k > 0 else const
            low, high = ends
            if low is not None and high is not None and low > high:
                raise Infeasible
            self.best[(var, k)] = Row(terms, const)
            return
        g = gcd(*terms.values())
        if g > 1:
            terms, const = {v: k // g for v, k in terms.items()}, const // g
        least: int | None = const
        most: int | None = const
        for v, k in terms.items():
            found = bounds.get(v)
            if found is None:
                least = most = None
                break
            low, high = found if k > 0 else (found[1], found[0])
            least = None if least is None or low is None else least + k * low
            most = None if most is None or high is None else most + k * high
        if least is not None and least >= 0:
            return
        if most is not None and most < 0:
            raise Infeasible
        key = frozenset(terms.items())
        have_row = self.best.get(key)
        if have_row is not None and have_row.const <= const:
            return
        opposite = self.best.get(frozenset([(v, -k) for v, k in key]))
        if opposite is not None and opposite.const + const < 0:
            raise Infeasible
        self.best[key] = Row(terms, const)

    def cheapest(self) -> Any:
        """The variable whose elimination makes the fewest rows."""
        counts: dict[Any, list[int]] = {}
        for r in self.best.values():
            for v, k in r.terms.items():
                c = counts.get(v)
                if c is None:
                    c = counts[v] = [0, 0, 1]
                c[k < 0] += 1
                if k > c[2] or -k > c[2]:
                    c[2] = abs(k)
        return min(counts, key=lambda v: (counts[v][0] * counts[v][1], counts[v][2]))
