# ruff: noqa: E501
"""Memory on the python target: views, regions, strides, temporaries, vectors, pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.python import compile_python, support


def run(text: str, *arrays: Any) -> Any:
    return compile_python(ts.parse(text))["f"](*arrays)


def test_views_share_memory() -> None:
    a = np.zeros((4, 4), "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((4, 4), "int32")):
    row = T.decl_buffer((4,), "int32", data=A.data, elem_offset=4)
    diagonal = T.decl_buffer((4,), "int32", data=A.data, strides=[5])
    for i in range(4):
        row[i] = i + 1
        diagonal[i] = diagonal[i] + 10
""",
        a,
    )
    want = np.zeros((4, 4), int)
    want[1] = [1, 2, 3, 4]
    want[np.arange(4), np.arange(4)] += 10
    # Row 1 is written while the diagonal is: the cell (1, 1) by both, in the order of the loop.
    assert a.tolist() == want.tolist()


def test_views_of_another_dtype_see_the_bits() -> None:
    a, b = np.array([1.0, -2.0], "float32"), np.zeros(2, "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "int32")):
    bits = T.decl_buffer((2,), "int32", data=A.data)
    for i in range(2):
        B[i] = bits[i]
""",
        a,
        b,
    )
    assert b.tolist() == a.view("int32").tolist()


def test_region_views_know_their_strides_and_offsets() -> None:
    a = np.arange(64, dtype="int32").reshape(8, 8)
    out = np.zeros((4, 3), "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((8, 8), "int32"), O: T.Buffer((4, 3), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            T.writes(O[vi * 2 + vj, 0:3])
            s0 = T.int32()
            s1 = T.int32()
            V = T.match_buffer(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "int32", strides=[s0, s1], offset_factor=1)
            O[vi * 2 + vj, 0] = s0
            O[vi * 2 + vj, 1] = s1
            O[vi * 2 + vj, 2] = V[1, 2]
""",
        a,
        out,
    )
    want = [[8, 1, int(a[i * 4 + 1, j * 4 + 2])] for i in range(2) for j in range(2)]
    assert out.tolist() == want


def test_writes_through_a_region_of_lower_rank() -> None:
    a = np.zeros((3, 1, 4), "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((3, 1, 4), "int32")):
    for i in range(3):
        with T.block("row"):
            vi = T.axis.spatial(3, i)
            T.reads()
            T.writes(A[vi, 0, 0:4])
            row = T.match_buffer(A[vi, 0, 0:4], (4,), "int32", offset_factor=1)
            for j in range(4):
                row[j] = vi * 10 + j
""",
        a,
    )
    assert a.ravel().tolist() == [i * 10 + j for i in range(3) for j in range(4)]


@pytest.mark.parametrize("step", [1, 2, -1])
def test_parameters_of_any_stride(step: int) -> None:
    a = np.arange(24, dtype="int32").reshape(4, 6)[:, ::step]
    out = np.zeros_like(a, order="C")
    run(
        f"""
@T.prim_func
def f(a: T.handle, O: T.Buffer({a.shape}, "int32")):
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, {a.shape}, "int32", strides=[s, t])
    for i, j in T.grid({a.shape[0]}, {a.shape[1]}):
        O[i, j] = A[i, j] + t
""",
        a,
        out,
    )
    assert out.tolist() == (a + step).tolist()


def test_temporaries_of_each_iteration_are_their_own() -> None:
    out = np.zeros(4, "int32")
    run(
        """
@T.prim_func
def f(O: T.Buffer((4,), "int32")):
    for i in range(4):
        p = T.allocate([2], "int32", "global")
        P = T.decl_buffer((2,), "int32", data=p)
        P[0] = i
        P[1] = P[0] * 2
        O[i] = P[0] + P[1]
""",
        out,
    )
    assert out.tolist() == [0, 3, 6, 9]


def test_vectors() -> None:
    a, out = np.arange(16, dtype="float32"), np.zeros(16, "float32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32")):
    O[0:4] = A[0:8:2] * T.Broadcast(T.float32(2), 4)
    O[4:8] = T.Select(A[4:8] > T.Broadcast(A[5], 4), A[4:8], T.Broadcast(T.float32(-1), 4))
    O[8:12] = T.Cast("float32x4", T.Ramp(3, 5, 4))
    O[12:16] = T.Shuffle([A[0:4], A[4:8]], [7, 0, 4, 3])
""",
        a,
        out,
    )
    assert out.tolist() == [0, 4, 8, 12, -1, -1, 6, 7, 3, 8, 13, 18, 7, 0, 4, 3]


def test_vector_loads_are_values_not_views() -> None:
    a = np.arange(8, dtype="int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    with T.LetStmt(A[0:4]) as old:
        A[0:4] = A[4:8]
        A[4:8] = old
""",
        a,
    )
    assert a.tolist() == [4, 5, 6, 7, 0, 1, 2, 3]


def test_predicated_lanes_are_not_touched() -> None:
    a, out = np.arange(8, dtype="float32"), np.full(8, -1, "float32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32"), n: T.int32):
    O.vstore([T.Ramp(0, 1, 8)], A.vload([T.Ramp(0, 1, 8)], predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8)), predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8))
""",
        a,
        out,
        3,
    )
    assert out.tolist() == [0, 1, 2, -1, -1, -1, -1, -1]


def test_atomic_addition_through_an_address() -> None:
    a, h = np.array([1, 2, 1, 3, 1], "int32"), np.zeros(4, "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((5,), "int32"), H: T.Buffer((4,), "int32")):
    for i in range(5):
        T.atomic_add(T.address_of(H[A[i]]), 1)
""",
        a,
        h,
    )
    assert h.tolist() == np.bincount(a, minlength=4).tolist()


def test_rank_0_and_zero_extents() -> None:
    out, nothing = np.array(3, "int32"), np.zeros((0, 4), "int32")
    run(
        """
@T.prim_func
def f(A: T.Buffer((0, 4), "int32"), O: T.Buffer((), "int32")):
    for i, j in T.grid(0, 4):
        O[()] = A[i, j]
    O[()] = O[()] + 1
""",
        nothing,
        out,
    )
    assert int(out) == 4


def test_constant_tables() -> None:
    out = np.zeros((2, 2), "float32")
    run(
        """
@T.prim_func
def f(O: T.Buffer((2, 2), "float32")):
    p = T.allocate_const([[0.5, -1.5], [2.0, 3.25]], "float32", [2, 2])
    P = T.decl_buffer((2, 2), "float32", data=p)
    for i, j in T.grid(2, 2):
        O[i, j] = P[j, i]
""",
        out,
    )
    assert out.tolist() == [[0.5, 2.0], [-1.5, 3.25]]


def test_a_region_of_another_shape_is_a_view_or_an_error() -> None:
    base = np.arange(24).reshape(4, 6)
    seen = support.region(base[1:3, 0:6], (12,))
    seen[0] = 100
    assert base[1, 0] == 100
    with pytest.raises(ts.AssertFailed, match="no view"):
        support.region(base[0:2, 0:3], (6,))
