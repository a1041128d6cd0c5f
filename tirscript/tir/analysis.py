"""TVM's ``tir.analysis``: what is here, and for the rest an error that says so."""

from __future__ import annotations

from typing import NoReturn

from tirscript.ir import IRModule, PrimFunc, structural_equal
from tirscript.ir.verify import verify

expr_deep_equal = structural_equal


def verify_well_formed(program: PrimFunc | IRModule, assert_mode: bool = True) -> bool:
    """Whether the program keeps the structural rules; with ``assert_mode`` the first fault is raised."""
    faults = verify(program)
    if faults and assert_mode:
        raise faults[0]
    return not faults


def __getattr__(name: str) -> NoReturn:
    from tirscript.notyet import missing

    raise missing("tir.analysis", name)
