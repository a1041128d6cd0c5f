"""Buffers: parameters, matches, allocations, views."""

from __future__ import annotations

import ast
from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion, full_region
from tirscript.ir.expr import TRUE, BufferLoad, Expr, IntImm, Var
from tirscript.ir.stmt import Allocate, DeclBuffer
from tirscript.script import constructs
from tirscript.script import tir as T_module
from tirscript.script.dtypes import BufferFactory
from tirscript.script.scope import MISSING

from .blocks import load_region, region_of
from .core import Defined, Frame, Parser, arguments, on_call
from .loops import as_index
from .values import quoted, read_dtype

FIELDS = (
    "shape", "dtype", "data", "strides", "elem_offset", "scope", "align", "offset_factor", "buffer_type",
    "axis_separators",
)  # fmt: skip


class TypeVariable(str):
    """A shape variable that stands outside of the functions: ``n = TypeVar("n")``, an int64."""

    __slots__ = ()


def declared_dtypes(body: list[ast.stmt]) -> dict[str, str]:
    """What ``n = T.int64()`` says in the body, for names that the annotations use before."""
    out: dict[str, str] = {}
    for s in body:
        if not isinstance(s, ast.Assign) or len(s.targets) != 1:
            continue
        several = isinstance(s.targets[0], ast.Tuple) and isinstance(s.value, ast.Tuple)
        targets = s.targets[0].elts if several else [s.targets[0]]  # type: ignore[attr-defined]
        values = s.value.elts if several else [s.value]  # type: ignore[attr-defined]
        for target, value in zip(targets, values, strict=False):
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and not value.args:
                if isinstance(value.func, ast.Attribute) and value.func.attr in ("int32", "int64"):
                    out.setdefault(target.id, value.func.attr)
    return out


def _symbol(p: Parser, node: ast.AST, name: str) -> Var:
    """The variable of a name that is given as a string: known, or new."""
    dtype = "int64" if isinstance(name, TypeVariable) else p.declared.get(name, "int32")
    name = str(name)
    known = p.names.get(name)
    if isinstance(known, Var):
        return known
    var = p.string_vars.get(name)
    if var is None:
        var = p.string_vars[name] = Var(p.take(name), dtype, True, None, p.span(node))
        p.bind(name, var, "a shape variable")
    return var


def extent(p: Parser, node: ast.AST, value: Any) -> Expr:
    """One extent, stride or offset: an integer, an expression, or a string that names a variable."""
    if isinstance(value, str):
        if value.isidentifier():
            return _symbol(p, node, value)
        return _quoted_extent(p, node, value)
    e = as_index(p, node, value)
    if isinstance(e, IntImm) and e.value < 0:
        raise p.error(node, f"an extent is not negative, this is {e.value}", "buffer-shape")
    return e


def _quoted_extent(p: Parser, node: ast.AST, text: str) -> Expr:
    """An extent that is written as a string, such as "n + 1"; unknown names in it are new variables."""
    if isinstance(node, ast.Constant):
        tree = quoted(p, node)
    else:
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise p.error(node, f"{text!r} is no extent", "buffer-shape") from None
        for n in ast.walk(tree):
            if isinstance(n, ast.expr):
                ast.copy_location(n, node)
    for n in ast.walk(tree):
        if isinstance(n, ast.Name) and n.id not in p.names and p.env.lookup(n.id) is MISSING:
            _symbol(p, n, n.id)
    return as_index(p, tree, p.expr(tree))


def _sequence(p: Parser, node: ast.expr) -> list[tuple[Any, ast.AST]]:
    """The items of a shape or of strides, each with its node."""
    if isinstance(node, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return [(p.expr(e), e) for e in node.elts]
    value = p.expr(node)
    if isinstance(value, (tuple, list)):
        return [(v, node) for v in value]
    return [(value, node)]


def shape_of(p: Parser, node: ast.expr) -> tuple[Expr, ...]:
    return tuple([extent(p, at, value) for value, at in _sequence(p, node)])


def make(p: Parser, name: str, args: dict[str, ast.expr], node: ast.AST, **given: Any) -> Buffer:
    """The buffer that the arguments describe; ``given`` holds fields that are known otherwise."""
    shape = given.pop("shape", None)
    if shape is None:
        shape = shape_of(p, args["shape"])
    dtype = given.pop("dtype", None)
    if dtype is None:
        dtype = read_dtype(p, args["dtype"], p.expr(args["dtype"])) if "dtype" in args else "float32"
    if dtype == "void":
        raise p.error(args.get("dtype", node), "a buffer holds no void", "dtype")
    data = given.pop("data", None)
    scope = _scope(p, args, data)
    if data is None:
        data = _data(p, args)
        if data is not None and data.pointee is not None and "scope" not in args:
            scope = data.pointee[1]
    strides: tuple[Expr, ...] = ()
    if "strides" in args and p.expr(args["strides"]) is not None:
        strides = shape_of_strides(p, args["strides"])
        if strides and len(strides) != len(shape):
            raise p.error(
                args["strides"], f"{len(strides)} strides for {len(shape)} dimensions", "buffer-strides"
            )
    offset = _offset(p, args)
    align, factor = _number(p, args, "align"), _number(p, args, "offset_factor")
    kind = p.expr(args["buffer_type"]) if "buffer_type" in args else ""
    if kind not in ("", "default", "auto", "auto_broadcast"):
        raise p.error(args["buffer_type"], f"{kind!r} is no buffer_type", "buffer-type")
    kind = {"": "default", "auto_broadcast": "auto"}.get(kind, kind)
    separators = p.expr(args["axis_separators"]) if "axis_separators" in args else None
    if data is None:
        data = Var(f"{name}_data", "handle", False, (dtype, scope))
    return Buffer(
        name, shape, dtype, data, strides, offset, scope, max(align, 0), factor, kind,
        tuple(_integers(p, args, separators)), p.span(node),
    )  # fmt: skip


def shape_of_strides(p: Parser, node: ast.expr) -> tuple[Expr, ...]:
    out = []
    for value, at in _sequence(p, node):
        out.append(as_index(p, at, value) if not isinstance(value, str) else extent(p, at, value))
    return tuple(out)


def _integers(p: Parser, args: dict[str, ast.expr], values: Any) -> list[int]:
    if values is None:
        return []
    try:
        return [int(v.value) if isinstance(v, IntImm) else int(v) for v in values]
    except (TypeError, ValueError):
        raise p.error(
            args["axis_separators"], "axis_separators are a list of integers", "buffer-type"
        ) from None


def _scope(p: Parser, args: dict[str, ast.expr], data: Any) -> str:
    if "scope" not in args:
        return data.pointee[1] if isinstance(data, Var) and data.pointee else "global"
    scope = p.expr(args["scope"])
    if not isinstance(scope, str):
        raise p.error(args["scope"], 'a scope is a string such as "shared"', "buffer-scope")
    return scope or "global"


def _data(p: Parser, args: dict[str, ast.expr]) -> Var | None:
    if "data" not in args:
        return None
    value = operand_pointer(p, args["data"], p.expr(args["data"]))
    if value is None:
        return None
    if not isinstance(value, Var) or value.dtype != "handle":
        raise p.error(
            args["data"],
            "`data` is a pointer variable",
            "buffer-data",
            hint="give a computed pointer a name first: `p: T.handle = ...`",
        )
    return value


def operand_pointer(p: Parser, node: ast.AST, value: Any) -> Any:
    return value.data if isinstance(value, Buffer) else value


def _offset(p: Parser, args: dict[str, ast.expr]) -> Expr | None:
    if "elem_offset" not in args:
        return None
    node = args["elem_offset"]
    value = p.expr(node)
    if value is None:
        return None
    e = extent(p, node, value) if isinstance(value, str) else as_index(p, node, value)
    return None if isinstance(e, IntImm) and e.value == 0 else e


def _number(p: Parser, args: dict[str, ast.expr], key: str) -> int:
    if key not in args:
        return 0
    value = p.expr(args[key])
    if isinstance(value, IntImm):
        value = value.value
    if not isinstance(value, int):
        raise p.error(args[key], f"`{key}` is an integer", "buffer-field")
    return value


# ---- parameters


def annotation(p: Parser, node: ast.AST, name: str) -> Buffer:
    """The buffer of a parameter ``name: T.Buffer(...)`` or ``T.Buffer[...]``."""
    if isinstance(node, ast.Subscript):
        return make(p, name, _subscript_args(p, node), node)
    assert isinstance(node, ast.Call)
    return make(p, name, arguments(p, node, *FIELDS, required=1), node)


def _subscript_args(p: Parser, node: ast.Subscript) -> dict[str, ast.expr]:
    """``T.Buffer[shape, dtype]``: the second element is a dtype only if it is a string or a dtype."""
    inside = node.slice
    if isinstance(inside, ast.Tuple) and len(inside.elts) == 2:
        second = p.expr(inside.elts[1])
        if (isinstance(second, str) and not second.isidentifier()) or _is_dtype(second):
            return {"shape": inside.elts[0], "dtype": inside.elts[1]}
    return {"shape": inside}


def _is_dtype(value: Any) -> bool:
    if isinstance(value, (int, Expr, tuple, list)):
        return False
    try:
        dt.normalize(value)
    except (ValueError, TypeError):
        return isinstance(value, str)
    return True


def is_buffer_annotation(p: Parser, node: ast.AST) -> bool:
    """Whether the node is ``T.Buffer(...)`` or ``T.Buffer[...]``."""
    if isinstance(node, ast.Call):
        return p.expr(node.func) is T_module.Buffer
    return isinstance(node, ast.Subscript) and p.expr(node.value) is T_module.Buffer


# ---- in the body


def _match_buffer(p: Parser, node: ast.Call) -> Defined:
    args = arguments(p, node, "param", *FIELDS, required=1)
    source = args["param"]
    name = p.name_for(node, "buffer")
    region: BufferRegion | None = None
    if isinstance(source, ast.Subscript):
        buffer = p.expr(source.value)
        if isinstance(buffer, Buffer):
            region = region_of(p, source, buffer)
    value = None if region is not None else p.expr(source)
    if isinstance(value, BufferLoad):
        region = load_region(value)
    elif isinstance(value, BufferRegion):
        region = value
    elif isinstance(value, Buffer):
        region = full_region(value)
    if region is not None:
        return _match_region(p, node, args, name, region)
    if not isinstance(value, Var) or not any(value is q for q in p.params):
        raise p.error(
            source,
            f"`{ast.unparse(source)}` is no parameter of the function and no region",
            "match-buffer",
            hint="T.match_buffer takes a `T.handle` parameter, or a region `A[0:16, 0:16]` inside a block",
        )
    if value in p.buffer_map:
        raise p.error(
            node,
            f"`{value.name}` is matched already",
            "match-buffer",
            also=((p.buffer_map[value].span, "matched here"),),
        )
    if value.dtype != "handle":
        raise p.error(source, f"`{value.name}` is a scalar of dtype {value.dtype}", "match-buffer")
    if "shape" not in args:
        raise p.error(node, "T.match_buffer of a parameter needs a shape", "arity")
    buffer = make(p, name, args, node)
    p.buffer_map[value] = buffer
    return Defined(buffer, "a buffer")


def _match_region(
    p: Parser, node: ast.Call, args: dict[str, ast.expr], name: str, region: BufferRegion
) -> Defined:
    frame = p.block
    if frame.root:
        raise p.error(node, "T.match_buffer of a region stands inside a block", "outside-block")
    given: dict[str, Any] = {}
    if "shape" not in args or _is_none(args["shape"]):
        given["shape"] = tuple([r.extent for r in region.region])
    if "dtype" not in args:
        given["dtype"] = region.buffer.dtype
    if "scope" not in args:
        scope = region.buffer.scope
        dtype = given.get("dtype") or read_dtype(p, args["dtype"], p.expr(args["dtype"]))
        given["data"] = Var(f"{name}_data", "handle", False, (dtype, scope))
    buffer = make(p, name, args, node, **given)
    frame.matches.append(MatchBufferRegion(buffer, region, p.span(node)))
    if buffer.offset_factor and buffer.elem_offset is None:
        p.offsets[buffer] = None
    return Defined(buffer, "a buffer")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _alloc_buffer(p: Parser, node: ast.Call) -> Any:
    if p.options.s_tir and p.expr(node.func) is constructs.alloc_buffer:
        return _flat_allocation(p, node)
    args = arguments(p, node, *FIELDS, required=1)
    buffer = make(p, p.name_for(node, "buffer"), args, node)
    p.block.allocs.append(buffer)
    return Defined(buffer, "a buffer")


def _flat_allocation(p: Parser, node: ast.Call) -> Frame:
    """The 0.27 dialect: an allocation that lives for the rest of the body."""
    args = arguments(p, node, *FIELDS, required=1)
    return _allocated(p, make(p, p.name_for(node, "buffer"), args, node))


def _allocated(p: Parser, buffer: Buffer) -> Frame:
    span = buffer.span
    return Frame(
        "T.alloc_buffer",
        lambda body: Allocate(
            buffer.data, buffer.dtype, buffer.shape, TRUE, DeclBuffer(buffer, body, span), span=span
        ),
        buffer,
        "a buffer",
    )


def _decl_buffer(p: Parser, node: ast.Call) -> Any:
    args = arguments(p, node, *FIELDS, required=1)
    buffer = make(p, p.name_for(node, "buffer"), args, node)
    if "data" not in args or _is_none(args["data"]):
        # T.buffer_decl only describes a buffer, for T.realize.
        described = p.expr(node.func) is not constructs.decl_buffer
        return Defined(buffer, "a buffer") if described else _allocated(p, buffer)
    span = buffer.span
    return Frame("T.decl_buffer", lambda body: DeclBuffer(buffer, body, span), buffer, "a buffer")


on_call(
    {
        constructs.match_buffer: _match_buffer,
        constructs.alloc_buffer: _alloc_buffer,
        constructs.sblock_alloc_buffer: _alloc_buffer,
        constructs.decl_buffer: _decl_buffer,
        constructs.buffer_decl: _decl_buffer,
        BufferFactory: _decl_buffer,
    }
)
