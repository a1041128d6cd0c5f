"""Lowered IR to LLVM IR, written as text."""

from __future__ import annotations

from .module import Emitted, emit, emit_module
from .options import Options

__all__ = ["Emitted", "Options", "emit", "emit_module"]
