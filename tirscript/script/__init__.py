"""The script language: Python text to IR (``parser``) and back (``printer``)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tirscript.notyet import NotYetModule

from . import ir, tir
from .ir import ir_module

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tirscript.ir.function import PrimFunc
    from tirscript.ir.module import IRModule

# A second name of the same module object: TVM 0.27 writes `from tvm.script import tirx as T`.
tirx = tir
sys.modules[f"{__name__}.tirx"] = tir
relax = NotYetModule(f"{__name__}.relax")
sys.modules[relax.__name__] = relax

__all__ = ["from_source", "ir", "ir_builder", "ir_module", "parse", "relax", "tir", "tirx"]
_NOT_YET = frozenset(("register_dialect",))


def parse(
    program: Any, extra_vars: Mapping[str, Any] | None = None, *, check_well_formed: bool = True,
    s_tir: bool = False, filename: str | None = None,
) -> PrimFunc | IRModule:  # fmt: skip
    """The function or module of a text: one ``def`` gives a PrimFunc, a ``class`` or several an IRModule.

    ``extra_vars`` holds the Python values that the text may use; nothing else is evaluated.  ``T``, ``I``,
    ``R``, ``tvm`` and ``tirscript`` are known; import lines of these are allowed.

    >>> f = parse('''
    ... @T.prim_func
    ... def f(A: T.Buffer((n,), "int32")):
    ...     for i in range(n):
    ...         A[i] = i
    ... ''', {"n": 4})
    >>> f.name
    'f'
    """
    from .parser import entry

    return entry.parse(
        program, extra_vars, check_well_formed=check_well_formed, s_tir=s_tir, filename=filename
    )


from_source = parse


def __getattr__(name: str) -> Any:
    if name == "ir_builder":
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
