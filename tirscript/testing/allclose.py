"""Comparison of arrays."""

from __future__ import annotations

from typing import Any


def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7, verbose: bool = True
) -> None:
    """Raise AssertionError unless the two arrays, NumPy's or ours, are equal within the tolerances.

    >>> assert_allclose([1.0, 2.0], [1.0, 2.00000001])
    """
    import numpy as np

    def plain(value: Any) -> Any:
        return np.asarray(value.numpy() if hasattr(value, "numpy") else value)

    a, b = plain(actual), plain(desired)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, verbose=verbose)
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
