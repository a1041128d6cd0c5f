# ruff: noqa: E501
"""Inputs for any signature, and comparison that finds what differs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirscript as ts
from tirscript.testing import check_against_reference, random_inputs, run_program

DOUBLE = """
@T.prim_func
def f(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4, 3), "float32")):
    for i, j in T.grid(4, 3):
        B[i, j] = A[i, j] * T.float32(2)
"""


def test_inputs_are_repeatable_and_of_the_signature() -> None:
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((4,), "int8"), B: T.Buffer((2, 3), "bfloat16"), C: T.Buffer((5,), "bool"), D: T.Buffer((2,), "uint4"), n: T.int32, x: T.float64):
    A[0] = T.int8(1)
""")
    first, second = random_inputs(program, 3), random_inputs(program, 3)
    shapes = [(a.dtype, a.shape) for a in first[:4]]
    assert shapes == [
        (np.dtype("int8"), (4,)),
        (np.dtype(ml_dtypes.bfloat16), (2, 3)),
        (np.dtype(bool), (5,)),
        (np.dtype(ml_dtypes.uint4), (2,)),
    ]
    assert type(first[4]) is int and type(first[5]) is float
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, random_inputs(program, 4), strict=True))


def test_symbols_are_one_number_everywhere() -> None:
    program = ts.parse("""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m * 2, T.ceildiv(n, 4)), "float32")
    A[0, 0] = B[0, 0]
""")
    a, b, n = random_inputs(program, symbols={"n": 10, "m": 3})
    assert (a.shape, b.shape, n) == ((10, 3), (6, 3), 10)
    a, b, n = random_inputs(program, size=8)
    assert (a.shape, b.shape, n) == ((8, 8), (16, 2), 8)


def test_symbolic_strides_are_no_dense_ones() -> None:
    program = ts.parse("""
@T.prim_func
def f(a: T.handle):
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, (4, 5), "float32", strides=[s, t])
    A[0, 0] = T.float32(0)
""")
    (a,) = random_inputs(program)
    assert not a.flags.c_contiguous and a.shape == (4, 5)


def test_ranges() -> None:
    program = ts.parse(
        '@T.prim_func\ndef f(A: T.Buffer((99,), "uint8"), B: T.Buffer((99,), "float32")):\n    A[0] = T.uint8(0)\n'
    )
    a, b = random_inputs(program, ints=(-5, 3), floats=(2.0, 2.5))
    assert set(a.tolist()) == {0, 1, 2}
    assert b.min() >= 2 and b.max() < 2.5


def test_agreement_with_a_reference() -> None:
    def double(a: Any, b: Any) -> None:
        b[...] = a * 2

    values = check_against_reference(ts.parse(DOUBLE), double)
    assert np.array_equal(values[1], values[0] * 2)


def test_a_wrong_reference_is_found() -> None:
    def triple(a: Any, b: Any) -> None:
        b[...] = a * 3

    with pytest.raises(AssertionError, match="argument 1 differs between python and the reference"):
        check_against_reference(ts.parse(DOUBLE), triple, targets=["python"])


def test_results_are_compared_too() -> None:
    program = ts.parse("@T.prim_func\ndef f(n: T.int32) -> T.int32:\n    T.ret(n * n)\n")
    assert check_against_reference(program, lambda n: n * n, [7])[-1] == 49
    with pytest.raises(AssertionError, match="argument 1 differs"):
        check_against_reference(program, lambda n: n + n, [7], targets=["python"])


def test_exact_comparison_sees_the_last_bit() -> None:
    def nearly(a: Any, b: Any) -> None:
        b[...] = np.nextafter(a * 2, np.float32(np.inf))

    check_against_reference(ts.parse(DOUBLE), nearly, targets=["python"])
    with pytest.raises(AssertionError):
        check_against_reference(ts.parse(DOUBLE), nearly, targets=["python"], exact=True)


def test_inputs_are_not_changed() -> None:
    inputs = random_inputs(ts.parse(DOUBLE))
    before = [a.copy() for a in inputs]
    run_program(ts.parse(DOUBLE), "python", inputs)
    assert all(np.array_equal(a, b) for a, b in zip(inputs, before, strict=True))
