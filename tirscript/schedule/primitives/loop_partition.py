"""Cut a loop into consecutive loops over parts of its range.

Each part is a copy of the loop in a block of its own: block ``X`` under loop ``i`` gives ``X_i0``, ``X_i1``
... in the blocks ``X_i0_partition`` ..., all in ``X_i_common``.  ``factors`` are the numbers of iterations of
the parts; one may be None, which stands for what the others leave, and if none is, what is left over is one
more part.  The parts run one after another, so that every loop may be cut.  A reduction that is cut keeps its
init in the first part alone.  Where the extent is symbolic, parts that it does not reach are empty.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * it carries no annotations (``annotated-loop``) and is bound to no thread (``bound-loop``), and its body
    holds no break, which would have to skip the other parts (``leaves-loop``)
  * ``factors`` is a list of positive integers with at most one None (``bad-factors``, ``bad-factor``,
    ``two-unknown-factors``), together no more than the extent (``factors-too-large``)
  * where the loop is bound to a reduction axis of a block with an init, it decides about nothing else: not
    about spatial axes, conditions or ranges (``divided-init``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.loop_partition(i, [2, None, 3])
[LoopRV(i0), LoopRV(i1), LoopRV(i2)]
>>> [b.name for b in sch.get_child_blocks(sch.get_block("Y_i_common"))]
['Y_i0_partition', 'Y_i1_partition', 'Y_i2_partition']

Source: TVM's ``loop_partition``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tirscript.analysis.access import conjuncts, uses_declared
from tirscript.analysis.inferred import infer_regions
from tirscript.arith.analyzer import Analyzer
from tirscript.ir.expr import (
    GE,
    TRUE,
    Add,
    Expr,
    IntImm,
    IterVar,
    Max,
    Min,
    Mul,
    Range,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.ops import ceildiv
from tirscript.ir.stmt import (
    NONE,
    Block,
    BlockLabel,
    BlockRealize,
    For,
    IfThenElse,
    LetStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import free_vars, fresh_copy, walk

from ..errors import BadArgument, BadValue, Refusal
from ..legality.cells import form_of
from ..legality.constant_boxes import Regions, boxes_of, boxes_of_parts
from ..legality.control import check_stays
from ..legality.moves import with_regions
from ..legality.outer_reduction import init_inside
from ..legality.prove import bind_around, same
from ..legality.surroundings import outside_ranges
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import integer, loop_place
from ..rewrite.copies import copied, defines_nothing
from ..rewrite.substitute import Rewriter
from ..state import ScheduleState
from .split import check_plain


class BadFactors(BadArgument):
    code = "bad-factors"
    template = (
        "`factors` of loop_partition must be a list of integers and at most one None, {given} was given"
    )


class BadFactor(BadValue):
    code = "bad-factor"
    template = "`factors` of loop_partition must be positive integers or None, factor {number} is {value}"


class TwoUnknownFactors(BadValue):
    code = "two-unknown-factors"
    template = "`factors` of loop_partition holds {count} times None: only one can be worked out"


class FactorsTooLarge(BadValue):
    code = "factors-too-large"
    template = "the factors {factors} of loop `{loop}` make {total} iterations, its extent is {extent}"
    hint_template = "{way}"


class DividedInit(Refusal):
    code = "divided-init"
    template = (
        "loop `{loop}` cannot be cut: block {block} binds it to a reduction axis, and {what} depends on it "
        "too, so that no part is known to run all of the init"
    )
    hint_template = "decompose_reduction first"


class Plan:
    """The loop, the cuts between its parts in iterations, and the blocks whose init stays in the first."""

    __slots__ = ("cuts", "keep_unit", "place", "reduced")

    def __init__(self, place: StmtSRef, cuts: list[Expr], reduced: set[BlockLabel], keep_unit: bool) -> None:
        self.place = place
        self.cuts = cuts
        self.reduced = reduced
        self.keep_unit = keep_unit


def check(state: ScheduleState, loop: Any, factors: Any, preserve_unit_iters: bool = True) -> Plan:
    """The parts, if the loop can be cut so."""
    place = loop_place(state, loop, "loop", "loop_partition")
    s: For = place.node
    if s.annotations or s.thread:
        check_plain(place, "cut", "cut")
    check_stays(place, "cut", "break")
    at: list[tuple[Any, str | None]] = [(s, None)]
    if not isinstance(factors, (list, tuple)) or not factors:
        raise BadFactors(place.home, at=at, given=repr(factors))
    sizes: list[int | None] = []
    for n, f in enumerate(factors):
        size = None if f is None else integer(f)
        if f is not None and size is None:
            raise BadFactors(place.home, at=at, given=repr(f))
        if size is not None and size <= 0:
            raise BadFactor(place.home, at=at, number=str(n + 1), value=str(size))
        sizes.append(size)
    unknown = sizes.count(None)
    if unknown > 1:
        raise TwoUnknownFactors(place.home, at=at, count=str(unknown))
    count = _count(s)
    total = sum(x for x in sizes if x is not None)
    if type(count) is IntImm and (total > count.value or (unknown and total == count.value)):
        way = (
            "nothing is left for None" if total == count.value else "leave the last one out or let it be None"
        )
        raise FactorsTooLarge(
            place.home, at=at, factors=["None" if x is None else str(x) for x in sizes], loop=s,
            total=str(total), extent=count, way=way,
        )  # fmt: skip
    if not unknown and not (type(count) is IntImm and total == count.value):
        sizes.append(None)
    return Plan(place, _cuts(place, count, sizes, total), _reduced(place), preserve_unit_iters)


def _count(s: For) -> Expr:
    if s.step is None:
        return s.extent
    if type(s.extent) is IntImm and type(s.step) is IntImm:
        return const_int(-(-s.extent.value // s.step.value), s.extent.dtype)
    return ceildiv(s.extent, s.step)


def _cuts(place: StmtSRef, count: Expr, sizes: list[int | None], total: int) -> list[Expr]:
    """Where the parts begin and end: from the start up to the one of unknown size, from the end after it."""
    dtype = count.dtype
    cuts: list[Expr] = [const_int(0, dtype)]
    enough = type(count) is IntImm
    cx: Analyzer | None = None
    if not enough:
        cx = Analyzer()
        bind_around(cx, place)
        enough = cx.can_prove(GE(count, const_int(total, dtype)))
    before = 0
    middle = sizes.index(None) if None in sizes else len(sizes)
    for x in sizes[:middle]:
        assert x is not None
        before += x
        cut: Expr = const_int(before, dtype)
        cuts.append(cut if enough else Min(cut, count))
    after = sum(x for x in sizes[middle + 1 :] if x is not None)
    for x in sizes[middle + 1 :]:
        assert x is not None
        cut = _minus(count, after)
        cuts.append(cut if enough else Max(cut, cuts[-1]))
        after -= x
    if middle < len(sizes):
        cuts.append(count)
    return cuts


def _minus(a: Expr, n: int) -> Expr:
    if type(a) is IntImm:
        return const_int(a.value - n, a.dtype)
    return Sub(a, const_int(n, a.dtype))


def _reduced(place: StmtSRef) -> set[BlockLabel]:
    """The blocks with an init whose reduction is cut."""
    s: For = place.node
    v = s.loop_var
    out: set[BlockLabel] = set()
    for realize, around in _blocks(s.body):
        b = realize.block
        kinds = set()
        for iv, e in zip(b.iter_vars, realize.iter_values, strict=True):
            if e is v or (type(e) is not Var and v in free_vars(e)):
                kinds.add(iv.kind == "reduce")
        nested = not defines_nothing(b)
        if True not in kinds:
            if not nested:
                continue
            found = init_inside(b.body, {v, *_driven(realize, v)})
            if found is not None:
                raise DividedInit(
                    place.home, at=[(s, None), (realize, "")], loop=s, block=realize,
                    what=f'the init of block "{found.name}" inside it',
                )  # fmt: skip
            continue
        n: Any
        for n in walk(b.body) if nested else ():
            if type(n) is Block and n.init is not None and any(iv.kind == "reduce" for iv in n.iter_vars):
                raise DividedInit(
                    place.home, at=[(s, None), (realize, "")], loop=s, block=realize,
                    what=f'the init of block "{n.name}" inside it',
                )  # fmt: skip
        if b.init is None:
            continue
        what = "a spatial axis" if False in kinds else None
        loops = {f.loop_var for f in around if type(f) is For}
        for f in around:
            if type(f) is For and v in free_vars(f.min) | free_vars(f.extent):
                what = what or f"the range of loop `{f.loop_var.name}`"
            elif type(f) is IfThenElse and v in free_vars(f.condition):
                what = what or "a condition around it"
            elif type(f) is LetStmt and v in free_vars(f.value):
                what = what or f"the let `{f.var.name}`"
            elif type(f) not in (For, IfThenElse, LetStmt):
                what = what or "a statement around it"
        spatial = {
            u
            for iv, e in zip(b.iter_vars, realize.iter_values, strict=True)
            if iv.kind != "reduce"
            for u in free_vars(e)
        }
        for c in conjuncts(realize.predicate):
            used = free_vars(c)
            if v in used and not used.isdisjoint(spatial & (loops | _outer(place))):
                what = what or "a condition with a spatial axis"
        if what is not None:
            raise DividedInit(place.home, at=[(s, None), (realize, "")], loop=s, block=realize, what=what)
        out.add(b.label)
    return out


def _driven(realize: BlockRealize, v: Var) -> set[Var]:
    """The axes of a block that the variable decides."""
    b = realize.block
    return {iv.var for iv, e in zip(b.iter_vars, realize.iter_values, strict=True) if v in free_vars(e)}


def _outer(place: StmtSRef) -> set[Var]:
    out: set[Var] = set()
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is For:
            out.add(p.node.loop_var)
        p = p.parent
    return out


def _blocks(root: Any) -> Iterator[tuple[BlockRealize, tuple[Any, ...]]]:
    """The blocks directly below a statement, with what stands around each."""
    stack: list[tuple[Any, tuple[Any, ...]]] = [(root, ())]
    while stack:
        n, around = stack.pop()
        while type(n) is For:
            around = (*around, n)
            n = n.body
        if type(n) is BlockRealize:
            yield n, around
            continue
        inner = around if not hasattr(n, "body") and type(n) is not IfThenElse else (*around, n)
        stack.extend([(c, inner) for c in reversed(n.children()) if isinstance(c, Stmt)])


# ---- rewriting


def rewrite(state: ScheduleState, plan: Plan) -> list[LoopRV]:
    """Put the parts in the place of the loop; their loops are returned in order."""
    place = plan.place
    s: For = place.node
    home = place.home
    first = next((r.block.name for r, _ in _blocks(s.body)), "root")
    blocks = {p.node.block.name for t, p in home.index.items() if type(t) is BlockLabel}
    taken = names_around(place)
    names_inside(s.body, taken)
    v = s.loop_var
    parts: list[Stmt] = []
    news = []
    known = _known_regions(plan)
    for n in range(len(plan.cuts) - 1):
        part = f"{v.name}{n}"
        new = Var(free_name(part, taken), v.dtype, v.exact, v.pointee, v.span)
        news.append(new)
        nest = _part(plan, n, new, part, blocks)
        name = free_name(f"{first}_{part}_partition", blocks)
        parts.append(_wrapped(nest, name, s, known[n + 1] if known else _regions_of(nest)))
    name = free_name(f"{first}_{v.name}_common", blocks)
    whole = seq(*parts)
    common = _wrapped(whole, name, s, known[0] if known else _regions_of(whole if plan.reduced else s))
    state.replace(place, common)
    return [LoopRV(x, home.name) for x in news]


def _known_regions(plan: Plan) -> list[Regions] | None:
    """The regions of the loop and of its parts, all at once where cuts and ranges are constants."""
    s: For = plan.place.node
    if plan.reduced or type(s.min) is not IntImm:
        return None
    cuts = [c.value for c in plan.cuts if type(c) is IntImm]
    if len(cuts) != len(plan.cuts):
        return None
    first = s.min.value
    return boxes_of_parts(s, [(first + a, b - a) for a, b in pairwise(cuts)])


def _regions_of(s: Stmt) -> Regions:
    found = boxes_of(s)
    return infer_regions((), s) if found is None else found


def _wrapped(body: Stmt, name: str, s: For, regions: Regions) -> BlockRealize:
    """A block around a statement with those regions."""
    reads, writes = regions
    return BlockRealize((), TRUE, Block(BlockLabel(name), (), reads, writes, body, span=s.span), s.span)


def _part(plan: Plan, n: int, new: Var, part: str, blocks: set[str]) -> Stmt:
    """The n-th loop: a copy whose blocks, axes and loops are its own."""
    s: For = plan.place.node
    low, size, extent = _ends(plan, n)
    step = s.step
    body: Stmt = s.body
    if n > 0 and plan.reduced:
        body = _without_init(body, plan.reduced)
    value: Expr = new
    if not plan.keep_unit and type(size) is IntImm and size.value == 1:
        value = low
    own = Range(low, extent)
    copy = copied(body, {s.loop_var: value}, part, blocks, lambda iv, e: _domain(plan, iv, e, own))
    if copy is None:
        body = _narrowed(plan, body, own)
        body = Rewriter({s.loop_var: value}).statement(_named(fresh_copy(body), part, blocks))
    else:
        body = copy
    return For(new, low, extent, s.kind, body, "", NONE, step, s.span)


def _ends(plan: Plan, n: int) -> tuple[Expr, Expr, Expr]:
    """Where the n-th part starts, its number of iterations and the length of its range."""
    s: For = plan.place.node
    begin, end = plan.cuts[n], plan.cuts[n + 1]
    if type(begin) is IntImm and type(end) is IntImm and type(s.min) is IntImm and s.step is None:
        size = const_int(end.value - begin.value, end.dtype)
        return const_int(s.min.value + begin.value, s.min.dtype), size, size
    cx = Analyzer()
    bind_around(cx, plan.place)
    count = cx.simplify(Sub(end, begin))
    low, extent = begin, count
    if s.step is not None:
        low = cx.simplify(Mul(begin, s.step))
        last = n == len(plan.cuts) - 2
        extent = cx.simplify(Sub(s.extent, low) if last else Mul(count, s.step))
    return cx.simplify(Add(s.min, low)), count, extent


def _without_init(root: Any, labels: set[BlockLabel]) -> Any:
    if type(root) is BlockRealize:
        b = root.block
        if b.label not in labels:
            return root
        new = b.replace(init=None)
        if uses_declared(b):
            have = {r.buffer for r in b.reads}
            new = new.replace(reads=(*[r for r in b.writes if r.buffer not in have], *b.reads))
        else:
            new = with_regions(new)
        return BlockRealize(root.iter_values, root.predicate, new, root.span)
    return root.map_children(lambda c: _without_init(c, labels) if isinstance(c, Stmt) else c)


def _narrowed(plan: Plan, root: Any, part: Range) -> Any:
    """The blocks with the domains of their axes reduced to what the part runs over."""
    if type(root) is BlockRealize:
        axes = []
        for iv, e in zip(root.block.iter_vars, root.iter_values, strict=True):
            dom = _domain(plan, iv, e, part)
            axes.append(iv if dom is iv.dom else iv.replace(dom=dom))
        return BlockRealize(
            root.iter_values, root.predicate, root.block.replace(iter_vars=tuple(axes)), root.span
        )
    return root.map_children(lambda c: _narrowed(plan, c, part) if isinstance(c, Stmt) else c)


def _domain(plan: Plan, iv: IterVar, value: Any, part: Range) -> Range | None:
    """The domain of an axis where the loop runs over that part of its range."""
    s: For = plan.place.node
    v = s.loop_var
    dom = iv.dom
    if dom is None or s.step is not None:
        return dom
    if type(value) is Var:
        return part if value is v and same(dom.min, s.min) and same(dom.extent, s.extent) else dom
    form = form_of(value) if type(value) is not IntImm else None
    if form is None or v not in form.terms or form.terms[v] <= 0:
        return dom
    numbers = [getattr(x, "value", None) for x in (dom.min, dom.extent, part.min, part.extent, s.min)]
    if any(x is None for x in numbers):
        return dom
    first, size, start, count, whole_start = numbers
    assert first is not None and size is not None and start is not None and count is not None
    k = form.terms[v]
    reach = 0
    base = form.const
    ranges = {**outside_ranges(plan.place), **_ranges(s)}
    for u, c in form.terms.items():
        if u is v:
            continue
        if u not in ranges or c < 0:
            return dom
        a, b = ranges[u]
        base += a * c
        reach += (b - a) * c
    # Only where the loop counts whole tiles of the axis do its parts leave no gaps and share nothing.
    if reach != k - 1 or base + k * (whole_start or 0) != first or count <= 0:
        return dom
    begin = base + k * start
    end = min(begin + k * count, first + size)
    if begin >= end:
        return dom
    return Range(const_int(begin, dom.min.dtype), const_int(end - begin, dom.extent.dtype))


def _ranges(s: For) -> dict[Var, tuple[int, int]]:
    """The constant ranges of the loops below."""
    out: dict[Var, tuple[int, int]] = {}
    n: Any
    for n in walk(s.body):
        if type(n) is For and type(n.min) is IntImm and type(n.extent) is IntImm and n.step is None:
            out[n.loop_var] = (n.min.value, n.min.value + max(n.extent.value, 1) - 1)
    return out


def _named(root: Any, part: str, blocks: set[str]) -> Any:
    """The copy with blocks named after the part."""
    if type(root) is Block:
        new = root.map_children(lambda c: _named(c, part, blocks))
        return new.replace(label=BlockLabel(free_name(f"{root.name}_{part}", blocks)))
    return root.map_children(lambda c: _named(c, part, blocks) if isinstance(c, (Stmt, Block)) else c)


KIND = InstructionKind(
    "LoopPartition", "loop_partition", ("loop", "factors", "preserve_unit_iters"), check, rewrite, attrs=1
)
