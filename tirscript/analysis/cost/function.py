"""What a function costs: operations on data, bytes moved, memory touched, for the whole and for each loop.

Counted is what the program says, iteration by iteration: predicates, conditions, block domains and the init
of reductions are accounted for.  Numbers are exact for affine loops, formulas where sizes are symbolic, and
bounds (``<=``) where data decides.

An operation is an arithmetic operator, a bit operator or a mathematical function on data, for each lane; a
fused multiply-add is two.  Index arithmetic, comparisons, selections and conversions are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.diagnostics import TirscriptError, deep_recursion, did_you_mean
from tirscript.ir import hooks
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    GE,
    Call,
    Expr,
    GlobalVar,
    IntImm,
    IterVar,
    Not,
    Ramp,
    Range,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockRealize,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)
from tirscript.ir.visitor import free_vars, walk

from . import grid
from .counts import AT_LEAST, AT_MOST, EXACT, ZERO, Count, largest
from .footprint import Access, distinct_bytes
from .leaving import leaves_loop, returns_early
from .points import BOX, Domain, Loop, conjuncts, count_points
from .work import Ops, Reader, Touch

Parent = For | AttrStmt | Block


@dataclass(slots=True)
class Work:
    """Operations and bytes, over all iterations."""

    flops: Count = ZERO
    loads: Count = ZERO
    stores: Count = ZERO

    def plus(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.loads + other.loads, self.stores + other.stores)

    def or_(self, other: Work) -> Work:
        """The more of two of which one is done."""
        return Work(
            largest(self.flops, other.flops),
            largest(self.loads, other.loads),
            largest(self.stores, other.stores),
        )

    def bounded(self, how: int) -> Work:
        return Work(self.flops.bounded(how), self.loads.bounded(how), self.stores.bounded(how))

    def scaled(self, n: Count) -> Work:
        return Work(self.flops * n, self.loads * n, self.stores * n)


@dataclass(slots=True, eq=False)
class Cost:
    """The cost of a function, a loop or a block.

    ``flops``, ``loads`` and ``stores`` (bytes) are for the whole run of the function; ``runs`` is how often
    the loop or block is entered, ``footprint`` the bytes that one run of it touches, each byte once.
    """

    node: Any
    what: str  # function, loop, block
    name: str
    runs: Count
    work: Work
    accesses: list[Access] = field(repr=False, default_factory=list)
    inner: tuple[Loop, ...] = ()
    depth: int = 0
    _footprint: Count | None = field(repr=False, default=None)

    @property
    def flops(self) -> Count:
        """Operations on data."""
        return self.work.flops

    @property
    def loads(self) -> Count:
        """Bytes read, each as often as it is read."""
        return self.work.loads

    @property
    def stores(self) -> Count:
        """Bytes written, each as often as it is written."""
        return self.work.stores

    @property
    def bytes(self) -> Count:
        """Bytes read and written."""
        return self.work.loads + self.work.stores

    @property
    def footprint(self) -> Count:
        """Bytes of memory that one run touches, each once."""
        if self._footprint is None:
            self._footprint = distinct_bytes(self.accesses, {x.var for x in self.inner})
        return self._footprint

    def intensity(self, **sizes: int) -> float | None:
        """Operations for each byte of footprint: what is done with a byte while it stays in a cache that
        holds one run.  None where nothing is touched, or a size is not given."""
        if not sizes and not (self.flops.is_const and self.footprint.is_const and self.runs.is_const):
            return None
        moved = self.footprint.value(sizes) * self.runs.value(sizes)
        return self.flops.value(sizes) / moved if moved else None


class FunctionCost(Cost):
    """The cost of a function; ``cost[loop]`` is that of a loop or block in it, by node or by name."""

    __slots__ = ("function", "parts")

    def __init__(self, function: PrimFunc, name: str, parts: list[Cost], total: Cost) -> None:
        super().__init__(function, "function", name, total.runs, total.work, total.accesses, total.inner)
        self.function = function
        self.parts = parts

    def __iter__(self) -> Iterator[Cost]:
        return iter(self.parts)

    def __getitem__(self, key: Any) -> Cost:
        for part in self.parts:
            node = part.node
            if node is key or part.name == key or getattr(node, "loop_var", None) is key:
                return part
            if isinstance(node, Block) and getattr(key, "token", key) in (node.label, node.label.same_as):
                return part
            if isinstance(node, For) and getattr(key, "token", None) is node.loop_var:
                return part
        raise TirscriptError(
            f"`{self.name}` has no loop or block {key!r}",
            code="unknown-part",
            hint=did_you_mean(str(key), [p.name for p in self.parts]),
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    @property
    def traffic(self) -> Count:
        """Bytes that must go through memory: what is read of the arguments and what is written, each once."""
        mine = {b.data for b in self.function.buffer_map.values()}
        outer = [a for a in self.accesses if a.buffer.data in mine]
        over = {x.var for x in self.inner}
        out = ZERO
        for is_write in (False, True):
            out = out + distinct_bytes([a for a in outer if a.is_write == is_write], over)
        return out


def cost_of(program: PrimFunc | IRModule, name: str | None = None) -> FunctionCost:
    """The cost of a function.

    >>> from tirscript.script import from_source
    >>> f = from_source('''
    ... @T.prim_func
    ... def mm(a: T.handle, b: T.handle, c: T.handle):
    ...     m, n, k = T.int32(), T.int32(), T.int32()
    ...     A = T.match_buffer(a, (m, k)); B = T.match_buffer(b, (k, n)); C = T.match_buffer(c, (m, n))
    ...     for i, j, l in T.grid(m, n, k):
    ...         with T.block("C"):
    ...             vi, vj, vk = T.axis.remap("SSR", [i, j, l])
    ...             with T.init():
    ...                 C[vi, vj] = T.float32(0)
    ...             C[vi, vj] += A[vi, vk] * B[vk, vj]
    ... ''')
    >>> c = cost_of(f)
    >>> c.flops, c["j"].footprint, c.stores, c.footprint.value(m=2, n=3, k=4)
    (2*k*m*n, 4*k*n + 4*k + 4*n, 4*k*m*n + 4*m*n, 104)
    """
    if isinstance(program, IRModule):
        functions = dict(program.items())
        chosen = functions.get(name or "") or (
            next(iter(functions.values())) if len(functions) == 1 else None
        )
        if chosen is None and name is None:
            chosen = functions.get("main")
        if chosen is None:
            raise TirscriptError(
                f"the module has no function {name!r}" if name else "say which function of the module",
                code="unknown-function",
                hint=did_you_mean(name or "", functions) or f"one of {', '.join(functions)}",
            )
        key = next(k for k, f in functions.items() if f is chosen)
        return _cost(chosen, key, functions)
    return _cost(program, program.name, {})


def _cost(f: PrimFunc, name: str, functions: dict[str, PrimFunc]) -> FunctionCost:
    memo = memo_of(f)
    known: FunctionCost | None = memo.get("cost") if not functions or len(functions) == 1 else None
    if known is not None:
        return known
    with deep_recursion():
        found = _Walker(functions).function(f, name)
    memo["cost"] = found
    return found


class _Walker:
    """Goes through a function with the loops around, what must hold, and the values of axes."""

    def __init__(self, functions: dict[str, PrimFunc]) -> None:
        self.functions = functions
        self.parts: list[Cost] = []
        self.env: dict[Var, Expr] = {}
        self.path: list[Any] = []
        self.accesses: list[Access] = []
        self.threads: dict[str, Var] = {}
        self.bound = EXACT  # of what is done right here
        self.counts: dict[tuple[Any, ...], Count] = {}
        self.loops: list[Loop] = []
        self.views: dict[Buffer, tuple[Buffer, list[Expr], list[int | None] | None]] = {}

    def function(self, f: PrimFunc, name: str) -> FunctionCost:
        outside = Domain(bound=AT_MOST if returns_early(f.body) else EXACT)
        work = self.visit(f.body, outside)
        total = Cost(f, "function", name, Count.of(1), work, self.accesses, tuple(self.loops))
        return FunctionCost(f, name, self.parts, total)

    def number(self, d: Domain, guards: tuple[Expr, ...] = (), bound: int = EXACT) -> Count:
        """The iterations of a domain; each domain is counted once."""
        key = (d.loops, d.guards, d.bound, guards)
        known = self.counts.get(key)
        if known is None:
            known = self.counts[key] = count_points(d.where(*guards))
        return known.bounded(bound)

    def expr(self, e: Expr) -> Expr:
        return Reader.replaced(self, e)  # type: ignore[arg-type]

    # ---- expressions

    def evaluated(self, d: Domain, *exprs: Any, store: BufferStore | None = None) -> Work:
        work = Work()
        how = EXACT

        def add(done: Touch | Ops) -> None:
            n = self.number(d, done.guards, done.bound)
            if not n.terms:
                return  # it never happens
            if type(done) is Ops:
                work.flops = work.flops + n * done.number
                return
            assert isinstance(done, Touch)
            if done.is_write:
                work.stores = work.stores + n * done.bytes
            else:
                work.loads = work.loads + n * done.bytes
            buffer, indices, more = self._source(done.buffer, done.indices)
            self.accesses.append(
                Access(buffer, indices, done.is_write, d.where(*done.guards), done.bound | d.bound | more)
            )

        def opaque(bound: int) -> None:
            nonlocal how
            how |= bound

        reader = Reader(self.env, add, opaque)
        for e in exprs:
            reader.read(e)
            for n in walk(e) if isinstance(e, Expr) else ():
                if type(n) is Call and isinstance(n.op, GlobalVar):
                    work = work.plus(self._callee(n.op.name, d))
        if store is not None:
            reader.touch(store, True)
        return work.bounded(how) if how else work

    def _source(self, b: Buffer, indices: tuple[Expr, ...]) -> tuple[Buffer, tuple[Expr, ...], int]:
        """The element of the buffer that a view shows."""
        bound = EXACT
        while (view := self.views.get(b)) is not None:
            b, lows, places = view
            if places is None:
                return b, tuple(lows), AT_MOST | AT_LEAST
            indices = tuple(
                [
                    low if at is None else _shifted(indices[at], low)
                    for low, at in zip(lows, places, strict=True)
                ]
            )
        return b, indices, bound

    def _view(self, m: MatchBufferRegion) -> None:
        """Remember which region a view shows: dimension by dimension, those of extent 1 may be left out."""
        lows = [self.expr(r.min) for r in m.source.region]
        kept = [
            n for n, r in enumerate(m.source.region) if not (type(r.extent) is IntImm and r.extent.value == 1)
        ]
        rank = len(m.buffer.shape)
        if rank == len(lows):
            kept = list(range(rank))
        places: list[int | None] | None = None
        if rank == len(kept):
            places = [kept.index(n) if n in kept else None for n in range(len(lows))]
        self.views[m.buffer] = (m.source.buffer, lows, places)

    def _callee(self, name: str, d: Domain) -> Work:
        """What a function of the module does when it is called, where that depends on no size."""
        f = self.functions.get(name)
        if f is None:
            return Work().bounded(AT_LEAST)
        rest = {k: g for k, g in self.functions.items() if k != name}
        work = _cost(f, name, rest or {name: f}).work
        if not all(c.is_const for c in (work.flops, work.loads, work.stores)):
            return Work().bounded(AT_LEAST)
        return work.scaled(self.number(d))

    # ---- statements

    def visit(self, s: Any, d: Domain) -> Work:
        work: Work = _VISIT[type(s)](self, s, d)
        return work

    def _seq(self, s: SeqStmt, d: Domain) -> Work:
        work = Work()
        for c in s.seq:
            work = work.plus(self.visit(c, d))
        return work

    def _store(self, s: BufferStore, d: Domain) -> Work:
        return self.evaluated(d, s.value, store=s)

    def _for(self, s: For, d: Domain) -> Work:
        step = 1
        if s.step is not None:
            if type(s.step) is not IntImm or s.step.value < 1:
                d = d.bounded(AT_MOST | AT_LEAST)
            else:
                step = s.step.value
        work = self.evaluated(d, s.min, s.extent)
        extent = self.expr(s.extent)
        if not is_exact(extent) or not is_exact(s.min):
            d = d.bounded(AT_MOST | AT_LEAST)  # data says how often
            extent = const_int(1)
        return work.plus(self._loop(s, Loop(s.loop_var, self.expr(s.min), extent, step), d, s.loop_var.name))

    def _loop(self, s: Any, loop: Loop, d: Domain, name: str) -> Work:
        part = self._part(s, "loop", name, d)
        start, first = len(self.accesses), len(self.loops)
        self.loops.append(loop)
        inside = d.inside(loop)
        if type(s) is For and leaves_loop(s.body):
            inside = inside.bounded(AT_MOST)
        self.path.append((s, loop))
        outer = self.threads
        if type(s) is For and s.thread and s.thread not in outer:
            self.threads = {**outer, s.thread: s.loop_var}
        part.work = self.visit(s.body, inside)
        self.threads = outer
        self.path.pop()
        part.accesses = self.accesses[start:]
        part.inner = tuple(self.loops[first:])
        return part.work

    def _part(self, node: Any, what: str, name: str, d: Domain) -> Cost:
        part = Cost(node, what, name, self.number(d), Work(), depth=len(self.path))
        self.parts.append(part)
        return part

    def _while(self, s: While, d: Domain) -> Work:
        inside = d.bounded(AT_MOST | AT_LEAST)
        return self.evaluated(inside, s.condition).plus(self.visit(s.body, inside))

    def _if(self, s: IfThenElse, d: Domain) -> Work:
        work = self.evaluated(d, s.condition)
        condition = self.expr(s.condition)
        if is_exact(condition):
            work = work.plus(self.visit(s.then_case, d.where(condition)))
            if s.else_case is not None:
                work = work.plus(self.visit(s.else_case, d.where(Not(condition))))
            return work
        maybe = d.bounded(AT_MOST)
        then = self.visit(s.then_case, maybe)
        if s.else_case is None:
            return work.plus(then)
        return work.plus(then.or_(self.visit(s.else_case, maybe)))

    def _let(self, s: LetStmt, d: Domain) -> Work:
        work = self.evaluated(d, s.value)
        if is_exact(s.value) and s.var.exact:
            self.env[s.var] = self.expr(s.value)
        return work.plus(self.visit(s.body, d))

    def _attr(self, s: AttrStmt, d: Domain) -> Work:
        axis = s.node
        if s.key not in ("thread_extent", "virtual_thread") or not isinstance(axis, IterVar):
            return self.visit(s.body, d)
        known = self.threads.get(axis.thread_tag)
        if known is not None:
            self.env[axis.var] = self.env.get(known, known)
            return self.visit(s.body, d)
        outer = self.threads
        self.threads = {**outer, axis.thread_tag: axis.var}
        loop = Loop(axis.var, const_int(0, axis.var.dtype), self.expr(s.value))
        work = self._loop(s, loop, d, axis.var.name)
        self.threads = outer
        return work

    def _assert(self, s: AssertStmt, d: Domain) -> Work:
        return self.evaluated(d, s.condition)

    def _evaluate(self, s: Evaluate, d: Domain) -> Work:
        # A value that nobody uses is not computed.
        return self.evaluated(d, s.value) if type(s.value) is Call else Work()

    def _body(self, s: Any, d: Domain) -> Work:
        return self.visit(s.body, d)

    # ---- blocks

    def _block(self, r: BlockRealize, d: Domain) -> Work:
        block = r.block
        values = [self.expr(v) for v in r.iter_values]
        work = self.evaluated(d, *r.iter_values, r.predicate)
        predicate = self.expr(r.predicate)
        where: list[Expr] = []
        spatial: list[Expr] = []  # what guards the init too
        for axis, value in zip(block.iter_vars, values, strict=True):
            self.env[axis.var] = value
            if axis.dom is not None:
                inside = _inside(value, axis.dom)
                where += inside
                if axis.kind != "reduce":
                    spatial += inside
        exact = is_exact(predicate)
        where += conjuncts(predicate) if exact else []
        part = self._part(block, "block", block.name, d.where(*where))
        if not exact:
            d = d.bounded(AT_MOST)
        inside_d = d.where(*where)
        for m in block.match_buffers:
            self._view(m)
        start, first = len(self.accesses), len(self.loops)
        self.path.append((r, None))
        if block.init is not None:
            guards = conjuncts(predicate) if exact else []
            part.work = self._init(r, values, d, spatial, guards)
        part.work = part.work.plus(self.visit(block.body, inside_d))
        self.path.pop()
        part.accesses = self.accesses[start:]
        part.inner = tuple(self.loops[first:])
        return work.plus(part.work)

    def _init(
        self, r: BlockRealize, values: Sequence[Expr], d: Domain, spatial: list[Expr], guards: list[Expr]
    ) -> Work:
        """The init: once for each spatial instance, each time the outermost reduction loop is entered."""
        assert r.block.init is not None
        mine = {x.var for x in d.loops}
        over: set[Var] = set()
        rest: set[Var] = set()
        for axis, value in zip(r.block.iter_vars, values, strict=True):
            (over if axis.kind == "reduce" else rest).update(free_vars(value) & mine)
        both = [
            g
            for g in guards
            if not (loops := free_vars(g) & mine) or not (loops <= over and not loops & rest)
        ]
        where = (*spatial, *both)
        if not over:
            return self.visit(r.block.init, d.where(*where))
        if over & rest:
            return self._mixed(r, values, d, where, over)
        at_start = {x.var: x.min for x in d.loops if x.var in over}
        outer = dict(self.env)
        kept = tuple([x for x in d.loops if x.var not in over])
        first = Domain(kept, (), d.bound)
        fix = Reader(at_start, lambda _: None, lambda _: None).replaced
        first = Domain(
            tuple([Loop(x.var, fix(x.min), fix(x.extent), x.step) for x in kept]),
            tuple([fix(g) for g in (*d.guards, *where)]),
            d.bound,
        )
        self.env = {v: fix(e) for v, e in self.env.items()} | at_start
        work = self.visit(r.block.init, first)
        self.env = outer
        return work

    def _mixed(
        self, r: BlockRealize, values: Sequence[Expr], d: Domain, where: tuple[Expr, ...], over: set[Var]
    ) -> Work:
        """Loops that belong to spatial and reduction axes alike: distinct instances, by running through."""
        assert r.block.init is not None
        anchor = next(n for n, x in enumerate(d.loops) if x.var in over)
        found = grid.points(d.loops, (*d.guards, *where), BOX)
        times: Count | None = None
        if found is not None:
            outside = [found[x.var] for x in d.loops[:anchor]]
            own = [
                grid.values_of(v, found)
                for axis, v in zip(r.block.iter_vars, values, strict=True)
                if axis.kind != "reduce"
            ]
            times = Count.of(grid.distinct([*outside, *own], len(next(iter(found.values())))))
        once = _Walker(self.functions)
        once.env = self.env
        per = once.visit(r.block.init, Domain())
        self.accesses += [
            Access(a.buffer, a.indices, a.is_write, d.where(*where, *a.domain.guards), a.bound)
            for a in once.accesses
        ]
        if times is None:
            return per.scaled(self.number(d.where(*where), bound=AT_MOST))
        return per.scaled(times).bounded(d.bound)


def _inside(value: Expr, dom: Range) -> list[Expr]:
    """That a value lies in the domain of its axis."""
    low = dom.min
    if type(low) is IntImm and low.value == 0:
        return [GE(value, const_int(0, value.dtype)), value < dom.extent]
    return [value >= low, value < low + dom.extent]


def _shifted(index: Expr, low: Expr) -> Expr:
    """An index of a view in the buffer that it shows."""
    if type(index) is Ramp:
        return Ramp(low + index.base, index.stride, index.lanes)
    if info(index.dtype).lanes > 1:
        return index  # data, or one element for all lanes
    return low + index


_VISIT: dict[type, Any] = {
    SeqStmt: _Walker._seq, BufferStore: _Walker._store, For: _Walker._for, While: _Walker._while,
    IfThenElse: _Walker._if, LetStmt: _Walker._let, AttrStmt: _Walker._attr,
    AssertStmt: _Walker._assert, Evaluate: _Walker._evaluate, Allocate: _Walker._body,
    AllocateConst: _Walker._body, DeclBuffer: _Walker._body, BufferRealize: _Walker._body,
    BlockRealize: _Walker._block,
}  # fmt: skip


__all__ = ["Cost", "FunctionCost", "Work", "cost_of"]
