"""TVM's ``tir.tensor_intrin``: the modules of shipped intrinsics, under every name of ``tir``."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_MODULES = ("arm_cpu", "cuda", "dot_product_common", "x86")

# `from tirscript.tir.tensor_intrin.cuda import ...`: the submodules are those of the room.
__path__: list[str] = []
for _name in _MODULES:
    for _tir in ("tir", "s_tir", "tirx"):
        sys.modules[f"tirscript.{_tir}.tensor_intrin.{_name}"] = importlib.import_module(
            f"tirscript.tensor_intrin.{_name}"
        )


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tirscript.tensor_intrin.{name}")
    if name == "TensorIntrin":
        return importlib.import_module("tirscript.schedule").TensorIntrin
    from tirscript.notyet import missing

    raise missing("tir.tensor_intrin", name)


def __dir__() -> list[str]:
    return ["TensorIntrin", *_MODULES]
