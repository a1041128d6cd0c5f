"""From arguments of primitives to places: handles, block names, integers."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import did_you_mean
from tirscript.ir.expr import GlobalVar, IntImm
from tirscript.ir.stmt import BlockLabel

from .errors import (
    AmbiguousBlock,
    BadArgument,
    NoFunction,
    UnknownBlock,
    UnknownFunctionName,
    WrongHandle,
    a_kind,
    describe,
    expired,
)
from .refs import INLINE, ROOT, BlockRV, ExprRV, LoopRV, StmtSRef
from .state import FunctionState, ScheduleState


class BadName(BadArgument):
    code = "bad-name"
    template = "`{argument}` must be {wanted}, {given} was given"


def loop_place(state: ScheduleState, loop: Any, argument: str = "loop", primitive: str = "") -> StmtSRef:
    """The place of a loop that is given by its handle."""
    if type(loop) is LoopRV:
        f = state.functions.get(loop.function)
        place = None if f is None else f.index.get(loop.token)
        if place is None:
            place = state.find(loop.token)
            if place is None:
                if loop.token is ROOT or loop.token is INLINE:
                    raise WrongHandle(
                        argument=argument, primitive=primitive or "a primitive", wanted="a loop",
                        given="a mark of sample_compute_location", hint="compute_at takes it",
                    )  # fmt: skip
                raise expired(state, loop)
        return place
    raise WrongHandle(
        argument=argument,
        primitive=primitive or "a primitive",
        wanted="a loop reference (LoopRV)",
        given=a_kind(loop),
        hint="get_loops(block) gives the loops around a block",
    )


def block_place(state: ScheduleState, block: Any, argument: str = "block", primitive: str = "") -> StmtSRef:
    """The place of a block that is given by its handle or its name."""
    if type(block) is BlockRV:
        f = state.functions.get(block.function)
        place = None if f is None else f.index.get(block.token)
        if place is None:
            place = state.find(block.token)
            if place is None:
                raise expired(state, block)
        return place
    if isinstance(block, str):
        return named_block(state, block, None)
    raise WrongHandle(
        argument=argument,
        primitive=primitive or "a primitive",
        wanted="a block reference (BlockRV) or the name of a block",
        given=a_kind(block),
        hint="get_block(name) gives a block",
    )


def any_place(state: ScheduleState, rv: Any, argument: str, primitive: str) -> StmtSRef:
    """The place of a loop or block; a string names a block."""
    if type(rv) is LoopRV:
        return loop_place(state, rv)
    if type(rv) is BlockRV or isinstance(rv, str):
        return block_place(state, rv)
    raise WrongHandle(
        argument=argument,
        primitive=primitive,
        wanted="a block or loop reference (BlockRV, LoopRV)",
        given=a_kind(rv),
        hint="get_block(name) gives a block, get_loops(block) the loops around it",
    )


def function_of(state: ScheduleState, name: str | None) -> FunctionState:
    """The function of that name, or the one that is worked on."""
    functions = state.functions
    if isinstance(name, GlobalVar):
        name = name.name
    if name is not None and not isinstance(name, str):
        raise BadName(argument="func_name", wanted="the name of a function", given=a_kind(name))
    if name is None:
        name = state.working
        if name is None:
            raise NoFunction(known=", ".join(functions) or "none")
    found = functions.get(name)
    if found is None and name == "main" and len(functions) == 1:
        found = next(iter(functions.values()))
    if found is None:
        raise UnknownFunctionName(
            name=name, known=", ".join(functions) or "none", hint=did_you_mean(name, functions)
        )
    return found


def named_block(state: ScheduleState, name: str, func_name: str | None) -> StmtSRef:
    """The only block of that name in the function."""
    if not isinstance(name, str):
        raise BadName(argument="name", wanted="the name of a block", given=a_kind(name))
    f = function_of(state, func_name)
    found = []
    for token, place in f.index.items():
        if type(token) is BlockLabel and place.node.block.label.name == name:
            found.append(place)
    if len(found) == 1:
        return found[0]
    where = f" in `{f.name}`" if len(state.functions) > 1 else ""
    if not found:
        known = [p.node.block.name for t, p in f.index.items() if type(t) is BlockLabel]
        raise UnknownBlock.make(f, name, where, list(dict.fromkeys(known)))
    raise AmbiguousBlock(
        f,
        at=[(p, "") for p in found],
        count=str(len(found)),
        name=name,
        where=where,
        places="; ".join([_where(p) for p in found]),
    )


def _where(place: StmtSRef) -> str:
    """Where a block stands: its loops, or the statement around it."""
    names = []
    p = place.parent
    while p is not None and not hasattr(p.node, "block"):
        if hasattr(p.node, "loop_var"):
            names.append(p.node.loop_var.name)
        p = p.parent
    names.reverse()
    if names:
        return "one under " + ", ".join(names)
    return "one in " + (describe(p.node) if p is not None else "the function")


def integer(value: Any) -> int | None:
    """A Python int, IntImm or ExprRV as an int; None for anything else (bools are no integers)."""
    t = type(value)
    if t is int:
        return value  # type: ignore[no-any-return]
    if t is IntImm and value.dtype != "bool":
        return value.value  # type: ignore[no-any-return]
    if t is ExprRV:
        return value.value  # type: ignore[no-any-return]
    if t is bool:
        return None
    index = getattr(value, "__index__", None)
    return int(index()) if index is not None else None
