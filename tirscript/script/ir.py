"""``I``: modules of functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError

__all__ = ["dummy_global_info", "index_map", "ir_module", "module_attrs", "module_global_infos", "vdevice"]


def ir_module(cls: type | None = None, /, *, check_well_formed: bool = True, s_tir: bool = False) -> Any:
    """Decorator: the class, read as script, becomes an ``IRModule``.

    >>> from tirscript.script import ir as I, tir as T
    >>> I.ir_module.__name__
    'ir_module'
    """
    from tirscript.script.parser import entry

    frame = sys._getframe(1)

    def decorate(c: Any) -> Any:
        result = entry.decorated_class(c, frame, check_well_formed, s_tir)
        if isinstance(result, TirscriptError):
            raise result from None
        return result

    if cls is None:
        return decorate
    result = entry.decorated_class(cls, frame, check_well_formed, s_tir)
    if isinstance(result, TirscriptError):
        raise result from None
    return result


def module_attrs(attrs: dict[str, Any], allow_overwrite: bool = False) -> None:
    """Attributes of the module: ``I.module_attrs({"version": 1})`` inside the class."""


def module_global_infos(infos: dict[str, Any]) -> None:
    """Global infos of the module, inside the class."""


def index_map(mapping: Any, *, inverse_index_map: Any = None, index_dtype: str = "int64") -> Any:
    """A map of indices, made of a function: ``I.index_map(lambda i, j: (i // 4, j, i % 4))``."""
    from tirscript.ir.index_map import IndexMap

    if isinstance(mapping, IndexMap):
        return mapping
    return IndexMap.from_func(mapping, None, inverse_index_map, index_dtype=index_dtype)


class GlobalInfo:
    """A global info of a module, printed as the call that makes it."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.name = name
        self.arguments = arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalInfo) and (self.name, self.arguments) == (other.name, other.arguments)

    def __hash__(self) -> int:
        return hash(self.name)

    def _script_(self, text: Callable[[Any], str]) -> str:
        return f"I.{self.name}({', '.join([text(a) for a in self.arguments])})"


def dummy_global_info() -> GlobalInfo:
    """An info that says nothing."""
    return GlobalInfo("dummy_global_info")


def vdevice(target: Any = None, vdevice_id: int = 0, memory_scope: str = "global") -> GlobalInfo:
    """A virtual device."""
    return GlobalInfo("vdevice", (target, vdevice_id, memory_scope))
