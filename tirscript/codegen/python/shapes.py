"""The symbols in shapes, strides and offsets of parameters, read off the arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tirscript.ir.expr import Add, Cast, Expr, IntImm, Mul, Sub, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.visitor import buffer_exprs

from . import build as py
from .kinds import Interval

if TYPE_CHECKING:
    from .emit import Emitter


def bind_symbols(x: Emitter, f: PrimFunc) -> None:
    """Assign every symbol that is no parameter: at its plain occurrence, else solved from a linear one."""
    given = set(f.params)
    wanted: list[Var] = []
    for b in f.buffers:
        for e in buffer_exprs(b):
            wanted += [v for v in _variables(e) if v not in given and v not in wanted]
    for plain in (True, False):
        for p in f.params:
            buffer = f.buffer_map.get(p)
            if buffer is None:
                continue
            array = py.name(x.buffers[buffer])
            for axis, e in enumerate(buffer.shape):
                _bind(
                    x,
                    e,
                    py.subscript(py.attribute(array, "shape"), [py.number(axis)]),
                    wanted,
                    plain,
                    (0, None),
                )
            for axis, e in enumerate(buffer.strides):
                stride = ast.BinOp(
                    py.subscript(py.attribute(array, "strides"), [py.number(axis)]),
                    ast.FloorDiv(),
                    py.attribute(array, "itemsize"),
                )
                _bind(x, e, stride, wanted, plain, (None, None))
            if buffer.elem_offset is not None:
                _bind(x, buffer.elem_offset, py.number(0), wanted, plain, (0, 0))


def _variables(e: Any) -> list[Var]:
    if type(e) is Var:
        return [e]
    return [v for c in e.children() for v in _variables(c)]


def _bind(x: Emitter, e: Expr, value: ast.expr, wanted: list[Var], plain: bool, bounds: Interval) -> None:
    free = [v for v in _variables(e) if v in wanted]
    if len(free) != 1 or (plain and type(e) is not Var):
        return
    solved = _solve(e, value, free[0])
    if solved is None:
        return
    v = free[0]
    wanted.remove(v)
    x.out.append(py.assign(x.define(v), solved))
    high = (1 << 31) - 1 if v.dtype == "int32" else (1 << 63) - 1
    x.kinds.bounds[v] = (bounds[0], high if bounds[1] is None else bounds[1])


def _solve(e: Any, value: ast.expr, v: Var) -> ast.expr | None:
    """``v`` from ``e == value``, where ``e`` adds and multiplies constants."""
    if e is v:
        return value
    t = type(e)
    if t is Cast:
        return _solve(e.value, value, v)
    if t in (Add, Sub, Mul) and type(e.b) is IntImm:
        op: ast.operator = {Add: ast.Sub(), Sub: ast.Add(), Mul: ast.FloorDiv()}[t]
        return _solve(e.a, py.binary(op, value, py.number(e.b.value)), v)
    if t in (Add, Mul) and type(e.a) is IntImm:
        op = ast.Sub() if t is Add else ast.FloorDiv()
        return _solve(e.b, py.binary(op, value, py.number(e.a.value)), v)
    return None
