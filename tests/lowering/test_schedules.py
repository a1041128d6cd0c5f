"""Random schedules of some kernels: whatever the schedule allows, machine code gives NumPy's values."""

import contextlib
import random

import numpy as np
import pytest

import tirscript as ts
from tirscript.diagnostics import ScheduleError
from tirscript.ir.module import IRModule
from tirscript.ir.verify import check_well_formed
from tirscript.lowering import PASSES
from tirscript.script import tir as T

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 33)


def matmul(n, m, k):
    @T.prim_func
    def f(A: T.Buffer((n, k), "int32"), B: T.Buffer((k, m), "int32"), C: T.Buffer((n, m), "int32")):
        Y = T.alloc_buffer((n, m), "int32")
        for i, j, q in T.grid(n, m, k):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, q])
                with T.init():
                    Y[vi, vj] = 0
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(n, m):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], 0)

    return f, ((n, k), (k, m), (n, m)), lambda a, b: np.maximum(a @ b, 0)


def convolution(n, m, k):
    @T.prim_func
    def f(A: T.Buffer((n, m), "int32"), W: T.Buffer((k,), "int32"), C: T.Buffer((n, m), "int32")):
        P = T.alloc_buffer((n, m + k - 1), "int32")
        for i, j in T.grid(n, m + k - 1):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = T.if_then_else(vj >= k // 2 and vj < m + k // 2, A[vi, vj - k // 2], 0)
        for i, j, q in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, q])
                with T.init():
                    C[vi, vj] = vi
                C[vi, vj] = C[vi, vj] + P[vi, vj + vk] * W[vk]

    def reference(a, w):
        p = np.zeros((n, m + k - 1), "int32")
        p[:, k // 2 : k // 2 + m] = a
        return sum(p[:, q : q + m] * w[q] for q in range(k)) + np.arange(n)[:, None]

    return f, ((n, m), (k,), (n, m)), reference


def transposition(n, m, k):
    @T.prim_func
    def f(A: T.Buffer((n, m), "int32"), B: T.Buffer((m, n), "int32"), C: T.Buffer((m, n), "int32")):
        for i, j in T.grid(n, m):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = A[vi, m - 1 - vj] + B[vj, vi] * (vi * k + vj)

    def reference(a, b):
        return a[:, ::-1].T + b * (np.arange(n)[None] * k + np.arange(m)[:, None])

    return f, ((n, m), (m, n), (m, n)), reference


def change(sch, rnd):
    """One random step."""
    block = sch.get_block(rnd.choice(["Y", "C", "P"]))
    loops = sch.get_loops(block)
    loop = rnd.choice(loops)
    step = rnd.choice(["split", "split", "fuse", "reorder", "vectorize", "unroll", "parallel", "decompose"])
    if step == "split":
        sch.split(
            loop,
            rnd.choice(
                [[None, rnd.choice([2, 3, 4, 5, 8, 16])], [rnd.choice([2, 3, 5]), None], [None, 2, 3]]
            ),
        )
    elif step == "fuse":
        at = rnd.randrange(max(1, len(loops) - 1))
        sch.fuse(*loops[at : at + 2])
    elif step == "reorder":
        rnd.shuffle(loops)
        sch.reorder(*loops)
    elif step == "vectorize":
        sch.vectorize(rnd.choice([loops[-1], loop]))
    elif step == "unroll":
        sch.unroll(loop)
    elif step == "parallel":
        sch.parallel(loop)
    else:
        sch.decompose_reduction(block, loop)


@pytest.mark.parametrize("seed", range(24))
def test_random_schedules(seed):
    rnd = random.Random(seed)
    kernel = (matmul, convolution, transposition)[seed % 3]
    f, shapes, reference = kernel(*[rnd.choice(SIZES) for _ in range(3)])
    sch = ts.Schedule(f)
    for _ in range(rnd.randint(1, 9)):
        with contextlib.suppress(ScheduleError):
            change(sch, rnd)
    numbers = np.random.default_rng(seed)
    a, b = [numbers.integers(-9, 9, s).astype("int32") for s in shapes[:2]]
    out = np.full(shapes[2], -7, "int32")
    ts.build(sch.mod)(a, b, out)
    np.testing.assert_array_equal(out, reference(a, b))
    mod = sch.mod
    for passed in PASSES:
        mod = IRModule({name: passed(g) for name, g in mod.items()})
        check_well_formed(mod)
