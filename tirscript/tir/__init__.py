"""TVM's ``tir`` paths: node classes, ``Schedule``, helpers.  ``tirx`` and ``s_tir`` are the same module."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import tirscript.ir as _ir
from tirscript.notyet import absent

_SCHEDULE = ("Schedule", "ScheduleError", "ScheduleState", "StmtSRef", "Trace", "Instruction", "TensorIntrin")
_SUBMODULES = ("analysis", "ir_builder", "schedule", "stmt_functor", "tensor_intrin", "transform")
# Classes that are called as TVM's are (see `constructors`), and those that are only looked at.
_CONSTRUCTED = (
    "Add", "Allocate", "AllocateConst", "And", "AssertStmt", "AttrStmt", "Block", "BlockRealize", "Broadcast",
    "BufferLoad", "BufferRealize", "BufferRegion", "BufferStore", "Call", "Cast", "CommReducer", "DeclBuffer",
    "Div", "EQ", "Evaluate", "FloatImm", "FloorDiv", "FloorMod", "For", "GE", "GT", "GlobalVar", "IfThenElse",
    "IndexMap", "IntImm", "IterVar", "LE", "LT", "Let", "LetStmt", "MatchBufferRegion", "Max", "Min", "Mod",
    "Mul", "NE", "Not", "Or", "PrimFunc", "Ramp", "Range", "Reduce", "SBlock", "SBlockRealize", "Select",
    "SeqStmt",
    "Shuffle", "SizeVar", "StringImm", "Sub", "Var", "While",
)  # fmt: skip
_CONSTANTS = ("BufferType", "CallEffectKind", "ForKind", "stmt_list", "stmt_seq")
_BASES = ("BinaryOp", "BlockLabel", "Buffer", "CmpOp", "Expr", "Node", "Stmt")
# TVM's names of these.
_SECOND = {
    "PrimExpr": "Expr", "BinaryOpExpr": "BinaryOp", "CmpExpr": "CmpOp", "ExprOp": "Expr",
    "PrimExprWithOp": "Expr",
}  # fmt: skip
_HELPERS = (
    "const", "full_region", "fresh_copy", "free_vars", "make_buffer", "point", "post_order", "seq",
    "structural_equal", "structural_hash", "substitute", "walk", "assert_structural_equal",
    "check_well_formed", "const_int", "Op", "PointerType", "PrimType", "UnknownFunction",
    "StructuralMismatch",
)  # fmt: skip
# Functions that build expressions: those of scripts, and those that tensor expressions name differently.
_FUNCTIONS = (
    "TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace", "abs", "acos", "acosh", "address_of",
    "anylist_getitem", "anylist_resetitem", "anylist_setitem_call_cpacked", "anylist_setitem_call_packed",
    "asin", "asinh", "assume", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "break_loop", "call_cpacked", "call_cpacked_lowered", "call_extern", "call_intrin",
    "call_llvm_intrin", "call_llvm_pure_intrin", "call_packed", "call_packed_lowered", "call_pure_extern",
    "ceil", "ceildiv", "clz", "continue_loop", "copysign", "cos", "cosh", "create_barriers", "dp4a",
    "end_profile_intrinsic", "erf", "exp", "exp10", "exp2", "floor", "floordiv", "floormod", "fma", "fmod",
    "get_active_lane_mask", "hypot", "if_then_else", "ignore_loop_partition", "infinity", "isfinite", "isinf",
    "isnan", "isnullptr", "ldexp", "likely", "log", "log10", "log1p", "log2", "lookup_param",
    "make_filled_simdgroup_matrix", "max_value", "min_value", "mma_fill", "mma_store", "nearbyint",
    "nextafter", "popcount", "pow", "ptx_arrive_barrier", "ptx_arrive_barrier_expect_tx", "ptx_commit_group",
    "ptx_cp_async", "ptx_cp_async_barrier", "ptx_cp_async_bulk", "ptx_init_barrier_thread_count",
    "ptx_ldmatrix", "ptx_mma", "ptx_mma_sp", "ptx_wait_barrier", "ptx_wait_group", "q_multiply_shift",
    "q_multiply_shift_per_axis", "reinterpret", "ret", "round", "rsqrt", "shift_left", "shift_right",
    "sigmoid", "simdgroup_load", "simdgroup_multiply_accumulate", "simdgroup_store", "sin", "sinh", "sqrt",
    "start_profile_intrinsic", "tan", "tanh", "thread_return", "trunc", "truncdiv", "truncmod",
    "tvm_access_ptr", "tvm_bmma_sync", "tvm_fill_fragment", "tvm_load_matrix_sync", "tvm_mma_sync",
    "tvm_stack_alloca", "tvm_stack_make_array", "tvm_stack_make_shape", "tvm_storage_sync",
    "tvm_store_matrix_sync", "tvm_struct_get", "tvm_struct_set", "tvm_thread_allreduce",
    "tvm_thread_invariant", "tvm_throw_last_error", "tvm_tuple", "tvm_warp_activemask", "tvm_warp_shuffle",
    "tvm_warp_shuffle_down", "tvm_warp_shuffle_up", "tvm_warp_shuffle_xor", "type_annotation", "undef",
    "vectorcombine", "vectorhigh", "vectorlow", "vscale",
)  # fmt: skip
_REDUCERS = (
    "all", "any", "comm_reducer", "div", "indexdiv", "indexmod", "logaddexp", "max", "min", "power",
    "sum",
)  # fmt: skip
_OWN = ("build", "convert", "decl_buffer")
# Names of TVM that are not here.
_NOT_YET = frozenset((
    "AllocBuffer", "Any", "BijectiveLayout", "Bind", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
    "BlockDependenceInfo", "BlockScope", "Break", "BufferAccessKind", "BufferRegionType",
    "CallFFIKernelAttr", "CompareResult", "ComposeLayout", "ConstExpr", "Continue", "DataProducer",
    "DependencyKind", "DispatchContext", "EqualOp", "ExecScope", "IntImmEnum", "LShift", "LambdaExpr",
    "Layout", "LogicalExpr", "NotEqualOp", "Prefetch", "ProducerLoad", "ProducerRealize", "ProducerStore",
    "RShift", "Return", "SBijectiveLayout", "SBlockDependenceInfo", "SBlockScope", "SLayout", "ScopeIdDef",
    "ScopeIdDefStmt", "TensorMapEncodeTiledAttr", "TensorMapType", "TileLayout", "TilePrimitiveCall",
    "adreno", "backend", "bijective_layout", "buffer_data", "buffer_data_pointer_type", "call_ffi_kernel",
    "call_kernel", "call_tir", "compilation_pipeline", "cooperative_tensor_fill", "cooperative_tensor_load",
    "cooperative_tensor_multiply_accumulate", "cooperative_tensor_store", "cuda", "data_layout",
    "div_ambiguity_error", "dlight", "exec_scope", "filter", "get_default_tir_pipeline", "get_tir_pipeline",
    "get_vscale_expr", "handle_add_byte_offset", "hexagon", "is_buffer_var", "lang", "layout",
    "masked_load", "masked_store", "meta_schedule", "metal", "opencl", "operator", "pipeline",
    "print_buffer", "ptr_byte_offset", "ptx_ldg32", "register_intrin_lowering", "register_tir_pipeline",
    "renew_defs", "rocm", "sbijective_layout", "sblock_dependence_info", "sblock_scope", "script",
    "selector", "slayout", "tensormap_encode_tiled", "tile_primitive", "trace", "trn",
    "tvm_global_barrier_kinit", "tvm_kernel_replace_point", "type", "usmp", "vulkan", "webgpu",
))  # fmt: skip
# TVM's modules below this one that hold a selection of its names, and what they have beside that.
_PARTS: dict[str, tuple[str, ...]] = {
    "expr": (*_CONSTRUCTED, *_BASES, *_SECOND, "CallEffectKind", "convert", "const"),
    "stmt": (*_CONSTRUCTED, *_BASES, "ForKind", "stmt_list", "stmt_seq"),
    "buffer": ("Buffer", "BufferType", "Expr", "PrimExpr", "decl_buffer"),
    "function": ("Buffer", "Expr", "IndexMap", "PrimFunc", "TensorIntrin", "Var"),
    "op": (*_FUNCTIONS, *_REDUCERS, *_OWN, "Call", "CommReducer", "IntImm", "Op", "Var", "const"),
    "generic": ("add", "subtract", "multiply", "divide", "floordiv", "cast"),
}

__all__ = sorted({
    *_CONSTRUCTED, *_CONSTANTS, *_BASES, *_SECOND, *_HELPERS, *_SCHEDULE, *_SUBMODULES, *_PARTS, *_FUNCTIONS,
    *_REDUCERS, *_OWN,
})  # fmt: skip


class _Part(ModuleType):
    """One of TVM's modules that only re-export."""

    def __init__(self, name: str, names: tuple[str, ...]) -> None:
        super().__init__(f"{__name__}.{name}", f"TVM's ``tir.{name}``.")
        self.__all__ = sorted(set(names))

    def __getattr__(self, name: str) -> Any:
        own = (
            importlib.import_module("tirscript.tir.helpers").GENERIC
            if self.__name__.endswith("generic")
            else {}
        )
        if name in own:
            return own[name]
        if name in self.__all__:
            return __getattr__(name)
        return absent(self.__name__, name, self.__all__, _NOT_YET)

    def __dir__(self) -> list[str]:
        return list(self.__all__)


_parts = {name: _Part(name, names) for name, names in _PARTS.items()}


def __getattr__(name: str) -> Any:
    value: Any
    if name in _CONSTRUCTED:
        value = importlib.import_module("tirscript.tir.constructors").CLASSES[name]
    elif name in _CONSTANTS:
        value = getattr(importlib.import_module("tirscript.tir.constructors"), name)
    elif name in _BASES or name in _HELPERS:
        value = getattr(_ir, name)
    elif name in _SECOND:
        value = getattr(_ir, _SECOND[name])
    elif name in _SCHEDULE:
        value = getattr(importlib.import_module("tirscript.schedule"), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"tirscript.tir.{name}")
    elif name in _PARTS:
        value = _parts[name]
    elif name in _FUNCTIONS:
        value = getattr(importlib.import_module("tirscript.script.tir"), name)
    elif name in _REDUCERS:
        value = getattr(importlib.import_module("tirscript.te"), name)
    elif name in _OWN:
        value = getattr(importlib.import_module("tirscript.tir.helpers"), name)
    else:
        value = absent(__name__, name, __all__, _NOT_YET)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def enter_as(name: str) -> None:
    """Make this module and its submodules importable as ``name``: the same objects, nothing twice."""
    sys.modules[name] = sys.modules[__name__]
    for submodule in _SUBMODULES:
        sys.modules[f"{name}.{submodule}"] = importlib.import_module(f"{__name__}.{submodule}")
    for part, module in _parts.items():
        sys.modules[f"{name}.{part}"] = module


for _name, _module in _parts.items():
    sys.modules[f"{__name__}.{_name}"] = _module
