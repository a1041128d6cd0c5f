"""Lowering: programs with blocks become loops over flat memory, pass by pass."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import LowerError, TirscriptError, deep_recursion, did_you_mean
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

from .bind_callees import bind_callees
from .context import PassContext
from .pipeline import CHECKED_PASSES, PASSES, Pass

__all__ = ["PASSES", "PassContext", "lower_function", "lower_module", "pass_names"]


# Where TVM's pass has another name.
_ALIASES = {
    "planandupdatebufferallocationlocation": "planbufferallocation",
    "compactbufferallocation": "planbufferallocation",
    "unifythreadbinding": "lowerthreadbinding",
    "stmtsimplify": "simplify",
}


def pass_names() -> tuple[str, ...]:
    """The names that ``stop_after`` takes, in order."""
    return tuple([p.__name__ for p in PASSES])


def _until(stop_after: str | None) -> tuple[Pass, ...]:
    if stop_after is None:
        return PASSES
    # TVM's spelling, LowerInitBlock, is accepted too.
    wanted = stop_after.replace("_", "").lower() if isinstance(stop_after, str) else stop_after
    wanted = _ALIASES.get(wanted, wanted)
    for i, p in enumerate(PASSES):
        if p.__name__.replace("_", "") == wanted:
            return PASSES[: i + 1]
    raise LowerError(
        f"there is no pass `{stop_after}`; the passes are {', '.join(pass_names())}",
        code="unknown-pass",
        hint=did_you_mean(str(stop_after), pass_names()),
    )


def lower_function(func: PrimFunc, stop_after: str | None = None) -> PrimFunc:
    """``func`` after the passes, up to and with ``stop_after``."""
    with deep_recursion():
        for p in _until(stop_after):
            func = p(func)
    return func


def _lower_in_context(mod: IRModule, passes: tuple[Pass, ...], cx: PassContext, *, whole: bool) -> IRModule:
    """The module after the passes as the ``PassContext`` wants them, one pass over all functions each."""
    from .configured import run

    new = mod.copy()
    for var, func in mod.functions_items():
        new.update_func(var, bind_callees(mod, func))
    return run(new, passes, cx, whole=whole)


def lower_module(mod: IRModule, target: Any = None, stop_after: str | None = None) -> IRModule:
    """The module after the passes, up to and with ``stop_after``; the given module is not changed."""
    passes = _until(stop_after)
    if target is not None and getattr(target, "kind", "") == "llvm" and target.get("checked"):
        passes = tuple([p for p in CHECKED_PASSES if p in passes or p is CHECKED_PASSES[-1]])
    cx = PassContext.current()
    new = mod.copy()
    with deep_recursion():
        if not cx.plain:
            return _lower_in_context(mod, passes, cx, whole=stop_after is None)
        for var, func in mod.functions_items():
            if not isinstance(func, PrimFunc):
                raise TirscriptError(f"`{var.name}` is no PrimFunc", code="not-a-function")
            func = bind_callees(mod, func)
            for p in passes:
                func = p(func)
            new.update_func(var, func)
    return new
