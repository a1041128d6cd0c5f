"""Targets: what a program is built for.

A target is a kind with options, written as in a shell (``llvm -mcpu=skylake -num-cores=4``), as a dict
(``{"kind": "llvm", "num-cores": 4}``) or as a tag (``nvidia/geforce-rtx-3070``).
"""

from __future__ import annotations

import contextvars
import importlib
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tirscript.diagnostics import TargetError, did_you_mean

__all__ = [
    "Target", "TargetKind", "arm_cpu", "create", "cuda", "detect_target_from_device", "list_kinds",
    "list_tags", "opencl", "register_tag",
]  # fmt: skip

Value = str | int | bool


class TargetKind(str):
    """The kind's name; ``.name`` is the same as plain text, as in TVM."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)


def _text(value: Any) -> Value:
    if isinstance(value, (list, tuple)):
        value = ",".join(str(v) for v in value)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise ValueError("a text is wanted")
    return str(value)


def _number(least: int, most: int | None = None) -> Callable[[Any], Value]:
    def read(value: Any) -> Value:
        wanted = f"an integer from {least}" + ("" if most is None else f" to {most}") + " is wanted"
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(wanted)
        try:
            number = int(value)
        except ValueError:
            raise ValueError(wanted) from None
        if number < least or (most is not None and number > most):
            raise ValueError(wanted)
        return number

    return read


_BOOLS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


def _flag(value: Any) -> Value:
    found = _BOOLS.get(str(value).lower())
    if found is None:
        raise ValueError("true or false is wanted")
    return found


def _choice(*words: str, true: str | None = None, false: str | None = None) -> Callable[[Any], Value]:
    def read(value: Any) -> Value:
        if value is True and true is not None:
            return true
        if value is False and false is not None:
            return false
        if value not in words:
            raise ValueError(f"{' or '.join(words)} is wanted")
        return str(value)

    return read


def _checked(value: Any) -> Value:
    return "overflow" if value == "overflow" else _flag(value)


def _arch(value: Any) -> Value:
    if not isinstance(value, str) or not re.fullmatch(r"sm_\d{2,3}[af]?", value):
        raise ValueError("an architecture such as sm_80 is wanted")
    return value


class _Kind(NamedTuple):
    device: str
    options: dict[str, Callable[[Any], Value]]


_COMMON: dict[str, Callable[[Any], Value]] = {"schedule": _choice("default")}
_GPU: dict[str, Callable[[Any], Value]] = {
    "max_threads_per_block": _number(1),
    "max_shared_memory_per_block": _number(0),
    "thread_warp_size": _number(1),
}
_KINDS: dict[str, _Kind] = {
    "llvm": _Kind(
        "cpu",
        {
            "mcpu": _text,
            "mattr": _text,
            "mtriple": _text,
            "O": _number(0, 3),
            "num-cores": _number(1),
            "fast-math": _flag,
            "fp-contract": _choice("on", "off", true="on", false="off"),
            "math": _choice("vector", "scalar"),
            "checked": _flag,
            **_COMMON,
        },
    ),
    "python": _Kind("cpu", {"checked": _checked, **_COMMON}),
    "cuda": _Kind(
        "cuda", {"arch": _arch, **_GPU, "fast-math": _flag, "sim": _flag, "checked": _flag, **_COMMON}
    ),
    "opencl": _Kind("opencl", {**_GPU, **_COMMON}),
    "metal": _Kind("metal", {**_GPU, **_COMMON}),
}
# Other spellings of options, and what a kind stands for if nothing is said.
_ALIASES = {"opt-level": "O", "O-level": "O"}
_DEFAULTS: dict[str, dict[str, Value]] = {
    "llvm": {"O": 3, "fp-contract": "on", "math": "vector"},
    "cuda": {
        "arch": "sm_80",
        "max_threads_per_block": 1024,
        "max_shared_memory_per_block": 49152,
        "thread_warp_size": 32,
    },
    "opencl": {"max_threads_per_block": 256, "max_shared_memory_per_block": 32768, "thread_warp_size": 1},
    "metal": {"max_threads_per_block": 1024, "max_shared_memory_per_block": 32768, "thread_warp_size": 32},
}


def _nvidia(arch: str, shared: int = 49152) -> dict[str, Value]:
    return {
        "kind": "cuda",
        "arch": arch,
        "max_threads_per_block": 1024,
        "max_shared_memory_per_block": shared,
        "thread_warp_size": 32,
    }


_TAGS: dict[str, dict[str, Value]] = {
    **{
        f"nvidia/{name}": _nvidia(arch)
        for name, arch in {
            "geforce-gtx-1080-ti": "sm_61",
            "geforce-rtx-2080-ti": "sm_75",
            "geforce-rtx-3060": "sm_86",
            "geforce-rtx-3070": "sm_86",
            "geforce-rtx-3080": "sm_86",
            "geforce-rtx-3090": "sm_86",
            "geforce-rtx-3090-ti": "sm_86",
            "geforce-rtx-4070": "sm_89",
            "geforce-rtx-4080": "sm_89",
            "geforce-rtx-4090": "sm_89",
            "geforce-rtx-5090": "sm_120",
            "jetson-agx-xavier": "sm_72",
            "jetson-agx-orin-64gb": "sm_87",
            "nvidia-t4": "sm_75",
            "nvidia-v100": "sm_70",
            "nvidia-a100": "sm_80",
            "nvidia-a10g": "sm_86",
            "nvidia-l4": "sm_89",
            "nvidia-l40": "sm_89",
        }.items()
    },
    "nvidia/nvidia-h100": _nvidia("sm_90a"),
    "nvidia/nvidia-h200": _nvidia("sm_90a"),
    "nvidia/nvidia-b200": _nvidia("sm_100a"),
    "apple/m1-gpu": {"kind": "metal", "max_threads_per_block": 1024, "max_shared_memory_per_block": 32768},
    "apple/m2-gpu": {"kind": "metal", "max_threads_per_block": 1024, "max_shared_memory_per_block": 32768},
    "raspberry-pi/4b-aarch64": {
        "kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": "cortex-a72", "mattr": "+neon",
        "num-cores": 4,
    },
}  # fmt: skip

_stack: contextvars.ContextVar[tuple[Target, ...]] = contextvars.ContextVar("tirscript_target", default=())


class Target:
    """A target: a kind with options, immutable and hashable.

    >>> t = Target("llvm -num-cores=4 -mcpu=skylake")
    >>> str(t), t.kind, t.attrs["num-cores"]
    ('llvm -mcpu=skylake -num-cores=4', 'llvm', 4)
    >>> Target(str(t)) == t == Target({"kind": "llvm", "mcpu": "skylake", "num-cores": 4})
    True
    >>> with t:
    ...     Target.current() is t
    True
    """

    __slots__ = ("__weakref__", "_attrs", "_host", "_kind", "_tag", "_text")
    _attrs: dict[str, Value]
    _host: Target | None
    _kind: TargetKind
    _tag: str
    _text: str

    def __init__(
        self, target: str | Mapping[str, Any] | Target, host: str | Mapping[str, Any] | Target | None = None
    ) -> None:
        kind: str
        options: dict[str, Value]
        tag: str
        inner: Any
        if isinstance(target, Target):
            kind, options, tag = str(target._kind), dict(target._attrs), target._tag
            host = target._host if host is None else host
        elif isinstance(target, str):
            kind, options, tag, inner = _parse_text(target)
            host = inner if host is None else host
        elif isinstance(target, Mapping):
            kind, options, tag, inner = _parse_dict(target)
            host = inner if host is None else host
        else:
            raise TargetError(
                f"a target is a string, a dict or a Target, not {type(target).__name__}", code="target-type"
            )
        self._kind = TargetKind(kind)
        self._tag = tag
        self._attrs = {k: options[k] for k in sorted(options)}
        self._host = None if host is None else Target(host)
        if self._host is not None and self._host._host is not None:
            raise TargetError("the host of a target has no host itself", code="target-host")
        self._text = self._canonical()

    def _canonical(self) -> str:
        parts = [str(self._kind)]
        for key, value in self._attrs.items():
            if value is True:
                parts.append(f"-{key}")
            else:
                parts.append(f"-{key}={shlex.quote(str(value))}")
        if self._host is not None:
            parts.append(f"-host={shlex.quote(str(self._host))}")
        return " ".join(parts)

    @property
    def kind(self) -> TargetKind:
        return self._kind

    @property
    def tag(self) -> str:
        """The tag that the target was made from, else an empty string."""
        return self._tag

    @property
    def host(self) -> Target | None:
        return self._host

    @property
    def attrs(self) -> dict[str, Value]:
        """The options that were given."""
        return dict(self._attrs)

    @property
    def device_kind(self) -> str:
        """Where its arrays live: ``cpu``, ``cuda``, ``opencl`` or ``metal``."""
        return _KINDS[self._kind].device

    def get(self, key: str, default: Any = None) -> Any:
        """The option ``key``: as given, else the kind's default, else ``default``."""
        name = _option(self._kind, key) or key
        found = self._attrs.get(name)
        if found is None:
            found = _DEFAULTS.get(self._kind, {}).get(name)
        return default if found is None else found

    @property
    def arch(self) -> str | None:
        return self.get("arch")  # type: ignore[no-any-return]

    @property
    def mcpu(self) -> str:
        """The CPU's name as LLVM has it; an empty string for the host's."""
        return str(self.get("mcpu", ""))

    @property
    def mattr(self) -> list[str]:
        text = str(self.get("mattr", ""))
        return text.split(",") if text else []

    @property
    def max_num_threads(self) -> int:
        """The most threads of a block."""
        return int(self.get("max_threads_per_block", 1))

    @property
    def thread_warp_size(self) -> int:
        return int(self.get("thread_warp_size", 1))

    @property
    def keys(self) -> list[str]:
        """The kinds of devices that it stands for, as TVM lists them."""
        return [self.device_kind, "gpu"] if self.device_kind != "cpu" else ["cpu"]

    @property
    def libs(self) -> list[str]:
        """External libraries: none are used."""
        return []

    @property
    def model(self) -> str:
        """The processor's name, ``unknown`` where it is not said."""
        return self.mcpu or "unknown"

    @property
    def mtriple(self) -> str:
        """LLVM's name of the machine; an empty string for the host's."""
        return str(self.get("mtriple", ""))

    @property
    def max_shared_memory_per_block(self) -> int:
        """The most bytes of shared memory of a block."""
        return int(self.get("max_shared_memory_per_block", 0))

    @property
    def target_device_type(self) -> int:
        """``get_target_device_type()``"""
        return self.get_target_device_type()

    def get_target_device_type(self) -> int:
        """DLPack's number of its devices."""
        return {"cpu": 1, "cuda": 2, "opencl": 4, "metal": 8}[self.device_kind]

    @staticmethod
    def from_device(device: Any) -> Target:
        """The target for a device, such as ``cpu()`` or ``"cuda"``."""
        kind = device.split(":")[0] if isinstance(device, str) else device.kind
        return Target("llvm" if kind == "cpu" else kind)

    @staticmethod
    def canon_target(target: Any) -> Target | None:
        """``target`` as a Target; None stays None."""
        return target if target is None or isinstance(target, Target) else Target(target)

    @staticmethod
    def canon_target_and_host(
        target: Any, target_host: Any = None, *_: Any
    ) -> tuple[Target | None, Target | None]:
        """Target and host as Targets, the host inside the target too."""
        made = Target.canon_target(target)
        if made is None:
            if target_host is not None:
                raise TargetError("a host without a target", code="target-host")
            return None, None
        if target_host is not None:
            made = made.with_host(target_host)
        return made, made.host

    def with_host(self, host: str | Mapping[str, Any] | Target) -> Target:
        return Target(self, host)

    def export(self) -> dict[str, Any]:
        """The target as a dict, which ``Target`` takes back."""
        out: dict[str, Any] = {"kind": str(self._kind), **self._attrs}
        if self._host is not None:
            out["host"] = self._host.export()
        return out

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost ``with target:``."""
        stack = _stack.get()
        if stack:
            return stack[-1]
        if allow_none:
            return None
        raise TargetError("there is no current target", code="no-target", hint='with Target("llvm"): ...')

    @staticmethod
    def list_kinds() -> list[str]:
        return list(_KINDS)

    @staticmethod
    def list_tags() -> list[str]:
        return list(_TAGS)

    def __enter__(self) -> Target:
        _stack.set((*_stack.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _stack.set(_stack.get()[:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __repr__(self) -> str:
        return f"Target({self._text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Target, (self._text,)


def _option(kind: str, key: str) -> str | None:
    """The option's own spelling for ``key``; None where the kind has no such option."""
    known = _KINDS[kind].options
    key = _ALIASES.get(key.replace("_", "-"), key)
    if key in known:
        return key
    plain = key.replace("_", "-")
    return next((k for k in known if k.replace("_", "-") == plain), None)


def _resolve(name: str) -> tuple[str, dict[str, Value], str]:
    """The kind, the options of the tag, and the tag, for a first word."""
    if name in _KINDS:
        return name, {}, ""
    if name in _TAGS:
        options = dict(_TAGS[name])
        return str(options.pop("kind")), options, name
    close = did_you_mean(name, [*_KINDS, *_TAGS])
    what = "tag" if "/" in name else "kind"
    raise TargetError(
        f"there is no target {what} `{name}`; the kinds are {', '.join(_KINDS)}",
        code="unknown-target",
        hint=close,
    )


def _set(kind: str, options: dict[str, Value], key: str, value: Any, text: str) -> None:
    name = _option(kind, key)
    if name is None:
        known = list(_KINDS[kind].options)
        raise TargetError(
            f"target `{kind}` has no option `{key}`; it has {', '.join(known)}",
            code="unknown-option",
            notes=[f"in {text!r}"],
            hint=did_you_mean(key, [*known, "host"]),
        )
    try:
        read = _KINDS[kind].options[name](value)
    except ValueError as e:
        raise TargetError(f"option `{name}` of `{kind}`: {e}, not {value!r}", code="option-value") from None
    if read is False:
        options.pop(name, None)
    else:
        options[name] = read


def _parse_text(text: str) -> tuple[str, dict[str, Value], str, Any]:
    try:
        words = shlex.split(text)
    except ValueError as e:
        raise TargetError(f"{text!r} is no target: {e}", code="target-syntax") from None
    if not words or words[0].startswith("-"):
        raise TargetError(
            f"{text!r} is no target: it starts with a kind, one of {', '.join(_KINDS)}, or a tag",
            code="target-syntax",
        )
    kind, options, tag = _resolve(words[0])
    host: Any = None
    seen: set[str] = set()
    for word in words[1:]:
        match = re.fullmatch(r"--?([A-Za-z][\w-]*?)(?:=(.*))?", word, re.DOTALL)
        if match is None:
            raise TargetError(
                f"`{word}` is no option; options are -key=value or -flag",
                code="target-syntax",
                notes=[f"in {text!r}"],
            )
        key, value = match[1], match[2]
        short = re.fullmatch(r"O(\d)", key)
        if short and value is None:
            key, value = "O", short[1]
        name = _option(kind, key) or key
        if name in seen:
            raise TargetError(f"option `{key}` is given twice", code="option-twice", notes=[f"in {text!r}"])
        seen.add(name)
        if key == "host":
            host = value
        else:
            _set(kind, options, key, True if value is None else value, text)
    return kind, options, tag, host


def _parse_dict(given: Mapping[str, Any]) -> tuple[str, dict[str, Value], str, Any]:
    text = str(dict(given))
    first = given.get("kind", given.get("tag"))
    if not isinstance(first, str):
        raise TargetError(f"{text} is no target: a dict needs the key `kind`", code="target-syntax")
    kind, options, tag = _resolve(first)
    host: Any = None
    for key, value in given.items():
        if key in ("kind", "tag"):
            continue
        if key == "host":
            host = value
        elif not isinstance(key, str):
            raise TargetError(f"an option's name is a string, not {key!r}", code="target-syntax")
        else:
            _set(kind, options, key, value, text)
    return kind, options, tag, host


# ---- TVM's functions of the module


def create(target: str | Mapping[str, Any] | Target) -> Target:
    """The target of a text or dict.

    Source: TVM's ``target.create``.
    """
    return Target(target)


def cuda(model: str = "unknown", arch: str | None = None, options: str | None = None, **_: Any) -> Target:
    """A target for NVIDIA's GPUs.

    >>> cuda(arch="sm_80")
    Target('cuda -arch=sm_80')

    Source: TVM's ``target.cuda``.
    """
    words = ["cuda", *([f"-arch={arch}"] if arch else []), *([options] if options else [])]
    return Target(" ".join(words))


def opencl(model: str = "unknown", options: str | None = None) -> Target:
    """A target for OpenCL.

    Source: TVM's ``target.opencl``.
    """
    return Target(" ".join(["opencl", *([options] if options else [])]))


def arm_cpu(model: str = "unknown", options: str | None = None) -> Target:
    """A target for Arm's processors of 64 bits.

    Source: TVM's ``target.arm_cpu``.
    """
    return Target(" ".join(["llvm -mtriple=aarch64-linux-gnu", *([options] if options else [])]))


def list_tags() -> dict[str, Target]:
    """The tags, with the target of each.

    Source: TVM's ``target.list_tags``.
    """
    return {name: Target(name) for name in _TAGS}


def list_kinds() -> list[str]:
    """The kinds of targets."""
    return list(_KINDS)


def register_tag(name: str, config: Mapping[str, Any], override: bool = False) -> Target:
    """A new tag: a name for a target that is written as a dict.

    Source: TVM's ``target.register_tag``.
    """
    if name in _KINDS or (name in _TAGS and not override):
        raise TargetError(f"there is a target `{name}` already", code="target-tag", hint="override=True")
    made = Target(config)
    _TAGS[name] = {"kind": str(made.kind), **made.attrs}
    return Target(name)


def detect_target_from_device(dev: Any) -> Target:
    """The target for a device.

    Source: TVM's ``target.detect_target.detect_target_from_device``.
    """
    return Target.from_device(dev)


_NOT_YET = frozenset((
    "GenericFunc", "VirtualDevice", "adreno", "arm_isa", "bifrost", "build_config", "codegen",
    "compilation_config", "datatype", "detect_target", "generic_func", "generic", "hexagon", "intel_graphics",
    "intrin", "mali",
    "micro", "override_native_generic_func", "pynq", "rasp", "register_intrin_lowering", "riscv_cpu", "rocm",
    "rpi", "stm32", "tag_registry", "vta", "x86",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
