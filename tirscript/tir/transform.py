"""TVM's ``tir.transform``: nothing of it is here yet, each use says so."""

from __future__ import annotations

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    from tirscript.notyet import missing

    raise missing("tir.transform", name)
