"""Split a block that pads into one that fills with the pad value and one that copies what lies inside.

The fill block ``X_pad_const`` runs in loops of its own (serial ones, of the same names), just before
``loop``.  The given block then stores where its condition holds: axes that the condition bounds get the
smaller domain, and so do their loops where they drive nothing else; what else the condition says becomes a
predicate.

Requirements:
  * ``block`` and ``loop`` are references to a block and a loop that are there (``wrong-handle``,
    ``expired-reference``)
  * ``loop`` is around the block, in the same scope (``loop-not-around``); between them stand only loops and
    sequences (``statement-between``), with extents and a predicate that read no memory
    (``data-dependent``)
  * the block has spatial axes only and no init (``not-complete``), and its body is one store of
    ``T.if_then_else(condition, value, pad)`` or ``T.Select``, either way round (``no-padding``)
  * the pad value and the condition read no memory (``data-dependent``)
  * instances write different cells (``shared-cell``), and nothing else below ``loop`` touches the buffer
    (``other-access``), the value itself neither (``reads-itself``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import loop_lines, padding
>>> sch = Schedule(padding(), debug_mask="all")
>>> block = sch.get_block("Y")
>>> sch.decompose_padding(block, sch.get_loops(block)[0])
BlockRV('Y_pad_const')
>>> loop_lines(sch)
for i in range(20):
for i in range(16):

Source: TVM's ``decompose_padding``.
"""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses, accesses_of, conjuncts, negated, uses_declared
from tirscript.analysis.dependence import Witness, instance_conflicts
from tirscript.analysis.inferred import infer_regions
from tirscript.arith.analyzer import Analyzer
from tirscript.arith.linear import Linear, to_linear
from tirscript.ir import op
from tirscript.ir.expr import (
    GE,
    GT,
    LE,
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    IntImm,
    IterVar,
    Range,
    Select,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.stmt import NONE, Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt, Stmt, seq
from tirscript.ir.visitor import free_vars, substitute, walk

from ..errors import Refusal, describe
from ..legality.apart import axes_apart
from ..legality.prove import bind_around
from ..legality.surroundings import aliased_params
from ..names import free_name
from ..record.trace import InstructionKind
from ..refs import BlockRV, StmtSRef
from ..resolve import block_place, loop_place
from ..rewrite.substitute import put
from ..state import ScheduleState, with_child


class LoopNotAround(Refusal):
    code = "loop-not-around"
    template = "loop `{loop}` is not around block {block}"
    hint_template = "take one of get_loops(block)"


class StatementBetween(Refusal):
    code = "statement-between"
    template = "{what} stands between loop `{loop}` and block {block}"


class NotComplete(Refusal):
    code = "not-complete"
    template = "block {block} is no padding: {what}"


class NoPadding(Refusal):
    code = "no-padding"
    template = "block {block} is no padding: {what}"
    hint_template = "the body must be one store of T.if_then_else(condition, value, pad)"


class DataDependent(Refusal):
    code = "data-dependent"
    template = (
        "the padding of block {block} cannot be filled in ahead: {what} reads memory or calls something"
    )


class SharedCell(Refusal):
    code = "shared-cell"
    template = "the padding of block {block} cannot be filled in ahead: instances may write the same cell"


class OtherAccess(Refusal):
    code = "other-access"
    template = (
        "the padding of block {block} cannot be filled in before loop `{loop}`: {other} inside it touches "
        "{buffer}"
    )
    hint_template = "decompose at a loop further in"


class ReadsItself(Refusal):
    code = "reads-itself"
    template = (
        "the padding of block {block} cannot be filled in ahead: its value may read {buffer}, which it writes"
    )


class Plan:
    """The block, the loop, the way between them, and the parts of what is stored."""

    __slots__ = ("block", "condition", "loop", "pad", "path", "value")

    def __init__(
        self,
        block: StmtSRef,
        loop: StmtSRef,
        path: list[StmtSRef],
        condition: list[Expr],
        value: Expr,
        pad: Expr,
    ) -> None:
        self.block = block
        self.loop = loop
        self.path = path  # from the block outwards to the loop
        self.condition = condition
        self.value = value
        self.pad = pad


def check(state: ScheduleState, block: Any, loop: Any) -> Plan:
    """The parts of the padding, if the block can be decomposed at the loop."""
    bp = block_place(state, block, "block", "decompose_padding")
    lp = loop_place(state, loop, "loop", "decompose_padding")
    realize: BlockRealize = bp.node
    b = realize.block
    path: list[StmtSRef] = []
    p = bp.parent
    while p is not None and p is not lp and type(p.node) is not BlockRealize:
        path.append(p)
        p = p.parent
    if p is not lp:
        raise LoopNotAround(bp.home, at=[(lp.node, None), (realize, "")], loop=lp.node, block=realize)
    path.append(lp)
    for q in path:
        if type(q.node) not in (For, SeqStmt):
            raise StatementBetween(
                bp.home,
                at=[(lp.node, None), (q.node, "")],
                what=describe(q.node),
                loop=lp.node,
                block=realize,
            )
    what = None
    if b.init is not None:
        what = "it has an init"
    for iv in b.iter_vars:
        if iv.kind != "spatial":
            what = what or f"axis `{iv.var.name}` is {iv.kind}"
    if what is not None:
        raise NotComplete(bp.home, at=[(realize, None)], block=realize, what=what)
    around = {q.node.loop_var for q in path if type(q.node) is For}
    condition, value, pad = _parts(bp, realize, around)
    _check_pure(bp, path, condition, pad)
    if state.enable_check:
        _check_cells(bp, lp, path)
    return Plan(bp, lp, path, condition, value, pad)


def _parts(bp: StmtSRef, realize: BlockRealize, around: set[Var]) -> tuple[list[Expr], Expr, Expr]:
    """The conjuncts of the condition, the value inside and the pad value."""
    b = realize.block
    s = b.body
    what = None
    if type(s) is not BufferStore:
        what = f"its body is {describe(s)}, not a single store"
    elif s.predicate is not None or b.alloc_buffers or b.match_buffers or uses_declared(b):
        what = "its store is masked, or the block is more than that store"
    elif not free_vars(b).isdisjoint(around):
        name = min([v.name for v in free_vars(b) & around])
        what = f"it uses the loop `{name}` without an axis"
    else:
        e: Any = s.value
        if type(e) is Select:
            condition, yes, no = e.condition, e.true_value, e.false_value
        elif type(e) is Call and e.op == "if_then_else":
            condition, yes, no = e.args
        else:
            raise NoPadding(
                bp.home, at=[(realize, None)], block=realize, what="no condition decides what it stores"
            )
        if _pure(no):
            return conjuncts(condition), yes, no
        if _pure(yes):
            return negated(condition), no, yes
        what = "neither side of its condition is a constant"
    raise NoPadding(bp.home, at=[(realize, None)], block=realize, what=what)


def _pure(e: Any) -> bool:
    """Whether an expression reads no memory and calls nothing with an effect."""
    n: Any
    for n in walk(e):
        if type(n) is BufferLoad:
            return False
        if type(n) is Call:
            known = op.OPS.get(n.op) if isinstance(n.op, str) else None
            if known is None or known.effect != "pure":
                return False
    return True


def _check_pure(bp: StmtSRef, path: list[StmtSRef], condition: list[Expr], pad: Expr) -> None:
    realize: BlockRealize = bp.node
    parts: list[tuple[str, Any]] = [("its condition", c) for c in condition]
    parts += [("its predicate", realize.predicate), *[("an axis", v) for v in realize.iter_values]]
    for q in path:
        if type(q.node) is For:
            parts += [(describe(q.node), q.node.min), (describe(q.node), q.node.extent)]
    for what, e in parts:
        if type(e) is not Var and type(e) is not IntImm and not _pure(e):
            raise DataDependent(bp.home, at=[(realize, None)], block=realize, what=what)


def _check_cells(bp: StmtSRef, lp: StmtSRef, path: list[StmtSRef]) -> None:
    realize: BlockRealize = bp.node
    b = realize.block
    store: Any = b.body
    aliased = aliased_params(bp.home)
    memory = {store.buffer.data}
    if store.buffer in aliased:
        memory |= {x.data for x in aliased}
    for a in accesses(b):
        if not a.is_write and a.buffer.data in memory:
            raise ReadsItself(bp.home, at=[(realize, None)], block=realize, buffer=a.buffer)
    apart = axes_apart(b)
    if any(iv.var not in apart for iv in b.iter_vars):
        answer = instance_conflicts(b)
        if answer is not None:
            notes = [answer.text] if isinstance(answer, Witness) else []
            raise SharedCell(bp.home, at=[(realize, None)], notes=notes, block=realize)
    if all(type(q.node) is For for q in path):
        return
    for a in accesses_of(lp.node):
        if a.buffer.data in memory and not (a.realizes and a.realizes[0] is realize):
            other = describe(a.realizes[-1]) if a.realizes else describe(a.stmt)
            raise OtherAccess(
                bp.home, at=[(lp.node, None), (realize, "")], block=realize, loop=lp.node, other=other,
                buffer=a.buffer,
            )  # fmt: skip


# ---- rewriting


def rewrite(state: ScheduleState, plan: Plan) -> BlockRV:
    """Put the fill nest before the loop and let the block store inside; the fill block is returned."""
    home = plan.block.home
    taken = {p.node.block.name for t, p in home.index.items() if type(t) is BlockLabel}
    label = BlockLabel(free_name(f"{plan.block.node.block.name}_pad_const", taken))
    fill = _fill(plan, label)
    state.replace(plan.loop, seq(fill, _inside(plan)), ())
    return BlockRV(label, home.name)


def _outer_units(plan: Plan) -> dict[Var, Expr]:
    """Loops of one iteration around the loop, with their only value."""
    out: dict[Var, Expr] = {}
    p = plan.loop.parent
    while p is not None and type(p.node) is not BlockRealize:
        s = p.node
        if type(s) is For and type(s.extent) is IntImm and s.extent.value == 1:
            out[s.loop_var] = s.min
        p = p.parent
    return out


def _fill(plan: Plan, label: BlockLabel) -> Stmt:
    realize: BlockRealize = plan.block.node
    b = realize.block
    store: Any = b.body
    values = _outer_units(plan)
    loops = [p.node for p in plan.path if type(p.node) is For]
    for f in loops:
        v = f.loop_var
        values[v] = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
    axes: dict[Var, Expr] = {}
    ivs = []
    for iv in b.iter_vars:
        v = iv.var
        axes[v] = new = Var(v.name, v.dtype, v.exact, v.pointee, v.span)
        ivs.append(IterVar(new, iv.dom, iv.kind, iv.thread_tag, iv.span))
    indices = tuple([put(i, axes) for i in store.indices])
    body = BufferStore(store.buffer, put(plan.pad, axes), indices, None, store.span)
    reads, writes = infer_regions(ivs, body)
    block = Block(label, tuple(ivs), reads, writes, body, span=b.span)
    out: Stmt = BlockRealize(
        tuple([put(e, values) for e in realize.iter_values]),
        put(realize.predicate, values),
        block,
        realize.span,
    )
    for f in loops:
        new_var: Any = values[f.loop_var]
        step = None if f.step is None else put(f.step, values)
        out = For(new_var, put(f.min, values), put(f.extent, values), "serial", out, "", NONE, step, f.span)
    return out


class _Bounds:
    """The values of an axis where the condition holds: ``low`` to ``high``, exclusive."""

    __slots__ = ("high", "low", "shrunk_high", "shrunk_low")

    def __init__(self, dom: Range) -> None:
        self.low = dom.min
        self.high: Expr = dom.extent if _is(dom.min, 0) else Add(dom.min, dom.extent)
        self.shrunk_low = self.shrunk_high = False


def _is(e: Any, value: int) -> bool:
    return type(e) is IntImm and e.value == value


def _inside(plan: Plan) -> Stmt:
    """The old nest, storing where the condition holds."""
    realize: BlockRealize = plan.block.node
    b = realize.block
    cx = Analyzer()
    bind_around(cx, plan.block)
    for buffer in plan.block.home.func.buffer_map.values():
        for e in buffer.shape:
            if type(e) is Var:
                cx.assume(GE(e, const_int(0, e.dtype)))
    for iv in b.iter_vars:
        if iv.dom is not None:
            cx.bind(iv.var, iv.dom)
    bounds = {iv.var: _Bounds(iv.dom) for iv in b.iter_vars if iv.dom is not None}
    rest = [c for c in plan.condition if not _bound(c, bounds, cx) and not cx.can_prove(c)]
    units = _outer_units(plan)
    shifted: dict[Var, Expr] = {}
    axes, values = [], []
    guards: list[Expr] = []
    loops: dict[Var, Expr] = {}  # loops that get smaller, with their extents
    own = _own_loops(plan)
    for iv, value in zip(b.iter_vars, realize.iter_values, strict=True):
        limit = bounds.get(iv.var)
        value = put(value, units)
        if limit is None or not (limit.shrunk_low or limit.shrunk_high):
            axes.append(iv)
            values.append(value)
            continue
        count = cx.simplify(Sub(limit.high, limit.low))
        if type(count) is IntImm and count.value < 0:
            count = const_int(0, count.dtype)
        axes.append(IterVar(iv.var, Range(const_int(0, count.dtype), count), iv.kind, iv.thread_tag, iv.span))
        if not _is(limit.low, 0):
            shifted[iv.var] = Add(iv.var, limit.low)
        f = own.get(value) if type(value) is Var else None
        assert iv.dom is not None
        if (
            f is not None
            and f.step is None
            and not f.thread
            and _same(cx, f.min, iv.dom.min)
            and _same(cx, f.extent, iv.dom.extent)
            and (type(count) is IntImm or cx.can_prove(count >= 0))
            and _used_once(plan, f.loop_var)
        ):
            loops[f.loop_var] = count
            values.append(value)
            continue
        if limit.shrunk_low:
            guards.append(LE(limit.low, value))
        if limit.shrunk_high:
            guards.append(LT(value, limit.high))
        values.append(value if _is(limit.low, 0) else cx.simplify(Sub(value, limit.low)))
    at_values = {iv.var: v for iv, v in zip(b.iter_vars, realize.iter_values, strict=True)}
    for c in rest:
        # Over the loops as they are: their axes may have been shifted.
        back = {
            v: Add(v, bounds[a].low) for a, v in at_values.items() if v in loops and not _is(bounds[a].low, 0)
        }
        guard = substitute(c, at_values)
        guards.append(cx.simplify(substitute(guard, back)) if back else guard)
    if realize.predicate is not TRUE:
        guards += [put(c, units) for c in conjuncts(realize.predicate)]
    predicate: Expr = TRUE
    for g in guards:
        predicate = g if predicate is TRUE else And(predicate, g)
    store: Any = b.body
    body = _shifted(BufferStore(store.buffer, plan.value, store.indices, None, store.span), shifted, cx)
    reads, writes = infer_regions(axes, body)
    block = Block(b.label, tuple(axes), reads, writes, body, None, (), (), b.annotations, b.span)
    out: Stmt = BlockRealize(tuple(values), predicate, block, realize.span)
    slot = plan.block.seq_index
    for p in plan.path:
        s = p.node
        if type(s) is For and s.loop_var in loops:
            n = loops[s.loop_var]
            out = For(
                s.loop_var, const_int(0, s.min.dtype), n, s.kind, out, s.thread, s.annotations, None, s.span
            )
        else:
            out = with_child(s, slot, out)
        slot = p.seq_index
    return out


def _bound(c: Any, bounds: dict[Var, _Bounds], cx: Analyzer) -> bool:
    """Take a conjunct that bounds one axis into its bounds, if it is known which of two bounds is closer."""
    t = type(c)
    if t not in (LT, LE, GT, GE):
        return False
    a, b = to_linear(c.a), to_linear(c.b)
    if a is None or b is None:
        return False
    form = b - a if t in (LT, LE) else a - b  # at least 0, or at least 1
    if t in (LT, GT):
        form = form.shift(-1)
    axes = [v for v in form.terms if v in bounds]
    if len(axes) != 1 or any(
        type(atom) is not Var and not free_vars(atom.expr).isdisjoint(bounds)  # type: ignore[union-attr]
        for atom in form.terms
    ):
        return False
    v: Any = axes[0]
    k = form.terms[v]
    if k not in (1, -1):
        if any(atom is not v for atom in form.terms):
            return False
        edge = Linear({}, -(form.const // k)) if k > 0 else Linear({}, form.const // -k + 1)
    else:
        rest = form.plus(Linear({v: 1}), -k)
        edge = rest.scale(-1) if k > 0 else rest.shift(1)
    limit = bounds[v]
    made = edge.written(v.dtype)
    if k > 0:
        if cx.can_prove(LE(made, limit.low)):
            return True
        if not cx.can_prove(LE(limit.low, made)):
            return False
        limit.low, limit.shrunk_low = made, True
    else:
        if cx.can_prove(LE(limit.high, made)):
            return True
        if not cx.can_prove(LE(made, limit.high)):
            return False
        limit.high, limit.shrunk_high = made, True
    return True


def _own_loops(plan: Plan) -> dict[Var, For]:
    """The loops from the given one inwards that contain nothing but the block."""
    out: dict[Var, For] = {}
    for p in plan.path:
        if type(p.node) is not For:
            break
        out[p.node.loop_var] = p.node
    return out


def _used_once(plan: Plan, v: Var) -> bool:
    """Whether a loop does nothing but drive one axis."""
    realize: BlockRealize = plan.block.node
    count = sum(v in free_vars(e) for e in realize.iter_values)
    others: list[Expr] = [realize.predicate]
    for p in plan.path:
        if type(p.node) is For:
            others += [p.node.min, p.node.extent]
    return count == 1 and not any(v in free_vars(e) for e in others)


def _same(cx: Analyzer, a: Expr, b: Expr) -> bool:
    if a is b or (type(a) is IntImm and type(b) is IntImm and a.value == b.value):
        return True
    return cx.can_prove_equal(a, b)


def _shifted(root: Stmt, values: dict[Var, Expr], cx: Analyzer) -> Stmt:
    """The store over axes that start elsewhere, its indices simplified."""
    if not values:
        return root
    keys = values.keys()

    def f(n: Any) -> Any:
        t = type(n)
        if t is Var:
            return values.get(n, n)
        if t is BufferLoad:
            indices = tuple([index(i) for i in n.indices])
            return BufferLoad(n.buffer, indices, None if n.predicate is None else f(n.predicate), n.span)
        return n.map_children(f)

    def index(i: Any) -> Any:
        if keys.isdisjoint(free_vars(i)):
            return i
        if any(type(x) is BufferLoad for x in walk(i)):
            return f(i)
        return cx.simplify(substitute(i, values))

    s: Any = root
    return BufferStore(s.buffer, f(s.value), tuple([index(i) for i in s.indices]), None, s.span)


KIND = InstructionKind("DecomposePadding", "decompose_padding", ("block", "loop"), check, rewrite)
