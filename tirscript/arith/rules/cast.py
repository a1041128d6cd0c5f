"""Rules for conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.expr import Broadcast, Cast, Expr, FloatImm, IntImm

from ..bounds import expr_range
from ..exact import is_exact
from ..fold import fold_cast

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def cast(cx: Analyzer, e: Any) -> Expr:
    """``Cast(dtype, value)``: constants folded, conversions that keep the value and the dtype left out."""
    value = cx.simplify(e.value)
    new = e if value is e.value else Cast(e.dtype, value)
    t = type(value)
    if t is IntImm or t is FloatImm:
        folded = fold_cast(value, e.dtype)
        return new if folded is None else folded
    if t is Broadcast and info(e.dtype).lanes == value.lanes:  # type: ignore[attr-defined]
        inner = cx.simplify(Cast(info(e.dtype).base, value.value))  # type: ignore[attr-defined]
        return Broadcast(inner, value.lanes)  # type: ignore[attr-defined]
    if value.dtype == e.dtype:
        # Of an exact integer it reduces to the dtype: needed only where that may change the value.
        if not info(e.dtype).is_int or not is_exact(value) or fits(cx, value, e.dtype):
            return value
        return new
    if t is Cast and _keeps(cx, value):
        inner = value.value  # type: ignore[attr-defined]
        if inner.dtype == e.dtype and (not is_exact(inner) or fits(cx, inner, e.dtype)):
            return inner  # type: ignore[no-any-return]
        if info(e.dtype).code in ("int", "uint"):
            return Cast(e.dtype, inner)
    return new


def fits(cx: Analyzer, e: Expr, dtype: str) -> bool:
    """Whether the value is known to lie in the dtype."""
    low, high = expr_range(cx, e)
    least, most = dtype_bounds(info(dtype).base)
    return low is not None and high is not None and least <= low and high <= most


def _keeps(cx: Analyzer, e: Any) -> bool:
    """Whether a conversion between integers keeps every value it is given."""
    source, target = info(e.value.dtype), info(e.dtype)
    if not source.is_int or not target.is_int or source.lanes != 1:
        return False
    return fits(cx, e.value, e.dtype)
