"""``T``: every spelling of the script language, with its signature and what it means.

The parser knows these objects by identity.  Names of classic TVM that tirscript does not have yet are
here too: their use says so.
"""

from __future__ import annotations

from typing import Any

from . import constructs as _constructs
from . import intrinsics as _intrinsics
from . import operators as _operators
from .dtypes import BufferFactory as _BufferFactory
from .dtypes import DTypeConstructor as _DTypeConstructor
from .dtypes import HandleConstructor as _HandleConstructor
from .dtypes import PointerFactory as _PointerFactory

Buffer = _BufferFactory()
Ptr = _PointerFactory()
handle = _HandleConstructor()

_SCALARS = (
    "bool", "void", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16", "int1", "int4", "uint1", "uint4", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
)  # fmt: skip
_VECTORS = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "bfloat16",
)  # fmt: skip
_LANES = (2, 4, 8, 16, 32, 64)

# Known from TVM and not supported yet.
NOT_YET = (
    "CallEffectKind", "ProducerLoad", "Reduce", "arg", "block_name_suffix_context", "call_kernel", "prefetch",
    "preflattened_buffer",
)  # fmt: skip
# TVM 0.27's GPU tiles: known by name only, and not among the names that complete.
_TILES = frozenset((
    "Bind", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Break", "ComposeLayout", "Continue",
    "ExecScope", "Iter", "LShift", "Layout", "LetAnnotation", "LocalVectorAnnotation", "Optional", "R",
    "RShift", "Return", "SMEMPool", "ScopeIdDef", "TMEMPool", "TensorMap", "TileLayout", "Tuple",
    "alloc_cast_frag", "alloc_local", "alloc_scalar", "alloc_shared", "alloc_tcgen05_ldst_frag", "bind",
    "call_ffi_kernel", "cluster", "cluster_id", "constexpr", "cooperative_tensor_fill",
    "cooperative_tensor_load", "cooperative_tensor_multiply_accumulate", "cooperative_tensor_store", "cta",
    "cta_id", "cta_id_in_cluster", "cta_id_in_pair", "cuda", "decl_scalar", "device_entry", "filter",
    "hint", "jit", "lane_id", "local_scalar", "masked_load", "masked_store", "meta_class", "metal", "nki",
    "nvshmem", "print_buffer", "ptr_byte_offset", "ptx", "ptx_legacy", "scalar_wrapper", "scope_id",
    "selector", "shared_scalar", "smem", "static_assert", "tensormap_encode_tiled", "thread", "thread_id",
    "thread_id_in_wg", "tile", "tmem", "tvm_global_barrier_kinit", "tvm_kernel_replace_point", "warp",
    "warp_id", "warp_id_in_wg", "warpgroup", "warpgroup_id", "webgpu", "wg", "wg_reg_tile",
))  # fmt: skip
# Dtypes of TVM that are narrower than a byte and no integers.
_NARROW = ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")
_SHORT = {f"{short}{bits}": f"{long}{bits}" for short, long in (("i", "int"), ("u", "uint"), ("f", "float"))
          for bits in (8, 16, 32, 64) if (short, bits) != ("f", 8)} | {"bf16": "bfloat16"}  # fmt: skip

_space: dict[str, Any] = globals()
for _name in _constructs.__all__:
    _space[_name] = getattr(_constructs, _name)
for _name in _operators.__all__:
    _space[_name] = getattr(_operators, _name)
for _name in _intrinsics.__all__:
    _space[_name] = getattr(_intrinsics, _name)
for _name in _SCALARS:
    _space[_name] = _DTypeConstructor(_name)
for _name in _VECTORS:
    for _lanes in _LANES:
        _space[f"{_name}x{_lanes}"] = _DTypeConstructor(f"{_name}x{_lanes}")
for _name in NOT_YET:
    _space[_name] = _constructs.not_yet(_name)
boolean = _space["bool"]
e4m3_float8, e5m2_float8 = _space["float8_e4m3fn"], _space["float8_e5m2"]
buffer = Buffer
del _name, _lanes

__all__ = sorted(n for n in _space if not n.startswith("_") and n not in ("annotations", "Any", "NOT_YET"))


def __getattr__(name: str) -> Any:
    from .unknown import unknown_name

    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _SHORT:
        return _space[_SHORT[name]]
    if name in _TILES or name.startswith(_NARROW):
        from tirscript.notyet import NotYet

        made_known = _space[name] = NotYet(f"T.{name}")
        return made_known
    # Dtypes of any number of lanes.
    from tirscript.ir import dtype as dt

    try:
        dt.info(name)
    except ValueError:
        raise unknown_name("T", name, __all__) from None
    made = _space[name] = _DTypeConstructor(name)
    return made


def __dir__() -> list[str]:
    return list(__all__)
