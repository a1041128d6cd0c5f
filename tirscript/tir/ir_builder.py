"""TVM's older builder: statements made by Python code, ``ib = tir.ir_builder.create()``.

>>> from tirscript import tir
>>> A = tir.decl_buffer((8,), "float32", name="A")
>>> ib = create()
>>> a = ib.buffer_ptr(A)
>>> with ib.for_range(0, 8, name="i") as i:
...     with ib.if_scope(i < 4):
...         a[i] = a[i] + 1.0
>>> print(ib.get())
for i in range(8):
    if i < 4:
        A[i] = A[i] + T.float32(1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tirscript.ir as ir
from tirscript.diagnostics import TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir import nodeclass as n
from tirscript.ir import ops
from tirscript.ir.stmt import Stmt, seq
from tirscript.notyet import absent

__all__ = ["BufferVar", "IRBuilder", "create"]

_KINDS = {
    "serial": "serial", "parallel": "parallel", "vectorize": "vectorized", "vectorized": "vectorized",
    "unroll": "unrolled", "unrolled": "unrolled",
}  # fmt: skip


def _error(message: str, hint: str | None = None) -> TirscriptError:
    return TirscriptError(message, code="ir-builder", hint=hint)


class BufferVar:
    """Memory that is read and written by index: ``a[i] = a[i] + 1``.  One index counts the elements of a
    buffer of several dimensions in order."""

    __iter__ = None  # indexing would never end

    def __init__(self, builder: IRBuilder, buffer: ir.Buffer) -> None:
        self._builder = builder
        self._buffer = buffer

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self._buffer.dtype

    def asobject(self) -> ir.Var:
        """The pointer."""
        return self._buffer.data

    as_expression = asobject

    def _indices(self, index: Any) -> tuple[Any, ...]:
        items = list(index) if isinstance(index, (list, tuple)) else [index]
        shape = self._buffer.shape
        if len(items) != 1 or len(shape) < 2:
            return tuple([n.expr("an index", i) for i in items])
        rest = ops.index(n.expr("an index", items[0]))
        digits: list[Any] = []
        for size in reversed(shape[1:]):
            digits.append(ops.floormod(rest, size))
            rest = ops.floordiv(rest, size)
        return (rest, *reversed(digits))

    def __getitem__(self, index: Any) -> ir.BufferLoad:
        return ops.load(self._buffer, self._indices(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        place = ops.load(self._buffer, self._indices(index))
        stored = (
            ops.const(value, place.dtype)
            if isinstance(value, (bool, int, float))
            else n.expr("a store", value)
        )
        if stored.dtype != place.dtype:
            stored = ops.cast(stored, place.dtype)
        self._builder.emit(ir.BufferStore(self._buffer, stored, place.indices))


class IRBuilder:
    """Collects statements; scopes are ``with`` blocks."""

    def __init__(self) -> None:
        self._scopes: list[list[Stmt | Callable[[Stmt], Stmt]]] = [[]]

    # ---- statements

    def emit(self, stmt: Any) -> None:
        """Add a statement, or an expression for its effect; a function takes what follows in the scope."""
        if isinstance(stmt, ir.Expr):
            stmt = ir.Evaluate(stmt)
        if not isinstance(stmt, Stmt) and not callable(stmt):
            raise _error(f"a statement is wanted, not {type(stmt).__name__}")
        self._scopes[-1].append(stmt)

    def _closed(self) -> Stmt:
        """The statement of the innermost scope, which ends."""
        body: Stmt | None = None
        for item in reversed(self._scopes.pop()):
            if isinstance(item, Stmt):
                body = item if body is None else seq(item, body)
            else:
                body = item(ir.Evaluate(ir.const_int(0)) if body is None else body)
        return ir.Evaluate(ir.const_int(0)) if body is None else body

    def get(self) -> Stmt:
        """The statement that was made; the builder is then empty."""
        if len(self._scopes) != 1:
            raise _error("a scope of the builder is still open")
        made = self._closed()
        self._scopes.append([])
        return made

    @contextmanager
    def _scope(self, wrap: Callable[[Stmt], Stmt], value: Any = None) -> Iterator[Any]:
        self._scopes.append([])
        depth = len(self._scopes)
        try:
            yield value
        except BaseException:
            del self._scopes[depth - 1 :]
            raise
        if len(self._scopes) != depth:
            raise _error("a scope is closed while another inside it is open")
        self.emit(wrap(self._closed()))

    # ---- scopes

    def for_range(
        self, begin: Any, end: Any, name: str = "i", dtype: Any = None, kind: str = "serial"
    ) -> Any:
        """``with ib.for_range(0, n) as i:`` a loop; ``kind`` is serial, parallel, vectorize or unroll."""
        if kind not in _KINDS:
            raise n.wrong("for_range", kind, "kind of loop", ", ".join(_KINDS))
        dom = n.range_of(begin, end)
        said = dom.extent.dtype if dtype is None else dt.normalize(dtype)
        low, extent = (
            ops.const(e.value, said) if isinstance(e, ir.IntImm) else ops.cast(e, said)
            for e in (dom.min, dom.extent)
        )
        var = ir.Var(name, said)
        return self._scope(lambda body: ir.For(var, low, extent, _KINDS[kind], body), var)

    def while_loop(self, condition: Any) -> Any:
        """``with ib.while_loop(condition):``"""
        test = ops.condition(condition)
        return self._scope(lambda body: ir.While(test, body))

    def if_scope(self, cond: Any) -> Any:
        """``with ib.if_scope(condition):``"""
        test = ops.condition(cond)
        return self._scope(lambda body: ir.IfThenElse(test, body))

    def else_scope(self) -> Any:
        """``with ib.else_scope():`` right after an ``if_scope``."""
        before = self._scopes[-1][-1] if self._scopes[-1] else None
        if not isinstance(before, ir.IfThenElse) or before.else_case is not None:
            raise _error("else_scope stands right after an if_scope")
        self._scopes[-1].pop()
        return self._scope(lambda body: before.replace(else_case=body))

    def new_scope(self) -> Any:
        """``with ib.new_scope():`` what is allocated inside ends there."""
        return self._scope(lambda body: body)

    def scope_attr(self, node: Any, attr_key: str, value: Any) -> None:
        """An attribute of what follows in this scope."""
        target = ir.StringImm(node) if isinstance(node, str) else node
        said = n.expr("scope_attr", value)
        self.emit(lambda body: ir.AttrStmt(target, attr_key, said, body))

    # ---- values

    def let(self, var_name: str, value: Any) -> ir.Var:
        """A name for a value, in what follows in this scope."""
        from tirscript.arith.exact import is_exact

        bound = n.expr("let", value)
        var = ir.Var(var_name, bound.dtype, bound.dtype[0] in "iu" and is_exact(bound))
        self.emit(lambda body: ir.LetStmt(var, bound, body))
        return var

    def allocate(
        self, dtype: Any, shape: Any, name: str = "buf", axis_separators: Any = None, scope: str = ""
    ) -> BufferVar:
        """Memory that lives in what follows in this scope."""
        items = shape if isinstance(shape, (list, tuple)) else (shape,)
        sizes = tuple([ops.index(n.expr("allocate", e)) for e in items])
        made = ir.make_buffer(name, sizes, dt.normalize(dtype), scope=scope or "global")

        def wrap(body: Stmt) -> Stmt:
            return ir.Allocate(made.data, made.dtype, sizes, ir.TRUE, ir.DeclBuffer(made, body))

        self.emit(wrap)
        return BufferVar(self, made)

    def pointer(self, content_type: Any, name: str = "ptr", scope: str = "") -> BufferVar:
        """Memory behind a pointer that comes from outside."""
        said = dt.normalize(content_type)
        data = ir.Var(name, "handle", False, (said, scope or "global"))
        # How far it reaches is not said.
        reach = (ir.const_int((1 << 31) - 1),)
        return BufferVar(self, ir.make_buffer(name, reach, said, data=data, scope=scope or "global"))

    def buffer_ptr(self, buffer: ir.Buffer, shape: Any = None) -> BufferVar:
        """The elements of a buffer."""
        return BufferVar(self, n.buffer("buffer_ptr", buffer))

    def likely(self, expr: Any) -> ir.Expr:
        """The condition, with the hint that it usually holds."""
        return ops.call("likely", expr)


def create() -> IRBuilder:
    """A new builder.

    Source: TVM's ``tir.ir_builder.create``.
    """
    return IRBuilder()


def __getattr__(name: str) -> Any:
    return absent(__name__, name, __all__, frozenset(("WithScope",)))


def __dir__() -> list[str]:
    return __all__
