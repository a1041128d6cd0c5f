"""What it costs to look: representations and differences of modules of 200 lines.

    python tests/benchmarks/display_time.py

The bars: the HTML (and text) of a module of 200 lines under 15 ms, the difference of two such under 40 ms.
The best of several runs counts, in CPU time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import tirscript as ts
from tirscript import display
from tirscript.analysis.cost import cost_of

STAGE = """
@T.prim_func
def f{n}(A: T.Buffer((128, 128)), B: T.Buffer((128, 128)), C: T.Buffer((128, 128))):
    Y = T.alloc_buffer((128, 128), "float32")
    for i, j, k in T.grid(128, 128, 128):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(128, 128):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""


def module() -> ts.IRModule:
    """Functions that print as some 200 lines."""
    functions = {}
    while True:
        n = len(functions)
        functions[f"f{n}"] = ts.parse(STAGE.format(n=n))
        mod = ts.IRModule(functions)
        if mod.script().count("\n") >= 200:
            return mod


def long_function(blocks: int) -> ts.PrimFunc:
    """One function that prints as some 200 lines, one loop and one axis a line."""
    head = "@T.prim_func\ndef f(A: T.Buffer((64, 64)), O: T.Buffer((64, 64))):\n"
    lines = [f'    B{n} = T.alloc_buffer((64, 64), "float32")\n' for n in range(blocks)]
    for n in range(blocks):
        source = f"B{n - 1}" if n else "A"
        lines.append(
            f"    for i, j in T.grid(64, 64):\n"
            f'        with T.block("B{n}"):\n'
            f'            vi, vj = T.axis.remap("SS", [i, j])\n'
            f"            B{n}[vi, vj] = {source}[vi, vj] * T.float32({n}) + T.float32(1)\n"
        )
    f = ts.parse(head + "".join(lines))
    assert isinstance(f, ts.PrimFunc)
    return f


def rewritten(f: ts.PrimFunc) -> ts.Schedule:
    """Every block tiled: all of the program differs."""
    sch = ts.Schedule(f)
    for n in range(sum(1 for _ in sch.get_child_blocks(sch.get_block("root")))):
        i, j = sch.get_loops(f"B{n}")
        i_0, i_1 = sch.split(i, [None, 16])
        j_0, j_1 = sch.split(j, [None, 8])
        sch.reorder(i_0, j_0, i_1, j_1)
        sch.vectorize(j_1)
    return sch


def best(run: Callable[[], Any], times: int = 15) -> float:
    found = float("inf")
    for _ in range(times):
        start = time.process_time()
        run()
        found = min(found, time.process_time() - start)
    return found * 1e3


def main() -> int:
    mod = module()
    f = long_function(22)
    sch = rewritten(f)
    after = sch.mod["f"]
    one = ts.Schedule(f)
    one.split(one.get_loops("B3")[0], [None, 16])
    lines = (f.script(sugar=False).count("\n"), after.script(sugar=False).count("\n"))
    rows: list[tuple[str, float, float | None]] = [
        (f"bundle of a module, {mod.script().count(chr(10))} lines", best(mod._repr_mimebundle_), 15),
        ("bundle of a schedule", best(ts.Schedule(mod)._repr_mimebundle_), 15),
        (f"difference, everything changed, {lines[0]} and {lines[1]} lines",
         best(lambda: display.diff(f, after)._repr_mimebundle_()), 40),
        ("difference of one step", best(lambda: one.diff()._repr_mimebundle_()), 40),
        ("the same as text", best(lambda: str(one.diff())), None),
        ("history of 88 steps", best(sch.history._repr_mimebundle_), None),
        ("loop tree, HTML", best(lambda: sch.tree()._repr_mimebundle_()), None),
        ("loop tree, SVG", best(lambda: sch.tree().svg()), None),
        ("costs of all loops",
         best(lambda: [p.footprint for p in cost_of(after.with_attr("x", 1))], 3), None),
    ]  # fmt: skip
    late = False
    for what, took, bar in rows:
        late |= bar is not None and took > bar
        print(f"{what:62} {took:8.2f} ms" + ("" if bar is None else f"   (bar {bar:.0f})"))
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
