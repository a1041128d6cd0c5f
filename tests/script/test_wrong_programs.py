"""Every wrong program is answered with one pinned message that points at the exact columns.

``python tests/script/test_wrong_programs.py`` writes the messages anew; read the difference before
committing it.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import sys
import traceback

import pytest

from tirscript.diagnostics import ParseError, TirscriptError

try:
    from wrong_programs import WRONG
except ImportError:  # pytest imports tests by path
    _spec = importlib.util.spec_from_file_location(
        "wrong_programs", pathlib.Path(__file__).with_name("wrong_programs.py")
    )
    _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    WRONG = _module.WRONG

GOLDEN = pathlib.Path(__file__).with_name("wrong_programs.txt")
HEADER = "from tirscript.script import tir as T\n"


def marked(program: str) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The program without its marks, and where they stood: (line, column) from 1 and 0."""
    text = HEADER + program
    start, end = text.index("«"), text.index("»") - 1
    clean = text.replace("«", "").replace("»", "")

    def place(offset: int) -> tuple[int, int]:
        before = clean[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1)

    return clean, place(start), place(end)


def from_file(name: str, text: str, folder: pathlib.Path) -> TirscriptError:
    """The error of importing a file that holds the program."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with pytest.raises(TirscriptError) as caught:
        spec.loader.exec_module(module)
    return caught.value


def golden() -> dict[str, str]:
    if not GOLDEN.exists():
        return {}
    parts = re.split(r"^=== (\w+)\n", GOLDEN.read_text(encoding="utf-8"), flags=re.M)[1:]
    return dict(zip(parts[::2], (p.strip("\n") for p in parts[1::2]), strict=True))


def pinned(error: TirscriptError, source: str) -> str:
    return str(error).replace(source, "SOURCE")


@pytest.mark.parametrize("name", WRONG)
def test_from_a_file(name, tmp_path):
    text, start, end = marked(WRONG[name])
    error = from_file(name, text, tmp_path)
    span = error.marks[0].span
    assert ((span.line, span.column), (span.end_line, span.end_column)) == (start, end), str(error)
    assert pinned(error, str(tmp_path / f"{name}.py")) == golden()[name]
    shown = "".join(traceback.format_exception(error))
    assert "During handling of the above exception" not in shown
    assert error.__cause__ is None


@pytest.fixture(scope="module")
def shell():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    made = interactive.InteractiveShell.instance()
    yield made
    interactive.InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", WRONG)
def test_from_a_notebook_cell(name, shell, capsys):
    text, _, _ = marked(WRONG[name])
    result = shell.run_cell(text)
    error = result.error_in_exec
    assert isinstance(error, TirscriptError), error
    source = error.marks[0].span.source.name
    assert pinned(error, source) == golden()[name]
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "tirscript/script" not in shown, "a traceback of internals"
    assert str(error) in shown


def test_there_are_sixty_kinds():
    assert len(WRONG) >= 60
    messages = golden()
    assert set(messages) == set(WRONG)
    titles = [m.splitlines()[0] for m in messages.values()]
    assert len(set(titles)) >= 60, "two programs that give one message count once"


def test_all_mistakes_of_a_function_come_together(tmp_path):
    text = HEADER + (
        "@T.prim_func\n"
        'def f(B: T.Buffer((8,), "int32")):\n'
        "    for i in range(8):\n"
        "        B[i] = scal\n"
        "        B[i, 0] = 1\n"
        "        B[i] = T.maxx(1, 2)\n"
    )
    error = from_file("several", text, tmp_path)
    assert isinstance(error, ParseError)
    assert [d.marks[0].span.line for d in error.diagnostics] == [5, 6, 7]
    assert [d.marks[0].span.column for d in error.diagnostics] == [15, 8, 15]


def write() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        out = []
        for name, program in WRONG.items():
            text, start, end = marked(program)
            try:
                error = from_file(name, text, pathlib.Path(folder))
                span = error.marks[0].span
                if ((span.line, span.column), (span.end_line, span.end_column)) != (start, end):
                    found = f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"
                    print(f"{name}: points at {found}, not {start}-{end}")
                out.append(f"=== {name}\n{pinned(error, str(pathlib.Path(folder) / f'{name}.py'))}\n")
            except BaseException as problem:
                print(f"{name}: {type(problem).__name__}: {problem}")
        GOLDEN.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
    write()
