"""Which processors and features code may be made for: LLVM aborts, or the code does, on a wrong one."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable

from tirscript.diagnostics import TargetError, did_you_mean

_V2 = ("sse4.2", "popcnt", "cx16")
_V3 = (*_V2, "avx2", "fma", "bmi", "bmi2", "lzcnt", "movbe", "f16c")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_ICE = (*_V4, "avx512vbmi", "avx512vnni", "gfni", "vaes", "vpclmulqdq", "sha")
# 64-bit x86 processors by what the host must have to run code for them.
_X86: dict[tuple[str, ...], str] = {
    (): "x86-64 generic nocona core2 penryn bonnell atom",
    _V2: "x86-64-v2 nehalem corei7 westmere silvermont slm goldmont goldmont-plus tremont",
    (*_V2, "avx"): "sandybridge corei7-avx ivybridge core-avx-i btver2",
    _V3: "x86-64-v3 haswell core-avx2 broadwell skylake znver1 znver2 znver3",
    (*_V3, "gfni", "vaes", "vpclmulqdq", "sha"): "alderlake raptorlake meteorlake gracemont",
    _V4: "x86-64-v4 skylake-avx512 skx",
    (*_V4, "avx512vnni"): "cascadelake cooperlake",
    _ICE: "icelake-client icelake-server rocketlake tigerlake znver4",
    (*_ICE, "avx512bf16"): "znver5",
    (*_ICE, "avx512bf16", "avx512fp16"): "sapphirerapids emeraldrapids graniterapids",
}
_NEEDED = {name: needed for needed, names in _X86.items() for name in names.split()}

_lock = threading.Lock()
_known: tuple[frozenset[str], frozenset[str]] | None = None


def known() -> tuple[frozenset[str], frozenset[str]]:
    """The processors and the features that LLVM has for this machine's architecture.

    LLVM says them only on the standard error stream, which is caught once.
    """
    global _known
    with _lock:
        if _known is None:
            _known = _read()
    return _known


def _read() -> tuple[frozenset[str], frozenset[str]]:
    from . import jit

    llvm = jit._llvm()
    target = llvm.Target.from_default_triple()
    try:
        with tempfile.TemporaryFile() as caught:
            sys.stderr.flush()
            kept = os.dup(2)
            os.dup2(caught.fileno(), 2)
            try:
                target.create_target_machine(cpu="help")
            finally:
                os.dup2(kept, 2)
                os.close(kept)
            caught.seek(0)
            text = caught.read().decode("utf-8", "replace")
    except (OSError, AttributeError, ValueError):
        return frozenset(), frozenset()  # no standard error: nothing is known, nothing is refused
    cpus, _, features = text.partition("Available features")
    return _names(cpus.splitlines()), _names(features.splitlines())


def _names(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(line.split()[0] for line in lines if line.startswith("  ") and " - " in line)


def check_machine(cpu: str, features: str | None) -> None:
    """Raise TargetError for a processor or feature that LLVM does not know or this machine lacks."""
    if not cpu and not features:
        return
    import llvmlite.binding as llvm

    cpus, all_features = known()
    host: dict[str, bool] = dict(llvm.get_host_cpu_features())
    if cpu and cpu not in ("native", llvm.get_host_cpu_name()):
        if cpus and cpu not in cpus:
            raise TargetError(
                f"LLVM knows no processor `{cpu}` for this machine",
                code="unknown-cpu",
                hint=did_you_mean(cpu, cpus),
            )
        if host.keys() & {"sse2", "avx"}:
            _check_x86(cpu, host)
    for item in (features or "").split(","):
        sign, name = item[:1], item[1:]
        if not item:
            continue
        if sign not in ("+", "-") or (all_features and name not in all_features):
            raise TargetError(
                f"`{item}` is no processor feature; features are +name or -name",
                code="unknown-feature",
                hint=did_you_mean(name, all_features),
            )
        if sign == "+" and host.get(name) is False:
            raise TargetError(
                f"this machine has no `{name}`: code that uses it cannot run", code="missing-feature"
            )
        if item in ("-64bit", "-sse2", "-sse", "-cx8", "-x87"):
            raise TargetError(f"64-bit code needs `{name}`", code="missing-feature")


def _check_x86(cpu: str, host: dict[str, bool]) -> None:
    needed = _NEEDED.get(cpu)
    if needed is None:
        levels = ", ".join([n for n in _NEEDED if n.startswith("x86-64")])
        raise TargetError(
            f"it is not known whether this machine can run code for `{cpu}`",
            code="foreign-cpu",
            hint=f"the host is `{_host()}`; {levels} are known",
        )
    missing = [n for n in needed if host.get(n) is False]
    if missing:
        raise TargetError(
            f"this machine cannot run code for `{cpu}`: it has no {', '.join(missing)}", code="foreign-cpu"
        )


def _host() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())
