"""Tolerances that follow from the bounds of functions: wide enough for what is promised, and no wider."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.corpus import CORPUS
from tirscript.codegen.llvm.accuracy import bound
from tirscript.testing import accuracy, numbers, random_inputs, run_program
from tirscript.testing.spread import assert_within, moved, tolerances

STEP = 2.0**-23


def test_the_ends_of_what_a_bound_allows() -> None:
    # A number of the dtype itself may move by whole steps only.
    assert moved(1.0, "float32", 0.9, True) == 1.0
    assert moved(1.0, "float32", 2.0, True) == 1 + 2 * STEP
    assert moved(1.0, "float32", 1.1, False) == 1 - STEP  # below 1 steps are half as long
    # Between two numbers: both are at most half a step away.
    middle = 1 + STEP / 2
    assert moved(middle, "float32", 0.5, True) == 1 + STEP and moved(middle, "float32", 0.5, False) == 1.0
    # A quarter above 1: with less than three quarters only 1 is left.
    assert moved(1 + STEP / 4, "float32", 0.6, True) == 1.0
    assert moved(1 + STEP / 4, "float32", 0.76, True) == 1 + STEP
    assert moved(-middle, "float32", 0.5, True) == -1.0 and moved(-middle, "float32", 0.5, False) == -1 - STEP
    # Of numbers below the normal ones the step stays.
    assert (
        moved(2.0**-149, "float32", 1.0, True) == 2.0**-148 and moved(2.0**-149, "float32", 1.0, False) == 0
    )
    assert moved(0.0, "float32", 4.0, True) == 0.0 and moved(math.inf, "float32", 4.0, False) == math.inf
    assert math.isnan(moved(math.nan, "float32", 4.0, False))


def parsed(value: str, dtype: str = "float32") -> Any:
    return ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((64,), "{dtype}"), B: T.Buffer((64,), "{dtype}")):
    for i in range(64):
        B[i] = {value}
""")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_function_may_be_wrong_by_its_bound_and_no_more(dtype: str) -> None:
    program = parsed("T.sin(A[i])", dtype)
    a = np.linspace(0.5, 2.5, 64).astype(dtype)
    b = np.zeros_like(a)
    _, reach, _ = tolerances(program, [a, b], ["scalar"])
    exact = np.sin(a.astype(np.longdouble))
    ulp = np.spacing(np.abs(exact).astype(dtype)).astype("float64")
    limit = bound("sin", dtype, "scalar") + (4 if dtype == "float64" else 0)
    assert (reach > 0).all() and (reach <= 2 * (limit + 0.5) * ulp).all()
    wanted = run_program(program, "meaning", [a, b])
    assert_within(run_program(program, "llvm", [a, b]), wanted, tolerances(program, [a, b]), "llvm", program)
    wrong = [a, wanted[1] + 16 * ulp.astype(dtype), None]
    with pytest.raises(AssertionError, match="argument 1 of llvm at"):
        assert_within(wrong, wanted, [np.zeros(64), reach, np.zeros(())], "llvm", program)


def test_what_is_exact_has_to_be_the_same() -> None:
    a, b = np.linspace(0.1, 4, 64).astype("float32"), np.zeros(64, "float32")
    for value in ("T.sqrt(A[i]) + A[i] / T.float32(3)", "T.floor(A[i]) - T.max(A[i], T.float32(2))"):
        assert not tolerances(parsed(value), [a, b])[1].any()
    # A product is rounded, unless a sum takes it as it is.
    value = "A[i] * A[i] + T.float32(1)"
    assert tolerances(parsed(value), [a, b])[1].any()
    assert not tolerances(parsed(value), [a, b], contract=False)[1].any()
    # Narrower floats are rounded after every operation.
    half = [a.astype("float16"), b.astype("float16")]
    assert not tolerances(parsed("A[i] * A[i] + T.float16(1)", "float16"), half)[1].any()


def test_cancellation_is_seen() -> None:
    """What is left of 1 is small: an error of the function is large beside it."""
    a, b = np.full(64, 1e-3, "float32"), np.zeros(64, "float32")
    reach = tolerances(parsed("T.cos(A[i]) - T.float32(1)"), [a, b])[1]
    assert (reach >= STEP / 2).all() and (reach <= 12 * STEP).all()


@pytest.mark.parametrize("name", ["kernel_softmax", "kernel_layer_norm", "kernel_attention", "math_gelu"])
def test_programs_of_functions_are_held_tightly(name: str) -> None:
    """Some ulp of the results: the tolerance says something."""
    entry = CORPUS[name]
    program = entry.program()
    inputs = random_inputs(program, **entry.options)
    wanted = run_program(program, "meaning", inputs)
    for value, reach in zip(wanted, tolerances(program, inputs), strict=True):
        if isinstance(value, np.ndarray):
            assert (reach <= 64 * STEP * np.maximum(np.abs(value), 1)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", [n for n in (*accuracy.ONE, *accuracy.TWO) if n in numbers.MATHEMATICS])
def test_the_interpreters_own_functions(op: str, dtype: str) -> None:
    """Rounded once; of float64 NumPy's or the C library's."""
    if dtype == "float64" and np.finfo(np.longdouble).nmant <= 60:
        pytest.skip("no wider float to compare with")
    kind = np.dtype(dtype)
    rng = np.random.default_rng(2)
    given = [np.concatenate([accuracy.specials(dtype), (rng.normal(size=200) * 8).astype(kind), np.array(
        [-700, -709.5, -745, 709.5, -87.4, -104, 88.5, -10, 11], kind)])]  # fmt: skip
    if op in accuracy.TWO:
        x, y = np.meshgrid(given[0], np.append(given[0][:60], kind.type(0.5)))
        given = [x.ravel(), y.ravel()]
    wide = np.longdouble if dtype == "float64" else np.float64
    with np.errstate(all="ignore"):
        if op == "ldexp":
            given[1] = np.clip(np.nan_to_num(given[1].astype("float64")), -3000, 3000).astype("int32")
            want = np.ldexp(given[0].astype(wide), given[1])
        else:
            want = accuracy.REFERENCE[op](*[g.astype(wide) for g in given])
        function = numbers.MATHEMATICS[op]
        got = np.array([numbers.nearest(function(*lane), dtype) for lane in
                        zip(*[g.tolist() for g in given], strict=True)])  # fmt: skip
        error = accuracy.errors(got.astype(kind), want, dtype)
    worst = int(np.argmax(error))
    limit = 4.0 if dtype == "float64" and op not in numbers.EXACT else 0.501
    assert error[worst] <= limit, (op, [g[worst] for g in given], got[worst], want[worst])
