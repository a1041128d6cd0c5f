"""How each era spells things: paths of modules and objects, methods, attribute keys, what it has not.

The names were read off running releases; ``tests/test_migrate_peer.py`` holds the table of 0.27 against one.
"""

from __future__ import annotations

from typing import NamedTuple

ERAS = ("tirscript", "tvm-0.27", "course-2022")


class New(NamedTuple):
    """The new path of a name; ``why`` says why there is none."""

    path: str
    why: str = ""


# ---- to TVM 0.27

_TO_27 = {
    "tvm.script.tir": "tvm.script.tirx",
    "tvm.script.tir.block": "tvm.script.tirx.sblock",
    "tvm.script.tir.block_attr": "tvm.script.tirx.sblock_attr",
    "tvm.script.tir.alloc_buffer": "tvm.script.tirx.sblock_alloc_buffer",
    "tvm.script.tir.e4m3_float8": "tvm.script.tirx.float8_e4m3fn",
    "tvm.script.tir.e5m2_float8": "tvm.script.tirx.float8_e5m2",
    "tvm.script.tir.StringImm": "tvm.ir.StringImm",
    "tvm.script.ir.index_map": "tvm.script.tirx.index_map",
    "tvm.script.ir_builder.tir": "tvm.script.ir_builder.tirx",
    "tvm.script.parser.tir": "tvm.script.parser.tirx",
    "tvm.tir": "tvm.tirx",
    "tvm.tir.Block": "tvm.s_tir.SBlock",
    "tvm.tir.BlockRealize": "tvm.s_tir.SBlockRealize",
    "tvm.tir.BlockScope": "tvm.s_tir.SBlockScope",
    "tvm.tir.BlockDependenceInfo": "tvm.s_tir.SBlockDependenceInfo",
    "tvm.tir.Instruction": "tvm.s_tir.schedule.Instruction",
    "tvm.tir.InstructionKind": "tvm.s_tir.schedule.InstructionKind",
    "tvm.tir.PrimExpr": "tvm.ir.Expr",
    "tvm.tir.PrimExprWithOp": "tvm.ir.ExprWithOp",
    "tvm.tir.schedule": "tvm.s_tir.schedule",
    "tvm.tir.schedule.BlockRV": "tvm.s_tir.schedule.SBlockRV",
    "tvm.tir.schedule.BlockScope": "tvm.s_tir.schedule.SBlockScope",
    "tvm.tir.tensor_intrin": "tvm.s_tir.tensor_intrin",
    "tvm.tir.transform.Simplify": "tvm.tirx.transform.StmtSimplify",
    "tvm.tir.transform.CommonSubexprElimTIR": "tvm.tirx.transform.CommonSubexprElim",
    "tvm.tir.analysis.get_block_access_region": "tvm.s_tir.analysis.get_sblock_access_region",
    "tvm.tir.analysis.get_block_read_write_region": "tvm.s_tir.analysis.get_sblock_read_write_region",
    "tvm.tir.analysis.find_anchor_block": "tvm.s_tir.analysis.find_anchor_sblock",
    "tvm.arith": "tvm.sym",
    "tvm.ir.PrimExpr": "tvm.ir.Expr",
    "tvm.dlight": "tvm.s_tir.dlight",
    "tvm.meta_schedule": "tvm.s_tir.meta_schedule",
    "tvm.nd": "tvm.runtime",
    "tvm.nd.array": "tvm.runtime.tensor",
    "tvm.nd.NDArray": "tvm.runtime.Tensor",
    "tvm.runtime.NDArray": "tvm.runtime.Tensor",
    "tvm.runtime.ndarray": "tvm.runtime",
    "tvm.runtime.ndarray.array": "tvm.runtime.tensor",
    "tvm.runtime.ndarray.NDArray": "tvm.runtime.Tensor",
    "tvm.register_func": "tvm.register_global_func",
    "tvm.gpu": "tvm.cuda",
    "tvm.context": "tvm.device",
    "tvm.te.size_var": "tvm.te.var",
    # The names that tirscript gives at its top.
    "tvm.Schedule": "tvm.s_tir.Schedule",
    "tvm.Trace": "tvm.s_tir.Trace",
    "tvm.TensorIntrin": "tvm.s_tir.TensorIntrin",
    "tvm.ScheduleError": "tvm.s_tir.ScheduleError",
    "tvm.PrimFunc": "tvm.tirx.PrimFunc",
    "tvm.Module": "tvm.runtime.Module",
    "tvm.Target": "tvm.target.Target",
    "tvm.parse": "tvm.script.parse",
    "tvm.from_source": "tvm.script.from_source",
    "tvm.assert_structural_equal": "tvm.ir.assert_structural_equal",
    "tvm.ParseError": "tvm.error.DiagnosticError",
    "tvm.DiagnosticError": "tvm.error.DiagnosticError",
    "tvm.TVMError": "builtins.RuntimeError",
    "tvm.TirscriptError": "builtins.RuntimeError",
    "tvm.error.TVMError": "builtins.RuntimeError",
    "tvm._ffi.base.TVMError": "builtins.RuntimeError",
    "tvm._ffi.register_func": "tvm.register_global_func",
    "tvm._ffi.register_global_func": "tvm.register_global_func",
    "tvm._ffi.get_global_func": "tvm.get_global_func",
}
_TO_27 |= {
    f"tvm.tir.{name}": f"tvm.s_tir.{name}"
    for name in (
        "MatchBufferRegion", "Schedule", "ScheduleError", "ScheduleState", "StmtSRef", "TensorIntrin",
        "Trace",
    )
}  # fmt: skip
_TO_27 |= {
    f"tvm.tir.{name}": f"tvm.ir.{name}"
    for name in ("Call", "GlobalVar", "Node", "Op", "PointerType", "PrimType", "Range", "StringImm")
}
_TO_27 |= {
    f"tvm.{package}.{name}": f"tvm.{name}"
    for package in ("nd", "runtime.ndarray")
    for name in ("cpu", "cuda", "device", "metal", "opencl", "rocm", "vulkan")
}
_TO_27 |= {
    f"tvm.contrib.{name}": f"tvm.support.{name}"
    for name in ("cc", "clang", "emcc", "ndk", "nvcc", "popen_pool", "rocm", "tar", "utils", "xcode")
}
_S_TIR_PASSES = (
    "AnnotateIrregularLoop", "CanonicalizeLoop", "CompactBufferAllocation", "ConvertBlocksToOpaque",
    "DecorateDeviceScope", "DefaultGPUSchedule", "HoistExpression", "HoistIfThenElse", "HoistedConditionals",
    "HoistedLetBindings", "InferFragment", "InjectDoubleBuffer", "InjectDoubleBufferConfig",
    "InjectPTXAsyncCopy", "InjectPTXLDG32", "InjectPermutedLayout", "InjectSoftwarePipeline",
    "InjectVirtualThread", "InstrumentBoundCheckers", "InstrumentProfileIntrinsics", "LiftThreadBinding",
    "LoopPartition", "LoopPartitionConfig", "LowerAsyncDMA", "LowerAutoCopy", "LowerCrossThreadReduction",
    "LowerInitBlock", "LowerMatchBuffer", "LowerOpaqueBlock", "LowerThreadAllreduce", "LowerVtcmAlloc",
    "ManifestSharedMemoryLocalStage", "MergeSharedMemoryAllocations", "PlanAndUpdateBufferAllocationLocation",
    "RemoveStoreUndef", "RemoveWeightLayoutRewriteBlock", "RenormalizeSplitPattern", "RewriteUnsafeSelect",
    "ThreadSync", "TransformMmaBufferLayout", "UnifyThreadBinding", "UseAssumeToReduceBranches",
    "VerifyVTCMLimit",
)  # fmt: skip
_TIRX_PASSES = (
    "AnnotateEntryFunc", "BF16ComputeLegalize", "BF16StorageLegalize", "BindTarget", "CommonSubexprElim",
    "ConvertSSA", "FP8ComputeLegalize", "FP8StorageLegalize", "Filter", "FlattenBuffer",
    "ForceNarrowIndexToInt32", "InlinePrivateFunctions", "LowerIntrin", "LowerTVMBuiltin", "LowerWarpMemory",
    "MakePackedAPI", "NarrowDataType", "PointerValueTypeRewrite", "PrimFuncPass", "RemoveAssume",
    "RemoveNoOp", "RemoveNoOpConfig", "SkipAssert", "SplitHostDevice", "StmtSimplify", "StmtSimplifyConfig",
    "StorageRewrite", "UnrollLoop", "UnrollLoopConfig", "VectorizeLoop", "VerifyMemory", "prim_func_pass",
)  # fmt: skip
_S_TIR_ANALYSES = (
    "OOBChecker", "assert_pure_function", "calculate_allocated_bytes", "detect_buffer_access_lca",
    "estimate_tir_flops", "is_pure_function", "verify_gpu_code",
)  # fmt: skip
_TIRX_ANALYSES = ("undefined_vars", "verify_memory", "verify_ssa", "verify_well_formed")
for _rooms, _names in (
    (("transform", "s_tir"), _S_TIR_PASSES), (("transform", "tirx"), _TIRX_PASSES),
    (("analysis", "s_tir"), _S_TIR_ANALYSES), (("analysis", "tirx"), _TIRX_ANALYSES),
):  # fmt: skip
    _TO_27 |= {f"tvm.tir.{_rooms[0]}.{n}": f"tvm.{_rooms[1]}.{_rooms[0]}.{n}" for n in _names}

_GONE = "TVM 0.27 has no"
_NOT_IN_27 = {
    "tvm.lower": f"{_GONE} lower: there tvm.compile takes a module from script to code",
    "tvm.driver.lower": f"{_GONE} lower: there tvm.compile takes a module from script to code",
    "tvm.tir.stmt_functor": f"{_GONE} stmt_functor in Python",
    "tvm.tir.ir_builder": f"{_GONE} tir.ir_builder: write a script, or use tvm.script.ir_builder",
    "tvm.tir.SizeVar": f"{_GONE} SizeVar: a Var serves",
    "tvm.tir.ret": f"{_GONE} tir.ret: a script says `return`",
    "tvm.te.prod": f"{_GONE} te.prod: te.comm_reducer makes one",
    "tvm.te.create_schedule": "tensor expressions have no schedules: te.create_prim_func, then a Schedule",
    "tvm.ir.structural_equal": f"{_GONE} ir.structural_equal: tvm_ffi.structural_equal",
    "tvm.ir.structural_hash": f"{_GONE} ir.structural_hash: tvm_ffi.structural_hash",
    "tvm.structural_equal": f"{_GONE} ir.structural_equal: tvm_ffi.structural_equal",
    "tvm.structural_hash": f"{_GONE} ir.structural_hash: tvm_ffi.structural_hash",
    "tvm.relay": "Relay is gone since TVM 0.20: Relax",
    "tvm.autotvm": f"{_GONE} autotvm: tvm.s_tir.meta_schedule",
    "tvm.auto_scheduler": f"{_GONE} auto_scheduler: tvm.s_tir.meta_schedule",
    "tvm.script.tir.LetStmt": f"{_GONE} T.LetStmt: `x: T.let = value`",
    "tvm.script.tir.allocate": f"{_GONE} T.allocate: `T.alloc_buffer(shape, dtype)`, a statement",
    "tvm.script.tir.SizeVar": f"{_GONE} T.SizeVar: a variable serves",
    "tvm.script.tir.ret": f"{_GONE} T.ret: `return value`",
    "tvm.script.tir.ptx_mma": f"{_GONE} T.ptx_mma: T.ptx_legacy.mma",
    "tvm.script.tir.ptx_ldmatrix": f"{_GONE} T.ptx_ldmatrix: T.ptx_legacy.ldmatrix",
}
_NOT_IN_27 |= {
    f"tvm.tir.{name}": f"{_GONE} tir.{name}" for name in ("Allocate", "AllocateConst", "BufferRealize")
}
_NOT_IN_27 |= {
    f"tvm.script.tir.{name}": f"{_GONE} T.{name}"
    for name in (
        "ProducerLoad", "allocate_const", "atomic_add", "atomic_max", "atomic_min", "bfloat16x16",
        "bfloat16x2", "bfloat16x32", "bfloat16x4", "bfloat16x64", "bfloat16x8", "create_barriers", "int1",
        "int4", "large_uint_imm", "make_filled_simdgroup_matrix", "metadata", "mma_fill", "mma_store",
        "prefetch", "preflattened_buffer", "ptx_arrive_barrier", "ptx_arrive_barrier_expect_tx",
        "ptx_commit_group", "ptx_cp_async", "ptx_cp_async_barrier", "ptx_cp_async_bulk",
        "ptx_init_barrier_thread_count", "ptx_mma_sp", "ptx_wait_barrier", "ptx_wait_group", "realize",
        "simdgroup_load", "simdgroup_multiply_accumulate", "simdgroup_store", "uint1", "uint4",
    )
}  # fmt: skip
_OURS = "only tirscript has it"
_NOT_IN_27 |= {
    f"tvm.{name}": _OURS
    for name in (
        "AssertFailed", "AxisWarning", "BindError", "BoundsWarning", "CallError", "CallTypeError",
        "CallValueError", "CheckFailed", "CodegenError", "LowerError", "NotYetError", "PerformanceWarning",
        "PrecisionLossWarning", "ScheduleTypeError", "ScheduleValueError", "TargetError", "TirscriptWarning",
        "WellFormedError", "analysis", "diagnostics", "display", "lowering", "set_num_threads",
    )
}  # fmt: skip

# ---- to classic spellings: tirscript's own, and those of the course

_TO_CLASSIC = {
    "tvm.script.tirx": "tvm.script.tir",
    "tvm.script.tirx.sblock": "tvm.script.tir.block",
    "tvm.script.tir.sblock": "tvm.script.tir.block",
    "tvm.script.tirx.sblock_attr": "tvm.script.tir.block_attr",
    "tvm.script.tir.sblock_attr": "tvm.script.tir.block_attr",
    "tvm.script.tirx.sblock_alloc_buffer": "tvm.script.tir.alloc_buffer",
    "tvm.script.tir.sblock_alloc_buffer": "tvm.script.tir.alloc_buffer",
    "tvm.script.ir_builder.tirx": "tvm.script.ir_builder.tir",
    "tvm.script.parser.tirx": "tvm.script.parser.tir",
    "tvm.sym": "tvm.arith",
    "tvm.error.DiagnosticError": "tvm.DiagnosticError",
}
for _name in ("tirx", "s_tir", "tir"):
    _TO_CLASSIC |= {
        f"tvm.{_name}": "tvm.tir",
        f"tvm.{_name}.SBlock": "tvm.tir.Block",
        f"tvm.{_name}.SBlockRealize": "tvm.tir.BlockRealize",
        f"tvm.{_name}.SBlockScope": "tvm.tir.BlockScope",
        f"tvm.{_name}.schedule.SBlockRV": "tvm.tir.schedule.BlockRV",
        f"tvm.{_name}.schedule.SBlockScope": "tvm.tir.schedule.BlockScope",
        f"tvm.{_name}.transform.StmtSimplify": "tvm.tir.transform.Simplify",
        f"tvm.{_name}.transform.CommonSubexprElim": "tvm.tir.transform.CommonSubexprElimTIR",
        f"tvm.{_name}.analysis.get_sblock_access_region": "tvm.tir.analysis.get_block_access_region",
        f"tvm.{_name}.analysis.get_sblock_read_write_region": "tvm.tir.analysis.get_block_read_write_region",
        f"tvm.{_name}.analysis.find_anchor_sblock": "tvm.tir.analysis.find_anchor_block",
    }
_TO_CLASSIC |= {"tvm.s_tir.dlight": "tvm.dlight", "tvm.s_tir.meta_schedule": "tvm.meta_schedule"}
_TO_CLASSIC |= {new: old for old, new in _TO_27.items() if new.startswith("tvm.support.")}
_TO_COURSE = _TO_CLASSIC | {
    "tvm.runtime.tensor": "tvm.nd.array",
    "tvm.runtime.empty": "tvm.nd.empty",
    "tvm.runtime.Tensor": "tvm.nd.NDArray",
    "tvm.runtime.NDArray": "tvm.nd.NDArray",
    "tvm.register_global_func": "tvm.register_func",
    "tvm.compile": "tvm.build",
    "tvm.Schedule": "tvm.tir.Schedule",
    "tvm.Trace": "tvm.tir.schedule.Trace",
    "tvm.TensorIntrin": "tvm.tir.TensorIntrin",
    "tvm.ScheduleError": "tvm.tir.ScheduleError",
    "tvm.PrimFunc": "tvm.tir.PrimFunc",
    "tvm.Module": "tvm.runtime.Module",
    "tvm.Target": "tvm.target.Target",
    "tvm.parse": "tvm.script.from_source",
    "tvm.from_source": "tvm.script.from_source",
    "tvm.assert_structural_equal": "tvm.ir.assert_structural_equal",
    "tvm.structural_equal": "tvm.ir.structural_equal",
    "tvm.structural_hash": "tvm.ir.structural_hash",
    "tvm.TirscriptError": "tvm.TVMError",
}
_NOT_IN_COURSE = {k: v for k, v in _NOT_IN_27.items() if v == _OURS} | {
    "tvm.script.tir.macro": "the TVM of 2022 has no T.macro",
    "tvm.script.tirx.macro": "the TVM of 2022 has no T.macro",
}
_NEWER = "a name of TVM 0.27 alone"
_NOT_CLASSIC = {
    f"tvm.script.tirx.{name}": _NEWER
    for name in ("constexpr", "inline", "jit", "tile", "tmem", "cluster", "warp", "cta")
}

_PATHS = {"tvm-0.27": _TO_27, "tirscript": _TO_CLASSIC, "course-2022": _TO_COURSE}
_MISSING = {"tvm-0.27": _NOT_IN_27, "tirscript": _NOT_CLASSIC, "course-2022": _NOT_IN_COURSE | _NOT_CLASSIC}

# ---- methods: the receiver's kind, the old name, the new one

METHODS = {
    "tvm-0.27": {
        ("Schedule", "get_block"): "get_sblock",
        ("Module", "imported_modules"): "imports",
        ("Module", "get_source"): "inspect_source",
        ("Executable", "imported_modules"): "mod.imports",
        ("Executable", "get_source"): "mod.inspect_source",
        ("Executable", "time_evaluator"): "mod.time_evaluator",
        ("Executable", "entry_name"): "mod.entry_name",
        ("Tensor", "asnumpy"): "numpy",
    },
    "tirscript": {
        ("Schedule", "get_sblock"): "get_block",
        ("Module", "imports"): "imported_modules",
        ("Module", "inspect_source"): "get_source",
        ("Executable", "imports"): "imported_modules",
        ("Executable", "inspect_source"): "get_source",
    },
}  # fmt: skip
METHODS["course-2022"] = METHODS["tirscript"]
# Names that only their own kind of object has: the receiver may be unknown.
TELLING = {"get_block", "get_sblock", "asnumpy", "inspect_source", "imported_modules"}
KIND_OF = {"get_block": "Schedule", "get_sblock": "Schedule", "asnumpy": "Tensor", "inspect_source": "Module",
           "imported_modules": "Module"}  # fmt: skip
_TIME_MACHINE = {
    ("Schedule", name): f"{_OURS} on a Schedule"
    for name in ("check", "diff", "expr", "goto", "history", "step", "tree", "undo")
}
NO_METHOD = {
    "tvm-0.27": {("Schedule", "set_axis_separator"): f"{_GONE} set_axis_separator", **_TIME_MACHINE},
    "tirscript": {},
    "course-2022": _TIME_MACHINE,
}

# ---- keys of attributes and of PassContext's config: the prefix changed

_KEYS_27 = {
    "tir.ptx_ldg32": "tirx.s_tir.ldg32",
    "tir.Simplify": "tirx.StmtSimplify",
    **{
        f"tir.{name}": f"s_tir.{name}"
        for name in (
            "HoistExpression", "HoistIfThenElse", "InjectDoubleBuffer", "LoopPartition", "instr_siblings",
            "lwp_disable_func_prof", "lwp_max_depth", "lwp_min_height", "reset_start_id",
        )
    },
}  # fmt: skip
_KEYS_CLASSIC = {new: old for old, new in _KEYS_27.items()}


def key(text: str, era: str) -> str:
    """The key of an attribute or option in ``era``.

    >>> key("tir.noalias", "tvm-0.27"), key("tirx.noalias", "tirscript"), key("tirx", "tirscript")
    ('tirx.noalias', 'tir.noalias', 'tirx')
    """
    if era == "tvm-0.27":
        return _KEYS_27.get(text, "tirx." + text[4:] if text.startswith("tir.") else text)
    return _KEYS_CLASSIC.get(text, "tir." + text[5:] if text.startswith("tirx.") else text)


def spelled(path: str, era: str) -> New:
    """The path of ``era`` for a path of any era; the root is ``tvm`` in all of them.

    >>> spelled("tvm.tir.Schedule", "tvm-0.27").path, spelled("tvm.s_tir.Schedule", "tirscript").path
    ('tvm.s_tir.Schedule', 'tvm.tir.Schedule')
    >>> spelled("tvm.tir.For", "tvm-0.27").path
    'tvm.tirx.For'
    """
    why = _longest(path, _MISSING[era])
    if why is not None:
        return New(path, why[1])
    if (
        era == "tvm-0.27"
        and path.startswith(("tvm.tir.transform.", "tvm.tir.analysis."))
        and path not in _TO_27
    ):
        room, _, name = path[len("tvm.tir.") :].partition(".")
        return New(path, f"{_GONE} {room} {name} in s_tir or tirx")
    found = _longest(path, _PATHS[era])
    if found is None:
        return New(path)
    length, new = found
    return New(new + path[length:])


def _longest(path: str, table: dict[str, str]) -> tuple[int, str] | None:
    at = len(path)
    while at > 0:
        value = table.get(path[:at])
        if value is not None:
            return at, value
        at = path.rfind(".", 0, at)
    return None
