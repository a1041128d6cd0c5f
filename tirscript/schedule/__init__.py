"""Schedules: programs rewritten step by step by primitives that preserve their meaning, or refuse.

>>> from tirscript.schedule import Schedule
"""

from tirscript.analysis.combiner import register_reducer
from tirscript.diagnostics import ScheduleError, ScheduleTypeError, ScheduleValueError

from .record.trace import Instruction, InstructionKind, Trace
from .refs import BlockRV, ExprRV, LoopRV, StmtSRef
from .schedule import Schedule
from .state import ScheduleState
from .tensor_intrin import TensorIntrin

SBlockRV = BlockRV

__all__ = [
    "BlockRV", "ExprRV", "Instruction", "InstructionKind", "LoopRV", "SBlockRV", "Schedule", "ScheduleError",
    "ScheduleState", "ScheduleTypeError", "ScheduleValueError", "StmtSRef", "TensorIntrin", "Trace",
    "register_reducer", "testing",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "testing":
        import importlib

        return importlib.import_module("tirscript.schedule.testing")
    raise AttributeError(f"module 'tirscript.schedule' has no attribute {name!r}")
