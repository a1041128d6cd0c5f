"""One LLVM function: its state while it is emitted, its frame, its exits.

Every function returns a status: 0, the number of the assert that failed, or ``NO_MEMORY``.  A value that
the script returns goes through the last parameter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tirscript.codegen.python.kinds import Kinds
from tirscript.diagnostics import CodegenError, Mark, Span, TirscriptError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, Var
from tirscript.ir.stmt import Stmt

from . import integers, narrow
from .builder import Builder
from .casts import as_data
from .expressions import TABLE as EXPRESSIONS
from .values import BYTES, FLOATS, NARROW, Value, parts

if TYPE_CHECKING:
    from .module import ModuleEmitter

NO_MEMORY = -1
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


class FunctionEmitter(Builder):
    """Emits one function; a parallel loop's body is another."""

    def __init__(self, module: ModuleEmitter, kinds: Kinds, *, parallel_body: bool = False) -> None:
        super().__init__()
        self.module = module
        self.kinds = kinds
        self.parallel_body = parallel_body
        self.half = module.options.half
        self.fast = "fast " if module.options.fast_math else ""
        self.env: dict[Var, Value] = {}
        self.mask: Value | None = None  # lanes for which the expression at hand is wanted
        self.returns: str | None = None
        # Where `continue` and `break` go, and how many of `heap` are open there.
        self.loops: list[tuple[str, str, int]] = []
        self.heap: list[str] = []  # memory to give back when its scope is left
        self.frame: list[str] = []  # memory to give back when the function returns
        self.stack_bytes = 0
        self.restricted: set[str] = set()  # pointers that nothing else points into
        self._params: list[str] = []
        self._taken: set[str] = {"status", "entry", "begin", "exit", "nomemory"}
        self.loop_vars: list[Var] = []  # of the loops around, for what failures tell
        self.span: Span | None = None  # of the statement at hand
        self.out = ""  # where the value that is returned goes

    # ---- values

    def expr(self, e: Expr) -> Value:
        """The value of an expression."""
        emit = EXPRESSIONS.get(type(e))
        if emit is None:
            raise CodegenError(f"{type(e).__name__} is no expression", code="not-an-expression")
        return emit(self, e)

    def exact(self, e: Expr) -> Value:
        """An index, extent or the like in 64 bits."""
        v = self.expr(e)
        if v.exact and v.base == "int64":
            return v
        if v.base in FLOATS or v.base == "handle":
            raise CodegenError(f"an integer is wanted, this is {e.dtype}", code="index-dtype")
        return integers.to_exact(self, v)

    def bind(self, var: Var, value: Value) -> None:
        """Let ``var`` stand for ``value``, which takes the variable's kind."""
        base, lanes = parts(var.dtype)
        if base == "handle":
            self.env[var] = value
            return
        if not (var.exact and value.exact):
            exact = var.exact and base not in FLOATS and base != "bool"
            value = as_data(self, value, base)
            value = integers.to_exact(self, value) if exact else value
        self.env[var] = self.broadcast(value, lanes)

    def pointer(self, buffer: Buffer) -> str:
        v = self.env.get(buffer.data)
        if v is None:
            raise CodegenError(
                f"the memory of the buffer `{buffer.name}` is not allocated where it is used",
                code="undefined-buffer",
            )
        return v.ref

    @contextlib.contextmanager
    def masked(self, lanes: Value) -> Iterator[None]:
        """Evaluate only for some lanes of a vector."""
        before = self.mask
        if before is not None and before.lanes == lanes.lanes:
            lanes = Value(self.op("and", lanes, before.ref), "bool", lanes.lanes)
        self.mask = lanes
        try:
            yield
        finally:
            self.mask = before

    # ---- parameters and frame

    def parameter(self, stem: str, ty: str, attributes: str = "") -> str:
        """A new parameter; its register."""
        base = name = _UNSAFE.sub("_", stem) or "arg"
        n = 0
        while name in self._taken:
            n += 1
            name = f"{base}_{n}"
        self._taken.add(name)
        self._params.append(f"{ty}{' ' if attributes else ''}{attributes} %{name}")
        return f"%{name}"

    def text(self, header: str, attributes: str = "#0", debug: str = "") -> str:
        """The whole definition; the body must have been emitted."""
        if not self.terminated:
            self.br("exit")
        free = [f"  call void @free(ptr {p}){self.debug}" for p in self.frame]
        return "\n".join(
            [
                f"{header}({', '.join(self._params)}) {attributes}{debug} {{",
                "entry:",
                "  %status = alloca i32, align 4",
                f"  store i32 0, ptr %status, align 4{self.debug}",
                *self.entry,
                *self._begin(),
                *self.lines,
                "exit:",
                *free,
                f"  %status.out = load i32, ptr %status, align 4{self.debug}",
                f"  ret i32 %status.out{self.debug}",
                "}",
            ]
        )

    def _begin(self) -> list[str]:
        """The end of the entry block: on to the body, if all memory of the frame is there."""
        debug = self.debug
        if not self.frame:
            return [f"  br label %begin{debug}", "begin:"]
        tests = [f"  %null.{k} = icmp eq ptr {p}, null{debug}" for k, p in enumerate(self.frame)]
        joined = "%null.0"
        for k in range(1, len(self.frame)):
            tests.append(f"  %nulls.{k} = or i1 {joined}, %null.{k}{debug}")
            joined = f"%nulls.{k}"
        return [
            *tests,
            f"  br i1 {joined}, label %nomemory, label %begin{debug}",
            "nomemory:",
            f"  store i32 {NO_MEMORY}, ptr %status, align 4{debug}",
            f"  br label %exit{debug}",
            "begin:",
        ]

    def in_entry(self, text: str) -> None:
        self.entry.append(f"  {text}{self.debug}")

    # ---- exits

    def give_back(self, down_to: int) -> None:
        """Free what was allocated in the scopes that are left."""
        for pointer in reversed(self.heap[down_to:]):
            self.do(f"call void @free(ptr {pointer})")

    def leave(self, status: str | None = None) -> None:
        """Return from the function, with a status that is not 0 on failure."""
        if status is not None:
            self.do(f"store i32 {status}, ptr %status, align 4")
        self.give_back(0)
        self.br("exit")

    def check_status(self, status: str) -> None:
        """Return with the status of a call that failed."""
        failed, fine = self.name("failed"), self.name("fine")
        self.cond_br(self.ins(f"icmp eq i32 {status}, 0"), fine, failed)
        self.start(failed)
        self.leave(status)
        self.start(fine)

    def give(self, dtype: str) -> None:
        """The function returns a value of ``dtype``: 0 where its end is reached without one."""
        base, _ = parts(dtype)
        self.returns = dtype
        self.out = self.parameter("ret", "ptr", "noalias")
        size = BYTES["float64"] if base in NARROW else BYTES[base]
        self.do(f"store i{8 * size} 0, ptr {self.out}, align {size}")

    def return_value(self, value: Expr | None) -> None:
        if self.parallel_body:
            raise CodegenError("a parallel loop cannot be left by a return", code="parallel-return")
        if value is not None:
            if self.returns is None:
                raise CodegenError("the function returns no value", code="return-value")
            base, _ = parts(self.returns)
            v = as_data(self, self.expr(value), base)
            v = as_data(self, v, "float64") if base in NARROW else narrow.to_memory(self, v)
            self.do(f"store {v.typed}, ptr {self.out}, align {BYTES[v.base]}")
        self.leave()

    # ---- statements

    def statement(self, s: Stmt) -> None:
        from .statements import TABLE

        emit = TABLE.get(type(s))
        if emit is None:
            raise CodegenError(f"{type(s).__name__} is not lowered", code="not-lowered")
        self.reachable()
        self.span = s.span or self.span
        around = self.debug
        if self.module.debug is not None and s.span is not None:
            self.debug = self.module.debug.location(s.span)
        try:
            emit(self, s)
            self.debug = around
        except TirscriptError as e:
            # The innermost statement with a place is where the reader should look.
            if not e.marks and s.span is not None:
                e.marks = (Mark(s.span),)
                e._text = None
            raise
