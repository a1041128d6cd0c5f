"""``T``: every spelling of the script language, with its signature and what it means.

The parser knows these objects by identity.  Names of classic TVM that tirscript does not have yet are
here too: their use says so.
"""

from __future__ import annotations

from typing import Any

from . import constructs as _constructs
from . import intrinsics as _intrinsics
from . import operators as _operators
from .dtypes import BufferFactory as _BufferFactory
from .dtypes import DTypeConstructor as _DTypeConstructor
from .dtypes import HandleConstructor as _HandleConstructor
from .dtypes import PointerFactory as _PointerFactory

Buffer = _BufferFactory()
Ptr = _PointerFactory()
handle = _HandleConstructor()

_SCALARS = (
    "bool", "void", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16", "int1", "int4", "uint1", "uint4", "float8_e3m4", "float8_e4m3",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
)  # fmt: skip
_VECTORS = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "bfloat16",
)  # fmt: skip
_LANES = (2, 4, 8, 16, 32, 64)

# Known from TVM and not supported yet.
NOT_YET = (
    "CallEffectKind", "ProducerLoad", "Reduce", "arg", "block_name_suffix_context", "call_kernel", "prefetch",
    "preflattened_buffer",
)  # fmt: skip

_space: dict[str, Any] = globals()
for _name in _constructs.__all__:
    _space[_name] = getattr(_constructs, _name)
for _name in _operators.__all__:
    _space[_name] = getattr(_operators, _name)
for _name in _intrinsics.__all__:
    _space[_name] = getattr(_intrinsics, _name)
for _name in _SCALARS:
    _space[_name] = _DTypeConstructor(_name)
for _name in _VECTORS:
    for _lanes in _LANES:
        _space[f"{_name}x{_lanes}"] = _DTypeConstructor(f"{_name}x{_lanes}")
for _name in NOT_YET:
    _space[_name] = _constructs.not_yet(_name)
boolean = _space["bool"]
e4m3_float8, e5m2_float8 = _space["float8_e4m3fn"], _space["float8_e5m2"]
buffer = Buffer
del _name, _lanes

__all__ = sorted(n for n in _space if not n.startswith("_") and n not in ("annotations", "Any", "NOT_YET"))


def __getattr__(name: str) -> Any:
    from .unknown import unknown_name

    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Dtypes of any number of lanes.
    from tirscript.ir import dtype as dt

    try:
        dt.info(name)
    except ValueError:
        raise unknown_name("T", name, __all__) from None
    made = _space[name] = _DTypeConstructor(name)
    return made


def __dir__() -> list[str]:
    return list(__all__)
