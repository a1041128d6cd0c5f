"""``I``: modules of functions."""

from __future__ import annotations

import sys
from typing import Any


def ir_module(cls: type | None = None, /, *, check_well_formed: bool = True, s_tir: bool = False) -> Any:
    """Decorator: the class, read as script, becomes an ``IRModule``."""
    from tirscript.script.parser import entry

    frame = sys._getframe(1)
    if cls is not None:
        return entry.decorated_class(cls, frame, check_well_formed, s_tir)
    return lambda c: entry.decorated_class(c, frame, check_well_formed, s_tir)


def module_attrs(attrs: dict[str, Any]) -> None:
    """Attributes of the module, inside the class."""


def module_global_infos(infos: dict[str, Any]) -> None:
    """Global infos of the module, inside the class."""
