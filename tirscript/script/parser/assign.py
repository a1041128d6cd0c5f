"""Assignments: definitions, lets, mutable scalars, stores."""

from __future__ import annotations

import ast
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.diagnostics import ParseError
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion, make_buffer
from tirscript.ir.expr import (
    TRUE,
    BufferLoad,
    Expr,
    IterVar,
    Var,
)
from tirscript.ir.stmt import (
    Allocate,
    BufferStore,
    DeclBuffer,
    LetStmt,
)
from tirscript.script import constructs
from tirscript.script.dtypes import DTypeConstructor

from .core import EXPR, STMT, Cell, Defined, Frame, Parser, Poisoned
from .expr import apply_binary
from .index import access, index_items, point_indices
from .values import assign_python, convert, operand, quoted, unpack, value_expr


def _assign(p: Parser, s: ast.Assign) -> None:
    if len(s.targets) != 1:
        p.refuse(s, "a chained assignment `a = b = ...`", "write one assignment for each target")
    target = s.targets[0]
    kind = type(target)
    node = s.value
    if kind is ast.Subscript:
        try:
            value = EXPR[type(node)](p, node)
        except (ParseError, Poisoned) as e:
            # Read the target too, for its mistakes.
            if isinstance(e, ParseError):
                p.report(e)
            _store_indices(p, target, _stored_buffer(p, target))  # type: ignore[arg-type]
            return
        store(p, s, target, value)  # type: ignore[arg-type]
    elif kind is ast.Name:
        p.naming_node, p.naming = node, target.id  # type: ignore[attr-defined]
        bind_value(p, target, EXPR[type(node)](p, node), s)  # type: ignore[arg-type]
    elif kind is ast.Tuple or kind is ast.List:
        bind_tuple(p, target, _tuple_value(p, target, node), s)  # type: ignore[arg-type]
    elif kind is ast.Attribute:
        p.refuse(target, "an assignment to an attribute")
    else:
        p.refuse(target, "this target of an assignment")


def _tuple_value(p: Parser, target: Any, node: ast.expr) -> Any:
    """The value for several names; in ``n, m = T.int32(), T.int32()`` each call gets its name."""
    if type(node) is ast.Tuple and len(node.elts) == len(target.elts):
        if not any(isinstance(e, ast.Starred) for e in (*node.elts, *target.elts)):
            values = []
            for part, e in zip(target.elts, node.elts, strict=True):
                p.naming_node, p.naming = e, part.id if type(part) is ast.Name else part
                values.append(EXPR[type(e)](p, e))
            return values
    p.naming_node, p.naming = node, target
    return p.expr(node)


def bind_tuple(p: Parser, target: ast.Tuple | ast.List, value: Any, s: ast.stmt) -> None:
    """Bind each part of a target."""
    if isinstance(value, constructs.meta_var):
        assign_python(p, target, value.value)
        return
    if isinstance(value, (Expr, Frame, Defined, Buffer, BufferRegion)):
        raise p.error(target, "several names for one value", "unpack")
    try:
        items = list(value)
    except TypeError:
        raise p.error(s, f"a {type(value).__name__} cannot be taken apart", "unpack") from None
    for part, item in unpack(p, target, items):
        if isinstance(part, ast.Name):
            bind_value(p, part, item, s)
        elif isinstance(part, (ast.Tuple, ast.List)):
            bind_tuple(p, part, item, s)
        elif isinstance(part, ast.Subscript):
            store(p, s, part, item)
        else:
            p.refuse(part, "this target of an assignment")


def bind_value(p: Parser, target: ast.Name, value: Any, s: Any, *, mutable: bool | None = None) -> None:
    """``target = value``: a definition, a let, or a Python value."""
    name = target.id
    kind = type(value)
    if kind is Defined:
        known: Var | None = p.string_vars.get(name)
        new = value.value
        if known is not None and isinstance(new, Var) and known.dtype == new.dtype:
            if p.names.get(name) is known:  # the annotations have named it before
                return
        p.bind(name, value.value, value.kind)
        return
    if kind is list and value and type(value[0]) is Defined:
        p.bind(name, [v.value if type(v) is Defined else v for v in value], "a list")
        return
    if kind is Frame:
        p.items.append(value.wrap)
        p.bind(name, value.value, value.kind)
        return
    if kind is constructs.meta_var:
        p.bind(name, value.value, "a Python value")
        return
    if isinstance(value, IterVar):
        value = value.var
    if isinstance(value, (Expr, bool, int, float)):
        old = p.names.get(name)
        if type(old) is Cell:
            cell_store(p, s, old, value, s.value)
        elif (p.options.s_tir if mutable is None else mutable) and not _is_pointer(value):
            check_free(p, target)
            new_cell(p, s, name, ops.as_expr(value).dtype, value)
        else:
            check_free(p, target)
            _let(p, s, name, value_expr(p, s.value, value))
        return
    check_free(p, target)
    p.bind(name, value, "a buffer" if kind is Buffer else "a Python value")


def _is_pointer(value: Any) -> bool:
    return isinstance(value, Expr) and value.dtype == "handle"


def check_free(p: Parser, target: ast.Name) -> None:
    """Raise where the name stands for something that must not be assigned to."""
    name = target.id
    kind = p.kinds.get(name) if name in p.names else None
    if kind is None or kind in ("a Python value", "a list"):
        return
    if kind == "a value":
        raise p.error(
            target,
            f"`{name}` has a value already, and values do not change",
            "assigned-twice",
            hint=f'what changes is a buffer: {name} = T.alloc_buffer((), "int32"), then {name}[()] = ...',
        )
    if kind == "a buffer":
        raise p.error(
            target, f"`{name}` is a buffer", "assigned-twice", hint=f"store into it: `{name}[...] = ...`"
        )
    if kind == "a name with a mistake in its definition":
        return
    raise p.error(target, f"`{name}` is {kind}, which is not assigned to", "assigned-twice")


def _let(p: Parser, s: Any, name: str, value: Expr, var: Var | None = None) -> None:
    """``name`` stands for ``value`` in all that follows in this body."""
    if var is None:
        exact = value.dtype[0] in "iu" and is_exact(value)
        pointee = value.pointee if type(value) is Var else None
        var = Var(p.take(name), value.dtype, exact, pointee, p.span(s))
    span = p.span(s)
    bound = var
    p.items.append(lambda body: LetStmt(bound, value, body, span))
    p.bind(name, var, "a value")


def new_cell(p: Parser, s: ast.stmt, name: str, dtype: str, value: Any) -> None:
    """A mutable scalar of the 0.27 dialect: a local buffer of rank 0."""
    buffer = make_buffer(p.take(name), (), dtype, scope="local", span=p.span(s))
    span = buffer.span
    p.items.append(
        lambda body: Allocate(buffer.data, dtype, (), TRUE, DeclBuffer(buffer, body, span), span=span)
    )
    cell = Cell(buffer)
    p.bind(name, cell, "a scalar")
    if value is not None:
        cell_store(p, s, cell, value, getattr(s, "value", s))


def cell_store(p: Parser, s: ast.stmt, cell: Cell, value: Any, node: ast.AST) -> None:
    buffer = cell.buffer
    p.emit(
        BufferStore(buffer, convert(p, node, value, buffer.dtype, f"`{buffer.name}`"), (), None, p.span(s))
    )


def _annotated(p: Parser, s: ast.AnnAssign) -> None:
    target = s.target
    if not isinstance(target, ast.Name):
        p.refuse(target, "an annotation of this target")
    annotation: Any = s.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = quoted(p, annotation)
    mutable: bool | None = None
    if isinstance(annotation, ast.Subscript) and p.expr(annotation.value) is constructs.let:
        mutable, annotation = False, annotation.slice
    said = p.expr(annotation)
    dtype: str | None
    pointee = None
    if said is constructs.let:
        mutable, dtype = False, None
    elif isinstance(said, DTypeConstructor):
        dtype = said.dtype
    elif isinstance(said, Var):
        dtype, pointee = said.dtype, said.pointee
    elif said in (int, float, bool):
        dtype = dt.normalize(said)
    else:
        raise p.error(
            annotation, f"`{ast.unparse(annotation)}` is no dtype", "annotation", hint="`x: T.int32 = ...`"
        )
    if s.value is None:
        if not p.options.s_tir or dtype is None:
            raise p.error(s, f"`{target.id}` needs a value", "no-value")
        check_free(p, target)
        new_cell(p, s, target.id, dtype, None)
        return
    p.naming_node, p.naming = s.value, target.id
    value = p.expr(s.value)
    if isinstance(value, Frame):
        bind_value(p, target, value, s)
        return
    if isinstance(value, Defined):
        value = value.value
    value = operand(p, s.value, value)
    if dtype == "handle":
        expr = value_expr(p, s.value, value)
        if expr.dtype != "handle":
            raise p.error(s.value, f"`{target.id}` is a pointer, the value is {expr.dtype}", "dtype-mismatch")
    elif dtype is not None:
        expr = convert(p, s.value, value, dtype, f"`{target.id}`")
    else:
        expr = value_expr(p, s.value, value)
    if mutable is None:
        mutable = p.options.s_tir
    old = p.names.get(target.id)
    if type(old) is Cell:
        cell_store(p, s, old, expr, s.value)
        return
    check_free(p, target)
    if mutable and expr.dtype != "handle":
        new_cell(p, s, target.id, expr.dtype, expr)
    elif pointee is not None:
        _let(p, s, target.id, expr, Var(p.take(target.id), "handle", False, pointee, p.span(s)))
    else:
        _let(p, s, target.id, expr)


def _augmented(p: Parser, s: ast.AugAssign) -> None:
    target = s.target
    if isinstance(target, ast.Name):
        old = p.names.get(target.id)
        if type(old) is Cell:
            value = apply_binary(p, s, s.op, p.expr(target), p.expr(s.value))
            cell_store(p, s, old, value, s)
            return
        if old is None:
            p.expr(target)
        elif not isinstance(old, (Expr, Buffer)):
            p.bind(target.id, apply_binary(p, s, s.op, old, p.expr(s.value)), "a Python value")
            return
        check_free(p, target)
        raise p.error(target, f"`{target.id}` is a Python value from outside", "assigned-twice")
    if not isinstance(target, ast.Subscript):
        p.refuse(target, "this target of an assignment")
    value = p.expr(s.value)
    buffer = _stored_buffer(p, target)
    indices = _store_indices(p, target, buffer)
    load = BufferLoad(buffer, indices, None, p.span(target))
    _emit_store(p, s, buffer, indices, apply_binary(p, s, s.op, load, value), s)


def store(p: Parser, s: Any, target: ast.Subscript, value: Any) -> None:
    """``A[...] = value``"""
    buffer = _stored_buffer(p, target)
    _emit_store(p, s, buffer, _store_indices(p, target, buffer), value, s.value)


def _stored_buffer(p: Parser, target: ast.Subscript) -> Buffer:
    buffer = EXPR[type(target.value)](p, target.value)
    if type(buffer) is not Buffer:
        what = ast.unparse(target.value)
        if isinstance(buffer, Expr):
            raise p.error(target.value, f"`{what}` is no buffer", "store", hint="declare one: T.decl_buffer")
        raise p.error(
            target.value, f"`{what}` is a Python value: its items are not assigned to here", "store"
        )
    return buffer


def _store_indices(p: Parser, target: ast.Subscript, buffer: Buffer) -> tuple[Expr, ...]:
    items = index_items(p, target.slice)
    if any(type(i) is slice for i in items):
        place = access(p, target, buffer, items)
        if not isinstance(place, BufferLoad):
            raise p.error(
                target,
                "a store takes points, or a slice of constant length in the last dimension",
                "store",
                hint="write a loop over the region",
            )
        return place.indices
    return point_indices(p, target, buffer, items)


def _emit_store(p: Parser, s: Any, buffer: Buffer, indices: tuple[Expr, ...], value: Any, node: Any) -> None:
    dtype = buffer.dtype
    if indices and "x" in indices[-1].dtype:
        lanes = dt.lanes(indices[-1].dtype) * dt.lanes(dtype)
        dtype = dt.with_lanes(dtype, lanes)
    if not isinstance(value, Expr) or value.dtype != dtype:
        value = convert(p, node, operand(p, node, value), dtype, f"`{buffer.name}`")
    p.items.append(BufferStore(buffer, value, indices, None, p.span(s)))


STMT.update({ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented})
