"""What a target says to this backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
