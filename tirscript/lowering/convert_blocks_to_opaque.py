"""Block axes are replaced by their values; instances outside an axis domain get a guard."""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import GE, LT, Expr, IntImm, IterVar
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, LetStmt, Stmt
from tirscript.ir.visitor import substitute

from .bounds import Facts
from .fold import add, cast, conjunction, conjuncts, flat, is_exact


def convert_blocks_to_opaque(func: PrimFunc) -> PrimFunc:
    """Every block is without axes after this pass.

    An axis whose value is data is kept as a let around its block, so that it is read once.
    """
    return func.replace(body=_Convert(Facts.of(func)).stmt(func.body))


class _Convert:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def stmt(self, s: Any) -> Any:
        t = type(s)
        if t is For:
            return self.loop(s)
        if t is BlockRealize:
            return self.realize(s)
        if t is IfThenElse:
            return self.branch(s)
        if isinstance(s, Stmt):
            return flat(s.map_children(self.stmt))
        return s

    def loop(self, s: For) -> For:
        self.facts.enter(s)
        body = self.stmt(s.body)
        self.facts.leave(s)
        return s if body is s.body else s.replace(body=body)

    def branch(self, s: IfThenElse) -> IfThenElse:
        old = self.facts.within(conjuncts(s.condition))
        then_case = self.stmt(s.then_case)
        self.facts.holds = old
        else_case = None if s.else_case is None else self.stmt(s.else_case)
        if then_case is s.then_case and else_case is s.else_case:
            return s
        return s.replace(then_case=then_case, else_case=else_case)

    def realize(self, s: BlockRealize) -> Stmt:
        block = s.block
        exact: dict[Any, Expr] = {}
        read: list[tuple[IterVar, Expr]] = []
        for iv, value in zip(block.iter_vars, s.iter_values, strict=True):
            value = cast(value, iv.var.dtype)
            if is_exact(value):
                exact[iv.var] = value
            else:
                read.append((iv, value))
        if exact:
            block = substitute(block.replace(iter_vars=()), exact)
        elif block.iter_vars:
            block = block.replace(iter_vars=())
        predicate = [p for p in conjuncts(substitute(s.predicate, exact)) if not self.facts.proves(p)]
        early, late = predicate, predicate
        if read:
            known = {iv.var for iv, _ in read}
            early = [p for p in predicate if not _mentions(p, known)]
            late = [p for p in predicate if _mentions(p, known)]
        old = self.facts.within(predicate)
        for iv in s.block.iter_vars:
            at = exact.get(iv.var, iv.var)
            for guard in domain_guards(iv, at, exact):
                if not self.facts.proves(guard):
                    late = [*late, guard]
                    self.facts.within([guard])
        self.facts.within(late)
        body = self.stmt(block.body)
        self.facts.holds = old
        if body is not block.body:
            block = block.replace(body=body)
        if not read:
            return BlockRealize((), conjunction(late), block, span=s.span)
        out: Stmt = BlockRealize((), conjunction(late), block, span=s.span)
        for iv, value in reversed(read):
            out = LetStmt(iv.var, value, out, span=s.span)
        return IfThenElse(conjunction(early), out, span=s.span) if early else out


def _mentions(e: Expr, known: set[Any]) -> bool:
    from tirscript.ir.visitor import free_vars

    return not known.isdisjoint(free_vars(e))


def domain_guards(iv: IterVar, value: Expr, axes: dict[Any, Expr]) -> list[Expr]:
    """The conditions under which ``value`` lies in the domain of the axis."""
    if iv.dom is None:
        return []
    low, extent = substitute(iv.dom.min, axes), substitute(iv.dom.extent, axes)
    dtype = value.dtype
    low, extent = cast(low, dtype), cast(extent, dtype)
    if isinstance(value, IntImm) and isinstance(low, IntImm) and isinstance(extent, IntImm):
        if low.value <= value.value < low.value + extent.value:
            return []
    return [GE(value, low), LT(value, add(low, extent))]
