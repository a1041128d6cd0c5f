"""Sampling: the decisions, their chances, their place in the trace, replay with others."""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import ExprRV, Instruction, Schedule, Trace
from tirscript.schedule.record import sampling
from tirscript.script import tir as T

from .programs import matmul, rng, run


@T.prim_func
def scaled(A: T.Buffer((60, 64), "float32"), C: T.Buffer((60, 64), "float32")):
    for i, j in T.grid(60, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)


@T.prim_func
def symbolic(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    C = T.match_buffer(c, (n, 64))
    for i, j in T.grid(n, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)


def values(factors: list[Any]) -> list[int | None]:
    return [None if f is None else int(f) for f in factors]


def tiles(n: int, parts: int) -> list[tuple[int, ...]]:
    """All factorizations in order, by trying all."""
    divs = [d for d in range(1, n + 1) if n % d == 0]
    return [t for t in itertools.product(divs, repeat=parts) if math.prod(t) == n]


# ---- the numbers themselves


@pytest.mark.parametrize("n, parts", [(1, 2), (7, 3), (12, 2), (12, 3), (60, 2), (64, 4), (30, 3)])
def test_the_number_of_tilings(n: int, parts: int) -> None:
    assert sampling.tilings(n, parts) == len(tiles(n, parts))


@pytest.mark.parametrize("largest", [None, 1, 4, 16])
def test_each_tile_has_the_same_chance(largest: int | None) -> None:
    r = random.Random(7)
    want = [t for t in tiles(24, 3) if largest is None or t[-1] <= largest]
    count = 400 * len(want)
    got = Counter(tuple(sampling.tile(24, 3, largest, r)) for _ in range(count))
    assert set(got) == set(want)
    # Chi squared over so many classes: mean k - 1, deviation sqrt(2 (k - 1)); six deviations above.
    chi = sum((got[t] - 400) ** 2 / 400 for t in want)
    assert chi < len(want) - 1 + 6 * math.sqrt(2 * len(want))


def test_large_extents_take_no_time() -> None:
    r = random.Random(1)
    for n in (2**61 - 1, (2**31 - 1) ** 2, 2**60, 10**18, 3**39):
        factors = sampling.tile(n, 4, 64, r)
        assert math.prod(factors) == n and factors[-1] <= 64


def test_weights() -> None:
    r = random.Random(3)
    got = Counter(sampling.weighted([1, 0, 3], r) for _ in range(8000))
    assert set(got) == {0, 2} and abs(got[0] - 2000) < 6 * math.sqrt(2000)


# ---- the instructions


def test_perfect_tiles() -> None:
    sch = Schedule(scaled, seed=5)
    i, j = sch.get_loops("C")
    for _ in range(30):
        for loop, extent in ((i, 60), (j, 64)):
            factors = values(sch.sample_perfect_tile(loop, 3, max_innermost_factor=8))
            assert math.prod(factors) == extent and factors[-1] <= 8  # type: ignore[operator]
    assert values(sch.sample_perfect_tile(i, 2, decision=[4, 15])) == [4, 15]
    assert values(sch.sample_perfect_tile(i, 3, max_innermost_factor=-1, decision=[1, 1, 60])) == [1, 1, 60]
    # A tile of another loop is made to fit.
    assert values(sch.sample_perfect_tile(i, 3, decision=[2, 8, 4])) == [1, 15, 4]


def test_partitioned_tiles() -> None:
    sch = Schedule(scaled, seed=5)
    i, j = sch.get_loops("C")
    seen = set()
    for _ in range(200):
        f = values(sch.sample_partitioned_tile(j, 4, 2, 4))
        assert math.prod(f) == 64 and (f[2] * f[3]) % 4 == 0  # type: ignore[operator, arg-type]
        seen.add(tuple(f))
    assert len(seen) > 15
    assert math.prod(values(sch.sample_partitioned_tile(i, 3))) == 60  # type: ignore[arg-type]
    assert math.prod(values(sch.sample_partitioned_tile(i, 3, 0, 4))) == 60  # type: ignore[arg-type]
    # No tile has an inner part that 7 divides; with no inner part only 1 divides it.
    assert values(sch.sample_partitioned_tile(i, 3, 1, 7)) == [None, 1, 1]
    assert values(sch.sample_partitioned_tile(i, 3, 3, 4)) == [None, 1, 1]
    assert values(sch.sample_partitioned_tile(j, 3, 1, 16, decision=[8, 2, 4])) == [1, 64, 1]
    assert values(sch.sample_partitioned_tile(j, 3, 1, 8, decision=[8, 2, 4])) == [8, 2, 4]


def test_loops_of_unknown_extent() -> None:
    sch = Schedule(symbolic, seed=2)
    i, j = sch.get_loops("C")
    factors = sch.sample_perfect_tile(i, 3)
    assert values(factors) == [None, 1, 1]
    assert values(sch.sample_perfect_tile(i, 2, decision=[3, 4])) == [None, 1]
    loops = sch.split(i, factors)
    assert len(loops) == 3
    sch.split(j, sch.sample_perfect_tile(j, 2))
    a = rng(5, 64)
    np.testing.assert_array_equal(run(sch.mod, a, np.zeros((5, 64), "float32")), 2 * a)


def test_categorical() -> None:
    sch = Schedule(scaled, seed=11)
    got = Counter(int(sch.sample_categorical([16, 64, 512], [0.5, 0.5, 0])) for _ in range(300))
    assert set(got) == {16, 64} and abs(got[16] - 150) < 60
    v = sch.sample_categorical([0, -3, 7], [1, 1, 1], decision=1)
    assert sch.get(v) == -3 and int(v) == -3
    assert sch.trace.decisions[sch.trace.insts[-1]] == 1
    sch.annotate("C", "unroll", v)
    assert sch.get(sch.get_block("C")).annotations["unroll"] == -3


def test_seeds() -> None:
    def drawn(sch: Schedule) -> list[Any]:
        i, j = sch.get_loops("C")
        return [
            [*values(sch.sample_perfect_tile(i, 4)), int(sch.sample_categorical(list(range(50)), [1] * 50))]
            for _ in range(5)
        ]

    one = drawn(Schedule(scaled, seed=42))
    assert one == drawn(Schedule(scaled, seed=42)) != drawn(Schedule(scaled, seed=43))
    sch = Schedule(scaled)
    sch.seed(42)
    assert drawn(sch) == one
    for n in (0, -1, 2**31 - 1, 2**70):
        a, b = Schedule(scaled, seed=n), Schedule(scaled, seed=n)
        assert drawn(a) == drawn(b)
    a = Schedule(scaled, seed=42)
    seeds = [a.fork_seed() for _ in range(100)]
    assert len(set(seeds)) == 100 and all(s > 0 for s in seeds)
    copy = Schedule(scaled, seed=42).copy()
    assert drawn(copy) != one  # a copy goes its own way
    for bad in (1.5, "1", None, True):
        with pytest.raises(TypeError, match="bad-seed"):
            sch.seed(bad)  # type: ignore[arg-type]


def test_the_same_draws_in_another_process() -> None:
    program = """
from tests.schedule.test_sampling import scaled, values
from tirscript.schedule import Schedule
sch = Schedule(scaled, seed=9)
i, j = sch.get_loops("C")
print([values(sch.sample_perfect_tile(i, 4)) for _ in range(4)], int(sch.sample_categorical(list(range(99)), [1] * 99)))
"""  # noqa: E501
    out = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True,
            env={**__import__("os").environ, "PYTHONHASHSEED": h},
        ).stdout
        for h in ("1", "2")
    }  # fmt: skip
    assert len(out) == 1


WRONG: dict[str, tuple[Any, str, type[Exception]]] = {
    "n": (lambda s, i: s.sample_perfect_tile(i, 1), "bad-tile", ValueError),
    "n as text": (lambda s, i: s.sample_perfect_tile(i, "2"), "bad-tile", ValueError),
    "innermost 0": (lambda s, i: s.sample_perfect_tile(i, 2, 0), "bad-tile", ValueError),
    "innermost -2": (lambda s, i: s.sample_perfect_tile(i, 2, -2), "bad-tile", ValueError),
    "position": (lambda s, i: s.sample_partitioned_tile(i, 2, 3), "bad-tile", ValueError),
    "inner": (lambda s, i: s.sample_partitioned_tile(i, 2, 1, 0), "bad-tile", ValueError),
    "loop": (lambda s, i: s.sample_perfect_tile("C", 2), "wrong-handle", TypeError),
    "decision's length": (
        lambda s, i: s.sample_perfect_tile(i, 2, decision=[60]),
        "bad-decision",
        ValueError,
    ),
    "decision's kind": (
        lambda s, i: s.sample_perfect_tile(i, 2, decision=[1, "x"]),
        "bad-decision",
        ValueError,
    ),
    "decision a number": (lambda s, i: s.sample_perfect_tile(i, 2, decision=3), "bad-decision", ValueError),
    "no candidates": (lambda s, i: s.sample_categorical([], []), "bad-candidates", TypeError),
    "candidates": (lambda s, i: s.sample_categorical([1.5], [1]), "bad-candidates", TypeError),
    "a candidate": (lambda s, i: s.sample_categorical(3, [1]), "bad-candidates", TypeError),
    "fewer weights": (lambda s, i: s.sample_categorical([1, 2], [1]), "bad-probabilities", ValueError),
    "no weight": (lambda s, i: s.sample_categorical([1, 2], [0, 0]), "bad-probabilities", ValueError),
    "negative": (lambda s, i: s.sample_categorical([1, 2], [2, -1]), "bad-probabilities", ValueError),
    "nan": (lambda s, i: s.sample_categorical([1], [math.nan]), "bad-probabilities", ValueError),
    "inf": (lambda s, i: s.sample_categorical([1], [math.inf]), "bad-probabilities", ValueError),
    "text": (lambda s, i: s.sample_categorical([1], ["x"]), "bad-probabilities", ValueError),
    "beyond": (lambda s, i: s.sample_categorical([1], [1], decision=1), "bad-decision", ValueError),
    "before": (lambda s, i: s.sample_categorical([1], [1], decision=-1), "bad-decision", ValueError),
}


@pytest.mark.parametrize("kind", WRONG)
def test_refusals(kind: str) -> None:
    call, code, error = WRONG[kind]
    sch = Schedule(scaled, seed=1)
    i, _ = sch.get_loops("C")
    before, seed, count = sch.mod["main"], sch._seed, len(sch.trace)
    with pytest.raises(error) as e:
        call(sch, i)
    assert isinstance(e.value, ts.ScheduleError) and e.value.code == code
    assert sch.mod["main"] is before and sch._seed == seed and len(sch.trace) == count


# ---- sampled numbers in arithmetic


def test_arithmetic_follows_other_decisions() -> None:
    sch = Schedule(scaled, seed=1)
    i, j = sch.get_loops("C")
    a, b = sch.sample_perfect_tile(j, 2, decision=[16, 4])
    assert a is not None and b is not None
    sch.split(i, [None, b * 2 - 1])
    sch.split(j, [a, b])
    sch.annotate("C", "note", 5 + a // 3 % 4)
    assert sch.get(sch.get_loops("C")[1]).extent.value == 7
    python = str(sch.trace.as_python())
    assert "((v" in python and "- 1)" in python
    sample = next(x for x in sch.trace.insts if x.kind.decides)
    other = sch.trace.with_decision(sample, [8, 8])
    new = Schedule(scaled)
    other.apply_to_schedule(new)
    assert [x.name for x in new.get_loops("C")] == ["i_0", "i_1", "j_0", "j_1"]
    assert [new.get(x).extent.value for x in new.get_loops("C")] == [4, 15, 8, 8]
    assert new.get(new.get_block("C")).annotations["note"] == 7
    for written in (json.loads(json.dumps(other.as_json())), json.dumps(other.as_json())):
        again = Schedule(scaled)
        Trace.apply_json_to_schedule(written, again)
        ts.assert_structural_equal(again.mod, new.mod)
    for bad in (1.5, "x", None, True):
        with pytest.raises(TypeError):
            a + bad  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError):
        a // 0


# ---- the trace


def scheduled(seed: int = 3) -> Schedule:
    sch = Schedule(matmul, seed=seed)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.get_loops(block)  # used by nothing
    sch.sample_perfect_tile(k, 2)  # used by nothing
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, 2))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, 2))
    sch.reorder(i0, j0, i1, j1, k)
    sch.annotate(block, "auto_unroll", sch.sample_categorical([0, 16, 64], [0.3, 0.3, 0.4]))
    sch.enter_postproc()
    sch.parallel(i0)
    return sch


def test_decisions_are_written_and_read() -> None:
    sch = scheduled()
    trace = sch.trace
    assert len(trace.decisions) == 4
    lines = trace.as_python()
    assert sum("decision=" in line for line in lines) == 4 and "sch.enter_postproc()" in lines
    data = json.loads(json.dumps(trace.as_json()))
    assert [n for n, _ in data[1]] == [n for n, i in enumerate(trace.insts) if i.kind.decides]
    for seed in (1, 2):  # the seed of the other schedule does not matter
        new = Schedule(matmul, seed=seed)
        Trace.apply_json_to_schedule(data, new)
        ts.assert_structural_equal(new.mod, sch.mod)
        new = Schedule(matmul, seed=seed)
        exec(str(lines), {"sch": new})
        ts.assert_structural_equal(new.mod, sch.mod)
        assert new.trace.as_json() == trace.as_json()


def test_postprocessing_is_left_out() -> None:
    sch = scheduled()
    new = Schedule(matmul)
    sch.trace.apply_to_schedule(new, remove_postproc=True)
    assert len(sch.trace.as_json(remove_postproc=True)[0]) == len(new.trace)
    kinds = [i.kind.name for i in new.trace.insts]
    assert "Parallel" not in kinds and "EnterPostproc" not in kinds
    assert new.get(new.get_loops("C")[0]).kind == "serial"
    short = sch.trace.simplified(remove_postproc=True)
    assert short.insts[-1].kind.name == "Annotate"
    assert any(i.kind.name == "EnterPostproc" for i in sch.trace.simplified().insts)


def test_simplified_keeps_what_is_used() -> None:
    sch = scheduled()
    short = sch.trace.simplified()
    names = [i.kind.name for i in short.insts]
    assert names.count("SamplePerfectTile") == 2 and names.count("GetLoops") == 1
    assert len(short.decisions) == 3
    new = Schedule(matmul)
    short.apply_to_schedule(new)
    ts.assert_structural_equal(new.mod, sch.mod)


def test_other_decisions() -> None:
    sch = scheduled()
    trace = sch.trace
    seen: list[tuple[str, int, Any]] = []

    def provide(inst: Instruction, inputs: list[Any], attrs: list[Any], decision: Any) -> Any:
        seen.append((inst.kind.name, len(inputs), decision))
        return [9, 4] if decision and inst.kind.name == "SamplePerfectTile" else None

    new = Schedule(matmul, seed=77)
    trace.apply_to_schedule(new, remove_postproc=False, decision_provider=provide)
    assert [s[0] for s in seen] == ["SamplePerfectTile"] * 3 + ["SampleCategorical"]
    assert [s[1] for s in seen] == [1, 1, 1, 0]
    extents = [new.get(x).extent.value for x in new.get_loops("C")]
    assert extents == [4, 5, 4, 4, 24]  # made to fit 16 and 20
    categorical = next(i for i in trace.insts if i.kind.name == "SampleCategorical")
    other = trace.with_decision(categorical, 2, remove_postproc=True)
    assert other.get_decision(categorical) == 2 and len(other) < len(trace)
    assert trace.get_decision(categorical) == trace.decisions[categorical]
    new = Schedule(matmul)
    other.apply_to_schedule(new)
    assert new.get(new.get_block("C")).annotations["auto_unroll"] == 64
    with pytest.raises(ValueError, match="decides nothing"):
        trace.with_decision(trace.insts[0], 1)
    with pytest.raises(ValueError, match="not in this trace"):
        scheduled().trace.with_decision(categorical, 1)


def test_a_trace_made_by_hand() -> None:
    sch = scheduled()
    made = Trace()
    for inst in sch.trace.insts:
        made.append(inst, sch.trace.get_decision(inst))
    new = Schedule(matmul)
    made.apply_to_schedule(new)
    ts.assert_structural_equal(new.mod, sch.mod)


def test_undo_forgets_no_decision() -> None:
    sch = scheduled()
    full = sch.trace.as_json()
    sch.undo(2)
    assert len(sch.trace) < len(full[0])
    sch.goto(len(sch.history) + 2)
    assert sch.trace.as_json() == full
    copy = sch.copy()
    assert copy.trace.as_json() == full
    new = Schedule(matmul)
    copy.trace.apply_to_schedule(new)
    ts.assert_structural_equal(new.mod, sch.mod)


def test_results_stay_right() -> None:
    a, b = rng(16, 24), rng(24, 20)
    for seed in range(4):
        sch = scheduled(seed)
        got = run(sch.mod, a, b, np.zeros((16, 20), "float32"))
        np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-5)


def test_expr_rv() -> None:
    v = ExprRV(6)
    assert repr(v) == "ExprRV(v=6)" and range(10)[v] == 6
    assert [int(x) for x in (v + 1, 1 + v, v - 1, 10 - v, v * v, 7 * v, v // 4, 13 // v, v % 4, 13 % v)] == [
        7, 7, 5, 4, 36, 42, 1, 2, 2, 1,
    ]  # fmt: skip


# ---- where a block is computed


@T.prim_func
def shared_producer(
    A: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32"), D: T.Buffer((8, 6), "float32")
):
    B = T.alloc_buffer((8, 6))
    for i, j in T.grid(8, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i in range(8):
        for j in range(6):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
        for k in range(6):
            with T.block("D"):
                vi, vk = T.axis.remap("SS", [i, k])
                D[vi, vk] = B[vi, vk] - T.float32(1)


def located(sch: Schedule, decision: int | None = None) -> int:
    sch.sample_compute_location("B", decision=decision)
    found = sch.trace.decisions[sch.trace.insts[-1]]
    assert isinstance(found, int)
    return found


def test_the_candidates_for_a_block() -> None:
    sch = Schedule(shared_producer, seed=1)
    # Both consumers stand under i, only one under j; B can be inlined into both.
    assert Counter(located(sch) for _ in range(120)).keys() == {-2, -1, 0}
    assert located(sch, 1) == 0 and located(sch, 7) == 0 and located(sch, -1) == -1
    one = Schedule(matmul)
    for block in ("C", "root"):
        one.sample_compute_location(block)
        assert one.trace.decisions[one.trace.insts[-1]] == -1  # nothing reads what it writes


@pytest.mark.parametrize("decision", [-2, -1, 0])
def test_a_block_goes_where_the_decision_says(decision: int) -> None:
    sch = Schedule(shared_producer, seed=1)
    block = sch.get_block("B")
    sch.compute_at(block, sch.sample_compute_location(block, decision=decision), True)
    names = sch.mod["main"].script()
    assert ('T.block("B")' in names) == (decision != -2)
    a = rng(8, 6)
    for target in ("python", "llvm"):
        c, d = np.zeros((8, 6), "float32"), np.zeros((8, 6), "float32")
        ts.build(sch.mod, target)(a, c, d)
        np.testing.assert_array_equal(c, a * 2 + 1)
        np.testing.assert_array_equal(d, a * 2 - 1)
    # The trace of one decision, replayed with the others.
    inst = next(i for i in sch.trace.insts if i.kind.decides)
    for other in (-2, -1, 0):
        new = Schedule(shared_producer)
        sch.trace.with_decision(inst, other).apply_to_schedule(new)
        want = Schedule(shared_producer)
        want.compute_at("B", want.sample_compute_location("B", decision=other), True)
        ts.assert_structural_equal(new.mod, want.mod)


def test_marks_are_no_loops() -> None:
    sch = Schedule(shared_producer)
    for decision in (-1, -2):
        mark = sch.sample_compute_location("B", decision=decision)
        with pytest.raises(TypeError, match="wrong-handle"):
            sch.unroll(mark)
    for bad in (-3, "0", None, 1.0):
        if bad is not None:
            with pytest.raises(ValueError, match="bad-decision"):
                sch.sample_compute_location("B", decision=bad)  # type: ignore[arg-type]
    with pytest.raises(ts.ScheduleError, match="unknown-block"):
        sch.sample_compute_location("Z")
