"""``prim_func.specialize({n: 128})``: a function for given sizes, scalars or buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.arith.fold import fold_int
from tirscript.diagnostics import TirscriptError, deep_recursion, did_you_mean
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    Add,
    Cast,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
    Var,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import Node, walk
from tirscript.ir.ops import _same as same_expr
from tirscript.ir.visitor import buffer_exprs, fresh_copy, substitute

_FOLDED = frozenset({Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max})


def specialize(func: PrimFunc, values: Mapping[Any, Any]) -> PrimFunc:
    """``func`` with parameters and shape variables replaced by values.

    A key is a parameter, a shape variable, a parameter's buffer, or the name of one of them; a value is an
    int, an expression, or for a buffer another buffer, whose extents the shape variables take.  Scalar
    parameters that get a value are no parameters any more.

    >>> from tirscript.script import parse
    >>> f = parse('''
    ... @T.prim_func
    ... def f(a: T.handle):
    ...     n = T.int32()
    ...     A = T.match_buffer(a, (n,), "int32")
    ...     for i in range(n):
    ...         A[i] = i
    ... ''')
    >>> specialize(f, {"n": 4}).buffers[0].shape[0].value
    4
    """
    with deep_recursion():
        return _Specializer(func).apply(values)


class _Specializer:
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.known: dict[str, Any] = {}
        for v in func.params:
            self.known.setdefault(v.name, v)
        for v, b in func.buffer_map.items():
            self.known.setdefault(b.name, v)
            for e in buffer_exprs(b):
                for n in walk(e):
                    if isinstance(n, Var):
                        self.known.setdefault(n.name, n)
        self.shape_vars = {
            n
            for b in func.buffer_map.values()
            for e in buffer_exprs(b)
            for n in walk(e)
            if isinstance(n, Var)
        }
        self.variables: dict[Var, Expr] = {}
        self.matched: list[tuple[Buffer, Buffer]] = []

    def apply(self, values: Mapping[Any, Any]) -> PrimFunc:
        for key, value in values.items():
            self.bind(self.key(key), value)
        for old, new in self.matched:
            self.check(old, new)
        if not self.variables:
            return fresh_copy(self.func)
        func = self.func
        variables = dict(self.variables)
        buffers: dict[Buffer, Buffer] = {}
        buffer_map = {}
        for v, b in func.buffer_map.items():
            changed = b.replace(
                shape=tuple([self.expr(e, variables) for e in b.shape]),
                strides=tuple([self.expr(e, variables) for e in b.strides]),
                elem_offset=None if b.elem_offset is None else self.expr(b.elem_offset, variables),
            )
            buffer_map[v] = buffers[b] = changed
        body = fold(substitute(func.body, variables, buffers))
        params = tuple([v for v in func.params if v not in variables])
        return fresh_copy(func.replace(params=params, buffer_map=buffer_map, body=body))

    def expr(self, e: Expr, variables: Mapping[Var, Expr]) -> Expr:
        new: Expr = fold(substitute(e, variables))
        return new

    def key(self, key: Any) -> Var:
        """The parameter or shape variable that a key means."""
        if isinstance(key, str):
            found = self.known.get(key)
            if found is None:
                raise TirscriptError(
                    f"`{self.func.name}` has no parameter or shape variable `{key}`",
                    code="specialize",
                    hint=did_you_mean(key, self.known),
                )
            return found  # type: ignore[no-any-return]
        if isinstance(key, IterVar):
            key = key.var
        if isinstance(key, Buffer):
            for v, b in self.func.buffer_map.items():
                if b is key:
                    return v
        if isinstance(key, Var) and (any(key is v for v in self.func.params) or key in self.shape_vars):
            return key
        name = getattr(key, "name", type(key).__name__)
        raise TirscriptError(
            f"`{name}` is no parameter and no shape variable of `{self.func.name}`",
            code="specialize",
            hint="the names are " + ", ".join(self.known) if self.known else None,
        )

    def bind(self, var: Var, value: Any) -> None:
        buffer = self.func.buffer_map.get(var)
        if buffer is not None:
            if not isinstance(value, Buffer):
                raise TirscriptError(
                    f"`{buffer.name}` is a buffer, its value is one too",
                    code="specialize",
                    hint="a shape variable can be given by itself",
                )
            self.match(buffer, value)
            return
        if isinstance(value, (Buffer, str)) or var.dtype == "handle":
            raise TirscriptError(f"`{var.name}` cannot be given this value", code="specialize")
        expr = ops.as_expr(value, var.dtype) if not isinstance(value, Expr) else value
        if expr.dtype != var.dtype:
            if not isinstance(expr, IntImm):
                raise TirscriptError(
                    f"`{var.name}` is {var.dtype}, the value is {expr.dtype}", code="dtype-mismatch"
                )
            expr = ops.const(expr.value, var.dtype)
        if var in self.shape_vars and isinstance(expr, IntImm) and expr.value < 0:
            raise TirscriptError(f"the size `{var.name}` cannot be {expr.value}", code="specialize")
        self.assign(var, expr)

    def assign(self, var: Var, value: Expr) -> None:
        old = self.variables.get(var)
        if old is not None and not same_expr(old, value):
            raise TirscriptError(f"`{var.name}` gets two different values", code="specialize")
        if value is not var:
            self.variables[var] = value

    def match(self, old: Buffer, new: Buffer) -> None:
        if len(old.shape) != len(new.shape):
            raise TirscriptError(
                f"`{old.name}` has {len(old.shape)} dimensions, the value has {len(new.shape)}",
                code="specialize",
            )
        if old.dtype != new.dtype:
            raise TirscriptError(
                f"`{old.name}` holds {old.dtype}, the value {new.dtype}", code="dtype-mismatch"
            )
        pairs = list(zip(old.shape, new.shape, strict=True))
        if new.strides and len(old.strides) == len(new.strides):
            pairs += zip(old.strides, new.strides, strict=True)
        if old.elem_offset is not None and new.elem_offset is not None:
            pairs.append((old.elem_offset, new.elem_offset))
        for a, b in pairs:
            if isinstance(a, Var):
                self.assign(
                    a, ops.cast(b, a.dtype) if not isinstance(b, IntImm) else ops.const(b.value, a.dtype)
                )
        self.matched.append((old, new))

    def check(self, old: Buffer, new: Buffer) -> None:
        """That the extents which are no plain variables agree."""
        for k, (a, b) in enumerate(zip(old.shape, new.shape, strict=True)):
            have = self.expr(a, self.variables)
            if isinstance(have, IntImm) and isinstance(b, IntImm) and have.value != b.value:
                raise TirscriptError(
                    f"dimension {k} of `{old.name}` is {have.value}, the value has {b.value}",
                    code="specialize",
                )


def fold(root: Any) -> Any:
    """``root`` with operators of integer constants computed."""

    def f(n: Any) -> Any:
        new: Node = n.map_children(f)
        kind = type(new)
        a, b = getattr(new, "a", None), getattr(new, "b", None)
        if kind in _FOLDED and type(a) is IntImm and type(b) is IntImm and dt.is_int(a.dtype):
            value = fold_int(kind, a.value, b.value)
            if value is not None:
                dtype: str = new.dtype  # type: ignore[attr-defined]
                low, high = dt.bounds(dtype)
                if low <= value <= high:
                    return ops.const(value, dtype)
        if kind is Cast and type(new.value) is IntImm and dt.is_int(new.dtype):  # type: ignore[attr-defined]
            low, high = dt.bounds(new.dtype)  # type: ignore[attr-defined]
            if low <= new.value.value <= high:  # type: ignore[attr-defined]
                return ops.const(new.value.value, new.dtype)  # type: ignore[attr-defined]
        return new

    return f(root)
