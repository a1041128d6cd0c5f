"""What a statement reads and writes: every access with its surroundings, and the regions of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tirscript.diagnostics import deep_recursion
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.expr import (
    GE,
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    IntImm,
    IterVar,
    Let,
    Not,
    Or,
    Range,
    Var,
    const_int,
)
from tirscript.ir.node import memo_of
from tirscript.ir.op import is_opaque
from tirscript.ir.stmt import (
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
    Stmt,
    While,
)
from tirscript.ir.visitor import free_vars, substitute, walk

from .region import Axis

__all__ = [
    "Access",
    "Collector",
    "accesses",
    "accesses_of",
    "conjuncts",
    "negated",
    "uses_declared",
    "view_region",
]


@dataclass(slots=True, eq=False)
class Access:
    """One load or store, or a pointer that goes out of sight.

    ``indices`` is None where the whole buffer may be touched.  ``axes`` are the loops between the root of
    the query and the access, outermost first, an axis without a loop for each ``while``; ``conditions`` are
    what holds where it happens.  ``stmt`` is the store or the statement around the load, ``node`` the store
    or load itself.  ``realizes`` are the blocks entered on the way; their axes are replaced by their values
    in ``indices`` and ``conditions``.  ``guarded`` says that a condition of the program (not only the domain
    of an axis) decides whether it happens.  ``region`` stands for ``indices`` where a nested block declares
    it.  ``init`` says that it is part of an init, ``owner`` which of the blocks entered has that (the
    outermost), ``over`` what the reduction axes of that are made of, through axes and names around.
    """

    buffer: Buffer
    indices: tuple[Expr, ...] | None
    is_write: bool
    axes: tuple[Axis, ...]
    conditions: tuple[Expr, ...]
    stmt: Stmt
    node: Any
    init: bool = False
    region: tuple[Range, ...] | None = None
    realizes: tuple[BlockRealize, ...] = ()
    guarded: bool = False
    owner: BlockRealize | None = None
    over: frozenset[Var] = frozenset()

    @property
    def loops(self) -> tuple[For, ...]:
        """The loops around the access (thread axes left out)."""
        return tuple([a.loop for a in self.axes if a.loop is not None])

    @property
    def opaque(self) -> bool:
        return self.indices is None and self.region is None


def conjuncts(e: Expr, out: list[Expr] | None = None) -> list[Expr]:
    """The parts of a conjunction; none of TRUE."""
    out = [] if out is None else out
    if type(e) is And:
        conjuncts(e.a, out)
        conjuncts(e.b, out)
    elif type(e) is Call and e.op == "likely":
        conjuncts(e.args[0], out)
    elif not (type(e) is IntImm and e.value):
        out.append(e)
    return out


def negated(e: Expr) -> list[Expr]:
    """Conjuncts of ``not e``."""
    if type(e) is Or:
        return negated(e.a) + negated(e.b)
    if type(e) is Not:
        return conjuncts(e.a)
    return [Not(e)]


class Collector:
    """Walks a statement in order of evaluation and collects accesses."""

    def __init__(self, visible: Iterable[Buffer], enter_blocks: bool) -> None:
        self.out: list[Access] = []
        self.axes: list[Axis] = []
        self.conditions: list[Expr] = []
        self.realizes: tuple[BlockRealize, ...] = ()
        self.values: dict[Var, Expr] = {}
        self.init = False
        self.owner: BlockRealize | None = None
        self.over: frozenset[Var] = frozenset()
        self.stmt: Any = None
        self.local: set[Buffer] = set()
        self.views: dict[Buffer, tuple[Buffer, MatchBufferRegion | None]] = {}
        self.by_pointer: dict[Var, Buffer] = {b.data: b for b in visible}
        self.hidden_pointers: set[Var] = set()
        self.enter_blocks = enter_blocks
        self.guards = 0
        self.sizes: dict[Var, int] = {}

    def add(
        self,
        buffer: Buffer,
        indices: tuple[Expr, ...] | None,
        is_write: bool,
        n: Any,
        region: tuple[Range, ...] | None = None,
    ) -> None:
        if buffer in self.local or buffer.data in self.hidden_pointers:
            return
        view = self.views.get(buffer)
        if view is not None:
            base, match = view
            if match is None:
                indices, region = None, None
            elif indices is not None:
                region, indices = (
                    view_region(match, tuple([Range(i, const_int(1, i.dtype)) for i in indices])),
                    None,
                )
            else:
                region = view_region(match, region)
            self.add(base, indices, is_write, n, region)
            return
        if self.values:
            if indices is not None:
                value = self.values.get
                indices = tuple(
                    [value(i, i) if type(i) is Var else substitute(i, self.values) for i in indices]
                )
            if region is not None:
                region = tuple([substitute(r, self.values) for r in region])
        self.out.append(
            Access(
                buffer,
                indices,
                is_write,
                tuple(self.axes),
                tuple(self.conditions),
                self.stmt,
                n,
                self.init,
                region,
                self.realizes,
                self.guards > 0,
                self.owner,
                self.over,
            )
        )

    # ---- expressions

    def expr(self, e: Any) -> None:
        t = type(e)
        if t is Var:
            if e.dtype == "handle":
                self.pointer(e, e)
            return
        if t is IntImm:
            return
        if t is BufferLoad:
            for i in e.indices:
                if type(i) is not Var and type(i) is not IntImm:
                    self.expr(i)
            if e.predicate is not None:
                self.expr(e.predicate)
            self.by_pointer.setdefault(e.buffer.data, e.buffer)
            self.add(e.buffer, e.indices, False, e)
            return
        if t is Call:
            if e.op == "if_then_else":
                self.branches(e.args[0], e.args[1], e.args[2])
            elif e.op == "address_of" and type(e.args[0]) is BufferLoad:
                for i in e.args[0].indices:
                    self.expr(i)
                self.add(e.args[0].buffer, None, False, e)
                self.add(e.args[0].buffer, None, True, e)
            elif e.op == "tvm_access_ptr":
                self.access_pointer(e)
            else:
                for a in e.args:
                    self.expr(a)
            return
        if t is And:
            self.branches(e.a, e.b, None)
            return
        if t is Or:
            self.expr(e.a)
            self.guarded(negated(e.a), e.b)
            return
        if t is Let:
            self.expr(e.value)
            self.define(e.var, e.value)
            self.expr(e.body)
            return
        for child in e.children():
            self.expr(child)

    def define(self, var: Var, value: Expr) -> None:
        """A let: its value stands for it in indices, unless that grows (values of values share parts)."""
        size = 1
        for n in walk(value):
            size += self.sizes.get(n, 1) if type(n) is Var else 1
            if size > 200:
                # No one may look into it: like data, it is anything.
                self.values[var] = Call(var.dtype, "undef", ())
                return
        self.sizes[var] = size
        self.values[var] = substitute(value, self.values) if self.values else value

    def branches(self, condition: Expr, yes: Any, no: Any) -> None:
        self.expr(condition)
        self.guarded(conjuncts(condition), yes)
        if no is not None:
            self.guarded(negated(condition), no)

    def guarded(self, conditions: list[Expr], e: Any) -> None:
        kept = len(self.conditions)
        self.conditions += [substitute(c, self.values) if self.values else c for c in conditions]
        self.guards += 1
        if isinstance(e, Stmt):
            self.statement(e)
        else:
            self.expr(e)
        self.guards -= 1
        del self.conditions[kept:]

    def pointer(self, var: Var, n: Any) -> None:
        buffer = self.by_pointer.get(var)
        if buffer is not None:
            self.add(buffer, None, False, n)
            self.add(buffer, None, True, n)

    def access_pointer(self, e: Call) -> None:
        pointer, mask = e.args[1], e.args[4]
        for a in e.args[2:4]:
            self.expr(a)
        buffer = self.by_pointer.get(pointer) if type(pointer) is Var else None
        if buffer is None:
            return
        bits = mask.value if type(mask) is IntImm else 3
        if bits & 1:
            self.add(buffer, None, False, e)
        if bits & 2:
            self.add(buffer, None, True, e)

    # ---- statements

    def statement(self, s: Any) -> None:
        t = type(s)
        if t is SeqStmt:
            for child in s.seq:
                self.statement(child)
            return
        visit = _STATEMENTS.get(t)
        if visit is not None:
            visit(self, s)
            return
        self.stmt = s
        for child in s.children():
            self.statement(child) if isinstance(child, Stmt) else self.expr(child)

    def store(self, s: BufferStore) -> None:
        self.stmt = s
        self.expr(s.value)
        for i in s.indices:
            if type(i) is not Var and type(i) is not IntImm:
                self.expr(i)
        if s.predicate is not None:
            self.expr(s.predicate)
        self.by_pointer.setdefault(s.buffer.data, s.buffer)
        self.add(s.buffer, s.indices, True, s)

    def loop(self, s: For) -> None:
        self.stmt = s
        low, extent = s.min, s.extent
        if type(low) is not IntImm or type(extent) is not IntImm:
            self.expr(low)
            self.expr(extent)
        if self.values:
            low, extent = substitute(low, self.values), substitute(extent, self.values)
        self.axes.append(Axis(s.loop_var, low, extent, s))
        self.statement(s.body)
        self.axes.pop()

    def condition(self, s: IfThenElse) -> None:
        self.stmt = s
        self.expr(s.condition)
        self.guarded(conjuncts(s.condition), s.then_case)
        if s.else_case is not None:
            self.guarded(negated(s.condition), s.else_case)

    def loop_while(self, s: While) -> None:
        """Two turns stand for any number: what meets in different turns, in whatever order, does in these."""
        self.stmt = s
        self.axes.append(Axis(Var("turn", "int32"), const_int(0, "int32"), const_int(2, "int32"), None))
        self.expr(s.condition)
        self.guards += 1
        self.statement(s.body)
        self.guards -= 1
        self.axes.pop()

    def let(self, s: LetStmt) -> None:
        self.stmt = s
        self.expr(s.value)
        self.define(s.var, s.value)
        self.statement(s.body)

    def attr(self, s: AttrStmt) -> None:
        self.stmt = s
        self.expr(s.value)
        if isinstance(s.node, IterVar) and s.key == "thread_extent":
            self.axes.append(Axis(s.node.var, const_int(0, s.node.var.dtype), s.value, None))
            self.statement(s.body)
            self.axes.pop()
        else:
            self.statement(s.body)

    def allocate(self, s: Any) -> None:
        self.hidden_pointers.add(s.buffer_var)
        self.stmt = s
        for e in s.extents:
            self.expr(e)
        self.statement(s.body)

    def declare(self, s: DeclBuffer) -> None:
        base = self.by_pointer.get(s.buffer.data)
        if base is not None and base is not s.buffer:
            self.views[s.buffer] = (base, None)
        self.statement(s.body)

    def realize_buffer(self, s: BufferRealize) -> None:
        self.local.add(s.buffer)
        self.statement(s.body)

    def realize(self, s: BlockRealize) -> None:
        self.stmt = s
        block = s.block
        for v in s.iter_values:
            if type(v) is not Var or v.dtype == "handle":
                self.expr(v)
        kept = len(self.conditions)
        conditions = []
        if s.predicate is not TRUE:
            self.expr(s.predicate)
            conditions = conjuncts(s.predicate)
        for iv, value in zip(block.iter_vars, s.iter_values, strict=True):
            if iv.dom is not None:
                conditions += (GE(value, iv.dom.min), LT(value, _end(iv.dom)))
        values = self.values
        self.conditions += [substitute(c, values) for c in conditions] if values else conditions
        for iv, value in zip(block.iter_vars, s.iter_values, strict=True):
            values[iv.var] = substitute(value, values)
        outer = self.realizes
        self.realizes = (*outer, s)
        self.guards += s.predicate is not TRUE
        if self.enter_blocks and not uses_declared(block):
            self.block_body(block)
        else:
            self.enter_views(block)
            self.declared(block, s, set(block.alloc_buffers))
        self.realizes = outer
        self.guards -= s.predicate is not TRUE
        del self.conditions[kept:]

    def declared(self, block: Block, where: Any, allocated: Iterable[Buffer] = ()) -> None:
        """The regions that a block declares; what its init touches, at another time, is said apart too."""
        if self.enter_blocks and block.init is not None:
            if _has_opaque(block.init):
                with self.within_init():
                    for r in block.writes:
                        self.add(r.buffer, None, True, where, r.region)
            else:
                self.initial(block.init)
                self.stmt = where
        if not self.enter_blocks and block.init is not None and self.goes_on(block):
            # The init has run before: the updates read what they find.
            for r in block.writes:
                if r.buffer not in allocated:
                    self.add(r.buffer, None, False, where, r.region)
        if self.enter_blocks and block.init is not None and where is not block:
            # Regions leave out that updates read what they update.
            for r in block.writes:
                if r.buffer not in allocated:
                    self.add(r.buffer, None, False, where, r.region)
        conditions = self.conditions
        initial = (
            set() if block.init is None else {n.buffer for n in walk(block.init) if type(n) is BufferLoad}
        )
        for regions, is_write in ((block.reads, False), (block.writes, True)):
            for r in regions:
                if r.buffer not in allocated:
                    # What the init touches is part of it.
                    both = block.init is not None and (is_write or r.buffer in initial)
                    self.conditions = self.of_init() if both else conditions
                    self.add(r.buffer, None, is_write, where, r.region)
                    self.conditions = conditions
        if self.enter_blocks and type(block.body) is not BufferStore and not _has_opaque(block.body):
            # What it reads it may have written itself.
            memory = {r.buffer.data for r in block.writes}
            for r in block.reads:
                if r.buffer.data in memory and r.buffer not in allocated:
                    self.add(r.buffer, None, False, where, r.region)

    def enter_views(self, block: Block) -> None:
        for m in block.match_buffers:
            self.views[m.buffer] = (m.source.buffer, m)
            self.by_pointer[m.buffer.data] = m.buffer
        for b in block.alloc_buffers:
            self.by_pointer[b.data] = b

    def block_body(self, block: Block) -> None:
        self.local.update(block.alloc_buffers)
        self.enter_views(block)
        if block.init is not None:
            self.initial(block.init)
        self.statement(block.body)

    def initial(self, s: Stmt) -> None:
        """The init of the block that was entered last."""
        conditions = self.conditions
        with self.within_init():
            self.conditions = self.of_init()
            self.statement(s)
        self.conditions = conditions

    @contextmanager
    def within_init(self) -> Iterator[None]:
        before = self.init, self.owner, self.over
        self.init = True
        if self.owner is None and self.realizes:
            self.owner = r = self.realizes[-1]
            values = [self.values[iv.var] for iv in r.block.iter_vars if iv.kind == "reduce"]
            self.over = frozenset().union(*[free_vars(v) for v in values])
        yield
        self.init, self.owner, self.over = before

    def goes_on(self, block: Block) -> bool:
        """Whether the reduction of a block goes over more than the loops seen so far."""
        loops = {a.var for a in self.axes}
        return any(
            iv.kind == "reduce" and not free_vars(self.values[iv.var]) <= loops for iv in block.iter_vars
        )

    def of_init(self) -> list[Expr]:
        """The conditions under which the init of the block that was entered last runs: not those about loops
        that only reduction axes are bound to."""
        if not self.conditions or not self.realizes:
            return self.conditions
        loops = {a.var for a in self.axes}
        kinds: dict[bool, set[Var]] = {True: set(), False: set()}
        for iv in self.realizes[-1].block.iter_vars:
            kinds[iv.kind == "reduce"] |= free_vars(self.values[iv.var])
        pure = kinds[True] - kinds[False]
        return [c for c in self.conditions if not (used := free_vars(c) & loops) or not used <= pure]


def _end(dom: Range) -> Expr:
    if type(dom.min) is IntImm and dom.min.value == 0:
        return dom.extent
    return Add(dom.min, dom.extent)


_STATEMENTS: dict[type, Any] = {
    BufferStore: Collector.store,
    For: Collector.loop,
    IfThenElse: Collector.condition,
    While: Collector.loop_while,
    LetStmt: Collector.let,
    AttrStmt: Collector.attr,
    Allocate: Collector.allocate,
    AllocateConst: Collector.allocate,
    DeclBuffer: Collector.declare,
    BufferRealize: Collector.realize_buffer,
    BlockRealize: Collector.realize,
}


def view_region(match: MatchBufferRegion, region: tuple[Range, ...] | None) -> tuple[Range, ...]:
    """The region of the source that a region of the view is (None: all of it)."""
    source = match.source.region
    if region is None or len(region) > len(source):
        return source
    lead = len(source) - len(region)
    inner = [Range(Add(s.min, r.min), r.extent) for s, r in zip(source[lead:], region, strict=True)]
    return (*source[:lead], *inner)


# Annotations of a block whose regions the user has set: by number among the reads, among the writes, or left
# out of either.
OVERRIDES = ("explicit_read_region", "explicit_write_region", "tirscript.hidden_access")


def uses_declared(block: Block) -> bool:
    """Whether the declared regions of a block count, not what its body shows."""
    if block.annotations and any(k in block.annotations for k in OVERRIDES):
        return True
    memo = memo_of(block)
    found: bool | None = memo.get("opaque_body")
    if found is None:
        found = memo["opaque_body"] = _has_opaque(block.body) or (
            block.init is not None and _has_opaque(block.init)
        )
    return found


def _has_opaque(root: Any) -> bool:
    """Whether pointers go to calls below ``root``, outside nested blocks."""
    stack = [root]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is Call and is_opaque(n.op):
            return True
        if t is Var and n.dtype == "handle":
            return True
        if t is not BlockRealize:
            stack.extend(n.children())
    return False


def accesses_of(stmt: Stmt, visible: Iterable[Buffer] = ()) -> tuple[Access, ...]:
    """Every access below ``stmt``, in order of evaluation; blocks are entered, axes become their values.

    Memoised on loops and blocks.  Buffers that a block below ``stmt`` allocates are its own affair and left
    out; those that ``stmt`` allocates itself, where it is a block, count.
    """
    memo = memo_of(stmt) if type(stmt) is For or type(stmt) is Block else None
    found: tuple[Access, ...] | None = memo.get("accesses") if memo is not None and not visible else None
    if found is None:
        with deep_recursion():
            c = Collector(visible, True)
            if type(stmt) is Block:
                c.realizes = ()
                _enter(c, stmt)
            else:
                c.statement(stmt)
        found = tuple(c.out)
        if memo is not None and not visible:
            memo["accesses"] = found
    return found


def _enter(c: Collector, block: Block) -> None:
    c.enter_views(block)
    if uses_declared(block):
        c.stmt = block
        c.declared(block, block)
        return
    if block.init is not None:
        c.init = True
        c.statement(block.init)
        c.init = False
    c.statement(block.body)


def accesses(block: Block) -> tuple[Access, ...]:
    """Every access of a block's init and body, in order of evaluation, in terms of its axes.

    Where the body is opaque (pointers go to calls) the declared regions count.  Memoised on the block.
    """
    return accesses_of(block)
