"""What a target says to this backend."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from typing import Any

# Families of x86 processors that convert float16.
_WITH_F16C = (
    "haswell", "broadwell", "skylake", "cascadelake", "cooperlake", "cannonlake", "icelake", "tigerlake",
    "rocketlake", "alderlake", "raptorlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver",
    "x86-64-v3", "x86-64-v4", "ivybridge", "apple", "neoverse", "cortex-a",
)  # fmt: skip


_WITH_AVX2 = tuple(n for n in _WITH_F16C if n not in ("ivybridge", "apple", "neoverse", "cortex-a"))


@cache
def _host_has(feature: str) -> bool:
    import llvmlite.binding as llvm

    return bool(llvm.get_host_cpu_features().get(feature))


def _host_has_f16c() -> bool:
    return platform.machine().lower() in ("aarch64", "arm64") or _host_has("f16c")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of code generation; see the table of targets."""

    contract: bool = True  # a*b+c of one expression may be rounded once
    fast_math: bool = False
    vector_math: bool = True
    opt_level: int = 3
    cpu: str = ""  # the host's where empty
    features: str | None = None
    triple: str = ""
    checked: bool = False

    @property
    def half(self) -> bool:
        """Whether the machine has instructions for float16."""
        if "+f16c" in (self.features or "") or self.triple.startswith(("aarch64", "arm64")):
            return True
        if self.triple or self.cpu:
            return self.cpu.startswith(_WITH_F16C)
        return _host_has_f16c()

    @property
    def lanes(self) -> int:
        """How many float32 a vector register of most machines of this kind holds."""
        if "+avx2" in (self.features or ""):
            return 8
        if self.triple or self.cpu:
            return 8 if self.cpu.startswith(_WITH_AVX2) else 4
        return 8 if _host_has("avx2") else 4

    @staticmethod
    def of(target: Any) -> Options:
        """The options of a target: a Target, a mapping of options, or None for the defaults."""
        if isinstance(target, Options):
            return target
        if target is None or isinstance(target, str):
            return Options()
        get = _getter(target)
        level = get("O")
        if level is None:
            level = get("opt-level")
        return Options(
            contract=get("fp-contract") not in ("off", False),
            fast_math=bool(get("fast-math")),
            vector_math=get("math") != "scalar",
            opt_level=3 if level is None else int(level),
            cpu=str(get("mcpu") or ""),
            features=_features(get("mattr")),
            triple=str(get("mtriple") or ""),
            checked=bool(get("checked")),
        )


def _getter(target: Any) -> Any:
    if isinstance(target, dict):
        return target.get
    options = getattr(target, "attrs", None)
    if options is None:
        options = getattr(target, "options", None)
    return dict(options).get if options is not None else target.get


def _features(value: Any) -> str | None:
    if not value:
        return None
    return value if isinstance(value, str) else ",".join(map(str, value))
