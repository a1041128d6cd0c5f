"""TVM's ``tir`` paths: node classes, ``Schedule``, helpers.  ``tirx`` and ``s_tir`` are the same module."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import tirscript.ir as _ir

_SCHEDULE = ("Schedule", "ScheduleError", "ScheduleState", "StmtSRef", "Trace", "Instruction", "TensorIntrin")
_SUBMODULES = ("analysis", "schedule", "stmt_functor", "tensor_intrin", "transform")
_NODES = tuple(n for n in _ir.__all__ if n[0].isupper() and n not in ("IRModule", "DType", "TRUE", "FALSE"))
_OTHERS = ("IndexMap", "SizeVar", "const", "decl_buffer")
# Functions that build expressions: those of scripts, and those that tensor expressions name differently.
_FUNCTIONS = (
    "abs", "acos", "acosh", "address_of", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "call_extern", "call_intrin", "call_llvm_intrin",
    "call_llvm_pure_intrin", "call_packed", "call_pure_extern", "ceil", "ceildiv", "clz", "copysign", "cos",
    "cosh", "erf", "exp", "exp10", "exp2", "floor", "floordiv", "floormod", "fmod", "hypot", "if_then_else",
    "infinity", "isfinite", "isinf", "isnan", "isnullptr", "ldexp", "likely", "log", "log10", "log1p",
    "log2", "max_value", "min_value", "nearbyint", "nextafter", "popcount", "pow", "q_multiply_shift",
    "reinterpret", "ret", "round", "rsqrt", "shift_left", "shift_right", "sigmoid", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc", "truncdiv", "truncmod",
)  # fmt: skip
_REDUCERS = (
    "all", "any", "comm_reducer", "div", "indexdiv", "indexmod", "logaddexp", "max", "min", "power", "sum",
)  # fmt: skip

__all__ = sorted({*_NODES, *_SCHEDULE, *_SUBMODULES, *_OTHERS, *_FUNCTIONS, *_REDUCERS})


def decl_buffer(
    shape: Any,
    dtype: str = "float32",
    name: str = "buffer",
    data: Any = None,
    strides: Any = (),
    elem_offset: Any = None,
    scope: str = "global",
    data_alignment: int = 0,
    offset_factor: int = 0,
) -> _ir.Buffer:
    """A buffer of the IR.

    >>> decl_buffer((4, 4), "float32", "A").shape[0].value
    4
    """
    from tirscript.ir.ops import as_expr

    extents = shape if isinstance(shape, (tuple, list)) else (shape,)
    return _ir.make_buffer(
        name,
        tuple([as_expr(n) for n in extents]),
        dtype,
        data=data,
        scope=scope,
        strides=tuple([as_expr(s) for s in strides or ()]),
        elem_offset=None if elem_offset is None else as_expr(elem_offset),
        align=data_alignment,
        offset_factor=offset_factor,
    )


def __getattr__(name: str) -> Any:
    value: Any
    if name in _NODES or name == "const":
        value = getattr(_ir, name)
    elif name in _SCHEDULE:
        value = getattr(importlib.import_module("tirscript.schedule"), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"tirscript.tir.{name}")
    elif name == "IndexMap":
        value = importlib.import_module("tirscript.ir.index_map").IndexMap
    elif name in _FUNCTIONS or name == "SizeVar":
        value = getattr(importlib.import_module("tirscript.script.tir"), name)
    elif name in _REDUCERS:
        value = getattr(importlib.import_module("tirscript.te"), name)
    else:
        from tirscript.diagnostics import did_you_mean

        hint = None if name.startswith("__") else did_you_mean(name, __all__)
        raise AttributeError(
            f"module 'tirscript.tir' has no attribute {name!r}" + (f"; {hint}" if hint else "")
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def enter_as(name: str) -> None:
    """Make this module and its submodules importable as ``name``: the same objects, nothing twice."""
    sys.modules[name] = sys.modules[__name__]
    for submodule in _SUBMODULES:
        sys.modules[f"{name}.{submodule}"] = importlib.import_module(f"{__name__}.{submodule}")
