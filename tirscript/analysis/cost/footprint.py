"""How much memory accesses touch, each element once, while some loops run and those outside stand still.

An access touches a box of values where its indices are digits of independent loops; the boxes of one buffer
are united.  What is no box is run through where it is small, else bounded by the buffer.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.arith.linear import Linear, mentions, to_linear
from tirscript.ir.buffer import Buffer
from tirscript.ir.dtype import info
from tirscript.ir.expr import Broadcast, Expr, IntImm, Ramp, Var, const_int
from tirscript.ir.visitor import free_vars, substitute

from ..region import nonnegative
from . import grid
from .counts import AT_LEAST, AT_MOST, EXACT, ONE, ZERO, Count
from .points import Domain, Loop, analyzer_of, count_points, greatest, length
from .work import size_of

BOX = 1 << 18  # points that are run through
_SETS = 5  # boxes that are united by inclusion and exclusion


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A load or store in its loops; indices are in loops and sizes."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    is_write: bool
    domain: Domain
    bound: int = EXACT


def distinct_bytes(accesses: Sequence[Access], inner: Collection[Var]) -> Count:
    """Bytes that the accesses touch while the loops ``inner`` run."""
    by_buffer: dict[Buffer, list[Access]] = {}
    for a in accesses:
        by_buffer.setdefault(a.buffer, []).append(a)
    memory = {b.data for b in by_buffer}
    out = ZERO
    for b, group in by_buffer.items():
        out = out + _distinct(b, group, inner) * size_of(b.dtype)
    # Two views of one memory may touch the same bytes.
    return out if len(memory) == len(by_buffer) else out.bounded(AT_MOST)


def _distinct(b: Buffer, accesses: list[Access], inner: Collection[Var]) -> Count:
    bound = EXACT
    for a in accesses:
        bound |= (a.bound | a.domain.bound) & (AT_MOST | AT_LEAST)
    shaped = [_scalar(a, inner) for a in accesses]
    inside = frozenset([x.var for _, domain, _ in shaped for x in domain.loops])
    whole = _size(b, inside)
    boxes: list[_Box] = []
    for indices, domain, moving in shaped:
        box = _box(b, indices, domain, moving)
        if box is None:
            found = _by_hand(shaped)
            if found is not None:
                return found.bounded(bound)
            points = count_points(Domain(tuple([x for x in domain.loops if x.var in moving])))
            if len(shaped) > 1 or any(points.mentions(v) for v in inside):
                return ONE.bounded(AT_LEAST | AT_MOST) if whole is None else whole.bounded(AT_MOST)
            return (points if whole is None else _less(whole, points)).bounded(AT_MOST)
        boxes.append(box)
    found_boxes = {box.key: box for box in boxes}
    distinct = list(found_boxes.values())
    if len(distinct) == 1:
        return distinct[0].number.bounded(bound)
    united = _united(distinct)
    if united is not None:
        return united.bounded(bound)
    found = _by_hand(shaped)
    if found is not None:
        return found.bounded(bound)
    total = ZERO
    for box in distinct:
        total = total + box.number
    return (total if whole is None else _less(total, whole)).bounded(bound | AT_MOST)


def _size(b: Buffer, inside: frozenset[Var]) -> Count | None:
    """The elements of a buffer; None where that depends on loops."""
    out = ONE
    for n in b.shape:
        if not is_exact(n) or free_vars(n) & inside:
            return None
        out = out * Count.of(n)
    return out


def _less(a: Count, b: Count) -> Count:
    """The smaller of two bounds, where that can be seen."""
    if a.is_const and b.is_const:
        return a if int(a) <= int(b) else b
    difference = a - b
    return a if all(k <= 0 for k in difference.terms.values()) else b


_Shaped = tuple[tuple[Expr, ...], Domain, frozenset[Var]]


def _scalar(a: Access, inner: Collection[Var]) -> _Shaped:
    """The indices with the lanes of a vector as one more loop."""
    moving = frozenset([x.var for x in a.domain.loops if x.var in inner])
    indices: list[Expr] = []
    loops = a.domain.loops
    lane: Var | None = None
    for i in a.indices:
        if type(i) is Ramp:
            if lane is None:
                lane = Var("lane", i.base.dtype)
                loops = (*loops, Loop(lane, const_int(0, lane.dtype), const_int(i.lanes, lane.dtype)))
                moving |= {lane}
            indices.append(i.base + lane.astype(i.base.dtype) * i.stride if lane.dtype != i.base.dtype
                           else i.base + lane * i.stride)  # fmt: skip
        elif type(i) is Broadcast:
            indices.append(i.value)
        elif info(i.dtype).lanes > 1:
            # Lanes that data says.
            lane = lane or Var("lane", "int32")
            loops = (*loops, Loop(lane, const_int(0), const_int(info(i.dtype).lanes)))
            moving |= {lane}
            indices.append(i)
        else:
            indices.append(i)
    return tuple(indices), Domain(loops, a.domain.guards, a.domain.bound), moving


# ---- boxes


@dataclass(slots=True, eq=False)
class _Side:
    """The values of one index: offsets from ``base`` (what stands still), as an interval or a set."""

    base: Linear
    number: Count
    offsets: Any = None  # sorted, where they are constant


@dataclass(slots=True, eq=False)
class _Box:
    sides: list[_Side]
    key: Any
    number: Count


def _box(b: Buffer, indices: tuple[Expr, ...], domain: Domain, moving: frozenset[Var]) -> _Box | None:
    """The box of an access; None where its sides are not independent, or not linear."""
    loops = _largest(domain, moving)
    standing = {x.var for x in domain.loops if x.var not in moving}
    if any(free_vars(x.extent) & standing for x in loops.values()):
        return None
    cx = analyzer_of(domain.loops)
    used: set[Var] = set()
    sides: list[_Side] = []
    key: list[Any] = []
    guards = _ends(domain, moving, cx)
    for at, i in enumerate(indices):
        if info(i.dtype).lanes != 1 or not is_exact(i):
            return None
        lin = cx.linear(i)
        if lin is None:
            return None
        mine = {v: k for v in loops if (k := lin.coefficient(v))}
        rest = Linear({a: k for a, k in lin.terms.items() if a not in mine}, lin.const)
        if rest.mentions(loops) or used & mine.keys():
            return None
        for v in mine:
            # A loop that depends on another one is no side of a box.
            if (free_vars(loops[v].extent) | free_vars(loops[v].min)) & loops.keys():
                return None
        used |= mine.keys()
        side = _side(mine, rest, loops, cx)
        if side is None:
            return None
        limit = guards.pop(frozenset(mine.items()), None) if mine else None
        if not free_vars(b.shape[at]) & {x.var for x in domain.loops}:
            _clip(side, limit, b.shape[at], cx, absolute=not _moves(rest, domain))
        elif limit is not None:
            side.number, side.offsets = side.number.bounded(AT_MOST), None
        sides.append(side)
        key.append((side.base.key(), frozenset((v, k) for v, k in mine.items())))
    if any(form & used_pairs for form in guards for used_pairs in [_pairs(used, form)]):
        return None
    number = ONE
    for side in sides:
        number = number * side.number
    # Loops that no index mentions must run at all.
    for v, x in loops.items():
        if v not in used and not (type(x.extent) is IntImm and x.extent.value > 0):
            if free_vars(x.extent) & loops.keys():
                return None
    return _Box(sides, tuple(key), number)


def _largest(domain: Domain, moving: frozenset[Var]) -> dict[Var, Loop]:
    """The moving loops, as long as those that stand still let them be."""
    standing = [x for x in domain.loops if x.var not in moving]
    names = {x.var for x in standing}
    out: dict[Var, Loop] = {}
    for x in domain.loops:
        if x.var in moving:
            if names and free_vars(x.extent) & names:
                most = greatest(x.extent, standing)
                x = x if most is None else Loop(x.var, x.min, most, x.step)
            out[x.var] = x
    return out


def _pairs(used: set[Var], form: frozenset[tuple[Var, int]]) -> frozenset[tuple[Var, int]]:
    return frozenset([p for p in form if p[0] in used])


def _moves(rest: Linear, domain: Domain) -> bool:
    return rest.mentions({x.var for x in domain.loops})


def _ends(domain: Domain, moving: frozenset[Var], cx: Any) -> dict[frozenset[tuple[Var, int]], Linear]:
    """Conditions ``sum(k * loop) <= end`` on moving loops that do not always hold, by their sums.

    Loops that stand still stand where they allow most: it is the largest run that is asked for.
    """
    standing = {x.var: x for x in domain.loops if x.var not in moving}
    out: dict[frozenset[tuple[Var, int]], Linear] = {}
    for g in domain.guards:
        mine = free_vars(g) & moving
        if not mine or not is_exact(g) or cx.decided(g) is True:
            continue
        forms = nonnegative(g)
        if not forms:
            out[frozenset([(v, 0) for v in mine])] = Linear({})
        for form in forms:
            best = form
            for v, x in reversed(standing.items()):
                k = best.coefficient(v)
                if k:
                    end = to_linear(x.min if k < 0 else x.min + x.extent - 1)
                    if end is not None:
                        best = Linear({a: c for a, c in best.terms.items() if a is not v}, best.const).plus(
                            end, k
                        )
            low = cx.const_int_bound(best.to_expr()).min_value
            if low >= 0:
                continue
            sums = frozenset([(v, -best.coefficient(v)) for v in mine if best.coefficient(v)])
            if any(not isinstance(a, Var) and mentions(a.expr, mine) for a in best.terms):
                sums = frozenset([(v, 0) for v in mine])  # not linear in them
            out[sums] = Linear({a: k for a, k in best.terms.items() if a not in mine}, best.const)
    return out


def _side(mine: dict[Var, int], rest: Linear, loops: dict[Var, Loop], cx: Any) -> _Side | None:
    if not mine:
        return _Side(rest, ONE, range(1))
    parts: list[tuple[int, int | None, Loop]] = []
    base = rest
    for v, k in mine.items():
        x = loops[v]
        low = to_linear(x.min)
        if low is None:
            return None
        number = cx.simplify(x.number())
        size = number.value if type(number) is IntImm else None
        if size is not None and size <= 0:
            return _Side(rest, ZERO, range(0))
        base = base.plus(low, k)
        if k < 0:
            if size is None:
                top = to_linear(number)
                if top is None:
                    return None
                base = base.plus(top.shift(-1), k * x.step)
            else:
                base = base.shift(k * x.step * (size - 1))
        parts.append((abs(k) * x.step, size, x))
    # Digits from the smallest on: dense as long as each step is at most one more than what is reached.
    ordered = sorted(parts, key=lambda p: (p[1] is None, p[0]))
    if len(ordered) == 1 and ordered[0][1] is not None:
        step, size, _ = ordered[0]
        return _Side(base, Count.of(size or 0), range(0, step * (size or 0), step))
    reach = 0
    open_part: tuple[int, Loop] | None = None
    for k, size, x in ordered:
        if k > reach + 1 or open_part is not None:
            found = _offsets(parts)
            return _sparse(base, parts, cx) if found is None else _Side(base, Count.of(len(found)), found)
        if size is None:
            open_part = (k, x)
        else:
            reach += k * (size - 1)
    if open_part is None:
        return _Side(base, Count.of(reach + 1), range(reach + 1))
    k, x = open_part
    number_of = length(x, cx)
    return _Side(base, number_of * k + (reach + 1 - k))


def _offsets(parts: list[tuple[int, int | None, Loop]]) -> Any:
    """All sums of constant digits, sorted; None where they are too many or not constant."""
    import numpy as np

    found = np.zeros(1, np.int64)
    for k, size, _ in parts:
        if size is None or len(found) * size > BOX:
            return None
        found = np.unique((found[:, None] + np.arange(size) * k).ravel())
    return found


def _sparse(base: Linear, parts: list[tuple[int, int | None, Loop]], cx: Any) -> _Side | None:
    """Digits with gaps: no two of them give one number, if each step is more than all before reach."""
    below: int | None = 0
    out = ONE
    for k, size, x in sorted(parts, key=lambda p: p[0]):
        if below is None or k <= below:
            return None
        out = out * (length(x, cx) if size is None else Count.of(size))
        below = None if size is None else below + k * (size - 1)
    return _Side(base, out)


def _clip(side: _Side, limit: Linear | None, size: Expr, cx: Any, absolute: bool) -> None:
    """What conditions and the buffer's extent leave of a side."""
    extent = to_linear(size)
    if limit is not None:
        if not limit.terms and not side.base.terms and side.offsets is not None:
            side.offsets = _between(side.offsets, None, limit.const - side.base.const)
            side.number = Count.of(len(side.offsets))
        else:
            side.number, side.offsets = side.number.bounded(AT_MOST), None
    if extent is None:
        return
    if absolute and side.offsets is not None and not side.base.terms and not extent.terms:
        side.offsets = _between(side.offsets, -side.base.const, extent.const - 1 - side.base.const)
        side.number = Count.of(len(side.offsets))
        return
    most = Count.of(size)
    if side.number.is_const and most.is_const:
        if int(most) < int(side.number):
            side.number, side.offsets = most, None
    elif not most.is_const and side.number != most and absolute:
        expr = _expr(side.number, size.dtype)
        if expr is not None and cx.can_prove(size <= expr):
            side.number, side.offsets = most, None


def _between(offsets: Any, low: int | None, high: int) -> Any:
    """The offsets from ``low`` to ``high``."""
    if type(offsets) is range:
        step = offsets.step
        first = 0 if low is None else max(-(-(low - offsets.start) // step), 0)
        last = min((high - offsets.start) // step + 1, len(offsets))
        return offsets[first : max(last, first)]
    keep = offsets <= high
    return offsets[keep if low is None else keep & (offsets >= low)]


def _expr(value: Count, dtype: str) -> Expr | None:
    """A linear count as an expression."""
    terms: dict[Any, int] = {}
    const = 0
    for m, k in value.terms.items():
        if k.denominator != 1:
            return None
        if not m:
            const = int(k)
            continue
        ((atom, power),) = list(m) if len(m) == 1 else [(None, 0)]
        if atom is None or power != 1:
            return None
        terms[atom] = int(k)
    return Linear(terms, const).to_expr(dtype)


# ---- unions


def _united(boxes: list[_Box]) -> Count | None:
    """The elements of some boxes together, by inclusion and exclusion; None where sides are not constant."""
    if len(boxes) > _SETS or any(s.offsets is None for b in boxes for s in b.sides):
        return None
    first = boxes[0]
    placed: list[list[Any]] = []
    for b in boxes:
        sets = []
        for s, t in zip(b.sides, first.sides, strict=True):
            distance = s.base - t.base
            if distance.terms:
                return None
            sets.append(_moved(s.offsets, distance.const))
        placed.append(sets)
    total = 0
    for n in range(1, len(placed) + 1):
        for group in itertools.combinations(placed, n):
            size = 1
            for sides in zip(*group, strict=True):
                common = sides[0]
                for other in sides[1:]:
                    common = _common(common, other)
                size *= len(common)
            total += size if n % 2 else -size
    return Count.of(total)


def _moved(offsets: Any, by: int) -> Any:
    if type(offsets) is range:
        return range(offsets.start + by, offsets.stop + by, offsets.step)
    return offsets + by


def _common(a: Any, b: Any) -> Any:
    if type(a) is range and type(b) is range and a.step == b.step == 1:
        return range(max(a.start, b.start), max(min(a.stop, b.stop), max(a.start, b.start)))
    import numpy as np

    return np.intersect1d(np.asarray(a), np.asarray(b), assume_unique=True)


def _by_hand(shaped: list[_Shaped]) -> Count | None:
    """All elements of the run that touches most, by running through the loops; where they are too many, of
    the first and the last run."""
    found = _at(shaped, None)
    if found is not None:
        return Count.of(found)
    best = ZERO
    for last in (False, True):
        found = _at(shaped, last)
        if found is None:
            return None
        if found > (best.const or 0):
            best = Count.of(found)
    return best.bounded(AT_MOST | AT_LEAST)


def _at(shaped: list[_Shaped], last: bool | None) -> int | None:
    """The elements of the first or the last run, or (None) of the largest one."""
    import numpy as np

    outer: list[Var] = []
    for _, domain, moving in shaped:
        outer += [x.var for x in domain.loops if x.var not in moving and x.var not in outer]
    parts: list[list[Any]] = []
    lengths: list[int] = []
    for indices, domain, moving in shaped:
        standing: dict[Var, Expr] = {}
        loops: list[Loop] = []
        for x in domain.loops:
            low, extent = (substitute(e, standing) if standing else e for e in (x.min, x.extent))
            if x.var in moving or last is None:
                loops.append(Loop(x.var, low, extent, x.step))
                continue
            end = low if not last else _last(low, extent)
            if end is None:
                return None
            standing[x.var] = end
        guards = [substitute(g, standing) for g in domain.guards if is_exact(g)]
        found = grid.points(loops, guards, BOX)
        if found is None:
            return None
        size = len(next(iter(found.values()))) if found else 1
        try:
            columns = [grid.values_of(substitute(i, standing), found) for i in indices]
        except grid.NotInNumbers:
            return None
        if last is None:
            columns = [*[found.get(v, 0) for v in outer], *columns]
        parts.append([np.broadcast_to(np.asarray(c), (size,)) for c in columns])
        lengths.append(size)
    joined = [np.concatenate(c) for c in zip(*parts, strict=True)]
    total = sum(lengths)
    if last is None and outer:
        return grid.most(joined[: len(outer)], joined[len(outer) :], total)
    return grid.distinct(joined, total)


def _last(low: Expr, extent: Expr) -> Expr | None:
    if type(low) is IntImm and type(extent) is IntImm:
        return const_int(low.value + max(extent.value - 1, 0), low.dtype)
    return None


__all__ = ["Access", "distinct_bytes"]
