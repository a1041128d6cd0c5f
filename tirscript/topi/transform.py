"""Operators that give elements another shape or order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.te import Tensor

from .shapes import (
    axis_of,
    constant,
    constants,
    error,
    extent,
    flat_index,
    known,
    product,
    unflat_index,
)
from .tag import BROADCAST, INJECTIVE


def injective(shape: Sequence[Expr], f: Callable[..., Any], name: str, tag: str = INJECTIVE) -> Tensor:
    """A tensor whose axes are called ``ax0``, ``ax1`` and so on."""
    out: Tensor = te.compute(
        tuple(shape), f, name=name, tag=tag, varargs_names=[f"ax{n}" for n in range(len(shape))]
    )
    return out


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """The axes in another order; by default reversed.

    >>> from tirscript import te, topi
    >>> topi.transpose(te.placeholder((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3)
    """
    order = list(range(a.ndim))[::-1] if axes is None or (axes == [] and a.ndim) else [
        axis_of(n, a.ndim) for n in axes
    ]  # fmt: skip
    if sorted(order) != list(range(a.ndim)):
        raise error(f"{list(axes)} is no order of {a.ndim} axes", "axis")

    def f(*i: Any) -> Any:
        at: list[Any] = [None] * a.ndim
        for place, n in enumerate(order):
            at[n] = i[place]
        return a(*at)

    return injective([a.shape[n] for n in order], f, "T_transpose")


def expand_dims(a: Tensor, axis: Any, num_newaxis: int = 1) -> Tensor:
    """New axes of extent 1 before ``axis``."""
    at = axis_of(axis, a.ndim + 1)
    one = const_int(1, a.shape[0].dtype if a.shape else "int32")
    shape = [*a.shape[:at], *[one] * num_newaxis, *a.shape[at:]]
    return injective(shape, lambda *i: a(*i[:at], *i[at + num_newaxis :]), "T_expand_dims", BROADCAST)


def expand_like(a: Tensor, shape_like: Tensor, axis: Any) -> Tensor:
    """``a`` repeated along new axes, to the shape of another tensor."""
    axes = sorted([axis_of(n, shape_like.ndim) for n in constants(axis, "axis")])
    if a.ndim + len(axes) != shape_like.ndim and not (a.ndim == 1 and len(axes) == shape_like.ndim):
        raise error(f"{a.ndim} dimensions and {len(axes)} axes do not make {shape_like.ndim}", "axis")
    out: Tensor = te.compute(
        shape_like.shape, lambda *i: a(*[v for n, v in enumerate(i) if n not in axes][: a.ndim] or [0])
    )
    return out


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    """The tensor without axes of extent 1: all of them, or those that are given."""
    if axis is None:
        gone = [n for n, e in enumerate(a.shape) if known(e) == 1]
    else:
        gone = [axis_of(n, a.ndim) for n in constants(axis, "axis")]
        for n in gone:
            if known(a.shape[n]) not in (1, None):
                raise error(f"axis {n} has extent {a.shape[n]}, only 1 can be squeezed", "axis")
    kept = [n for n in range(a.ndim) if n not in gone]

    def f(*i: Any) -> Any:
        at: list[Any] = [const_int(0, e.dtype) for e in a.shape]
        for v, n in zip(i, kept, strict=True):
            at[n] = v
        return a(*at)

    return injective([a.shape[n] for n in kept], f, "T_squeeze")


def reshape(a: Tensor, newshape: Any) -> Tensor:
    """The elements in row-major order in another shape; one extent may be -1.

    >>> from tirscript import te, topi
    >>> topi.reshape(te.placeholder((4, 6)), (3, -1)).shape
    (3, 8)
    """
    wanted = [ops.index(n) for n in (newshape if isinstance(newshape, (tuple, list)) else [newshape])]
    total = product(a.shape)
    free = [n for n, e in enumerate(wanted) if known(e) == -1]
    if len(free) > 1:
        raise error("only one extent may be -1")
    if free:
        rest = product([e for e in wanted if known(e) != -1])
        if known(rest) == 0 or (
            known(total) is not None and known(rest) is not None and (known(total) or 0) % (known(rest) or 1)
        ):
            raise error(f"{total} elements do not divide into {rest}")
        wanted[free[0]] = simplify(ops.floordiv(total, rest))
    elif known(simplify(ops.sub(*ops.promote(product(wanted), total)))) not in (0, None):
        raise error(f"shape {list(a.shape)} has {total} elements, {wanted} has {product(wanted)}")
    shape = te.operation.shape_of(wanted)
    if known(total) == 0:
        return injective(shape, lambda *i: ops.const(0, a.dtype), "T_reshape")

    def f(*i: Any) -> Any:
        return a(*simple(unflat_index(flat_index(i, shape), a.shape), i, shape))

    return injective(shape, f, "T_reshape")


def simple(index: list[Expr], axes: Sequence[Any], shape: Sequence[Expr]) -> list[Expr]:
    """Indices simplified where the axes run over their extents."""
    from tirscript.arith import Analyzer
    from tirscript.ir.expr import Range, Var

    analyzer = Analyzer()
    for v, n in zip(axes, shape, strict=True):
        if isinstance(v, Var):
            analyzer.bind(v, Range(const_int(0, n.dtype), n))
    return [analyzer.simplify(e) for e in index]


def repeat(a: Tensor, repeats: int, axis: int) -> Tensor:
    """Each part along an axis several times."""
    at = axis_of(axis, a.ndim)
    count = constant(repeats, "repeats")
    shape = [*a.shape[:at], extent(ops.mul(a.shape[at], count)), *a.shape[at + 1 :]]
    return injective(
        shape, lambda *i: a(*i[:at], ops.floordiv(i[at], count), *i[at + 1 :]), "T_repeat", BROADCAST
    )


def tile(a: Tensor, reps: Any) -> Tensor:
    """The whole tensor several times along each axis, as ``numpy.tile``."""
    counts = [ops.index(r) for r in (reps if isinstance(reps, (list, tuple)) else [reps])]
    lead = max(0, len(counts) - a.ndim)
    counts = [const_int(1)] * (a.ndim - len(counts)) + counts
    own = [const_int(1)] * lead + list(a.shape)
    shape = [extent(ops.mul(*ops.promote(n, r))) for n, r in zip(own, counts, strict=True)]
    return injective(
        shape,
        lambda *i: a(
            *[
                v if known(r) == 1 or known(n) == 0 else ops.floormod(v, n)
                for v, n, r in zip(i[lead:], a.shape, counts[lead:], strict=True)
            ]
        ),
        "T_tile", BROADCAST,
    )  # fmt: skip


def flip(a: Tensor, axis: int = 0) -> Tensor:
    """The order along an axis reversed."""
    at = axis_of(axis, a.ndim)
    top = extent(ops.sub(a.shape[at], 1))
    return injective(a.shape, lambda *i: a(*i[:at], ops.sub(top, i[at]), *i[at + 1 :]), "T_reverse_sequence")


__all__ = [
    "expand_dims", "expand_like", "flip", "repeat", "reshape", "squeeze", "tile", "transpose",
]  # fmt: skip
