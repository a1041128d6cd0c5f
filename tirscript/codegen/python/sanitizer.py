"""What a checked program calls while it runs: loops, block instances, conflicts, and what is reported.

One object watches the programs of one module.  It keeps the loops and the block instances that are
running; each access of a cell is compared with the last write of that cell and with the reads since:

* two iterations of a loop whose iterations run at once (parallel, vectorized, bound to a thread) must not
  meet in a cell that one of them writes;
* two instances of a block that differ in a spatial axis must not either;
* what a block instance reads and writes lies in the regions that the block declares.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from tirscript.diagnostics import AssertFailed

from .arithmetic import Arithmetic
from .conflicts import Frame, Path, region
from .reports import Values, shown
from .views import Views
from .watched import Memory, Watched

SERIAL = frozenset({"serial", "unrolled"})
_NATIVE = frozenset({"bool", "float16", "float32", "float64"} | {
    f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)})  # fmt: skip


class Sanitizer(Views, Arithmetic):
    """Watches the programs of one module.  ``sites`` are the places in the script that reports name."""

    def __init__(self, sites: Sequence[str]) -> None:
        self.texts = sites
        self.spans = ()
        self.lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        self.loops = []  # [name, value]
        self.path: Path = ()
        self.coords: dict[str, int] = {}
        self.extents: dict[str, int] = {}
        self.frames = []
        self.calls: list[tuple[int, int]] = []
        self.memories: list[Memory] = []
        self.time = 0
        self.changes = 0
        self.copied = None
        self.site = 0
        self._runs = 0
        self._values = None

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call from outside.  One at a time is watched."""
        with self.lock:
            kept = dict(vars(self)) if self.frames else None
            self.reset()
            try:
                yield
            finally:
                if kept is None:
                    self.reset()
                else:
                    vars(self).update(kept)

    # ---- functions

    def begin(self, site: int, name: str) -> None:
        frame = Frame(site, name, self.time, self.path)
        self.calls.append((len(self.frames), len(self.loops)))
        self.frames.append(frame)

    def done(self) -> None:
        """The end of a function, where all that was to come has come."""
        if self.frames[-1].expected:
            self._covered(self.frames[-1])
        self.returned()

    def returned(self, value: Any = None) -> Any:
        """A function is left, perhaps from inside of loops and blocks; what it returns."""
        frames, loops = self.calls.pop()
        del self.frames[frames:]
        del self.loops[loops:]
        self._values = None
        return value

    def no_return(self, site: int, name: str) -> None:
        self.fail("missing-return", f"`{name}` ends without `T.ret`: it has no value to return", site)

    def parameter(self, site: int, name: str, array: Any, lanes: int, written: bool) -> Watched:
        """An argument as a watched buffer."""
        if isinstance(array, Watched):
            made = Watched(self, name, array.array, array.memory, array.lanes)
        else:
            memory = Memory(name, array, "global", known=True, depth=0)
            for other in self.memories:
                if other.range[0] < memory.range[1] and memory.range[0] < other.range[1]:
                    ends = (*other.range, *memory.range)
                    other.range = (min(ends), max(ends))
                    memory = other
                    break
            else:
                self.memories.append(memory)
            made = Watched(self, name, array, memory, lanes)
        if written and not made.array.flags.writeable and not made.memory.constant:
            self.fail("read-only", f"`{name}` is written, and its array is read-only", site)
        return made

    def apart(self, site: int, buffers: Sequence[Watched], written: Sequence[bool]) -> None:
        """The memory of a buffer that is written is that of no other parameter."""
        for k, a in enumerate(buffers):
            for n, b in enumerate(buffers):
                if n == k or not written[k] or 0 in a.array.shape or 0 in b.array.shape:
                    continue
                if np.shares_memory(a.array, b.array):
                    self.fail(
                        "aliasing",
                        f"the arguments `{a.name}` and `{b.name}` share memory, and `{a.name}` is written",
                        site,
                        hint='make copies, or say T.func_attr({"tir.noalias": False}) in the function',
                    )

    def declared(
        self,
        site: int,
        buffer: Watched,
        shape: tuple[Any, ...],
        dtype: str,
        strides: tuple[Any, ...] | None = None,
        align: int = 0,
    ) -> None:
        """An argument has the dtype, shape, strides and alignment that the parameter declares."""
        if buffer.dtype != np.dtype(dtype) if dtype in _NATIVE else buffer.dtype.name != dtype:
            self.fail("dtype-mismatch", f"`{buffer.name}` is of {dtype}, and gets {buffer.dtype.name}", site)
        wanted = tuple([int(n) for n in shape])
        if buffer.shape != wanted:
            self.fail(
                "shape-mismatch", f"`{buffer.name}` has the shape {wanted}, and gets {buffer.shape}", site
            )
        if strides is not None:
            have = tuple([s // buffer.itemsize for s in buffer.steps])
            for n, s, want in zip(wanted, have, strides, strict=True):
                if n > 1 and 0 not in wanted and s != want:
                    said = f"`{buffer.name}` has the strides {tuple(map(int, strides))}, and gets {have}"
                    self.fail("stride-mismatch", said, site)
        if align and buffer.start % align and buffer.array.size:
            self.fail("misaligned", f"`{buffer.name}` is not aligned to {align} bytes", site)

    # ---- loops

    def loop(self, site: int, kind: str, name: str, items: Iterable[int], tag: str = "") -> Iterator[int]:
        """The iterations of a loop."""
        depth, frames, outer = len(self.loops), len(self.frames), self.path
        entry: list[Any] = [name, 0]
        concurrent = kind not in SERIAL
        self._runs += 1
        run = self._runs
        if tag:
            self._thread(site, tag, len(items) if isinstance(items, range) else -1)
        self.loops.append(entry)
        try:
            for value in items:
                del self.loops[depth + 1 :], self.frames[frames:]
                entry[1] = value
                self._values = None
                self.path = (*outer, (run, value, kind, name)) if concurrent else outer
                if tag:
                    self.coords = {**self.coords, tag: value}
                yield value
        finally:
            del self.loops[depth:], self.frames[frames:]
            self.path = outer
            self._values = None
            if tag:
                self.coords = {k: v for k, v in self.coords.items() if k != tag}

    def _thread(self, site: int, tag: str, extent: int) -> None:
        if not self.coords:
            self.extents = {}
        if tag in self.coords:
            self.fail("thread-bound-twice", f"a loop is bound to {tag} inside a loop bound to {tag}", site)
        known = self.extents.setdefault(tag, extent)
        if known != extent:
            said = f"{tag} has the extent {extent} here and {known} before, in one kernel"
            self.fail("thread-extent", said, site)

    def steps(self, site: int, start: int, stop: int, step: int = 1) -> range:
        """The range of a loop."""
        if step <= 0:
            self.fail("loop-step", f"the step of the loop is {step}", site)
        return range(start, stop, step)

    def rounds(self, site: int) -> Iterator[int]:
        """The rounds of a while loop.  One that changes nothing would be followed by the same for ever."""
        depth, frames, count = len(self.loops), len(self.frames), 0
        try:
            while True:
                del self.loops[depth:], self.frames[frames:]
                before = self.changes
                self._values = None
                yield count
                if self.changes == before:
                    said = "the loop never ends: a whole round of it changed nothing"
                    self.fail("endless-loop", said, site, notes=[f"after {count + 1} rounds"])
                count += 1
        finally:
            del self.loops[depth:], self.frames[frames:]

    # ---- blocks

    def expect(self, site: int, name: str, *domains: tuple[str, int, int]) -> None:
        """A block whose instances, one for each point of the domains, are to come."""
        self.frames[-1].expected[site] = (name, domains)

    def domain(self, site: int, name: str, *axes: tuple[str, int, int, int]) -> None:
        """The values of a block's axes lie in their domains."""
        for axis, value, low, extent in axes:
            if not low <= value < low + extent:
                said = f'`{axis}` is {value} in block "{name}", outside its domain [{low}, {low + extent})'
                hint = "such an instance does not run; guard it by T.where if that is meant"
                self.fail("axis-outside-domain", said, site, hint=hint)

    def enter(
        self,
        site: int,
        name: str,
        axes: Values,
        kinds: str,
        outer: tuple[Any, ...] = (),
        *,
        reads: Sequence[tuple[Any, ...]] | None = None,
        writes: Sequence[tuple[Any, ...]] | None = None,
        init: bool = False,
        joined: Sequence[str] = (),
        only_init: bool = False,
    ) -> None:
        """A block instance starts."""
        parent = self.frames[-1]
        frame = Frame(site, name, self.time, self.path)
        frame.axes = tuple([(axis, int(value)) for axis, value in axes])
        frame.spatial = tuple([v for (_, v), k in zip(frame.axes, kinds, strict=True) if k == "S"])
        frame.outer = outer
        frame.init = init
        frame.reduces = "R" in kinds
        frame.scope = not frame.axes
        frame.initialising = only_init
        if not only_init:
            point = tuple([v for _, v in frame.axes])
            self._around().visited.setdefault(site, set()).add(point)
            runs = parent.runs.setdefault(site, set())
            frame.repeated = (outer, point) in runs
            runs.add((outer, point))
        if joined:
            # Threads of a reduction across threads are joined by it.
            self.path = tuple([s for s in self.path if s[3] not in joined or s[2] != "thread_binding"])
        self.frames.append(frame)
        if reads is not None:
            frame.reads = [region(*r) for r in reads]
        if writes is not None:
            frame.writes = [region(*r) for r in writes]

    def _around(self) -> Frame:
        """The instance of a block with axes, or the function, that what runs now is a part of."""
        frame: Frame = next(f for f in reversed(self.frames) if not f.scope)
        return frame

    def initialise(self, on: bool) -> None:
        self.frames[-1].initialising = on

    def leave(self) -> None:
        frame = self.frames.pop()
        if frame.expected:
            self.frames.append(frame)
            self._covered(frame)
            self.frames.pop()
        self.path = frame.path

    def _covered(self, frame: Frame) -> None:
        """Every point of the domains of the blocks inside had its instance."""
        for site, (name, domains) in frame.expected.items():
            found = frame.visited.get(site, set())
            total = 1
            for _, _, extent in domains:
                total *= max(extent, 0)
            if len(found) < total:
                points = product(*[range(low, low + extent) for _, low, extent in domains])
                missing = next(p for p in points if p not in found)
                point = shown(tuple(zip([d[0] for d in domains], missing, strict=True)))
                said = f'the loops around block "{name}" miss {total - len(found)} of its {total} instances'
                self.fail("axis-not-covered", said, site, notes=[f"the first that is missing: {point}"])

    # ---- statements

    def asserted(self, site: int, condition: Any, message: str) -> None:
        if not condition:
            self.fail("assert", message or "an assert does not hold", site, error=AssertFailed)

    def assume(self, site: int, condition: Any) -> None:
        if not condition:
            self.fail("assumption", "what T.assume promises does not hold", site)


__all__ = ["Sanitizer"]
