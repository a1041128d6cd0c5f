"""``T``: every spelling of the script language, with its signature and what it means."""

from __future__ import annotations

from typing import Any

from . import constructs as _constructs
from . import intrinsics as _intrinsics
from .dtypes import BufferFactory, DTypeConstructor, HandleConstructor, PointerFactory

Buffer = BufferFactory()
Ptr = PointerFactory()
handle = HandleConstructor()


def _fill() -> None:
    space = globals()
    for module in (_constructs, _intrinsics):
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "").startswith("tirscript.script"):
                space[name] = value
    for name in ("bool", "void", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "bfloat16"):
        space[name] = DTypeConstructor(name)


_fill()


def __getattr__(name: str) -> Any:
    from tirscript.ir import dtype as dt

    try:
        if not name.startswith("_") and dt.info(name):
            made = globals()[name] = DTypeConstructor(name)
            return made
    except ValueError:
        pass
    raise AttributeError(f"module 'tirscript.script.tir' has no attribute {name!r}")
