"""TVM's ``tir.transform``: the passes of lowering, each over a module; those that are not here say so.

A pass of TVM that has a counterpart in ``tirscript.lowering`` does that one's work.  The passes keep the
meaning of the program; what the result looks like is tirscript's: memory is flat ``T.allocate``, say.

>>> import tirscript as tvm
>>> f = tvm.from_source('''
... @T.prim_func
... def f(A: T.Buffer((8,), "float32")):
...     for i in T.unroll(2):
...         A[i + 0] = A[i] + T.float32(1)
... ''')
>>> mod = tvm.IRModule.from_expr(f)
>>> print(tvm.transform.Sequential([UnrollLoop(), Simplify()])(mod)["f"].script())
# from tirscript.script import tir as T
<BLANKLINE>
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[0] = A[0] + T.float32(1)
    A[1] = A[1] + T.float32(1)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tirscript.ir.expr import Call
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import BufferStore, Evaluate
from tirscript.lowering.configured import (
    auto_unroll,
    serialize_vectors,
    skip_assert,
    without,
    without_constant_loops,
)
from tirscript.lowering.context import OTHER_PASSES, PASS_NAMES, PassContext
from tirscript.lowering.order import check_order
from tirscript.lowering.passes import ModulePass, Pass, PassInfo, PrimFuncPass, prim_func_pass
from tirscript.notyet import absent

function_pass = prim_func_pass


def _over(name: str, transform: Callable[[PrimFunc], PrimFunc]) -> Pass:
    def ordered(func: PrimFunc, mod: IRModule, cx: PassContext) -> PrimFunc:
        check_order(name, func)
        return transform(func)

    return PrimFuncPass(ordered, PassInfo(0, f"tir.{name}"))


# Where a pass sees less than TVM's does.
_NOTES = {
    "plan_buffer_allocation": "\n\n    Memory of blocks stays where it is until `LowerOpaqueBlock` has run.",
}


def _ours(name: str) -> Callable[..., Pass]:
    """The function that makes the pass, as TVM spells it."""
    own = PASS_NAMES[name]

    def make() -> Pass:
        return _over(name, getattr(importlib.import_module(f"tirscript.lowering.{own}"), own))

    note = _NOTES.get(own, "")
    doc = getattr(importlib.import_module(f"tirscript.lowering.{own}"), own).__doc__
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{doc}{note}\n\n    Source: TVM's ``tir.transform.{name}``."
    return make


def CompactBufferAllocation(is_strict: bool = True) -> Pass:
    """Memory is allocated where it is used, and only as much as is used there.

    Source: TVM's ``tir.transform.CompactBufferAllocation``.
    """
    return _ours("CompactBufferAllocation")()


def VectorizeLoop(enable_vectorize: bool = True) -> Pass:
    """Vectorized loops become vector expressions; ``enable_vectorize=False`` makes them serial.

    Source: TVM's ``tir.transform.VectorizeLoop``.
    """

    def transform(func: PrimFunc, mod: IRModule, cx: PassContext) -> PrimFunc:
        from tirscript.lowering.vectorize_loop import vectorize_loop

        plain = not enable_vectorize or cx.option("tir.disable_vectorize")
        if not plain:
            check_order("VectorizeLoop", func)
        return serialize_vectors(func) if plain else vectorize_loop(func)

    return PrimFuncPass(transform, PassInfo(0, "tir.VectorizeLoop"))


def UnrollLoop() -> Pass:
    """Unrolled loops are written out; the option ``tir.UnrollLoop`` says which others are.

    Source: TVM's ``tir.transform.UnrollLoop``.
    """

    def transform(func: PrimFunc, mod: IRModule, cx: PassContext) -> PrimFunc:
        from tirscript.lowering.unroll_loop import unroll_loop

        said = cx.option("tir.UnrollLoop") or {}
        step, extent = said.get("auto_max_step", 0), said.get("auto_max_extent", 0)
        if step or extent:
            func = auto_unroll(step, said.get("auto_max_depth", 8), extent)(func)
        return unroll_loop(func) if said.get("explicit_unroll", True) else func

    return PrimFuncPass(transform, PassInfo(0, "tir.UnrollLoop"))


def LoopPartition() -> Pass:
    """Loops are cut where a guard in them begins or ceases to hold; the option ``tir.LoopPartition`` with
    ``partition_const_loop=False`` leaves loops of constant extent whole.

    Source: TVM's ``tir.transform.LoopPartition``.
    """

    def transform(func: PrimFunc, mod: IRModule, cx: PassContext) -> PrimFunc:
        from tirscript.lowering.loop_partition import loop_partition

        constant = cx.option("tir.LoopPartition", "partition_const_loop", True)
        return loop_partition(func) if constant else without_constant_loops(func)

    return PrimFuncPass(transform, PassInfo(0, "tir.LoopPartition"))


def SkipAssert() -> Pass:
    """Asserts are dropped.

    Source: TVM's ``tir.transform.SkipAssert``.
    """
    return _over("SkipAssert", skip_assert)


def RemoveAssume() -> Pass:
    """``T.assume`` as a statement is dropped.

    Source: TVM's ``tir.transform.RemoveAssume``.
    """
    return _over("RemoveAssume", without(lambda s: type(s) is Evaluate and _calls(s.value, "assume")))


def RemoveStoreUndef() -> Pass:
    """Stores of ``T.undef()`` are dropped.

    Source: TVM's ``tir.transform.RemoveStoreUndef``.
    """
    return _over("RemoveStoreUndef", without(lambda s: type(s) is BufferStore and _calls(s.value, "undef")))


def _calls(e: Any, op: str) -> bool:
    return type(e) is Call and e.op == op


def BindTarget(target: Any) -> Pass:
    """Functions that say no target get this one.

    Source: TVM's ``tir.transform.BindTarget``.
    """
    from tirscript.target import Target

    made = target if isinstance(target, Target) else Target(target)
    return _over("BindTarget", lambda f: f if "target" in f.attrs else f.with_attr("target", made))


def AnnotateEntryFunc() -> Pass:
    """The only function of a module gets the attribute ``tir.is_entry_func``.

    Source: TVM's ``tir.transform.AnnotateEntryFunc``.
    """

    def mark(mod: IRModule, cx: PassContext) -> IRModule:
        if len(mod) != 1:
            return mod
        new = mod.copy()
        var, func = mod.functions_items()[0]
        new.update_func(var, func.with_attr("tir.is_entry_func", True))
        return new

    return ModulePass(mark, PassInfo(0, "tir.AnnotateEntryFunc"))


def Filter(fcond: Callable[[PrimFunc], bool]) -> Pass:
    """Functions for which ``fcond`` does not hold are left out.

    Source: TVM's ``tir.transform.Filter``.
    """
    keep = lambda func, mod, cx: func if fcond(func) else None  # noqa: E731
    return PrimFuncPass(keep, PassInfo(0, "tir.Filter"))


def Apply(ftransform: Callable[[PrimFunc], PrimFunc]) -> Pass:
    """``ftransform`` of each function.

    Source: TVM's ``tir.transform.Apply``.
    """
    return _over("Apply", ftransform)


_DEFINED = (
    "AnnotateEntryFunc", "Apply", "BindTarget", "CompactBufferAllocation", "Filter", "LoopPartition",
    "RemoveAssume", "RemoveStoreUndef", "SkipAssert", "UnrollLoop", "VectorizeLoop", "function_pass",
    "prim_func_pass",
)  # fmt: skip
_OURS = tuple([n for n in PASS_NAMES if n not in _DEFINED])
__all__ = sorted({*_DEFINED, *_OURS, "PrimFuncPass"})
_NOT_YET = OTHER_PASSES.union((
    "DefaultGPUSchedule", "HoistExpressionConfig", "HoistIfThenElseConfig", "HoistedConditionals",
    "HoistedLetBindings", "InjectDoubleBufferConfig", "LoopPartitionConfig", "LowerTIRx", "LowerTIRxOpaque",
    "RemoveNoOpConfig", "StmtSimplifyConfig", "TilePrimitiveDispatch", "UnrollLoopConfig", "VerifyMemory",
)) - set(__all__)  # fmt: skip


def __getattr__(name: str) -> Any:
    value = _ours(name) if name in _OURS else absent(__name__, name, __all__, _NOT_YET)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
