"""Slots for what points upward: printing, display, the python target.

Nodes offer ``script()``, ``show()`` and ``to_python()``, which live in rooms that import ``ir``.  Each
slot names where its function is; it is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "script": "tirscript.script.printer:script",
    "render": "tirscript.script.printer:render",
    "show": "tirscript.display:show",
    "to_python": "tirscript.codegen.python:to_python",
    "mimebundle": "tirscript.display:mimebundle",
    "specialize": "tirscript.script.specialize:specialize",
}
_filled: dict[str, Any] = {}


def call(slot: str, *args: Any, **kwargs: Any) -> Any:
    """Call the function of the slot."""
    function = _filled.get(slot)
    if function is None:
        module, _, name = _WHERE[slot].partition(":")
        function = _filled[slot] = getattr(importlib.import_module(module), name)
    return function(*args, **kwargs)
