"""Programs made by Python code: ``with IRBuilder() as ib: with T.prim_func(): ...``, then ``ib.get()``.

The functions of ``ir_builder.tir`` have the names and arguments of those of a script.

>>> from tirscript.script.ir_builder import IRBuilder, tir as T
>>> with IRBuilder() as ib:
...     with T.prim_func():
...         T.func_name("fill")
...         A = T.arg("A", T.Buffer((8,), "float32"))
...         with T.serial(8) as i:
...             T.buffer_store(A, T.float32(1), [IRBuilder.name("i", i)])
>>> print(ib.get())
# from tirscript.script import tir as T
<BLANKLINE>
@T.prim_func
def fill(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.float32(1)
"""

from __future__ import annotations

import importlib
from typing import Any

from .base import IRBuilder, IRBuilderError, IRBuilderFrame

__all__ = ["IRBuilder", "IRBuilderError", "IRBuilderFrame", "ir", "tir", "tirx"]


def __getattr__(name: str) -> Any:
    if name in ("ir", "tir"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "tirx":
        return importlib.import_module(f"{__name__}.tir")
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, frozenset(("base", "relax")))


def __dir__() -> list[str]:
    return __all__
