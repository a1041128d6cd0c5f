"""Shapes and axes: what the operators work out before they compute anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.arith import simplify
from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.expr import Expr, IntImm, const_int
from tirscript.te import Tensor


def error(message: str, code: str = "shape", hint: str | None = None) -> TirscriptError:
    return TirscriptError(message, code=code, hint=hint)


def known(e: Any) -> int | None:
    """The value of a constant, None of anything else."""
    if isinstance(e, (int,)):
        return int(e)
    if not isinstance(e, IntImm):
        e = simplify(e) if isinstance(e, Expr) else e
    return e.value if isinstance(e, IntImm) else None


def constant(e: Any, what: str) -> int:
    """The value of what must be a constant."""
    value = known(e)
    if value is None:
        raise error(f"{what} must be a constant, this is {e!r}", "not-constant")
    return value


def constants(items: Any, what: str) -> list[int]:
    """The values of several constants; one alone counts as a list of one."""
    several = items if isinstance(items, (list, tuple)) else [items]
    return [constant(e, what) for e in several]


def extent(e: Any) -> Expr:
    """An extent, simplified."""
    return simplify(ops.as_expr(e))


def same(a: Expr, b: Expr) -> bool:
    """Whether two extents are known to be equal."""
    if a is b:
        return True
    difference = simplify(ops.sub(*ops.promote(a, b)))
    return isinstance(difference, IntImm) and difference.value == 0


def axis_of(axis: Any, ndim: int, what: str = "axis") -> int:
    """An axis counted from the front; negative ones count from the back."""
    n = constant(axis, what)
    if not -ndim <= n < max(ndim, 1):
        raise error(f"{what} {n} is out of range for {ndim} dimensions", "axis")
    return n + ndim if n < 0 else n


def axes_of(axis: Any, ndim: int) -> list[int]:
    """The axes to reduce, in order; None is all of them."""
    if axis is None:
        return list(range(ndim))
    out = [axis_of(a, ndim) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    if len(set(out)) != len(out):
        raise error(f"an axis is given twice: {axis}", "axis")
    return sorted(out)


def product(extents: Sequence[Expr]) -> Expr:
    """The number of elements of a shape."""
    out: Expr = const_int(1, extents[0].dtype if extents else "int32")
    for n in extents:
        out = ops.mul(out, n)
    return simplify(out)


def broadcast_shapes(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
    """The shape that two shapes broadcast to, aligned at the last dimension."""
    out: list[Expr] = []
    for k in range(1, max(len(a), len(b)) + 1):
        if k > len(a):
            out.append(b[-k])
        elif k > len(b):
            out.append(a[-k])
        else:
            x, y = a[-k], b[-k]
            if known(x) == 1:
                out.append(y)
            elif known(y) == 1 or same(x, y):
                out.append(x)
            else:
                raise error(
                    f"shapes {list(a)} and {list(b)} do not broadcast: {x} and {y} differ"
                    if known(x) is not None and known(y) is not None
                    else f"shapes {list(a)} and {list(b)} may not broadcast: "
                    f"{x} and {y} are not known to be equal"
                )
    return tuple(reversed(out))


def broadcast_index(t: Tensor, index: Sequence[Any]) -> list[Any]:
    """The index of ``t`` for an index of what it broadcasts to."""
    own = list(index[len(index) - t.ndim :]) if t.ndim else []
    return [const_int(0, n.dtype) if known(n) == 1 else i for i, n in zip(own, t.shape, strict=True)]


def flat_index(index: Sequence[Any], shape: Sequence[Expr]) -> Expr:
    """The row-major number of an element."""
    out: Expr | None = None
    for i, n in zip(index, shape, strict=True):
        out = i if out is None else ops.add(ops.mul(out, n), i)
    return const_int(0) if out is None else out


def unflat_index(number: Expr, shape: Sequence[Expr]) -> list[Expr]:
    """The index of the element with a row-major number."""
    out: list[Expr] = []
    rest = number
    for n in reversed(shape[1:]):
        out.append(simplify(ops.floormod(rest, n)))
        rest = simplify(ops.floordiv(rest, n))
    if shape:
        out.append(rest)
    return list(reversed(out))
