"""Two blocks in the place of one: axes divided between an outer and an inner block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from tirscript.analysis.access import accesses_of, conjuncts
from tirscript.arith.analyzer import Analyzer, simplify
from tirscript.arith.linear import Linear, to_linear
from tirscript.arith.subspace import Division, divide
from tirscript.ir.expr import (
    LE,
    LT,
    TRUE,
    Add,
    BufferLoad,
    Call,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.stmt import BlockRealize, For, SeqStmt
from tirscript.ir.visitor import free_vars

from ..errors import Refusal
from ..legality.outer_reduction import goes_on
from ..legality.prove import bind_around, same
from ..legality.surroundings import guards_updates, variables_around
from ..names import free_name, names_around, names_inside, new_names
from ..refs import StmtSRef
from .substitute import put


class NotDivisible(Refusal):
    code = "not-divisible"
    template = (
        "the axis `{axis}` of block {block} cannot be divided: {value} is no outer part plus an inner part "
        "smaller than its step, where {inner} run inside"
    )
    hint_template = "split loops so that the inner ones run over whole tiles of the axis"


class GuardedInit(Refusal):
    code = "guarded-init"
    template = (
        "the init of block {block} cannot move to a block of its own: the condition {condition} on the "
        "reduction loop `{loop}` decides about it"
    )


class OuterLoopUsed(Refusal):
    code = "outer-loop-used"
    template = (
        "no block can be made around block {block}: what stands inside uses the loop `{loop}`, which "
        "the axes of the new block do not determine"
    )
    hint_template = "bind `{loop}` to an axis of the block"


class Axis:
    """How an axis is divided: ``outer`` and ``inner`` are what is bound to its parts, None where there is
    no such part; ``outer_var`` and ``inner_name`` are chosen when all axes are known."""

    __slots__ = (
        "inner",
        "inner_dom",
        "inner_name",
        "iv",
        "offset",
        "outer",
        "outer_dom",
        "outer_var",
        "step",
    )

    def __init__(
        self,
        iv: IterVar,
        outer: Expr | None,
        outer_dom: Range | None,
        inner: Expr | None,
        inner_dom: Range | None,
        step: Expr | None = None,
        offset: Expr | None = None,
    ) -> None:
        self.iv = iv
        self.outer = outer
        self.outer_dom = outer_dom
        self.inner = inner
        self.inner_dom = inner_dom
        self.step = step
        self.offset = offset
        self.outer_var = iv.var
        self.inner_name = ""


class Member:
    """One of the blocks: its place, the loops (and sequences) from it outwards to the new block, and what
    is known of its axes and conditions."""

    __slots__ = ("axes", "block", "guards", "path", "reduce", "spatial")

    def __init__(self, block: StmtSRef, path: list[StmtSRef]) -> None:
        self.block = block
        self.path = path
        self.axes: list[Axis] = []
        self.guards: list[Expr] = []  # conditions that stay with the inner block
        self.spatial: set[Var] = set()
        self.reduce: dict[Var, IterVar] = {}


class Blocking:
    """The plan: what is replaced, the blocks inside, the name of the new block, its conditions."""

    __slots__ = (
        "axes", "bindings", "guards", "keep_unit", "loops", "members", "name", "outside", "slots", "top",
    )  # fmt: skip

    def __init__(
        self, top: StmtSRef, members: tuple[Member, ...], name: str, keep_unit: bool,
        slots: tuple[int, int] | None,
    ) -> None:  # fmt: skip
        self.top = top
        self.members = members
        self.name = name
        self.keep_unit = keep_unit
        self.slots = slots
        self.guards: list[Expr] = []
        self.loops: dict[Var, Range] = {}  # loops outside, within the scope
        self.axes: list[IterVar] = []  # of the new block
        self.bindings: list[Expr] = []
        self.outside: dict[Var, Expr] = {}  # loops outside in terms of the new axes


def divided(
    top: StmtSRef,
    members: tuple[Member, ...],
    name: str,
    keep_unit: bool,
    slots: tuple[int, int] | None = None,
) -> Blocking:
    """Divide the axes and conditions of the blocks between a new block at ``top`` and themselves."""
    plan = Blocking(top, members, name, keep_unit, slots)
    values: dict[Var, Expr] = {}
    p: StmtSRef | None = top if type(top.node) is SeqStmt and slots is not None else top.parent
    while p is not None and type(p.node) is not BlockRealize:
        s: Any = p.node
        if type(s) is For:
            plan.loops[s.loop_var] = values_of(s)
            if not keep_unit and type(s.extent) is IntImm and s.extent.value == 1:
                values[s.loop_var] = s.min
        p = p.parent
    for m in members:
        _divide_member(plan, m, values, len(members) == 1)
    _make_axes(plan)
    return plan


def _make_axes(plan: Blocking) -> None:
    alone = len(plan.members) == 1
    names = _names(plan, alone)
    for m in plan.members:
        for axis in m.axes:
            name, axis.inner_name = next(names)
            axis.outer_var = _outer_axis(axis, name, plan.axes, plan.bindings, alone)
    if not plan.axes:
        return
    needed: set[Var] = set()
    loops = plan.loops.keys()
    for m in plan.members:
        for axis in m.axes:
            if axis.inner is not None and axis.step is None and type(axis.inner_dom.extent) is not IntImm:  # type: ignore[union-attr]
                needed |= free_vars(axis.inner_dom)  # type: ignore[arg-type]
        for c in m.guards:
            needed |= free_vars(c)
        for p in m.path:
            s: Any = p.node
            if type(s) is For and not (type(s.extent) is IntImm and type(s.min) is IntImm):
                needed |= free_vars(s.min) | free_vars(s.extent)
        needed |= free_vars(m.block.node.block)
    needed &= loops
    for iv, e in _spatial_first(plan):
        if type(e) is Var:
            plan.outside.setdefault(e, iv.var)
    if not needed <= plan.outside.keys():
        _recover(plan)
    for v in needed:
        if v not in plan.outside:
            raise OuterLoopUsed(
                plan.top.home, at=[(plan.top, None)], block=plan.members[0].block.node, loop=v.name
            )
    if alone and needed and plan.members[0].block.node.block.init is not None:
        _check_init(plan, plan.members[0])


def _spatial_first(plan: Blocking) -> list[tuple[IterVar, Expr]]:
    """The new axes with what they are bound to; an init can do without reduction axes."""
    pairs = zip(plan.axes, plan.bindings, strict=True)
    return sorted(pairs, key=lambda pair: pair[0].kind == "reduce")


def _check_init(plan: Blocking, m: Member) -> None:
    """The init must not need a loop outside that only reduction axes of the new block determine."""
    reduced = {iv.var for iv in plan.axes if iv.kind == "reduce"}
    lost = {v for v, e in plan.outside.items() if not reduced.isdisjoint(free_vars(e))}
    if not lost:
        return
    conditions = [c for c in m.guards if not update_alone(m, c)]
    for p in m.path:
        s: Any = p.node
        if type(s) is For and (s.loop_var in m.spatial or s.loop_var not in m.reduce):
            conditions += (s.min, s.extent)
    for c in conditions:
        v = next((v for v in free_vars(c) if v in lost), None)
        if v is not None:
            raise GuardedInit(
                plan.top.home, at=[(m.block, None)], block=m.block.node, condition=c, loop=v.name
            )


def _recover(plan: Blocking) -> None:
    """More loops in terms of the new axes: digits of sums, and wholes of quotient and remainder."""
    parts: dict[Any, tuple[Var, Expr]] = {}
    for iv, e in _spatial_first(plan):
        found: Any = e
        if type(found) in (FloorDiv, FloorMod) and type(found.a) is Var and type(found.b) is IntImm:
            parts[type(found), found.a, found.b.value] = (iv.var, found.b)
            continue
        lin = to_linear(e)
        if lin is None or not lin.vars_only():
            continue
        reach = 0
        terms = sorted(lin.terms.items(), key=lambda t: abs(t[1]))
        digits: list[tuple[Var, Expr]] = []
        for n, (v, k) in enumerate(terms):
            r: Any = plan.loops.get(v)  # type: ignore[arg-type]
            if r is None or k <= reach or type(r.min) is not IntImm:
                break
            last = n == len(terms) - 1
            if type(r.extent) is not IntImm and not last:
                break
            low = sum(c * plan.loops[u].min.value for u, c in lin.terms.items() if u in plan.loops)  # type: ignore
            digit: Expr = iv.var
            if low + lin.const:
                digit = Sub(digit, const_int(low + lin.const, e.dtype))
            if k != 1:
                digit = FloorDiv(digit, const_int(k, e.dtype))
            if not last:
                digit = FloorMod(digit, const_int(terms[n + 1][1] // k, e.dtype))
                if terms[n + 1][1] % k:
                    break
            if r.min.value:
                digit = Add(digit, r.min)
            digits.append((v, digit))  # type: ignore[arg-type]
            reach = k * (r.extent.value - 1) + reach if type(r.extent) is IntImm else reach
        else:
            for v, digit in digits:
                plan.outside.setdefault(v, digit)
    for (kind, v, c), (quotient, divisor) in parts.items():
        other = parts.get((FloorMod, v, c))
        if kind is FloorDiv and other is not None:
            plan.outside.setdefault(v, Add(Mul(quotient, divisor), other[0]))


def values_of(s: For) -> Range:
    """The interval of the values of a loop."""
    if s.step is None:
        return Range(s.min, s.extent)
    if type(s.extent) is IntImm and type(s.step) is IntImm and s.extent.value > 0:
        count = (s.extent.value - 1) // s.step.value
        return Range(s.min, const_int(count * s.step.value + 1, s.extent.dtype))
    return Range(s.min, s.extent)


def _divide_member(plan: Blocking, m: Member, unit: Mapping[Var, Expr], alone: bool) -> None:
    realize: BlockRealize = m.block.node
    inner: dict[Var, Range] = {}
    units = dict(unit)
    for p in m.path:
        s: Any = p.node
        if type(s) is For:
            if type(s.extent) is IntImm and s.extent.value == 1:
                units[s.loop_var] = s.min
            else:
                inner[s.loop_var] = values_of(s)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        used: Any
        if type(value) is Var:
            used = (value,)
        else:
            used = free_vars(value)
        if iv.kind == "reduce":
            for v in used:
                m.reduce[v] = iv
        else:
            m.spatial.update(used)
        if units:
            value = _without(value, units)
        m.axes.append(_divide_axis(plan, m, iv, value, inner))
    conditions = [] if realize.predicate is TRUE else conjuncts(realize.predicate)
    for axis, value in zip(m.axes, realize.iter_values, strict=True):
        if axis.step is not None:
            conditions += _ends_of_domain(m, axis, value, conditions)
    if conditions:
        _divide_guards(plan, m, alone, conditions)
    divided = any(a.iv.kind == "reduce" and a.inner is not None for a in m.axes)
    found = (
        goes_on(realize, plan.top, own=False)
        if alone and divided and realize.block.init is not None
        else None
    )
    if found is not None:  # the init would run whenever the new block does
        raise OuterLoopUsed(
            plan.top.home, at=[(found[0], ""), (m.block, None)], block=realize, loop=found[0].loop_var.name
        )


def _ends_of_domain(m: Member, axis: Axis, value: Expr, conditions: list[Expr]) -> list[Expr]:
    """What must be said of the value of a divided axis: instances outside its domain do not run."""
    dom: Any = axis.iv.dom
    low: Any = axis.offset
    step: Any = axis.step
    outer_dom: Any = axis.outer_dom
    inner_dom: Any = axis.inner_dom
    first = 0 if low is None else low.value if type(low) is IntImm else None
    sizes = (step, outer_dom.extent, inner_dom.extent, dom.min, dom.extent)
    if first is not None and all(type(e) is IntImm for e in sizes):
        last = first + (outer_dom.extent.value - 1) * step.value + inner_dom.extent.value - 1
        if dom.min.value <= first and last < dom.min.value + dom.extent.value:
            return []
    below = type(first) is int and type(dom.min) is IntImm and first >= dom.min.value
    end = dom.extent if type(dom.min) is IntImm and dom.min.value == 0 else Add(dom.min, dom.extent)
    out: list[Expr] = []
    if not below and not holds_inside(m.block, LE(dom.min, value)):
        out.append(LE(dom.min, value))
    said = any(type(c) is LT and same(c.b, end) and same(c.a, value) for c in conditions)
    if not said and not holds_inside(m.block, LT(value, end)):
        out.append(LT(value, end))
    return out


def holds_inside(place: StmtSRef, condition: Expr) -> bool:
    """Whether a condition holds for all values of the loops and axes around a place."""
    cx = Analyzer()
    bind_around(cx, place)
    return bool(cx.can_prove(condition))


def _without(value: Expr, units: Mapping[Var, Expr]) -> Expr:
    """The value with the only value of loops of one iteration."""
    new = put(value, units)
    if new is value or type(value) is Var:
        return new  # type: ignore[no-any-return]
    lin = to_linear(new)
    return simplify(new) if lin is None or not lin.vars_only() else lin.to_expr(new.dtype)


def _divide_axis(plan: Blocking, m: Member, iv: IterVar, value: Any, inner: Mapping[Var, Range]) -> Axis:
    t = type(value)
    outer = plan.loops
    if t is Var:
        inside = value in inner
        outside = not inside
    else:
        used = free_vars(value)
        inside = not used.isdisjoint(inner)
        outside = not inside or not used.isdisjoint(outer)
    if outside and not inside:
        if t is not Var and t is not IntImm and not _may_hoist(m, value):
            _refuse(plan, m, iv, value, inner)
        return Axis(iv, value, iv.dom, None, None)
    if inside and not outside:
        return Axis(iv, None, None, value, iv.dom)

    def analyzer() -> Analyzer:
        cx = Analyzer()
        bind_around(cx, m.block)
        return cx

    d = divide(value, outer, inner, analyzer)
    return _axis(iv, value, _refuse(plan, m, iv, value, inner) if d is None else d)


def _axis(iv: IterVar, value: Expr, d: Division) -> Axis:
    dtype = iv.var.dtype
    if not d.inner.terms:
        outer = d.outer + d.offset
        return Axis(iv, outer.to_expr(value.dtype), iv.dom, None, None)
    if not d.outer.terms:
        return Axis(iv, None, None, (d.inner + d.offset).to_expr(value.dtype), iv.dom)
    zero = const_int(0, dtype)
    step: Expr | None = _term(d.step, dtype)
    if d.outer_extent.is_const and d.outer_extent.const == 1:
        step = None  # the outer part is 0
    return Axis(
        iv,
        d.outer.to_expr(value.dtype),
        Range(zero, d.outer_extent.to_expr(dtype)),
        d.inner.to_expr(value.dtype),
        Range(zero, d.inner_extent.to_expr(dtype)),
        step,
        None if not d.offset.terms and not d.offset.const else d.offset.to_expr(dtype),
    )


def _term(lin: Linear, dtype: str) -> Expr:
    return const_int(lin.const, dtype) if not lin.terms else lin.to_expr(dtype)


def _may_hoist(m: Member, value: Expr) -> bool:
    """Whether a value may be computed once before the loops inside: it reads nothing that may change, or
    must not be read where they do not run."""
    if _plain(value):
        return True
    loads = [n for n in walk(value) if isinstance(n, BufferLoad)]
    if any(type(n) is Call for n in walk(value)):
        return False
    for p in m.path:
        s: Any = p.node
        if type(s) is not For or type(s.extent) is not IntImm or s.extent.value < 1:
            return False
    written = {a.buffer.data for a in accesses_of(m.block.node) if a.is_write}
    return not any(n.buffer.data in written for n in loads)


def _refuse(plan: Blocking, m: Member, iv: IterVar, value: Expr, inner: Mapping[Var, Range]) -> NoReturn:
    names = ", ".join([f"`{v.name}`" for v in inner]) or "no loops"
    raise NotDivisible(
        plan.top.home,
        at=[(plan.top, None), (iv, "")],
        axis=iv,
        block=m.block.node,
        value=value,
        inner=f"the loops {names}" if len(inner) > 1 else f"the loop {names}" if inner else names,
    )


def _divide_guards(plan: Blocking, m: Member, alone: bool, conditions: list[Expr]) -> None:
    realize: BlockRealize = m.block.node
    b = realize.block
    inside = {p.node.loop_var for p in m.path if type(p.node) is For}
    for c in conditions:
        used = free_vars(c)
        if alone and used.isdisjoint(inside) and _plain(c):
            plan.guards.append(c)
            continue
        m.guards.append(c)
        if b.init is None or not alone:
            continue
        if update_alone(m, c):
            continue
        for v in used:
            if v in m.reduce and v not in m.spatial:
                raise GuardedInit(
                    plan.top.home, at=[(m.block, None)], block=realize, condition=c, loop=v.name
                )


def update_alone(m: Member, condition: Expr) -> bool:
    """Whether a condition is about reduction loops only: it guards no init."""
    return guards_updates(condition, variables_around(m.block), m.reduce.keys(), m.spatial)


def _plain(e: Expr) -> bool:
    return not any(type(n) is BufferLoad or type(n) is Call for n in walk(e))


def _names(plan: Blocking, alone: bool) -> Iterator[tuple[str, str]]:
    """Free names for the outer and inner part of every axis; those of several blocks may be the same."""
    base = [[axis.iv.var.name for axis in m.axes] for m in plan.members]
    wanted = [f"{n}_{x}" for names in base for n in names for x in ("o", "i", "i_init")]
    inside = plan.top.node
    if len(set(wanted)) == len(wanted) and new_names(plan.top, inside, wanted) is wanted:
        for names in base:
            yield from [(f"{n}_o", f"{n}_i") for n in names]
        return
    taken = names_around(plan.top)
    names_inside(inside, taken)
    for names in base:
        mine = set(taken)
        for n in names:
            outer = f"{n}_o" if not alone and f"{n}_o" not in taken else free_name(f"{n}_o", mine)
            k = 0
            inner = f"{n}_i"
            while inner in mine or f"{inner}_init" in mine:
                k += 1
                inner = f"{n}_i_{k}"
            mine |= {outer, inner, f"{inner}_init"}
            yield outer, inner
    return


def _outer_axis(axis: Axis, name: str, new_axes: list[IterVar], bindings: list[Expr], alone: bool) -> Var:
    """The variable of the new axis for the outer part; shared where several blocks bind the same."""
    iv = axis.iv
    dtype = iv.var.dtype
    if axis.outer is None:
        binding: Expr = const_int(0, dtype)
        dom: Any = Range(const_int(0, dtype), const_int(1, dtype))
    else:
        binding, dom = axis.outer, axis.outer_dom
    if not alone:
        if axis.outer is None:
            return iv.var  # needs no axis: there is no outer part
        for have, e in zip(new_axes, bindings, strict=True):
            if have.kind == iv.kind and have.var.dtype == dtype and (e is binding or same(e, binding)):
                assert have.dom is not None
                if same(have.dom.min, dom.min) and same(have.dom.extent, dom.extent):
                    return have.var
    v = Var(name, dtype, iv.var.exact, span=iv.var.span)
    new_axes.append(IterVar(v, dom, iv.kind, iv.thread_tag, iv.span))
    bindings.append(binding)
    return v


__all__ = ["Axis", "Blocking", "Member", "NotDivisible", "divided", "update_alone"]
