"""The cost of a parallel region: our pool against an OpenMP runtime, in turns in one process.

    python tests/benchmarks/pool_time.py [--threads 2]

A compiled loop starts empty regions, one after the other; the numbers are medians of the turns.  "after
10 ms" is one region after a pause, when the workers have blocked.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=num_threads())
    options = parser.parse_args()
    pools = {kind: pool._Pool(kind) for kind in ("own", "gomp")}
    code = jit.load(_LOOP, ["regions"], jit.Machine(), {}, ())
    run: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        code.addresses["regions"]
    )
    found: dict[str, list[float]] = {f"{kind}{when}": [] for when in ("", ", after 10 ms") for kind in pools}
    for made in pools.values():
        made.set_threads(options.threads)
    for turn in range(options.rounds + 1):
        for kind, made in pools.items():
            start = time.perf_counter()
            run(made.entry, options.threads, options.number)
            took = (time.perf_counter() - start) / options.number * 1e6
            time.sleep(0.01)
            start = time.perf_counter()
            run(made.entry, options.threads, 1)
            woke = (time.perf_counter() - start) * 1e6
            if turn:
                found[kind].append(took)
                found[f"{kind}, after 10 ms"].append(woke)
    print(f"{options.threads} threads")
    for name, times in found.items():
        print(f"{name:20} {statistics.median(times):9.2f} us   (least {min(times):.2f})")
    ratio = statistics.median([a / b for a, b in zip(found["own"], found["gomp"], strict=True)])
    print(f"{'own / gomp':20} {ratio:9.2f}      goal: at most {GOAL} {'' if ratio <= GOAL else '  MISSED'}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
