"""The structural verifier: scopes, single definitions, counts and dtypes.

Regions and bounds are checked in ``analysis.verify``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import Mark, Span, WellFormedError, deep_recursion

from . import dtype as dt
from .buffer import Buffer, BufferRegion
from .expr import BufferLoad, Call, CommReducer, Expr, IterVar, Let, Var
from .function import PrimFunc
from .module import IRModule
from .node import Node, walk
from .stmt import (
    LOOP_KINDS,
    THREAD_TAGS,
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockRealize,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)
from .visitor import buffer_exprs


def verify(program: PrimFunc | IRModule) -> list[WellFormedError]:
    """Every structural fault of a function or module, in program order."""
    functions = [f for _, f in program.items()] if isinstance(program, IRModule) else [program]
    defined: dict[Any, str] = {}
    errors: list[WellFormedError] = []
    with deep_recursion():
        for f in functions:
            checker = _Verifier(defined)
            checker.function(f)
            errors += checker.errors
    return errors


def check_well_formed(program: PrimFunc | IRModule) -> None:
    """Raise the first fault that ``verify`` finds, as a WellFormedError."""
    errors = verify(program)
    if errors:
        raise errors[0]


class _Verifier:
    def __init__(self, defined: dict[Any, str]) -> None:
        self.errors: list[WellFormedError] = []
        self.defined = defined  # every token of the module, with what it is
        self.scope: set[Any] = set()
        self.loops: set[Var] = set()  # loop variables of the current block's scope
        self.hidden: set[Var] = set()  # loop variables that the current block must bind
        self.spans: list[Span | None] = [None]
        self.depth = 0  # loops around, for break and continue

    def fail(self, code: str, message: str, span: Span | None = None, hint: str | None = None) -> None:
        span = span or next((s for s in reversed(self.spans) if s is not None), None)
        marks = [Mark(span)] if span is not None else []
        self.errors.append(WellFormedError(message, code=code, marks=marks, hint=hint))

    def define(self, token: Any, what: str) -> None:
        if token in self.defined:
            self.fail("defined-twice", f"{what} `{token.name}` is defined twice", hint="copy with fresh_copy")
        self.defined[token] = what
        self.scope.add(token)

    # -- functions

    def function(self, f: PrimFunc) -> None:
        self.spans = [f.span]
        for p in f.params:
            self.define(p, "parameter")
        for p, b in f.buffer_map.items():
            if p not in self.scope:
                self.fail(
                    "unknown-parameter", f"the buffer `{b.name}` is matched to `{p.name}`, no parameter"
                )
            self.define(b, "buffer")
            self.define_pointer(b)
        for b in f.buffer_map.values():
            for e in buffer_exprs(b):
                if isinstance(e, Var) and e not in self.scope:
                    self.define(e, "symbol")
        # A symbol may stand in an expression only: `(n * 16,)` gives n by its value.
        for b in f.buffer_map.values():
            for e in buffer_exprs(b):
                for v in walk(e):
                    if isinstance(v, Var) and v not in self.scope:
                        self.define(v, "symbol")
        for b in f.buffer_map.values():
            self.buffer_fields(b)
        self.visit(f.body)

    def define_pointer(self, b: Buffer) -> None:
        """Views share a pointer, so only the first buffer defines it."""
        if b.data not in self.scope:
            self.define(b.data, "pointer")

    def buffer_fields(self, b: Buffer) -> None:
        if b.strides and len(b.strides) != len(b.shape):
            self.fail(
                "stride-count", f"`{b.name}` has {len(b.shape)} dimensions and {len(b.strides)} strides"
            )
        for e in buffer_exprs(b):
            self.visit(e)
            if not dt.is_int(e.dtype):
                self.fail(
                    "shape-dtype", f"shape, strides and offset of `{b.name}` are integers, this is {e.dtype}"
                )

    # -- nodes

    def visit(self, n: Any) -> None:
        special = _VISIT.get(type(n))
        if special is not None:
            span = getattr(n, "span", None)
            if span is not None:
                self.spans.append(span)
                special(self, n)
                self.spans.pop()
            else:
                special(self, n)
        else:
            for child in n.children():
                self.visit(child)

    def var(self, v: Var) -> None:
        if v in self.hidden:
            self.fail(
                "loop-var-in-block",
                f"the loop variable `{v.name}` is used inside a block with axes",
                hint=f"bind it: `v{v.name} = T.axis.spatial(extent, {v.name})`",
            )
        elif v not in self.scope:
            what = self.defined.get(v)
            words = f"{what} `{v.name}` is used outside its scope" if what else f"`{v.name}` is not defined"
            self.fail("out-of-scope" if what else "undefined", words)

    def access(self, n: Any) -> None:
        b: Buffer = n.buffer
        if b not in self.scope:
            what = "used outside its scope" if b in self.defined else "not declared"
            self.fail("buffer-scope", f"the buffer `{b.name}` is {what}")
        count = len(n.region) if isinstance(n, BufferRegion) else len(n.indices)
        if count != len(b.shape):
            self.fail("index-count", f"`{b.name}` has {len(b.shape)} dimensions, {count} given")
        if not isinstance(n, BufferRegion):
            for i in n.indices:
                if not dt.is_int(i.dtype):
                    self.fail("index-dtype", f"an index of `{b.name}` is an integer, this is {i.dtype}")
            if isinstance(n, BufferStore):
                dtype = BufferLoad(b, n.indices).dtype
                if n.value.dtype != dtype:
                    self.fail("store-dtype", f"`{b.name}` holds {dtype}, the stored value is {n.value.dtype}")
        for child in n.children():
            self.visit(child)

    def let(self, n: Any) -> None:
        self.visit(n.value)
        if n.var.dtype != n.value.dtype:
            self.fail("let-dtype", f"`{n.var.name}` is {n.var.dtype}, its value {n.value.dtype}")
        self.define(n.var, "variable")
        self.visit(n.body)
        self.scope.discard(n.var)

    def loop(self, n: For) -> None:
        for e in (n.min, n.extent) if n.step is None else (n.min, n.extent, n.step):
            self.visit(e)
            if not dt.is_int(e.dtype):
                self.fail(
                    "loop-dtype", f"the bounds of loop `{n.loop_var.name}` are integers, this is {e.dtype}"
                )
        if n.kind not in LOOP_KINDS:
            self.fail("loop-kind", f"{n.kind!r} is no kind of loop; there are {', '.join(LOOP_KINDS)}")
        if (n.kind == "thread_binding") != bool(n.thread):
            self.fail(
                "thread-tag",
                f"loop `{n.loop_var.name}`: a thread tag and the kind thread_binding go together",
            )
        elif n.thread and n.thread not in THREAD_TAGS:
            self.fail("thread-tag", f"{n.thread!r} is no thread axis; there are {', '.join(THREAD_TAGS)}")
        self.define(n.loop_var, "loop variable")
        self.loops.add(n.loop_var)
        self.depth += 1
        self.visit(n.body)
        self.depth -= 1
        self.loops.discard(n.loop_var)
        self.scope.discard(n.loop_var)

    def while_(self, n: While) -> None:
        self.condition(n.condition)
        self.depth += 1
        self.visit(n.body)
        self.depth -= 1

    def condition(self, e: Expr) -> None:
        if e.dtype != "bool":
            self.fail("condition-dtype", f"a condition is a bool, this is {e.dtype}")
        self.visit(e)

    def branch(self, n: IfThenElse) -> None:
        self.condition(n.condition)
        self.visit(n.then_case)
        if n.else_case is not None:
            self.visit(n.else_case)

    def realize(self, n: BlockRealize) -> None:
        if len(n.iter_values) != len(n.block.iter_vars):
            self.fail(
                "binding-count",
                f"block {n.block.name!r}: {len(n.block.iter_vars)} axes, {len(n.iter_values)} values",
            )
        for e in n.iter_values:
            self.visit(e)
        self.condition(n.predicate)
        self.visit(n.block)

    def block(self, b: Block) -> None:
        self.define(b.label, "block")
        loops, hidden, depth = self.loops, self.hidden, self.depth
        tokens: list[Any] = []
        for iv in b.iter_vars:
            if iv.dom is None:
                self.fail("axis-domain", f"the axis `{iv.var.name}` has no domain")
            else:
                self.visit(iv.dom)
            if iv.kind not in ("spatial", "reduce", "scan", "opaque"):
                self.fail("axis-kind", f"{iv.kind!r} is no kind of axis")
            self.define(iv.var, "axis")
            tokens.append(iv.var)
        if b.iter_vars:
            self.hidden = hidden | loops
        self.loops, self.depth = set(), 0
        for buffer in b.alloc_buffers:
            self.define(buffer, "buffer")
            tokens += [buffer, buffer.data]
            self.define_pointer(buffer)
            self.buffer_fields(buffer)
        for m in b.match_buffers:
            self.visit(m.source)
            self.define(m.buffer, "buffer")
            tokens += [m.buffer, m.buffer.data]
            self.define_pointer(m.buffer)
            for e in buffer_exprs(m.buffer):
                if isinstance(e, Var) and e not in self.scope and e not in self.hidden:
                    self.define(e, "symbol")
                    tokens.append(e)
            self.buffer_fields(m.buffer)
        for part in (*b.reads, *b.writes):
            self.visit(part)
        if b.init is not None:
            self.visit(b.init)
        self.visit(b.body)
        self.scope.difference_update(tokens)
        self.loops, self.hidden, self.depth = loops, hidden, depth

    def allocate(self, n: Any) -> None:
        for e in n.extents:
            self.visit(e)
        if isinstance(n, Allocate):
            self.condition(n.condition)
        self.define(n.buffer_var, "pointer")
        self.visit(n.body)
        self.scope.discard(n.buffer_var)

    def declare(self, n: DeclBuffer) -> None:
        if n.buffer.data not in self.scope:
            self.fail("out-of-scope", f"the pointer of `{n.buffer.name}` is not defined here")
        self.buffer_fields(n.buffer)
        self.define(n.buffer, "buffer")
        self.visit(n.body)
        self.scope.discard(n.buffer)

    def buffer_realize(self, n: BufferRealize) -> None:
        for r in n.bounds:
            self.visit(r)
        self.condition(n.condition)
        tokens = [t for t in (n.buffer, n.buffer.data) if t not in self.scope]
        for t in tokens:
            self.define(t, "buffer")
        self.visit(n.body)
        self.scope.difference_update(tokens)

    def attr(self, n: AttrStmt) -> None:
        self.visit(n.value)
        if isinstance(n.node, IterVar):
            # One thread axis may be launched more than once, one scope after the other.
            new = n.node.var not in self.scope
            self.defined.setdefault(n.node.var, "thread axis")
            self.scope.add(n.node.var)
            self.visit(n.body)
            if new:
                self.scope.discard(n.node.var)
            return
        if isinstance(n.node, Expr):
            self.visit(n.node)
        elif isinstance(n.node, Buffer) and n.node not in self.scope:
            self.fail("buffer-scope", f"the buffer `{n.node.name}` is not declared")
        self.visit(n.body)

    def reducer(self, n: CommReducer) -> None:
        for v in (*n.lhs, *n.rhs):
            self.define(v, "variable")
        for child in n.children():
            self.visit(child)
        self.scope.difference_update((*n.lhs, *n.rhs))

    def call(self, n: Call) -> None:
        if n.op in ("break_loop", "continue_loop") and self.depth == 0:
            word = str(n.op).partition("_")[0]
            self.fail("break-outside-loop", f"`{word}` outside of a loop (a block is its own scope)")
        for a in n.args:
            self.visit(a)

    def sequence(self, n: SeqStmt) -> None:
        if len(n.seq) < 2 or any(type(s) is SeqStmt for s in n.seq):
            self.fail("sequence", "a sequence holds two or more statements and no sequence")
        for s in n.seq:
            self.visit(s)


_VISIT: dict[type[Node], Callable[[_Verifier, Any], None]] = {
    Var: _Verifier.var,
    BufferLoad: _Verifier.access,
    BufferStore: _Verifier.access,
    BufferRegion: _Verifier.access,
    Let: _Verifier.let,
    LetStmt: _Verifier.let,
    For: _Verifier.loop,
    While: _Verifier.while_,
    IfThenElse: _Verifier.branch,
    BlockRealize: _Verifier.realize,
    Block: _Verifier.block,
    Allocate: _Verifier.allocate,
    AllocateConst: _Verifier.allocate,
    DeclBuffer: _Verifier.declare,
    BufferRealize: _Verifier.buffer_realize,
    AttrStmt: _Verifier.attr,
    CommReducer: _Verifier.reducer,
    Call: _Verifier.call,
    SeqStmt: _Verifier.sequence,
}
