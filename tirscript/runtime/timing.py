"""Timing of functions."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call, for each repetition.

    >>> Timing((1.0, 3.0)).mean
    2.0
    """

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        return min(self.results)

    @property
    def max(self) -> float:
        return max(self.results)

    @property
    def std(self) -> float:
        return statistics.pstdev(self.results)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above what runs.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __str__(self) -> str:
        return (
            f"mean {_shown(self.mean)}, median {_shown(self.median)}, min {_shown(self.min)}, "
            f"max {_shown(self.max)}, std {_shown(self.std)}"
        )


def _shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds / 1e-9:.1f} ns"


def measure(run: Callable[[], Any], number: int = 10, repeat: int = 1, min_repeat_ms: float = 0) -> Timing:
    """Call ``run`` ``number`` times, ``repeat`` times over, after one call that does not count.

    With ``min_repeat_ms``, ``number`` grows until a repetition takes that long.
    """
    run()
    results = []
    for _ in range(repeat):
        while True:
            start = time.perf_counter()
            for _ in range(number):
                run()
            took = time.perf_counter() - start
            if took * 1e3 >= min_repeat_ms:
                break
            grow = min_repeat_ms / 1e3 / max(took, 1e-9) * 1.1
            number = max(number + 1, int(number * min(grow, 100.0)) + 1)
        results.append(took / number)
    return Timing(tuple(results))
