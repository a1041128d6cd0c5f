"""Memory of checked programs: what is allocated, and the views of it that are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirscript.diagnostics import AssertFailed
from tirscript.ir import dtype as dt

from . import support
from .conflicts import Conflicts, slices
from .watched import Memory, Watched, allocated


class Views(Conflicts):
    """The part of the sanitizer that makes buffers."""

    def allocate(self, site: int, name: str, shape: tuple[Any, ...], dtype: str, scope: str) -> Watched:
        for n in shape:
            if n < 0:
                self.fail("negative-extent", f"`{name}` is allocated with the shape {shape}", site)
        array, memory = allocated(name, shape, dtype, scope, len(self.frames))
        return Watched(self, name, array, memory, dt.info(dtype).lanes)

    def constant(self, site: int, name: str, array: Any) -> Watched:
        memory = Memory(name, array, "global", known=True, depth=len(self.frames))
        memory.constant = True
        return Watched(self, name, array, memory)

    def view(
        self,
        site: int,
        pointer: Watched,
        shape: tuple[Any, ...],
        dtype: str,
        strides: tuple[Any, ...] | None = None,
        offset: Any = 0,
        name: str | None = None,
    ) -> Watched:
        try:
            return pointer.view(name or pointer.name, shape, dtype, strides, offset)
        except AssertFailed as error:
            said = error.message
        self.fail("view-outside-memory", f"{name or pointer.name}: {said}", site)

    def address_of(self, site: int, buffer: Watched, index: tuple[Any, ...]) -> Watched:
        return buffer.address_of(site, index)

    def match(
        self,
        site: int,
        name: str,
        source: Watched,
        box: tuple[tuple[Any, Any], ...],
        shape: tuple[Any, ...],
        strides: tuple[Any, ...] = (),
        offset: Any = None,
        factor: int = 0,
    ) -> Watched:
        """A view of a region; ``strides`` and ``offset`` are those declared, None where they are symbols."""
        made = [(int(low), int(extent)) for low, extent in box]
        for (low, extent), n in zip(made, source.shape, strict=True):
            if extent > 0 and (low < 0 or low + extent > n):
                said = (
                    f"`{name}` matches {slices(source, made)}, and {source.name} has the shape {source.shape}"
                )
                self.fail("match-out-of-bounds", said, site)
        part = source.array[tuple([slice(low, low + extent) for low, extent in made])]
        wanted = tuple([int(n) for n in shape])
        full = (*wanted, source.lanes) if source.lanes != 1 else wanted
        if [n for n in wanted if n != 1] != [extent for _, extent in made if extent != 1]:
            said = f"`{name}` of shape {wanted} matches {slices(source, made)}, which has another shape"
            self.fail("match-shape", said, site)
        view = Watched(self, name, support.region(part, full), source.memory, source.lanes)
        for axis, (n, want) in enumerate(zip(wanted, strides, strict=False)):
            have = view.steps[axis] // view.itemsize // source.lanes
            if want is not None and n > 1 and have != want:
                said = f"`{name}` declares the stride {want} in dimension {axis}, and the region has {have}"
                self.fail("match-strides", said, site)
        begin = (view.start - source.memory.range[0]) // view.itemsize if view.array.size else 0
        if offset is not None and begin != offset:
            said = f"`{name}` declares elem_offset {offset}, and the region starts {begin} elements in"
            self.fail("match-offset", said, site)
        if factor > 1 and begin % factor:
            said = f"`{name}` starts {begin} elements in, no multiple of its offset_factor {factor}"
            self.fail("match-offset-factor", said, site)
        return view

    def call_packed(self, site: int, name: str, *args: Any) -> Any:
        result = support.call_packed(name, *[a.array if isinstance(a, Watched) else a for a in args])
        for a in args:
            if isinstance(a, Watched):
                a.written(site)
        return result

    def _atomic(self, site: int, pointer: Watched, function: Any, value: Any) -> Any:
        return pointer.update(site, function, value)

    def atomic_add(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, lambda old, new: old + new, value)

    def atomic_max(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, np.maximum, value)

    def atomic_min(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, np.minimum, value)


__all__ = ["Views"]
