"""Making a trace stand alone: handles that no instruction of it produced are looked up first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tirscript.ir.expr import Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import BlockLabel

from ..primitives import look
from ..primitives.look import child_realizes
from ..refs import BlockRV, LoopRV, StmtSRef, block_token
from ..state import FunctionState
from .history import Step
from .trace import Instruction


def complete_trace(
    insts: Sequence[Instruction],
    steps: Sequence[Step],
    start: Sequence[tuple[FunctionState, PrimFunc]],
    made: Mapping[Instruction, Any],
) -> tuple[list[Instruction], dict[Instruction, Any]]:
    """The instructions, with look-ups before those that use a handle from elsewhere, and the decisions."""
    decisions: dict[Instruction, Any] = {}
    known: set[Any] = set()
    programs = {f.name: (f, func) for f, func in start}
    by_instruction = {id(s.instruction): s for s in steps}
    out: list[Instruction] = []
    for inst in insts:
        step = by_instruction.get(id(inst))
        decision = made.get(inst)
        if len(programs) > 1:
            inst = _with_handles(inst, step, programs, out, known)
        for handle in _handles(inst.args):
            if handle not in known:
                _look_up(handle, programs, out, known)
        out.append(inst)
        if decision is not None:
            decisions[inst] = decision
        known.update(inst.handles())
        if step is not None:
            for home, _, after in step.changes:
                programs[home.name] = (home, after)
    return out, decisions


# Parameters whose text is the name of a block.
_BLOCKS = frozenset({
    "block", "block_or_loop", "target", "consumer_blocks", "reduction_block", "epilogue_block",
})  # fmt: skip


def _with_handles(
    inst: Instruction,
    step: Step | None,
    programs: dict[str, tuple[FunctionState, PrimFunc]],
    out: list[Instruction],
    known: set[Any],
) -> Instruction:
    """The instruction with blocks looked up whose names it was given: in a module of several functions a name
    means one of the function that was worked on."""
    if step is not None and step.changes:
        function = step.changes[0][0].name
    else:
        made = [h.function for h in inst.handles()]
        function = made[0] if made else ""
    # Where nothing tells the function, a name that only one function has is enough.
    views = [
        FunctionState(name, home.var, func)
        for name, (home, func) in programs.items()
        if name == function or function not in programs
    ]

    def found(a: Any) -> Any:
        if isinstance(a, (list, tuple)):
            return [found(x) for x in a]
        if not isinstance(a, str):
            return a
        places = [
            (p, view)
            for view in views
            for t, p in view.index.items()
            if type(t) is BlockLabel and p.node.block.name == a
        ]
        if len(places) != 1:
            return a
        place, view = places[0]
        handle = BlockRV(block_token(place.node.block.label), view.name)
        if handle not in known:
            _look_up_block(place, view, out, known, True)
        return handle

    params = inst.kind.params
    args = tuple(
        [found(a) if n < len(params) and params[n] in _BLOCKS else a for n, a in enumerate(inst.args)]
    )
    if all(a is b for a, b in zip(args, inst.args, strict=True)):
        return inst
    return Instruction(inst.kind, args, inst.result, inst.group)


def _handles(args: Any) -> list[Any]:
    found = []
    for a in args:
        if isinstance(a, (LoopRV, BlockRV)):
            found.append(a)
        elif isinstance(a, (list, tuple)):
            found += _handles(a)
    return found


def _look_up(
    handle: Any, programs: dict[str, tuple[FunctionState, PrimFunc]], out: list[Instruction], known: set[Any]
) -> None:
    token = handle.token
    several = len(programs) > 1
    for name, (home, func) in programs.items():
        view = FunctionState(name, home.var, func)
        place = view.index.get(token)
        if place is None:
            continue
        if isinstance(token, Var):
            _look_up_loop(handle, place, view, out, known, several)
        else:
            _look_up_block(place, view, out, known, several)
        return


def _emit(kind: Any, args: tuple[Any, ...], result: Any, out: list[Instruction], known: set[Any]) -> None:
    inst = Instruction(kind, args, result)
    out.append(inst)
    known.update(inst.handles())


def _look_up_loop(
    handle: Any, place: StmtSRef, view: FunctionState, out: list[Instruction], known: set[Any], several: bool
) -> None:
    below = child_realizes(place.node.body)
    if not below:
        return
    block = BlockRV(block_token(below[0].block.label), view.name)
    here = view.index[block.token]
    if block not in known:
        _look_up_block(here, view, out, known, several)
    loops = []
    p = here.parent
    while p is not None and not hasattr(p.node, "block"):
        if hasattr(p.node, "loop_var"):
            loops.append(LoopRV(p.node.loop_var, view.name))
        p = p.parent
    loops.reverse()
    _emit(look.GET_LOOPS, (block,), loops, out, known)


def _look_up_block(
    place: StmtSRef, view: FunctionState, out: list[Instruction], known: set[Any], several: bool
) -> None:
    label = place.node.block.label
    handle = BlockRV(block_token(label), view.name)
    same = [t for t, p in view.index.items() if type(t) is BlockLabel and p.node.block.name == label.name]
    if len(same) == 1:
        function = view.name if several else "main"
        _emit(look.GET_BLOCK, (label.name, function), handle, out, known)
        return
    p = place.parent
    while p is not None and not hasattr(p.node, "block"):
        p = p.parent
    if p is None:
        return
    parent = BlockRV(block_token(p.node.block.label), view.name)
    if parent not in known:
        _look_up_block(p, view, out, known, several)
    children = [BlockRV(block_token(r.block.label), view.name) for r in child_realizes(p.node.block.body)]
    _emit(look.GET_CHILD_BLOCKS, (parent,), children, out, known)
