"""Devices: where arrays live."""

from __future__ import annotations

import importlib
from typing import Any

from tirscript.diagnostics import TargetError, did_you_mean

_CODES = {"cpu": 1, "cuda": 2}
_KINDS = {"cpu": "cpu", "llvm": "cpu", "python": "cpu", "cuda": "cuda", "gpu": "cuda", "nvidia": "cuda"}


_NUMBERS = frozenset((
    "api_version", "available_global_memory", "compute_version", "device_name", "driver_version",
    "l2_cache_size_bytes", "max_clock_rate", "max_shared_memory_per_block", "max_thread_dimensions",
    "max_threads_per_block", "multi_processor_count", "total_global_memory", "warp_size",
))  # fmt: skip


class Device:
    """One device.

    >>> str(cpu()), cpu() == Device("cpu", 0), cpu(1).device_id
    ('cpu:0', True, 1)
    """

    __slots__ = ("index", "kind")

    def __init__(self, kind: str, index: int = 0) -> None:
        self.kind = kind
        self.index = index

    @property
    def device_type(self) -> int:
        """DLPack's number of the kind."""
        return _CODES[self.kind]

    @property
    def device_id(self) -> int:
        return self.index

    @property
    def exist(self) -> bool:
        """Whether the device can be used in this process."""
        return self.kind == "cpu"

    def sync(self) -> None:
        """Wait until the device has done all that it was given."""

    def __getattr__(self, name: str) -> None:
        """TVM's numbers of a device: None, as TVM has it for what is not known."""
        if name in _NUMBERS:
            return
        raise AttributeError(f"a device has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.kind, self.index) == (other.kind, other.index)

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above what runs.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"{self.kind}({self.index})"


def cpu(index: int = 0) -> Device:
    """The CPU."""
    return Device("cpu", index)


def cuda(index: int = 0) -> Device:
    """A CUDA device."""
    return Device("cuda", index)


def device(kind: Any, index: int = 0) -> Device:
    """The device of a kind (``"cpu"``, ``"cuda:1"``, ``"llvm"``) or of a target.

    >>> device("llvm"), device("cuda:1")
    (cpu(0), cuda(1))
    """
    if isinstance(kind, Device):
        return kind
    name = kind if isinstance(kind, str) else str(getattr(kind, "kind", kind))
    name = name.split()[0] if name.split() else name
    name, _, number = name.partition(":")
    if number:
        if not number.isdigit():
            raise TargetError(f"{kind!r} is no device", code="unknown-device")
        index = int(number)
    known = _KINDS.get(name)
    if known is None:
        raise TargetError(
            f"there is no device {name!r}", code="unknown-device", hint=did_you_mean(name, _KINDS)
        )
    return Device(known, index)
