"""Reductions: ``te.sum(A[i, k], axis=k)``, and reducers of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.expr import CommReducer, Expr, IterVar, Range, Var
from tirscript.ir.node import node


@node
class Reduce(Expr):
    """A reduction over ``axis``: the value ``value_index`` of the combination of ``source``.

    It is the whole body of a ``te.compute``, never a part of an expression.
    """

    combiner: CommReducer
    source: tuple[Expr, ...]
    init: tuple[Expr, ...]
    axis: tuple[IterVar, ...]
    condition: Expr | None
    value_index: int
    dtype: str

    def __repr__(self) -> str:
        axes = ", ".join([a.var.name for a in self.axis])
        return f"reduce({', '.join([repr(e) for e in self.source])}, axis=[{axes}])"


def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "", span: Any = None) -> IterVar:
    """An axis to reduce over: ``dom`` is ``(begin, end)`` or a Range.

    >>> from tirscript import te
    >>> k = te.reduce_axis((0, 16), name="k")
    >>> k.var, k.dom.extent.value
    (k, 16)
    """
    if isinstance(dom, Range):
        begin, extent = dom.min, dom.extent
    else:
        if not isinstance(dom, (tuple, list)) or len(dom) != 2:
            raise TirscriptError(f"a range is (begin, end), this is {dom!r}", code="range")
        begin = ops.index(dom[0])
        end = ops.index(dom[1])
        from tirscript.arith import simplify

        extent = simplify(ops.sub(end, begin))
        if begin.dtype != extent.dtype:
            begin = ops.cast(begin, extent.dtype)
    if thread_tag:
        raise TirscriptError("thread tags belong to schedules: use Schedule.bind", code="thread-tag")
    return IterVar(Var(name, extent.dtype), Range(begin, extent), "reduce")


def comm_reducer(
    fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Callable[..., Any]:
    """A reducer from a commutative, associative ``fcombine(x, y)`` and ``fidentity(*dtypes)``.

    The reducer is called as ``reducer(expr, axis, where=None, init=None)``; with several values ``expr``,
    ``x`` and ``y`` are tuples, and the result is one expression for each value.  Called with expressions
    only it combines them.

    >>> from tirscript import te
    >>> from tirscript.script import tir as T
    >>> bits = te.comm_reducer(lambda x, y: x | y, lambda dtype: T.IntImm(dtype, 0), name="bits")
    >>> A = te.placeholder((8,), "int32", name="A")
    >>> k = te.reduce_axis((0, 8), name="k")
    >>> te.compute((1,), lambda i: bits(A[k], axis=k), name="B").dtype
    'int32'
    """

    def reducer(expr: Any, axis: Any = None, where: Any = None, init: Any = None, *more: Any) -> Any:
        if _are_axes(axis):
            return _reduce(fcombine, fidentity, name, expr, axis, where, init)
        operands = [e for e in (expr, axis, where, init, *more) if e is not None]
        if len(operands) < 2:
            raise TirscriptError(
                f"te.{name} takes an expression and reduce axes, or several expressions", code="reduce-axis"
            )
        result = operands[0]
        for e in operands[1:]:
            result = fcombine(result, e)
        return result

    reducer.__name__ = reducer.__qualname__ = name
    return reducer


def _are_axes(axis: Any) -> bool:
    if isinstance(axis, IterVar):
        return True
    return isinstance(axis, (list, tuple)) and all(isinstance(a, IterVar) for a in axis)


def _reduce(fcombine: Any, fidentity: Any, name: str, expr: Any, axis: Any, where: Any, init: Any) -> Any:
    axes = (axis,) if isinstance(axis, IterVar) else tuple(axis)
    for a in axes:
        if a.kind != "reduce":
            raise TirscriptError(
                f"`{a.var.name}` is no reduce axis", code="reduce-axis", hint="te.reduce_axis makes one"
            )
    several = isinstance(expr, (list, tuple))
    source = tuple([ops.as_expr(e) for e in (expr if several else (expr,))])
    if not axes:
        return source if several else source[0]
    for e in source:
        if isinstance(e, Reduce):
            raise nested()
    dtypes = [e.dtype for e in source]
    left = tuple([Var(f"x{n}" if several else "x", d, False) for n, d in enumerate(dtypes)])
    right = tuple([Var(f"y{n}" if several else "y", d, False) for n, d in enumerate(dtypes)])
    result = fcombine(left, right) if several else fcombine(left[0], right[0])
    neutral = fidentity(*dtypes)
    results = tuple(result) if several else (result,)
    neutrals = tuple(neutral) if isinstance(neutral, (list, tuple)) else (neutral,)
    if len(results) != len(source) or len(neutrals) != len(source):
        raise TirscriptError(
            f"reducer {name}: {len(source)} values, {len(results)} results, {len(neutrals)} identities",
            code="arity",
        )
    combiner = CommReducer(
        left,
        right,
        tuple([ops.cast(r, d) for r, d in zip(results, dtypes, strict=True)]),
        tuple([ops.as_expr(e, d) for e, d in zip(neutrals, dtypes, strict=True)]),
    )
    starts = () if init is None else tuple(init) if isinstance(init, (list, tuple)) else (init,)
    if starts and len(starts) != len(source):
        raise TirscriptError(
            f"reducer {name}: {len(source)} values, {len(starts)} initial ones", code="arity"
        )
    begins = tuple([ops.as_expr(e, d) for e, d in zip(starts, dtypes, strict=False)])
    test = None if where is None else ops.condition(where)
    out = tuple([Reduce(combiner, source, begins, axes, test, n, d) for n, d in enumerate(dtypes)])
    return out if several else out[0]


def nested() -> TirscriptError:
    """What is said of a reduction inside an expression."""
    return TirscriptError(
        "a reduction is the whole body of a te.compute, not a part of an expression",
        code="nested-reduction",
        hint="compute the reduction as a tensor of its own, then use its elements in another te.compute",
    )
