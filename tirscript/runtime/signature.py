"""What a compiled function takes: plain data, filled by the backends, used by the call paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tirscript.diagnostics import Mark

# A value computed from the symbols of the signature.
Compute = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class Extent:
    """An extent, a stride or an offset: a number, one symbol, or a value computed from symbols."""

    text: str
    value: int | None = None
    symbol: int | None = None
    compute: Compute | None = None
    # For a computed one: the symbols that it mentions, and those it is linear in.
    mentions: tuple[int, ...] = ()
    linear: tuple[int, ...] = ()
    code: str = ""  # the formula as Python code over the symbols `s`

    def at(self, symbols: Sequence[int]) -> int:
        if self.value is not None:
            return self.value
        if self.symbol is not None:
            return symbols[self.symbol]
        assert self.compute is not None
        return self.compute(symbols)


@dataclass(frozen=True, slots=True)
class BufferParam:
    """An array.  ``strides`` (in elements) is None for a C-contiguous one."""

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...] | None = None
    offset: Extent | None = None
    align: int = 0
    written: bool = True

    def __str__(self) -> str:
        shape = ", ".join(e.text for e in self.shape)
        strides = "" if self.strides is None else f", strides=[{', '.join(e.text for e in self.strides)}]"
        return f"{self.name}: {self.dtype}[{shape}]{strides}"


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A number; ``symbol`` is its place among the symbols where shapes mention it."""

    name: str
    dtype: str
    symbol: int | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}"


@dataclass(frozen=True, slots=True)
class HandleParam:
    """A pointer without a buffer: an array of any dtype and shape, an address, or None."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}: handle"


Param = BufferParam | ScalarParam | HandleParam


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable of shapes, strides or offsets."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function.

    ``symbols`` are the variables of its shapes; those in ``passed`` are no parameters and go to the
    compiled function after the parameters.  ``noalias``: a written array may not overlap another one.
    ``long``: it may run for so long that other Python threads should run meanwhile.
    """

    name: str
    params: tuple[Param, ...]
    symbols: tuple[Symbol, ...] = ()
    passed: tuple[int, ...] = ()
    returns: str | None = None
    noalias: bool = True
    long: bool = True

    def __str__(self) -> str:
        result = "" if self.returns is None else f" -> {self.returns}"
        return f"{self.name}({', '.join(map(str, self.params))}){result}"


@dataclass(frozen=True, slots=True)
class Site:
    """An assert or check of the program: its message and the script line.

    ``kinds`` are those of the values that it reports; the first ``inside`` stand in the message as ``{0}``,
    ``{1}``, the others are shown beside their ``names``.
    """

    message: str
    mark: Mark | None = None
    kinds: str = ""
    names: tuple[str, ...] = ()
    inside: int = 0
    check: bool = False  # of a checked build, not of the script
