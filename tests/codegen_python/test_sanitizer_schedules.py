"""What schedule steps make of a program is no fault: no race, no lane and no thread that meets another."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import given, settings

import tirscript as ts
from tests.schedule.strategies import programs, steps
from tests.schedule.test_properties import parsed, scheduled

NO_REPLAY = True
RACES = frozenset({
    "race", "lane-dependence", "lane-conflict", "thread-race", "local-of-another-thread",
    "shared-of-another-block", "thread-extent", "thread-bound-twice", "undeclared-read", "undeclared-write",
    "init-outside-writes", "missing-init", "out-of-bounds-read", "out-of-bounds-write", "negative-index",
})  # fmt: skip


def report(program: Any) -> ts.CheckFailed | None:
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-9, 10, (24, 24)).astype("int32") for _ in range(3)]
    try:
        ts.build(program, target="python -checked")(*arrays)
    except ts.CheckFailed as error:
        return error
    return None


@given(programs(), steps)
@settings(max_examples=max(settings.default.max_examples // 8, 10))
def test_legal_steps_bring_no_race(source: str, plan: list[tuple[str, int, int, int]]) -> None:
    """A second judge of every primitive: it looks at what runs, not at what can be proved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        func = parsed(source)
    before = report(func)
    after = report(scheduled(func, plan).mod)
    if after is not None and (before is None or before.code != after.code):
        assert after.code not in RACES, str(after)
