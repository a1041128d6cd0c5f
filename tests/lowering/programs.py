"""Programs with arguments and the results that NumPy gives: what lowering must keep."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tirscript.diagnostics import AxisWarning
from tirscript.script import tir as T


class Case(NamedTuple):
    name: str
    func: Any
    make: Callable[[Any], tuple[list[Any], list[Any]]]  # arguments, and what each must be afterwards


CASES: list[Case] = []


def case(func, make, name=None):
    CASES.append(Case(name or func.name, func, make))


def floats(r, *shape, dtype="float32"):
    return r.integers(-8, 8, shape).astype(dtype)


def out(*shape, dtype="float32"):
    return np.full(shape, 77).astype(dtype)


# ---- reductions


@T.prim_func
def row_sum(A: T.Buffer((7, 5), "float32"), O: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 5):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = T.float32(1)
            O[vi] = O[vi] + A[vi, vk]


case(row_sum, lambda r: ([a := floats(r, 7, 5), out(7)], [a, a.sum(1) + 1]))


@T.prim_func
def reduction_outside(A: T.Buffer((7, 5), "float32"), O: T.Buffer((7,), "float32")):
    for k, i in T.grid(5, 7):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = T.float32(0)
            O[vi] = O[vi] + A[vi, vk]


case(reduction_outside, lambda r: ([a := floats(r, 7, 5), out(7)], [a, a.sum(1)]))


@T.prim_func
def reversed_binding(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(6, 5 - k)
            with T.init():
                O[vi] = 0
            O[vi] = O[vi] * 3 + A[vi, vk]


def _horner(a):
    total = np.zeros(a.shape[0], a.dtype)
    for k in reversed(range(a.shape[1])):
        total = total * 3 + a[:, k]
    return total


case(
    reversed_binding,
    lambda r: ([a := floats(r, 4, 6, dtype="int32"), out(4, dtype="int32")], [a, _horner(a)]),
)


@T.prim_func
def offset_domain(A: T.Buffer((4, 12), "int32"), O: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 8):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce((3, 11), k + 3)
            with T.init():
                O[vi] = 0
            O[vi] = O[vi] + A[vi, vk]


case(
    offset_domain,
    lambda r: (
        [a := floats(r, 4, 12, dtype="int32"), out(4, dtype="int32")],
        [a, a[:, 3:11].sum(1, dtype="int32")],
    ),
)


# What leaves its domain is warned of, and does not run.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", AxisWarning)

    @T.prim_func
    def outside_domain_does_not_run(
        A: T.Buffer((10,), "int32"), O: T.Buffer((2,), "int32"), P: T.Buffer((10,), "int32")
    ):
        for k in range(15):
            with T.block("O"):
                vk = T.axis.reduce((2, 7), k - 3)
                with T.init():
                    O[0] = 0
                O[0] = O[0] + A[vk]
        for i in range(14):
            with T.block("P"):
                vi = T.axis.spatial((1, 9), i - 2)
                P[vi] = A[vi] * 2


def _outside(r):
    a = floats(r, 10, dtype="int32")
    o, p = out(2, dtype="int32"), out(10, dtype="int32")
    want_o, want_p = o.copy(), p.copy()
    want_o[0] = a[2:7].sum()
    want_p[1:9] = a[1:9] * 2
    return [a, o, p], [a, want_o, want_p]


case(outside_domain_does_not_run, _outside)


@T.prim_func
def empty_reduction(A: T.Buffer((4, 0), "float32"), O: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 0):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = T.float32(5)
            O[vi] = O[vi] + A[vi, vk]


case(empty_reduction, lambda r: ([np.zeros((4, 0), "float32"), out(4)], [None, np.full(4, 5, "float32")]))


@T.prim_func
def empty_reduction_outside(A: T.Buffer((4, 0), "float32"), O: T.Buffer((4,), "float32")):
    for k, i in T.grid(0, 4):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = T.float32(5)
            O[vi] = O[vi] + A[vi, vk]


case(
    empty_reduction_outside,
    lambda r: ([np.zeros((4, 0), "float32"), out(4)], [None, np.full(4, 5, "float32")]),
)


@T.prim_func
def unit_extents(A: T.Buffer((1, 4, 1), "int32"), O: T.Buffer((1, 4), "int32")):
    for b, i, k in T.grid(1, 4, 1):
        with T.block("O"):
            vb, vi, vk = T.axis.remap("SSR", [b, i, k])
            with T.init():
                O[vb, vi] = 10
            O[vb, vi] = O[vb, vi] + A[vb, vi, vk]


case(
    unit_extents,
    lambda r: ([a := floats(r, 1, 4, 1, dtype="int32"), out(1, 4, dtype="int32")], [a, a[:, :, 0] + 10]),
)


@T.prim_func
def triangular(A: T.Buffer((6, 6), "float32"), O: T.Buffer((6,), "float32")):
    for i in range(6):
        for k in range(i):
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                vk = T.axis.reduce(6, k)
                with T.init():
                    O[vi] = T.float32(2)
                O[vi] = O[vi] + A[vi, vk]


case(triangular, lambda r: ([a := floats(r, 6, 6), out(6)], [a, np.tril(a, -1).sum(1) + 2]))


@T.prim_func
def reduction_predicate(A: T.Buffer((5, 10), "float32"), O: T.Buffer((5,), "float32")):
    for i, k_0, k_1 in T.grid(5, 4, 3):
        with T.block("O"):
            vi = T.axis.spatial(5, i)
            vk = T.axis.reduce(10, k_0 * 3 + k_1)
            T.where(k_0 * 3 + k_1 < 10)
            with T.init():
                O[vi] = T.float32(0)
            O[vi] = O[vi] + A[vi, vk]


case(reduction_predicate, lambda r: ([a := floats(r, 5, 10), out(5)], [a, a.sum(1)]))


@T.prim_func
def predicate_that_never_holds(A: T.Buffer((3, 4), "float32"), O: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 4):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(k < 0 and i < 2)
            with T.init():
                O[vi] = T.float32(4)
            O[vi] = O[vi] + A[vi, vk]


case(
    predicate_that_never_holds,
    lambda r: ([a := floats(r, 3, 4), out(3)], [a, np.array([4, 4, 77], "float32")]),
)


@T.prim_func
def fused_spatial_and_reduction(A: T.Buffer((6, 5), "int32"), O: T.Buffer((6,), "int32")):
    for f in range(30):
        with T.block("O"):
            vi = T.axis.spatial(6, f // 5)
            vk = T.axis.reduce(5, f % 5)
            with T.init():
                O[vi] = vi
            O[vi] = O[vi] + A[vi, vk]


case(
    fused_spatial_and_reduction,
    lambda r: (
        [a := floats(r, 6, 5, dtype="int32"), out(6, dtype="int32")],
        [a, a.sum(1, dtype="int32") + np.arange(6, dtype="int32")],
    ),
)


@T.prim_func
def condition_around_the_block(A: T.Buffer((4, 6), "float32"), O: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 6):
        if k % 2 == 0:
            if i != 2:
                with T.block("O"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        O[vi] = T.float32(3)
                    O[vi] = O[vi] + A[vi, vk]


def _conditional(r):
    a = floats(r, 4, 6)
    want = a[:, ::2].sum(1) + 3
    want[2] = 77
    return [a, out(4)], [a, want]


case(condition_around_the_block, _conditional)


@T.prim_func
def init_with_condition(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
    for i, k, j in T.grid(4, 5, 6):
        with T.block("O"):
            vi, vk, vj = T.axis.remap("SRS", [i, k, j])
            with T.init():
                if vj % 2 == 0:
                    O[vi, vj] = 100
                else:
                    O[vi, vj] = vi
            O[vi, vj] = O[vi, vj] + A[vi, vj, vk]


def _init_condition(r):
    a = floats(r, 4, 6, 5, dtype="int32")
    i, j = np.ogrid[:4, :6]
    return [a, out(4, 6, dtype="int32")], [a, (a.sum(2) + np.where(j % 2 == 0, 100, i)).astype("int32")]


case(init_with_condition, _init_condition)


@T.prim_func
def two_reduction_axes(A: T.Buffer((3, 4, 5), "int32"), O: T.Buffer((4,), "int32")):
    for k, i, q in T.grid(3, 4, 5):
        with T.block("O"):
            vk, vi, vq = T.axis.remap("RSR", [k, i, q])
            with T.init():
                O[vi] = -1
            O[vi] = T.max(O[vi], A[vk, vi, vq])


case(
    two_reduction_axes,
    lambda r: (
        [a := floats(r, 3, 4, 5, dtype="int32"), out(4, dtype="int32")],
        [a, np.maximum(a.max((0, 2)), -1)],
    ),
)


@T.prim_func
def nested_block_reduction(A: T.Buffer((8, 12), "int32"), O: T.Buffer((8,), "int32")):
    for io, ko in T.grid(2, 3):
        with T.block("outer"):
            vio, vko = T.axis.remap("SR", [io, ko])
            with T.init():
                for ii in range(4):
                    with T.block("inner_init"):
                        vii = T.axis.spatial(4, ii)
                        O[vio * 4 + vii] = 0
            for ii, ki in T.grid(4, 4):
                with T.block("inner"):
                    vii, vki = T.axis.remap("SR", [ii, ki])
                    O[vio * 4 + vii] = O[vio * 4 + vii] + A[vio * 4 + vii, vko * 4 + vki]


case(
    nested_block_reduction,
    lambda r: ([a := floats(r, 8, 12, dtype="int32"), out(8, dtype="int32")], [a, a.sum(1, dtype="int32")]),
)


@T.prim_func
def inner_axis_over_outer_reduction(A: T.Buffer((8, 12), "int32"), O: T.Buffer((8,), "int32")):
    for i, ko in T.grid(8, 3):
        with T.block("outer"):
            vi, vko = T.axis.remap("SR", [i, ko])
            for ki in range(4):
                with T.block("inner"):
                    vj = T.axis.spatial(8, vi)
                    vk = T.axis.reduce(12, vko * 4 + ki)
                    with T.init():
                        O[vj] = 0
                    O[vj] = O[vj] + A[vj, vk]


case(
    inner_axis_over_outer_reduction,
    lambda r: ([a := floats(r, 8, 12, dtype="int32"), out(8, dtype="int32")], [a, a.sum(1, dtype="int32")]),
)


@T.prim_func
def block_without_axes_between(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("scope"):
            T.where(k < 5)
            T.reads(A[i, k])
            T.writes(O[i])
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]


case(
    block_without_axes_between,
    lambda r: (
        [a := floats(r, 4, 6, dtype="int32"), out(4, dtype="int32")],
        [a, a[:, :5].sum(1, dtype="int32")],
    ),
)


# ---- vectors


def vector_case(n, dtype):
    @T.prim_func
    def vector(
        A: T.Buffer((3, n), dtype),
        B: T.Buffer((3, n), dtype),
        O: T.Buffer((3, n), dtype),
        M: T.Buffer((3, n), "bool"),
    ):
        for i in range(3):
            for j in T.vectorized(n):
                with T.block("O"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    O[vi, vj] = A[vi, vj] + B[vi, vj]
                    M[vi, vj] = A[vi, vj] < B[vi, vj]

    def make(r):
        a, b = floats(r, 3, n, dtype=dtype), floats(r, 3, n, dtype=dtype)
        return [a, b, out(3, n, dtype=dtype), out(3, n, dtype="bool")], [a, b, a + b, a < b]

    case(vector, make, f"vector_{n}_{dtype}")


for _n in (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 64, 100, 129):
    vector_case(_n, "float32")
for _dtype in ("float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    for _n in (3, 8, 33):
        vector_case(_n, _dtype)


@T.prim_func
def vector_predicate(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):
    for i_0, k in T.grid(5, 8):
        for i_1 in T.vectorized(4):
            with T.block("C"):
                vi = T.axis.spatial(18, i_0 * 4 + i_1)
                vk = T.axis.reduce(8, k)
                T.where(i_0 * 4 + i_1 < 18)
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]


case(vector_predicate, lambda r: ([a := floats(r, 18, 8), out(18)], [a, a.sum(1)]))


@T.prim_func
def vector_reduction(V: T.Buffer((128,), "float32"), O: T.Buffer((1,), "float32")):
    for k in T.vectorized(128):
        with T.block("O"):
            vk = T.axis.reduce(128, k)
            with T.init():
                O[0] = T.float32(0)
            O[0] = O[0] + V[vk]


case(vector_reduction, lambda r: ([v := floats(r, 128), out(1)], [v, v.sum(keepdims=True)]))


@T.prim_func
def vector_carried(A: T.Buffer((20,), "int32")):
    for i in T.vectorized(19):
        A[i + 1] = A[i] + 1


case(vector_carried, lambda r: ([a := floats(r, 20, dtype="int32")], [np.arange(20, dtype="int32") + a[0]]))


@T.prim_func
def vector_same_cell(A: T.Buffer((20,), "int32"), O: T.Buffer((3,), "int32")):
    for i in T.vectorized(20):
        O[1] = A[i]
    for i in T.vectorized(20):
        O[2 * (i // 19)] = A[i]


def _same_cell(r):
    a = floats(r, 20, dtype="int32")
    return [a, out(3, dtype="int32")], [a, np.array([a[18], a[19], a[19]], "int32")]


case(vector_same_cell, _same_cell)


@T.prim_func
def vector_conditions(A: T.Buffer((10, 8), "int32"), O: T.Buffer((10, 8), "int32")):
    for i in range(10):
        for j in T.vectorized(8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj]
                if vj % 3 != 0:
                    O[vi, vj] = A[vi, vj] * 2
                if vi > 4:
                    O[vi, vj] = O[vi, vj] + 1000


def _conditions(r):
    a = floats(r, 10, 8, dtype="int32")
    want = np.where(np.arange(8) % 3 != 0, a * 2, a) + np.where(np.arange(10) > 4, 1000, 0)[:, None]
    return [a, out(10, 8, dtype="int32")], [a, want.astype("int32")]


case(vector_conditions, _conditions)


@T.prim_func
def vector_else(A: T.Buffer((33,), "float32"), O: T.Buffer((33,), "float32")):
    for i_0 in range(5):
        for i_1 in T.vectorized(8):
            if i_0 * 8 + i_1 < 33:
                if i_0 * 8 + i_1 >= 5:
                    O[i_0 * 8 + i_1] = A[i_0 * 8 + i_1]
                else:
                    O[i_0 * 8 + i_1] = T.float32(0)


case(
    vector_else,
    lambda r: ([a := floats(r, 33), out(33)], [a, np.concatenate([np.zeros(5, "float32"), a[5:]])]),
)


@T.prim_func
def vector_data_condition(A: T.Buffer((32,), "float32"), O: T.Buffer((32,), "float32")):
    for i in T.vectorized(32):
        if A[i] > T.float32(0):
            O[i] = A[i]
        else:
            O[i] = A[i] * T.float32(0.5)


case(
    vector_data_condition,
    lambda r: ([a := floats(r, 32), out(32)], [a, np.where(a > 0, a, a * np.float32(0.5))]),
)


@T.prim_func
def vector_guarded_read(A: T.Buffer((8,), "float32"), O: T.Buffer((32,), "float32")):
    for i in range(4):
        for j in T.vectorized(8):
            with T.block("O"):
                vi = T.axis.spatial(32, i * 8 + j)
                O[vi] = T.if_then_else(vi < 8, A[vi * (1 + vi // 8 * 268435456)], T.float32(0))


case(
    vector_guarded_read,
    lambda r: ([a := floats(r, 8), out(32)], [a, np.concatenate([a, np.zeros(24, "float32")])]),
)


@T.prim_func
def vector_modulus(O: T.Buffer((20, 5), "int32"), P: T.Buffer((20, 4), "int32")):
    for x in range(20):
        for l in T.vectorized(5):
            with T.block("O"):
                vx, vl = T.axis.remap("SS", [x, l])
                O[vx, vl] = (vx * 4 + vl) % 64
    for x in range(20):
        for l in T.vectorized(4):
            with T.block("P"):
                vx, vl = T.axis.remap("SS", [x, l])
                P[vx, vl] = (vx * 7 + vl * 7) // 64 * 1000 + (vx * 7 + vl * 7) % 20


def _modulus(r):
    x, l = np.ogrid[:20, :5]
    o = (4 * x + l) % 64
    x, l = np.ogrid[:20, :4]
    p = (7 * x + 7 * l) // 64 * 1000 + (7 * x + 7 * l) % 20
    return [out(20, 5, dtype="int32"), out(20, 4, dtype="int32")], [o.astype("int32"), p.astype("int32")]


case(vector_modulus, _modulus)


@T.prim_func
def vector_fused(A: T.Buffer((6, 24), "float32"), O: T.Buffer((6, 24), "float32")):
    for f_0 in range(18):
        for f_1 in T.vectorized(8):
            with T.block("O"):
                vi = T.axis.spatial(6, (f_0 * 8 + f_1) // 24)
                vj = T.axis.spatial(24, (f_0 * 8 + f_1) % 24)
                O[vi, vj] = A[vi, vj] + T.float32(1)


case(vector_fused, lambda r: ([a := floats(r, 6, 24), out(6, 24)], [a, a + 1]))


@T.prim_func
def vector_strided(A: T.Buffer((8, 8), "float32"), O: T.Buffer((8, 8), "float32")):
    for i in range(8):
        for j in T.vectorized(8):
            O[j, i] = A[i, 7 - j]


case(vector_strided, lambda r: ([a := floats(r, 8, 8), out(8, 8)], [a, a[:, ::-1].T.copy()]))


@T.prim_func
def vector_gather(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"), O: T.Buffer((16,), "float32")):
    for i in T.vectorized(16):
        O[i] = A[I[i]]


def _gather(r):
    a, i = floats(r, 16), r.integers(0, 16, 16).astype("int32")
    return [a, i, out(16)], [a, i, a[i]]


case(vector_gather, _gather)


@T.prim_func
def vector_scatter(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"), O: T.Buffer((16,), "float32")):
    for i in T.vectorized(16):
        O[I[i]] = A[i]


def _scatter(r):
    a, i = floats(r, 16), r.integers(0, 4, 16).astype("int32")
    want = out(16)
    for n in range(16):
        want[i[n]] = a[n]
    return [a, i, out(16)], [a, i, want]


case(vector_scatter, _scatter)


@T.prim_func
def vector_inner_loop(A: T.Buffer((8, 9), "float32"), O: T.Buffer((8,), "float32")):
    for i in T.vectorized(8):
        O[i] = T.float32(0)
        for k in range(9):
            O[i] = O[i] + A[i, k]


case(vector_inner_loop, lambda r: ([a := floats(r, 8, 9), out(8)], [a, a.sum(1)]))


@T.prim_func
def vector_triangular(A: T.Buffer((8, 9), "float32"), O: T.Buffer((8,), "float32")):
    for i in T.vectorized(8):
        O[i] = T.float32(0)
        for k in range(i):
            O[i] = O[i] + A[i, k]


case(vector_triangular, lambda r: ([a := floats(r, 8, 9), out(8)], [a, np.tril(a[:, :8], -1).sum(1)]))


@T.prim_func
def vector_private(A: T.Buffer((12, 9), "float32"), O: T.Buffer((12,), "float32")):
    for i in T.vectorized(12):
        with T.block("O"):
            vi = T.axis.spatial(12, i)
            T.reads(A[vi, 0:9])
            T.writes(O[vi])
            S = T.alloc_buffer((2,), "float32")
            S[0] = T.float32(0)
            S[1] = A[vi, 0]
            for k in range(9):
                S[0] = S[0] + A[vi, k]
                S[1] = T.max(S[1], A[vi, k])
            if S[1] > T.float32(3):
                S[0] = S[0] * T.float32(2)
            O[vi] = S[0] + S[1]


def _private(r):
    a = floats(r, 12, 9)
    m = a.max(1)
    return [a, out(12)], [a, np.where(m > 3, a.sum(1) * 2, a.sum(1)) + m]


case(vector_private, _private)


@T.prim_func
def vector_let(A: T.Buffer((12,), "int32"), O: T.Buffer((12,), "int32")):
    for i in T.vectorized(12):
        x: T.int32 = A[i] * 2
        y: T.int32 = 11 - i
        A[i] = 0
        if x > 3:
            O[y] = x + y
        else:
            O[y] = x


def _let(r):
    a = floats(r, 12, dtype="int32")
    x = a * 2
    want = np.where(x > 3, x + 11 - np.arange(12), x)[::-1]
    return [a.copy(), out(12, dtype="int32")], [np.zeros(12, "int32"), want.astype("int32").copy()]


case(vector_let, _let)


@T.prim_func
def vector_while(A: T.Buffer((6,), "int32"), O: T.Buffer((6,), "int32")):
    for i in T.vectorized(6):
        O[i] = 0
        while O[i] * O[i] < A[i]:
            O[i] = O[i] + 1


def _while(r):
    a = r.integers(0, 50, 6).astype("int32")
    return [a, out(6, dtype="int32")], [a, np.ceil(np.sqrt(a)).astype("int32")]


case(vector_while, _while)


@T.prim_func
def vector_mathematics(A: T.Buffer((24,), "float64"), O: T.Buffer((24,), "float64")):
    for i in T.vectorized(24):
        O[i] = T.sqrt(T.abs(A[i])) + T.Select(A[i] > T.float64(0), A[i], T.float64(0)) + T.cast(i, "float64")


def _mathematics(r):
    a = floats(r, 24, dtype="float64")
    return [a, out(24, dtype="float64")], [a, np.sqrt(np.abs(a)) + np.maximum(a, 0) + np.arange(24)]


case(vector_mathematics, _mathematics)


@T.prim_func
def vector_of_blocks_wide_index(A: T.Buffer((4, 64), "int8"), O: T.Buffer((4, 64), "int64")):
    for i in range(4):
        for j in T.vectorized(64):
            O[i, j] = T.cast(A[i, j], "int64") * T.int64(1000000007) + T.cast(i * 64 + j, "int64")


def _wide(r):
    a = floats(r, 4, 64, dtype="int8")
    return [a, out(4, 64, dtype="int64")], [a, a.astype("int64") * 1000000007 + np.arange(256).reshape(4, 64)]


case(vector_of_blocks_wide_index, _wide)


@T.prim_func
def vector_nested(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4, 8), "float32")):
    for i in T.vectorized(4):
        for j in T.vectorized(8):
            O[i, j] = A[i, j] * T.float32(2)


case(vector_nested, lambda r: ([a := floats(r, 4, 8), out(4, 8)], [a, a * 2]))


@T.prim_func
def vector_from_an_offset(A: T.Buffer((40,), "float32"), O: T.Buffer((40,), "float32")):
    for i in T.vectorized(3, 37):
        O[i] = A[i] + T.float32(i)


def _from_offset(r):
    a, want = floats(r, 40), out(40)
    want[3:37] = a[3:37] + np.arange(3, 37, dtype="float32")
    return [a, out(40)], [a, want]


case(vector_from_an_offset, _from_offset)


# ---- loops and statements


@T.prim_func
def nested_parallel(A: T.Buffer((6, 8), "float32"), O: T.Buffer((6, 8), "float32")):
    for i in T.parallel(6):
        for j in T.parallel(8):
            O[i, j] = A[i, 7 - j]


case(nested_parallel, lambda r: ([a := floats(r, 6, 8), out(6, 8)], [a, a[:, ::-1].copy()]))


@T.prim_func
def unrolled(A: T.Buffer((3, 5), "int32"), O: T.Buffer((3, 5), "int32")):
    for i in T.unroll(3):
        for j in T.unroll(5):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj] * vi + vj


def _unrolled(r):
    a = floats(r, 3, 5, dtype="int32")
    i, j = np.ogrid[:3, :5]
    return [a, out(3, 5, dtype="int32")], [a, (a * i + j).astype("int32")]


case(unrolled, _unrolled)


@T.prim_func
def unrolled_break(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
    for i in T.unroll(9):
        if A[i] < 0:
            continue
        if A[i] > 5:
            break
        O[i] = A[i]


def _unrolled_break(r):
    a = floats(r, 9, dtype="int32")
    want = out(9, dtype="int32")
    for i in range(9):
        if a[i] < 0:
            continue
        if a[i] > 5:
            break
        want[i] = a[i]
    return [a, out(9, dtype="int32")], [a, want]


case(unrolled_break, _unrolled_break)


@T.prim_func
def unrolled_huge(O: T.Buffer((1,), "int32")):
    for i in T.unroll(300000):
        with T.block("O"):
            vi = T.axis.reduce(300000, i)
            with T.init():
                O[0] = 0
            O[0] = O[0] + vi % 3


@T.prim_func
def steps(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
    for i in range(2, 19, 3):
        O[i] = A[i] + i
    for i in T.serial(0, 20, step=7):
        O[i] = -1


def _steps(r):
    a, want = floats(r, 20, dtype="int32"), out(20, dtype="int32")
    want[2:19:3] = a[2:19:3] + np.arange(20, dtype="int32")[2:19:3]
    want[0:20:7] = -1
    return [a, out(20, dtype="int32")], [a, want]


case(steps, _steps)


@T.prim_func
def search_and_rows(
    S: T.Buffer((10,), "int32"), V: T.Buffer((6,), "int32"), O: T.Buffer((6,), "int32"),
    P: T.Buffer((4,), "int32"), D: T.Buffer((9,), "int32"), R: T.Buffer((3,), "int32"),
):  # fmt: skip
    for i in range(6):
        with T.block("search"):
            vi = T.axis.spatial(6, i)
            T.reads(S[0:10], V[vi])
            T.writes(O[vi])
            O[vi] = 0
            while O[vi] < 10 and S[T.min(O[vi], 9)] < V[vi]:
                O[vi] = O[vi] + 1
    for i in range(3):
        with T.block("csr"):
            vi = T.axis.spatial(3, i)
            T.reads(P[vi : vi + 2], D[0:9])
            T.writes(R[vi])
            R[vi] = 0
            for k in range(P[vi], P[vi + 1]):
                R[vi] = R[vi] + D[k]


def _search(r):
    s = np.array([1, 3, 3, 5, 8, 9, 11, 12, 20, 30], "int32")
    v = np.array([0, 3, 4, 12, 31, 30], "int32")
    p, d = np.array([0, 4, 4, 9], "int32"), np.arange(9, dtype="int32")
    o, q = out(6, dtype="int32"), out(3, dtype="int32")
    rows = np.array([d[p[i] : p[i + 1]].sum() for i in range(3)], "int32")
    return [s, v, o, p, d, q], [s, v, np.searchsorted(s, v).astype("int32"), p, d, rows]


case(search_and_rows, _search)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", AxisWarning)

    @T.prim_func
    def axis_read_from_memory(I: T.Buffer((6,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(6):
            with T.block("O"):
                vn = T.axis.opaque(6, i)
                vi = T.axis.spatial(8, I[i])
                T.reads(I[0:6], O[vi])
                T.writes(O[vi], I[0:6])
                I[vn] = 7
                O[vi] = O[vi] + vi * 3


def _axis_read(r):
    i = np.array([3, 9, 3, 0, -1, 6], "int32")
    o = out(8, dtype="int32")
    want_i, want = i.copy(), o.copy()
    for n in range(6):
        if 0 <= i[n] < 8:
            want[i[n]] += 3 * i[n]
            want_i[n] = 7
    return [i, o], [want_i, want]


case(axis_read_from_memory, _axis_read)


@T.prim_func
def rank_zero(A: T.Buffer((), "float32"), O: T.Buffer((), "float32")):
    B = T.alloc_buffer((), "float32")
    with T.block("B"):
        B[()] = A[()] * T.float32(2)
    with T.block("O"):
        O[()] = B[()] + T.float32(1)


case(rank_zero, lambda r: ([np.array(3, "float32"), np.array(0, "float32")], [None, np.array(7, "float32")]))


@T.prim_func
def symbolic(a: T.handle, o: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    O = T.match_buffer(o, (m,), "float32")
    for i_0, k in T.grid(T.ceildiv(m, 4), n):
        for i_1 in T.vectorized(4):
            with T.block("O"):
                vi = T.axis.spatial(m, i_0 * 4 + i_1)
                vk = T.axis.reduce(n, k)
                T.where(i_0 * 4 + i_1 < m)
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + A[vi, vk]


for _m, _k in ((1, 1), (4, 3), (10, 7), (0, 3), (5, 0)):
    case(
        symbolic,
        lambda r, m=_m, k=_k: ([a := floats(r, m, k), out(m), k], [a, a.sum(1), None]),
        f"symbolic_{_m}_{_k}",
    )


@T.prim_func
def strided(a: T.handle, o: T.handle):
    s0 = T.int32()
    s1 = T.int32()
    A = T.match_buffer(a, (5, 6), "float32", strides=[s0, s1])
    O = T.match_buffer(o, (5, 6), "float32")
    for i, j in T.grid(5, 6):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = A[vi, vj] * T.float32(3)


case(strided, lambda r: ([a := floats(r, 6, 5).T, out(5, 6)], [a, a * 3]))
case(strided, lambda r: ([a := floats(r, 10, 18)[1::2, ::3], out(5, 6)], [a, a * 3]), "strided_slices")


@T.prim_func
def matched_region(A: T.Buffer((16, 16), "float32"), O: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4])
            T.writes(O[vj * 4 : vj * 4 + 4, vi * 4 : vi * 4 + 4])
            s0 = T.int32()
            s1 = T.int32()
            S = T.match_buffer(
                A[vi * 4 : vi * 4 + 4, vj * 4 : vj * 4 + 4], (4, 4), strides=[s0, s1], offset_factor=1
            )
            D = T.match_buffer(
                O[vj * 4 : vj * 4 + 4, vi * 4 : vi * 4 + 4], (4, 4), strides=[16, 1], offset_factor=4
            )
            for x, y in T.grid(4, 4):
                D[y, x] = S[x, y] + T.float32(s0)


case(matched_region, lambda r: ([a := floats(r, 16, 16), out(16, 16)], [a, a.T + 16]))


@T.prim_func
def matched_row_of_a_match(A: T.Buffer((6, 8), "int32"), O: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.block("outer"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi, 0:8])
            T.writes(O[vi])
            R = T.match_buffer(A[vi, 2:8], (6,), "int32")
            for j in range(3):
                with T.block("inner"):
                    vj = T.axis.opaque(3, j)
                    T.reads(R[vj * 2 : vj * 2 + 2])
                    T.writes(O[vi])
                    Q = T.match_buffer(R[vj * 2 : vj * 2 + 2], (2,), "int32")
                    if vj == 0:
                        O[vi] = 0
                    O[vi] = O[vi] + Q[0] * Q[1]


def _rows(r):
    a = floats(r, 6, 8, dtype="int32")
    want = (a[:, 2::2] * a[:, 3::2]).sum(1).astype("int32")
    return [a, out(6, dtype="int32")], [a, want]


case(matched_row_of_a_match, _rows)


@T.prim_func
def declared_views(A: T.Buffer((4, 6), "float32"), O: T.Buffer((24,), "float32")):
    V = T.decl_buffer((3, 8), "float32", data=A.data)
    W = T.decl_buffer((6,), "float32", data=A.data, elem_offset=12, strides=[2])
    for i, j in T.grid(3, 8):
        O[i * 8 + j] = V[i, j]
    for i in range(6):
        O[i] = O[i] + W[i] * T.float32(10)


def _views(r):
    a = floats(r, 4, 6)
    want = a.reshape(-1).copy()
    want[:6] += a.reshape(-1)[12:24:2] * 10
    return [a, out(24)], [a, want]


case(declared_views, _views)


@T.prim_func
def intermediate(A: T.Buffer((8, 8), "float32"), O: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for i in T.parallel(8):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for j in T.vectorized(8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[vi, 7 - vj]


case(intermediate, lambda r: ([a := floats(r, 8, 8), out(8, 8)], [a, 2 * a[:, ::-1]]))


@T.prim_func
def carried_by_memory(A: T.Buffer((9,), "int32"), O: T.Buffer((9,), "int32")):
    S = T.alloc_buffer((1,), "int32")
    S[0] = 0
    for i in range(9):
        with T.block("O"):
            vi = T.axis.opaque(9, i)
            T.reads(A[vi], S[0])
            T.writes(O[vi], S[0])
            S[0] = S[0] + A[vi]
            O[vi] = S[0]


case(
    carried_by_memory,
    lambda r: ([a := floats(r, 9, dtype="int32"), out(9, dtype="int32")], [a, a.cumsum().astype("int32")]),
)


@T.prim_func
def flat_allocation(A: T.Buffer((9,), "float32"), O: T.Buffer((9,), "float32")):
    B = T.decl_buffer((3, 3), "float32")
    for i, j in T.grid(3, 3):
        B[j, i] = A[i * 3 + j]
    for i in range(9):
        O[i] = B[i // 3, i % 3]


case(flat_allocation, lambda r: ([a := floats(r, 9), out(9)], [a, a.reshape(3, 3).T.reshape(-1).copy()]))


@T.prim_func
def vector_slices(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4, 8), "float32")):
    for i in range(4):
        O[i, 0:8] = A[3 - i, 0:8] + T.Broadcast(T.float32(1), 8)


case(vector_slices, lambda r: ([a := floats(r, 4, 8), out(4, 8)], [a, a[::-1] + 1]))


@T.prim_func
def large_strides(A: T.Buffer((3,), "int32"), O: T.Buffer((3,), "int64")):
    for i in range(3):
        O[i] = T.cast(i * 2000000000, "int64") + T.cast(A[i] * 2000000000, "int64")


def _large(r):
    a = np.array([0, 1, 2], "int32")
    with np.errstate(over="ignore"):
        wrapped = (a * np.int32(2000000000)).astype("int64")
    return [a, out(3, dtype="int64")], [a, np.arange(3) * 2000000000 + wrapped]


case(large_strides, _large)


@T.prim_func
def booleans(A: T.Buffer((9,), "bool"), B: T.Buffer((9,), "bool"), O: T.Buffer((9,), "bool")):
    for i in T.vectorized(9):
        O[i] = (A[i] and not B[i]) or (i == 3)


def _booleans(r):
    a, b = r.integers(0, 2, 9).astype(bool), r.integers(0, 2, 9).astype(bool)
    return [a, b, out(9, dtype="bool")], [a, b, (a & ~b) | (np.arange(9) == 3)]


case(booleans, _booleans)


@T.prim_func
def thread_bound(A: T.Buffer((12,), "float32"), O: T.Buffer((12,), "float32")):
    for b in T.thread_binding(3, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("O"):
                vi = T.axis.spatial(12, b * 4 + t)
                O[vi] = A[vi] + T.float32(1)


case(thread_bound, lambda r: ([a := floats(r, 12), out(12)], [a, a + 1]))


@T.prim_func
def aliased(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    T.func_attr({"tir.noalias": False})
    for i in T.vectorized(7):
        O[i + 1] = A[i] + 1


def _aliased(r):
    a = np.arange(8, dtype="int32") * 10
    want = a.copy()
    for i in range(7):
        want[i + 1] = want[i] + 1
    return [a, a], [want, want]


case(aliased, _aliased)


# ---- memory


@T.prim_func
def scratch_in_parallel(A: T.Buffer((6, 8), "float32"), O: T.Buffer((6, 8), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for i in T.parallel(6):
        for j in range(8):
            S[j] = A[i, j] * T.float32(2)
        for j in range(8):
            O[i, j] = S[7 - j]


case(scratch_in_parallel, lambda r: ([a := floats(r, 6, 8), out(6, 8)], [a, 2 * a[:, ::-1]]))


@T.prim_func
def scratch_in_several_parallel_loops(A: T.Buffer((6, 8), "float32"), O: T.Buffer((6, 8), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for _t in range(2):
        for i in T.parallel(6):
            for j in range(8):
                S[j] = A[i, j] * T.float32(2)
            for j in range(8):
                O[i, j] = S[7 - j]
        for i in T.parallel(6):
            for j in range(8):
                S[j] = O[i, j] + T.float32(1)
            for j in range(8):
                O[i, j] = S[j]


case(
    scratch_in_several_parallel_loops, lambda r: ([a := floats(r, 6, 8), out(6, 8)], [a, 2 * a[:, ::-1] + 1])
)


@T.prim_func
def tile_accumulator(
    A: T.Buffer((8, 6), "float32"), B: T.Buffer((6, 8), "float32"), C: T.Buffer((8, 8), "float32")
):
    L = T.alloc_buffer((8, 8), "float32")
    for i_0, j_0 in T.grid(2, 2):
        for k in range(6):
            for i_1 in T.unroll(4):
                for j_1 in T.vectorized(4):
                    with T.block("L"):
                        vi = T.axis.spatial(8, i_0 * 4 + i_1)
                        vj = T.axis.spatial(8, j_0 * 4 + j_1)
                        vk = T.axis.reduce(6, k)
                        with T.init():
                            L[vi, vj] = T.float32(0)
                        L[vi, vj] = L[vi, vj] + A[vi, vk] * B[vk, vj]
        for i_1 in range(4):
            for j_1 in T.vectorized(4):
                with T.block("C"):
                    vi = T.axis.spatial(8, i_0 * 4 + i_1)
                    vj = T.axis.spatial(8, j_0 * 4 + j_1)
                    C[vi, vj] = T.max(L[vi, vj], T.float32(0))


def _tiles(r):
    a, b = floats(r, 8, 6), floats(r, 6, 8)
    return [a, b, out(8, 8)], [a, b, np.maximum(a @ b, 0)]


case(tile_accumulator, _tiles)


@T.prim_func
def sliding_window(A: T.Buffer((10,), "float32"), O: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((10,), "float32")
    for i in range(8):
        for w in range(3):
            with T.block("B"):
                vw = T.axis.spatial(10, i + w)
                B[vw] = A[vw] * T.float32(2)
        for w in range(3):
            with T.block("O"):
                vi, vw = T.axis.remap("SR", [i, w])
                with T.init():
                    O[vi] = T.float32(0)
                O[vi] = O[vi] + B[vi + vw]


case(
    sliding_window,
    lambda r: ([a := floats(r, 10), out(8)], [a, 2 * (a[:-2] + a[1:-1] + a[2:])]),
)


@T.prim_func
def filled_in_turns(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((2,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.opaque(8, i)
            if vi % 2 == 0:
                B[0] = A[vi]
                B[1] = T.float32(0)
            else:
                B[1] = A[vi]
        with T.block("O"):
            vi = T.axis.opaque(8, i)
            O[vi] = B[0] + B[1]


case(
    filled_in_turns,
    lambda r: ([a := floats(r, 8), out(8)], [a, np.repeat(a[::2], 2) + np.where(np.arange(8) % 2, a, 0)]),
)


@T.prim_func
def read_before_written_again(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        B[i] = A[i]
    for i in range(8):
        O[i] = B[7 - i]
        B[i] = -1


def _twice(r):
    a = floats(r, 8, dtype="int32")
    want = a[::-1].copy()
    want[4:] = -1
    return [a, out(8, dtype="int32")], [a, want]


case(read_before_written_again, _twice)


# ---- guards


@T.prim_func
def two_uneven_splits(A: T.Buffer((10, 14), "float32"), O: T.Buffer((10, 14), "float32")):
    for i_0, j_0, i_1 in T.grid(4, 4, 3):
        for j_1 in T.vectorized(4):
            with T.block("O"):
                vi = T.axis.spatial(10, i_0 * 3 + i_1)
                vj = T.axis.spatial(14, j_0 * 4 + j_1)
                T.where(i_0 * 3 + i_1 < 10 and j_0 * 4 + j_1 < 14)
                O[vi, vj] = A[vi, vj] * T.float32(2)


case(two_uneven_splits, lambda r: ([a := floats(r, 10, 14), out(10, 14)], [a, a * 2]))


@T.prim_func
def parallel_uneven(A: T.Buffer((10, 8), "float32"), O: T.Buffer((10, 8), "float32")):
    for i_0 in T.parallel(3):
        for i_1 in range(4):
            for j in T.vectorized(8):
                with T.block("O"):
                    vi = T.axis.spatial(10, i_0 * 4 + i_1)
                    vj = T.axis.spatial(8, j)
                    T.where(i_0 * 4 + i_1 < 10)
                    O[vi, vj] = A[vi, vj] * T.float32(2)


case(parallel_uneven, lambda r: ([a := floats(r, 10, 8), out(10, 8)], [a, a * 2]))


@T.prim_func
def padded(A: T.Buffer((14,), "float32"), O: T.Buffer((16,), "float32"), P: T.Buffer((16,), "float32")):
    for i in T.vectorized(16):
        with T.block("O"):
            vi = T.axis.spatial(16, i)
            O[vi] = T.if_then_else(vi >= 1 and vi < 15, A[vi - 1], T.float32(0))
    for i in range(16):
        with T.block("P"):
            vi = T.axis.spatial(16, i)
            P[vi] = T.if_then_else(vi >= 1 and vi < 15, A[vi - 1], T.float32(0))


case(
    padded,
    lambda r: ([a := floats(r, 14), out(16), out(16)], [a, np.pad(a, 1), np.pad(a, 1)]),
)


@T.prim_func
def symbolic_padding(a: T.handle, o: T.handle, pad: T.int32):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    O = T.match_buffer(o, (m,), "float32")
    for i in range(m):
        with T.block("O"):
            vi = T.axis.spatial(m, i)
            if vi - pad >= 0 and vi < pad + n:
                O[vi] = A[vi - pad]
            else:
                O[vi] = T.float32(-1)


for _n, _pad in ((5, 2), (5, 0), (1, 7), (0, 3)):
    case(
        symbolic_padding,
        lambda r, n=_n, pad=_pad: (
            [a := floats(r, n), out(n + 2 * pad), pad],
            [a, np.pad(a, pad, constant_values=-1), None],
        ),
        f"symbolic_padding_{_n}_{_pad}",
    )


@T.prim_func
def causal(A: T.Buffer((6, 6), "float32"), O: T.Buffer((6, 6), "float32")):
    for i in range(6):
        for j in T.vectorized(6):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                if vj <= vi:
                    O[vi, vj] = A[vi, vj]
                else:
                    O[vi, vj] = T.float32(0)


case(causal, lambda r: ([a := floats(r, 6, 6), out(6, 6)], [a, np.tril(a)]))


@T.prim_func
def guard_and_break(A: T.Buffer((20,), "int32"), O: T.Buffer((20,), "int32")):
    for i in range(20):
        if A[i] > 5:
            break
        if i < 15:
            O[i] = A[i]


def _guard_and_break(r):
    a, want = floats(r, 20, dtype="int32"), out(20, dtype="int32")
    a[:9], a[9] = np.minimum(a[:9], 5), 7
    want[:9] = a[:9]
    return [a, out(20, dtype="int32")], [a, want]


case(guard_and_break, _guard_and_break)


# ---- threads, other memory


@T.prim_func
def launched(A: T.Buffer((12,), "float32"), O: T.Buffer((12,), "float32")):
    with T.launch_thread("blockIdx.x", 3) as b, T.launch_thread("threadIdx.x", 4) as t:
        O[b * 4 + t] = A[b * 4 + t] + T.float32(1)


case(launched, lambda r: ([a := floats(r, 12), out(12)], [a, a + 1]))


@T.prim_func
def thread_local_memory(A: T.Buffer((4, 3), "float32"), O: T.Buffer((4, 3), "float32")):
    S = T.alloc_buffer((4, 3), "float32", scope="shared")
    L = T.alloc_buffer((3,), "float32", scope="local")
    for t in T.thread_binding(4, thread="threadIdx.x"):
        for j in range(3):
            L[j] = A[t, j]
            S[t, j] = L[j]
        for j in range(3):
            O[t, j] = S[t, 2 - j] + L[j]


case(thread_local_memory, lambda r: ([a := floats(r, 4, 3), out(4, 3)], [a, a[:, ::-1] + a]))


@T.prim_func
def strided_allocation(A: T.Buffer((3, 4), "float32"), O: T.Buffer((4, 3), "float32")):
    B = T.alloc_buffer((3, 4), "float32", strides=[1, 5])
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for j, i in T.grid(4, 3):
        with T.block("O"):
            vj, vi = T.axis.remap("SS", [j, i])
            O[vj, vi] = B[vi, vj]


case(strided_allocation, lambda r: ([a := floats(r, 3, 4), out(4, 3)], [a, a.T]))


@T.prim_func
def realized(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    B_data = T.allocate([16], "float32", "global")
    B = T.decl_buffer((4, 4), "float32", data=B_data, elem_offset=0)
    for i in range(8):
        B[i // 4, i % 4] = A[i]
    for i in range(8):
        O[i] = B[(7 - i) // 4, (7 - i) % 4]


case(realized, lambda r: ([a := floats(r, 8), out(8)], [a, a[::-1]]))


@T.prim_func
def guards_beyond_the_loop(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(8):
        if i + n <= 12 and i >= 6:
            A[i] = 1
        if i < n and i >= n - 2:
            A[i] = A[i] + 10
        if i >= 20:
            A[i] = 7


def _beyond(r, n):
    a = floats(r, 8, dtype="int32")
    want = a.copy()
    for i in range(8):
        if i + n <= 12 and i >= 6:
            want[i] = 1
        if n - 2 <= i < n:
            want[i] += 10
    return [a, n], [want, None]


for _n in (-5, 0, 1, 5, 8, 9, 30):
    case(guards_beyond_the_loop, lambda r, n=_n: _beyond(r, n), f"guards_beyond_the_loop_{_n}")
