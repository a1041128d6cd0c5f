"""Index arithmetic for lowering: constructors that fold constants, conjunctions, exactness.

The constructors keep the meaning: they drop ``+ 0`` and ``* 1`` and join constants, and fold only what
still fits the dtype, so they are right for exact integers and for wrapping data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.ir import dtype as dt
from tirscript.ir.expr import (
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Cast,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Mul,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import SeqStmt, seq


def fits(value: int, dtype: str) -> bool:
    low, high = dt.bounds(dtype)
    return low <= value <= high


def const_of(e: Expr) -> int | None:
    """The value of an integer constant, else None."""
    return e.value if type(e) is IntImm else None


def add(a: Expr, b: Expr) -> Expr:
    """``a + b`` of one integer dtype."""
    x, y = const_of(a), const_of(b)
    if y == 0:
        return a
    if x == 0:
        return b
    if x is not None and y is not None and fits(x + y, a.dtype):
        return const_int(x + y, a.dtype)
    if y is not None and type(a) is Add:
        inner = const_of(a.b)
        if inner is not None and fits(inner + y, a.dtype):
            return add(a.a, const_int(inner + y, a.dtype))
    return Add(a, b)


def sub(a: Expr, b: Expr) -> Expr:
    """``a - b`` of one integer dtype."""
    x, y = const_of(a), const_of(b)
    if y == 0:
        return a
    if a is b:
        return const_int(0, a.dtype)
    if x is not None and y is not None and fits(x - y, a.dtype):
        return const_int(x - y, a.dtype)
    return Sub(a, b)


def mul(a: Expr, b: Expr) -> Expr:
    """``a * b`` of one integer dtype."""
    x, y = const_of(a), const_of(b)
    if y == 1:
        return a
    if x == 1:
        return b
    if x == 0 or y == 0:
        return const_int(0, a.dtype)
    if x is not None and y is not None and fits(x * y, a.dtype):
        return const_int(x * y, a.dtype)
    return Mul(a, b)


def floordiv(a: Expr, b: Expr) -> Expr:
    """``a // b`` of one integer dtype."""
    x, y = const_of(a), const_of(b)
    if y == 1:
        return a
    if x is not None and y and fits(x // y, a.dtype):
        return const_int(x // y, a.dtype)
    return FloorDiv(a, b)


def floormod(a: Expr, b: Expr) -> Expr:
    """``a % b`` of one integer dtype."""
    x, y = const_of(a), const_of(b)
    if y == 1:
        return const_int(0, a.dtype)
    if x is not None and y:
        return const_int(x % y, a.dtype)
    return FloorMod(a, b)


def cast(e: Expr, dtype: str) -> Expr:
    """An integer expression in another integer dtype."""
    if e.dtype == dtype:
        return e
    value = const_of(e)
    if value is not None:
        return const_int(dt.wrap(value, dtype), dtype)
    return Cast(dtype, e)


def product(factors: Iterable[Expr], dtype: str = "int32") -> Expr:
    """The product of integer expressions, in int64 where the constant part asks for it."""
    items = list(factors)
    number = 1
    rest: list[Expr] = []
    for e in items:
        value = const_of(e)
        if value is None:
            rest.append(e)
        else:
            number *= value
    kinds = {e.dtype for e in items} or {dtype}
    wide = "int64" if kinds != {"int32"} or not fits(number, "int32") else "int32"
    if not rest:
        return const_int(number, wide)
    out = cast(rest[0], wide)
    for e in rest[1:]:
        out = mul(out, cast(e, wide))
    return mul(out, const_int(number, wide))


def conjuncts(e: Expr) -> list[Expr]:
    """The conditions that ``e`` joins with ``and``; none for a true constant."""
    out: list[Expr] = []
    stack = [e]
    while stack:
        n = stack.pop()
        if type(n) is And:
            stack += (n.b, n.a)
        elif type(n) is Call and n.op == "likely":
            stack.append(n.args[0])
        elif not (type(n) is IntImm and n.value):
            out.append(n)
    return out


def conjunction(conditions: Iterable[Expr]) -> Expr:
    """All of ``conditions``; a true constant for none."""
    out: Expr | None = None
    for c in conditions:
        out = c if out is None else And(out, c)
    return TRUE if out is None else out


def is_true(e: Expr) -> bool:
    return type(e) is IntImm and e.value != 0


def is_false(e: Expr) -> bool:
    return type(e) is IntImm and e.value == 0


def reads_memory(e: Any) -> bool:
    """Whether ``e`` loads from a buffer or calls something that is not a plain function."""
    for n in walk(e):
        if type(n) is BufferLoad:
            return True
        if type(n) is Call and effect_of(n.op) not in ("pure", "hint"):
            return True
    return False


def flat(s: Any) -> Any:
    """A sequence without sequences in it; anything else as it is."""
    if type(s) is SeqStmt and any(type(x) is SeqStmt for x in s.seq):
        return seq(*s.seq)
    return s


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are the same text over the same variables and buffers."""
    if a is b:
        return True
    if type(a) is not type(b) or a.dtype != b.dtype:
        return False
    t = type(a)
    if t is Var:
        return False
    if t is IntImm or t is FloatImm:
        return bool(a.value == b.value)
    if t is BufferLoad and a.buffer is not b.buffer:
        return False
    if t is Call and a.op != b.op:
        return False
    below, other = a.children(), b.children()
    if not below or len(below) != len(other):
        return False
    return all(same(x, y) for x, y in zip(below, other, strict=True))


__all__ = [
    "add", "cast", "conjunction", "conjuncts", "const_of", "fits", "flat", "floordiv", "floormod", "is_exact",
    "is_false", "is_true", "mul", "product", "reads_memory", "same", "sub",
]  # fmt: skip
