"""Scratch memory of a loop: buffers through which no value goes from one iteration to another.

Each iteration may have such a buffer for itself, so accesses to it do not tie iterations together: every
element that is read was written before in the same iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.access import Access, accesses_of
from tirscript.analysis.question import NO_RANGES, Question
from tirscript.analysis.region import Axis, axis_ends, nonnegative
from tirscript.analysis.solve import OutOfBudget
from tirscript.arith.linear import ConstantRange, Linear, key_of, to_linear
from tirscript.diagnostics import deep_recursion
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import LE, IntImm, Var, const_int
from tirscript.ir.stmt import BlockRealize, For, IfThenElse, SeqStmt

from ..refs import StmtSRef
from .footprint import touched


def private_buffers(place: StmtSRef) -> frozenset[Buffer]:
    """The buffers that each iteration of the loop at ``place`` may have for itself."""
    loop: For = place.node
    _, writes = touched(loop)
    candidates: dict[Var, Buffer] = {}
    p = place.parent
    inner: Any = place.node
    outside: set[Var] = set()  # memory that something else uses
    while p is not None:
        s = p.node
        t = type(s)
        if t is SeqStmt:
            for c in s.seq:
                if c is not inner:
                    outside |= frozenset().union(*touched(c))
        elif t is IfThenElse:
            for c in (s.then_case, s.else_case):
                if c is not None and c is not inner:
                    outside |= frozenset().union(*touched(c))
        elif t is BlockRealize:
            for b in s.block.alloc_buffers:
                if b.data in writes and b.data not in outside:
                    candidates[b.data] = b
            if s.block.init is not None:
                outside |= frozenset().union(*touched(s.block.init))
        elif t is not For:
            break
        inner = s
        p = p.parent
    if not candidates:
        return frozenset()
    with deep_recursion():
        found = accesses_of(loop)
    return frozenset([b for b in candidates.values() if _covered(b, found, loop)])


def _covered(buffer: Buffer, found: Sequence[Access], loop: For) -> bool:
    """Whether every element that is read was written before in the same iteration of the loop."""
    earlier: list[Access] = []
    done: set[Any] = set()
    for a in found:
        if a.buffer.data is not buffer.data:
            continue
        if a.buffer is not buffer or a.indices is None:
            return False
        if a.is_write:
            earlier.append(a)
            continue
        key = (
            tuple([key_of(i) for i in a.indices]),
            id(a.realizes[0]) if a.realizes else 0,
            a.init,
            len(a.conditions),
            len(earlier),
        )
        if key in done:
            continue
        done.add(key)
        if not (_started(a, earlier, loop) or any(covers(w, a) for w in earlier)):
            return False
    return True


def _started(a: Access, earlier: Sequence[Access], loop: For) -> bool:
    """Whether the init of the reading block stored the element, in this iteration of the loop."""
    if not a.realizes or a.init or a.indices is None:
        return False
    realize = a.realizes[-1]
    inner = {x.var for x in a.axes} - {loop.loop_var}
    for iv, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if iv.kind == "reduce":
            lin = to_linear(value)
            if lin is None or any(not isinstance(x, Var) or x not in inner for x in lin.terms):
                return False
    want = [key_of(i) for i in a.indices]
    return any(
        w.init
        and w.realizes
        and w.owner is realize
        and len(w.conditions) == len(a.conditions)
        and [key_of(i) for i in w.indices or ()] == want
        for w in earlier
    )


def covers(w: Access, r: Access) -> bool:
    """Whether every element that ``r`` reads is one that ``w`` writes in the same iteration of the loops
    around both."""
    if w.indices is None or r.indices is None:
        return False
    shared = 0
    for mine, other in zip(w.axes, r.axes, strict=False):
        if mine.var is not other.var:
            break
        shared += 1
    values = _solved(w, r, w.axes[shared:])
    if values is None:
        return False
    forms: list[Linear] = []
    for axis in w.axes[shared:]:
        low, high = axis_ends(axis)
        if low is None or high is None or (axis.loop is not None and axis.loop.step is not None):
            return False
        me = values[axis.var]
        forms += [me - _put(low, values), _put(high, values) - me]
    for c in w.conditions:
        parts = nonnegative(c)
        if not parts:
            return False
        forms += [_put(p, values) for p in parts]
    for i, j in zip(w.indices, r.indices, strict=True):
        x, y = to_linear(i), to_linear(j)
        if x is None or y is None:
            return False
        d = _put(x, values) - y
        forms += [d, d.scale(-1)]
    own = {axis.var for axis in w.axes[shared:]}
    return all(not f.mentions(own) and _always(f, r) for f in forms)


def _solved(w: Access, r: Access, own: Sequence[Axis]) -> dict[Var, Linear] | None:
    """The writer's own loops for which it writes the element that is read."""
    wanted = {a.var for a in own}
    values: dict[Var, Linear] = {}
    assert w.indices is not None and r.indices is not None
    pending = []
    for i, j in zip(w.indices, r.indices, strict=True):
        x, y = to_linear(i), to_linear(j)
        if x is None or y is None:
            return None
        pending.append((x, y))
    for _ in range(len(pending) + 1):
        for x, y in pending:
            inside = [v for v in x.terms if isinstance(v, Var) and v in wanted and v not in values]
            if len(inside) == 1 and abs(x.terms[inside[0]]) == 1:
                k = x.terms[inside[0]]
                rest = _put(x.plus(Linear({inside[0]: 1}), -k), values)
                values[inside[0]] = (y - rest).scale(k)
    for a in own:
        if a.var not in values:
            # It does not matter: any iteration writes the element, if there is one.
            if type(a.extent) is not IntImm or a.extent.value < 1:
                return None
            low, _ = axis_ends(a)
            if low is None:
                return None
            values[a.var] = _put(low, values)
    return values


def _put(form: Linear, values: dict[Var, Linear]) -> Linear:
    out = form
    for v, value in values.items():
        k = form.terms.get(v, 0)
        if k:
            out = out.plus(Linear({v: 1}), -k).plus(value, k)
    return out


def _always(form: Linear, r: Access) -> bool:
    """Whether ``form >= 0`` wherever the access happens."""
    if form.is_const:
        return form.const >= 0
    try:
        dtype = next(form.items())[0].dtype
        against = LE(form.shift(1).written(dtype), const_int(0, dtype))
        nothing = Access(r.buffer, (), False, r.axes, (*r.conditions, against), r.stmt, None)
        return Question(nothing, nothing, NO_RANGES, ()).system.solve() is None
    except (OutOfBudget, ConstantRange):
        return False


__all__ = ["private_buffers"]
