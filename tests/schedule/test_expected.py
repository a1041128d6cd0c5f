"""Whole programs before and after a step, in ``expected/*.txt``; and that no primitive has fewer than three.

A section is ``==== primitive: what``, the program, ``----``, the steps, ``----``, the program as it must be,
names and regions included.  Both compute the same.
"""

from __future__ import annotations

import ast
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule

from .programs import roundtrip
from .test_signatures import SIGNATURES

HERE = pathlib.Path(__file__).parent
# What neither changes a program nor makes something of it.
NO_CHANGE = frozenset({
    "__init__", "mod", "state", "trace", "func_working_on", "work_on", "copy", "seed", "fork_seed", "show",
    "get", "get_sref", "remove_rv", "get_block", "get_loops", "get_child_blocks", "get_producers",
    "get_consumers", "get_output_blocks", "sample_categorical", "sample_perfect_tile",
    "sample_partitioned_tile", "sample_compute_location", "can_decompose_padding", "enter_postproc",
})  # fmt: skip
PRIMITIVES = [line.split()[0] for line in SIGNATURES.split("\n") if line and line.split()[0] not in NO_CHANGE]


def sections() -> Iterator[tuple[str, str, str, str]]:
    for path in sorted((HERE / "expected").glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
            title, _, rest = part.partition("\n")
            before, steps, after = rest.split("----\n")
            yield title, before, steps, after


SECTIONS = {title: rest for title, *rest in sections()}


def parsed(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part of a nest covers a part of the domain
        return ts.parse(text)


def arrays(func: Any) -> list[Any]:
    random = np.random.default_rng(0)
    sizes: dict[Any, int] = {}
    shapes = [
        [getattr(n, "value", None) or sizes.setdefault(n, 5 + len(sizes)) for n in b.shape]
        for b in func.buffers
    ]
    return [
        random.integers(-9, 10, shape).astype(b.dtype) for shape, b in zip(shapes, func.buffers, strict=True)
    ]


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
@pytest.mark.parametrize("title", SECTIONS)
def test_the_program_after(title: str) -> None:
    before, steps, after = SECTIONS[title]
    func = parsed(before)
    sch = Schedule(func)
    exec(steps, {"sch": sch})
    have, want = (f.without_attr("global_symbol") for f in (sch.mod["f"], parsed(after)))
    ts.assert_structural_equal(have, want, names=True)
    roundtrip(sch.mod)
    for target in ("python", "llvm"):
        one, two = arrays(func), arrays(func)
        ts.build(func, target=target)(*one)
        ts.build(sch.mod, target=target)(*two)
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


# ---- how many there are


def comparing_tests() -> dict[str, int]:
    """For each method of a schedule, how many test functions use it and compare a whole program."""
    count = dict.fromkeys(PRIMITIVES, 0)
    for path in sorted(HERE.glob("test_*.py")):
        functions = [
            f for f in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(f, ast.FunctionDef)
        ]
        used = {f.name: words(f) for f in functions}
        comparing = {"structural_equal", "assert_structural_equal"}
        for _ in functions:  # helpers of helpers
            comparing |= {name for name, u in used.items() if u & comparing and name != "roundtrip"}
        for f in functions:
            if not f.name.startswith("test_") or not used[f.name] & comparing:
                continue
            mine = used[f.name].union(*[u for name, u in used.items() if name in used[f.name]])
            for name in mine & count.keys():
                count[name] += 1
    return count


def words(f: ast.FunctionDef) -> set[str]:
    out = set()
    for n in ast.walk(f):
        if isinstance(n, ast.Name):
            out.add(n.id)
        elif isinstance(n, ast.Attribute):
            out.add(n.attr)
        elif isinstance(n, ast.Constant) and isinstance(n.value, str):
            out.add(n.value)
    return out


def test_every_primitive_has_three() -> None:
    count = comparing_tests()
    for title in SECTIONS:
        count[title.partition(":")[0]] += 1
    assert {name: n for name, n in count.items() if n < 3} == {}
