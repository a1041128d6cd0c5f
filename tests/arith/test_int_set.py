"""Intervals and the questions to conditions, held against every value of small domains."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from tirscript import arith, tir
from tirscript.arith import Analyzer, IntervalSet, IntSet
from tirscript.arith.int_set import NEG_INF, POS_INF
from tirscript.ir import Range, structural_equal, substitute
from tirscript.ir.expr import const_int

i, j, n = [tir.Var(name, "int32") for name in "ijn"]


def value(e: Any, at: dict[Any, int]) -> int:
    """The value of an expression, variables given."""
    return int(arith.simplify(substitute(e, {v: const_int(x) for v, x in at.items()})))  # type: ignore[call-overload]


def random_form(rng: random.Random) -> Any:
    e: Any = rng.randint(-3, 3) * i + rng.randint(-3, 3) * j + rng.randint(-9, 9)
    if rng.random() < 0.3:
        e = e + n
    if rng.random() < 0.3:
        e = tir.floordiv(e, rng.choice([2, 3, 4]))
    if rng.random() < 0.2:
        e = tir.max(e, rng.randint(-4, 4))
    return e


@pytest.mark.parametrize("seed", range(60))
def test_intervals_hold_every_value(seed: int) -> None:
    rng = random.Random(seed)
    e = random_form(rng)
    low_i, low_j = rng.randint(-4, 4), rng.randint(-4, 4)
    domains = {i: Range(low_i, low_i + 4), j: IntervalSet(low_j, low_j + 2)}
    found = Analyzer().int_set(e, domains)
    for at_i, at_j, at_n in itertools.product(range(low_i, low_i + 4), range(low_j, low_j + 3), (-2, 0, 5)):
        at = {i: at_i, j: at_j, n: at_n}
        v = value(e, at)
        if found.min_value is not NEG_INF:
            assert value(found.min_value, at) <= v
        if found.max_value is not POS_INF:
            assert v <= value(found.max_value, at)


def test_intervals_of_forms_are_exact() -> None:
    found = Analyzer().int_set(i * 4 - j + n, {i: Range(0, 8), j: IntervalSet(0, 3)})
    assert structural_equal(found.min_value, n - 3) and structural_equal(found.max_value, n + 28)
    half = Analyzer().int_set(i * 2, {i: IntervalSet(3, POS_INF)})
    assert half.min_value.value == 6 and half.max_value is POS_INF
    assert Analyzer().int_set(i).min_value is i
    assert IntSet.vector(Range(2, 10)).max_value.value == 9 and IntSet.single_point(3).min_value.value == 3
    assert IntervalSet(5, 3).is_nothing() and not IntervalSet(3, 5).is_nothing()
    assert IntervalSet(None, None).is_everything() and not IntervalSet(0, None).is_everything()


def test_linear_equations() -> None:
    coefficients = arith.detect_linear_equation(i * 4 + j * -2 + n + 3, [i, j])
    assert [c.value for c in coefficients[:2]] == [4, -2]
    assert structural_equal(arith.simplify(coefficients[2] - n), const_int(3))
    assert arith.detect_linear_equation(i * i, [i]) == []
    assert arith.detect_linear_equation(i // 2, [i]) == []
    assert str(arith.detect_linear_equation(i * 3, [])[0]) == "i * 3"


@pytest.mark.parametrize("seed", range(40))
def test_deduced_bounds_are_where_the_condition_holds(seed: int) -> None:
    """Of ``a * i + b * j + c < d``: exactly the i for which it holds for every j."""
    rng = random.Random(seed)
    a, b, c, d = rng.choice([-3, -2, -1, 1, 2, 3]), rng.randint(-2, 2), rng.randint(-5, 5), rng.randint(-9, 9)
    left = i * a + j * b + c
    make, python = rng.choice([
        (tir.LT, lambda p, q: p < q), (tir.LE, lambda p, q: p <= q), (tir.GT, lambda p, q: p > q),
        (tir.GE, lambda p, q: p >= q),
    ])  # fmt: skip
    found = arith.deduce_bound(i, make(left, d), {}, {j: Range(0, 3)})
    for at_i in range(-20, 21):
        holds = all(python(a * at_i + b * at_j + c, d) for at_j in range(3))
        inside = (found.min_value is NEG_INF or found.min_value.value <= at_i) and (
            found.max_value is POS_INF or at_i <= found.max_value.value
        )
        assert holds == inside, (at_i, found)


def test_clip_bounds() -> None:
    low, high = arith.detect_clip_bound(tir.And(i * 2 < 15, tir.And(i > n, i >= 1)), [i])
    assert high.value == 7
    for at in range(-3, 6):
        assert value(low, {n: at}) == max(at + 1, 1)
    assert arith.detect_clip_bound(i * i < 3, [i]) == [None, None]
    assert arith.detect_clip_bound(i == 3, [j]) == [None, None]


@pytest.mark.parametrize("seed", range(30))
def test_regions(seed: int) -> None:
    rng = random.Random(seed)
    a, b, size = rng.randint(1, 6), rng.randint(0, 2), rng.randint(1, 4)
    region = [Range.from_min_extent(i * a + j * b, size)]
    domains = {i: Range(0, 5), j: Range(0, 2)}
    touched = {
        x
        for p, q in itertools.product(range(5), range(2))
        for x in range(p * a + q * b, p * a + q * b + size)
    }
    (upper,) = arith.estimate_region_upper_bound(region, domains)
    assert {upper.min_value.value, upper.max_value.value} == {min(touched), max(touched)}
    lower = arith.estimate_region_lower_bound(region, domains)
    if lower is not None:
        assert set(range(lower[0].min_value.value, lower[0].max_value.value + 1)) <= touched


def test_iter_maps_simplify() -> None:
    ranges = {i: Range(0, 8), j: Range(0, 4)}
    out = arith.iter_map_simplify([(i * 4 + j) // 4, (i * 4 + j) % 4, i // 8], ranges)
    assert out[0] is i and out[1] is j and out[2].value == 0
    assert arith.iter_map_simplify([tir.min(i, 5)], ranges, i < 5)[0] is i
