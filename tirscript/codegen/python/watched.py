"""The buffers of checked programs: arrays in which every cell remembers who wrote and who read it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tirscript.ir import dtype as dt

from . import support

if TYPE_CHECKING:
    from .conflicts import Access, Conflicts

Index = tuple[int, ...]
_count = itertools.count()


class Cell:
    """The last write of a cell, and up to two reads since: enough to find every conflict.  ``unknown`` says
    that the last write copied what had no value."""

    __slots__ = ("reads", "unknown", "write")

    def __init__(self) -> None:
        self.write: Access | None = None
        self.reads: list[Access] = []
        self.unknown = False


class Memory:
    """Memory of one allocation.  A cell is ``unit`` bytes at ``key * unit``, as the machine counts.

    ``known``: all cells have a value from the start.  ``depth``: how many block instances were running
    when it was allocated.
    """

    __slots__ = ("cells", "constant", "depth", "ident", "keep", "known", "name", "range", "scope", "unit")

    def __init__(self, name: str, array: Any, scope: str, *, known: bool, depth: int) -> None:
        self.ident = next(_count)
        self.name = name
        self.keep = array
        self.range = byte_bounds(array)
        self.scope = scope
        self.known = known
        self.depth = depth
        self.constant = False
        self.unit = int(array.itemsize)
        self.cells: dict[int, Cell] = {}

    def see(self, start: int, steps: Index, itemsize: int) -> None:
        """Count single bytes where the cells of a view are not whole units of this memory."""
        unit = self.unit
        if unit > 1 and (itemsize % unit or start % unit or any(s % unit for s in steps)):
            old, self.unit, self.cells = self.cells, 1, {}
            for key, cell in old.items():
                for byte in range(key * unit, key * unit + unit):
                    copy = self.cells[byte] = Cell()
                    copy.write, copy.reads, copy.unknown = cell.write, list(cell.reads), cell.unknown


class Watched:
    """A buffer over watched memory, with the attributes of the array that generated programs read."""

    __slots__ = ("array", "base", "dtype", "lanes", "memory", "name", "shape", "start", "steps", "watch")

    def __init__(self, watch: Conflicts, name: str, array: Any, memory: Memory, lanes: int = 1) -> None:
        self.watch = watch
        self.name = name
        self.array = array
        self.memory = memory
        self.lanes = lanes
        self.dtype = array.dtype
        self.shape: Index = array.shape[:-1] if lanes != 1 else array.shape
        self.steps: Index = array.strides[: len(self.shape)]
        self.start = int(array.__array_interface__["data"][0])
        memory.see(self.start, array.strides, array.itemsize)

    @property
    def strides(self) -> Index:
        return self.array.strides  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        return int(self.array.itemsize)

    @property
    def __array_interface__(self) -> Any:
        return self.array.__array_interface__

    def __eq__(self, other: object) -> bool:
        """As pointers compare."""
        return isinstance(other, Watched) and self.start == other.start

    __hash__ = None  # type: ignore[assignment]

    # ---- cells

    def place(self, index: Index, site: int, write: bool) -> int:
        """The address of an element; a fault where the index is outside the shape."""
        address = self.start
        for i, n, step in zip(index, self.shape, self.steps, strict=True):
            if not 0 <= i < n:
                self.watch.outside(self, index, site, write)
            address += i * step
        return address

    def unravel(self, address: int) -> Index | None:
        """The index of the element at an address; None for what is no element."""
        rest = address - self.start
        index = [0] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda k: -abs(self.steps[k])):
            step, n = self.steps[axis], self.shape[axis]
            if step < 0:
                rest -= (n - 1) * step
            if step:
                index[axis] = min(max(rest // abs(step), 0), n - 1)
                rest -= index[axis] * abs(step)
                if step < 0:
                    index[axis] = n - 1 - index[axis]
        return tuple(index) if 0 <= rest < max(self.array.itemsize * self.lanes, 1) else None

    def _touch(
        self, index: Index, site: int, write: bool, atomic: bool = False, copied: bool = False
    ) -> None:
        address = self.place(index, site, write)
        unit = self.memory.unit
        first, last = address // unit, (address + self.array.itemsize * self.lanes - 1) // unit
        for key in range(first, last + 1):
            self.watch.touch(self, index, key, site, write, atomic, copied)

    def _lanes(self, index: tuple[Any, ...], mask: Any) -> list[Index]:
        """The elements of a vector access, of the lanes that count."""
        parts = np.broadcast_arrays(*index) if mask is None else np.broadcast_arrays(*index, mask)
        if mask is not None:
            mask = parts.pop() if isinstance(parts, list) else parts[-1]
            parts = parts[: len(index)]
        return [
            tuple([int(p[lane]) for p in parts])
            for lane in range(len(parts[0]))
            if mask is None or mask[lane]
        ]

    # ---- access

    def read(self, site: int, *index: Any, mask: Any = None, copied: bool = False) -> Any:
        """``self[index]``; what is only ``copied`` may have no value, nor has its copy then."""
        if mask is not None or any(isinstance(i, np.ndarray) for i in index):
            for element in self._lanes(index, mask):
                self._touch(element, site, False, copied=copied)
            if mask is not None:
                return support.masked_load(self.array, index, mask)
            return self.array[index]
        element = tuple([int(i) for i in index])
        self._touch(element, site, False, copied=copied)
        value = self.array[element]
        return value.copy() if self.lanes != 1 else value

    def write(self, site: int, value: Any, *index: Any, mask: Any = None) -> None:
        """``self[index] = value``."""
        unknown = self.watch.take_copied(self.memory)
        if mask is not None or any(isinstance(i, np.ndarray) for i in index):
            elements = self._lanes(index, mask)
            seen: dict[Index, int] = {}
            for lane, element in enumerate(elements):
                self._touch(element, site, True, copied=unknown)
                if seen.setdefault(element, lane) != lane:
                    self.watch.two_lanes(self, element, seen[element], lane, site)
            self.watch.changes += 1
            if mask is not None:
                support.masked_store(self.array, index, value, mask)
            else:
                self.array[index] = value
            return
        element = tuple([int(i) for i in index])
        self._touch(element, site, True, copied=unknown)
        array = self.array
        before = array[element].tobytes()
        array[element] = value
        if array[element].tobytes() != before:
            self.watch.changes += 1

    def update(self, site: int, function: Any, value: Any) -> Any:
        """An atomic update of the first element."""
        first = (0,) * len(self.shape)
        self._touch(first, site, False, True)
        self._touch(first, site, True, True)
        self.watch.changes += 1
        old = self.array[first]
        self.array[first] = function(old, value)
        return old

    def peek(self, *index: Any) -> Any:
        """An element for a region that is declared: no access of the program."""
        element = tuple([min(max(int(i), 0), n - 1) for i, n in zip(index, self.shape, strict=True)])
        return self.array[element] if 0 not in self.shape else 0

    # ---- views

    def view(
        self, name: str, shape: tuple[Any, ...], dtype: str, strides: tuple[Any, ...] | None, offset: Any
    ) -> Watched:
        """Another buffer over this memory; raises AssertFailed where the memory is too small."""
        made = support.view(self.array, tuple([int(n) for n in shape]), dtype, strides, int(offset))
        return Watched(self.watch, name, made, self.memory, dt.info(dtype).lanes)

    def address_of(self, site: int, index: tuple[Any, ...]) -> Watched:
        """The memory from an element on."""
        element = tuple([int(i) for i in index])
        # A pointer one past the end is one that no access goes through.
        if any(i < 0 or i > n for i, n in zip(element, self.shape, strict=True)):
            self.watch.outside(self, element, site, False)
        steps = [s // self.itemsize for s in self.steps]
        start = sum([i * s for i, s in zip(element, steps, strict=True)])
        last = sum([(n - 1) * s for n, s in zip(self.shape, steps, strict=True)])
        return self.view(self.name, (max(last - start + 1, 0),), self.dtype.name, None, start)

    def written(self, site: int) -> None:
        """What a foreign function did with the memory is not seen: every cell may have a value now."""
        self.memory.known = True
        self.watch.changes += 1


def allocated(name: str, shape: tuple[Any, ...], dtype: str, scope: str, depth: int) -> tuple[Any, Memory]:
    """Memory without a value.  What it holds is not what a fresh page of memory holds."""
    array = support.empty(tuple([int(n) for n in shape]), dtype)
    array.view(np.uint8).fill(0xA5) if array.ndim and array.size else None
    return array, Memory(name, array, scope, known=False, depth=depth)


__all__ = ["Cell", "Index", "Memory", "Watched", "allocated"]
