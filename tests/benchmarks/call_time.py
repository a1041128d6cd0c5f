"""The cost of a call: c = a + b on three float32 arrays of 1024 elements, with all checks.

    python tests/benchmarks/call_time.py

All rows are measured in turns in one process, on the same arrays; the bare kernel is called from compiled
code, so its row is the kernel's own time.  The numbers are the medians of the turns; the differences that
have a goal are taken within each turn first.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tirscript as ts
from tirscript import nd
from tirscript.runtime import jit
from tirscript.script import from_source

ADD = """
@T.prim_func
def add({params}):
{symbols}    for i in range(1024):
        C[i] = A[i] + B[i]
"""
_LOOP = """
define void @bare(ptr %f, ptr %a, ptr %b, ptr %c, i64 %count) {
  br label %next
next:
  %k = phi i64 [ %count, %0 ], [ %k1, %next ]
  %status = call i32 %f(ptr %a, ptr %b, ptr %c)
  %k1 = sub i64 %k, 1
  %more = icmp ne i64 %k1, 0
  br i1 %more, label %next, label %out
out:
  ret void
}
"""
# Nanoseconds above the bare kernel.
GOAL = 150


def program(symbolic: bool = False) -> Any:
    names = "ABC"
    if symbolic:
        params = ", ".join(f"{n}_: T.handle" for n in names)
        lines = ["n = T.int64()", *[f'{n} = T.match_buffer({n}_, (n,), "float32")' for n in names]]
        text = ADD.format(params=params, symbols="".join(f"    {line}\n" for line in lines))
    else:
        text = ADD.format(params=", ".join(f'{n}: T.Buffer((1024,), "float32")' for n in names), symbols="")
    return from_source(text)


def per_call(run: Callable[[], Any], number: int) -> float:
    turns = range(number)
    start = time.perf_counter()
    for _ in turns:
        run()
    return (time.perf_counter() - start) / number * 1e9


def measure(rounds: int, number: int) -> dict[str, list[float]]:
    built, symbolic = ts.build(program()), ts.build(program(True))
    f: Any = built["add"]
    g: Any = symbolic["add"]
    a, b, c = (np.random.default_rng(k).random(1024, "float32") for k in range(3))
    x, y, z = nd.array(a), nd.array(b), nd.array(c)
    address = f.__self__._owner.addresses["ts.add"]
    code = jit.load(_LOOP, ["bare"], jit.Machine(), {}, ())
    bare = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(code.addresses["bare"])
    pointers = [v.ctypes.data for v in (a, b, c)]

    def kernel() -> float:
        start = time.perf_counter()
        bare(address, *pointers, number)
        return (time.perf_counter() - start) / number * 1e9

    # Each row is a loop of its own, so that what is timed is one call instruction of Python.
    def numpy_arrays() -> float:
        turns = range(number)
        start = time.perf_counter()
        for _ in turns:
            f(a, b, c)
        return (time.perf_counter() - start) / number * 1e9

    def nd_arrays() -> float:
        turns = range(number)
        start = time.perf_counter()
        for _ in turns:
            f(x, y, z)
        return (time.perf_counter() - start) / number * 1e9

    def with_symbols() -> float:
        turns = range(number)
        start = time.perf_counter()
        for _ in turns:
            g(a, b, c)
        return (time.perf_counter() - start) / number * 1e9

    def np_add() -> float:
        add = np.add
        turns = range(number)
        start = time.perf_counter()
        for _ in turns:
            add(a, b, out=c)
        return (time.perf_counter() - start) / number * 1e9

    def empty_loop() -> float:
        turns = range(number)
        start = time.perf_counter()
        for _ in turns:
            pass
        return (time.perf_counter() - start) / number * 1e9

    slow = f.__self__
    rows: dict[str, Callable[[], float]] = {
        "bare kernel": kernel, "call, NumPy arrays": numpy_arrays, "call, nd.array": nd_arrays,
        "call, symbolic shape": with_symbols, "np.add(a, b, out=c)": np_add, "empty loop": empty_loop,
        "slow path": lambda: per_call(lambda: slow(a, b, c), max(number // 50, 1)),
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in rows}
    for turn in range(rounds + 1):
        for name, run in rows.items():
            took = run()
            if turn:
                found[name].append(took)
    np.testing.assert_array_equal(c, a + b)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--number", type=int, default=2000)
    options = parser.parse_args()
    found = measure(options.rounds, options.number)
    for name, times in found.items():
        print(f"{name:24} {statistics.median(times):9.1f} ns   (least {min(times):.1f})")

    def above(name: str, other: str) -> float:
        return statistics.median([x - y for x, y in zip(found[name], found[other], strict=True)])

    numpy_call = above("call, NumPy arrays", "bare kernel")
    call = statistics.median(found["call, NumPy arrays"])
    goals = [
        ("call - bare kernel", numpy_call, GOAL),
        ("call - np.add", above("call, NumPy arrays", "np.add(a, b, out=c)"), 0.0),
        ("nd.array - NumPy arrays", above("call, nd.array", "call, NumPy arrays"), 0.05 * call),
    ]
    good = True
    for name, value, goal in goals:
        good &= value <= goal
        print(f"{name:24} {value:9.1f} ns   goal: at most {goal:g} {'' if value <= goal else '  MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
