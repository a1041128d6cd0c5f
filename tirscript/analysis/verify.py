"""Checks of a function's meaning: loop ranges against axis domains, spatial axes, accesses out of bounds.

What is reported is certain and comes with values for which it happens; what cannot be told is passed over.
"""

from __future__ import annotations

from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.arith.linear import mentions
from tirscript.diagnostics import AxisWarning, LowerError, Mark, deep_recursion
from tirscript.ir.expr import TRUE, Expr, IterVar, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import AttrStmt, Block, BlockRealize, BufferStore, For, IfThenElse, SeqStmt, While

from .axis_cover import check_axes
from .bounds_check import bounds_finding, may_leave, outside
from .declared import undeclared
from .dependence import Witness, instance_conflicts
from .finding import Finding
from .region import Axis

__all__ = ["Finding", "check_bounds", "check_definition"]


def check_definition(func: PrimFunc) -> list[Finding]:
    """What a definition should be warned of.

    AxisWarning where the loops certainly miss instances of a block or leave the domain of an axis, and where
    instances along a spatial axis touch one cell; BoundsWarning for accesses certainly out of bounds, or
    outside of the regions that their block declares.
    """
    with deep_recursion():
        out: list[Finding] = []
        walker = _Walker(out, aliased=frozenset() if _disjoint(func) else frozenset(func.buffer_map.values()))
        walker.statement(func.body, (), False)
        if walker.suspicious or walker.bare:
            out += [bounds_finding(o) for o in outside(func)]
        return out + undeclared(func)


def check_bounds(func: PrimFunc) -> None:
    """Raise LowerError for an access that is certainly out of bounds in some executed iteration."""
    with deep_recursion():
        walker = _Walker([], bounds_only=True)
        walker.statement(func.body, (), False)
        if not (walker.suspicious or walker.bare):
            return
        for o in outside(func):
            f = bounds_finding(o)
            marks = [Mark(f.span)] if f.span is not None else []
            raise LowerError(f.message, code=f.code, marks=marks, notes=f.notes, hint=f.hint)


def _disjoint(func: PrimFunc) -> bool:
    flag = func.attrs.get("tir.noalias", True)
    return bool(getattr(flag, "value", flag))


# ---- a walk over the blocks


class _Walker:
    """Looks at each block once; ``suspicious`` where an access may be out of bounds, ``bare`` where
    statements outside of blocks access buffers."""

    def __init__(
        self, out: list[Finding], *, bounds_only: bool = False, aliased: frozenset[Any] = frozenset()
    ) -> None:
        self.out = out
        self.bounds_only = bounds_only
        self.aliased = aliased
        self.suspicious = False
        self.bare = False

    def statement(self, s: Any, axes: tuple[Axis, ...], guarded: bool) -> None:
        t = type(s)
        if t is For:
            self.statement(s.body, (*axes, Axis(s.loop_var, s.min, s.extent, s)), guarded)
        elif t is SeqStmt:
            for child in s.seq:
                self.statement(child, axes, guarded)
        elif t is BlockRealize:
            self.realize(s, axes, guarded)
        elif t is IfThenElse:
            self.statement(s.then_case, axes, True)
            if s.else_case is not None:
                self.statement(s.else_case, axes, True)
            self.bare = self.bare or not is_exact(s.condition)
        elif t is While:
            self.bare = True
            self.statement(s.body, axes, True)
        elif t is AttrStmt and s.key == "thread_extent" and isinstance(s.node, IterVar):
            axis = Axis(s.node.var, const_int(0, s.node.var.dtype), s.value)
            self.statement(s.body, (*axes, axis), guarded)
        elif hasattr(s, "body"):
            self.bare = self.bare or any(not is_exact(c) for c in s.children() if isinstance(c, Expr))
            self.statement(s.body, axes, guarded)
        else:
            self.bare = True

    def realize(self, s: BlockRealize, axes: tuple[Axis, ...], guarded: bool) -> None:
        block = s.block
        if block.iter_vars:
            if not self.bounds_only:
                if not guarded and s.predicate is TRUE:
                    check_axes(s, axes, self.out)
                self.conflicts(block)
            if not self.suspicious:
                self.suspicious = may_leave(block, axes)
        inner = tuple(
            [Axis(iv.var, iv.dom.min, iv.dom.extent) for iv in block.iter_vars if iv.dom is not None]
        )
        if block.iter_vars and not _has_blocks(block):
            return
        before = self.bare
        if block.init is not None and not block.iter_vars:
            self.bare = True
        self.statement(block.body, (*axes, *inner), guarded or s.predicate is not TRUE)
        if block.iter_vars:
            self.bare = before  # what stands in the block has been looked at

    def conflicts(self, block: Block) -> None:
        found = instance_conflicts(block, self.aliased)
        if not isinstance(found, Witness) or not found.certain:
            return
        if found.buffer.scope != "global":
            return  # each thread, or block of threads, may have its own
        if found.parameters and any(
            mentions(i, found.parameters) for a in found.accesses for i in a.indices or ()
        ):
            return  # it takes special values, not only large extents
        spatial = [iv for iv in block.iter_vars if iv.kind == "spatial"]
        axis = next((iv for iv in spatial if found.first.get(iv.var) != found.second.get(iv.var)), spatial[0])
        self.out.append(
            Finding(
                AxisWarning,
                "spatial-conflict",
                f'instances of block "{block.name}" along the spatial axis `{axis.var.name}` '
                "touch the same cell",
                block,
                axis.span or block.span,
                (found.text,),
                "if the order matters or cells are accumulated, make it T.axis.reduce or T.axis.scan",
                {**found.first},
            )
        )


def _has_blocks(block: Block) -> bool:
    stack: list[Any] = [block.body]
    while stack:
        s = stack.pop()
        t = type(s)
        if t is BlockRealize:
            return True
        if t is BufferStore:
            continue
        stack += [c for c in s.children() if not isinstance(c, Expr)]
    return False
