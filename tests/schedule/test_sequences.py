"""Random sequences of every primitive on programs of the usual kinds: 300 in CI, 20,000 every night.

A sequence fails where a value changes, a refusal leaves something behind, the patched index is not that of
the program, or the trace or the printed program does not give the program again; the message names its seed,
for ``python -m tests.schedule.sequences 1 SEED``.
"""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import settings

from .sequences import LAST, NAMES, Result, run
from .test_expected import PRIMITIVES

NO_REPLAY = True  # the sequences replay what they make themselves

NIGHTLY = settings.default.max_examples > 1000
COUNT = 20_000 if NIGHTLY else max(3 * settings.default.max_examples // 2, 30)


def test_sequences_keep_the_values() -> None:
    start = random.randrange(10**9) if NIGHTLY else 0
    result = Result()
    for seed in range(start, start + COUNT):
        try:
            run(seed, result, llvm=seed % 4 == 0)
        except Exception as error:
            pytest.fail(f"the sequence of seed {seed}: {type(error).__name__}: {error}")
    counts = f"{result.share:.0%} accepted; {result.accepted}; {result.refused}"
    assert result.share >= 0.4, counts
    assert statistics.median(result.lengths) >= 4, counts
    tried = result.accepted + result.refused
    for name in {*NAMES, *LAST}:
        assert tried[name] >= COUNT / 60, f"{name}: {counts}"
    if NIGHTLY:
        for name in {*NAMES, *LAST}:
            assert result.accepted[name] >= 50 and result.refused[name] >= 20, f"{name}: {counts}"


def test_every_primitive_is_among_the_steps() -> None:
    assert set(PRIMITIVES) - {*NAMES, *LAST} == set()
