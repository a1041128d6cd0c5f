"""May a loop run in any order, may loops change places: asked of the dependences, answered with a witness.

First the cells below the loop are compared pairwise as linear equations (``cells``), then the general
engine of ``analysis.dependence`` decides.  What neither understands is refused as unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from tirscript.ir.expr import TRUE, Add, And, BufferLoad, Expr, IntImm, Max, Min, Mul, Or, Sub, Var
from tirscript.ir.node import memo_of, walk
from tirscript.ir.stmt import Block, BlockRealize, BufferStore, For, IfThenElse, SeqStmt

from .cells import Cell, Form, Interval, all_cells, cells_below, distances, form_of, may_alias, own_cells
from .errors import Refusal
from .refs import StmtSRef, block_token
from .state import FunctionState
from .witness import describe_conflict, find_conflict

_COMBINE = frozenset({Add, Mul, Min, Max, And, Or})


class NotIndependent(Refusal):
    code = "loop-carried-dependence"
    template = "loop `{loop}` cannot be {word}: its iterations are not independent"
    hint_template = "make a loop whose iterations are independent {word}, or split the work so that they are"


class OnReductionAxis(Refusal):
    code = "reduction-axis"
    template = "loop `{loop}` cannot be {word}: block {block} binds it to a reduction axis"


class DependenceUnknown(Refusal):
    code = "dependence-unknown"
    template = "cannot tell whether {question}: {access} is not understood"
    hint_template = "if you know that it is right, Schedule(mod, enable_check=False) skips this test"


class ReversedDependence(Refusal):
    code = "reversed-dependence"
    template = "{loops} cannot be reordered: a dependence would be reversed"
    hint_template = "keep the order of the loops that carry it"


def aliased_params(home: FunctionState) -> frozenset[Any]:
    """The parameter buffers that may share memory."""
    flag = home.func.attrs.get("tir.noalias", True)
    value = getattr(flag, "value", flag)
    return frozenset() if value else frozenset(home.func.buffer_map.values())


def outside_ranges(place: StmtSRef) -> dict[Var, Interval]:
    """The ranges of the loops and axes around a place, where they are constant."""
    out: dict[Var, Interval] = {}
    p = place.parent
    while p is not None:
        s = p.node
        if type(s) is For:
            low, extent = getattr(s.min, "value", None), getattr(s.extent, "value", None)
            if low is not None and extent is not None:
                out[s.loop_var] = (low, low + max(extent, 1) - 1)
        elif type(s) is BlockRealize:
            for iv in s.block.iter_vars:
                low, extent = getattr(iv.dom.min, "value", None), getattr(iv.dom.extent, "value", None)
                if low is not None and extent is not None:
                    out[iv.var] = (low, low + max(extent, 1) - 1)
        p = p.parent
    return out


def check_iterations_independent(place: StmtSRef, word: str, rule: type[Refusal] = OnReductionAxis) -> None:
    """Refuse unless no two iterations of the loop touch one cell with a write; ``word`` says why it is
    asked ("parallel", "vectorized")."""
    if _surely_independent(place):
        return
    loop: For = place.node
    aliased = aliased_params(place.home)
    cells = cells_below(loop)
    if cells is None:
        cells = all_cells(loop)
    pair = _dependent_pair(loop, cells, aliased, place)
    if pair is None:
        return
    _decide_carried(place, pair, word, rule)


def _surely_independent(place: StmtSRef) -> bool:
    """The quick answer for one block: an axis that keeps its instances apart takes another value in every
    iteration."""
    loop: For = place.node
    v = loop.loop_var
    realize, inner = _single_block(loop.body, [])
    if realize is None or _may_be_aliased(place.home):
        return False
    apart = axes_apart(realize.block)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.var in apart:
            if value is v:
                return True
            t = type(value)
            if t is not Var and t is not IntImm:
                form = form_of(value)
                if form is not None and v in form.terms and v in _determined(form, inner, v):
                    return True
    return False


def _surely_in_order(place: StmtSRef, chain: Sequence[For], turned: Sequence[tuple[Var, Var]]) -> bool:
    """The quick answer for one block: of two loops that change places, one is the same wherever instances
    meet, or all meetings are updates that commute."""
    realize, inner = _single_block(chain[-1].body, list(chain))
    if realize is None or _may_be_aliased(place.home):
        return False
    block = realize.block
    apart = axes_apart(block)
    fixed: set[Var] = set()
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if iv.var in apart:
            if type(value) is Var:
                fixed.add(value)
            else:
                form = form_of(value)
                if form is not None:
                    fixed |= _determined(form, inner, None)
    loose = [v for pair in turned if pair[0] not in fixed and pair[1] not in fixed for v in pair]
    if not loose:
        return True
    cells = own_cells(block)
    reduced = reduced_buffers(block)
    if any(c.write and c.buffer not in reduced for c in cells):
        return False
    for iv, value in zip(block.iter_vars, realize.iter_values, strict=True):
        if iv.kind not in ("spatial", "reduce") and any(_mentions(value, v) for v in loose):
            return False
    return True


def _single_block(s: Any, inner: list[For]) -> tuple[BlockRealize | None, list[For]]:
    """The block that is all there is below loops, and those loops."""
    while type(s) is For:
        inner.append(s)
        s = s.body
    return (s if type(s) is BlockRealize else None), inner


def _may_be_aliased(home: FunctionState) -> bool:
    flag = home.func.attrs.get("tir.noalias")
    return flag is not None and not getattr(flag, "value", flag)


def axes_apart(block: Block) -> frozenset[Var]:
    """The axes along which instances never share a cell that is written: for every written buffer, all
    accesses have one dimension that is a multiple of the axis; memoised on the block."""
    memo = memo_of(block)
    found: frozenset[Var] | None = memo.get("apart")
    if found is None:
        found = memo["apart"] = _axes_apart(block)
    return found


def _axes_apart(block: Block) -> frozenset[Var]:
    cells = own_cells(block)
    axes = {iv.var for iv in block.iter_vars}
    out = set(axes)
    for w in cells:
        if not w.write:
            continue
        same = [c for c in cells if c.buffer.data is w.buffer.data]
        if any(c.buffer is not w.buffer or c.indices is None for c in same):
            return frozenset()
        here: set[Var] = set()
        for dims in zip(*[c.indices for c in same if c.indices is not None], strict=True):
            first = dims[0]
            if type(first) is not Form or len(first.terms) != 1 or first.slack != (0, 0):
                continue
            if all(type(d) is Form and d[:2] == first[:2] and d.slack == (0, 0) for d in dims):
                here |= first.terms.keys() & axes
        out &= here
    return frozenset(out)


def _determined(form: Form, loops: Sequence[For], also: Var | None) -> set[Var]:
    """The variables whose values follow from the form's, the loops in ``loops`` (and ``also``) varying and
    all others fixed: each coefficient exceeds what the smaller ones can make up for."""
    sizes: dict[Var, float] = {} if also is None else {also: inf}
    for f in loops:
        v = f.loop_var
        if v in form.terms:
            constant = type(f.extent) is IntImm and type(f.min) is IntImm
            sizes[v] = f.extent.value - 1 if constant else inf
    reach = 0.0
    out: set[Var] = set()
    for v, k in sorted(((v, abs(form.terms[v])) for v in sizes), key=lambda item: item[1]):
        if k <= reach:
            return set()
        out.add(v)
        reach += k * sizes[v]
    return out


def _dependent_pair(
    loop: For, cells: list[Cell], aliased: frozenset[Any], place: StmtSRef
) -> tuple[Cell, Cell, Interval] | None:
    """Two accesses that may meet in different iterations of the loop."""
    written = [c for c in cells if c.write]
    v = loop.loop_var
    outside: dict[Var, Interval] | None = None
    for n, a in enumerate(written):
        data = a.buffer.data
        for b in cells:
            if (
                b.buffer is not a.buffer
                and b.buffer.data is not data
                and not may_alias(a.buffer, b.buffer, aliased)
            ):
                continue
            if b.write and b is not a and any(b is w for w in written[:n]):
                continue  # the pair was looked at the other way round
            if outside is None:
                outside = outside_ranges(place) if place.parent is not None else {}
            found = distances(a, b, _shared(a, b), outside)
            if found is not None:
                low, high = found.get(v, (-inf, inf))
                if low < 0 or high > 0:
                    return a, b, (low, high)
    return None


def _shared(a: Cell, b: Cell) -> Sequence[tuple[Var, float, float]]:
    """The loops around both accesses."""
    if a is b or a.around is b.around:
        return a.around
    out = []
    for x, y in zip(a.around, b.around, strict=False):
        if x[0] is not y[0]:
            break
        out.append(x)
    return out


def _decide_carried(
    place: StmtSRef, pair: tuple[Cell, Cell, Interval], word: str, rule: type[Refusal]
) -> None:
    loop: For = place.node
    a, b, apart = pair
    engine = _engine("loop_carried", place)
    if engine is True:
        return
    v = loop.loop_var
    found = find_conflict(place, [loop], lambda x, y: x.env[v] != y.env[v], apart)
    note = None if found is None else describe_conflict(found, [loop])
    if note is None and isinstance(engine, str):
        note = engine
    if note is None:
        raise DependenceUnknown(
            place.home,
            at=[(loop, None)],
            question=f"the iterations of loop `{v.name}` are independent",
            access=_access_text(a if a.indices is None or None in a.indices else b),
        )
    block, axis = _reduction_axis(a, v)
    if block is not None:
        raise rule(
            place.home,
            at=[(loop, None), ((axis, v), "bound here")],
            notes=[note],
            hint=_other_loops(place, block, word),
            loop=loop,
            block=block,
            word=word,
        )
    raise NotIndependent(place.home, at=[(loop, None)], notes=[note], loop=loop, word=word)


def _access_text(cell: Cell) -> str:
    what = "written" if cell.write else "read"
    if cell.realize is not None:
        return f'how {cell.buffer.name} is {what} in block "{cell.realize.block.name}"'
    return f"how {cell.buffer.name} is {what}"


def _reduction_axis(cell: Cell, v: Var) -> tuple[BlockRealize | None, Any]:
    if cell.realize is not None:
        for iv, value in zip(cell.realize.block.iter_vars, cell.realize.iter_values, strict=True):
            if iv.kind == "reduce" and _mentions(value, v):
                return cell.realize, iv
    return None, None


def _mentions(e: Expr, v: Var) -> bool:
    if type(e) is Var:
        return e is v
    return any(n is v for n in walk(e))


def _other_loops(place: StmtSRef, realize: BlockRealize, word: str) -> str:
    """The hint for a reduction loop: rfactor, or the loops that are bound to spatial axes alone."""
    kinds: dict[Var, set[str]] = {}
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        for n in walk(value):
            if type(n) is Var:
                kinds.setdefault(n, set()).add(iv.kind)
    good = [v.name for v, k in kinds.items() if k == {"spatial"}]
    name = place.node.loop_var.name
    if not good:
        return f"rfactor({name}, 0) first"
    return f"rfactor({name}, 0) first, or make a loop bound to spatial axes {word}: {', '.join(good)}"


# ---- reorder


def check_reorder(place: StmtSRef, chain: Sequence[For], order: Sequence[For]) -> None:
    """Refuse unless every dependence keeps its direction when the perfect nest ``chain`` (outermost
    first, the first at ``place``) runs in ``order``."""
    top = chain[0]
    position = {f.loop_var: n for n, f in enumerate(order)}
    moved = [f.loop_var for f in chain]
    # Pairs of loops that change places: (outer before, outer after).
    turned = [(x, y) for n, x in enumerate(moved) for y in moved[n + 1 :] if position[y] < position[x]]
    if not turned or _surely_in_order(place, chain, turned):
        return
    cells = cells_below(top)
    if cells is None:
        cells = all_cells(top)
    aliased = aliased_params(place.home)
    outside: dict[Var, Interval] | None = None
    written = [c for c in cells if c.write]
    for n, a in enumerate(written):
        for b in cells:
            if b.buffer is not a.buffer and not may_alias(a.buffer, b.buffer, aliased):
                continue
            if b.write and b is not a and any(b is w for w in written[:n]):
                continue
            if outside is None:
                outside = outside_ranges(place) if place.parent is not None else {}
            found = distances(a, b, _shared(a, b), outside)
            if found is None or not _turns(found, moved, position, turned):
                continue
            if _commutes(a, b, [v for v in moved if found[v] != (0, 0)]):
                continue
            _decide_reversed(place, chain, order, a, b)


def _turns(
    found: dict[Var, Interval],
    moved: list[Var],
    position: dict[Var, int],
    turned: list[tuple[Var, Var]],
) -> bool:
    """Whether some distance within the intervals is positive in the old order and negative in the new."""
    for x, y in turned:
        low_x, high_x = found[x]
        low_y, high_y = found[y]
        if not ((high_x > 0 and low_y < 0) or (low_x < 0 and high_y > 0)):
            continue
        before = moved[: moved.index(x)]
        after = [v for v in moved if position[v] < position[y]]
        if all(found[v][0] <= 0 <= found[v][1] for v in (*before, *after)):
            return True
    return False


def _commutes(a: Cell, b: Cell, loops: list[Var]) -> bool:
    """Whether both accesses belong to one update by a commutative reducer, of a block that lets the
    order of the loops free."""
    realize = a.realize
    if realize is None or b.realize is not realize or a.buffer is not b.buffer:
        return False
    if a.buffer not in reduced_buffers(realize.block):
        return False
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind not in ("spatial", "reduce") and any(_mentions(value, v) for v in loops):
            return False
    return True


def reduced_buffers(block: Block) -> frozenset[Any]:
    """The buffers that the block only updates by ``X[i] = X[i] op value`` with a commutative, associative
    ``op``; memoised on the block."""
    memo = memo_of(block)
    found: frozenset[Any] | None = memo.get("reduced")
    if found is None:
        found = memo["reduced"] = frozenset(_reduced(block))
    return found


def _reduced(block: Block) -> list[Any]:
    stores: list[BufferStore] = []
    stack: list[Any] = [block.body]
    while stack:
        s = stack.pop()
        if type(s) is BufferStore:
            stores.append(s)
        elif type(s) is SeqStmt:
            stack.extend(s.seq)
        elif type(s) is For:
            stack.append(s.body)
        elif type(s) is IfThenElse:
            stack.append(s.then_case)
            if s.else_case is not None:
                stack.append(s.else_case)
        else:
            return []
    out = []
    for s in stores:
        if sum(1 for other in stores if other.buffer is s.buffer) != 1:
            continue
        value: Any = s.value
        rest = None
        if type(value) in _COMBINE:
            if _is_load_of(value.a, s):
                rest = value.b
            elif _is_load_of(value.b, s):
                rest = value.a
        elif type(value) is Sub and _is_load_of(value.a, s):
            rest = value.b
        if rest is None or _reads(rest, s.buffer) or any(_reads(i, s.buffer) for i in s.indices):
            continue
        if any(_reads(n, s.buffer) for n in _other_expressions(block, s)):
            continue
        out.append(s.buffer)
    return out


def _other_expressions(block: Block, own: BufferStore) -> list[Any]:
    """Values and conditions of the block outside the store."""
    out: list[Any] = []
    stack: list[Any] = [block.body]
    while stack:
        s = stack.pop()
        if type(s) is BufferStore:
            if s is not own:
                out += [s.value, *s.indices]
        elif type(s) is SeqStmt:
            stack.extend(s.seq)
        elif type(s) is For:
            out += [s.min, s.extent]
            stack.append(s.body)
        elif type(s) is IfThenElse:
            out.append(s.condition)
            stack.append(s.then_case)
            if s.else_case is not None:
                stack.append(s.else_case)
    return out


def _is_load_of(e: Any, store: BufferStore) -> bool:
    from tirscript.arith.linear import key_of

    if type(e) is not BufferLoad or e.buffer is not store.buffer:
        return False
    return all(key_of(i) == key_of(j) for i, j in zip(e.indices, store.indices, strict=True))


def _reads(e: Any, buffer: Any) -> bool:
    return any(type(n) is BufferLoad and n.buffer.data is buffer.data for n in walk(e))


def _decide_reversed(place: StmtSRef, chain: Sequence[For], order: Sequence[For], a: Cell, b: Cell) -> None:
    engine = _engine("reorder_legal", place, chain, order)
    if engine is True:
        return
    old = [f.loop_var for f in chain]
    new = [f.loop_var for f in order]

    def turned(x: Any, y: Any) -> bool:
        dx, dy = [x.env[v] for v in old], [y.env[v] for v in old]
        nx, ny = [x.env[v] for v in new], [y.env[v] for v in new]
        return (dx < dy and nx > ny) or (dx > dy and nx < ny)

    found = find_conflict(place, chain, turned, None)
    if found is None:
        if isinstance(engine, str):
            raise ReversedDependence(
                place.home, at=[(f, None) for f in chain[:1]], notes=[engine], loops=_names(order)
            )
        raise DependenceUnknown(
            place.home,
            at=[(chain[0], None)],
            question=f"{_names(order)} may be reordered",
            access=_access_text(a if a.indices is None or None in a.indices else b),
        )
    first, second = found
    if [first.env[v] for v in old] > [second.env[v] for v in old]:
        first, second = second, first
    note = describe_conflict((first, second), chain)
    raise ReversedDependence(
        place.home,
        at=[(chain[0], None)],
        notes=[f"{note}; the new order runs them the other way round"],
        loops=_names(order),
    )


def _names(loops: Sequence[For]) -> str:
    return ", ".join([f"`{f.loop_var.name}`" for f in loops])


# ---- the general engine


def _engine(question: str, place: StmtSRef, *args: Any) -> bool | str | None:
    """What ``analysis.dependence`` answers: True (legal), a witness as text, or None (unknown)."""
    return None


# ---- cover


class NotCovered(Refusal):
    code = "axis-not-covered"
    template = "loop `{loop}` cannot be {word}: the loops around block {block} never run `{axis}` = {missing}"
    hint_template = "let the loops run over the whole domain of the axis, {domain}"


class Overrun(Refusal):
    code = "axis-overrun"
    template = (
        "loop `{loop}` cannot be {word}: the loops around block {block} take `{axis}` to {extreme}, "
        "outside its domain {domain}"
    )
    hint_template = "let the loops run over the domain of the axis only, or guard the block with T.where"


def check_cover(place: StmtSRef, word: str) -> None:
    """Refuse where the axes that the loop drives certainly miss instances, or leave their domain."""
    loop: For = place.node
    v = loop.loop_var
    ranges: dict[Var, Interval] | None = None
    stack: list[Any] = [loop]
    loops: list[For] = []
    while stack:
        s = stack.pop()
        t = type(s)
        if t is For:
            loops.append(s)
            stack.append(s.body)
        elif t is SeqStmt:
            stack.extend(s.seq)
        elif t is BlockRealize and s.predicate is TRUE:
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                if value is v:
                    low, extent, dom = loop.min, loop.extent, iv.dom
                    if type(low) is not IntImm or type(extent) is not IntImm or loop.step is not None:
                        continue
                    if type(dom.min) is IntImm and type(dom.extent) is IntImm:
                        if low.value == dom.min.value and extent.value == dom.extent.value:
                            continue
                    form = Form(0, {v: 1})
                elif type(value) is Var or type(value) is IntImm:
                    continue
                else:
                    found = form_of(value)
                    if found is None or v not in found.terms:
                        continue
                    form = found
                if ranges is None:
                    if _guarded(place):
                        return
                    ranges = outside_ranges(place)
                _check_axis(place, s, iv, form, _with_loops(ranges, loops), word)


def check_axes_cover(place: StmtSRef, realize: BlockRealize, word: str) -> None:
    """The same for the spatial axes of one block below the place."""
    if realize.predicate is not TRUE or _guarded(place):
        return
    around = []
    p = place.home.index[block_token(realize.block.label)].parent
    while p is not None and p is not place.parent:
        if type(p.node) is For:
            around.append(p.node)
        elif type(p.node) is IfThenElse:
            return
        p = p.parent
    known = _with_loops(outside_ranges(place), around)
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind != "reduce":
            form = form_of(value)
            if form is not None:
                _check_axis(place, realize, iv, form, known, word)


def _with_loops(ranges: dict[Var, Interval], loops: Sequence[For]) -> dict[Var, Interval]:
    known = dict(ranges)
    for f in loops:
        low, extent = getattr(f.min, "value", None), getattr(f.extent, "value", None)
        if low is not None and extent is not None and extent > 0 and f.step is None:
            known[f.loop_var] = (low, low + extent - 1)
    return known


def _guarded(place: StmtSRef) -> bool:
    """Whether a condition stands around the place, within its block."""
    p = place.parent
    while p is not None and type(p.node) is not BlockRealize:
        if type(p.node) is IfThenElse:
            return True
        p = p.parent
    return False


def _check_axis(
    place: StmtSRef, realize: BlockRealize, iv: Any, form: Any, known: dict[Var, Interval], word: str
) -> None:
    low = high = form.const
    for u, k in form.terms.items():
        if u not in known:
            return
        a, b = known[u]
        low += min(a * k, b * k)
        high += max(a * k, b * k)
    first, extent = getattr(iv.dom.min, "value", None), getattr(iv.dom.extent, "value", None)
    if first is None or extent is None or extent <= 0:
        return
    last = first + extent - 1
    if low == first and high == last:
        return
    fields: dict[str, Any] = {
        "loop": place.node, "word": word, "block": realize, "axis": iv,
        "domain": f"{first} to {last}",
    }  # fmt: skip
    at = [(place.node, None), (iv, "bound here")]
    if low < first or high > last:
        raise Overrun(place.home, at=at, extreme=str(int(low if low < first else high)), **fields)
    missing = [_span(first, int(low) - 1)] if low > first else []
    missing += [_span(int(high) + 1, last)] if high < last else []
    raise NotCovered(place.home, at=at, missing=" and ".join(missing), **fields)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
