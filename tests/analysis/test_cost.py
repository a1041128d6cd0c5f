"""Costs: against hand values, and against what an interpreter does, counted one by one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tirscript as ts
from tests.schedule.strategies import programs as block_programs
from tirscript.analysis.cost import AT_MOST, Count, FunctionCost, cost_of
from tirscript.analysis.cost.flops import allocated_bytes
from tirscript.ir import Block, For

from .cost_programs import BODIES, SYMBOLIC
from .counted import Tally, counted

MATMUL = """
@T.prim_func
def mm(A: T.Buffer((12, 10)), B: T.Buffer((10, 14)), C: T.Buffer((12, 14))):
    for i, j, k in T.grid(12, 14, 10):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""


def parse(text: str) -> ts.PrimFunc:
    f = ts.parse(text)
    assert isinstance(f, ts.PrimFunc)
    return f


def function(
    body: str, head: str = 'A: T.Buffer((18,), "float32"), C: T.Buffer((18, 20), "float32")'
) -> ts.PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return parse(f"@T.prim_func\ndef f({head}):\n{lines}\n")


def agrees(found: Count, true: int, sizes: dict[str, int], what: str) -> None:
    value = found.value(sizes)
    if found.bound == 0:
        assert value == true, (what, found, true)
    elif found.bound == AT_MOST:
        assert value >= true, (what, found, true)


def check(f: ts.PrimFunc, sizes: dict[str, int] | None = None, *, exact: bool = True) -> FunctionCost:
    """Hold the cost of a function, and of each loop and block, against the counted one."""
    cost = cost_of(f)
    true = counted(f, sizes)
    given = sizes or {}
    for name in ("flops", "loads", "stores", "footprint"):
        found = getattr(cost, name)
        agrees(found, getattr(true["all"], name), given, name)
        assert found.bound == 0 or not exact, (name, found)
    for part in cost:
        tally = true.get(part.node, Tally())
        agrees(part.runs, tally.runs, given, f"runs of {part.name}")
        if any(isinstance(p.node, Block) and p.node.init is not None for p in cost):
            continue  # where the interpreter runs an init is its own affair
        for name in ("flops", "loads", "stores", "footprint"):
            agrees(getattr(part, name), getattr(tally, name), given, f"{name} of {part.name}")
    return cost


# ---- by hand


def test_a_matmul_does_two_operations_for_each_point() -> None:
    cost = check(parse(MATMUL))
    m, n, k = 12, 14, 10
    assert cost.flops == 2 * m * n * k
    assert cost.loads == 3 * 4 * m * n * k and cost.stores == 4 * m * n * (k + 1)
    assert cost.footprint == 4 * (m * k + k * n + m * n)
    assert cost["j"].footprint == 4 * (k + k * n + n)
    assert cost["k"].footprint == 4 * (k + k + 1)
    assert [p.runs.const for p in cost] == [1, 1, m, m * n, m * n * k]
    assert cost.traffic == 4 * (m * k + k * n + 2 * m * n)
    assert cost["k"].intensity() == 2 * k / (4 * (2 * k + 1))


def test_sizes_that_are_open_give_formulas() -> None:
    f = parse("""
@T.prim_func
def mm(a: T.handle, b: T.handle, c: T.handle):
    m, n, k = T.int32(), T.int32(), T.int64()
    A = T.match_buffer(a, (m, k)); B = T.match_buffer(b, (k, n)); C = T.match_buffer(c, (m, n))
    for i, j, l in T.grid(m, n, k):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, l])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
""")
    cost = check(f, {"m": 3, "n": 5, "k": 4})
    assert str(cost.flops) == "2*k*m*n"
    assert cost.flops.value(m=3, n=5, k=4) == 120
    assert str(cost.footprint) == "4*k*m + 4*k*n + 4*m*n"
    assert str(cost["j"].footprint) == "4*k*n + 4*k + 4*n"
    with pytest.raises(ts.TirscriptError, match="the size `n` is not given"):
        cost.flops.value(m=3, k=4)
    with pytest.raises(ts.TirscriptError, match="depends on sizes"):
        int(cost.flops)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("float64", 8),
        ("float32", 4),
        ("float16", 2),
        ("int8", 1),
        ("bool", 1),
        ("int4", 1),
        ("float32x4", 16),
    ],
)
def test_bytes_follow_the_dtype(dtype: str, size: int) -> None:
    f = function(
        "for i in range(18):\n    B[i] = A[i]",
        f'A: T.Buffer((18,), "{dtype}"), B: T.Buffer((18,), "{dtype}")',
    )
    cost = check(f) if dtype != "float32x4" else cost_of(f)
    assert cost.loads == cost.stores == 18 * size and cost.footprint == 36 * size


# ---- against the interpreter


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize("name", BODIES)
def test_costs_are_those_that_an_interpreter_counts(name: str) -> None:
    check(function(BODIES[name]))


REDUCTIONS = {
    "sum": ("i, k in T.grid(18, 20)", "vi, vk = T.axis.remap('SR', [i, k])"),
    "reduction outside": ("k, i in T.grid(20, 18)", "vi, vk = T.axis.remap('SR', [i, k])"),
    "split reduction": ("i, k_0, k_1 in T.grid(18, 4, 5)",
                        "vi = T.axis.spatial(18, i)\n        vk = T.axis.reduce(20, k_0 * 5 + k_1)"),
    "guarded reduction": ("i, k_0, k_1 in T.grid(18, 3, 8)",
                          "vi = T.axis.spatial(18, i)\n        vk = T.axis.reduce(20, k_0 * 8 + k_1)\n"
                          "        T.where(k_0 * 8 + k_1 < 20)"),
    "guarded rows": ("i_0, k, i_1 in T.grid(3, 20, 7)",
                     "vi = T.axis.spatial(18, i_0 * 7 + i_1)\n        vk = T.axis.reduce(20, k)\n"
                     "        T.where(i_0 * 7 + i_1 < 18)"),
    "fused": ("x in range(360)",
              "vi = T.axis.spatial(18, x // 20)\n        vk = T.axis.reduce(20, x % 20)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_init_of_a_reduction_counts_once_an_instance(name: str) -> None:
    loops, axes = REDUCTIONS[name]
    f = parse(f"""
@T.prim_func
def f(C: T.Buffer((18, 20)), S: T.Buffer((18,))):
    for {loops}:
      with T.block("S"):
        {axes}
        with T.init():
            S[vi] = T.float32(1) + T.float32(2) * C[vi, 0]
        S[vi] = S[vi] + C[vi, vk]
""")
    cost = check(f)
    assert cost.flops == 18 * 20 + 2 * 18


def test_what_data_decides_is_a_bound() -> None:
    then = "for i in range(18):\n    if A[i] > T.float32(0):\n        C[i, 0] = A[i] + A[i]"
    cost = check(function(f"{then}\n    else:\n        C[i, 0] = A[i]"), exact=False)
    assert str(cost.flops) == "<= 18" and str(cost.stores) == "<= 72"
    gathered = function(
        "for i in range(18):\n    C[i, 0] = A[B[i]]",
        'A: T.Buffer((90,)), B: T.Buffer((18,), "int32"), C: T.Buffer((18, 1))',
    )
    cost = cost_of(gathered)
    assert cost.loads == 18 * 8 and cost.stores == 72
    # At most one element of A an iteration.
    assert str(cost.footprint) == f"<= {18 * 4 * 3}"
    stopped = function(
        "for i in range(18):\n    if A[i] > T.float32(0):\n        break\n    C[i, 0] = A[i] + A[i]"
    )
    assert str(check(stopped, exact=False).flops) == "<= 18"
    looped = cost_of(function("while A[0] > T.float32(0):\n    A[0] = A[0] - T.float32(1)"))
    assert str(looped.flops) == "~ 1"
    foreign = cost_of(function('T.evaluate(T.call_extern("int32", "foo", A.data))'))
    assert str(foreign.flops) == ">= 0"


@pytest.mark.parametrize("name", SYMBOLIC)
@pytest.mark.parametrize("n", [3, 8, 9])
def test_formulas_hold_for_every_size(name: str, n: int) -> None:
    body, flops = SYMBOLIC[name]
    lines = body.replace("\n", "\n    ")
    f = parse(
        "@T.prim_func\ndef f(a: T.handle):\n    n = T.int32()\n    A = T.match_buffer(a, (n,))\n"
        f"    {lines}\n"
    )
    cost = check(f, {"n": n}, exact=False)
    assert str(cost.flops) == flops


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_programs(data: Any) -> None:
    text = data.draw(block_programs())
    f = ts.script.parse(text, check_well_formed=False) if "check" in text else parse(text)
    check(f, exact=False)


# ---- schedules


def test_steps_keep_the_operations() -> None:
    """However it is tiled, guarded and staged, a matmul does two operations for each point."""
    from tests.display.programs import matmul

    sch = ts.Schedule(matmul())
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 5])
    j_0, j_1 = sch.split(j, [None, 7])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.vectorize(j_1)
    sch.parallel(i_0)
    sch.cache_read("C", 1, "local")
    sch.cache_write("C", 0, "local")
    sch.decompose_reduction("C", k)
    for step in range(len(sch.history) + 1):
        sch.goto(step)
        cost = cost_of(sch.mod)
        assert cost.flops == 2 * 16 * 24 * 12, sch.history
        assert cost["k"].flops == 2 * 16 * 24 * 12
    lowered = next(iter(ts.lower(sch.mod).functions.values()))
    assert cost_of(lowered).flops.value() >= 2 * 16 * 24 * 12


# ---- the object


def test_costs_are_found_by_loop_by_block_and_by_name() -> None:
    f = parse(MATMUL)
    sch = ts.Schedule(f)
    i, j, k = sch.get_loops("C")
    cost = cost_of(sch.mod)
    assert cost[i].name == "i" and cost[sch.get_block("C")].what == "block"
    assert cost[sch.get(j)] is cost["j"]
    assert isinstance(cost["k"].node, For)
    with pytest.raises(ts.TirscriptError, match="has no loop or block 'kk'"):
        cost["kk"]
    assert cost_of(sch.mod) is cost  # computed once


def test_a_module_says_which_function() -> None:
    f, g = parse(MATMUL), function(BODIES["diagonal"])
    mod = ts.IRModule({"mm": f, "f": g})
    assert cost_of(mod, "f").stores == 72
    with pytest.raises(ts.TirscriptError, match="say which function"):
        cost_of(mod)


def test_allocated_bytes_by_scope() -> None:
    f = parse("""
@T.prim_func
def f(A: T.Buffer((16,))):
    X = T.alloc_buffer((16, 3), "float16", scope="shared")
    Y = T.alloc_buffer((16, 3), "int4", scope="shared")
    Z = T.alloc_buffer((5,), "float64")
    A[0] = T.float32(1)
""")
    assert {s: n.const for s, n in allocated_bytes(f).items()} == {"shared": 144, "global": 40}


def test_costs_of_a_scheduled_matmul_take_milliseconds() -> None:
    """Less than it takes to build the function."""
    sch = ts.Schedule(parse(MATMUL.replace("12", "128").replace("14", "128").replace("10", "128")))
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 30])
    j_0, j_1 = sch.split(j, [None, 16])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.decompose_reduction("C", k)
    start = time.process_time()
    cost_of(sch.mod).flops
    middle = time.process_time()
    ts.build(sch.mod)
    assert middle - start < time.process_time() - middle
