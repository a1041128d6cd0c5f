"""Methods of buffers, Python's builtins on expressions, and calls that bind variables in their arguments."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.buffer_methods import access_mask, elements, flat_offset
from tirscript.ir.expr import BufferLoad, Expr, Let, Var
from tirscript.ir.index_map import IndexMap
from tirscript.ir.node import Node
from tirscript.ir.stmt import BufferStore
from tirscript.ir.visitor import substitute
from tirscript.script import constructs, intrinsics, operators

from .call import BUFFER_METHODS, call_python, call_values
from .core import CALLS, Frame, Parser, arguments, on_call
from .frames import _let_frame as let_frame
from .index import point_indices
from .loops import as_index
from .offsets import offset_of
from .values import condition, convert, operand, read_dtype, value_expr

# ---- methods of buffers


def _scope(p: Parser, node: ast.Call, buffer: Buffer) -> str:
    arguments(p, node)
    return buffer.scope


def _access_mask(p: Parser, node: ast.expr) -> int:
    given = p.expr(node)
    mask = access_mask(given)
    if mask is None:
        raise p.error(node, f"{given!r} is no access", "access-ptr", hint='write "r", "w" or "rw"')
    return mask


def _access_ptr(p: Parser, node: ast.Call, buffer: Buffer) -> Expr:
    args = arguments(p, node, "access_mask", "ptr_type", "content_lanes", "offset", "extent", required=1)
    mask = _access_mask(p, args["access_mask"])
    lanes = p.expr(args["content_lanes"]) if "content_lanes" in args else 1
    extra = as_index(p, args["offset"], p.expr(args["offset"])) if "offset" in args else None
    start: Expr = offset_of(p, buffer)
    if extra is not None and not _is_zero(extra):
        start = extra if _is_zero(start) else ops.add(start, extra)
    if "extent" in args and p.expr(args["extent"]) is not None:
        extent = as_index(p, args["extent"], p.expr(args["extent"]))
    else:
        extent = elements(buffer)
        if extra is not None and not _is_zero(extra):
            extent = ops.sub(extent, extra)
    dtype = buffer.dtype
    if lanes != 1:
        dtype = f"{dtype}x{lanes}"
        extent, start = ops.floordiv(extent, lanes), ops.floordiv(start, lanes)
    return intrinsics.tvm_access_ptr(dtype, buffer.data, start, extent, mask)


def _is_zero(e: Expr) -> bool:
    return getattr(e, "value", None) == 0


def _begin(p: Parser, node: ast.expr) -> list[Any]:
    value = p.expr(node)
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _vload(p: Parser, node: ast.Call, buffer: Buffer) -> Expr:
    args = arguments(p, node, "begin", "dtype", required=1, keywords_only={"predicate": None})
    indices = point_indices(p, args["begin"], buffer, _begin(p, args["begin"]))
    if "dtype" in args and p.expr(args["dtype"]) is not None:
        indices = _widened(
            p, args["dtype"], buffer, indices, read_dtype(p, args["dtype"], p.expr(args["dtype"]))
        )
    predicate = _predicate(p, args.get("predicate"))
    return BufferLoad(buffer, indices, predicate, p.span(node))


def _widened(
    p: Parser, node: ast.AST, buffer: Buffer, indices: tuple[Expr, ...], dtype: str
) -> tuple[Expr, ...]:
    """Indices of as many lanes as ``dtype`` has more than the buffer."""
    from tirscript.ir import dtype as dt

    lanes = dt.lanes(dtype) // max(1, dt.lanes(buffer.dtype))
    if dt.info(dtype).base != dt.info(buffer.dtype).base:
        raise p.error(node, f"`{buffer.name}` holds {buffer.dtype}, not {dtype}", "dtype-mismatch")
    if lanes <= 1 or not indices:
        return indices
    return (*indices[:-1], operators.Ramp(indices[-1], 1, lanes))


def _predicate(p: Parser, node: ast.expr | None) -> Expr | None:
    if node is None:
        return None
    value = p.expr(node)
    return None if value is None else condition(p, node, value)


def _vstore(p: Parser, node: ast.Call, buffer: Buffer) -> None:
    args = arguments(p, node, "begin", "value", required=2, keywords_only={"predicate": None})
    _store(p, node, buffer, args["begin"], args["value"], args.get("predicate"))


def _store(
    p: Parser,
    node: ast.Call,
    buffer: Buffer,
    begin: ast.expr,
    value_node: ast.expr,
    predicate: ast.expr | None,
) -> None:
    from tirscript.ir import dtype as dt

    value = operand(p, value_node, p.expr(value_node))
    indices = point_indices(p, begin, buffer, _begin(p, begin))
    wide = dt.lanes(value.dtype) if isinstance(value, Expr) else 1
    if indices and wide > 1 and "x" not in indices[-1].dtype and "x" not in buffer.dtype:
        indices = (*indices[:-1], operators.Ramp(indices[-1], 1, wide))
    lanes = dt.lanes(indices[-1].dtype) if indices else 1
    dtype = buffer.dtype if lanes == 1 else dt.with_lanes(buffer.dtype, lanes * dt.lanes(buffer.dtype))
    stored = convert(p, value_node, value, dtype, f"`{buffer.name}`")
    p.emit(BufferStore(buffer, stored, indices, _predicate(p, predicate), p.span(node)))


def _buffer_store(p: Parser, node: ast.Call) -> None:
    """``T.buffer_store(A, value, indices)``"""
    args = arguments(p, node, "buffer", "value", "indices", "predicate", required=3)
    buffer = p.expr(args["buffer"])
    if not isinstance(buffer, Buffer):
        raise p.error(args["buffer"], f"`{ast.unparse(args['buffer'])}` is no buffer", "store")
    _store(p, node, buffer, args["indices"], args["value"], args.get("predicate"))


def _offset_of(p: Parser, node: ast.Call, buffer: Buffer) -> list[Expr]:
    arg = arguments(p, node, "indices", required=1)["indices"]
    indices = point_indices(p, arg, buffer, _begin(p, arg))
    return [flat_offset(buffer, indices)]


BUFFER_METHODS.update(
    {"scope": _scope, "access_ptr": _access_ptr, "vload": _vload, "vstore": _vstore, "offset_of": _offset_of}
)
CALLS[constructs.buffer_store] = _buffer_store

# ---- Python's builtins


def _folded(
    build: Callable[[Any, Any], Expr], python: Callable[..., Any]
) -> Callable[[Parser, ast.Call], Any]:
    """Python's ``min`` and ``max``: of expressions they are those of ``T``."""

    def handler(p: Parser, node: ast.Call) -> Any:
        args, kwargs = call_values(p, node)
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        items = [operand(p, node, i) for i in items]
        if not any(isinstance(i, Expr) for i in items):
            return call_python(p, node, python, args, kwargs)
        if kwargs:
            raise p.error(node.keywords[0], "a key or default needs Python values", "python-value")
        result = items[0]
        try:
            for i in items[1:]:
                result = build(result, i)
        except TirscriptError as e:
            raise p.located(e, node) from None
        return result

    return handler


def _one(build: Callable[[Any], Expr], python: Callable[..., Any]) -> Callable[[Parser, ast.Call], Any]:
    def handler(p: Parser, node: ast.Call) -> Any:
        args, kwargs = call_values(p, node)
        args = [operand(p, node, a) if isinstance(a, Node) else a for a in args]
        symbolic = len(args) == 1 and isinstance(args[0], Expr)
        return call_python(p, node, build if symbolic else python, args, kwargs)

    return handler


def _sum(p: Parser, node: ast.Call) -> Any:
    args, kwargs = call_values(p, node)
    if args and isinstance(args[0], (list, tuple)) and any(isinstance(a, Expr) for a in args[0]):
        result = args[1] if len(args) > 1 else None
        try:
            for item in args[0]:
                result = item if result is None else ops.add(result, item)
        except TirscriptError as e:
            raise p.located(e, node) from None
        return result
    return call_python(p, node, builtins.sum, args, kwargs)


def _any_all(
    join: Callable[[Any, Any], Expr], python: Callable[..., Any]
) -> Callable[[Parser, ast.Call], Any]:
    def handler(p: Parser, node: ast.Call) -> Any:
        args, kwargs = call_values(p, node)
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else []
        if not any(isinstance(i, Expr) for i in items):
            return call_python(p, node, python, args, kwargs)
        result = items[0]
        for i in items[1:]:
            result = join(result, i)
        return result

    return handler


def _len(p: Parser, node: ast.Call) -> Any:
    args, kwargs = call_values(p, node)
    if len(args) == 1 and isinstance(args[0], Buffer):
        raise p.error(
            node,
            f"`len` of the buffer `{args[0].name}`",
            "python-value",
            hint=f"its extents are `{args[0].name}.shape[0]`, ...",
        )
    return call_python(p, node, builtins.len, args, kwargs)


def _isinstance(p: Parser, node: ast.Call) -> bool:
    args, kwargs = call_values(p, node)
    result: bool = call_python(p, node, builtins.isinstance, args, kwargs)
    return result


on_call(
    {
        builtins.min: _folded(ops.minimum, builtins.min),
        builtins.max: _folded(ops.maximum, builtins.max),
        builtins.abs: _one(ops.absolute, builtins.abs),
        builtins.pow: _folded(ops.power, builtins.pow),
        builtins.sum: _sum,
        builtins.len: _len,
        builtins.any: _any_all(ops.logical_or, builtins.any),
        builtins.all: _any_all(ops.logical_and, builtins.all),
        builtins.isinstance: _isinstance,
        **{
            getattr(math, name): _one(getattr(operators, name), getattr(math, name))
            for name in (
                "exp",
                "sqrt",
                "sin",
                "cos",
                "tan",
                "tanh",
                "floor",
                "ceil",
                "fabs",
                "log2",
                "log10",
                "erf",
            )
        },
    }
)

# ---- calls that bind variables


def _let(p: Parser, node: ast.Call) -> Expr | Frame:
    """``T.Let(body, where={x: value})``: the names in ``where`` are known in the body."""
    args = arguments(p, node, "expr", "where", required=1)
    if "where" not in args:
        # `with T.Let(e) as x`, a short spelling of T.LetStmt.
        return let_frame(p, node, value_expr(p, args["expr"], p.expr(args["expr"])), None)
    where = args["where"]
    if not isinstance(where, ast.Dict):
        raise p.error(
            where, "`where` is a dict of names and values", "let", hint="T.Let(x + 1, where={x: 2})"
        )
    bound: list[tuple[Var, Expr]] = []
    mark = len(p.undo)
    try:
        for key, value_node in zip(where.keys, where.values, strict=True):
            if not isinstance(key, ast.Name):
                raise p.error(key or where, "a name is wanted here", "let")
            value = value_expr(p, value_node, p.expr(value_node))
            exact = value.dtype[0] in "iu" and is_exact(value)
            var = Var(p.take(key.id), value.dtype, exact, None, p.span(key))
            bound.append((var, value))
            p.bind(key.id, var, "a value")
        body = value_expr(p, args["expr"], p.expr(args["expr"]))
    finally:
        p.leave(mark)
    for var, value in reversed(bound):
        body = Let(var, value, body, p.span(node))
    return body


CALLS[operators.Let] = _let


def _region_argument(p: Parser, node: ast.Call) -> Any:
    """``T.address_of(A[i, j])``"""
    args, kwargs = call_values(p, node)
    if args and isinstance(args[0], BufferRegion):
        region = args[0]
        args[0] = BufferLoad(region.buffer, tuple([r.min for r in region.region]), None, region.span)
    return call_python(p, node, intrinsics.address_of, args, kwargs)


CALLS[intrinsics.address_of] = _region_argument


def _renamed(p: Parser, variables: tuple[Var, ...]) -> dict[Var, Expr]:
    """New variables for those whose names are taken here."""
    mark = len(p.undo)
    new: dict[Var, Expr] = {}
    for v in variables:
        name = p.take(v.name)
        if name != v.name:
            new[v] = v.replace(name=name)
    p.leave(mark)
    return new


def _reducer(p: Parser, node: ast.Call) -> Any:
    args, kwargs = call_values(p, node)
    made = call_python(p, node, operators.comm_reducer, args, kwargs)
    new = _renamed(p, (*made.lhs, *made.rhs))
    if not new:
        return made
    lhs, rhs = [tuple([new.get(v, v) for v in side]) for side in (made.lhs, made.rhs)]
    return made.replace(lhs=lhs, rhs=rhs, result=tuple([substitute(e, new) for e in made.result]))


def _index_map(p: Parser, node: ast.Call) -> Any:
    args, kwargs = call_values(p, node)
    made = call_python(p, node, operators.index_map, args, kwargs)
    new = _renamed(p, made.initial_indices)
    if not new:
        return made
    initial = [new.get(v, v) for v in made.initial_indices]
    return IndexMap(initial, [substitute(e, new) for e in made.final_indices], made.inverse_index_map)


on_call({operators.comm_reducer: _reducer, operators.index_map: _index_map})
