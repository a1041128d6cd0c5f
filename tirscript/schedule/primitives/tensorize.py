"""Put a tensor intrinsic in the place of a block, or of what stands below a loop.

What stands there must be what the description of the intrinsic says, up to names, places in the buffers and
their strides; below a loop it is made a block first (``blockize``).  The block's body becomes that of the
implementation, whose buffers are matched to the regions that they stand for.  An init stays what it is,
unless the description has one.

Requirements:
  * ``block_or_loop`` is a reference to a block or loop that is there (``wrong-handle``,
    ``expired-reference``), not the root of the function (``root-block``)
  * ``tensor_intrin`` is the name of a registered intrinsic (``intrin-name``, ``unknown-intrin``)
  * what ``blockize`` requires of a loop
  * program and description agree (``intrin-mismatch``): loops, stores, operations and their order, dtypes,
    storage scopes; the error says which part differs
  * different buffers of the description, of which one is written, are different in the program
    (``intrin-alias``)
  * where the implementation says strides as numbers, or as one variable twice, the buffers have them
    (``intrin-strides``)

>>> from tirscript.schedule import Schedule, TensorIntrin
>>> from tirscript.schedule.testing import chain, double
>>> TensorIntrin.register("double", double(4), double(4), override=True)
>>> sch = Schedule(chain())
>>> i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 4])
>>> sch.tensorize(i_1, "double")
>>> [m.buffer.name for m in sch.get(sch.get_block("B_o")).match_buffers]
['A_1', 'B_1']

Source: TVM's ``tensorize``.
"""

from __future__ import annotations

from typing import Any

from tirscript.arith.analyzer import Analyzer
from tirscript.arith.linear import Linear, multiply, to_linear
from tirscript.diagnostics import Mark, did_you_mean
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import Expr, IntImm, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import Block, BlockRealize
from tirscript.ir.visitor import fresh_copy, substitute

from ..errors import BadArgument, BadValue, Refusal, _draw, _span_of, a_kind, describe
from ..legality.prove import bind_around
from ..names import free_name, names_around, names_inside
from ..record.trace import InstructionKind
from ..refs import LoopRV, StmtSRef
from ..resolve import any_place
from ..rewrite.blocking import Blocking
from ..rewrite.blocking_build import Regions, axis_value, build
from ..rewrite.buffers import refuse_root
from ..rewrite.matching import Differs, Matcher, Place
from ..state import ScheduleState
from ..tensor_intrin import TensorIntrin, parameters
from .blockize import below_loop


class IntrinName(BadArgument):
    code = "intrin-name"
    template = "`tensor_intrin` of tensorize must be the name of an intrinsic, {given} was given"


class UnknownIntrin(BadValue):
    code = "unknown-intrin"
    template = "there is no tensor intrinsic {name}"
    hint_template = "TensorIntrin.register(name, desc, impl) enters one"


class IntrinMismatch(Refusal):
    code = "intrin-mismatch"
    template = "{target} is not what the intrinsic {intrin} describes: {what}"

    there: Any = None
    desc: PrimFunc | None = None

    def _complete(self, whole: bool = True) -> str | None:
        text = super()._complete(whole)
        if self.desc is not None:
            drawn = _draw(self.desc, f"description of {self.fields['intrin']}")
            span = None if drawn is None else _span_of(self.there, drawn[1])
            if span is not None:
                self.marks = [*self.marks, Mark(span, "described")]
        return text


class IntrinAlias(Refusal):
    code = "intrin-alias"
    template = (
        "the intrinsic {intrin} takes {one} and {two} as different buffers and writes one of them: both are "
        "{buffer}"
    )


class IntrinStrides(Refusal):
    code = "intrin-strides"
    template = (
        "the implementation of {intrin} takes {view} with stride {want} in dimension {axis}: {buffer} has "
        "{have}"
    )
    hint_template = "copy the region to a buffer of that layout first: cache_read, transform_layout"


class Plan:
    """The block to be, or the plan to make it; the intrinsic; where its buffers are."""

    __slots__ = ("blocking", "intrin", "keep_init", "place", "places")

    def __init__(
        self,
        place: StmtSRef,
        blocking: Blocking | None,
        intrin: TensorIntrin,
        places: list[Place],
        keep_init: bool,
    ) -> None:
        self.place = place
        self.blocking = blocking
        self.intrin = intrin
        self.places = places
        self.keep_init = keep_init


def check(
    state: ScheduleState, block_or_loop: Any, tensor_intrin: Any, preserve_unit_iters: bool = True
) -> Plan:
    """Where the buffers of the intrinsic are in the program, if it is what the description says."""
    place = any_place(state, block_or_loop, "block_or_loop", "tensorize")
    refuse_root(place)
    if not isinstance(tensor_intrin, str):
        raise IntrinName(place.home, given=a_kind(tensor_intrin))
    intrin = TensorIntrin.get(tensor_intrin, allow_missing=True)
    if intrin is None:
        hint = did_you_mean(tensor_intrin, TensorIntrin.names())
        raise UnknownIntrin(place.home, at=[(place, None)], name=repr(tensor_intrin), hint=hint)
    blocking: Blocking | None = None
    values: dict[Var, Expr] = {}
    if type(block_or_loop) is LoopRV:
        blocking = below_loop(state, block_or_loop, preserve_unit_iters, "tensorize")
        target = place.node
        member = blocking.members[0]
        for axis in member.axes:
            if axis.inner is None:
                outer = axis.outer
                constant = type(outer) is IntImm and not preserve_unit_iters
                values[axis.iv.var] = outer if constant else axis.outer_var  # type: ignore[assignment]
            elif axis.step is not None or axis.offset is not None:
                values[axis.iv.var] = axis_value(axis, axis.outer_var, axis.inner)
            else:
                values[axis.iv.var] = axis.inner
        values.update(blocking.outside)
    else:
        target = place.node.block.body
    axes = blocking.axes if blocking is not None else place.node.block.iter_vars

    def analyzer() -> Analyzer:
        cx = Analyzer()
        bind_around(cx, place)
        for iv in axes:
            if iv.dom is not None:
                cx.bind(iv.var, iv.dom)
        return cx

    # Of a loop that is made a block, the new block has the init.
    keeps = blocking.members[0].block.node.block if blocking is not None else None
    matcher = Matcher(values, analyzer, keeps)
    root: Block = intrin.desc.body.block  # type: ignore[attr-defined]
    try:
        if blocking is not None and blocking.members[0].guards:
            raise Differs(
                "a condition decides which of its iterations run", blocking.members[0].block, root.body
            )
        matcher.statement(target, root.body)
        for b in parameters(intrin.desc):
            if b not in matcher.places:
                raise Differs(f"the description does not touch its buffer {b.name}", place, root.body)
        if matcher.init is not None:
            _check_init_inside(blocking, root)
    except Differs as d:
        here = d.here.node if isinstance(d.here, StmtSRef) else d.here
        error = IntrinMismatch(
            place.home, at=[(place, None), (here, "here")] if here is not place.node else [(place, None)],
            target=describe(place.node), intrin=repr(tensor_intrin), what=d.what,
        )  # fmt: skip
        error.there, error.desc = d.there, intrin.desc
        raise error from None
    places = [matcher.places[b] for b in parameters(intrin.desc)]
    _check_aliases(place, intrin, places, tensor_intrin)
    _check_strides(place, intrin, places, tensor_intrin)
    return Plan(place, blocking, intrin, places, matcher.init is None)


def _check_init_inside(blocking: Blocking | None, root: Block) -> None:
    """An intrinsic that initializes must do the whole reduction at once."""
    for axis in blocking.members[0].axes if blocking is not None else ():
        dom: Any = axis.outer_dom
        if axis.iv.kind == "reduce" and axis.outer is not None:
            if not (type(dom.extent) is IntImm and dom.extent.value == 1):
                what = f"the description initializes, but the axis `{axis.iv.var.name}` goes on outside"
                raise Differs(what, axis.iv, root.body)


def _check_aliases(place: StmtSRef, intrin: TensorIntrin, places: list[Place], name: str) -> None:
    names = [b.name for b in parameters(intrin.desc)]
    for n, x in enumerate(places):
        for m, y in enumerate(places[:n]):
            if x.buffer.data is y.buffer.data and (x.written or y.written):
                raise IntrinAlias(
                    place.home,
                    at=[(place, None)],
                    intrin=repr(name),
                    one=names[m],
                    two=names[n],
                    buffer=x.buffer,
                )


def strides_of(buffer: Buffer) -> list[Linear | None]:
    """The strides in elements, of a dense buffer too."""
    if buffer.strides:
        return [to_linear(s) for s in buffer.strides]
    out: list[Linear | None] = []
    step: Linear | None = Linear({}, 1)
    for n in reversed(buffer.shape):
        out.append(step)
        extent = to_linear(n)
        step = None if step is None or extent is None else multiply(step, extent)
    out.reverse()
    return out


def _check_strides(place: StmtSRef, intrin: TensorIntrin, places: list[Place], name: str) -> None:
    """The strides that the implementation says as numbers, or twice as one variable."""
    known: dict[Var, tuple[int, str]] = {}
    for view, found in zip(parameters(intrin.impl), places, strict=True):
        if not view.strides:
            continue
        have = strides_of(found.buffer)[-len(view.strides) :]
        for n, (want, stride) in enumerate(zip(view.strides, have, strict=True)):
            size: Any = view.shape[n]
            if stride is None or not stride.is_const:
                continue
            if type(want) is Var and want not in known:
                known[want] = stride.const, f"{stride.const}, which is `{want.name}` of {view.name} already,"
                continue
            if type(size) is IntImm and size.value == 1:
                continue  # no step is made
            if type(want) is Var:
                value, shown = known[want]
            elif type(want) is IntImm:
                value, shown = want.value, str(want.value)
            else:
                continue
            if value != stride.const:
                raise IntrinStrides(
                    place.home, at=[(place, None)], intrin=repr(name), view=view, want=shown, axis=str(n),
                    buffer=found.buffer, have=str(stride.const),
                )  # fmt: skip


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Put the implementation in place."""
    place = plan.place
    impl = _named_apart(fresh_copy(plan.intrin.impl), place)
    root: Block = impl.body.block  # type: ignore[attr-defined]
    realize: BlockRealize = (
        place.node if plan.blocking is None else build(plan.blocking, root.body, _regions(plan))
    )
    block = realize.block
    views = []
    for view, found in zip(parameters(impl), plan.places, strict=True):
        ranges = []
        lead = len(found.starts) - len(view.shape)
        for n, (start, dtype) in enumerate(zip(found.starts, found.dtypes, strict=True)):
            size: Expr = const_int(1, dtype)
            if n >= lead:
                size = view.shape[n - lead]
                if type(size) is IntImm:
                    size = const_int(size.value, dtype)
            ranges.append(Range(start.to_expr(dtype), size))
        views.append(MatchBufferRegion(view, BufferRegion(found.buffer, tuple(ranges))))
    new = Block(
        block.label, block.iter_vars, block.reads, block.writes, root.body,
        block.init if plan.keep_init else None, (*block.alloc_buffers, *root.alloc_buffers),
        (*block.match_buffers, *views, *root.match_buffers), {**block.annotations, **root.annotations},
        block.span,
    )  # fmt: skip
    state.replace(place, BlockRealize(realize.iter_values, realize.predicate, new, realize.span))


def _regions(plan: Plan) -> Regions:
    """What the description says of regions, in the program's buffers.  A block with an init does not list as
    read what it updates."""
    found = dict(zip(parameters(plan.intrin.desc), plan.places, strict=True))
    root: Block = plan.intrin.desc.body.block  # type: ignore[attr-defined]
    assert plan.blocking is not None
    init = plan.keep_init and plan.blocking.members[0].block.node.block.init is not None
    written = {found[r.buffer].buffer for r in root.writes} if init else set()

    def placed(r: BufferRegion) -> BufferRegion:
        place = found[r.buffer]
        lead = len(place.starts) - len(r.region)
        ranges = []
        for n, (start, dtype) in enumerate(zip(place.starts, place.dtypes, strict=True)):
            if n < lead:
                ranges.append(Range(start.to_expr(dtype), const_int(1, dtype)))
                continue
            x: Any = r.region[n - lead]
            low = to_linear(x.min)
            first = start if low is None else start + low
            size = const_int(x.extent.value, dtype) if type(x.extent) is IntImm else x.extent
            ranges.append(Range(first.to_expr(dtype), size))
        return BufferRegion(place.buffer, tuple(ranges))

    reads = tuple([placed(r) for r in root.reads if not init or found[r.buffer].buffer not in written])
    return reads, tuple([placed(r) for r in root.writes])


def _named_apart(impl: PrimFunc, place: StmtSRef) -> PrimFunc:
    """The implementation with names that are free where it goes."""
    taken = names_around(place)
    names_inside(place.node, taken)
    buffers: dict[Buffer, Buffer] = {}
    variables: dict[Var, Expr] = {}
    for b in parameters(impl):
        name = free_name(b.name, taken)
        if name != b.name:
            data = b.data.replace(name=f"{name}_data")
            variables[b.data] = data
            buffers[b] = b.replace(name=name, data=data)
    for b in parameters(impl):
        for e in (*b.strides, *b.shape, *(() if b.elem_offset is None else (b.elem_offset,))):
            if type(e) is Var and e not in variables:
                name = free_name(e.name, taken)
                if name != e.name:
                    variables[e] = e.replace(name=name)
    if not variables:
        return impl

    def renamed(e: Any) -> Any:
        return variables.get(e, e) if type(e) is Var else e

    for b in parameters(impl):
        have = buffers.get(b, b)
        buffers[b] = have.replace(
            shape=tuple([renamed(e) for e in have.shape]),
            strides=tuple([renamed(e) for e in have.strides]),
            elem_offset=renamed(have.elem_offset),
        )
    body = substitute(impl.body, variables, buffers)
    return impl.replace(body=body, buffer_map={p: buffers.get(b, b) for p, b in impl.buffer_map.items()})


KIND = InstructionKind(
    "Tensorize",
    "tensorize",
    ("block_or_loop", "tensor_intrin", "preserve_unit_iters"),
    check,
    rewrite,
    attrs=2,
)
