"""TVM's ``nd``: arrays on devices."""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "array": "tensor",
    "empty": "empty",
    "NDArray": "NDArray",
    "from_dlpack": "from_dlpack",
    "cpu": "cpu",
    "cuda": "cuda",
    "device": "device",
    "tensor": "tensor",
    "Tensor": "Tensor",
}
_NOT_YET = frozenset((
    "Device", "ext_dev", "hexagon", "metal", "numpyasarray", "opencl", "rocm", "vpi", "vulkan", "webgpu",
))  # fmt: skip
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        from tirscript.notyet import absent

        return absent(__name__, name, __all__, _NOT_YET)
    value = globals()[name] = getattr(importlib.import_module("tirscript.runtime"), _NAMES[name])
    return value


def __dir__() -> list[str]:
    return __all__
