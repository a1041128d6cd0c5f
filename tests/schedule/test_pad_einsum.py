"""pad_einsum: the copies around the nest, what the padding holds, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import last_wins, rng, roundtrip, run


@T.prim_func
def product(
    A: T.Buffer((13, 15), "float32"), B: T.Buffer((15, 16), "float32"), C: T.Buffer((13, 16), "float32")
):
    for i, j, k in T.grid(13, 16, 15):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def test_every_axis_grows() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((13, 15), "float32"), B: T.Buffer((15, 16), "float32"), C: T.Buffer((13, 16), "float32")
    ):
        A_pad = T.alloc_buffer((16, 16))
        B_pad = T.alloc_buffer((16, 32))
        C_pad = T.alloc_buffer((16, 32))
        for i0, i1 in T.grid(16, 16):
            with T.block("A_pad"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                A_pad[v0, v1] = T.if_then_else(v0 < 13 and v1 < 15, A[v0, v1], T.float32(0))
        for i0, i1 in T.grid(16, 32):
            with T.block("B_pad"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                B_pad[v0, v1] = T.if_then_else(v0 < 15 and v1 < 16, B[v0, v1], T.float32(0))
        for i, j, k in T.grid(16, 32, 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C_pad[vi, vj] = T.float32(0)
                C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
        for i0, i1 in T.grid(13, 16):
            with T.block("C_pad"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                C[v0, v1] = C_pad[v0, v1]

    sch = Schedule(product)
    block = sch.get_block("C")
    loops = sch.get_loops(block)
    sch.pad_einsum(block, [8, 32, 16])
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "product"), names=True)
    assert sch.get_loops(block) == loops
    roundtrip(sch.mod)


@T.prim_func
def only_k_after(
    A: T.Buffer((13, 15), "float32"), B: T.Buffer((15, 16), "float32"), C: T.Buffer((13, 16), "float32")
):
    A_pad = T.alloc_buffer((13, 20))
    B_pad = T.alloc_buffer((20, 16))
    for i0, i1 in T.grid(13, 20):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            A_pad[v0, v1] = T.if_then_else(v1 < 15, A[v0, v1], T.float32(0))
    for i0, i1 in T.grid(20, 16):
        with T.block("B_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            B_pad[v0, v1] = T.if_then_else(v0 < 15, B[v0, v1], T.float32(0))
    for i, j, k in T.grid(13, 16, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]


@T.prim_func
def only_i_after(
    A: T.Buffer((13, 15), "float32"), B: T.Buffer((15, 16), "float32"), C: T.Buffer((13, 16), "float32")
):
    A_pad = T.alloc_buffer((14, 15))
    C_pad = T.alloc_buffer((14, 16))
    for i0, i1 in T.grid(14, 15):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            A_pad[v0, v1] = T.if_then_else(v0 < 13, A[v0, v1], T.float32(0))
    for i, j, k in T.grid(14, 16, 15):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C_pad[vi, vj] = T.float32(0)
            C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B[vk, vj]
    for i0, i1 in T.grid(13, 16):
        with T.block("C_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            C[v0, v1] = C_pad[v0, v1]


@pytest.mark.parametrize(
    ("padding", "after"), [([1, 8, 10], only_k_after), ([7, 4, 5], only_i_after), ([1, 16, 5], product)]
)
def test_buffers_that_no_padded_axis_indexes_are_left_alone(padding: list[int], after: Any) -> None:
    sch = Schedule(product)
    sch.pad_einsum("C", padding)
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "product"), names=True)


@pytest.mark.parametrize("padding", [[16, 16, 16], [1, 1, 8], [8, 1, 1], [1, 16, 1], [5, 7, 4], [13, 16, 15]])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_results(padding: list[int], order: tuple[int, ...]) -> None:
    sch = Schedule(product)
    loops = sch.get_loops("C")
    sch.reorder(*[loops[n] for n in order])
    sch.pad_einsum("C", padding)
    a, b = rng(13, 15), rng(15, 16, seed=1)
    a[0, 0], b[3, 3] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((13, 16), "float32")), a @ b, rtol=1e-5)


def reduction(init: str, update: str, dtype: str = "int32") -> Any:
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((5, 7), "{dtype}"), B: T.Buffer((7,), "{dtype}"), O: T.Buffer((5,), "{dtype}")):
    for i, k in T.grid(5, 7):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = {init}
            O[vi] = {update}
""")


NEUTRAL = {
    "sum": ("5", "O[vi] + A[vi, vk] * B[vk]", 0, lambda a, b: a @ b + 5),
    "sum less": ("0", "O[vi] - A[vi, vk]", 0, lambda a, b: -a.sum(1)),
    "product": ("1", "O[vi] * (A[vi, vk] * B[vk])", 1, lambda a, b: (a * b).prod(1)),
    "maximum": ("-100", "T.max(O[vi], A[vi, vk])", -(2**31), lambda a, b: a.max(1)),
    "maximum of products": ("0", "T.max(O[vi], A[vi, vk] * B[vk])", 0, lambda a, b: (a * b).max(1).clip(0)),
    "minimum": ("50", "T.min(A[vi, vk], O[vi])", 2**31 - 1, lambda a, b: a.min(1)),
    "and": ("-1", "T.bitwise_and(O[vi], A[vi, vk])", -1, lambda a, b: np.bitwise_and.reduce(a, 1)),
    "or": ("0", "T.bitwise_or(O[vi], A[vi, vk])", 0, lambda a, b: np.bitwise_or.reduce(a, 1)),
    "xor": ("3", "T.bitwise_xor(A[vi, vk], O[vi])", 0, lambda a, b: np.bitwise_xor.reduce(a, 1) ^ 3),
    "one factor": ("0", "O[vi] + A[vi, vk] * (vi + 2)", 0, lambda a, b: a.sum(1) * (np.arange(5) + 2)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NEUTRAL)
def test_what_stands_in_the_padding(kind: str) -> None:
    init, update, filled, want = NEUTRAL[kind]
    sch = Schedule(reduction(init, update))
    sch.pad_einsum("O", [1, 8])
    assert f", A[v0, v1], {filled})" in sch.mod.script()
    a, b = rng(5, 7, dtype="int32"), rng(7, seed=1, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros(5, "int32")), want(a, b))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_that_are_not_finite(dtype: str) -> None:
    for init, update, want in (
        ("T.min_value('D')", "T.max(O[vi], A[vi, vk])", lambda a: a.max(1)),
        ("T.D(0)", "O[vi] + A[vi, vk]", lambda a: a.sum(1)),
    ):
        sch = Schedule(reduction(init.replace("D", dtype), update, dtype))
        sch.pad_einsum("O", [2, 4])
        a = rng(5, 7, dtype=dtype)
        a[0, 0], a[1, 1] = np.inf, np.nan
        np.testing.assert_array_equal(
            run(sch.mod, a, np.zeros(7, dtype), np.zeros(5, dtype)), want(a).astype(dtype)
        )


def test_casts_in_the_product() -> None:
    @T.prim_func
    def f(A: T.Buffer((5, 7), "int8"), B: T.Buffer((3, 7), "int8"), C: T.Buffer((5, 3), "int32")):
        for i, j, k in T.grid(5, 3, 7):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vj, vk], "int32")

    sch = Schedule(f)
    sch.pad_einsum("C", [4, 4, 4])
    a, b = rng(5, 7, dtype="int8"), rng(3, 7, seed=1, dtype="int8")
    want = a.astype("int32") @ b.T.astype("int32")
    np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros((5, 3), "int32")), want)


def test_symbolic_extents() -> None:
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        n = T.int32()
        k = T.int32()
        A = T.match_buffer(a, (n, k), "int32")
        B = T.match_buffer(b, (k, 16), "int32")
        C = T.match_buffer(c, (n, 16), "int32")
        for i, j, l in T.grid(n, 16, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch = Schedule(f)
    sch.pad_einsum("C", [4, 8, 8])
    assert sch.get(sch.get_loops("C")[1]).extent.value == 16
    for n, k in ((1, 1), (4, 8), (5, 9), (0, 3), (3, 0)):
        x, y = rng(n, k, dtype="int32"), rng(k, 16, seed=1, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, x, y, np.full((n, 16), 3, "int32")), x @ y)
    roundtrip(sch.mod)


def test_elementwise_constant_indices_and_an_update_without_init() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 13), "int32"), C: T.Buffer((2, 20), "int32")):
        for j in range(13):
            with T.block("C"):
                vj = T.axis.spatial(13, j)
                C[1, vj] = C[1, vj] * 3 + A[2, vj]

    sch = Schedule(f)
    sch.pad_einsum("C", [8])
    a, c = rng(4, 13, dtype="int32"), rng(2, 20, seed=1, dtype="int32")
    want = c.copy()
    want[1, :13] = c[1, :13] * 3 + a[2]
    np.testing.assert_array_equal(run(sch.mod, a, c), want)


def test_after_decompose_reduction() -> None:
    sch = Schedule(product)
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    sch.pad_einsum("C_update", [16, 1, 16])
    sch.pad_einsum("C_init", [1, 5])
    a, b = rng(13, 15), rng(15, 16, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.ones((13, 16), "float32")), a @ b, rtol=1e-5)


def test_kinds_annotations_and_scopes_stay() -> None:
    sch = Schedule(product)
    i, _, k = sch.get_loops("C")
    sch.cache_read("C", 0, "shared")
    sch.parallel(i)
    sch.unroll(k)
    sch.annotate(i, "note", "x")
    sch.annotate("C", "mark", 1)
    sch.pad_einsum("C", [16, 16, 16])
    loops = [sch.get(x) for x in sch.get_loops("C")]
    assert [x.kind for x in loops] == ["parallel", "serial", "unrolled"]
    assert [x.extent.value for x in loops] == [16, 16, 16]
    assert dict(loops[0].annotations) == {"note": "x"}
    block = sch.get(sch.get_block("C"))
    assert dict(block.annotations) == {"mark": 1}
    assert [r.buffer.name for r in block.reads] == ["A_shared_pad", "B_pad"]
    assert block.reads[0].buffer.scope == "shared"


def refused(sch: Schedule, code: str, block: Any, padding: Any) -> Any:
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match=rf"\[{code}\]") as caught:
        sch.pad_einsum(block, padding)
    assert caught.value.code == code
    str(caught.value)
    assert all(sch.mod[n] is before[n] for n in before.names())
    return caught.value


def test_refusals() -> None:
    sch = Schedule(product)
    for bad in ([8, 1], [0, 1, 1], [-4, 1, 1], [1, 1, 1, 1], 8, "abc", [None, 1, 1], [1.5, 1, 1]):
        refused(sch, "bad-padding", "C", bad)
    refused(sch, "root-block", "root", [])
    refused(sch, "wrong-handle", sch.get_loops("C")[0], [1, 1, 1])
    i, j, _ = sch.get_loops("C")
    sch.split(i, [None, 4])
    refused(sch, "not-trivial-binding", "C", [16, 16, 16])
    sch = Schedule(product)
    sch.bind(sch.get_loops("C")[0], "blockIdx.x")
    refused(sch, "bound-loop", "C", [16, 1, 1])
    sch.pad_einsum("C", [1, 1, 16])
    sch = Schedule(last_wins)
    refused(sch, "not-einsum", "O", [1, 16])

    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8, 8), "int32"), x: T.int32):
        for i in range(8):
            with T.block("shifted"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi + 1]
        for i, j in T.grid(8, 7):
            with T.block("diagonal"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi] * A[vj]
        for i in range(8):
            if x > 0:
                with T.block("guarded"):
                    vi = T.axis.spatial(8, i)
                    B[vi] = A[vi]

    sch = Schedule(f)
    refused(sch, "not-einsum", "shifted", [5])
    e = refused(sch, "mixed-indices", "diagonal", [16, 16])
    assert "A cannot be padded" in str(e) and "dimension 0 is indexed in several ways" in str(e)
    refused(sch, "not-perfect-nest", "guarded", [16])


@pytest.mark.parametrize(
    ("init", "update", "dtype"),
    [
        ("T.float32(0)", "O[vi] + A[vi, vk] * B[0]", "float32"),
        ("T.float32(0)", "O[vi] + T.max(A[vi, vk], T.float32(1))", "float32"),
        ("0", "T.max(O[vi], A[vi, vk] * A[vi, vk] + 1)", "int32"),
        ("0", "O[vi] + vk", "int32"),
        ("0", "A[vi, vk]", "int32"),
        ("0", "O[vi] * 2 + A[vi, vk]", "int32"),
    ],
)
def test_a_padding_that_would_be_noticed(init: str, update: str, dtype: str) -> None:
    """0 * inf is nan; a maximum with 1 is not 0; an index is what it is."""
    sch = Schedule(reduction(init, update, dtype))
    e = refused(sch, "padding-not-neutral", "O", [1, 8])
    assert "along reduction axis `vk`" in str(e)
    sch.pad_einsum("O", [4, 7])
    a, b = rng(5, 7, dtype=dtype), rng(7, seed=1, dtype=dtype)
    want = run(reduction(init, update, dtype), a, b, np.zeros(5, dtype))
    np.testing.assert_array_equal(run(sch.mod, a, b, np.zeros(5, dtype)), want)


def test_memory_that_may_be_the_same() -> None:
    sch = Schedule(
        ts.parse(
            product.script().replace("    for i,", '    T.func_attr({"tir.noalias": False})\n    for i,')
        )
    )
    refused(sch, "aliased-read", "C", [16, 1, 1])


def test_guarded_reads_beyond_the_buffer() -> None:
    """An axis that goes beyond a buffer, which the block reads under a condition: so does the copy."""

    @T.prim_func
    def f(A: T.Buffer((11, 4), "int32"), O: T.Buffer((12, 5), "int32")):
        for i, j in T.grid(12, 5):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O[vi, vj] = T.if_then_else(vi < 11 and vj < 4, A[vi, vj], 7) + 1

    @T.prim_func
    def after(A: T.Buffer((11, 4), "int32"), O: T.Buffer((12, 5), "int32")):
        A_pad = T.alloc_buffer((12, 8), "int32")
        O_pad = T.alloc_buffer((12, 8), "int32")
        for i0, i1 in T.grid(12, 8):
            with T.block("A_pad"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                A_pad[v0, v1] = T.if_then_else(v0 < 11 and v1 < 4, A[v0, v1], 0)
        for i, j in T.grid(12, 8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                O_pad[vi, vj] = T.if_then_else(vi < 11 and vj < 4, A_pad[vi, vj], 7) + 1
        for i0, i1 in T.grid(12, 5):
            with T.block("O_pad"):
                v0, v1 = T.axis.remap("SS", [i0, i1])
                O[v0, v1] = O_pad[v0, v1]

    sch = Schedule(f)
    sch.pad_einsum("O", [1, 4])
    ts.assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "f"))
    roundtrip(sch.mod)
    a = rng(11, 4, dtype="int32")
    want = np.full((12, 5), 8, "int32")
    want[:11, :4] = a + 1
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 5), "int32")), want)
    sch.pad_einsum("A_pad", [5, 16])  # its domain is what the first padding made of it
    o = np.zeros((12, 5), "int32")
    ts.build(sch.mod, target="python -checked")(a, o)
    np.testing.assert_array_equal(o, want)


def test_guarded_reads_of_unknown_size() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n, m = T.int64(), T.int32()
        A = T.match_buffer(a, (n,), "int32")
        O = T.match_buffer(o, (m,), "int32")
        for i in range(m):
            with T.block("O"):
                vi = T.axis.spatial(m, i)
                O[vi] = T.if_then_else(T.Cast("int64", vi) < n, A[vi], 3)

    sch = Schedule(f)
    sch.pad_einsum("O", [4])
    roundtrip(sch.mod)
    for n, m in ((3, 5), (5, 3), (4, 4), (1, 1), (8, 9)):
        a, o = rng(n, dtype="int32"), np.zeros(m, "int32")
        want = [a[i] if i < n else 3 for i in range(m)]
        for target in ("python -checked", "llvm"):
            ts.build(sch.mod, target=target)(a, o)
            np.testing.assert_array_equal(o, want)
