"""Dialects of the script: the tables and words of each.

``tvm-0.27`` is what apache-tvm 0.27 parses.  It differs from the classic language in these ways: blocks
are ``T.sblock``; lets and allocations are flat statements, whose scope is the rest of the body; a vector
is loaded through ``T.Ramp``; functions of the module are called through ``Module``; a variable of an
expression's let is declared before.  What was removed there is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import NotYetError, TirscriptError, did_you_mean
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    BinaryOp,
    BufferLoad,
    Call,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    IterVar,
    Let,
    Mod,
)
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    LetStmt,
)

from .constants import float_text
from .core import ExprPrinter, Printer, StmtPrinter
from .expr import EXPRS, Table, arguments
from .names import function_name
from .stmt import STMTS, StmtTable, var_type_text
from .value import buffer_text

DIALECTS = ("tirscript", "tvm-0.27")

Tables = tuple[Mapping[type, ExprPrinter], Mapping[type, StmtPrinter], Mapping[str, str]]


def tables(dialect: str) -> Tables:
    """The printers of expressions and statements and the words of ``dialect``."""
    if dialect == "tirscript":
        return EXPRS, STMTS, Printer.words
    if dialect == "tvm-0.27":
        return _EXPRS, _STMTS, _WORDS
    raise TirscriptError(
        f"there is no dialect {dialect!r}; there are {', '.join(DIALECTS)}",
        code="unknown-dialect",
        hint=did_you_mean(dialect, DIALECTS),
    )


def lacks(what: str) -> NotYetError:
    """The error for a construct that TVM 0.27 has not."""
    return NotYetError(f"TVM 0.27 has no {what}", code="tvm-lacks")


_WORDS = {
    **Printer.words,
    "block": "T.sblock",
    "block_attr": "T.sblock_attr",
    "alloc_buffer": "T.sblock_alloc_buffer",
    "prim_func": "@T.prim_func(s_tir=True)",
    "private": "@T.prim_func(private=True, s_tir=True)",
    "header_ir": "# from tvm.script import ir as I",
    "header_tir": "# from tvm.script import tirx as T",
    "attr_prefix": "tirx.",
    "target": "dict",
}

# Operators without a counterpart of the same name and meaning.
_ABSENT = frozenset(
    [
        "large_uint_imm",
        "atomic_add",
        "atomic_max",
        "atomic_min",
        "ptx_mma",
        "ptx_mma_sp",
        "ptx_ldmatrix",
        "ptx_cp_async",
        "ptx_cp_async_bulk",
        "ptx_cp_async_barrier",
        "ptx_commit_group",
        "ptx_wait_group",
        "ptx_init_barrier_thread_count",
        "ptx_arrive_barrier",
        "ptx_arrive_barrier_expect_tx",
        "ptx_wait_barrier",
        "create_barriers",
        "mma_store",
        "mma_fill",
        "make_filled_simdgroup_matrix",
        "simdgroup_load",
        "simdgroup_store",
        "simdgroup_multiply_accumulate",
    ]
)
_ABSENT_DTYPES = frozenset({"int2", "uint2", "int1", "uint1", "int4", "uint4"})


_FLOAT32_MAX = 3.4028234663852886e38


def _name(p: Printer, b: Buffer) -> str:
    return p.names.get(b) or p.free(b)


def _load(p: Printer, e: BufferLoad, outer: int) -> str:
    if e.predicate is not None:
        raise lacks("predicated loads")
    return f"{_name(p, e.buffer)}[{arguments(p, e.indices) or '()'}]"


def _store(p: Printer, s: BufferStore, last: bool) -> None:
    if s.predicate is not None:
        raise lacks("predicated stores")
    target = f"{_name(p, s.buffer)}[{arguments(p, s.indices) or '()'}]"
    p.header(s, f"{target} = {p.expr(s.value)}")


def _float(p: Printer, e: FloatImm, outer: int) -> str:
    text = float_text(e.value, e.dtype)
    if text[-1].isdigit() and abs(float(text)) > _FLOAT32_MAX:
        if e.dtype == "float64":
            raise lacks("float64 constants beyond the range of float32")
        # TVM does not round: the shortest text of the largest value would be above it.
        text = repr(e.value)
    return f"T.{e.dtype}({text})"


def _quotient(kind: type[BinaryOp]) -> ExprPrinter:
    show = EXPRS[kind]

    def checked(p: Printer, e: BinaryOp, outer: int) -> str:
        if isinstance(e.b, (IntImm, FloatImm)) and e.b.value == 0:
            raise lacks("division by the constant zero")
        if kind is not Div and dt.is_float(e.dtype):
            raise lacks("floor division of floats")
        return show(p, e, outer)

    return checked


def _let_expr(p: Printer, e: Let, outer: int) -> str:
    value = p.expr(e.value)
    p.line(f"{p.define(e.var, e.var.name)} = T.{e.var.dtype}()")
    return f"T.Let({p.expr(e.body)}, where={{{p.names[e.var]}: {value}}})"


def _call(p: Printer, e: Call, outer: int) -> str:
    op = e.op
    if isinstance(op, str):
        if op in _ABSENT:
            raise lacks(f"T.{op}")
        if op == "pow" and dt.info(e.dtype).code != "float":
            raise lacks("T.pow of bfloat16" if dt.is_float(e.dtype) else "T.pow of integers")
        if op == "ret":
            raise lacks("T.ret as an expression")
    return EXPRS[Call](p, e, outer)


def _int(p: Printer, e: IntImm, outer: int) -> str:
    if e.dtype in _ABSENT_DTYPES:
        raise lacks(f"constants of dtype {e.dtype}")
    if e.value >> 63 > 0:
        raise lacks("constants above the largest int64")
    return EXPRS[IntImm](p, e, outer)


def _let(p: Printer, s: LetStmt, last: bool) -> None:
    value = p.expr(s.value)
    name = p.define(s.var, s.var.name)
    # The type of a pointer to nothing known is that of its value.
    untyped = s.var.dtype == "handle" and s.var.pointee is None
    kind = "T.let" if untyped else f"T.let[{var_type_text(s.var)}]"
    p.header(s, f"{name}: {kind} = {value}")
    p.stmts[type(s.body)](p, s.body, last)


def _allocate(p: Printer, s: Allocate, last: bool) -> None:
    view = s.body
    whole = type(s.condition) is IntImm and s.condition.value == 1
    if s.annotations or not whole or type(view) is not DeclBuffer or not _is_whole(s, view.buffer):
        raise lacks("T.allocate")
    b = view.buffer
    text = buffer_text(p, b, False)
    name = p.define(b, b.name)
    p.names[b.data] = f"{p.names[b]}.data"
    p.header(s, f"{name} = T.alloc_buffer({text})")
    p.same_line(view)
    p.stmts[type(view.body)](p, view.body, last)


def _is_whole(s: Allocate, b: Buffer) -> bool:
    """Whether ``b`` is the allocated memory, all of it and nothing more."""
    if b.data is not s.buffer_var or b.dtype != s.dtype or b.strides or b.elem_offset is not None:
        return False
    have, want = _size(s.extents), _size(b.shape)
    if have is None or want is None:
        return len(s.extents) == len(b.shape) and all(x is y for x, y in zip(s.extents, b.shape, strict=True))
    return have == want


def _size(shape: tuple[Expr, ...]) -> int | None:
    size = 1
    for n in shape:
        if type(n) is not IntImm:
            return None
        size *= n.value
    return size


def _decl_buffer(p: Printer, s: DeclBuffer, last: bool) -> None:
    b = s.buffer
    data = p.names.get(b.data) or p.free(b.data)
    text = buffer_text(p, b, False, data)
    p.header(s, f"{p.define(b, b.name)} = T.decl_buffer({text})")
    p.stmts[type(s.body)](p, s.body, last)


def _attr(p: Printer, s: AttrStmt, last: bool) -> None:
    axis = s.node
    if type(axis) is IterVar and s.key != "thread_extent" and axis.var not in p.names:
        p.line(f"{p.define(axis.var, axis.var.name)} = T.{axis.var.dtype}()")
    STMTS[AttrStmt](p, s, last)


def _evaluate(p: Printer, s: Evaluate, last: bool) -> None:
    value = s.value
    if type(value) is Call and value.op == "ret":
        if not value.args:
            raise lacks("return without a value")
        p.header(s, f"return {p.expr(value.args[0])}")
        return
    STMTS[Evaluate](p, s, last)


def _absent(what: str) -> StmtPrinter:
    def refuse(p: Printer, s: Any, last: bool) -> None:
        raise lacks(what)

    return refuse


_EXPRS = Table({
    **EXPRS,
    GlobalVar: lambda p, e, outer: f"Module.{p.functions.get(e.name) or function_name(e.name)}",
    IntImm: _int,
    FloatImm: _float,
    Div: _quotient(Div),
    Mod: _quotient(Mod),
    FloorDiv: _quotient(FloorDiv),
    FloorMod: _quotient(FloorMod),
    BufferLoad: _load,
    Let: _let_expr,
    Call: _call,
})  # fmt: skip
_STMTS = StmtTable({
    **STMTS,
    BufferStore: _store,
    LetStmt: _let,
    Allocate: _allocate,
    DeclBuffer: _decl_buffer,
    Evaluate: _evaluate,
    AttrStmt: _attr,
    AllocateConst: _absent("T.allocate_const"),
    BufferRealize: _absent("T.realize"),
})  # fmt: skip
