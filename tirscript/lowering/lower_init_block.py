"""``init`` becomes a block of its own, in front of the outermost loop bound to a reduction axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tirscript.ir.buffer import Buffer, BufferRegion, full_region
from tirscript.ir.expr import EQ, GE, LT, BufferLoad, Expr, IntImm, IterVar, Not, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockLabel,
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
    seq,
)
from tirscript.ir.visitor import free_vars, fresh_copy, substitute

from .fold import cast, conjunction, conjuncts

_EMPTY: frozenset[Var] = frozenset()


def lower_init_block(func: PrimFunc) -> PrimFunc:
    """Every init becomes a block ``<name>_init`` that runs before the first update.

    It stands where ``decompose_reduction`` at the outermost loop bound to a reduction axis would put it,
    so it also runs where the reduction is empty.  Conditions that mention only reduction loops guard the
    update alone, others guard both.
    """
    return func.replace(body=_Lower().stmt(func.body))


class _Lower:
    def __init__(self, outer_reduce: dict[Var, Expr] | None = None) -> None:
        # What stands around the statement inside its block: loops, lets, conditions (with their side).
        self.path: list[tuple[Any, bool]] = []
        # The blocks with axes around it, each with the path to it.
        self.chain: tuple[tuple[list[tuple[Any, bool]], BlockRealize], ...] = ()
        # Reduction axes of enclosing blocks, with their first value.
        self.outer_reduce: dict[Var, Expr] = dict(outer_reduce or {})
        self.pending: dict[Any, list[Stmt]] = {}  # init blocks that wait for the loop they stand before

    def stmt(self, s: Any) -> Any:
        t = type(s)
        if t is BlockRealize:
            return self.realize(s)
        if t is SeqStmt:
            parts = [self.stmt(x) for x in s.seq]
            return s if all(a is b for a, b in zip(parts, s.seq, strict=True)) else seq(*parts)
        if t is IfThenElse:
            then_case = self.under((s, True), s.then_case)
            else_case = None if s.else_case is None else self.under((s, False), s.else_case)
            if then_case is s.then_case and else_case is s.else_case:
                return s
            return s.replace(then_case=then_case, else_case=else_case)
        if t in _WITH_BODY:
            body = self.under((s, True), s.body)
            new = s if body is s.body else s.replace(body=body)
            waiting = self.pending.pop(s, None)
            return new if waiting is None else seq(*waiting, new)
        return s

    def under(self, element: tuple[Any, bool], s: Stmt) -> Stmt:
        self.path.append(element)
        out = self.stmt(s)
        self.path.pop()
        return out  # type: ignore[no-any-return]

    def realize(self, s: BlockRealize) -> Stmt:
        block = s.block
        before = self.init_of(s) if block.init is not None else None
        outer_path, outer_reduce, outer_chain = self.path, self.outer_reduce, self.chain
        # A block without axes is only a scope: what stands around it binds the blocks inside it.
        self.path = [] if block.iter_vars else [*outer_path, (s, True)]
        if block.iter_vars:
            self.chain = (*outer_chain, (outer_path, s))
        firsts = {iv.var: iv.dom.min for iv in block.iter_vars if iv.kind == "reduce" and iv.dom is not None}
        if firsts:
            self.outer_reduce = {**outer_reduce, **firsts}
        body = self.stmt(block.body)
        self.path, self.outer_reduce, self.chain = outer_path, outer_reduce, outer_chain
        if block.init is not None:
            if before is None and any(b in _touched(block.init) for b in block.alloc_buffers):
                body = seq(block.init, body)
            block = block.replace(init=None, body=body)
        elif body is not block.body:
            block = block.replace(body=body)
        new = s if block is s.block else s.replace(block=block)
        return new if before is None else seq(before, new)

    def init_of(self, s: BlockRealize) -> Stmt | None:
        """The init of ``s`` as a statement before it; None where it waits for an outer loop."""
        block = s.block
        assert block.init is not None
        touched = _touched(block.init)
        if any(b in touched for b in block.alloc_buffers):
            return None  # memory of one instance: each instance inits its own
        originals = self.path
        if self.goes_on(s):
            path, chain, outer_reduce = self.path, self.chain, self.outer_reduce
            originals, self.path, s = self.flat(s)
            self.chain, self.outer_reduce = (), {}
            try:
                return self.placed(s, originals)
            finally:
                self.path, self.chain, self.outer_reduce = path, chain, outer_reduce
        return self.placed(s, originals)

    def goes_on(self, s: BlockRealize) -> bool:
        """Whether the reduction of ``s`` goes along axes of the blocks around it, or names out there."""
        reduce = [v for iv, v in zip(s.block.iter_vars, s.iter_values, strict=True) if iv.kind == "reduce"]
        around = {iv.var for _, r in self.chain for iv in r.block.iter_vars}
        around |= {e.var for path, _ in self.chain for e, _ in path if type(e) is LetStmt}
        return not around.isdisjoint(self.vars_of(reduce))

    def flat(self, s: BlockRealize) -> tuple[list[Any], list[Any], BlockRealize]:
        """The whole path to ``s`` through the blocks around it, as it is and with their axes replaced by what
        they are bound to; and ``s`` so."""
        bound: dict[Var, Expr] = {}
        originals: list[Any] = []
        path: list[Any] = []
        for steps, r in (*self.chain, (self.path, None)):
            originals += steps
            path += [(_bound(e, bound), side) for e, side in steps]
            if r is not None:
                values = [substitute(v, bound) for v in r.iter_values]
                inside = _inside(r, values, bound)
                bound |= {iv.var: v for iv, v in zip(r.block.iter_vars, values, strict=True)}
                originals.append((r, True))
                path.append((r.replace(predicate=conjunction([*inside, *conjuncts(
                    substitute(r.predicate, bound))])), True))  # fmt: skip
        return originals, path, substitute(s, bound)

    def placed(self, s: BlockRealize, originals: list[Any]) -> Stmt | None:
        """The init as a statement before ``s``; None where it waits for a loop of the path."""
        block = s.block
        assert block.init is not None
        touched = _touched(block.init)
        values = {iv.var: v for iv, v in zip(block.iter_vars, s.iter_values, strict=True)}
        reduce_vars = self.vars_of(values[iv.var] for iv in block.iter_vars if iv.kind == "reduce")
        spatial_vars = self.vars_of(values[iv.var] for iv in block.iter_vars if iv.kind != "reduce")
        loops = {e.loop_var for e, _ in self.path if type(e) is For}
        pure = {v for v in loops if v in reduce_vars and v not in spatial_vars}

        start = self.start(touched)
        place = self.place(reduce_vars, start)
        inside = self.path[place:] if place is not None else []
        conditions = conjuncts(substitute(s.predicate, values))
        for e, side in inside:
            if type(e) is BlockRealize:
                conditions += conjuncts(e.predicate)
            elif type(e) is IfThenElse:
                conditions += conjuncts(e.condition) if side else [Not(e.condition)]
        both: list[Expr] = []
        known = loops | self.moving()
        for c in conditions:
            mentioned = self.vars_of([c]) & known
            if not mentioned or not mentioned <= pure:
                both.append(c)
        # Memory that is declared inside such loops: their first iterations init it.
        both += [EQ(e.loop_var, e.min) for e, _ in self.path[:start] if type(e) is For and e.loop_var in pure]
        outer = sorted(reduce_vars & self.outer_reduce.keys(), key=lambda v: v.name)
        both += [EQ(v, cast(self.outer_reduce[v], v.dtype)) for v in outer]
        # An init may hold blocks with an init themselves.
        nest: Stmt = _Lower(self.outer_reduce).stmt(self.nest(s, inside, both, reduce_vars))
        if place is None:
            return nest
        self.pending.setdefault(originals[place][0], []).append(nest)
        return None

    def moving(self) -> set[Var]:
        """The axes of blocks around that are bound to loops."""
        out: set[Var] = set()
        loops: set[Var] = set()
        for path, r in self.chain:
            loops.update([e.loop_var for e, _ in path if type(e) is For])
            values = zip(r.block.iter_vars, r.iter_values, strict=True)
            out.update([iv.var for iv, e in values if not (loops | out).isdisjoint(free_vars(e))])
        return out

    def start(self, touched: set[Buffer]) -> int:
        """Where in the path all memory that an init touches is declared."""
        start = 0
        for i, (e, _) in enumerate(self.path):
            if type(e) is DeclBuffer and e.buffer in touched:
                start = i + 1
            elif type(e) in (Allocate, AllocateConst) and any(b.data is e.buffer_var for b in touched):
                start = i + 1
            elif type(e) is BufferRealize and e.buffer in touched:
                start = i + 1
            elif type(e) is BlockRealize and not touched.isdisjoint(_own_buffers(e.block)):
                start = i + 1
        return start

    def place(self, reduce_vars: Iterable[Var], start: int) -> int | None:
        """Where in the path the init stands: before the outermost loop bound to a reduction axis."""
        known = set(reduce_vars)
        for i in range(start, len(self.path)):
            e = self.path[i][0]
            if type(e) is For and e.loop_var in known:
                return i
        return None

    def vars_of(self, exprs: Iterable[Expr]) -> frozenset[Var]:
        """The variables of the expressions, seen through the lets of the path."""
        found = _EMPTY.union(*[free_vars(e) for e in exprs])
        for e, _ in reversed(self.path):
            if type(e) is LetStmt and e.var in found:
                found |= free_vars(e.value)
        return found

    def nest(
        self, s: BlockRealize, inside: list[tuple[Any, bool]], both: list[Expr], reduce_vars: frozenset[Var]
    ) -> Stmt:
        block = s.block
        assert block.init is not None
        kept = [(iv, v) for iv, v in zip(block.iter_vars, s.iter_values, strict=True) if iv.kind != "reduce"]
        bound = _EMPTY.union(*[free_vars(v) for _, v in kept]) | free_vars(block.init)
        needed = bound.union(*[free_vars(c) for c in both])
        chosen: list[Any] = []
        for e, _ in reversed(inside):
            if type(e) is LetStmt and e.var in needed:
                needed |= free_vars(e.value)
                bound |= free_vars(e.value) if e.var in bound else _EMPTY
                chosen.append(e)
            elif type(e) is For and e.loop_var in needed:
                needed |= free_vars(e.min) | free_vars(e.extent)
                chosen.append(e)
        renamed: dict[Var, Expr] = {}
        fresh: dict[Any, Var] = {}
        for e in chosen:
            old = e.loop_var if type(e) is For else e.var
            fresh[e] = old.replace()
            renamed[old] = fresh[e]
        out: Stmt = self.init_block(block, kept, both, renamed)
        for e in chosen:
            if type(e) is For:
                # Iterations that may repeat an instance must not run side by side.
                alone = e.kind not in ("parallel", "vectorized", "thread_binding")
                kind = (
                    e.kind if alone or (e.loop_var in bound and e.loop_var not in reduce_vars) else "serial"
                )
                thread = e.thread if kind == "thread_binding" else ""
                out = For(fresh[e], e.min, e.extent, kind, out, thread, span=e.span)
            else:
                out = LetStmt(fresh[e], e.value, out, span=e.span)
        return _rename_outer(out, chosen, renamed)

    def init_block(
        self, block: Block, kept: list[tuple[IterVar, Expr]], both: list[Expr], renamed: dict[Var, Expr]
    ) -> BlockRealize:
        axes = tuple([iv.replace(var=iv.var.replace()) for iv, _ in kept])
        to_axes: dict[Var, Expr] = {old.var: new.var for (old, _), new in zip(kept, axes, strict=True)}
        assert block.init is not None
        reduction = frozenset(iv.var for iv in block.iter_vars if iv.kind == "reduce")
        touched = _touched(block.init)
        body = Block(
            BlockLabel(f"{block.name}_init"),
            (),
            _regions(block.reads, _loaded(block.init), reduction),
            _regions(block.writes, _stored(block.init), reduction),
            block.init,
            match_buffers=tuple([m for m in block.match_buffers if m.buffer in touched]),
            span=block.init.span or block.span,
        )
        copy = substitute(fresh_copy(body), {**renamed, **to_axes})
        copy = copy.replace(iter_vars=tuple([substitute(a, {**renamed, **to_axes}) for a in axes]))
        values = tuple([substitute(v, renamed) for _, v in kept])
        return BlockRealize(values, substitute(conjunction(both), renamed), copy, span=block.span)


def _rename_outer(out: Stmt, chosen: list[Any], renamed: dict[Var, Expr]) -> Stmt:
    """The bounds and let values of the nest, over its own variables."""
    if not chosen:
        return out
    inner = out
    if type(inner) is For:
        body = _rename_outer(inner.body, chosen[:-1], renamed)
        return inner.replace(
            min=substitute(inner.min, renamed), extent=substitute(inner.extent, renamed), body=body
        )
    assert type(inner) is LetStmt
    return inner.replace(
        value=substitute(inner.value, renamed), body=_rename_outer(inner.body, chosen[:-1], renamed)
    )


def _same(a: Expr, b: Expr) -> bool:
    return a is b or (type(a) is IntImm and type(b) is IntImm and a.value == b.value)


def _bound(e: Any, bound: dict[Var, Expr]) -> Any:
    """An element of a path with axes replaced in what it says itself, not in what it holds."""
    t = type(e)
    if not bound:
        return e
    if t is For:
        return e.replace(min=substitute(e.min, bound), extent=substitute(e.extent, bound))
    if t is LetStmt:
        return e.replace(value=substitute(e.value, bound))
    if t is IfThenElse or t is While:
        return e.replace(condition=substitute(e.condition, bound))
    return e.replace(predicate=substitute(e.predicate, bound)) if t is BlockRealize else e


def _inside(r: BlockRealize, values: list[Expr], bound: dict[Var, Expr]) -> list[Expr]:
    """That the axes of an instance lie in their domains: without it, it does not run."""
    out: list[Expr] = []
    for iv, v in zip(r.block.iter_vars, values, strict=True):
        if iv.dom is None:
            continue
        low, extent = (
            cast(substitute(iv.dom.min, bound), v.dtype),
            cast(substitute(iv.dom.extent, bound), v.dtype),
        )
        out += [GE(v, low), LT(v, low + extent)]
    return out


def _own_buffers(block: Block) -> list[Buffer]:
    return [*block.alloc_buffers, *[m.buffer for m in block.match_buffers]]


def _loaded(s: Stmt) -> set[Buffer]:
    return {n.buffer for n in walk(s) if type(n) is BufferLoad}


def _stored(s: Stmt) -> set[Buffer]:
    return {n.buffer for n in walk(s) if type(n) is BufferStore}


def _touched(s: Stmt) -> set[Buffer]:
    return _loaded(s) | _stored(s)


def _regions(
    given: tuple[BufferRegion, ...], used: set[Buffer], reduction: frozenset[Var]
) -> tuple[BufferRegion, ...]:
    """The block's regions of the buffers that its init uses; whole buffers where a reduction axis stands."""
    out = [
        r if reduction.isdisjoint(_EMPTY.union(*[free_vars(x) for x in r.region])) else full_region(r.buffer)
        for r in given
        if r.buffer in used
    ]
    named = {r.buffer for r in out}
    rest = sorted(used - named, key=lambda b: b.name)
    return (*out, *[full_region(b) for b in rest])


_WITH_BODY = frozenset({For, While, LetStmt, AttrStmt, Allocate, AllocateConst, DeclBuffer, BufferRealize})
