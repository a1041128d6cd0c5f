"""Bind a loop to a thread axis: each iteration is one thread (or block of threads).

A loop of any kind may be bound, also one that is bound already.  A kernel is what stands below the outermost
loop that is bound.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * ``thread_axis`` is ``blockIdx``, ``threadIdx`` or ``vthread`` with ``.x``, ``.y`` or ``.z``
    (``bad-thread-axis``)
  * the loop takes steps of one (``stepped-loop``)
  * all loops of one axis in a kernel have one extent (``thread-extent-differs``); where a loop around or
    inside it has the same axis, which is one of ``threadIdx``, the threads share the inner one out among
    themselves: no iteration of it may depend on the thread that runs it, it stores to shared or global
    memory without updating it, and every thread comes to it (``nested-thread-axis``)
  * the loops around a block that it drives run over the whole domain of the axes and no further
    (``axis-not-covered``, ``axis-overrun``)
  * its body holds no break and no return (``leaves-loop``)
  * no two iterations touch one cell with a write (``bind-reduction-axis``, ``loop-carried-dependence``;
    ``dependence-unknown`` where that cannot be told); but the threads of ``threadIdx`` may share in a
    reduction by a commutative reducer, whose block has an init (``no-cross-thread-init``)

>>> from tirscript.schedule.testing import example, loop_lines
>>> sch, i, j, k = example()
>>> sch.bind(i, "blockIdx.x")
>>> sch.bind(k, "threadIdx.x")
>>> sch.get(k).kind, sch.get(k).thread
('thread_binding', 'threadIdx.x')

Source: TVM's ``bind``.
"""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import did_you_mean
from tirscript.ir.expr import IntImm
from tirscript.ir.stmt import BlockRealize, For, Stmt

from ..errors import BadArgument, BadValue, Refusal, a_kind
from ..legality.control import check_stays
from ..legality.cooperation import why_not_together
from ..legality.cover import check_cover
from ..legality.order import OnReductionAxis, check_iterations_independent, combining_blocks
from ..legality.prove import same
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import loop_place
from ..state import ScheduleState

THREAD_AXES = tuple([f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx", "vthread") for axis in "xyz"])


class BadThreadAxisType(BadArgument):
    code = "bad-thread-axis"
    template = "`thread_axis` of bind must be the name of a thread axis, {given} was given"


class BadThreadAxis(BadValue):
    code = "bad-thread-axis"
    template = "{given} is no thread axis; there are {known}"


class SteppedLoop(Refusal):
    code = "stepped-loop"
    template = "loop `{loop}` cannot be bound to {thread}: it takes steps of {step}"
    hint_template = "split({loop}, [None]) makes it a loop with steps of one"


class NestedThreadAxis(Refusal):
    code = "nested-thread-axis"
    template = (
        "loop `{loop}` cannot be bound to {thread}: `{outer}` around `{inner}` would have that axis too, so "
        "its threads would share the iterations of `{inner}` out among themselves, but {why}"
    )


class ThreadExtentDiffers(Refusal):
    code = "thread-extent-differs"
    template = (
        "loop `{loop}` of extent {extent} cannot be bound to {thread}: loop `{other}` of the same kernel has "
        "it with the extent {have}"
    )
    hint_template = "split one of them so that the loops on {thread} have one extent"


class BindReductionAxis(OnReductionAxis):
    code = "bind-reduction-axis"


class NoCrossThreadInit(Refusal):
    code = "no-cross-thread-init"
    template = (
        "loop `{loop}` cannot be bound to {thread}: the threads would share the reduction of {block}, "
        "which has no init"
    )
    hint_template = "bind before decompose_reduction"


class Plan:
    """The place of the loop and its axis."""

    __slots__ = ("place", "thread")

    def __init__(self, place: StmtSRef, thread: str) -> None:
        self.place = place
        self.thread = thread


def check(state: ScheduleState, loop: Any, thread_axis: Any) -> Plan:
    """The place of the loop, if its iterations may be threads."""
    place = loop_place(state, loop, "loop", "bind")
    s: For = place.node
    if not isinstance(thread_axis, str):
        raise BadThreadAxisType(place.home, at=[(s, None)], given=a_kind(thread_axis))
    if thread_axis not in THREAD_AXES:
        raise BadThreadAxis(
            place.home, at=[(s, None)], given=repr(thread_axis), known=", ".join(THREAD_AXES),
            hint=did_you_mean(thread_axis, THREAD_AXES),
        )  # fmt: skip
    if s.step is not None and not (type(s.step) is IntImm and s.step.value == 1):
        raise SteppedLoop(place.home, at=[(s, None)], loop=s, thread=thread_axis, step=s.step)
    _check_kernel(place, thread_axis)
    if state.enable_check:
        check_threads(place, thread_axis)
    return Plan(place, thread_axis)


def check_threads(place: StmtSRef, thread: str) -> None:
    """Refuse unless the iterations of the loop may be threads of the axis."""
    s: For = place.node
    word = f"bound to {thread}"
    check_stays(place, word, "break", "return")
    combining = combining_blocks(place) if thread.startswith("threadIdx") else {}
    check_iterations_independent(place, word, BindReductionAxis, frozenset(combining))
    for realize in combining.values():
        if realize.block.init is None:
            raise NoCrossThreadInit(
                place.home, at=[(s, None), (realize, "")], loop=s, thread=thread, block=realize
            )
    check_cover(place, word)


def _check_kernel(place: StmtSRef, thread: str) -> None:
    """One extent for one axis; twice around a statement only where threads work together."""
    s: For = place.node
    top = place
    p = place.parent
    while p is not None:
        if type(p.node) is For and p.node.thread:
            top = p
            if p.node.thread == thread:
                _check_together(place, thread, p.node, s)
        p = p.parent
    for other in _bound_loops(s.body, thread):
        _check_together(place, thread, s, other)
    for other in _bound_loops(top.node, thread) if top is not place else ():
        if other is not s and not same(other.extent, s.extent):
            raise ThreadExtentDiffers(
                place.home, at=[(s, None), (other, "")], loop=s, thread=thread, extent=s.extent,
                other=other, have=other.extent,
            )  # fmt: skip
    if top is place:
        # The loop becomes the kernel: what was bound below it must agree from now on.
        seen: dict[str, For] = {}
        for other in _bound_loops(s.body, None):
            first = seen.setdefault(other.thread, other)
            if not same(first.extent, other.extent):
                raise ThreadExtentDiffers(
                    place.home, at=[(s, None), (first, ""), (other, "")], loop=other, thread=other.thread,
                    extent=other.extent, other=first, have=first.extent,
                )  # fmt: skip


def _check_together(place: StmtSRef, thread: str, outer: For, inner: For) -> None:
    """Two loops of one axis, one in the other: the threads share the inner one out."""
    s: For = place.node
    why = why_not_together(outer, inner, thread)
    if why is not None:
        other = outer if inner is s else inner
        raise NestedThreadAxis(
            place.home, at=[(s, None), (other, "")], loop=s, thread=thread, outer=outer, inner=inner, why=why
        )


def _bound_loops(top: Stmt, thread: str | None) -> list[For]:
    """The loops at or below a statement that are bound to the axis (None: to any)."""
    out: list[For] = []
    stack: list[Any] = [top]
    while stack:
        s = stack.pop()
        if type(s) is For:
            if s.thread and (thread is None or s.thread == thread):
                out.append(s)
            stack.append(s.body)
        elif type(s) is BlockRealize:
            stack.append(s.block.body)
        else:
            stack.extend([c for c in reversed(s.children()) if isinstance(c, Stmt)])
    return out


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Bind the loop."""
    s: For = plan.place.node
    state.replace(
        plan.place,
        For(s.loop_var, s.min, s.extent, "thread_binding", s.body, plan.thread, s.annotations, None, s.span),
    )


KIND = InstructionKind("Bind", "bind", ("loop", "thread_axis"), check, rewrite, attrs=1)
