"""What must be allowed and what must be refused: legality by dependence, whatever the pattern.

One test for each rule; the primitives' own tests go into the corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run, shifted


def refused(sch: Schedule, code: str, call: Any) -> ts.ScheduleError:
    """The refusal; the schedule must be as it was."""
    before, steps = sch.mod[sch.mod.names()[0]], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        call(sch)
    assert caught.value.code == code, str(caught.value)
    assert sch.mod[sch.mod.names()[0]] is before and len(sch.history) == steps
    return caught.value


# ---- must be allowed


def test_an_update_block_is_vectorized() -> None:
    """`vectorize(j)` on the update after decompose_reduction: no reduction block by TVM's conditions."""
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.reorder(i, k, j)
    sch.decompose_reduction("C", k)
    sch.vectorize(j)
    assert sch.get(sch.get_loops("C_update")[2]).kind == "vectorized"
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.full((16, 20), 3, "float32")), a @ b, rtol=1e-5)


def test_a_disjoint_opaque_store_is_parallel() -> None:
    """No primitive knows the axis' kind or the reads of the call; the stores are disjoint."""

    @T.prim_func
    def f(A: T.Buffer((16,), "float32"), O: T.Buffer((16, 2), "float32")):
        for i in range(16):
            with T.block("O"):
                vi = T.axis.opaque(16, i)
                T.reads(A[vi])
                T.writes(O[vi, 0:2])
                O[vi, 0] = T.exp(A[vi])
                O[vi, 1] = O[vi, 0] + T.float32(1)

    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    a = rng(16) / 8
    want = np.stack([np.exp(a), np.exp(a) + 1], 1)
    np.testing.assert_allclose(run(sch.mod, a, np.zeros((16, 2), "float32")), want, rtol=1e-5)


def test_loops_with_a_minimum_are_reordered() -> None:
    @T.prim_func
    def f(A: T.Buffer((9, 9), "int32"), O: T.Buffer((9, 9), "int32")):
        for i in range(2, 9):
            for j in range(1, 5):
                with T.block("O"):
                    vi = T.axis.spatial((2, 9), i)
                    vj = T.axis.spatial((1, 5), j)
                    O[vi, vj] = A[vj, vi] * 3

    @T.prim_func
    def after(A: T.Buffer((9, 9), "int32"), O: T.Buffer((9, 9), "int32")):
        for j in range(1, 5):
            for i in range(2, 9):
                with T.block("O"):
                    vi = T.axis.spatial((2, 9), i)
                    vj = T.axis.spatial((1, 5), j)
                    O[vi, vj] = A[vj, vi] * 3

    sch = Schedule(f)
    i, j = sch.get_loops("O")
    sch.reorder(j, i)
    ts.assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "f"))
    a = rng(9, 9, dtype="int32")
    want = np.full((9, 9), -1, "int32")
    want[2:9, 1:5] = a.T[2:9, 1:5] * 3
    np.testing.assert_array_equal(run(sch.mod, a, np.full((9, 9), -1, "int32")), want)


# ---- must be refused


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize(
    ("loop", "code", "words"),
    [("range(3)", "axis-not-covered", "never run"), ("range(5)", "axis-overrun", "to 4, outside")],
)
@pytest.mark.parametrize("primitive", ["parallel", "vectorize"])
def test_loops_that_do_not_fit_the_axis(loop: str, code: str, words: str, primitive: str) -> None:
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(O: T.Buffer((8,), "int32")):
    for i in {loop}:
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            O[vi] = vi
""")
    error = refused(Schedule(f), code, lambda s: getattr(s, primitive)(s.get_loops("O")[0]))
    assert words in str(error)


@pytest.mark.parametrize("primitive", ["parallel", "vectorize"])
def test_a_dependence_through_a_shifted_index(primitive: str) -> None:
    """The refusal names two iterations and the cell."""
    error = refused(
        Schedule(shifted),
        "loop-carried-dependence",
        lambda s: getattr(s, primitive)(s.get_loops("A")[0]),
    )
    assert "note: i=0 writes A[1], which i=1 reads" in str(error)


def test_a_read_that_would_overtake_a_write() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        B = T.alloc_buffer((8,), "int32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * 2
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 0
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi] + 1

    error = refused(Schedule(f), "read-overtakes-write", lambda s: s.compute_inline("B"))
    assert 'it reads A, which block "A" may write after' in error.message


def test_a_write_that_runs_twice_where_order_counts() -> None:
    """The update keeps the last value only: no reducer, so its loops keep their order."""

    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 8):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] * 2 + A[vi, vk]

    sch = Schedule(f)
    k0, k1 = sch.split(sch.get_loops("O")[1], [None, 4])
    error = refused(sch, "reversed-dependence", lambda s: s.reorder(k1, k0))
    assert "O[0]" in str(error)
    a = rng(4, 8, dtype="int32")
    want = [int(np.polyval(row.astype(object), 2)) for row in a]
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32")), want)


# ---- which accesses count


def hidden(regions: str) -> Any:
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((9,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.opaque(8, i)
            {regions}
            O[vi] = A[vi]
            A[vi + 1] = 2
""")


def test_the_body_counts_where_it_can_be_seen() -> None:
    """A larger region than what is accessed is legal, and no obstacle."""

    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("O"):
                vi = T.axis.spatial(8, i)
                T.reads(A[0:8])
                T.writes(O[0:8])
                O[vi] = A[vi] + 1

    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])
    # What the regions say too little of is seen nevertheless.
    f = hidden("T.reads(A[vi])\n            T.writes(O[vi], A[vi + 1])")
    refused(Schedule(f), "loop-carried-dependence", lambda s: s.parallel(s.get_loops("O")[0]))


def test_regions_count_for_what_is_opaque() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("O"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi])
                T.writes(O[vi])
                T.evaluate(T.call_extern("int32", "g", O.data, A.data, vi))

    sch = Schedule(f)
    sch.parallel(sch.get_loops("O")[0])

    @T.prim_func
    def g(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("O"):
                vi = T.axis.opaque(16, i)
                T.reads(A[vi])
                T.writes(O[0:16])
                T.evaluate(T.call_extern("int32", "g", O.data, A.data, vi))

    refused(Schedule(g), "loop-carried-dependence", lambda s: s.parallel(s.get_loops("O")[0]))


def test_regions_that_the_user_overrides_count() -> None:
    """Said to write the whole buffer, a block runs in order; with its read hidden, in any."""
    sch = Schedule(matmul)
    sch.annotate_buffer_access("C", 0, "write", lambda i, j, k: ((0, 16), (0, 20)))
    refused(sch, "loop-carried-dependence", lambda s: s.parallel(s.get_loops("C")[0]))
    sch = Schedule(shifted)
    sch.unsafe_hide_buffer_access("A", "read", [0])
    sch.parallel(sch.get_loops("A")[0])


def test_views_overlap_and_other_buffers_do_not() -> None:
    @T.prim_func
    def f(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
        V = T.decl_buffer((4, 4), "int32", data=A.data)
        for i in range(15):
            with T.block("O"):
                vi = T.axis.opaque(15, i)
                T.reads(A[vi + 1])
                T.writes(V[vi // 4, vi % 4])
                V[vi // 4, vi % 4] = A[vi + 1]

    with pytest.raises(ts.ScheduleError) as caught:
        Schedule(f).parallel(Schedule(f).get_loops("O")[0])
    assert caught.value.code in ("loop-carried-dependence", "dependence-unknown")

    copy = """
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32")):
    T.func_attr({"tir.noalias": NOALIAS})
    for i in range(15):
        with T.block("O"):
            vi = T.axis.spatial(15, i)
            O[vi] = A[vi + 1]
"""
    sch = Schedule(ts.parse(copy.replace("NOALIAS", "True")))
    sch.parallel(sch.get_loops("O")[0])
    may = Schedule(ts.parse(copy.replace("NOALIAS", "False")))
    with pytest.raises(ts.ScheduleError) as caught:
        may.parallel(may.get_loops("O")[0])
    assert caught.value.code in ("loop-carried-dependence", "dependence-unknown")


# ---- what is not known


def scatter() -> Schedule:
    return Schedule(_scatter)


@T.prim_func
def _scatter(P: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("O"):
            vi = T.axis.opaque(8, i)
            T.reads(P[vi])
            T.writes(O[0:8])
            O[P[vi]] = vi


def test_unknown_refuses_and_says_how_to_go_on() -> None:
    error = refused(scatter(), "dependence-unknown", lambda s: s.parallel(s.get_loops("O")[0]))
    assert "O" in error.message and "enable_check=False" in str(error)


def test_without_checks() -> None:
    """Legality is skipped, the kinds of arguments are not, and the trace says so."""
    sch = Schedule(_scatter, enable_check=False)
    sch.parallel(sch.get_loops("O")[0])
    assert sch.get(sch.get_loops("O")[0]).kind == "parallel"
    assert "enable_check=False" in str(sch.trace)
    refused(sch, "wrong-handle", lambda s: s.parallel("O"))
    refused(sch, "bad-factor", lambda s: s.split(s.get_loops("O")[0], [0, 4]))
    p = np.array([3, 1, 0, 2, 7, 6, 5, 4], "int32")
    np.testing.assert_array_equal(run(sch.mod, p, np.zeros(8, "int32")), np.argsort(p))


# ---- kinds of axes


@pytest.mark.parametrize("axis", ["scan", "opaque"])
def test_axes_as_written_are_split_and_fused(axis: str) -> None:
    """Reordered only where independence is proved."""
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((6, 5), "int32"), O: T.Buffer((7, 5), "int32")):
    for i, j in T.grid(6, 5):
        with T.block("O"):
            vi = T.axis.{axis}(6, i)
            vj = T.axis.{axis}(5, j)
            O[vi + 1, vj] = O[vi, vj] + A[vi, vj]
""")
    a = rng(6, 5, dtype="int32")
    want = np.concatenate([np.zeros((1, 5), "int32"), np.cumsum(a, 0, dtype="int32")])
    zero = np.zeros((7, 5), "int32")
    sch = Schedule(f)
    i, j = sch.get_loops("O")
    sch.reorder(j, i)  # columns are independent
    i0, i1 = sch.split(i, [None, 4])
    refused(sch, "reversed-dependence", lambda s: s.reorder(i1, i0))
    refused(sch, "loop-carried-dependence", lambda s: s.parallel(i0))
    sch.parallel(j)
    np.testing.assert_array_equal(run(sch.mod, a, zero), want)
    sch.fuse(i0, i1)
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, a, zero), want)


@pytest.mark.parametrize(("update", "allowed"), [
    ("O[vi] + A[vi, vk]", True), ("T.max(O[vi], A[vi, vk])", True), ("O[vi] * A[vi, vk]", True),
    ("O[vi] - A[vi, vk]", True), ("O[vi] ^ A[vi, vk]", True), ("A[vi, vk] - O[vi]", False),
    ("A[vi, vk]", False),
])  # fmt: skip
def test_reductions_are_reordered_by_their_reducer(update: str, allowed: bool) -> None:
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = 1
            O[vi] = {update}
""")
    a = rng(4, 6, dtype="int32")
    want = run(Schedule(f).mod, a, np.zeros(4, "int32"))
    sch = Schedule(f)
    k0, k1 = sch.split(sch.get_loops("O")[1], [None, 3])
    if allowed:
        sch.reorder(k1, k0)
    else:
        refused(sch, "reversed-dependence", lambda s: s.reorder(k1, k0))
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros(4, "int32")), want)


@pytest.mark.parametrize(("keeps", "allowed"), [
    ("top[vi] >= X[vi, vk]", False),
    ("top[vi] > X[vi, vk] or (top[vi] == X[vi, vk] and at[vi] < vk)", True),
])  # fmt: skip
def test_an_argmax_commutes_where_equal_values_are_told_apart(keeps: str, allowed: bool) -> None:
    f = ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(X: T.Buffer((4, 6), "int32"), at: T.Buffer((4,), "int32"), top: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                at[vi] = -1
                top[vi] = T.min_value("int32")
            v_at: T.int32 = T.Select({keeps}, at[vi], vk)
            v_top: T.int32 = T.Select({keeps}, top[vi], X[vi, vk])
            at[vi] = v_at
            top[vi] = v_top
""")
    for code, call in (
        ("bind-reduction-axis", lambda s: s.bind(s.get_loops("Y")[2], "threadIdx.x")),
        ("reversed-dependence", lambda s: s.reorder(*s.get_loops("Y")[:0:-1])),
    ):
        sch = Schedule(f)
        sch.split(sch.get_loops("Y")[1], [None, 3])
        if not allowed:
            refused(sch, code, call)
            continue
        call(sch)
        x = np.array([[3, 5, 5, 1, 0, 2], [0] * 6, [-9, -8, -7, -6, -5, -5], [7, 1, 7, 7, 1, 7]], "int32")
        at, top = np.zeros(4, "int32"), np.zeros(4, "int32")
        for target in ("python", "llvm"):
            ts.build(sch.mod, target=target)(x, at, top)
            np.testing.assert_array_equal(at, x.argmax(1))
            np.testing.assert_array_equal(top, x.max(1))
