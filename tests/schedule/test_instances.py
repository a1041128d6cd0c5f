"""Splits and fuses by counting: every instance runs exactly once, whatever the factors."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tirscript as ts
from tirscript.arith.evaluate import evaluate
from tirscript.ir import BlockRealize, For
from tirscript.schedule import Schedule

NO_REPLAY = True


def instances(s: Any, env: dict[Any, int]) -> Iterator[tuple[int, ...]]:
    """The axis tuples that run below a statement."""
    if isinstance(s, For):
        low, extent = evaluate(s.min, env), evaluate(s.extent, env)
        step = 1 if s.step is None else evaluate(s.step, env)
        for x in range(low, low + extent, step):
            yield from instances(s.body, {**env, s.loop_var: x})
    elif isinstance(s, BlockRealize):
        if not s.iter_values:
            yield from instances(s.block.body, env)
        elif evaluate(s.predicate, env):
            yield tuple([evaluate(e, env) for e in s.iter_values])


def program(ranges: list[tuple[int, int, int]]) -> Any:
    names = "ijk"[: len(ranges)]
    lines = ["from tirscript.script import tir as T", "", "@T.prim_func"]
    lines.append('def f(O: T.Buffer((20, 20, 20), "int32")):')
    for n, (v, (low, extent, step)) in enumerate(zip(names, ranges, strict=True)):
        lines.append("    " * (n + 1) + f"for {v} in range({low}, {low + extent}, {step}):")
    pad = "    " * (len(ranges) + 1)
    lines.append(pad + 'with T.block("O"):')
    lines += [pad + f"    v{v} = T.axis.opaque(20, {v})" for v in names]
    lines.append(pad + f"    O[{', '.join([f'v{v}' for v in names] + ['0'] * (3 - len(names)))}] = 1")
    return ts.parse("\n".join(lines) + "\n", check_well_formed=False)


ranges = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 9), st.sampled_from([1, 1, 1, 2, 3])), min_size=1, max_size=3
)
steps = st.lists(
    st.tuples(st.booleans(), st.integers(0, 99), st.lists(st.integers(1, 4), max_size=2), st.integers(0, 2)),
    max_size=5,
)


@given(ranges, steps)
def test_every_instance_runs_once(
    bounds: list[tuple[int, int, int]], plan: list[tuple[bool, int, list[int], int]]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        func = program(bounds)
    sch = Schedule(func, debug_mask="all")
    for is_split, at, factors, hole in plan:
        loops = sch.get_loops("O")
        at %= len(loops)
        if is_split:
            given_: list[int | None] = list(factors)
            given_.insert(min(hole, len(given_)), None)
            sch.split(loops[at], given_)
        else:
            sch.fuse(*loops[at : at + 2])
    want = itertools.product(*[range(low, low + n, step) for low, n, step in bounds])
    assert Counter(instances(sch.mod["f"].body, {})) == Counter(want)
