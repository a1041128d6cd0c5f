"""Expressions: one handler for each kind of Python expression."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

from tirscript.diagnostics import NotYetError, TirscriptError, did_you_mean
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import (
    BufferLoad,
    Call,
    Expr,
    IntImm,
    IterVar,
    Let,
    Ramp,
    Var,
)
from tirscript.ir.module import IRModule
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import Node, walk
from tirscript.ir.op import effect_of
from tirscript.script import constructs
from tirscript.script import ir as I_module
from tirscript.script import tir as T_module
from tirscript.script.scope import MISSING

from .core import CALLS, EXPR, POISON, Cell, Parser, Poisoned

# ---- leaves


def _constant(p: Parser, node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, (complex, bytes)):
        p.refuse(node, f"a {type(value).__name__} constant")
    return value


def name_value(p: Parser, node: ast.Name) -> Any:
    """What a name stands for: of the script first, then of Python around it."""
    value = p.names.get(node.id, MISSING)
    if value is MISSING:
        value = p.env.lookup(node.id)
        if value is MISSING:
            raise p.undefined(node)
        return value
    if value is POISON:
        raise Poisoned
    if type(value) is Cell:
        return BufferLoad(value.buffer, (), None, p.span(node))
    return value


# ---- operators


def _python(f: Callable[..., Any], p: Parser, node: ast.AST, *values: Any) -> Any:
    """``f`` of Python values; what it raises is a diagnostic."""
    try:
        return f(*values)
    except TirscriptError as e:
        raise p.located(e, node) from None
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


_BINARY: dict[type, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], str]] = {
    ast.Add: (ops.add, operator.add, "+"),
    ast.Sub: (ops.sub, operator.sub, "-"),
    ast.Mult: (ops.mul, operator.mul, "*"),
    ast.Div: (ops.div, operator.truediv, "/"),
    ast.FloorDiv: (ops.floordiv, operator.floordiv, "//"),
    ast.Mod: (ops.floormod, operator.mod, "%"),
    ast.Pow: (ops.power, operator.pow, "**"),
    ast.LShift: (ops.shift_left, operator.lshift, "<<"),
    ast.RShift: (ops.shift_right, operator.rshift, ">>"),
    ast.BitAnd: (ops.bitwise_and, operator.and_, "&"),
    ast.BitOr: (ops.bitwise_or, operator.or_, "|"),
    ast.BitXor: (ops.bitwise_xor, operator.xor, "^"),
}


def _binary(p: Parser, node: ast.BinOp) -> Any:
    left, right = node.left, node.right
    return apply_binary(p, node, node.op, EXPR[type(left)](p, left), EXPR[type(right)](p, right))


def apply_binary(p: Parser, node: ast.AST, op: ast.operator, a: Any, b: Any) -> Any:
    """``a op b``, of expressions or of Python values."""
    found = _BINARY.get(type(op))
    if found is None:
        p.refuse(node, "`@`", "write the loops of the product")
    ir, python, sign = found
    if isinstance(a, Expr) or isinstance(b, Expr):
        try:
            return ir(a, b)
        except TirscriptError as e:
            raise _operand_error(p, node, sign, a, b, e) from None
    if isinstance(a, Node) or isinstance(b, Node):
        a, b = operand(p, node, a), operand(p, node, b)
        return apply_binary(p, node, op, a, b)
    return _python(python, p, node, a, b)


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
        raise p.error(node, f"{what} is no value of the program", "not-an-expression", hint="one element is wanted")
    if isinstance(value, BufferRegion):
        raise p.error(
            node,
            f"a region of `{value.buffer.name}` is no value",
            "buffer-as-value",
            hint="a slice with a constant length in the last dimension is a vector",
        )
    return value


def _operand_error(p: Parser, node: Any, sign: str, a: Any, b: Any, error: TirscriptError) -> Exception:
    for side, value in (("left", a), ("right", b)):
        if isinstance(value, (Buffer, BufferRegion)):
            try:
                operand(p, getattr(node, side, node), value)
            except TirscriptError as e:
                return e
        if isinstance(value, (PrimFunc, IRModule, types.FunctionType, list, tuple, dict, type(None))):
            where = getattr(node, side, node)
            what = {"NoneType": "None"}.get(type(value).__name__, f"a Python {type(value).__name__}")
            return p.error(where, f"{what} is no operand of `{sign}`", "not-an-expression")
    return p.located(error, node)


def _unary(p: Parser, node: ast.UnaryOp) -> Any:
    value = operand(p, node.operand, p.expr(node.operand))
    op = type(node.op)
    if isinstance(value, Expr):
        try:
            return _UNARY[op][0](value)
        except TirscriptError as e:
            raise p.located(e, node) from None
    return _python(_UNARY[op][1], p, node, value)


_UNARY: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    ast.USub: (ops.neg, operator.neg),
    ast.UAdd: (lambda x: x, operator.pos),
    ast.Invert: (ops.bitwise_not, operator.invert),
    ast.Not: (ops.logical_not, operator.not_),
}

_COMPARE: dict[type, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Eq: (ops.eq, operator.eq),
    ast.NotEq: (ops.ne, operator.ne),
    ast.Lt: (ops.lt, operator.lt),
    ast.LtE: (ops.le, operator.le),
    ast.Gt: (ops.gt, operator.gt),
    ast.GtE: (ops.ge, operator.ge),
}
_PYTHON_COMPARE: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Is: (operator.is_, "is"),
    ast.IsNot: (operator.is_not, "is not"),
    ast.In: (lambda a, b: a in b, "in"),
    ast.NotIn: (lambda a, b: a not in b, "not in"),
}


def _compare(p: Parser, node: ast.Compare) -> Any:
    left = p.expr(node.left)
    if len(node.ops) == 1:
        right = p.expr(node.comparators[0])
        return _compare_two(p, node, node.ops[0], left, right)
    values = [left, *[p.expr(c) for c in node.comparators]]
    # An operand in the middle stands in two comparisons and is evaluated once.
    lets: list[tuple[Var, Expr]] = []
    for k in range(1, len(values) - 1):
        value = values[k]
        if isinstance(value, Expr) and not _is_pure(value):
            var = Var(f"cmp{k}", value.dtype, False)
            lets.append((var, value))
            values[k] = var
    result: Any = None
    for k, op in enumerate(node.ops):
        test = _compare_two(p, node, op, values[k], values[k + 1])
        if k == 0:
            result = test
        elif isinstance(result, Expr):
            result = ops.logical_and(result, test)
        elif result:
            result = test
        if not isinstance(result, Expr) and not result:
            return result
    for var, value in reversed(lets):
        result = Let(var, value, ops.as_expr(result))
    return result


def _is_pure(value: Expr) -> bool:
    return all(type(n) is not Call or effect_of(n.op) in ("pure", "hint") for n in walk(value))


def _compare_two(p: Parser, node: ast.Compare, op: ast.cmpop, a: Any, b: Any) -> Any:
    kind = type(op)
    if kind in _PYTHON_COMPARE:
        python, word = _PYTHON_COMPARE[kind]
        if any(isinstance(v, Expr) for v in (a, b)) and kind in (ast.In, ast.NotIn):
            p.refuse(node, f"`{word}` of values that are computed", "compare with each item, joined by `or`")
        if any(isinstance(v, Expr) for v in (a, b)) and None not in (a, b):
            p.refuse(node, f"`{word}` of values that are computed", "`==` compares values")
        return _python(python, p, node, a, b)
    ir, python = _COMPARE[kind]
    if isinstance(a, Expr) or isinstance(b, Expr):
        try:
            return ir(operand(p, node, a), operand(p, node, b))
        except TirscriptError as e:
            raise _operand_error(p, node, "a comparison", a, b, e) from None
    if isinstance(a, IterVar) or isinstance(b, IterVar):
        return _compare_two(p, node, op, operand(p, node, a), operand(p, node, b))
    return _python(python, p, node, a, b)


def _boolean(p: Parser, node: ast.BoolOp) -> Any:
    """``and`` and ``or``: Python values on the left are decided now, the rest is an expression."""
    is_and = type(node.op) is ast.And
    join = ops.logical_and if is_and else ops.logical_or
    result: Any = MISSING
    for v in node.values:
        value = operand(p, v, p.expr(v))
        try:
            if isinstance(value, Expr):
                _check_bool(p, v, value, "and" if is_and else "or")
            if isinstance(result, Expr):
                result = join(result, value if isinstance(value, Expr) else bool(value))
            else:
                result = value
                if not isinstance(value, Expr) and bool(value) != is_and:
                    return value
        except TirscriptError as e:
            raise p.located(e, v) from None
    return result


def _check_bool(p: Parser, node: ast.AST, value: Expr, word: str) -> None:
    if not value.dtype.startswith("bool"):
        raise p.error(
            node, f"`{word}` takes bools, this is {value.dtype}", "dtype-mismatch", hint="compare with 0: `x != 0`"
        )


def _conditional(p: Parser, node: ast.IfExp) -> Any:
    test = operand(p, node.test, p.expr(node.test))
    if not isinstance(test, Expr):
        return p.expr(node.body if test else node.orelse)
    a, b = operand(p, node.body, p.expr(node.body)), operand(p, node.orelse, p.expr(node.orelse))
    try:
        return ops.if_then_else(test, a, b)
    except TirscriptError as e:
        raise p.located(e, node) from None


# ---- attributes and subscripts


def _attribute(p: Parser, node: ast.Attribute) -> Any:
    value = p.expr(node.value)
    name = node.attr
    if value is T_module or value is I_module:
        found = vars(value).get(name, MISSING)
        if found is not MISSING and (not p.env.text_only or name[0] != "_"):
            return found
        return _unknown_attribute(p, node, value)
    if isinstance(value, Buffer):
        return _buffer_attribute(p, node, value)
    if isinstance(value, Expr) and not isinstance(value, Var) and name == "buffer" and isinstance(value, BufferLoad):
        return value.buffer
    member = _MODULE_MEMBER.get(type(value))
    if member is not None:
        return member(p, node, value)
    if p.env.text_only and (name.startswith("_") or isinstance(value, types.ModuleType)):
        if not isinstance(value, types.ModuleType) or not _public_module(value, name):
            p.refuse(node, f"`.{name}` in a text", "give the value itself by extra_vars")
    try:
        return getattr(value, name)
    except AttributeError as e:
        hint = did_you_mean(name, [n for n in dir(value) if not n.startswith("_")])
        raise p.error(node, str(e), "unknown-attribute", hint=hint) from None
    except Exception as e:
        raise p.error(node, f"{type(e).__name__}: {e}", "python-value") from None


# Kinds of values with attributes of their own; `entry` adds the module being read.
_MODULE_MEMBER: dict[type, Callable[[Parser, ast.Attribute, Any], Any]] = {}


def member_of(kind: type, handler: Callable[[Parser, ast.Attribute, Any], Any]) -> None:
    """Let ``handler`` read attributes of values of the type ``kind``."""
    _MODULE_MEMBER[kind] = handler


def _public_module(module: types.ModuleType, name: str) -> bool:
    """Whether a text may read the attribute: the script modules below tirscript, nothing else."""
    if module.__name__ in ("tirscript", "tirscript.script"):
        return name in ("script", "tir", "tirx", "ir", "relax", "IRModule")
    return module is T_module or module is I_module


def _unknown_attribute(p: Parser, node: ast.Attribute, module: types.ModuleType) -> Any:
    letter = "T" if module is T_module else "I"
    try:
        found = getattr(module, node.attr)
        if not node.attr.startswith("_"):
            return found
    except AttributeError:
        pass
    except NotYetError as e:
        raise p.error(node, e.message, e.code, hint=e.hint) from None
    raise p.error(
        node,
        f"`{letter}` has no `{node.attr}`",
        "unknown-name",
        hint=did_you_mean(node.attr, [n for n in dir(module) if not n.startswith("_")]),
    )


_BUFFER_FIELDS = ("data", "shape", "strides", "dtype", "name", "elem_offset", "ndim")


def _buffer_attribute(p: Parser, node: ast.Attribute, buffer: Buffer) -> Any:
    name = node.attr
    if name == "elem_offset":
        return IntImm(0) if buffer.elem_offset is None else buffer.elem_offset
    if name in _BUFFER_FIELDS:
        return getattr(buffer, name)
    method = BUFFER_METHODS.get(name)
    if method is None:
        raise p.error(
            node,
            f"a buffer has no `{name}`",
            "unknown-attribute",
            hint=did_you_mean(name, [*_BUFFER_FIELDS, *BUFFER_METHODS]),
        )
    return BoundMethod(method, buffer)


# Methods of buffers: the handler gets the parser, the call and the buffer.
BUFFER_METHODS: dict[str, Callable[[Parser, ast.Call, Buffer], Any]] = {}


class BoundMethod:
    """``A.access_ptr`` before it is called."""

    __slots__ = ("buffer", "method")

    def __init__(self, method: Callable[[Parser, ast.Call, Buffer], Any], buffer: Buffer) -> None:
        self.method = method
        self.buffer = buffer


def index_items(p: Parser, node: ast.expr) -> list[Any]:
    """The items between the brackets: values, and Python slices of values."""
    if isinstance(node, ast.Tuple):
        out: list[Any] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                out += starred_items(p, e)
            else:
                out.append(p.expr(e))
        return out
    value = p.expr(node)
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _slice(p: Parser, node: ast.Slice) -> slice:
    parts = [None if part is None else p.expr(part) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _subscript(p: Parser, node: ast.Subscript) -> Any:
    value = EXPR[type(node.value)](p, node.value)
    if type(value) is Buffer:
        return access(p, node, value, index_items(p, node.slice))
    if isinstance(value, BufferRegion):
        raise p.error(node, "a region cannot be indexed", "index", hint="index the buffer itself")
    if isinstance(value, Expr):
        raise p.error(node, f"an expression of dtype {value.dtype} cannot be indexed", "index")
    if value is constructs.metadata:
        return _metadata(p, node)
    item = p.expr(node.slice)
    return _python(operator.getitem, p, node, value, item)


def _metadata(p: Parser, node: ast.Subscript) -> Any:
    """``T.metadata["key"]``: a constant in the metadata section of the text."""
    from tirscript.script.printer.metadata import load

    key = p.expr(node.slice)
    try:
        found = load("\n".join(p.source.lines))
    except TirscriptError as e:
        raise p.located(e, node) from None
    if key not in found:
        raise p.error(node, f"the text has no metadata {key!r}", "metadata", hint=did_you_mean(str(key), found))
    return found[key]


def access(p: Parser, node: ast.AST, buffer: Buffer, items: list[Any]) -> Any:
    """``buffer[items]``: a load, or a region where slices are no vector."""
    slices = [k for k, i in enumerate(items) if isinstance(i, slice)]
    if not slices:
        return BufferLoad(buffer, point_indices(p, node, buffer, items), None, p.span(node))
    if len(items) == buffer.ndim and slices == [len(items) - 1]:
        try:
            items = [*items[:-1], ops.ramp_of(_plain_slice(p, node, buffer, items[-1]))]
            return BufferLoad(buffer, point_indices(p, node, buffer, items), None, p.span(node))
        except TirscriptError as e:
            if e.code == "out-of-bounds":
                raise
    return region(p, node, buffer, items)


def _plain_slice(p: Parser, node: ast.AST, buffer: Buffer, part: slice) -> slice:
    start = 0 if part.start is None else operand(p, node, part.start)
    stop = buffer.shape[-1] if part.stop is None else operand(p, node, part.stop)
    return slice(start, stop, part.step)


def region(p: Parser, node: Any, buffer: Buffer, items: list[Any]) -> BufferRegion:
    """The region of points and slices."""
    if len(items) > buffer.ndim:
        raise _index_count(p, node, buffer, len(items))
    try:
        return ops.region(buffer, items).replace(span=p.span(node))
    except TirscriptError as e:
        raise p.located(e, node) from None


def _index_count(p: Parser, node: Any, buffer: Buffer, count: int) -> Exception:
    plural = "s" if buffer.ndim != 1 else ""
    return p.error(
        node,
        f"`{buffer.name}` has {buffer.ndim} dimension{plural}, {count} index{'es' if count != 1 else ''} given",
        "index-count",
        hint=f"write `{buffer.name}[()]`" if buffer.ndim == 0 else None,
        also=((buffer.span, "declared here"),),
    )


def point_indices(p: Parser, node: Any, buffer: Buffer, items: list[Any]) -> tuple[Expr, ...]:
    """The indices of a load or store, checked: count, dtype, constants within the shape."""
    shape = buffer.shape
    if len(items) != len(shape):
        raise _index_count(p, node, buffer, len(items))
    out = []
    for k, item in enumerate(items):
        if type(item) is not Var or item.dtype not in ("int32", "int64"):
            item = _index(p, node, buffer, k, item)
        out.append(item)
    return tuple(out)


def _index(p: Parser, node: Any, buffer: Buffer, k: int, item: Any) -> Expr:
    try:
        if isinstance(item, slice):
            item = ops.ramp_of(_plain_slice(p, node, buffer, item))
        index = ops.index(operand(p, node, item))
    except TirscriptError as e:
        raise p.located(e, _index_node(node, k)) from None
    extent = buffer.shape[k]
    if type(extent) is IntImm:
        if type(index) is IntImm:
            low = high = index.value
        elif type(index) is Ramp and type(index.base) is IntImm and type(index.stride) is IntImm:
            last = index.base.value + index.stride.value * (index.lanes - 1)
            low, high = min(index.base.value, last), max(index.base.value, last)
        else:
            return index
        if low < 0 or high >= extent.value:
            wrong = low if low < 0 else high
            size = extent.value
            raise p.error(
                _index_node(node, k),
                f"index {wrong} is outside dimension {k} of `{buffer.name}`, which has extent {size}",
                "out-of-bounds",
                hint="a negative index does not count from the end" if wrong < 0 else None,
                also=((buffer.span, "declared here"),),
            )
    return index


def _index_node(node: Any, k: int) -> Any:
    """The node of the k-th index, where it can be told."""
    part = getattr(node, "slice", None)
    if isinstance(part, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in part.elts):
        return part.elts[k] if k < len(part.elts) else node
    return part if k == 0 and part is not None and not isinstance(part, ast.Tuple) else node


# ---- calls


def starred_items(p: Parser, node: ast.Starred) -> list[Any]:
    value = p.expr(node.value)
    if isinstance(value, Node):
        raise p.error(node, "only a Python sequence can be starred", "starred")
    items: list[Any] = _python(list, p, node, value)
    return items


def call_values(p: Parser, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The values of the arguments of a call."""
    args: list[Any] = []
    for a in node.args:
        if type(a) is ast.Starred:
            args += starred_items(p, a)
        else:
            args.append(EXPR[type(a)](p, a))
    kwargs: dict[str, Any] = {}
    for k in node.keywords:
        value = p.expr(k.value)
        if k.arg is None:
            kwargs.update(value)
        else:
            kwargs[k.arg] = value
    return args, kwargs


def _call(p: Parser, node: ast.Call) -> Any:
    function = p.expr(node.func)
    try:
        handler = CALLS.get(function)
    except TypeError:  # not hashable
        handler = None
    if handler is not None:
        return handler(p, node)
    handler = CALLS.get(type(function))
    if handler is not None:
        return handler(p, node)
    args, kwargs = call_values(p, node)
    return call_python(p, node, function, args, kwargs)


def call_python(p: Parser, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a Python function or an operator of ``T``."""
    if not callable(function):
        if isinstance(function, Buffer):
            raise p.error(node, f"`{function.name}` is a buffer: index it with brackets", "not-callable")
        raise p.error(node.func, f"`{ast.unparse(node.func)}` cannot be called", "not-callable")
    try:
        return function(*args, **kwargs)
    except Poisoned:
        raise
    except TirscriptError as e:
        raise _argument_error(p, node, args, e) from None
    except Exception as e:
        from .callerrors import python_error

        raise python_error(p, node, function, args, kwargs, e) from None


def _argument_error(p: Parser, node: ast.Call, args: list[Any], e: TirscriptError) -> Exception:
    """``e`` at the argument that is no operand or no dtype, else at the whole call."""
    if e.code == "dtype" and len(args) == len(node.args):
        for a, value in zip(node.args, args, strict=True):
            if isinstance(value, str) and not _is_dtype(value):
                return p.located(e, a)
    if not (e.code == "not-an-expression" and not getattr(e, "marks", ())):
        return p.located(e, node)
    if len(args) == len(node.args):
        for a, value in zip(node.args, args, strict=True):
            if isinstance(value, (Buffer, BufferRegion)):
                try:
                    operand(p, a, value)
                except TirscriptError as better:
                    return better
    return p.located(e, node)


def _is_dtype(text: str) -> bool:
    try:
        dt.info(text)
    except ValueError:
        return False
    return True


def _bound_method(p: Parser, node: ast.Call) -> Any:
    bound = p.expr(node.func)
    return bound.method(p, node, bound.buffer)


CALLS[BoundMethod] = _bound_method

# ---- Python constructs that make Python values


def _tuple(p: Parser, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(_elements(p, node.elts))


def _list(p: Parser, node: ast.List) -> list[Any]:
    return _elements(p, node.elts)


def _elements(p: Parser, nodes: list[ast.expr]) -> list[Any]:
    out: list[Any] = []
    for e in nodes:
        if type(e) is ast.Starred:
            out += starred_items(p, e)
        else:
            out.append(EXPR[type(e)](p, e))
    return out


def _set(p: Parser, node: ast.Set) -> set[Any]:
    return set(_elements(p, node.elts))


def _dict(p: Parser, node: ast.Dict) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for k, v in zip(node.keys, node.values, strict=True):
        if k is None:
            out.update(p.expr(v))
        else:
            out[_python(lambda x: (hash(x), x)[1], p, k, p.expr(k))] = p.expr(v)
    return out


def _joined(p: Parser, node: ast.JoinedStr) -> str:
    out = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = p.expr(part.value)
            if part.conversion != -1:
                value = {115: str, 114: repr, 97: ascii}[part.conversion](value)
            spec = p.expr(part.format_spec) if part.format_spec is not None else ""
            if isinstance(value, Var):
                value = value.name
            out.append(_python(format, p, part.value, value, spec))
        else:
            out.append(p.expr(part))
    return "".join(out)


class ScriptLambda:
    """A lambda: its body is read anew at every call, so that it may hold expressions of the script."""

    __slots__ = ("__name__", "node", "parser", "scope")

    def __init__(self, p: Parser, node: ast.Lambda) -> None:
        self.parser = p
        self.node = node
        self.scope = dict(p.names)
        self.__name__ = "<lambda>"

    @property
    def parameters(self) -> list[str]:
        a = self.node.args
        return [x.arg for x in (*a.posonlyargs, *a.args)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        p, spec = self.parser, self.node.args
        names = self.parameters
        bound: dict[str, Any] = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            if spec.vararg is None:
                raise TirscriptError(f"the lambda takes {len(names)} arguments, {len(args)} given", code="arity")
        if spec.vararg is not None:
            bound[spec.vararg.arg] = tuple(args[len(names) :])
        bound.update(kwargs)
        for name, default in zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True):
            if name not in bound:
                bound[name] = p.expr(default)
        missing = [n for n in names if n not in bound]
        if missing:
            raise TirscriptError(f"the lambda needs `{missing[0]}`", code="arity")
        saved = p.names
        p.names = {**self.scope, **bound}
        try:
            return p.expr(self.node.body)
        finally:
            p.names = saved


def _lambda(p: Parser, node: ast.Lambda) -> ScriptLambda:
    return ScriptLambda(p, node)


def _generators(p: Parser, generators: list[ast.comprehension]) -> Iterator[None]:
    """Bind the targets of a comprehension, once for each element."""
    first, rest = generators[0], generators[1:]
    if first.is_async:
        p.refuse(first.iter, "an async comprehension")
    value = p.expr(first.iter)
    if isinstance(value, Node):
        raise p.error(first.iter, "a comprehension runs over a Python sequence", "comprehension")
    for item in _python(iter, p, first.iter, value):
        assign_python(p, first.target, item)
        keep = True
        for condition in first.ifs:
            test = p.expr(condition)
            if isinstance(test, Expr):
                raise p.error(condition, "the condition of a comprehension is a Python value", "comprehension")
            keep = keep and bool(test)
        if keep:
            if rest:
                yield from _generators(p, rest)
            else:
                yield None


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


def _comprehension(make: Callable[[Any], Any]) -> Callable[[Parser, Any], Any]:
    def handler(p: Parser, node: Any) -> Any:
        mark = len(p.undo)
        try:
            return make(p.expr(node.elt) for _ in _generators(p, node.generators))
        finally:
            p.leave(mark)

    return handler


def _dict_comprehension(p: Parser, node: ast.DictComp) -> dict[Any, Any]:
    mark = len(p.undo)
    try:
        return {p.expr(node.key): p.expr(node.value) for _ in _generators(p, node.generators)}
    finally:
        p.leave(mark)


def _refused(what: str, hint: str | None = None) -> Callable[[Parser, Any], Any]:
    def handler(p: Parser, node: Any) -> Any:
        p.refuse(node, what, hint)

    return handler


EXPR.update(
    {
        ast.Constant: _constant,
        ast.Name: name_value,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BoolOp: _boolean,
        ast.IfExp: _conditional,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Call: _call,
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.JoinedStr: _joined,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension(list),
        ast.SetComp: _comprehension(set),
        ast.GeneratorExp: _comprehension(list),
        ast.DictComp: _dict_comprehension,
        ast.NamedExpr: _refused("`:=`", "write the assignment as a statement of its own"),
        ast.Await: _refused("`await`"),
        ast.Yield: _refused("`yield`", "a script writes its results into buffers"),
        ast.YieldFrom: _refused("`yield from`", "a script writes its results into buffers"),
        ast.Starred: _refused("a starred expression here"),
    }
)


def value_expr(p: Parser, node: ast.AST, value: Any) -> Expr:
    """``value`` as an expression of the script; a diagnostic at ``node`` where it is none."""
    if isinstance(value, Expr):
        return value
    value = operand(p, node, value)
    if isinstance(value, ScriptLambda) or callable(value):
        what = "a lambda" if isinstance(value, ScriptLambda) else f"`{ast.unparse(node)}`, a Python function,"
        raise p.error(node, f"{what} is no value of the script", "not-an-expression")
    try:
        return ops.as_expr(value)
    except TirscriptError as e:
        raise p.located(e, node) from None


def attribute_value(p: Parser, node: ast.AST) -> Any:
    """The value of an attribute or annotation: plain Python, expressions, buffers, lists and dicts of them."""
    return _plain(p, node, p.expr(node))


def _plain(p: Parser, node: ast.AST, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float, Node)):
        return value.var if isinstance(value, IterVar) else value
    if isinstance(value, (list, tuple)):
        return [_plain(p, node, v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(p, node, v) for k, v in value.items()}
    if isinstance(value, ScriptLambda):
        raise p.error(node, "a lambda is no value of an attribute", "annotations", hint="T.index_map(lambda ...)")
    return value
