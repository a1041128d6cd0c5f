"""Seeded random arguments for a function, from its signature."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tirscript import ir
from tirscript.diagnostics import did_you_mean
from tirscript.ir import Buffer, BufferStore, Expr, For, IntImm, PrimFunc, Var, free_vars, walk
from tirscript.ir import dtype as dt

from . import UsageError

DEFAULT_SIZE = 64


def parse_settings(settings: list[str]) -> dict[str, int | float]:
    """``["n=4", "alpha=0.5"]`` as a dict."""
    values: dict[str, int | float] = {}
    for text in settings:
        name, equal, value = text.partition("=")
        try:
            values[name.strip()] = int(value, 0) if not any(c in value for c in ".eE") else float(value)
        except ValueError:
            equal = ""
        if not equal:
            raise UsageError(f"--set takes NAME=NUMBER, not {text!r}")
    return values


class Arguments:
    """The arguments of one call: ``values`` in the order of the parameters, and what they are."""

    def __init__(self, function: PrimFunc, settings: Mapping[str, int | float], seed: int) -> None:
        self.function = function
        self._rng = np.random.default_rng(seed)
        self.sizes = _sizes(function, settings)
        self._align = max([64, *[b.align for b in function.buffers]])
        self.values: list[Any] = []
        self.names: list[str] = []
        for p in function.params:
            buffer = function.buffer_map.get(p)
            if buffer is not None:
                self.values.append(self._array(buffer))
                self.names.append(buffer.name)
            else:
                self.values.append(self._scalar(p))
                self.names.append(p.name)
        written = {n.buffer.data for n in walk(function.body) if isinstance(n, BufferStore)}
        self.outputs = [
            i
            for i, p in enumerate(function.params)
            if p in function.buffer_map and function.buffer_map[p].data in written
        ]

    def copies(self) -> list[Any]:
        """The arguments again, in memory of their own."""
        return [_aligned(v, self._align) if isinstance(v, np.ndarray) else v for v in self.values]

    def _array(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        shape = tuple([self._extent(n, buffer) for n in buffer.shape])
        return _aligned(random_array(self._rng, shape, buffer.dtype), self._align)

    def _extent(self, n: Expr, buffer: Buffer) -> int:
        value = evaluate(n, self.sizes)
        if value is None or value < 0:
            raise UsageError(f"the shape of {buffer.name} has no size here: {n}")
        return value

    def _scalar(self, p: Var) -> Any:
        kind = dt.info(p.dtype)
        if p.dtype == "handle":
            raise UsageError(f"the parameter {p.name} is a bare pointer: `run` cannot make one up")
        if p in self.sizes:
            return self.sizes[p]
        if kind.code == "bool":
            return True
        return (
            round(float(self._rng.uniform(0.5, 1.5)), 3) if kind.is_float else int(self._rng.integers(1, 8))
        )


def _aligned(array: np.ndarray[Any, Any], align: int) -> np.ndarray[Any, Any]:
    """A copy whose address is a multiple of ``align``."""
    memory = np.empty(array.nbytes + align, dtype=np.uint8)
    start = -memory.ctypes.data % align
    copy: np.ndarray[Any, Any] = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Values of moderate size: floats in [0, 1), integers in [0, 8)."""
    kind = dt.info(dtype)
    numpy_dtype = _numpy_dtype(dtype)
    if kind.code == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind.is_int:
        return rng.integers(0, min(8, dt.bounds(dtype)[1] + 1), shape).astype(numpy_dtype)
    return rng.random(shape).astype(numpy_dtype)


def _numpy_dtype(dtype: str) -> Any:
    try:
        return np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        named = getattr(ml_dtypes, dtype, None)
        if named is None:
            raise UsageError(f"no arrays of {dtype} can be made here") from None
        return np.dtype(named)


def _sizes(function: PrimFunc, settings: Mapping[str, int | float]) -> dict[Var, Any]:
    """The value of every symbolic size and of every scalar that is set."""
    symbols = {v: None for b in function.buffers for n in (*b.shape, *b.strides) for v in free_vars(n)}
    scalars = [p for p in function.params if p not in function.buffer_map]
    known = {v.name: v for v in [*symbols, *scalars]}
    sizes: dict[Var, Any] = dict.fromkeys(symbols, DEFAULT_SIZE)
    for name, value in settings.items():
        if name not in known:
            hint = did_you_mean(name, known)
            names = ", ".join(known) or "none"
            raise UsageError(
                f"there is no size or scalar `{name}` to set; there is {names}"
                + (f"; {hint}" if hint else "")
            )
        var = known[name]
        sizes[var] = float(value) if dt.is_float(var.dtype) else value
    return sizes


_OPERATORS: dict[type[Expr], Callable[[int, int], int]] = {
    ir.Add: operator.add,
    ir.Sub: operator.sub,
    ir.Mul: operator.mul,
    ir.FloorDiv: operator.floordiv,
    ir.FloorMod: operator.mod,
    ir.Min: min,
    ir.Max: max,
}


def evaluate(e: Expr, sizes: Mapping[Var, Any]) -> int | None:
    """The value of an integer expression of the sizes; None where it holds anything else."""
    if isinstance(e, IntImm):
        return e.value
    if isinstance(e, Var):
        value = sizes.get(e)
        return value if isinstance(value, int) else None
    if isinstance(e, ir.Cast):
        return evaluate(e.value, sizes)
    function = _OPERATORS.get(type(e))
    if function is None:
        return None
    a, b = [evaluate(x, sizes) for x in (e.a, e.b)]  # type: ignore[attr-defined]
    if a is None or b is None or (b == 0 and isinstance(e, (ir.FloorDiv, ir.FloorMod))):
        return None
    return function(a, b)


def steps(function: PrimFunc, sizes: Mapping[Var, Any]) -> int:
    """About how many innermost iterations a call makes."""

    def count(n: Any) -> int:
        below = sum([count(child) for child in n.children()])
        if isinstance(n, For):
            extent = evaluate(n.extent, sizes)
            return max(below, 1) * (extent if extent is not None else DEFAULT_SIZE)
        return below + isinstance(n, BufferStore)

    return count(function.body)
