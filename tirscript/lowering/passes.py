"""Passes as objects: over a whole module or over each function, alone or in sequence.

What runs is decided by the ``PassContext`` around: its opt_level, the passes that it leaves out, its
instruments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError, deep_recursion
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

from .context import PassContext

__all__ = ["ModulePass", "Pass", "PassInfo", "PrimFuncPass", "Sequential", "module_pass", "prim_func_pass"]


class PassInfo:
    """Name, level and requirements of a pass."""

    def __init__(
        self, opt_level: int, name: str, required: Iterable[str] = (), traceable: bool = False
    ) -> None:
        self.opt_level = opt_level
        self.name = name
        self.required = list(required)
        self.traceable = traceable

    def __repr__(self) -> str:
        return f"PassInfo(name={self.name!r}, opt_level={self.opt_level}, required={self.required!r})"


class Pass:
    """From a module to a module: ``p(mod)``; the module that is given is not changed."""

    def __init__(self, info: PassInfo) -> None:
        self.info = info

    def __call__(self, mod: IRModule) -> IRModule:
        """The module after the pass."""
        if isinstance(mod, PrimFunc):
            raise TirscriptError(
                f"the pass {self.info.name} takes an IRModule, not a PrimFunc", code="not-a-module",
                hint="tvm.IRModule.from_expr(func)",
            )  # fmt: skip
        if not isinstance(mod, IRModule):
            raise TirscriptError(
                f"the pass {self.info.name} takes an IRModule, not {type(mod).__name__}", code="not-a-module"
            )
        cx = PassContext.current()
        if not before(cx, mod, self.info):
            return mod
        with deep_recursion():
            new = self.run(mod, cx)
        if not isinstance(new, IRModule):
            raise TirscriptError(
                f"the pass {self.info.name} gives {type(new).__name__}, not an IRModule", code="not-a-module"
            )
        after(cx, new, self.info)
        return new

    def run(self, mod: IRModule, cx: PassContext) -> IRModule:
        """What the pass does."""
        raise NotImplementedError

    def __repr__(self) -> str:
        level = self.info.opt_level
        return f"Run {type(self).__name__} pass: {self.info.name} at the optimization level {level}"


def before(cx: PassContext, mod: IRModule, info: PassInfo) -> bool:
    """Tell the instruments that a pass begins; whether it may run."""
    asked = [f for i in cx.instruments if (f := getattr(i, "should_run", None)) is not None]
    if info.name not in cx.required_pass and not all(f(mod, info) is not False for f in asked):
        return False
    for i in cx.instruments:
        tell = getattr(i, "run_before_pass", None)
        if tell is not None:
            tell(mod, info)
    return True


def after(cx: PassContext, mod: IRModule, info: PassInfo) -> None:
    """Tell the instruments that a pass has run."""
    for i in cx.instruments:
        tell = getattr(i, "run_after_pass", None)
        if tell is not None:
            tell(mod, info)


class ModulePass(Pass):
    """``transform(mod, ctx)``"""

    def __init__(self, transform: Callable[[IRModule, PassContext], IRModule], info: PassInfo) -> None:
        super().__init__(info)
        self._transform = transform

    def run(self, mod: IRModule, cx: PassContext) -> IRModule:
        return self._transform(mod, cx)


class PrimFuncPass(Pass):
    """``transform(func, mod, ctx)`` of each function; None leaves the function out."""

    def __init__(self, transform: Callable[[PrimFunc, IRModule, PassContext], Any], info: PassInfo) -> None:
        super().__init__(info)
        self._transform = transform

    def run(self, mod: IRModule, cx: PassContext) -> IRModule:
        new = mod.copy()
        for var, func in mod.functions_items():
            made = self._transform(func, new, cx)
            if made is None:
                del new[var]
            elif not isinstance(made, PrimFunc):
                raise TirscriptError(
                    f"the pass {self.info.name} gives {type(made).__name__}, not a PrimFunc",
                    code="not-a-function",
                )
            elif made is not func:
                new.update_func(var, made)
        return new


class Sequential(Pass):
    """Passes one after the other; those above the context's opt_level, and disabled ones, are left out.

    Source: TVM's ``tvm.transform.Sequential``.
    """

    def __init__(
        self,
        passes: Sequence[Callable[[IRModule], IRModule]] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Iterable[str] = (),
        traceable: bool = False,
    ) -> None:
        super().__init__(PassInfo(opt_level, name, required, traceable))
        self.passes = list(passes or ())
        for p in self.passes:
            if not callable(p):
                raise TirscriptError(f"a sequence is made of passes, not of {p!r}", code="not-a-pass")

    def run(self, mod: IRModule, cx: PassContext) -> IRModule:
        disabled = {n.rpartition(".")[2] for n in cx.disabled_pass}
        for p in self.passes:
            info = getattr(p, "info", None)
            if info is not None and info.name not in cx.required_pass:
                if info.opt_level > cx.opt_level or info.name.rpartition(".")[2] in disabled:
                    continue
            mod = p(mod)
        return mod


def _decorated(
    make: Callable[[Callable[..., Any], PassInfo], Pass], pass_func: Any, opt_level: int | None,
    name: str | None, required: Iterable[str] | None,
) -> Any:  # fmt: skip
    """A pass from a function, or a class of passes from a class, now or as a decorator."""
    if opt_level is None:
        raise TirscriptError("a pass needs an opt_level", code="arity", hint="@module_pass(opt_level=0)")

    def decorate(given: Any) -> Any:
        info = PassInfo(opt_level, name or given.__name__, required or ())
        if not isinstance(given, type):
            return make(given, info)
        method = next((m for m in ("transform_module", "transform_function") if hasattr(given, m)), None)
        if method is None:
            raise TirscriptError(
                f"the class {given.__name__} has no method transform_module or transform_function",
                code="not-a-pass",
            )

        @functools.wraps(given, updated=())
        def construct(*args: Any, **kwargs: Any) -> Pass:
            own = given(*args, **kwargs)
            return make(getattr(own, method), info)

        return construct

    return decorate if pass_func is None else decorate(pass_func)


def module_pass(
    pass_func: Any = None, opt_level: int | None = None, name: str | None = None,
    required: Iterable[str] | None = None, traceable: bool = False,
) -> Any:  # fmt: skip
    """A pass over modules from ``f(mod, ctx)``, or from a class with ``transform_module(self, mod, ctx)``.

    >>> @module_pass(opt_level=0)
    ... def nothing(mod, ctx):
    ...     return mod
    >>> nothing.info.name
    'nothing'

    Source: TVM's ``tvm.transform.module_pass``.
    """
    return _decorated(ModulePass, pass_func, opt_level, name, required)


def prim_func_pass(
    pass_func: Any = None, opt_level: int | None = None, name: str | None = None,
    required: Iterable[str] | None = None, traceable: bool = False,
) -> Any:  # fmt: skip
    """A pass over functions from ``f(func, mod, ctx)``, or from a class with ``transform_function``.

    >>> @prim_func_pass(opt_level=0)
    ... def marked(func, mod, ctx):
    ...     return func.with_attr("marked", True)
    >>> marked.info.name
    'marked'

    Source: TVM's ``tvm.tir.transform.prim_func_pass``.
    """
    return _decorated(PrimFuncPass, pass_func, opt_level, name, required)
