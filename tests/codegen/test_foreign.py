"""Functions registered in Python, LLVM's intrinsics, fixed-point products, calls that bind shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.runtime import registry

TARGETS = ["llvm", "python"]


@pytest.fixture
def seen() -> Iterator[list[Any]]:
    calls: list[Any] = []

    def see(*args: Any) -> int:
        calls.append(args)
        return 7

    ts.register_func("test.see", see, override=True)
    yield calls
    registry.remove_global_func("test.see")


def build(text: str, target: str = "llvm") -> Any:
    return ts.build(ts.parse(text), target)


@pytest.mark.parametrize("target", TARGETS)
def test_scalars_texts_and_the_result(target: str, seen: list[Any]) -> None:
    f = build(
        """
@T.prim_func
def f(n: T.int32, x: T.float32, h: T.float16, u: T.uint64, A: T.Buffer((3,), "int8"),
      O: T.Buffer((1,), "int32")):
    O[0] = T.call_packed("test.see", n, n + 1, x, h, u, T.bool(True), "a text", A[1], T.int4(-3))
""",
        target,
    )
    o = np.zeros(1, "int32")
    f(3, 1.5, 0.5, 2**64 - 1, np.array([1, -2, 3], "int8"), o)
    assert seen == [(3, 4, 1.5, 0.5, 2**64 - 1, True, "a text", -2, -3)]
    assert o[0] == 7


@pytest.mark.parametrize("target", TARGETS)
def test_buffers_are_arrays_over_the_same_memory(target: str) -> None:
    def fill(a: Any, b: Any, value: float) -> None:
        assert (a.shape, a.dtype, b.shape) == ((2, 3), "bfloat16", (4,))
        a[...] = value
        b[...] = b.numpy() * 2

    ts.register_func("test.fill", fill, override=True)
    f = build(
        """
@T.prim_func
def f(a: T.handle, O: T.Buffer((4,), "int64")):
    n = T.int32()
    A = T.match_buffer(a, (2, n), "bfloat16")
    C = T.alloc_buffer((4,), "int64")
    for i in range(4):
        C[i] = T.Cast("int64", i)
    T.call_packed("test.fill", A, C, T.float32(2.5))
    for i in range(4):
        O[i] = C[i]
""",
        target,
    )
    import ml_dtypes

    a, o = np.zeros((2, 3), ml_dtypes.bfloat16), np.zeros(4, "int64")
    f(a, o)
    assert (a.astype("float32") == 2.5).all() and o.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("n", [40, 20_000])
def test_an_exception_in_a_worker_comes_out_after_the_join(n: int) -> None:
    def bad(i: int) -> None:
        if i >= n // 2:
            raise ValueError(f"no {i}")

    ts.register_func("test.bad", bad, override=True)
    text = f"""
@T.prim_func
def f(O: T.Buffer(({n},), "int32")):
    for i in T.parallel({n}):
        T.call_packed("test.bad", i)
        O[i] = 1
"""
    for target in TARGETS:
        o = np.zeros(n, "int32")
        with pytest.raises(ValueError, match=f"no {n // 2}$"):
            build(text, target)(o)
        assert o[: n // 2].all() or target == "llvm"
        assert not o[n // 2]


def test_names_that_are_not_registered() -> None:
    text = '@T.prim_func\ndef f():\n    T.evaluate(T.call_packed("test.nobody", 1))\n'
    for target in TARGETS:
        with pytest.raises(ts.TirscriptError, match=r"test\.nobody"):
            build(text, target)()
    with pytest.raises(ts.TirscriptError, match=r"test\.nobody"):
        ts.get_global_func("test.nobody")
    assert ts.get_global_func("test.nobody", allow_missing=True) is None


def test_the_registry() -> None:
    @ts.register_func("test.one")
    def one() -> int:
        return 1

    assert ts.get_global_func("test.one") is one
    with pytest.raises(ts.TirscriptError, match="override"):
        ts.register_func("test.one", one)
    assert ts.register_func("test.one", max, override=True) is max
    assert "test.one" in registry.list_global_func_names()
    registry.remove_global_func("test.one")
    with pytest.raises(ts.TirscriptError, match="called"):
        ts.register_func("test.one", 3)  # type: ignore[call-overload]


def test_what_a_function_gives_back_must_be_an_integer() -> None:
    ts.register_func("test.float", lambda: 1.5, override=True)
    with pytest.raises(ts.TirscriptError, match=r"integer or None, not 1\.5"):
        build('@T.prim_func\ndef f():\n    T.evaluate(T.call_packed("test.float"))\n')()


@pytest.mark.parametrize("name", ["llvm.sqrt.f32", "llvm.sqrt"])
def test_llvm_intrinsics_by_name(name: str) -> None:
    f = build(f"""
@T.prim_func
def f(A: T.Buffer((8,), "float32"), H: T.Buffer((8,), "float16"), B: T.Buffer((8,), "bfloat16"),
      C: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = T.call_llvm_intrin("float32", "{name}", A[i])
        H[i] = T.call_llvm_pure_intrin("float16", "llvm.fabs", H[i])
        B[i] = T.call_llvm_pure_intrin("bfloat16", "llvm.copysign", B[i], T.bfloat16(-1))
        C[i] = T.call_llvm_pure_intrin("int32", T.llvm_lookup_intrinsic_id("llvm.ctpop"), C[i])
""")
    import ml_dtypes

    x = np.arange(8)
    a, h, b, c = x.astype("float32"), -x.astype("float16"), x.astype(ml_dtypes.bfloat16), x.astype("int32")
    f(a, h, b, c)
    np.testing.assert_array_equal(a, np.sqrt(x.astype("float32")))
    np.testing.assert_array_equal(h, x)
    np.testing.assert_array_equal(b.astype("float32"), -x.astype("float32"))
    assert c.tolist() == [n.bit_count() for n in range(8)]


def test_llvm_intrinsics_on_vectors() -> None:
    f = build("""
@T.prim_func
def f(A: T.Buffer((8,), "int32"), O: T.Buffer((1,), "int32")):
    O[0] = T.call_llvm_pure_intrin("int32", "llvm.vector.reduce.add", A[0:8])
""")
    o = np.zeros(1, "int32")
    f(np.arange(8, dtype="int32"), o)
    assert o[0] == 28


def test_an_intrinsic_that_llvm_does_not_have() -> None:
    with pytest.raises(ts.TirscriptError, match="llvm"):
        build("""
@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    A[0] = T.call_llvm_intrin("int32", "no.such.thing", A[0])
""")


@pytest.mark.parametrize("kind", ["serial", "vectorized"])
@pytest.mark.parametrize("q, s", [(31, 0), (31, -3), (31, 2), (20, 5), (1, 0), (31, -20)])
def test_q_multiply_shift(q: int, s: int, kind: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32"), q: T.int32, s: T.int32,
      O: T.Buffer((3, 64), "int32")):
    for i in T.{kind}(64):
        O[0, i] = T.q_multiply_shift(A[i], B[i], T.int32({q}), T.int32({s}))
        O[1, i] = T.q_multiply_shift(A[i], B[i], q, s)
        O[2, i] = T.q_multiply_shift_per_axis(
            A[i], B[i], T.int32({max(s, 0)}), T.int32({max(-s, 0)}), T.int32({q}), T.bool(True), T.bool(True)
        )
"""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-(2**31), 2**31, (2, 64)).astype("int32")
    o = np.zeros((3, 64), "int32")
    build(text)(a, b, q, s, o)
    total = q + max(-s, 0)
    want = [((int(x) << max(s, 0)) * int(y) + (1 << (total - 1))) >> total for x, y in zip(a, b, strict=True)]
    want = [(w + 2**31) % 2**32 - 2**31 for w in want]
    for row in o:
        assert row.tolist() == want


def test_dp4a() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((16,), "{0}"), B: T.Buffer((16,), "{0}"), O: T.Buffer((4,), "int32")):
    for i in range(4):
        O[i] = T.dp4a(A[i * 4:i * 4 + 4], B[i * 4:i * 4 + 4], O[i])
"""
    for dtype in ("int8", "uint8"):
        rng = np.random.default_rng(1)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max + 1
        a, b = rng.integers(low, high, (2, 16)).astype(dtype)
        o = np.arange(4, dtype="int32")
        build(text.format(dtype))(a, b, o)
        want = (a.astype("int64") * b).reshape(4, 4).sum(1) + np.arange(4)
        np.testing.assert_array_equal(o, want)


@pytest.mark.parametrize("target", ["llvm", "python", "llvm -checked"])
def test_calls_bind_the_shapes_of_their_callee(target: str) -> None:
    mod = ts.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(a: T.handle, b: T.handle, c: T.float32):
        n = T.int32()
        m = T.int32()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n, m), "float32")
        for i, j in T.grid(n, m):
            B[i, j] = A[i, j] + c

    @T.prim_func
    def main(A: T.Buffer((3, 5), "float32"), b: T.handle):
        k = T.int32()
        B = T.match_buffer(b, (3, k), "float32")
        C = T.alloc_buffer((3, 5))
        Module.add(A.data, C.data, T.float32(1))
        Module.add(C.data, B.data, T.float32(2))
""")
    a, b = np.ones((3, 5), "float32"), np.zeros((3, 5), "float32")
    ts.build(mod, target)["main"](a, b)
    assert (b == 4).all()


@pytest.mark.parametrize("y", [3, 2**63 - 1, 2**63, 2**64 - 5, 2**64 - 1])
def test_parameters_of_64_bits_without_a_sign(y: int) -> None:
    text = """
@T.prim_func
def f(y: T.uint64, O: T.Buffer((7,), "uint64"), F: T.Buffer((2,), "float64"), M: T.Buffer((3,), "bool")):
    O[0] = y
    O[1] = y // T.uint64(3)
    O[2] = y % T.uint64(1000)
    O[3] = T.max(y, T.uint64(7))
    O[4] = T.truncdiv(y, T.uint64(5))
    O[5] = y >> T.uint64(3)
    O[6] = y + T.uint64(1)
    F[0] = T.Cast("float64", y)
    F[1] = T.Cast("float64", y // T.uint64(2))
    M[0] = y > T.uint64(5)
    M[1] = y < T.uint64(5)
    M[2] = y // T.uint64(2) >= y % T.uint64(100)
"""
    for target in TARGETS:
        o, x, m = np.zeros(7, "uint64"), np.zeros(2), np.zeros(3, bool)
        build(text, target)(y, o, x, m)
        assert o.tolist() == [y, y // 3, y % 1000, max(y, 7), y // 5, y >> 3, (y + 1) % 2**64], target
        assert x.tolist() == [float(y), float(y // 2)]
        assert m.tolist() == [y > 5, y < 5, y // 2 >= y % 100]


def test_short_parallel_loops_start_no_threads() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer(({0},), "float32")):
    for i in T.parallel({0}):
        A[i] = A[i] + T.float32(1)
"""
    assert "tirscript_parallel" not in build(text.format(64)).get_source("ll")
    assert "tirscript_parallel" in build(text.format(1 << 16)).get_source("ll")


def test_records_of_the_runtime_are_named() -> None:
    with pytest.raises(ts.NotYetError, match="tvm_struct_get") as caught:
        build("""
@T.prim_func
def f(h: T.handle, O: T.Buffer((1,), "int32")):
    O[0] = T.tvm_struct_get(h, 0, 1, dtype="int32")
""")
    assert ":4:" in str(caught.value)


def test_atomics() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((50000,), "{0}"), S: T.Buffer((3,), "{0}")):
    for i in T.parallel(50000):
        T.evaluate(T.atomic_add(T.address_of(S[0]), A[i]))
        T.evaluate(T.atomic_max(T.address_of(S[1]), A[i]))
        T.evaluate(T.atomic_min(T.address_of(S[2]), A[i]))
"""
    for dtype in ("int32", "uint64", "float64"):
        a = np.random.default_rng(0).integers(0, 1000, 50_000).astype(dtype)
        s = np.array([0, 5, 5], dtype)
        build(text.format(dtype))(a, s)
        assert s.tolist() == [a.sum(), max(a.max(), 5), min(a.min(), 5)]


def test_lane_masks_and_large_constants() -> None:
    text = """
@T.prim_func
def f(n: T.int32, M: T.Buffer((8,), "bool"), O: T.Buffer((1,), "uint64")):
    M[0:8] = T.get_active_lane_mask("boolx8", 2, n)
    O[0] = T.large_uint_imm(T.uint32(5), T.uint32(4000000000))
"""
    m, o = np.zeros(8, bool), np.zeros(1, "uint64")
    build(text)(6, m, o)
    assert m.tolist() == [True] * 4 + [False] * 4
    assert o[0] == (4_000_000_000 << 32) + 5
