"""TVM's ``tir.schedule``: the handles, the trace and its instructions."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tirscript.notyet import absent

__all__ = [
    "BlockRV", "ExprRV", "Instruction", "InstructionKind", "LoopRV", "SBlockRV", "Schedule", "ScheduleError",
    "ScheduleState", "StmtSRef", "Trace", "testing",
]  # fmt: skip
# TVM's modules below this one: what they hold is here.
_PARTS = ("block_scope", "instruction", "schedule", "state", "trace")
_NOT_YET = frozenset((
    "BlockScope", "DepKind", "Dependency", "SBlockScope", "ScheduleDebugMask", "analysis", "transform",
    "block_dependence_info",
))  # fmt: skip


def enter_as(name: str) -> None:
    """Make the modules below this one importable below ``name``."""
    sys.modules[f"{name}.testing"] = importlib.import_module("tirscript.schedule.testing")
    for part in _PARTS:
        sys.modules[f"{name}.{part}"] = sys.modules[__name__]


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[__name__]
    if name in __all__:
        value = globals()[name] = getattr(importlib.import_module("tirscript.schedule"), name)
        return value
    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__


for _name in ("tir", "tirx", "s_tir"):
    enter_as(f"tirscript.{_name}.schedule")
