"""Loops: ``range``, ``T.serial`` and its kin, ``T.thread_binding``, ``T.grid``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from tirscript.diagnostics import Span, TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Cast, Expr, IntImm, Range, Var, const_int
from tirscript.ir.stmt import NONE, THREAD_TAGS, Annotations, For
from tirscript.script import constructs

from .core import LOOPS, Parser, arguments
from .values import attribute_value, operand, starred_items, unpack

LOOP_VARIABLE = "a loop variable"


def as_index(p: Parser, node: ast.AST, value: Any) -> Expr:
    """``value`` as an integer expression."""
    if type(value) is int and -(1 << 31) <= value < 1 << 31:
        return const_int(value)
    try:
        return ops.index(operand(p, node, value))
    except TirscriptError as e:
        raise p.located(e, node) from None


def common_dtype(*values: Expr) -> str:
    """The widest dtype of integers: constants follow what is computed."""
    dtype = values[0].dtype
    for v in values[1:]:
        if v.dtype != dtype:
            dtype = ops.promoted(dt.info(dtype).base, dt.info(v.dtype).base)
    return dtype


def retyped(value: Expr, dtype: str) -> Expr:
    """``value`` in ``dtype``: a constant changes its dtype, another gets a cast."""
    if value.dtype == dtype:
        return value
    if type(value) is IntImm:
        return ops.const(value.value, dtype)
    return Cast(dtype, value)


def length(start: Expr, stop: Expr) -> Expr:
    """``stop - start``, of constants and of ``start + n`` without a subtraction."""
    if type(start) is IntImm:
        if start.value == 0:
            return stop
        if type(stop) is IntImm:
            return const_int(stop.value - start.value, start.dtype)
    return ops._offset_from(stop, start)


class Bounds(NamedTuple):
    """A loop's interval; ``first`` is where a loop starts that counts down, and ``step`` then negative."""

    start: Expr
    extent: Expr
    step: Expr | None
    first: Expr | None = None


def _interval(p: Parser, args: dict[str, ast.expr]) -> Bounds:
    first = args["start"]
    stop_node = args.get("stop")
    if stop_node is not None and isinstance(stop_node, ast.Constant) and stop_node.value is None:
        stop_node = None
    start = as_index(p, first, p.expr(first))
    if stop_node is None:
        stop, start = start, const_int(0, start.dtype)
    else:
        stop = as_index(p, stop_node, p.expr(stop_node))
    dtype = start.dtype
    if stop.dtype != dtype:
        dtype = common_dtype(start, stop)
        start, stop = retyped(start, dtype), retyped(stop, dtype)
    step_node = args.get("step")
    if step_node is None:
        return Bounds(start, length(start, stop), None)
    value = operand(p, step_node, p.expr(step_node))
    if value is None:
        return Bounds(start, length(start, stop), None)
    step = retyped(as_index(p, step_node, value), dtype)
    if type(step) is not IntImm or step.value > 1:
        return Bounds(start, length(start, stop), step)
    if step.value == 1:
        return Bounds(start, length(start, stop), None)
    if step.value == 0:
        raise p.error(step_node, "the step of a loop is 0", "loop-step")
    return _downward(start, stop, step)


def _downward(start: Expr, stop: Expr, step: IntImm) -> Bounds:
    """A loop that counts down, as one that counts up from 0."""
    width, dtype = -step.value, step.dtype
    if type(start) is IntImm and type(stop) is IntImm:
        count: Expr = ops.const(max(0, -(-(start.value - stop.value) // width)), dtype)
    else:
        count = ops.sub(start, stop)
        count = count if width == 1 else ops.ceildiv(count, width)
    return Bounds(const_int(0, dtype), count, step, start)


def open_loop(
    p: Parser,
    s: ast.For,
    bounds: Bounds,
    kind: str,
    *,
    thread: str = "",
    annotations: Annotations = NONE,
    span: Span,
) -> None:
    """One loop over a named variable, with the body of ``s``."""
    target = s.target
    if type(target) is not ast.Name:
        raise p.error(target, "this loop has one variable", "loop-target")
    start, extent, step, first = bounds
    mark = len(p.undo)
    var = Var(p.take(target.id), start.dtype, True, None, p.span(target))
    if first is None:
        p.loops[var] = Range(start, extent)
        p.bind(target.id, var, LOOP_VARIABLE)
    else:
        assert step is not None
        p.bind(target.id, ops.add(first, ops.mul(var, step)), LOOP_VARIABLE)
        step = None
    p.loop_kinds.append(kind)
    body = p.body(s.body, span)
    p.loop_kinds.pop()
    p.leave(mark)
    p.emit(For(var, start, extent, kind, body, thread, annotations, step, span))


def _simple(kind: str) -> Callable[[Parser, ast.For, ast.Call], None]:
    def handler(p: Parser, s: ast.For, call: ast.Call) -> None:
        args = arguments(
            p, call, "start", "stop", *(("step",) if kind == "range" else ()), required=1,
            keywords_only=None if kind == "range" else {"annotations": None, "step": None},
        )  # fmt: skip
        bounds = _interval(p, args)
        annotations = _annotations(p, args.get("annotations"))
        loop_kind = "serial" if kind == "range" else kind
        open_loop(p, s, bounds, loop_kind, annotations=annotations, span=p.header(s, call))

    return handler


def _annotations(p: Parser, node: ast.expr | None) -> Annotations:
    if node is None:
        return NONE
    value = attribute_value(p, node)
    if value is None:
        return NONE
    if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
        raise p.error(node, "annotations are a dict with strings as keys", "annotations")
    return value


def _thread_binding(p: Parser, s: ast.For, call: ast.Call) -> None:
    args = arguments(
        p, call, "start", "stop", "thread", required=1, keywords_only={"annotations": None, "step": None}
    )
    stop = args.get("stop")
    if "thread" not in args and stop is not None:
        # T.thread_binding(n, "threadIdx.x")
        args["thread"] = args.pop("stop")
    node = args.get("thread")
    if node is None:
        raise p.error(call, "T.thread_binding needs `thread`", "arity", hint='thread="threadIdx.x"')
    tag = thread_tag(p, node)
    bounds = _interval(p, args)
    annotations = _annotations(p, args.get("annotations"))
    open_loop(p, s, bounds, "thread_binding", thread=tag, annotations=annotations, span=p.header(s, call))


def thread_tag(p: Parser, node: ast.expr) -> str:
    """The name of a thread axis."""
    tag = p.expr(node)
    if tag not in THREAD_TAGS and not (isinstance(tag, str) and tag.startswith("clusterCtaIdx.")):
        raise p.error(
            node,
            f"{tag!r} is no thread axis",
            "thread-tag",
            hint="the axes are " + ", ".join(f"{t}.x/y/z" for t in ("blockIdx", "threadIdx", "vthread")),
        )
    return str(tag)


def _grid(p: Parser, s: ast.For, call: ast.Call) -> None:
    if call.keywords:
        raise p.error(call.keywords[0], "T.grid takes no keywords", "unknown-keyword")
    bounds: list[tuple[Expr, Expr]] = []
    for a in call.args:
        values = starred_items(p, a) if isinstance(a, ast.Starred) else [p.expr(a)]
        for value in values:
            if isinstance(value, (tuple, list)) and len(value) == 2:
                start, stop = as_index(p, a, value[0]), as_index(p, a, value[1])
                dtype = common_dtype(start, stop)
                start, stop = retyped(start, dtype), retyped(stop, dtype)
                bounds.append((start, length(start, stop)))
            else:
                extent = as_index(p, a, value)
                bounds.append((const_int(0, extent.dtype), extent))
    if not bounds:
        raise p.error(call, "T.grid needs an extent", "arity")
    names = _grid_names(p, s.target, len(bounds))
    span = p.header(s, call)
    mark = len(p.undo)
    variables = []
    for (name, node), (start, extent) in zip(names, bounds, strict=True):
        var = Var(p.take(name), start.dtype, True, None, p.span(node))
        p.loops[var] = Range(start, extent)
        variables.append(var)
        if isinstance(node, ast.Name) and node.id == name:
            p.bind(name, var, LOOP_VARIABLE)
    _bind_rest(p, s.target, variables)
    p.loop_kinds.append("serial")
    body = p.body(s.body, span)
    p.loop_kinds.pop()
    p.leave(mark)
    for var, (start, extent) in zip(reversed(variables), reversed(bounds), strict=True):
        body = For(var, start, extent, "serial", body, "", NONE, None, span)
    p.emit(body)


def _grid_names(p: Parser, target: ast.expr, count: int) -> list[tuple[str, ast.AST]]:
    """A name for each loop; a starred name gives `rest_0`, `rest_1`; one name stands for them all."""
    if isinstance(target, ast.Name):
        if count == 1:
            return [(target.id, target)]
        return [(f"{target.id}_{k}", target) for k in range(count)]
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise p.error(target, "a name for each loop is wanted", "loop-target")
    out: list[tuple[str, ast.AST]] = []
    for part, item in _unpacked(p, target, count):
        if not isinstance(part, ast.Name):
            raise p.error(part, "a name is wanted here", "loop-target")
        if isinstance(item, list):
            out += [(f"{part.id}_{k}", part) for k in range(len(item))]
        else:
            out.append((part.id, part))
    return out


def _unpacked(p: Parser, target: ast.Tuple | ast.List, count: int) -> list[tuple[ast.expr, Any]]:
    starred = any(isinstance(t, ast.Starred) for t in target.elts)
    given = len(target.elts)
    if (given - 1 > count) if starred else (given != count):
        raise p.error(
            target, f"{given} names for {count} loop{'s' if count != 1 else ''} of T.grid", "loop-target"
        )
    return unpack(p, target, list(range(count)))


def _bind_rest(p: Parser, target: ast.expr, variables: list[Var]) -> None:
    if isinstance(target, ast.Name):
        if len(variables) != 1:
            p.bind(target.id, list(variables), "a list")
        return
    assert isinstance(target, (ast.Tuple, ast.List))
    for part, item in unpack(p, target, list(variables)):
        if isinstance(item, list) and isinstance(part, ast.Name):
            p.bind(part.id, item, "a list")


LOOPS.update(
    {
        range: _simple("range"),
        constructs.serial: _simple("serial"),
        constructs.parallel: _simple("parallel"),
        constructs.vectorized: _simple("vectorized"),
        constructs.unroll: _simple("unrolled"),
        constructs.thread_binding: _thread_binding,
        constructs.grid: _grid,
    }
)
