"""Slots for what points upward: printing, display, the python target, integer reasoning.

Nodes offer ``script()``, ``show()`` and ``to_python()``, index maps their inverse: these live in rooms that
import ``ir``.  Each slot names where its function is; it is imported on first use.
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
    "movie": "tirscript.display:movie",
    "linked": "tirscript.display:linked",
    "tensor_intrins": "tirscript.tensor_intrin:register_all",
    "tree": "tirscript.schedule.record.tree:tree_of_program",
    "tree_svg": "tirscript.display:tree_svg",
    "step_checker": "tirscript.testing.step_check:StepChecker",
    "specialize": "tirscript.script.specialize:specialize",
    "index_map_indices": "tirscript.arith.index_map:map_indices",
    "index_map_shape": "tirscript.arith.index_map:map_shape",
    "index_map_inverse": "tirscript.arith.index_map:inverse",
    "index_map_array": "tirscript.arith.index_map:map_array",
    "index_map_equivalent": "tirscript.arith.index_map:equivalent",
}
_filled: dict[str, Any] = {}


def call(slot: str, *args: Any, **kwargs: Any) -> Any:
    """Call the function of the slot."""
    function = _filled.get(slot)
    if function is None:
        module, _, name = _WHERE[slot].partition(":")
        function = _filled[slot] = getattr(importlib.import_module(module), name)
    return function(*args, **kwargs)
