# Written by `python -m tirscript.testing.stubs`: do not edit.
"""Tensor expressions: what a tensor holds as a function of its indices, and the program that computes it.

>>> from tirscript import te
>>> A = te.placeholder((16,), name="A")
>>> B = te.compute((16,), lambda i: te.exp(A[i]), name="B")
>>> func = te.create_prim_func([A, B])
>>> func.buffers[1].name
'B'
"""
from tirscript.ir.expr import CommReducer as CommReducer
from tirscript.ir.ops import const as const
from tirscript.script.tir import abs as abs
from tirscript.script.tir import acos as acos
from tirscript.script.tir import acosh as acosh
from tirscript.script.tir import asin as asin
from tirscript.script.tir import asinh as asinh
from tirscript.script.tir import atan as atan
from tirscript.script.tir import atanh as atanh
from tirscript.script.tir import ceil as ceil
from tirscript.script.tir import cos as cos
from tirscript.script.tir import cosh as cosh
from tirscript.script.tir import erf as erf
from tirscript.script.tir import exp as exp
from tirscript.script.tir import floor as floor
from tirscript.script.tir import floordiv as floordiv
from tirscript.script.tir import floormod as floormod
from tirscript.script.tir import fmod as fmod
from tirscript.script.tir import if_then_else as if_then_else
from tirscript.script.tir import isfinite as isfinite
from tirscript.script.tir import isinf as isinf
from tirscript.script.tir import isnan as isnan
from tirscript.script.tir import log as log
from tirscript.script.tir import log10 as log10
from tirscript.script.tir import log2 as log2
from tirscript.script.tir import max_value as max_value
from tirscript.script.tir import min_value as min_value
from tirscript.script.tir import nearbyint as nearbyint
from tirscript.script.tir import popcount as popcount
from tirscript.script.tir import round as round
from tirscript.script.tir import rsqrt as rsqrt
from tirscript.script.tir import sigmoid as sigmoid
from tirscript.script.tir import sin as sin
from tirscript.script.tir import sinh as sinh
from tirscript.script.tir import sqrt as sqrt
from tirscript.script.tir import tan as tan
from tirscript.script.tir import tanh as tanh
from tirscript.script.tir import trunc as trunc
from tirscript.script.tir import truncdiv as truncdiv
from tirscript.script.tir import truncmod as truncmod
from tirscript.te.functions import div as div
from tirscript.te.functions import indexdiv as indexdiv
from tirscript.te.functions import indexmod as indexmod
from tirscript.te.functions import logaddexp as logaddexp
from tirscript.te.functions import power as power
from tirscript.te.operation import ComputeOp as ComputeOp
from tirscript.te.operation import ExternOp as ExternOp
from tirscript.te.operation import PlaceholderOp as PlaceholderOp
from tirscript.te.operation import ScanOp as ScanOp
from tirscript.te.operation import compute as compute
from tirscript.te.operation import extern as extern
from tirscript.te.operation import extern_primfunc as extern_primfunc
from tirscript.te.operation import placeholder as placeholder
from tirscript.te.operation import scan as scan
from tirscript.te.operation import tag_scope as tag_scope
from tirscript.te.operation import thread_axis as thread_axis
from tirscript.te.operation import var as size_var
from tirscript.te.operation import var as var
from tirscript.te.program import create_prim_func as create_prim_func
from tirscript.te.reduce import Reduce as Reduce
from tirscript.te.reduce import comm_reducer as comm_reducer
from tirscript.te.reduce import reduce_axis as reduce_axis
from tirscript.te.reducers import all as all
from tirscript.te.reducers import any as any
from tirscript.te.tensor import Tensor as Tensor
from tirscript.te.tensor import TensorSlice as TensorSlice
from typing import Any as _Any

def max(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The greatest value over reduce axes; of nothing -inf, or the least integer."""
    ...
def min(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The least value over reduce axes; of nothing inf, or the greatest integer."""
    ...
def prod(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The product over reduce axes."""
    ...
def sum(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The sum over reduce axes: ``te.sum(A[i, k], axis=k)``."""
    ...
