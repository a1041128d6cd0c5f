"""What compiled programs need while they run: arrays, devices, threads, calls, modules, timing.

Nothing of the IR is known here.
"""

from __future__ import annotations

from typing import Any as _Any

from .call import Function, make_callable
from .devices import Device, cpu, cuda, device
from .module import Module, load_llvm, load_python
from .ndarray import NDArray, Tensor, empty, from_dlpack, tensor
from .pool import num_threads, set_num_threads
from .registry import get_global_func, register_func, register_global_func
from .signature import Signature
from .timing import Timing

__all__ = [
    "Device", "Function", "Module", "NDArray", "Signature", "Tensor", "Timing", "cpu", "cuda", "device",
    "empty", "enabled", "from_dlpack", "get_global_func", "load_llvm", "load_python", "make_callable",
    "num_threads", "register_func", "register_global_func", "set_num_threads", "tensor",
]  # fmt: skip
# TVM has these beside the arrays; here they are of the IR, found when they are asked for.
_OF_THE_IR = {
    "DataType": "tirscript.ir.types:DataType",
    "const": "tirscript.ir.ops:const",
    "convert": "tirscript.tir.helpers:convert",
    "device_from_target": "tirscript.runtime.devices:device",
}
_NOT_YET = frozenset((
    "DataTypeCode", "Executable", "GraphModule", "Map", "Object", "ObjectConvertible", "ObjectGeneric",
    "PackedFunc", "Report", "Scriptable", "ShapeTuple", "String", "disco", "executable", "ext_dev", "hexagon",
    "load_json", "load_module", "load_param_dict", "load_param_dict_from_file", "load_static_library",
    "metal", "object_generic", "opencl", "params", "profiling", "rocm", "save_json", "save_param_dict",
    "save_param_dict_to_file", "script_printer", "system_lib", "vm", "vpi", "vulkan", "webgpu",
))  # fmt: skip


def enabled(target: str) -> bool:
    """Whether the runtime runs programs for the target.

    >>> enabled("llvm"), enabled("hexagon")
    (True, False)

    Source: TVM's ``runtime.enabled``.
    """
    kind = str(getattr(target, "kind", target)).split()[0]
    return kind in ("llvm", "python", "cpu")


def __getattr__(name: str) -> _Any:
    where = _OF_THE_IR.get(name)
    if where is not None:
        import importlib

        module, _, attribute = where.partition(":")
        value = globals()[name] = getattr(importlib.import_module(module), attribute)
        return value
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return [*__all__, *_OF_THE_IR]
