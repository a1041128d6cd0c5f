"""Buffers matched to regions become accesses of the buffer that they are a region of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import LowerError, Mark, Span
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import EQ, BufferLoad, Expr, Range, StringImm, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import AssertStmt, Block, BlockRealize, BufferStore, DeclBuffer, LetStmt, Stmt, seq
from tirscript.ir.visitor import substitute

from .bounds import Facts
from .flatten_buffer import dense_strides
from .fold import add, cast, const_of, flat, floormod, is_exact, mul, same
from .vectors import vadd, vcast


def lower_match_buffer(func: PrimFunc) -> PrimFunc:
    """No block has ``match_buffer`` after this pass.

    Variables in the view's strides and offset take the values that the region has; what is written as a
    number is checked, now where it is known, else by an assert when the program runs.
    """
    return func.map_children(_Match(Facts.of(func)).visit)


Move = Callable[[tuple[Any, ...]], tuple[Any, ...]]


class _Match:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.by_pointer = False
        self.views: dict[
            Buffer, tuple[Buffer, tuple[Expr, ...]]
        ] = {}  # the buffer, and where the view starts

    def visit(self, n: Any) -> Any:
        if not self.views and not isinstance(n, Stmt):
            return n
        t = type(n)
        if t is BlockRealize and n.block.match_buffers:
            return self.realize(n)
        n = flat(n.map_children(self.visit))
        if t is BufferLoad or t is BufferStore:
            found = self.views.get(n.buffer)
            if found is not None:
                return n.replace(buffer=found[0], indices=_shift(n.indices, found[1]))
        elif t is BufferRegion:
            found = self.views.get(n.buffer)
            if found is not None:
                return _outer_region(n, *found)
        return n

    def realize(self, s: BlockRealize) -> BlockRealize:
        block = s.block
        values: dict[Var, Expr] = {}
        lets: list[tuple[Var, Expr]] = []
        checks: list[Stmt] = []
        # A later match may mention the variables of an earlier one.
        pointers = _pointers(block)
        for m in block.match_buffers:
            source = self.visit(substitute(m.source, values))
            self.by_pointer = m.buffer.data in pointers
            self.match(m, source, values, lets, checks)
        renewed = {m.buffer: m.buffer.replace() for m in block.match_buffers}
        for old, new in renewed.items():
            self.views[new] = self.views[old]
        inner: Block = substitute(block.replace(match_buffers=()), values, renewed)
        inner = inner.map_children(self.visit)
        body = seq(*checks, inner.body)
        for var, value in reversed(lets):
            body = LetStmt(var, value, body, span=block.span)
        return s.replace(block=inner.replace(body=body))

    def match(
        self,
        m: MatchBufferRegion,
        source: BufferRegion,
        values: dict[Var, Expr],
        lets: list[tuple[Var, Expr]],
        checks: list[Stmt],
    ) -> None:
        view, whole = m.buffer, source.buffer
        span = m.span or view.span
        if view.dtype != whole.dtype:
            _fail(
                "match-dtype", f"`{view.name}` is {view.dtype}, the buffer it matches is {whole.dtype}", span
            )
        if view.scope != whole.scope:
            _fail(
                "match-scope",
                f"`{view.name}` is in scope {view.scope}, `{whole.name}` in {whole.scope}",
                span,
            )
        leading = len(source.region) - len(view.shape)
        if leading < 0 or any(const_of(r.extent) != 1 for r in source.region[:leading]):
            _fail(
                "match-rank",
                f"`{view.name}` has {len(view.shape)} dimensions, the region of `{whole.name}` that it "
                f"matches has {len(source.region)}, of which only leading ones of extent 1 may be left out",
                span,
            )
        starts = []
        for d, r in enumerate(source.region):
            low = r.min
            if not is_exact(low):
                # Read once: the block may store to what the region depends on.
                var = Var(f"{view.name}_min{d}", low.dtype)
                lets.append((var, low))
                low = var
            starts.append(low)
        for n, r in zip(view.shape, source.region[leading:], strict=True):
            self.agree(n, r.extent, f"extent of `{view.name}`", values, checks, span)
        strides = dense_strides(whole)
        for have, want, n in zip(view.strides, strides[leading:], view.shape, strict=bool(view.strides)):
            if const_of(n) == 1 and not self.unknown(have, values):
                continue  # no step is made
            self.agree(have, want, f"stride of `{view.name}`", values, checks, span)
        offset = _offset(whole, strides, starts)
        if view.elem_offset is not None:
            self.agree(view.elem_offset, offset, f"elem_offset of `{view.name}`", values, checks, span)
        if view.offset_factor > 1:
            factor = const_int(view.offset_factor, offset.dtype)
            rest = floormod(offset, factor)
            message = f"the offset of `{view.name}` is no multiple of its offset_factor {view.offset_factor}"
            self.check(EQ(rest, const_int(0, rest.dtype)), message, checks, span)
        if view.elem_offset is None and self.by_pointer:
            # Whoever gets the pointer of the view means its first element.
            zero = const_int(0, offset.dtype)
            self.check(
                EQ(offset, zero),
                f"the pointer of `{view.name}` is used, and its region does not start where the buffer does: "
                "give match_buffer an offset_factor, and pass elem_offset or access_ptr",
                checks,
                span,
            )
        values[view.data] = whole.data
        self.views[view] = (whole, tuple(starts))

    def agree(
        self,
        have: Expr,
        want: Expr,
        what: str,
        values: dict[Var, Expr],
        checks: list[Stmt],
        span: Span | None,
    ) -> None:
        """``have``, written in the view, takes the value ``want``, or must have it."""
        if self.unknown(have, values) and have is not want:
            assert isinstance(have, Var)
            values[have] = cast(want, have.dtype)
            return
        have = substitute(have, values)
        wide = want.dtype if have.dtype == "int32" else have.dtype
        have, want = cast(have, wide), cast(want, wide)
        if same(have, want):
            return
        x, y = const_of(have), const_of(want)
        if x is not None and y is not None and x != y:
            _fail("match-shape", f"the {what} is {x}, the region that it matches has {y}", span)
        self.check(EQ(have, want), f"the {what} does not match its region", checks, span)

    def unknown(self, e: Expr, values: dict[Var, Expr]) -> bool:
        """Whether it is a variable that a match gives its value."""
        return isinstance(e, Var) and e not in values and not self.bound(e)

    def bound(self, var: Var) -> bool:
        """Whether the variable has a value already: an extent of a parameter, a loop variable."""
        return var in self.facts.ranges

    def check(self, condition: Expr, message: str, checks: list[Stmt], span: Span | None) -> None:
        if self.facts.proves(condition):
            return
        if self.facts.disproves(condition):
            _fail("match-shape", message, span)
        checks.append(AssertStmt(condition, StringImm(message), span=span))


def _pointers(block: Block) -> set[Var]:
    """The pointers that a block hands to calls, or makes other views of."""
    found: set[Var] = set()
    for n in walk(block):
        if type(n) is Var and n.dtype == "handle":
            found.add(n)
        elif type(n) is DeclBuffer:
            found.add(n.buffer.data)
    return found


def _fail(code: str, message: str, span: Span | None) -> None:
    raise LowerError(message, code=code, marks=[Mark(span)] if span is not None else [])


def _shift(indices: tuple[Expr, ...], starts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    leading = len(starts) - len(indices)
    out = list(starts[:leading])
    for i, low in zip(indices, starts[leading:], strict=True):
        base = dt.info(i.dtype).base
        wide = low.dtype if base == "int32" else base
        out.append(vadd(cast(low, wide), vcast(i, wide)))
    return tuple(out)


def _outer_region(n: BufferRegion, whole: Buffer, starts: tuple[Expr, ...]) -> BufferRegion:
    leading = len(starts) - len(n.region)
    ranges = [Range(low, const_int(1, low.dtype)) for low in starts[:leading]]
    for r, low in zip(n.region, starts[leading:], strict=True):
        ranges.append(Range(add(cast(low, r.min.dtype), r.min), r.extent))
    return n.replace(buffer=whole, region=tuple(ranges))


def _offset(whole: Buffer, strides: tuple[Expr, ...], starts: list[Expr]) -> Expr:
    kinds = {e.dtype for e in (*strides, *starts)}
    if whole.elem_offset is not None:
        kinds.add(whole.elem_offset.dtype)
    base = "int32" if kinds <= {"int32"} else "int64"
    out: Expr = const_int(0, base) if whole.elem_offset is None else cast(whole.elem_offset, base)
    for low, stride in zip(starts, strides, strict=True):
        out = add(out, mul(cast(low, base), cast(stride, base)))
    return out
