"""TVM's ``tir.transform``: nothing of it is here yet, each use says so."""

from __future__ import annotations

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    from tirscript.notyet import not_yet

    raise not_yet("tir.transform", f"tir.transform.{name}")
