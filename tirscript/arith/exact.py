"""Which integers are mathematical, and which wrap.

Loop variables, block axes, shapes and integer parameters are *exact* leaves; loads, calls and casts of
data are *data* leaves.  An integer node is exact iff all its leaves are exact or literals: then it means
the mathematical integer.  Any other wraps at its own dtype.
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    CommReducer,
    Expr,
    FloatImm,
    GlobalVar,
    IntImm,
    Let,
    Ramp,
    Shuffle,
    StringImm,
    Var,
)

# Calls that are operators rather than functions: what they yield is one of their arguments.
TRANSPARENT = frozenset({"if_then_else", "likely"})
_DATA = frozenset({BufferLoad, FloatImm, StringImm, GlobalVar, CommReducer, Shuffle})


def is_exact(e: Expr) -> bool:
    """Whether the integer or bool expression ``e`` means the mathematical value.

    >>> from tirscript.ir.expr import Var, const_int
    >>> is_exact(Var("i") + 1), is_exact(Var("x", "int32", False) + 1)
    (True, False)
    """
    t = type(e)
    if t is Var:
        return e.exact and e.dtype != "handle"  # type: ignore[attr-defined]
    if t is IntImm:
        return True
    if t in _DATA:
        return False
    if t is Call and e.op not in TRANSPARENT:  # type: ignore[attr-defined]
        return False
    if t is Cast:
        if info(e.dtype).code not in ("int", "uint", "bool"):
            return False
        if info(e.value.dtype).code not in ("int", "uint", "bool"):  # type: ignore[attr-defined]
            return False
    if t is Let:
        # The variable says what its value is.
        return is_exact(e.body)  # type: ignore[attr-defined]
    below: Any = e.children()
    return all(is_exact(child) for child in below)


def lanes_of(e: Expr) -> int:
    """The number of lanes, from the node where the dtype alone need not be parsed."""
    t = type(e)
    if t is Ramp or t is Broadcast:
        return e.lanes  # type: ignore[attr-defined, no-any-return]
    return info(e.dtype).lanes if "x" in e.dtype else 1
