"""Factor a reduction over a loop: partial results for each of its iterations, then their combination.

The block ``X_rf`` computes the partial results in a nest of its own, in front of the block's loops: what was
a reduction axis for ``loop`` is a spatial axis there.  They are kept in a buffer ``<buffer>_rf`` with one
more dimension, at ``factor_axis``.  The given block combines them, over ``loop`` and the loops bound to
spatial axes; the other reduction loops are gone from its nest.  Integer results are the same bit for bit;
floating-point sums and products are associated in another order.

Reducers are sum, product, min, max, and, or, the bitwise ones, tuples of them, whatever compares and chooses
(argmin, argmax) and those of ``register_reducer``; they may be written with lets, ``T.Select``, ``if`` or one
store after another.  Partial results start from the reducer's identity (or from the init, where combining
that again changes nothing), the final ones from the block's own init.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``); below it stand
    only loops and one block (``not-one-block``)
  * it is bound to reduction axes and to no other (``not-reduction-loop``, ``mixed-loop``), serial or unrolled
    and bound to no thread (``not-serial``)
  * the block has an init (``no-init``), shows what it does (``opaque-block``), and updates one cell of each
    buffer that it writes, told by spatial axes alone (``cell-uses-reduction-axis``), with a known reducer
    (``unknown-reducer``)
  * a reducer that does not commute keeps its order: ``loop`` is the outermost of the reduction loops
    (``not-commutative``); an identity is known where the init cannot be combined again (``no-identity``)
  * all reduction loops stand in one nest with nothing else between them and the block
    (``reduction-loop-outside``); none of its loops is bound to both kinds of axes (``mixed-loop``), and its
    spatial loops neither depend on the other reduction loops (``dependent-extent``) nor repeat an instance
    (``repeated-instance``)
  * instances with different spatial axes update different cells (``shared-cell``), and nothing that the block
    reads may be the memory of what it updates (``aliased-read``)
  * the extent of the loop is known, or bounded, in front of the nest (``dependent-extent``)
  * which spatial instances there are can be said without the other reduction loops (``unclear-condition``)
  * ``factor_axis`` is an integer from ``-ndim - 1`` to ``ndim`` (``bad-factor-axis``,
    ``factor-axis-out-of-range``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.rfactor(k, 0)
BlockRV('Y_rf')
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):
for k in range(16):
for i in range(16):
for j in range(16):

Source: TVM's ``rfactor``.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from tirscript.analysis.access import accesses, uses_declared
from tirscript.analysis.dependence import Witness, instance_conflicts
from tirscript.analysis.reducer import Reduction, reductions_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, BufferLoad, Expr, FloatImm, IntImm, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import BlockRealize, BufferStore, For, SeqStmt
from tirscript.ir.visitor import free_vars, walk

from ..errors import BadArgument, BadValue, Refusal, a_kind, describe
from ..legality.apart import axes_apart
from ..legality.init_motion import repeating_loop
from ..legality.outer_reduction import goes_on
from ..legality.surroundings import aliased_params
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..resolve import integer, loop_place
from ..rewrite.factor_guards import find_guards
from ..rewrite.factoring import Factoring, upper_bound, write
from ..state import ScheduleState


class NotOneBlock(Refusal):
    code = "not-one-block"
    template = "loop `{loop}` cannot be factored: it contains {what}, not one block in loops"


class NoInit(Refusal):
    code = "no-init"
    template = "loop `{loop}` cannot be factored: block {block} has no init"
    hint_template = "factor before decompose_reduction; only a block with `with T.init():` is a reduction"


class NotReductionLoop(Refusal):
    code = "not-reduction-loop"
    template = "loop `{loop}` cannot be factored: {how} of block {block}"
    hint_template = "take a loop that is bound to reduction axes: {good}"


class MixedLoop(Refusal):
    code = "mixed-loop"
    template = (
        "loop `{loop}` cannot be factored: block {block} binds loop `{mixed}` to a spatial and to a "
        "reduction axis"
    )
    hint_template = "factor before loops of both kinds are fused"


class NotSerial(Refusal):
    code = "not-serial"
    template = "loop `{loop}` cannot be factored: it is {kind}"
    hint_template = "factor first, then give the loops their kinds"


class OpaqueBlock(Refusal):
    code = "opaque-block"
    template = "loop `{loop}` cannot be factored: block {block} {what}"


class UnknownReducer(Refusal):
    code = "unknown-reducer"
    template = "loop `{loop}` cannot be factored: block {block} is no reduction by a known reducer"
    hint_template = (
        "the body must combine one cell of each buffer with new values: sum, product, min, max, and, or, "
        "bitwise, argmin, argmax, or a reducer of register_reducer"
    )


class CellUsesReductionAxis(Refusal):
    code = "cell-uses-reduction-axis"
    template = (
        "loop `{loop}` cannot be factored: the cell of {buffer} that block {block} updates depends on {axis}"
    )


class NotCommutative(Refusal):
    code = "not-commutative"
    template = (
        "loop `{loop}` cannot be factored: the reducer of block {block} does not commute, and `{outer}` "
        "outside it runs over the reduction too"
    )
    hint_template = (
        "let ties be decided by the values (of equal ones the smaller index), factor `{outer}`, or "
        "register_reducer says that any of equal results will do"
    )


class NoIdentity(Refusal):
    code = "no-identity"
    template = (
        "loop `{loop}` cannot be factored: the reducer of block {block} has no known identity, and its init "
        "cannot be combined twice"
    )


class ReductionLoopOutside(Refusal):
    code = "reduction-loop-outside"
    template = (
        "loop `{loop}` cannot be factored: the reduction loop `{outer}` outside it contains {what}, not only "
        "the loops of block {block}"
    )


class RepeatedInstance(Refusal):
    code = "repeated-instance"
    template = (
        "loop `{loop}` cannot be factored: iterations of `{outer}` repeat the same spatial instance of block "
        "{block}"
    )


class SharedCell(Refusal):
    code = "shared-cell"
    template = (
        "loop `{loop}` cannot be factored: instances of block {block} with different spatial axes may share "
        "a cell"
    )


class AliasedRead(Refusal):
    code = "aliased-read"
    template = (
        "loop `{loop}` cannot be factored: {buffer}, which block {block} reads, may be the memory of what it "
        "updates"
    )


class DependentExtent(Refusal):
    code = "dependent-extent"
    template = "loop `{loop}` cannot be factored: the extent of `{inner}` depends on `{outer}`"


class UnclearCondition(Refusal):
    code = "unclear-condition"
    template = (
        "loop `{loop}` cannot be factored: {condition} decides which instances of block {block} there are, "
        "and what it says without the other reduction loops is not known"
    )


class BadFactorAxis(BadArgument):
    code = "bad-factor-axis"
    template = "`factor_axis` of rfactor must be an integer, {given} was given"


class FactorAxisOutOfRange(BadValue):
    code = "factor-axis-out-of-range"
    template = (
        "`factor_axis` of rfactor is {axis}; for {buffer}, which has {ndim} dimensions, it must lie between "
        "{low} and {ndim}"
    )


def check(state: ScheduleState, loop: Any, factor_axis: Any) -> Factoring:
    """What is factored, if the loop can be."""
    place = loop_place(state, loop, "loop", "rfactor")
    s: For = place.node
    axis = integer(factor_axis)
    if axis is None:
        raise BadFactorAxis(place.home, at=[(s, None)], given=a_kind(factor_axis))
    realize, chain, top = _nest(place)
    b = realize.block
    at: list[tuple[Any, str | None]] = [(s, None), (realize, "")]
    if b.init is None:
        raise NoInit(place.home, at=at, loop=s, block=realize)
    bound = _check_kinds(place, realize, chain)
    reduce = bound.reduce
    if s.thread or s.kind not in ("serial", "unrolled"):
        raise NotSerial(
            place.home, at=[(s, None)], loop=s, kind=f"bound to {s.thread}" if s.thread else s.kind
        )
    if uses_declared(b) or b.match_buffers:
        what = "matches buffers" if b.match_buffers else "is opaque"
        raise OpaqueBlock(place.home, at=at, loop=s, block=realize, what=what)
    _check_outside(place, realize, top)
    found = None
    for iv in b.iter_vars:
        if iv.kind != "spatial" and iv.kind != "reduce":
            break
    else:
        found = reductions_of(b)
    if found is None:
        raise UnknownReducer(place.home, at=at, loop=s, block=realize)
    _check_cells(place, realize, found)
    dropped = [f for f in chain if f.loop_var in reduce and f is not s]
    starts = _starts(state, place, realize, found, chain, dropped)
    buffers = [x for r in found for x in r.buffers]
    for x in buffers:
        if not -x.ndim - 1 <= axis <= x.ndim:
            raise FactorAxisOutOfRange(
                place.home, at=[(s, None)], axis=str(axis), buffer=x, ndim=str(x.ndim), low=str(-x.ndim - 1)
            )
    _check_extents(place, chain, dropped)
    size = upper_bound(top, place)
    if size is None:
        names = [f.loop_var.name for f in _loops_of(top, chain) if f.loop_var in free_vars(s.extent)]
        outer = names[0] if names else "a variable around it"
        raise DependentExtent(place.home, at=[(s, None)], loop=s, inner=s, outer=outer)
    if state.enable_check:
        _check_instances(place, realize, chain, bound)
        _check_memory(place, realize, buffers, bound)
    plan = Factoring(place, top, realize, chain, dropped, found, starts, axis, size, bound.uses)
    unclear = find_guards(plan)
    if unclear is not None:
        raise UnclearCondition(place.home, at=at, loop=s, block=realize, condition=unclear)
    return plan


def _nest(place: StmtSRef) -> tuple[BlockRealize, list[For], StmtSRef]:
    """The block below the loop, the loops that hold nothing else around it (outermost first), and the
    place of the outermost."""
    inner: Any = place.node.body
    below: list[For] = []
    while type(inner) is For:
        below.append(inner)
        inner = inner.body
    if type(inner) is not BlockRealize:
        raise NotOneBlock(place.home, at=[(place.node, None)], loop=place.node, what=describe(inner))
    chain = [place.node]
    top = place
    p = place.parent
    while p is not None and type(p.node) is For:
        chain.append(p.node)
        top, p = p, p.parent
    chain.reverse()
    return inner, chain + below, top


class _Bound:
    """The variables that the axes of a block are bound to: those of reduction axes, those that are all that
    another axis is bound to, and those of each axis."""

    __slots__ = ("bare", "reduce", "uses")

    def __init__(self) -> None:
        self.reduce: set[Var] = set()
        self.bare: set[Var] = set()
        self.uses: list[Set[Var]] = []


def _check_kinds(place: StmtSRef, realize: BlockRealize, chain: list[For]) -> _Bound:
    """The variables that axes are bound to; no loop of the nest may drive both kinds."""
    out = _Bound()
    spatial: set[Var] = set()
    reduce, bare, uses = out.reduce, out.bare, out.uses
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        into = reduce if iv.kind == "reduce" else spatial
        if type(value) is Var:
            into.add(value)
            uses.append({value})
            if into is spatial:
                bare.add(value)
        else:
            used = free_vars(value)
            into |= used
            uses.append(used)
    s = place.node
    v = s.loop_var
    if v not in reduce:
        good = [f"`{f.loop_var.name}`" for f in chain if f.loop_var in reduce and f.loop_var not in spatial]
        how = "it is bound to no axis" if v not in spatial else "it is bound to a spatial axis"
        raise NotReductionLoop(
            place.home, at=[(s, None), (realize, "")], loop=s, block=realize, how=how,
            good=", ".join(good) or "there is none",
        )  # fmt: skip
    if not reduce.isdisjoint(spatial):
        for f in [s, *chain]:
            if f.loop_var in reduce and f.loop_var in spatial:
                raise MixedLoop(place.home, at=[(s, None), (f, "")], loop=s, block=realize, mixed=f)
    return out


def _check_outside(place: StmtSRef, realize: BlockRealize, top: StmtSRef) -> None:
    """No reduction loop stands outside the nest."""
    found = goes_on(realize, top, unit=True)
    if found is not None:
        f, _ = found
        raise ReductionLoopOutside(
            place.home, at=[(place.node, None), (f, "outside")], loop=place.node, outer=f,
            block=realize, what=describe(f.body),
        )  # fmt: skip


def _check_cells(place: StmtSRef, realize: BlockRealize, found: tuple[Reduction, ...]) -> None:
    """Cells are told by spatial axes alone; memoised on the block."""
    memo = memo_of(realize.block)
    if "spatial_cells" in memo:
        return
    axes: dict[Var, Any] = {}
    for iv in realize.block.iter_vars:
        if iv.kind != "spatial":
            axes[iv.var] = iv
    for r in found:
        for buffer, indices in zip(r.buffers, r.indices, strict=True):
            for i in indices:
                for v in (i,) if type(i) is Var else free_vars(i):
                    if v in axes:
                        raise CellUsesReductionAxis(
                            place.home, at=[(place.node, None), (axes[v], "")], loop=place.node,
                            block=realize, buffer=buffer, axis=axes[v],
                        )  # fmt: skip
    memo["spatial_cells"] = True


def _starts(
    state: ScheduleState,
    place: StmtSRef,
    realize: BlockRealize,
    found: tuple[Reduction, ...],
    chain: list[For],
    dropped: list[For],
) -> dict[Buffer, Expr]:
    """What the partial result of each buffer starts from; memoised on the block, but for reducers that keep
    their order."""
    memo = memo_of(realize.block)
    known: dict[Buffer, Expr] | None = memo.get("starts")
    if known is not None:
        return known
    s = place.node
    ordered = False
    init = _init_values(realize.block.init)
    out: dict[Buffer, Expr] = {}
    for r in found:
        c = r.combiner
        ordered = ordered or not c.commutative
        if not c.commutative and state.enable_check:
            outer = [f for f in chain[: _number(chain, s)] if f in dropped and not _unit(f)]
            if outer:
                raise NotCommutative(
                    place.home, at=[(s, None), (outer[0], "")], loop=s, block=realize, outer=outer[0]
                )
        given = [init.get(x) for x in r.buffers]
        usable = True
        for e in given:
            if e is None:
                usable = False
        if usable and not c.repeatable:
            usable = c.identity is not None
            for e, neutral in zip(given, c.identity or (), strict=False):
                if not _equal(e, neutral):
                    usable = False
        if not usable and c.identity is None:
            raise NoIdentity(place.home, at=[(s, None), (realize, "")], loop=s, block=realize)
        for x, e in zip(r.buffers, given if usable else c.identity or (), strict=True):
            assert e is not None
            out[x] = e
    if not ordered:
        memo["starts"] = out
    return out


def _number(chain: list[For], s: For) -> int:
    return next(n for n, f in enumerate(chain) if f is s)


def _unit(f: For) -> bool:
    return type(f.extent) is IntImm and f.extent.value <= 1


def _init_values(init: Any) -> dict[Buffer, Expr]:
    """The constants that an init stores, where it is nothing but such stores."""
    out: dict[Buffer, Expr] = {}
    for s in init.seq if type(init) is SeqStmt else (init,):
        if type(s) is not BufferStore or s.buffer in out or s.predicate is not None:
            return {}
        if type(s.value) is IntImm or type(s.value) is FloatImm:
            out[s.buffer] = s.value
    return out


def _equal(a: Any, b: Any) -> bool:
    """Whether two constants are the same number."""
    return type(a) is type(b) and type(a) in (IntImm, FloatImm) and a.value == b.value


def _check_extents(place: StmtSRef, chain: list[For], dropped: list[For]) -> None:
    """The loops that stay do not depend on those that go."""
    gone: dict[Var, For] = {f.loop_var: f for f in dropped}
    for f in chain if gone else ():
        if (type(f.extent) is IntImm and type(f.min) is IntImm) or f in dropped:
            continue
        for v in free_vars(f.extent) | free_vars(f.min):
            if v in gone:
                raise DependentExtent(
                    place.home, at=[(place.node, None), (f, ""), (gone[v], "")], loop=place.node, inner=f,
                    outer=gone[v],
                )  # fmt: skip


def _loops_of(top: StmtSRef, chain: list[For]) -> list[For]:
    out = list(chain)
    p = top.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is For:
            out.append(p.node)
        p = p.parent
    return out


def _check_instances(place: StmtSRef, realize: BlockRealize, chain: list[For], bound: _Bound) -> None:
    """Spatial loops tell instances apart, and these have cells of their own."""
    for f in chain:
        v = f.loop_var
        if v not in bound.bare and v not in bound.reduce and not _unit(f):
            spatial = [g for g in chain if g.loop_var not in bound.reduce and not _unit(g)]
            inner = [g for g in chain if g.loop_var in bound.reduce]
            outer = repeating_loop(place, realize, spatial, inner)
            if outer is None:
                break
            raise RepeatedInstance(
                place.home, at=[(place.node, None), (outer, "")], loop=place.node, block=realize, outer=outer
            )
    b = realize.block
    apart = axes_apart(b)
    for iv in b.iter_vars:
        if iv.kind == "spatial" and iv.var not in apart:
            break
    else:
        return
    answer = instance_conflicts(b)
    if answer is not None:
        notes = [answer.text] if isinstance(answer, Witness) else []
        raise SharedCell(
            place.home, at=[(place.node, None), (realize, "")], notes=notes, loop=place.node, block=realize
        )


def _check_memory(place: StmtSRef, realize: BlockRealize, buffers: list[Buffer], bound: _Bound) -> None:
    """What is read is not what is updated: in the body, in the predicate and in what binds the axes."""
    aliased = aliased_params(place.home)
    memory = {x.data for x in buffers}
    if not aliased.isdisjoint(buffers):
        memory |= {x.data for x in aliased}
        # Other accesses to the memory of a buffer alone are no reduction, to begin with.
        for a in accesses(realize.block) if len(memory) > len(buffers) else ():
            if a.buffer.data in memory and a.buffer not in buffers:
                raise AliasedRead(
                    place.home, at=[(place.node, None), (realize, "")], loop=place.node, block=realize,
                    buffer=a.buffer,
                )  # fmt: skip
    found: list[Expr] = [] if realize.predicate is TRUE else [realize.predicate]
    for e, used in zip(realize.iter_values, bound.uses, strict=True):
        if not memory.isdisjoint(used):
            found.append(e)
    n: Any
    for e in found:
        for n in walk(e):
            if type(n) is BufferLoad and n.buffer.data in memory:
                raise AliasedRead(
                    place.home, at=[(place.node, None), (realize, "")], loop=place.node, block=realize,
                    buffer=n.buffer,
                )  # fmt: skip


def rewrite(state: ScheduleState, plan: Factoring) -> BlockRV:
    """Put both nests in the place of the block's; the block of the partial results is returned."""
    return write(state, plan)


KIND = InstructionKind("RFactor", "rfactor", ("loop", "factor_axis"), check, rewrite, attrs=1)
