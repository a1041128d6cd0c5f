"""Exact integers are mathematical until they are stored or cast; mixed with data they are data."""

from __future__ import annotations

import numpy as np

from tests.codegen.lowered import buffer, build, function, load, loop, ramp, store
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Broadcast, Cast, IntImm, Select, Var, const_int
from tirscript.ir.stmt import LetStmt


def test_products_of_loop_variables_do_not_wrap() -> None:
    out = buffer("O", 100, dtype="int64")
    f = function([out], loop(100, lambda i: store(out, ops.floordiv(i * 100000000 * 100, 100), i)))
    o = np.zeros(100, "int64")
    build(f)(o)
    np.testing.assert_array_equal(o, np.arange(100) * 100000000)


def test_a_store_reduces() -> None:
    out = buffer("O", 300, dtype="int8")
    f = function([out], loop(300, lambda i: store(out, i * 7, i)))
    o = np.zeros(300, "int8")
    build(f)(o)
    np.testing.assert_array_equal(o, (np.arange(300) * 7).astype("int8"))


def test_a_cast_reduces_and_stays_exact() -> None:
    out = buffer("O", 300, dtype="int32")
    f = function([out], loop(300, lambda i: store(out, Cast("int32", Cast("int8", i)) * 1000, i)))
    o = np.zeros(300, "int32")
    build(f)(o)
    np.testing.assert_array_equal(o, np.arange(300).astype("int8").astype("int32") * 1000)


def test_mixed_with_data_wraps_at_the_dtype() -> None:
    a, out = buffer("A", 300, dtype="int32"), buffer("O", 300, dtype="int64")
    value = lambda i: Cast("int64", load(a, i) + i * 1000000000)  # noqa: E731
    f = function([a, out], loop(300, lambda i: store(out, value(i), i)))
    x = np.arange(300, dtype="int32") * 1000
    o = np.zeros(300, "int64")
    build(f)(x, o)
    want = [dt.wrap(int(v) + dt.wrap(i * 1000000000, "int32"), "int32") for i, v in enumerate(x)]
    np.testing.assert_array_equal(o, want)


def test_negative_loop_bounds_and_division() -> None:
    out = buffer("O", 41, 6, dtype="int32")
    forms = [lambda i: ops.floordiv(i, 7), lambda i: ops.floormod(i, 7), lambda i: ops.truncdiv(i, 7),
             lambda i: ops.truncmod(i, 7), lambda i: ops.floordiv(i, -8),
              lambda i: ops.floormod(i, 8)]  # fmt: skip
    from tirscript.ir.stmt import seq

    body = loop(41, lambda i: seq(*[store(out, f(i), i + 20, k) for k, f in enumerate(forms)]), low=-20)
    o = np.zeros((41, 6), "int32")
    build(function([out], body))(o)
    for i in range(-20, 21):
        cut = int(i / 7)
        assert o[i + 20].tolist() == [i // 7, i % 7, cut, i - cut * 7, i // -8, i % 8]


def test_division_by_a_loop_variable() -> None:
    out = buffer("O", 21, 21, dtype="int32")
    body = loop(
        21, lambda i: loop(21, lambda j: store(out, ops.floordiv(i * 3 - 30, j - 10), i, j), name="j")
    )
    o = np.zeros((21, 21), "int32")
    build(function([out], body))(o)
    for i in range(21):
        assert o[i].tolist() == [(i * 3 - 30) // d if (d := j - 10) else 0 for j in range(21)]


def test_conversion_to_float() -> None:
    out = buffer("O", 64, dtype="float32")
    body = loop(
        8,
        lambda i: store(out, Cast("float32x8", ramp(i * 8, 8) * Broadcast(const_int(3), 8)), ramp(i * 8, 8)),
    )
    o = np.zeros(64, "float32")
    build(function([out], body))(o)
    np.testing.assert_array_equal(o, np.arange(64, dtype="float32") * 3)


def test_wide_constants() -> None:
    values = [
        (2**64 - 1, "uint64"),
        (2**63, "uint64"),
        (-(2**63), "int64"),
        (2**63 - 1, "int64"),
        (2**32 - 1, "uint32"),
    ]
    for v, dtype in values:
        out, g, h = (
            buffer("O", 1, dtype=dtype),
            buffer("G", 1, dtype="float32"),
            buffer("H", 1, dtype="float64"),
        )
        number = IntImm(v, dtype)
        f = function(
            [out, g, h],
            store(out, number, 0),
            store(g, Cast("float32", number), 0),
            store(h, Cast("float64", number), 0),
        )
        o, x, y = np.zeros(1, dtype), np.zeros(1, "float32"), np.zeros(1, "float64")
        build(f)(o, x, y)
        assert int(o[0]) == v and x[0] == np.array(v, dtype).astype("float32") and y[0] == float(v)


def test_lets_are_what_their_values_are() -> None:
    a, out = buffer("A", 4, dtype="int8"), buffer("O", 4, 2, dtype="int32")
    exact, data = Var("e", "int32", True), Var("d", "int8", False)

    def body(i: Var):  # type: ignore[no-untyped-def]
        from tirscript.ir.stmt import seq

        stores = seq(
            store(out, Cast("int32", data * 2), i, 0), store(out, ops.floordiv(exact * 4000000, 2000), i, 1)
        )
        return LetStmt(exact, i * 1000, LetStmt(data, load(a, i), stores))

    x = np.array([100, -100, 127, 1], "int8")
    o = np.zeros((4, 2), "int32")
    build(function([a, out], loop(4, body)))(x, o)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(o[:, 0], x * np.int8(2))
    np.testing.assert_array_equal(o[:, 1], np.arange(4) * 2000000)


def test_select_of_exact_values_under_a_data_condition_is_data() -> None:
    a, out = buffer("A", 2, dtype="int32"), buffer("O", 2, dtype="int64")
    value = lambda i: Cast("int64", Select(ops.gt(load(a, i), 0), i + 2147483647, i) + 1)  # noqa: E731
    f = function([a, out], loop(2, lambda i: store(out, value(i), i)))
    o = np.zeros(2, "int64")
    build(f)(np.array([1, 0], "int32"), o)
    assert o.tolist() == [-2147483648, 2]
