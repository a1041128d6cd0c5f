"""Rules for integers of data: they wrap at their dtype, so only what holds for bit vectors is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info, wrap
from tirscript.ir.expr import (
    FALSE,
    TRUE,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    const_int,
)

from ..bounds import Interval, expr_range
from ..exact import is_exact
from ..fold import COMPARE, fold_bits, fold_data
from ..linear import AtomKey, Linear, key_of, make_atom, same

if TYPE_CHECKING:
    from ..analyzer import Analyzer


def binary(cx: Analyzer, e: Any, a: Expr, b: Expr) -> Expr:
    """A division, a remainder, a minimum or a maximum of data, or a product of two; ``a`` and ``b`` are
    the simplified operands."""
    t = type(e)
    if type(a) is IntImm and type(b) is IntImm:
        return const_int(fold_data(t, a.value, b.value, e.dtype), e.dtype)
    new: Expr = e if a is e.a and b is e.b else t(a, b)
    out = _other(cx, t, a, b, e.dtype)
    return new if out is None else out


def safe(cx: Analyzer, out: Expr, dtype: str) -> bool:
    """Whether an exact expression has values of the dtype only, so that it may stand where data stood."""
    low, high = expr_range(cx, out)
    least, most = dtype_bounds(info(dtype).base)
    return low is not None and high is not None and least <= low and high <= most


def ring(cx: Analyzer, leaves: list[tuple[Expr, int]], const: int, count: int, dtype: str) -> Expr | None:
    """A sum of multiples modulo 2^bits: equal terms are joined.  None where that gains nothing.

    ``count`` is the number of leaves and constants as written.
    """
    terms: dict[AtomKey, int] = {}
    for e, k in leaves:
        effect = cx.has_effect(e)
        if effect and k != 1:
            return None
        atom = make_atom("effect", (id(e),), e) if effect else make_atom("data", (key_of(e),), e)
        terms[atom] = terms.get(atom, 0) + k
    bits = info(dtype).bits
    const = wrap(const, dtype)
    kept = {a: wrap(k, dtype) for a, k in terms.items() if k % (1 << bits)}
    if len(kept) + (const != 0) >= count:
        return None
    return Linear(kept, const).written(dtype)


def _other(cx: Analyzer, t: Any, a: Expr, b: Expr, dtype: str) -> Expr | None:
    pure = not (cx.has_effect(a) or cx.has_effect(b))
    if t is FloorDiv or t is Div:
        if type(b) is IntImm and b.value == 1:
            return a
        if pure and ((type(a) is IntImm and a.value == 0) or (type(b) is IntImm and b.value == 0)):
            return const_int(0, dtype)
    elif t is FloorMod or t is Mod:
        if pure and type(b) is IntImm and b.value in (0, 1):
            return const_int(0, dtype)
        if pure and type(a) is IntImm and a.value == 0:
            return a
    elif t is Mul:
        for x, y in ((a, b), (b, a)):
            if type(y) is IntImm and y.value == 1:
                return x
            if pure and type(y) is IntImm and y.value == 0:
                return y
    elif t is Min or t is Max:
        if pure and same(a, b):
            return a
    if not pure:
        return None
    return _by_range(t, a, b, expr_range(cx, a), expr_range(cx, b), dtype)


def _by_range(t: Any, a: Expr, b: Expr, x: Interval, y: Interval, dtype: str) -> Expr | None:
    """What the bounds of the operands decide (they are bounds of values, so nothing wraps here)."""
    least, most = dtype_bounds(dtype)
    for r in (x, y):
        if r[0] is None or r[1] is None or r[0] < least or r[1] > most:
            return None
    assert x[0] is not None and x[1] is not None and y[0] is not None and y[1] is not None
    if t is Min or t is Max:
        if x[1] <= y[0]:
            return a if t is Min else b
        if y[1] <= x[0]:
            return b if t is Min else a
    elif t in (FloorDiv, Div, FloorMod, Mod) and x[0] >= 0 and x[1] < y[0]:
        return const_int(0, dtype) if t in (FloorDiv, Div) else a
    return None


def comparison(cx: Analyzer, kind: type, a: Expr, b: Expr) -> Expr | None:
    """A comparison of integers of which one is data, decided by bounds or by equality."""
    if type(a) is IntImm and type(b) is IntImm:
        return TRUE if COMPARE[kind](a.value, b.value) else FALSE
    if cx.has_effect(a) or cx.has_effect(b):
        return None
    dtype = a.dtype
    least, most = dtype_bounds(dtype)
    (low, high), (low_b, high_b) = expr_range(cx, a), expr_range(cx, b)
    if low is None or high is None or low_b is None or high_b is None:
        return None
    if min(low, low_b) >= least and max(high, high_b) <= most:
        if high < low_b:
            return TRUE if COMPARE[kind](0, 1) else FALSE
        if high_b < low:
            return TRUE if COMPARE[kind](1, 0) else FALSE
        if high == low_b and kind.__name__ in ("LE", "GT"):
            return TRUE if kind.__name__ == "LE" else FALSE
        if high_b == low and kind.__name__ in ("GE", "LT"):
            return TRUE if kind.__name__ == "GE" else FALSE
        if same(a, b):
            return TRUE if COMPARE[kind](0, 0) else FALSE
    elif same(a, b) and not is_exact(a) and not is_exact(b):
        return TRUE if COMPARE[kind](0, 0) else FALSE
    return None


def bits(cx: Analyzer, e: Any) -> Expr:
    """Bitwise operators and shifts of scalar integers; their arguments are reduced to the dtype."""
    args = tuple([cx.simplify(a) for a in e.args])
    new = e if all(x is y for x, y in zip(args, e.args, strict=True)) else e.replace(args=args)
    if not info(e.dtype).is_int or info(e.dtype).lanes != 1:
        return new  # type: ignore[no-any-return]
    if all(type(a) is IntImm for a in args):
        value = fold_bits(e.op, tuple([a.value for a in args]), e.dtype)  # type: ignore[attr-defined]
        if value is not None:
            return const_int(value, e.dtype)
    if len(args) == 2:
        out = _bits(cx, e.op, args[0], args[1], e.dtype)
        # The argument was reduced to the dtype.
        if out is not None and (not is_exact(out) or safe(cx, out, e.dtype)):
            return out
    return new  # type: ignore[no-any-return]


def _bits(cx: Analyzer, op: str, a: Expr, b: Expr, dtype: str) -> Expr | None:
    if type(b) is IntImm:
        if b.value == 0:
            if op in ("shift_left", "shift_right", "bitwise_or", "bitwise_xor"):
                return a
            if op == "bitwise_and" and not cx.has_effect(a):
                return b
        if op == "bitwise_and" and wrap(-1, dtype) == b.value:
            return a
    if op in ("bitwise_and", "bitwise_or") and not cx.has_effect(a) and same(a, b):
        return a
    return None
