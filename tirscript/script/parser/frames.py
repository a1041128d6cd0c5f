"""Scopes and statements that are calls: attributes, threads, allocations, lets, asserts."""

from __future__ import annotations

import ast
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import TRUE, Expr, IntImm, IterVar, Range, StringImm, Var, const_int
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    BufferRealize,
    IfThenElse,
    LetStmt,
    Stmt,
    While,
    seq,
)
from tirscript.script import constructs, intrinsics, operators
from tirscript.script.dtypes import DTypeConstructor, HandleConstructor
from tirscript.script.scope import MISSING

from .blocks import region_of
from .call import call_python, call_values
from .core import Defined, Frame, Parser, arguments, fold, on_call
from .loops import as_index, thread_tag
from .stmt import WITH, _message, jump, with_items
from .values import attribute_value, condition, convert, operand, read_dtype, value_expr

# ---- functions


def canonical_key(key: str) -> str:
    """The first spelling of an attribute: TVM 0.27 writes ``tirx.`` for ``tir.``."""
    return "tir." + key[5:] if key.startswith("tirx.") else key


def _func_attr(p: Parser, node: ast.Call) -> None:
    arg = arguments(p, node, "attrs", required=1)["attrs"]
    attrs = attribute_value(p, arg)
    if not isinstance(attrs, dict) or not all(isinstance(k, str) for k in attrs):
        raise p.error(arg, "attributes are a dict with strings as keys", "annotations")
    if not p.block.root:
        raise p.error(
            node, "T.func_attr stands inside a block", "misplaced", hint="write it at the top of the function"
        )
    for key, value in attrs.items():
        key = canonical_key(key)
        if key == "tir.noalias" and not isinstance(value, (bool, int, IntImm)):
            raise p.error(arg, "`tir.noalias` is True or False", "annotations")
        if key == "global_symbol" and not isinstance(value, str):
            raise p.error(arg, "`global_symbol` is a string", "annotations")
        if key == "global_symbol" and p.options.private:
            raise p.error(
                arg, "a private function has no global_symbol", "private", hint="leave private=True out"
            )
        if key in p.attrs and p.attrs[key] != value:
            raise p.error(arg, f"the attribute {key!r} has another value already", "duplicate")
        p.attrs[key] = value


def _func_name(p: Parser, node: ast.Call) -> None:
    arg = arguments(p, node, "name", required=1)["name"]
    name = p.expr(arg)
    if not isinstance(name, str):
        raise p.error(arg, "the name of a function is a string", "annotations")
    p.attrs["global_symbol"] = name


def _func_ret(p: Parser, node: ast.Call) -> None:
    arg = arguments(p, node, "dtype", required=1)["dtype"]
    p.ret_type = read_dtype(p, arg, p.expr(arg))


def make_target(config: Any, host: Any = None) -> Any:
    """A Target where there is the room for it."""
    from tirscript.target import Target

    return Target(config) if host is None else Target(config, host)


# ---- variables


def _dtype_call(p: Parser, node: ast.Call) -> Any:
    """``T.int32()`` defines a variable; with an argument it is a constant or a conversion."""
    function = p.expr(node.func)
    args, kwargs = call_values(p, node)
    if args and not isinstance(function, HandleConstructor):
        args[0] = operand(p, node.args[0], args[0])
    result = call_python(p, node, function, args, kwargs)
    given = args[0] if args else kwargs.get("expr")
    if (
        isinstance(result, Var)
        and result is not given
        and node is p.naming_node
        and isinstance(p.naming, str)
    ):
        var = Var(p.take(p.naming), result.dtype, result.exact, result.pointee, p.span(node))
        return Defined(var, "a variable")
    if given is None and isinstance(result, Var):
        return result.replace(span=p.span(node))
    return result


def _iter_var(p: Parser, node: ast.Call) -> IterVar:
    """``T.iter_var(v, dom, kind, tag)``: a name that is not known yet becomes a variable of what follows."""
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Name) and first.id not in p.names and p.env.lookup(first.id) is MISSING:
        p.bind(first.id, Var(p.take(first.id), "int32", True, None, p.span(first)), "a thread axis")
    args, kwargs = call_values(p, node)
    made = call_python(p, node, operators.iter_var, args, kwargs)
    assert isinstance(made, IterVar)
    if made.kind == "thread" and made.dom is not None:
        p.loops[made.var] = made.dom
    return made.replace(span=p.span(node))


def _var(p: Parser, node: ast.Call) -> Any:
    args = arguments(p, node, "dtype", "name")
    dtype = read_dtype(p, args["dtype"], p.expr(args["dtype"])) if "dtype" in args else "int32"
    default = p.expr(args["name"]) if "name" in args else "v"
    return Defined(Var(p.name_for(node, default), dtype, dt.is_int(dtype), None, p.span(node)), "a variable")


# ---- attributes and threads


def _attr(p: Parser, node: ast.Call) -> Frame:
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Dict):
        return _attr_dict(p, node, node.args[0])
    args = arguments(p, node, "node", "attr_key", "value", required=3)
    target = p.expr(args["node"])
    if isinstance(target, Defined):
        target = target.value
    key = p.expr(args["attr_key"])
    if not isinstance(key, str):
        raise p.error(args["attr_key"], "the key of an attribute is a string", "attr")
    if isinstance(target, int):
        target = const_int(target)
    value = value_expr(p, args["value"], p.expr(args["value"]))
    span = p.span(node)
    thread = next((iv for iv in p.threads.values() if iv.var is target), None)
    if key in ("thread_extent", "virtual_thread") and thread is not None:
        target = thread
    return Frame("T.attr", lambda body: AttrStmt(target, canonical_key(key), value, body, span))


def _attr_dict(p: Parser, node: ast.Call, given: ast.Dict) -> Frame:
    """``T.attr({"key": value})`` of TVM 0.27."""
    pairs = [
        (p.expr(k), value_expr(p, v, p.expr(v))) for k, v in zip(given.keys, given.values, strict=True) if k
    ]
    span = p.span(node)

    def wrap(body: Stmt) -> Stmt:
        for key, value in reversed(pairs):
            body = AttrStmt(const_int(0), canonical_key(key), value, body, span)
        return body

    return Frame("T.attr", wrap)


def _env_thread(p: Parser, node: ast.Call) -> Defined:
    args = arguments(p, node, "thread_tag", "dtype", required=1)
    tag = thread_tag(p, args["thread_tag"])
    dtype = read_dtype(p, args["dtype"], p.expr(args["dtype"])) if "dtype" in args else "int32"
    span = p.span(node)
    var = Var(p.name_for(node, tag.replace(".", "_")), dtype, True, None, span)
    p.threads[var.name] = IterVar(var, None, "thread", tag, span)
    return Defined(var, "a thread axis")


def _launch_thread(p: Parser, node: ast.Call) -> Frame:
    args = arguments(p, node, "thread", "extent", required=2)
    extent = as_index(p, args["extent"], p.expr(args["extent"]))
    said = p.expr(args["thread"])
    span = p.span(node)
    if isinstance(said, str):
        tag = thread_tag(p, args["thread"])
        name = p.name_for(node, tag.replace(".", "_"))
        axis = IterVar(Var(name, extent.dtype, True, None, span), None, "thread", tag, span)
    else:
        if isinstance(said, IterVar):
            said = said.var
        found = next((iv for iv in p.threads.values() if iv.var is said), None)
        if found is None:
            raise p.error(
                args["thread"],
                f"`{ast.unparse(args['thread'])}` is no thread axis",
                "thread-tag",
                hint='tx = T.env_thread("threadIdx.x"), or T.launch_thread("threadIdx.x", n)',
            )
        axis = found
    domain = Range(const_int(0, extent.dtype), extent)
    p.loops[axis.var] = domain
    key = "virtual_thread" if axis.thread_tag.startswith("vthread") else "thread_extent"
    launched = axis.replace(dom=domain)
    return Frame(
        "T.launch_thread",
        lambda body: AttrStmt(launched, key, extent, body, span),
        axis.var,
        "a thread axis",
    )


# ---- memory


def _allocate(p: Parser, node: ast.Call) -> Frame:
    args = arguments(p, node, "extents", "dtype", "scope", "condition", "annotations", required=2)
    dtype = read_dtype(p, args["dtype"], p.expr(args["dtype"]))
    extents = _extents(p, args["extents"])
    scope = p.expr(args["scope"]) if "scope" in args else "global"
    if not isinstance(scope, str):
        raise p.error(args["scope"], 'a scope is a string such as "shared"', "buffer-scope")
    test = TRUE
    if "condition" in args:
        value = p.expr(args["condition"])
        test = TRUE if value is None else condition(p, args["condition"], value)  # type: ignore[assignment]
    annotations = attribute_value(p, args["annotations"]) if "annotations" in args else None
    span = p.span(node)
    var = Var(p.name_for(node, "data"), "handle", False, (dtype, scope), span)
    return Frame(
        "T.allocate",
        lambda body: Allocate(var, dtype, extents, test, body, annotations or {}, span),
        var,
        "a pointer",
    )


def _extents(p: Parser, node: ast.expr) -> tuple[Expr, ...]:
    value = p.expr(node)
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple([as_index(p, node, v) for v in items])


def _allocate_const(p: Parser, node: ast.Call) -> Frame:
    args = arguments(p, node, "data", "dtype", "extents", "annotations", required=3)
    dtype = read_dtype(p, args["dtype"], p.expr(args["dtype"]))
    extents = _extents(p, args["extents"])
    data = array_of(p, args["data"], p.expr(args["data"]), dtype, extents)
    annotations = attribute_value(p, args["annotations"]) if "annotations" in args else None
    span = p.span(node)
    var = Var(p.name_for(node, "data"), "handle", False, (dtype, "global"), span)
    return Frame(
        "T.allocate_const",
        lambda body: AllocateConst(var, dtype, extents, data, body, annotations or {}, span),
        var,
        "a pointer",
    )


def array_of(p: Parser, node: ast.AST, data: Any, dtype: str, extents: tuple[Expr, ...]) -> Any:
    """The constant as a NumPy array of the dtype and shape."""
    import numpy as np

    if hasattr(data, "numpy"):
        data = data.numpy()
    shape = []
    for e in extents:
        if not isinstance(e, IntImm):
            raise p.error(node, "the extents of a constant are numbers", "allocate-const")
        shape.append(e.value)
    try:
        if isinstance(data, np.ndarray) and data.dtype.name == dtype:
            array = data
        else:
            kind = numpy_dtype(dtype)
            array = np.asarray(data, dtype=kind)
        return array.reshape(shape)
    except (TypeError, ValueError, OverflowError) as e:
        raise p.error(
            node, f"this is no constant of dtype {dtype} and shape {tuple(shape)}: {e}", "allocate-const"
        ) from None


def numpy_dtype(dtype: str) -> Any:
    """NumPy's dtype of that name; bfloat16, float8 and int4 come from ml_dtypes."""
    import numpy as np

    try:
        return np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, dtype))


def _realize(p: Parser, node: ast.Call) -> Frame:
    args = arguments(p, node, "buffer_slice", "storage_scope", "condition", required=2)
    where = args["buffer_slice"]
    region = None
    if isinstance(where, ast.Subscript):
        buffer = p.expr(where.value)
        if isinstance(buffer, Buffer):
            region = region_of(p, where, buffer)
    if region is None:
        raise p.error(where, "T.realize takes a region `A[0:n]`", "region")
    scope = p.expr(args["storage_scope"])
    if not isinstance(scope, str):
        raise p.error(args["storage_scope"], 'a scope is a string such as "shared"', "buffer-scope")
    if scope != region.buffer.scope:
        # The scope is said here; the buffer was only described.
        changed = region.buffer.replace(scope=scope)
        for name, value in list(p.names.items()):
            if value is region.buffer:
                p.names[name] = changed
        region = region.replace(buffer=changed)
    test = condition(p, args["condition"], p.expr(args["condition"])) if "condition" in args else TRUE
    span = p.span(node)
    found = region
    return Frame("T.realize", lambda body: BufferRealize(found.buffer, found.region, test, body, span))


# ---- lets and asserts


def _let_stmt(p: Parser, node: ast.Call) -> Frame:
    args = arguments(p, node, "value", "type_annotation", required=1, keywords_only={"var": None})
    value = value_expr(p, args["value"], p.expr(args["value"]))
    span = p.span(node)
    var = p.expr(args["var"]) if "var" in args else None
    if isinstance(var, Defined):
        var = var.value
    if var is None and "type_annotation" in args:
        said = p.expr(args["type_annotation"])
        if isinstance(said, Var):
            var = Var(p.name_for(node, "v"), said.dtype, said.exact, said.pointee, span)
        elif said is not None:
            value = convert(p, args["value"], value, read_dtype(p, args["type_annotation"], said), "the let")
    return _let_frame(p, node, value, var)


def _let_frame(p: Parser, node: ast.Call, value: Expr, var: Any) -> Frame:
    span = p.span(node)
    if var is None:
        exact = value.dtype[0] in "iu" and is_exact(value)
        pointee = value.pointee if isinstance(value, Var) else None
        var = Var(p.name_for(node, "v"), value.dtype, exact, pointee, span)
    elif not isinstance(var, Var):
        raise p.error(node, "a variable is wanted: x = T.int32()", "let")
    elif var.dtype != value.dtype:
        raise p.error(node, f"`{var.name}` is {var.dtype}, the value is {value.dtype}", "dtype-mismatch")
    exact = var.dtype[0] in "iu" and is_exact(value)
    if var.exact != exact:
        var = _rebound(p, var, exact)
    bound = var
    return Frame("T.LetStmt", lambda body: LetStmt(bound, value, body, span), bound)


def _rebound(p: Parser, var: Var, exact: bool) -> Var:
    """The variable with the exactness of its value, under the names that it has."""
    made = var.replace(exact=exact)
    for name, value in list(p.names.items()):
        if value is var:
            p.names[name] = made
    return made


def _let(p: Parser, node: ast.Call) -> Frame:
    """``x = T.let(e)``, or ``with T.let(x, e):`` of a variable that is there."""
    args = arguments(p, node, "var", "value", required=1)
    if "value" not in args:
        return _let_frame(p, node, value_expr(p, args["var"], p.expr(args["var"])), None)
    return _let_frame(p, node, value_expr(p, args["value"], p.expr(args["value"])), p.expr(args["var"]))


def _assert(p: Parser, node: ast.Call) -> Frame:

    args = arguments(p, node, "condition", "message", "error_kind", required=2)
    test = condition(p, args["condition"], p.expr(args["condition"]))
    text = _message(p, args["message"])
    span = p.span(node)
    return Frame("T.Assert", lambda body: seq(AssertStmt(test, StringImm(text), span), body))


def _while_frame(p: Parser, node: ast.Call) -> Frame:
    arg = arguments(p, node, "condition", required=1)["condition"]
    test = condition(p, arg, p.expr(arg))
    span = p.span(node)
    return Frame("T.While", lambda body: While(test, body, span))


def _jump(word: str) -> Any:
    def handler(p: Parser, node: ast.Call) -> None:
        arguments(p, node)
        jump(p, node, word)

    return handler


# ---- T.If, T.Then, T.Else


class _Branches:
    """The branches that stand inside a ``with T.If(...)``."""

    __slots__ = ("orelse", "then")

    def __init__(self) -> None:
        self.then: Stmt | None = None
        self.orelse: Stmt | None = None


def _if(p: Parser, s: ast.With, k: int, call: ast.Call) -> None:
    arg = arguments(p, call, "condition", required=1)["condition"]
    test = condition(p, arg, p.expr(arg))
    span = p.header(s, call)
    branches = _Branches()
    p.open_ifs.append(branches)
    outer, p.items = p.items, []
    try:
        with_items(p, s, k + 1)
    finally:
        p.open_ifs.pop()
        inside, p.items = p.items, outer
    if inside:
        raise p.error(call, "T.If holds `with T.Then():` and `with T.Else():` only", "with")
    if branches.then is None:
        if p.errors:
            return
        raise p.error(call, "T.If needs a `with T.Then():`", "with")
    p.emit(IfThenElse(test, branches.then, branches.orelse, span))


def _branch(which: str) -> Any:
    def handler(p: Parser, s: ast.With, k: int, call: ast.Call) -> None:
        if not p.open_ifs:
            raise p.error(call, f"{ast.unparse(call)} stands inside `with T.If(...)`", "with")
        holder = p.open_ifs[-1]
        span = p.header(s, call)
        outer, p.items = p.items, []
        mark = len(p.undo)
        with_items(p, s, k + 1)
        p.leave(mark)
        items, p.items = p.items, outer
        setattr(holder, which, fold(items, span))

    return handler


WITH.update({constructs.If: _if, constructs.Then: _branch("then"), constructs.Else: _branch("orelse")})
on_call(
    {
        constructs.func_attr: _func_attr,
        constructs.func_name: _func_name,
        constructs.func_ret: _func_ret,
        DTypeConstructor: _dtype_call,
        HandleConstructor: _dtype_call,
        constructs.attr: _attr,
        constructs.env_thread: _env_thread,
        constructs.launch_thread: _launch_thread,
        constructs.allocate: _allocate,
        constructs.allocate_const: _allocate_const,
        constructs.LetStmt: _let_stmt,
        constructs.let: _let,
        constructs.Assert: _assert,
        constructs.While: _while_frame,
        constructs.realize: _realize,
        operators.var: _var,
        operators.iter_var: _iter_var,
        intrinsics.break_loop: _jump("break"),
        intrinsics.continue_loop: _jump("continue"),
    }
)
