"""The lessons run from the first cell to the last, and an error in a notebook shows our text alone."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def no_warnings_of_the_kernel_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel must import this tree, whether or not it is installed."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def execute(nb: Any) -> Any:
    NotebookClient(
        nb, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    return nb


def run_cells(*sources: str) -> list[Any]:
    """The outputs of all cells, in order; an error is an output."""
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell(s) for s in sources]
    for cell in nb.cells:
        cell.metadata["tags"] = ["raises-exception"]
    return [output for cell in execute(nb).cells for output in cell.outputs]


def text_of(error: Any) -> str:
    """What a notebook shows of an error."""
    assert error.output_type == "error", error
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_lesson_runs(path: Path) -> None:
    nb = nbformat.read(path, as_version=4)
    try:
        execute(nb)
    except CellExecutionError as error:
        pytest.fail(str(error))
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                assert output.name == "stdout", output.text
            # No addresses, nothing of the package's files.
            text = output.get("text", "") or output.get("data", {}).get("text/plain", "")
            assert not re.search(r"0x[0-9a-f]{6}|Traceback", text), text


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_lesson_is_stored_without_outputs(path: Path) -> None:
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)
    assert [c.source for c in nb.cells if c.cell_type == "code" and (c.outputs or c.execution_count)] == []
    assert nb.cells[0].source.startswith(f"# {int(path.stem[:2])}. ")


TYPO = """\
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = Aa[i] + 1.0
"""
SUM = """\
@T.prim_func
def total(A: T.Buffer((8,), "float32"), S: T.Buffer((1,), "float32")):
    for k in range(8):
        with T.block("S"):
            vk = T.axis.reduce(8, k)
            with T.init():
                S[0] = T.float32(0)
            S[0] += A[vk]
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_errors_in_cells_show_the_place_and_no_internals() -> None:
    typo, refused, call, value = run_cells(
        "import tirscript as ts\nfrom tirscript.script import tir as T",
        TYPO,
        SUM,
        "sch = ts.Schedule(total)\n(k,) = sch.get_loops('S')\nsch.parallel(k)",
        "ts.build(total)['total'](1, 2)",
        "ts.build(total, 'lvm')",
    )
    titles = ("ParseError[", "ScheduleError[", "CallTypeError[", "TargetError[")
    for error, title in zip((typo, refused, call, value), titles, strict=True):
        shown = text_of(error)
        assert shown.startswith(title), shown
        assert not re.search("Traceback|site-packages|tirscript/", shown), shown
    shown = text_of(typo)
    assert "--> Cell In[2]:4:16" in shown
    source = next(line for line in shown.splitlines() if "Aa[i] + 1.0" in line)
    carets = next(line for line in shown.splitlines() if "^" in line)
    assert carets.index("^") == source.index("Aa") and carets.count("^") == 2
    assert "did you mean `A`?" in shown
    assert "loop `k` cannot be parallel" in text_of(refused)
    assert "`k` was written at Cell In[3]:3" in text_of(refused)
    assert "did you mean `llvm`?" in text_of(value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_module_defined_in_a_cell_is_displayed_as_html_and_text() -> None:
    (output,) = run_cells(
        "from tirscript.script import ir as I, tir as T",
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((8,), 'float32')):\n"
        "        for i in range(8):\n            A[i] = T.float32(0)\nM",
    )
    data = output.data
    assert data["text/plain"].startswith("# from tirscript.script import ir as I")
    assert data["text/html"].startswith("<pre style=")
    assert "class Module" in re.sub(r"<[^>]*>", "", data["text/html"])


def test_the_map_names_every_lesson_and_nothing_else() -> None:
    text = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    for link in links:
        assert (ROOT / "notebooks" / link).is_file(), link
    assert [k for k in links if k.endswith(".ipynb")] == [p.name for p in LESSONS]


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_links_between_lessons_lead_somewhere(path: Path) -> None:
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        for link in re.findall(r"\]\(([^)]+)\)", cell.source) if cell.cell_type == "markdown" else []:
            assert (path.parent / link).is_file(), link
    figures = ("plt.", "bar_chart", "roofline", "movie(", "linked(", ".svg")
    assert any(word in cell.source for cell in nb.cells for word in figures), "a lesson has a figure"
