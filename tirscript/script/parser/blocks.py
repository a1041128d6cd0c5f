"""Blocks: axes, regions, predicate, init, attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tirscript.analysis import inferred
from tirscript.diagnostics import Span, TirscriptError
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion, full_region
from tirscript.ir.expr import BufferLoad, Expr, IntImm, IterVar, Ramp, Range, Var, const_int
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, Stmt
from tirscript.ir.visitor import free_vars
from tirscript.script import constructs

from .core import BlockFrame, Defined, Parser, arguments, fold, on_call
from .index import index_items, region
from .loops import as_index, common_dtype, retyped
from .stmt import WITH, with_items
from .values import attribute_value, condition, operand, read_dtype, starred_items


def _block(p: Parser, s: ast.With, k: int, call: ast.Call) -> None:
    args = arguments(p, call, "name", "no_realize")
    name = p.expr(args["name"]) if "name" in args else ""
    if not isinstance(name, str):
        raise p.error(args["name"], "the name of a block is a string", "block-name")
    span = p.header(s, call)
    if s.items[k].optional_vars is not None:
        raise p.error(s.items[k].optional_vars, "a block gives nothing to name", "with")
    is_root = name == "root" and p.block.root and p.root_node is s
    if p.macros:
        name = _fresh_name(p, name)
    p.block_names.add(name)
    frame = BlockFrame(name, call, p.block)
    p.has_block = True
    outer, p.items = p.items, []
    outer_block, p.block = p.block, frame
    outer_loops, p.loop_kinds = p.loop_kinds, []
    mark = len(p.undo)
    with_items(p, s, k + 1)
    p.leave(mark)
    p.block, p.loop_kinds = outer_block, outer_loops
    items, p.items = p.items, outer
    realize = close_block(p, frame, fold(items, span), span, infer=not is_root)
    if "no_realize" in args and p.expr(args["no_realize"]):
        p.emit(realize.block)
    else:
        p.emit(realize)


def _fresh_name(p: Parser, name: str) -> str:
    """A name for a block of a macro: its own, with a suffix from the second use on."""
    if name not in p.block_names:
        return name
    k = 1
    while f"{name}_{k}" in p.block_names:
        k += 1
    return f"{name}_{k}"


def close_block(p: Parser, frame: BlockFrame, body: Stmt, span: Span, *, infer: bool) -> BlockRealize:
    """The block of what the frame holds; regions that are not given are inferred."""
    iter_vars = tuple(frame.iter_vars)
    reads, writes = frame.reads, frame.writes
    if reads is None or writes is None:
        if infer and not p.errors:
            inferred = infer_regions(p, frame, body)
        else:
            inferred = ((), ())
        reads = inferred[0] if reads is None else reads
        writes = inferred[1] if writes is None else writes
    block = Block(
        BlockLabel(frame.name), iter_vars, reads, writes, body, frame.init, tuple(frame.allocs),
        tuple(frame.matches), frame.annotations, span,
    )  # fmt: skip
    return BlockRealize(tuple(frame.values), frame.predicate, block, span)


def infer_regions(
    p: Parser, frame: BlockFrame, body: Stmt
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    """What a block without T.reads and T.writes touches."""
    try:
        reads, writes = inferred.infer_regions(
            tuple(frame.iter_vars), body, frame.init, frame.allocs, frame.matches, visible_buffers(p)
        )
    except TirscriptError as e:
        raise p.located(e, frame.node) from None
    return tuple(reads), tuple(writes)


def visible_buffers(p: Parser) -> list[Buffer]:
    """The buffers that have a name here."""
    return [b for b in p.names.values() if type(b) is Buffer]


# ---- axes


def _in_block(p: Parser, node: ast.Call, *, what: str) -> BlockFrame:
    frame = p.block
    if frame.root:
        raise p.error(
            node,
            f"{what} stands outside of a block",
            "outside-block",
            hint='write `with T.block("name"):` around it',
        )
    return frame


def _axis(kind: str) -> Callable[[Parser, ast.Call], Any]:
    def handler(p: Parser, node: ast.Call) -> Defined:
        frame = _in_block(p, node, what="an axis")
        args = arguments(p, node, "dom", "binding", "dtype", required=1)
        domain = _domain(p, args["dom"])
        if "binding" not in args:
            return _unbound_axis(p, node, frame, kind, domain)
        binding = args["binding"]
        value = as_index(p, binding, p.expr(binding))
        dtype = p.expr(args["dtype"]) if "dtype" in args else None
        var = _new_axis(p, node, frame, kind, domain, value, p.name_for(node, "v"), dtype)
        return Defined(var, _axis_kind(frame))

    return handler


def _unbound_axis(
    p: Parser, node: ast.Call, frame: BlockFrame, kind: str, domain: tuple[Expr, Expr]
) -> Defined:
    """An axis without a value, of a block with ``no_realize=True``."""
    call = frame.node
    if not (
        isinstance(call, ast.Call)
        and (len(call.args) > 1 or any(k.arg == "no_realize" for k in call.keywords))
    ):
        raise p.error(node, f"the axis needs a value: T.axis.{kind}(extent, value)", "arity")
    var = _new_axis(p, node, frame, kind, domain, domain[0], p.name_for(node, "v"), None)
    frame.values.pop()
    return Defined(var, _axis_kind(frame))


def _axis_kind(frame: BlockFrame) -> str:
    return f'an axis of block "{frame.name}"'


def _domain(p: Parser, node: ast.expr) -> tuple[Expr, Expr]:
    """Start and extent of a domain: an extent, a pair (low, high), or a Range."""
    value = p.expr(node)
    if isinstance(value, Range):
        return value.min, value.extent
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise p.error(node, "a domain is an extent or a pair (low, high)", "axis-domain")
        low, high = as_index(p, node, value[0]), as_index(p, node, value[1])
        dtype = common_dtype(low, high)
        low, high = retyped(low, dtype), retyped(high, dtype)
        if isinstance(low, type(high)) and type(low) is not Var and hasattr(low, "value"):
            return low, const_int(high.value - low.value, dtype)  # type: ignore[attr-defined]
        return low, ops._offset_from(high, low)
    extent = as_index(p, node, value)
    return const_int(0, extent.dtype), extent


def _new_axis(
    p: Parser, node: ast.AST, frame: BlockFrame, kind: str, domain: tuple[Expr, Expr], value: Expr, name: str,
    dtype: Any,
) -> Var:  # fmt: skip
    low, extent = domain
    wide = common_dtype(low, extent, value)
    if dtype is not None:
        said = read_dtype(p, node, dtype)
        if said != wide and common_dtype_name(said, wide) != said:
            raise p.error(
                node, f"dtype={said!r} narrows the axis, whose domain or value is {wide}", "axis-dtype",
                hint=f'dtype="{wide}", or leave it out',
            )  # fmt: skip
        wide = said
    span = p.span(node)
    var = Var(name, wide, True, None, span)
    dom = Range(retyped(low, wide), retyped(extent, wide))
    p.axes[var] = dom
    frame.iter_vars.append(IterVar(var, dom, kind, "", span))
    frame.values.append(retyped(value, wide))
    return var


def common_dtype_name(a: str, b: str) -> str:
    return ops.promoted(a, b)


_KINDS = {"S": "spatial", "R": "reduce", "O": "opaque", "C": "scan"}


def _remap(p: Parser, node: ast.Call) -> Any:
    frame = _in_block(p, node, what="an axis")
    args = arguments(p, node, "kinds", "bindings", "dtype", required=2)
    kinds = p.expr(args["kinds"])
    if not isinstance(kinds, str):
        raise p.error(args["kinds"], 'the kinds of T.axis.remap are a string such as "SSR"', "axis-kinds")
    nodes: list[ast.AST] = []
    values: list[Any] = []
    if isinstance(args["bindings"], (ast.List, ast.Tuple)):
        for e in args["bindings"].elts:
            if isinstance(e, ast.Starred):
                items = starred_items(p, e)
                nodes += [e] * len(items)
                values += items
            else:
                nodes.append(e)
                values.append(p.expr(e))
    else:
        value = p.expr(args["bindings"])
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        nodes = [args["bindings"]] * len(values)
    if len(kinds) != len(values):
        raise p.error(
            node,
            f'T.axis.remap has {len(kinds)} kinds, "{kinds}", for {len(values)} {_loops(len(values))}',
            "axis-count",
            hint="one letter for each loop: S for spatial, R for reduce",
        )
    names = _remap_names(p, node, len(kinds))
    out = []
    for letter, value, at, name in zip(kinds, values, nodes, names, strict=True):
        kind = _KINDS.get(letter)
        if kind is None:
            raise p.error(
                args["kinds"],
                f"{letter!r} is no kind of axis",
                "axis-kinds",
                hint="S spatial, R reduce, C scan, O opaque",
            )
        value = operand(p, at, value)
        loop = p.loops.get(value) if type(value) is Var else None
        if loop is None:
            raise p.error(
                at,
                f"`{ast.unparse(at)}` is no loop variable",
                "axis-binding",
                hint=f"T.axis.{kind}(extent, value) binds an axis to any value",
            )
        out.append(_new_axis(p, node, frame, kind, (loop.min, loop.extent), value, p.take(name), None))
    what = _axis_kind(frame)
    if node is p.naming_node:
        if len(out) == 1 and isinstance(p.naming, str):
            return Defined(out[0], what)
        return [Defined(v, what) for v in out]
    return out


def _loops(count: int) -> str:
    return "loop" if count == 1 else "loops"


def _remap_names(p: Parser, node: ast.Call, count: int) -> list[str]:
    """The names that the axes are assigned to."""
    target = p.naming if node is p.naming_node else None
    if isinstance(target, str):
        return [target] if count == 1 else [f"{target}_{k}" for k in range(count)]
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [f"v{k}" for k in range(count)]
    parts = target.elts
    star = next((k for k, t in enumerate(parts) if isinstance(t, ast.Starred)), None)
    if (len(parts) != count) if star is None else (len(parts) - 1 > count):
        raise p.error(
            target,
            f"{len(parts)} name{'s' if len(parts) != 1 else ''} for {count} axes of T.axis.remap",
            "unpack",
        )
    names: list[str] = []
    for t in parts:
        if isinstance(t, ast.Starred) and isinstance(t.value, ast.Name):
            names += [f"{t.value.id}_{k}" for k in range(count - len(parts) + 1)]
        else:
            names.append(t.id if isinstance(t, ast.Name) else "v")
    return names


# ---- regions, predicate, attributes


def _once(p: Parser, node: ast.Call, what: str) -> BlockFrame:
    frame = _in_block(p, node, what=f"T.{what}")
    first = frame.seen.get(what)
    if first is not None:
        raise p.error(
            node, f"T.{what} stands twice in this block", "duplicate", also=((p.span(first), "first here"),)
        )
    frame.seen[what] = node
    return frame


def regions(p: Parser, node: ast.Call) -> tuple[BufferRegion, ...]:
    """The regions that T.reads and T.writes list."""
    if node.keywords:
        raise p.error(node.keywords[0], f"{ast.unparse(node.func)} takes no keywords", "unknown-keyword")
    out: list[BufferRegion] = []
    for a in node.args:
        out += _region_items(p, a)
    return tuple(out)


def _region_items(p: Parser, node: ast.expr) -> list[BufferRegion]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [r for e in node.elts for r in _region_items(p, e)]
    if isinstance(node, ast.Starred):
        return [r for value in starred_items(p, node) for r in _as_regions(p, node, value)]
    if isinstance(node, ast.Subscript):
        buffer = p.expr(node.value)
        if isinstance(buffer, Buffer):
            return [region_of(p, node, buffer)]
    return _as_regions(p, node, p.expr(node))


def region_of(p: Parser, node: ast.Subscript, buffer: Buffer) -> BufferRegion:
    """``buffer[...]`` as a region: points, slices, vectors."""
    items = index_items(p, node.slice)
    items = [_ramp_slice(i) if isinstance(i, Ramp) else i for i in items]
    if len(items) < buffer.ndim:
        raise p.error(
            node,
            f"`{buffer.name}` has {buffer.ndim} dimensions, {len(items)} given",
            "index-count",
            also=((buffer.span, "declared here"),),
        )
    return region(p, node, buffer, items)


def _ramp_slice(i: Ramp) -> slice:
    """The interval that a ramp touches."""
    stride = i.stride
    if type(stride) is IntImm:
        length: Any = stride.value * (i.lanes - 1) + 1
    else:
        length = ops.add(ops.mul(stride, i.lanes - 1), 1)
    return slice(i.base, ops.add(i.base, length) if type(i.base) is not IntImm else _plus(i.base, length))


def _plus(base: IntImm, length: Any) -> Any:
    return base.value + length if isinstance(length, int) else ops.add(base, length)


def _as_regions(p: Parser, node: ast.AST, value: Any) -> list[BufferRegion]:
    if isinstance(value, BufferRegion):
        return [value]
    if isinstance(value, Buffer):
        return [full_region(value).replace(span=p.span(node))]
    if isinstance(value, BufferLoad):
        return [load_region(value).replace(span=p.span(node))]
    if isinstance(value, (list, tuple)):
        return [r for v in value for r in _as_regions(p, node, v)]
    raise p.error(
        node,
        f"`{ast.unparse(node)}` is no region of a buffer",
        "region",
        hint="write `A[i, j]` or `A[0:4, j]`",
    )


def load_region(load: BufferLoad) -> BufferRegion:
    """The region that a load reads; a ramp is an interval."""
    items = [_ramp_slice(i) if isinstance(i, Ramp) else i for i in load.indices]
    return ops.region(load.buffer, items).replace(span=load.span)


def _reads(p: Parser, node: ast.Call) -> None:
    _once(p, node, "reads").reads = regions(p, node)


def _writes(p: Parser, node: ast.Call) -> None:
    _once(p, node, "writes").writes = regions(p, node)


def _where(p: Parser, node: ast.Call) -> None:
    frame = _once(p, node, "where")
    arg = arguments(p, node, "predicate", required=1)["predicate"]
    frame.predicate = predicate = condition(p, arg, p.expr(arg))
    used = free_vars(predicate)
    for iv, value in zip(frame.iter_vars, frame.values, strict=True):
        if iv.var in used:
            raise p.error(
                arg, f"T.where is about the loops around the block, and `{iv.var.name}` is an axis of it",
                "where-axis", hint=f"write what it is bound to, `{value}`, or put an `if` into the block",
            )  # fmt: skip


def _block_attr(p: Parser, node: ast.Call) -> None:
    frame = _in_block(p, node, what="T.block_attr")
    arg = arguments(p, node, "attrs", required=1)["attrs"]
    attrs = attribute_value(p, arg)
    if not isinstance(attrs, dict) or not all(isinstance(k, str) for k in attrs):
        raise p.error(arg, "attributes are a dict with strings as keys", "annotations")
    for key, value in attrs.items():
        if (
            key in frame.annotations
            and frame.annotations[key] is not value
            and frame.annotations[key] != value
        ):
            raise p.error(arg, f"the attribute {key!r} has another value already", "duplicate")
        frame.annotations[key] = value


def _init(p: Parser, s: ast.With, k: int, call: ast.Call) -> None:
    arguments(p, call)
    frame = p.block
    if frame.root:
        raise p.error(call, "T.init stands outside of a block", "outside-block")
    if "init" in frame.seen:
        raise p.error(
            call,
            "T.init stands twice in this block",
            "duplicate",
            also=((p.span(frame.seen["init"]), "first here"),),
        )
    frame.seen["init"] = call
    span = p.header(s, call)
    outer, p.items = p.items, []
    mark = len(p.undo)
    with_items(p, s, k + 1)
    p.leave(mark)
    items, p.items = p.items, outer
    frame.init = fold(items, span)


def _misplaced(what: str) -> Callable[[Parser, ast.Call], Any]:
    def handler(p: Parser, node: ast.Call) -> Any:
        raise p.error(node, f"T.{what} opens a scope", "with", hint=f"write `with {ast.unparse(node)}:`")

    return handler


WITH.update({constructs.block: _block, constructs.sblock: _block, constructs.init: _init})
on_call(
    {
        constructs.axis.spatial: _axis("spatial"),
        constructs.axis.reduce: _axis("reduce"),
        constructs.axis.scan: _axis("scan"),
        constructs.axis.opaque: _axis("opaque"),
        constructs.axis.remap: _remap,
        constructs.reads: _reads,
        constructs.writes: _writes,
        constructs.where: _where,
        constructs.block_attr: _block_attr,
        constructs.sblock_attr: _block_attr,
        constructs.block: _misplaced("block"),
        constructs.sblock: _misplaced("sblock"),
        constructs.init: _misplaced("init"),
    }
)
