"""``I`` for ``IRBuilder``: modules of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.ir.expr import GlobalVar
from tirscript.ir.function import PrimFunc
from tirscript.script.ir import dummy_global_info, vdevice

from .base import IRBuilder, IRBuilderError
from .frames import ModuleFrame

__all__ = [
    "decl_function", "def_function", "dummy_global_info", "ir_module", "module_attrs", "module_get_attr",
    "module_global_infos", "module_set_attr", "vdevice",
]  # fmt: skip


def ir_module(**_: Any) -> ModuleFrame:
    """``with I.ir_module():`` a module of the functions inside."""
    return ModuleFrame()


def _module(what: str) -> ModuleFrame:
    return IRBuilder.current().find(ModuleFrame, what)


def decl_function(func_name: str, func_signature: Any = None) -> GlobalVar:
    """The name of a function that is defined later, for calls of it."""
    frame = _module("I.decl_function")
    if func_name in frame.declared:
        raise IRBuilderError(f"the function `{func_name}` is declared already")
    made = frame.declared[func_name] = GlobalVar(func_name)
    return made


def def_function(func_name: str, func: PrimFunc) -> None:
    """A function of the module."""
    if not isinstance(func, PrimFunc):
        raise IRBuilderError(f"a module holds PrimFuncs, not {type(func).__name__}")
    _module("I.def_function").define(func_name, func)


def module_attrs(attrs: Mapping[str, Any], allow_overwrite: bool = False) -> None:
    """Attributes of the module."""
    for key, value in attrs.items():
        module_set_attr(key, value, allow_overwrite)


def module_get_attr(attr_key: str) -> Any:
    """An attribute of the module, or None."""
    return _module("I.module_get_attr").module.attrs.get(attr_key)


def module_set_attr(attr_key: str, attr_value: Any, allow_overwrite: bool = False) -> None:
    """An attribute of the module."""
    attrs = _module("I.module_set_attr").module.attrs
    if attr_key in attrs and not allow_overwrite:
        raise IRBuilderError(
            f"the module has the attribute {attr_key!r} already", hint="allow_overwrite=True"
        )
    attrs[attr_key] = attr_value


def module_global_infos(global_infos: Mapping[str, list[Any]]) -> None:
    """Global infos of the module."""
    _module("I.module_global_infos").module.attrs["global_infos"] = dict(global_infos)


def __getattr__(name: str) -> Any:
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, frozenset(("lookup_name", "lookup_vdevice", "meta_var")))


def __dir__() -> list[str]:
    return __all__
