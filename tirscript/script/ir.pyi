# Written by `python -m tirscript.testing.stubs`: do not edit.
"""``I``: modules of functions."""
from typing import Any as _Any

def ir_module(cls: type | None = None, /, *, check_well_formed: bool = True, s_tir: bool = False) -> _Any:
    """Decorator: the class, read as script, becomes an ``IRModule``."""
    ...
def module_attrs(attrs: dict[str, _Any]) -> None:
    """Attributes of the module, inside the class."""
    ...
def module_global_infos(infos: dict[str, _Any]) -> None:
    """Global infos of the module, inside the class."""
    ...
