"""Imports run one way: every import statement of the package is held against the table below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tirscript"
FILES = sorted(PACKAGE.rglob("*.py"))

_ARITH = {"diagnostics", "notyet", "ir"}
_ANALYSIS = _ARITH | {"arith"}
_PARSER = _ANALYSIS | {"analysis", "script", "notyet", "target"}  # T.target(...) is a value of scripts
_SCHEDULE = _ANALYSIS | {"analysis", "script.printer"}
_DRIVER = _SCHEDULE | {"schedule", "lowering", "codegen", "target", "runtime", "script", "notyet"}
_TOP = _DRIVER | {"driver", "display"}
# What each room may import, besides itself.
ALLOWED: dict[str, set[str]] = {
    "diagnostics": set(),
    "notyet": {"diagnostics"},
    "ir": {"diagnostics", "notyet"},
    "arith": _ARITH,
    "analysis": _ANALYSIS,
    "script.printer": _ARITH,
    "script": _PARSER,
    "schedule": _SCHEDULE,
    "lowering": _ANALYSIS | {"analysis", "target"},
    # `runtime.signature` is plain data: what a call checks, as the code generator saw it.
    "codegen": _ARITH | {"target", "runtime"},
    "target": {"diagnostics", "notyet"},
    "runtime": {"diagnostics", "notyet", "target"},
    "driver": _DRIVER,
    "display": _DRIVER | {"driver"},
    "testing": _TOP | {"__init__", "notyet"},
    "tensor_intrin": _DRIVER | {"driver"},
    "dlight": _DRIVER | {"driver", "tensor_intrin"},
    "te": _DRIVER | {"driver"},
    "topi": _DRIVER | {"driver", "te"},
    "contrib": _DRIVER | {"driver"},
    "migrate": {"diagnostics"},  # works on texts, and asks for the names of the package by name
    "cli": _TOP | {"testing", "__init__", "migrate"},
    # Facades: they re-export, and nobody imports them.
    "tir": _TOP | {"te", "tensor_intrin"},
    "error": {"diagnostics", "notyet"},
    "tirx": {"tir"},
    "s_tir": {"tir"},
    "nd": {"runtime", "notyet"},
    "transform": _TOP,
    "__main__": {"cli"},
    "excepthook": {"diagnostics"},
    "__init__": {"notyet", "diagnostics", "excepthook"},
}
# Packages from outside, and the rooms that may import them; the standard library is free.
OUTSIDE = {
    "numpy": set(ALLOWED) - {"diagnostics", "__init__"},
    "ml_dtypes": {"ir", "script", "script.printer", "codegen", "runtime", "testing", "cli", "driver"},
    "llvmlite": {"codegen", "runtime", "cli", "testing"},
    "cupy": {"runtime", "cli", "testing"},
    "cupyx": {"runtime"},
    "astor": {"codegen"},
    "pygments": {"display"},
    "IPython": {"display"},
    "matplotlib": {"display"},
    "tqdm": {"display"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
}


def module_of(path: Path) -> str:
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


def room_of(module: str) -> str:
    """The room of a module of tirscript: its first folder, and the printer apart."""
    parts = module.split(".")[1:]
    if not parts:
        return "__init__"
    return "script.printer" if parts[:2] == ["script", "printer"] else parts[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute name of every module that a file imports, in functions too."""
    module = module_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(n, ast.Import):
            for alias in n.names:
                yield n.lineno, alias.name
        elif isinstance(n, ast.ImportFrom):
            base = n.module or ""
            if n.level:
                above = package.split(".")[: len(package.split(".")) - n.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in n.names:
                # `from tirscript import ir` and `from .printer import x` name modules in the names too.
                full = f"{base}.{alias.name}"
                yield n.lineno, full if base.split(".")[0] == "tirscript" and _is_module(full) else base


def _is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def wrong_arrows(path: Path) -> Iterator[str]:
    module = module_of(path)
    room = room_of(module) if path != PACKAGE / "__init__.py" else "__init__"
    where = path.relative_to(PACKAGE.parent)
    if room not in ALLOWED:
        yield f"{where}: the room `{room}` is not in the table"
        return
    for line, name in imports(path):
        top = name.partition(".")[0]
        if top == "tirscript":
            other = room_of(name)
            # Of a parser, the printer's own package is another room.
            if (
                other == room
                or other in ALLOWED[room]
                or (other == "script.printer" and "script" in ALLOWED[room])
            ):
                continue
            yield f"{where}:{line}: `{room}` must not import `{name}`"
        elif top in OUTSIDE and room not in OUTSIDE[top]:
            yield f"{where}:{line}: `{room}` must not import `{top}`"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    assert list(wrong_arrows(path)) == []


def test_packages_from_outside_are_known() -> None:
    import sys

    found = {name.partition(".")[0] for path in FILES for _, name in imports(path)}
    assert found - set(sys.stdlib_module_names) - {"tirscript", "__future__"} <= set(OUTSIDE)


def test_llvmlite_and_cupy_are_imported_on_use() -> None:
    """Outside the LLVM code generator, imports of the heavy packages stand inside functions."""
    for path in FILES:
        if "codegen/llvm" in path.as_posix():
            continue
        for n in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(n, (ast.Import, ast.ImportFrom)):
                names = [a.name for a in n.names] if isinstance(n, ast.Import) else [n.module or ""]
                tops = {name.partition(".")[0] for name in names}
                assert not tops & {"cupy", "cupyx", "IPython", "hypothesis", "matplotlib", "tqdm"}, path
                assert "llvmlite" not in tops or "runtime" in path.parts, path


def test_the_table_has_no_circle() -> None:
    done: set[str] = set()
    rest = {room: {o for o in others if o != room} for room, others in ALLOWED.items()}
    rest["script"].discard("script.printer")
    while rest:
        ready = [room for room, others in rest.items() if others <= done]
        assert ready, f"a circle among {sorted(rest)}"
        done.update(ready)
        for room in ready:
            del rest[room]
