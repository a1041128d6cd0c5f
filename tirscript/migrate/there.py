"""Whether tirscript has a name of TVM: asked of the package itself."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any


@cache
def is_there(path: str) -> str:
    """Why ``path`` (from ``tvm`` on) cannot be used in tirscript; empty where it can.

    >>> is_there("tvm.tir.Schedule"), is_there("tvm.tir.Shedule")
    ('', 'tirscript has no tir.Shedule')
    """
    value: Any = importlib.import_module("tirscript")
    names = path.split(".")[1:]
    for n, name in enumerate(names):
        try:
            value = getattr(value, name)
        except (AttributeError, NotImplementedError) as error:
            if isinstance(value, ModuleType):
                try:
                    value = importlib.import_module(f"{value.__name__}.{name}")
                    continue
                except (ImportError, NotImplementedError):
                    pass
            shown = ".".join(names[: n + 1])
            if isinstance(error, NotImplementedError):
                return f"tirscript does not have {shown} yet"
            # What is looked up on an object (an array, a class) is its own business.
            return f"tirscript has no {shown}" if isinstance(value, (ModuleType, type)) else ""
        if type(value).__name__ in ("NotYet", "NotYetModule"):
            return f"tirscript does not have {'.'.join(names[: n + 1])} yet"
    return ""
