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
}
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'tirscript.nd' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module("tirscript.runtime"), _NAMES[name])
    return value


def __dir__() -> list[str]:
    return __all__
