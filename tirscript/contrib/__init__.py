"""TVM's ``contrib``: what serves tensor programs from outside."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("clang", "utils")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__


__all__ = list(_MODULES)
_NOT_YET = frozenset((
    "cblas", "cc", "coreml_runtime", "cublas", "cublaslt", "cudnn", "cutlass", "debugger", "dlpack", "dnnl",
    "download", "emcc", "ethosu", "graph_executor", "hexagon", "hipblas", "libtorch", "miopen", "mkl", "mrvl",
    "mxnet", "ndk", "nnpack", "nvcc", "peak", "pickle_memoize", "pipeline_executor", "popen_pool", "random",
    "relay_viz", "rocblas", "rocm", "rpc", "sdaccel", "sparse", "spirv", "tar", "tedd", "tflite_runtime",
    "thrust", "torch", "tvmjs", "xcode",
))  # fmt: skip
