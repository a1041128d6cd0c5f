"""Calls inside a module bind the shape variables of the function that they call."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import BufferLoad, Call, Expr, GlobalVar, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, DeclBuffer
from tirscript.ir.visitor import buffer_exprs


def bind_callees(mod: IRModule, func: PrimFunc) -> PrimFunc:
    """Append to each call of a function with shape variables what they are: the extents, strides and offsets
    of the buffers that the caller passes.  A call that cannot be bound stays, and is refused later."""
    if not any(type(n) is Call and type(n.op) is GlobalVar for n in walk(func.body)):
        return func
    known = _buffers(func)
    functions = dict(mod.items())

    def visit(n: Any) -> Any:
        n = n.map_children(visit)
        if type(n) is not Call or type(n.op) is not GlobalVar:
            return n
        callee = functions.get(n.op.name)
        if callee is None or len(n.args) != len(callee.params):
            return n
        wanted = shape_variables(callee)
        found = _bound(callee, n.args, known)
        if not wanted or not all(v in found for v in wanted):
            return n
        return Call(n.dtype, n.op, (*n.args, *[found[v] for v in wanted]), span=n.span)

    return func.replace(body=visit(func.body))


def shape_variables(function: PrimFunc) -> tuple[Var, ...]:
    """Variables of shapes, strides and offsets that are no parameters, in order of appearance."""
    params = set(function.params)
    found = [n for b in function.buffers for e in buffer_exprs(b) for n in walk(e) if type(n) is Var]
    return tuple(dict.fromkeys([v for v in found if v not in params]))


def _buffers(func: PrimFunc) -> dict[Var, Buffer]:
    """The buffers of a function by their pointers; the first of several over one pointer."""
    found = {b.data: b for b in func.buffers}
    for n in walk(func.body):
        more: list[Buffer] = []
        if type(n) is Block:
            more = [*n.alloc_buffers, *[m.buffer for m in n.match_buffers]]
        elif type(n) is DeclBuffer:
            more = [n.buffer]
        for b in more:
            found.setdefault(b.data, b)
    return found


def _bound(callee: PrimFunc, args: tuple[Expr, ...], known: dict[Var, Buffer]) -> dict[Var, Expr]:
    found: dict[Var, Expr] = {}
    scalars = {p: a for p, a in zip(callee.params, args, strict=True) if p not in callee.buffer_map}
    for p, a in zip(callee.params, args, strict=True):
        formal, actual = callee.buffer_map.get(p), _passed(a, known)
        if formal is None or actual is None or len(formal.shape) != len(actual.shape):
            continue
        pairs = list(zip(formal.shape, actual.shape, strict=True))
        if formal.strides:
            pairs += zip(formal.strides, _strides(actual), strict=True)
        if formal.elem_offset is not None:
            pairs.append((formal.elem_offset, actual.elem_offset or const_int(0)))
        for want, have in pairs:
            if type(want) is Var and want not in scalars:
                found.setdefault(want, have)
    return found


def _strides(b: Buffer) -> tuple[Expr, ...]:
    from .flatten_buffer import dense_strides

    return dense_strides(b)


def _passed(a: Expr, known: dict[Var, Buffer]) -> Buffer | None:
    """The buffer that an argument passes: its pointer, or the address of an element."""
    if type(a) is Var:
        return known.get(a)
    if type(a) is Call and a.op == "address_of":
        a = a.args[0]
    return a.buffer if type(a) is BufferLoad else None
