"""The text of constants: the shortest that reads back as the same value in its dtype."""

from __future__ import annotations

import math

from tirscript.diagnostics import TirscriptError
from tirscript.ir.ops import round_float

from .names import quote

_floats: dict[tuple[float, str], str] = {}


def float_text(value: float, dtype: str) -> str:
    """What stands between the brackets of ``T.float32(...)``.

    >>> float_text(0.0999755859375, "float16"), float_text(-0.0, "float32"), float_text(2.0, "float64")
    ('0.1', '-0.0', '2')
    """
    if value == 0:
        return "0" if math.copysign(1.0, value) > 0 else "-0.0"
    found = _floats.get((value, dtype))
    if found is None:
        found = _text(value, dtype)
        if len(_floats) > 4096:
            _floats.clear()
        _floats[value, dtype] = found
    return found


def _text(value: float, dtype: str) -> str:
    if not math.isfinite(value):
        return quote("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")
    if abs(value) < 1e16 and value == int(value):
        return str(int(value))
    if dtype != "float64":
        for digits in range(1, 17):
            short = float(f"{value:.{digits}g}")
            try:
                if round_float(short, dtype) == value:
                    return repr(short)
            except (TirscriptError, KeyError):
                continue
    return repr(value)
