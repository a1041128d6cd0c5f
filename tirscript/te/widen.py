"""Index arithmetic in another integer dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tirscript.ir import ops
from tirscript.ir.expr import (
    BinaryOp,
    BufferLoad,
    Call,
    CmpOp,
    Expr,
    IntImm,
    Select,
    Var,
    const_int,
)

E = TypeVar("E", bound=Expr)


def widen(e: Any, variables: Mapping[Var, Expr], dtype: str) -> Any:
    """``e`` with ``variables`` replaced, and what they are combined with converted to ``dtype``.

    Every index of a load becomes ``dtype``; arithmetic on data keeps its dtype.
    """

    def both(a: Expr, b: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
        if x.dtype == y.dtype:
            return x, y
        if type(x) is IntImm and a.dtype == b.dtype:
            return const_int(x.value, y.dtype), y
        if type(y) is IntImm and a.dtype == b.dtype:
            return x, const_int(y.value, x.dtype)
        return ops.promote(x, y, comparison=True)

    def index(i: Expr) -> Expr:
        new: Expr = visit(i)
        if new.dtype not in ("int32", "int64") or new.dtype == dtype:
            return new
        return const_int(new.value, dtype) if type(new) is IntImm else ops.cast(new, dtype)

    def visit(n: Any) -> Any:
        t = type(n)
        if t is Var:
            return variables.get(n, n)
        if t is IntImm:
            return n
        if isinstance(n, (BinaryOp, CmpOp)):
            x, y = both(n.a, n.b, visit(n.a), visit(n.b))
            return n if x is n.a and y is n.b else t(x, y)
        if t is Select:
            test = visit(n.condition)
            x, y = both(n.true_value, n.false_value, visit(n.true_value), visit(n.false_value))
            return ops.select(test, x, y)
        if t is Call and n.op == "if_then_else":
            x, y = both(n.args[1], n.args[2], visit(n.args[1]), visit(n.args[2]))
            return ops.if_then_else(visit(n.args[0]), x, y)
        if t is BufferLoad:
            return n.replace(indices=tuple([index(i) for i in n.indices]))
        return n.map_children(visit)

    return visit(e) if not isinstance(e, (Var, IntImm)) else index(e)
