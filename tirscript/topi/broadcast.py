"""Operators of two tensors, or of a tensor and a number, with NumPy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.te import Tensor

from .shapes import broadcast_index, broadcast_shapes, error, known, same
from .tag import BROADCAST, ELEMWISE


def broadcast(f: Callable[[Any, Any], Any], name: str, a: Any, b: Any) -> Any:
    """``f`` of the elements of ``a`` and ``b`` that broadcast to each other; an expression of two numbers."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return f(a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        shape = broadcast_shapes(a.shape, b.shape)
        tag = BROADCAST
    else:
        shape = a.shape if isinstance(a, Tensor) else b.shape
        tag = ELEMWISE

    def element(t: Any, index: tuple[Any, ...]) -> Any:
        return t(*broadcast_index(t, index)) if isinstance(t, Tensor) else t

    names = [f"ax{n}" for n in range(len(shape))]
    return te.compute(
        shape, lambda *i: f(element(a, i), element(b, i)), name=name, tag=tag, varargs_names=names
    )


def _operator(name: str, f: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    def operator(lhs: Any, rhs: Any) -> Any:
        return broadcast(f, f"T_{name}", lhs, rhs)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = (
        f"{doc}\n\n    ``lhs`` and ``rhs`` are tensors or numbers; shapes broadcast as NumPy's do.\n    "
    )
    return operator


def _is_int(a: Any, b: Any) -> bool:
    return all(isinstance(x, (bool, int)) or (isinstance(x, Expr) and dt.is_int(x.dtype)) for x in (a, b))


def _divide(a: Any, b: Any) -> Any:
    return ops.truncdiv(a, b) if _is_int(a, b) else ops.div(a, b)


def _floor_divide(a: Any, b: Any) -> Any:
    return ops.floordiv(a, b) if _is_int(a, b) else ops.math_call("floor", ops.div(a, b))


def _mod(a: Any, b: Any) -> Any:
    return ops.truncmod(a, b) if _is_int(a, b) else ops.math_call("fmod", *ops.promote(a, b))


def _floor_mod(a: Any, b: Any) -> Any:
    if _is_int(a, b):
        return ops.floormod(a, b)
    # fmod is exact; its sign is that of the dividend, Python's that of the divisor.
    x, y = ops.promote(a, b)
    rest = ops.math_call("fmod", x, y)
    zero = ops.const(0, x.dtype)
    other = ops.logical_and(ops.ne(rest, zero), ops.ne(ops.lt(rest, zero), ops.lt(y, zero)))
    return ops.select(other, ops.add(rest, y), rest)


def _logical(f: Callable[[Any, Any], Expr]) -> Callable[[Any, Any], Expr]:
    return lambda a, b: f(ops.condition(a), ops.condition(b))


add = _operator("add", ops.add, "The sum.")
subtract = _operator("subtract", ops.sub, "The difference.")
multiply = _operator("multiply", ops.mul, "The product.")
divide = _operator("divide", _divide, "The quotient; of integers cut towards zero.")
floor_divide = _operator("floor_divide", _floor_divide, "The quotient rounded down.")
mod = _operator("mod", _mod, "The remainder of ``divide``, with the sign of ``lhs``.")
floor_mod = _operator("floor_mod", _floor_mod, "The remainder of ``floor_divide``, with the sign of ``rhs``.")
maximum = _operator("maximum", T.max, "The greater; nan where one is nan.")
minimum = _operator("minimum", T.min, "The lesser; nan where one is nan.")
power = _operator("power", ops.power, "``lhs`` to the power ``rhs``.")
atan2 = _operator(
    "atan2", lambda a, b: ops.math_call("atan2", *ops.promote(a, b)), "The angle of (rhs, lhs)."
)
log_add_exp = _operator("log_add_exp", te.logaddexp, "``log(exp(lhs) + exp(rhs))`` without overflow.")
left_shift = _operator("left_shift", T.shift_left, "``lhs << rhs`` of integers.")
right_shift = _operator("right_shift", T.shift_right, "``lhs >> rhs`` of integers.")
bitwise_and = _operator("bitwise_and", T.bitwise_and, "``lhs & rhs`` of integers.")
bitwise_or = _operator("bitwise_or", T.bitwise_or, "``lhs | rhs`` of integers.")
bitwise_xor = _operator("bitwise_xor", T.bitwise_xor, "``lhs ^ rhs`` of integers.")
greater = _operator("greater", ops.gt, "Where ``lhs > rhs``.")
less = _operator("less", ops.lt, "Where ``lhs < rhs``.")
equal = _operator("equal", ops.eq, "Where ``lhs == rhs``.")
not_equal = _operator("not_equal", ops.ne, "Where ``lhs != rhs``.")
greater_equal = _operator("greater_equal", ops.ge, "Where ``lhs >= rhs``.")
less_equal = _operator("less_equal", ops.le, "Where ``lhs <= rhs``.")
logical_and = _operator("logical_and", _logical(ops.logical_and), "Where both hold.")
logical_or = _operator("logical_or", _logical(ops.logical_or), "Where one holds.")
logical_xor = _operator("logical_xor", _logical(ops.ne), "Where exactly one holds.")
# TVM has both spellings.
floordiv, floormod = floor_divide, floor_mod
div = divide


def broadcast_to(data: Tensor, shape: Any) -> Tensor:
    """The tensor repeated to a shape that it broadcasts to.

    >>> from tirscript import te, topi
    >>> topi.broadcast_to(te.placeholder((3, 1)), (2, 3, 4)).shape
    (2, 3, 4)
    """
    wanted = te.operation.shape_of(shape)
    if len(wanted) < data.ndim:
        raise error(f"shape {list(data.shape)} does not broadcast to {list(wanted)}")
    for have, want in zip(data.shape, wanted[len(wanted) - data.ndim :], strict=True):
        if known(have) != 1 and not same(have, want):
            raise error(f"shape {list(data.shape)} does not broadcast to {list(wanted)}")
    out: Tensor = te.compute(
        wanted, lambda *i: data(*broadcast_index(data, i)), name="T_broadcast_to", tag=BROADCAST,
        varargs_names=[f"ax{n}" for n in range(len(wanted))],
    )  # fmt: skip
    return out


__all__ = [
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_to", "div", "divide",
    "equal", "floor_divide", "floor_mod", "floordiv", "floormod", "greater", "greater_equal",
    "left_shift", "less", "less_equal", "log_add_exp", "logical_and", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip
