"""Memory is allocated as far inside as it can be, and only as much as is used there."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from tirscript.arith.linear import Linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import BufferLoad, Call, Expr, Let, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.op import is_opaque
from tirscript.ir.stmt import (
    Allocate,
    AttrStmt,
    BufferStore,
    DeclBuffer,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import free_vars, substitute

from .fold import cast, const_of, flat
from .footprint import Covered, Side, Span, hull, loop_span, point
from .serialize_dependent_loops import iterations_apart
from .vectors import vsub


def plan_buffer_allocation(func: PrimFunc) -> PrimFunc:
    """Allocations move to the innermost place around their uses.

    An allocation enters a loop only where no value goes through it from one iteration to the next, and
    where less memory is needed inside, or the loop is parallel and its iterations would share the memory.
    """
    return func.map_children(_visit)


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    if type(n) is Allocate and _declared(n) is not None:
        return _chain(n)
    return flat(n.map_children(_visit))


def _declared(s: Any) -> DeclBuffer | None:
    """The declaration right inside an allocation, of the same memory."""
    body = s.body
    return body if type(body) is DeclBuffer and body.buffer.data is s.buffer_var else None


def _chain(n: Allocate) -> Stmt:
    """Allocations around one statement, each moved into the part that uses it if only one does."""
    chain: list[tuple[Allocate, DeclBuffer]] = []
    s: Any = n
    while type(s) is Allocate:
        declaration = _declared(s)
        if declaration is None:
            break
        chain.append((s, declaration))
        s = declaration.body
    parts: list[Stmt] = list(s.seq) if type(s) is SeqStmt else [s]
    used = [free_vars(p) for p in parts]
    kept: list[tuple[Allocate, DeclBuffer]] = []
    for allocation, declaration in chain:
        users = [i for i, names in enumerate(used) if allocation.buffer_var in names]
        if len(users) == 1:
            moved = _Plan(allocation, declaration, parts[users[0]]).run()
            if moved is not None:
                parts[users[0]] = moved
                continue
        split = _split(allocation, declaration, parts)
        if split is not None:
            parts = split
            continue
        if users or _in_bounds(chain, allocation.buffer_var):
            kept.append((allocation, declaration))
    out: Stmt = flat(seq(*[_visit(p) if type(p) is not Allocate else _below(p) for p in parts]))
    for allocation, declaration in reversed(kept):
        out = allocation.replace(body=declaration.replace(body=out))
    return out


def _split(allocation: Allocate, declaration: DeclBuffer, parts: list[Stmt]) -> list[Stmt] | None:
    """The parts with memory of their own each, where no value goes from one to another and a parallel loop
    in one of them would share it; None where that is not so."""
    old = declaration.buffer
    if not _separate(old, parts):
        return None
    users = [i for i, p in enumerate(parts) if old.data in free_vars(p)]
    out = list(parts)
    for count, i in enumerate(users):
        mine, part = old, parts[i]
        if count:
            mine = old.replace(data=old.data.replace())
            part = substitute(part, {}, {old: mine})
        own = allocation.replace(buffer_var=mine.data)
        moved = _Plan(own, declaration.replace(buffer=mine), part).run()
        assert moved is not None
        out[i] = moved
    return out


def _separate(buffer: Buffer, parts: list[Stmt]) -> bool:
    """Whether several parts, parallel loops among them, use the memory each for itself."""
    users = [p for p in parts if buffer.data in free_vars(p)]
    if len(users) < 2 or not any(_has_parallel(p) for p in users):
        return False
    return not any(_escapes(p, buffer) for p in users) and all(Covered(buffer).check(p) for p in users)


def _has_parallel(s: Stmt) -> bool:
    return any(type(n) is For and n.kind == "parallel" for n in walk(s))


def _escapes(body: Stmt, buffer: Buffer) -> bool:
    """Whether the memory is used other than by loads and stores of the one buffer."""
    data = buffer.data
    n: Any
    for n in walk(body):
        t = type(n)
        if t is Call and is_opaque(n.op):
            if data in free_vars(n):
                return True
        elif t is Var:
            if n is data:
                return True
        elif t is DeclBuffer and n.buffer.data is data:
            return True
        elif (t is BufferLoad or t is BufferStore) and n.buffer.data is data and n.buffer is not buffer:
            return True
    return False


def _in_bounds(chain: list[tuple[Allocate, DeclBuffer]], data: Var) -> bool:
    return any(data in free_vars(e) for a, _ in chain for e in a.extents)


def _below(p: Any) -> Any:
    """What stands inside allocations that have been placed."""
    declaration = _declared(p) if type(p) is Allocate else None
    if declaration is None:
        return _visit(p)
    return p.replace(body=declaration.replace(body=_below(declaration.body)))


@dataclass
class _Step:
    """One statement on the way in; of a sequence all uses lie in part number ``child``."""

    stmt: Any
    child: int = 0


class _Plan:
    """The place of one allocation within the one statement ``root`` that uses it."""

    def __init__(self, allocation: Allocate, declaration: DeclBuffer, root: Stmt) -> None:
        self.allocation = allocation
        self.declaration = declaration
        self.root = root
        self.buffer: Buffer = declaration.buffer
        self.data = allocation.buffer_var

    def run(self) -> Stmt | None:
        """``root`` with the allocation in it; None where it cannot be moved."""
        if _escapes(self.root, self.buffer):
            return None
        steps, places = self._way_in(self.root)
        at, sides = self._best(steps, places)
        return self._rebuild(steps, at, 0, self.root, sides)

    def _uses(self, s: Any) -> bool:
        return self.data in free_vars(s)

    def _way_in(self, body: Stmt) -> tuple[list[_Step], list[Stmt]]:
        """The statements on the way to the innermost possible place, and what stands at each place."""
        steps: list[_Step] = []
        places = [body]
        s: Any = body
        while True:
            t = type(s)
            if t is SeqStmt:
                used = [i for i, x in enumerate(s.seq) if self._uses(x)]
                if len(used) != 1:
                    break
                steps.append(_Step(s, used[0]))
                s = s.seq[used[0]]
            elif t is For:
                if (
                    s.kind == "vectorized"
                    or self._uses(s.min)
                    or self._uses(s.extent)
                    or not self._private(s)
                ):
                    break
                steps.append(_Step(s))
                s = s.body
            elif t is IfThenElse:
                if self._uses(s.condition) or (s.else_case is not None and self._uses(s.else_case)):
                    break
                steps.append(_Step(s))
                s = s.then_case
            elif t is LetStmt or t is AttrStmt or t is Allocate or t is DeclBuffer:
                if any(self._uses(c) for c in s.children() if not isinstance(c, Stmt)):
                    break
                if t is LetStmt and any(s.var in free_vars(e) for e in self.buffer.shape):
                    break
                steps.append(_Step(s))
                s = s.body
            else:
                break
            places.append(s)
        return steps, places

    def _private(self, loop: For) -> bool:
        """Whether no value goes through the memory from one iteration to another."""
        return Covered(self.buffer).check(loop.body) or iterations_apart(loop, self.buffer)

    def _best(self, steps: list[_Step], places: list[Stmt]) -> tuple[int, list[Side] | None]:
        """The place, as a number of steps, and what the buffer is there; None for unchanged."""
        least = 0
        for i, step in enumerate(steps):
            if type(step.stmt) is For and step.stmt.kind == "parallel":
                if not iterations_apart(step.stmt, self.buffer):
                    least = i + 1
        if type(places[-1]) is SeqStmt and _separate(self.buffer, list(places[-1].seq)):
            return len(steps), None
        best: tuple[int, list[Side] | None] = (least, None)
        size = self._size(None)
        for at in range(least, len(places)):
            sides = self._footprint(places[at])
            now = self._size(sides)
            if size is None or now is None:
                continue
            crosses = any(type(s.stmt) is For for s in steps[best[0] : at])
            if now < size or (not crosses and now == size):
                best, size = (at, sides if now < size else best[1]), now
        return best

    def _size(self, sides: list[Side] | None) -> int | None:
        extents = [const_of(n) for n in self.buffer.shape]
        if sides is not None:
            extents = [s.high - s.low + 1 for s in sides]
        return None if None in extents else prod(extents)  # type: ignore[arg-type]

    def _footprint(self, s: Stmt) -> list[Side] | None:
        """The box of all accesses in ``s``, at most the whole buffer; None if it is unknown."""
        if self.buffer.strides or self.buffer.elem_offset is not None or not self.buffer.shape:
            return None
        found: list[Side | None] | None = None
        for indices, spans in _accesses(s, self.buffer):
            box = point(indices)
            sides: list[Side | None] = [None] * len(indices)
            if box is not None:
                sides = hull(box, spans)
            found = sides if found is None else [_join(a, b) for a, b in zip(found, sides, strict=True)]
        if found is None:
            return None
        out = []
        for side, n in zip(found, self.buffer.shape, strict=True):
            extent = const_of(n)
            if extent is None:
                return None
            whole = Side(Linear({}), 0, extent - 1)
            out.append(side if side is not None and side.high - side.low + 1 < extent else whole)
        return out

    def _rebuild(self, steps: list[_Step], at: int, i: int, s: Any, sides: list[Side] | None) -> Stmt:
        if i == at:
            return self._allocate(s, sides)
        step = steps[i]
        inner_place = step.stmt
        if type(inner_place) is SeqStmt:
            at_child = inner_place.seq[step.child]
            inner = self._rebuild(steps, at, i + 1, at_child, sides)
            return seq(*inner_place.seq[: step.child], inner, *inner_place.seq[step.child + 1 :])
        if type(inner_place) is IfThenElse:
            return inner_place.replace(
                then_case=self._rebuild(steps, at, i + 1, inner_place.then_case, sides)
            )
        return inner_place.replace(  # type: ignore[no-any-return]
            body=self._rebuild(steps, at, i + 1, inner_place.body, sides)
        )

    def _allocate(self, s: Stmt, sides: list[Side] | None) -> Stmt:
        old = self.buffer
        if type(s) is SeqStmt:
            split = _split(self.allocation, self.declaration, list(s.seq))
            if split is not None:
                return seq(*split)
        if sides is None:
            return self.allocation.replace(body=self.declaration.replace(body=s))
        shape = tuple([const_int(x.high - x.low + 1, n.dtype) for x, n in zip(sides, old.shape, strict=True)])
        new = old.replace(shape=shape)
        starts = [Linear(x.base.terms, x.low).to_expr(n.dtype) for x, n in zip(sides, old.shape, strict=True)]

        def move(n: Any) -> Any:
            n = n.map_children(move)
            if (type(n) is BufferLoad or type(n) is BufferStore) and n.buffer is old:
                indices = tuple([_minus(i, low) for i, low in zip(n.indices, starts, strict=True)])
                return n.replace(buffer=new, indices=indices)
            return n

        body = self.declaration.replace(buffer=new, body=move(s))
        return self.allocation.replace(extents=shape, body=body)


def _minus(index: Expr, low: Expr) -> Expr:
    return vsub(index, cast(low, index.dtype.partition("x")[0]))


def _join(a: Side | None, b: Side | None) -> Side | None:
    if a is None or b is None or a.base.key() != b.base.key():
        return None
    return Side(a.base, min(a.low, b.low), max(a.high, b.high))


def _accesses(s: Stmt, buffer: Buffer) -> list[tuple[tuple[Expr, ...], dict[Var, Span | None]]]:
    """Every access of the buffer in ``s``, with the variables that are defined around it in ``s``."""
    out: list[tuple[tuple[Expr, ...], dict[Var, Span | None]]] = []

    def visit(n: Any, spans: dict[Var, Span | None]) -> None:
        t = type(n)
        if (t is BufferLoad or t is BufferStore) and n.buffer is buffer:
            out.append((n.indices, spans))
        elif t is For:
            visit(n.min, spans)
            visit(n.extent, spans)
            # A loop that may not run is taken at what it could touch: only constant bounds are known.
            visit(n.body, {n.loop_var: loop_span(n), **spans})
            return
        elif t is LetStmt or t is Let:
            visit(n.value, spans)
            visit(n.body, {n.var: None, **spans})
            return
        for c in n.children():
            visit(c, spans)

    visit(s, {})
    return out
