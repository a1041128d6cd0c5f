"""Functions on numbers: LLVM's intrinsics where machines have them, libm, and libmvec for vectors."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from tirscript.diagnostics import NotYetError

from . import floats, integers, polynomials
from .casts import as_data
from .values import BITS, FLOATS, SIGNED, Value, constant, llvm_type

if TYPE_CHECKING:
    from .function import FunctionEmitter

# Instructions of most machines, scalar and vector.
INTRINSICS = {
    "sqrt": "sqrt", "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "nearbyint",
    "nearbyint": "nearbyint", "copysign": "copysign", "fma": "fma",
}  # fmt: skip
# Functions of libm, and their number of arguments.
LIBM = {
    **dict.fromkeys(
        ["exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
         "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"], 1),
    **dict.fromkeys(["atan2", "pow", "fmod", "hypot", "nextafter"], 2),
}  # fmt: skip
# What libmvec has.
_VECTOR = frozenset(LIBM) - {"fmod", "nextafter"}


def call(b: FunctionEmitter, op: str, base: str, args: list[Value]) -> Value:
    """The function ``op`` with a result of the scalar dtype ``base``."""
    emit = _OTHER.get(op)
    if emit is not None:
        return emit(b, base, args)
    if base not in FLOATS:
        raise NotYetError(f"`{op}` of {base} is not supported yet", code="math-dtype")
    args = [as_data(b, v, base) for v in args]
    if op in INTRINSICS:
        return intrinsic(b, INTRINSICS[op], args)
    if own(b, op, base):
        return floats.formula(b, op, args)
    if op in LIBM:
        return libm(b, op, args)
    raise NotYetError(f"the function `{op}` is not supported yet", code="math")


def intrinsic(b: FunctionEmitter, name: str, args: list[Value]) -> Value:
    lanes = max(v.lanes for v in args)
    args = [b.broadcast(v, lanes) for v in args]
    return Value(integers.intrinsic(b, f"llvm.{name}", args[0], *args), args[0].base, lanes)


def own(b: FunctionEmitter, op: str, base: str) -> bool:
    """Whether a formula of ours is wanted, and there is one."""
    return b.module.options.vector_math and polynomials.available(op, base)


def libm(b: FunctionEmitter, op: str, args: list[Value]) -> Value:
    """A function of the C library, lane by lane, or of libmvec on whole vectors."""
    lanes = max(v.lanes for v in args)
    base = args[0].base
    options = b.module.options
    width, vector = 0, ""
    if options.vector_math and op in _VECTOR and not options.triple:
        width, vector = _libmvec(op, base, len(args), options.cpu, lanes == 1)
    if vector and lanes > 1:
        return _vector_call(b, vector, width, [b.broadcast(v, lanes) for v in args])
    ty = llvm_type(base)
    name = op + ("f" if base == "float32" else "")
    b.module.declare(name, f"declare {ty} @{name}({', '.join([ty] * len(args))}) nounwind memory(none)")
    hint = ""
    if vector and b.loop_vars:
        _declare_vector(b, vector, base, width, len(args))
        hint = floats.vector_variant(b, f"@{name}", f"@{vector}", width, len(args))

    def one(*scalars: Value) -> Value:
        return Value(b.ins(f"call {ty} @{name}({', '.join(v.typed for v in scalars)}){hint}"), base)

    return floats.lanewise(b, one, *args)


_AVX512 = (
    "skylake-avx512", "cascadelake", "cooperlake", "cannonlake", "icelake", "tigerlake", "rocketlake",
    "sapphirerapids", "emeraldrapids", "graniterapids", "x86-64-v4", "znver4", "znver5",
)  # fmt: skip
_AVX2 = ("haswell", "broadwell", "skylake", "alderlake", "raptorlake", "x86-64-v3", "znver")


@cache
def _libmvec(op: str, base: str, arity: int, cpu: str, serial: bool) -> tuple[int, str]:
    """Lanes and name of libmvec's function for this machine; an empty name where there is none.  Of serial
    loops LLVM makes vectors of 32 bytes where the machine has 64, too."""
    if platform.machine().lower() not in ("x86_64", "amd64") or platform.system() != "Linux":
        return 0, ""
    import llvmlite.binding as llvm

    try:
        llvm.load_library_permanently("libmvec.so.1")
    except RuntimeError:
        return 0, ""
    features = llvm.get_host_cpu_features()
    isa, width = ("b", 4)
    if cpu.startswith(_AVX512) or (not cpu and features.get("avx512f")):
        isa, width = ("d", 8) if serial else ("e", 16)
    elif cpu.startswith(_AVX2) or (not cpu and features.get("avx2")):
        isa, width = "d", 8
    width = width if base == "float32" else width // 2
    name = f"_ZGV{isa}N{width}{'v' * arity}_{op}{'f' if base == 'float32' else ''}"
    return (width, name) if llvm.address_of_symbol(name) else (0, "")


def _vector_call(b: FunctionEmitter, name: str, width: int, args: list[Value]) -> Value:
    """A vector function applied to pieces of ``width`` lanes; the last is filled up."""
    base, lanes = args[0].base, args[0].lanes
    ty = llvm_type(base, width)
    _declare_vector(b, name, base, width, len(args))
    pieces: list[str] = []
    for start in range(0, lanes, width):
        operands = [f"{ty} {_piece(b, v, start, width)}" for v in args]
        pieces.append(b.ins(f"call {ty} @{name}({', '.join(operands)})"))
    return Value(_join(b, pieces, base, width, lanes), base, lanes)


def _declare_vector(b: FunctionEmitter, name: str, base: str, width: int, arity: int) -> None:
    ty = llvm_type(base, width)
    b.module.declare(name, f"declare {ty} @{name}({', '.join([ty] * arity)}) nounwind memory(none)")


def _piece(b: FunctionEmitter, v: Value, start: int, width: int) -> str:
    if v.lanes == width:
        return v.ref
    picks = ", ".join(f"i32 {i if i < v.lanes else start}" for i in range(start, start + width))
    return b.ins(f"shufflevector {v.typed}, {v.ty} poison, <{width} x i32> <{picks}>")


def _join(b: FunctionEmitter, pieces: list[str], base: str, width: int, lanes: int) -> str:
    if width == lanes and len(pieces) == 1:
        return pieces[0]
    have = width
    while len(pieces) > 1:
        ty = llvm_type(base, have)
        if len(pieces) % 2:
            pieces.append("poison")
        picks = ", ".join(f"i32 {i}" for i in range(2 * have))
        pieces = [
            b.ins(f"shufflevector {ty} {p}, {ty} {q}, <{2 * have} x i32> <{picks}>")
            for p, q in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        have *= 2
    if have == lanes:
        return pieces[0]
    ty = llvm_type(base, have)
    picks = ", ".join(f"i32 {i}" for i in range(lanes))
    return b.ins(f"shufflevector {ty} {pieces[0]}, {ty} poison, <{lanes} x i32> <{picks}>")


# ---- functions made of others


def _rsqrt(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    args = [as_data(b, v, base) for v in args]
    root = intrinsic(b, "sqrt", args)
    return floats.arithmetic(b, "fdiv", constant(1.0, base, root.lanes), root)


def _sigmoid(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    v = as_data(b, args[0], base)
    if own(b, "sigmoid", base):
        return floats.formula(b, "sigmoid", [v])
    # The power that does not overflow.
    power = libm(b, "exp", [floats.negate(b, intrinsic(b, "fabs", [v]))])
    one, zero = constant(1.0, base, power.lanes), constant(0.0, base, power.lanes)
    top = b.select(b.compare("fcmp olt", v, zero), power, one)
    return floats.arithmetic(b, "fdiv", top, floats.arithmetic(b, "fadd", one, power))


def _abs(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    v = as_data(b, args[0], base)
    if base in FLOATS:
        return intrinsic(b, "fabs", [v])
    if base not in SIGNED:
        return v
    return Value(integers.intrinsic(b, "llvm.abs", v, v, tail=", i1 false"), base, v.lanes)


def _ldexp(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    ty = llvm_type(base)
    exponent = integers.to_exact(b, args[1])
    # Exponents outside 32 bits give 0 or inf all the same.
    clamped = integers.maximum(b, exponent, b.const_like(-100_000, exponent))
    clamped = integers.minimum(b, clamped, b.const_like(100_000, clamped))
    narrow = integers.to_data(b, clamped, "int32")
    x, n = b.same_lanes(as_data(b, args[0], base), narrow)
    if own(b, "ldexp", base):
        return floats.formula(b, "ldexp", [x, n])
    name = "ldexpf" if base == "float32" else "ldexp"
    b.module.declare(name, f"declare {ty} @{name}({ty}, i32) nounwind memory(none)")

    def one(p: Value, q: Value) -> Value:
        return Value(b.ins(f"call {ty} @{name}({p.typed}, {q.typed})"), base)

    return floats.lanewise(b, one, x, n)


def _classify(word: str) -> Callable[[FunctionEmitter, str, list[Value]], Value]:
    def emit(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
        v = args[0]
        if v.base not in FLOATS:
            return constant(word == "isfinite", "bool", v.lanes)
        if word == "isnan":
            return b.compare("fcmp uno", v, v)
        size = intrinsic(b, "fabs", [v])
        infinity = constant(math.inf, v.base, v.lanes)
        return b.compare("fcmp oeq" if word == "isinf" else "fcmp olt", size, infinity)

    return emit


def _popcount(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    v = as_data(b, args[0], base)
    return Value(integers.intrinsic(b, "llvm.ctpop", v, v), base, v.lanes)


def _clz(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    v = as_data(b, args[0], base)
    return Value(integers.intrinsic(b, "llvm.ctlz", v, v, tail=", i1 false"), base, v.lanes)


def _pow(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    args = [as_data(b, v, base) for v in args]
    if base in FLOATS:
        return floats.formula(b, "pow", args) if own(b, "pow", base) else libm(b, "pow", args)
    ty = llvm_type(base)
    name = f"@ts.helper.pow.{base}"
    b.module.helper(name, lambda: _integer_power(name, ty, base in SIGNED))

    def one(p: Value, q: Value) -> Value:
        return Value(b.ins(f"call {ty} {name}({p.typed}, {q.typed})"), base)

    return floats.lanewise(b, one, *b.same_lanes(*args))


def _integer_power(name: str, ty: str, signed: bool) -> str:
    """Squaring; a negative exponent gives the quotient 1 // x**-y truncated: 0 unless x is 1 or -1."""
    below = f"icmp slt {ty} %y, 0" if signed else "icmp ult i1 false, false"
    return f"""\
define internal {ty} {name}({ty} %x, {ty} %y) nounwind memory(none) {{
entry:
  %below = {below}
  br i1 %below, label %negative, label %test
negative:
  %odd = and {ty} %y, 1
  %isodd = icmp ne {ty} %odd, 0
  %alternating = select i1 %isodd, {ty} -1, {ty} 1
  %isone = icmp eq {ty} %x, 1
  %isminus = icmp eq {ty} %x, -1
  %z = select i1 %isminus, {ty} %alternating, {ty} 0
  %n = select i1 %isone, {ty} 1, {ty} %z
  ret {ty} %n
test:
  %acc = phi {ty} [ 1, %entry ], [ %acc2, %step ]
  %power = phi {ty} [ %x, %entry ], [ %power2, %step ]
  %left = phi {ty} [ %y, %entry ], [ %left2, %step ]
  %done = icmp eq {ty} %left, 0
  br i1 %done, label %exit, label %step
step:
  %bit = and {ty} %left, 1
  %taken = icmp ne {ty} %bit, 0
  %factor = select i1 %taken, {ty} %power, {ty} 1
  %acc2 = mul {ty} %acc, %factor
  %power2 = mul {ty} %power, %power
  %left2 = lshr {ty} %left, 1
  br label %test
exit:
  ret {ty} %acc
}}
"""


def _bits(opcode: str) -> Callable[[FunctionEmitter, str, list[Value]], Value]:
    def emit(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
        x, y = b.same_lanes(as_data(b, args[0], base), as_data(b, args[1], base))
        return integers.bitwise(b, opcode, x, y)

    return emit


def _shift(left: bool) -> Callable[[FunctionEmitter, str, list[Value]], Value]:
    def emit(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
        x, y = args
        if y.constant is not None:
            # A count too large for the dtype must not wrap into the valid ones.
            y = constant(y.constant if 0 <= y.constant < BITS[base] else BITS[base], base, y.lanes)
        x, y = b.same_lanes(as_data(b, x, base), as_data(b, y, base))
        return integers.shift(b, x, y, left)

    return emit


def _not(b: FunctionEmitter, base: str, args: list[Value]) -> Value:
    v = as_data(b, args[0], base)
    ones = constant(1 if base == "bool" else -1, base, v.lanes)
    return Value(b.op("xor", v, ones.ref), base, v.lanes)


_OTHER: dict[str, Callable[[FunctionEmitter, str, list[Value]], Value]] = {
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "abs": _abs,
    "ldexp": _ldexp,
    "isnan": _classify("isnan"),
    "isinf": _classify("isinf"),
    "isfinite": _classify("isfinite"),
    "popcount": _popcount,
    "clz": _clz,
    "pow": _pow,
    "bitwise_and": _bits("and"),
    "bitwise_or": _bits("or"),
    "bitwise_xor": _bits("xor"),
    "bitwise_not": _not,
    "shift_left": _shift(True),
    "shift_right": _shift(False),
}
FUNCTIONS = frozenset(INTRINSICS) | frozenset(LIBM) | frozenset(_OTHER)
