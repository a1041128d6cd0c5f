# Written by `python -m tirscript.testing.stubs`: do not edit.
"""``I``: modules of functions."""
from typing import Any as _Any

def dummy_global_info() -> _Any:
    """An info that says nothing."""
    ...
def index_map(mapping: _Any, *, inverse_index_map: _Any = None, index_dtype: str = 'int64') -> _Any:
    """A map of indices, made of a function: ``I.index_map(lambda i, j: (i // 4, j, i % 4))``."""
    ...
def ir_module(cls: type | None = None, /, *, check_well_formed: bool = True, s_tir: bool = False) -> _Any:
    """Decorator: the class, read as script, becomes an ``IRModule``.

    >>> from tirscript.script import ir as I, tir as T
    >>> I.ir_module.__name__
    'ir_module'
    """
    ...
def module_attrs(attrs: dict[str, _Any], allow_overwrite: bool = False) -> None:
    """Attributes of the module: ``I.module_attrs({"version": 1})`` inside the class."""
    ...
def module_global_infos(infos: dict[str, _Any]) -> None:
    """Global infos of the module, inside the class."""
    ...
def vdevice(target: _Any = None, vdevice_id: int = 0, memory_scope: str = 'global') -> _Any:
    """A virtual device."""
    ...
