"""Passes run alone and in any order: a program keeps its result, or is refused; never another result."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tirscript as tvm
from tirscript import tir
from tirscript.lowering.context import PASS_NAMES
from tirscript.script import from_source

HEAD = """
@T.prim_func
def f(A: T.Buffer((18, 16), "float32"), C: T.Buffer((18, 16), "float32"), n: T.int32):
"""
PROGRAMS = {
    "loops": """
    for i in range(0, 18, 2):
        for j in T.unroll(16):
            if i + j < n:
                C[i, j] = A[i, j] * T.float32(2)
""",
    "blocks": """
    B = T.alloc_buffer((18, 16))
    for i, j in T.grid(18, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j0, j1 in T.grid(18, 3, 6):
        with T.block("C"):
            vi = T.axis.spatial(18, i)
            vj = T.axis.spatial(16, j0 * 6 + j1)
            T.where(j0 * 6 + j1 < 16)
            C[vi, vj] = B[vi, vj] + T.float32(1)
""",
    "reduction": """
    for i, j in T.grid(18, 16):
        for k0 in range(4):
            for k1 in T.unroll(4):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    vk = T.axis.reduce(16, k0 * 4 + k1)
                    with T.init():
                        C[vi, vj] = T.float32(0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk]
""",
    "views": """
    for i in range(18):
        with T.block("C"):
            vi = T.axis.spatial(18, i)
            T.reads(A[vi, 0:16])
            T.writes(C[vi, 0:16])
            X = T.match_buffer(A[vi, 0:16], (16,), offset_factor=1)
            Y = T.match_buffer(C[vi, 0:16], (16,), offset_factor=1)
            for j in T.vectorized(16):
                Y[j] = X[j] * T.float32(3)
""",
    "nested": """
    for i in T.parallel(18):
        with T.block("o"):
            vi = T.axis.spatial(18, i)
            T.reads(A[vi, 0:16])
            T.writes(C[vi, 0:16])
            B = T.alloc_buffer((16,))
            for j in T.vectorized(16):
                with T.block("B"):
                    vj = T.axis.spatial(16, j)
                    B[vj] = A[vi, vj] + T.float32(1)
            for j in T.unroll(16):
                with T.block("C"):
                    vj = T.axis.spatial(16, j)
                    C[vi, vj] = B[15 - vj]
""",
    "lets": """
    B = T.decl_buffer((18, 16))
    for i in range(18):
        x: T.int32 = i * 2 // 2
        assert n > 0, "n"
        for j in T.vectorized(16):
            B[x, j] = A[x, j]
        for j in range(16):
            C[i, j] = B[i, 15 - j]
""",
}
INPUT = np.random.default_rng(0).integers(-4, 5, (18, 16)).astype("float32")


def run(mod: tvm.IRModule) -> np.ndarray:
    out = np.zeros((18, 16), "float32")
    tvm.build(mod, "llvm -O=0")(INPUT.copy(), out, 9)
    return out


def expected(name: str) -> np.ndarray:
    i, j = np.indices((18, 16))
    reversed_rows = INPUT[:, ::-1]
    return {  # type: ignore[return-value]
        "loops": np.where((i % 2 == 0) & (i + j < 9), INPUT * 2, 0),
        "blocks": INPUT * 2 + 1,
        "reduction": np.broadcast_to(INPUT.sum(1, keepdims=True), (18, 16)),
        "views": INPUT * 3,
        "nested": reversed_rows + 1,
        "lets": reversed_rows,
    }[name]


def check(name: str, passes: list[str]) -> bool:
    """Whether the passes took the program; then its result is what it was."""
    mod = tvm.IRModule.from_expr(from_source(HEAD + PROGRAMS[name]))
    try:
        for p in passes:
            mod = getattr(tir.transform, p)()(mod)
        out = run(mod)
    except tvm.LowerError as e:
        assert e.code == "pass-order", e
        return False
    np.testing.assert_array_equal(out, expected(name), err_msg=f"{name}: {passes}")
    return True


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_pass_alone(name: str) -> None:
    took = {p: check(name, [p]) for p in sorted(PASS_NAMES)}
    for p in ("Simplify", "UnrollLoop", "CanonicalizeLoop", "LowerInitBlock", "LoopPartition", "RemoveNoOp"):
        assert took[p]


@pytest.mark.parametrize("seed", range(24))
def test_passes_in_any_order(seed: int) -> None:
    rng = random.Random(seed)
    check(rng.choice(sorted(PROGRAMS)), [rng.choice(sorted(PASS_NAMES)) for _ in range(rng.randint(2, 7))])


@pytest.mark.parametrize(
    ("name", "passes", "said"),
    [
        ("reduction", ["ConvertBlocksToOpaque"], "first LowerInitBlock"),
        ("views", ["FlattenBuffer"], "is still there"),
        ("blocks", ["LowerOpaqueBlock"], "block `B` still has axes"),
        ("lets", ["VectorizeLoop"], "`B` still has 2 dimensions"),
    ],
)
def test_what_comes_too_early_is_refused(name: str, passes: list[str], said: str) -> None:
    mod = tvm.IRModule.from_expr(from_source(HEAD + PROGRAMS[name]))
    with pytest.raises(tvm.LowerError) as caught:
        for p in passes:
            mod = getattr(tir.transform, p)()(mod)
    assert caught.value.code == "pass-order" and said in str(caught.value)
