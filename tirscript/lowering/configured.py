"""What a ``PassContext`` adds to the passes: options that are passes of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.ir.expr import IntImm, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import AssertStmt, Evaluate, For, SeqStmt, Stmt, seq

from .context import MAY_BE_LEFT_OUT, PassContext, PassContextError
from .loop_partition import loop_partition
from .passes import Pass as ModuleLevel
from .passes import PassInfo, PrimFuncPass, after, before
from .pipeline import Pass
from .unroll_loop import leaves, unroll_loop
from .vectorize_loop import vectorize_loop


def serialize_vectors(func: PrimFunc) -> PrimFunc:
    """``vectorized`` loops become serial."""

    def visit(n: Any) -> Any:
        if not isinstance(n, Stmt):
            return n
        n = n.map_children(visit)
        return n.replace(kind="serial") if type(n) is For and n.kind == "vectorized" else n

    return func.map_children(visit)


def without(drop: Callable[[Any], bool]) -> Pass:
    """A pass that drops the statements of that kind."""
    gone: Stmt = Evaluate(const_int(0))

    def visit(n: Any) -> Any:
        if not isinstance(n, Stmt):
            return n
        if drop(n):
            return gone
        new = n.map_children(visit)
        if type(new) is SeqStmt and new is not n:
            kept = [s for s in new.seq if s is not gone]
            return seq(*kept) if kept else gone
        return new

    return lambda func: func.map_children(visit)


def skip_assert(func: PrimFunc) -> PrimFunc:
    """Asserts are dropped."""
    return without(lambda s: type(s) is AssertStmt)(func)


def auto_unroll(max_step: int, max_depth: int, max_extent: int) -> Pass:
    """Serial loops of constant extent become unrolled ones where the whole has at most ``max_step`` steps, or
    the loop at most ``max_extent`` iterations; ``max_depth`` limits how many of them nest."""

    def visit(n: Any) -> tuple[Any, int, int]:
        """The statement, the steps in it and the depth of loops to unroll in it."""
        if not isinstance(n, Stmt):
            return n, 0, 0
        below: list[tuple[int, int]] = []

        def child(c: Any) -> Any:
            new, steps, depth = visit(c)
            if isinstance(c, Stmt):
                below.append((steps, depth))
            return new

        n = n.map_children(child)
        steps, depth = sum([s for s, _ in below]) or 1, max([d for _, d in below], default=0)
        if type(n) is not For:
            return n, steps, depth
        extent = n.extent.value if isinstance(n.extent, IntImm) else None
        if extent is None:
            return n, max_step + 1, depth
        total = steps * max(extent, 0)
        small = total <= max_step or extent <= max_extent
        if n.kind == "serial" and small and depth < max_depth and not leaves(n.body):
            return n.replace(kind="unrolled"), total, depth + 1
        return n, total, depth + 1 if n.kind == "unrolled" else depth

    def auto_unroll(func: PrimFunc) -> PrimFunc:
        return func.replace(body=visit(func.body)[0])

    return auto_unroll


def without_constant_loops(func: PrimFunc) -> PrimFunc:
    """``loop_partition`` of loops whose extent is not constant."""
    return loop_partition(func, constant=False)


def with_noalias(value: bool) -> Pass:
    """``tir.noalias`` for functions that do not say it."""

    def noalias(func: PrimFunc) -> PrimFunc:
        return func if "tir.noalias" in func.attrs else func.with_attr("tir.noalias", value)

    return noalias


def configured(passes: tuple[Pass, ...], cx: PassContext, whole: bool) -> list[Pass | AddedPass]:
    """The passes as the context wants them; those of ``tir.add_lower_pass`` take and give modules."""
    unroll = cx.option("tir.UnrollLoop") or {}
    out: list[Pass | AddedPass] = [*_added(cx, 0)]
    if cx.option("tir.noalias") is not None:
        out.append(with_noalias(cx.option("tir.noalias")))
    if cx.option("tir.disable_assert"):
        out.append(skip_assert)
    for p in passes:
        if p is vectorize_loop and (cx.option("tir.disable_vectorize") or p.__name__ in cx.left_out):
            out.append(serialize_vectors)
        elif p is loop_partition and cx.option("tir.LoopPartition", "partition_const_loop") is not None:
            if p.__name__ not in cx.left_out:
                wanted = cx.option("tir.LoopPartition", "partition_const_loop")
                out.append(p if wanted else without_constant_loops)
        elif p is unroll_loop and unroll:
            step, extent = unroll.get("auto_max_step", 0), unroll.get("auto_max_extent", 0)
            if step or extent:
                out.append(auto_unroll(step, unroll.get("auto_max_depth", 8), extent))
            if unroll.get("explicit_unroll", True) and p.__name__ not in cx.left_out:
                out.append(p)
        elif p.__name__ not in cx.left_out:
            out.append(p)
        if p.__name__ == "flatten_buffer":
            out += _added(cx, 1)
        elif p is unroll_loop:
            out += _added(cx, 2)
    return [*out, *_added(cx, 3)] if whole else out


def unlowered(mod: IRModule, cx: PassContext) -> IRModule:
    """The module as a target takes it that runs programs as they are written.

    ``pass-context``: a pass is to run on what such a target does not make.
    """
    if cx.plain:
        return mod
    late = sorted([phase for phase, _ in cx.option("tir.add_lower_pass", default=()) if phase])
    if late:
        raise PassContextError(
            f"a pass of phase {late[0]} of `tir.add_lower_pass` runs on lowered loops, and the python target "
            "runs the program as it is written",
            hint="give the pass phase 0, or build for llvm",
        )
    return run(mod, (), cx, whole=True)


def _added(cx: PassContext, phase: int) -> list[AddedPass]:
    return [AddedPass(p) for at, p in cx.option("tir.add_lower_pass", default=()) if at == phase]


class AddedPass:
    """A pass that the user adds: a pass over modules, or a function of a PrimFunc."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.__name__ = getattr(getattr(given, "info", None), "name", getattr(given, "__name__", "added"))

    def over(self, mod: IRModule) -> IRModule:
        """The module after it."""
        if isinstance(self.given, ModuleLevel):
            return self.given(mod)
        own = PrimFuncPass(lambda func, _mod, _cx: self.given(func), PassInfo(0, self.__name__))
        return own.run(mod, PassContext.current())


def run(mod: IRModule, passes: tuple[Pass, ...], cx: PassContext, *, whole: bool) -> IRModule:
    """The module after the passes that the context wants; ``whole`` says that they go to the end."""
    for p in configured(passes, cx, whole):
        if isinstance(p, AddedPass):
            mod = p.over(mod)
            continue
        info = PassInfo(0, p.__name__)
        if cx.instruments and not before(cx, mod, info) and p.__name__ in MAY_BE_LEFT_OUT:
            continue
        new = mod.copy()
        for var, func in mod.functions_items():
            new.update_func(var, p(func))
        mod = new
        after(cx, mod, info)
    return mod
