"""Cells of a notebook that run again, in any order, in a real kernel: the schedule is that of one run, or the
cell says what to do."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
PROGRAM = """\
import tirscript as tvm
from tirscript.script import ir as I, tir as T

@T.prim_func
def matmul(A: T.Buffer((64, 64)), B: T.Buffer((64, 64)), C: T.Buffer((64, 64))):
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
START = """\
sch = tvm.Schedule(matmul, debug_mask="all")
block = sch.get_block("C")
i, j, k = sch.get_loops(block)
"""
TILE = """\
with sch.step("tile"):
    j_0, j_1 = sch.split(j, [None, 16])
    sch.reorder(i, j_0, k, j_1)
"""
INNER = """\
with sch.step("inner"):
    j_1_0, j_1_1 = sch.split(j_1, [None, 4])
    init = sch.decompose_reduction(block, k)
"""
KINDS = """\
with sch.step("kinds"):
    sch.unroll(j_1_0)
    sch.vectorize(j_1_1)
    sch.parallel(i)
"""
SHOW = """\
import numpy as np
a, b = [np.random.default_rng(n).random((64, 64)).astype("float32") for n in (0, 1)]
c = np.zeros((64, 64), "float32")
tvm.build(sch.mod)["matmul"](a, b, c)
np.testing.assert_allclose(c, a @ b, rtol=1e-4)
print(sch.history)
print(sch.mod.script())
print([[x.function for x in (i, block)], str(sch.get(j_1_1).kind), sch.get(init).name])
"""
CELLS = {1: PROGRAM, 2: START, 3: TILE, 4: INNER, 5: KINDS, 6: SHOW}
# Cells with other factors: the cell was edited before it ran again.
CELLS |= {30: TILE.replace("16", "8"), 40: INNER.replace("4]", "2]")}
ONCE = (1, 2, 3, 4, 5, 6)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel must import this tree, whether or not it is installed."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def run(sources: list[str]) -> list[str]:
    """What each cell printed; an error is printed too."""
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell(s) for s in sources]
    for cell in nb.cells:
        cell.metadata["tags"] = ["raises-exception"]
    NotebookClient(nb, timeout=300, kernel_name="python3").execute()
    return ["".join([_text(o) for o in cell.outputs]) for cell in nb.cells]


def _text(output: Any) -> str:
    if output.output_type == "error":
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))
    return str(output.get("text", ""))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_cells_run_again_in_any_order() -> None:
    orders: list[tuple[int, ...]] = [
        ONCE,
        (1, 2, 3, 4, 5, 3, 6),
        (1, 2, 3, 4, 5, 3, 2, 3, 4, 5, 6),
        (1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 6),
        (1, 2, 3, 3, 3, 4, 4, 5, 5, 6),
        (1, 2, 3, 4, 5, 5, 4, 3, 6),
        (1, 2, 30, 40, 5, 3, 4, 6),
        (1, 2, 30, 4, 5, 3, 3, 6),
    ]
    flat = [n for order in orders for n in order]
    printed = run([CELLS[n] for n in flat])
    results = []
    for order in orders:
        own, printed = printed[: len(order)], printed[len(order) :]
        assert [text for text in own[:-1] if text] == [], order
        results.append(own[-1])
    assert "   7  parallel(i)" in results[0] and "for j_1_1 in T.vectorized(4):" in results[0]
    for order, result in zip(orders, results, strict=True):
        assert result == results[0], order


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_cells_say_that_cannot_run_again() -> None:
    unnamed = TILE.replace('with sch.step("tile"):\n', "").replace("    ", "")
    wrong = TILE.replace("sch.reorder(i, j_0, k, j_1)", "sch.reorder(i, i)")
    gone = 'with sch.step("tile"):\n    pass\n'
    state = "print(sch.history)"
    printed = run([
        PROGRAM, START, unnamed, unnamed, "sch.undo(2)", unnamed, state,
        START, TILE, INNER, wrong, state, gone, state,
    ])  # fmt: skip
    first, second, undone, again, after = printed[2:7]
    assert (first, undone, again) == ("", "", "")
    assert second == (
        "ScheduleError[expired-reference]: loop `j` no longer exists: step 1, split(j, [None, 16]), "
        "replaced it by `j_0`, `j_1`\n"
        "  --> matmul, after step 2: reorder(i, j_0, k, j_1)\n"
        '  hint: a cell that is to run twice does its steps under `with sch.step("name"):`; '
        "sch.undo() takes back the last step"
    )
    assert after.splitlines()[1:] == [
        "   1  split(j, [None, 16])     j_0, j_1",
        "   2  reorder(i, j_0, k, j_1)",
    ]
    # A named step that fails, or without which later ones cannot be, leaves the schedule as it was.
    said, kept, lost, kept_too = printed[10:]
    assert said.startswith("ScheduleValueError[duplicate-loop]: loop `i` is given twice")
    assert kept == kept_too and "split(j_1, [None, 4])" in kept and "split(j, [None, 16])" in kept
    assert lost.startswith(
        "StepNotReplayed[step-not-replayed]: after the new step 'tile', a later step cannot"
    )
    assert lost.endswith("hint: the schedule is as it was before this step")
