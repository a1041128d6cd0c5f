"""tirscript: a tensor-program compiler in pure Python.

Public names are loaded on first use, so ``import tirscript`` costs next to nothing.  Programs written
for TVM need ``import tirscript as tvm``.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from typing import Any

from . import excepthook

__version__ = "0.1.0"

# Where each public name lives.
_NAMES = {
    "tirscript.driver": ("build", "compile", "lower"),
    "tirscript.schedule": ("Schedule", "TensorIntrin", "Trace"),
    "tirscript.script": ("parse", "from_source"),
    "tirscript.target": ("Target",),
    "tirscript.ir": (
        "IRModule", "PrimFunc", "assert_structural_equal", "structural_equal", "structural_hash",
    ),
    "tirscript.runtime": (
        "Module", "cpu", "cuda", "device", "get_global_func", "register_func", "register_global_func",
        "set_num_threads",
    ),
    "tirscript.diagnostics": (
        "AssertFailed", "AxisWarning", "BindError", "BoundsWarning", "CallError", "CallTypeError",
        "CallValueError", "CheckFailed", "CodegenError", "LowerError", "NotYetError", "ParseError",
        "PerformanceWarning", "PrecisionLossWarning", "ScheduleError", "ScheduleTypeError",
        "ScheduleValueError", "TargetError", "TirscriptError", "TirscriptWarning", "WellFormedError",
    ),
}  # fmt: skip
_MODULES = (
    "analysis", "arith", "contrib", "diagnostics", "display", "driver", "error", "ir", "lowering", "nd",
    "runtime", "schedule", "s_tir", "script", "target", "te", "tensor_intrin", "testing", "tir",
    "tirx", "topi", "transform",
)  # fmt: skip
# Second names: TVM's spelling of what has another name here.
_ALIASES = {
    "TVMError": "tirscript.diagnostics:TirscriptError",
    "DiagnosticError": "tirscript.diagnostics:ParseError",
    "instrument": "tirscript:transform",
    "sym": "tirscript:arith",
    "device_from_target": "tirscript.runtime.devices:device",
    "DataType": "tirscript.ir.types:DataType",
    "convert": "tirscript.tir.helpers:convert",
}
_NOT_YET_MODULES = (
    "autotvm", "auto_scheduler", "dlight", "meta_schedule",
    "micro", "relax", "relay", "rpc", "support",
)  # fmt: skip
_NOT_YET_NAMES = (
    "DataTypeCode", "GenericFunc", "Object", "ext_dev", "hexagon", "metal", "opencl", "register_extension",
    "register_object", "rocm", "vpi", "vulkan", "webgpu",
)  # fmt: skip

# Modules of TVM that are others here, found on import.
_SECOND_MODULES = {
    "tirscript.ir.transform": "tirscript.transform",
    "tirscript.ir.instrument": "tirscript.transform",
    "tirscript.instrument": "tirscript.transform",
    "tirscript.sym": "tirscript.arith",
    "tirscript.script.ir_builder.tirx": "tirscript.script.ir_builder.tir",
}

_WHERE = {name: f"{module}:{name}" for module, names in _NAMES.items() for name in names} | _ALIASES
__all__ = sorted({*_WHERE, *_MODULES, *_NOT_YET_NAMES} | {m for m in _NOT_YET_MODULES if "." not in m})


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is not None:
        module, _, attribute = where.partition(":")
        value = getattr(importlib.import_module(module), attribute)
    elif name in _MODULES or name in _NOT_YET_MODULES:
        value = importlib.import_module(f"tirscript.{name}")
    elif name in _NOT_YET_NAMES:
        from tirscript.notyet import NotYet

        value = NotYet(f"tirscript.{name}")
    else:
        raise AttributeError(_unknown(name))
    globals()[name] = value
    return value


def _unknown(name: str) -> str:
    message = f"module 'tirscript' has no attribute {name!r}"
    if name.startswith("__"):
        return message
    from tirscript.diagnostics import did_you_mean

    hint = did_you_mean(name, __all__)
    return f"{message}; {hint}" if hint else message


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Finder:
    """Finds ``import tirscript.relax`` and its like: asked last, so a room that exists comes first."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname in _SECOND_MODULES:
            return ModuleSpec(fullname, _SecondLoader())  # type: ignore[arg-type]
        package, _, name = fullname.partition(".")
        if package != __name__ or name.partition(".")[0] not in _NOT_YET_MODULES:
            return None
        return ModuleSpec(fullname, _NotYetLoader(), is_package=True)  # type: ignore[arg-type]


class _NotYetLoader:
    @staticmethod
    def create_module(spec: ModuleSpec) -> Any:
        from tirscript.notyet import NotYetModule

        return NotYetModule(spec.name)

    @staticmethod
    def exec_module(module: Any) -> None:
        pass


class _SecondLoader:
    """The module that has another name; the import system sees that one under this name."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> Any:
        return None

    @staticmethod
    def exec_module(module: Any) -> None:
        sys.modules[module.__name__] = importlib.import_module(_SECOND_MODULES[module.__name__])


sys.meta_path.append(_Finder)
excepthook.install()
