"""bind: which loops may become threads."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import copy_symbolic, last_wins, matmul, rng, run, shifted, two_stages


def refused(sch: Schedule, code: str, *args: object) -> str:
    before = sch.mod["main"]
    with pytest.raises(ts.ScheduleError) as caught:
        sch.bind(*args)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert sch.mod["main"] is before
    return str(caught.value)


def product_is_right(sch: Schedule) -> None:
    a, b = rng(16, 24), rng(24, 20, seed=1)
    np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)


def test_the_program_after() -> None:
    @T.prim_func
    def want(A: T.Buffer((12, 10), "float32"), C: T.Buffer((12, 10), "float32")):
        B = T.alloc_buffer((12, 10), "float32")
        for i in T.thread_binding(12, thread="blockIdx.x"):
            for j in T.thread_binding(10, thread="threadIdx.x"):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(12, 10):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)

    sch = Schedule(two_stages)
    i, j = sch.get_loops("B")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    ts.assert_structural_equal(sch.mod["main"], want.with_attr("global_symbol", "two_stages"))
    a = rng(12, 10)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((12, 10), "float32")), a * 2 + 1)
    sch.undo()
    assert sch.get(j).kind == "serial"


def test_every_axis_and_binding_again() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    for kind in ("blockIdx", "threadIdx", "vthread"):
        for axis in "xyz":
            sch.bind(i, f"{kind}.{axis}")
            assert sch.get(i).thread == f"{kind}.{axis}"
    sch.parallel(j)
    sch.bind(j, "threadIdx.y")
    assert sch.get(j).kind == "thread_binding"
    product_is_right(sch)


def test_threads_may_share_in_a_reduction() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    k0, k1 = sch.split(k, [None, 8])
    sch.bind(i, "blockIdx.x")
    sch.bind(k1, "threadIdx.x")
    assert sch.get(k1).thread == "threadIdx.x" and sch.get(k0).kind == "serial"
    product_is_right(sch)


@pytest.mark.parametrize("thread", ["blockIdx.x", "vthread.x"])
def test_blocks_of_threads_may_not(thread: str) -> None:
    sch = Schedule(matmul)
    text = refused(sch, "bind-reduction-axis", sch.get_loops("C")[2], thread)
    assert "k=0 and k=1 both write C[0, 0]" in text and "rfactor(k, 0) first" in text


def test_a_share_needs_an_init() -> None:
    sch = Schedule(matmul)
    k = sch.get_loops("C")[2]
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    text = refused(sch, "no-cross-thread-init", k, "threadIdx.x")
    assert '"C_update"' in text


def test_an_update_that_is_no_reducer() -> None:
    sch = Schedule(last_wins)
    refused(sch, "bind-reduction-axis", sch.get_loops("O")[1], "threadIdx.x")


def test_a_sum_that_is_read_on_the_way() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), S: T.Buffer((1,), "int32"), P: T.Buffer((8,), "int32")):
        for k in range(8):
            with T.block("S"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    S[0] = 0
                S[0] = S[0] + A[vk]
            with T.block("P"):
                vk = T.axis.spatial(8, k)
                P[vk] = S[0]

    sch = Schedule(f)
    refused(sch, "bind-reduction-axis", sch.get_loops("S")[0], "threadIdx.x")


def test_spatial_and_reduction_in_one_loop() -> None:
    sch = Schedule(matmul)
    _, j, k = sch.get_loops("C")
    refused(sch, "bind-reduction-axis", sch.fuse(j, k), "threadIdx.x")


def test_a_carried_dependence() -> None:
    sch = Schedule(shifted)
    text = refused(sch, "loop-carried-dependence", sch.get_loops("A")[0], "threadIdx.x")
    assert "i=0 writes A[1], which i=1 reads" in text


def test_bad_axes() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    assert "did you mean" in refused(sch, "bad-thread-axis", i, "threadIdx.w")
    for name in ("vthread", "cthread", "", "threadIdx"):
        refused(sch, "bad-thread-axis", i, name)
    with pytest.raises(TypeError, match="an int was given"):
        sch.bind(i, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wrong-handle"):
        sch.bind("C", "threadIdx.x")  # type: ignore[arg-type]


def test_one_axis_twice_around_a_statement() -> None:
    for first, second in ((0, 1), (1, 0)):
        sch = Schedule(two_stages)
        loops = sch.get_loops("B")
        sch.bind(loops[first], "threadIdx.x")
        text = refused(sch, "nested-thread-axis", loops[second], "threadIdx.x")
        assert "`i` around `j`" in text


def kernel() -> Schedule:
    @T.prim_func
    def f(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4, 8), "int32"), C: T.Buffer((4, 6), "int32")):
        for i in range(4):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1
            for k in range(6):
                with T.block("C"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    C[vi, vk] = B[vi, vk] * 2

    return Schedule(f)


def test_extents_of_one_axis_in_a_kernel() -> None:
    sch = kernel()
    i, j = sch.get_loops("B")
    k = sch.get_loops("C")[1]
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    text = refused(sch, "thread-extent-differs", k, "threadIdx.x")
    assert "`k` of extent 6" in text and "extent 8" in text
    sch.bind(k, "threadIdx.y")
    a = rng(4, 8, dtype="int32")
    c = run(sch.mod, a, np.zeros((4, 8), "int32"), np.zeros((4, 6), "int32"))
    np.testing.assert_array_equal(c, (a[:, :6] + 1) * 2)


def test_a_loop_that_makes_two_kernels_one() -> None:
    sch = kernel()
    i, j = sch.get_loops("B")
    k = sch.get_loops("C")[1]
    sch.bind(j, "threadIdx.x")
    sch.bind(k, "threadIdx.x")  # two kernels so far
    refused(sch, "thread-extent-differs", i, "blockIdx.x")


def test_symbolic_extents() -> None:
    sch = Schedule(copy_symbolic)
    i, j = sch.get_loops("O")
    i0, i1 = sch.split(sch.fuse(i, j), [None, 32])
    sch.bind(i0, "blockIdx.x")
    sch.bind(i1, "threadIdx.x")
    a = rng(5, 7)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((5, 7), "float32")), a)


def test_steps_breaks_and_missed_instances() -> None:
    @T.prim_func
    def stepped(O: T.Buffer((8,), "int32")):
        for i in range(0, 8, 2):
            O[i] = i

    sch = Schedule(stepped)
    loop = next(t for f in sch.state.functions.values() for t in f.index)
    from tirscript.schedule import LoopRV

    handle = LoopRV(loop, "main")
    refused(sch, "stepped-loop", handle, "threadIdx.x")

    @T.prim_func
    def left(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
        for i in range(8):
            if A[i] > 3:
                break
            O[i] = A[i]

    sch = Schedule(left)
    loop = next(t for f in sch.state.functions.values() for t in f.index)
    refused(sch, "leaves-loop", LoopRV(loop, "main"), "threadIdx.x")


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_a_bound_loop_stays_independent_in_another_order() -> None:
    @T.prim_func
    def f(A: T.Buffer((9, 8), "int32")):
        for i, j in T.grid(8, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(A[vi + 1, vj])
                A[vi + 1, vj] = A[vi, vj] + 1

    sch = Schedule(f)
    i, j = sch.get_loops("A")
    sch.bind(j, "threadIdx.x")
    sch.reorder(j, i)

    @T.prim_func
    def g(A: T.Buffer((9, 9), "int32")):
        for i, j in T.grid(8, 8):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(A[vi + 1, vj + 1])
                A[vi + 1, vj + 1] = A[vi, vj] + 1

    sch = Schedule(g)
    i, j = sch.get_loops("A")
    sch.bind(j, "threadIdx.x")
    with pytest.raises(ts.ScheduleError, match="kind-lost"):
        sch.reorder(j, i)


def test_a_shared_reduction_keeps_its_init() -> None:
    sch = Schedule(matmul)
    i, _, k = sch.get_loops("C")
    sch.bind(k, "threadIdx.x")
    with pytest.raises(ts.ScheduleError, match="shared-reduction"):
        sch.decompose_reduction("C", i)


def test_checks_can_be_skipped() -> None:
    sch = Schedule(shifted, enable_check=False)
    sch.bind(sch.get_loops("A")[0], "threadIdx.x")
    assert "enable_check=False" in str(sch.trace)


def windows(scope: str = "shared", depends: bool = False) -> Schedule:
    """Eight threads that need their neighbours' numbers: A's copy is computed for all of them at once."""

    @T.prim_func
    def f(A: T.Buffer((4, 10), "float32"), B: T.Buffer((4, 8), "float32")):
        S = T.alloc_buffer((4, 10), "float32", scope=scope)
        for i in range(4):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                for r, u in T.grid(2, 8):
                    with T.block("S"):
                        vi = T.axis.spatial(4, i)
                        v = T.axis.spatial(10, r * 8 + u)
                        T.where(r * 8 + u < 10 if not depends else r * 8 + u < 10 and u <= t + 2)
                        S[vi, v] = A[vi, v]
                with T.block("B"):
                    vi, vt = T.axis.remap("SS", [i, t])
                    B[vi, vt] = S[vi, vt] + S[vi, vt + 1] + S[vi, vt + 2]

    return Schedule(f)


def test_threads_fill_shared_memory_together() -> None:
    sch = windows()
    sch.bind(sch.get_loops("S")[3], "threadIdx.x")
    assert [sch.get(x).thread for x in sch.get_loops("S")] == ["", "threadIdx.x", "", "threadIdx.x"]
    a, b = rng(4, 10), np.zeros((4, 8), "float32")
    ts.build(sch.mod, target="python")["f"](a, b)
    np.testing.assert_allclose(b, a[:, :8] + a[:, 1:9] + a[:, 2:], rtol=1e-6)
    with pytest.raises(ts.NotYetError, match="exchange"):  # one thread after the other cannot
        ts.build(sch.mod)


@pytest.mark.parametrize(
    ("scope", "depends", "why"),
    [
        ("local", False, "do not see each other's S in local memory"),
        ("shared", True, "depend on the thread that runs them"),
    ],
)
def test_threads_that_cannot_work_together(scope: str, depends: bool, why: str) -> None:
    sch = windows(scope, depends)
    assert why in refused(sch, "nested-thread-axis", sch.get_loops("S")[3], "threadIdx.x")


def test_threads_do_not_share_out_updates_or_what_few_reach() -> None:
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for u in range(8):
                with T.block("A"):
                    v = T.axis.spatial(8, u)
                    A[v] = A[v] + 1
            if t < 4:
                for u in range(8):
                    with T.block("C"):
                        v = T.axis.spatial(8, u)
                        C[v] = 3

    for name, why in (("A", "updates A"), ("C", "not every thread gets there")):
        sch = Schedule(f)
        assert why in refused(sch, "nested-thread-axis", sch.get_loops(name)[1], "threadIdx.x")
    sch = windows()
    text = refused(sch, "nested-thread-axis", sch.get_loops("S")[2], "threadIdx.x")
    assert "different ranges" in text

    @T.prim_func
    def blocks(C: T.Buffer((8, 8), "int32")):
        for t in T.thread_binding(8, thread="blockIdx.x"):
            for u in range(8):
                with T.block("C"):
                    v, w = T.axis.remap("SS", [u, t])
                    C[v, w] = 3

    sch = Schedule(blocks)
    text = refused(sch, "nested-thread-axis", sch.get_loops("C")[1], "blockIdx.x")
    assert "only the threads of one block share memory" in text
