"""TVM's ``contrib``: what serves tensor programs from outside."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("clang", "utils")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    from tirscript.notyet import missing

    raise missing("contrib", name)


__all__ = list(_MODULES)
