"""The committed stub files are those that the run time gives, and editors complete by them."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

import tirscript
from tirscript.script import ir as I
from tirscript.script import tir as T
from tirscript.testing import stubs

PACKAGE = Path(tirscript.__file__).parent


def test_committed_stubs_are_up_to_date() -> None:
    assert [str(p.relative_to(PACKAGE)) for p in stubs.stale()] == []


def test_check_says_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stubs.main(["--check"]) == 0
    made = {PACKAGE / "made_up.pyi": "x: int\n"}
    monkeypatch.setattr(stubs, "generate", lambda: made)
    assert stubs.main(["--check"]) == 1
    assert "made_up.pyi is not up to date" in capsys.readouterr().out


@pytest.mark.parametrize("module", [T, I], ids=["T", "I"])
def test_stub_has_every_public_name_and_its_docstring(module: object) -> None:
    name = module.__name__  # type: ignore[attr-defined]
    path = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".pyi")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    plain = {
        n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    public = stubs.public_names(module)  # type: ignore[arg-type]
    assert set(defined) | plain == set(public)
    for key, node in defined.items():
        documented = inspect.getdoc(getattr(module, key))
        assert documented, f"{name}.{key} has no docstring"
        assert inspect.cleandoc(ast.get_docstring(node) or "").strip() == documented.strip()


def complete(code: str) -> set[str]:
    lines = code.splitlines()
    script = jedi.Script(code, project=jedi.Project(str(PACKAGE.parent)))
    return {c.name for c in script.complete(len(lines), len(lines[-1]))}


def test_completion_of_T() -> None:
    names = complete("from tirscript.script import tir as T\nT.")
    assert {"grid", "block", "axis", "Buffer", "float32", "exp", "vectorized", "match_buffer"} <= names
    assert not {"ops", "constructs", "DTypeConstructor"} & names


def test_completion_of_I_and_of_the_package() -> None:
    assert "ir_module" in complete("from tirscript.script import ir as I\nI.")
    assert {"Schedule", "build", "lower", "Target", "nd", "cpu"} <= complete("import tirscript\ntirscript.")
    assert "Schedule" in complete("import tirscript as tvm\ntvm.Sch")


def test_signatures_are_shown() -> None:
    code = "from tirscript.script import tir as T\nT.match_buffer("
    shown = jedi.Script(code, project=jedi.Project(str(PACKAGE.parent))).get_signatures(
        2, len("T.match_buffer(")
    )
    assert [p.name for p in shown[0].params][:3] == ["param", "shape", "dtype"]
    assert "buffer" in shown[0].docstring()


def test_a_typed_program_passes_the_type_checker(tmp_path: Path) -> None:
    program = tmp_path / "uses.py"
    program.write_text(
        """\
import tirscript as ts
from tirscript import Schedule, build
from tirscript.script import from_source

text: str = "def f(): ..."
sch = Schedule(ts.IRModule())
module = build(sch.mod, "llvm")
error: type[ts.TirscriptError] = ts.ScheduleError
tvm_error: type[ts.TirscriptError] = ts.TVMError
loop: type[ts.ir.For] = ts.tirx.For
"""
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"),
            str(program),
        ],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
