"""TVM's ``tir.tensor_intrin``: the intrinsics of ``tirscript.tensor_intrin``, by processor."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("arm_cpu", "cuda", "dot_product_common", "x86")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"tirscript.tensor_intrin.{name}")
        globals()[name] = value
        return value
    from tirscript.notyet import missing

    raise missing("tir.tensor_intrin", name)


def __dir__() -> list[str]:
    return list(_MODULES)
