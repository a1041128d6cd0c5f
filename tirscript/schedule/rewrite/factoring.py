"""What rfactor writes: the nest of the partial results and the nest that combines them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from tirscript.analysis.inferred import infer_regions
from tirscript.analysis.reducer import Reduction
from tirscript.analysis.region import Axis, evaluate
from tirscript.arith.linear import key_of
from tirscript.ir.buffer import Buffer, BufferRegion, make_buffer, point
from tirscript.ir.expr import (
    TRUE,
    Add,
    And,
    BufferLoad,
    Expr,
    FloatImm,
    FloorDiv,
    IntImm,
    IterVar,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import memo_of
from tirscript.ir.ops import ceildiv
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    For,
    LetStmt,
    SeqStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import buffer_exprs, free_vars, fresh_copy, substitute, walk

from ..names import free_name, names_around
from ..refs import BlockRV, StmtSRef, block_token
from ..state import ScheduleState
from .caching import scope_of
from .substitute import put

# The conditions of the partial results; those of them that hold for the combination too; and what else says
# that a partial result was made, None where that cannot be said and all of them have to start ahead.
Guards = tuple[Sequence[Expr], Sequence[Expr], Sequence[Expr] | None]


class Factoring:
    """A loop and the nest that it stands in, the block's reductions, and how they are factored."""

    __slots__ = (
        "axis", "chain", "dropped", "guards", "place", "realize", "reductions", "size", "starts", "top",
        "uses",
    )  # fmt: skip

    def __init__(
        self,
        place: StmtSRef,
        top: StmtSRef,
        realize: BlockRealize,
        chain: list[For],
        dropped: list[For],
        reductions: tuple[Reduction, ...],
        starts: dict[Buffer, Expr],
        axis: int,
        size: Expr,
        uses: list[Set[Var]],
    ) -> None:
        self.place = place
        self.top = top
        self.realize = realize
        self.chain = chain  # all loops of the nest, outermost first
        self.dropped = dropped  # the other reduction loops, which the combination has no use for
        self.reductions = reductions
        self.starts = starts  # what the partial results start from
        self.axis = axis
        self.size = size  # the extent of the new dimension
        self.uses = uses  # the variables in what each axis is bound to
        self.guards: Guards = ((), (), ())


def upper_bound(top: StmtSRef, place: StmtSRef) -> Expr | None:
    """How many iterations the loop has, or a bound of it that is known outside of ``top``'s scope."""
    s: For = place.node
    count = _count(s)
    if type(count) is IntImm:
        return count
    inside: set[Any] = set()
    axes: list[Axis] = []
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        f: Any = p.node
        if type(f) is For:
            axes.append(Axis(f.loop_var, f.min, f.extent, f))
        inside |= {getattr(f, "loop_var", None), getattr(f, "var", None)}
        p = p.parent
    if inside.isdisjoint(free_vars(count)):
        return count
    # The largest value over the loops around.
    probe = make_buffer("", (const_int(0, count.dtype),))
    box = evaluate(probe, (count,), None, tuple(reversed(axes)), ())
    if box is None:
        return const_int(0, count.dtype)
    high = box[0].high
    if box[0].whole or high is None:
        return None
    made = high.written(count.dtype)
    return made if inside.isdisjoint(free_vars(made)) else None


def _count(s: For) -> Expr:
    if s.step is None:
        return s.extent
    if type(s.extent) is IntImm and type(s.step) is IntImm:
        return const_int(-(-s.extent.value // s.step.value), s.extent.dtype)
    return ceildiv(s.extent, s.step)


class _Axis:
    """The axis that a reduction loop becomes: what is bound to it, and what the loop is over it."""

    __slots__ = ("inner", "iv", "value")

    def __init__(self, f: For, kind: str, taken: set[str]) -> None:
        v = f.loop_var
        var = Var(free_name(f"v{v.name}", taken), v.dtype)
        self.inner: Expr = var
        self.value: Expr = v
        if f.step is None:
            self.iv = IterVar(var, Range(f.min, f.extent), kind)
            return
        self.iv = IterVar(var, Range(const_int(0, v.dtype), _count(f)), kind)
        self.value = FloorDiv(v if is_zero(f.min) else Sub(v, f.min), f.step)
        self.inner = Mul(var, f.step) if is_zero(f.min) else Add(Mul(var, f.step), f.min)

    def index(self) -> Expr:
        """The index in the new dimension."""
        assert self.iv.dom is not None
        return self.iv.var if is_zero(self.iv.dom.min) else Sub(self.iv.var, self.iv.dom.min)


def is_zero(e: Any) -> bool:
    return type(e) is IntImm and e.value == 0


def write(state: ScheduleState, plan: Factoring) -> BlockRV:
    """Put the nests in the place of the old one and allocate the buffers of the partial results."""
    top, realize = plan.top, plan.realize
    b = realize.block
    home = top.home
    taken = names_around(top)
    for f in plan.chain:
        taken.add(f.loop_var.name)
    made = _Nests(plan, taken)
    blocks = {p.node.block.name for t, p in home.index.items() if type(t) is BlockLabel}
    rf_label = BlockLabel(free_name(f"{b.name}_rf", blocks))
    guards, shared, found = plan.guards
    parts: list[Stmt | None] = [None]
    if found is None:
        parts[0] = made.start_nest(BlockLabel(free_name(f"{b.name}_rf_init", blocks)), shared)
    parts.append(made.partial_nest(rf_label, guards, found is not None))
    parts.append(made.combining_nest(b.label, shared if found is None else [*shared, *found]))
    gone = tuple([f.loop_var for f in plan.dropped])
    scope = scope_of(top)
    body = _spliced(scope, top, parts)
    if body is None:
        token = block_token(scope.node.block.label)
        state.replace(top, seq(*parts), gone)
        scope, gone = home.index[token], ()
        body = scope.node.block.body
    r: BlockRealize = scope.node
    block = r.block
    new = Block(
        block.label, block.iter_vars, block.reads, block.writes, body, block.init,
        (*block.alloc_buffers, *made.partial.values()), block.match_buffers, block.annotations, block.span,
    )  # fmt: skip
    state.replace(scope, BlockRealize(r.iter_values, r.predicate, new, r.span), gone)
    return BlockRV(rf_label, home.name)


def _spliced(scope: StmtSRef, top: StmtSRef, parts: list[Stmt | None]) -> Stmt | None:
    """The body of the scope with the nests in the place of the old one, where that stands directly in it."""
    body = scope.node.block.body
    if body is top.node:
        return seq(*parts)
    n = top.seq_index
    if type(body) is SeqStmt and n < len(body.seq) and body.seq[n] is top.node:
        return SeqStmt((*body.seq[:n], *[p for p in parts if p is not None], *body.seq[n + 1 :]), body.span)
    return None


class _Nests:
    """The statements, of one plan."""

    def __init__(self, plan: Factoring, taken: set[str]) -> None:
        self.plan = plan
        realize = plan.realize
        b = realize.block
        s: For = plan.place.node
        own = s.loop_var
        for iv, used in zip(b.iter_vars, plan.uses, strict=True):
            # The axes that stay keep their names, the others give theirs up.
            if iv.kind != "reduce" or own not in used:
                taken.add(iv.var.name)
        self.cells: dict[Buffer, tuple[Expr, ...]] = {}
        for r in plan.reductions:
            self.cells.update(zip(r.buffers, r.indices, strict=True))
        self.order = _order(b, self.cells)
        self.partial: dict[Buffer, Buffer] = {}
        self.slots: dict[Buffer, int] = {}  # where the new dimension of each stands
        for x in self.order:
            shape = x.shape
            n = self.slots[x] = plan.axis if plan.axis >= 0 else len(shape) + 1 + plan.axis
            shape = (*shape[:n], plan.size, *shape[n:])
            self.partial[x] = make_buffer(free_name(f"{x.name}_rf", taken), shape, x.dtype, scope=x.scope)
        self.axis_names = taken

    def at(self, x: Buffer, cell: tuple[Expr, ...], index: Expr) -> tuple[Expr, ...]:
        n = self.slots[x]
        return (*cell[:n], index, *cell[n:])

    def points(self, cells: dict[Buffer, tuple[Expr, ...]], index: Expr) -> dict[Buffer, tuple[Expr, ...]]:
        """The cells of the partial results."""
        out = {}
        for x, cell in cells.items():
            n = self.slots[x]
            out[x] = (*cell[:n], index, *cell[n:])
        return out

    # ---- partial results

    def partial_nest(self, label: BlockLabel, guards: Sequence[Expr], with_init: bool) -> Stmt:
        """The nest that computes the partial results."""
        plan, b = self.plan, self.plan.realize.block
        fresh: dict[Var, Expr] = {}
        for f in plan.chain:
            v = f.loop_var
            fresh[v] = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
        axes, values, inside, index = self.partial_axes(fresh)
        cells = self.points(self.cells, index)
        body = self.moved(b.body, inside, cells, self.renamed_lets(b.body))
        reads = [r if not inside else _moved(r, inside) for r in b.reads if r.buffer not in self.cells]
        writes = tuple([point(self.partial[x], cells[x]) for x in self.order])
        init: Stmt | None = None
        if with_init:
            init = seq(*[BufferStore(self.partial[x], plan.starts[x], cells[x]) for x in self.order])
        else:
            reads = [*writes, *reads]
        block = Block(
            label, axes, tuple(reads), writes, body, init, b.alloc_buffers, (), b.annotations, b.span
        )
        return self.nest(
            plan.chain, fresh, BlockRealize(values, _all(guards, fresh), block, plan.realize.span)
        )

    def partial_axes(
        self, fresh: dict[Var, Expr]
    ) -> tuple[tuple[IterVar, ...], tuple[Expr, ...], dict[Var, Expr], Expr]:
        """The axes and what is bound to them, the old axes over them, and the new index."""
        plan, b = self.plan, self.plan.realize.block
        taken = set(self.axis_names)
        s: For = plan.place.node
        own = _Axis(s, "spatial", taken)
        if s.step is None:
            # An axis that was the loop and has the right name lives on.
            for iv, value in zip(b.iter_vars, plan.realize.iter_values, strict=True):
                if value is s.loop_var and iv.var.name == own.iv.var.name:
                    own.inner = iv.var
                    own.iv = IterVar(iv.var, own.iv.dom, "spatial", "", iv.span)
                    break
        inner: dict[Var, Expr] = {s.loop_var: own.inner}  # the loops over the new axes
        kept: list[tuple[IterVar, Expr]] = [(own.iv, own.value)]
        inside: dict[Var, Expr] = {}
        for iv, value, used in zip(b.iter_vars, plan.realize.iter_values, plan.uses, strict=True):
            if value is s.loop_var:
                if iv.var is not own.iv.var:
                    inside[iv.var] = own.inner
            elif iv.kind == "reduce" and type(value) is not Var and s.loop_var in used:
                for v in _in_order(value):
                    if v not in inner and v in fresh:
                        for f in plan.chain:
                            if f.loop_var is v:
                                axis = _Axis(f, "reduce", taken)
                                inner[v] = axis.inner
                                kept.append((axis.iv, axis.value))
                inside[iv.var] = put(value, inner)
            else:
                kept.append((iv, value))
        axes, values = [], []
        for iv, value in kept:
            if iv.dom is not None and type(iv.dom.extent) is not IntImm and fresh.keys() & free_vars(iv.dom):
                iv = iv.replace(dom=substitute(iv.dom, fresh))
            axes.append(iv)
            values.append(fresh.get(value, value) if type(value) is Var else put(value, fresh))
        return tuple(axes), tuple(values), inside, own.index()

    def renamed_lets(self, s: Any) -> dict[Var, Var]:
        """Lets of one value for each store are named after what is stored."""
        lets = []
        while type(s) is LetStmt:
            lets.append(s.var)
            s = s.body
        stores = s.seq if type(s) is SeqStmt else (s,)
        if not lets or len(stores) != len(lets):
            return {}
        out: dict[Var, Var] = {}
        for v, x in zip(lets, stores, strict=True):
            if type(x) is not BufferStore or x.value is not v:
                return {}
            out[v] = Var(f"v_{self.partial[x.buffer].name}", v.dtype, v.exact)
        return out

    def moved(
        self,
        root: Stmt,
        inside: dict[Var, Expr],
        cells: dict[Buffer, tuple[Expr, ...]],
        lets: dict[Var, Var],
    ) -> Stmt:
        """The body over the new axes and buffers, with the cells of the partial results."""
        partial = self.partial
        values: dict[Var, Expr] = {**inside, **lets}

        def f(n: Any) -> Any:
            t = type(n)
            if t is Var:
                return values.get(n, n)
            if t is IntImm:
                return n
            if t is BufferLoad or t is BufferStore:
                x = n.buffer
                where = cells.get(x)
                if where is not None:
                    if t is BufferLoad:
                        return BufferLoad(partial[x], where, None, n.span)
                    return BufferStore(partial[x], f(n.value), where, None, n.span)
                if t is BufferLoad and n.predicate is None:
                    changed = False
                    indices = []
                    for i in n.indices:
                        j = values.get(i, i) if type(i) is Var else i if type(i) is IntImm else f(i)
                        changed = changed or j is not i
                        indices.append(j)
                    return BufferLoad(x, tuple(indices), None, n.span) if changed else n
            if t is Add or t is Mul:
                a, b = f(n.a), f(n.b)
                return n if a is n.a and b is n.b else t(a, b, n.span)
            if t is LetStmt and n.var in lets:
                return LetStmt(lets[n.var], f(n.value), f(n.body), n.span)
            return n.map_children(f)

        return f(root)  # type: ignore[no-any-return]

    # ---- their combination

    def combining_nest(self, label: BlockLabel, guards: Sequence[Expr]) -> Stmt:
        """The nest that combines the partial results; the old block's loops and axes live on in it."""
        plan, realize = self.plan, self.plan.realize
        b = realize.block
        own = _Axis(plan.place.node, "reduce", set(self.axis_names))
        again: dict[Var, Expr] = {}
        axes, values = [own.iv], [own.value]
        for iv, value in zip(b.iter_vars, realize.iter_values, strict=True):
            if iv.kind != "reduce":
                v = iv.var
                again[v] = new = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
                axes.append(IterVar(new, iv.dom, iv.kind, iv.thread_tag, iv.span))
                values.append(value)
        index = own.index()
        plain: dict[Buffer, tuple[Expr, ...]] = {}
        for x, cell in self.cells.items():
            plain[x] = tuple([again.get(i, i) if type(i) is Var else put(i, again) for i in cell])
        cells = self.points(plain, index)
        if len(self.order) == 1:
            (x,) = self.order
            old, new_value = BufferLoad(x, plain[x]), BufferLoad(self.partial[x], cells[x])
            (result,) = plan.reductions[0].combiner.apply((old,), (new_value,))
            body: Stmt = BufferStore(x, result, plain[x])
        else:
            results: dict[Buffer, Expr] = {}
            for r in plan.reductions:
                olds = [BufferLoad(x, plain[x]) for x in r.buffers]
                news = [BufferLoad(self.partial[x], cells[x]) for x in r.buffers]
                results.update(zip(r.buffers, r.combiner.apply(olds, news), strict=True))
            lets = {x: Var(f"v_{x.name}", x.dtype, False) for x in self.order}
            body = seq(*[BufferStore(x, lets[x], plain[x]) for x in self.order])
            for x in reversed(self.order):
                body = LetStmt(lets[x], results[x], body)
        assert b.init is not None
        memo = memo_of(b)
        if "plain_init" not in memo:
            memo["plain_init"] = _plain_init(b.init, self.cells)
        if memo["plain_init"]:
            given: Any = b.init
            if type(given) is BufferStore:
                x = given.buffer
                init: Stmt = BufferStore(x, given.value, plain[x], None, given.span)
            else:
                init = seq(
                    *[BufferStore(x.buffer, x.value, plain[x.buffer], None, x.span) for x in given.seq]
                )
            reads = tuple([point(self.partial[x], cells[x]) for x in self.order])
            writes = tuple([point(x, plain[x]) for x in self.order])
        else:
            init = substitute(fresh_copy(b.init), again)
            reads, writes = infer_regions(axes, body, init, b.alloc_buffers)
        block = Block(label, tuple(axes), reads, writes, body, init, (), (), b.annotations, b.span)
        return self.nest(
            self.kept(), None, BlockRealize(tuple(values), _all(guards, None), block, realize.span)
        )

    def start_nest(self, label: BlockLabel, guards: Sequence[Expr]) -> Stmt:
        """A nest that lets all partial results start, for a block whose own init might not reach them all."""
        plan, realize = self.plan, self.plan.realize
        fresh: dict[Var, Expr] = {}
        for f in self.kept():
            v = f.loop_var
            fresh[v] = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
        own = _Axis(plan.place.node, "spatial", set(self.axis_names))
        inside: dict[Var, Expr] = {}
        axes, values = [own.iv], [put(own.value, fresh)]
        for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
            if iv.kind != "reduce":
                inside[iv.var] = new = Var(
                    iv.var.name, iv.var.dtype, iv.var.exact, iv.var.pointee, iv.var.span
                )
                axes.append(IterVar(new, iv.dom, iv.kind, iv.thread_tag, iv.span))
                values.append(put(value, fresh))
        cells = {
            x: self.at(x, tuple([put(i, inside) for i in cell]), own.index())
            for x, cell in self.cells.items()
        }
        body = seq(*[BufferStore(self.partial[x], plan.starts[x], cells[x]) for x in self.order])
        writes = tuple([point(self.partial[x], cells[x]) for x in self.order])
        block = Block(label, tuple(axes), (), writes, body, span=realize.block.span)
        # The guards do not hold for sure where the loop's own ones do not: all of its cells are written.
        free = [g for g in guards if plan.place.node.loop_var not in free_vars(g)]
        return self.nest(
            self.kept(), fresh, BlockRealize(tuple(values), _all(free, fresh), block, realize.span)
        )

    # ---- both

    def kept(self) -> list[For]:
        plan = self.plan
        return [f for f in plan.chain if f not in plan.dropped] if plan.dropped else plan.chain

    def nest(self, loops: list[For], fresh: dict[Var, Expr] | None, inner: Stmt) -> Stmt:
        """The loops, with new variables if they are given, around a statement."""
        out = inner
        for f in reversed(loops):
            low, extent, notes, step = f.min, f.extent, f.annotations, f.step
            v: Any = f.loop_var
            if fresh is not None:
                v = fresh[v]
                if type(low) is not IntImm:
                    low = put(low, fresh)
                if type(extent) is not IntImm:
                    extent = put(extent, fresh)
                if notes:
                    notes = substitute(f, fresh).annotations
                if step is not None:
                    step = put(step, fresh)
            out = For(v, low, extent, f.kind, out, f.thread, notes, step, f.span)
        return out


def _order(b: Block, cells: dict[Buffer, Any]) -> list[Buffer]:
    """The buffers in the order of their stores."""
    if len(cells) == 1:
        return list(cells)
    found: dict[Buffer, None] = {}
    n: Any
    for n in walk(b.body):
        if type(n) is BufferStore:
            found.setdefault(n.buffer)
    return list(found)


def _moved(r: BufferRegion, inside: dict[Var, Expr]) -> BufferRegion:
    b = r.buffer
    for e in buffer_exprs(b) if b.strides or b.elem_offset is not None else b.shape:
        if type(e) is not IntImm and free_vars(e) & inside.keys():
            return substitute(r, inside)
    ranges = []
    for x in r.region:
        low, extent = x.min, x.extent
        new = inside.get(low, low) if type(low) is Var else put(low, inside)
        if type(extent) is not IntImm:
            extent = put(extent, inside)
        ranges.append(x if new is low and extent is x.extent else Range(new, extent))
    return BufferRegion(b, tuple(ranges), r.span)


def _in_order(e: Any) -> list[Var]:
    """The variables of an expression from left to right."""
    out: list[Var] = []
    stack = [e]
    while stack:
        e = stack.pop()
        t = type(e)
        if t is Var:
            out.append(e)
        elif t is Add or t is Mul:
            stack += (e.b, e.a)
        elif t is not IntImm:
            out += [v for v in walk(e) if type(v) is Var]
    return out


_NUMBERS = frozenset({IntImm, FloatImm})


def _plain_init(init: Any, cells: dict[Buffer, Any]) -> bool:
    """Whether an init does nothing but store constants to the cells."""
    stores = init.seq if type(init) is SeqStmt else (init,)
    if len(stores) != len(cells):
        return False
    for s in stores:
        if type(s) is not BufferStore or s.buffer not in cells:
            return False
        if type(s.value) not in _NUMBERS and (type(s.value) is Var or s.value.children()):
            return False
        if not _same_cell(s.indices, cells[s.buffer]):
            return False
    return True


def _same_cell(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
    for i, j in zip(a, b, strict=True):
        if i is j:
            continue
        if key_of(i) != key_of(j):
            return False
    return True


def _all(guards: Sequence[Expr], fresh: dict[Var, Expr] | None) -> Expr:
    out: Expr = TRUE
    for g in guards:
        new = g if fresh is None else put(g, fresh)
        out = new if out is TRUE else And(out, new)
    return out


__all__ = ["Factoring", "is_zero", "upper_bound", "write"]
