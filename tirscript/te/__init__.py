"""Tensor expressions: what a tensor holds as a function of its indices, and the program that computes it.

>>> from tirscript import te
>>> A = te.placeholder((16,), name="A")
>>> B = te.compute((16,), lambda i: te.exp(A[i]), name="B")
>>> func = te.create_prim_func([A, B])
>>> func.buffers[1].name
'B'
"""

from __future__ import annotations

from typing import Any

from tirscript.ir.expr import CommReducer
from tirscript.ir.ops import const
from tirscript.script import operators as _operators

from .functions import div, indexdiv, indexmod, logaddexp, power
from .operation import (
    ComputeOp,
    ExternOp,
    PlaceholderOp,
    ScanOp,
    compute,
    extern,
    extern_primfunc,
    placeholder,
    scan,
    tag_scope,
    thread_axis,
    var,
)
from .program import create_prim_func
from .reduce import Reduce, comm_reducer, reduce_axis
from .reducers import all, any, max, min, prod, sum
from .tensor import Tensor, TensorSlice

size_var = var
# Functions of elements are those of scripts.
_FUNCTIONS = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp",
    "floor", "floordiv", "floormod", "fmod", "if_then_else", "isfinite", "isinf", "isnan", "log",
    "log2", "log10", "max_value", "min_value", "nearbyint", "popcount", "round", "rsqrt", "sigmoid",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "truncdiv", "truncmod",
)  # fmt: skip


# Of TVM's names those that are not here: te has no schedules of its own.
_NOT_YET = frozenset((
    "AutodiffContext", "HybridOp", "Schedule", "SpecializedCondition", "TensorComputeOp", "TensorIntrinCall",
    "create_schedule", "decl_tensor_intrin", "gradient", "hybrid", "operation", "schedule", "tag", "tensor",
    "tensor_intrin", "trace",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _FUNCTIONS:
        from tirscript.notyet import absent

        return absent(__name__, name, __all__, _NOT_YET)
    value = globals()[name] = getattr(_operators, name)
    return value


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "CommReducer", "ComputeOp", "ExternOp", "PlaceholderOp", "Reduce", "ScanOp", "Tensor",
    "TensorSlice", "all", "any", "comm_reducer", "compute", "const", "create_prim_func", "div",
    "extern", "extern_primfunc", "indexdiv", "indexmod", "logaddexp", "max", "min", "placeholder",
    "power", "prod", "reduce_axis", "scan", "size_var", "sum", "tag_scope", "thread_axis", "var",
]  # fmt: skip
__all__ += _FUNCTIONS
