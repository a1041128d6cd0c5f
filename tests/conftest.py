"""Settings of the whole suite."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

# `ci` is repeatable, so that a failure is of the change; `nightly` looks for what is new.
settings.register_profile(
    "ci", max_examples=200, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile("nightly", max_examples=10_000, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("quick", max_examples=25, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A job that a shell starts in the background ignores Ctrl-C, and so would the tests of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Doctests are for the package: of this folder only the test files are collected."""
    is_helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_helper else None
