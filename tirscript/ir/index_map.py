"""Index maps: where an element goes when a layout changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError

from .expr import Expr, Var
from .ops import as_expr
from .visitor import substitute


class IndexMap:
    """``final_indices`` as expressions over ``initial_indices``; optionally the inverse, which is then given.

    >>> m = IndexMap.from_func(lambda i, j: (i // 4, j, i % 4))
    >>> len(m.initial_indices), len(m.final_indices)
    (2, 3)
    """

    __slots__ = ("final_indices", "initial_indices", "inverse_index_map")

    def __init__(
        self,
        initial_indices: Sequence[Var],
        final_indices: Sequence[Expr],
        inverse_index_map: IndexMap | None = None,
    ) -> None:
        self.initial_indices = tuple(initial_indices)
        self.final_indices = tuple(final_indices)
        self.inverse_index_map = inverse_index_map

    @staticmethod
    def from_func(
        mapping: Callable[..., Any],
        names: Sequence[str] | None = None,
        inverse_index_map: IndexMap | None = None,
        *,
        dtype: str = "int32",
    ) -> IndexMap:
        """The map that a function of variables gives; ``names`` are the variables' names."""
        if names is None:
            code = mapping.__code__
            names = code.co_varnames[: code.co_argcount]
        variables = [Var(n, dtype) for n in names]
        result = mapping(*variables)
        final = list(result) if isinstance(result, (list, tuple)) else [result]
        exprs = []
        for e in final:
            if isinstance(e, (list, tuple)):
                raise TirscriptError("an index map gives a flat list of indices", code="index-map")
            exprs.append(as_expr(e))
        return IndexMap(variables, exprs, inverse_index_map)

    def map_indices(self, indices: Sequence[Any]) -> list[Expr]:
        """Where the element at ``indices`` goes."""
        if len(indices) != len(self.initial_indices):
            raise TirscriptError(
                f"the index map takes {len(self.initial_indices)} indices, {len(indices)} given",
                code="index-map",
            )
        values = {v: as_expr(i) for v, i in zip(self.initial_indices, indices, strict=True)}
        return [substitute(e, values) for e in self.final_indices]
