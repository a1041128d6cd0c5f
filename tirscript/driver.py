"""From a program to loops (``lower``) and to something callable (``build``)."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import NotYetError, TargetError, TirscriptError
from tirscript.ir import hooks
from tirscript.ir.expr import Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import memo_of
from tirscript.target import Target

if TYPE_CHECKING:
    from tirscript.runtime import Module
    from tirscript.runtime.timing import Work

__all__ = ["build", "compile", "lower"]

_log = logging.getLogger("tirscript.build")

TargetLike = str | Mapping[str, Any] | Target | None


def lower(
    func_or_mod: PrimFunc | IRModule,
    target: TargetLike = "llvm",
    *,
    name: str | None = None,
    simple_mode: bool = False,
    stop_after: str | None = None,
) -> IRModule:
    """The module as loops over flat memory, as code is generated from it.

    ``stop_after`` names the last pass that runs; ``tirscript.lowering.pass_names()`` lists them.
    ``name`` renames the function where there is one; ``simple_mode`` is accepted for TVM's sake.

    >>> from tirscript.script import from_source
    >>> f = from_source('''
    ... @T.prim_func
    ... def twice(A: T.Buffer((2, 8), "float32")):
    ...     for i in range(2):
    ...         for j in T.vectorized(8):
    ...             A[i, j] = A[i, j] * T.float32(2)
    ... ''')
    >>> print(lower(f)["twice"].script())
    # from tirscript.script import tir as T
    <BLANKLINE>
    @T.prim_func
    def twice(A: T.Buffer((2, 8), "float32")):
        A_flat = T.decl_buffer((16,), data=A.data)
        for i in range(2):
            A_flat[i * 8:i * 8 + 8] = A_flat[i * 8:i * 8 + 8] * T.Broadcast(T.float32(2), 8)
    """
    from tirscript.lowering import lower_module

    mod = _snapshot(func_or_mod, name, "lower")
    chosen = _target(target)
    with _faults_of(mod, "lowering"):
        return lower_module(mod, chosen if chosen is not None else _of_functions(mod), stop_after)


def build(
    func_or_mod: PrimFunc | IRModule, target: TargetLike = "llvm", *, name: str | None = None
) -> Module:
    """A runtime module of the functions that have a name.

    ``target=None`` takes the target of the enclosing ``with``, else each function's ``target`` attribute,
    else ``llvm``.  The program is taken as it is now: later changes of the module do not matter.

    >>> import numpy as np
    >>> from tirscript.script import from_source
    >>> f = from_source('''
    ... @T.prim_func
    ... def twice(A: T.Buffer((4,), "float32")):
    ...     for i in range(4):
    ...         A[i] = A[i] * T.float32(2)
    ... ''')
    >>> a = np.arange(4, dtype="float32")
    >>> build(f, "python")(a)
    >>> a.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    start = time.perf_counter()
    mod = _snapshot(func_or_mod, name, "build")
    chosen = _target(target)
    if not len(mod):
        raise TirscriptError("the module has no functions to build", code="empty-module")
    groups: dict[Target, list[str]] = {}
    for key, func in mod.items():
        own = chosen if chosen is not None else _own_target(func)
        groups.setdefault(own, []).append(key)
    if not any(_exported(f) for _, f in mod.items()):
        if len(mod) != 1:
            raise TirscriptError(
                "all functions of the module are private, so nothing could be called",
                code="no-entry",
                hint="leave out private=True for those to be called from outside",
            )
        key, only = mod.items()[0]
        mod.update_func(key, only.with_attr("global_symbol", key))
    from tirscript.analysis.verify import check_bounds

    with _faults_of(mod, "building"):
        for func in mod.functions.values():
            check_bounds(func)
        built = [_BUILDERS[t.kind](_part(mod, names), _checked_build(t)) for t, names in groups.items()]
    module = built[0] if len(built) == 1 else _joined(built)
    if _log.isEnabledFor(logging.DEBUG):
        took = (time.perf_counter() - start) * 1e3
        _log.debug("built %s for %s in %.1f ms", ", ".join(mod.names()), module.target or "llvm", took)
    module.about = lambda key: _Known(mod, key)
    return module


compile = build


class _Known:
    """What is known of a function that was built: its work, by its own counts, and its last timing."""

    def __init__(self, mod: IRModule, name: str) -> None:
        self._mod = mod
        self._func = mod[name]
        self._name = name

    def work(self, args: Sequence[Any]) -> Callable[[], Work | None]:
        """What a call with these arguments does; counted when it is asked for."""
        from tirscript.arith.linear import to_linear

        sizes: dict[Any, int] = {}
        for p, value in zip(self._func.params, args, strict=False):
            buffer = self._func.buffer_map.get(p)
            if buffer is None:
                if hasattr(value, "__index__"):
                    sizes[p] = int(value)
                continue
            for n, given in zip(buffer.shape, getattr(value, "shape", ()), strict=False):
                lin = to_linear(n)
                if lin is not None and len(lin.terms) == 1:
                    ((v, k),) = lin.terms.items()
                    if isinstance(v, Var):
                        sizes.setdefault(v, (int(given) - lin.const) // k)

        def count() -> Work | None:
            from tirscript.analysis.cost import cost_of
            from tirscript.runtime.timing import Work

            cost = cost_of(self._mod, self._name)
            try:
                flops, moved = cost.flops.value(sizes), cost.traffic.value(sizes)
            except TirscriptError:
                return None  # a size that no argument says
            return Work(flops, moved, cost.flops.exact and cost.traffic.exact)

        return count

    def remember(self, timing: Any) -> None:
        """For ``show(cost=True)``."""
        memo_of(self._func)["timing"] = timing


def _checked_build(target: Target) -> Target:
    """The target with ``checked``, where the PassContext asks for bound checkers."""
    from tirscript.lowering.context import PassContext

    if not PassContext.current().option("tir.instrument_bound_checkers") or target.get("checked"):
        return target
    return Target({"kind": target.kind, **target.attrs, "checked": True})


@contextlib.contextmanager
def _faults_of(mod: IRModule, what: str) -> Iterator[None]:
    """Say what is wrong with a program that the passes stumble over, and own up where it is none."""
    try:
        yield
    except (TirscriptError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as e:
        from tirscript.ir.verify import verify

        faults = verify(mod)
        if faults:
            raise faults[0] from None
        names = ", ".join([f"`{n}`" for n in mod.names()])
        raise TirscriptError(
            f"internal error while {what} {names}: {type(e).__name__}: {e}",
            code="internal",
            hint="this is a defect of tirscript: please report the program",
        ) from e


def _snapshot(func_or_mod: Any, name: Any, what: str) -> IRModule:
    """A module of its own for what the user gave."""
    if isinstance(name, (list, tuple)):
        raise _tensor_expression(what)
    if isinstance(func_or_mod, PrimFunc):
        func = func_or_mod
        if name is not None:
            func = func.with_attr("global_symbol", _checked_name(name))
        return IRModule.from_expr(func)
    if isinstance(func_or_mod, IRModule):
        mod = func_or_mod.copy()
        if name is not None:
            if len(mod) != 1:
                raise TirscriptError(
                    f"`name` renames the only function of a module; this one has {len(mod)}", code="name"
                )
            only = mod.items()[0][1].with_attr("global_symbol", _checked_name(name))
            mod = IRModule({name: only}, mod.attrs)
        return mod
    if isinstance(func_or_mod, (list, tuple)):
        raise _tensor_expression(what)
    inner = getattr(func_or_mod, "mod", None)
    hint = None
    if isinstance(inner, IRModule):
        hint = f"{what}(sch.mod, ...)"
    elif type(func_or_mod).__module__.startswith("tirscript.te"):
        raise _tensor_expression(what)
    raise TirscriptError(
        f"{what} takes a PrimFunc or an IRModule, not {type(func_or_mod).__name__}",
        code="not-a-program",
        hint=hint,
    )


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TirscriptError(f"`name` is a non-empty string, not {name!r}", code="name")
    return name


def _tensor_expression(what: str) -> TirscriptError:
    return TirscriptError(
        f"{what} takes a program and a target, no list of tensors",
        code="tensor-expression",
        hint=f"make a function of them first: {what}(te.create_prim_func([A, B, C]))",
    )


def _target(target: Any) -> Target | None:
    """The target that is asked for; None where each function says its own."""
    if isinstance(target, (list, tuple)):
        raise _tensor_expression("build")
    if target is None:
        return Target.current()
    return target if isinstance(target, Target) else Target(target)


def _own_target(func: PrimFunc) -> Target:
    own = func.attrs.get("target")
    if own is None:
        return Target("llvm")
    try:
        return own if isinstance(own, Target) else Target(own)
    except TargetError as e:
        e.notes = [*e.notes, f"in the attribute `target` of `{func.name}`"]
        raise


def _of_functions(mod: IRModule) -> Target | None:
    targets = [_own_target(f) for _, f in mod.items()]
    return targets[0] if targets else None


def _exported(func: PrimFunc) -> bool:
    return "global_symbol" in func.attrs


def _part(mod: IRModule, names: list[str]) -> IRModule:
    """The module with the functions of one target."""
    if len(names) == len(mod):
        return mod
    part = IRModule(attrs=mod.attrs)
    for key in names:
        part.update_func(mod.get_global_var(key), mod[key])
    return part


def _build_llvm(mod: IRModule, target: Target) -> Module:
    from tirscript.codegen.llvm import build_llvm
    from tirscript.lowering import lower_module
    from tirscript.lowering.check_supported import check_supported
    from tirscript.runtime.cpus import check_machine

    if not target.get("mtriple"):
        check_machine(target.mcpu, str(target.get("mattr", "")))
    for func in mod.functions.values():
        check_supported(func)
    lowered = lower_module(mod, target)
    module: Module = build_llvm(lowered, target, sources={"script": lambda: _script(lowered)})
    return module


def _build_python(mod: IRModule, target: Target) -> Module:
    from tirscript.codegen.python import compile_python, to_python
    from tirscript.codegen.signature import signature_of
    from tirscript.lowering.configured import unlowered
    from tirscript.lowering.context import PassContext
    from tirscript.runtime import load_python

    mod = unlowered(mod, PassContext.current())
    option = target.get("checked", False)
    checked = option if isinstance(option, str) else bool(option)
    functions = compile_python(mod, checked=checked)
    signatures = {name: signature_of(f, name) for name, f in mod.items() if _exported(f)}
    return load_python(
        functions,
        signatures,
        target=target,
        sources={"script": lambda: _script(mod), "python": lambda: to_python(mod, checked=checked)},
    )


def _script(mod: IRModule) -> str:
    return str(hooks.call("script", mod))


def _not_yet(mod: IRModule, target: Target) -> Module:
    raise NotYetError(
        f"no code is generated for `{target.kind}` yet",
        code="not-yet-target",
        hint='build(mod, target="llvm") or target="python"',
    )


_BUILDERS: dict[str, Callable[[IRModule, Target], Module]] = {
    "llvm": _build_llvm,
    "python": _build_python,
    "cuda": _not_yet,
    "opencl": _not_yet,
    "metal": _not_yet,
}


def _joined(parts: list[Module]) -> Module:
    """One module of the functions that were built for several targets."""
    from tirscript.runtime import Module

    functions = {name: f for part in parts for name, f in part.functions.items()}
    targets = ", ".join(str(part.target) for part in parts)
    joined = Module(
        functions, targets, {"script": lambda: "\n\n".join([p.get_source("script") for p in parts])}
    )
    joined.imported_modules = list(parts)
    return joined
