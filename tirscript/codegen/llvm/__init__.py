"""Lowered IR to LLVM IR, written as text, and to code in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tirscript.ir.module import IRModule

from .module import Emitted, emit, emit_module
from .options import Options

__all__ = ["Emitted", "Options", "build_llvm", "emit", "emit_module"]


def build_llvm(
    mod: IRModule, target: Any = None, *, sources: Mapping[str, Callable[[], str]] | None = None
) -> Any:
    """A lowered module compiled and loaded: a ``runtime.Module``.  ``sources`` are further texts for its
    ``get_source``."""
    from tirscript.runtime.jit import Machine
    from tirscript.runtime.module import load_llvm

    made = emit_module(mod, target)
    options = made.options
    machine = Machine(options.cpu, options.features, options.triple, options.opt_level)
    return load_llvm(
        made.text,
        made.signatures,
        made.symbols,
        made.sites,
        machine=machine,
        externs=made.externs,
        parallel=made.parallel,
        target=target,
        sources=sources,
        debug_text=lambda: emit(mod, target, debug=True),
    )
