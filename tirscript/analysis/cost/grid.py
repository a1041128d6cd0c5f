"""Boxes of numbers that are run through at once: exact expressions over NumPy's integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import bounds, info
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Call,
    Cast,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Select,
    Sub,
    Var,
)

if TYPE_CHECKING:
    from .points import Loop

Array = Any


class NotInNumbers(Exception):
    """The expression holds data or sizes."""


def _np() -> Any:
    import numpy

    return numpy


def _truncated(a: Array, b: Array) -> Array:
    np = _np()
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


_BINARY: dict[type, Callable[[Array, Array], Array]] = {
    Add: lambda a, b: a + b, Sub: lambda a, b: a - b, Mul: lambda a, b: a * b,
    FloorDiv: lambda a, b: a // b, FloorMod: lambda a, b: a % b,
    Div: _truncated, Mod: lambda a, b: a - b * _truncated(a, b),
    Min: lambda a, b: _np().minimum(a, b), Max: lambda a, b: _np().maximum(a, b),
    EQ: lambda a, b: a == b, NE: lambda a, b: a != b, LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b, GT: lambda a, b: a > b, GE: lambda a, b: a >= b,
    And: lambda a, b: _np().logical_and(a, b), Or: lambda a, b: _np().logical_or(a, b),
}  # fmt: skip
_BITS: dict[str, Callable[[Array, Array], Array]] = {
    "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b, "bitwise_xor": lambda a, b: a ^ b,
}  # fmt: skip


def values_of(e: Any, values: Mapping[Var, Array]) -> Array:
    """The values of an exact expression; all alternatives of a condition are computed.

    >>> import numpy as np
    >>> i = Var("i")
    >>> values_of((i * 3) % 4, {i: np.arange(5)}).tolist()
    [0, 3, 2, 1, 0]
    """
    t = type(e)
    if t is Var:
        found = values.get(e)
        if found is None:
            raise NotInNumbers
        return found
    if t is IntImm:
        return e.value
    binary = _BINARY.get(t)
    if binary is not None:
        if t not in (And, Or) and not info(e.a.dtype).is_int:
            raise NotInNumbers
        b = values_of(e.b, values)
        if t in (FloorDiv, FloorMod, Div, Mod) and not _np().all(b):
            raise NotInNumbers
        return binary(values_of(e.a, values), b)
    if t is Not:
        return _np().logical_not(values_of(e.a, values))
    if t is Select:
        return _chosen(e.condition, e.true_value, e.false_value, values)
    if t is Call:
        if e.op == "if_then_else":
            return _chosen(e.args[0], e.args[1], e.args[2], values)
        if e.op == "likely":
            return values_of(e.args[0], values)
        if e.op in _BITS:
            return _BITS[e.op](values_of(e.args[0], values), values_of(e.args[1], values))
    if t is Cast and info(e.value.dtype).is_int and info(e.dtype).is_int:
        value = values_of(e.value, values)
        low, high = bounds(e.dtype)
        if _np().all(value >= low) and _np().all(value <= high):
            return value
    raise NotInNumbers


def _chosen(condition: Any, a: Any, b: Any, values: Mapping[Var, Array]) -> Array:
    return _np().where(values_of(condition, values), values_of(a, values), values_of(b, values))


def points(loops: Sequence[Loop], guards: Sequence[Expr], limit: int) -> dict[Var, Array] | None:
    """The values of the variables at each iteration where the guards hold, as columns.

    None where sizes or data decide, or where there are too many.
    """
    np = _np()
    columns: dict[Var, Array] = {}
    size = 1
    waiting = list(guards)
    try:
        for x in loops:
            low, extent = values_of(x.min, columns), values_of(x.extent, columns)
            number = np.maximum(-(-np.asarray(extent) // x.step), 0)
            low = np.broadcast_to(np.asarray(low), (size,))
            number = np.broadcast_to(number, (size,))
            total = int(number.sum())
            if total > limit:
                return None
            repeat = np.repeat(np.arange(size), number)
            starts = np.cumsum(number) - number
            at = np.arange(total) - starts[repeat]
            columns = {v: c[repeat] for v, c in columns.items()}
            columns[x.var] = low[repeat] + at * x.step
            size = total
            # A guard thins the points out as soon as its variables are there.
            for g in list(waiting):
                try:
                    keep = np.broadcast_to(np.asarray(values_of(g, columns), bool), (size,))
                except NotInNumbers:
                    continue
                waiting.remove(g)
                columns = {v: c[keep] for v, c in columns.items()}
                size = int(keep.sum())
    except (NotInNumbers, OverflowError):
        return None
    return None if waiting else columns


def count(loops: Sequence[Loop], guards: Sequence[Expr], limit: int) -> int | None:
    """The number of iterations where the guards hold; None as for ``points``."""
    found = points(loops, guards, limit)
    if found is None:
        return None
    return len(found[loops[-1].var]) if loops else 1


def distinct(columns: Sequence[Array], length: int) -> int:
    """How many different rows there are."""
    if not columns:
        return min(length, 1)
    return len(_np().unique(_codes(columns, length)))


def most(groups: Sequence[Array], columns: Sequence[Array], length: int) -> int:
    """How many different rows the group has that has most."""
    np = _np()
    if not length:
        return 0
    group = np.unique(_codes(groups, length), return_inverse=True)[1]
    rows = _codes([group, *columns], length)
    first = np.unique(rows, return_index=True)[1]
    return int(np.bincount(group[first]).max())


def _codes(columns: Sequence[Array], length: int) -> Array:
    """A number for each row; different rows have different ones."""
    np = _np()
    code = np.zeros(length, np.int64)
    for c in columns:
        column = np.broadcast_to(np.asarray(c, np.int64), (length,))
        if not length:
            return code
        low = int(column.min())
        width = int(column.max()) - low + 1
        if int(code.max()) * width >= 2**62:  # renumber before it overflows
            code = np.unique(code, return_inverse=True)[1]
        code = code * width + (column - low)
    return code


__all__ = ["NotInNumbers", "count", "distinct", "most", "points", "values_of"]
