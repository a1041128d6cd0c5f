"""Functions of 16,384 numbers against apache-tvm 0.27 and NumPy: three in turns, two processes.

    TIRSCRIPT_PEERS=/path/to/python-with-apache-tvm python tests/benchmarks/mathematics.py [functions]

Microseconds, the best of all rounds: a loop over vectors of sixteen, a plain serial loop, the peer's same two
programs, NumPy.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
N = 16384
FUNCTIONS = (  # noqa: SIM905
    "exp exp2 log log2 log1p sin cos tan asin atan sinh tanh asinh sigmoid erf rsqrt sqrt pow atan2 "
    "float16.exp float16.tanh float64.exp float64.log float64.sin float64.tanh float64.pow"
).split()
TWO = ("pow", "atan2")
PROGRAM = """
@T.prim_func{marker}
def f({params}, O: T.Buffer(({n},), "{dtype}")):
    for i in range({outer}):
        {inner}O[{index}] = T.{op}({values})
"""


def program(name: str, vector: bool, marker: str = "") -> str:
    dtype, _, op = name.rpartition(".")
    dtype = dtype or "float32"
    names = "AB" if op in TWO else "A"
    index = "i * 16 + j" if vector else "i"
    return PROGRAM.format(
        marker=marker, n=N, dtype=dtype, op=op, index=index, outer=N // 16 if vector else N,
        inner="for j in T.vectorized(16):\n            " if vector else "",
        params=", ".join(f'{a}: T.Buffer(({N},), "{dtype}")' for a in names),
        values=", ".join(f"{a}[{index}]" for a in names),
    )  # fmt: skip


def data(name: str) -> list[Any]:
    import numpy as np

    dtype, _, op = name.rpartition(".")
    rng = np.random.default_rng(0)
    x = (
        rng.uniform(0.01, 0.99, N)
        if op in ("asin", "pow", "log", "log2", "rsqrt", "sqrt")
        else rng.normal(size=N) * 3
    )
    arrays = [x, rng.normal(size=N)] if op in TWO else [x]
    return [a.astype(dtype or "float32") for a in arrays]


def ours(name: str, vector: bool) -> Callable[[], Any]:
    import numpy as np

    import tirscript as ts

    f = ts.build(ts.parse(program(name, vector)))["f"]
    arrays = data(name)
    arrays.append(np.empty_like(arrays[0]))
    return lambda: f(*arrays)


def theirs(name: str, vector: bool) -> Callable[[], Any]:
    import tvm  # type: ignore[import-not-found, unused-ignore]

    text = "# from tvm.script import tirx as T\n" + program(name, vector, "(s_tir=True)")
    mod = tvm.compile(tvm.script.from_source(text), target={"kind": "llvm", "mcpu": os.environ["HOST_CPU"]})
    f = mod["f"]
    arrays = [tvm.runtime.tensor(a) for a in data(name)]
    arrays.append(tvm.runtime.empty((N,), str(arrays[0].dtype)))
    return lambda: f(*arrays)


def numpys(name: str) -> Callable[[], Any] | None:
    import numpy as np

    op = name.rpartition(".")[2]
    known = {"asin": "arcsin", "atan": "arctan", "asinh": "arcsinh", "pow": "power", "atan2": "arctan2"}
    f = getattr(np, known.get(op, op), None)
    if f is None:
        return None
    arrays = data(name)
    out = np.empty_like(arrays[0])
    return lambda: f(*arrays, out=out)


def best(run: Callable[[], Any]) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def serve() -> int:
    """The peer's process: a line names the program, the answer is its time."""
    known: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name, vector = json.loads(line)
        try:
            if line not in known:
                known[line] = theirs(name, vector)
            print(best(known[line]), flush=True)
        except Exception:
            print("nan", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("functions", nargs="*", default=FUNCTIONS)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    if options.serve:
        return serve()
    sys.path.insert(0, str(ROOT))
    import llvmlite.binding as llvm

    python = os.environ.get("TIRSCRIPT_PEERS")
    peer = None
    if python:
        peer = subprocess.Popen(
            [python, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "HOST_CPU": llvm.get_host_cpu_name()},
        )  # fmt: skip

    def ask(name: str, vector: bool) -> float:
        if peer is None or peer.stdin is None or peer.stdout is None:
            return float("nan")
        peer.stdin.write(json.dumps([name, vector]) + "\n")
        peer.stdin.flush()
        return float(peer.stdout.readline())

    head = ("vectors", "serial", "TVM vectors", "TVM serial", "NumPy")
    print(f"{'':14}" + "".join(f"{h:>13}" for h in head) + f"{'TVM / ours':>13}{'NumPy / ours':>14}")
    slower = 0
    for name in options.functions:
        runs = [ours(name, True), ours(name, False)]
        other = numpys(name)
        times = [float("inf")] * 5
        for _ in range(options.rounds):
            found = [*map(best, runs), ask(name, True), ask(name, False)]
            found.append(best(other) if other is not None else float("nan"))
            times = [t if t < f else f for t, f in zip(times, found, strict=True)]
        a, b = min(times[2:4]) / times[0], times[4] / times[0]
        slower += a < 1
        print(f"{name:14}" + "".join(f"{t:13.1f}" for t in times) + f"{a:13.1f}{b:14.1f}", flush=True)
    if peer is not None and peer.stdin is not None:
        peer.stdin.close()
        peer.wait()
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
