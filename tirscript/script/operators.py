"""The operators of ``T``: mathematics, comparisons, conversions, constants, vectors, lets and reducers.

They are ordinary functions that build expressions, in a script and outside of one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tirscript.diagnostics import NotYetError, TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir import expr as nodes
from tirscript.ir import ops
from tirscript.ir.expr import Expr


def read_dtype(value: Any) -> str:
    """``value``, a dtype in any spelling, as a string."""
    try:
        return dt.normalize(value.dtype if isinstance(value, Expr) else value)
    except (ValueError, TypeError) as e:
        raise TirscriptError(str(e), code="dtype") from None


def _lanes(value: Any) -> int:
    if isinstance(value, nodes.IntImm):
        value = value.value
    if isinstance(value, Expr):
        raise NotYetError("vectors whose length is known at run time are not supported yet", code="not-yet")
    if not isinstance(value, int) or value < 1:
        raise TirscriptError(f"a number of lanes is a positive integer, this is {value!r}", code="lanes")
    return value


def dtype_anywhere(f: Any) -> Any:
    """A function of a dtype and more that is also called with ``dtype=`` after positional arguments."""

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        if "dtype" in kwargs and args:
            args = (kwargs.pop("dtype"), *args)
        return f(*args, **kwargs)

    return function


# ---- mathematics

_MATH = {
    "exp": "e to the power x.", "exp2": "2 to the power x.", "exp10": "10 to the power x.",
    "log": "The natural logarithm.", "log2": "The logarithm to base 2.", "log10": "The logarithm to base 10.",
    "log1p": "The natural logarithm of 1 + x.",
    "sin": "The sine.", "cos": "The cosine.", "tan": "The tangent.",
    "asin": "The inverse sine.", "acos": "The inverse cosine.", "atan": "The inverse tangent.",
    "sinh": "The hyperbolic sine.", "cosh": "The hyperbolic cosine.", "tanh": "The hyperbolic tangent.",
    "asinh": "The inverse hyperbolic sine.", "acosh": "The inverse hyperbolic cosine.",
    "atanh": "The inverse hyperbolic tangent.",
    "sqrt": "The square root.", "rsqrt": "1 / sqrt(x).", "sigmoid": "1 / (1 + exp(-x)).",
    "erf": "The error function.",
    "floor": "The largest whole number not above x.", "ceil": "The smallest whole number not below x.",
    "round": "The nearest whole number, ties to even.",
    "nearbyint": "The nearest whole number, ties to even.", "trunc": "The whole part, toward zero.",
    "isnan": "Whether x is no number.", "isinf": "Whether x is infinite.", "isfinite": "Whether x is finite.",
}  # fmt: skip
_MATH2 = {
    "atan2": "The angle of the point (y, x), given as atan2(y, x).",
    "fmod": "The remainder of the truncating quotient, with the sign of x.",
    "hypot": "sqrt(x * x + y * y).", "copysign": "x with the sign of y.",
    "nextafter": "The next float after x toward y.", "ldexp": "x times 2 to the power y.",
}  # fmt: skip


def named(f: Any, name: str, doc: str) -> Any:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _unary(name: str, doc: str) -> Callable[[Any], Expr]:
    def function(x: Any) -> Expr:
        return ops.math_call(name, x)

    return named(function, name, doc)  # type: ignore[no-any-return]


def _binary(name: str, doc: str) -> Callable[[Any, Any], Expr]:
    def function(x: Any, y: Any) -> Expr:
        return ops.math_call(name, x, y)

    return named(function, name, doc)  # type: ignore[no-any-return]


globals().update({name: _unary(name, doc) for name, doc in _MATH.items()})
globals().update({name: _binary(name, doc) for name, doc in _MATH2.items()})


def fma(x: Any, y: Any, z: Any) -> Expr:
    """x * y + z, rounded once."""
    return ops.math_call("fma", x, y, z)


def abs(x: Any) -> Expr:
    """The absolute value."""
    return ops.absolute(x)


def fabs(x: Any) -> Expr:
    """The absolute value of a float."""
    return ops.math_call("fabs", x)


def pow(x: Any, y: Any) -> Expr:
    """x to the power y."""
    return ops.power(x, y)


def popcount(x: Any) -> Expr:
    """The number of bits that are set."""
    return ops.call("popcount", _integer(x, "popcount"))


def clz(x: Any) -> Expr:
    """The number of leading zero bits; the width for 0."""
    return ops.call("clz", _integer(x, "clz"))


def _integer(x: Any, name: str) -> Expr:
    expr = ops.as_expr(x)
    if not dt.is_int(expr.dtype):
        raise TirscriptError(f"{name} takes integers, this is {expr.dtype}", code="dtype-mismatch")
    return expr


def q_multiply_shift(x: Any, y: Any, q: Any, s: Any) -> Expr:
    """round(x * y * 2^-s) of a fixed-point x and a multiplier y with q fractional bits."""
    return ops.call("q_multiply_shift", x, y, q, s)


def q_multiply_shift_per_axis(
    x: Any, y: Any, ls: Any, rs: Any, q: Any, is_lshift_required: Any, is_rshift_required: Any
) -> Expr:
    """``q_multiply_shift`` with shifts for each channel."""
    return ops.call("q_multiply_shift_per_axis", x, y, ls, rs, q, is_lshift_required, is_rshift_required)


# ---- operators


def max(a: Any, b: Any) -> Expr:
    """The larger one; a nan wins."""
    return ops.maximum(a, b)


def min(a: Any, b: Any) -> Expr:
    """The smaller one; a nan wins."""
    return ops.minimum(a, b)


def floordiv(a: Any, b: Any) -> Expr:
    """The quotient rounded down: ``a // b``."""
    return ops.floordiv(a, b)


def floormod(a: Any, b: Any) -> Expr:
    """The remainder with the sign of b: ``a % b``."""
    return ops.floormod(a, b)


def truncdiv(a: Any, b: Any) -> Expr:
    """The quotient of integers, rounded toward zero."""
    return ops.truncdiv(a, b)


def truncmod(a: Any, b: Any) -> Expr:
    """The remainder of integers with the sign of a."""
    return ops.truncmod(a, b)


def ceildiv(lhs: Any, rhs: Any) -> Expr:
    """The quotient rounded up."""
    return ops.ceildiv(lhs, rhs)


def bitwise_and(x: Any, y: Any) -> Expr:
    """``x & y``"""
    return ops.bitwise_and(x, y)


def bitwise_or(x: Any, y: Any) -> Expr:
    """``x | y``"""
    return ops.bitwise_or(x, y)


def bitwise_xor(x: Any, y: Any) -> Expr:
    """``x ^ y``"""
    return ops.bitwise_xor(x, y)


def bitwise_not(x: Any) -> Expr:
    """``~x``"""
    return ops.bitwise_not(x)


def shift_left(x: Any, y: Any) -> Expr:
    """``x << y``; 0 where y is negative or not below the width."""
    return ops.shift_left(x, y)


def shift_right(x: Any, y: Any) -> Expr:
    """``x >> y``; the sign where y is negative or not below the width."""
    return ops.shift_right(x, y)


def Add(a: Any, b: Any) -> Expr:
    """``a + b``"""
    return ops.add(a, b)


def Sub(a: Any, b: Any) -> Expr:
    """``a - b``"""
    return ops.sub(a, b)


def Mul(a: Any, b: Any) -> Expr:
    """``a * b``"""
    return ops.mul(a, b)


def Div(a: Any, b: Any) -> Expr:
    """``a / b`` of floats, the truncating quotient of integers."""
    x, y = ops.promote(a, b)
    return ops.div(x, y) if dt.is_float(x.dtype) else ops.truncdiv(x, y)


def Mod(a: Any, b: Any) -> Expr:
    """The remainder of the truncating quotient."""
    return ops.truncmod(a, b)


def FloorDiv(a: Any, b: Any) -> Expr:
    """``a // b``"""
    return ops.floordiv(a, b)


def FloorMod(a: Any, b: Any) -> Expr:
    """``a % b``"""
    return ops.floormod(a, b)


def Min(a: Any, b: Any) -> Expr:
    """The smaller one."""
    return ops.minimum(a, b)


def Max(a: Any, b: Any) -> Expr:
    """The larger one."""
    return ops.maximum(a, b)


def EQ(a: Any, b: Any) -> Expr:
    """``a == b``"""
    return ops.eq(a, b)


def NE(a: Any, b: Any) -> Expr:
    """``a != b``"""
    return ops.ne(a, b)


def LT(a: Any, b: Any) -> Expr:
    """``a < b``"""
    return ops.lt(a, b)


def LE(a: Any, b: Any) -> Expr:
    """``a <= b``"""
    return ops.le(a, b)


def GT(a: Any, b: Any) -> Expr:
    """``a > b``"""
    return ops.gt(a, b)


def GE(a: Any, b: Any) -> Expr:
    """``a >= b``"""
    return ops.ge(a, b)


def And(a: Any, b: Any) -> Expr:
    """``a and b``"""
    return ops.logical_and(a, b)


def Or(a: Any, b: Any) -> Expr:
    """``a or b``"""
    return ops.logical_or(a, b)


def Not(a: Any) -> Expr:
    """``not a``"""
    return ops.logical_not(a)


def if_then_else(cond: Any, t: Any, f: Any) -> Expr:
    """t where cond holds, else f; only the one needed is evaluated."""
    return ops.if_then_else(cond, t, f)


def Select(condition: Any, true_value: Any, false_value: Any) -> Expr:
    """true_value where the condition holds, else false_value; both are evaluated."""
    return ops.select(condition, true_value, false_value)


def likely(cond: Any) -> Expr:
    """The condition, with the hint that it usually holds."""
    return ops.call("likely", cond)


# ---- constants, conversions, variables


def cast(value: Any, dtype: Any) -> Expr:
    """``value`` converted to ``dtype``: floats saturate to integers, integers wrap."""
    return ops.cast(value, read_dtype(dtype))


def Cast(dtype: Any, value: Any) -> Expr:
    """``value`` converted to ``dtype``."""
    return ops.cast(value, read_dtype(dtype))


@dtype_anywhere
def reinterpret(dtype: Any, value: Any) -> Expr:
    """The bits of ``value`` as another dtype."""
    if isinstance(dtype, Expr) and not isinstance(value, Expr):
        dtype, value = value, dtype
    return nodes.Call(read_dtype(dtype), "reinterpret", (ops.as_expr(value),))


def min_value(dtype: Any) -> Expr:
    """The smallest finite value of the dtype."""
    return _extreme(read_dtype(dtype), -1)


def max_value(dtype: Any) -> Expr:
    """The largest finite value of the dtype."""
    return _extreme(read_dtype(dtype), 1)


def _extreme(dtype: str, sign: int) -> Expr:
    kind = dt.info(dtype)
    if kind.is_int or kind.code == "bool":
        return ops.const(dt.bounds(kind.base)[0 if sign < 0 else 1], dtype)
    largest = {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38}.get(kind.base)
    if largest is None:
        largest = ops._FLOATS[kind.base][2]
    return ops.const(sign * largest, dtype)


def infinity(dtype: Any) -> Expr:
    """Positive infinity of a float dtype."""
    name = read_dtype(dtype)
    if not dt.is_float(name):
        raise TirscriptError(f"{name} has no infinity", code="dtype-mismatch")
    return ops.const(float("inf"), name)


def IntImm(dtype: Any, value: int) -> Expr:
    """An integer constant."""
    return ops.const(int(value), read_dtype(dtype))


def FloatImm(dtype: Any, value: float) -> Expr:
    """A float constant."""
    return ops.const(float(value), read_dtype(dtype))


def StringImm(value: str) -> Expr:
    """A string constant."""
    return nodes.StringImm(str(value))


def large_uint_imm(low: Any, high: Any) -> Expr:
    """The uint64 constant with these two halves."""
    return nodes.Call("uint64", "large_uint_imm", (ops.as_expr(low), ops.as_expr(high)))


def var(dtype: Any = "int32", name: str = "v") -> Any:
    """A variable: ``n = T.var("int32")``."""
    return Var(name, dtype)


def Var(name: str = "v", dtype: Any = "int32") -> Any:
    """A variable."""
    if not isinstance(name, str):
        raise TirscriptError("the name of a variable is a string", code="var")
    said = read_dtype(dtype)
    return nodes.Var(name, said, dt.is_int(said))


def SizeVar(name: str = "n", dtype: Any = "int32") -> Any:
    """A variable that is not negative: here a plain one."""
    return Var(name, dtype)


def ptr(dtype: Any, storage_scope: str = "global") -> Any:
    """A pointer variable."""
    return nodes.Var("ptr", "handle", False, (read_dtype(dtype), storage_scope))


def buffer_var(dtype: Any, storage_scope: str = "global") -> Any:
    """A pointer variable."""
    return nodes.Var("ptr", "handle", False, (read_dtype(dtype), storage_scope))


def Range(begin: Any, end: Any = None) -> nodes.Range:
    """The interval from begin to end, from 0 with one argument."""
    if end is None:
        begin, end = 0, begin
    low, high = ops.index(begin), ops.index(end)
    if isinstance(low, nodes.IntImm) and isinstance(high, nodes.IntImm):
        return nodes.Range(low, ops.const(high.value - low.value, high.dtype))
    return nodes.Range(low, ops._offset_from(high, low) if not _is_zero(low) else high)


def _is_zero(e: Expr) -> bool:
    return isinstance(e, nodes.IntImm) and e.value == 0


_AXIS_KINDS = {
    "S": "spatial", "R": "reduce", "C": "scan", "O": "opaque", "DataPar": "spatial", "CommReduce": "reduce",
    "Ordered": "scan", "Opaque": "opaque", "ThreadIndex": "thread", 0: "spatial", 1: "thread", 2: "reduce",
    3: "scan", 4: "opaque",
}  # fmt: skip


def iter_var(var: Any, dom: Any = None, iter_type: Any = "DataPar", thread_tag: str = "") -> nodes.IterVar:
    """An axis as a value, for attributes."""
    kind = _AXIS_KINDS.get(iter_type, iter_type)
    if kind not in ("spatial", "reduce", "scan", "opaque", "thread"):
        raise TirscriptError(f"{iter_type!r} is no kind of axis", code="axis-kinds")
    if not isinstance(thread_tag, str):
        raise TirscriptError("the tag of a thread axis is a string", code="thread-tag")
    if not isinstance(var, (str, nodes.Var)):
        raise TirscriptError("a variable or its name is wanted", code="iter-var")
    if isinstance(dom, tuple) and len(dom) == 2:
        dom = Range(*dom)
    if dom is not None and not isinstance(dom, nodes.Range):
        dom = Range(dom)
    made = nodes.Var(var, "int32" if dom is None else dom.extent.dtype) if isinstance(var, str) else var
    return nodes.IterVar(made, dom, kind, thread_tag)


def IterVar(dom: Any, var: Any, iter_type: Any = 0, thread_tag: str = "") -> nodes.IterVar:
    """An axis as a value, in the order of arguments of the node."""
    return iter_var(var, dom, iter_type, thread_tag)


# ---- vectors


def Ramp(base: Any, stride: Any, lanes: Any) -> Expr:
    """The vector base, base + stride, ..."""
    x, y = ops.promote(ops.index(base), ops.index(stride))
    count = _lanes(lanes)
    if dt.lanes(x.dtype) != 1:
        raise TirscriptError(f"a ramp starts at a scalar, this is {x.dtype}", code="lanes")
    return nodes.Ramp(x, y, count) if count != 1 else x


def ramp(base: Any, stride: Any, lanes: Any) -> Expr:
    """The vector base, base + stride, ..."""
    return Ramp(base, stride, lanes)


def Broadcast(value: Any, lanes: Any) -> Expr:
    """A value in every lane."""
    count, expr = _lanes(lanes), ops.as_expr(value)
    if count == 1:
        return expr
    if expr.dtype in ("handle", "void") or dt.lanes(expr.dtype) != 1:
        raise TirscriptError(f"a scalar number is broadcast, this is {expr.dtype}", code="lanes")
    return nodes.Broadcast(expr, count)


def broadcast(value: Any, lanes: Any) -> Expr:
    """A value in every lane."""
    return Broadcast(value, lanes)


def Shuffle(vectors: Sequence[Any], indices: Sequence[Any]) -> Expr:
    """The elements with these indices of the vectors, put one after the other."""
    if not vectors or not indices:
        raise TirscriptError("T.Shuffle needs vectors and indices", code="arity")
    exprs = tuple([ops.as_expr(v) for v in vectors])
    chosen = tuple([ops.index(i) for i in indices])
    base = dt.info(exprs[0].dtype).base
    total = 0
    for e in exprs:
        if dt.info(e.dtype).base != base:
            raise TirscriptError(f"vectors of {base} and {e.dtype} do not mix", code="dtype-mismatch")
        total += dt.lanes(e.dtype)
    for i in chosen:
        if isinstance(i, nodes.IntImm) and not 0 <= i.value < total:
            raise TirscriptError(f"index {i.value} is outside the {total} elements", code="out-of-bounds")
    return nodes.Shuffle(exprs, chosen)


@dtype_anywhere
def vectorlow(dtype: Any, vec: Any) -> Expr:
    """The lower half of a vector."""
    return nodes.Call(read_dtype(dtype), "vectorlow", (ops.as_expr(vec),))


@dtype_anywhere
def vectorhigh(dtype: Any, vec: Any) -> Expr:
    """The upper half of a vector."""
    return nodes.Call(read_dtype(dtype), "vectorhigh", (ops.as_expr(vec),))


@dtype_anywhere
def vectorcombine(dtype: Any, vec1: Any, vec2: Any) -> Expr:
    """Two vectors as one."""
    return nodes.Call(read_dtype(dtype), "vectorcombine", (ops.as_expr(vec1), ops.as_expr(vec2)))


def vscale() -> Expr:
    """The factor of scalable vectors."""
    return ops.call("vscale")


@dtype_anywhere
def get_active_lane_mask(dtype: Any, base: Any, limit: Any) -> Expr:
    """Which lanes of ``base, base + 1, ...`` are below the limit."""
    return nodes.Call(read_dtype(dtype), "get_active_lane_mask", (ops.as_expr(base), ops.as_expr(limit)))


def dp4a(vec1: Any, vec2: Any, acc: Any = 0) -> Expr:
    """The dot product of two vectors of four 8-bit integers, added to acc."""
    return nodes.Call("int32", "dp4a", (ops.as_expr(vec1), ops.as_expr(vec2), ops.as_expr(acc)))


# ---- lets, reducers, index maps


def Let(expr: Any, where: Mapping[Any, Any]) -> Expr:
    """``expr`` with variables standing for values: ``T.Let(x * x, where={x: 3})``."""
    body = ops.as_expr(expr)
    for name, value in reversed(list(where.items())):
        if not isinstance(name, nodes.Var):
            raise TirscriptError("`where` maps variables to values", code="let")
        body = nodes.Let(name, ops.cast(value, name.dtype) if not isinstance(value, Expr) else value, body)
    return body


def comm_reducer(combiner: Callable[..., Any], identity: Sequence[Any]) -> nodes.CommReducer:
    """A reducer: ``T.comm_reducer(lambda x, y: x + y, [T.float32(0)])``."""
    neutral = tuple(
        [ops.as_expr(e) for e in (identity if isinstance(identity, (list, tuple)) else [identity])]
    )
    names = parameter_names(combiner)
    n = len(neutral)
    if len(names) != 2 * n:
        raise TirscriptError(
            f"a reducer of {n} value{'s' if n != 1 else ''} has {2 * n} parameters, this has {len(names)}",
            code="arity",
        )
    dtypes = [e.dtype for e in neutral] * 2
    variables = [nodes.Var(name, d, False) for name, d in zip(names, dtypes, strict=True)]
    result = combiner(*variables)
    results = tuple(result) if isinstance(result, (list, tuple)) else (result,)
    if len(results) != n:
        raise TirscriptError(f"the combiner gives {len(results)} values for {n} identities", code="arity")
    exprs = tuple([ops.as_expr(r, d) for r, d in zip(results, dtypes, strict=False)])
    return nodes.CommReducer(tuple(variables[:n]), tuple(variables[n:]), exprs, neutral)


def CommReducer(
    lhs: Sequence[Any], rhs: Sequence[Any], result: Sequence[Any], identity_element: Sequence[Any]
) -> Any:
    """A reducer of its parts."""
    results = tuple([ops.as_expr(r) for r in result])
    return nodes.CommReducer(
        tuple(lhs), tuple(rhs), results, tuple([ops.as_expr(e) for e in identity_element])
    )


def parameter_names(f: Any) -> list[str]:
    """The names of the positional parameters of a function or a lambda of a script."""
    names = getattr(f, "parameters", None)
    if isinstance(names, list):
        return names
    code = getattr(f, "__code__", None)
    if code is None:
        raise TirscriptError("a function is wanted here", code="not-callable")
    return list(code.co_varnames[: code.co_argcount])


def index_map(mapping: Any, *, inverse_index_map: Any = None, index_dtype: str = "int32") -> Any:
    """A map of indices: ``T.index_map(lambda i, j: (i // 4, j, i % 4))``."""
    from tirscript.ir.index_map import IndexMap

    if isinstance(mapping, IndexMap):
        return mapping
    inverse = inverse_index_map
    if inverse is not None and not isinstance(inverse, IndexMap):
        inverse = IndexMap.from_func(inverse, index_dtype=index_dtype)
    return IndexMap.from_func(mapping, None, inverse, index_dtype=index_dtype)


_HELPERS = ("dtype_anywhere", "named", "read_dtype", "parameter_names")
__all__ = sorted(
    n
    for n, v in list(globals().items())
    if n[0] != "_" and n not in _HELPERS and getattr(v, "__module__", None) == __name__
)
