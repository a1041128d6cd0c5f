"""rfactor: the two nests, every kind of reducer, what the partial results start from, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.analysis import combiner
from tirscript.schedule import Schedule, register_reducer
from tirscript.script import tir as T

from .programs import last_wins, matmul, rng, roundtrip, run


def update(kind: str, dtype: str = "int32") -> Any:
    """A reduction over ``A[i, k]`` into ``O[i]``, written as ``kind`` says."""
    text = f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((6, 50), "{dtype}"), O: T.Buffer((6,), "{dtype}")):
    for i, k in T.grid(6, 50):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = {kind.split("|")[0]}
            O[vi] = {kind.split("|")[1]}
"""
    return ts.parse(text)


def after_of(sch: Schedule) -> Any:
    return sch.mod["main"] if "main" in sch.mod.names() else sch.mod[sch.mod.names()[0]]


def test_the_two_nests() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        C_rf = T.alloc_buffer((16, 20, 6))
        for i, j, k_0, k_1 in T.grid(16, 20, 4, 6):
            with T.block("C_rf"):
                vk_1, vi, vj, vk_0 = T.axis.remap("SSSR", [k_1, i, j, k_0])
                T.reads(A[vi, vk_0 * 6 + vk_1], B[vk_0 * 6 + vk_1, vj])
                T.writes(C_rf[vi, vj, vk_1])
                with T.init():
                    C_rf[vi, vj, vk_1] = T.float32(0)
                C_rf[vi, vj, vk_1] = C_rf[vi, vj, vk_1] + A[vi, vk_0 * 6 + vk_1] * B[vk_0 * 6 + vk_1, vj]
        for i, j, k_1 in T.grid(16, 20, 6):
            with T.block("C"):
                vk_1, vi, vj = T.axis.remap("RSS", [k_1, i, j])
                T.reads(C_rf[vi, vj, vk_1])
                T.writes(C[vi, vj])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + C_rf[vi, vj, vk_1]

    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    k0, k1 = sch.split(k, [4, 6])
    partial = sch.rfactor(k1, -1)
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "matmul"), names=True)
    # The given block combines; its nest keeps the loops, but for the other reduction loops.
    assert sch.get(block).name == "C" and sch.get(partial).name == "C_rf"
    assert sch.get_loops(block) == [i, j, k1]
    assert [x.name for x in sch.get_loops(partial)] == ["i", "j", "k_0", "k_1"]
    assert sch.get_producers(block) == [partial]
    with pytest.raises(ts.ScheduleError, match="expired-reference"):
        sch.unroll(k0)
    roundtrip(sch.mod)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.parallel(sch.get_loops(partial)[0])
    sch.decompose_reduction(partial, sch.get_loops(partial)[2])
    sch.decompose_reduction(block, k1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.undo(3)
    assert sch.get_loops(block) == [i, j, k1]
    sch.undo()
    assert sch.get_loops(block) == [i, j, k0, k1]


def test_the_factored_loop_can_run_in_parallel() -> None:
    """That is what it is for."""
    sch = Schedule(update("0|O[vi] + A[vi, vk]"))
    _, k = sch.get_loops("O")
    k0, _ = sch.split(k, [5, 10])
    partial = sch.rfactor(k0, 0)
    i, k0, k1 = sch.get_loops(partial)
    sch.reorder(k0, i, k1)
    sch.parallel(k0)
    sch.vectorize(i)
    a = rng(6, 50, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), a.sum(1))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_factor_axis(axis: int) -> None:
    sch = Schedule(matmul)
    sch.rfactor(sch.get_loops("C")[2], axis)
    buffer = sch.get(sch.get_block("C_rf")).writes[0].buffer
    want = [16, 20]
    want.insert(axis if axis >= 0 else axis + 3, 24)
    assert [e.value for e in buffer.shape] == want
    assert (buffer.name, buffer.dtype, buffer.scope) == ("C_rf", "float32", "global")
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


REDUCERS: dict[str, Callable[[Any], Any]] = {
    "0|O[vi] + A[vi, vk]": lambda a: a.sum(1),
    "0|A[vi, vk] + O[vi]": lambda a: a.sum(1),
    "0|O[vi] - A[vi, vk]": lambda a: -a.sum(1),
    "0|O[vi] + A[vi, vk] + vk": lambda a: a.sum(1) + 25 * 49,
    "1|O[vi] * A[vi, vk]": lambda a: a.prod(1, dtype="int32"),
    "100|T.min(O[vi], A[vi, vk])": lambda a: a.min(1),
    "T.min_value('int32')|T.max(A[vi, vk], O[vi])": lambda a: a.max(1),
    "-1|T.bitwise_and(O[vi], A[vi, vk])": lambda a: np.bitwise_and.reduce(a, 1),
    "0|T.bitwise_or(A[vi, vk], O[vi])": lambda a: np.bitwise_or.reduce(a, 1),
    "0|T.bitwise_xor(O[vi], A[vi, vk])": lambda a: np.bitwise_xor.reduce(a, 1),
    "0|T.Select(O[vi] < A[vi, vk], A[vi, vk], O[vi])": lambda a: np.maximum(a.max(1), 0),
    # An init that is not the identity counts once.
    "5|O[vi] + A[vi, vk]": lambda a: a.sum(1) + 5,
    "vi + 2|O[vi] + A[vi, vk]": lambda a: a.sum(1) + np.arange(6) + 2,
    "A[vi, 3]|O[vi] + A[vi, vk]": lambda a: a.sum(1) + a[:, 3],
    "3|O[vi] * A[vi, vk]": lambda a: a.prod(1, dtype="int32") * np.int32(3),
    "4|T.max(O[vi], A[vi, vk])": lambda a: np.maximum(a.max(1), 4),
    "6|T.bitwise_xor(O[vi], A[vi, vk])": lambda a: np.bitwise_xor.reduce(a, 1) ^ 6,
    "A[vi, 3]|T.min(O[vi], A[vi, vk])": lambda a: a.min(1),
}


@pytest.mark.parametrize("kind", REDUCERS)
def test_reducers(kind: str) -> None:
    a = rng(6, 50, dtype="int32")
    a[a == 0] = 3
    want = REDUCERS[kind](a)
    for factors in (None, [None, 16], [7, None]):
        for which in (0, 1):
            sch = Schedule(update(kind))
            _, k = sch.get_loops("O")
            loop = k if factors is None else sch.split(k, factors)[which]
            sch.rfactor(loop, which)
            np.testing.assert_array_equal(run(sch.mod, a, np.full(6, -9, "int32")), want)
            roundtrip(sch.mod)


def test_bools() -> None:
    a = np.random.default_rng(0).random((6, 50)) < 0.97
    for kind, want in (
        ("T.bool(True)|O[vi] and A[vi, vk]", a.all(1)),
        ("T.bool(False)|A[vi, vk] or O[vi]", a.any(1)),
    ):
        sch = Schedule(update(kind, "bool"))
        sch.rfactor(sch.split(sch.get_loops("O")[1], [None, 16])[0], 0)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "bool")), want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint32", "float16", "float32", "float64"])
def test_dtypes(dtype: str) -> None:
    a = np.random.default_rng(1).integers(0, 4, (6, 50)).astype(dtype)
    for kind, want in (
        (f"T.{dtype}(0)|O[vi] + A[vi, vk]", a.sum(1, dtype=dtype)),
        (f"T.{dtype}(3)|T.max(O[vi], A[vi, vk])", np.maximum(a.max(1), 3)),
        (f"T.max_value('{dtype}')|T.min(O[vi], A[vi, vk])", a.min(1)),
    ):
        sch = Schedule(update(kind, dtype))
        sch.rfactor(sch.split(sch.get_loops("O")[1], [None, 16])[1], 1)
        assert sch.get(sch.get_block("O_rf")).writes[0].buffer.dtype == dtype
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, dtype)), want)


def test_float_results_stay_within_rounding() -> None:
    a = np.random.default_rng(2).standard_normal((6, 50)).astype("float32")
    sch = Schedule(update("T.float32(0)|O[vi] + A[vi, vk]", "float32"))
    sch.rfactor(sch.split(sch.get_loops("O")[1], [None, 16])[0], 0)
    np.testing.assert_allclose(
        run(sch.mod, a, np.zeros(6, "float32")), a.astype("float64").sum(1), rtol=1e-5, atol=1e-5
    )


ARGMAX = {
    "lets": """
            ni: T.int32 = T.Select(OV[vi] > V[vi, vk] or OV[vi] == V[vi, vk] and OI[vi] < vk, OI[vi], vk)
            nv: T.float32 = T.Select(OV[vi] > V[vi, vk], OV[vi], V[vi, vk])
            OI[vi] = ni
            OV[vi] = nv""",
    "one after another": """
            OI[vi] = T.if_then_else(OV[vi] > V[vi, vk] or OV[vi] == V[vi, vk] and OI[vi] < vk, OI[vi], vk)
            OV[vi] = T.max(OV[vi], V[vi, vk])""",
    "condition": """
            if V[vi, vk] > OV[vi] or (V[vi, vk] == OV[vi] and vk < OI[vi]):
                OV[vi] = V[vi, vk]
                OI[vi] = vk""",
    "two conditions": """
            if V[vi, vk] > OV[vi]:
                OV[vi] = V[vi, vk]
                OI[vi] = vk
            else:
                if not (V[vi, vk] < OV[vi]):
                    OI[vi] = T.min(OI[vi], vk)""",
}  # fmt: skip


def argmax(update: str) -> Any:
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(V: T.Buffer((3, 24), "float32"), OI: T.Buffer((3,), "int32"), OV: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 24):
        with T.block("arg"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                OI[vi] = 1000
                OV[vi] = T.float32(-3.4028234663852886e38){update}
""")


def run_argmax(mod: Any, v: Any) -> tuple[Any, Any]:
    out = []
    for target in ("python", "llvm"):
        index, value = np.zeros(3, "int32"), np.zeros(3, "float32")
        ts.build(mod, target=target)(v, index, value)
        out.append((index, value))
    np.testing.assert_array_equal(out[0], out[1])
    return out[0]


@pytest.mark.parametrize("form", ARGMAX)
@pytest.mark.parametrize("which", [None, 0, 1])
def test_argmax_with_ties(form: str, which: int | None) -> None:
    v = np.random.default_rng(0).integers(0, 3, (3, 24)).astype("float32")
    sch = Schedule(argmax(ARGMAX[form]))
    _, k = sch.get_loops("arg")
    sch.rfactor(k if which is None else sch.split(k, [None, 5])[which], 0)
    index, value = run_argmax(sch.mod, v)
    np.testing.assert_array_equal(index, v.argmax(1))
    np.testing.assert_array_equal(value, v.max(1))
    assert sch.get(sch.get_block("arg")).reads[0].buffer.name.endswith("_rf")
    roundtrip(sch.mod)


def test_argmax_as_it_is_written() -> None:
    @T.prim_func
    def after(V: T.Buffer((3, 24), "float32"), OI: T.Buffer((3,), "int32"), OV: T.Buffer((3,), "float32")):
        OI_rf = T.alloc_buffer((24, 3), "int32")
        OV_rf = T.alloc_buffer((24, 3))
        for i, k in T.grid(3, 24):
            with T.block("arg_rf"):
                vk, vi = T.axis.remap("SS", [k, i])
                T.reads(V[vi, vk])
                T.writes(OI_rf[vk, vi], OV_rf[vk, vi])
                with T.init():
                    OI_rf[vk, vi] = 1000
                    OV_rf[vk, vi] = T.float32(-3.4028234663852886e38)
                v_OI_rf: T.int32 = T.Select(
                    OV_rf[vk, vi] > V[vi, vk] or (OV_rf[vk, vi] == V[vi, vk] and OI_rf[vk, vi] < vk),
                    OI_rf[vk, vi],
                    vk,
                )
                v_OV_rf: T.float32 = T.Select(OV_rf[vk, vi] > V[vi, vk], OV_rf[vk, vi], V[vi, vk])
                OI_rf[vk, vi] = v_OI_rf
                OV_rf[vk, vi] = v_OV_rf
        for i, k in T.grid(3, 24):
            with T.block("arg"):
                vk, vi = T.axis.remap("RS", [k, i])
                T.reads(OI_rf[vk, vi], OV_rf[vk, vi])
                T.writes(OI[vi], OV[vi])
                with T.init():
                    OI[vi] = 1000
                    OV[vi] = T.float32(-3.4028234663852886e38)
                v_OI: T.int32 = T.Select(
                    OV[vi] > OV_rf[vk, vi] or (OV[vi] == OV_rf[vk, vi] and OI[vi] < OI_rf[vk, vi]),
                    OI[vi],
                    OI_rf[vk, vi],
                )
                v_OV: T.float32 = T.Select(OV[vi] > OV_rf[vk, vi], OV[vi], OV_rf[vk, vi])
                OI[vi] = v_OI
                OV[vi] = v_OV

    sch = Schedule(argmax(ARGMAX["lets"]))
    sch.rfactor(sch.get_loops("arg")[1], 0)
    assert ts.structural_equal(after_of(sch), after.with_attr("global_symbol", "f"), names=True)


FIRST = """
            if V[vi, vk] > OV[vi]:
                OV[vi] = V[vi, vk]
                OI[vi] = vk"""


def test_a_reducer_that_does_not_commute_keeps_its_order() -> None:
    """The first of equal maxima wins: the outer piece may be factored, the inner one may not."""
    v = np.random.default_rng(0).integers(0, 3, (3, 24)).astype("float32")
    sch = Schedule(argmax(FIRST))
    k0, k1 = sch.split(sch.get_loops("arg")[1], [None, 5])
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match="not-commutative") as caught:
        sch.rfactor(k1, 0)
    assert "`k_0` outside it runs over the reduction too" in str(caught.value)
    assert ts.structural_equal(sch.mod, before)
    with pytest.raises(ts.ScheduleError):
        sch.reorder(k1, k0)
    sch.rfactor(k0, 0)
    index, value = run_argmax(sch.mod, v)
    np.testing.assert_array_equal(index, v.argmax(1))
    np.testing.assert_array_equal(value, v.max(1))
    # The last of equal ones: what starts from the init again could win over what came before.
    sch = Schedule(argmax(FIRST.replace(">", ">=")))
    with pytest.raises(ts.ScheduleError, match="no-identity"):
        sch.rfactor(sch.get_loops("arg")[1], 0)
    sch = Schedule(argmax(FIRST), enable_check=False)
    sch.rfactor(sch.split(sch.get_loops("arg")[1], [None, 5])[1], 0)
    np.testing.assert_array_equal(run_argmax(sch.mod, v)[1], v.max(1))


def test_commutative_tuples_are_reductions_for_other_primitives() -> None:
    sch = Schedule(argmax(ARGMAX["lets"]))
    i, k = sch.get_loops("arg")
    k0, k1 = sch.split(k, [None, 6])
    sch.reorder(k1, i, k0)
    v = np.random.default_rng(0).integers(0, 3, (3, 24)).astype("float32")
    np.testing.assert_array_equal(run_argmax(sch.mod, v)[0], v.argmax(1))
    with pytest.raises(ts.ScheduleError, match="reduction-axis"):
        sch.parallel(k1)
    sch.decompose_reduction("arg", k1)
    np.testing.assert_array_equal(run_argmax(sch.mod, v)[0], v.argmax(1))


def test_sum_and_maximum_in_one_block() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 50), "int32"), S: T.Buffer((6,), "int32"), M: T.Buffer((6,), "int32")):
        for i, k in T.grid(6, 50):
            with T.block("both"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = -100
                    S[vi] = 7
                S[vi] = S[vi] + A[vi, vk]
                M[vi] = T.max(M[vi], A[vi, vk])

    sch = Schedule(f)
    sch.rfactor(sch.split(sch.get_loops("both")[1], [None, 16])[1], 1)
    a = rng(6, 50, dtype="int32")
    for target in ("python", "llvm"):
        s, m = np.zeros(6, "int32"), np.zeros(6, "int32")
        ts.build(sch.mod, target=target)(a, s, m)
        np.testing.assert_array_equal(s, a.sum(1) + 7)
        np.testing.assert_array_equal(m, a.max(1))


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combiner, "_registered", [])
    monkeypatch.setattr(combiner, "_made", {})


@T.prim_func
def complex_product(
    R: T.Buffer((4, 12), "int32"),
    I: T.Buffer((4, 12), "int32"),
    OR: T.Buffer((4,), "int32"),
    OI: T.Buffer((4,), "int32"),
):
    for i, k in T.grid(4, 12):
        with T.block("P"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                OR[vi] = 1
                OI[vi] = 0
            re: T.int32 = OR[vi] * R[vi, vk] - OI[vi] * I[vi, vk]
            im: T.int32 = I[vi, vk] * OR[vi] + OI[vi] * R[vi, vk]
            OR[vi] = re
            OI[vi] = im


@pytest.mark.usefixtures("registry")
def test_registered_reducers_of_several_buffers() -> None:
    sch = Schedule(complex_product)
    k0, k1 = sch.split(sch.get_loops("P")[1], [None, 5])
    with pytest.raises(ts.ScheduleError, match="unknown-reducer"):
        sch.rfactor(k1, 0)
    with pytest.raises(ts.ScheduleError):
        sch.reorder(k1, k0)
    register_reducer(
        2,
        lambda a, b, c, d: (a * c - b * d, a * d + b * c),
        lambda x, y: [T.Cast(x, 1), T.Cast(y, 0)],
    )
    sch = Schedule(ts.parse(complex_product.script()))
    k0, k1 = sch.split(sch.get_loops("P")[1], [None, 5])
    sch.reorder(k1, k0)
    sch.rfactor(k1, 0)
    r, i = rng(4, 12, dtype="int32") % 3, rng(4, 12, seed=1, dtype="int32") % 3
    want = (r + 1j * i).prod(1)
    for target in ("python", "llvm"):
        a, b = np.zeros(4, "int32"), np.zeros(4, "int32")
        ts.build(sch.mod, target=target)(r, i, a, b)
        np.testing.assert_array_equal(a, want.real)
        np.testing.assert_array_equal(b, want.imag)


@pytest.mark.usefixtures("registry")
def test_a_registered_reducer_of_one_buffer() -> None:
    kind = "0|O[vi] + A[vi, vk] + A[vi, vk] * O[vi]"
    with pytest.raises(ts.ScheduleError, match="unknown-reducer"):
        sch = Schedule(update(kind))
        sch.rfactor(sch.get_loops("O")[1], 0)
    register_reducer(T.comm_reducer(lambda x, y: x + y + x * y, [T.int32(0)]))
    sch = Schedule(update(kind))
    sch.rfactor(sch.get_loops("O")[1], 0)
    a = rng(6, 50, dtype="int32") % 3 - 1
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros(6, "int32")), np.prod(a + 1, axis=1, dtype="int32") - 1
    )


@pytest.mark.usefixtures("registry")
def test_bad_registrations() -> None:
    for bad in (
        (0, lambda x, y: x, [0]),
        (1, None, [0]),
        (1, lambda x, y: x, None),
        ("1", lambda x, y: x, [0]),
    ):
        with pytest.raises(ts.ScheduleError, match="bad-reducer"):
            register_reducer(*bad)
    register_reducer(2, lambda a, b, c, d: a, [0, 0])
    with pytest.raises(ts.ScheduleError, match="bad-reducer"):
        sch = Schedule(ts.parse(complex_product.script()))
        sch.rfactor(sch.get_loops("P")[1], 0)


@T.prim_func
def row_sums(a: T.handle, o: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "int32")
    O = T.match_buffer(o, (n,), "int32")
    for i, k in T.grid(n, m):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = 3
            O[vi] = O[vi] + A[vi, vk]


@pytest.mark.parametrize("which", [None, 0, 1])
def test_symbolic_extents(which: int | None) -> None:
    sch = Schedule(row_sums)
    _, k = sch.get_loops("O")
    sch.rfactor(k if which is None else sch.split(k, [None, 8])[which], 0)
    for n, m in ((0, 3), (3, 0), (1, 1), (5, 7), (4, 17)):
        a = rng(n, m, dtype="int32")
        np.testing.assert_array_equal(run(sch.mod, a, np.full(n, -5, "int32")), a.sum(1) + 3)
    roundtrip(sch.mod)


def test_partial_results_that_no_iteration_makes_are_not_read() -> None:
    """``k_1`` from 10 on: nothing is computed there."""
    sch = Schedule(update("5|O[vi] + A[vi, vk]"))
    _, k = sch.get_loops("O")
    _, k1 = sch.split(k, [None, 64])
    sch.rfactor(k1, 0)
    assert "T.where(k_1 < 50)" in sch.mod.script()
    a = rng(6, 50, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.full(6, -5, "int32")), a.sum(1) + 5)


WHERE = "k <= i; k + i < 9; k != 3; k % 2 == 0; k < 0; k * 2 < i + 5; l < k; k + l != 4; k == l"


@pytest.mark.parametrize("where", WHERE.split("; "))
@pytest.mark.parametrize("loop", [1, 2])
def test_conditions(where: str, loop: int) -> None:
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((5, 8, 3), "int32"), O: T.Buffer((5,), "int32")):
    for i, k, l in T.grid(5, 8, 3):
        with T.block("O"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            T.where({where})
            with T.init():
                O[vi] = 4
            O[vi] = O[vi] + A[vi, vk, vl]
""")
    a = rng(5, 8, 3, dtype="int32")
    want = run(f, a, np.full(5, -7, "int32"))
    i, k, l = np.ogrid[:5, :8, :3]
    holds = np.broadcast_to(eval(where), a.shape)
    ran = holds.any((1, 2)) | ("i" not in where)
    np.testing.assert_array_equal(want, np.where(ran, (a * holds).sum((1, 2)) + 4, -7))
    sch = Schedule(f)
    sch.rfactor(sch.get_loops("O")[loop], 0)
    np.testing.assert_array_equal(run(sch.mod, a, np.full(5, -7, "int32")), want)
    roundtrip(sch.mod)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_loops_not_from_zero_and_with_steps() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 30), "int32"), O: T.Buffer((3,), "int32")):
        for i in range(3):
            for k in range(2, 9):
                for l in range(1, 4, 2):
                    with T.block("O"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce((2, 9), k)
                        vl = T.axis.reduce((1, 4), l)
                        with T.init():
                            O[vi] = 1
                        O[vi] = O[vi] + A[vi, vk * 3 + vl - 1]

    a = rng(3, 30, dtype="int32")
    want = 1 + sum(a[:, k * 3 + n - 1] for k in range(2, 9) for n in (1, 3))
    for loop in (1, 2):
        sch = Schedule(f)
        sch.rfactor(sch.get_loops("O")[loop], 1)
        assert [e.value for e in sch.get(sch.get_block("O_rf")).writes[0].buffer.shape] == [
            3,
            (7, 2)[loop - 1],
        ]
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(3, "int32")), want)


def test_a_triangle() -> None:
    """The extent depends on a loop around: the buffer is as large as it can be."""

    @T.prim_func
    def f(A: T.Buffer((5, 9), "int32"), O: T.Buffer((5,), "int32")):
        for i in range(5):
            for k in range(i * 2 + 1):
                with T.block("O"):
                    vi = T.axis.spatial(5, i)
                    vk = T.axis.reduce(i * 2 + 1, k)
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    sch.rfactor(sch.get_loops("O")[1], 0)
    assert [e.value for e in sch.get(sch.get_block("O_rf")).writes[0].buffer.shape] == [9, 5]
    a = rng(5, 9, dtype="int32")
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros(5, "int32")), [a[n, : n * 2 + 1].sum() for n in range(5)]
    )


def test_a_triangle_of_symbolic_size() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, n), "int32")
        O = T.match_buffer(o, (n,), "int32")
        for i in range(n):
            for k in range(n - i):
                with T.block("O"):
                    vi = T.axis.spatial(n, i)
                    vk = T.axis.reduce(n - i, k)
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    sch.rfactor(sch.get_loops("O")[1], 0)
    for n in (1, 2, 7):
        a = rng(n, n, dtype="int32")
        want = [a[i, : n - i].sum() for i in range(n)]
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros(n, "int32")), want)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_instances_outside_the_domain_do_not_run() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 10), "int32"), O: T.Buffer((3,), "int32")):
        for i, k in T.grid(3, 16):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(10, k)
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    sch.rfactor(sch.get_loops("O")[1], 0)
    a = rng(3, 10, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(3, "int32")), a.sum(1))


def test_a_body_with_a_condition_and_a_loop() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6, 3), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 6):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 2
                for q in range(3):
                    if A[vi, vk, q] > 0:
                        O[vi] = O[vi] + A[vi, vk, q]

    sch = Schedule(f)
    sch.rfactor(sch.get_loops("O")[1], 0)
    a = rng(4, 6, 3, dtype="int32")
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros(4, "int32")), np.where(a > 0, a, 0).sum((1, 2)) + 2
    )


def test_rank_zero_and_unit_extents() -> None:
    @T.prim_func
    def f(A: T.Buffer((7,), "int32"), O: T.Buffer((), "int32")):
        for k in range(7):
            with T.block("O"):
                vk = T.axis.reduce(7, k)
                with T.init():
                    O[()] = 1
                O[()] = O[()] + A[vk]

    a = rng(7, dtype="int32")
    for axis in (0, -1):
        sch = Schedule(f)
        sch.rfactor(sch.get_loops("O")[0], axis)
        out = np.zeros((), "int32")
        ts.build(sch.mod)(a, out)
        assert out == a.sum() + 1

    @T.prim_func
    def g(A: T.Buffer((1, 4, 1), "int32"), O: T.Buffer((1, 4), "int32")):
        for b, i, k in T.grid(1, 4, 1):
            with T.block("O"):
                vb, vi, vk = T.axis.remap("SSR", [b, i, k])
                with T.init():
                    O[vb, vi] = 10
                O[vb, vi] = O[vb, vi] + A[vb, vi, vk]

    sch = Schedule(g)
    sch.rfactor(sch.get_loops("O")[2], 0)
    a = rng(1, 4, 1, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((1, 4), "int32")), a[:, :, 0] + 10)


def test_neighbours_stay_where_they_are() -> None:
    """The partial results are computed inside the loop that holds other blocks too."""

    @T.prim_func
    def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32"), P: T.Buffer((4,), "int32")):
        X = T.alloc_buffer((4, 6), "int32")
        for i in range(4):
            for k in range(6):
                with T.block("X"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    X[vi, vk] = A[vi, vk] * 2
            for k in range(6):
                with T.block("O"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + X[vi, vk]
            with T.block("P"):
                vi = T.axis.spatial(4, i)
                P[vi] = O[vi] + 1

    sch = Schedule(f)
    _, k = sch.get_loops("O")
    partial = sch.rfactor(sch.split(k, [2, 3])[1], 0)
    assert sch.get_loops(partial)[0] == sch.get_loops("P")[0]
    a = rng(4, 6, dtype="int32")
    np.testing.assert_array_equal(
        run(sch.mod, a, np.zeros(4, "int32"), np.zeros(4, "int32")), a.sum(1) * 2 + 1
    )


def test_factored_twice() -> None:
    sch = Schedule(update("1|O[vi] + A[vi, vk]"))
    _, k = sch.get_loops("O")
    k0, k1, k2 = sch.split(k, [4, 4, None])
    partial = sch.rfactor(k1, 0)
    sch.rfactor(sch.get_loops(partial)[1], 0)
    a = rng(6, 50, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(6, "int32")), a.sum(1) + 1)
    assert sch.get_block("O_rf_rf")


def test_annotations_kinds_and_spans_stay() -> None:
    sch = Schedule(matmul)
    i, _, k = sch.get_loops("C")
    sch.annotate(i, "note", "x")
    sch.annotate("C", "mark", 1)
    sch.parallel(i)
    sch.unroll(k)
    partial = sch.rfactor(k, 0)
    for b in ("C", partial):
        loops = [sch.get(x) for x in sch.get_loops(b)]
        assert [x.kind for x in loops] == ["parallel", "serial", "unrolled"]
        assert dict(loops[0].annotations) == {"note": "x"}
        assert dict(sch.get(sch.get_block(b) if isinstance(b, str) else b).annotations) == {"mark": 1}


def refused(sch: Schedule, code: str, loop: Any, axis: Any = 0) -> Any:
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match=rf"\[{code}\]") as caught:
        sch.rfactor(loop, axis)
    assert caught.value.code == code
    str(caught.value)
    assert all(sch.mod[n] is before[n] for n in before.names())
    return caught.value


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_refusals() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    e = refused(sch, "not-reduction-loop", i)
    assert "take a loop that is bound to reduction axes: `k`" in str(e)
    refused(sch, "wrong-handle", "k")
    for axis in (3, -4):
        e = refused(sch, "factor-axis-out-of-range", k, axis)
        assert "it must lie between -3 and 2" in str(e)
    for bad in ("0", None, 0.5, True):
        refused(sch, "bad-factor-axis", k, bad)
    fused = sch.fuse(j, k)
    refused(sch, "mixed-loop", fused)
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.decompose_reduction("C", k)
    refused(sch, "no-init", k)
    refused(sch, "not-one-block", i)
    for text, code in (
        ("O[vi] + A[vi, vk] * O[vi]", "unknown-reducer"),
        ("A[vi, vk]", "unknown-reducer"),
        ("O[vi] * 2 + A[vi, vk]", "unknown-reducer"),
    ):
        sch = Schedule(update(f"0|{text}"))
        refused(sch, code, sch.get_loops("O")[1])
    sch = Schedule(last_wins)
    refused(sch, "unknown-reducer", sch.get_loops("O")[1])
    sch = Schedule(update("0|O[vi] + A[vi, vk]"))
    sch.bind(sch.get_loops("O")[1], "threadIdx.x")
    refused(sch, "not-serial", sch.get_loops("O")[1])


def test_a_condition_on_spatial_loops_that_is_not_understood() -> None:
    f = ts.parse("""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((5, 8, 3), "int32"), O: T.Buffer((5,), "int32")):
    for i, k, l in T.grid(5, 8, 3):
        with T.block("O"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            T.where(i < k // 2)
            with T.init():
                O[vi] = 4
            O[vi] = O[vi] + A[vi, vk, vl]
""")
    sch = Schedule(f)
    e = refused(sch, "unclear-condition", sch.get_loops("O")[2])
    assert "i < k // 2 decides which instances" in str(e)
    a = rng(5, 8, 3, dtype="int32")
    want = run(f, a, np.full(5, -7, "int32"))
    sch.rfactor(sch.get_loops("O")[1], 0)
    np.testing.assert_array_equal(run(sch.mod, a, np.full(5, -7, "int32")), want)


def program(body: str, loops: str = "i, k in T.grid(4, 6)", extra: str = "") -> Any:
    return ts.parse(
        f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((9,), "int32"), B: T.Buffer((4, 6), "int32")):
    {extra or "pass"}
    for {loops}:
        with T.block("O"):
            {body}
""".replace("    pass\n", "")
    )


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_refusals_by_dependence() -> None:
    reduction = """vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[CELL] = 0
            O[CELL] = O[CELL] + VALUE"""

    def make(cell: str, value: str = "A[vi, vk]", **more: str) -> Schedule:
        return Schedule(program(reduction.replace("CELL", cell).replace("VALUE", value), **more))

    sch = make("vi // 2")
    e = refused(sch, "shared-cell", sch.get_loops("O")[1])
    assert "O[0]" in str(e)
    sch = make("vi + vk")
    refused(sch, "cell-uses-reduction-axis", sch.get_loops("O")[1])
    sch = make("vi", loops="t, i, k in T.grid(3, 4, 6)")
    refused(sch, "repeated-instance", sch.get_loops("O")[2])
    sch = make("vi", extra='T.func_attr({"tir.noalias": False})')
    refused(sch, "aliased-read", sch.get_loops("O")[1])
    sch = make("vi", loops="i, k, t in T.grid(4, 6, 1)")
    refused(sch, "not-reduction-loop", sch.get_loops("O")[2])
    sch.rfactor(sch.get_loops("O")[1], 0)

    @T.prim_func
    def opaque(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 6):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(O[vi])
                with T.init():
                    O[vi] = 0
                T.evaluate(T.call_extern("int32", "f", O.data, vi, A.data, vk))

    sch = Schedule(opaque)
    refused(sch, "opaque-block", sch.get_loops("O")[1])

    @T.prim_func
    def outside(A: T.Buffer((4, 6, 2), "int32"), O: T.Buffer((4,), "int32"), P: T.Buffer((6,), "int32")):
        for k in range(6):
            for i, l in T.grid(4, 2):
                with T.block("O"):
                    vi, vk, vl = T.axis.remap("SRR", [i, k, l])
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk, vl]
            with T.block("P"):
                vk = T.axis.spatial(6, k)
                P[vk] = 1

    sch = Schedule(outside)
    refused(sch, "reduction-loop-outside", sch.get_loops("O")[2])
    refused(sch, "not-one-block", sch.get_loops("O")[0])

    @T.prim_func
    def dependent(A: T.Buffer((6, 6), "int32"), O: T.Buffer((6,), "int32")):
        for k in range(6):
            for i in range(k + 1):
                for l in range(2):
                    with T.block("O"):
                        vi = T.axis.spatial(6, i)
                        vk = T.axis.reduce(6, k)
                        vl = T.axis.reduce(2, l)
                        with T.init():
                            O[vi] = 0
                        O[vi] = O[vi] + A[vi, vk] * vl

    sch = Schedule(dependent)
    refused(sch, "dependent-extent", sch.get_loops("O")[2])

    @T.prim_func
    def loaded(N: T.Buffer((4,), "int32"), A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            for k in range(N[i]):
                with T.block("O"):
                    vi = T.axis.spatial(4, i)
                    vk = T.axis.reduce(6, k)
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(loaded)
    refused(sch, "dependent-extent", sch.get_loops("O")[1])


def test_one_of_more_nests_in_a_loop_than_the_function_has() -> None:
    @T.prim_func
    def f(X: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32"), Y: T.Buffer((4, 6), "int32")):
        for i in range(4):
            for j in range(6):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = X[vi, vj] * 3
            for j in range(6):
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = Y[vi, vj] + 1
            for k0, k1 in T.grid(2, 3):
                with T.block("S"):
                    vi = T.axis.spatial(4, i)
                    vk = T.axis.reduce(6, k0 * 3 + k1)
                    with T.init():
                        S[vi] = 0
                    S[vi] = S[vi] + Y[vi, vk]
        for i in range(4):
            with T.block("T"):
                vi = T.axis.spatial(4, i)
                S[vi] = S[vi] + 1

    sch = Schedule(f, debug_mask="all")
    sch.rfactor(sch.get_loops("S")[1], 0)
    roundtrip(sch.mod)
    x = rng(4, 6, dtype="int32")
    for target in ("python", "llvm"):
        s, y = np.zeros(4, "int32"), np.zeros((4, 6), "int32")
        ts.build(sch.mod, target=target)(x, s, y)
        np.testing.assert_array_equal(s, (x * 3 + 1).sum(1) + 1)
