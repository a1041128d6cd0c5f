"""Checked programs: the same loops, with each access, loop, block and exact operation watched."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tirscript.diagnostics import Span
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    Add,
    BinaryOp,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Mod,
    Mul,
    StringImm,
    Sub,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    Stmt,
    While,
)
from tirscript.ir.visitor import free_vars, walk

from . import build as py
from .blocks import Planner, conjuncts, jumps
from .checked_blocks import block_statement, hoisted, watched_loop
from .emit import Emitter, bound_loop, nested
from .expr import NATIVE_INTS, indices, not_yet
from .kinds import within
from .outline import Outliner
from .shapes import bind_symbols

# Helpers that know watched buffers.
_WATCHED = frozenset({"view", "address_of", "atomic_add", "atomic_max", "atomic_min", "call_packed"})
_OVERFLOW = frozenset({"narrow", "cast", "shift_left", "shift_right"})
_SIGNS: dict[type, str] = {Add: "+", Sub: "-", Mul: "*"}


class Sites:
    """The places of a module that reports name."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Span | None, Any]] = []
        self._known: dict[int, int] = {}

    def of(self, node: Any, span: Span | None) -> int:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = len(self.nodes)
            self.nodes.append((span, node))
        return known

    def texts(self) -> list[str]:
        """What stands for the places where only the text of the program is left."""
        return [
            type(n).__name__ if s is None else f"{s}: {s.source.line(s.line).strip()}" for s, n in self.nodes
        ]


class CheckedEmitter(Emitter):
    """Emits one checked function."""

    def __init__(
        self,
        others: Mapping[str, str],
        outliner: Outliner,
        support: set[str],
        callees: Mapping[str, PrimFunc],
        sites: Sites,
        overflow: bool,
    ) -> None:
        super().__init__(others, outliner, support, callees)
        self.sites = sites
        self.overflow = overflow
        self.nodes: list[Any] = []  # statements and expressions being emitted, with spans
        self.path: list[For | While] = []  # loops since the block around
        self.rounds: dict[While, str] = {}
        self.quiet = False
        self.copied: Expr | None = None  # what a store takes as it is

    # ---- places

    def site(self, node: Any = None) -> ast.expr:
        """The number of the place where ``node`` stands; of what is being emitted."""
        chosen = node if node is not None else self.nodes[-1]
        span = getattr(chosen, "span", None)
        if span is None:
            span = next((n.span for n in reversed(self.nodes) if getattr(n, "span", None) is not None), None)
        return py.number(self.sites.of(chosen, span))

    @contextmanager
    def at(self, node: Any) -> Iterator[None]:
        self.nodes.append(node)
        try:
            yield
        finally:
            self.nodes.pop()

    def watch(self, function: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
        return py.call(f"watch.{function}", *args, **keywords)

    def do(self, made: ast.expr) -> None:
        self.out.append(ast.Expr(made))

    # ---- expressions

    def value(self, e: Any) -> ast.expr:
        if self.cut and e in self.cut:
            return super().value(e)
        override = _EXPRESSIONS.get(type(e))
        if override is None or self.quiet:
            if type(e) is not BufferLoad:
                return super().value(e)
        with self.at(e):
            made = override(self, e) if override is not None else None
            return made if made is not None else super().value(e)

    def plain(self, e: Any) -> ast.expr:
        return super().value(e)

    def plain_statement(self, s: Stmt) -> None:
        super().statement(s)

    def helper(self, function: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
        if function in _WATCHED or (self.overflow and function in _OVERFLOW and not self.quiet):
            return self.watch(function, self.site(), *args, **keywords)
        return super().helper(function, *args, **keywords)

    def pair(self, a: Any, b: Any) -> tuple[ast.expr, ast.expr]:
        left, right = super().pair(a, b)
        e = self.nodes[-1] if self.nodes else None
        if type(e) in (FloorDiv, FloorMod) and e.b is b and not self.quiet:  # type: ignore[union-attr]
            right = self.divisor(b, right)
        return left, right

    def divisor(self, b: Any, made: ast.expr) -> ast.expr:
        constant = b.value if type(b) is Broadcast else b
        if not dt.is_int(b.dtype) or (type(constant) is IntImm and constant.value):
            return made
        if self.kinds.exact(b) and self.kinds.nonzero(b):
            return made
        return self.watch("nonzero", self.site(), made)

    # ---- functions

    def function(self, name: str, f: PrimFunc) -> ast.stmt:
        from tirscript.codegen.signature import written_pointers

        self.plan = Planner(f)
        self.results = frozenset([b.data for b in f.buffers])
        self.writers = _writers(f)
        self.nodes = [f]
        written = written_pointers(f)
        parameters: list[str] = []
        taken: list[str] = []
        for p in f.params:
            buffer = f.buffer_map.get(p)
            python = self.names.new(p.name if buffer is None else buffer.name)
            parameters.append(python)
            self.variables[p] = python
            if buffer is not None:
                self.buffers[buffer] = self.variables[buffer.data] = python
                lanes = py.number(dt.lanes(buffer.dtype))
                with self.at(buffer):
                    self.out.append(
                        py.assign(
                            python,
                            self.watch(
                                "parameter", self.site(), py.string(buffer.name), py.name(python), lanes,
                                py.number(buffer.data in written),
                            ),
                        )
                    )  # fmt: skip
                taken.append(python)
        for p, python in zip(f.params, parameters, strict=True):
            if p not in f.buffer_map and p.dtype != "handle":
                self.scalar_parameter(p, python)
        bind_symbols(self, f)
        for b in f.buffers:
            self._declared(b)
        if f.attrs.get("tir.noalias", True) and len(taken) > 1 and written:
            flags = [py.number(b.data in written) for b in f.buffers]
            arrays = py.tuple_of([py.name(t) for t in taken])
            self.do(self.watch("apart", self.site(), arrays, py.tuple_of(flags)))
        self.do(self.watch("begin", self.site(), py.string(f.name)))
        self.expected(f.body)
        self.statement(f.body)
        if f.ret_type != "void":
            self.do(self.watch("no_return", self.site(f), py.string(f.name)))
        self.do(self.watch("done"))
        return py.function(name, parameters, self.out)

    def _declared(self, b: Buffer) -> None:
        if any(v not in self.variables for e in (*b.shape, *b.strides) for v in free_vars(e)):
            return
        keywords: dict[str, ast.expr] = {}
        if b.strides:
            keywords["strides"] = py.tuple_of([self.root(s) for s in b.strides])
        if b.align:
            keywords["align"] = py.number(b.align)
        shape = py.tuple_of([self.root(n) for n in b.shape])
        with self.at(b):
            base = py.string(dt.info(b.dtype).base)
            self.do(self.watch("declared", self.site(), py.name(self.buffers[b]), shape, base, **keywords))

    # ---- statements

    def statement(self, s: Stmt) -> None:
        override = _STATEMENTS.get(type(s))
        with self.at(s):
            if override is None:
                super().statement(s)
            else:
                self.guarded(override, s)

    def allocate(self, b: Buffer) -> str:
        name = self.names.new(b.name)
        self.buffers[b] = self.variables[b.data] = name
        shape = py.tuple_of([self.root(n) for n in b.shape])
        with self.at(b):
            made = self.watch(
                "allocate", self.site(), py.string(b.name), shape, py.string(b.dtype), py.string(b.scope)
            )
        self.out.append(py.assign(name, made))
        return name

    def expected(self, body: Stmt) -> None:
        """The blocks directly inside, or in scopes without axes, that certainly run for each point of their
        domains."""
        stack: list[tuple[Any, tuple[For, ...]]] = [(body, ())]
        while stack:
            s, loops = stack.pop()
            t = type(s)
            if t is BlockRealize:
                if conjuncts(s.predicate):
                    continue
                if not s.block.iter_vars:
                    stack.append((s.block.body, loops))
                elif self._reached(s, loops) and self._alone(s):
                    self._expect(s)
            elif t is For:
                if not jumps(s):
                    stack.append((s.body, (*loops, s)))
            elif t not in (IfThenElse, While):
                stack += [(c, loops) for c in reversed(s.children()) if isinstance(c, Stmt)]

    def _alone(self, r: BlockRealize) -> bool:
        """Whether a block is to fill a parameter by itself.  Of scratch no more is filled than is needed, as
        reads tell; and parts of a loop fill their parts."""
        mine = [b.data for b in _written(r.block) if b.data in self.results]
        inside = {n for n in walk(r.block) if type(n) is Block}
        updates = _reads_own(r.block)
        others = [b for d in mine for b in self.writers.get(d, ()) if b not in inside]
        return bool(mine) and all(_reads_own(b) is not updates for b in others)

    def _reached(self, r: BlockRealize, loops: tuple[For, ...]) -> bool:
        """Whether the loops around that no axis depends on, as those of time steps, certainly run."""
        bound: set[Var] = set()
        for v in r.iter_values:
            bound |= self.plan.roots_of(v)
        return all(
            loop.loop_var in bound or (type(loop.extent) is IntImm and loop.extent.value > 0)
            for loop in loops
        )

    def _expect(self, r: BlockRealize) -> None:
        domains: list[ast.expr] = []
        for axis in r.block.iter_vars:
            if axis.dom is None:
                return
            parts = (axis.dom.min, axis.dom.extent)
            if any(v not in self.variables for e in parts for v in free_vars(e)):
                return
            domains.append(py.tuple_of([py.string(axis.var.name), *[self.root(e) for e in parts]]))
        with self.at(r.block):
            self.do(self.watch("expect", self.site(), py.string(r.block.name), *domains))

    def regions(self, regions: tuple[BufferRegion, ...]) -> ast.expr:
        made: list[ast.expr] = []
        quiet, self.quiet = self.quiet, True
        for r in regions:
            box = [py.tuple_of([self.root(n.min, self.integer), self.root(n.extent, self.integer)])
                   for n in r.region]  # fmt: skip
            made.append(py.tuple_of([py.name(self.buffers[r.buffer]), *box]))
        self.quiet = quiet
        return py.tuple_of(made)

    def enter(self, r: BlockRealize, only_init: bool = False) -> None:
        """Say that an instance starts, with its axes, its regions and what is around."""
        block = r.block
        shown = [a for a in block.iter_vars if not only_init or a.kind != "reduce"]
        kinds = "".join([a.kind[0].upper() if a.kind != "spatial" else "S" for a in shown])
        kinds = "".join(["C" if a.kind == "scan" else k for a, k in zip(shown, kinds, strict=True)])
        if block.annotations.get("auto_copy"):
            kinds = kinds.replace("S", "O")  # scratch that copies share in turn
        values = [py.tuple_of([py.string(a.var.name), py.name(self.variables[a.var])]) for a in shown]
        bound: set[Var] = set()
        for v in r.iter_values:
            bound |= self.plan.roots_of(v)
        outer: list[ast.expr] = []
        for loop in self.path:
            if type(loop) is While:
                outer.append(py.name(self.rounds[loop]))
            elif type(loop) is For and loop.loop_var not in bound:
                outer.append(py.name(self.variables[loop.loop_var]))
        keywords: dict[str, ast.expr] = {}
        known = {a.var for a in shown} | set(self.variables)
        root = not block.iter_vars and not block.reads and not block.writes and block.name == "root"
        everywhere = all(
            v in known
            for region in (*block.reads, *block.writes)
            for n in region.region
            for v in free_vars(n.min) | free_vars(n.extent)
        ) and all(region.buffer in self.buffers for region in (*block.reads, *block.writes))
        if not root and everywhere and not (only_init and _mentions_reduction(block)):
            keywords["reads"] = self.regions(block.reads)
            keywords["writes"] = self.regions(block.writes)
        if block.init is not None:
            keywords["init"] = py.number(True)
            joined = self._joined(r)
            if joined:
                keywords["joined"] = py.tuple_of([py.string(n) for n in joined])
        if only_init:
            keywords["only_init"] = py.number(True)
        arguments = [py.string(block.name), py.tuple_of(values), py.string(kinds)]
        if outer or keywords:
            arguments.append(py.tuple_of(outer))
        with self.at(block):
            self.do(self.watch("enter", self.site(), *arguments, **keywords))

    def _joined(self, r: BlockRealize) -> list[str]:
        """Thread-bound loops that only reduction axes depend on: threads that reduce together."""
        spatial: set[Var] = set()
        reduction: set[Var] = set()
        for axis, value in zip(r.block.iter_vars, r.iter_values, strict=True):
            (reduction if axis.kind == "reduce" else spatial).update(self.plan.roots_of(value))
        return [
            loop.loop_var.name for loop in self.loops.values()
            if loop.thread.startswith("threadIdx") and loop.loop_var in reduction - spatial
        ]  # fmt: skip


def _written(block: Block) -> set[Buffer]:
    return {r.buffer for r in block.writes} | {n.buffer for n in walk(block) if type(n) is BufferStore}


def _reads_own(block: Block) -> bool:
    """Whether a block updates what another has begun."""
    written = {b.data for b in _written(block)}
    return block.init is None and any(type(n) is BufferLoad and n.buffer.data in written for n in walk(block))


def _writers(f: PrimFunc) -> dict[Var, list[Block]]:
    """The blocks that store in each memory, without those around them."""
    out: dict[Var, list[Block]] = {}
    for n in walk(f.body):
        if type(n) is Block and not any(type(m) is BlockRealize for m in walk(n.body)):
            for d in {b.data for b in _written(n)}:
                out.setdefault(d, []).append(n)
    return out


def _mentions_reduction(block: Block) -> bool:
    axes = {a.var for a in block.iter_vars if a.kind == "reduce"}
    return any(
        v in axes
        for region in (*block.reads, *block.writes)
        for n in region.region
        for v in free_vars(n.min) | free_vars(n.extent)
    )


# ---- expressions


def _load(x: CheckedEmitter, e: BufferLoad) -> ast.expr:
    buffer = py.name(x.buffers[e.buffer])
    at = indices(x, e.indices)
    if x.quiet:
        return ast.Call(py.attribute(buffer, "peek"), at, [])
    keywords = [] if e.predicate is None else [ast.keyword("mask", x.value(e.predicate))]
    if e is x.copied:
        keywords.append(ast.keyword("copied", py.number(True)))
    return ast.Call(py.attribute(buffer, "read"), [x.site(e), *at], keywords)


def _arithmetic(x: CheckedEmitter, e: BinaryOp) -> ast.expr | None:
    d = dt.info(e.dtype)
    if x.kinds.exact(e):
        made = x.plain(e)
        if d.lanes != 1 or within(x.kinds.interval(e), "int64"):
            return made
        return x.watch("exact", x.site(e), made)
    if x.overflow and d.is_int and d.base in NATIVE_INTS:
        a, b = x.pair(e.a, e.b)
        return x.watch("data", x.site(e), py.string(_SIGNS[type(e)]), a, b, py.string(e.dtype))
    return None


def _quotient(x: CheckedEmitter, e: BinaryOp) -> ast.expr | None:
    d = dt.info(e.dtype)
    if not d.is_int:
        return None
    made = x.plain(e)
    native = type(e) in (FloorDiv, FloorMod) and not x.kinds.exact(e) and d.base in NATIVE_INTS
    if native:
        return made  # `pair` has looked at the divisor
    if isinstance(made, ast.Call) and made.args:
        # A helper of the two, within a conversion where the dtype is a narrow one.
        narrowed = not x.kinds.exact(e) and d.base not in NATIVE_INTS
        inner: Any = made.args[-2] if narrowed else made
        inner.args[-1] = x.divisor(e.b, inner.args[-1])
    return made


_EXPRESSIONS: dict[type, Callable[[CheckedEmitter, Any], ast.expr | None]] = {
    BufferLoad: _load, Add: _arithmetic, Sub: _arithmetic, Mul: _arithmetic,
    FloorDiv: _quotient, FloorMod: _quotient, Div: _quotient, Mod: _quotient,
    **dict.fromkeys((Call, Cast), lambda x, e: None),
}  # fmt: skip


# ---- statements


def _store(x: CheckedEmitter, s: BufferStore) -> None:
    at = [x.root(i) for i in s.indices]
    x.copied = s.value
    value = x.root(s.value, lambda e: x.stored(e, s.buffer.dtype))
    x.copied = None
    keywords = [] if s.predicate is None else [ast.keyword("mask", x.root(s.predicate))]
    write = py.attribute(py.name(x.buffers[s.buffer]), "write")
    x.do(ast.Call(write, [x.site(s), value, *at], keywords))


def _for(x: CheckedEmitter, s: For) -> None:
    plans = x.plan.at_loop.get(s, ())
    for plan in plans:
        if plan.form == "hoisted":
            hoisted(x, plan)
        else:
            name = x.names.new(f"{plan.realize.block.name}_seen")
            x.seen[plan] = name
            x.out.append(py.assign(name, py.call("set")))
    items = watched_loop(x, s)
    name = x.define(s.loop_var)
    x.loops[s.loop_var] = s
    bound_loop(x, s)
    if s.thread:
        x.threads.setdefault(s.thread, name)
    x.path.append(s)
    x.depth += 1
    inner = x.body(s.body)
    x.depth -= 1
    x.path.pop()
    if s.thread and x.threads.get(s.thread) == name:
        del x.threads[s.thread]
    del x.loops[s.loop_var]
    nested(x, py.loop(py.target(name), items, inner))
    x.names.free([name])
    for plan in plans:
        if plan in x.seen:
            x.names.free([x.seen.pop(plan)])


def _while(x: CheckedEmitter, s: While) -> None:
    name = x.names.new("turn")
    x.rounds[s] = name
    x.path.append(s)
    x.depth += 1
    with x.block() as inner:
        test = x.root(s.condition)
        inner.append(py.condition(ast.UnaryOp(ast.Not(), test), [ast.Break()]))
        x.statement(s.body)
    x.depth -= 1
    x.path.pop()
    nested(x, py.loop(py.target(name), x.watch("rounds", x.site(s)), inner))
    x.names.free([name])


def _attr(x: CheckedEmitter, s: AttrStmt) -> None:
    axis = s.node
    tag = getattr(axis, "thread_tag", "")
    if s.key not in ("thread_extent", "virtual_thread") or not tag or tag in x.threads:
        x.plain_statement(s)
        return
    extent = x.root(s.value)
    name = x.define(axis.var)
    high = x.kinds.interval(s.value)[1]
    x.kinds.bounds[axis.var] = (0, None if high is None else high - 1)
    x.threads[tag] = name
    x.depth += 1
    inner = x.body(s.body)
    x.depth -= 1
    del x.threads[tag]
    items = x.watch("loop", x.site(s), py.string("thread_binding"), py.string(axis.var.name),
                    py.call("range", extent), py.string(tag))  # fmt: skip
    x.out.append(py.loop(py.target(name), items, inner))
    x.names.free([name])


def _assert(x: CheckedEmitter, s: AssertStmt) -> None:
    message = s.message.value if isinstance(s.message, StringImm) else str(s.message)
    x.do(x.watch("asserted", x.site(s), x.root(s.condition), py.string(message)))


def _evaluate(x: CheckedEmitter, s: Evaluate) -> None:
    e: Any = s.value
    if type(e) is Call and e.op == "ret":
        value = [x.helper("scalar", x.root(e.args[0], x.typed))] if e.args else []
        x.out.append(ast.Return(x.watch("returned", *value)))
    elif type(e) is Call and e.op == "assume":
        x.do(x.watch("assume", x.site(s), x.root(e.args[0])))
    else:
        x.plain_statement(s)


def _allocate(x: CheckedEmitter, s: Allocate) -> None:
    name = x.define(s.buffer_var)
    pointee = s.buffer_var.pointee
    scope = pointee[1] if pointee else "global"
    shape = py.tuple_of([x.root(n) for n in s.extents])
    made = x.watch("allocate", x.site(s), py.string(s.buffer_var.name), shape, py.string(s.dtype),
                   py.string(scope))  # fmt: skip
    x.out.append(py.assign(name, made))
    x.statement(s.body)
    x.names.free([name])


def _allocate_const(x: CheckedEmitter, s: AllocateConst) -> None:
    name = x.define(s.buffer_var)
    items = ast.parse(repr(s.data.tolist()), mode="eval").body
    data = x.helper("constant", items, py.string(s.dtype))
    x.out.append(py.assign(name, x.watch("constant", x.site(s), py.string(s.buffer_var.name), data)))
    x.statement(s.body)
    x.names.free([name])


def _decl(x: CheckedEmitter, s: DeclBuffer) -> None:
    b = s.buffer
    pointer = x.variables.get(b.data)
    if pointer is None:
        raise not_yet(f"buffer `{b.name}` on a pointer that is not known here", s)
    name = x.names.new(b.name)
    shape = py.tuple_of([x.root(n) for n in b.shape])
    keywords: dict[str, ast.expr] = {"name": py.string(b.name)}
    if b.strides:
        keywords["strides"] = py.tuple_of([x.root(e) for e in b.strides])
    if b.elem_offset is not None and not (type(b.elem_offset) is IntImm and b.elem_offset.value == 0):
        keywords["offset"] = x.root(b.elem_offset)
    x.buffers[b] = name
    made = x.watch("view", x.site(s), py.name(pointer), shape, py.string(b.dtype), **keywords)
    x.out.append(py.assign(name, made))
    x.statement(s.body)
    x.names.free([name])


_STATEMENTS: dict[type, Callable[[CheckedEmitter, Any], None]] = {
    BufferStore: _store, For: _for, While: _while, AttrStmt: _attr, AssertStmt: _assert,
    Evaluate: _evaluate, Allocate: _allocate, AllocateConst: _allocate_const, DeclBuffer: _decl,
    BlockRealize: block_statement,
}  # fmt: skip
__all__ = ["CheckedEmitter", "Sites"]
