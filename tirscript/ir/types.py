"""Types as objects, as TVM's programs name them.  Inside tirscript a type is a dtype string and, of a
pointer, what it points to (``Var.pointee``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import dtype as dt


class Type:
    """The base of the types: equal where they say the same."""

    __slots__: tuple[str, ...] = ()

    def _key(self) -> tuple[Any, ...]:
        return (type(self).__name__, *[getattr(self, name) for name in type(self).__slots__])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def same_as(self, other: object) -> bool:
        """Whether it is this very object."""
        return self is other


class PrimType(Type):
    """The type of a scalar or vector.

    >>> PrimType("float32").dtype
    'float32'
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = dt.normalize(dtype)

    def __repr__(self) -> str:
        return f'T.PrimType("{self.dtype}")'


class PointerType(Type):
    """The type of a pointer to elements, in a storage scope.

    >>> PointerType(PrimType("float32"), "shared").storage_scope
    'shared'
    """

    __slots__ = ("element_type", "storage_scope")

    def __init__(self, element_type: Type, storage_scope: str = "global") -> None:
        if not isinstance(element_type, Type):
            raise TypeError(f'PointerType takes a type such as PrimType("float32"), not {element_type!r}')
        self.element_type = element_type
        self.storage_scope = storage_scope or "global"

    def __repr__(self) -> str:
        return f'PointerType({self.element_type!r}, "{self.storage_scope}")'


class TupleType(Type):
    """A tuple of types; the empty one is what a function returns that returns nothing."""

    __slots__ = ("fields",)

    def __init__(self, fields: Iterable[Type] = ()) -> None:
        self.fields = tuple(fields)

    def __repr__(self) -> str:
        return f"TupleType({list(self.fields)!r})"


class FuncType(Type):
    """The type of a function."""

    __slots__ = ("arg_types", "ret_type")

    def __init__(self, arg_types: Iterable[Type], ret_type: Type) -> None:
        self.arg_types = tuple(arg_types)
        self.ret_type = ret_type

    def __repr__(self) -> str:
        return f"FuncType({list(self.arg_types)!r}, {self.ret_type!r})"


_CODES = {"int": 0, "uint": 1, "bool": 1, "float": 2, "handle": 3, "void": 3, "bfloat": 4, "float8": 7}


class DataType(str):
    """A dtype string with its parts, as TVM has it.

    >>> t = DataType("float32x4")
    >>> t == "float32x4", t.bits, t.lanes, t.type_code, t.itemsize
    (True, 32, 4, 2, 4)
    """

    __slots__ = ()

    def __new__(cls, type_str: Any) -> DataType:
        return super().__new__(cls, dt.normalize(type_str))

    @property
    def bits(self) -> int:
        """The width of one lane."""
        return dt.info(self).bits

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return dt.info(self).lanes

    @property
    def type_code(self) -> int:
        """DLPack's number of the kind."""
        return _CODES[dt.info(self).code]

    @property
    def itemsize(self) -> int:
        """The bytes of one lane in memory."""
        return (dt.info(self).bits + 7) // 8


def type_of(e: Any) -> Type:
    """The type of an expression, as an object."""
    if e.dtype == "handle":
        pointee = getattr(e, "pointee", None)
        return PrimType("handle") if pointee is None else PointerType(PrimType(pointee[0]), pointee[1])
    return PrimType(e.dtype)


__all__ = ["DataType", "FuncType", "PointerType", "PrimType", "TupleType", "Type", "type_of"]
