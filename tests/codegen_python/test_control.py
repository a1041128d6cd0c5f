# ruff: noqa: E501
"""Control on the python target: jumps, lazy evaluation, lets, asserts, calls, what is not there yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.python import compile_python


def run(text: str, *arrays: Any) -> Any:
    return compile_python(ts.parse(text))["f"](*arrays)


def test_break_and_continue_belong_to_the_innermost_loop() -> None:
    a = np.zeros((3, 6), "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((3, 6), "int32")):
    for i in range(3):
        for j in range(6):
            if j == 1:
                continue
            if j == i + 3:
                break
            A[i, j] = 1
""",
        a,
    )
    assert a.tolist() == [[int(j != 1 and j < i + 3) for j in range(6)] for i in range(3)]


def test_while_evaluates_its_condition_each_time() -> None:
    a = np.array([100], "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((1,), "int32")):
    while A[0] > 10 and A[0] % 7 != 0:
        A[0] = A[0] - 3
""",
        a,
    )
    x = 100
    while x > 10 and x % 7:
        x -= 3
    assert a[0] == x


@pytest.mark.parametrize(
    "value",
    ["A[9 + i] if i > 5 else 7", "T.if_then_else(i > 5, A[9 + i], 7)"],
)
def test_only_the_needed_branch_is_read(value: str) -> None:
    a, out = np.zeros(4, "int32"), np.zeros(4, "int32")
    run(
        f'@T.prim_func\ndef f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):\n    for i in range(4):\n        O[i] = {value}\n',
        a,
        out,
    )
    assert out.tolist() == [7] * 4


def test_and_or_stop_early() -> None:
    out = np.zeros(4, "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
    for i in range(4):
        if i < 3 and A[i + 1] > 0:
            O[i] = 1
        if i >= 3 or A[i + 1] > 0:
            O[i] = O[i] + 2
""",
        np.ones(4, "int32"),
        out,
    )
    assert out.tolist() == [3, 3, 3, 2]


def test_let_is_evaluated_once_where_it_stands() -> None:
    a, out = np.array([5], "int32"), np.zeros(2, "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((1,), "int32"), O: T.Buffer((2,), "int32")):
    x: T.int32 = A[0]
    A[0] = 9
    O[0] = x
    O[1] = T.Let(y * y, where={y: A[0] - x})
""".replace("    x: T.int32", "    y = T.int32()\n    x: T.int32"),
        a,
        out,
    )
    assert out.tolist() == [5, 16]


def test_returned_values_are_python_numbers() -> None:
    value = run("@T.prim_func\ndef f(x: T.float32) -> T.float32:\n    T.ret(x * T.float32(0.1))\n", 3.0)
    assert type(value) is float and value == float(np.float32(3) * np.float32(0.1))
    assert run("@T.prim_func\ndef f(n: T.int32) -> T.int32:\n    T.ret(n // -2)\n", 5) == -3


def test_asserts_say_message_and_line() -> None:
    program = ts.parse(
        '@T.prim_func\ndef f(A: T.Buffer((2,), "int32")):\n    assert A[0] == A[1], "both are equal"\n    A[0] = 1\n',
        filename="mine.py",
    )
    call = compile_python(program)["f"]
    call(np.array([4, 4], "int32"))
    with pytest.raises(ts.AssertFailed) as raised:
        call(np.array([4, 5], "int32"))
    assert "both are equal" in str(raised.value) and "mine.py:3" in str(raised.value)


def test_functions_call_each_other() -> None:
    program = ts.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def square(x: T.int32) -> T.int32:
        T.ret(x * x)

    @T.prim_func
    def main(A: T.Buffer((4,), "int32")):
        for i in range(4):
            A[i] = Module.square(A[i]) + Module.square(i)
""")
    a = np.array([1, -2, 3, -4], "int32")
    compile_python(program)["main"](a)
    assert a.tolist() == [1 + 0, 4 + 1, 9 + 4, 16 + 9]


def test_buffers_passed_to_another_function() -> None:
    program = ts.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = A[i] * T.float32(2)

    @T.prim_func
    def main(A: T.Buffer((2, 4), "float32")):
        Module.double(A.data)
""")
    a = np.arange(8, dtype="float32").reshape(2, 4)
    compile_python(program)["main"](a)
    assert a.tolist() == [[0, 2, 4, 6], [8, 10, 12, 14]]


@pytest.mark.parametrize(
    "statement, word",
    [
        ('T.call_extern("int32", "some_c_function", A.data)', "some_c_function"),
        ("T.ptx_commit_group()", "ptx_commit_group"),
        ('T.tvm_storage_sync("shared")', "tvm_storage_sync"),
    ],
)
def test_what_it_cannot_run_is_said_at_build(statement: str, word: str) -> None:
    text = f'@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n    {statement}\n'
    with pytest.raises(ts.NotYetError, match=word) as raised:
        ts.build(ts.parse(text), target="python")
    assert "^" in str(raised.value)


def test_numpy_warnings_do_not_escape() -> None:
    """Overflow and division by zero mean something here: they are no surprise to be told."""
    a = np.array([2**31 - 1, 0], "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "float32")):
    A[0] = A[0] + 1
    A[0] = A[0] // A[1]
    B[0] = B[0] / B[1]
""",
        a,
        np.zeros(2, "float32"),
    )
    assert a.tolist() == [0, 0]
