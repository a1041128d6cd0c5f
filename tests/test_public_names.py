"""Public names: there, lazy, the same object each time, and no submodule in the way of one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tirscript

PACKAGE = Path(tirscript.__file__).parent
MODULES = sorted(
    m.name for m in pkgutil.walk_packages([str(PACKAGE)], "tirscript.") if not m.name.endswith("__main__")
)


def run(code: str) -> str:
    """The output of ``code`` in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_nothing_heavy() -> None:
    loaded = run("import sys, tirscript; print(*sorted(sys.modules))").split()
    heavy = {"numpy", "llvmlite", "cupy", "IPython", "astor", "pygments", "ml_dtypes", "z3", "hypothesis"}
    assert not heavy & set(loaded)
    assert [m for m in loaded if m.startswith("tirscript.")] == ["tirscript.excepthook"]


def test_script_loads_no_back_end() -> None:
    loaded = run(
        "import sys; from tirscript.script import tir as T, ir as I; T.grid; I.ir_module; print(*sys.modules)"
    )
    assert not {"llvmlite", "cupy", "IPython"} & set(loaded.split())


@pytest.mark.parametrize("name", tirscript.__all__)
def test_public_name_is_one_object(name: str) -> None:
    first = getattr(tirscript, name)
    assert getattr(tirscript, name) is first
    scope: dict[str, object] = {}
    exec(f"from tirscript import {name}", scope)
    assert scope[name] is first


def test_public_names_survive_the_import_of_every_submodule() -> None:
    code = f"""
import importlib, tirscript
before = {{n: getattr(tirscript, n) for n in tirscript.__all__}}
for m in {MODULES!r}:
    importlib.import_module(m)
print([n for n, v in before.items() if getattr(tirscript, n) is not v])
"""
    assert run(code) == "[]"


@pytest.mark.parametrize("name", ["tirscript", *MODULES])
def test_no_submodule_has_the_name_of_a_function_or_class(name: str) -> None:
    module = importlib.import_module(name)
    if not hasattr(module, "__path__"):
        return
    public = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
    below = {m.name for m in pkgutil.iter_modules(module.__path__)}
    for public_name in below & set(public):
        assert isinstance(getattr(module, public_name), types.ModuleType), f"{name}.{public_name}"


def test_dir_lists_the_public_names() -> None:
    assert set(tirscript.__all__) <= set(dir(tirscript))


def test_unknown_name_gets_a_hint() -> None:
    with pytest.raises(AttributeError, match="did you mean `Schedule`"):
        tirscript.Schedul


def test_second_names_are_the_same_modules() -> None:
    import tirscript.tirx.schedule

    import tirscript.s_tir
    import tirscript.tir.schedule

    assert tirscript.tirx is tirscript.tir is tirscript.s_tir
    assert sys.modules["tirscript.tirx.schedule"] is tirscript.tir.schedule
    assert run("import tirscript.tirx, tirscript; print(tirscript.tirx is tirscript.tir)") == "True"


def test_errors_have_tvm_names() -> None:
    assert tirscript.TVMError is tirscript.TirscriptError
    assert tirscript.DiagnosticError is tirscript.ParseError


@pytest.mark.parametrize("name", ["relax", "meta_schedule", "dlight"])
def test_absent_modules_import_and_say_so_when_used(name: str) -> None:
    module = importlib.import_module(f"tirscript.{name}")
    with pytest.raises(tirscript.NotYetError) as caught:
        module.anything
    assert f"`tirscript.{name}.anything`" in str(caught.value)


@pytest.mark.parametrize("name", ["opencl", "metal"])
def test_absent_functions_say_so_when_called(name: str) -> None:
    function = getattr(tirscript, name)
    assert repr(function) == f"<tirscript.{name}: not yet>"
    with pytest.raises(tirscript.NotYetError, match=f"`tirscript.{name}`"):
        function("f")


def test_the_course_imports_run() -> None:
    """The import lines of classic programs, with only the package's name changed."""
    scope: dict[str, object] = {}
    exec(
        """
import tirscript as tvm
from tirscript.ir.module import IRModule
from tirscript.script import ir as I, tir as T, relax as R
from tirscript import relax, te, tir, topi
from tirscript import meta_schedule as ms
import tirscript.testing
from tirscript.contrib import utils, clang
""",
        scope,
    )
    assert scope["IRModule"] is tirscript.IRModule
    with pytest.raises(tirscript.NotYetError):
        scope["R"].function  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", tirscript.__all__)
def test_public_functions_and_classes_are_documented(name: str) -> None:
    value = getattr(tirscript, name)
    assert inspect.getdoc(value), name
