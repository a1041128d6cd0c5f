"""Where a script's Python names come from: the scopes around the definition, or what is given with a text."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable, Mapping
from typing import Any


class _Missing:
    def __repr__(self) -> str:
        return "<missing>"


MISSING: Any = _Missing()

# What a text may use of Python without being given it: nothing that reaches files, modules or internals.
SAFE_BUILTINS: dict[str, Any] = {
    name: getattr(builtins, name)
    for name in (
        "abs", "all", "any", "bin", "bool", "bytes", "chr", "dict", "divmod", "enumerate", "filter",
        "float", "format", "hash", "hex", "int", "isinstance", "len", "list", "map", "max", "min", "oct",
        "ord", "pow", "print", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum",
        "tuple", "zip",
    )
}  # fmt: skip


class Environment:
    """Mappings that are looked up one after the other.

    ``text_only`` marks the environment of a text: attributes that lead to Python's internals are refused
    there, since a text is data.
    """

    __slots__ = ("_cache", "maps", "text_only")

    def __init__(self, maps: Iterable[Mapping[str, Any]], *, text_only: bool = False) -> None:
        self.maps = tuple(maps)
        self.text_only = text_only
        self._cache: dict[str, Any] = {}

    def lookup(self, name: str) -> Any:
        """The value of ``name``, or MISSING."""
        value = self._cache.get(name, MISSING)
        if value is not MISSING:
            return value
        for m in self.maps:
            value = m.get(name, MISSING)
            if value is not MISSING:
                self._cache[name] = value
                return value
        return MISSING

    def names(self) -> list[str]:
        """All names but Python's own, for did-you-mean."""
        maps = [m for m in self.maps if "__build_class__" not in m]
        return [name for m in maps for name in m if not name.startswith("__")]

    def extended(self, first: Mapping[str, Any]) -> Environment:
        """The environment with one more, innermost mapping."""
        return Environment((first, *self.maps), text_only=self.text_only)


def of_function(function: types.FunctionType, frame: types.FrameType) -> Environment:
    """The names that ``function`` sees, ``frame`` being where it is defined.

    Closure cells come first; then the locals of the defining frame and of the frames of the functions
    around it, which hold names that only (string) annotations use; then globals and builtins.
    """
    cells: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not assigned yet: a name defined further down
            continue
    return Environment((cells, *frame_scopes(frame)))


def frame_scopes(frame: types.FrameType) -> list[Mapping[str, Any]]:
    """The scopes seen from ``frame``: its locals, those of the functions around, globals, builtins."""
    maps: list[Mapping[str, Any]] = []
    current: types.FrameType | None = frame
    while current is not None and current.f_locals is not current.f_globals:
        maps.append(dict(current.f_locals))
        current = _lexical_parent(current)
    maps.append(frame.f_globals)
    maps.append(frame.f_builtins)
    return maps


def _lexical_parent(frame: types.FrameType) -> types.FrameType | None:
    """The nearest calling frame whose code contains that of ``frame``."""
    code = frame.f_code
    parent = frame.f_back
    while parent is not None:
        if any(c is code for c in parent.f_code.co_consts):
            return parent
        parent = parent.f_back
    return None
