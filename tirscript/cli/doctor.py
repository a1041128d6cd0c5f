"""``tirscript doctor``: what was found on this machine, and what to install for the rest."""

from __future__ import annotations

import os
import platform
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from tirscript.diagnostics import TirscriptError

_ENVIRONMENT = (
    "TIRSCRIPT_NUM_THREADS", "TIRSCRIPT_POOL", "TIRSCRIPT_CACHE_DIR", "TIRSCRIPT_FROZEN", "TIRSCRIPT_PEERS",
    "OMP_NUM_THREADS",
)  # fmt: skip
_FEATURES = (
    "sse4.2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512vl",
    "avx512bf16",
    "amx-tile",
    "neon",
    "sve",
)


def execute(arguments: Namespace) -> int:
    works, outcome = _compiles()
    for title, rows in (
        ("Python", _python()),
        ("CPU", [*_cpu(), ("compile and run", outcome)]),
        ("GPU", _gpu()),
        ("notebook", _notebook()),
        ("environment", [(n, os.environ.get(n, "not set")) for n in _ENVIRONMENT]),
    ):
        print(title)
        for name, value in rows:
            print(f"  {name:<22} {value}")
    return 0 if works else 1


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _python() -> Iterator[tuple[str, str]]:
    from tirscript import __version__

    yield "tirscript", __version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    for package in ("numpy", "ml_dtypes", "astor", "pygments"):
        yield package, _version(package) or f"missing: pip install {package}"


def _cpu() -> Iterator[tuple[str, str]]:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    from tirscript.runtime import num_threads

    yield "CPUs to use", str(count)
    yield "threads", str(num_threads())
    try:
        import llvmlite
        import llvmlite.binding as llvm
    except ImportError:
        yield "llvmlite", 'missing: pip install llvmlite; without it only target="python" works'
        return
    yield "llvmlite", f"{llvmlite.__version__}, LLVM {'.'.join([str(n) for n in llvm.llvm_version_info])}"
    yield "CPU model of LLVM", llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features()
    yield "vector features", ", ".join([f for f in _FEATURES if features.get(f)]) or "none of those known"


def _compiles() -> tuple[bool, str]:
    """Whether a small program gives the right numbers, and the words for it."""
    import numpy as np

    from tirscript import driver
    from tirscript.script import from_source

    text = """
@T.prim_func
def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        B[i] = A[i] * T.float32(2)
"""
    a = np.arange(8, dtype="float32")
    b = np.zeros(8, dtype="float32")
    try:
        driver.build(from_source(text))["twice"](a, b)
    except (TirscriptError, ImportError, OSError) as error:
        return False, f"failed: {str(error).splitlines()[0]}"
    return (True, "yes") if np.array_equal(b, a * 2) else (False, "failed: wrong numbers")


def _gpu() -> Iterator[tuple[str, str]]:
    try:
        import cupy
    except ImportError:
        yield "CuPy", 'not installed: pip install "tirscript[cuda]" on a machine with an NVIDIA GPU'
        return
    yield "CuPy", str(cupy.__version__)
    try:
        version: Any = cupy.cuda.nvrtc.getVersion()
        yield "NVRTC", ".".join([str(n) for n in version])
    except Exception as error:  # CuPy raises what the loader of the missing library raises
        yield "NVRTC", f"not found: pip install nvidia-cuda-nvrtc ({type(error).__name__})"
    try:
        for i in range(cupy.cuda.runtime.getDeviceCount()):
            properties = cupy.cuda.runtime.getDeviceProperties(i)
            yield (
                f"device {i}",
                f"{properties['name'].decode()}, sm_{properties['major']}{properties['minor']}",
            )
    except Exception as error:
        yield "devices", f"none ({str(error).splitlines()[0]})"


def _notebook() -> Iterator[tuple[str, str]]:
    for package in ("ipykernel", "ipython", "matplotlib"):
        yield package, _version(package) or 'not installed: pip install "tirscript[notebook]"'
    yield "terminal", "colours" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else "plain"
