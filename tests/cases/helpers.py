"""What the cases say things with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tirscript as ts


def run(f: Any, *arrays: Any, target: str = "llvm") -> Any:
    """Build, call with the arrays in order, return the last one (the output)."""
    ts.build(f, target=target)(*arrays)
    return arrays[-1]


def raises(fn: Callable[[], Any], *words: str, exc: type[BaseException] = ts.TirscriptError) -> str:
    """``fn()`` must fail with a diagnostic whose text holds every word."""
    try:
        fn()
    except exc as error:
        for word in words:
            assert word in str(error), (word, str(error))
        return str(error)
    raise AssertionError("accepted; an error was due")


def roundtrip(f: Any) -> Any:
    g = ts.parse(f.script())
    ts.assert_structural_equal(g, f)
    return g


def eq(got: Any, want: Any, **kw: Any) -> None:
    np.testing.assert_allclose(got, want, **kw)
