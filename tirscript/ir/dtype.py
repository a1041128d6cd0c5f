"""Data types: strings such as ``"float32"``, ``"int4"``, ``"uint8x16"``, and what they mean.

Dtypes are plain strings everywhere; this module is the table behind them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tirscript.diagnostics import did_you_mean


class DType(NamedTuple):
    """The parts of a dtype: ``code`` is int, uint, float, bfloat, float8, bool, handle or void;
    ``bits`` the width of one lane; ``base`` the scalar dtype; ``scalable`` marks ``xvscale`` vectors."""

    code: str
    bits: int
    lanes: int
    base: str
    scalable: bool = False

    @property
    def is_int(self) -> bool:
        """A signed or unsigned integer (bool is neither)."""
        return self.code in ("int", "uint")

    @property
    def is_float(self) -> bool:
        return self.code in ("float", "bfloat", "float8")


FLOAT8 = (
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
_OLD_NAMES = {"e4m3_float8": "float8_e4m3fn", "e5m2_float8": "float8_e5m2", "boolean": "bool"}

SCALARS: dict[str, DType] = {
    "bool": DType("bool", 1, 1, "bool"),
    "handle": DType("handle", 64, 1, "handle"),
    "void": DType("void", 0, 1, "void"),
    "bfloat16": DType("bfloat", 16, 1, "bfloat16"),
}
for _bits in (1, 2, 4, 8, 16, 32, 64):
    for _code in ("int", "uint"):
        SCALARS[f"{_code}{_bits}"] = DType(_code, _bits, 1, f"{_code}{_bits}")
for _bits in (16, 32, 64):
    SCALARS[f"float{_bits}"] = DType("float", _bits, 1, f"float{_bits}")
for _name in FLOAT8:
    SCALARS[_name] = DType("float8", 8, 1, _name)

_VECTOR = re.compile(r"(.+?)x(vscalex)?(\d+)\Z")
_table: dict[str, DType] = dict(SCALARS)


def info(dtype: str) -> DType:
    """The parts of ``dtype``.  Raises ValueError for what is no dtype.

    >>> info("float32x4")
    DType(code='float', bits=32, lanes=4, base='float32', scalable=False)
    """
    found = _table.get(dtype)
    return found if found is not None else _parse(dtype)


def _parse(dtype: str) -> DType:
    if not isinstance(dtype, str):
        raise ValueError(f"{dtype!r} is no dtype: a string such as 'float32' is wanted")
    match = _VECTOR.match(dtype)
    if match and match[1] in SCALARS and match[1] not in ("handle", "void") and int(match[3]) > 1:
        scalar = SCALARS[match[1]]
        _table[dtype] = made = DType(scalar.code, scalar.bits, int(match[3]), scalar.base, bool(match[2]))
        return made
    hint = did_you_mean(dtype, SCALARS)
    raise ValueError(f"{dtype!r} is no dtype" + (f"; {hint}" if hint else ""))


@lru_cache(maxsize=1024)
def normalize(dtype: object) -> str:
    """The dtype string for what a user may write: a string, an old name, a NumPy or ml_dtypes dtype,
    a type object such as ``np.float32``.  Raises ValueError.

    >>> import numpy as np
    >>> normalize(np.float32), normalize("boolean")
    ('float32', 'bool')
    """
    if isinstance(dtype, str):
        name = _OLD_NAMES.get(dtype, dtype)
    elif isinstance(dtype, type) and dtype in (int, float, bool):
        name = {int: "int32", float: "float32", bool: "bool"}[dtype]
    else:
        named = getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
        name = named if isinstance(named, str) else str(dtype)
        name = {"bool_": "bool"}.get(name, name)
    info(name)
    return name


def with_lanes(dtype: str, lanes: int, scalable: bool = False) -> str:
    """``dtype``'s scalar with another number of lanes."""
    base = info(dtype).base
    if scalable:
        return f"{base}xvscalex{lanes}"
    return base if lanes == 1 else f"{base}x{lanes}"


def is_int(dtype: str) -> bool:
    """Signed or unsigned integer, scalar or vector; bool is not."""
    return info(dtype).code in ("int", "uint")


def is_float(dtype: str) -> bool:
    return info(dtype).code in ("float", "bfloat", "float8")


def is_bool(dtype: str) -> bool:
    return info(dtype).code == "bool"


def lanes(dtype: str) -> int:
    return info(dtype).lanes


def bounds(dtype: str) -> tuple[int, int]:
    """The smallest and the largest value of an integer or bool dtype.

    >>> bounds("int8"), bounds("uint4"), bounds("bool")
    ((-128, 127), (0, 15), (0, 1))
    """
    d = info(dtype)
    if d.code == "int":
        return -(1 << (d.bits - 1)), (1 << (d.bits - 1)) - 1
    if d.code in ("uint", "bool"):
        return 0, (1 << d.bits) - 1
    raise ValueError(f"{dtype!r} is no integer dtype")


def wrap(value: int, dtype: str) -> int:
    """``value`` modulo 2^bits, in the range of the integer dtype.

    >>> wrap(200, "int8"), wrap(-1, "uint8")
    (-56, 255)
    """
    d = info(dtype)
    value &= (1 << d.bits) - 1
    if d.code == "int" and value >> (d.bits - 1):
        value -= 1 << d.bits
    return value
