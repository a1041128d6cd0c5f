"""What LLVM's passes make of a module is checked before it runs."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.script import tir as T


@T.prim_func
def turned(
    X: T.Buffer((4, 3), "float64"), W: T.Buffer((3, 9), "float64"), b: T.Buffer((9,), "float64"),
    Y: T.Buffer((4, 9), "float64"),
):  # fmt: skip
    C = T.alloc_buffer((4, 9), "float64")
    D = T.alloc_buffer((9, 4), "float64")
    for i, j, k in T.grid(4, 9, 3):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + X[vi, vk] * W[vk, vj]
    for i, j in T.grid(4, 9):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vj, vi] = C[vi, vj]
    for i in T.unroll(4):
        for j in range(9):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(D[vj, vi] + b[vj], 0.0)


@pytest.mark.parametrize("target", ["llvm", "llvm -fp-contract=off -math=scalar", "llvm -O=1"])
def test_a_module_that_the_vectorizer_breaks(target: str) -> None:
    """LLVM 22 orders the instructions of this one wrongly: it ended the process, or gave other values."""
    rng = np.random.default_rng(0)
    x, w, b = rng.random((4, 3)), rng.random((3, 9)), rng.random(9) - 1
    y = np.zeros((4, 9))
    ts.build(turned, target=target)(x, w, b, y)
    np.testing.assert_allclose(y, np.maximum(x @ w + b, 0), rtol=1e-13)
