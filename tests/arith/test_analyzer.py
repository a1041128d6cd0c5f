"""The analyzer's questions: what is known, for how long, and what is shown of a result."""

from __future__ import annotations

from typing import Any

import pytest

from tirscript.arith import (
    Analyzer,
    ConstIntBound,
    ModularSet,
    can_prove,
    is_exact,
    simplify,
    to_linear,
)
from tirscript.arith.evaluate import CannotEvaluate, evaluate
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import Expr, Range, Var, const_int

i, j, n, m, x, y = (Var(v) for v in "ijnmxy")
DATA = make_buffer("A", (const_int(8),), "int32")
FLOAT = make_buffer("F", (const_int(8),), "float32")


def within(**extents: Any) -> Analyzer:
    cx = Analyzer()
    names = {"i": i, "j": j, "x": x, "y": y}
    for name, extent in extents.items():
        cx.bind(names[name], Range(const_int(0), ops.as_expr(extent)))
    return cx


def gives(e: Expr, want: Any, cx: Analyzer | None = None) -> bool:
    got = (cx or Analyzer()).simplify(e)
    assert structural_equal(got, ops.as_expr(want)), (got, want)
    return True


def test_what_is_simple_stays_the_same_object() -> None:
    for e in (
        i + j,
        i * 4 + j,
        i * 4 + j < 18,
        ops.load(DATA, [i * 4 + j]) + 1,
        ops.minimum(i, j),
        i // 4 * n + j % 4,
    ):
        assert simplify(e) is e
    load = ops.load(FLOAT, [i]) * 2.0
    assert simplify(load) is load


def test_terms_keep_their_order() -> None:
    assert gives(i * 4 + 0 + j, i * 4 + j)
    assert gives(1 + i, i + 1)
    assert gives(3 - i, 3 - i)
    assert gives(j - 5 + i * 2, j + i * 2 - 5)
    assert gives((i * 4 + j) // 8 * 8 + (i * 4 + j) % 8, i * 4 + j, within(i=8, j=4))
    assert gives(ops.gt(20, i + 2), i < 18)


def test_products_are_not_multiplied_out_in_the_result() -> None:
    e = (i * 4 + j) * n + x
    assert simplify(e) is e
    assert gives((i * 4 + j + 0) * n, (i * 4 + j) * n)
    assert can_prove(ops.eq((i + j) * n, i * n + j * n))


def test_ranges() -> None:
    cx = within(i=8, j=4)
    assert cx.const_bounds(i * 4 + j) == (0, 31)
    assert cx.const_bounds(i * -4 + j) == (-28, 3)
    assert cx.const_bounds((i - 4) // 2) == (-2, 1)
    assert cx.const_bounds(ops.truncdiv(i - 4, 3)) == (-1, 1)
    assert cx.const_bounds(i - i) == (0, 0)
    assert cx.const_bounds(ops.load(DATA, [i]) % 8) == (0, 7)
    assert cx.const_bounds(ops.load(DATA, [i]) + 1) == (-(2**31), 2**31 - 1)
    assert cx.const_bounds(E.Cast("int32", ops.load(FLOAT, [i]) < 1.0)) == (0, 1)
    assert cx.const_bounds(x // y) == (None, None)
    assert cx.const_bounds(ops.select(i < 3, i, 3)) == (0, 7)


def test_symbolic_ranges() -> None:
    cx = within(i=m, j=n)
    assert cx.can_prove(i < m) and cx.can_prove(n >= 1) and not cx.can_prove(n >= 2)
    assert cx.can_prove(i * n + j < m * n)
    assert cx.can_prove(ops.le(i * n + j + 1, m * n))
    assert not cx.can_prove(i * m + j < m * n)
    assert gives((i * n + j) // n, i, cx)
    assert gives((i * n + j) % n, j, cx)
    assert can_prove(n // 4 * 4 <= n) and can_prove(n < n // 4 * 4 + 4)
    assert can_prove((n + 3) // 4 * 4 >= n)


def test_quotients_of_ordered_numbers_are_ordered() -> None:
    cx = within(i=n)
    for c in (2, 3, 7):
        assert cx.can_prove(i // c <= (n - 1) // c)
        assert cx.can_prove(i // c < (n + c - 1) // c)
        assert not cx.can_prove(i // c < n // c)


def test_digits_are_one_however_they_are_written() -> None:
    cx = within(i=1000, j=16)
    for e in (i, i + 9, i * 2 + j, i * 3 - j - 5):
        for c, d in ((4, 4), (2, 3), (3, 8)):
            assert cx.can_prove_equal(e % (c * d) // c, e // c % d)
            assert not cx.can_prove_equal(e % (c * d) // c, e // c % (d + 1))
            assert cx.can_prove_equal(e // c * c + e % c, e)
            assert cx.can_prove_equal(e // (c * d) * (c * d) + e // c % d * c + e % c, e)
    # A smaller bound is found in the other form: 16 * x // 3 is 0, 5, 10, 16, 21.
    x5 = within(x=5)
    assert x5.can_prove(x * 16 // 3 % 16 <= 10) and not x5.can_prove(x * 16 // 3 % 16 <= 9)


def test_parts_of_a_number_are_joined() -> None:
    assert gives(i // 4 * 4 + i % 4, i)
    assert gives(i // 12 % 3 * 12 + i % 12, i % 36)
    assert gives(i % 36 // 12 * 12 + i % 12 // 4 * 4 + i % 4, i % 36)
    assert gives(i // 32 * 32 + i // 8 % 4 * 8 + i % 8, i)
    assert gives(i // 32 * 64 + i // 8 % 4 * 16 + j, i // 8 * 16 + j)
    # Where the coefficients were reduced on one side.
    assert gives(i * 16 // 3 * 3 + i * 16 % 3, i * 16)
    assert gives((i * 16 + j) // 3 * 6 + (i * 16 + j) % 3 * 2, i * 32 + j * 2)
    # Not these.
    for e in (i // 4 * 4 + j % 4, i // 4 * 8 + i % 4, i // 12 % 3 * 12 + i % 6, i // 4 * 4 + i % 2):
        assert simplify(e) is e


def test_coefficients_of_remainders_are_small() -> None:
    assert gives((i * -2 + j) % 3, (i + j) % 3)
    assert gives((i * 17 - j) % 8, (i - j) % 8)
    assert gives((i * 16 + j * 8) % 12, (i + j * 2) % 3 * 4)
    assert simplify((i - j) % 64) is not None
    e = (i * 32 - j) % 64
    assert simplify(e) is e


def test_constraints_hold_inside_only() -> None:
    cx = within(i=8)
    with cx.constraint(ops.logical_and(i >= 2, i < 5)):
        assert cx.const_bounds(i) == (2, 4)
        with cx.constraint(ops.ne(i, 2)):
            assert cx.const_bounds(i) == (3, 4)
    assert cx.const_bounds(i) == (0, 7)
    with cx.constraint(ops.eq(n % 4, 0)):
        assert cx.modular(n * 2 + 1) == (8, 1)
        assert gives(ops.eq(n % 2, 0), True, cx)
    assert cx.modular(n) == (1, 0)
    with cx.constraint(x < y):
        assert cx.can_prove(x + 1 <= y) and cx.can_prove(ops.ne(x, y))
    assert not cx.can_prove(x < y)


def test_conditions_on_data_are_not_remembered() -> None:
    # A store may lie between: only exact conditions are facts.
    cx = Analyzer()
    e = ops.load(DATA, [0]) < 3
    with cx.constraint(e):
        assert cx.decided(e) is None


def test_values() -> None:
    cx = Analyzer()
    cx.bind(x, i * 4)
    assert gives(x + j, i * 4 + j, cx)
    cx.bind(y, 7)
    assert gives(y + 1, 8, cx)
    cx.bind_modular(n, 16, 0)
    assert cx.modular(n // 4) == (4, 0)


def test_exact_and_data_integers() -> None:
    assert (
        is_exact(i * 4 + n // 2) and is_exact(ops.if_then_else(i < 3, i, n)) and is_exact(E.Cast("int64", i))
    )
    load = ops.load(DATA, [i])
    for e in (
        load,
        load + i,
        E.Cast("int64", load),
        ops.shift_left(i, 1),
        Var("v", "int32", False),
        ops.select(load < 1, i, j),
    ):
        assert not is_exact(e)
        assert to_linear(e) is None
    # Data may wrap: nothing is moved across the comparison.
    e = load + 1 < i + 1
    assert simplify(e) is e
    assert can_prove(x < x + 1) and not can_prove(load < load + 1)


def test_what_data_has_become_stays_data() -> None:
    # n + 5 may leave int32, where the sum of data wraps.
    load = ops.load(DATA, [i])
    e = (load - load + 5) + n
    assert not is_exact(simplify(e)) or structural_equal(simplify(e), e)
    assert gives(load - load + 5, 5)


def test_floats() -> None:
    f = ops.load(FLOAT, [i])
    for kept in (f * 0.0, f - f, f / f, f + 0.0, 0.0 / f, ops.eq(f, f)):
        assert simplify(kept) is kept
    for gone in (f * 1.0, 1.0 * f, f / 1.0, f - 0.0, f + -0.0, ops.minimum(f, f)):
        assert simplify(gone) is f


def test_effects_are_kept() -> None:
    call = ops.call("call_extern", E.StringImm("f"), dtype="int32")
    for e in (call - call, call * 0, E.FloorMod(call, const_int(1))):
        assert simplify(e) is e
    both = within(i=8).simplify(ops.select(i < 8, i, call))
    assert isinstance(both, E.Select) and both.false_value is call


def test_short_circuits_keep_their_guard() -> None:
    guarded = ops.logical_and(i < 8, ops.load(DATA, [i]) < 3)
    assert simplify(guarded) is guarded
    assert gives(ops.if_then_else(x < 8, ops.minimum(x, 9), 0), ops.if_then_else(x < 8, x, 0))


def test_vectors() -> None:
    ramp = E.Ramp(i * 4, const_int(1), 4)
    assert gives(ramp + E.Broadcast(const_int(3), 4), E.Ramp(i * 4 + 3, const_int(1), 4))
    assert gives(ramp * E.Broadcast(const_int(2), 4), E.Ramp(i * 8, const_int(2), 4))
    one = E.Broadcast(ops.const(1.0), 4)
    assert gives(one + one, E.Broadcast(ops.const(2.0), 4))
    # The lanes of a remainder need not be a ramp.
    crossing = E.FloorMod(ramp, E.Broadcast(const_int(6), 4))
    assert type(simplify(crossing)) is E.FloorMod


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64"])
def test_other_widths(dtype: str) -> None:
    v = Var("v", dtype)
    assert gives((v + 3) - v, ops.const(3, dtype))
    assert gives(v * 4 // 4, v)
    assert simplify(v - 3).dtype == dtype


def test_conversions_between_widths() -> None:
    wide = E.Cast("int64", i)
    assert can_prove(ops.eq(wide * 4, E.Cast("int64", i * 4)))
    narrow = E.Cast("int32", Var("w", "int64"))
    assert simplify(narrow) is narrow
    cx = Analyzer()
    w = Var("w", "int64")
    cx.bind(w, Range(ops.const(0, "int64"), ops.const(10, "int64")))
    assert cx.can_prove(E.Cast("int32", w) < 10)


def test_constants_that_do_not_fit_are_not_made() -> None:
    e = (i * 268435456 + 1) * (i * 8)
    assert simplify(e) is e
    e = i + 2147483647 + 1
    assert simplify(e) is e


def test_deep_expressions() -> None:
    e: Expr = x
    for q in range(5000):
        e = e + (i if q % 2 else 3)
    assert gives(e, x + i * 2500 + 7500)
    load: Expr = ops.load(FLOAT, [0])
    for q in range(5000):
        load = load + ops.load(FLOAT, [q % 8])
    assert simplify(load) is load


def test_evaluation() -> None:
    assert evaluate(ops.if_then_else(i < 3, i * 4 + 1, ops.truncdiv(i, -2)), {i: 7}) == -3
    for e in (ops.load(DATA, [i]), i // (j - j), n):
        with pytest.raises(CannotEvaluate):
            evaluate(e, {i: 1, j: 2})


def test_the_names_that_tvm_uses() -> None:
    cx = within(i=8, j=4)
    assert cx.const_int_bound(i * -4 + j) == (-28, 3)
    assert (cx.const_int_bound(i).min_value, cx.const_int_bound(i).max_value) == (0, 7)
    free = Analyzer().const_int_bound(x // y)
    assert free == (ConstIntBound.NEG_INF, ConstIntBound.POS_INF)
    assert (cx.modular_set(i * 8 + 3).coeff, cx.modular_set(i * 8 + 3).base) == (8, 3)
    assert cx.rewrite_simplify((i * 4 + j) // 4) is i and cx.canonical_simplify(i + j - j) is i
    with cx.constraint_scope(i > 5):
        assert cx.const_int_bound(i) == (6, 7)
    assert cx.const_int_bound(i) == (0, 7)
    cx.update(n, ConstIntBound(1, 64))
    cx.update(n, ModularSet(4, 0))
    assert cx.can_prove(n >= 1) and cx.can_prove_equal(n % 4, 0)
    assert cx.can_prove_greater_equal(n + i, 1) and not cx.can_prove_greater_equal(n - i, 1)
    assert cx.can_prove_less(i + j, 11) and not cx.can_prove_less(i + j, 10)
    assert cx.can_prove_greater_equal(ops.load(DATA, [i]) % 8, 0)
    with pytest.raises(ValueError, match="n are known to be 1 and 64"):
        cx.update(n, ConstIntBound(0, 9))
    cx.update(n, ConstIntBound(0, 9), override=True)
    assert cx.const_int_bound(n) == (0, 9)
    cx.update(m, ConstIntBound(0, ConstIntBound.POS_INF))
    assert cx.can_prove(m >= 0)


def test_a_long_chain_of_choices_takes_a_visit_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch is simplified once: twice would be 2**60 visits here."""
    i = Var("i", "int32")
    chain: Expr = const_int(60)
    for n in range(59, -1, -1):
        chain = E.Select(E.EQ(i, const_int(n)), const_int(n), chain)
    visits = 0
    visit = Analyzer._visit

    def counted(self: Analyzer, e: Expr) -> object:
        nonlocal visits
        visits += 1
        return visit(self, e)

    monkeypatch.setattr(Analyzer, "_visit", counted)
    Analyzer().simplify(chain)
    assert visits < 5000
