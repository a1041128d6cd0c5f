"""Helpers for tests of tensor programs: round trips, differences, reference checks, random programs.

``programs()`` needs hypothesis, which is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .allclose import assert_allclose

if TYPE_CHECKING:
    from .meaning import interpret
    from .reference import check_against_reference, extreme_inputs, random_inputs, run_program
    from .round_trip import assert_round_trip, structural_diff
    from .strategies import programs

_WHERE = {
    "assert_round_trip": "round_trip",
    "structural_diff": "round_trip",
    "check_against_reference": "reference",
    "extreme_inputs": "reference",
    "interpret": "meaning",
    "random_inputs": "reference",
    "run_program": "reference",
    "programs": "strategies",
}

__all__ = [
    "assert_allclose",
    "assert_round_trip",
    "check_against_reference",
    "extreme_inputs",
    "interpret",
    "programs",
    "random_inputs",
    "run_program",
    "structural_diff",
]


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'tirscript.testing' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{where}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
