"""Parse, print, schedule and import times against apache-tvm 0.27, interleaved in one process.

Run it with any Python that has tirscript's dependencies:

    TIRSCRIPT_PEERS=/path/to/python-with-apache-tvm python tests/benchmarks/compile_time.py

Each row is the median of 200 interleaved runs on fresh objects; each system parses its own printed text.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
MM_RELU = """
@I.ir_module
class Module:
    @T.prim_func{marker}
    def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
        Y = T.{alloc}((128, 128), "float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.{block}("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.{block}("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""  # noqa: E501
# The ratio that each row must stay under (tirscript's time / TVM's).
GOALS = {
    "parse": 1 / 6, "print": 1.5, "Schedule()": 0.5, "split": 0.5, "fuse": 0.5, "reorder": 1.0,
    "parallel": 1.0, "vectorize": 1.0, "unroll": 1.0, "tiling": 0.5, "import": 1 / 3,
}  # fmt: skip


def interleaved(
    pairs: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]], rounds: int
) -> dict[str, float]:
    """Median microseconds of each ``(setup, run)``, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in pairs}
    for _ in range(rounds):
        for name, (setup, run) in pairs.items():
            state = setup()
            start = time.perf_counter()
            run(state)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) * 1e6 for name, t in times.items()}


def primitives(schedule: Callable[[Any], Any], get_block: str, module: Any) -> dict[str, Any]:
    def fresh() -> Any:
        sch = schedule(module)
        block = getattr(sch, get_block)("Y")
        return sch, block, sch.get_loops(block)

    def tiling(state: Any) -> None:
        sch, _, (i, j, k) = state
        j_0, j_1 = sch.split(j, [None, 4])
        sch.reorder(i, j_0, k, j_1)
        sch.vectorize(j_1)
        sch.parallel(i)

    return {
        "Schedule()": (lambda: None, lambda _: schedule(module)),
        "split": (fresh, lambda s: s[0].split(s[2][1], [None, 4])),
        "fuse": (fresh, lambda s: s[0].fuse(s[2][0], s[2][1])),
        "reorder": (fresh, lambda s: s[0].reorder(s[2][0], s[2][2], s[2][1])),
        "parallel": (fresh, lambda s: s[0].parallel(s[2][0])),
        "vectorize": (fresh, lambda s: s[0].vectorize(s[2][1])),
        "unroll": (fresh, lambda s: s[0].unroll(s[2][2])),
        "tiling": (fresh, tiling),
    }


def import_times(rounds: int) -> tuple[float, float]:
    """Median seconds of ``import tirscript`` and of ``import tvm``, less those of an empty process."""
    programs = ("pass", "import tirscript", "import tvm")
    times: dict[str, list[float]] = {p: [] for p in programs}
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(rounds):
        for program in programs:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env=env)
            times[program].append(time.perf_counter() - start)
    empty, ours, theirs = (statistics.median(times[p]) for p in programs)
    return ours - empty, theirs - empty


def long_program(statements: int) -> str:
    lines = "\n".join(f"    A[{n % 100}] = A[{(n * 7) % 100}] + {n}" for n in range(statements))
    return f'@T.prim_func\ndef f(A: T.Buffer((100,), "int32")):\n{lines}\n'


def scaling(ts: Any) -> None:
    print(f"\n{'statements':>12} {'parse ms':>10} {'us each':>9} {'print ms':>10}")
    for n in (1000, 2500, 5000, 10_000):
        text = long_program(n)
        start = time.perf_counter()
        f = ts.parse(text)
        middle = time.perf_counter()
        f.script()
        end = time.perf_counter()
        parse_ms, print_ms = (middle - start) * 1e3, (end - middle) * 1e3
        print(f"{n:12} {parse_ms:10.1f} {parse_ms / n * 1e3:9.1f} {print_ms:10.1f}")


def run(rounds: int) -> int:
    import tvm  # type: ignore[import-not-found, unused-ignore]
    from tvm.s_tir import Schedule as PeerSchedule  # type: ignore[import-not-found, unused-ignore]

    sys.path.insert(0, str(ROOT))
    import tirscript as ts

    mine = ts.parse(MM_RELU.format(marker="", alloc="alloc_buffer", block="block"))
    header = "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n"
    theirs = tvm.script.from_source(
        header + MM_RELU.format(marker="(s_tir=True)", alloc="sblock_alloc_buffer", block="sblock")
    )
    my_text, their_text = mine.script(), theirs.script()

    def nothing() -> None:
        return None

    ours: dict[str, Any] = {
        "parse": (nothing, lambda _: ts.parse(my_text)),
        "print": (nothing, lambda _: mine.script()),
        **primitives(ts.Schedule, "get_block", mine),
    }
    peer: dict[str, Any] = {
        "parse": (nothing, lambda _: tvm.script.from_source(their_text)),
        "print": (nothing, lambda _: theirs.script()),
        **primitives(PeerSchedule, "get_sblock", theirs),
    }
    failed = 0
    print(f"{'':12} {'tirscript us':>13} {'tvm us':>10} {'ratio':>7} {'goal':>7}")
    for name in ours:
        count = max(20, rounds // 4) if name == "parse" else rounds
        got = interleaved({"ours": ours[name], "peer": peer[name]}, count)
        failed += report(name, got["ours"], got["peer"])
    mine_s, theirs_s = import_times(max(5, rounds // 20))
    failed += report("import", mine_s * 1e6, theirs_s * 1e6)
    scaling(ts)
    print(f"\n{failed} of {len(GOALS)} rows over their goal")
    return 0


def report(name: str, ours: float, theirs: float) -> int:
    ratio, goal = ours / theirs, GOALS[name]
    print(
        f"{name:12} {ours:13.1f} {theirs:10.1f} {ratio:7.3f} {goal:7.3f} {'' if ratio <= goal else '  over'}"
    )
    return ratio > goal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    try:
        import tvm  # noqa: F401
    except ImportError:
        python = os.environ.get("TIRSCRIPT_PEERS")
        if not python:
            print("apache-tvm is not installed here; TIRSCRIPT_PEERS names a Python that has it")
            return 2
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {k: v for k, v in os.environ.items() if k != "TIRSCRIPT_PEERS"} | {"PYTHONPATH": paths}
        return subprocess.run([python, *sys.argv], env=environment, check=False).returncode
    return run(options.rounds)


if __name__ == "__main__":
    sys.exit(main())
