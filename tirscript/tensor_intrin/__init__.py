"""The tensor intrinsics that come with tirscript, by TVM's names where it has them.

``TensorIntrin.get`` finds them; their functions are made when they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("x86", "arm_cpu", "dot_product_common", "cuda")
_done = False


def register_all() -> None:
    """Enter the names of all intrinsics, once."""
    global _done
    if not _done:
        _done = True
        for name in _MODULES:
            importlib.import_module(f"{__name__}.{name}").register()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["arm_cpu", "cuda", "dot_product_common", "register_all", "x86"]
