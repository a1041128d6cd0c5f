"""Tensors made of nothing but numbers and shapes, and diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, FloatImm, IntImm, const_int
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import (
    constants,
    error,
    extent,
    known,
    product,
)
from .tag import INJECTIVE
from .transform import injective


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "float32") -> Tensor:
    """Numbers from ``start`` up to ``stop`` (not included) by ``step``; with one number from 0.

    >>> from tirscript import topi
    >>> topi.arange(2, 9, 3, "int32").shape
    (3,)
    """
    kind = read_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    first, last, by = (ops.as_expr(e) for e in (start, stop, step))
    values: list[Any] = [e.value for e in (first, last, by) if isinstance(e, (IntImm, FloatImm))]
    if len(values) == 3:
        if values[2] == 0:
            raise error("the step of arange is not 0", "slice")
        count: Expr = const_int(max(0, -int(-(values[1] - values[0]) // values[2])))
    else:
        sign = known(by)
        if sign is None or any(not dt.is_int(e.dtype) for e in (first, last)):
            raise error("the extent of arange must follow from integers and a constant step", "not-constant")
        gap = ops.sub(last, first) if sign > 0 else ops.sub(first, last)
        magnitude = sign if sign > 0 else -sign
        count = extent(ops.floordiv(ops.add(gap, magnitude - 1), magnitude))
    return injective(
        [count],
        lambda i: ops.cast(
            ops.add(ops.cast(first, kind), ops.mul(ops.cast(by, kind), ops.cast(i, kind))), kind
        ),
        "T_arange",
    )


def meshgrid(a_tuple: Sequence[Tensor], indexing: str = "ij") -> list[Tensor]:
    """A grid for each of several vectors; ``indexing`` is ``ij`` or ``xy`` (the first two exchanged)."""
    vectors = list(a_tuple)
    if indexing not in ("ij", "xy"):
        raise error(f"indexing is 'ij' or 'xy', not {indexing!r}", "mode")
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    one = const_int(1)
    shape = [vectors[n].shape[0] if vectors[n].ndim else one for n in order]
    return [
        injective(shape, lambda *i, t=t, at=at: t(i[at]) if t.ndim else t(), "T_meshgrid")
        for t, at in zip(vectors, sorted(range(len(order)), key=order.__getitem__), strict=True)
    ]


def shape(array: Tensor, dtype: Any = "int32") -> Tensor:
    """The shape as a vector."""
    kind = read_dtype(dtype)

    def f(i: Any) -> Any:
        out: Expr = ops.const(0, kind)
        for n in range(array.ndim - 1, -1, -1):
            out = ops.if_then_else(ops.eq(i, n), ops.cast(array.shape[n], kind), out)
        return out

    return injective([const_int(array.ndim)], lambda *i: f(i[0]), "T_shape")


def tensor_size(array: Tensor, dtype: Any = "int32") -> Tensor:
    """The number of elements."""
    kind = read_dtype(dtype)
    out: Tensor = te.compute(
        (), lambda: ops.cast(product(array.shape), kind), name="tensor_size", tag=INJECTIVE
    )
    return out


def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = "float32") -> Tensor:
    """Ones on the diagonal number ``k``, zeros elsewhere."""
    kind = read_dtype(dtype)
    columns = n if m is None else m
    one, zero = ops.const(1, kind), ops.const(0, kind)
    out: Tensor = te.compute(
        (n, columns), lambda i, j: ops.select(ops.eq(ops.sub(j, i), k), one, zero), name="eye"
    )
    return out


def trilu(data: Tensor, k: Any, upper: bool) -> Tensor:
    """The upper (or lower) triangle of the last two axes, from diagonal ``k``; zeros elsewhere."""
    if data.ndim < 2:
        raise error("a triangle has at least two axes", "axis")
    zero = ops.const(0, data.dtype)

    def f(*i: Any) -> Any:
        gap = ops.sub(i[-1], i[-2])
        keep = ops.ge(gap, k) if upper else ops.le(gap, k)
        return ops.select(keep, data(*i), zero)

    out: Tensor = te.compute(data.shape, f, name="trilu", tag="elemwise")
    return out


def matrix_set_diag(data: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """The matrices of the last two axes with diagonals replaced.

    ``k`` is one diagonal, or the lowest and the highest of a band, whose rows ``diagonal`` holds from the
    highest to the lowest; ``align`` says where shorter ones stand: superdiagonals first, then subdiagonals.
    """
    ks = constants(k, "k")
    low, high = ks[0], ks[-1]
    if low > high or align not in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise error(f"no band of diagonals from {low} to {high}, aligned {align}", "mode")
    upper_right, lower_right = align.startswith("RIGHT"), align.endswith("RIGHT")
    one_row = low == high and diagonal.ndim == data.ndim - 1
    rows, columns = data.shape[-2], data.shape[-1]
    longest = diagonal.shape[-1]

    def f(*i: Any) -> Any:
        *batch, r, c = i
        gap = ops.sub(c, r)
        along = ops.select(ops.ge(gap, 0), r, c)
        if one_row:
            place = [*batch, along]
        else:
            below = T.min(ops.add(rows, T.min(gap, 0)), ops.sub(columns, T.max(gap, 0)))
            shift = ops.sub(longest, below)
            right = ops.select(ops.ge(gap, 0), upper_right, lower_right)
            place = [*batch, ops.sub(high, gap), ops.add(along, ops.select(right, shift, 0))]
        inside = ops.logical_and(ops.ge(gap, low), ops.le(gap, high))
        return ops.if_then_else(inside, diagonal(*place), data(*i))

    return injective(data.shape, f, "T_matrix_set_diag")


def const_vector(vector: Any, name: str = "const_vector") -> Tensor:
    """A vector of known numbers."""
    import numpy as np

    values = np.asarray(vector)
    if values.ndim != 1:
        raise error(f"a vector is wanted, this has {values.ndim} dimensions")
    kind = str(values.dtype)

    def f(i: Any) -> Any:
        out: Expr = ops.const(values[-1].item(), kind) if len(values) else ops.const(0, kind)
        for n in range(len(values) - 2, -1, -1):
            out = ops.select(ops.eq(i, n), ops.const(values[n].item(), kind), out)
        return out

    result: Tensor = te.compute((len(values),), f, name=name)
    return result


ndarray_size = tensor_size


__all__ = [
    "arange", "const_vector", "eye", "matrix_set_diag", "meshgrid", "ndarray_size", "shape",
    "tensor_size", "trilu",
]  # fmt: skip
