"""What a machine can do at most: measured here, or given."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from tirscript.diagnostics import TirscriptError


@dataclass(frozen=True)
class Machine:
    """Peak operations and bytes a second.  ``source`` says where the numbers come from.

    >>> m = Machine(flops=1e11, bandwidth=2e10)
    >>> m, m.ridge, m.attainable(1.0)
    (100 GFLOP/s, 20 GB/s (given), 5.0, 20000000000.0)
    """

    flops: float
    bandwidth: float
    name: str = ""
    source: str = "given"

    def __post_init__(self) -> None:
        for what, value in (("flops", self.flops), ("bandwidth", self.bandwidth)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise TirscriptError(
                    f"{what} of a machine is a number above 0, not {value!r}", code="machine"
                )

    @property
    def ridge(self) -> float:
        """The operations a byte from which on arithmetic is the limit, not memory."""
        return self.flops / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The operations a second that memory and arithmetic allow at that intensity."""
        return min(self.flops, self.bandwidth * intensity)

    def __repr__(self) -> str:
        from .units import amount

        name = f"{self.name}: " if self.name else ""
        return f"{name}{amount(self.flops, 'FLOP/s')}, {amount(self.bandwidth, 'B/s')} ({self.source})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .objects import mimebundle

        return mimebundle(self)


_log = logging.getLogger("tirscript.display")
_known: dict[tuple[str, int], Machine] = {}

# Independent chains of multiply-adds in registers: as many vectors as hide the latency.
_FLOPS = """
@T.prim_func
def peak(Out: T.Buffer(({tasks}, {width}), "{dtype}"), a: T.{dtype}, n: T.int32):
    for t in T.parallel({tasks}):
        with T.block("task"):
            acc = T.alloc_buffer(({width},), "{dtype}", scope="local")
            for v in T.vectorized({width}):
                acc[v] = T.{dtype}(1)
            for i in range(n):
                for v in T.vectorized({width}):
                    acc[v] = acc[v] * a + a
            for v in T.vectorized({width}):
                Out[t, v] = acc[v]
"""
_COPY = """
@T.prim_func
def triad(A: T.Buffer(({n},), "{dtype}"), B: T.Buffer(({n},), "{dtype}"), C: T.Buffer(({n},), "{dtype}")):
    for i in T.parallel({tasks}):
        for j in T.vectorized({part}):
            C[i * {part} + j] = A[i * {part} + j] + B[i * {part} + j] * T.{dtype}(3)
"""


def measure_machine(dtype: str = "float32") -> Machine:
    """The peaks of this machine, with the threads that are set: multiply-adds in registers, and a sum of two
    arrays that are larger than its caches.  It takes about a second, once in a process.
    """
    from tirscript.runtime import pool

    if dtype not in ("float32", "float64"):
        raise TirscriptError(f"peaks are measured in float32 or float64, not {dtype!r}", code="machine")
    threads = int(pool.num_threads())
    key = (dtype, threads)
    if key not in _known:
        from .progress_bar import Progress

        with Progress(2, "measuring the machine") as bar:
            flops = _measured_flops(dtype, threads)
            bar.update()
            through = _measured_bandwidth(dtype, threads)
            bar.update()
        _log.debug("measured %.3g FLOP/s, %.3g B/s in %s with %d threads", flops, through, dtype, threads)
        name = f"{threads} thread{'' if threads == 1 else 's'}, {dtype}"
        _known[key] = Machine(flops, through, name, "measured")
    return _known[key]


def _best(run: Any, times: int) -> float:
    run()
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def _measured_flops(dtype: str, threads: int) -> float:
    import numpy as np

    from tirscript.driver import build
    from tirscript.script import from_source

    best = 0.0
    for width in (32, 64, 96, 128):
        steps = 100_000
        f = from_source(_FLOPS.format(tasks=threads, width=width, dtype=dtype))
        run = build(f)["peak"]
        out = np.zeros((threads, width), dtype)
        took = _best(lambda: run(out, 0.5, steps), 3)  # noqa: B023
        best = max(best, 2.0 * threads * width * steps / took)
    size = 768
    a, b = np.ones((size, size), dtype), np.ones((size, size), dtype)
    c = np.empty((size, size), dtype)
    took = _best(lambda: np.matmul(a, b, out=c), 3)
    return max(best, 2.0 * size**3 / took)


def _measured_bandwidth(dtype: str, threads: int) -> float:
    import numpy as np

    from tirscript.driver import build
    from tirscript.script import from_source

    part = 64
    tasks = (1 << 23) // part
    f = from_source(_COPY.format(n=tasks * part, tasks=tasks, part=part, dtype=dtype))
    run = build(f)["triad"]
    arrays = [np.ones(tasks * part, dtype) for _ in range(3)]
    return 3.0 * arrays[0].nbytes / _best(lambda: run(*arrays), 4)


__all__ = ["Machine", "measure_machine"]
