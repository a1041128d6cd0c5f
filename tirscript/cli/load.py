"""The program that a command's argument names: FILE, FILE:NAME, or `-` for text on standard input."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

from tirscript.diagnostics import TirscriptError, did_you_mean
from tirscript.ir import IRModule, PrimFunc
from tirscript.schedule import Schedule

from . import UsageError

Program = PrimFunc | IRModule
Loaded = PrimFunc | IRModule | Schedule


class ProgramFailed(TirscriptError):
    """The file that holds the program raised an error of its own."""

    default_code = "import-failed"


def load(argument: str) -> list[tuple[str, Program]]:
    """Name and program for each that ``argument`` names; at least one.  A schedule is its program now."""
    return [(name, as_program(value)) for name, value in load_all(argument, schedules=False)]


def load_all(argument: str, *, schedules: bool = True) -> list[tuple[str, Loaded]]:
    """As ``load``, with the schedules of the file where they are asked for or named."""
    if argument == "-":
        from tirscript.script import from_source

        program = from_source(sys.stdin.read(), filename="<stdin>")
        return [(program.name if isinstance(program, PrimFunc) else "Module", program)]
    path, name = _split(argument)
    module = _import(path)
    found: dict[str, Loaded] = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, (PrimFunc, IRModule, Schedule)) and not key.startswith("__")
    }
    if name is not None:
        return [(name, _pick(found, name, path))]
    if not schedules:
        found = {k: v for k, v in found.items() if not isinstance(v, Schedule)}
    if not found:
        raise UsageError(f"{path} defines no T.prim_func and no I.ir_module")
    # One program under two names is one program.
    return list({id(value): (key, value) for key, value in reversed(found.items())}.values())[::-1]


def as_program(value: Loaded) -> Program:
    return value.mod if isinstance(value, Schedule) else value


def load_one(argument: str) -> tuple[str, Program]:
    """The one program that ``argument`` names."""
    programs = load(argument)
    if len(programs) > 1:
        names = ", ".join([name for name, _ in programs])
        raise UsageError(
            f"{argument} holds several programs: say {argument}:NAME, where NAME is one of {names}"
        )
    return programs[0]


def as_module(program: Program) -> IRModule:
    return program if isinstance(program, IRModule) else IRModule.from_expr(program)


def _split(argument: str) -> tuple[Path, str | None]:
    path = Path(argument)
    name = None
    if not path.is_file() and ":" in argument:
        file, _, name = argument.rpartition(":")
        path = Path(file)
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    return path, name


def _import(path: Path) -> Any:
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "tirscript_program"
    spec = importlib.util.spec_from_loader(name, None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(module))
    except TirscriptError:
        raise
    except SystemExit as error:
        raise ProgramFailed(
            f"{path} ended the process (sys.exit({error.code!r})) while it was imported"
        ) from None
    except Exception as error:
        raise ProgramFailed(_explain(error, path)) from None
    return module


def _explain(error: Exception, path: Path) -> str:
    """The traceback of the user's file alone."""
    kept = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    lines = traceback.format_list(kept) + traceback.format_exception_only(error)
    return f"{path} could not be imported\n{''.join(lines)}".rstrip()


def _pick(found: dict[str, Loaded], name: str, path: Path) -> Loaded:
    first, _, rest = name.partition(".")
    program = found.get(first)
    if program is None:
        known = ", ".join(found) or "none"
        hint = did_you_mean(first, found)
        raise UsageError(f"{path} has no program `{first}`; it has {known}" + (f"; {hint}" if hint else ""))
    if not rest:
        return program
    if isinstance(program, Schedule):
        program = program.mod
    if isinstance(program, PrimFunc) or rest not in program:
        names = program.names() if isinstance(program, IRModule) else []
        hint = did_you_mean(rest, names)
        raise UsageError(
            f"`{first}` has no function `{rest}`; it has {', '.join(names) or 'none'}"
            + (f"; {hint}" if hint else "")
        )
    return program[rest]
