"""Init of a block whose reduction goes along loops outside of the block around it.

It runs once for each spatial instance of the block, before the first update, wherever that is: where the
outer axis does not start at its minimum, runs backwards, leaves its domain, or is guarded; and also if there
is no update at all.
"""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.testing import run_program

TARGETS = ["meaning", "python", "llvm", "llvm -checked", "llvm -fp-contract=off -math=scalar"]


def nested(loops: str, *axes: str, where: str = "", row: str = "vi", init: str = "100") -> str:
    head = "".join(f"            {line}\n" for line in (*axes, *([f"T.where({where})"] if where else ())))
    return f"""
@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), C: T.Buffer((4,), "int32"), n: T.int32):
    for {loops}:
        with T.block("outer"):
{head}
            for ki in range(4):
                with T.block("inner"):
                    vii = T.axis.spatial(4, {row})
                    vk = T.axis.reduce(16, vko * 4 + ki)
                    with T.init():
                        C[vii] = {init}
                    C[vii] = C[vii] + A[vii, vk]
"""


I = "vi = T.axis.spatial(4, i)"
GRID = "i, ko in T.grid(4, 4)"


def ko(value: str, extent: int = 4, kind: str = "reduce") -> str:
    return f"vko = T.axis.{kind}({extent}, {value})"


# The rows that are initialised, and of each row which fours of columns are added.
ALL: dict[int, tuple[int, ...]] = dict.fromkeys(range(4), (0, 1, 2, 3))
CASES: dict[str, tuple[str, dict[int, tuple[int, ...]]]] = {
    "from the first to the last": (nested(GRID, I, ko("ko")), ALL),
    "from the second": (nested("i, ko in T.grid(4, 3)", I, ko("ko + 1")), dict.fromkeys(range(4), (1, 2, 3))),
    "backwards": (nested(GRID, I, ko("3 - ko")), ALL),
    "backwards, the reduction outside": (nested("ko, i in T.grid(4, 4)", I, ko("3 - ko")), ALL),
    "out of the domain at first": (nested(GRID, I, ko("ko - 1")), dict.fromkeys(range(4), (0, 1, 2))),
    "out of the domain at last": (nested(GRID, I, ko("ko + 2")), dict.fromkeys(range(4), (2, 3))),
    "guarded": (nested(GRID, I, ko("ko"), where="ko >= 1"), dict.fromkeys(range(4), (1, 2, 3))),
    "guarded by both": (
        nested(GRID, I, ko("ko"), where="ko + i >= 3"), {i: tuple(range(3 - i, 4)) for i in range(4)}),
    "never": (nested(GRID, I, ko("ko"), where="ko >= 9"), dict.fromkeys(range(4), ())),
    "rows guarded": (nested(GRID, I, ko("3 - ko"), where="i >= 2"), dict.fromkeys((2, 3), (0, 1, 2, 3))),
    "rows and reduction guarded": (
        nested(GRID, I, ko("3 - ko"), where="i >= 2 and ko < 3"), dict.fromkeys((2, 3), (1, 2, 3))),
    "rows out of the domain": (
        nested("i, ko in T.grid(6, 4)", "vi = T.axis.spatial(4, i - 1)", ko("3 - ko")), ALL),
    "an empty loop": (nested("i, ko in T.grid(4, 0)", I, ko("ko")), dict.fromkeys(range(4), ())),
    "an extent that is known when it runs": (
        nested("i, ko in T.grid(4, n)", I, ko("ko")), dict.fromkeys(range(4), (0, 1))),
    "a spatial axis around": (nested(GRID, I, ko("ko", kind="spatial")), ALL),
    "an opaque axis around": (nested(GRID, I, ko("3 - ko", kind="opaque")), ALL),
    "fused": (nested("f in range(16)", "vi = T.axis.spatial(4, f // 4)", ko("f % 4")), ALL),
    "two loops": (nested("i, k0, k1 in T.grid(4, 2, 2)", I, ko("3 - k0 * 2 - k1")), ALL),
    "one row": (nested("ko in range(4)", ko("3 - ko"), row="2"), {2: (0, 1, 2, 3)}),
    "other rows": (
        nested("i, ko in T.grid(2, 4)", "vi = T.axis.spatial(2, i)", ko("3 - ko"), row="vi + 1"),
        dict.fromkeys((1, 2), (0, 1, 2, 3))),
    "init of the axes around": (nested("i, ko in T.grid(4, 3)", I, ko("ko + 1"), init="vi * 0 + 100"),
                                dict.fromkeys(range(4), (1, 2, 3))),
}  # fmt: skip
DEEPER = {
    "three blocks": """
@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), C: T.Buffer((4,), "int32"), n: T.int32):
    for i, ko in T.grid(4, 2):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            vko = T.axis.reduce(2, 1 - ko)
            for km in range(2):
                with T.block("middle"):
                    vm = T.axis.spatial(4, vi)
                    vkm = T.axis.reduce(4, vko * 2 + km)
                    for ki in range(4):
                        with T.block("inner"):
                            vii = T.axis.spatial(4, vm)
                            vk = T.axis.reduce(16, vkm * 4 + ki)
                            with T.init():
                                C[vii] = 100
                            C[vii] = C[vii] + A[vii, vk]
""",
    "tiles": """
@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), C: T.Buffer((4,), "int32"), n: T.int32):
    for io, ko in T.grid(2, 4):
        with T.block("outer"):
            vio = T.axis.spatial(2, io)
            vko = T.axis.reduce(4, 3 - ko)
            for ii, ki in T.grid(2, 4):
                with T.block("inner"):
                    vii = T.axis.spatial(4, vio * 2 + ii)
                    vk = T.axis.reduce(16, vko * 4 + ki)
                    with T.init():
                        C[vii] = 100
                    C[vii] = C[vii] + A[vii, vk]
""",
    "a let between": """
@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), C: T.Buffer((4,), "int32"), n: T.int32):
    for i, ko in T.grid(4, 4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            vko = T.axis.reduce(4, 3 - ko)
            base: T.int32 = vko * 4
            for ki in range(4):
                with T.block("inner"):
                    vii = T.axis.spatial(4, vi)
                    vk = T.axis.reduce(16, base + ki)
                    with T.init():
                        C[vii] = 100
                    C[vii] = C[vii] + A[vii, vk]
""",
    "the init is a block": """
@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), C: T.Buffer((4,), "int32"), n: T.int32):
    for i, ko in T.grid(4, 4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            vko = T.axis.reduce(4, 3 - ko)
            with T.init():
                for z in range(1):
                    with T.block("zero"):
                        vz = T.axis.spatial(4, vi + z)
                        C[vz] = 100
            for ki in range(4):
                with T.block("inner"):
                    vii = T.axis.spatial(4, vi)
                    vk = T.axis.reduce(16, vko * 4 + ki)
                    C[vii] = C[vii] + A[vii, vk]
""",
}


def wanted(a: np.ndarray, c: np.ndarray, rows: dict[int, tuple[int, ...]]) -> np.ndarray:
    out = c.copy()
    for row, fours in rows.items():
        out[row] = 100 + sum(int(a[row, 4 * k : 4 * k + 4].sum()) for k in fours)
    return out


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*CASES, *DEEPER])
def test_init_runs_once_before_the_first_update(name: str, target: str) -> None:
    source, rows = CASES[name] if name in CASES else (DEEPER[name], ALL)
    rng = np.random.default_rng(0)
    a, c = rng.integers(-9, 9, (4, 32)).astype("int32"), np.full(4, 7, "int32")
    _, got, *_ = run_program(ts.parse(source), target, [a, c, 2])
    assert got.tolist() == wanted(a, c, rows).tolist()
