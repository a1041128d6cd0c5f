"""Constant bounds of integer expressions: intervals through every operator, ends None where open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    Add,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Ramp,
    Select,
    Sub,
    Var,
)

from .exact import is_exact
from .linear import AtomKey, Linear, to_linear

if TYPE_CHECKING:
    from .facts import Facts

Interval: TypeAlias = tuple[int | None, int | None]
OPEN: Interval = (None, None)


def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval around both."""
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    high = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return low, high


def meet(a: Interval, b: Interval) -> Interval:
    """What both allow."""
    low = a[0] if b[0] is None else b[0] if a[0] is None else max(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return low, high


def within(a: Interval, low: int, high: int) -> bool:
    return a[0] is not None and a[1] is not None and low <= a[0] <= a[1] <= high


def empty(a: Interval) -> bool:
    """Whether there is no value: of the variable of a loop that does not run, and what is made of it."""
    return a[0] is not None and a[1] is not None and a[0] > a[1]


def add(a: Interval, b: Interval) -> Interval:
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


def negate(a: Interval) -> Interval:
    return (None if a[1] is None else -a[1], None if a[0] is None else -a[0])


def multiply(a: Interval, b: Interval) -> Interval:
    if a[0] is not None and a[1] is not None and b[0] is not None and b[1] is not None:
        ends = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
        return min(ends), max(ends)
    # With an open end only the signs say something.
    if (0, 0) in (a, b):
        return 0, 0
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return a[0] * b[0], None if a[1] is None or b[1] is None else a[1] * b[1]
    if a[1] is not None and a[1] <= 0 and b[0] is not None and b[0] >= 0:
        return negate(multiply(negate(a), b))
    if b[1] is not None and b[1] <= 0 and a[0] is not None and a[0] >= 0:
        return negate(multiply(a, negate(b)))
    if a[1] is not None and a[1] <= 0 and b[1] is not None and b[1] <= 0:
        return multiply(negate(a), negate(b))
    return OPEN


def floordiv(a: Interval, b: Interval) -> Interval:
    """Of ``x // y``; nothing is known where ``y`` may be 0."""
    if empty(b):
        return OPEN
    if b[1] is not None and b[1] < 0:
        return floordiv(negate(a), negate(b))
    if b[0] is None or b[0] <= 0:
        return OPEN
    low = high = None
    if a[0] is not None:
        # Toward the smaller divisor where negative, toward the larger one where not.
        low = a[0] // b[0] if a[0] < 0 else (0 if b[1] is None else a[0] // b[1])
    if a[1] is not None:
        high = a[1] // b[0] if a[1] >= 0 else (-1 if b[1] is None else a[1] // b[1])
    return low, high


def floormod(a: Interval, b: Interval) -> Interval:
    """Of ``x % y``."""
    if empty(b):
        return OPEN
    if b[1] is not None and b[1] < 0:
        return negate(floormod(negate(a), negate(b)))
    if b[0] is None or b[0] <= 0:
        return OPEN
    top = None if b[1] is None else b[1] - 1
    if a[0] is not None and a[1] is not None and b[0] == b[1]:
        c = b[0]
        if a[0] // c == a[1] // c:
            return a[0] % c, a[1] % c
    if a[0] is not None and a[0] >= 0:
        if a[1] is not None and a[1] < b[0]:
            return a
        return 0, a[1] if top is None else top if a[1] is None else min(a[1], top)
    return 0, top


def truncdiv(a: Interval, b: Interval) -> Interval:
    if empty(b):
        return OPEN
    if b[1] is not None and b[1] < 0:
        return negate(truncdiv(a, negate(b)))
    if b[0] is None or b[0] <= 0:
        return OPEN
    low = high = None
    if a[0] is not None:
        low = -(-a[0] // b[0]) if a[0] < 0 else (0 if b[1] is None else a[0] // b[1])
    if a[1] is not None:
        high = a[1] // b[0] if a[1] >= 0 else (0 if b[1] is None else -(-a[1] // b[1]))
    return low, high


def truncmod(a: Interval, b: Interval) -> Interval:
    if empty(b):
        return OPEN
    if b[0] is not None and b[0] > 0:
        size = b[1]
    elif b[1] is not None and b[1] < 0:
        size = None if b[0] is None else -b[0]
    else:
        return OPEN
    top = None if size is None else size - 1
    low = 0 if a[0] is not None and a[0] >= 0 else None if top is None else -top
    high = 0 if a[1] is not None and a[1] <= 0 else top
    return meet((low, high), (None if a[0] is None else min(a[0], 0), None if a[1] is None else max(a[1], 0)))


def minimum(a: Interval, b: Interval) -> Interval:
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return low, high


def maximum(a: Interval, b: Interval) -> Interval:
    return negate(minimum(negate(a), negate(b)))


_RING = frozenset({Add, Sub, Mul})
BINARY: dict[type, Callable[[Interval, Interval], Interval]] = {
    Add: add,
    Sub: lambda a, b: add(a, negate(b)),
    Mul: multiply,
    FloorDiv: floordiv,
    FloorMod: floormod,
    Div: truncdiv,
    Mod: truncmod,
    Min: minimum,
    Max: maximum,
}


def atom_range(cx: Facts, atom: AtomKey) -> Interval:
    """Bounds of an atom: what is known of it, met with what its parts say."""
    if isinstance(atom, Var):
        known = cx.ranges.get(atom)
        return known if known is not None else dtype_bounds(atom.dtype)
    found = cx.atom_ranges.get(atom)
    if found is None:
        cx.atom_ranges[atom] = OPEN  # a cycle cannot be, but a fact about the atom may be asked for
        found = _atom_range(cx, atom)
        cx.atom_ranges[atom] = found
    return found


def _atom_range(cx: Facts, atom: Any) -> Interval:
    kind = atom[0]
    if kind == "*":
        out: Interval = (1, 1)
        for factor, power in atom[1]:
            r = atom_range(cx, factor)
            whole: Interval = (1, 1)
            for _ in range(power):
                whole = multiply(whole, r)
            if power % 2 == 0:
                whole = meet(whole, (0, None))
            out = multiply(out, whole)
    else:
        out = expr_range(cx, atom.expr)
    known = cx.ranges.get(atom)
    return out if known is None else meet(out, known)


def range_of_linear(cx: Facts, lin: Linear) -> Interval:
    """Bounds of a normal form from those of its atoms."""
    low: int | None = lin.const
    high: int | None = lin.const
    ranges = cx.ranges
    for atom, k in lin.terms.items():
        lo_hi = ranges.get(atom) if type(atom) is Var else None
        lo, hi = atom_range(cx, atom) if lo_hi is None else lo_hi
        if k < 0:
            lo, hi = hi, lo
        low = None if low is None or lo is None else low + k * lo
        high = None if high is None or hi is None else high + k * hi
    return low, high


def expr_range(cx: Facts, e: Any) -> Interval:
    """Bounds of any integer or bool expression; of an expression of data, what wrapping leaves."""
    t = type(e)
    if t is IntImm:
        return e.value, e.value
    if t is Var:
        known = cx.ranges.get(e)
        return known if known is not None else _dtype_range(e.dtype)
    return _known(cx, e)[0]


def _known(cx: Facts, e: Any, in_sum: bool = False) -> tuple[Interval, bool]:
    """The bounds of a node and whether it is exact; kept, so that a tree is walked once."""
    t = type(e)
    if t is IntImm:
        return (e.value, e.value), True
    if t is Var:
        known = cx.ranges.get(e)
        return (known if known is not None else _dtype_range(e.dtype)), e.exact
    found = cx.expr_ranges.get(e)
    if found is None:
        rule = BINARY.get(t)
        if rule is not None:
            found = _binary_range(cx, e, rule, in_sum)
        else:
            found = _other_range(cx, e, t)
        cx.expr_ranges[e] = found
    return found


def _binary_range(
    cx: Facts, e: Any, rule: Callable[[Interval, Interval], Interval], in_sum: bool
) -> tuple[Interval, bool]:
    ring = type(e) in _RING
    a, exact_a = _known(cx, e.a, ring)
    b, exact_b = _known(cx, e.b, ring)
    exact = exact_a and exact_b
    if not exact:
        a, b = _reduced(e.dtype, a), _reduced(e.dtype, b)
        return _reduced(e.dtype, rule(a, b)), False
    if ring and not in_sum:
        # As one normal form: terms that cancel are seen.
        lin = to_linear(e)
        if lin is not None:
            return range_of_linear(cx, lin), True
    return rule(a, b), True


def _other_range(cx: Facts, e: Any, t: type) -> tuple[Interval, bool]:
    if t is BufferLoad:
        return _dtype_range(e.dtype), False
    if t is Cast:
        inner, exact = _known(cx, e.value)
        kind = info(e.value.dtype)
        number = kind.is_int or kind.code == "bool"
        limits = _dtype_range(e.dtype)
        if limits == OPEN or not number:
            return limits, False
        return _reduced(e.dtype, inner), exact
    if t is Select:
        return _choice(cx, e, e.children())
    if t is Broadcast:
        return _known(cx, e.value)
    if t is Ramp:
        base, exact = _known(cx, e.base)
        stride, also = _known(cx, e.stride)
        reach = add(base, multiply(stride, (0, e.lanes - 1)))
        return (reach, True) if exact and also else (_reduced(e.dtype, reach), False)
    if t is Let:
        return _let_range(cx, e)
    if t is Call and isinstance(e.op, str):
        if e.op == "if_then_else":
            return _choice(cx, e, e.args)
        if e.op == "likely":
            return _known(cx, e.args[0])
        call = _CALLS.get(e.op)
        if call is not None:
            return call(cx, e), False
    return _dtype_range(e.dtype), is_exact(e)


def _choice(cx: Facts, e: Any, parts: Any) -> tuple[Interval, bool]:
    (_, exact), (a, exact_a), (b, exact_b) = (_known(cx, p) for p in parts)
    if exact and exact_a and exact_b:
        return hull(a, b), True
    return hull(_reduced(e.dtype, a), _reduced(e.dtype, b)), False


def _dtype_range(dtype: str) -> Interval:
    kind = info(dtype)
    return dtype_bounds(kind.base) if kind.is_int or kind.code == "bool" else OPEN


def _reduced(dtype: str, out: Interval) -> Interval:
    """What is left of ``out`` in the dtype: all that it holds, where a value may wrap."""
    limits = _dtype_range(dtype)
    if limits[0] is None or limits[1] is None:
        return OPEN
    return out if within(out, limits[0], limits[1]) else limits


def _let_range(cx: Facts, e: Any) -> tuple[Interval, bool]:
    if not info(e.var.dtype).is_int:
        return _known(cx, e.body)
    with cx.scope():
        cx.set_range(e.var, expr_range(cx, e.value))
        return _known(cx, e.body)


def _bitwise_and(cx: Facts, e: Any) -> Interval:
    limits = _dtype_range(e.dtype)
    tops = []
    for a in e.args:
        low, high = expr_range(cx, a)
        if low is not None and low >= 0 and high is not None and within((low, high), *_ends(e.dtype)):
            tops.append(high)
    return (0, min(tops)) if tops else limits


def _ends(dtype: str) -> tuple[int, int]:
    return dtype_bounds(info(dtype).base)


def _shift_right(cx: Facts, e: Any) -> Interval:
    value, count = expr_range(cx, e.args[0]), expr_range(cx, e.args[1])
    limits = _dtype_range(e.dtype)
    if not within(value, *_ends(e.dtype)) or not within(count, 0, info(e.dtype).bits - 1):
        return limits
    low, high = value[0], value[1]
    least, most = count
    assert low is not None and high is not None and least is not None and most is not None
    return (low >> (least if low < 0 else most), high >> (most if high < 0 else least))


def _count(cx: Facts, e: Any) -> Interval:
    return 0, info(e.dtype).bits


def _abs(cx: Facts, e: Any) -> Interval:
    if not info(e.dtype).is_int:
        return OPEN
    low, high = expr_range(cx, e.args[0])
    if low is None or high is None or not within((low, high), _ends(e.dtype)[0] + 1, _ends(e.dtype)[1]):
        return _dtype_range(e.dtype)
    return (max(low, -high, 0), max(abs(low), abs(high)))


_CALLS: dict[str, Callable[[Any, Any], Interval]] = {
    "bitwise_and": _bitwise_and,
    "shift_right": _shift_right,
    "popcount": _count,
    "clz": _count,
    "abs": _abs,
}
