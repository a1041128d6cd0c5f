"""Programs of the schedule tests, and how they are run."""

from __future__ import annotations

from typing import Any

import numpy as np

import tirscript as ts
from tirscript.driver import build
from tirscript.script import tir as T


def run(program: Any, *arrays: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Call the (only or main) function through the python target and through LLVM; the last array is the
    output, and both must agree on it."""
    outputs = []
    for target in ("python", "llvm"):
        copies = [np.array(a) for a in arrays]
        build(program, target=target)(*copies)
        outputs.append(copies)
    for a, b in zip(*outputs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return outputs[0][-1]


@T.prim_func
def matmul(
    A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
):
    for i, j, k in T.grid(16, 20, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func
def two_stages(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
    B = T.alloc_buffer((12, 10), "float32")
    for i, j in T.grid(12, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(12, 10):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)


@T.prim_func
def copy_symbolic(a: T.handle, o: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    O = T.match_buffer(o, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = A[vi, vj]


@T.prim_func
def shifted(A: T.Buffer((33,), "int32")):
    for i in range(32):
        with T.block("A"):
            vi = T.axis.scan(32, i)
            T.reads(A[vi])
            T.writes(A[vi + 1])
            A[vi + 1] = A[vi] + 1


@T.prim_func
def last_wins(A: T.Buffer((6, 40), "int32"), O: T.Buffer((6,), "int32")):
    for i, k in T.grid(6, 40):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = -1
            if A[vi, vk] > 50:
                O[vi] = A[vi, vk]


def roundtrip(program: Any) -> None:
    """What is printed must read back to an equal program, names included."""
    back = ts.parse(program.script())
    if not isinstance(program, type(back)):
        program = program[program.names()[0]]
    assert ts.structural_equal(back, program, names=True)


def rng(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray[Any, Any]:
    values = np.random.default_rng(seed).integers(-9, 10, shape)
    return values.astype(dtype)
