"""``Schedule(verify=True)``: the first step that changes a result is named, with where."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.ir.expr import Add, const_int
from tirscript.ir.stmt import BufferStore, For
from tirscript.schedule import Schedule
from tirscript.schedule.record.trace import InstructionKind
from tirscript.script import tir as T
from tirscript.testing import step_check

from .programs import matmul

NO_REPLAY = True  # these schedules are made wrong on purpose


@T.prim_func
def scan(A: T.Buffer((9, 9), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("OO", [i, j])
            T.reads(A[vi, vj + 1])
            T.writes(A[vi + 1, vj])
            A[vi + 1, vj] = A[vi, vj + 1] * 3 + 1


@T.prim_func
def rows(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 3))
    C = T.match_buffer(c, (n, 3))
    for i, j in T.grid(n, 3):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)


def transform(n: Any, change: Callable[[Any], Any]) -> Any:
    """A tree whose nodes went through ``change``, outer ones first; what was changed is not entered."""
    new = change(n)
    return new if new is not n else n.map_children(lambda c: transform(c, change))


def broken(change: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """A rewrite of ``unroll`` that changes a statement of the program, too."""
    right = InstructionKind.get("Unroll").rewrite

    def rewrite(state: Any, plan: Any) -> None:
        right(state, plan)
        home = next(iter(state.functions.values()))
        done = False

        def once(s: Any) -> Any:
            nonlocal done
            new = None if done else change(s)
            done |= new is not None
            return s if new is None else new

        state.replace_function(home, home.func.replace(body=transform(home.func.body, once)))

    return rewrite


def shorter(s: Any) -> Any:
    """One iteration fewer."""
    if type(s) is For and s.loop_var.name == "i":
        return s.replace(extent=s.extent - 1)
    return None


def shifted(s: Any) -> Any:
    """Another value where the first store is."""
    return s.replace(value=Add(s.value, s.value)) if type(s) is BufferStore else None


def even(s: Any) -> Any:
    """Right for even sizes only."""
    if type(s) is For and s.loop_var.name == "i":
        return s.replace(extent=s.extent // const_int(2) * const_int(2))
    return None


def test_right_steps_pass() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch = Schedule(matmul, verify=True)
        i, j, k = sch.get_loops("C")
        j0, j1 = sch.split(j, [None, 8])  # guarded: 20 is no multiple of 8
        sch.reorder(i, j0, k, j1)
        sch.parallel(i)
        init = sch.decompose_reduction("C", k)
        sch.vectorize(sch.get_loops(init)[-1])
        sch.undo(2)
        sch.copy().unroll(j1)
        sch.unroll(j1)
    assert len(sch.history) == 4


@pytest.mark.parametrize("change, index", [(shorter, r"\[15, 0\]"), (shifted, r"\[0, 0\]")])
def test_a_step_that_changes_a_result_is_named(
    monkeypatch: pytest.MonkeyPatch, change: Any, index: str
) -> None:
    sch = Schedule(matmul, verify=True)
    i, j, k = sch.get_loops("C")
    sch.split(j, [None, 4])
    before = sch.mod["main"]
    monkeypatch.setattr(InstructionKind.get("Unroll"), "rewrite", broken(change))
    with pytest.raises(
        ts.ScheduleError, match=rf"unroll\(k\) changes what `matmul` computes: `C`{index} is"
    ) as e:
        sch.unroll(k)
    assert e.value.code == "changed-result" and "after step 1: split(j, [None, 4])" in str(e.value)
    assert "elements differ" in str(e.value)
    assert sch.mod["main"] is before and len(sch.history) == 1
    monkeypatch.undo()
    sch.unroll(k)


def test_an_order_that_matters() -> None:
    sch = Schedule(scan, verify=True, enable_check=False)
    i, j = sch.get_loops("A")
    sch.unroll(j)
    with pytest.raises(
        ts.ScheduleError, match=r"reorder\(j, i\) changes what `scan` computes: `A`\[2, 0\] is"
    ):
        sch.reorder(j, i)
    # The first wrong element by hand: column 0 of row 2 reads row 1, column 1, which comes later now.
    a = np.arange(81, dtype="int32").reshape(9, 9)
    want = a.copy()
    for x in range(8):
        for y in range(8):
            want[x + 1, y] = want[x, y + 1] * 3 + 1
    got = a.copy()
    for y in range(8):
        for x in range(8):
            got[x + 1, y] = got[x, y + 1] * 3 + 1
    assert tuple(np.argwhere(want != got)[0]) == (2, 0)


def test_races_are_found() -> None:
    sch = Schedule(matmul, verify=True, enable_check=False)
    k = sch.get_loops("C")[2]
    with pytest.raises(ts.ScheduleError, match=r"parallel\(k\) changes .*parallel loop `k`.*C\[0, 0\]"):
        sch.parallel(k)
    sch.parallel(sch.get_loops("C")[0])


def test_sizes_that_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """1, primes, and composite numbers."""
    seen = step_check._bindings(rows)
    assert [b["n"] for b in seen] == [1, 7, 12]
    sch = Schedule(rows, verify=True)
    i, j = sch.get_loops("C")
    sch.split(i, [None, 5])
    monkeypatch.setattr(InstructionKind.get("Unroll"), "rewrite", broken(even))
    sch = Schedule(rows, verify=True)
    i, j = sch.get_loops("C")
    with pytest.raises(ts.ScheduleError, match=r"`C`\[0, 0\] is .* with n = 1"):
        sch.unroll(j)
    monkeypatch.setattr(step_check, "_bindings", lambda f: seen[1:])
    sch = Schedule(rows, verify=True)
    i, j = sch.get_loops("C")
    with pytest.raises(ts.ScheduleError, match=r"`C`\[6, 0\] is .* with n = 7"):
        sch.unroll(j)


def big(n: int) -> Any:
    return ts.parse(f"""
@T.prim_func
def big(A: T.Buffer(({n}, 8), "int32"), C: T.Buffer((8,), "int32")):
    for i, j in T.grid({n}, 8):
        with T.block("C"):
            vj, vi = T.axis.remap("SR", [j, i])
            with T.init():
                C[vj] = 0
            C[vj] = C[vj] + A[vi, vj]
""")


def test_many_iterations_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    targets: list[str] = []
    original = step_check._runnable

    def runnable(mod: Any, name: str, target: str) -> Any:
        targets.append(target)
        return original(mod, name, target)

    monkeypatch.setattr(step_check, "_runnable", runnable)
    sch = Schedule(big(20_000), verify=True)
    i, j = sch.get_loops("C")
    sch.split(i, [None, 16])
    assert len(targets) == 2 and all(t.startswith("llvm -O=1") and "-checked" in t for t in targets)
    monkeypatch.setattr(InstructionKind.get("Unroll"), "rewrite", broken(shifted))
    with pytest.raises(ts.ScheduleError, match=r"`C`\[\d\] is"):
        sch.unroll(j)


def test_too_many_iterations_are_not_checked() -> None:
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    for i, j in T.grid(8, 10000000000):
        with T.block("A"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                A[vi] = 0
            A[vi] = A[vi] + 1
""")
    sch = Schedule(f, verify=True)
    i, _ = sch.get_loops("A")
    with pytest.warns(
        ts.TirscriptWarning, match=r"split\(i, \[2, 4\]\) was not checked: .*8e\+10 iterations"
    ):
        sch.split(i, [2, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch.parallel(sch.get_loops("A")[0])  # said once


def test_indices_from_arrays_stay_inside() -> None:
    @T.prim_func
    def gather(P: T.Buffer((6,), "int32"), A: T.Buffer((5,), "float32"), O: T.Buffer((6,), "float32")):
        for i in range(6):
            with T.block("O"):
                vi = T.axis.spatial(6, i)
                O[vi] = A[P[vi]]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch = Schedule(gather, verify=True)
        (i,) = sch.get_loops("O")
        sch.vectorize(sch.split(i, [None, 4])[1])


def test_a_layout_of_a_parameter_is_another_signature() -> None:
    sch = Schedule(rows, verify=True)
    with pytest.warns(ts.TirscriptWarning, match="other shapes"):
        sch.transform_layout("C", ("write", 0), lambda i, j: [j, i])


def test_only_changed_functions_run() -> None:
    mod = ts.IRModule({"f": matmul, "g": rows})
    sch = Schedule(mod, verify=True)
    sch.work_on("g")
    i, _ = sch.get_loops("C")
    sch.unroll(i)
    assert list(sch._verifier._checker._known) == ["g"]  # type: ignore[union-attr]


def test_iterations_are_counted() -> None:
    assert step_check.iterations(matmul, {}) == 16 * 20 * 24
    assert step_check.iterations(rows, {"n": 7}) == 21
    assert step_check.iterations(big(3), {}) == 24


@T.prim_func
def product(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    Y = T.alloc_buffer((8, 8))
    for i, j, k in T.grid(8, 8, 8):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


def test_no_false_alarm_in_long_schedules() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch = Schedule(product, verify=True)
        y = sch.get_block("Y")
        i, j, k = sch.get_loops(y)
        io, ii = sch.split(i, [None, 3])
        jo, ji = sch.split(j, [None, 4])
        sch.reorder(io, jo, k, ii, ji)
        sch.reverse_compute_at("C", jo)
        sch.compute_at(sch.cache_read(y, 0, "local"), k)
        sch.cache_write(y, 0, "local")  # copies in what the init overwrites: read, and not used
        sch.vectorize(ji)
        sch.decompose_reduction(y, k)
        other = Schedule(product, verify=True)
        other.rfactor(other.split(other.get_loops("Y")[2], [None, 4])[0], 0)
        a, b = other.get_loops("C")
        other.bind(a, "blockIdx.x")
        other.bind(b, "threadIdx.x")
    assert len(sch.history) == 9 and len(other.history) == 4


def no_init(s: Any) -> Any:
    """Without the reduction's beginning."""
    return s.replace(init=None) if getattr(s, "init", None) is not None else None


def test_a_lost_init_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstructionKind.get("Unroll"), "rewrite", broken(no_init))
    sch = Schedule(product, verify=True)
    with pytest.raises(ts.ScheduleError, match="changed-result"):
        sch.unroll(sch.get_loops("C")[0])
