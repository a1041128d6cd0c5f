"""The table of operators: what each is called with, and a NumPy function that says what it gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

RNG = np.random.default_rng(21)


class Call(NamedTuple):
    """The arguments of one call; arrays stand for tensors."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def words(self) -> str:
        """Shapes, dtypes and attributes: calls with the same words are one combination."""
        return f"{_words(self.args)} {_words(sorted(self.kwargs.items()))}"

    @property
    def arrays(self) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        put(found.append, self)
        return found


class Entry(NamedTuple):
    """An operator's calls, their reference, the tolerance, and which also have a symbolic extent."""

    reference: Callable[..., Any]
    calls: list[Call]
    tol: float
    symbolic: tuple[int, ...]


TABLE: dict[str, Entry] = {}


def _words(a: Any) -> str:
    if isinstance(a, np.ndarray):
        return f"{a.dtype}{list(a.shape)}"
    if isinstance(a, (list, tuple)):
        return f"({' '.join(map(_words, a))})"
    return getattr(a, "__name__", None) or repr(a)


def put(f: Callable[[np.ndarray], Any], a: Any) -> Any:
    """The arguments with ``f`` of every array."""
    if isinstance(a, np.ndarray):
        return f(a)
    if isinstance(a, Call):
        return Call(put(f, a.args), put(f, a.kwargs))
    if isinstance(a, (list, tuple)):
        return type(a)(put(f, e) for e in a)
    if isinstance(a, dict):
        return {k: put(f, v) for k, v in a.items()}
    return a


def c(*args: Any, **kwargs: Any) -> Call:
    """A call."""
    return Call(args, kwargs)


def add(
    names: str, reference: Callable[..., Any], calls: Iterable[Call], tol: float = 1e-5, symbolic: Any = 2
) -> None:
    """Enter operators; ``symbolic`` is how many of the first calls, or which ones, have a symbolic extent."""
    listed = list(calls)
    which = tuple(range(symbolic)) if isinstance(symbolic, int) else tuple(symbolic)
    for name in names.split():
        assert name not in TABLE, name
        TABLE[name] = Entry(reference, listed, tol, which)


def data(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Random numbers that are exact to compare: halves of small whole numbers, none of them 0."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.asarray(RNG.integers(0, 2, shape), bool)
    signs = np.ones(shape, int) if kind.kind == "u" else RNG.choice([-1, 1], shape)
    whole = RNG.integers(1, 9, shape) * signs
    return np.asarray(whole / 2 if kind.kind == "f" else whole, dtype)


def floats(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Random numbers from a normal distribution."""
    return np.asarray(RNG.standard_normal(shape), dtype)


def index(limit: int, *shape: int, dtype: str = "int32") -> np.ndarray:
    """Random whole numbers below ``limit``."""
    return np.asarray(RNG.integers(0, limit, shape), dtype)


def cross(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    return list(itertools.product(*lists))
