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
    assert found.bijective or (symbolic and f in ranges)


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
