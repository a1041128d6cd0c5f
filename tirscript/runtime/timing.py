"""Timing of functions."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tirscript.diagnostics import CallTypeError


@dataclass(frozen=True, slots=True)
class Work:
    """What one call does: operations on data, and bytes that must go through memory.  ``exact`` is False
    where data decides, and the numbers are bounds."""

    flops: int
    bytes: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call, for each repetition.

    >>> Timing((1.0, 3.0)).mean
    2.0
    >>> Timing((2.0,)).speedup(Timing((3.0,)))
    1.5
    """

    results: tuple[float, ...]
    name: str = field(default="", compare=False)
    number: int = field(default=1, compare=False, repr=False)
    # Counted when it is asked for: a build, or a measurement, does not wait for it.
    _work: Callable[[], Work | None] | None = field(default=None, compare=False, repr=False)

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

    @property
    def work(self) -> Work | None:
        """What one call does, by the function's own counts; None where they are not known."""
        return None if self._work is None else self._work()

    @property
    def flops_per_second(self) -> float | None:
        """Operations a second, in the median repetition."""
        work = self.work
        return work.flops / self.median if work is not None and self.median else None

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes a second that went through memory at least, in the median repetition."""
        work = self.work
        return work.bytes / self.median if work is not None and self.median else None

    @property
    def gflops(self) -> float | None:
        """GFLOP/s, in the median repetition."""
        rate = self.flops_per_second
        return None if rate is None else rate / 1e9

    @property
    def gbps(self) -> float | None:
        """GB/s, in the median repetition."""
        rate = self.bytes_per_second
        return None if rate is None else rate / 1e9

    @property
    def intensity(self) -> float | None:
        """Operations for each byte that goes through memory."""
        work = self.work
        return work.flops / work.bytes if work is not None and work.bytes else None

    def speedup(self, baseline: Timing | float) -> float:
        """How many times as fast as the baseline (a timing, or seconds): by the medians."""
        if isinstance(baseline, Timing):
            base = baseline.median
        elif isinstance(baseline, (int, float)) and not isinstance(baseline, bool):
            base = float(baseline)
        else:
            raise CallTypeError(
                f"a baseline is a Timing or seconds, not {type(baseline).__name__}", code="baseline"
            )
        return base / self.median if self.median else float("inf")

    def report(self) -> str:
        """The numbers as text, one a line; with GFLOP/s and GB/s where the function's counts are known."""
        text: str = importlib.import_module("tirscript.display.report").timing_text(self)
        return text

    def show(self) -> None:
        """Show the report: a table in a notebook, text in a terminal."""
        importlib.import_module("tirscript.display").show(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above what runs.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.results, self.name, self.number, self.work)

    def __str__(self) -> str:
        return (
            f"mean {_shown(self.mean)}, median {_shown(self.median)}, min {_shown(self.min)}, "
            f"max {_shown(self.max)}, std {_shown(self.std)}"
        )


def _again(results: tuple[float, ...], name: str, number: int, work: Work | None) -> Timing:
    return Timing(results, name, number, None if work is None else lambda: work)


def _shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds / 1e-9:.1f} ns"


class _Bar:
    """A progress bar that is only made when a measurement takes long."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._start = time.perf_counter()
        self._bar: Any = None
        self._done = 0

    def update(self) -> None:
        self._done += 1
        if self._bar is None:
            if time.perf_counter() - self._start < 1.0:
                return
            display: Any = importlib.import_module("tirscript.display.progress_bar")
            self._bar = display.Progress(self._total, self._what, 0.0)
            self._bar.done = self._done - 1
        self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def measure(
    run: Callable[[], Any],
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: float = 0,
    *,
    name: str = "",
    work: Callable[[], Work | None] | None = None,
) -> Timing:
    """Call ``run`` ``number`` times, ``repeat`` times over, after one call that does not count.

    With ``min_repeat_ms``, ``number`` grows until a repetition takes that long.
    """
    run()
    results = []
    bar = _Bar(repeat, f"timing {name}".rstrip())
    try:
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
            bar.update()
    finally:
        bar.close()
    return Timing(tuple(results), name, number, work)
