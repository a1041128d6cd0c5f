"""Every Schedule of these tests verifies itself after each step, and its trace is replayed at the end."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tirscript.schedule import Schedule
from tirscript.schedule.testing import verify_trace_roundtrip

Made = list[tuple[Schedule, Any]]


@pytest.fixture(autouse=True)
def self_checking(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    made: Made = []
    original = Schedule.__init__
    replaying = getattr(request.module, "NO_REPLAY", False)

    @functools.wraps(original)
    def init(self: Schedule, mod: Any, **options: Any) -> None:
        options.setdefault("debug_mask", "all")
        original(self, mod, **options)
        if not replaying:
            made.append((self, self.mod))

    monkeypatch.setattr(Schedule, "__init__", init)
    yield
    replaying = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sch, mod in made:
            verify_trace_roundtrip(sch, mod)
