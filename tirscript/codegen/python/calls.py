"""Calls of the language's operators: mathematics, bits, conditionals, vectors, pointers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tirscript.ir import dtype as dt
from tirscript.ir.expr import And, BufferLoad, Call, FloatImm, IntImm, Not, StringImm

from . import build as py

if TYPE_CHECKING:
    from .expr import Expressions

Build = Callable[["Expressions", Any], ast.expr]

# NumPy's functions whose results are rounded: of narrower floats than float64 they are computed in it.
_ROUNDED = {
    "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2", "hypot": "hypot",
}  # fmt: skip
# Those that are exact, or correctly rounded, in the dtype itself.
_EXACT = {
    "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "nearbyint": "rint", "round": "rint", "trunc": "trunc",
    "fabs": "abs", "abs": "abs", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "fmod": "fmod",
    "copysign": "copysign",
}  # fmt: skip
# The C names of what the tables above know, as external functions.
_MORE = ("pow", "erf", "exp10", "ldexp", "nextafter")
_C_NAMES = {f"{n}{s}": n for n in (*_ROUNDED, *_EXACT, *_MORE) for s in ("", "f")}


def _numpy(function: str) -> Build:
    return lambda x, e: py.call(f"np.{function}", *[x.typed(a) for a in e.args])


def _support(function: str) -> Build:
    return lambda x, e: x.helper(function, *[x.typed(a) for a in e.args])


def _in_float64(function: Callable[[Expressions, list[ast.expr]], ast.expr]) -> Build:
    """A function of floats, computed in float64 and rounded once."""

    def build(x: Expressions, e: Call) -> ast.expr:
        from .expr import NATIVE_FLOATS

        base = dt.info(e.dtype).base
        if base == "float64" or not dt.is_float(e.dtype):
            return function(x, [x.typed(a) for a in e.args])
        wide = [x.plain_float(a.value) if type(a) is FloatImm else x.typed(a) for a in e.args]
        made = function(x, [py.call("np.float64", a) for a in wide])
        if base in NATIVE_FLOATS:
            return py.call(f"np.{base}", made)
        return x.helper("cast", made, py.string(base))

    return build


def _numpy64(function: str) -> Build:
    return _in_float64(lambda x, args: py.call(f"np.{function}", *args))


def _support64(function: str) -> Build:
    return _in_float64(lambda x, args: x.helper(function, *args))


def _absolute(x: Expressions, e: Call) -> ast.expr:
    from .expr import NATIVE_INTS

    d = dt.info(e.dtype)
    if d.is_int and d.base not in NATIVE_INTS:
        return x.helper("narrow", py.call("abs", x.helper("wide", x.typed(e.args[0]))), py.string(d.base))
    return py.call("np.abs", x.typed(e.args[0]))


def _erf(x: Expressions, e: Call) -> ast.expr:
    return x.helper("rounded", py.attribute(py.name("math"), "erf"), x.typed(e.args[0]))


def _pow(x: Expressions, e: Call) -> ast.expr:
    if dt.is_int(e.dtype):
        return x.helper("power", x.typed(e.args[0]), x.typed(e.args[1]), py.string(e.dtype))
    return _support64("float_power")(x, e)


def _nextafter(x: Expressions, e: Call) -> ast.expr:
    # Of equal numbers NumPy gives the first in float16, the second in the others.
    if dt.info(e.dtype).base == "float16":
        return x.helper("nextafter", x.typed(e.args[0]), x.typed(e.args[1]))
    return py.call("np.nextafter", x.typed(e.args[0]), x.typed(e.args[1]))


def _ldexp(x: Expressions, e: Call) -> ast.expr:
    count = x.typed(e.args[1])
    if dt.is_float(e.args[1].dtype):
        count = x.helper("cast", count, py.string("int32"))
    return py.call("np.ldexp", x.typed(e.args[0]), count)


def _bitwise(op: type[ast.operator], function: str) -> Build:
    def build(x: Expressions, e: Call) -> ast.expr:
        from .expr import NATIVE_INTS

        a, b = e.args
        d = dt.info(e.dtype)
        if d.code == "bool":
            if d.lanes == 1:
                return py.call("bool", py.binary(op(), x.value(a), x.value(b)))
            return py.call(function, x.value(a), x.value(b))
        if d.base not in NATIVE_INTS:
            joined = py.binary(op(), x.helper("wide", x.typed(a)), x.helper("wide", x.typed(b)))
            return x.helper("narrow", joined, py.string(d.base))
        return py.binary(op(), *x.pair(a, b))

    return build


def _invert(x: Expressions, e: Call) -> ast.expr:
    from .expr import NATIVE_INTS

    d = dt.info(e.dtype)
    if d.code == "bool":
        return py.call("np.logical_not", x.value(e.args[0]))
    if d.base not in NATIVE_INTS:
        return x.helper(
            "narrow", ast.UnaryOp(ast.Invert(), x.helper("wide", x.typed(e.args[0]))), py.string(d.base)
        )
    return ast.UnaryOp(ast.Invert(), x.typed(e.args[0]))


def _of_width(function: str) -> Build:
    """A helper that must know the dtype: shifts, counts of bits."""

    def build(x: Expressions, e: Call) -> ast.expr:
        return x.helper(function, *[x.typed(a) for a in e.args], py.string(e.dtype))

    return build


def _if_then_else(x: Expressions, e: Call) -> ast.expr:
    test, a, b = e.args
    value = x.typed if x.strong(e) else x.value
    # What is in the branches may not be evaluated before the test.
    condition = x.value(test)
    saved, x.cut = x.cut, {}
    if dt.lanes(test.dtype) != 1:
        a, b = _where(a, test), _where(b, Not(test))
        made = py.call("np.where", condition, value(a), value(b))
    else:
        made = ast.IfExp(condition, value(a), value(b))
    x.cut = saved
    return made


def _where(e: Any, mask: Any) -> Any:
    """``e`` with its vector loads only where ``mask`` holds."""
    made = e.map_children(lambda c: _where(c, mask))
    if type(made) is BufferLoad and dt.lanes(made.dtype) == dt.lanes(mask.dtype) and made.indices:
        if dt.lanes(made.indices[-1].dtype) != 1:
            predicate = mask if made.predicate is None else And(made.predicate, mask)
            return made.replace(predicate=predicate)
    return made


def _first(x: Expressions, e: Call) -> ast.expr:
    return x.value(e.args[0])


def _reinterpret(x: Expressions, e: Call) -> ast.expr:
    return x.helper("reinterpret", x.typed(e.args[0]), py.string(e.dtype))


def _undef(x: Expressions, e: Call) -> ast.expr:
    return x.helper("cast", py.number(0), py.string(e.dtype))


def _true(x: Expressions, e: Call) -> ast.expr:
    return py.number(True)


def _half(high: bool) -> Build:
    def build(x: Expressions, e: Call) -> ast.expr:
        count = py.number(dt.lanes(e.args[0].dtype) // 2)
        part = ast.Slice(count, None, None) if high else ast.Slice(None, count, None)
        return py.subscript(x.typed(e.args[0]), [part])

    return build


def _combine(x: Expressions, e: Call) -> ast.expr:
    return py.call("np.concatenate", py.tuple_of([x.typed(a) for a in e.args]))


def _lane_mask(x: Expressions, e: Call) -> ast.expr:
    lanes = x.helper("ramp", x.value(e.args[0]), py.number(1), py.number(dt.lanes(e.dtype)))
    return py.compare(ast.Lt(), lanes, x.value(e.args[1]))


def _large_uint(x: Expressions, e: Call) -> ast.expr:
    high = py.binary(ast.LShift(), x.integer(e.args[1]), py.number(32))
    return x.helper("narrow", py.binary(ast.BitOr(), high, x.integer(e.args[0])), py.string(e.dtype))


def _address_of(x: Expressions, e: Call) -> ast.expr:
    from .expr import indices, not_yet

    load = e.args[0]
    if type(load) is not BufferLoad or load.buffer not in x.buffers:
        raise not_yet("`T.address_of` of what is no element of a buffer", e)
    at = py.tuple_of(indices(x, load.indices))
    return x.helper("address_of", py.name(x.buffers[load.buffer]), at)


def _access_ptr(x: Expressions, e: Call) -> ast.expr:
    kind, data, offset, extent, _ = e.args
    return x.helper(
        "view", x.value(data), py.tuple_of([x.value(extent)]), py.string(kind.dtype), offset=x.value(offset)
    )


def _is_null(x: Expressions, e: Call) -> ast.expr:
    return py.compare(ast.Is(), x.value(e.args[0]), ast.Constant(None))


def _atomic(function: str) -> Build:
    return lambda x, e: x.helper(function, x.value(e.args[0]), x.typed(e.args[1]))


def _extern(x: Expressions, e: Call) -> ast.expr:
    from .expr import not_yet

    function = e.args[0]
    if isinstance(function, StringImm) and function.value == "__dp4a":  # CUDA's name of it
        return CALLS["dp4a"](x, Call(e.dtype, "dp4a", e.args[1:]))
    known = _C_NAMES.get(function.value) if isinstance(function, StringImm) else None
    if known is None or not dt.is_float(e.dtype):
        raise not_yet(f"the external function {getattr(function, 'value', function)!r}", e)
    return CALLS[known](x, Call(e.dtype, known, e.args[1:]))


def _llvm(x: Expressions, e: Call) -> ast.expr:
    """An intrinsic of LLVM: those of CPU instructions that are known by name."""
    from .expr import not_yet
    from .llvm_intrinsics import find

    name, *rest = e.args
    if not isinstance(name, StringImm) or find(name.value) is None:
        raise not_yet(f"LLVM's intrinsic {getattr(name, 'value', name)!r}", e)
    if len(rest) > 1 and type(rest[0]) is IntImm and rest[0].dtype == "uint32":
        del rest[0]  # in TVM's older spelling the number of arguments that the name depends on
    return x.helper("llvm_intrinsic", py.string(name.value), *[x.typed(a) for a in rest])


def _packed(x: Expressions, e: Call) -> ast.expr:
    """A registered function; a buffer is passed as an array."""
    args = [_packed_array(x, a) if _is(a, "tvm_stack_make_array") else x.value(a) for a in e.args]
    return x.helper("call_packed", *args)


def _is(e: object, op: str) -> bool:
    return type(e) is Call and e.op == op


def _packed_array(x: Expressions, a: Any) -> ast.expr:
    data, shape, strides, _, zero, offset = a.args
    keywords = {"offset": x.value(offset)}
    if _is(strides, "tvm_stack_make_shape"):
        keywords["strides"] = py.tuple_of([x.value(n) for n in strides.args])
    sizes = py.tuple_of([x.value(n) for n in shape.args])
    return x.helper("view", x.value(data), sizes, py.string(zero.dtype), **keywords)


CALLS: dict[str, Build] = {
    **{n: _numpy64(f) for n, f in _ROUNDED.items()},
    **{n: _numpy(f) for n, f in _EXACT.items()},
    **{n: _support64(n) for n in ("sigmoid", "rsqrt")},
    **{n: _support(n) for n in ("exp10", "fma")},
    "abs": _absolute,
    "nextafter": _nextafter,
    "erf": _erf,
    "pow": _pow,
    "ldexp": _ldexp,
    "bitwise_and": _bitwise(ast.BitAnd, "np.logical_and"),
    "bitwise_or": _bitwise(ast.BitOr, "np.logical_or"),
    "bitwise_xor": _bitwise(ast.BitXor, "np.logical_xor"),
    "bitwise_not": _invert,
    **{n: _of_width(n) for n in ("shift_left", "shift_right", "popcount", "clz")},
    "q_multiply_shift": _support("q_multiply_shift"),
    "q_multiply_shift_per_axis": _support("q_multiply_shift_per_axis"),
    "dp4a": _support("dp4a"),
    "if_then_else": _if_then_else,
    "reinterpret": _reinterpret,
    **dict.fromkeys(("likely", "ignore_loop_partition", "tvm_thread_invariant"), _first),
    "undef": _undef,
    **dict.fromkeys(("assume", "start_profile_intrinsic", "end_profile_intrinsic"), _true),
    "vectorlow": _half(False),
    "vectorhigh": _half(True),
    "vectorcombine": _combine,
    "get_active_lane_mask": _lane_mask,
    "large_uint_imm": _large_uint,
    "address_of": _address_of,
    "tvm_access_ptr": _access_ptr,
    "isnullptr": _is_null,
    **{n: _atomic(n) for n in ("atomic_add", "atomic_max", "atomic_min")},
    "call_pure_extern": _extern,
    "call_extern": _extern,
    "call_llvm_intrin": _llvm,
    "call_llvm_pure_intrin": _llvm,
    **{
        f"{tvm}{name}{lowered}": _packed
        for tvm in ("", "tvm_")
        for name in ("call_packed", "call_cpacked")
        for lowered in ("", "_lowered")
    },
}
