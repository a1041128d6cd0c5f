"""The integer solver against z3 and against brute force."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tirscript.analysis.solve import OutOfBudget, System

NAMES = ("x", "y", "z")
rows = st.tuples(st.lists(st.integers(-4, 4), min_size=3, max_size=3), st.integers(-9, 9))


def system(equal: list, least: list, box: int) -> System:
    s = System()
    for terms, const in equal:
        s.equal(dict(zip(NAMES, terms, strict=True)), const)
    for terms, const in least:
        s.at_least(dict(zip(NAMES, terms, strict=True)), const)
    for n in NAMES:
        s.at_least({n: 1}, 0)
        s.at_least({n: -1}, box)
    return s


@given(st.lists(rows, max_size=2), st.lists(rows, max_size=4))
def test_as_brute_force(equal: list, least: list) -> None:
    def holds(point: tuple[int, ...]) -> bool:
        def value(row: tuple) -> int:
            return sum(a * b for a, b in zip(row[0], point, strict=True)) + row[1]

        return all(value(e) == 0 for e in equal) and all(value(r) >= 0 for r in least)

    want = any(holds(p) for p in itertools.product(range(6), repeat=3))
    found = system(equal, least, 5).solve()
    assert (found is not None) == want
    if found is not None:
        assert holds(tuple(found[n] for n in NAMES))


@given(st.lists(rows, max_size=2), st.lists(rows, max_size=3))
def test_as_z3_over_all_integers(equal: list, least: list) -> None:
    import z3

    solver = z3.Solver()
    variables = [z3.Int(n) for n in NAMES]
    s = System()
    for terms, const in equal:
        s.equal(dict(zip(NAMES, terms, strict=True)), const)
        solver.add(sum(k * v for k, v in zip(terms, variables, strict=True)) + const == 0)
    for terms, const in least:
        s.at_least(dict(zip(NAMES, terms, strict=True)), const)
        solver.add(sum(k * v for k, v in zip(terms, variables, strict=True)) + const >= 0)
    try:
        found = s.solve()
    except OutOfBudget:
        return
    answer = solver.check()
    if answer != z3.unknown:
        assert (found is not None) == (answer == z3.sat)
