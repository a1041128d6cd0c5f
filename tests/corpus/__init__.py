"""Programs of different kinds that use every row of the language, in both spellings.

A theme is a module with a string ``TEXT``: each program stands under a line ``#: name flag flag``.

* ``run``: builds on LLVM and on the python target, with equal results;
* ``tvm27``: written in the dialect of TVM 0.27;
* ``ints=lo:hi``: the range of random integer inputs; ``floats=lo:hi`` likewise; ``size=n``: symbolic extents;
* ``lossy``: warns of a lost precision, ``axis`` of an axis that is not covered, ``bounds`` of a bad access.

What cannot stand alone as text is made by functions that a theme lists in ``MADE``.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

THEMES = (
    "buffers", "loops", "blocks", "statements", "expressions", "mathematics", "intrinsics", "dtypes",
    "metaprogramming", "modules", "gpu", "kernels", "algorithms", "symbolic", "tvm27",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One program of the corpus: a text, or a function that makes the program."""

    name: str
    theme: str
    source: str | Callable[[], Any]
    flags: frozenset[str] = frozenset()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def executable(self) -> bool:
        return "run" in self.flags

    @property
    def dialect(self) -> str:
        return "tvm-0.27" if "tvm27" in self.flags else "tirscript"

    @property
    def text(self) -> str | None:
        return self.source if isinstance(self.source, str) else None

    def program(self) -> Any:
        """The parsed program: a PrimFunc or an IRModule."""
        from tirscript.script.parser import parse

        with warnings.catch_warnings():
            if self.flags & {"lossy", "axis", "bounds"}:
                warnings.simplefilter("ignore")
            if isinstance(self.source, str):
                return parse(self.source, self.options.get("extra_vars"))
            return self.source()


def _range(text: str) -> tuple[float, float]:
    low, high = text.split(":")
    return float(low), float(high)


def _option(text: str) -> tuple[str, Any]:
    key, _, value = text.partition("=")
    return key, int(value) if key == "size" else _range(value)


def _entries(theme: str) -> list[Entry]:
    module = importlib.import_module(f"{__name__}.{theme}")
    found: list[Entry] = []
    for part in getattr(module, "TEXT", "").split("\n#: ")[1:]:
        head, _, text = part.partition("\n")
        name, *words = head.split()
        flags = frozenset(w for w in words if "=" not in w)
        options = dict(_option(w) for w in words if "=" in w)
        found.append(Entry(name, theme, text.strip() + "\n", flags, options))
    made = getattr(module, "MADE", ())
    return found + [Entry(f.__name__, theme, f, frozenset(getattr(f, "flags", ()))) for f in made]


def _load() -> dict[str, Entry]:
    out: dict[str, Entry] = {}
    for theme in THEMES:
        for entry in _entries(theme):
            if entry.name in out:
                raise ValueError(f"two corpus programs are called {entry.name}")
            out[entry.name] = entry
    return out


CORPUS: dict[str, Entry] = _load()
