"""Checked builds: what a program may not do is said, with its values; right programs give the same."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import tirscript as ts


def checked(text: str) -> Any:
    return ts.build(ts.parse(text), "llvm -checked")


def failure(text: str, *args: Any) -> str:
    """What a call of the program fails with."""
    with pytest.raises(ts.CheckFailed) as caught:
        checked(text)(*args)
    return str(caught.value)


def test_right_programs_run() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    C = T.alloc_buffer((4, 8))
    for i in T.parallel(4):
        for j in T.vectorized(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + C[vi, vk]
"""
    a, b = np.arange(32, dtype="float32").reshape(4, 8), np.zeros(4, "float32")
    checked(text)(a, b)
    np.testing.assert_array_equal(b, (2 * a).sum(1))


@pytest.mark.parametrize("kind", ["serial", "parallel", "unroll", "vectorized"])
def test_an_index_out_of_bounds(kind: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), I: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(4):
        for j in T.{kind}(8):
            A[i, I[j] + n] = T.float32(1)
"""
    a, at = np.zeros((4, 8), "float32"), np.arange(8, dtype="int32")
    checked(text)(a, at, 0)
    assert a.all()
    said = failure(text, a, at, 3)
    assert "A[0, 8] is out of bounds: the shape of A is (4, 8)" in said
    assert "i = 0" in said and "j = 5" in said
    assert ":6:" in said and "A[i, I[j] + n]" in said
    assert "A[0, -1]" in failure(text, a, at, -1)


def test_reads_and_views_and_symbolic_shapes() -> None:
    text = """
@T.prim_func
def f(a: T.handle, O: T.Buffer((), "float32"), k: T.int64):
    n = T.int64()
    s = T.int64()
    A = T.match_buffer(a, (n,), "float32", strides=[s])
    O[()] = A[k]
"""
    a, o = np.arange(20, dtype="float32")[::2], np.zeros((), "float32")
    checked(text)(a, o, 9)
    assert o == 18
    assert "A[10] is out of bounds: the shape of A is (10)" in failure(text, a, o, 10)


def test_a_guard_protects() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), O: T.Buffer((6,), "float32")):
    for i in range(6):
        O[i] = T.if_then_else(i >= 1 and i < 5 and A[i - 1] > T.float32(0), A[i - 1], T.float32(-1))
"""
    o = np.zeros(6, "float32")
    checked(text)(np.array([1, 2, 0, 4], "float32"), o)
    assert o.tolist() == [-1, 1, 2, -1, 4, -1]


@pytest.mark.parametrize(
    "op", ["A[i] // (i - n)", "A[i] % (i - n)", "T.truncdiv(A[i], i - n)", "12 // (i - n)"]
)
def test_division_by_zero(op: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(8):
        A[i] = {op}
"""
    a = np.full(8, 12, "int32")
    checked(text)(a, 20)
    said = failure(text, a, 3)
    assert "division by zero" in said and "i - n" in said and "i = 3" in said


def test_exact_integers_beyond_64_bits() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((2,), "int64"), n: T.int64):
    for i in range(2):
        A[i] = n * n + i
"""
    a = np.zeros(2, "int64")
    checked(text)(a, 3_000_000_000)
    assert a.tolist() == [9 * 10**18, 9 * 10**18 + 1]
    said = failure(text, a, -4_000_000_000)
    assert "`n * n` of -4000000000 and -4000000000 does not fit 64 bits" in said


def test_data_wrap_without_a_word() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((2,), "int32")):
    for i in range(2):
        A[i] = A[i] * A[i]
"""
    a = np.array([70000, -70000], "int32")
    with np.errstate(over="ignore"):
        want = a * a
    checked(text)(a)
    np.testing.assert_array_equal(a, want)


def test_asserts_tell_their_values() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), n: T.int32):
    for i in range(4):
        assert A[i] * T.float32(2) < T.Cast("float32", n), "too big"
"""
    for target in ("llvm", "llvm -checked"):
        f = ts.build(ts.parse(text), target)
        with pytest.raises(ts.AssertFailed, match="too big") as caught:
            f(np.arange(4, dtype="float32"), 3)
        said = str(caught.value)
        side = "A[i] * T.float32(2)" if target == "llvm -checked" else "the left side"
        for word in (f"{side} = 4.0", "i = 2", "n = 3", ":5:"):
            assert word in said


def test_the_first_iteration_of_a_parallel_loop_wins() -> None:
    text = """
@T.prim_func
def f(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    for i in T.parallel(n):
        A[i + A[i]] = 0
"""
    a = np.zeros(10_000, "int32")
    a[[77, 9_000]] = 20_000
    for _ in range(5):
        assert "i = 77" in failure(text, a.copy())


def test_floats_of_16_bits_and_bools_are_told() -> None:
    text = """
@T.prim_func
def f(x: T.float16, b: T.bool, u: T.uint64):
    assert x > T.float16(1) and b and u > T.uint64(0), "no"
"""
    with pytest.raises(ts.AssertFailed) as caught:
        ts.build(ts.parse(text))(0.5, True, 2**64 - 1)
    for word in ("x = 0.5", "b = True", f"u = {2**64 - 1}"):
        assert word in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_stops_a_long_loop() -> None:
    f = checked("""
@T.prim_func
def f(A: T.Buffer((1,), "float32")):
    for i in range(2000000000):
        A[0] = T.sqrt(A[0]) + T.float32(1)
""")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f(np.ones(1, "float32"))
    assert time.perf_counter() - start < 10
    a = np.ones(1, "float32")
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        f(a)
