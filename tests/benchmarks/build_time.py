"""``build("llvm")`` of a matrix product with relu, against apache-tvm 0.27: two processes, in turns.

TIRSCRIPT_PEERS=/path/to/python-with-apache-tvm python tests/benchmarks/build_time.py
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
GOAL = 1.0


def ours() -> Callable[[], Any]:
    from compile_time import MM_RELU

    import tirscript as ts

    module = ts.parse(MM_RELU.format(marker="", alloc="alloc_buffer", block="block"))
    return lambda: ts.build(module, "llvm")


def theirs() -> Callable[[], Any]:
    import tvm  # type: ignore[import-not-found, unused-ignore]
    from compile_time import MM_RELU

    header = "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n"
    module = tvm.script.from_source(
        header + MM_RELU.format(marker="(s_tir=True)", alloc="sblock_alloc_buffer", block="sblock")
    )
    return lambda: tvm.compile(module, target="llvm")


def serve(who: str) -> int:
    """Build as often as each line of the input says; print the milliseconds of one."""
    run = ours() if who == "ours" else theirs()
    run()
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(statistics.median(times) * 1e3, flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", choices=("ours", "theirs"))
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    peer = os.environ.get("TIRSCRIPT_PEERS")
    if not peer:
        print("TIRSCRIPT_PEERS names a Python that has apache-tvm")
        return 2
    paths = os.pathsep.join([str(HERE.parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")])
    running = {
        who: subprocess.Popen(
            [python, __file__, "--serve", who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
        for who, python in (("ours", sys.executable), ("theirs", peer))
    }
    found: dict[str, list[float]] = {who: [] for who in running}
    for _ in range(options.rounds):
        for who, process in running.items():
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("3\n")
            process.stdin.flush()
            found[who].append(float(process.stdout.readline()))
    for process in running.values():
        process.communicate()
    for who, times in found.items():
        print(f"{who:8} {statistics.median(times):9.1f} ms   (least {min(times):.1f})")
    ratio = statistics.median([a / b for a, b in zip(found["ours"], found["theirs"], strict=True)])
    print(f"{'ratio':8} {ratio:9.2f}      goal: at most {GOAL} {'' if ratio <= GOAL else '  MISSED'}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
