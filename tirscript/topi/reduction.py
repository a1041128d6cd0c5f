"""Reductions of whole axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.te import Tensor

from .shapes import axes_of, error, flat_index, known, same
from .tag import COMM_REDUCE, COMM_REDUCE_IDX


def _reduced(data: Tensor, axis: Any, keepdims: bool) -> tuple[list[int], tuple[Expr, ...], list[Any]]:
    """The axes, the shape of the result, and reduce axes for them."""
    if not isinstance(data, Tensor):
        raise error(f"a tensor is wanted, this is {type(data).__name__}", "not-a-tensor")
    axes = axes_of(axis, data.ndim)
    shape = []
    for n, e in enumerate(data.shape):
        if n not in axes:
            shape.append(e)
        elif keepdims:
            shape.append(const_int(1, e.dtype))
    rest = [te.reduce_axis((0, data.shape[n]), name=f"k{n}") for n in axes]
    return axes, tuple(shape), rest


def _index(ndim: int, axes: list[int], keepdims: bool, outer: tuple[Any, ...], inner: list[Any]) -> list[Any]:
    """The index of an element of the operand."""
    own, ks = list(outer), [a.var for a in inner]
    out = []
    for n in range(ndim):
        if n in axes:
            out.append(ks.pop(0))
            if keepdims:
                own.pop(0)
        else:
            out.append(own.pop(0))
    return out


def comm_reduce(
    data: Tensor, reducer: Callable[..., Any], axis: Any, keepdims: bool, *, name: str | None = None
) -> Tensor:
    """``reducer`` over axes of ``data``."""
    axes, shape, inner = _reduced(data, axis, keepdims)

    def f(*i: Any) -> Any:
        value = data(*_index(data.ndim, axes, keepdims, i, inner))
        return reducer(value, axis=inner) if inner else value

    names = [f"ax{n}" for n in range(len(shape))]
    out: Tensor = te.compute(shape, f, name=name or f"{data.name}_red", tag=COMM_REDUCE, varargs_names=names)
    return out


def sum(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum over ``axis``: an axis, several, or None for all.

    >>> from tirscript import te, topi
    >>> topi.sum(te.placeholder((2, 3, 4)), axis=(0, -1), keepdims=True).shape
    (1, 3, 1)
    """
    return comm_reduce(data, te.sum, axis, keepdims)


def prod(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product over ``axis``."""
    return comm_reduce(data, te.prod, axis, keepdims)


def max(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The greatest element over ``axis``; nan where one is nan."""
    return comm_reduce(data, te.max, axis, keepdims)


def min(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The least element over ``axis``; nan where one is nan."""
    return comm_reduce(data, te.min, axis, keepdims)


def all(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements over ``axis`` hold."""
    return comm_reduce(data, _conditions(te.all), axis, keepdims)


def any(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether an element over ``axis`` holds."""
    return comm_reduce(data, _conditions(te.any), axis, keepdims)


def _conditions(reducer: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, axis: reducer(ops.condition(value), axis=axis)


def argmax(data: Tensor, axis: Any = None, keepdims: bool = False, select_last_index: bool = False) -> Tensor:
    """The index of the greatest element over ``axis`` (int32), the first of equal ones.

    Over several axes it is the row-major number among them.  The first nan counts as the greatest, as in
    NumPy.
    """
    return _arg(data, axis, keepdims, select_last_index, ops.gt, "max")


def argmin(data: Tensor, axis: Any = None, keepdims: bool = False, select_last_index: bool = False) -> Tensor:
    """The index of the least element over ``axis`` (int32), the first of equal ones."""
    return _arg(data, axis, keepdims, select_last_index, ops.lt, "min")


def _arg(
    data: Tensor, axis: Any, keepdims: bool, last: bool, better: Callable[[Any, Any], Expr], kind: str
) -> Tensor:
    from tirscript.analysis.reducer import identity_of

    axes, shape, inner = _reduced(data, axis, keepdims)

    def combine(a: Any, b: Any) -> tuple[Expr, Expr]:
        # The index decides between equal values, so that the order of combination does not matter;
        # index -1 is that of nothing.
        wins = better(a[1], b[1])
        tie = ops.eq(a[1], b[1])
        if dt.info(a[1].dtype).is_float:
            wins = ops.logical_or(wins, ops.logical_and(ops.ne(a[1], a[1]), ops.eq(b[1], b[1])))
            tie = ops.logical_or(tie, ops.logical_and(ops.ne(a[1], a[1]), ops.ne(b[1], b[1])))
        order = ops.gt(a[0], b[0]) if last else ops.lt(a[0], b[0])
        if not last:
            order = ops.logical_and(order, ops.ge(a[0], 0))
            order = ops.logical_or(order, ops.lt(b[0], 0))
        first = ops.logical_or(wins, ops.logical_and(tie, order))
        return ops.select(first, a[0], b[0]), ops.select(first, a[1], b[1])

    def identity(index: str, value: str) -> tuple[Expr, Expr]:
        return ops.const(-1, index), identity_of(kind, value)

    reducer = te.comm_reducer(combine, identity, name=f"arg{kind}")
    extents = [data.shape[n] for n in axes]

    def f(*i: Any) -> Any:
        at = _index(data.ndim, axes, keepdims, i, inner)
        number = flat_index([a.var for a in inner], extents)
        return reducer((ops.cast(number, "int32"), data(*at)), axis=inner)

    names = [f"ax{n}" for n in range(len(shape))]
    if not axes:
        out: Tensor = te.compute(shape, lambda *i: const_int(0), name=f"{data.name}_red", varargs_names=names)
        return out
    pair = te.compute(shape, f, name=f"{data.name}_red_temp", tag=COMM_REDUCE_IDX, varargs_names=names)
    out = te.compute(
        shape, lambda *i: pair[0](*i), name=f"{data.name}_red", tag=COMM_REDUCE_IDX, varargs_names=names
    )
    return out


def collapse_sum(data: Tensor, target_shape: Any) -> Tensor:
    """The sum that undoes a broadcast from ``target_shape``."""
    wanted = te.operation.shape_of(target_shape)
    lead = data.ndim - len(wanted)
    if lead < 0:
        raise error(f"shape {list(data.shape)} is no broadcast of {list(wanted)}")
    axes = list(range(lead))
    kept = []
    for n, want in enumerate(wanted):
        if known(want) == 1 and known(data.shape[lead + n]) != 1:
            axes.append(lead + n)
            kept.append(n)
        elif not same(want, data.shape[lead + n]):
            raise error(f"shape {list(data.shape)} is no broadcast of {list(wanted)}")
    inner = [te.reduce_axis((0, data.shape[n]), name=f"k{n}") for n in axes]

    def f(*i: Any) -> Any:
        ks = [a.var for a in inner]
        at = [ks.pop(0) for _ in range(lead)]
        at += [ks.pop(0) if n in kept else i[n] for n in range(len(wanted))]
        value = data(*at)
        return te.sum(value, axis=inner) if inner else value

    names = [f"ax{n}" for n in range(len(wanted))]
    out: Tensor = te.compute(wanted, f, name=f"{data.name}_red", tag=COMM_REDUCE, varargs_names=names)
    return out


__all__ = [
    "all", "any", "argmax", "argmin", "collapse_sum", "max", "min", "prod", "sum",
]  # fmt: skip
