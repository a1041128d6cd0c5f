"""What an expression does each time it is evaluated: operations on data, elements read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    Add,
    And,
    BufferLoad,
    Call,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    GlobalVar,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Sub,
    Var,
)
from tirscript.ir.op import OPS
from tirscript.ir.visitor import substitute

from .counts import AT_LEAST, AT_MOST, EXACT

_ARITHMETIC = frozenset({Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max})
_FREE = frozenset({"isnan", "isinf", "isfinite", "ldexp"})
_WEIGHTS = {"fma": 2, "dp4a": 8, "atomic_add": 1, "atomic_max": 1, "atomic_min": 1}
# Calls that neither compute nor touch memory.
_SILENT = frozenset({
    "likely", "reinterpret", "large_uint_imm", "break_loop", "continue_loop", "thread_return", "ret",
    "assume", "undef", "ignore_loop_partition", "start_profile_intrinsic", "end_profile_intrinsic",
    "llvm_lookup_intrinsic_id", "type_annotation", "isnullptr", "handle_add_byte_offset",
    "vectorlow", "vectorhigh", "vectorcombine", "vscale", "get_active_lane_mask", "tvm_thread_invariant",
    "tvm_storage_sync", "tvm_warp_activemask", "tvm_stack_alloca", "tvm_tuple", "tvm_throw_last_error",
    "ptx_commit_group", "ptx_wait_group",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Touch:
    """Elements of a buffer that are read or written once."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    lanes: int
    is_write: bool
    guards: tuple[Expr, ...]
    bound: int

    @property
    def bytes(self) -> int:
        """What is moved: the lanes, each in its bytes."""
        return self.lanes * size_of(self.buffer.dtype)


@dataclass(frozen=True, slots=True)
class Ops:
    """Operations on data, done where the guards hold."""

    number: int
    guards: tuple[Expr, ...]
    bound: int


def size_of(dtype: str) -> int:
    """Bytes of an element in memory; narrow ones take a byte each.

    >>> size_of("float32"), size_of("int4"), size_of("bool"), size_of("float16x4")
    (4, 1, 1, 8)
    """
    d = dt.info(dtype)
    return max(d.bits // 8, 1) * d.lanes


class Reader:
    """Collects what expressions do.  ``env`` gives the values of axes and lets by loops and sizes."""

    def __init__(
        self, env: dict[Var, Expr], add: Callable[[Touch | Ops], None], opaque: Callable[[int], None]
    ) -> None:
        self.env = env
        self.add = add
        self.opaque = opaque

    def replaced(self, e: Expr) -> Expr:
        return substitute(e, self.env) if self.env else e

    def read(self, e: Any, guards: tuple[Expr, ...] = (), bound: int = EXACT) -> None:
        """Everything that evaluating ``e`` does, where ``guards`` hold."""
        t = type(e)
        if t in _ARITHMETIC:
            if not is_exact(e):
                self.add(Ops(_lanes(e.dtype), guards, bound))
            self.read(e.a, guards, bound)
            self.read(e.b, guards, bound)
        elif t is BufferLoad:
            self.touch(e, False, guards, bound)
        elif t is Call:
            self._call(e, guards, bound)
        elif t is And or t is Or:
            self._shortcut(e, guards, bound)
        elif t is Let:
            self.read(e.value, guards, bound)
            if is_exact(e.value) and e.var.exact:
                self.env = {**self.env, e.var: self.replaced(e.value)}
            self.read(e.body, guards, bound)
        else:
            for c in e.children():
                self.read(c, guards, bound)

    def touch(self, e: Any, is_write: bool, guards: tuple[Expr, ...] = (), bound: int = EXACT) -> None:
        """A load, or the place of a store (its value aside)."""
        for i in e.indices:
            self.read(i, guards, bound)
        if e.predicate is not None:
            self.read(e.predicate, guards, bound)
            bound |= AT_MOST
        lanes = dt.info(e.indices[-1].dtype).lanes if e.indices else 1
        indices = tuple([self.replaced(i) for i in e.indices])
        self.add(Touch(e.buffer, indices, lanes, is_write, guards, bound))

    def _shortcut(self, e: Any, guards: tuple[Expr, ...], bound: int) -> None:
        self.read(e.a, guards, bound)
        first = self.replaced(e.a)
        if not is_exact(e.a):
            self.read(e.b, guards, bound | AT_MOST)
        elif dt.info(e.dtype).lanes != 1:
            self.read(e.b, guards, bound)
        else:
            self.read(e.b, (*guards, first if type(e) is And else Not(first)), bound)

    def _call(self, e: Call, guards: tuple[Expr, ...], bound: int) -> None:
        op = e.op
        if op == "if_then_else":
            condition, yes, no = e.args
            self.read(condition, guards, bound)
            first = self.replaced(condition)
            if is_exact(condition) and dt.info(condition.dtype).lanes == 1:
                self.read(yes, (*guards, first), bound)
                self.read(no, (*guards, Not(first)), bound)
            else:
                self.read(yes, guards, bound | AT_MOST)
                self.read(no, guards, bound | AT_MOST)
            return
        if op == "address_of" or op == "tvm_access_ptr":
            self.opaque(AT_LEAST)
            return
        known = OPS.get(op) if isinstance(op, str) else None
        if known is None or isinstance(op, GlobalVar):
            self.opaque(AT_LEAST)
        elif op in _WEIGHTS:
            self.add(Ops(_WEIGHTS[str(op)] * _lanes(e.dtype), guards, bound))
        elif known.group in ("math", "bits"):
            if op not in _FREE:
                self.add(Ops(_lanes(e.dtype), guards, bound))
        elif op not in _SILENT:
            if known.opaque:
                self.opaque(AT_LEAST)
            else:
                self.add(Ops(_lanes(e.dtype), guards, bound | AT_LEAST))
        for a in e.args:
            self.read(a, guards, bound)


def _lanes(dtype: str) -> int:
    d = dt.info(dtype)
    return d.lanes if d.code not in ("void", "handle") else 1


__all__ = ["Ops", "Reader", "Touch", "size_of"]
