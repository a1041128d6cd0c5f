"""How long a function runs, roughly: whether other Python threads should run meanwhile."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.expr import Call, Expr, IntImm, Min
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import AllocateConst, For, While

# Operations; a few microseconds for what is vectorized, some ten for what is not.
LIMIT = 1 << 16
_CALL = 16  # a function like exp, in operations
_CHEAP = frozenset({"ret", "likely", "assume", "if_then_else", "reinterpret", "fma", "address_of"})
_FOREIGN = ("call_", "tvm_call")


def is_long(function: PrimFunc) -> bool:
    """Whether a function may do more than some ten thousand operations, or what nobody knows: loops of
    unknown length, foreign code, threads."""
    return _cost(function.body, LIMIT) > LIMIT


# Fork and join take one or two microseconds; a loop that is not longer gains nothing by threads.
SMALL = 1 << 12


def is_small(loop: For) -> bool:
    """Whether a parallel loop certainly does so little that it is run by one thread."""
    extent = _at_most(loop.extent)
    if extent is None or extent > SMALL:
        return False
    return extent * (1 + _cost(loop.body, SMALL // max(extent, 1))) <= SMALL


def _cost(node: Any, limit: int) -> int:
    """The operations of a statement or expression; above ``limit`` that it is more."""
    total, more = 0, limit + 1
    stack = [node]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is For:
            extent = _at_most(n.extent)
            if n.kind == "parallel" or extent is None:
                return more
            if extent > 0:
                total += extent * (1 + _cost(n.body, limit // extent))
        elif t is While:
            return more
        elif t is Call:
            if not isinstance(n.op, str) or n.op.startswith(_FOREIGN):
                return more
            total += _lanes(n) * (1 if n.op in _CHEAP else _CALL)
            stack.extend(n.children())
        elif t is AllocateConst:
            stack.append(n.body)
        else:
            total += _lanes(n) if isinstance(n, Expr) else 1
            stack.extend(n.children())
        if total > limit:
            return more
    return total


def _at_most(extent: Expr) -> int | None:
    """A bound of a loop's length."""
    if type(extent) is IntImm:
        return extent.value
    if type(extent) is Min:
        found = [n for n in (_at_most(extent.a), _at_most(extent.b)) if n is not None]
        return min(found, default=None)
    return None


def _lanes(e: Expr) -> int:
    lanes = dt.lanes(e.dtype) if e.dtype not in ("void", "handle") else 1
    # A vector instruction does eight or sixteen of them.
    return 1 if lanes == 1 else 1 + lanes // 8
