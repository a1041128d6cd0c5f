"""Statements: one handler for each kind of Python statement."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from tirscript.arith.exact import is_exact
from tirscript.diagnostics import ParseError, PrecisionLossWarning, Span, TirscriptError, user_stacklevel
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion, make_buffer
from tirscript.ir.expr import FALSE, TRUE, Broadcast, BufferLoad, Call, Cast, Expr, IterVar, StringImm, Var
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Allocate,
    AssertStmt,
    BufferStore,
    DeclBuffer,
    Evaluate,
    IfThenElse,
    LetStmt,
    Stmt,
    While,
)
from tirscript.script import constructs
from tirscript.script.dtypes import DTypeConstructor

from .core import CALLS, EXPR, LOOPS, STMT, Cell, Defined, Frame, Parser, Poisoned, first_line_span, fold
from .expr import (
    access,
    apply_binary,
    assign_python,
    index_items,
    operand,
    point_indices,
    unpack,
    value_expr,
)

# ---- values and their dtypes


def convert(p: Parser, node: ast.AST, value: Any, dtype: str, what: str) -> Expr:
    """``value`` as an expression of ``dtype``; a lossy conversion warns, naming the line."""
    if not isinstance(value, Expr):
        if isinstance(value, float) and not value.is_integer() and not dt.is_float(dtype) and not dt.is_bool(dtype):
            _warn_loss(p, node, f"{value!r}", dtype, what)
            return ops.cast(value, dtype)
        if isinstance(value, (bool, int, float)):
            try:
                return ops.const(value, dtype)
            except TirscriptError as e:
                raise p.located(e, node) from None
        value = value_expr(p, node, value)
    if type(value) is StringImm:
        raise p.error(node, f"a string is no value for {what}, which is {dtype}", "dtype-mismatch")
    if value.dtype == dtype:
        return value  # type: ignore[no-any-return]
    have, want = dt.info(value.dtype), dt.info(dtype)
    if have.code in ("handle", "void") or want.code in ("handle", "void"):
        raise p.error(node, f"{what} is {dtype}, the value is {value.dtype}", "dtype-mismatch")
    if have.lanes != want.lanes:
        if have.lanes != 1:
            raise p.error(
                node, f"the value has {have.lanes} lanes, {what} takes {want.lanes}", "dtype-mismatch"
            )
        return Broadcast(convert(p, node, value, want.base, what), want.lanes)
    if _is_lossy(have, want) and not _fits(p, value, want):
        _warn_loss(p, node, f"a {value.dtype} value", dtype, what)
    return Cast(dtype, value)


def _is_lossy(have: dt.DType, want: dt.DType) -> bool:
    if have.code == "bool" or want.code == "bool":
        return False
    if have.is_float:
        return not want.is_float or want.bits < have.bits or (want.bits == have.bits and want.code != have.code)
    return want.is_int and want.bits < have.bits


def _fits(p: Parser, value: Expr, want: dt.DType) -> bool:
    """Whether the value is an exact integer whose bounds, by loops and axes, lie within the dtype."""
    if not want.is_int or not is_exact(value):
        return False
    from tirscript.arith import Analyzer

    analyzer = Analyzer()
    for n in walk(value):
        if type(n) is Var:
            dom = p.axes.get(n) or p.loops.get(n)
            if dom is not None:
                analyzer.bind(n, dom)
    low, high = analyzer.const_bounds(value)
    least, most = dt.bounds(want.base)
    return low is not None and high is not None and least <= low and high <= most


def _warn_loss(p: Parser, node: ast.AST, value: str, dtype: str, what: str) -> None:
    span = p.span(node)
    warnings.warn(
        f"{span}: {value} is converted to {dtype}, which holds less, for {what}; "
        f'T.cast(..., "{dtype}") says that this is meant',
        PrecisionLossWarning,
        stacklevel=user_stacklevel(),
    )


def condition(p: Parser, node: ast.AST, value: Any) -> Expr:
    """``value`` as a condition."""
    try:
        return ops.condition(operand(p, node, value))
    except TirscriptError as e:
        raise p.located(e, node) from None


# ---- assignment


def _assign(p: Parser, s: ast.Assign) -> None:
    if len(s.targets) != 1:
        p.refuse(s, "a chained assignment `a = b = ...`", "write one assignment for each target")
    target = s.targets[0]
    kind = type(target)
    node = s.value
    if kind is ast.Subscript:
        value = EXPR[type(node)](p, node)
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
            hint=f'a variable that changes is a buffer: {name} = T.alloc_buffer((), "int32"), then {name}[()] = ...',
        )
    if kind == "a buffer":
        raise p.error(target, f"`{name}` is a buffer", "assigned-twice", hint=f"store into it: `{name}[...] = ...`")
    if kind == "a name with a mistake in its definition":
        return
    raise p.error(target, f"`{name}` is {kind}, which is not assigned to", "assigned-twice")


def _let(p: Parser, s: Any, name: str, value: Expr, var: Var | None = None) -> None:
    """``name`` stands for ``value`` in all that follows in this body."""
    if var is None:
        exact = value.dtype[0] in "iu" and is_exact(value)
        var = Var(name, value.dtype, exact, value.pointee if type(value) is Var else None, p.span(s))
    span = p.span(s)
    bound = var
    p.items.append(lambda body: LetStmt(bound, value, body, span))
    p.bind(name, var, "a value")


def new_cell(p: Parser, s: ast.stmt, name: str, dtype: str, value: Any) -> None:
    """A mutable scalar of the 0.27 dialect: a local buffer of rank 0."""
    buffer = make_buffer(name, (), dtype, scope="local", span=p.span(s))
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
    p.emit(BufferStore(buffer, convert(p, node, value, buffer.dtype, f"`{buffer.name}`"), (), None, p.span(s)))


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
        _let(p, s, target.id, expr, Var(target.id, "handle", False, pointee, p.span(s)))
    else:
        _let(p, s, target.id, expr)


def quoted(p: Parser, node: ast.Constant) -> ast.expr:
    """The expression inside a string annotation, with the place of the string."""
    try:
        tree = ast.parse(node.value, mode="eval").body
    except SyntaxError:
        raise p.error(node, "this text is no annotation", "annotation") from None
    one_line = node.end_lineno == node.lineno
    for n in ast.walk(tree):
        if isinstance(n, (ast.expr, ast.keyword)):
            shift = node.col_offset + 1 if one_line and n.end_lineno == n.lineno == 1 else None
            n.lineno, n.end_lineno = node.lineno, node.end_lineno
            if shift is None:
                n.col_offset, n.end_col_offset = node.col_offset, node.end_col_offset
            else:
                n.col_offset, n.end_col_offset = n.col_offset + shift, (n.end_col_offset or 0) + shift
    return tree


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
        raise p.error(target.value, f"`{what}` is a Python value: its items are not assigned to here", "store")
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


# ---- loops and branches


def _for(p: Parser, s: ast.For) -> None:
    if s.orelse:
        p.report(unsupported(p, s.orelse[0], "`else` of a loop"))
    call = s.iter
    try:
        if isinstance(call, ast.Call):
            function = p.expr(call.func)
            handler = LOOPS.get(function) if _hashable(function) else None
            if handler is not None:
                handler(p, s, call)
                return
        value = p.expr(call)
        _unrolled_for(p, s, value)
    except ParseError as e:
        p.report(e)
        _poisoned_body(p, s.target, s.body)
    except Poisoned:
        _poisoned_body(p, s.target, s.body)


def _hashable(value: Any) -> bool:
    return getattr(type(value), "__hash__", None) is not None


def _unrolled_for(p: Parser, s: ast.For, value: Any) -> None:
    """A loop over a Python sequence: its body is read once for each item."""
    if isinstance(value, constructs.meta_var):
        value = value.value
    if isinstance(value, (Expr, Buffer, BufferRegion, Frame, str)):
        raise p.error(
            s.iter,
            "a loop runs over `range`, `T.serial`, `T.grid`, another loop of `T`, or a Python sequence",
            "loop",
            hint="write `for i in range(n):`",
        )
    try:
        items = list(value)
    except Exception:
        raise p.error(
            s.iter, f"`{ast.unparse(s.iter)}` cannot be looped over", "loop", hint="write `for i in range(n):`"
        ) from None
    for item in items:
        mark = len(p.undo)
        assign_python(p, s.target, item)
        p.loop_kinds.append("python")
        p.statements(s.body)
        p.loop_kinds.pop()
        p.leave(mark)


def _poisoned_body(p: Parser, target: ast.AST | None, body: list[ast.stmt]) -> None:
    """Read a body whose header is wrong, for the mistakes in it."""
    outer, p.items = p.items, []
    mark = len(p.undo)
    if target is not None:
        p.poison(target)
    p.loop_kinds.append("serial")
    p.statements(body)
    p.loop_kinds.pop()
    p.leave(mark)
    p.items = outer


def unsupported(p: Parser, node: Any, what: str, hint: str | None = None) -> ParseError:
    return p.error(node, f"{what} is not part of the script language", "unsupported", hint=hint)


def _while(p: Parser, s: ast.While) -> None:
    if s.orelse:
        p.report(unsupported(p, s.orelse[0], "`else` of a loop"))
    try:
        test = condition(p, s.test, p.expr(s.test))
    except (ParseError, Poisoned) as e:
        if isinstance(e, ParseError):
            p.report(e)
        _poisoned_body(p, None, s.body)
        return
    span = p.header(s, s.test)
    p.loop_kinds.append("while")
    body = p.body(s.body, span)
    p.loop_kinds.pop()
    p.emit(While(test, body, span))


def _if(p: Parser, s: ast.If) -> None:
    try:
        test = operand(p, s.test, p.expr(s.test))
        if not isinstance(test, Expr):
            p.statements(s.body if _truth(p, s.test, test) else s.orelse)
            return
        test = condition(p, s.test, test)
    except (ParseError, Poisoned) as e:
        if isinstance(e, ParseError):
            p.report(e)
        _poisoned_body(p, None, s.body)
        _poisoned_body(p, None, s.orelse)
        return
    span = p.header(s, s.test)
    then = p.body(s.body, span)
    p.emit(IfThenElse(test, then, p.body(s.orelse, span) if s.orelse else None, span))


def _truth(p: Parser, node: ast.AST, value: Any) -> bool:
    try:
        return bool(value)
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


def _break(p: Parser, s: ast.Break | ast.Continue) -> None:
    word = "break" if isinstance(s, ast.Break) else "continue"
    jump(p, s, word)


def jump(p: Parser, node: Any, word: str) -> None:
    """``break`` or ``continue`` of the innermost loop."""
    kind = p.loop_kinds[-1] if p.loop_kinds else None
    if kind is None:
        if p.block.root:
            raise p.error(node, f"`{word}` stands outside of a loop", "jump")
        raise p.error(node, f"`{word}` would leave the block, or stands outside of a loop", "jump")
    if kind == "python":
        raise p.error(node, f"`{word}` in a loop over a Python sequence, which is written out", "jump")
    if kind not in ("serial", "while", "unrolled"):
        raise p.error(
            node,
            f"`{word}` in a {kind} loop: its iterations have no order",
            "jump",
            hint="make the loop serial, or guard the rest by a condition",
        )
    p.emit(Evaluate(Call("void", f"{word}_loop", ()), p.span(node)))


# ---- the rest


def _assert(p: Parser, s: ast.Assert) -> None:
    value = operand(p, s.test, p.expr(s.test))
    text = _message(p, s.msg) if s.msg is not None else ast.unparse(s.test)
    if not isinstance(value, Expr):
        if not _truth(p, s.test, value):
            raise p.error(s, f"the assertion does not hold: {text}", "assertion")
        return
    p.emit(AssertStmt(condition(p, s.test, value), StringImm(text), p.span(s)))


def _message(p: Parser, node: ast.expr) -> str:
    value = p.expr(node)
    if isinstance(value, StringImm):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], (list, tuple, str)):
        # TVM 0.27: ("ValueError", ["part", "part"])
        return value[1] if isinstance(value[1], str) else "".join(str(v) for v in value[1])
    raise p.error(node, "the message of an assert is a string", "assertion")


def _expression(p: Parser, s: ast.Expr) -> None:
    node = s.value
    if type(node) is ast.Constant:
        return  # docstrings, `...`
    value = p.expr(node)
    if value is None:
        return
    if isinstance(value, Frame):
        p.items.append(value.wrap)
    elif isinstance(value, Expr):
        p.emit(Evaluate(value, p.span(s)))
    elif isinstance(value, (Buffer, BufferRegion)):
        operand(p, node, value)
    elif isinstance(value, IterVar):
        return


def evaluate(p: Parser, node: ast.Call) -> None:
    """``T.evaluate(e)``"""
    from .core import arguments

    value = arguments(p, node, "value", required=1)["value"]
    p.emit(Evaluate(value_expr(p, value, p.expr(value)), p.span(node)))


CALLS[constructs.evaluate] = evaluate

# Called objects in the header of a `with` that read the body themselves: (parser, with, item index, call).
WITH: dict[Any, Callable[[Parser, ast.With, int, ast.Call], None]] = {}


def _with(p: Parser, s: ast.With) -> None:
    with_items(p, s, 0)


def with_items(p: Parser, s: ast.With, k: int) -> None:
    """Read a ``with`` from its k-th item on, into the current body."""
    if k == len(s.items):
        p.statements(s.body)
        return
    item = s.items[k]
    context = item.context_expr
    try:
        if isinstance(context, ast.Call):
            function = p.expr(context.func)
            handler = WITH.get(function) if _hashable(function) else None
            if handler is not None:
                handler(p, s, k, context)
                return
        names = item.optional_vars
        p.naming_node, p.naming = context, names.id if isinstance(names, ast.Name) else names
        frame = p.expr(context)
        if not isinstance(frame, Frame):
            raise p.error(
                context,
                f"`{ast.unparse(context)}` opens no scope",
                "with",
                hint="`with` takes T.block, T.init, T.allocate, T.attr, T.launch_thread, ...",
            )
    except ParseError as e:
        p.report(e)
        _poisoned_body(p, item.optional_vars, s.body)
        return
    except Poisoned:
        _poisoned_body(p, item.optional_vars, s.body)
        return
    span = p.header(s, context)
    outer, p.items = p.items, []
    mark = len(p.undo)
    try:
        if names is not None:
            _bind_as(p, names, frame)
        with_items(p, s, k + 1)
    finally:
        p.leave(mark)
        items, p.items = p.items, outer
    p.emit(frame.wrap(fold(items, span)))


def _bind_as(p: Parser, names: ast.expr, frame: Frame) -> None:
    value = frame.value
    if isinstance(names, ast.Name):
        if value is None:
            raise p.error(names, f"{frame.name} gives nothing to name", "with")
        p.bind(names.id, value, frame.kind)
    elif isinstance(names, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
        for part, item in unpack(p, names, list(value)):
            if not isinstance(part, ast.Name):
                p.refuse(part, "this target of a `with`")
            p.bind(part.id, item, frame.kind)
    else:
        p.refuse(names, "this target of a `with`")


def _return(p: Parser, s: ast.Return) -> None:
    if id(s) not in p.tail_returns:
        raise p.error(
            s,
            "`return` in the middle of a function",
            "return",
            hint="let it be the last statement; an if/else chooses what is done",
        )
    if s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None):
        if p.ret_type not in ("void", ""):
            raise p.error(s, f"the function returns {p.ret_type}, a value is missing", "return")
        return
    value = p.expr(s.value)
    if p.ret_type == "void":
        expr = value_expr(p, s.value, value)
        p.ret_type = expr.dtype
    else:
        expr = convert(p, s.value, operand(p, s.value, value), p.ret_type, "the returned value")
    p.emit(Evaluate(Call("void", "ret", (expr,)), p.span(s)))


def tail_returns(stmts: list[ast.stmt]) -> Iterator[int]:
    """The ids of the ``return`` statements after which nothing of the body runs."""
    while stmts:
        last = stmts[-1]
        if isinstance(last, ast.Return):
            yield id(last)
            return
        if isinstance(last, ast.If):
            yield from tail_returns(last.body)
            stmts = last.orelse
        elif isinstance(last, ast.With):
            stmts = last.body
        else:
            return


def _refused(what: str, hint: str | None = None) -> Callable[[Parser, Any], None]:
    def handler(p: Parser, s: Any) -> NoReturn:
        raise p.error(first_line_span(p, s), f"{what} is not part of the script language", "unsupported", hint=hint)

    return handler


def _nothing(p: Parser, s: ast.stmt) -> None:
    return


STMT.update(
    {
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.For: _for,
        ast.While: _while,
        ast.If: _if,
        ast.With: _with,
        ast.Assert: _assert,
        ast.Expr: _expression,
        ast.Return: _return,
        ast.Pass: _nothing,
        ast.Nonlocal: _nothing,
        ast.Break: _break,
        ast.Continue: _break,
        ast.Global: _refused("`global`", "Python names of the outer scopes can be read without it"),
        ast.Delete: _refused("`del`"),
        ast.Import: _refused("`import`", "import outside of the function; its names can be used here"),
        ast.ImportFrom: _refused("`import`", "import outside of the function; its names can be used here"),
        ast.Try: _refused("`try`"),
        ast.Raise: _refused("`raise`", 'assert condition, "message" checks at run time'),
        ast.Match: _refused("`match`", "write if/elif/else"),
        ast.ClassDef: _refused("`class`"),
        ast.AsyncFunctionDef: _refused("`async def`"),
        ast.AsyncFor: _refused("`async for`", "T.parallel runs iterations at once"),
        ast.AsyncWith: _refused("`async with`"),
        **({ast.TryStar: _refused("`try`")} if hasattr(ast, "TryStar") else {}),
    }
)

_ = (FALSE, Stmt)
