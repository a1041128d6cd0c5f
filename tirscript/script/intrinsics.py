"""The expressions of ``T``: operators, mathematics, vectors, intrinsics.  They work outside of scripts too."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr


def _name(f: Any, name: str, doc: str) -> Any:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _unary(name: str, doc: str, *, python: Callable[[Any], Any] | None = None) -> Callable[[Any], Expr]:
    def function(x: Any) -> Expr:
        return ops.math_call(name, x)

    return _name(function, name, doc)  # type: ignore[no-any-return]


exp = _unary("exp", "e to the power x.")
sqrt = _unary("sqrt", "The square root.")


def max(a: Any, b: Any) -> Expr:
    """The larger one; a nan wins."""
    return ops.maximum(a, b)


def min(a: Any, b: Any) -> Expr:
    """The smaller one; a nan wins."""
    return ops.minimum(a, b)


def cast(value: Any, dtype: Any) -> Expr:
    """``value`` converted to ``dtype``."""
    return ops.cast(value, dt.normalize(dtype))


__all__ = ["builtins", "cast", "dt", "exp", "max", "min", "sqrt", "TirscriptError"]
