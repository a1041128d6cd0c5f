"""Say which region of a buffer a block reads or writes.

``gen_new_ranges`` is a function of the block's axes that gives for each dimension a pair ``(start, end)``, or
an index.  From then on the lists of the block count, not what its body shows; ``explicit_read_region`` and
``explicit_write_region`` note which of them were said.

Requirements:
  * ``block`` is a reference to a block that is there (``wrong-handle``, ``expired-reference``)
  * ``buf_type`` is ``"read"`` or ``"write"`` (``bad-access-kind``), and ``buffer_index`` names such a region
    of the block (``bad-buffer-index``, ``no-such-buffer``)
  * ``gen_new_ranges`` is a function of as many indices as the block has axes (``bad-index-map``), and gives a
    range of integers for each dimension (``bad-ranges``)

>>> from tirscript.schedule import Schedule
>>> from tirscript.schedule.testing import chain
>>> sch = Schedule(chain(), debug_mask="all")
>>> sch.annotate_buffer_access("B", 0, "read", lambda vi: ((vi // 4 * 4, vi // 4 * 4 + 4),))
>>> print(sch.get(sch.get_block("B")).reads[0])
A[vi // 4 * 4:vi // 4 * 4 + 4]

Source: TVM's ``annotate_buffer_access``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.arith.analyzer import Analyzer
from tirscript.arith.index_map import substituted
from tirscript.ir.buffer import BufferRegion
from tirscript.ir.expr import Cast, Expr, IntImm, Range, Sub, Var, const_int
from tirscript.ir.index_map import IndexMap
from tirscript.ir.stmt import BlockRealize

from ..errors import BadArgument
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import block_place
from ..rewrite.buffers import region_of
from ..rewrite.index_maps import Mapped, default_dtype, index_map_of
from ..state import ScheduleState
from .unsafe_hide_buffer_access import access_kind


class BadRanges(BadArgument):
    code = "bad-ranges"
    template = "`gen_new_ranges` of annotate_buffer_access must give {count} ranges for {buffer}: {what}"


class Plan:
    """The block, the number of the region, and the region to be."""

    __slots__ = ("kind", "number", "place", "region")

    def __init__(self, place: StmtSRef, kind: str, number: int, region: BufferRegion) -> None:
        self.place = place
        self.kind = kind
        self.number = number
        self.region = region


def check(state: ScheduleState, block: Any, buffer_index: Any, buf_type: Any, gen_new_ranges: Any) -> Plan:
    """The region."""
    place = block_place(state, block, "block", "annotate_buffer_access")
    kind = access_kind(place, buf_type, "annotate_buffer_access")
    number = region_of(place, buffer_index, "buffer_index", "annotate_buffer_access", reads=kind == "read")
    b = place.node.block
    buffer = (b.reads if kind == "read" else b.writes)[number].buffer
    count = len(buffer.shape)

    def bad(what: str) -> BadRanges:
        return BadRanges(place.home, at=[(place, None)], count=str(count), buffer=buffer, what=what)

    holder = gen_new_ranges if isinstance(gen_new_ranges, Mapped) else Mapped(gen_new_ranges)
    given = holder.given
    if callable(given) and holder.made is None:
        holder = _flattened(holder, given, bad)
    m = index_map_of(
        place, holder, len(b.iter_vars), default_dtype(place), "gen_new_ranges", "annotate_buffer_access"
    )
    if isinstance(gen_new_ranges, Mapped):
        gen_new_ranges.made = m
    axes: dict[Var, Expr] = {v: iv.var for v, iv in zip(m.initial_indices, b.iter_vars, strict=True)}
    ends = substituted(m, axes)
    for e in ends:
        if e.dtype not in ("int32", "int64"):
            raise bad(f"{e} is a {e.dtype}")
    if len(ends) == count and count:
        ends = [x for e in ends for x in (e, e + const_int(1, e.dtype))]
    if len(ends) != 2 * count:
        raise bad(f"{len(ends)} indices were given")
    cx = Analyzer()
    for iv in b.iter_vars:
        if iv.dom is not None:
            cx.bind(iv.var, iv.dom)
    ranges = []
    for low, end, n in zip(ends[::2], ends[1::2], buffer.shape, strict=True):
        low, end = cx.simplify(_as(low, n.dtype, low)), _as(end, n.dtype, low)
        ranges.append(Range(low, cx.simplify(Sub(end, low))))
    return Plan(place, kind, number, BufferRegion(buffer, tuple(ranges)))


def _as(e: Expr, dtype: str, like: Expr) -> Expr:
    """A constant in the dtype of the other end, or of the dimension; ends of two dtypes in the wider."""
    wanted = like.dtype if type(like) is not IntImm else dtype
    if e.dtype == wanted:
        return e
    return const_int(e.value, wanted) if type(e) is IntImm else Cast(wanted, e)


def _flattened(holder: Mapped, f: Callable[..., Any], bad: Callable[[str], BadRanges]) -> Mapped:
    """The function with its pairs in a row."""

    def flat(result: Any) -> list[Any]:
        if not isinstance(result, (list, tuple)):
            result = [result]
        pairs = [isinstance(r, (list, tuple)) for r in result]
        out: list[Any] = []
        for r in result:
            if isinstance(r, (list, tuple)):
                if len(r) != 2:
                    raise bad(f"a range is a start and an end, {len(r)} values were given")
                out += r
            elif any(pairs):
                out += (r, r + 1)
            else:
                out.append(r)
        return out

    return Mapped(IndexMap.wrapped(f, flat))


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put the region in the list, and note it."""
    s: BlockRealize = plan.place.node
    b = s.block
    regions = list(b.reads if plan.kind == "read" else b.writes)
    regions[plan.number] = plan.region
    key = f"explicit_{plan.kind}_region"
    before = [getattr(n, "value", n) for n in b.annotations.get(key, ())]
    notes = {**b.annotations, key: before if plan.number in before else [*before, plan.number]}
    block = b.replace(annotations=notes, **{f"{plan.kind}s": tuple(regions)})
    state.replace(plan.place, BlockRealize(s.iter_values, s.predicate, block, s.span))


KIND = InstructionKind(
    "AnnotateBufferAccess",
    "annotate_buffer_access",
    ("block", "buffer_index", "buf_type", "gen_new_ranges"),
    check,
    rewrite,
    attrs=3,
)
