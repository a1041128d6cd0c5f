"""TVM's ``transform``: passes, sequences of them, and the context that they run in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tirscript.ir.module import IRModule
from tirscript.lowering.context import PassContext, PassContextError
from tirscript.lowering.passes import (
    ModulePass,
    Pass,
    PassInfo,
    PrimFuncPass,
    Sequential,
    module_pass,
    prim_func_pass,
)
from tirscript.notyet import absent

__all__ = [
    "DumpIR", "ModulePass", "Pass", "PassContext", "PassContextError", "PassInfo", "PassInstrument",
    "PassPrintingInstrument", "PassTimingInstrument", "PrimFuncPass", "PrintAfterAll", "PrintBeforeAll",
    "PrintIR", "Sequential", "module_pass", "pass_instrument", "prim_func_pass",
]  # fmt: skip
_NOT_YET = frozenset(("ApplyPassToFunction", "FunctionPass", "RenderTimePassProfiles", "convert_pass"))


def PrintIR(header: str = "", show_meta_data: bool = False) -> Pass:
    """A pass that prints the module and gives it on.

    >>> PrintIR("now").info.name
    'PrintIR'
    """

    def show(mod: IRModule, cx: PassContext) -> IRModule:
        print(f"# PrintIR({header})\n{mod.script(show_meta=show_meta_data)}\n")
        return mod

    return ModulePass(show, PassInfo(0, "PrintIR"))


# ---- instruments


class PassInstrument:
    """The base of instruments: what is told before and after each pass.  Override what you want."""

    def enter_pass_ctx(self) -> None:
        """The ``with PassContext(...)`` begins."""

    def exit_pass_ctx(self) -> None:
        """It ends."""

    def should_run(self, mod: IRModule, info: PassInfo) -> bool:
        """Whether the pass may run."""
        return True

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        """The pass begins with this module."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        """The pass ends with this module."""


def pass_instrument(pi_cls: Any = None) -> Any:
    """Decorator: a class with some of ``PassInstrument``'s methods becomes an instrument."""

    def decorate(cls: type) -> type:
        return type(
            cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, "__module__": cls.__module__}
        )

    return decorate if pi_cls is None else decorate(pi_cls)


class PrintBeforeAll(PassInstrument):
    """Prints the module before each pass."""

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"# Before running pass: {info.name}\n{mod.script()}\n")


class PrintAfterAll(PassInstrument):
    """Prints the module after each pass."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"# After running pass: {info.name}\n{mod.script()}\n")


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after the passes that are named."""

    def __init__(self, print_before_pass_names: Sequence[str], print_after_pass_names: Sequence[str]) -> None:
        self.before = list(print_before_pass_names)
        self.after = list(print_after_pass_names)

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in self.before:
            print(f"# Before running pass: {info.name}\n{mod.script()}\n")

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in self.after:
            print(f"# After running pass: {info.name}\n{mod.script()}\n")


class PassTimingInstrument(PassInstrument):
    """How long each pass takes: ``render()`` inside the ``with``."""

    def __init__(self) -> None:
        self.times: list[tuple[int, str, float]] = []
        self._open: list[tuple[int, float]] = []

    def enter_pass_ctx(self) -> None:
        self.times, self._open = [], []

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        self._open.append((len(self.times), time.perf_counter()))
        self.times.append((len(self._open) - 1, info.name, 0.0))

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        at, begin = self._open.pop()
        depth, name, _ = self.times[at]
        self.times[at] = (depth, name, time.perf_counter() - begin)

    def render(self) -> str:
        """A line for each pass that has run, nested ones indented."""
        return "\n".join([f"{'  ' * depth}{name}: {t * 1e6:.0f}us" for depth, name, t in self.times])


class DumpIR(PassInstrument):
    """Writes the module after each pass to a file of its own in a directory."""

    def __init__(self, dump_dir: Path | str, refresh: bool = False) -> None:
        self.dump_dir = Path(dump_dir)
        self.dump_dir.mkdir(parents=True, exist_ok=True)
        if refresh:
            for old in self.dump_dir.glob("[0-9][0-9][0-9]_*.py"):
                old.unlink()
        self.counter = 0

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        name = f"{self.counter:03d}_{info.name.rpartition('.')[2]}.py"
        (self.dump_dir / name).write_text(mod.script() + "\n", encoding="utf-8")
        self.counter += 1


def __getattr__(name: str) -> Any:
    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
