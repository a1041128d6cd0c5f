"""transform_layout: buffers in other layouts, with and without padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.ir.index_map import IndexMap
from tirscript.schedule import Schedule
from tirscript.script import ir as I
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run, two_stages


def refused(program: Any, code: str, *args: Any, **kwargs: Any) -> str:
    sch = Schedule(program)
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.transform_layout(*args, **kwargs)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod["main"] is before and len(sch.history) == 0
    with pytest.raises(ts.ScheduleError):
        sch.check.transform_layout(*args, **kwargs)
    return str(caught.value)


def equal(sch: Schedule, want: Any) -> None:
    have = sch.mod["main"].without_attr("global_symbol")
    ts.assert_structural_equal(have, want.without_attr("global_symbol"))
    roundtrip(sch.mod)


@T.prim_func
def reversed_stage(A: T.Buffer((14,), "int32"), O: T.Buffer((14,), "int32")):
    B = T.alloc_buffer((14,), "int32")
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi] * 3
    for i in range(14):
        with T.block("O"):
            vi = T.axis.spatial(14, i)
            O[vi] = B[13 - vi] + 1


INDICES = np.arange(14, dtype="int32")
REVERSED = (INDICES * 3)[::-1] + 1


def test_a_stage_in_tiles() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((3, 5, 4, 2), "float32")
        for i, j in T.grid(12, 10):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi // 4, vj // 2, vi % 4, vj % 2] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi // 4, vj // 2, vi % 4, vj % 2] + T.float32(1)

    a = rng(12, 10)
    for block, which in (("B", ("write", 0)), ("C", ("read", 0)), ("C", "B"), ("B", ["write", 0])):
        sch = Schedule(two_stages)
        handle, loops = sch.get_block(block), sch.get_loops(block)
        sch.transform_layout(handle, which, lambda i, j: [i // 4, j // 2, i % 4, j % 2])
        equal(sch, want)
        assert sch.get_loops(handle) == loops
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
    buffer = Schedule(two_stages).get(Schedule(two_stages).get_block("B")).writes[0].buffer
    sch = Schedule(two_stages)
    sch.transform_layout("B", buffer, T.index_map(lambda i, j: (i // 4, j // 2, i % 4, j % 2)))
    equal(sch, want)


def test_parameters_change_the_signature() -> None:
    @T.prim_func
    def want(
        A: T.Buffer((24, 16), "float32"), B: T.Buffer((480,), "float32"), C: T.Buffer((4, 5, 4, 4), "float32")
    ):
        for i, j, k in T.grid(16, 20, 24):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi // 4, vj // 4, vi % 4, vj % 4] = T.float32(0)
                C[vi // 4, vj // 4, vi % 4, vj % 4] = (
                    C[vi // 4, vj // 4, vi % 4, vj % 4] + A[vk, vi] * B[vk * 20 + vj]
                )

    sch = Schedule(matmul)
    sch.transform_layout("C", ("read", 0), lambda i, j: [j, i])
    sch.transform_layout("C", ("read", 1), lambda i, j: i * 20 + j)
    sch.transform_layout("C", "C", lambda i, j: [i // 4, j // 4, i % 4, j % 4])
    equal(sch, want)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    got = run(sch.mod, np.ascontiguousarray(a.T), b.reshape(480), np.zeros((4, 5, 4, 4), "float32"))
    np.testing.assert_allclose(got.transpose(0, 2, 1, 3).reshape(16, 20), a @ b, rtol=1e-5)
    i, j, k = sch.get_loops("C")
    sch.parallel(i)
    sch.vectorize(sch.split(j, [None, 4])[1])
    sch.undo(6)
    assert [len(b.shape) for b in sch.mod["main"].buffers] == [2, 2, 2]


def test_negative_strides_in_indices() -> None:
    for f in (lambda i: [i % 7, i // 7], lambda i: [13 - i], lambda i: [(13 - i) // 7, (13 - i) % 7]):
        for block, kind in (("B", "write"), ("O", "read")):
            sch = Schedule(reversed_stage)
            sch.transform_layout(block, (kind, 0), f)
            roundtrip(sch.mod)
            np.testing.assert_array_equal(run(sch.mod, INDICES, np.zeros(14, "int32")), REVERSED)


def test_padding_written_with_the_rest() -> None:
    @T.prim_func
    def want(A: T.Buffer((14,), "int32"), O: T.Buffer((14,), "int32")):
        B = T.alloc_buffer((4, 4), "int32")
        for axis0, axis1 in T.grid(4, 4):
            with T.block("B"):
                v0, v1 = T.axis.remap("SS", [axis0, axis1])
                T.reads(A[v0 * 4 + v1])
                T.writes(B[v0, v1])
                B[v0, v1] = T.if_then_else(v0 * 4 + v1 >= 14, 77, A[v0 * 4 + v1] * 3)
        for i in range(14):
            with T.block("O"):
                vi = T.axis.spatial(14, i)
                O[vi] = B[(13 - vi) // 4, (1 - vi) % 4] + 1

    sch = Schedule(reversed_stage)
    block = sch.get_block("B")
    sch.transform_layout(block, ("write", 0), lambda i: [i // 4, i % 4], pad_value=77)
    equal(sch, want)
    assert [sch.get(x).extent.value for x in sch.get_loops(block)] == [4, 4]
    np.testing.assert_array_equal(run(sch.mod, INDICES, np.zeros(14, "int32")), REVERSED)


@pytest.mark.parametrize(
    ("pad", "want"),
    [
        (5, [5, 5]),
        (np.int64(-2), [-2, -2]),
        (lambda i, j: i * 10 + j, [32, 33]),
        (T.index_map(lambda i, j: (j - i,)), [-1, 0]),
        (ts.tir.const(9, "int32"), [9, 9]),
        (lambda i, j: T.undef(dtype="int32"), None),
        (T.undef(), None),
    ],
)
def test_pad_values(pad: Any, want: list[int] | None) -> None:
    """The padding of an output is what was asked for, and nothing else changes."""

    @T.prim_func
    def f(A: T.Buffer((14,), "int32"), O: T.Buffer((14,), "int32")):
        for i in range(14):
            with T.block("O"):
                vi = T.axis.spatial(14, i)
                O[vi] = A[vi] * 3

    sch = Schedule(f)
    sch.transform_layout("O", "O", lambda i: [i // 4, i % 4], pad_value=pad)
    roundtrip(sch.mod)
    for target in ("python", "llvm"):
        out = np.full((4, 4), -7, "int32")
        ts.build(sch.mod, target=target)(INDICES, out)
        np.testing.assert_array_equal(out.reshape(16)[:14], INDICES * 3)
        if want is not None:
            np.testing.assert_array_equal(out.reshape(16)[14:], want)


def test_padding_of_a_reduction_and_of_floats() -> None:
    @T.prim_func
    def f(A: T.Buffer((5, 6, 3), "float16"), O: T.Buffer((5, 6), "float16")):
        for k, i, j in T.grid(3, 5, 6):
            with T.block("O"):
                vk, vi, vj = T.axis.remap("RSS", [k, i, j])
                with T.init():
                    O[vi, vj] = T.float16(0)
                O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    sch = Schedule(f)
    sch.transform_layout("O", "O", lambda i, j: [j, i // 2, i % 2], pad_value=1.5)
    names = [sch.get(x).loop_var.name for x in sch.get_loops("O")]
    assert names == ["k", "j", "axis1", "axis2"]
    a = rng(5, 6, 3, dtype="float16")
    got = run(sch.mod, a, np.zeros((6, 3, 2), "float16"))
    np.testing.assert_array_equal(got.reshape(6, 6)[:, :5].T, a.sum(2))
    np.testing.assert_array_equal(got.reshape(6, 6)[:, 5], 1.5)


def two_writers(n: int):
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((n,), "int32")):
        for i in range(10):
            with T.block("lo"):
                vi = T.axis.spatial(10, i)
                O[vi] = A[vi] + 1
        for i in range(n - 10):
            with T.block("hi"):
                vi = T.axis.spatial(n - 10, i)
                O[vi + 10] = A[vi + 10] * 2

    return f


def test_padding_written_by_a_block_of_its_own() -> None:
    a = np.arange(16, dtype="int32")
    want = np.concatenate([a[:10] + 1, a[10:14] * 2, [77, 77]])
    sch = Schedule(two_writers(14))
    sch.transform_layout("lo", ("write", 0), lambda i: [i // 4, i % 4], pad_value=77)
    assert sch.get(sch.get_block("buffer_O_padding")).writes[0].buffer.name == "O"
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((4, 4), "int32")).reshape(16), want)
    # A writer whose loops were split keeps them.
    sch = Schedule(reversed_stage)
    sch.split(sch.get_loops("B")[0], [None, 7])
    sch.transform_layout("B", ("write", 0), lambda i: [i // 4, i % 4], pad_value=77)
    assert len(sch.get_loops("B")) == 2 and len(sch.get_loops("buffer_B_padding")) == 2
    np.testing.assert_array_equal(run(sch.mod, INDICES, np.zeros(14, "int32")), REVERSED)


def test_padding_of_a_parameter_that_is_read() -> None:
    sch = Schedule(reversed_stage)
    sch.transform_layout("B", "A", lambda i: [i // 4, i % 4], pad_value=0)
    assert sch.get(sch.get_block("buffer_A_assumptions")).reads[0].buffer.name == "A"
    padded = np.concatenate([INDICES, [0, 0]]).astype("int32").reshape(4, 4)
    np.testing.assert_array_equal(run(sch.mod, padded, np.zeros(14, "int32")), REVERSED)
    sch = Schedule(reversed_stage)
    sch.transform_layout("B", "A", lambda i: [i // 4, i % 4], pad_value=T.undef())
    assert len(sch.get_child_blocks(sch.get_block("root"))) == 2
    padded[3, 2:] = 99
    np.testing.assert_array_equal(run(sch.mod, padded, np.zeros(14, "int32")), REVERSED)


def test_a_pad_value_without_padding_does_nothing() -> None:
    for pad in (None, 77, lambda i, j: i):
        sch = Schedule(two_stages)
        sch.transform_layout("B", "B", lambda i, j: [j, i], pad_value=pad)
        assert len(sch.get_loops("B")) == 2
        assert sch.get(sch.get_loops("B")[0]).loop_var.name == "i"


def test_symbolic_shapes() -> None:
    sch = Schedule(copy_symbolic)
    sch.transform_layout("O", "O", lambda i, j: [j, i])
    roundtrip(sch.mod)
    for n in (1, 5):
        a = rng(n, 7)
        got = run(sch.mod, a, np.zeros((7, n), "float32"))
        np.testing.assert_array_equal(got, a.T)
    assert "tells what `n` is" in refused(
        copy_symbolic_one(), "shape-undetermined", "O", "A", lambda i: [i // 4, i % 4], 0
    )

    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        O = T.match_buffer(o, (n,), "int32")
        for i in range(n):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = A[vi] + 1

    sch = Schedule(f)
    sch.transform_layout("O", "O", lambda i: [i // 4, i % 4], pad_value=-1)
    roundtrip(sch.mod)
    for n in (1, 3, 4, 9):
        x = np.arange(n, dtype="int32")
        size = -(-n // 4)
        got = run(sch.mod, x, np.zeros((size, 4), "int32")).reshape(-1)
        np.testing.assert_array_equal(got[:n], x + 1)
        np.testing.assert_array_equal(got[n:], -1)


def copy_symbolic_one():
    @T.prim_func
    def f(a: T.handle, O: T.Buffer((3,), "int32")):
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        for i in range(3):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                O[vi] = A[T.min(vi, n - 1)]

    return f


def test_inside_a_block_and_rank_0() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), S: T.Buffer((), "int32"), O: T.Buffer((4, 8), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:8], S[()])
                T.writes(O[vi, 0:8])
                for j in range(8):
                    with T.block("O"):
                        vj = T.axis.spatial(8, j)
                        O[vi, vj] = A[vi, 7 - vj] + S[()]

    sch = Schedule(f)
    sch.transform_layout("O", "A", lambda i, j: [i * 8 + j])
    sch.transform_layout("O", "O", lambda i, j: [j // 4, i, j % 4])
    sch.transform_layout("O", "S", lambda: [0])
    outer = sch.get(sch.get_block("outer"))
    assert str(outer.reads[0]) == "A[vi * 8:vi * 8 + 8]"
    assert str(outer.writes[0]) == "O[0:2, vi, 0:4]"
    a = rng(4, 8, dtype="int32")
    got = run(sch.mod, a.reshape(32), np.array([5], "int32"), np.zeros((2, 4, 4), "int32"))
    np.testing.assert_array_equal(got.transpose(1, 0, 2).reshape(4, 8), a[:, ::-1] + 5)


@pytest.mark.parametrize("steps", range(1, 4))
def test_mixed_index_dtypes(steps: int) -> None:
    @T.prim_func
    def f(A: T.Buffer((T.int64(8), T.int64(12)), "float32"), O: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((T.int64(8), T.int64(12)), "float32")
        for i, j in T.grid(T.int64(8), T.int64(12)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for i, j in T.grid(8, 12):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = B[7 - vi, vj] * T.float32(2)

    a = np.arange(96, dtype="float32").reshape(8, 12)
    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], factors=[None, 3])
    if steps >= 2:
        sch.cache_read("O", 0, "global")
    if steps >= 3:
        sch.transform_layout("O", ("read", 0), lambda p, q: [q // 5, p, q % 5], pad_value=0)
    sch.transform_layout("B", ("write", 0), lambda p, q: [q // 2, p, q % 2])
    roundtrip(sch.mod)
    got = run(sch.mod, a, np.zeros((8, 12), "float32"))
    np.testing.assert_array_equal(got, (a[::-1] + 1) * 2)


@T.prim_func
def long_stage(A: T.Buffer((99999,), "int32"), O: T.Buffer((99999,), "int32")):
    B = T.alloc_buffer((99999,), "int32")
    for i in range(99999):
        with T.block("B"):
            vi = T.axis.spatial(99999, i)
            B[vi] = A[vi] * 3
    for i in range(99999):
        with T.block("O"):
            vi = T.axis.spatial(99999, i)
            O[vi] = B[vi] + 1


def test_assumed_injective() -> None:
    for f in (lambda i: [T.if_then_else(i < 7, i + 7, i - 7)], lambda i: [T.bitwise_xor(i, 1)]):
        sch = Schedule(reversed_stage)
        sch.transform_layout("B", "B", f)  # seen by trying all indices
        np.testing.assert_array_equal(run(sch.mod, INDICES, np.zeros(14, "int32")), REVERSED)
    parity = lambda i: [T.bitwise_xor(i, 1)]  # noqa: E731
    refused(long_stage, "unknown-shape", "B", "B", parity)
    sch = Schedule(long_stage)
    sch.transform_layout("B", "B", lambda i: [T.max(i, i)], assume_injective_transform=True)
    twisted = lambda i: [i // 2, T.bitwise_and(i, 1)]  # noqa: E731
    sch = Schedule(reversed_stage)
    sch.transform_layout("B", "B", twisted, assume_injective_transform=True)
    np.testing.assert_array_equal(run(sch.mod, INDICES, np.zeros(14, "int32")), REVERSED)


def test_traces_hold_maps() -> None:
    """As objects, Python and JSON (which the fixture replays): lambdas, maps, pad values."""
    sch = Schedule(two_stages)
    sch.transform_layout("B", "B", lambda i, j: [i // 5, j, i % 5], pad_value=lambda a, b, c: T.float32(1))
    sch.transform_layout("B", "A", I.index_map(lambda i, j: [j, i], index_dtype="int32"))
    sch.transform_layout("C", ("write", 0), IndexMap.from_func(lambda *a: [a[1], a[0]], 2), 0.5)
    text = str(sch.trace)
    assert "index_map=lambda i, j: (i // 5, j, i % 5)" in text
    assert "lambda a_0, a_1: (a_1, a_0)" in text
    assert "lambda i, j: (i // 5, j, i % 5)" in str(sch.history)


def test_refusals() -> None:
    stage = ("B", ("write", 0))
    assert "axis0 * 4 + axis1 >= 14" in refused(
        reversed_stage, "padding-needed", *stage, lambda i: [i // 4, i % 4]
    )
    refused(reversed_stage, "not-injective", *stage, lambda i: [i // 2])
    refused(reversed_stage, "not-injective", *stage, lambda i: [i * 0])
    refused(reversed_stage, "unknown-shape", *stage, lambda i: [i - 1])
    for bad in (
        lambda i, j: [i],
        lambda i: "x",
        7,
        None,
        lambda i: i / 2,
        lambda i: [1.5],
        lambda i: [[i]],
        lambda i: i < 3,
    ):
        refused(reversed_stage, "bad-index-map", *stage, bad)
    tiles = lambda i: [i // 4, i % 4]  # noqa: E731
    for pad in ("x", 1.5, 1 << 40, lambda i, j: [i, j], T.float32(1.5), [1]):
        refused(reversed_stage, "bad-pad-value", *stage, tiles, pad)
    refused(reversed_stage, "bad-index-map", *stage, tiles, lambda i: i)
    refused(reversed_stage, "bad-buffer-index", "B", 0, tiles)
    refused(reversed_stage, "bad-buffer-index", "B", ("copy", 0), tiles)
    refused(reversed_stage, "bad-buffer-index", "B", ("read", "0", 1), tiles)
    refused(reversed_stage, "no-such-buffer", "B", "X", tiles)
    refused(reversed_stage, "no-such-buffer", "B", ("read", 1), tiles)
    refused(reversed_stage, "wrong-handle", 3, "X", tiles)


def test_buffers_that_keep_their_layout() -> None:
    @T.prim_func
    def view(A: T.Buffer((4, 4), "int32"), O: T.Buffer((4, 4), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:4])
                T.writes(O[vi, 0:4])
                row = T.match_buffer(A[vi, 0:4], (4,), "int32", offset_factor=1)
                for j in range(4):
                    O[vi, j] = row[j]

    assert "through the view row" in refused(view, "used-otherwise", "O", "A", lambda i, j: [j, i])

    @T.prim_func
    def pointer(A: T.Buffer((4,), "float32"), O: T.Buffer((4,), "float32")):
        with T.block("O"):
            T.reads(A[0:4])
            T.writes(O[0:4])
            T.evaluate(T.call_extern("int32", "f", A.data, T.address_of(O[0])))

    refused(pointer, "used-otherwise", "O", "A", lambda i: [3 - i])
    refused(pointer, "used-otherwise", "O", "O", lambda i: [3 - i])

    @T.prim_func
    def strided(a: T.handle, O: T.Buffer((4, 4), "int32")):
        s = T.int32()
        A = T.match_buffer(a, (4, 4), "int32", strides=(s, 1))
        for i, j in T.grid(4, 4):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = A[vi, vj]

    refused(strided, "strided-buffer", "O", "A", lambda i, j: [j, i])

    @T.prim_func
    def declared(O: T.Buffer((4,), "int32")):
        X = T.decl_buffer((4,), "int32")
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                X[vi] = vi
                O[vi] = X[vi]

    refused(declared, "not-allocated", "O", "X", lambda i: [3 - i])

    sch = Schedule(two_stages)
    sch.storage_align("B", 0, 0, 32, 8)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.transform_layout("B", "B", lambda i, j: [j, i])
    assert caught.value.code == "used-otherwise" and "alignment" in str(caught.value)
