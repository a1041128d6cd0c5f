# Written by `python -m tirscript.testing.stubs`: do not edit.
"""TVM's ``tir.schedule``: the handles, the trace and its instructions."""
from tirscript.diagnostics import ScheduleError as ScheduleError
from tirscript.schedule import testing as testing
from tirscript.schedule.record.trace import Instruction as Instruction
from tirscript.schedule.record.trace import InstructionKind as InstructionKind
from tirscript.schedule.record.trace import Trace as Trace
from tirscript.schedule.refs import BlockRV as BlockRV
from tirscript.schedule.refs import BlockRV as SBlockRV
from tirscript.schedule.refs import ExprRV as ExprRV
from tirscript.schedule.refs import LoopRV as LoopRV
from tirscript.schedule.refs import StmtSRef as StmtSRef
from tirscript.schedule.schedule import Schedule as Schedule
from tirscript.schedule.state import ScheduleState as ScheduleState

