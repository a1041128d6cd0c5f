"""Calls: mathematics, hints, pointers, functions of the module, functions of C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tirscript.diagnostics import CodegenError, NotYetError, did_you_mean
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import BufferLoad, Call, Expr, GlobalVar
from tirscript.ir.op import OPS

from . import fixedpoint, foreign, integers, mathematics, memory, narrow
from .casts import as_data
from .values import BITS, BYTES, FLOATS, MEMORY, NARROW, PASSED, SIGNED, Value, constant, parts

if TYPE_CHECKING:
    from .function import FunctionEmitter

# Operators that must not run where their value is not wanted.
FOREIGN = frozenset(
    name
    for name, op in OPS.items()
    if op.effect in ("update", "control", "read") or name == "call_pure_extern"
)


def call(f: FunctionEmitter, e: Call) -> Value:
    op = e.op
    if isinstance(op, GlobalVar):
        return _module_call(f, e, op)
    emit = _TABLE.get(op)
    if emit is not None:
        return emit(f, e)
    if op in mathematics.FUNCTIONS:
        base, lanes = parts(e.args[0].dtype if e.dtype.startswith("bool") else e.dtype)
        if base in NARROW:
            return f.broadcast(_narrow_function(f, op, base, e), lanes)
        v = mathematics.call(f, op, base, [f.expr(a) for a in e.args])
        return f.broadcast(v, max(lanes, v.lanes))
    if op in OPS:
        raise NotYetError(f"`{op}` is not supported by the LLVM backend yet", code="intrinsic")
    raise CodegenError(f"there is no operator `{op}`", code="unknown-operator", hint=did_you_mean(op, OPS))


def _narrow_function(f: FunctionEmitter, op: str, base: str, e: Call) -> Value:
    """A function on narrow floats: computed in float32, rounded once."""
    args = [as_data(f, f.expr(a), base) if parts(a.dtype)[0] in FLOATS else f.expr(a) for a in e.args]
    if op == "fma":
        return narrow.fused(f, args, base)
    if op == "nextafter":
        return narrow.neighbour(f, *args)
    v = mathematics.call(f, op, "float32", [narrow.wide(a) if a.base in NARROW else a for a in args])
    return v if v.base == "bool" else narrow.rounded(f, v, base)


# ---- hints and conversions


def _first(f: FunctionEmitter, e: Call) -> Value:
    return f.expr(e.args[0])


def _nothing(f: FunctionEmitter, e: Call) -> Value:
    return constant(1, "bool")


def _undef(f: FunctionEmitter, e: Call) -> Value:
    base, lanes = parts(e.dtype)
    return constant(0, base, lanes)


def _assume(f: FunctionEmitter, e: Call) -> Value:
    from .expressions import touches_memory

    condition = e.args[0]
    if touches_memory(condition):
        return constant(1, "bool")
    v = as_data(f, f.expr(condition), "bool")
    if v.lanes == 1:
        f.do(f"call void @llvm.assume(i1 {v.ref})")
    return v


def _reinterpret(f: FunctionEmitter, e: Call) -> Value:
    base, lanes = parts(e.dtype)
    have, width = parts(e.args[0].dtype)
    v = f.broadcast(as_data(f, f.expr(e.args[0]), have), width)
    if BYTES[base] * lanes != BYTES[have] * width:
        raise CodegenError(f"{e.args[0].dtype} and {e.dtype} differ in size", code="reinterpret")
    v = narrow.to_memory(f, v)
    ty = memory_vector(base, lanes)
    if v.ty == ty:
        return narrow.from_memory(f, v.ref, base, lanes)
    opcode = "inttoptr" if base == "handle" else "ptrtoint" if have == "handle" else "bitcast"
    return narrow.from_memory(f, f.ins(f"{opcode} {v.typed} to {ty}"), base, lanes)


def memory_vector(base: str, lanes: int) -> str:
    return MEMORY[base] if lanes == 1 else f"<{lanes} x {MEMORY[base]}>"


# ---- pointers


def _address_of(f: FunctionEmitter, e: Call) -> Value:
    arg = e.args[0]
    if not isinstance(arg, BufferLoad):
        raise CodegenError("address_of takes an element of a buffer", code="address-of")
    return memory.address_of(f, arg)


def _access_ptr(f: FunctionEmitter, e: Call) -> Value:
    """``tvm_access_ptr(type, data, offset, extent, mask)``: data + offset elements."""
    base, lanes = parts(e.args[0].dtype)
    pointer = as_data(f, f.expr(e.args[1]), "handle")
    offset = f.exact(e.args[2])
    if offset.constant == 0:
        return pointer
    offset = integers.mul(f, offset, f.const_like(lanes, offset))
    return Value(f.ins(f"getelementptr {MEMORY[base]}, {pointer.typed}, {offset.typed}"), "handle")


def _is_null(f: FunctionEmitter, e: Call) -> Value:
    v = f.expr(e.args[0])
    return Value(f.ins(f"icmp eq {v.typed}, null"), "bool")


def _byte_offset(f: FunctionEmitter, e: Call) -> Value:
    v, offset = f.expr(e.args[0]), f.exact(e.args[1])
    return Value(f.ins(f"getelementptr i8, {v.typed}, {offset.typed}"), "handle")


# ---- vectors


def _half(first: bool) -> Callable[[FunctionEmitter, Call], Value]:
    def emit(f: FunctionEmitter, e: Call) -> Value:
        v = as_data(f, f.expr(e.args[0]), parts(e.args[0].dtype)[0])
        half = v.lanes // 2
        start = 0 if first else half
        if half == 1:
            return f.lane(v, start)
        picks = ", ".join(f"i32 {i}" for i in range(start, start + half))
        return Value(f.ins(f"shufflevector {v.typed}, {v.ty} poison, <{half} x i32> <{picks}>"), v.base, half)

    return emit


def _combine(f: FunctionEmitter, e: Call) -> Value:
    base = parts(e.dtype)[0]
    x, y = [as_data(f, f.expr(a), base) for a in e.args]
    if x.lanes == 1:
        return f.from_lanes([x, y])
    lanes = 2 * x.lanes
    picks = ", ".join(f"i32 {i}" for i in range(lanes))
    return Value(f.ins(f"shufflevector {x.typed}, {y.typed}, <{lanes} x i32> <{picks}>"), base, lanes)


def _lane_mask(f: FunctionEmitter, e: Call) -> Value:
    """Which of ``base, base + 1, ...`` are below the limit."""
    lanes = parts(e.dtype)[1]
    first, limit = f.exact(e.args[0]), f.exact(e.args[1])
    steps = ", ".join(f"i64 {i}" for i in range(lanes))
    if lanes == 1:
        return integers.compare(f, "lt", first, limit)
    wide = f.broadcast(first, lanes)
    at = Value(f.ins(f"add {wide.typed}, <{steps}>"), "int64", lanes, True)
    return integers.compare(f, "lt", at, f.broadcast(limit, lanes))


def _large_uint(f: FunctionEmitter, e: Call) -> Value:
    low, high = [as_data(f, f.expr(a), "uint64") for a in e.args]
    base = parts(e.dtype)[0]
    if low.constant is not None and high.constant is not None:
        return constant(high.constant << 32 | low.constant, base)
    joined = f.ins(f"or i64 {f.ins(f'shl i64 {high.ref}, 32')}, {low.ref}")
    return as_data(f, Value(joined, "uint64"), base)


# ---- memory in one step


def _atomic(word: str) -> Callable[[FunctionEmitter, Call], Value]:
    def emit(f: FunctionEmitter, e: Call) -> Value:
        pointer = as_data(f, f.expr(e.args[0]), "handle")
        base, lanes = parts(e.args[1].dtype)
        v = as_data(f, f.expr(e.args[1]), base)
        if lanes != 1 or base in NARROW or BYTES[base] * 8 != BITS.get(base, 8 * BYTES[base]):
            raise NotYetError(f"`T.{e.op}` of {e.args[1].dtype} is not supported yet", code="atomic-dtype")
        if base in FLOATS:
            # Like the language's own, these keep a nan.
            opcode = "fadd" if word == "add" else f"f{word}imum"
        else:
            opcode = word if word == "add" or base in SIGNED else f"u{word}"
        return Value(
            f.ins(f"atomicrmw {opcode} {pointer.typed}, {v.typed} monotonic, align {BYTES[base]}"), base
        )

    return emit


# ---- functions


def _module_call(f: FunctionEmitter, e: Call, callee: GlobalVar) -> Value:
    """A call of a function of the module: its status is checked, its value comes through memory."""
    target = f.module.callee(callee)
    params = (*target.params, *target.extra)
    if target.extra and len(e.args) == len(target.params):
        names = ", ".join(v.name for v in target.extra)
        raise CodegenError(
            f"`{callee.name}` has shapes with the variables {names}, which this call does not bind",
            code="symbolic-callee",
            hint="pass buffers of as many dimensions, or make the variables parameters",
        )
    if len(e.args) != len(params):
        raise CodegenError(
            f"`{callee.name}` takes {len(target.params)} arguments, {len(e.args)} given", code="arity"
        )
    args = []
    for p, a in zip(params, e.args, strict=True):
        args.append(_pointer_argument(f, a).typed if p.dtype == "handle" else _argument(f, a, p.dtype).typed)
    out: str | None = None
    if target.returns is not None:
        base, _ = parts(target.returns)
        out = f.reserve("result", PASSED[base], 8)
        args.append(f"ptr {out}")
    status = f.ins(f"call i32 {target.symbol}({', '.join(args)})")
    f.check_status(status)
    if out is None:
        return constant(0, "int32")
    base, _ = parts(target.returns or "int32")
    raw = f.ins(f"load {PASSED[base]}, ptr {out}, align {BYTES[base]}")
    if base in NARROW:
        return as_data(f, Value(raw, "float64"), base)
    return narrow.from_memory(f, raw, base, 1)


def _pointer_argument(f: FunctionEmitter, a: Expr) -> Value:
    v = memory.address_of(f, a) if isinstance(a, BufferLoad) else f.expr(a)
    if v.base != "handle":
        raise CodegenError("a pointer is wanted here: pass the buffer's `data`", code="pointer-argument")
    return v


def _argument(f: FunctionEmitter, a: Expr, dtype: str) -> Value:
    """A scalar as functions of the module take it: integers and bools in 64 bits."""
    base, _ = parts(dtype)
    v = as_data(f, f.expr(a), base)
    if base in NARROW:
        return as_data(f, v, "float64")
    return v if base in FLOATS else integers.to_data(f, v, "int64")


def buffer_argument(f: FunctionEmitter, buffer: Buffer) -> Value:
    return Value(f.pointer(buffer), "handle")


_TABLE: dict[str, Callable[[FunctionEmitter, Call], Value]] = {
    "likely": _first,
    "ignore_loop_partition": _first,
    "tvm_thread_invariant": _first,
    "assume": _assume,
    "undef": _undef,
    "type_annotation": _undef,
    "reinterpret": _reinterpret,
    "address_of": _address_of,
    "tvm_access_ptr": _access_ptr,
    "isnullptr": _is_null,
    "handle_add_byte_offset": _byte_offset,
    "vectorlow": _half(True),
    "vectorhigh": _half(False),
    "vectorcombine": _combine,
    "get_active_lane_mask": _lane_mask,
    "large_uint_imm": _large_uint,
    "atomic_add": _atomic("add"),
    "atomic_max": _atomic("max"),
    "atomic_min": _atomic("min"),
    "call_extern": foreign.extern,
    "call_pure_extern": foreign.extern,
    "call_llvm_intrin": foreign.llvm_intrinsic,
    "call_llvm_pure_intrin": foreign.llvm_intrinsic,
    "llvm_lookup_intrinsic_id": foreign.lookup,
    **dict.fromkeys(
        [
            f"{tvm}{name}{lowered}"
            for tvm in ("", "tvm_")
            for name in ("call_packed", "call_cpacked")
            for lowered in ("", "_lowered")
        ],
        foreign.packed,
    ),
    **dict.fromkeys(
        [
            "tvm_struct_get",
            "tvm_struct_set",
            "tvm_stack_alloca",
            "tvm_stack_make_shape",
            "tvm_stack_make_array",
        ],
        foreign.structures,
    ),
    "q_multiply_shift": fixedpoint.q_multiply_shift,
    "q_multiply_shift_per_axis": fixedpoint.q_multiply_shift_per_axis,
    "dp4a": fixedpoint.dp4a,
    "start_profile_intrinsic": _nothing,
    "end_profile_intrinsic": _nothing,
}
