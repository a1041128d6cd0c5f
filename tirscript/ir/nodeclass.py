"""Public names of node classes: called, they take TVM's arguments; to ``isinstance`` they are the class.

The node classes themselves are raw: their ``__init__`` is generated, takes finished nodes in the order that
suits the compiler, and checks nothing, because millions of nodes are made through it.  A program that is
written for TVM says ``IntImm("int32", 3)`` or ``For(i, 0, n, ForKind.SERIAL, body)``; what such a program
calls is a name of this kind, whose function checks and converts the arguments and makes the raw node.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from tirscript.diagnostics import TirscriptError, did_you_mean

from . import dtype as dt
from . import ops
from .buffer import Buffer
from .expr import Expr, IntImm, Range, Var
from .stmt import Stmt


class NodeClass(type):
    """The type of such a name: a class for ``isinstance``, ``match`` and comparison, a function to call."""

    _node: type
    _build: Callable[..., Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        build = cls._build
        try:
            return build(*args, **kwargs)
        except TypeError as e:
            # A wrong number of arguments, said with the signature that is wanted.
            try:
                inspect.signature(build).bind(*args, **kwargs)
            except TypeError as wrong:
                raise NodeArgumentError(
                    f"{cls.__name__}: {wrong}",
                    code="arity",
                    hint=f"{cls.__name__}({_parameters(build)})",
                ) from None
            raise e

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._node)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(getattr(other, "_node", other), cls._node)

    # `type(e) == tir.Add`, and tables by class.
    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._node

    def __hash__(cls) -> int:
        return hash(cls._node)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(cls._node, name, None)
        if found is None:
            public = [n for n in dir(cls._node) if not n.startswith("_")]
            hint = did_you_mean(name, public)
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}" + (f"; {hint}" if hint else ""))
        return found

    def __dir__(cls) -> list[str]:
        return sorted({*dir(cls._node), *vars(cls)})

    def __repr__(cls) -> str:
        return f"<class '{cls._node.__module__}.{cls._node.__name__}'>"


def _parameters(build: Callable[..., Any]) -> str:
    parameters = [p for p in inspect.signature(build).parameters.values() if p.name != "span"]
    return ", ".join([p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters])


class NodeArgumentError(TirscriptError, TypeError):
    """A node cannot be made of these arguments."""

    default_code = "node-argument"


def node_class(node: type, build: Callable[..., Any], **members: Any) -> Any:
    """The public name of ``node``, made by ``build``; ``members`` are further attributes of it."""
    own = {
        "_node": node,
        "_build": staticmethod(build),
        "__doc__": f"{inspect.getdoc(node) or ''}\n\n{inspect.getdoc(build) or ''}".strip(),
        "__module__": build.__module__,
        "__signature__": inspect.signature(build),
        "__match_args__": tuple(inspect.signature(build).parameters),
        **members,
    }
    return NodeClass(node.__name__, (), own)


# ---- arguments


def wrong(what: str, value: Any, wanted: str, hint: str | None = None) -> NodeArgumentError:
    shown = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return NodeArgumentError(f"{what}: {shown} is no {wanted}", hint=hint)


def expr(what: str, value: Any, dtype: str | None = None) -> Expr:
    """``value`` as an expression; a Python number has the dtype if one is given."""
    try:
        return ops.as_expr(value, dtype)
    except TirscriptError as e:
        if e.code == "not-an-expression":
            raise wrong(what, value, "expression") from None
        raise


def exprs(what: str, values: Any) -> tuple[Expr, ...]:
    if isinstance(values, (str, Expr)) or not isinstance(values, Iterable):
        raise wrong(what, values, "list of expressions", "put it into a list: [...]")
    return tuple([expr(what, v) for v in values])


def dtype(what: str, value: Any, order: str) -> str:
    """``value`` as a dtype; ``order`` shows the arguments, for those who turned them round."""
    said = getattr(value, "dtype", value)
    try:
        if isinstance(value, (Expr, bool, int)):
            raise TypeError
        return dt.normalize(said if isinstance(said, str) else value)
    except (ValueError, TypeError) as e:
        known = str(e) if isinstance(value, str) else f"{value!r} is no dtype"
        raise NodeArgumentError(f"{what}: {known}", hint=f"the order is {order}") from None


def variable(what: str, value: Any) -> Var:
    if not isinstance(value, Var):
        raise wrong(what, value, "variable", 'tir.Var("i", "int32")')
    return value


def buffer(what: str, value: Any) -> Buffer:
    if not isinstance(value, Buffer):
        raise wrong(what, value, "buffer", 'tir.decl_buffer((16,), "float32", name="A")')
    return value


def statement(what: str, value: Any) -> Stmt:
    if not isinstance(value, Stmt):
        raise wrong(
            what, value, "statement", "tir.Evaluate(value)" if isinstance(value, (Expr, int)) else None
        )
    return value


# ---- ranges, which `ir` has itself


def range_of(begin: Any, end: Any = None, span: Any = None) -> Range:
    """``Range(begin, end)``, or ``Range(extent)`` from 0; ``Range.from_min_extent(min, extent)``."""
    if isinstance(begin, Range) and end is None:
        return begin
    if end is None:
        begin, end = 0, begin
    low, high = _index("Range", begin), _index("Range", end)
    if isinstance(low, IntImm) and isinstance(high, IntImm):
        wide = high.dtype if dt.info(high.dtype).bits >= dt.info(low.dtype).bits else low.dtype
        return Range(ops.const(low.value, wide), ops.const(high.value - low.value, wide))
    if isinstance(low, IntImm) and low.value == 0:
        return Range(ops.const(0, high.dtype), high)
    low, high = ops.promote(low, high)
    return Range(low, ops._offset_from(high, low))


def _index(what: str, value: Any) -> Expr:
    found = expr(what, value)
    if not dt.is_int(found.dtype):
        raise wrong(what, value, "integer")
    return found


def from_min_extent(min: Any, extent: Any, span: Any = None) -> Range:
    """The range of ``extent`` values from ``min`` on."""
    low, size = _index("Range", min), _index("Range", extent)
    if low.dtype != size.dtype:
        low, size = ops.promote(low, size) if not isinstance(low, IntImm) else (
            ops.const(low.value, size.dtype), size)  # fmt: skip
    return Range(low, size)


PublicRange = node_class(Range, range_of, from_min_extent=staticmethod(from_min_extent))
