"""Let a block run over other axes: an index map takes its axes to the new ones.

The loops bound to the axes are replaced by ``ax0``, ``ax1`` ..., the axes by ``v0``, ``v1`` ...; what the
block does in each instance stays as it is.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``), not the root
    of the function (``root-block``)
  * ``index_map`` is a function of as many indices as the block has axes (``bad-index-map``), bijective
    (``not-bijective``), and each new axis comes from spatial axes alone or from reduction axes alone
    (``mixed-axes``)
  * the reductions of blocks inside go over none of the axes (``nested-reduction``)
  * each axis is bound to a loop of its own, or has one iteration; nothing else stands in these loops, they
    start at 0, are serial and have no annotations (``not-a-plain-nest``)
  * the new order of instances keeps every dependence (``order-matters``, ``dependence-unknown``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.transform_block_layout("C", lambda i, j: [i // 4, j, i % 4])
>>> loop_lines(sch)
for i in range(16):
for j in range(16):
for k in range(16):
for ax0 in range(4):
for ax1 in range(16):
for ax2 in range(4):

Source: TVM's ``transform_block_layout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import uses_declared
from tirscript.analysis.dependence import Unknown, instance_conflicts
from tirscript.analysis.reducer import reduced_buffers
from tirscript.arith.analyzer import Analyzer
from tirscript.arith.index_map import digits_inverse, digits_shape, inverse, map_shape
from tirscript.arith.linear import ConstantRange
from tirscript.diagnostics import TirscriptError
from tirscript.ir.expr import EQ, FALSE, TRUE, Add, Expr, IntImm, IterVar, Mul, Range, Var, const_int
from tirscript.ir.index_map import IndexMap
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, Stmt
from tirscript.ir.visitor import free_vars, substitute

from ..errors import Refusal
from ..legality.apart import axes_apart
from ..legality.cells import own_cells
from ..legality.order import DependenceUnknown
from ..legality.outer_reduction import init_inside
from ..legality.prove import same
from ..legality.surroundings import aliased_params
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import refuse_root
from ..rewrite.index_maps import default_dtype, index_map_of
from ..rewrite.layouts import bare_accesses, simplify_accesses
from ..state import ScheduleState


class NotBijective(Refusal):
    code = "not-bijective"
    template = "the axes of block {block} cannot become {index_map}: {what}"


class MixedAxes(Refusal):
    code = "mixed-axes"
    template = (
        "the axes of block {block} cannot become {index_map}: number {number} would be made of {kinds} axes"
    )


class NotAPlainNest(Refusal):
    code = "not-a-plain-nest"
    template = "the axes of block {block} cannot change: {what}"


class NestedReduction(Refusal):
    code = "nested-reduction"
    template = (
        "the axes of block {block} cannot become {index_map}: the reduction of block {inner} inside goes "
        "over them, so it would begin elsewhere"
    )
    hint_template = "decompose_reduction of block {inner} first"


class OrderMatters(Refusal):
    code = "order-matters"
    template = (
        "the axes of block {block} cannot become {index_map}: instances that depend on each other would "
        "change places"
    )
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class Plan:
    """The outermost loop to be replaced, and what takes its place."""

    __slots__ = ("new", "place")

    def __init__(self, place: StmtSRef, new: Stmt) -> None:
        self.place = place
        self.new = new


def check(state: ScheduleState, block: Any, index_map: Any) -> Plan:
    """The nest over the new axes."""
    place = block_place(state, block, "block", "transform_block_layout")
    refuse_root(place)
    realize: BlockRealize = place.node
    b = realize.block
    m = index_map_of(
        place, index_map, len(b.iter_vars), default_dtype(place), "index_map", "transform_block_layout"
    )
    top = _nest(place)
    ranges = {v: iv.dom for v, iv in zip(m.initial_indices, b.iter_vars, strict=True) if iv.dom is not None}
    shape, back = _bijection(place, m, ranges)
    kinds = _kinds(place, m)
    if state.enable_check:
        _check_order(place, m, kinds)
        inner = (
            init_inside(b.body, {iv.var for iv in b.iter_vars}) if type(b.body) is not BufferStore else None
        )
        if inner is not None:
            raise NestedReduction(
                place.home, at=[(place, None), (inner, "")], block=realize, index_map=repr(m), inner=inner
            )
    return Plan(top, _rebuilt(place, top, shape, kinds, back))


def _nest(place: StmtSRef) -> StmtSRef:
    """The place of the outermost loop that is bound to an axis."""
    realize: BlockRealize = place.node
    axis_of: dict[Var, IterVar] = {}
    what = None
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        dom = iv.dom
        if dom is None or not _is(dom.min, 0):
            what = what or f"axis `{iv.var.name}` does not start at 0"
        elif type(value) is Var and value not in axis_of:
            axis_of[value] = iv
        elif not (_is(value, 0) and _is(dom.extent, 1)):
            what = what or f"axis `{iv.var.name}` is not bound to a loop of its own"
    left = set(axis_of)
    top, p = place, place.parent
    while left and what is None:
        if p is None or type(p.node) is not For:
            names = ", ".join([f"`{v.name}`" for v in axis_of if v in left])
            what = f"something else stands between it and the loops {names}"
            break
        what = _loop_fault(p.node, axis_of)
        left.discard(p.node.loop_var)
        top, p = p, p.parent
    if what is None and not axis_of.keys().isdisjoint(free_vars(realize.block)):
        what = "it uses a loop without an axis"
    if what is not None:
        raise NotAPlainNest(place.home, at=[(place, None)], block=realize, what=what)
    return top


def _loop_fault(f: For, axis_of: dict[Var, IterVar]) -> str | None:
    iv = axis_of.get(f.loop_var)
    name = f.loop_var.name
    if iv is None:
        return f"loop `{name}` is bound to no axis of it"
    if f.kind != "serial" or f.annotations or f.step is not None:
        return f"loop `{name}` is not serial, or has annotations or a step"
    assert iv.dom is not None
    if not _is(f.min, 0) or not (f.extent is iv.dom.extent or same(f.extent, iv.dom.extent)):
        return f"loop `{name}` does not run over the domain of `{iv.var.name}`"
    if type(f.extent) is not IntImm and not axis_of.keys().isdisjoint(free_vars(f.extent)):
        return f"the extent of loop `{name}` depends on other loops"
    return None


def _is(e: Expr, value: int) -> bool:
    return type(e) is IntImm and e.value == value


def _bijection(place: StmtSRef, m: IndexMap, ranges: dict[Var, Range]) -> tuple[list[Expr], IndexMap]:
    what = "it is not seen to be bijective"
    shape = digits_shape(m, ranges)
    if shape is not None:
        return shape, digits_inverse(m)
    try:
        found = inverse(m, ranges)
        if found is not None:
            if found[1] is FALSE:
                return map_shape(m, ranges), found[0]
            what = f"nothing comes to where {found[1]}"
    except ConstantRange:
        what = "its extents are too large"
    except TirscriptError as error:
        what = error.message
    raise NotBijective(place.home, at=[(place, None)], block=place.node, index_map=repr(m), what=what)


def _kinds(place: StmtSRef, m: IndexMap) -> list[str]:
    kind = {v: iv.kind for v, iv in zip(m.initial_indices, place.node.block.iter_vars, strict=True)}
    unit = {
        v
        for v, iv in zip(m.initial_indices, place.node.block.iter_vars, strict=True)
        if type(iv.dom.extent) is IntImm and iv.dom.extent.value == 1
    }
    out = []
    for n, e in enumerate(m.final_indices):
        used = [v for v in free_vars(e) if v in kind]
        kinds = {kind[v] for v in used if v not in unit} or {kind[v] for v in used} or {"spatial"}
        plain = len(used) == 1 and type(e) is Var
        if len(kinds) > 1 or not (kinds <= {"spatial", "reduce"} or plain):
            raise MixedAxes(
                place.home, at=[(place, None)], block=place.node, index_map=repr(m), number=n,
                kinds=" and ".join(sorted(kinds)),
            )  # fmt: skip
        out.append(kinds.pop())
    return out


def _check_order(place: StmtSRef, m: IndexMap, kinds: Sequence[str]) -> None:
    """Instances that touch one cell keep their order, or are updates that commute."""
    b: Block = place.node.block
    axes = b.iter_vars
    if _surely_free(place, b):
        return
    doms = {v: iv.dom for v, iv in zip(m.initial_indices, axes, strict=True) if iv.dom is not None}
    order = _loop_order(place)
    if _same_order(m, doms, [m.initial_indices[n] for n in order], m.final_indices):
        return
    at: list[tuple[Any, str | None]] = [(place, None)]
    if any(iv.kind not in ("spatial", "reduce") for iv in axes):
        raise OrderMatters(place.home, at=at, block=place.node, index_map=repr(m))
    conflict = instance_conflicts(b, aliased_params(place.home))
    if isinstance(conflict, Unknown):
        raise DependenceUnknown(
            place.home, at=at, question=f'the instances of block "{b.name}" may change places',
            what=conflict.text,
        )  # fmt: skip
    if conflict is not None:
        raise OrderMatters(place.home, at=at, block=place.node, index_map=repr(m), notes=[conflict.text])
    reduced = [n for n in order if axes[n].kind == "reduce"]
    if not reduced:
        return
    commuting = reduced_buffers(b)
    if not uses_declared(b) and all(c.buffer in commuting for c in own_cells(b) if c.write):
        return
    old = [m.initial_indices[n] for n in reduced]
    new = [e for e, kind in zip(m.final_indices, kinds, strict=True) if kind == "reduce"]
    if not _same_order(m, doms, old, new):
        raise OrderMatters(place.home, at=at, block=place.node, index_map=repr(m))


def _surely_free(place: StmtSRef, b: Block) -> bool:
    """The quick answer: spatial axes keep instances apart, and updates over reduction axes commute."""
    if any(iv.kind not in ("spatial", "reduce") for iv in b.iter_vars) or aliased_params(place.home):
        return False
    apart = axes_apart(b)
    if any(iv.kind == "spatial" and iv.var not in apart for iv in b.iter_vars):
        return False
    if all(iv.kind == "spatial" for iv in b.iter_vars):
        return True
    commuting = reduced_buffers(b)
    return all(c.buffer in commuting for c in own_cells(b) if c.write)


def _loop_order(place: StmtSRef) -> list[int]:
    """The numbers of the axes in the order of their loops, outermost first; those without a loop first."""
    depth: dict[Var, int] = {}
    p = place.parent
    n = 0
    while p is not None and type(p.node) is For:
        n -= 1
        depth[p.node.loop_var] = n
        p = p.parent
    values = place.node.iter_values
    return sorted(
        range(len(values)), key=lambda k: depth.get(values[k], n - 1) if type(values[k]) is Var else n - 1
    )


def _same_order(m: IndexMap, doms: dict[Var, Range], old: Sequence[Expr], new: Sequence[Expr]) -> bool:
    """Whether two lists of indices count the instances in the same order."""
    cx = Analyzer()
    for v, r in doms.items():
        cx.bind(v, r)
    sizes = {v: r.extent for v, r in doms.items()}
    try:
        extents = digits_shape(IndexMap(m.initial_indices, new), doms)
        if extents is None:
            extents = map_shape(IndexMap(m.initial_indices, new), doms)
    except (TirscriptError, ConstantRange):
        return False
    first = _flat(list(old), [sizes[v] for v in old])  # type: ignore[index]
    return cx.can_prove(EQ(first, _flat(list(new), extents)))


def _flat(indices: list[Expr], extents: Sequence[Expr]) -> Expr:
    out: Expr = const_int(0, indices[0].dtype if indices else "int32")
    for i, n in zip(indices, extents, strict=True):
        out = Add(Mul(out, n), i)
    return out


def _rebuilt(
    place: StmtSRef, top: StmtSRef, shape: Sequence[Expr], kinds: Sequence[str], back: IndexMap
) -> Stmt:
    realize: BlockRealize = place.node
    b = realize.block
    taken = names_around(top)
    inside: set[str] = set()
    names_inside(b.body, inside)
    taken |= inside
    dtypes = [v.dtype for v in back.initial_indices]
    loops = [Var(free_name(f"ax{n}", taken), d) for n, d in enumerate(dtypes)]
    axes = [Var(free_name(f"v{n}", taken), d) for n, d in enumerate(dtypes)]
    iter_vars = tuple([
        IterVar(v, Range(const_int(0, v.dtype), n), kind)
        for v, n, kind in zip(axes, shape, kinds, strict=True)
    ])  # fmt: skip
    values = {
        iv.var: substitute(e, dict(zip(back.initial_indices, axes, strict=True)))
        for iv, e in zip(b.iter_vars, back.final_indices, strict=True)
    }
    # Without the axes that it binds, so that they are free in it.
    new = substitute(b.replace(iter_vars=()), values).replace(iter_vars=iter_vars)
    if not bare_accesses(b):
        cx = Analyzer()
        for iv in iter_vars:
            cx.bind(iv.var, iv.dom)  # type: ignore[arg-type]
        new = simplify_accesses(new, cx)
    predicate = realize.predicate
    if predicate is not TRUE:
        put = dict(zip(back.initial_indices, loops, strict=True))
        bound = {
            v: substitute(e, put)
            for v, e in zip(realize.iter_values, back.final_indices, strict=True)
            if type(v) is Var
        }
        predicate = substitute(predicate, bound)
    out: Stmt = BlockRealize(tuple(loops), predicate, new, realize.span)
    span = top.node.span if type(top.node) is For else None
    for v, n in zip(reversed(loops), reversed(shape), strict=True):
        out = For(v, const_int(0, v.dtype), n, "serial", out, span=span)
    return out


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put the new nest in place."""
    state.replace(plan.place, plan.new)


KIND = InstructionKind(
    "TransformBlockLayout", "transform_block_layout", ("block", "index_map"), check, rewrite, attrs=1
)
