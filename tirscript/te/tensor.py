"""Tensors: named results of operations, read by index."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import hooks, ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.equation import Equation
from tirscript.ir.expr import BufferLoad, Expr

if TYPE_CHECKING:
    from .operation import Operation


class TensorBuffer(Buffer):
    """The buffer that loads of a tensor name, until ``create_prim_func`` puts a real one in its place."""

    __slots__ = ("tensor",)
    tensor: Tensor


class Tensor:
    """A result of an operation: ``shape`` (a tuple of expressions), ``dtype``, ``name``, ``op``.

    ``A[i, j]`` and ``A(i, j)`` read an element; with fewer indices ``A[i]`` is a row, to be indexed on.
    Arithmetic on whole tensors broadcasts, by ``topi``.

    >>> from tirscript import te
    >>> A = te.placeholder((4, 8), name="A")
    >>> A[1, 2], A.ndim, A.dtype
    (A[1, 2], 2, 'float32')
    """

    def __init__(
        self,
        shape: tuple[Expr, ...],
        dtype: str,
        op: Operation,
        value_index: int = 0,
        name: str | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.op = op
        self.value_index = value_index
        self.name = op.name if name is None else name
        plain = make_buffer(self.name, shape, dtype)
        buffer = object.__new__(TensorBuffer)
        for field in Buffer._fields_:
            object.__setattr__(buffer, field, getattr(plain, field))
        object.__setattr__(buffer, "tensor", self)
        self.buffer = buffer

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        from tirscript.ir.expr import IntImm

        if not self.shape or not isinstance(self.shape[0], IntImm):
            raise TypeError(f"tensor {self.name} has no length that is known here")
        return self.shape[0].value

    __iter__ = None  # indexing would never end

    def __call__(self, *indices: Any) -> Expr:
        if len(indices) != self.ndim:
            raise TirscriptError(
                f"tensor {self.name} has {self.ndim} dimensions, {len(indices)} indices are given",
                code="index-count",
            )
        for i in indices:
            if isinstance(i, slice):
                raise TirscriptError(
                    f"tensor {self.name} is read element by element, not by slices",
                    code="slice",
                    hint="topi.strided_slice gives a part of a tensor",
                )
        return BufferLoad(self.buffer, tuple([ops.index(i) for i in indices]))

    def __getitem__(self, indices: Any) -> Any:
        items = indices if isinstance(indices, tuple) else (indices,)
        return self(*items) if len(items) >= self.ndim else TensorSlice(self, items)

    def asobject(self) -> Tensor:
        return self

    def astype(self, dtype: str) -> Tensor:
        """The tensor converted element by element."""
        return _topi("cast", self, dtype)  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def equal(self, other: Any) -> Any:
        """The element-by-element comparison, by ``topi``."""
        return _topi("equal", self, other)

    def as_expression(self) -> Expr:
        if self.ndim == 0:
            return self()
        raise TirscriptError(
            f"tensor {self.name} of {self.ndim} dimensions stands where an element is wanted",
            code="not-an-expression",
            hint=f"read an element: {self.name}[{', '.join('ijklmn'[: self.ndim])}]",
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    def __repr__(self) -> str:
        shape = ", ".join([repr(n) for n in self.shape])
        return f"Tensor(shape=[{shape}], op.name={self.name})"

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...


class TensorSlice:
    """A tensor with the first indices given: ``A[i]`` of a matrix."""

    __iter__ = None  # indexing would never end

    def __init__(self, tensor: Tensor, indices: tuple[Any, ...]) -> None:
        self.tensor = tensor
        self.indices = indices

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    def __getitem__(self, indices: Any) -> Any:
        more = indices if isinstance(indices, tuple) else (indices,)
        return self.tensor[(*self.indices, *more)]

    def as_expression(self) -> Expr:
        return self.tensor(*self.indices)

    asobject = as_expression

    def __repr__(self) -> str:
        return f"{self.tensor.name}[{', '.join([repr(i) for i in self.indices])}]"


def _topi(name: str, *args: Any) -> Any:
    return getattr(importlib.import_module("tirscript.topi"), name)(*args)


def _operator(topi_name: str, *, swapped: bool = False) -> Any:
    def apply(self: Tensor, other: Any) -> Any:
        if isinstance(other, (Tensor, Expr, Equation, TensorSlice, int, float)):
            return _topi(topi_name, other, self) if swapped else _topi(topi_name, self, other)
        return NotImplemented

    return apply


for _name, _topi_name in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "floor_mod", "pow": "power", "lshift": "left_shift", "rshift": "right_shift",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _operator(_topi_name))
    setattr(Tensor, f"__r{_name}__", _operator(_topi_name, swapped=True))
for _name, _topi_name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Tensor, f"__{_name}__", _operator(_topi_name))
for _name, _topi_name in {"neg": "negative", "invert": "bitwise_not"}.items():
    setattr(Tensor, f"__{_name}__", lambda self, _f=_topi_name: _topi(_f, self))
