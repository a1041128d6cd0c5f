"""Simplification keeps the value: random expressions, random values, an evaluator of its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.arith import Analyzer
from tirscript.arith.exact import is_exact
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import Range, Var, const_int
from tirscript.ir.visitor import walk

from .evaluator import LANE, Undefined, evaluate, reduce

VARS = [Var("i"), Var("j"), Var("k"), Var("n"), Var("m")]
DATA = make_buffer("D", (const_int(4),), "int32")
FLOATS = make_buffer("F", (const_int(4),), "float32")
BYTES = make_buffer("U", (const_int(4),), "uint8")
BINARY = [E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.Div, E.Mod, E.Min, E.Max]
COMPARE = [E.LT, E.LE, E.GT, E.GE, E.EQ, E.NE]

small = st.integers(-20, 20)
constants = st.one_of(small, st.sampled_from([0, 1, 2, 4, 8, 16, 64, -1, 2**31 - 1, -(2**31), 1000003]))


def trees(leaves: st.SearchStrategy[Any], depth: int, kinds: Any = None) -> st.SearchStrategy[Any]:
    """Integer expressions of int32."""
    kinds = kinds or BINARY

    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        bools = st.one_of(
            st.builds(lambda c, a, b: c(a, b), st.sampled_from(COMPARE), inner, inner),
            st.builds(
                lambda o, c, d, a, b, x, y: o(c(a, b), d(x, y)),
                st.sampled_from([E.And, E.Or]), st.sampled_from(COMPARE), st.sampled_from(COMPARE),
                inner, inner, inner, inner,
            ),
            st.builds(lambda c, a, b: E.Not(c(a, b)), st.sampled_from(COMPARE), inner, inner),
        )  # fmt: skip
        return st.one_of(
            st.builds(lambda c, a, b: c(a, b), st.sampled_from(kinds), inner, inner),
            st.builds(lambda c, a, b: c(a, const_int(b)), st.sampled_from(kinds), inner, small),
            st.builds(lambda c, a, b: E.Select(c, a, b), bools, inner, inner),
            st.builds(lambda c, a, b: ops.if_then_else(c, a, b), bools, inner, inner),
            st.builds(lambda c: E.Cast("int32", c), bools),
            st.builds(lambda a: E.Cast("int32", E.Cast("int64", a)), inner),
            st.builds(lambda a: E.Cast("int32", E.Cast("int8", a)), inner),
        )

    return st.recursive(leaves, extend, max_leaves=depth)


exact_leaves = st.one_of(st.sampled_from(VARS), constants.map(const_int))
data_leaves = st.one_of(
    st.sampled_from([ops.load(DATA, [const_int(q)]) for q in range(4)]),
    st.sampled_from([E.Cast("int32", ops.load(BYTES, [const_int(q)])) for q in range(2)]),
    st.sampled_from(VARS),
    constants.map(const_int),
)
shifts = st.builds(
    lambda op, a, b: ops.call(op, a, b),
    st.sampled_from(["shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"]),
    data_leaves,
    data_leaves,
)

edges = st.one_of(st.integers(-40, 40), st.sampled_from([2**31 - 1, -(2**31), 2**30, 7 - 2**31]))


def check(e: Any, cx: Analyzer, values: dict[Any, Any]) -> None:
    new = cx.simplify(e)
    assert new.dtype == e.dtype
    try:
        want = evaluate(e, values)
    except Undefined:
        return
    assert evaluate(new, values) == want
    # What it is simplified to does not change once more into another value.
    assert evaluate(cx.simplify(new), values) == want
    low, high = cx.const_bounds(e)
    assert (low is None or low <= want) and (high is None or want <= high)
    m, r = cx.modular(e)
    assert want == r if m == 0 else (want - r) % m == 0


@given(trees(exact_leaves, 8), st.lists(edges, min_size=5, max_size=5))
def test_exact_integers_of_any_value(e: Any, numbers: list[int]) -> None:
    check(e, Analyzer(), dict(zip(VARS, numbers, strict=True)))


@given(
    trees(
        exact_leaves, 8, [E.Add, E.Add, E.Sub, E.Mul, E.FloorDiv, E.FloorMod, E.FloorDiv, E.FloorMod, E.Min]
    ),
    st.data(),
)
def test_exact_integers_within_ranges(e: Any, data: Any) -> None:
    cx = Analyzer()
    i, j, k, n, m = VARS
    values: dict[Any, Any] = {}
    values[n] = data.draw(st.integers(1, 9))
    values[m] = data.draw(st.integers(1, 9))
    for var, extent in ((i, 8), (j, 4)):
        cx.bind(var, Range(const_int(0), const_int(extent)))
        values[var] = data.draw(st.integers(0, extent - 1))
    cx.bind(k, Range(const_int(0), n))
    values[k] = data.draw(st.integers(0, values[n] - 1))
    check(e, cx, values)
    with cx.constraint(E.LT(i * 4 + j, const_int(18))):
        if values[i] * 4 + values[j] < 18:
            check(e, cx, values)
    with cx.constraint(E.EQ(i % 4, const_int(2))):
        if values[i] % 4 == 2:
            check(e, cx, values)
    with cx.constraint(E.NE(j, const_int(0))):
        if values[j] != 0:
            check(e, cx, values)


@given(trees(st.one_of(data_leaves, shifts), 8), st.lists(edges, min_size=5, max_size=5), st.data())
def test_integers_of_data_wrap(e: Any, numbers: list[int], data: Any) -> None:
    values: dict[Any, Any] = dict(zip(VARS, numbers, strict=True))
    values[DATA] = {(q,): reduce(data.draw(edges), "int32") for q in range(4)}
    values[BYTES] = {(q,): data.draw(st.integers(0, 255)) for q in range(4)}
    check(e, Analyzer(), values)


float_values = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 0.5, 3.0, 1e-45, 3e38]),
    st.floats(width=32),
)


def float_trees() -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        st.sampled_from([ops.load(FLOATS, [const_int(q)]) for q in range(2)]),
        float_values.map(lambda v: E.FloatImm(float(np.float32(v)), "float32")),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda c, a, b: c(a, b), st.sampled_from([E.Add, E.Sub, E.Mul, E.Div]), inner, inner),
            st.builds(
                lambda c, a, b, x, y: E.Select(c(a, b), x, y),
                st.sampled_from(COMPARE),
                inner,
                inner,
                inner,
                inner,
            ),
        ),
        max_leaves=6,
    )


@given(float_trees(), float_values, float_values)
def test_floats_keep_every_bit(e: Any, x: float, y: float) -> None:
    values = {FLOATS: {(0,): np.float32(x), (1,): np.float32(y)}}
    new = Analyzer().simplify(e)
    want, got = evaluate(e, values), evaluate(new, values)
    if np.isnan(want):
        assert np.isnan(got)
    else:
        assert want.tobytes() == np.float32(got).tobytes()


WIDTHS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SHIFTS = ["shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"]


@cache
def numbers_of(dtype: str) -> st.SearchStrategy[int]:
    bits = int(dtype.lstrip("uint"))
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype[0] == "i" else (0, 2**bits - 1)
    return st.one_of(
        st.sampled_from([low, high, 0, 1, low + 1, high - 1, 2, 3]),
        st.integers(max(low, -5), 5),
        st.integers(low, high),
    )


LOADED = {dtype: make_buffer("L", (const_int(2),), dtype) for dtype in WIDTHS}


@cache
def integers(dtype: str) -> st.SearchStrategy[Any]:
    """Literals, loads and an exact variable, and what every operator makes of them; also by way of bools
    and of other dtypes."""
    loads = [ops.load(LOADED[dtype], [const_int(q)]) for q in range(2)]
    other = {"int8": "int16", "int16": "uint8", "uint8": "int32", "int32": "int8"}.get(dtype, "int32")
    leaves = st.one_of(
        st.sampled_from(loads), st.just(Var("e", dtype)), numbers_of(dtype).map(lambda v: E.IntImm(v, dtype))
    )

    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        bools = st.builds(lambda c, a, b: c(a, b), st.sampled_from(COMPARE), inner, inner)
        return st.one_of(
            st.builds(lambda c, a, b: c(a, b), st.sampled_from(BINARY), inner, inner),
            st.builds(lambda c, a, b: c(a, b), st.sampled_from([E.Sub, E.Min]), inner, inner).map(
                lambda e: E.Sub(e, e)
            ),
            st.builds(lambda op, a, b: ops.call(op, a, b), st.sampled_from(SHIFTS), inner, inner),
            st.builds(lambda c, a, b: E.Select(c, a, b), bools, inner, inner),
            st.builds(lambda c, a, b: ops.if_then_else(c, a, b), bools, inner, inner),
            bools.map(lambda c: E.Cast(dtype, c)),
            inner.map(lambda a: E.Cast(dtype, E.Cast(other, a))),
            st.builds(lambda v, a, b: let_of(dtype, v, a, b), st.sampled_from(BINARY), inner, inner),
        )

    return st.recursive(leaves, extend, max_leaves=6)


def let_of(dtype: str, kind: Any, value: Any, other: Any) -> Any:
    var = Var("v", dtype, is_exact(value))
    return E.Let(var, value, kind(var, other))


def variables(e: Any) -> list[Var]:
    """The free variables: a Let binds one of its own name ``v``."""
    return [v for v in {id(n): n for n in walk(e) if type(n) is Var}.values() if v.name == "e"]


@pytest.mark.parametrize("dtype", WIDTHS)
@given(st.data())
def test_every_width_wraps(dtype: str, data: Any) -> None:
    buffer, numbers = LOADED[dtype], numbers_of(dtype)
    e = data.draw(integers(dtype))
    values: dict[Any, Any] = {buffer: {(0,): data.draw(numbers), (1,): data.draw(numbers)}}
    for v in variables(e):
        values[v] = data.draw(numbers)
    check(e, Analyzer(), values)
    # Comparisons too: their operands are reduced where one of them is data.
    other = data.draw(integers(dtype))
    for v in variables(other):
        values[v] = data.draw(numbers)
    for kind in (E.LT, E.EQ):
        check_bool(kind(e, other), Analyzer(), values)


def check_bool(e: Any, cx: Analyzer, values: dict[Any, Any]) -> None:
    new = cx.simplify(e)
    assert new.dtype == e.dtype
    try:
        want = evaluate(e, values)
    except Undefined:
        return
    assert evaluate(new, values) == want


@cache
def vectors(dtype: str) -> st.SearchStrategy[Any]:
    scalars = integers(dtype)
    return st.recursive(
        st.one_of(
            scalars.map(lambda a: E.Broadcast(a, 4)),
            st.builds(lambda a, b: E.Ramp(a, b, 4), scalars, scalars),
        ),
        lambda inner: st.one_of(
            st.builds(lambda c, a, b: c(a, b), st.sampled_from(BINARY), inner, inner),
            st.builds(
                lambda c, a, b, x, y: E.Select(c(a, b), x, y),
                st.sampled_from(COMPARE), inner, inner, inner, inner,
            ),
        ),
        max_leaves=4,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32"])
@given(st.data())
def test_every_lane_of_a_vector_wraps(dtype: str, data: Any) -> None:
    """The same of vectors: broadcasts and ramps of literals, an exact variable and data."""
    buffer, numbers = LOADED[dtype], numbers_of(dtype)
    e = data.draw(vectors(dtype))
    values: dict[Any, Any] = {buffer: {(0,): data.draw(numbers), (1,): data.draw(numbers)}}
    for v in variables(e):
        values[v] = data.draw(numbers)
    for lane in (0, 3):
        check_bool(e, Analyzer(), {**values, LANE: lane})


def small_load(dtype: str) -> Any:
    return ops.load(make_buffer("L", (const_int(2),), dtype), [const_int(0)])


def lit(value: int, dtype: str) -> Any:
    return E.IntImm(value, dtype)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize(
    "make",
    [
        lambda a, zero: E.Min(E.Add(a, a), zero),
        lambda a, zero: E.Max(zero, E.Add(a, a)),
        lambda a, zero: E.FloorDiv(E.Add(a, a), E.Add(zero, E.IntImm(3, a.dtype))),
        lambda a, zero: E.FloorMod(E.Mul(a, a), E.Add(E.IntImm(7, a.dtype), zero)),
        lambda a, zero: E.Div(E.Add(a, a), zero),
        lambda a, zero: E.Mod(E.Add(a, a), E.Add(zero, E.IntImm(3, a.dtype))),
        lambda a, zero: E.Select(E.LT(E.Add(a, a), zero), E.IntImm(1, a.dtype), E.IntImm(2, a.dtype)),
        lambda a, zero: E.Select(E.EQ(zero, zero), E.Add(a, a), zero),
        lambda a, zero: ops.if_then_else(E.EQ(zero, zero), E.Add(a, a), zero),
        lambda a, zero: ops.call("shift_right", E.Add(a, a), E.Add(zero, E.IntImm(1, a.dtype))),
        lambda a, zero: E.Cast(a.dtype, E.Cast("int64", E.Add(E.Add(a, a), zero))),
        lambda a, zero: E.Mul(E.Min(E.Add(a, a), zero), E.Max(E.Add(a, a), zero)),
        lambda a, zero: E.Cast(a.dtype, E.Or(E.LT(E.Add(a, a), zero), E.GT(E.Add(a, a), zero))),
    ],
)
def test_literals_beside_data_that_is_constant_wrap(make: Any, dtype: str) -> None:
    """``L[0] - L[0]`` is 0: what stands beside it must not become a mathematical integer."""
    load = small_load(dtype)
    bits = int(dtype.lstrip("uint"))
    for number in (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype[0] == "i" else (2**bits - 1, 2 ** (bits - 1))
    ):
        e = make(lit(number, dtype), E.Sub(load, load))
        want = evaluate(e, {load.buffer: {(0,): 1}})
        new = Analyzer().simplify(e)
        assert evaluate(new, {load.buffer: {(0,): 1}}) == want


def test_pinned_values_of_literals_beside_data() -> None:
    load = small_load("int16")
    zero = E.Sub(load, load)
    double = E.Add(lit(-32768, "int16"), lit(-32768, "int16"))  # 0 where it wraps
    cx = Analyzer()
    values = {load.buffer: {(0,): 5}}
    for e, want in (
        (E.Min(double, zero), 0),
        (E.FloorDiv(double, zero), 0),
        (E.Max(E.Add(double, lit(-1, "int16")), E.Sub(zero, lit(3, "int16"))), -1),
        (E.FloorDiv(E.Add(lit(32767, "int16"), lit(1, "int16")), E.Add(zero, lit(2, "int16"))), -16384),
    ):
        assert evaluate(e, values) == want
        new = cx.simplify(e)
        assert type(new) is E.IntImm and new.value == want
    new = cx.simplify(E.LT(double, zero))
    assert type(new) is E.IntImm and new.value == 0 and new.dtype == "bool"
    # Without data the same sum is the mathematical integer.
    exact = E.Min(double, E.IntImm(0, "int16"))
    assert evaluate(cx.simplify(exact), {}) == -65536
