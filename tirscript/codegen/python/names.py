"""Python names for variables and buffers: free among the visible ones, never a keyword."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable

# What generated code itself says.
OWN = frozenset({"np", "math", "product"})


def clean(text: str) -> str:
    """``text`` as an identifier.

    >>> clean("A.local"), clean("1x"), clean("class")
    ('A_local', '_1x', 'class_')
    """
    out = "".join([c if c.isalnum() or c == "_" else "_" for c in text]) or "_"
    if not out.isidentifier():
        out = f"_{out}"
    return f"{out}_" if keyword.iskeyword(out) else out


class Names:
    """The names in use; a scope gives its own back when it ends."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.reserved = frozenset(reserved) | OWN | frozenset(dir(builtins))
        self.used: set[str] = set()

    def new(self, wanted: str) -> str:
        base = clean(wanted)
        found, count = base, 0
        while found in self.used or found in self.reserved:
            count += 1
            found = f"{base}_{count}"
        self.used.add(found)
        return found

    def free(self, names: Iterable[str]) -> None:
        self.used.difference_update(names)
