"""Calls that leave the language: functions of C, LLVM's intrinsics, functions registered in Python."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tirscript.diagnostics import CodegenError, Mark, NotYetError
from tirscript.ir.expr import Call, Expr, IntImm, StringImm

from . import integers, narrow
from .casts import as_data
from .values import BITS, BYTES, FLOATS, NARROW, REGISTER, SIGNED, Value, constant, llvm_type, parts

if TYPE_CHECKING:
    from .function import FunctionEmitter

# Functions of C with a variable number of arguments, and how many are fixed.
_VARIADIC = {"printf": 1, "fprintf": 2, "sprintf": 2, "snprintf": 3, "dprintf": 2}
# Floats narrower than float32 as LLVM and C have them; those without a type of their own are bytes.
_FOREIGN_FLOATS = {"float16": "half", "bfloat16": "bfloat"}
# The C ABI passes narrow integers extended.
_EXTENSION = {
    "bool": "zeroext ", "int8": "signext ", "uint8": "zeroext ", "int16": "signext ", "uint16": "zeroext ",
}  # fmt: skip


def _foreign_type(base: str, lanes: int = 1) -> str:
    scalar = _FOREIGN_FLOATS.get(base, "i8" if base in NARROW else REGISTER[base])
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def _given(f: FunctionEmitter, v: Value) -> str:
    """A value as foreign code takes it: ``type ref``."""
    ty = _foreign_type(v.base, v.lanes)
    if v.base not in NARROW:
        return v.typed
    raw = narrow.to_memory(f, v)
    return raw.typed if raw.ty == ty else f"{ty} {f.ins(f'bitcast {raw.typed} to {ty}')}"


def _taken(f: FunctionEmitter, ref: str, base: str, lanes: int = 1) -> Value:
    """What foreign code gave back."""
    if base not in NARROW:
        return Value(ref, base, lanes)
    raw, have = llvm_type(f"uint{narrow.FORMATS[base].bits}", lanes), _foreign_type(base, lanes)
    if raw != have:
        ref = f.ins(f"bitcast {have} {ref} to {raw}")
    return narrow.decode(f, ref, base, lanes)


# ---- C


def extern(f: FunctionEmitter, e: Call) -> Value:
    name_node, *rest = e.args
    if not isinstance(name_node, StringImm):
        raise CodegenError("the name of an external function is a string", code="extern-name")
    name = name_node.value
    fixed = _VARIADIC.get(name)
    types, operands = [], []
    for i, a in enumerate(rest):
        base, lanes = parts(a.dtype)
        v = f.broadcast(as_data(f, f.expr(a), base), lanes)
        if lanes != 1:
            ty = _foreign_type(base, lanes)
            types.append(ty)
            operands.append(_given(f, v))
            continue
        if fixed is not None and i >= fixed:
            v = _promoted(f, v)
        small = base not in FLOATS and BITS.get(base, 8) < 8
        v = as_data(f, v, "int8" if base in SIGNED else "uint8") if small else v
        ty, _, ref = _given(f, v).partition(" ")
        ty = f"{ty} {_EXTENSION.get(v.base, '')}".strip()
        types.append(ty)
        operands.append(f"{ty} {ref}")
    base, lanes = ("void", 1) if e.dtype == "void" else parts(e.dtype)
    small = lanes == 1 and BITS.get(base, 8) < 8
    passed = ("int8" if base in SIGNED else "uint8") if small else base
    result = "void" if base == "void" else _foreign_type(passed, lanes)
    shown = ", ".join(types if fixed is None else [*types[:fixed], "..."])
    extended = _EXTENSION.get(passed, "") if lanes == 1 else ""
    quoted = f'@"{name}"'
    effect = " memory(none)" if e.op == "call_pure_extern" and "ptr" not in types else ""
    f.module.declare(name, f"declare {extended}{result} {quoted}({shown}) nounwind{effect}")
    signature = f"{result} ({shown})" if fixed is not None else result
    text = f"call {extended}{signature} {quoted}({', '.join(operands)})"
    if base == "void":
        f.do(text)
        return constant(0, "int32")
    v = _taken(f, f.ins(text), passed, lanes)
    return as_data(f, v, base) if small else v


def _promoted(f: FunctionEmitter, v: Value) -> Value:
    """C's promotions of variable arguments."""
    if v.base == "float32" or v.base in NARROW:
        return as_data(f, v, "float64")
    return as_data(f, v, "int32") if v.base in _EXTENSION or BITS.get(v.base, 8) < 8 else v


# ---- LLVM


def intrinsic_id(name: str) -> int:
    """The number by which scripts may name an intrinsic: a checksum of its name."""
    return zlib.crc32(name.encode())


def lookup(f: FunctionEmitter, e: Call) -> Value:
    return constant(intrinsic_id(_name_of(e)), "uint32")


def _name_of(e: Expr) -> str:
    if isinstance(e, Call) and e.op == "llvm_lookup_intrinsic_id":
        e = e.args[0]
    if isinstance(e, IntImm):
        for name in _COMMON:
            if intrinsic_id(name) == e.value:
                return name
        raise CodegenError(
            f"no intrinsic has the number {e.value}",
            code="llvm-intrinsic",
            hint='give its name: T.call_llvm_intrin("float32", "llvm.fma.f32", ...)',
        )
    if not isinstance(e, StringImm) or not e.value.startswith("llvm."):
        raise CodegenError("the name of an LLVM intrinsic is a string `llvm...`", code="llvm-intrinsic")
    return e.value


# What a number may stand for; names work for all.
_COMMON = tuple(
    f"llvm.{name}"
    for name in """
        abs bitreverse bswap ceil copysign cos ctlz ctpop cttz exp exp2 fabs floor fma fmuladd fshl fshr log
        log10 log2 maximum maxnum minimum minnum nearbyint pow powi prefetch rint round roundeven sadd.sat
        sin smax smin sqrt ssub.sat tan trunc uadd.sat umax umin usub.sat vector.reduce.add
        vector.reduce.smax vector.reduce.smin vector.reduce.umax vector.reduce.umin vector.reduce.fmax
        vector.reduce.fmin vector.reduce.fadd vector.reduce.fmul
    """.split()  # noqa: SIM905
)


def llvm_intrinsic(f: FunctionEmitter, e: Call) -> Value:
    """Any intrinsic: LLVM itself adds what its name must say about types."""
    name = _name_of(e.args[0])
    rest = list(e.args[1:])
    if len(rest) > 1 and isinstance(rest[0], IntImm) and rest[0].dtype == "uint32":
        del rest[0]  # in TVM's older spelling the number of arguments that the name depends on
    operands = [_given(f, as_data(f, f.expr(a), parts(a.dtype)[0])) for a in rest]
    types = [o[: o.index(">") + 1] if o[0] == "<" else o.partition(" ")[0] for o in operands]
    base, lanes = ("void", 1) if e.dtype == "void" else parts(e.dtype)
    result = "void" if base == "void" else _foreign_type(base, lanes)
    full = _mangled(name, result, types)
    f.module.declare(full, f'declare {result} @"{full}"({", ".join(types)})')
    text = f'call {result} @"{full}"({", ".join(operands)})'
    if base == "void":
        f.do(text)
        return constant(0, "int32")
    return _taken(f, f.ins(text), base, lanes)


_SUFFIXES = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "ptr": "p0"}


def _suffix(ty: str) -> str:
    if ty[0] == "<":
        lanes, _, scalar = ty[1:-1].partition(" x ")
        return f"v{lanes}{_SUFFIXES.get(scalar, scalar)}"
    return _SUFFIXES.get(ty, ty)


def _mangled(name: str, result: str, types: list[str]) -> str:
    """The name with the type that it is overloaded on, where the script left that out."""
    if name not in _COMMON:
        return name
    if name.startswith("llvm.vector.reduce"):
        return f"{name}.{_suffix(types[-1])}"
    if name == "llvm.prefetch":
        return f"{name}.p0"
    if name == "llvm.powi":
        return f"{name}.{_suffix(result)}.{_suffix(types[-1])}"
    return f"{name}.{_suffix(result)}"


# ---- Python


def packed(f: FunctionEmitter, e: Call) -> Value:
    """A registered function: its arguments as words of 64 bits, with a text that says what they are."""
    name = e.args[0]
    if not isinstance(name, StringImm):
        raise CodegenError("the name of a registered function is a string", code="packed-name")
    kinds: list[str] = []
    words: list[str] = []
    for a in e.args[1:]:
        if isinstance(a, Call) and a.op == "tvm_stack_make_array":
            _array(f, a, kinds, words)
            continue
        kind, word = word_of(f, a)
        kinds.append(kind)
        words.append(word)
    frame = f.reserve("words", f"[{max(len(words), 1)} x i64]", 8)
    out = f.reserve("result", "i64", 8)
    for k, word in enumerate(words):
        place = frame if k == 0 else f.ins(f"getelementptr i64, ptr {frame}, i64 {k}")
        f.do(f"store i64 {word}, ptr {place}, align 8")
    text = f.module.string("".join([f"{k};" for k in kinds]))
    f.module.declare("tirscript_packed", "declare i32 @tirscript_packed(ptr, ptr, ptr, ptr)")
    status = f.ins(
        f"call i32 @tirscript_packed(ptr {f.module.string(name.value)}, ptr {text}, ptr {frame}, ptr {out})"
    )
    f.check_status(status)
    if e.dtype in ("void", "handle"):
        return constant(0, "int32")
    value = Value(f.ins(f"load i64, ptr {out}, align 8"), "int64")
    return as_data(f, value, parts(e.dtype)[0])


def word_of(f: FunctionEmitter, a: Expr, v: Value | None = None) -> tuple[str, str]:
    """A scalar in 64 bits, and what it is."""
    if isinstance(a, StringImm):
        return "s", f.ins(f"ptrtoint ptr {f.module.string(a.value)} to i64")
    base, lanes = parts(a.dtype)
    if lanes != 1:
        raise CodegenError("a vector cannot be passed to a registered function", code="packed-vector")
    if v is None:
        v = f.expr(a)
    if base == "handle":
        return "h", f.ins(f"ptrtoint {v.typed} to i64")
    if base in FLOATS:
        wide = as_data(f, as_data(f, v, base), "float64")
        return "f", f.ins(f"bitcast double {wide.ref} to i64")
    exact = v if v.exact and v.base != "bool" else as_data(f, v, base)
    word = integers.to_data(f, exact, "int64").ref
    return "b" if base == "bool" else "u" if base == "uint64" else "i", word


def _array(f: FunctionEmitter, a: Call, kinds: list[str], words: list[str]) -> None:
    """``tvm_stack_make_array(data, shape, strides, rank, a zero of the dtype, offset)``."""
    data, shape, strides, _, zero, offset = a.args
    if not isinstance(shape, Call) or shape.op != "tvm_stack_make_shape":
        raise CodegenError("the shape of an array is T.tvm_stack_make_shape(...)", code="packed-array")
    base, lanes = parts(zero.dtype)
    pointer = f.expr(data)
    start = f.exact(offset)
    if start.constant != 0:
        unit = f.const_like(BYTES[base] * lanes, start)
        moved = integers.mul(f, start, unit)
        pointer = Value(f.ins(f"getelementptr i8, {pointer.typed}, {moved.typed}"), "handle")
    strided = isinstance(strides, Call) and strides.op == "tvm_stack_make_shape"
    rank = len(shape.args) + (lanes > 1)
    kinds.append(f"a:{base}:{rank}:{int(strided)}")
    words.append(f.ins(f"ptrtoint {pointer.typed} to i64"))
    words += [f.exact(n).ref for n in shape.args] + ([str(lanes)] if lanes > 1 else [])
    if strided:
        assert isinstance(strides, Call)
        words += [f.exact(n).ref for n in strides.args] + (["1"] if lanes > 1 else [])


def structures(f: FunctionEmitter, e: Call) -> Value:
    """TVM's own records: they belong to its runtime, which is not here."""
    span = getattr(e, "span", None)
    raise NotYetError(
        f"`T.{e.op}` is about records of TVM's runtime and is not supported yet",
        code="intrinsic",
        marks=[] if span is None else [Mark(span, "called here")],
    )


__all__ = ["extern", "intrinsic_id", "llvm_intrinsic", "lookup", "packed", "structures", "word_of"]
