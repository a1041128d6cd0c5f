"""Small lowered functions, built from nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tirscript.codegen.llvm import build_llvm
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import BufferLoad, Cast, Expr, Ramp, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import BufferStore, For, Stmt, seq


def buffer(name: str, *shape: int | Expr, dtype: str = "float32", **fields: Any) -> Buffer:
    extents = tuple(const_int(n) if isinstance(n, int) else n for n in shape)
    return make_buffer(name, extents, dtype, **fields)


def loop(
    extent: int | Expr, body: Callable[[Var], Stmt], kind: str = "serial", low: Any = 0, name: str = "i"
) -> For:
    var = Var(name)
    stop = const_int(extent) if isinstance(extent, int) else extent
    start = const_int(low) if isinstance(low, int) else low
    return For(var, start, stop, kind, body(var))


def load(b: Buffer, *indices: Any) -> BufferLoad:
    return BufferLoad(b, tuple(ops.as_expr(i) for i in indices))


def store(b: Buffer, value: Any, *indices: Any, **fields: Any) -> BufferStore:
    return BufferStore(b, ops.as_expr(value, b.dtype), tuple(ops.as_expr(i) for i in indices), **fields)


def ramp(base: Any, lanes: int, stride: int = 1) -> Expr:
    return Ramp(ops.as_expr(base), const_int(stride), lanes)


def function(
    params: Sequence[Buffer | Var], *body: Stmt, name: str = "f", returns: str = "void", **attrs: Any
) -> PrimFunc:
    handles: list[Var] = []
    table: dict[Var, Buffer] = {}
    for p in params:
        if isinstance(p, Buffer):
            handle = Var(f"{p.name}_handle", "handle", False)
            table[handle] = p
            handles.append(handle)
        else:
            handles.append(p)
    attrs = {"global_symbol": name, **attrs}
    return PrimFunc(tuple(handles), table, seq(*body), returns, attrs)


def build(*functions: PrimFunc, target: Any = None) -> Any:
    return build_llvm(IRModule({f.name: f for f in functions}), target)


def elementwise(
    f: Callable[..., Expr], inputs: Sequence[np.ndarray], out_dtype: str, lanes: int = 1, target: Any = None
) -> np.ndarray:
    """``f`` of the elements of the inputs, by scalar code or by vectors with a scalar rest."""
    return elementwise_all([f], inputs, out_dtype, lanes, target)[0]


def elementwise_all(
    functions: Sequence[Callable[..., Expr]],
    inputs: Sequence[np.ndarray],
    out_dtype: str,
    lanes: int = 1,
    target: Any = None,
) -> list[np.ndarray]:
    """Several functions of the elements of the inputs, in one program."""
    n = len(inputs[0])
    ins = [buffer(f"A{k}", n, dtype=a.dtype.name) for k, a in enumerate(inputs)]
    outs = [buffer(f"O{k}", n, dtype=out_dtype) for k in range(len(functions))]

    def at(index: Any) -> Stmt:
        pairs = zip(outs, functions, strict=True)
        return seq(*[store(out, f(*[load(b, index) for b in ins]), index) for out, f in pairs])

    whole = n // lanes if lanes > 1 else 0
    parts: list[Stmt] = []
    if whole:
        parts.append(loop(whole, lambda i: at(ramp(i * lanes, lanes))))
    if n - whole * lanes:
        parts.append(loop(n - whole * lanes, at, low=whole * lanes))
    results = [np.zeros(n, out_dtype) for _ in functions]
    build(function([*ins, *outs], *parts), target=target)(*inputs, *results)
    return results


INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")


def samples(dtype: str, count: int = 37) -> np.ndarray:
    """Values of a dtype: the extreme ones, those about zero, random ones."""
    rng = np.random.default_rng(len(dtype) + ord(dtype[0]) + ord(dtype[-1]))
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if dtype in FLOATS:
        special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, 3.0, -7.0]
        return np.concatenate([np.array(special), rng.normal(size=count) * 10]).astype(dtype)
    info = np.iinfo(dtype)
    special = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7]
    if info.min < 0:
        special += [-1, -2, -3, -7]
    wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    near = rng.integers(max(info.min, -20), 20, count).astype(dtype)
    return np.concatenate([np.array(special, dtype), wide, near])


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of interesting values, and random ones."""
    a = samples(dtype, 11)
    x, y = np.meshgrid(a, a)
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel())


def cast(value: Expr, dtype: str) -> Expr:
    """A cast that keeps the lanes."""
    return Cast(dt.with_lanes(dtype, dt.lanes(value.dtype)), value)
