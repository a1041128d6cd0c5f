"""The cells that blocks touch, as linear forms over loops: the fast floor of the dependence test.

A dependence between two accesses is a solution of ``index == index`` in every dimension.  Here each
dimension is a linear equation over the distances of the loops, and interval arithmetic with integrality
narrows the distances.  What is not linear gives no equation, which is always safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from tirscript.analysis.access import Access, accesses, accesses_of
from tirscript.arith.linear import key_of
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Add, BufferLoad, Call, Cast, Expr, FloorDiv, FloorMod, IntImm, Mul, Sub, Var
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import Block, BlockRealize, For, SeqStmt, Stmt

Terms = dict[Var, int]
Interval = tuple[float, float]
_NOT_PLAIN = frozenset({BufferLoad, Call})


class Form(NamedTuple):
    """``const + sum(terms)`` plus anything in ``slack``."""

    const: int
    terms: Terms
    slack: Interval = (0, 0)


class Digit(NamedTuple):
    """The digits of ``base`` from weight ``low`` up to weight ``high``: ``base // low % (high / low)``."""

    base: Form
    low: Any
    high: Any


Index = Form | Digit | None


class Cell(NamedTuple):
    """What one access touches: indices over loops, the loops around it from the top of the query inwards.

    ``around`` holds (variable, lowest, highest) of each; ``realize`` is the block that it stands in.
    """

    buffer: Buffer
    write: bool
    indices: tuple[Index, ...] | None
    around: tuple[tuple[Var, float, float], ...]
    realize: BlockRealize | None


def read_form(e: Any, k: int, terms: Terms) -> int | None:
    """Add ``k * e`` to the terms and return its constant; None where ``e`` is not linear."""
    t = type(e)
    if t is Var:
        if not e.exact:
            return None
        terms[e] = terms.get(e, 0) + k
        return 0
    if t is IntImm:
        return k * e.value  # type: ignore[no-any-return]
    if t is Add or t is Sub:
        a = read_form(e.a, k, terms)
        if a is None:
            return None
        b = read_form(e.b, k if t is Add else -k, terms)
        return None if b is None else a + b
    if t is Mul:
        if type(e.b) is IntImm:
            k *= e.b.value
            e = e.a
            if type(e) is Var and e.exact:
                terms[e] = terms.get(e, 0) + k
                return 0
            return read_form(e, k, terms)
        if type(e.a) is IntImm:
            return read_form(e.b, k * e.a.value, terms)
        return None
    if t is Cast and "int" in e.dtype and "x" not in e.dtype and e.dtype in ("int32", "int64"):
        return read_form(e.value, k, terms)
    return None


def form_of(e: Expr) -> Form | None:
    """The linear form of an expression of exact integers."""
    terms: Terms = {}
    const = read_form(e, 1, terms)
    return None if const is None else Form(const, terms)


def index_of(e: Expr) -> Index:
    """The linear form, or the digits of one, or None."""
    found = form_of(e)
    return found if found is not None else _digit(e)


def _digit(e: Any) -> Digit | None:
    t = type(e)
    if t is Cast:
        return _digit(e.value)
    low: Any = 1
    high: Any = inf
    if t is FloorMod:
        a, m = e.a, e.b
        if type(a) is FloorDiv:
            low = key_of(a.b)
            high = (
                key_of(Mul(a.b, m))
                if type(m) is not IntImm or type(a.b) is not IntImm
                else m.value * a.b.value
            )
            a = a.a
        else:
            high = key_of(m)
    elif t is FloorDiv:
        a, low = e.a, key_of(e.b)
        if type(a) is FloorMod:
            high, a = key_of(a.b), a.a
    else:
        return None
    base = form_of(a)
    if base is None or low is None or high is None:
        return None
    return Digit(base, low, high)


# ---- cells of a block, over its axes


def own_cells(block: Block) -> list[Cell]:
    """The cells of a block over its axes and the loops inside it; memoised on the block."""
    memo = memo_of(block)
    found: list[Cell] | None = memo.get("cells")
    if found is None:
        seen: dict[Any, int] = {}
        found = []
        local = set(block.alloc_buffers)
        for a in accesses(block):
            if a.buffer in local:
                continue
            cell = cell_of(a, None)
            key = _cell_key(cell)
            at = seen.get(key) if key is not None else None
            if at is None:
                if key is not None:
                    seen[key] = len(found)
                found.append(cell)
            elif a.is_write and not found[at].write:
                found[at] = found[at]._replace(write=True)
        memo["cells"] = found
    return found


def _cell_key(cell: Cell) -> Any:
    if cell.indices is None:
        return None
    parts: list[Any] = [cell.buffer]
    for i in cell.indices:
        if type(i) is not Form:
            return None
        parts.append((i.const, frozenset(i.terms.items()), i.slack))
    parts.append(tuple([v for v, _, _ in cell.around]))
    return tuple(parts)


def _bounds(low: Any, extent: Any) -> Interval:
    if type(low) is IntImm and type(extent) is IntImm:
        return low.value, low.value + max(extent.value, 1) - 1
    return -inf, inf


def cell_of(a: Access, realize: BlockRealize | None) -> Cell:
    around = tuple([(x.var, *_bounds(x.min, x.extent)) for x in a.axes])
    indices: tuple[Index, ...] | None = None
    if a.indices is not None:
        indices = tuple([index_of(i) for i in a.indices])
    elif a.region is not None:
        parts: list[Index] = []
        for r in a.region:
            start = form_of(r.min)
            if start is None:
                parts.append(None)
            else:
                size = r.extent.value - 1 if type(r.extent) is IntImm else inf
                parts.append(Form(start.const, start.terms, (0, max(size, 0))))
        indices = tuple(parts)
    return Cell(a.buffer, a.is_write, indices, around, realize)


# ---- cells below a loop, over the loops


def cells_below(top: For) -> list[Cell] | None:
    """Every access below a loop over the loops around it; None where there is more than loops and blocks
    bound to linear values (``all_cells`` is for that)."""
    out: list[Cell] = []
    stack: list[tuple[Any, tuple[tuple[Var, float, float], ...]]] = [(top, ())]
    while stack:
        s, around = stack.pop()
        t = type(s)
        if t is For:
            low, extent = s.min, s.extent
            if type(low) is not IntImm or type(extent) is not IntImm:
                if not _plain(low) or not _plain(extent):
                    return None
            if s.step is not None:
                return None
            stack.append((s.body, (*around, (s.loop_var, *_bounds(low, extent)))))
        elif t is BlockRealize:
            env: dict[Var, Index] = {}
            if not _plain(s.predicate):
                return None
            for iv, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                bound = Form(0, {value: 1}) if type(value) is Var else index_of(value)
                if bound is None:
                    return None
                env[iv.var] = bound
            for c in own_cells(s.block):
                indices = None if c.indices is None else tuple([compose(i, env) for i in c.indices])
                inner = (*around, *c.around) if c.around else around
                out.append(Cell(c.buffer, c.write, indices, inner, s))
        elif t is SeqStmt:
            stack.extend([(c, around) for c in reversed(s.seq)])
        else:
            return None
    return out


def all_cells(top: Stmt) -> list[Cell]:
    """Every access below a statement, whatever it is."""
    return [cell_of(a, a.realizes[0] if a.realizes else None) for a in accesses_of(top)]


def _plain(e: Any) -> bool:
    """Whether an expression is free of loads and calls."""
    stack = [e]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is IntImm or t is Var:
            continue
        if t in _NOT_PLAIN:
            return False
        stack.extend(n.children())
    return True


def compose(index: Index, env: Mapping[Var, Index]) -> Index:
    if index is None:
        return None
    if isinstance(index, Digit):
        base = compose(index.base, env)
        return Digit(base, index.low, index.high) if type(base) is Form else None
    terms: Terms = {}
    const = index.const
    low, high = index.slack
    single = len(index.terms) == 1 and const == 0 and low == high == 0
    for v, k in index.terms.items():
        bound = env.get(v)
        if bound is None:
            if v in env:
                return None
            terms[v] = terms.get(v, 0) + k
        elif isinstance(bound, Digit):
            return bound if single and k == 1 else None
        else:
            const += bound.const * k
            for u, c in bound.terms.items():
                terms[u] = terms.get(u, 0) + c * k
    return Form(const, terms, (low, high))


# ---- distances


def may_alias(a: Buffer, b: Buffer, aliased: frozenset[Buffer]) -> bool:
    """Whether two buffers may share memory; ``aliased`` are parameters that may be the same."""
    return a is b or a.data is b.data or (a in aliased and b in aliased)


def distances(
    a: Cell, b: Cell, shared: Iterable[tuple[Var, float, float]], outside: Mapping[Var, tuple[float, float]]
) -> dict[Var, Interval] | None:
    """How far apart, loop by loop, two instances may be that touch one cell; None where none do.

    ``shared`` are the loops around both accesses whose distances are asked; loops in ``outside`` and all
    other variables have the same value in both instances.
    """
    delta: dict[Var, Interval] = {}
    ranges: dict[Var, Interval] = {**outside}
    for v, low, high in shared:
        delta[v] = (low - high, high - low)
        ranges[v] = (low, high)
    if a.buffer is not b.buffer or a.indices is None or b.indices is None:
        return delta
    own_a = {v: (low, high) for v, low, high in a.around if v not in delta}
    own_b = {v: (low, high) for v, low, high in b.around if v not in delta}
    equations: list[tuple[Terms, float, float]] = []
    digits: list[tuple[Digit, Digit]] = []
    for i, j in zip(a.indices, b.indices, strict=True):
        if type(i) is Form and type(j) is Form:
            if not _add_equation(i, j, delta, ranges, own_a, own_b, equations):
                return None
        elif type(i) is Digit and type(j) is Digit:
            digits.append((i, j))
    while digits:
        first = digits[0][0].base
        group = [(x, y) for x, y in digits if same_form(x.base, first) and _same_digit(x, y)]
        digits = [d for d in digits[1:] if not same_form(d[0].base, first)]
        if group and complete([x for x, _ in group]):
            if not _add_equation(first, group[0][1].base, delta, ranges, own_a, own_b, equations):
                return None
    return delta if _narrow(delta, equations) else None


def shared_loops(a: Cell, b: Cell) -> Sequence[tuple[Var, float, float]]:
    """The loops around both accesses."""
    if a is b or a.around is b.around:
        return a.around
    out = []
    for x, y in zip(a.around, b.around, strict=False):
        if x[0] is not y[0]:
            break
        out.append(x)
    return out


def same_form(a: Form, b: Form) -> bool:
    return a is b or (a.const == b.const and a.terms == b.terms)


def _same_digit(a: Digit, b: Digit) -> bool:
    return a.low == b.low and a.high == b.high and same_form(a.base, b.base)


def complete(digits: list[Digit], values: Any = inf) -> bool:
    """Whether the digits together determine the base, which takes so many values from 0 on."""
    upper = {d.low: d.high for d in digits}
    at: Any = 1
    for _ in range(len(upper) + 1):
        if at is inf or (type(at) is int and at >= values):  # a weight may be a symbol's
            return True
        if at not in upper:
            return False
        at = upper[at]
    return False


def _add_equation(
    i: Form,
    j: Form,
    delta: Mapping[Var, Interval],
    ranges: Mapping[Var, Interval],
    own_a: Mapping[Var, Interval],
    own_b: Mapping[Var, Interval],
    out: list[tuple[Terms, float, float]],
) -> bool:
    """``i`` of the first instance equals ``j`` of the second, as ``sum(k * delta) in [low, high]``.

    False where that has no solution at all.
    """
    low = high = float(i.const - j.const)
    low += i.slack[0] - j.slack[1]
    high += i.slack[1] - j.slack[0]
    terms: Terms = {}
    for v, k in i.terms.items():
        if v in own_a:
            lo, hi = _times(own_a[v], k)
        else:
            change = k - (0 if v in own_b else j.terms.get(v, 0))
            if change == 0:
                continue
            lo, hi = _times(ranges.get(v, (-inf, inf)), change)
        low += lo
        high += hi
    for v, k in j.terms.items():
        if v in own_b:
            lo, hi = _times(own_b[v], -k)
            low += lo
            high += hi
            continue
        if v in delta:
            terms[v] = k
        if v not in i.terms or v in own_a:
            lo, hi = _times(ranges.get(v, (-inf, inf)), -k)
            low += lo
            high += hi
    if not terms:
        return low <= 0 <= high
    out.append((terms, low, high))
    return True


def _times(interval: Interval, k: int) -> Interval:
    if k == 0:
        return 0, 0
    low, high = interval
    return (low * k, high * k) if k > 0 else (high * k, low * k)


def _narrow(delta: dict[Var, Interval], equations: list[tuple[Terms, float, float]]) -> bool:
    """Shrink the distances to what the equations allow; False where they allow nothing."""
    for _ in range(6):
        changed = False
        for terms, low, high in equations:
            parts = {v: _times(delta[v], k) for v, k in terms.items()}
            for v, k in terms.items():
                rest_low = rest_high = 0.0
                for u, (lo, hi) in parts.items():
                    if u is not v:
                        rest_low += lo
                        rest_high += hi
                x, y = low - rest_high, high - rest_low
                if k < 0:
                    x, y = -y, -x
                size = abs(k)
                have_low, have_high = delta[v]
                new_low = max(have_low, -(-x // size)) if x != -inf else have_low
                new_high = min(have_high, y // size) if y != inf else have_high
                if new_low > new_high:
                    return False
                if new_low != have_low or new_high != have_high:
                    delta[v] = (new_low, new_high)
                    parts[v] = _times(delta[v], k)
                    changed = True
        if not changed:
            break
    return True
