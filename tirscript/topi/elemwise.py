"""Functions of each element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import error, same
from .tag import ELEMWISE


def elementwise(x: Tensor, f: Callable[[Any], Any], name: str = "compute", prefix: str = "i") -> Tensor:
    """``f`` of each element of ``x``."""
    if not isinstance(x, Tensor):
        raise error(f"a tensor is wanted, this is {type(x).__name__}", "not-a-tensor")
    names = [f"{prefix}{n}" for n in range(x.ndim)]
    out: Tensor = te.compute(x.shape, lambda *i: f(x(*i)), name=name, tag=ELEMWISE, varargs_names=names)
    return out


def _function(
    called: str, f: Callable[[Any], Any], doc: str, name: str = "compute", prefix: str = "i"
) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        return elementwise(x, f, name, prefix)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = doc
    return function


def _math(name: str, doc: str) -> Callable[[Tensor], Tensor]:
    return _function(name, lambda x: getattr(T, name)(x), doc)


exp = _math("exp", "e to the power of each element.")
log = _math("log", "The natural logarithm of each element.")
log2 = _math("log2", "The logarithm to base 2 of each element.")
log10 = _math("log10", "The logarithm to base 10 of each element.")
sqrt = _math("sqrt", "The square root of each element.")
rsqrt = _math("rsqrt", "``1 / sqrt(x)`` of each element.")
sigmoid = _math("sigmoid", "``1 / (1 + exp(-x))`` of each element.")
erf = _math("erf", "The error function of each element.")
sin = _math("sin", "The sine of each element.")
cos = _math("cos", "The cosine of each element.")
tan = _math("tan", "The tangent of each element.")
asin = _math("asin", "The inverse sine of each element.")
acos = _math("acos", "The inverse cosine of each element.")
atan = _math("atan", "The inverse tangent of each element.")
sinh = _math("sinh", "The hyperbolic sine of each element.")
cosh = _math("cosh", "The hyperbolic cosine of each element.")
tanh = _math("tanh", "The hyperbolic tangent of each element.")
asinh = _math("asinh", "The inverse hyperbolic sine of each element.")
acosh = _math("acosh", "The inverse hyperbolic cosine of each element.")
atanh = _math("atanh", "The inverse hyperbolic tangent of each element.")
floor = _math("floor", "Each element rounded down.")
ceil = _math("ceil", "Each element rounded up.")
trunc = _math("trunc", "Each element cut towards zero.")
round = _math("round", "Each element rounded to the nearest integer, halves to the even one.")
isnan = _math("isnan", "Where elements are nan.")
isfinite = _math("isfinite", "Where elements are neither infinite nor nan.")
isinf = _math("isinf", "Where elements are infinite.")
abs = _function("abs", T.abs, "The magnitude of each element.")
identity = _function("identity", lambda x: x, "Each element.")
negative = _function("negative", ops.neg, "Each element negated.")
bitwise_not = _function(
    "bitwise_not", ops.bitwise_not, "The bits of each element inverted.", name="T_bitwise_not", prefix="ax"
)
logical_not = _function(
    "logical_not", lambda x: ops.logical_not(ops.condition(x)), "Where elements are zero or false.",
    name="T_logical_not", prefix="ax",
)  # fmt: skip


def _fast(name: str) -> Callable[[Tensor], Tensor]:
    """The name for a quicker, less exact form: here the functions themselves are quick."""
    doc = f"As ``{name}``."
    return _function(f"fast_{name}", lambda x: ops.math_call(name, x), doc, f"T_fast_{name}", "ax")


fast_exp = _fast("exp")
fast_tanh = _fast("tanh")
fast_erf = _fast("erf")


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1 of each element; nan of nan."""

    def f(v: Expr) -> Expr:
        zero, one = ops.const(0, v.dtype), ops.const(1, v.dtype)
        if dt.info(v.dtype).code in ("uint", "bool"):
            return ops.select(ops.ne(v, zero), one, zero)
        other = v if dt.info(v.dtype).is_float else zero  # keeps nan and the sign of zero
        return ops.select(ops.gt(v, zero), one, ops.select(ops.lt(v, zero), ops.const(-1, v.dtype), other))

    return elementwise(x, f, "T_sign", "ax")


def cast(x: Any, dtype: Any, span: Any = None) -> Any:
    """Each element converted to ``dtype``."""
    kind = read_dtype(dtype)
    return elementwise(x, lambda v: ops.cast(v, kind)) if isinstance(x, Tensor) else ops.cast(x, kind)


def reinterpret(x: Tensor, dtype: Any) -> Tensor:
    """The bits of each element as another dtype of the same width."""
    return elementwise(x, lambda v: T.reinterpret(read_dtype(dtype), v), "tensor", "ax")


def clip(x: Tensor, a_min: Any, a_max: Any) -> Tensor:
    """Each element held between two numbers; nan stays nan.

    >>> from tirscript import te, topi
    >>> topi.clip(te.placeholder((4,), "int8"), 0, 6).dtype
    'int8'
    """

    def f(v: Expr) -> Expr:
        low, high = (ops.cast(ops.as_expr(e), v.dtype) for e in (a_min, a_max))
        return T.max(T.min(v, high), low)

    return elementwise(x, f)


def full(shape: Any, dtype: Any, fill_value: Any) -> Tensor:
    """A tensor that holds one value everywhere."""
    kind = read_dtype(dtype)
    extents = te.operation.shape_of(shape)
    value = fill_value if isinstance(fill_value, Expr) else ops.const(fill_value, kind)
    out: Tensor = te.compute(
        extents, lambda *i: ops.cast(value, kind), name="T_full", tag=ELEMWISE,
        varargs_names=[f"ax{n}" for n in range(len(extents))],
    )  # fmt: skip
    return out


def full_like(x: Tensor, fill_value: Any) -> Tensor:
    """A tensor of the shape and dtype of ``x`` that holds one value everywhere."""
    value = fill_value if isinstance(fill_value, Expr) else ops.const(fill_value, x.dtype)
    return elementwise(x, lambda v: ops.cast(value, x.dtype), "T_full_like", "ax")


def elemwise_sum(xs: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of one shape."""
    if not xs:
        raise error("a sum of no tensors", "arity")
    for x in xs[1:]:
        if x.ndim != xs[0].ndim or not all(same(a, b) for a, b in zip(x.shape, xs[0].shape, strict=True)):
            raise error(f"shapes {list(xs[0].shape)} and {list(x.shape)} differ")

    def f(*i: Any) -> Any:
        out = xs[0](*i)
        for x in xs[1:]:
            out = out + x(*i)
        return out

    names = [f"ax{n}" for n in range(xs[0].ndim)]
    out: Tensor = te.compute(xs[0].shape, f, name="T_elemwise_sum", tag=ELEMWISE, varargs_names=names)
    return out


def ceil_log2(x: Any) -> Any:
    """The least power of 2 that is not below each positive number, as an exponent."""

    def f(v: Any) -> Expr:
        e = ops.as_expr(v)
        if not dt.is_int(e.dtype):
            return ops.math_call("ceil", ops.math_call("log2", e))
        wide = dt.info(e.dtype).bits
        less = ops.sub(e, ops.const(1, e.dtype))
        return ops.cast(ops.sub(ops.const(wide, "int32"), ops.cast(T.clz(less), "int32")), e.dtype)

    if isinstance(x, int):
        return ops.const(max(x - 1, 0).bit_length())
    if isinstance(x, float):
        return ops.const(float(math.ceil(math.log2(x))))
    return elementwise(x, f) if isinstance(x, Tensor) else f(x)


def fixed_point_multiply(x: Tensor, multiplier: int, shift: int) -> Tensor:
    """``x * multiplier * 2**(shift - 31)`` of int32, rounded half up: fixed-point scaling."""
    q, s = ops.const(31), ops.const(shift)
    return elementwise(x, lambda v: T.q_multiply_shift(v, ops.const(multiplier), q, s))


__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "cast",
    "ceil",
    "ceil_log2",
    "clip",
    "cos",
    "cosh",
    "elemwise_sum",
    "erf",
    "exp",
    "fast_erf",
    "fast_exp",
    "fast_tanh",
    "fixed_point_multiply",
    "floor",
    "full",
    "full_like",
    "identity",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "reinterpret",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip
