"""``a == b`` and ``a != b`` of expressions outside of a script: a condition to build with, or an identity.

Nodes are compared by identity, in dicts and in ``in``.  Python code that builds programs (``te.compute``,
index maps) writes ``i == j`` and means the condition.  So the operator gives an ``Equation``: used as an
expression it is the condition, and its truth value is the identity, or of constants the equality.

>>> from tirscript.ir.expr import Var
>>> from tirscript.ir import ops
>>> i, j = Var("i"), Var("j")
>>> bool(i == i), bool(i == j), i in [j], i in [j, i]
(True, False, False, True)
>>> ops.if_then_else(i == j, 1, 0)
T.if_then_else(i == j, 1, 0)
>>> (i == j) | (i != 0)
(i == j) | (i != 0)
"""

from __future__ import annotations

from typing import Any

from . import ops
from .expr import EQ, NE, CmpOp, Expr, FloatImm, IntImm, IterVar


class Equation:
    """A comparison that is not yet known to be an expression."""

    __slots__ = ("a", "b", "kind")

    def __init__(self, kind: type[CmpOp], a: Any, b: Any) -> None:
        self.kind = kind
        self.a = a
        self.b = b

    def as_expression(self) -> Expr:
        """The condition."""
        return ops.compare(self.kind, self.a, self.b)

    asobject = as_expression  # TVM's name

    @property
    def dtype(self) -> str:
        return self.as_expression().dtype

    def astype(self, dtype: str) -> Expr:
        """The condition as a number."""
        return self.as_expression().astype(dtype)

    def __bool__(self) -> bool:
        a, b = self.a, self.b
        same = a is b
        if not same:
            # Constants are what they are: `buffer.shape[0] == 16`.
            value = _constant(a)
            same = value is not None and value == _constant(b)
        return same == (self.kind is EQ)

    def __repr__(self) -> str:
        return repr(self.as_expression())


def _constant(e: Any) -> int | float | None:
    if isinstance(e, (IntImm, FloatImm)):
        return e.value
    return e if isinstance(e, (int, float)) else None


def _comparison(kind: type[CmpOp]) -> Any:
    def compare(self: Any, other: Any) -> Any:
        if isinstance(other, (Expr, IterVar, Equation, int, float)):
            return Equation(kind, self, other)
        return NotImplemented

    return compare


def _through(name: str) -> Any:
    def operator(self: Any, *others: Any) -> Any:
        return getattr(ops.as_expr(self), name)(*others)

    return operator


_ARITHMETIC = tuple(
    f"__{side}{name}__"
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor",
    )
    for side in ("", "r")
)  # fmt: skip
# Axes and equations stand for expressions in arithmetic.
for _class in (IterVar, Equation):
    for _name in (*_ARITHMETIC, "__neg__", "__invert__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(_class, _name, _through(_name))
# Hashing stays by identity: these are set after the classes were made.
for _compared in (Expr, IterVar):
    setattr(_compared, "__eq__", _comparison(EQ))  # noqa: B010
    setattr(_compared, "__ne__", _comparison(NE))  # noqa: B010
