"""Vector accesses of every shape against NumPy's slices, with and without predicates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import FLOATS, INTS, buffer, build, function, load, loop, ramp, samples, store
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, Broadcast, BufferLoad, Call, Cast, IntImm, Ramp, Shuffle, Var, const_int
from tirscript.ir.stmt import Allocate, AllocateConst, BufferStore, DeclBuffer, seq


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, "bool"])
@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16, 64])
def test_copies(dtype: str, lanes: int) -> None:
    """Contiguous, reversed, strided: loads and stores."""
    a = np.resize(samples(dtype), 3 * lanes)
    src = buffer("A", 3 * lanes, dtype=dtype)
    outs = [buffer(f"O{k}", 3 * lanes, dtype=dtype) for k in range(5)]
    f = function(
        [src, *outs],
        store(outs[0], load(src, ramp(0, lanes)), ramp(0, lanes)),
        store(outs[1], load(src, ramp(lanes - 1, lanes, -1)), ramp(1, lanes)),
        store(outs[2], load(src, ramp(1, lanes, 2)), ramp(0, lanes)),
        store(outs[3], load(src, ramp(0, lanes)), ramp(0, lanes, 3)),
        store(outs[4], load(src, ramp(0, lanes)), ramp(lanes, lanes, -1)),
    )
    got = [np.zeros(3 * lanes, dtype) for _ in outs]
    build(f)(a, *got)
    want = [np.zeros(3 * lanes, dtype) for _ in outs]
    want[0][:lanes] = a[:lanes]
    want[1][1 : lanes + 1] = a[:lanes][::-1]
    want[2][:lanes] = a[1 : 2 * lanes : 2][:lanes]
    want[3][::3] = a[:lanes]
    want[4][1 : lanes + 1] = a[:lanes][::-1]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float64", "uint16"])
def test_gather_and_scatter(dtype: str) -> None:
    a = np.resize(samples(dtype), 16)
    where = np.array([3, 3, 0, 15, 7, 1, 2, 14], "int32")
    src, idx, out, back = (
        buffer("A", 16, dtype=dtype),
        buffer("I", 8, dtype="int32"),
        buffer("O", 8, dtype=dtype),
        buffer("B", 16, dtype=dtype),
    )
    f = function(
        [src, idx, out, back],
        store(out, load(src, load(idx, ramp(0, 8))), ramp(0, 8)),
        store(back, load(src, ramp(0, 8)), load(idx, ramp(0, 8))),
    )
    o, b = np.zeros(8, dtype), np.zeros(16, dtype)
    build(f)(a, where, o, b)
    np.testing.assert_array_equal(o, a[where])
    want = np.zeros(16, dtype)
    for k, i in enumerate(where):
        want[i] = a[k]
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "int64"])
@pytest.mark.parametrize("stride", [1, 2, -1, 0])
def test_predicates(dtype: str, stride: int) -> None:
    """Lanes without the predicate are neither read nor written: the array ends before them."""
    n, lanes = 5, 8
    a = np.resize(samples(dtype), 2 * n)
    src, out = buffer("A", 2 * n, dtype=dtype), buffer("O", 2 * n, dtype=dtype)
    start = {1: 0, 2: 0, -1: 2 * n - 1, 0: 3}[stride]
    mask = ops.lt(ramp(0, lanes), Broadcast(const_int(n), lanes))
    value = BufferLoad(src, (ramp(start, lanes, stride),), mask)
    f = function([src, out], BufferStore(out, value, (ramp(start, lanes, stride),), mask))
    o = np.zeros(2 * n, dtype)
    build(f)(a, o)
    want = np.zeros(2 * n, dtype)
    for i in range(n):
        want[start + i * stride] = a[start + i * stride]
    np.testing.assert_array_equal(o, want)


def test_no_read_behind_a_false_guard() -> None:
    """if_then_else, and, or read only what they need: other indices here are beyond all memory."""
    n = Var("n", "int64")
    a, out = buffer("A", 8), buffer("O", 8)
    element = lambda i: load(a, i * n)  # noqa: E731
    conditions = {
        "f": lambda i: ops.logical_and(ops.lt(i, 1), ops.ge(element(i), 0.0)),
        "g": lambda i: ops.logical_or(ops.ge(i, 1), ops.ge(element(i), 0.0)),
    }
    made = [
        function([a, out, n], loop(8, lambda i: store(out, ops.if_then_else(c(i), 1.0, 2.0), i)), name=name)
        for name, c in conditions.items()
    ]
    made.append(
        function(
            [a, out, n],
            loop(8, lambda i: store(out, ops.if_then_else(ops.ge(i, 1), 5.0, element(i)), i)),
            name="h",
        )
    )
    m = build(*made)
    x, o = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    far = 1 << 45
    m["f"](x, o, far)
    assert o.tolist() == [1] + [2] * 7
    m["g"](x, o, far)
    assert o.tolist() == [1] * 8
    m["h"](x, o, far)
    assert o.tolist() == [0] + [5] * 7


def test_vector_conditions_mask_their_reads() -> None:
    far = 1 << 45
    a, out = buffer("A", 8, dtype="float32"), buffer("O", 8, dtype="float32")
    i = ramp(0, 8)
    near = ops.lt(i, Broadcast(const_int(5), 8))
    # Lanes 5, 6, 7 would read at 5 * 2**45 and beyond.
    step = Broadcast(IntImm(far, "int64"), 8)
    wild = ops.mul(
        ops.maximum(
            ops.sub(Cast("int64x8", i), Broadcast(IntImm(4, "int64"), 8)), Broadcast(IntImm(0, "int64"), 8)
        ),
        step,
    )
    value = Call("float32x8", "if_then_else", (near, load(a, wild), Broadcast(ops.const(7.0), 8)))
    both = Call(
        "float32x8",
        "if_then_else",
        (
            ops.logical_and(near, ops.gt(load(a, wild), Broadcast(ops.const(-1.0), 8))),
            Broadcast(ops.const(1.0), 8),
            Broadcast(ops.const(2.0), 8),
        ),
    )
    x, o = np.arange(8, dtype="float32") + 3, np.zeros(8, "float32")
    build(function([a, out], store(out, value, i)))(x, o)
    assert o.tolist() == [3] * 5 + [7] * 3
    build(function([a, out], store(out, both, i)))(x, o)
    assert o.tolist() == [1] * 5 + [2] * 3
    # A scalar read inside a branch that no lane takes.
    n = Var("n", "int64")
    never = ops.lt(Broadcast(n, 8), Broadcast(IntImm(0, "int64"), 8))
    value = Call("float32x8", "if_then_else", (never, Broadcast(load(a, n * far), 8), load(a, i)))
    build(function([a, out, n], store(out, value, i)))(x, o, 1)
    np.testing.assert_array_equal(o, x)


def test_shuffles_and_halves() -> None:
    a, out = buffer("A", 8), buffer("O", 16)
    v = load(a, ramp(0, 8))
    picked = Shuffle((v,), tuple(const_int(k) for k in (7, 0, 3, 3)))
    low, high = (Call("float32x4", n, (v,)) for n in ("vectorlow", "vectorhigh"))
    both = Call("float32x8", "vectorcombine", (high, low))
    one = Shuffle((v,), (const_int(5),))
    f = function(
        [a, out], store(out, picked, ramp(0, 4)), store(out, both, ramp(4, 8)), store(out, one, 12),
        store(out, load(a, ramp(0, 2)), ramp(13, 2)),
    )  # fmt: skip
    x, o = np.arange(8, dtype="float32"), np.zeros(16, "float32")
    build(f)(x, o)
    assert o.tolist() == [7, 0, 3, 3, 4, 5, 6, 7, 0, 1, 2, 3, 5, 0, 1, 0]


def test_several_dimensions_strides_and_offsets() -> None:
    """Buffers that lowering left with more dimensions are row-major, or use their strides."""
    a, out = buffer("A", 3, 4), buffer("O", 4, 3)
    f = function([a, out], loop(3, lambda i: loop(4, lambda j: store(out, load(a, i, j), j, i), name="j")))
    x, o = np.arange(12, dtype="float32").reshape(3, 4), np.zeros((4, 3), "float32")
    build(f)(x, o)
    np.testing.assert_array_equal(o, x.T)
    s0, s1 = Var("s0", "int64"), Var("s1", "int64")
    a = buffer("A", 3, 4, strides=(s0, s1))
    f = function([a, out], loop(3, lambda i: loop(4, lambda j: store(out, load(a, i, j), j, i), name="j")))
    run = build(f)
    base = np.arange(48, dtype="float32").reshape(6, 8)
    for view in (
        base[::2, ::2],
        base[:3, :4],
        base[2::-1, 3::-1],
        base.T[:3, :4],
        np.broadcast_to(base[0, :4], (3, 4)),
    ):
        run(view, o)
        np.testing.assert_array_equal(o, view.T)


def test_vector_elements() -> None:
    a, out = buffer("A", 4, dtype="float32x4"), buffer("O", 4, dtype="float32x4")
    f = function([a, out], loop(4, lambda i: store(out, ops.add(load(a, i), load(a, i)), i)))
    x, o = np.arange(16, dtype="float32").reshape(4, 4), np.zeros((4, 4), "float32")
    build(f)(x, o)
    np.testing.assert_array_equal(o, x * 2)


@pytest.mark.parametrize("size", [4, 1000, 5000, 100_000, 3_000_000])
def test_temporaries(size: int) -> None:
    """Small ones on the stack, large ones on the heap; the stack never overflows."""
    pointer = Var("T", "handle", False)
    t = Buffer("T", (const_int(size),), "float32", pointer)
    a, out = buffer("A", size), buffer("O", size)
    body = DeclBuffer(
        t,
        seq(
            loop(size, lambda i: store(t, load(a, i) * 2.0, i)),
            loop(size, lambda i: store(out, load(t, size - 1 - i), i)),
        ),
    )
    f = function([a, out], Allocate(pointer, "float32", (const_int(size),), TRUE, body))
    x, o = np.arange(size, dtype="float32"), np.zeros(size, "float32")
    run = build(f)
    for _ in range(3):
        run(x, o)
    np.testing.assert_array_equal(o, x[::-1] * 2)
    assert ("aligned_alloc" in run.get_source("ll")) == (size * 4 > 8192)


def test_temporaries_of_symbolic_size() -> None:
    n = Var("n")
    pointer = Var("T", "handle", False)
    t = Buffer("T", (n,), "float32", pointer)
    a, out = buffer("A", n), buffer("O", n)
    body = DeclBuffer(
        t,
        seq(
            loop(n, lambda i: store(t, load(a, i) * 2.0, i)),
            loop(n, lambda i: store(out, load(t, n - 1 - i), i)),
        ),
    )
    run = build(function([a, out], Allocate(pointer, "float32", (n,), TRUE, body)))
    for size in (0, 1, 7, 100_000):
        x, o = np.arange(size, dtype="float32"), np.zeros(size, "float32")
        run(x, o)
        np.testing.assert_array_equal(o, x[::-1] * 2)


def test_registers_for_constant_indices() -> None:
    """A tile that is indexed by constants only ends in registers, whatever its size."""
    lanes, rows = 8, 40
    pointer = Var("T", "handle", False)
    t = Buffer("T", (const_int(lanes * rows * 8),), "float32", pointer)
    a, out = buffer("A", lanes), buffer("O", lanes)
    stores = [
        store(t, load(a, ramp(0, lanes)) * Broadcast(ops.const(float(k)), lanes), ramp(k * lanes, lanes))
        for k in range(rows)
    ]
    total: Any = load(t, ramp(0, lanes))
    for k in range(1, rows):
        total = ops.add(total, load(t, ramp(k * lanes, lanes)))
    body = DeclBuffer(t, seq(*stores, store(out, total, ramp(0, lanes))))
    m = build(function([a, out], Allocate(pointer, "float32", t.shape, TRUE, body)))
    x, o = np.arange(lanes, dtype="float32"), np.zeros(lanes, "float32")
    m(x, o)
    np.testing.assert_array_equal(o, x * sum(range(rows)))
    assert "alloca [" not in m.get_source("ll-optimized") and "aligned_alloc" not in m.get_source("ll")


def test_constant_arrays() -> None:
    data = np.array([[1, -2, 3], [4, 5, 1 << 30]], "int32")
    pointer = Var("K", "handle", False)
    k = Buffer("K", (const_int(6),), "int32", pointer)
    out = buffer("O", 6, dtype="int32")
    body = AllocateConst(
        pointer,
        "int32",
        (const_int(2), const_int(3)),
        data,
        DeclBuffer(k, loop(6, lambda i: store(out, load(k, i), i))),
    )
    o = np.zeros(6, "int32")
    build(function([out], body))(o)
    np.testing.assert_array_equal(o, data.ravel())


def test_ramps_as_values() -> None:
    out = buffer("O", 24, dtype="int32")
    n = Var("n")
    f = function(
        [out, n],
        store(out, Ramp(n, const_int(3), 8), ramp(0, 8)),
        store(out, Ramp(const_int(5), n, 8), ramp(8, 8)),
        store(out, ops.floormod(ramp(0, 8), Broadcast(const_int(3), 8)), ramp(16, 8)),
    )
    o = np.zeros(24, "int32")
    build(f)(o, -4)
    k = np.arange(8)
    np.testing.assert_array_equal(o, np.concatenate([-4 + 3 * k, 5 - 4 * k, k % 3]))
