"""Keep what the last iteration computed: a block under a loop of its consumers computes only what is new, and
its buffer holds a window that rolls over what is needed.

For each dimension of the buffer whose index moves with a loop around block and consumers, by less than the
block computes in one iteration, the block skips what the iteration before computed (but for the first one).
The dimension that moves with the outermost such loop is folded: its index is taken modulo the window.  Axes
that move with that loop become opaque: their order matters now.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``); ``write_buffer_index`` names a buffer that it writes
    (``bad-buffer-index``, ``no-such-buffer``), which a block around allocates (``not-allocated``)
  * the block stores it at axes of its own (``index-no-axis``), and they are bound to
    ``loop * step + own loop``, for at least one of them the own loop being longer than the step, as
    compute_at leaves it (``no-rolling-loop``)
  * it has the same value each time that it runs (``not-recomputable``), conditions that say no more than its
    axes (``guarded-block``), and nothing under the rolling loops writes what it reads (``inputs-change``)
  * the rolling loops run in order (``loop-not-serial``)
  * only the block writes the buffer, and all other uses are loads of single elements (``used-otherwise``),
    behind the block under the same loop, of what it computes in that iteration (``outside-window``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.script import tir as T
>>> @T.prim_func
... def f(A: T.Buffer((10,), "int32"), C: T.Buffer((8,), "int32")):
...     B = T.alloc_buffer((10,), "int32")
...     for i in range(10):
...         with T.block("B"):
...             vi = T.axis.spatial(10, i)
...             B[vi] = A[vi] * 2
...     for i in range(8):
...         with T.block("C"):
...             vi = T.axis.spatial(8, i)
...             C[vi] = B[vi] + B[vi + 2]
>>> sch = Schedule(f, debug_mask="all")
>>> sch.compute_at("B", sch.get_loops("C")[0])
>>> sch.rolling_buffer("B", 0)
>>> block = sch.get(sch.get_block("B"))
>>> print(block.body)
B[vi % 3] = A[vi] * 2

Source: TVM's ``rolling_buffer``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tirscript.analysis.access import accesses, accesses_of, conjuncts
from tirscript.analysis.region import nonnegative
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.expr import (
    LE,
    LT,
    TRUE,
    And,
    BufferLoad,
    Expr,
    FloatImm,
    FloorMod,
    IntImm,
    IterVar,
    Or,
    Var,
    const_int,
)
from tirscript.ir.node import map_tuple
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
    SeqStmt,
)
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal, describe
from ..legality.binding import Binding, GuardedBlock
from ..legality.footprint import touched
from ..legality.motion import NotRecomputable, nature_of
from ..legality.moves import with_regions
from ..legality.regions import Prover, cells_needed
from ..record.trace import InstructionKind
from ..refs import StmtSRef, block_token
from ..resolve import block_place
from ..rewrite.buffers import allocation_of, other_views, refuse_root, region_of
from ..rewrite.nesting import around
from ..state import ScheduleState


class IndexNoAxis(Refusal):
    code = "index-no-axis"
    template = "{buffer} cannot roll: block {block} does not store it at axes of its own"


class NoRollingLoop(Refusal):
    code = "no-rolling-loop"
    template = (
        "{buffer} cannot roll: what block {block} computes does not overlap between iterations of a loop "
        "around it and its consumers"
    )
    hint_template = "compute_at the block under a loop of a consumer that reads a sliding window first"


class InputsChange(Refusal):
    code = "inputs-change"
    template = "{buffer} cannot roll: {other} writes what block {block} reads, under the loop `{loop}`"


class LoopNotSerial(Refusal):
    code = "loop-not-serial"
    template = "{buffer} cannot roll: loop `{loop}` is {kind}, but its iterations would have to run in order"


class RollsUsedOtherwise(Refusal):
    code = "used-otherwise"
    template = "{buffer} cannot roll: {other} uses it otherwise than by loading single elements"


class OutsideWindow(Refusal):
    code = "outside-window"
    template = (
        "{buffer} cannot roll: {other} is not known to read only what block {block} computes before it in "
        "the same iteration"
    )


class Rolling(NamedTuple):
    """A dimension that moves by ``step`` with ``loop`` and has ``extent`` values, of which ``overlap`` are
    known from the iteration before; ``own`` is the block's loop over them."""

    dim: int
    axis: IterVar
    loop: For
    depth: int
    own: For
    step: int
    extent: int

    @property
    def overlap(self) -> int:
        return self.extent - self.step


class Plan:
    """The buffer, where it is allocated, the dimensions that roll, and which one is folded."""

    __slots__ = ("buffer", "fold", "home", "place", "rolls")

    def __init__(
        self, place: StmtSRef, home: StmtSRef, buffer: Buffer, rolls: list[Rolling], fold: Rolling
    ) -> None:
        self.place = place
        self.home = home
        self.buffer = buffer
        self.rolls = rolls
        self.fold = fold


def check(state: ScheduleState, block: Any, write_buffer_index: Any) -> Plan:
    """Which dimensions roll, if the buffer may."""
    place = block_place(state, block, "block", "rolling_buffer")
    refuse_root(place)
    number = region_of(place, write_buffer_index, "write_buffer_index", "rolling_buffer", reads=False)
    realize: BlockRealize = place.node
    b = realize.block
    buffer = b.writes[number].buffer
    home = allocation_of(place, buffer)
    at: list[tuple[Any, str | None]] = [(place, None)]
    fields: dict[str, Any] = {"buffer": buffer, "block": realize}
    own, outer, body = _loops(place, home)
    axes = _axes(b, buffer)
    if axes is None:
        raise IndexNoAxis(place.home, at=at, **fields)
    values = dict(zip([iv.var for iv in b.iter_vars], realize.iter_values, strict=True))
    rolls = _rolls(axes, values, own, outer)
    if not rolls or body is None:
        raise NoRollingLoop(place.home, at=at, **fields)
    fold = min(rolls, key=lambda r: r.depth)
    _check_users(place, home, buffer)
    if state.enable_check:
        _check_values(place, realize, rolls, fold, values, outer, buffer)
        _check_window(place, body, buffer, axes, values, own)
    return Plan(place, home, buffer, rolls, fold)


def _loops(place: StmtSRef, home: StmtSRef) -> tuple[list[For], list[StmtSRef], StmtSRef | None]:
    """The block's own loops; the loops around it and its siblings, outermost first; and the sequence that
    they stand in."""
    own: list[For] = []
    outer: list[StmtSRef] = []
    body: StmtSRef | None = None
    p = place.parent
    while p is not None and p is not home and type(p.node) is not BlockRealize:
        if type(p.node) is SeqStmt and body is None:
            body = p
        elif type(p.node) is For:
            if body is None:
                own.append(p.node)
            else:
                outer.append(p)
        p = p.parent
    if p is not home:
        body = None
    outer.reverse()
    return own, outer, body


def _axes(b: Block, buffer: Buffer) -> list[IterVar] | None:
    """For each dimension the axis that is its index in all accesses of the block."""
    table = {iv.var: iv for iv in b.iter_vars}
    indices: tuple[Any, ...] | None = None
    for a in accesses(b):
        if a.buffer.data is not buffer.data:
            continue
        if a.buffer is not buffer or a.indices is None or (indices is not None and a.indices != indices):
            return None
        indices = a.indices
    if indices is None or len(set(indices)) != len(indices):
        return None
    out = [table.get(i) for i in indices]
    return (
        None if any(iv is None or iv.kind == "reduce" for iv in out) else [iv for iv in out if iv is not None]
    )


def _rolls(
    axes: list[IterVar], values: dict[Var, Expr], own: list[For], outer: list[StmtSRef]
) -> list[Rolling]:
    mine = {f.loop_var: f for f in own}
    depth = {p.node.loop_var: n for n, p in enumerate(outer)}
    used: list[Var] = []
    found: list[Rolling] = []
    for lin in [to_linear(e) for e in values.values()]:
        if lin is None:
            return []
        used += [a for a in lin.terms if isinstance(a, Var) and a in depth]
    for dim, iv in enumerate(axes):
        lin = to_linear(values[iv.var])
        assert lin is not None
        inner = [a for a in lin.terms if isinstance(a, Var) and a in mine]
        moving = [a for a in lin.terms if isinstance(a, Var) and a in depth]
        if len(inner) != 1 or lin.terms[inner[0]] != 1 or not moving:
            continue
        f = mine[inner[0]]
        v = max(moving, key=lambda a: depth[a])
        step = lin.terms[v]
        plain = type(f.extent) is IntImm and type(f.min) is IntImm and f.min.value == 0 and f.step is None
        if not plain or step <= 0 or used.count(v) != 1:
            continue
        loop: For = outer[depth[v]].node
        extent = f.extent.value  # type: ignore[attr-defined]
        if extent > step and loop.step is None:
            found.append(Rolling(dim, iv, loop, depth[v], f, step, extent))
    return found


def _check_users(place: StmtSRef, home: StmtSRef, buffer: Buffer) -> None:
    block: Block = home.node.block
    for a in accesses_of(block):
        if a.buffer.data is not buffer.data:
            continue
        mine = bool(a.realizes) and a.realizes[-1] is place.node
        plain = a.buffer is buffer and a.indices is not None and type(a.node) in (BufferLoad, BufferStore)
        if not plain or (a.is_write and not mine) or (a.is_write and a.node.predicate is not None):
            raise RollsUsedOtherwise(
                place.home, at=[(place, None)], buffer=buffer,
                other=describe(a.realizes[-1]) if a.realizes else describe(a.stmt),
            )  # fmt: skip
    if other_views(block, buffer):
        raise RollsUsedOtherwise(place.home, at=[(place, None)], buffer=buffer, other="a view")


def _check_values(
    place: StmtSRef,
    realize: BlockRealize,
    rolls: list[Rolling],
    fold: Rolling,
    values: dict[Var, Expr],
    outer: list[StmtSRef],
    buffer: Buffer,
) -> None:
    """What is not computed again would come out the same."""
    b = realize.block
    at: list[tuple[Any, str | None]] = [(place, None)]
    for p in outer[fold.depth :]:
        f: For = p.node
        if f.kind not in ("serial", "unrolled"):
            kind = f"bound to {f.thread}" if f.thread else f.kind
            raise LoopNotSerial(place.home, at=[*at, (f, "")], buffer=buffer, loop=f, kind=kind)
    moving = {r.loop.loop_var for r in rolls} | {r.own.loop_var for r in rolls}
    own = [(iv, values[iv.var]) for iv in b.iter_vars]
    nature = nature_of(b, Binding({}, own, [], True))
    reduced = {iv.var for iv in b.iter_vars if iv.kind == "reduce"}
    for v in reduced:
        lin = to_linear(values[v])
        if lin is None or any(p.node.loop_var in lin.terms for p in outer):
            nature = nature._replace(repeatable=False, why=f"axis `{v.name}` is reduced outside")
    if not nature.repeatable:
        raise NotRecomputable(place.home, at=at, block=realize, what=nature.why)
    for c in conjuncts(realize.predicate) if realize.predicate is not TRUE else ():
        if not _about_an_axis(c, values, moving):
            raise GuardedBlock(place.home, at=at, block=realize, condition=c)
    reads, _ = touched(realize)
    stack: list[Any] = [fold.loop.body]
    while stack:
        s = stack.pop()
        if type(s) is SeqStmt:
            stack += s.seq
        elif not reads.isdisjoint(touched(s)[1] - {buffer.data}):
            raise InputsChange(
                place.home, at=[*at, (s, "")], buffer=buffer, block=realize, other=describe(s), loop=fold.loop
            )


def _about_an_axis(c: Expr, values: dict[Var, Expr], moving: set[Var]) -> bool:
    """Whether a condition bounds one axis (and so says the same of an instance in every iteration)."""
    forms = nonnegative(c)
    if len(forms) != 1:
        return False
    form = forms[0]
    for value in values.values():
        lin = to_linear(value)
        if lin is None or not lin.terms:
            continue
        atom = next(iter(lin.terms))
        k, times = lin.terms[atom], form.terms.get(atom, 0)
        if times and times % k == 0 and not form.plus(lin, -(times // k)).mentions(moving):
            return True
    return not form.mentions(moving)


def _check_window(
    place: StmtSRef,
    body: StmtSRef,
    buffer: Buffer,
    axes: list[IterVar],
    values: dict[Var, Expr],
    own: list[For],
) -> None:
    """Whoever reads the buffer does so behind the block, and within what it computes in the iteration."""
    realize: BlockRealize = place.node
    scope = allocation_of(place, buffer)
    mine = place
    while mine.parent is not body:
        assert mine.parent is not None
        mine = mine.parent
    behind = body.node.seq[mine.seq_index + 1 :]
    inside = {id(a.node) for s in behind for a in accesses_of(s) if a.buffer is buffer}
    fields: dict[str, Any] = {"buffer": buffer, "block": realize}
    for a in accesses_of(scope.node.block):
        if a.buffer is buffer and id(a.node) not in inside and not (a.realizes and a.realizes[-1] is realize):
            other = describe(a.realizes[-1]) if a.realizes else describe(a.stmt)
            raise OutsideWindow(place.home, at=[(place, None)], other=other, **fields)
    prover = Prover(around(body), place.home.func)
    table = {f.loop_var: f for f in own}
    for s in behind:
        found = [a for a in accesses_of(s) if a.buffer is buffer]
        box = cells_needed(found, 0, lambda b: ()).get(buffer)
        if box is None:
            continue
        for iv, d in zip(axes, box, strict=True):
            lin = to_linear(values[iv.var])
            assert lin is not None
            low = high = lin
            for v, f in table.items():
                k = lin.terms.get(v, 0)
                first, size = to_linear(f.min), to_linear(f.extent)
                if k and first is not None and size is not None:
                    me = Linear({v: 1})
                    low = low.plus(me, -k).plus(first, k)
                    high = high.plus(me, -k).plus((first + size).shift(-1), k)
            start, end = d.ends()
            fits = start is not None and end is not None
            if d.whole or not fits or not prover.proves(start - low) or not prover.proves(high - end):  # type: ignore[operator]
                whole = _runs_over_all(iv, lin, low, high, buffer, axes, prover)
                if not whole:
                    raise OutsideWindow(place.home, at=[(place, None), (s, "")], other=describe(s), **fields)


def _runs_over_all(
    iv: IterVar, lin: Linear, low: Linear, high: Linear, buffer: Buffer, axes: list[IterVar], prover: Prover
) -> bool:
    """Whether the block computes the whole dimension in every iteration."""
    n = next(n for n, x in enumerate(axes) if x is iv)
    size = to_linear(buffer.shape[n])
    return size is not None and prover.proves(low.scale(-1)) and prover.proves((high - size).shift(1))


_LEAVES = frozenset({Var, IntImm, FloatImm})
_DECLARES = frozenset({DeclBuffer, BufferRealize, AttrStmt, Allocate, AllocateConst, MatchBufferRegion})


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Fold the buffer, skip what is known, and make the axes that move opaque."""
    old, fold = plan.buffer, plan.fold
    size = const_int(fold.extent, old.shape[fold.dim].dtype)
    new = old.replace(
        shape=(*old.shape[: fold.dim], size, *old.shape[fold.dim + 1 :]), strides=(), axis_separators=()
    )
    token = block_token(plan.home.node.block.label)
    label = block_token(plan.place.node.block.label)
    rolling = fold.loop.loop_var

    def folded(indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        i = indices[fold.dim]
        return (*indices[: fold.dim], FloorMod(i, const_int(fold.extent, i.dtype)), *indices[fold.dim + 1 :])

    rest: list[Any] = []  # what may use the buffer otherwise than in loads and stores

    def f(n: Any) -> Any:
        t = type(n)
        if t in _LEAVES:
            return n
        if t is BlockRealize:
            return _realize(n, f(n.block))
        if t is For or t is Block:
            if old.data not in free_vars(n):
                return n
            if t is Block and not n.match_buffers and not n.annotations:
                body = f(n.body)
                init = None if n.init is None else f(n.init)
                if body is n.body and init is n.init:
                    rest.append(n)
                    return n
                axes = map_tuple(f, n.iter_vars)
                return Block(
                    n.label, axes, n.reads, n.writes, body, init, n.alloc_buffers, (), n.annotations, n.span
                )
            if t is Block or n.annotations:
                rest.append(n)
        elif t is IterVar:
            dom = n.dom
            if dom is None or (type(dom.min) is IntImm and type(dom.extent) is IntImm):
                return n
        elif t in _DECLARES:
            rest.append(n)
        n = n.map_children(f)
        if t is BufferLoad and n.buffer is old:
            return BufferLoad(new, folded(n.indices), n.predicate, n.span)
        if t is BufferStore and n.buffer is old:
            return BufferStore(new, n.value, folded(n.indices), n.predicate, n.span)
        return n

    def _realize(s: BlockRealize, block: Block) -> BlockRealize:
        if block is not s.block:
            block = with_regions(block)
        kinds = []
        for iv, value in zip(block.iter_vars, s.iter_values, strict=True):
            lin = to_linear(value)
            moves = lin is not None and rolling in lin.terms and iv.kind == "spatial"
            kinds.append(iv.replace(kind="opaque") if moves and block is not s.block else iv)
        if any(a is not b for a, b in zip(kinds, block.iter_vars, strict=True)):
            block = block.replace(iter_vars=tuple(kinds))
        predicate = s.predicate
        if block_token(block.label) is label:
            for r in plan.rolls:
                c = _new_only(r)
                predicate = c if predicate is TRUE else And(predicate, c)
        return BlockRealize(s.iter_values, predicate, block, s.span)

    s: BlockRealize = plan.home.node
    block = s.block
    allocated = tuple([new if b is old else b for b in block.alloc_buffers])
    body = f(block.body)
    if rest or block.annotations or any(r.buffer is old for r in (*block.reads, *block.writes)):
        # The pointer stays, the buffer is another one.
        block = substitute(block.replace(body=body), {}, {old: new}).replace(alloc_buffers=allocated)
    else:
        block = block.replace(body=body, alloc_buffers=allocated)
    assert token is block_token(block.label)
    state.replace(plan.home, BlockRealize(s.iter_values, s.predicate, block, s.span))


def _new_only(r: Rolling) -> Expr:
    """``loop < first + 1 or overlap <= own``"""
    v = r.loop.loop_var
    if type(r.loop.min) is IntImm:
        first: Expr = LT(v, const_int(r.loop.min.value + 1, v.dtype))
    else:
        first = LE(v, r.loop.min)
    return Or(first, LE(const_int(r.overlap, r.own.loop_var.dtype), r.own.loop_var))


KIND = InstructionKind(
    "RollingBuffer", "rolling_buffer", ("block", "write_buffer_index"), check, rewrite, attrs=1
)
