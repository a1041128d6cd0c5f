"""Modules: tables of functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tirscript.diagnostics import TirscriptError, did_you_mean

from . import hooks
from .expr import GlobalVar
from .function import PrimFunc
from .printable import Printable


class UnknownFunction(TirscriptError, KeyError):
    """A module has no function of that name."""

    default_code = "unknown-function"


class IRModule(Printable):
    """A table of immutable functions, in order; ``mod["f"] = g`` and ``update_func`` change it.

    Equality is identity: see ``structural_equal``.
    """

    __slots__ = ("__weakref__", "_table", "attrs")

    def __init__(
        self,
        functions: Mapping[Any, PrimFunc] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self._table: dict[str, tuple[GlobalVar, PrimFunc]] = {}
        self.attrs: dict[str, Any] = dict(attrs or {})
        for key, function in (functions or {}).items():
            self.update_func(key, function)

    @staticmethod
    def from_expr(function: PrimFunc) -> IRModule:
        """A module with one function, named by its ``global_symbol``, else ``main``."""
        return IRModule({function.name: function})

    def tree(self) -> Any:
        """The loops and blocks as a tree: extents, kinds, bindings, reads and writes, storage scopes."""
        return hooks.call("tree", self)

    def to_python(self, *, checked: bool | str = False) -> str:
        """The functions as plain Python loops over NumPy arrays."""
        text: str = hooks.call("to_python", self, checked=checked)
        return text

    def linked(self, target: Any = "llvm", **options: Any) -> Any:
        """Script, lowered script, LLVM IR and assembly with the lines that belong together.

        The options are those of ``tirscript.display.linked``.
        """
        return hooks.call("linked", self, target, **options)

    def update_func(self, var: GlobalVar | str, function: PrimFunc) -> None:
        """Set the function of that name."""
        if not isinstance(function, PrimFunc):
            raise TirscriptError(
                f"a module holds PrimFuncs, not {type(function).__name__}", code="not-a-function"
            )
        name = var if isinstance(var, str) else var.name
        old = self._table.get(name)
        key = var if isinstance(var, GlobalVar) else old[0] if old else GlobalVar(name)
        self._table[name] = (key, function)

    def get_global_var(self, name: str) -> GlobalVar:
        return self._lookup(name)[0]

    def get_global_vars(self) -> list[GlobalVar]:
        return [var for var, _ in self._table.values()]

    @property
    def functions(self) -> dict[GlobalVar, PrimFunc]:
        """A copy of the table."""
        return dict(self._table.values())

    def functions_items(self) -> list[tuple[GlobalVar, PrimFunc]]:
        return list(self._table.values())

    def names(self) -> list[str]:
        return list(self._table)

    def items(self) -> list[tuple[str, PrimFunc]]:
        return [(name, function) for name, (_, function) in self._table.items()]

    def copy(self) -> IRModule:
        """A module with the same functions and names."""
        new = IRModule(attrs=self.attrs)
        new._table = dict(self._table)
        return new

    clone = copy

    def get_attr(self, attr_key: str) -> Any:
        """The attribute, None where there is none."""
        return self.attrs.get(attr_key)

    def with_attrs(self, attr_map: Mapping[str, Any]) -> IRModule:
        """A module with all of these attributes set."""
        new = self.copy()
        new.attrs.update(attr_map)
        return new

    def without_attr(self, attr_key: str) -> IRModule:
        """A module without the attribute."""
        new = self.copy()
        new.attrs.pop(attr_key, None)
        return new

    @property
    def global_infos(self) -> dict[str, Any]:
        """The global infos, by kind."""
        return dict(self.attrs.get("global_infos", {}))

    def update(self, other: IRModule | Mapping[Any, PrimFunc]) -> None:
        """Put the functions of another module into this one; of two with one name the other's stays."""
        table = other.functions if isinstance(other, IRModule) else other
        for var, function in table.items():
            self.update_func(var, function)

    def remove(self, var: GlobalVar | str) -> None:
        """Take a function out of the table."""
        del self[var]

    def with_attr(self, key: str, value: Any) -> IRModule:
        new = self.copy()
        new.attrs[key] = value
        return new

    def _lookup(self, name: str | GlobalVar) -> tuple[GlobalVar, PrimFunc]:
        key = name if isinstance(name, str) else name.name
        found = self._table.get(key)
        if found is None and key == "main" and len(self._table) == 1:
            found = next(iter(self._table.values()))
        if found is None:
            raise UnknownFunction(
                f"the module has no function `{key}`; it has {', '.join(self._table) or 'none'}",
                hint=did_you_mean(key, self._table),
            )
        return found

    def __getitem__(self, name: str | GlobalVar) -> PrimFunc:
        return self._lookup(name)[1]

    def __setitem__(self, name: str | GlobalVar, function: PrimFunc) -> None:
        self.update_func(name, function)

    def __delitem__(self, name: str | GlobalVar) -> None:
        del self._table[self._lookup(name)[0].name]

    def __contains__(self, name: str | GlobalVar) -> bool:
        return (name if isinstance(name, str) else name.name) in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)
