"""Helpers for tests of tensor programs: round trips, differences, reference checks, random programs.

``programs()`` needs hypothesis, which is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .allclose import assert_allclose as assert_allclose

if TYPE_CHECKING:
    from .before_after import CompareBeforeAfter as CompareBeforeAfter
    from .meaning import interpret as interpret
    from .reference import check_against_reference as check_against_reference
    from .reference import extreme_inputs as extreme_inputs
    from .reference import random_inputs as random_inputs
    from .reference import run_program as run_program
    from .round_trip import assert_round_trip as assert_round_trip
    from .round_trip import structural_diff as structural_diff
    from .strategies import programs as programs

# Where each name lives.
_NAMES = {
    "round_trip": ("assert_round_trip", "structural_diff"),
    "reference": ("check_against_reference", "extreme_inputs", "random_inputs", "run_program"),
    "meaning": ("interpret",),
    "strategies": ("programs",),
    "parametrize": ("fixture", "main", "parameter", "parameters"),
    "before_after": ("CompareBeforeAfter", "assert_prim_expr_equal", "check_bool_expr_is_true"),
    "requirements": (
        "Feature", "device_enabled", "enabled_targets", "exclude_targets", "known_failing_targets",
        "parametrize_targets", "requires_64bit", "requires_cuda", "requires_cuda_compute_version",
        "requires_gpu", "requires_llvm", "requires_llvm_minimum_version", "requires_metal",
        "requires_nvcc_version", "requires_opencl", "requires_package", "requires_rocm",
        "requires_tensorcore", "requires_vulkan", "requires_x86", "requires_x86_avx512",
        "requires_x86_vnni", "skip_if_32bit", "slow", "uses_gpu",
    ),
}  # fmt: skip
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
_NOT_YET = frozenset((
    "check_int_constraints_trans_consistency", "check_numerical_grads", "generate_random_array",
    "identity_after", "install_request_hook", "is_ampere_or_newer", "local_run", "object_use_count",
    "requires_adreno_opencl_vulkan", "requires_aprofile_aem_fvp", "requires_arm_dot", "requires_arm_fp16",
    "requires_corstone300", "requires_cublas", "requires_cudagraph", "requires_cudnn", "requires_cutlass",
    "requires_ethosn", "requires_ethosu", "requires_hexagon", "requires_hexagon_toolchain",
    "requires_libtorch", "requires_matrixcore", "requires_micro", "requires_mps", "requires_mrvl",
    "requires_opencl_vulkan", "requires_openclml", "requires_rpc", "requires_vitis_ai", "requires_webgpu",
    "rpc_run", "run_with_gpu_lock", "runner", "terminate_self", "test_raise_error", "tir", "utils",
))  # fmt: skip

__all__ = sorted({"assert_allclose", *_WHERE})


def __getattr__(name: str) -> Any:
    import importlib

    where = _WHERE.get(name)
    if where is None:
        from tirscript.notyet import absent

        return absent(__name__, name, __all__, _NOT_YET)
    value = getattr(importlib.import_module(f"{__name__}.{where}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
