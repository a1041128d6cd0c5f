"""Boxes of accesses against running the loops: nothing is left out, and what can be exact is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tirscript.analysis.region import Axis, Box, Hull, evaluate
from tirscript.arith.linear import Linear
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import Expr, Range, Var, const_int

from .programs import number

i, j, k, v, n, m = (Var(x) for x in "ijkvnm")  # loops; v stands still; n and m are extents
SIZE = 1 << 20
BUFFER = make_buffer("B", (const_int(SIZE),))
# Shapes say that n and m are not negative.
SYMBOLIC = make_buffer("B", (n * m * 64,))


def axis(var: Var, extent: Any, low: Any = 0) -> Axis:
    return Axis(var, ops.as_expr(low), ops.as_expr(extent))


def points(axes: list[Axis], conditions: list[Expr], values: dict[Var, int]) -> Iterator[dict[Var, int]]:
    if not axes:
        if all(number(c, values) for c in conditions):
            yield values
        return
    first, *rest = axes
    low = number(first.min, values)
    for x in range(low, low + number(first.extent, values)):
        yield from points(rest, conditions, {**values, first.var: x})


def ends(box: Box, values: dict[Var, int], dim: int = 0) -> tuple[int, int]:
    """The first and last index of a dimension for given values of what stands still."""
    d = box[dim]
    if d.whole:
        return 0, SIZE
    low, high = d.ends()
    assert low is not None and high is not None
    return number_of(low, values), number_of(high, values)


def number_of(lin: Linear, values: dict[Var, int]) -> int:
    return lin.const + sum(c * number(e, values) for e, c in lin.items())


def touched(
    indices: list[tuple[Expr, int]], axes: list[Axis], conditions: list[Expr], values: dict[Var, int]
) -> list[int]:
    return [
        number(e, p) + more
        for p in points(axes, conditions, values)
        for e, size in indices
        for more in {0, size - 1}
    ]


def check(
    buffer: Buffer,
    indices: list[tuple[Expr, int]],
    axes: list[Axis],
    conditions: list[Expr],
    values: dict[Var, int],
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """What the hull of the accesses says, and what is so; None where nothing happens."""
    hull: Hull | None = None
    for e, size in indices:
        region = (Range(e, const_int(size)),)
        box = evaluate(buffer, None, region, tuple(axes), tuple(conditions))
        if box is None:
            continue
        if hull is None:
            hull = Hull(buffer, box)
        else:
            hull.join(box)
    cells = touched(indices, axes, conditions, values)
    said = None if hull is None else ends(hull.box, values)
    if cells:
        assert said is not None
        assert said[0] <= min(cells) and max(cells) <= said[1]
        # And as a region of the program: nothing outside the ends.
        assert hull is not None
        r = hull.region().region[0]
        low = number(r.min, values)
        assert low <= min(cells) and max(cells) < low + number(r.extent, values)
    return said, (min(cells), max(cells)) if cells else None


constants = st.integers(-5, 5)
positive = st.integers(1, 5)
loops = st.sampled_from([i, j, k])


def linear(parts: list[tuple[Expr, int]], c: int) -> Expr:
    e: Expr = const_int(c)
    for x, f in parts:
        e = e + x * f
    return e


linears = st.builds(
    lambda fs, c: linear(list(zip((i, j, k, v), fs, strict=True)), c),
    st.tuples(constants, constants, constants, constants),
    st.integers(-20, 20),
)
crooked = st.recursive(
    linears,
    lambda inner: st.one_of(
        st.builds(lambda a, c: a // c, inner, positive),
        st.builds(lambda a, c: a % c, inner, positive),
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, c: a * c, inner, constants),
        st.builds(lambda c, a, b: c(a, b), st.sampled_from([E.Min, E.Max]), inner, inner),
    ),
    max_leaves=3,
)
guards = st.builds(
    lambda kind, a, b: kind(a, b), st.sampled_from([E.LT, E.LE, E.GT, E.GE, E.EQ]), linears, linears
)


@given(
    st.lists(st.tuples(crooked, positive), min_size=1, max_size=3),
    st.tuples(*[st.integers(0, 5)] * 3),
    st.lists(guards, max_size=2),
    st.integers(-9, 9),
)
def test_nothing_is_left_out(
    indices: list[tuple[Expr, int]], sizes: tuple[int, int, int], conditions: list[Expr], at: int
) -> None:
    axes = [axis(x, s) for x, s in zip((i, j, k), sizes, strict=True)]
    check(BUFFER, indices, axes, conditions, {v: at})


@given(
    st.lists(st.tuples(linears, positive), min_size=1, max_size=4),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.integers(-9, 9),
)
def test_linear_indices_have_exact_ends(
    indices: list[tuple[Expr, int]], sizes: tuple[int, int, int], at: int
) -> None:
    axes = [axis(x, s) for x, s in zip((i, j, k), sizes, strict=True)]
    said, true = check(BUFFER, indices, axes, [], {v: at})
    assert said == true


@given(
    st.lists(st.tuples(linears, positive), min_size=1, max_size=3),
    st.lists(guards, max_size=1),
    st.tuples(*[st.integers(0, 4)] * 2),
    st.integers(-9, 9),
)
def test_symbolic_and_triangular_loops(
    indices: list[tuple[Expr, int]], conditions: list[Expr], sizes: tuple[int, int], at: int
) -> None:
    values = {n: sizes[0], m: sizes[1], v: at}
    for axes in (
        [axis(i, n), axis(j, m), axis(k, 3)],
        [axis(i, n), axis(j, i + 1), axis(k, 2, j)],
        [axis(i, (n + 3) // 4), axis(j, 4), axis(k, m, i * 4)],
    ):
        said, true = check(SYMBOLIC, indices, axes, conditions, values)
        if true is not None and not conditions and len(indices) == 1 and axes[1].extent is m:
            assert said == true


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.data())
def test_windows_of_several_consumers(stride: int, dilation: int, taps: int, extent: int, data: Any) -> None:
    """``x * stride + r * dilation + offset`` read by several consumers, tile number ``v`` standing still."""
    offsets = data.draw(st.lists(st.integers(-8, 8), min_size=1, max_size=3))
    tile = data.draw(st.sampled_from([1, 2, 4, 8]))
    at = data.draw(st.integers(0, 3))
    indices = [((v * tile + i) * stride + j * dilation + c, 1) for c in offsets]
    axes = [axis(i, tile), axis(j, taps)]
    said, true = check(BUFFER, indices, axes, [], {v: at})
    assert said == true
    # The same with a symbolic number of taps.
    axes = [axis(i, tile), axis(j, n)]
    said, true = check(SYMBOLIC, indices, axes, [], {v: at, n: taps, m: 1})
    assert said == true


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 6), st.integers(1, 3))
def test_a_guard_ends_the_range(size: int, tile: int, at: int, stride: int) -> None:
    axes = [axis(i, tile)]
    for first in (v * tile, const_int(at * tile)):
        index = first + i
        for buffer, limit in ((BUFFER, const_int(size)), (SYMBOLIC, n)):
            said, true = check(
                buffer, [(index * stride, 1)], axes, [E.LT(index, limit)], {v: at, n: size, m: 1}
            )
            if true is not None:
                assert said is not None and said[0] == true[0]
                # Where the tile is known the end is exact; else it is not worse than without the guard.
                exact = type(first) is E.IntImm and buffer is BUFFER
                assert said[1] == true[1] if exact else said[1] <= (at * tile + tile - 1) * stride


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 30))
def test_quotients_and_remainders_of_a_fused_loop(a: int, b: int, at: int) -> None:
    """``f = v * tile + i`` taken apart into ``f // b`` and ``f % b``: exact where the tile divides."""
    for tile in (1, 2, 3, 4, b, 2 * b):
        f = v * tile + i
        for e in (f // b, f % b):
            said, true = check(BUFFER, [(e, 1)], [axis(i, tile)], [], {v: at})
            assert said is not None and true is not None
            if type(e) is E.FloorDiv and (tile == 1 or tile % b == 0 or b % tile == 0):
                assert said == true
            if type(e) is E.FloorMod:
                assert said[0] >= 0 and said[1] <= b - 1


def test_pinned_hulls() -> None:
    # Two consumers, one shifted: rows v*4 - 1 .. v*4 + 4.
    rows = [(v * 4 + i - 1, 1), (v * 4 + i + 1, 1)]
    said, _ = check(BUFFER, rows, [axis(i, 4)], [], {v: 3})
    assert said == (11, 16)
    # Ends that swap: 21 - 5 * j.
    said, _ = check(BUFFER, [(21 - j * 5 + i, 1)], [axis(j, 4), axis(i, 12)], [], {})
    assert said == (6, 32)
    # A padded window under its guard, for each of its places.
    for at, want in ((0, (0, 1)), (1, (1, 3)), (3, (5, 7)), (4, (7, 7))):
        index = const_int(at * 2 - 1) + i
        guard = [ops.ge(index, const_int(0)), E.LT(index, const_int(8))]
        said, _ = check(BUFFER, [(index, 1)], [axis(i, 3)], guard, {})
        assert said == want
