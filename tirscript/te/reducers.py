"""The usual reducers, under the names of the built-in functions that they resemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.script import operators as T

from .reduce import comm_reducer


def _identity(kind: str) -> Callable[[str], Expr]:
    def identity(dtype: str) -> Expr:
        from tirscript.analysis.reducer import identity_of

        return identity_of(kind, dtype)

    return identity


sum = comm_reducer(lambda x, y: x + y, _identity("sum"), name="sum")
sum.__doc__ = "The sum over reduce axes: ``te.sum(A[i, k], axis=k)``."
prod = comm_reducer(lambda x, y: x * y, _identity("prod"), name="prod")
prod.__doc__ = "The product over reduce axes."
max = comm_reducer(T.max, _identity("max"), name="max")
max.__doc__ = "The greatest value over reduce axes; of nothing -inf, or the least integer."
min = comm_reducer(T.min, _identity("min"), name="min")
min.__doc__ = "The least value over reduce axes; of nothing inf, or the greatest integer."


def all(*args: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Whether all conditions hold: of several expressions, or over reduce axes."""
    if axis is None:
        return _fold(ops.logical_and, args)
    return _all(args[0] if len(args) == 1 else args, axis, where, init)


def any(*args: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
    """Whether a condition holds: one of several expressions, or over reduce axes."""
    if axis is None:
        return _fold(ops.logical_or, args)
    return _any(args[0] if len(args) == 1 else args, axis, where, init)


_all = comm_reducer(ops.logical_and, lambda dtype: const_int(1, dtype), name="all")
_any = comm_reducer(ops.logical_or, lambda dtype: const_int(0, dtype), name="any")


def _fold(f: Callable[[Any, Any], Expr], args: Sequence[Any]) -> Expr:
    if not args:
        raise TirscriptError("no condition is given", code="arity")
    out = ops.condition(args[0])
    for a in args[1:]:
        out = f(out, ops.condition(a))
    return out
