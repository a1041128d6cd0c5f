# Written by `python -m tirscript.testing.stubs`: do not edit.
"""tirscript: a tensor-program compiler in pure Python.

Public names are loaded on first use, so ``import tirscript`` costs next to nothing.  Programs written
for TVM need ``import tirscript as tvm``.
"""
from tirscript.notyet import NotYet as _NotYet
from tirscript.notyet import NotYetModule as _NotYetModule
from tirscript.diagnostics import AssertFailed as AssertFailed
from tirscript.diagnostics import AxisWarning as AxisWarning
from tirscript.diagnostics import BindError as BindError
from tirscript.diagnostics import BoundsWarning as BoundsWarning
from tirscript.diagnostics import CallError as CallError
from tirscript.diagnostics import CallTypeError as CallTypeError
from tirscript.diagnostics import CallValueError as CallValueError
from tirscript.diagnostics import CheckFailed as CheckFailed
from tirscript.diagnostics import CodegenError as CodegenError
from tirscript.ir.types import DataType as DataType
from tirscript.ir import IRModule as IRModule
from tirscript.diagnostics import LowerError as LowerError
from tirscript.runtime import Module as Module
from tirscript.diagnostics import NotYetError as NotYetError
from tirscript.diagnostics import ParseError as ParseError
from tirscript.diagnostics import PerformanceWarning as PerformanceWarning
from tirscript.diagnostics import PrecisionLossWarning as PrecisionLossWarning
from tirscript.ir import PrimFunc as PrimFunc
from tirscript.schedule import Schedule as Schedule
from tirscript.diagnostics import ScheduleError as ScheduleError
from tirscript.diagnostics import ScheduleTypeError as ScheduleTypeError
from tirscript.diagnostics import ScheduleValueError as ScheduleValueError
from tirscript.target import Target as Target
from tirscript.diagnostics import TargetError as TargetError
from tirscript.schedule import TensorIntrin as TensorIntrin
from tirscript.diagnostics import TirscriptError as TirscriptError
from tirscript.diagnostics import TirscriptWarning as TirscriptWarning
from tirscript.schedule import Trace as Trace
from tirscript.diagnostics import WellFormedError as WellFormedError
from tirscript import analysis as analysis
from tirscript import arith as arith
from tirscript.ir import assert_structural_equal as assert_structural_equal
from tirscript.driver import build as build
from tirscript.driver import compile as compile
from tirscript import contrib as contrib
from tirscript.tir.helpers import convert as convert
from tirscript.runtime import cpu as cpu
from tirscript.runtime import cuda as cuda
from tirscript.runtime import device as device
from tirscript import diagnostics as diagnostics
from tirscript import display as display
from tirscript import driver as driver
from tirscript import error as error
from tirscript.script import from_source as from_source
from tirscript.runtime import get_global_func as get_global_func
from tirscript import ir as ir
from tirscript.driver import lower as lower
from tirscript import lowering as lowering
from tirscript import nd as nd
from tirscript.script import parse as parse
from tirscript.runtime import register_func as register_func
from tirscript.runtime import register_global_func as register_global_func
from tirscript import runtime as runtime
from tirscript import schedule as schedule
from tirscript import script as script
from tirscript.runtime import set_num_threads as set_num_threads
from tirscript.ir import structural_equal as structural_equal
from tirscript.ir import structural_hash as structural_hash
from tirscript import target as target
from tirscript import te as te
from tirscript import tensor_intrin as tensor_intrin
from tirscript import testing as testing
from tirscript import tir as tir
from tirscript import topi as topi
from tirscript import transform as transform

__version__: str
DataTypeCode: _NotYet
DiagnosticError = ParseError
GenericFunc: _NotYet
Object: _NotYet
TVMError = TirscriptError
auto_scheduler: _NotYetModule
autotvm: _NotYetModule
device_from_target = device
dlight: _NotYetModule
ext_dev: _NotYet
hexagon: _NotYet
instrument = transform
meta_schedule: _NotYetModule
metal: _NotYet
micro: _NotYetModule
opencl: _NotYet
register_extension: _NotYet
register_object: _NotYet
relax: _NotYetModule
relay: _NotYetModule
rocm: _NotYet
rpc: _NotYetModule
s_tir = tir
support: _NotYetModule
sym = arith
tirx = tir
vpi: _NotYet
vulkan: _NotYet
webgpu: _NotYet
