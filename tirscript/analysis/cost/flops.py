"""TVM's estimates under their rules; ``cost_of`` says what is really done.

TVM's rules: an arithmetic operator counts one wherever it stands in a value, index arithmetic too; function
calls, comparisons, bit operators and indices count nothing; of two alternatives the dearer one; a loop runs
as often as it can at most (a size of 32 bits: 2147483647 times); predicates, the steps of loops and the init
of reductions do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.arith.analyzer import Analyzer
from tirscript.diagnostics import TirscriptError, deep_recursion
from tirscript.ir import dtype as dt
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BufferLoad,
    Call,
    CommReducer,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Range,
    Select,
    Sub,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockRealize,
    BufferRealize,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    Stmt,
)
from tirscript.ir.visitor import walk

from .counts import ZERO, Count
from .work import size_of

_OPERATORS = frozenset({Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max})
_NOTHING = frozenset({EQ, NE, LT, LE, GT, GE, And, Or, Not, CommReducer, Evaluate, AssertStmt})


def estimate_tir_flops(stmt_or_mod: Stmt | PrimFunc | IRModule) -> float:
    """The operations of a module, function or statement, as TVM estimates them.

    A function's attribute ``estimated_flops`` says it instead.

    >>> from tirscript.script import from_source
    >>> estimate_tir_flops(from_source('''
    ... @T.prim_func
    ... def f(A: T.Buffer((16,), "float32")):
    ...     for i in range(16):
    ...         A[i] = A[i] * T.float32(2) + T.float32(1)
    ... '''))
    32.0

    Source: TVM's ``tir.analysis.estimate_tir_flops``.
    """
    with deep_recursion():
        if isinstance(stmt_or_mod, IRModule):
            return float(sum(_function(f) for f in stmt_or_mod.functions.values()))
        if isinstance(stmt_or_mod, PrimFunc):
            return float(_function(stmt_or_mod))
        if isinstance(stmt_or_mod, Stmt):
            return float(_Estimate().of(stmt_or_mod))
    raise TirscriptError(
        f"estimate_tir_flops takes a module, a function or a statement, not {type(stmt_or_mod).__name__}",
        code="not-a-program",
    )


def _function(f: PrimFunc) -> float:
    own = f.attrs.get("estimated_flops")
    if own is not None:
        return float(own.value if isinstance(own, IntImm) else own)
    return float(_Estimate().of(f.body))


class _Estimate:
    def __init__(self) -> None:
        self.cx = Analyzer()

    def of(self, n: Any) -> float:
        t = type(n)
        if t in _OPERATORS:
            return 1 + self.of(n.a) + self.of(n.b)
        if t is BufferStore:
            return self.of(n.value)
        if t is For:
            most = self.cx.const_int_bound(n.extent).max_value
            if not isinstance(most, int) or most > 2**62:
                most = 2**31 - 1 if n.extent.dtype == "int32" else 2**63 - 1
            self.cx.bind(n.loop_var, Range(n.min, n.extent))
            return most * self.of(n.body)
        if t is BlockRealize:
            return self.of(n.block)
        if t is Block or t is AllocateConst or t is Allocate or t is BufferRealize:
            return self.of(n.body)
        if t is Select:
            return max(self.of(n.true_value), self.of(n.false_value))
        if t is Call:
            if n.op == "if_then_else":
                return max(self.of(n.args[1]), self.of(n.args[2]))
            # Of an integer, |x| is a selection of x and 0 - x.
            own = 1 if n.op == "abs" and dt.info(n.dtype).is_int else 0
            return own + sum(self.of(a) for a in n.args)
        if t is IfThenElse:
            other = 0.0 if n.else_case is None else self.of(n.else_case)
            return max(self.of(n.then_case), other)
        if t is LetStmt or t is Let or t is AttrStmt:
            return self.of(n.value) + self.of(n.body)
        if t in _NOTHING or (isinstance(n, Expr) and not n.children()):
            return 0
        if t is BufferLoad:
            return 0
        return sum(self.of(c) for c in n.children() if _counts(n, c))


def _counts(parent: Any, child: Any) -> bool:
    """Whether a child is what the parent does, not what decides about it."""
    return not (isinstance(parent, Stmt) and isinstance(child, Expr))


def allocated_bytes(f: PrimFunc) -> dict[str, Count]:
    """Bytes of the buffers that a function allocates, by storage scope."""
    out: dict[str, Count] = {}

    def add(scope: str, shape: Sequence[Expr], dtype: str) -> None:
        size = Count.of(size_of(dtype))
        for n in shape:
            size = size * Count.of(n)
        out[scope] = out.get(scope, ZERO) + size

    for n in walk(f.body):
        if isinstance(n, Block):
            for b in n.alloc_buffers:
                add(b.scope, b.shape, b.dtype)
        elif isinstance(n, Allocate):
            pointee = n.buffer_var.pointee
            add(pointee[1] if pointee else "global", n.extents, n.dtype)
    return out


def calculate_allocated_bytes(func_or_mod: PrimFunc | IRModule) -> dict[str, dict[str, int]]:
    """Bytes that functions allocate, by storage scope; ``main`` is a function that is given alone.

    Buffers of symbolic size are no numbers yet: they raise.

    Source: TVM's ``tir.analysis.calculate_allocated_bytes``.
    """
    if isinstance(func_or_mod, PrimFunc):
        named = {"main": func_or_mod}
    elif isinstance(func_or_mod, IRModule):
        named = dict(func_or_mod.items())
    else:
        raise TirscriptError(
            f"calculate_allocated_bytes takes a function or a module, not {type(func_or_mod).__name__}",
            code="not-a-program",
        )
    return {
        name: {scope: int(size) for scope, size in sorted(allocated_bytes(f).items())}
        for name, f in named.items()
    }


__all__ = ["allocated_bytes", "calculate_allocated_bytes", "estimate_tir_flops"]
