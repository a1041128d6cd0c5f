"""TVM's ``tir.schedule``: the handles, the trace and its instructions."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "BlockRV", "ExprRV", "Instruction", "InstructionKind", "LoopRV", "Schedule", "ScheduleError",
    "ScheduleState", "StmtSRef", "Trace", "testing",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tirscript.tir.schedule' has no attribute {name!r}")
    value: Any = getattr(importlib.import_module("tirscript.schedule"), name, None)
    if value is None:
        from tirscript.notyet import NotYet

        value = NotYet(f"tir.schedule.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
