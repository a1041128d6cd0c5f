"""Pieces that would nest too deep become functions of their own.

Python 3.11 compiles at most 20 nested loops and 100 levels of indentation.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from . import build as py
from .names import OWN

# A loop nest is cut at every LOOPS-th loop, other statements at every LEVELS-th level.
LOOPS = 16
LEVELS = 60
_BUILTINS = frozenset(dir(builtins))


class Outliner:
    """Collects the functions that pieces were moved to."""

    def __init__(self, globals_: Callable[[], set[str]]) -> None:
        self.globals = globals_
        self.functions: list[ast.stmt] = []
        self.owner = "part"

    def outline(self, piece: ast.stmt) -> ast.stmt:
        """Move the statement into a function of the names it uses; the statement that calls it."""
        assigned: set[str] = set()
        loaded: dict[str, None] = {}
        for n in ast.walk(piece):
            if isinstance(n, ast.Name):
                if isinstance(n.ctx, ast.Store):
                    assigned.add(n.id)
                else:
                    loaded[n.id] = None
            elif isinstance(n, ast.arg):
                assigned.add(n.arg)
        known = assigned | self.globals() | OWN | _BUILTINS
        parameters = [v for v in loaded if v not in known]
        name = f"{self.owner}_part_{len(self.functions) + 1}"
        self.functions.append(py.function(name, parameters, [piece]))
        return ast.Expr(py.call(name, *[py.name(p) for p in parameters]))


def loose_jumps(piece: ast.stmt) -> bool:
    """Whether the piece breaks or continues a loop outside it, or returns."""
    stack: list[ast.AST] = [piece]
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Break, ast.Continue, ast.Return)):
            return True
        if not isinstance(n, (ast.For, ast.While)):
            stack += ast.iter_child_nodes(n)
        elif any(isinstance(m, ast.Return) for m in ast.walk(n)):
            return True
    return False
