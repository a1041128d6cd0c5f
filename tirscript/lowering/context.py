"""``PassContext``: what a user may say about the passes, for the time of a ``with``.

Options are TVM's.  Each is in the table below: it has a meaning here, or it asks for what tirscript never
does (then it may be given), or for what it does not have (then it is a NotYetError).
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tirscript.diagnostics import NotYetError, TirscriptError, did_you_mean

__all__ = ["PassContext", "PassContextError", "canonical_pass"]


class PassContextError(TirscriptError, ValueError):
    """What is said to a PassContext cannot be."""

    default_code = "pass-context"


class _Option(NamedTuple):
    type: type
    doc: str
    # Values that ask for nothing special; None where every value has its meaning here.
    plain: tuple[Any, ...] | None = None


_OFF = (False, None, 0)
OPTIONS: dict[str, _Option] = {
    "tir.disable_vectorize": _Option(bool, "vectorized loops run one lane after the other"),
    "tir.disable_assert": _Option(bool, "asserts are dropped"),
    "tir.noalias": _Option(bool, "False: the arguments of functions may overlap"),
    "tir.instrument_bound_checkers": _Option(bool, "every access is checked while the program runs"),
    "tir.add_lower_pass": _Option(list, "pairs (phase, pass): 0 first, 1 on loops, 2 on vectors, 3 last"),
    "tir.UnrollLoop": _Option(dict, "auto_max_step, auto_max_depth, auto_max_extent, explicit_unroll"),
    "tir.LoopPartition": _Option(dict, "partition_const_loop: False leaves loops of constant extent whole"),
    "tir.Simplify": _Option(dict, "switches of TVM's simplifier: the one here knows what they add or not"),
    "tir.RemoveNoOp": _Option(dict, "switches of TVM's pass: the one here has none"),
    # These passes do not exist, so they are disabled.
    "tir.disable_cse_tir": _Option(bool, "there is no such pass: LLVM shares expressions"),
    "tir.disable_storage_rewrite": _Option(bool, "there is no such pass"),
    "tir.enable_equiv_terms_in_cse_tir": _Option(bool, "there is no such pass", _OFF),
    "tir.detect_global_barrier": _Option(bool, "there are no global barriers", _OFF),
    "tir.enable_debug": _Option(bool, "debug locations are always there"),
    "tir.debug_keep_trivial_loop": _Option(bool, "loops of extent 1 are kept", _OFF),
    "tir.use_async_copy": _Option(bool, "asynchronous copies", _OFF),
    "tir.merge_static_smem": _Option(bool, "shared memory of several buffers", _OFF),
    "tir.ptx_ldg32": _Option(bool, "loads of 32 bits in PTX", _OFF),
    "tir.vtcm_capacity": _Option(int, "memory of Hexagon", _OFF),
    "tir.instrument_lwp": _Option(bool, "profiling of Hexagon", _OFF),
    "tir.lwp_disable_func_prof": _Option(bool, "profiling of Hexagon", _OFF),
    "tir.lwp_max_depth": _Option(int, "profiling of Hexagon", _OFF),
    "tir.lwp_min_height": _Option(int, "profiling of Hexagon", _OFF),
    "tir.lwp_reset_depth": _Option(bool, "profiling of Hexagon", _OFF),
    "tir.experimental_dma_bypass_cache": _Option(bool, "memory of Hexagon", _OFF),
    "tir.dma_bypass_cache": _Option(bool, "memory of Hexagon", _OFF),
    "tir.enable_buffer_level_predication": _Option(bool, "predicates on vector accesses", _OFF),
    "tir.enable_buffer_predication": _Option(bool, "predicates on vector accesses", _OFF),
    "tir.HoistIfThenElse": _Option(dict, "conditions out of loops", ({}, None)),
    "tir.HoistExpression": _Option(dict, "expressions out of loops", ({}, None)),
    "tir.InjectDoubleBuffer": _Option(dict, "two buffers in turn", ({}, None)),
    "tir.InjectSoftwarePipeline": _Option(dict, "software pipelines", ({}, None)),
    "tir.ReduceBranchingThroughOvercompute": _Option(dict, "conditions by more work", ({}, None)),
    "tir.usmp.enable": _Option(bool, "memory planning", _OFF),
    "tir.usmp.algorithm": _Option(str, "memory planning", ()),
    "tir.usmp.custom_algorithm": _Option(str, "memory planning", ()),
    "tir.usmp.use_workspace_io": _Option(bool, "memory planning", _OFF),
}
_FIELDS: dict[str, dict[str, type]] = {
    "tir.UnrollLoop": {
        "auto_max_step": int, "auto_max_depth": int, "auto_max_extent": int, "explicit_unroll": int,
        "unroll_local_access": int,
    },
    "tir.LoopPartition": {
        "partition_const_loop": int, "no_unroll_loop_with_extent_one": int,
        "unroll_loop_with_partition_hint_no_interval": int,
    },
    "tir.Simplify": {
        "transitively_prove_inequalities": int, "propagate_knowns_to_prove_conditional": int,
        "propagate_knowns_to_simplify_expressions": int, "convert_boolean_to_and_of_ors": int,
        "apply_constraints_to_boolean_branches": int,
    },
    "tir.RemoveNoOp": {"use_dataflow_analysis": int, "max_simplification_steps": int},
}  # fmt: skip
# Options of rooms that are not here.
_ABSENT = (
    "relax.",
    "relay.",
    "meta_schedule.",
    "te.",
    "testing.",
    "tl.",
    "cuda.",
    "ethos-u",
    "backend.",
    "ir.",
)

# Our passes under TVM's names, and which of them may be left out.
PASS_NAMES: dict[str, str] = {
    "CanonicalizeLoop": "canonicalize_loop",
    "LowerInitBlock": "lower_init_block",
    "ConvertBlocksToOpaque": "convert_blocks_to_opaque",
    "LowerMatchBuffer": "lower_match_buffer",
    "LowerOpaqueBlock": "lower_opaque_block",
    "PlanAndUpdateBufferAllocationLocation": "plan_buffer_allocation",
    "CompactBufferAllocation": "plan_buffer_allocation",
    "FlattenBuffer": "flatten_buffer",
    "Simplify": "simplify",
    "StmtSimplify": "simplify",
    "LoopPartition": "loop_partition",
    "VectorizeLoop": "vectorize_loop",
    "UnrollLoop": "unroll_loop",
    "RemoveNoOp": "remove_no_op",
    "LowerThreadBinding": "lower_thread_binding",
    "SerializeDependentLoops": "serialize_dependent_loops",
    "CollectImports": "collect_imports",
}
MAY_BE_LEFT_OUT = {
    "plan_buffer_allocation", "simplify", "loop_partition", "vectorize_loop", "unroll_loop", "remove_no_op",
}  # fmt: skip
# TVM's passes that are not here: to disable one is to have what is there.
OTHER_PASSES = frozenset((
    "AnnotateDeviceRegions", "AnnotateEntryFunc", "AnnotateIrregularLoop", "Apply", "BF16ComputeLegalize",
    "BF16Legalize", "BF16StorageLegalize", "BindParams", "BindTarget", "CoProcSync", "CombineContextCall",
    "CommonSubexprElim", "CommonSubexprElimTIR", "ConvertForLoopsToSerial", "ConvertSSA",
    "DecorateDeviceScope",
    "DefaultGPUSchedule", "ExtractPrimFuncConstants", "FP8ComputeLegalize", "FP8StorageLegalize", "Filter",
    "ForceNarrowIndexToInt32", "HoistExpression", "HoistIfThenElse", "HoistIfThenElseBasic", "InferFragment",
    "InjectCopyIntrin", "InjectDoubleBuffer", "InjectPTXAsyncCopy", "InjectPTXLDG32", "InjectPermutedLayout",
    "InjectPrefetch", "InjectRollingBuffer", "InjectSoftwarePipeline", "InjectVirtualThread",
    "InlinePrivateFunctions", "InstrumentBoundCheckers", "InstrumentProfileIntrinsics", "LegalizePackedCalls",
    "LiftAttrScope", "LiftThreadBinding", "LowerAsyncDMA", "LowerAutoCopy", "LowerCrossThreadReduction",
    "LowerCustomDatatypes", "LowerDeviceKernelLaunch", "LowerDeviceStorageAccessInfo", "LowerIntrin",
    "LowerTVMBuiltin", "LowerThreadAllreduce", "LowerVtcmAlloc", "LowerWarpMemory", "MakePackedAPI",
    "MakeUnpackedAPI", "ManifestSharedMemoryLocalStage", "MergeDynamicSharedMemoryAllocations",
    "MergeSharedMemoryAllocations", "NarrowDataType", "PointerValueTypeRewrite", "PrintIR",
    "ReduceBranchingThroughOvercompute", "RemapThreadAxis", "RemoveAssume", "RemoveAssumeInternal",
    "RemoveStoreUndef", "RemoveWeightLayoutRewriteBlock", "RenewDefs", "RenormalizeSplitPattern",
    "RewriteUnsafeSelect", "SkipAssert", "SplitHostDevice", "StorageFlatten", "StorageRewrite",
    "TextureFlatten", "ThreadSync", "TransformMmaBufferLayout", "UnifiedStaticMemoryPlanner",
    "UnifyThreadBinding", "UseAssumeToReduceBranches", "VerifyGPUCode", "VerifyMemory", "VerifySSA",
    "VerifyVTCMLimit", "VerifyWellFormed",
))  # fmt: skip


def canonical_pass(name: Any) -> str | None:
    """Our pass of that name, in TVM's spelling or ours; None for one of TVM's that is not here.

    ``pass-context``: there is none.
    """
    own = str(name)
    for prefix in ("tir.", "tirx.", "s_tir.", "tir.transform.", "ir."):
        own = own.removeprefix(prefix)
    if own in PASS_NAMES:
        return PASS_NAMES[own]
    if own in PASS_NAMES.values():
        return own
    if own in OTHER_PASSES or str(name).startswith(("relax.", "relay.")):
        return None
    known = [f"tir.{n}" for n in (*PASS_NAMES, *OTHER_PASSES)]
    raise PassContextError(
        f"there is no pass `{name}`", code="unknown-pass", hint=did_you_mean(f"tir.{own}", known)
    )


class PassContext:
    """``with PassContext(config={"tir.disable_vectorize": True}): build(...)``.

    ``disabled_pass`` names passes that are left out; ``instruments`` are asked and told before and after
    each pass; ``opt_level`` is for passes of one's own, which say from which level on they run.

    >>> with PassContext(opt_level=3, config={"tir.disable_assert": True}):
    ...     PassContext.current().config
    {'tir.disable_assert': True}

    ``pass-context``: an unknown option or a value of another type; ``unknown-pass``: a name of no pass.

    Source: TVM's ``tvm.transform.PassContext``.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Sequence[Any] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(opt_level, bool) or not isinstance(opt_level, int) or not 0 <= opt_level <= 4:
            raise PassContextError(f"opt_level is a number from 0 to 4, not {opt_level!r}")
        self.opt_level = opt_level
        self.required_pass = _names("required_pass", required_pass)
        self.disabled_pass = _names("disabled_pass", disabled_pass)
        self.instruments = list(instruments or ())
        self.config = _checked(config)
        self.left_out = self._left_out()

    def _left_out(self) -> frozenset[str]:
        """Our passes that do not run."""
        own = {name: canonical_pass(name) for name in self.disabled_pass}
        for required in self.required_pass:
            canonical_pass(required)
        for said, name in own.items():
            if name is not None and name not in MAY_BE_LEFT_OUT:
                raise PassContextError(
                    f"the pass `{said}` is needed to make code",
                    code="needed-pass",
                    hint="these may be left out: " + ", ".join(sorted(MAY_BE_LEFT_OUT)),
                )
        out = {n for n in own.values() if n is not None}
        if "simplify" in out:
            out.add("final_simplify")
        return frozenset(out)

    @property
    def plain(self) -> bool:
        """Whether it changes nothing about the passes."""
        return not (self.config or self.left_out or self.instruments)

    def option(self, name: str, field: str | None = None, default: Any = None) -> Any:
        """The value of an option, or of a field of one that is a dict."""
        value = self.config.get(name)
        if field is not None:
            value = None if value is None else value.get(field)
        return default if value is None else value

    @staticmethod
    def current() -> PassContext:
        """The context of the innermost ``with``; one that says nothing where there is none."""
        stack = _stack.get()
        return stack[-1] if stack else _DEFAULT

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """The options that are known, with the type of each and what it means."""
        return {name: {"type": o.type.__name__, "doc": o.doc} for name, o in OPTIONS.items()}

    def override_instruments(self, instruments: Sequence[Any]) -> None:
        """Other instruments from now on; those that were there are told to leave."""
        self._tell("exit_pass_ctx")
        self.instruments = list(instruments)
        self._tell("enter_pass_ctx")

    def _tell(self, method: str) -> None:
        for instrument in self.instruments:
            f = getattr(instrument, method, None)
            if f is not None:
                f()

    def __enter__(self) -> PassContext:
        _stack.set((*_stack.get(), self))
        self._tell("enter_pass_ctx")
        return self

    def __exit__(self, *exc: object) -> None:
        _stack.set(_stack.get()[:-1])
        self._tell("exit_pass_ctx")

    def __repr__(self) -> str:
        return (
            f"PassContext(opt_level={self.opt_level}, disabled_pass={self.disabled_pass!r}, "
            f"config={self.config!r})"
        )


def _names(what: str, given: Any) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise PassContextError(f"{what} is a list of names, not {given!r}")
    return [str(n) for n in given]


def _checked(config: Any) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise PassContextError(f"config is a dict of options, not {type(config).__name__}")
    out: dict[str, Any] = {}
    for said, value in config.items():
        name = "tir." + said.partition(".")[2] if str(said).startswith(("tirx.", "s_tir.")) else str(said)
        if name not in OPTIONS and name.startswith(_ABSENT):
            raise NotYetError(f"tirscript does not have the option `{said}` yet", code="not-yet")
        option = OPTIONS.get(name)
        if option is None:
            raise PassContextError(
                f"there is no option `{said}`", code="unknown-option", hint=did_you_mean(name, OPTIONS)
            )
        if option.plain is not None and not any(value == p for p in option.plain):
            raise NotYetError(
                f"tirscript does not have the option `{said}` yet ({option.doc})", code="not-yet"
            )
        out[name] = _value(said, option, value)
    return out


def _value(name: str, option: _Option, given: Any) -> Any:
    if given is None:
        return None
    value: Any = given
    if option.type is bool and isinstance(value, int):
        return bool(value)
    wanted: Any = (list, tuple) if option.type is list else Mapping if option.type is dict else option.type
    fits: bool = isinstance(value, wanted)
    if not fits:
        raise PassContextError(f"the option `{name}` is a {option.type.__name__}, not {value!r}")
    if option.type is list:
        return _added_passes(name, value)
    if option.type is dict:
        fields = _FIELDS.get("tir." + name.partition(".")[2], {})
        for key, entry in value.items():
            if key not in fields:
                raise PassContextError(
                    f"the option `{name}` has no field `{key}`", code="unknown-option",
                    hint=did_you_mean(str(key), fields),
                )  # fmt: skip
            if not isinstance(entry, fields[key]):
                raise PassContextError(f"`{key}` of `{name}` is a {fields[key].__name__}, not {entry!r}")
        return dict(value)
    return value


def _added_passes(name: str, value: Sequence[Any]) -> list[tuple[int, Any]]:
    out = []
    for item in value:
        if not (isinstance(item, (list, tuple)) and len(item) == 2 and callable(item[1])):
            raise PassContextError(f"`{name}` is a list of pairs (phase, pass), not of {item!r}")
        phase = int(item[0])
        if not 0 <= phase <= 3:
            raise PassContextError(f"a phase of `{name}` is 0, 1, 2 or 3, not {phase}")
        out.append((phase, item[1]))
    return out


_stack: contextvars.ContextVar[tuple[PassContext, ...]] = contextvars.ContextVar("pass_contexts", default=())
_DEFAULT = PassContext()
