"""Index maps: where an element goes when a layout changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from tirscript.diagnostics import TirscriptError

from . import hooks
from .expr import Expr, IterVar, Range, Var, const_int
from .ops import as_expr
from .visitor import free_vars, substitute

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def error(message: str, hint: str | None = None) -> TirscriptError:
    return TirscriptError(message, code="index-map", hint=hint)


class _Separator:
    """``IndexMap.AXIS_SEPARATOR``: between groups of dimensions that are flattened by themselves."""

    def __repr__(self) -> str:
        return "IndexMap.AXIS_SEPARATOR"


class IndexMap:
    """``final_indices`` as expressions over ``initial_indices``; optionally the inverse, which is then given.

    >>> m = IndexMap.from_func(lambda i, j: (i // 4, j, i % 4), index_dtype="int32")
    >>> m
    lambda i, j: (i // 4, j, i % 4)
    >>> m.map_shape([14, 8]), m.inverse([16, 8])
    ([4, 8, 4], lambda axis0, j, axis2: (axis0 * 4 + axis2, j))
    """

    __slots__ = ("final_indices", "initial_indices", "inverse_index_map")
    AXIS_SEPARATOR: ClassVar[Any] = _Separator()

    def __init__(
        self,
        initial_indices: Sequence[Var],
        final_indices: Sequence[Expr],
        inverse_index_map: IndexMap | Callable[..., Any] | None = None,
    ) -> None:
        self.initial_indices = tuple(initial_indices)
        self.final_indices = tuple(final_indices)
        if inverse_index_map is not None and not isinstance(inverse_index_map, IndexMap):
            dtype = self.initial_indices[0].dtype if self.initial_indices else "int64"
            inverse_index_map = IndexMap.from_func(
                inverse_index_map, len(self.final_indices), index_dtype=dtype
            )
        self.inverse_index_map: IndexMap | None = inverse_index_map

    @staticmethod
    def from_func(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: Callable[..., Any] | IndexMap | None = None,
        *,
        index_dtype: str = "int64",
    ) -> IndexMap:
        """The map that a function of indices gives.

        ``ndim`` says how many indices there are, where the function takes ``*args``.

        >>> IndexMap.from_func(lambda n, *rest: [*rest, n], 3)
        lambda n, rest_0, rest_1: (rest_0, rest_1, n)
        """
        made, separators = IndexMap.from_func_with_separators(
            mapping_function, ndim, inverse_index_map, index_dtype=index_dtype
        )
        if separators:
            raise error("the function gives axis separators", "use IndexMap.from_func_with_separators")
        return made

    @staticmethod
    def from_func_with_separators(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: Callable[..., Any] | IndexMap | None = None,
        *,
        index_dtype: str = "int64",
    ) -> tuple[IndexMap, list[int]]:
        """The map, and before which of its indices ``IndexMap.AXIS_SEPARATOR`` stood."""
        initial, result = _called(mapping_function, ndim, index_dtype)
        if isinstance(result, (Expr, IterVar, int)) or result is IndexMap.AXIS_SEPARATOR:
            result = [result]
        elif isinstance(result, (str, bytes, dict)) or not isinstance(result, Iterable):
            raise error(f"an index map gives indices, not a {type(result).__name__}")
        final: list[Expr] = []
        separators: list[int] = []
        for item in result:
            if item is IndexMap.AXIS_SEPARATOR:
                separators.append(len(final))
                continue
            if isinstance(item, (list, tuple)):
                raise error("an index map gives a flat list of indices")
            if isinstance(item, bool) or not (hasattr(item, "dtype") or isinstance(item, (int, IterVar))):
                raise error(f"an index is an integer expression, not a {type(item).__name__}")
            final.append(as_expr(item, index_dtype))
        return IndexMap(initial, final, inverse_index_map), separators

    @staticmethod
    def wrapped(f: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
        """``f`` with another result, and parameters of the same names."""

        def g(*args: Any, **named: Any) -> Any:
            return change(f(*args, **named))

        names = getattr(f, "parameters", None)
        if isinstance(names, list):
            g.parameters = names  # type: ignore[attr-defined]
        else:
            g.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
        return g

    def map_indices(self, indices: Sequence[Any]) -> list[Expr]:
        """Where the element at ``indices`` goes.

        >>> IndexMap.from_func(lambda i: [i // 4, i % 4]).map_indices([7])
        [1, 3]
        """
        values = self._values([as_expr(i) for i in indices])
        out: list[Expr] = hooks.call("index_map_indices", self, values)
        return out

    def map_shape(self, shape: Sequence[Any]) -> list[Expr]:
        """The least shape that holds where all elements of ``shape`` go."""
        out: list[Expr] = hooks.call("index_map_shape", self, self._ranges(shape))
        return out

    def inverse(self, shape: Sequence[Any]) -> IndexMap:
        """Where the elements of the mapped shape came from.

        An error where not each of them came from one element of ``shape`` (extents or Ranges).
        """
        found, padding = self.non_surjective_inverse(shape)
        if not (hasattr(padding, "value") and not padding.value):
            raise error(
                f"{self!r} is not bijective over the shape: there is nothing where {padding!r}",
                "non_surjective_inverse gives the inverse and this condition",
            )
        return found

    def non_surjective_inverse(self, shape: Sequence[Any]) -> tuple[IndexMap, Expr]:
        """The inverse, and the condition that an element of the mapped shape came from nowhere.

        >>> IndexMap.from_func(lambda i: [i // 4, i % 4]).non_surjective_inverse([14])
        (lambda axis0, axis1: (axis0 * T.int64(4) + axis1,), axis0 * T.int64(4) + axis1 >= T.int64(14))
        """
        found: tuple[IndexMap, Expr] | None = hooks.call("index_map_inverse", self, self._ranges(shape))
        if found is None:
            raise error(f"{self!r} is not seen to be injective over the shape")
        return found

    def map_ndarray(self, arr_src: Any) -> Any:
        """A NumPy array in the new layout; what came from nowhere is 0."""
        return hooks.call("index_map_array", self, arr_src)

    def is_equivalent_to(self, other_map: IndexMap) -> bool:
        """Whether two maps send every element to the same place.

        >>> a = IndexMap.from_func(lambda i: i * 2 // 2)
        >>> a.is_equivalent_to(IndexMap.from_func(lambda j: j))
        True
        """
        if len(self.initial_indices) != len(other_map.initial_indices):
            return False
        if len(self.final_indices) != len(other_map.final_indices):
            return False
        same: bool = hooks.call("index_map_equivalent", self, other_map)
        return same

    def _values(self, indices: Sequence[Expr]) -> dict[Var, Expr]:
        if len(indices) != len(self.initial_indices):
            raise error(f"the index map takes {len(self.initial_indices)} indices, {len(indices)} given")
        return dict(zip(self.initial_indices, indices, strict=True))

    def _ranges(self, shape: Sequence[Any]) -> dict[Var, Range]:
        if len(shape) != len(self.initial_indices):
            raise error(
                f"the index map takes {len(self.initial_indices)} indices, the shape has {len(shape)}"
            )
        out = {}
        for v, n in zip(self.initial_indices, shape, strict=True):
            if not isinstance(n, Range):
                n = as_expr(n, v.dtype)
                n = Range(const_int(0, n.dtype), n)
            out[v] = n
        return out

    def renamed(self, names: Sequence[str]) -> IndexMap:
        """The same map of variables with other names."""
        new = [v.replace(name=n) for v, n in zip(self.initial_indices, names, strict=True)]
        values: dict[Var, Expr] = dict(zip(self.initial_indices, new, strict=True))
        return IndexMap(new, [substitute(e, values) for e in self.final_indices], self.inverse_index_map)

    def free_vars(self) -> frozenset[Var]:
        """Variables of the final indices that are no initial indices: symbolic extents."""
        out: set[Var] = set()
        for e in self.final_indices:
            out |= free_vars(e)
        return frozenset(out.difference(self.initial_indices))

    def __repr__(self) -> str:
        names: list[str] = []
        for v in self.initial_indices:
            name, n = v.name, 0
            while name in names:
                n += 1
                name = f"{v.name}_{n}"
            names.append(name)
        final = self.renamed(names).final_indices
        parts = [str(hooks.call("script", e, sugar=False)) for e in final]
        more = "," if len(parts) == 1 else ""
        return f"lambda {', '.join(names)}: ({', '.join(parts)}{more})".replace("lambda :", "lambda:")


def _called(f: Any, ndim: int | None, dtype: str) -> tuple[list[Var], Any]:
    """Fresh variables for the parameters of a function, and what it gives for them."""
    if not callable(f):
        raise error(f"an index map is made of a function, not of a {type(f).__name__}")
    scripted = getattr(f, "parameters", None)  # a lambda of a script
    if isinstance(scripted, list):
        if ndim is not None and len(scripted) != ndim:
            raise error(f"the function takes {len(scripted)} indices, {ndim} are wanted")
        variables = [Var(n, dtype) for n in scripted]
        return variables, f(*variables)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        raise error("the parameters of the function are not known") from None
    args: list[Var] = []
    named: dict[str, Var] = {}
    rest: str | None = None
    for p in parameters:
        if p.kind in _POSITIONAL:
            args.append(Var(p.name, dtype))
        elif p.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = p.name
        elif p.kind is inspect.Parameter.KEYWORD_ONLY:
            named[p.name] = Var(p.name, dtype)
        else:
            raise error(f"the function of an index map takes no **{p.name}")
    have = len(args) + len(named)
    if rest is not None:
        if ndim is None:
            raise error(f"the function takes *{rest}: say with ndim how many indices there are")
        args += [Var(f"{rest}_{n}", dtype) for n in range(ndim - have)]
        have = len(args) + len(named)
    if ndim is not None and have != ndim:
        raise error(f"the function takes {have} indices, {ndim} are wanted")
    return [*args, *named.values()], f(*args, **named)
