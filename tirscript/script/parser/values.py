"""Values while a script is read: operands, conversions, unpacking."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

from tirscript.arith.exact import is_exact
from tirscript.diagnostics import (
    PrecisionLossWarning,
    TirscriptError,
    user_stacklevel,
)
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    Broadcast,
    Cast,
    Expr,
    IterVar,
    StringImm,
    Var,
)
from tirscript.ir.node import Node, walk
from tirscript.script import constructs

from .core import Parser


def python_value(f: Callable[..., Any], p: Parser, node: ast.AST, *values: Any) -> Any:
    """``f`` of Python values; what it raises is a diagnostic."""
    try:
        return f(*values)
    except TirscriptError as e:
        raise p.located(e, node) from None
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


def operand(p: Parser, node: ast.AST, value: Any) -> Any:
    """``value`` as an operand of an operator: axes give their variable, buffers and regions are refused."""
    if isinstance(value, IterVar):
        return value.var
    if isinstance(value, constructs.meta_var):
        return value.value
    if isinstance(value, Buffer):
        raise p.error(
            node,
            f"`{value.name}` is a buffer, an operand is one element",
            "buffer-as-value",
            hint=f"write an index: `{value.name}[{', '.join(['...'] * value.ndim) or '()'}]`",
        )
    if isinstance(value, (list, tuple, dict, set)):
        what = f"a Python {type(value).__name__}"
        raise p.error(
            node, f"{what} is no value of the program", "not-an-expression", hint="one element is wanted"
        )
    if isinstance(value, BufferRegion):
        raise p.error(
            node,
            f"a region of `{value.buffer.name}` is no value",
            "buffer-as-value",
            hint="a slice with a constant length in the last dimension is a vector",
        )
    if isinstance(value, Node) and not isinstance(value, Expr):
        raise p.error(node, f"a {type(value).__name__} is no value of the program", "not-an-expression")
    return value


def starred_items(p: Parser, node: ast.Starred) -> list[Any]:
    value = p.expr(node.value)
    if isinstance(value, Node):
        raise p.error(node, "only a Python sequence can be starred", "starred")
    items: list[Any] = python_value(list, p, node, value)
    return items


def assign_python(p: Parser, target: ast.AST, value: Any) -> None:
    """Bind a target to a Python value, without a statement."""
    if isinstance(value, constructs.meta_var):
        value = value.value
    if isinstance(target, ast.Name):
        p.bind(target.id, value, "a Python value")
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise p.error(target, "a name is wanted here", "target")
    for part, item in unpack(p, target, list(value)):
        assign_python(p, part, item)


def unpack(p: Parser, target: ast.Tuple | ast.List, items: list[Any]) -> list[tuple[ast.expr, Any]]:
    """The parts of a target with the items they get; one part may be starred."""
    parts = target.elts
    star = next((k for k, t in enumerate(parts) if isinstance(t, ast.Starred)), None)
    if len(items) != len(parts) if star is None else len(items) < len(parts) - 1:
        raise p.error(
            target, f"{len(parts)} names for {len(items)} value{'s' if len(items) != 1 else ''}", "unpack"
        )
    if star is None:
        return list(zip(parts, items, strict=True))
    after = len(parts) - star - 1
    stop = len(items) - after
    starred = parts[star]
    assert isinstance(starred, ast.Starred)
    return [
        *zip(parts[:star], items[:star], strict=True),
        (starred.value, items[star:stop]),
        *zip(parts[star + 1 :], items[stop:], strict=True),
    ]


def read_dtype(p: Parser, node: ast.AST, value: Any) -> str:
    """``value`` as a dtype."""
    try:
        return dt.normalize(value.dtype if isinstance(value, Expr) else value)
    except (ValueError, TypeError) as e:
        raise p.error(node, str(e), "dtype") from None


def value_expr(p: Parser, node: ast.AST, value: Any) -> Expr:
    """``value`` as an expression of the script; a diagnostic at ``node`` where it is none."""
    if isinstance(value, Expr):
        return value
    value = operand(p, node, value)
    if callable(value):
        is_lambda = getattr(value, "__name__", "") == "<lambda>"
        what = "a lambda" if is_lambda else f"`{ast.unparse(node)}`, a Python function,"
        raise p.error(node, f"{what} is no value of the script", "not-an-expression")
    try:
        return ops.as_expr(value)
    except TirscriptError as e:
        raise p.located(e, node) from None


def attribute_value(p: Parser, node: ast.AST) -> Any:
    """The value of an attribute: plain Python, expressions, buffers, lists and dicts of them."""
    return _plain(p, node, p.expr(node))


def _plain(p: Parser, node: ast.AST, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float, Node)):
        return value.var if isinstance(value, IterVar) else value
    if isinstance(value, (list, tuple)):
        items = [_plain(p, node, v) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {k: _plain(p, node, v) for k, v in value.items()}
    if getattr(value, "__name__", "") == "<lambda>":
        raise p.error(
            node, "a lambda is no value of an attribute", "annotations", hint="T.index_map(lambda ...)"
        )
    return value


def convert(p: Parser, node: ast.AST, value: Any, dtype: str, what: str) -> Expr:
    """``value`` as an expression of ``dtype``; a lossy conversion warns, naming the line."""
    if not isinstance(value, Expr):
        if (
            isinstance(value, float)
            and not value.is_integer()
            and not dt.is_float(dtype)
            and not dt.is_bool(dtype)
        ):
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
        _warn_loss(p, node, f"the {value.dtype} value", dtype, what)
    return Cast(dtype, value)


def _is_lossy(have: dt.DType, want: dt.DType) -> bool:
    if have.code == "bool" or want.code == "bool":
        return False
    if have.is_float:
        return (
            not want.is_float or want.bits < have.bits or (want.bits == have.bits and want.code != have.code)
        )
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


def quoted(p: Parser, node: ast.Constant) -> ast.expr:
    """The expression inside a string annotation, with the place of the string."""
    try:
        tree: ast.expr = ast.parse(str(node.value), mode="eval").body
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
