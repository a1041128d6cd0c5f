"""Index maps: shapes, inverses, padding, checked element by element."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tirscript as ts
from tirscript.arith.evaluate import evaluate
from tirscript.ir.expr import Var
from tirscript.ir.index_map import IndexMap
from tirscript.script import ir as I
from tirscript.script import tir as T


def check(f: Any, shape: list[int], want_shape: list[int] | None = None) -> None:
    """The inverse undoes the map on every element, and the padding is exactly what nothing maps to."""
    m = IndexMap.from_func(f, len(shape), index_dtype="int32")
    final = [e.value for e in m.map_shape(shape)]
    if want_shape is not None:
        assert final == want_shape
    back, padding = m.non_surjective_inverse(shape)
    seen = {}
    for at in itertools.product(*[range(n) for n in shape]):
        values = dict(zip(m.initial_indices, at, strict=True))
        to = tuple(evaluate(e, values) for e in m.final_indices)
        assert all(0 <= x < n for x, n in zip(to, final, strict=True)), (at, to)
        assert to not in seen
        seen[to] = at
    for to in itertools.product(*[range(n) for n in final]):
        values = dict(zip(back.initial_indices, to, strict=True))
        assert bool(evaluate(padding, values)) == (to not in seen), to
        if to in seen:
            assert tuple(evaluate(e, values) for e in back.final_indices) == seen[to]


MAPS: list[tuple[Any, list[int], list[int]]] = [
    (lambda i: [i // 4, i % 4], [14], [4, 4]),
    (lambda i: [i // 4, i % 4], [16], [4, 4]),
    (lambda i: [i % 7, i // 7], [14], [7, 2]),
    (lambda i: [13 - i], [14], [14]),
    (lambda i: [i + 3], [5], [8]),
    (lambda i: [i * 2], [5], [9]),
    (lambda i: [i // 6, i // 2 % 3, i % 2], [17], [3, 3, 2]),
    (lambda i, j: [j, i], [3, 5], [5, 3]),
    (lambda i, j: [i * 5 + j], [3, 5], [15]),
    (lambda i, j: [(i * 4 + j) // 8, (i * 4 + j) % 8], [4, 4], [2, 8]),
    (lambda i, j: [j // 2, i // 3, i % 3, j % 2], [7, 5], [3, 3, 3, 2]),
    (lambda i, j: [(2 - i) * 5 + j], [3, 5], [15]),
    (lambda i, j: [i * 5 + 4 - j], [3, 5], [15]),
    (lambda i, j: [i + j, j], [4, 3], [6, 3]),
    (lambda i, j, k: [j, k], [1, 2, 3], [2, 3]),
    (lambda i: [i, 0], [4], [4, 1]),
    (lambda i, j: [i * 8 + j], [3, 5], [21]),
    (lambda *a: [a[-1], *a[:-1]], [2, 3, 4], [4, 2, 3]),
    (lambda: (), [], []),
    (lambda: [0], [], [1]),
]


@pytest.mark.parametrize(("f", "shape", "final"), MAPS)
def test_maps(f: Any, shape: list[int], final: list[int]) -> None:
    check(f, shape, final)


@given(st.integers(1, 40), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.randoms())
def test_digits_in_any_order(n: int, factors: list[int], random: Any) -> None:
    order = list(range(len(factors) + 1))
    random.shuffle(order)

    def digits(i: Any) -> list[Any]:
        out = []
        for f in factors:
            out.append(i % f)
            i = i // f
        out.append(i)
        return [out[k] for k in order]

    check(digits, [n])


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.booleans(), st.booleans())
def test_flattened_and_split_again(n: int, m: int, f: int, back: bool, down: bool) -> None:
    def g(i: Any, j: Any) -> list[Any]:
        i = n - 1 - i if down else i
        flat = i * m + (m - 1 - j if back else j)
        return [flat % f, flat // f]

    check(g, [n, m])


@pytest.mark.parametrize("shape", [(12, 16), (16, 12), (3, 8), (1, 24)])
def test_flattened_and_split_in_three(shape: tuple[int, int]) -> None:
    def split(m: int, lower: int, upper: int) -> Any:
        def g(i: Any, j: Any) -> list[Any]:
            flat = i * m + j
            return [flat // (lower * upper), flat // lower % upper, flat % lower]

        return g

    for lower, upper in ((8, 3), (4, 6), (2, 3)):
        check(split(shape[1], lower, upper), list(shape))


def test_symbolic() -> None:
    n, m = Var("n", "int64"), Var("m", "int64")
    flat = IndexMap.from_func(lambda i, j: [i * m + j])
    assert str(flat.inverse([n, m])) == "lambda axis0: (axis0 // m, axis0 % m)"
    assert str(flat.map_shape([n, m])) in ("[m * n]", "[n * m]")
    back, padding = IndexMap.from_func(lambda i: [i // 4, i % 4]).non_surjective_inverse([n])
    for size in (1, 3, 4, 9):
        for to in itertools.product(range(-(-size // 4)), range(4)):
            values = {n: size, **dict(zip(back.initial_indices, to, strict=True))}
            assert bool(evaluate(padding, values)) == (to[0] * 4 + to[1] >= size)
    assert IndexMap.from_func(lambda i: [i // 4, i % 4]).inverse([n * 4]) is not None


def test_what_has_no_inverse() -> None:
    for f, shape in ((lambda i: [i // 2], [16]), (lambda i, j: [i + j], [3, 3]), (lambda i: [i * i], [3])):
        with pytest.raises(ts.TirscriptError, match="injective"):
            IndexMap.from_func(f).inverse(shape)
    with pytest.raises(ts.TirscriptError, match="not bijective"):
        IndexMap.from_func(lambda i: [i // 4, i % 4]).inverse([14])
    with pytest.raises(ts.TirscriptError, match="negative"):
        IndexMap.from_func(lambda i: [i - 3]).map_shape([14])
    with pytest.raises(ts.TirscriptError, match="2 indices"):
        IndexMap.from_func(lambda i, j: [i, j]).map_shape([14])


def test_a_given_inverse_is_used() -> None:
    m = IndexMap.from_func(lambda i: [i // 4, i % 4], inverse_index_map=lambda a, b: a * 4 + b)
    assert str(m.inverse([16])).startswith("lambda axis0, axis1: (axis0 * ")
    wrong = IndexMap.from_func(lambda i: [i // 4, i % 4], inverse_index_map=lambda a, b: a * 4)
    with pytest.raises(ts.TirscriptError, match="not bijective"):
        wrong.inverse([16])


def test_arguments() -> None:
    assert len(I.index_map(lambda i: [i, 1]).final_indices) == 2
    assert T.index_map(lambda i: i).is_equivalent_to(IndexMap.from_func(lambda j: j * 2 // 2))
    assert not T.index_map(lambda i: i).is_equivalent_to(IndexMap.from_func(lambda j: [j, j]))
    made, separators = IndexMap.from_func_with_separators(lambda i, j: [i, IndexMap.AXIS_SEPARATOR, j])
    assert len(made.final_indices) == 2 and separators == [1]
    for bad in (
        lambda i: "x",
        lambda i: [[i]],
        lambda i: [1.5],
        lambda *a: a,
        lambda **k: 0,
        3,
        lambda i: [None],
    ):
        with pytest.raises(ts.TirscriptError):
            IndexMap.from_func(bad)
    with pytest.raises(ts.TirscriptError, match="separators"):
        IndexMap.from_func(lambda i, j: [i, IndexMap.AXIS_SEPARATOR, j])


def test_arrays() -> None:
    a = np.arange(14)
    got = IndexMap.from_func(lambda i: [i // 4, i % 4]).map_ndarray(a)
    np.testing.assert_array_equal(got, np.concatenate([a, [0, 0]]).reshape(4, 4))
    b = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(IndexMap.from_func(lambda i, j: [j, i]).map_ndarray(b), b.T)
