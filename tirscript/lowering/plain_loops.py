"""Checked builds run vectorized and unrolled loops one iteration after the other."""

from __future__ import annotations

from typing import Any

from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import For, Stmt


def plain_loops(func: PrimFunc) -> PrimFunc:
    """``vectorized`` and ``unrolled`` loops become serial, so that every check can name its iteration."""
    return func.map_children(_visit)


def _visit(n: Any) -> Any:
    if not isinstance(n, Stmt):
        return n
    n = n.map_children(_visit)
    if type(n) is For and n.kind in ("vectorized", "unrolled"):
        return n.replace(kind="serial")
    return n
