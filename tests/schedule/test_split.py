"""split: what the result must be, written as script; and that it computes the same."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, matmul, rng, roundtrip, run


def vector(n: int, lo: int = 0, step: int = 1):
    @T.prim_func
    def f(A: T.Buffer((n,), "int32"), O: T.Buffer((n,), "int32")):
        for i in range(lo, n, step):
            with T.block("O"):
                vi = T.axis.spatial(n, i)
                O[vi] = A[vi] + 1

    return f


def test_exact_split_needs_no_guard() -> None:
    @T.prim_func
    def after(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
        for i_0, i_1 in T.grid(4, 4):
            with T.block("O"):
                vi = T.axis.spatial(16, i_0 * 4 + i_1)
                O[vi] = A[vi] + 1

    sch = Schedule(vector(16))
    outer, inner = sch.split(sch.get_loops("O")[0], [None, 4])
    assert (outer.name, inner.name) == ("i_0", "i_1")
    ts.assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "f"))


def test_uneven_split_is_guarded() -> None:
    @T.prim_func
    def after(A: T.Buffer((18,), "int32"), O: T.Buffer((18,), "int32")):
        for i_0, i_1 in T.grid(5, 4):
            with T.block("O"):
                vi = T.axis.spatial(18, i_0 * 4 + i_1)
                T.where(i_0 * 4 + i_1 < 18)
                O[vi] = A[vi] + 1

    sch = Schedule(vector(18))
    sch.split(sch.get_loops("O")[0], [None, 4])
    ts.assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "f"))


@pytest.mark.parametrize(
    "factors", [[2, 3, None], [None, 5], [4, None, 3], [1, 18], [30], [None], [3, 2, 3], [None, 1, 4]]
)
@pytest.mark.parametrize("n", [18, 7])
def test_same_values(factors: list[int | None], n: int) -> None:
    product = int(np.prod([f for f in factors if f is not None]))
    sch = Schedule(vector(n))
    loop = sch.get_loops("O")[0]
    if None not in factors and product < n:
        with pytest.raises(ts.ScheduleError, match="factors-too-small"):
            sch.split(loop, factors)
        return
    assert len(sch.split(loop, factors)) == len(factors)
    a = np.arange(n, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(n, "int32")), a + 1)
    roundtrip(sch.mod)


def test_nested_splits_do_not_pile_up_predicates() -> None:
    sch = Schedule(vector(18))
    outer, _ = sch.split(sch.get_loops("O")[0], [None, 4])
    sch.split(outer, [None, 2])
    text = sch.mod["main"].script()
    assert "T.where((i_0_0 * 2 + i_0_1) * 4 + i_1 < 18)" in text
    a = np.arange(18, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(18, "int32")), a + 1)


def test_exact_splits_are_multiplied_out() -> None:
    sch = Schedule(vector(16))
    outer, inner = sch.split(sch.get_loops("O")[0], [None, 4])
    sch.split(outer, [2, 2])
    sch.split(inner, [2, 2])
    assert "T.axis.spatial(16, i_0_0 * 8 + i_0_1 * 4 + i_1_0 * 2 + i_1_1)" in sch.mod["main"].script()
    sch.undo(2)
    sch.split(outer, [None, 3])  # one with a guard is not
    assert "T.axis.spatial(16, (i_0_0 * 3 + i_0_1) * 4 + i_1)" in sch.mod["main"].script()


def test_a_needed_second_predicate_stays() -> None:
    sch = Schedule(vector(18))
    _, inner = sch.split(sch.get_loops("O")[0], [None, 4])
    sch.split(inner, [None, 3])
    assert "T.where(i_0 * 4 + (i_1_0 * 3 + i_1_1) < 18 and i_1_0 * 3 + i_1_1 < 4)" in sch.mod["main"].script()
    a = np.arange(18, dtype="int32")
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(18, "int32")), a + 1)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize("lo", [3, 4])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_loops_that_do_not_start_at_zero_or_step(lo: int, step: int) -> None:
    sch = Schedule(vector(23, lo, step))
    sch.split(sch.get_loops("O")[0], [None, 4])
    a = np.arange(23, dtype="int32")
    want = np.full(23, -1, "int32")
    want[lo::step] = a[lo::step] + 1
    np.testing.assert_array_equal(run(sch.mod, a, np.full(23, -1, "int32")), want)


def test_symbolic_extent() -> None:
    sch = Schedule(copy_symbolic)
    i, j = sch.get_loops("O")
    sch.split(i, [None, 4])
    sch.split(j, [2, None])
    text = sch.mod["main"].script()
    assert "T.where(i_0 * 4 + i_1 < n" in text and "(n + 3) // 4" in text
    for n, m in ((3, 5), (8, 2), (0, 4), (1, 1)):
        a = rng(n, m)
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((n, m), "float32")), a)


def test_symbolic_extent_that_divides_needs_no_guard() -> None:
    @T.prim_func
    def f(o: T.handle, n: T.int32):
        O = T.match_buffer(o, (n * 8,), "int32")
        for i in range(n * 8):
            with T.block("O"):
                vi = T.axis.spatial(n * 8, i)
                O[vi] = vi

    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], [None, 4])
    assert "T.where" not in sch.mod["main"].script()
    assert "T.grid(n * 2, 4)" in sch.mod["main"].script()


def test_constant_factors_of_a_symbolic_extent_are_refused() -> None:
    sch = Schedule(copy_symbolic)
    with pytest.raises(ts.ScheduleError, match="factors-too-small"):
        sch.split(sch.get_loops("O")[0], [4, 4])


def test_int64_loops_keep_their_dtype() -> None:
    @T.prim_func
    def f(O: T.Buffer((T.int64(18),), "int32")):
        for i in range(T.int64(18)):
            with T.block("O"):
                vi = T.axis.spatial(T.int64(18), i)
                O[vi] = 1

    sch = Schedule(f)
    a, b = sch.split(sch.get_loops("O")[0], [None, 4])
    assert sch.get(a).loop_var.dtype == sch.get(b).loop_var.dtype == "int64"
    np.testing.assert_array_equal(run(sch.mod, np.zeros(18, "int32")), np.ones(18))


def test_kinds_go_to_the_loop_that_keeps_their_meaning() -> None:
    for kind, want in (
        ("parallel", ["parallel", "serial"]),
        ("vectorize", ["serial", "vectorized"]),
        ("unroll", ["unrolled", "unrolled"]),
    ):
        sch = Schedule(vector(16))
        loop = sch.get_loops("O")[0]
        getattr(sch, kind)(loop)
        assert [sch.get(x).kind for x in sch.split(loop, [None, 4])] == want


def test_statements_outside_blocks_are_guarded_by_an_if() -> None:
    @T.prim_func
    def f(P: T.Buffer((7,), "int32"), O: T.Buffer((6,), "int32")):
        for i in range(6):
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                O[vi] = P[vi + 1]
            for k in range(P[i + 1] - P[i]):
                with T.block("Q"):
                    v = T.axis.spatial(6, i)
                    w = T.axis.opaque(20, k)
                    O[v] = O[v] + 1

    p = np.array([0, 3, 3, 8, 9, 20, 20], "int32")
    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], [None, 4])
    text = sch.mod["main"].script()
    assert "if i_0 * 4 + i_1 < 6:" in text  # the bounds of the inner loop read P out of range otherwise
    np.testing.assert_array_equal(run(sch.mod, p, np.zeros(6, "int32")), p[1:] + np.diff(p))


def test_a_block_body_that_uses_the_loop_is_rewritten() -> None:
    @T.prim_func(check_well_formed=False)
    def f(O: T.Buffer((6,), "int32")):
        for i in range(6):
            with T.block("O"):
                T.reads()
                T.writes(O[i])
                O[i] = i

    sch = Schedule(f)
    sch.split(sch.get_loops("O")[0], [None, 4])
    np.testing.assert_array_equal(run(sch.mod, np.zeros(6, "int32")), np.arange(6))


def test_unit_factors_can_be_left_out_of_the_bindings() -> None:
    sch = Schedule(vector(16))
    sch.split(sch.get_loops("O")[0], [None, 1, 4], preserve_unit_iters=False)
    assert "T.axis.spatial(16, i_0 * 4 + i_2)" in sch.mod["main"].script()
    sch = Schedule(vector(16))
    sch.split(sch.get_loops("O")[0], [None, 1, 4])
    assert "T.axis.spatial(16, i_0 * 4 + i_1 * 4 + i_2)" in sch.mod["main"].script()


def test_names_are_free() -> None:
    @T.prim_func
    def f(O: T.Buffer((4, 8), "int32")):
        for i_0, i in T.grid(4, 8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i_0, i])
                O[vi, vj] = vi

    sch = Schedule(f)
    names = [x.name for x in sch.split(sch.get_loops("O")[1], [None, 2])]
    assert names == ["i_0_1", "i_1"]


def test_disable_predication() -> None:
    sch = Schedule(vector(18))
    with pytest.raises(ts.ScheduleError, match="predicate-needed"):
        sch.split(sch.get_loops("O")[0], [None, 4], disable_predication=True)
    sch.split(sch.get_loops("O")[0], [None, 9], disable_predication=True)


@pytest.mark.parametrize(
    ("factors", "code"),
    [
        ([0, 16], "bad-factor"), ([-1, 16], "bad-factor"), ([None, None], "two-unknown-factors"),
        ([None, 0], "bad-factor"), ([-4, -4], "bad-factor"), ([2, 2], "factors-too-small"),
        ([], "bad-factors"), (4, "bad-factors"), ([2.5, None], "bad-factors"), (["4", None], "bad-factors"),
        ([True, None], "bad-factors"),
    ],
)  # fmt: skip
def test_bad_factors_are_refused_by_name(factors: object, code: str) -> None:
    sch = Schedule(vector(16))
    before = sch.mod["main"]
    with pytest.raises((ValueError, TypeError)) as caught:
        sch.split(sch.get_loops("O")[0], factors)  # type: ignore[arg-type]
    assert isinstance(caught.value, ts.ScheduleError)
    assert caught.value.code == code
    assert sch.mod["main"] is before


def test_annotated_and_bound_loops_are_refused() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    sch.annotate(i, "note", 1)
    with pytest.raises(ts.ScheduleError, match="annotated-loop"):
        sch.split(i, [None, 4])

    @T.prim_func
    def f(O: T.Buffer((8,), "int32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                O[vi] = vi

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="bound-loop"):
        sch.split(sch.get_loops("O")[0], [None, 4])


def test_numpy_and_ir_integers_are_factors() -> None:
    sch = Schedule(vector(16))
    sch.split(sch.get_loops("O")[0], [None, np.int64(4)])
    assert "T.grid(4, 4)" in sch.mod["main"].script()


MIXED = """
@T.prim_func
def f(A: T.Buffer((6, 6), "int32"), S: T.Buffer((6,), "int32")):
    for i, k in T.grid(6, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(CONDITION)
            with T.init():
                S[vi] = 1
            S[vi] = S[vi] + A[vi, vk]
"""


@pytest.mark.parametrize("condition", ["i < k", "i * 2 + k >= 7", "i + k < 5", "i == k and i > 2"])
def test_a_condition_of_a_spatial_and_a_reduction_loop(condition: str) -> None:
    """It decides which instances the init reaches; a guard of the reduction loop alone would not."""
    f = ts.parse(MIXED.replace("CONDITION", condition))
    a = rng(6, 6, dtype="int32")
    start = np.full(6, 99, "int32")
    want = run(f, a, start)
    sch = Schedule(f)
    before = sch.mod["f"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.split(sch.get_loops("S")[1], [None, 4])
    assert caught.value.code == "divided-init" and "a condition with other loops" in caught.value.message
    assert sch.mod["f"] is before and not sch.history
    for at, factors in ((1, [None, 3]), (0, [None, 4])):  # no guard; a guard of both
        sch = Schedule(f)
        sch.split(sch.get_loops("S")[at], factors)
        np.testing.assert_array_equal(run(sch.mod, a, start), want)
    # Apart, each is guarded by what it needs.
    sch = Schedule(f)
    sch.decompose_reduction("S", sch.get_loops("S")[0])
    sch.split(sch.get_loops("S_update")[1], [None, 4])
    np.testing.assert_array_equal(run(sch.mod, a, start), want)


def test_a_range_that_a_reduction_loop_decides() -> None:
    @T.prim_func
    def f(A: T.Buffer((6, 8), "int32"), S: T.Buffer((8,), "int32")):
        for k in range(6):
            for j in range(k + 1):
                with T.block("S"):
                    vj = T.axis.spatial(8, j)
                    vk = T.axis.reduce(6, k)
                    T.where(j < 8)
                    with T.init():
                        S[vj] = 1
                    S[vj] = S[vj] + A[vk, vj]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError) as caught:
        sch.split(sch.get_loops("S")[0], [None, 4])
    assert caught.value.code == "divided-init" and "the range of loop `j`" in caught.value.message
    sch.split(sch.get_loops("S")[0], [None, 2])
    a = rng(6, 8, dtype="int32")
    want = [1 + a[j:, j].sum() if j < 6 else 99 for j in range(8)]
    np.testing.assert_array_equal(run(sch.mod, a, np.full(8, 99, "int32")), want)
