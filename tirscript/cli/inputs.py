"""Seeded random arguments for a function, and how much work a call of it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import did_you_mean
from tirscript.ir import BufferStore, For, IntImm, PrimFunc, Var, free_vars, walk
from tirscript.ir import dtype as dt
from tirscript.testing.reference import evaluate, random_inputs

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
        self._settings = settings
        self._seed = seed
        self._check()
        self.values = self.copies()
        written = {n.buffer.data for n in walk(function.body) if isinstance(n, BufferStore)}
        buffers = [function.buffer_map.get(p) for p in function.params]
        self.names = [(p if b is None else b).name for p, b in zip(function.params, buffers, strict=True)]
        self.outputs = [i for i, b in enumerate(buffers) if b is not None and b.data in written]
        self.sizes: dict[Var, Any] = {}
        for p, b, value in zip(function.params, buffers, self.values, strict=True):
            if b is None:
                self.sizes[p] = value
            else:
                self.sizes |= {v: n for v, n in zip(b.shape, value.shape, strict=False) if isinstance(v, Var)}

    def copies(self) -> list[Any]:
        """The same arguments in memory of their own."""
        values = random_inputs(
            self.function,
            self._seed,
            ints=(0, 8),
            floats=(0.0, 1.0),
            size=DEFAULT_SIZE,
            symbols={k: int(v) for k, v in self._settings.items()},
        )
        for i, p in enumerate(self.function.params):
            if p not in self.function.buffer_map and p.name in self._settings:
                value = self._settings[p.name]
                values[i] = float(value) if dt.is_float(p.dtype) else value
        return values

    def _check(self) -> None:
        f = self.function
        known = {v.name for b in f.buffers for n in (*b.shape, *b.strides) for v in free_vars(n)}
        for p in f.params:
            if p not in f.buffer_map:
                known.add(p.name)
                if p.dtype == "handle":
                    raise UsageError(f"the parameter {p.name} is a bare pointer: `run` cannot make one up")
        for name in self._settings:
            if name not in known:
                hint = did_you_mean(name, known)
                names = ", ".join(sorted(known)) or "none"
                raise UsageError(
                    f"there is no size or scalar `{name}` to set; there is {names}"
                    + (f"; {hint}" if hint else "")
                )


def steps(function: PrimFunc, sizes: Mapping[Var, Any]) -> int:
    """About how many innermost iterations a call makes."""

    def extent_of(loop: For) -> int:
        if isinstance(loop.extent, IntImm):
            return loop.extent.value
        known = free_vars(loop.extent) <= sizes.keys()
        return evaluate(loop.extent, sizes) if known else DEFAULT_SIZE

    def count(n: Any) -> int:
        below = sum([count(child) for child in n.children()])
        if isinstance(n, For):
            return max(below, 1) * extent_of(n)
        return below + isinstance(n, BufferStore)

    return count(function.body)
