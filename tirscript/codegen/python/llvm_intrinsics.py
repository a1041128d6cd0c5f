"""What LLVM's intrinsics for the instructions of CPUs compute, lane by lane, in NumPy.

Those that the shipped tensor intrinsics call, after the processors' manuals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirscript.diagnostics import NotYetError


def _groups(a: Any, n: int) -> Any:
    """The lanes in rows of ``n``, wide enough for any sum of products."""
    return np.asarray(a).astype(np.int64).reshape(-1, n)


def _wrapped(a: Any, like: np.dtype[Any]) -> Any:
    return a.astype(np.dtype(f"i{like.itemsize}")).view(like)


def _dot(width: int, a_kind: str = "", b_kind: str = "") -> Callable[..., Any]:
    """``c[i] + sum(a[i * width + k] * b[i * width + k])``, wrapping; a kind reads lanes anew."""

    def dot(c: Any, a: Any, b: Any) -> Any:
        x = np.asarray(a).view(np.dtype(a_kind)) if a_kind else a
        y = np.asarray(b).view(np.dtype(b_kind)) if b_kind else b
        sums = (_groups(x, width) * _groups(y, width)).sum(1)
        return _wrapped(np.asarray(c).astype(np.int64) + sums, np.asarray(c).dtype)

    return dot


def _saturating_pairs(a: Any, b: Any) -> Any:
    """``pmaddubsw``: unsigned times signed bytes, pairs added to 16 bits that saturate."""
    x, y = np.asarray(a).view(np.uint8), np.asarray(b).view(np.int8)
    sums = (_groups(x, 2) * _groups(y, 2)).sum(1)
    return np.clip(sums, -(1 << 15), (1 << 15) - 1).astype(np.int16)


def _pairs(a: Any, b: Any) -> Any:
    """``pmaddwd``: products of 16 bits, pairs added to 32."""
    return _wrapped((_groups(a, 2) * _groups(b, 2)).sum(1), np.dtype(np.int32))


def _bf16_pairs(c: Any, a: Any, b: Any) -> Any:
    """``vdpbf16ps``: the odd product of a pair is added first; denormals count as zero."""

    def flushed(x: Any) -> Any:
        return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)

    x = np.asarray(a).astype(np.float32).reshape(-1, 2)
    y = np.asarray(b).astype(np.float32).reshape(-1, 2)
    out = flushed(np.asarray(c, np.float32))
    with np.errstate(all="ignore"):
        for k in (1, 0):  # the product of two bfloat16 is exact in float32
            out = flushed(out + flushed(x[:, k]) * flushed(y[:, k]))
    return out.astype(np.float32)


def _widened_product(a: Any, b: Any) -> Any:
    kind = np.asarray(a).dtype
    wide = np.dtype(f"{kind.kind}{kind.itemsize * 2}")
    return np.asarray(a).astype(wide) * np.asarray(b).astype(wide)


def _pair_sums(a: Any) -> Any:
    kind = np.asarray(a).dtype
    return (
        np.asarray(a)
        .astype(f"{kind.kind}{kind.itemsize * 2}")
        .reshape(-1, 2)
        .sum(1, dtype=f"{kind.kind}{kind.itemsize * 2}")
    )


def _adjacent(a: Any, b: Any) -> Any:
    both = np.concatenate([np.asarray(a), np.asarray(b)])
    return both.reshape(-1, 2).sum(1, dtype=both.dtype)


_KNOWN: dict[str, Callable[..., Any]] = {
    **{f"llvm.x86.avx512.vpdpbusd.{n}": _dot(4, "u1", "i1") for n in (128, 256, 512)},
    "llvm.x86.avx512.pmaddubs.w.512": _saturating_pairs,
    "llvm.x86.avx512.pmaddw.d.512": _pairs,
    "llvm.x86.avx512bf16.dpbf16ps.512": _bf16_pairs,
    "llvm.aarch64.neon.sdot": _dot(4, "i1", "i1"),
    "llvm.aarch64.neon.udot": _dot(4, "u1", "u1"),
    "llvm.aarch64.neon.smull": _widened_product,
    "llvm.aarch64.neon.umull": _widened_product,
    "llvm.aarch64.neon.saddlp": _pair_sums,
    "llvm.aarch64.neon.uaddlp": _pair_sums,
    "llvm.aarch64.neon.addp": _adjacent,
}


def find(name: str) -> Callable[..., Any] | None:
    """The function of an intrinsic, with or without what its name says of types."""
    while name not in _KNOWN and ".v" in name:
        name = name[: name.rindex(".v")]
    return _KNOWN.get(name)


def llvm_intrinsic(name: str, *args: Any) -> Any:
    """The result of the intrinsic ``name``."""
    function = find(name)
    if function is None:
        raise NotYetError(f"the python target does not have the intrinsic {name}", code="llvm-intrinsic")
    return function(*args)
