"""Functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import hooks
from .buffer import Buffer
from .expr import Expr, Var
from .node import Node, node
from .stmt import NONE, Annotations, Stmt

if TYPE_CHECKING:
    from tirscript.diagnostics import Span


@node
class PrimFunc(Node):
    """A function over buffers and scalars.

    ``params`` are scalar variables and pointers; ``buffer_map`` gives the buffer that is matched to a
    pointer.  ``ret_type`` is a dtype, ``"void"`` for a function that returns nothing.  ``attrs`` holds
    ``global_symbol`` for an exported function, ``tir.noalias``, ``target`` and what the user adds.
    """

    _child_: ClassVar[tuple[str, ...]] = ("body",)
    params: tuple[Var, ...]
    buffer_map: Mapping[Var, Buffer]
    body: Stmt
    ret_type: str = "void"
    attrs: Annotations = NONE
    span: Span | None = None
    _memo: Any = None

    @property
    def name(self) -> str:
        """The exported name, ``main`` for a private function."""
        return str(self.attrs.get("global_symbol", "main"))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers of the parameters, in order."""
        return tuple([self.buffer_map[p] for p in self.params if p in self.buffer_map])

    def with_attr(self, key: str | Mapping[str, Any], value: Any = None) -> PrimFunc:
        """The function with one attribute, or all of a mapping, set."""
        new = dict(key) if isinstance(key, Mapping) else {key: value}
        return self.replace(attrs={**self.attrs, **new})

    def with_attrs(self, attr_map: Mapping[str, Any]) -> PrimFunc:
        """The function with all of these attributes set."""
        return self.with_attr(attr_map)

    def same_as(self, other: object) -> bool:
        """Whether it is this very object."""
        return self is other

    def without_attr(self, key: str) -> PrimFunc:
        """The function without the attribute ``key``."""
        return self.replace(attrs={k: v for k, v in self.attrs.items() if k != key})

    def with_body(self, new_body: Stmt, span: Any = None) -> PrimFunc:
        """The function with another body."""
        return self.replace(body=new_body)

    def specialize(self, values: Mapping[Any, Any]) -> PrimFunc:
        """The function with parameters replaced by constants, or by buffers of known shape.

        Keys are parameters, or symbolic variables of their shapes, themselves or by name.
        """
        function: PrimFunc = hooks.call("specialize", self, values)
        return function

    def tree(self) -> Any:
        """The loops and blocks as a tree: extents, kinds, bindings, reads and writes, storage scopes."""
        return hooks.call("tree", self)

    def to_python(self, *, checked: bool | str = False) -> str:
        """The function as plain Python loops over NumPy arrays."""
        text: str = hooks.call("to_python", self, checked=checked)
        return text

    def linked(self, target: Any = "llvm", **options: Any) -> Any:
        """Script, lowered script, LLVM IR and assembly with the lines that belong together.

        The options are those of ``tirscript.display.linked``.
        """
        return hooks.call("linked", self, target, **options)


__all__ = ["Expr", "PrimFunc"]
