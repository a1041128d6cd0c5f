"""Random blocks: the middle part of the random programs."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion, full_region, make_buffer, point
from tirscript.ir.expr import (
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Expr,
    FloorDiv,
    IntImm,
    IterVar,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, Evaluate, For, Stmt, seq

from .random_exprs import Expressions, has_cells

LARGE = 1 << 20  # no symbolic extent is larger


class Blocks(Expressions):
    """Draws blocks.  ``independent``: instances that differ in a spatial axis do not meet."""

    independent: bool
    fuel: int
    inputs: set[Buffer]
    loop_vars: set[Var]
    blocks: int
    size: Var | None  # the symbol of extents, where there is one

    # Pointers of views of regions, with the pointers of what they are views of.
    shown: dict[Var, Var]

    def memory(self, b: Buffer) -> Var:
        """The pointer of the memory in which a buffer lies."""
        data = b.data
        while data in self.shown:
            data = self.shown[data]
        return data

    def name(self, wanted: str) -> str:
        raise NotImplementedError

    def buffer(self, name: str, *, scope: str = "global", strided: bool = False) -> Buffer:
        raise NotImplementedError

    def declare(self, b: Buffer) -> Buffer:
        raise NotImplementedError

    def where(self) -> str:
        raise NotImplementedError

    def filled(self, b: Buffer) -> Stmt:
        raise NotImplementedError

    def annotations(self) -> dict[str, Any]:
        raise NotImplementedError

    def statement(self) -> Stmt:
        raise NotImplementedError

    def store(self) -> Stmt:
        raise NotImplementedError

    def nest(self) -> Stmt:
        """Loops around one block that binds them."""
        kinds = [
            self.pick(("spatial", "spatial", "reduce", "spatial", "opaque", "scan"))
            for _ in range(self.number(1, 3))
        ]
        if self.executable:
            kinds = ["spatial" if k in ("opaque", "scan") else k for k in kinds]
        loops: list[tuple[Var, Expr]] = []
        whole: list[tuple[Var, Expr]] = []
        axes: list[tuple[IterVar, Expr]] = []
        predicate: Expr | None = None
        bounds: list[tuple[Var, int, int]] = []
        for kind in kinds:
            size = self.pick((4, 3, 8, 5, 2, 1))
            axis = Var(self.name(f"v{'ijkl'[len(axes)]}"))
            low = 0
            if self.size is not None and self.chance(35):
                value, guard = self.over_all(self.size, loops)
                if guard is not None:
                    predicate = guard if predicate is None else And(predicate, guard)
                axes.append((IterVar(axis, Range(const_int(0), self.size), kind), value))
                bounds.append((axis, 0, LARGE))
                whole.append((axis, self.size))
                continue
            form = self.number(0, 5)
            if form <= 2:
                v = Var(self.name("i"))
                loops.append((v, const_int(size)))
                value = v
            elif form == 3:
                outer, inner = Var(self.name("i_0")), Var(self.name("i_1"))
                factor = self.pick((2, 4, 3))
                loops += [(outer, const_int(-(-size // factor))), (inner, const_int(factor))]
                value = Add(Mul(outer, const_int(factor)), inner)
                if size % factor:
                    guard = LT(value, const_int(size))
                    predicate = guard if predicate is None else And(predicate, guard)
            elif form == 4:
                v = Var(self.name("i"))
                loops.append((v, const_int(size)))
                value = Sub(const_int(size - 1), v)
            else:
                v = Var(self.name("i"))
                loops.append((v, const_int(size)))
                low = self.number(0, 2)
                value = Add(v, const_int(low)) if low else FloorDiv(v, const_int(1))
            domain = Range(const_int(low), const_int(size))
            axes.append((IterVar(axis, domain, kind), value))
            bounds.append((axis, low, low + size - 1))
        order = self.draw(self.st.permutations(range(len(loops))))
        outside, self.scope.whole = self.scope.whole, whole
        body = self.block(
            axes, bounds, TRUE if predicate is None else predicate, any(k == "reduce" for k in kinds)
        )
        self.scope.whole = outside
        made: Stmt = body
        for i in reversed(order):
            v, count = loops[i]
            made = For(v, const_int(0), count, "serial", made)
            self.scope.names.discard(v.name)
        return made

    def over_all(self, n: Var, loops: list[tuple[Var, Expr]]) -> tuple[Expr, Expr | None]:
        """Loops, and a value of them that runs over all of a symbolic extent; a guard if it needs one."""
        v = Var(self.name("i"))
        form = self.number(0, 3)
        if form == 0:
            outer, factor = Var(self.name("i_0")), self.pick((2, 4, 3))
            rounds = FloorDiv(Add(n, const_int(factor - 1)), const_int(factor))
            loops += [(outer, rounds), (v, const_int(factor))]
            value = Add(Mul(outer, const_int(factor)), v)
            return value, LT(value, n)
        loops.append((v, n))
        return (Sub(Sub(n, const_int(1)), v) if form == 1 else v), None

    def block(
        self,
        axes: list[tuple[IterVar, Expr]],
        bounds: list[tuple[Var, int, int]],
        predicate: Expr,
        reduces: bool,
    ) -> Stmt:
        outer_ints = self.scope.ints
        outer_values = self.scope.values
        # Loop variables around a block are not seen inside it.
        self.scope.ints = [*bounds, *[e for e in outer_ints if e[0] not in self.loop_vars]]
        self.scope.values = [v for v in outer_values if not v.exact or v.name.startswith("s")]
        inner: list[Buffer] = []
        if self.chance(15):
            inner.append(self.declare(self.buffer("L", scope=self.where())))
        targets = [b for b in self.scope.buffers if b not in self.inputs and b not in inner and has_cells(b)]
        init: Stmt | None = None
        if self.independent and any(a.kind == "spatial" for a, _ in axes):
            body, init = self.own_cell(axes, targets, reduces)
        elif targets and reduces and self.chance(80):
            body, init = self.reduction(self.pick(targets), axes)
        else:
            body = self.statement() if self.fuel > 0 and self.chance(40) else self.store()
        fill = [self.filled(b) for b in inner] if self.executable else []
        body = seq(*fill, body)
        for b in inner:
            self.scope.buffers.remove(b)
        reads, writes = self.regions(body, init)
        self.blocks += 1
        annotations = self.annotations() if self.chance(15) else {}
        label = BlockLabel(self.pick(("B", "C", "update", "a block", "for", f"b{self.blocks}")))
        block = Block(
            label, tuple([a for a, _ in axes]), reads, writes, body, init, tuple(inner), (), annotations
        )
        for b in inner:
            self.scope.names.discard(b.name)
        for axis, _ in axes:
            self.scope.names.discard(axis.var.name)
        self.scope.ints, self.scope.values = outer_ints, outer_values
        return BlockRealize(tuple([v for _, v in axes]), predicate, block)

    def reduction(self, b: Buffer, axes: list[tuple[IterVar, Expr]]) -> tuple[Stmt, Stmt]:
        """An update of a cell that the spatial axes name, and its init."""
        spatial = [a for a, _ in axes if a.kind == "spatial"]
        indices: list[Expr] = []
        for d, n in enumerate(b.shape):
            size = n.value if isinstance(n, IntImm) else 3
            if d < len(spatial):
                indices.append(spatial[d].var % size)
            else:
                indices.append(const_int(self.number(0, size - 1)))
        cell = tuple(indices)
        start = BufferStore(b, self.constant(b.dtype), cell)
        old = BufferLoad(b, cell)
        new = self.expr(b.dtype, 2)
        if b.dtype == "bool":
            return BufferStore(b, And(old, new), cell), start
        return BufferStore(b, Add(old, new), cell), start

    def own_cell(
        self, axes: list[tuple[IterVar, Expr]], targets: list[Buffer], reduces: bool
    ) -> tuple[Stmt, Stmt | None]:
        """What each instance does to a cell of its own, from buffers that the block does not write."""
        own = [a for a, _ in axes if a.kind == "spatial"]
        for b in targets:
            sizes = [n.value if isinstance(n, IntImm) else 3 for n in b.shape]
            if len(sizes) >= len(own) and all(_within(a, n) for a, n in zip(own, b.shape, strict=False)):
                rest = [const_int(self.number(0, n - 1)) for n in sizes[len(own) :]]
                cell: tuple[Expr, ...] = (*[a.var for a in own], *rest)
                self.only = {
                    other for other in self.scope.buffers if self.memory(other) is not self.memory(b)
                }
                value = self.expr(b.dtype, self.number(1, 3))
                self.only = None
                if not reduces:
                    return BufferStore(b, value, cell), None
                old = BufferLoad(b, cell)
                new = And(old, value) if b.dtype == "bool" else Add(old, value)
                return BufferStore(b, new, cell), BufferStore(b, self.constant(b.dtype), cell)
        return Evaluate(const_int(0)), None

    def regions(
        self, body: Stmt, init: Stmt | None, views: tuple[MatchBufferRegion, ...] = ()
    ) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
        reads: dict[Buffer, BufferRegion] = {}
        writes: dict[Buffer, BufferRegion] = {}
        visible = set(self.scope.buffers)
        nodes = [*walk(body), *(walk(init) if init is not None else ())]
        # A view that is made inside stands for the buffer whose memory it shows.
        shown = {m.buffer.data: m.source.buffer.data for m in nodes if isinstance(m, MatchBufferRegion)}
        shown |= {m.buffer.data: m.source.buffer.data for m in views}
        owners = {b.data: b for b in reversed(self.scope.buffers)}
        for n in nodes:
            if isinstance(n, (BufferLoad, BufferStore)):
                data = n.buffer.data
                while data in shown:
                    data = shown[data]
                b = n.buffer if n.buffer in visible else owners.get(data)
                if b is not None:
                    to = writes if isinstance(n, BufferStore) else reads
                    to.setdefault(b, full_region(b))
        if not self.executable and self.scope.buffers and self.chance(30):
            b = self.pick(self.scope.buffers)
            reads[b] = self.region(b)
        return tuple(reads.values()), tuple(writes.values())

    def region(self, b: Buffer) -> BufferRegion:
        if self.chance(50):
            return point(b, tuple([self.index(n) for n in b.shape]))
        ranges = []
        for n in b.shape:
            size = n.value if isinstance(n, IntImm) else 3
            extent = self.number(1, size)
            ranges.append(Range(self.within(size - extent + 1, n.dtype), const_int(extent)))
        return BufferRegion(b, tuple(ranges))

    def opaque_block(self) -> Stmt:
        """A block without axes."""
        body = self.statement()
        reads, writes = self.regions(body, None)
        label = BlockLabel(self.pick(("opaque", "x y", "T")))
        annotations = self.annotations() if self.chance(20) else {}
        return BlockRealize((), TRUE, Block(label, (), reads, writes, body, annotations=annotations))

    def matched(self) -> Stmt:
        """A block with a view of a region."""
        bases = [b for b in self.scope.buffers if b.shape and not b.strides]
        if not bases:
            return self.store()
        base = self.pick(bases)
        source = BufferRegion(base, tuple([Range(const_int(0), n) for n in base.shape]))
        strides: tuple[Expr, ...] = ()
        own: list[str] = []
        if self.chance(50):
            own = [self.fresh(f"s{d}") for d in range(len(base.shape))]
            strides = tuple([Var(n) for n in own])
        view = make_buffer(
            self.fresh(f"{base.name}_view"), base.shape, base.dtype, scope=base.scope, strides=strides,
            offset_factor=self.pick((0, 1) if self.executable else (0, 1, 16)),
        )  # fmt: skip
        self.declare(view)
        self.shown[view.data] = base.data
        body = self.statement()
        self.scope.buffers.remove(view)
        views = (MatchBufferRegion(view, source),)
        reads, writes = self.regions(body, None, views)
        for n in (*own, view.name):
            self.scope.names.discard(n)
        block = Block(BlockLabel("matched"), (), reads, writes, body, match_buffers=views)
        return BlockRealize((), TRUE, block)


def _within(axis: IterVar, n: Expr) -> bool:
    """Whether the values of an axis are indices of a dimension."""
    assert axis.dom is not None
    low, extent = axis.dom.min, axis.dom.extent
    if isinstance(low, IntImm) and isinstance(extent, IntImm):
        return low.value + extent.value <= (n.value if isinstance(n, IntImm) else 3)
    return extent is n
