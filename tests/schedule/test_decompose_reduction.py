"""decompose_reduction: the two nests, their names, what survives, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run


def test_the_two_nests() -> None:
    @T.prim_func
    def after(
        A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 20), "float32"), C: T.Buffer((16, 20), "float32")
    ):
        for i in range(16):
            for j_0 in range(5):
                for j_1_init in T.vectorized(4):
                    with T.block("C_init"):
                        vi = T.axis.spatial(16, i)
                        vj = T.axis.spatial(20, j_0 * 4 + j_1_init)
                        T.reads()
                        T.writes(C[vi, vj])
                        C[vi, vj] = T.float32(0)
                for k in range(24):
                    for j_1 in T.vectorized(4):
                        with T.block("C_update"):
                            vi = T.axis.spatial(16, i)
                            vj = T.axis.spatial(20, j_0 * 4 + j_1)
                            vk = T.axis.reduce(24, k)
                            T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                            T.writes(C[vi, vj])
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.vectorize(j1)
    init = sch.decompose_reduction(block, k)
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "matmul"), names=True)
    assert sch.get(block).name == "C_update" and sch.get(init).name == "C_init"
    assert sch.get_loops(block) == [i, j0, k, j1]
    assert [b.name for b in sch.get_producers(block)] == ["C_init"]
    roundtrip(sch.mod)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
    sch.undo()
    assert sch.get(block).name == "C"
    sch.goto(4)
    assert sch.get(block).name == "C_update" and sch.get_block("C_update") == block


@pytest.mark.parametrize("level", range(3))
def test_each_level_with_loops_in_mixed_order(level: int) -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
        for i, k, j in T.grid(4, 5, 6):
            with T.block("O"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                with T.init():
                    O[vi, vj] = T.if_then_else(vj % 2 == 0, 100, vi)
                O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    a = np.arange(120, dtype="int32").reshape(4, 6, 5)
    i, j = np.ogrid[:4, :6]
    want = a.sum(2) + np.where(j % 2 == 0, 100, i)
    sch = Schedule(f)
    loop = sch.get_loops("O")[level]
    if level == 2:
        with pytest.raises(ts.ScheduleError, match="reduction-loop-outside") as caught:
            sch.decompose_reduction("O", loop)
        assert "loop `k` outside it is bound to the reduction axis `vk`" in str(caught.value)
    else:
        sch.decompose_reduction("O", loop)
    np.testing.assert_array_equal(run(sch.mod, a, np.full((4, 6), -9, "int32")), want)


@pytest.mark.parametrize(("fi", "fk"), [(4, 3), (5, 7), (2, 4)])
def test_predicates(fi: int, fk: int) -> None:
    """Conjuncts over reduction loops alone guard the update, others both."""

    @T.prim_func
    def f(A: T.Buffer((10, 11), "int32"), O: T.Buffer((10,), "int32")):
        for i, k in T.grid(10, 11):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 5
                O[vi] = O[vi] + A[vi, vk]

    a = rng(10, 11, dtype="int32")
    for level in range(3):
        sch = Schedule(f)
        i, k = sch.get_loops("O")
        sch.split(i, [None, fi])
        sch.split(k, [None, fk])
        sch.decompose_reduction("O", sch.get_loops("O")[level])
        names = [x.name for x in sch.get_loops("O_init")]
        assert not any(name.startswith("k") for name in names)
        out = np.full(12, -7, "int32")
        np.testing.assert_array_equal(run(sch.mod, a, out[:10]), a.sum(1) + 5)


def test_an_empty_reduction_leaves_the_init() -> None:
    @T.prim_func
    def f(A: T.Buffer((3, 4), "int32"), O: T.Buffer((3,), "int32"), n: T.int32):
        for i, k in T.grid(3, n):
            with T.block("O"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(n, k)
                with T.init():
                    O[vi] = 7
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    sch.decompose_reduction("O", sch.get_loops("O")[1])
    a = rng(3, 4, dtype="int32")
    for target in ("python", "llvm"):
        for n in (0, 2):
            out = np.zeros(3, "int32")
            ts.build(sch.mod, target=target)(a, out, n)
            np.testing.assert_array_equal(out, a[:, :n].sum(1) + 7)


def test_annotations_and_bindings_go_to_the_copies() -> None:
    sch = Schedule(matmul)
    _, j, k = sch.get_loops("C")
    sch.reorder(k, j)
    sch.annotate(j, "note", "x")
    sch.annotate("C", "mark", 1)
    sch.decompose_reduction("C", k)
    copy = sch.get_loops("C_init")[-1]
    assert copy.name == "j_init" and dict(sch.get(copy).annotations) == {"note": "x"}
    assert dict(sch.get(sch.get_block("C_init")).annotations) == {"mark": 1}


def test_a_fused_loop_over_both_kinds_of_axes() -> None:
    sch = Schedule(matmul)
    fused = sch.fuse(*sch.get_loops("C")[1:])
    sch.decompose_reduction("C", fused)
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_neighbours_below_the_loop() -> None:
    @T.prim_func
    def after_it(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i in range(4):
            for k in range(5):
                with T.block("O"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = O[vi] * 2

    @T.prim_func
    def before_it(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = O[vi] * 2
            for k in range(5):
                with T.block("O"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        O[vi] = 0
                    O[vi] = O[vi] + A[vi, vk]

    a, o = rng(4, 5, dtype="int32"), rng(4, dtype="int32")
    zero = np.zeros(4, "int32")
    sch = Schedule(after_it)
    sch.decompose_reduction("O", sch.get_loops("O")[0])
    np.testing.assert_array_equal(run(sch.mod, a, o, zero), a.sum(1) * 2)
    sch = Schedule(before_it)
    i, k = sch.get_loops("O")
    with pytest.raises(ts.ScheduleError, match="init-overtakes") as caught:
        sch.decompose_reduction("O", i)
    assert 'it would overtake block "C", which may touch O' in str(caught.value)
    sch.decompose_reduction("O", k)
    np.testing.assert_array_equal(run(sch.mod, a, o, zero), o * 2)


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_refusals() -> None:
    sch = Schedule(matmul)
    _, j, k = sch.get_loops("C")
    sch.decompose_reduction("C", k)
    with pytest.raises(ts.ScheduleError, match="no-init"):
        sch.decompose_reduction("C_update", k)
    with pytest.raises(ts.ScheduleError, match="no-init"):
        sch.decompose_reduction("C_init", j)

    @T.prim_func
    def scan(A: T.Buffer((9, 5), "int32"), O: T.Buffer((9,), "int32")):
        for i, k in T.grid(8, 5):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi + 1] = O[vi]
                O[vi + 1] = O[vi + 1] + A[vi, vk]

    sch = Schedule(scan)
    with pytest.raises(ts.ScheduleError, match="init-overtakes"):
        sch.decompose_reduction("O", sch.get_loops("O")[0])


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_loop_that_repeats_instances_is_refused() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32")):
        for _t, i, k in T.grid(3, 4, 5):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="repeated-instance"):
        sch.decompose_reduction("O", sch.get_loops("O")[0])


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_partly_covered_spatial_axis_is_refused() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(3, 5):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce(5, k)
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    sch = Schedule(f)
    with pytest.raises(ts.ScheduleError, match="axis-not-covered"):
        sch.decompose_reduction("O", sch.get_loops("O")[0])


def test_conditions_between() -> None:
    @T.prim_func
    def f(A: T.Buffer((4, 5), "int32"), M: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            if M[i] > 0:
                for k in range(5):
                    with T.block("O"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        with T.init():
                            O[vi] = 0
                        O[vi] = O[vi] + A[vi, vk]

    @T.prim_func
    def g(A: T.Buffer((4, 5), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            if O[3 - i] > 0:
                for k in range(5):
                    with T.block("O"):
                        vi, vk = T.axis.remap("SR", [i, k])
                        with T.init():
                            O[vi] = 0
                        O[vi] = O[vi] + A[vi, vk]

    a, m, o = rng(4, 5, dtype="int32"), np.array([1, 0, 2, -1], "int32"), np.array([7, 8, 9, 6], "int32")
    want = np.where(m > 0, a.sum(1), o)
    for level in (0, 1):
        sch = Schedule(f)
        sch.decompose_reduction("O", sch.get_loops("O")[level])
        np.testing.assert_array_equal(run(sch.mod, a, m, o), want)
    sch = Schedule(g)
    with pytest.raises(ts.ScheduleError, match="init-overtakes"):
        sch.decompose_reduction("O", sch.get_loops("O")[0])


def test_several_buffers_in_bound_and_vectorized_loops() -> None:
    @T.prim_func
    def f(V: T.Buffer((6, 24), "float32"), OI: T.Buffer((6,), "int32"), OV: T.Buffer((6,), "float32")):
        for i, k in T.grid(6, 24):
            with T.block("arg"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    OI[vi] = 1000
                    OV[vi] = T.float32(-1e30)
                ni: T.int32 = T.Select(
                    OV[vi] > V[vi, vk] or (OV[vi] == V[vi, vk] and OI[vi] < vk), OI[vi], vk
                )
                nv: T.float32 = T.Select(OV[vi] > V[vi, vk], OV[vi], V[vi, vk])
                OI[vi] = ni
                OV[vi] = nv

    sch = Schedule(f)
    i, k = sch.get_loops("arg")
    i0, i1 = sch.split(i, [None, 4])
    k0, k1 = sch.split(k, [None, 5])
    sch.reorder(i0, k0, k1, i1)
    sch.bind(i0, "blockIdx.x")
    sch.annotate(i1, "note", 1)
    sch.vectorize(i1)
    sch.decompose_reduction("arg", k0)
    copy = sch.get(sch.get_loops("arg_init")[-1])
    assert (copy.loop_var.name, copy.kind, dict(copy.annotations)) == ("i_1_init", "vectorized", {"note": 1})
    assert [r.buffer.name for r in sch.get(sch.get_block("arg_init")).writes] == ["OI", "OV"]
    v = np.random.default_rng(0).integers(0, 3, (6, 24)).astype("float32")
    for target in ("python", "llvm"):
        index, value = np.zeros(6, "int32"), np.zeros(6, "float32")
        ts.build(sch.mod, target=target)(v, index, value)
        np.testing.assert_array_equal(index, v.argmax(1))
        np.testing.assert_array_equal(value, v.max(1))


def test_regions_that_the_user_gave() -> None:
    """The numbers of given regions follow their regions; the init has none, so that its write counts."""

    @T.prim_func
    def rows(X: T.Buffer((8, 3), "int32"), Y: T.Buffer((8, 3), "int32")):
        S = T.alloc_buffer((8,), "int32")
        for i, k in T.grid(8, 3):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = 1
                S[vi] = S[vi] * X[vi, vk]
        for i, j in T.grid(8, 3):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] - S[vi]

    sch = Schedule(rows, debug_mask="all")
    sch.annotate_buffer_access("S", 0, "read", lambda i, k: (0, 8, 0, 3))
    init = sch.get(sch.decompose_reduction("S", sch.get_loops("S")[0]))
    assert not init.annotations and [r.buffer.name for r in init.writes] == ["S"]
    update = sch.get(sch.get_block("S_update"))
    assert [r.buffer.name for r in update.reads] == ["S", "X"]
    assert list(update.annotations["explicit_read_region"]) == [1]
    with pytest.raises(ts.ScheduleError, match="nest-overtakes"):
        sch.merge(sch.get_loops("S_init")[0], sch.get_loops("Y")[0])
    # The same by blockize, whose inner block has its init inside.
    sch = Schedule(rows, debug_mask="all")
    sch.annotate_buffer_access("S", 0, "read", lambda i, k: (0, 8, 0, 3))
    sch.blockize(sch.get_loops("S")[1])
    assert [r.buffer.name for r in sch.get(sch.get_block("S")).reads] == ["S", "X"]
    assert list(sch.get(sch.get_block("S")).annotations["explicit_read_region"]) == [1]
    x = np.arange(24, dtype="int32").reshape(8, 3) % 5
    for target in ("python", "llvm"):
        y = np.zeros((8, 3), "int32")
        ts.build(sch.mod, target=target)(x, y)
        np.testing.assert_array_equal(y, x - x.prod(1, keepdims=True))
