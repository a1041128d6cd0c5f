"""Vectorized loops become vector expressions; what cannot be a vector runs lane by lane."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Broadcast, BufferLoad, Expr, IntImm, Ramp, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Allocate,
    AttrStmt,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import free_vars, fresh_copy, substitute

from .bounds import Facts
from .fold import (
    add,
    cast,
    conjunction,
    conjuncts,
    const_of,
    flat,
    is_exact,
    is_false,
    is_true,
    mul,
    reads_memory,
)
from .lanes import Lanes, NoVector, at_every_lane
from .vectors import vadd, vmul

WHOLE = 16  # a loop of at most so many iterations is one vector, whatever its length
MOST_LANES = 64
MOST_BITS = 4096


def vectorize_loop(func: PrimFunc) -> PrimFunc:
    """No loop of kind ``vectorized`` is left after this pass.

    Long loops become a serial loop over chunks and shorter vectors for the rest.  A condition that differs
    between lanes is tested for all of them at once where it can be, and lane by lane otherwise.
    """
    return func.replace(body=_Vectorize(Facts.of(func)).stmt(func.body))


class NeedsLet(Exception):
    """A statement that runs lane by lane needs the value of a let: the let must do so too."""

    def __init__(self, var: Var) -> None:
        super().__init__()
        self.var = var


class _Vectorize:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def stmt(self, s: Any) -> Any:
        if type(s) is For:
            self.facts.enter(s)
            body = self.stmt(s.body)
            self.facts.leave(s)
            s = s if body is s.body else s.replace(body=body)
            return self.loop(s) if s.kind == "vectorized" else s
        if type(s) is IfThenElse:
            old = self.facts.within(conjuncts(s.condition))
            then_case = self.stmt(s.then_case)
            self.facts.holds = old
            else_case = None if s.else_case is None else self.stmt(s.else_case)
            if then_case is s.then_case and else_case is s.else_case:
                return s
            return s.replace(then_case=then_case, else_case=else_case)
        if isinstance(s, Stmt):
            return flat(s.map_children(self.stmt))
        return s

    def loop(self, s: For) -> Stmt:
        count = const_of(s.extent)
        if count is None or not is_exact(s.min):
            return s.replace(kind="serial")
        if count <= 0:
            return Evaluate(const_int(0), span=s.span)
        if any("x" in n.dtype for n in walk(s.body) if isinstance(n, (Ramp, BufferLoad))):
            return s.replace(kind="serial")  # vector code already
        return seq(*self.chunks(s, count, _widest(s.body)))

    def chunks(self, s: For, count: int, widest: int) -> list[Stmt]:
        """The loop as vectors: whole, or a loop over chunks and the rest."""
        out: list[Stmt] = []
        done = 0
        while done < count:
            left = count - done
            width = left if left <= min(WHOLE, widest) else min(widest, 1 << (left.bit_length() - 1))
            times = left // width
            start = add(s.min, const_int(done, s.min.dtype))
            body = s.body if done + times * width == count else fresh_copy(s.body)
            out.append(self.chunk(s, body, start, width, times))
            done += times * width
        return out

    def chunk(self, s: For, body: Stmt, start: Expr, width: int, times: int) -> Stmt:
        var = s.loop_var
        if times == 1:
            return self.vector(s, body, start, width)
        outer = Var(f"{var.name}_c", var.dtype, span=var.span)
        base = add(start, mul(outer, const_int(width, var.dtype)))
        loop = For(outer, const_int(0, var.dtype), const_int(times, var.dtype), "serial", s.body, span=s.span)
        self.facts.enter(loop)
        inner = self.vector(s, body, base, width)
        self.facts.leave(loop)
        return loop.replace(body=inner)

    def vector(self, s: For, body: Stmt, base: Expr, width: int) -> Stmt:
        if width == 1:
            return substitute(body, {s.loop_var: base})
        return _Widen(self.facts, s, base, width).stmt(body)


def _widest(body: Stmt) -> int:
    """The most lanes of one vector: by the widest dtype that the body stores or loads."""
    bits = 8
    for n in walk(body):
        if type(n) is BufferLoad or type(n) is BufferStore:
            bits = max(bits, dt.info(n.buffer.dtype).bits)
    return max(1, min(MOST_LANES, MOST_BITS // bits))


class _Widen:
    """The body of one vectorized loop for ``width`` iterations from ``base``."""

    def __init__(self, facts: Facts, loop: For, base: Expr, width: int) -> None:
        self.facts = facts
        self.loop = loop
        self.base = base
        self.width = width
        self.lanes = Lanes(facts, width)
        self.lanes.bind(loop.loop_var, Ramp(base, const_int(1, base.dtype), width))
        self.private: dict[Var, int] = {}  # pointers that hold one copy for each lane
        self.expanded: dict[Buffer, Buffer] = {}

    def stmt(self, s: Stmt) -> Stmt:
        if not self.touches(s):
            return s
        handler = _HANDLERS.get(type(s))
        if handler is not None:
            try:
                return handler(self, s)  # type: ignore[no-any-return]
            except NoVector:
                pass
        return self.by_lane(s)

    def touches(self, s: Stmt) -> bool:
        return not self.lanes.names.isdisjoint(free_vars(s))

    def by_lane(self, s: Stmt) -> Stmt:
        """``s`` for one lane after the other."""
        var = self.loop.loop_var
        lane = Var(f"{var.name}_s", var.dtype, span=var.span)
        inner = fresh_copy(s)
        wanted = free_vars(inner)
        for old, value in reversed(self.lanes.lets):
            if old in wanted:
                if reads_memory(value):
                    raise NeedsLet(old)  # memory may have changed since
                new = old.replace()
                inner = LetStmt(new, value, substitute(inner, {old: new}), span=s.span)
                wanted = free_vars(inner)
        body = substitute(self.lane_memory(inner, lane), {var: add(self.base, lane)})
        zero, count = const_int(0, var.dtype), const_int(self.width, var.dtype)
        return For(lane, zero, count, "serial", body, span=self.loop.span)

    def lane_memory(self, n: Any, lane: Expr) -> Any:
        """Accesses of memory that has one copy for each lane, for the lane ``lane``."""
        if not self.expanded:
            return n

        def visit(x: Any) -> Any:
            x = x.map_children(visit)
            if type(x) is BufferLoad or type(x) is BufferStore:
                b = self.expanded.get(x.buffer)
                if b is not None:
                    index = x.indices[0]
                    place = add(mul(index, const_int(self.width, index.dtype)), cast(lane, index.dtype))
                    return x.replace(buffer=b, indices=(place,))
            return x

        return visit(n)

    # -- statements

    def store(self, s: BufferStore) -> Stmt:
        if s.predicate is not None or "x" in s.buffer.dtype:
            raise NoVector
        value = self.expr(s.value)
        b = self.expanded.get(s.buffer)
        if b is not None:
            return s.replace(buffer=b, indices=(self.private_index(s.indices[0]),), value=self.wide(value))
        index = self.expr(s.indices[0])
        if "x" not in index.dtype:
            if "x" in value.dtype:
                raise NoVector
            return s.replace(value=value, indices=(index,))
        return s.replace(value=self.wide(value), indices=(index,))

    def private_index(self, index: Expr) -> Expr:
        """The cells of all lanes: lane after lane, next to each other."""
        place = vmul(self.expr(index), const_int(self.width, index.dtype))
        zero, one = const_int(0, index.dtype), const_int(1, index.dtype)
        return vadd(place, Ramp(zero, one, self.width))

    def expr(self, e: Expr) -> Expr:
        return self.lanes.expr(e, self.load)

    def load(self, e: BufferLoad) -> Expr | None:
        b = self.expanded.get(e.buffer)
        return None if b is None else e.replace(buffer=b, indices=(self.private_index(e.indices[0]),))

    def wide(self, e: Expr) -> Expr:
        return self.lanes.wide(e)

    def sequence(self, s: SeqStmt) -> Stmt:
        return seq(*[self.stmt(x) for x in s.seq])

    def inner_loop(self, s: For) -> Stmt:
        low, extent = self.expr(s.min), self.expr(s.extent)
        if "x" in low.dtype or "x" in extent.dtype:
            raise NoVector
        if self.lanes.leaves_early(s.body):
            raise NoVector
        self.facts.enter(s)
        try:
            body = self.stmt(s.body)
        finally:
            self.facts.leave(s)
        return s.replace(min=low, extent=extent, body=body)

    def branch(self, s: IfThenElse) -> Stmt:
        if not self.lanes.varies(s.condition):
            condition = self.expr(s.condition)
            else_case = None if s.else_case is None else self.stmt(s.else_case)
            old = self.facts.within(conjuncts(condition))
            then_case = self.stmt(s.then_case)
            self.facts.holds = old
            return s.replace(condition=condition, then_case=then_case, else_case=else_case)
        # All lanes at once where the condition holds for the worst of them.
        var = self.loop.loop_var
        every = [at_every_lane(c, self.lanes, var, self.base) for c in conjuncts(s.condition)]
        if any(c is None for c in every):
            raise NoVector
        known = [c for c in every if c is not None and not self.facts.proves(c)]
        condition = conjunction(known)
        if is_false(condition):
            raise NoVector
        if is_true(condition):
            return self.stmt(s.then_case)
        slow = self.by_lane(s)
        old = self.facts.within([condition])
        fast = self.stmt(fresh_copy(s.then_case))
        self.facts.holds = old
        return IfThenElse(condition, fast, slow, span=s.span)

    def let(self, s: LetStmt) -> Stmt:
        value = self.expr(s.value)
        if "x" not in value.dtype:
            return s.replace(value=value, body=self.stmt(s.body))
        # A ramp is known where it is used: an index stays one.
        plain = (type(value) is Ramp or type(value) is Broadcast) and is_exact(value)
        new: Expr = value if plain else s.var.replace(dtype=value.dtype)
        self.lanes.define(s.var, new, s.value)
        try:
            body = self.stmt(s.body)
        except NeedsLet as e:
            if e.var is not s.var:
                raise
            raise NoVector from None
        finally:
            self.lanes.lets.pop()
        return body if plain else s.replace(var=new, value=value, body=body)

    def allocate(self, s: Allocate) -> Stmt:
        size = s.extents[0]
        views = [n.buffer for n in walk(s.body) if type(n) is DeclBuffer and n.buffer.data is s.buffer_var]
        if any(b.dtype != s.dtype for b in views):
            raise NoVector  # lanes lie side by side, element by element
        self.lanes.names.add(s.buffer_var)
        self.private[s.buffer_var] = self.width
        extents = (mul(size, const_int(self.width, size.dtype)),)
        return s.replace(extents=extents, body=self.stmt(s.body))

    def declare(self, s: DeclBuffer) -> Stmt:
        b = s.buffer
        if b.data not in self.private:
            return s.replace(body=self.stmt(s.body))
        size = b.shape[0]
        new = b.replace(shape=(mul(size, const_int(self.width, size.dtype)),))
        self.expanded[b] = new
        return s.replace(buffer=new, body=self.stmt(s.body))

    def attribute(self, s: AttrStmt) -> Stmt:
        if self.lanes.varies(s.value):
            raise NoVector
        return s.replace(body=self.stmt(s.body))

    def evaluate(self, s: Evaluate) -> Stmt:
        if isinstance(s.value, IntImm):
            return s
        raise NoVector


_HANDLERS: dict[type, Any] = {
    BufferStore: _Widen.store,
    SeqStmt: _Widen.sequence,
    For: _Widen.inner_loop,
    IfThenElse: _Widen.branch,
    LetStmt: _Widen.let,
    Allocate: _Widen.allocate,
    DeclBuffer: _Widen.declare,
    AttrStmt: _Widen.attribute,
    Evaluate: _Widen.evaluate,
}
