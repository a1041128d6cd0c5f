"""Expressions, with brackets only where the tree needs them."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    CommReducer,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    IterVar,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Range,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.op import OPS
from tirscript.ir.ops import _constant_difference as constant_difference
from tirscript.ir.ops import _same as same_expr

from .constants import float_text
from .core import ExprPrinter, Printer
from .names import function_name, quote

# Python's precedences; an operand that binds less than its place asks for gets brackets.
OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(1, 13)


class Table(dict[type, ExprPrinter]):
    """Printers by node type; what is no expression prints as a plain value."""

    def __missing__(self, kind: type) -> ExprPrinter:
        from .value import value_text

        return lambda p, e, outer: value_text(p, e)


# ---- leaves


def _var(p: Printer, e: Var, outer: int) -> str:
    return p.names.get(e) or p.free(e)


def _int(p: Printer, e: IntImm, outer: int) -> str:
    dtype = e.dtype
    if dtype == "int32":
        return str(e.value)
    if dtype == "bool":
        return "T.bool(True)" if e.value else "T.bool(False)"
    return f"T.{dtype}({e.value})"


def _float(p: Printer, e: FloatImm, outer: int) -> str:
    return f"T.{e.dtype}({float_text(e.value, e.dtype)})"


def _string(p: Printer, e: StringImm, outer: int) -> str:
    return quote(e.value)


def _global(p: Printer, e: GlobalVar, outer: int) -> str:
    return f"cls.{p.functions.get(e.name) or function_name(e.name)}"


# ---- operators


def _is_literal(e: Any) -> bool:
    """Whether ``e`` prints as a bare Python number, so that two of them would be Python's to compute."""
    return type(e) is IntImm and e.dtype == "int32"


def _chained(symbol: str, level: int, word: str, group: dict[type, str]) -> ExprPrinter:
    """A left-associative operator.  ``group`` holds all operators of its level: a long chain of them is
    printed in a loop."""
    infix = f" {symbol} "
    right = level + 1

    def show(p: Printer, e: Any, outer: int) -> str:
        a, b = e.a, e.b
        table = p.exprs
        kind = type(a)
        if kind is IntImm and type(b) is IntImm and _is_literal(a) and _is_literal(b):
            return f"T.{word}({a.value}, {b.value})"
        if kind in group and type(a.a) in group and type(a.a.a) in group and p.unroll:
            text = _chain(p, e, group, level)
        else:
            text = f"{table[kind](p, a, level)}{infix}{table[type(b)](p, b, right)}"
        return f"({text})" if outer > level else text

    return show


def _chain(p: Printer, e: Any, group: dict[type, str], level: int) -> str:
    table = p.exprs
    parts: list[str] = []
    while type(e) in group and not (_is_literal(e.a) and _is_literal(e.b)):
        # A level has one symbol for each type, but `/` of integers is a call.
        if type(e) is Div and not dt.is_float(e.dtype):
            break
        parts.append(table[type(e.b)](p, e.b, level + 1))
        parts.append(group[type(e)])
        e = e.a
    parts.append(table[type(e)](p, e, level))
    parts.reverse()
    return "".join(parts)


def _operator(symbol: str, level: int, left: int, word: str) -> ExprPrinter:
    infix = f" {symbol} "
    right = level + 1

    def show(p: Printer, e: Any, outer: int) -> str:
        a, b = e.a, e.b
        if type(a) is IntImm and type(b) is IntImm and _is_literal(a) and _is_literal(b):
            return f"T.{word}({a.value}, {b.value})"
        table = p.exprs
        text = f"{table[type(a)](p, a, left)}{infix}{table[type(b)](p, b, right)}"
        return f"({text})" if outer > level else text

    return show


_SUMS: dict[type, str] = {Add: " + ", Sub: " - "}
_PRODUCTS: dict[type, str] = {Mul: " * ", FloorDiv: " // ", FloorMod: " % ", Div: " / "}
_ORS: dict[type, str] = {Or: " or "}
_ANDS: dict[type, str] = {And: " and "}

_quotient = _chained("/", PRODUCT, "Div", _PRODUCTS)


def _div(p: Printer, e: Div, outer: int) -> str:
    if dt.is_float(e.dtype):
        return _quotient(p, e, outer)
    return _function("T.truncdiv", p, (e.a, e.b))


def _not(p: Printer, e: Not, outer: int) -> str:
    text = f"not {p.exprs[type(e.a)](p, e.a, NOT)}"
    return f"({text})" if outer > NOT else text


# ---- calls


def arguments(p: Printer, args: Any) -> str:
    table = p.exprs
    return ", ".join([table[type(a)](p, a, 0) for a in args])


def _function(name: str, p: Printer, args: Any) -> str:
    return f"{name}({arguments(p, args)})"


def _two(name: str) -> ExprPrinter:
    return lambda p, e, outer: f"{name}({p.exprs[type(e.a)](p, e.a, 0)}, {p.exprs[type(e.b)](p, e.b, 0)})"


def _select(p: Printer, e: Select, outer: int) -> str:
    return _function("T.Select", p, (e.condition, e.true_value, e.false_value))


def _cast(p: Printer, e: Cast, outer: int) -> str:
    value = e.value
    text = p.exprs[type(value)](p, value, 0)
    # Of a bare number the parser would make a constant of the dtype.
    return f'T.Cast("{e.dtype}", T.int32({text}))' if _is_literal(value) else f'T.Cast("{e.dtype}", {text})'


def _broadcast(p: Printer, e: Broadcast, outer: int) -> str:
    return f"T.Broadcast({p.exprs[type(e.value)](p, e.value, 0)}, {e.lanes})"


def _ramp(p: Printer, e: Ramp, outer: int) -> str:
    return f"T.Ramp({arguments(p, (e.base, e.stride))}, {e.lanes})"


def _shuffle(p: Printer, e: Shuffle, outer: int) -> str:
    return f"T.Shuffle([{arguments(p, e.vectors)}], [{arguments(p, e.indices)}])"


def _let(p: Printer, e: Let, outer: int) -> str:
    value = p.exprs[type(e.value)](p, e.value, 0)
    mark = len(p.scope)
    name = p.define(e.var, e.var.name)
    text = f"T.Let({p.exprs[type(e.body)](p, e.body, 0)}, where={{{name}: {value}}})"
    p.leave(mark)
    return text


def _reducer(p: Printer, e: CommReducer, outer: int) -> str:
    identity = arguments(p, e.identity)
    mark = len(p.scope)
    names = ", ".join([p.define(v, v.name) for v in (*e.lhs, *e.rhs)])
    result = arguments(p, e.result)
    p.leave(mark)
    body = result if len(e.result) == 1 else f"({result})"
    return f"T.comm_reducer(lambda {names}: {body}, [{identity}])"


# Operators that a Call names and Python has a symbol for: symbol, level.
BIT_OPERATORS = {
    "bitwise_or": ("|", BIT_OR),
    "bitwise_xor": ("^", BIT_XOR),
    "bitwise_and": ("&", BIT_AND),
    "shift_left": ("<<", SHIFT),
    "shift_right": (">>", SHIFT),
}
# Of the operators whose dtype is given by the caller, those where the arguments tell it, and the one
# where it stands last.
_UNTYPED = frozenset({
    "if_then_else", "large_uint_imm", "dp4a", "call_packed", "call_cpacked", "call_packed_lowered",
    "call_cpacked_lowered", "tvm_call_packed", "tvm_call_cpacked", "tvm_call_packed_lowered",
    "tvm_call_cpacked_lowered", "atomic_add", "atomic_max", "atomic_min", "tvm_warp_shuffle",
    "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor", "ptx_commit_group",
    "ptx_wait_group", "ptx_init_barrier_thread_count", "ptx_arrive_barrier", "ptx_arrive_barrier_expect_tx",
    "ptx_wait_barrier", "create_barriers", "make_filled_simdgroup_matrix", "simdgroup_load",
    "simdgroup_store", "simdgroup_multiply_accumulate", "undef", "anylist_getitem", "anylist_resetitem",
    "anylist_setitem_call_packed", "anylist_setitem_call_cpacked",
})  # fmt: skip
_DTYPE_FIRST = frozenset({n for n, op in OPS.items() if op.result == "given"} - _UNTYPED - {"tvm_struct_get"})


def _call(p: Printer, e: Call, outer: int) -> str:
    op, args = e.op, e.args
    table = p.exprs
    if type(op) is not str:
        return f"{table[type(op)](p, op, ATOM)}({arguments(p, args)})"
    bits = BIT_OPERATORS.get(op)
    if bits is not None and len(args) == 2 and not (_is_literal(args[0]) and _is_literal(args[1])):
        symbol, level = bits
        a, b = args
        text = f"{table[type(a)](p, a, level)} {symbol} {table[type(b)](p, b, level + 1)}"
        return f"({text})" if outer > level else text
    if op == "bitwise_not" and len(args) == 1 and not _is_literal(args[0]):
        a = args[0]
        text = f"~{table[type(a)](p, a, UNARY)}"
        return f"({text})" if outer > UNARY else text
    shown = ", ".join([table[type(a)](p, a, 0) for a in args])
    if op in _DTYPE_FIRST:
        dtype = quote(e.dtype)
        return f"T.{op}({dtype}, {shown})" if args else f"T.{op}({dtype})"
    if op == "undef" and e.dtype != "int32":
        return f"T.undef(dtype={quote(e.dtype)})"
    if op == "tvm_struct_get":
        return f"T.{op}({shown}, {quote(e.dtype)})"
    if op not in OPS:
        return f"T.call_intrin({', '.join([quote(e.dtype), quote(op), *([shown] if shown else [])])})"
    return f"T.{op}({shown})"


def is_statement_call(e: Any) -> bool:
    """Whether ``e`` prints as a call, which may stand alone as a statement."""
    return type(e) is Call and e.op not in BIT_OPERATORS and e.op != "bitwise_not"


# ---- loads, regions


def _load(p: Printer, e: BufferLoad, outer: int) -> str:
    name = p.names.get(e.buffer) or p.free(e.buffer)
    if e.predicate is None:
        return f"{name}[{indices_text(p, e.indices)}]"
    predicate = p.exprs[type(e.predicate)](p, e.predicate, 0)
    return f"{name}.vload([{arguments(p, e.indices)}], predicate={predicate})"


def indices_text(p: Printer, indices: tuple[Expr, ...]) -> str:
    if not indices:
        return "()"
    table = p.exprs
    return ", ".join([
        table[type(i)](p, i, 0) if type(i) is not Ramp else _slice_of_ramp(p, i) for i in indices
    ])  # fmt: skip


def _slice_of_ramp(p: Printer, e: Ramp) -> str:
    stride = e.stride
    base = e.base
    if type(stride) is not IntImm or stride.value <= 0 or stride.dtype != base.dtype or e.lanes <= 1:
        return p.exprs[Ramp](p, e, 0)
    low = p.exprs[type(base)](p, base, 0)
    length = e.lanes * stride.value
    if type(base) is IntImm:
        high = _int(p, IntImm(base.value + length, base.dtype), 0)
    else:
        high = p.exprs[Add](p, Add(base, const_int(length, base.dtype)), 0)
    return f"{low}:{high}" if stride.value == 1 else f"{low}:{high}:{stride.value}"


def end_text(p: Printer, low: Expr, extent: Expr) -> str:
    """The text of ``low + extent`` from which the parser gets back ``extent`` as it is."""
    if type(low) is IntImm:
        if type(extent) is IntImm:
            return _int(p, IntImm(low.value + extent.value, extent.dtype), 0)
        if low.value == 0:
            return p.exprs[type(extent)](p, extent, 0)
    if type(extent) is Sub and same_expr(extent.b, low):
        high = extent.a
        if constant_difference(high, low) is None and not (type(high) is Add and same_expr(high.a, low)):
            return p.exprs[type(high)](p, high, 0)
    return p.exprs[Add](p, Add(low, extent), 0)


def range_text(p: Printer, r: Range) -> str:
    """A point, or an interval ``low:high``."""
    low, extent = r.min, r.extent
    text = p.exprs[type(low)](p, low, 0)
    if type(extent) is IntImm and extent.value == 1:
        return text
    return f"{text}:{end_text(p, low, extent)}"


def _region(p: Printer, e: BufferRegion, outer: int) -> str:
    name = p.names.get(e.buffer) or p.free(e.buffer)
    return f"{name}[{', '.join([range_text(p, r) for r in e.region]) or '()'}]"


def _range(p: Printer, e: Range, outer: int) -> str:
    return f"T.Range({p.expr(e.min)}, {end_text(p, e.min, e.extent)})"


# TVM's words for the kinds of axes.
_AXIS_KINDS = {
    "spatial": "DataPar",
    "reduce": "CommReduce",
    "scan": "Ordered",
    "opaque": "Opaque",
    "thread": "ThreadIndex",
}


def iter_var_text(p: Printer, iv: IterVar) -> str:
    dom = "None" if iv.dom is None else _range(p, iv.dom, 0)
    kind = _AXIS_KINDS.get(iv.kind, iv.kind)
    return f"T.iter_var({_var(p, iv.var, 0)}, {dom}, {quote(kind)}, {quote(iv.thread_tag)})"


def _buffer(p: Printer, e: Buffer, outer: int) -> str:
    return p.names.get(e) or p.free(e)


EXPRS = Table({
    Var: _var,
    IntImm: _int,
    FloatImm: _float,
    StringImm: _string,
    GlobalVar: _global,
    Add: _chained("+", SUM, "Add", _SUMS),
    Sub: _chained("-", SUM, "Sub", _SUMS),
    Mul: _chained("*", PRODUCT, "Mul", _PRODUCTS),
    FloorDiv: _chained("//", PRODUCT, "FloorDiv", _PRODUCTS),
    FloorMod: _chained("%", PRODUCT, "FloorMod", _PRODUCTS),
    Div: _div,
    Mod: _two("T.truncmod"),
    Min: _two("T.min"),
    Max: _two("T.max"),
    EQ: _operator("==", COMPARE, COMPARE + 1, "EQ"),
    NE: _operator("!=", COMPARE, COMPARE + 1, "NE"),
    LT: _operator("<", COMPARE, COMPARE + 1, "LT"),
    LE: _operator("<=", COMPARE, COMPARE + 1, "LE"),
    GT: _operator(">", COMPARE, COMPARE + 1, "GT"),
    GE: _operator(">=", COMPARE, COMPARE + 1, "GE"),
    And: _chained("and", AND, "And", _ANDS),
    Or: _chained("or", OR, "Or", _ORS),
    Not: _not,
    Select: _select,
    Cast: _cast,
    BufferLoad: _load,
    Ramp: _ramp,
    Broadcast: _broadcast,
    Shuffle: _shuffle,
    Let: _let,
    Call: _call,
    CommReducer: _reducer,
    Buffer: _buffer,
    BufferRegion: _region,
    MatchBufferRegion: lambda p, e, outer: f"T.match_buffer({_region(p, e.source, 0)})",
    Range: _range,
    IterVar: lambda p, e, outer: iter_var_text(p, e),
})  # fmt: skip
