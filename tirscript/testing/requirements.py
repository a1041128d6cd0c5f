"""What a test needs: ``@requires_cuda``, ``@parametrize_targets("llvm")``.  pytest is imported on use."""

from __future__ import annotations

import importlib.util
import os
import platform
import struct
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "device_enabled", "enabled_targets", "exclude_targets", "known_failing_targets", "parametrize_targets",
    "requires_64bit", "requires_cuda", "requires_cuda_compute_version", "requires_gpu", "requires_llvm",
    "requires_llvm_minimum_version", "requires_metal", "requires_nvcc_version", "requires_opencl",
    "requires_package", "requires_rocm", "requires_tensorcore", "requires_vulkan", "requires_x86",
    "requires_x86_avx512", "requires_x86_vnni", "skip_if_32bit", "slow", "uses_gpu",
]  # fmt: skip

# Kinds of targets that run code on this machine; others print it, or are not there.
_RUNS = ("llvm", "python")


def _runs(kind: str) -> bool:
    """Whether programs for the kind can be built and called here."""
    if kind == "c":
        return False
    from tirscript import driver

    builder = driver._BUILDERS.get(kind)
    if builder is None or builder is driver._not_yet:
        return False
    return kind in _RUNS or _has_device(kind)


def _has_device(kind: str) -> bool:
    if kind != "cuda" or importlib.util.find_spec("cupy") is None:
        return False
    try:
        import cupy

        return bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no driver, no device
        return False


def _cpu_has(*features: str) -> bool:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    import llvmlite.binding as llvm

    have = llvm.get_host_cpu_features()
    return all(have.get(f, False) for f in features)


class Feature:
    """A requirement, as a decorator: a test without it is skipped.

    Source: TVM's ``tvm.testing.Feature``.
    """

    def __init__(self, name: str, test: Callable[[], bool], reason: str) -> None:
        self.__name__ = f"requires_{name}"
        self.name = name
        self.reason = reason
        self._test = test
        self._known: bool | None = None

    def available(self) -> bool:
        """Whether it is there."""
        if self._known is None:
            self._known = self._test()
        return self._known

    def marks(self) -> list[Any]:
        """The marks that the decorator puts on a test."""
        import pytest

        return [pytest.mark.skipif(not self.available(), reason=self.reason)]

    def __call__(self, func: Any = None) -> Any:
        if func is None:
            return self
        for mark in self.marks():
            func = mark(func)
        return func

    def __repr__(self) -> str:
        return f"<{self.__name__}: {'available' if self.available() else self.reason}>"


def _target(kind: str) -> Feature:
    return Feature(kind, lambda: _runs(kind), f"programs for {kind} cannot run here")


requires_llvm = _target("llvm")
requires_cuda = _target("cuda")
requires_opencl = _target("opencl")
requires_metal = _target("metal")
requires_vulkan = _target("vulkan")
requires_rocm = _target("rocm")
requires_gpu = Feature("gpu", lambda: _runs("cuda"), "there is no GPU that programs can run on")
uses_gpu = Feature("gpu", lambda: True, "")
requires_tensorcore = Feature("tensorcore", lambda: _runs("cuda"), "there are no tensor cores")
requires_x86 = Feature("x86", _cpu_has, "this is no x86 processor")
requires_x86_avx512 = Feature("x86_avx512", lambda: _cpu_has("avx512f", "avx512bw"), "there is no AVX-512")
requires_x86_vnni = Feature("x86_vnni", lambda: _cpu_has("avx512vnni"), "there is no VNNI")
requires_64bit = Feature("64bit", lambda: struct.calcsize("P") == 8, "this is no machine of 64 bits")


def requires_package(*packages: str) -> Feature:
    """A test that imports these packages.

    Source: TVM's ``tvm.testing.requires_package``.
    """
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    return Feature("package", lambda: not missing, f"there is no {', '.join(missing)}")


def requires_llvm_minimum_version(major_version: int) -> Feature:
    """A test for LLVM from that version on.

    Source: TVM's ``tvm.testing.requires_llvm_minimum_version``.
    """
    import llvmlite.binding as llvm

    found = llvm.llvm_version_info[0]
    return Feature("llvm_version", lambda: found >= major_version, f"LLVM is {found}, not {major_version}")


def requires_nvcc_version(major_version: int, minor_version: int = 0, release_version: int = 0) -> Feature:
    """A test for CUDA's compiler; tirscript does not use it.

    Source: TVM's ``tvm.testing.requires_nvcc_version``.
    """
    return Feature("nvcc_version", lambda: False, "nvcc is not used")


def requires_cuda_compute_version(major_version: int, minor_version: int = 0) -> Feature:
    """A test for GPUs from that compute capability on.

    Source: TVM's ``tvm.testing.requires_cuda_compute_version``.
    """

    def test() -> bool:
        if not _runs("cuda"):
            return False
        import cupy

        return int(cupy.cuda.Device(0).compute_capability) >= major_version * 10 + minor_version

    return Feature("cuda_compute_version", test, f"there is no GPU of {major_version}.{minor_version}")


# ---- targets as parameters


def device_enabled(target: Any) -> bool:
    """Whether programs for the target can run here."""
    from tirscript.target import Target

    return _runs(str((target if isinstance(target, Target) else Target(target)).kind))


def enabled_targets() -> list[tuple[str, Any]]:
    """Targets to test, with a device of each: those of ``TVM_TEST_TARGETS``, else ``llvm``.

    >>> [str(target) for target, dev in enabled_targets()]
    ['llvm']
    """
    wanted = [t for t in os.environ.get("TVM_TEST_TARGETS", "").split(";") if t.strip()]
    return [(t, _device(t)) for t in wanted or ["llvm"] if device_enabled(t)]


def _device(target: str) -> Any:
    from tirscript.runtime import device
    from tirscript.target import Target

    return device(str(Target(target).kind), 0)


def _pairs(targets: tuple[str, ...]) -> Iterator[Any]:
    import pytest

    for t in targets:
        able = device_enabled(t)
        mark = pytest.mark.skipif(not able, reason=f"programs for {t} cannot run here")
        yield pytest.param(t, _device(t) if able else None, marks=[mark], id=t)


def parametrize_targets(*targets: Any) -> Any:
    """The test runs once for each target, with arguments ``target`` and ``dev``; without targets for those
    that ``enabled_targets`` lists.

    Source: TVM's ``tvm.testing.parametrize_targets``.
    """
    import pytest

    if len(targets) == 1 and callable(targets[0]) and not isinstance(targets[0], str):
        return parametrize_targets()(targets[0])
    excluded: set[str] = set()

    def decorate(func: Any) -> Any:
        excluded.update(getattr(func, "_excluded_targets", ()))
        names = targets or tuple([t for t, _ in enabled_targets()])
        kept = tuple([t for t in names if str(t).split()[0] not in excluded])
        return pytest.mark.parametrize(("target", "dev"), list(_pairs(kept)))(func)

    return decorate


def exclude_targets(*kinds: str) -> Callable[[Any], Any]:
    """Kinds of targets that ``parametrize_targets`` above leaves out.

    Source: TVM's ``tvm.testing.exclude_targets``.
    """

    def decorate(func: Any) -> Any:
        func._excluded_targets = {*getattr(func, "_excluded_targets", ()), *kinds}
        return func

    return decorate


known_failing_targets = exclude_targets


def skip_if_32bit(func: Any = None, reason: str = "") -> Any:
    """A test for machines of 64 bits.

    Source: TVM's ``tvm.testing.skip_if_32bit``.
    """
    return requires_64bit if func is None or isinstance(func, str) else requires_64bit(func)


def slow(func: Any) -> Any:
    """A test that takes long: skipped where ``SKIP_SLOW_TESTS`` is set in the environment.

    Source: TVM's ``tvm.testing.slow``.
    """
    import pytest

    return pytest.mark.skipif(bool(os.environ.get("SKIP_SLOW_TESTS")), reason="slow")(func)
