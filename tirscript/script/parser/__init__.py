"""Reading scripts: Python source to IR by direct translation of the AST."""

from __future__ import annotations

from .entry import parse

__all__ = ["parse"]
