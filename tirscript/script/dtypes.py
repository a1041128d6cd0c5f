"""``T.float32``, ``T.int64``, ``T.handle``, ...: dtypes that are called; ``T.Buffer`` as an annotation."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.expr import Expr, FloatImm, IterVar, Var

_SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan"), "+inf": float("inf")}


class DTypeConstructor:
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """

    __slots__ = ("dtype",)
    __iter__ = None  # indexing would never end

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    @property
    def name(self) -> str:
        """The dtype as a string: NumPy's dtypes have the same property."""
        return self.dtype

    def __call__(self, expr: Any = None, is_size_var: bool = False) -> Expr:
        """``expr`` as a constant or converted; without ``expr`` a new variable."""
        dtype = self.dtype
        if expr is None:
            return Var("v", dtype, dt.is_int(dtype))
        if isinstance(expr, str):
            return self._special(expr)
        if isinstance(expr, IterVar):
            expr = expr.var
        if isinstance(expr, (bool, int, float)):
            return self._constant(expr)
        return ops.cast(expr, dtype)

    def _constant(self, value: bool | int | float) -> Expr:
        kind = dt.info(self.dtype)
        if kind.code == "bool":
            return ops.const(bool(value), self.dtype)
        if kind.is_int and isinstance(value, float) and not value.is_integer():
            return ops.cast(ops.const(value, "float32"), self.dtype)
        return ops.const(value, self.dtype)

    def _special(self, text: str) -> Expr:
        kind = dt.info(self.dtype)
        value = _SPECIAL.get(text.lower().replace("infinity", "inf"))
        if not kind.is_float or value is None:
            raise TirscriptError(
                f"{text!r} is no {self.dtype}",
                code="constant-range",
                hint='a float takes "inf", "-inf" and "nan"',
            )
        if kind.lanes != 1:
            return ops.cast(FloatImm(value, kind.base), self.dtype)
        return FloatImm(value, self.dtype)

    def __getitem__(self, item: Any) -> DTypeConstructor:
        return self

    def __repr__(self) -> str:
        return f"T.{self.dtype}"

    def __str__(self) -> str:
        return self.dtype


class HandleConstructor(DTypeConstructor):
    """``T.handle``: a parameter, a pointer ``T.handle("float32", "shared")``, or a new variable."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("handle")

    def __call__(  # type: ignore[override]
        self, dtype: Any = None, storage_scope: str = "global", *, is_size_var: bool = False
    ) -> Expr:
        if isinstance(dtype, Expr):
            return ops.cast(dtype, "handle")
        if dtype is None:
            return Var("ptr", "handle", False)
        return Var("ptr", "handle", False, (dt.normalize(dtype), storage_scope))


class BufferAnnotation:
    """What ``T.Buffer(...)`` is for Python: nothing is looked at before the parser reads the source."""

    __slots__ = ("args", "kwargs")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        return "T.Buffer(...)"


class BufferFactory:
    """``T.Buffer(shape, "float32")``, as a parameter's annotation or with ``data=`` as a declaration.

    ``T.Buffer[shape, "float32"]`` is the older spelling.
    """

    __slots__ = ()
    __iter__ = None

    def __call__(self, *args: Any, **kwargs: Any) -> BufferAnnotation:
        """``(shape, dtype="float32", data=None, strides=None, elem_offset=None, scope="global", align=0,
        offset_factor=0, buffer_type="", axis_separators=None)``"""
        return BufferAnnotation(args, kwargs)

    def __getitem__(self, item: Any) -> BufferAnnotation:
        return BufferAnnotation(item if isinstance(item, tuple) else (item,), {})

    def __repr__(self) -> str:
        return "T.Buffer"


class PointerFactory:
    """``T.Ptr[T.float32, "shared"]`` or ``T.Ptr(T.float32, "shared")``: the type of a pointer."""

    __slots__ = ()
    __iter__ = None

    def __call__(self, dtype: Any, storage_scope: str = "global") -> Expr:
        return Var("ptr", "handle", False, (dt.normalize(dtype), storage_scope))

    def __getitem__(self, item: Any) -> Expr:
        dtype, scope = item if isinstance(item, tuple) else (item, "global")
        return self(dtype, scope)
