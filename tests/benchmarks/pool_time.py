"""The cost of a parallel region: our pool against an OpenMP runtime.

    python tests/benchmarks/pool_time.py [--threads 2]

Each pool runs in processes of its own, which alternate: in one process the workers of an OpenMP runtime,
which go on spinning for milliseconds, take a CPU from the other pool.  A compiled loop starts empty regions,
one after the other.  "after 10 ms" is one region after a pause, when our workers have blocked.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import time
from typing import Any

from tirscript.runtime import jit, num_threads, pool

_LOOP = """
define void @nothing(ptr %r, i64 %from, i64 %to, i64 %chunk) {
  ret void
}
define void @regions(ptr %parallel, i64 %extent, i64 %count) {
entry:
  br label %next
next:
  %k = phi i64 [ %count, %entry ], [ %k1, %next ]
  call void %parallel(ptr @nothing, ptr null, i64 %extent)
  %k1 = sub i64 %k, 1
  %more = icmp ne i64 %k1, 0
  br i1 %more, label %next, label %out
out:
  ret void
}
"""
GOAL = 1.5


def measure(kind: str, threads: int, rounds: int, number: int) -> tuple[float, float]:
    """The medians of a region's time, in microseconds: one after the other, and after a pause."""
    made = pool._Pool(kind)
    made.set_threads(threads)
    code = jit.load(_LOOP, ["regions"], jit.Machine(), {}, ())
    run: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        code.addresses["regions"]
    )

    def turn(count: int) -> float:
        start = time.perf_counter()
        run(made.entry, threads, count)
        return (time.perf_counter() - start) / count * 1e6

    for _ in range(5):  # the system needs some milliseconds to give each thread a CPU
        turn(number)
    steady = [turn(number) for _ in range(rounds)]
    woken = []
    for _ in range(rounds):
        time.sleep(0.01)
        woken.append(turn(1))
    return statistics.median(steady), statistics.median(woken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=num_threads())
    parser.add_argument("--kind", choices=("own", "gomp"), help="measure this one here")
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(measure(options.kind, options.threads, options.rounds, options.number)))
        return 0
    found: dict[str, list[tuple[float, float]]] = {"own": [], "gomp": []}
    for _ in range(options.processes):
        for kind, times in found.items():
            command = [sys.executable, *sys.argv, "--kind", kind]
            times.append(
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            )
    print(f"{options.threads} threads, {options.processes} processes each")
    for k, when in enumerate(("one after the other", "after 10 ms")):
        for kind, times in found.items():
            all_times = [t[k] for t in times]
            spread = f"({min(all_times):.2f} to {max(all_times):.2f})"
            print(f"{kind + ', ' + when:26} {statistics.median(all_times):9.2f} us   {spread}")
    ratio = statistics.median([a[0] / b[0] for a, b in zip(found["own"], found["gomp"], strict=True)])
    print(f"{'own / gomp':26} {ratio:9.2f}      goal: at most {GOAL} {'' if ratio <= GOAL else '  MISSED'}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
