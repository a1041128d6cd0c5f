"""What compiled programs need while they run: arrays, devices, threads, calls, modules, timing.

Nothing of the IR is known here.
"""

from __future__ import annotations

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
    "empty", "from_dlpack", "get_global_func", "load_llvm", "load_python", "make_callable", "num_threads",
    "register_func", "register_global_func", "set_num_threads", "tensor",
]  # fmt: skip
