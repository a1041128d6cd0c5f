"""Iterator maps against enumeration: what is said to be injective or bijective is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.arith.iter_map import detect_iter_map
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.expr import Expr, Range, Var, const_int

from .evaluator import evaluate

i, j, k, f, n, m = (Var(x) for x in "ijkfnm")


SHEARED = i * -1 + j // 2 % 3  # injective beside j, but fills no box


def box(**extents: Any) -> dict[Var, Range]:
    named = {"i": i, "j": j, "k": k, "f": f}
    return {named[name]: Range(const_int(0), ops.as_expr(e)) for name, e in extents.items()}


@pytest.mark.parametrize(
    ("values", "ranges"),
    [
        ([i, j], box(i=8, j=4)),
        ([j, i], box(i=8, j=4)),
        ([i * 4 + j], box(i=8, j=4)),
        ([f // 4, f % 4], box(f=32)),
        ([f // 12, f // 4 % 3, f % 4], box(f=24)),
        ([f % 12 // 4, f % 4, f // 12], box(f=24)),
        ([f // 4 * 4 + f % 4], box(f=32)),
        ([(i * 4 + j) // 8, (i * 4 + j) % 8], box(i=8, j=4)),
        ([i * -4 + j], box(i=8, j=4)),
        ([7 - i], box(i=8)),
        ([i // 2 * 4 + i % 2, j], box(i=2, j=4)),
        ([i * 16 + j * 4 + k], box(i=2, j=4, k=4)),
        ([i, f // 8, f % 8], box(i=1, f=64)),
        # loops fused in one way and taken apart in another
        ([(i * 16 + j) // 24, (i * 16 + j) % 24], box(i=12, j=16)),
        (
            [(i * 16 + j) // 24, (i * 16 + j) // 8 % 3, (i * 16 + j) // 2 % 4, (i * 16 + j) % 2],
            box(i=12, j=16),
        ),
        (
            [(k * 32 + i * 8 + j) // q % e for q, e in ((1, 8), (8, 3), (24, 8), (192, 2))],
            box(k=12, i=4, j=8),
        ),
        ([(k * 4 + i * 4 + j) // q % e for q, e in ((1, 3), (3, 4), (12, 4))], box(k=12, i=1, j=4)),
        ([(i * 8 + j) % 6, (i * 8 + j) // 6], {i: Range(const_int(3), const_int(3)), **box(j=8)}),
        # a loop that is known by then moves a sum
        ([SHEARED, j], box(i=4, j=8)),
        # symbolic
        ([i * n + j], {**box(i=8), j: Range(const_int(0), n)}),
        ([f // n, f % n], {f: Range(const_int(0), m * n)}),
        ([i * 4 + j, k], {i: Range(const_int(0), n), **box(j=4, k=3)}),
    ],
)
def test_bijective(values: list[Expr], ranges: dict[Var, Range]) -> None:
    found = detect_iter_map(values, ranges)
    assert found is not None
    symbolic = any(type(r.extent) is not E.IntImm for r in ranges.values())
    sheared = values[0] is SHEARED
    assert found.bijective or (symbolic and f in ranges) or sheared


@pytest.mark.parametrize(
    ("values", "ranges"),
    [
        ([i * 3 + j], box(i=8, j=4)),
        ([i], box(i=8, j=4)),
        ([i + j], box(i=8, j=4)),
        ([i // 2], box(i=8)),
        ([i % 4], box(i=8)),
        ([i // 4, i % 3], box(i=8)),
        ([i * j], box(i=8, j=4)),
        ([i * n + j], {**box(i=8), j: Range(const_int(0), m)}),
    ],
)
def test_not_injective(values: list[Expr], ranges: dict[Var, Range]) -> None:
    assert detect_iter_map(values, ranges) is None


def test_a_split_that_does_not_divide() -> None:
    # (x % 255) // 16: the pieces overlap nowhere, but do not fill the box.
    found = detect_iter_map([f // 255, (f % 255) // 16, (f % 255) % 16], box(f=510))
    assert found is not None and not found.bijective


def test_a_guarded_split_fills_the_axis() -> None:
    found = detect_iter_map([i * 4 + j], box(i=5, j=4), E.LT(i * 4 + j, const_int(18)))
    assert found is not None and found.bijective
    assert found.extents[0] is not None and found.extents[0].const == 18


def test_a_guarded_symbolic_split_fills_the_axis() -> None:
    ranges = {i: Range(const_int(0), (n + 3) // 4), j: Range(const_int(0), const_int(4))}
    found = detect_iter_map([i * 4 + j], ranges, E.LT(i * 4 + j, n))
    assert found is not None and found.bijective
    assert found.extents[0] is not None and found.extents[0].key() is n


@pytest.mark.parametrize(("d", "c"), [(2, 4), (2, 8), (4, 12)])
def test_a_quotient_beside_a_larger_remainder(d: int, c: int) -> None:
    found = detect_iter_map([f // d, f % c], box(f=48))
    assert found is not None and not found.bijective
    assert detect_iter_map([f // c, f % d], box(f=48)) is None


@st.composite
def retiled(draw: Any) -> tuple[list[Expr], dict[Var, Range]]:
    """Loops fused, and the number taken apart by other factors."""
    sizes = [draw(st.sampled_from([1, 2, 3, 4, 6, 8])) for _ in range(3)]
    total = sizes[0] * sizes[1] * sizes[2]
    number = i * (sizes[1] * sizes[2]) + j * sizes[2] + k
    values: list[Expr] = []
    step = 1
    while step < total:
        factor = draw(st.sampled_from([q for q in range(2, total + 1) if total // step % q == 0]))
        values.append(number // step % factor)
        step *= factor
    return draw(st.permutations(values)), box(i=sizes[0], j=sizes[1], k=sizes[2])


@given(retiled())
def test_loops_fused_and_split_otherwise(case: tuple[list[Expr], dict[Var, Range]]) -> None:
    found = detect_iter_map(*case)
    assert found is not None and found.bijective


loops = st.sampled_from([i, j, k])
digits = st.one_of(
    loops,
    st.builds(lambda v, c: v // c, loops, st.integers(1, 5)),
    st.builds(lambda v, c: v % c, loops, st.integers(1, 5)),
    st.builds(lambda v, c, d: v // c % d, loops, st.integers(1, 3), st.integers(1, 3)),
    st.builds(lambda v, c, d: v % (c * d) // c, loops, st.integers(1, 3), st.integers(1, 3)),
)
sums = st.lists(st.tuples(digits, st.integers(-6, 6)), min_size=1, max_size=3)


@given(st.lists(sums, min_size=1, max_size=3), st.tuples(*[st.integers(1, 6)] * 3))
def test_what_is_said_is_so(rows: list[Any], sizes: tuple[int, int, int]) -> None:
    values = []
    for row in rows:
        e: Expr = const_int(0)
        for d, c in row:
            e = e + d * c
        values.append(e)
    found = detect_iter_map(values, box(i=sizes[0], j=sizes[1], k=sizes[2]))
    if found is None:
        return
    points = list(itertools.product(*map(range, sizes)))
    image = {tuple(evaluate(v, dict(zip((i, j, k), p, strict=True))) for v in values) for p in points}
    assert len(image) == len(points)
    if found.bijective:
        cells = 1
        for axis in range(len(values)):
            column = [t[axis] for t in image]
            low, extent = found.mins[axis], found.extents[axis]
            assert low is not None and extent is not None
            assert (min(column), max(column)) == (low.const, low.const + extent.const - 1)
            cells *= extent.const
        assert cells == len(image)


@st.composite
def guarded(draw: Any) -> tuple[list[Expr], dict[Var, Range], Expr]:
    """Loops fused, or fused and split again, under bounds of the number or of single loops."""
    sizes = [draw(st.integers(1, 5)) for _ in range(3)]
    total = sizes[0] * sizes[1] * sizes[2]
    whole = i * (sizes[1] * sizes[2]) + j * sizes[2] + k
    upper = i * sizes[1] + j
    values = draw(
        st.sampled_from(
            [[whole], [whole // 4, whole % 4], [upper, k], [i, j, k], [j, upper * -1, k], [whole + n, k - j]]
        )
    )
    bounds = st.one_of(
        st.integers(-1, total + 1).map(lambda c: E.LT(whole, const_int(c))),
        st.integers(0, 8).map(lambda c: E.LT(whole, const_int(c * 4))),
        st.integers(-1, total).map(lambda c: E.GE(whole, const_int(c))),
        st.integers(0, total).map(lambda c: E.LE(upper, const_int(c))),
        st.integers(0, 4).map(lambda c: E.LT(j, const_int(c))),
        st.integers(0, 4).map(lambda c: E.GT(k, const_int(c))),
    )
    predicate: Expr = draw(bounds)
    for p in draw(st.lists(bounds, max_size=2)):
        predicate = E.And(predicate, p)
    return values, box(i=sizes[0], j=sizes[1], k=sizes[2]), predicate


@given(guarded())
def test_what_is_said_under_a_predicate_is_so(case: tuple[list[Expr], dict[Var, Range], Expr]) -> None:
    values, ranges, predicate = case
    found = detect_iter_map(values, ranges, predicate)
    sizes = [r.extent.value for r in ranges.values()]  # type: ignore[attr-defined]
    points = []
    for p in itertools.product(*map(range, sizes)):
        at: dict[Any, Any] = {**dict(zip((i, j, k), p, strict=True)), n: 7}
        if evaluate(predicate, at):
            points.append(tuple(evaluate(v, at) for v in values))
    if found is None or not points:
        return
    assert len(set(points)) == len(points)
    if found.bijective:
        cells = 1
        for axis, column in enumerate(zip(*points, strict=True)):
            low, extent = found.mins[axis], found.extents[axis]
            assert low is not None and extent is not None
            start = low.const + sum(7 * c for c in low.terms.values())
            assert not extent.terms
            assert (min(column), max(column)) == (start, start + extent.const - 1)
            cells *= extent.const
        assert cells == len(points)


@pytest.mark.parametrize(
    ("values", "predicate", "mins", "extents"),
    [
        ([i * 4 + j], E.LT(i * 4 + j, const_int(18)), [0], [18]),
        ([i * 4 + j], E.And(E.GE(i * 4 + j, const_int(3)), E.LT(i * 4 + j, const_int(18))), [3], [15]),
        ([(i * 4 + j) // 2, (i * 4 + j) % 2], E.LT(i * 4 + j, const_int(18)), [0, 0], [9, 2]),
        ([i, j], E.And(E.LT(i, const_int(3)), E.GE(j, const_int(1))), [0, 1], [3, 3]),
        ([i * 4 + j], E.LT(i, const_int(3)), [0], [12]),
        ([9 - i, j], E.LT(i, const_int(3)), [7, 0], [3, 4]),
    ],
)
def test_boxes_under_a_predicate(values: Any, predicate: Expr, mins: list[int], extents: list[int]) -> None:
    found = detect_iter_map(values, box(i=5, j=4), predicate)
    assert found is not None and found.bijective
    assert [x.const for x in found.mins if x is not None] == mins
    assert [x.const for x in found.extents if x is not None] == extents
    # A bound of something else is no box.
    found = detect_iter_map(values, box(i=5, j=4), E.LT(i * 3 + j * 2, const_int(7)))
    assert found is None or not found.bijective
