"""Names and string literals as they may stand in a script."""

from __future__ import annotations

import keyword
import re
import unicodedata
from functools import lru_cache

# What a name in a script must not hide.
RESERVED = frozenset({*keyword.kwlist, "T", "I", "cls", "range"})

_NOT_WORD = re.compile(r"\W")


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """``name`` as a Python identifier; Python reads identifiers in normal form, so this does too.

    >>> identifier("A.local"), identifier("1st"), identifier("")
    ('A_local', 'v1st', 'v')
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    if name.isidentifier():
        return name
    name = _NOT_WORD.sub("_", name)
    return name if name.isidentifier() else f"v{name}" if f"v{name}".isidentifier() else _ascii(name)


def _ascii(name: str) -> str:
    return "v" + "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)


def function_name(name: str) -> str:
    """``name`` as it may stand after ``def``.

    >>> function_name("fused.add"), function_name("for")
    ('fused_add', 'for_1')
    """
    name = identifier(name)
    return f"{name}_1" if name in RESERVED else name


def quote(text: str) -> str:
    """``text`` as a Python literal in double quotes.

    >>> print(quote("global"), quote('a "b"'), quote("it's"))
    "global" "a \\"b\\"" "it's"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    # With a double quote in front, repr always chooses single ones outside.
    body = repr('"' + text)[2:-1]
    parts = [p.replace("\\'", "'").replace('"', '\\"') for p in body.split("\\\\")]
    return '"' + "\\\\".join(parts) + '"'
